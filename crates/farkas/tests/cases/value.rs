//! Values in `run` lines: numbers, `true`, `false` and nested lists; read and written in the type of the argument.

use farkas::{Data, ScalarType, Value};

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Literal {
    One(String),
    List(Vec<Literal>),
}

impl Literal {
    pub(crate) fn parse(text: &str) -> Result<Literal, String> {
        let mut rest = text;
        let literal = parse(&mut rest).ok_or_else(|| format!("`{text}` is not a value"))?;
        if rest.trim().is_empty() { Ok(literal) } else { Err(format!("`{rest}` follows a whole value")) }
    }

    /// Lengths of the lists, outermost first. An empty list hides how deep it would be.
    pub(crate) fn shape(&self) -> Vec<usize> {
        match self {
            Literal::One(_) => Vec::new(),
            Literal::List(items) => {
                let inner = items.first().map(Literal::shape).unwrap_or_default();
                std::iter::once(items.len()).chain(inner).collect()
            }
        }
    }

    /// The numbers from left to right; an error if the lists are not of one shape.
    pub(crate) fn leaves(&self) -> Result<Vec<&str>, String> {
        match self {
            Literal::One(leaf) => Ok(vec![leaf]),
            Literal::List(items) => {
                let mut leaves = Vec::new();
                for item in items {
                    if item.shape() != items[0].shape() {
                        return Err("the lists have different lengths".into());
                    }
                    leaves.extend(item.leaves()?);
                }
                Ok(leaves)
            }
        }
    }

    pub(crate) fn data(&self, ty: ScalarType) -> Result<Data, String> {
        let leaves = self.leaves()?;
        let mut data = Data::zeros(ty, leaves.len()).ok_or("no memory")?;
        for (position, leaf) in leaves.into_iter().enumerate() {
            data.set(position, scalar(leaf, ty)?);
        }
        Ok(data)
    }
}

fn parse(rest: &mut &str) -> Option<Literal> {
    *rest = rest.trim_start();
    let Some(inner) = rest.strip_prefix('[') else {
        let end = rest.find([',', ']']).unwrap_or(rest.len());
        let (leaf, after) = rest.split_at(end);
        *rest = after;
        return (!leaf.trim().is_empty()).then(|| Literal::One(leaf.trim().to_string()));
    };
    *rest = inner.trim_start();
    let mut items = Vec::new();
    if let Some(after) = rest.strip_prefix(']') {
        *rest = after;
        return Some(Literal::List(items));
    }
    loop {
        items.push(parse(rest)?);
        *rest = rest.trim_start();
        if let Some(after) = rest.strip_prefix(']') {
            *rest = after;
            return Some(Literal::List(items));
        }
        *rest = rest.strip_prefix(',')?;
    }
}

pub(crate) fn scalar(text: &str, ty: ScalarType) -> Result<Value, String> {
    Value::parse(ty, text).ok_or_else(|| format!("`{text}` is not a value of type {ty}"))
}

/// Row-major elements as nested lists.
pub(crate) fn show(data: &Data, shape: &[usize]) -> String {
    let values: Vec<String> = (0..data.len()).filter_map(|position| data.get(position)).map(show_scalar).collect();
    nest(&values, shape)
}

fn nest(values: &[String], shape: &[usize]) -> String {
    let Some((length, inner)) = shape.split_first() else { return values.join("") };
    let size: usize = inner.iter().product();
    let items = (0..*length).map(|item| nest(values.get(item * size..(item + 1) * size).unwrap_or(&[]), inner));
    format!("[{}]", items.collect::<Vec<_>>().join(", "))
}

/// Whole floats are written without `.0`, which is how people write them.
fn show_scalar(value: Value) -> String {
    let text = match value {
        Value::F16(value) if value.is_nan() => "nan".into(),
        Value::BF16(value) if value.is_nan() => "nan".into(),
        Value::F32(value) if value.is_nan() => "nan".into(),
        Value::F64(value) if value.is_nan() => "nan".into(),
        other => other.to_string(),
    };
    text.strip_suffix(".0").map(str::to_string).unwrap_or(text)
}

/// How far two floats of one type may be apart, relative to the larger one.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Tolerance {
    /// Bit for bit.
    None,
    Relative {
        f32: f64,
        f64: f64,
    },
}

pub(crate) fn close(a: &Data, b: &Data, tolerance: Tolerance) -> bool {
    a.ty() == b.ty()
        && a.len() == b.len()
        && (0..a.len()).all(|position| match (a.get(position), b.get(position), tolerance) {
            (Some(Value::F32(a)), Some(Value::F32(b)), Tolerance::Relative { f32, .. }) => {
                near(f64::from(a), f64::from(b), f32)
            }
            (Some(Value::F64(a)), Some(Value::F64(b)), Tolerance::Relative { f64, .. }) => near(a, b, f64),
            (a, b, _) => a == b,
        })
}

fn near(a: f64, b: f64, relative: f64) -> bool {
    a == b || a.is_nan() && b.is_nan() || (a - b).abs() <= relative * a.abs().max(b.abs()) && (a - b).is_finite()
}
