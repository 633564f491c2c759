//! Loops whose bounds depend on data.
//!
//! In: a loop with its ends as values.  Out: checks of them, and a rotated loop whose counter is a local.
//! Not here: what becomes of a failed check (`fault`).

use cranelift_codegen::ir::InstBuilder;
use cranelift_codegen::ir::condcodes::IntCC;
use loops::{Each, ExprKind, Site, SiteKind};

use super::Emitter;

impl Emitter<'_> {
    pub(super) fn each(&mut self, each: &Each) -> diag::Result<()> {
        let (lo, hi, step) = (self.expr(&each.lo)?, self.expr(&each.hi)?, self.expr(&each.step)?);
        if each.forwards {
            let holds = self.b.ins().icmp(IntCC::SignedLessThanOrEqual, lo, hi);
            let by = self.b.ins().isub(lo, hi);
            self.require(holds, Site { kind: SiteKind::Backwards, span: each.at }, Some(by));
        }
        if !matches!(each.step.kind, ExprKind::Const(_)) {
            let holds = self.b.ins().icmp_imm_s(IntCC::SignedGreaterThanOrEqual, step, 1);
            self.require(holds, Site { kind: SiteKind::Step, span: each.at }, Some(step));
        }
        let counter = self.locals[each.local.index()];
        self.b.def_var(counter, lo);
        let (body, exit) = (self.b.create_block(), self.b.create_block());
        let before = self.b.create_block();
        let runs = self.b.ins().icmp(IntCC::SignedLessThan, lo, hi);
        self.b.ins().brif(runs, before, &[], exit, &[]);
        self.enter(before);
        self.b.ins().jump(body, &[]);
        self.b.switch_to_block(body);
        self.depth += 1;
        if let Some(until) = &each.until {
            let goes_on = self.expr(until)?;
            let inside = self.b.create_block();
            self.b.ins().brif(goes_on, inside, &[], exit, &[]);
            self.enter(inside);
        }
        self.stmts(&each.body)?;
        self.depth -= 1;
        // What is left is compared, rather than the next value, which may not exist.
        let value = self.b.use_var(counter);
        let left = self.b.ins().isub(hi, value);
        let next = self.b.ins().iadd(value, step);
        self.b.def_var(counter, next);
        let again = match each.step.kind {
            ExprKind::Const(program::Value::I64(1)) => self.b.ins().icmp(IntCC::SignedLessThan, next, hi),
            _ => self.b.ins().icmp(IntCC::UnsignedGreaterThan, left, step),
        };
        self.b.ins().brif(again, body, &[], exit, &[]);
        self.b.seal_block(body);
        self.enter(exit);
        Ok(())
    }
}
