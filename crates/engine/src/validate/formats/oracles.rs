//! Compares each format with another parser of the same grammar, on texts that are valid or almost.
//!
//! A text is generated from the grammar and then damaged in up to two places, so that both answers
//! are frequent; each test checks that they are. If the other parser follows different rules, the
//! test applies our rule to its answer explicitly, so nothing is excluded from the comparison.

use std::cell::Cell;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use chrono::{DateTime, Timelike};
use num_bigint::BigInt;
use proptest::prelude::*;
use proptest::sample::Index;
use proptest::test_runner::{Config, TestRunner};
use regex::Regex;

use super::find;
use crate::node::{Node, Scalar};

const CASES: u32 = 4000;

/// Compares the answers about `texts`, each unchanged and damaged with characters of `alphabet`.
fn agree(format: &str, texts: impl Strategy<Value = String>, alphabet: &str, expected: impl Fn(&str) -> bool) {
    let ours = find(format).expect("the format exists");
    let alphabet: Vec<char> = alphabet.chars().collect();
    let damages = proptest::collection::vec((0..4u8, any::<Index>(), any::<Index>()), 0..=2);
    let texts = (texts, damages).prop_map(|(text, damages)| {
        damages.iter().fold(text, |text, (kind, at, with)| damaged(&text, *kind, at, *with.get(&alphabet)))
    });
    let (accepted, refused) = (Cell::new(0), Cell::new(0));
    let count = |counter: &Cell<u32>| counter.set(counter.get() + 1);
    TestRunner::new(Config { cases: CASES, failure_persistence: None, ..Config::default() })
        .run(&texts, |text| {
            let answer = ours.accepts(&Node::str(&*text));
            prop_assert_eq!(answer, expected(&text), "{}: {:?}", format, text);
            count(if answer { &accepted } else { &refused });
            Ok(())
        })
        .unwrap_or_else(|failure| panic!("{failure}"));
    let (accepted, refused) = (accepted.get(), refused.get());
    assert!(
        accepted.min(refused) > CASES / 8,
        "{format}: {accepted} valid and {refused} invalid texts show too little"
    );
}

/// The text with one character inserted, removed, replaced or doubled.
fn damaged(text: &str, kind: u8, at: &Index, with: char) -> String {
    let mut chars: Vec<char> = text.chars().collect();
    let place = at.index(chars.len() + 1);
    match (kind, chars.get(place).copied()) {
        (0, _) | (_, None) => chars.insert(place, with),
        (1, Some(_)) => drop(chars.remove(place)),
        (2, Some(_)) => chars[place] = with,
        (_, Some(same)) => chars.insert(place, same),
    }
    chars.into_iter().collect()
}

/// Texts that match one of these regular expressions.
fn texts(patterns: &'static [&'static str]) -> impl Strategy<Value = String> {
    proptest::sample::select(patterns)
        .prop_flat_map(|pattern| proptest::string::string_regex(pattern).expect("the pattern is right"))
}

fn regex(pattern: &str) -> Regex {
    Regex::new(pattern).expect("the pattern is right")
}

const DATE: &str = "(19|20|00)[0-9]{2}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])";
const TIME: &str = "([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](\\.[0-9]{1,10})?([Zz]|[+-]([01][0-9]|2[0-3]):[0-5][0-9])";
/// The end of a day in UTC, or at some offset, where a leap second may or may not be.
const LEAP: &str = "(23:59|15:59|22:59|23:29|00:14):60(\\.[0-9]{1,3})?(Z|-08:00|\\+00:15|-00:30|\\+23:30)";

/// Chrono's parser of RFC 3339, with two more rules: no blank instead of `T`, and a leap second
/// only at 23:59:60 UTC. Chrono itself accepts second 60 in any minute.
fn is_date_time(text: &str) -> bool {
    let has_blank = text.as_bytes().get(10) == Some(&b' ');
    !has_blank
        && DateTime::parse_from_rfc3339(text).is_ok_and(|time| {
            let is_leap = time.nanosecond() >= 1_000_000_000;
            let utc = time.naive_utc();
            !is_leap || (utc.hour(), utc.minute()) == (23, 59)
        })
}

#[test]
fn dates_and_times_agree_with_chrono() {
    const ALPHABET: &str = "0123456789-:.TtZz+ é";
    let dates = || texts(&[DATE, "[0-9]{4}-02-(28|29|30)"]);
    let times = || texts(&[TIME, TIME, LEAP]);
    agree("date", dates(), ALPHABET, |text| is_date_time(&format!("{text}T00:00:00Z")));
    agree("time", times(), ALPHABET, |text| is_date_time(&format!("2000-01-01T{text}")));
    let both = (dates(), proptest::sample::select(vec!["T", "T", "t", " "]), times());
    agree("date-time", both.prop_map(|(date, t, time)| format!("{date}{t}{time}")), ALPHABET, is_date_time);
}

const IPV4: &str = "(25[0-6]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])(\\.(25[0-6]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])){3}";
const IPV6: [&str; 4] = [
    "[0-9a-fA-F]{1,4}(:[0-9a-fA-F]{1,4}){7}",
    "([0-9a-f]{1,4}(:[0-9a-f]{1,4}){0,4})?::([0-9a-f]{1,4}(:[0-9a-f]{1,4}){0,2})?",
    "(::|::ffff:|1:2:3:4:5:6:|64:ff9b::)(25[0-5]|1[0-9]{2}|[1-9]?[0-9])(\\.(25[0-5]|[1-9]?[0-9])){3}",
    "([0-9a-f]{1,2}:){1,7}:",
];

#[test]
fn addresses_agree_with_the_standard_library() {
    const ALPHABET: &str = "0123456789abcdefG:./%[]é";
    const BOTH: [&str; 5] = [IPV4, IPV6[0], IPV6[1], IPV6[2], IPV6[3]];
    agree("ipv4", texts(&[IPV4]), ALPHABET, |text| text.parse::<Ipv4Addr>().is_ok());
    agree("ipv6", texts(&IPV6), ALPHABET, |text| text.parse::<Ipv6Addr>().is_ok());
    agree("ip", texts(&BOTH), ALPHABET, |text| text.parse::<IpAddr>().is_ok());
}

const URIS: [&str; 5] = [
    "[a-z][a-z0-9+.-]{0,5}:(//([a-z0-9._~!$&'()*+,;=:-]{0,4}@)?[a-z0-9.%]{0,6}(:[0-9]{0,5})?)?(/[a-z0-9:@%._~-]{0,4}){0,3}",
    "https?://[a-z]{1,4}(\\.[a-z]{2})?/[a-z%]{0,3}(\\?[a-z=&/?]{0,4})?(#[a-z/?]{0,3})?",
    "(urn|mailto|tel):[a-zA-Z0-9:@.+-]{0,8}",
    "http://\\[(::1|[0-9a-f]{1,4}(:[0-9a-f]{1,4}){7}|::1\\.2\\.3\\.4|v[0-9a-f]{1,2}\\.[a-z:]{1,3}|fe80::1%25en0)\\](:[0-9]{0,4})?(/[a-z]{0,2})?",
    "[a-z]{1,2}:(/|//|///|)([a-z0-9]|%[0-9a-fA-F]{2}){0,3}",
];
const RELATIVE: [&str; 3] = [
    "(\\.\\./|\\./|/)?[a-z0-9]{0,3}(/[a-z:@%]{0,3}){0,2}(\\?[a-z=&]{0,3})?(#[a-z]{0,3})?",
    "//([a-z]{0,2}@)?[a-z.]{0,5}(:[0-9]{0,3})?(/[a-z%]{0,4})?",
    "[?#][a-z0-9/?:@]{0,5}",
];

#[test]
fn uris_agree_with_fluent_uri() {
    const ALPHABET: &str = "az09:/?#[]@%!$&'()*+,;=-._~ \\^|\"<>{}`é";
    let is_uri = |text: &str| fluent_uri::Uri::parse(text).is_ok();
    let is_reference = |text: &str| fluent_uri::UriRef::parse(text).is_ok();
    const REFERENCES: [&str; 6] = [URIS[0], URIS[1], URIS[3], RELATIVE[0], RELATIVE[1], RELATIVE[2]];
    agree("uri", texts(&URIS), ALPHABET, is_uri);
    agree("uri-reference", texts(&REFERENCES), ALPHABET, is_reference);
}

/// The answer of a validator of JSON Schema.
fn json_schema(draft: jsonschema::Draft, format: &str) -> impl Fn(&str) -> bool {
    let schema = serde_json::json!({"type": "string", "format": format});
    let validator = jsonschema::options()
        .with_draft(draft)
        .should_validate_formats(true)
        .build(&schema)
        .expect("the schema is right");
    move |text: &str| validator.is_valid(&serde_json::Value::from(text))
}

const HOSTS: [&str; 3] = [
    "[a-z0-9]([a-z0-9-]{0,5}[a-z0-9])?(\\.[a-zA-Z0-9]([a-z0-9-]{0,5}[a-z0-9])?){0,3}",
    "[a-z]{61,64}(\\.[a-z]{2})?",
    "[a-z]{60}\\.[a-z]{63}\\.[a-z]{63}\\.[a-z]{62,66}",
];

/// Draft 4 has host names by RFC 1034 and RFC 1123; later drafts also check `xn--` labels.
fn host_name() -> impl Fn(&str) -> bool {
    json_schema(jsonschema::Draft::Draft4, "hostname")
}

#[test]
fn host_names_agree_with_json_schema() {
    agree("hostname", texts(&HOSTS), "a9-._* é", host_name());
}

#[test]
fn email_addresses_agree_with_email_address() {
    use email_address::{EmailAddress, Options};
    const MAILBOXES: [&str; 5] = [
        "[a-z0-9!#$%&'*+/=?^_`{|}~-]{1,5}(\\.[a-z0-9+]{1,3}){0,2}@[a-z0-9]{1,4}(\\.[a-z]{2,3}){0,2}",
        "\"([ !#-\\[\\]-~]|\\\\[ -~]){0,5}\"@[a-z]{1,3}",
        "[a-z]{1,3}@\\[(127\\.0\\.0\\.[0-9]{1,3}|IPv6:::[0-9a-f]{1,4}|ipv6:[0-9a-f:]{2,9}|::1)\\]",
        "[a-z]{62,66}@[a-z]{1,2}",
        "[a-z]{60,64}@[a-z]{60}\\.[a-z]{63}\\.[a-z]{60,66}",
    ];
    let is_host_name = host_name();
    let options = Options::default().with_no_minimum_sub_domains().without_display_text();
    let expected = |text: &str| {
        let Some((local, domain)) = text.rsplit_once('@') else { return false };
        let is_quoted = local.len() >= 2 && local.starts_with('"') && local.ends_with('"');
        let inside = if is_quoted { &local[1..local.len() - 1] } else { "" };
        // RFC 5321 allows an empty quoted string, and a blank after a backslash; a text that seems
        // to begin with a display name is still a quoted string. The crate gets such a local part
        // with the blanks replaced.
        let plain = match inside {
            "" if is_quoted => "x".to_owned(),
            _ => local.replace("\\ ", "\\x").replace(" <", "x<"),
        };
        let is_address = EmailAddress::parse_with_options(&format!("{plain}@{domain}"), options).is_ok();
        // The domain is a `hostname` or an address in brackets; the crate accepts any text there.
        let is_domain = match domain.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
            Some(literal) => match literal.get(..5).filter(|tag| tag.eq_ignore_ascii_case("IPv6:")) {
                Some(tag) => literal[tag.len()..].parse::<Ipv6Addr>().is_ok(),
                None => literal.parse::<Ipv4Addr>().is_ok(),
            },
            None => is_host_name(domain),
        };
        // Without SMTPUTF8 (RFC 6531) a mailbox is ASCII; a tab is not part of a quoted string; the
        // limit is 254 octets.
        is_address && is_domain && text.is_ascii() && !text.contains('\t') && text.len() <= 254
    };
    agree("email", texts(&MAILBOXES), "a0.@\"\\ <>[]:-_\té", expected);
}

#[test]
fn iso_durations_agree_with_json_schema() {
    const DURATIONS: [&str; 3] = [
        "P([0-9]{1,3}Y)?([0-9]{1,2}M)?([0-9]{1,2}D)?(T([0-9]{1,2}H)?([0-9]{1,2}M)?([0-9]{1,2}S)?)?",
        "P[0-9]{1,2}W",
        "PT?[0-9]{1,2}[YMDHSW]",
    ];
    agree("iso-duration", texts(&DURATIONS), "PTYMWDHS019.-p", json_schema(jsonschema::Draft::Draft202012, "duration"));
}

/// The syntax that `time.ParseDuration` documents, in nanoseconds; each part is truncated to an
/// integer.
fn go_duration(text: &str) -> Option<BigInt> {
    let whole = regex("^[+-]?(0|(([0-9]+(\\.[0-9]*)?|\\.[0-9]+)(ns|us|µs|μs|ms|s|m|h))+)$");
    if !whole.is_match(text) {
        return None;
    }
    let part = regex("([0-9]*)(?:\\.([0-9]*))?([a-zµμ]+)");
    let sum = part.captures_iter(text).fold(BigInt::ZERO, |sum, captures| {
        let fraction = captures.get(2).map_or("", |fraction| fraction.as_str());
        let digits = format!("{}{fraction}", &captures[1]).parse::<BigInt>().unwrap_or_default();
        let unit: u64 = match &captures[3] {
            "ns" => 1,
            "us" | "µs" | "μs" => 1_000,
            "ms" => 1_000_000,
            "s" => 1_000_000_000,
            "m" => 60_000_000_000,
            _ => 3_600_000_000_000,
        };
        sum + digits * unit / BigInt::from(10).pow(fraction.len() as u32)
    });
    Some(if text.starts_with('-') { -sum } else { sum })
}

#[test]
fn durations_agree_with_go() {
    const DURATIONS: [&str; 6] = [
        "[+-]?[0-9]{1,3}(\\.[0-9]{0,3})?(h|m|s|ms|us|µs|μs|ns)([0-9]{1,2}(m|s|ns)){0,2}",
        "[+-]?\\.[0-9]{1,3}[hms]",
        "[+-]?0",
        "-?922337203685477580[6-9]ns",
        "-?25620(46|47|48)h(47m1[67]s(85[45]ms)?)?",
        "-?9223372036\\.8547758(0[5-9]|[0-9]{0,4})s",
    ];
    let expected = |text: &str| go_duration(text).is_some_and(|sum| i64::try_from(sum).is_ok());
    agree("duration", texts(&DURATIONS), "0159.hmsnuµ+- d", expected);
}

#[test]
fn percentages_and_quantities_agree_with_their_patterns() {
    const QUANTITIES: [&str; 3] = [
        "[+-]?[0-9]{1,4}(\\.[0-9]{0,3})?([KMGTPE]i|[numkMGTPE])?",
        "[+-]?\\.[0-9]{1,3}([eE][+-]?[0-9]{1,2})?",
        "[0-9]{1,2}[a-zA-Z]{0,2}",
    ];
    let percent = regex(super::find("percent").and_then(|format| format.export.pattern).expect("it has a pattern"));
    agree("percent", texts(&["[0-9]{1,4}%"]), "0123456789%.- é", |text| percent.is_match(text));
    let quantity = regex(super::QUANTITY_PATTERN);
    agree("quantity", texts(&QUANTITIES), "0123456789.+-eEKMGTPinumk ", |text| {
        // KubeVirt's rules parse quantities, too, and there they have values.
        assert_eq!(ytterby_text::quantity(text).is_some(), quantity.is_match(text), "{text}");
        quantity.is_match(text)
    });
}

#[test]
fn ports_are_numbers_of_16_bits() {
    // Rust accepts a sign and leading zeros; the format does not.
    let is_canonical = |text: &str| text == "0" || !text.starts_with(['0', '+']);
    let pattern = regex(super::PORT_PATTERN);
    agree("port", texts(&["[0-9]{1,5}", "6553[0-9]", "[1-9][0-9]{3,4}"]), "0123456789+-. é", |text| {
        let expected = text.parse::<u16>().is_ok() && is_canonical(text);
        assert_eq!(pattern.is_match(text), expected, "the exported pattern on {text}");
        expected
    });
    let port = find("port").expect("the format exists");
    for number in [i64::MIN, -1, 0, 1, 65_534, 65_535, 65_536, i64::MAX] {
        assert_eq!(port.accepts(&Node::Scalar(Scalar::Int(number))), u16::try_from(number).is_ok(), "{number}");
    }
}
