//! Byte strings: `b"abc"`, `bytes("abc")`. Immutable; never equal to a string, and not iterable.

use std::cmp::Ordering;

use ytterby_text::{Str, budget};

use crate::error::fail;
use crate::host::{BinaryOp, CompareOp, HostValue, Sequence, Side};
use crate::ops::{MAX_BYTES, sum};
use crate::value::Builtin;
use crate::{Args, Error, Eval, Value};

/// A byte string.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Bytes(Str);

impl Bytes {
    /// A byte string with these bytes.
    pub fn new(bytes: impl Into<Str>) -> Bytes {
        Bytes(bytes.into())
    }

    /// The bytes.
    pub fn as_bytes(&self) -> &[u8] {
        self.0.as_bytes()
    }

    fn value(bytes: impl AsRef<[u8]>) -> Value {
        Value::host(Bytes(Str::new(bytes)))
    }

    /// The text, with U+FFFD for invalid UTF-8.
    pub(crate) fn decoded(&self) -> Value {
        Value::str(String::from_utf8_lossy(self.as_bytes()).into_owned())
    }

    /// The result of `hash(x)`: FNV-1a in 32 bits.
    pub(crate) fn fnv(&self) -> u32 {
        self.as_bytes().iter().fold(0x811c_9dc5_u32, |hash, byte| (hash ^ u32::from(*byte)).wrapping_mul(0x0100_0193))
    }

    fn has(&self, part: &Value) -> Result<bool, Error> {
        if let Some(part) = part.downcast::<Bytes>() {
            return Ok(memchr::memmem::find(self.as_bytes(), part.as_bytes()).is_some());
        }
        match part {
            Value::Int(byte @ 0..=255) => Ok(self.as_bytes().contains(&(*byte as u8))),
            Value::Int(_) | Value::BigInt(_) => fail!("int in bytes: {} out of range", part.repr()),
            other => fail!(Type, "'in bytes' requires bytes or int as left operand, not {}", other.type_name()),
        }
    }
}

impl HostValue for Bytes {
    fn type_name(&self) -> &str {
        "bytes"
    }

    fn write_repr(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(b"b\"");
        for chunk in self.as_bytes().utf8_chunks() {
            for c in chunk.valid().chars() {
                match c {
                    '"' | '\\' => out.extend_from_slice(&[b'\\', c as u8]),
                    '\n' => out.extend_from_slice(b"\\n"),
                    '\r' => out.extend_from_slice(b"\\r"),
                    '\t' => out.extend_from_slice(b"\\t"),
                    c if c.is_control() => out.extend_from_slice(format!("\\x{:02x}", u32::from(c)).as_bytes()),
                    c => out.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes()),
                }
            }
            for byte in chunk.invalid() {
                out.extend_from_slice(format!("\\x{byte:02x}").as_bytes());
            }
        }
        out.push(b'"');
    }

    fn truth(&self) -> bool {
        !self.0.is_empty()
    }

    fn hash(&self) -> Result<u64, Error> {
        Ok(u64::from(self.fnv()))
    }

    fn attr(&self, _eval: &mut Eval, name: &Str) -> Result<Option<Value>, Error> {
        if *name != "elems" {
            return Ok(None);
        }
        let bytes = self.clone();
        let elems = move |eval: &mut Eval, args: Args<'_>| {
            args.count("elems", 0, 0)?;
            eval.charge(bytes.as_bytes().len() * size_of::<Value>())?;
            Ok(Value::list(bytes.as_bytes().iter().map(|byte| Value::Int(i64::from(*byte))).collect()))
        };
        Ok(Some(Value::from(Builtin::new("elems", elems))))
    }

    fn attr_names(&self) -> Vec<Str> {
        vec![Str::from("elems")]
    }

    fn sequence(&self) -> Option<&dyn Sequence> {
        Some(self)
    }

    fn compare(&self, op: CompareOp, other: &Value, _depth: usize) -> Result<Option<bool>, Error> {
        let other = other.downcast::<Bytes>();
        let order = other.map(|other| self.as_bytes().cmp(other.as_bytes()));
        Ok(order.map(|order: Ordering| op.accepts(order)))
    }

    fn binary(&self, op: BinaryOp, other: &Value, side: Side) -> Result<Option<Value>, Error> {
        match (op, side, other) {
            (BinaryOp::In, Side::Right, part) => self.has(part).map(|answer| Some(Value::Bool(answer))),
            (BinaryOp::Mul, _, Value::Int(count)) => {
                let count = usize::try_from(*count).unwrap_or(0);
                let total = self.as_bytes().len().saturating_mul(count);
                if total >= MAX_BYTES {
                    fail!("excessive repeat ({} * {count} elements)", self.as_bytes().len());
                }
                budget::text(total)?;
                Ok(Some(Bytes::value(self.as_bytes().repeat(count))))
            }
            (BinaryOp::Add, Side::Left, other) => {
                let Some(other) = other.downcast::<Bytes>() else { return Ok(None) };
                budget::text(sum(self.as_bytes().len(), other.as_bytes().len(), 1)?)?;
                Ok(Some(Value::host(Bytes(Str::concat(self.as_bytes(), other.as_bytes())))))
            }
            _ => Ok(None),
        }
    }
}

impl Sequence for Bytes {
    fn count(&self) -> usize {
        self.as_bytes().len()
    }

    fn index(&self, index: usize) -> Value {
        Bytes::value(&self.as_bytes()[index..=index])
    }

    fn slice(&self, indices: &mut dyn Iterator<Item = usize>) -> Option<Value> {
        let bytes: Vec<u8> = indices.map(|at| self.as_bytes()[at]).collect();
        Some(Bytes::value(bytes))
    }
}
