//! `duration`: the syntax of Go's `time.ParseDuration`: `1h15m30.918s`, within 64 bits of
//! nanoseconds.

pub(super) fn accepts(text: &str) -> bool {
    ytterby_text::duration::parse(text).is_some()
}
