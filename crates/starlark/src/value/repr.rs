//! The text of values: `repr(x)`.
//!
//! A list or dict that contains itself is written as `...` inside itself; so is anything nested
//! deeper than handwritten values ever are, and anything after a gigabyte of text: lists nested
//! like `[x, x]` grow exponentially.

use std::rc::Rc;

use ytterby_text::gofloat::format_g_precision;
use ytterby_text::quote::quote_into;
use ytterby_text::{budget, push_int};

use super::Value;
use crate::ops::MAX_BYTES;

const MAX_DEPTH: usize = 10_000;

pub(crate) fn write(out: &mut Vec<u8>, value: &Value) {
    write_in(out, value, &mut Vec::new(), 0);
}

/// `path` contains the addresses of the lists and dicts around `value`.
fn write_in(out: &mut Vec<u8>, value: &Value, path: &mut Vec<*const ()>, depth: usize) {
    match value {
        Value::None => out.extend_from_slice(b"None"),
        Value::Bool(true) => out.extend_from_slice(b"True"),
        Value::Bool(false) => out.extend_from_slice(b"False"),
        Value::Int(i) => push_int(out, *i),
        Value::BigInt(i) if budget::work(i.bits() as usize / 16).is_err() => {}
        Value::BigInt(i) => out.extend_from_slice(i.to_string().as_bytes()),
        Value::Float(f) => out.extend_from_slice(format_g_precision(*f, 6).as_bytes()),
        Value::Str(s) if budget::text(s.as_bytes().len()).is_err() => {}
        Value::Str(s) => quote_into(out, s),
        Value::Range(range) => out.extend_from_slice(range_text(range).as_bytes()),
        Value::Function(function) => {
            out.extend_from_slice(b"<function ");
            out.extend_from_slice(function.name());
            out.push(b'>');
        }
        Value::Builtin(builtin) => {
            let text = match builtin.receiver() {
                Some(receiver) => {
                    format!("<built-in method {} of {} value>", builtin.name(), receiver.type_name())
                }
                None => format!("<built-in function {}>", builtin.name()),
            };
            out.extend_from_slice(text.as_bytes());
        }
        Value::Host(_) if is_full(out) => out.extend_from_slice(b"..."),
        Value::Host(host) => stacker::maybe_grow(64 << 10, 1 << 20, || host.write_repr(out)),
        Value::Unset(_) | Value::Internal(_) => out.extend_from_slice(b"<internal>"),
        Value::List(_) | Value::Tuple(_) | Value::Dict(_) | Value::Set(_) => {
            stacker::maybe_grow(64 << 10, 1 << 20, || write_container(out, value, path, depth + 1));
        }
    }
}

fn write_container(out: &mut Vec<u8>, value: &Value, path: &mut Vec<*const ()>, depth: usize) {
    let too_deep = depth > MAX_DEPTH;
    match value {
        Value::List(list) => {
            let address = Rc::as_ptr(list).cast();
            out.push(b'[');
            if too_deep || path.contains(&address) {
                out.extend_from_slice(b"...");
            } else {
                path.push(address);
                write_items(out, list.items().iter(), path, depth);
                path.pop();
            }
            out.push(b']');
        }
        Value::Tuple(tuple) => {
            out.push(b'(');
            if too_deep {
                out.extend_from_slice(b"...");
            } else {
                write_items(out, tuple.iter(), path, depth);
            }
            out.extend_from_slice(if tuple.len() == 1 { b",)" } else { b")" });
        }
        Value::Set(set) => {
            out.extend_from_slice(b"set([");
            write_items(out, set.to_vec().iter(), path, depth);
            out.extend_from_slice(b"])");
        }
        Value::Dict(dict) => {
            let address = Rc::as_ptr(dict).cast();
            out.push(b'{');
            if too_deep || path.contains(&address) {
                out.extend_from_slice(b"...");
            } else {
                path.push(address);
                for (n, (key, value)) in dict.table().iter().enumerate() {
                    if n > 0 {
                        out.extend_from_slice(b", ");
                    }
                    if is_full(out) {
                        out.extend_from_slice(b"...");
                        break;
                    }
                    write_in(out, key, path, depth);
                    out.extend_from_slice(b": ");
                    write_in(out, value, path, depth);
                }
                path.pop();
            }
            out.push(b'}');
        }
        other => write_in(out, other, path, depth),
    }
}

fn write_items<'a>(out: &mut Vec<u8>, items: impl Iterator<Item = &'a Value>, path: &mut Vec<*const ()>, depth: usize) {
    for (n, item) in items.enumerate() {
        if n > 0 {
            out.extend_from_slice(b", ");
        }
        if is_full(out) {
            out.extend_from_slice(b"...");
            break;
        }
        write_in(out, item, path, depth);
    }
}

/// Whether to stop writing. Nobody sees a text truncated by a limit: the next charge fails.
fn is_full(out: &[u8]) -> bool {
    out.len() >= MAX_BYTES || !budget::may_go_on(16)
}

fn range_text(range: &super::Range) -> String {
    let (start, stop, step) = (range.start, range.stop, range.step);
    if step != 1 {
        format!("range({start}, {stop}, {step})")
    } else if start != 0 {
        format!("range({start}, {stop})")
    } else {
        format!("range({stop})")
    }
}
