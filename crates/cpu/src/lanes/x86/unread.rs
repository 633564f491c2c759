//! Takes away what makes vectors and masks that nobody reads: pieces of a value of which others alone are needed.

use super::machine::{Class, First, Item, Operand, Stream, VReg};

/// What one round takes away was perhaps all that read something else; chains are short.
const MOST_ROUNDS: usize = 4;

pub(super) fn drop_unread(stream: &mut Stream) {
    for _ in 0..MOST_ROUNDS {
        let mut read = vec![false; stream.classes.len()];
        for item in &stream.items {
            item.registers(|reg, is_read, _| read[reg.index()] |= is_read);
        }
        let before = stream.items.len();
        let classes = &stream.classes;
        let unread = |reg: VReg| !read[reg.index()] && classes[reg.index()] != Class::General;
        stream.items.retain(|item| match item {
            Item::Copy { to, .. } => !unread(*to),
            Item::Inst(inst) => match inst.operands.first() {
                Some(Operand::Reg(to, _)) if matches!(inst.first, First::Written | First::Cleared) => !unread(*to),
                _ => true,
            },
            _ => true,
        });
        if stream.items.len() == before {
            return;
        }
    }
}
