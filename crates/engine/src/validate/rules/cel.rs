//! `cel`: an expression of the Common Expression Language over `self`.

use std::rc::Rc;

use ytterby_starlark::Value;
use ytterby_text::{Str, quote};

use super::{ExportTarget, Keyword, MadeRule, NamedRule, NodeType, RuleViolation, Subject};
use crate::node::Node;
use crate::validate::cel::CelProgram;

#[derive(Debug)]
struct Cel {
    expression: Str,
    program: CelProgram,
}

pub(super) fn make(value: &Value, subject: Subject<'_>) -> MadeRule {
    let expression = subject.string(value)?.clone();
    match CelProgram::compile(&expression.to_str()) {
        Ok(program) => Ok(Some(Rc::new(Cel { expression, program }))),
        Err(problem) => {
            let quoted = quote::quote(&expression);
            Err(subject.bad(&format!("to be a valid CEL expression, but was {}", quoted.to_str())).hint(problem))
        }
    }
}

impl NamedRule for Cel {
    fn must_be(&self) -> String {
        format!("CEL expression {}", quote::quote(&self.expression).to_str())
    }

    fn accepts(&self, value: &Node) -> bool {
        self.program.holds(value) == Ok(true)
    }

    fn found(&self, value: &Node) -> RuleViolation {
        RuleViolation::Failure(match self.program.holds(value) {
            Ok(_) => "CEL expression is false".to_owned(),
            Err(problem) => problem,
        })
    }

    fn export(&self, target: ExportTarget, _shape: &NodeType) -> Vec<Keyword> {
        match target {
            ExportTarget::Crd => vec![Keyword::Cel(self.expression.to_str().into_owned())],
            ExportTarget::OpenApi | ExportTarget::JsonSchema => Vec::new(),
        }
    }
}
