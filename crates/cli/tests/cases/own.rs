//! Our own cases: `tests/cases/<area>/<name>/`. CONTRIBUTING.md describes their format.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use crate::execute::{Call, Run, contents, diff, writes_files};
use crate::words::words;
use crate::{Case, Outcome, directories};

/// All of them.
pub fn cases(root: &Path) -> Vec<Case> {
    let mut cases = Vec::new();
    for (area, directory) in directories(root) {
        for (name, directory) in directories(&directory) {
            let run = Box::new(move || run(&directory));
            cases.push(Case { name: format!("own/{area}/{name}"), run });
        }
    }
    cases
}

fn run(directory: &Path) -> Outcome {
    let script = fs::read_to_string(directory.join("cmd")).expect("a case has a cmd file");
    let mut script = Script::parse(&script).unwrap_or_else(|error| panic!("{}: {error}", directory.display()));
    script.call.files = directory.join("in");
    script.call.writes = directory.join("out").is_dir() || writes_files(&script.call.args);
    if let Some(file) = &script.stdin {
        script.call.stdin = fs::read_to_string(directory.join(file)).expect("the file for standard input is there");
    }
    let got = script.call.run();
    if std::env::var("YTTERBY_BLESS").is_ok_and(|what| what == "cases") {
        bless(directory, &script, &got);
        return Outcome::Passed;
    }
    compare(directory, script.exit, &got)
}

fn compare(directory: &Path, exit: i32, got: &Run) -> Outcome {
    let expected = |name: &str| fs::read_to_string(directory.join(name)).unwrap_or_default();
    let mut differences = String::new();
    if got.exit != Some(exit) {
        differences.push_str(&format!("exit {:?}, expected {exit}\n", got.exit));
    }
    differences.push_str(&diff("stdout", &expected("stdout"), &got.stdout));
    differences.push_str(&diff("stderr", &expected("stderr"), &got.stderr));
    let files: BTreeMap<_, _> = contents(&directory.join("out"))
        .into_iter()
        .map(|(path, bytes)| (path, String::from_utf8_lossy(&bytes).into_owned()))
        .collect();
    for path in files.keys().chain(got.files.keys().filter(|path| !files.contains_key(*path))) {
        let content = |files: &BTreeMap<String, String>| files.get(path).cloned().unwrap_or("(missing)\n".into());
        differences.push_str(&diff(path, &content(&files), &content(&got.files)));
    }
    if differences.is_empty() { Outcome::Passed } else { Outcome::FailedL1(differences) }
}

fn bless(directory: &Path, script: &Script, got: &Run) {
    for (name, text) in [("stdout", &got.stdout), ("stderr", &got.stderr)] {
        let path = directory.join(name);
        if text.is_empty() {
            let _ = fs::remove_file(path);
        } else {
            fs::write(path, text).expect("the case can be written");
        }
    }
    let exit = got.exit.unwrap_or(-1);
    if exit != script.exit {
        let lines = script.text.lines().filter(|line| !line.starts_with("exit "));
        let mut text: String = lines.map(|line| format!("{line}\n")).collect();
        text.push_str(&format!("exit {exit}\n"));
        fs::write(directory.join("cmd"), text).expect("the case can be written");
    }
    for (path, content) in &got.files {
        let path = directory.join("out").join(path);
        fs::create_dir_all(path.parent().expect("it is below out")).expect("the case can be written");
        fs::write(path, content).expect("the case can be written");
    }
}

/// A `cmd` file.
#[derive(Default)]
struct Script {
    text: String,
    call: Call,
    exit: i32,
    stdin: Option<String>,
}

impl Script {
    fn parse(text: &str) -> Result<Script, String> {
        let mut script = Script { text: text.to_owned(), ..Script::default() };
        let mut has_command = false;
        for line in text.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
            if let Some(exit) = line.strip_prefix("exit ") {
                script.exit = exit.trim().parse().map_err(|_| format!("no exit code: {line}"))?;
            } else if let Some(file) = line.strip_prefix("stdin ") {
                script.stdin = Some(file.trim().to_owned());
            } else if has_command {
                return Err(format!("a second command: {line}"));
            } else {
                script.command(words(line)?)?;
                has_command = true;
            }
        }
        if has_command { Ok(script) } else { Err("no command".into()) }
    }

    /// `NAME=value… ytterby argument…`.
    fn command(&mut self, words: Vec<String>) -> Result<(), String> {
        let mut words = words.into_iter();
        for word in words.by_ref() {
            match word.split_once('=') {
                Some((name, value)) => self.call.env.push((name.to_owned(), value.to_owned())),
                None if word == "ytterby" || word == "ytt" => {
                    self.call.name = (word == "ytt").then_some(word);
                    self.call.args = words.collect();
                    return Ok(());
                }
                None => break,
            }
        }
        Err("the command does not call ytterby".into())
    }
}
