//! Finds which data values affect what: varies each within the schema, renders again, and compares
//! the output.
//!
//! A data value that no code reads cannot change anything, so only those that were read are tried.
//! The values are those of `gen`: bounds, members of enums, null; preceded by constants that code
//! compares with.

use std::collections::HashSet;
use std::rc::Rc;

use ytterby_diag::{Path, Pos, Step};
use ytterby_starlark::Eval;
use ytterby_text::Str;

use super::constants::Constants;
use super::nodes::{self, Changed, ComparedDocument};
use super::session::Session;
use crate::generate;
use crate::library::RanLibrary;
use crate::node::{Document, Map, Node, Reads, Scalar, key_text};
use crate::record::LibraryCall;
use crate::schema::{ArrayType, Presence, ScalarType, Slot, Type};

/// Maximum variations of one data value.
const VARIATIONS: usize = 8;

/// With more data values than this, each gets fewer variations: an answer should take a second or
/// two.
const MANY: usize = 60;
const VARIATIONS_OF_MANY: usize = 4;

/// No limit of renders.
pub(super) const ALL: usize = usize::MAX;

/// The result of varying one data value.
pub(super) struct Effect {
    pub path: Path,
    /// The library of the data value; `None` for the root.
    pub library: Option<Rc<str>>,
    /// The nodes that changed; those that only other renders have, by their names there.
    pub changed: Vec<Changed>,
    /// Names of documents that only other renders have, and of text files that changed.
    pub added: Vec<String>,
    /// Whether another legal value could be rendered.
    pub is_varied: bool,
}

/// The render to compare with.
pub(super) struct Rendering<'d> {
    pub documents: &'d [Document],
    pub texts: &'d [(String, Str)],
}

impl Effect {
    /// The data value as flags name it: `db.port`, `@app:db.port`.
    pub fn name(&self) -> String {
        name_of(self.library.as_deref(), &self.path)
    }
}

/// A data value as flags name it: `db.port`, `@app:db.port`.
pub(super) fn name_of(library: Option<&str>, path: &Path) -> String {
    match library {
        Some(library) => format!("@{library}:{path}"),
        None => path.to_string(),
    }
}

/// A data value that can be varied.
pub(super) struct VariableValue {
    pub path: Path,
    pub library: Option<Rc<str>>,
    slot: Slot,
    /// Its current value; `None` if it is optional and not given.
    current: Option<Node>,
    is_read: bool,
}

/// All data values: leaves of the schema; lists, and maps with free keys or shapes, as a whole.
pub(super) fn candidates(session: &Session, reads: Option<&Reads>) -> Vec<VariableValue> {
    let inferred;
    let slot = match &session.schema {
        Some(schema) => &schema.root,
        None => {
            inferred = inferred_slot(&session.values.value);
            &inferred
        }
    };
    let mut found = Vec::new();
    collect(&session.values.value, slot, &Path::document(), true, reads, &mut found);
    found
}

/// Those of the libraries that a render ran; of several runs of one library, those of the first.
pub(super) fn candidates_of_libraries(calls: &[LibraryCall], reads: Option<&Reads>) -> Vec<VariableValue> {
    let mut found: Vec<VariableValue> = Vec::new();
    let mut seen = HashSet::new();
    for call in calls {
        let Some(ran) = call.details.downcast_ref::<RanLibrary>() else { continue };
        let mut own = Vec::new();
        let inferred;
        let values = &ran.prepared.values.doc.value;
        let slot = match &ran.prepared.schema {
            Some(schema) => &schema.root,
            None => {
                inferred = inferred_slot(values);
                &inferred
            }
        };
        collect(values, slot, &Path::document(), true, reads, &mut own);
        let name: Rc<str> = call.name.as_str().into();
        for candidate in own {
            match seen.insert((name.clone(), candidate.path.clone())) {
                true => found.push(VariableValue { library: Some(name.clone()), ..candidate }),
                false => {
                    let known = found
                        .iter_mut()
                        .find(|known| known.library.as_ref() == Some(&name) && known.path == candidate.path);
                    if let Some(known) = known {
                        known.is_read |= candidate.is_read;
                    }
                }
            }
        }
    }
    found
}

fn collect(
    value: &Node,
    slot: &Slot,
    path: &Path,
    is_read: bool,
    reads: Option<&Reads>,
    found: &mut Vec<VariableValue>,
) {
    let add = |found: &mut Vec<VariableValue>| {
        if !path.is_document() {
            let (path, slot, current) = (path.clone(), slot.clone(), Some(value.clone()));
            found.push(VariableValue { path, library: None, slot, current, is_read });
        }
    };
    let (Node::Map(map), Some(ty)) = (value, slot.as_map()) else { return add(found) };
    if !matches!(slot.ty, Type::Map(_)) || slot.nullable || !ty.patterns.is_empty() {
        add(found);
    }
    for item in &ty.items {
        let below = path.key(key_text(&item.key));
        match map.find(&item.key) {
            Some(at) => {
                let is_read = is_read && reads.is_none_or(|reads| reads.has(map, at));
                crate::deep(|| collect(&map.items()[at].value, &item.slot, &below, is_read, reads, found));
            }
            None if matches!(item.presence, Presence::Optional(_)) => {
                found.push(VariableValue {
                    path: below,
                    library: None,
                    slot: item.slot.clone(),
                    current: None,
                    is_read,
                });
            }
            None => {}
        }
    }
    for (at, given) in map.iter().enumerate().filter(|(_, given)| ty.literal(&given.key).is_none()) {
        let below = path.key(key_text(&given.key));
        let slot = inferred_slot(&given.value);
        let is_read = is_read && reads.is_none_or(|reads| reads.has(map, at));
        crate::deep(|| collect(&given.value, &slot, &below, is_read, reads, found));
    }
}

/// Varies the candidates, with at most this many renders. `until` may end the variations of a
/// candidate early.
pub(super) fn run<'c>(
    session: &Session,
    eval: &mut Eval,
    base: &Rendering<'_>,
    candidates: impl IntoIterator<Item = &'c VariableValue>,
    renders: usize,
    until: &dyn Fn(&[Changed]) -> bool,
) -> Vec<Effect> {
    let candidates: Vec<&VariableValue> = candidates.into_iter().collect();
    let constants = &session.code().constants;
    let mut left = renders;
    let most = if candidates.iter().filter(|one| one.is_read).count() > MANY { VARIATIONS_OF_MANY } else { VARIATIONS };
    let mut effects = Vec::new();
    for candidate in candidates {
        let mut effect = Effect {
            path: candidate.path.clone(),
            library: candidate.library.clone(),
            changed: Vec::new(),
            added: Vec::new(),
            is_varied: !candidate.is_read,
        };
        if candidate.is_read {
            // Values tried for a secret are not secret.
            let secrets = session.run.secrets.take();
            let most = most.min(left);
            left -= vary(session, eval, base, candidate, constants, most, until, &mut effect);
            session.run.secrets.replace(secrets);
        }
        effects.push(effect);
    }
    effects
}

/// Returns the number of renders.
#[expect(clippy::too_many_arguments, reason = "each is another thing, and nothing else needs them together")]
fn vary(
    session: &Session,
    eval: &mut Eval,
    base: &Rendering<'_>,
    candidate: &VariableValue,
    constants: &Constants,
    most: usize,
    until: &dyn Fn(&[Changed]) -> bool,
    effect: &mut Effect,
) -> usize {
    let mut seen: HashSet<Changed> = HashSet::new();
    // Some of the values are the current one, or are rejected.
    let values = generate::variations(eval, &session.run, &candidate.slot, &candidate.path, most * 2 + 4);
    let key = candidate.path.steps().iter().rev().find_map(|step| match step {
        Step::Key(key) => Some(key.as_str()),
        Step::Index(_) => None,
    });
    // Values that code compares with decide more than all others, so they come first.
    let compared = constants.for_slot(&candidate.slot, key, most);
    let most = most + compared.len();
    let mut tried = 0;
    for value in compared.into_iter().chain(values) {
        if tried >= most || until(&effect.changed) {
            break;
        }
        if candidate.current.as_ref().is_some_and(|current| current.same(&value)) {
            continue;
        }
        let rendered = match &candidate.library {
            None => {
                let Some(varied) = session.varied(eval, &candidate.path, value) else { continue };
                if varied.value.same(&session.values.value) {
                    continue;
                }
                session.render(eval, &varied, false)
            }
            Some(library) => {
                let Some(below) = Session::varied_below(library, &candidate.path, value) else { continue };
                session.render_with(eval, &session.values, Some(below), false)
            }
        };
        let Ok(output) = rendered else { continue };
        tried += 1;
        effect.is_varied = true;
        let after = &output.documents;
        let mut labels = None;
        let texts = base.texts.iter().filter(|text| !output.texts.contains(text)).map(|(path, _)| path);
        let texts = texts.chain(output.texts.iter().filter(|text| !base.texts.contains(text)).map(|(path, _)| path));
        for path in texts {
            if !effect.added.contains(path) {
                effect.added.push(path.clone());
            }
        }
        for changed in nodes::differences(base.documents, after) {
            match changed.document {
                ComparedDocument::Before(_) => {
                    if seen.insert(changed.clone()) {
                        effect.changed.push(changed);
                    }
                }
                ComparedDocument::After(number) => {
                    let labels = labels.get_or_insert_with(|| nodes::labels(after));
                    if !effect.added.contains(&labels[number]) {
                        effect.added.push(labels[number].clone());
                    }
                }
            }
        }
    }
    tried
}

/// The type of a value that no schema declares.
fn inferred_slot(value: &Node) -> Slot {
    let ty = match value {
        Node::Scalar(Scalar::Null | Scalar::Complex(_)) => Type::Any,
        Node::Scalar(Scalar::Bool(_)) => Type::Scalar(ScalarType::Bool),
        Node::Scalar(Scalar::Int(_) | Scalar::UInt(_)) => Type::Scalar(ScalarType::Int),
        Node::Scalar(Scalar::Float(_)) => Type::Scalar(ScalarType::Float),
        Node::Scalar(Scalar::Str(_)) => Type::Scalar(ScalarType::String),
        Node::Array(array) => {
            let item = array.items.first().map_or_else(
                || Slot::of(Type::Any, Pos::UNKNOWN, Node::NULL),
                |item| crate::deep(|| inferred_slot(&item.value)),
            );
            Type::Array(Rc::new(ArrayType { pos: Pos::UNKNOWN, item }))
        }
        Node::Map(map) => {
            Type::Map(Rc::new(crate::schema::inferred_map(map, &mut |value| crate::deep(|| inferred_slot(value)))))
        }
    };
    Slot::of(
        ty,
        Pos::UNKNOWN,
        match value {
            Node::Map(_) => Node::map(Map::new()),
            other => other.clone(),
        },
    )
}
