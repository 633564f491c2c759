//! Faults: how generated code ends when its data is at fault.
//!
//! Every check has a *site* (`loops::Site`): what it checks, and where that stands in the source. A failed check leaves the offending
//! value in the report and returns the number of its site, from 1; the caller makes the message. All checks of one site
//! share one cold block.

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{Block, InstBuilder, MemFlagsData, Value, types};
use diag::Span;
use loops::{For, Index, Site, SiteKind, Stmt};

use super::Emitter;

/// What generated code returns when all went well.
pub(crate) const DONE: i32 = 0;
/// What it returns when somebody asked it to stop.
pub(crate) const CANCELLED: i32 = -1;
/// What a parallel loop returns when there is no memory for the arrays of its iterations.
pub(crate) const NO_MEMORY: i32 = -2;
/// What it returns when the pool of threads panicked.
pub(crate) const PANICKED: i32 = -3;

/// Loops this deep, and those around them, look whether they are to stop.
const CANCEL_DEPTH: usize = 3;
/// A loop of fewer iterations is over so soon that looking would be felt.
const SHORT: i64 = 64;

impl Emitter<'_> {
    /// Ends the call unless `holds`; `value` goes into the report.
    pub(super) fn require(&mut self, holds: Value, site: Site, value: Option<Value>) {
        let failure = self.failure(site, usize::from(value.is_some()));
        let next = self.b.create_block();
        let value: Vec<_> = value.into_iter().map(Into::into).collect();
        self.b.ins().brif(holds, next, &[], failure, &value);
        self.enter(next);
    }

    /// Ends the call if somebody has claimed the cell already.
    pub(super) fn require_unclaimed(&mut self, first: Value, second: Value, span: Option<Span>) {
        let free = self.b.ins().icmp_imm_s(IntCC::Equal, first, i64::MIN);
        let idle = self.b.ins().icmp_imm_s(IntCC::Equal, second, i64::MIN);
        let holds = self.b.ins().bor(free, idle);
        let failure = self.failure(Site { kind: SiteKind::Twice, span }, 2);
        let next = self.b.create_block();
        self.b.ins().brif(holds, next, &[], failure, &[second.into(), first.into()]);
        self.enter(next);
    }

    /// Ends the call at the start of an iteration if it is cancelled. Innermost loops do not ask: they would be slower.
    pub(super) fn check_cancelled(&mut self, r#for: &For) {
        if self.depth - self.outer_depth > CANCEL_DEPTH || !has_loop(&r#for.body) {
            return;
        }
        let cancelled = *self.cancelled.get_or_insert_with(|| self.b.create_block());
        self.b.set_cold_block(cancelled);
        let flag = self.b.ins().load(types::I64, MemFlagsData::trusted(), self.report, crate::parallel::CANCEL_OFFSET);
        // Somebody else writes it, so what an outer loop has seen does not count.
        let flag = self.b.ins().atomic_load(types::I8, MemFlagsData::trusted(), flag);
        let next = self.b.create_block();
        self.b.ins().brif(flag, cancelled, &[], next, &[]);
        self.enter(next);
    }

    fn failure(&mut self, site: Site, reports: usize) -> Block {
        if let Some((_, failure)) = self.failures.iter().find(|(known, _)| *known == site) {
            return *failure;
        }
        let failure = self.b.create_block();
        self.b.set_cold_block(failure);
        for _ in 0..reports {
            self.b.append_block_param(failure, types::I64);
        }
        self.failures.push((site, failure));
        failure
    }

    /// The code behind failed checks; returns their sites.
    pub(super) fn finish_failures(&mut self) -> Vec<Site> {
        let failures = std::mem::take(&mut self.failures);
        for (number, (_, block)) in failures.iter().enumerate() {
            self.enter(*block);
            let reported = self.b.block_params(*block).to_vec();
            for (value, offset) in reported.into_iter().zip([0, crate::parallel::EARLIER_OFFSET]) {
                self.b.ins().store(MemFlagsData::trusted(), value, self.report, offset);
            }
            let status = i64::try_from(self.first_site + number).unwrap_or(i64::MAX).saturating_add(1);
            let status = self.b.ins().iconst(types::I32, status);
            self.b.ins().return_(&[status]);
        }
        if let Some(block) = self.cancelled.take() {
            self.enter(block);
            let status = self.b.ins().iconst(types::I32, i64::from(CANCELLED.cast_unsigned()));
            self.b.ins().return_(&[status]);
        }
        failures.into_iter().map(|(site, _)| site).collect()
    }
}

fn is_short(f: &For) -> bool {
    matches!((&f.lo, &f.hi), (Index::Const(lo), Index::Const(hi)) if hi.saturating_sub(*lo) < SHORT)
}

/// Whether there is a loop that may take long.
fn has_loop(stmts: &[Stmt]) -> bool {
    stmts.iter().any(|stmt| match stmt {
        Stmt::For(f) => !is_short(f) || has_loop(&f.body),
        Stmt::If { then, otherwise, .. } => has_loop(then) || has_loop(otherwise),
        Stmt::Alloc { body, .. } => has_loop(body),
        _ => false,
    })
}
