//! The `ytterby` command.
fn main() {}
