//! Changes the annotations of an item when an overlay's item is merged into it:
//! `@overlay/replace-anns`, `@overlay/merge-anns`, `@overlay/remove-anns`, and the default without
//! them.

use ytterby_diag::{Failure, Id, Pos};
use ytterby_starlark::Value;
use ytterby_text::Str;

use super::Purpose;
use super::action::function;
use super::expects::unknown_argument;
use super::merge::Merge;
use crate::annotation::{self, Ann, Annotation, Level};
use crate::node::Annotated;
use crate::run::Run;
use crate::validate::annotations::is_same_rule;

/// The directives of an item, in the order in which they run.
#[derive(Default)]
pub(super) struct Edits<'r> {
    remove: Option<Selection<'r>>,
    replace: Option<Selection<'r>>,
    merge: Option<Selection<'r>>,
}

/// The annotations that a directive selects.
struct Selection<'r> {
    /// Their names; `None` selects all.
    names: Option<Vec<AnnotationName>>,
    via: Option<&'r Value>,
}

/// A name of an annotation; aliases are the same name.
#[derive(PartialEq)]
enum AnnotationName {
    Known(Ann),
    Other(Str),
}

impl<'r> Edits<'r> {
    /// The directives on an item of an overlay.
    pub fn of(run: &Run, item: &'r impl Annotated) -> Result<Edits<'r>, Failure> {
        let mut edits = Edits::default();
        for annotation in item.annotations() {
            let place = match annotation.ann {
                Some(Ann::OverlayRemoveAnns) => &mut edits.remove,
                Some(Ann::OverlayReplaceAnns) => &mut edits.replace,
                Some(Ann::OverlayMergeAnns) => &mut edits.merge,
                _ => continue,
            };
            let selection = Selection::of(annotation)?;
            selection.warn(run, annotation.pos);
            *place = Some(selection);
        }
        Ok(edits)
    }

    fn is_empty(&self) -> bool {
        self.remove.is_none() && self.replace.is_none() && self.merge.is_none()
    }
}

impl<'r> Selection<'r> {
    fn of(annotation: &'r Annotation) -> Result<Selection<'r>, Failure> {
        let ann = annotation.ann.expect("directives are known annotations");
        let mut via = None;
        for (name, value) in &annotation.kwargs {
            match name.as_bytes() {
                b"via" => via = Some(function(ann, value)?),
                _ => return Err(unknown_argument(annotation, name)),
            }
        }
        let names = annotation.args.iter().map(|arg| match arg {
            Value::Str(name) => Ok(AnnotationName::of(name)),
            _ => {
                let text = format!("Expected '@{}' annotation arguments to be strings", ann.name());
                Err(Failure::new(Id::ANNOTATION_ARGUMENT, text))
            }
        });
        let names = names.collect::<Result<Vec<_>, _>>()?;
        Ok(Selection { names: (!names.is_empty()).then_some(names), via })
    }

    /// Names of unknown annotations select nothing, so they cause the same warning as on a node.
    fn warn(&self, run: &Run, pos: Pos) {
        for name in self.names.iter().flatten() {
            if let AnnotationName::Other(name) = name
                && let Some(name) = name.as_str()
                && annotation::split_own(name).is_some()
                && !name.contains(char::is_control)
            {
                run.warn_of_annotation(Id::ANNOTATION_UNKNOWN, pos, annotation::unknown(name));
            }
        }
    }

    fn selects(&self, merge: &mut Merge<'_>, annotation: &Annotation) -> Result<bool, Failure> {
        let named = match &self.names {
            Some(names) => names.contains(&AnnotationName::of(&annotation.name)),
            None => !annotation.name.starts_with(b"overlay/"),
        };
        let Some(via) = self.via.filter(|_| named) else { return Ok(named) };
        let kwargs = annotation.kwargs.iter().map(|(name, value)| (Value::Str(name.clone()), value.clone()));
        let args = [
            Value::from(annotation.canonical_name().into_owned()),
            Value::tuple(annotation.args.clone()),
            Value::dict(kwargs)?,
        ];
        match merge.eval.call(via, &args, &[])? {
            Value::Bool(answer) => Ok(answer),
            _ => Err(Failure::new(Id::ANNOTATION_ARGUMENT, "Expected via invocation to return bool")),
        }
    }

    fn select(&self, merge: &mut Merge<'_>, item: &impl Annotated) -> Result<Vec<Annotation>, Failure> {
        let mut selected = Vec::new();
        for annotation in item.annotations() {
            if self.selects(merge, annotation)? {
                selected.push(annotation.clone());
            }
        }
        Ok(selected)
    }

    /// Removes the selected annotations from an item.
    fn remove(&self, merge: &mut Merge<'_>, item: &mut impl Annotated) -> Result<(), Failure> {
        let mut kept = Vec::new();
        for annotation in item.annotations() {
            if !self.selects(merge, annotation)? {
                kept.push(annotation.clone());
            }
        }
        if kept.len() < item.annotations().len() {
            item.meta_mut().annotations = kept;
        }
        Ok(())
    }
}

impl AnnotationName {
    fn of(name: &Str) -> AnnotationName {
        let name = name.strip_prefix(b"@").unwrap_or(name);
        match Ann::from_name(name, Level::Ytterby) {
            Some(ann) => AnnotationName::Known(ann),
            None => AnnotationName::Other(Str::from(name)),
        }
    }
}

/// Changes the annotations of an item after an overlay's item was merged into it.
pub(super) fn merge_annotations<I: Annotated>(
    merge: &mut Merge<'_>,
    left: &mut I,
    right: &I,
    edits: &Edits<'_>,
) -> Result<(), Failure> {
    if right.annotations().is_empty() {
        return Ok(());
    }
    if edits.is_empty() {
        keep_or_add(merge, left, right);
        return Ok(());
    }
    // Annotations that `remove-anns` added are not merged with themselves.
    let mut added: Vec<Annotation> = Vec::new();
    if let Some(selection) = &edits.remove {
        selection.remove(merge, left)?;
        let is_new = |annotation: &&Annotation| {
            !annotation.name.starts_with(b"overlay/")
                && !left.annotations().iter().any(|other| other.same_name(annotation))
        };
        added = right.annotations().iter().filter(is_new).cloned().collect();
        if !added.is_empty() {
            left.meta_mut().annotations.extend(added.iter().cloned());
        }
    }
    if let Some(selection) = &edits.replace {
        replace(left, selection.select(merge, right)?);
    }
    if let Some(selection) = &edits.merge {
        for annotation in selection.select(merge, right)? {
            if !added.iter().any(|other| other.same_name(&annotation)) {
                merge_annotation(left, annotation);
            }
        }
    }
    Ok(())
}

/// Without directives the left keeps its annotations. `@assert/validate` is added to existing ones.
fn keep_or_add<I: Annotated>(merge: &Merge<'_>, left: &mut I, right: &I) {
    if !merge.run.is_beyond_ytt() {
        return;
    }
    match merge.purpose {
        Purpose::Schema => {
            // A distributed annotation was not written on this node.
            let is_said = |ann: Ann| ann.is_in("schema") && ann != Ann::SchemaValidationDefaultsForStrings;
            let ignored = right.annotations().iter().filter(|annotation| annotation.ann.is_some_and(is_said));
            for annotation in ignored {
                let name = annotation.canonical_name();
                let text = format!(
                    "@{name} is ignored: the existing node keeps its annotations; use @overlay/merge-anns or \
                     @overlay/replace-anns"
                );
                merge.run.warn_of_annotation(Id::ANNOTATION_MISPLACED, annotation.pos, text);
            }
        }
        Purpose::Values | Purpose::Templates | Purpose::Call => {
            let rules = right.annotations().iter().filter(|annotation| annotation.ann == Some(Ann::AssertValidate));
            let rules: Vec<Annotation> = rules.cloned().collect();
            if !rules.is_empty() {
                left.meta_mut().annotations.extend(rules);
            }
        }
    }
}

/// Replaces all annotations with the same names.
fn replace(left: &mut impl Annotated, mut selected: Vec<Annotation>) {
    while let Some(first) = selected.first().cloned() {
        let (same, rest): (Vec<_>, Vec<_>) = selected.into_iter().partition(|other| other.same_name(&first));
        let annotations = &mut left.meta_mut().annotations;
        let place = annotations.iter().position(|old| old.same_name(&first)).unwrap_or(annotations.len());
        annotations.retain(|old| !old.same_name(&first));
        annotations.splice(place..place, same);
        selected = rest;
    }
}

/// Adds the arguments of an annotation to the left's annotations with that name. There may be
/// several, each with its own rules: keywords are replaced in place, other arguments are added to
/// the last one.
fn merge_annotation(left: &mut impl Annotated, mut right: Annotation) {
    match right.ann {
        Some(ann) if ann.has_one_argument() => return replace(left, vec![right]),
        // It declares the kind of document, in one of several forms with the same meaning.
        Some(Ann::DataValuesSchema) => return,
        _ => {}
    }
    let annotations = &mut left.meta_mut().annotations;
    for own in annotations.iter_mut() {
        if own.same_name(&right) {
            own.absorb_own_keywords(&mut right, is_same_rule);
        }
    }
    match annotations.iter_mut().rev().find(|annotation| annotation.same_name(&right)) {
        Some(last) => last.absorb(right, is_same_rule),
        None => annotations.push(right),
    }
}
