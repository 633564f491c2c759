//! Layouts that a function itself speaks of: read from its lines, and undone for those who know subscripts alone.
//!
//! In: the lines at the beginning of a function.  Out: steps, which are applied before anything is decided about its order; and, for arguments
//! that callers hand over in a layout, the shape that a call must have.
//! The interpreter never sees a layout: it gets the cells of such an argument row by row, and its results go back to their places.

use diag::Diagnostic;
use program::{Data, Function, ParamId, Program, Role, Stored};
use steps::Step;

/// The layouts of a function, as steps.
pub(crate) fn layouts(function: &Function) -> Result<Vec<Step>, Vec<Diagnostic>> {
    let (mut steps, mut diagnostics) = (Vec::new(), Vec::new());
    for line in &function.layouts {
        match steps::read_layout(line, function) {
            Ok(step) => steps.push(step),
            Err(errors) => diagnostics.extend(errors),
        }
    }
    if diagnostics.is_empty() { Ok(steps) } else { Err(diagnostics) }
}

/// Finds the arguments that callers hand over in a layout.
pub(crate) fn find_all(program: &mut Program) -> diag::Result<()> {
    for function in program.functions.iter_mut().filter(|function| !function.layouts.is_empty()) {
        for step in layouts(function).map_err(diag::Error::User)? {
            let Some(stored) = steps::stored(function, &step)? else { continue };
            if function.stored.iter().any(|known| known.array == stored.array) {
                let message = format!("`{}` is handed over in two layouts", function.array(stored.array).name);
                return Err(diag::Error::User(vec![Diagnostic::error("E0520", step.span, message)]));
            }
            function.stored.push(stored);
        }
    }
    Ok(())
}

/// Puts the cells of the arrays that callers hand over in a layout row by row; `None` if one has not the room that it should.
pub(crate) fn by_rows(function: &Function, params: &[i64], arrays: &mut [Option<Data>]) -> Option<()> {
    for stored in &function.stored {
        let Some(data) = arrays.get_mut(stored.array.index()).and_then(Option::as_mut) else { continue };
        let cells = cells(function, stored, params)?;
        let mut rows = Data::zeros(data.ty(), cells.len())?;
        for (position, place) in cells.into_iter().enumerate() {
            rows.set(position, data.get(place)?);
        }
        *data = rows;
    }
    Some(())
}

/// Puts the results back into their places; `before` is what callers handed over, whose other places stay as they are.
pub(crate) fn by_places(
    function: &Function,
    params: &[i64],
    before: Vec<Option<Data>>,
    arrays: &mut [Option<Data>],
) -> Option<()> {
    let mut before = before;
    for stored in function.stored.iter().filter(|stored| function.array(stored.array).role != Role::In) {
        let position = stored.array.index();
        let (Some(rows), Some(mut whole)) = (arrays.get(position)?.as_ref(), before.get_mut(position)?.take()) else {
            continue;
        };
        for (cell, place) in cells(function, stored, params)?.into_iter().enumerate() {
            whole.set(place, rows.get(cell)?);
        }
        arrays[position] = Some(whole);
    }
    Some(())
}

/// The place of every cell, row by row, counted row by row among the places.
fn cells(function: &Function, stored: &Stored, params: &[i64]) -> Option<Vec<usize>> {
    let param = |id: ParamId| params[id.index()];
    let extents = |shape: &[program::Affine]| -> Option<Vec<i64>> {
        shape.iter().map(|extent| Some(extent.eval(&param, &|_| 0)?.max(0))).collect()
    };
    let (declared, room) = (extents(&function.array(stored.array).shape)?, extents(&stored.shape)?);
    let count = declared.iter().try_fold(1i64, |count, extent| count.checked_mul(*extent))?;
    let mut cells = Vec::new();
    let mut cell = vec![0i64; declared.len()];
    for _ in 0..count {
        let place = stored.places.iter().zip(&room).try_fold(0i64, |sum, (place, extent)| {
            sum.checked_mul(*extent)?.checked_add(place.eval(&param, &|iter| cell[iter.index()])?)
        })?;
        cells.push(usize::try_from(place).ok()?);
        for (coordinate, extent) in cell.iter_mut().zip(&declared).rev() {
            *coordinate += 1;
            if *coordinate < *extent {
                break;
            }
            *coordinate = 0;
        }
    }
    Some(cells)
}
