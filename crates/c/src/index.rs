//! Index arithmetic and conditions as C, with as few parentheses as read well.

use loops::{ArrayId, Cond, Index};

use crate::emit::Writer;

/// An expression with how tightly it holds together.
#[derive(Clone, Debug)]
pub(crate) struct Term {
    pub(crate) text: String,
    pub(crate) level: Level,
}

/// From loose to tight, as C binds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Level {
    Choice,
    Or,
    And,
    Bits,
    Compare,
    Sum,
    Product,
    Prefix,
    Atom,
}

impl Term {
    pub(crate) fn new(text: impl Into<String>, level: Level) -> Term {
        Term { text: text.into(), level }
    }

    pub(crate) fn atom(text: impl Into<String>) -> Term {
        Term::new(text, Level::Atom)
    }

    /// The text, in parentheses unless it is at least as tight as `level`.
    pub(crate) fn at(self, level: Level) -> String {
        if self.level >= level { self.text } else { format!("({})", self.text) }
    }
}

/// A number of type `int64_t` as C writes it.
pub(crate) fn number(value: i64) -> Term {
    match value {
        i64::MIN => Term::atom("INT64_MIN"),
        value if i32::try_from(value).is_ok() && value >= 0 => Term::atom(value.to_string()),
        value if i32::try_from(value).is_ok() && value != i64::from(i32::MIN) => {
            Term::new(value.to_string(), Level::Prefix)
        }
        value if value >= 0 => Term::atom(format!("INT64_C({value})")),
        value => Term::new(format!("-INT64_C({})", value.unsigned_abs()), Level::Prefix),
    }
}

impl Writer<'_> {
    pub(crate) fn index(&mut self, index: &Index) -> Term {
        match index {
            Index::Const(value) => number(*value),
            Index::Param(id) => Term::atom(&self.names.params[id.index()]),
            Index::Var(id) => Term::atom(&self.names.vars[id.index()]),
            Index::Add(a, b) => match &**b {
                Index::Const(value) if *value < 0 && *value != i64::MIN => {
                    let b = number(-value);
                    self.sum(a, "-", b)
                }
                b => {
                    let b = self.index(b);
                    self.sum(a, "+", b)
                }
            },
            Index::Sub(a, b) => {
                let b = self.index(b);
                self.sum(a, "-", b)
            }
            Index::Mul(a, factor) => {
                let (a, factor) = (self.index(a).at(Level::Prefix), number(*factor).at(Level::Prefix));
                Term::new(format!("{factor} * {a}"), Level::Product)
            }
            Index::FloorDiv(a, divisor) => self.divided("floor_div", a, *divisor),
            Index::Mod(a, divisor) => self.divided("floor_mod", a, *divisor),
            Index::Xor(a, b) => {
                let (a, b) = (self.index(a).at(Level::Atom), self.index(b).at(Level::Atom));
                Term::atom(format!("({a} ^ {b})"))
            }
            Index::Min(a, b) => self.extreme("min", a, b),
            Index::Max(a, b) => self.extreme("max", a, b),
            Index::Select(cond, a, b) => {
                let (cond, a, b) = (self.cond(cond), self.index(a), self.index(b));
                choice(cond, a, b)
            }
        }
    }

    fn sum(&mut self, a: &Index, op: &str, b: Term) -> Term {
        let a = self.index(a).at(Level::Sum);
        Term::new(format!("{a} {op} {}", b.at(Level::Product)), Level::Sum)
    }

    fn divided(&mut self, name: &str, a: &Index, divisor: i64) -> Term {
        self.helper("floor_div", || {
            "/* Rounds towards minus infinity; the divisor is positive. */\n\
             static inline int64_t floor_div(int64_t a, int64_t b)\n{\n    return a >= 0 ? a / b : -((-(a + 1)) / b) - 1;\n}\n"
                .to_owned()
        });
        if name == "floor_mod" {
            self.helper(name, || {
                "static inline int64_t floor_mod(int64_t a, int64_t b)\n{\n    return a - floor_div(a, b) * b;\n}\n"
                    .to_owned()
            });
        }
        Term::atom(format!("{name}({}, {})", self.index(a).text, number(divisor).text))
    }

    fn extreme(&mut self, name: &str, a: &Index, b: &Index) -> Term {
        let helper = self.extreme_of_integers(name, program::ScalarType::I64);
        let (a, b) = (self.index(a), self.index(b));
        Term::atom(format!("{helper}({}, {})", a.text, b.text))
    }

    pub(crate) fn cond(&mut self, cond: &Cond) -> Term {
        match cond {
            Cond::Compare(op, a, b) => {
                let (a, b) = (self.index(a).at(Level::Sum), self.index(b).at(Level::Sum));
                Term::new(format!("{a} {} {b}", op.name()), Level::Compare)
            }
            Cond::Not(cond) => Term::new(format!("!{}", self.cond(cond).at(Level::Atom)), Level::Prefix),
            Cond::And(conds) => self.all(conds, "&&", "true", Level::And),
            Cond::Or(conds) => self.all(conds, "||", "false", Level::Or),
        }
    }

    fn all(&mut self, conds: &[Cond], op: &str, empty: &str, level: Level) -> Term {
        match conds {
            [] => Term::atom(empty),
            [only] => self.cond(only),
            conds => {
                let parts: Vec<String> = conds.iter().map(|cond| self.cond(cond).at(Level::Compare)).collect();
                Term::new(parts.join(&format!(" {op} ")), level)
            }
        }
    }

    /// A cell of an array, row-major.
    pub(crate) fn cell(&mut self, array: ArrayId, subscripts: Vec<Term>) -> Term {
        let shape = self.kernel.arrays[array.index()].shape.clone();
        let mut position: Option<Term> = None;
        for (subscript, extent) in subscripts.into_iter().zip(&shape) {
            position = Some(match position {
                None => subscript,
                // The row is 0.
                Some(Term { text, .. }) if text == "0" => subscript,
                Some(row) => {
                    let product = format!("{} * {}", row.at(Level::Product), self.index(extent).at(Level::Prefix));
                    match subscript.text.as_str() {
                        "0" => Term::new(product, Level::Product),
                        _ => Term::new(format!("{product} + {}", subscript.at(Level::Product)), Level::Sum),
                    }
                }
            });
        }
        let name = &self.names.arrays[array.index()];
        Term::atom(format!("{name}[{}]", position.map_or("0".to_owned(), |position| position.text)))
    }

    /// The number of elements of an array.
    pub(crate) fn elements(&mut self, array: ArrayId) -> String {
        let shape = self.kernel.arrays[array.index()].shape.clone();
        let extents: Vec<String> = shape.iter().map(|extent| self.index(extent).at(Level::Prefix)).collect();
        if extents.is_empty() { "1".to_owned() } else { extents.join(" * ") }
    }
}

/// `cond ? a : b`
pub(crate) fn choice(cond: Term, a: Term, b: Term) -> Term {
    let text = format!("{} ? {} : {}", cond.at(Level::Compare), a.at(Level::Sum), b.at(Level::Sum));
    Term::new(text, Level::Choice)
}
