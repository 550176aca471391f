//! Commands and flags as data, and the reading of a command line.
//!
//! One table ([`crate::commands`]) says what there is; parsing, help and completions come from it. The rules of reading
//! and the texts of errors are those of the reference's command line, since scripts depend on the one and users search
//! for the other.

mod csv;
mod parse;

pub use parse::{Invocation, Line, parse, read_line, value_of, words};

/// A command and what can stand behind it.
#[derive(Debug)]
pub struct Command {
    /// As it is typed; the root's is empty.
    pub name: &'static str,
    /// Other names.
    pub aliases: &'static [&'static str],
    /// One line, without full stop. A command without one is for programs, not for people: no help or completion has it.
    pub summary: &'static str,
    /// What the help says below the summary.
    pub details: &'static str,
    /// What it takes besides flags.
    pub operands: Operands,
    /// Its flags, in the order of the help.
    pub flags: &'static [Group],
    /// Its subcommands.
    pub commands: &'static [Command],
}

/// What a command takes besides flags and subcommands.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Operands {
    /// Nothing.
    None,
    /// What the usage line shows.
    Some(&'static str),
    /// Everything behind the command's name goes to it unread, flags too.
    Raw(&'static str),
}

/// Flags that belong together.
#[derive(Debug)]
pub struct Group {
    /// The heading in the help.
    pub title: &'static str,
    /// The flags.
    pub flags: &'static [Flag],
}

/// One flag, whatever its values are.
#[derive(Clone, Copy, Debug)]
pub struct Flag {
    /// Long name, without dashes.
    pub name: &'static str,
    /// Short name.
    pub short: Option<char>,
    /// What values it takes.
    pub kind: FlagKind,
    /// Which of those a shell can offer.
    pub values: Values,
    /// One or two sentences for the help.
    pub help: &'static str,
}

/// What values a flag takes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FlagKind {
    /// None, or `=true`, `=false`.
    Bool,
    /// One; the last one counts. The text names it in the help.
    Text(&'static str),
    /// One after `=`, or none: then it is the first of those that a shell can offer.
    Optional(&'static str),
    /// Many, one each time.
    List(&'static str),
    /// Many, separated by commas (a line of CSV) or by repeating the flag.
    Commas(&'static str),
}

/// Values that a shell can offer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Values {
    /// None that anybody could know.
    Free,
    /// Files and directories.
    Files,
    /// Directories.
    Directories,
    /// `key=`, with the keys of data values.
    Keys,
    /// `key=path`.
    KeysOfFiles,
    /// These.
    OneOf(&'static [&'static str]),
}

impl FlagKind {
    /// Whether the next word is the value where none is given by `=`.
    pub fn takes_next(self) -> bool {
        !matches!(self, FlagKind::Bool | FlagKind::Optional(_))
    }

    /// How the help calls the value.
    pub fn value_name(self) -> Option<&'static str> {
        match self {
            FlagKind::Bool | FlagKind::Optional(_) => None,
            FlagKind::Text(name) | FlagKind::List(name) | FlagKind::Commas(name) => Some(name),
        }
    }
}

/// A flag that is on or off.
pub struct Switch(pub Flag);

/// A flag with one value.
pub struct Text(pub Flag);

/// A flag with many values.
pub struct List(pub Flag);

impl Switch {
    /// A flag without short name.
    pub const fn new(name: &'static str, help: &'static str) -> Switch {
        Switch(Flag::new(name, FlagKind::Bool, help))
    }
}

impl Text {
    /// A flag without short name. `value` is how the help calls its value.
    pub const fn new(name: &'static str, value: &'static str, help: &'static str) -> Text {
        Text(Flag::new(name, FlagKind::Text(value), help))
    }

    /// The same for a flag whose value may be missing.
    pub const fn optional(name: &'static str, value: &'static str, help: &'static str) -> Text {
        Text(Flag::new(name, FlagKind::Optional(value), help))
    }

    /// The same flag with values that a shell can offer.
    pub const fn offers(self, values: Values) -> Text {
        Text(Flag { values, ..self.0 })
    }
}

impl List {
    /// A flag that is repeated for each value.
    pub const fn new(name: &'static str, value: &'static str, help: &'static str) -> List {
        List(Flag::new(name, FlagKind::List(value), help))
    }

    /// The same for a flag that also takes several values with commas between them.
    pub const fn commas(name: &'static str, value: &'static str, help: &'static str) -> List {
        List(Flag::new(name, FlagKind::Commas(value), help))
    }

    /// The same flag with values that a shell can offer.
    pub const fn offers(self, values: Values) -> List {
        List(Flag { values, ..self.0 })
    }
}

macro_rules! typed {
    ($($type:ident),*) => {$(
        impl $type {
            /// The same flag with a short name.
            pub const fn short(self, short: char) -> $type {
                $type(Flag { short: Some(short), ..self.0 })
            }
        }

        impl std::ops::Deref for $type {
            type Target = Flag;

            fn deref(&self) -> &Flag {
                &self.0
            }
        }
    )*};
}

typed!(Switch, Text, List);

impl Flag {
    const fn new(name: &'static str, kind: FlagKind, help: &'static str) -> Flag {
        Flag { name, short: None, kind, values: Values::Free, help }
    }
}

/// `-h`, which every command has.
pub const HELP: Switch = Switch::new("help", "Show this help").short('h');

impl Command {
    /// All its flags.
    pub fn all_flags(&self) -> impl Iterator<Item = &'static Flag> {
        self.flags.iter().flat_map(|group| group.flags).chain(std::iter::once(&HELP.0))
    }

    /// Whether nobody needs to know of it.
    pub fn is_hidden(&self) -> bool {
        self.summary.is_empty()
    }

    /// The subcommand of that name.
    pub fn find(&self, name: &str) -> Option<&'static Command> {
        self.commands.iter().find(|command| command.name == name || command.aliases.contains(&name))
    }
}
