//! Prepared calls: names and sizes are checked once, and arguments are given by position.

use std::sync::Arc;
use std::time::{Duration, Instant};

use cpu::{Buffer, Plan};
use program::{Array, Role, Value};

use crate::engine::Function;
use crate::pipeline::Code;
use crate::{CallError, Cancel, Error, Result, sizes};

/// Calls of a function for one set of sizes. It owns the memory of the function's local arrays, so that calls allocate
/// nothing; each thread that calls has its own.
///
/// ```
/// # let source = "fn scale<N>(k: f64, x: f64[N]) -> (y: f64[N]) { y[i] = k * x[i] }";
/// let scale = farkas::Engine::new().compile(source)?.function("scale")?.clone();
/// let mut scale = scale.prepare(&[("N", 3)])?;
/// let (x, mut y) = ([1.0, 2.0, 3.0], [0.0; 3]);
/// scale.call(&[2.0.into()], &mut [x.as_slice().into(), y.as_mut_slice().into()])?;
/// assert_eq!(y, [2.0, 4.0, 6.0]);
/// # Ok::<(), farkas::Error>(())
/// ```
#[derive(Debug)]
pub struct Prepared {
    function: Function,
    params: Vec<i64>,
    /// For all sizes, or for these.
    code: Arc<Code>,
    plan: Plan,
    calls: u64,
    /// Whether no other code will come.
    is_settled: bool,
    threads: usize,
    cancel: Option<Cancel>,
}

impl Prepared {
    pub(crate) fn new(function: &Function, sizes: &[(&str, i64)]) -> Result<Prepared> {
        let program = function.program();
        let given: Vec<(String, i64)> = sizes.iter().map(|(name, value)| ((*name).to_string(), *value)).collect();
        let solved = sizes::solve(program, &given, &[]);
        let refuse = |error: CallError| Error::of_call(function.source(), error);
        let params = solved.map_err(refuse)?;
        let general = function.code_at(&params).map_err(refuse)?;
        sizes::check_index_arithmetic(program, function.schedule(), &general.kernel, &params).map_err(refuse)?;
        let declared = program.arrays.iter().filter(|array| array.role != Role::Local);
        let written = program.signature.iter().filter_map(|argument| match argument {
            program::ArgRef::Array(id) => Some(program.array(*id)),
            program::ArgRef::Scalar(_) => None,
        });
        if !declared.map(name).eq(written.map(name)) {
            return Err(Error::Bug { stage: "prepare", what: "arrays are not declared in their order".to_string() });
        }
        let code = function.specials().code_for(&params, &general);
        let plan = Plan::new(code.compiled()?, &params)
            .map_err(|error| refuse(sizes::too_large(program, function.schedule(), &params, error)))?;
        let is_settled = function.specials().are_settled();
        let (function, threads) = (function.clone(), function.team().threads);
        Ok(Prepared { function, params, code, plan, calls: 0, is_settled, threads, cancel: None })
    }

    /// At most so many threads work on calls from now on, the calling one included; none is taken as one.
    pub fn limit_threads(&mut self, limit: usize) -> &mut Prepared {
        self.threads = limit.clamp(1, self.function.team().threads.max(1));
        self
    }

    /// A token that ends calls from now on.
    pub fn cancel(&mut self, token: &Cancel) -> &mut Prepared {
        self.cancel = Some(token.clone());
        self
    }

    /// Runs the machine code: scalars and arrays each in the order of the signature, arrays row-major without gaps.
    pub fn call(&mut self, scalars: &[Value], arrays: &mut [Buffer<'_>]) -> Result<()> {
        let team = self.function.team();
        let run = cpu::Run {
            pool: team.pool.as_deref(),
            threads: self.threads,
            worth_sharing: team.worth_sharing,
            cancel: self.cancel.as_ref().map(Cancel::flag),
        };
        self.calls = self.calls.wrapping_add(1);
        // Looking at the clock takes as long as a small call does.
        let started = (!self.is_settled && self.calls.is_power_of_two()).then(Instant::now);
        let called = self.plan.call(self.code.compiled()?, scalars, arrays, &run);
        called.map_err(|error| Error::of_call(self.function.source(), CallError::Run(error)))?;
        started.map_or(Ok(()), |started| self.count(started.elapsed()))
    }

    /// Counts the calls since the last time as if all had taken as long as this one, and changes to code for these sizes if there is some.
    fn count(&mut self, time: Duration) -> Result<()> {
        let calls = (self.calls / 2).max(1);
        let time = time.saturating_mul(u32::try_from(calls).unwrap_or(u32::MAX));
        let (specials, general) = (self.function.specials(), self.function.code_at(&self.params)?);
        specials.count(&self.params, calls, time, &general);
        let code = specials.code_for(&self.params, &general);
        if !Arc::ptr_eq(&code, &self.code) {
            self.plan = Plan::new(code.compiled()?, &self.params).map_err(CallError::Run)?;
            self.code = code;
            self.is_settled = true;
        }
        Ok(())
    }
}

fn name(array: &Array) -> &str {
    &array.name
}
