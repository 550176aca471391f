//! Properties of schemas: defaults are valid, and filling in complete values changes nothing.

use std::rc::Rc;
use std::sync::Arc;

use proptest::prelude::*;
use ytterby::{Content, GenerateOptions, InputFile, Inspect, Options, Silent, ValuesFile, generate, render};
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
    // Annotations for map items only are left out in arrays.
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

/// Generates documents and renders with each as a values file. The error is the first rejection.
fn generated_are_accepted(schema: &str, count: usize, seed: u64) -> Result<usize, String> {
    let file = InputFile::new("schema.yml", Content::new(schema.as_bytes()));
    let sources = Arc::new(Sources::new());
    let made = generate(vec![file], &Options::default(), &sources, &GenerateOptions::new(count, seed));
    let made = made.map_err(|failure| format!("{schema}\n{}", failure.text(&sources)))?;
    for document in &made.documents {
        let text = String::from_utf8(document.yaml().expect("a document can be written")).expect("YAML is text");
        values(schema, Some(&text)).map_err(|why| format!("{schema}\n{text}\n{why}"))?;
    }
    Ok(made.documents.len())
}

/// Items with rules of every kind, each with a valid default.
const RULES: [(&str, &str); 30] = [
    ("min=1, max=5", "2"),
    ("above=1, below=4", "2"),
    ("min=1.5, max=2.5", "2.0"),
    ("min=10, max=30, multiple_of=7", "14"),
    ("multiple_of=0.25, min=0", "0.5"),
    ("even=True, min=3, max=9", "4"),
    ("odd=True", "3"),
    ("one_of=[\"a\", \"b\"]", "a"),
    ("one_of=[1, 2, 3]", "2"),
    ("min_len=3, max_len=5", "abc"),
    ("len=4", "abcd"),
    ("starts_with=\"ab\", ends_with=\"yz\", min_len=10", "abccccccyz"),
    ("contains=\"mid\", max_len=6", "xmidy"),
    ("matches=\"^[a-z]{2,4}-[0-9]+$\", max_len=9", "ab-1"),
    ("matches=\"^(prod|dev)-\\\\w+$\"", "prod-1"),
    ("format=\"hostname\"", "localhost"),
    ("format=\"ipv6\"", "\"::1\""),
    ("format=\"date-time\"", "\"2018-11-13T20:20:39Z\""),
    ("format=\"iso-duration\"", "P1D"),
    ("format=\"quantity\"", "500m"),
    ("format=\"port\"", "80"),
    ("format=\"uri\", min_len=12", "https://example.com"),
    ("format=\"percent\"", "10%"),
    ("lambda v: v % 3 == 1", "4"),
    ("(\"short or long\", lambda v: len(v) != 2)", "abc"),
    ("min_len=2, max_len=3, unique=True", "[]"),
    ("contains=\"a\"", "[]"),
    ("max_len=1", "{}"),
    ("min=3, when=lambda v, ctx: ctx.root[\"k0\"] != 7", "4"),
    ("not_null=True", "1"),
];

/// A rule on an item; lists get items and a valid default.
fn with_rule(at: usize, (rule, value): (&str, &str), nullable: bool) -> String {
    let key = format!("k{at}");
    let annotation = format!("#@schema/validation {rule}\n");
    let nullable = if nullable && !rule.contains("not_null") { "#@schema/nullable\n" } else { "" };
    match value {
        "[]" => format!("#@schema/default [\"a\", \"b\"]\n{annotation}{key}:\n- \"\"\n"),
        "{}" => format!("{annotation}{key}:\n  #@schema/any-key\n  _: 1\n"),
        value => format!("{nullable}{annotation}{key}: {value}\n"),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(200) })]

    #[test]
    fn defaults_pass_their_own_schema(items in prop::collection::vec(declared(), 1..5)) {
        // Secrets are masked, so they cannot be given again.
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

    #[test]
    fn generated_values_are_accepted(items in prop::collection::vec(declared(), 1..5), seed in 0..1000u64) {
        let accepted = generated_are_accepted(&schema(&items), 12, seed);
        prop_assert_eq!(accepted, Ok(12));
    }

    #[test]
    fn generated_values_keep_rules(
        rules in prop::collection::vec((prop::sample::select(&RULES[..]), any::<bool>()), 1..6),
        seed in 0..1000u64,
    ) {
        let items = rules.iter().enumerate().map(|(at, (rule, nullable))| with_rule(at, *rule, *nullable));
        let schema = format!("#@data/values-schema\n---\n{}", items.collect::<String>());
        let accepted = generated_are_accepted(&schema, 12, seed);
        prop_assert_eq!(accepted, Ok(12));
    }
}
