//! A schema as plain data.

use std::rc::Rc;
use std::sync::Arc;

use ytterby_diag::{Cause, Diagnostic, Failure, Id, Part, Pos, Sources};
use ytterby_yaml::Scalar;

pub use super::satisfiable::RuleVerdict;
use crate::api::{Options, Silent};
use crate::deep;
use crate::input::InputFile;
use crate::node::{Node, key_text};
use crate::render::library_below;
use crate::run::Run;
use crate::schema::{Item, Presence, Schema, Slot, Type};
use crate::values::check::{Mistyped, Mode, Whose};

/// What the schema of a library declares.
#[derive(Debug)]
pub struct SchemaFacts {
    /// The document.
    pub root: DeclaredValue,
    /// Rules that are true or false whatever is given.
    pub rules: Vec<RuleFact>,
    /// Violations of rules by the defaults alone. Values that must be given have none.
    pub broken_defaults: Vec<Diagnostic>,
    /// Whether these files also declare values of private libraries (`@library/ref`).
    pub extends_libraries: bool,
}

/// A place for a value.
#[derive(Debug)]
pub struct DeclaredValue {
    /// Its key; empty for documents and items of arrays.
    pub key: String,
    /// Where it is declared.
    pub pos: Pos,
    /// What it can be, besides null.
    pub shape: DeclaredShape,
    /// Whether null is allowed.
    pub nullable: bool,
    /// Whether it is only there where it is given.
    pub optional: bool,
    /// Whether it must be given.
    pub required: bool,
    /// Whether it must not be shown.
    pub secret: bool,
    /// Whether it is deprecated.
    pub deprecated: bool,
    /// What it is where nothing is given.
    pub default: Literal,
}

/// What a value can be.
#[derive(Debug)]
pub enum DeclaredShape {
    /// Anything.
    Any,
    /// A boolean, number, string or null.
    Scalar,
    /// A map.
    Map {
        /// The keys with names, in the order of the schema.
        items: Vec<DeclaredValue>,
        /// Whether there can be others.
        open: bool,
    },
    /// An array of such items.
    Array(Box<DeclaredValue>),
    /// One of these.
    OneOf(Vec<DeclaredShape>),
}

/// A piece of plain data.
#[derive(Clone, PartialEq, Debug)]
pub enum Literal {
    /// A scalar.
    Scalar(Scalar),
    /// A map, in order.
    Map(Vec<(Scalar, Literal)>),
    /// An array.
    Array(Vec<Literal>),
}

/// A rule whose outcome does not depend on the value.
#[derive(Debug)]
pub struct RuleFact {
    /// Where it is written.
    pub pos: Pos,
    /// Which part of that.
    pub part: Part,
    /// What it asks for: `length >= 0`.
    pub text: String,
    /// What is always the case.
    pub verdict: RuleVerdict,
}

/// What the schema of a library declares; `library` names it, outermost first, and is empty for the root. Nothing where
/// there is no schema.
///
/// # Errors
/// Where the schema is wrong.
pub fn schema_facts(
    files: &[InputFile],
    options: &Options,
    library: &[String],
    sources: &Arc<Sources>,
) -> Result<Option<SchemaFacts>, Failure> {
    // Marks were applied to the files already.
    let unmarked = Options { file_marks: Vec::new(), ..options.clone() };
    let run = Rc::new(Run::new(&unmarked, sources, Rc::new(Silent)));
    let mut eval = run.new_eval();
    let declared = library_below(&run, files.to_vec(), library)?.schema(&mut eval, Vec::new())?;
    let extends_libraries = !declared.for_children.is_empty();
    let Some(schema) = declared.schema else { return Ok(None) };
    let mut rules = Vec::new();
    let root = value(String::new(), &schema.root, &mut rules);
    let broken_defaults = broken_defaults(&run, &mut eval, &schema)?;
    Ok(Some(SchemaFacts { root, rules, broken_defaults, extends_libraries }))
}

fn value(key: String, slot: &Slot, rules: &mut Vec<RuleFact>) -> DeclaredValue {
    if let Some(own) = &slot.rules {
        rules.extend(own.verdicts(&slot.ty, slot.allows_null()));
    }
    DeclaredValue {
        key,
        pos: slot.pos,
        shape: shape(&slot.ty, rules),
        nullable: slot.allows_null(),
        optional: false,
        required: slot.required.is_some(),
        secret: slot.secret,
        deprecated: slot.docs.deprecated.is_some(),
        default: literal(&slot.default),
    }
}

fn shape(ty: &Type, rules: &mut Vec<RuleFact>) -> DeclaredShape {
    match ty {
        Type::Any | Type::Shapes(_) => DeclaredShape::Any,
        Type::Scalar(_) => DeclaredShape::Scalar,
        Type::Map(map) => {
            let declared = |item: &Item, rules: &mut Vec<RuleFact>| {
                let key = key_text(&item.key).into_owned();
                let value = deep(|| value(key, &item.slot, rules));
                DeclaredValue { optional: !matches!(item.presence, Presence::Always), ..value }
            };
            let is_removed = |item: &&Item| matches!(item.presence, Presence::Removed(_));
            let items = map.items.iter().filter(|item| !is_removed(item)).map(|item| declared(item, rules)).collect();
            for pattern in &map.patterns {
                declared(pattern, rules);
            }
            DeclaredShape::Map { items, open: !map.patterns.is_empty() }
        }
        Type::Array(array) => DeclaredShape::Array(Box::new(deep(|| value(String::new(), &array.item, rules)))),
        Type::Union(union) => {
            DeclaredShape::OneOf(union.members.iter().map(|member| deep(|| shape(member, rules))).collect())
        }
    }
}

fn literal(node: &Node) -> Literal {
    match node {
        Node::Scalar(scalar) => Literal::Scalar(scalar.clone()),
        Node::Map(map) => {
            let item = |item: &crate::node::MapItem| (item.key.clone(), deep(|| literal(&item.value)));
            Literal::Map(map.iter().map(item).collect())
        }
        Node::Array(array) => Literal::Array(array.items.iter().map(|item| deep(|| literal(&item.value))).collect()),
    }
}

/// The rules that defaults break. What must be given has no default.
fn broken_defaults(
    run: &Rc<Run>,
    eval: &mut ytterby_starlark::Eval,
    schema: &Schema,
) -> Result<Vec<Diagnostic>, Failure> {
    let mut doc = schema.defaults();
    schema.keep_secrets(run, &doc.value);
    let misshapen = crate::values::check::resolve_shapes(eval, run, &mut doc, schema, Mode::Rules)?;
    let blocks =
        crate::values::check::check(eval, run, &doc, Some(schema), &misshapen, &Mistyped::default(), Whose::Root)?;
    if blocks.is_empty() {
        return Ok(Vec::new());
    }
    // Concluding the run hides secrets.
    let Err(failure) = run.conclude(Err(Failure::of(Cause::Violations(blocks)))) else { return Ok(Vec::new()) };
    let is_rule = |diagnostic: &&Diagnostic| {
        let name = diagnostic.id.name();
        name.starts_with("rule/") && diagnostic.id != Id::RULE_ERROR
    };
    Ok(failure.diagnostics().iter().filter(is_rule).cloned().collect())
}
