//! `--profile`: shows where a run spends time, steps and memory.

use serde_json::Value;

use super::Scratch;

const SCHEMA: &str = "#@data/values-schema\n---\n#@schema/validation min_len=1\nname: app\ncount: 20\n";
const TEMPLATE: &str = "\
#@ load(\"@ytt:data\", \"data\")
#@ def square(n):
#@   return n * n
#@ end
---
name: #@ data.values.name
items:
#@ for i in range(data.values.count):
- #@ square(i)
#@ end
";
const OVERLAY: &str = "#@ load(\"@ytt:overlay\", \"overlay\")\n#@overlay/match by=overlay.all\n---\nname: other\n";

fn scratch() -> Scratch {
    Scratch::with(&[("config/schema.yml", SCHEMA), ("config/t.yml", TEMPLATE), ("config/z.yml", OVERLAY)])
}

fn names(rows: &Value) -> Vec<&str> {
    rows.as_array().expect("a list").iter().map(|row| row["name"].as_str().unwrap_or_default()).collect()
}

#[test]
fn json_has_phases_files_functions_overlays_rules_and_lines() {
    let scratch = scratch();
    let plain = scratch.run(&["-f", "config"]);
    let (exit, stdout, stderr) = scratch.run(&["-f", "config", "--profile=json"]);
    assert_eq!((exit, &stdout), (plain.0, &plain.1), "{stderr}");
    let profile: Value = serde_json::from_str(&stderr).expect("it is JSON");
    let phases = names(&profile["phases"]);
    for phase in ["inputs", "schema", "data values", "templates", "overlays", "write", "output"] {
        assert!(phases.contains(&phase), "{phase} is missing: {phases:?}");
    }
    let files: Vec<(&str, &str)> = profile["files"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|row| (row["kind"].as_str().unwrap_or_default(), row["name"].as_str().unwrap_or_default()))
        .collect();
    for kind in ["parse", "compile", "evaluate"] {
        assert!(files.contains(&(kind, "t.yml")), "{files:?}");
    }
    let square = &profile["functions"][0];
    assert_eq!((&square["name"], &square["count"], &square["line"]), (&"square".into(), &20.into(), &2.into()));
    assert_eq!(square["own"]["steps"], 20, "one for each call: {square}");
    assert_eq!(names(&profile["overlays"]).len(), 1);
    assert_eq!(profile["overlays"][0]["line"], 3);
    assert_eq!(names(&profile["rules"]), ["length >= 1"]);
    let lines: Vec<u64> = profile["lines"]
        .as_array()
        .expect("a list")
        .iter()
        .filter(|row| row["file"] == "config/t.yml")
        .map(|row| row["line"].as_u64().unwrap_or_default())
        .collect();
    assert!(lines.contains(&3) && lines.contains(&9), "{lines:?}");
    // The phases add up to the total, except for the time between them.
    let own = |name: &str| -> u64 {
        let spans = ["phases", "files", "functions", "overlays", "rules"];
        spans
            .iter()
            .flat_map(|table| profile[table].as_array().expect("a list"))
            .map(|row| row["own"][name].as_u64().unwrap_or(0))
            .sum()
    };
    assert_eq!(own("steps"), profile["whole"]["steps"].as_u64().unwrap_or(0));
    assert!(own("nanoseconds") <= profile["whole"]["nanoseconds"].as_u64().unwrap_or(0));
}

#[test]
fn a_trace_has_one_event_for_each_span() {
    let scratch = scratch();
    let (exit, _, stderr) = scratch.run(&["-f", "config", "--profile=trace", "--profile-file", "trace.json"]);
    assert_eq!((exit, stderr.as_str()), (0, ""));
    let text = std::fs::read_to_string(scratch.0.join("trace.json")).expect("it was written");
    let trace: Value = serde_json::from_str(&text).expect("it is JSON");
    let events = trace["traceEvents"].as_array().expect("a list");
    assert_eq!(events.iter().filter(|event| event["name"] == "square").count(), 20);
    assert!(events.iter().all(|event| event["ph"] == "X" && event["ts"].is_number() && event["dur"].is_number()));
}

#[test]
fn a_flame_graph_has_a_bar_for_each_span() {
    let (exit, _, svg) = scratch().run(&["-f", "config", "--profile=flame"]);
    assert_eq!(exit, 0);
    assert!(svg.starts_with("<svg ") && svg.ends_with("</svg>\n"), "{svg}");
    assert!(svg.contains("<title>evaluate t.yml: "), "{svg}");
}

#[test]
fn text_comes_after_the_output_and_failures_have_one_too() {
    let scratch = scratch();
    let (exit, _, stderr) = scratch.run(&["-f", "config", "--profile"]);
    assert_eq!(exit, 0);
    for heading in
        ["Profile: ", "\nPhases\n", "\nFiles\n", "\nFunctions\n", "\nOverlays\n", "\nRules\n", "\nHottest lines\n"]
    {
        assert!(stderr.contains(heading), "{heading} is missing in {stderr}");
    }
    assert!(stderr.contains("square  config/t.yml:2"), "{stderr}");
    let broken = Scratch::with(&[("t.yml", "#@ def f():\n#@   return 1 // 0\n#@ end\n---\na: #@ f()\n")]);
    let (exit, _, stderr) = broken.run(&["-f", "t.yml", "--profile"]);
    assert_eq!(exit, 1);
    assert!(stderr.contains("floored division by zero") && stderr.contains("f  t.yml:1"), "{stderr}");
}

#[test]
fn unknown_formats_and_files_that_cannot_be_written_are_errors() {
    let scratch = scratch();
    let (exit, stdout, stderr) = scratch.run(&["-f", "config", "--profile=xml"]);
    assert_eq!((exit, stdout.as_str()), (1, ""));
    assert!(stderr.contains("Unknown value 'xml' of --profile (expected text, json, trace or flame)"), "{stderr}");
    let (exit, _, stderr) = scratch.run(&["-f", "config", "--profile", "--profile-file", "no/such/file"]);
    assert_eq!(exit, 1);
    assert!(stderr.contains("no/such/file"), "{stderr}");
}

#[test]
fn limits_hold_during_a_profile() {
    let scratch = Scratch::with(&[("t.yml", "#@ x = 0\n#@ while True:\n#@   x += 1\n#@ end\n---\nx: #@ x\n")]);
    let (exit, _, stderr) = scratch.run(&["-f", "t.yml", "--profile", "--limit-steps", "10000"]);
    assert_eq!(exit, 1);
    assert!(stderr.contains("10000 steps"), "{stderr}");
    let (exit, _, _) = scratch.run(&["-f", "t.yml", "--profile", "--limit-time", "200ms"]);
    assert_eq!(exit, 1);
}
