//! Functions of Kubernetes: quantities, versions, named formats.
//!
//! Quantities are compared as numbers, versions as Semantic Versioning orders them. A named format
//! is a value; `validate` returns an optional list of faults, so a valid text gives none.

use std::cmp::Ordering;
use std::rc::Rc;

use super::network::parse_url;
use super::{optional, overload, text};
use crate::eval::{Result, fail};
use crate::functions::Fun;
use crate::quantity::Quantity;
use crate::time;
use crate::value::Val;

/// A named format.
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
    /// A prefix of a DNS label.
    LabelPrefix,
    /// A prefix of a DNS subdomain.
    SubdomainPrefix,
    /// A prefix of a DNS label that begins with a letter.
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

/// A semantic version: numbers, and parts of a pre-release.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SemverValue {
    numbers: [u64; 3],
    pre: Vec<String>,
}

impl SemverValue {
    /// Compares versions; build metadata is ignored.
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

pub(super) fn quantities(fun: Fun, args: &[Val]) -> Result<Val> {
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

pub(super) fn semvers(fun: Fun, args: &[Val]) -> Result<Val> {
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

pub(super) fn named_format(fun: Fun) -> Option<NamedFormat> {
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

pub(super) fn formats(fun: Fun, args: &[Val]) -> Result<Val> {
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
