//! Evaluation: a walk over the tree with a budget. What goes wrong is told without any value.

use std::cmp::Ordering;
use std::rc::Rc;

use ytterby_text::Str;

use super::syntax::{Comprehension, Expr, Function, Macro, Op};
use super::value::Val;
use crate::node::Node;
use ytterby_regexp::Regexp;

/// Nested comprehensions multiply; this many steps take about half a second.
const MAX_STEPS: u32 = 10_000_000;

/// The answer of an expression about a value.
pub(super) fn evaluate(expr: &Expr, value: &Node) -> Result<bool> {
    let mut eval = Eval { vars: vec![Val::of(value)], steps: 0 };
    match eval.value(expr)? {
        Val::Bool(answer) => Ok(answer),
        other => Err(format!("CEL expression is not a bool, but {}", other.type_name())),
    }
}

struct Eval<'n> {
    vars: Vec<Val<'n>>,
    steps: u32,
}

type Result<T> = std::result::Result<T, String>;

impl<'n> Eval<'n> {
    fn value(&mut self, expr: &Expr) -> Result<Val<'n>> {
        self.spend(1)?;
        let value = self.compute(expr)?;
        self.spend(value.cost())?;
        Ok(value)
    }

    fn spend(&mut self, steps: usize) -> Result<()> {
        self.steps = self.steps.saturating_add(u32::try_from(steps).unwrap_or(u32::MAX));
        if self.steps > MAX_STEPS { Err("CEL expression takes too many steps".to_owned()) } else { Ok(()) }
    }

    fn compute(&mut self, expr: &Expr) -> Result<Val<'n>> {
        match expr {
            Expr::Literal(value) => Ok(value.clone()),
            Expr::Var(at) => Ok(self.vars[*at].clone()),
            Expr::Select(of, field) => {
                let of = self.value(of)?;
                self.look_up(&of)?;
                field_of(&of, field)?.ok_or_else(|| format!("no such key: {field}"))
            }
            Expr::Has(of, field) => {
                let of = self.value(of)?;
                self.look_up(&of)?;
                // Null fields are absent, as in Kubernetes.
                Ok(Val::Bool(field_of(&of, field)?.is_some_and(|value| !matches!(value, Val::Null))))
            }
            Expr::Index(of, index) => {
                // Values are never shown; what the expression itself holds may be.
                let is_literal = matches!(**index, Expr::Literal(_));
                let (of, index) = (self.value(of)?, self.value(index)?);
                self.look_up(&of)?;
                let shown = || match index.text() {
                    Some(text) if is_literal => format!(": {text}"),
                    _ => String::new(),
                };
                indexed(&of, &index, shown)
            }
            Expr::List(items) => {
                let items = items.iter().map(|item| self.value(item)).collect::<Result<Vec<_>>>()?;
                Ok(Val::List(items.into()))
            }
            Expr::Map(entries) => self.map(entries),
            Expr::Not(operand) => match self.value(operand)? {
                Val::Bool(value) => Ok(Val::Bool(!value)),
                other => Err(no_overload("!", &[&other])),
            },
            Expr::Negate(operand) => match self.value(operand)? {
                Val::Int(value) => value.checked_neg().map(Val::Int).ok_or_else(overflow),
                Val::Double(value) => Ok(Val::Double(-value)),
                other => Err(no_overload("-", &[&other])),
            },
            Expr::And(operands) => self.logic(operands, false),
            Expr::Or(operands) => self.logic(operands, true),
            Expr::Chain(first, rest) => {
                let mut left = self.value(first)?;
                for (op, right) in rest {
                    let right = self.value(right)?;
                    left = self.binary(*op, &left, &right)?;
                }
                Ok(left)
            }
            Expr::If(parts) => {
                let [condition, yes, no] = &**parts;
                match self.value(condition)? {
                    Val::Bool(true) => self.value(yes),
                    Val::Bool(false) => self.value(no),
                    other => Err(no_overload("?:", &[&other])),
                }
            }
            Expr::Call(function, args) => {
                let args = args.iter().map(|arg| self.value(arg)).collect::<Result<Vec<_>>>()?;
                if *function == Function::Matches {
                    // The pattern is compiled, unless it was used before.
                    self.spend(1000 + 16 * 64 * args.last().map_or(0, Val::cost))?;
                }
                call(*function, &args)
            }
            Expr::Matches(of, regexp) => match self.value(of)? {
                Val::Str(text) => Ok(Val::Bool(regexp.is_match(&Str::from(&*text)))),
                other => Err(no_overload("matches", &[&other])),
            },
            Expr::Comprehension(comprehension) => self.comprehension(comprehension),
        }
    }

    /// Maps that an expression writes out are short; they are searched from front to back.
    fn look_up(&mut self, of: &Val<'n>) -> Result<()> {
        match of {
            Val::Map(items) => self.spend(items.len()),
            _ => Ok(()),
        }
    }

    fn map(&mut self, entries: &[(Expr, Expr)]) -> Result<Val<'n>> {
        let mut items: Vec<(Val<'n>, Val<'n>)> = Vec::with_capacity(entries.len());
        for (key, value) in entries {
            let key = self.value(key)?;
            if !matches!(key, Val::Bool(_) | Val::Int(_) | Val::UInt(_) | Val::Str(_)) {
                return Err(format!("unsupported key type: {}", key.type_name()));
            }
            if items.iter().any(|(other, _)| other.equals(&key, &mut self.steps)) {
                return Err("repeated key in map".to_owned());
            }
            items.push((key, self.value(value)?));
        }
        Ok(Val::Map(items.into()))
    }

    /// `&&` and `||`: an operand that decides wins over errors before and after it.
    fn logic(&mut self, operands: &[Expr], decisive: bool) -> Result<Val<'n>> {
        let mut problem = None;
        for operand in operands {
            match self.value(operand) {
                Ok(Val::Bool(value)) if value == decisive => return Ok(Val::Bool(decisive)),
                Ok(Val::Bool(_)) => {}
                Ok(other) => {
                    problem = problem.or_else(|| Some(no_overload(if decisive { "||" } else { "&&" }, &[&other])))
                }
                Err(error) => problem = problem.or(Some(error)),
            }
        }
        match problem {
            Some(problem) => Err(problem),
            None => Ok(Val::Bool(!decisive)),
        }
    }

    fn comprehension(&mut self, comprehension: &Comprehension) -> Result<Val<'n>> {
        let range = self.value(&comprehension.range)?;
        if !range.is_list() && !range.is_map() {
            return Err(format!("cannot go through a {}", range.type_name()));
        }
        let mut collected = Vec::new();
        let mut count = 0;
        let mut problem = None;
        for at in 0..range.size().unwrap_or(0) {
            let Some(element) = range.element(at) else { break };
            self.vars.push(element.clone());
            let step = self.step(comprehension);
            self.vars.pop();
            match (comprehension.kind, step) {
                (Macro::All, Ok((false, _))) => return Ok(Val::Bool(false)),
                (Macro::Exists, Ok((true, _))) => return Ok(Val::Bool(true)),
                (Macro::All | Macro::Exists, Err(error)) => problem = problem.or(Some(error)),
                (_, Err(error)) => return Err(error),
                (Macro::ExistsOne, Ok((true, _))) => count += 1,
                (Macro::Filter, Ok((true, _))) => collected.push(element),
                (Macro::Map, Ok((true, transformed))) => collected.extend(transformed),
                _ => {}
            }
        }
        match (comprehension.kind, problem) {
            (_, Some(problem)) => Err(problem),
            (Macro::All, None) => Ok(Val::Bool(true)),
            (Macro::Exists, None) => Ok(Val::Bool(false)),
            (Macro::ExistsOne, None) => Ok(Val::Bool(count == 1)),
            (Macro::Filter | Macro::Map, None) => Ok(Val::List(collected.into())),
        }
    }

    /// The condition for one element, and what `map` makes of it.
    fn step(&mut self, comprehension: &Comprehension) -> Result<(bool, Option<Val<'n>>)> {
        let holds = match &comprehension.condition {
            None => true,
            Some(condition) => match self.value(condition)? {
                Val::Bool(value) => value,
                other => return Err(format!("condition is not a bool, but {}", other.type_name())),
            },
        };
        match &comprehension.transform {
            Some(transform) if holds => Ok((true, Some(self.value(transform)?))),
            _ => Ok((holds, None)),
        }
    }

    fn binary(&mut self, op: Op, left: &Val<'n>, right: &Val<'n>) -> Result<Val<'n>> {
        let ordered = |accepts: fn(Ordering) -> bool| match left.order(right) {
            Some(order) => Ok(Val::Bool(accepts(order))),
            // NaN is in no order, but it is a number.
            None if left.is_number() && right.is_number() => Ok(Val::Bool(false)),
            None => Err(no_overload(symbol(op), &[left, right])),
        };
        match op {
            Op::Equal => Ok(Val::Bool(left.equals(right, &mut self.steps))),
            Op::NotEqual => Ok(Val::Bool(!left.equals(right, &mut self.steps))),
            Op::Less => ordered(Ordering::is_lt),
            Op::LessEqual => ordered(Ordering::is_le),
            Op::Greater => ordered(Ordering::is_gt),
            Op::GreaterEqual => ordered(Ordering::is_ge),
            Op::In if right.is_map() => {
                self.look_up(right)?;
                Ok(Val::Bool(right.get(left).is_some()))
            }
            Op::In if right.is_list() => {
                let size = right.size().unwrap_or(0);
                let mut items = (0..size).filter_map(|at| right.item(at));
                Ok(Val::Bool(items.any(|item| item.equals(left, &mut self.steps))))
            }
            Op::In => Err(no_overload("in", &[left, right])),
            Op::Add if left.is_list() && right.is_list() => {
                let items =
                    |list: &Val<'n>| (0..list.size().unwrap_or(0)).filter_map(|at| list.item(at)).collect::<Vec<_>>();
                let mut joined = items(left);
                joined.extend(items(right));
                self.spend(joined.len())?;
                Ok(Val::List(joined.into()))
            }
            Op::Add | Op::Subtract | Op::Multiply | Op::Divide | Op::Remainder => arithmetic(op, left, right),
        }
    }
}

fn symbol(op: Op) -> &'static str {
    match op {
        Op::Equal => "==",
        Op::NotEqual => "!=",
        Op::Less => "<",
        Op::LessEqual => "<=",
        Op::Greater => ">",
        Op::GreaterEqual => ">=",
        Op::In => "in",
        Op::Add => "+",
        Op::Subtract => "-",
        Op::Multiply => "*",
        Op::Divide => "/",
        Op::Remainder => "%",
    }
}

fn overflow() -> String {
    "integer overflow".to_owned()
}

fn no_overload(operation: &str, operands: &[&Val<'_>]) -> String {
    let types: Vec<&str> = operands.iter().map(|operand| operand.type_name()).collect();
    format!("no such overload: {operation} of {}", types.join(" and "))
}

fn arithmetic<'n>(op: Op, left: &Val<'n>, right: &Val<'n>) -> Result<Val<'n>> {
    let by_zero = || match op {
        Op::Remainder => "modulus by zero".to_owned(),
        _ => "division by zero".to_owned(),
    };
    match (left, right) {
        (Val::Int(a), Val::Int(b)) => {
            let result = match op {
                Op::Add => a.checked_add(*b),
                Op::Subtract => a.checked_sub(*b),
                Op::Multiply => a.checked_mul(*b),
                _ if *b == 0 => return Err(by_zero()),
                Op::Divide => a.checked_div(*b),
                _ => a.checked_rem(*b),
            };
            result.map(Val::Int).ok_or_else(overflow)
        }
        (Val::UInt(a), Val::UInt(b)) => {
            let result = match op {
                Op::Add => a.checked_add(*b),
                Op::Subtract => a.checked_sub(*b),
                Op::Multiply => a.checked_mul(*b),
                _ if *b == 0 => return Err(by_zero()),
                Op::Divide => a.checked_div(*b),
                _ => a.checked_rem(*b),
            };
            result.map(Val::UInt).ok_or_else(overflow)
        }
        (Val::Double(a), Val::Double(b)) => match op {
            Op::Add => Ok(Val::Double(a + b)),
            Op::Subtract => Ok(Val::Double(a - b)),
            Op::Multiply => Ok(Val::Double(a * b)),
            Op::Divide => Ok(Val::Double(a / b)),
            _ => Err(no_overload("%", &[left, right])),
        },
        (Val::Str(a), Val::Str(b)) if op == Op::Add => Ok(Val::Str(format!("{a}{b}").into())),
        (Val::Bytes(a), Val::Bytes(b)) if op == Op::Add => Ok(Val::Bytes([&**a, &**b].concat().into())),
        _ => Err(no_overload(symbol(op), &[left, right])),
    }
}

/// The field of a map. Kubernetes writes names that are no identifiers in its own way: `a__dash__b`.
fn field_of<'n>(of: &Val<'n>, field: &Rc<str>) -> Result<Option<Val<'n>>> {
    if !of.is_map() {
        return Err(format!("no such field: {field} of {}", of.type_name()));
    }
    let found = of.get(&Val::Str(field.clone()));
    if found.is_some() || !field.contains("__") {
        return Ok(found);
    }
    let unescaped = ytterby_text::cel::unescaped(field);
    Ok(of.get(&Val::Str(unescaped.into())))
}

fn indexed<'n>(of: &Val<'n>, index: &Val<'n>, shown: impl Fn() -> String) -> Result<Val<'n>> {
    if of.is_map() {
        return of.get(index).ok_or_else(|| format!("no such key{}", shown()));
    }
    let number = match index {
        Val::Int(index) => Some(*index),
        Val::UInt(index) => i64::try_from(*index).ok(),
        Val::Double(index) if index.fract() == 0.0 => Some(*index as i64),
        _ => None,
    };
    match number {
        Some(number) if of.is_list() => {
            let item = usize::try_from(number).ok().and_then(|at| of.item(at));
            item.ok_or_else(|| format!("index out of bounds{}", shown()))
        }
        _ => Err(no_overload("[]", &[of, index])),
    }
}

fn call<'n>(function: Function, args: &[Val<'n>]) -> Result<Val<'n>> {
    let wrong = |name: &str| Err(no_overload(name, &args.iter().collect::<Vec<_>>()));
    let range = || "conversion is out of range".to_owned();
    match (function, args) {
        (Function::Size, [value]) => match value.size() {
            Some(size) => Ok(Val::Int(i64::try_from(size).map_err(|_| overflow())?)),
            None => wrong("size"),
        },
        (Function::Contains, [Val::Str(text), Val::Str(part)]) => Ok(Val::Bool(text.contains(&**part))),
        (Function::StartsWith, [Val::Str(text), Val::Str(part)]) => Ok(Val::Bool(text.starts_with(&**part))),
        (Function::EndsWith, [Val::Str(text), Val::Str(part)]) => Ok(Val::Bool(text.ends_with(&**part))),
        (Function::Matches, [Val::Str(text), Val::Str(pattern)]) => {
            let not_valid = |_| "not a valid regular expression".to_owned();
            let regexp = Regexp::shared(&Str::from(&**pattern)).map_err(not_valid)?;
            Ok(Val::Bool(regexp.is_match(&Str::from(&**text))))
        }
        (Function::Int, [value]) => match value {
            Val::Int(_) => Ok(value.clone()),
            Val::UInt(value) => i64::try_from(*value).map(Val::Int).map_err(|_| range()),
            Val::Double(value) if *value > -9.3e18 && *value < 9.2e18 => Ok(Val::Int(*value as i64)),
            Val::Double(_) => Err(range()),
            Val::Str(text) => text.parse().map(Val::Int).map_err(|_| "not an int".to_owned()),
            _ => wrong("int"),
        },
        (Function::UInt, [value]) => match value {
            Val::UInt(_) => Ok(value.clone()),
            Val::Int(value) => u64::try_from(*value).map(Val::UInt).map_err(|_| range()),
            Val::Double(value) if *value >= 0.0 && *value < 1.8e19 => Ok(Val::UInt(*value as u64)),
            Val::Double(_) => Err(range()),
            Val::Str(text) => text.parse().map(Val::UInt).map_err(|_| "not a uint".to_owned()),
            _ => wrong("uint"),
        },
        (Function::Double, [value]) => match value {
            Val::Double(_) => Ok(value.clone()),
            Val::Int(value) => Ok(Val::Double(*value as f64)),
            Val::UInt(value) => Ok(Val::Double(*value as f64)),
            Val::Str(text) => text.parse().map(Val::Double).map_err(|_| "not a double".to_owned()),
            _ => wrong("double"),
        },
        (Function::String, [value]) => match value.text() {
            Some(text) => Ok(Val::Str(text)),
            None => wrong("string"),
        },
        (Function::Bytes, [value]) => match value {
            Val::Bytes(_) => Ok(value.clone()),
            Val::Str(text) => Ok(Val::Bytes(text.as_bytes().into())),
            _ => wrong("bytes"),
        },
        (Function::Bool, [value]) => match value {
            Val::Bool(_) => Ok(value.clone()),
            Val::Str(text) => match &**text {
                "1" | "t" | "true" | "TRUE" | "True" => Ok(Val::Bool(true)),
                "0" | "f" | "false" | "FALSE" | "False" => Ok(Val::Bool(false)),
                _ => Err("not a bool".to_owned()),
            },
            _ => wrong("bool"),
        },
        (Function::Type, [value]) => Ok(Val::Type(value.type_name())),
        (Function::Dyn, [value]) => Ok(value.clone()),
        (Function::Contains, _) => wrong("contains"),
        (Function::StartsWith, _) => wrong("startsWith"),
        (Function::EndsWith, _) => wrong("endsWith"),
        (Function::Matches, _) => wrong("matches"),
        (Function::Size, _) => wrong("size"),
        _ => wrong("conversion"),
    }
}
