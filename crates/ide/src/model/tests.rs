//! Tests of models of complete and broken texts.

use super::{Model, ModelKind};

fn model(text: &str) -> Model {
    Model::new(text, ModelKind::Yaml, true)
}

/// The paths of all items with their lines, from 1: `db.host 2-2`.
fn outline(text: &str) -> Vec<String> {
    let model = model(text);
    let shown = |(index, item): (usize, &super::YamlItem)| {
        let path: Vec<&str> = model.path(index).into_iter().map(|step| step.unwrap_or("[]")).collect();
        format!("{} {}-{}", path.join("."), item.line + 1, item.end_line + 1)
    };
    model.items.iter().enumerate().map(shown).collect()
}

#[test]
fn items_are_nested_by_their_columns() {
    assert_eq!(outline("a:\n  b: 1\n  c:\n    d: 2\ne: 3\n"), ["a 1-4", "a.b 2-2", "a.c 3-4", "a.c.d 4-4", "e 5-5"]);
    assert_eq!(
        outline("a:\n- x: 1\n  y: 2\n- 3\nb: 1\n"),
        ["a 1-4", "a.[] 2-3", "a.[].x 2-2", "a.[].y 3-3", "a.[] 4-4", "b 5-5"]
    );
    assert_eq!(outline("- - a: 1\n  - b\n"), ["[] 1-2", "[].[] 1-1", "[].[].a 1-1", "[].[] 2-2"]);
}

#[test]
fn flow_collections_have_items() {
    assert_eq!(
        outline("a: {b: [1, {c: 2}], \"d e\": x}\n"),
        ["a 1-1", "a.b 1-1", "a.b.[] 1-1", "a.b.[] 1-1", "a.b.[].c 1-1", "a.d e 1-1"]
    );
    assert_eq!(outline("a: {\n  b: 1\n}\nc: 2\n"), ["a 1-3", "a.b 2-2", "c 4-4"]);
}

#[test]
fn mistakes_do_not_affect_later_lines() {
    assert_eq!(
        outline("a: b: c\n  x: [1, {\nspec:\n  r: 1\n"),
        ["a 1-2", "a.x 2-2", "a.x.[] 2-2", "a.x.[] 2-2", "spec 3-4", "spec.r 4-4"]
    );
    assert_eq!(outline("a: \"open\nb: 1\n")[0], "a 1-1");
    assert_eq!(outline("db:\n  po\nname: x\n"), ["db 1-2", "db.po 2-2", "name 3-3"]);
}

#[test]
fn unclosed_flow_collections_take_linear_time() {
    // Each line is read once, not once for each collection that is open.
    assert_eq!(outline("a: {b: {\n  c: 1\nd: 2\n"), ["a 1-2", "a.b 1-1", "a.b.c 2-2", "a.c 2-2", "d 3-3"]);
    let nested = format!("a: {0}\n{0}x\n", "{".repeat(40));
    assert!(outline(&nested).len() < 300);
    let lines = "{\n".repeat(3000);
    assert!(outline(&lines).len() < 10 * lines.len());
}

#[test]
fn block_scalars_and_comments_have_no_items() {
    assert_eq!(outline("a: |\n  b: 1\n\n  c: 2\nd: 1 # e: 2\n#! f: 1\n"), ["a 1-4", "d 5-5"]);
    assert_eq!(outline("- |\n  b: 1\n- c\n"), ["[] 1-2", "[] 3-3"]);
}

#[test]
fn annotations_belong_to_the_next_node() {
    let model = model("#@data/values-schema\n---\n#@schema/desc \"x\"\n#@ if True:\na: 1 #@schema/nullable\n");
    assert!(model.is_schema(0));
    let names: Vec<&str> =
        model.items[0].annotations.iter().map(|index| model.annotations[*index].name.as_str()).collect();
    assert_eq!(names, ["schema/desc", "schema/nullable"]);
}

/// Blocks as `line-line`, from 1; `?` for a missing end.
fn blocks(text: &str) -> Vec<String> {
    let model = model(text);
    let end = |block: &super::Block| block.end.map_or("?".to_owned(), |_| (block.end_line + 1).to_string());
    model.blocks.iter().map(|block| format!("{}-{}", block.line + 1, end(block))).collect()
}

#[test]
fn blocks_have_ends() {
    assert_eq!(blocks("#@ for i in [1]:\n#@ if i:\na: 1\n#@ else:\nb: 1\n#@ end\n#@ end\n"), ["1-7", "2-6"]);
    assert_eq!(blocks("#@ if/end True:\na: 1\n#@ def f(): return 1\n#@ def g(\n#@   x):\n#@ end\n"), ["4-6"]);
    assert_eq!(blocks("#@ if f(1:\na: 1\n#@ end\n#@ if True:\n"), ["1-3", "4-?"]);
    assert_eq!(model("#@ end\n").stray_ends.len(), 1);
}

/// Names that are used but not defined.
fn undefined(text: &str) -> Vec<String> {
    let model = model(text);
    let is_open = |reference: &&super::Reference| reference.definition.is_none();
    model.references.iter().filter(is_open).map(|reference| reference.name.clone()).collect()
}

#[test]
fn names_are_found_in_their_scopes() {
    assert_eq!(
        undefined("#@ def f(x, y=z):\n#@   w = x\n#@   return w + y + q\n#@ end\na: #@ f(x=1) + w\n"),
        ["z", "q", "w"]
    );
    assert_eq!(undefined("a: #@ [x + n for x in xs if x > 1]\nb: #@ x\n"), ["n", "xs", "x"]);
    assert_eq!(undefined("#@ f = lambda a, b=c: a + b\na: #@ a\n"), ["c", "a"]);
    assert_eq!(undefined("#@ for k, v in {}.items():\na: #@ k + v\n#@ end\n"), Vec::<String>::new());
    assert_eq!(undefined("#@ load(\"a.star\", \"f\", g=\"h\")\na: #@ f() + g() + h()\n"), ["h"]);
    assert_eq!(undefined("#@schema/validation min=low, when=lambda v: v > 1\na: 1\n"), ["low"]);
    assert_eq!(
        undefined("#@ def f():\n#@   \"\"\"Words of text,\n#@   and more words.\"\"\"\n#@   return 1\n#@ end\n"),
        Vec::<String>::new()
    );
}

#[test]
fn functions_have_documentation() {
    let model = model("#@ def f(a, *rest):\n#@   \"\"\"One,\n#@   two.\"\"\"\n#@   return a\n#@ end\n");
    let super::DefKind::Function { parameters, doc } = &model.definitions.last().unwrap().kind else {
        panic!("no function")
    };
    assert_eq!(parameters, &["a", "*rest"]);
    assert_eq!(doc.as_deref(), Some("One,\ntwo."));
}

#[test]
fn text_templates_have_regions() {
    let model = Model::new("a (@= x @) b (@- if y: -@)\n(@ end @) (@ open\nc", ModelKind::Text, true);
    let text = "a (@= x @) b (@- if y: -@)\n(@ end @) (@ open\nc";
    let codes: Vec<&str> = model.regions.iter().map(|region| region.range.of(text).trim()).collect();
    assert_eq!(codes, ["x", "if y:", "end", "open"]);
    assert_eq!(model.blocks.len(), 1);
}
