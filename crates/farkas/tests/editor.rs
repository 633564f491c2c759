//! The highlighting rules for editors, `grammar/farkas.tmLanguage.json`, are made of the words of the grammars, the
//! types and functions of the language, and the verbs of schedules. `FARKAS_BLESS=1` writes the file.
#![expect(clippy::panic, clippy::expect_used, reason = "a test fails by panicking")]

use std::collections::BTreeMap;
use std::path::Path;

use program::{BinaryOp, ScalarType, UnaryOp};
use serde_json::{Value, json};

/// What a word is for an editor, by the grammar's rule that it stands in.
const SCOPES: [(&str, &str); 32] = [
    ("kw_const", "storage.type"),
    ("kw_fn", "storage.type"),
    ("kw_let", "storage.type"),
    ("kw_use", "keyword.control"),
    ("kw_unique", "keyword.control"),
    ("kw_schedule", "storage.type"),
    ("kw_inout", "storage.modifier"),
    ("kw_where", "keyword.control"),
    ("kw_for", "keyword.control"),
    ("kw_in", "keyword.control"),
    ("kw_by", "keyword.control"),
    ("kw_rev", "keyword.control"),
    ("kw_while", "keyword.control"),
    ("kw_if", "keyword.control"),
    ("kw_then", "keyword.control"),
    ("kw_else", "keyword.control"),
    ("kw_and", "keyword.operator.logical"),
    ("kw_or", "keyword.operator.logical"),
    ("kw_not", "keyword.operator.logical"),
    ("kw_scan", "keyword.control"),
    ("boolean", "constant.language"),
    ("reduce_op", "support.function.reduction"),
    ("kw_as", "keyword.clause"),
    ("kw_at", "keyword.clause"),
    ("kw_fill", "keyword.clause"),
    ("layout_word", "keyword.clause"),
    ("kw_rank", RANK),
    ("kw_reduce", RANK),
    ("kw_oblique", RANK),
    ("shaping_word", RANK),
    // All keywords, of which those without a rule of their own are missing above, and some of the reductions again.
    ("keyword", ""),
    ("reduce_only", ""),
];
/// Words of other languages.
const NOT_OURS: [&str; 1] = ["foreign_word"];

/// Words of verbs on whole arrays; names unless a parameter follows.
const RANK: &str = "keyword.operator.rank";

/// Words that are names outside of schedules.
const CLAUSE: &str = "keyword.clause";

fn grammar(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../grammar").join(name);
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The rules that are made of words, with the words.
fn word_rules(grammar: &str) -> Vec<(String, Vec<String>)> {
    let code: String = grammar.lines().map(|line| format!("{}\n", line.split("//").next().unwrap_or(""))).collect();
    let mut rules = Vec::new();
    for rule in code.split_inclusive("}\n") {
        let Some((name, body)) = rule.split_once('=') else { continue };
        let words: Vec<String> = body.split('"').skip(1).step_by(2).map(str::to_string).collect();
        let are_words = words.iter().all(|word| word.chars().all(|c| c.is_ascii_lowercase()));
        if body.contains("!word_char") && !words.is_empty() && are_words {
            rules.push((name.trim().to_string(), words));
        }
    }
    rules
}

fn words_by_scope() -> BTreeMap<&'static str, Vec<String>> {
    let mut scopes: BTreeMap<&'static str, Vec<String>> = BTreeMap::new();
    let mut keywords = Vec::new();
    for (rule, words) in
        ["farkas.pest", "ranks.pest", "schedule.pest"].iter().flat_map(|name| word_rules(&grammar(name)))
    {
        if NOT_OURS.contains(&rule.as_str()) {
            continue;
        }
        let known = SCOPES.iter().find(|(name, _)| *name == rule);
        let (_, scope) = known.unwrap_or_else(|| panic!("say in SCOPES what the words of `{rule}` are: {words:?}"));
        if rule == "keyword" {
            keywords = words;
        } else if !scope.is_empty() {
            let list = scopes.entry(scope).or_default();
            list.extend(words.into_iter().filter(|word| !list.contains(word)).collect::<Vec<_>>());
        }
    }
    for keyword in keywords {
        if !scopes.values().any(|words| words.contains(&keyword)) {
            scopes.entry("keyword.control").or_default().push(keyword);
        }
    }
    scopes
}

fn any_of(words: &[String]) -> String {
    format!("\\b(?:{})\\b", words.join("|"))
}

fn rule(scope: &str, pattern: &str) -> Value {
    json!({ "name": format!("{scope}.farkas"), "match": pattern })
}

fn highlighting() -> Value {
    let scopes = words_by_scope();
    let of = |scope: &str| scopes.get(scope).unwrap_or_else(|| panic!("no words are {scope}"));
    let types: Vec<String> = ScalarType::ALL.iter().map(|ty| ty.name().to_string()).collect();
    let mut functions: Vec<String> = UnaryOp::FUNCTIONS.iter().map(|op| op.name().to_string()).collect();
    functions.extend(BinaryOp::FUNCTIONS.iter().map(|op| op.name().to_string()));
    functions.extend(["is_nan", "is_inf"].map(String::from));
    let verbs: Vec<String> = steps::verbs().map(|(verb, _)| verb.to_string()).collect();

    let mut common = vec![
        rule("comment.line.number-sign", "#.*$"),
        rule(
            "constant.numeric.float",
            "\\b[0-9][0-9_]*(?:\\.[0-9][0-9_]*(?:[eE][+-]?[0-9][0-9_]*)?|[eE][+-]?[0-9][0-9_]*)\\b",
        ),
        rule("constant.numeric.integer", "\\b(?:0x[0-9a-fA-F_]+|0b[01_]+|[0-9][0-9_]*)\\b"),
        rule("support.function.reduction", &format!("{}(?=\\s*\\[)", any_of(of("support.function.reduction")))),
        rule("support.function", &format!("{}(?=\\s*\\()", any_of(&functions))),
        rule("support.type", &any_of(&types)),
    ];
    common.push(rule(RANK, &format!("{}(?=\\s+[-+*\\w])", any_of(of(RANK)))));
    let reserved = scopes.iter().filter(|(scope, _)| ![CLAUSE, RANK, "support.function.reduction"].contains(*scope));
    common.extend(reserved.map(|(scope, words)| rule(scope, &any_of(words))));
    common.push(rule("keyword.operator", "->|\\.\\.|[+\\-*/%]?=|==|!=|<=|>=|<<|>>|[<>+\\-*/%|&^~]"));
    json!({
        "name": "Farkas",
        "scopeName": "source.farkas",
        "fileTypes": ["fks", "sched"],
        "patterns": [
            {
                "begin": "^\\s*(schedule)\\s+([A-Za-z_]\\w*)\\s*(where\\b[^{]*)?(\\{)",
                "beginCaptures": {
                    "1": { "name": "storage.type.farkas" },
                    "2": { "name": "entity.name.function.farkas" },
                    "3": { "patterns": [{ "include": "#common" }] },
                },
                "end": "\\}",
                "patterns": [{ "include": "#map" }, { "include": "#step" }],
            },
            {
                "match": "\\b(fn)\\s+([A-Za-z_]\\w*)",
                "captures": {
                    "1": { "name": "storage.type.farkas" },
                    "2": { "name": "entity.name.function.farkas" },
                },
            },
            {
                "match": "^\\s*([A-Za-z_]\\w*)\\s*:(?=\\s*[A-Za-z_])(?![^\\n]*[,)]\\s*$)",
                "captures": { "1": { "name": "entity.name.label.farkas" } },
            },
            { "include": "#common" },
        ],
        "repository": {
            "common": { "patterns": common },
            "map": { "begin": "\\{", "end": "\\}", "patterns": [{ "include": "#common" }] },
            "step": {
                "patterns": [
                    rule("support.function.verb", &format!("(?:^|(?<=[;{{]))\\s*{}", any_of(&verbs))),
                    rule(CLAUSE, &any_of(of(CLAUSE))),
                    { "include": "#common" },
                ],
            },
        },
    })
}

#[test]
fn the_editor_knows_the_words_of_the_grammar() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../grammar/farkas.tmLanguage.json");
    let wanted = serde_json::to_string_pretty(&highlighting()).expect("values have a text") + "\n";
    if std::env::var_os("FARKAS_BLESS").is_some() {
        std::fs::write(&path, &wanted).expect("the file can be written");
    }
    let found = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(found == wanted, "grammar/farkas.tmLanguage.json is out of step; write it with FARKAS_BLESS=1");
    for word in ["fn", "where", "prod", "f32", "sqrt", "interchange", "as", "true"] {
        assert!(wanted.contains(word), "{word}");
    }
}
