//! The plan of a schedule tree that somebody else made: the scheduler's, or a loaded one.
//!
//! In: a schedule.  Out: a plan with the same times, which prints as a script and which verbs can go on with; none if the
//! times of a statement have pieces, as those of an index-set split have.

use isl::{Aff, Dim, PwAff, Schedule};
use program::{Affine, Function, IterId, ParamId};

use super::{Entry, Loop, LoopKind, Plan, StatementPlan};
use crate::fault::{Attempt, Fault};
use crate::scop::{Scop, Statement};

impl Plan {
    /// The times of a schedule as a plan. Loops are named after their index, or `tn` for another expression at place n.
    pub fn recover(scop: &Scop, schedule: &Schedule) -> diag::Result<Option<Plan>> {
        recover(scop, schedule).map_err(|fault| fault.at("schedule"))
    }

    /// The plan as a script of one `map`; kinds of loops are not part of it.
    pub fn to_script(&self, scop: &Scop) -> String {
        let function = &scop.function;
        let lines = self.statements.iter().zip(&scop.statements).map(|(plan, statement)| {
            let inputs: Vec<&str> = statement.iters.iter().map(|iter| function.iter(*iter).name.as_str()).collect();
            let outputs: Vec<String> = plan.entries.iter().map(|entry| entry.show(function)).collect();
            format!("        {}[{}] -> [{}]\n", plan.name, inputs.join(", "), outputs.join(", "))
        });
        format!("schedule {} {{\n    map {{\n{}    }}\n}}\n", function.name, lines.collect::<String>())
    }
}

impl Entry {
    /// A component of the time.
    fn show(&self, function: &Function) -> String {
        match self {
            Entry::Position(position) => position.to_string(),
            Entry::Loop(found) => function.show(&found.expr),
            Entry::Split(cond) => function.show_cond(cond),
        }
    }
}

fn recover(scop: &Scop, schedule: &Schedule) -> Attempt<Option<Plan>> {
    let times = schedule.get_map()?.maps()?;
    let mut statements = Vec::new();
    for statement in &scop.statements {
        let mut own = None;
        for map in &times {
            if map.get_tuple_name(Dim::In)?.as_deref() == Some(&statement.name) {
                own = Some(map.clone());
            }
        }
        let Some(own) = own else { return Ok(None) };
        let times = own.intersect_domain(statement.domain.clone())?.as_pw_multi_aff()?;
        let mut entries = Vec::new();
        for place in 0..times.dim(Dim::Out)? {
            let Some(expr) = only_piece(scop, statement, times.get_at(place)?)? else { return Ok(None) };
            entries.push(match expr.as_constant() {
                Some(position) => Entry::Position(position),
                None => {
                    let index = expr.as_iter().map(|iter| scop.function.iter(iter).name.clone());
                    let name = index.unwrap_or_else(|| format!("t{place}"));
                    Entry::Loop(Loop { name, expr, kind: LoopKind::Serial })
                }
            });
        }
        statements.push(StatementPlan { name: statement.name.clone(), source: statement.source.clone(), entries });
    }
    Ok(Some(Plan { statements }))
}

/// The expression of which all pieces are made. A statement that never runs may have any time.
fn only_piece(scop: &Scop, statement: &Statement, time: PwAff) -> Attempt<Option<Affine>> {
    let mut pieces = time.pieces()?.into_iter().map(|(_, aff)| aff);
    let Some(first) = pieces.next() else { return Ok(Some(Affine::constant(0))) };
    for other in pieces {
        if !first.plain_is_equal(&other)? {
            return Ok(None);
        }
    }
    Convert { scop, iters: &statement.iters }.affine(&first)
}

/// From isl's expressions to ours.
struct Convert<'a> {
    scop: &'a Scop,
    iters: &'a [IterId],
}

impl Convert<'_> {
    /// None if a coefficient is a fraction or past 64 bits.
    fn affine(&self, aff: &Aff) -> Attempt<Option<Affine>> {
        let Some(constant) = aff.get_constant_val()?.to_i64()? else { return Ok(None) };
        let mut sum = Affine::constant(constant);
        for kind in [Dim::Param, Dim::In, Dim::Div] {
            for place in 0..aff.dim(kind)? {
                let Some(coefficient) = aff.get_coefficient_val(kind, place)?.to_i64()? else { return Ok(None) };
                if coefficient == 0 {
                    continue;
                }
                let atom = match kind {
                    Dim::Param => Affine::param(self.param(aff, place)?),
                    Dim::In => Affine::iter(self.iters[place]),
                    _ => {
                        let Some(quotient) = self.quotient(&aff.get_div(place)?)? else { return Ok(None) };
                        quotient
                    }
                };
                let Some(more) = sum.add_scaled(&atom, coefficient) else { return Ok(None) };
                sum = more;
            }
        }
        Ok(Some(sum))
    }

    /// The floor of an expression with fractions.
    fn quotient(&self, aff: &Aff) -> Attempt<Option<Affine>> {
        let denominator = aff.get_denominator_val()?;
        let Some(divisor) = denominator.to_i64()? else { return Ok(None) };
        let Some(numerator) = self.affine(&aff.clone().scale_val(denominator)?)? else { return Ok(None) };
        Ok(numerator.div(divisor))
    }

    fn param(&self, aff: &Aff, place: usize) -> Attempt<ParamId> {
        let name = aff.get_dim_name(Dim::Param, place)?;
        let known = self.scop.function.params.iter().position(|param| Some(&param.name) == name.as_ref());
        known.map(|known| ParamId(known as u32)).ok_or_else(|| Fault::bug("a time of an unknown parameter"))
    }
}
