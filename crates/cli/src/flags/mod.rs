//! Commands and flags as data, and the reading of a command line.
//!
//! One table ([`crate::commands`]) defines them; parsing, help and completions come from it.
//! Parsing rules and error texts are those of ytt's command line, because scripts depend on the
//! rules and users search for the texts.

mod csv;
mod parse;

pub use parse::{Invocation, PartialLine, parse, read_line, value_of, words};

/// A command with its flags and subcommands.
#[derive(Debug)]
pub struct Command {
    /// As typed; empty for the root.
    pub name: &'static str,
    /// Other names.
    pub aliases: &'static [&'static str],
    /// One line, without full stop. A command without a summary is for programs only: help and
    /// completions omit it.
    pub summary: &'static str,
    /// Text below the summary in the help.
    pub details: &'static str,
    /// Its operands.
    pub operands: Operands,
    /// Its flags, in the order of the help.
    pub flags: &'static [FlagGroup],
    /// Its subcommands.
    pub commands: &'static [Command],
}

/// The operands of a command.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Operands {
    None,
    /// As the usage line shows them.
    Some(&'static str),
    /// Everything after the command's name is passed on unparsed, including flags.
    Raw(&'static str),
}

/// Flags that belong together.
#[derive(Debug)]
pub struct FlagGroup {
    /// The heading in the help.
    pub title: &'static str,
    /// The flags.
    pub flags: &'static [Flag],
}

/// One flag, regardless of its type.
#[derive(Clone, Copy, Debug)]
pub struct Flag {
    /// Long name, without dashes.
    pub name: &'static str,
    /// Short name.
    pub short: Option<char>,
    /// Which values it accepts.
    pub kind: FlagKind,
    /// Values that a shell can offer.
    pub values: FlagValues,
    /// One or two sentences for the help.
    pub help: &'static str,
}

/// Which values a flag accepts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FlagKind {
    /// No value, `=true` or `=false`.
    Bool,
    /// One value; the last one wins. The text names the value in the help.
    Text(&'static str),
    /// One value after `=`, or none, which means the first value that a shell can offer.
    Optional(&'static str),
    /// Many values, one for each use of the flag.
    List(&'static str),
    /// Many values, separated by commas (a line of CSV) or given by repeating the flag.
    Commas(&'static str),
}

/// Values that a shell can offer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FlagValues {
    /// Unknown to the shell.
    Free,
    /// Files and directories.
    Files,
    /// Directories.
    Directories,
    /// `key=`, with the keys of data values.
    Keys,
    /// `key=path`.
    KeysOfFiles,
    /// One of these.
    OneOf(&'static [&'static str]),
}

impl FlagKind {
    /// Whether the next word is the value if there is no `=`.
    pub fn takes_next(self) -> bool {
        !matches!(self, FlagKind::Bool | FlagKind::Optional(_))
    }

    /// The name of the value in the help.
    pub fn value_name(self) -> Option<&'static str> {
        match self {
            FlagKind::Bool | FlagKind::Optional(_) => None,
            FlagKind::Text(name) | FlagKind::List(name) | FlagKind::Commas(name) => Some(name),
        }
    }
}

/// A typed flag that is on or off.
pub struct Switch(pub Flag);

/// A typed flag with one value.
pub struct TextFlag(pub Flag);

/// A typed flag whose value is one of a table, which maps each name to its meaning. A shell offers
/// the names.
pub struct ChoiceFlag<T: 'static>(pub Flag, pub &'static [(&'static str, T)]);

/// A typed flag with many values.
pub struct ListFlag(pub Flag);

impl Switch {
    /// A flag without short name.
    pub const fn new(name: &'static str, help: &'static str) -> Switch {
        Switch(Flag::new(name, FlagKind::Bool, help))
    }
}

impl TextFlag {
    /// A flag without short name. `value` names its value in the help.
    pub const fn new(name: &'static str, value: &'static str, help: &'static str) -> TextFlag {
        TextFlag(Flag::new(name, FlagKind::Text(value), help))
    }

    /// A flag whose value is optional.
    pub const fn optional(name: &'static str, value: &'static str, help: &'static str) -> TextFlag {
        TextFlag(Flag::new(name, FlagKind::Optional(value), help))
    }

    /// The same flag with values that a shell can offer.
    pub const fn offers(self, values: FlagValues) -> TextFlag {
        TextFlag(Flag { values, ..self.0 })
    }
}

impl<T: Copy> ChoiceFlag<T> {
    /// A flag without short name. `names` are the names in `choices`, made by [`names_of`].
    pub const fn new(
        name: &'static str,
        value: &'static str,
        help: &'static str,
        choices: &'static [(&'static str, T)],
        names: &'static [&'static str],
    ) -> ChoiceFlag<T> {
        ChoiceFlag(TextFlag::new(name, value, help).offers(FlagValues::OneOf(names)).0, choices)
    }

    /// A flag whose value is optional; without one it means the first choice.
    pub const fn optional(
        name: &'static str,
        value: &'static str,
        help: &'static str,
        choices: &'static [(&'static str, T)],
        names: &'static [&'static str],
    ) -> ChoiceFlag<T> {
        ChoiceFlag(TextFlag::optional(name, value, help).offers(FlagValues::OneOf(names)).0, choices)
    }

    /// The same flag with a short name.
    pub const fn short(self, short: char) -> ChoiceFlag<T> {
        ChoiceFlag(Flag { short: Some(short), ..self.0 }, self.1)
    }

    /// The meaning of a name.
    pub fn find(&self, name: &str) -> Option<T> {
        self.1.iter().find(|(known, _)| *known == name).map(|(_, meaning)| *meaning)
    }

    /// The names for messages: `text, json or junit`.
    pub fn expected(&self) -> String {
        let names: Vec<&str> = self.1.iter().map(|(name, _)| *name).collect();
        match names.split_last() {
            Some((last, rest)) if !rest.is_empty() => format!("{} or {last}", rest.join(", ")),
            _ => names.concat(),
        }
    }
}

/// The names of the choices of a [`ChoiceFlag`].
pub const fn names_of<T: Copy, const N: usize>(choices: &[(&'static str, T); N]) -> [&'static str; N] {
    let mut names = [""; N];
    let mut index = 0;
    while index < N {
        names[index] = choices[index].0;
        index += 1;
    }
    names
}

impl ListFlag {
    /// A flag that is repeated for each value.
    pub const fn new(name: &'static str, value: &'static str, help: &'static str) -> ListFlag {
        ListFlag(Flag::new(name, FlagKind::List(value), help))
    }

    /// A flag that also accepts several values separated by commas.
    pub const fn commas(name: &'static str, value: &'static str, help: &'static str) -> ListFlag {
        ListFlag(Flag::new(name, FlagKind::Commas(value), help))
    }

    /// The same flag with values that a shell can offer.
    pub const fn offers(self, values: FlagValues) -> ListFlag {
        ListFlag(Flag { values, ..self.0 })
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

typed!(Switch, TextFlag, ListFlag);

impl Flag {
    const fn new(name: &'static str, kind: FlagKind, help: &'static str) -> Flag {
        Flag { name, short: None, kind, values: FlagValues::Free, help }
    }
}

/// `-h`, which every command has.
pub const HELP: Switch = Switch::new("help", "Show this help").short('h');

impl Command {
    /// All its flags.
    pub fn all_flags(&self) -> impl Iterator<Item = &'static Flag> {
        self.flags.iter().flat_map(|group| group.flags).chain(std::iter::once(&HELP.0))
    }

    /// Whether help and completions omit it.
    pub fn is_hidden(&self) -> bool {
        self.summary.is_empty()
    }

    /// The subcommand of that name.
    pub fn find(&self, name: &str) -> Option<&'static Command> {
        self.commands.iter().find(|command| command.name == name || command.aliases.contains(&name))
    }
}
