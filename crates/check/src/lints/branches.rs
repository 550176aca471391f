//! Finds useless conditions: constants, identical branches, empty branches.

use std::collections::HashSet;

use ytterby_diag::{Diagnostic, Id, Pos};
use ytterby_starlark::ast::{Ast, DefBody, ExprId, ExprKind, Stmt};
use ytterby_starlark::{CompareOp, Syntax};
use ytterby_text::budget;

use crate::code::Op;
use crate::names::Names;
use crate::project::CheckedFile;

/// Checks the conditions of a file.
pub(crate) fn check(file: &CheckedFile, out: &mut Vec<Diagnostic>) {
    let facts = &file.facts;
    let (Some(syntax), Some(names)) = (&facts.code.syntax, &facts.names) else { return };
    let mut walk = ConditionWalk { file, syntax, names, out };
    walk.stmts(&syntax.stmts);
    for id in syntax.ast.ids() {
        if let ExprKind::Cond { condition, then, otherwise } = &syntax.ast[id].kind {
            walk.condition(*condition);
            if let (Some(then), Some(otherwise)) = (walk.text(*then), walk.text(*otherwise))
                && then == otherwise
            {
                walk.report(*condition, "both values of this condition are the same");
            }
        }
        if let ExprKind::Lambda(def) = &syntax.ast[id].kind
            && let DefBody::Block(body) = &def.body
        {
            walk.stmts(body);
        }
    }
}

struct ConditionWalk<'a> {
    file: &'a CheckedFile,
    syntax: &'a Syntax,
    names: &'a Names,
    out: &'a mut Vec<Diagnostic>,
}

impl<'a> ConditionWalk<'a> {
    fn report(&mut self, condition: ExprId, text: &'static str) {
        let expr = &self.syntax.ast[condition];
        let length = match expr.start.file == expr.end.file {
            true => expr.end.offset.saturating_sub(expr.start.offset),
            false => 0,
        };
        let (pos, part) = self.file.place(expr.start, length as usize);
        self.out.push(Diagnostic::warning(Id::LINT_CONSTANT_CONDITION, text).at(pos, part));
    }

    fn condition(&mut self, condition: ExprId) {
        match constant(&self.syntax.ast, self.names, condition) {
            Some(true) => self.report(condition, "this condition is always true"),
            Some(false) => self.report(condition, "this condition is always false"),
            None => {}
        }
    }

    fn stmts(&mut self, stmts: &'a [Stmt]) {
        for stmt in stmts {
            match stmt {
                Stmt::If { branches, otherwise } => {
                    self.branches(branches, otherwise);
                    branches.iter().for_each(|(_, body)| self.stmts(body));
                    self.stmts(otherwise);
                }
                Stmt::For { body, .. } | Stmt::While { body, .. } => self.stmts(body),
                Stmt::Def(_, def) => {
                    if let DefBody::Block(body) = &def.body {
                        self.stmts(body);
                    }
                }
                _ => {}
            }
        }
    }

    fn branches(&mut self, branches: &'a [(ExprId, Vec<Stmt>)], otherwise: &'a [Stmt]) {
        let Some((first, first_body)) = branches.first() else { return };
        let mut seen: HashSet<&[u8]> = HashSet::new();
        for (condition, _) in branches {
            self.condition(*condition);
            let Some(text) = self.text(*condition) else { continue };
            budget::or_unwind(budget::scan(text.len()));
            if !seen.insert(text) {
                self.report(*condition, "this condition was tested before and is false here");
            }
        }
        if branches.iter().all(|(_, body)| body.is_empty()) && otherwise.is_empty() {
            return self.report(*first, "nothing depends on this condition: it has no content");
        }
        let Some(wanted) = self.fingerprint(first_body) else { return };
        let mut others = branches[1..].iter().map(|(_, body)| &body[..]).chain([otherwise]);
        if !otherwise.is_empty() && others.all(|body| self.fingerprint(body).as_deref() == Some(&wanted)) {
            self.report(*first, "nothing depends on this condition: all branches are the same");
        }
    }

    /// The source of an expression; `None` inside strings.
    fn text(&self, id: ExprId) -> Option<&'a [u8]> {
        let expr = &self.syntax.ast[id];
        self.slice(expr.start, expr.end)
    }

    fn slice(&self, start: Pos, end: Pos) -> Option<&'a [u8]> {
        let is_file = start.file.0 == 0 && end.file.0 == 0 && start.is_known() && end.is_known();
        let text = self.file.facts.text.get(start.offset as usize..end.offset as usize);
        is_file.then(|| text.unwrap_or_default().trim_ascii())
    }

    /// A text that is equal for statements that do the same; `None` if unknown.
    fn fingerprint(&self, stmts: &[Stmt]) -> Option<String> {
        let shown = |text: &[u8]| String::from_utf8_lossy(text).into_owned();
        let mut out = String::new();
        for stmt in stmts {
            let part = match stmt {
                Stmt::HostOp(number, _) => match self.file.facts.code.ops.get(*number as usize)? {
                    Op::Node(print) => print.clone(),
                    _ => return None,
                },
                Stmt::Expr(expr) => match &self.syntax.ast[*expr].kind {
                    ExprKind::Call(callee, _) => match &self.syntax.ast[*callee].kind {
                        ExprKind::HostOp(number) => {
                            let op = self.file.facts.code.ops.get(*number as usize)?;
                            let text = self.file.facts.code.texts.get(*number as usize)?;
                            match op {
                                Op::Value => format!("value {}", text.trim()),
                                Op::Annotation(name, _) => format!("annotation {name} {}", text.trim()),
                                Op::Code | Op::Node(_) => return None,
                            }
                        }
                        _ => shown(self.text(*expr)?),
                    },
                    _ => shown(self.text(*expr)?),
                },
                Stmt::Assign { target, value, .. } => {
                    format!("{} = {}", shown(self.text(*target)?), shown(self.text(*value)?))
                }
                Stmt::Return(Some(value), _) => format!("return {}", shown(self.text(*value)?)),
                Stmt::Return(None, _) => "return".to_owned(),
                Stmt::Break(_) => "break".to_owned(),
                Stmt::Continue(_) => "continue".to_owned(),
                _ => return None,
            };
            budget::or_unwind(budget::text(part.len()));
            out.push_str(&part);
            out.push('\n');
        }
        (!out.is_empty()).then_some(out)
    }
}

/// A constant of code.
#[derive(Clone, PartialEq, PartialOrd)]
enum Constant {
    None,
    Bool(bool),
    Int(i64),
    Text(Vec<u8>),
}

impl Constant {
    fn holds(&self) -> bool {
        match self {
            Constant::None => false,
            Constant::Bool(value) => *value,
            Constant::Int(value) => *value != 0,
            Constant::Text(text) => !text.is_empty(),
        }
    }
}

/// The value of a condition that does not depend on any input.
fn constant(ast: &Ast, names: &Names, id: ExprId) -> Option<bool> {
    match &ast[ast.unparen(id)].kind {
        ExprKind::Not(inner) => constant(ast, names, *inner).map(|value| !value),
        ExprKind::And(left, right) => match (constant(ast, names, *left), constant(ast, names, *right)) {
            (Some(false), _) | (_, Some(false)) => Some(false),
            (Some(true), Some(true)) => Some(true),
            _ => None,
        },
        ExprKind::Or(left, right) => match (constant(ast, names, *left), constant(ast, names, *right)) {
            (Some(true), _) | (_, Some(true)) => Some(true),
            (Some(false), Some(false)) => Some(false),
            _ => None,
        },
        ExprKind::Compare(op, left, right) => {
            let (left, right) = (value(ast, names, *left)?, value(ast, names, *right)?);
            match op {
                CompareOp::Eq => Some(left == right),
                CompareOp::Ne => Some(left != right),
                _ => {
                    let is_alike = std::mem::discriminant(&left) == std::mem::discriminant(&right);
                    let order = left.partial_cmp(&right).filter(|_| is_alike && left != Constant::None)?;
                    Some(op.accepts(order))
                }
            }
        }
        ExprKind::List(items) | ExprKind::Tuple(items) => Some(!items.is_empty()),
        ExprKind::Dict(items) => Some(!items.is_empty()),
        _ => value(ast, names, id).map(|value| value.holds()),
    }
}

fn value(ast: &Ast, names: &Names, id: ExprId) -> Option<Constant> {
    let id = ast.unparen(id);
    match &ast[id].kind {
        ExprKind::Ident(name) if !names.idents.contains_key(&id) => match &*name.to_str() {
            "True" => Some(Constant::Bool(true)),
            "False" => Some(Constant::Bool(false)),
            "None" => Some(Constant::None),
            _ => None,
        },
        ExprKind::Int(value) => Some(Constant::Int(*value)),
        ExprKind::Str(text) => Some(Constant::Text(text.as_bytes().to_vec())),
        _ => None,
    }
}
