//! A schema as plain data, for tools that follow code along its types.
//!
//! Types and rules of the engine stay private; this copy contains what `check` needs: names,
//! shapes, constants, and the rules that are decided without a value. `schema_facts` compiles the
//! schema of one library without rendering.

use std::rc::Rc;
use std::sync::Arc;

use ytterby_diag::{Cause, Diagnostic, Failure, Id, Part, Pos, Sources};
use ytterby_yaml::Scalar;

pub use super::satisfiable::StaticVerdict;
use crate::api::{Options, Silent};
use crate::deep;
use crate::input::InputFile;
use crate::limits;
use crate::node::{Node, key_text};
use crate::render::library_below;
use crate::run::Run;
use crate::schema::{MapItemType, Presence, Schema, Slot, Type};
use crate::values::check::{Mistyped, ShapeChecks, Whose};

/// The schema of a library.
#[derive(Debug)]
pub struct SchemaFacts {
    /// The document.
    pub root: DeclaredValue,
    /// Rules that are true or false for every value.
    pub rules: Vec<RuleFact>,
    /// Violations of rules by the defaults alone. Required values have no defaults.
    pub broken_defaults: Vec<Diagnostic>,
    /// Whether these files also declare values of private libraries (`@library/ref`).
    pub extends_libraries: bool,
}

/// A declared value.
#[derive(Debug)]
pub struct DeclaredValue {
    /// Its key; empty for documents and items of arrays.
    pub key: String,
    /// The position of the declaration.
    pub pos: Pos,
    /// Its type, besides null.
    pub shape: DeclaredShape,
    /// Whether null is allowed.
    pub nullable: bool,
    /// Whether it only exists if a value is given.
    pub optional: bool,
    /// Whether it is required.
    pub required: bool,
    /// Whether it is secret.
    pub secret: bool,
    /// Whether it is deprecated.
    pub deprecated: bool,
    /// Its default.
    pub default: PlainData,
}

/// The type of a value.
#[derive(Debug)]
pub enum DeclaredShape {
    /// Anything.
    Any,
    /// A boolean, number, string or null.
    Scalar,
    /// A map.
    Map {
        /// The declared keys, in the order of the schema.
        items: Vec<DeclaredValue>,
        /// Whether other keys are allowed.
        open: bool,
    },
    /// An array of such items.
    Array(Box<DeclaredValue>),
    /// One of these.
    OneOf(Vec<DeclaredShape>),
}

/// A piece of plain data.
#[derive(Clone, PartialEq, Debug)]
pub enum PlainData {
    /// A scalar.
    Scalar(Scalar),
    /// A map, in order.
    Map(Vec<(Scalar, PlainData)>),
    /// An array.
    Array(Vec<PlainData>),
}

/// A rule whose result does not depend on the value.
#[derive(Debug)]
pub struct RuleFact {
    /// Its position.
    pub pos: Pos,
    /// The part to mark.
    pub part: Part,
    /// Its requirement: `length >= 0`.
    pub text: String,
    /// The fact about it.
    pub verdict: StaticVerdict,
}

/// The schema of a library; `library` is its name, outermost first, and empty for the root. `None`
/// if there is no schema.
///
/// # Errors
/// If the schema is wrong.
pub fn schema_facts(
    files: &[InputFile],
    options: &Options,
    library: &[String],
    sources: &Arc<Sources>,
) -> Result<Option<SchemaFacts>, Failure> {
    crate::on_large_stack(|| {
        // The code of a schema and of its rules may loop for ever.
        let _budget = limits::begin(options);
        limits::within(sources, || facts_of(files, options, library, sources))
    })
}

fn facts_of(
    files: &[InputFile],
    options: &Options,
    library: &[String],
    sources: &Arc<Sources>,
) -> Result<Option<SchemaFacts>, Failure> {
    // The marks are already applied.
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
            let declared = |item: &MapItemType, rules: &mut Vec<RuleFact>| {
                let key = key_text(&item.key).into_owned();
                let value = deep(|| value(key, &item.slot, rules));
                DeclaredValue { optional: !matches!(item.presence, Presence::Always), ..value }
            };
            let is_removed = |item: &&MapItemType| matches!(item.presence, Presence::Removed(_));
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

fn literal(node: &Node) -> PlainData {
    match node {
        Node::Scalar(scalar) => PlainData::Scalar(scalar.clone()),
        Node::Map(map) => {
            let item = |item: &crate::node::MapItem| (item.key.clone(), deep(|| literal(&item.value)));
            PlainData::Map(map.iter().map(item).collect())
        }
        Node::Array(array) => PlainData::Array(array.items.iter().map(|item| deep(|| literal(&item.value))).collect()),
    }
}

/// The rules that defaults violate. Required values have no defaults.
fn broken_defaults(
    run: &Rc<Run>,
    eval: &mut ytterby_starlark::Eval,
    schema: &Schema,
) -> Result<Vec<Diagnostic>, Failure> {
    let mut doc = schema.defaults();
    schema.keep_secrets(run, &doc.value);
    let misshapen = crate::values::check::resolve_shapes(eval, run, &mut doc, schema, ShapeChecks::Rules)?;
    let blocks =
        crate::values::check::check(eval, run, &doc, Some(schema), &misshapen, &Mistyped::default(), Whose::Root)?;
    if blocks.is_empty() {
        return Ok(Vec::new());
    }
    // Concluding the run masks secrets.
    let Err(failure) = run.concluded(Err::<(), _>(Failure::of(Cause::Violations(blocks)))) else {
        return Ok(Vec::new());
    };
    let is_rule = |diagnostic: &&Diagnostic| {
        let name = diagnostic.id.name();
        name.starts_with("rule/") && diagnostic.id != Id::RULE_ERROR
    };
    Ok(failure.diagnostics().iter().filter(is_rule).cloned().collect())
}
