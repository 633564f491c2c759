//! Two-dimensional tables of indices, as text and as SVG.

use std::fmt::Write;

use crate::cute::Layout;
use crate::error::{Error, Result};
use crate::nested::Nested;

/// A table of numbers; an empty cell is a hole.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Table {
    /// How many cells a row has.
    pub columns: usize,
    /// Row by row.
    pub cells: Vec<Option<i64>>,
}

/// Tables with more cells than this are not drawn.
pub(super) const MAX_CELLS: i64 = 4096;

impl Table {
    /// The first mode runs down, all others run right.
    pub fn of_layout(layout: &Layout) -> Result<Table> {
        Table::of_function(layout, Ok)
    }

    /// One row.
    pub(super) fn of_numbers(count: i64, value: impl Fn(i64) -> Result<i64>) -> Result<Table> {
        if count > MAX_CELLS {
            return Err(Error::inadmissible("draw", format!("{count} cells are too many to draw")));
        }
        let cells = (0..count).map(|index| value(index).map(Some)).collect::<Result<Vec<_>>>()?;
        Ok(Table { columns: cells.len().max(1), cells })
    }

    pub(super) fn of_function(layout: &Layout, change: impl Fn(i64) -> Result<i64>) -> Result<Table> {
        if layout.size() > MAX_CELLS {
            return Err(Error::inadmissible("draw", format!("{} cells are too many to draw", layout.size())));
        }
        let rows = layout.top_modes().next().map_or(1, |mode| mode.size());
        let (rows, columns) = match layout.modes() {
            Nested::Leaf(_) => (1, layout.size()),
            Nested::Tuple(modes) if modes.len() == 1 => (1, layout.size()),
            Nested::Tuple(_) => (rows, layout.size() / rows),
        };
        let mut cells = Vec::new();
        for row in 0..rows {
            for column in 0..columns {
                cells.push(Some(change(layout.at(row + column * rows)?)?));
            }
        }
        Ok(Table { columns: usize::try_from(columns).unwrap_or(1), cells })
    }

    /// Right-aligned columns; `.` is a hole.
    pub fn to_text(&self) -> String {
        let texts =
            self.cells.iter().map(|cell| cell.map_or(".".to_owned(), |cell| cell.to_string())).collect::<Vec<_>>();
        let width = texts.iter().map(String::len).max().unwrap_or(1);
        let mut drawing = String::new();
        for row in texts.chunks(self.columns.max(1)) {
            let row = row.iter().map(|text| format!("{text:>width$}")).collect::<Vec<_>>();
            drawing.push_str(&row.join(" "));
            drawing.push('\n');
        }
        drawing
    }

    /// Cells coloured by eighths of the range, holes grey.
    pub fn to_svg(&self) -> String {
        const CELL: usize = 40;
        const COLOURS: [&str; 8] =
            ["#eaf2fb", "#cfe3f7", "#b3d4f2", "#fdf0d5", "#fbe0ad", "#e5f3e2", "#c9e8c3", "#f6dbe4"];
        let columns = self.columns.max(1);
        let (width, height) = (columns * CELL, self.cells.len().div_ceil(columns) * CELL);
        let largest = self.cells.iter().flatten().copied().max().unwrap_or(0).max(0);
        let mut svg = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" \
             viewBox=\"0 0 {width} {height}\" font-family=\"monospace\" font-size=\"14\" text-anchor=\"middle\">\n"
        );
        for (position, cell) in self.cells.iter().enumerate() {
            let (x, y) = (position % columns * CELL, position / columns * CELL);
            let colour = cell.map_or("#dddddd", |cell| {
                let eighth = i128::from(cell.max(0)) * 8 / (i128::from(largest) + 1);
                COLOURS[usize::try_from(eighth).unwrap_or(0).min(7)]
            });
            // Writing to a string does not fail.
            let _ = writeln!(
                svg,
                "  <rect x=\"{x}\" y=\"{y}\" width=\"{CELL}\" height=\"{CELL}\" fill=\"{colour}\" stroke=\"#333\"/>"
            );
            if let Some(cell) = cell {
                let (x, y) = (x + CELL / 2, y + CELL / 2 + 5);
                let _ = writeln!(svg, "  <text x=\"{x}\" y=\"{y}\">{cell}</text>");
            }
        }
        svg.push_str("</svg>\n");
        svg
    }
}
