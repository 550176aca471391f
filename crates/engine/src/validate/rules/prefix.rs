//! `starts_with`, also `prefix`, and `ends_with`.

use std::rc::Rc;

use ytterby_starlark::Value;
use ytterby_text::{Str, quote};

use super::{ExportTarget, Keyword, MadeRule, NamedRule, NodeType, RuleViolation, Subject, Want, text_of, wrong_type};
use crate::node::Node;
use ytterby_regexp as regexp;

#[derive(Debug)]
struct Affix {
    side: TextEnd,
    text: Str,
}

#[derive(Clone, Copy, PartialEq, Debug)]
enum TextEnd {
    Start,
    End,
}

pub(super) fn starts_with(value: &Value, subject: Subject<'_>) -> MadeRule {
    Ok(Some(Rc::new(Affix { side: TextEnd::Start, text: subject.string(value)?.clone() })))
}

pub(super) fn ends_with(value: &Value, subject: Subject<'_>) -> MadeRule {
    Ok(Some(Rc::new(Affix { side: TextEnd::End, text: subject.string(value)?.clone() })))
}

impl NamedRule for Affix {
    fn must_be(&self) -> String {
        let verb = if self.side == TextEnd::Start { "starting" } else { "ending" };
        format!("string {verb} with {}", quote::quote(&self.text).to_str())
    }

    fn accepts(&self, value: &Node) -> bool {
        text_of(value).is_some_and(|text| match self.side {
            TextEnd::Start => text.as_bytes().starts_with(self.text.as_bytes()),
            TextEnd::End => text.as_bytes().ends_with(self.text.as_bytes()),
        })
    }

    fn suits(&self, value: &Node) -> bool {
        text_of(value).is_some()
    }

    fn wants(&self) -> Option<Want<'_>> {
        Some(match self.side {
            TextEnd::Start => Want::Prefix(&self.text),
            TextEnd::End => Want::Suffix(&self.text),
        })
    }

    fn found(&self, value: &Node) -> RuleViolation {
        let verb = if self.side == TextEnd::Start { "start" } else { "end" };
        RuleViolation::Failure(match text_of(value) {
            Some(_) => format!("does not {verb} with {}", quote::quote(&self.text).to_str()),
            None => wrong_type("string", value),
        })
    }

    fn export(&self, _target: ExportTarget, shape: &NodeType) -> Vec<Keyword> {
        if !shape.may_be_text() {
            return Vec::new();
        }
        let text = self.text.to_str();
        let escaped = regexp::escape(&text);
        vec![Keyword::Pattern(match self.side {
            TextEnd::Start => format!("^{escaped}"),
            TextEnd::End => format!("{escaped}$"),
        })]
    }
}
