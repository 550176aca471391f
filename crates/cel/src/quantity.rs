//! Quantities with exact arithmetic, stored as an integer number of billionths.

use std::cmp::Ordering;

use num_bigint::BigInt;
use num_traits::{Signed, ToPrimitive, Zero};
use ytterby_text::Decimal;

/// A quantity in billionths. Smaller fractions are rounded up, as in Kubernetes.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Quantity(BigInt);

/// Larger exponents are rejected: they are useless, and arithmetic would be slow.
const MAX_EXPONENT: i64 = 1000;

impl Quantity {
    pub(crate) fn parse(text: &str) -> Option<Quantity> {
        let value: Decimal = ytterby_text::quantity(text)?;
        let shown = value.to_string();
        let (number, exponent) = shown.split_once('e').unwrap_or((&shown, "0"));
        let exponent: i64 = exponent.parse().ok()?;
        let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
        if exponent > MAX_EXPONENT || fraction.len() > 100_000 {
            return None;
        }
        let digits: BigInt = format!("{whole}{fraction}").parse().ok()?;
        let scale = 9 + exponent - fraction.len() as i64;
        if scale >= 0 {
            return Some(Quantity(digits * BigInt::from(10).pow(scale as u32)));
        }
        let divisor = BigInt::from(10).pow(u32::try_from(-scale).ok()?.min(100_000));
        let (mut quotient, rest) = (&digits / &divisor, &digits % &divisor);
        if !rest.is_zero() {
            quotient += if digits.is_negative() { -1 } else { 1 };
        }
        Some(Quantity(quotient))
    }

    pub(crate) fn of_int(value: i64) -> Quantity {
        Quantity(BigInt::from(value) * 1_000_000_000i64)
    }

    pub(crate) fn is_integer(&self) -> bool {
        self.as_integer().is_some()
    }

    pub(crate) fn as_integer(&self) -> Option<i64> {
        let billion = BigInt::from(1_000_000_000);
        (&self.0 % &billion).is_zero().then(|| (&self.0 / &billion).to_i64()).flatten()
    }

    pub(crate) fn as_float(&self) -> f64 {
        self.0.to_f64().unwrap_or(f64::MAX) / 1e9
    }

    pub(crate) fn sign(&self) -> i64 {
        match self.0.cmp(&BigInt::zero()) {
            Ordering::Less => -1,
            Ordering::Equal => 0,
            Ordering::Greater => 1,
        }
    }

    pub(crate) fn plus(&self, other: &Quantity) -> Quantity {
        Quantity(&self.0 + &other.0)
    }

    pub(crate) fn minus(&self, other: &Quantity) -> Quantity {
        Quantity(&self.0 - &other.0)
    }
}
