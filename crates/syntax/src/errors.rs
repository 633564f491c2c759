//! Syntax errors in the user's terms: what was found, what could stand there, and where.
//!
//! In: pest's error, which names grammar rules.  Out: one diagnostic.
//! Not here: common mistakes with their cure (`mistakes`), which are tried first.

use diag::{Diagnostic, Span};
use pest::error::{Error, ErrorVariant, InputLocation};

use crate::limits::too_deep;
use crate::mistakes;
use crate::parse::Rule;
use crate::tokens::{Brackets, Kind, Token, closer_of, next_token, tokens};

/// How many tokens before an error are kept, to recognise what was meant.
const LOOK_BACK: usize = 40;

/// What is known about the place of an error.
pub(crate) struct Site<'a> {
    pub(crate) text: &'a str,
    /// The token that could not be taken in; none at the end of the file.
    pub(crate) found: Option<Token<'a>>,
    /// The tokens in front of it, nearest first.
    pub(crate) before: Vec<Token<'a>>,
    pub(crate) brackets: Brackets<'a>,
    /// The grammar rules that could have begun here.
    pub(crate) expected: Vec<Rule>,
}

/// Where pest stopped, as an offset into the text it was given.
pub(crate) fn offset(error: &Error<Rule>) -> usize {
    match error.location {
        InputLocation::Pos(at) | InputLocation::Span((at, _)) => at,
    }
}

/// The diagnostic for an error at `failed_at` in the function that begins at `function_start`.
pub(crate) fn syntax_error(text: &str, function_start: usize, failed_at: usize, error: &Error<Rule>) -> Diagnostic {
    match Site::new(text, function_start, Brackets::default(), failed_at, error) {
        Ok(site) => mistakes::recognise(&site).unwrap_or_else(|| site.unexpected()),
        Err(limit) => limit,
    }
}

impl<'a> Site<'a> {
    /// The site of an error at `failed_at`, seen from `start`, where `brackets` are open. When pest gave up without
    /// looking at the text, there is only the limit that it ran into.
    pub(crate) fn new(
        text: &'a str,
        start: usize,
        mut brackets: Brackets<'a>,
        failed_at: usize,
        error: &Error<Rule>,
    ) -> Result<Self, Diagnostic> {
        let expected = match &error.variant {
            ErrorVariant::ParsingError { positives, .. } => positives.clone(),
            ErrorVariant::CustomError { .. } => {
                return Err(too_deep(Span::new(failed_at, failed_at), "the program is"));
            }
        };
        let mut found = next_token(text, failed_at);
        let mut before: Vec<Token<'a>> = Vec::new();
        for token in tokens(text, start).filter(|token| token.kind != Kind::Comment) {
            if token.start >= failed_at {
                break;
            }
            if token.end() > failed_at {
                // Pest stopped inside what reads as one symbol, such as `**`.
                found = Some(token);
                break;
            }
            brackets.see(token);
            before.insert(0, token);
            before.truncate(LOOK_BACK);
        }
        Ok(Site { text, found, before, brackets, expected })
    }

    pub(crate) fn expects(&self, rule: Rule) -> bool {
        self.expected.contains(&rule)
    }

    /// Whether any expression could begin here.
    pub(crate) fn expects_expression(&self) -> bool {
        self.expected.iter().any(|rule| phrase(*rule) == "an expression")
    }

    pub(crate) fn expects_function(&self) -> bool {
        self.expected.iter().any(|rule| phrase(*rule) == "a function")
    }

    pub(crate) fn expects_statement(&self) -> bool {
        self.expected.iter().any(|rule| phrase(*rule) == "a statement")
    }

    pub(crate) fn found_text(&self) -> &'a str {
        self.found.map_or("", |token| token.text)
    }

    /// The text of the `n`th token in front, counted from 0; empty when there is none.
    pub(crate) fn before_text(&self, n: usize) -> &'a str {
        self.before.get(n).map_or("", |token| token.text)
    }

    /// The place of the found token, or of the end of the text.
    pub(crate) fn span(&self) -> Span {
        match self.found {
            Some(token) => Span::new(token.start, token.end()),
            None => {
                let end = self.text.trim_end().len();
                Span::new(end, end)
            }
        }
    }

    pub(crate) fn error(&self, message: impl Into<String>) -> Diagnostic {
        Diagnostic::error("E0001", self.span(), message)
    }

    /// The message for what is not a known mistake.
    pub(crate) fn unexpected(&self) -> Diagnostic {
        let found = match self.found {
            None => "unexpected end of the file".to_owned(),
            Some(token) if token.is_keyword() => format!("unexpected keyword `{}`", token.text),
            Some(token) => format!("unexpected `{}`", token.text),
        };
        let diagnostic = self.error(found).here(self.expectation());
        match self.brackets.open.last() {
            Some(opener) if self.expects(closing_rule(opener.text)) && opener.text != "{" => {
                diagnostic.label(Span::new(opener.start, opener.end()), format!("this `{}` is still open", opener.text))
            }
            _ => diagnostic,
        }
    }

    /// `expected …`, as a list of phrases without repetition.
    pub(crate) fn expectation(&self) -> String {
        let mut phrases: Vec<&str> = Vec::new();
        let clauses: &[Rule] = if self.expects(Rule::kw_at) { &CLAUSES } else { &[] };
        for &rule in ORDER.iter().chain(clauses).chain(&self.expected) {
            let phrase = if self.ends_step(rule) { END_OF_STEP } else { phrase(rule) };
            if self.expects(rule) && !phrases.contains(&phrase) && !self.is_noise(rule) {
                phrases.push(phrase);
            }
        }
        phrases.sort_by_key(|&phrase| phrase == END_OF_STEP);
        match phrases.split_last() {
            None => "not expected here".to_owned(),
            Some((last, [])) => format!("expected {last}"),
            Some((last, rest)) => format!("expected {} or {last}", rest.join(", ")),
        }
    }

    /// Whether a step of a script is complete here, so that the start of another means only that this one may end.
    fn ends_step(&self, rule: Rule) -> bool {
        self.expects(Rule::kw_at) && matches!(rule, Rule::verb | Rule::script_step | Rule::rbrace)
    }

    /// What could stand here but would not help the reader: an index after every name, a label before `=`.
    fn is_noise(&self, rule: Rule) -> bool {
        match rule {
            Rule::semicolon | Rule::call | Rule::subscripts | Rule::shape => true,
            Rule::target_indices | Rule::lbracket => self.expected.len() > 1,
            Rule::colon => self.expects(Rule::assign_op),
            Rule::lparen if self.before_text(0) == "let" || self.expects(Rule::assign_op) => true,
            Rule::lparen | Rule::ident | Rule::reduce_op => self.expects(Rule::additive) || self.expects_expression(),
            Rule::lbrace
            | Rule::storage_clause
            | Rule::double_arrow
            | Rule::notation_clause
            | Rule::equals
            | Rule::axis_clause
            | Rule::fill_clause
            | Rule::kw_fill
            | Rule::arrow => self.expects(Rule::kw_at),
            Rule::EOI => true,
            _ => false,
        }
    }
}

/// What can follow the targets of a step, in the order in which it is usually written.
const CLAUSES: [Rule; 4] = [Rule::kw_by, Rule::kw_as, Rule::kw_at, Rule::kw_where];

const END_OF_STEP: &str = "the end of the step";

/// What is listed first; the rest follows in the order in which it was tried.
const ORDER: [Rule; 10] = [
    Rule::expr,
    Rule::int,
    Rule::ident,
    Rule::name,
    Rule::verb,
    Rule::additive,
    Rule::compare,
    Rule::multiplicative,
    Rule::comma,
    Rule::assign_op,
];

fn closing_rule(opener: &str) -> Rule {
    match closer_of(opener) {
        ")" => Rule::rparen,
        "]" => Rule::rbracket,
        _ => Rule::rbrace,
    }
}

/// A grammar rule in the words of a user.
fn phrase(rule: Rule) -> &'static str {
    match rule {
        Rule::file | Rule::function | Rule::kw_fn => "a function",
        Rule::constant | Rule::kw_const => "a constant",
        Rule::used | Rule::kw_use => "`use`",
        Rule::path => "the path of a file in quotes",
        Rule::table | Rule::let_names => "a list",
        Rule::expr
        | Rule::bounded
        | Rule::range
        | Rule::float
        | Rule::int
        | Rule::boolean
        | Rule::conditional
        | Rule::paren
        | Rule::access
        | Rule::negate
        | Rule::flip
        | Rule::kw_not
        | Rule::kw_if
        | Rule::kw_scan
        | Rule::reduction
        | Rule::monad
        | Rule::kw_reduce
        | Rule::kw_oblique
        | Rule::shaping_word
        | Rule::target_index => "an expression",
        Rule::compare
        | Rule::bit_or
        | Rule::bit_xor
        | Rule::bit_and
        | Rule::shift
        | Rule::additive
        | Rule::multiplicative
        | Rule::kw_and
        | Rule::kw_or
        | Rule::dyad_or
        | Rule::dyad_and
        | Rule::dyad_compare
        | Rule::dyad_additive
        | Rule::dyad_multiplicative => "an operator",
        Rule::verb_body | Rule::reduce_verb | Rule::oblique_verb | Rule::named_verb => "a verb",
        Rule::fold_op => "one of `+ * min max and or`",
        Rule::ranks | Rule::kw_rank => "`rank`",
        Rule::verb_param => "a parameter",
        Rule::stmt
        | Rule::layout_line
        | Rule::layout_word
        | Rule::for_loop
        | Rule::if_stmt
        | Rule::if_arm
        | Rule::definition
        | Rule::call_stmt
        | Rule::assignment
        | Rule::label => "a statement",
        Rule::kw_let => "`let`",
        Rule::kw_for => "`for`",
        Rule::kw_unique
        | Rule::param
        | Rule::target
        | Rule::ident
        | Rule::bare_name
        | Rule::result
        | Rule::reduce_index
        | Rule::reduce_op => "a name",
        Rule::argument => "an argument",
        Rule::ty => "a type",
        Rule::assign_op => "`=` or another assignment",
        Rule::params | Rule::less => "`<`",
        Rule::greater => "`>`",
        Rule::arguments | Rule::call | Rule::lparen => "`(`",
        Rule::rparen => "`)`",
        Rule::shape | Rule::target_indices | Rule::subscripts | Rule::lbracket => "`[`",
        Rule::rbracket => "`]`",
        Rule::body | Rule::function_body | Rule::lbrace => "`{`",
        Rule::rbrace => "`}`",
        Rule::results | Rule::arrow => "`->`",
        Rule::context | Rule::kw_where => "`where`",
        Rule::guard | Rule::bar => "`|`",
        Rule::step | Rule::kw_by => "`by`",
        Rule::until | Rule::kw_while => "`while`",
        Rule::comma => "`,`",
        Rule::semicolon => "`;`",
        Rule::colon => "`:`",
        Rule::equals => "`=`",
        Rule::dotdot => "`..`",

        Rule::kw_inout => "`inout`",
        Rule::kw_in => "`in`",
        Rule::kw_rev => "`rev`",
        Rule::kw_then => "`then`",
        Rule::kw_else | Rule::else_arm => "`else`",
        Rule::script | Rule::script_rest | Rule::schedule | Rule::kw_schedule => "a schedule",
        Rule::steps | Rule::script_step | Rule::verb => "a step",
        Rule::script_targets | Rule::script_target | Rule::name => "a name",
        Rule::by_clause => "`by`",
        Rule::as_clause | Rule::kw_as => "`as`",
        Rule::at_clause | Rule::kw_at => "`at`",
        Rule::where_clause | Rule::version_sizes => "`where`",
        Rule::signed => "an integer",
        Rule::name_list => "`(`",
        Rule::map_clause => "`{`",
        Rule::storage_clause | Rule::double_arrow => "`=>`",
        Rule::axis_clause => "`->`",
        Rule::fill_clause | Rule::kw_fill => "`fill`",
        Rule::fill_value => "a number",
        Rule::axis => "an axis, such as `block.x`",
        Rule::notation_clause => "`=`",
        Rule::notation | Rule::notation_call | Rule::notation_tuple => "a layout",
        Rule::parens => "`(`",
        Rule::map_entry => "a map",
        Rule::loop_names | Rule::map_inputs | Rule::map_outputs => "`[`",
        Rule::EOI => "the end of the file",
        // Parts of tokens, which pest never reports on their own.
        Rule::reduce_only
        | Rule::foreign_word
        | Rule::prefix
        | Rule::infix
        | Rule::bounded_infix
        | Rule::operand
        | Rule::dyad
        | Rule::verb_atom
        | Rule::any_word
        | Rule::fold_start
        | Rule::fold_ahead
        | Rule::shaping_start
        | Rule::shaping_ahead
        | Rule::ranked_start
        | Rule::head_ahead
        | Rule::whole_ahead
        | Rule::operator_ahead
        | Rule::piece_ahead
        | Rule::name_ahead
        | Rule::layout_ahead
        | Rule::word_char
        | Rule::keyword
        | Rule::digits
        | Rule::exponent
        | Rule::clause
        | Rule::blank
        | Rule::gap
        | Rule::WHITESPACE
        | Rule::COMMENT => "something else",
    }
}
