//! `ipv4`: four decimal numbers up to 255, without leading zeros.

pub(super) fn accepts(text: &str) -> bool {
    let mut count = 0;
    text.split('.').all(|part| {
        count += 1;
        is_octet(part)
    }) && count == 4
}

fn is_octet(part: &str) -> bool {
    let has_leading_zero = part.len() > 1 && part.starts_with('0');
    part.bytes().all(|byte| byte.is_ascii_digit()) && !has_leading_zero && part.parse::<u8>().is_ok()
}
