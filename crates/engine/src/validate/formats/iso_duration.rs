//! `iso-duration`: RFC 3339 appendix A; no unit between the largest and the smallest may be
//! omitted.

pub(super) fn accepts(text: &str) -> bool {
    let Some(text) = text.strip_prefix('P') else { return false };
    let (date, time) = match text.split_once('T') {
        Some((date, time)) => (date, Some(time)),
        None => (text, None),
    };
    let is_date = is_run(date, "YMD") || (time.is_none() && is_run(date, "W"));
    match time {
        Some(time) => (date.is_empty() || is_date) && is_run(time, "HMS"),
        None => is_date,
    }
}

/// Whether the text consists of numbers, each followed by the next of `units`, starting at any of
/// them.
fn is_run(text: &str, units: &str) -> bool {
    let mut rest = text;
    let mut expected: Option<&str> = None;
    while !rest.is_empty() {
        let Some((_, after)) = super::digit_run(rest) else { return false };
        let Some(unit) = after.chars().next() else { return false };
        let following = match expected {
            Some(units) => units.strip_prefix(unit),
            None => units.split_once(unit).map(|(_, following)| following),
        };
        if following.is_none() {
            return false;
        }
        expected = following;
        rest = &after[unit.len_utf8()..];
    }
    !text.is_empty()
}
