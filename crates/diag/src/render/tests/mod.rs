//! Tests of each rendering with typical problems, and of the limits of renderings.

mod samples;

use insta::assert_snapshot;

use super::*;
use crate::{Diagnostic, Edit, Id, Part, Pos, Safety};
use samples::{Sample, many};

/// All samples in one rendering, one after the other.
fn all(rendering: Rendering) -> String {
    samples::all().iter().map(|(name, sample)| format!("## {name}\n{}\n", sample.rendered(rendering))).collect()
}

fn rich(width: Option<usize>) -> Rendering {
    Rendering::Rich(RichOptions { colour: Colour::Off, width })
}

fn sample(name: &str) -> Sample {
    samples::all().into_iter().find(|(known, _)| *known == name).expect("a sample has this name").1
}

#[test]
fn text() {
    assert_snapshot!(all(Rendering::Text));
}

#[test]
fn rich_without_width() {
    assert_snapshot!(all(rich(None)));
}

#[test]
fn rich_in_60_columns() {
    assert_snapshot!(all(rich(Some(60))));
}

#[test]
fn rich_in_80_140_and_200_columns() {
    for width in [80, 140, 200] {
        assert_snapshot!(format!("long_line_in_{width}"), sample("long_line").rendered(rich(Some(width))));
    }
}

#[test]
fn rich_in_colour() {
    let colour = Rendering::Rich(RichOptions { colour: Colour::Ansi, width: Some(80) });
    let samples = ["type", "undefined", "several_lines", "warning"].map(|name| sample(name).rendered(colour));
    assert_snapshot!(samples.join("\n").replace('\x1b', "␛"));
}

#[test]
fn json() {
    assert_snapshot!(all(Rendering::Json));
}

#[test]
fn sarif() {
    assert_snapshot!(all(Rendering::Sarif));
}

#[test]
fn github() {
    assert_snapshot!(all(Rendering::Github));
}

#[test]
fn gitlab() {
    assert_snapshot!(all(Rendering::Gitlab));
}

#[test]
fn junit() {
    assert_snapshot!(all(Rendering::Junit));
}

#[test]
fn rich_lines_are_no_wider_than_the_terminal() {
    use unicode_width::UnicodeWidthStr;
    for (name, sample) in samples::all() {
        for width in 60..=200 {
            let rendered = sample.rendered(rich(Some(width)));
            let wide = rendered.lines().find(|line| line.width() > width);
            assert_eq!(wide, None, "{name} in {width} columns");
        }
    }
}

#[test]
fn a_long_report_ends_with_a_count() {
    let rendered = many(1_000).rendered(rich(None));
    assert_eq!(rendered.matches("error[").count(), 100);
    assert!(rendered.ends_with("\n\n… and 900 more errors\n\n1,000 errors, 1 warning\n"), "{rendered}");
}

#[test]
fn repeated_calls_are_folded() {
    let sample = Sample::default();
    let file = sample.file("a.star", "f()\ng()\nh()\ni()\nj()\nk()\ntop\n");
    let mut problem = Diagnostic::error(Id::LIMIT_DEPTH, "calls are nested too deeply");
    let frame = |name: &str| sample.frame(name, file, name);
    problem.frames = std::iter::repeat_n(frame("f"), 40).chain(["g", "h", "i", "j", "k"].map(frame)).collect();
    problem.frames.push(sample.frame("<toplevel>", file, "top"));
    assert_eq!(
        sample.failing(problem).rendered(rich(None)),
        "error[limit/depth]: calls are nested too deeply
  = note: in f (a.star:1:1), 40 times
          called from g (a.star:2:1)
          called from h (a.star:3:1)
          called from i (a.star:4:1)
          … 2 calls more
          called from a.star:7:1
"
    );
}

#[test]
fn messages_and_excerpts_are_limited() {
    let sample = Sample::default();
    let file = sample.file("a.yml", &format!("{}nope{}", "é".repeat(1_000_000), "-".repeat(1_000_000)));
    let (pos, part) = sample.find(file, "nope");
    let text = "long ".repeat(1_000_000);
    let problem = Diagnostic::error(Id::CODE_FAIL, text.clone()).at(pos, part).note(text);
    let sample = sample.failing(problem);
    for (name, rendering) in Rendering::NAMES.into_iter().filter(|(name, _)| *name != "text") {
        let size = sample.rendered(rendering).len();
        assert!(size < 4 * 64 * 1024 + 4096, "{name}: {size}");
    }
    let rendered = sample.rendered(rich(Some(200)));
    let excerpt = rendered.lines().find(|line| line.contains("nope")).unwrap();
    assert!(excerpt.len() < 4096, "{excerpt}");
}

#[test]
fn fixes_of_secrets_are_not_shown() {
    let sample = Sample::default();
    let file = sample.file("a.yml", "key: S3cr3tCanary\n");
    let (pos, part) = sample.find(file, "S3cr3tCanary");
    sample.sources.get(file).unwrap().hide(std::iter::once(5..17));
    let edits = vec![Edit::replace(pos, part.clone(), "\"S3cr3tCanary\"")];
    let help = crate::Help::new("quote it").fixed_by("Quote it", edits, Safety::Safe);
    let sample = sample.failing(Diagnostic::error(Id::SCHEMA_TYPE, "expected string").at(pos, part).help(help));
    for (name, rendering) in Rendering::NAMES {
        let rendered = sample.rendered(rendering);
        assert!(!rendered.contains("Canary"), "{name}: {rendered}");
    }
}

#[test]
fn odd_ranges_are_drawn() {
    let sample = Sample::default();
    let file = sample.sources.add(crate::Source::new("a.yml", *b"a: \xff\xfe b\r\n\xe6\x97\xa5: x"));
    for offset in 0..=16 {
        for len in 0..=16 {
            let problem = Diagnostic::error(Id::YAML_SYNTAX, "wrong").at(Pos::new(file, offset), Part::Bytes(len));
            let failure = problem.into();
            let report = Report { failure: Some(&failure), ..nothing(&sample.sources) };
            for (_, rendering) in Rendering::NAMES {
                assert!(!render(&report, rendering).is_empty());
            }
        }
    }
}

#[test]
fn workflow_commands_escape_delimiters() {
    let at = WorkflowPlace { file: "a,b:c.yml", line: 3, column: Some(7), end_column: None };
    assert_eq!(
        workflow_command("error", Some(at), "a: b", "100 %\nof: it, all"),
        "::error file=a%2Cb%3Ac.yml,line=3,col=7,title=a%3A b::100 %25%0Aof: it, all\n"
    );
    assert_eq!(workflow_command("notice", None, "t", "x"), "::notice title=t::x\n");
}

fn nothing(sources: &Sources) -> Report<'_> {
    Report { program: "ytterby", version: "1.2.3", failure: None, warnings: &[], sources, printed: "" }
}

#[test]
fn documents_contain_what_was_printed() {
    let sources = Sources::new();
    let report = Report { printed: "hi\n\"ho\" & <bye>", ..nothing(&sources) };
    let log = render(&report, Rendering::Sarif);
    let invocations = concat!(
        r#""invocations":[{"executionSuccessful":true,"#,
        r#""toolExecutionNotifications":[{"level":"note","message":{"text":"hi\n\"ho\" & <bye>"}}]}]"#
    );
    assert!(log.contains(invocations), "{log}");
    let xml = render(&report, Rendering::Junit);
    assert!(xml.contains("<system-err>hi\n&quot;ho&quot; &amp; &lt;bye&gt;</system-err>"), "{xml}");
}

#[test]
fn reports_without_problems() {
    let sources = Sources::new();
    let rendered = |name| render(&nothing(&sources), Rendering::find(name).unwrap());
    assert_eq!(["text", "rich", "json", "github"].map(rendered), ["", "", "", ""]);
    assert_eq!(rendered("gitlab"), "[]\n");
    assert!(rendered("sarif").contains("\"results\":[]"));
    assert!(rendered("junit").contains("tests=\"1\" failures=\"0\""));
}

#[test]
fn equal_problems_have_different_fingerprints() {
    let sample = Sample::default();
    let problem = || Diagnostic::error(Id::CODE_FAIL, "wrong");
    let rendered = sample.failing(problem()).failing(problem()).rendered(Rendering::Gitlab);
    let prints: Vec<&str> = rendered.split("\"fingerprint\":\"").skip(1).map(|rest| &rest[..16]).collect();
    assert_eq!(prints.len(), 2);
    assert_ne!(prints[0], prints[1]);
}
