//! Properties that hold for any input.

use proptest::prelude::*;
use ytterby_diag::Sources;
use ytterby_project::{Shard, clean, is_below, join, read, read_tests, select};

fn path() -> impl Strategy<Value = String> {
    let piece = prop_oneof![Just("a"), Just("b"), Just("."), Just(".."), Just("")];
    (any::<bool>(), prop::collection::vec(piece, 0..6))
        .prop_map(|(rooted, pieces)| format!("{}{}", if rooted { "/" } else { "" }, pieces.join("/")))
}

/// Text that looks like a project file, with mistakes.
fn text() -> impl Strategy<Value = String> {
    let word = prop_oneof![
        Just("files"),
        Just("targets"),
        Just("matrix"),
        Just("output"),
        Just("set"),
        Just("limits"),
        Just("tests"),
        Just("name"),
        Just("expect"),
        Just("dev"),
        Just("{a}"),
        Just("[x, y]"),
        Just("{a: [1, 2]}"),
        Just("1.30"),
        Just(": "),
        Just("\n"),
        Just("\n  "),
        Just("- "),
        Just("null"),
        Just("\"out/{a}\""),
        Just("&x "),
        Just("*x"),
        Just("é"),
        Just("{{a}}"),
        Just(", "),
        Just("["),
        Just("}"),
    ];
    prop::collection::vec(word, 0..24).prop_map(|words| words.concat())
}

proptest! {
    #[test]
    fn cleaning_is_idempotent(path in path()) {
        prop_assert_eq!(clean(&clean(&path)), clean(&path));
    }

    #[test]
    fn joined_paths_are_below_their_base(base in "[ab]/[ab]", path in "[ab](/[ab]){0,3}") {
        prop_assert!(is_below(&join(&base, &path), &clean(&base)));
    }

    #[test]
    fn every_name_is_in_exactly_one_shard(name in ".{0,20}", count in 1u64..9) {
        let parts = (1..=count).filter_map(|index| Shard::parse(&format!("{index}/{count}")));
        prop_assert_eq!(parts.filter(|part| part.contains(&name)).count(), 1);
    }

    #[test]
    fn any_text_is_read_without_a_panic(text in text()) {
        let sources = Sources::new();
        let (project, problems) = read("ytterby.yml", text.as_bytes().into(), "", &sources);
        for problem in &problems {
            let label = problem.primary();
            prop_assert!(label.is_some(), "{:?}", problem);
            prop_assert!(label.unwrap().span(&sources).is_some());
        }
        if problems.is_empty() {
            for target in &project.targets {
                let found = select(&project, std::slice::from_ref(&target.name)).unwrap();
                prop_assert!(found.contains(&target));
            }
        }
        let _ = read_tests("a_test.yml", text.as_bytes().into(), &sources);
    }

    #[test]
    fn a_matrix_has_the_product_of_its_lists(sizes in prop::collection::vec(1usize..6, 1..4)) {
        let lists: Vec<String> = sizes.iter().enumerate().map(|(at, size)| {
            let items: Vec<String> = (0..*size).map(|n| format!("v{n}")).collect();
            format!("l{at}: [{}]", items.join(", "))
        }).collect();
        let text = format!("targets: {{t: {{matrix: {{{}}}}}}}\n", lists.join(", "));
        let (project, problems) = read("ytterby.yml", text.as_bytes().into(), "", &Sources::new());
        prop_assert!(problems.is_empty());
        prop_assert_eq!(project.targets.len(), sizes.iter().product::<usize>());
        let names: std::collections::HashSet<&str> = project.targets.iter().map(|t| &*t.name).collect();
        prop_assert_eq!(names.len(), project.targets.len());
    }
}
