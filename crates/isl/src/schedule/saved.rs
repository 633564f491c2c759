//! Schedule trees as text, the form in which they are saved and loaded.
//!
//! In: a tree, or YAML.  Out: YAML, or a tree.
//! isl's own reader trusts its input (a number where text belongs makes it follow a wild pointer), so YAML is parsed
//! here, every text in it is read by itself, and isl sees only what we write from that.

use super::yaml::{Problem, Yaml, parse};
use crate::runtime::{Context, Error, Result};
use crate::{Id, MultiUnionPwAff, Schedule, ScheduleNode, Set, UnionMap, UnionPwMultiAff, UnionSet};

object! {
    private
    /// isl's printer, writing to a string.
    Printer, "isl_printer_"
}

/// `ISL_YAML_STYLE_BLOCK`: one node per line, indented.
const BLOCK: i32 = 0;

bind! { trusted Printer;
    fn to_string = "isl_printer_to_str"(context: &Context) -> Printer;
    fn set_yaml_style = "isl_printer_set_yaml_style"(self, style: i32) -> Printer;
    fn print_schedule = "isl_printer_print_schedule"(self, schedule: &Schedule) -> Printer;
    fn print_node = "isl_printer_print_schedule_node"(self, node: &ScheduleNode) -> Printer;
    fn get_str = "isl_printer_get_str"(&self) -> String;
}

bind! { trusted Schedule;
    fn read_trusted = "isl_schedule_read_from_str"(context: &Context, text: &str) -> Schedule;
}

/// The longest text that is parsed.
const MAX_LENGTH: usize = 1 << 22;

/// Words, numbers and signs in one value; isl's parser takes quadratic time.
const MAX_WORDS: usize = 20_000;

/// Digits of a number; twice what 64 bits have.
const MAX_DIGITS: usize = 40;

impl Schedule {
    /// The tree as indented YAML, which [`Schedule::read_from_yaml`] reads back.
    pub fn to_yaml(&self) -> Result<String> {
        let printer = Printer::to_string(self.context())?.set_yaml_style(BLOCK)?;
        printer.print_schedule(self)?.get_str()
    }

    /// Reads a tree. Text that is too long, too deep, not a schedule tree or not used up is refused.
    pub fn read_from_yaml(context: &Context, text: &str) -> Result<Schedule> {
        if text.len() > MAX_LENGTH {
            return refuse(format!("longer than {MAX_LENGTH} bytes"));
        }
        let yaml =
            parse(text).map_err(|Problem { line, what }| Error::Text { problem: format!("line {line}: {what}") })?;
        let mut clean = String::new();
        Writer { context, out: &mut clean }.node(&yaml, Place::Root)?;
        Schedule::read_trusted(context, &clean)
    }

    /// As [`Schedule::read_from_yaml`].
    pub fn read_from_str(context: &Context, text: &str) -> Result<Schedule> {
        Schedule::read_from_yaml(context, text)
    }
}

impl ScheduleNode {
    /// The whole tree as indented YAML, with this position marked.
    pub fn to_yaml(&self) -> Result<String> {
        let printer = Printer::to_string(self.context())?.set_yaml_style(BLOCK)?;
        printer.print_node(self)?.get_str()
    }
}

fn refuse<T>(problem: impl Into<String>) -> Result<T> {
    Err(Error::Text { problem: problem.into() })
}

/// Where a node stands, which limits what it can be.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    Root,
    Child,
    /// An element of a sequence or a set.
    Element,
}

/// Writes what isl's reader expects, in flow style, after checking every part.
struct Writer<'a> {
    context: &'a Context,
    out: &'a mut String,
}

impl Writer<'_> {
    fn node(&mut self, yaml: &Yaml, place: Place) -> Result<()> {
        let Yaml::Map(entries) = yaml else {
            return refuse("a schedule node is a mapping");
        };
        for (index, (key, _)) in entries.iter().enumerate() {
            if entries[..index].iter().any(|(earlier, _)| earlier == key) {
                return refuse(format!("`{key}` is given twice"));
            }
        }
        let kind = KINDS.iter().find(|kind| entries.iter().any(|(key, _)| key == kind.keys[0].0));
        let Some(kind) = kind else {
            return refuse("a mapping that is no schedule node");
        };
        let name = kind.keys[0].0;
        let fits = match place {
            Place::Root => name == "domain",
            Place::Child => name != "domain",
            Place::Element => name == "filter",
        };
        if !fits {
            return refuse(format!("a `{name}` node cannot stand here"));
        }
        if let Some((key, _)) = entries.iter().find(|(key, _)| !kind.allows(key)) {
            return refuse(format!("`{key}` does not belong to a `{name}` node"));
        }
        self.out.push_str("{ ");
        for (index, &(key, part, needed)) in kind.keys.iter().enumerate() {
            match entries.iter().find(|(given, _)| given == key) {
                Some((_, value)) => {
                    if index > 0 {
                        self.out.push_str(", ");
                    }
                    self.part(key, part, value)?;
                }
                None if needed => return refuse(format!("a `{name}` node needs `{key}`")),
                None => {}
            }
        }
        self.out.push_str(" }");
        Ok(())
    }

    fn part(&mut self, key: &str, part: Part, value: &Yaml) -> Result<()> {
        self.out.push_str(key);
        self.out.push_str(": ");
        match (part, value) {
            (Part::Text(check), Yaml::Text(text)) => {
                if text.contains(char::is_control) {
                    return refuse(format!("`{key}` contains a control character"));
                }
                check_limits(key, text)?;
                check(self.context, text)?;
                self.out.push('"');
                self.out.push_str(text);
                self.out.push('"');
            }
            (Part::Flag, Yaml::Int(flag @ (0 | 1))) => self.out.push_str(&flag.to_string()),
            (Part::Flags, Yaml::List(flags)) => self.list(flags, |writer, flag| match flag {
                Yaml::Int(flag @ (0 | 1)) => {
                    writer.out.push_str(&flag.to_string());
                    Ok(())
                }
                _ => refuse(format!("`{key}` is a list of 0 and 1")),
            })?,
            (Part::Node, node) => self.node(node, Place::Child)?,
            (Part::Nodes, Yaml::List(nodes)) if !nodes.is_empty() => {
                self.list(nodes, |writer, node| writer.node(node, Place::Element))?;
            }
            _ => return refuse(format!("`{key}` has a value of the wrong kind")),
        }
        Ok(())
    }

    fn list(&mut self, items: &[Yaml], write: impl Fn(&mut Self, &Yaml) -> Result<()>) -> Result<()> {
        self.out.push_str("[ ");
        for (index, item) in items.iter().enumerate() {
            if index > 0 {
                self.out.push_str(", ");
            }
            write(self, item)?;
        }
        self.out.push_str(" ]");
        Ok(())
    }
}

/// Refuses what isl would spend long on before it looks at a budget, and what no schedule has.
fn check_limits(key: &str, text: &str) -> Result<()> {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let mut words = 0;
    let mut rest = text;
    while let Some(start) = rest.find(|c: char| !c.is_whitespace()) {
        rest = &rest[start..];
        let one = rest.chars().next().map_or(1, char::len_utf8);
        let length = rest.find(|c| !is_word(c)).unwrap_or(rest.len()).max(one);
        let word = &rest[..length];
        rest = &rest[length..];
        words += 1;
        if words > MAX_WORDS {
            return refuse(format!("`{key}` has more than {MAX_WORDS} words and signs"));
        }
        if word.len() > MAX_DIGITS && word.starts_with(|c: char| c.is_ascii_digit()) {
            return refuse(format!("`{key}` has a number of more than {MAX_DIGITS} digits"));
        }
        // Fractions between the integers are nothing that a program runs.
        if word == "rat" && rest.trim_start().starts_with(':') {
            return refuse(format!("`{key}` is about rational numbers"));
        }
    }
    Ok(())
}

/// What the value of a key must be.
#[derive(Clone, Copy)]
enum Part {
    /// Text that this function can read.
    Text(fn(&Context, &str) -> Result<()>),
    Flag,
    Flags,
    Node,
    Nodes,
}

/// A kind of node: its keys, the telling one first, each with what it holds and whether it must be there.
struct NodeKind {
    keys: &'static [(&'static str, Part, bool)],
}

impl NodeKind {
    fn allows(&self, key: &str) -> bool {
        self.keys.iter().any(|(known, _, _)| *known == key)
    }
}

macro_rules! reads {
    ($type:ident) => {
        Part::Text(|context, text| $type::read_from_str(context, text).map(drop))
    };
}

const CHILD: (&str, Part, bool) = ("child", Part::Node, false);

const KINDS: [NodeKind; 10] = [
    NodeKind { keys: &[("domain", reads!(UnionSet), true), CHILD] },
    NodeKind { keys: &[("context", reads!(Set), true), CHILD] },
    NodeKind { keys: &[("filter", reads!(UnionSet), true), CHILD] },
    NodeKind { keys: &[("guard", reads!(Set), true), CHILD] },
    NodeKind { keys: &[("extension", reads!(UnionMap), true), CHILD] },
    NodeKind {
        keys: &[
            ("mark", Part::Text(|context, name| Id::new(context, name).map(drop)), true),
            ("child", Part::Node, true),
        ],
    },
    NodeKind {
        keys: &[
            ("schedule", reads!(MultiUnionPwAff), true),
            ("permutable", Part::Flag, false),
            ("coincident", Part::Flags, false),
            ("options", reads!(UnionSet), false),
            CHILD,
        ],
    },
    NodeKind { keys: &[("contraction", reads!(UnionPwMultiAff), true), ("expansion", reads!(UnionMap), true), CHILD] },
    NodeKind { keys: &[("sequence", Part::Nodes, true)] },
    NodeKind { keys: &[("set", Part::Nodes, true)] },
];
