//! Arguments of the commands.

use std::ffi::OsString;

use ytterby_text::spelling::nearest;

use crate::parameters::Parameters;

/// What to do.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Command {
    Validate,
    Lint,
    Export,
    Explain,
}

/// How results are written.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) enum Format {
    #[default]
    Text,
    Json,
    Sarif,
    Junit,
    Github,
}

/// What becomes of fields that KubeVirt does not have; the words are those of the Kubernetes API.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum FieldValidation {
    Ignore,
    Warn,
    Strict,
}

/// Parsed arguments.
#[derive(Debug, Default)]
pub(super) struct Args {
    /// Missing only where help is wanted.
    pub command: Option<Command>,
    pub help: bool,
    pub files: Vec<OsString>,
    pub templates: Vec<OsString>,
    pub instancetypes: Vec<OsString>,
    pub parameters: Parameters,
    pub format: Format,
    pub compat: bool,
    pub field_validation: Option<FieldValidation>,
    pub fail_on_warn: bool,
    pub fix: bool,
    pub rule: Option<String>,
    pub name: Option<String>,
    /// Whether the format of `export` has been read.
    to_cel: bool,
}

const COMMANDS: [(&str, Command); 4] = [
    ("validate", Command::Validate),
    ("lint", Command::Lint),
    ("export", Command::Export),
    ("explain", Command::Explain),
];

/// Short and long names.
const OPTIONS: [[&str; 2]; 12] = [
    ["-h", "--help"],
    ["-o", "--output"],
    ["-t", "--template"],
    ["-p", "--param"],
    ["-f", "--file"],
    ["", "--instancetype"],
    ["", "--compat"],
    ["", "--field-validation"],
    ["", "--fail-on-warn"],
    ["", "--fix"],
    ["", "--rule"],
    ["", "--name"],
];

impl Args {
    pub(super) fn parse(given: &[OsString]) -> Result<Args, String> {
        let mut args = Args::default();
        let mut rest = given.iter();
        let mut only_files = false;
        while let Some(argument) = rest.next() {
            let text = argument.to_string_lossy();
            if only_files || text == "-" || !text.starts_with('-') {
                args.positional(argument, &text)?;
                continue;
            }
            if text == "--" {
                only_files = true;
                continue;
            }
            let (name, attached) = split(&text);
            let Some(option) = OPTIONS.iter().find(|option| option.contains(&name)).map(|option| option[1]) else {
                return Err(format!("Unknown option {name}{}", guess(name, OPTIONS.map(|option| option[1]))));
            };
            if matches!(option, "--help" | "--fail-on-warn" | "--fix") {
                if attached.is_some() {
                    return Err(format!("{name} takes no value"));
                }
                args.switch(option);
                continue;
            }
            let value = match attached {
                Some(value) => OsString::from(value),
                None => rest.next().cloned().ok_or_else(|| format!("{name} needs a value"))?,
            };
            args.option(option, value)?;
        }
        if args.help {
            return Ok(args);
        }
        let Some(command) = args.command else {
            return Err(format!("Expected a command: {}, serve", COMMANDS.map(|(name, _)| name).join(", ")));
        };
        if args.files.is_empty() {
            let (name, _) = COMMANDS.iter().find(|known| known.1 == command).expect("every command has a name");
            return Err(format!("{name}: Expected at least one file, directory or - for standard input"));
        }
        Ok(args)
    }

    fn positional(&mut self, argument: &OsString, text: &str) -> Result<(), String> {
        match self.command {
            None => {
                let Some((_, command)) = COMMANDS.iter().find(|(name, _)| *name == text) else {
                    let known = ["validate", "lint", "export", "explain", "serve"];
                    return Err(format!("Unknown command {text}{}", guess(text, known)));
                };
                self.command = Some(*command);
            }
            Some(Command::Export) if !self.to_cel => {
                if text != "cel" {
                    return Err(format!("Cannot export to {text}: the only format is cel"));
                }
                self.to_cel = true;
            }
            Some(_) => self.files.push(argument.clone()),
        }
        Ok(())
    }

    fn switch(&mut self, name: &str) {
        match name {
            "--fail-on-warn" => self.fail_on_warn = true,
            "--fix" => self.fix = true,
            _ => self.help = true,
        }
    }

    fn option(&mut self, name: &str, value: OsString) -> Result<(), String> {
        let text = value.to_string_lossy().into_owned();
        match name {
            "--file" => self.files.push(value),
            "--template" => self.templates.push(value),
            "--instancetype" => self.instancetypes.push(value),
            "--rule" => self.rule = Some(text),
            "--name" => self.name = Some(text),
            "--param" => match text.split_once('=') {
                Some((name, value)) if !name.is_empty() => {
                    self.parameters.insert(name.to_owned(), value.to_owned());
                }
                _ => return Err(format!("--param needs NAME=VALUE, found {text}")),
            },
            "--compat" => match text.as_str() {
                "ssp" => self.compat = true,
                other => return Err(format!("--compat knows only ssp, found {other}")),
            },
            "--field-validation" => {
                self.field_validation = Some(match text.as_str() {
                    "ignore" => FieldValidation::Ignore,
                    "warn" => FieldValidation::Warn,
                    "strict" => FieldValidation::Strict,
                    other => return Err(format!("--field-validation must be ignore, warn or strict, found {other}")),
                });
            }
            _ => {
                self.format = match text.as_str() {
                    "text" => Format::Text,
                    "json" => Format::Json,
                    "sarif" => Format::Sarif,
                    "junit" => Format::Junit,
                    "github" => Format::Github,
                    other => return Err(format!("--output must be text, json, sarif, junit or github, found {other}")),
                }
            }
        }
        Ok(())
    }
}

/// `--name=value`, `-nvalue`, or a name alone.
pub(super) fn split(text: &str) -> (&str, Option<&str>) {
    if text.starts_with("--") {
        return text.split_once('=').map_or((text, None), |(name, value)| (name, Some(value)));
    }
    match text.split_at_checked(2) {
        Some((name, value)) if !value.is_empty() => (name, Some(value.strip_prefix('=').unwrap_or(value))),
        _ => (text, None),
    }
}

pub(super) fn guess<const N: usize>(word: &str, known: [&'static str; N]) -> String {
    nearest(word, known).map_or(String::new(), |guess| format!("; did you mean {guess}?"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<Args, String> {
        let args: Vec<OsString> = text.split_whitespace().map(OsString::from).collect();
        Args::parse(&args)
    }

    #[test]
    fn options_and_files_mix() {
        let args = parse("validate a.yaml -o json -t t.yaml -pA=b=c --compat=ssp -- -x.yaml").unwrap();
        assert_eq!((args.format, args.compat), (Format::Json, true));
        assert_eq!(args.files, ["a.yaml", "-x.yaml"]);
        assert_eq!(args.parameters["A"], "b=c");
        assert_eq!(parse("export cel a.yaml").unwrap().files, ["a.yaml"]);
        assert_eq!(parse("validate -").unwrap().files, ["-"]);
    }

    #[test]
    fn misuse_is_explained() {
        for (text, expect) in [
            ("", "Expected a command: validate, lint, export, explain, serve"),
            ("validat x", "Unknown command validat; did you mean validate?"),
            ("validate", "validate: Expected at least one file, directory or - for standard input"),
            ("validate --fail-on-wran x", "Unknown option --fail-on-wran; did you mean --fail-on-warn?"),
            ("validate -o yaml x", "--output must be text, json, sarif, junit or github, found yaml"),
            ("validate x -o", "-o needs a value"),
            ("validate --fix=1 x", "--fix takes no value"),
            ("export rego x", "Cannot export to rego: the only format is cel"),
        ] {
            assert_eq!(parse(text).unwrap_err(), expect, "{text}");
        }
    }
}
