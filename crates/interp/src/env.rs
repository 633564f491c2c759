//! The arguments of one run.

use program::{Data, Role, ScalarType, Value};

use crate::Error;

/// Arguments by position; afterwards the results.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Env {
    /// The sizes.
    pub params: Vec<i64>,
    /// Scalar arguments.
    pub scalars: Vec<Value>,
    /// One entry for every array of the function or kernel. `in` and `inout` arrays must be there; an `out` array
    /// that is not starts as zeros; local arrays are left alone.
    pub arrays: Vec<Option<Data>>,
}

/// What the function or kernel says about one array.
#[derive(Clone, Debug)]
pub(crate) struct Declared {
    pub(crate) name: String,
    pub(crate) ty: ScalarType,
    pub(crate) shape: Vec<i64>,
    pub(crate) role: Role,
}

/// An array with its elements.
#[derive(Debug)]
pub(crate) struct Memory {
    pub(crate) declared: Declared,
    pub(crate) data: Data,
    /// While its equations are solved: the cells that have no value yet.
    pub(crate) undefined: Option<Vec<bool>>,
}

impl Env {
    pub(crate) fn check_params(&self, names: &[&str]) -> Result<(), Error> {
        check_count("parameters", names.len(), self.params.len())?;
        match names.iter().zip(&self.params).find(|(_, value)| **value < 0) {
            None => Ok(()),
            Some((name, value)) => Err(Error::NegativeParam { param: (*name).to_owned(), value: *value }),
        }
    }

    pub(crate) fn check_scalars(&self, declared: &[(&str, ScalarType)]) -> Result<(), Error> {
        check_count("scalars", declared.len(), self.scalars.len())?;
        for ((name, ty), value) in declared.iter().zip(&self.scalars) {
            if value.ty() != *ty {
                return Err(Error::ScalarType { scalar: (*name).to_owned(), expected: *ty, found: value.ty() });
            }
        }
        Ok(())
    }

    pub(crate) fn check_arrays(&self, declared: usize) -> Result<(), Error> {
        check_count("arrays", declared, self.arrays.len())
    }

    /// Checks all array arguments, then moves them out and allocates the rest. Nothing is moved on an error.
    pub(crate) fn take_arrays(&mut self, declared: Vec<Declared>) -> Result<Vec<Memory>, Error> {
        check_count("arrays", declared.len(), self.arrays.len())?;
        let lengths = declared.iter().zip(&self.arrays).map(|(declared, argument)| check(declared, argument.as_ref()));
        let lengths = lengths.collect::<Result<Vec<usize>, Error>>()?;
        let mut fresh = Vec::new();
        for ((declared, argument), length) in declared.iter().zip(&self.arrays).zip(lengths) {
            let given = argument.is_some() && declared.role != Role::Local;
            let zeros = || {
                Data::zeros(declared.ty, length)
                    .ok_or_else(|| Error::OutOfMemory { array: declared.name.clone(), elements: length })
            };
            fresh.push(if given { None } else { Some(zeros()?) });
        }
        let arrays = declared.into_iter().zip(&mut self.arrays).zip(fresh);
        arrays
            .map(|((declared, argument), fresh)| {
                let missing = Error::MissingArray { array: declared.name.clone() };
                let data = fresh.or_else(|| argument.take()).ok_or(missing)?;
                Ok(Memory { declared, data, undefined: None })
            })
            .collect()
    }

    /// Moves the arrays back, except local ones.
    pub(crate) fn return_arrays(&mut self, arrays: Vec<Memory>) {
        for (argument, memory) in self.arrays.iter_mut().zip(arrays) {
            if memory.declared.role != Role::Local {
                *argument = Some(memory.data);
            }
        }
    }
}

fn check_count(what: &'static str, expected: usize, found: usize) -> Result<(), Error> {
    if expected == found { Ok(()) } else { Err(Error::Count { what, expected, found }) }
}

/// Checks one argument and gives the number of elements.
fn check(declared: &Declared, argument: Option<&Data>) -> Result<usize, Error> {
    let array = declared.name.clone();
    let length = declared.shape.iter().try_fold(1usize, |length, extent| {
        let extent = usize::try_from(*extent).ok()?;
        length.checked_mul(extent)
    });
    // Offsets are computed in `i64`.
    let Some(length) = length.filter(|length| i64::try_from(*length).is_ok()) else {
        return Err(Error::Shape { array, shape: declared.shape.clone() });
    };
    match (argument, declared.role) {
        (_, Role::Local) | (None, Role::Out) => Ok(length),
        (None, Role::In | Role::InOut) => Err(Error::MissingArray { array }),
        (Some(data), _) if data.ty() != declared.ty => {
            Err(Error::ArrayType { array, expected: declared.ty, found: data.ty() })
        }
        (Some(data), _) if data.len() != length => Err(Error::ArraySize { array, expected: length, found: data.len() }),
        (Some(_), _) => Ok(length),
    }
}
