//! Selects the rules that apply to a VM: its own, its template's, or none.
//!
//! The order is the reference's: a VM that is being deleted or has the skip annotation has no
//! rules; a VM's own annotation takes precedence over its template's; name and namespace of a
//! template come from labels or from annotations, never from both.

use crate::rules::ANNOTATION;
use crate::value::Value;

/// A VM with this annotation, whatever its value, is not validated.
pub const SKIP: &str = "vm.kubevirt.io/skip-validations";

/// The annotation with rules on a Template itself.
pub const TEMPLATE_ANNOTATION: &str = "validations";

/// The label or annotation that names a VM's template.
pub const NAME: &str = "vm.kubevirt.io/template";
/// The labels or annotations with the namespace of the template; the first wins.
pub const NAMESPACES: [&str; 2] = ["vm.kubevirt.io/template.namespace", "vm.kubevirt.io/template-namespace"];

/// The origin of a VM's rules.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum RulesSource<'a> {
    /// No rules: the VM is being deleted.
    Deleted,
    /// No rules: the VM has the skip annotation.
    Skipped,
    /// This text on the VM itself.
    Own(&'a str),
    /// The template with this name.
    Template {
        /// Its namespace.
        namespace: &'a str,
        /// Its name.
        name: &'a str,
    },
    /// No rules.
    None,
}

/// Determines the origin of a VM's rules.
pub fn source(vm: &Value) -> RulesSource<'_> {
    if vm.at(&["metadata", "deletionTimestamp"]).is_some() {
        return RulesSource::Deleted;
    }
    let annotation = |key: &str| vm.at(&["metadata", "annotations"])?.get(key);
    if annotation(SKIP).is_some() {
        return RulesSource::Skipped;
    }
    if let Some(text) = annotation(ANNOTATION).and_then(Value::as_str).filter(|text| !text.is_empty()) {
        return RulesSource::Own(text);
    }
    template_reference(vm).map_or(RulesSource::None, |(namespace, name)| RulesSource::Template { namespace, name })
}

/// Namespace and name of a VM's template, whether or not the VM has its own rules.
pub fn template_reference(vm: &Value) -> Option<(&str, &str)> {
    ["labels", "annotations"].iter().find_map(|place| template_key(vm.at(&["metadata", place])?))
}

fn template_key(place: &Value) -> Option<(&str, &str)> {
    let text = |key: &str| place.get(key)?.as_str();
    let namespace = NAMESPACES.iter().find_map(|key| text(key))?;
    Some((namespace, text(NAME)?))
}

/// The name of a VM's template if it is given without a namespace.
pub fn template_name(vm: &Value) -> Option<&str> {
    ["labels", "annotations"].iter().find_map(|place| vm.at(&["metadata", place])?.get(NAME)?.as_str())
}

/// Whether the resource of an admission request is a VM; otherwise the reference's message.
pub fn is_vm_resource(group: &str, version: &str, resource: &str) -> Result<(), String> {
    if group == "kubevirt.io" && resource == "virtualmachines" {
        return Ok(());
    }
    Err(format!("expect resource {{{group} {version} {resource}}} to be 'virtualmachines'"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(metadata: &str, expect: RulesSource<'_>) {
        let vm = crate::json::parse(&format!("{{\"metadata\":{metadata}}}")).unwrap().to_value();
        assert_eq!(source(&vm), expect, "{metadata}");
    }

    #[test]
    fn sources_of_rules_have_an_order() {
        let template = RulesSource::Template { namespace: "ns", name: "t" };
        let labels = r#""labels":{"vm.kubevirt.io/template":"t","vm.kubevirt.io/template.namespace":"ns"}"#;
        check(&format!("{{{labels}}}"), template.clone());
        check(&format!("{{{labels},\"annotations\":{{\"vm.kubevirt.io/validations\":\"\"}}}}"), template.clone());
        check(
            &format!("{{{labels},\"annotations\":{{\"vm.kubevirt.io/validations\":\"[]\"}}}}"),
            RulesSource::Own("[]"),
        );
        check(
            r#"{"annotations":{"vm.kubevirt.io/validations":"[]","vm.kubevirt.io/skip-validations":"false"}}"#,
            RulesSource::Skipped,
        );
        check(r#"{"labels":{"vm.kubevirt.io/skip-validations":""}}"#, RulesSource::None);
        check(r#"{"deletionTimestamp":"2026-01-01T00:00:00Z"}"#, RulesSource::Deleted);
        check(r#"{"annotations":{"vm.kubevirt.io/template":"t","vm.kubevirt.io/template-namespace":"ns"}}"#, template);
        check(
            r#"{"labels":{"vm.kubevirt.io/template":"t"},"annotations":{"vm.kubevirt.io/template-namespace":"ns"}}"#,
            RulesSource::None,
        );
        check(
            r#"{"labels":{"vm.kubevirt.io/template":"t","vm.kubevirt.io/template-namespace":"old","vm.kubevirt.io/template.namespace":"new"}}"#,
            RulesSource::Template { namespace: "new", name: "t" },
        );
    }
}
