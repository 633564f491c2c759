//! Parsing: from PTX text to a [`Module`], or to the first place that is no PTX.
//!
//! In: text, also that of other compilers.  Out: a module, in which instructions that this crate does not know are
//! `Unsupported` and those of kernels alone are kept.  Needs: `grammar/ptx.pest`.
//! Not here: what an opcode means (`parse/opcode`), whether types fit (`verify`).

mod opcode;
mod operand;
mod scope;

use pest::Parser;
use pest::iterators::Pair;

use crate::ir::{Guard, Instruction, Kernel, Module, Op, Param, SourcePlace, Space, Statement, Target, Type};
use operand::{Raw, read_operand};
use scope::{Name, Scopes};

/// The parser that pest derives from the grammar, in a module of its own because the derive makes public items.
mod grammar {
    #[derive(pest_derive::Parser)]
    #[grammar = "../../../grammar/ptx.pest"]
    pub(crate) struct Grammar;
}
pub(crate) use grammar::{Grammar, Rule};

/// Longer texts are refused, so that no input can exhaust memory.
const MAX_BYTES: usize = 64 << 20;
/// Blocks inside blocks; the parser recurses.
const MAX_NESTING: usize = 32;
/// Registers of a kernel; hardware has 255 for each thread.
const MAX_REGISTERS: usize = 1 << 16;

/// Text that is no PTX.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}, column {column}: {message}")]
pub struct SyntaxError {
    /// From 1; 0 if the whole text is meant.
    pub line: u32,
    pub column: u32,
    pub message: String,
}

type Read<T> = Result<T, SyntaxError>;

/// Parses a whole file.
pub fn parse(text: &str) -> Read<Module> {
    let whole = |message: String| SyntaxError { line: 0, column: 0, message };
    if text.len() > MAX_BYTES {
        return Err(whole(format!("the text has {} bytes; at most {MAX_BYTES} are read", text.len())));
    }
    if nesting(text) > MAX_NESTING {
        return Err(whole(format!("blocks are nested more than {MAX_NESTING} deep")));
    }
    // Some compilers end their output with a zero byte.
    let text = text.trim_end_matches('\0');
    let pairs = Grammar::parse(Rule::module, text).map_err(|error| {
        let (line, column) = match error.line_col {
            pest::error::LineColLocation::Pos(at) | pest::error::LineColLocation::Span(at, _) => at,
        };
        SyntaxError { line: line as u32, column: column as u32, message: message_of(&error) }
    })?;
    let mut reader = ModuleReader::new(text);
    for pair in pairs.flat_map(Pair::into_inner) {
        reader.item(pair)?;
    }
    Ok(reader.module)
}

fn nesting(text: &str) -> usize {
    let (mut depth, mut deepest) = (0usize, 0);
    for byte in text.bytes() {
        match byte {
            b'{' => depth += 1,
            b'}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        deepest = deepest.max(depth);
    }
    deepest
}

fn message_of(error: &pest::error::Error<Rule>) -> String {
    let pest::error::ErrorVariant::ParsingError { positives, .. } = &error.variant else {
        return "this is no PTX".to_owned();
    };
    let mut expected: Vec<_> = positives
        .iter()
        .map(|rule| match rule {
            Rule::EOI => "the end of the text".to_owned(),
            Rule::digits | Rule::integer => "a number".to_owned(),
            Rule::dotted => "a type".to_owned(),
            Rule::not => "`!`".to_owned(),
            rule => format!("{rule:?}").replace('_', " "),
        })
        .collect();
    expected.sort();
    expected.dedup();
    match expected.as_slice() {
        [] => "this is no PTX".to_owned(),
        expected => format!("expected {}", expected.join(", ")),
    }
}

struct ModuleReader<'a> {
    /// Where each line starts.
    lines: Vec<usize>,
    text: &'a str,
    module: Module,
    /// Variables outside of kernels.
    scopes: Scopes,
}

impl<'a> ModuleReader<'a> {
    fn new(text: &'a str) -> ModuleReader<'a> {
        let starts = text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n').map(|(at, _)| at + 1);
        ModuleReader {
            lines: std::iter::once(0).chain(starts).collect(),
            text,
            module: Module { target: Target::default(), files: Vec::new(), kernels: Vec::new() },
            scopes: Scopes::default(),
        }
    }

    fn position(&self, at: usize) -> (u32, u32) {
        let line = self.lines.partition_point(|start| *start <= at);
        let start = self.lines.get(line.wrapping_sub(1)).copied().unwrap_or(0);
        let column = self.text.get(start..at).map_or(0, |before| before.chars().count());
        (line as u32, column as u32 + 1)
    }

    fn error<T>(&self, pair: &Pair<'_, Rule>, message: impl Into<String>) -> Read<T> {
        let (line, column) = self.position(pair.as_span().start());
        Err(SyntaxError { line, column, message: message.into() })
    }

    fn item(&mut self, pair: Pair<'_, Rule>) -> Read<()> {
        match pair.as_rule() {
            Rule::version => {
                let numbers = self.numbers(&pair)?;
                if let [major, minor] = numbers[..] {
                    self.module.target.version = (major, minor);
                }
            }
            Rule::target => {
                let sm = pair.clone().into_inner().find_map(|word| {
                    let number = word.as_str().strip_prefix("sm_")?;
                    number.trim_end_matches(|c: char| c.is_ascii_alphabetic()).parse().ok()
                });
                match sm {
                    Some(sm) => self.module.target.sm = sm,
                    None => return self.error(&pair, "no `sm_` architecture among the targets"),
                }
            }
            Rule::address_size if pair.clone().into_inner().all(|size| size.as_str() != "64") => {
                return self.error(&pair, "only 64-bit addresses are supported");
            }
            Rule::file => {
                let number = self.numbers(&pair)?.first().copied().unwrap_or(0);
                let name = pair.into_inner().find(|part| part.as_rule() == Rule::string);
                let name = name.map_or("", |name| name.as_str()).trim_matches('"').to_owned();
                self.module.files.push((number, name));
            }
            Rule::variable => self.variable(pair, None)?,
            Rule::entry => self.entry(pair)?,
            _ => {}
        }
        Ok(())
    }

    fn numbers(&self, pair: &Pair<'_, Rule>) -> Read<Vec<u32>> {
        let mut numbers = Vec::new();
        for part in pair.clone().into_inner().filter(|part| part.as_rule() == Rule::digits) {
            match part.as_str().parse() {
                Ok(number) => numbers.push(number),
                Err(_) => return self.error(&part, format!("`{}` is too large", part.as_str())),
            }
        }
        Ok(numbers)
    }

    fn ty(&self, pair: &Pair<'_, Rule>) -> Read<Type> {
        match Type::from_word(pair.as_str().trim_start_matches('.')) {
            Some(ty) => Ok(ty),
            None => self.error(pair, format!("the type `{}` is not supported", pair.as_str())),
        }
    }

    fn align(&self, pair: &Pair<'_, Rule>) -> Read<u32> {
        match self.numbers(pair)?.first() {
            Some(align) if align.is_power_of_two() && *align <= 1 << 16 => Ok(*align),
            _ => self.error(pair, "an alignment is a power of two, at most 65536"),
        }
    }

    fn entry(&mut self, pair: Pair<'_, Rule>) -> Read<()> {
        let mut kernel = Kernel::default();
        let mut body = None;
        for part in pair.into_inner() {
            match part.as_rule() {
                Rule::name => {
                    kernel.name = part.as_str().to_owned();
                    if self.module.kernels.iter().any(|known| known.name == kernel.name) {
                        return self.error(&part, format!("the kernel `{}` exists already", kernel.name));
                    }
                }
                Rule::params => {
                    for param in part.into_inner() {
                        let param = self.param(param)?;
                        kernel.params.push(param);
                    }
                }
                Rule::tuning if part.as_str().starts_with(".maxntid") || part.as_str().starts_with(".reqntid") => {
                    let numbers = self.numbers(&part)?;
                    let at = |axis: usize| numbers.get(axis).copied().unwrap_or(1);
                    kernel.max_threads = Some([at(0), at(1), at(2)]);
                }
                Rule::tuning if part.as_str().starts_with(".minnctapersm") => {
                    kernel.min_blocks = self.numbers(&part)?.first().copied();
                }
                Rule::body => body = Some(part),
                _ => {}
            }
        }
        let Some(body) = body else { return Ok(()) };
        let mut place = None;
        self.body(body, &mut kernel, &mut place)?;
        self.module.kernels.push(kernel);
        Ok(())
    }

    fn param(&self, pair: Pair<'_, Rule>) -> Read<Param> {
        let mut param = Param { name: String::new(), ty: Type::B8, count: 1, align: 0 };
        for part in pair.into_inner() {
            match part.as_rule() {
                Rule::align => param.align = self.align(&part)?,
                Rule::dotted => {
                    param.ty = self.ty(&part)?;
                    if param.ty == Type::Pred {
                        return self.error(&part, "a parameter cannot be a predicate");
                    }
                }
                Rule::name => param.name = part.as_str().to_owned(),
                Rule::extent => match self.numbers(&part)?.first() {
                    Some(count) if *count <= 1 << 16 => param.count = *count,
                    _ => return self.error(&part, "a parameter has at most 65536 elements"),
                },
                _ => {}
            }
        }
        if param.align == 0 {
            param.align = param.ty.bytes();
        }
        Ok(param)
    }

    /// A variable of a kernel, or of the module: then every kernel may use it.
    fn variable(&mut self, pair: Pair<'_, Rule>, kernel: Option<&mut Kernel>) -> Read<()> {
        let (mut align, mut element, mut name) = (1, 1u64, String::new());
        let mut space = "";
        let mut bytes = Some(1u64);
        for part in pair.clone().into_inner() {
            match part.as_rule() {
                Rule::space => space = part.as_str(),
                Rule::align => align = self.align(&part)?,
                Rule::dotted => {
                    element = u64::from(self.ty(&part)?.bytes());
                    align = align.max(element as u32);
                }
                Rule::name => name = part.as_str().to_owned(),
                Rule::extent => {
                    let count = self.numbers(&part)?.first().copied();
                    bytes = count.and_then(|count| bytes.and_then(|bytes| bytes.checked_mul(u64::from(count))));
                }
                _ => {}
            }
        }
        let bytes = bytes.and_then(|bytes| bytes.checked_mul(element));
        if bytes.is_some_and(|bytes| bytes > 1 << 30) {
            return self.error(&pair, format!("`{name}` is larger than any shared memory"));
        }
        let known = match space {
            ".shared" => Name::Memory { space: Space::Shared, align, bytes, id: None },
            ".local" => Name::Memory { space: Space::Local, align, bytes, id: None },
            space => Name::Other(space.trim_start_matches('.').to_owned()),
        };
        self.scopes.declare(&name, known);
        // A variable of the kernel itself exists whether it is used or not.
        if let Some(kernel) = kernel {
            self.scopes.variable(&name, kernel);
        }
        Ok(())
    }

    fn body(&mut self, pair: Pair<'_, Rule>, kernel: &mut Kernel, place: &mut Option<SourcePlace>) -> Read<()> {
        self.scopes.enter();
        for label in pair.clone().into_inner().filter(|part| part.as_rule() == Rule::label) {
            let name = label.clone().into_inner().next().map_or("", |name| name.as_str()).to_owned();
            if !self.scopes.declare_label(&name, kernel) {
                return self.error(&label, format!("the label `{name}` exists already"));
            }
        }
        for part in pair.into_inner() {
            match part.as_rule() {
                Rule::body => self.body(part, kernel, place)?,
                Rule::registers => self.registers(part, kernel)?,
                Rule::variable => self.variable(part, Some(kernel))?,
                Rule::loc => {
                    if let [file, line, column] = self.numbers(&part)?[..] {
                        *place = Some(SourcePlace { file, line, column });
                    }
                }
                Rule::label => {
                    let name = part.into_inner().next().map_or("", |name| name.as_str()).to_owned();
                    let label = self.scopes.label(&name);
                    kernel.body.extend(label.map(Statement::Label));
                }
                Rule::instruction => {
                    let instruction = self.instruction(part, kernel, *place)?;
                    kernel.body.push(Statement::Instruction(instruction));
                }
                _ => {}
            }
        }
        self.scopes.leave();
        Ok(())
    }

    fn registers(&mut self, pair: Pair<'_, Rule>, kernel: &mut Kernel) -> Read<()> {
        let mut ty = Type::B32;
        for part in pair.into_inner() {
            if part.as_rule() == Rule::dotted {
                ty = self.ty(&part)?;
                continue;
            }
            let count = self.numbers(&part)?.first().copied();
            let stem = part.clone().into_inner().next().map_or("", |name| name.as_str()).to_owned();
            if kernel.registers.len() + count.unwrap_or(1) as usize > MAX_REGISTERS {
                return self.error(&part, format!("more than {MAX_REGISTERS} registers"));
            }
            match count {
                None => self.scopes.declare_register(stem, ty, kernel),
                Some(count) => {
                    (0..count).for_each(|i| self.scopes.declare_register(format!("{stem}{i}"), ty, kernel));
                }
            }
        }
        Ok(())
    }

    fn instruction(
        &mut self,
        pair: Pair<'_, Rule>,
        kernel: &mut Kernel,
        source: Option<SourcePlace>,
    ) -> Read<Instruction> {
        let (line, column) = self.position(pair.as_span().start());
        let error = |message: String| SyntaxError { line, column, message };
        let text = pair.as_str().trim_end_matches(';').trim_end().to_owned();
        let mut guard = None;
        let mut words = "";
        let mut operands: Vec<Raw<'_>> = Vec::new();
        for part in pair.into_inner() {
            match part.as_rule() {
                Rule::guard => {
                    let negated = part.clone().into_inner().any(|part| part.as_rule() == Rule::not);
                    let name = part.into_inner().find(|part| part.as_rule() == Rule::name);
                    let predicate = self.scopes.register(name.map_or("", |name| name.as_str())).map_err(error)?;
                    guard = Some(Guard { predicate, negated });
                }
                Rule::opcode => words = part.as_str(),
                _ => operands.push(read_operand(part).map_err(error)?),
            }
        }
        let op = match opcode::read(words, &operands, &mut self.scopes, kernel) {
            Ok(op) => op,
            Err(opcode::Refusal::Unsupported) => Op::Unsupported { text },
            Err(opcode::Refusal::Wrong(message)) => return Err(error(message)),
        };
        Ok(Instruction { guard, op, line, source })
    }
}
