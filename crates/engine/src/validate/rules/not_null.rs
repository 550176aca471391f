//! `not_null`: null is not valid. It runs before all other rules, which run only if it holds.

use std::rc::Rc;

use ytterby_starlark::Value;

use super::{Found, Keyword, Made, NamedRule, Shape, Subject, Target};
use crate::node::Node;

#[derive(Debug)]
struct NotNull;

pub(super) fn make(value: &Value, subject: Subject<'_>) -> Made {
    Ok(if subject.flag(value)? { Some(Rc::new(NotNull)) } else { None })
}

impl NamedRule for NotNull {
    fn must_be(&self) -> String {
        "not null".to_owned()
    }

    fn accepts(&self, value: &Node) -> bool {
        !value.is_null()
    }

    fn found(&self, _value: &Node) -> Found {
        Found::Failure("value is null".to_owned())
    }

    fn export(&self, _target: Target, _shape: &Shape) -> Vec<Keyword> {
        vec![Keyword::NotNull]
    }

    fn is_about_null(&self) -> bool {
        true
    }
}
