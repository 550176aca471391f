//! All recorded snippets: output and errors of the reference.

mod common;

use std::path::Path;

#[test]
fn recorded_snippets() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/conformance/starlark-snippets.json");
    let Ok(text) = std::fs::read_to_string(&path) else {
        eprintln!("skipped: the recorded snippets are not here");
        return;
    };
    let rows: Vec<serde_json::Value> = serde_json::from_str(&text).expect("the snippets are JSON");
    let mut failed = Vec::new();
    for row in &rows {
        let field = |name: &str| row[name].as_str().unwrap_or_default().to_owned();
        let outcome = common::run(&field("code"));
        let (expected, got) = if row["ok"] == true {
            (field("printed"), outcome.printed + &outcome.error.unwrap_or_default())
        } else {
            (body(&field("stderr")), outcome.error.unwrap_or_else(|| "no error\n".to_owned()))
        };
        if expected.trim_end() != got.trim_end() {
            failed.push(format!("{}:\n  expected:\n{expected}\n  got:\n{got}", field("name")));
        }
    }
    assert!(rows.len() > 100, "only {} snippets", rows.len());
    assert!(failed.is_empty(), "{} of {} snippets fail\n{}", failed.len(), rows.len(), failed.join("\n"));
}

/// An error without the first line, which the program adds.
fn body(stderr: &str) -> String {
    stderr.split_once('\n').map_or("", |(_, body)| body.trim_start()).to_owned()
}
