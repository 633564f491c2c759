//! Calls: match the arguments with the signature, infer sizes, run, and copy back where a view was not contiguous.

use std::time::Instant;

use cpu::{Buffer, Workspace};
use interp::Env;
use program::{ArgRef, Array, ArrayId, Data, Function, Role, ScalarType, Slice, Value};

use crate::args::{Args, Given, View};
use crate::pipeline::Made;
use crate::sizes::{self, Dimension};
use crate::stored;
use crate::target;
use crate::threads::Team;
use crate::views::Views;
use crate::{CallError, Cancel};

/// Arguments matched with the signature: the position in `args.given` of each.
struct Matched {
    params: Vec<i64>,
    scalars: Vec<Value>,
    /// Per array argument in order of declaration.
    arrays: Vec<usize>,
}

fn array_args(function: &Function) -> impl Iterator<Item = &Array> {
    function.arrays.iter().filter(|array| array.role != Role::Local)
}

fn known_names(function: &Function) -> Vec<String> {
    let name = |arg: &ArgRef| match arg {
        ArgRef::Scalar(id) => function.scalar(*id).name.clone(),
        ArgRef::Array(id) => function.array(*id).name.clone(),
    };
    function.signature.iter().map(name).collect()
}

fn position(args: &Args<'_>, name: &str) -> Option<usize> {
    args.given.iter().position(|(given, _)| given == name)
}

/// The parameters, from the given sizes and the arrays that are there.
fn solve_sizes(function: &Function, args: &Args<'_>) -> Result<Vec<i64>, CallError> {
    let mut dimensions = Vec::new();
    for id in function.array_ids().filter(|id| function.array(*id).role != Role::Local) {
        let (array, extents) = (function.array(id), function.outside_shape(id));
        let Some(position) = position(args, &array.name) else { continue };
        let lengths = match &args.given[position].1 {
            Given::Read(view) => view.shape().to_vec(),
            Given::Write(view) => view.reborrow().shape().to_vec(),
            Given::Scalar(_) | Given::Misshapen { .. } => continue,
        };
        if lengths.len() != extents.len() {
            let name = array.name.clone();
            return Err(CallError::WrongRank { name, expected: extents.len(), given: lengths.len() });
        }
        for (position, (extent, length)) in extents.iter().zip(lengths).enumerate() {
            let length = i64::try_from(length).unwrap_or(i64::MAX);
            dimensions.push(Dimension { array: &array.name, position, extent, length });
        }
    }
    sizes::solve(function, &args.sizes, &dimensions)
}

fn match_args(function: &Function, args: &Args<'_>) -> Result<Matched, CallError> {
    let known = known_names(function);
    for (position, (name, given)) in args.given.iter().enumerate() {
        if !known.contains(name) {
            return Err(CallError::UnknownArgument { name: name.clone(), known });
        }
        if args.given[..position].iter().any(|(earlier, _)| earlier == name) {
            return Err(CallError::GivenTwice { name: name.clone() });
        }
        if let Given::Misshapen { len, shape } = given {
            return Err(CallError::Misshapen { name: name.clone(), len: *len, shape: shape.clone() });
        }
    }
    let find = |name: &str| position(args, name).ok_or_else(|| CallError::MissingArgument { name: name.to_string() });
    let mut scalars = Vec::new();
    for scalar in &function.scalars {
        let Given::Scalar(value) = &args.given[find(&scalar.name)?].1 else {
            return Err(CallError::ExpectedScalar { name: scalar.name.clone() });
        };
        let value = exactly(*value, scalar.ty).unwrap_or(*value);
        check_type(&scalar.name, scalar.ty, value.ty())?;
        scalars.push(value);
    }
    let mut arrays = Vec::new();
    for array in array_args(function) {
        let position = find(&array.name)?;
        match &args.given[position].1 {
            Given::Read(view) => {
                check_type(&array.name, array.ty, view.ty())?;
                if array.role != Role::In {
                    return Err(CallError::NotWritable { name: array.name.clone() });
                }
            }
            Given::Write(view) => check_type(&array.name, array.ty, view.reborrow().ty())?,
            Given::Scalar(_) | Given::Misshapen { .. } => {
                return Err(CallError::ExpectedArray { name: array.name.clone() });
            }
        }
        arrays.push(position);
    }
    Ok(Matched { params: solve_sizes(function, args)?, scalars, arrays })
}

/// A number as one of another type, if that has it.
fn exactly(value: Value, ty: ScalarType) -> Option<Value> {
    let kinds = |ty: ScalarType| (ty.is_float(), ty.is_int());
    if value.ty() == ty || kinds(value.ty()) != kinds(ty) {
        return Some(value);
    }
    let converted = interp::eval::cast(value, ty);
    let same = match (value.as_i64(), converted.as_i64()) {
        (Some(given), Some(found)) => given == found,
        (None, None) => ty.is_float() && interp::eval::cast(converted, value.ty()).same(value),
        _ => false,
    };
    same.then_some(converted)
}

fn check_type(name: &str, expected: ScalarType, given: ScalarType) -> Result<(), CallError> {
    if expected == given { Ok(()) } else { Err(CallError::WrongType { name: name.to_string(), expected, given }) }
}

/// The sizes of a call with these arguments, by name.
pub(crate) fn sizes_of(function: &Function, args: &Args<'_>) -> Result<Vec<(String, i64)>, CallError> {
    let params = solve_sizes(function, args)?;
    let written = function.params.iter().zip(params).filter(|(param, _)| param.derived.is_none());
    Ok(written.map(|(param, value)| (param.name.clone(), value)).collect())
}

/// The extents of an array argument for the sizes that `args` give.
pub(crate) fn shape_of(function: &Function, args: &Args<'_>, name: &str) -> Result<Vec<usize>, CallError> {
    let params = solve_sizes(function, args)?;
    let argument = |id: &ArrayId| function.array(*id).role != Role::Local && function.array(*id).name == name;
    let array = function.array_ids().find(argument);
    let known = || known_names(function);
    let array = array.ok_or_else(|| CallError::UnknownArgument { name: name.to_string(), known: known() })?;
    sizes::shape(function, array, &params)
}

/// Runs machine code, or kernels.
pub(crate) fn call(callee: &crate::Function, args: &mut Args<'_>) -> Result<(), CallError> {
    let (function, team) = (callee.program(), callee.team());
    let matched = match_args(function, args)?;
    let general = &callee.code_at(&matched.params)?;
    sizes::check_index_arithmetic(function, callee.schedule(), &general.kernel, &matched.params)?;
    let code = callee.specials().code_for(&matched.params, general);
    let compiled = match &code.made {
        Made::Cpu(compiled) => compiled,
        Made::Versions(_) => return Err(CallError::NoMachineCode),
        Made::Ptx { program, device } => {
            let roles = program.loops.arrays.iter().take(program.given).map(|array| array.role);
            return with_copies(function, roles, args, |env| {
                target::run(program, *device, &env.params, &env.scalars, &mut env.arrays)
            });
        }
    };
    if let Some(views) = callee.views()
        && let Some(strides) = views.strides(args, &matched.arrays)
    {
        sizes::check_index_arithmetic(function, callee.schedule(), &callee.code().general()?.kernel, &matched.params)?;
        return call_in_place(callee, views, &[&matched.params[..], &strides].concat(), &matched, args);
    }
    // Views that are not row-major in memory are packed, and written back afterwards.
    let mut packed: Vec<(usize, Data)> = Vec::new();
    for position in &matched.arrays {
        let copy = match &args.given[*position].1 {
            Given::Read(view) if view.as_slice().is_none() => Some(view.to_data()),
            Given::Write(view) if view.reborrow().as_slice().is_none() => Some(view.reborrow().to_data()),
            _ => None,
        };
        packed.extend(copy.map(|data| (*position, data)));
    }
    let mut buffers: Vec<Option<Buffer<'_>>> = args.given.iter().map(|_| None).collect();
    for ((buffer, (_, given)), position) in buffers.iter_mut().zip(&mut args.given).zip(0..) {
        if packed.iter().any(|(packed, _)| *packed == position) {
            continue;
        }
        *buffer = match given {
            Given::Read(view) => view.as_slice().map(Buffer::Read),
            Given::Write(view) => view.as_mut_slice().map(Buffer::Write),
            Given::Scalar(_) | Given::Misshapen { .. } => None,
        };
    }
    for (position, data) in &mut packed {
        buffers[*position] = Some(Buffer::Write(data.as_mut_slice()));
    }
    let mut in_order: Vec<Buffer<'_>> =
        matched.arrays.iter().filter_map(|position| buffers[*position].take()).collect();
    let run = run(team, args.threads, args.cancel.as_ref())?;
    let started = (!callee.specials().are_settled()).then(Instant::now);
    let (params, scalars) = (&matched.params, &matched.scalars);
    call_in(compiled, params, scalars, &mut in_order, &run, args.workspace.as_deref_mut())
        .map_err(|error| sizes::too_large(function, callee.schedule(), params, error))?;
    if let Some(started) = started {
        callee.specials().count(&matched.params, 1, started.elapsed(), general);
    }
    drop(in_order);
    drop(buffers);
    for (position, data) in &packed {
        if let Given::Write(view) = &mut args.given[*position].1 {
            view.assign(data);
        }
    }
    Ok(())
}

/// Runs code that takes the arrays as they lie. `params` are the sizes, and the strides.
fn call_in_place(
    callee: &crate::Function,
    views: &Views,
    params: &[i64],
    matched: &Matched,
    args: &mut Args<'_>,
) -> Result<(), CallError> {
    let run = run(callee.team(), args.threads, args.cancel.as_ref())?;
    let mut buffers: Vec<Option<Buffer<'_>>> = Vec::new();
    for (_, given) in &mut args.given {
        buffers.push(match given {
            Given::Read(view) => Some(view.buffer()),
            Given::Write(view) => Some(view.buffer()),
            Given::Scalar(_) | Given::Misshapen { .. } => None,
        });
    }
    let mut in_order: Vec<Buffer<'_>> =
        matched.arrays.iter().filter_map(|position| buffers[*position].take()).collect();
    let workspace = args.workspace.as_deref_mut();
    Ok(call_in(views.code.compiled()?, params, &matched.scalars, &mut in_order, &run, workspace)?)
}

/// Runs code with local arrays in memory of the host, if there is some, or of the thread.
fn call_in(
    compiled: &cpu::Compiled,
    params: &[i64],
    scalars: &[Value],
    arrays: &mut [Buffer<'_>],
    run: &cpu::Run<'_>,
    workspace: Option<&mut Workspace>,
) -> Result<(), cpu::CallError> {
    match workspace {
        Some(workspace) => compiled.call_in(params, scalars, arrays, run, workspace),
        None => compiled.call_with(params, scalars, arrays, run),
    }
}

/// Who runs a call, and what ends it.
fn run<'a>(team: &'a Team, limit: Option<usize>, cancel: Option<&'a Cancel>) -> Result<cpu::Run<'a>, CallError> {
    let threads = match limit {
        Some(0) => return Err(CallError::NoThreads),
        Some(limit) => team.threads.min(limit),
        None => team.threads,
    };
    let cancel = cancel.map(Cancel::flag);
    Ok(cpu::Run { pool: team.pool.as_deref(), threads, worth_sharing: team.worth_sharing, cancel })
}

/// Runs the reference interpreter.
pub(crate) fn interpret(function: &Function, args: &mut Args<'_>) -> Result<(), CallError> {
    let roles = function.arrays.iter().map(|array| array.role);
    with_copies(function, roles, args, |env| {
        let before = if function.stored.is_empty() { Vec::new() } else { env.arrays.clone() };
        let moved = stored::by_rows(function, &env.params, &mut env.arrays);
        moved.ok_or_else(|| out_of_place(function, &env.params))?;
        interp::run_program(function, env)?;
        let moved = stored::by_places(function, &env.params, before, &mut env.arrays);
        moved.ok_or_else(|| out_of_place(function, &env.params))
    })
}

/// Cells and places have been compared with shapes before, so what can be wrong is numbers that do not fit.
fn out_of_place(function: &Function, params: &[i64]) -> CallError {
    CallError::IndexOverflow { sizes: sizes::show(function, params) }
}

/// Runs something on copies of the arrays; `roles` are those of all its arrays, the function's arguments in their order among them.
fn with_copies(
    function: &Function,
    roles: impl Iterator<Item = Role> + Clone,
    args: &mut Args<'_>,
    run: impl FnOnce(&mut Env) -> Result<(), CallError>,
) -> Result<(), CallError> {
    let matched = match_args(function, args)?;
    let data = |view: &View<'_>| view.as_slice().map_or_else(|| view.to_data(), |slice: Slice<'_>| slice.to_data());
    let mut positions = matched.arrays.iter();
    let arrays = roles.clone().map(|role| {
        let position = if role == Role::Local { None } else { positions.next() };
        position.and_then(|position| match &args.given[*position].1 {
            Given::Read(view) => Some(data(view)),
            Given::Write(view) => Some(data(&view.reborrow())),
            Given::Scalar(_) | Given::Misshapen { .. } => None,
        })
    });
    let mut env = Env { params: matched.params.clone(), scalars: matched.scalars.clone(), arrays: arrays.collect() };
    run(&mut env)?;
    let results = roles.zip(env.arrays).filter(|(role, _)| *role != Role::Local);
    for ((_, data), position) in results.zip(&matched.arrays) {
        if let (Given::Write(view), Some(data)) = (&mut args.given[*position].1, data) {
            view.assign(&data);
        }
    }
    Ok(())
}
