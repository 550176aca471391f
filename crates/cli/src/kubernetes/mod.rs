//! Kubernetes: `kubernetes validate`, and the check of rendered output.
//!
//! The crate `ytterby-kubernetes` checks; this module provides its input: schemas from files,
//! directories and URLs ([`schemas`]), documents of manifests ([`validate`]) or of a render
//! ([`rendered`]).

mod rendered;
mod results;
mod schemas;
mod validate;

use ytterby_diag::{Diagnostic, Failure, Id};
use ytterby_kubernetes::{CheckOptions, UnknownKinds, Version};

use crate::commands::flag;
use crate::flags::Invocation;

pub use rendered::{check_of, output_check, plain_check};
pub use results::ResultFormat;
pub use validate::run;

/// The options shared by all commands with this check.
fn options(flags: &Invocation, version: &str) -> Result<CheckOptions, Failure> {
    let version = self::version(version)?;
    let unknown = |value: &str| format!("Unknown value '{value}' for --kubernetes-unknown");
    let unknown = flags.choice(&flag::KUBERNETES_UNKNOWN, unknown)?.unwrap_or(UnknownKinds::Warn);
    Ok(CheckOptions { version, unknown, skip: flags.list(&flag::SKIP).to_vec() })
}

/// Parses a version of Kubernetes.
fn version(name: &str) -> Result<Version, Failure> {
    Version::parse(name).ok_or_else(|| {
        let oldest = Version::all().next().expect("there are versions");
        let text = format!("Unknown version of Kubernetes '{name}' (expected {oldest} to {}, or off)", Version::NEWEST);
        Diagnostic::error(Id::FLAG_VALUE, text).into()
    })
}
