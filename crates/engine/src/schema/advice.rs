//! Advice about values that do not match the schema.
//!
//! YAML reads many texts differently than people expect: `1.20` is a number, `no` a boolean, an
//! empty text is null. Advice explains how to write the intended value, with an edit if possible. A
//! value is quoted from its source only if the source contains exactly that value, and never if it
//! is secret.

use ytterby_diag::{Edit, Help, Origin, Part, Pos, Safety, ValueForm};
use ytterby_text::{Str, spelling};

use super::{ScalarType, Slot, Type};
use crate::node::{Node, Scalar};
use crate::run::Run;

/// A value that does not match, and its position.
#[derive(Clone, Copy)]
pub(super) struct Misfit<'a> {
    pub value: &'a Node,
    pub pos: Pos,
    /// Whether the value is secret.
    pub is_secret: bool,
    /// Whether it is an item of an array.
    pub is_item: bool,
}

/// How to write what the user probably meant.
pub(super) fn advice(run: &Run, misfit: Misfit<'_>, slot: &Slot) -> Option<Help> {
    let Node::Scalar(scalar) = misfit.value else { return None };
    let source = run.sources.get(misfit.pos.file);
    let given = source.as_ref().filter(|source| !source.is_nameless()).map(|source| source.origin());
    let written = || if misfit.is_secret { None } else { as_written(run, misfit.pos, scalar) };
    match given {
        Some(Origin::Flag(ValueForm::Text) | Origin::Variable(ValueForm::Text)) => {
            let helps =
                !run.options.coerce_values && matches!(scalar, Scalar::Str(text) if coerced(text, slot).is_some());
            let text = "with --data-value-coerce, strings of flags and variables are read as what the schema wants";
            return helps.then(|| text.into());
        }
        Some(Origin::Flag(ValueForm::Content)) => {
            return Some("the content of a file is a string; to give another type, use --data-value-yaml".into());
        }
        _ => {}
    }
    if !misfit.pos.is_known() {
        // Code created it, and code chooses its types explicitly.
        return None;
    }
    let behind = behind_key(run, misfit.pos);
    if behind.as_deref().is_some_and(|text| text.starts_with("#@")) {
        let is_wanted = !scalar.is_null() && slot.ty.fits(&Scalar::from(""));
        return is_wanted.then(|| "to give a string, convert it with str()".into());
    }
    let is_file = matches!(given, Some(Origin::File | Origin::Stdin));
    let replaced = |help: Help, title: &str, replacement: Option<String>| match replacement.filter(|_| is_file) {
        Some(text) => {
            let edit = Edit::replace(misfit.pos, Part::Value, text);
            help.fixed_by(title, vec![edit], Safety::Likely)
        }
        None => help,
    };
    if scalar.is_null() {
        return Some(about_null(misfit, slot, written().as_deref()).into());
    }
    if slot.ty.fits(&Scalar::from("")) {
        let text = about_strings(scalar, written().as_deref(), given);
        let quoted = written().map(|text| format!("\"{text}\""));
        return Some(replaced(text.into(), "Quote the value", quoted));
    }
    if let Some(array) = slot.as_array() {
        let text = "to give an array with this one item, write it in brackets";
        let example = written().map(|text| format!("[{text}]"));
        let help = Help::new(with_example(text, example.clone()));
        return array.item.ty.fits(scalar).then(|| replaced(help, "Put the value in brackets", example));
    }
    if let Some(map) = slot.ty.as_map().filter(|map| map.patterns.is_empty()) {
        return declared_keys("", map.names()).map(|keys| format!("give a map: {keys}").into());
    }
    match scalar {
        // A quoted string may look like another type; the advice then says so.
        _ if misfit.is_secret => None,
        Scalar::Str(text) if behind.is_some_and(|text| text.starts_with(['"', '\''])) => {
            coerced(text, slot).map(|_| {
                let bare = text.to_str().trim().to_owned();
                let help = with_example("in quotes it is a string: write it without them", Some(bare.clone()));
                replaced(help.into(), "Remove the quotes", Some(bare))
            })
        }
        Scalar::Float(float) if float.fract() == 0.0 && float.abs() < 1e15 && slot.ty.fits(&Scalar::Int(0)) => {
            let whole = format!("{float:.0}");
            let help = with_example("with a point or an exponent it is a float: write it without", Some(whole.clone()));
            Some(replaced(help.into(), "Write it as an integer", Some(whole)))
        }
        _ => None,
    }
}

/// Maximum number of names shown of a large map.
const NAMED: usize = 3;

/// The keys of a large map that are most similar to an unknown key.
pub(super) fn declared_keys(key: &str, names: &[String]) -> Option<String> {
    let away = |name: &String| spelling::distance(key, name).unwrap_or(usize::MAX);
    let mut nearest: Vec<(usize, &String)> = names.iter().map(|name| (away(name), name)).collect();
    nearest.sort();
    let named: Vec<&str> = nearest.iter().take(NAMED).map(|(_, name)| name.as_str()).collect();
    match names.len() - named.len() {
        _ if names.is_empty() => None,
        0 => Some(format!("declared keys are {}", named.join(", "))),
        more => Some(format!("declared keys are {} and {more} more", named.join(", "))),
    }
}

/// The scalar that YAML would read from a string, if the slot accepts that scalar but no strings.
pub(crate) fn coerced(text: &Str, slot: &Slot) -> Option<Scalar> {
    let is_scalar = |ty: &Type| matches!(ty, Type::Scalar(kind) if *kind != ScalarType::String);
    let takes_scalars = match &slot.ty {
        Type::Union(union) => union.members.iter().all(is_scalar),
        ty => is_scalar(ty),
    };
    if !takes_scalars {
        return None;
    }
    let read = ytterby_yaml::resolve(text.trim_ascii());
    (slot.ty.fits(&read) || read.is_null() && slot.allows_null()).then_some(read)
}

fn with_example(text: &str, example: Option<String>) -> String {
    match example {
        Some(example) => format!("{text}: {example}"),
        None => text.to_owned(),
    }
}

fn about_null(misfit: Misfit<'_>, slot: &Slot, written: Option<&str>) -> String {
    let what = match (written, misfit.is_item) {
        (Some(""), false) => "a key without a value is null",
        (Some(""), true) => "an item without a value is null",
        _ => "null is not a value of this type",
    };
    let remedy = match (misfit.is_item, &slot.required) {
        (true, _) => "leave the item out",
        (false, Some(_)) => "give it a value",
        (false, None) => "leave the key out to get the default",
    };
    format!("{what}: {remedy}, or allow it in the schema with @schema/nullable")
}

fn about_strings(scalar: &Scalar, written: Option<&str>, given: Option<Origin>) -> String {
    match given {
        Some(Origin::Flag(ValueForm::Yaml)) => return "to give a string, use --data-value".to_owned(),
        Some(Origin::Variable(ValueForm::Yaml)) => return "to give a string, use --data-values-env".to_owned(),
        _ => {}
    }
    let quoted = written.map(|text| format!("\"{text}\""));
    match (scalar, written) {
        (Scalar::Bool(_), Some(word)) if !matches!(&*word.to_lowercase(), "true" | "false") => {
            with_example(&format!("in YAML, {word} is a boolean; to give a string, quote it"), quoted)
        }
        _ => with_example("to give a string, quote it", quoted),
    }
}

/// Maximum bytes of a source to search for a value.
const LONGEST: usize = 200;

/// The text of a plain scalar at `pos`, or after the key or dash there, if it has exactly this
/// value.
fn as_written(run: &Run, pos: Pos, scalar: &Scalar) -> Option<String> {
    let places = [behind_key(run, pos), line_from(run, pos)];
    places.iter().flatten().map(|text| plain(text)).find(|text| means(text, scalar)).map(str::to_owned)
}

/// The text after the key or dash at `pos` on its line.
fn behind_key(run: &Run, pos: Pos) -> Option<String> {
    let line = line_from(run, pos)?;
    let behind_dash = line.strip_prefix('-').filter(|rest| is_end(rest));
    let behind_colon = || line.match_indices(':').map(|(at, _)| &line[at + 1..]).find(|rest| is_end(rest));
    behind_dash.or_else(behind_colon).map(|text| text.trim_start().to_owned())
}

/// The rest of the line at `pos`, possibly cut.
fn line_from(run: &Run, pos: Pos) -> Option<String> {
    let source = run.sources.get(pos.file)?;
    let rest = source.text().get(pos.offset as usize..)?;
    let line = rest.split(|byte| *byte == b'\n').next()?;
    Some(String::from_utf8_lossy(&line[..line.len().min(LONGEST)]).into_owned())
}

/// Whether a text begins with a character that ends an indicator of YAML.
fn is_end(text: &str) -> bool {
    text.is_empty() || text.starts_with([' ', '\t', '\r'])
}

/// The plain scalar at the beginning of a text.
fn plain(text: &str) -> &str {
    let text = text.split(" #").next().unwrap_or_default();
    let text = text.split([',', '}', ']']).next().unwrap_or_default().trim();
    if text.starts_with('#') { "" } else { text }
}

/// Whether YAML reads a text as this scalar.
fn means(text: &str, scalar: &Scalar) -> bool {
    // NaN is not equal to itself.
    ytterby_yaml::resolve(text.as_bytes()) == *scalar
}
