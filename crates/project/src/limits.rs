//! `limits:`, durations and sizes.

use std::time::Duration;

/// Limits of a run; `None` means the default.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Limits {
    /// Time of the processor.
    pub time: Option<Duration>,
    /// Bytes of memory.
    pub memory: Option<u64>,
    /// Turns of loops and calls of functions.
    pub steps: Option<u64>,
    /// Bytes of output.
    pub output: Option<u64>,
    /// Calls within calls.
    pub depth: Option<u64>,
}

impl Limits {
    /// These limits where they are given, else the others.
    #[must_use]
    pub fn or(self, other: Limits) -> Limits {
        Limits {
            time: self.time.or(other.time),
            memory: self.memory.or(other.memory),
            steps: self.steps.or(other.steps),
            output: self.output.or(other.output),
            depth: self.depth.or(other.depth),
        }
    }
}

/// Reads `30s`, `500ms`, `1m30s`, `1.5h`. A number needs a unit.
///
/// ```
/// use std::time::Duration;
/// use ytterby_project::duration;
/// assert_eq!(duration("1m30s"), Some(Duration::from_secs(90)));
/// assert_eq!(duration("30"), None);
/// ```
pub fn duration(text: &str) -> Option<Duration> {
    let mut rest = text;
    let mut total = 0.0;
    while !rest.is_empty() {
        let (number, behind) = number(rest)?;
        let units = [("ms", 0.001), ("us", 0.000_001), ("h", 3600.0), ("m", 60.0), ("s", 1.0)];
        let (unit, seconds) = units.into_iter().find(|(unit, _)| behind.starts_with(unit))?;
        total += number * seconds;
        rest = &behind[unit.len()..];
    }
    if text.is_empty() { None } else { Duration::try_from_secs_f64(total).ok() }
}

/// Reads `2GiB`, `512MiB`, `100MB`, `1024`, `1.5Gi`.
///
/// ```
/// use ytterby_project::size;
/// assert_eq!(size("2GiB"), Some(2 << 30));
/// assert_eq!(size("1.5kB"), Some(1500));
/// assert_eq!(size("2 apples"), None);
/// ```
pub fn size(text: &str) -> Option<u64> {
    let (number, unit) = number(text)?;
    let factor: u64 = match unit.trim_start() {
        "" | "B" => 1,
        "kB" | "KB" | "k" | "K" => 1000,
        "MB" | "M" => 1_000_000,
        "GB" | "G" => 1_000_000_000,
        "TB" | "T" => 1_000_000_000_000,
        "KiB" | "Ki" => 1 << 10,
        "MiB" | "Mi" => 1 << 20,
        "GiB" | "Gi" => 1 << 30,
        "TiB" | "Ti" => 1 << 40,
        _ => return None,
    };
    let bytes = number * factor as f64;
    (bytes < u64::MAX as f64).then_some(bytes as u64)
}

/// The number that a text begins with, and what follows it.
fn number(text: &str) -> Option<(f64, &str)> {
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let number = text[..end].parse().ok()?;
    Some((number, &text[end..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_have_units() {
        let check = |text, want: Option<u64>| assert_eq!(duration(text), want.map(Duration::from_millis), "{text}");
        check("30s", Some(30_000));
        check("500ms", Some(500));
        check("1.5m", Some(90_000));
        check("1h1m1s", Some(3_661_000));
        check("0s", Some(0));
        for wrong in ["", "30", "s", "-1s", "1d", "1s2", "1..5s", "1e400h", "99999999999999999999999h"] {
            check(wrong, None);
        }
    }

    #[test]
    fn sizes_may_have_units() {
        let check = |text, want: Option<u64>| assert_eq!(size(text), want, "{text}");
        check("1024", Some(1024));
        check("1GiB", Some(1 << 30));
        check("1 GiB", Some(1 << 30));
        check("0.5Ki", Some(512));
        for wrong in ["", "GiB", "-1", "1XB", "1..2MB", "99999999999999999999TiB"] {
            check(wrong, None);
        }
    }
}
