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
    // Its output directories, which a build has written, are not formatted.
    for path in [&[][..], &["."]] {
        assert_eq!(scratch.run(&[&["fmt", "--check"][..], path].concat()), (0, String::new(), String::new()));
    }
    assert_eq!(scratch.run(&["fmt", "--check", "out/dev"]).1, "out/dev/app.yml\n");
    scratch.write("values/dev.yml", "name: mine\n");
    fs::remove_file(scratch.0.join("ytterby.yml")).unwrap();
    let (exit, stdout, stderr) = scratch.run(&["init"]);
    assert_eq!((exit, stdout.as_str()), (1, ""));
    assert!(stderr.contains("values/dev.yml") && stderr.contains("nothing was written"), "{stderr}");
    assert!(!scratch.0.join("ytterby.yml").exists());
}

#[test]
fn fmt_without_paths_formats_what_the_project_names() {
    let project = "files: [config, config/a.yml]\ntargets: {dev: {values: [values.yml], output: out}}\n";
    let files = [("config/a.yml", "a:   1\n"), ("values.yml", "b:   1\n"), ("other.yml", "c:   1\n")];
    let scratch = Scratch::with(&[&files[..], &[("ytterby.yml", project)]].concat());
    let listed = "config/a.yml\nvalues.yml\nytterby.yml\n".to_owned();
    assert_eq!(scratch.run(&["fmt", "--check"]), (1, listed.clone(), String::new()));
    assert_eq!(scratch.run(&["fmt", "--write"]), (0, listed, String::new()));
    assert_eq!(scratch.run(&["fmt", "--check"]), (0, String::new(), String::new()));
    let empty = Scratch::new();
    let (exit, _, stderr) = empty.run(&["fmt", "--check"]);
    assert!(exit == 1 && stderr.contains("hint: name files or directories"), "{stderr}");
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
fn directories_that_are_up_to_date_are_not_written() {
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
fn outputs_through_links_do_not_destroy_inputs() {
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
fn watching_rebuilds_after_a_change() {
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

#[test]
fn coverage_names_lines_for_tools() {
    let template = "#@ load('@ytt:data', 'data')\n---\nhost: #@ data.values.host\n#@ if data.values.host == 'x':\nextra: \
                    #@ data.values.host\n#@ end\n";
    let project = "files: [config]\ntargets: {dev: {}}\ntests: [tests]\n";
    let test = "tests:\n- name: one\n  target: dev\n  expect: [{count: 1}]\n";
    let files = [SCHEMA, ("config/a.yml", template), ("ytterby.yml", project), ("tests/a_test.yml", test)];
    let scratch = Scratch::with(&files);
    let (exit, stdout, stderr) = scratch.run(&["test", "--coverage=lcov"]);
    assert!(exit == 0 && stderr.ends_with("1 passed\n") && stdout.starts_with("TN:\n"), "{stdout}{stderr}");
    let records: Vec<&str> = stdout.split("end_of_record\n").filter(|record| record.contains("SF:")).collect();
    let record = records.iter().find(|record| record.contains("SF:config/a.yml\n")).expect("the template is there");
    for line in ["DA:3,1", "DA:4,1", "DA:5,0"] {
        assert!(record.lines().any(|found| found == line), "{line}: {record}");
    }
    let numbers = |start: &str| record.lines().find_map(|line| line.strip_prefix(start)?.parse::<usize>().ok());
    let lines = record.lines().filter(|line| line.starts_with("DA:"));
    assert_eq!(numbers("LF:"), Some(lines.clone().count()));
    assert_eq!(numbers("LH:"), Some(lines.filter(|line| !line.ends_with(",0")).count()));
    scratch.write("tests/a_test.yml", format!("{test}- name: two\n  set: {{host: x}}\n  expect: [{{count: 1}}]\n"));
    let (_, stdout, _) = scratch.run(&["test", "--coverage=lcov"]);
    assert!(stdout.contains("DA:5,1") && !stdout.contains(",0\n"), "{stdout}");
}

/// A template that keeps a core busy for about a second.
const SLOW: (&str, &str) = (
    "config/slow.yml",
    "#@ load('@ytt:data', 'data')\n#@ n = 0\n#@ for i in range(20000000):\n#@   n += 1\n#@ end\n---\nhost: #@ \
     data.values.host\n",
);

#[test]
fn terminals_show_progress() {
    use std::io::Read;
    use std::os::fd::OwnedFd;
    use std::process::Stdio;

    use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};

    let project = "files: [config]\ntargets: {a: {output: o/a}, b: {output: o/b}}\n";
    let scratch = Scratch::with(&[SCHEMA, SLOW, ("ytterby.yml", project)]);
    let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
    grantpt(&master).unwrap();
    unlockpt(&master).unwrap();
    let name = ptsname(&master, Vec::new()).unwrap();
    let slave: OwnedFd = fs::OpenOptions::new().read(true).write(true).open(name.to_str().unwrap()).unwrap().into();
    let mut command = scratch.command(&["build", "--jobs", "2", "--color", "never"]);
    command.env("TERM", "xterm").stdout(Stdio::null()).stderr(slave);
    let mut child = command.spawn().unwrap();
    drop(command);
    let mut shown = Vec::new();
    // Reading fails when the program has ended and closed the other side.
    let _ = fs::File::from(master).read_to_end(&mut shown);
    assert!(child.wait().unwrap().success());
    let shown = String::from_utf8_lossy(&shown);
    assert!(shown.contains("Building targets: 0 of 2"), "{shown:?}");
    // The line is erased at the end.
    assert!(shown.contains("\r\u{1b}[Kbuilt 2 targets, 2 changed"), "{shown:?}");
    // It is only shown on terminals.
    assert_eq!(scratch.run(&["build", "--check"]), (0, String::new(), String::new()));
}

#[test]
fn interrupted_builds_leave_directories_whole() {
    use std::os::unix::process::ExitStatusExt;

    use rustix::process::{Pid, Signal, kill_process};

    let project = "files: [config]\ntargets:\n  quick: {set: {host: q}, output: out/quick}\n  \
                   slow: {files: [slow.yml], output: out/slow}\n";
    let endless = "#@ n = 0\n#@ while True:\n#@   n += 1\n#@ end\n---\na: 1\n";
    let files = [SCHEMA, TEMPLATE, ("slow.yml", endless), ("ytterby.yml", project), ("out/slow/a.yml", "old")];
    let scratch = Scratch::with(&files);
    super::signals::reset_ignored_signals();
    let mut child = scratch.command(&["build", "--jobs", "1", "--limit-time", "100s"]).spawn().unwrap();
    let quick = scratch.0.join("out/quick/a.yml");
    let started = Instant::now();
    while !quick.exists() {
        assert!(started.elapsed() < Duration::from_secs(60), "nothing is written");
        std::thread::sleep(Duration::from_millis(2));
    }
    kill_process(Pid::from_child(&child), Signal::INT).unwrap();
    let status = child.wait().unwrap();
    assert!(started.elapsed() < Duration::from_secs(90));
    assert!(status.signal() == Some(2) || status.code() == Some(130), "{status:?}");
    assert_eq!(scratch.list("out"), ["quick/", "quick/a.yml=host: q", "slow/", "slow/a.yml=old"]);
}

/// Runs a shell command in a copy of the shop, like a machine of the fleet.
fn shell(scratch: &Scratch, line: &str, variables: &[(&str, &str)]) -> i32 {
    let programs = Path::new(super::BIN).parent().unwrap().display().to_string();
    let path = format!("{programs}:{}", std::env::var("PATH").unwrap_or_default());
    let mut command = std::process::Command::new("sh");
    command.args(["-c", line]).current_dir(&scratch.0).env("PATH", path).envs(variables.iter().copied());
    command.stdout(std::process::Stdio::null()).status().unwrap().code().unwrap()
}

#[test]
fn fleets_build_what_one_machine_builds() {
    let shop = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/shop");
    let whole = Scratch::new();
    copied(&shop, &whole.0);
    assert_eq!(whole.run(&["build"]).0, 0);
    let expected = whole.list("out");
    let workflow = fs::read_to_string(shop.join(".github/workflows/shop.yml")).unwrap();
    let lines: Vec<&str> = workflow.lines().filter_map(|line| line.trim().strip_prefix("- run: ")).collect();
    let (build, checks) = lines.split_last().unwrap();
    assert!(checks.len() == 2 && build.contains("--shard ${{ matrix.shard }}/2"), "{lines:?}");
    let fleet = Scratch::new();
    copied(&shop, &fleet.0);
    for line in checks {
        assert_eq!(shell(&fleet, line, &[]), 0, "{line}");
    }
    fs::remove_dir_all(fleet.0.join("out")).unwrap();
    for shard in ["1", "2"] {
        assert_eq!(shell(&fleet, &build.replace("${{ matrix.shard }}", shard), &[]), 0);
    }
    assert_eq!(fleet.list("out"), expected);
    let job = fs::read_to_string(shop.join("fleet/job.yml")).unwrap();
    let command = job.lines().find_map(|line| line.trim().strip_prefix("command: ")).unwrap();
    let command: Vec<String> = serde_json::from_str(command).unwrap();
    assert_eq!(command[..2], ["sh", "-c"]);
    fs::remove_dir_all(fleet.0.join("out")).unwrap();
    for index in 0..8 {
        assert_eq!(shell(&fleet, &command[2], &[("JOB_COMPLETION_INDEX", &index.to_string())]), 0);
    }
    assert_eq!(fleet.list("out"), expected);
}

#[test]
fn generated_values_are_those_of_the_project() {
    let template = "#@ load('@ytt:data', 'data')\n---\napiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: #@ \
                    data.values.host\n";
    let project = "files: [config]\nkubernetes: \"1.36\"\ntargets:\n  fixed: {set: {host: fixed}}\n  other: {}\n";
    let scratch = Scratch::with(&[SCHEMA, ("config/a.yml", template), ("ytterby.yml", project)]);
    let (exit, stdout, _) = scratch.run(&["gen", "--count", "3", "--seed", "1"]);
    assert_eq!((exit, stdout.matches("---\n").count()), (0, 2), "{stdout}");
    // An empty name is invalid for a ConfigMap; if the name is set, nothing can fail.
    let (exit, stdout, _) = scratch.run(&["gen", "--check"]);
    assert!(exit == 1 && stdout.contains("kubernetes/") && stdout.contains("host: \"\""), "{stdout}");
    let (exit, stdout, _) = scratch.run(&["gen", "fixed", "--check"]);
    assert_eq!((exit, stdout.as_str()), (0, ""));
    assert_eq!(scratch.run(&["gen", "nope", "--check"]).0, 1);
    let (exit, stdout, _) = scratch.run(&["explain", "host"]);
    assert!(exit == 0 && stdout.contains("host = \"fixed\"") && stdout.contains("ytterby.yml:4"), "{stdout}");
    let (exit, stdout, _) = scratch.run(&["explain", "--target", "other", "host"]);
    assert!(exit == 0 && stdout.contains("host = \"localhost\""), "{stdout}");
}

#[test]
fn watching_an_unknown_target_ends() {
    let project = "files: [config]\ntargets: {dev: {output: out}}\n";
    let scratch = Scratch::with(&[SCHEMA, TEMPLATE, ("ytterby.yml", project)]);
    let (exit, _, stderr) = scratch.run(&["watch", "dve"]);
    assert!(exit == 1 && stderr.contains("unknown target \"dve\""), "{stderr}");
}
