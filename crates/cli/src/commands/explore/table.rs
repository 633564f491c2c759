//! The points of a space as a table: short for people, complete as CSV or JSON.

use std::io::{self, Write};
use std::path::Path;
use std::time::Duration;

use farkas::explore::{Judgement, Row, Space};
use serde_json::{Map, Value, json};

use crate::failure::Failure;

/// How a table is stored.
#[derive(Clone, Copy, Debug)]
pub(super) enum Form {
    Csv,
    Json,
}

impl Form {
    pub(super) fn of(path: &Path) -> Result<Form, Failure> {
        match path.extension().and_then(|extension| extension.to_str()) {
            Some("csv") => Ok(Form::Csv),
            Some("json") => Ok(Form::Json),
            _ => {
                let message = format!("the name of a table ends in .csv or .json, not as `{}` does", path.display());
                Err(Failure::usage(message))
            }
        }
    }
}

/// Rows and the names of their choices.
#[derive(Debug)]
pub(super) struct Table<'a> {
    dimensions: Vec<String>,
    rows: &'a [Row],
}

/// How many rows are shown on a terminal.
const SHOWN: usize = 20;

/// What is known of an illegal point, in the order of the columns.
const WITNESS: [&str; 6] = ["kind", "array", "cell", "source", "sink", "params"];

impl<'a> Table<'a> {
    pub(super) fn new(space: &Space, rows: &'a [Row]) -> Table<'a> {
        let mut dimensions: Vec<String> = Vec::new();
        for dimension in &space.dimensions {
            // Columns have different names, also if a dimension is given twice.
            let count = dimensions.iter().filter(|known| known.starts_with(&dimension.text)).count();
            let again = if count == 0 { String::new() } else { format!(" #{}", count + 1) };
            dimensions.push(format!("{}{again}", dimension.text));
        }
        Table { dimensions, rows }
    }

    pub(super) fn write(&self, form: Form, out: &mut dyn Write) -> io::Result<()> {
        match form {
            Form::Csv => self.write_csv(out),
            Form::Json => {
                writeln!(out, "[")?;
                for (position, row) in self.to_json().enumerate() {
                    let comma = if position + 1 < self.rows.len() { "," } else { "" };
                    writeln!(out, "{row}{comma}")?;
                }
                writeln!(out, "]")
            }
        }
    }

    fn write_csv(&self, out: &mut dyn Write) -> io::Result<()> {
        let mut columns = vec!["point"];
        columns.extend(self.dimensions.iter().map(String::as_str));
        columns.extend(["verdict", "same_as", "seconds"]);
        columns.extend(WITNESS);
        columns.push("message");
        write_record(out, &columns)?;
        for row in self.rows {
            let mut fields = vec![row.point.to_string()];
            fields.extend(row.choices.iter().cloned());
            fields.push(row.judgement.name().to_string());
            fields.push(row.same_as.map_or(String::new(), |same| same.to_string()));
            fields.push(row.time.map_or(String::new(), |time| time.as_secs_f64().to_string()));
            fields.extend(WITNESS.map(|key| witness(row).map_or(String::new(), |witness| short(&witness[key]))));
            fields.push(message(row).unwrap_or_default().to_string());
            write_record(out, &fields)?;
        }
        Ok(())
    }

    /// An object per row, with the columns as keys.
    pub(super) fn to_json(&self) -> impl Iterator<Item = Value> + '_ {
        self.rows.iter().map(|row| {
            let mut object = Map::new();
            object.insert("point".into(), row.point.into());
            for (dimension, choice) in self.dimensions.iter().zip(&row.choices) {
                object.insert(dimension.clone(), choice.as_str().into());
            }
            object.insert("verdict".into(), row.judgement.name().into());
            object.insert("same_as".into(), json!(row.same_as));
            object.insert("seconds".into(), json!(row.time.map(|time| time.as_secs_f64())));
            for key in WITNESS {
                object.insert(key.into(), witness(row).map_or(Value::Null, |witness| witness[key].clone()));
            }
            object.insert("message".into(), json!(message(row)));
            Value::Object(object)
        })
    }

    /// The first rows in columns.
    pub(super) fn to_text(&self) -> String {
        let mut lines: Vec<Vec<String>> = Vec::new();
        let mut head = vec!["point".to_string()];
        head.extend(self.dimensions.iter().cloned());
        let measured = self.rows.iter().any(|row| row.time.is_some());
        head.push("verdict".to_string());
        if measured {
            head.push("ms".to_string());
        }
        head.push("why".to_string());
        lines.push(head);
        for row in self.rows.iter().take(SHOWN) {
            let mut line = vec![row.point.to_string()];
            line.extend(row.choices.iter().cloned());
            line.push(row.judgement.name().to_string());
            if measured {
                line.push(row.time.map_or(String::new(), millis));
            }
            line.push(match (message(row), row.same_as) {
                (Some(message), _) => message.to_string(),
                (None, Some(same)) => format!("the same as {same}"),
                (None, None) => String::new(),
            });
            lines.push(line);
        }
        let columns = lines.first().map_or(0, Vec::len);
        let width = |column: usize| {
            let cells = lines.iter().filter_map(|line| line.get(column));
            cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
        };
        let widths: Vec<usize> = (0..columns).map(width).collect();
        let mut text = String::new();
        for line in &lines {
            let cells = line.iter().zip(&widths).map(|(cell, width)| format!("{cell:<width$}"));
            text.push_str(cells.collect::<Vec<_>>().join("  ").trim_end());
            text.push('\n');
        }
        if self.rows.len() > SHOWN {
            text.push_str(&format!("… and {} more; write all of them with -o table.csv\n", self.rows.len() - SHOWN));
        }
        text
    }
}

pub(super) fn millis(time: Duration) -> String {
    format!("{:.3}", time.as_secs_f64() * 1e3)
}

pub(super) fn witness(row: &Row) -> Option<&Value> {
    match &row.judgement {
        Judgement::Illegal { witness, .. } => witness.as_ref(),
        _ => None,
    }
}

fn message(row: &Row) -> Option<&str> {
    match &row.judgement {
        Judgement::Illegal { message, .. } | Judgement::Refused { message } => Some(message),
        Judgement::Legal | Judgement::Unknown => None,
    }
}

/// Data in a cell: an instance as `S0(i=1, j=0)`, sizes as `N=2`, subscripts as `1, 0`.
fn short(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        Value::Array(items) => items.iter().map(short).collect::<Vec<_>>().join(", "),
        Value::Object(fields) => match fields.get("statement") {
            Some(statement) => format!("{}({})", short(statement), short(&value["values"])),
            None => fields.iter().map(|(key, value)| format!("{key}={}", short(value))).collect::<Vec<_>>().join(", "),
        },
        other => other.to_string(),
    }
}

/// One line of RFC 4180, but ended as lines are here.
fn write_record(out: &mut dyn Write, fields: &[impl AsRef<str>]) -> io::Result<()> {
    for (position, field) in fields.iter().enumerate() {
        if position > 0 {
            out.write_all(b",")?;
        }
        let field = field.as_ref();
        match field.contains([',', '"', '\n', '\r']) {
            true => write!(out, "\"{}\"", field.replace('"', "\"\""))?,
            false => out.write_all(field.as_bytes())?,
        }
    }
    out.write_all(b"\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_quoted_where_they_must_be() {
        let mut out = Vec::new();
        write_record(&mut out, &["a", "b, c", "say \"x\"", ""]).expect("memory can be written");
        assert_eq!(String::from_utf8_lossy(&out), "a,\"b, c\",\"say \"\"x\"\"\",\n");
    }

    #[test]
    fn witnesses_are_short() {
        let witness = json!({ "statement": "S0", "values": { "i": 1, "j": 0 }, "time": [0, 1] });
        assert_eq!(short(&witness), "S0(i=1, j=0)");
        assert_eq!(short(&json!({ "N": 2, "M": 1 })), "N=2, M=1");
        assert_eq!(short(&json!([1, 0])), "1, 0");
    }
}
