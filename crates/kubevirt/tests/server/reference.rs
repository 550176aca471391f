//! Sends every recorded case of the reference that has a verdict to a server in compatibility mode.
//!
//! The cases live in `../shared/kubevirt/cases`; without that folder the test says so and passes.

use std::collections::HashSet;
use std::path::PathBuf;
use std::sync::Arc;

use ytterby_kubevirt::instancetype::Instancetypes;
use ytterby_kubevirt::json;
use ytterby_kubevirt::server::{FileTemplate, KnownObjects};
use ytterby_kubevirt::value::Value;

use super::client::Client;
use super::serve;
use super::verdicts::VMS;

fn object(members: &[(&str, Value)]) -> Value {
    Value::Object(members.iter().map(|(key, value)| ((*key).into(), value.clone())).collect())
}

/// The review of a case: its own, or one around its VM.
fn review(case: &Value) -> Value {
    if let Some(review) = case.get("review") {
        return review.clone();
    }
    let mut vm = case.get("vm").unwrap().clone();
    if let Some(rules) = case.get("annotation") {
        if vm.get("metadata").is_none() {
            vm.set("metadata", object(&[]));
        }
        let metadata = vm.get_mut("metadata").unwrap();
        if metadata.get("annotations").is_none() {
            metadata.set("annotations", object(&[]));
        }
        metadata.get_mut("annotations").unwrap().set("vm.kubevirt.io/validations", rules.clone());
    }
    let text = |text: &str| Value::from(text);
    let resource = [("group", text("kubevirt.io")), ("version", text("v1")), ("resource", text("virtualmachines"))];
    let request = [("uid", text("u1")), ("operation", text("CREATE")), ("resource", object(&resource)), ("object", vm)];
    object(&[("request", object(&request))])
}

fn templates(case: &Value) -> Vec<FileTemplate> {
    let given = case.get("templates").and_then(Value::as_array).unwrap_or_default();
    let template = |template: &Value| {
        let metadata = template.get("metadata").unwrap();
        let text = |key: &str| metadata.get(key).and_then(Value::as_str).map(str::to_owned);
        FileTemplate {
            name: text("name").unwrap(),
            namespace: text("namespace").unwrap_or_else(|| "default".to_owned()),
            rules: metadata.at(&["annotations", "validations"]).and_then(Value::as_str).map(Arc::from),
        }
    };
    given.iter().map(template).collect()
}

#[test]
fn recorded_verdicts_come_over_http() {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared/kubevirt/cases");
    if !folder.is_dir() {
        eprintln!("SKIPPED: {} is not there", folder.display());
        return;
    }
    let (mut passed, mut crashes, mut failed) = (0, 0, Vec::new());
    let mut used = HashSet::new();
    for file in ["admit", "functest", "admission", "probe", "seed-example", "corpus"] {
        let text = std::fs::read(folder.join(file).with_extension("json")).unwrap();
        let Value::Array(cases) = json::read(&text).unwrap() else { panic!("{file} is a list of cases") };
        // One server for all cases without their own templates.
        let shared = serve(|config| config.policy.compat = true).0;
        let mut client = Client::plain(shared.webhook);
        for case in &cases {
            let name = case.get("name").and_then(Value::as_str).unwrap();
            let known = templates(case);
            let response = if known.is_empty() {
                client.post(VMS, review(case).to_string())
            } else {
                let server = serve(|config| {
                    config.policy.compat = true;
                    config.known = KnownObjects::new(known, Instancetypes::default(), None);
                });
                Client::plain(server.0.webhook).post(VMS, review(case).to_string())
            };
            used.insert(file);
            let mut response = response.review();
            response.set("uid", Value::from(""));
            let expect = case.get("expect").unwrap();
            if expect.get("panic").is_some() {
                crashes += 1;
                if response.get("allowed") != Some(&Value::Bool(false)) {
                    failed.push(format!("{name}: accepts what crashes the reference: {response}"));
                }
                continue;
            }
            let expect = match (expect.get("response"), expect.get("parseError").and_then(Value::as_str)) {
                (Some(response), _) => response.clone(),
                (None, Some(error)) => {
                    let status = [("metadata", object(&[])), ("message", error.into()), ("code", Value::Int(400))];
                    object(&[("uid", "".into()), ("allowed", Value::Bool(false)), ("status", object(&status))])
                }
                (None, None) => panic!("{name} expects nothing: {expect}"),
            };
            // The order of keys must be the same, too.
            if response == expect {
                passed += 1;
            } else {
                failed.push(format!("{name}\n  expect {expect}\n  got    {response}"));
            }
        }
    }
    eprintln!("{passed} cases pass, {crashes} crash the reference");
    assert!(failed.is_empty(), "{} cases fail:\n{}", failed.len(), failed.join("\n"));
    assert!(passed > 200 && used.len() == 6);
}
