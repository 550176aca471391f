//! Data flow: which data values code reads, and which of those the schema does not declare.
//!
//! Every expression has a type as far as it matters here: a data value of the schema, a module, a
//! function, or something else. Types flow through variables, loops over arrays, parameters and
//! results of functions, within a file and through `load`. All files are visited until nothing
//! changes; then once more to record what is read. Anything uncertain is [`Type::Unknown`], and
//! nothing is reported about it.

use std::collections::{HashMap, HashSet};

use ytterby_diag::Pos;
use ytterby_starlark::BinaryOp;
use ytterby_starlark::ast::{Arg, Ast, Clause, ComprehensionBody, Def, DefBody, ExprId, ExprKind, Param, Stmt};
use ytterby_text::budget;

use crate::declared::{TrackedType, TrackedValues, ValueId};
use crate::names::{Names, SymbolId, children};
use crate::project::{CheckedProject, resolve_load};

/// Maximum passes; each one follows a value through one more function.
const PASSES: usize = 8;

/// Maximum data values that one variable can be.
const ALTERNATIVES: usize = 6;

/// The type of a value in code.
#[derive(Clone, PartialEq, Debug)]
enum Type {
    /// Nothing is assigned yet.
    Never,
    /// `None`, or another constant without attributes.
    None,
    /// Not a data value.
    Other,
    Unknown,
    /// A module of `@ytt:`.
    Module(String),
    /// One of these data values.
    Values(Vec<ValueId>),
    /// A function: its file, and the name of its definition.
    Function(usize, ExprId),
}

impl Type {
    fn join(self, other: Type) -> Type {
        match (self, other) {
            (Type::Never, ty) | (ty, Type::Never) => ty,
            (a, b) if a == b => a,
            (Type::None, ty @ Type::Values(_)) | (ty @ Type::Values(_), Type::None) => ty,
            (Type::Values(mut a), Type::Values(b)) => {
                a.extend(b);
                a.sort_unstable();
                a.dedup();
                if a.len() > ALTERNATIVES { Type::Unknown } else { Type::Values(a) }
            }
            _ => Type::Unknown,
        }
    }
}

/// How a value is used.
#[derive(Clone, Copy, PartialEq)]
enum Use {
    /// As a whole, including everything inside.
    Whole,
    /// Only its existence or length.
    Itself,
    /// It flows on and is followed there.
    Followed,
}

/// A read of an undeclared data value.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct UnknownRead {
    pub file: usize,
    /// The position of the name.
    pub pos: Pos,
    pub name: String,
    /// The map without this key.
    pub within: ValueId,
}

/// Data values that the code of a library reads.
#[derive(Default)]
pub(crate) struct LibraryReads {
    pub unknown: Vec<UnknownRead>,
    /// By value: whether it is read itself.
    pub read: Vec<bool>,
    /// By value: whether it is read with everything below.
    pub whole: Vec<bool>,
    /// By value: whether a read depends on a condition, a loop or a call.
    pub conditional: Vec<bool>,
    /// Arguments of `data.read()`, with their files.
    pub data_reads: Vec<(usize, String)>,
    /// Whether files are read by computed names.
    pub reads_any_file: bool,
    /// Whether a library with a computed name is evaluated.
    pub gets_any_library: bool,
    /// Whether code passes schemas to libraries.
    pub extends_libraries: bool,
    /// Whether any code uses `data.values`.
    pub uses_values: bool,
    /// Whether types did not converge; then nothing is known.
    pub gave_up: bool,
}

/// Follows the data values through the files of a library; `table` contains its schema.
pub(crate) fn follow(project: &CheckedProject, files: &[usize], table: Option<&TrackedValues>) -> LibraryReads {
    let count = table.map_or(0, |table| table.values.len());
    let flow = LibraryReads {
        read: vec![false; count],
        whole: vec![false; count],
        conditional: vec![false; count],
        ..LibraryReads::default()
    };
    let mut walk = FlowWalk {
        project,
        members: files.iter().copied().collect(),
        table,
        flow,
        vars: HashMap::new(),
        functions: HashMap::new(),
        noted: HashSet::new(),
        guards: HashSet::new(),
        changed: false,
        notes: false,
        file: 0,
        inside: Vec::new(),
        conditions: 0,
    };
    for pass in 0.. {
        walk.changed = false;
        walk.files(files);
        if !walk.changed {
            break;
        }
        if pass == PASSES {
            walk.flow.gave_up = true;
            break;
        }
    }
    walk.notes = true;
    walk.files(files);
    walk.flow
}

#[derive(Clone)]
struct FunctionState {
    result: Type,
    /// Whether it is used other than by being called, so that its arguments are unknown.
    escapes: bool,
}

struct FlowWalk<'a> {
    project: &'a CheckedProject,
    members: HashSet<usize>,
    table: Option<&'a TrackedValues>,
    flow: LibraryReads,
    vars: HashMap<(usize, SymbolId), Type>,
    functions: HashMap<(usize, ExprId), FunctionState>,
    /// The reads in `flow.unknown`.
    noted: HashSet<(usize, Pos, ValueId)>,
    /// Attributes tested by `hasattr` or `getattr`.
    guards: HashSet<(ValueId, String)>,
    changed: bool,
    /// Whether this is the last pass, which records what is read.
    notes: bool,
    file: usize,
    /// The enclosing functions.
    inside: Vec<(usize, ExprId)>,
    /// The number of enclosing conditions, loops and functions.
    conditions: usize,
}

impl<'a> FlowWalk<'a> {
    fn files(&mut self, files: &[usize]) {
        for &file in files {
            let project = self.project;
            let _working = budget::working_at(project.files[file].source.0, 0);
            let facts = &project.files[file].facts;
            let (Some(syntax), Some(_)) = (&facts.code.syntax, &facts.names) else { continue };
            self.file = file;
            self.stmts(&syntax.ast, &syntax.stmts);
        }
    }

    fn names(&self) -> Option<&'a Names> {
        self.project.files[self.file].facts.names.as_ref()
    }

    fn symbol(&self, ident: ExprId) -> Option<SymbolId> {
        self.names()?.idents.get(&ident).copied()
    }

    fn assign(&mut self, file: usize, symbol: SymbolId, ty: Type) {
        let slot = self.vars.entry((file, symbol)).or_insert(Type::Never);
        let joined = slot.clone().join(ty);
        if *slot != joined {
            *slot = joined;
            self.changed = true;
        }
    }

    /// Records that values are used.
    fn mark(&mut self, ty: &Type, how: Use) {
        let Type::Values(values) = ty else { return };
        if !self.notes || how == Use::Followed {
            return;
        }
        for &value in values {
            let is_collection = self.table.is_some_and(|table| !table.below(value).is_empty());
            match how {
                Use::Whole => self.flow.whole[value] = true,
                _ if !is_collection => self.flow.whole[value] = true,
                _ => self.flow.read[value] = true,
            }
            self.flow.conditional[value] |= self.conditions > 0;
        }
    }

    /// If joining types loses some of them, these count as used.
    fn settle(&mut self, parts: &[Type], joined: &Type) {
        if !matches!(joined, Type::Values(_)) {
            parts.iter().for_each(|part| self.mark(part, Use::Whole));
        }
    }

    fn stmts(&mut self, ast: &'a Ast, stmts: &'a [Stmt]) {
        for stmt in stmts {
            self.stmt(ast, stmt);
        }
    }

    fn conditionally<R>(&mut self, work: impl FnOnce(&mut Self) -> R) -> R {
        self.conditions += 1;
        let result = work(self);
        self.conditions -= 1;
        result
    }

    fn stmt(&mut self, ast: &'a Ast, stmt: &'a Stmt) {
        budget::or_unwind(budget::work(1));
        match stmt {
            Stmt::Expr(expr) => {
                self.eval(ast, *expr, Use::Whole);
            }
            Stmt::Return(value, _) => {
                let Some(value) = value else { return };
                let ty = self.eval(ast, *value, Use::Followed);
                let Some(&key) = self.inside.last() else { return self.mark(&ty, Use::Whole) };
                let state = self.function(key);
                let joined = state.result.clone().join(ty.clone());
                if state.result != joined {
                    self.changed = true;
                    self.functions.insert(key, FunctionState { result: joined.clone(), ..state.clone() });
                }
                if state.escapes {
                    self.mark(&ty, Use::Whole);
                }
                self.settle(&[ty], &joined);
            }
            Stmt::Assign { target, value, .. } => {
                let ty = self.eval(ast, *value, Use::Followed);
                self.assign_target(ast, *target, ty);
            }
            Stmt::Augmented { target, value, .. } => {
                self.eval(ast, *value, Use::Whole);
                self.eval(ast, *target, Use::Whole);
                self.assign_target(ast, *target, Type::Unknown);
            }
            Stmt::If { branches, otherwise } => {
                for (condition, body) in branches {
                    self.eval(ast, *condition, Use::Itself);
                    self.conditionally(|walk| walk.stmts(ast, body));
                }
                self.conditionally(|walk| walk.stmts(ast, otherwise));
            }
            Stmt::For { vars, iterable, body, .. } => {
                self.bind_loop(ast, *vars, *iterable);
                self.conditionally(|walk| walk.stmts(ast, body));
            }
            Stmt::While { condition, body } => {
                self.eval(ast, *condition, Use::Itself);
                self.conditionally(|walk| walk.stmts(ast, body));
            }
            Stmt::Def(name, def) => {
                if let Some(symbol) = self.symbol(*name) {
                    self.assign(self.file, symbol, Type::Function(self.file, *name));
                    // Unknown code may call the functions of a library.
                    let is_offered = self.project.files[self.file].library != Some(0)
                        && self.names().is_some_and(|names| names.symbols[symbol].scope == 0);
                    if is_offered {
                        self.escape(self.file, *name);
                    }
                }
                self.def(ast, *name, def);
            }
            Stmt::Load(_) => self.load(stmt),
            _ => {}
        }
    }

    fn load(&mut self, stmt: &Stmt) {
        let (Stmt::Load(load), Some(names)) = (stmt, self.names()) else { return };
        let module = load.module.to_string();
        for (name, _, bound) in &load.names {
            let Some(&symbol) = names.idents.get(bound) else { continue };
            let name = name.to_string();
            let ty = if let Some(standard) = module.strip_prefix("@ytt:") {
                if standard == name { Type::Module(name) } else { Type::Unknown }
            } else {
                let target = resolve_load(self.project, self.file, &module);
                let target = target.filter(|target| self.members.contains(target));
                let global = |target: usize| {
                    let symbol = self.project.files[target].facts.names.as_ref()?.global(&name)?;
                    Some(self.vars.get(&(target, symbol)).cloned().unwrap_or(Type::Never))
                };
                target.and_then(global).unwrap_or(Type::Unknown)
            };
            self.assign(self.file, symbol, ty);
        }
    }

    fn function(&mut self, key: (usize, ExprId)) -> FunctionState {
        let new = FunctionState { result: Type::Never, escapes: false };
        self.functions.entry(key).or_insert(new).clone()
    }

    fn escape(&mut self, file: usize, name: ExprId) {
        let state = self.function((file, name));
        if !state.escapes {
            self.changed = true;
            self.functions.insert((file, name), FunctionState { escapes: true, ..state });
        }
    }

    fn def(&mut self, ast: &'a Ast, key: ExprId, def: &'a Def) {
        let params = self.names().and_then(|names| names.params.get(&key)).cloned().unwrap_or_default();
        let escapes = matches!(def.body, DefBody::Lambda(_)) || self.function((self.file, key)).escapes;
        for param in &def.params {
            if let Param::Default(name, value, _) = param {
                let ty = self.eval(ast, *value, Use::Followed);
                match self.symbol(*name) {
                    Some(symbol) => self.give(self.file, symbol, ty),
                    None => self.mark(&ty, Use::Whole),
                }
            }
            if let (Param::Star(Some(_), _) | Param::StarStar(..), Some(symbol)) = (param, param_symbol(self, param)) {
                self.assign(self.file, symbol, Type::Unknown);
            }
        }
        if escapes {
            for param in params {
                self.assign(self.file, param.symbol, Type::Unknown);
            }
        }
        self.inside.push((self.file, key));
        self.conditionally(|walk| match &def.body {
            DefBody::Lambda(body) => {
                walk.eval(ast, *body, Use::Whole);
            }
            DefBody::Block(body) => {
                let builds = body.iter().any(is_operation);
                if builds {
                    let state = walk.function((walk.file, key));
                    let joined = state.result.clone().join(Type::Unknown);
                    if joined != state.result {
                        walk.changed = true;
                        walk.functions.insert((walk.file, key), FunctionState { result: joined, ..state });
                    }
                }
                walk.stmts(ast, body);
            }
        });
        self.inside.pop();
    }

    /// Assigns a value to a parameter or variable, where it is followed.
    fn give(&mut self, file: usize, symbol: SymbolId, ty: Type) {
        self.assign(file, symbol, ty.clone());
        let joined = self.vars.get(&(file, symbol)).cloned().unwrap_or(Type::Never);
        self.settle(&[ty], &joined);
    }

    fn assign_target(&mut self, ast: &'a Ast, target: ExprId, ty: Type) {
        match &ast[target].kind {
            ExprKind::Paren(inner) => self.assign_target(ast, *inner, ty),
            ExprKind::Ident(_) => match self.symbol(target) {
                Some(symbol) => self.give(self.file, symbol, ty),
                None => self.mark(&ty, Use::Whole),
            },
            ExprKind::Tuple(items) | ExprKind::List(items) => {
                self.mark(&ty, Use::Whole);
                items.iter().for_each(|item| self.assign_target(ast, *item, Type::Unknown));
            }
            _ => {
                self.mark(&ty, Use::Whole);
                let mut below = Vec::new();
                children(ast, target, &mut below);
                below.into_iter().for_each(|child| {
                    self.eval(ast, child, Use::Whole);
                });
            }
        }
    }

    /// `for vars in iterable`
    fn bind_loop(&mut self, ast: &'a Ast, vars: ExprId, iterable: ExprId) {
        if let (ExprKind::Call(callee, args), ExprKind::Tuple(targets)) =
            (&ast[ast.unparen(iterable)].kind, &ast[ast.unparen(vars)].kind)
            && let (ExprKind::Ident(name), [Arg::Positional(list), ..], [number, item]) =
                (&ast[*callee].kind, &args[..], &targets[..])
            && *name == "enumerate"
            && self.symbol(*callee).is_none()
        {
            let ty = self.eval(ast, *list, Use::Followed);
            let element = self.element(&ty);
            self.assign_target(ast, *number, Type::Other);
            self.assign_target(ast, *item, element);
            return;
        }
        let ty = self.eval(ast, iterable, Use::Followed);
        let element = self.element(&ty);
        self.assign_target(ast, vars, element);
    }

    /// The type of the items in a loop over a value.
    fn element(&mut self, ty: &Type) -> Type {
        let (Type::Values(values), Some(table)) = (ty, self.table) else {
            return if *ty == Type::Never { Type::Never } else { Type::Unknown };
        };
        let mut items = Vec::new();
        for &value in values {
            match table.values[value].shape {
                TrackedType::Array(item) => items.push(item),
                _ => {
                    self.mark(ty, Use::Whole);
                    return Type::Unknown;
                }
            }
        }
        self.mark(ty, Use::Itself);
        Type::Values(items)
    }

    /// The type of an expression that is used in this way.
    fn eval(&mut self, ast: &'a Ast, id: ExprId, how: Use) -> Type {
        budget::or_unwind(budget::work(1));
        let ty = stacker::maybe_grow(64 << 10, 1 << 20, || self.eval_inside(ast, id, how));
        self.mark(&ty, how);
        if how != Use::Followed
            && let Type::Function(file, name) = ty
        {
            self.escape(file, name);
        }
        ty
    }

    /// Marks the subexpressions as used.
    fn use_up(&mut self, ast: &'a Ast, id: ExprId) -> Type {
        let mut below = Vec::new();
        children(ast, id, &mut below);
        below.into_iter().for_each(|child| {
            self.eval(ast, child, Use::Whole);
        });
        Type::Other
    }

    fn eval_inside(&mut self, ast: &'a Ast, id: ExprId, how: Use) -> Type {
        match &ast[id].kind {
            ExprKind::Ident(name) => match self.symbol(id) {
                Some(symbol) => self.vars.get(&(self.file, symbol)).cloned().unwrap_or(Type::Never),
                None if *name == "None" => Type::None,
                None => Type::Other,
            },
            ExprKind::Paren(inner) => self.eval(ast, *inner, how),
            ExprKind::Dot(base, name) => {
                let ty = self.eval(ast, *base, Use::Followed);
                self.attribute(ast, id, &ty, &name.to_str(), how)
            }
            ExprKind::Index(base, index) => self.index(ast, id, *base, *index, how),
            ExprKind::Call(callee, args) => self.call(ast, *callee, args, how),
            ExprKind::Cond { condition, then, otherwise } => {
                self.eval(ast, *condition, Use::Itself);
                self.conditionally(|walk| walk.either(ast, *then, *otherwise, how))
            }
            ExprKind::And(left, right) | ExprKind::Or(left, right) => {
                let left = self.eval(ast, *left, how);
                let right = self.conditionally(|walk| walk.eval(ast, *right, how));
                let joined = left.clone().join(right.clone());
                if how == Use::Followed {
                    self.settle(&[left, right], &joined);
                }
                joined
            }
            ExprKind::Not(inner) => {
                self.eval(ast, *inner, Use::Itself);
                Type::Other
            }
            ExprKind::Compare(_, left, right) => {
                let is_none =
                    |id: ExprId| matches!(&ast[ast.unparen(id)].kind, ExprKind::Ident(name) if *name == "None");
                let how = if is_none(*left) || is_none(*right) { Use::Itself } else { Use::Whole };
                self.eval(ast, *left, how);
                self.eval(ast, *right, how);
                Type::Other
            }
            ExprKind::Binary(BinaryOp::In, key, value) | ExprKind::NotIn(key, value) => {
                self.eval(ast, *key, Use::Whole);
                let ty = self.eval(ast, *value, Use::Whole);
                if let (Type::Values(values), ExprKind::Str(name)) = (&ty, &ast[ast.unparen(*key)].kind) {
                    values.iter().for_each(|value| self.guard(*value, &name.to_str()));
                }
                Type::Other
            }
            ExprKind::Lambda(def) => {
                self.def(ast, id, def);
                Type::Unknown
            }
            ExprKind::Comprehension(comprehension) => self.conditionally(|walk| {
                for clause in &comprehension.clauses {
                    match clause {
                        Clause::For { vars, iterable, .. } => walk.bind_loop(ast, *vars, *iterable),
                        Clause::If(condition) => {
                            walk.eval(ast, *condition, Use::Itself);
                        }
                    }
                }
                match &comprehension.body {
                    ComprehensionBody::List(body) => {
                        walk.eval(ast, *body, Use::Whole);
                    }
                    ComprehensionBody::Dict(entry) => {
                        walk.eval(ast, entry.key, Use::Whole);
                        walk.eval(ast, entry.value, Use::Whole);
                    }
                }
                Type::Other
            }),
            ExprKind::Slice { .. } => {
                self.use_up(ast, id);
                Type::Unknown
            }
            _ => self.use_up(ast, id),
        }
    }

    fn either(&mut self, ast: &'a Ast, one: ExprId, other: ExprId, how: Use) -> Type {
        let one = self.eval(ast, one, how);
        let other = self.eval(ast, other, how);
        let joined = one.clone().join(other.clone());
        if how == Use::Followed {
            self.settle(&[one, other], &joined);
        }
        joined
    }

    /// `base.name`
    fn attribute(&mut self, ast: &'a Ast, id: ExprId, base: &Type, name: &str, how: Use) -> Type {
        match base {
            Type::Module(module) if module == "data" && name == "values" => {
                self.flow.uses_values = true;
                if self.table.is_some() { Type::Values(vec![0]) } else { Type::Unknown }
            }
            Type::Module(module) if module == "data" && (name == "list" || name == "read") => {
                // Calls are handled elsewhere; here the function itself is used as a value.
                self.flow.reads_any_file = true;
                Type::Unknown
            }
            Type::Values(values) => {
                let end = ast[id].end;
                let pos = Pos::new(end.file, end.offset.saturating_sub(name.len() as u32));
                self.member(values, name, Some(pos), base, how)
            }
            Type::Never => Type::Never,
            _ => Type::Unknown,
        }
    }

    /// A key of a data value. `pos` is the position of the name, if a missing key is an error.
    fn member(&mut self, values: &[ValueId], name: &str, pos: Option<Pos>, base: &Type, _how: Use) -> Type {
        let Some(table) = self.table else { return Type::Unknown };
        let found: Vec<ValueId> = values.iter().filter_map(|value| table.child(*value, name)).collect();
        if found.len() == values.len() {
            return Type::Values(found);
        }
        let is_absent = |value: &ValueId| table.is_closed(*value) && table.child(*value, name).is_none();
        if values.iter().all(is_absent) {
            if let Some(pos) = pos
                && self.notes
                && !self.is_guarded(values, name)
            {
                let read = UnknownRead { file: self.file, pos, name: name.to_owned(), within: values[0] };
                if self.noted.insert((read.file, pos, values[0])) {
                    self.flow.unknown.push(read);
                }
            }
            return Type::Unknown;
        }
        // A method of a scalar or array, or a key of an open map.
        self.mark(base, Use::Whole);
        Type::Unknown
    }

    fn is_guarded(&self, values: &[ValueId], name: &str) -> bool {
        values.iter().any(|value| self.guards.contains(&(*value, name.to_owned())))
    }

    /// `base[index]`
    fn index(&mut self, ast: &'a Ast, _id: ExprId, base: ExprId, index: ExprId, how: Use) -> Type {
        let ty = self.eval(ast, base, Use::Followed);
        let (Type::Values(values), Some(table)) = (&ty, self.table) else {
            self.eval(ast, index, Use::Whole);
            return if ty == Type::Never { Type::Never } else { Type::Unknown };
        };
        if let ExprKind::Str(name) = &ast[ast.unparen(index)].kind {
            let pos = ast[ast.unparen(index)].start;
            let pos = Pos::new(pos.file, pos.offset + 1);
            return self.member(values, &name.to_str(), Some(pos), &ty, how);
        }
        self.eval(ast, index, Use::Whole);
        let is_array = |value: &ValueId| matches!(table.values[*value].shape, TrackedType::Array(_));
        if values.iter().all(is_array) {
            return self.element(&ty);
        }
        self.mark(&ty, Use::Whole);
        Type::Unknown
    }

    fn call(&mut self, ast: &'a Ast, callee: ExprId, args: &'a [Arg], how: Use) -> Type {
        let callee = ast.unparen(callee);
        if let ExprKind::Ident(name) = &ast[callee].kind
            && self.symbol(callee).is_none()
            && let Some(ty) = self.builtin(ast, &name.to_str(), args, how)
        {
            return ty;
        }
        if let ExprKind::Dot(base, name) = &ast[callee].kind {
            let ty = self.eval(ast, *base, Use::Followed);
            self.module_call(ast, &ty, &name.to_str(), args);
            if !matches!(&ty, Type::Module(module) if module == "data") {
                self.attribute(ast, callee, &ty, &name.to_str(), Use::Whole);
            }
            if matches!(ty, Type::Values(_)) {
                self.mark(&ty, Use::Whole);
            }
            self.args(ast, args);
            return Type::Unknown;
        }
        let ty = self.eval(ast, callee, Use::Followed);
        let Type::Function(file, name) = ty else {
            self.args(ast, args);
            return if ty == Type::Never { Type::Never } else { Type::Unknown };
        };
        self.call_function(ast, file, name, args)
    }

    fn args(&mut self, ast: &'a Ast, args: &'a [Arg]) {
        for arg in args {
            let (Arg::Positional(value) | Arg::Named(_, value, _) | Arg::Star(value, _) | Arg::StarStar(value, _)) =
                arg;
            self.eval(ast, *value, Use::Whole);
        }
    }

    fn call_function(&mut self, ast: &'a Ast, file: usize, name: ExprId, args: &'a [Arg]) -> Type {
        let params = self.project.params(file, name);
        let mut position = 0;
        for arg in args {
            let (value, symbol) = match arg {
                Arg::Positional(value) => {
                    position += 1;
                    (*value, params.get(position - 1).filter(|param| param.is_plain).map(|param| param.symbol))
                }
                Arg::Named(name, value, _) => {
                    let name = name.to_str();
                    budget::or_unwind(budget::work(params.len() / 8));
                    (*value, params.iter().find(|param| param.is_plain && param.name == name).map(|param| param.symbol))
                }
                Arg::Star(value, _) | Arg::StarStar(value, _) => {
                    self.escape(file, name);
                    (*value, None)
                }
            };
            match symbol {
                Some(symbol) => {
                    let ty = self.eval(ast, value, Use::Followed);
                    if let Type::Function(file, name) = ty {
                        self.escape(file, name);
                    }
                    self.give(file, symbol, ty);
                }
                None => {
                    self.eval(ast, value, Use::Whole);
                }
            }
        }
        let result = self.function((file, name)).result;
        if let (true, Type::Values(values)) = (self.notes, &result) {
            values.iter().for_each(|value| self.flow.conditional[*value] = true);
        }
        result
    }

    /// Built-in functions that treat data values specially.
    fn builtin(&mut self, ast: &'a Ast, name: &str, args: &'a [Arg], _how: Use) -> Option<Type> {
        let string = |id: ExprId| match &ast[ast.unparen(id)].kind {
            ExprKind::Str(text) => Some(text.to_string()),
            _ => None,
        };
        match (name, args) {
            ("len" | "bool" | "type", [Arg::Positional(value)]) => {
                let ty = self.eval(ast, *value, Use::Followed);
                let is_map = |value: &ValueId| {
                    self.table.is_some_and(|table| matches!(table.values[*value].shape, TrackedType::Map { .. }))
                };
                let counts_keys = matches!(&ty, Type::Values(values) if values.iter().any(is_map)) && name == "len";
                self.mark(&ty, if counts_keys { Use::Whole } else { Use::Itself });
                Some(Type::Other)
            }
            ("hasattr", [Arg::Positional(value), Arg::Positional(name)]) => {
                let ty = self.eval(ast, *value, Use::Followed);
                match (&ty, string(*name)) {
                    (Type::Values(values), Some(name)) => {
                        values.iter().for_each(|value| self.guard(*value, &name));
                        let values = values.clone();
                        let member = self.member(&values, &name, None, &ty, Use::Itself);
                        self.mark(&member, Use::Itself);
                    }
                    _ => {
                        self.mark(&ty, Use::Whole);
                        self.eval(ast, *name, Use::Whole);
                    }
                }
                Some(Type::Other)
            }
            ("getattr", [Arg::Positional(value), Arg::Positional(name), rest @ ..]) => {
                let ty = self.eval(ast, *value, Use::Followed);
                for arg in rest {
                    if let Arg::Positional(default) | Arg::Named(_, default, _) = arg {
                        self.eval(ast, *default, Use::Whole);
                    }
                }
                let (Type::Values(values), Some(name)) = (&ty, string(*name)) else {
                    self.mark(&ty, Use::Whole);
                    self.eval(ast, *name, Use::Whole);
                    return Some(Type::Unknown);
                };
                values.iter().for_each(|value| self.guard(*value, &name));
                let values = values.clone();
                let member = self.member(&values, &name, None, &ty, Use::Followed);
                // The default may be anything.
                self.mark(&member, Use::Whole);
                Some(if rest.is_empty() { member } else { Type::Unknown })
            }
            _ => None,
        }
    }

    fn guard(&mut self, value: ValueId, name: &str) {
        if self.guards.insert((value, name.to_owned())) {
            self.changed = true;
        }
    }

    /// A call of a module's function, or of a method on its result.
    fn module_call(&mut self, ast: &'a Ast, base: &Type, name: &str, args: &'a [Arg]) {
        let first = args.first().and_then(|arg| match arg {
            Arg::Positional(value) | Arg::Named(_, value, _) => match &ast[ast.unparen(*value)].kind {
                ExprKind::Str(text) => Some(text.to_string()),
                _ => None,
            },
            _ => None,
        });
        match (base, name) {
            (Type::Module(module), "get") if module == "library" && first.is_none() => {
                self.flow.gets_any_library = true;
            }
            (Type::Module(module), "read") if module == "data" => match first {
                Some(path) if self.notes => self.flow.data_reads.push((self.file, path)),
                Some(_) => {}
                None => self.flow.reads_any_file = true,
            },
            (Type::Module(module), "list") if module == "data" => self.flow.reads_any_file = true,
            (_, "with_data_values_schema") => self.flow.extends_libraries = true,
            _ => {}
        }
    }
}

fn param_symbol(walk: &FlowWalk<'_>, param: &Param) -> Option<SymbolId> {
    let (Param::Plain(name) | Param::Default(name, ..) | Param::Star(Some(name), _) | Param::StarStar(name, _)) = param
    else {
        return None;
    };
    walk.symbol(*name)
}

/// Whether a statement, or one inside it, creates a node.
fn is_operation(stmt: &Stmt) -> bool {
    match stmt {
        Stmt::HostOp(..) => true,
        Stmt::If { branches, otherwise } => {
            branches.iter().any(|(_, body)| body.iter().any(is_operation)) || otherwise.iter().any(is_operation)
        }
        Stmt::For { body, .. } | Stmt::While { body, .. } => body.iter().any(is_operation),
        _ => false,
    }
}
