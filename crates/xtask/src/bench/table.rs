//! Tables of figures as text.

/// Text in columns; the first is aligned to the left, the others to the right.
pub(super) struct Table {
    pub(super) rows: Vec<Vec<String>>,
}

impl Table {
    pub(super) fn new(header: &[&str]) -> Table {
        Table { rows: vec![header.iter().map(|&title| title.to_owned()).collect()] }
    }

    pub(super) fn render(&self) -> String {
        let columns = self.rows.iter().map(Vec::len).max().unwrap_or(0);
        let width =
            |column: usize| self.rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.chars().count()).max();
        let widths: Vec<usize> = (0..columns).map(|column| width(column).unwrap_or(0)).collect();
        let line = |row: &Vec<String>| {
            let cells = row.iter().zip(&widths).enumerate().map(|(column, (cell, &width))| match column {
                0 => format!("{cell:<width$}"),
                _ => format!("{cell:>width$}"),
            });
            cells.collect::<Vec<_>>().join("  ").trim_end().to_owned()
        };
        self.rows.iter().map(line).collect::<Vec<_>>().join("\n")
    }
}
