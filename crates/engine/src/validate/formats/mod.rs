//! Formats of strings: `format="hostname"`.
//!
//! One file per format. Each is a pure function over the text and follows the grammar that
//! docs/validations.md names. The table here contains the name of a format, its explanation, and
//! its keywords in exported schemas.

use ytterby_text::{Str, spelling};

use crate::node::{Node, Scalar};

mod date;
mod date_time;
mod duration;
mod email;
mod hostname;
mod ip;
mod ipv4;
mod ipv6;
mod iso_duration;
mod percent;
mod port;
mod quantity;
mod time;
mod uri;
mod uri_reference;

/// A format of strings.
pub(crate) struct Format {
    /// The canonical name.
    pub name: &'static str,
    accepts: fn(&str) -> bool,
    /// Which numbers are valid besides strings.
    numbers: Numbers,
    phrase: &'static str,
    citation: &'static str,
    pub examples: [&'static str; 2],
    pub export: Export,
}

/// Which numbers a format accepts.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Numbers {
    No,
    Ports,
    All,
}

/// How a format is written in exported schemas.
pub(crate) struct Export {
    /// `format:` in OpenAPI.
    pub open_api: Option<&'static str>,
    /// `format:` in JSON Schema.
    pub json_schema: Option<&'static str>,
    /// `format:` in a CRD.
    pub crd: Option<&'static str>,
    /// `anyOf` of these `format:`s in JSON Schema and CRD.
    pub any_of: &'static [&'static str],
    /// `pattern:` for strings, in all targets.
    pub pattern: Option<&'static str>,
    /// `minimum:` and `maximum:` for integers, in all targets.
    pub range: Option<(i64, i64)>,
    /// `x-ytt-format:` in OpenAPI and, with [`Export::x_in_json_schema`], in JSON Schema.
    pub x_format: Option<&'static str>,
    pub x_in_json_schema: bool,
}

impl Export {
    const NONE: Export = Export {
        open_api: None,
        json_schema: None,
        crd: None,
        any_of: &[],
        pattern: None,
        range: None,
        x_format: None,
        x_in_json_schema: true,
    };

    /// The same name in all targets.
    const fn everywhere(name: &'static str) -> Export {
        Export { crd: Some(name), ..Export::without_crd(name) }
    }

    const fn without_crd(name: &'static str) -> Export {
        Export { open_api: Some(name), json_schema: Some(name), ..Export::NONE }
    }
}

const PORT_PATTERN: &str = "^(0|[1-9][0-9]{0,3}|[1-5][0-9]{4}|6[0-4][0-9]{3}|65[0-4][0-9]{2}|655[0-2][0-9]|6553[0-5])$";
const QUANTITY_PATTERN: &str = r"^[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)(([KMGTPE]i)|[numkMGTPE]|[eE][+-]?[0-9]+)?$";

const FORMATS: &[Format] = &[
    Format {
        name: "date-time",
        accepts: date_time::accepts,
        numbers: Numbers::No,
        phrase: "a date and time",
        citation: "RFC 3339",
        examples: ["2018-11-13T20:20:39Z", "2018-11-13T20:20:39+00:00"],
        export: Export::everywhere("date-time"),
    },
    Format {
        name: "time",
        accepts: time::accepts,
        numbers: Numbers::No,
        phrase: "a time of day with offset",
        citation: "RFC 3339",
        examples: ["20:20:39Z", "20:20:39+00:00"],
        export: Export::without_crd("time"),
    },
    Format {
        name: "date",
        accepts: date::accepts,
        numbers: Numbers::No,
        phrase: "a calendar date",
        citation: "RFC 3339",
        examples: ["2018-11-13", "2020-02-29"],
        export: Export::everywhere("date"),
    },
    Format {
        name: "email",
        accepts: email::accepts,
        numbers: Numbers::No,
        phrase: "an Internet email address",
        citation: "RFC 5321",
        examples: ["joe.bloggs@example.com", "ops@localhost"],
        export: Export::everywhere("email"),
    },
    Format {
        name: "hostname",
        accepts: hostname::accepts,
        numbers: Numbers::No,
        phrase: "an Internet host name",
        citation: "RFC 1123",
        examples: ["localhost", "example.com"],
        export: Export::everywhere("hostname"),
    },
    Format {
        name: "ip",
        accepts: ip::accepts,
        numbers: Numbers::No,
        phrase: "an IPv4 or IPv6 address",
        citation: "RFC 2673 and RFC 4291",
        examples: ["127.0.0.1", "::1"],
        export: Export { any_of: &["ipv4", "ipv6"], x_format: Some("ip"), x_in_json_schema: false, ..Export::NONE },
    },
    Format {
        name: "ipv4",
        accepts: ipv4::accepts,
        numbers: Numbers::No,
        phrase: "an IPv4 address",
        citation: "RFC 2673",
        examples: ["127.0.0.1", "192.168.0.255"],
        export: Export::everywhere("ipv4"),
    },
    Format {
        name: "ipv6",
        accepts: ipv6::accepts,
        numbers: Numbers::No,
        phrase: "an IPv6 address",
        citation: "RFC 4291",
        examples: ["::1", "2001:db8::8a2e:370:7334"],
        export: Export::everywhere("ipv6"),
    },
    Format {
        name: "uri",
        accepts: uri::accepts,
        numbers: Numbers::No,
        phrase: "a URI with its scheme",
        citation: "RFC 3986",
        examples: ["https://example.com/a", "mailto:joe@example.com"],
        export: Export::everywhere("uri"),
    },
    Format {
        name: "uri-reference",
        accepts: uri_reference::accepts,
        numbers: Numbers::No,
        phrase: "a URI or a relative reference",
        citation: "RFC 3986",
        examples: ["https://example.com/a", "/abc"],
        export: Export::without_crd("uri-reference"),
    },
    Format {
        name: "port",
        accepts: port::accepts,
        numbers: Numbers::Ports,
        phrase: "a port number from 0 to 65535",
        citation: "RFC 6335",
        examples: ["443", "8080"],
        export: Export { pattern: Some(PORT_PATTERN), range: Some((0, 65535)), x_format: Some("port"), ..Export::NONE },
    },
    Format {
        name: "percent",
        accepts: percent::accepts,
        numbers: Numbers::No,
        phrase: "a whole percentage",
        citation: "Kubernetes IsValidPercent",
        examples: ["10%", "100%"],
        export: Export { pattern: Some("^[0-9]+%$"), x_format: Some("percent"), ..Export::NONE },
    },
    Format {
        name: "duration",
        accepts: duration::accepts,
        numbers: Numbers::No,
        phrase: "a Go duration",
        citation: "time.ParseDuration",
        examples: ["10h", "1m30s"],
        // In JSON Schema `format: duration` is that of ISO 8601.
        export: Export { crd: Some("duration"), x_format: Some("duration"), ..Export::NONE },
    },
    Format {
        name: "iso-duration",
        accepts: iso_duration::accepts,
        numbers: Numbers::No,
        phrase: "an ISO 8601 duration",
        citation: "RFC 3339 appendix A",
        examples: ["P4DT12H30M5S", "PT1M"],
        export: Export {
            json_schema: Some("duration"),
            x_format: Some("iso-duration"),
            x_in_json_schema: false,
            ..Export::NONE
        },
    },
    Format {
        name: "quantity",
        accepts: quantity::accepts,
        numbers: Numbers::All,
        phrase: "a Kubernetes quantity",
        citation: "resource.Quantity",
        examples: ["500m", "10Gi"],
        export: Export { pattern: Some(QUANTITY_PATTERN), x_format: Some("quantity"), ..Export::NONE },
    },
];

/// (alias, canonical name)
const ALIASES: [(&str, &str); 1] = [("uriref", "uri-reference")];

/// All names, including aliases.
#[cfg(test)]
pub(crate) fn names() -> impl Iterator<Item = &'static str> {
    FORMATS.iter().map(|format| format.name).chain(ALIASES.iter().map(|(alias, _)| *alias))
}

/// The format with this name or alias.
pub(crate) fn find(name: &str) -> Option<&'static Format> {
    let canonical = ALIASES.iter().find(|(alias, _)| *alias == name).map_or(name, |(_, canonical)| canonical);
    FORMATS.iter().find(|format| format.name == canonical)
}

/// The error for an unknown name: `unknown format "hostnam"; did you mean "hostname"?`
pub(crate) fn unknown(name: &Str) -> String {
    let quoted = ytterby_text::quote::quote(name);
    match meant(&name.to_str()) {
        Some(meant) => format!("unknown format {}; did you mean \"{meant}\"?", quoted.to_str()),
        None => format!("unknown format {}", quoted.to_str()),
    }
}

/// The format that was probably meant by an unknown name.
pub(crate) fn meant(name: &str) -> Option<&'static str> {
    spelling::closest(name, sorted_names(), spelling::tolerance(name))
}

/// The names of all formats, for messages.
pub(crate) fn listed() -> String {
    sorted_names().join(", ")
}

fn sorted_names() -> Vec<&'static str> {
    let mut names: Vec<&str> = FORMATS.iter().map(|format| format.name).collect();
    names.sort_unstable();
    names
}

impl Format {
    /// Whether some numbers are valid besides strings.
    pub fn takes_numbers(&self) -> bool {
        self.numbers != Numbers::No
    }

    /// Whether a value is of this format.
    pub fn accepts(&self, value: &Node) -> bool {
        let Node::Scalar(scalar) = value else { return false };
        match scalar {
            Scalar::Str(text) => text.as_str().is_some_and(|text| (self.accepts)(text)),
            Scalar::Int(number) => match self.numbers {
                Numbers::No => false,
                Numbers::Ports => (0..=65535).contains(number),
                Numbers::All => true,
            },
            Scalar::UInt(_) => self.numbers == Numbers::All,
            Scalar::Float(number) => self.numbers == Numbers::All && number.is_finite(),
            Scalar::Null | Scalar::Bool(_) | Scalar::Complex(_) => false,
        }
    }

    /// `an IPv4 address, RFC 2673; for example 127.0.0.1 or 192.168.0.255`
    pub fn hint(&self) -> String {
        let [first, second] = self.examples;
        format!("{}, {}; for example {first} or {second}", self.phrase, self.citation)
    }
}

/// Parses `count` decimal digits at the beginning: returns their value and the rest.
fn digits(text: &str, count: usize) -> Option<(u32, &str)> {
    let (head, rest) = text.split_at_checked(count)?;
    if !head.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    Some((head.parse().ok()?, rest))
}

/// Splits off all decimal digits at the beginning, at least one.
fn digit_run(text: &str) -> Option<(&str, &str)> {
    let end = text.bytes().position(|byte| !byte.is_ascii_digit()).unwrap_or(text.len());
    (end > 0).then(|| text.split_at(end))
}

#[cfg(test)]
mod oracles;
#[cfg(test)]
mod tests;
