//! Advice about mistakes in the line of an annotation.
//!
//! Arguments of annotations are those of a call in Starlark, which YAML users do not expect: texts
//! need quotes, names come before `=`, and a blank follows the annotation, not a parenthesis.

use ytterby_diag::{Edit, Help, Part, Pos, Safety};
use ytterby_starlark::{Problem, SyntaxError};

use crate::annotation::{Ann, Level};
use crate::run::Run;

/// Longer lines and files get no advice: they are searched again for each of up to a thousand
/// errors.
const LONGEST_LINE: usize = 4 << 10;
const LONGEST_FILE: usize = 1 << 20;

/// Advice about an error in an annotation's arguments.
pub(super) fn about_annotation(run: &Run, error: &SyntaxError) -> Option<Help> {
    let pos = run.sources.source_place(error.label.pos);
    let source = run.sources.get(pos.file)?;
    let line = source.line(pos.offset);
    if source.line_range(line)?.len() > LONGEST_LINE {
        return None;
    }
    let text = source.line_text(line)?;
    let (at, annotation) = annotation_of(&text)?;
    if let Problem::Undefined { name, .. } = &error.problem
        && let Some(help) = about_function(&name.to_str(), annotation, source.text())
    {
        return Some(help);
    }
    let Advice { text, replacement } = advice(annotation, &error.problem)?;
    let help = Help::new(text);
    let Some(replacement) = replacement else { return Some(help) };
    let start = Pos::new(pos.file, source.line_start(line)? + at as u32);
    let edit = Edit::replace(start, Part::Bytes(annotation.trim_end().len() as u32), replacement);
    Some(help.fixed_by("Rewrite the annotation", vec![edit], Safety::Likely))
}

/// Advice about a name that is probably a function: one that is defined too late, or a shape that
/// is not defined at all.
fn about_function(name: &str, annotation: &str, text: &[u8]) -> Option<Help> {
    let definition = format!("def {name}(");
    if text.len() <= LONGEST_FILE && text.windows(definition.len()).any(|part| part == definition.as_bytes()) {
        return Some(Help::new(format!("{name} is defined further down: move its definition above this line")));
    }
    let is_shape = ["schema/one-of", "schema/any-of", "schema/all-of"].iter().any(|name| annotation.starts_with(name));
    is_shape.then(|| {
        let text = "a shape is the result of a function: define it above by";
        Help::new(format!("{text} `#@ def {name}():` and `#@ end`, and call it: {name}()"))
    })
}

/// The annotation on a line, without `#@`, alone or after a value, and where it begins.
fn annotation_of(line: &str) -> Option<(usize, &str)> {
    let at = if line.trim_start().starts_with("#@") { line.find("#@") } else { line.rfind(" #@").map(|at| at + 1) };
    let at = at? + 2;
    let text = line.get(at..)?;
    (!text.is_empty() && !text.starts_with([' ', '\t'])).then_some((at, text))
}

/// The advice, and the corrected annotation.
struct Advice {
    text: String,
    replacement: Option<String>,
}

impl From<String> for Advice {
    fn from(text: String) -> Advice {
        Advice { text, replacement: None }
    }
}

/// Advice for an annotation, written without `#@`, and its syntax error.
fn advice(text: &str, problem: &Problem) -> Option<Advice> {
    let (name, args) = text.split_once(' ').unwrap_or((text, ""));
    if is_code(text) {
        let meant = format!(" {}", text.trim_end());
        return Some(Advice { text: format!("code needs a blank: #@{meant}"), replacement: Some(meant) });
    }
    if let Some((name, rest)) = text.split_once('(')
        && Ann::from_name(name.as_bytes(), Level::Ytterby).is_some()
    {
        let args = rest.trim_end().trim_end_matches(')');
        let meant = format!("{name} {args}").trim_end().to_owned();
        let text = format!("a blank follows the name, and no parenthesis: @{meant}");
        return Some(Advice { text, replacement: Some(meant) });
    }
    let args = args.trim();
    let known = Ann::from_name(name.as_bytes(), Level::Ytterby);
    if known.is_some_and(Ann::takes_text) && args.starts_with(char::is_alphanumeric) && is_sentence(args, problem) {
        let meant = format!("{name} \"{}\"", args.replace('\\', "\\\\").replace('"', "\\\""));
        return Some(Advice { text: format!("a text needs quotes: @{meant}"), replacement: Some(meant) });
    }
    match problem {
        Problem::Unexpected { got: ":", want: "," } => {
            if let Some(argument) = argument_before_colon(args) {
                return Some(format!("arguments are written with =, as in {argument}=…").into());
            }
            Some("missing comma between arguments?".to_owned().into())
        }
        Problem::Undefined { name: word, .. } => {
            let word = word.to_str();
            let is_keyword = matches!(&*word, "true" | "false" | "null" | "nil" | "none");
            let text = || format!("a text needs quotes: \"{word}\"; other names have to be loaded or defined");
            (!is_keyword).then(|| text().into())
        }
        Problem::Unexpected { want: ",", .. } => Some("missing comma between arguments?".to_owned().into()),
        Problem::Unexpected { want: "primary expression", .. } => unquoted_expectation(name, args),
        _ => None,
    }
}

/// Whether a text begins like code rather than with the name of an annotation.
fn is_code(text: &str) -> bool {
    let word = text.split(|c: char| !(c.is_alphanumeric() || c == '_')).next().unwrap_or_default();
    let rest = text[word.len()..].trim_start();
    let is_statement = matches!(word, "def" | "if" | "elif" | "else" | "for" | "while" | "end" | "return" | "load");
    is_statement && !rest.starts_with('/')
        || matches!(word, "if" | "else" | "elif" | "for" | "def") && rest.starts_with("/end")
}

/// Whether arguments are words of a text rather than code with another mistake.
fn is_sentence(args: &str, problem: &Problem) -> bool {
    let first = args.split([' ', '(', '.', ',']).next().unwrap_or_default();
    let is_call = args[first.len()..].starts_with(['(', '.', '+']) || args.contains('"');
    let is_misread = matches!(problem, Problem::Unexpected { .. } | Problem::Undefined { .. });
    !is_call && (is_misread || args.contains(' '))
}

/// The name before the first `:`.
fn argument_before_colon(args: &str) -> Option<&str> {
    let before = args.split(':').next()?.trim_end();
    before.rsplit(|c: char| !(c.is_alphanumeric() || c == '_')).next().filter(|name| !name.is_empty())
}

/// `expects=1+`, which is not an expression.
fn unquoted_expectation(annotation: &str, args: &str) -> Option<Advice> {
    args.match_indices('=').find_map(|(at, _)| {
        let name = args[..at].trim_end().rsplit(|c: char| !c.is_ascii_alphanumeric() && c != '_').next()?;
        let value = args[at + 1..].trim_start();
        let digits = value.len() - value.trim_start_matches(|c: char| c.is_ascii_digit()).len();
        let rest = value[digits..].strip_prefix('+')?;
        let is_end = rest.trim_start().is_empty() || rest.trim_start().starts_with([',', ')']);
        if digits == 0 || !is_end || name.is_empty() {
            return None;
        }
        let quoted = format!("\"{}+\"", &value[..digits]);
        let before = &args[..args.len() - value.len()];
        Some(Advice {
            text: format!("write {name}={quoted}"),
            replacement: Some(format!("{annotation} {before}{quoted}{rest}").trim_end().to_owned()),
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mistakes_in_arguments_are_recognised() {
        let comma = Problem::Unexpected { got: "identifier", want: "," };
        let colon = Problem::Unexpected { got: ":", want: "," };
        let value = Problem::Unexpected { got: ")", want: "primary expression" };
        let undefined = |name: &str| Problem::Undefined { name: name.into(), similar: None };
        for (text, problem, want) in [
            ("schema/desc(\"x\")", &comma, Some("a blank follows the name, and no parenthesis: @schema/desc \"x\"")),
            ("schema/desc no quotes", &comma, Some("a text needs quotes: @schema/desc \"no quotes\"")),
            ("schema/title Port", &undefined("Port"), Some("a text needs quotes: @schema/title \"Port\"")),
            ("schema/desc describe(x y)", &comma, Some("missing comma between arguments?")),
            ("schema/validation min: 1", &colon, Some("arguments are written with =, as in min=…")),
            ("schema/validation max=2, min: 1", &colon, Some("arguments are written with =, as in min=…")),
            (
                "schema/validation one_of=[a]",
                &undefined("a"),
                Some("a text needs quotes: \"a\"; other names have to be loaded or defined"),
            ),
            ("schema/validation →: 1", &colon, Some("missing comma between arguments?")),
            ("schema/desc →é (", &comma, Some("missing comma between arguments?")),
            ("schema/nullable true", &undefined("true"), None),
            ("schema/validation min=1 max=2", &comma, Some("missing comma between arguments?")),
            ("schema/validation min=", &value, None),
            ("def uaa_db():", &comma, Some("code needs a blank: #@ def uaa_db():")),
            ("load(\"@ytt:data\", \"data\")", &comma, Some("code needs a blank: #@ load(\"@ytt:data\", \"data\")")),
            ("overlay/match by=\"name\", expects=1+", &value, Some("write expects=\"1+\"")),
            ("overlay/match expects = 12+, by=x", &value, Some("write expects=\"12+\"")),
            ("overlay/match expects=1+x", &value, None),
        ] {
            assert_eq!(advice(text, problem).map(|advice| advice.text).as_deref(), want, "{text}");
        }
    }

    #[test]
    fn expectations_are_quoted() {
        let value = Problem::Unexpected { got: ")", want: "primary expression" };
        let fixed = |text: &str| advice(text, &value).and_then(|advice| advice.replacement);
        assert_eq!(fixed("overlay/match expects=1+, by=x").as_deref(), Some("overlay/match expects=\"1+\", by=x"));
    }
}
