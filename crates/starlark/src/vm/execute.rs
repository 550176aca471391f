//! The loop that executes instructions.
//!
//! The common operations on integers are inline here; everything longer is in [`super::work`].

use super::call::{enter, enter_with_shape};
use super::iter::Iter;
use super::shortcuts;
use super::work::{self, Next, method_of};
use crate::compile::{Instr, LinkedCode, Reg};
use crate::error::fail;
use crate::host::{BinaryOp, CompareOp};
use crate::program::OpValues;
use crate::{Error, Eval, Value};

/// Executes the innermost function until the number of frames is `floor`; returns its result.
#[inline(never)]
pub(super) fn execute(eval: &mut Eval, stack: &mut Vec<Value>, floor: usize) -> Result<Value, Error> {
    'frame: loop {
        let Some(frame) = eval.frames.last() else { fail!("internal error: no function to execute") };
        let function = frame.function.clone();
        let base = frame.base();
        let mut pc = frame.pc() as usize;
        let code = &*function.code;
        let instrs = &code.instrs[..];
        let regs = &mut stack[base..base + code.registers];

        /// Stores the current position, for messages and for the host.
        macro_rules! note {
            () => {
                if let Some(frame) = eval.frames.last_mut() {
                    frame.set_pc(pc as u32);
                }
            };
        }
        macro_rules! reg {
            ($reg:expr) => {
                regs[usize::from($reg)]
            };
        }

        let error = 'failed: {
            /// Unwraps a result, or returns the error.
            macro_rules! check {
                ($result:expr) => {
                    match $result {
                        Ok(value) => value,
                        Err(error) => break 'failed error,
                    }
                };
            }
            /// Counts a step. Before limits are checked, stores the current position.
            macro_rules! step {
                () => {
                    if eval.is_fuel_used() {
                        note!();
                        check!(eval.refuel());
                    }
                };
            }
            /// Returns a value from the function.
            macro_rules! return_value {
                ($value:expr) => {{
                    let value = $value;
                    work::release(regs);
                    eval.frames.pop();
                    if eval.frames.len() == floor {
                        return Ok(value);
                    }
                    stack[base - 1].put(value);
                    continue 'frame;
                }};
            }

            loop {
                let instr = &instrs[pc];
                pc += 1;
                match *instr {
                    Instr::Const { dst, index } => work::copy(&mut reg!(dst), &code.constants[index as usize]),
                    Instr::Int { dst, value } => reg!(dst).put_int(i64::from(value)),
                    Instr::None { dst } => reg!(dst).put(Value::None),
                    Instr::Bool { dst, value } => reg!(dst).put(Value::Bool(value)),
                    Instr::Move { dst, src } => match reg!(src) {
                        Value::Int(value) => reg!(dst).put_int(value),
                        _ => work::copy_register(regs, dst, src),
                    },
                    Instr::Take { dst, src } => match reg!(src) {
                        Value::Int(value) => reg!(dst).put_int(value),
                        _ => work::take_register(regs, dst, src),
                    },
                    Instr::Clear { reg } => reg!(reg).put(Value::UNSET),
                    Instr::CheckLocal { reg } => {
                        if reg!(reg).is_unset() {
                            break 'failed work::unassigned_local(code, reg);
                        }
                    }
                    Instr::CheckGlobal { index } => check!(work::check_global(&function, index)),
                    Instr::Global { dst, index } => check!(work::global(&function, index, &mut reg!(dst))),
                    Instr::SetGlobal { src, index } => work::set_global(&function, index, reg!(src).take()),
                    Instr::Predeclared { dst, index } => {
                        work::copy(&mut reg!(dst), &function.module.predeclared[index as usize]);
                    }
                    Instr::Cell { dst, cell } => check!(work::cell(code, regs, dst, cell)),
                    Instr::SetCell { src, cell } => work::set_cell(regs, src, cell),
                    Instr::Free { dst, index } => check!(work::free(&function, index, &mut reg!(dst))),

                    Instr::Add { dst, x, y } => match int_sum(code, regs, x, y) {
                        Some(sum) => reg!(dst).put_int(sum),
                        None => check!(work::binary(eval, code, regs, BinaryOp::Add, dst, x, y)),
                    },
                    Instr::AddInt { dst, x, y } => match int_operation_with(BinaryOp::Add, &reg!(x), y) {
                        Some(sum) => reg!(dst).put_int(sum),
                        None => check!(work::binary_int(eval, regs, BinaryOp::Add, dst, x, y)),
                    },
                    Instr::Binary { op, dst, x, y } => {
                        let fast = match ints(code, regs, x, y) {
                            Some((x, y)) => int_operation(op, x, y),
                            None => None,
                        };
                        match fast {
                            Some(result) => reg!(dst).put_int(result),
                            None => check!(work::binary(eval, code, regs, op, dst, x, y)),
                        }
                    }
                    Instr::Sub { dst, x, y } => match ints(code, regs, x, y).and_then(|(x, y)| x.checked_sub(y)) {
                        Some(result) => reg!(dst).put_int(result),
                        None => check!(work::binary(eval, code, regs, BinaryOp::Sub, dst, x, y)),
                    },
                    Instr::Mul { dst, x, y } => match ints(code, regs, x, y).and_then(|(x, y)| x.checked_mul(y)) {
                        Some(result) => reg!(dst).put_int(result),
                        None => check!(work::binary(eval, code, regs, BinaryOp::Mul, dst, x, y)),
                    },
                    Instr::MulInt { dst, x, y } => match int_operation_with(BinaryOp::Mul, &reg!(x), y) {
                        Some(result) => reg!(dst).put_int(result),
                        None => check!(work::binary_int(eval, regs, BinaryOp::Mul, dst, x, y)),
                    },
                    Instr::ModInt { dst, x, y } => match int_operation_with(BinaryOp::Mod, &reg!(x), y) {
                        Some(result) => reg!(dst).put_int(result),
                        None => check!(work::binary_int(eval, regs, BinaryOp::Mod, dst, x, y)),
                    },
                    Instr::ModIntCompare { dst, x, y } => match int_operation_with(BinaryOp::Mod, &reg!(x), y) {
                        Some(result) => {
                            reg!(dst).put_int(result);
                            if let Instr::CompareIntJump { op, y, by, .. } = instrs[pc] {
                                pc += 1;
                                if !op.accepts(result.cmp(&i64::from(y))) {
                                    pc = jump_by(pc, by);
                                }
                            }
                        }
                        None => check!(work::binary_int(eval, regs, BinaryOp::Mod, dst, x, y)),
                    },
                    Instr::BinaryInt { op, dst, x, y } => match int_operation_with(op, &reg!(x), y) {
                        Some(result) => reg!(dst).put_int(result),
                        None => check!(work::binary_int(eval, regs, op, dst, x, y)),
                    },
                    Instr::AddAssign { x, y } => match int_sum(code, regs, x, y) {
                        Some(sum) => reg!(x).put_int(sum),
                        None => check!(work::add_assign(eval, code, regs, x, y)),
                    },
                    Instr::AppendText { x, y } => match int_sum(code, regs, x, y) {
                        Some(sum) => reg!(x).put_int(sum),
                        None => check!(work::append_text(eval, code, regs, x, y)),
                    },
                    Instr::AddAssignGlobal { y, index } => {
                        check!(work::add_assign_global(eval, &function, index, &reg!(y)));
                    }
                    Instr::Unary { op, dst, x } => check!(work::unary(regs, op, dst, x)),
                    Instr::Not { dst, x } => {
                        let answer = !reg!(x).truth();
                        reg!(dst).put(Value::Bool(answer));
                    }
                    Instr::Compare { op, dst, x, y } => {
                        let answer = check!(compare(code, regs, op, x, y));
                        reg!(dst).put(Value::Bool(answer));
                    }
                    Instr::CompareInt { op, dst, x, y } => {
                        let answer = check!(compare_int(op, &reg!(x), y));
                        reg!(dst).put(Value::Bool(answer));
                    }

                    Instr::Jump { to } => pc = to as usize,
                    Instr::JumpIf { x, to } => {
                        if truth(&reg!(x)) {
                            pc = to as usize;
                        }
                    }
                    Instr::JumpIfNot { x, to } => {
                        if !truth(&reg!(x)) {
                            pc = to as usize;
                        }
                    }
                    Instr::CompareJump { op, x, y, by } => {
                        if !check!(compare(code, regs, op, x, y)) {
                            pc = jump_by(pc, by);
                        }
                    }
                    Instr::CompareIntJump { op, x, y, by } => {
                        if !check!(compare_int(op, &reg!(x), y)) {
                            pc = jump_by(pc, by);
                        }
                    }

                    Instr::List { dst, first, count } => check!(work::list(eval, regs, dst, first, count)),
                    Instr::Tuple { dst, first, count } => check!(work::tuple(eval, regs, dst, first, count)),
                    Instr::Dict { dst } => check!(work::dict(eval, &mut reg!(dst))),
                    Instr::DictEntry { dict, first } => check!(work::dict_entry(eval, regs, dict, first)),
                    Instr::DictAdd { dict, first } => check!(work::dict_add(eval, regs, dict, first)),
                    Instr::ListPush { list, item } => check!(work::list_push(eval, regs, list, item)),
                    Instr::Unpack { src, first, count } => check!(work::unpack(regs, src, first, count)),

                    Instr::IterStart { dst, src } => check!(work::iterate(regs, dst, src)),
                    Instr::PairsStart { dst, x } => {
                        if let Value::Dict(_) = code.operand(regs, x) {
                            note!();
                            check!(work::start_pairs(eval, regs, dst, x));
                            pc += 3;
                        }
                    }
                    Instr::EnumerateStart { dst, x } => {
                        if let Value::List(_) = code.operand(regs, x) {
                            note!();
                            check!(work::start_enumerate(eval, regs, dst, x));
                            pc += 2;
                        }
                    }
                    Instr::IterNext { iter, dst, by } => {
                        step!();
                        match next_value(regs, iter, dst, instrs.get(pc)) {
                            Next::End => pc = jump_by(pc, by),
                            Next::Value => {}
                            Next::Unpacked => pc += 1,
                        }
                    }
                    Instr::IterAgain { iter, dst, by } => {
                        let end = pc;
                        pc = jump_by(pc, by);
                        step!();
                        match next_value(regs, iter, dst, instrs.get(pc)) {
                            Next::End => pc = end,
                            Next::Value => {}
                            Next::Unpacked => pc += 1,
                        }
                    }
                    Instr::IterNextFar { iter, dst } => {
                        step!();
                        match next_value(regs, iter, dst, None) {
                            Next::End => {}
                            _ => pc += 1,
                        }
                    }
                    Instr::Step => step!(),

                    Instr::Attr { dst, x, name } => {
                        note!();
                        check!(work::attr(eval, code, regs, dst, x, &code.names[usize::from(name)]));
                    }
                    Instr::SetAttr { x, value, name } => {
                        note!();
                        check!(work::set_attr(regs, x, value, &code.names[usize::from(name)]));
                    }
                    Instr::Index { dst, x, y } => check!(work::index(code, regs, dst, x, y)),
                    Instr::SetIndex { x, y, value } => check!(work::set_index(eval, code, regs, x, y, value)),
                    Instr::Slice { dst, first } => check!(work::slice(eval, regs, dst, first)),

                    Instr::Call { count, base: callee } => {
                        note!();
                        if let Value::Function(next) = &reg!(callee) {
                            let next = next.clone();
                            reg!(callee).put(Value::UNSET);
                            enter(eval, stack, next, base + usize::from(callee) + 1, usize::from(count))?;
                            continue 'frame;
                        }
                        check!(work::call(eval, regs, callee, count));
                    }
                    Instr::CallBuiltin { count, base: result, index } => {
                        note!();
                        let callee = &code.constants[usize::from(index)];
                        check!(work::call_builtin(eval, regs, callee, result, count));
                    }
                    Instr::CallBuiltin1 { dst, x, index } => {
                        note!();
                        check!(work::call_builtin1(eval, code, regs, index, dst, x));
                    }
                    Instr::Len { dst, x } => {
                        if let Some(len) = shortcuts::len(code.operand(regs, x)) {
                            reg!(dst).put_int(len as i64);
                            pc += 1;
                        }
                    }
                    Instr::Text { dst, x } => {
                        if let Value::Int(value) = *code.operand(regs, x) {
                            note!();
                            check!(shortcuts::int_text(eval, value, &mut reg!(dst)));
                            pc += 1;
                        }
                    }
                    Instr::CallShape { base: callee, shape } => {
                        note!();
                        if let Value::Function(next) = &reg!(callee) {
                            let next = next.clone();
                            reg!(callee).put(Value::UNSET);
                            enter_with_shape(eval, stack, next, base + usize::from(callee) + 1, code, shape)?;
                            continue 'frame;
                        }
                        check!(work::call_with_shape(eval, regs, callee, &code.shapes[usize::from(shape)]));
                    }
                    Instr::Method0 { name, base: result, x } => {
                        if let Some(method) = method_of(code.operand(regs, x), &code.names[usize::from(name)]) {
                            note!();
                            check!(work::method0(eval, code, regs, method, result, x));
                            pc += 2;
                        }
                    }
                    Instr::Method1 { name, base: result, x, y } => {
                        if let Some(method) = method_of(code.operand(regs, x), &code.names[usize::from(name)]) {
                            note!();
                            check!(work::method1(eval, code, regs, method, result, x, y));
                            pc += 3;
                        }
                    }
                    Instr::Method2 { name, base: result, x, y } => {
                        if let Some(method) = method_of(code.operand(regs, x), &code.names[usize::from(name)])
                            && let Instr::Operand { z } = instrs[pc]
                        {
                            note!();
                            check!(work::method2(eval, code, regs, method, result, x, [y, z]));
                            pc += 5;
                        }
                    }
                    Instr::Operand { .. } => {}
                    Instr::Case { upper, dst, x } => {
                        note!();
                        if check!(shortcuts::case(eval, code, regs, dst, x, upper)) {
                            pc += 2;
                        }
                    }
                    Instr::Affix { end, dst, x, y } => {
                        if let Some(answer) = shortcuts::affix(code, regs, x, y, end) {
                            reg!(dst).put_bool(answer);
                            pc += 3;
                            // Mostly it is a condition.
                            match instrs[pc] {
                                Instr::JumpIf { x, to } if x == dst => pc = if answer { to as usize } else { pc + 1 },
                                Instr::JumpIfNot { x, to } if x == dst => {
                                    pc = if answer { pc + 1 } else { to as usize }
                                }
                                _ => {}
                            }
                        }
                    }
                    Instr::Append { dst, x, y } => {
                        note!();
                        if check!(shortcuts::append_copy(eval, code, regs, dst, x, y)) {
                            pc += 4;
                        }
                    }
                    Instr::Get { dst, x, y } => {
                        if let Instr::Operand { z } = instrs[pc]
                            && shortcuts::get(code, regs, dst, x, [y, z])
                        {
                            pc += 5;
                        }
                    }
                    Instr::Replace { dst, x, y } => {
                        note!();
                        if let Instr::Operand { z } = instrs[pc]
                            && check!(shortcuts::replace(eval, code, regs, dst, x, [y, z]))
                        {
                            pc += 5;
                        }
                    }
                    Instr::AppendItem { base: callee, x } => {
                        note!();
                        if check!(shortcuts::append_item(eval, code, regs, callee, x)) {
                            pc += 1;
                        }
                    }
                    Instr::Format { count, base: result, format } => {
                        note!();
                        let pieces = &code.formats[usize::from(format)];
                        if check!(shortcuts::format(eval, pieces, regs, result, count)) {
                            pc += 1;
                        }
                    }
                    Instr::Method { dst, x, name } => {
                        let name = &code.names[usize::from(name)];
                        if method_of(code.operand(regs, x), name).is_some() {
                            reg!(dst).put(Value::UNSET);
                        } else {
                            note!();
                            check!(work::attr(eval, code, regs, dst, x, name));
                        }
                    }
                    Instr::CallMethod { count, base: callee, x, name } => {
                        note!();
                        match reg!(callee) {
                            Value::Unset(_) => {
                                let name = &code.names[usize::from(name)];
                                check!(work::call_method(eval, code, regs, callee, count, x, name));
                            }
                            Value::Function(ref next) => {
                                let next = next.clone();
                                reg!(callee).put(Value::UNSET);
                                enter(eval, stack, next, base + usize::from(callee) + 1, usize::from(count))?;
                                continue 'frame;
                            }
                            _ => check!(work::call(eval, regs, callee, count)),
                        }
                    }
                    Instr::Function { dst, index } => check!(work::function(eval, &function, regs, dst, index)),
                    Instr::Return { x } => match reg!(x) {
                        // A number has just been written; see `Value::put_moved`.
                        Value::Int(value) if eval.frames.len() > floor + 1 => {
                            work::release(regs);
                            eval.frames.pop();
                            stack[base - 1].put_int(value);
                            continue 'frame;
                        }
                        _ => return_value!(reg!(x).take()),
                    },
                    Instr::ReturnNone => return_value!(Value::None),
                    Instr::Enter { dialect } => {
                        note!();
                        check!(function.module.ops.enter(eval, dialect));
                    }
                    Instr::Leave { x } => {
                        note!();
                        let value = reg!(x).take();
                        return_value!(check!(function.module.ops.leave(eval, Some(value))))
                    }
                    Instr::LeaveNone => {
                        note!();
                        return_value!(check!(function.module.ops.leave(eval, None)))
                    }
                    Instr::Load { first, index } => {
                        note!();
                        check!(work::load(eval, code, index, &mut regs[usize::from(first)..]));
                    }

                    Instr::Reach => eval.reach(code.positions[pc - 1]),
                    Instr::ProfileEnter => eval.profile_function(),
                    Instr::ProfileLeave => eval.profile_return(),
                    Instr::Op { op } => {
                        note!();
                        check!(function.module.ops.op(eval, op, OpValues::None));
                    }
                    Instr::OpRun { op, count } => {
                        note!();
                        if check!(function.module.ops.run(eval, op, count)) {
                            pc += usize::from(count);
                        }
                    }
                    Instr::OpValue { x, op } => {
                        note!();
                        let value = reg!(x).take();
                        check!(function.module.ops.op(eval, op, OpValues::Value(value)));
                    }
                    Instr::OpCall { base: first, op } => {
                        note!();
                        if let Instr::Shape { shape } = instrs[pc] {
                            check!(work::op_call(eval, &function, op, &mut regs[usize::from(first)..], shape));
                        }
                    }
                    Instr::Shape { .. } => {}
                }
            }
        };
        note!();
        return Err(error);
    }
}

/// The target of a short jump in the instruction before `pc`.
#[inline(always)]
fn jump_by(pc: usize, by: i16) -> usize {
    (pc - 1).wrapping_add_signed(isize::from(by))
}

/// The values of two operands if both are integers.
#[inline(always)]
fn ints(code: &LinkedCode, regs: &[Value], x: Reg, y: Reg) -> Option<(i64, i64)> {
    Some((code.int_operand(regs, x)?, code.int_operand(regs, y)?))
}

#[inline(always)]
fn int_sum(code: &LinkedCode, regs: &[Value], x: Reg, y: Reg) -> Option<i64> {
    let (x, y) = ints(code, regs, x, y)?;
    x.checked_add(y)
}

/// Like [`int_operation`], with an immediate operand.
#[inline(always)]
fn int_operation_with(op: BinaryOp, x: &Value, y: i16) -> Option<i64> {
    match x {
        Value::Int(x) => int_operation(op, *x, i64::from(y)),
        _ => None,
    }
}

/// The common cases of operations on integers; `None` for the others.
#[inline(always)]
fn int_operation(op: BinaryOp, x: i64, y: i64) -> Option<i64> {
    match op {
        BinaryOp::Add => x.checked_add(y),
        BinaryOp::Sub => x.checked_sub(y),
        BinaryOp::Mul => x.checked_mul(y),
        // For a positive divisor both ways of rounding agree.
        BinaryOp::Mod if y > 0 => Some(x.rem_euclid(y)),
        BinaryOp::FloorDiv if y > 0 => Some(x.div_euclid(y)),
        BinaryOp::And => Some(x & y),
        BinaryOp::Or => Some(x | y),
        BinaryOp::Xor => Some(x ^ y),
        _ => None,
    }
}

#[inline(always)]
fn compare(code: &LinkedCode, regs: &[Value], op: CompareOp, x: Reg, y: Reg) -> Result<bool, Error> {
    match ints(code, regs, x, y) {
        Some((x, y)) => Ok(op.accepts(x.cmp(&y))),
        None => work::compare(code, regs, op, x, y),
    }
}

#[inline(always)]
fn compare_int(op: CompareOp, x: &Value, y: i16) -> Result<bool, Error> {
    match x {
        Value::Int(x) => Ok(op.accepts(x.cmp(&i64::from(y)))),
        x => work::compare_int(op, x, y),
    }
}

#[inline(always)]
fn truth(value: &Value) -> bool {
    match value {
        Value::Bool(answer) => *answer,
        other => other.truth(),
    }
}

/// Puts the next value of an iteration into a register. If `then`, the next instruction, unpacks a
/// pair, that is done at the same time, without creating the pair.
#[inline(always)]
fn next_value(regs: &mut [Value], iter: Reg, dst: Reg, then: Option<&Instr>) -> Next {
    match regs[usize::from(iter)].as_iter_mut() {
        Some(Iter::Range(range, at)) => match range.next(at) {
            Some(value) => {
                regs[usize::from(dst)].put_int(value);
                Next::Value
            }
            None => Next::End,
        },
        Some(Iter::List(..)) => work::next_item(regs, iter, dst),
        _ => work::next_value(regs, iter, dst, then),
    }
}
