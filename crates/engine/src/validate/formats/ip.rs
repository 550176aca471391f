//! `ip`: an address of either version.

pub(super) fn accepts(text: &str) -> bool {
    super::ipv4::accepts(text) || super::ipv6::accepts(text)
}
