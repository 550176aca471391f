//! Writes one line per event, in the format of the reference's logger: JSON, or fields separated by
//! tabs.
//!
//! Levels are zap's: errors, information, and numbers for increasing detail. Objects of reviews are
//! never logged at any level: VMs contain passwords in their start-up scripts.

use std::io::Write;
use std::sync::Mutex;
use std::time::{SystemTime, UNIX_EPOCH};

use crate::value::{cut, quoted};

/// The format of lines.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Encoder {
    /// One JSON object.
    #[default]
    Json,
    /// Time, level, message and the rest, for people.
    Console,
}

/// The format of times.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Times {
    /// `2026-01-02T03:04:05Z`.
    #[default]
    Rfc3339,
    /// `2026-01-02T03:04:05.000000006Z`.
    Rfc3339Nano,
    /// `2026-01-02T03:04:05.006Z`.
    Iso8601,
    /// Seconds with a fraction.
    Epoch,
    /// Milliseconds with a fraction.
    Millis,
    /// Nanoseconds.
    Nanos,
}

/// The log.
pub struct Log {
    /// -1 logs errors only, 0 information, greater numbers details up to that level.
    pub verbosity: i32,
    /// The format of lines.
    pub encoder: Encoder,
    /// The format of times.
    pub times: Times,
    out: Mutex<Box<dyn Write + Send>>,
}

/// A value in addition to the message.
#[derive(Debug)]
pub enum LogField<'a> {
    /// A text, truncated if it is very long.
    Text(&'a str),
    /// A number.
    Number(i64),
    /// True or false.
    Flag(bool),
    /// Texts.
    List(Vec<&'a str>),
}

impl<'a> From<&'a str> for LogField<'a> {
    fn from(text: &'a str) -> Self {
        LogField::Text(text)
    }
}

/// Maximum characters of a text: clients may have sent it.
const LONGEST: usize = 1000;
/// Maximum items of a list.
const MOST: usize = 20;

impl<'a> From<&'a String> for LogField<'a> {
    fn from(text: &'a String) -> Self {
        LogField::Text(text)
    }
}

impl Log {
    /// A log that writes to standard error.
    pub fn stderr(verbosity: i32, encoder: Encoder, times: Times) -> Log {
        Log { verbosity, encoder, times, out: Mutex::new(Box::new(std::io::stderr())) }
    }

    /// A log of everything up to a level to another writer.
    pub fn to(out: Box<dyn Write + Send>, verbosity: i32) -> Log {
        Log { verbosity, encoder: Encoder::Json, times: Times::Rfc3339, out: Mutex::new(out) }
    }

    /// Logs a problem.
    pub fn error(&self, message: &str, fields: &[(&str, LogField<'_>)]) {
        self.line("error", message, fields);
    }

    /// Logs an event.
    pub fn info(&self, message: &str, fields: &[(&str, LogField<'_>)]) {
        self.detail(0, message, fields);
    }

    /// Logs an event of a level; does nothing if the log is less verbose.
    pub fn detail(&self, level: i32, message: &str, fields: &[(&str, LogField<'_>)]) {
        if level <= self.verbosity {
            let name = if level == 0 { "info".to_owned() } else { format!("Level(-{level})") };
            self.line(if level == 1 { "debug" } else { &name }, message, fields);
        }
    }

    fn line(&self, level: &str, message: &str, fields: &[(&str, LogField<'_>)]) {
        let time = self.times.show(SystemTime::now());
        let mut line = match self.encoder {
            Encoder::Json => {
                let (level, message) = (quoted(level), quoted(message));
                format!("{{\"level\":{level},\"ts\":{time},\"logger\":\"template-validator\",\"msg\":{message}")
            }
            Encoder::Console => {
                let time = time.trim_matches('"');
                let message: String = message.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
                format!("{time}\t{}\ttemplate-validator\t{message}\t{{", level.to_uppercase())
            }
        };
        for (number, (key, field)) in fields.iter().enumerate() {
            let comma = if number == 0 && self.encoder == Encoder::Console { "" } else { "," };
            let value = match field {
                LogField::Text(text) => quoted(&cut(text, LONGEST)),
                LogField::Number(number) => number.to_string(),
                LogField::Flag(flag) => flag.to_string(),
                LogField::List(items) => {
                    let mut shown: Vec<String> =
                        items.iter().take(MOST).map(|item| quoted(&cut(item, LONGEST))).collect();
                    if items.len() > MOST {
                        shown.push(quoted(&format!("and {} more", items.len() - MOST)));
                    }
                    format!("[{}]", shown.join(","))
                }
            };
            line.push_str(&format!("{comma}{}:{value}", quoted(key)));
        }
        line.push_str("}\n");
        if let Ok(mut out) = self.out.lock() {
            // An error of the log cannot be logged.
            let _ = out.write_all(line.as_bytes());
        }
    }
}

impl std::fmt::Debug for Log {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Log({})", self.verbosity)
    }
}

impl Times {
    fn show(self, time: SystemTime) -> String {
        let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
        let nanos = since.subsec_nanos();
        let date = || date(since.as_secs());
        match self {
            Times::Rfc3339 => format!("\"{}Z\"", date()),
            Times::Rfc3339Nano => format!("\"{}.{nanos:09}Z\"", date()),
            Times::Iso8601 => format!("\"{}.{:03}Z\"", date(), nanos / 1_000_000),
            Times::Epoch => format!("{}.{nanos:09}", since.as_secs()),
            Times::Millis => format!("{}.{:06}", since.as_millis(), nanos % 1_000_000),
            Times::Nanos => since.as_nanos().to_string(),
        }
    }
}

/// Seconds since 1970 as date and time.
fn date(seconds: u64) -> String {
    let (days, second) = (seconds / 86_400, seconds % 86_400);
    // Years begin in March here, so that leap days end them; an era has 400 years. Day 0 is
    // 0000-03-01.
    let day = days + 719_468;
    let (era, day) = (day / 146_097, day % 146_097);
    let year = (day - day / 1460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let day = day - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    let year = era * 400 + year + u64::from(month <= 2);
    format!("{year:04}-{month:02}-{day:02}T{:02}:{:02}:{:02}", second / 3600, second / 60 % 60, second % 60)
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use super::*;

    #[derive(Clone, Default)]
    struct Kept(Arc<Mutex<Vec<u8>>>);

    impl Write for Kept {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0.lock().unwrap().write(bytes)
        }

        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn dates_follow_the_calendar() {
        for (seconds, expect) in [
            (0, "1970-01-01T00:00:00"),
            (951_782_399, "2000-02-28T23:59:59"),
            (951_782_400, "2000-02-29T00:00:00"),
            (4_107_542_400, "2100-03-01T00:00:00"),
            (1_794_787_199, "2026-11-15T23:59:59"),
        ] {
            assert_eq!(date(seconds), expect);
        }
    }

    #[test]
    fn every_event_is_one_line() {
        let kept = Kept::default();
        let mut log = Log::to(Box::new(kept.clone()), 2);
        log.info("a \"b\"\nc", &[("k", "v\n".into()), ("n", LogField::Number(3)), ("l", LogField::List(vec!["x"]))]);
        log.detail(3, "too much", &[]);
        log.encoder = Encoder::Console;
        log.error("bad", &[("k", "v".into())]);
        let text = String::from_utf8(kept.0.lock().unwrap().clone()).unwrap();
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines.len(), 2, "{text}");
        assert!(lines[0].ends_with(r#""msg":"a \"b\"\nc","k":"v\n","n":3,"l":["x"]}"#), "{text}");
        assert!(crate::json::parse(lines[0]).is_ok());
        assert!(lines[1].ends_with("\tERROR\ttemplate-validator\tbad\t{\"k\":\"v\"}"), "{text}");
    }
}
