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
use ytterby_text::spelling::{closest, tolerance};

pub(crate) use module::Module;
pub(crate) use struct_::method;

pub(crate) use crate::node::{Object, Struct};

use crate::level::{Level, has_module, modules_of};
use crate::run::Run;

/// Creates a module, with its functions that ytt does not have.
type Make = fn() -> Module;

/// The modules that do not depend on the file; `level` lists which of them ytt has.
const TABLE: &[(&str, Make)] = &[
    ("assert", assert::module),
    ("base64", base64::module),
    ("ip", ip::module),
    ("json", json::module),
    ("math", math::module),
    ("md5", md5::module),
    ("module", module::module),
    ("overlay", overlay::module),
    ("regexp", regexp::module),
    ("schema", schema::module),
    ("sha256", sha256::module),
    ("spelling", spelling::module),
    ("struct", struct_::module),
    ("toml", toml::module),
    ("url", url::module),
    ("version", version::module),
    ("yaml", yaml::module),
];

/// The exports of `load("@ytt:<name>")`, if the module does not depend on the file; each is created
/// once per run.
pub(crate) fn find(run: &Run, name: &str) -> Option<Rc<Exports>> {
    let &(name, make) = TABLE.iter().find(|entry| entry.0 == name && has_module(name, run.level))?;
    let mut made = run.modules.borrow_mut();
    Some(made.entry(name).or_insert_with(|| exports(make(), run.level)).clone())
}

/// The modules that do not depend on the file.
#[cfg(test)]
pub(crate) fn modules(level: Level) -> impl Iterator<Item = Module> {
    TABLE.iter().filter(move |entry| has_module(entry.0, level)).map(move |(_, make)| make().at(level))
}

/// The exports of a module: its name, bound to it with the members of a level.
pub(crate) fn exports(module: Module, level: Level) -> Rc<Exports> {
    let module = module.at(level);
    Rc::new(Exports::new([(module.name().clone(), Value::host(module))]))
}

/// The error for a module that does not exist.
pub(crate) fn unknown_module(name: &str, level: Level) -> Error {
    let error = Error::of(
        Problem::Load,
        format!("builtin ytt library does not have module '{name}' (hint: is it available in newer version of ytt?)"),
    );
    error.with_help(match closest(name, modules_of(level), tolerance(name)) {
        Some(meant) => Help::rename_string(&format!("@ytt:{name}"), &format!("@ytt:{meant}")),
        None => Help::new(format!("modules are {}", modules_of(level).collect::<Vec<_>>().join(", "))),
    })
}

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

    #[test]
    fn all_modules_are_known_by_name() {
        // The library run creates a module for each file.
        let of_files = ["data", "library", "template"];
        let mut names: Vec<&str> = TABLE.iter().map(|entry| entry.0).chain(of_files).collect();
        names.sort_unstable();
        assert_eq!(names, modules_of(Level::Ytterby).collect::<Vec<_>>());
    }
}
