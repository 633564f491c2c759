//! Addresses of array elements.
//!
//! In: an array and one index per dimension.  Out: a pointer and a constant displacement.
//!
//! Subscripts are flattened row-major into a linear form in bytes. Terms are added from the outermost loop inwards, so
//! that Cranelift hoists all but the last addition; the innermost term is `variable << scale`, which fits an addressing
//! mode, or an *induction*: a multiple of the loop variable that the loop steps along with it.

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{InstBuilder, Value, types};
use loops::{ArrayDecl, ArrayId, Expr, ExprKind, For, Index, Site, SiteKind, Stmt, Target, VarId};

use super::Emitter;
use crate::call::Derived;
use crate::linear::{Atom, Linear};

/// A number of bytes: `constant + Σ coefficient * product of extents`.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Stride {
    constant: i64,
    /// Each product is one value, so that equal values mean equal products.
    terms: Vec<(Value, i64)>,
}

impl Stride {
    fn plus(&mut self, other: &Stride, factor: i64) {
        self.constant = self.constant.wrapping_add(other.constant.wrapping_mul(factor));
        for (value, coefficient) in &other.terms {
            let added = coefficient.wrapping_mul(factor);
            match self.terms.iter_mut().find(|(present, _)| present == value) {
                Some((_, present)) => *present = present.wrapping_add(added),
                None => self.terms.push((*value, added)),
            }
        }
        self.terms.retain(|(_, coefficient)| *coefficient != 0);
    }

    fn is_zero(&self) -> bool {
        self.constant == 0 && self.terms.is_empty()
    }

    /// Whether an addressing mode can multiply by it.
    fn is_scale(&self) -> bool {
        self.terms.is_empty() && matches!(self.constant, 1 | 2 | 4 | 8)
    }
}

/// A multiple of a loop variable that is kept up to date by addition.
#[derive(Clone, Debug)]
pub(super) struct Induction {
    pub(super) var: VarId,
    pub(super) stride: Stride,
    pub(super) value: Value,
}

/// More would not stay in registers.
const MAX_INDUCTIONS: usize = 6;

impl Emitter<'_> {
    /// The strides of one array. Symbolic ones are arguments of the call: Cranelift would compute them again in front of
    /// each innermost loop, because it keeps everything that needs a constant there.
    pub(super) fn strides(&mut self, decl: &ArrayDecl) -> diag::Result<Vec<Stride>> {
        let mut factor = i64::try_from(decl.ty.bytes()).unwrap_or(i64::MAX);
        if let Some(given) = &decl.strides {
            let stride = |index: &Index| -> diag::Result<Stride> {
                if let Some(elements) = Linear::of(index).as_constant() {
                    return Ok(Stride { constant: factor.wrapping_mul(elements), terms: Vec::new() });
                }
                let value = self.derived(types::I64, Derived::Product { factor, extents: vec![index.clone()] })?;
                Ok(Stride { constant: 0, terms: vec![(value, 1)] })
            };
            return given.iter().map(stride).collect();
        }
        let mut extents: Vec<Index> = Vec::new();
        let mut strides = Vec::with_capacity(decl.shape.len());
        for extent in decl.shape.iter().rev() {
            strides.push(if extents.is_empty() {
                Stride { constant: factor, terms: Vec::new() }
            } else {
                let value = self.derived(types::I64, Derived::Product { factor, extents: extents.clone() })?;
                Stride { constant: 0, terms: vec![(value, 1)] }
            });
            match Linear::of(extent).as_constant() {
                Some(extent) => factor = factor.wrapping_mul(extent),
                None => extents.push(extent.clone()),
            }
        }
        strides.reverse();
        Ok(strides)
    }

    /// Where an element is: pointer and displacement.
    pub(super) fn address(&mut self, array: ArrayId, index: &[Index]) -> diag::Result<(Value, i32)> {
        if self.check_bounds {
            self.check_subscripts(array, index)?;
        }
        let (mut terms, start) = self.flatten(array, index);
        terms.sort_by_key(|(atom, _)| self.depth(atom));
        let mut pointer = self.bases[array.index()];
        if !start.terms.is_empty() {
            let offset = self.stride(&Stride { constant: 0, terms: start.terms });
            pointer = self.b.ins().iadd(pointer, offset);
        }
        for (atom, stride) in &terms {
            let term = self.term(atom, stride)?;
            pointer = self.b.ins().iadd(pointer, term);
        }
        match i32::try_from(start.constant) {
            Ok(displacement) => Ok((pointer, displacement)),
            Err(_) => Ok((self.offset(pointer, start.constant), 0)),
        }
    }

    /// Subscripts as one linear form in bytes: the stride of each atom, and the constant part.
    fn flatten(&self, array: ArrayId, index: &[Index]) -> (Vec<(Atom, Stride)>, Stride) {
        let mut terms: Vec<(Atom, Stride)> = Vec::new();
        let mut start = Stride::default();
        for (subscript, stride) in index.iter().zip(&self.strides[array.index()]) {
            let linear = Linear::of(subscript);
            start.plus(stride, linear.constant);
            for (atom, coefficient) in linear.terms {
                match terms.iter_mut().find(|(present, _)| *present == atom) {
                    Some((_, present)) => present.plus(stride, coefficient),
                    None => {
                        let mut scaled = Stride::default();
                        scaled.plus(stride, coefficient);
                        terms.push((atom, scaled));
                    }
                }
            }
        }
        terms.retain(|(_, stride)| !stride.is_zero());
        (terms, start)
    }

    fn term(&mut self, atom: &Atom, stride: &Stride) -> diag::Result<Value> {
        if let Atom::Var(var) = atom {
            let stepped = self.inductions.iter().find(|known| known.var == *var && known.stride == *stride);
            if let Some(induction) = stepped {
                return Ok(induction.value);
            }
        }
        let value = self.atom(atom)?;
        Ok(self.times(value, stride))
    }

    pub(super) fn times(&mut self, value: Value, stride: &Stride) -> Value {
        if stride.terms.is_empty() {
            return self.scale(value, stride.constant);
        }
        let stride = self.stride(stride);
        self.b.ins().imul(value, stride)
    }

    pub(super) fn stride(&mut self, stride: &Stride) -> Value {
        let mut sum = None;
        for (value, coefficient) in &stride.terms {
            let term = self.scale(*value, *coefficient);
            sum = Some(match sum {
                Some(sum) => self.b.ins().iadd(sum, term),
                None => term,
            });
        }
        match sum {
            Some(sum) => self.offset(sum, stride.constant),
            None => self.iconst(stride.constant),
        }
    }

    fn check_subscripts(&mut self, array: ArrayId, index: &[Index]) -> diag::Result<()> {
        let decl = &self.kernel.arrays[array.index()];
        for (dimension, (subscript, extent)) in index.iter().zip(&decl.shape).enumerate() {
            let (subscript, extent) = (self.index(subscript)?, self.index(extent)?);
            // Unsigned: a negative subscript is large.
            let inside = self.b.ins().icmp(IntCC::UnsignedLessThan, subscript, extent);
            let site = Site { kind: SiteKind::Subscript { array, dimension }, span: None };
            self.require(inside, site, Some(subscript));
        }
        Ok(())
    }

    /// The strides at which the elements that `For`'s own body touches move with its variable, and that no addressing
    /// mode can multiply by.
    pub(super) fn choose_inductions(&mut self, r#for: &For) -> Vec<Stride> {
        let mut chosen = Vec::new();
        self.stmts_inductions(&r#for.body, r#for.var, &mut chosen);
        chosen
    }

    fn stmts_inductions(&mut self, stmts: &[Stmt], var: VarId, chosen: &mut Vec<Stride>) {
        for stmt in stmts {
            match stmt {
                // Elements of inner loops advance there; here one multiplication per iteration is nothing.
                Stmt::For(_) => {}
                Stmt::If { then, otherwise, .. } => {
                    self.stmts_inductions(then, var, chosen);
                    self.stmts_inductions(otherwise, var, chosen);
                }
                Stmt::Store { array, index, value } => {
                    self.access_induction(*array, index, var, chosen);
                    self.expr_inductions(value, var, chosen);
                }
                Stmt::Update { target, value, .. } => {
                    if let Target::Cell { array, index } = target {
                        self.access_induction(*array, index, var, chosen);
                    }
                    self.expr_inductions(value, var, chosen);
                }
                Stmt::Scatter { index, value, .. } => {
                    index.iter().chain([value]).for_each(|part| self.expr_inductions(part, var, chosen));
                }
                Stmt::Set { value, .. } => self.expr_inductions(value, var, chosen),
                Stmt::Alloc { body, .. } => self.stmts_inductions(body, var, chosen),
                Stmt::Each(each) => {
                    each.ends().for_each(|end| self.expr_inductions(end, var, chosen));
                    self.stmts_inductions(&each.body, var, chosen);
                }
                Stmt::Barrier => {}
            }
        }
    }

    fn expr_inductions(&self, expr: &Expr, var: VarId, chosen: &mut Vec<Stride>) {
        match &expr.kind {
            ExprKind::Load { array, index } => self.access_induction(*array, index, var, chosen),
            ExprKind::Gather { index, .. } => {
                index.iter().for_each(|index| self.expr_inductions(index, var, chosen));
            }
            ExprKind::Unary(_, a) | ExprKind::Cast(a) | ExprKind::At(_, a) => self.expr_inductions(a, var, chosen),
            ExprKind::Binary(_, a, b) => {
                self.expr_inductions(a, var, chosen);
                self.expr_inductions(b, var, chosen);
            }
            ExprKind::Select(cond, a, b) => {
                for part in [cond, a, b] {
                    self.expr_inductions(part, var, chosen);
                }
            }
            ExprKind::Const(_) | ExprKind::Index(_) | ExprKind::Cond(_) | ExprKind::Scalar(_) | ExprKind::Local(_) => {}
        }
    }

    fn access_induction(&self, array: ArrayId, index: &[Index], var: VarId, chosen: &mut Vec<Stride>) {
        let (terms, _) = self.flatten(array, index);
        for (atom, stride) in terms {
            let wanted = atom == Atom::Var(var) && !stride.is_scale();
            if wanted && !chosen.contains(&stride) && chosen.len() < MAX_INDUCTIONS {
                chosen.push(stride);
            }
        }
    }
}
