//! Parses selectors of values: `db.port`, `@app:db.port`, `Deployment/web:spec.replicas`,
//! `#2:spec`, `:spec`, with `*` and `**`.

use ytterby_diag::{Path, Step};

/// A parsed selector.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Selector {
    /// A data value, of the root library or of the one with this name.
    Value { library: Option<String>, path: PathPattern },
    /// Nodes of the output.
    Output { document: DocumentPattern, path: PathPattern },
}

/// Which documents of the output.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum DocumentPattern {
    /// Every document: `:spec.replicas`.
    Any,
    /// The document with this number, from 1.
    Number(usize),
    Named {
        kind: String,
        namespace: Option<String>,
        name: String,
    },
}

/// A path whose steps may have wildcards.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct PathPattern(pub Vec<PatternStep>);

#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum PatternStep {
    /// A key, or a text with `*` and `?`.
    Key(String),
    Index(usize),
    /// `[*]`
    AnyIndex,
    /// `**`: any number of steps.
    Deep,
}

/// Parses a selector. The error is a message.
pub(super) fn read(text: &str) -> Result<Selector, String> {
    if let Some(path) = text.strip_prefix(':').or_else(|| text.strip_prefix("*:")) {
        return Ok(Selector::Output { document: DocumentPattern::Any, path: pattern(path)? });
    }
    if let Some(rest) = text.strip_prefix('#') {
        let (number, path) = rest.split_once(':').unwrap_or((rest, ""));
        let number: usize =
            number.parse().ok().filter(|number| *number > 0).ok_or_else(|| {
                format!("expected the number of a document after #, counted from 1, but was '{number}'")
            })?;
        return Ok(Selector::Output { document: DocumentPattern::Number(number), path: pattern(path)? });
    }
    if text.starts_with('@') {
        let (library, path) = value(text)?;
        return Ok(Selector::Value { library, path });
    }
    let (head, path) = match split(text) {
        Some((head, path)) => (head, path),
        None if text.contains('/') && !text.contains(['[', '"']) => (text, ""),
        None => return Ok(Selector::Value { library: None, path: pattern(text)? }),
    };
    let parts: Vec<&str> = head.split('/').collect();
    let document = match parts[..] {
        [kind, name] => DocumentPattern::Named { kind: kind.to_owned(), namespace: None, name: name.to_owned() },
        [kind, namespace, name] => DocumentPattern::Named {
            kind: kind.to_owned(),
            namespace: Some(namespace.to_owned()),
            name: name.to_owned(),
        },
        _ => {
            return Err(format!(
                "expected KIND/NAME, KIND/NAMESPACE/NAME or #NUMBER in front of ':', but was '{head}'"
            ));
        }
    };
    Ok(Selector::Output { document, path: pattern(path)? })
}

/// Parses the path of a data value, with the name of its library as in flags: `@app:db.port`.
pub(super) fn value(text: &str) -> Result<(Option<String>, PathPattern), String> {
    match text.strip_prefix('@') {
        None => Ok((None, pattern(text)?)),
        Some(rest) => match rest.split_once(':') {
            Some((library, path)) if !library.is_empty() => Ok((Some(library.to_owned()), pattern(path)?)),
            _ => Err(format!("expected @LIBRARY:PATH for a data value of a library, but was '{text}'")),
        },
    }
}

/// Splits document and path at the first colon after a slash: names such as `system:node` have
/// colons, too.
fn split(text: &str) -> Option<(&str, &str)> {
    let slash = text.find('/')?;
    let before_path = text.find(['.', '[']).unwrap_or(text.len());
    if slash > before_path && !text[..slash].contains(':') && text[..slash].contains('[') {
        return None;
    }
    let colon = slash
        + text[slash..]
            .rfind(':')
            .filter(|at| !text[slash..][..*at].contains('['))
            .or_else(|| text[slash..].find(':'))?;
    Some((&text[..colon], &text[colon + 1..]))
}

/// Parses a path: keys separated by dots, `[0]`, `["a.b"]`.
pub(super) fn pattern(text: &str) -> Result<PathPattern, String> {
    let mut steps = Vec::new();
    let mut rest = text.strip_prefix('.').unwrap_or(text);
    while !rest.is_empty() {
        if let Some(inside) = rest.strip_prefix('[') {
            let quote = inside.chars().next().filter(|c| matches!(c, '"' | '\''));
            let (step, after) = match quote {
                Some(quote) => {
                    let wrong = || format!("expected {quote}] at the end of a key in '{text}'");
                    let (key, after) = inside[1..].split_once(quote).ok_or_else(wrong)?;
                    (PatternStep::Key(key.to_owned()), after.strip_prefix(']').ok_or_else(wrong)?)
                }
                None => {
                    let (number, after) =
                        inside.split_once(']').ok_or_else(|| format!("expected ] after [ in '{text}'"))?;
                    let step = match number {
                        "*" => PatternStep::AnyIndex,
                        number => PatternStep::Index(
                            number.parse().map_err(|_| format!("expected a number in [{number}] of '{text}'"))?,
                        ),
                    };
                    (step, after)
                }
            };
            steps.push(step);
            rest = after.strip_prefix('.').unwrap_or(after);
            continue;
        }
        let end = rest.find(['.', '[']).unwrap_or(rest.len());
        let key = &rest[..end];
        if key.is_empty() {
            return Err(format!("expected a key between dots in '{text}'"));
        }
        steps.push(if key == "**" { PatternStep::Deep } else { PatternStep::Key(key.to_owned()) });
        rest = rest[end..].strip_prefix('.').unwrap_or(&rest[end..]);
    }
    Ok(PathPattern(steps))
}

impl PathPattern {
    pub fn has_wildcards(&self) -> bool {
        self.0.iter().any(|step| match step {
            PatternStep::Key(key) => key.contains(['*', '?']),
            PatternStep::Index(_) => false,
            PatternStep::AnyIndex | PatternStep::Deep => true,
        })
    }

    /// Whether it matches a path.
    pub fn matches(&self, path: &Path) -> bool {
        matches(&self.0, path.steps())
    }

    /// The path, if it has no wildcards.
    pub fn path(&self) -> Path {
        let step = |step: &PatternStep| match step {
            PatternStep::Key(key) => Step::Key(key.clone()),
            PatternStep::Index(index) => Step::Index(*index),
            PatternStep::AnyIndex | PatternStep::Deep => Step::Key("*".to_owned()),
        };
        self.0.iter().map(step).collect()
    }
}

fn matches(pattern: &[PatternStep], path: &[Step]) -> bool {
    match (pattern.split_first(), path.split_first()) {
        (None, None) => true,
        (Some((PatternStep::Deep, rest)), _) => {
            matches(rest, path) || path.split_first().is_some_and(|(_, below)| matches(pattern, below))
        }
        (Some((first, rest)), Some((step, below))) => {
            let fits = match (first, step) {
                (PatternStep::Key(key), Step::Key(name)) => glob(key, name),
                (PatternStep::Key(key), Step::Index(_)) => key == "*",
                (PatternStep::Index(wanted), Step::Index(index)) => wanted == index,
                (PatternStep::Index(wanted), Step::Key(name)) => *name == wanted.to_string(),
                (PatternStep::AnyIndex, Step::Index(_)) => true,
                _ => false,
            };
            fits && matches(rest, below)
        }
        _ => false,
    }
}

/// Whether a text matches a pattern with `*` and `?`.
pub(super) fn glob(pattern: &str, text: &str) -> bool {
    fn fits(pattern: &[char], text: &[char]) -> bool {
        // Remember the last star and its position: linear except for repeated stars.
        let (mut p, mut t) = (0, 0);
        let mut star: Option<(usize, usize)> = None;
        while t < text.len() {
            match pattern.get(p) {
                Some('*') => {
                    star = Some((p, t));
                    p += 1;
                }
                Some(c) if *c == '?' || *c == text[t] => (p, t) = (p + 1, t + 1),
                _ => match star {
                    Some((at, from)) => {
                        star = Some((at, from + 1));
                        (p, t) = (at + 1, from + 1);
                    }
                    None => return false,
                },
            }
        }
        pattern[p..].iter().all(|c| *c == '*')
    }
    let (pattern, text): (Vec<char>, Vec<char>) = (pattern.chars().collect(), text.chars().collect());
    fits(&pattern, &text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn selectors_are_told_apart() {
        assert!(matches!(read("db.port"), Ok(Selector::Value { library: None, .. })));
        assert!(matches!(read("hosts[0].name"), Ok(Selector::Value { .. })));
        assert!(matches!(read("a[\"x/y:z\"]"), Ok(Selector::Value { .. })));
        let Ok(Selector::Output { document, path }) = read("Deployment/shop/web:spec.replicas") else { panic!() };
        let namespace = Some("shop".to_owned());
        assert_eq!(document, DocumentPattern::Named { kind: "Deployment".into(), namespace, name: "web".into() });
        assert_eq!(path.path().to_string(), "spec.replicas");
        assert!(matches!(read("#2:spec"), Ok(Selector::Output { document: DocumentPattern::Number(2), .. })));
        assert!(matches!(read("Service/web"), Ok(Selector::Output { .. })));
        let Ok(Selector::Value { library, path }) = read("@app@db:url.host") else { panic!() };
        assert_eq!((library.as_deref(), path.path().to_string()), (Some("app@db"), "url.host".to_owned()));
        assert!(read("@app").is_err());
        assert!(read("#0:x").is_err());
        assert!(read("a/b/c/d:x").is_err());
    }

    #[test]
    fn wildcards_match() {
        let path = |text: &str| pattern(text).expect("a path").path();
        let has = |glob: &str, text: &str| pattern(glob).expect("a pattern").matches(&path(text));
        assert!(has("spec.*", "spec.replicas"));
        assert!(!has("spec.*", "spec.template.spec"));
        assert!(has("spec.**", "spec.template.spec"));
        assert!(has("**.image", "spec.containers[0].image"));
        assert!(has("spec.containers[*].image", "spec.containers[3].image"));
        assert!(has("metadata.annotations[\"a.b/c\"]", "metadata.annotations[\"a.b/c\"]"));
        assert!(glob("a*c?", "abbcd"));
        assert!(!glob("a*c", "abd"));
    }
}
