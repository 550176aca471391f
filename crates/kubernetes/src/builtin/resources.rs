//! Lists of resources: names, quantities, limits above requests.

use ytterby_text::Decimal;

use super::{Cx, entries, with};
use crate::document::{Node, Value};
use crate::names;
use crate::report::At;

/// The exact value of a quantity.
pub(super) fn quantity(node: &Node) -> Option<Decimal> {
    match &node.value {
        Value::Str(text) => ytterby_text::quantity(text.trim_matches(' ')),
        Value::Int(value) => Some(Decimal::from(*value)),
        Value::Float(value) => Decimal::from_f64(*value),
        _ => None,
    }
}

/// Checks that a quantity is not negative.
pub(super) fn not_negative(cx: &mut Cx<'_>, node: &Node, at: &At<'_>) {
    if quantity(node).is_some_and(|value| value.is_negative()) {
        cx.invalid(at, node, "must not be negative");
    }
}

/// Resources of containers without a domain.
const STANDARD: [&str; 3] = ["cpu", "memory", "ephemeral-storage"];

/// `limits` and `requests` of a container.
pub(super) fn requirements(cx: &mut Cx<'_>, of: &Node, at: &At<'_>) {
    for key in ["limits", "requests"] {
        with(of, at, key, |resources, at| list(cx, resources, at));
    }
    entries(of, at, "requests", |name, request, at| {
        let limit = of.given("limits").and_then(|limits| limits.given(name));
        match (quantity(request), limit.and_then(quantity)) {
            (Some(request_value), Some(limit)) => {
                if request_value > limit {
                    cx.invalid(at, request, &format!("must not be above the limit of {limit}"));
                } else if request_value != limit && !can_exceed(name) {
                    cx.invalid(
                        at,
                        request,
                        &format!("must be equal to the limit of {limit}: {name} cannot be overcommitted"),
                    );
                }
            }
            (Some(_), None) if !can_exceed(name) => {
                cx.wrong(at, "a limit must be set for resources that cannot be overcommitted");
            }
            _ => {}
        }
    });
}

/// Whether a limit may be above the request.
fn can_exceed(name: &str) -> bool {
    STANDARD.contains(&name)
        || (!name.contains('/') && !name.starts_with("hugepages-"))
        || name.starts_with("kubernetes.io/")
}

/// The name of a resource of containers.
pub(super) fn name(cx: &mut Cx<'_>, node: &Node, at: &At<'_>) {
    let text = node.as_str().unwrap_or_default();
    let is_known = STANDARD.contains(&text) || text.starts_with("hugepages-") || text.contains('/');
    if let Some(fault) = names::qualified_name(text).filter(|_| !text.is_empty()) {
        cx.invalid(at, node, fault);
    } else if !is_known && !text.is_empty() {
        cx.invalid(at, node, "must be cpu, memory, ephemeral-storage, hugepages-… or have a domain");
    }
}

/// The names and quantities of a list of resources.
pub(super) fn list(cx: &mut Cx<'_>, resources: &Node, at: &At<'_>) {
    for entry in resources.entries() {
        let here = at.key(&entry.key, &entry.node);
        let name: &str = &entry.key;
        let is_known = STANDARD.contains(&name) || name.starts_with("hugepages-");
        if let Some(fault) = names::qualified_name(name) {
            cx.forbidden(&here, &format!("the name of a resource {fault}"));
        } else if !is_known && !name.contains('/') {
            cx.forbidden(&here, &format!("\"{name}\" is no resource of containers: those without a domain are cpu, memory, ephemeral-storage, hugepages-…"));
        }
        not_negative(cx, &entry.node, &here);
        let is_whole = name.contains('/') && !name.starts_with("kubernetes.io/");
        if is_whole && quantity(&entry.node).is_some_and(|value| !value.is_integer()) {
            cx.invalid(&here, &entry.node, "must be a whole number");
        }
    }
}
