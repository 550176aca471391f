//! Valid and invalid project files and test files.

use std::fmt::Write;

use ytterby_diag::render::{Rendering, Report, render};
use ytterby_diag::{Cause, Diagnostic, Failure, Sources};
use ytterby_project::{ProjectFile, read, read_tests, select};

fn project(text: &str) -> (ProjectFile, Vec<Diagnostic>, Sources) {
    let sources = Sources::new();
    let (project, problems) = read("ytterby.yml", text.as_bytes().into(), "", &sources);
    (project, problems, sources)
}

/// `id file:line "text of the range" message` of each problem.
fn summary(problems: &[Diagnostic], sources: &Sources) -> String {
    let mut out = String::new();
    for problem in problems {
        let label = problem.primary().expect("a problem has a place");
        let span = label.span(sources).expect("a place has a range");
        let source = sources.get(span.file).unwrap();
        let text = String::from_utf8_lossy(&source.text()[span.start as usize..span.end as usize]).into_owned();
        let message = problem.sentence(sources);
        let _ = writeln!(out, "{} {} {text:?} {message}", problem.id, sources.line(label.pos));
    }
    out
}

#[track_caller]
fn check(text: &str, want: &str) {
    let (_, problems, sources) = project(text);
    assert_eq!(summary(&problems, &sources), want, "{text}");
}

#[track_caller]
fn check_tests(text: &str, want: &str) {
    let sources = Sources::new();
    let (_, problems) = read_tests("a_test.yml", text.as_bytes().into(), &sources);
    assert_eq!(summary(&problems, &sources), want, "{text}");
}

#[test]
fn a_target_extends_the_project() {
    let (project, problems, _) = project(
        "files: [config]\nvalues: [all.yml]\nset: {a: 1}\nkubernetes: 1.30\nlimits: {time: 30s, memory: 2GiB}\n\
         targets:\n  dev: {files: [o], values: [dev.yml], set: {db.port: 5}, limits: {time: 1s}}\n  prod:\n",
    );
    assert!(problems.is_empty(), "{problems:?}");
    let [dev, prod] = &project.targets[..] else { panic!("two targets") };
    let texts = |list: &[ytterby_project::Placed<String>]| list.iter().map(|t| t.value.clone()).collect::<Vec<_>>();
    assert_eq!(texts(&dev.files), ["config", "o"]);
    assert_eq!(texts(&dev.values), ["all.yml", "dev.yml"]);
    assert_eq!(dev.set.iter().map(|set| &*set.key).collect::<Vec<_>>(), ["a", "db.port"]);
    assert_eq!(dev.limits.time.unwrap().as_secs(), 1);
    assert_eq!(dev.limits.memory, Some(2 << 30));
    assert_eq!(prod.kubernetes.as_ref().unwrap().value, "1.30");
    assert_eq!((prod.name.as_str(), prod.limits.time.unwrap().as_secs()), ("prod", 30));
}

#[test]
fn an_empty_file_is_an_empty_project() {
    check("", "");
    check("# nothing\n", "");
    check("targets:\ntests:\nfiles:\n", "");
}

#[test]
fn unknown_keys_are_suggested_and_fixed() {
    check("flies: [config]\n", "project/unknown-key 1 \"flies\" unknown key \"flies\" in the project file\n");
    let (_, problems, sources) = project("targets: {dev: {ouput: x}}\n");
    let failure = Failure::of(Cause::Series(problems.into_iter().map(Failure::from).collect()));
    let json = render(&Report::new("ytterby", Some(&failure), &[], &sources), Rendering::Json);
    assert!(json.contains(r#""title":"Change \"ouput\" to \"output\"""#), "{json}");
    assert!(json.contains(r#""replacement":"output""#), "{json}");
}

#[test]
fn wrong_types_are_reported_at_their_lines() {
    check("files: [config]\ntargets: [dev]\n", "project/type 2 \"[dev]\" expected a map for targets, found a list\n");
    check("files: config\n", "project/type 1 \"config\" expected a list for files, found a string\n");
    check("files: [1]\n", "project/type 1 \"1\" expected a string for files, found an integer\n");
    check("files: [[a]]\n", "project/type 1 \"[a]\" expected a string for files, found a list\n");
    check("- a\n", "project/type 1 \"a\" expected a map for the project file, found a list\n");
    check("targets: {on: {}}\n", "project/type 1 \"on\" expected a string as key in targets, found a boolean\n");
    check(
        "strict-annotations: \"yes\"\n",
        "project/type 1 \"\\\"yes\\\"\" expected true or false for strict-annotations, found a string\n",
    );
    check("files: [a]\n---\nfiles: [b]\n", "project/type 2 \"---\" expected one document, found several\n");
    check("files: []\nfiles: []\n", "yaml/duplicate-key 2 \"files\" duplicate key \"files\"\n");
}

#[test]
fn wrong_values_are_reported_at_their_lines() {
    check("kubernetes: latest\n", "project/value 1 \"latest\" \"latest\" is not a version of Kubernetes\n");
    check("limits: {time: 30}\n", "project/value 1 \"30\" \"30\" is not a limit for time\n");
    check(
        "limits: {steps: -1}\n",
        "project/value 1 \"-1\" expected a number that is not negative for steps, found -1\n",
    );
    check("set: {a..b: 1}\n", "project/value 1 \"a..b\" \"a..b\" is not the path of a data value\n");
    check("targets: {\"a b\": {}}\n", "project/value 1 \"\\\"a b\\\"\" \"a b\" cannot be the name of a target\n");
    check("kubernetes: off\n", "");
    check("a: [\n", "yaml/syntax 1 \"\" did not find expected node content\n");
}

#[test]
fn a_matrix_expands_to_all_combinations() {
    let (project, problems, _) = project(
        "targets:\n  all:\n    matrix: {region: [eu, us], v: [1, 1.30]}\n    values: [\"v/{v}.yml\"]\n    \
         set: {host: \"{region}.test\", size: \"{v}\", raw: \"{{v}}\"}\n    output: out/{region}-{v}\n",
    );
    assert!(problems.is_empty(), "{problems:?}");
    let names: Vec<&str> = project.targets.iter().map(|target| &*target.name).collect();
    assert_eq!(names, ["all[region=eu,v=1]", "all[region=eu,v=1.30]", "all[region=us,v=1]", "all[region=us,v=1.30]"]);
    let last = &project.targets[3];
    assert_eq!((&*last.output.as_ref().unwrap().value, &*last.values[0].value), ("out/us-1.30", "v/1.30.yml"));
    let values: Vec<String> = last.set.iter().map(|set| format!("{:?}", set.value.value)).collect();
    assert_eq!(values, [r#"Scalar(Text("us.test"))"#, "Scalar(Float(1.3))", r#"Scalar(Text("{v}"))"#]);
    let chosen = |words: &[&str]| {
        let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
        select(&project, &words).map(|found| found.len()).map_err(|problem| problem.message.plain().into_owned())
    };
    assert_eq!(chosen(&["all"]), Ok(4));
    assert_eq!(chosen(&["all[region=eu,v=1]"]), Ok(1));
    assert_eq!(chosen(&["all[region=eu]", "all[v=1]"]), Ok(3));
    assert_eq!(chosen(&["al"]), Err("unknown target \"al\"".to_owned()));
}

#[test]
fn a_wrong_matrix_is_reported_at_its_lines() {
    check(
        "targets: {all: {matrix: {region: [eu]}, output: \"out/{regoin}\"}}\n",
        "project/matrix 1 \"\\\"out/{regoin}\\\"\" the matrix has no list \"regoin\"\n",
    );
    check(
        "targets: {all: {output: \"out/{region}\"}}\n",
        "project/matrix 1 \"\\\"out/{region}\\\"\" the target has no matrix that {region} could come from\n",
    );
    check(
        "targets: {all: {matrix: {a: []}}}\n",
        "project/matrix 1 \"[]\" the list a of the matrix is empty, so there is nothing to build\n",
    );
    check(
        "targets: {all: {matrix: {a: [x, x]}}}\n",
        "project/matrix 1 \"x\" the list a of the matrix has \"x\" twice\n",
    );
    check(
        "targets: {all: {matrix: {a: [{b: 1}]}}}\n",
        "project/type 1 \"{b: 1}\" expected strings, numbers or booleans in a, found a map\n",
    );
    check("targets: {all: {matrix: {a: x}}}\n", "project/type 1 \"x\" expected a list for a, found a string\n");
}

#[test]
fn the_size_of_a_matrix_is_limited() {
    let list = (0..101).map(|n| n.to_string()).collect::<Vec<_>>().join(", ");
    let text = format!("targets:\n  all:\n    matrix: {{a: [{list}], b: [{list}]}}\n");
    check(&text, "project/matrix 2 \"all\" the matrix of all makes 101 × 101 = 10201 targets; the limit is 10000\n");
    let lists = (0..40).map(|n| format!("l{n}: [{list}]")).collect::<Vec<_>>().join(", ");
    let (project, problems, _) = project(&format!("targets: {{all: {{matrix: {{{lists}}}}}}}\n"));
    assert_eq!((project.targets.len(), problems.len()), (0, 1));
}

#[test]
fn outputs_do_not_collide() {
    check(
        "targets: {dev: {output: out/x}, prod: {output: ./out/x}}\n",
        "project/output 1 \"./out/x\" the targets dev and prod have the same output directory ./out/x\n",
    );
    check(
        "targets: {dev: {output: out}, prod: {output: out/prod}}\n",
        "project/output 1 \"out/prod\" the output directory out/prod of target prod is inside that of target dev, which is replaced as a whole\n",
    );
    check("targets: {dev: {output: out}, prod: {output: out-prod}}\n", "");
    check(
        "files: [config]\ntargets: {dev: {output: config}}\n",
        "project/output 2 \"config\" the output directory config contains the input config\n",
    );
    check(
        "targets: {dev: {values: [out/dev.yml], output: out}}\n",
        "project/output 1 \"out\" the output directory out contains the input out/dev.yml\n",
    );
    check("targets: {dev: {output: .}}\n", "project/output 1 \".\" the output directory . contains the project file\n");
    check(
        "targets: {dev: {output: ..}}\n",
        "project/output 1 \"..\" the output directory .. contains the project file\n",
    );
    check("files: [.]\ntargets: {dev: {output: out}}\n", "");
    check(
        "targets: {all: {matrix: {a: [x, y]}, output: out}}\n",
        "project/output 1 \"out\" the targets all[a=x] and all[a=y] have the same output directory out\n",
    );
    check("files: [\"a.yml=out/b.yml\", \"https://h/x\", \"-\"]\ntests: [t]\ntargets: {dev: {output: t/out}}\n", "");
}

#[test]
fn wrong_tests_are_reported_at_their_lines() {
    check_tests(
        "tests:\n- nmae: x\n",
        "test/unknown-key 2 \"nmae\" unknown key \"nmae\" in a test\ntest/value 2 \"- nmae: x\" the test has no name\n",
    );
    check_tests("tests: {a: 1}\n", "test/type 1 \"{a: 1}\" expected a list for tests, found a map\n");
    check_tests("tests: [x]\n", "test/type 1 \"x\" expected a map for a test, found a string\n");
    check_tests("tets: []\n", "test/unknown-key 1 \"tets\" unknown key \"tets\" in the test file\n");
    check_tests("tests: [{name: a, fails: {id: rule/mni}}]\n", "test/value 1 \"rule/mni\" unknown id \"rule/mni\"\n");
    check_tests("tests: [{name: a, fails: {}}]\n", "test/value 1 \"{}\" fails does not describe the problem\n");
    check_tests(
        "tests: [{name: a, snapshot: ../x}]\n",
        "test/value 1 \"../x\" \"../x\" is not the name of a snapshot\n",
    );
    check_tests(
        "tests: [{name: a, expect: [{equals: {a..b: 1}}]}]\n",
        "test/value 1 \"a..b\" \"a..b\" is not the path of a node\n",
    );
    check_tests(
        "tests: [{name: a, generate: 0}]\n",
        "test/value 1 \"0\" expected at least one input to generate, found 0\n",
    );
    check_tests(
        "tests: [{name: a, fails: x, snapshot: s}]\n",
        "test/value 1 \"fails\" a test that fails has no output that could be compared\n",
    );
    check_tests(
        "tests: [{name: a, snapshot: s}, {name: b, snapshot: ./s}]\n",
        "test/value 1 \"./s\" the tests \"a\" and \"b\" have the same snapshot\n",
    );
}

#[test]
fn nesting_is_limited() {
    let deep = format!("set: {{a: {}1{}}}\n", "[".repeat(5000), "]".repeat(5000));
    let (_, problems, _) = project(&deep);
    assert_eq!(problems.len(), 1);
    assert!(problems[0].message.plain().contains("nested more than"));
}
