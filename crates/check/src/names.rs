//! Binds the names of a file: definitions, uses, shadowed names.
//!
//! A name is bound by a load, a definition, an assignment, a loop or a parameter. A function has
//! its own scope in which everything assigned is local; a comprehension has one for its variables.
//! Uses are resolved from the inside out, regardless of where in the scope the binding is, because
//! functions see names that are bound later.

use std::collections::{HashMap, HashSet};

use ytterby_diag::Pos;
use ytterby_starlark::Syntax;
use ytterby_starlark::ast::{Arg, Ast, Clause, ComprehensionBody, Def, DefBody, ExprId, ExprKind, Load, Param, Stmt};
use ytterby_text::budget;

/// The index of a [`Symbol`] of a file.
pub(crate) type SymbolId = usize;

/// A bound name.
#[derive(Debug)]
pub(crate) struct Symbol {
    pub name: String,
    pub kind: SymbolKind,
    /// The position of its first binding.
    pub pos: Pos,
    pub scope: usize,
    /// The number of uses, except those of a function inside itself.
    pub uses: usize,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum SymbolKind {
    /// The module, and the name there.
    Load(String, String),
    Function,
    Variable,
    Parameter,
}

/// One name of a load statement.
#[derive(Debug)]
pub(crate) struct LoadedName {
    pub symbol: SymbolId,
    /// The name in the module.
    pub name: String,
    /// Its position.
    pub name_pos: Pos,
    /// The position of the bound name.
    pub bound_pos: Pos,
}

/// A load statement.
#[derive(Debug)]
pub(crate) struct LoadStmt {
    pub module: String,
    pub pos: Pos,
    pub names: Vec<LoadedName>,
}

/// A parameter of a function.
#[derive(Clone, Debug)]
pub(crate) struct ParamName {
    pub symbol: SymbolId,
    pub name: String,
    /// Whether it is neither `*args` nor `**kwargs`.
    pub is_plain: bool,
}

/// All names of a file.
#[derive(Default, Debug)]
pub(crate) struct Names {
    pub symbols: Vec<Symbol>,
    /// The symbols of identifiers, except built-in functions.
    pub idents: HashMap<ExprId, SymbolId>,
    pub loads: Vec<LoadStmt>,
    /// The symbols of the parameters, by the identifier of a `def` or by a lambda.
    pub params: HashMap<ExprId, Vec<ParamName>>,
    /// Assignments and definitions that replace a loaded or defined name.
    pub rebound: Vec<(SymbolId, Pos)>,
    /// The parent of each scope; the file is scope 0.
    parents: Vec<Option<usize>>,
    /// The symbols of each scope.
    tables: Vec<HashMap<String, SymbolId>>,
    /// The scopes of named functions; lambdas and comprehensions are too short to be confusing.
    functions: HashSet<usize>,
}

/// Binds the names of a file.
pub(crate) fn names(syntax: &Syntax) -> Names {
    let names = Names { parents: vec![None], tables: vec![HashMap::new()], ..Names::default() };
    let mut binder = Binder { ast: &syntax.ast, names, stack: vec![0], functions: Vec::new() };
    binder.bind(&syntax.stmts);
    binder.stmts(&syntax.stmts);
    binder.names
}

impl Names {
    /// The top-level symbol with this name.
    pub fn global(&self, name: &str) -> Option<SymbolId> {
        self.tables.first()?.get(name).copied()
    }

    /// Whether a symbol belongs to a `def`.
    pub fn is_in_function(&self, id: SymbolId) -> bool {
        self.functions.contains(&self.symbols[id].scope)
    }

    /// The symbol that another one shadows, if any.
    pub fn hidden_by(&self, id: SymbolId) -> Option<&Symbol> {
        let symbol = &self.symbols[id];
        let mut scope = self.parents[symbol.scope];
        while let Some(at) = scope {
            // Scopes can be nested deeply.
            budget::or_unwind(budget::work(1));
            if let Some(found) = self.tables[at].get(&symbol.name) {
                return Some(&self.symbols[*found]);
            }
            scope = self.parents[at];
        }
        None
    }
}

struct Binder<'a> {
    ast: &'a Ast,
    names: Names,
    /// The open scopes, innermost last.
    stack: Vec<usize>,
    /// The enclosing functions.
    functions: Vec<SymbolId>,
}

impl<'a> Binder<'a> {
    fn scope(&self) -> usize {
        self.stack.last().copied().unwrap_or_default()
    }

    fn declare(&mut self, name: String, kind: SymbolKind, pos: Pos) -> SymbolId {
        let scope = self.scope();
        if let Some(&known) = self.names.tables[scope].get(&name) {
            let before = &self.names.symbols[known].kind;
            let replaces = match before {
                SymbolKind::Load(..) => *before != kind,
                SymbolKind::Function => kind == SymbolKind::Variable,
                SymbolKind::Variable | SymbolKind::Parameter => false,
            };
            if replaces {
                self.names.rebound.push((known, pos));
            }
            return known;
        }
        let id = self.names.symbols.len();
        self.names.tables[scope].insert(name.clone(), id);
        self.names.symbols.push(Symbol { name, kind, pos, scope, uses: 0 });
        id
    }

    fn open(&mut self) {
        let parent = self.scope();
        self.names.parents.push(Some(parent));
        self.names.tables.push(HashMap::new());
        self.stack.push(self.names.tables.len() - 1);
    }

    fn close(&mut self) {
        self.stack.pop();
    }

    /// Declares the names that statements of a scope bind.
    fn bind(&mut self, stmts: &'a [Stmt]) {
        for stmt in stmts {
            match stmt {
                Stmt::Assign { target, .. } => self.bind_target(*target),
                Stmt::Augmented { target, .. } => self.bind_target(*target),
                Stmt::If { branches, otherwise } => {
                    branches.iter().for_each(|(_, body)| self.bind(body));
                    self.bind(otherwise);
                }
                Stmt::For { vars, body, .. } => {
                    self.bind_target(*vars);
                    self.bind(body);
                }
                Stmt::While { body, .. } => self.bind(body),
                Stmt::Def(name, _) => {
                    if let ExprKind::Ident(text) = &self.ast[*name].kind {
                        let id = self.declare(text.to_string(), SymbolKind::Function, self.ast[*name].start);
                        self.names.idents.insert(*name, id);
                    }
                }
                Stmt::Load(load) => self.bind_load(load),
                _ => {}
            }
        }
    }

    fn bind_load(&mut self, load: &Load) {
        let module = load.module.to_string();
        let mut names = Vec::new();
        for (name, name_pos, bound) in &load.names {
            let ExprKind::Ident(text) = &self.ast[*bound].kind else { continue };
            let kind = SymbolKind::Load(module.clone(), name.to_string());
            let bound_pos = self.ast[*bound].start;
            let symbol = self.declare(text.to_string(), kind, bound_pos);
            self.names.idents.insert(*bound, symbol);
            names.push(LoadedName { symbol, name: name.to_string(), name_pos: *name_pos, bound_pos });
        }
        self.names.loads.push(LoadStmt { module, pos: load.pos, names });
    }

    fn bind_target(&mut self, target: ExprId) {
        match &self.ast[target].kind {
            ExprKind::Ident(name) => {
                let id = self.declare(name.to_string(), SymbolKind::Variable, self.ast[target].start);
                self.names.idents.insert(target, id);
            }
            ExprKind::Paren(inner) => self.bind_target(*inner),
            ExprKind::Tuple(items) | ExprKind::List(items) => items.iter().for_each(|item| self.bind_target(*item)),
            _ => {}
        }
    }

    fn stmts(&mut self, stmts: &'a [Stmt]) {
        for stmt in stmts {
            self.stmt(stmt);
        }
    }

    fn stmt(&mut self, stmt: &'a Stmt) {
        match stmt {
            Stmt::Expr(expr) => self.expr(*expr),
            Stmt::Return(Some(expr), _) => self.expr(*expr),
            Stmt::Assign { target, value, .. } => {
                self.expr(*value);
                self.target(*target);
            }
            Stmt::Augmented { target, value, .. } => {
                self.expr(*target);
                self.expr(*value);
            }
            Stmt::If { branches, otherwise } => {
                for (condition, body) in branches {
                    self.expr(*condition);
                    self.stmts(body);
                }
                self.stmts(otherwise);
            }
            Stmt::For { vars, iterable, body, .. } => {
                self.expr(*iterable);
                self.target(*vars);
                self.stmts(body);
            }
            Stmt::While { condition, body } => {
                self.expr(*condition);
                self.stmts(body);
            }
            Stmt::Def(name, def) => {
                let own = self.names.idents.get(name).copied();
                self.function(*name, def, own);
            }
            _ => {}
        }
    }

    /// The uses in an assignment's target, without the names that it binds.
    fn target(&mut self, target: ExprId) {
        match &self.ast[target].kind {
            ExprKind::Ident(_) => {}
            ExprKind::Paren(inner) => self.target(*inner),
            ExprKind::Tuple(items) | ExprKind::List(items) => items.iter().for_each(|item| self.target(*item)),
            _ => self.expr(target),
        }
    }

    fn function(&mut self, key: ExprId, def: &'a Def, own: Option<SymbolId>) {
        for param in &def.params {
            if let Param::Default(_, value, _) = param {
                self.expr(*value);
            }
        }
        self.open();
        if own.is_some() {
            let scope = self.scope();
            self.names.functions.insert(scope);
        }
        let mut params = Vec::new();
        for param in &def.params {
            let (Param::Plain(name) | Param::Default(name, ..) | Param::Star(Some(name), _) | Param::StarStar(name, _)) =
                param
            else {
                continue;
            };
            if let ExprKind::Ident(text) = &self.ast[*name].kind {
                let id = self.declare(text.to_string(), SymbolKind::Parameter, self.ast[*name].start);
                self.names.idents.insert(*name, id);
                let is_plain = matches!(param, Param::Plain(_) | Param::Default(..));
                params.push(ParamName { symbol: id, name: text.to_string(), is_plain });
            }
        }
        self.names.params.insert(key, params);
        self.functions.extend(own);
        match &def.body {
            DefBody::Lambda(body) => self.expr(*body),
            DefBody::Block(body) => {
                self.bind(body);
                self.stmts(body);
            }
        }
        if own.is_some() {
            self.functions.pop();
        }
        self.close();
    }

    fn expr(&mut self, id: ExprId) {
        stacker::maybe_grow(64 << 10, 1 << 20, || self.expr_inside(id));
    }

    fn expr_inside(&mut self, id: ExprId) {
        match &self.ast[id].kind {
            ExprKind::Ident(name) => {
                let name = name.to_string();
                budget::or_unwind(budget::work(1 + self.stack.len() + self.functions.len()));
                let found = self.stack.iter().rev().find_map(|scope| self.names.tables[*scope].get(&name).copied());
                if let Some(symbol) = found {
                    self.names.idents.insert(id, symbol);
                    if !self.functions.contains(&symbol) {
                        self.names.symbols[symbol].uses += 1;
                    }
                }
            }
            ExprKind::Lambda(def) => self.function(id, def, None),
            ExprKind::Comprehension(comprehension) => {
                let mut clauses = comprehension.clauses.iter();
                // The first iterable is outside of the scope.
                if let Some(Clause::For { vars, iterable, .. }) = clauses.next() {
                    self.expr(*iterable);
                    self.open();
                    self.bind_target(*vars);
                    self.target(*vars);
                } else {
                    self.open();
                }
                for clause in clauses {
                    match clause {
                        Clause::For { vars, iterable, .. } => {
                            self.expr(*iterable);
                            self.bind_target(*vars);
                            self.target(*vars);
                        }
                        Clause::If(condition) => self.expr(*condition),
                    }
                }
                match &comprehension.body {
                    ComprehensionBody::List(body) => self.expr(*body),
                    ComprehensionBody::Dict(entry) => {
                        self.expr(entry.key);
                        self.expr(entry.value);
                    }
                }
                self.close();
            }
            _ => {
                let mut below = Vec::new();
                children(self.ast, id, &mut below);
                below.into_iter().for_each(|child| self.expr(child));
            }
        }
    }
}

/// The direct subexpressions of an expression without its own scope.
pub(crate) fn children(ast: &Ast, id: ExprId, out: &mut Vec<ExprId>) {
    match &ast[id].kind {
        ExprKind::Paren(inner) | ExprKind::Unary(_, inner) | ExprKind::Not(inner) | ExprKind::Dot(inner, _) => {
            out.push(*inner);
        }
        ExprKind::Tuple(items) | ExprKind::List(items) => out.extend(items),
        ExprKind::Dict(entries) => entries.iter().for_each(|entry| out.extend([entry.key, entry.value])),
        ExprKind::Binary(_, left, right)
        | ExprKind::NotIn(left, right)
        | ExprKind::Compare(_, left, right)
        | ExprKind::And(left, right)
        | ExprKind::Or(left, right)
        | ExprKind::Index(left, right) => out.extend([*left, *right]),
        ExprKind::Cond { condition, then, otherwise } => out.extend([*condition, *then, *otherwise]),
        ExprKind::Slice { operand, start, stop, step } => {
            out.push(*operand);
            out.extend([start, stop, step].into_iter().flatten());
        }
        ExprKind::Call(callee, args) => {
            out.push(*callee);
            for arg in args {
                let (Arg::Positional(value) | Arg::Named(_, value, _) | Arg::Star(value, _) | Arg::StarStar(value, _)) =
                    arg;
                out.push(*value);
            }
        }
        _ => {}
    }
}
