//! Values of `load("@ytt:…")`, and `@ytt:module`, with which programs create their own modules.

use ytterby_starlark::{Args, Builtin, Error, Eval, HostValue, Value};
use ytterby_text::{Str, budget};

use super::function;
use crate::level::Level;

/// A module: a name, with functions and values.
pub(crate) struct Module {
    name: Str,
    members: Vec<(Str, Value)>,
    /// Members that ytt does not have, until [`Module::at`] adds or drops them.
    beyond_ytt: Vec<(Str, Value)>,
}

/// The code of a function of a module.
type Body = fn(&mut Eval, Args<'_>) -> Result<Value, Error>;

impl Module {
    /// A module without members.
    pub fn new(name: impl Into<Str>) -> Module {
        Module { name: name.into(), members: Vec::new(), beyond_ytt: Vec::new() }
    }

    /// Its name.
    pub fn name(&self) -> &Str {
        &self.name
    }

    /// Adds a function, whose errors begin with `<module>.<name>: `.
    pub fn with(self, name: &str, body: Body) -> Module {
        let function = self.function(name, body);
        self.with_value(name, function)
    }

    /// Adds a function that ytt does not have, so that `--compat` omits it.
    pub fn with_beyond_ytt(self, name: &str, body: Body) -> Module {
        let function = self.function(name, body);
        self.with_value_beyond_ytt(name, function)
    }

    fn function(&self, name: &str, body: Body) -> Value {
        let full = Str::from(format!("{}.{name}", self.name.to_str()));
        let builtin = Builtin::new(full.clone(), move |eval, args| {
            let result = charge(args).and_then(|()| body(eval, args)).and_then(|value| {
                // Long uncharged work is detected immediately, not by the next charge.
                if is_long(args) { budget::work(LONG_CALL).map(|()| value).map_err(Error::from) } else { Ok(value) }
            });
            result.map_err(|error| error.in_context(full.to_str()))
        });
        Value::from(builtin)
    }

    /// Adds a value.
    pub fn with_value(mut self, name: &str, value: Value) -> Module {
        self.members.push((Str::from(name), value));
        self
    }

    /// Adds a value that ytt does not have.
    pub fn with_value_beyond_ytt(mut self, name: &str, value: Value) -> Module {
        self.beyond_ytt.push((Str::from(name), value));
        self
    }

    /// The module with the members that are available at a level.
    pub fn at(mut self, level: Level) -> Module {
        let beyond_ytt = std::mem::take(&mut self.beyond_ytt);
        if level == Level::Ytterby {
            self.members.extend(beyond_ytt);
        }
        self
    }
}

/// Charges a call: most functions read all of their texts, and create something of that size.
fn charge(args: Args<'_>) -> Result<(), Error> {
    for value in args.positional {
        if let Value::Str(text) = value
            && text.len() > LONG
        {
            budget::text(text.len())?;
            budget::scan(4 * text.len())?;
        }
    }
    Ok(())
}

/// Passes over shorter texts are not charged separately.
const LONG: usize = 2048;

/// A text that takes a function a few milliseconds, and the units of work that let the budget look
/// at the clock.
const LONG_TEXT: usize = 1 << 20;
const LONG_CALL: usize = 4096;

fn is_long(args: Args<'_>) -> bool {
    args.positional.iter().any(|value| matches!(value, Value::Str(text) if text.len() > LONG_TEXT))
}

impl HostValue for Module {
    fn go_type(&self) -> &'static str {
        "*starlarkstruct.Module"
    }

    fn type_name(&self) -> &str {
        "module"
    }

    fn write_repr(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(b"<module ");
        ytterby_text::quote::quote_into(out, &self.name);
        out.push(b'>');
    }

    fn hash(&self) -> Result<u64, Error> {
        Err(Error::new("unhashable: module"))
    }

    fn attr(&self, _eval: &mut Eval, name: &Str) -> Result<Option<Value>, Error> {
        Ok(self.members.iter().find(|(member, _)| member == name).map(|(_, value)| value.clone()))
    }

    fn attr_names(&self) -> Vec<Str> {
        let mut names: Vec<Str> = self.members.iter().map(|(name, _)| name.clone()).collect();
        names.sort();
        names
    }

    fn freeze_into(&self, contents: &mut Vec<Value>) {
        contents.extend(self.members.iter().map(|(_, value)| value.clone()));
    }
}

/// The module `module`.
pub(super) fn module() -> Module {
    Module::new("module").with_value("make", function("module.make", make))
}

fn make(_: &mut Eval, args: Args<'_>) -> Result<Value, Error> {
    let by_position = Args::of(args.positional);
    by_position.count("module.make", 1, 1)?;
    let name: Str = by_position.required("module.make", 0)?;
    Ok(Value::host(Module { members: args.named.to_vec(), ..Module::new(name) }))
}
