//! Escapes text for XML.

/// A text for elements and attributes. Characters that XML does not allow are replaced.
///
/// ```
/// assert_eq!(ytterby_text::xml::escaped("a < \"b\"\u{0}"), "a &lt; &quot;b&quot;\u{fffd}");
/// ```
pub fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\r' => out.push_str("&#13;"),
            '\n' | '\t' => out.push(c),
            c if c < ' ' || matches!(c, '\u{fffe}' | '\u{ffff}') => out.push('\u{fffd}'),
            c => out.push(c),
        }
    }
    out
}

/// The same on one line: line breaks and tabs are escaped, because readers turn them into spaces in
/// attributes.
pub fn escaped_line(text: &str) -> String {
    escaped(text).replace('\n', "&#10;").replace('\t', "&#9;")
}
