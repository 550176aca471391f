//! `port`: 0 to 65535 in decimal, without sign or leading zeros. Integers are checked by their
//! value.

pub(super) fn accepts(text: &str) -> bool {
    let has_leading_zero = text.len() > 1 && text.starts_with('0');
    text.bytes().all(|byte| byte.is_ascii_digit()) && !has_leading_zero && text.parse::<u16>().is_ok()
}
