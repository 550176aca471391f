//! Parses the words of a command line into an [`Invocation`].
//!
//! Words are read as pflag reads them for the reference: `--name value`, `--name=value`, `-n
//! value`; flags and operands in any order. Typed flags read their values from the invocation.

use std::ffi::OsString;

use ytterby_diag::{Diagnostic, Failure, Help, Id, Origin, Part, Pos, Source, Sources};
use ytterby_text::quote::quote;
use ytterby_text::spelling;

use super::csv;
use super::{ChoiceFlag, Command, Flag, FlagKind, FlagValues, ListFlag, Operands, Switch, TextFlag};

/// A successfully parsed command line.
#[derive(Debug)]
pub struct Invocation {
    /// The command and its parents, the root first.
    pub path: Vec<&'static Command>,
    flags: Vec<(&'static Flag, ParsedValue)>,
    /// Words that are neither flags nor commands.
    pub operands: Vec<String>,
}

#[derive(Debug)]
enum ParsedValue {
    Bool(bool),
    Text(String),
    List(Vec<String>),
}

impl Invocation {
    /// The command to run.
    pub fn command(&self) -> &'static Command {
        self.path[self.path.len() - 1]
    }

    /// Whether a flag is on.
    pub fn is_on(&self, flag: &Switch) -> bool {
        matches!(self.get(flag), Some(ParsedValue::Bool(true)))
    }

    /// Whether a flag is present, with any value.
    pub fn is_given(&self, flag: &Flag) -> bool {
        self.get(flag).is_some()
    }

    /// The value of a flag; empty if absent.
    pub fn text(&self, flag: &TextFlag) -> &str {
        match self.get(flag) {
            Some(ParsedValue::Text(text)) => text,
            _ => "",
        }
    }

    /// The value of a flag with one value; `None` if absent.
    pub fn given(&self, flag: &Flag) -> Option<&str> {
        match self.get(flag) {
            Some(ParsedValue::Text(text)) => Some(text),
            _ => None,
        }
    }

    /// The meaning of a flag's value; `None` if it is absent or empty.
    ///
    /// # Errors
    /// If the value is not one of the choices. `unknown` begins the message: `Unknown output type
    /// 'x'`.
    pub fn choice<T: Copy>(
        &self,
        flag: &ChoiceFlag<T>,
        unknown: impl FnOnce(&str) -> String,
    ) -> Result<Option<T>, Failure> {
        let Some(ParsedValue::Text(value)) = self.get(&flag.0) else { return Ok(None) };
        if value.is_empty() && !matches!(flag.0.kind, FlagKind::Optional(_)) {
            return Ok(None);
        }
        flag.find(value).map(Some).ok_or_else(|| {
            let text = format!("{} (expected {})", unknown(value), flag.expected());
            Failure::new(Id::FLAG_VALUE, text)
        })
    }

    /// All values of a flag.
    pub fn list(&self, flag: &ListFlag) -> &[String] {
        match self.get(flag) {
            Some(ParsedValue::List(values)) => values,
            _ => &[],
        }
    }

    fn get(&self, flag: &Flag) -> Option<&ParsedValue> {
        self.flags.iter().find(|(given, _)| given.name == flag.name).map(|(_, value)| value)
    }

    fn set(&mut self, sources: &Sources, flag: &'static Flag, text: &str) -> Result<(), Failure> {
        let invalid = |why: String| -> Failure {
            let shown = match flag.short {
                Some(short) => format!("-{short}, --{}", flag.name),
                None => format!("--{}", flag.name),
            };
            let message = format!("invalid argument {} for \"{shown}\" flag: {why}", quoted(text));
            wrong(sources, Id::FLAG_VALUE, message, text).into()
        };
        let slot = self.flags.iter_mut().find(|(given, _)| given.name == flag.name).map(|(_, value)| value);
        let value = match flag.kind {
            FlagKind::Bool => ParsedValue::Bool(
                go_bool(text)
                    .ok_or_else(|| invalid(format!("strconv.ParseBool: parsing {}: invalid syntax", quoted(text))))?,
            ),
            FlagKind::Text(_) | FlagKind::Optional(_) => ParsedValue::Text(text.to_owned()),
            FlagKind::List(_) | FlagKind::Commas(_) => {
                let mut values = match flag.kind {
                    FlagKind::Commas(_) => csv::fields(text).map_err(invalid)?,
                    _ => vec![text.to_owned()],
                };
                if let Some(ParsedValue::List(all)) = slot {
                    all.append(&mut values);
                    return Ok(());
                }
                ParsedValue::List(values)
            }
        };
        match slot {
            Some(slot) => *slot = value,
            None => self.flags.push((flag, value)),
        }
        Ok(())
    }
}

/// The words of a command line; fails if one is not UTF-8.
pub fn words(args: impl Iterator<Item = OsString>) -> Result<Vec<String>, Failure> {
    args.map(|arg| {
        arg.into_string().map_err(|arg| {
            let shown = quote(arg.as_encoded_bytes());
            let text = "to be UTF-8 (hint: rename the file, or give the directory that it is in)";
            Failure::new(Id::FLAG_VALUE, format!("Expected argument {shown} {text}"))
        })
    })
    .collect()
}

/// A problem with one argument of the command line.
fn wrong(sources: &Sources, id: Id, message: String, argument: &str) -> Diagnostic {
    let source = Source::new("command line", argument.as_bytes()).with_origin(Origin::Argument);
    let pos = Pos::new(sources.add(source), 0);
    Diagnostic::error(id, message).at(pos, Part::Bytes(argument.len() as u32))
}

/// Parses a command line (without the program's name). Wrong arguments become sources, so that
/// reports can quote them.
pub fn parse(root: &'static Command, args: Vec<String>, sources: &Sources) -> Result<Invocation, Failure> {
    let (path, args) = find_command(root, args);
    let mut found = Invocation { path, flags: Vec::new(), operands: Vec::new() };
    if let Operands::Raw(_) = found.command().operands {
        found.operands = args;
        return Ok(found);
    }
    let mut args = args.into_iter();
    while let Some(arg) = args.next() {
        if arg == "--" {
            found.operands.extend(args);
            break;
        } else if let Some(long) = arg.strip_prefix("--") {
            parse_long(&mut found, long, &mut args, sources)?;
        } else if arg.len() > 1 && arg.starts_with('-') {
            parse_short(&mut found, &arg[1..], &mut args, sources)?;
        } else {
            found.operands.push(arg);
        }
    }
    Ok(found)
}

fn parse_long(
    found: &mut Invocation,
    arg: &str,
    rest: &mut std::vec::IntoIter<String>,
    sources: &Sources,
) -> Result<(), Failure> {
    if arg.starts_with(['-', '=']) {
        let text = format!("--{arg}");
        return Err(wrong(sources, Id::FLAG_UNKNOWN, format!("bad flag syntax: {text}"), &text).into());
    }
    let (name, value) = match arg.split_once('=') {
        Some((name, value)) => (name, Some(value.to_owned())),
        None => (arg, None),
    };
    let word = format!("--{name}");
    let flag = find_long(found.command(), name).ok_or_else(|| {
        let problem = wrong(sources, Id::FLAG_UNKNOWN, format!("unknown flag: {word}"), &word);
        Failure::from(problem.helps(meant(found.command(), name)))
    })?;
    let value = match value {
        Some(value) => value,
        None if flag.kind == FlagKind::Bool => "true".to_owned(),
        None if !flag.kind.takes_next() => first_offer(flag).to_owned(),
        None => rest
            .next()
            .ok_or_else(|| wrong(sources, Id::FLAG_VALUE, format!("flag needs an argument: {word}"), &word))?,
    };
    found.set(sources, flag, &value)
}

/// The value of an optional flag without `=`.
fn first_offer(flag: &Flag) -> &'static str {
    match flag.values {
        FlagValues::OneOf([first, ..]) => first,
        _ => "",
    }
}

/// Flags of other programs, and our names for them.
const ELSEWHERE: [(&str, &str); 12] = [
    ("color", "color"),
    ("env", "data-values-env"),
    ("include", "file"),
    ("input", "file"),
    ("out", "output-files"),
    ("output-dir", "output-files"),
    ("set", "data-value"),
    ("set-file", "data-value-file"),
    ("set-string", "data-value"),
    ("values", "data-values-file"),
    ("var", "data-value"),
    ("var-file", "data-values-file"),
];

/// A hint that names the flag that was probably meant.
fn meant(command: &Command, name: &str) -> Option<Help> {
    let elsewhere = ELSEWHERE.iter().find(|(other, _)| *other == name).map(|(_, own)| *own);
    let own = elsewhere.filter(|own| find_long(command, own).is_some());
    let names = || command.all_flags().map(|flag| flag.name);
    let near = own.or_else(|| spelling::closest(name, names(), spelling::tolerance(name)))?;
    Some(Help::new(format!("did you mean --{near}?")))
}

/// Parses `-s`, `-sf x`, `-fx`, `-f=x`: flags without values can be joined; the rest of the word is
/// the value of the first flag that takes one.
fn parse_short(
    found: &mut Invocation,
    word: &str,
    rest: &mut std::vec::IntoIter<String>,
    sources: &Sources,
) -> Result<(), Failure> {
    let mut chars = word.chars();
    while let Some(short) = chars.next() {
        let here = format!("-{short}{}", chars.as_str());
        let flag = found.command().all_flags().find(|flag| flag.short == Some(short)).ok_or_else(|| {
            let text = format!("unknown shorthand flag: {} in {here}", quoted_char(short));
            wrong(sources, Id::FLAG_UNKNOWN, text, &here)
        })?;
        let behind = chars.as_str();
        match behind.strip_prefix('=') {
            Some(value) if !value.is_empty() => return found.set(sources, flag, value),
            _ if flag.kind == FlagKind::Bool => found.set(sources, flag, "true")?,
            _ if !flag.kind.takes_next() => found.set(sources, flag, first_offer(flag))?,
            _ if !behind.is_empty() => return found.set(sources, flag, behind),
            _ => {
                let value = rest.next().ok_or_else(|| {
                    let text = format!("flag needs an argument: {} in {here}", quoted_char(short));
                    wrong(sources, Id::FLAG_VALUE, text, &here)
                })?;
                return found.set(sources, flag, &value);
            }
        }
    }
    Ok(())
}

/// The command that the words name, and the other words. Flags of the parent command may come
/// before a command's name; their values are not mistaken for names.
fn find_command(root: &'static Command, mut args: Vec<String>) -> (Vec<&'static Command>, Vec<String>) {
    let mut path = vec![root];
    let mut command = root;
    while let Some(at) = first_operand(command, &args) {
        let Some(next) = command.find(&args[at]) else { break };
        // Like the reference, `--version` wins over everything else.
        if args[..at].iter().any(|arg| arg == "--version") {
            break;
        }
        args.remove(at);
        command = next;
        path.push(next);
        if let Operands::Raw(_) = command.operands {
            break;
        }
    }
    (path, args)
}

/// An incomplete command line, for completion: errors are skipped.
#[derive(Debug)]
pub struct PartialLine {
    /// The command and its parents, the root first.
    pub path: Vec<&'static Command>,
    /// The flags with their values, if any; repeated flags are repeated here.
    pub given: Vec<(&'static Flag, Option<String>)>,
    /// Words that are neither flags nor commands.
    pub operands: Vec<String>,
    /// The flag whose value is the next word.
    pub waiting: Option<&'static Flag>,
    /// Whether there was a `--`.
    pub only_operands: bool,
}

impl PartialLine {
    /// The command that the words name.
    pub fn command(&self) -> &'static Command {
        self.path[self.path.len() - 1]
    }
}

/// Reads the words of an incomplete line.
pub fn read_line(root: &'static Command, words: &[String]) -> PartialLine {
    let mut line =
        PartialLine { path: vec![root], given: Vec::new(), operands: Vec::new(), waiting: None, only_operands: false };
    for word in words {
        let command = line.command();
        if let Some(flag) = line.waiting.take() {
            line.given.push((flag, Some(word.clone())));
        } else if line.only_operands || word.len() < 2 || !word.starts_with('-') {
            match command.find(word).filter(|_| line.operands.is_empty() && !line.only_operands) {
                Some(next) => line.path.push(next),
                None => line.operands.push(word.clone()),
            }
        } else if word == "--" {
            line.only_operands = true;
        } else if let Some(long) = word.strip_prefix("--") {
            let (name, value) =
                long.split_once('=').map_or((long, None), |(name, value)| (name, Some(value.to_owned())));
            match find_long(command, name) {
                Some(flag) if value.is_none() && flag.kind.takes_next() => line.waiting = Some(flag),
                flag => line.given.extend(flag.map(|flag| (flag, value))),
            }
        } else {
            for (at, short) in word.char_indices().skip(1) {
                let Some(flag) = command.all_flags().find(|flag| flag.short == Some(short)) else { break };
                let behind = &word[at + short.len_utf8()..];
                match flag.kind {
                    kind if !kind.takes_next() => line.given.push((flag, None)),
                    _ if behind.is_empty() => line.waiting = Some(flag),
                    _ => {
                        line.given.push((flag, Some(behind.to_owned())));
                        break;
                    }
                }
            }
        }
    }
    line
}

/// The last value of a flag on a line that may contain errors.
pub fn value_of(root: &'static Command, words: &[String], wanted: &Flag) -> Option<String> {
    let line = read_line(root, words);
    line.given.into_iter().rev().find(|(flag, _)| flag.name == wanted.name).and_then(|(_, value)| value)
}

fn first_operand(command: &Command, args: &[String]) -> Option<usize> {
    let mut at = 0;
    while let Some(arg) = args.get(at) {
        let takes_next = if arg == "--" {
            return None;
        } else if let Some(name) = arg.strip_prefix("--") {
            !name.contains('=') && find_long(command, name).is_none_or(|flag| flag.kind.takes_next())
        } else if let Some(word) = arg.strip_prefix('-') {
            let short = word.chars().next();
            let flag = command.all_flags().find(|flag| flag.short == short);
            word.chars().count() == 1 && flag.is_none_or(|flag| flag.kind.takes_next())
        } else if arg.is_empty() {
            false
        } else {
            return Some(at);
        };
        at += if takes_next { 2 } else { 1 };
    }
    None
}

fn find_long(command: &Command, name: &str) -> Option<&'static Flag> {
    command.all_flags().find(|flag| flag.name == name)
}

fn go_bool(text: &str) -> Option<bool> {
    match text {
        "1" | "t" | "T" | "true" | "TRUE" | "True" => Some(true),
        "0" | "f" | "F" | "false" | "FALSE" | "False" => Some(false),
        _ => None,
    }
}

fn quoted(text: &str) -> String {
    quote(text.as_bytes()).to_string()
}

/// Go's `%q` of a character.
fn quoted_char(c: char) -> String {
    match c {
        '\'' => "'\\''".to_owned(),
        '"' => "'\"'".to_owned(),
        _ => {
            let text = quoted(c.encode_utf8(&mut [0; 4]));
            format!("'{}'", &text[1..text.len() - 1])
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::*;
    use super::*;

    const STRICT: Switch = Switch::new("strict", "").short('s');
    const DEBUG: Switch = Switch::new("debug", "");
    const FILE: ListFlag = ListFlag::new("file", "path", "").short('f');
    const OUTPUT: ListFlag = ListFlag::commas("output", "type", "").short('o');
    const BULK_IN: TextFlag = TextFlag::new("bulk-in", "json", "");
    const FLAGS: &[Flag] = &[STRICT.0, DEBUG.0, FILE.0, OUTPUT.0, BULK_IN.0];

    const GROUPS: &[FlagGroup] = &[FlagGroup { title: "", flags: FLAGS }];

    const fn command(name: &'static str, operands: Operands, flags: &'static [FlagGroup]) -> Command {
        Command { name, aliases: &[], summary: "", details: "", operands, flags, commands: &[] }
    }

    static ROOT: Command = Command {
        commands: &[
            Command { aliases: &["t"], ..command("template", Operands::None, GROUPS) },
            command("version", Operands::None, &[]),
            command("raw", Operands::Raw(""), &[]),
        ],
        ..command("", Operands::None, GROUPS)
    };

    fn run(line: &str) -> Result<Invocation, Failure> {
        let words = line.split(' ').filter(|word| !word.is_empty()).map(str::to_owned).collect();
        parse(&ROOT, words, &Sources::new())
    }

    /// Parses a line; shows the command, `file`, `strict` and operands in one line.
    fn check(line: &str, want: &str) {
        let got = match run(line) {
            Ok(found) => format!(
                "{} files={:?} strict={} operands={:?}",
                found.command().name,
                found.list(&FILE),
                found.is_on(&STRICT),
                found.operands
            ),
            Err(failure) => failure.to_string(),
        };
        assert_eq!(got, want, "{line}");
    }

    #[test]
    fn flag_values_are_read_in_every_form() {
        check("-f a --file b --file=c -fd -f=e", r#" files=["a", "b", "c", "d", "e"] strict=false operands=[]"#);
        check("-sf a", r#" files=["a"] strict=true operands=[]"#);
        check("-sf=a", r#" files=["a"] strict=true operands=[]"#);
        check("-f=", r#" files=["="] strict=false operands=[]"#);
        check("-f -s", r#" files=["-s"] strict=false operands=[]"#);
        check("--strict=T --strict=0", " files=[] strict=false operands=[]");
        check("x - -- -s", r#" files=[] strict=false operands=["x", "-", "-s"]"#);
        assert_eq!(run("-o json,yaml -o pos").unwrap().list(&OUTPUT), ["json", "yaml", "pos"]);
        assert_eq!(run("--bulk-in a --bulk-in=b").unwrap().text(&BULK_IN), "b");
    }

    #[test]
    fn commands_are_found_after_flags() {
        check("t -f a", r#"template files=["a"] strict=false operands=[]"#);
        check("-s -f a template", r#"template files=["a"] strict=true operands=[]"#);
        check("-f version", r#" files=["version"] strict=false operands=[]"#);
        check("-s version", "unknown shorthand flag: 's' in -s");
        check("template version", r#"template files=[] strict=false operands=["version"]"#);
        check("-- version", r#" files=[] strict=false operands=["version"]"#);
        check("raw -x --y", r#"raw files=[] strict=false operands=["-x", "--y"]"#);
    }

    #[test]
    fn wrong_arguments_are_explained() {
        check("--foo=x", "unknown flag: --foo");
        check("-sx", "unknown shorthand flag: 'x' in -x");
        check("-s=", "unknown shorthand flag: '=' in -=");
        check("-f", "flag needs an argument: 'f' in -f");
        check("--file", "flag needs an argument: --file");
        check("--=x", "bad flag syntax: --=x");
        check("---x", "bad flag syntax: ---x");
        check(
            "-s=yes",
            r#"invalid argument "yes" for "-s, --strict" flag: strconv.ParseBool: parsing "yes": invalid syntax"#,
        );
        check("--debug=", r#"invalid argument "" for "--debug" flag: strconv.ParseBool: parsing "": invalid syntax"#);
    }
}
