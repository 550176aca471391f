//! `matches`, also `regexp` and `pattern`: a string in which a regular expression matches
//! somewhere.

use std::rc::Rc;

use ytterby_starlark::Value;
use ytterby_text::{Str, quote};

use super::{ExportTarget, Keyword, MadeRule, NamedRule, NodeType, RuleViolation, Subject, Want, text_of, wrong_type};
use crate::node::Node;
use ytterby_regexp::{Regexp, is_ecma};

#[derive(Debug)]
struct Matches {
    pattern: Str,
    regexp: Rc<Regexp>,
}

pub(super) fn make(value: &Value, subject: Subject<'_>) -> MadeRule {
    let pattern = subject.string(value)?.clone();
    match Regexp::shared(&pattern) {
        Ok(regexp) => Ok(Some(Rc::new(Matches { pattern, regexp }))),
        Err(problem) => {
            let quoted = quote::quote(&pattern);
            let what = format!("to be a valid regular expression, but was {}", quoted.to_str());
            Err(subject.bad(&what).hint(problem))
        }
    }
}

impl NamedRule for Matches {
    fn must_be(&self) -> String {
        format!("string matching {}", quote::quote(&self.pattern).to_str())
    }

    fn accepts(&self, value: &Node) -> bool {
        text_of(value).is_some_and(|text| self.regexp.is_match(text))
    }

    fn suits(&self, value: &Node) -> bool {
        text_of(value).is_some()
    }

    /// A pattern that matches the empty text, without conditions on the text around, matches every
    /// text.
    fn accepts_all(&self) -> bool {
        let pattern = self.pattern.to_str();
        let inner = pattern.strip_prefix('^').or_else(|| pattern.strip_suffix('$')).unwrap_or(&pattern);
        !inner.contains(['^', '$', '\\']) && self.regexp.is_match(&Str::EMPTY)
    }

    fn argument(&self) -> Option<Node> {
        Some(Node::str(self.pattern.clone()))
    }

    fn wants(&self) -> Option<Want<'_>> {
        Some(Want::Pattern(&self.regexp))
    }

    fn found(&self, value: &Node) -> RuleViolation {
        RuleViolation::Failure(match text_of(value) {
            Some(_) => format!("does not match {}", quote::quote(&self.pattern).to_str()),
            None => wrong_type("string", value),
        })
    }

    fn export(&self, target: ExportTarget, shape: &NodeType) -> Vec<Keyword> {
        let pattern = self.pattern.to_str();
        if (target != ExportTarget::Crd && !is_ecma(&pattern)) || !shape.may_be_text() {
            return Vec::new();
        }
        vec![Keyword::Pattern(pattern.into_owned())]
    }
}
