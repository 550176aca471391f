//! The actions of an overlay's items on matching items, and the arguments of their annotations.

use ytterby_diag::{Failure, Id};
use ytterby_starlark::Value;

use super::expects::unknown_argument;
use crate::annotation::Ann;
use crate::args::{boolean, go_type};
use crate::node::Annotated;

/// The action on matching items.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Action {
    Merge,
    Remove,
    Replace,
    Insert,
    Append,
    Assert,
    /// Does not change the value; only annotations may change.
    Noop,
}

impl Action {
    /// The action of an item's annotations; without one, that of its policy.
    pub fn of(item: &impl Annotated) -> Result<Action, Failure> {
        let mut named = item.annotations().iter().filter_map(|annotation| Action::named(annotation.ann?));
        let action = named.next().unwrap_or(if item.policy().replaces { Action::Replace } else { Action::Merge });
        match named.next() {
            Some(_) => Err(Failure::new(Id::ANNOTATION_ARGUMENT, "Expected to find only one overlay operation")),
            None => Ok(action),
        }
    }

    fn named(ann: Ann) -> Option<Action> {
        Some(match ann {
            Ann::OverlayMerge => Action::Merge,
            Ann::OverlayRemove => Action::Remove,
            Ann::OverlayReplace => Action::Replace,
            Ann::OverlayInsert => Action::Insert,
            Ann::OverlayAppend => Action::Append,
            Ann::OverlayAssert => Action::Assert,
            Ann::OverlayNoop => Action::Noop,
            _ => return None,
        })
    }
}

/// Arguments of `@overlay/replace`.
#[derive(Default)]
pub(super) struct Replacement<'r> {
    pub via: Option<&'r Value>,
    pub or_add: bool,
}

impl<'r> Replacement<'r> {
    pub fn of(item: &'r impl Annotated) -> Result<Replacement<'r>, Failure> {
        let Some(annotation) = item.annotation(Ann::OverlayReplace) else {
            return Ok(Replacement { via: None, or_add: item.policy().adds });
        };
        let mut result = Replacement::default();
        for (name, value) in &annotation.kwargs {
            match name.as_bytes() {
                b"via" => result.via = Some(function(Ann::OverlayReplace, value)?),
                b"or_add" => result.or_add = boolean(value)?,
                _ => return Err(unknown_argument(annotation, name)),
            }
        }
        Ok(result)
    }
}

/// Arguments of `@overlay/insert`.
#[derive(Default)]
pub(super) struct Insertion<'r> {
    pub before: bool,
    pub after: bool,
    pub via: Option<&'r Value>,
}

impl<'r> Insertion<'r> {
    pub fn of(item: &'r impl Annotated) -> Result<Insertion<'r>, Failure> {
        let mut result = Insertion::default();
        let annotation = item.annotation(Ann::OverlayInsert).filter(|annotation| !annotation.kwargs.is_empty());
        let Some(annotation) = annotation else {
            return Err(Failure::new(
                Id::ANNOTATION_ARGUMENT,
                "Expected 'overlay/insert' annotation to have at least one keyword argument (before=..., after=...)",
            ));
        };
        for (name, value) in &annotation.kwargs {
            match name.as_bytes() {
                b"before" => result.before = boolean(value)?,
                b"after" => result.after = boolean(value)?,
                b"via" => result.via = Some(function(Ann::OverlayInsert, value)?),
                _ => return Err(unknown_argument(annotation, name)),
            }
        }
        Ok(result)
    }
}

/// The function of `@overlay/assert via=`; it is checked when it is called.
pub(super) fn assertion(item: &impl Annotated) -> Result<Option<&Value>, Failure> {
    let mut via = None;
    let Some(annotation) = item.annotation(Ann::OverlayAssert) else { return Ok(None) };
    for (name, value) in &annotation.kwargs {
        match name.as_bytes() {
            b"via" => via = Some(value),
            _ => return Err(unknown_argument(annotation, name)),
        }
    }
    Ok(via)
}

/// The value of an argument that must be a function.
pub(super) fn function(ann: Ann, value: &Value) -> Result<&Value, Failure> {
    if value.is_callable() {
        return Ok(value);
    }
    let (name, found) = (ann.name(), go_type(value));
    let text = format!("Expected '{name}' annotation keyword argument 'via' to be function, but was {found}");
    Err(Failure::new(Id::ANNOTATION_ARGUMENT, text))
}
