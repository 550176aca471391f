//! Any bytes as an admission review, to both webhooks and in every mode: there is always an answer,
//! and it is JSON.
#![no_main]

use std::sync::Arc;

use libfuzzer_sys::fuzz_target;
use ytterby_kubevirt::admission::{self, UnknownReason, ParentTemplate, ReviewOptions, Surroundings};
use ytterby_kubevirt::json;
use ytterby_kubevirt::value::Value;

/// Knows one template, whatever its name.
struct Here(Arc<str>);

impl Surroundings for Here {
    fn template(&self, _: &str, _: &str) -> ParentTemplate {
        ParentTemplate::Rules(Arc::clone(&self.0))
    }

    fn dependents(&self, _: &str, name: &str) -> Result<Vec<String>, UnknownReason> {
        Ok(vec![name.to_owned()])
    }

    fn expand(&self, _: &mut Value) -> bool {
        false
    }
}

const RULES: &str = r#"[
    {"name":"a","rule":"integer","path":"jsonpath::.spec.domain.cpu.cores","message":"m","min":1,"max":"jsonpath::.spec.domain.cpu.sockets"},
    {"name":"b","rule":"regex","path":"jsonpath::..name","message":"m","regex":"^[a-z]+$","justWarning":true},
    {"name":"c","rule":"enum","path":"jsonpath::.spec.domain.devices.disks[*].disk.bus","message":"m","values":["virtio"]}]"#;

fuzz_target!(|body: &[u8]| {
    let here = Here(RULES.into());
    for (compat, ratchet) in [(false, false), (false, true), (true, false)] {
        let policy = ReviewOptions { compat, ratchet };
        for answer in [admission::virtual_machine(body, policy, &here), admission::template(body, policy, &here)] {
            let text = answer.to_json();
            let root = json::read(&text).expect("an answer is JSON");
            let allowed = root.at(&["response", "allowed"]).expect("an answer has a verdict");
            assert_eq!(*allowed == Value::Bool(true), answer.verdict.code() == 200);
        }
    }
});
