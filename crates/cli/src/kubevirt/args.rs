//! What the flags of `explain`, `export cel`, `lint` and `validate` mean.
//!
//! Which command has which flag is in the table ([`super::commands`]); a flag that a command does
//! not have never gets here. Here values are checked.

use ytterby_diag::Id;
use ytterby_kubevirt::parameters::Parameters;

use super::{Failure, usage};
use crate::flags::Invocation;

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
        let text = |name: &str| flags.is_given(name).then(|| flags.text(name).to_owned());
        let args = Args {
            files: flags.list("file").iter().chain(&flags.operands).cloned().collect(),
            templates: flags.list("template").to_vec(),
            instancetypes: flags.list("instancetype").to_vec(),
            parameters: parameters(flags.list("param"))?,
            format: one_of(
                flags,
                "output",
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
                "field-validation",
                &[
                    ("ignore", FieldValidation::Ignore),
                    ("warn", FieldValidation::Warn),
                    ("strict", FieldValidation::Strict),
                ],
            )?,
            fail_on_warn: flags.is_on("fail-on-warn"),
            quiet: flags.is_on("quiet"),
            fix: flags.is_on("fix"),
            rule: text("rule"),
            name: text("name"),
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
    Ok(one_of(flags, "compat", &[("ssp", ())])?.is_some())
}

/// What the value of a flag stands for; nothing if it was not given.
pub(super) fn one_of<T: Copy>(flags: &Invocation, name: &str, known: &[(&str, T)]) -> Result<Option<T>, Failure> {
    if !flags.is_given(name) {
        return Ok(None);
    }
    let given = flags.text(name);
    if let Some((_, meaning)) = known.iter().find(|(text, _)| *text == given) {
        return Ok(Some(*meaning));
    }
    let names: Vec<&str> = known.iter().map(|(name, _)| *name).collect();
    let names = match names.split_last() {
        Some((last, [])) => (*last).to_owned(),
        Some((last, rest)) => format!("{} or {last}", rest.join(", ")),
        None => String::new(),
    };
    Err(usage(Id::FLAG_VALUE, format!("--{name} must be {names}, found {given}")))
}

fn parameters(given: &[String]) -> Result<Parameters, Failure> {
    let pair = |text: &String| match text.split_once('=') {
        Some((name, value)) if !name.is_empty() => Ok((name.to_owned(), value.to_owned())),
        _ => Err(usage(Id::FLAG_VALUE, format!("--param must be NAME=VALUE, found {text}"))),
    };
    given.iter().map(pair).collect()
}
