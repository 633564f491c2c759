//! The figures of a run as a table, as JSON and as a chart.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use super::table::Table;
use crate::process::say;

/// What the machine can do at best, per second.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limits {
    pub(super) flops: f64,
    pub(super) bytes: f64,
}

/// What the mathematics of a kernel asks for.
#[derive(Clone, Copy, Debug)]
pub(super) struct Work {
    pub(super) operations: f64,
    pub(super) bytes: f64,
}

pub(super) struct Row {
    pub(super) name: String,
    pub(super) work: Option<Work>,
    /// Seconds, by contender.
    pub(super) times: Vec<Option<f64>>,
}

pub(super) struct Report {
    /// Of the chart.
    pub(super) title: String,
    pub(super) limits: Option<Limits>,
    pub(super) names: Vec<&'static str>,
    pub(super) ratios: &'static [Ratio],
    pub(super) rows: Vec<Row>,
}

/// A ratio of two times: which peers, and which contender of Farkas.
pub(super) struct Ratio {
    pub(super) title: &'static str,
    pub(super) peers: &'static [&'static str],
    pub(super) ours: &'static str,
    /// Drawn in the chart.
    pub(super) is_charted: bool,
}

impl Report {
    fn time(&self, row: &Row, name: &str) -> Option<f64> {
        let at = self.names.iter().position(|&known| known == name)?;
        row.times[at]
    }

    /// The best peer's time over ours: above 1 we are faster.
    fn ratio(&self, row: &Row, ratio: &Ratio) -> Option<f64> {
        let peer = ratio.peers.iter().filter_map(|peer| self.time(row, peer)).min_by(f64::total_cmp)?;
        Some(peer / self.time(row, ratio.ours)?)
    }

    /// The share of the nearer limit that the faster of strict and fast code reaches with one thread.
    fn share(&self, row: &Row) -> Option<f64> {
        let ours = ["strict", "fast"].iter().filter_map(|name| self.time(row, name)).min_by(f64::total_cmp)?;
        let (limits, work) = (self.limits?, row.work?);
        Some((work.operations / limits.flops).max(work.bytes / limits.bytes) / ours)
    }

    fn table(&self) -> String {
        let mut header = vec!["kernel"];
        header.extend(&self.names);
        header.extend(self.ratios.iter().map(|ratio| ratio.title));
        if self.limits.is_some() {
            header.push("of limit");
        }
        let mut table = Table::new(&header);
        let shown = |value: Option<f64>| value.map_or_else(|| "-".to_owned(), |value| format!("{value:.2}"));
        for row in &self.rows {
            let mut cells = vec![row.name.clone()];
            cells.extend(row.times.iter().map(|time| shown(time.map(|time| time * 1e3))));
            cells.extend(self.ratios.iter().map(|ratio| shown(self.ratio(row, ratio))));
            cells.extend(self.share(row).map(|share| format!("{:.0} %", 100.0 * share)));
            table.rows.push(cells);
        }
        table.render()
    }

    /// Geometric mean and smallest value of each ratio.
    fn summary(&self) -> String {
        let mut text = "times in ms; the best peer's time over ours, so above 1 is faster:".to_owned();
        for ratio in self.ratios {
            let values: Vec<(f64, &str)> =
                self.rows.iter().filter_map(|row| Some((self.ratio(row, ratio)?, row.name.as_str()))).collect();
            let Some(&(least, name)) = values.iter().min_by(|a, b| a.0.total_cmp(&b.0)) else { continue };
            let mean = (values.iter().map(|(value, _)| value.ln()).sum::<f64>() / values.len() as f64).exp();
            let _ = write!(
                text,
                "\n  {:<10}  geometric mean {mean:.2}, least {least:.2} ({name}), {} kernels",
                ratio.title,
                values.len()
            );
        }
        text
    }

    fn json(&self) -> String {
        let number = |value: Option<f64>| value.map_or_else(|| "null".to_owned(), |value| format!("{value:e}"));
        let rows: Vec<String> = self
            .rows
            .iter()
            .map(|row| {
                let times = self.names.iter().zip(&row.times);
                let times: Vec<String> = times.map(|(name, time)| format!("\"{name}\": {}", number(*time))).collect();
                format!(
                    "    {{\"kernel\": \"{}\", \"operations\": {}, \"bytes\": {}, \"seconds\": {{{}}}}}",
                    row.name,
                    number(row.work.map(|work| work.operations)),
                    number(row.work.map(|work| work.bytes)),
                    times.join(", ")
                )
            })
            .collect();
        format!(
            "{{\n  \"title\": \"{}\",\n  \"flops_per_second\": {},\n  \"bytes_per_second\": {},\n  \"kernels\": [\n{}\n  ]\n}}\n",
            self.title,
            number(self.limits.map(|limits| limits.flops)),
            number(self.limits.map(|limits| limits.bytes)),
            rows.join(",\n")
        )
    }

    /// Prints the table and the means, and writes `NAME.json` and `NAME.svg`.
    pub(super) fn publish(&self, folder: &Path, name: &str) -> Result<(), String> {
        say(self.table());
        say(self.summary());
        for (extension, text) in [("json", self.json()), ("svg", self.chart())] {
            let path = folder.join(format!("{name}.{extension}"));
            fs::write(&path, text).map_err(|error| format!("{}: {error}", path.display()))?;
            say(format!("written: {}", path.display()));
        }
        Ok(())
    }

    /// A bar for each kernel, by the best peer's time over ours, on a logarithmic axis.
    fn chart(&self) -> String {
        const ROW: usize = 18;
        const LEFT: f64 = 130.0;
        const WIDTH: f64 = 560.0;
        /// The axis runs from 1/4 to 64.
        const OCTAVES: (f64, f64) = (-2.0, 6.0);
        let place = |ratio: f64| {
            let octave = ratio.log2().clamp(OCTAVES.0, OCTAVES.1);
            LEFT + WIDTH * (octave - OCTAVES.0) / (OCTAVES.1 - OCTAVES.0)
        };
        let height = 60 + ROW * self.rows.len();
        let mut svg = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"760\" height=\"{height}\" font-family=\"sans-serif\" font-size=\"12\">\n\
             <rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n\
             <text x=\"10\" y=\"18\">{}</text>\n",
            self.title
        );
        for octave in OCTAVES.0 as i32..=OCTAVES.1 as i32 {
            let ratio = f64::from(octave).exp2();
            let (x, stroke) = (place(ratio), if octave == 0 { "black" } else { "#ddd" });
            let _ = writeln!(
                svg,
                "<line x1=\"{x:.1}\" x2=\"{x:.1}\" y1=\"36\" y2=\"{}\" stroke=\"{stroke}\"/><text x=\"{x:.1}\" y=\"32\" text-anchor=\"middle\" fill=\"#555\">{ratio}</text>",
                height - 16
            );
        }
        let charted = self.ratios.iter().find(|ratio| ratio.is_charted);
        for (index, row) in self.rows.iter().enumerate() {
            let Some(ratio) = charted.and_then(|ratio| self.ratio(row, ratio)) else { continue };
            let (one, end, top) = (place(1.0), place(ratio), 42 + ROW * index);
            let fill = if ratio >= 1.0 { "#4a7ebb" } else { "#be4b48" };
            let _ = writeln!(
                svg,
                "<text x=\"{:.0}\" y=\"{}\" text-anchor=\"end\">{}</text><rect x=\"{:.1}\" y=\"{top}\" width=\"{:.1}\" height=\"{}\" fill=\"{fill}\"/><text x=\"{:.1}\" y=\"{}\" fill=\"#333\">{ratio:.2}</text>",
                LEFT - 8.0,
                top + 12,
                row.name,
                one.min(end),
                (one - end).abs().max(1.0),
                ROW - 4,
                one.max(end) + 4.0,
                top + 12
            );
        }
        svg.push_str("</svg>\n");
        svg
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RATIOS: [Ratio; 2] = [
        Ratio { title: "C/fast", peers: &["gcc", "clang"], ours: "fast", is_charted: true },
        Ratio { title: "polly/fast", peers: &["polly"], ours: "fast", is_charted: false },
    ];

    fn report() -> Report {
        let row = |name: &str, operations, bytes, times| Row {
            name: name.to_owned(),
            work: Some(Work { operations, bytes }),
            times,
        };
        Report {
            title: "small".to_owned(),
            limits: Some(Limits { flops: 1e9, bytes: 1e9 }),
            names: vec!["gcc", "clang", "strict", "fast"],
            ratios: &RATIOS,
            rows: vec![
                row("a", 1e8, 1.0, vec![Some(0.8), Some(0.4), Some(0.4), Some(0.2)]),
                row("b", 1.0, 1e8, vec![Some(0.1), None, Some(0.2), Some(0.2)]),
            ],
        }
    }

    #[test]
    fn ratios_are_against_the_best_peer() {
        let report = report();
        assert_eq!(report.ratio(&report.rows[0], &RATIOS[0]), Some(2.0));
        assert_eq!(report.ratio(&report.rows[1], &RATIOS[0]), Some(0.5));
        assert_eq!(report.ratio(&report.rows[0], &RATIOS[1]), None, "nobody measured Polly");
        assert_eq!(report.share(&report.rows[0]), Some(0.5));
        assert!(report.summary().contains("geometric mean 1.00, least 0.50 (b), 2 kernels"), "{}", report.summary());
    }

    #[test]
    fn figures_are_kept_for_programs_and_people() {
        let report = report();
        assert!(report.json().contains("\"clang\": null"), "{}", report.json());
        assert!(report.table().contains("a       800.00  400.00  400.00  200.00"), "{}", report.table());
        let chart = report.chart();
        assert_eq!(chart.matches("<rect").count(), 3, "{chart}");
        assert!(chart.contains("#be4b48"), "a slower kernel has another colour: {chart}");
    }
}
