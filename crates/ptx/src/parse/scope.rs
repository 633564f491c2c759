//! Which name means what where. Blocks in a body have names of their own, which hide those outside.

use std::collections::HashMap;

use crate::ir::{Kernel, Label, Param, ParamId, Reg, Register, Space, Type, Variable, VariableId};

#[derive(Clone, Debug)]
pub(super) enum Name {
    Register(Reg),
    /// A variable in shared or local memory. Those of the module enter a kernel, and get their id, when it uses them first.
    Memory {
        space: Space,
        align: u32,
        bytes: Option<u64>,
        id: Option<VariableId>,
    },
    /// A variable elsewhere, with the name of its space.
    Other(String),
}

#[derive(Debug)]
pub(super) struct Scopes {
    names: Vec<HashMap<String, Name>>,
    labels: Vec<HashMap<String, Label>>,
}

impl Default for Scopes {
    fn default() -> Scopes {
        // The outermost scope is that of the module.
        Scopes { names: vec![HashMap::new()], labels: vec![HashMap::new()] }
    }
}

impl Scopes {
    pub(super) fn enter(&mut self) {
        self.names.push(HashMap::new());
        self.labels.push(HashMap::new());
    }

    pub(super) fn leave(&mut self) {
        self.names.pop();
        self.labels.pop();
        if let [module] = self.names.as_mut_slice() {
            // The next kernel numbers its variables itself.
            for name in module.values_mut() {
                if let Name::Memory { id, .. } = name {
                    *id = None;
                }
            }
        }
    }

    pub(super) fn declare(&mut self, name: &str, known: Name) {
        if let Some(scope) = self.names.last_mut() {
            scope.insert(name.to_owned(), known);
        }
    }

    pub(super) fn declare_register(&mut self, name: String, ty: Type, kernel: &mut Kernel) {
        let reg = Reg(kernel.registers.len() as u32);
        self.declare(&name, Name::Register(reg));
        kernel.registers.push(Register { name, ty });
    }

    /// Whether the label is new in its block.
    pub(super) fn declare_label(&mut self, name: &str, kernel: &mut Kernel) -> bool {
        let label = Label(kernel.labels.len() as u32);
        kernel.labels.push(name.to_owned());
        self.labels.last_mut().is_some_and(|scope| scope.insert(name.to_owned(), label).is_none())
    }

    pub(super) fn label(&self, name: &str) -> Option<Label> {
        self.labels.iter().rev().find_map(|scope| scope.get(name)).copied()
    }

    fn find(&mut self, name: &str) -> Option<&mut Name> {
        self.names.iter_mut().rev().find_map(|scope| scope.get_mut(name))
    }

    pub(super) fn register(&mut self, name: &str) -> Result<Reg, String> {
        match self.find(name) {
            Some(Name::Register(reg)) => Ok(*reg),
            _ => Err(format!("no register `{name}` is declared")),
        }
    }

    /// The variable of shared or local memory with this name; `None` if the name is something else.
    pub(super) fn variable(&mut self, name: &str, kernel: &mut Kernel) -> Option<VariableId> {
        match self.find(name)? {
            Name::Memory { id: Some(id), .. } => Some(*id),
            Name::Memory { space, align, bytes, id } => {
                let new = VariableId(kernel.variables.len() as u32);
                let variable = Variable { name: name.to_owned(), space: *space, align: *align, bytes: *bytes };
                kernel.variables.push(variable);
                *id = Some(new);
                Some(new)
            }
            _ => None,
        }
    }

    /// Where a variable is that this crate does not know.
    pub(super) fn other_space(&mut self, name: &str) -> Option<String> {
        match self.find(name) {
            Some(Name::Other(space)) => Some(space.clone()),
            _ => None,
        }
    }
}

pub(super) fn param(name: &str, params: &[Param]) -> Option<ParamId> {
    params.iter().position(|param| param.name == name).map(|position| ParamId(position as u32))
}
