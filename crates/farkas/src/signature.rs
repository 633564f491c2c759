//! What a function takes and gives, as data.

use program::{ArgRef, Role, ScalarType};

/// What a function takes and gives.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Signature {
    /// Of the function.
    pub name: String,
    /// The sizes that a call gives a value, or that follow from the shapes of its arrays.
    pub params: Vec<String>,
    /// The `where` conditions as text.
    pub context: Vec<String>,
    /// Arguments, then outputs.
    pub args: Vec<Argument>,
}

/// One argument or output. A scalar input has the shape `[]`, and so has a scalar output.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Argument {
    /// By which calls give it.
    pub name: String,
    /// Whether it is read, written, or both.
    pub role: Role,
    /// Of its elements.
    pub ty: ScalarType,
    /// Extents as text over the parameters.
    pub shape: Vec<String>,
}

/// The parameters that a call gives a value.
pub(crate) fn written(function: &program::Function) -> impl Iterator<Item = &program::Param> {
    function.params.iter().filter(|param| param.derived.is_none())
}

impl Signature {
    pub(crate) fn of(function: &program::Function) -> Signature {
        let args = function.signature.iter().map(|arg| match arg {
            ArgRef::Scalar(id) => {
                let scalar = function.scalar(*id);
                Argument { name: scalar.name.clone(), role: Role::In, ty: scalar.ty, shape: Vec::new() }
            }
            ArgRef::Array(id) => {
                let array = function.array(*id);
                let shape = function.outside_shape(*id).iter().map(|extent| function.show(extent)).collect();
                Argument { name: array.name.clone(), role: array.role, ty: array.ty, shape }
            }
        });
        Signature {
            name: function.name.clone(),
            params: written(function).map(|param| param.name.clone()).collect(),
            context: function.context.iter().map(|requirement| requirement.text.clone()).collect(),
            args: args.collect(),
        }
    }
}
