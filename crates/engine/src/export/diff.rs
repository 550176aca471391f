//! `schema diff`: what changed from one version of a schema to the next, and what kind of release that makes.
//!
//! Both versions are read as documentation shows them ([`model`]), field by field. A change is *major* where values that
//! were fine may not be any longer, *minor* where more is possible or something else comes out, *patch* where only words
//! changed.

use std::collections::HashMap;
use std::fmt;

use super::model::{Field, Model, model};
use super::schema::json_schema_of_type;
use crate::node::Node;
use crate::schema::{Example, Schema, Type};

/// How much a change matters to users of a schema.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Impact {
    Patch,
    Minor,
    Major,
}

impl fmt::Display for Impact {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Impact::Patch => "patch",
            Impact::Minor => "minor",
            Impact::Major => "major",
        })
    }
}

/// The changes, one per line, and the verdict.
pub(crate) fn diff(old: &Schema, new: &Schema) -> String {
    let (old, new) = (model(old), model(new));
    let mut changes = Changes::default();
    changes.document(&old, &new);
    let old_fields = by_path(&old);
    let new_fields = by_path(&new);
    let mut added: Option<&str> = None;
    for field in &new.fields {
        match old_fields.get(&*field.path) {
            Some(before) => changes.field(before, field),
            None => match plain_items(field, &old_fields) {
                Some(before) => changes.field(&before, field),
                None => {
                    let is_inside = added.is_some_and(|above| is_below(&field.path, above));
                    if !is_inside {
                        added = Some(&field.path);
                    }
                    match (field.required, is_inside) {
                        (true, _) => changes.add(Impact::Major, &field.path, "added (required)"),
                        (false, false) => changes.add(Impact::Minor, &field.path, "added"),
                        (false, true) => {}
                    }
                }
            },
        }
    }
    let mut removed: Option<&str> = None;
    for field in old.fields.iter().filter(|field| !new_fields.contains_key(&*field.path)) {
        if let Some(after) = plain_items(field, &new_fields) {
            changes.field(field, &after);
        } else if !removed.is_some_and(|above| is_below(&field.path, above)) {
            removed = Some(&field.path);
            changes.add(Impact::Major, &field.path, "removed");
        }
    }
    changes.into_text()
}

fn by_path(model: &Model) -> HashMap<&str, &Field> {
    model.fields.iter().map(|field| (&*field.path, field)).collect()
}

fn is_below(path: &str, above: &str) -> bool {
    path.strip_prefix(above).is_some_and(|rest| rest.starts_with(['.', '[']))
}

/// Array items are listed only where something is said about them. Where the other version has the array but says
/// nothing about its items, this is what `field` is to be compared with.
fn plain_items(field: &Field, others: &HashMap<&str, &Field>) -> Option<Field> {
    let array = others.get(field.path.strip_suffix("[]")?)?;
    let Type::Array(ty) = &array.ty else { return None };
    // A change of the type shows at the array.
    Some(Field {
        documentation: None,
        ty: field.ty.clone(),
        type_name: field.type_name.clone(),
        nullable: ty.item.nullable,
        deprecated: None,
        secret: array.secret,
        examples: Vec::new(),
        rules: Vec::new(),
        title: super::model::title_of(&field.name),
        name: field.name.clone(),
        path: field.path.clone(),
        depth: field.depth,
        default: None,
        required: false,
    })
}

#[derive(Default)]
struct Changes(Vec<(Impact, String)>);

impl Changes {
    fn add(&mut self, impact: Impact, path: &str, change: impl fmt::Display) {
        self.0.push((impact, format!("{path}: {change}").replace('\n', " ")));
    }

    fn document(&mut self, old: &Model, new: &Model) {
        let path = "(document)";
        self.types(path, (&old.ty, &old.type_name), (&new.ty, &new.type_name));
        self.rules(path, &old.rules, &new.rules);
        self.null(path, old.nullable, new.nullable);
        if old.title != new.title || old.documentation != new.documentation {
            self.add(Impact::Patch, path, "documentation changed");
        }
    }

    fn field(&mut self, old: &Field, new: &Field) {
        let path = &*new.path;
        self.types(path, (&old.ty, &old.type_name), (&new.ty, &new.type_name));
        match (old.required, new.required) {
            (false, true) => self.add(Impact::Major, path, "now required"),
            (true, false) => self.add(Impact::Minor, path, "no longer required"),
            _ => {}
        }
        self.rules(path, &old.rules, &new.rules);
        self.null(path, old.nullable, new.nullable);
        let same_default = match (&old.default, &new.default) {
            (Some(old), Some(new)) => old.same(new),
            (None, None) => true,
            _ => old.required != new.required,
        };
        if !same_default {
            self.add(Impact::Minor, path, "default changed");
        }
        match (&old.deprecated, &new.deprecated) {
            (None, Some(_)) => self.add(Impact::Minor, path, "deprecated"),
            (Some(_), None) => self.add(Impact::Patch, path, "no longer deprecated"),
            _ => {}
        }
        match (old.secret, new.secret) {
            (false, true) => self.add(Impact::Patch, path, "now secret"),
            (true, false) => self.add(Impact::Patch, path, "no longer secret"),
            _ => {}
        }
        let notice_changed = matches!((&old.deprecated, &new.deprecated), (Some(old), Some(new)) if old != new);
        if old.title != new.title
            || old.documentation != new.documentation
            || notice_changed
            || !same_examples(&old.examples, &new.examples)
        {
            self.add(Impact::Patch, path, "documentation changed");
        }
    }

    fn types(&mut self, path: &str, (old, old_name): (&Type, &str), (new, new_name): (&Type, &str)) {
        match (accepts_all(new, old), accepts_all(old, new)) {
            (true, true) => {}
            (true, false) => self.add(Impact::Minor, path, format_args!("type widened from {old_name} to {new_name}")),
            (false, _) if old_name == new_name => self.add(Impact::Major, path, "shapes changed"),
            (false, _) => self.add(Impact::Major, path, format_args!("type changed from {old_name} to {new_name}")),
        }
    }

    fn rules(&mut self, path: &str, old: &[super::model::Rule], new: &[super::model::Rule]) {
        for rule in new.iter().filter(|rule| !old.contains(rule)) {
            self.add(Impact::Major, path, format_args!("rule added: {}", rule.text));
        }
        for rule in old.iter().filter(|rule| !new.contains(rule)) {
            self.add(Impact::Minor, path, format_args!("rule removed: {}", rule.text));
        }
    }

    fn null(&mut self, path: &str, old: bool, new: bool) {
        match (old, new) {
            (true, false) => self.add(Impact::Major, path, "no longer nullable"),
            (false, true) => self.add(Impact::Minor, path, "now nullable"),
            _ => {}
        }
    }

    fn into_text(self) -> String {
        let verdict = self.0.iter().map(|(impact, _)| *impact).max();
        let mut text: String = self.0.iter().map(|(impact, change)| format!("{impact} {change}\n")).collect();
        match verdict {
            Some(impact) => text.push_str(&format!("verdict: {impact}\n")),
            None => text.push_str("verdict: none\n"),
        }
        text
    }
}

fn same_examples(old: &[Example], new: &[Example]) -> bool {
    let same = |(old, new): (&Example, &Example)| old.description == new.description && old.value.same(&new.value);
    old.len() == new.len() && old.iter().zip(new).all(same)
}

/// Whether each value of `part` is one of `whole`, as far as this place is concerned: the items of maps are fields
/// of their own.
fn accepts_all(whole: &Type, part: &Type) -> bool {
    crate::deep(|| match (whole, part) {
        (Type::Any, _) => true,
        (Type::Shapes(_), Type::Shapes(_)) => same_shapes(whole, part),
        (_, Type::Union(part)) => part.members.iter().all(|member| accepts_all(whole, member)),
        (Type::Union(whole), part) => whole.members.iter().any(|member| accepts_all(member, part)),
        (Type::Scalar(whole), Type::Scalar(part)) => {
            use crate::schema::Kind::{Float, Int};
            whole == part || (*whole, *part) == (Float, Int)
        }
        (Type::Array(whole), Type::Array(part)) => {
            let null = whole.item.nullable || !part.item.nullable || part.item.annotated;
            null && accepts_all(&whole.item.ty, &part.item.ty)
        }
        (Type::Map(_), Type::Map(_)) => true,
        _ => false,
    })
}

fn same_shapes(one: &Type, other: &Type) -> bool {
    let schema = |ty: &Type| -> Node { json_schema_of_type(ty) };
    schema(one).same(&schema(other))
}
