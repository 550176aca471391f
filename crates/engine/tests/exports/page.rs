//! How the HTML page marks required fields and shapes.

use ytterby::{Inspect, Options, OutputTypes};

use crate::support::run;

fn page(schema: &str) -> String {
    let output_types = OutputTypes(vec!["html".to_owned()]);
    let options = Options { inspect: Some(Inspect::Schema), output_types, ..Options::default() };
    run(&format!("#@data/values-schema\n---\n{schema}"), &options).unwrap()
}

/// The paths that the page marks as required.
fn to_give(schema: &str) -> Vec<String> {
    let page = page(schema);
    let Some((_, rest)) = page.split_once("<p class=\"to-give\">") else { return Vec::new() };
    let (list, _) = rest.split_once("</p>").unwrap();
    list.split("<code>").skip(1).map(|part| part.split_once("</code>").unwrap().0.to_owned()).collect()
}

#[test]
fn lists_what_every_user_has_to_give() {
    let required = "#@schema/required\n";
    assert_eq!(to_give("a: 1\n"), Vec::<String>::new());
    assert_eq!(to_give(&format!("{required}a: 1\nm:\n  {required}  b: \"\"\n  c: 1\n")), ["a", "m.b"]);
    // A default that violates its rule must be replaced.
    assert_eq!(to_give("#@schema/validation min_len=1\na: \"\"\n"), ["a"]);
    assert!(page("#@schema/validation min_len=1\na: \"\"\n").contains("mark required\">default not valid<"));
    // Items of a list, and keys of an optional map, are not required.
    assert_eq!(to_give(&format!("l:\n-\n  {required}  b: 1\n")), Vec::<String>::new());
    assert_eq!(to_give(&format!("#@schema/nullable\nm:\n  {required}  b: 1\n")), Vec::<String>::new());
    assert_eq!(to_give(&format!("m:\n  #@schema/any-key\n  _:\n    {required}    b: 1\n")), Vec::<String>::new());
}

#[test]
fn folded_maps_say_what_they_hold() {
    let page = page("m:\n  #@schema/required\n  a: 1\n  sub:\n    #@schema/required\n    b: 1\n  c: 1\n");
    assert!(page.contains("3 fields of <code>m</code> <strong class=\"mark required\">2 required</strong>"));
    assert!(page.contains("1 field of <code>m.sub</code> <strong class=\"mark required\">1 required</strong>"));
}

#[test]
fn fields_of_shapes_are_shown_and_can_be_picked() {
    let shapes = "#@ def one():\na: 1\n#@ end\n#@ def two():\nl:\n- b: 1\n#@ end\n";
    let schema = format!("{shapes}#@data/values-schema\n---\n#@schema/one-of one(), two()\nx:\n");
    let output_types = OutputTypes(vec!["html".to_owned()]);
    let options = Options { inspect: Some(Inspect::Schema), output_types, ..Options::default() };
    let page = run(&schema, &options).unwrap();
    assert!(page.contains("one of 2 shapes or null"), "{page}");
    for (path, step) in [("x (1).a", "[\"a\"]"), ("x (2).l", "[\"l\"]"), ("x (2).l[].b", "[null,\"b\"]")] {
        let step = step.replace('"', "&quot;");
        let name = format!("<td class=\"fieldname\">{path}</td>");
        let before = page.split_once(&name).unwrap_or_else(|| panic!("{path}")).0;
        let (_, group) = before.rsplit_once("<tbody class=\"field\"").unwrap();
        assert!(group.contains(&format!("data-step=\"{step}\"")), "{path}: {group}");
    }
}
