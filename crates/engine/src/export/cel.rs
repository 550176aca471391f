//! Translates simple lambdas into CEL: comparisons and arithmetic on the value, its keys and
//! literals.
//!
//! The two languages differ, and Kubernetes checks types before it accepts a rule. So the
//! translation uses the types of the schema, and gives up if CEL has no equivalent expression; then
//! the rule stays text.
//!
//! - CEL does not mix numbers: integers beside floats are converted.
//! - A null field does not exist for Kubernetes: if null is not an error for us, `has()` is tested
//!   first.
//! - `&&` and `||` may evaluate either operand first: if the left one can fail, `?:` keeps the
//!   order.
//! - `%` has the sign of the left operand in CEL, of the right one in Starlark.

use ytterby_starlark::ast::{Arg, Ast, ExprId, ExprKind};
use ytterby_starlark::{BinaryOp, CompareOp, UnaryOp, Value};
use ytterby_text::{Str, cel};

use crate::node::{Node, Scalar};
use crate::schema::{MapType, Presence, ScalarType, Slot, Type};
use crate::validate::rules::cel_literal;

/// The equivalent CEL expression over `self` for values of `slot`, if the function is a lambda of
/// one parameter and uses only what CEL has.
pub(super) fn translate(function: &Value, slot: &Slot) -> Option<String> {
    let Value::Function(function) = function else { return None };
    let (ast, body) = function.lambda()?;
    let [parameter] = function.param_names() else { return None };
    if function.max_positional() != Some(1) {
        return None;
    }
    let translator = Translator { ast, parameter, root: kind_of(&slot.ty)?.0 };
    let part = translator.expr(body, Fails::AsFalse)?;
    (part.kind == CelKind::Bool && part.null == Null::Never).then_some(part.text)
}

struct Translator<'a> {
    ast: &'a Ast,
    parameter: &'a Str,
    /// The kind of `self`. Rules do not check null.
    root: CelKind<'a>,
}

/// An expression of CEL.
struct CelExpression<'a> {
    text: String,
    precedence: Precedence,
    kind: CelKind<'a>,
    null: Null,
    /// Whether it may fail, in both languages alike.
    can_fail: bool,
}

/// The kind of an expression's values.
#[derive(Clone, Copy)]
enum CelKind<'a> {
    Null,
    Bool,
    Int,
    Double,
    Text,
    /// Its type is unknown to CEL before evaluation.
    IntOrText,
    List,
    /// An object with properties.
    Object(&'a MapType),
    /// A map with arbitrary keys.
    Map(&'a MapType),
}

impl PartialEq for CelKind<'_> {
    fn eq(&self, other: &Self) -> bool {
        std::mem::discriminant(self) == std::mem::discriminant(other)
    }
}

impl CelKind<'_> {
    fn is_scalar(self) -> bool {
        !matches!(self, CelKind::Null | CelKind::List | CelKind::Object(_) | CelKind::Map(_))
    }
}

/// How null appears.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Null {
    Never,
    /// As an absent field.
    Absent,
    /// As a value.
    Value,
}

/// The effect of an error.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Fails {
    /// The rule does not hold, as if it were false.
    AsFalse,
    /// It must be distinguished from false.
    Apart,
}

/// Whether the sign of a remainder matters; it does not if it is compared with 0.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Sign {
    Matters,
    Ignored,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Membership {
    In,
    NotIn,
}

/// How tightly an expression binds; larger is tighter.
type Precedence = u8;

const CHOICE: Precedence = 0;
const OR: Precedence = 1;
const AND: Precedence = 2;
const RELATION: Precedence = 3;
const SUM: Precedence = 4;
const PRODUCT: Precedence = 5;
const UNARY: Precedence = 6;
const PRIMARY: Precedence = 7;

impl<'a> CelExpression<'a> {
    fn primary(text: String, kind: CelKind<'a>) -> CelExpression<'a> {
        CelExpression { text, precedence: PRIMARY, kind, null: Null::Never, can_fail: false }
    }

    /// The text, in parentheses if it binds less tightly.
    fn at_least(&self, precedence: Precedence) -> String {
        if self.precedence < precedence { format!("({})", self.text) } else { self.text.clone() }
    }

    /// Whether using the value fails: null has no length, no order and no items.
    fn fails_when_used(&self) -> bool {
        self.can_fail || self.null != Null::Never
    }

    /// The same number as a double.
    fn into_double(self) -> Option<CelExpression<'a>> {
        match self.kind {
            CelKind::Double => Some(self),
            CelKind::Int if self.null == Null::Never => {
                let digits = self.text.strip_prefix('-').unwrap_or(&self.text);
                let is_literal = digits.bytes().all(|byte| byte.is_ascii_digit());
                Some(if is_literal {
                    CelExpression { text: format!("{}.0", self.text), kind: CelKind::Double, ..self }
                } else {
                    let text = format!("double({})", self.text);
                    CelExpression { can_fail: self.can_fail, ..CelExpression::primary(text, CelKind::Double) }
                })
            }
            _ => None,
        }
    }
}

impl<'a> Translator<'a> {
    fn expr(&self, id: ExprId, fails: Fails) -> Option<CelExpression<'a>> {
        crate::deep(|| self.translated(id, fails))
    }

    fn translated(&self, id: ExprId, fails: Fails) -> Option<CelExpression<'a>> {
        let literal = |text: String, kind| Some(CelExpression::primary(text, kind));
        match &self.ast[self.ast.unparen(id)].kind {
            ExprKind::Ident(name) if name == self.parameter => literal("self".into(), self.root),
            ExprKind::Ident(name) => match &*name.to_str() {
                "True" => literal("true".into(), CelKind::Bool),
                "False" => literal("false".into(), CelKind::Bool),
                "None" => {
                    Some(CelExpression { null: Null::Value, ..CelExpression::primary("null".into(), CelKind::Null) })
                }
                _ => None,
            },
            ExprKind::Int(value) => literal(value.to_string(), CelKind::Int),
            ExprKind::Float(value) => literal(cel_literal(&Node::Scalar(Scalar::Float(*value))), CelKind::Double),
            ExprKind::Str(text) => literal(quoted(text)?, CelKind::Text),
            ExprKind::Dot(operand, name) => self.field(*operand, name),
            ExprKind::Index(operand, key) => match &self.ast[self.ast.unparen(*key)].kind {
                ExprKind::Str(name) => self.field(*operand, name),
                _ => None,
            },
            ExprKind::Not(operand) => {
                let part = self.condition(*operand, Fails::Apart)?;
                Some(CelExpression { text: format!("!{}", part.at_least(UNARY)), precedence: UNARY, ..part })
            }
            ExprKind::Unary(UnaryOp::Minus, operand) => {
                let part = self.expr(*operand, fails)?;
                let is_number = matches!(part.kind, CelKind::Int | CelKind::Double);
                let can_fail = part.fails_when_used();
                is_number.then(|| {
                    let text = format!("-{}", part.at_least(PRIMARY));
                    CelExpression { text, precedence: UNARY, kind: part.kind, null: Null::Never, can_fail }
                })
            }
            ExprKind::And(left, right) => self.both(*left, *right, fails),
            ExprKind::Or(left, right) => self.either(*left, *right, fails),
            ExprKind::Compare(op @ (CompareOp::Eq | CompareOp::Ne), left, right) => self.equal(*op, *left, *right),
            ExprKind::Compare(op, left, right) => self.ordered(*op, *left, *right),
            ExprKind::Binary(BinaryOp::Add, left, right) => self.arithmetic(*left, "+", *right, SUM),
            ExprKind::Binary(BinaryOp::Sub, left, right) => self.arithmetic(*left, "-", *right, SUM),
            ExprKind::Binary(BinaryOp::Mul, left, right) => self.arithmetic(*left, "*", *right, PRODUCT),
            ExprKind::Binary(BinaryOp::Mod, left, right) => self.remainder(*left, *right, Sign::Matters),
            ExprKind::Binary(BinaryOp::In, left, right) => self.in_list(*left, *right, Membership::In),
            ExprKind::NotIn(left, right) => self.in_list(*left, *right, Membership::NotIn),
            ExprKind::Call(callee, args) => self.call(*callee, args),
            _ => None,
        }
    }

    /// An expression that is a boolean, not another value that counts as one.
    fn condition(&self, id: ExprId, fails: Fails) -> Option<CelExpression<'a>> {
        self.expr(id, fails).filter(|part| part.kind == CelKind::Bool && part.null == Null::Never)
    }

    /// `and`. CEL can swallow an error on the left, which matters if it must be distinguished from
    /// false.
    fn both(&self, left: ExprId, right: ExprId, fails: Fails) -> Option<CelExpression<'a>> {
        let (left, right) = (self.condition(left, fails)?, self.condition(right, fails)?);
        if left.can_fail && fails == Fails::Apart {
            return Some(choice(&left, &right.at_least(CHOICE + 1), "false"));
        }
        Some(joined(&left, "&&", &right, AND))
    }

    /// `or`. CEL would swallow an error on the left if the right is true.
    fn either(&self, left: ExprId, right: ExprId, fails: Fails) -> Option<CelExpression<'a>> {
        // Beside another operand, an error is no longer the same as false.
        let (left, right) = (self.condition(left, Fails::Apart)?, self.condition(right, fails)?);
        if left.can_fail {
            return Some(choice(&left, "true", &right.at_least(CHOICE + 1)));
        }
        Some(joined(&left, "||", &right, OR))
    }

    /// The item of a map.
    fn field(&self, operand: ExprId, name: &Str) -> Option<CelExpression<'a>> {
        let of = self.expr(operand, Fails::Apart)?;
        let can_fail = of.fails_when_used();
        let base = of.at_least(PRIMARY);
        let key = name.as_str()?;
        match of.kind {
            CelKind::Object(ty) => {
                let item = ty.literal(&Scalar::Str(name.clone()))?;
                let (kind, is_null) = kind_of(&item.slot.ty)?;
                let is_null = is_null || item.slot.nullable;
                let is_optional = matches!(item.presence, Presence::Optional(_));
                // CEL cannot distinguish a null field from an absent one; we do.
                if matches!(item.presence, Presence::Removed(_)) || (is_optional && is_null) {
                    return None;
                }
                let text = format!("{base}.{}", cel::escaped(key)?);
                let null = if is_null { Null::Absent } else { Null::Never };
                Some(CelExpression { null, can_fail: can_fail || is_optional, ..CelExpression::primary(text, kind) })
            }
            CelKind::Map(ty) => {
                let [pattern] = &ty.patterns[..] else { return None };
                let (kind, is_null) = kind_of(&pattern.slot.ty)?;
                let text = match cel::is_plain(key) {
                    true => format!("{base}.{key}"),
                    false => format!("{base}[{}]", quoted(name)?),
                };
                let null = if is_null || pattern.slot.nullable { Null::Value } else { Null::Never };
                Some(CelExpression { null, can_fail: true, ..CelExpression::primary(text, kind) })
            }
            _ => None,
        }
    }

    /// `==` and `!=` of scalars, and of anything with null.
    fn equal(&self, op: CompareOp, left: ExprId, right: ExprId) -> Option<CelExpression<'a>> {
        let sign = if self.is_zero(left) || self.is_zero(right) { Sign::Ignored } else { Sign::Matters };
        let (left, right) = (self.operand(left, sign)?, self.operand(right, sign)?);
        match (left.kind, right.kind) {
            (CelKind::Null, _) => return compared_with_null(op, &right),
            (_, CelKind::Null) => return compared_with_null(op, &left),
            (CelKind::List | CelKind::Object(_) | CelKind::Map(_), _) => return None,
            // Two nulls are equal, but two absent fields cannot be compared.
            _ if left.null != Null::Never && right.null != Null::Never => return None,
            _ => {}
        }
        let (left, right) = alike(left, right)?;
        let part = joined(&left, op.symbol(), &right, RELATION);
        // An absent field is null, which differs from all other values.
        let (field, other) = match (left.null, right.null) {
            (Null::Absent, _) => (&left, &right),
            (_, Null::Absent) => (&right, &left),
            _ => return Some(part),
        };
        // Testing first would hide that the other operand fails.
        (!other.can_fail).then(|| guarded(field, op == CompareOp::Ne, part))
    }

    fn is_zero(&self, id: ExprId) -> bool {
        matches!(self.ast[self.ast.unparen(id)].kind, ExprKind::Int(0))
    }

    fn operand(&self, id: ExprId, sign: Sign) -> Option<CelExpression<'a>> {
        match &self.ast[self.ast.unparen(id)].kind {
            ExprKind::Binary(BinaryOp::Mod, left, right) => self.remainder(*left, *right, sign),
            _ => self.expr(id, Fails::Apart),
        }
    }

    /// `%` of integers.
    fn remainder(&self, left: ExprId, right: ExprId, sign: Sign) -> Option<CelExpression<'a>> {
        let (of, by) = (self.expr(left, Fails::Apart)?, self.expr(right, Fails::Apart)?);
        if of.kind != CelKind::Int || by.kind != CelKind::Int {
            return None;
        }
        let (dividend, divisor) = (of.at_least(PRODUCT), by.at_least(UNARY));
        let is_number = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
        let is_plain =
            sign == Sign::Ignored || (is_number(&by.text) && (is_number(&of.text) || of.text.starts_with("size(")));
        let text = match is_plain {
            true => format!("{dividend} % {divisor}"),
            false => format!("({dividend} % {divisor} + {divisor}) % {divisor}"),
        };
        let may_be_zero = !is_number(&by.text) || by.text == "0";
        let can_fail = of.fails_when_used() || by.fails_when_used() || may_be_zero;
        Some(CelExpression { text, precedence: PRODUCT, kind: CelKind::Int, null: Null::Never, can_fail })
    }

    /// `<` and similar operators, of numbers or of texts.
    fn ordered(&self, op: CompareOp, left: ExprId, right: ExprId) -> Option<CelExpression<'a>> {
        let (left, right) = alike(self.expr(left, Fails::Apart)?, self.expr(right, Fails::Apart)?)?;
        let has_order = |kind| matches!(kind, CelKind::Int | CelKind::Double | CelKind::Text | CelKind::IntOrText);
        // Null can be ordered only with itself.
        let both_null = left.null != Null::Never && right.null != Null::Never;
        if !has_order(left.kind) || !has_order(right.kind) || both_null {
            return None;
        }
        let is_open = |part: &CelExpression<'_>| part.kind == CelKind::IntOrText;
        let can_fail = left.fails_when_used() || right.fails_when_used() || is_open(&left) || is_open(&right);
        Some(CelExpression {
            can_fail,
            kind: CelKind::Bool,
            null: Null::Never,
            ..joined(&left, op.symbol(), &right, RELATION)
        })
    }

    fn arithmetic(&self, left: ExprId, op: &str, right: ExprId, precedence: Precedence) -> Option<CelExpression<'a>> {
        let (left, right) = alike(self.expr(left, Fails::Apart)?, self.expr(right, Fails::Apart)?)?;
        let fits = match left.kind {
            CelKind::Int | CelKind::Double => true,
            CelKind::Text => op == "+",
            _ => false,
        };
        let can_fail = left.fails_when_used() || right.fails_when_used();
        let fits = fits && left.kind == right.kind;
        fits.then(|| CelExpression {
            can_fail,
            kind: left.kind,
            null: Null::Never,
            ..joined(&left, op, &right, precedence)
        })
    }

    fn in_list(&self, left: ExprId, right: ExprId, membership: Membership) -> Option<CelExpression<'a>> {
        let ExprKind::List(items) = &self.ast[self.ast.unparen(right)].kind else { return None };
        let mut left = self.expr(left, Fails::Apart)?;
        let mut can_fail = left.can_fail;
        let mut parts: Vec<CelExpression<'a>> = Vec::with_capacity(items.len());
        for item in items {
            let (same, item) = alike(left, self.expr(*item, Fails::Apart)?)?;
            // Lists in CEL contain values of one type.
            let is_hidden = same.null == Null::Absent && item.can_fail;
            let fits =
                !is_hidden && item.null == Null::Never && parts.first().is_none_or(|first| first.kind == item.kind);
            if !fits {
                return None;
            }
            can_fail |= item.can_fail;
            parts.push(item);
            left = same;
        }
        if !left.kind.is_scalar() {
            return None;
        }
        let texts: Vec<&str> = parts.iter().map(|part| &*part.text).collect();
        let text = format!("{} in [{}]", left.at_least(SUM), texts.join(", "));
        let part =
            |text, precedence| CelExpression { text, precedence, kind: CelKind::Bool, null: Null::Never, can_fail };
        let found = match membership {
            Membership::In => part(text, RELATION),
            Membership::NotIn => part(format!("!({text})"), UNARY),
        };
        Some(match left.null {
            Null::Absent => guarded(&left, membership == Membership::NotIn, found),
            _ => found,
        })
    }

    fn call(&self, callee: ExprId, args: &[Arg]) -> Option<CelExpression<'a>> {
        let [Arg::Positional(arg)] = args else { return None };
        let arg = self.expr(*arg, Fails::Apart)?;
        match &self.ast[self.ast.unparen(callee)].kind {
            // Objects have no size in Kubernetes.
            ExprKind::Ident(name) if *name == "len" => {
                let has_size = matches!(arg.kind, CelKind::Text | CelKind::List | CelKind::Map(_));
                let can_fail = arg.fails_when_used();
                has_size.then(|| CelExpression {
                    can_fail,
                    ..CelExpression::primary(format!("size({})", arg.text), CelKind::Int)
                })
            }
            ExprKind::Dot(operand, name) => {
                let method = match &*name.to_str() {
                    "startswith" => "startsWith",
                    "endswith" => "endsWith",
                    _ => return None,
                };
                let of = self.expr(*operand, Fails::Apart)?;
                let fits = of.kind == CelKind::Text && arg.kind == CelKind::Text;
                let can_fail = of.fails_when_used() || arg.fails_when_used();
                let text = format!("{}.{method}({})", of.at_least(PRIMARY), arg.text);
                fits.then(|| CelExpression { can_fail, ..CelExpression::primary(text, CelKind::Bool) })
            }
            _ => None,
        }
    }
}

/// Two operands; both must be of the same kind, or numbers.
fn alike<'a>(left: CelExpression<'a>, right: CelExpression<'a>) -> Option<(CelExpression<'a>, CelExpression<'a>)> {
    match (left.kind, right.kind) {
        (CelKind::Int, CelKind::Double) => Some((left.into_double()?, right)),
        (CelKind::Double, CelKind::Int) => Some((left, right.into_double()?)),
        (CelKind::IntOrText, CelKind::Int | CelKind::Text) | (CelKind::Int | CelKind::Text, CelKind::IntOrText) => {
            Some((left, right))
        }
        (one, other) => (one == other).then_some((left, right)),
    }
}

/// Two operands with a left-associative operator between them; relations do not associate at all.
fn joined<'a>(
    left: &CelExpression<'a>,
    op: &str,
    right: &CelExpression<'a>,
    precedence: Precedence,
) -> CelExpression<'a> {
    let left_precedence = if precedence == RELATION { precedence + 1 } else { precedence };
    let text = format!("{} {op} {}", left.at_least(left_precedence), right.at_least(precedence + 1));
    let can_fail = left.can_fail || right.can_fail;
    CelExpression { text, precedence, kind: CelKind::Bool, null: Null::Never, can_fail }
}

/// `condition ? then : otherwise`
fn choice<'a>(condition: &CelExpression<'a>, then: &str, otherwise: &str) -> CelExpression<'a> {
    let text = format!("{} ? {then} : {otherwise}", condition.at_least(OR));
    CelExpression { text, precedence: CHOICE, kind: CelKind::Bool, null: Null::Never, can_fail: true }
}

/// An expression about a field that may be null: it is `where_absent` if the field is absent.
fn guarded<'a>(field: &CelExpression<'a>, where_absent: bool, part: CelExpression<'a>) -> CelExpression<'a> {
    let (text, precedence) = match where_absent {
        true => (format!("!has({}) || {}", field.text, part.at_least(AND)), OR),
        false => (format!("has({}) && {}", field.text, part.at_least(RELATION)), AND),
    };
    CelExpression { text, precedence, ..part }
}

/// `x == None`. Kubernetes compares only objects with null; `dyn` avoids the type check.
fn compared_with_null<'a>(op: CompareOp, part: &CelExpression<'a>) -> Option<CelExpression<'a>> {
    let operand = match part.kind {
        CelKind::Object(_) | CelKind::IntOrText => part.at_least(SUM),
        _ => format!("dyn({})", part.text),
    };
    let text = format!("{operand} {} null", op.symbol());
    let can_fail = part.can_fail;
    let compared = CelExpression { text, precedence: RELATION, kind: CelKind::Bool, null: Null::Never, can_fail };
    match part.null {
        Null::Never => None,
        Null::Value => Some(compared),
        Null::Absent => Some(guarded(part, op == CompareOp::Eq, compared)),
    }
}

/// The kind of a type's values in CEL, and whether null is one of them. `None` if Kubernetes has no
/// type for it.
fn kind_of(ty: &Type) -> Option<(CelKind<'_>, bool)> {
    let kind = match ty {
        Type::Scalar(ScalarType::Bool) => CelKind::Bool,
        Type::Scalar(ScalarType::Int) => CelKind::Int,
        Type::Scalar(ScalarType::Float) => CelKind::Double,
        Type::Scalar(ScalarType::String) => CelKind::Text,
        Type::Array(_) => CelKind::List,
        Type::Map(ty) if !ty.items.is_empty() => CelKind::Object(ty),
        Type::Map(ty) if !ty.patterns.is_empty() => CelKind::Map(ty),
        Type::Union(union) => {
            let is_null = |member: &&Type| matches!(member, Type::Scalar(ScalarType::Null));
            let members: Vec<&Type> = union.members.iter().filter(|member| !is_null(member)).collect();
            let has_null = members.len() < union.members.len();
            let is = |member: &Type, kind: ScalarType| matches!(member, Type::Scalar(other) if *other == kind);
            let both = |one, other| match members[..] {
                [a, b] => (is(a, one) && is(b, other)) || (is(a, other) && is(b, one)),
                _ => false,
            };
            return match members[..] {
                [one] => kind_of(one).map(|(kind, null)| (kind, null || has_null)),
                _ if both(ScalarType::Int, ScalarType::Float) => Some((CelKind::Double, has_null)),
                _ if both(ScalarType::Int, ScalarType::String) => Some((CelKind::IntOrText, has_null)),
                _ => None,
            };
        }
        _ => return None,
    };
    Some((kind, false))
}

fn quoted(text: &Str) -> Option<String> {
    Some(cel_literal(&Node::str(text.as_str()?)))
}
