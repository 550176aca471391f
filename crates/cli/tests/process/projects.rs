//! Projects: `init`, `build`, `watch`, `test`, and the example of the documentation.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use super::Scratch;

const SCHEMA: (&str, &str) = ("config/schema.yml", "#@data/values-schema\n---\nhost: localhost\n");
const TEMPLATE: (&str, &str) = ("config/a.yml", "#@ load('@ytt:data', 'data')\n---\nhost: #@ data.values.host\n");

fn copied(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap().map(Result::unwrap) {
        let place = to.join(entry.file_name());
        match entry.file_type().unwrap().is_dir() {
            true => copied(&entry.path(), &place),
            false => drop(fs::copy(entry.path(), place).unwrap()),
        }
    }
}

#[test]
fn a_new_project_works_and_is_never_overwritten() {
    let scratch = Scratch::new();
    let (exit, stdout, _) = scratch.run(&["init"]);
    assert_eq!((exit, stdout.lines().count()), (0, 7), "{stdout}");
    assert_eq!(scratch.run(&["build"]), (0, String::new(), String::new()));
    let (exit, stdout, stderr) = scratch.run(&["test"]);
    assert_eq!((exit, stderr.as_str()), (0, ""), "{stdout}");
    let (exit, _, stderr) = scratch.run(&["fmt", "--check", "values"]);
    assert_eq!((exit, stderr.as_str()), (0, ""));
    scratch.write("values/dev.yml", "name: mine\n");
    fs::remove_file(scratch.0.join("ytterby.yml")).unwrap();
    let (exit, stdout, stderr) = scratch.run(&["init"]);
    assert_eq!((exit, stdout.as_str()), (1, ""));
    assert!(stderr.contains("values/dev.yml") && stderr.contains("nothing was written"), "{stderr}");
    assert!(!scratch.0.join("ytterby.yml").exists());
}

#[test]
fn the_shop_builds_and_its_tests_pass() {
    let scratch = Scratch::new();
    copied(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/shop"), &scratch.0);
    assert_eq!(scratch.run(&["build"]), (0, String::new(), String::new()));
    assert_eq!(scratch.run(&["build", "--check"]), (0, String::new(), String::new()));
    let (exit, stdout, stderr) = scratch.run(&["test"]);
    assert!(exit == 0 && stderr.is_empty() && stdout.ends_with("7 passed\n"), "{stdout}{stderr}");
    let (exit, stdout, stderr) = scratch.run(&["kubernetes", "validate", "--kubernetes", "1.36", "fleet/job.yml"]);
    assert_eq!((exit, stdout.as_str(), stderr.as_str()), (0, "", ""));
}

#[test]
fn what_is_up_to_date_is_not_written() {
    let project = "files: [config]\ntargets: {dev: {output: out}}\n";
    let scratch = Scratch::with(&[SCHEMA, TEMPLATE, ("ytterby.yml", project)]);
    assert_eq!(scratch.run(&["build"]).0, 0);
    let written = || fs::metadata(scratch.0.join("out/a.yml")).unwrap().modified().unwrap();
    let before = written();
    assert_eq!(scratch.run(&["build"]).0, 0);
    assert_eq!(written(), before);
    scratch.write("out/extra.yml", "a: 1\n");
    assert_eq!(scratch.run(&["build", "--check"]).0, 1);
    assert!(scratch.0.join("out/extra.yml").exists());
    assert_eq!(scratch.run(&["build"]).0, 0);
    assert_eq!(scratch.list("out"), ["a.yml=host: localhost"]);
}

#[test]
fn shards_build_every_target_once() {
    let project = "files: [config]\ntargets: {all: {matrix: {n-o: [1, 2, 3, 4, 5, 6, 7]}, output: \"out/{n-o}\"}}\n";
    let whole = Scratch::with(&[SCHEMA, TEMPLATE, ("ytterby.yml", project)]);
    let mut seen = BTreeSet::new();
    for shard in ["1/3", "2/3", "3/3"] {
        assert_eq!(whole.run(&["build", "--shard", shard]).0, 0);
        let built: BTreeSet<String> = match whole.0.join("out").exists() {
            true => whole.list("out").into_iter().filter(|entry| entry.ends_with('/')).collect(),
            false => BTreeSet::new(),
        };
        assert!(seen.is_disjoint(&built));
        seen.extend(built);
        let _ = fs::remove_dir_all(whole.0.join("out"));
    }
    assert_eq!(seen.len(), 7);
}

#[test]
fn outputs_behind_links_do_not_destroy_inputs() {
    let project = "files: [config]\ntargets: {dev: {output: link/config}, other: {output: alias}}\n";
    let scratch = Scratch::with(&[SCHEMA, TEMPLATE, ("ytterby.yml", project)]);
    std::os::unix::fs::symlink(".", scratch.0.join("link")).unwrap();
    std::os::unix::fs::symlink("config", scratch.0.join("alias")).unwrap();
    let (exit, _, stderr) = scratch.run(&["build"]);
    assert_eq!(exit, 1);
    assert!(stderr.contains("contains the input config") && stderr.contains("is a symbolic link"), "{stderr}");
    assert!(scratch.0.join("config/a.yml").exists());
}

#[test]
fn equal_findings_are_reported_once() {
    let project = "files: [config]\nvalues: [v.yml]\ntargets: {dev: {output: o/d}, prod: {output: o/p}}\n";
    let scratch = Scratch::with(&[SCHEMA, TEMPLATE, ("v.yml", "hots: x\n"), ("ytterby.yml", project)]);
    for format in ["text", "rich", "json", "sarif", "github", "junit"] {
        let (exit, _, stderr) = scratch.run(&["build", "--diagnostics", format]);
        let needle = if format == "text" { "hots: x" } else { "schema/unknown-key" };
        let found = if format == "sarif" { 1 } else { stderr.matches(needle).count() };
        assert!(exit == 1 && (1..=2).contains(&found), "{format}: {stderr}");
    }
    let (_, _, stderr) = scratch.run(&["build", "--diagnostics=json"]);
    assert!(stderr.lines().count() == 1 && stderr.contains("in targets dev, prod"), "{stderr}");
}

#[test]
fn watching_builds_again() {
    let project = "files: [config]\ntargets: {dev: {values: [v.yml], output: out}}\n";
    let scratch = Scratch::with(&[SCHEMA, TEMPLATE, ("v.yml", "host: one\n"), ("ytterby.yml", project)]);
    let mut child = scratch.command(&["watch"]).spawn().unwrap();
    let wait_for = |text: &str| {
        let started = Instant::now();
        while !fs::read_to_string(scratch.0.join("out/a.yml")).is_ok_and(|found| found.contains(text)) {
            assert!(started.elapsed() < Duration::from_secs(60), "no {text}");
            std::thread::sleep(Duration::from_millis(5));
        }
    };
    wait_for("one");
    scratch.write("v.yml", "host: [\n");
    scratch.write("v.yml", "host: two\n");
    wait_for("two");
    scratch.write(".new", "host: three\n");
    fs::rename(scratch.0.join(".new"), scratch.0.join("v.yml")).unwrap();
    wait_for("three");
    scratch.write("ytterby.yml", "files: [config]\ntargets: {dev: {set: {host: four}, output: out}}\n");
    wait_for("four");
    child.kill().unwrap();
    child.wait().unwrap();
}

#[test]
fn parallel_equals_sequential() {
    let project =
        "files: [config]\ntargets: {all: {matrix: {host: [a, b, c, d, e, f, g, h]}, set: {host: \"{host}\"}}}\n";
    let scratch = Scratch::with(&[SCHEMA, TEMPLATE, ("ytterby.yml", project)]);
    let one = scratch.run(&["build", "--jobs", "1"]);
    assert_eq!(one.0, 0);
    assert_eq!(one.1.matches("---\n").count(), 7);
    assert_eq!(scratch.run(&["build", "--jobs", "8"]), one);
}
