//! From the words of a script to steps: which operands each verb takes is known here.

use diag::{Diagnostic, Span};
use layout::iter::{Operation, SplitKind, SwizzleKind};
use poly::Axis;
use program::{Cond, Function};
use syntax::ast::{Expr, ExprKind, Ident};
use syntax::script;

use crate::step::{Condition, Formula, Loops, Place, Relation, Step, Storage, Target, Verb, Word};
use crate::verbs::{Clause, VERBS, verbs};
use crate::xor;

/// What is wrong with a step as it is written.
pub type Unread = Vec<Diagnostic>;

type Read<T> = Result<T, Box<Diagnostic>>;

/// Reads one step of a script for a function.
pub fn read(step: &script::Step, function: &Function) -> Result<Step, Unread> {
    let reader = Reader { step };
    reader.clauses().map_err(|diagnostic| vec![*diagnostic])?;
    let verb = match step.verb.name.as_str() {
        "split" if step.by.is_empty() => reader.split(function)?,
        "loops" => reader.counting(function)?,
        "detach" => reader.detach(function)?,
        "map" => reader.map(function)?,
        "layout" => reader.layout(function)?,
        _ => reader.verb().map_err(|diagnostic| vec![*diagnostic])?,
    };
    Ok(Step { verb, span: step.span })
}

/// Reads a line of a function that says where an array is kept: `layout` as in a script, or `stored` for what callers hand over.
pub fn read_layout(line: &script::Step, function: &Function) -> Result<Step, Unread> {
    let stored = line.verb.name == "stored";
    let mut line = line.clone();
    line.verb.name = "layout".into();
    if let Some(name) = line.names.first().filter(|_| stored) {
        let message = "what callers hand over keeps its name; `as` names the copy of an argument";
        return Err(vec![Diagnostic::error("E0512", name.span, message)]);
    }
    let mut step = read(&line, function)?;
    if let Verb::Layout { given, .. } = &mut step.verb {
        *given = stored;
    }
    Ok(step)
}

/// Reads for which sizes a schedule of a function is: those for which all of these conditions hold.
pub fn read_sizes(sizes: &[Expr], function: &Function) -> Result<Cond, Unread> {
    let names: Vec<Ident> = sizes.iter().flat_map(|cond| free_names(cond, function)).collect();
    if names.is_empty() {
        let conds = sizes.iter().map(|cond| program::lower_condition(function, &[], cond));
        return Ok(flat(Cond::And(conds.collect::<Result<_, _>>()?)));
    }
    let known: Vec<&str> = function.params.iter().map(|param| param.name.as_str()).collect();
    let known = if known.is_empty() { "it has none".to_owned() } else { format!("its sizes are {}", known.join(", ")) };
    let why = "a schedule is chosen once for each call, so it can ask for nothing but sizes";
    let stranger = |name: Ident| {
        let message = format!("`{}` is no size of `{}`", name.name, function.name);
        Diagnostic::error("E0511", name.span, message).note(known.clone()).note(why)
    };
    Err(names.into_iter().map(stranger).collect())
}

/// `(a and b) and c` as `a and b and c`: however it is written, the same condition is the same.
fn flat(cond: Cond) -> Cond {
    match cond {
        Cond::And(conds) => conds.into_iter().map(flat).fold(Cond::TRUE, Cond::and),
        cond => cond,
    }
}

fn word(ident: &Ident) -> Word {
    Word { text: ident.name.clone(), span: ident.span }
}

struct Reader<'a> {
    step: &'a script::Step,
}

impl Reader<'_> {
    fn name(&self) -> &str {
        &self.step.verb.name
    }

    /// Operands that do not fit the verb.
    fn misuse<T>(&self, span: Span, what: impl Into<String>) -> Read<T> {
        let mut diagnostic = Diagnostic::error("E0512", span, what);
        if let Some((_, help)) = verbs().find(|(name, _)| *name == self.name()) {
            diagnostic = diagnostic.help(format!("the form is `{help}`"));
        }
        Err(Box::new(diagnostic))
    }

    /// The verb must exist and take the clauses that are given.
    fn clauses(&self) -> Read<()> {
        let step = self.step;
        let Some((_, _, clauses)) = VERBS.iter().find(|(name, ..)| *name == self.name()) else {
            return Err(self.unknown());
        };
        let given = [
            (Clause::By, !step.by.is_empty()),
            (Clause::As, !step.names.is_empty()),
            (Clause::At, step.at.is_some()),
            (Clause::Where, step.condition.is_some()),
            (Clause::Maps, !step.maps.is_empty()),
            (Clause::Layout, step.storage.is_some()),
            (Clause::Axis, step.axis.is_some()),
            (Clause::Fill, step.fill.is_some()),
        ];
        match given.into_iter().find(|(clause, given)| *given && !clauses.contains(clause)) {
            Some((clause, _)) => self.misuse(step.span, format!("`{}` takes no `{}`", self.name(), clause.name())),
            None => Ok(()),
        }
    }

    fn unknown(&self) -> Box<Diagnostic> {
        let known: Vec<&str> = VERBS.iter().map(|(name, ..)| *name).collect();
        let mut diagnostic = Diagnostic::error("E0510", self.step.verb.span, format!("unknown verb `{}`", self.name()));
        let distance = |name: &&&str| strsim::damerau_levenshtein(name, self.name());
        if let Some(closest) = known.iter().min_by_key(distance).filter(|name| distance(name) <= 2) {
            diagnostic = diagnostic.help(format!("did you mean `{closest}`?"));
        }
        Box::new(diagnostic.note(format!("the verbs are {}", known.join(", "))))
    }

    fn verb(&self) -> Read<Verb> {
        Ok(match self.name() {
            "tile" => {
                let loops = self.loops()?;
                let sizes = self.sizes(loops.names().len())?;
                let names = self.names(loops.names().len())?;
                Verb::Tile { loops, sizes, names }
            }
            "strip" => {
                let (loops, size, name) = self.cut()?;
                Verb::Strip { loops, size, name }
            }
            "jam" => {
                let (loops, size, name) = self.cut()?;
                Verb::Jam { loops, size, name }
            }
            "unroll" if self.step.by.is_empty() => Verb::Unroll { loops: self.loops()?, size: None, name: None },
            "unroll" => {
                let (loops, size, name) = self.cut()?;
                Verb::Unroll { loops, size: Some(size), name }
            }
            "vectorize" => {
                let lanes = self.sizes(1)?[0];
                let Some(lanes) = u32::try_from(lanes).ok().filter(|lanes| *lanes <= 1024) else {
                    return self.misuse(self.step.by[0].span, "a vector has at most 1024 lanes");
                };
                let (loops, _, name) = self.cut()?;
                Verb::Vectorize { loops, lanes, name }
            }
            "parallel" => Verb::Parallel { loops: self.loops()? },
            "place" => Verb::Place { loops: self.so_many(1, "one loop")?, axis: self.axis()? },
            "separate" => Verb::Separate { loops: self.loops()? },
            "interchange" => Verb::Interchange { loops: self.so_many(2, "two loops")? },
            "reorder" => Verb::Reorder { loops: self.loops()? },
            "skew" => Verb::Skew { loops: self.so_many(2, "two loops")?, factor: self.amount()? },
            "shift" if self.step.by.is_empty() && self.loops()?.names().len() == 2 => {
                self.recount(Operation::Swizzle(SwizzleKind::CyclicShift), 2)?
            }
            "shift" if !self.step.names.is_empty() => {
                return self.misuse(self.step.names[0].span, "a loop that starts later keeps its name");
            }
            "shift" => Verb::Shift { loops: self.so_many(1, "one loop")?, distance: self.amount()? },
            "split" => self.pieces(SplitKind::Inner)?,
            "outer_split" => self.pieces(SplitKind::Outer)?,
            "merge" => self.recount(Operation::Merge, 1)?,
            "swizzle" => self.recount(Operation::Swizzle(SwizzleKind::Xor), 2)?,
            "resize" => match self.step.by.as_slice() {
                [left, right] => self.recount(Operation::Resize { left: left.value, right: right.value }, 1)?,
                _ => return self.misuse(self.step.span, "`resize` takes two numbers behind `by`: in front and behind"),
            },
            "reverse" => {
                let loops = self.so_many(1, "one loop")?;
                if let Some(number) = self.step.by.first() {
                    return self.misuse(number.span, "`reverse` takes no number");
                }
                Verb::Reverse { loops }
            }
            "scale" => {
                let (loops, factor) = (self.so_many(1, "one loop")?, self.amount()?);
                if factor < 1 {
                    return self.misuse(self.step.by[0].span, "a scale factor is at least 1");
                }
                Verb::Scale { loops, factor }
            }
            "fuse" => {
                let (first, second) = self.two()?;
                Verb::Fuse { first, second, at: self.shared("the loop to share")? }
            }
            "fission" => {
                let (first, second) = self.two()?;
                Verb::Fission { first, second, at: self.shared("the loop to divide")? }
            }
            "sequence" => {
                if self.step.targets.len() < 2 {
                    return self.misuse(self.step.span, "`sequence` takes at least two statements");
                }
                Verb::Sequence { statements: self.step.targets.iter().map(|target| word(&target.name)).collect() }
            }
            "rfactor" => {
                self.single()?;
                let loops = self.so_many(1, "one loop")?;
                if let Some(third) = self.step.names.get(2) {
                    let what = "`rfactor` takes two names: of the partial results, and of the loop that combines them";
                    return self.misuse(third.span, what);
                }
                Verb::Rfactor { loops, names: self.step.names.iter().map(word).collect() }
            }
            "pack" => {
                let panels = match self.step.by.len() {
                    0 => Vec::new(),
                    some => self.sizes(some)?,
                };
                let name = self.step.names.first().map(word);
                let at = match &self.step.at {
                    Some(_) => Some(self.place()?),
                    None => None,
                };
                let target = self.single()?;
                let reads = target.loops.as_ref().map(|names| names.iter().map(word).collect());
                Verb::Pack { array: word(&target.name), reads, at, panels, name }
            }
            "compute_at" => {
                Verb::ComputeAt { array: self.array()?, at: self.place()?, name: self.step.names.first().map(word) }
            }
            "extend" => Verb::Extend { loops: self.so_many(1, "one loop")?, size: self.sizes(1)?[0] },
            "inline" => Verb::Inline { array: self.array()? },
            "expand" => {
                let target = self.single()?;
                let indices: Vec<Word> = target.loops.iter().flatten().map(word).collect();
                if indices.is_empty() {
                    return self.misuse(target.name.span, "`expand` needs the indices of loops: `expand a[j]`");
                }
                Verb::Expand { array: word(&target.name), indices, name: self.step.names.first().map(word) }
            }
            _ => return Err(self.unknown()),
        })
    }

    /// A split of one loop into two.
    fn pieces(&self, kind: SplitKind) -> Read<Verb> {
        if let Some(condition) = &self.step.condition {
            return self.misuse(condition.span, "`split` takes a size or a condition, not both");
        }
        self.so_many(1, "one loop")?;
        self.recount(Operation::Split { kind, factor: self.sizes(1)?[0] }, 2)
    }

    /// An operation on the domains of loops, which makes so many new ones.
    fn recount(&self, operation: Operation, made: usize) -> Read<Verb> {
        let loops = match operation {
            Operation::Split { .. } | Operation::Resize { .. } => self.so_many(1, "one loop")?,
            Operation::Merge | Operation::Swizzle(_) => self.so_many(2, "two loops")?,
        };
        Ok(Verb::Recount { loops, operation, names: self.names(made)? })
    }

    /// Operations on the domains of loops, and which iterations run.
    fn counting(&self, function: &Function) -> Result<Verb, Unread> {
        let read = || -> Read<(Loops, Word)> {
            let loops = self.loops()?;
            match &self.step.storage {
                Some(script::Storage::Notation { text, span }) => Ok((loops, Word { text: text.clone(), span: *span })),
                _ => self.misuse(self.step.span, "`loops` takes operations behind `=`"),
            }
        };
        let (loops, text) = read().map_err(|diagnostic| vec![*diagnostic])?;
        let predicate = self.step.condition.as_ref().map(|expr| condition(function, expr)).transpose()?;
        Ok(Verb::Loops { loops, text, predicate })
    }

    /// All targets, which must name the same loops.
    fn loops(&self) -> Read<Loops> {
        let step = self.step;
        if step.targets.is_empty() {
            return self.misuse(step.span, format!("`{}` needs a statement with its loops", self.name()));
        }
        let mut targets: Vec<Target> = Vec::new();
        for target in &step.targets {
            let own = match &target.loops {
                None => Target::Everywhere(word(&target.name)),
                Some(names) if names.is_empty() => {
                    return self.misuse(target.name.span, format!("`{}` needs loops", self.name()));
                }
                Some(names) => {
                    for (position, name) in names.iter().enumerate() {
                        if names[..position].iter().any(|earlier| earlier.name == name.name) {
                            return self.misuse(name.span, format!("loop `{}` is named twice", name.name));
                        }
                    }
                    Target::Of(word(&target.name), names.iter().map(word).collect())
                }
            };
            let (one, two) = (Loops { targets: vec![own.clone()] }, Loops { targets: targets.clone() });
            if !targets.is_empty() && one.names() != two.names() {
                return self.misuse(target.name.span, "all statements of one step must name the same loops");
            }
            targets.push(own);
        }
        Ok(Loops { targets })
    }

    fn so_many(&self, count: usize, what: &str) -> Read<Loops> {
        let loops = self.loops()?;
        if loops.names().len() != count {
            return self.misuse(self.step.span, format!("`{}` takes {what}", self.name()));
        }
        Ok(loops)
    }

    /// The sizes behind `by`, one per loop; each at least 1.
    fn sizes(&self, loops: usize) -> Read<Vec<i64>> {
        let by = &self.step.by;
        if let Some(number) = by.iter().find(|number| number.value < 1) {
            let what = format!("a size of {} is not possible; sizes are at least 1", number.value);
            return self.misuse(number.span, what);
        }
        if by.len() != loops {
            let verb = self.name();
            let what = format!("`{verb}` of {loops} loops takes {loops} sizes behind `by`, {} given", by.len());
            return self.misuse(self.step.span, what);
        }
        Ok(by.iter().map(|number| number.value).collect())
    }

    /// The names behind `as`: none, or so many.
    fn names(&self, count: usize) -> Read<Vec<Word>> {
        let names = &self.step.names;
        if !names.is_empty() && names.len() != count {
            let what = format!("{count} names are needed behind `as`, {} given", names.len());
            return self.misuse(names[0].span, what);
        }
        for (position, name) in names.iter().enumerate() {
            if names[..position].iter().any(|earlier| earlier.name == name.name) {
                let what = format!("there is a loop `{}` already; choose a name with `as`", name.name);
                return self.misuse(name.span, what);
            }
        }
        Ok(names.iter().map(word).collect())
    }

    fn cut(&self) -> Read<(Loops, i64, Option<Word>)> {
        let loops = self.so_many(1, "one loop")?;
        Ok((loops, self.sizes(1)?[0], self.names(1)?.pop()))
    }

    /// The single number behind `by`.
    fn amount(&self) -> Read<i64> {
        match self.step.by.as_slice() {
            [number] => Ok(number.value),
            _ => self.misuse(self.step.span, format!("`{}` takes one number behind `by`", self.name())),
        }
    }

    fn axis(&self) -> Read<Axis> {
        let Some(given) = &self.step.axis else {
            return self.misuse(self.step.span, "`place` needs an axis, behind `->`");
        };
        match Axis::named(&given.name) {
            Some(axis) => Ok(axis),
            None => {
                let known = Axis::ALL.map(Axis::name).join(", ");
                self.misuse(given.span, format!("there is no axis `{}`; the axes are {known}", given.name))
            }
        }
    }

    fn two(&self) -> Read<(Word, Word)> {
        match self.step.targets.as_slice() {
            [one, two] => Ok((word(&one.name), word(&two.name))),
            _ => self.misuse(self.step.span, format!("`{}` takes two statements", self.name())),
        }
    }

    fn single(&self) -> Read<&script::Target> {
        match self.step.targets.as_slice() {
            [target] => Ok(target),
            _ => self.misuse(self.step.span, format!("`{}` takes one statement with its loops", self.name())),
        }
    }

    /// The loop behind `at`, without a statement.
    fn shared(&self, what: &str) -> Read<Word> {
        match &self.step.at {
            None => self.misuse(self.step.span, format!("`{}` needs {what}, behind `at`", self.name())),
            Some(script::Target { name, loops: None, .. }) => Ok(word(name)),
            Some(script::Target { name, loops: Some(_), .. }) => {
                self.misuse(name.span, format!("`{}` takes a loop behind `at`, without a statement", self.name()))
            }
        }
    }

    /// The loop behind `at`, with or without a statement.
    fn place(&self) -> Read<Place> {
        match &self.step.at {
            None => self.misuse(self.step.span, format!("`{}` needs a loop, behind `at`", self.name())),
            Some(script::Target { name, loops: None, .. }) => Ok(Place { statement: None, at: word(name) }),
            Some(script::Target { name, loops: Some(loops), span }) => match loops.as_slice() {
                [at] => Ok(Place { statement: Some(word(name)), at: word(at) }),
                _ => Err(Box::new(Diagnostic::error("E0512", *span, "one loop is needed behind `at`"))),
            },
        }
    }

    fn array(&self) -> Read<Word> {
        let target = self.single()?;
        if target.loops.is_some() {
            return self.misuse(target.name.span, format!("`{}` takes an array, without loops", self.name()));
        }
        Ok(word(&target.name))
    }

    fn split(&self, function: &Function) -> Result<Verb, Unread> {
        let one = |diagnostic: Box<Diagnostic>| vec![*diagnostic];
        let loops = self.single().and_then(|_| self.so_many(1, "one loop")).map_err(one)?;
        if self.step.condition.is_none() {
            let what = "`split` needs a size, behind `by`, or a condition, behind `where`";
            return self.misuse(self.step.span, what).map_err(one);
        }
        Ok(Verb::Split { loops, condition: self.condition(function)? })
    }

    fn detach(&self, function: &Function) -> Result<Verb, Unread> {
        let one = |diagnostic: Box<Diagnostic>| vec![*diagnostic];
        let target = self.single().map_err(one)?;
        if target.loops.is_some() {
            let what = "`detach` takes a statement, without loops";
            return self.misuse(target.name.span, what).map_err(one);
        }
        let name = self.names(1).map_err(one)?.pop();
        Ok(Verb::Detach { statement: word(&target.name), condition: self.condition(function)?, name })
    }

    /// The condition behind `where`, over indices of a statement and the sizes.
    fn condition(&self, function: &Function) -> Result<Condition, Unread> {
        let Some(expr) = &self.step.condition else {
            let what = format!("`{}` needs a condition, behind `where`", self.name());
            return self.misuse(self.step.span, what).map_err(|diagnostic| vec![*diagnostic]);
        };
        condition(function, expr)
    }

    fn layout(&self, function: &Function) -> Result<Verb, Unread> {
        let one = |diagnostic: Box<Diagnostic>| vec![*diagnostic];
        let target = self.single().map_err(one)?;
        let array = word(&target.name);
        let name = self.names(1).map_err(one)?.pop();
        let inputs = target.loops.clone().unwrap_or_default();
        let storage = match (&self.step.storage, self.step.by.len()) {
            (None, 1..) if target.loops.is_none() => Storage::Panels(self.sizes(self.step.by.len()).map_err(one)?),
            (Some(script::Storage::Map { outputs, shape, .. }), 0) => {
                let places = outputs.iter().map(|output| xor::lower(function, &inputs, output));
                let places = places.collect::<Result<Vec<_>, _>>()?;
                let extents = |shape: &Vec<Expr>| -> Result<Vec<_>, Unread> {
                    shape.iter().map(|extent| program::lower_index(function, &[], extent)).collect()
                };
                let shape = shape.as_ref().map(extents).transpose()?;
                if let Some(shape) = &shape
                    && shape.len() != places.len()
                {
                    let what = format!("{} places are given, but {} extents behind `in`", places.len(), shape.len());
                    return self.misuse(self.step.span, what).map_err(one);
                }
                Storage::Map { places: Formula::new(inputs.iter().map(word).collect(), places), shape }
            }
            (Some(script::Storage::Notation { text, span }), 0) => {
                Storage::Notation { inputs: inputs.iter().map(word).collect(), text: text.clone(), span: *span }
            }
            _ => {
                let what = "`layout` takes places behind `=>`, a layout behind `=`, or panels behind `by`";
                return self.misuse(self.step.span, what).map_err(one);
            }
        };
        Ok(Verb::Layout { array, storage, name, given: false, fill: self.step.fill.as_ref().map(word) })
    }

    fn map(&self, function: &Function) -> Result<Verb, Unread> {
        if self.step.maps.is_empty() {
            let missing: Read<Verb> = self.misuse(self.step.span, "`map` needs relations in braces");
            return missing.map_err(|diagnostic| vec![*diagnostic]);
        }
        let mut relations = Vec::new();
        for map in &self.step.maps {
            let outputs = map.outputs.iter().map(|output| program::lower_index(function, &map.inputs, output));
            let outputs = outputs.collect::<Result<Vec<_>, _>>()?;
            relations.push(Relation {
                statement: word(&map.statement),
                times: Formula::new(map.inputs.iter().map(word).collect(), outputs),
                span: map.span,
            });
        }
        Ok(Verb::Map { relations })
    }
}

/// A condition over the names in it that are not parameters. However it is written, the same condition is the same formula.
fn condition(function: &Function, expr: &Expr) -> Result<Condition, Unread> {
    let mut inputs = free_names(expr, function);
    inputs.sort_by(|one, two| one.name.cmp(&two.name));
    let cond = program::lower_condition(function, &inputs, expr)?;
    Ok(Formula::new(inputs.iter().map(word).collect(), cond))
}

/// The names in a condition that are not parameters: indices of the statement.
fn free_names(expr: &Expr, function: &Function) -> Vec<Ident> {
    fn collect(expr: &Expr, found: &mut Vec<Ident>) {
        match &expr.kind {
            ExprKind::Name(name) => found.push(Ident { name: name.clone(), span: expr.span }),
            ExprKind::Unary { operand, .. } => collect(operand, found),
            ExprKind::Binary { lhs, rhs, .. } => {
                collect(lhs, found);
                collect(rhs, found);
            }
            ExprKind::Compare { first, rest } => {
                collect(first, found);
                rest.iter().for_each(|(_, operand)| collect(operand, found));
            }
            ExprKind::Paren(inner) => collect(inner, found),
            _ => {}
        }
    }
    let mut found: Vec<Ident> = Vec::new();
    collect(expr, &mut found);
    let mut distinct: Vec<Ident> = Vec::new();
    for ident in found {
        let known = function.params.iter().any(|param| param.name == ident.name)
            || distinct.iter().any(|earlier| earlier.name == ident.name);
        if !known {
            distinct.push(ident);
        }
    }
    distinct
}
