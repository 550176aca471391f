//! Properties of overlays, and of the search through the index compared with the scan.

use std::rc::Rc;
use std::sync::Arc;

use proptest::prelude::*;
use ytterby_diag::{Id, Pos, Sources};
use ytterby_starlark::{Builtin, Eval, Value};
use ytterby_text::Str;

use super::*;
use crate::annotation::{Ann, Annotation};
use crate::api::{Options, Silent};
use crate::node::{Annotated, Array, ArrayItem, Document, DocumentSet, MapItem, Scalar};

fn run() -> Rc<Run> {
    Rc::new(Run::new(&Options::default(), &Arc::new(Sources::new()), Rc::new(Silent)))
}

fn ann(ann: Ann, kwargs: &[(&str, Value)]) -> Annotation {
    let kwargs = kwargs.iter().map(|(name, value)| (Str::from(*name), value.clone())).collect();
    Annotation { kwargs, ..Annotation::bare(ann, Pos::UNKNOWN) }
}

fn entry(key: impl Into<Scalar>, value: impl Into<Node>, annotations: Vec<Annotation>) -> MapItem {
    let mut item = MapItem::new(key.into(), value.into(), Pos::UNKNOWN);
    annotations.into_iter().for_each(|annotation| item.annotate(annotation));
    item
}

fn element(value: impl Into<Node>, annotations: Vec<Annotation>) -> ArrayItem {
    let mut item = ArrayItem::new(value.into(), Pos::UNKNOWN);
    annotations.into_iter().for_each(|annotation| item.annotate(annotation));
    item
}

fn map(items: impl IntoIterator<Item = MapItem>) -> Node {
    Node::map(items.into_iter().collect())
}

fn array(items: impl IntoIterator<Item = ArrayItem>) -> Node {
    Node::array(Array { items: items.into_iter().collect(), ..Array::default() })
}

fn int(value: i64) -> Node {
    Node::Scalar(Scalar::Int(value))
}

/// The left side after the overlay, or the error.
fn overlaid(left: &Node, right: &Node) -> Result<Node, String> {
    let mut data = FragmentData::Node(left.clone());
    let run = run();
    apply(&mut run.new_eval(), &run, &mut data, &FragmentData::Node(right.clone()))
        .map_err(|failure| failure.to_string())?;
    match data {
        FragmentData::Node(node) => Ok(node),
        FragmentData::Documents(_) => panic!("a value stays a value"),
    }
}

#[track_caller]
fn check(left: &Node, right: &Node, expected: &Node) {
    let result = overlaid(left, right).expect("the overlay fits");
    assert!(in_order(&result, expected), "{result:#?}");
}

/// Equality with the order of keys.
fn in_order(a: &Node, b: &Node) -> bool {
    match (a, b) {
        (Node::Map(a), Node::Map(b)) => {
            a.len() == b.len() && a.iter().zip(b.iter()).all(|(a, b)| a.key == b.key && in_order(&a.value, &b.value))
        }
        (Node::Array(a), Node::Array(b)) => {
            a.items.len() == b.items.len() && a.items.iter().zip(&b.items).all(|(a, b)| in_order(&a.value, &b.value))
        }
        (a, b) => a.same(b),
    }
}

fn scalars() -> impl Strategy<Value = Node> {
    prop_oneof![
        Just(Node::NULL),
        any::<bool>().prop_map(|value| Node::Scalar(Scalar::Bool(value))),
        (-3..3i64).prop_map(int),
        "[a-c]{0,2}".prop_map(|text| Node::str(text.as_str())),
    ]
}

fn maps_of(inner: impl Strategy<Value = Node>) -> impl Strategy<Value = Node> {
    prop::collection::btree_map("[a-d]{1,2}", inner, 0..12)
        .prop_map(|pairs| map(pairs.into_iter().map(|(key, value)| entry(key.as_str(), value, vec![]))))
}

/// Values without arrays, to which overlays without annotations would append.
fn without_arrays() -> impl Strategy<Value = Node> {
    scalars().prop_recursive(3, 40, 6, maps_of)
}

fn any_value() -> impl Strategy<Value = Node> {
    scalars().prop_recursive(3, 40, 6, |inner| {
        let arrays = prop::collection::vec(inner.clone(), 0..5)
            .prop_map(|values| array(values.into_iter().map(|value| element(value, vec![]))));
        prop_oneof![maps_of(inner), arrays]
    })
}

/// Items with a name each.
fn named(names: &[u8]) -> Node {
    let item = |(number, name): (usize, &u8)| {
        let name = format!("n{}", name % 20);
        map([entry("name", Node::str(name.as_str()), vec![]), entry("number", int(number as i64), vec![])])
    };
    array(names.iter().enumerate().map(item).map(|item| element(item, vec![])))
}

fn subset_of_name(name: u8) -> Value {
    let wanted =
        Value::dict([(Value::from("name"), Value::from(format!("n{}", name % 20)))]).expect("strings are keys");
    Value::host(Matcher::Subset(wanted))
}

/// A function of a program that returns the same as a matcher.
fn as_function(matcher: Value) -> Value {
    Value::from(Builtin::new("f", move |eval: &mut Eval, args| eval.call(&matcher, args.positional, args.named)))
}

/// An overlay's item with the action number `kind`.
fn change(kind: u8, name: u8, matcher: Value) -> ArrayItem {
    let by = ann(Ann::OverlayMatch, &[("by", matcher), ("expects", Value::from("0+"))]);
    let renamed = map([entry("name", Node::str(format!("n{}", (name % 20 + 1) % 20).as_str()), vec![])]);
    let yes = Value::Bool(true);
    match kind % 6 {
        0 => element(renamed, vec![by]),
        1 => element(renamed, vec![by, ann(Ann::OverlayReplace, &[])]),
        2 => element(Node::NULL, vec![by, ann(Ann::OverlayRemove, &[])]),
        3 => element(renamed, vec![by, ann(Ann::OverlayInsert, &[("before", yes)])]),
        4 => element(renamed, vec![by, ann(Ann::OverlayInsert, &[("after", yes)])]),
        _ => element(renamed, vec![ann(Ann::OverlayAppend, &[])]),
    }
}

proptest! {
    #[test]
    fn equal_content_changes_nothing(value in without_arrays()) {
        prop_assert!(in_order(&overlaid(&value, &value).unwrap(), &value));
    }

    #[test]
    fn an_empty_overlay_changes_nothing(value in maps_of(any_value())) {
        let result = overlaid(&value, &map([])).unwrap();
        let (Node::Map(before), Node::Map(after)) = (&value, &result) else { panic!("maps stay maps") };
        prop_assert!(Rc::ptr_eq(before, after), "nothing is copied");
    }

    #[test]
    fn removing_and_inserting_restores(names in prop::collection::vec(any::<u8>(), 1..30), at in any::<prop::sample::Index>()) {
        let left = named(&names);
        let at = at.index(names.len());
        let Node::Array(items) = &left else { unreachable!() };
        let index = |number: usize| Value::host(Matcher::Index(number as i64));
        let by = |number| ann(Ann::OverlayMatch, &[("by", index(number))]);
        let without = overlaid(&left, &array([element(Node::NULL, vec![by(at), ann(Ann::OverlayRemove, &[])])])).unwrap();
        let item = items.items[at].value.clone();
        let back = match at {
            _ if names.len() == 1 => element(item, vec![ann(Ann::OverlayAppend, &[])]),
            0 => element(item, vec![by(0), ann(Ann::OverlayInsert, &[("before", Value::Bool(true))])]),
            _ => element(item, vec![by(at - 1), ann(Ann::OverlayInsert, &[("after", Value::Bool(true))])]),
        };
        prop_assert!(in_order(&overlaid(&without, &array([back])).unwrap(), &left));
    }

    /// The index finds the same items as a scan, after any sequence of changes.
    #[test]
    fn indexed_and_plain_search_agree(
        names in prop::collection::vec(any::<u8>(), 0..30),
        changes in prop::collection::vec((any::<u8>(), any::<u8>(), any::<bool>()), 1..20),
    ) {
        let left = named(&names);
        let overlay = |plain: bool| {
            array(changes.iter().map(|&(kind, name, by_subset)| {
                let matcher = match by_subset {
                    true => subset_of_name(name),
                    false => Value::host(Matcher::And(vec![subset_of_name(name), Value::host(Matcher::All)])),
                };
                change(kind, name, if plain { as_function(matcher) } else { matcher })
            }))
        };
        let (fast, slow) = (overlaid(&left, &overlay(false)), overlaid(&left, &overlay(true)));
        prop_assert!(in_order(&fast.unwrap(), &slow.unwrap()));
    }

    /// Overlays treat documents like array items.
    #[test]
    fn documents_behave_like_array_items(
        names in prop::collection::vec(any::<u8>(), 1..20),
        changes in prop::collection::vec((1..6u8, any::<u8>()), 1..10),
    ) {
        let left = named(&names);
        let right = array(changes.iter().map(|&(kind, name)| change(kind, name, subset_of_name(name))));
        let as_documents = |node: &Node| {
            let items = &node.as_array().expect("an array").items;
            let docs = items.iter().map(|item| Document { value: item.value.clone(), pos: item.pos, meta: item.meta.clone() });
            FragmentData::Documents(Rc::new(DocumentSet { items: docs.collect() }))
        };
        let run = run();
        let mut docs = as_documents(&left);
        apply(&mut run.new_eval(), &run, &mut docs, &as_documents(&right)).unwrap();
        let FragmentData::Documents(docs) = docs else { panic!("documents stay documents") };
        let docs = array(docs.items.iter().map(|doc| element(doc.value.clone(), vec![])));
        prop_assert!(in_order(&docs, &overlaid(&left, &right).unwrap()));
    }

    #[test]
    fn map_key_search_agrees(names in prop::collection::vec(any::<u8>(), 1..20), wanted in prop::collection::vec(any::<u8>(), 1..10)) {
        let left = named(&names);
        let overlay = |plain: bool| {
            array(wanted.iter().map(|name| {
                let matcher = Value::host(Matcher::MapKey(Str::from("name")));
                let matcher = if plain { as_function(matcher) } else { matcher };
                let name = format!("n{}", name % 20);
                let value = map([entry("name", Node::str(name.as_str()), vec![])]);
                element(value, vec![ann(Ann::OverlayMatch, &[("by", matcher), ("expects", Value::from("0+"))])])
            }))
        };
        let (fast, slow) = (overlaid(&left, &overlay(false)), overlaid(&left, &overlay(true)));
        prop_assert!(in_order(&fast.unwrap(), &slow.unwrap()));
    }

    #[test]
    fn noop_leaves_the_left(left in maps_of(any_value()), right in any_value()) {
        let Node::Map(items) = &left else { unreachable!() };
        let noops = items.iter().map(|item| entry(item.key.clone(), right.clone(), vec![ann(Ann::OverlayNoop, &[])]));
        prop_assert!(in_order(&overlaid(&left, &map(noops)).unwrap(), &left));
    }

    #[test]
    fn a_plain_merge_contains_the_right_side(left in maps_of(any_value()), right in maps_of(any_value())) {
        let run = run();
        let mut given = Document::new(right.clone(), Pos::UNKNOWN);
        crate::node::merge_plainly(&mut given);
        let result = merge_document(&mut run.new_eval(), &run, Document::new(left, Pos::UNKNOWN), &given, Purpose::Values);
        // A map cannot be merged into something else that is not null.
        if let Ok(result) = result {
            prop_assert!(compare::contains(&result.value, &right));
        }
    }
}

#[test]
fn a_removed_key_can_be_added_again() {
    let left = map([entry("a", int(1), vec![]), entry("b", int(2), vec![])]);
    let right = map([
        entry("a", Node::NULL, vec![ann(Ann::OverlayRemove, &[])]),
        entry("a", int(3), vec![ann(Ann::OverlayMatch, &[("missing_ok", Value::Bool(true))])]),
    ]);
    check(&left, &right, &map([entry("b", int(2), vec![]), entry("a", int(3), vec![])]));
}

#[test]
fn annotations_are_removed_and_merged_back() {
    let rule = Annotation {
        pos: Pos::new(ytterby_diag::FileId(0), 7),
        ..ann(Ann::SchemaValidation, &[("min", Value::Int(1))])
    };
    let desc = Annotation { args: vec![Value::from("text")], ..ann(Ann::SchemaDesc, &[]) };
    let left = map([entry("a", int(1), vec![rule.clone(), desc.clone()])]);
    let without = overlaid(
        &left,
        &map([entry("a", Node::NULL, vec![ann(Ann::OverlayNoop, &[]), ann(Ann::OverlayRemoveAnns, &[])])]),
    )
    .unwrap();
    let Node::Map(items) = &without else { panic!("a map stays a map") };
    assert!(items.items()[0].annotations().is_empty());
    let back = entry("a", Node::NULL, vec![ann(Ann::OverlayNoop, &[]), ann(Ann::OverlayMergeAnns, &[]), rule, desc]);
    let restored = overlaid(&without, &map([back])).unwrap();
    let Node::Map(items) = &restored else { panic!("a map stays a map") };
    let names: Vec<_> = items.items()[0].annotations().iter().map(|annotation| annotation.ann).collect();
    assert_eq!(names, [Some(Ann::SchemaValidation), Some(Ann::SchemaDesc)]);
    assert_eq!(items.items()[0].annotations()[0].kwarg("min").unwrap().repr(), "1");
}

#[test]
fn merged_annotations_remember_where_arguments_come_from() {
    let at = |offset| Pos::new(ytterby_diag::FileId(0), offset);
    let kwargs =
        |pairs: &[(&str, i64)]| pairs.iter().map(|(name, value)| (Str::from(*name), Value::Int(*value))).collect();
    let validation = |pos, pairs: &[(&str, i64)], arg: &str| Annotation {
        args: vec![Value::from(arg)],
        kwargs: kwargs(pairs),
        ..Annotation::bare(Ann::SchemaValidation, pos)
    };
    let left = map([entry("a", int(1), vec![validation(at(1), &[("min", 1), ("max", 5)], "left")])]);
    let right = validation(at(2), &[("max", 7), ("min_len", 3)], "right");
    let merged = overlaid(&left, &map([entry("a", int(1), vec![right, ann(Ann::OverlayMergeAnns, &[])])])).unwrap();
    let Node::Map(items) = &merged else { panic!("a map stays a map") };
    let rule = items.items()[0].annotation(Ann::SchemaValidation).unwrap();
    let args: Vec<_> = (0..2).map(|number| (rule.args[number].repr(), rule.arg_pos(number))).collect();
    assert_eq!(args, [(Str::from("\"left\""), at(1)), (Str::from("\"right\""), at(2))]);
    let kwargs: Vec<_> = (0..3)
        .map(|number| {
            (rule.kwargs[number].0.to_str().into_owned(), rule.kwargs[number].1.repr(), rule.kwarg_pos(number))
        })
        .collect();
    let kwarg = |name: &str, value: &str, offset| (name.to_owned(), Str::from(value), at(offset));
    assert_eq!(kwargs, [kwarg("min", "1", 1), kwarg("max", "7", 2), kwarg("min_len", "3", 2)]);
}

#[test]
fn rules_for_output_are_added() {
    let rule = |value| ann(Ann::AssertValidate, &[("max", Value::Int(value))]);
    let left = map([entry("a", int(1), vec![rule(1)])]);
    let merged = overlaid(&left, &map([entry("a", int(2), vec![rule(2)])])).unwrap();
    let Node::Map(items) = &merged else { panic!("a map stays a map") };
    assert_eq!(items.items()[0].annotations().len(), 2);
}

#[test]
fn given_values_are_marked() {
    let run = run();
    let at = |offset| Pos::new(ytterby_diag::FileId(0), offset);
    let left = map([
        entry("a", map([entry("b", int(1), vec![]), entry("c", int(2), vec![])]), vec![]),
        entry("d", int(3), vec![]),
    ]);
    let mut inner = entry("b", int(5), vec![]);
    inner.pos = at(2);
    let mut outer = entry("a", map([inner]), vec![]);
    outer.pos = at(1);
    let noop = entry("d", int(9), vec![ann(Ann::OverlayNoop, &[])]);
    let right = Document::new(map([outer, noop]), at(0));
    let left = Document::new(left, Pos::UNKNOWN);
    let merged = merge_document(&mut run.new_eval(), &run, left, &right, Purpose::Values).unwrap();
    let given = |item: &MapItem| item.meta().map(|meta| meta.given.clone()).unwrap_or_default();
    let root = merged.value.as_map().unwrap();
    let a = root.get_str("a").unwrap();
    assert_eq!(given(a), [at(1)]);
    assert_eq!(given(a.value.as_map().unwrap().get_str("b").unwrap()), [at(2)]);
    assert!(given(a.value.as_map().unwrap().get_str("c").unwrap()).is_empty());
    assert!(given(root.get_str("d").unwrap()).is_empty());
}

#[test]
fn failures_suggest_similar_keys() {
    let left = map([entry("hostname", int(1), vec![]), entry("port", int(2), vec![])]);
    let mut data = FragmentData::Node(left);
    let run = run();
    let right = FragmentData::Node(map([entry("hostnam", int(1), vec![])]));
    let failure = apply(&mut run.new_eval(), &run, &mut data, &right).unwrap_err();
    assert_eq!(
        failure.to_string(),
        "Map item (key 'hostnam') on line ?: Expected number of matched nodes to be 1, but was 0"
    );
    let diagnostics = failure.diagnostics();
    let [diagnostic] = diagnostics.as_slice() else { panic!("one problem") };
    assert_eq!(diagnostic.id, Id::OVERLAY_NO_MATCH);
    assert_eq!(diagnostic.path.as_ref().map(|path| path.shown()).as_deref(), Some("hostnam"));
    assert_eq!(diagnostic.helps[0].text.plain(), "did you mean \"hostname\"?");
}

#[test]
fn overlays_of_templates_are_taken_out_and_applied() {
    let run = run();
    let doc = |kind: &str| Document::new(map([entry("kind", Node::str(kind), vec![])]), Pos::UNKNOWN);
    let mut overlay = Document::new(map([entry("kind", Node::str("c"), vec![])]), Pos::UNKNOWN);
    let wanted = Value::dict([(Value::from("kind"), Value::from("b"))]).unwrap();
    overlay.annotate(ann(Ann::OverlayMatch, &[("by", Value::host(Matcher::Subset(wanted)))]));
    let files = vec![
        ("a.yml", DocumentSet { items: vec![doc("a"), doc("b"), Document::new(Node::NULL, Pos::UNKNOWN)] }),
        ("o.yml", DocumentSet { items: vec![overlay] }),
    ];
    let result = post_process(&mut run.new_eval(), &run, files, |name| (*name).to_owned()).unwrap();
    let [("a.yml", docs)] = result.as_slice() else { panic!("only the first file is left") };
    let kinds: Vec<_> =
        docs.items.iter().map(|doc| doc.value.as_map().unwrap().get_str("kind").unwrap().value.clone()).collect();
    assert_eq!(kinds.len(), 2);
    assert!(kinds[0].same(&Node::str("a")) && kinds[1].same(&Node::str("c")));
}
