//! The same inputs give the same bytes in any environment.

use super::{Scratch, finish};

/// Inputs that could depend on the environment: maps, sets, dates, floats, cases, many files.
fn inputs() -> Vec<(String, String)> {
    let schema =
        "#@data/values-schema\n---\n#@schema/desc \"Größe\"\nsize: 1.5\nnames: [\"\"]\nopen:\n  when: 2020-01-01\n";
    let mut files = vec![("in/schema.yml".to_owned(), schema.to_owned())];
    for number in 0..30 {
        let template = format!(
            "#@ load(\"@ytt:data\", \"data\")\n#@ load(\"@ytt:json\", \"json\")\n---\nn: {number}\nsize: #@ data.values.size\n\
             set: #@ [x for x in set([\"b\", \"a\", \"ä\", \"Z\"])]\nupper: #@ \"straße i\".upper()\n\
             json: #@ json.encode({{\"b\": 0.1, \"a\": [1, 2.0]}})\nsorted: #@ sorted([\"é\", \"e\", \"E\", \"z\"])\n"
        );
        files.push((format!("in/d{}/t{number:02}.yml", number % 3), template));
    }
    files
}

/// Twenty targets, half of them to directories and half to standard output.
const PROJECT: &str = "files: [in]\ntargets:\n  \
    files: {matrix: {number: [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]}, set: {size: \"{number}\"}, output: \"built/{number}\"}\n  \
    stream: {matrix: {number: [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]}, set: {size: \"{number}\"}}\n";

#[test]
fn output_does_not_depend_on_the_environment() {
    let mut expected: Option<[String; 4]> = None;
    let surroundings: [&[(&str, &str)]; 6] = [
        &[],
        &[("LC_ALL", "C"), ("TZ", "UTC")],
        &[("LC_ALL", "tr_TR.UTF-8"), ("LANG", "tr_TR.UTF-8"), ("TZ", "Asia/Kathmandu")],
        &[("LC_ALL", "de_DE.UTF-8"), ("TZ", "America/St_Johns"), ("HOME", "/nonexistent"), ("USER", "x")],
        &[("COLUMNS", "40"), ("TERM", "dumb"), ("RUST_BACKTRACE", "full"), ("RAYON_NUM_THREADS", "1"), ("PWD", "/")],
        &[("MALLOC_ARENA_MAX", "1"), ("MALLOC_PERTURB_", "85"), ("SOURCE_DATE_EPOCH", "1"), ("TMPDIR", "/nonexistent")],
    ];
    for (round, variables) in surroundings.into_iter().enumerate() {
        let scratch = Scratch::new();
        // Depending on the system, directories list entries in order of creation or by hash.
        let mut files = inputs();
        let count = files.len();
        files.rotate_left(round * 7 % count);
        if round % 2 == 1 {
            files.reverse();
        }
        files.iter().for_each(|(path, text)| scratch.write(path, text));
        let run = |args: &[&str]| {
            let mut command = scratch.command(args);
            command.envs(variables.iter().copied());
            let (exit, stdout, stderr) = finish(&mut command);
            assert_eq!((exit, stderr.as_str()), (0, ""), "{args:?} {variables:?}");
            stdout
        };
        let rendered = run(&["-f", "in"]);
        let schema = run(&["-f", "in", "--data-values-schema-inspect", "-o", "openapi-v3"]);
        let told = [
            run(&["check", "-f", "in"]),
            run(&["gen", "-f", "in", "--count", "5"]),
            run(&["explain", "size", "-f", "in"]),
        ];
        run(&["-f", "in", "--output-files", "out"]);
        // Any number of threads.
        scratch.write("ytterby.yml", PROJECT);
        let built = run(&["build", "--jobs", ["1", "2", "7"][round % 3]]);
        let written = format!("{built}{:?}{:?}", scratch.list("out"), scratch.list("built"));
        let found = [rendered, schema, written, told.concat()];
        match &expected {
            None => expected = Some(found),
            Some(expected) => assert_eq!(&found, expected, "{variables:?}"),
        }
    }
}
