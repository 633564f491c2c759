//! Statements as C.
//!
//! A check that fails jumps to the end of the innermost scope (the function, an iteration of a parallel loop, or the life of
//! a buffer), which frees what it has and goes on outwards. Iterations of a parallel loop have a status of their own.

use loops::{
    ArrayId, Cond, Each, Expr, ExprKind, For, Index, LocalId, LoopKind, Parallel, Stmt, Target, fused_factors,
};
use program::{BinaryOp, ScalarType};

use crate::emit::{Scope, Writer, bug, c_type};
use crate::index::{Level, Term};
use crate::locals;

/// Buffers of known size up to this many bytes are on the stack.
const STACK_BYTES: i64 = 1 << 14;

impl Writer<'_> {
    pub(crate) fn block(&mut self, stmts: &[Stmt]) -> diag::Result<()> {
        let mut here = locals::declared_in(stmts);
        here.retain(|(local, _)| !self.declared.contains(local));
        for (position, stmt) in stmts.iter().enumerate() {
            for (local, first) in &here {
                if *first != position {
                    continue;
                }
                let sets = matches!(stmt, Stmt::Set { local: set, .. } if set == local);
                if !sets {
                    let ty = self.local_type(*local);
                    self.line(format!("{} {} = 0;", c_type(ty), self.names.locals[local.index()]));
                    self.declared.insert(*local);
                }
            }
            self.stmt(stmt)?;
        }
        // Another block may have a variable of this name again.
        for (local, _) in &here {
            self.declared.remove(local);
        }
        Ok(())
    }

    fn local_type(&self, local: LocalId) -> ScalarType {
        self.kernel.locals[local.index()].ty
    }

    fn stmt(&mut self, stmt: &Stmt) -> diag::Result<()> {
        diag::deadline::check("c")?;
        match stmt {
            Stmt::For(f) => self.r#for(f),
            Stmt::If { cond, then, otherwise } => self.r#if(cond, then, otherwise),
            Stmt::Store { array, index, value } => {
                let value = self.expr(value)?;
                let cell = self.cell_at(*array, index);
                self.line(format!("{} = {};", cell.text, value.text));
                Ok(())
            }
            Stmt::Update { target, op, value } => {
                let place = match target {
                    Target::Cell { array, index } => self.cell_at(*array, index),
                    Target::Local(local) => Term::atom(&self.names.locals[local.index()]),
                };
                if let Some((a, b)) = fused_factors(*op, value) {
                    let (a, b) = (self.expr(a)?, self.expr(b)?);
                    let fma = if value.ty == ScalarType::F32 { "fmaf" } else { "fma" };
                    self.line(format!("{} = {fma}({}, {}, {});", place.text, a.text, b.text, place.text));
                    return Ok(());
                }
                let term = self.expr(value)?;
                self.combine(place, *op, value.ty, term)
            }
            Stmt::Scatter { array, index, op, value, at } => {
                let term = self.expr(value)?;
                let outer = std::mem::replace(&mut self.at, *at);
                let place = self.checked_cell(*array, index)?;
                self.combine(place, *op, value.ty, term)?;
                self.at = outer;
                Ok(())
            }
            Stmt::Set { local, value } => {
                let value_text = self.expr(value)?.text;
                let name = self.names.locals[local.index()].clone();
                match self.declared.insert(*local) {
                    true => self.line(format!("{} {name} = {value_text};", c_type(value.ty))),
                    false => self.line(format!("{name} = {value_text};")),
                }
                Ok(())
            }
            Stmt::Alloc { array, body, .. } => {
                self.line("{");
                self.depth += 1;
                self.with_buffer(*array, |writer| writer.block(body))?;
                self.depth -= 1;
                self.line("}");
                Ok(())
            }
            Stmt::Each(each) => self.each(each),
            Stmt::Barrier => Err(bug("iterations that wait for each other have no form in C")),
        }
    }

    fn cell_at(&mut self, array: ArrayId, index: &[Index]) -> Term {
        let subscripts = index.iter().map(|subscript| self.index(subscript)).collect();
        self.cell(array, subscripts)
    }

    fn combine(&mut self, place: Term, op: BinaryOp, ty: ScalarType, term: Term) -> diag::Result<()> {
        match op {
            BinaryOp::Last => self.line(format!("{} = {};", place.text, term.text)),
            BinaryOp::Once => {
                let site = format!("a cell that is unique is assigned twice{}", self.place());
                self.require(&format!("{} == INT64_MIN || ({}) == INT64_MIN", place.text, term.text), site);
                self.line(format!("if (({}) != INT64_MIN) {} = {};", term.text, place.text, term.text));
            }
            BinaryOp::Add if ty.is_float() => self.line(format!("{} += {};", place.text, term.text)),
            BinaryOp::Mul if ty.is_float() => self.line(format!("{} *= {};", place.text, term.text)),
            op => {
                let combined = self.binary(op, ty, place.clone(), term)?;
                self.line(format!("{} = {};", place.text, combined.text));
            }
        }
        Ok(())
    }

    fn r#if(&mut self, cond: &Cond, then: &[Stmt], otherwise: &[Stmt]) -> diag::Result<()> {
        let cond = self.cond(cond).text;
        self.line(format!("if ({cond}) {{"));
        self.nested(then)?;
        let mut otherwise = otherwise;
        while let [Stmt::If { cond, then, otherwise: rest }] = otherwise {
            let cond = self.cond(cond).text;
            self.line(format!("}} else if ({cond}) {{"));
            self.nested(then)?;
            otherwise = rest;
        }
        if !otherwise.is_empty() {
            self.line("} else {");
            self.nested(otherwise)?;
        }
        self.line("}");
        Ok(())
    }

    fn nested(&mut self, stmts: &[Stmt]) -> diag::Result<()> {
        self.depth += 1;
        self.block(stmts)?;
        self.depth -= 1;
        Ok(())
    }

    fn r#for(&mut self, f: &For) -> diag::Result<()> {
        let (lo, hi) = (self.index(&f.lo).text, self.index(&f.hi).at(Level::Sum));
        let var = self.names.vars[f.var.index()].clone();
        let step = if f.step == 1 { format!("{var}++") } else { format!("{var} += {}", f.step) };
        let head = format!("for (int64_t {var} = {lo}; {var} < {hi}; {step}) {{");
        match &f.kind {
            LoopKind::Parallel(parallel) if parallel.reductions.is_empty() => self.parallel(f, parallel, &head, &var),
            LoopKind::Parallel(_) => Err(bug("the results of a parallel loop are not in partial results")),
            LoopKind::Serial | LoopKind::Vector(_) | LoopKind::Unrolled => {
                self.line(head);
                self.nested(&f.body)?;
                self.line("}");
                Ok(())
            }
        }
    }

    /// A loop whose bounds depend on data.
    fn each(&mut self, each: &Each) -> diag::Result<()> {
        self.line("{");
        self.depth += 1;
        let outer = std::mem::replace(&mut self.at, each.at);
        let [lo, hi, step] = [self.end(&each.lo)?, self.end(&each.hi)?, self.end(&each.step)?];
        let more = self.names.fresh("more");
        if each.forwards {
            let site = format!("the end of a range is before its begin{}", self.place());
            self.require(&format!("{lo} <= {hi}"), site);
        }
        if !matches!(each.step.kind, ExprKind::Const(_)) {
            let site = format!("a step is less than 1{}", self.place());
            self.require(&format!("{step} >= 1"), site);
        }
        self.at = outer;
        let var = self.names.locals[each.local.index()].clone();
        // The next value may not exist, so what is left is compared.
        self.line(format!("for (int64_t {var} = {lo}, {more} = {lo} < {hi}; {more};"));
        let left = format!("(uint64_t){hi} - (uint64_t){var} > (uint64_t){step}");
        self.line(format!("     {more} = {left}, {var} += {more} ? {step} : 0) {{"));
        let declared = self.declared.insert(each.local);
        self.depth += 1;
        if let Some(until) = &each.until {
            let goes_on = self.expr(until)?.text;
            self.line(format!("if (!({goes_on})) break;"));
        }
        self.block(&each.body)?;
        self.depth -= 1;
        if declared {
            self.declared.remove(&each.local);
        }
        self.line("}");
        self.depth -= 1;
        self.line("}");
        Ok(())
    }

    /// A value that stays what it is, whatever the loop does.
    fn end(&mut self, end: &Expr) -> diag::Result<String> {
        let value = self.expr(end)?.text;
        let name = self.temporary();
        self.line(format!("const int64_t {name} = {value};"));
        Ok(name)
    }

    fn parallel(&mut self, f: &For, parallel: &Parallel, head: &str, var: &str) -> diag::Result<()> {
        self.parallel = true;
        let status = self.names.fresh(&format!("failed_{var}"));
        let label = self.names.fresh(&format!("end_{var}"));
        self.scopes.push(Scope { label: label.clone(), status: status.clone(), used: false });
        self.depth += 1;
        let body = self.aside(|writer| writer.with_buffers(&parallel.private, &f.body))?;
        self.depth -= 1;
        let used = self.scopes.pop().is_some_and(|scope| scope.used);
        self.line("OMP(omp parallel for)");
        self.line(head);
        self.depth += 1;
        if used {
            self.line(format!("int {status} = 0;"));
        }
        self.out.push_str(&body);
        let outer = self.scopes.last().map_or("status".to_owned(), |scope| scope.status.clone());
        if used {
            self.label(&label);
            self.line(format!("if ({status}) {{"));
            self.line("    OMP(omp atomic write)");
            self.line(format!("    {outer} = {status};"));
            self.line("}");
        }
        self.depth -= 1;
        self.line("}");
        if used {
            self.go_on(&outer);
        }
        Ok(())
    }

    /// Leaves the scope around if something inside failed.
    fn go_on(&mut self, status: &str) {
        if let Some(scope) = self.scopes.last_mut() {
            scope.used = true;
            let label = scope.label.clone();
            self.line(format!("if ({status}) goto {label};"));
        }
    }

    fn with_buffers(&mut self, arrays: &[ArrayId], body: &[Stmt]) -> diag::Result<()> {
        match arrays {
            [] => self.block(body),
            [first, rest @ ..] => self.with_buffer(*first, |writer| writer.with_buffers(rest, body)),
        }
    }

    /// An array for the time of some statements.
    fn with_buffer(&mut self, array: ArrayId, body: impl FnOnce(&mut Self) -> diag::Result<()>) -> diag::Result<()> {
        let declared = &self.kernel.arrays[array.index()];
        let (name, ty) = (self.names.arrays[array.index()].clone(), declared.ty);
        let extents = declared.shape.iter().map(|extent| match extent {
            Index::Const(extent) => Some(*extent),
            _ => None,
        });
        let elements = extents.collect::<Option<Vec<i64>>>();
        let elements = elements.and_then(|extents| extents.into_iter().try_fold(1_i64, i64::checked_mul));
        let on_stack = elements.filter(|elements| elements.saturating_mul(ty.bytes() as i64) <= STACK_BYTES);
        if let Some(elements) = on_stack {
            self.line(format!("{} {name}[{}];", c_type(ty), elements.max(1)));
            return body(self);
        }
        let count = self.elements(array);
        self.allocator();
        self.line(format!("{} *restrict {name} = allocate({count}, sizeof *{name});", c_type(ty)));
        let jump = self.jump("-1");
        self.line(format!("if (!{name}) {jump}"));
        let status = self.scopes.last().map_or("status".to_owned(), |scope| scope.status.clone());
        let label = self.names.fresh(&format!("end_{name}"));
        self.scopes.push(Scope { label: label.clone(), status: status.clone(), used: false });
        body(self)?;
        let used = self.scopes.pop().is_some_and(|scope| scope.used);
        if used {
            self.label(&label);
        }
        self.line(format!("free({name});"));
        if used {
            self.go_on(&status);
        }
        Ok(())
    }

    /// An array for the whole call; it is declared and freed elsewhere.
    pub(crate) fn allocate(&mut self, array: ArrayId) {
        let count = self.elements(array);
        self.allocator();
        let name = self.names.arrays[array.index()].clone();
        self.line(format!("{name} = allocate({count}, sizeof *{name});"));
        let jump = self.jump("-1");
        self.line(format!("if (!{name}) {jump}"));
    }

    fn allocator(&mut self) {
        self.helper("allocate", || {
            "/* An empty array has an address, too. */\n\
             static void *allocate(int64_t count, size_t size)\n{\n    return malloc(count > 0 ? (size_t)count * size : size);\n}\n"
                .to_owned()
        });
    }
}
