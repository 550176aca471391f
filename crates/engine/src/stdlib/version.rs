//! `@ytt:version`: requires a version of ytt; ours is the one that we are compatible with.

use std::cmp::Ordering;

use ytterby_starlark::{Args, Error, Eval, Value};

use super::Module;
use crate::api::YTT_VERSION;
use crate::args::{fail, one_string};
use crate::run::Run;

/// The module.
pub(super) fn module() -> Module {
    Module::new("version").with("require_at_least", require_at_least)
}

fn require_at_least(eval: &mut Eval, args: Args<'_>) -> Result<Value, Error> {
    let wanted = one_string(&args)?.to_str();
    let Some(version) = SemanticVersion::parse(&wanted) else {
        fail!("version string '{wanted}' must be a valid semver")
    };
    let ours = eval.data::<Run>().map_or_else(|| YTT_VERSION.to_owned(), |run| run.options.compat.ytt_version());
    let our_version = SemanticVersion::parse(&ours).expect("our own version is valid");
    if let Some(number) = version.numbers.iter().find(|number| number.parse::<i64>().is_err()) {
        fail!("Error parsing version: strconv.ParseInt: parsing \"{number}\": value out of range");
    }
    match our_version.is_at_least(&version) {
        true => Ok(Value::None),
        false => fail!("ytt version '{ours}' does not meet the minimum required version '{wanted}'"),
    }
}

/// A semantic version; build metadata is ignored.
struct SemanticVersion<'a> {
    /// Major, minor and patch: digits without a leading zero.
    numbers: [&'a str; 3],
    prerelease: Option<&'a str>,
}

impl<'a> SemanticVersion<'a> {
    fn parse(text: &'a str) -> Option<SemanticVersion<'a>> {
        let (rest, build) = split(text, '+');
        let (numbers, prerelease) = split(rest, '-');
        let mut parts = numbers.split('.');
        let numbers = [parts.next()?, parts.next()?, parts.next()?];
        let is_identifier =
            |part: &str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-');
        let is_valid = parts.next().is_none()
            && numbers.iter().all(|number| is_number(number))
            && build.is_none_or(|build| build.split('.').all(is_identifier))
            && prerelease.is_none_or(|tag| {
                tag.split('.').all(|part| is_identifier(part) && (is_number(part) || !is_digits(part)))
            });
        is_valid.then_some(SemanticVersion { numbers, prerelease })
    }

    /// Whether this, a release, is not older than `other`.
    fn is_at_least(&self, other: &SemanticVersion<'_>) -> bool {
        // Without leading zeros, the longer of two numbers is the larger one.
        let order = self.numbers.iter().zip(other.numbers).map(|(a, b)| a.len().cmp(&b.len()).then((*a).cmp(b)));
        let order = order.fold(Ordering::Equal, Ordering::then);
        debug_assert!(self.prerelease.is_none(), "a prerelease of ours would need more rules");
        order.is_ge()
    }
}

fn split(text: &str, at: char) -> (&str, Option<&str>) {
    text.split_once(at).map_or((text, None), |(head, tail)| (head, Some(tail)))
}

fn is_digits(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

fn is_number(text: &str) -> bool {
    is_digits(text) && (text == "0" || !text.starts_with('0'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_semver_is_valid() {
        for text in ["0.49.0", "1.2.3-alpha.1", "1.2.3-0a.-", "1.2.3+01.x", "1.2.3--+-"] {
            assert!(SemanticVersion::parse(text).is_some(), "{text}");
        }
        for text in [
            "",
            "v1.0.0",
            "1.0",
            "1.2.3.4",
            "01.2.3",
            "1.2.3-01",
            "1.2.3-",
            "1.2.3+",
            "1.2.3-a..b",
            "1.2.3-é",
            "1.2.3 ",
        ] {
            assert!(SemanticVersion::parse(text).is_none(), "{text}");
        }
    }

    #[test]
    fn compares_numbers() {
        let at_least = |ours, wanted| {
            SemanticVersion::parse(ours).expect("valid").is_at_least(&SemanticVersion::parse(wanted).expect("valid"))
        };
        for (ours, wanted, expected) in [
            ("0.49.0", "0.49.0", true),
            ("0.49.0", "0.49.0-alpha.1", true),
            ("0.49.0", "0.9.99", true),
            ("0.49.0", "0.100.0", false),
            ("0.49.0", "0.49.1", false),
            ("0.49.0", "1.0.0", false),
            ("0.49.0", "0.50.0-alpha", false),
        ] {
            assert_eq!(at_least(ours, wanted), expected, "{wanted}");
        }
    }
}
