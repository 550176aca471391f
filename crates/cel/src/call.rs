//! What functions do.

use std::cmp::Ordering;
use std::net::IpAddr;
use std::rc::Rc;

use ytterby_regexp::Regexp;
use ytterby_text::{gofloat, url};

use crate::cost;
use crate::eval::{EvalError, Result, fail, is_known};
use crate::functions::Fun;
use crate::quantity::Quantity;
use crate::time::{self, Date};
use crate::value::Val;

/// Longer texts and lists are not built.
const MAX_SIZE: usize = 10_000_000;

/// A format that has a name.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum NamedFormat {
    /// A DNS label.
    Label,
    /// A DNS subdomain.
    Subdomain,
    /// A DNS label that begins with a letter.
    Label1035,
    /// `[subdomain/]name`.
    QualifiedName,
    /// The beginning of a DNS label.
    LabelPrefix,
    /// The beginning of a DNS subdomain.
    SubdomainPrefix,
    /// The beginning of a DNS label that begins with a letter.
    Label1035Prefix,
    /// The value of a label.
    LabelValue,
    /// A URI.
    Uri,
    /// A UUID.
    Uuid,
    /// Base64.
    Byte,
    /// A date.
    Date,
    /// A time.
    Datetime,
}

/// A version: numbers, parts of a pre-release.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SemverValue {
    numbers: [u64; 3],
    pre: Vec<String>,
}

impl SemverValue {
    /// The order of versions; builds do not count.
    pub(crate) fn compare(&self, other: &SemverValue) -> Ordering {
        let by_pre = || match (self.pre.is_empty(), other.pre.is_empty()) {
            (true, true) => Ordering::Equal,
            (true, false) => Ordering::Greater,
            (false, true) => Ordering::Less,
            (false, false) => {
                for (a, b) in self.pre.iter().zip(&other.pre) {
                    let order = match (a.parse::<u64>(), b.parse::<u64>()) {
                        (Ok(a), Ok(b)) => a.cmp(&b),
                        (Ok(_), Err(_)) => Ordering::Less,
                        (Err(_), Ok(_)) => Ordering::Greater,
                        (Err(_), Err(_)) => a.cmp(b),
                    };
                    if order != Ordering::Equal {
                        return order;
                    }
                }
                self.pre.len().cmp(&other.pre.len())
            }
        };
        self.numbers.cmp(&other.numbers).then_with(by_pre)
    }

    fn parse(text: &str, normalize: bool) -> Option<SemverValue> {
        let mut text = text.to_owned();
        if normalize {
            text = text.trim_start_matches('v').to_owned();
            let end = text.find(['-', '+']).unwrap_or(text.len());
            let (core, rest) = text.split_at(end);
            let mut parts: Vec<String> = core
                .split('.')
                .map(|part| if part.len() > 1 { part.trim_start_matches('0').to_owned() } else { part.to_owned() })
                .map(|part| if part.is_empty() { "0".to_owned() } else { part })
                .collect();
            while parts.len() < 3 {
                parts.push("0".to_owned());
            }
            text = format!("{}{rest}", parts.join("."));
        }
        let (text, build) = text.split_once('+').map_or((&*text, None), |(text, build)| (text, Some(build)));
        let (core, pre) = text.split_once('-').map_or((text, None), |(core, pre)| (core, Some(pre)));
        let is_part =
            |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
        let is_number = |part: &str| {
            !part.is_empty()
                && part.bytes().all(|byte| byte.is_ascii_digit())
                && (part.len() == 1 || !part.starts_with('0'))
        };
        let numbers: Vec<u64> =
            core.split('.').map(|part| part.parse().ok().filter(|_| is_number(part))).collect::<Option<_>>()?;
        let pre: Vec<String> = pre.map(|pre| pre.split('.').map(str::to_owned).collect()).unwrap_or_default();
        let is_numeric = |part: &String| part.bytes().all(|byte| byte.is_ascii_digit());
        let is_good = pre.iter().all(|part| is_part(part) && (!is_numeric(part) || is_number(part)))
            && build.is_none_or(|build| build.split('.').all(is_part));
        let numbers: [u64; 3] = numbers.try_into().ok()?;
        is_good.then_some(SemverValue { numbers, pre })
    }
}

/// What a call costs with these arguments.
pub(crate) fn cost(fun: Fun, args: &[Val]) -> u64 {
    // Comparing looks at everything below.
    let size = |at: usize| match (fun, args.get(at)) {
        (Fun::Equal | Fun::NotEqual | Fun::In, Some(value)) => value.deep_size(),
        (_, value) => value.map_or(1, Val::size),
    };
    cost::of_call(fun, size(0), size(1))
}

fn overload<T>(fun: Fun, args: &[Val]) -> Result<T> {
    let types: Vec<&str> = args.iter().map(Val::type_name).collect();
    fail(format!("no such overload: {} of {}", crate::functions::shown(fun), types.join(" and ")))
}

fn overflow<T>() -> Result<T> {
    fail("integer overflow")
}

fn text(value: impl AsRef<str>) -> Val {
    Val::from(value.as_ref())
}

fn int(value: Option<i64>) -> Result<Val> {
    value.map_or_else(overflow, |value| Ok(Val::Int(value)))
}

fn uint(value: Option<u64>) -> Result<Val> {
    value.map_or_else(overflow, |value| Ok(Val::Uint(value)))
}

fn optional(value: Option<Val>) -> Val {
    Val::Optional(value.map(Rc::new))
}

pub(crate) fn call(fun: Fun, args: &[Val]) -> Result<Val> {
    if !is_known(fun) {
        return Err(EvalError::Unknown);
    }
    match fun {
        Fun::Not | Fun::Negate => unary(fun, args),
        Fun::Add | Fun::Subtract | Fun::Multiply | Fun::Divide | Fun::Remainder => arithmetic(fun, args),
        Fun::Equal => Ok(Val::Bool(args[0].equals(&args[1]))),
        Fun::NotEqual => Ok(Val::Bool(!args[0].equals(&args[1]))),
        Fun::Less | Fun::LessEqual | Fun::Greater | Fun::GreaterEqual => {
            let is_nan = |value: &Val| matches!(value, Val::Double(value) if value.is_nan());
            if args.iter().any(is_nan) {
                return Ok(Val::Bool(false));
            }
            let Some(order) = args[0].compare(&args[1]) else { return overload(fun, args) };
            Ok(Val::Bool(match fun {
                Fun::Less => order.is_lt(),
                Fun::LessEqual => order.is_le(),
                Fun::Greater => order.is_gt(),
                _ => order.is_ge(),
            }))
        }
        Fun::In => match &args[1] {
            Val::List(list) => Ok(Val::Bool(list.items.iter().any(|item| item.equals(&args[0])))),
            Val::Map(map) => Ok(Val::Bool(map.get(&args[0]).is_some())),
            _ => overload(fun, args),
        },
        Fun::Size => match &args[0] {
            Val::Str(text) => Ok(Val::Int(text.chars().count() as i64)),
            Val::Bytes(_) | Val::List(_) | Val::Map(_) => Ok(Val::Int(args[0].size() as i64)),
            _ => overload(fun, args),
        },
        Fun::Int | Fun::Uint | Fun::Double | Fun::String | Fun::Bytes | Fun::Bool | Fun::Timestamp | Fun::Duration => {
            convert(fun, args)
        }
        Fun::TypeOf => Ok(Val::Type(args[0].type_name())),
        Fun::Dyn => Ok(args[0].clone()),
        Fun::FullYear
        | Fun::Month
        | Fun::Date
        | Fun::DayOfMonth
        | Fun::DayOfWeek
        | Fun::DayOfYear
        | Fun::Hours
        | Fun::Minutes
        | Fun::Seconds
        | Fun::Milliseconds => part_of_time(fun, args),
        Fun::Contains
        | Fun::StartsWith
        | Fun::EndsWith
        | Fun::CharAt
        | Fun::LowerAscii
        | Fun::UpperAscii
        | Fun::Replace
        | Fun::Split
        | Fun::Substring
        | Fun::Trim
        | Fun::Quote
        | Fun::Format => strings(fun, args),
        Fun::IndexOf | Fun::LastIndexOf if matches!(args[0], Val::Str(_)) => strings(fun, args),
        Fun::Matches | Fun::Find | Fun::FindAll => {
            let Val::Str(pattern) = &args[1] else { return overload(fun, args) };
            let regexp = Regexp::shared(&ytterby_text::Str::from(&**pattern))
                .map_err(|_| EvalError::Failed("not a valid regular expression".to_owned()))?;
            regex(fun, &regexp, args)
        }
        Fun::IndexOf
        | Fun::LastIndexOf
        | Fun::IsSorted
        | Fun::Sum
        | Fun::Min
        | Fun::Max
        | Fun::Slice
        | Fun::Flatten
        | Fun::Sort
        | Fun::Distinct
        | Fun::Reverse
        | Fun::First
        | Fun::Last
        | Fun::Range
        | Fun::Join
        | Fun::SetsContains
        | Fun::SetsEquivalent
        | Fun::SetsIntersects => lists(fun, args),
        Fun::OptionalOf
        | Fun::OptionalOfNonZero
        | Fun::OptionalNone
        | Fun::HasValue
        | Fun::Value
        | Fun::Or
        | Fun::OrValue => optionals(fun, args),
        Fun::Url | Fun::IsUrl | Fun::Scheme | Fun::Host | Fun::Hostname | Fun::Port | Fun::EscapedPath | Fun::Query => {
            urls(fun, args)
        }
        Fun::Quantity
        | Fun::IsQuantity
        | Fun::IsInteger
        | Fun::AsInteger
        | Fun::AsFloat
        | Fun::Sign
        | Fun::QuantityAdd
        | Fun::QuantitySub
        | Fun::IsLessThan
        | Fun::IsGreaterThan
        | Fun::CompareTo => quantities(fun, args),
        Fun::Semver | Fun::IsSemver | Fun::Major | Fun::Minor | Fun::Patch => semvers(fun, args),
        Fun::NamedFormat | Fun::Validate => formats(fun, args),
        _ => match named_format(fun) {
            Some(format) => Ok(Val::Format(format)),
            None => addresses(fun, args),
        },
    }
}

pub(crate) fn regex(fun: Fun, regexp: &Regexp, args: &[Val]) -> Result<Val> {
    let Val::Str(subject) = &args[0] else { return overload(fun, args) };
    match fun {
        Fun::Matches => Ok(Val::Bool(regexp.is_match_in(subject))),
        Fun::Find => Ok(text(regexp.find_in(subject).unwrap_or_default())),
        _ => {
            let most = match args.get(2) {
                Some(Val::Int(most)) if *most >= 0 => *most as usize,
                Some(Val::Int(_)) | None => usize::MAX,
                _ => return overload(fun, args),
            };
            Ok(Val::list(regexp.find_all_in(subject).take(most).map(text).collect()))
        }
    }
}

fn unary(fun: Fun, args: &[Val]) -> Result<Val> {
    match (fun, &args[0]) {
        (Fun::Not, Val::Bool(value)) => Ok(Val::Bool(!value)),
        (Fun::Negate, Val::Int(value)) => int(value.checked_neg()),
        (Fun::Negate, Val::Double(value)) => Ok(Val::Double(-value)),
        _ => overload(fun, args),
    }
}

fn arithmetic(fun: Fun, args: &[Val]) -> Result<Val> {
    match (&args[0], &args[1]) {
        (Val::Int(a), Val::Int(b)) => match fun {
            Fun::Add => int(a.checked_add(*b)),
            Fun::Subtract => int(a.checked_sub(*b)),
            Fun::Multiply => int(a.checked_mul(*b)),
            Fun::Divide if *b == 0 => fail("division by zero"),
            Fun::Divide => int(a.checked_div(*b)),
            _ if *b == 0 => fail("modulus by zero"),
            _ => int(a.checked_rem(*b)),
        },
        (Val::Uint(a), Val::Uint(b)) => match fun {
            Fun::Add => uint(a.checked_add(*b)),
            Fun::Subtract => uint(a.checked_sub(*b)),
            Fun::Multiply => uint(a.checked_mul(*b)),
            Fun::Divide if *b == 0 => fail("division by zero"),
            Fun::Divide => uint(a.checked_div(*b)),
            _ if *b == 0 => fail("modulus by zero"),
            _ => uint(a.checked_rem(*b)),
        },
        (Val::Double(a), Val::Double(b)) => Ok(Val::Double(match fun {
            Fun::Add => a + b,
            Fun::Subtract => a - b,
            Fun::Multiply => a * b,
            Fun::Divide => a / b,
            _ => return overload(fun, args),
        })),
        (Val::Str(a), Val::Str(b)) if fun == Fun::Add => {
            if a.len() + b.len() > MAX_SIZE {
                return Err(EvalError::Cost);
            }
            Ok(text(format!("{a}{b}")))
        }
        (Val::Bytes(a), Val::Bytes(b)) if fun == Fun::Add => Ok(Val::Bytes([&a[..], &b[..]].concat().into())),
        (Val::List(a), Val::List(b)) if fun == Fun::Add => {
            if a.items.len() + b.items.len() > MAX_SIZE {
                return Err(EvalError::Cost);
            }
            Ok(Val::List(Rc::new(a.joined(b))))
        }
        (Val::Timestamp(s, n), Val::Duration(d)) | (Val::Duration(d), Val::Timestamp(s, n))
            if matches!(fun, Fun::Add | Fun::Subtract) =>
        {
            let delta = if fun == Fun::Add { i128::from(*d) } else { -i128::from(*d) };
            let total = i128::from(*s) * 1_000_000_000 + i128::from(*n) + delta;
            let seconds = i64::try_from(total.div_euclid(1_000_000_000));
            match seconds {
                Ok(seconds) => Ok(Val::Timestamp(seconds, total.rem_euclid(1_000_000_000) as u32)),
                Err(_) => overflow(),
            }
        }
        (Val::Timestamp(a, b), Val::Timestamp(c, d)) if fun == Fun::Subtract => {
            let nanos = |s: i64, n: u32| i128::from(s) * 1_000_000_000 + i128::from(n);
            i64::try_from(nanos(*a, *b) - nanos(*c, *d)).map_or_else(|_| overflow(), |value| Ok(Val::Duration(value)))
        }
        (Val::Duration(a), Val::Duration(b)) => match fun {
            Fun::Add => a.checked_add(*b).map_or_else(overflow, |value| Ok(Val::Duration(value))),
            Fun::Subtract => a.checked_sub(*b).map_or_else(overflow, |value| Ok(Val::Duration(value))),
            _ => overload(fun, args),
        },
        _ => overload(fun, args),
    }
}

fn convert(fun: Fun, args: &[Val]) -> Result<Val> {
    let value = &args[0];
    let bad = |what: &str| fail(format!("not {what}"));
    match (fun, value) {
        (Fun::Int, Val::Int(_))
        | (Fun::Uint, Val::Uint(_))
        | (Fun::Double, Val::Double(_))
        | (Fun::String, Val::Str(_))
        | (Fun::Bytes, Val::Bytes(_))
        | (Fun::Bool, Val::Bool(_))
        | (Fun::Timestamp, Val::Timestamp(..))
        | (Fun::Duration, Val::Duration(_)) => Ok(value.clone()),
        (Fun::Int, Val::Uint(value)) => int(i64::try_from(*value).ok()),
        (Fun::Int, Val::Double(value)) if *value > -9.3e18 && *value < 9.2e18 => Ok(Val::Int(*value as i64)),
        (Fun::Int, Val::Double(_)) => overflow(),
        (Fun::Int, Val::Str(text)) => match text.parse() {
            Ok(value) => Ok(Val::Int(value)),
            Err(_) => bad("an int"),
        },
        (Fun::Int, Val::Timestamp(seconds, _)) => Ok(Val::Int(*seconds)),
        (Fun::Uint, Val::Int(value)) => uint(u64::try_from(*value).ok()),
        (Fun::Uint, Val::Double(value)) if *value >= 0.0 && *value < 1.8e19 => Ok(Val::Uint(*value as u64)),
        (Fun::Uint, Val::Double(_)) => overflow(),
        (Fun::Uint, Val::Str(text)) => match text.parse() {
            Ok(value) => Ok(Val::Uint(value)),
            Err(_) => bad("a uint"),
        },
        (Fun::Double, Val::Int(value)) => Ok(Val::Double(*value as f64)),
        (Fun::Double, Val::Uint(value)) => Ok(Val::Double(*value as f64)),
        (Fun::Double, Val::Str(text)) => match text.parse() {
            Ok(value) => Ok(Val::Double(value)),
            Err(_) => bad("a double"),
        },
        (Fun::String, value) => match shown(value) {
            Some(shown) => Ok(text(shown)),
            None => overload(fun, args),
        },
        (Fun::Bytes, Val::Str(text)) => Ok(Val::Bytes(text.as_bytes().into())),
        (Fun::Bool, Val::Str(text)) => match &**text {
            "true" | "True" | "TRUE" | "t" | "T" | "1" => Ok(Val::Bool(true)),
            "false" | "False" | "FALSE" | "f" | "F" | "0" => Ok(Val::Bool(false)),
            _ => bad("a bool"),
        },
        (Fun::Timestamp, Val::Str(text)) => match time::timestamp(text) {
            Some((seconds, nanos)) => Ok(Val::Timestamp(seconds, nanos)),
            None => bad("a timestamp"),
        },
        (Fun::Timestamp, Val::Int(seconds)) => Ok(Val::Timestamp(*seconds, 0)),
        (Fun::Duration, Val::Str(text)) => match time::duration(text) {
            Some(value) => Ok(Val::Duration(value)),
            None => bad("a duration"),
        },
        (Fun::Duration, Val::Int(nanos)) => Ok(Val::Duration(*nanos)),
        _ => overload(fun, args),
    }
}

/// What `string()` makes of a value.
fn shown(value: &Val) -> Option<String> {
    Some(match value {
        Val::Bool(value) => value.to_string(),
        Val::Int(value) => value.to_string(),
        Val::Uint(value) => value.to_string(),
        Val::Double(value) => gofloat::format_g(*value),
        Val::Str(text) => text.to_string(),
        Val::Bytes(bytes) => String::from_utf8(bytes.to_vec()).ok()?,
        Val::Timestamp(seconds, nanos) => time::timestamp_text(*seconds, *nanos),
        Val::Duration(nanos) => time::duration_text(*nanos),
        Val::Ip(address) => address.to_string(),
        Val::Cidr(address, bits) => format!("{address}/{bits}"),
        Val::Type(name) => (*name).to_owned(),
        _ => return None,
    })
}

fn part_of_time(fun: Fun, args: &[Val]) -> Result<Val> {
    if let Val::Duration(nanos) = &args[0] {
        return Ok(Val::Int(match fun {
            Fun::Hours => nanos / 3_600_000_000_000,
            Fun::Minutes => nanos / 60_000_000_000,
            Fun::Seconds => nanos / 1_000_000_000,
            Fun::Milliseconds => nanos / 1_000_000 % 1000,
            _ => return overload(fun, args),
        }));
    }
    let Val::Timestamp(seconds, nanos) = &args[0] else { return overload(fun, args) };
    let offset = match args.get(1) {
        None => 0,
        // Zones with a name need a table that is not here.
        Some(Val::Str(zone)) => time::zone_offset(zone).ok_or(EvalError::Unknown)?,
        Some(_) => return overload(fun, args),
    };
    let date = Date::of(seconds + offset);
    Ok(Val::Int(match fun {
        Fun::FullYear => date.year,
        Fun::Month => date.month - 1,
        Fun::Date => date.day,
        Fun::DayOfMonth => date.day - 1,
        Fun::DayOfWeek => date.day_of_week,
        Fun::DayOfYear => date.day_of_year,
        Fun::Hours => date.hour,
        Fun::Minutes => date.minute,
        Fun::Seconds => date.second,
        _ => i64::from(*nanos / 1_000_000),
    }))
}

fn strings(fun: Fun, args: &[Val]) -> Result<Val> {
    let Val::Str(subject) = &args[0] else { return overload(fun, args) };
    let subject: &str = subject;
    let other = |at: usize| match args.get(at) {
        Some(Val::Str(text)) => Some(&**text),
        _ => None,
    };
    let number = |at: usize| match args.get(at) {
        Some(Val::Int(value)) => Some(*value),
        _ => None,
    };
    let out_of_range = || fail("index out of range");
    match (fun, other(1)) {
        (Fun::Contains, Some(part)) => Ok(Val::Bool(subject.contains(part))),
        (Fun::StartsWith, Some(part)) => Ok(Val::Bool(subject.starts_with(part))),
        (Fun::EndsWith, Some(part)) => Ok(Val::Bool(subject.ends_with(part))),
        (Fun::LowerAscii, _) => Ok(text(subject.to_ascii_lowercase())),
        (Fun::UpperAscii, _) => Ok(text(subject.to_ascii_uppercase())),
        (Fun::Trim, _) => Ok(text(subject.trim())),
        (Fun::Quote, _) => Ok(text(format!("{subject:?}"))),
        (Fun::Split, Some(separator)) => {
            let parts: Vec<Val> = match number(2) {
                Some(0) => Vec::new(),
                Some(most) if most > 0 => splits(subject, separator, most as usize),
                _ => splits(subject, separator, usize::MAX),
            };
            Ok(Val::list(parts))
        }
        (Fun::Replace, Some(from)) => {
            let Some(to) = other(2) else { return overload(fun, args) };
            let most = match number(3) {
                Some(most) if most >= 0 => most as usize,
                _ => usize::MAX,
            };
            let count = if from.is_empty() { subject.chars().count() + 1 } else { subject.matches(from).count() };
            if count.min(most).saturating_mul(to.len()) > MAX_SIZE {
                return Err(EvalError::Cost);
            }
            Ok(text(subject.replacen(from, to, most)))
        }
        (Fun::IndexOf | Fun::LastIndexOf, Some(part)) => {
            let chars: Vec<char> = subject.chars().collect();
            let part: Vec<char> = part.chars().collect();
            let from = match (fun, args.get(2)) {
                (_, Some(Val::Int(from))) if *from < 0 || *from as usize > chars.len() => return out_of_range(),
                (_, Some(Val::Int(from))) => *from as usize,
                (Fun::IndexOf, _) => 0,
                _ => chars.len(),
            };
            if part.is_empty() {
                return Ok(Val::Int(from as i64));
            }
            let last = chars.len().checked_sub(part.len());
            let is_at = |at: &usize| chars[*at..].starts_with(&part);
            let found = match (fun, last) {
                (_, None) => None,
                (Fun::IndexOf, Some(last)) => (from..=last).find(is_at),
                (_, Some(last)) => (0..=from.min(last)).rev().find(is_at),
            };
            Ok(Val::Int(found.map_or(-1, |at| at as i64)))
        }
        (Fun::CharAt, _) => {
            let Some(at) = number(1) else { return overload(fun, args) };
            let len = subject.chars().count();
            match usize::try_from(at) {
                Ok(at) if at <= len => Ok(text(subject.chars().nth(at).map(String::from).unwrap_or_default())),
                _ => out_of_range(),
            }
        }
        (Fun::Substring, _) => {
            let chars: Vec<char> = subject.chars().collect();
            let Some(start) = number(1) else { return overload(fun, args) };
            let end = number(2).unwrap_or(chars.len() as i64);
            if start < 0 || end < start || end as usize > chars.len() {
                return out_of_range();
            }
            Ok(text(chars[start as usize..end as usize].iter().collect::<String>()))
        }
        (Fun::Format, _) => {
            let Some(Val::List(values)) = args.get(1) else { return overload(fun, args) };
            format(subject, &values.items)
        }
        _ => overload(fun, args),
    }
}

fn splits(subject: &str, separator: &str, most: usize) -> Vec<Val> {
    if separator.is_empty() {
        // Go splits into characters.
        let mut parts: Vec<Val> = Vec::new();
        let mut rest = subject;
        while let Some(first) = rest.chars().next() {
            if parts.len() + 1 == most {
                parts.push(text(rest));
                return parts;
            }
            parts.push(text(&rest[..first.len_utf8()]));
            rest = &rest[first.len_utf8()..];
        }
        return parts;
    }
    subject.splitn(most, separator).map(text).collect()
}

/// `"%s is %d".format([…])`.
fn format(template: &str, values: &[Val]) -> Result<Val> {
    let mut out = String::new();
    let mut rest = template;
    let mut values = values.iter();
    while let Some(at) = rest.find('%') {
        out.push_str(&rest[..at]);
        rest = &rest[at + 1..];
        if let Some(tail) = rest.strip_prefix('%') {
            out.push('%');
            rest = tail;
            continue;
        }
        let mut precision = None;
        if let Some(tail) = rest.strip_prefix('.') {
            let digits = tail.bytes().take_while(u8::is_ascii_digit).count();
            precision = tail[..digits].parse::<usize>().ok().filter(|precision| *precision <= 1000);
            rest = &tail[digits..];
        }
        let Some(clause) = rest.chars().next() else { return fail("could not parse formatting clause") };
        rest = &rest[clause.len_utf8()..];
        let Some(value) = values.next() else { return fail("not enough values for the formatting clauses") };
        out.push_str(&clause_text(clause, precision, value)?);
        if out.len() > MAX_SIZE {
            return Err(EvalError::Cost);
        }
    }
    out.push_str(rest);
    Ok(text(out))
}

fn clause_text(clause: char, precision: Option<usize>, value: &Val) -> Result<String> {
    let wrong = || fail(format!("formatting clause %{clause} cannot be used on a {}", value.type_name()));
    Ok(match (clause, value) {
        ('s', value) => formatted(value, 0)?,
        ('d', Val::Int(value)) => value.to_string(),
        ('d', Val::Uint(value)) => value.to_string(),
        ('d', Val::Double(value)) if value.fract() == 0.0 => format!("{value:.0}"),
        ('f', Val::Double(value)) => format!("{value:.*}", precision.unwrap_or(6)),
        ('f', Val::Int(value)) => format!("{:.*}", precision.unwrap_or(6), *value as f64),
        ('e', Val::Double(value)) => gofloat::format_e(*value, precision.unwrap_or(6)),
        ('b', Val::Int(value)) if *value < 0 => format!("-{:b}", value.unsigned_abs()),
        ('b', Val::Int(value)) => format!("{value:b}"),
        ('b', Val::Uint(value)) => format!("{value:b}"),
        ('b', Val::Bool(value)) => u8::from(*value).to_string(),
        ('o', Val::Int(value)) => format!("{value:o}"),
        ('o', Val::Uint(value)) => format!("{value:o}"),
        ('x', Val::Int(value)) => format!("{value:x}"),
        ('x', Val::Uint(value)) => format!("{value:x}"),
        ('X', Val::Int(value)) => format!("{value:X}"),
        ('X', Val::Uint(value)) => format!("{value:X}"),
        ('x', Val::Str(text)) => text.bytes().map(|byte| format!("{byte:02x}")).collect(),
        ('x', Val::Bytes(bytes)) => bytes.iter().map(|byte| format!("{byte:02x}")).collect(),
        ('X', Val::Str(text)) => text.bytes().map(|byte| format!("{byte:02X}")).collect(),
        ('X', Val::Bytes(bytes)) => bytes.iter().map(|byte| format!("{byte:02X}")).collect(),
        ('d' | 'f' | 'e' | 'b' | 'o' | 'x' | 'X', _) => return wrong(),
        _ => return fail("unrecognized formatting clause"),
    })
}

fn formatted(value: &Val, depth: usize) -> Result<String> {
    if depth > 50 {
        return fail("the value is nested too deeply to be formatted");
    }
    Ok(match value {
        Val::Null => "null".to_owned(),
        Val::List(list) => {
            let items = list.items.iter().map(|item| formatted(item, depth + 1)).collect::<Result<Vec<_>>>()?;
            format!("[{}]", items.join(", "))
        }
        Val::Map(map) => {
            let mut entries = Vec::new();
            for (key, value) in map.entries() {
                entries.push(format!("{}: {}", formatted(key, depth + 1)?, formatted(value, depth + 1)?));
            }
            entries.sort();
            format!("{{{}}}", entries.join(", "))
        }
        other => match shown(other) {
            Some(shown) => shown,
            None => return fail(format!("a {} cannot be formatted", other.type_name())),
        },
    })
}

fn lists(fun: Fun, args: &[Val]) -> Result<Val> {
    if fun == Fun::Range {
        return match &args[0] {
            Val::Int(count) if *count <= MAX_SIZE as i64 => Ok(Val::list((0..*count).map(Val::Int).collect())),
            Val::Int(_) => Err(EvalError::Cost),
            _ => overload(fun, args),
        };
    }
    let Val::List(list) = &args[0] else { return overload(fun, args) };
    let items = &list.items;
    let number = |at: usize| match args.get(at) {
        Some(Val::Int(value)) => Some(*value),
        _ => None,
    };
    match fun {
        Fun::IndexOf => Ok(Val::Int(items.iter().position(|item| item.equals(&args[1])).map_or(-1, |at| at as i64))),
        Fun::LastIndexOf => {
            Ok(Val::Int(items.iter().rposition(|item| item.equals(&args[1])).map_or(-1, |at| at as i64)))
        }
        Fun::IsSorted => {
            for pair in items.windows(2) {
                match pair[0].compare(&pair[1]) {
                    None => return overload(fun, pair),
                    Some(Ordering::Greater) => return Ok(Val::Bool(false)),
                    Some(_) => {}
                }
            }
            Ok(Val::Bool(true))
        }
        Fun::Sum => match items.split_first() {
            None => Ok(Val::Int(0)),
            Some((first, rest)) => {
                rest.iter().try_fold(first.clone(), |sum, item| arithmetic(Fun::Add, &[sum, item.clone()]))
            }
        },
        Fun::Min | Fun::Max => {
            let Some((first, rest)) = items.split_first() else { return fail("min and max of an empty list") };
            let mut best = first;
            for item in rest {
                let Some(order) = item.compare(best) else { return overload(fun, &[item.clone(), best.clone()]) };
                if order == (if fun == Fun::Min { Ordering::Less } else { Ordering::Greater }) {
                    best = item;
                }
            }
            Ok(best.clone())
        }
        Fun::Join => {
            let separator = match args.get(1) {
                None => "",
                Some(Val::Str(separator)) => separator,
                Some(_) => return overload(fun, args),
            };
            let mut out = String::new();
            for (at, item) in items.iter().enumerate() {
                let Val::Str(item) = item else { return overload(fun, args) };
                if at > 0 {
                    out.push_str(separator);
                }
                out.push_str(item);
                if out.len() > MAX_SIZE {
                    return Err(EvalError::Cost);
                }
            }
            Ok(text(out))
        }
        Fun::Slice => match (number(1), number(2)) {
            (Some(start), Some(end)) if start >= 0 && start <= end && end as usize <= items.len() => {
                Ok(Val::list(items[start as usize..end as usize].to_vec()))
            }
            _ => fail("index out of range"),
        },
        Fun::Flatten => {
            let depth = number(1).unwrap_or(1);
            if depth < 0 {
                return fail("level must be non-negative");
            }
            let mut out = Vec::new();
            flatten(items, depth.min(50), &mut out);
            Ok(Val::list(out))
        }
        Fun::Sort => {
            let mut sorted = items.clone();
            let mut is_comparable = true;
            sorted.sort_by(|a, b| {
                a.compare(b).unwrap_or_else(|| {
                    is_comparable = false;
                    Ordering::Equal
                })
            });
            if is_comparable { Ok(Val::list(sorted)) } else { fail("values that cannot be compared cannot be sorted") }
        }
        Fun::Distinct => {
            let mut out: Vec<Val> = Vec::new();
            for item in items {
                if !out.iter().any(|known| known.equals(item)) {
                    out.push(item.clone());
                }
            }
            Ok(Val::list(out))
        }
        Fun::Reverse => Ok(Val::list(items.iter().rev().cloned().collect())),
        Fun::First => Ok(optional(items.first().cloned())),
        Fun::Last => Ok(optional(items.last().cloned())),
        Fun::SetsContains | Fun::SetsEquivalent | Fun::SetsIntersects => {
            let Val::List(other) = &args[1] else { return overload(fun, args) };
            let has = |list: &[Val], item: &Val| list.iter().any(|known| known.equals(item));
            let contains = |a: &[Val], b: &[Val]| b.iter().all(|item| has(a, item));
            Ok(Val::Bool(match fun {
                Fun::SetsContains => contains(items, &other.items),
                Fun::SetsEquivalent => contains(items, &other.items) && contains(&other.items, items),
                _ => items.iter().any(|item| has(&other.items, item)),
            }))
        }
        _ => overload(fun, args),
    }
}

fn flatten(items: &[Val], depth: i64, out: &mut Vec<Val>) {
    for item in items {
        match item {
            Val::List(list) if depth > 0 => flatten(&list.items, depth - 1, out),
            other => out.push(other.clone()),
        }
    }
}

fn optionals(fun: Fun, args: &[Val]) -> Result<Val> {
    match (fun, args) {
        (Fun::OptionalNone, _) => Ok(Val::Optional(None)),
        (Fun::OptionalOf, [value]) => Ok(optional(Some(value.clone()))),
        (Fun::OptionalOfNonZero, [value]) => Ok(optional(Some(value.clone()).filter(|value| !is_zero(value)))),
        (Fun::HasValue, [Val::Optional(inner)]) => Ok(Val::Bool(inner.is_some())),
        (Fun::Value, [Val::Optional(inner)]) => match inner {
            Some(inner) => Ok((**inner).clone()),
            None => fail("optional.none() dereference"),
        },
        (Fun::Or, [Val::Optional(inner), other]) => {
            if inner.is_some() {
                Ok(args[0].clone())
            } else {
                Ok(other.clone())
            }
        }
        (Fun::OrValue, [Val::Optional(inner), other]) => {
            Ok(inner.as_ref().map_or_else(|| other.clone(), |inner| (**inner).clone()))
        }
        _ => overload(fun, args),
    }
}

fn is_zero(value: &Val) -> bool {
    match value {
        Val::Null => true,
        Val::Bool(value) => !value,
        Val::Int(value) => *value == 0,
        Val::Uint(value) => *value == 0,
        Val::Double(value) => *value == 0.0,
        Val::Duration(value) => *value == 0,
        Val::Str(_) | Val::Bytes(_) | Val::List(_) | Val::Map(_) => value.size() == 0,
        Val::Optional(inner) => inner.is_none(),
        _ => false,
    }
}

/// A URL as Kubernetes accepts it: absolute, or a path that begins with a slash.
fn parse_url(subject: &str) -> Option<url::Url> {
    let url = url::parse(subject.as_bytes()).ok()?;
    (!url.scheme().is_empty() || subject.starts_with('/')).then_some(url)
}

fn urls(fun: Fun, args: &[Val]) -> Result<Val> {
    let lossy = |bytes: &[u8]| text(String::from_utf8_lossy(bytes));
    match (fun, &args[0]) {
        (Fun::IsUrl, Val::Str(subject)) => Ok(Val::Bool(parse_url(subject).is_some())),
        (Fun::Url, Val::Str(subject)) => match parse_url(subject) {
            Some(url) => Ok(Val::Url(Rc::new(url))),
            None => fail("the text is no URL"),
        },
        (Fun::Scheme, Val::Url(url)) => Ok(lossy(url.scheme())),
        (Fun::Host, Val::Url(url)) => Ok(lossy(url.host())),
        (Fun::Hostname, Val::Url(url)) => Ok(lossy(url.hostname().as_bytes())),
        (Fun::Port, Val::Url(url)) => Ok(lossy(url.port())),
        (Fun::EscapedPath, Val::Url(url)) => Ok(lossy(&url.escaped_path())),
        (Fun::Query, Val::Url(url)) => Ok(query_map(&String::from_utf8_lossy(url.query()))),
        _ => overload(fun, args),
    }
}

fn query_map(query: &str) -> Val {
    let decode = |part: &str| {
        let part = part.replace('+', " ");
        match url::unescape(part.as_bytes(), url::Part::Query) {
            Ok(bytes) => String::from_utf8_lossy(&bytes).into_owned(),
            Err(_) => part,
        }
    };
    let mut entries: Vec<(String, Vec<Val>)> = Vec::new();
    for pair in query.split('&').filter(|pair| !pair.is_empty()) {
        let (key, value) = pair.split_once('=').unwrap_or((pair, ""));
        let (key, value) = (decode(key), text(decode(value)));
        match entries.iter_mut().find(|(other, _)| *other == key) {
            Some((_, values)) => values.push(value),
            None => entries.push((key, vec![value])),
        }
    }
    Val::map(entries.into_iter().map(|(key, values)| (text(key), Val::list(values))).collect())
}

/// An address as Kubernetes accepts it: no zone, no IPv4 address within IPv6.
fn parse_ip(subject: &str) -> Option<IpAddr> {
    let address: IpAddr = subject.parse().ok()?;
    match address {
        IpAddr::V6(address) if address.to_ipv4_mapped().is_some() => None,
        address => Some(address),
    }
}

fn parse_cidr(subject: &str) -> Option<(IpAddr, u8)> {
    let (address, bits) = subject.split_once('/')?;
    let address = parse_ip(address)?;
    let is_plain = !bits.is_empty() && bits.bytes().all(|byte| byte.is_ascii_digit());
    let is_short = bits.len() == 1 || !bits.starts_with('0');
    let most = if address.is_ipv4() { 32 } else { 128 };
    let bits: u8 = bits.parse().ok().filter(|bits| is_plain && is_short && *bits <= most)?;
    Some((address, bits))
}

fn masked(address: IpAddr, bits: u8) -> IpAddr {
    match address {
        IpAddr::V4(address) => {
            let mask = u32::MAX.checked_shl(32 - u32::from(bits)).unwrap_or(0);
            IpAddr::V4((u32::from(address) & mask).into())
        }
        IpAddr::V6(address) => {
            let mask = u128::MAX.checked_shl(128 - u32::from(bits)).unwrap_or(0);
            IpAddr::V6((u128::from(address) & mask).into())
        }
    }
}

fn addresses(fun: Fun, args: &[Val]) -> Result<Val> {
    match (fun, &args[0]) {
        (Fun::IsIp, Val::Str(subject)) => Ok(Val::Bool(parse_ip(subject).is_some())),
        (Fun::Ip, Val::Str(subject)) => match parse_ip(subject) {
            Some(address) => Ok(Val::Ip(address)),
            None => fail("the text is no IP address"),
        },
        (Fun::Ip, Val::Cidr(address, _)) => Ok(Val::Ip(*address)),
        (Fun::IsCanonical, Val::Str(subject)) => match parse_ip(subject) {
            Some(address) => Ok(Val::Bool(address.to_string() == **subject)),
            None => fail("the text is no IP address"),
        },
        (Fun::Family, Val::Ip(address)) => Ok(Val::Int(if address.is_ipv4() { 4 } else { 6 })),
        (Fun::IsUnspecified, Val::Ip(address)) => Ok(Val::Bool(address.is_unspecified())),
        (Fun::IsLoopback, Val::Ip(address)) => Ok(Val::Bool(address.is_loopback())),
        (Fun::IsLinkLocalUnicast, Val::Ip(address)) => Ok(Val::Bool(is_link_local(*address))),
        (Fun::IsLinkLocalMulticast, Val::Ip(address)) => Ok(Val::Bool(is_link_local_multicast(*address))),
        (Fun::IsGlobalUnicast, Val::Ip(address)) => {
            let is_broadcast = matches!(address, IpAddr::V4(address) if address.is_broadcast());
            let is_special = address.is_unspecified() || address.is_loopback() || address.is_multicast();
            Ok(Val::Bool(!is_broadcast && !is_special && !is_link_local(*address)))
        }
        (Fun::IsCidr, Val::Str(subject)) => Ok(Val::Bool(parse_cidr(subject).is_some())),
        (Fun::Cidr, Val::Str(subject)) => match parse_cidr(subject) {
            Some((address, bits)) => Ok(Val::Cidr(address, bits)),
            None => fail("the text is no CIDR"),
        },
        (Fun::Masked, Val::Cidr(address, bits)) => Ok(Val::Cidr(masked(*address, *bits), *bits)),
        (Fun::PrefixLength, Val::Cidr(_, bits)) => Ok(Val::Int(i64::from(*bits))),
        (Fun::ContainsIp, Val::Cidr(network, bits)) => {
            let address = match &args[1] {
                Val::Ip(address) => *address,
                Val::Str(subject) => match parse_ip(subject) {
                    Some(address) => address,
                    None => return fail("the text is no IP address"),
                },
                _ => return overload(fun, args),
            };
            Ok(Val::Bool(within(*network, *bits, address)))
        }
        (Fun::ContainsCidr, Val::Cidr(network, bits)) => {
            let (address, other) = match &args[1] {
                Val::Cidr(address, bits) => (*address, *bits),
                Val::Str(subject) => match parse_cidr(subject) {
                    Some(found) => found,
                    None => return fail("the text is no CIDR"),
                },
                _ => return overload(fun, args),
            };
            Ok(Val::Bool(other >= *bits && within(*network, *bits, masked(address, other))))
        }
        _ => overload(fun, args),
    }
}

fn within(network: IpAddr, bits: u8, address: IpAddr) -> bool {
    network.is_ipv4() == address.is_ipv4() && masked(network, bits) == masked(address, bits)
}

fn is_link_local(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => address.is_link_local(),
        IpAddr::V6(address) => address.segments()[0] & 0xffc0 == 0xfe80,
    }
}

fn is_link_local_multicast(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => address.octets()[..3] == [224, 0, 0],
        IpAddr::V6(address) => address.segments()[0] & 0xff0f == 0xff02,
    }
}

fn quantities(fun: Fun, args: &[Val]) -> Result<Val> {
    let of = |value: &Val| match value {
        Val::Quantity(quantity) => Some((**quantity).clone()),
        Val::Int(value) => Some(Quantity::of_int(*value)),
        _ => None,
    };
    match (fun, args) {
        (Fun::IsQuantity, [Val::Str(subject)]) => Ok(Val::Bool(Quantity::parse(subject).is_some())),
        (Fun::Quantity, [Val::Str(subject)]) => match Quantity::parse(subject) {
            Some(quantity) => Ok(Val::Quantity(Rc::new(quantity))),
            None => fail("the text is no quantity"),
        },
        (Fun::IsInteger, [Val::Quantity(quantity)]) => Ok(Val::Bool(quantity.is_integer())),
        (Fun::AsInteger, [Val::Quantity(quantity)]) => match quantity.as_integer() {
            Some(value) => Ok(Val::Int(value)),
            None => fail("cannot convert the quantity to an integer"),
        },
        (Fun::AsFloat, [Val::Quantity(quantity)]) => Ok(Val::Double(quantity.as_float())),
        (Fun::Sign, [Val::Quantity(quantity)]) => Ok(Val::Int(quantity.sign())),
        (Fun::QuantityAdd | Fun::QuantitySub, [Val::Quantity(a), b]) => {
            let Some(b) = of(b) else { return overload(fun, args) };
            Ok(Val::Quantity(Rc::new(if fun == Fun::QuantityAdd { a.plus(&b) } else { a.minus(&b) })))
        }
        (Fun::IsLessThan, [Val::Quantity(a), Val::Quantity(b)]) => Ok(Val::Bool(a < b)),
        (Fun::IsGreaterThan, [Val::Quantity(a), Val::Quantity(b)]) => Ok(Val::Bool(a > b)),
        (Fun::CompareTo, [Val::Quantity(a), Val::Quantity(b)]) => Ok(Val::Int(a.cmp(b) as i64)),
        (Fun::IsLessThan, [Val::Semver(a), Val::Semver(b)]) => Ok(Val::Bool(a.compare(b).is_lt())),
        (Fun::IsGreaterThan, [Val::Semver(a), Val::Semver(b)]) => Ok(Val::Bool(a.compare(b).is_gt())),
        (Fun::CompareTo, [Val::Semver(a), Val::Semver(b)]) => Ok(Val::Int(a.compare(b) as i64)),
        _ => overload(fun, args),
    }
}

fn semvers(fun: Fun, args: &[Val]) -> Result<Val> {
    let normalize = matches!(args.get(1), Some(Val::Bool(true)));
    match (fun, &args[0]) {
        (Fun::IsSemver, Val::Str(subject)) => Ok(Val::Bool(SemverValue::parse(subject, normalize).is_some())),
        (Fun::Semver, Val::Str(subject)) => match SemverValue::parse(subject, normalize) {
            Some(version) => Ok(Val::Semver(Rc::new(version))),
            None => fail("the text is no semantic version"),
        },
        (Fun::Major, Val::Semver(version)) => Ok(Val::Int(version.numbers[0] as i64)),
        (Fun::Minor, Val::Semver(version)) => Ok(Val::Int(version.numbers[1] as i64)),
        (Fun::Patch, Val::Semver(version)) => Ok(Val::Int(version.numbers[2] as i64)),
        _ => overload(fun, args),
    }
}

fn named_format(fun: Fun) -> Option<NamedFormat> {
    Some(match fun {
        Fun::FormatDns1123Label => NamedFormat::Label,
        Fun::FormatDns1123Subdomain => NamedFormat::Subdomain,
        Fun::FormatDns1035Label => NamedFormat::Label1035,
        Fun::FormatQualifiedName => NamedFormat::QualifiedName,
        Fun::FormatDns1123LabelPrefix => NamedFormat::LabelPrefix,
        Fun::FormatDns1123SubdomainPrefix => NamedFormat::SubdomainPrefix,
        Fun::FormatDns1035LabelPrefix => NamedFormat::Label1035Prefix,
        Fun::FormatLabelValue => NamedFormat::LabelValue,
        Fun::FormatUri => NamedFormat::Uri,
        Fun::FormatUuid => NamedFormat::Uuid,
        Fun::FormatByte => NamedFormat::Byte,
        Fun::FormatDate => NamedFormat::Date,
        Fun::FormatDatetime => NamedFormat::Datetime,
        _ => return None,
    })
}

fn formats(fun: Fun, args: &[Val]) -> Result<Val> {
    match (fun, args) {
        (Fun::NamedFormat, [Val::Str(name)]) => {
            let found = match &**name {
                "dns1123Label" => Some(NamedFormat::Label),
                "dns1123Subdomain" => Some(NamedFormat::Subdomain),
                "dns1035Label" => Some(NamedFormat::Label1035),
                "qualifiedName" => Some(NamedFormat::QualifiedName),
                "dns1123LabelPrefix" => Some(NamedFormat::LabelPrefix),
                "dns1123SubdomainPrefix" => Some(NamedFormat::SubdomainPrefix),
                "dns1035LabelPrefix" => Some(NamedFormat::Label1035Prefix),
                "labelValue" => Some(NamedFormat::LabelValue),
                "uri" => Some(NamedFormat::Uri),
                "uuid" => Some(NamedFormat::Uuid),
                "byte" => Some(NamedFormat::Byte),
                "date" => Some(NamedFormat::Date),
                "datetime" => Some(NamedFormat::Datetime),
                _ => None,
            };
            Ok(optional(found.map(Val::Format)))
        }
        (Fun::Validate, [Val::Format(format), Val::Str(subject)]) => {
            let fault = (!format.allows(subject)).then(|| Val::list(vec![text("the text does not have the format")]));
            Ok(optional(fault))
        }
        _ => overload(fun, args),
    }
}

impl NamedFormat {
    fn allows(self, subject: &str) -> bool {
        let is_lower = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
        let is_label = |text: &str| {
            let bytes = text.as_bytes();
            !bytes.is_empty()
                && bytes.iter().all(|&byte| is_lower(byte) || byte == b'-')
                && is_lower(bytes[0])
                && is_lower(bytes[bytes.len() - 1])
        };
        let is_name = |text: &str| {
            let bytes = text.as_bytes();
            (1..=63).contains(&bytes.len())
                && bytes.iter().all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(byte))
                && bytes[0].is_ascii_alphanumeric()
                && bytes[bytes.len() - 1].is_ascii_alphanumeric()
        };
        let is_subdomain = |text: &str| text.len() <= 253 && text.split('.').all(is_label);
        let starts_with_letter = |text: &str| text.starts_with(|c: char| c.is_ascii_lowercase());
        let masked = || subject.strip_suffix('-').map_or(subject.to_owned(), |head| format!("{head}a"));
        match self {
            NamedFormat::Label => subject.len() <= 63 && is_label(subject),
            NamedFormat::LabelPrefix => subject.len() <= 63 && is_label(&masked()),
            NamedFormat::Subdomain => is_subdomain(subject),
            NamedFormat::SubdomainPrefix => is_subdomain(&masked()),
            NamedFormat::Label1035 => subject.len() <= 63 && is_label(subject) && starts_with_letter(subject),
            NamedFormat::Label1035Prefix => subject.len() <= 63 && is_label(&masked()) && starts_with_letter(subject),
            NamedFormat::QualifiedName => match subject.split_once('/') {
                Some((prefix, name)) => is_subdomain(prefix) && is_name(name),
                None => is_name(subject),
            },
            NamedFormat::LabelValue => subject.is_empty() || is_name(subject),
            NamedFormat::Uri => parse_url(subject).is_some(),
            NamedFormat::Uuid => {
                let groups: Vec<usize> = subject.split('-').map(str::len).collect();
                groups == [8, 4, 4, 4, 12] && subject.bytes().all(|byte| byte == b'-' || byte.is_ascii_hexdigit())
            }
            NamedFormat::Byte => {
                let body = subject.trim_end_matches('=');
                subject.len().is_multiple_of(4)
                    && subject.len() - body.len() <= 2
                    && body.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+/".contains(&byte))
            }
            NamedFormat::Date => subject.len() == 10 && time::timestamp(&format!("{subject}T00:00:00Z")).is_some(),
            NamedFormat::Datetime => time::timestamp(subject).is_some(),
        }
    }
}
