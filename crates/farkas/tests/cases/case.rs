//! One case file: its program, its error markers and its sections.

use farkas::Source;

/// The sections there are, besides those that a typo makes.
pub(crate) const SECTIONS: [&str; 16] = [
    "ast",
    "program",
    "statements",
    "deps",
    "schedule",
    "layouts",
    "loops",
    "script",
    "prepared",
    "run",
    "message",
    "sched",
    "tree",
    "witness",
    "options",
    "unknown",
];

pub(crate) struct Case {
    pub(crate) source: Source,
    pub(crate) markers: Vec<Marker>,
    pub(crate) sections: Vec<Section>,
}

pub(crate) struct Section {
    /// The whole `--- name` line.
    header: String,
    pub(crate) name: String,
    pub(crate) expected: String,
    /// The line of the header.
    pub(crate) line: usize,
}

/// `#~ error[E0401]: text`
pub(crate) struct Marker {
    pub(crate) line: usize,
    pub(crate) code: Option<String>,
    pub(crate) text: String,
}

impl Case {
    pub(crate) fn parse(name: &str, text: &str) -> Result<Case, String> {
        let mut program = String::new();
        let mut sections: Vec<Section> = Vec::new();
        for (line, number) in text.lines().zip(1..) {
            if let Some(rest) = line.strip_prefix("--- ") {
                let name = rest.split('#').next().unwrap_or_default().trim().to_string();
                if !SECTIONS.contains(&name.as_str()) {
                    return Err(format!("line {number}: `{name}` is none of the sections {}", SECTIONS.join(", ")));
                }
                if sections.iter().any(|section| section.name == name) {
                    return Err(format!("line {number}: there are two sections `{name}`"));
                }
                sections.push(Section { header: line.into(), name, expected: String::new(), line: number });
                continue;
            }
            let part = sections.last_mut().map_or(&mut program, |section| &mut section.expected);
            part.push_str(line);
            part.push('\n');
        }
        let reason = program.lines().next().and_then(|line| line.strip_prefix("# "));
        if reason.is_none_or(|reason| reason.trim().len() < 10) {
            return Err("the first line is a comment that says why the case exists".into());
        }
        let markers = markers(&program)?;
        if sections.is_empty() && markers.is_empty() {
            return Err("the case asserts nothing: it has neither sections nor `#~ error` markers".into());
        }
        if let Some(section) = sections.iter().find(|section| section.name != "message")
            && !markers.is_empty()
        {
            return Err(format!("a program with errors has no section `{}`", section.name));
        }
        Ok(Case { source: Source::new(name, program), markers, sections })
    }

    pub(crate) fn section(&self, name: &str) -> Option<&Section> {
        self.sections.iter().find(|section| section.name == name)
    }

    /// The file with the sections as they are now.
    pub(crate) fn to_text(&self) -> String {
        let mut text = self.source.text().to_string();
        for section in &self.sections {
            text.push_str(&section.header);
            text.push('\n');
            text.push_str(&section.expected);
        }
        text
    }
}

/// The markers of a program or a script, by its lines.
pub(crate) fn markers(program: &str) -> Result<Vec<Marker>, String> {
    let mut markers = Vec::new();
    for (line, number) in program.lines().zip(1..) {
        for marker in line.split("#~").skip(1) {
            let wrong = || format!("line {number}: a marker reads `#~ error: text` or `#~ error[E0401]: text`");
            let marker = marker.trim().strip_prefix("error").ok_or_else(wrong)?;
            let (code, text) = marker.split_once(':').ok_or_else(wrong)?;
            let code = match code {
                "" => None,
                code => Some(code.strip_prefix('[').and_then(|code| code.strip_suffix(']')).ok_or_else(wrong)?),
            };
            if text.trim().is_empty() {
                return Err(wrong());
            }
            markers.push(Marker { line: number, code: code.map(str::to_string), text: text.trim().to_string() });
        }
    }
    Ok(markers)
}
