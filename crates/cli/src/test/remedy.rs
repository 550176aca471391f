//! Suggests how to make a failed test pass: the smallest change of the test, for when the output is
//! right.
//!
//! A test and the output disagree, and only a person knows which of the two is wrong. The problem
//! shows the output's place; the remedy shows the change of the test file.

use ytterby_diag::Path;
use ytterby_project::{Data, DataScalar, Expectation, Expected, ExpectedFailure, PlacedData};
use ytterby_text::spelling;

use super::expect::{contains, equal, inline, is_collection, lookup, scalar_text};

/// Longer values are not repeated in a remedy.
const LONGEST: usize = 80;

/// The remedy for a node that is not equal to what is expected.
pub fn of_equals(wanted: &Expected, found: &PlacedData) -> String {
    let difference = first_difference(found, &wanted.value, &wanted.path, Compare::Whole);
    match difference {
        Some(difference) if is_collection(found) && contains(found, &wanted.value) => {
            format!("{difference}; contains: compares only the keys that it names")
        }
        Some(difference) if is_collection(&wanted.value) => {
            format!("if the output is right, change the test: {difference}")
        }
        _ => written(&wanted.path, found),
    }
}

/// The remedy for a node that does not contain what is expected.
pub fn of_contains(wanted: &Expected, found: &PlacedData) -> String {
    match first_difference(found, &wanted.value, &wanted.path, Compare::Part) {
        Some(difference) => format!("if the output is right, change the test: {difference}"),
        None => written(&wanted.path, found),
    }
}

/// The remedy for a node that should be absent.
pub fn of_absent(path: &Path) -> String {
    format!("if the output is right, remove {path} from absent:")
}

/// The remedy for another number of documents.
pub fn of_count(expectation: &Expectation, found: usize, documents: &[&PlacedData]) -> Option<String> {
    if found > 0 && expectation.count.is_none() {
        return Some(format!("name one of them by another key in document:, or expect count: {found}"));
    }
    if found > 0 || expectation.document.is_empty() {
        return Some(format!("if the output is right, write count: {found}"));
    }
    // The key that no document has, or has with another value.
    let (wanted, near) = expectation.document.iter().find_map(|wanted| {
        let values: Vec<String> = documents
            .iter()
            .filter_map(|document| lookup(document, wanted.path.steps()))
            .filter(|node| !is_collection(node))
            .map(|node| scalar_of(&node.value))
            .collect();
        let text = scalar_of(&wanted.value.value);
        if values.contains(&text) {
            return None;
        }
        let near = spelling::closest(&text, values.iter().map(String::as_str), spelling::tolerance_of_short(&text));
        Some((wanted, near.map(str::to_owned)))
    })?;
    Some(match near {
        Some(near) => format!("did you mean {}: {near}?", wanted.path),
        None => format!("no document has {}: {}", wanted.path, inline(&wanted.value)),
    })
}

/// The remedy for a render that should fail and does not.
pub fn of_success(expected: &ExpectedFailure) -> String {
    match &expected.path {
        Some(path) => format!("give {path} a value that must be refused (set:), or remove fails:"),
        None => "give values that must be refused (set:, values:), or remove fails:".to_owned(),
    }
}

/// The remedy for a render that fails in another way.
pub fn of_failure(id: &str, path: Option<&Path>) -> String {
    match path.filter(|path| !path.is_document()) {
        Some(path) => format!("if this failure is right, write fails: {{id: {id}, path: {path}}}"),
        None => format!("if this failure is right, write fails: {{id: {id}}}"),
    }
}

fn written(path: &Path, found: &PlacedData) -> String {
    let value = inline(found);
    match value.len() <= LONGEST {
        true => format!("if the output is right, expect {path}: {value}"),
        false => "if the output is right, change the test as the difference shows".to_owned(),
    }
}

fn scalar_of(value: &Data) -> String {
    match value {
        Data::Scalar(scalar) => scalar_text(scalar),
        _ => String::new(),
    }
}

/// Whether keys and items that only the output has count.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Compare {
    Whole,
    Part,
}

/// The first place where two nodes differ, in words; `None` if the whole nodes differ.
fn first_difference(found: &PlacedData, wanted: &PlacedData, path: &Path, compare: Compare) -> Option<String> {
    match (&found.value, &wanted.value) {
        (Data::Map(found), Data::Map(wanted)) => {
            fn find<'a>(key: &DataScalar, items: &'a [(DataScalar, PlacedData)]) -> Option<&'a PlacedData> {
                items.iter().find(|(other, _)| other == key).map(|(_, value)| value)
            }
            for (key, value) in wanted {
                let below = path.key(scalar_text(key));
                match find(key, found) {
                    None => return Some(format!("{below} does not exist")),
                    Some(found) if is_different(found, value, compare) => {
                        return Some(
                            first_difference(found, value, &below, compare)
                                .unwrap_or_else(|| format!("{below} is {}, not {}", inline(found), inline(value))),
                        );
                    }
                    Some(_) => {}
                }
            }
            let (key, _) = found.iter().find(|(key, _)| find(key, wanted).is_none())?;
            (compare == Compare::Whole).then(|| format!("{} is not expected", path.key(scalar_text(key))))
        }
        (Data::List(found), Data::List(wanted)) if compare == Compare::Whole => {
            for (at, (found, wanted)) in found.iter().zip(wanted).enumerate() {
                if !equal(found, wanted) {
                    let below = path.index(at);
                    return Some(
                        first_difference(found, wanted, &below, compare)
                            .unwrap_or_else(|| format!("{below} is {}, not {}", inline(found), inline(wanted))),
                    );
                }
            }
            Some(format!("{path} has {} items, not {}", found.len(), wanted.len()))
        }
        (Data::List(found), Data::List(wanted)) => {
            let missing = wanted.iter().find(|wanted| !found.iter().any(|item| contains(item, wanted)))?;
            Some(format!("{path} has no item {}", inline(missing)))
        }
        _ => None,
    }
}

fn is_different(found: &PlacedData, wanted: &PlacedData, compare: Compare) -> bool {
    match compare {
        Compare::Whole => !equal(found, wanted),
        Compare::Part => !contains(found, wanted),
    }
}

#[cfg(test)]
mod tests {
    use ytterby_diag::{Pos, Step};
    use ytterby_project::Placed;

    use super::*;

    fn text(text: &str) -> PlacedData {
        Placed::new(Data::Scalar(DataScalar::Text(text.to_owned())), Pos::UNKNOWN)
    }

    fn map(items: &[(&str, PlacedData)]) -> PlacedData {
        let items = items.iter().map(|(key, value)| (DataScalar::Text((*key).to_owned()), value.clone()));
        Placed::new(Data::Map(items.collect()), Pos::UNKNOWN)
    }

    fn expected(value: PlacedData) -> Expected {
        Expected { path: [Step::Key("labels".to_owned())].into_iter().collect(), value }
    }

    #[test]
    fn the_smallest_change_is_named() {
        let output = map(&[("app", text("web")), ("tier", text("front"))]);
        let part = expected(map(&[("app", text("web"))]));
        let wrong = expected(map(&[("app", text("wbe"))]));
        assert_eq!(
            of_equals(&part, &output),
            "labels.tier is not expected; contains: compares only the keys that it names"
        );
        let change = "if the output is right, change the test: labels.app is \"web\", not \"wbe\"";
        assert_eq!(of_equals(&wrong, &output), change);
        assert_eq!(of_contains(&wrong, &output), change);
        assert_eq!(of_equals(&expected(text("x")), &text("y")), "if the output is right, expect labels: \"y\"");
        let missing = expected(map(&[("zone", text("eu"))]));
        assert_eq!(
            of_contains(&missing, &output),
            "if the output is right, change the test: labels.zone does not exist"
        );
    }
}
