//! Tests of the completion scripts in the installed shells. Unit tests check the candidates; these
//! check that shells show them.

use std::process::{Command, Stdio};

use super::{BIN, Scratch, finish, run};

const SHELLS: [&str; 4] = ["bash", "fish", "powershell", "zsh"];

/// A directory with the script, and the program on the path.
fn prepare(shell: &str) -> Scratch {
    let scratch = Scratch::with(&[("my file.yml", ""), ("dir/x.yml", "")]);
    std::os::unix::fs::symlink(BIN, scratch.0.join("ytterby")).unwrap();
    let (exit, script, stderr) = run(&["completion", shell]);
    assert_eq!((exit, stderr.as_str()), (0, ""), "{shell}");
    scratch.write("script", script);
    scratch
}

fn is_installed(shell: &str) -> bool {
    Command::new(shell).args(["-c", "exit"]).stdin(Stdio::null()).output().is_ok()
}

/// Runs a program of a shell, with the script's directory as the first on the path.
fn shell(scratch: &Scratch, shell: &str, args: &[&str]) -> String {
    let path = format!("{}:{}", scratch.0.display(), std::env::var("PATH").unwrap_or_default());
    let mut command = Command::new(shell);
    command.args(args).current_dir(&scratch.0).stdin(Stdio::null()).env("PATH", path).env("HOME", &scratch.0);
    let (_, stdout, stderr) = finish(&mut command);
    assert_eq!(stderr, "", "{shell} {args:?}");
    stdout
}

#[test]
fn scripts_are_whole() {
    for name in SHELLS {
        let script = run(&["completion", name]).1;
        assert!(script.contains("__complete ") && script.contains("Load them with"), "{name}: {script}");
        for placeholder in ["PROGRAM", "FUNCTION", "QUESTION"] {
            assert!(!script.contains(placeholder), "{name}: {script}");
        }
        for (open, close) in [('{', '}'), ('[', ']')] {
            let count = |c: char| script.chars().filter(|other| *other == c).count();
            assert_eq!(count(open), count(close), "{name} {open}{close}");
        }
        let script = run(&["completion", name, "--no-descriptions"]).1;
        assert!(script.contains("__completeNoDesc "), "{name}: {script}");
    }
    for name in ["bash", "fish", "zsh"].into_iter().filter(|name| is_installed(name)) {
        assert_eq!(shell(&prepare(name), name, &["-n", "script"]), "", "{name}");
    }
}

#[test]
fn bash_offers_what_fits() {
    if !is_installed("bash") {
        return scripts_are_whole();
    }
    let scratch = prepare("bash");
    // As bash calls it; `compopt` only works inside a completion.
    let check = |line: &str, want: &str| {
        let program = format!(
            "compopt() {{ COMPREPLY+=(\"options $*\"); }}; source ./script; COMP_LINE='{line}'; COMP_POINT=${{#COMP_LINE}}; \
             _ytterby_complete ytterby; printf '%s|' \"${{COMPREPLY[@]}}\""
        );
        assert_eq!(shell(&scratch, "bash", &["--norc", "--noprofile", "-c", &program]), want, "{line}");
    };
    check("ytterby vers", "version|options +o default|");
    check("FOO=1 ytterby -s vers", "version|options +o default|");
    check("ytterby -o js", "json|json-schema|options +o default|");
    check("ytterby --diagnostics=r", "rich|options +o default|");
    check("ytterby --diagnostics ", "text|rich|json|sarif|github|gitlab|junit|options +o default|");
    check("ytterby --output-files ", "options +o default -o dirnames|");
    check("ytterby -f ", "|");
    assert!(shell(&scratch, "bash", &["-c", "source ./script; complete -p ytterby"]).contains("-o default -F"));
}

#[test]
fn fish_offers_what_fits() {
    if !is_installed("fish") {
        return scripts_are_whole();
    }
    let scratch = prepare("fish");
    let check = |line: &str, want: &[&str]| {
        let program = format!("source ./script; complete -C '{line}'");
        let got = shell(&scratch, "fish", &["--no-config", "-c", &program]);
        assert_eq!(got.lines().collect::<Vec<_>>(), want, "{line}");
    };
    check("ytterby vers", &["version\tShow the version"]);
    check("ytterby -o js", &["json", "json-schema"]);
    check("ytterby --output=json,m", &["--output=json,markdown"]);
    check("ytterby --output-files ", &["dir/"]);
    check("ytterby --output-files=d", &["--output-files=dir/"]);
    check("ytterby -f m", &["my file.yml"]);
    check("ytterby -v ", &[]);
}

#[test]
fn zsh_offers_what_fits() {
    if !is_installed("zsh") {
        return scripts_are_whole();
    }
    let scratch = prepare("zsh");
    // As zsh calls it, with replaced functions of its completion system that print their arguments.
    let check = |words: &str, want: &str| {
        let program = format!(
            "compdef() {{ }}; compset() {{ print -rn -- \"compset $* \" }}; _files() {{ print -rn -- \"files $*\" }}
             _describe() {{ print -rn -- \"${{(j:|:)${{(P)3}}}}\" }}
             source ./script; words=({words}); CURRENT=$#words; PREFIX=$words[CURRENT]; _ytterby"
        );
        assert_eq!(shell(&scratch, "zsh", &["-f", "-c", &program]), want, "{words}");
    };
    check("ytterby vers", "version:Show the version");
    check("ytterby -o js", "json|json-schema");
    check("ytterby --output=js", "compset -P *= json|json-schema");
    check("ytterby -f 'my\\ file'", "files ");
    check("ytterby --output-files ''", "files -/");
    check("ytterby -v ''", "");
}

#[test]
fn powershell_reads_the_script() {
    let reads = "$null = [ScriptBlock]::Create((Get-Content -Raw script)); Invoke-Expression (Get-Content -Raw script); \
                 (TabExpansion2 'ytterby -o js' 13).CompletionMatches.CompletionText -join ' '";
    if is_installed("pwsh") {
        let got = shell(&prepare("powershell"), "pwsh", &["-NoProfile", "-NonInteractive", "-Command", reads]);
        assert_eq!(got.trim(), "json json-schema");
    } else {
        scripts_are_whole();
    }
}

#[test]
fn keys_of_the_schema_are_offered() {
    let schema = "#@data/values-schema\n---\n#@schema/desc \"The name.\\nAll of it.\"\nname: shop\ndb:\n  #@schema/secret\n  \
                  password: hunter2\n  port: 5432\nhosts:\n- name: \"\"\n\"tls.crt\":\n  x: 1\n#@schema/any-key\nfree:\n  _: 1\n";
    let scratch = Scratch::with(&[
        ("schema.yml", schema),
        ("wrong.yml", "#@data/values-schema\n---\na: #@ 1 / 0\n"),
        ("endless.yml", "#@data/values-schema\n---\n#@ while True:\n#@   x = 1\n#@ end\na: 1\n"),
        ("plain.yml", "a: 1\n"),
    ]);
    let ask = |words: &[&str]| {
        let (exit, stdout, stderr) = scratch.run(&[&["__complete"][..], words].concat());
        assert_eq!((exit, &*stderr), (0, ""), "{words:?}");
        stdout
    };
    let all = "name=\tThe name.\ndb.password=\tstring\ndb.port=\tinteger\nhosts=\tarray of map\n:6\n";
    assert_eq!(ask(&["-f", "schema.yml", "-v", ""]), all);
    assert_eq!(ask(&["-f", ".", "-f", "-", "-f", "https://nowhere.test/x.yml", "-v", "x"]), ":4\n");
    assert_eq!(ask(&["-f", "schema.yml", "--data-value-yaml", "db."]), "db.password=\tstring\ndb.port=\tinteger\n:6\n");
    assert_eq!(ask(&["--file=schema.yml", "--data-value-yaml=db.po"]), "db.port=\tinteger\n:6\n");
    assert_eq!(ask(&["-f", "schema.yml", "--data-value-file", "na"]), "name=\tThe name.\n:6\n");
    assert_eq!(ask(&["-f", "schema.yml", "--data-value-file", "name=pl"]), ":0\n");
    assert_eq!(ask(&["-f", "schema.yml", "-v", "name="]), ":4\n");
    for file in ["wrong.yml", "endless.yml", "plain.yml", "nope.yml", "<(cat", "-"] {
        assert_eq!(ask(&["-f", file, "-v", ""]), ":4\n", "{file}");
    }
}

#[test]
fn choices_are_accepted() {
    let scratch = Scratch::with(&[("schema.yml", "#@data/values-schema\n---\na: 1\n")]);
    let choices = |flag: &str| {
        let answer = run(&["__completeNoDesc", flag, ""]).1;
        let words: Vec<String> = answer.lines().filter(|line| !line.starts_with(':')).map(str::to_owned).collect();
        assert!(!words.is_empty(), "{flag}");
        words
    };
    for format in choices("--output") {
        let documents = scratch.run(&["-f", "schema.yml", "-o", &format]);
        let schema = scratch.run(&["-f", "schema.yml", "--data-values-schema-inspect", "-o", &format]);
        assert!(documents.0 == 0 || schema.0 == 0, "{format} {documents:?} {schema:?}");
    }
    for flag in ["--diagnostics", "--compat"] {
        for choice in choices(flag) {
            assert_eq!(scratch.run(&["-f", "schema.yml", flag, &choice]).0, 0, "{flag} {choice}");
        }
    }
}
