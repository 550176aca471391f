//! Tests of rules in annotations, and of the reports about values that violate them.

use std::rc::Rc;
use std::sync::Arc;

use ytterby_diag::{Cause, Failure, Pos, Sources};
use ytterby_starlark::Value;
use ytterby_text::Str;

use super::rules::tests::yaml;
use super::*;
use crate::api::{Compat, Options, Silent};
use crate::path::Way;
use crate::run::Run;

fn run(compat: Compat) -> Rc<Run> {
    let options = Options { compat, ..Options::default() };
    Rc::new(Run::new(&options, &Arc::new(Sources::new()), Rc::new(Silent)))
}

/// The report about a value with these named rules; the text of the error if they are wrong.
fn report(compat: Compat, kwargs: &[(&str, Value)], value: &str) -> String {
    let run = run(compat);
    let kwargs: Vec<(Str, Value)> = kwargs.iter().map(|(name, value)| (Str::from(*name), value.clone())).collect();
    let rules = match Rules::from_arguments(&[], &kwargs, &run, Pos::UNKNOWN) {
        Ok(rules) => rules,
        Err(failure) => return failure.to_string(),
    };
    let (mut eval, value) = (run.new_eval(), yaml(value));
    let mut checker = Checker::new(&mut eval, &run, None, DocumentKind::Values);
    let way = Way::Name("v");
    let spot = CheckedValue { value: &value, parent: None, way: &way, pos: Pos::UNKNOWN, secret: false };
    checker.check(&rules, &spot).expect("no rule stops the check");
    Failure::of(Cause::Violations(checker.blocks)).to_string()
}

fn pair(first: impl Into<Value>, second: impl Into<Value>) -> Value {
    Value::tuple(vec![first.into(), second.into()])
}

fn strings(items: &[&str]) -> Value {
    Value::list(items.iter().map(|item| Value::from(*item)).collect())
}

#[test]
fn a_block_contains_all_violations_of_a_value() {
    let rules = [("format", Value::from("ipv4")), ("max_len", Value::Int(0))];
    let text = "  v\n    from: ?\n    - must be: format \"ipv4\" (by: ?)\n      found: not a valid ipv4\n    \
                - must be: length <= 0 (by: ?)\n      found: length = 1\n\n";
    assert_eq!(report(Compat::Latest, &rules, "a"), text);
    assert_eq!(report(Compat::Latest, &rules, "null"), "");
    assert_eq!(report(Compat::Latest, &[], "a"), "");
}

#[test]
fn a_rule_can_have_a_description() {
    let nine = Value::Int(9);
    for (name, argument, must_be) in [
        ("min", pair("nine", nine.clone()), "nine"),
        ("min", pair(nine.clone(), "nine"), "nine"),
        ("one_of", pair("mine", strings(&["x"])), "mine"),
        ("one_of", pair(strings(&["x"]), "mine"), "mine"),
        ("one_of", pair("x", "y"), "one of (\"x\", \"y\")"),
        ("one_of", pair(nine, "x"), "one of (9, \"x\")"),
        ("enum", pair(strings(&["x"]), "mine"), "mine"),
        ("prefix", pair("x", "mine"), "mine"),
        ("starts_with", pair("mine", "x"), "mine"),
        ("format", pair("ipv4", "mine"), "mine"),
        ("format", pair("mine", "ipv4"), "mine"),
        ("even", pair(true, "mine"), "mine"),
        ("even", pair("mine", true), "mine"),
    ] {
        let text = report(Compat::Latest, &[(name, argument)], "5");
        assert!(text.contains(&format!("- must be: {must_be} (by")), "{name}: {text}");
    }
}

#[test]
fn mistakes_are_reported_with_their_position() {
    let one = || Value::Int(1);
    for (rules, text) in [
        (vec![("foo", one())], "unknown keyword argument \"foo\" (at ?)"),
        (vec![("when", one())], "expected keyword argument \"when\" to be a function, but was int (at ?)"),
        (
            vec![("enum", strings(&["a"])), ("one_of", strings(&["a"]))],
            "keyword arguments \"enum\" and \"one_of\" are the same rule (at ?)",
        ),
    ] {
        assert_eq!(report(Compat::Latest, &rules, "1"), text);
    }
    assert_eq!(report(Compat::V0_49, &[("len", one())], "1"), "unknown keyword argument \"len\" (at ?)");
}

#[test]
fn rules_of_ytt_run_in_its_order_around_the_others() {
    let one = || Value::Int(1);
    let rules = [("max", Value::Int(0)), ("above", Value::Int(9)), ("min", Value::Int(9)), ("max_len", one())];
    let text = report(Compat::Latest, &rules, "5");
    let order: Vec<&str> = text.lines().filter_map(|line| line.trim().strip_prefix("- must be: ")).collect();
    assert_eq!(order, ["length <= 1 (by: ?)", "a value > 9 (by: ?)", "a value >= 9 (by: ?)", "a value <= 0 (by: ?)"]);
}

#[test]
fn exports_contain_the_keywords_of_each_target() {
    let run = run(Compat::Latest);
    let exported = |name: &str, argument: Value, target: ExportTarget, shape: NodeType| {
        let kwargs = [(Str::from(name), argument)];
        let rules = Rules::from_arguments(&[], &kwargs, &run, Pos::UNKNOWN).expect("the rule is right");
        let keywords = rules.exports(target, &shape).remove(0).keywords.into_iter();
        let shown = keywords.map(|keyword| match keyword {
            Keyword::Plain(name, node) => format!("{name}={}", crate::node::to_plain_value(&node).repr()),
            Keyword::Pattern(pattern) => format!("pattern={pattern}"),
            Keyword::Cel(rule) | Keyword::Loop(rule, _) => rule,
            Keyword::NotNull => "not null".to_owned(),
            Keyword::Void => String::new(),
        });
        shown.collect::<Vec<_>>().join(" ")
    };
    use ExportTarget::{Crd, JsonSchema, OpenApi};
    let list = || NodeType::List { items: ItemTypes::Other };
    let texts = || NodeType::List { items: ItemTypes::Texts };
    let map = || NodeType::Map(MapNodeType { keys: vec!["a".into(), "b-c".into()], ..MapNodeType::default() });
    let x = || Value::from("x");
    for (name, argument, target, shape, expected) in [
        ("min", Value::Int(1), OpenApi, NodeType::Integer, "minimum=1"),
        ("min", x(), OpenApi, NodeType::Text, ""),
        ("above", Value::Int(1), OpenApi, NodeType::Integer, "minimum=1 exclusiveMinimum=True"),
        ("above", Value::Int(1), JsonSchema, NodeType::Integer, "exclusiveMinimum=1"),
        ("len", Value::Int(2), Crd, list(), "minItems=2 maxItems=2"),
        ("max_len", Value::Int(2), OpenApi, map(), "maxProperties=2"),
        ("starts_with", Value::from("a.b"), OpenApi, NodeType::Text, "pattern=^a\\.b"),
        ("contains", x(), JsonSchema, list(), "contains={\"const\": \"x\"}"),
        ("contains", x(), Crd, texts(), "self.exists(x, x == 'x')"),
        ("contains", x(), Crd, list(), ""),
        // An object with declared keys is not a map in CEL.
        ("contains", x(), Crd, map(), ""),
        ("matches", Value::from("(?i)a"), OpenApi, NodeType::Text, ""),
        ("matches", Value::from("(?i)a"), Crd, NodeType::Text, "pattern=(?i)a"),
        ("format", Value::from("duration"), JsonSchema, NodeType::Text, "x-ytt-format=\"duration\""),
        ("format", Value::from("duration"), Crd, NodeType::Text, "format=\"duration\""),
        ("format", Value::from("iso-duration"), JsonSchema, NodeType::Text, "format=\"duration\""),
        ("format", Value::from("port"), Crd, NodeType::Integer, "minimum=0 maximum=65535"),
        ("odd", Value::Bool(true), JsonSchema, NodeType::Integer, "not={\"multipleOf\": 2}"),
        ("odd", Value::Bool(true), JsonSchema, NodeType::Float, "multipleOf=1 not={\"multipleOf\": 2}"),
        ("odd", Value::Bool(true), Crd, NodeType::Integer, "self % 2 != 0"),
        (
            "odd",
            Value::Bool(true),
            Crd,
            NodeType::Float,
            "multipleOf=1 double(int(self)) == self && int(self) % 2 != 0",
        ),
        ("unique", Value::Bool(true), Crd, list(), "self.all(x, self.exists_one(y, x == y))"),
        ("not_null", Value::Bool(true), Crd, NodeType::Text, "not null"),
        ("one_not_null", Value::Bool(true), Crd, map(), "[has(self.a), has(self.b__dash__c)].exists_one(x, x)"),
    ] {
        assert_eq!(exported(name, argument, target, shape), expected, "{name} in {target:?}");
    }
}

#[test]
fn patterns_and_expressions_are_compiled_once() {
    let items = "- {name: a, size: 1}\n".repeat(300);
    let schema = "#@data/values-schema\n#@schema/validation-defaults-for-strings matches=\"^[a-z]*$\"\n---\na: x\nb: y\n\
                  list:\n- name: z\n  #@schema/validation cel=\"self > 0 && string(self).matches('^[0-9]+$')\"\n  size: 1\n";
    let template = "#@ load('@ytt:data', 'data')\n#@ for item in data.values.list:\n---\n\
                    #@assert/validate matches='^[a-z]$'\nname: #@ item.name\n#@ end\n";
    let file = |name: &str, text: &str| crate::InputFile::new(name, crate::Content::new(text.as_bytes()));
    let files = vec![
        file("schema.yml", schema),
        file("values.yml", &format!("#@data/values\n---\nlist:\n{items}")),
        file("template.yml", template),
    ];
    let (patterns, expressions) = (ytterby_regexp::compiled(), cel::COUNT.get());
    let rendered = crate::render(files, &Options::default(), &Arc::new(Sources::new()), Rc::new(Silent));
    assert_eq!(rendered.expect("it renders").documents.len(), "name: a\n---\n".len() * 300 - 4);
    assert_eq!(ytterby_regexp::compiled() - patterns, 3, "one of the defaults, of the expression, of the template");
    assert_eq!(cel::COUNT.get() - expressions, 1);
}
