//! `pack`: each iteration of a loop first copies what it reads of an array into a buffer, and reads the copy.
//!
//! Before: `… B[f(x)] …` inside the loop.  After: `Bp[c - o] = B[c]` for every cell `c` that the iteration reads, then
//! `… Bp[f(x) - o] …`. Claimed and checked: through the copy, each read finds what it found before.

use diag::Diagnostic;
use isl::Map;
use program::{Affine, ArrayId, Expr, ExprKind};

use super::buffer::{self, Buffer};
use super::inline::array_named;
use super::site::Site;
use super::{Before, Claim, Draft, Drafted, array_name, expr, flow, known_index, load, serial, statement_name};
use crate::fault::Fault;
use crate::model::{Parts, affine_subscripts, unique};
use crate::scop::{Access, StatementKind};
use crate::sets::Frame;
use crate::transform::{Step, misuse, overflow, select};

pub(in crate::transform) fn pack(before: Before<'_>, step: &Step) -> Drafted<Draft> {
    let scop = before.scop;
    let target = select::single(step)?;
    if target.loops.is_some() {
        return Err(misuse(step, target.name.span, "`pack` takes an array, without loops").into());
    }
    let array = array_named(before, &target.name)?;
    let name = &scop.array(array).name;
    let mut draft = Draft::new(before)?;
    let site = Site::find(before, step, &mut draft, array)?;
    if let Some(writer) = site.members.iter().find(|member| scop.statements[**member].write.array == array) {
        let message = format!("`{name}` is written inside the loop, by `{}`", scop.statements[*writer].name);
        let help = "`pack` copies arrays that the loop only reads";
        return Err(Diagnostic::error("E0516", step.span, message).help(help).into());
    }
    let footprint = footprint(before, &site, array)?;
    let Some((footprint, read)) = footprint else {
        let at = step.at.as_ref().map_or("", |at| at.text.as_str());
        let message = format!("`{name}` is not read inside loop `{at}`");
        return Err(Diagnostic::error("E0516", step.span, message).into());
    };
    let packed = array_name(scop, step, &format!("{name}_packed"))?;
    let buffer = Buffer::new(before, step, &mut draft, &site, (array, packed.clone()), &footprint)?;
    redirect(before, step, &mut draft, &site, &buffer, array)?;

    // The copy: an instance per iteration and cell.
    let mut entries = site.enter(&mut draft.plan);
    let mut cells = Vec::new();
    for dim in 0..scop.array(array).shape.len() {
        let taken = |name: &str| draft.plan.statements.iter().any(|plan| plan.loop_named(name).is_some());
        let loop_name = unique(&format!("{}{dim}", name.to_lowercase()), taken);
        let iter = draft.iter(&loop_name, read.span);
        entries.push(serial(&loop_name, Affine::iter(iter)));
        cells.push(iter);
    }
    let index: Vec<Affine> = cells.iter().map(|iter| Affine::iter(*iter)).collect();
    let values: Vec<Affine> = site.iters.iter().map(|iter| Affine::iter(*iter)).collect();
    let iters = [site.iters.as_slice(), cells.as_slice()].concat();
    let name = statement_name(scop, &format!("{packed}_copy"));
    let value = Expr { kind: ExprKind::Const(program::Value::Bool(false)), ty: scop.array(array).ty, span: read.span };
    let parts = Parts {
        name: name.clone(),
        source: name.clone(),
        kind: StatementKind::Assign,
        ordered: 0,
        kept: iters.len(),
        iters,
        domain: footprint.wrap()?.flatten()?,
        target: (buffer.array, affine_subscripts(&buffer.index(step, &site, &values, &index)?), read.span),
        value: load(array, index, &value),
        order: Vec::new(),
        span: read.span,
    };
    let first = site.members.first().copied().ok_or_else(|| Fault::bug("a loop around nothing"))?;
    draft.insert(first, parts, entries)?;
    draft.copies.push(name);
    Ok(draft)
}

/// The cells of `array` that the iterations of the site read, and one of the reads.
fn footprint<'a>(before: Before<'a>, site: &Site, array: ArrayId) -> Drafted<Option<(Map, &'a Access)>> {
    let mut found: Option<(Map, &Access)> = None;
    for member in &site.members {
        let instances = site.instances(before, *member)?;
        for read in before.scop.statements[*member].reads.iter().filter(|read| read.array == array) {
            let cells = instances.clone().apply_range(read.map.clone())?;
            found = Some(match found {
                Some((all, first)) => (all.union(cells)?, first),
                None => (cells, read),
            });
        }
    }
    Ok(match found {
        Some((cells, read)) => Some((buffer::tidy(cells)?, read)),
        None => None,
    })
}

/// Lets the members of a site read the buffer instead of `array`, and claims that they find the same.
pub(super) fn redirect(
    before: Before<'_>,
    step: &Step,
    draft: &mut Draft,
    site: &Site,
    buffer: &Buffer,
    array: ArrayId,
) -> Drafted<()> {
    let scop = before.scop;
    for member in &site.members {
        let statement = &scop.statements[*member];
        let values = site.values(before.plan, *member);
        let frame = Frame::new(&scop.params, &scop.function, Some(&statement.name), &statement.iters)?;
        let mut moved: Vec<(Vec<Affine>, Vec<Affine>)> = Vec::new();
        for read in statement.reads.iter().filter(|read| read.array == array) {
            let from = known_index(scop, step, statement, read)?;
            let index = buffer.index(step, site, &values, &from)?;
            let packed = draft.scop.array(buffer.array);
            let range = scop.params.tuple(Some(&packed.name), &vec![""; index.len()])?;
            draft.claims.push(Claim {
                access: frame.map(range, &index)?.intersect_domain(read.map.clone().domain()?)?,
                writers: flow::writers(before.dependences, &read.map)?,
                inputs: flow::inputs(before.dependences, &read.map)?,
            });
            moved.push((from, index));
        }
        if moved.is_empty() {
            continue;
        }
        let mut parts = Parts::of(statement);
        let value = expr::with_loads(&statement.value, &|whole, read, index| {
            let (_, to) = moved.iter().find(|(from, _)| read == array && from == index)?;
            Some(load(buffer.array, to.clone(), whole))
        });
        parts.value = value.ok_or_else(|| overflow(step))?;
        draft.replace(*member, parts)?;
    }
    Ok(())
}
