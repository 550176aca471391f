//! `@ytt:math`: mathematical functions and constants, with the reference's results and messages.

mod elementary;

use std::cell::Cell;
use std::rc::Rc;

use num_bigint::BigInt;
use num_traits::FromPrimitive;
use ytterby_starlark::{Args, Builtin, Error, Eval, Value};

use super::Module;
use crate::args::{fail, float, go_type, one, two};

const WARNING: &str = "\nWarning: a function from the @ytt:math module is used in this invocation; this module does not guarantee bit-identical results across CPU architectures.";

type Unary = fn(f64) -> f64;
type Binary = fn(f64, f64) -> f64;

const UNARY: &[(&str, Unary)] = &[
    ("fabs", f64::abs),
    ("round", f64::round),
    ("exp", elementary::exp),
    ("sqrt", f64::sqrt),
    ("acos", elementary::acos),
    ("asin", elementary::asin),
    ("atan", elementary::atan),
    ("cos", elementary::cos),
    ("sin", elementary::sin),
    ("tan", elementary::tan),
    ("degrees", |x| 360.0 * x / (2.0 * std::f64::consts::PI)),
    ("radians", |x| 2.0 * std::f64::consts::PI * x / 360.0),
    ("acosh", elementary::acosh),
    ("asinh", elementary::asinh),
    ("atanh", elementary::atanh),
    ("cosh", elementary::cosh),
    ("sinh", elementary::sinh),
    ("tanh", elementary::tanh),
    ("gamma", elementary::gamma),
];

const BINARY: &[(&str, Binary)] = &[
    ("copysign", f64::copysign),
    ("mod", |x, y| x % y),
    ("pow", elementary::pow),
    ("remainder", remainder),
    ("atan2", elementary::atan2),
    ("hypot", elementary::hypot),
];

/// The module. It warns when one of its functions is called for the first time.
pub(super) fn module() -> Module {
    let warned = Rc::new(Cell::new(false));
    let mut module = Module::new("math")
        .with_value("e", Value::Float(std::f64::consts::E))
        .with_value("pi", Value::Float(std::f64::consts::PI))
        .with_value("ceil", function("ceil", &warned, |args| to_int("ceil", args, f64::ceil).map_err(named("ceil"))))
        .with_value(
            "floor",
            function("floor", &warned, |args| to_int("floor", args, f64::floor).map_err(named("floor"))),
        )
        // The reference omits the name in front of errors of `log` itself.
        .with_value("log", function("log", &warned, log));
    for &(name, compute) in UNARY {
        let call = move |args: Args<'_>| Ok(Value::Float(compute(float(one(&args)?)?)));
        module = module.with_value(name, function(name, &warned, move |args| call(args).map_err(named(name))));
    }
    for &(name, compute) in BINARY {
        // The reference reports `mod` under another name.
        let shown = if name == "mod" { "round" } else { name };
        let call = move |args: Args<'_>| {
            let (x, y) = two(&args)?;
            Ok(Value::Float(compute(float(x)?, float(y)?)))
        };
        module = module.with_value(name, function(shown, &warned, move |args| call(args).map_err(named(shown))));
    }
    module
}

fn function(
    name: &'static str,
    warned: &Rc<Cell<bool>>,
    body: impl Fn(Args<'_>) -> Result<Value, Error> + 'static,
) -> Value {
    let warned = warned.clone();
    Value::from(Builtin::new(name, move |eval: &mut Eval, args: Args<'_>| {
        if !warned.replace(true) {
            eval.print(WARNING.as_bytes());
        }
        body(args)
    }))
}

fn named(name: &'static str) -> impl Fn(Error) -> Error {
    move |error| error.in_context(name)
}

fn to_int(name: &str, args: Args<'_>, round: fn(f64) -> f64) -> Result<Value, Error> {
    args.count(name, 1, 1)?;
    match &args.positional[0] {
        value @ (Value::Int(_) | Value::BigInt(_)) => Ok(value.clone()),
        Value::Float(value) if value.is_nan() => fail!("cannot convert float NaN to integer"),
        Value::Float(value) => match BigInt::from_f64(round(*value)) {
            Some(whole) => Ok(Value::big(whole)),
            None => fail!("cannot convert float infinity to integer"),
        },
        other => fail!("expected float value, but was {}", go_type(other)),
    }
}

fn log(args: Args<'_>) -> Result<Value, Error> {
    args.count("log", 1, 2)?;
    let x = float(&args.positional[0])?;
    let base = args.positional.get(1).map_or(Ok(std::f64::consts::E), float)?;
    Ok(Value::Float(elementary::ln(x) / elementary::ln(base)))
}

/// `x` minus the nearest multiple of `y`; of two nearest ones, the even multiple.
fn remainder(x: f64, y: f64) -> f64 {
    if x.is_nan() || y.is_nan() || x.is_infinite() || y == 0.0 {
        return f64::NAN;
    }
    if y.is_infinite() {
        return x;
    }
    let size = y.abs();
    // The remainder by `2y` is computed first, so that the parity of the quotient is known.
    let mut rest = if size <= f64::MAX / 2.0 { x.abs() % (size + size) } else { x.abs() };
    let is_over_half = |rest: f64, or_equal: bool| {
        if size < 4.0 * f64::MIN_POSITIVE {
            rest + rest > size || or_equal && rest + rest == size
        } else {
            rest > 0.5 * size || or_equal && rest == 0.5 * size
        }
    };
    if is_over_half(rest, false) {
        rest -= size;
        if is_over_half(rest, true) {
            rest -= size;
        }
    }
    if x.is_sign_negative() { -rest } else { rest }
}
