//! `format`: a string of a named format.

use std::rc::Rc;

use ytterby_diag::Help;
use ytterby_starlark::Value;

use super::{BadArgument, ExportTarget, Keyword, MadeRule, NamedRule, NodeType, RuleViolation, Subject, Want};
use crate::node::{Array, ArrayItem, Map, Node, Origin, Scalar};
use crate::validate::formats::{self, Format};

struct OfFormat {
    format: &'static Format,
    /// The name as written, which may be an alias.
    written: String,
}

impl std::fmt::Debug for OfFormat {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("OfFormat").field(&self.written).finish()
    }
}

pub(super) fn make(value: &Value, subject: Subject<'_>) -> MadeRule {
    let name = subject.string(value)?;
    let Some(format) = formats::find(&name.to_str()) else {
        let problem = BadArgument::new(formats::unknown(name));
        let written = name.to_str();
        return Err(match formats::meant(&written) {
            Some(meant) => problem.hint(Help::rename_string(&written, meant)),
            None => problem.hint(format!("formats are {}", formats::listed())),
        });
    };
    Ok(Some(Rc::new(OfFormat { format, written: format.name.to_owned() })))
}

impl NamedRule for OfFormat {
    fn must_be(&self) -> String {
        format!("format \"{}\"", self.written)
    }

    fn accepts(&self, value: &Node) -> bool {
        self.format.accepts(value)
    }

    fn suits(&self, value: &Node) -> bool {
        match value {
            Node::Scalar(Scalar::Str(_)) => true,
            // Some formats accept numbers.
            Node::Scalar(Scalar::Int(_) | Scalar::UInt(_)) => self.format.accepts(&Node::Scalar(Scalar::Int(1))),
            Node::Scalar(_) => self.format.accepts(value),
            Node::Array(_) | Node::Map(_) => false,
        }
    }

    fn wants(&self) -> Option<Want<'_>> {
        Some(Want::Format(self.format))
    }

    fn found(&self, _value: &Node) -> RuleViolation {
        RuleViolation::Failure(format!("not a valid {}", self.format.name))
    }

    fn hint(&self) -> Option<String> {
        Some(self.format.hint())
    }

    fn export(&self, target: ExportTarget, shape: &NodeType) -> Vec<Keyword> {
        let export = &self.format.export;
        let mut keywords = Vec::new();
        let fits = shape.may_be_text() || (shape.may_be_number() && self.format.takes_numbers());
        if !fits {
            return keywords;
        }
        let name = match target {
            ExportTarget::OpenApi => export.open_api,
            ExportTarget::JsonSchema => export.json_schema,
            ExportTarget::Crd => export.crd,
        };
        keywords.extend(name.map(|name| Keyword::Plain("format", Node::str(name))));
        if !export.any_of.is_empty() && target != ExportTarget::OpenApi {
            let items = export.any_of.iter().map(|name| {
                let mut schema = Map::new();
                schema.push_new("format", Node::str(*name));
                ArrayItem::new(Node::map(schema), ytterby_diag::Pos::UNKNOWN)
            });
            let any_of = Array { items: items.collect(), origin: Origin::Code };
            keywords.push(Keyword::Plain("anyOf", Node::array(any_of)));
        }
        if let (Some((low, high)), true) = (export.range, shape.may_be_number()) {
            keywords.push(Keyword::Plain("minimum", Node::Scalar(Scalar::Int(low))));
            keywords.push(Keyword::Plain("maximum", Node::Scalar(Scalar::Int(high))));
        }
        if let (Some(pattern), true) = (export.pattern, shape.may_be_text()) {
            keywords.push(Keyword::Pattern(pattern.to_owned()));
        }
        let shows_x = match target {
            ExportTarget::OpenApi => true,
            ExportTarget::JsonSchema => export.x_in_json_schema,
            ExportTarget::Crd => false,
        };
        if let (Some(name), true) = (export.x_format, shows_x) {
            keywords.push(Keyword::Plain("x-ytt-format", Node::str(name)));
        }
        keywords
    }
}
