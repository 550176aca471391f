//! Binds names: every name gets a slot before the program runs.
//!
//! Variables of functions and comprehensions are registers of the enclosing function, or cells if
//! an inner function uses them. Top-level assignments are global; loaded names are local to the
//! file. A use at the top level sees earlier bindings only; a use inside a function or
//! comprehension sees all, and is therefore resolved at the end. All errors are collected, in the
//! order in which the reference finds them.

use rustc_hash::FxHashMap as HashMap;

use ytterby_diag::Pos;
use ytterby_text::Str;
use ytterby_text::spelling::nearest;

use crate::Problem;
use crate::advice::mistyped;
use crate::ast::{Arg, Ast, Clause, ComprehensionBody, Def, DefBody, ExprId, ExprKind, Param, Stmt};

/// The index of a [`Binding`].
pub(crate) type BindingId = usize;

/// The meaning of a name.
#[derive(Clone, Debug)]
pub(crate) struct Binding {
    pub(crate) scope: Scope,
    pub(crate) index: usize,
    pub(crate) name: Str,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Scope {
    Undefined,
    /// A register of the function.
    Local,
    /// A register that contains a cell.
    Cell,
    /// A cell of an enclosing function.
    Free,
    Global,
    Predeclared,
    Universal,
}

/// The slots of a function.
#[derive(Default, Debug)]
pub(crate) struct FunctionScope {
    /// Parameters first, then `*args` and `**kwargs`, then variables.
    pub(crate) locals: Vec<BindingId>,
    /// Variables of enclosing functions, as bindings of those.
    pub(crate) free: Vec<BindingId>,
}

/// A program with all names bound.
pub(crate) struct Resolved {
    pub(crate) bindings: Vec<Binding>,
    /// By expression; `None` if it is not an identifier.
    pub(crate) idents: Vec<Option<BindingId>>,
    /// By the identifier of a `def`, or by a lambda.
    pub(crate) functions: HashMap<ExprId, FunctionScope>,
    pub(crate) toplevel: FunctionScope,
    pub(crate) globals: Vec<Str>,
    pub(crate) predeclared: Vec<Str>,
}

/// A problem with a name, or with a misplaced statement.
pub(crate) struct NameError {
    pub(crate) pos: Pos,
    pub(crate) problem: Problem,
    pub(crate) message: String,
}

/// Binds all names of a program.
pub(crate) fn resolve(ast: &Ast, stmts: &[Stmt], predeclared: &[&str]) -> Result<Resolved, Vec<NameError>> {
    let mut resolver = Resolver {
        ast,
        known: predeclared,
        env: FILE,
        blocks: vec![ScopeBlock::default()],
        bindings: Vec::new(),
        idents: vec![None; ast.len()],
        scopes: vec![FunctionScope::default()],
        scope_of: HashMap::default(),
        globals: HashMap::default(),
        global_names: Vec::new(),
        given: HashMap::default(),
        given_names: Vec::new(),
        loops: 0,
        errors: Vec::new(),
        not_listed: None,
    };
    resolver.stmts(stmts);
    resolver.resolve_local_uses(FILE);
    resolver.resolve_other_uses(FILE);
    if let Some((pos, count, kind)) = resolver.not_listed {
        let message = format!("{count} more {kind}, of which this is the first");
        resolver.errors.push(NameError { pos, problem: Problem::Syntax, message });
    }
    if !resolver.errors.is_empty() {
        return Err(resolver.errors);
    }
    let mut scopes = resolver.scopes;
    let functions = resolver.scope_of.into_iter().map(|(key, at)| (key, std::mem::take(&mut scopes[at]))).collect();
    Ok(Resolved {
        bindings: resolver.bindings,
        idents: resolver.idents,
        functions,
        toplevel: std::mem::take(&mut scopes[0]),
        globals: resolver.global_names,
        predeclared: resolver.given_names,
    })
}

/// Similar names are suggested for this many undefined names.
const LOOKED_UP: usize = 100;

/// Further errors are only counted: each is shown with its line, and all may be on the same long
/// one.
const LISTED: usize = 1000;

/// What errors that are not listed are called: all of them undefined names, or any errors.
const UNDEFINED: &str = "undefined names";
const ERRORS: &str = "errors";

/// The outermost block, and the scope of the top level.
const FILE: usize = 0;

struct Resolver<'a> {
    ast: &'a Ast,
    /// Names that the host predeclares.
    known: &'a [&'a str],
    /// The current block.
    env: usize,
    blocks: Vec<ScopeBlock>,
    bindings: Vec<Binding>,
    idents: Vec<Option<BindingId>>,
    scopes: Vec<FunctionScope>,
    scope_of: HashMap<ExprId, usize>,
    globals: HashMap<Str, BindingId>,
    global_names: Vec<Str>,
    /// Predeclared and built-in names that were used.
    given: HashMap<Str, BindingId>,
    given_names: Vec<Str>,
    loops: usize,
    errors: Vec<NameError>,
    /// The position of the first error that is not listed, their number, and what they are.
    not_listed: Option<(Pos, usize, &'static str)>,
}

/// The file, a function or a comprehension.
#[derive(Default)]
struct ScopeBlock {
    parent: usize,
    /// The scope of a function; `None` for the file and for comprehensions.
    function: Option<usize>,
    bindings: HashMap<Str, BindingId>,
    children: Vec<usize>,
    /// Names used here and in inner comprehensions, with the block of the use.
    uses: Vec<(ExprId, usize)>,
}

impl<'a> Resolver<'a> {
    fn error(&mut self, pos: Pos, message: impl Into<String>) {
        if self.may_list(pos, ERRORS) {
            self.errors.push(NameError { pos, problem: Problem::Syntax, message: message.into() });
        }
    }

    /// Whether an error is listed; if not, it is counted.
    fn may_list(&mut self, pos: Pos, kind: &'static str) -> bool {
        if self.errors.len() < LISTED {
            return true;
        }
        let (_, count, kinds) = self.not_listed.get_or_insert((pos, 0, kind));
        *count += 1;
        if *kinds != kind {
            *kinds = ERRORS;
        }
        false
    }

    fn name(&self, ident: ExprId) -> Str {
        match &self.ast[ident].kind {
            ExprKind::Ident(name) => name.clone(),
            _ => Str::EMPTY,
        }
    }

    fn push(&mut self, function: Option<usize>) {
        let block = ScopeBlock { parent: self.env, function, ..ScopeBlock::default() };
        self.blocks.push(block);
        let id = self.blocks.len() - 1;
        self.blocks[self.env].children.push(id);
        self.env = id;
    }

    fn pop(&mut self) {
        self.env = self.blocks[self.env].parent;
    }

    /// The innermost function or the file.
    fn container(&self) -> usize {
        let mut block = self.env;
        while block != FILE && self.blocks[block].function.is_none() {
            block = self.blocks[block].parent;
        }
        block
    }

    fn in_function(&self) -> bool {
        self.container() != FILE
    }

    fn new_binding(&mut self, scope: Scope, index: usize, name: Str) -> BindingId {
        self.bindings.push(Binding { scope, index, name });
        self.bindings.len() - 1
    }

    /// Binds an assigned name; returns whether it was already bound.
    fn bind(&mut self, ident: ExprId) -> bool {
        if self.env != FILE {
            return self.bind_local(ident);
        }
        let name = self.name(ident);
        let known = self.blocks[FILE].bindings.get(&name).or_else(|| self.globals.get(&name)).copied();
        let binding = known.unwrap_or_else(|| {
            let binding = self.new_binding(Scope::Global, self.global_names.len(), name.clone());
            self.globals.insert(name.clone(), binding);
            self.global_names.push(name);
            binding
        });
        self.idents[ident.index()] = Some(binding);
        known.is_some()
    }

    fn bind_local(&mut self, ident: ExprId) -> bool {
        let name = self.name(ident);
        let known = self.blocks[self.env].bindings.contains_key(&name);
        if !known {
            let scope = self.blocks[self.container()].function.unwrap_or(0);
            let binding = self.new_binding(Scope::Local, self.scopes[scope].locals.len(), name.clone());
            self.scopes[scope].locals.push(binding);
            self.blocks[self.env].bindings.insert(name, binding);
        }
        self.use_name(ident);
        known
    }

    fn use_name(&mut self, ident: ExprId) {
        if self.env == FILE {
            self.use_at_top(ident, FILE);
        } else {
            let (container, env) = (self.container(), self.env);
            self.blocks[container].uses.push((ident, env));
        }
    }

    /// Resolves a name among those visible at the top level; `env` is the block of the use.
    fn use_at_top(&mut self, ident: ExprId, env: usize) -> BindingId {
        let name = self.name(ident);
        let known = self.blocks[FILE].bindings.get(&name).or_else(|| self.globals.get(&name));
        let binding = match known.or_else(|| self.given.get(&name)) {
            Some(&binding) => binding,
            None if self.known.iter().any(|known| name == **known) => {
                let binding = self.new_binding(Scope::Predeclared, self.given_names.len(), name.clone());
                self.given_names.push(name.clone());
                self.given.insert(name, binding);
                binding
            }
            None if crate::builtins::universe(self.ast.dialect, &name).is_some() => {
                let binding = self.new_binding(Scope::Universal, 0, name.clone());
                self.given.insert(name, binding);
                binding
            }
            None => {
                self.undefined(ident, &name, env);
                self.new_binding(Scope::Undefined, 0, name)
            }
        };
        self.idents[ident.index()] = Some(binding);
        binding
    }

    /// Reports an undefined name that is used in `env`.
    #[cold]
    fn undefined(&mut self, ident: ExprId, name: &Str, env: usize) {
        if !self.may_list(self.ast[ident].start, UNDEFINED) {
            return;
        }
        let names = self.visible_names(env);
        let names = || names.iter().map(|name| &**name);
        let mut message = format!("undefined: {name}");
        let mut similar = nearest(&name.to_str(), names()).map(Str::from);
        let has_hint = Problem::Undefined { name: name.clone(), similar: None }.hint().is_some();
        match &similar {
            Some(similar) => message.push_str(&format!(" (did you mean {similar}?)")),
            None if has_hint || self.errors.len() > LOOKED_UP => {}
            None => similar = mistyped(&name.to_str(), names()),
        }
        let problem = Problem::Undefined { name: name.clone(), similar };
        self.errors.push(NameError { pos: self.ast[ident].start, problem, message });
    }

    /// The names that are visible in `env`, sorted.
    fn visible_names(&self, env: usize) -> Vec<String> {
        let mut names: Vec<Str> = self.global_names.clone();
        let mut block = env;
        loop {
            names.extend(self.blocks[block].bindings.keys().cloned());
            if block == FILE {
                break;
            }
            block = self.blocks[block].parent;
        }
        names.sort();
        names.iter().map(|name| name.to_str().into_owned()).collect()
    }

    /// Binds the uses of a container's own variables.
    fn resolve_local_uses(&mut self, container: usize) {
        let uses = std::mem::take(&mut self.blocks[container].uses);
        let mut rest = Vec::new();
        for (ident, env) in uses {
            let name = self.name(ident);
            let mut block = env;
            let found = loop {
                if let Some(&binding) = self.blocks[block].bindings.get(&name) {
                    break Some(binding);
                }
                if block == FILE || self.blocks[block].function.is_some() {
                    break None;
                }
                block = self.blocks[block].parent;
            };
            match found {
                Some(binding) if matches!(self.bindings[binding].scope, Scope::Local | Scope::Cell) => {
                    self.idents[ident.index()] = Some(binding);
                }
                _ => rest.push((ident, env)),
            }
        }
        self.blocks[container].uses = rest;
    }

    fn resolve_other_uses(&mut self, block: usize) {
        for child in std::mem::take(&mut self.blocks[block].children) {
            stacker::maybe_grow(64 << 10, 1 << 20, || self.resolve_other_uses(child));
        }
        for (ident, env) in std::mem::take(&mut self.blocks[block].uses) {
            let binding = self.lookup(ident, env, env);
            self.idents[ident.index()] = Some(binding);
        }
    }

    /// Resolves a name in a block and the enclosing ones.
    fn lookup(&mut self, ident: ExprId, used_in: usize, block: usize) -> BindingId {
        if block == FILE {
            return self.use_at_top(ident, used_in);
        }
        let name = self.name(ident);
        if let Some(&binding) = self.blocks[block].bindings.get(&name) {
            return binding;
        }
        let parent = self.blocks[block].parent;
        let mut binding = stacker::maybe_grow(64 << 10, 1 << 20, || self.lookup(ident, used_in, parent));
        if let Some(scope) = self.blocks[block].function
            && matches!(self.bindings[binding].scope, Scope::Local | Scope::Cell | Scope::Free)
        {
            // A variable of an enclosing function: from now on both access it through a cell.
            if self.bindings[binding].scope == Scope::Local {
                self.bindings[binding].scope = Scope::Cell;
            }
            let index = self.scopes[scope].free.len();
            self.scopes[scope].free.push(binding);
            binding = self.new_binding(Scope::Free, index, name.clone());
        }
        self.blocks[block].bindings.insert(name, binding);
        binding
    }

    fn stmts(&mut self, stmts: &'a [Stmt]) {
        for stmt in stmts {
            stacker::maybe_grow(64 << 10, 1 << 20, || self.stmt(stmt));
        }
    }

    fn stmt(&mut self, stmt: &'a Stmt) {
        match stmt {
            Stmt::Expr(x) => self.expr(*x),
            Stmt::HostOp(..) => {}
            Stmt::Break(pos) | Stmt::Continue(pos) => {
                if self.loops == 0 {
                    let word = if matches!(stmt, Stmt::Break(_)) { "break" } else { "continue" };
                    self.error(*pos, format!("{word} not in a loop"));
                }
            }
            Stmt::Return(result, pos) => {
                if !self.in_function() {
                    self.error(*pos, "return statement not within a function");
                }
                if let Some(result) = result {
                    self.expr(*result);
                }
            }
            Stmt::Assign { target, value, .. } => {
                self.expr(*value);
                self.assign(*target, Augmented::No);
            }
            Stmt::Augmented { target, value, .. } => {
                self.expr(*value);
                self.assign(*target, Augmented::Yes);
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
                self.assign(*vars, Augmented::No);
                self.loops += 1;
                self.stmts(body);
                self.loops -= 1;
            }
            Stmt::While { condition, body } => {
                self.expr(*condition);
                self.loops += 1;
                self.stmts(body);
                self.loops -= 1;
            }
            Stmt::Def(ident, def) => {
                self.bind(*ident);
                self.function(*ident, def);
            }
            Stmt::Load(load) => {
                if self.in_function() {
                    self.error(load.pos, "load statement within a function");
                }
                for (name, pos, ident) in &load.names {
                    if name.is_empty() {
                        self.error(*pos, "load: empty identifier");
                        continue;
                    }
                    if name.starts_with(b"_") {
                        self.error(*pos, format!("load: names with leading underscores are not exported: {name}"));
                    }
                    self.bind_local(*ident);
                }
            }
        }
    }

    fn assign(&mut self, target: ExprId, augmented: Augmented) {
        let expr = &self.ast[target];
        match &expr.kind {
            ExprKind::Ident(_) => {
                self.bind(target);
            }
            ExprKind::Index(x, y) => {
                self.expr(*x);
                self.expr(*y);
            }
            ExprKind::Dot(x, _) => self.expr(*x),
            ExprKind::Paren(x) => self.assign(*x, augmented),
            ExprKind::Tuple(items) | ExprKind::List(items) => {
                let (brackets, what) = match expr.kind {
                    ExprKind::List(_) => ("[]", "list"),
                    _ => ("()", "tuple"),
                };
                if items.is_empty() {
                    self.error(expr.start, format!("can't assign to {brackets}"));
                }
                if augmented == Augmented::Yes {
                    self.error(expr.start, format!("can't use {what} expression in augmented assignment"));
                }
                for item in items {
                    stacker::maybe_grow(64 << 10, 1 << 20, || self.assign(*item, augmented));
                }
            }
            other => self.error(expr.start, format!("can't assign to {}", kind_name(other))),
        }
    }

    fn expr(&mut self, id: ExprId) {
        match &self.ast[id].kind {
            ExprKind::Ident(_) => self.use_name(id),
            ExprKind::Int(_)
            | ExprKind::BigInt(_)
            | ExprKind::Float(_)
            | ExprKind::Str(_)
            | ExprKind::Bytes(_)
            | ExprKind::HostOp(_)
            | ExprKind::HostArgs => {}
            _ => stacker::maybe_grow(64 << 10, 1 << 20, || self.compound_expr(id)),
        }
    }

    fn compound_expr(&mut self, id: ExprId) {
        match &self.ast[id].kind {
            ExprKind::Paren(x) | ExprKind::Unary(_, x) | ExprKind::Not(x) | ExprKind::Dot(x, _) => self.expr(*x),
            ExprKind::Tuple(items) | ExprKind::List(items) => items.iter().for_each(|item| self.expr(*item)),
            ExprKind::Dict(entries) => {
                for entry in entries {
                    self.expr(entry.key);
                    self.expr(entry.value);
                }
            }
            ExprKind::Binary(_, x, y)
            | ExprKind::NotIn(x, y)
            | ExprKind::Compare(_, x, y)
            | ExprKind::And(x, y)
            | ExprKind::Or(x, y)
            | ExprKind::Index(x, y) => {
                self.expr(*x);
                self.expr(*y);
            }
            ExprKind::Cond { condition, then, otherwise } => {
                self.expr(*condition);
                self.expr(*then);
                self.expr(*otherwise);
            }
            ExprKind::Slice { operand, start, stop, step } => {
                self.expr(*operand);
                [start, stop, step].into_iter().flatten().for_each(|x| self.expr(*x));
            }
            ExprKind::Call(callee, args) => {
                self.expr(*callee);
                self.args(id, args);
            }
            ExprKind::Lambda(def) => self.function(id, def),
            ExprKind::Comprehension(x) => self.comprehension(&x.body, &x.clauses),
            _ => {}
        }
    }

    fn comprehension(&mut self, body: &'a ComprehensionBody, clauses: &'a [Clause]) {
        // The first iterable does not see the variables: `[x for x in x]`.
        let mut clauses = clauses.iter();
        let Some(Clause::For { vars, iterable, .. }) = clauses.next() else { return };
        self.expr(*iterable);
        self.push(None);
        self.assign(*vars, Augmented::No);
        for clause in clauses {
            match clause {
                Clause::If(condition) => self.expr(*condition),
                Clause::For { vars, iterable, .. } => {
                    self.assign(*vars, Augmented::No);
                    self.expr(*iterable);
                }
            }
        }
        match body {
            ComprehensionBody::List(x) => self.expr(*x),
            ComprehensionBody::Dict(entry) => {
                self.expr(entry.key);
                self.expr(entry.value);
            }
        }
        self.pop();
    }

    fn args(&mut self, call: ExprId, args: &'a [Arg]) {
        let (mut star, mut star_star) = (false, false);
        let mut names: Vec<&Str> = Vec::new();
        let mut positional = 0;
        for arg in args {
            match arg {
                Arg::StarStar(x, pos) => {
                    if star_star {
                        self.error(*pos, "multiple **kwargs not allowed");
                    }
                    star_star = true;
                    self.expr(*x);
                }
                Arg::Star(x, pos) => {
                    if star_star {
                        self.error(*pos, "*args may not follow **kwargs");
                    } else if star {
                        self.error(*pos, "multiple *args not allowed");
                    }
                    star = true;
                    self.expr(*x);
                }
                Arg::Named(name, x, pos) => {
                    if star_star {
                        self.error(*pos, "argument may not follow **kwargs");
                    }
                    // More than 255 names are an error anyway, so don't search for duplicates among
                    // them.
                    if names.len() < 256 && names.contains(&name) {
                        self.error(*pos, format!("keyword argument {name} repeated"));
                    } else {
                        names.push(name);
                    }
                    self.expr(*x);
                }
                Arg::Positional(x) => {
                    positional += 1;
                    let pos = self.ast[*x].start;
                    if star {
                        self.error(pos, "argument may not follow *args");
                    } else if star_star {
                        self.error(pos, "argument may not follow **kwargs");
                    } else if !names.is_empty() {
                        self.error(pos, "positional argument may not follow named");
                    }
                    self.expr(*x);
                }
            }
        }
        let named = args.iter().filter(|arg| matches!(arg, Arg::Named(..))).count();
        for (count, kind) in [(positional, "positional"), (named, "keyword")] {
            if count >= 256 {
                let start = self.ast[call].start;
                self.error(start, format!("{count} {kind} arguments in call, limit is 255"));
            }
        }
    }

    /// `key` identifies the function in [`Resolved::functions`].
    fn function(&mut self, key: ExprId, def: &'a Def) {
        for param in &def.params {
            if let Param::Default(_, default, _) = param {
                self.expr(*default);
            }
        }
        self.scopes.push(FunctionScope::default());
        let scope = self.scopes.len() - 1;
        self.scope_of.insert(key, scope);
        self.push(Some(scope));
        self.params(&def.params);
        let loops = std::mem::take(&mut self.loops);
        match &def.body {
            DefBody::Block(stmts) => self.stmts(stmts),
            DefBody::Lambda(body) => self.expr(*body),
        }
        self.loops = loops;
        self.resolve_local_uses(self.env);
        self.pop();
    }

    fn params(&mut self, params: &[Param]) {
        let mut optional = false;
        let mut star: Option<(Option<ExprId>, Pos)> = None;
        let mut star_star: Option<ExprId> = None;
        let mut by_name_only = 0;
        for param in params {
            match param {
                Param::Plain(ident) => {
                    let pos = self.ast[*ident].start;
                    if let Some(kwargs) = star_star {
                        let name = self.name(kwargs);
                        self.error(pos, format!("required parameter may not follow **{name}"));
                    } else if star.is_some() {
                        by_name_only += 1;
                    } else if optional {
                        self.error(pos, "required parameter may not follow optional");
                    }
                    self.param(*ident, pos);
                }
                Param::Default(ident, _, pos) => {
                    if let Some(kwargs) = star_star {
                        let name = self.name(kwargs);
                        self.error(*pos, format!("optional parameter may not follow **{name}"));
                    } else if star.is_some() {
                        by_name_only += 1;
                    }
                    self.param(*ident, *pos);
                    optional = true;
                }
                Param::Star(ident, pos) => {
                    if let Some(kwargs) = star_star {
                        let name = self.name(kwargs);
                        self.error(*pos, format!("* parameter may not follow **{name}"));
                    } else if star.is_some() {
                        self.error(*pos, "multiple * parameters not allowed");
                    } else {
                        star = Some((*ident, *pos));
                    }
                }
                Param::StarStar(ident, pos) => {
                    if star_star.is_some() {
                        self.error(*pos, "multiple ** parameters not allowed");
                    }
                    star_star = Some(*ident);
                }
            }
        }
        // `*args` and `**kwargs` come last, so that the other parameters are consecutive.
        match star {
            Some((Some(ident), _)) => self.param(ident, self.ast[ident].start),
            Some((None, pos)) if by_name_only == 0 => {
                self.error(pos, "bare * must be followed by keyword-only parameters");
            }
            _ => {}
        }
        if let Some(ident) = star_star {
            self.param(ident, self.ast[ident].start);
        }
    }

    fn param(&mut self, ident: ExprId, pos: Pos) {
        if self.bind(ident) {
            let name = self.name(ident);
            self.error(pos, format!("duplicate parameter: {name}"));
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Augmented {
    Yes,
    No,
}

/// The reference's name for an expression that cannot be assigned to.
fn kind_name(kind: &ExprKind) -> &'static str {
    match kind {
        ExprKind::Int(_) | ExprKind::BigInt(_) | ExprKind::Float(_) | ExprKind::Str(_) | ExprKind::Bytes(_) => {
            "literal"
        }
        ExprKind::Dict(_) => "dictexpr",
        ExprKind::Unary(..) | ExprKind::Not(_) => "unaryexpr",
        ExprKind::Binary(..) | ExprKind::NotIn(..) | ExprKind::Compare(..) | ExprKind::And(..) | ExprKind::Or(..) => {
            "binaryexpr"
        }
        ExprKind::Cond { .. } => "condexpr",
        ExprKind::Slice { .. } => "sliceexpr",
        ExprKind::Lambda(_) => "lambdaexpr",
        ExprKind::Comprehension(_) => "comprehension",
        _ => "callexpr",
    }
}
