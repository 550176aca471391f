//! Translates simple lambdas into CEL: comparisons and arithmetic on the value, its keys and literals.

use ytterby_starlark::ast::{Arg, Ast, ExprId, ExprKind};
use ytterby_starlark::{BinaryOp, CompareOp, UnaryOp, Value};
use ytterby_text::Str;

use crate::node::Node;

/// The CEL expression over `self` that says the same, if the function is a lambda of one parameter made of what CEL has.
pub(crate) fn translate(function: &Value) -> Option<String> {
    let Value::Function(function) = function else { return None };
    let (ast, body) = function.lambda()?;
    let [parameter] = function.param_names() else { return None };
    let (text, _) = Translator { ast, parameter }.expr(body)?;
    Some(text)
}

struct Translator<'a> {
    ast: &'a Ast,
    parameter: &'a Str,
}

/// How tightly an expression binds; larger is tighter.
type Precedence = u8;

const OR: Precedence = 1;
const AND: Precedence = 2;
const RELATION: Precedence = 3;
const SUM: Precedence = 4;
const PRODUCT: Precedence = 5;
const UNARY: Precedence = 6;
const PRIMARY: Precedence = 7;

impl Translator<'_> {
    fn expr(&self, id: ExprId) -> Option<(String, Precedence)> {
        let primary = |text: String| Some((text, PRIMARY));
        match &self.ast[self.ast.unparen(id)].kind {
            ExprKind::Ident(name) if name == self.parameter => primary("self".into()),
            ExprKind::Ident(name) => match &*name.to_str() {
                "True" => primary("true".into()),
                "False" => primary("false".into()),
                "None" => primary("null".into()),
                _ => None,
            },
            ExprKind::Int(value) => primary(value.to_string()),
            ExprKind::Float(value) => {
                let text = ytterby_text::gofloat::format_g(*value);
                primary(if text.contains(['.', 'e']) { text } else { format!("{text}.0") })
            }
            ExprKind::Str(text) => primary(quoted(text)?),
            ExprKind::List(items) => {
                let items: Option<Vec<String>> = items.iter().map(|item| Some(self.expr(*item)?.0)).collect();
                primary(format!("[{}]", items?.join(", ")))
            }
            ExprKind::Dot(operand, name) => self.field(*operand, name),
            ExprKind::Index(operand, key) => match &self.ast[self.ast.unparen(*key)].kind {
                ExprKind::Str(name) => self.field(*operand, name),
                _ => None,
            },
            ExprKind::Not(operand) => Some((format!("!{}", self.at_least(*operand, UNARY)?), UNARY)),
            ExprKind::Unary(UnaryOp::Minus, operand) => Some((format!("-{}", self.at_least(*operand, UNARY)?), UNARY)),
            ExprKind::And(left, right) => self.binary(*left, "&&", *right, AND),
            ExprKind::Or(left, right) => self.binary(*left, "||", *right, OR),
            ExprKind::Compare(op, left, right) => self.binary(*left, compare(*op), *right, RELATION),
            ExprKind::Binary(BinaryOp::Add, left, right) => self.binary(*left, "+", *right, SUM),
            ExprKind::Binary(BinaryOp::Sub, left, right) => self.binary(*left, "-", *right, SUM),
            ExprKind::Binary(BinaryOp::Mul, left, right) => self.binary(*left, "*", *right, PRODUCT),
            ExprKind::Binary(BinaryOp::Mod, left, right) => self.binary(*left, "%", *right, PRODUCT),
            ExprKind::Binary(BinaryOp::In, left, right) => self.in_list(*left, *right),
            ExprKind::NotIn(left, right) => {
                let (text, _) = self.in_list(*left, *right)?;
                Some((format!("!({text})"), UNARY))
            }
            ExprKind::Call(callee, args) => self.call(*callee, args),
            _ => None,
        }
    }

    fn field(&self, operand: ExprId, name: &Str) -> Option<(String, Precedence)> {
        Some((format!("{}.{}", self.at_least(operand, PRIMARY)?, cel_field(name.as_str()?)?), PRIMARY))
    }

    /// An operand, in parentheses where it binds less tightly.
    fn at_least(&self, id: ExprId, precedence: Precedence) -> Option<String> {
        let (text, own) = self.expr(id)?;
        Some(if own < precedence { format!("({text})") } else { text })
    }

    fn binary(&self, left: ExprId, op: &str, right: ExprId, precedence: Precedence) -> Option<(String, Precedence)> {
        // All of them group to the left; comparisons do not group at all.
        let left_precedence = if precedence == RELATION { precedence + 1 } else { precedence };
        let (left, right) = (self.at_least(left, left_precedence)?, self.at_least(right, precedence + 1)?);
        Some((format!("{left} {op} {right}"), precedence))
    }

    fn in_list(&self, left: ExprId, right: ExprId) -> Option<(String, Precedence)> {
        match &self.ast[self.ast.unparen(right)].kind {
            ExprKind::List(_) => self.binary(left, "in", right, RELATION),
            _ => None,
        }
    }

    fn call(&self, callee: ExprId, args: &[Arg]) -> Option<(String, Precedence)> {
        let [Arg::Positional(arg)] = args else { return None };
        match &self.ast[self.ast.unparen(callee)].kind {
            ExprKind::Ident(name) if *name == "len" => Some((format!("size({})", self.expr(*arg)?.0), PRIMARY)),
            ExprKind::Dot(operand, name) => {
                let method = match &*name.to_str() {
                    "startswith" => "startsWith",
                    "endswith" => "endsWith",
                    _ => return None,
                };
                let operand = self.at_least(*operand, PRIMARY)?;
                Some((format!("{operand}.{method}({})", self.expr(*arg)?.0), PRIMARY))
            }
            _ => None,
        }
    }
}

fn compare(op: CompareOp) -> &'static str {
    op.symbol()
}

fn quoted(text: &Str) -> Option<String> {
    let text = text.as_str()?;
    Some(crate::validate::rules::cel_literal(&Node::str(text)))
}

/// Words that cannot be names of fields in CEL.
const RESERVED: [&str; 21] = [
    "as",
    "break",
    "const",
    "continue",
    "else",
    "false",
    "for",
    "function",
    "if",
    "import",
    "in",
    "let",
    "loop",
    "namespace",
    "null",
    "package",
    "return",
    "true",
    "var",
    "void",
    "while",
];

/// A key as Kubernetes writes it in CEL; none where it cannot be.
pub(crate) fn cel_field(key: &str) -> Option<String> {
    if RESERVED.contains(&key) {
        return Some(format!("__{key}__"));
    }
    let escaped =
        key.replace("__", "__underscores__").replace('-', "__dash__").replace('.', "__dot__").replace('/', "__slash__");
    let is_identifier = escaped.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
        && escaped.chars().next().is_some_and(|c| !c.is_ascii_digit());
    is_identifier.then_some(escaped)
}
