//! Reported findings, and above all code without findings.
//!
//! Each test has files and their expected findings, as `id file:line`.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use ytterby::{Content, InputFile, Meter, Options};
use ytterby_check::{Cache, CheckTarget, Depth, ValuesAre, check};
use ytterby_diag::{Diagnostic, Sources};

const DATA: &str = "#@ load(\"@ytt:data\", \"data\")\n";

fn found_in(targets: &[CheckTarget], depth: Depth) -> Vec<String> {
    let sources = Arc::new(Sources::new());
    let findings = check(targets, depth, &sources, &mut Cache::default());
    let line = |finding: &Diagnostic| {
        let span = finding.primary().and_then(|label| label.span(&sources));
        let place = span.map(|span| sources.locate(span.pos()));
        format!("{} {}", finding.id, place.unwrap_or_default())
    };
    findings.iter().map(line).collect()
}

fn target(files: &[(&str, &str)]) -> CheckTarget {
    let files = files.iter().map(|(path, text)| InputFile::new(*path, Content::new(text.as_bytes())));
    CheckTarget { files: files.collect(), options: Options::default(), values: ValuesAre::Examples }
}

/// Checks files; `schema` is the content of the schema, `template` that of a template that can use
/// data values.
fn of(schema: &str, template: &str, more: &[(&str, &str)]) -> Vec<String> {
    let schema = format!("#@data/values-schema\n---\n{schema}");
    let template = format!("{DATA}{template}");
    let mut files = vec![("schema.yml", &*schema), ("t.yml", &*template)];
    files.extend(more);
    found_in(&[target(&files)], Depth::Full)
}

#[track_caller]
fn expect(found: Vec<String>, wanted: &[&str]) {
    assert_eq!(found, wanted);
}

const PORTS: &str = "ports:\n- name: http\n  port: 80\n";

#[test]
fn unknown_values_are_followed() {
    let db = "db: {host: a, port: 1}\n";
    let all = "all: #@ data.values.db\n";
    for (template, line) in [
        ("#@ v = data.values\n---\na: #@ v.nmae\n", 4),
        ("#@ db = data.values.db\n---\na: #@ db.hots\n", 4),
        ("#@ def f(db):\n#@   return db.hots\n#@ end\n---\na: #@ f(data.values.db)\n", 3),
        ("#@ def f(db=data.values.db):\n#@   return db.hots\n#@ end\n---\na: #@ f()\n", 3),
        ("#@ def f():\n#@   return data.values.db\n#@ end\n---\na: #@ f().hots\n", 6),
        ("---\na: #@ data.values[\"nmae\"]\n", 3),
        ("---\na: #@ 1 if True == data.values.db.port else data.values.nmae\n", 3),
        ("---\n#@ if data.values.db.port:\n#@yaml/text-templated-strings\na: \"(@= data.values.nmae @)\"\n#@ end\n", 5),
        ("---\na: #@ [x for x in [1] if data.values.nmae]\n", 3),
        ("---\na: #@ (data.values.db if data.values.db.port else None).hots\n", 3),
    ] {
        let found = of(db, &format!("{template}{all}"), &[]);
        let unknown: Vec<&String> = found.iter().filter(|line| line.starts_with("code/")).collect();
        assert_eq!(unknown, [&format!("code/unknown-value t.yml:{line}")], "{template}");
    }
    let found = of(PORTS, "---\n#@ for p in data.values.ports:\n- #@ p.nmae\n- #@ p.port\n- #@ p.name\n#@ end\n", &[]);
    expect(found, &["code/unknown-value t.yml:4"]);
    let found =
        of(PORTS, "---\n#@ for i, p in enumerate(data.values.ports):\n- #@ [i, p.nmae, p.port, p.name]\n#@ end\n", &[]);
    expect(found, &["code/unknown-value t.yml:4"]);
    let star = "def f(port):\n  return [port.nmae, port.name, port.port]\nend\n";
    let template = "#@ load(\"h.star\", \"f\")\n---\na: #@ [f(p) for p in data.values.ports]\n";
    expect(of(PORTS, template, &[("h.star", star)]), &["code/unknown-value h.star:2"]);
}

#[test]
fn nothing_uncertain_is_reported() {
    for (schema, template) in [
        ("#@schema/type any=True\nx: {}\n", "---\na: #@ data.values.x.y.z if data.values.x else 1\n"),
        ("labels:\n  #@schema/any-key\n  _: \"\"\n", "---\na: #@ getattr(data.values.labels, \"team\", \"none\")\n"),
        (
            "#@schema/nullable\ntls: {secret: \"\"}\n",
            "---\nb: 1\n#@ if data.values.tls:\na: #@ data.values.tls.secret\n#@ end\n",
        ),
        (
            "db: {host: a}\n",
            "#@ load(\"@ytt:struct\", \"struct\")\n---\na: #@ struct.decode(data.values.db).get(\"x\")\n",
        ),
        ("db: {host: a}\n", "#@ d = {k: data.values.db[k] for k in data.values.db}\n---\na: #@ d.get(\"x\")\n"),
        ("name: a\n", "---\na: #@ data.values.name.upper()\n"),
        ("list: [\"\"]\n", "---\na: #@ [x.upper() for x in data.values.list]\nb: #@ data.values.list[0:1]\n"),
        (
            "name: a\n",
            "#@ def f(x):\n#@   return x.anything\n#@ end\n#@ g = [f]\n---\na: #@ len(g)\nb: #@ data.values.name\n",
        ),
        (
            "name: a\n",
            "---\n#@ if hasattr(data.values, \"cache\"):\na: #@ data.values.cache.size\n#@ end\nb: #@ data.values.name\n",
        ),
        (
            "a: {x: 1}\nb: {z: 1}\n",
            "---\n#@ for v in [data.values.a, data.values.b]:\n- #@ getattr(v, \"x\", 0)\n#@ end\n",
        ),
        (
            "a: {x: 1}\nb: {z: 1}\n",
            "#@ v = data.values.a if data.values.b.z == 2 else data.values.b\n---\nc: #@ v.x if hasattr(v, \"x\") else v.z\n",
        ),
    ] {
        expect(of(schema, template, &[]), &[]);
    }
    let no_schema = format!("{DATA}---\na: #@ data.values.x if hasattr(data.values, \"x\") else 1\n");
    expect(found_in(&[target(&[("t.yml", &no_schema)])], Depth::Full), &[]);
}

#[test]
fn unread_values_are_found() {
    expect(of("a: 1\nb: 1\n", "---\na: #@ data.values.a\n", &[]), &["lint/unused-value schema.yml:4"]);
    expect(of(PORTS, "---\na: #@ [p.name for p in data.values.ports]\n", &[]), &["lint/unused-value schema.yml:5"]);
    expect(of("db: {a: 1}\nx: 1\n", "---\na: #@ data.values.x\n", &[]), &["lint/unused-value schema.yml:3"]);
    let used = [
        ("db: {a: 1}\n", "#@ load(\"@ytt:json\", \"json\")\n---\na: #@ json.encode(data.values)\n"),
        ("m: {a: 1}\n", "---\na: #@ [data.values.m[k] for k in data.values.m]\n"),
        ("big: false\n", "---\n#@ if data.values.big:\na: 1\n#@ end\n"),
        ("big: false\n", "#@ if not data.values.big:\n#@   x = 1\n#@ else:\n#@   x = 2\n#@ end\n---\na: #@ x\n"),
        ("a: 1\n#@schema/deprecated \"use a\"\nb: 1\n", "---\na: #@ data.values.a\n"),
        (
            "#@schema/validation one_not_null=[\"x\", \"z\"]\nm:\n  #@schema/nullable\n  x: 1\n  #@schema/nullable\n  z: 1\n",
            "---\na: #@ data.values.m.x\n",
        ),
        ("a: 1\n", "#@ def f(v):\na: #@ v.a\n#@ end\n--- #@ f(data.values)\n"),
        (
            "a: \"\"\n",
            "#@ load(\"@ytt:assert\", \"assert\")\n#@ if len(data.values.a) > 3:\n#@   assert.fail(\"no\")\n#@ end\n---\nb: 1\n",
        ),
    ];
    for (schema, template) in used {
        let found = of(schema, template, &[]);
        let unused: Vec<&String> = found.iter().filter(|line| line.starts_with("lint/unused-value")).collect();
        assert!(unused.is_empty(), "{template}: {found:?}");
    }
}

#[test]
fn values_without_effect_are_found_by_experiments() {
    let overlay = "#@ load(\"@ytt:overlay\", \"overlay\")\n#@overlay/match by=overlay.all\n---\na: fixed\n";
    let found = of("name: x\n", "---\na: #@ data.values.name\n", &[("o.yml", overlay)]);
    expect(found, &["lint/no-effect-value schema.yml:3"]);
    // Another value enables it.
    let switched =
        format!("{DATA}{}", overlay.replace("---\na: fixed", "---\n#@ if data.values.fixed:\na: fixed\n#@ end"));
    let found = of("name: x\nfixed: true\n", "---\na: #@ data.values.name\n", &[("o.yml", &switched)]);
    expect(found, &[]);
}

#[test]
fn names_are_checked() {
    let only = |text: &str| found_in(&[target(&[("t.yml", text)])], Depth::Full);
    expect(only("#@ load(\"@ytt:json\", \"json\")\n---\na: 1\n"), &["lint/unused-load t.yml:1"]);
    expect(
        only("#@ load(\"@ytt:json\", \"json\")\n---\n#@yaml/text-templated-strings\na: \"(@= json.encode(1) @)\"\n"),
        &[],
    );
    expect(
        only("#@ load(\"@ytt:overlay\", \"overlay\")\n---\n#@overlay/match by=overlay.all\na: 1\n")
            .iter()
            .filter(|line| line.starts_with("lint"))
            .cloned()
            .collect(),
        &[],
    );
    expect(only("#@ def f():\n#@   return f()\n#@ end\n---\na: 1\n"), &["lint/unused-function t.yml:1"]);
    expect(
        only("#@ def f():\n#@   def g():\n#@     return 1\n#@   end\n#@   return 2\n#@ end\n---\na: #@ f()\n"),
        &["lint/unused-function t.yml:2"],
    );
    expect(only("#@ def f():\n#@   return 1\n#@ end\n#@ m = {\"f\": f}\n---\na: #@ m[\"f\"]()\n"), &[]);
    expect(only("---\na: #@ [len(str) for str in [\"a\"]]\n"), &["lint/shadowed-name t.yml:2"]);
    expect(
        only("#@ def f(x, len=1):\n#@   return [x, len]\n#@ end\n---\na: #@ f(1, len=2)\n"),
        &["lint/shadowed-name t.yml:1"],
    );
    expect(only("---\na: #@ dict(list=1, str=2)\n"), &[]);
}

#[test]
fn conditions_are_checked() {
    let only = |text: &str| found_in(&[target(&[("t.yml", text)])], Depth::Full);
    let values = "#@ v = [1]\n---\n";
    let line = |text: &str| only(&format!("{values}{text}"));
    expect(line("#@ if True:\na: 1\n#@ end\nb: #@ v\n"), &["lint/constant-condition t.yml:3"]);
    expect(line("#@ if not None:\na: 1\n#@ end\nb: #@ v\n"), &["lint/constant-condition t.yml:3"]);
    expect(line("#@ if \"a\" == \"b\":\na: 1\n#@ end\nb: #@ v\n"), &["lint/constant-condition t.yml:3"]);
    expect(line("a: #@ 1 if v else 1\n"), &["lint/constant-condition t.yml:3"]);
    expect(line("#@ if v:\na: 1\n#@ elif v:\na: 2\n#@ end\n"), &["lint/constant-condition t.yml:5"]);
    expect(
        line("#@ if v:\na: 1\n#@ elif len(v):\na: 1\n#@ else:\na: 1\n#@ end\n"),
        &["lint/constant-condition t.yml:3"],
    );
    expect(line("#@ if v:\na: #@ v\n#@ else:\na: #@ v\n#@ end\n"), &["lint/constant-condition t.yml:3"]);
    expect(line("#@ if v:\na: #@ v\n#@ else:\na: #@ [v]\n#@ end\n"), &[]);
    expect(line("#@ if v:\na: 1\n#@ elif len(v):\na: 1\n#@ end\n"), &[]);
    expect(line("#@ if/end v:\na: 1\n"), &[]);
    expect(line("#@ if v:\na:\n  b: 1\n#@ else:\na:\n  b: 2\n#@ end\n"), &[]);
    expect(
        line("#@ if v:\n- 1\n#@ else:\n#@overlay/append\n- 1\n#@ end\n")
            .iter()
            .filter(|line| line.starts_with("lint"))
            .cloned()
            .collect(),
        &[],
    );
}

#[test]
fn rules_without_effect_are_found() {
    let rule = |rule: &str, value: &str| {
        of(&format!("#@schema/validation {rule}\nv: {value}\n"), "---\nv: #@ data.values.v\n", &[])
    };
    for (text, value, id) in [
        ("matches=\".*\"", "a", "lint/rule-always-true"),
        ("min_len=0", "a", "lint/rule-always-true"),
        ("not_null=True", "a", "lint/rule-always-true"),
        ("min=5, above=3", "7", "lint/rule-always-true"),
        ("max=5, below=9", "3", "lint/rule-always-true"),
        ("one_of=[True, False]", "true", "lint/rule-always-true"),
        ("one_of=[\"aa\", \"bb\"], min_len=1", "aa", "lint/rule-always-true"),
        ("(\"fine\", lambda v: True)", "a", "lint/rule-always-true"),
    ] {
        expect(rule(text, value), &[&format!("{id} schema.yml:3")]);
    }
    let never = |text: &str, value: &str| {
        of(&format!("#@schema/nullable\n#@schema/validation {text}\nv: {value}\n"), "---\nv: #@ data.values.v\n", &[])
    };
    for (text, value) in [
        ("min=5, max=3", "4"),
        ("above=3, below=4", "3"),
        ("min_len=3, max_len=2", "a"),
        ("one_of=[\"a\"], min_len=2", "a"),
        ("min=1, max=3, multiple_of=5", "2"),
        ("even=True, odd=True", "2"),
        ("(\"never\", lambda v: False)", "a"),
    ] {
        expect(never(text, value), &["lint/rule-never-true schema.yml:4"]);
    }
    for (text, value) in [
        ("min=3, max=3", "3"),
        ("matches=\"^.+$\"", "a"),
        ("matches=\"a*b\"", "b"),
        ("min_len=1, max_len=63", "a"),
        ("min=1, max=10, multiple_of=5", "5"),
        ("one_of=[\"a\", \"bb\"], min_len=2", "bb"),
        ("format=\"hostname\"", "a.test"),
        ("(\"a\", lambda v: v == \"a\")", "a"),
    ] {
        expect(rule(text, value), &[]);
    }
}

#[test]
fn redundant_values_are_found() {
    let schema = "#@schema/validation min=1\nnum: 0\n";
    let given = "#@data/values\n---\nnum: 5\n";
    let found = of(schema, "---\na: #@ data.values.num\n", &[("v.yml", given)]);
    expect(found, &["lint/default-breaks-rule schema.yml:4"]);
    let nullable = "#@schema/nullable\n#@schema/validation not_null=True\nname: \"\"\n";
    let found = of(nullable, "---\na: #@ data.values.name\n", &[("v.yml", "#@data/values\n---\nname: a\n")]);
    expect(found, &[]);
    let found = of(
        "a: 1\nb: 2\n",
        "---\na: #@ data.values.a\nb: #@ data.values.b\n",
        &[("v.yml", "#@data/values\n---\na: 1\nb: 3\n")],
    );
    expect(found, &["lint/same-as-default v.yml:3"]);
    // It overrides an earlier document.
    let documents = [("v1.yml", "#@data/values\n---\na: 5\n"), ("v2.yml", "#@data/values\n---\na: 1\n")];
    expect(of("a: 1\n", "---\na: #@ data.values.a\n", &documents), &[]);
    // Setting it matters: the map is null without it.
    let found = of(
        "#@schema/nullable\nm: {a: 1}\n",
        "---\na: #@ data.values.m\n",
        &[("v.yml", "#@data/values\n---\nm: {a: 1}\n")],
    );
    expect(found, &[]);
}

#[test]
fn overlays_and_annotations_are_checked() {
    let template = ("t.yml", "kind: A\nl:\n- name: a\n");
    let load = "#@ load(\"@ytt:overlay\", \"overlay\")\n";
    let overlay = |text: &str| found_in(&[target(&[template, ("z.yml", &format!("{load}{text}"))])], Depth::Full);
    let all = "#@overlay/match by=overlay.all\n---\n";
    expect(overlay(&format!("{all}#@overlay/match missing_ok=True\nnew: 1\n")), &[]);
    expect(
        overlay(&format!("{all}#@overlay/match missing_ok=True\n#@overlay/remove\nnew: 1\n")),
        &["lint/unmatched-overlay z.yml:6"],
    );
    expect(
        overlay("#@overlay/match by=overlay.subset({\"kind\": \"B\"}), expects=\"0+\"\n---\nx: 1\n"),
        &["lint/unmatched-overlay z.yml:3"],
    );
    expect(overlay("#@overlay/match by=overlay.subset({\"kind\": \"A\"}), expects=\"0+\"\n---\nkind: C\n"), &[]);
    let only = |text: &str| found_in(&[target(&[("t.yml", text)])], Depth::Full);
    expect(only("---\n#@schema/nullable\na: 1\n"), &["lint/no-effect-annotation t.yml:2"]);
    expect(only("---\n#@yaml/text-templated-strings\na: plain\n"), &["lint/no-effect-annotation t.yml:2"]);
}

#[test]
fn lints_hold_for_all_targets() {
    let schema = "#@data/values-schema\n---\nname: a\n";
    let used = format!("{DATA}---\na: #@ data.values.name\n");
    let targets = [target(&[("s.yml", schema), ("t.yml", "a: 1\n")]), target(&[("s.yml", schema), ("u.yml", &used)])];
    expect(found_in(&targets, Depth::Full), &[]);
    expect(found_in(&targets[..1], Depth::Full), &["lint/unused-value s.yml:3"]);
}

#[test]
fn several_errors_are_found_at_once() {
    let bad = "---\n#! wrong\na: #@ 1 + \"a\"\n";
    let found = of("a: 1\n", "---\na: #@ data.values.a\nb: #@ [][1]\n", &[("u.yml", bad), ("w.yml", "a: #@ nope\n")]);
    expect(found, &["code/index t.yml:4", "code/type u.yml:3", "code/undefined w.yml:1"]);
}

#[test]
fn comments_suppress_findings() {
    let only = |text: &str| found_in(&[target(&[("t.yml", text)])], Depth::Full);
    let load = "#@ load(\"@ytt:json\", \"json\")\n---\na: 1\n";
    expect(only(&format!("#! ytterby: ignore lint/unused-load\n{load}")), &[]);
    expect(only(&format!("#! ytterby: ignore lint/unused-file, lint/unused-load\n{load}")), &[]);
    expect(only(&format!("#! ytterby: ignore lint/unused-file\n{load}")), &["lint/unused-load t.yml:2"]);
    expect(
        only(&format!("#! ytterby: ignore lint/unused-load\n#@ load(\"@ytt:yaml\", \"yaml\")\n{load}")),
        &["lint/unused-load t.yml:3"],
    );
}

/// A clock that counts how often it is read, in milliseconds.
#[derive(Debug, Default)]
struct Readings(AtomicU64);

impl Meter for Readings {
    fn time(&self) -> Option<Duration> {
        Some(Duration::from_millis(self.0.fetch_add(1, Ordering::Relaxed)))
    }

    fn memory(&self) -> Option<u64> {
        None
    }
}

/// All runs of a target have one time limit: experiments stop when it is reached, and only the run
/// itself reports it.
#[test]
fn all_runs_of_a_target_share_the_time() {
    let keys: String = (0..100).map(|number| format!("k{number}: {number}\n")).collect();
    let uses: String = (0..100).map(|number| format!("k{number}: #@ data.values.k{number}\n")).collect();
    let schema = format!("#@data/values-schema\n---\n{keys}");
    let run = |turns: usize, limit: u64| {
        let template = format!("{DATA}#@ x = 0\n#@ for i in range({turns}):\n#@   x += i\n#@ end\n---\n{uses}");
        let mut target = target(&[("schema.yml", &*schema), ("t.yml", &*template)]);
        let clock = Arc::new(Readings::default());
        target.options.limits.time = Some(Duration::from_millis(limit));
        target.options.meter = Some(clock.clone());
        (found_in(&[target], Depth::Full), clock.0.load(Ordering::Relaxed))
    };
    let (found, time) = run(100_000, 2_000);
    expect(found, &[]);
    assert!((2_000..2_600).contains(&time), "the experiments took {time} of 2000");
    let (found, time) = run(100_000_000, 2_000);
    expect(found, &["limit/time t.yml:3"]);
    assert!(time < 2_600, "{time}");
}

/// Comments above many nodes, names and items on one line: none of them is read again for each
/// finding.
#[test]
fn many_findings_take_no_quadratic_time() {
    let many = |line: &str, count: usize| -> String {
        (0..count).map(|number| line.replace("%", &number.to_string())).collect()
    };
    let files = |text: String| found_in(&[target(&[("t.yml", &text)])], Depth::Static).len();
    files(many("#@yaml/text-templated-strings\n", 50_000) + "a: 1\n");
    files(format!("a: [{}]\n", many("[a, b], ", 50_000)));
    files(format!("b: &b {{{}}}\nc: {{<<: *b}}\n", many("k%: 1, ", 30_000)));
    files(format!("#@ def f({}):\n#@   return 1\n#@ end\na: #@ f()\n", many("k%=1, ", 40_000)));
    files(many("#@ f% = lambda x: x\n", 20_000) + "a: 1\n");
    assert_eq!(files(many("#@data/values\n---\na: 1\n", 8_000)), 0);
    let names = many("n% = 1\n", 10_000);
    let template = format!("#@ load(\"l.star\"{})\na: 1\n", many(", \"n%\"", 10_000));
    let found = found_in(&[target(&[("t.yml", &*template), ("l.star", &*names)])], Depth::Static);
    assert_eq!(found.len(), 10_000);
}

/// A comment applies to its node, past the comments and annotations in between, and to nothing
/// else.
#[test]
fn comments_apply_to_all_findings_of_a_node() {
    let template = "#@ load(\"a.star\", \"x\")\n#! ytterby: ignore lint/no-effect-annotation\n#@yaml/text-templated-strings\na: 1\n#@yaml/text-templated-strings\nb: 1\n";
    let files = [("t.yml", template), ("a.star", "x = 1\n")];
    let found = found_in(&[target(&files)], Depth::Static);
    expect(found, &["lint/unused-load t.yml:1", "lint/no-effect-annotation t.yml:5"]);
}
