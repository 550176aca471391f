//! What the API server checks in code.

use crate::catalog::Catalog;
use crate::document::Node;
use crate::facts::KnownKind;
use crate::meta::NameRule;
use crate::names;
use crate::report::{At, Report};

pub(crate) fn name_rule(known: &KnownKind) -> NameRule {
    match known.kind {
        _ if known.group.starts_with("auth") => NameRule::None,
        _ => NameRule::Form(names::dns_subdomain),
    }
}

pub(crate) fn check(_root: &Node, _known: &KnownKind, _catalog: &Catalog, _at: &At<'_>, _report: &mut Report) {}
