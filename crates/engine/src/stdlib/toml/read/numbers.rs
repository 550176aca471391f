//! Numbers, dates, and the words that are values.

use ytterby_text::quote::quote;

use super::Result;
use super::scan::Scanner;
use super::tables::Entry;

impl Scanner<'_> {
    /// A number or a date that begins at `start` with `first`, which was taken.
    pub fn number(&mut self, first: char, start: usize) -> Result<Entry> {
        if matches!(first, '+' | '-') {
            return self.signed(start);
        }
        if first == '0' {
            let base = match self.peek()? {
                Some('b') => Some((2, "a binary")),
                Some('o') => Some((8, "an octal")),
                Some('x') => Some((16, "a hexidecimal")),
                _ => None,
            };
            if let Some((base, name)) = base {
                self.skip();
                let next = self.peek()?;
                if !next.is_some_and(|c| c.is_digit(base)) {
                    let shown = format!("{}{}", self.since(start), next.unwrap_or('\0'));
                    return Err(self.problem(&format!("not {name} number: '{shown}'")));
                }
                self.while_is(|c| c.is_digit(base) || c == '_')?;
                return self.integer(start, base);
            }
        }
        self.while_is(|c| c.is_ascii_digit())?;
        // What begins with a single zero is no date.
        let is_zero = self.since(start) == "0";
        match self.peek()? {
            Some('-' | ':') if !is_zero => {
                self.while_is(|c| c.is_ascii_digit() || "-:Tt .Zz+".contains(c))?;
                self.date(start)
            }
            _ => self.decimal(start),
        }
    }

    fn signed(&mut self, start: usize) -> Result<Entry> {
        let first = self.next()?;
        match first {
            Some(c @ ('i' | 'n')) => {
                let rest = if c == 'i' { ['n', 'f'] } else { ['a', 'n'] };
                for wanted in rest {
                    if !self.accept(wanted)? {
                        return Err(self.problem(&format!("invalid float: '{}'", self.since(start))));
                    }
                }
                self.float(start)
            }
            Some('.') => Err(self.problem("floats must start with a digit, not '.'")),
            Some('0') if matches!(self.peek()?, Some('b' | 'o' | 'x')) => {
                let base = self.peek()?.unwrap_or_default();
                let shown = format!("{}{base}", self.since(start));
                Err(self.problem(&format!("cannot use sign with non-decimal numbers: '{shown}'")))
            }
            Some('0'..='9') => self.decimal(start),
            found => Err(self.unexpected(found, |found| format!("expected a digit but got {found}"))),
        }
    }

    /// The rest of a number whose first digits were taken.
    fn decimal(&mut self, start: usize) -> Result<Entry> {
        self.while_is(|c| c.is_ascii_digit() || c == '_')?;
        if !matches!(self.peek()?, Some('.' | 'e' | 'E')) {
            return self.integer(start, 10);
        }
        self.while_is(|c| c.is_ascii_digit() || "_.-+eE".contains(c))?;
        self.float(start)
    }

    fn integer(&self, start: usize, base: u32) -> Result<Entry> {
        let text = self.since(start);
        let invalid = |why: &str| self.problem(&format!("Invalid integer {}: {why}", quote(text.as_bytes())));
        if !has_good_underscores(text) {
            return Err(invalid("underscores must be surrounded by digits"));
        }
        if has_leading_zero(text) {
            return Err(invalid("cannot have leading zeroes"));
        }
        let digits = text.replace('_', "");
        let digits = if base == 10 { &digits[..] } else { &digits[2..] };
        let value = i64::from_str_radix(digits, base);
        value.map(Entry::Int).map_err(|_| self.problem(&format!("{text} is out of range for int64")))
    }

    fn float(&self, start: usize) -> Result<Entry> {
        let text = self.since(start);
        let shown = quote(text.as_bytes());
        let invalid = |why: &str| self.problem(&format!("Invalid float {shown}: {why}"));
        let mut parts = text.split(['.', 'e', 'E']).filter(|part| !part.is_empty()).peekable();
        let first = parts.peek().copied().unwrap_or_default();
        if !parts.all(has_good_underscores) {
            return Err(invalid("underscores must be surrounded by digits"));
        }
        if has_leading_zero(first) {
            return Err(invalid("cannot have leading zeroes"));
        }
        let behind_periods = text.match_indices('.').map(|(at, _)| text.as_bytes().get(at + 1));
        if behind_periods.into_iter().any(|next| !next.is_some_and(u8::is_ascii_digit)) {
            return Err(invalid("'.' must be followed by one or more digits"));
        }
        let value = text.replace('_', "").parse::<f64>();
        let value = value.map_err(|_| self.problem(&format!("Invalid float value: {shown}")))?;
        if value.is_infinite() && !text.ends_with("inf") {
            return Err(self.problem(&format!("{text} is out of range for float64")));
        }
        Ok(Entry::Float(value))
    }

    fn date(&self, start: usize) -> Result<Entry> {
        let text = self.since(start).trim().replace(['t', ' '], "T").replace('z', "Z");
        match is_date_time(&text) {
            true => Ok(Entry::Str(text)),
            false => Err(self.problem(&format!("Invalid TOML Datetime: {}.", quote(text.as_bytes())))),
        }
    }

    /// `true`, `false`, `inf`, `nan`, or no value.
    pub fn word(&mut self, first: char, start: usize) -> Result<Entry> {
        let mut from = start;
        if matches!(first, 'i' | 'n') {
            // The reference takes letters one by one, and shows only what it has not taken.
            for pair in [['n', 'f'], ['a', 'n']] {
                let before = self.mark();
                if self.accept(pair[0])? {
                    if self.accept(pair[1])? {
                        return self.float(start);
                    }
                    from = before;
                }
            }
        }
        self.while_is(char::is_alphabetic)?;
        match (self.since(from), from == start) {
            ("true", true) => Ok(Entry::Bool(true)),
            ("false", true) => Ok(Entry::Bool(false)),
            (text, _) => Err(self.problem(&format!("expected value but found {} instead", quote(text.as_bytes())))),
        }
    }
}

/// Whether each underscore stands between digits.
fn has_good_underscores(text: &str) -> bool {
    if matches!(text.trim_start_matches(['+', '-']), "nan" | "inf") {
        return true;
    }
    let mut may_come = false;
    for c in text.chars() {
        if c == '_' && !may_come {
            return false;
        }
        may_come = c.is_ascii_hexdigit();
    }
    may_come
}

fn has_leading_zero(text: &str) -> bool {
    match text.as_bytes() {
        [b'0', second, ..] => !b"box".contains(second),
        [b'-' | b'+', b'0', _, ..] => true,
        _ => false,
    }
}

/// Whether it is a date, a time, or both, with or without an offset.
fn is_date_time(text: &str) -> bool {
    let (date, time) = match text.split_once('T') {
        Some((date, time)) => (Some(date), Some(time)),
        None if text.contains(':') => (None, Some(text)),
        None => (Some(text), None),
    };
    let has_date = date.is_some();
    date.is_none_or(is_date) && time.is_none_or(|time| is_time(time, has_date))
}

fn is_date(text: &str) -> bool {
    let [Some(year), Some(month), Some(day)] = pieces(text, '-', [4, 2, 2]) else { return false };
    let is_leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let days = match month {
        2 => 28 + u32::from(is_leap),
        4 | 6 | 9 | 11 => 30,
        1..=12 => 31,
        _ => 0,
    };
    (1..=days).contains(&day)
}

fn is_time(text: &str, may_have_offset: bool) -> bool {
    let (text, offset) = match text.find(['Z', '+', '-']) {
        Some(at) if may_have_offset => text.split_at(at),
        Some(_) => return false,
        None => (text, ""),
    };
    let is_offset = match offset {
        "" | "Z" => true,
        offset => match pieces(&format!("{}:00", &offset[1..]), ':', [2, 2, 2]) {
            [Some(hours), Some(minutes), _] => hours <= 24 && minutes < 60 && !offset.starts_with('Z'),
            _ => false,
        },
    };
    let (whole, fraction) = text.split_once('.').map_or((text, "0"), |(whole, fraction)| (whole, fraction));
    let is_fraction = !fraction.is_empty() && fraction.bytes().all(|byte| byte.is_ascii_digit());
    let [Some(hour), Some(minute), Some(second)] = pieces(whole, ':', [2, 2, 2]) else { return false };
    is_offset && is_fraction && hour < 24 && minute < 60 && second < 60
}

/// Three numbers of so many digits.
fn pieces(text: &str, between: char, digits: [usize; 3]) -> [Option<u32>; 3] {
    let mut pieces = text.split(between);
    let mut numbers = digits.map(|len| {
        let piece = pieces.next()?;
        let is_number = piece.len() == len && piece.bytes().all(|byte| byte.is_ascii_digit());
        is_number.then(|| piece.parse().ok())?
    });
    if pieces.next().is_some() {
        numbers[2] = None;
    }
    numbers
}
