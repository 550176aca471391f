//! Documents of the output: names, nodes, and differences between two renders.
//!
//! Documents have no identity of their own. They are matched by kind, namespace and name; those
//! that were renamed, by their position in templates. `labels` makes the shortest names that are
//! unambiguous.

use std::collections::HashMap;

use ytterby_diag::{Path, Pos, Step};

use super::selector::{DocumentPattern, glob};
use crate::node::{Document, Node, key_text};

/// A node at a path: its value and position.
#[derive(Clone, Copy)]
pub(super) struct LocatedNode<'n> {
    pub value: &'n Node,
    /// Unknown if code created it.
    pub pos: Pos,
    /// The nearest known position: its own or that of a parent.
    pub place: Pos,
}

/// The node at a path.
pub(super) fn at<'n>(doc: &'n Document, path: &Path) -> Option<LocatedNode<'n>> {
    let mut found = LocatedNode { value: &doc.value, pos: doc.pos, place: doc.pos };
    for step in path.steps() {
        let (value, pos) = match (step, found.value) {
            (Step::Key(key), Node::Map(map)) => {
                let item = map.get_str(key).or_else(|| map.iter().find(|item| key_text(&item.key) == *key))?;
                (&item.value, item.pos)
            }
            (Step::Index(index), Node::Array(array)) => {
                let item = array.items.get(*index)?;
                (&item.value, item.pos)
            }
            _ => return None,
        };
        found = LocatedNode { value, pos, place: if pos.is_known() { pos } else { found.place } };
    }
    Some(found)
}

/// At most `most` paths of a document, including its own.
pub(super) fn paths(doc: &Document, most: usize) -> Vec<Path> {
    fn walk(node: &Node, path: &Path, most: usize, out: &mut Vec<Path>) {
        if out.len() >= most {
            return;
        }
        out.push(path.clone());
        crate::deep(|| match node {
            Node::Scalar(_) => {}
            Node::Map(map) => map.iter().for_each(|item| walk(&item.value, &path.key(key_text(&item.key)), most, out)),
            Node::Array(array) => {
                array.items.iter().enumerate().for_each(|(at, item)| walk(&item.value, &path.index(at), most, out));
            }
        });
    }
    let mut out = Vec::new();
    walk(&doc.value, &Path::document(), most, &mut out);
    out
}

/// The name of a document.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) struct DocumentName {
    kind: Option<String>,
    namespace: Option<String>,
    name: Option<String>,
}

impl DocumentName {
    pub fn of(doc: &Document) -> DocumentName {
        let text = |path: &[&str]| {
            let mut node = &doc.value;
            for key in path {
                node = &node.as_map()?.get_str(key)?.value;
            }
            match node {
                Node::Scalar(scalar) if !scalar.is_null() => Some(key_text(scalar).into_owned()),
                _ => None,
            }
        };
        DocumentName {
            kind: text(&["kind"]),
            namespace: text(&["metadata", "namespace"]),
            name: text(&["metadata", "name"]),
        }
    }

    pub fn matches(&self, pattern: &DocumentPattern, number: usize) -> bool {
        match pattern {
            DocumentPattern::Any => true,
            DocumentPattern::Number(wanted) => *wanted == number,
            DocumentPattern::Named { kind, namespace, name } => {
                let has = |pattern: &str, text: &Option<String>| match text {
                    Some(text) => glob(pattern, text),
                    None => false,
                };
                has(kind, &self.kind)
                    && has(name, &self.name)
                    && namespace.as_ref().is_none_or(|namespace| match &self.namespace {
                        Some(own) => glob(namespace, own),
                        None => namespace.is_empty(),
                    })
            }
        }
    }
}

/// The names of all documents for display: short if unambiguous.
pub(super) fn labels(docs: &[Document]) -> Vec<String> {
    let names: Vec<DocumentName> = docs.iter().map(DocumentName::of).collect();
    let mut short: HashMap<(&Option<String>, &Option<String>), usize> = HashMap::new();
    let mut long: HashMap<&DocumentName, usize> = HashMap::new();
    for name in &names {
        *short.entry((&name.kind, &name.name)).or_default() += 1;
        *long.entry(name).or_default() += 1;
    }
    let label = |(number, name): (usize, &DocumentName)| match name {
        DocumentName { kind: Some(kind), name: Some(own), .. } if short[&(&name.kind, &name.name)] == 1 => {
            format!("{kind}/{own}")
        }
        DocumentName { kind: Some(kind), namespace: Some(namespace), name: Some(own) } if long[name] == 1 => {
            format!("{kind}/{namespace}/{own}")
        }
        _ => format!("#{}", number + 1),
    };
    names.iter().enumerate().map(label).collect()
}

/// Example: `Deployment/web:spec.replicas`; the document itself without a path.
pub(super) fn shown(label: &str, path: &Path) -> String {
    if path.is_document() { label.to_owned() } else { format!("{label}:{path}") }
}

/// A node that differs between two renders: in a document of the first one, or of the second if
/// only that has it.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) struct Changed {
    pub document: ComparedDocument,
    pub path: Path,
}

/// Which render has a document.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) enum ComparedDocument {
    Before(usize),
    After(usize),
}

/// The differences between two renders. Documents are matched by name; renamed ones by their
/// positions in templates.
pub(super) fn differences(before: &[Document], after: &[Document]) -> Vec<Changed> {
    let mut partner: Vec<Option<usize>> = vec![None; before.len()];
    let mut taken = vec![false; after.len()];
    let names: Vec<DocumentName> = after.iter().map(DocumentName::of).collect();
    let mut by_name: HashMap<&DocumentName, Vec<usize>> = HashMap::new();
    for (at, name) in names.iter().enumerate() {
        by_name.entry(name).or_default().push(at);
    }
    // Documents without names, and those with duplicate names, are paired in order.
    let mut used: HashMap<DocumentName, usize> = HashMap::new();
    for (at, doc) in before.iter().enumerate() {
        let name = DocumentName::of(doc);
        let turn = used.entry(name.clone()).or_default();
        if let Some(other) = by_name.get(&name).and_then(|list| list.get(*turn)) {
            (partner[at], taken[*other]) = (Some(*other), true);
        }
        *turn += 1;
    }
    let place = |doc: &Document| match &doc.value {
        Node::Map(map) => map.items().first().map_or(doc.pos, |item| item.pos),
        _ => doc.pos,
    };
    for (at, doc) in before.iter().enumerate().filter(|(at, _)| partner[*at].is_none()).collect::<Vec<_>>() {
        let free = (0..after.len()).find(|other| !taken[*other] && place(&after[*other]) == place(doc));
        if let Some(other) = free.filter(|_| place(doc).is_known()) {
            (partner[at], taken[other]) = (Some(other), true);
        }
    }
    let mut found = Vec::new();
    for (at, doc) in before.iter().enumerate() {
        let document = ComparedDocument::Before(at);
        match partner[at] {
            None => found.push(Changed { document, path: Path::document() }),
            Some(other) => compare(&doc.value, &after[other].value, &Path::document(), &mut |path| {
                found.push(Changed { document, path });
            }),
        }
    }
    let added = (0..after.len()).filter(|other| !taken[*other]);
    found.extend(added.map(|other| Changed { document: ComparedDocument::After(other), path: Path::document() }));
    found
}

fn compare(before: &Node, after: &Node, path: &Path, found: &mut dyn FnMut(Path)) {
    match (before, after) {
        (Node::Map(before), Node::Map(after)) if !before.is_empty() && !after.is_empty() => {
            for item in before.iter() {
                let path = path.key(key_text(&item.key));
                match after.get(&item.key) {
                    Some(other) => crate::deep(|| compare(&item.value, &other.value, &path, found)),
                    None => found(path),
                }
            }
            for item in after.iter().filter(|item| before.get(&item.key).is_none()) {
                found(path.key(key_text(&item.key)));
            }
        }
        (Node::Array(before), Node::Array(after)) if !before.items.is_empty() && !after.items.is_empty() => {
            for at in 0..before.items.len().max(after.items.len()) {
                match (before.items.get(at), after.items.get(at)) {
                    (Some(one), Some(other)) => {
                        crate::deep(|| compare(&one.value, &other.value, &path.index(at), found));
                    }
                    _ => found(path.index(at)),
                }
            }
        }
        (before, after) if before.same(after) => {}
        _ => found(path.clone()),
    }
}
