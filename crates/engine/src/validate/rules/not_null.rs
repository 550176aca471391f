//! `not_null`: null is not valid. It runs before all other rules, which run only if it holds.

use std::rc::Rc;

use ytterby_starlark::Value;

use super::{ExportTarget, Keyword, MadeRule, NamedRule, NodeType, RuleViolation, Subject};
use crate::node::Node;

#[derive(Debug)]
struct NotNull;

pub(super) fn make(value: &Value, subject: Subject<'_>) -> MadeRule {
    Ok(if subject.flag(value)? { Some(Rc::new(NotNull)) } else { None })
}

impl NamedRule for NotNull {
    fn must_be(&self) -> String {
        "not null".to_owned()
    }

    fn accepts(&self, value: &Node) -> bool {
        !value.is_null()
    }

    fn found(&self, _value: &Node) -> RuleViolation {
        RuleViolation::Failure("value is null".to_owned())
    }

    fn export(&self, _target: ExportTarget, _shape: &NodeType) -> Vec<Keyword> {
        vec![Keyword::NotNull]
    }

    fn is_about_null(&self) -> bool {
        true
    }
}
