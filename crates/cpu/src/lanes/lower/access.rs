//! Where the lanes of an access are.
//!
//! Accesses to one array whose subscripts differ by constants form a group, which has one pointer: for each loop of the nest the pointer
//! moves by the stride of its variable, and what is constant in the nest is in the address that the caller passes. A row above or below
//! is as far from the pointer as the caller says.

use loops::{ArrayId, Index, VarId};
use program::ScalarType;

use super::{Argument, Lower, Nest};
use crate::lanes::ir::{Access, Address, Op, Type, ValueId, WordOp};
use crate::linear::Linear;

/// Accesses to one array whose subscripts differ by constants.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Group {
    array: ArrayId,
    /// One form per dimension. Constants are left out where the stride is a constant, and those of the first access elsewhere.
    subscripts: Vec<Linear>,
}

/// A number of bytes between neighbours in a dimension: `factor * Π extents`.
#[derive(Clone, Debug)]
pub(super) struct Stride {
    pub(super) factor: i64,
    pub(super) extents: Vec<Index>,
}

/// One access: its group, how far from its pointer, and the exact subscripts.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Place {
    pub(super) group: usize,
    /// In bytes: a word, if there is anything that is not known here.
    pub(super) shift: Option<ValueId>,
    pub(super) offset: i32,
    pub(super) subscripts: Vec<Linear>,
    pub(super) array: ArrayId,
}

/// A load whose result is still what is in memory.
#[derive(Clone, Debug)]
pub(super) struct Loaded {
    pub(super) array: ArrayId,
    group: usize,
    /// Where the group was: a loop that runs once steps its pointers in the midst of other statements.
    pointer: ValueId,
    shift: Option<ValueId>,
    offset: i32,
    mask: Option<ValueId>,
    value: ValueId,
}

impl Nest<'_> {
    pub(super) fn memory_type(&self, array: ArrayId) -> ScalarType {
        match self.kernel.arrays[array.index()].ty {
            ScalarType::Bool => ScalarType::U8,
            ty => super::element(ty),
        }
    }

    pub(super) fn strides(&self, array: ArrayId) -> Lower<Vec<Stride>> {
        let decl = &self.kernel.arrays[array.index()];
        let mut stride = Stride { factor: decl.ty.bytes() as i64, extents: Vec::new() };
        if let Some(given) = &decl.strides {
            let strided = |index: &Index| -> Lower<Stride> {
                Ok(match self.linear(index)?.as_constant() {
                    Some(elements) => Stride { factor: stride.factor.wrapping_mul(elements), extents: Vec::new() },
                    None => Stride { factor: stride.factor, extents: vec![index.clone()] },
                })
            };
            return given.iter().map(strided).collect();
        }
        let mut strides = Vec::with_capacity(decl.shape.len());
        for extent in decl.shape.iter().rev() {
            strides.push(stride.clone());
            match self.linear(extent)?.as_constant() {
                Some(extent) => stride.factor = stride.factor.wrapping_mul(extent),
                None => stride.extents.push(extent.clone()),
            }
        }
        strides.reverse();
        Ok(strides)
    }

    /// The group of an access, and how far from its pointer it is.
    pub(super) fn place(&mut self, array: ArrayId, index: &[Index]) -> Lower<Place> {
        let exact = index.iter().map(|index| self.linear(index)).collect::<Lower<Vec<_>>>()?;
        let mut subscripts = exact.clone();
        let mut offset = 0_i64;
        for (subscript, stride) in subscripts.iter_mut().zip(self.strides(array)?) {
            if stride.extents.is_empty() {
                offset = offset.wrapping_add(stride.factor.wrapping_mul(subscript.constant));
                subscript.constant = 0;
            }
        }
        let offset = i32::try_from(offset).map_err(|_| "an offset of more than 2 GB")?;
        let alike = |known: &Group| {
            let mut pairs = known.subscripts.iter().zip(&subscripts);
            known.array == array && pairs.all(|(known, own)| known.terms == own.terms)
        };
        let group = self.groups.iter().position(alike).unwrap_or_else(|| {
            self.groups.push(Group { array, subscripts: subscripts.clone() });
            self.groups.len() - 1
        });
        let shift = self.shift(group, &subscripts)?;
        Ok(Place { group, shift, offset, subscripts: exact, array })
    }

    /// How far from the first access of a group others are, where that is a matter of sizes.
    fn shift(&mut self, group: usize, subscripts: &[Linear]) -> Lower<Option<ValueId>> {
        let Group { array, subscripts: first } = self.groups[group].clone();
        let mut sum = None;
        for ((own, first), stride) in subscripts.iter().zip(&first).zip(self.strides(array)?) {
            let by = own.constant.wrapping_sub(first.constant);
            if by != 0 {
                let term = self.argument(Argument::Stride(stride.factor.wrapping_mul(by), stride.extents));
                sum = Some(sum.map_or(term, |sum| self.sum_once(sum, term)));
            }
        }
        Ok(sum)
    }

    /// The address of the first lane of an access.
    pub(super) fn first(&mut self, place: &Place) -> Lower<Address> {
        let base = self.pointer(place.group)?;
        Ok(Address { base, index: place.shift.map(|shift| (shift, 1)), offset: place.offset })
    }

    /// By how many bytes a group moves when `var` grows by one: a word.
    pub(super) fn movement(&mut self, group: usize, var: VarId) -> Lower<ValueId> {
        let Group { array, subscripts } = self.groups[group].clone();
        let mut constant = 0_i64;
        let mut sum = None;
        for (subscript, stride) in subscripts.iter().zip(self.strides(array)?) {
            let coefficient = subscript.coefficient(var);
            if coefficient == 0 {
                continue;
            }
            if stride.extents.is_empty() {
                constant = constant.wrapping_add(stride.factor.wrapping_mul(coefficient));
            } else {
                // One argument for the product, so that it is computed where it is constant.
                let term = self.argument(Argument::Stride(stride.factor.wrapping_mul(coefficient), stride.extents));
                sum = Some(match sum {
                    None => term,
                    Some(sum) => self.sum_once(sum, term),
                });
            }
        }
        let constant = self.word(constant);
        Ok(match sum {
            None => constant,
            Some(sum) if self.constant_of(constant) == Some(0) => sum,
            Some(sum) => self.sum_once(sum, constant),
        })
    }

    fn sum_once(&mut self, a: ValueId, b: ValueId) -> ValueId {
        self.once(Type::Word, Op::Word(WordOp::Add, a, b))
    }

    /// The same times a constant, in front of everything.
    pub(super) fn scaled_once(&mut self, word: ValueId, factor: i64) -> ValueId {
        match self.constant_of(word) {
            Some(constant) => self.word(constant.wrapping_mul(factor)),
            None if factor == 1 => word,
            None => {
                let factor = self.word(factor);
                self.once(Type::Word, Op::Word(WordOp::Mul, word, factor))
            }
        }
    }

    /// Where a group is at present.
    pub(super) fn pointer(&mut self, group: usize) -> Lower<ValueId> {
        if let Some(pointer) = self.state.pointers.get(&group) {
            return Ok(*pointer);
        }
        let Group { array, subscripts } = self.groups[group].clone();
        let index = subscripts.iter().map(|subscript| self.outer(subscript)).collect();
        Ok(self.argument(Argument::Address(array, index)))
    }

    /// The address of an access and how its lanes lie.
    pub(super) fn address(&mut self, place: &Place) -> Lower<(Address, Access)> {
        let at = self.first(place)?;
        let ty = self.memory_type(place.array);
        let Some(vector) = self.vector else { return Ok((at, Access::Same)) };
        let apart = self.movement(place.group, vector)?;
        let apart = self.scaled_once(apart, self.step);
        let bytes = ty.bytes() as i64;
        let access = match self.constant_of(apart) {
            Some(0) => Access::Same,
            Some(apart) if apart == bytes => Access::Unit,
            Some(apart) if apart == -bytes => Access::Reversed,
            _ => Access::Strided(apart),
        };
        Ok((at, access))
    }

    /// Loads the lanes of an access, unless that has been done already.
    pub(super) fn load_place(&mut self, place: &Place) -> Lower<ValueId> {
        let mask = self.mask;
        let pointer = self.pointer(place.group)?;
        let known = self.loaded.iter().find(|known| {
            let same_offset = known.shift == place.shift && known.offset == place.offset;
            let same_place = known.group == place.group && known.pointer == pointer && same_offset;
            same_place && (known.mask == mask || known.mask.is_none())
        });
        if let Some(known) = known {
            return Ok(known.value);
        }
        let (at, access) = self.address(place)?;
        let ty = self.memory_type(place.array);
        // Of the lanes that exist there is at least one, and in the others anything goes.
        let mask = mask.filter(|_| access != Access::Same || mask != self.base_mask);
        let value = self.make(Type::Lanes(ty), Op::Load { at, access, mask });
        let Place { group, shift, offset, array, .. } = *place;
        self.loaded.push(Loaded { array, group, pointer, shift, offset, mask, value });
        Ok(value)
    }

    /// After a store to an array, what was loaded from it may be old.
    pub(super) fn forget(&mut self, array: ArrayId) {
        self.loaded.retain(|known| known.array != array);
    }

    /// Whether a group moves with a loop.
    pub(super) fn moves(&self, group: usize, var: VarId) -> bool {
        self.groups[group].subscripts.iter().any(|subscript| subscript.coefficient(var) != 0)
    }
}
