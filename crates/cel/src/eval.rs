//! Evaluates programs and counts their cost.
//!
//! Costs are those of Kubernetes: one for a variable, a field or a call, a tenth for each character
//! read, ten for a new list and thirty for a new map. Error messages contain no values of the
//! document.

use std::fmt;
use std::rc::Rc;

use ytterby_text::budget;

use crate::call;
use crate::check::{FieldName, Loop, NodeKind, TypedNode};
use crate::functions::Fun;
use crate::syntax::{Macro, Optional};
use crate::value::{MapVal, Val};

/// The reason that an expression has no value.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum EvalError {
    /// It failed: `division by zero`.
    Failed(String),
    /// The cost limit was reached.
    Cost,
    /// It needs something unknown here, such as an authorizer's answer.
    Unknown,
}

impl fmt::Display for EvalError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            EvalError::Failed(message) => f.write_str(message),
            EvalError::Cost => f.write_str("the expression costs more than it may"),
            EvalError::Unknown => f.write_str("the expression asks for something that is not known here"),
        }
    }
}

impl std::error::Error for EvalError {}

pub(crate) type Result<T> = std::result::Result<T, EvalError>;

pub(crate) fn fail<T>(message: impl Into<String>) -> Result<T> {
    Err(EvalError::Failed(message.into()))
}

pub(crate) fn evaluate(root: &TypedNode, variables: &[Val], limit: u64) -> Result<(Val, u64)> {
    let mut eval = Eval { variables: variables.to_vec(), cost: 0, limit };
    let value = eval.value(root)?;
    Ok((value, eval.cost))
}

struct Eval {
    variables: Vec<Val>,
    cost: u64,
    limit: u64,
}

/// The costs of creating a list and a map.
const LIST: u64 = 10;
const MAP: u64 = 30;

impl Eval {
    fn spend(&mut self, cost: u64) -> Result<()> {
        self.cost = self.cost.saturating_add(cost);
        // The budget of the run limits all expressions together.
        if self.cost > self.limit || budget::work(1).is_err() { Err(EvalError::Cost) } else { Ok(()) }
    }

    fn value(&mut self, node: &TypedNode) -> Result<Val> {
        match &node.kind {
            NodeKind::Null => Ok(Val::Null),
            NodeKind::Bool(value) => Ok(Val::Bool(*value)),
            NodeKind::Int(value) => Ok(Val::Int(*value)),
            NodeKind::Uint(value) => Ok(Val::Uint(*value)),
            NodeKind::Double(value) => Ok(Val::Double(*value)),
            NodeKind::Str(text) => Ok(Val::from(&**text)),
            NodeKind::Bytes(bytes) => Ok(Val::Bytes(bytes.as_slice().into())),
            NodeKind::TypeName(name) => Ok(Val::Type(name)),
            NodeKind::Var(slot) => {
                self.spend(1)?;
                match self.variables.get(*slot) {
                    Some(value) => Ok(value.clone()),
                    None => Err(EvalError::Unknown),
                }
            }
            NodeKind::Select(of, field, optional) => {
                let of = self.value(of)?;
                self.spend(1)?;
                select(&of, field, *optional)
            }
            NodeKind::Has(of, field) => {
                let of = self.value(of)?;
                // Like in Kubernetes, null fields are absent.
                let has = |map| found(map, field).is_some_and(|value| !matches!(value, Val::Null));
                Ok(Val::Bool(match &of {
                    Val::Map(map) => has(map),
                    Val::Optional(inner) => match inner.as_deref() {
                        Some(Val::Map(map)) => has(map),
                        _ => false,
                    },
                    other => return fail(format!("no such field: {} of {}", field.name, other.type_name())),
                }))
            }
            NodeKind::Index(of, index, optional) => {
                // Messages may show literals of the expression, but never values.
                let shown = match &index.kind {
                    NodeKind::Int(at) => format!(": {at}"),
                    NodeKind::Str(key) => format!(": {key}"),
                    _ => String::new(),
                };
                let (of, index) = (self.value(of)?, self.value(index)?);
                self.spend(1)?;
                indexed(&of, &index, *optional, &shown)
            }
            NodeKind::Call(fun, args) => {
                let args = args.iter().map(|arg| self.value(arg)).collect::<Result<Vec<_>>>()?;
                self.spend(call::cost(*fun, &args))?;
                call::call(*fun, &args)
            }
            NodeKind::Chain(first, rest) => {
                let mut left = self.value(first)?;
                for (fun, operand) in rest {
                    let args = [left, self.value(operand)?];
                    self.spend(call::cost(*fun, &args))?;
                    left = call::call(*fun, &args)?;
                }
                Ok(left)
            }
            NodeKind::Regex(fun, regexp, args) => {
                let args = args.iter().map(|arg| self.value(arg)).collect::<Result<Vec<_>>>()?;
                self.spend(call::cost(*fun, &args))?;
                call::regex(*fun, regexp, &args)
            }
            NodeKind::And(operands) => self.logic(operands, false),
            NodeKind::Or(operands) => self.logic(operands, true),
            NodeKind::If(parts) => {
                let [condition, yes, no] = &**parts;
                match self.value(condition)? {
                    Val::Bool(true) => self.value(yes),
                    Val::Bool(false) => self.value(no),
                    other => fail(format!("no such overload: {} ? … : …", other.type_name())),
                }
            }
            NodeKind::List(items) => {
                self.spend(LIST)?;
                let mut list = Vec::with_capacity(items.len());
                for (item, optional) in items {
                    if let Some(value) = unwrapped(self.value(item)?, *optional)? {
                        list.push(value);
                    }
                }
                Ok(Val::list(list))
            }
            NodeKind::Map(entries) => self.map(entries),
            NodeKind::Comprehension(of) => self.comprehension(of),
        }
    }

    fn map(&mut self, entries: &[(TypedNode, TypedNode, Optional)]) -> Result<Val> {
        self.spend(MAP)?;
        let mut found = Vec::with_capacity(entries.len());
        for (key, value, optional) in entries {
            let key = self.value(key)?;
            if !matches!(key, Val::Bool(_) | Val::Int(_) | Val::Uint(_) | Val::Str(_)) {
                return fail(format!("unsupported key type: {}", key.type_name()));
            }
            if let Some(value) = unwrapped(self.value(value)?, *optional)? {
                found.push((key, value));
            }
        }
        let map = MapVal::new(found);
        let is_unique = map.entries().iter().enumerate().all(|(at, (key, value))| {
            let first = map.get(key).expect("the key is there");
            std::ptr::eq(first, value) || !map.entries()[..at].iter().any(|(other, _)| other.equals(key))
        });
        if !is_unique {
            return fail("a key of the map is given twice");
        }
        Ok(Val::Map(Rc::new(map)))
    }

    /// `&&` (stops at false) and `||` (stops at true): an error counts only if no operand decides.
    fn logic(&mut self, operands: &[TypedNode], stop: bool) -> Result<Val> {
        let mut error = None;
        for operand in operands {
            match self.value(operand) {
                Ok(Val::Bool(value)) if value == stop => return Ok(Val::Bool(stop)),
                Ok(Val::Bool(_)) => {}
                Ok(other) => {
                    let text = format!("no such overload: {} in a logical expression", other.type_name());
                    error = error.or(Some(EvalError::Failed(text)));
                }
                Err(EvalError::Cost) => return Err(EvalError::Cost),
                Err(other) => error = error.or(Some(other)),
            }
        }
        error.map_or(Ok(Val::Bool(!stop)), Err)
    }

    fn comprehension(&mut self, of: &Loop) -> Result<Val> {
        let range = self.value(&of.range)?;
        if matches!(of.kind, Macro::OptMap | Macro::OptFlatMap) {
            return self.optional_map(of, &range);
        }
        let rounds: Vec<(Val, Val)> = match &range {
            Val::List(list) => {
                list.items.iter().enumerate().map(|(at, item)| (Val::Int(at as i64), item.clone())).collect()
            }
            Val::Map(map) => map.entries().to_vec(),
            Val::Optional(_) => return fail("an optional value cannot be the range of a macro"),
            other => return fail(format!("cannot go through a {}", other.type_name())),
        };
        let is_map = matches!(range, Val::Map(_));
        let mut found = Vec::new();
        let mut keys = Vec::new();
        let (mut count, mut error) = (0, None);
        for (key, item) in rounds {
            // The cost of the loop's condition and step.
            self.spend(if of.kind == Macro::Exists { 4 } else { 3 })?;
            self.variables.truncate(of.slot);
            let single = if is_map && !of.has_two { key.clone() } else { item.clone() };
            if of.has_two {
                self.variables.push(key.clone());
                self.variables.push(item.clone());
            } else {
                self.variables.push(single.clone());
            }
            let holds = match &of.condition {
                None => Ok(true),
                Some(condition) => match self.value(condition) {
                    Ok(Val::Bool(value)) => Ok(value),
                    Ok(other) => fail(format!("no such overload: {} as a condition", other.type_name())),
                    Err(error) => Err(error),
                },
            };
            match (of.kind, holds) {
                (_, Err(EvalError::Cost)) => return Err(EvalError::Cost),
                (Macro::All, Ok(false)) | (Macro::Exists, Ok(true)) => {
                    self.variables.truncate(of.slot);
                    return Ok(Val::Bool(of.kind == Macro::Exists));
                }
                (Macro::All | Macro::Exists, Err(other)) => error = error.or(Some(other)),
                (_, Err(other)) => return Err(other),
                (Macro::All | Macro::Exists, Ok(_)) | (_, Ok(false)) => {}
                (Macro::ExistsOne, Ok(true)) => count += 1,
                (Macro::Filter, Ok(true)) => {
                    self.spend(LIST + 1)?;
                    found.push(single);
                }
                (_, Ok(true)) => {
                    let transform = of.transform.as_ref().expect("these macros have one");
                    self.spend(LIST + 1)?;
                    found.push(self.value(transform)?);
                    keys.push(if of.kind == Macro::SortBy { single } else { key });
                }
            }
        }
        self.variables.truncate(of.slot);
        if let Some(error) = error {
            return Err(error);
        }
        match of.kind {
            Macro::All => Ok(Val::Bool(true)),
            Macro::Exists => Ok(Val::Bool(false)),
            Macro::ExistsOne => Ok(Val::Bool(count == 1)),
            Macro::TransformMap => Ok(Val::map(keys.into_iter().zip(found).collect())),
            Macro::TransformMapEntry => entries_of(found),
            Macro::SortBy => sorted_by(keys, &found),
            _ => Ok(Val::list(found)),
        }
    }

    fn optional_map(&mut self, of: &Loop, range: &Val) -> Result<Val> {
        let inner = match range {
            Val::Optional(None) => return Ok(Val::Optional(None)),
            Val::Optional(Some(inner)) => inner,
            other => return fail(format!("expected an optional value, found {}", other.type_name())),
        };
        self.variables.truncate(of.slot);
        self.variables.push((**inner).clone());
        let result = self.value(of.transform.as_ref().expect("these macros have one"));
        self.variables.truncate(of.slot);
        match (of.kind, result?) {
            (Macro::OptMap, value) => Ok(Val::Optional(Some(Rc::new(value)))),
            (_, value @ Val::Optional(_)) => Ok(value),
            (_, other) => fail(format!("expected an optional value, found {}", other.type_name())),
        }
    }
}

fn entries_of(maps: Vec<Val>) -> Result<Val> {
    let mut entries: Vec<(Val, Val)> = Vec::new();
    for map in maps {
        let Val::Map(map) = map else { return fail("transformMapEntry() needs maps") };
        entries.extend(map.entries().iter().cloned());
    }
    let map = MapVal::new(entries);
    let is_unique = map.entries().iter().all(|(key, value)| map.get(key).is_some_and(|first| first.equals(value)));
    if is_unique { Ok(Val::Map(Rc::new(map))) } else { fail("a key of the map is given twice") }
}

fn sorted_by(items: Vec<Val>, keys: &[Val]) -> Result<Val> {
    let mut order: Vec<usize> = (0..items.len()).collect();
    let mut is_comparable = true;
    order.sort_by(|a, b| {
        keys[*a].compare(&keys[*b]).unwrap_or_else(|| {
            is_comparable = false;
            std::cmp::Ordering::Equal
        })
    });
    if is_comparable {
        Ok(Val::list(order.into_iter().map(|at| items[at].clone()).collect()))
    } else {
        fail("values that cannot be compared cannot be sorted")
    }
}

/// The value of an item; `?` unwraps an optional.
fn unwrapped(value: Val, optional: Optional) -> Result<Option<Val>> {
    match (optional, value) {
        (Optional::No, value) => Ok(Some(value)),
        (Optional::Yes, Val::Optional(inner)) => Ok(inner.map(|inner| (*inner).clone())),
        (Optional::Yes, other) => fail(format!("expected an optional value, found {}", other.type_name())),
    }
}

fn some(value: &Val) -> Val {
    Val::Optional(Some(Rc::new(value.clone())))
}

/// The value of a field.
fn found<'m>(map: &'m MapVal, field: &FieldName) -> Option<&'m Val> {
    map.field(&field.name).or_else(|| map.field(field.plain.as_deref()?))
}

fn select(of: &Val, field: &FieldName, optional: Optional) -> Result<Val> {
    match of {
        Val::Map(map) => match (found(map, field), optional) {
            (Some(value), Optional::No) => Ok(value.clone()),
            (Some(value), Optional::Yes) => Ok(some(value)),
            (None, Optional::Yes) => Ok(Val::Optional(None)),
            (None, Optional::No) => fail(format!("no such key: {}", field.name)),
        },
        Val::Optional(None) => Ok(Val::Optional(None)),
        Val::Optional(Some(inner)) => select(inner, field, Optional::Yes),
        Val::Authorizer => Err(EvalError::Unknown),
        Val::Null if optional == Optional::Yes => Ok(Val::Optional(None)),
        other => fail(format!("no such field: {} of {}", field.name, other.type_name())),
    }
}

fn indexed(of: &Val, index: &Val, optional: Optional, shown: &str) -> Result<Val> {
    match of {
        Val::List(list) => {
            let at = match index {
                Val::Int(at) => Some(*at),
                Val::Uint(at) => i64::try_from(*at).ok(),
                Val::Double(at) if at.fract() == 0.0 => Some(*at as i64),
                other => return fail(format!("no such overload: list[{}]", other.type_name())),
            };
            let found = at.and_then(|at| usize::try_from(at).ok()).and_then(|at| list.items.get(at));
            match (found, optional) {
                (Some(value), Optional::No) => Ok(value.clone()),
                (Some(value), Optional::Yes) => Ok(some(value)),
                (None, Optional::Yes) => Ok(Val::Optional(None)),
                (None, Optional::No) => fail(format!("index out of bounds{shown}")),
            }
        }
        Val::Map(map) => match (map.get(index), optional) {
            (Some(value), Optional::No) => Ok(value.clone()),
            (Some(value), Optional::Yes) => Ok(some(value)),
            (None, Optional::Yes) => Ok(Val::Optional(None)),
            (None, Optional::No) => fail(format!("no such key{shown}")),
        },
        Val::Optional(None) => Ok(Val::Optional(None)),
        Val::Optional(Some(inner)) => indexed(inner, index, Optional::Yes, shown),
        other => fail(format!("no such overload: {}[…]", other.type_name())),
    }
}

/// Whether a function depends only on its arguments; others are unknown here.
pub(crate) fn is_known(fun: Fun) -> bool {
    !matches!(
        fun,
        Fun::AuthPath
            | Fun::AuthGroup
            | Fun::AuthServiceAccount
            | Fun::AuthResource
            | Fun::AuthSubresource
            | Fun::AuthNamespace
            | Fun::AuthName
            | Fun::AuthFieldSelector
            | Fun::AuthLabelSelector
            | Fun::AuthCheck
            | Fun::AuthAllowed
            | Fun::AuthReason
            | Fun::AuthErrored
            | Fun::AuthError
    )
}
