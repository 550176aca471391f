//! Every recorded case of the reference, in compatibility mode.
//!
//! The cases live in `../shared/kubevirt/cases`; without that folder the test says so and passes.

use std::path::PathBuf;

use ytterby_kubevirt::compat::{self, ReferenceVerdict, RuleReport};
use ytterby_kubevirt::evaluate::complete_cpu;
use ytterby_kubevirt::json;
use ytterby_kubevirt::jsonpath::JsonPath;
use ytterby_kubevirt::select::{self, RulesSource};
use ytterby_kubevirt::value::Value;

fn cases() -> Option<Vec<(String, Value)>> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared/kubevirt/cases");
    let Ok(entries) = std::fs::read_dir(&folder) else {
        eprintln!("SKIPPED: {} is not there", folder.display());
        return None;
    };
    let mut all = Vec::new();
    for entry in entries {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|extension| extension == "json") {
            let Value::Array(cases) = json::parse(&std::fs::read_to_string(&path).unwrap()).unwrap().to_value() else {
                panic!("{} is a list of cases", path.display());
            };
            all.extend(cases.into_iter().map(|case| (case.get("name").unwrap().as_str().unwrap().to_owned(), case)));
        }
    }
    all.sort_by(|a, b| a.0.cmp(&b.0));
    Some(all)
}

fn text(value: &str) -> Value {
    Value::from(value)
}

fn object(members: &[(&str, Value)]) -> Value {
    Value::Object(members.iter().map(|(key, value)| ((*key).into(), value.clone())).collect())
}

fn names(reports: &[RuleReport], wanted: impl Fn(&RuleReport) -> bool) -> Value {
    Value::Array(reports.iter().filter(|report| wanted(report)).map(|report| text(&report.name)).collect())
}

fn result(report: &RuleReport) -> Value {
    let (skipped, satisfied, outcome) = match &report.verdict {
        ReferenceVerdict::Skipped => (true, false, None),
        ReferenceVerdict::Satisfied(message) => (false, true, Some(("message", message))),
        ReferenceVerdict::Unsatisfied(message) => (false, false, Some(("message", message))),
        ReferenceVerdict::Failed(error, _) => (false, false, Some(("error", error))),
    };
    let warning = matches!(report.verdict, ReferenceVerdict::Unsatisfied(_)) && report.just_warning;
    let mut members = Vec::new();
    if !report.name.is_empty() {
        members.push(("name", text(&report.name)));
    }
    members.extend([
        ("skipped", Value::Bool(skipped)),
        ("satisfied", Value::Bool(satisfied)),
        ("warning", Value::Bool(warning)),
    ]);
    members.extend(outcome.map(|(key, value)| (key, text(value))));
    object(&members)
}

fn causes(reports: &[RuleReport]) -> Vec<Value> {
    if !reports.iter().any(RuleReport::refuses) {
        return Vec::new();
    }
    let cause = |report: &RuleReport| {
        Some(object(&[
            ("reason", text("FieldValueInvalid")),
            ("message", text(&report.cause()?)),
            ("field", text(&report.path)),
        ]))
    };
    reports.iter().filter_map(cause).collect()
}

fn response(outcome: Result<Vec<RuleReport>, String>) -> Value {
    let mut members = vec![("uid", text(""))];
    match outcome {
        Err(message) => {
            members.push(("allowed", Value::Bool(false)));
            let status = [("metadata", object(&[])), ("message", text(&message)), ("code", Value::Int(400))];
            members.push(("status", object(&status)));
        }
        Ok(reports) if reports.iter().any(RuleReport::refuses) => {
            let causes = causes(&reports);
            let messages: Vec<&str> = causes.iter().map(|c| c.get("message").unwrap().as_str().unwrap()).collect();
            members.push(("allowed", Value::Bool(false)));
            let status = [
                ("metadata", object(&[])),
                ("message", text(&messages.join(", "))),
                ("reason", text("Invalid")),
                ("details", object(&[("causes", Value::Array(causes))])),
                ("code", Value::Int(422)),
            ];
            members.push(("status", object(&status)));
        }
        Ok(_) => members.push(("allowed", Value::Bool(true))),
    }
    object(&members)
}

fn evaluated(case: &Value, complete: bool) -> Value {
    let mut vm = case.get("vm").unwrap().clone();
    let rules = match compat::parse(case.get("annotation").unwrap().as_str().unwrap()) {
        Ok(rules) => rules,
        Err((message, _)) => return object(&[("parseError", text(&message))]),
    };
    if complete && !rules.is_empty() {
        complete_cpu(&mut vm);
    }
    let reports = compat::evaluate(&rules, &vm);
    let list = |wanted: fn(&RuleReport) -> bool| names(&reports, wanted);
    let mut members = Vec::new();
    if complete {
        members.push(("response", response(Ok(reports.clone()))));
    }
    members.extend([
        ("valid", Value::Bool(!reports.iter().any(RuleReport::refuses))),
        ("results", Value::Array(reports.iter().map(result).collect())),
        ("violations", list(|r| matches!(r.verdict, ReferenceVerdict::Unsatisfied(_)) && !r.just_warning)),
        ("warnings", list(|r| matches!(r.verdict, ReferenceVerdict::Unsatisfied(_)) && r.just_warning)),
        ("errors", list(|r| matches!(r.verdict, ReferenceVerdict::Failed(..)))),
        ("skipped", list(|r| matches!(r.verdict, ReferenceVerdict::Skipped))),
        ("causes", Value::Array(causes(&reports))),
        ("summary", text(&reports.iter().map(RuleReport::summary).collect::<String>())),
    ]);
    object(&members)
}

fn admitted(case: &Value) -> Value {
    if let Some(resource) = case.at(&["review", "request", "resource"]) {
        let part = |key| resource.get(key).and_then(Value::as_str).unwrap_or_default();
        if let Err(message) = ytterby_kubevirt::select::is_vm_resource(part("group"), part("version"), part("resource"))
        {
            return object(&[("response", response(Err(message)))]);
        }
    }
    let mut vm = case.get("vm").unwrap().clone();
    let templates = case.get("templates").and_then(Value::as_array).unwrap_or_default();
    let annotation = match select::source(&vm) {
        RulesSource::Own(rules) => rules.to_owned(),
        RulesSource::Template { namespace, name } => templates
            .iter()
            .map(|template| template.get("metadata").unwrap())
            .filter(|metadata| metadata.get("name").and_then(Value::as_str) == Some(name))
            .filter(|metadata| metadata.get("namespace").and_then(Value::as_str).unwrap_or("default") == namespace)
            .find_map(|metadata| metadata.at(&["annotations", select::TEMPLATE_ANNOTATION])?.as_str())
            .unwrap_or_default()
            .to_owned(),
        RulesSource::Deleted | RulesSource::Skipped | RulesSource::None => String::new(),
    };
    let outcome = compat::parse(&annotation).map_err(|(message, _)| message).map(|rules| {
        if !rules.is_empty() {
            complete_cpu(&mut vm);
        }
        compat::evaluate(&rules, &vm)
    });
    object(&[("response", response(outcome))])
}

fn found(case: &Value) -> Value {
    let path = match JsonPath::parse(case.get("path").unwrap().as_str().unwrap()) {
        Ok(path) => path,
        Err(error) => return object(&[("newError", text(&error.go))]),
    };
    let list = |values: Vec<Value>| if values.is_empty() { Value::Null } else { Value::Array(values) };
    match compat::probe(&path, case.get("vm").unwrap()) {
        Err(error) => object(&[("findError", text(&error)), ("expr", text(&path.text))]),
        Ok((len, ints, strings)) => object(&[
            ("expr", text(&path.text)),
            ("len", Value::Int(len as i128)),
            match ints {
                Ok(ints) => ("asInt64", list(ints.into_iter().map(|int| Value::Int(int.into())).collect())),
                Err(error) => ("asInt64Error", text(&error)),
            },
            ("asString", list(strings.iter().map(|string| text(string)).collect())),
        ]),
    }
}

/// Keys in alphabetical order, so that objects can be compared.
fn sorted(value: &Value) -> Value {
    match value {
        Value::Object(members) => {
            let mut members: Vec<_> = members.iter().map(|(key, value)| (key.clone(), sorted(value))).collect();
            members.sort_by(|a, b| a.0.cmp(&b.0));
            Value::Object(members)
        }
        Value::Array(items) => Value::Array(items.iter().map(sorted).collect()),
        scalar => scalar.clone(),
    }
}

#[test]
fn every_case_has_the_result_of_the_reference() {
    let Some(cases) = cases() else { return };
    let (mut passed, mut crashes, mut failed) = (0, 0, Vec::new());
    for (name, case) in &cases {
        let expect = case.get("expect").unwrap();
        let got = match case.get("mode").unwrap().as_str().unwrap() {
            "evaluate" => evaluated(case, false),
            "validate" => evaluated(case, true),
            "admit" => admitted(case),
            _ => found(case),
        };
        if expect.get("panic").is_some() {
            // The reference crashes: we must not, and must not accept the VM.
            let accepted = got.get("valid") == Some(&Value::Bool(true));
            crashes += 1;
            if accepted {
                failed.push(format!("{name}: accepts what crashes the reference: {got}"));
            }
            continue;
        }
        // Logs are the server's business.
        let mut expect = sorted(expect);
        if let Value::Object(members) = &mut expect {
            members.retain(|(key, _)| **key != *"log");
        }
        let got = sorted(&got);
        if got == expect {
            passed += 1;
        } else {
            failed.push(format!("{name}\n  expect {expect}\n  got    {got}"));
        }
    }
    eprintln!("{passed} cases pass, {crashes} crash the reference");
    assert!(failed.is_empty(), "{} of {} cases fail:\n{}", failed.len(), cases.len(), failed.join("\n"));
    assert!(passed > 300);
}
