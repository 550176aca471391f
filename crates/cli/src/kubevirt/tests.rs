//! Tests of the commands, with files in memory.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

use ytterby_kubevirt::json;
use ytterby_kubevirt::lints::Lint;
use ytterby_kubevirt::value::Value;

use super::{Failure, Host, UNREADABLE};

/// Files by path; a path that is a prefix of others is a directory.
struct Memory(RefCell<BTreeMap<PathBuf, Vec<u8>>>);

impl Host for Memory {
    fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        let missing = || io::Error::new(io::ErrorKind::NotFound, "No such file");
        self.0.borrow().get(path).cloned().ok_or_else(missing)
    }

    fn stdin(&self) -> io::Result<Vec<u8>> {
        self.read(Path::new("-"))
    }

    fn entries(&self, path: &Path) -> io::Result<Option<Vec<PathBuf>>> {
        let files = self.0.borrow();
        let below = files.keys().filter_map(|file| Some(path.join(file.strip_prefix(path).ok()?.components().next()?)));
        let mut below: Vec<PathBuf> = below.collect();
        below.dedup();
        Ok((!files.contains_key(path) && !below.is_empty()).then_some(below))
    }

    fn write(&self, path: &Path, content: &[u8]) -> io::Result<()> {
        self.0.borrow_mut().insert(path.to_owned(), content.to_vec());
        Ok(())
    }
}

struct CommandRun {
    code: i32,
    out: String,
    err: String,
    host: Memory,
}

fn run(args: &str, files: &[(&str, &str)]) -> CommandRun {
    let files = files.iter().map(|(name, text)| (PathBuf::from(name), text.as_bytes().to_vec())).collect();
    let host = Memory(RefCell::new(files));
    let words = std::iter::once("kubevirt").chain(args.split_whitespace()).map(str::to_owned).collect();
    let (mut out, mut err) = (Vec::new(), Vec::new());
    let sources = std::sync::Arc::new(ytterby_diag::Sources::new());
    let parsed = crate::flags::parse(&crate::commands::ROOT, words, &sources);
    let result = parsed
        .map_err(|failure| Failure::Usage(Box::new(failure)))
        .and_then(|flags| super::call("ytterby", &flags, &host, &sources, &mut out, &mut err));
    let code = result.unwrap_or_else(|failure| {
        err.extend(match failure {
            Failure::Usage(failure) => failure.to_string().into_bytes(),
            Failure::Output(error) => error.to_string().into_bytes(),
        });
        UNREADABLE
    });
    CommandRun { code, out: String::from_utf8(out).unwrap(), err: String::from_utf8(err).unwrap(), host }
}

/// Statuses of all results, and the exit code.
fn verdict(args: &str, files: &[(&str, &str)]) -> (i32, Vec<String>) {
    let run = run(&format!("validate -o json {args}"), files);
    let report = json::parse(&run.out).unwrap_or_else(|_| panic!("{} {}", run.out, run.err)).to_value();
    let mut statuses = Vec::new();
    for object in report.get("objects").unwrap().as_array().unwrap() {
        for result in object.get("results").unwrap().as_array().unwrap() {
            statuses.push(result.get("status").unwrap().as_str().unwrap().to_owned());
        }
    }
    (run.code, statuses)
}

const VM: &str = r#"apiVersion: kubevirt.io/v1
kind: VirtualMachine
metadata:
  name: one
  namespace: ns
  annotations:
    vm.kubevirt.io/validations: |
      [
        {
          "name": "memory",
          "path": "jsonpath::.spec.domain.memory.guest",
          "rule": "integer",
          "message": "This VM requires more memory.",
          "min": 1610612736
        }, {
          "name": "bus",
          "valid": "jsonpath::.spec.domain.devices.disks[*].disk.bus",
          "path": "jsonpath::.spec.domain.devices.disks[*].disk.bus",
          "rule": "enum",
          "message": "virtio is faster",
          "values": ["virtio"],
          "justWarning": true
        }
      ]
spec:
  template:
    spec:
      domain:
        memory: {guest: 1Gi}
        devices:
          disks: [{name: root, disk: {bus: sata}}]
"#;

const TEMPLATE: &str = r#"apiVersion: template.openshift.io/v1
kind: Template
metadata:
  name: tpl
  namespace: ns
  annotations:
    validations: '[{"name":"cores","path":"jsonpath::.spec.domain.cpu.cores","rule":"integer","message":"m","min":4}]'
objects:
- apiVersion: kubevirt.io/v1
  kind: VirtualMachine
  metadata:
    name: ${NAME}
  spec:
    template:
      spec:
        domain:
          cpu: {cores: "${{CORES}}"}
parameters:
- {name: NAME, generate: expression, from: "vm-[a-z0-9]{4}"}
- {name: CORES, value: "4"}
"#;

const PLAIN: &str = "apiVersion: kubevirt.io/v1\nkind: VirtualMachine\nmetadata:\n  name: two\n  labels:\n    vm.kubevirt.io/template: tpl\n    vm.kubevirt.io/template.namespace: ns\nspec:\n  template: {spec: {domain: {cpu: {cores: 2}}}}\n";

#[test]
fn text_output_shows_rule_value_and_position() {
    let run = run("validate vm.yaml", &[("vm.yaml", VM)]);
    assert_eq!(run.code, 1);
    assert_eq!(
        run.out,
        "vm.yaml:1: VirtualMachine ns/one: invalid\n  \
           violation: memory .spec.domain.memory.guest: This VM requires more memory.\n    \
             value 1Gi is lower than the minimum 1.5Gi\n    \
             at vm.yaml:29:25\n    \
             rule at vm.yaml:9:9\n  \
           warning: bus .spec.domain.devices.disks[*].disk.bus: virtio is faster\n    \
             \"sata\" is not among \"virtio\"\n    \
             at vm.yaml:31:44\n    \
             rule at vm.yaml:15:12\n\
         1 object: 1 invalid (0 ok, 1 violation, 1 warning)\n"
    );
}

#[test]
fn json_has_the_agreed_shape() {
    let run = run("validate -o json vm.yaml", &[("vm.yaml", VM)]);
    let report = json::parse(&run.out).unwrap().to_value();
    assert_eq!(report.get("valid"), Some(&Value::Bool(false)));
    let object = &report.get("objects").unwrap().as_array().unwrap()[0];
    let first = &object.get("results").unwrap().as_array().unwrap()[0];
    let keys = |value: &Value| match value {
        Value::Object(members) => members.iter().map(|(key, _)| key.to_string()).collect::<Vec<_>>().join(" "),
        _ => String::new(),
    };
    assert_eq!(keys(object), "kind name namespace file line valid results");
    assert_eq!(keys(first), "rule status path message detail at ruleAt");
    assert_eq!(first.get("at").unwrap().to_string(), r#"{"file":"vm.yaml","line":29,"column":25}"#);
    assert_eq!(first.get("ruleAt").unwrap().to_string(), r#"{"file":"vm.yaml","line":9,"column":9}"#);
    assert_eq!(first.get("status"), Some(&Value::from("violation")));
}

#[test]
fn other_formats_are_well_formed() {
    let sarif = run("validate -o sarif vm.yaml", &[("vm.yaml", VM)]);
    let log = json::parse(&sarif.out).unwrap().to_value();
    let results = log.get("runs").unwrap().as_array().unwrap()[0].get("results").unwrap().as_array().unwrap();
    assert_eq!(results.len(), 2);
    // The value comes first, because a reviewer looks there; then the rule.
    let line = |key: &str| {
        let place = results[0].get(key).unwrap().as_array().unwrap()[0].get("physicalLocation").unwrap();
        place.at(&["region", "startLine"]).unwrap().to_string()
    };
    assert_eq!((line("locations"), line("relatedLocations")), ("29".to_owned(), "9".to_owned()));
    let sarif = run("validate -o sarif my,vm#1.yaml", &[("my,vm#1.yaml", VM)]);
    assert!(sarif.out.contains("\"uri\":\"my,vm%231.yaml\""), "{}", sarif.out);
    let github = run("validate -o github vm.yaml", &[("vm.yaml", VM)]);
    let (error, warning) = (
        "::error file=vm.yaml,line=29,col=25,endColumn=29,title=kubevirt/invalid::spec.template.spec.domain.memory.guest: memory: VirtualMachine ns/one: This VM \
         requires more memory. value 1Gi is lower than the minimum 1.5Gi",
        "::warning file=vm.yaml,line=31,col=44,endColumn=51,title=kubevirt/invalid::spec.template.spec.domain.devices.disks[0].disk.bus: bus: VirtualMachine ns/one: virtio is \
         faster: \"sata\" is not among \"virtio\"",
    );
    assert!(github.out.contains(error) && github.out.contains(warning), "{}", github.out);
    let junit = run("validate -o junit vm.yaml", &[("vm.yaml", VM)]);
    assert!(junit.out.contains("tests=\"2\" failures=\"1\" errors=\"0\" skipped=\"0\""), "{}", junit.out);
    assert!(junit.out.contains("name=\"memory\" file=\"vm.yaml\" line=\"29\"><failure"), "{}", junit.out);
    let junit = run("validate --fail-on-warn -o junit vm.yaml", &[("vm.yaml", VM)]);
    assert!(junit.out.contains("failures=\"2\"") && !junit.out.contains("system-out"), "{}", junit.out);
}

#[test]
fn flags_without_effect_are_refused() {
    for (line, expect) in [
        ("validate --fix vm.yaml", "unknown flag: --fix"),
        ("validate --rule nonsense vm.yaml", "unknown flag: --rule"),
        ("validate --name x vm.yaml", "unknown flag: --name"),
        ("lint --compat ssp vm.yaml", "unknown flag: --compat"),
        ("lint -t t.yaml vm.yaml", "unknown shorthand flag: 't' in -t"),
        ("explain -o json vm.yaml", "unknown shorthand flag: 'o' in -o"),
        ("export cel --quiet vm.yaml", "unknown flag: --quiet"),
        ("validate", "validate: Expected at least one file, directory or - for standard input"),
        ("export cel", "export cel: Expected at least one file, directory or - for standard input"),
        ("validate -o yaml x", "--output must be text, json, junit, sarif, github, gitlab or rich, found yaml"),
        ("validate --compat ytt x", "--compat must be ssp, found ytt"),
        ("validate -p x y", "--param must be NAME=VALUE, found x"),
        ("validate x -o", "flag needs an argument: 'o' in -o"),
    ] {
        let run = run(line, &[("vm.yaml", VM)]);
        assert_eq!((run.code, run.err.as_str()), (2, expect), "{line}");
    }
}

#[test]
fn quiet_shows_only_problems() {
    let good = VM.replace("1Gi", "2Gi").replace("sata", "virtio").replace("name: one", "name: good");
    let files = [("a.yaml", good.as_str()), ("b.yaml", VM)];
    let out = run("validate -q a.yaml b.yaml", &files).out;
    assert!(out.starts_with("b.yaml:1: VirtualMachine ns/one: invalid\n") && !out.contains("2 objects"), "{out}");
    assert_eq!(run("validate --quiet a.yaml", &files).out, "");
    // Warnings count as problems, notes do not.
    let warns = good.replace("bus: virtio", "bus: sata");
    assert!(run("validate -q a.yaml", &[("a.yaml", &warns)]).out.contains("warning: bus"));
    let noted = good.replace("\"values\": [\"virtio\"]", "\"values\": [1]");
    assert!(run("lint a.yaml", &[("a.yaml", &noted)]).out.contains("note: "));
    assert_eq!(run("lint -q a.yaml", &[("a.yaml", &noted)]).out, "");
}

#[test]
fn results_are_diagnostics() {
    let rich = run("validate -o rich vm.yaml", &[("vm.yaml", VM)]).out;
    let start = "warning[kubevirt/invalid]: spec.template.spec.domain.devices.disks[0].disk.bus: bus: VirtualMachine ns/one: virtio is faster: \"sata\" is not among \"virtio\"\n  --> vm.yaml:31:44\n";
    assert!(rich.contains(start), "{rich}");
    assert!(rich.contains("domain.memory.guest: memory: ") && rich.contains("the rule"), "{rich}");
    assert!(rich.contains("memory: {guest: 1Gi}"), "{rich}");
    let lint = run("lint -o rich vm.yaml", &[("vm.yaml", &VM.replace("\"min\":", "\"mim\":"))]).out;
    assert!(
        lint.contains("error[kubevirt/rule]: rule-without-arguments") && lint.contains("warning[kubevirt/lint]"),
        "{lint}"
    );
    let unknown = VM.replacen(".spec.domain.memory.guest", ".spec.domain.memory.gest", 1);
    let lint = run("lint -o rich vm.yaml", &[("vm.yaml", &unknown)]).out;
    assert!(lint.contains("unknown-path: rule memory: ") && lint.contains("help: did you mean `guest`?"), "{lint}");
    let gitlab = run("validate -o gitlab vm.yaml", &[("vm.yaml", VM)]).out;
    let report = json::parse(&gitlab).unwrap().to_value();
    let names: Vec<_> =
        report.as_array().unwrap().iter().filter_map(|entry| entry.get("check_name")?.as_str()).collect();
    assert_eq!(names, ["kubevirt/invalid"; 2]);
}

#[test]
fn problems_in_a_one_line_file_have_paths() {
    let vm = r#"{"kind":"VirtualMachine","metadata":{"name":"one","annotations":{"vm.kubevirt.io/validations":"[{\"name\":\"c\",\"path\":\"jsonpath::.spec.domain.cpu.cores\",\"rule\":\"integer\",\"message\":\"m\",\"min\":4}]"}},"spec":{"template":{"spec":{"domain":{"cpu":{"cores":2}}}}}}"#;
    let out = run("validate vm.json", &[("vm.json", vm)]).out;
    assert!(out.contains(" (spec.template.spec.domain.cpu.cores)\n"), "{out}");
    let pretty = vm.replace(",\"spec\"", ",\n\"spec\"");
    assert!(!run("validate vm.json", &[("vm.json", &pretty)]).out.contains("(spec.template"));
}

#[test]
fn exit_codes_distinguish_violations_and_errors() {
    let good = VM.replace("1Gi", "1.5Gi");
    assert_eq!(verdict("vm.yaml", &[("vm.yaml", &good)]), (0, vec!["ok".to_owned(), "warning".to_owned()]));
    assert_eq!(verdict("--fail-on-warn vm.yaml", &[("vm.yaml", &good)]).0, 1);
    assert_eq!(verdict("none.yaml", &[]).0, 2);
    assert_eq!(verdict("vm.yaml", &[("vm.yaml", "a: [")]).0, 2);
    let broken = run("validate vm.yaml", &[("vm.yaml", "a: b\nc: {d e: ${{f}}, g: h}\n")]).out;
    assert!(broken.starts_with("error: The file cannot be read: vm.yaml:2:") && !broken.contains("line"), "{broken}");
    assert_eq!(run("validate", &[]).code, 2);
}

const FORMATS: [&str; 7] = ["text", "json", "sarif", "junit", "github", "gitlab", "rich"];

#[test]
fn a_missing_template_is_reported_in_every_format() {
    let warning = vec!["warning".to_owned()];
    assert_eq!(verdict("vm.yaml", &[("vm.yaml", PLAIN)]), (0, warning.clone()));
    assert_eq!(verdict("--fail-on-warn vm.yaml", &[("vm.yaml", PLAIN)]), (1, warning.clone()));
    for format in FORMATS {
        let run = run(&format!("validate -o {format} vm.yaml"), &[("vm.yaml", PLAIN)]);
        assert!(run.out.contains("its template ns/tpl is not among the files"), "{}", run.out);
    }
    let elsewhere = PLAIN.replace("template.namespace: ns", "template.namespace: other");
    let run = run("validate -t t.yaml vm.yaml", &[("vm.yaml", &elsewhere), ("t.yaml", TEMPLATE)]);
    let detail = "its template other/tpl is not among the files; t.yaml has one of that name in the namespace ns";
    assert!(run.out.contains(detail), "{}", run.out);
    // A template without rules and a VM without a template are valid.
    let empty = TEMPLATE.replace("    validations:", "    other:");
    assert_eq!(verdict("-t t.yaml vm.yaml", &[("vm.yaml", PLAIN), ("t.yaml", &empty)]), (0, Vec::new()));
    let free = "kind: VirtualMachine\nmetadata: {name: x}\nspec: {template: {spec: {domain: {}}}}\n";
    assert_eq!(verdict("--fail-on-warn vm.yaml", &[("vm.yaml", free)]), (0, Vec::new()));
}

#[test]
fn empty_input_is_reported_in_every_format() {
    let files = [("vm.yaml", "kind: ConfigMap\n")];
    assert_eq!(verdict("vm.yaml", &files), (0, vec!["warning".to_owned()]));
    assert_eq!(verdict("--fail-on-warn vm.yaml", &files), (1, vec!["warning".to_owned()]));
    for format in FORMATS {
        for command in ["validate", "lint"] {
            let run = run(&format!("{command} -o {format} vm.yaml"), &files);
            assert_eq!(run.code, 0);
            assert!(run.out.contains("there is no VirtualMachine and no Template in the input"), "{}", run.out);
        }
    }
    assert_eq!(
        run("validate vm.yaml", &files).out,
        "warning: Nothing was checked: there is no VirtualMachine and no Template in the input\n\
         0 objects: nothing was checked\n"
    );
}

#[test]
fn an_unreadable_file_is_not_reported_as_an_object() {
    let run = run("validate -t nope.yaml vm.yaml", &[("vm.yaml", &VM.replace("1Gi", "2Gi"))]);
    assert_eq!(run.code, 2);
    let end = "error: The file cannot be read: nope.yaml: No such file\n\
               1 object: all valid, 1 file cannot be read (1 ok, 1 warning)\n";
    assert!(run.out.ends_with(end), "{}", run.out);
}

#[test]
fn unknown_fields_are_reported() {
    let slips = VM.replace("1Gi", "2Gi").replace("memory: {guest", "cpu: {cors: 2}\n        memory: {guest");
    let ok = |status: &[&str]| status.iter().map(|status| (*status).to_owned()).collect::<Vec<_>>();
    let files = [("vm.yaml", slips.as_str())];
    assert_eq!(verdict("vm.yaml", &files), (0, ok(&["ok", "warning", "warning"])));
    assert_eq!(verdict("--field-validation ignore vm.yaml", &files), (0, ok(&["ok", "warning"])));
    assert_eq!(verdict("--field-validation=strict vm.yaml", &files), (1, ok(&["ok", "warning", "violation"])));
    assert_eq!(run("validate --field-validation loose vm.yaml", &files).code, 2);
    assert_eq!(verdict("--compat ssp vm.yaml", &files), (0, ok(&["ok", "warning"])));
    let out = run("validate vm.yaml", &files).out;
    let expect = "  warning: spec.template.spec.domain.cpu.cors: unknown field\n    \
                  spec.template.spec.domain.cpu has no field `cors` in KubeVirt 1.9.0; did you mean `cores`?\n    \
                  at vm.yaml:29:15\n";
    assert!(out.contains(expect), "{out}");
    let github = run("validate -o github vm.yaml", &files).out;
    assert!(github.contains("::warning file=vm.yaml,line=29,col=15,"), "{github}");
    assert!(github.contains("title=kubevirt/invalid::unknown-field: "), "{github}");
}

#[test]
fn positions_are_in_the_vm_or_else_in_the_rule() {
    let at = |vm: &str| {
        let run = run("validate -o sarif vm.yaml", &[("vm.yaml", vm)]);
        let log = json::parse(&run.out).unwrap().to_value();
        let result = &log.get("runs").unwrap().as_array().unwrap()[0].get("results").unwrap().as_array().unwrap()[0];
        let place = |key: &str| {
            let region = result.get(key)?.as_array()?.first()?.at(&["physicalLocation", "region"])?;
            Some(format!("{},col={}", region.get("startLine")?, region.get("startColumn")?))
        };
        (place("locations").unwrap(), place("relatedLocations").as_deref() == Some("9,col=9"))
    };
    // A value that is not set: the key that should contain it. A path without any match: the rule
    // only.
    assert_eq!(at(&VM.replace("        memory: {guest: 1Gi}\n", "")), ("28,col=7".to_owned(), true));
    assert_eq!(at(&VM.replace("{guest: 1Gi}", "{}")), ("29,col=9".to_owned(), true));
    assert_eq!(at(&VM.replace("memory.guest", "memory.gest")), ("9,col=9".to_owned(), false));
    let sources = VM.replace("\"min\": 1610612736", "\"min\": \"jsonpath::.spec.domain.cpu.cors\"");
    assert_eq!(at(&sources), ("9,col=9".to_owned(), false));
}

#[test]
fn unreadable_rules_have_positions_in_the_yaml() {
    let curly = VM.replacen("\"rule\"", "\u{201c}rule\u{201d}", 1);
    let run = run("validate -o json vm.yaml", &[("vm.yaml", &curly)]);
    assert_eq!(run.code, 2);
    assert!(run.out.contains("vm.yaml:12:11: typographic quote \u{201c} (U+201C"), "{}", run.out);
    for (old, new, place) in [
        ("1610612736\n", "1610612736,\n", "15:9: there is a comma before the closing bracket"),
        ("\"integer\",", "\"integer\"", "13:11: a comma is missing"),
        ("      [\n", "      {\"a\": [\n", "24:8: the JSON ends too early"),
    ] {
        let text = VM.replacen(old, new, 1);
        let run = self::run("validate -o json vm.yaml", &[("vm.yaml", &text)]);
        assert_eq!(run.code, 2, "{old}");
        assert!(run.out.contains(&format!("vm.yaml:{place}")), "{place}: {}", run.out);
    }
    let object = "kind: VirtualMachine\nmetadata:\n  annotations:\n    vm.kubevirt.io/validations: \"{}\"\nspec: {template: {}}\n";
    let run = self::run("validate -o json vm.yaml", &[("vm.yaml", object)]);
    assert_eq!(run.code, 2);
    assert!(
        run.out.contains("vm.yaml:4:34: the annotation must be a JSON array of rules, found an object"),
        "{}",
        run.out
    );
}

#[test]
fn rules_of_a_template_apply_to_its_own_vm_and_to_others() {
    let ok = |status: &[&str]| status.iter().map(|status| (*status).to_owned()).collect::<Vec<_>>();
    assert_eq!(verdict("t.yaml", &[("t.yaml", TEMPLATE)]), (0, ok(&["ok"])));
    assert_eq!(verdict("-p CORES=2 t.yaml", &[("t.yaml", TEMPLATE)]), (1, ok(&["violation"])));
    assert_eq!(verdict("-t t.yaml vm.yaml", &[("t.yaml", TEMPLATE), ("vm.yaml", PLAIN)]), (1, ok(&["violation"])));
    let run = run("validate -p NOPE=1 t.yaml", &[("t.yaml", TEMPLATE)]);
    assert_eq!((run.code, run.err.contains("No template has a parameter NOPE")), (2, true));
    let required = TEMPLATE.replace("value: \"4\"", "required: true");
    assert_eq!(verdict("t.yaml", &[("t.yaml", &required)]), (2, ok(&["error"])));
    // By the specification, rules on the VM inside a template count for VMs made from it; the
    // reference ignores them.
    let inside = TEMPLATE.replace("    validations:", "    vm.kubevirt.io/validations:").replacen(
        "    name: ${NAME}\n",
        "    name: ${NAME}\n    annotations:\n      vm.kubevirt.io/validations: '[{\"name\":\"c\",\"path\":\"jsonpath::.spec.domain.cpu.cores\",\"rule\":\"integer\",\"message\":\"m\",\"min\":4}]'\n",
        1,
    );
    let files = [("t.yaml", inside.as_str()), ("vm.yaml", PLAIN)];
    assert_eq!(verdict("-t t.yaml vm.yaml", &files), (1, ok(&["violation"])));
    assert_eq!(verdict("--compat ssp -t t.yaml vm.yaml", &files), (0, Vec::new()));
}

#[test]
fn lists_directories_and_templates_are_read() {
    let indented = VM.replace('\n', "\n  ");
    let list = format!("apiVersion: v1\nkind: List\nitems:\n- {}\n", indented.trim_end());
    assert_eq!(verdict("l.yaml", &[("l.yaml", &list)]).1.len(), 2);
    assert_eq!(verdict("-", &[("-", &format!("{VM}---\n{VM}"))]).1.len(), 4);
    assert_eq!(verdict("dir", &[("dir/a.yaml", VM), ("dir/sub/b.yml", VM), ("dir/c.txt", VM)]).1.len(), 4);
    let vmt = "apiVersion: template.kubevirt.io/v1alpha1\nkind: VirtualMachineTemplate\nmetadata: {name: t}\nspec:\n  parameters: [{name: MEM, value: 1Gi}]\n  virtualMachine:\n    metadata:\n      annotations:\n        vm.kubevirt.io/validations: '[{\"name\":\"m\",\"path\":\"jsonpath::.spec.domain.memory.guest\",\"rule\":\"integer\",\"message\":\"m\",\"min\":1}]'\n    spec: {template: {spec: {domain: {memory: {guest: \"${MEM}\"}}}}}\n";
    for version in ["v1alpha1", "v1beta1"] {
        let vmt = vmt.replace("v1alpha1", version);
        assert_eq!(verdict("t.yaml", &[("t.yaml", &vmt)]), (0, vec!["ok".to_owned()]), "{version}");
    }
    assert_eq!(verdict("-p MEM=lots t.yaml", &[("t.yaml", vmt)]), (1, vec!["violation".to_owned()]));
}

#[test]
fn instance_types_set_cpu_and_memory() {
    let vm = VM
        .replace("spec:\n  template:", "spec:\n  instancetype: {name: u1}\n  template:")
        .replace("        memory: {guest: 1Gi}\n", "");
    let kind = |memory: &str| {
        format!(
            "kind: VirtualMachineClusterInstancetype\nmetadata: {{name: u1}}\nspec: {{cpu: {{guest: 1}}, memory: {{guest: {memory}}}}}\n"
        )
    };
    let status = |args: &str, memory: &str| verdict(args, &[("vm.yaml", &vm), ("i.yaml", &kind(memory))]).1[0].clone();
    assert_eq!(status("vm.yaml", "2Gi"), "skipped");
    assert_eq!(status("--instancetype i.yaml vm.yaml", "2Gi"), "ok");
    assert_eq!(status("--instancetype i.yaml vm.yaml", "1Gi"), "violation");
    assert_eq!(status("--compat ssp vm.yaml", "2Gi"), "violation");
}

#[test]
fn common_instance_types_are_known() {
    let vm = |name: &str| {
        VM.replace("spec:\n  template:", &format!("spec:\n  instancetype: {{name: {name}}}\n  template:"))
            .replace("        memory: {guest: 1Gi}\n", "")
    };
    for (name, status) in [("u1.nano", "violation"), ("u1.small", "ok"), ("u1.nonsense", "skipped")] {
        assert_eq!(verdict("vm.yaml", &[("vm.yaml", &vm(name))]).1[0], status, "{name}");
    }
    // Values given by the user take precedence.
    let other = "kind: VirtualMachineClusterInstancetype\nmetadata: {name: u1.nano}\nspec: {cpu: {guest: 1}, memory: {guest: 8Gi}}\n";
    let files = [("vm.yaml", vm("u1.nano")), ("i.yaml", other.to_owned())];
    let files = files.each_ref().map(|(name, text)| (*name, text.as_str()));
    assert_eq!(verdict("--instancetype i.yaml vm.yaml", &files).1[0], "ok");
}

/// Examples show only the beginning of a VM.
#[test]
fn a_template_whose_vm_is_abbreviated_gets_a_note() {
    let template = |rule: &str| {
        format!(
            "apiVersion: v1\nkind: Template\nmetadata:\n  name: t\nobjects:\n- apiVersion: kubevirt.io/v1\n  kind: VirtualMachine\n  metadata:\n    annotations:\n      vm.kubevirt.io/validations: |\n        [{rule}]\n"
        )
    };
    let good = template(
        r#"{"name": "core-limits", "path": "jsonpath::.spec.domain.cpu.cores", "message": "m", "rule": "integer", "min": 1}"#,
    );
    let run = run("lint --fail-on-warn t.yaml", &[("t.yaml", &good)]);
    assert_eq!(run.code, 0);
    assert!(run.out.contains("note: the rules were not tried on the template"), "{}", run.out);
    assert_eq!(verdict("--fail-on-warn t.yaml", &[("t.yaml", &good)]), (0, vec!["skipped".to_owned()]));
    let out = self::run("validate t.yaml", &[("t.yaml", &good)]).out;
    assert!(out.contains("Template t: valid (its VM has no spec.template to try the rules on)"), "{out}");
    // Problems of the rule itself are reported nevertheless.
    let bad = good.replace(r#""rule": "integer", "#, "");
    assert_eq!(verdict("t.yaml", &[("t.yaml", &bad)]), (1, vec!["error".to_owned()]));
    // A VM that is not abbreviated is one that KubeVirt rejects.
    let vm = "kind: VirtualMachine\nmetadata:\n  name: x\n  annotations:\n    vm.kubevirt.io/validations: '[{\"name\":\"a\",\"path\":\"jsonpath::.spec.domain.cpu.cores\",\"rule\":\"integer\",\"message\":\"m\",\"min\":1}]'\n";
    assert_eq!(verdict("vm.yaml", &[("vm.yaml", vm)]).0, 1);
}

#[test]
fn explanations_do_not_contradict_themselves() {
    let sentences = |rule: &str| {
        let vm = VM.replacen("\"path\": \"jsonpath::.spec.domain.memory.guest\"", rule, 1);
        run("explain --rule memory vm.yaml", &[("vm.yaml", &vm)]).out
    };
    let cpu = r#""valid": "jsonpath::.spec.domain.cpu", "path": "jsonpath::.spec.domain.cpu.cores""#;
    assert!(sentences(cpu).contains("  Where it is not set, it counts as 1.\n"), "{}", sentences(cpu));
    let guest = r#""valid": "jsonpath::.spec.domain.memory.guest", "path": "jsonpath::.spec.domain.memory.guest""#;
    assert!(!sentences(guest).contains("in error"), "{}", sentences(guest));
    let lost = sentences(r#""path": "jsonpath::.spec.devices.disks[*].name""#);
    assert!(lost.contains("VMs have no field `devices`: where the rule applies, the rule is in error."), "{lost}");
    assert!(lost.contains("did you mean `.spec.domain.devices`?"), "{lost}");
    let run = run("lint vm.yaml", &[("vm.yaml", &VM.replacen(".spec.domain.memory.guest", ".spec.devices.disks", 1))]);
    assert!(run.out.contains("hint: `devices` belongs to a VM's template at .spec.domain.devices"), "{}", run.out);
}

#[test]
fn fields_of_newer_releases_are_notes() {
    let newer = VM.replace("1Gi", "2Gi").replace("memory: {guest", "quantumEntanglement: {}\n        memory: {guest");
    let statuses = |args: &str| verdict(args, &[("vm.yaml", &newer)]);
    assert_eq!(statuses("vm.yaml").1, ["ok", "warning", "note"]);
    assert_eq!(statuses("--field-validation=strict vm.yaml").1, ["ok", "warning", "violation"]);
    let known = VM.replace(
        "        devices:\n",
        "        devices:\n          interfaces: [{name: net, masquerade: {}, portRanges: [{protocol: TCP, start: 1, end: 9}]}]\n",
    );
    let known = known.replace("      domain:\n", "      serviceAccountName: robot\n      networks: [{name: net, resourceClaim: {claimName: c, requestName: r}}]\n      domain:\n");
    assert_eq!(verdict("vm.yaml", &[("vm.yaml", &known)]).1, ["violation", "warning"]);
}

#[test]
fn skipped_and_deleted_vms_have_no_rules() {
    for line in ["  deletionTimestamp: \"2026-01-01T00:00:00Z\"\n", ""] {
        let skip = if line.is_empty() {
            "  annotations:\n    vm.kubevirt.io/skip-validations: \"false\"\n"
        } else {
            "  annotations:\n"
        };
        let vm = VM.replace("  name: one\n", &format!("  name: one\n{line}")).replace("  annotations:\n", skip);
        assert_eq!(verdict("vm.yaml", &[("vm.yaml", &vm)]), (0, Vec::new()), "{vm}");
    }
}

#[test]
fn lint_finds_and_fixes_mistakes() {
    let broken = VM.replacen("\"rule\"", "\u{201c}rule\u{201d}", 1).replacen("\"jsonpath::.spec", "\".spec", 1);
    let run = run("lint --fix vm.yaml", &[("vm.yaml", &broken)]);
    assert_eq!(run.code, 0, "{} {}", run.out, run.err);
    let mended = run.host.read(Path::new("vm.yaml")).unwrap();
    assert_eq!(String::from_utf8(mended).unwrap(), VM);
    assert!(run.err.contains("3 changes made"), "{}", run.err);
    let own = self::run("lint t.yaml", &[("t.yaml", &TEMPLATE.replace("value: \"4\"", "value: \"2\""))]);
    assert_eq!(own.code, 1);
    assert!(own.out.contains("[own-vm-invalid]"), "{}", own.out);
    let double = "kind: VirtualMachine\nmetadata:\n  annotations:\n    vm.kubevirt.io/validations: \"[{“name”: 1}]\"\nspec: {template: {}}\n";
    let run = self::run("lint --fix vm.yaml", &[("vm.yaml", double)]);
    assert!(
        String::from_utf8(run.host.read(Path::new("vm.yaml")).unwrap()).unwrap().contains("\"[{\\\"name\\\": 1}]\"")
    );
}

#[test]
fn the_documentation_lists_each_finding_of_lint() {
    let docs = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/kubevirt.md")).unwrap();
    let row = |lint: &Lint| format!("| `{}` | {} | {} |", lint.id(), lint.severity().name(), lint.about());
    let missing: Vec<String> = Lint::ALL.iter().map(row).filter(|row| !docs.contains(row)).collect();
    assert!(missing.is_empty(), "docs/kubevirt.md needs these rows:\n{}", missing.join("\n"));
}

#[test]
fn policies_are_exported_and_rules_explained() {
    let run = run("export cel t.yaml", &[("t.yaml", TEMPLATE)]);
    assert_eq!(run.code, 0, "{}", run.err);
    assert!(
        run.out.contains("kind: ValidatingAdmissionPolicyBinding") && run.out.contains("validationActions: [Deny]")
    );
    let warn = self::run("export cel vm.yaml", &[("vm.yaml", VM)]);
    assert!(warn.out.contains("validationActions: [Warn, Audit]"), "{}", warn.out);
    let run = self::run("explain --rule memory vm.yaml", &[("vm.yaml", VM)]);
    assert_eq!(
        run.out,
        "memory (vm.yaml:9:9), on VirtualMachine one\n  \
         The value at .spec.domain.memory.guest must be a whole number, at least 1.5Gi.\n  \
         Where it is not set, the rule is in error.\n  \
         A VM that breaks it is invalid.\n  \
         Here: violation: value 1Gi is lower than the minimum 1.5Gi\n"
    );
    let none = "kind: VirtualMachine\nmetadata: {name: x}\nspec: {template: {spec: {domain: {}}}}\n";
    for command in ["export cel", "explain"] {
        let run = self::run(&format!("{command} vm.yaml"), &[("vm.yaml", none)]);
        assert_eq!((run.code, run.err.as_str()), (1, "There are no rules in the input\n"));
    }
    assert_eq!(self::run("explain --rule nope vm.yaml", &[("vm.yaml", VM)]).code, 2);
}

#[test]
fn large_annotations_take_linear_time() {
    let rules: Vec<String> = (0..45_000)
        .map(|i| format!("{{\"name\":\"rule-{i}\",\"path\":\"jsonpath::.spec.domain.cpu.cores\",\"rule\":\"integer\",\"message\":\"some message that is long enough to fill ten megabytes of text with all these rules, and more of it, and more, and more\",\"min\":1}}")).collect();
    let vm = format!(
        "kind: VirtualMachine\nmetadata:\n  annotations:\n    vm.kubevirt.io/validations: '[{}]'\nspec: {{template: {{spec: {{domain: {{cpu: {{cores: 2}}}}}}}}}}\n",
        rules.join(",")
    );
    assert!(vm.len() > 9_000_000);
    let run = run("validate vm.yaml", &[("vm.yaml", &vm)]);
    assert_eq!(run.code, 0);
    assert!(run.out.contains("45000 ok"));
}

#[test]
fn long_lines_take_linear_time() {
    let vm = |i: usize| {
        format!(
            r#"{{"kind":"VirtualMachine","metadata":{{"name":"größe-{i}","annotations":{{"vm.kubevirt.io/validations":"[{{\"name\":\"c\",\"path\":\"jsonpath::.spec.domain.cpu.cores\",\"rule\":\"integer\",\"message\":\"m\",\"min\":4}}]"}}}},"spec":{{"template":{{"spec":{{"domain":{{"cpu":{{"cores":2}}}}}}}}}}}}"#
        )
    };
    let list = format!("{{\"kind\":\"List\",\"items\":[{}]}}", (0..20_000).map(vm).collect::<Vec<_>>().join(","));
    // Counting each of 20,000 positions from the beginning of the line would visit 50 billion
    // characters.
    let run = run("validate -o github l.json", &[("l.json", &list)]);
    let last = run.out.lines().last().unwrap();
    let column = list.rfind("2}").map(|at| list[..at].chars().count() + 1).unwrap();
    assert!(last.starts_with(&format!("::error file=l.json,line=1,col={column},")), "{last}");
    assert_eq!(run.out.lines().count(), 20_000);
}

#[test]
fn rules_that_are_not_text_are_reported() {
    let vm = "kind: VirtualMachine\nmetadata:\n  name: x\n  annotations:\n    vm.kubevirt.io/validations:\n    - name: a\nspec: {template: {spec: {domain: {}}}}\n";
    let problem = "the annotation must be a string that contains JSON, found an array";
    for command in ["validate", "validate --compat ssp", "lint", "explain", "export cel"] {
        let run = run(&format!("{command} vm.yaml"), &[("vm.yaml", vm)]);
        assert_eq!(run.code, 2, "{command}");
        let all = format!("{}{}", run.out, run.err);
        assert!(all.contains(problem) && all.contains("vm.yaml:5:5"), "{command}: {all}");
    }
}

#[test]
fn untrusted_texts_stay_on_one_line() {
    let vm = VM.replace("This VM requires", "This\\nVM\\u001b[31m requires").replace("\"memory\"", "\"mem\\u0085\"");
    let run = run("validate vm.yaml", &[("vm.yaml", &vm)]);
    let line = "  violation: mem\\u{85} .spec.domain.memory.guest: This VM\\u{1b}[31m requires more memory.\n";
    assert!(run.out.contains(line), "{}", run.out);
}

#[test]
fn equal_rules_share_a_policy() {
    let policies = |out: &str| out.matches("kind: ValidatingAdmissionPolicy\n").count();
    let other = TEMPLATE.replace("namespace: ns", "namespace: other");
    let run = run("export cel a.yaml b.yaml", &[("a.yaml", TEMPLATE), ("b.yaml", &other)]);
    assert_eq!((run.code, policies(&run.out)), (0, 1), "{}", run.out);
    let options = ytterby_yaml::ReadOptions::default();
    let sources = ytterby_diag::Sources::new();
    let id = sources.add(ytterby_diag::Source::new("policies", run.out.clone().into_bytes()));
    assert_eq!(ytterby_yaml::parse(run.out.as_bytes(), id, &options).unwrap().documents().len(), 2);
    for part in ["name: \"tpl-validations\"\n", "in ['ns/tpl', 'other/tpl']"] {
        assert!(run.out.contains(part), "{part}: {}", run.out);
    }
    // Different rules get a policy with a different name.
    let stricter = TEMPLATE.replace("\"min\":4", "\"min\":8");
    let run = self::run("export cel a.yaml b.yaml", &[("a.yaml", TEMPLATE), ("b.yaml", &stricter)]);
    assert_eq!(policies(&run.out), 2);
    assert!(run.out.contains("name: \"tpl-validations-2\"\n"), "{}", run.out);
    let named = self::run("export cel --name x a.yaml b.yaml", &[("a.yaml", TEMPLATE), ("b.yaml", &stricter)]);
    assert_eq!((named.code, named.err.as_str()), (2, "--name needs rules of one text, found 2 texts"));
    // A VM with rules is selected by their text.
    let own = self::run("export cel vm.yaml", &[("vm.yaml", VM)]);
    assert!(own.out.contains("object.metadata.annotations['vm.kubevirt.io/validations'] == '[\\\\n"), "{}", own.out);
    // The VMs of one template share its rules, and its policy.
    let objects = TEMPLATE.find("- apiVersion").unwrap()..TEMPLATE.find("parameters:").unwrap();
    let twice = TEMPLATE.replace("parameters:", &format!("{}parameters:", &TEMPLATE[objects]));
    let run = self::run("export cel a.yaml", &[("a.yaml", &twice)]);
    assert_eq!(policies(&run.out), 1, "{}", run.out);
}

#[test]
fn rules_left_out_of_policies_are_reported() {
    let unknown = VM.replace("\"rule\": \"enum\"", "\"rule\": \"float\"");
    let run = run("export cel vm.yaml", &[("vm.yaml", &unknown)]);
    assert_eq!(
        (run.code, run.err.as_str()),
        (0, "vm.yaml:15:12: rule bus is ignored: \"float\" is no kind of rule that is known\n")
    );
    assert_eq!(self::run("export cel --fail-on-warn vm.yaml", &[("vm.yaml", &unknown)]).code, 1);
    let run =
        self::run("export cel vm.yaml", &[("vm.yaml", &VM.replace("::.spec.domain.memory", "::spec.domain.memory"))]);
    assert_eq!(run.code, 1);
    assert!(run.err.contains("the path spec.domain.memory.guest does not begin with a dot"), "{}", run.err);
}

/// The rendered bundle of kubevirt/common-templates cannot be included here; the variable names a
/// copy of it.
#[test]
fn shipped_templates_are_valid_on_their_own_rules() {
    let Ok(path) = std::env::var("KUBEVIRT_TEMPLATES") else {
        eprintln!("SKIPPED: KUBEVIRT_TEMPLATES names no bundle of templates");
        return;
    };
    let bundle = std::fs::read_to_string(&path).unwrap();
    let templates = bundle.lines().filter(|line| *line == "kind: Template").count();
    let run = run("validate bundle.yaml", &[("bundle.yaml", &bundle)]);
    assert_eq!(run.code, 0, "{}", run.out);
    assert!(run.out.contains(&format!("{templates} objects: all valid")), "{}", run.out);
    let fields = self::run("validate --field-validation strict bundle.yaml", &[("bundle.yaml", &bundle)]);
    assert_eq!(fields.code, 0, "{}", fields.out);
    let lint = self::run("lint --fail-on-warn bundle.yaml", &[("bundle.yaml", &bundle)]);
    assert_eq!(lint.code, 0, "{}", lint.out);
}
