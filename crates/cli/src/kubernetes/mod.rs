//! Kubernetes: `kubernetes validate`, and the check of rendered output.
//!
//! The crate `ytterby-kubernetes` decides; here is what it is given: schemas from files, directories and URLs
//! ([`schemas`]), documents of manifests ([`validate`]) or of a render ([`rendered`]).

mod rendered;
mod results;
mod schemas;
mod validate;

use ytterby_diag::{Diagnostic, Failure, Id};
use ytterby_kubernetes::{Options, Unknown, Version};

use crate::flags::Invocation;

pub use rendered::output_check;
pub use validate::run;

/// The flags that every command with this check has.
fn options(flags: &Invocation, version: &str) -> Result<Options, Failure> {
    let Some(version) = Version::parse(version) else {
        let oldest = Version::all().next().expect("there are versions");
        let text =
            format!("Unknown version of Kubernetes '{version}' (expected {oldest} to {}, or off)", Version::NEWEST);
        return Err(Diagnostic::error(Id::FLAG_VALUE, text).into());
    };
    let unknown = match flags.text("kubernetes-unknown") {
        "" | "warn" => Unknown::Warn,
        "ignore" => Unknown::Ignore,
        "error" => Unknown::Error,
        other => {
            let text = format!("Unknown value '{other}' for --kubernetes-unknown (expected ignore, warn or error)");
            return Err(Diagnostic::error(Id::FLAG_VALUE, text).into());
        }
    };
    Ok(Options { version, unknown, skip: flags.list("skip").to_vec() })
}
