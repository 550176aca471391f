//! Floats as Go writes them: the `e`, `f` and `g` forms of its `strconv` package.
//!
//! Rust finds the same digits (the fewest that read back as the same number); only the layout
//! differs. Go writes the exponent with a sign and at least two digits, infinities as `+Inf` and
//! `-Inf`, and `g` switches to the exponent form below 1e-4 and, for the shortest digits, from
//! 1e+06 upwards (1e+21 in some writers).

/// The shortest text that reads back as `value`, in the `g` form: `1`, `0.5`, `1e+06`, `+Inf`,
/// `NaN`.
pub fn format_g(value: f64) -> String {
    shortest(value, 6)
}

/// Like [`format_g`], but without an exponent up to 1e+21, as in Go's `%v` and its JSON writer.
pub fn format_g21(value: f64) -> String {
    shortest(value, 21)
}

/// The `g` form with at most `precision` significant digits and no trailing zeros: `0.333333`,
/// `1e+06`.
pub fn format_g_precision(value: f64, precision: usize) -> String {
    if let Some(text) = special(value) {
        return text;
    }
    let precision = precision.max(1);
    let text = format!("{value:.*e}", precision - 1);
    let (mantissa, exponent) = split_exponent(&text);
    let mantissa = if mantissa.contains('.') { mantissa.trim_end_matches('0').trim_end_matches('.') } else { mantissa };
    let digits = mantissa.bytes().filter(u8::is_ascii_digit).count();
    if exponent < -4 || exponent >= precision as i32 {
        with_go_exponent(&format!("{mantissa}e{exponent}"))
    } else {
        let decimals = (digits as i32 - 1 - exponent).max(0) as usize;
        format!("{value:.decimals$}")
    }
}

/// The `f` form with `precision` digits after the point (Go's default is 6): `1.500000`.
pub fn format_f(value: f64, precision: usize) -> String {
    special(value).unwrap_or_else(|| format!("{value:.precision$}"))
}

/// The shortest text that reads back as `value` without ever using an exponent: `1000000`,
/// `0.00001`.
pub fn format_f_shortest(value: f64) -> String {
    special(value).unwrap_or_else(|| format!("{value}"))
}

/// The `e` form with `precision` digits after the point (Go's default is 6): `1.500000e+00`.
pub fn format_e(value: f64, precision: usize) -> String {
    special(value).unwrap_or_else(|| with_go_exponent(&format!("{value:.precision$e}")))
}

/// The `e` form with the fewest digits that read back as `value`: `1.5e+00`.
pub fn format_e_shortest(value: f64) -> String {
    special(value).unwrap_or_else(|| with_go_exponent(&format!("{value:e}")))
}

fn shortest(value: f64, exponent_from: i32) -> String {
    if let Some(text) = special(value) {
        return text;
    }
    let text = format!("{value:e}");
    let (_, exponent) = split_exponent(&text);
    if exponent < -4 || exponent >= exponent_from { with_go_exponent(&text) } else { format!("{value}") }
}

fn special(value: f64) -> Option<String> {
    if value.is_nan() {
        Some("NaN".to_owned())
    } else if value.is_infinite() {
        Some(if value > 0.0 { "+Inf" } else { "-Inf" }.to_owned())
    } else {
        None
    }
}

/// Mantissa and exponent of the output of Rust's `{:e}`.
fn split_exponent(text: &str) -> (&str, i32) {
    let (mantissa, exponent) = text.split_once('e').expect("the e form has an exponent");
    (mantissa, exponent.parse().expect("the exponent of a float is a small integer"))
}

fn with_go_exponent(text: &str) -> String {
    let (mantissa, exponent) = split_exponent(text);
    let sign = if exponent < 0 { '-' } else { '+' };
    format!("{mantissa}e{sign}{:02}", exponent.abs())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shortest_g_as_go_writes_it() {
        let rows: &[(f64, &str)] = &[
            (0.0, "0"),
            (-0.0, "-0"),
            (1.0, "1"),
            (0.5, "0.5"),
            (0.1 + 0.2, "0.30000000000000004"),
            (123456.0, "123456"),
            (999999.5, "999999.5"),
            (1e6, "1e+06"),
            (1234567.0, "1.234567e+06"),
            (1e-4, "0.0001"),
            (1e-5, "1e-05"),
            (-1.5e-7, "-1.5e-07"),
            (1e100, "1e+100"),
            (5e-324, "5e-324"),
            (f64::MAX, "1.7976931348623157e+308"),
            (f64::INFINITY, "+Inf"),
            (f64::NEG_INFINITY, "-Inf"),
            (f64::NAN, "NaN"),
        ];
        for (value, text) in rows {
            assert_eq!(format_g(*value), *text);
        }
    }

    #[test]
    fn g_with_six_digits_as_go_writes_it() {
        let rows: &[(f64, &str)] = &[
            (1.0, "1"),
            (-0.0, "-0"),
            (100.0, "100"),
            (1.0 / 3.0, "0.333333"),
            (2.0 / 3.0, "0.666667"),
            (123456.0, "123456"),
            (1234567.0, "1.23457e+06"),
            (1e6, "1e+06"),
            (999999.5, "1e+06"),
            (0.0001, "0.0001"),
            (0.00001234, "1.234e-05"),
            (2.5, "2.5"),
            (1e100, "1e+100"),
        ];
        for (value, text) in rows {
            assert_eq!(format_g_precision(*value, 6), *text);
        }
    }

    #[test]
    fn other_forms() {
        assert_eq!(format_g21(1e6), "1000000");
        assert_eq!(format_g21(1e20), "100000000000000000000");
        assert_eq!(format_g21(1e21), "1e+21");
        assert_eq!(format_f(1.5, 6), "1.500000");
        assert_eq!(format_f(2.5, 0), "2");
        assert_eq!(format_f_shortest(1e22), "10000000000000000000000");
        assert_eq!(format_e(1500.0, 6), "1.500000e+03");
        assert_eq!(format_e(0.0, 6), "0.000000e+00");
        assert_eq!(format_e_shortest(1e-7), "1e-07");
        assert_eq!(format_f(f64::NEG_INFINITY, 6), "-Inf");
    }
}
