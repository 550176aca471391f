//! The type checker: resolves names, types and signatures and turns the syntax tree into a program.
//!
//! Every name is resolved and every call gets its function here, so that evaluation cannot meet
//! unknown ones. A type that is only known during evaluation (`dyn`) fits everywhere here and is
//! checked there.

use ytterby_regexp::Regexp;

use crate::functions::{self, Fun};
use crate::syntax::{Comprehension, Expr, ExprKind, Macro, Optional};
use crate::types::{Bindings, Type, can_meet};
use crate::{CompileError, Env, Library, Program, time};

/// A node of a program.
#[derive(Debug)]
pub(crate) struct TypedNode {
    pub kind: NodeKind,
    pub ty: Type,
}

#[derive(Debug)]
pub(crate) enum NodeKind {
    Null,
    Bool(bool),
    Int(i64),
    Uint(u64),
    Double(f64),
    Str(String),
    Bytes(Vec<u8>),
    TypeName(&'static str),
    /// The index of a variable: first those of the environment, then those of comprehensions.
    Var(usize),
    Select(Box<TypedNode>, FieldName, Optional),
    Has(Box<TypedNode>, FieldName),
    Index(Box<TypedNode>, Box<TypedNode>, Optional),
    Call(Fun, Vec<TypedNode>),
    /// Binary operators from left to right.
    Chain(Box<TypedNode>, Vec<(Fun, TypedNode)>),
    /// A function with a literal regular expression, compiled once.
    Regex(Fun, Box<Regexp>, Vec<TypedNode>),
    And(Vec<TypedNode>),
    Or(Vec<TypedNode>),
    If(Box<[TypedNode; 3]>),
    List(Vec<(TypedNode, Optional)>),
    Map(Vec<(TypedNode, TypedNode, Optional)>),
    Comprehension(Box<Loop>),
}

/// The name of a field.
#[derive(Debug)]
pub(crate) struct FieldName {
    pub name: String,
    /// The key for an escaped name (`a__dash__b`), used where values do not have escaped keys.
    pub plain: Option<String>,
}

/// A comprehension.
#[derive(Debug)]
pub(crate) struct Loop {
    pub kind: Macro,
    pub range: TypedNode,
    /// The index of its first variable.
    pub slot: usize,
    pub has_two: bool,
    pub condition: Option<TypedNode>,
    pub transform: Option<TypedNode>,
}

/// Names of types for comparisons with `type(x)`.
const TYPES: [&str; 9] = ["bool", "bytes", "double", "int", "list", "map", "null_type", "string", "uint"];

/// Functions of the standard library; the others are those of Kubernetes.
const STANDARD: [&str; 32] = [
    "!_",
    "-_",
    "_+_",
    "_-_",
    "_*_",
    "_/_",
    "_%_",
    "_==_",
    "_!=_",
    "_<_",
    "_<=_",
    "_>_",
    "_>=_",
    "@in",
    "size",
    "contains",
    "startsWith",
    "endsWith",
    "matches",
    "int",
    "uint",
    "double",
    "string",
    "bytes",
    "bool",
    "type",
    "dyn",
    "all",
    "exists",
    "exists_one",
    "filter",
    "map",
];

pub(crate) fn check(expr: &Expr, env: &Env) -> Result<Program, CompileError> {
    let variables = env.variables.clone();
    let mut checker = Checker { uses: vec![false; variables.len()], variables, library: env.library, is_mixed: false };
    let root = checker.node(expr)?;
    Ok(Program { root, uses: checker.uses })
}

struct Checker {
    variables: Vec<(String, Type)>,
    uses: Vec<bool>,
    library: Library,
    /// Whether the next list literal may have items of several types.
    is_mixed: bool,
}

type CheckedNode = Result<TypedNode, CompileError>;

impl Checker {
    fn node(&mut self, expr: &Expr) -> CheckedNode {
        let literal = |kind, ty| Ok(TypedNode { kind, ty });
        match &expr.kind {
            ExprKind::Null => literal(NodeKind::Null, Type::Null),
            ExprKind::Bool(value) => literal(NodeKind::Bool(*value), Type::Bool),
            ExprKind::Int(value) => literal(NodeKind::Int(*value), Type::Int),
            ExprKind::Uint(value) => literal(NodeKind::Uint(*value), Type::Uint),
            ExprKind::Double(value) => literal(NodeKind::Double(*value), Type::Double),
            ExprKind::Str(text) => literal(NodeKind::Str(text.clone()), Type::String),
            ExprKind::Bytes(bytes) => literal(NodeKind::Bytes(bytes.clone()), Type::Bytes),
            ExprKind::Ident(name) => self.ident(name, expr.at),
            ExprKind::Select(of, field, optional) => {
                let of = self.node(of)?;
                let ty = field_type(&of.ty, field, *optional).map_err(|message| CompileError::new(expr.at, message))?;
                Ok(TypedNode { kind: NodeKind::Select(Box::new(of), self.field(field), *optional), ty })
            }
            ExprKind::Has(of, field) => {
                let of = self.node(of)?;
                field_type(&of.ty, field, Optional::No).map_err(|message| CompileError::new(expr.at, message))?;
                Ok(TypedNode { kind: NodeKind::Has(Box::new(of), self.field(field)), ty: Type::Bool })
            }
            ExprKind::Index(of, index, optional) => {
                let (of, index) = (self.node(of)?, self.node(index)?);
                let ty = index_type(&of.ty, &index.ty, *optional);
                let ty = ty.ok_or_else(|| no_overload(expr.at, "_[_]", [&of.ty, &index.ty]))?;
                Ok(TypedNode { kind: NodeKind::Index(Box::new(of), Box::new(index), *optional), ty })
            }
            ExprKind::Chain(first, rest) => self.chain(first, rest),
            ExprKind::Call(name, receiver, args) => self.call(name, receiver.as_deref(), args, expr.at),
            ExprKind::And(operands) => {
                Ok(TypedNode { kind: NodeKind::And(self.bools(operands, "_&&_")?), ty: Type::Bool })
            }
            ExprKind::Or(operands) => {
                Ok(TypedNode { kind: NodeKind::Or(self.bools(operands, "_||_")?), ty: Type::Bool })
            }
            ExprKind::If(parts) => {
                let [condition, yes, no] = &**parts;
                let (condition, yes, no) = (self.node(condition)?, self.node(yes)?, self.node(no)?);
                if !can_meet(&condition.ty, &Type::Bool) || !can_meet(&yes.ty, &no.ty) {
                    return Err(no_overload(expr.at, "_?_:_", [&condition.ty, &yes.ty, &no.ty]));
                }
                let ty = met(&yes.ty, &no.ty);
                Ok(TypedNode { kind: NodeKind::If(Box::new([condition, yes, no])), ty })
            }
            ExprKind::List(items) => self.list(items),
            ExprKind::Map(entries) => self.map(entries),
            ExprKind::Comprehension(comprehension) => self.comprehension(comprehension, expr.at),
        }
    }

    fn field(&self, name: &str) -> FieldName {
        let is_escaped = self.library == Library::Standard && name.contains("__");
        let plain = is_escaped.then(|| ytterby_text::cel::unescaped(name));
        FieldName { name: name.to_owned(), plain }
    }

    fn ident(&mut self, name: &str, at: usize) -> CheckedNode {
        if let Some(slot) = self.variables.iter().rposition(|(other, _)| other == name) {
            if let Some(used) = self.uses.get_mut(slot) {
                *used = true;
            }
            return Ok(TypedNode { kind: NodeKind::Var(slot), ty: self.variables[slot].1.clone() });
        }
        match TYPES.iter().find(|known| **known == name) {
            Some(known) => Ok(TypedNode { kind: NodeKind::TypeName(known), ty: Type::Type }),
            None => Err(CompileError::new(at, format!("undeclared reference to '{name}'"))),
        }
    }

    fn chain(&mut self, first: &Expr, rest: &[(&'static str, usize, Expr)]) -> CheckedNode {
        let first = self.node(first)?;
        let mut ty = first.ty.clone();
        let mut operands = Vec::with_capacity(rest.len());
        for (name, at, operand) in rest {
            let function = functions::find(name).expect("operators are functions");
            let node = self.node(operand)?;
            let types = [&ty, &node.ty];
            let found = result_type(function, false, &types).ok_or_else(|| no_overload(*at, name, types))?;
            ty = found;
            operands.push((function.fun, node));
        }
        Ok(TypedNode { kind: NodeKind::Chain(Box::new(first), operands), ty })
    }

    fn bools(&mut self, operands: &[Expr], name: &str) -> Result<Vec<TypedNode>, CompileError> {
        let mut nodes = Vec::with_capacity(operands.len());
        for operand in operands {
            let node = self.node(operand)?;
            if !can_meet(&node.ty, &Type::Bool) {
                return Err(no_overload(operand.at, name, [&node.ty]));
            }
            nodes.push(node);
        }
        Ok(nodes)
    }

    fn list(&mut self, items: &[(Expr, Optional)]) -> CheckedNode {
        let is_mixed = std::mem::take(&mut self.is_mixed);
        let mut nodes = Vec::with_capacity(items.len());
        let mut of: Option<Type> = None;
        for (item, optional) in items {
            let node = self.node(item)?;
            let ty = unwrapped(&node.ty, *optional)
                .ok_or_else(|| CompileError::new(item.at, format!("expected an optional value, found {}", node.ty)))?;
            of = Some(if is_mixed { Type::Dyn } else { self.homogeneous(of, ty, item.at)? });
            nodes.push((node, *optional));
        }
        Ok(TypedNode { kind: NodeKind::List(nodes), ty: Type::list(of.unwrap_or(Type::Dyn)) })
    }

    fn map(&mut self, entries: &[(Expr, Expr, Optional)]) -> CheckedNode {
        let mut nodes = Vec::with_capacity(entries.len());
        let (mut keys, mut values): (Option<Type>, Option<Type>) = (None, None);
        for (key, value, optional) in entries {
            let (key_node, value_node) = (self.node(key)?, self.node(value)?);
            let ty = unwrapped(&value_node.ty, *optional).ok_or_else(|| {
                CompileError::new(value.at, format!("expected an optional value, found {}", value_node.ty))
            })?;
            keys = Some(self.homogeneous(keys, key_node.ty.clone(), key.at)?);
            values = Some(self.homogeneous(values, ty, value.at)?);
            nodes.push((key_node, value_node, *optional));
        }
        let ty = Type::map(keys.unwrap_or(Type::Dyn), values.unwrap_or(Type::Dyn));
        Ok(TypedNode { kind: NodeKind::Map(nodes), ty })
    }

    /// In Kubernetes, all items of a literal have one type.
    fn homogeneous(&self, of: Option<Type>, next: Type, at: usize) -> Result<Type, CompileError> {
        let Some(of) = of else { return Ok(next) };
        if can_meet(&of, &next) {
            return Ok(met(&of, &next));
        }
        match self.library {
            Library::Standard => Ok(Type::Dyn),
            Library::Kubernetes => {
                Err(CompileError::new(at, format!("expected type '{of}' but found '{next}' in a list or map literal")))
            }
        }
    }

    fn call(&mut self, name: &str, receiver: Option<&Expr>, args: &[Expr], at: usize) -> CheckedNode {
        // `sets.contains(…)`: the receiver is a namespace, part of the function's name.
        let mut full = name.to_owned();
        let mut receiver = receiver;
        if let Some(Expr { kind: ExprKind::Ident(first), .. }) = receiver
            && functions::is_namespace(first)
            && !self.variables.iter().any(|(variable, _)| variable == first)
        {
            full = format!("{first}.{name}");
            receiver = None;
        }
        let is_there = self.library == Library::Kubernetes || STANDARD.contains(&&*full);
        let Some(function) = functions::find(&full).filter(|_| is_there) else {
            if let Some(receiver) = receiver {
                self.node(receiver)?;
            }
            return Err(CompileError::new(at, format!("undeclared reference to '{full}'")));
        };
        let mut nodes = Vec::with_capacity(args.len() + 1);
        for arg in receiver.into_iter().chain(args) {
            // The values for `format` may have several types.
            self.is_mixed = function.fun == Fun::Format && matches!(arg.kind, ExprKind::List(_));
            nodes.push(self.node(arg)?);
        }
        let types: Vec<&Type> = nodes.iter().map(|node| &node.ty).collect();
        let result = result_type(function, receiver.is_some(), &types);
        let Some(ty) = result else {
            return Err(no_overload(at, &full, nodes.iter().map(|node| &node.ty)));
        };
        self.literals(function.fun, &mut nodes, ty, receiver.into_iter().chain(args).last().map_or(at, |arg| arg.at))
    }

    /// Reports invalid literals at compile time.
    fn literals(&self, fun: Fun, nodes: &mut Vec<TypedNode>, ty: Type, at: usize) -> CheckedNode {
        let literal = |at: usize| match nodes.get(at).map(|node| &node.kind) {
            Some(NodeKind::Str(text)) => Some(text.clone()),
            _ => None,
        };
        match fun {
            Fun::Matches | Fun::Find | Fun::FindAll => {
                if let Some(pattern) = literal(1) {
                    let regexp = Regexp::new(pattern.as_bytes())
                        .map_err(|error| CompileError::new(at, format!("invalid pattern: {error}")))?;
                    return Ok(TypedNode { kind: NodeKind::Regex(fun, Box::new(regexp), std::mem::take(nodes)), ty });
                }
            }
            Fun::Duration if literal(0).is_some_and(|text| ytterby_text::duration::parse(&text).is_none()) => {
                return Err(CompileError::new(at, "invalid duration argument"));
            }
            Fun::Timestamp if literal(0).is_some_and(|text| time::timestamp(&text).is_none()) => {
                return Err(CompileError::new(at, "invalid timestamp argument"));
            }
            _ => {}
        }
        Ok(TypedNode { kind: NodeKind::Call(fun, std::mem::take(nodes)), ty })
    }

    fn comprehension(&mut self, of: &Comprehension, at: usize) -> CheckedNode {
        let is_standard = matches!(of.kind, Macro::All | Macro::Exists | Macro::ExistsOne | Macro::Filter | Macro::Map);
        if self.library == Library::Standard && (!is_standard || of.vars.len() > 1) {
            return Err(CompileError::new(at, "undeclared reference to a macro of an extension"));
        }
        let range = self.node(&of.range)?;
        let is_optional = matches!(of.kind, Macro::OptMap | Macro::OptFlatMap);
        let wrong = || CompileError::new(at, format!("a value of type '{}' cannot be the range of a macro", range.ty));
        // Key and value of each iteration; a single variable is the item of a list or the key of a
        // map.
        let (key, item) = match &range.ty {
            Type::Dyn => (Type::Dyn, Type::Dyn),
            Type::Optional(of) if is_optional => (Type::Dyn, (**of).clone()),
            Type::List(of) if !is_optional => (Type::Int, (**of).clone()),
            Type::Map(key, value) if !is_optional => ((**key).clone(), (**value).clone()),
            _ => return Err(wrong()),
        };
        let is_map = matches!(range.ty, Type::Map(..));
        let slot = self.variables.len();
        let has_two = of.vars.len() == 2;
        let single = if is_map { key.clone() } else { item.clone() };
        if has_two {
            self.variables.push((of.vars[0].clone(), key.clone()));
            self.variables.push((of.vars[1].clone(), item.clone()));
        } else {
            self.variables.push((of.vars[0].clone(), single.clone()));
        }
        let condition = of.condition.as_ref().map(|body| self.node(body)).transpose();
        let transform = of.transform.as_ref().map(|body| self.node(body)).transpose();
        self.variables.truncate(slot);
        let (condition, transform) = (condition?, transform?);
        if let Some(node) = condition.as_ref().filter(|node| !can_meet(&node.ty, &Type::Bool)) {
            return Err(CompileError::new(at, format!("expected type 'bool' but found '{}'", node.ty)));
        }
        let result = transform.as_ref().map_or(Type::Dyn, |node| node.ty.clone());
        let ty = match of.kind {
            Macro::All | Macro::Exists | Macro::ExistsOne => Type::Bool,
            Macro::Filter => Type::list(single),
            Macro::Map | Macro::TransformList => Type::list(result),
            Macro::TransformMap => Type::map(key, result),
            Macro::TransformMapEntry => match &result {
                Type::Map(..) => result,
                Type::Dyn => Type::map(Type::Dyn, Type::Dyn),
                other => return Err(CompileError::new(at, format!("expected a map but found '{other}'"))),
            },
            Macro::OptMap => Type::Optional(std::sync::Arc::new(result)),
            Macro::OptFlatMap => match &result {
                Type::Optional(_) | Type::Dyn => result,
                other => return Err(CompileError::new(at, format!("expected an optional value but found '{other}'"))),
            },
            Macro::SortBy => range.ty.clone(),
        };
        let kind = Loop { kind: of.kind, range, slot, has_two, condition, transform };
        Ok(TypedNode { kind: NodeKind::Comprehension(Box::new(kind)), ty })
    }
}

/// The result type of a call with arguments of these types, if there is such a signature.
fn result_type(function: &functions::Function, is_method: bool, types: &[&Type]) -> Option<Type> {
    let mut result: Option<Type> = None;
    for signature in &function.signatures {
        if signature.is_method != is_method || signature.args.len() != types.len() {
            continue;
        }
        let mut bindings = Bindings::default();
        if signature.args.iter().zip(types).all(|(formal, actual)| bindings.unify(formal, actual)) {
            let found = bindings.apply(&signature.result);
            result = Some(match result {
                Some(other) if other != found => Type::Dyn,
                _ => found,
            });
        }
    }
    result
}

/// The more specific of two compatible types.
fn met(a: &Type, b: &Type) -> Type {
    if matches!(a, Type::Dyn) || matches!(b, Type::Dyn) {
        return Type::Dyn;
    }
    if *a == Type::Null { b.clone() } else { a.clone() }
}

/// The type of an item; `?` unwraps an optional.
fn unwrapped(ty: &Type, optional: Optional) -> Option<Type> {
    match (optional, ty) {
        (Optional::No, ty) => Some(ty.clone()),
        (Optional::Yes, Type::Optional(of)) => Some((**of).clone()),
        (Optional::Yes, Type::Dyn) => Some(Type::Dyn),
        (Optional::Yes, _) => None,
    }
}

fn optional_of(ty: Type) -> Type {
    match ty {
        Type::Optional(_) => ty,
        other => Type::Optional(std::sync::Arc::new(other)),
    }
}

fn field_type(of: &Type, field: &str, optional: Optional) -> Result<Type, String> {
    let found = match of {
        Type::Dyn => Type::Dyn,
        Type::Map(key, value) if can_meet(key, &Type::String) => (**value).clone(),
        Type::Object(object) => match object.fields.get(field) {
            Some(ty) => ty.clone(),
            None => {
                let near = ytterby_text::spelling::nearest(field, object.fields.keys().map(String::as_str));
                let hint = near.map(|near| format!(", did you mean '{near}'?")).unwrap_or_default();
                return Err(format!("undefined field '{field}'{hint}"));
            }
        },
        Type::Optional(inner) => return field_type(inner, field, Optional::No).map(optional_of),
        other => return Err(format!("type '{other}' does not support field selection")),
    };
    Ok(if optional == Optional::Yes { optional_of(found) } else { found })
}

fn index_type(of: &Type, index: &Type, optional: Optional) -> Option<Type> {
    let found = match of {
        Type::Dyn => Type::Dyn,
        Type::List(item) if matches!(index, Type::Int | Type::Uint | Type::Double | Type::Dyn) => (**item).clone(),
        Type::Map(key, value) if can_meet(key, index) => (**value).clone(),
        Type::Optional(inner) => return index_type(inner, index, Optional::No).map(optional_of),
        _ => return None,
    };
    Some(if optional == Optional::Yes { optional_of(found) } else { found })
}

fn no_overload<'t>(at: usize, name: &str, types: impl IntoIterator<Item = &'t Type>) -> CompileError {
    let types: Vec<String> = types.into_iter().map(ToString::to_string).collect();
    CompileError::new(at, format!("found no matching overload for '{name}' applied to '({})'", types.join(", ")))
}
