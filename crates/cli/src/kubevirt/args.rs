//! What the flags of `explain`, `export cel`, `lint` and `validate` mean.
//!
//! Which command has which flag is in the table ([`super::commands`]); a flag that a command does
//! not have never gets here. Here values are checked.

use ytterby_diag::Id;
use ytterby_kubevirt::parameters::Parameters;

use super::flag;
use super::{Failure, usage};
use crate::flags::{Invocation, Text};

/// How results are written.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) enum Format {
    #[default]
    Text,
    Json,
    Sarif,
    Junit,
    Github,
    /// As diagnostics, with excerpts of the files.
    Rich,
    /// As diagnostics, for merge requests of GitLab.
    Gitlab,
}

/// What becomes of fields that KubeVirt does not have; the words are those of the Kubernetes API.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum FieldValidation {
    Ignore,
    Warn,
    Strict,
}

/// Checked flags and files. What a command has no flag for has its default.
#[derive(Debug, Default)]
pub(super) struct Args {
    pub files: Vec<String>,
    pub templates: Vec<String>,
    pub instancetypes: Vec<String>,
    pub parameters: Parameters,
    pub format: Format,
    pub compat: bool,
    pub field_validation: Option<FieldValidation>,
    pub fail_on_warn: bool,
    pub quiet: bool,
    pub fix: bool,
    pub rule: Option<String>,
    pub name: Option<String>,
}

impl Args {
    /// Reads the flags of a command line.
    pub(super) fn read(flags: &Invocation) -> Result<Args, Failure> {
        let args = Args {
            files: flags.list(&flag::FILE).iter().chain(&flags.operands).cloned().collect(),
            templates: flags.list(&flag::TEMPLATE).to_vec(),
            instancetypes: flags.list(&flag::INSTANCETYPE).to_vec(),
            parameters: parameters(flags.list(&flag::PARAMETER))?,
            format: one_of(
                flags,
                &flag::OUTPUT,
                &[
                    ("text", Format::Text),
                    ("json", Format::Json),
                    ("sarif", Format::Sarif),
                    ("junit", Format::Junit),
                    ("github", Format::Github),
                    ("gitlab", Format::Gitlab),
                    ("rich", Format::Rich),
                ],
            )?
            .unwrap_or_default(),
            compat: is_compat(flags)?,
            field_validation: one_of(
                flags,
                &flag::FIELD_VALIDATION,
                &[
                    ("ignore", FieldValidation::Ignore),
                    ("warn", FieldValidation::Warn),
                    ("strict", FieldValidation::Strict),
                ],
            )?,
            fail_on_warn: flags.is_on(&flag::FAIL_ON_WARN),
            quiet: flags.is_on(&flag::QUIET),
            fix: flags.is_on(&flag::FIX),
            rule: flags.given(&flag::RULE).map(str::to_owned),
            name: flags.given(&flag::NAME).map(str::to_owned),
        };
        if args.files.is_empty() {
            let text = format!(
                "{}: Expected at least one file, directory or - for standard input",
                flags.path.iter().skip(2).map(|command| command.name).collect::<Vec<_>>().join(" ")
            );
            return Err(usage(Id::FLAG_OPERAND, text));
        }
        Ok(args)
    }
}

/// Whether `--compat ssp` is given.
pub(super) fn is_compat(flags: &Invocation) -> Result<bool, Failure> {
    Ok(one_of(flags, &flag::COMPAT, &[("ssp", ())])?.is_some())
}

/// What the value of a flag stands for; nothing if it was not given.
pub(super) fn one_of<T: Copy>(flags: &Invocation, flag: &Text, known: &[(&str, T)]) -> Result<Option<T>, Failure> {
    let Some(given) = flags.given(flag) else { return Ok(None) };
    if let Some((_, meaning)) = known.iter().find(|(text, _)| *text == given) {
        return Ok(Some(*meaning));
    }
    let names: Vec<&str> = known.iter().map(|(name, _)| *name).collect();
    let names = match names.split_last() {
        Some((last, [])) => (*last).to_owned(),
        Some((last, rest)) => format!("{} or {last}", rest.join(", ")),
        None => String::new(),
    };
    Err(usage(Id::FLAG_VALUE, format!("--{} must be {names}, found {given}", flag.name)))
}

fn parameters(given: &[String]) -> Result<Parameters, Failure> {
    let pair = |text: &String| match text.split_once('=') {
        Some((name, value)) if !name.is_empty() => Ok((name.to_owned(), value.to_owned())),
        _ => Err(usage(Id::FLAG_VALUE, format!("--param must be NAME=VALUE, found {text}"))),
    };
    given.iter().map(pair).collect()
}
