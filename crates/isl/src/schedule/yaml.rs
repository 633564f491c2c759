//! The YAML that schedule trees are saved in: block or flow style, quoted text, numbers.
//!
//! In: text.  Out: [`Yaml`], with no isl involved.
//! Not here: what the keys mean (`saved`). Anchors, escapes, multi-line text and the rest of YAML are refused.

/// A value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Yaml {
    Text(String),
    Int(i64),
    List(Vec<Yaml>),
    Map(Vec<(String, Yaml)>),
}

/// What is wrong, and on which line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Problem {
    pub(super) line: usize,
    pub(super) what: String,
}

type Result<T> = std::result::Result<T, Problem>;

/// The deepest nesting of lists and mappings.
const MAX_DEPTH: usize = 200;

/// Reads all of `text`.
pub(super) fn parse(text: &str) -> Result<Yaml> {
    let mut parser = Parser { tokens: tokenize(text)?, next: 0, depth: 0 };
    let value = parser.value(0)?;
    match parser.peek() {
        None => Ok(value),
        Some(token) => token.refuse("there is more after the end"),
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Kind {
    Text(String),
    Int(i64),
    Word(String),
    /// One of `: - , { } [ ]`.
    Mark(char),
}

#[derive(Clone, Debug)]
struct Token {
    kind: Kind,
    line: usize,
    column: usize,
}

impl Token {
    fn refuse<T>(&self, what: impl Into<String>) -> Result<T> {
        Err(Problem { line: self.line, what: what.into() })
    }

    fn is(&self, mark: char) -> bool {
        self.kind == Kind::Mark(mark)
    }
}

fn tokenize(text: &str) -> Result<Vec<Token>> {
    let mut tokens = Vec::new();
    for (line, content) in text.lines().enumerate() {
        let line = line + 1;
        let refuse = |what: &str| Err(Problem { line, what: what.to_owned() });
        let mut rest = content;
        while let Some(c) = rest.chars().next() {
            let column = content.len() - rest.len();
            let (kind, length) = match c {
                ' ' => {
                    rest = &rest[1..];
                    continue;
                }
                '#' => break,
                ':' | '-' | ',' | '{' | '}' | '[' | ']' => (Kind::Mark(c), 1),
                '"' => {
                    let Some(end) = rest[1..].find('"') else {
                        return refuse("a quoted text does not end on its line");
                    };
                    (Kind::Text(rest[1..=end].to_owned()), end + 2)
                }
                '0'..='9' => {
                    let length = run(rest, |c| c.is_ascii_digit());
                    let Ok(number) = rest[..length].parse() else {
                        return refuse("a number is too large");
                    };
                    (Kind::Int(number), length)
                }
                'a'..='z' => {
                    let length = run(rest, |c| c.is_ascii_lowercase() || c == '_');
                    (Kind::Word(rest[..length].to_owned()), length)
                }
                _ => return refuse(&format!("unexpected {c:?}")),
            };
            tokens.push(Token { kind, line, column });
            rest = &rest[length..];
        }
    }
    Ok(tokens)
}

fn run(text: &str, belongs: impl Fn(char) -> bool) -> usize {
    text.find(|c| !belongs(c)).unwrap_or(text.len())
}

struct Parser {
    tokens: Vec<Token>,
    next: usize,
    depth: usize,
}

impl Parser {
    fn peek(&self) -> Option<&Token> {
        self.tokens.get(self.next)
    }

    fn take(&mut self) -> Result<Token> {
        let Some(token) = self.tokens.get(self.next) else {
            let line = self.tokens.last().map_or(1, |token| token.line);
            return Err(Problem { line, what: "the text ends too early".to_owned() });
        };
        self.next += 1;
        Ok(token.clone())
    }

    fn expect(&mut self, mark: char) -> Result<Token> {
        let token = self.take()?;
        if token.is(mark) { Ok(token) } else { token.refuse(format!("expected `{mark}`")) }
    }

    /// A value that is not indented less than `indent`.
    fn value(&mut self, indent: usize) -> Result<Yaml> {
        let token = self.take()?;
        if token.column < indent {
            return token.refuse("not indented enough");
        }
        if self.depth == MAX_DEPTH {
            return token.refuse(format!("nested more than {MAX_DEPTH} deep"));
        }
        self.depth += 1;
        let value = match token.kind {
            Kind::Text(text) => Yaml::Text(text),
            Kind::Int(number) => Yaml::Int(number),
            Kind::Mark('{') => Yaml::Map(self.flow('}', Parser::entry)?),
            Kind::Mark('[') => Yaml::List(self.flow(']', |parser| parser.value(0))?),
            Kind::Mark('-') | Kind::Word(_) => {
                self.next -= 1;
                self.block(token.column)?
            }
            Kind::Mark(mark) => return token.refuse(format!("unexpected `{mark}`")),
        };
        self.depth -= 1;
        Ok(value)
    }

    /// What is between brackets, separated by commas.
    fn flow<T>(&mut self, end: char, item: impl Fn(&mut Parser) -> Result<T>) -> Result<Vec<T>> {
        let mut items = Vec::new();
        while self.peek().is_some_and(|token| !token.is(end)) {
            items.push(item(self)?);
            if !self.peek().is_some_and(|token| token.is(',')) {
                break;
            }
            self.next += 1;
        }
        self.expect(end)?;
        Ok(items)
    }

    fn entry(&mut self) -> Result<(String, Yaml)> {
        let key = self.key()?;
        Ok((key, self.value(0)?))
    }

    fn key(&mut self) -> Result<String> {
        let token = self.take()?;
        let Kind::Word(key) = token.kind else {
            return token.refuse("expected a key");
        };
        self.expect(':')?;
        Ok(key)
    }

    /// The list or mapping whose items all begin at `column`.
    fn block(&mut self, column: usize) -> Result<Yaml> {
        let is_list = self.peek().is_some_and(|token| token.is('-'));
        let (mut items, mut entries) = (Vec::new(), Vec::new());
        let mut last_line = 0;
        while let Some(token) = self.peek()
            && token.column == column
            && token.line > last_line
            && token.is('-') == is_list
        {
            last_line = token.line;
            if is_list {
                self.next += 1;
                items.push(self.value(column + 1)?);
            } else {
                let key = self.key()?;
                // A list may begin in the column of its key.
                let at_key = self.peek().is_some_and(|token| token.is('-'));
                entries.push((key, self.value(if at_key { column } else { column + 1 })?));
            }
        }
        Ok(if is_list { Yaml::List(items) } else { Yaml::Map(entries) })
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test that fails says so by panicking")]
mod tests {
    use super::{Yaml, parse};

    #[test]
    fn block_and_flow_style_mean_the_same() {
        let block = "a: \"x: {\"  # a comment\nb:\n- c: 1\n  d: [ 1, 0 ]\n- e:\n    f: 2\n";
        let flow = "{ a: \"x: {\", b: [ { c: 1, d: [ 1, 0 ] }, { e: { f: 2 } } ] }";
        let value = parse(block).unwrap();
        assert_eq!(value, parse(flow).unwrap());
        assert!(matches!(value, Yaml::Map(entries) if entries.len() == 2));
    }

    #[test]
    fn problems_name_their_line() {
        for (text, line, what) in [
            ("", 1, "too early"),
            ("a: 1\nb: [ 1, 2", 2, "too early"),
            ("a: 1\n  b: 2", 2, "after the end"),
            ("a:\nb: 2", 2, "indented"),
            ("a: \"x", 1, "does not end"),
            ("a: 1 }", 1, "after the end"),
            ("a: 99999999999999999999", 1, "too large"),
            ("\ta: 1", 1, "unexpected"),
        ] {
            let problem = parse(text).unwrap_err();
            assert!(problem.line == line && problem.what.contains(what), "{text:?}: {problem:?}");
        }
        assert!(parse(&"[".repeat(100_000)).unwrap_err().what.contains("deep"));
        assert!(parse(&"- ".repeat(100_000)).unwrap_err().what.contains("deep"));
    }
}
