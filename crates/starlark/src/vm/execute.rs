//! The loop that executes instructions.

use std::rc::Rc;

use ytterby_text::Str;

use super::bind::{bind, box_cells, fill_defaults, too_many};
use super::iter::Iter;
use crate::compile::{Capture, Code, Instr, Name, Reg, Shape};
use crate::error::fail;
use crate::eval::CallFrame;
use crate::host::{BinaryOp, CompareOp};
use crate::ops::{attr, binary, compare, equal, index, set_attr, set_index, slice, sum, unary};
use crate::program::OpValues;
use crate::value::{Dict, Function, Hidden, Internal, Method, Tuple};
use crate::{Args, Error, ErrorKind, Eval, Value};

/// Executes the innermost function until the frames are down to `floor`; gives what it returns.
pub(super) fn execute(eval: &mut Eval, stack: &mut Vec<Value>, floor: usize) -> Result<Value, Error> {
    'frame: loop {
        let Some(frame) = eval.frames.last() else { fail!("internal error: no function to execute") };
        let function = frame.function.clone();
        let base = frame.base as usize;
        let mut pc = frame.pc as usize;
        let code = &*function.code;
        let instrs = &code.instrs[..];
        let regs = &mut stack[base..base + code.registers];

        /// Notes where the function is, for messages and for the host.
        macro_rules! note {
            () => {
                if let Some(frame) = eval.frames.last_mut() {
                    frame.pc = pc as u32;
                }
            };
        }
        /// The value, or leaves with the error.
        macro_rules! check {
            ($result:expr) => {
                match $result {
                    Ok(value) => value,
                    Err(error) => {
                        note!();
                        return Err(error);
                    }
                }
            };
        }
        macro_rules! reg {
            ($reg:expr) => {
                regs[usize::from($reg)]
            };
        }
        /// Ends the function with a value.
        macro_rules! return_value {
            ($value:expr) => {{
                let value = $value;
                regs.iter_mut().for_each(|slot| slot.put(Value::UNSET));
                eval.frames.pop();
                if eval.frames.len() == floor {
                    return Ok(value);
                }
                stack[base - 1] = value;
                continue 'frame;
            }};
        }

        loop {
            let instr = instrs[pc];
            pc += 1;
            match instr {
                Instr::Const { dst, index } => reg!(dst).put(code.constants[index as usize].clone()),
                Instr::Int { dst, value } => reg!(dst).put(Value::Int(i64::from(value))),
                Instr::None { dst } => reg!(dst).put(Value::None),
                Instr::Bool { dst, value } => reg!(dst).put(Value::Bool(value)),
                Instr::Move { dst, src } => reg!(dst).put(reg!(src).clone()),
                Instr::Take { dst, src } => {
                    let value = reg!(src).take();
                    reg!(dst).put(value);
                }
                Instr::Clear { reg } => reg!(reg).put(Value::UNSET),
                Instr::CheckLocal { reg } => {
                    if reg!(reg).is_unset() {
                        check!(Err(unassigned("local", &code.locals[usize::from(reg)])));
                    }
                }
                Instr::CheckGlobal { index } => check!(check_global(&function, index)),
                Instr::Global { dst, index } => {
                    let value = function.module.globals.borrow()[index as usize].clone();
                    if value.is_unset() {
                        check!(check_global(&function, index));
                    }
                    reg!(dst).put(value);
                }
                Instr::SetGlobal { src, index } => {
                    let value = reg!(src).take();
                    let old = std::mem::replace(&mut function.module.globals.borrow_mut()[index as usize], value);
                    drop(old);
                }
                Instr::Predeclared { dst, index } => {
                    reg!(dst).put(function.module.predeclared[index as usize].clone());
                }
                Instr::Cell { dst, cell } => {
                    let content = reg!(cell).as_cell().and_then(|cell| cell.0.borrow().clone());
                    match content {
                        Some(value) => reg!(dst).put(value),
                        None => check!(Err(unassigned("local", &code.locals[usize::from(cell)]))),
                    }
                }
                Instr::SetCell { src, cell } => {
                    let value = reg!(src).take();
                    if let Some(cell) = reg!(cell).as_cell() {
                        let old = cell.0.replace(Some(value));
                        drop(old);
                    }
                }
                Instr::Free { dst, index } => {
                    let content = function.captured[usize::from(index)].0.borrow().clone();
                    match content {
                        Some(value) => reg!(dst).put(value),
                        None => check!(Err(unassigned("local", &free_name(&function, index)))),
                    }
                }

                Instr::Add { dst, x, y } => {
                    let sum = match (&reg!(x), &reg!(y)) {
                        (Value::Int(a), Value::Int(b)) => match a.checked_add(*b) {
                            Some(sum) => Value::Int(sum),
                            None => check!(binary(eval, BinaryOp::Add, &reg!(x), &reg!(y))),
                        },
                        (x, y) => check!(binary(eval, BinaryOp::Add, x, y)),
                    };
                    reg!(dst).put(sum);
                }
                Instr::AddInt { dst, x, y } => {
                    let sum = match &reg!(x) {
                        Value::Int(a) if a.checked_add(i64::from(y)).is_some() => Value::Int(a + i64::from(y)),
                        x => check!(binary(eval, BinaryOp::Add, x, &Value::Int(i64::from(y)))),
                    };
                    reg!(dst).put(sum);
                }
                Instr::Binary { op, dst, x, y } => {
                    let fast = match (&reg!(x), &reg!(y)) {
                        (Value::Int(x), Value::Int(y)) => int_operation(op, *x, *y),
                        _ => None,
                    };
                    let result = match fast {
                        Some(result) => Value::Int(result),
                        None => check!(binary(eval, op, &reg!(x), &reg!(y))),
                    };
                    reg!(dst).put(result);
                }
                Instr::BinaryInt { op, dst, x, y } => {
                    let y = i64::from(y);
                    let fast = match &reg!(x) {
                        Value::Int(x) => int_operation(op, *x, y),
                        _ => None,
                    };
                    let result = match fast {
                        Some(result) => Value::Int(result),
                        None => check!(binary(eval, op, &reg!(x), &Value::Int(y))),
                    };
                    reg!(dst).put(result);
                }
                Instr::AddAssign { x, y } => match (&reg!(x), &reg!(y)) {
                    (Value::Int(a), Value::Int(b)) if a.checked_add(*b).is_some() => reg!(x).put(Value::Int(a + b)),
                    _ => {
                        let left = reg!(x).take();
                        reg!(x).put(check!(add_in_place(eval, left, &reg!(y))));
                    }
                },
                Instr::AppendText { x, y } => match (&reg!(x), &reg!(y)) {
                    (Value::Int(a), Value::Int(b)) if a.checked_add(*b).is_some() => reg!(x).put(Value::Int(a + b)),
                    (Value::Str(_), Value::Str(_)) => {
                        let left = reg!(x).take();
                        reg!(x).put(check!(add_in_place(eval, left, &reg!(y))));
                    }
                    (left, right) => {
                        let sum = check!(binary(eval, BinaryOp::Add, left, right));
                        reg!(x).put(sum);
                    }
                },
                Instr::AddAssignGlobal { y, index } => {
                    let left = function.module.globals.borrow_mut()[index as usize].take();
                    let sum = check!(add_in_place(eval, left, &reg!(y)));
                    function.module.globals.borrow_mut()[index as usize] = sum;
                }
                Instr::Unary { op, dst, x } => reg!(dst).put(check!(unary(op, &reg!(x)))),
                Instr::Not { dst, x } => reg!(dst).put(Value::Bool(!reg!(x).truth())),
                Instr::Compare { op, dst, x, y } => {
                    let answer = check!(compare(op, &reg!(x), &reg!(y)));
                    reg!(dst).put(Value::Bool(answer));
                }
                Instr::CompareInt { op, dst, x, y } => {
                    let answer = check!(compare_int(op, &reg!(x), y));
                    reg!(dst).put(Value::Bool(answer));
                }

                Instr::Jump { to } => pc = to as usize,
                Instr::JumpIf { x, to } => {
                    if reg!(x).truth() {
                        pc = to as usize;
                    }
                }
                Instr::JumpIfNot { x, to } => {
                    if !reg!(x).truth() {
                        pc = to as usize;
                    }
                }
                Instr::CompareJump { op, x, y, by } => {
                    let holds = match (op, &reg!(x), &reg!(y)) {
                        (_, Value::Int(a), Value::Int(b)) => op.accepts(a.cmp(b)),
                        (CompareOp::Eq, x, y) => check!(equal(x, y)),
                        (_, x, y) => check!(compare(op, x, y)),
                    };
                    if !holds {
                        pc = jump_by(pc, by);
                    }
                }
                Instr::CompareIntJump { op, x, y, by } => {
                    if !check!(compare_int(op, &reg!(x), y)) {
                        pc = jump_by(pc, by);
                    }
                }

                Instr::List { dst, first, count } => {
                    check!(eval.charge(usize::from(count) * size_of::<Value>() + 64));
                    let items = taken(regs, first, count).collect();
                    reg!(dst).put(Value::list(items));
                }
                Instr::Tuple { dst, first, count } => {
                    check!(eval.charge(usize::from(count) * size_of::<Value>() + 64));
                    let items = Tuple::take(taken(regs, first, count));
                    reg!(dst).put(Value::Tuple(Rc::new(items)));
                }
                Instr::Dict { dst } => {
                    check!(eval.charge(128));
                    reg!(dst).put(Value::Dict(Rc::new(Dict::new())));
                }
                Instr::DictEntry { dict, first } => {
                    let (key, value) = (reg!(first).take(), reg!(first + 1).take());
                    check!(eval.charge(64));
                    if let Value::Dict(dict) = &reg!(dict) {
                        let twin = key.clone();
                        if check!(dict.insert(key, value)).is_some() {
                            check!(Err(Error::new(format!("duplicate key: {}", twin.repr()))));
                        }
                    }
                }
                Instr::DictAdd { dict, first } => {
                    let (key, value) = (reg!(first).take(), reg!(first + 1).take());
                    check!(eval.charge(64));
                    if let Value::Dict(dict) = &reg!(dict) {
                        check!(dict.insert(key, value));
                    }
                }
                Instr::ListPush { list, item } => {
                    let item = reg!(item).take();
                    check!(eval.charge(size_of::<Value>()));
                    if let Value::List(list) = &reg!(list) {
                        check!(list.push(item));
                    }
                }
                Instr::Unpack { src, first, count } => {
                    let src = reg!(src).take();
                    check!(unpack(&src, &mut regs[usize::from(first)..][..usize::from(count)]));
                }

                Instr::IterStart { dst, src } => match Iter::of(&reg!(src)) {
                    Some(iter) => reg!(dst).put(Value::iter(iter)),
                    None => {
                        let kind = reg!(src).type_name();
                        check!(Err(Error::new(format!("{kind} value is not iterable"))));
                    }
                },
                Instr::IterNext { iter, dst, by } => {
                    check!(eval.step());
                    match next_value(&mut reg!(iter)) {
                        Some(value) => reg!(dst).put(value),
                        None => pc = jump_by(pc, by),
                    }
                }
                Instr::IterNextFar { iter, dst } => {
                    check!(eval.step());
                    if let Some(value) = next_value(&mut reg!(iter)) {
                        reg!(dst).put(value);
                        pc += 1;
                    }
                }
                Instr::Step => check!(eval.step()),

                Instr::Attr { dst, x, name } => {
                    note!();
                    reg!(dst).put(attr(eval, &reg!(x), &code.names[usize::from(name)].name)?);
                }
                Instr::SetAttr { x, value, name } => {
                    let value = reg!(value).clone();
                    note!();
                    set_attr(&reg!(x), &code.names[usize::from(name)].name, value)?;
                }
                Instr::Index { dst, x, y } => {
                    let value = check!(index(&reg!(x), &reg!(y)));
                    reg!(dst).put(value);
                }
                Instr::SetIndex { x, y, value } => {
                    let (y, value) = (reg!(y).clone(), reg!(value).take());
                    check!(eval.charge(64));
                    check!(set_index(&reg!(x), y, value));
                }
                Instr::Slice { dst, first } => {
                    let [x, start, stop, step] = &regs[usize::from(first)..][..4] else { continue };
                    let result = check!(slice(x, start, stop, step));
                    check!(eval.charge(result.len().unwrap_or(0) * size_of::<Value>()));
                    reg!(dst).put(result);
                }

                Instr::Call { count, base: callee } => {
                    note!();
                    let first = usize::from(callee) + 1;
                    match &reg!(callee) {
                        Value::Function(_) => {
                            let Value::Function(next) = reg!(callee).take() else { continue };
                            let base = base + first;
                            enter(eval, stack, next, base, usize::from(count))?;
                            continue 'frame;
                        }
                        Value::Builtin(builtin) => {
                            let args = Args::of(&regs[first..first + usize::from(count)]);
                            let value = builtin.call(eval, args)?;
                            reg!(callee).put(value);
                        }
                        Value::Host(host) => {
                            let args = Args::of(&regs[first..first + usize::from(count)]);
                            let value = host.call(eval, args)?;
                            reg!(callee).put(value);
                        }
                        other => fail!("invalid call of non-function ({})", other.type_name()),
                    }
                }
                Instr::CallShape { base: callee, shape } => {
                    note!();
                    let first = usize::from(callee) + 1;
                    let shape = &code.shapes[usize::from(shape)];
                    let next = reg!(callee).take();
                    if let Value::Function(next) = next {
                        let base = base + first;
                        enter_with_shape(eval, stack, next, base, shape)?;
                        continue 'frame;
                    }
                    let (positional, named) = gather(&mut regs[first..], shape)?;
                    reg!(callee) = match &next {
                        Value::Builtin(builtin) => {
                            builtin.call(eval, Args { positional: &positional, named: &named })?
                        }
                        Value::Host(host) => host.call(eval, Args { positional: &positional, named: &named })?,
                        other => fail!("invalid call of non-function ({})", other.type_name()),
                    };
                }
                Instr::Method { dst, x, name } => {
                    let name = &code.names[usize::from(name)];
                    if method_of(&reg!(x), name).is_some() {
                        reg!(dst).put(Value::UNSET);
                    } else {
                        note!();
                        reg!(dst).put(attr(eval, &reg!(x), &name.name)?);
                    }
                }
                Instr::CallMethod { count, base: callee, x, name } => {
                    note!();
                    let first = usize::from(callee) + 1;
                    let args = Args::of(&regs[first..first + usize::from(count)]);
                    match &reg!(callee) {
                        Value::Internal(_) => {
                            let receiver = &reg!(x);
                            let Some(method) = method_of(receiver, &code.names[usize::from(name)]) else { continue };
                            let value = method(eval, receiver, args)?;
                            reg!(callee).put(value);
                        }
                        Value::Function(_) => {
                            let Value::Function(next) = reg!(callee).take() else { continue };
                            let base = base + first;
                            enter(eval, stack, next, base, usize::from(count))?;
                            continue 'frame;
                        }
                        Value::Builtin(builtin) => {
                            let value = builtin.call(eval, args)?;
                            reg!(callee).put(value);
                        }
                        Value::Host(host) => {
                            let value = host.call(eval, args)?;
                            reg!(callee).put(value);
                        }
                        other => fail!("invalid call of non-function ({})", other.type_name()),
                    }
                }
                Instr::Function { dst, index } => {
                    let made = make_function(&function, &code.functions[usize::from(index)], regs, dst);
                    reg!(dst).put(Value::Function(Rc::new(made)));
                }
                Instr::Return { x } => return_value!(reg!(x).take()),
                Instr::ReturnNone => return_value!(Value::None),
                Instr::Enter { dialect } => {
                    note!();
                    function.module.ops.enter(eval, dialect)?;
                }
                Instr::Leave { x } => {
                    note!();
                    let value = reg!(x).take();
                    return_value!(function.module.ops.leave(eval, Some(value))?)
                }
                Instr::LeaveNone => {
                    note!();
                    return_value!(function.module.ops.leave(eval, None)?)
                }
                Instr::Load { first, index } => {
                    note!();
                    load(eval, code, usize::from(index), &mut regs[usize::from(first)..])?;
                }

                Instr::Op { op } => {
                    note!();
                    function.module.ops.op(eval, op, OpValues::None)?;
                }
                Instr::OpValue { x, op } => {
                    note!();
                    let value = reg!(x).take();
                    function.module.ops.op(eval, op, OpValues::Value(value))?;
                }
                Instr::OpCall { base: first, op } => {
                    note!();
                    if let Instr::Shape { shape } = instrs[pc] {
                        let shape = &code.shapes[usize::from(shape)];
                        let (positional, named) = gather(&mut regs[usize::from(first)..], shape)?;
                        let args = Args { positional: &positional, named: &named };
                        function.module.ops.op(eval, op, OpValues::Args(args))?;
                    }
                }
                Instr::Shape { .. } => {}
            }
        }
    }
}

/// The instruction that a short jump of the one before `pc` goes to.
#[inline]
fn jump_by(pc: usize, by: i16) -> usize {
    (pc - 1).wrapping_add_signed(isize::from(by))
}

/// The common cases of operations on integers; `None` for the others.
#[inline]
fn int_operation(op: BinaryOp, x: i64, y: i64) -> Option<i64> {
    match op {
        BinaryOp::Add => x.checked_add(y),
        BinaryOp::Sub => x.checked_sub(y),
        BinaryOp::Mul => x.checked_mul(y),
        // With a positive divisor the two ways of rounding agree.
        BinaryOp::Mod if y > 0 => Some(x.rem_euclid(y)),
        BinaryOp::FloorDiv if y > 0 => Some(x.div_euclid(y)),
        BinaryOp::And => Some(x & y),
        BinaryOp::Or => Some(x | y),
        BinaryOp::Xor => Some(x ^ y),
        _ => None,
    }
}

#[inline]
fn compare_int(op: CompareOp, x: &Value, y: i16) -> Result<bool, Error> {
    match x {
        Value::Int(x) => Ok(op.accepts(x.cmp(&i64::from(y)))),
        x => compare(op, x, &Value::Int(i64::from(y))),
    }
}

#[inline]
fn taken(regs: &mut [Value], first: Reg, count: u16) -> impl ExactSizeIterator<Item = Value> + use<'_> {
    regs[usize::from(first)..][..usize::from(count)].iter_mut().map(Value::take)
}

#[inline]
fn next_value(iter: &mut Value) -> Option<Value> {
    match iter {
        Value::Internal(Internal(Hidden::Iter(iter))) => iter.next(),
        _ => None,
    }
}

/// The method of a value of a built-in type.
#[inline]
fn method_of(receiver: &Value, name: &Name) -> Option<Method> {
    match receiver {
        Value::Str(_) => name.string,
        Value::List(_) => name.list,
        Value::Dict(_) => name.dict,
        Value::Set(_) => name.set,
        _ => None,
    }
}

#[cold]
fn unassigned(kind: &str, name: &Str) -> Error {
    Error::new(format!("{kind} variable {name} referenced before assignment"))
}

fn check_global(function: &Function, index: u32) -> Result<(), Error> {
    let module = &function.module;
    if module.globals.borrow()[index as usize].is_unset() {
        return Err(unassigned("global", &module.toplevel.globals[index as usize]));
    }
    Ok(())
}

fn free_name(function: &Function, index: u16) -> Str {
    function.code.free_names.get(usize::from(index)).cloned().unwrap_or_default()
}

/// `x += y` where nobody needs the old `x`.
fn add_in_place(eval: &mut Eval, mut x: Value, y: &Value) -> Result<Value, Error> {
    match (&mut x, y) {
        (Value::Str(text), Value::Str(tail)) => {
            sum(text.as_bytes().len(), tail.as_bytes().len(), 1)?;
            eval.charge(tail.as_bytes().len())?;
            text.push(tail);
            Ok(x)
        }
        (Value::List(list), _) => {
            let Some(values) = Iter::of(y) else { return binary(eval, BinaryOp::Add, &x, y) };
            let values: Vec<Value> = values.collect();
            sum(list.len(), values.len(), size_of::<Value>())?;
            eval.charge(values.len() * size_of::<Value>())?;
            list.change("apply += to", |items| items.extend(values))?;
            Ok(x)
        }
        _ => binary(eval, BinaryOp::Add, &x, y),
    }
}

/// Spreads the values of a sequence over registers.
fn unpack(src: &Value, slots: &mut [Value]) -> Result<(), Error> {
    if let Value::Tuple(items) = src
        && items.len() == slots.len()
    {
        slots.iter_mut().zip(items.iter()).for_each(|(slot, item)| *slot = item.clone());
        return Ok(());
    }
    let wanted = slots.len();
    let Some(mut values) = Iter::of(src) else { fail!("got {} in sequence assignment", src.type_name()) };
    for (got, slot) in slots.iter_mut().enumerate() {
        match values.next() {
            Some(value) => *slot = value,
            None => fail!("too few values to unpack (got {got}, want {wanted})"),
        }
    }
    if values.next().is_some() {
        // The length may be unknown.
        let got = src.len().map_or(-1, |len| len as i64);
        fail!("too many values to unpack (got {got}, want {wanted})");
    }
    Ok(())
}

/// Begins a call whose arguments stand by position in registers from `base` on.
#[inline]
fn enter(
    eval: &mut Eval,
    stack: &mut Vec<Value>,
    function: Rc<Function>,
    base: usize,
    count: usize,
) -> Result<(), Error> {
    begin(eval, stack, &function, base)?;
    let code = &*function.code;
    let params = &code.params;
    if params.varargs || params.kwargs {
        let positional: Vec<Value> = stack[base..base + count].iter_mut().map(Value::take).collect();
        clear_locals(code, stack, base, 0);
        eval.frames.push(CallFrame { function: function.clone(), pc: 0, base: base as u32 });
        bind(&function, &mut stack[base..], positional.into_iter(), std::iter::empty())?;
    } else {
        clear_locals(code, stack, base, count);
        if count > params.positional {
            let error = match params.names.len() {
                0 => Error::new(format!("function {} accepts no arguments ({count} given)", code.name)),
                _ => too_many(&function, count),
            };
            eval.frames.push(CallFrame { function, pc: 0, base: base as u32 });
            return Err(error);
        }
        eval.frames.push(CallFrame { function: function.clone(), pc: 0, base: base as u32 });
        if count < params.names.len() {
            fill_defaults(&function, &mut stack[base..], count)?;
        }
    }
    if !code.cells.is_empty() {
        box_cells(code, &mut stack[base..]);
    }
    Ok(())
}

/// Begins a call whose arguments stand in registers from `base` on as `shape` says.
fn enter_with_shape(
    eval: &mut Eval,
    stack: &mut Vec<Value>,
    function: Rc<Function>,
    base: usize,
    shape: &Shape,
) -> Result<(), Error> {
    begin(eval, stack, &function, base)?;
    let code = &*function.code;
    let params = &code.params;
    let simple = !(params.varargs || params.kwargs || shape.star || shape.star_star);
    if simple && shape.positional <= params.positional {
        let from = base + shape.positional;
        let mut named: Vec<Value> = stack[from..from + shape.names.len()].iter_mut().map(Value::take).collect();
        clear_locals(code, stack, base, shape.positional);
        eval.frames.push(CallFrame { function: function.clone(), pc: 0, base: base as u32 });
        let slots = &mut stack[base..];
        for (name, value) in shape.names.iter().zip(named.drain(..)) {
            let Some(at) = params.names.iter().position(|param| param == name) else {
                fail!("function {} got an unexpected keyword argument {}", code.name, crate::args::quoted(name))
            };
            if !slots[at].is_unset() {
                fail!("function {} got multiple values for parameter {}", code.name, crate::args::quoted(name));
            }
            slots[at] = value;
        }
        fill_defaults(&function, slots, shape.positional)?;
    } else {
        let (positional, named) = gather(&mut stack[base..], shape)?;
        clear_locals(code, stack, base, 0);
        eval.frames.push(CallFrame { function: function.clone(), pc: 0, base: base as u32 });
        let named = named.iter().map(|(name, value)| (name, value.clone()));
        bind(&function, &mut stack[base..], positional.into_iter(), named)?;
    }
    if !code.cells.is_empty() {
        box_cells(code, &mut stack[base..]);
    }
    Ok(())
}

/// Checks the limits and makes room for a call.
#[inline]
fn begin(eval: &mut Eval, stack: &mut Vec<Value>, function: &Function, base: usize) -> Result<(), Error> {
    eval.check_depth()?;
    eval.step()?;
    let wanted = base + function.code.registers;
    if stack.len() < wanted {
        // Ahead of need, so that deep recursion does not grow the vector at each call.
        stack.resize(wanted + wanted / 2 + 64, Value::UNSET);
    }
    Ok(())
}

/// Lets go of what temporaries of the caller left in the variables from `from` on.
#[inline]
fn clear_locals(code: &Code, stack: &mut [Value], base: usize, from: usize) {
    let end = code.locals.len().max(from);
    stack[base + from..base + end].iter_mut().for_each(|slot| slot.put(Value::UNSET));
}

/// The arguments of a call that stand in registers as `shape` says.
#[expect(clippy::type_complexity)]
fn gather(regs: &mut [Value], shape: &Shape) -> Result<(Vec<Value>, Vec<(Str, Value)>), Error> {
    let mut values = regs.iter_mut().map(Value::take);
    let mut next = || values.next().unwrap_or(Value::None);
    let mut positional: Vec<Value> = (0..shape.positional).map(|_| next()).collect();
    let mut named: Vec<(Str, Value)> = shape.names.iter().map(|name| (name.clone(), next())).collect();
    let star = shape.star.then(&mut next);
    let star_star = shape.star_star.then(&mut next);
    if let Some(mapping) = star_star {
        let items = match &mapping {
            Value::Dict(dict) => Some(dict.items()),
            Value::Host(host) => host.mapping().and_then(|mapping| mapping.items()),
            _ => None,
        };
        let Some(items) = items else { fail!("argument after ** must be a mapping, not {}", mapping.type_name()) };
        for (key, value) in items {
            match key {
                Value::Str(key) => named.push((key, value)),
                other => fail!("keywords must be strings, not {}", other.type_name()),
            }
        }
    }
    if let Some(iterable) = star {
        match Iter::of(&iterable) {
            Some(values) => positional.extend(values),
            None => fail!("argument after * must be iterable, not {}", iterable.type_name()),
        }
    }
    Ok((positional, named))
}

fn make_function(around: &Function, code: &Rc<Code>, regs: &mut [Value], first: Reg) -> Function {
    let defaults = regs[usize::from(first)..][..code.params.default_count].iter_mut().map(Value::take).collect();
    let captured = code.captures.iter().map(|capture| match capture {
        Capture::Register(reg) => regs[usize::from(*reg)].as_cell().cloned().unwrap_or_default(),
        Capture::Captured(index) => around.captured[usize::from(*index)].clone(),
    });
    Function {
        captured: captured.collect(),
        code: code.clone(),
        module: around.module.clone(),
        defaults,
        frozen: false.into(),
    }
}

fn load(eval: &mut Eval, code: &Code, index: usize, slots: &mut [Value]) -> Result<(), Error> {
    let load = &code.loads[index];
    let exports = match eval.load(&load.module, code.file) {
        Ok(exports) => exports,
        Err(error) if error.kind() == ErrorKind::Eval => {
            return Err(error.in_context(format_args!("cannot load {}", load.module)));
        }
        Err(error) => return Err(error),
    };
    for (slot, name) in slots.iter_mut().zip(&load.names) {
        match exports.get(name) {
            Some(value) => *slot = value.clone(),
            None => {
                let hint = exports.nearest(name).map(|meant| format!(" (did you mean {meant}?)"));
                fail!("load: name {name} not found in module {}{}", load.module, hint.unwrap_or_default());
            }
        }
    }
    Ok(())
}
