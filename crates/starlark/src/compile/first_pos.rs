//! The position of a function in messages before its first instruction, for example when its
//! arguments are wrong.
//!
//! The reference uses the first position in its own code for the function: that of the first
//! evaluated name. Literals and built-in names have no position there, so if one comes first, it
//! uses the position of `def`. The code of a fragment function begins with a call without a
//! position, so there the next position counts, that of a name or of an operator.

use ytterby_diag::Pos;

use super::ProgramCompiler;
use crate::ast::{Arg, Clause, Def, ExprId, ExprKind, Param, Stmt};
use crate::resolve::Scope;

impl ProgramCompiler<'_> {
    /// The position of the first instruction of a body, if it has one.
    pub(super) fn leaf_of_stmts(&self, stmts: &[Stmt]) -> Option<Pos> {
        stmts.iter().find_map(|stmt| self.leaf_of_stmt(stmt)).flatten()
    }

    /// `None` if the statement has no instructions.
    fn leaf_of_stmt(&self, stmt: &Stmt) -> Option<Option<Pos>> {
        Some(match stmt {
            Stmt::Expr(x) => match self.ast[*x].kind {
                ExprKind::Int(_) | ExprKind::BigInt(_) | ExprKind::Float(_) | ExprKind::Str(_) => return None,
                _ => self.leaf_of_expr(*x),
            },
            Stmt::HostOp(_, pos) => Some(*pos),
            Stmt::Break(_) | Stmt::Continue(_) => return None,
            Stmt::Return(None, _) => None,
            Stmt::Return(Some(x), _) | Stmt::Assign { value: x, .. } => self.leaf_of_expr(*x),
            Stmt::Augmented { target: x, .. } | Stmt::For { iterable: x, .. } | Stmt::While { condition: x, .. } => {
                self.leaf_of_expr(*x)
            }
            Stmt::If { branches, .. } => branches.first().and_then(|(condition, _)| self.leaf_of_expr(*condition)),
            Stmt::Def(_, def) => Some(self.leaf_of_def(def)),
            Stmt::Load(_) => None,
        })
    }

    fn leaf_of_def(&self, def: &Def) -> Pos {
        let default = def.params.iter().find_map(|param| match param {
            Param::Default(_, default, _) => Some(*default),
            _ => None,
        });
        default.and_then(|default| self.leaf_of_expr(default)).unwrap_or(def.pos)
    }

    pub(super) fn leaf_of_expr(&self, mut id: ExprId) -> Option<Pos> {
        let mut bracket = None;
        loop {
            let expr = &self.ast[id];
            id = match &expr.kind {
                ExprKind::Ident(_) => {
                    let universal = self.binding(id).is_ok_and(|binding| binding.scope == Scope::Universal);
                    return if universal { bracket } else { Some(expr.start) };
                }
                ExprKind::HostOp(_) | ExprKind::HostArgs => return Some(expr.start),
                ExprKind::Lambda(def) => return Some(self.leaf_of_def(def)),
                ExprKind::Tuple(items) | ExprKind::List(items) => match items.first() {
                    Some(first) => *first,
                    None => return bracket,
                },
                ExprKind::Slice { operand, .. } => {
                    bracket = Some(expr.pos);
                    *operand
                }
                ExprKind::Cond { condition, .. } => *condition,
                ExprKind::Paren(x)
                | ExprKind::Unary(_, x)
                | ExprKind::Not(x)
                | ExprKind::Dot(x, _)
                | ExprKind::Binary(_, x, _)
                | ExprKind::NotIn(x, _)
                | ExprKind::Compare(_, x, _)
                | ExprKind::And(x, _)
                | ExprKind::Or(x, _)
                | ExprKind::Index(x, _)
                | ExprKind::Call(x, _) => *x,
                _ => return bracket,
            };
        }
    }

    pub(super) fn first_pos_of_stmts(&self, stmts: &[Stmt]) -> Option<Pos> {
        stmts.iter().find_map(|stmt| self.first_pos_of_stmt(stmt))
    }

    fn first_pos_of_stmt(&self, stmt: &Stmt) -> Option<Pos> {
        match stmt {
            Stmt::Expr(x) => self.first_pos_of_expr(*x),
            Stmt::HostOp(_, pos) => Some(*pos),
            Stmt::Break(_) | Stmt::Continue(_) | Stmt::Return(None, _) => None,
            Stmt::Return(Some(x), _) => self.first_pos_of_expr(*x),
            Stmt::Assign { target, value, pos } => {
                self.first_pos_of_expr(*value).or_else(|| self.first_pos_of_target(*target, *pos))
            }
            Stmt::Augmented { target, value, pos, .. } => {
                self.first_pos_of_expr(*target).or_else(|| self.first_pos_of_expr(*value)).or(Some(*pos))
            }
            Stmt::If { branches, otherwise } => {
                let branch = |(condition, body): &(ExprId, Vec<Stmt>)| {
                    self.first_pos_of_expr(*condition).or_else(|| self.first_pos_of_stmts(body))
                };
                branches.iter().find_map(branch).or_else(|| self.first_pos_of_stmts(otherwise))
            }
            Stmt::For { iterable, pos, .. } => self.first_pos_of_expr(*iterable).or(Some(*pos)),
            Stmt::While { condition, body } => {
                self.first_pos_of_expr(*condition).or_else(|| self.first_pos_of_stmts(body))
            }
            Stmt::Def(_, def) => Some(def.pos),
            Stmt::Load(load) => Some(load.pos),
        }
    }

    fn first_pos_of_target(&self, target: ExprId, pos: Pos) -> Option<Pos> {
        let expr = &self.ast[target];
        match &expr.kind {
            ExprKind::Paren(x) => self.first_pos_of_target(*x, pos),
            ExprKind::Tuple(_) | ExprKind::List(_) => Some(pos),
            ExprKind::Index(x, y) => {
                self.first_pos_of_expr(*x).or_else(|| self.first_pos_of_expr(*y)).or(Some(expr.pos))
            }
            ExprKind::Dot(x, _) => self.first_pos_of_expr(*x).or(Some(expr.pos)),
            _ => None,
        }
    }

    pub(super) fn first_pos_of_expr(&self, id: ExprId) -> Option<Pos> {
        stacker::maybe_grow(64 << 10, 1 << 20, || self.first_pos_in(id))
    }

    fn first_pos_in(&self, id: ExprId) -> Option<Pos> {
        let expr = &self.ast[id];
        match &expr.kind {
            ExprKind::Ident(_) => {
                let universal = self.binding(id).is_ok_and(|binding| binding.scope == Scope::Universal);
                (!universal).then_some(expr.start)
            }
            ExprKind::Paren(x) => self.first_pos_of_expr(*x),
            ExprKind::Unary(_, x) | ExprKind::Not(x) | ExprKind::Dot(x, _) => {
                self.first_pos_of_expr(*x).or(Some(expr.pos))
            }
            ExprKind::Tuple(items) | ExprKind::List(items) => {
                items.iter().find_map(|item| self.first_pos_of_expr(*item))
            }
            ExprKind::Dict(entries) => entries.first().and_then(|entry| {
                let key = self.first_pos_of_expr(entry.key);
                key.or_else(|| self.first_pos_of_expr(entry.value)).or(Some(entry.colon))
            }),
            ExprKind::Binary(_, x, y) | ExprKind::NotIn(x, y) | ExprKind::Compare(_, x, y) | ExprKind::Index(x, y) => {
                self.first_pos_of_expr(*x).or_else(|| self.first_pos_of_expr(*y)).or(Some(expr.pos))
            }
            ExprKind::And(x, y) | ExprKind::Or(x, y) => {
                self.first_pos_of_expr(*x).or_else(|| self.first_pos_of_expr(*y))
            }
            ExprKind::Cond { condition, then, otherwise } => {
                [condition, then, otherwise].into_iter().find_map(|x| self.first_pos_of_expr(*x))
            }
            ExprKind::Slice { operand, .. } => self.first_pos_of_expr(*operand).or(Some(expr.pos)),
            ExprKind::Call(callee, args) => {
                let arg = |arg: &Arg| match arg {
                    Arg::Positional(x) | Arg::Named(_, x, _) | Arg::Star(x, _) | Arg::StarStar(x, _) => {
                        self.first_pos_of_expr(*x)
                    }
                };
                self.first_pos_of_expr(*callee).or_else(|| args.iter().find_map(arg)).or(Some(expr.pos))
            }
            ExprKind::Lambda(def) => Some(def.pos),
            ExprKind::Comprehension(x) => match x.clauses.first() {
                Some(Clause::For { iterable, pos, .. }) => self.first_pos_of_expr(*iterable).or(Some(*pos)),
                _ => None,
            },
            ExprKind::HostOp(_) | ExprKind::HostArgs => Some(expr.start).filter(|pos| pos.is_known()),
            _ => None,
        }
    }
}
