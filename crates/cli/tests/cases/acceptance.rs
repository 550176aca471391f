//! Features beyond ytt: `../shared/acceptance`. Scoring is that of the corpus' own runner.

use std::path::Path;

use serde_json::Value;
use ytterby_diag::FileId;
use ytterby_yaml::{NodeId, ReadOptions, Scalar, Tree, View, parse};

use crate::conformance::{json, pairs, strings, text};
use crate::execute::{Call, Run, diff};
use crate::pattern::compile;
use crate::{Case, Outcome, directories};

/// All cases of the corpus; empty if it does not exist.
pub fn cases(root: &Path) -> Vec<Case> {
    let mut cases = Vec::new();
    for (group, directory) in directories(root) {
        for (name, directory) in directories(&directory) {
            if directory.join("case.json").is_file() {
                let run = Box::new(move || run(&directory));
                cases.push(Case { name: format!("acceptance/{group}/{name}"), run });
            }
        }
    }
    cases
}

fn run(directory: &Path) -> Outcome {
    let case = json(&directory.join("case.json"));
    let call = Call {
        name: None,
        args: strings(&case["args"]),
        env: pairs(&case["env"]),
        stdin: text(&case["stdin"]),
        files: directory.join("files"),
        writes: true,
    };
    let got = call.run();
    let problems = problems(&case["expect"], &got);
    if problems.is_empty() {
        return Outcome::Passed;
    }
    Outcome::FailedL1(format!("{}\n--- stdout\n{}--- stderr\n{}", problems.join("\n"), got.stdout, got.stderr))
}

fn problems(expect: &Value, got: &Run) -> Vec<String> {
    let mut problems = Vec::new();
    let exit = expect["exit"].as_i64().unwrap_or(0);
    if got.exit.map(i64::from) != Some(exit) {
        problems.push(format!("exit {:?}, expected {exit}", got.exit));
    }
    if let Some(stdout) = expect["stdout"].as_str() {
        problems.extend(Some(diff("stdout", stdout, &got.stdout)).filter(|text| !text.is_empty()));
    }
    if expect["stdout_empty"] == true && !got.stdout.trim().is_empty() {
        problems.push("stdout is not empty".into());
    }
    let searches = [
        ("stdout_re", &got.stdout, true),
        ("stdout_not_re", &got.stdout, false),
        ("stderr_re", &got.stderr, true),
        ("stderr_not_re", &got.stderr, false),
    ];
    for (key, text, want) in searches {
        let wrong = strings(&expect[key]).into_iter().filter(|pattern| compile(pattern).is_match(text) != want);
        problems.extend(wrong.map(|pattern| format!("{key}: {pattern}")));
    }
    let checks = expect["json"].as_array().map(Vec::as_slice).unwrap_or_default();
    if !checks.is_empty() {
        match output(&got.stdout) {
            Ok(document) => problems.extend(checks.iter().filter_map(|check| look(&document, check))),
            Err(error) => problems.push(format!("stdout does not parse: {error}")),
        }
    }
    problems
}

/// Checks a value at a path; returns the problem, if any.
fn look(document: &Value, check: &Value) -> Option<String> {
    let path = text(&check["path"]);
    match lookup(document, &path) {
        None if check["absent"] == true => None,
        None => Some(format!("json {path}: absent")),
        Some(_) if check["absent"] == true => Some(format!("json {path}: present")),
        Some(value) if same(value, &check["equals"]) => None,
        Some(value) => Some(format!("json {path}: {value}, expected {}", check["equals"])),
    }
}

/// Follows `a.b[0]["x.y"]`.
fn lookup<'a>(mut node: &'a Value, path: &str) -> Option<&'a Value> {
    let mut rest = path;
    while !rest.is_empty() {
        if let Some(behind) = rest.strip_prefix('.') {
            rest = behind;
        } else if let Some(behind) = rest.strip_prefix("[\"") {
            let (key, behind) = behind.split_once("\"]")?;
            node = node.as_object()?.get(key)?;
            rest = behind;
        } else if let Some(behind) = rest.strip_prefix('[') {
            let (index, behind) = behind.split_once(']')?;
            node = node.as_array()?.get(index.parse::<usize>().ok()?)?;
            rest = behind;
        } else {
            let end = rest.find(['.', '[']).unwrap_or(rest.len());
            node = node.as_object()?.get(&rest[..end])?;
            rest = &rest[end..];
        }
    }
    Some(node)
}

/// Equality in which `1` is `1.0`.
fn same(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Number(a), Value::Number(b)) => a == b || a.as_f64() == b.as_f64(),
        (Value::Array(a), Value::Array(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(a, b)),
        (Value::Object(a), Value::Object(b)) => {
            a.len() == b.len() && a.iter().all(|(key, value)| b.get(key).is_some_and(|other| same(value, other)))
        }
        _ => a == b,
    }
}

/// Standard output as JSON, else as YAML; several documents make a list.
fn output(text: &str) -> Result<Value, String> {
    if let Ok(value) = serde_json::from_str(text) {
        return Ok(value);
    }
    let tree = parse(text.as_bytes(), FileId(0), &ReadOptions::default()).map_err(|error| error.to_string())?;
    let mut documents: Vec<_> = tree
        .documents()
        .iter()
        .filter(|document| !document.injected)
        .map(|document| value(&tree, document.value))
        .collect();
    Ok(if documents.len() == 1 { documents.remove(0) } else { Value::Array(documents) })
}

fn value(tree: &Tree, id: NodeId) -> Value {
    match tree.value(id) {
        View::Scalar(scalar) => match scalar {
            Scalar::Null => Value::Null,
            Scalar::Bool(value) => Value::from(*value),
            Scalar::Int(value) => Value::from(*value),
            Scalar::UInt(value) => Value::from(*value),
            Scalar::Float(value) => Value::from(*value),
            Scalar::Str(text) => Value::from(text.to_string()),
            Scalar::Complex(_) => panic!("only keys are collections"),
        },
        View::Map(items) => {
            let key = |key: &Scalar| match key {
                Scalar::Str(text) => text.to_string(),
                other => format!("{other:?}"),
            };
            items.iter().map(|item| (key(&item.key), value(tree, item.value))).collect()
        }
        View::Array(items) => items.iter().map(|item| value(tree, item.value)).collect(),
    }
}
