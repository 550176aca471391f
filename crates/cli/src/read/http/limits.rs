//! Limits on the time and size of a response, so that no server can block a run.

use std::time::{Duration, Instant};

const TIMEOUT: &str = "YTTERBY_HTTP_TIMEOUT";
const MAX_SIZE: &str = "YTTERBY_HTTP_MAX_SIZE";

/// Limits for one URL, including redirects.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct HttpLimits {
    /// In seconds.
    timeout: f64,
    /// In mebibytes, decompressed.
    size: u32,
}

impl HttpLimits {
    /// The user's limits, otherwise the defaults listed in COMPATIBILITY.md.
    pub fn from_variables(env: &dyn Fn(&str) -> Option<String>) -> Result<HttpLimits, String> {
        let set = |name: &str| env(name).filter(|value| !value.is_empty());
        let wrong =
            |name: &str, unit: &str, value: &str| format!("Expected {name} to be a number of {unit}, found '{value}'");
        let timeout = match set(TIMEOUT) {
            // Capped at a year, so that no clock overflows.
            Some(value) => match value.parse() {
                Ok(seconds) if (0.001..=31_536_000.0).contains(&seconds) => seconds,
                _ => return Err(wrong(TIMEOUT, "seconds", &value)),
            },
            None => 60.0,
        };
        let size = match set(MAX_SIZE) {
            Some(value) => value.parse().map_err(|_| wrong(MAX_SIZE, "MiB", &value))?,
            None => 256,
        };
        Ok(HttpLimits { timeout, size })
    }

    pub fn start(self) -> Clock {
        Clock { limits: self, end: Instant::now() + Duration::from_secs_f64(self.timeout) }
    }

    pub fn bytes(self) -> u64 {
        u64::from(self.size) << 20
    }

    pub fn too_large(self) -> String {
        format!("more than {} MiB (hint: set {MAX_SIZE} to as many MiB as it has, or give a file)", self.size)
    }

    /// The error for `what` not happening in time.
    pub fn too_slow(self, what: &str) -> String {
        format!("{what} within {} seconds (hint: set {TIMEOUT} to more seconds)", self.timeout)
    }
}

/// The limits of a running request.
pub(super) struct Clock {
    limits: HttpLimits,
    end: Instant,
}

impl Clock {
    pub fn limits(&self) -> HttpLimits {
        self.limits
    }

    /// The remaining time; at least a millisecond, so that the request itself fails, with the usual
    /// text.
    pub fn left(&self) -> Duration {
        self.end.saturating_duration_since(Instant::now()).max(Duration::from_millis(1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(timeout: &str, size: &str, want: Result<(f64, u32), &str>) {
        let env = |name: &str| Some(if name == TIMEOUT { timeout } else { size }.to_owned());
        let got = HttpLimits::from_variables(&env);
        assert_eq!(got.as_ref().map(|limits| (limits.timeout, limits.size)).map_err(String::as_str), want);
    }

    #[test]
    fn variables_change_the_limits() {
        check("", "", Ok((60.0, 256)));
        check("0.5", "1000", Ok((0.5, 1000)));
        for wrong in ["0", "-1", "x", "NaN", "inf", "1e9"] {
            let text = format!("Expected YTTERBY_HTTP_TIMEOUT to be a number of seconds, found '{wrong}'");
            check(wrong, "", Err(&text));
        }
        check("", "1.5", Err("Expected YTTERBY_HTTP_MAX_SIZE to be a number of MiB, found '1.5'"));
    }
}
