//! `date-time`: RFC 3339 date-time, with `T` between date and time.

pub(super) fn accepts(text: &str) -> bool {
    let time = super::date::full_date(text).and_then(|rest| rest.strip_prefix(['T', 't']));
    time.is_some_and(super::time::accepts)
}
