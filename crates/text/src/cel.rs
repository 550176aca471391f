//! Names and string literals in CEL.
//!
//! CEL restricts identifiers, but keys of YAML are arbitrary. Kubernetes therefore escapes field
//! names: `-` becomes `__dash__`, and so on. This module converts in both directions.

use crate::quote;

/// Words that cannot be identifiers.
const RESERVED: [&str; 21] = [
    "as",
    "break",
    "const",
    "continue",
    "else",
    "false",
    "for",
    "function",
    "if",
    "import",
    "in",
    "let",
    "loop",
    "namespace",
    "null",
    "package",
    "return",
    "true",
    "var",
    "void",
    "while",
];

/// Characters that CEL identifiers cannot contain, and their escapes. The first one protects the
/// escapes themselves.
const ESCAPES: [(&str, &str); 4] = [("__", "__underscores__"), ("-", "__dash__"), (".", "__dot__"), ("/", "__slash__")];

/// Whether a word is reserved and cannot be an identifier.
pub fn is_reserved(word: &str) -> bool {
    RESERVED.contains(&word)
}

/// Whether a key is a valid identifier without escaping.
pub fn is_plain(key: &str) -> bool {
    is_identifier(key) && !is_reserved(key)
}

fn is_identifier(text: &str) -> bool {
    text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
        && text.chars().next().is_some_and(|c| !c.is_ascii_digit())
}

/// A key as Kubernetes escapes it in CEL; `None` if it cannot be escaped.
pub fn escaped(key: &str) -> Option<String> {
    if is_reserved(key) {
        return Some(format!("__{key}__"));
    }
    let escaped = ESCAPES.iter().fold(key.to_owned(), |text, (from, to)| text.replace(from, to));
    is_identifier(&escaped).then_some(escaped)
}

/// The key for an escaped field name.
pub fn unescaped(field: &str) -> String {
    let word = field.strip_prefix("__").and_then(|rest| rest.strip_suffix("__"));
    if let Some(word) = word.filter(|word| is_reserved(word)) {
        return word.to_owned();
    }
    let mut key = String::with_capacity(field.len());
    let mut rest = field;
    while let Some(at) = rest.find("__") {
        key.push_str(&rest[..at]);
        rest = &rest[at..];
        let escape = ESCAPES.iter().find(|(_, escape)| rest.starts_with(escape));
        let (plain, length) = escape.map_or(("__", 2), |(plain, escape)| (*plain, escape.len()));
        key.push_str(plain);
        rest = &rest[length..];
    }
    key + rest
}

/// A text as a string literal.
pub fn quoted(text: &str) -> String {
    quote::literal('\'', text, |c| c.is_control().then(|| quote::unicode_escape(c)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_quoted() {
        assert_eq!(quoted("it's \\ \n\t\u{7f}é"), r"'it\'s \\ \n\t\u007fé'");
    }

    #[test]
    fn escaping_round_trips() {
        for key in ["a", "a-b", "a.b/c", "in", "__", "a__dash__b", "___", "a__", "-", "namespace", "__in__"] {
            assert_eq!(unescaped(&escaped(key).expect("it can be written")), key);
        }
        assert_eq!(escaped("a__dash__b").as_deref(), Some("a__underscores__dash__underscores__b"));
        assert_eq!(escaped("1a"), None);
        assert_eq!(escaped("é"), None);
        assert_eq!(escaped(""), None);
    }
}
