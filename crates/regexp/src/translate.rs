//! Translates Go's syntax to that of the `regex` crate, in one pass from left to right.
//!
//! Every piece of a pattern is written in a form that means the same in both dialects. So a pattern
//! can never use the crate's own syntax by accident (set operations in classes, `#` and `x` mode,
//! Unicode classes).

use std::fmt;

use regex_automata::meta::Regex;

/// Maximum nesting of groups, as in Go.
pub(super) const MAX_DEPTH: u32 = 1000;

/// Maximum product of counted repetitions along the nesting.
const MAX_REPEAT: u32 = 1000;

/// A pattern of the `regex` crate, and the names of its groups in Go, including group 0.
pub(super) struct Translated {
    pub pattern: String,
    pub names: Vec<Option<String>>,
    pub dollars: Vec<Dollar>,
    pub has_vertical_tab: bool,
}

/// A `$` that matches at the end of the text.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Dollar {
    /// Byte offset in the pattern.
    pub at: usize,
    /// Whether nothing can follow it in a match.
    pub is_last: bool,
}

/// Why Go would refuse a pattern.
#[derive(Debug)]
pub(super) struct Refusal {
    reason: &'static str,
    piece: String,
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "error parsing regexp: {}: `{}`", self.reason, self.piece)
    }
}

fn refuse<T>(reason: &'static str, piece: impl Into<String>) -> Result<T, Refusal> {
    Err(Refusal { reason, piece: piece.into() })
}

const BAD_ESCAPE: &str = "invalid escape sequence";
const BAD_RANGE: &str = "invalid character class range";
const BAD_CAPTURE: &str = "invalid named capture";

/// Translates a pattern of Go.
pub(super) fn translate(pattern: &str) -> Result<Translated, Refusal> {
    let mut translator = Translator {
        whole: pattern,
        rest: pattern,
        out: String::with_capacity(pattern.len() + 16),
        names: vec![None],
        groups: Vec::new(),
        level: GroupFrame::default(),
        last_repeat: None,
        dollars: Vec::new(),
        has_vertical_tab: false,
    };
    while !translator.rest.is_empty() {
        translator.piece()?;
    }
    if !translator.groups.is_empty() {
        return refuse("missing closing )", pattern);
    }
    let Translator { out, names, dollars, has_vertical_tab, .. } = translator;
    let dollars = dollars.into_iter().map(|(at, in_group)| Dollar { at, is_last: is_last(pattern, at, in_group) });
    Ok(Translated { pattern: out, names, dollars: dollars.collect(), has_vertical_tab })
}

/// Whether the `$` at `at` ends the pattern, or an alternative at its top level.
fn is_last(pattern: &str, at: usize, in_group: bool) -> bool {
    let behind = &pattern[at + 1..];
    let behind_groups = behind.trim_start_matches(')');
    let ends_alternative = behind.starts_with('|');
    (behind_groups.is_empty() || ends_alternative) && (!in_group || !pattern[at..].contains('|'))
}

struct Translator<'p> {
    whole: &'p str,
    rest: &'p str,
    out: String,
    names: Vec<Option<String>>,
    /// The levels around the group that is open now, outermost first.
    groups: Vec<GroupFrame>,
    level: GroupFrame,
    /// Directly after a repetition operator: the pattern from that operator on.
    last_repeat: Option<&'p str>,
    /// Byte offsets of `$`, and whether they are in a group.
    dollars: Vec<(usize, bool)>,
    has_vertical_tab: bool,
}

/// One level of nesting.
#[derive(Clone, Copy, Default)]
struct GroupFrame {
    flags: Flags,
    /// The operand of the next repetition operator.
    atom: Option<Atom>,
    /// The largest product of counted repetitions so far.
    repeats: u32,
}

#[derive(Clone, Copy)]
struct Atom {
    /// Where it ends in the output. Flag changes may have been written after it.
    end: usize,
    repeats: u32,
}

/// `i`, `m`, `s`, `U`.
#[derive(Clone, Copy, Default, PartialEq)]
struct Flags([bool; 4]);

const FLAG_NAMES: [char; 4] = ['i', 'm', 's', 'U'];

impl Flags {
    fn is_multi_line(self) -> bool {
        self.0[1]
    }

    /// Writes all flags explicitly: `i-msU`.
    fn write(self, out: &mut String) {
        let of =
            |wanted: bool| FLAG_NAMES.iter().zip(self.0).filter(move |(_, on)| *on == wanted).map(|(name, _)| *name);
        out.extend(of(true));
        if self.0.contains(&false) {
            out.push('-');
            out.extend(of(false));
        }
    }
}

impl<'p> Translator<'p> {
    /// Translates the next piece of the pattern.
    fn piece(&mut self) -> Result<(), Refusal> {
        let last_repeat = self.last_repeat.take();
        let mut chars = self.rest.chars();
        let first = chars.next().expect("the caller saw that there is more");
        match first {
            '(' if chars.as_str().starts_with('?') => return self.perl_group(),
            '(' => {
                self.names.push(None);
                self.open("(")?;
            }
            ')' => self.close()?,
            '|' => {
                self.out.push('|');
                self.level.atom = None;
            }
            '^' | '$' | '.' => {
                if first == '$' && !self.level.flags.is_multi_line() {
                    self.dollars.push((self.whole.len() - self.rest.len(), !self.groups.is_empty()));
                }
                self.out.push(first);
                self.atom(1);
            }
            '[' => return self.class(),
            '*' | '+' | '?' => return self.repeat(1, None, last_repeat),
            '{' => match counts(self.rest) {
                Some((low, high, length)) => {
                    let wrong_order = high.is_some_and(|high| low > high);
                    if low > MAX_REPEAT || high.is_some_and(|high| high > MAX_REPEAT) || wrong_order {
                        return refuse("invalid repeat count", &self.rest[..length]);
                    }
                    return self.repeat(length, Some((low, high)), last_repeat);
                }
                None => self.literal('{'),
            },
            '\\' => return self.escape(),
            _ => self.literal(first),
        }
        self.rest = chars.as_str();
        Ok(())
    }

    fn atom(&mut self, repeats: u32) {
        self.level.atom = Some(Atom { end: self.out.len(), repeats });
        self.level.repeats = self.level.repeats.max(repeats);
    }

    fn literal(&mut self, c: char) {
        write_char(&mut self.out, c);
        self.atom(1);
    }

    fn open(&mut self, as_written: &str) -> Result<(), Refusal> {
        if self.groups.len() as u32 >= MAX_DEPTH {
            return refuse("expression nests too deeply", self.whole);
        }
        self.out.push_str(as_written);
        self.groups.push(self.level);
        self.level = GroupFrame { flags: self.level.flags, ..GroupFrame::default() };
        Ok(())
    }

    fn close(&mut self) -> Result<(), Refusal> {
        let Some(outer) = self.groups.pop() else {
            return refuse("unexpected )", self.whole);
        };
        self.out.push(')');
        let repeats = self.level.repeats.max(1);
        self.level = outer;
        self.atom(repeats);
        Ok(())
    }

    /// A repetition operator of `length` bytes, with its counts if it has any.
    fn repeat(
        &mut self,
        length: usize,
        counts: Option<(u32, Option<u32>)>,
        last_repeat: Option<&'p str>,
    ) -> Result<(), Refusal> {
        let before = self.rest;
        let lazy = before[length..].starts_with('?');
        let length = length + usize::from(lazy);
        self.rest = &before[length..];
        if let Some(last) = last_repeat {
            return refuse("invalid nested repetition operator", &last[..last.len() - self.rest.len()]);
        }
        let Some(atom) = self.level.atom else {
            return refuse("missing argument to repetition operator", &before[..length]);
        };
        let mut repeats = atom.repeats;
        if let Some((low, high)) = counts {
            repeats = repeats.saturating_mul(high.unwrap_or(low));
            if (low >= 2 || high.is_some_and(|high| high >= 2)) && repeats > MAX_REPEAT {
                return refuse("invalid repeat count", &before[..length]);
            }
        }
        self.out.insert_str(atom.end, &before[..length]);
        self.level.repeats = self.level.repeats.max(repeats);
        // If flags changed after the atom, the operator is inserted directly after the atom,
        // because the crate would not find it otherwise. Nothing can apply to the atom again: two
        // operators in a row are refused.
        self.level.atom = Some(Atom { end: atom.end + length, repeats });
        self.last_repeat = Some(before);
        Ok(())
    }

    /// A group that begins with `(?`.
    fn perl_group(&mut self) -> Result<(), Refusal> {
        let text = self.rest;
        let name_start = match text.as_bytes() {
            [_, _, b'P', b'<', _, ..] => Some(4),
            [_, _, b'<', _, ..] => Some(3),
            _ => None,
        };
        if let Some(start) = name_start {
            let Some(end) = text.find('>') else {
                return refuse(BAD_CAPTURE, text);
            };
            let name = text.get(start..end).unwrap_or_default();
            if name.is_empty() || !name.bytes().all(|byte| byte == b'_' || byte.is_ascii_alphanumeric()) {
                return refuse(BAD_CAPTURE, &text[..=end]);
            }
            self.names.push(Some(name.to_owned()));
            self.rest = &text[end + 1..];
            return self.open("(");
        }
        let mut flags = self.level.flags;
        let mut value = true;
        let mut named_one = false;
        let mut chars = text[2..].chars();
        while let Some(c) = chars.next() {
            match c {
                'i' | 'm' | 's' | 'U' => {
                    let index = FLAG_NAMES.iter().position(|name| *name == c).expect("it is one of the four");
                    flags.0[index] = value;
                    named_one = true;
                }
                '-' if value => {
                    value = false;
                    named_one = false;
                }
                ':' | ')' if value || named_one => {
                    self.rest = chars.as_str();
                    return self.change_flags(flags, c == ':');
                }
                _ => break,
            }
        }
        refuse("invalid or unsupported Perl syntax", &text[..text.len() - chars.as_str().len()])
    }

    fn change_flags(&mut self, flags: Flags, opens_group: bool) -> Result<(), Refusal> {
        let changed = flags != self.level.flags;
        if opens_group {
            let mut opening = String::from("(?");
            if changed {
                flags.write(&mut opening);
            }
            opening.push(':');
            self.open(&opening)?;
        } else if changed {
            self.out.push_str("(?");
            flags.write(&mut self.out);
            self.out.push(')');
        }
        self.level.flags = flags;
        Ok(())
    }

    /// An escape outside of classes.
    fn escape(&mut self) -> Result<(), Refusal> {
        let zero_width = match self.rest.as_bytes().get(1) {
            Some(b'A') => "\\A",
            Some(b'z') => "\\z",
            Some(b'b') => "(?-u:\\b)",
            Some(b'B') => "(?-u:\\B)",
            Some(b'C') => return refuse(BAD_ESCAPE, "\\C"),
            Some(b'Q') => {
                let (literal, rest) = self.rest[2..].split_once("\\E").unwrap_or((&self.rest[2..], ""));
                literal.chars().for_each(|c| self.literal(c));
                self.rest = rest;
                return Ok(());
            }
            _ => "",
        };
        if !zero_width.is_empty() {
            self.out.push_str(zero_width);
            self.rest = &self.rest[2..];
        } else if let Some((set, rest)) = set_escape(self.rest)? {
            self.out.push_str(&set);
            self.rest = rest;
        } else {
            let (c, rest) = self.char_escape(self.rest)?;
            write_code_point(&mut self.out, c);
            self.rest = rest;
        }
        self.atom(1);
        Ok(())
    }

    /// A class, `[…]`.
    fn class(&mut self) -> Result<(), Refusal> {
        let whole = self.rest;
        let mut rest = &whole[1..];
        let negated = rest.starts_with('^');
        let mut items = String::new();
        rest = &rest[usize::from(negated)..];
        let mut first = true;
        while first || !rest.starts_with(']') {
            first = false;
            if rest.starts_with("[:")
                && rest.len() > 2
                && let Some(end) = rest[2..].find(":]")
            {
                let name = &rest[..end + 4];
                if !is_posix_class(&rest[2..end + 2]) {
                    return refuse(BAD_RANGE, name);
                }
                items.push_str(name);
                rest = &rest[name.len()..];
                continue;
            }
            if let Some((set, tail)) = set_escape(rest)? {
                items.push_str(&set);
                rest = tail;
                continue;
            }
            let start = rest;
            let (low, tail) = self.class_char(rest, whole)?;
            rest = tail;
            let mut high = low;
            if rest.len() >= 2 && rest.starts_with('-') && !rest[1..].starts_with(']') {
                (high, rest) = self.class_char(&rest[1..], whole)?;
                if high < low {
                    return refuse(BAD_RANGE, &start[..start.len() - rest.len()]);
                }
            }
            write_range(&mut items, low, high);
        }
        self.rest = &rest[1..];
        self.out.push_str(if negated { "[^" } else { "[" });
        self.out.push_str(if items.is_empty() { NOTHING } else { &items });
        self.out.push(']');
        self.atom(1);
        Ok(())
    }

    /// A character of a class.
    fn class_char(&mut self, text: &'p str, class: &str) -> Result<(u32, &'p str), Refusal> {
        let mut chars = text.chars();
        match chars.next() {
            None => refuse("missing closing ]", class),
            Some('\\') => self.char_escape(text),
            Some(c) => Ok((c.into(), chars.as_str())),
        }
    }

    fn char_escape(&mut self, text: &'p str) -> Result<(u32, &'p str), Refusal> {
        self.has_vertical_tab |= text.starts_with("\\v");
        char_escape(text)
    }
}

/// A class that matches no character.
const NOTHING: &str = "[a&&b]";

/// The counts in `{2}`, `{2,}` or `{2,3}` at the beginning of the text, and their length. Numbers
/// that do not fit saturate.
fn counts(text: &str) -> Option<(u32, Option<u32>, usize)> {
    let (low, rest) = number(&text[1..])?;
    let (high, rest) = match rest.strip_prefix(',') {
        None => (Some(low), rest),
        Some(rest) if rest.starts_with('}') => (None, rest),
        Some(rest) => number(rest).map(|(high, rest)| (Some(high), rest))?,
    };
    let rest = rest.strip_prefix('}')?;
    Some((low, high, text.len() - rest.len()))
}

/// Decimal digits without a leading zero.
fn number(text: &str) -> Option<(u32, &str)> {
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (digits, rest) = text.split_at(end);
    if digits.is_empty() || (digits.len() > 1 && digits.starts_with('0')) {
        return None;
    }
    Some((digits.parse().unwrap_or(u32::MAX), rest))
}

/// An escape for one character: its code point, which may be half of a surrogate pair, and the
/// rest.
fn char_escape(text: &str) -> Result<(u32, &str), Refusal> {
    let mut chars = text[1..].chars();
    let Some(c) = chars.next() else {
        return refuse("trailing backslash at end of expression", "");
    };
    let bad = |rest: &str| refuse(BAD_ESCAPE, &text[..text.len() - rest.len()]);
    let octal = |c: Option<char>| c.and_then(|c| c.to_digit(8));
    let code: u32 = match c {
        '1'..='7' if octal(chars.clone().next()).is_none() => return bad(chars.as_str()),
        '0'..='7' => {
            let mut code = c as u32 - '0' as u32;
            for _ in 0..2 {
                let Some(digit) = octal(chars.clone().next()) else { break };
                code = code * 8 + digit;
                chars.next();
            }
            code
        }
        'x' => match chars.next() {
            None => return bad(""),
            Some('{') => {
                let mut code = 0;
                let mut digits = 0;
                loop {
                    match chars.next() {
                        Some('}') if digits > 0 => break code,
                        Some(c) if c.is_ascii_hexdigit() => {
                            code = code * 16 + c.to_digit(16).expect("it is a hexadecimal digit");
                            digits += 1;
                            if code > char::MAX as u32 {
                                return bad(chars.as_str());
                            }
                        }
                        _ => return bad(chars.as_str()),
                    }
                }
            }
            Some(high) => match (high.to_digit(16), chars.next().and_then(|low| low.to_digit(16))) {
                (Some(high), Some(low)) => high * 16 + low,
                _ => return bad(chars.as_str()),
            },
        },
        'a' => 7,
        'f' => 12,
        'n' => 10,
        'r' => 13,
        't' => 9,
        'v' => 11,
        c if c.is_ascii() && !c.is_ascii_alphanumeric() => c.into(),
        _ => return bad(chars.as_str()),
    };
    Ok((code, chars.as_str()))
}

/// An escape for a set of characters, `\d` or `\p{…}`: the set as a class, and the rest.
fn set_escape(text: &str) -> Result<Option<(String, &str)>, Refusal> {
    let set = match text.as_bytes() {
        [b'\\', b'd', ..] => "[0-9]",
        [b'\\', b'D', ..] => "[^0-9]",
        [b'\\', b's', ..] => "[\\t\\n\\x0C\\r ]",
        [b'\\', b'S', ..] => "[^\\t\\n\\x0C\\r ]",
        [b'\\', b'w', ..] => "[0-9A-Za-z_]",
        [b'\\', b'W', ..] => "[^0-9A-Za-z_]",
        [b'\\', b'p' | b'P', ..] => return unicode_class(text).map(Some),
        _ => return Ok(None),
    };
    Ok(Some((set.to_owned(), &text[2..])))
}

/// A Unicode class: `\pL`, `\p{Greek}`, `\P{^Greek}`.
fn unicode_class(text: &str) -> Result<(String, &str), Refusal> {
    let mut negated = text.as_bytes()[1] == b'P';
    let (name, length) = match text[2..].chars().next() {
        None => return refuse(BAD_RANGE, text),
        Some('{') => match text.find('}') {
            Some(end) => (&text[3..end], end + 1),
            None => return refuse(BAD_RANGE, text),
        },
        Some(c) => (&text[2..2 + c.len_utf8()], 2 + c.len_utf8()),
    };
    let written = &text[..length];
    let name = match name.strip_prefix('^') {
        Some(name) => {
            negated = !negated;
            name
        }
        None => name,
    };
    let Some(set) = unicode_set(name) else {
        return refuse(BAD_RANGE, written);
    };
    let open = if negated { "[^" } else { "[" };
    Ok((format!("{open}{set}]"), &text[length..]))
}

/// Categories by the short names of Go. Surrogates (`Cs`) never occur in UTF-8.
const CATEGORIES: &str =
    " Cc Cf Co L Ll Lm Lo Lt Lu M Mc Me Mn N Nd Nl No P Pc Pd Pe Pf Pi Po Ps S Sc Sk Sm So Z Zl Zp Zs ";

fn unicode_set(name: &str) -> Option<String> {
    match name {
        "Any" => return Some("\\x{0}-\\x{10FFFF}".to_owned()),
        // Go's `Other` does not include unassigned code points.
        "C" => return Some("\\p{Cc}\\p{Cf}\\p{Co}".to_owned()),
        "Cs" => return Some(NOTHING.to_owned()),
        _ => {}
    }
    if !name.is_empty() && CATEGORIES.contains(&format!(" {name} ")) {
        return Some(format!("\\p{{{name}}}"));
    }
    // Go accepts only long script names with capitals, `Old_Italic`; the crate would accept others
    // too.
    let is_long_name = name.len() > 2
        && name.split('_').all(|word| word.starts_with(|c: char| c.is_ascii_uppercase()))
        && name.bytes().all(|byte| byte.is_ascii_alphabetic() || byte == b'_');
    let set = format!("\\p{{sc={name}}}");
    (is_long_name && Regex::new(&set).is_ok()).then_some(set)
}

/// Whether this is the name of a class written `[:name:]`.
fn is_posix_class(name: &str) -> bool {
    const NAMES: [&str; 14] = [
        "alnum", "alpha", "ascii", "blank", "cntrl", "digit", "graph", "lower", "print", "punct", "space", "upper",
        "word", "xdigit",
    ];
    NAMES.contains(&name.strip_prefix('^').unwrap_or(name))
}

fn write_char(out: &mut String, c: char) {
    if c.is_ascii_alphanumeric() || c == '_' {
        out.push(c);
    } else {
        out.push_str(&format!("\\x{{{:X}}}", c as u32));
    }
}

fn write_code_point(out: &mut String, code: u32) {
    match char::from_u32(code) {
        Some(c) => write_char(out, c),
        None => out.push_str(NOTHING),
    }
}

/// A range of a class; surrogates, which do not occur in UTF-8, are left out.
fn write_range(out: &mut String, low: u32, high: u32) {
    let low = if (0xD800..0xE000).contains(&low) { 0xE000 } else { low };
    let high = if (0xD800..0xE000).contains(&high) { 0xD7FF } else { high };
    let (Some(low), Some(high)) = (char::from_u32(low), char::from_u32(high)) else { return };
    if low <= high {
        write_char(out, low);
        out.push('-');
        write_char(out, high);
    }
}
