//! Go's regular expressions (RE2): what the reference and CEL understand.
//!
//! [`check`] parses a pattern, gives Go's error text where Go refuses it, and otherwise a pattern of the same meaning for the
//! `regex` crate: Go's `\d`, `\w`, `\s`, `\b` are ASCII, `\Q…\E` quotes, brackets nest differently.

use std::fmt::Write;

/// A pattern that Go accepts.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Re2 {
    /// The same pattern for the `regex` crate.
    pub rust: String,
    /// What PCRE reads differently, in words.
    pub differences: Vec<&'static str>,
    /// For each `$` outside of `(?m)`: its place, and whether nothing can follow it in a match.
    pub dollars: Vec<(usize, bool)>,
}

/// Counted repetitions above this are refused, also nested ones together.
const MAX_REPEAT: usize = 1000;

/// Names between `[:` and `:]`.
const POSIX: [&str; 14] = [
    "alnum", "alpha", "ascii", "blank", "cntrl", "digit", "graph", "lower", "print", "punct", "space", "upper", "word",
    "xdigit",
];

/// Parses a pattern as Go does; the error is Go's text.
pub fn check(pattern: &str) -> Result<Re2, String> {
    let mut parser = Parser {
        pattern,
        at: 0,
        out: String::with_capacity(pattern.len() + 16),
        differences: Vec::new(),
        dollars: Vec::new(),
        groups: vec![Group::default()],
        names: Vec::new(),
    };
    parser.run().map_err(|(code, expression)| format!("error parsing regexp: {code}: `{expression}`"))?;
    let tail = |at: usize| {
        // `)` closes groups; behind them the pattern or the alternative must end.
        let rest = pattern[at + 1..].trim_start_matches(')');
        rest.is_empty() || (rest.starts_with('|') && rest.len() == pattern.len() - at - 1)
    };
    let dollars =
        parser.dollars.iter().map(|&(at, top)| (at, tail(at) && (top || !pattern[at..].contains('|')))).collect();
    Ok(Re2 { rust: parser.out, differences: parser.differences, dollars })
}

type Fault<'a> = (&'static str, &'a str);

#[derive(Clone, Copy, Default)]
struct Group {
    multi_line: bool,
    /// Product of counted repetitions that enclose or are this group's content.
    repeat: usize,
}

struct Parser<'a> {
    pattern: &'a str,
    at: usize,
    out: String,
    differences: Vec<&'static str>,
    dollars: Vec<(usize, bool)>,
    groups: Vec<Group>,
    names: Vec<&'a str>,
}

impl<'a> Parser<'a> {
    fn rest(&self) -> &'a str {
        &self.pattern[self.at..]
    }

    fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    fn run(&mut self) -> Result<(), Fault<'a>> {
        // What a repetition could repeat: nothing, an atom, or a repetition that began here.
        let mut atom = false;
        let mut last_repeat: Option<usize> = None;
        while let Some(c) = self.peek() {
            let start = self.at;
            let mut repeat_here = None;
            match c {
                '(' => {
                    if self.rest().starts_with("(?") {
                        atom = self.perl_group()?;
                    } else {
                        self.at += 1;
                        self.open("(");
                        atom = false;
                    }
                    last_repeat = None;
                    if self.pattern[..self.at].ends_with([':', '(', '>']) {
                        atom = false;
                    }
                    continue;
                }
                ')' => {
                    if self.groups.len() == 1 {
                        return Err(("unexpected )", self.pattern));
                    }
                    let inner = self.groups.pop().unwrap_or_default();
                    if let Some(outer) = self.groups.last_mut() {
                        outer.repeat = outer.repeat.max(inner.repeat);
                    }
                    self.copy(c);
                    atom = true;
                }
                '|' => {
                    self.copy(c);
                    atom = false;
                }
                '^' => {
                    self.copy(c);
                    atom = true;
                }
                '$' => {
                    if !self.groups.last().is_some_and(|group| group.multi_line) {
                        self.dollars.push((self.at, self.groups.len() == 1));
                    }
                    self.copy(c);
                    atom = true;
                }
                '.' => {
                    self.copy(c);
                    atom = true;
                }
                '[' => {
                    self.class()?;
                    atom = true;
                }
                '*' | '+' | '?' => {
                    self.copy(c);
                    if self.peek() == Some('?') {
                        self.copy('?');
                    }
                    self.repeated(start, atom, last_repeat)?;
                    repeat_here = Some(start);
                }
                '{' => match self.counts() {
                    Some((len, min, max)) => {
                        if min > MAX_REPEAT || max.is_some_and(|max| max > MAX_REPEAT || min > max) {
                            return Err(("invalid repeat count", &self.rest()[..len]));
                        }
                        let text = &self.rest()[..len];
                        self.out.push_str(text);
                        self.at += len;
                        if self.peek() == Some('?') {
                            self.copy('?');
                        }
                        self.repeated(start, atom, last_repeat)?;
                        self.multiply(max.unwrap_or(min), start)?;
                        repeat_here = Some(start);
                    }
                    None => {
                        self.out.push_str("\\{");
                        self.at += 1;
                        atom = true;
                    }
                },
                '\\' => {
                    self.escape()?;
                    atom = true;
                }
                c => {
                    self.literal(c);
                    self.at += c.len_utf8();
                    atom = true;
                }
            }
            last_repeat = repeat_here;
        }
        if self.groups.len() > 1 {
            return Err(("missing closing )", self.pattern));
        }
        Ok(())
    }

    fn copy(&mut self, c: char) {
        self.out.push(c);
        self.at += c.len_utf8();
    }

    fn literal(&mut self, c: char) {
        if c.is_ascii_alphanumeric() || c == '_' || c == ' ' || !c.is_ascii() {
            self.out.push(c);
        } else {
            let _ = write!(self.out, "\\x{{{:x}}}", c as u32);
        }
    }

    fn open(&mut self, text: &str) {
        self.out.push_str(text);
        let mut group = *self.groups.last().unwrap_or(&Group::default());
        group.repeat = 0;
        self.groups.push(group);
    }

    fn repeated(&self, start: usize, atom: bool, last: Option<usize>) -> Result<(), Fault<'a>> {
        if let Some(last) = last {
            return Err(("invalid nested repetition operator", &self.pattern[last..self.at]));
        }
        if !atom {
            return Err(("missing argument to repetition operator", &self.pattern[start..self.at]));
        }
        Ok(())
    }

    fn multiply(&mut self, times: usize, start: usize) -> Result<(), Fault<'a>> {
        let closes_group = self.pattern[..start].ends_with(')');
        let group = self.groups.last_mut().expect("the pattern itself is the outermost group");
        let inner = if closes_group { group.repeat.max(1) } else { 1 };
        let product = inner.saturating_mul(times.max(1));
        if product > MAX_REPEAT {
            return Err(("invalid repeat count", &self.pattern[start..self.at]));
        }
        group.repeat = group.repeat.max(product);
        Ok(())
    }

    /// `{n}`, `{n,}`, `{n,m}`: its length and bounds.
    fn counts(&self) -> Option<(usize, usize, Option<usize>)> {
        let inside = &self.rest()[1..self.rest().find('}')?];
        let number = |text: &str| {
            let plain = !text.is_empty() && text.len() < 9 && text.bytes().all(|byte| byte.is_ascii_digit());
            let plain = plain && (text == "0" || !text.starts_with('0'));
            plain.then(|| text.parse::<usize>().unwrap_or(usize::MAX))
        };
        let (min, max) = match inside.split_once(',') {
            None => (number(inside)?, Some(number(inside)?)),
            Some((min, "")) => (number(min)?, None),
            Some((min, max)) => (number(min)?, Some(number(max)?)),
        };
        Some((inside.len() + 2, min, max))
    }

    /// `(?P<name>`, `(?<name>`, `(?flags)`, `(?flags:`. Whether what stands before can still be repeated: never.
    fn perl_group(&mut self) -> Result<bool, Fault<'a>> {
        let rest = self.rest();
        if let Some(after) = rest.strip_prefix("(?P<").or_else(|| rest.strip_prefix("(?<")) {
            let prefix = rest.len() - after.len();
            let Some(end) = after.find('>') else { return Err(("invalid named capture", rest)) };
            let name = &after[..end];
            let whole = &rest[..prefix + end + 1];
            if name.is_empty() || !name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_') {
                return Err(("invalid named capture", whole));
            }
            if self.names.contains(&name) {
                return Err(("duplicate capture group name", name));
            }
            self.names.push(name);
            self.at += whole.len();
            self.open("(");
            return Ok(false);
        }
        let mut multi_line = self.groups.last().is_some_and(|group| group.multi_line);
        let (mut negative, mut saw_flag) = (false, false);
        // The last mention of a flag counts; the `regex` crate refuses a second one.
        let mut flags: Vec<(char, bool)> = Vec::new();
        for (at, c) in rest.char_indices().skip(2) {
            match c {
                'i' | 's' | 'U' | 'm' => {
                    saw_flag = true;
                    flags.retain(|(flag, _)| *flag != c);
                    flags.push((c, !negative));
                    if c == 'm' {
                        multi_line = !negative;
                    }
                    continue;
                }
                '-' if !negative => {
                    negative = true;
                    saw_flag = false;
                    continue;
                }
                ':' | ')' if !negative || saw_flag => {
                    self.at += at + 1;
                    let some = |wanted: bool| flags.iter().filter(move |flag| flag.1 == wanted).map(|flag| flag.0);
                    let mut text: String = "(?".chars().chain(some(true)).collect();
                    if some(false).next().is_some() {
                        text.push('-');
                        text.extend(some(false));
                    }
                    text.push(c);
                    if c == ':' {
                        self.open(&text);
                    } else if text != "(?)" {
                        self.out.push_str(&text);
                    }
                    if let Some(group) = self.groups.last_mut() {
                        group.multi_line = multi_line;
                    }
                    return Ok(false);
                }
                _ => return Err(("invalid or unsupported Perl syntax", &rest[..at + c.len_utf8()])),
            }
        }
        Err(("missing closing )", self.pattern))
    }

    fn escape(&mut self) -> Result<(), Fault<'a>> {
        let rest = self.rest();
        let Some(c) = rest[1..].chars().next() else {
            return Err(("trailing backslash at end of expression", ""));
        };
        let text = match c {
            'A' | 'z' => {
                self.at += 2;
                self.out.push_str(&rest[..2]);
                return Ok(());
            }
            'b' | 'B' => {
                self.at += 2;
                let _ = write!(self.out, "(?-u:\\{c})");
                return Ok(());
            }
            'Q' => {
                let quoted = &rest[2..];
                let end = quoted.find("\\E").unwrap_or(quoted.len());
                quoted[..end].chars().for_each(|c| self.literal(c));
                self.at += (2 + end + 2).min(rest.len());
                return Ok(());
            }
            'd' => "[0-9]",
            'D' => "[^0-9]",
            's' => "[\\t\\n\\f\\r ]",
            'S' => "[^\\t\\n\\f\\r ]",
            'w' => "[0-9A-Za-z_]",
            'W' => "[^0-9A-Za-z_]",
            'p' | 'P' => {
                let len = self.unicode_class()?;
                self.out.push_str(&unicode(&rest[..len]).unwrap_or_default());
                self.at += len;
                return Ok(());
            }
            _ => {
                let c = self.escaped_char()?;
                self.literal(c);
                return Ok(());
            }
        };
        self.out.push_str(text);
        self.at += 2;
        Ok(())
    }

    /// The length of `\pN` or `\p{Name}`, whose name must be known.
    fn unicode_class(&self) -> Result<usize, Fault<'a>> {
        let rest = self.rest();
        let len = match rest[2..].chars().next() {
            Some('{') => match rest.find('}') {
                Some(end) => end + 1,
                None => return Err(("invalid character class range", rest)),
            },
            Some(c) => 2 + c.len_utf8(),
            None => return Err(("invalid character class range", rest)),
        };
        let text = &rest[..len];
        let name = text[2..].trim_matches(['{', '}', '^']);
        if !name.bytes().all(|byte| byte.is_ascii_alphabetic() || byte == b'_') || unicode(text).is_none() {
            return Err(("invalid character class range", text));
        }
        Ok(len)
    }

    /// The character that a backslash makes.
    fn escaped_char(&mut self) -> Result<char, Fault<'a>> {
        let rest = self.rest();
        let mut chars = rest[1..].chars();
        let c = chars.next().unwrap_or_default();
        let invalid = |len: usize| Err(("invalid escape sequence", &rest[..len.min(rest.len())]));
        let (code, len) = match c {
            '0'..='7' => {
                let digits = rest[1..].bytes().take(3).take_while(|byte| (b'0'..=b'7').contains(byte)).count();
                if c != '0' && digits == 1 {
                    return invalid(2);
                }
                (u32::from_str_radix(&rest[1..1 + digits], 8).unwrap_or(0), 1 + digits)
            }
            'x' => {
                if let Some(hex) = rest[2..].strip_prefix('{') {
                    let end = hex.find('}').unwrap_or(hex.len());
                    match u32::from_str_radix(&hex[..end], 16) {
                        Ok(code) if end < hex.len() && code <= 0x10ffff => (code, 3 + end + 1),
                        _ => return invalid(3 + end + 1),
                    }
                } else {
                    let hex: String = rest[2..].chars().take(2).collect();
                    match u32::from_str_radix(&hex, 16) {
                        Ok(code) if hex.len() == 2 => (code, 4),
                        _ => return invalid(2 + hex.len()),
                    }
                }
            }
            'a' => (7, 2),
            'f' => (12, 2),
            'n' => (10, 2),
            'r' => (13, 2),
            't' => (9, 2),
            'v' => {
                self.differences.push("`\\v` is one character here and any vertical space in PCRE");
                (11, 2)
            }
            c if c.is_ascii() && !c.is_ascii_alphanumeric() => (c as u32, 2),
            c => return invalid(1 + c.len_utf8()),
        };
        self.at += len;
        Ok(char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER))
    }

    fn class(&mut self) -> Result<(), Fault<'a>> {
        let whole = self.rest();
        self.copy('[');
        if self.peek() == Some('^') {
            self.copy('^');
        }
        let mut first = true;
        loop {
            let rest = self.rest();
            let Some(c) = self.peek() else { return Err(("missing closing ]", whole)) };
            if c == ']' && !first {
                self.copy(']');
                return Ok(());
            }
            first = false;
            if let Some((name, _)) = rest.strip_prefix("[:").and_then(|rest| rest.split_once(":]")) {
                let len = name.len() + 4;
                let text = &rest[..len];
                let name = name.strip_prefix('^').unwrap_or(name);
                if !POSIX.contains(&name) {
                    return Err(("invalid character class range", text));
                }
                self.out.push_str(text);
                self.at += len;
                continue;
            }
            if c == '\\' {
                let next = rest[1..].chars().next();
                if matches!(next, Some('d' | 'D' | 's' | 'S' | 'w' | 'W' | 'p' | 'P')) {
                    self.escape()?;
                    continue;
                }
            }
            let low = self.class_char(whole)?;
            let mut high = low;
            if self.rest().starts_with('-') && !self.rest().starts_with("-]") && self.rest().len() > 1 {
                self.at += 1;
                high = self.class_char(whole)?;
                if high < low {
                    return Err(("invalid character class range", &rest[..rest.len() - self.rest().len()]));
                }
            }
            let _ = write!(self.out, "\\x{{{:x}}}-\\x{{{:x}}}", low as u32, high as u32);
        }
    }

    fn class_char(&mut self, whole: &'a str) -> Result<char, Fault<'a>> {
        match self.peek() {
            None => Err(("missing closing ]", whole)),
            Some('\\') if self.rest().len() == 1 => Err(("trailing backslash at end of expression", "")),
            Some('\\') => self.escaped_char(),
            Some(c) => {
                self.at += c.len_utf8();
                Ok(c)
            }
        }
    }
}

/// `\pN`, `\p{Name}` or `\p{^Name}` for the `regex` crate, if it knows the name.
fn unicode(text: &str) -> Option<String> {
    let translated = match text[2..].strip_prefix("{^") {
        Some(rest) => format!("\\{}{{{rest}", if text.starts_with("\\p") { 'P' } else { 'p' }),
        None => text.to_owned(),
    };
    regex::Regex::new(&translated).is_ok().then_some(translated)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(pattern: &str) -> String {
        check(pattern).map_or_else(|error| error, |re| re.rust)
    }

    #[test]
    fn errors_are_those_of_go() {
        for (pattern, expect) in [
            ("(", "missing closing ): `(`"),
            ("a)", "unexpected ): `a)`"),
            ("(q)\\1", "invalid escape sequence: `\\1`"),
            ("(?>q)35", "invalid or unsupported Perl syntax: `(?>`"),
            ("(?=q)", "invalid or unsupported Perl syntax: `(?=`"),
            ("q35\\Z", "invalid escape sequence: `\\Z`"),
            ("*", "missing argument to repetition operator: `*`"),
            ("a|*", "missing argument to repetition operator: `*`"),
            ("a**", "invalid nested repetition operator: `**`"),
            ("a++", "invalid nested repetition operator: `++`"),
            ("[a", "missing closing ]: `[a`"),
            ("[z-a]", "invalid character class range: `z-a`"),
            ("\\p{Foo}", "invalid character class range: `\\p{Foo}`"),
            ("[[:foo:]]", "invalid character class range: `[:foo:]`"),
            ("a{1001}", "invalid repeat count: `{1001}`"),
            ("a\\", "trailing backslash at end of expression: ``"),
            ("(?P<a-b>x)", "invalid named capture: `(?P<a-b>`"),
        ] {
            assert_eq!(shown(pattern), format!("error parsing regexp: {expect}"), "{pattern}");
        }
    }

    #[test]
    fn translations_mean_the_same() {
        for (pattern, text, expect) in [
            ("^\\d+$", "٣", false),
            ("^[[:alpha:]&&x]+$", "a&x", true),
            ("\\Qa.b\\E", "a.b", true),
            ("a{,2}", "a{,2}", true),
            ("^[\\w-]+$", "a-b", true),
            ("^[]a]$", "]", true),
            ("(?i)^Q35$", "q35", true),
            ("(?mi)^virtio|scsi$", "VIRTIO-foo", true),
            ("^q35$", "q35\n", false),
            ("(?:a|b)*?c", "abac", true),
            ("^\\x{e9}\\x41$", "éA", true),
            ("(?ii-im:q)", "Q", false),
            ("^\\p{^Greek}$", "a", true),
            ("^[[:^alpha:]]$", "1", true),
        ] {
            let re = check(pattern).unwrap();
            assert_eq!(regex::Regex::new(&re.rust).unwrap().is_match(text), expect, "{pattern} {}", re.rust);
        }
    }

    #[test]
    fn never_panics() {
        for pattern in [
            "(?",
            ".[sks5[:]ks[5:].e",
            "[[:]",
            "[[::]]",
            "(?i",
            "(?P<",
            "[",
            "[^",
            "[[:",
            "[a-",
            "\\x",
            "\\x{",
            "\\p",
            "{",
            "{1",
            "é{2}",
            "(?-)",
            "\\Q",
            "[\\",
            "(?i-)",
        ] {
            let _ = check(pattern);
        }
    }
}
