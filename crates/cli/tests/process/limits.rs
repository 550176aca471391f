//! Limits: each ends a run with its id, position, hottest line and flag, and nothing is written.

use super::Scratch;

/// Runs a template with flags and returns the JSON line about the limit.
#[track_caller]
fn check(template: &str, args: &[&str], id: &str, line: Option<u32>) -> serde_json::Value {
    let scratch = Scratch::with(&[("t.yml", template)]);
    let all = [&["-f", "t.yml", "--diagnostics=json"], args].concat();
    let (exit, stdout, stderr) = scratch.run(&all);
    assert_eq!((exit, stdout.as_str()), (1, ""), "{stderr}");
    let lines = stderr.lines().map(|line| serde_json::from_str::<serde_json::Value>(line).expect("a line is JSON"));
    let found = lines.into_iter().find(|line| line["id"] == id).unwrap_or_else(|| panic!("no {id} in {stderr}"));
    if let Some(line) = line {
        assert_eq!(found["range"]["start"]["line"], line, "{found}");
    }
    assert!(found["help"].to_string().contains("--limit-"), "{found}");
    found
}

const ENDLESS: &str = "#@ x = 0\n#@ while True:\n#@   x += 1\n#@ end\n---\nx: #@ x\n";

#[test]
fn time_is_limited() {
    let found = check(ENDLESS, &["--limit-time", "200ms"], "limit/time", None);
    let labels = found["labels"].as_array().expect("there are labels");
    let hottest = labels.iter().find(|label| label["text"].to_string().contains("of the time was spent on this line"));
    assert!(hottest.is_some(), "{found}");
}

/// `gen --check` renders with many inputs; a time limit that is given is for all of them.
#[test]
fn time_of_generated_inputs_is_limited() {
    let template = "#@ load(\"@ytt:data\", \"data\")\n#@ x = 0\n#@ for i in range(300000):\n#@   x += i\n#@ end\n---\nx: #@ data.values.count\n";
    let schema = "#@data/values-schema\n---\ncount: 0\n";
    let scratch = Scratch::with(&[("t.yml", template), ("schema.yml", schema)]);
    let args = ["gen", "-f", ".", "--check", "--count", "5000", "--limit-time", "500ms", "--diagnostics=json"];
    let (exit, _, stderr) = scratch.run(&args);
    assert!(exit == 1 && stderr.contains("limit/time"), "{exit} {stderr}");
    assert!(stderr.contains("(--limit-time 500ms)"), "{stderr}");
}

#[test]
fn steps_are_limited() {
    check(ENDLESS, &["--limit-steps", "10000"], "limit/steps", None);
}

#[test]
fn memory_is_limited() {
    let list = "#@ x = [1]\n#@ for i in range(60):\n#@   x.extend(x)\n#@ end\n---\nx: #@ len(x)\n";
    check(list, &["--limit-memory", "100MiB"], "limit/memory", Some(3));
    let text = "#@ x = str([\"x\" * 1000000 for i in range(1000)])\n---\nx: #@ len(x)\n";
    check(text, &["--limit-memory", "100MiB"], "limit/memory", None);
}

/// ytt's text form names the place, too, even if the code that reached the limit has no stack of
/// calls.
#[test]
fn the_text_form_names_a_place() {
    let template = "#@ load(\"@ytt:json\", \"json\")\n#@ a = {\"k\": 0}\n#@ for i in range(60):\n\
                    #@   a = {\"a\": a, \"b\": a}\n#@ end\n---\nx: #@ json.encode(a)\n";
    let scratch = Scratch::with(&[("t.yml", template)]);
    let (exit, stdout, stderr) = scratch.run(&["-f", "t.yml", "--limit-memory", "100MiB"]);
    assert_eq!((exit, stdout.as_str()), (1, ""), "{stderr}");
    assert_eq!(stderr, "ytterby: Error: memory limit exceeded (--limit-memory 100MiB) at t.yml:7\n");
}

#[test]
fn output_and_depth_are_limited() {
    let loop_of_items = "#@ for i in range(10000):\n- #@ \"0123456789\" * 5\n#@ end\n";
    check(loop_of_items, &["--limit-output", "10KiB"], "limit/output", None);
    let printing = "#@ for i in range(10000):\n#@   print(\"0123456789\")\n#@ end\n";
    let scratch = Scratch::with(&[("t.yml", printing)]);
    let (exit, _, stderr) = scratch.run(&["-f", "t.yml", "--limit-output", "10KiB"]);
    assert!(exit == 1 && stderr.contains("output limit exceeded (--limit-output 10KiB)"), "{exit}");
    let deep = "#@ def f(n):\n#@   return 0 if n == 0 else f(n-1)\n#@ end\n---\nx: #@ f(500)\n";
    check(deep, &["--limit-depth", "100"], "limit/depth", Some(2));
    assert_eq!(Scratch::with(&[("t.yml", deep)]).run(&["-f", "t.yml", "--limit-depth", "1000"]).0, 0);
}

/// Values that contain each other twice have exponential size.
#[test]
fn walks_over_shared_values_are_limited() {
    let double = |what: &str, start: &str, make: &str| {
        format!(
            "#@ load(\"@ytt:json\", \"json\")\n#@ load(\"@ytt:toml\", \"toml\")\n#@ load(\"@ytt:yaml\", \"yaml\")\n\
             #@ load(\"@ytt:overlay\", \"overlay\")\n#@ a = {start}\n#@ for i in range(60):\n#@   a = {make}\n#@ end\n\
             ---\nx: #@ {what}\n"
        )
    };
    let limits = ["--limit-time", "1s", "--limit-memory", "300MiB"];
    for what in ["a", "str(a)", "json.encode(a)", "yaml.encode(a)", "overlay.apply(a, a)", "len([] if a == a else [])"]
    {
        let template = double(what, "{\"k\": 0}", "{\"a\": a, \"b\": a}");
        let scratch = Scratch::with(&[("t.yml", template.as_str())]);
        let (exit, _, stderr) = scratch.run(&[&["-f", "t.yml", "--diagnostics=json"], &limits[..]].concat());
        let is_known = stderr.contains("limit/") || stderr.contains("maximum recursion depth") || exit == 0;
        assert!(is_known, "{what}: {exit} {stderr}");
    }
    let nodes = "#@ load(\"@ytt:overlay\", \"overlay\")\n#@ def one():\na: 1\n#@ end\n#@ def both(x):\na: #@ x\nb: #@ x\n#@ end\n\
                 #@ n = one()\n#@ for i in range(60):\n#@   n = both(n)\n#@ end\n--- #@ overlay.apply(n, n)\n";
    check(nodes, &limits, "limit/time", None);
}

/// One call of a built-in function can take minutes. The limit ends it, not the end of the call.
#[test]
fn single_calls_are_interrupted() {
    let header = "#@ load(\"@ytt:regexp\", \"regexp\")\n#@ load(\"@ytt:sha256\", \"sha256\")\n\
                  #@ t = \"\".join([sha256.sum(str(i)) for i in range(3000)])\n---\n";
    for call in [
        "regexp.match(\"[0-7][0-9a-f]{900}[g-z]\", t * 20)",
        "regexp.replace(\"[0-7][0-9a-f]{900}[g-z]\", t * 20, \"\")",
        "sha256.sum(t * 1500)",
        "len((\"ä\" + t * 500).title())",
    ] {
        let template = format!("{header}x: #@ {call}\n");
        let scratch = Scratch::with(&[("t.yml", template.as_str())]);
        let started = std::time::Instant::now();
        let (exit, stdout, stderr) =
            scratch.run(&["-f", "t.yml", "--limit-time", "100ms", "--limit-memory", "1GiB", "--diagnostics=json"]);
        assert!(stdout.is_empty() && exit == 1 && stderr.contains("limit/time"), "{call}: {stdout} {stderr}");
        // Processor time cannot be asked for here; a busy machine takes a few times as long.
        assert!(started.elapsed().as_secs() < 20, "{call}: {:?}", started.elapsed());
    }
}

/// Overlays that double an array: each copy is charged before it is made, and the report names an
/// overlay.
#[test]
fn overlays_that_double_an_array() {
    let header = "#@ load(\"@ytt:overlay\", \"overlay\")\n";
    let overlay = "#@overlay/match by=overlay.all\n---\na:\n#@overlay/match by=overlay.all, expects=\"0+\"\n\
                   #@overlay/insert before=True, after=True\n- 1\n";
    let overlays = header.to_owned() + &overlay.repeat(40);
    let scratch = Scratch::with(&[("a.yml", "a:\n- 1\n"), ("o.yml", overlays.as_str())]);
    let limits = ["--limit-time", "60s", "--limit-memory", "100MiB", "--diagnostics=json"];
    let (exit, stdout, stderr) = scratch.run(&[&["-f", "."], &limits[..]].concat());
    assert_eq!((exit, stdout.as_str()), (1, ""), "{stderr}");
    let found: serde_json::Value = serde_json::from_str(stderr.trim()).expect("a line is JSON");
    assert_eq!(found["id"], "limit/memory");
    assert_eq!(found["range"]["file"], "o.yml", "{found}");
}

#[test]
fn a_limit_is_for_the_whole_run() {
    let library =
        "#@ load(\"@ytt:library\", \"library\")\n#@ x = [library.get(\"a\").eval() for i in range(1000000)]\na: 1\n";
    let scratch = Scratch::with(&[("c.yml", library), ("_ytt_lib/a/c.yml", "a: 1\n")]);
    let (exit, _, stderr) = scratch.run(&["-f", ".", "--limit-time", "500ms"]);
    assert!(exit == 1 && stderr.contains("time limit exceeded (--limit-time 500ms"), "{stderr}");
}

#[test]
fn wrong_limits_are_errors() {
    let scratch = Scratch::with(&[("t.yml", "a: 1\n")]);
    for (flag, value) in [
        ("--limit-time", "banana"),
        ("--limit-time", "10"),
        ("--limit-memory", "10parsecs"),
        ("--limit-steps", "-5"),
        ("--limit-output", "0"),
        ("--limit-depth", "1.5"),
    ] {
        let (exit, stdout, stderr) = scratch.run(&["-f", "t.yml", &format!("{flag}={value}")]);
        assert_eq!((exit, stdout.as_str()), (1, ""));
        assert!(stderr.contains(value) && stderr.contains(flag), "{stderr}");
    }
    for flag in ["--limit-time=none", "--limit-memory=none", "--limit-steps=none", "--limit-output=none"] {
        assert_eq!(scratch.run(&["-f", "t.yml", flag]), (0, "a: 1\n".to_owned(), String::new()));
    }
}

/// A line of code can violate a rule a million times: the first thousand are reported, the others
/// counted.
#[test]
fn reports_are_bounded() {
    let schema = "#@data/values-schema\n---\n#@schema/default [1] * 20000\na:\n#@schema/validation min=2\n- 1\n";
    let scratch = Scratch::with(&[("s.yml", schema)]);
    for format in ["text", "rich", "json"] {
        let (exit, _, stderr) = scratch.run(&["-f", ".", &format!("--diagnostics={format}")]);
        assert_eq!(exit, 1);
        assert!(stderr.len() < 2_000_000, "{format}: {} bytes", stderr.len());
        // Formats for people show the first errors and count the others.
        let counted = if format == "rich" { "1,001 errors" } else { "19000 more values break rules" };
        assert!(stderr.contains(counted), "{format}: {stderr}");
    }
}

/// The written text counts, not only the values: it can be mostly indentation.
#[test]
fn indentation_counts_as_memory() {
    let deep =
        "#@ def f(n):\n#@   return {\"a\": f(n - 1)} if n else 1\n#@ end\n#@ x = f(2000)\n---\nx: #@ [x] * 200\n";
    check(deep, &["--limit-memory", "150MiB"], "limit/memory", None);
}

/// Long calls of built-in functions end in time, and their line is the hottest.
#[test]
fn long_calls_of_functions_are_limited() {
    for code in [
        "repr(\"\\x01\" * 100000000)",
        "(\"a\" * 3000000).strip(\"bcdefghijk\" * 100000 + \"a\")",
        "(\"a\" * 3000000).startswith(tuple([\"a\" * 2999999 + \"b\"] * 100000))",
        "(\"{0}\" * 1000000).format(\"a\" * 1000)",
        "(\"%(a)s\" * 1000000) % {\"a\": \"a\" * 1000}",
        "yaml.encode([s] * 10)",
        "json.encode([s] * 10)",
        "url.query_params_encode({\"a\": [s] * 10})",
        "url.query_params_decode(\"a=1&\" * 1000000)",
        "url.parse(\"http://a/\" + s)",
        "regexp.replace(\"((\\\\w{1,300})\\\\s?)*$\", s, \"$1\")",
        "regexp.match(\"(a|b)\" * 1000000, s)",
        "regexp.replace(\"(a|b)\" * 8000 + \"b\", \"a\" * 8000 + \"b\", \"$1\")",
    ] {
        let loads = "#@ load(\"@ytt:yaml\", \"yaml\")\n#@ load(\"@ytt:json\", \"json\")\n#@ load(\"@ytt:url\", \"url\")\n#@ load(\"@ytt:regexp\", \"regexp\")\n";
        let template =
            format!("{loads}#@ s = \"ab\" * 5000000\n#@ for i in range(1000):\n#@   x = {code}\n#@ end\n---\nx: 1\n");
        let scratch = Scratch::with(&[("t.yml", template.as_str())]);
        let args = ["-f", "t.yml", "--diagnostics=json", "--limit-time", "500ms", "--limit-memory", "300MiB"];
        let (exit, _, stderr) = scratch.run(&args);
        assert!(exit == 1 && stderr.contains("\"id\":\"limit/"), "{code}: {stderr}");
    }
}

#[test]
fn commands_that_check_have_limits() {
    let labels: String = (0..50_000).map(|number| format!("    k{number}: v{number}\n")).collect();
    let vm = format!(
        "kind: VirtualMachine\nmetadata:\n  name: a\n  labels:\n{labels}spec: {{template: {{spec: {{domain: {{}}}}}}}}\n"
    );
    let selector = format!(
        "apiVersion: apps/v1\nkind: Deployment\nmetadata: {{name: a}}\nspec:\n  selector:\n   matchLabels:\n{labels}  template:\n   metadata:\n    labels:\n{}   spec: {{containers: [{{name: a, image: b}}]}}\n",
        labels.replace("    k", "     k")
    );
    let pod = format!("apiVersion: v1\nkind: Pod\nmetadata:\n  name: a\n  labels:\n{labels}");
    let scratch = Scratch::with(&[("vm.yml", vm.as_str()), ("pod.yml", pod.as_str()), ("d.yml", selector.as_str())]);
    // Looking up each of them among all of the others took half a minute.
    let (exit, _, stderr) = scratch.run(&["kubernetes", "validate", "d.yml", "--limit-time", "5s"]);
    assert_eq!(exit, 0, "{stderr}");
    for command in [
        &["kubevirt", "validate", "vm.yml"][..],
        &["kubevirt", "lint", "vm.yml"],
        &["kubevirt", "explain", "vm.yml"],
        &["kubernetes", "validate", "pod.yml"],
    ] {
        let (exit, _, stderr) = scratch.run(&[command, &["--limit-memory", "1MiB"]].concat());
        assert_eq!(exit, 1, "{command:?} {stderr}");
        assert!(stderr.contains("memory limit exceeded (--limit-memory 1MiB)"), "{command:?} {stderr}");
        assert_ne!(scratch.run(&[command, &["--limit-memory", "1GiB"]].concat()).2, stderr);
    }
}

/// Inputs that took minutes: each is done soon, or ends at its limit.
#[test]
fn hostile_inputs_end() {
    let description = "#@data/values-schema\n---\n#@schema/desc \"x\" * 200000000\na: 1\n";
    for (name, text, args) in [
        ("schema.yml", description, &["--data-values-schema-inspect", "-o", "values"][..]),
        ("schema.yml", description, &["--data-values-schema-inspect", "-o", "markdown"]),
        ("schema.yml", description, &["--data-values-schema-inspect", "-o", "html"]),
    ] {
        let scratch = Scratch::with(&[("t.yml", "a: 1\n"), (name, text)]);
        let limits = ["-f", ".", "--limit-time", "500ms", "--limit-memory", "300MiB"];
        let (exit, stdout, stderr) = scratch.run(&[&limits, args].concat());
        assert!(exit == 1 && stdout.is_empty() && stderr.contains("limit exceeded"), "{args:?}: {stderr}");
    }

    // Keys that are collections are hashed, too.
    let keys = "? [a]\n: b\n".repeat(100_000);
    assert_eq!(Scratch::with(&[("t.yml", keys.as_str())]).run(&["-f", "t.yml"]).0, 0);
}

/// The message about items that an overlay matches names a thousand of them.
#[test]
fn many_matches_are_counted() {
    let items = format!("---\nlist:\n{}", "- name: a\n".repeat(3000));
    let overlay = "#@ load(\"@ytt:overlay\", \"overlay\")\n#@overlay/match by=overlay.all\n---\nlist:\n#@overlay/match by=\"name\"\n- name: a\n";
    let scratch = Scratch::with(&[("t.yml", items.as_str()), ("overlay.yml", overlay)]);
    let (exit, _, stderr) = scratch.run(&["-f", "."]);
    assert!(exit == 1 && stderr.contains("to be 1, but was 3000 (lines: t.yml:10, t.yml:100, "), "{stderr}");
    assert!(stderr.contains(" and 2000 more)"), "{stderr}");
}

/// Each file of a chain adds a level to the message; the levels in the middle are counted.
#[test]
fn errors_of_long_chains_of_files_are_bounded() {
    let chain: Vec<(String, String)> = (0..1_000)
        .map(|number| (format!("f{number}.star"), format!("load(\"f{}.star\", \"x\")\n", number + 1)))
        .chain([
            ("f1000.star".to_owned(), "x = 1 // 0\n".to_owned()),
            ("t.yml".to_owned(), "#@ load(\"f0.star\", \"x\")\na: 1\n".to_owned()),
        ])
        .collect();
    let files: Vec<(&str, &str)> = chain.iter().map(|(name, text)| (name.as_str(), text.as_str())).collect();
    let (exit, _, stderr) = Scratch::with(&files).run(&["-f", "."]);
    assert_eq!(exit, 1);
    assert!(stderr.len() < 66_000, "{} bytes", stderr.len());
    assert!(stderr.contains(" errors more\n") && stderr.contains("cannot load f1.star"), "{}", &stderr[..2_000]);
}

/// Each error has its line: the first thousand are listed.
#[test]
fn errors_on_one_line_are_counted() {
    let parameters = format!("#@ def f({}):\n#@   return 1\n#@ end\na: 1\n", "k=1,".repeat(20_000));
    let (exit, _, stderr) = Scratch::with(&[("t.yml", parameters.as_str())]).run(&["-f", "."]);
    assert_eq!(exit, 1);
    assert!(stderr.len() < 66_000, "{} bytes", stderr.len());
    assert!(stderr.contains("- 18999 more errors, of which this is the first"), "{}", &stderr[stderr.len() - 6_000..]);

    let unknown: String = (0..3_000).map(|number| format!("unknown{number}: 1\n")).collect();
    let scratch = Scratch::with(&[("ytterby.yml", unknown.as_str()), ("t.yml", "a: 1\n")]);
    let (exit, _, stderr) = scratch.run(&["build"]);
    assert_eq!(exit, 1);
    assert!(stderr.matches("unknown key").count() <= 1_000, "{}", stderr.len());
    assert!(stderr.contains("2000 more errors, of which this is the first (ytterby.yml:1001)"), "{stderr}");
}

/// A walk over values that a limit ends is reported at the line of the call that began it.
#[test]
fn limits_in_functions_have_a_line() {
    let loads =
        "#@ load(\"@ytt:json\", \"json\")\n#@ load(\"@ytt:toml\", \"toml\")\n#@ load(\"@ytt:yaml\", \"yaml\")\n";
    for code in [
        "json.encode([[1]] * 1000000, indent=8)",
        "[json.encode([[1]] * 100000, indent=8) for i in range(1000)]",
        "[yaml.encode([[1]] * 100000) for i in range(1000)]",
        "[toml.decode(\"a=[\" + \"{b=1},\" * 30000 + \"]\") for i in range(1000)]",
        "[toml.encode({\"a\": [{\"b\": 1}] * 30000}) for i in range(1000)]",
    ] {
        let template = format!("{loads}#@ x = {code}\n---\nx: 1\n");
        let found = check(&template, &["--limit-memory", "100MiB"], "limit/memory", Some(4));
        assert!(found["range"]["file"] == "t.yml", "{code}: {found}");
        let scratch = Scratch::with(&[("t.yml", template.as_str())]);
        let (_, _, stderr) = scratch.run(&["-f", ".", "--limit-memory", "100MiB"]);
        assert!(stderr.contains("t.yml:4"), "{code}: {stderr}");
    }
}

/// `check` has one clock for all of its runs: a given limit is for the whole command.
#[test]
fn time_of_checks_is_limited() {
    let scratch = Scratch::with(&[("t.yml", ENDLESS), ("schema.yml", "#@data/values-schema\n---\na: 1\n")]);
    let (exit, stdout, _) = scratch.run(&["check", "-f", ".", "--limit-time", "300ms"]);
    assert!(exit == 1 && stdout.contains("time limit exceeded (--limit-time 300ms)"), "{stdout}");
    assert_eq!(stdout.matches("time limit exceeded").count(), 1, "{stdout}");
}

/// Each mount looks up its volume by name.
#[test]
fn pods_with_many_volumes_are_checked() {
    let pod = |offset: usize| {
        let mounts: String =
            (0..40_000).map(|at| format!("    - {{name: v{}, mountPath: /a{at}}}\n", at + offset)).collect();
        let volumes: String = (0..40_000).map(|at| format!("  - {{name: v{at}, emptyDir: {{}}}}\n")).collect();
        format!(
            "apiVersion: v1\nkind: Pod\nmetadata: {{name: a}}\nspec:\n  containers:\n  - name: c\n    image: i\n    volumeMounts:\n{mounts}  volumes:\n{volumes}"
        )
    };
    let (good, bad) = (pod(0), pod(39_000));
    let scratch = Scratch::with(&[("good.yml", good.as_str()), ("bad.yml", bad.as_str())]);
    let (exit, _, stderr) = scratch.run(&["kubernetes", "validate", "good.yml", "--limit-time", "10s"]);
    assert_eq!(exit, 0, "{stderr}");
    let (exit, _, stderr) = scratch.run(&["kubernetes", "validate", "bad.yml", "--limit-time", "10s"]);
    assert!(exit == 1 && !stderr.contains("limit exceeded"), "{}", &stderr[..stderr.len().min(1000)]);
}

/// Texts that have no line in common are replaced as a whole, and failed tests show the beginning
/// of long values.
#[test]
fn differences_are_bounded() {
    let text: String = (0..12_000).map(|number| format!("k{number}:   1\n")).collect();
    let old: String = (0..12_000).map(|number| format!("z{number}: 1\n")).collect();
    let project = "files: [t.yml]\ntests: [a_test.yml]\ntargets: {t: {output: o}}\n";
    let wanted = format!(
        "tests:\n- name: one\n  target: t\n  expect:\n  - equals: {{k0: {0}}}\n  - contains: {{k1: {0}}}\n  - equals: {{k2: [{0}]}}\n",
        "x".repeat(1_000_000)
    );
    let files = [("t.yml", text.as_str()), ("o/t.yml", &old), ("ytterby.yml", project), ("a_test.yml", &wanted)];
    let scratch = Scratch::with(&files);
    for args in [&["fmt", "--diff", "t.yml"][..], &["build", "--diff"]] {
        let (_, stdout, stderr) = scratch.run(args);
        assert!(stdout.contains("@@ -1,12000 +1,12000 @@\n-"), "{args:?}: {stderr}");
    }
    let (exit, stdout, stderr) = scratch.run(&["test"]);
    assert_eq!(exit, 1, "{stderr}");
    assert!(stdout.len() + stderr.len() < 200_000, "{} bytes", stdout.len() + stderr.len());
}

/// Expectations find their documents by the values that they name.
#[test]
fn many_expectations_of_many_documents() {
    let documents: String = (0..10_000).map(|number| format!("---\nkind: K\na: {number}\n")).collect();
    let expectations: String = (0..10_000)
        .map(|number| format!("  - {{document: {{kind: K, a: {number}}}, equals: {{kind: K}}}}\n"))
        .collect();
    let tests = format!("tests:\n- name: one\n  target: t\n  expect:\n{expectations}");
    let project = "files: [t.yml]\ntests: [a_test.yml]\ntargets: {t: {output: o}}\n";
    let files = [("t.yml", documents.as_str()), ("ytterby.yml", project), ("a_test.yml", &tests)];
    let scratch = Scratch::with(&files);
    let (exit, stdout, stderr) = scratch.run(&["test", "--limit-time", "10s"]);
    assert_eq!(exit, 0, "{} {stderr}", &stdout[..stdout.len().min(1000)]);
    scratch.write("a_test.yml", tests.replace("a: 9999", "a: z"));
    let (exit, stdout, _) = scratch.run(&["test", "--limit-time", "10s"]);
    assert!(exit == 1 && stdout.contains("found 0"), "{}", &stdout[..stdout.len().min(1000)]);
}

/// Whatever reaches a limit, the report names the limit, the flag and a place in a file, and
/// nothing is written.
#[test]
fn every_command_names_the_place() {
    let keys = |from: usize, to: usize, value: &str| -> String {
        (from..to).map(|number| format!("#@schema/desc \"text\"\nk{number}:\n  a: {value}\n")).collect()
    };
    let schema = format!("#@data/values-schema\n---\n{}", keys(0, 20_000, "x"));
    let other = format!("#@data/values-schema\n---\n{}", keys(0, 20_000, "1"));
    let plain: String = (0..100_000).map(|number| format!("k{number}: v{number}\n")).collect();
    let properties: Vec<String> = (0..20_000).map(|at| format!("\"k{at}\": {{\"type\": \"string\"}}")).collect();
    let json = format!("{{\"type\": \"object\", \"properties\": {{{}}}}}", properties.join(", "));
    let pod = "---\napiVersion: v1\nkind: Pod\nmetadata:\n  name: A\nspec:\n  containers:\n  - name: a\n    image: b\n";
    let rules: Vec<String> = (0..200)
        .map(|at| format!("{{\"name\": \"r{at}\", \"path\": \"jsonpath::.spec.domain.cpu.cores\", \"rule\": \"integer\", \"message\": \"m\", \"max\": 1}}"))
        .collect();
    let vm = format!(
        "---\napiVersion: kubevirt.io/v1\nkind: VirtualMachine\nmetadata:\n  name: a\n  annotations:\n    vm.kubevirt.io/validations: '[{}]'\nspec: {{template: {{spec: {{domain: {{cpu: {{cores: 2}}}}}}}}}}\n",
        rules.join(", ")
    );
    let (pods, vms) = (pod.repeat(5_000), vm.repeat(50));
    let scratch = Scratch::with(&[
        ("schema/schema.yml", schema.as_str()),
        ("other.yml", &other),
        ("plain.yml", &plain),
        ("import.json", &json),
        ("pods.yml", &pods),
        ("vms.yml", &vms),
        ("project/ytterby.yml", "files: [../schema]\ntargets: {t: {output: out}}\n"),
        ("loop.yml", ENDLESS),
    ]);
    let inspect = ["-f", "schema", "--data-values-schema-inspect", "-o"];
    let mut commands: Vec<(Vec<&str>, &str)> = vec![
        (vec!["-f", "plain.yml"], "plain.yml"),
        (vec!["-f", "plain.yml", "-o", "json"], "plain.yml"),
        (vec!["-f", "plain.yml", "-o", "pos"], "plain.yml"),
        (vec!["-f", "plain.yml", "--output-files", "out"], "plain.yml"),
        (vec!["-f", "schema", "--data-values-inspect"], "schema.yml"),
        (vec!["explain", "k1.a", "-f", "schema"], "schema.yml"),
        (vec!["gen", "-f", "schema"], "schema.yml"),
        (vec!["check", "-f", "schema"], "schema.yml"),
        (vec!["fmt", "plain.yml"], "plain.yml"),
        (vec!["fmt", "--check", "plain.yml"], "plain.yml"),
        (vec!["schema", "import", "import.json"], "import.json"),
        (vec!["schema", "import", "--from", "values", "plain.yml"], "plain.yml"),
        (vec!["schema", "diff", "schema/schema.yml", "other.yml"], "schema.yml"),
        (vec!["kubernetes", "validate", "pods.yml"], "pods.yml"),
        (vec!["kubevirt", "validate", "vms.yml"], "vms.yml"),
        (vec!["kubevirt", "lint", "vms.yml"], "vms.yml"),
        (vec!["kubevirt", "explain", "vms.yml"], "vms.yml"),
        (vec!["kubevirt", "export", "cel", "vms.yml"], "vms.yml"),
    ];
    for format in ["openapi-v3", "json-schema", "crd", "ytt-schema", "markdown", "html", "values"] {
        commands.push(([&inspect[..], &[format]].concat(), "schema.yml"));
    }
    let limits =
        ["--limit-memory=1MiB", "--limit-memory=40MiB", "--limit-time=1ms", "--limit-time=20ms", "--limit-output=100"];
    let mut hits = 0;
    for (command, file) in &commands {
        for limit in limits {
            let (exit, stdout, stderr) = scratch.run(&[&command[..], &[limit]].concat());
            let text = if command[0] == "check" { &stdout } else { &stderr };
            let (name, _) = limit.split_once('=').expect("a limit has a value");
            // Whether larger limits are reached depends on the machine.
            let out = scratch.0.join("out");
            if !text.contains("limit exceeded") && limit != "--limit-memory=1MiB" {
                let _ = std::fs::remove_dir_all(out);
                continue;
            }
            hits += 1;
            assert!(!out.exists(), "{command:?} {limit}");
            assert!(exit == 1 && text.contains(name), "{command:?} {limit}: {exit} {text}");
            assert!(command[0] == "check" || stdout.is_empty(), "{command:?} {limit}: {}", stdout.len());
            let is_placed = text.lines().any(|line| line.contains(&format!("{file}:")));
            assert!(is_placed, "{command:?} {limit}: {text}");
        }
    }
    assert!(hits > 2 * commands.len(), "{hits}");
}

/// Exports report the field that they were writing.
#[test]
fn exports_name_the_field() {
    let schema = "#@data/values-schema\n---\na: 1\n#@schema/desc \"x\" * 100000000\nb: 2\nc: 3\n";
    let scratch = Scratch::with(&[("schema.yml", schema)]);
    for format in ["markdown", "html", "values", "ytt-schema"] {
        let limits = ["--limit-time=60s", "--limit-memory=300MiB", "--diagnostics=json"];
        let inspect = ["-f", ".", "--data-values-schema-inspect", "-o", format];
        let (exit, stdout, stderr) = scratch.run(&[&inspect[..], &limits].concat());
        assert_eq!((exit, stdout.as_str()), (1, ""), "{format}: {stderr}");
        let found: serde_json::Value = serde_json::from_str(stderr.trim()).expect("a line is JSON");
        assert_eq!((&found["id"], &found["range"]["start"]["line"]), (&"limit/memory".into(), &5.into()), "{format}");
    }
}

/// Private libraries are found by their directories, not by comparing each with each file.
#[test]
fn many_libraries_are_checked() {
    let gets: String = (0..1_500).map(|number| format!("#@ library.get(\"l{number}\")\n")).collect();
    let template = format!("#@ load(\"@ytt:library\", \"library\")\n{gets}a: 1\n");
    let scratch = Scratch::with(&[("t.yml", template.as_str())]);
    for number in 0..1_500 {
        scratch.write(&format!("_ytt_lib/l{number}/a.yml"), "a: 1\n");
    }
    let (exit, stdout, stderr) = scratch.run(&["check", "-f", ".", "--limit-time", "10s"]);
    assert_eq!((exit, stdout.as_str()), (0, ""), "{stderr}");
}

/// Positions of unknown fields are found through an index of large maps.
#[test]
fn vms_with_many_unknown_fields_are_checked() {
    let fields: String = (0..100_000).map(|number| format!("        foo{number}: 1\n")).collect();
    let vm = format!(
        "apiVersion: kubevirt.io/v1\nkind: VirtualMachine\nmetadata: {{name: a}}\nspec:\n  template:\n    spec:\n      domain:\n{fields}"
    );
    let scratch = Scratch::with(&[("vm.yml", vm.as_str())]);
    let (exit, stdout, stderr) = scratch.run(&["kubevirt", "validate", "vm.yml", "--limit-time", "10s"]);
    assert_eq!(exit, 0, "{stderr}");
    assert!(stdout.contains("foo99999"), "{}", &stdout[..1_000]);
}

/// Findings are assigned to their documents by position.
#[test]
fn many_wrong_manifests_are_reported() {
    let pods: String = (0..10_000)
        .map(|number| {
            format!("---\napiVersion: v1\nkind: Pod\nmetadata: {{name: p{number}}}\nspec:\n  containers:\n  - {{name: a, image: b, ports: [{{containerPort: x}}]}}\n")
        })
        .collect();
    let scratch = Scratch::with(&[("pods.yml", pods.as_str())]);
    let (exit, stdout, stderr) = scratch.run(&["-f", "pods.yml", "--kubernetes", "1.33", "--limit-time", "20s"]);
    assert!(exit == 1 && stdout.is_empty() && !stderr.contains("limit exceeded"), "{}", &stderr[..1_000]);
    assert!(stderr.contains("9000 more"), "{}", &stderr[stderr.len() - 500..]);
}

/// What a command reports is output, too, unless it is the report of a limit.
#[test]
fn results_are_limited_output() {
    let schema = "#@data/values-schema\n---\nhost: localhost\nport: 80\n";
    let template =
        "#@ load(\"@ytt:data\", \"data\")\n#@ load(\"@ytt:json\", \"json\")\nx: #@ 80 // (data.values.port - 80)\n";
    let scratch = Scratch::with(&[("schema.yml", schema), ("t.yml", template)]);
    let finds: [&[&str]; 7] = [
        &["explain", "host"],
        &["explain", "host", "-o", "json"],
        &["gen"],
        &["gen", "-o", "json"],
        &["gen", "--check"],
        &["check"],
        &["check", "--diff"],
    ];
    for command in finds {
        let run = |limit: &str| scratch.run(&[command, &["-f", ".", "--limit-output", limit]].concat());
        let (_, whole, _) = run("1MiB");
        assert!(whole.len() > 30, "{command:?} {whole}");
        assert_eq!(run(&whole.len().to_string()).1, whole, "{command:?}");
        let limit = (whole.len() - 1).to_string();
        let (exit, stdout, stderr) = run(&limit);
        assert_eq!((exit, stdout.as_str()), (1, ""), "{command:?} {stderr}");
        assert!(stderr.contains("output limit exceeded (--limit-output "), "{command:?} {stderr}");
        assert!(stderr.contains("schema.yml:") || stderr.contains("t.yml:"), "{command:?} {stderr}");
    }
    // Files that `--fix` would change are output.
    let (exit, stdout, stderr) = scratch.run(&["check", "-f", ".", "--fix", "--limit-output", "20"]);
    assert!(exit == 1 && stdout.is_empty() && stderr.contains("output limit exceeded"), "{stdout} {stderr}");
    assert_eq!(std::fs::read_to_string(scratch.0.join("t.yml")).unwrap(), template);
    // So are those that `fmt --write` would change, and its lists and differences.
    scratch.write("t.yml", "a:   1\n");
    for mode in ["--check", "--diff", "--write"] {
        let (exit, stdout, stderr) = scratch.run(&["fmt", "-f", "t.yml", mode, "--limit-output", "5"]);
        assert!(exit == 1 && stdout.is_empty(), "{mode} {stdout} {stderr}");
        assert!(stderr.contains("output limit exceeded") && stderr.contains("t.yml:"), "{mode} {stderr}");
        assert_eq!(std::fs::read_to_string(scratch.0.join("t.yml")).unwrap(), "a:   1\n");
    }
    // The limit that a target reaches is reported even if that is longer.
    scratch.write("t.yml", "#@ for i in range(1000):\n- 1\n#@ end\n");
    let (exit, stdout, stderr) = scratch.run(&["check", "-f", ".", "--limit-output", "20"]);
    assert!(exit == 1 && stderr.is_empty() && stdout.contains("output limit exceeded"), "{stdout} {stderr}");
}
