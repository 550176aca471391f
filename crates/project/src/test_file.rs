//! Test files: `*_test.yml`.
//!
//! `read_tests` returns typed tests with positions, and all problems of the file. The types at the
//! top are the format; each has one function below that reads it. Nothing is rendered here.

use ytterby_diag::{Diagnostic, FileId, Id, Part, Path, Pos, Sources, Step};
use ytterby_text::Str;
use ytterby_yaml::View;

use crate::keys;
use crate::path::clean;
use crate::project::{self, SetValue};
use crate::reader::{Ids, PlacedNode, Reader};
use crate::value::{Placed, PlacedData, problem};

/// The tests of a file. Paths are relative to it.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct TestFile {
    /// Its source; `None` if it could not be parsed.
    pub file: Option<FileId>,
    /// The tests in the order of the file.
    pub tests: Vec<Test>,
}

/// One test.
#[derive(Clone, PartialEq, Debug)]
pub struct Test {
    /// Its name.
    pub name: Placed<String>,
    /// The target to render.
    pub target: Option<Placed<String>>,
    /// Input files.
    pub files: Vec<Placed<String>>,
    /// Values files.
    pub values: Vec<Placed<String>>,
    /// Data values.
    pub set: Vec<SetValue>,
    /// Expectations about the output.
    pub expect: Vec<Expectation>,
    /// A file below `__snapshots__` that the output must equal.
    pub snapshot: Option<Placed<String>>,
    /// The expected failure of the render.
    pub fails: Option<Placed<ExpectedFailure>>,
    /// The number of generated inputs that must render.
    pub generate: Option<Placed<u64>>,
}

/// An expectation about documents.
#[derive(Clone, PartialEq, Debug)]
pub struct Expectation {
    /// Its position.
    pub pos: Pos,
    /// Selects documents by their content; empty selects all.
    pub document: Vec<Expected>,
    /// Whether `document` is given.
    pub has_selector: bool,
    /// The expected number of documents; one if absent and nodes are expected.
    pub count: Option<Placed<u64>>,
    /// The expected values of nodes.
    pub equals: Vec<Expected>,
    /// The expected parts of nodes.
    pub contains: Vec<Expected>,
    /// Nodes that must not exist.
    pub absent: Vec<Placed<Path>>,
}

/// A node and its expected value.
#[derive(Clone, PartialEq, Debug)]
pub struct Expected {
    /// The path of the node.
    pub path: Path,
    /// The expected result.
    pub value: PlacedData,
}

/// An expected failure. Absent parts match anything.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct ExpectedFailure {
    /// Its id.
    pub id: Option<String>,
    /// The path of the data value or node, as in messages.
    pub path: Option<String>,
    /// A substring of the message.
    pub message: Option<String>,
}

const IDS: Ids = Ids { unknown_key: Id::TEST_UNKNOWN_KEY, wrong_type: Id::TEST_TYPE, wrong_value: Id::TEST_VALUE };

/// Reads a test file. Its text becomes a source named `name`.
///
/// ```
/// use ytterby_diag::Sources;
/// let text = b"tests:\n- name: it renders\n  expect: [{count: 2}]\n";
/// let (file, problems) = ytterby_project::read_tests("a_test.yml", (*text).into(), &Sources::new());
/// assert!(problems.is_empty());
/// assert_eq!(file.tests[0].name.value, "it renders");
/// ```
pub fn read_tests(name: &str, text: Str, sources: &Sources) -> (TestFile, Vec<Diagnostic>) {
    let mut reader = match Reader::new(name, text, IDS, sources) {
        Ok(reader) => reader,
        Err(error) => return (TestFile::default(), vec![*error]),
    };
    let mut found = TestFile { file: Some(reader.tree.file()), tests: Vec::new() };
    if let Some(root) = reader.root() {
        for (_, item) in reader.table(root, "the test file", keys::TEST_FILE) {
            for item in reader.list(item, "tests") {
                found.tests.extend(test(&mut reader, item));
            }
        }
    }
    check_snapshots(&mut reader, &found.tests);
    (found, reader.problems)
}

fn test(reader: &mut Reader, item: PlacedNode) -> Option<Test> {
    if !matches!(reader.tree.value(item.node), View::Map(_)) {
        reader.wrong_type(item, "a map for a test", None);
        return None;
    }
    let mut found = Test {
        name: Placed::new(String::new(), item.pos),
        target: None,
        files: Vec::new(),
        values: Vec::new(),
        set: Vec::new(),
        expect: Vec::new(),
        snapshot: None,
        fails: None,
        generate: None,
    };
    let mut has_name = false;
    let mut has_expect = None;
    for (key, item) in reader.table(item, "a test", keys::TEST) {
        match key.name {
            "name" => {
                has_name = true;
                if let Some(name) = reader.text(item, "name") {
                    found.name = name;
                }
            }
            "target" => found.target = reader.text(item, "target"),
            "files" => found.files = reader.texts(item, "files"),
            "values" => found.values = reader.texts(item, "values"),
            "set" => found.set = project::set(reader, item),
            "expect" => {
                has_expect = Some(item.pos);
                for item in reader.list(item, "expect") {
                    found.expect.extend(expectation(reader, item));
                }
            }
            "snapshot" => found.snapshot = snapshot(reader, item),
            "fails" => found.fails = fails(reader, item),
            _ => {
                found.generate = reader.count(item, "generate").map(|count| Placed::new(count, item.pos));
                if found.generate.as_ref().is_some_and(|count| count.value == 0) {
                    let hint = Some("write how many inputs to try: 200".to_owned());
                    reader.wrong_value(item.pos, "expected at least one input to generate, found 0", hint);
                }
            }
        }
    }
    if !has_name {
        let hint = Some("add name: and what the test shows".to_owned());
        reader.report(problem(Id::TEST_VALUE, "the test has no name", item.pos, Part::Line, hint));
    }
    if let Some(fails) = &found.fails {
        let other = has_expect.or(found.snapshot.as_ref().map(|snapshot| snapshot.pos));
        let other = other.or(found.generate.as_ref().map(|generate| generate.pos));
        if other.is_some() {
            let message = "a test that fails has no output that could be compared";
            let hint = Some("remove fails, or make two tests of it".to_owned());
            reader.report(problem(Id::TEST_VALUE, message, fails.pos, Part::Key, hint));
        }
    }
    Some(found)
}

fn expectation(reader: &mut Reader, item: PlacedNode) -> Option<Expectation> {
    let mut found = Expectation {
        pos: item.pos,
        document: Vec::new(),
        has_selector: false,
        count: None,
        equals: Vec::new(),
        contains: Vec::new(),
        absent: Vec::new(),
    };
    if !matches!(reader.tree.value(item.node), View::Map(_)) {
        reader.wrong_type(item, "a map for an expectation", None);
        return None;
    }
    let given = reader.table(item, "an expectation", keys::EXPECTATION);
    if given.len() == 1 && given[0].0.name == "document" {
        // By default exactly one document must match.
        found.count = Some(Placed::new(1, given[0].1.pos));
    }
    for (key, item) in given {
        match key.name {
            "document" => {
                found.has_selector = true;
                found.document = expected(reader, item, "document");
            }
            "count" => found.count = reader.count(item, "count").map(|count| Placed::new(count, item.pos)),
            "equals" => found.equals = expected(reader, item, "equals"),
            "contains" => found.contains = expected(reader, item, "contains"),
            _ => {
                for path in reader.texts(item, "absent") {
                    found
                        .absent
                        .extend(node_path(reader, &path, Part::Value).map(|steps| Placed::new(steps, path.pos)));
                }
            }
        }
    }
    Some(found)
}

fn expected(reader: &mut Reader, item: PlacedNode, what: &str) -> Vec<Expected> {
    let mut found = Vec::new();
    for (key, item) in reader.map(item, what) {
        let path = node_path(reader, &Placed::new(key, item.pos), Part::Key);
        if let (Some(path), Some(value)) = (path, reader.value(item, what)) {
            found.push(Expected { path, value });
        }
    }
    found
}

fn snapshot(reader: &mut Reader, item: PlacedNode) -> Option<Placed<String>> {
    let name = reader.text(item, "snapshot")?;
    let path = clean(&name.value);
    if path.starts_with('/') || path == "." || path == ".." || path.starts_with("../") || name.value.ends_with('/') {
        let hint = Some("name a file below __snapshots__, such as dev.yml".to_owned());
        reader.wrong_value(item.pos, format!("\"{}\" is not the name of a snapshot", name.value), hint);
        return None;
    }
    Some(Placed::new(path, item.pos))
}

/// Reports snapshots shared by several tests: they would overwrite each other.
fn check_snapshots(reader: &mut Reader, tests: &[Test]) {
    let mut seen: std::collections::HashMap<&str, &Test> = std::collections::HashMap::new();
    for test in tests {
        let Some(snapshot) = &test.snapshot else { continue };
        if let Some(first) = seen.insert(&snapshot.value, test) {
            let message =
                format!("the tests \"{}\" and \"{}\" have the same snapshot", first.name.value, test.name.value);
            reader.report(snapshot.problem(Id::TEST_VALUE, message, Some("use a different file for each".to_owned())));
        }
    }
}

fn fails(reader: &mut Reader, item: PlacedNode) -> Option<Placed<ExpectedFailure>> {
    if !matches!(reader.tree.value(item.node), View::Map(_)) {
        let message = reader.text(item, "fails")?;
        let failure = ExpectedFailure { message: Some(message.value), ..ExpectedFailure::default() };
        return Some(Placed::new(failure, item.pos));
    }
    let mut found = ExpectedFailure::default();
    let before = reader.problems.len();
    for (key, item) in reader.table(item, "fails", keys::FAILS) {
        let text = reader.text(item, key.name);
        match key.name {
            "id" => {
                if let Some(id) = &text
                    && Id::find(&id.value).is_none()
                {
                    unknown_id(reader, id);
                }
                found.id = text.map(|text| text.value);
            }
            "path" => found.path = text.map(|text| text.value),
            _ => found.message = text.map(|text| text.value),
        }
    }
    if found == ExpectedFailure::default() && reader.problems.len() == before {
        let hint = Some("give an id, a path or a message".to_owned());
        reader.wrong_value(item.pos, "fails does not describe the problem", hint);
    }
    Some(Placed::new(found, item.pos))
}

fn unknown_id(reader: &mut Reader, id: &Placed<String>) {
    let names = Id::all().iter().map(|id| id.name());
    let near = ytterby_text::spelling::closest(&id.value, names, 3);
    let hint = match near {
        Some(near) => format!("did you mean {near}?"),
        None => "ids look like rule/min; docs/errors.md lists all of them".to_owned(),
    };
    reader.wrong_value(id.pos, format!("unknown id \"{}\"", id.value), Some(hint));
}

/// Parses `spec.containers[0].image`, `metadata.annotations["a.b/c"]`.
fn node_path(reader: &mut Reader, text: &Placed<String>, part: Part) -> Option<Path> {
    let found = parse_path(&text.value);
    if found.is_none() {
        let hint = Some("paths look like spec.ports[0].name; keys with dots are written as [\"a.b\"]".to_owned());
        let message = format!("\"{}\" is not the path of a node", text.value);
        reader.report(problem(reader.ids.wrong_value, message, text.pos, part, hint));
    }
    found
}

fn parse_path(text: &str) -> Option<Path> {
    let mut steps = Vec::new();
    let mut rest = text;
    let mut is_first = true;
    while !rest.is_empty() {
        if let Some(inside) = rest.strip_prefix('[') {
            if let Some(quote) = inside.chars().next().filter(|c| matches!(c, '"' | '\'')) {
                let end = inside[1..].find(quote)? + 1;
                steps.push(Step::Key(inside[1..end].to_owned()));
                rest = inside[end + 1..].strip_prefix(']')?;
            } else {
                let end = inside.find(']')?;
                steps.push(Step::Index(inside[..end].parse().ok()?));
                rest = &inside[end + 1..];
            }
        } else {
            let from = if is_first { rest } else { rest.strip_prefix('.')? };
            let end = from.find(['.', '[']).unwrap_or(from.len());
            if end == 0 {
                return None;
            }
            steps.push(Step::Key(from[..end].to_owned()));
            rest = &from[end..];
        }
        is_first = false;
    }
    if steps.is_empty() { None } else { Some(steps.into()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_parsed() {
        let check = |text, want: Option<&str>| {
            let shown = parse_path(text).map(|path| format!("{:?}", path.steps()));
            assert_eq!(shown.as_deref(), want, "{text}");
        };
        check("a", Some(r#"[Key("a")]"#));
        check("a.b[0].c", Some(r#"[Key("a"), Key("b"), Index(0), Key("c")]"#));
        check("[1][2]", Some("[Index(1), Index(2)]"));
        check(r#"a["b.c/d"].e"#, Some(r#"[Key("a"), Key("b.c/d"), Key("e")]"#));
        check("a['x']", Some(r#"[Key("a"), Key("x")]"#));
        for wrong in ["", ".", "a.", ".a", "a..b", "a[", "a[x]", "a[0", "a[0]b", "a[\"b]", "a[-1]"] {
            check(wrong, None);
        }
    }
}
