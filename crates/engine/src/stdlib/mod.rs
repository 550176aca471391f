//! The modules of `load("@ytt:…")`: one file per module, one row each in the table.
//!
//! Modules that depend on the file that loads them (`data`, `library`, `template`) are created by
//! the library run. Those in the table are created lazily and shared by everything in one run.

mod assert;
mod base64;
pub(crate) mod data;
mod ip;
mod json;
mod math;
mod md5;
mod module;
mod overlay;
mod regexp;
mod schema;
mod sha256;
mod spelling;
mod struct_;
pub(crate) mod template;
mod toml;
mod url;
mod version;
mod yaml;

use std::rc::Rc;

use ytterby_diag::Help;
use ytterby_starlark::{Args, Builtin, Error, Eval, Exports, Problem, Value};

pub(crate) use module::Module;
pub(crate) use struct_::method;

pub(crate) use crate::node::{Object, Struct};

use crate::annotation::Level;
use crate::run::Run;

/// Creates a module. Extensions of ytt are omitted at [`Level::Ytt049`].
type Make = fn(Level) -> Module;

/// The modules that do not depend on the file.
const TABLE: &[(&str, Make)] = &[
    ("assert", assert::module),
    ("base64", base64::module),
    ("ip", |_| ip::module()),
    ("json", json::module),
    ("math", |_| math::module()),
    ("md5", |_| md5::module()),
    ("module", |_| module::module()),
    ("overlay", |_| overlay::module()),
    ("regexp", regexp::module),
    ("sha256", |_| sha256::module()),
    ("struct", |_| struct_::module()),
    ("toml", |_| toml::module()),
    ("url", |_| url::module()),
    ("version", |_| version::module()),
    ("yaml", yaml::module),
];

/// Modules of [`TABLE`] that ytt does not have.
const BEYOND: &[(&str, Make)] = &[("schema", |_| schema::module()), ("spelling", |_| spelling::module())];

/// The exports of `load("@ytt:<name>")`, if the module does not depend on the file; each is created
/// once per run.
pub(crate) fn find(run: &Run, name: &str) -> Option<Rc<Exports>> {
    let beyond: &[_] = if run.level == Level::Ytterby { BEYOND } else { &[] };
    let &(name, make) = TABLE.iter().chain(beyond).find(|entry| entry.0 == name)?;
    let mut made = run.modules.borrow_mut();
    Some(made.entry(name).or_insert_with(|| exports(make(run.level))).clone())
}

/// The modules that do not depend on the file.
#[cfg(test)]
pub(crate) fn modules(level: Level) -> impl Iterator<Item = Module> {
    let beyond: &[_] = if level == Level::Ytterby { BEYOND } else { &[] };
    TABLE.iter().chain(beyond).map(move |(_, make)| make(level))
}

/// The exports of a module: its name, bound to it.
pub(crate) fn exports(module: Module) -> Rc<Exports> {
    Rc::new(Exports::new([(module.name().clone(), Value::host(module))]))
}

/// The error for a module that does not exist.
pub(crate) fn unknown_module(name: &str, level: Level) -> Error {
    let error = Error::of(
        Problem::Load,
        format!("builtin ytt library does not have module '{name}' (hint: is it available in newer version of ytt?)"),
    );
    let beyond: &[_] = if level == Level::Ytterby { BEYOND } else { &[] };
    let names = || TABLE.iter().chain(beyond).map(|entry| entry.0).chain(OF_FILES);
    error.with_help(match ytterby_text::spelling::closest(name, names(), ytterby_text::spelling::tolerance(name)) {
        Some(meant) => Help::rename_string(&format!("@ytt:{name}"), &format!("@ytt:{meant}")),
        None => Help::new(format!("modules are {}", names().collect::<Vec<_>>().join(", "))),
    })
}

/// Modules that are different for each file.
const OF_FILES: [&str; 3] = ["data", "library", "template"];

/// A function whose errors begin with its name.
pub(crate) fn function(
    name: &'static str,
    body: impl Fn(&mut Eval, Args<'_>) -> Result<Value, Error> + 'static,
) -> Value {
    Value::from(Builtin::new(name, move |eval, args| body(eval, args).map_err(|error| error.in_context(name))))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::level::has_module;

    #[test]
    fn all_modules_are_known_by_name() {
        let names = |rows: &[(&'static str, Make)]| rows.iter().map(|row| row.0).collect::<Vec<_>>();
        for name in names(TABLE).into_iter().chain(OF_FILES) {
            assert!(has_module(name, Level::Ytt049), "{name}");
        }
        for name in names(BEYOND) {
            assert!(has_module(name, Level::Ytterby) && !has_module(name, Level::Ytt049), "{name}");
        }
        assert!(!has_module("nothing", Level::Ytterby));
    }
}
