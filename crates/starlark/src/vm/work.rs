//! Instructions that take more than a few processor instructions.
//!
//! None of these functions is inlined into the loop of [`super::execute`], which could then not
//! keep its state in processor registers. They write their result to a register of the program, so
//! that their own result fits into a pointer.

use std::rc::Rc;

use ytterby_diag::Pos;
use ytterby_text::Str;

use super::call::gather;
use super::iter::Iter;
use crate::compile::{CallShape, Capture, Instr, LinkedCode, Name, Reg};
use crate::error::fail;
use crate::host::{BinaryOp, CompareOp, UnaryOp};
use crate::ops::{self, sum};
use crate::program::OpValues;
use crate::value::{Dict, Function, Method, Tuple};
use crate::{Args, Error, Eval, Exports, Problem, Value};

/// Success or failure, as small as a pointer.
pub(super) type Done = Result<(), Error>;

fn at(reg: Reg) -> usize {
    usize::from(reg)
}

/// `dst = value`
#[inline(never)]
pub(super) fn copy(dst: &mut Value, value: &Value) {
    dst.put_copy(value);
}

#[inline(never)]
pub(super) fn copy_register(regs: &mut [Value], dst: Reg, src: Reg) {
    if let Ok([dst, src]) = regs.get_disjoint_mut([at(dst), at(src)]) {
        dst.put_copy(src);
    }
}

#[inline(never)]
pub(super) fn take_register(regs: &mut [Value], dst: Reg, src: Reg) {
    if let Ok([dst, src]) = regs.get_disjoint_mut([at(dst), at(src)]) {
        dst.put_moved(src);
    }
}

/// Clears registers.
pub(super) fn release(regs: &mut [Value]) {
    for slot in regs {
        match slot {
            // Two comparisons for the most frequent cases.
            Value::Int(_) | Value::Unset(_) => {}
            slot if slot.owns_nothing() => {}
            slot => *slot = Value::UNSET,
        }
    }
}

#[cold]
pub(super) fn unassigned_local(code: &LinkedCode, reg: Reg) -> Error {
    unassigned("local", &code.locals[at(reg)])
}

#[cold]
fn unassigned(kind: &str, name: &Str) -> Error {
    Error::of(Problem::Unset, format!("{kind} variable {name} referenced before assignment"))
}

#[inline(never)]
pub(super) fn check_global(function: &Function, index: u32) -> Done {
    let module = &function.module;
    if module.globals.borrow()[index as usize].is_unset() {
        return Err(unassigned("global", &module.toplevel.globals[index as usize]));
    }
    Ok(())
}

#[inline(never)]
pub(super) fn global(function: &Function, index: u32, dst: &mut Value) -> Done {
    match &function.module.globals.borrow()[index as usize] {
        // Most are functions.
        Value::Function(function) => dst.put(Value::Function(function.clone())),
        Value::Unset(_) => return check_global(function, index),
        value => dst.put_copy(value),
    }
    Ok(())
}

#[inline(never)]
pub(super) fn set_global(function: &Function, index: u32, value: Value) {
    // The old value may access the globals when it is dropped.
    let old = std::mem::replace(&mut function.module.globals.borrow_mut()[index as usize], value);
    drop(old);
}

#[inline(never)]
pub(super) fn cell(code: &LinkedCode, regs: &mut [Value], dst: Reg, cell: Reg) -> Done {
    let content = regs[at(cell)].as_cell().and_then(|cell| cell.0.borrow().clone());
    let Some(value) = content else { return Err(unassigned_local(code, cell)) };
    regs[at(dst)].put(value);
    Ok(())
}

#[inline(never)]
pub(super) fn set_cell(regs: &mut [Value], src: Reg, cell: Reg) {
    let value = regs[at(src)].take();
    if let Some(cell) = regs[at(cell)].as_cell() {
        let old = cell.0.replace(Some(value));
        drop(old);
    }
}

#[inline(never)]
pub(super) fn free(function: &Function, index: u16, dst: &mut Value) -> Done {
    let content = function.captured[usize::from(index)].0.borrow().clone();
    let Some(value) = content else {
        let name = function.code.free_names.get(usize::from(index)).cloned().unwrap_or_default();
        return Err(unassigned("local", &name));
    };
    dst.put(value);
    Ok(())
}

#[inline(never)]
pub(super) fn binary(
    eval: &mut Eval,
    code: &LinkedCode,
    regs: &mut [Value],
    op: BinaryOp,
    dst: Reg,
    x: Reg,
    y: Reg,
) -> Done {
    let (x, y) = (code.operand(regs, x), code.operand(regs, y));
    if let (BinaryOp::Add, Value::Str(a), Value::Str(b)) = (op, x, y) {
        if let (Some(a), Some(b)) = (a.tiny(), b.tiny())
            && let Some(text) = a.concat(b)
        {
            eval.charge(text.len())?;
            regs[at(dst)].put_tiny(text);
            return Ok(());
        }
        if let Some(text) = Str::concat_short(a, b) {
            eval.charge(text.as_bytes().len())?;
            regs[at(dst)].put(Value::Str(text));
            return Ok(());
        }
    }
    if let Some(result) = float_operation(op, x, y) {
        regs[at(dst)].put_float(result);
        return Ok(());
    }
    let result = ops::binary(eval, op, x, y)?;
    regs[at(dst)].put(result);
    Ok(())
}

/// The common operations with a float result; `None` for the others.
#[inline(always)]
fn float_operation(op: BinaryOp, x: &Value, y: &Value) -> Option<f64> {
    let (x, y) = match (x, y) {
        (Value::Float(x), Value::Float(y)) => (*x, *y),
        (Value::Float(x), Value::Int(y)) => (*x, *y as f64),
        (Value::Int(x), Value::Float(y)) => (*x as f64, *y),
        (Value::Int(x), Value::Int(y)) if op == BinaryOp::Div => (*x as f64, *y as f64),
        _ => return None,
    };
    match op {
        BinaryOp::Add => Some(x + y),
        BinaryOp::Sub => Some(x - y),
        BinaryOp::Mul => Some(x * y),
        BinaryOp::Div if y != 0.0 => Some(x / y),
        _ => None,
    }
}

#[inline(never)]
pub(super) fn binary_int(eval: &mut Eval, regs: &mut [Value], op: BinaryOp, dst: Reg, x: Reg, y: i16) -> Done {
    let (x, y) = (&regs[at(x)], &Value::Int(i64::from(y)));
    if let Some(result) = float_operation(op, x, y) {
        regs[at(dst)].put_float(result);
        return Ok(());
    }
    let result = ops::binary(eval, op, x, y)?;
    regs[at(dst)].put(result);
    Ok(())
}

/// `x += y`
#[inline(never)]
pub(super) fn add_assign(eval: &mut Eval, code: &LinkedCode, regs: &mut [Value], x: Reg, y: Reg) -> Done {
    if let Some(sum) = float_operation(BinaryOp::Add, &regs[at(x)], code.operand(regs, y)) {
        regs[at(x)].put_float(sum);
        return Ok(());
    }
    if let Some((Value::Str(text), Value::Str(tail))) = target_and_operand(code, regs, x, y) {
        return append_to(eval, text, tail);
    }
    let left = regs[at(x)].take();
    let sum = add_in_place(eval, left, code.operand(regs, y))?;
    regs[at(x)].put(sum);
    Ok(())
}

/// The register to change, and the operand; `None` if they are the same.
#[inline(always)]
pub(super) fn target_and_operand<'a>(
    code: &'a LinkedCode,
    regs: &'a mut [Value],
    x: Reg,
    y: Reg,
) -> Option<(&'a mut Value, &'a Value)> {
    if at(y) >= regs.len() {
        return Some((&mut regs[at(x)], code.operand(&[], y)));
    }
    let [x, y] = regs.get_disjoint_mut([at(x), at(y)]).ok()?;
    Some((x, y))
}

/// Appends to a string in place.
#[inline(always)]
fn append_to(eval: &mut Eval, text: &mut Str, tail: &Str) -> Done {
    sum(text.as_bytes().len(), tail.as_bytes().len(), 1)?;
    eval.charge(tail.as_bytes().len())?;
    text.push(tail);
    Ok(())
}

/// `x = x + y`
#[inline(never)]
pub(super) fn append_text(eval: &mut Eval, code: &LinkedCode, regs: &mut [Value], x: Reg, y: Reg) -> Done {
    match (&regs[at(x)], code.operand(regs, y)) {
        (Value::Str(_), Value::Str(_)) => add_assign(eval, code, regs, x, y),
        _ => binary(eval, code, regs, BinaryOp::Add, x, x, y),
    }
}

#[inline(never)]
pub(super) fn add_assign_global(eval: &mut Eval, function: &Function, index: u32, y: &Value) -> Done {
    let left = function.module.globals.borrow_mut()[index as usize].take();
    let sum = add_in_place(eval, left, y)?;
    function.module.globals.borrow_mut()[index as usize] = sum;
    Ok(())
}

/// `x += y` if the old `x` is not needed.
fn add_in_place(eval: &mut Eval, mut x: Value, y: &Value) -> Result<Value, Error> {
    match (&mut x, y) {
        (Value::Str(text), Value::Str(tail)) => {
            append_to(eval, text, tail)?;
            Ok(x)
        }
        (Value::List(list), _) => {
            let Some(values) = Iter::of(y) else { return ops::binary(eval, BinaryOp::Add, &x, y) };
            let values: Vec<Value> = values.collect();
            sum(list.len(), values.len(), size_of::<Value>())?;
            eval.charge(values.len() * size_of::<Value>())?;
            list.change("apply += to", |items| items.extend(values))?;
            Ok(x)
        }
        _ => ops::binary(eval, BinaryOp::Add, &x, y),
    }
}

#[inline(never)]
pub(super) fn unary(regs: &mut [Value], op: UnaryOp, dst: Reg, x: Reg) -> Done {
    let result = ops::unary(op, &regs[at(x)])?;
    regs[at(dst)].put(result);
    Ok(())
}

#[inline(never)]
pub(super) fn compare(code: &LinkedCode, regs: &[Value], op: CompareOp, x: Reg, y: Reg) -> Result<bool, Error> {
    let (x, y) = (code.operand(regs, x), code.operand(regs, y));
    match op {
        CompareOp::Eq => ops::equal(x, y),
        _ => ops::compare(op, x, y),
    }
}

#[inline(never)]
pub(super) fn compare_int(op: CompareOp, x: &Value, y: i16) -> Result<bool, Error> {
    ops::compare(op, x, &Value::Int(i64::from(y)))
}

#[inline(never)]
pub(super) fn list(eval: &mut Eval, regs: &mut [Value], dst: Reg, first: Reg, count: u16) -> Done {
    eval.charge(usize::from(count) * size_of::<Value>() + 64)?;
    let items = taken(regs, first, count).collect();
    regs[at(dst)].put(Value::list(items));
    Ok(())
}

#[inline(never)]
pub(super) fn tuple(eval: &mut Eval, regs: &mut [Value], dst: Reg, first: Reg, count: u16) -> Done {
    eval.charge(usize::from(count) * size_of::<Value>() + 64)?;
    let items = Tuple::take(taken(regs, first, count));
    regs[at(dst)].put(Value::Tuple(Rc::new(items)));
    Ok(())
}

fn taken(regs: &mut [Value], first: Reg, count: u16) -> impl ExactSizeIterator<Item = Value> + use<'_> {
    regs[at(first)..][..usize::from(count)].iter_mut().map(Value::take)
}

#[inline(never)]
pub(super) fn dict(eval: &mut Eval, dst: &mut Value) -> Done {
    eval.charge(128)?;
    dst.put(Value::Dict(Rc::new(Dict::new())));
    Ok(())
}

/// Adds a pair to a dict literal, which must not have duplicate keys.
#[inline(never)]
pub(super) fn dict_entry(eval: &mut Eval, regs: &mut [Value], dict: Reg, first: Reg) -> Done {
    let (key, value) = (regs[at(first)].take(), regs[at(first) + 1].take());
    eval.charge(64)?;
    if let Value::Dict(dict) = &regs[at(dict)]
        && let Some(twin) = dict.add(key, value)?
    {
        fail!("duplicate key: {}", twin.repr());
    }
    Ok(())
}

/// Adds a pair to a dict from a comprehension.
#[inline(never)]
pub(super) fn dict_add(eval: &mut Eval, regs: &mut [Value], dict: Reg, first: Reg) -> Done {
    let (key, value) = (regs[at(first)].take(), regs[at(first) + 1].take());
    eval.charge(64)?;
    if let Value::Dict(dict) = &regs[at(dict)] {
        dict.insert(key, value)?;
    }
    Ok(())
}

#[inline(never)]
pub(super) fn list_push(eval: &mut Eval, regs: &mut [Value], list: Reg, item: Reg) -> Done {
    eval.charge(size_of::<Value>())?;
    let Ok([list, item]) = regs.get_disjoint_mut([at(list), at(item)]) else { return Ok(()) };
    match list {
        Value::List(list) => list.push_moved(item),
        _ => Ok(()),
    }
}

/// Unpacks the values of a sequence into registers.
#[inline(never)]
pub(super) fn unpack(regs: &mut [Value], src: Reg, first: Reg, count: u16) -> Done {
    if count == 2
        && let Value::Tuple(tuple) = &mut regs[at(src)]
        && let Some([one, two]) = Rc::get_mut(tuple).and_then(Tuple::as_pair_mut)
    {
        // The tuple is not shared: move its values and reuse it for the next pair.
        let (one, two) = (one.take(), two.take());
        regs[at(first)].put(one);
        regs[at(first) + 1].put(two);
        return Ok(());
    }
    let src = regs[at(src)].take();
    let slots = &mut regs[at(first)..][..usize::from(count)];
    if let Value::Tuple(items) = &src
        && items.len() == slots.len()
    {
        slots.iter_mut().zip(items.iter()).for_each(|(slot, item)| slot.put_copy(item));
        return Ok(());
    }
    let wanted = slots.len();
    let Some(mut values) = Iter::of(&src) else { return Err(not_a_sequence(&src)) };
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

#[inline(never)]
pub(super) fn iterate(regs: &mut [Value], dst: Reg, src: Reg) -> Done {
    let src = &regs[at(src)];
    let Some(iter) = Iter::of(src) else { return Err(not_iterable(src)) };
    regs[at(dst)].put(Value::iter(iter));
    Ok(())
}

/// Puts a pair into a register; reuses an existing one that is not shared.
fn put_pair(dst: &mut Value, one: Value, two: Value) {
    if let Value::Tuple(tuple) = dst
        && let Some(pair) = Rc::get_mut(tuple).and_then(Tuple::as_pair_mut)
    {
        pair[0].put(one);
        pair[1].put(two);
        return;
    }
    dst.put(Value::Tuple(Rc::new(Tuple::pair(one, two))));
}

/// Starts a loop over the current pairs of a dict.
#[inline(never)]
pub(super) fn start_pairs(eval: &mut Eval, regs: &mut [Value], dst: Reg, x: Reg) -> Done {
    let Value::Dict(dict) = &regs[at(x)] else { return Ok(()) };
    let pairs: Vec<(Value, Value)> = {
        let table = dict.table();
        // The cost of the list of tuples.
        eval.charge(table.len() * 4 * size_of::<Value>())?;
        table.iter().map(|(key, value)| (key.clone(), value.clone())).collect()
    };
    regs[at(dst)].put(Value::iter(Iter::Pairs(pairs.into_iter())));
    Ok(())
}

/// Starts a loop over the result of `enumerate` of a list.
#[inline(never)]
pub(super) fn start_enumerate(eval: &mut Eval, regs: &mut [Value], dst: Reg, x: Reg) -> Done {
    let Value::List(list) = &regs[at(x)] else { return Ok(()) };
    let items = list.to_vec();
    // The cost of the list of tuples.
    eval.charge(items.len() * 4 * size_of::<Value>())?;
    items.iter().try_for_each(|_| eval.step())?;
    regs[at(dst)].put(Value::iter(Iter::Enumerate(items.into_iter(), 0)));
    Ok(())
}

/// The result of advancing an iteration.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Next {
    /// It has ended.
    End,
    /// A value, stored in its register.
    Value,
    /// A pair, stored in the registers of the instruction that would have unpacked it.
    Unpacked,
}

/// Puts the next value of an iteration over a list into a register.
#[inline(never)]
pub(super) fn next_item(regs: &mut [Value], iter: Reg, dst: Reg) -> Next {
    let Ok([iter, slot]) = regs.get_disjoint_mut([at(iter), at(dst)]) else { return Next::End };
    let Some(Iter::List(list, index)) = iter.as_iter_mut() else { return Next::End };
    let items = list.items();
    let Some(item) = items.get(*index) else { return Next::End };
    *index += 1;
    slot.put_copy(item);
    Next::Value
}

/// Puts the next value of an iteration into a register.
#[inline(never)]
pub(super) fn next_value(regs: &mut [Value], iter: Reg, dst: Reg, then: Option<&Instr>) -> Next {
    let Some(iter) = regs[at(iter)].as_iter_mut() else { return Next::End };
    let pair = match iter {
        Iter::Pairs(pairs) => pairs.next(),
        Iter::Enumerate(values, index) => {
            let Some(value) = values.next() else { return Next::End };
            *index += 1;
            let index = *index - 1;
            // The common case again: nothing is moved but two numbers.
            if let (Value::Int(value), Some(Instr::Unpack { src, first, count: 2 })) = (&value, then)
                && *src == dst
            {
                regs[at(*first)].put_int(index);
                regs[at(*first) + 1].put_int(*value);
                return Next::Unpacked;
            }
            Some((Value::Int(index), value))
        }
        other => {
            let Some(value) = other.next() else { return Next::End };
            regs[at(dst)].put(value);
            return Next::Value;
        }
    };
    match (pair, then) {
        (None, _) => Next::End,
        (Some((one, two)), Some(Instr::Unpack { src, first, count: 2 })) if *src == dst => {
            regs[at(*first)].put(one);
            regs[at(*first) + 1].put(two);
            Next::Unpacked
        }
        (Some((one, two)), _) => {
            put_pair(&mut regs[at(dst)], one, two);
            Next::Value
        }
    }
}

#[inline(never)]
pub(super) fn attr(eval: &mut Eval, code: &LinkedCode, regs: &mut [Value], dst: Reg, x: Reg, name: &Name) -> Done {
    let value = ops::attr(eval, code.operand(regs, x), &name.name)?;
    regs[at(dst)].put(value);
    Ok(())
}

#[inline(never)]
pub(super) fn set_attr(regs: &[Value], x: Reg, value: Reg, name: &Name) -> Done {
    ops::set_attr(&regs[at(x)], &name.name, regs[at(value)].clone())
}

#[inline(never)]
pub(super) fn index(code: &LinkedCode, regs: &mut [Value], dst: Reg, x: Reg, y: Reg) -> Done {
    let value = ops::index(&regs[at(x)], code.operand(regs, y))?;
    regs[at(dst)].put(value);
    Ok(())
}

#[inline(never)]
pub(super) fn set_index(eval: &mut Eval, code: &LinkedCode, regs: &mut [Value], x: Reg, y: Reg, value: Reg) -> Done {
    eval.charge(64)?;
    if let (Value::Dict(dict), Value::Int(value)) = (&regs[at(x)], &regs[at(value)])
        && dict.set_int(code.operand(regs, y), *value)
    {
        return Ok(());
    }
    let value = regs[at(value)].take();
    let y = code.operand(regs, y);
    match &regs[at(x)] {
        Value::Dict(dict) => dict.set(y, value),
        x => ops::set_index(x, y.clone(), value),
    }
}

#[inline(never)]
pub(super) fn slice(eval: &mut Eval, regs: &mut [Value], dst: Reg, first: Reg) -> Done {
    let [x, start, stop, step] = &regs[at(first)..][..4] else { return Ok(()) };
    let result = ops::slice(eval, x, start, stop, step)?;
    regs[at(dst)].put(result);
    Ok(())
}

/// The method of a value of a built-in type.
#[inline]
pub(super) fn method_of(receiver: &Value, name: &Name) -> Option<Method> {
    match receiver {
        Value::Str(_) => name.string,
        Value::List(_) => name.list,
        Value::Dict(_) => name.dict,
        Value::Set(_) => name.set,
        _ => None,
    }
}

/// Charges a string method for a pass over the receiver.
#[inline(always)]
fn pass_over(receiver: &Value) -> Done {
    match receiver {
        Value::Str(text) => Eval::pass(text.as_bytes().len()),
        _ => Ok(()),
    }
}

/// Calls a method of a built-in type.
#[inline(never)]
pub(super) fn call_method(
    eval: &mut Eval,
    code: &LinkedCode,
    regs: &mut [Value],
    base: Reg,
    count: u8,
    x: Reg,
    name: &Name,
) -> Done {
    let first = at(base) + 1;
    let args = Args::of(&regs[first..first + usize::from(count)]);
    let receiver = code.operand(regs, x);
    let Some(method) = method_of(receiver, name) else { return Ok(()) };
    pass_over(receiver)?;
    let value = method(eval, receiver, args)?;
    regs[at(base)].put(value);
    Ok(())
}

/// Calls a method of a built-in type without arguments.
#[inline(never)]
pub(super) fn method0(
    eval: &mut Eval,
    code: &LinkedCode,
    regs: &mut [Value],
    method: Method,
    dst: Reg,
    x: Reg,
) -> Done {
    let receiver = code.operand(regs, x);
    pass_over(receiver)?;
    let value = method(eval, receiver, Args::NONE)?;
    regs[at(dst)].put(value);
    Ok(())
}

/// Calls a method of a built-in type with one argument.
#[inline(never)]
pub(super) fn method1(
    eval: &mut Eval,
    code: &LinkedCode,
    regs: &mut [Value],
    method: Method,
    dst: Reg,
    x: Reg,
    y: Reg,
) -> Done {
    let (receiver, y) = (code.operand(regs, x), code.operand(regs, y));
    pass_over(receiver)?;
    let value = method(eval, receiver, Args::of(std::slice::from_ref(y)))?;
    regs[at(dst)].put(value);
    Ok(())
}

/// The same with two arguments.
#[inline(never)]
pub(super) fn method2(
    eval: &mut Eval,
    code: &LinkedCode,
    regs: &mut [Value],
    method: Method,
    dst: Reg,
    x: Reg,
    args: [Reg; 2],
) -> Done {
    let (receiver, [y, z]) = (code.operand(regs, x), args.map(|arg| code.operand(regs, arg)));
    pass_over(receiver)?;
    let value = method(eval, receiver, Args::of(&[y.clone(), z.clone()]))?;
    regs[at(dst)].put(value);
    Ok(())
}

/// Calls a value that is not a function of a program.
#[inline(never)]
pub(super) fn call(eval: &mut Eval, regs: &mut [Value], base: Reg, count: u8) -> Done {
    let first = at(base) + 1;
    let args = Args::of(&regs[first..first + usize::from(count)]);
    let value = call_value(eval, &regs[at(base)], args)?;
    regs[at(base)].put(value);
    Ok(())
}

/// Calls a built-in function with the values after `base`.
#[inline(never)]
pub(super) fn call_builtin(eval: &mut Eval, regs: &mut [Value], callee: &Value, base: Reg, count: u8) -> Done {
    let first = at(base) + 1;
    let value = call_value(eval, callee, Args::of(&regs[first..first + usize::from(count)]))?;
    regs[at(base)].put(value);
    Ok(())
}

/// The same with one argument.
#[inline(never)]
pub(super) fn call_builtin1(
    eval: &mut Eval,
    code: &LinkedCode,
    regs: &mut [Value],
    index: u16,
    dst: Reg,
    x: Reg,
) -> Done {
    let args = Args::of(std::slice::from_ref(code.operand(regs, x)));
    let value = call_value(eval, &code.constants[usize::from(index)], args)?;
    regs[at(dst)].put(value);
    Ok(())
}

/// Calls a value that is not a function of a program, with names, `*args` or `**kwargs`.
#[inline(never)]
pub(super) fn call_with_shape(eval: &mut Eval, regs: &mut [Value], base: Reg, shape: &CallShape) -> Done {
    let callee = regs[at(base)].take();
    let (positional, named) = gather(&mut regs[at(base) + 1..], shape)?;
    regs[at(base)] = call_value(eval, &callee, Args { positional: &positional, named: &named })?;
    Ok(())
}

#[inline]
fn call_value(eval: &mut Eval, callee: &Value, args: Args<'_>) -> Result<Value, Error> {
    match callee {
        Value::Builtin(builtin) => builtin.call(eval, args),
        Value::Host(host) => host.call(eval, args),
        other => fail!(Type, "invalid call of non-function ({})", other.type_name()),
    }
}

/// Makes a function of the program; its defaults are in registers from `dst` on.
#[inline(never)]
pub(super) fn function(eval: &mut Eval, around: &Function, regs: &mut [Value], dst: Reg, index: u16) -> Done {
    eval.charge(128)?;
    let code = &around.code.functions[usize::from(index)];
    let defaults = regs[at(dst)..][..code.params.default_count].iter_mut().map(Value::take).collect();
    let captured = code.captures.iter().map(|capture| match capture {
        Capture::Register(reg) => regs[at(*reg)].as_cell().cloned().unwrap_or_default(),
        Capture::Captured(index) => around.captured[usize::from(*index)].clone(),
    });
    let made = Function {
        captured: captured.collect(),
        code: code.clone(),
        module: around.module.clone(),
        defaults,
        frozen: false.into(),
    };
    regs[at(dst)].put(Value::Function(Rc::new(made)));
    Ok(())
}

#[inline(never)]
pub(super) fn load(eval: &mut Eval, code: &LinkedCode, index: u16, slots: &mut [Value]) -> Done {
    let load = &code.loads[usize::from(index)];
    let exports = match eval.load(&load.module, code.file) {
        Ok(exports) => exports,
        Err(error) if !error.is_fatal() => {
            let error = error.about_string(load.module.clone());
            return Err(error.in_context(format_args!("cannot load {}", load.module)));
        }
        Err(error) => return Err(error),
    };
    for (slot, (name, pos)) in slots.iter_mut().zip(&load.names) {
        match exports.get(name) {
            Some(value) => *slot = value.clone(),
            None => return Err(not_exported(&load.module, name, *pos, &exports)),
        }
    }
    Ok(())
}

#[cold]
#[inline(never)]
fn not_a_sequence(value: &Value) -> Error {
    let of = value.type_name().to_owned();
    let message = format!("got {of} in sequence assignment");
    Error::of(Problem::NotASequence { of }, message)
}

#[cold]
#[inline(never)]
fn not_iterable(value: &Value) -> Error {
    let of = value.type_name().to_owned();
    let message = format!("{of} value is not iterable");
    Error::of(Problem::NotIterable { of }, message)
}

#[cold]
#[inline(never)]
fn not_exported(module: &Str, name: &Str, pos: Pos, exports: &Exports) -> Error {
    let similar = exports.nearest(name);
    let hint = similar.as_ref().map(|meant| format!(" (did you mean {meant}?)")).unwrap_or_default();
    let message = format!("load: name {name} not found in module {module}{hint}");
    Error::of(Problem::NotExported { name: name.clone(), similar }, message).about_part(pos)
}

/// A host operation with arguments in registers, described by `shape`.
#[inline(never)]
pub(super) fn op_call(eval: &mut Eval, function: &Function, op: u32, args: &mut [Value], shape: u16) -> Done {
    let (positional, named) = gather(args, &function.code.shapes[usize::from(shape)])?;
    let args = Args { positional: &positional, named: &named };
    function.module.ops.op(eval, op, OpValues::Args(args))
}
