//! Any text as `ytterby.yml` and as a test file gives data and problems that can be shown, the same
//! each time.

#![no_main]

use libfuzzer_sys::fuzz_target;
use ytterby_diag::Sources;
use ytterby_diag::render::{Rendering, Report, RichOptions, render};
use ytterby_project::{MAX_TARGETS, Shard, read, read_tests, select};
use ytterby_text::Str;

fuzz_target!(|data: &[u8]| {
    let once = || {
        let sources = Sources::new();
        let (project, mut problems) = read("ytterby.yml", Str::from(data), "root", &sources);
        assert!(project.targets.len() <= MAX_TARGETS);
        let names: Vec<String> = project.targets.iter().map(|target| target.name.clone()).collect();
        let shards: Vec<Shard> = ["1/2", "2/2"].into_iter().filter_map(Shard::parse).collect();
        for name in &names {
            assert_eq!(shards.iter().filter(|shard| shard.contains(name)).count(), 1, "a target is in one part");
            assert!(select(&project, std::slice::from_ref(name)).is_ok_and(|found| !found.is_empty()), "{name}");
        }
        if let Err(problem) = select(&project, &["no-such-target".to_owned()]) {
            problems.push(*problem);
        }
        let (tests, more) = read_tests("a.test.yml", Str::from(data), &sources);
        problems.extend(more);
        let report = Report::new("fuzz", None, &problems, &sources);
        let shown: String =
            [Rendering::Text, Rendering::Rich(RichOptions::default()), Rendering::Json, Rendering::Sarif]
                .into_iter()
                .map(|form| render(&report, form))
                .collect();
        (names, tests.tests.len(), shown)
    };
    assert_eq!(once(), once(), "two readings differ");
});
