//! `ipv6`: the three forms of RFC 4291 section 2.2, without zone, brackets or prefix length.

pub(super) fn accepts(text: &str) -> bool {
    match text.split_once("::") {
        // A second `::` leaves an empty group, which is not valid.
        Some((left, right)) => matches!((groups(left, false), groups(right, true)), (Some(l), Some(r)) if l + r <= 7),
        None => groups(text, true) == Some(8) && !text.is_empty(),
    }
}

/// The number of groups of 16 bits; an IPv4 address at the end counts as two.
fn groups(text: &str, may_end_in_ipv4: bool) -> Option<usize> {
    if text.is_empty() {
        return Some(0);
    }
    let (groups, rest) = match text.rsplit_once(':') {
        Some((groups, last)) if may_end_in_ipv4 && last.contains('.') => (Some(groups), Some(last)),
        None if may_end_in_ipv4 && text.contains('.') => (None, Some(text)),
        _ => (Some(text), None),
    };
    let mut count = 0;
    if let Some(groups) = groups {
        for group in groups.split(':') {
            if !(1..=4).contains(&group.len()) || !group.bytes().all(|byte| byte.is_ascii_hexdigit()) {
                return None;
            }
            count += 1;
        }
    }
    match rest {
        Some(ipv4) => super::ipv4::accepts(ipv4).then_some(count + 2),
        None => Some(count),
    }
}
