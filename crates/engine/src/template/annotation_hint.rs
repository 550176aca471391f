//! What to try about a mistake in the line of an annotation.
//!
//! Arguments of annotations are those of a call in Starlark, which people who know YAML do not expect: texts need
//! quotes, names stand before `=`, a blank and no parenthesis follows the annotation.

use ytterby_starlark::SyntaxError;

use crate::annotation::{Ann, Level};
use crate::run::Run;

/// The hint for an error that code could not be read, if it stands in an annotation.
pub(super) fn about_annotation(run: &Run, error: &SyntaxError) -> Option<String> {
    let line = run.sources.line_text(error.pos)?;
    hint(annotation_of(&line)?, &error.message)
}

/// The annotation on a line, without `#@`: by itself or behind a value.
pub(super) fn annotation_of(line: &str) -> Option<&str> {
    let at = if line.trim_start().starts_with("#@") { line.find("#@") } else { line.rfind(" #@").map(|at| at + 1) };
    let text = line.get(at? + 2..)?;
    (!text.is_empty() && !text.starts_with([' ', '\t'])).then_some(text)
}

/// The hint for an annotation, written without `#@`, and the error that it gave.
fn hint(text: &str, message: &str) -> Option<String> {
    let (name, args) = text.split_once(' ').unwrap_or((text, ""));
    if let Some((name, rest)) = text.split_once('(')
        && Ann::from_name(name.as_bytes(), Level::Ytterby).is_some()
    {
        let args = rest.trim_end().trim_end_matches(')');
        return Some(format!("a blank follows the name, and no parenthesis: @{name} {args}").trim_end().to_owned());
    }
    let args = args.trim();
    let known = Ann::from_name(name.as_bytes(), Level::Ytterby);
    if known.is_some_and(takes_text) && args.starts_with(char::is_alphanumeric) && is_sentence(args, message) {
        return Some(format!("a text needs quotes: @{name} \"{}\"", args.replace('\\', "\\\\").replace('"', "\\\"")));
    }
    if message == "got ':', want ','"
        && let Some(argument) = argument_before_colon(args)
    {
        return Some(format!("arguments are written with =, as in {argument}=…"));
    }
    if let Some(word) = message.strip_prefix("undefined: ") {
        let is_keyword = matches!(word, "true" | "false" | "null" | "nil" | "none");
        return (!is_keyword)
            .then(|| format!("a text needs quotes: \"{word}\"; other names have to be loaded or defined"));
    }
    let lacks_comma = message.starts_with("got ") && message.ends_with("want ','");
    lacks_comma.then(|| "missing comma between arguments?".to_owned())
}

/// Whether an annotation takes one text and nothing else.
fn takes_text(ann: Ann) -> bool {
    matches!(ann, Ann::SchemaDesc | Ann::SchemaTitle | Ann::SchemaDeprecated | Ann::SchemaRemoved | Ann::SchemaRequired)
}

/// Whether arguments are words of a text rather than code with another mistake.
fn is_sentence(args: &str, message: &str) -> bool {
    let first = args.split([' ', '(', '.', ',']).next().unwrap_or_default();
    let is_call = args[first.len()..].starts_with(['(', '.', '+']) || args.contains('"');
    !is_call && (message.starts_with("got ") || message.starts_with("undefined: ") || args.contains(' '))
}

/// The name in front of the first `:`.
fn argument_before_colon(args: &str) -> Option<&str> {
    let before = args.split(':').next()?.trim_end();
    before.rsplit(|c: char| !(c.is_alphanumeric() || c == '_')).next().filter(|name| !name.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mistakes_in_arguments_are_recognised() {
        let comma = "got identifier, want ','";
        for (text, message, want) in [
            ("schema/desc(\"x\")", comma, Some("a blank follows the name, and no parenthesis: @schema/desc \"x\"")),
            ("schema/desc(\"a b\")", comma, Some("a blank follows the name, and no parenthesis: @schema/desc \"a b\"")),
            ("schema/desc no quotes", comma, Some("a text needs quotes: @schema/desc \"no quotes\"")),
            ("schema/title Port", "undefined: Port", Some("a text needs quotes: @schema/title \"Port\"")),
            ("schema/desc describe(x y)", comma, Some("missing comma between arguments?")),
            ("schema/validation min: 1", "got ':', want ','", Some("arguments are written with =, as in min=…")),
            ("schema/validation max=2, min: 1", "got ':', want ','", Some("arguments are written with =, as in min=…")),
            (
                "schema/validation one_of=[a]",
                "undefined: a",
                Some("a text needs quotes: \"a\"; other names have to be loaded or defined"),
            ),
            ("schema/validation →min: 1", "got ':', want ','", Some("arguments are written with =, as in min=…")),
            ("schema/validation →: 1", "got ':', want ','", Some("missing comma between arguments?")),
            ("schema/desc →é (", comma, Some("missing comma between arguments?")),
            ("schema/nullable true", "undefined: true", None),
            ("schema/validation min=1 max=2", comma, Some("missing comma between arguments?")),
            ("schema/validation min=", "got ')', want primary expression", None),
        ] {
            assert_eq!(hint(text, message).as_deref(), want, "{text}");
        }
    }
}
