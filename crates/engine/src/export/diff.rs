//! `schema diff`: the changes between two versions of a schema, and what kind of release they
//! require.
//!
//! Both versions are compared as documentation shows them ([`model`]), field by field. A change is
//! *major* if values that were valid may become invalid, *minor* if more is allowed or the result
//! differs, *patch* if only texts changed. If this is unknown (functions whose code changed), it is
//! major.

use std::collections::HashMap;
use std::fmt;

use super::model::{DocumentedField, Model, When, model};
use super::schema::json_schema_of_slot;
use crate::node::Node;
use crate::run::Run;
use crate::schema::{Combination, DEPRECATED, Example, ScalarType, Schema, Shapes, Type};
use crate::validate::{Described, Detail};

/// The impact of a change on users of a schema.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
#[non_exhaustive]
pub enum Impact {
    /// Only texts changed.
    Patch,
    /// More is allowed, or the result differs.
    Minor,
    /// Values that were valid may become invalid.
    Major,
}

impl Impact {
    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Impact::Patch => "patch",
            Impact::Minor => "minor",
            Impact::Major => "major",
        }
    }
}

/// One change of a schema.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Change {
    /// Its impact.
    pub impact: Impact,
    /// The field: `db.hosts[].name`.
    pub path: String,
    /// A description of the change.
    pub text: String,
}

/// The changes between two schemas. Formatted, it is a line per change and the verdict.
#[derive(Clone, Default, Debug)]
pub struct Changes(Vec<Change>);

impl Changes {
    /// The changes, in the order of the new schema; removed fields come last.
    pub fn iter(&self) -> impl Iterator<Item = &Change> {
        self.0.iter()
    }

    /// The greatest impact; `None` if nothing changed.
    pub fn verdict(&self) -> Option<Impact> {
        self.0.iter().map(|change| change.impact).max()
    }
}

impl fmt::Display for Changes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for Change { impact, path, text } in &self.0 {
            writeln!(f, "{} {path}: {text}", impact.name())?;
        }
        writeln!(f, "verdict: {}", self.verdict().map_or("none", Impact::name))
    }
}

/// Compares two schemas.
pub(crate) fn diff(old: &Schema, new: &Schema, run: &Run) -> Changes {
    let (old, new) = (model(old, Detail::Sources(run)), model(new, Detail::Sources(run)));
    let mut changes = Changes::default();
    changes.document(&old, &new);
    let partners = Partners::new(&old, &new);
    let mut added: Option<&str> = None;
    for (at, field) in new.fields.iter().enumerate() {
        match partners.of_new[at].map(|at| &old.fields[at]) {
            Some(before) => changes.field(before, field),
            None => match partners.plain_items_in_old(field, &old) {
                Some(before) => changes.field(&before, field),
                None => {
                    let is_inside = added.is_some_and(|above| is_below(&field.id, above));
                    if !is_inside {
                        added = Some(&field.id);
                    }
                    match (field.required || field.lacks_default, is_inside) {
                        (true, _) => changes.add(Impact::Major, &field.path, "added (required)"),
                        (false, false) => changes.add(Impact::Minor, &field.path, "added"),
                        (false, true) => {}
                    }
                }
            },
        }
    }
    let mut removed: Option<&str> = None;
    for (_, field) in old.fields.iter().enumerate().filter(|(at, _)| !partners.is_old_known[*at]) {
        if let Some(after) = partners.plain_items_in_new(field, &new) {
            changes.field(field, &after);
        } else if !removed.is_some_and(|above| is_below(&field.id, above)) {
            removed = Some(&field.id);
            changes.add(Impact::Major, &field.path, "removed");
        }
    }
    changes
}

/// Matches the fields of the two versions. Several patterns of one map have the same path.
struct Partners<'a> {
    old: HashMap<&'a str, Vec<usize>>,
    new: HashMap<&'a str, Vec<usize>>,
    /// The old field of each new one.
    of_new: Vec<Option<usize>>,
    is_old_known: Vec<bool>,
}

impl<'a> Partners<'a> {
    fn new(old: &'a Model, new: &'a Model) -> Partners<'a> {
        let mut partners = Partners {
            old: by_id(old),
            new: by_id(new),
            of_new: vec![None; new.fields.len()],
            is_old_known: vec![false; old.fields.len()],
        };
        for (id, at_new) in &partners.new {
            let Some(at_old) = partners.old.get(id) else { continue };
            // Those with the same keys first, the others in order.
            let mut rest_old = at_old.clone();
            let mut rest_new = Vec::new();
            for at in at_new {
                match rest_old.iter().position(|other| old.fields[*other].presence == new.fields[*at].presence) {
                    Some(found) => {
                        partners.of_new[*at] = Some(rest_old.remove(found));
                    }
                    None => rest_new.push(*at),
                }
            }
            for (at, other) in rest_new.into_iter().zip(rest_old) {
                partners.of_new[at] = Some(other);
            }
        }
        for at in partners.of_new.iter().flatten() {
            partners.is_old_known[*at] = true;
        }
        partners
    }

    fn plain_items_in_old(&self, field: &DocumentedField, old: &Model) -> Option<DocumentedField> {
        plain_items(field, &self.old, old)
    }

    fn plain_items_in_new(&self, field: &DocumentedField, new: &Model) -> Option<DocumentedField> {
        plain_items(field, &self.new, new)
    }
}

fn by_id(model: &Model) -> HashMap<&str, Vec<usize>> {
    let mut fields: HashMap<&str, Vec<usize>> = HashMap::with_capacity(model.fields.len());
    for (at, field) in model.fields.iter().enumerate() {
        fields.entry(&field.id).or_default().push(at);
    }
    fields
}

fn is_below(id: &str, above: &str) -> bool {
    id.strip_prefix(above).is_some_and(|rest| rest.starts_with('\0'))
}

/// Array items are listed only if they have documentation. If the other version has the array but
/// does not list its items, this returns the item to compare `field` with.
fn plain_items(field: &DocumentedField, fields: &HashMap<&str, Vec<usize>>, other: &Model) -> Option<DocumentedField> {
    let [at] = fields.get(field.id.strip_suffix("\0[]")?)?[..] else { return None };
    let array = &other.fields[at];
    let Type::Array(ty) = &array.ty else { return None };
    // A change of the type is reported for the array.
    Some(DocumentedField {
        id: field.id.clone(),
        documentation: None,
        ty: field.ty.clone(),
        type_name: field.type_name.clone(),
        nullable: ty.item.nullable,
        remarks: Vec::new(),
        secret: array.secret,
        examples: Vec::new(),
        rules: Vec::new(),
        title: super::model::title_of(&field.name),
        name: field.name.clone(),
        path: field.path.clone(),
        depth: field.depth,
        default: None,
        required: false,
        presence: field.presence.clone(),
        lacks_default: false,
        own_default: None,
        pos: ty.item.pos,
    })
}

/// A type and its name.
type Typed<'a> = (&'a Type, &'a str);

impl Changes {
    fn add(&mut self, impact: Impact, path: &str, change: impl fmt::Display) {
        let one_line = |text: String| text.replace('\n', " ");
        self.0.push(Change { impact, path: one_line(path.to_owned()), text: one_line(change.to_string()) });
    }

    fn document(&mut self, old: &Model, new: &Model) {
        let path = "(document)";
        self.types(path, (&old.ty, &old.type_name), (&new.ty, &new.type_name));
        let reworded = self.rules(path, &old.rules, &new.rules);
        self.null(path, (&old.ty, old.nullable), (&new.ty, new.nullable));
        if reworded || old.title != new.title || old.documentation != new.documentation {
            self.add(Impact::Patch, path, "documentation changed");
        }
    }

    fn field(&mut self, old: &DocumentedField, new: &DocumentedField) {
        let path = &*new.path;
        self.types(path, (&old.ty, &old.type_name), (&new.ty, &new.type_name));
        let known = self.0.len();
        match (old.required, new.required) {
            (false, true) => self.add(Impact::Major, path, "now required"),
            (true, false) if !new.lacks_default => self.add(Impact::Minor, path, "no longer required"),
            _ => {}
        }
        self.keys(path, &old.presence, &new.presence);
        let reworded = self.rules(path, &old.rules, &new.rules);
        let has_new_rule = self.0[known..].iter().any(|change| change.impact == Impact::Major);
        // The default is no longer valid, although there is no new rule.
        if new.lacks_default && !old.lacks_default && !old.required && !has_new_rule {
            self.add(Impact::Major, path, "now required");
        }
        self.null(path, (&old.ty, old.nullable), (&new.ty, new.nullable));
        if !same_default(old, new) {
            self.add(Impact::Minor, path, "default changed");
        }
        match (old.deprecated(), new.deprecated()) {
            (None, Some(_)) => self.add(Impact::Minor, path, "deprecated"),
            (Some(_), None) => self.add(Impact::Patch, path, "no longer deprecated"),
            _ => {}
        }
        match (old.secret, new.secret) {
            (false, true) => self.add(Impact::Patch, path, "now secret"),
            (true, false) => self.add(Impact::Patch, path, "no longer secret"),
            _ => {}
        }
        // A deprecation that begins or ends is a change of its own.
        let is_known = old.deprecated().is_some() != new.deprecated().is_some();
        let remarks = |field: &DocumentedField| {
            let others = field.remarks.iter().filter(|remark| !(is_known && remark.name == DEPRECATED));
            others.map(|remark| (remark.name, remark.text.clone())).collect::<Vec<_>>()
        };
        if old.title != new.title
            || old.documentation != new.documentation
            || remarks(old) != remarks(new)
            || reworded
            || !same_examples(&old.examples, &new.examples)
        {
            self.add(Impact::Patch, path, "documentation changed");
        }
    }

    fn types(&mut self, path: &str, (old, old_name): Typed<'_>, (new, new_name): Typed<'_>) {
        let (old_name, new_name) = (shown_type(old, old_name), shown_type(new, new_name));
        match (accepts_all(new, old), accepts_all(old, new)) {
            (true, true) => {}
            (true, false) if old_name == new_name => self.add(Impact::Minor, path, "shapes widened"),
            (true, false) => self.add(Impact::Minor, path, format_args!("type widened from {old_name} to {new_name}")),
            (false, _) if old_name == new_name => self.add(Impact::Major, path, "shapes changed"),
            (false, _) => self.add(Impact::Major, path, format_args!("type changed from {old_name} to {new_name}")),
        }
    }

    /// Reports changes of the rules; returns whether some were only reworded.
    fn rules(&mut self, path: &str, old: &[Described], new: &[Described]) -> bool {
        let mut reworded = false;
        let mut gone: Vec<&Described> =
            old.iter().filter(|rule| !new.iter().any(|other| other.meaning == rule.meaning)).collect();
        for rule in new {
            if let Some(same) = old.iter().find(|other| other.meaning == rule.meaning) {
                reworded |= same.text != rule.text;
                continue;
            }
            let is_loosened = |from: &&&Described| {
                let is_limit = from.limits.iter().any(|limit| rule.limits.iter().any(|other| limit.is_like(other)));
                is_limit || rule.without_condition.as_ref() == Some(&from.meaning)
            };
            let counterpart = gone.iter().position(|from| is_loosened(&from));
            match (is_implied(rule, old), counterpart) {
                // The same rule, in another order.
                (true, Some(at)) if is_implied(gone[at], new) => {
                    gone.remove(at);
                    reworded = true;
                }
                (true, Some(at)) => {
                    let from = gone.remove(at);
                    self.add(Impact::Minor, path, format_args!("rule loosened from {} to {}", from.text, rule.text));
                }
                // It is weaker than the other rules.
                (true, None) => reworded = true,
                (false, _) => match gone.iter().position(|other| other.text == rule.text) {
                    Some(at) => {
                        gone.remove(at);
                        self.add(Impact::Major, path, format_args!("rule changed: {}", rule.text));
                    }
                    None => self.add(Impact::Major, path, format_args!("rule added: {}", rule.text)),
                },
            }
        }
        for rule in gone {
            self.add(Impact::Minor, path, format_args!("rule removed: {}", rule.text));
        }
        reworded
    }

    fn null(&mut self, path: &str, (old_type, old): (&Type, bool), (new_type, new): (&Type, bool)) {
        // Type any includes null; a change to or from it is a change of the type.
        if matches!(old_type, Type::Any) || matches!(new_type, Type::Any) {
            return;
        }
        match (old || old_type.allows_null(), new || new_type.allows_null()) {
            (true, false) => self.add(Impact::Major, path, "no longer nullable"),
            (false, true) => self.add(Impact::Minor, path, "now nullable"),
            _ => {}
        }
    }

    /// Whether the key is always present, and which keys a pattern accepts.
    fn keys(&mut self, path: &str, old: &When, new: &When) {
        match (old, new) {
            (When::Always, When::Given) => self.add(Impact::Minor, path, "now optional"),
            (When::Given, When::Always) => self.add(Impact::Minor, path, "no longer optional"),
            (When::Matching(old), When::Matching(new)) if old != new => {
                let (impact, verb) = match &**new {
                    "any key" => (Impact::Minor, "widened"),
                    _ => (Impact::Major, "changed"),
                };
                self.add(impact, path, format_args!("keys {verb} from {old} to {new}"));
            }
            _ => {}
        }
    }
}

/// Whether a rule follows from others.
fn is_implied(rule: &Described, others: &[Described]) -> bool {
    let known = |meaning: &String| others.iter().any(|other| other.meaning == *meaning);
    let follows = |limit| others.iter().flat_map(|other| &other.limits).any(|other| other.implies(limit));
    rule.without_condition.as_ref().is_some_and(known) || (!rule.limits.is_empty() && rule.limits.iter().all(follows))
}

fn same_default(old: &DocumentedField, new: &DocumentedField) -> bool {
    let same = |old: &Option<Node>, new: &Option<Node>| match (old, new) {
        (Some(old), Some(new)) => old.same(new),
        (None, None) => true,
        _ => false,
    };
    // A required or optional field has no default.
    let is_comparable = old.required == new.required && old.presence == new.presence;
    !is_comparable || (same(&old.default, &new.default) && same(&old.own_default, &new.own_default))
}

fn same_examples(old: &[Example], new: &[Example]) -> bool {
    let same = |(old, new): (&Example, &Example)| old.description == new.description && old.value.same(&new.value);
    old.len() == new.len() && old.iter().zip(new).all(same)
}

/// The name of a type; documentation calls everything with shapes `any`.
fn shown_type(ty: &Type, name: &str) -> String {
    match ty {
        Type::Shapes(shapes) => match shapes.combination {
            Combination::One => "one of several shapes".to_owned(),
            Combination::Any => "any of several shapes".to_owned(),
            Combination::All => "all of several shapes".to_owned(),
        },
        _ => name.to_owned(),
    }
}

/// Whether each value of `part` is one of `whole`, at this level: the items of maps are separate
/// fields, and null is compared separately.
fn accepts_all(whole: &Type, part: &Type) -> bool {
    crate::deep(|| match (whole, part) {
        (Type::Any, _) => true,
        (_, Type::Scalar(ScalarType::Null)) => true,
        (Type::Shapes(whole), Type::Shapes(part)) => has_shapes(whole, part),
        (_, Type::Union(part)) => part.members.iter().all(|member| accepts_all(whole, member)),
        (Type::Union(whole), part) => whole.members.iter().any(|member| accepts_all(member, part)),
        (Type::Scalar(whole), Type::Scalar(part)) => {
            whole == part || (*whole, *part) == (ScalarType::Float, ScalarType::Int)
        }
        (Type::Array(whole), Type::Array(part)) => {
            let allows_null = |item: &crate::schema::Slot| item.allows_null();
            let null = allows_null(&whole.item) || !allows_null(&part.item) || part.item.annotated;
            null && accepts_all(&whole.item.ty, &part.item.ty)
        }
        (Type::Map(_), Type::Map(_)) => true,
        _ => false,
    })
}

/// Whether all values with the shapes of `part` have those of `whole`.
fn has_shapes(whole: &Shapes, part: &Shapes) -> bool {
    let schemas = |shapes: &Shapes| shapes.slots.iter().map(json_schema_of_slot).collect::<Vec<Node>>();
    let (all, some) = (schemas(whole), schemas(part));
    let has = |list: &[Node], one: &Node| list.iter().any(|other| other.same(one));
    let is_part = some.iter().all(|one| has(&all, one));
    let is_same = is_part && all.iter().all(|one| has(&some, one));
    match (whole.combination, part.combination) {
        (Combination::Any, Combination::Any | Combination::One) => is_part,
        (one, other) => one == other && is_same,
    }
}
