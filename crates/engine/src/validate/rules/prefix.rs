//! `starts_with`, also `prefix`, and `ends_with`.

use std::rc::Rc;

use ytterby_starlark::Value;
use ytterby_text::{Str, quote};

use super::{Found, Keyword, Made, NamedRule, Shape, Subject, Target, Want, text_of, wrong_type};
use crate::node::Node;
use ytterby_regexp as regexp;

#[derive(Debug)]
struct Affix {
    side: Side,
    text: Str,
}

#[derive(Clone, Copy, PartialEq, Debug)]
enum Side {
    Start,
    End,
}

pub(super) fn starts_with(value: &Value, subject: Subject<'_>) -> Made {
    Ok(Some(Rc::new(Affix { side: Side::Start, text: subject.string(value)?.clone() })))
}

pub(super) fn ends_with(value: &Value, subject: Subject<'_>) -> Made {
    Ok(Some(Rc::new(Affix { side: Side::End, text: subject.string(value)?.clone() })))
}

impl NamedRule for Affix {
    fn must_be(&self) -> String {
        let verb = if self.side == Side::Start { "starting" } else { "ending" };
        format!("string {verb} with {}", quote::quote(&self.text).to_str())
    }

    fn accepts(&self, value: &Node) -> bool {
        text_of(value).is_some_and(|text| match self.side {
            Side::Start => text.as_bytes().starts_with(self.text.as_bytes()),
            Side::End => text.as_bytes().ends_with(self.text.as_bytes()),
        })
    }

    fn suits(&self, value: &Node) -> bool {
        text_of(value).is_some()
    }

    fn wants(&self) -> Option<Want<'_>> {
        Some(match self.side {
            Side::Start => Want::Prefix(&self.text),
            Side::End => Want::Suffix(&self.text),
        })
    }

    fn found(&self, value: &Node) -> Found {
        let verb = if self.side == Side::Start { "start" } else { "end" };
        Found::Failure(match text_of(value) {
            Some(_) => format!("does not {verb} with {}", quote::quote(&self.text).to_str()),
            None => wrong_type("string", value),
        })
    }

    fn export(&self, _target: Target, shape: &Shape) -> Vec<Keyword> {
        if !shape.may_be_text() {
            return Vec::new();
        }
        let text = self.text.to_str();
        let escaped = regexp::escape(&text);
        vec![Keyword::Pattern(match self.side {
            Side::Start => format!("^{escaped}"),
            Side::End => format!("{escaped}$"),
        })]
    }
}
