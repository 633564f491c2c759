//! Views that do not lie row-major, and code that takes them as they lie.
//!
//! In: a function, and arguments whose views lie in some way.  Out: code for arrays that lie so, for any strides.
//! The code for row-major arrays stays: it serves calls whose views lie otherwise, by copying them.

use std::sync::Arc;

use program::{ArrayId, Role};

use crate::Result;
use crate::args::{Args, Given};
use crate::engine::Function;
use crate::pipeline::{Code, Made};

/// Code for arguments that lie in a certain way.
#[derive(Debug)]
pub(crate) struct Views {
    pub(crate) code: Arc<Code>,
    /// Per array argument in order of declaration: if it need not lie row-major, for each dimension whether neighbours may be apart.
    forms: Vec<Option<Vec<bool>>>,
}

impl Views {
    /// Code for arguments that lie like these; none if all lie row-major, or the code cannot be made so.
    pub(crate) fn new(function: &Function, args: &Args<'_>, make: &cpu::Options) -> Result<Option<Views>> {
        let (program, general) = (function.program(), function.code().general()?);
        if matches!(general.made, Made::Ptx { .. }) {
            return Ok(None);
        }
        let bug = |error: diag::Error| crate::Error::Bug { stage: "views", what: format!("{error:?}") };
        let ids = program.array_ids().filter(|id| program.array(*id).role != Role::Local);
        let in_kernel = (0..).zip(&general.kernel.arrays).filter(|(_, decl)| decl.role != Role::Local);
        let mut kernel = general.kernel.clone();
        let mut forms = Vec::new();
        for (id, (position, decl)) in ids.zip(in_kernel) {
            let form = form_of(program, id, args).filter(|form| form.len() == decl.shape.len());
            if let Some(form) = &form {
                kernel = kernel.strided(loops::ArrayId(position), form).map_err(bug)?;
            }
            forms.push(form);
        }
        if forms.iter().all(Option::is_none) {
            return Ok(None);
        }
        let compiled = cpu::compile_with(&kernel, make).map_err(bug)?;
        let code = Code { generated: Arc::clone(&general.generated), kernel, made: Made::Cpu(Box::new(compiled)) };
        Ok(Some(Views { code: Arc::new(code), forms }))
    }

    /// The strides that a call with these arguments gives after the sizes; none if some do not lie as the code has it. `arrays` are the positions of the
    /// array arguments in `args`.
    pub(crate) fn strides(&self, args: &Args<'_>, arrays: &[usize]) -> Option<Vec<i64>> {
        let mut given = Vec::new();
        for (form, position) in self.forms.iter().zip(arrays) {
            let lies = Lies::of(&args.given[*position].1)?;
            match form {
                None if lies.is_row_major => {}
                None => return None,
                Some(form) => {
                    for (dimension, is_given) in form.iter().enumerate() {
                        match is_given {
                            true => given.push(lies.strides[dimension] as i64),
                            false if lies.strides[dimension] == 1 || lies.shape[dimension] <= 1 => {}
                            false => return None,
                        }
                    }
                }
            }
        }
        Some(given)
    }
}

/// How a view lies.
struct Lies {
    shape: Vec<usize>,
    strides: Vec<isize>,
    is_row_major: bool,
}

impl Lies {
    fn of(given: &Given<'_>) -> Option<Lies> {
        match given {
            Given::Read(view) => Some(Lies {
                shape: view.shape().to_vec(),
                strides: view.strides().to_vec(),
                is_row_major: view.as_slice().is_some(),
            }),
            Given::Write(view) => Lies::of(&Given::Read(view.reborrow())),
            Given::Scalar(_) | Given::Misshapen { .. } => None,
        }
    }
}

/// In which dimensions neighbours may be apart: all but the one in which they lie side by side, if there is one. None for an argument that lies row-major,
/// and for one that the loops know by other subscripts than callers do.
fn form_of(program: &program::Function, id: ArrayId, args: &Args<'_>) -> Option<Vec<bool>> {
    let array = program.array(id);
    let (_, given) = args.given.iter().find(|(name, _)| *name == array.name)?;
    let lies = Lies::of(given).filter(|lies| !lies.is_row_major)?;
    if program.outside_shape(id) != array.shape.as_slice() {
        return None;
    }
    let side_by_side = (0..lies.shape.len()).rev().find(|d| lies.strides[*d] == 1 && lies.shape[*d] > 1);
    Some((0..lies.shape.len()).map(|dimension| side_by_side != Some(dimension)).collect())
}

/// The arrays that a call copies, by name.
pub(crate) fn copied(function: &Function, args: &Args<'_>) -> Vec<String> {
    let program = function.program();
    let names = program.arrays.iter().filter(|array| array.role != Role::Local).map(|array| &array.name);
    let positions: Vec<usize> =
        names.filter_map(|name| args.given.iter().position(|(given, _)| given == name)).collect();
    if function.views().is_some_and(|views| views.strides(args, &positions).is_some()) {
        return Vec::new();
    }
    let lies_otherwise = |position: &&usize| Lies::of(&args.given[**position].1).is_some_and(|lies| !lies.is_row_major);
    positions.iter().filter(lies_otherwise).map(|position| args.given[*position].0.clone()).collect()
}
