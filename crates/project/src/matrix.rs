//! `matrix:` defines one target for every combination of choices.
//!
//! `{name}` in paths and data values is replaced by the choice. A data value that is exactly
//! `{name}` becomes the choice itself, with its type; elsewhere the choice is inserted as written,
//! so that `1.30` stays `1.30`.

use ytterby_diag::{Diagnostic, Edit, Help, Id, Part, Pos, Safety};
use ytterby_text::spelling;
use ytterby_yaml::View;

use crate::project::{DeclaredTarget, Target};
use crate::reader::{PlacedNode, Reader};
use crate::value::{Data, DataScalar, Placed, PlacedData, problem};

/// Maximum targets of one matrix.
pub const MAX_TARGETS: usize = 10_000;

/// Maximum targets of a project.
const MAX_ALL: usize = 100_000;

/// One choice of a matrix.
#[derive(Clone, Debug)]
pub(crate) struct Choice {
    /// As written.
    text: String,
    value: DataScalar,
}

/// The lists of a matrix.
pub(crate) fn read(reader: &mut Reader, item: PlacedNode) -> Vec<(String, Vec<Choice>)> {
    let lists = reader.map(item, "matrix");
    if lists.is_empty() && !matches!(reader.tree.value(item.node), View::Array(_)) && reader.problems.is_empty() {
        reader.report(problem(
            Id::PROJECT_MATRIX,
            "the matrix has no lists",
            item.pos,
            Part::Value,
            Some("add a list of values, or remove matrix".to_owned()),
        ));
    }
    let mut found = Vec::new();
    for (name, item) in lists {
        if placeholder(&format!("{{{name}}}")).is_none() {
            let message = format!("\"{name}\" cannot be a name in a matrix");
            let hint = Some("use letters, digits, dashes and underscores".to_owned());
            reader.report(problem(Id::PROJECT_MATRIX, message, item.pos, Part::Key, hint));
            continue;
        }
        let choices = choices(reader, item, &name);
        if !choices.is_empty() {
            found.push((name, choices));
        }
    }
    found
}

fn choices(reader: &mut Reader, item: PlacedNode, name: &str) -> Vec<Choice> {
    let before = reader.problems.len();
    let items = reader.list(item, name);
    if items.is_empty() && reader.problems.len() == before {
        let message = format!("the list {name} of the matrix is empty, so there is nothing to build");
        let hint = Some("add a value, or remove the list".to_owned());
        reader.report(problem(Id::PROJECT_MATRIX, message, item.pos, Part::Value, hint));
    }
    let mut found: Vec<Choice> = Vec::with_capacity(items.len());
    let mut seen = std::collections::HashSet::new();
    for item in items {
        let value = match reader.value(item, name) {
            Some(Placed { value: Data::Scalar(value), .. }) if value != DataScalar::Null => value,
            Some(_) => {
                reader.wrong_type(item, &format!("strings, numbers or booleans in {name}"), None);
                continue;
            }
            None => continue,
        };
        let text = reader.text_of(item.node);
        if !seen.insert(text.clone()) {
            let message = format!("the list {name} of the matrix has \"{text}\" twice");
            reader.report(problem(Id::PROJECT_MATRIX, message, item.pos, Part::Value, Some("remove one".to_owned())));
        } else {
            found.push(Choice { text, value });
        }
    }
    found
}

/// Adds a target for each combination, in the order of the lists: the last one varies fastest.
pub(crate) fn expand(reader: &mut Reader, declared: DeclaredTarget, targets: &mut Vec<Target>) {
    let DeclaredTarget { target, matrix } = declared;
    let names: Vec<&str> = matrix.iter().map(|(name, _)| &**name).collect();
    let before = reader.problems.len();
    check_names(reader, &target, &names);
    if matrix.is_empty() {
        targets.push(target);
        return;
    }
    let count = matrix.iter().try_fold(1_usize, |count, (_, choices)| count.checked_mul(choices.len()));
    let too_many = count.is_none_or(|count| count > MAX_TARGETS || targets.len() + count > MAX_ALL);
    if too_many {
        let sizes: Vec<String> = matrix.iter().map(|(_, choices)| choices.len().to_string()).collect();
        let message = format!(
            "the matrix of {} makes {} = {} targets; the limit is {MAX_TARGETS}",
            target.name,
            sizes.join(" × "),
            count.map_or("too many".to_owned(), |count| count.to_string()),
        );
        let hint = Some("shorten its lists, or split the project".to_owned());
        let pos = target.pos.unwrap_or(Pos::UNKNOWN);
        reader.report(problem(Id::PROJECT_MATRIX, message, pos, Part::Key, hint));
        return;
    }
    if reader.problems.len() > before {
        return;
    }
    for number in 0..count.unwrap_or_default() {
        let mut rest = number;
        let mut chosen: Vec<(&str, &Choice)> = Vec::with_capacity(matrix.len());
        for (name, choices) in matrix.iter().rev() {
            chosen.push((name, &choices[rest % choices.len()]));
            rest /= choices.len();
        }
        chosen.reverse();
        targets.push(combination(&target, &chosen));
    }
}

/// The target of one combination.
fn combination(target: &Target, chosen: &[(&str, &Choice)]) -> Target {
    let pairs: Vec<String> = chosen.iter().map(|(name, choice)| format!("{name}={}", choice.text)).collect();
    let mut found = target.clone();
    found.name = format!("{}[{}]", target.group, pairs.join(","));
    found.choices = chosen.iter().map(|(name, choice)| ((*name).to_owned(), choice.text.clone())).collect();
    let paths = found.files.iter_mut().chain(&mut found.values).chain(&mut found.output);
    paths.for_each(|path| path.value = replaced(&path.value, chosen));
    for set in &mut found.set {
        set.key = replaced(&set.key, chosen);
        replace_in(&mut set.value, chosen);
    }
    found
}

fn replace_in(value: &mut PlacedData, chosen: &[(&str, &Choice)]) {
    match &mut value.value {
        Data::Scalar(DataScalar::Text(text)) => {
            let whole = chosen.iter().find(|(name, _)| text.strip_prefix('{') == Some(&format!("{name}}}")));
            value.value = Data::Scalar(match whole {
                Some((_, choice)) => choice.value.clone(),
                None => DataScalar::Text(replaced(text, chosen)),
            });
        }
        Data::Scalar(_) => {}
        Data::List(items) => items.iter_mut().for_each(|item| replace_in(item, chosen)),
        Data::Map(items) => {
            for (key, item) in items {
                if let DataScalar::Text(text) = key {
                    *text = replaced(text, chosen);
                }
                replace_in(item, chosen);
            }
        }
    }
}

/// Replaces the placeholders in a text. Unknown ones were already reported.
fn replaced(text: &str, chosen: &[(&str, &Choice)]) -> String {
    let mut out = String::with_capacity(text.len());
    for piece in pieces(text) {
        match piece {
            PatternPiece::Text(text) | PatternPiece::Escaped(text) => out.push_str(text),
            PatternPiece::Name(name) => match chosen.iter().find(|(known, _)| *known == name) {
                Some((_, choice)) => out.push_str(&choice.text),
                None => out.push_str(&format!("{{{name}}}")),
            },
        }
    }
    out
}

/// Reports placeholders that are not in the matrix.
fn check_names(reader: &mut Reader, target: &Target, names: &[&str]) {
    let mut found = Vec::new();
    for path in target.output.iter().chain(&target.values).chain(&target.files) {
        // Without a matrix, braces in the names of inputs have no meaning.
        let is_output = target.output.as_ref().is_some_and(|output| output.pos == path.pos);
        if !names.is_empty() || is_output {
            unknown_names(&path.value, path.pos, names, &mut found);
        }
    }
    if !names.is_empty() {
        for set in &target.set {
            unknown_names(&set.key, set.value.pos, names, &mut found);
            unknown_in(&set.value, names, &mut found);
        }
    }
    reader.problems.extend(found);
}

fn unknown_in(value: &PlacedData, names: &[&str], found: &mut Vec<Diagnostic>) {
    match &value.value {
        Data::Scalar(DataScalar::Text(text)) => unknown_names(text, value.pos, names, found),
        Data::Scalar(_) => {}
        Data::List(items) => items.iter().for_each(|item| unknown_in(item, names, found)),
        Data::Map(items) => items.iter().for_each(|(_, item)| unknown_in(item, names, found)),
    }
}

fn unknown_names(text: &str, pos: Pos, names: &[&str], found: &mut Vec<Diagnostic>) {
    for piece in pieces(text) {
        let PatternPiece::Name(name) = piece else { continue };
        if names.contains(&name) {
            continue;
        }
        let message = match names.is_empty() {
            true => format!("the target has no matrix that {{{name}}} could come from"),
            false => format!("the matrix has no list \"{name}\""),
        };
        let near = spelling::closest(name, names.iter().copied(), spelling::tolerance(name).max(2));
        let hint = match near {
            Some(near) => format!("did you mean {{{near}}}?"),
            None if names.is_empty() => format!("add matrix: {{{name}: […]}}"),
            None => format!("its lists are {}; {{{{{name}}}}} is written as {{{name}}}", names.join(", ")),
        };
        let mut unknown = problem(Id::PROJECT_MATRIX, message, pos, Part::Value, Some(hint.clone()));
        if let Some(near) = near {
            let new = format!("\"{}\"", text.replace(&format!("{{{name}}}"), &format!("{{{near}}}")));
            let edit = Edit::replace(pos, Part::Value, new);
            let title = format!("Change {{{name}}} to {{{near}}}");
            let is_simple = !text.contains(['"', '\\', '\n']);
            let edits = if is_simple { vec![edit] } else { Vec::new() };
            if is_simple {
                unknown.helps = vec![Help::new(hint).fixed_by(title, edits, Safety::Likely)];
            }
        }
        found.push(unknown);
    }
}

enum PatternPiece<'a> {
    Text(&'a str),
    /// `{{name}}`, which means `{name}`.
    Escaped(&'a str),
    Name(&'a str),
}

fn pieces(text: &str) -> Vec<PatternPiece<'_>> {
    let mut found = Vec::new();
    let (mut at, mut copied) = (0, 0);
    while let Some(open) = text[at..].find('{').map(|open| at + open) {
        let escaped = text[open..].strip_prefix('{').and_then(|inner| Some((inner, placeholder(inner)?)));
        if let Some((inner, name)) = escaped
            && inner[name.len() + 2..].starts_with('}')
        {
            found.push(PatternPiece::Text(&text[copied..open]));
            found.push(PatternPiece::Escaped(&inner[..name.len() + 2]));
            at = open + name.len() + 4;
            copied = at;
        } else if let Some(name) = placeholder(&text[open..]) {
            found.push(PatternPiece::Text(&text[copied..open]));
            found.push(PatternPiece::Name(name));
            at = open + name.len() + 2;
            copied = at;
        } else {
            at = open + 1;
        }
    }
    found.push(PatternPiece::Text(&text[copied..]));
    found
}

/// The name in the `{name}` that a text begins with.
fn placeholder(text: &str) -> Option<&str> {
    let inner = text.strip_prefix('{')?;
    let end = inner.find(|c: char| !(c.is_alphanumeric() || c == '_' || c == '-'))?;
    let is_name = inner.starts_with(|c: char| c.is_alphabetic() || c == '_');
    (is_name && inner[end..].starts_with('}')).then(|| &inner[..end])
}
