//! Recorded behaviour of ytt v0.49: `../shared/conformance`.
//!
//! Scoring is that of the corpus' own runner. A success case has one level; an error case passes L1
//! if it fails without other output than the reference's, and L2 if the text is the same, too.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::sync::LazyLock;

use base64::Engine;
use regex::Regex;
use serde_json::Value;

use crate::execute::{Call, Run, diff, writes_files};
use crate::{Case, Outcome, directories};

/// All cases of the corpus; empty if it does not exist.
pub fn cases(root: &Path) -> Vec<Case> {
    let mut cases = Vec::new();
    for (area, directory) in directories(&root.join("cases")) {
        for (name, directory) in directories(&directory) {
            if directory.join("case.json").is_file() {
                let run = Box::new(move || run(&directory));
                cases.push(Case { name: format!("conformance/{area}/{name}"), run });
            }
        }
    }
    cases.extend(yaml_table(&root.join("yaml-table.json")));
    cases.extend(snippets(&root.join("starlark-snippets.json")));
    cases
}

struct Expected {
    exit: i64,
    stdout: String,
    stderr: String,
    files: BTreeMap<String, String>,
}

fn run(directory: &Path) -> Outcome {
    let case = json(&directory.join("case.json"));
    let expect = &case["expect"];
    let stdout = match expect["stdout_file"].as_str() {
        Some(file) => fs::read_to_string(directory.join(file)).expect("the case can be read"),
        None => text(&expect["stdout"]),
    };
    let args = strings(&case["args"]);
    let call = Call {
        name: None,
        writes: case.get("files_out").is_some() || writes_files(&args),
        args,
        env: pairs(&case["env"]),
        stdin: text(&case["stdin"]),
        files: directory.join("files"),
    };
    let expected = Expected {
        exit: expect["exit"].as_i64().expect("every case has an exit code"),
        stdout,
        stderr: text(&expect["stderr"]),
        files: pairs(&case["files_out"]).into_iter().collect(),
    };
    let got = call.run();
    if strings(&case["tags"]).iter().any(|tag| tag == "reference-bug") {
        return proper_end(&got);
    }
    score(&expected, &got)
}

/// Where the reference itself misbehaves, only a proper exit is required.
fn proper_end(got: &Run) -> Outcome {
    match got.exit {
        Some(0 | 1) if !got.stderr.contains("Internal error") => Outcome::Passed,
        _ => Outcome::FailedL1(format!("exit {:?}, stderr: {}", got.exit, got.stderr)),
    }
}

fn score(expected: &Expected, got: &Run) -> Outcome {
    let stdout = diff("stdout", &expected.stdout, &got.stdout);
    let stderr = diff("stderr", &normalized(&expected.stderr), &normalized(&got.stderr));
    let files: String = expected
        .files
        .keys()
        .chain(got.files.keys().filter(|path| !expected.files.contains_key(*path)))
        .map(|path| {
            let content = |files: &BTreeMap<String, String>| files.get(path).cloned().unwrap_or("(missing)\n".into());
            diff(path, &content(&expected.files), &content(&got.files))
        })
        .collect();
    let is_right_exit = if expected.exit == 0 { got.exit == Some(0) } else { got.exit.is_some_and(|exit| exit != 0) };
    let differences = format!("exit {:?}, expected {}\n{stdout}{files}{stderr}", got.exit, expected.exit);
    if !is_right_exit || !stdout.is_empty() || !files.is_empty() {
        Outcome::FailedL1(differences)
    } else if expected.exit != 0 && !stderr.is_empty() {
        Outcome::FailedL2(differences)
    } else {
        Outcome::Passed
    }
}

/// Standard error without allowed differences: warnings, the program's name, a counter of the
/// reference.
fn normalized(stderr: &str) -> String {
    static WARNING: LazyLock<Regex> = LazyLock::new(|| regex(r"(?m)^[\w.\-/]+: Warning: .*\n"));
    static NAME: LazyLock<Regex> = LazyLock::new(|| regex(r"\A[\w.\-/]+: Error:"));
    static COUNTER: LazyLock<Regex> = LazyLock::new(|| regex(r"__ytt_tpl\d+_"));
    let text = WARNING.replace_all(stderr, "");
    let text = NAME.replace(&text, "ytt: Error:");
    COUNTER.replace_all(&text, "__ytt_tplXXX_").into_owned()
}

fn regex(pattern: &str) -> Regex {
    Regex::new(pattern).expect("the pattern is ours")
}

/// A table of YAML inputs and outputs.
fn yaml_table(path: &Path) -> Vec<Case> {
    rows(path, |number, row| {
        let stdin = match row["input_b64"].as_str() {
            // Input that is not UTF-8 cannot be passed as text here; the tests of the YAML crate
            // read those rows.
            Some(encoded) => {
                let bytes = base64::engine::general_purpose::STANDARD.decode(encoded).expect("the table is sound");
                String::from_utf8(bytes).ok()?
            }
            None => text(&row["input"]),
        };
        let mut args = vec!["-f".to_owned(), "-".to_owned()];
        args.extend(strings(&row["args"]));
        let call = Call { args, stdin, env: vec![compat()], ..Call::default() };
        let exit = row["exit"].as_i64().expect("every row has an exit code");
        let output = text(&row["output"]);
        let note = text(&row["note"]).replace(|c: char| !c.is_ascii_alphanumeric(), "-");
        let run = move || {
            let got = call.run();
            if output.starts_with("panic:") {
                return proper_end(&got);
            }
            let got = Run { stderr: got.stderr.trim().to_owned(), ..got };
            let (stdout, stderr) =
                if exit == 0 { (output.clone(), String::new()) } else { (String::new(), output.clone()) };
            score(&Expected { exit, stdout, stderr, files: BTreeMap::new() }, &got)
        };
        Some(Case { name: format!("yaml-table/{note}/{number:03}"), run: Box::new(run) })
    })
}

/// Starlark code and what it prints, or how it fails.
fn snippets(path: &Path) -> Vec<Case> {
    rows(path, |_, row| {
        let name = text(&row["name"]);
        let bulk = serde_json::json!({"files": [
            {"name": "t.star", "data": format!("{}\nokk = 1\n", text(&row["code"]))},
            {"name": "c.yml", "data": "#@ load(\"t.star\", \"okk\")\n---\nx: #@ okk\n"},
        ]});
        let call = Call { args: vec!["--bulk-in".into(), bulk.to_string()], env: vec![compat()], ..Call::default() };
        let is_ok = row["ok"].as_bool().unwrap_or_default();
        let expected = text(&row[if is_ok { "printed" } else { "stderr" }]);
        let run = move || {
            let got = call.run();
            if is_ok && got.exit == Some(0) {
                return match diff("printed", &expected, &got.stderr) {
                    same if same.is_empty() => Outcome::Passed,
                    differences => Outcome::FailedL1(differences),
                };
            }
            let got = Run { stderr: got.stderr.trim().to_owned(), ..got };
            let stderr = expected.trim().to_owned();
            score(&Expected { exit: i64::from(!is_ok), stdout: String::new(), stderr, files: BTreeMap::new() }, &got)
        };
        Some(Case { name: format!("starlark-snippets/code/{name}"), run: Box::new(run) })
    })
}

fn compat() -> (String, String) {
    ("YTTERBY_COMPAT".into(), "0.49".into())
}

fn rows(path: &Path, case: impl Fn(usize, &Value) -> Option<Case>) -> Vec<Case> {
    if !path.is_file() {
        return Vec::new();
    }
    let rows = json(path);
    let rows = rows.as_array().expect("the table is a list");
    rows.iter().enumerate().filter_map(|(number, row)| case(number, row)).collect()
}

/// A JSON file of a corpus.
pub fn json(path: &Path) -> Value {
    let text = fs::read_to_string(path).expect("the case can be read");
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// A string; null is empty.
pub fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

/// A list of strings; null is empty.
pub fn strings(value: &Value) -> Vec<String> {
    value.as_array().map(|items| items.iter().map(text).collect()).unwrap_or_default()
}

/// An object of strings; null is empty.
pub fn pairs(value: &Value) -> Vec<(String, String)> {
    value.as_object().map(|map| map.iter().map(|(key, value)| (key.clone(), text(value))).collect()).unwrap_or_default()
}
