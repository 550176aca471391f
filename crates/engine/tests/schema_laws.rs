//! Laws of schemas: defaults pass their own schema, and filling what is full changes nothing.

use std::rc::Rc;
use std::sync::Arc;

use proptest::prelude::*;
use ytterby::{Content, InputFile, Inspect, Options, Silent, ValuesFile, render};
use ytterby_diag::Sources;

/// The final data values of a schema and of plain values on top.
fn values(schema: &str, given: Option<&str>) -> Result<String, String> {
    let file = |name: &str, text: &str| InputFile::new(name, Content::new(text.as_bytes()));
    let mut options = Options { inspect: Some(Inspect::Values), ..Options::default() };
    if let Some(given) = given {
        options.values.files.push(ValuesFile {
            library: String::new(),
            path: "given.yml".to_owned(),
            files: Ok(vec![file("given.yml", given)]),
        });
    }
    let sources = Arc::new(Sources::new());
    match render(vec![file("schema.yml", schema)], &options, &sources, Rc::new(Silent)) {
        Ok(rendered) => Ok(String::from_utf8(rendered.documents).expect("YAML is text")),
        Err(failure) => Err(failure.to_string()),
    }
}

/// A node of a schema: annotations, and the value.
#[derive(Clone, Debug)]
enum Declared {
    Scalar(&'static str, &'static str),
    Map(&'static str, Vec<Declared>),
    Array(&'static str, Box<Declared>),
}

const SCALARS: [(&str, &str); 12] = [
    ("", "1"),
    ("", "text"),
    ("", "1.5"),
    ("", "true"),
    ("#@schema/nullable", "1"),
    ("#@schema/type any=True", "null"),
    ("#@schema/default 7", "1"),
    ("#@schema/type one_of=[\"int\", \"string\"]", "1"),
    ("#@schema/type \"null\", \"string\"", "null"),
    ("#@schema/type \"float\", or_inferred=True", "text"),
    ("#@schema/key missing_ok=True", "1"),
    ("#@schema/desc \"d\"\n#@schema/secret", "hush"),
];

const MAPS: [&str; 4] =
    ["", "#@schema/nullable", "#@schema/type \"null\", or_inferred=True", "#@schema/key missing_ok=True"];

const ARRAYS: [&str; 3] = ["", "#@schema/nullable", "#@schema/type \"string\", or_inferred=True"];

fn declared() -> impl Strategy<Value = Declared> {
    let leaf = prop::sample::select(&SCALARS[..]).prop_map(|(ann, value)| Declared::Scalar(ann, value));
    leaf.prop_recursive(4, 24, 4, |inner| {
        prop_oneof![
            (prop::sample::select(&MAPS[..]), prop::collection::vec(inner.clone(), 1..4))
                .prop_map(|(ann, items)| Declared::Map(ann, items)),
            (prop::sample::select(&ARRAYS[..]), inner).prop_map(|(ann, item)| Declared::Array(ann, Box::new(item))),
        ]
    })
}

fn write_items(out: &mut String, indent: usize, items: &[Declared]) {
    for (at, item) in items.iter().enumerate() {
        write(out, indent, &format!("k{at}:"), item);
    }
}

fn write(out: &mut String, indent: usize, head: &str, node: &Declared) {
    let pad = " ".repeat(indent);
    let (Declared::Scalar(annotations, _) | Declared::Map(annotations, _) | Declared::Array(annotations, _)) = node;
    // What only map items can have is left out in arrays.
    let allowed =
        annotations.lines().filter(|line| head != "-" || !line.contains("schema/key") && !line.contains("default"));
    allowed.for_each(|line| out.push_str(&format!("{pad}{line}\n")));
    match node {
        Declared::Scalar(_, value) => out.push_str(&format!("{pad}{head} {value}\n")),
        Declared::Map(_, items) => {
            out.push_str(&format!("{pad}{head}\n"));
            write_items(out, indent + 2, items);
        }
        Declared::Array(_, item) => {
            out.push_str(&format!("{pad}{head}\n"));
            write(out, indent + 2, "-", item);
        }
    }
}

fn schema(items: &[Declared]) -> String {
    let mut text = "#@data/values-schema\n---\n".to_owned();
    write_items(&mut text, 0, items);
    text
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(200) })]

    #[test]
    fn defaults_pass_their_own_schema(items in prop::collection::vec(declared(), 1..5)) {
        // Secrets are not shown, so they cannot be given again.
        let schema = schema(&items);
        let lines = schema.lines().filter(|line| !line.contains("@schema/secret"));
        let schema: String = lines.map(|line| format!("{line}\n")).collect();
        let defaults = values(&schema, None);
        prop_assert!(defaults.is_ok(), "{schema}\n{defaults:?}");
        let again = values(&schema, defaults.as_deref().ok());
        prop_assert_eq!(again, defaults, "{}", schema);
    }

    #[test]
    fn secrets_are_never_shown(items in prop::collection::vec(declared(), 1..5)) {
        let schema = schema(&items);
        let shown = values(&schema, None);
        prop_assert!(shown.as_ref().is_ok_and(|shown| !shown.contains("hush")), "{schema}\n{shown:?}");
    }
}
