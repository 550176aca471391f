//! Completions: what can be typed next, and the shell scripts that request it.
//!
//! The scripts call the program with the words typed so far (`ytterby __complete -o js`), so that
//! all knowledge of commands and flags is here. The answer has the format that ytt's scripts
//! expect: on each line a candidate, a tab and a description, and on the last line `:` and a number
//! for file completion. Scripts installed for `ytt` therefore keep working for a link of that name.

mod keys;
mod scripts;

use std::borrow::Cow;

use ytterby_diag::{Failure, Id};

use crate::flags::{Command, Flag, FlagKind, FlagValues, PartialLine, read_line};

pub use self::scripts::script;

/// Answers a completion script. The last word is the one to complete.
pub fn answer(root: &'static Command, words: &[String], descriptions: Descriptions) -> Result<String, Failure> {
    let Some((current, before)) = words.split_last() else {
        return Err(Failure::new(Id::FLAG_OPERAND, "requires at least 1 arg(s), only received 0"));
    };
    let found = complete(root, before, current);
    let mut out = String::new();
    for Candidate { word, description } in found.candidates {
        out.push_str(&word);
        if descriptions == Descriptions::Shown && !description.is_empty() {
            out.push('\t');
            out.push_str(&description);
        }
        out.push('\n');
    }
    out.push_str(match found.files {
        FileCandidates::Any => ":0\n",
        FileCandidates::None => ":4\n",
        FileCandidates::Directories => ":16\n",
        FileCandidates::NoneAndNoBlank => ":6\n",
    });
    Ok(out)
}

/// Whether candidates include descriptions.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Descriptions {
    Shown,
    Hidden,
}

struct Candidate {
    word: String,
    description: Cow<'static, str>,
}

/// Files that the shell may offer in addition to the candidates.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum FileCandidates {
    Any,
    None,
    Directories,
    /// No files; the shell must not add a blank, because more has to be typed.
    NoneAndNoBlank,
}

struct Completions {
    candidates: Vec<Candidate>,
    files: FileCandidates,
}

fn complete(root: &'static Command, before: &[String], current: &str) -> Completions {
    let line = read_line(root, before);
    if let Some(flag) = line.waiting {
        return values(&line, flag, current);
    }
    if !line.only_operands && current.starts_with('-') {
        // `--flag=value`: the shell expects only the value.
        return match current.strip_prefix("--").and_then(|rest| rest.split_once('=')) {
            Some((name, value)) => match line.command().all_flags().find(|flag| flag.name == name) {
                Some(flag) => values(&line, flag, value),
                None => Completions { candidates: Vec::new(), files: FileCandidates::None },
            },
            None => Completions { candidates: flags(&line, current), files: FileCandidates::None },
        };
    }
    words(root, &line, current)
}

/// The values of a flag. In a comma-separated list, the last item is completed.
fn values(line: &PartialLine, flag: &Flag, current: &str) -> Completions {
    let (start, last) = match flag.kind {
        FlagKind::Commas(_) => current.split_at(current.rfind(',').map_or(0, |comma| comma + 1)),
        _ => ("", current),
    };
    let (choices, files): (&[&str], FileCandidates) = match flag.values {
        _ if flag.kind == FlagKind::Bool => (&["true", "false"], FileCandidates::None),
        FlagValues::Free => (&[], FileCandidates::None),
        FlagValues::Files => (&[], FileCandidates::Any),
        FlagValues::Directories => (&[], FileCandidates::Directories),
        FlagValues::OneOf(choices) => (choices, FileCandidates::None),
        FlagValues::Keys | FlagValues::KeysOfFiles if !current.contains('=') => return keys(line, flag, current),
        FlagValues::Keys => (&[], FileCandidates::None),
        FlagValues::KeysOfFiles => (&[], FileCandidates::Any),
    };
    let chosen = choices.iter().filter(|choice| choice.starts_with(last));
    let candidates =
        chosen.map(|choice| Candidate { word: format!("{start}{choice}"), description: "".into() }).collect();
    Completions { candidates, files }
}

/// The data values that the schema of the given files declares.
fn keys(line: &PartialLine, flag: &Flag, current: &str) -> Completions {
    let given = |name: &str| -> Vec<String> {
        let values = line.given.iter().filter(|(given, _)| given.name == name);
        values.filter_map(|(_, value)| value.clone()).collect()
    };
    let keys = keys::of_schema(given("file"), given("file-mark"));
    let keys = keys.into_iter().filter(|key| key.path.starts_with(current));
    let candidates: Vec<Candidate> =
        keys.map(|key| Candidate { word: format!("{}=", key.path), description: key.description.into() }).collect();
    let files = match flag.values {
        _ if !candidates.is_empty() => FileCandidates::NoneAndNoBlank,
        FlagValues::KeysOfFiles => FileCandidates::Any,
        _ => FileCandidates::None,
    };
    Completions { candidates, files }
}

/// The flags with this prefix, except those that were given and cannot be repeated.
fn flags(line: &PartialLine, current: &str) -> Vec<Candidate> {
    let is_open = |flag: &&Flag| {
        let is_many = matches!(flag.kind, FlagKind::List(_) | FlagKind::Commas(_));
        is_many || !line.given.iter().any(|(given, _)| given.name == flag.name)
    };
    let mut found = Vec::new();
    for flag in line.command().all_flags().filter(is_open) {
        let short = flag.short.map(|short| format!("-{short}"));
        let forms = [Some(format!("--{}", flag.name)), short];
        let words = forms.into_iter().flatten().filter(|word| word.starts_with(current));
        found.extend(words.map(|word| Candidate { word, description: flag.help.into() }));
    }
    found.sort_by(|a, b| a.word.cmp(&b.word));
    found
}

/// Subcommands and operands.
fn words(root: &'static Command, line: &PartialLine, current: &str) -> Completions {
    let mut command = line.command();
    if command.name == "help" && line.path.len() == 2 {
        // The operands of `help` are names of commands.
        command = root;
        for word in &line.operands {
            match command.find(word) {
                Some(next) => command = next,
                None => return Completions { candidates: Vec::new(), files: FileCandidates::None },
            }
        }
    } else if line.only_operands || !line.operands.is_empty() || command.commands.is_empty() {
        return Completions { candidates: Vec::new(), files: FileCandidates::Any };
    }
    let shown = command.commands.iter().filter(|command| !command.is_hidden() && command.name.starts_with(current));
    let candidates =
        shown.map(|command| Candidate { word: command.name.to_owned(), description: command.summary.into() });
    let mut candidates: Vec<Candidate> = candidates.collect();
    if line.command().name == "help" && line.operands.is_empty() {
        let pages = crate::help::topics().into_iter().filter(|(name, _)| name.starts_with(current));
        let new = pages.filter(|(name, _)| root.find(name).is_none());
        candidates.extend(new.map(|(word, title)| Candidate { word, description: title.into() }));
    }
    Completions { candidates, files: FileCandidates::None }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::commands::ROOT;

    /// Completes a line; joins the candidates, then `files` or `directories` where the shell may
    /// offer them.
    fn check(line: &str, want: &str) {
        let words: Vec<String> = line.split(' ').map(str::to_owned).collect();
        let (current, before) = words.split_last().unwrap();
        let found = complete(&ROOT, before, current);
        let mut got: Vec<&str> = found.candidates.iter().map(|candidate| candidate.word.as_str()).collect();
        got.extend(match found.files {
            FileCandidates::Any => Some("files"),
            FileCandidates::None | FileCandidates::NoneAndNoBlank => None,
            FileCandidates::Directories => Some("directories"),
        });
        assert_eq!(got.join(" "), want, "{line}");
    }

    #[test]
    fn commands_are_completed() {
        check(
            "",
            "build check completion explain fmt gen help init kubernetes kubevirt lsp schema template test version watch",
        );
        check("v", "version");
        check("-s -f x v", "version");
        check("-f v", "files");
        check("completion ", "bash fish powershell zsh");
        check("completion bash ", "files");
        check("schema ", "diff import project");
        check("schema diff a.yml ", "files");
        check("help sc", "schema");
        check("help ov", "overlays");
        check("help schema ", "diff import project");
        check("help nope ", "");
        check("nope ", "files");
        check("-- ", "files");
        check("t ", "files");
        check("kubevirt ", "explain export lint serve validate");
        check("kubevirt export ", "cel");
    }

    #[test]
    fn flags_are_completed() {
        check("--output", "--output --output-disable-validation --output-files");
        check("--strict --strict", "--strict-annotations");
        check("-f x --fil", "--file --file-mark --files-inspect");
        check(
            "fmt -",
            "--check --color --debug --diagnostics --diff --file --help --limit-depth --limit-memory --limit-output --limit-steps --limit-time --strict --write -f -h -s",
        );
        check("version -", "--help -h");
        check("fmt --output", "");
        check("tpl --data-values-sch", "--data-values-schema-inspect");
        check("-- --st", "files");
        check("kubevirt lint --fi", "--file --fix");
        check(
            "schema import --",
            "--color --diagnostics --from --help --limit-depth --limit-memory --limit-output --limit-steps --limit-time --name",
        );
    }

    #[test]
    fn values_are_completed() {
        let formats = ytterby::OutputTypes::NAMES;
        check("-o ", &formats.join(" "));
        check("-so js", "json json-schema");
        check("--output json,", &formats.iter().map(|name| format!("json,{name}")).collect::<Vec<_>>().join(" "));
        check("--output=js", "json json-schema");
        check("--diagnostics ", "text rich json sarif github gitlab junit");
        check("--diagnostics=s", "sarif");
        check("--strict=", "true false");
        check("--compat ", "0.49 0.55 off");
        check("--output-files ", "directories");
        check("--data-values-file x", "files");
        check("-v ", "");
        check("--nope=", "");
        check("schema import --from v", "values");
        check("kubevirt validate -o j", "json junit");
        check("kubevirt validate -t ", "files");
    }

    #[test]
    fn answers_have_the_format_of_ytt() {
        let ask = |words: &[&str], descriptions| {
            answer(&ROOT, &words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>(), descriptions)
        };
        assert_eq!(ask(&["vers"], Descriptions::Shown).unwrap(), "version\tShow the version\n:4\n");
        assert_eq!(ask(&["vers"], Descriptions::Hidden).unwrap(), "version\n:4\n");
        assert_eq!(ask(&["-f", ""], Descriptions::Shown).unwrap(), ":0\n");
        assert_eq!(ask(&["--output-files", ""], Descriptions::Shown).unwrap(), ":16\n");
        assert_eq!(
            ask(&[], Descriptions::Shown).unwrap_err().to_string(),
            "requires at least 1 arg(s), only received 0"
        );
    }
}
