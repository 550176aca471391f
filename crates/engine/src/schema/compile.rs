//! Compiles a schema document into its type tree.
//!
//! Each document, map item and array item becomes a slot: its type is inferred from the value,
//! unless annotations specify it, and the value becomes the default. All `@schema/…` annotations
//! are read here.

use std::rc::Rc;

use ytterby_diag::{By, Cause, Diagnostic, Failure, Id, Part, Pos, SchemaBlock as Block, SchemaReport};
use ytterby_starlark::{Eval, Value};

use super::check::{self, CheckContext, Fit};
use super::types::{self, Asked};
use super::{
    ArrayType, MapItemType, MapType, Presence, Removed, Required, ScalarType, Schema, Slot, Type, Uses, docs, keys,
    placed, shapes,
};
use crate::annotation::{Ann, Annotation, InAny};
use crate::limits::working_at;
use crate::node::{Annotated, Array, ArrayItem, Document, Map, MapItem, Node, Origin, Scalar, with_position};
use crate::run::Run;
use crate::validate::Rules;

/// The role of a document.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum DocumentRole {
    /// It is a schema.
    Schema,
    /// It overlays a schema: the values of nodes that do not change are irrelevant.
    Overlay,
}

/// Compiles a schema document.
pub(crate) fn compile(eval: &mut Eval, run: &Run, doc: &Document, role: DocumentRole) -> Result<Schema, Failure> {
    let compiled = compile_document(eval, run, doc, role);
    if compiled.is_err() {
        super::secrets::gather_annotated(&mut run.secrets.borrow_mut(), doc);
    }
    compiled
}

fn compile_document(eval: &mut Eval, run: &Run, doc: &Document, role: DocumentRole) -> Result<Schema, Failure> {
    let mut compiler = Compiler { cx: CheckContext { eval, run }, uses: Uses::default(), role };
    check_declaration(run, doc)?;
    for ann in [Ann::SchemaKey, Ann::SchemaRemoved] {
        if let Some(ann) = doc.annotation(ann) {
            return Err(docs::not_supported(ann, doc, "map item"));
        }
    }
    let root = compiler.slot(doc)?;
    Ok(Schema { root, uses: compiler.uses })
}

/// Refuses schema declarations for anything other than data values.
fn check_declaration(run: &Run, doc: &Document) -> Result<(), Failure> {
    let Some(ann) = doc.annotation(Ann::DataValuesSchema) else { return Ok(()) };
    if ann.name == Ann::DataValuesSchema.name() {
        return Ok(());
    }
    let is_data_values = |(name, value): &(ytterby_text::Str, Value)| {
        *name == "data_values" && matches!(value, Value::Bool(true))
            || *name == "name" && value.as_str().is_some_and(|value| *value == "data/values")
    };
    let must_say_so = ann.name != "schema";
    if ann.args.is_empty() && ann.kwargs.is_empty() != must_say_so && ann.kwargs.iter().all(is_data_values) {
        return Ok(());
    }
    let found = arguments_as_written(run, ann);
    let block = Block::at(doc.pos, found, "data_values=True")
        .annotation(ann.pos)
        .hint("to check other YAML against a schema, use schema.apply() from @ytt:schema");
    Err(block.under(format!("Invalid schema - unsupported @{}", ann.name)))
}

/// The arguments of an annotation as written in the source.
fn arguments_as_written(run: &Run, ann: &Annotation) -> String {
    let line = run.sources.line_text(ann.pos).unwrap_or_default();
    let written = line.split_once(&format!("@{}", ann.name)).map_or("", |(_, behind)| behind.trim());
    if written.is_empty() { "no arguments".to_owned() } else { written.to_owned() }
}

/// Distributes `@schema/validation-defaults-for-strings` to all items at and below the annotated
/// nodes; the nearest annotation wins.
///
/// # Errors
/// If the arguments are wrong, even if there is no string to apply them to.
pub(crate) fn distribute_defaults_for_strings(run: &Run, doc: &mut Document) -> Result<(), Failure> {
    if !mentions_defaults(&doc.value) && !doc.has(Ann::SchemaValidationDefaultsForStrings) {
        return Ok(());
    }
    let inherited = doc.annotation(Ann::SchemaValidationDefaultsForStrings).cloned();
    if let Some(own) = &inherited {
        Rules::from_annotation(own, run)?;
    }
    distribute(run, &mut doc.value, inherited.as_ref())
}

fn mentions_defaults(node: &Node) -> bool {
    fn item(item: &dyn Annotated) -> bool {
        item.has(Ann::SchemaValidationDefaultsForStrings) || crate::deep(|| mentions_defaults(item.value()))
    }
    match node {
        Node::Scalar(_) => false,
        Node::Map(map) => map.iter().any(|i| item(i)),
        Node::Array(array) => array.items.iter().any(|i| item(i)),
    }
}

fn distribute(run: &Run, node: &mut Node, inherited: Option<&Annotation>) -> Result<(), Failure> {
    fn item(run: &Run, item: &mut dyn Annotated, inherited: Option<&Annotation>) -> Result<(), Failure> {
        let own = item.annotation(Ann::SchemaValidationDefaultsForStrings).cloned();
        match (&own, inherited) {
            (Some(own), _) => drop(Rules::from_annotation(own, run)?),
            (None, Some(inherited)) => item.meta_mut().annotations.push(inherited.clone()),
            (None, None) => {}
        }
        crate::deep(|| distribute(run, item.value_mut(), own.as_ref().or(inherited)))
    }
    match node {
        Node::Scalar(_) => Ok(()),
        Node::Map(map) => Rc::make_mut(map).iter_mut().try_for_each(|i| item(run, i, inherited)),
        Node::Array(array) => Rc::make_mut(array).items.iter_mut().try_for_each(|i| item(run, i, inherited)),
    }
}

/// Compiles one document or fragment.
pub(super) struct Compiler<'a> {
    pub cx: CheckContext<'a>,
    pub uses: Uses,
    role: DocumentRole,
}

impl Compiler<'_> {
    /// Compiles a document, map item or array item.
    pub fn slot(&mut self, node: &dyn Annotated) -> Result<Slot, Failure> {
        let run = self.cx.run;
        let _working = working_at(node.pos());
        if self.is_left_alone(node) {
            return Ok(Slot::of(Type::Any, node.pos(), node.value().clone()));
        }
        if let Some(ann) = node.annotation(Ann::AssertValidate) {
            let text = "@assert/validate has no effect in a schema document; use @schema/validation";
            run.warn_of_annotation(Id::ANNOTATION_MISPLACED, ann.pos, text);
        }
        let mut slot = self.typed(node)?;
        slot.annotated = node.annotations().iter().any(|ann| ann.ann.is_some_and(|ann| ann.is_in("schema")));
        if node.annotations().is_empty() {
            return Ok(slot);
        }
        slot.docs = docs::read(run, node)?;
        docs::check_examples(&mut self.cx, node, &slot)?;
        self.uses.deprecated |= slot.docs.deprecated.is_some();
        if let Some(ann) = node.annotation(Ann::SchemaDefault) {
            slot.default = self.default(node, ann, &slot)?;
        }
        slot.rules = self.rules(node, &slot)?;
        self.uses.rules |= slot.rules.is_some();
        if let Some(ann) = node.annotation(Ann::SchemaSecret) {
            if !ann.args.is_empty() || !ann.kwargs.is_empty() {
                let block = docs::syntax_error(ann, node.pos(), "argument in @schema/secret", "no arguments");
                return Err(block.under("Invalid schema"));
            }
            slot.secret = true;
            self.uses.secrets = true;
        }
        if let Some(ann) = node.annotation(Ann::SchemaRequired) {
            slot.required = Some(Rc::new(self.required(node, ann)?));
            self.uses.required = true;
        }
        Ok(slot)
    }

    /// Whether this node refers to a node of the schema below that keeps its value.
    fn is_left_alone(&self, node: &dyn Annotated) -> bool {
        self.role == DocumentRole::Overlay && node.has(Ann::OverlayNoop)
    }

    /// A slot with its type, and with the value as its default.
    fn typed(&mut self, node: &dyn Annotated) -> Result<Slot, Failure> {
        let run = self.cx.run;
        let (value, pos) = (node.value(), node.pos());
        let type_ann = node.annotation(Ann::SchemaType);
        let asked = match type_ann {
            Some(ann) => types::read(run, ann, pos)?,
            None => Asked::Inferred,
        };
        let nullable = node.annotation(Ann::SchemaNullable);
        if let Some(ann) = nullable.filter(|ann| !ann.kwargs.is_empty()) {
            let found = placed("keyword argument in @schema/nullable", "by", ann.pos);
            let block = Block::at(pos, found, "starlark.Bool")
                .about("expected @schema/nullable annotation to not contain any keyword arguments")
                .annotation(ann.pos)
                .hint("Supported kwargs are 'any'");
            return Err(block.under("Invalid schema"));
        }
        if let Some(slot) = shapes::read(self, node)? {
            self.uses.shapes = true;
            return Ok(slot);
        }
        let mut slot = match asked {
            Asked::Any => {
                self.check_inside_any(value)?;
                Slot::of(Type::Any, pos, value.clone())
            }
            Asked::Inferred => {
                let inferred = self.infer(value, pos);
                let inferred = if nullable.is_some() {
                    inferred.map_err(|inner| Failure::of(Cause::Nested("Invalid schema".into(), inner)))
                } else {
                    inferred
                };
                match inferred? {
                    Some((ty, default)) => Slot::of(ty, pos, default),
                    None => {
                        let is_required = node.annotation(Ann::SchemaRequired).is_some();
                        return Err(null_value(pos, nullable.is_some(), is_required));
                    }
                }
            }
            Asked::OneOf { kinds, or_inferred, hint } => {
                let ann = type_ann.expect("the annotation was read");
                self.union(node, ann, &kinds, or_inferred, hint)?
            }
        };
        if nullable.is_some() {
            slot.nullable = !matches!(slot.ty, Type::Any);
            slot.default = Node::NULL;
        }
        Ok(slot)
    }

    fn union(
        &mut self,
        node: &dyn Annotated,
        ann: &Annotation,
        kinds: &[ScalarType],
        or_inferred: bool,
        hint: bool,
    ) -> Result<Slot, Failure> {
        let _run = self.cx.run;
        let inferred = if or_inferred { self.infer(node.value(), node.pos())? } else { None };
        let (ty, default) = match inferred {
            Some((ty, default)) => (types::union(kinds, Some(ty)), default),
            None => (types::union(kinds, None), node.value().clone()),
        };
        self.uses.unions |= matches!(ty, Type::Union(_));
        let slot = Slot::of(ty, node.pos(), default);
        let default_counts = !node.has(Ann::SchemaDefault) && !node.has(Ann::SchemaNullable);
        if default_counts && matches!(check::fit(&mut self.cx, &slot.default, &slot)?, Fit::Not) {
            let found = placed(node.value().type_name(), "at", node.pos());
            let block = Block::at(node.pos(), found, slot.ty.name()).by(By::Type(ann.pos));
            let mut block = block.annotation(ann.pos);
            if hint {
                block = block.hint("to also allow the type of the value given here, add or_inferred=True");
            }
            return Err(block.under("Invalid schema - default value is wrong type"));
        }
        Ok(slot)
    }

    /// The type of a value, and its default.
    fn infer(&mut self, value: &Node, pos: Pos) -> Result<Option<(Type, Node)>, Failure> {
        let placed;
        let value = match value {
            Node::Map(map) if map.origin == Origin::Code => {
                placed = with_position(value, pos);
                &placed
            }
            Node::Array(array) if array.origin == Origin::Code => {
                placed = with_position(value, pos);
                &placed
            }
            value => value,
        };
        let pos = collection_pos(self.cx.run, value, pos);
        let kind = match value {
            Node::Map(map) => {
                let ty = crate::deep(|| self.map(map, pos))?;
                let default = ty.default.clone();
                return Ok(Some((Type::Map(Rc::new(ty)), default)));
            }
            Node::Array(array) => {
                let ty = crate::deep(|| self.array(array, pos))?;
                return Ok(Some((Type::Array(Rc::new(ty)), Node::array(Array::default()))));
            }
            Node::Scalar(Scalar::Null | Scalar::Complex(_)) => return Ok(None),
            Node::Scalar(Scalar::Bool(_)) => ScalarType::Bool,
            Node::Scalar(Scalar::Int(_) | Scalar::UInt(_)) => ScalarType::Int,
            Node::Scalar(Scalar::Float(_)) => ScalarType::Float,
            Node::Scalar(Scalar::Str(_)) => ScalarType::String,
        };
        Ok(Some((Type::Scalar(kind), value.clone())))
    }

    fn map(&mut self, map: &Map, pos: Pos) -> Result<MapType, Failure> {
        let mut items = Vec::with_capacity(map.len());
        let mut patterns = Vec::new();
        for item in map.iter() {
            self.warn_about_key(item);
            let item = self.item(item)?;
            match item.presence {
                Presence::Pattern(_) => patterns.push(item),
                _ => items.push(item),
            }
        }
        Ok(MapType::new(items, patterns, pos))
    }

    fn item(&mut self, item: &MapItem) -> Result<MapItemType, Failure> {
        let _run = self.cx.run;
        let key = item.key.clone();
        if self.is_left_alone(item) {
            return Ok(MapItemType { key, slot: self.slot(item)?, presence: Presence::Always });
        }
        if let Some(ann) = item.annotation(Ann::SchemaRemoved) {
            let remedy = docs::string(ann, item.pos)?;
            self.uses.removed = true;
            let slot = Slot::of(Type::Any, item.pos, Node::NULL);
            return Ok(MapItemType { key, slot, presence: Presence::Removed(Removed { remedy, pos: ann.pos }) });
        }
        let rule = match item.annotation(Ann::SchemaKey) {
            Some(ann) => keys::read(self.cx.run, ann, item.pos)?,
            None => None,
        };
        let slot = self.slot(item)?;
        if let (Some(rule), Some(required), Some(ann)) = (&rule, &slot.required, item.annotation(Ann::SchemaKey)) {
            let title = format!("Invalid schema - @schema/required cannot be combined with @{}", ann.name);
            let (found, hint) = match rule.allowed {
                Some(_) => ("free keys that are required", "to ask for a number of items, use expects= of @schema/key"),
                None => ("a key that is required and may be missing", "take one of the annotations away"),
            };
            let block = Block::at(item.pos, placed(found, "by", ann.pos), "one of them");
            return Err(block.annotation(ann.pos).annotation(required.pos).hint(hint).under(title));
        }
        let presence = match rule {
            None => Presence::Always,
            Some(rule) => {
                self.uses.keys = true;
                let rule = Rc::new(rule);
                if rule.allowed.is_some() { Presence::Pattern(rule) } else { Presence::Optional(rule) }
            }
        };
        Ok(MapItemType { key, slot, presence })
    }

    fn array(&mut self, array: &Array, pos: Pos) -> Result<ArrayType, Failure> {
        let _run = self.cx.run;
        let [item] = &array.items[..] else {
            let found = format!("{} array items", array.items.len());
            let block = Block::at(pos, found, "exactly 1 array item, of the desired type")
                .hint("in schema, the one item of the array implies the type of its elements.")
                .hint("in schema, the default value for an array is always an empty list.")
                .hint("default values can be overridden via a data values overlay.");
            return Err(block.under("Invalid schema - wrong number of items in array definition"));
        };
        self.refuse_on_items(item)?;
        Ok(ArrayType { pos, item: self.slot(item)? })
    }

    fn refuse_on_items(&self, item: &ArrayItem) -> Result<(), Failure> {
        for ann in [Ann::SchemaKey, Ann::SchemaRemoved, Ann::SchemaRequired] {
            if let Some(ann) = item.annotation(ann) {
                return Err(docs::not_supported(ann, item, "map item"));
            }
        }
        Ok(())
    }

    fn default(&mut self, node: &dyn Annotated, ann: &Annotation, slot: &Slot) -> Result<Node, Failure> {
        let run = self.cx.run;
        if node.kind() == "array item" {
            let title = "Invalid schema - @schema/default not supported on array item";
            let inner = Block::at(node.pos(), "", "")
                .annotation(ann.pos)
                .hint("do you mean to set a default value for the array?")
                .hint("set an array's default by annotating its parent.")
                .under(title);
            return Err(Failure::of(Cause::Nested("Invalid schema".into(), inner)));
        }
        let name = if slot.nullable { "null".to_owned() } else { slot.ty.name() };
        let syntax = |found: String| docs::syntax_error(ann, node.pos(), found, name.clone()).by(By::Type(slot.pos));
        if !ann.kwargs.is_empty() {
            let block = syntax("keyword argument in @schema/default".into())
                .hint("this annotation only accepts one argument: the default value.")
                .hint("value must be in Starlark format, e.g.: {'key': 'value'}, True.");
            return Err(block.under("Invalid schema"));
        }
        let value = match &ann.args[..] {
            [] => return Err(syntax("missing value in @schema/default".into()).under("Invalid schema")),
            [value] => value,
            args => {
                let block = syntax(format!("{} values in @schema/default", args.len()));
                return Err(block.under("Invalid schema"));
            }
        };
        const TITLE: &str = "Invalid schema - @schema/default is wrong type";
        let default = docs::value_as_node(run, value, ann, slot, node.pos()).map_err(|block| block.under(TITLE))?;
        match check::fit(&mut self.cx, &default, slot)? {
            Fit::AsIs => Ok(default),
            Fit::Filled(filled) => Ok(filled),
            Fit::Not => {
                let blocks: Vec<Block> = check::problems_of(&mut self.cx, &default, slot)?
                    .into_iter()
                    .map(|block| Block { found: placed(block.found, "at", ann.pos), ..block }.annotation(ann.pos))
                    .collect();
                Err(Failure::of(Cause::Schema(SchemaReport { title: TITLE.to_owned(), blocks })))
            }
        }
    }

    /// The rules of `@schema/validation`; a plain string without any gets the defaults for strings.
    fn rules(&mut self, node: &dyn Annotated, slot: &Slot) -> Result<Option<Rc<Rules>>, Failure> {
        let ann = match node.annotation(Ann::SchemaValidation) {
            None if slot.ty.is_string() => node.annotation(Ann::SchemaValidationDefaultsForStrings),
            own => own,
        };
        let rules = ann.map(|ann| Rules::from_annotation(ann, self.cx.run).map(Rc::new)).transpose()?;
        if let Some(rules) = rules.as_ref().filter(|_| self.cx.run.options.look_for_slips) {
            self.warn_about_unfit(rules, slot);
        }
        Ok(rules)
    }

    /// Warns about rules that no value of the declared type can satisfy.
    fn warn_about_unfit(&self, rules: &Rules, slot: &Slot) {
        let samples = samples(&slot.ty);
        if samples.is_empty() {
            return;
        }
        let name = slot.ty.name_besides_null();
        for (text, pos, part) in rules.unfit(&samples) {
            let text = format!("no value of type {name}, which is declared here, satisfies the rule \"{text}\"");
            let warning = Diagnostic::warning(Id::SCHEMA_INVALID, text).at(pos, part.clone()).beyond_text();
            self.cx.run.warn(warning);
        }
    }

    fn required(&self, node: &dyn Annotated, ann: &Annotation) -> Result<Required, Failure> {
        let _run = self.cx.run;
        if node.kind() != "map item" {
            return Err(docs::not_supported(ann, node, "map item"));
        }
        if let Some(default) = node.annotation(Ann::SchemaDefault) {
            let title = "Invalid schema - @schema/required cannot be combined with @schema/default";
            let found = placed("both", "by", ann.pos);
            let block = Block::at(node.pos(), found, "one of them").annotation(ann.pos).annotation(default.pos);
            return Err(block.under(title));
        }
        let description = match &ann.args[..] {
            [] if ann.kwargs.is_empty() => None,
            _ => Some(docs::string(ann, node.pos())?),
        };
        Ok(Required { description, pos: ann.pos })
    }

    /// Refuses declarations inside a node of type any.
    pub fn check_inside_any(&self, node: &Node) -> Result<(), Failure> {
        match node {
            Node::Scalar(_) => Ok(()),
            Node::Map(map) => map.iter().try_for_each(|item| {
                self.warn_about_key(item);
                self.check_item_inside_any(item)
            }),
            Node::Array(array) => array.items.iter().try_for_each(|item| self.check_item_inside_any(item)),
        }
    }

    fn check_item_inside_any(&self, item: &dyn Annotated) -> Result<(), Failure> {
        let run = self.cx.run;
        if !item.annotations().is_empty() {
            let found: Vec<&Annotation> =
                Ann::inside_any(InAny::Refused).filter_map(|ann| item.annotation(ann)).collect();
            if !found.is_empty() {
                let names: Vec<_> = found.iter().map(|ann| ann.canonical_name()).collect();
                let expected = "no '@schema/...' on nodes within a node annotated '@schema/type any=True'";
                let mut block = Block::at(item.pos(), format!("@{} annotation(s)", names.join(", @")), expected)
                    .about("Schema was specified within an \"any type\" fragment")
                    .hint(
                        "an \"any type\" fragment has no constraints; nested schema annotations conflict and are \
                         disallowed",
                    );
                block.annotations = found.iter().map(|ann| ann.pos).collect();
                return Err(block.under("Invalid schema"));
            }
            for ann in Ann::inside_any(InAny::Ignored).filter_map(|ann| item.annotation(ann)) {
                let text = format!("@{} is ignored inside a node of type any", ann.canonical_name());
                run.warn_of_annotation(Id::ANNOTATION_MISPLACED, ann.pos, text);
            }
        }
        crate::deep(|| self.check_inside_any(item.value()))
    }

    fn warn_about_key(&self, item: &MapItem) {
        if item.key.as_str().is_some() {
            return;
        }
        let kind = Node::Scalar(item.key.clone()).type_name();
        let mut text = format!("map key is not a string: {kind}");
        if matches!(item.key, Scalar::Bool(_)) {
            text.push_str("; in YAML 1.1 y, n, yes, no, on, off are booleans: quote it");
        }
        self.cx.run.warn(Diagnostic::warning(Id::SCHEMA_INVALID, text).at(item.pos, Part::Key));
    }
}

/// A sample value of each type that a slot accepts; none if it accepts everything.
pub(crate) fn samples(ty: &Type) -> Vec<Node> {
    let scalar = |scalar: Scalar| vec![Node::Scalar(scalar)];
    match ty {
        Type::Any | Type::Shapes(_) | Type::Scalar(ScalarType::Null) => Vec::new(),
        Type::Scalar(ScalarType::Bool) => scalar(Scalar::Bool(true)),
        Type::Scalar(ScalarType::Int) => scalar(Scalar::Int(1)),
        Type::Scalar(ScalarType::Float) => scalar(Scalar::Float(0.5)),
        Type::Scalar(ScalarType::String) => vec![Node::str("a")],
        // An empty collection from code is not null.
        Type::Map(_) => {
            let mut map = Map::new();
            map.origin = Origin::Code;
            vec![Node::map(map)]
        }
        Type::Array(_) => vec![Node::array(Array { origin: Origin::Code, ..Array::default() })],
        Type::Union(union) => union.members.iter().flat_map(samples).collect(),
    }
}

/// The position of a collection's declaration: the item that contains it, or, if a function created
/// it, the document with the function.
fn collection_pos(run: &Run, value: &Node, holder: Pos) -> Pos {
    let first = match value {
        Node::Scalar(_) => return holder,
        Node::Map(map) if map.is_merged => return holder,
        Node::Map(map) => map.items().first().map(|item| item.pos),
        Node::Array(array) => array.items.first().map(|item| item.pos),
    };
    match first {
        Some(first) if first.is_known() && (first.file != holder.file || first.offset < holder.offset) => {
            let Some(source) = run.sources.get(first.file) else { return holder };
            let line = (1..=source.line(first.offset))
                .rev()
                .find(|line| source.line_text(*line).is_some_and(|text| text == "---" || text.starts_with("--- ")));
            let start = line.and_then(|line| source.line_start(line)).unwrap_or(0);
            Pos::new(first.file, start)
        }
        _ => holder,
    }
}

fn null_value(pos: Pos, is_nullable: bool, is_required: bool) -> Failure {
    let block = Block::at(pos, "null value", "non-null value")
        .hint("in YAML, omitting a value implies null.")
        .hint("to set the default value to null, annotate with @schema/nullable.")
        .hint("to allow any value, annotate with @schema/type any=True.");
    let block =
        match (is_nullable, is_required) {
            (true, _) => block
                .help("@schema/nullable is there; what is missing is the type: write a value of it, such as \"\" or 0"),
            (false, true) => block
                .help("@schema/required is there; what is missing is the type: write a value of it, such as \"\" or 0"),
            (false, false) => block,
        };
    block.under("Invalid schema - null value not allowed here")
}
