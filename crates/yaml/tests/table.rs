//! Compares with the recorded table of the reference, as far as its rows need no template engine.
//! The table is not part of this repository; without it the test is skipped.

mod common;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;

/// Rows where we differ on purpose; COMPATIBILITY.md says why.
const DIFFERENT: [&str; 5] = ["[a]: v\n", "[]: v\n", "{}: v\n", "\u{feff}a: 1\n", "\u{feff}---\na: 1\n"];

#[test]
fn recorded_rows_agree() {
    let table = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/conformance/yaml-table.json");
    let Ok(text) = std::fs::read_to_string(table) else {
        eprintln!("SKIPPED: {table} is not there");
        return;
    };
    let rows: Vec<Value> = serde_json::from_str(&text).expect("the table is JSON");
    let mut failures = Vec::new();
    let mut run = 0;
    for row in &rows {
        let input = match row["input_b64"].as_str() {
            Some(packed) => STANDARD.decode(packed).expect("the input is base64"),
            None => row["input"].as_str().expect("a row has an input").as_bytes().to_vec(),
        };
        let template = input.windows(2).any(|pair| pair == b"#@");
        if template || DIFFERENT.iter().any(|different| different.as_bytes() == input) {
            continue;
        }
        run += 1;
        let strict = row["args"][0] == "-s";
        let expected = row["output"].as_str().expect("a row has an output");
        let found = common::recode(&input, strict);
        let agrees = match (row["exit"].as_i64(), &found) {
            (Some(0), Ok(out)) => out == expected.as_bytes(),
            (Some(1), Err(message)) => same_message(expected, message),
            // The reference crashed; any proper error is accepted.
            (Some(2), Err(message)) => message.starts_with("yaml: "),
            _ => false,
        };
        if !agrees {
            failures.push(format!("{:?}\n  expected {expected:?}\n  found {found:?}", String::from_utf8_lossy(&input)));
        }
    }
    assert!(run > 400, "only {run} rows were run");
    assert!(failures.is_empty(), "{} of {run} rows differ:\n{}", failures.len(), failures.join("\n"));
}

/// The recorded text went through ytt's last layout step, which breaks lines at colons and cuts at
/// brackets.
fn same_message(recorded: &str, message: &str) -> bool {
    let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let recorded = words(recorded.split_once("'stdin.yml': ").map_or(recorded, |(_, rest)| rest));
    words(message).starts_with(&recorded)
}
