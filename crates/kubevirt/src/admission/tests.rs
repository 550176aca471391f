//! Tests of decisions with known and unknown templates, and of time limits.

use super::*;

/// Knows one template, and is late after a number of questions.
struct Here {
    parent: ParentTemplate,
    late: bool,
}

impl Surroundings for Here {
    fn template(&self, _: &str, _: &str) -> ParentTemplate {
        self.parent.clone()
    }

    fn dependents(&self, _: &str, name: &str) -> Result<Vec<String>, UnknownReason> {
        match (name, &self.parent) {
            (_, ParentTemplate::Unknown(why)) => Err(why.clone()),
            ("used", _) => Ok(vec!["a/x".to_owned(), "b/y".to_owned()]),
            _ => Ok(Vec::new()),
        }
    }

    fn expand(&self, _: &mut Value) -> bool {
        false
    }

    fn is_late(&self) -> bool {
        self.late
    }
}

const RULE: &str = r#"[{"name":"r","rule":"integer","path":"jsonpath::.spec.domain.cpu.cores","message":"m","min":2}]"#;

fn of_template(parent: ParentTemplate, policy: ReviewOptions) -> Answer {
    let vm = r#"{"metadata":{"labels":{"vm.kubevirt.io/template":"t","vm.kubevirt.io/template.namespace":"ns"}},"spec":{"instancetype":{"name":"u1"},"template":{"spec":{"domain":{}}}}}"#;
    let body = format!(
        r#"{{"request":{{"uid":"u","resource":{{"group":"kubevirt.io","version":"v1","resource":"virtualmachines"}},"object":{vm}}}}}"#
    );
    virtual_machine(body.as_bytes(), policy, &Here { parent, late: false })
}

#[test]
fn the_verdict_depends_on_the_template() {
    let policy = ReviewOptions::default();
    let ssp = ReviewOptions { compat: true, ratchet: false };
    for (parent, code, warnings) in [
        (ParentTemplate::Plain, 200, &[][..]),
        (ParentTemplate::Absent, 200, &["no rules were checked: its template ns/t does not exist"]),
        (
            ParentTemplate::Unknown(UnknownReason::NoCluster),
            200,
            &["no rules were checked: its template ns/t is not known here"],
        ),
        (ParentTemplate::Unknown(UnknownReason::NotYet("templates are being read".to_owned())), 503, &[]),
        (
            ParentTemplate::Rules(RULE.into()),
            200,
            &["rule r was skipped: cpu and memory come from the instance type u1, which was not given"],
        ),
    ] {
        let answer = of_template(parent.clone(), policy);
        assert_eq!((answer.verdict.code(), answer.warnings), (code, warnings.iter().map(|&w| w.to_owned()).collect()));
        // The reference ignores instance types, and does not report what it did not check.
        let answer = of_template(parent.clone(), ssp);
        let code = if matches!(parent, ParentTemplate::Rules(_)) { 422 } else { code };
        assert_eq!((answer.verdict.code(), answer.warnings.len()), (code, 0), "{parent:?}");
    }
}

#[test]
fn a_template_in_use_cannot_be_deleted() {
    let body = |name: &str, metadata: &str| {
        format!(
            r#"{{"request":{{"uid":"u","operation":"DELETE","resource":{{"resource":"templates"}},"oldObject":{{"metadata":{{"name":"{name}","namespace":"ns",{metadata}}}}}}}}}"#
        )
    };
    let shipped = r#""labels":{"template.kubevirt.io/type":"base"},"annotations":{"validations":""}"#;
    let check = |body: String, parent: ParentTemplate| {
        let answer = template(body.as_bytes(), ReviewOptions::default(), &Here { parent, late: false });
        (answer.verdict.code(), answer.verdict.message())
    };
    let message = "Template cannot be deleted, because the following VMs are referencing it for validation: a/x, b/y";
    assert_eq!(check(body("used", shipped), ParentTemplate::Absent), (403, message.to_owned()));
    assert_eq!(check(body("free", shipped), ParentTemplate::Absent).0, 200);
    assert_eq!(check(body("used", r#""labels":{},"annotations":{"validations":""}"#), ParentTemplate::Absent).0, 200);
    assert_eq!(check(body("used", r#""labels":{"template.kubevirt.io/type":"base"}"#), ParentTemplate::Absent).0, 200);
    let unread = ParentTemplate::Unknown(UnknownReason::NotYet("VMs are being read".to_owned()));
    assert_eq!(check(body("used", shipped), unread).0, 503);
}

#[test]
fn a_late_review_is_refused() {
    let vm = format!(
        r#"{{"metadata":{{"annotations":{{"vm.kubevirt.io/validations":{}}}}},"spec":{{"template":{{}}}}}}"#,
        crate::value::quoted(RULE)
    );
    let body = format!(
        r#"{{"request":{{"uid":"u","resource":{{"group":"kubevirt.io","resource":"virtualmachines"}},"object":{vm}}}}}"#
    );
    for compat in [false, true] {
        let policy = ReviewOptions { compat, ratchet: false };
        let answer = virtual_machine(body.as_bytes(), policy, &Here { parent: ParentTemplate::Absent, late: true });
        assert_eq!((answer.verdict.code(), answer.sender.uid.as_str()), (504, "u"));
    }
}
