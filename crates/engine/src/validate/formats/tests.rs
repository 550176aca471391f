//! Examples of valid and invalid texts for every format.

use super::*;

/// (format, valid, invalid)
const EXAMPLES: [(&str, &[&str], &[&str]); 14] = [
    (
        "date-time",
        &[
            "2018-11-13T20:20:39+00:00",
            "2018-11-13T20:20:39Z",
            "1985-04-12t23:20:50.52z",
            "2020-02-29T00:00:00Z",
            "1998-12-31T23:59:60Z",
            "1998-12-31T23:59:60.5Z",
            "1990-12-31T15:59:60-08:00",
            "2018-11-13T20:20:39-00:00",
        ],
        &[
            "2018-11-13",
            "2018-11-13 20:20:39Z",
            "2018-11-13T20:20:39",
            "2019-02-29T00:00:00Z",
            "2018-13-01T00:00:00Z",
            "2018-11-13T24:00:00Z",
            "1998-12-31T22:59:60Z",
            "2018-11-13T20:20:39.Z",
            "2018-11-13T20:20:39Zx",
            "2018-11-13T20:20:39+0000",
        ],
    ),
    (
        "time",
        &["20:20:39+00:00", "00:00:00Z", "23:59:59.999z", "23:59:60Z", "08:30:06.283185-05:00", "15:59:60-08:00"],
        &["20:20:39", "24:00:00Z", "20:60:00Z", "8:30:06Z", "20:20Z", "12:00:60Z", "20:20:39+24:00", "é0:20:39Z", ""],
    ),
    (
        "date",
        &["2018-11-13", "2020-02-29", "0000-01-01", "1999-12-31", "2000-02-29", "2024-06-30"],
        &[
            "2018-11-31",
            "1900-02-29",
            "2018-1-1",
            "20181113",
            "13/11/2018",
            "2018-11-13T00:00:00Z",
            "2018-00-10",
            "+018-01-01",
        ],
    ),
    (
        "email",
        &[
            "a@b",
            "joe.bloggs@example.com",
            "te~st+x@example.com",
            "\"joe bloggs\"@example.com",
            "u@[127.0.0.1]",
            "u@[IPv6:::1]",
            "\"a@b\"@c",
            "\"\\\"\"@c",
        ],
        &[
            "",
            "2962",
            ".a@example.com",
            "a..b@example.com",
            "a.@example.com",
            "Joe <joe@example.com>",
            "a@-b.com",
            "a@b@c",
            "\"@c",
            "\"a\"b\"@c",
            "@b",
            "a@[::1]",
            "ü@b",
        ],
    ),
    (
        "hostname",
        &["localhost", "example.com", "1.example", "a-b.example", "EXAMPLE.com", "xn--nw2a.xn--j6w193g"],
        &["", "-a.com", "a-.com", "a..b", "a_b.com", "example.com.", "exa mple", "*.example.com"],
    ),
    (
        "ipv4",
        &["0.0.0.0", "127.0.0.1", "10.1.2.3", "192.168.0.255", "255.255.255.255", "8.8.8.8"],
        &["256.0.0.1", "1.2.3", "1.2.3.4.5", "01.2.3.4", "1.2.3.4/24", "0x7f.0.0.1", "::1", "+1.2.3.4", "1..2.3"],
    ),
    (
        "ipv6",
        &[
            "::",
            "::1",
            "2001:db8::8a2e:370:7334",
            "::ffff:192.0.2.1",
            "1:2:3:4:5:6:7:8",
            "FE80::1",
            "1:2:3:4:5:6:1.2.3.4",
            "1::",
        ],
        &[
            "1::2::3",
            "12345::",
            "1:2:3:4:5:6:7",
            "fe80::1%eth0",
            "[::1]",
            "::1/128",
            "127.0.0.1",
            "",
            ":",
            ":::",
            "1:2:3:4:5:6:7:8:9",
            "1:2:3:4::5:6:7:8",
            "1.2.3.4::",
            ":1:2:3:4:5:6:7",
            "1:2:3:4:5:6:7:1.2.3.4",
        ],
    ),
    ("ip", &["0.0.0.0", "::1"], &["localhost", "", "1.2.3.4:80", "256.1.1.1", "[::1]", "1.2.3.0/24"]),
    (
        "uri",
        &[
            "https://example.com/a?b=c#d",
            "mailto:a@b.c",
            "urn:isbn:0451450523",
            "http://[::1]:8080/",
            "ftp://u:p@h/",
            "a:",
            "http://[v1.a:b]/",
            "file:///etc/hosts",
            "http://h:/",
        ],
        &[
            "//example.com",
            "/abc",
            "abc",
            "http:// x",
            "http://a/%zz",
            "1http://x",
            "http://ex.com/ü",
            "",
            "http://a:b:c/",
            "http://h:8a/",
            "http://u@v@h/",
            "http://[1.2.3.4]/",
            "a:%4",
            ":a",
        ],
    ),
    (
        "uri-reference",
        &["/abc", "", "//h/p", "#frag", "?q=1", "../a", "https://example.com", "a/b:c", "./a:b"],
        &["a b", "\\\\host", "%zz", "1a:b", "#a#b", "http://[::1", "^"],
    ),
    ("port", &["0", "443", "8080", "65535"], &["080", "+80", "http", "", "65536", "99999999999"]),
    ("percent", &["0%", "10%", "100%", "250%", "007%", "33%"], &["%", "10", "-5%", "1.5%", "10 %", "10%%"]),
    (
        "duration",
        &[
            "10h",
            "1h15m30.918s",
            "-1.5h",
            "0",
            ".5s",
            "100µs",
            "+5s",
            "-0",
            "1.s",
            "9223372036854775807ns",
            "-9223372036854775808ns",
            "1h1h",
            "9223372036.854775807s",
        ],
        &[
            "",
            "10",
            "1d",
            "P1D",
            "1 h",
            "h",
            "3000000h",
            ".s",
            "-",
            "9223372036854775808ns",
            "1h5",
            "é",
            "99999999999999999999ns",
            // Below the limit by a billionth of a nanosecond, which Go's floats cannot represent.
            "9223372036.854775807999999999s",
        ],
    ),
    (
        "iso-duration",
        &["P4DT12H30M5S", "P2W", "PT1M", "P1Y2M3D", "P1M", "PT36H", "P1DT1S", "P1YT1M"],
        &["P", "PT", "P1YT", "P1Y2W", "PT1D", "P2D1Y", "10h", "PT1H3S", "P1Y3D", "P1WT1H", "p1d", "P1.5D", "P1", ""],
    ),
];

fn text(value: &str) -> Node {
    Node::str(value)
}

#[test]
fn follow_their_grammars() {
    for (name, valid, invalid) in EXAMPLES {
        let format = find(name).unwrap();
        for example in valid {
            assert!(format.accepts(&text(example)), "{name} should accept {example:?}");
        }
        for example in invalid {
            assert!(!format.accepts(&text(example)), "{name} should refuse {example:?}");
        }
    }
}

#[test]
fn quantities_are_those_of_kubernetes() {
    let quantity = find("quantity").unwrap();
    for valid in ["5M", "10Gi", "0.5", "100m", "1e3", "-1.5Ki", "+.5", "1E", "5.", "1E3", "1e-3"] {
        assert!(quantity.accepts(&text(valid)), "{valid}");
    }
    for invalid in ["", "10GB", "5 Gi", "Gi", "1.2.3", "10ki", "1e", "0x10", ".", "+", "1e+"] {
        assert!(!quantity.accepts(&text(invalid)), "{invalid}");
    }
}

#[test]
fn some_accept_numbers() {
    let accepts = |name: &str, scalar: Scalar| find(name).unwrap().accepts(&Node::Scalar(scalar));
    assert!(accepts("port", Scalar::Int(0)) && accepts("port", Scalar::Int(65535)));
    assert!(!accepts("port", Scalar::Int(-1)) && !accepts("port", Scalar::Int(65536)));
    assert!(!accepts("port", Scalar::Float(80.5)) && !accepts("port", Scalar::Float(80.0)));
    assert!(accepts("quantity", Scalar::Int(5)) && accepts("quantity", Scalar::Float(0.5)));
    assert!(!accepts("percent", Scalar::Int(10)) && !accepts("hostname", Scalar::Bool(true)));
}

#[test]
fn long_texts_have_limits() {
    let label = "a".repeat(63);
    let longest = format!("{label}.{label}.{label}.{}", "a".repeat(61));
    let hostname = find("hostname").unwrap();
    assert!(hostname.accepts(&text(&longest)));
    assert!(!hostname.accepts(&text(&format!("{longest}a"))));
    assert!(!hostname.accepts(&text(&format!("{label}a"))));
    let email = find("email").unwrap();
    assert!(email.accepts(&text(&format!("{}@b", "a".repeat(64)))));
    assert!(!email.accepts(&text(&format!("{}@b", "a".repeat(65)))));
}

#[test]
fn a_misspelled_name_gets_a_suggestion() {
    assert_eq!(unknown(&"hostnam".into()), "unknown format \"hostnam\"; did you mean \"hostname\"?");
    assert_eq!(unknown(&"zzzzzz".into()), "unknown format \"zzzzzz\"");
    assert_eq!(find("uriref").map(|format| format.name), Some("uri-reference"));
}

#[test]
fn hints_cite_their_source() {
    assert_eq!(
        find("hostname").unwrap().hint(),
        "an Internet host name, RFC 1123; for example localhost or example.com"
    );
    for format in FORMATS {
        for example in format.examples {
            assert!(format.accepts(&text(example)), "{}: {example}", format.name);
        }
    }
}
