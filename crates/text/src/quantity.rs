//! Exact decimals and Kubernetes quantities.
//!
//! A [`Decimal`] is a sign, digits and a power of ten, of any length. That suffices to compare and
//! to test for integers, and it is exact: `1.5Gi` is 1610612736. Arithmetic is deliberately absent,
//! apart from the binary suffixes.

use std::cmp::Ordering;
use std::fmt;

/// Exponents saturate here; no text of realistic length comes near.
const EXPONENT_LIMIT: i64 = 1 << 40;

/// An exact decimal number.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Decimal {
    negative: bool,
    /// Values 0..=9, most significant first, without zeros at either end; none for zero.
    digits: Vec<u8>,
    /// The exponent of the last digit; 0 for zero.
    exponent: i64,
}

impl Decimal {
    /// Zero.
    pub const ZERO: Decimal = Decimal { negative: false, digits: Vec::new(), exponent: 0 };

    /// Parses a JSON number, and a little more: a sign, digits with or without a point, an
    /// exponent.
    pub fn parse(text: &str) -> Option<Decimal> {
        let (number, rest) = mantissa(text)?;
        if rest.is_empty() {
            return Some(number.finish(0));
        }
        let exponent = exponent(rest)?;
        Some(number.finish(exponent))
    }

    /// The shortest decimal that reads back as this float; `None` for infinities and NaN.
    pub fn from_f64(value: f64) -> Option<Decimal> {
        if value.is_finite() { Decimal::parse(&format!("{value:e}")) } else { None }
    }

    /// Whether it has no fraction.
    pub fn is_integer(&self) -> bool {
        self.exponent >= 0
    }

    /// Whether it is below zero.
    pub fn is_negative(&self) -> bool {
        self.negative
    }

    /// The number as an `i64`, if it is an integer that fits.
    pub fn to_i64(&self) -> Option<i64> {
        if self.exponent < 0 || self.digits.len() as i64 + self.exponent > 19 {
            return None;
        }
        let magnitude = self.digits.iter().fold(0i128, |sum, &digit| sum * 10 + i128::from(digit));
        let magnitude = magnitude * 10i128.pow(self.exponent as u32);
        i64::try_from(if self.negative { -magnitude } else { magnitude }).ok()
    }

    /// The nearest integers at or below and at or above; both are equal for an integer.
    pub fn floor_ceil(&self) -> (Decimal, Decimal) {
        if self.is_integer() {
            return (self.clone(), self.clone());
        }
        let cut = (-self.exponent).min(self.digits.len() as i64) as usize;
        let kept = &self.digits[..self.digits.len() - cut];
        let toward_zero = Raw { negative: self.negative, digits: kept.to_vec(), scale: 0 }.finish(0);
        let mut next = if kept.is_empty() { vec![0] } else { kept.to_vec() };
        let carry = next.iter_mut().rev().all(|digit| {
            *digit = (*digit + 1) % 10;
            *digit == 0
        });
        if carry {
            next.insert(0, 1);
        }
        let away = Raw { negative: self.negative, digits: next, scale: 0 }.finish(0);
        if self.negative { (away, toward_zero) } else { (toward_zero, away) }
    }

    /// The position of the first digit: 3 for 123, 0 for 0.5.
    fn magnitude(&self) -> i64 {
        self.digits.len() as i64 + self.exponent
    }
}

impl From<i128> for Decimal {
    fn from(value: i128) -> Decimal {
        let digits = value.unsigned_abs().to_string().bytes().map(|digit| digit - b'0').collect();
        Raw { negative: value < 0, digits, scale: 0 }.finish(0)
    }
}

impl From<i64> for Decimal {
    fn from(value: i64) -> Decimal {
        Decimal::from(i128::from(value))
    }
}

impl PartialOrd for Decimal {
    fn partial_cmp(&self, other: &Decimal) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Decimal {
    fn cmp(&self, other: &Decimal) -> Ordering {
        let sign = |d: &Decimal| if d.digits.is_empty() { 0 } else { 1 - 2 * i8::from(d.negative) };
        let signs = sign(self).cmp(&sign(other));
        if signs != Ordering::Equal || self.digits.is_empty() {
            return signs;
        }
        let magnitudes = self.magnitude().cmp(&other.magnitude()).then_with(|| self.digits.cmp(&other.digits));
        if self.negative { magnitudes.reverse() } else { magnitudes }
    }
}

impl fmt::Display for Decimal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.digits.is_empty() {
            return f.write_str("0");
        }
        if self.negative {
            f.write_str("-")?;
        }
        let digits: String = self.digits.iter().map(|&digit| char::from(b'0' + digit)).collect();
        let (exponent, magnitude) = (self.exponent, self.magnitude());
        // Longer runs of zeros are easier to read, and cheaper to write, as an exponent.
        if exponent > 40 || magnitude < -40 {
            return write!(f, "{digits}e{exponent}");
        }
        if exponent >= 0 {
            return write!(f, "{digits}{}", "0".repeat(exponent as usize));
        }
        if magnitude <= 0 {
            return write!(f, "0.{}{digits}", "0".repeat(-magnitude as usize));
        }
        let (whole, fraction) = digits.split_at(magnitude as usize);
        write!(f, "{whole}.{fraction}")
    }
}

/// The exact value of a Kubernetes quantity (`500m`, `1.5Gi`, `2e3`); `None` if the text is not a
/// quantity.
pub fn quantity(text: &str) -> Option<Decimal> {
    let (number, suffix) = mantissa(text)?;
    let (tens, kibis) = match suffix {
        "" => (0, 0),
        "n" => (-9, 0),
        "u" => (-6, 0),
        "m" => (-3, 0),
        "k" => (3, 0),
        "M" => (6, 0),
        "G" => (9, 0),
        "T" => (12, 0),
        "P" => (15, 0),
        "E" => (18, 0),
        "Ki" => (0, 1),
        "Mi" => (0, 2),
        "Gi" => (0, 3),
        "Ti" => (0, 4),
        "Pi" => (0, 5),
        "Ei" => (0, 6),
        other => (exponent(other)?, 0),
    };
    Some(number.times_1024(kibis).finish(tens))
}

/// Digits as they were read: possibly with zeros at both ends, `scale` of them after the point.
struct Raw {
    negative: bool,
    digits: Vec<u8>,
    scale: i64,
}

impl Raw {
    fn finish(mut self, exponent: i64) -> Decimal {
        let zeros = self.digits.iter().rev().take_while(|&&digit| digit == 0).count();
        self.digits.truncate(self.digits.len() - zeros);
        let leading = self.digits.iter().take_while(|&&digit| digit == 0).count();
        self.digits.drain(..leading);
        if self.digits.is_empty() {
            return Decimal::ZERO;
        }
        Decimal { negative: self.negative, digits: self.digits, exponent: exponent - self.scale + zeros as i64 }
    }

    fn times_1024(mut self, times: u32) -> Raw {
        for _ in 0..times {
            let mut carry = 0u32;
            for digit in self.digits.iter_mut().rev() {
                let product = u32::from(*digit) * 1024 + carry;
                *digit = (product % 10) as u8;
                carry = product / 10;
            }
            let mut front: Vec<u8> = Vec::new();
            while carry > 0 {
                front.push((carry % 10) as u8);
                carry /= 10;
            }
            self.digits.splice(0..0, front.into_iter().rev());
        }
        self
    }
}

/// Splits a number into its mantissa (sign, digits, point) and the rest. Requires at least one
/// digit.
fn mantissa(text: &str) -> Option<(Raw, &str)> {
    let (negative, unsigned) = match text.as_bytes().first()? {
        b'-' => (true, &text[1..]),
        b'+' => (false, &text[1..]),
        _ => (false, text),
    };
    let digit_run = |text: &str| text.bytes().take_while(u8::is_ascii_digit).count();
    let whole = digit_run(unsigned);
    let (fraction, end) = match unsigned[whole..].strip_prefix('.') {
        Some(rest) => {
            let len = digit_run(rest);
            (&rest[..len], whole + 1 + len)
        }
        None => ("", whole),
    };
    if whole + fraction.len() == 0 {
        return None;
    }
    let digits = unsigned[..whole].bytes().chain(fraction.bytes()).map(|digit| digit - b'0').collect();
    Some((Raw { negative, digits, scale: fraction.len() as i64 }, &unsigned[end..]))
}

/// Parses `e3`, `E-12`.
fn exponent(text: &str) -> Option<i64> {
    let text = text.strip_prefix(['e', 'E'])?;
    let (sign, digits) = match text.as_bytes().first()? {
        b'-' => (-1, &text[1..]),
        b'+' => (1, &text[1..]),
        _ => (1, text),
    };
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let magnitude = digits.parse::<i64>().unwrap_or(EXPONENT_LIMIT).min(EXPONENT_LIMIT);
    Some(sign * magnitude)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantities_are_exact() {
        for (text, value) in [
            ("1.5Gi", "1610612736"),
            ("2Gi", "2147483648"),
            ("128M", "128000000"),
            ("1500m", "1.5"),
            ("1E", "1000000000000000000"),
            ("1E3", "1000"),
            ("7Ei", "8070450532247928832"),
            ("-1.5Ki", "-1536"),
            ("+.5", "0.5"),
            ("5.", "5"),
            ("0.1n", "0.0000000001"),
            ("00", "0"),
            ("-0Gi", "0"),
        ] {
            assert_eq!(quantity(text).map(|value| value.to_string()).as_deref(), Some(value), "{text}");
        }
        for text in ["", "10GB", "5 Gi", "Gi", "1.2.3", "10ki", "1e", "0x10", "-", ".", "1e+", "é"] {
            assert_eq!(quantity(text), None, "{text}");
        }
    }

    #[test]
    fn order_is_that_of_the_numbers() {
        let sorted = ["-2Gi", "-1.5", "-1500u", "0", "1n", "999m", "1", "1.0001", "9.9", "10", "1e30", "1e400"];
        for (i, a) in sorted.iter().enumerate() {
            for (j, b) in sorted.iter().enumerate() {
                assert_eq!(quantity(a).unwrap().cmp(&quantity(b).unwrap()), i.cmp(&j), "{a} {b}");
            }
        }
        assert_eq!(quantity("1Ki"), quantity("1024"));
        assert_eq!(quantity("1.024k"), quantity("1Ki"));
    }

    #[test]
    fn integers_and_neighbours() {
        for (text, floor, ceil) in [("1.5", "1", "2"), ("-1.5", "-2", "-1"), ("0.1", "0", "1"), ("9.99", "9", "10")] {
            let (low, high) = Decimal::parse(text).unwrap().floor_ceil();
            assert_eq!((low.to_string().as_str(), high.to_string().as_str()), (floor, ceil), "{text}");
        }
        assert!(quantity("2000m").unwrap().is_integer());
        assert!(!quantity("1500m").unwrap().is_integer());
        assert_eq!(Decimal::parse("9223372036854775808").unwrap().to_i64(), None);
        assert_eq!(Decimal::parse("-9223372036854775808").unwrap().to_i64(), Some(i64::MIN));
        assert_eq!(Decimal::from_f64(2.5).unwrap().to_string(), "2.5");
        assert_eq!(Decimal::parse("1e99999999999999999999").unwrap().to_string(), "1e1099511627776");
    }
}
