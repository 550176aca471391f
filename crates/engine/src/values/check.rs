//! Validates data values: the rules of their schema, and `@assert/validate` on the values
//! themselves.
//!
//! Values and schema are walked in parallel, root to leaf. Besides rules, a schema specifies
//! required items, how many matching keys there must be, and which shapes a value can have. Shapes
//! are resolved first ([`resolve_shapes`]), because they add defaults.

use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use ytterby_diag::{
    Diagnostic, Failure, Help, Id, Part, Path, Pos, SchemaBlock, Step, Text, Violation, ViolationBlock, ViolationPath,
};
use ytterby_starlark::Eval;

use crate::annotation::Ann;
use crate::limits::working_at;
use crate::node::{Annotated, Document, Map, Node, key_text};
use crate::overlay::mark_values_given;
use crate::path::Way;
use crate::run::Run;
use crate::schema::check::{CheckContext, Fit, Order, fit, problems};
use crate::schema::shapes::Matching;
use crate::schema::{Combination, KeyRule, MapItemType, MapType, Presence, Required, Schema, Shapes, Slot, Type};
use crate::validate::{CheckedValue, Checker, DocumentKind, Rules};

/// By path: why a value does not match the required shapes.
pub(crate) type Misshapen = HashMap<Path, String>;

/// The paths of values that inputs gave with a wrong type. They were left out of the merge, so the
/// current value is not the given one, and is not validated.
#[derive(Default)]
pub(crate) struct Mistyped(HashSet<Path>);

impl Mistyped {
    /// The paths of the errors that a merge collected. For items of arrays it is the array, since
    /// without the item the length and the other indexes change.
    pub fn of(blocks: &[SchemaBlock]) -> Mistyped {
        let wrong = blocks.iter().filter(|block| block.id == Id::SCHEMA_TYPE);
        Mistyped(wrong.filter_map(|block| Some(around_items(block.path.as_ref()?))).collect())
    }

    fn has(&self, way: &Way<'_>) -> bool {
        !self.0.is_empty() && self.0.contains(&way.path())
    }
}

/// The path without trailing indexes.
fn around_items(path: &Path) -> Path {
    let is_index = |step: &&Step| matches!(step, Step::Index(_));
    let items = path.steps().iter().rev().take_while(is_index).count();
    path.steps()[..path.steps().len() - items].iter().cloned().collect()
}

/// Whether rules count when shapes are resolved.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum ShapeChecks {
    /// Types, rules and required items.
    Rules,
    /// Types only.
    TypesOnly,
}

/// Adds defaults to values with shapes, records those that do not match, and warns about deprecated
/// items in shapes.
pub(crate) fn resolve_shapes(
    eval: &mut Eval,
    run: &Run,
    doc: &mut Document,
    schema: &Schema,
    mode: ShapeChecks,
) -> Result<Misshapen, Failure> {
    if !schema.uses.shapes {
        return Ok(Misshapen::new());
    }
    let mut cx = CheckContext { eval, run };
    let mut resolver = ShapeResolver { cx: &mut cx, mode, misshapen: Misshapen::new(), warns: schema.uses.deprecated };
    resolver.value(&mut doc.value, &schema.root, &Path::document(), None)?;
    Ok(resolver.misshapen)
}

/// Resolves the shapes inside of a value; returns the errors.
fn resolve(cx: &mut CheckContext<'_>, node: &mut Node, slot: &Slot, path: &Path) -> Result<Misshapen, Failure> {
    let mut resolver = ShapeResolver { cx, mode: ShapeChecks::Rules, misshapen: Misshapen::new(), warns: false };
    resolver.value(node, slot, path, None)?;
    Ok(resolver.misshapen)
}

struct ShapeResolver<'a, 'c> {
    cx: &'a mut CheckContext<'c>,
    mode: ShapeChecks,
    misshapen: Misshapen,
    /// Whether to warn about deprecated items. False while shapes are tried.
    warns: bool,
}

impl ShapeResolver<'_, '_> {
    /// `given` is the value before any defaults were added, if deprecated items must be found:
    /// inside of shapes, which were unknown when the inputs were merged.
    fn value(&mut self, node: &mut Node, slot: &Slot, path: &Path, given: Option<&Node>) -> Result<(), Failure> {
        if let Type::Shapes(shapes) = &slot.ty {
            return self.shapes(node, slot, shapes, path, given);
        }
        match node {
            Node::Scalar(_) => Ok(()),
            Node::Map(map) => {
                let Some(ty) = slot.as_map() else { return Ok(()) };
                let map = Rc::make_mut(map);
                for at in 0..map.len() {
                    let key = &map.items()[at].key;
                    let Some(item) = self.cx.item_for(ty, key)? else { continue };
                    let path = path.key(key_text(key));
                    let given = given.and_then(Node::as_map).and_then(|given| given.get(key));
                    let given = given.filter(|given| !self.notice(*given, &item.slot, &path)).map(|given| &given.value);
                    let value = &mut map.item_mut(at).value;
                    crate::deep(|| self.value(value, &item.slot, &path, given))?;
                }
                Ok(())
            }
            Node::Array(array) => {
                let Some(ty) = slot.as_array() else { return Ok(()) };
                for (at, item) in Rc::make_mut(array).items.iter_mut().enumerate() {
                    let path = path.index(at);
                    let given = given.and_then(Node::as_array).and_then(|given| given.items.get(at));
                    let given = given.filter(|given| !self.notice(*given, &ty.item, &path)).map(|given| &given.value);
                    crate::deep(|| self.value(&mut item.value, &ty.item, &path, given))?;
                }
                Ok(())
            }
        }
    }

    fn shapes(
        &mut self,
        node: &mut Node,
        slot: &Slot,
        shapes: &Shapes,
        path: &Path,
        given: Option<&Node>,
    ) -> Result<(), Failure> {
        if node.is_null() && slot.nullable {
            return Ok(());
        }
        let given = self.warns.then(|| given.unwrap_or(node).clone());
        // A default is checked like a given value, and satisfies what a shape requires.
        let was_given = holds_given(node);
        mark_values_given(node);
        let matching = self.matching(node, shapes, path)?;
        *node = matching.filled.clone();
        if !was_given {
            unmark_given(node);
        }
        let filling = if shapes.combination == Combination::All { usize::MAX } else { 1 };
        for shape in matching.shapes.iter().take(filling) {
            crate::deep(|| self.value(node, &shapes.slots[*shape], path, given.as_ref()))?;
        }
        if let Err(found) = shapes.verdict(&matching) {
            self.misshapen.insert(path.clone(), found);
        }
        Ok(())
    }

    fn matching(&mut self, node: &Node, shapes: &Shapes, path: &Path) -> Result<Matching, Failure> {
        let mode = self.mode;
        shapes.matching(self.cx, node, &mut |cx, value, shape| match mode {
            ShapeChecks::TypesOnly => Ok(true),
            ShapeChecks::Rules => holds(cx, value, shape, path),
        })
    }

    /// Warns about each deprecated item that was given; returns whether it did.
    fn notice(&mut self, item: &dyn Annotated, slot: &Slot, path: &Path) -> bool {
        let Some(notice) = slot.docs.deprecated.as_ref().filter(|_| is_given(item)) else { return false };
        let run = self.cx.run;
        let text = format!("data value \"{path}\" is deprecated: {notice}");
        let given = item.meta().map_or(&[][..], |meta| &meta.given);
        let places = if given.is_empty() { vec![item.pos()] } else { given.to_vec() };
        for pos in places {
            let pos = if pos.is_known() { pos } else { item.pos() };
            run.warn(Diagnostic::warning(Id::VALUES_DEPRECATED, text.clone()).at(pos, Part::Key).path(path.clone()));
        }
        true
    }
}

/// Whether a value, completed from a shape, satisfies the rules of the shape.
fn holds(cx: &mut CheckContext<'_>, value: &Node, shape: &Slot, path: &Path) -> Result<bool, Failure> {
    let mut value = value.clone();
    if !resolve(cx, &mut value, shape, path)?.is_empty() {
        return Ok(false);
    }
    Ok(violations(cx, value, shape)?.is_empty())
}

/// The rules of a shape that a value, completed from it, violates.
fn violations(cx: &mut CheckContext<'_>, value: Node, shape: &Slot) -> Result<Vec<ViolationBlock>, Failure> {
    let doc = Document::new(value, shape.pos);
    let (misshapen, mistyped) = (Misshapen::new(), Mistyped::default());
    let mut walk = ValueChecker {
        checker: Checker::new(cx.eval, cx.run, Some(&doc.value), DocumentKind::Values),
        whose: Whose::Other,
        misshapen: &misshapen,
        mistyped: &mistyped,
        beyond: true,
    };
    walk.item(&doc, None, &Way::Document, Some(shape), false)?;
    Ok(walk.checker.blocks)
}

/// Why a value does not match the required shapes: `shape 1: bucket: not declared`. Values are not
/// shown.
fn reasons(cx: &mut CheckContext<'_>, value: &Node, shapes: &Shapes) -> Result<Vec<Text>, Failure> {
    let mut reasons = Vec::new();
    let mut value = value.clone();
    mark_values_given(&mut value);
    for (at, shape) in shapes.slots.iter().enumerate() {
        let part = shapes.part(cx, &value, shape)?;
        let reason = match fit(cx, &part, shape)? {
            Fit::Not => first_problem(&problems(cx, &part, shape.pos, shape, Order::Document)?),
            fitting => {
                let mut filled = if let Fit::Filled(filled) = fitting { filled } else { part };
                match resolve(cx, &mut filled, shape, &Path::document())?.into_iter().min() {
                    Some((path, found)) => Some(told(&path, nested_reason(cx, &filled, shape, &path, found)?)),
                    None => first_violation(&violations(cx, filled, shape)?),
                }
            }
        };
        reasons.extend(reason.map(|reason| Text::new(format!("shape {}: ", at + 1)).join(reason)));
    }
    Ok(reasons)
}

/// Why a nested value does not match its shapes: `matches no shape (shape 1: …; shape 2: …)`.
fn nested_reason(
    cx: &mut CheckContext<'_>,
    node: &Node,
    slot: &Slot,
    path: &Path,
    found: String,
) -> Result<Text, Failure> {
    let Some((node, Type::Shapes(shapes))) = part_at(cx, node, slot, path)? else { return Ok(found.into()) };
    let reasons = crate::deep(|| reasons(cx, node, shapes))?;
    let mut text = Text::new(found);
    for (at, reason) in reasons.into_iter().enumerate() {
        text = text.then(if at == 0 { " (" } else { "; " }).join(reason);
        if at + 1 == shapes.slots.len() {
            text = text.then(")");
        }
    }
    Ok(text)
}

/// The value at a path, and its type.
fn part_at<'n>(
    cx: &mut CheckContext<'_>,
    node: &'n Node,
    slot: &'n Slot,
    path: &Path,
) -> Result<Option<(&'n Node, &'n Type)>, Failure> {
    let (mut node, mut slot) = (node, slot);
    for step in path.steps() {
        match (step, node) {
            (Step::Key(key), Node::Map(map)) => {
                let item = map.iter().find(|item| key_text(&item.key) == *key);
                let (Some(item), Some(ty)) = (item, slot.as_map()) else { return Ok(None) };
                let Some(declared) = cx.item_for(ty, &item.key)? else { return Ok(None) };
                (node, slot) = (&item.value, &declared.slot);
            }
            (Step::Index(at), Node::Array(array)) => {
                let (Some(item), Some(ty)) = (array.items.get(*at), slot.as_array()) else { return Ok(None) };
                (node, slot) = (&item.value, &ty.item);
            }
            _ => return Ok(None),
        }
    }
    Ok(Some((node, &slot.ty)))
}

fn first_problem(problems: &[SchemaBlock]) -> Option<Text> {
    let problem = problems.first()?;
    let text = match (&problem.about, &problem.near) {
        _ if problem.id == Id::SCHEMA_REMOVED => match problem.hints.first() {
            Some(remedy) => format!("removed; {remedy}").into(),
            None => "removed".into(),
        },
        (Some(_), Some(near)) => format!("not declared; did you mean \"{near}\"?").into(),
        (Some(_), None) => "not declared".into(),
        (None, _) => problem.expectation(),
    };
    Some(told(problem.path.as_ref()?, text))
}

fn first_violation(blocks: &[ViolationBlock]) -> Option<Text> {
    let block = blocks.first()?;
    Some(told(block.path.path()?, Text::new("must be: ").join(block.violations.first()?.must_be.clone())))
}

/// A text about the value at a path; the empty path means the whole value.
fn told(path: &Path, text: Text) -> Text {
    if path.is_document() { text } else { Text::new(format!("{path}: ")).join(text) }
}

/// Checks data values. Without a schema, checks only their own annotations.
pub(crate) fn check(
    eval: &mut Eval,
    run: &Run,
    doc: &Document,
    schema: Option<&Schema>,
    misshapen: &Misshapen,
    mistyped: &Mistyped,
    whose: Whose,
) -> Result<Vec<ViolationBlock>, Failure> {
    let uses = schema.map(|schema| schema.uses).unwrap_or_default();
    let has_rules = uses.rules || uses.required || uses.keys || uses.shapes;
    if !has_rules && !carries_rules(doc) {
        return Ok(Vec::new());
    }
    let _working = working_at(doc.pos);
    let checker = Checker::new(eval, run, Some(&doc.value), DocumentKind::Values);
    let mut walk =
        ValueChecker { checker, whose, misshapen, mistyped, beyond: uses.required || uses.keys || uses.shapes };
    walk.item(doc, None, &Way::Document, schema.map(|schema| &schema.root), false)?;
    Ok(walk.checker.blocks)
}

/// Whether some node has `@assert/validate`.
fn carries_rules(item: &dyn Annotated) -> bool {
    if item.has(Ann::AssertValidate) {
        return true;
    }
    match item.value() {
        Node::Scalar(_) => false,
        Node::Map(map) => crate::deep(|| map.iter().any(|item| carries_rules(item))),
        Node::Array(array) => crate::deep(|| array.items.iter().any(|item| carries_rules(item))),
    }
}

/// Whose values are checked.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Whose {
    /// Those of the command line.
    Root,
    /// Those of a library, set by the code that uses it.
    Library,
    /// Those that code checks, or that are tried with a shape.
    Other,
}

impl Whose {
    /// How to set a missing value.
    fn how_to_give(self, path: &Path, slot: &Slot, secret: bool) -> Option<String> {
        let is_item = path.steps().iter().any(|step| matches!(step, Step::Index(_)));
        Some(match self {
            Whose::Other => return None,
            Whose::Library => "give it with with_data_values(), or in a values document for the library".to_owned(),
            Whose::Root if is_item => "add it to the item, where that is given".to_owned(),
            Whose::Root if secret => {
                "give it in a values file, or by the environment with --data-values-env".to_owned()
            }
            Whose::Root => {
                let flag = if slot.ty.is_string() { "--data-value" } else { "--data-value-yaml" };
                format!("give it in a values file, or with {flag} {path}=…")
            }
        })
    }
}

struct ValueChecker<'a, 'm> {
    checker: Checker<'a>,
    whose: Whose,
    misshapen: &'m Misshapen,
    mistyped: &'m Mistyped,
    /// Whether there is more to check than rules.
    beyond: bool,
}

impl ValueChecker<'_, '_> {
    fn item(
        &mut self,
        item: &dyn Annotated,
        parent: Option<&Node>,
        way: &Way<'_>,
        slot: Option<&Slot>,
        secret: bool,
    ) -> Result<(), Failure> {
        if self.mistyped.has(way) {
            return Ok(());
        }
        let secret = secret || slot.is_some_and(|slot| slot.secret);
        let spot = CheckedValue { value: item.value(), parent, way, pos: item.pos(), secret };
        if let Some(slot) = slot {
            if let Some(required) = slot.required.as_deref().filter(|_| !is_given(item)) {
                self.missing(required, way, slot, secret);
                return Ok(());
            }
            if let Some(rules) = &slot.rules {
                // A merged map keeps the position of its declaration, and ytt's rules show that.
                // Rules that ytt does not have show where the value was given.
                let given = item.meta().and_then(|meta| meta.given.last().copied());
                let pos = given.filter(|_| rules.beyond_ytt).unwrap_or(spot.pos);
                self.checker.check(rules, &CheckedValue { pos, ..spot })?;
            }
            if self.beyond
                && let Type::Shapes(shapes) = &slot.ty
                && let Some(found) = self.misshapen.get(&way.path())
            {
                let mut violation = violation(Id::RULE_SHAPE, shapes.must_be(), found.clone(), shapes.pos);
                let mut cx = CheckContext { eval: self.checker.eval, run: self.checker.run };
                violation.reasons = reasons(&mut cx, item.value(), shapes)?;
                let given = item.meta().and_then(|meta| meta.given.last().copied());
                let default = slot.default.as_map().filter(|map| given.is_some() && !map.is_empty());
                if default.is_some() {
                    let text = "what is given is merged with the default of the schema, which has a shape already; to \
                                take another one, replace it: use @overlay/replace in a @data/values document";
                    violation.helps.push(Help::new(text));
                }
                self.add(way.of_violation(), given.unwrap_or(item.pos()), Part::Value, violation);
            }
        }
        for ann in item.annotations().iter().filter(|ann| ann.ann == Some(Ann::AssertValidate)) {
            let rules = Rules::from_annotation(ann, self.checker.run)?;
            let known = self.checker.blocks.len();
            self.checker.check(&rules, &spot)?;
            self.drop_repeated(known);
        }
        match item.value() {
            Node::Scalar(_) => Ok(()),
            Node::Map(map) => crate::deep(|| self.map(item, map, way, slot.and_then(Slot::as_map), secret)),
            Node::Array(array) => crate::deep(|| {
                let slot = slot.and_then(Slot::as_array).map(|ty| &ty.item);
                array.items.iter().enumerate().try_for_each(|(at, child)| {
                    self.item(child, Some(item.value()), &Way::Index(way, at), slot, secret)
                })
            }),
        }
    }

    fn map(
        &mut self,
        holder: &dyn Annotated,
        map: &Map,
        way: &Way<'_>,
        ty: Option<&Rc<MapType>>,
        secret: bool,
    ) -> Result<(), Failure> {
        if let Some(ty) = ty.filter(|_| self.beyond) {
            self.count_keys(holder, map, way, ty)?;
        }
        for child in map.iter() {
            let slot = match ty {
                Some(ty) => self.item_for(ty, child)?.map(|item| &item.slot),
                None => None,
            };
            self.item(child, Some(holder.value()), &Way::Key(way, &child.key), slot, secret)?;
        }
        Ok(())
    }

    fn item_for<'t>(
        &mut self,
        ty: &'t MapType,
        child: &crate::node::MapItem,
    ) -> Result<Option<&'t MapItemType>, Failure> {
        CheckContext { eval: self.checker.eval, run: self.checker.run }.item_for(ty, &child.key)
    }

    /// Checks the number of keys for `@schema/key`.
    fn count_keys(&mut self, holder: &dyn Annotated, map: &Map, way: &Way<'_>, ty: &MapType) -> Result<(), Failure> {
        let mut counts: Vec<(&MapItemType, &KeyRule, usize)> = ty
            .all_items()
            .filter_map(|item| match &item.presence {
                Presence::Optional(rule) | Presence::Pattern(rule) => Some((item, &**rule, 0)),
                Presence::Always | Presence::Removed(_) => None,
            })
            .collect();
        if counts.is_empty() {
            return Ok(());
        }
        for child in map.iter() {
            let Some(declared) = self.item_for(ty, child)? else { continue };
            if let Some((_, _, count)) = counts.iter_mut().find(|(item, _, _)| std::ptr::eq(*item, declared)) {
                *count += 1;
            }
        }
        for (item, rule, count) in counts {
            if !rule.expects.accepts(self.checker.eval, count).map_err(ytterby_starlark::Error::into_failure)? {
                let found = if count == 1 { "1 item".to_owned() } else { format!("{count} items") };
                let violation = violation(Id::RULE_KEYS, rule.must_be(&item.key), found, rule.pos);
                self.add(way.of_violation(), holder.pos(), Part::Value, violation);
            }
        }
        Ok(())
    }

    fn missing(&mut self, required: &Required, way: &Way<'_>, slot: &Slot, secret: bool) {
        let must_be = required.description.as_ref().map_or_else(|| "given a value".to_owned(), ToString::to_string);
        let missing = violation(Id::VALUES_REQUIRED, must_be, "no value given".to_owned(), required.pos);
        let path = way.path();
        let helps: Vec<Help> = self.whose.how_to_give(&path, slot, secret).map(Help::new).into_iter().collect();
        self.add(ViolationPath::Path(path), slot.pos, Part::Key, Violation { helps, ..missing });
    }

    /// Drops violations of the blocks from index `known` on that repeat those of the block before.
    fn drop_repeated(&mut self, known: usize) {
        let (before, added) = self.checker.blocks.split_at_mut(known);
        let Some(last) = before.last() else { return };
        for block in added.iter_mut().filter(|block| block.path == last.path) {
            block.violations.retain(|new| !last.violations.iter().any(|old| old.must_be == new.must_be));
        }
        let mut at = 0;
        self.checker.blocks.retain(|block| {
            at += 1;
            at <= known || !block.violations.is_empty()
        });
    }

    /// Adds a violation; to the last block if that is about the same value.
    fn add(&mut self, path: ViolationPath, from: Pos, part: Part, violation: Violation) {
        match self.checker.blocks.last_mut() {
            Some(block) if block.path == path => block.violations.push(violation),
            _ => self.checker.add(path, from, part, vec![violation]),
        }
    }
}

/// A violation that does not come from a rule.
fn violation(id: Id, must_be: String, found: String, by: Pos) -> Violation {
    Violation {
        id,
        must_be: must_be.into(),
        found: found.into(),
        message: None,
        by,
        by_part: Part::Annotation,
        reasons: Vec::new(),
        helps: Vec::new(),
    }
}

/// Whether an input of data values contains the item or something in it.
fn is_given(item: &dyn Annotated) -> bool {
    item.meta().is_some_and(|meta| !meta.given.is_empty()) || holds_given(item.value())
}

/// Whether something in the value is given.
fn holds_given(node: &Node) -> bool {
    match node {
        Node::Scalar(_) => false,
        Node::Map(map) => crate::deep(|| map.iter().any(|item| is_given(item))),
        Node::Array(array) => crate::deep(|| array.items.iter().any(|item| is_given(item))),
    }
}

/// Removes the mark that everything in the value was given.
fn unmark_given(node: &mut Node) {
    match node {
        Node::Scalar(_) => {}
        Node::Map(map) => crate::deep(|| Rc::make_mut(map).iter_mut().for_each(unmark_item)),
        Node::Array(array) => crate::deep(|| Rc::make_mut(array).items.iter_mut().for_each(unmark_item)),
    }
}

fn unmark_item(item: &mut impl Annotated) {
    if item.meta().is_some() {
        item.meta_mut().given.clear();
    }
    unmark_given(item.value_mut());
}
