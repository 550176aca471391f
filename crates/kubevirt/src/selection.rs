//! Selects VMs in CEL like [`crate::select`].
//!
//! A policy is for the rules of one text. It selects the VMs that have this annotation themselves,
//! and those without rules that name a template with it; never a VM that has other rules itself,
//! not even `[]`.

use std::collections::BTreeSet;

use ytterby_text::cel;

use crate::rules::ANNOTATION;
use crate::select::{NAME, NAMESPACES};

/// The API server rejects longer expressions; it counts characters.
const MAX_EXPRESSION: usize = 90_000;

/// The objects that have the annotation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum AnnotationOwner {
    /// VMs, now or when a template is processed.
    Vms,
    /// Only templates, as far as is known.
    Templates,
}

/// An expression that is true for the VMs with these rules; `None` if it would be too long.
/// `templates` has namespaces and names; one without a namespace matches any.
pub fn selection(text: &str, templates: &BTreeSet<(&str, &str)>, owner: AnnotationOwner) -> Option<String> {
    let (at, key) = ("object.metadata.annotations", cel::quoted(ANNOTATION));
    let own = format!("has({at}) && {key} in {at} && {at}[{key}] != ''");
    let referring = referring(templates);
    let same = format!("{at}[{key}] == {}", cel::quoted(text));
    let is_short = same.chars().count() + referring.len() < MAX_EXPRESSION;
    match (is_short, referring.is_empty()) {
        (true, true) => Some(format!("{own} && {same}")),
        (true, false) => Some(format!("({own}) ? {same} : ({referring})")),
        (false, false) if owner == AnnotationOwner::Templates && referring.len() < MAX_EXPRESSION => {
            Some(format!("!({own}) && ({referring})"))
        }
        (false, _) => None,
    }
}

/// An expression that is true for VMs that name one of the templates: by labels if these have a
/// name and a namespace, otherwise by annotations.
fn referring(templates: &BTreeSet<(&str, &str)>) -> String {
    if templates.is_empty() {
        return String::new();
    }
    let [key, new, old] = [NAME, NAMESPACES[0], NAMESPACES[1]].map(cel::quoted);
    let (anywhere, somewhere): (Vec<_>, Vec<_>) = templates.iter().partition(|(namespace, _)| namespace.is_empty());
    let anywhere: Vec<String> = anywhere.iter().map(|(_, name)| cel::quoted(name)).collect();
    let somewhere: Vec<String> =
        somewhere.iter().map(|(namespace, name)| cel::quoted(&format!("{namespace}/{name}"))).collect();
    let named = |place: &str| {
        let at = format!("object.metadata.{place}");
        let is_given = format!("has({at}) && {key} in {at} && ({new} in {at} || {old} in {at})");
        let by_name = format!("{at}[{key}] in [{}]", anywhere.join(", "));
        let namespace = format!("({new} in {at} ? {at}[{new}] : {at}[{old}])");
        let by_both = format!("({namespace} + '/' + {at}[{key}]) in [{}]", somewhere.join(", "));
        let is_one = match (anywhere.is_empty(), somewhere.is_empty()) {
            (true, _) => by_both,
            (false, true) => by_name,
            (false, false) => format!("({by_name} || {by_both})"),
        };
        (is_given, is_one)
    };
    let ((in_labels, by_labels), (in_annotations, by_annotations)) = (named("labels"), named("annotations"));
    format!("({in_labels}) ? {by_labels} : ({in_annotations} && {by_annotations})")
}
