//! Properties of admission: any bytes get an answer, it is JSON, and it is always the same.

use std::sync::Arc;

use proptest::prelude::*;
use ytterby_kubevirt::admission::{self, ParentTemplate, ReviewOptions, Surroundings, UnknownReason};
use ytterby_kubevirt::json;
use ytterby_kubevirt::value::Value;

const RULES: &str = r#"[{"name":"a","rule":"integer","path":"jsonpath::.spec.domain.cpu.cores","message":"m","min":2,"max":"jsonpath::.spec.domain.cpu.sockets"},{"name":"b","rule":"regex","path":"jsonpath::..name","message":"m","regex":"^[a-z]+$","justWarning":true}]"#;

struct Here;

impl Surroundings for Here {
    fn template(&self, _: &str, _: &str) -> ParentTemplate {
        ParentTemplate::Rules(Arc::from(RULES))
    }

    fn dependents(&self, _: &str, name: &str) -> Result<Vec<String>, UnknownReason> {
        Ok(vec![name.to_owned()])
    }

    fn expand(&self, _: &mut Value) -> bool {
        false
    }
}

fn review() -> String {
    let vm = r#"{"metadata":{"name":"web","labels":{"vm.kubevirt.io/template":"t","vm.kubevirt.io/template.namespace":"n"}},"spec":{"template":{"spec":{"domain":{"cpu":{"cores":1,"sockets":4}},"volumes":[{"name":"a1"}]}}}}"#;
    format!(
        r#"{{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","request":{{"uid":"u","operation":"UPDATE","resource":{{"group":"kubevirt.io","version":"v1","resource":"virtualmachines"}},"object":{vm},"oldObject":{vm}}}}}"#
    )
}

type Ask = fn(&[u8], ReviewOptions, &dyn Surroundings) -> admission::Answer;

fn check(body: &[u8]) {
    for (compat, ratchet) in [(false, false), (false, true), (true, false)] {
        let policy = ReviewOptions { compat, ratchet };
        for ask in [admission::virtual_machine as Ask, admission::template] {
            let answer = ask(body, policy, &Here);
            assert_eq!(answer, ask(body, policy, &Here));
            let root = json::read(&answer.to_json()).expect("an answer is JSON");
            let allowed = root.at(&["response", "allowed"]).expect("an answer has a verdict");
            assert_eq!(*allowed == Value::Bool(true), answer.verdict.code() == 200);
            assert_eq!(root.at(&["response", "status", "code"]).is_some(), answer.verdict.code() != 200);
        }
    }
}

#[test]
fn the_sample_is_refused() {
    let answer = admission::virtual_machine(review().as_bytes(), ReviewOptions::default(), &Here);
    assert_eq!((answer.verdict.code(), answer.warnings.len()), (422, 1));
    let ratchet = ReviewOptions { compat: false, ratchet: true };
    let answer = admission::virtual_machine(review().as_bytes(), ratchet, &Here);
    assert_eq!((answer.verdict.code(), answer.warnings.len()), (200, 2));
}

#[test]
fn every_truncated_review_is_answered() {
    let body = review();
    (0..body.len()).for_each(|end| check(&body.as_bytes()[..end]));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_bytes_are_answered(body in proptest::collection::vec(any::<u8>(), 0..200)) {
        check(&body);
    }

    #[test]
    fn a_review_with_some_bytes_changed_is_answered(changes in proptest::collection::vec((0usize..600, any::<u8>()), 1..4)) {
        let mut body = review().into_bytes();
        for (at, byte) in changes {
            let at = at % body.len();
            body[at] = byte;
        }
        check(&body);
    }

    /// Each value of the review is replaced by one of another kind.
    #[test]
    fn a_review_with_another_value_is_answered(number in 0usize..60, kind in 0usize..5) {
        let values = ["null", "7", "\"x\"", "[]", "{}"];
        let body = review();
        let places: Vec<usize> = body.match_indices("\":").map(|(at, _)| at + 2).collect();
        let from = places[number % places.len()];
        let rest = &body[from..];
        // Only scalars, whose end is easy to find.
        let end = rest.find([',', '}', ']']).unwrap_or(rest.len());
        if !rest.starts_with(['{', '[']) {
            check(format!("{}{}{}", &body[..from], values[kind], &rest[end..]).as_bytes());
        }
    }
}
