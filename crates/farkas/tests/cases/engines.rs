//! The engines that execute a call: the interpreter, machine code, and the interpreter of loops.

use farkas::{Args, Argument, CallError, Data, Emit, Error, Function, Module, Role, ScalarType, Value};
use interp::Env;
use program::{Affine, Atom};

use crate::run::Call;
use crate::value::{Literal, scalar};

/// Name, elements and shape of everything that the function may write.
pub(crate) type Outputs = Vec<(String, Data, Vec<usize>)>;

/// An argument as the host would hold it.
enum Held {
    Size(i64),
    Scalar(Value),
    Array { data: Data, shape: Vec<usize>, writable: bool },
}

pub(crate) fn find<'a>(module: &'a Module, call: &Call) -> Result<&'a Function, String> {
    match (&call.function, module.functions()) {
        (Some(name), _) => module.function(name).map_err(|error| error.to_string()),
        (None, [only]) => Ok(only),
        (None, _) => Err("there are several functions: begin the line with `name:`".into()),
    }
}

pub(crate) fn interpret(function: &Function, call: &Call) -> Result<farkas::Result<Outputs>, String> {
    execute(function, call, Function::interpret)
}

pub(crate) fn call(function: &Function, call: &Call) -> Result<farkas::Result<Outputs>, String> {
    execute(function, call, Function::call)
}

/// The outer result is whether the line makes sense, the inner one is the call's.
fn execute(
    function: &Function,
    call: &Call,
    run: fn(&Function, &mut Args<'_>) -> farkas::Result<()>,
) -> Result<farkas::Result<Outputs>, String> {
    let mut held = match hold(function, call)? {
        Ok(held) => held,
        Err(error) => return Ok(Err(error)),
    };
    let mut args = Args::new();
    for (name, held) in &mut held {
        match held {
            Held::Size(value) => args.size(name, *value),
            Held::Scalar(value) => args.scalar(name, *value),
            Held::Array { data, shape, writable: false } => args.data(name, data, shape),
            Held::Array { data, shape, writable: true } => args.data_mut(name, data, shape),
        };
    }
    if let Err(error) = run(function, &mut args) {
        return Ok(Err(error));
    }
    drop(args);
    Ok(Ok(outputs(held)))
}

fn outputs(held: Vec<(String, Held)>) -> Outputs {
    let outputs = held.into_iter().filter_map(|(name, held)| match held {
        Held::Array { data, shape, writable: true } => Some((name, data, shape)),
        _ => None,
    });
    outputs.collect()
}

/// Everything the line gives, and memory for the outputs it does not give.
fn hold(function: &Function, call: &Call) -> Result<farkas::Result<Vec<(String, Held)>>, String> {
    let signature = function.signature();
    let sizes: Vec<(&str, i64)> = call
        .given
        .iter()
        .filter(|(name, ..)| signature.params.contains(name))
        .filter_map(|(name, _, value)| match value {
            Literal::One(text) => text.parse().ok().map(|value| (name.as_str(), value)),
            Literal::List(_) => None,
        })
        .collect();
    let mut held: Vec<(String, Held)> =
        sizes.iter().map(|(name, value)| (name.to_string(), Held::Size(*value))).collect();
    let arguments = call.given.iter().filter(|(name, ..)| !signature.params.contains(name));
    for (name, ty, value) in arguments {
        let declared = signature.args.iter().find(|argument| argument.name == *name);
        let ty = match ty {
            Some(ty) => ScalarType::from_name(ty).ok_or_else(|| format!("there is no type `{ty}`"))?,
            None => declared.map_or(ScalarType::F64, |argument| argument.ty),
        };
        held.push((name.clone(), hold_one(function, declared, &sizes, ty, value)?));
    }
    for output in signature.args.iter().filter(|argument| argument.role == Role::Out) {
        if held.iter().all(|(name, _)| *name != output.name) {
            let shape = match with_read_only(&held, |args| function.shape_of(args, &output.name)) {
                Ok(shape) => shape,
                Err(error) => return Ok(Err(error)),
            };
            held.push((output.name.clone(), Held::Array { data: garbage(output.ty, &shape)?, shape, writable: true }));
        }
    }
    Ok(Ok(held))
}

fn hold_one(
    function: &Function,
    declared: Option<&Argument>,
    sizes: &[(&str, i64)],
    ty: ScalarType,
    value: &Literal,
) -> Result<Held, String> {
    let is_scalar = declared.is_none_or(|argument| argument.role == Role::In || !argument.shape.is_empty());
    let writable = declared.is_some_and(|argument| argument.role != Role::In);
    let mut shape = value.shape();
    let rank = declared.map_or(shape.len(), |argument| argument.shape.len());
    let is_iota = *value == Literal::One("iota".into());
    if let (Literal::One(text), true, false) = (value, is_scalar, is_iota) {
        return Ok(Held::Scalar(scalar(text, ty)?));
    }
    if is_iota || value.leaves()?.is_empty() && shape.len() < rank {
        // Neither shows its shape; the sizes of the line do, else all of it is empty.
        let mut args = Args::new();
        for (name, value) in sizes {
            args.size(name, *value);
        }
        let name = declared.map_or("", |argument| argument.name.as_str());
        shape = match function.shape_of(&args, name) {
            Ok(shape) => shape,
            Err(error) if is_iota => return Err(format!("`iota` needs all sizes: {error}")),
            Err(_) => shape.into_iter().chain(std::iter::repeat(0)).take(rank).collect(),
        };
    }
    if !is_iota {
        return Ok(Held::Array { data: value.data(ty)?, shape, writable });
    }
    let mut data = Data::zeros(ty, shape.iter().product()).ok_or("no memory")?;
    (0..data.len()).for_each(|position| {
        data.set(position, Value::from_i64(ty, position as i64));
    });
    Ok(Held::Array { data, shape, writable })
}

/// What no program computes, so that a cell that is not written shows.
fn garbage(ty: ScalarType, shape: &[usize]) -> Result<Data, String> {
    let mut data = Data::zeros(ty, shape.iter().product()).ok_or("no memory")?;
    (0..data.len()).for_each(|position| {
        data.set(position, Value::from_i64(ty, -86));
    });
    Ok(data)
}

fn with_read_only<T>(held: &[(String, Held)], ask: impl FnOnce(&Args<'_>) -> T) -> T {
    let mut args = Args::new();
    for (name, held) in held {
        match held {
            Held::Size(value) => args.size(name, *value),
            Held::Scalar(value) => args.scalar(name, *value),
            Held::Array { data, shape, .. } => args.data(name, data, shape),
        };
    }
    ask(&args)
}

/// Executes the printed loops, read back, with parallel iterations shuffled and lanes in lockstep.
pub(crate) fn run_loops(
    compiled: &Function,
    function: &program::Function,
    call: &Call,
) -> Result<farkas::Result<Outputs>, String> {
    let mut held = match hold(compiled, call)? {
        Ok(held) => held,
        Err(error) => return Ok(Err(error)),
    };
    let text = compiled.texts().iter().find(|(emit, _)| *emit == Emit::Loops).map_or("", |(_, text)| text.as_str());
    let kernel = loops::parse(text).map_err(|error| error.to_string())?;
    let kernel = loops::verify(kernel).map_err(|error| error.to_string())?;
    let mut env = Env { params: params(function, &held)?, ..Env::default() };
    let held_as = |held: &[(String, Held)], name: &str| held.iter().position(|(known, _)| known == name);
    // The loops may have other names for what the program names like a word of theirs; the order is the same.
    for declared in &function.scalars {
        match held_as(&held, &declared.name).map(|position| &held[position].1) {
            Some(Held::Scalar(value)) => env.scalars.push(*value),
            _ => return Err(format!("scalar `{}` is not given", declared.name)),
        }
    }
    let mut arguments = function.arrays.iter().filter(|array| array.role != Role::Local);
    let mut places = Vec::new();
    for declared in &kernel.arrays {
        let argument = if declared.role == Role::Local { None } else { arguments.next() };
        let place = argument.and_then(|argument| held_as(&held, &argument.name));
        env.arrays.push(match place.map(|place| &held[place].1) {
            Some(Held::Array { data, .. }) => Some(data.clone()),
            _ => None,
        });
        places.push(place);
    }
    if let Err(error) = interp::run_concurrently(&kernel, &mut env, 1) {
        return Ok(Err(Error::Call(CallError::Interpret(error))));
    }
    for (place, result) in places.into_iter().zip(env.arrays) {
        if let (Some(Held::Array { data, .. }), Some(result)) = (place.map(|place| &mut held[place].1), result) {
            *data = result;
        }
    }
    Ok(Ok(outputs(held)))
}

/// The parameters, from the sizes of the line and the shapes of its arrays, in as many rounds as it takes.
fn params(function: &program::Function, held: &[(String, Held)]) -> Result<Vec<i64>, String> {
    let mut values: Vec<Option<i64>> = function
        .params
        .iter()
        .map(|param| {
            held.iter().find_map(|(name, held)| match held {
                Held::Size(value) if *name == param.name => Some(*value),
                _ => None,
            })
        })
        .collect();
    let mut extents: Vec<(&Affine, i64)> = Vec::new();
    for id in function.array_ids() {
        let array = function.array(id);
        if let Some((_, Held::Array { shape, .. })) = held.iter().find(|(name, _)| *name == array.name) {
            extents.extend(function.outside_shape(id).iter().zip(shape.iter().map(|length| *length as i64)));
        }
    }
    for _ in 0..values.len() {
        for (extent, length) in &extents {
            let unknown: Vec<(&Atom, &i64)> = extent.terms.iter().filter(|(atom, _)| !known(atom, &values)).collect();
            let rest = extent.eval(&|param| values[param.index()].unwrap_or(0), &|_| 0);
            if let ([(Atom::Param(param), coefficient)], Some(rest)) = (unknown.as_slice(), rest) {
                values[param.index()] = Some((length - rest) / **coefficient);
            }
        }
        for (position, param) in function.params.iter().enumerate() {
            let all_known = |side: &Affine| side.terms.keys().all(|atom| known(atom, &values));
            let Some(derived) = param.derived.as_ref().filter(|of| all_known(&of.lhs) && all_known(&of.rhs)) else {
                continue;
            };
            let value = derived.eval(&|param| values[param.index()].unwrap_or(0)).map_err(|why| why.to_string())?;
            values[position] = Some(value);
        }
    }
    values.into_iter().collect::<Option<Vec<i64>>>().ok_or_else(|| "the sizes cannot be found".into())
}

fn known(atom: &Atom, values: &[Option<i64>]) -> bool {
    match atom {
        Atom::Param(param) => values[param.index()].is_some(),
        Atom::Iter(_) => true,
        Atom::Div(numerator, _) => numerator.terms.keys().all(|atom| known(atom, values)),
    }
}
