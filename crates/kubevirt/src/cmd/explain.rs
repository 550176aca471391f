//! Not there yet.
use super::args::Args;
use super::{Failure, Host};
use std::io::Write;
pub(super) fn run(_: &Args, _: &dyn Host, _: &mut dyn Write, _: &mut dyn Write) -> Result<i32, Failure> {
    Err(Failure::Usage("this command is not there yet".to_owned()))
}
