//! The state of an evaluation: limits, the call stack, and hooks of the host.
//!
//! One [`Eval`] runs any number of programs and calls, sequentially or nested: a host function gets
//! it and can call back. It does not belong to a module.

use std::any::Any;
use std::rc::{Rc, Weak};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use ytterby_diag::{FileId, Pos};
use ytterby_text::{Str, budget, profile};

use crate::error::fail;
use crate::program::{Exports, Module};
use crate::value::Function;
use crate::{Args, Dialect, Error, Limit, Problem, StackFrame, StatementCoverage, Value};

/// Limits on resources. Reaching one is a [`Problem::Limit`].
#[derive(Clone, Debug)]
pub struct EvalLimits {
    /// Loop iterations and function calls.
    pub steps: Option<u64>,
    /// Nested calls.
    pub depth: usize,
    /// Bytes that programs may allocate, estimated, and counted even after they are freed.
    pub memory: Option<u64>,
}

impl Default for EvalLimits {
    fn default() -> EvalLimits {
        EvalLimits { steps: None, depth: 200_000, memory: None }
    }
}

/// Limits of one call; see [`Eval::call_within`].
#[derive(Clone, Copy, Debug)]
pub struct CallLimits {
    /// Like [`EvalLimits::steps`].
    pub steps: u64,
    /// Like [`EvalLimits::memory`].
    pub memory: u64,
}

/// Maximum nesting of host functions that call back. Each uses native stack.
const MAX_NATIVE_DEPTH: usize = 10_000;

/// Steps between two checks of the cancellation flag.
const STEPS_PER_CHECK: u32 = 4096;

/// Bytes between two charges to the run's budget.
const BYTES_PER_CHECK: u64 = 64 << 10;

/// A pass over fewer bytes is not charged separately.
const SHORT_PASS: usize = 2048;

/// Strings up to this length are copied from the reused buffer.
const SPARE_TEXT: usize = 4096;

type LoadFn = dyn Fn(&mut Eval, &Str, FileId) -> Result<Rc<Exports>, Error>;
type PrintFn = dyn Fn(&[u8]);

/// The state of an evaluation.
pub struct Eval {
    pub(crate) frames: Vec<CallFrame>,
    pub(crate) spare_stacks: Vec<Vec<Value>>,
    /// See [`Eval::text`].
    spare_text: Vec<u8>,
    /// Steps before the next check.
    pub(crate) fuel: u32,
    fuel_given: u32,
    steps_used: u64,
    memory_used: u64,
    /// The part that was charged to the run's budget.
    memory_charged: u64,
    /// The limits are checked again when memory reaches this number.
    memory_check: u64,
    native_depth: usize,
    limits: EvalLimits,
    cancel: Option<Arc<AtomicBool>>,
    print: Option<Rc<PrintFn>>,
    load: Option<Rc<LoadFn>>,
    data: Option<Rc<dyn Any>>,
    arena: Rc<Arena>,
    dialect: Dialect,
    coverage: Option<Arc<StatementCoverage>>,
}

/// An active call. It consists of two machine words, so that it is passed in processor registers:
/// with three fields it would be written to memory and copied by loads that are wider than the
/// stores before them, which the processor delays by a dozen cycles.
pub(crate) struct CallFrame {
    pub(crate) function: Rc<Function>,
    /// The next instruction, in the lower half, and the first register.
    place: u64,
}

impl CallFrame {
    #[inline(always)]
    pub(crate) fn new(function: Rc<Function>, base: usize) -> CallFrame {
        CallFrame { function, place: (base as u64) << 32 }
    }

    /// The next instruction; the one before it is running.
    #[inline(always)]
    pub(crate) fn pc(&self) -> u32 {
        self.place as u32
    }

    #[inline(always)]
    pub(crate) fn set_pc(&mut self, pc: u32) {
        self.place = self.place >> 32 << 32 | u64::from(pc);
    }

    #[inline(always)]
    pub(crate) fn base(&self) -> usize {
        (self.place >> 32) as usize
    }

    pub(crate) fn frame(&self) -> StackFrame {
        let code = &self.function.code;
        StackFrame { name: code.name.clone(), pos: code.position(self.pc()) }
    }
}

/// The modules of a family of evaluations. Their globals and functions refer to each other in
/// cycles, so the globals are cleared when the last evaluation is dropped.
#[derive(Default)]
struct Arena(std::cell::RefCell<Vec<Weak<Module>>>);

impl Drop for Arena {
    fn drop(&mut self) {
        for module in self.0.get_mut().drain(..) {
            if let Some(module) = module.upgrade() {
                module.clear();
            }
        }
    }
}

impl Default for Eval {
    fn default() -> Eval {
        Eval::new()
    }
}

impl Eval {
    /// An evaluation with the default limits and without hooks.
    pub fn new() -> Eval {
        Eval {
            frames: Vec::new(),
            spare_stacks: Vec::new(),
            spare_text: Vec::new(),
            fuel: STEPS_PER_CHECK,
            fuel_given: STEPS_PER_CHECK,
            steps_used: 0,
            memory_used: 0,
            memory_charged: 0,
            memory_check: BYTES_PER_CHECK,
            native_depth: 0,
            limits: EvalLimits::default(),
            cancel: None,
            print: None,
            load: None,
            data: None,
            arena: Rc::default(),
            dialect: Dialect::Ytt,
            coverage: None,
        }
    }

    /// Another evaluation of the same family, with the same limits, flag and print hook: functions
    /// of its modules can be called while any evaluation of the family exists.
    pub fn sibling(&self) -> Eval {
        let mut eval = Eval::new();
        eval.set_limits(self.limits.clone());
        eval.cancel.clone_from(&self.cancel);
        eval.dialect = self.dialect;
        eval.coverage.clone_from(&self.coverage);
        eval.print.clone_from(&self.print);
        eval.arena.clone_from(&self.arena);
        eval
    }

    /// Sets the limits.
    pub fn set_limits(&mut self, limits: EvalLimits) {
        self.limits = limits;
        self.settle_fuel();
        self.settle_memory();
    }

    /// Records which statements run of programs that were compiled with the same record.
    pub fn set_coverage(&mut self, coverage: Option<Arc<StatementCoverage>>) {
        self.coverage = coverage;
    }

    /// Records that a statement runs.
    #[cold]
    pub(crate) fn reach(&mut self, pos: Pos) {
        if let Some(coverage) = &self.coverage {
            coverage.reach(pos);
        }
        if profile::is_on() {
            self.settle(0);
            profile::line((pos.file.0, pos.offset));
        }
    }

    /// Records in the profile that the innermost function begins.
    #[cold]
    pub(crate) fn profile_function(&mut self) {
        // The step of the call belongs to the function.
        self.settle(1);
        if let Some(frame) = self.frames.last() {
            let code = &frame.function.code;
            profile::enter(&code.name, (code.pos.file.0, code.pos.offset), self.frames.len());
        }
    }

    /// Records in the profile that the innermost function ends.
    #[cold]
    pub(crate) fn profile_return(&mut self) {
        self.settle(0);
        profile::leave();
    }

    /// Charges the steps and bytes so far to the run's budget, except the last `kept` steps, for an
    /// exact profile. If this reaches a limit, the next regular check reports it.
    fn settle(&mut self, kept: u32) {
        let used = (self.fuel_given - self.fuel).saturating_sub(kept);
        self.fuel_given -= used;
        self.steps_used += u64::from(used);
        let _ = budget::steps(u64::from(used));
        let new = self.memory_used - self.memory_charged;
        self.memory_charged = self.memory_used;
        let _ = budget::memory(usize::try_from(new).unwrap_or(usize::MAX));
    }

    /// Sets which operators and methods values have; [`Dialect::Ytt`] by default.
    pub fn set_dialect(&mut self, dialect: Dialect) {
        self.dialect = dialect;
    }

    /// Which operators and methods values have.
    pub fn dialect(&self) -> Dialect {
        self.dialect
    }

    /// The limits.
    pub fn limits(&self) -> &EvalLimits {
        &self.limits
    }

    /// Sets a flag that another thread may set to stop the evaluation.
    pub fn set_cancel(&mut self, flag: Arc<AtomicBool>) {
        self.cancel = Some(flag);
    }

    /// Sets the output of `print`: it gets each line without its line feed.
    pub fn set_print(&mut self, print: impl Fn(&[u8]) + 'static) {
        self.print = Some(Rc::new(print));
    }

    /// Sets the function that `load` calls, with the name of the module and the file of the
    /// statement. Results are not cached: loading a module twice calls it twice.
    pub fn set_load(&mut self, load: impl Fn(&mut Eval, &Str, FileId) -> Result<Rc<Exports>, Error> + 'static) {
        self.load = Some(Rc::new(load));
    }

    /// Stores data for host functions.
    pub fn set_data(&mut self, data: Rc<dyn Any>) -> Option<Rc<dyn Any>> {
        self.data.replace(data)
    }

    /// The data from [`Eval::set_data`], if it is a `T`.
    pub fn data<T: 'static>(&self) -> Option<Rc<T>> {
        self.data.clone()?.downcast().ok()
    }

    /// Calls a function, or any other callable value.
    ///
    /// # Errors
    /// If the value cannot be called or the call fails.
    pub fn call(&mut self, callee: &Value, positional: &[Value], named: &[(Str, Value)]) -> Result<Value, Error> {
        let args = Args { positional, named };
        match callee {
            Value::Function(function) => crate::vm::call(self, function.clone(), args),
            Value::Builtin(builtin) => self.native(|eval| builtin.call(eval, args)),
            Value::Host(host) => self.native(|eval| host.call(eval, args)),
            other => fail!(Type, "invalid call of non-function ({})", other.type_name()),
        }
    }

    /// Calls a function with its own limits, in addition to those of the whole evaluation.
    ///
    /// # Errors
    /// Those of [`Eval::call`], and a [`Problem::Limit`] with the limit of this call.
    pub fn call_within(&mut self, budget: CallLimits, callee: &Value, positional: &[Value]) -> Result<Value, Error> {
        let whole = (self.limits.steps, self.limits.memory);
        let last_step = self.steps().saturating_add(budget.steps);
        let last_byte = self.memory_used.saturating_add(budget.memory);
        self.limits.steps = Some(whole.0.map_or(last_step, |whole| whole.min(last_step)));
        self.limits.memory = Some(whole.1.map_or(last_byte, |whole| whole.min(last_byte)));
        self.settle_fuel();
        self.settle_memory();
        let mut result = self.call(callee, positional, &[]);
        (self.limits.steps, self.limits.memory) = whole;
        self.settle_fuel();
        self.settle_memory();
        if let Err(error) = &mut result
            && let Problem::Limit(_) = error.problem()
            && !budget::is_exceeded()
        {
            if self.steps_used >= last_step {
                error.set_message(step_limit(budget.steps));
            } else if self.memory_used > last_byte {
                error.set_message(memory_limit(budget.memory));
            }
        }
        result
    }

    /// The active calls, innermost first. For a host function, the first is its caller.
    pub fn frames(&self) -> impl Iterator<Item = StackFrame> + '_ {
        self.frames.iter().rev().map(CallFrame::frame)
    }

    /// The position of the innermost function of a program: for a host function, the position of
    /// the call.
    pub fn position(&self) -> Pos {
        self.frames.last().map_or(Pos::UNKNOWN, |frame| frame.frame().pos)
    }

    /// Writes a line as `print` does.
    pub fn print(&mut self, line: &[u8]) {
        if let Some(print) = self.print.clone() {
            print(line);
        }
    }

    pub(crate) fn load(&mut self, module: &Str, from: FileId) -> Result<Rc<Exports>, Error> {
        match self.load.clone() {
            Some(load) => self.native(|eval| load(eval, module, from)),
            None => fail!("load not implemented by this application"),
        }
    }

    pub(crate) fn adopt(&mut self, module: &Rc<Module>) {
        self.arena.0.borrow_mut().push(Rc::downgrade(module));
    }

    /// Runs a native recursion, with enough stack and limited depth.
    pub(crate) fn native<T>(&mut self, run: impl FnOnce(&mut Eval) -> Result<T, Error>) -> Result<T, Error> {
        if self.native_depth >= MAX_NATIVE_DEPTH {
            let what = "nested calls through built-in functions";
            return Err(exceeded(Limit::Depth, format!("call depth limit exceeded ({MAX_NATIVE_DEPTH} {what})")));
        }
        self.native_depth += 1;
        let result = stacker::maybe_grow(256 << 10, 4 << 20, || run(self));
        self.native_depth -= 1;
        result
    }

    /// A string that is written piece by piece, into a reused buffer: short strings need no
    /// allocation, which saves about 100 of the 900 instructions of `"%d-%s" % (x, y)`.
    pub(crate) fn text(
        &mut self,
        write: impl FnOnce(&mut Eval, &mut Vec<u8>) -> Result<(), Error>,
    ) -> Result<Value, Error> {
        let mut out = std::mem::take(&mut self.spare_text);
        out.clear();
        let written = write(self, &mut out);
        let text = if out.len() > SPARE_TEXT { Str::from(std::mem::take(&mut out)) } else { Str::new(&out) };
        self.spare_text = out;
        written.map(|()| Value::Str(text))
    }

    /// Begins a call.
    #[inline]
    pub(crate) fn push_frame(&mut self, function: Rc<Function>, base: usize) {
        self.frames.push(CallFrame::new(function, base));
    }

    pub(crate) fn check_depth(&self) -> Result<(), Error> {
        if self.frames.len() < self.limits.depth {
            return Ok(());
        }
        Err(exceeded_depth(self.limits.depth))
    }

    /// Charges memory before it is allocated.
    ///
    /// # Errors
    /// If the limit is reached.
    #[inline]
    pub fn charge(&mut self, bytes: usize) -> Result<(), Error> {
        self.memory_used = self.memory_used.saturating_add(bytes as u64);
        if self.memory_used > self.memory_check { self.check_memory() } else { Ok(()) }
    }

    #[cold]
    #[inline(never)]
    fn check_memory(&mut self) -> Result<(), Error> {
        if let Some(limit) = self.limits.memory
            && self.memory_used > limit
        {
            return Err(exceeded_memory(limit));
        }
        let new = self.memory_used - self.memory_charged;
        self.settle_memory();
        self.memory_charged = self.memory_used;
        let charged = budget::text(usize::try_from(new).unwrap_or(usize::MAX));
        self.note_place();
        Ok(charged?)
    }

    fn settle_memory(&mut self) {
        let next = self.memory_used.saturating_add(BYTES_PER_CHECK);
        self.memory_check = self.limits.memory.map_or(next, |limit| limit.min(next));
    }

    /// Charges a pass over bytes, unless they are few.
    ///
    /// # Errors
    /// If the time limit is reached.
    #[inline]
    pub(crate) fn pass(bytes: usize) -> Result<(), Error> {
        if bytes > SHORT_PASS { Ok(budget::scan(bytes)?) } else { Ok(()) }
    }

    /// Counts one step.
    #[inline]
    pub(crate) fn step(&mut self) -> Result<(), Error> {
        if self.is_fuel_used() { self.refuel() } else { Ok(()) }
    }

    /// Counts one step; returns true if [`Eval::refuel`] is due.
    #[inline]
    pub(crate) fn is_fuel_used(&mut self) -> bool {
        self.fuel -= 1;
        self.fuel == 0
    }

    /// Checks all limits, including those of the run. The innermost frame must have its current
    /// position.
    #[cold]
    #[inline(never)]
    pub(crate) fn refuel(&mut self) -> Result<(), Error> {
        self.settle_fuel();
        self.note_place();
        budget::check()?;
        if self.cancel.as_ref().is_some_and(|flag| flag.load(Ordering::Relaxed)) {
            return Err(Error::of(Problem::Cancelled, "evaluation was cancelled"));
        }
        match self.limits.steps {
            Some(limit) if self.steps_used >= limit => Err(exceeded(Limit::Steps, step_limit(limit))),
            _ => Ok(()),
        }
    }

    /// Attributes the time since the last call to the current line.
    pub(crate) fn note_place(&self) {
        let pos = self.position();
        if pos.is_known() {
            budget::at(pos.file.0, pos.offset);
        }
    }

    fn settle_fuel(&mut self) {
        let used = u64::from(self.fuel_given - self.fuel);
        self.steps_used += used;
        // If this reaches a limit of the run, the next charge reports it.
        let _ = budget::steps(used);
        let rest = self.limits.steps.map_or(u64::MAX, |limit| limit.saturating_sub(self.steps_used));
        let rest = rest.min(budget::steps_left());
        self.fuel_given = rest.clamp(1, u64::from(STEPS_PER_CHECK)) as u32;
        self.fuel = self.fuel_given;
    }

    /// Steps counted so far.
    pub fn steps(&self) -> u64 {
        self.steps_used + u64::from(self.fuel_given - self.fuel)
    }
}

impl Drop for Eval {
    fn drop(&mut self) {
        self.settle_fuel();
    }
}

// Outlined from the checks, which run for every call and every string.
#[cold]
#[inline(never)]
fn exceeded_depth(frames: usize) -> Error {
    exceeded(Limit::Depth, format!("call depth limit exceeded ({frames} frames)"))
}

#[cold]
#[inline(never)]
fn exceeded_memory(bytes: u64) -> Error {
    exceeded(Limit::Memory, memory_limit(bytes))
}

#[cold]
#[inline(never)]
fn exceeded(limit: Limit, message: String) -> Error {
    Error::of(Problem::Limit(limit), message)
}

fn step_limit(steps: u64) -> String {
    format!("step limit exceeded ({steps} steps)")
}

fn memory_limit(bytes: u64) -> String {
    format!("memory limit exceeded ({bytes} bytes)")
}
