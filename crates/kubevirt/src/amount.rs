//! Formats numbers of rules for people: `1.5Gi`, not 1610612736.

use ytterby_text::Decimal;

use crate::schema::{FieldKind, VmField};

/// Suffixes and their factors, largest first.
const BINARY: [(&str, i64); 6] =
    [("Ei", 1 << 60), ("Pi", 1 << 50), ("Ti", 1 << 40), ("Gi", 1 << 30), ("Mi", 1 << 20), ("Ki", 1 << 10)];
const DECIMAL: [(&str, i64); 6] = [
    ("E", 1_000_000_000_000_000_000),
    ("P", 1_000_000_000_000_000),
    ("T", 1_000_000_000_000),
    ("G", 1_000_000_000),
    ("M", 1_000_000),
    ("k", 1_000),
];

/// A number in the notation of the field that it is compared with.
pub(crate) fn shown(number: &Decimal, field: Option<&VmField>) -> String {
    if field.is_some_and(|field| field.kind == FieldKind::Quantity) { quantity(number) } else { number.to_string() }
}

/// A number as a quantity with at most two decimal places; unchanged if that is not exact.
fn quantity(number: &Decimal) -> String {
    let plain = || number.to_string();
    let Some(whole) = number.to_i64().filter(|whole| number.is_integer() && whole.unsigned_abs() >= 1000) else {
        return plain();
    };
    let with = |(suffix, unit): (&str, i64)| {
        let (hundredths, unit) = (i128::from(whole) * 100, i128::from(unit));
        if hundredths.abs() < 100 * unit || hundredths % unit != 0 {
            return None;
        }
        let hundredths = hundredths / unit;
        let (sign, rest) = (if hundredths < 0 { "-" } else { "" }, format!(".{:02}", hundredths.abs() % 100));
        let rest = rest.trim_end_matches('0').trim_end_matches('.');
        Some(format!("{sign}{}{rest}{suffix}", hundredths.abs() / 100))
    };
    let shortest = BINARY.into_iter().chain(DECIMAL).filter_map(with).min_by_key(String::len);
    shortest.filter(|text| text.len() < plain().len()).unwrap_or_else(plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_are_shown_as_they_are_written() {
        for (number, expect) in [
            (1_610_612_736_i64, "1.5Gi"),
            (1 << 30, "1Gi"),
            (536_870_912, "512Mi"),
            (2_147_483_648, "2Gi"),
            (1 << 60, "1Ei"),
            (1_500_000_000, "1.5G"),
            (128_000_000, "128M"),
            (4000, "4k"),
            (1024, "1Ki"),
            (999, "999"),
            (0, "0"),
            (-2048, "-2Ki"),
            (1_610_612_737, "1610612737"),
            (2_684_354_560, "2.5Gi"),
            (i64::MAX, "9223372036854775807"),
        ] {
            assert_eq!(quantity(&Decimal::from(number)), expect, "{number}");
        }
        assert_eq!(quantity(&Decimal::parse("1.5").unwrap()), "1.5");
    }
}
