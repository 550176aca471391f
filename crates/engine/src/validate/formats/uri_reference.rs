//! `uri-reference`: a URI, or a reference relative to one; the first segment of a relative path has
//! no `:`.

pub(super) fn accepts(text: &str) -> bool {
    super::uri::accepts(text) || is_relative(text)
}

fn is_relative(text: &str) -> bool {
    let first_segment = &text[..text.find(['/', '?', '#']).unwrap_or(text.len())];
    !first_segment.contains(':') && super::uri::is_rest(text)
}
