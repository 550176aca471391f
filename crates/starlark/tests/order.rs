//! Compares dicts and sets with a naive model: a vector of pairs with linear search.

use proptest::prelude::*;
use std::rc::Rc;

use ytterby_starlark::{Dict, Set, Value, equal};

#[derive(Clone, Debug)]
enum Op {
    Insert(i64, i64),
    Remove(i64),
    RemoveFirst,
    Clear,
}

fn ops() -> impl Strategy<Value = Vec<Op>> {
    // Few keys, so that they collide; enough of them for the index to be built and rebuilt.
    let key = 0..60i64;
    let op = prop_oneof![
        6 => (key.clone(), any::<i64>()).prop_map(|(key, value)| Op::Insert(key, value)),
        3 => key.prop_map(Op::Remove),
        1 => Just(Op::RemoveFirst),
        1 => Just(Op::Clear),
    ];
    proptest::collection::vec(op, 0..400)
}

/// Keys of all hashable types; some are equal although their types differ.
fn key(n: i64) -> Value {
    match n % 5 {
        0 => Value::Int(n),
        1 => Value::str(format!("key {n}")),
        2 => Value::tuple(vec![Value::Int(n), Value::str("x")]),
        3 => Value::Float((n / 2) as f64),
        _ => Value::str(format!("a key that is longer than others {n}")),
    }
}

fn position(model: &[(Value, i64)], key: &Value) -> Option<usize> {
    model.iter().position(|(other, _)| equal(other, key).unwrap())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    #[test]
    fn dict_behaves_like_a_vector_of_pairs(ops in ops()) {
        let dict = Dict::new();
        let mut model: Vec<(Value, i64)> = Vec::new();
        for op in ops {
            match op {
                Op::Insert(n, value) => {
                    let key = key(n);
                    let old = dict.insert(key.clone(), Value::Int(value)).unwrap();
                    match position(&model, &key) {
                        Some(at) => {
                            prop_assert!(equal(&old.unwrap(), &Value::Int(model[at].1)).unwrap());
                            model[at].1 = value;
                        }
                        None => {
                            prop_assert!(old.is_none());
                            model.push((key, value));
                        }
                    }
                }
                Op::Remove(n) => {
                    let old = dict.remove(&key(n)).unwrap();
                    let expected = position(&model, &key(n)).map(|at| model.remove(at));
                    prop_assert_eq!(old.is_some(), expected.is_some());
                }
                Op::RemoveFirst => {
                    if let Some((key, _)) = dict.first() {
                        dict.remove(&key).unwrap();
                        model.remove(0);
                    }
                }
                Op::Clear => {
                    dict.clear().unwrap();
                    model.clear();
                }
            }
            prop_assert_eq!(dict.len(), model.len());
        }
        let items = dict.items();
        prop_assert_eq!(items.len(), model.len());
        for ((key, value), (expected_key, expected_value)) in items.iter().zip(&model) {
            prop_assert_eq!(key.repr(), expected_key.repr());
            prop_assert_eq!(value.repr(), Value::Int(*expected_value).repr());
            prop_assert!(dict.get(key).unwrap().is_some());
        }
    }

    #[test]
    fn set_keeps_the_first_of_equal_elements(numbers in proptest::collection::vec(0..80i64, 0..300)) {
        let set = Set::new();
        let mut model: Vec<(Value, i64)> = Vec::new();
        for n in numbers {
            set.insert(key(n)).unwrap();
            if position(&model, &key(n)).is_none() {
                model.push((key(n), 0));
            }
        }
        let expected: Vec<_> = model.iter().map(|(key, _)| key.repr()).collect();
        let got: Vec<_> = set.to_vec().iter().map(Value::repr).collect();
        prop_assert_eq!(got, expected);
    }

    #[test]
    fn iteration_sees_keys_in_order(numbers in proptest::collection::vec(0..80i64, 0..300)) {
        let dict = Rc::new(Dict::new());
        for n in numbers {
            dict.insert(key(n), Value::None).unwrap();
        }
        let keys: Vec<_> = Value::Dict(dict.clone()).iterate().unwrap().map(|key| key.repr()).collect();
        let expected: Vec<_> = dict.items().iter().map(|(key, _)| key.repr()).collect();
        prop_assert_eq!(keys, expected);
    }
}
