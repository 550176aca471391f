//! Completes keys and values of Kubernetes manifests in templates.

use super::values::{flow_place, given_keys, key_range, value_item};
use super::{Completion, CompletionKind, key_item};
use crate::TextRange;
use crate::context::Cursor;

pub(super) fn complete(at: Cursor<'_>) -> Vec<Completion> {
    let Some(catalog) = at.catalog() else { return Vec::new() };
    let model = at.model();
    let document = at.document();
    let in_flow = flow_place(at).filter(|(_, is_key)| *is_key);
    if let Some(item) = value_item(at).filter(|_| in_flow.is_none()) {
        return values(at, item, document);
    }
    let Some((api_version, kind)) = at.kind(document) else { return first_keys(at, document) };
    let parent = match in_flow {
        Some((parent, _)) => parent,
        None => {
            let (parent, column) = at.surroundings();
            parent.filter(|parent| column > 0 || model.items[*parent].is_array_item)
        }
    };
    let path = parent.map(|parent| model.path(parent)).unwrap_or_default();
    let mut fields = catalog.fields(&api_version, &kind, &path);
    if fields.is_empty() && !path.is_empty() {
        // Below a key whose value is a list, a dash is required first.
        fields = catalog.fields(&api_version, &kind, &[&path[..], &[None]].concat());
    }
    let given = given_keys(at, parent);
    let range = key_range(at);
    let open = fields.into_iter().filter(|field| !given.contains(&field.name));
    open.map(|field| {
        let is_line = in_flow.is_none() && (field.is_object || field.is_list);
        let item = key_item(at, &field.name, if is_line { "" } else { " " }, range);
        let detail = if field.is_required { format!("{}, required", field.type_name) } else { field.type_name };
        item.detail(detail).documentation(field.description).rank(if field.is_required { 2 } else { 4 })
    })
    .collect()
}

/// `apiVersion` and `kind`, if the document lacks them.
fn first_keys(at: Cursor<'_>, document: usize) -> Vec<Completion> {
    let (parent, column) = at.surroundings();
    // Leave other YAML alone.
    let mut tops = at.model().children(document, None).map(|item| at.model().items[item].key.as_deref());
    let is_manifest = at.is_for_kubernetes() || tops.any(|key| matches!(key, Some("apiVersion" | "kind")));
    if !is_manifest || parent.is_some() && column > 0 {
        return Vec::new();
    }
    let given = given_keys(at, None);
    let keys = ["apiVersion", "kind", "metadata"].into_iter().filter(|key| !given.iter().any(|given| given == key));
    keys.map(|key| Completion::new(key, CompletionKind::Field, key_range(at)).text(format!("{key}: "))).collect()
}

fn values(at: Cursor<'_>, item: usize, document: usize) -> Vec<Completion> {
    let model = at.model();
    let Some(catalog) = at.catalog() else { return Vec::new() };
    let value = model.items[item].value;
    let range = if value.touches(at.offset) { value } else { TextRange::new(at.offset, at.offset) };
    let path = model.path(item);
    let scalar = |key: &str| {
        let mut items = model.children(document, None);
        let found = items.find(|item| model.items[*item].key.as_deref() == Some(key))?;
        Some(model.items[found].value.of(at.text())).filter(|value| !value.is_empty())
    };
    let mut texts: Vec<String> = match &path[..] {
        [Some("kind")] => {
            let of = scalar("apiVersion");
            let kinds = catalog.kinds().into_iter().filter(|(version, _)| of.is_none_or(|of| of == version));
            kinds.map(|(_, kind)| kind).collect()
        }
        [Some("apiVersion")] => {
            let of = scalar("kind");
            let kinds = catalog.kinds().into_iter().filter(|(_, kind)| of.is_none_or(|of| of == kind));
            kinds.map(|(version, _)| version).collect()
        }
        path => {
            let Some((api_version, kind)) = at.kind(document) else { return Vec::new() };
            match catalog.field(&api_version, &kind, path) {
                Some(field) if field.type_name == "boolean" => vec!["true".to_owned(), "false".to_owned()],
                Some(field) => field.members,
                None => Vec::new(),
            }
        }
    };
    texts.sort();
    texts.dedup();
    texts.into_iter().map(|text| Completion::new(text, CompletionKind::Value, range)).collect()
}
