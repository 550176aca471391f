//! The flags of `explain`, `export cel`, `lint` and `validate`, parsed and checked.
//!
//! The table ([`super::commands`]) defines which command has which flag; others are rejected before
//! they get here.

use std::sync::Arc;

use ytterby_diag::render::Rendering;
use ytterby_diag::{Id, Sources};
use ytterby_kubevirt::parameters::Parameters;

use super::flag;
use super::{Failure, usage};
use crate::commands::flag::DIAGNOSTICS;
use crate::flags::{ChoiceFlag, Invocation};

/// The output format.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) enum OutputFormat {
    /// Each object with its problems, as text.
    #[default]
    Text,
    /// Each object with all of its results.
    Json,
    /// A suite for each object, with a case for each rule.
    Junit,
    /// Problems only, in a format that every command has.
    Diagnostics(Rendering),
}

/// How to treat fields that KubeVirt does not have; the words are those of the Kubernetes API.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum FieldValidation {
    Ignore,
    Warn,
    Strict,
}

/// Checked flags and operands. Flags that a command does not have get their defaults.
#[derive(Debug, Default)]
pub(super) struct KubevirtArgs {
    /// Gets the texts that are read.
    pub sources: Arc<Sources>,
    pub files: Vec<String>,
    pub templates: Vec<String>,
    pub instancetypes: Vec<String>,
    pub parameters: Parameters,
    pub format: OutputFormat,
    pub compat: bool,
    pub field_validation: Option<FieldValidation>,
    pub fail_on_warn: bool,
    pub quiet: bool,
    pub fix: bool,
    pub rule: Option<String>,
    pub name: Option<String>,
}

impl KubevirtArgs {
    /// Reads the flags of a command.
    pub(super) fn read(flags: &Invocation, sources: &Arc<Sources>) -> Result<KubevirtArgs, Failure> {
        let args = KubevirtArgs {
            sources: sources.clone(),
            files: flags.list(&flag::FILE).iter().chain(&flags.operands).cloned().collect(),
            templates: flags.list(&flag::TEMPLATE).to_vec(),
            instancetypes: flags.list(&flag::INSTANCETYPE).to_vec(),
            parameters: parameters(flags.list(&flag::PARAMETER))?,
            format: format(flags)?,
            compat: is_compat(flags)?,
            field_validation: choice(flags, &flag::FIELD_VALIDATION)?,
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

/// The format: `--output` first, then `--diagnostics` and its environment variable.
fn format(flags: &Invocation) -> Result<OutputFormat, Failure> {
    if let Some(format) = choice(flags, &flag::OUTPUT)? {
        return Ok(format);
    }
    let has_flag = flags.command().all_flags().any(|flag| flag.name == DIAGNOSTICS.0.name);
    let is_asked =
        has_flag && (flags.given(&DIAGNOSTICS).is_some() || std::env::var_os("YTTERBY_DIAGNOSTICS").is_some());
    if !is_asked {
        return Ok(OutputFormat::Text);
    }
    let rendering = crate::report::rendering("ytterby", flags).map_err(|failure| Failure::Usage(Box::new(failure)))?;
    Ok(if rendering == Rendering::Text { OutputFormat::Text } else { OutputFormat::Diagnostics(rendering) })
}

/// Whether `--compat ssp` is given.
pub(super) fn is_compat(flags: &Invocation) -> Result<bool, Failure> {
    Ok(choice(flags, &flag::COMPAT)?.is_some())
}

/// The meaning of a flag's value; `None` if it was not given.
pub(super) fn choice<T: Copy>(flags: &Invocation, flag: &ChoiceFlag<T>) -> Result<Option<T>, Failure> {
    let Some(given) = flags.given(&flag.0) else { return Ok(None) };
    flag.find(given)
        .map(Some)
        .ok_or_else(|| usage(Id::FLAG_VALUE, format!("--{} must be {}, found {given}", flag.0.name, flag.expected())))
}

fn parameters(given: &[String]) -> Result<Parameters, Failure> {
    let pair = |text: &String| match text.split_once('=') {
        Some((name, value)) if !name.is_empty() => Ok((name.to_owned(), value.to_owned())),
        _ => Err(usage(Id::FLAG_VALUE, format!("--param must be NAME=VALUE, found {text}"))),
    };
    given.iter().map(pair).collect()
}
