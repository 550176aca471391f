//! One report in each rendering.

use insta::assert_snapshot;

use super::*;
use crate::{Note, Pos};

const VALUES: &str = "#@data/values\n---\ndb:\n  port: \"high\"\n";
const SCHEMA: &str = "#@data/values-schema\n---\ndb:\n  port: 5432\n";

/// A warning, a type error with both positions, a violation from a flag.
fn rendered(rendering: Rendering) -> String {
    let sources = Sources::new();
    let values = sources.add("values.yml", VALUES.as_bytes());
    let schema = sources.add("config/my schema.yml", SCHEMA.as_bytes());
    let flag = sources.add("(data-value arg)", *b"db.name=");

    let at_values = Pos::new(values, VALUES.find("  port").unwrap() as u32);
    let at_schema = Pos::new(schema, SCHEMA.find("  port").unwrap() as u32);
    let mut warning = Diagnostic::new(Severity::Warning, Kind::Annotation, "unknown annotation @schema/xyzzy");
    warning.from = Some(Pos::new(flag, 0));
    let mut error = Diagnostic::new(Severity::Error, Kind::Type, "db.port: expected integer, found string");
    error.path = Some("db.port".into());
    error.expected = Some("integer".into());
    error.found = Some("string".into());
    error.from = Some(at_values);
    error.by = Some(at_schema);

    let mut message = Message::new("Overlaying data values: One or more data values were invalid\n");
    message.push_str("    = found: string\n    = expected: integer (by config/my schema.yml:4)");
    message.note(Note::Excerpt(at_schema));
    message.note(Note::Text("    = hint: use --data-value-yaml".into()));
    let diagnostics = [warning, error];
    let report = Report {
        program: "ytterby",
        failure: Some(&message),
        diagnostics: &diagnostics,
        sources: &sources,
        printed: "",
    };
    render(&report, rendering)
}

#[test]
fn text() {
    assert_snapshot!(rendered(Rendering::Text));
}

#[test]
fn rich() {
    assert_snapshot!(rendered(Rendering::Rich(Colour::Off)));
}

#[test]
fn rich_in_colour() {
    assert_snapshot!(rendered(Rendering::Rich(Colour::Ansi)).replace('\x1b', "<ESC>"));
}

#[test]
fn json() {
    assert_snapshot!(rendered(Rendering::Json));
}

#[test]
fn sarif() {
    assert_snapshot!(rendered(Rendering::Sarif));
}

#[test]
fn github() {
    assert_snapshot!(rendered(Rendering::Github));
}

#[test]
fn workflow_commands_escape_what_ends_them() {
    let at = WorkflowPlace { file: "a,b:c.yml", line: 3, column: Some(7) };
    assert_eq!(
        workflow_command("error", Some(at), "a: b", "100 %\nof: it, all"),
        "::error file=a%2Cb%3Ac.yml,line=3,col=7,title=a%3A b::100 %25%0Aof: it, all\n"
    );
    assert_eq!(workflow_command("notice", None, "t", "x"), "::notice title=t::x\n");
}

#[test]
fn a_log_holds_what_was_printed() {
    let sources = Sources::new();
    let report = Report { program: "ytt", failure: None, diagnostics: &[], sources: &sources, printed: "hi\n\"ho\"" };
    let log = render(&report, Rendering::Sarif);
    assert!(
        log.contains(concat!(
            r#""invocations":[{"executionSuccessful":true,"#,
            r#""toolExecutionNotifications":[{"level":"note","message":{"text":"hi\n\"ho\""}}]}]"#
        )),
        "{log}"
    );
}

#[test]
fn a_failure_without_diagnostics_is_one_entry() {
    let message = Message::new("Doing a: Doing b:\n  - wrong\n\n  - too");
    let report =
        Report { program: "ytt", failure: Some(&message), diagnostics: &[], sources: &Sources::new(), printed: "" };
    assert_eq!(
        render(&report, Rendering::Json),
        "{\"severity\":\"error\",\"kind\":\"other\",\"message\":\"Doing a: Doing b: - wrong - too\"}\n"
    );
}

#[test]
fn lines_give_way_to_fuller_ones() {
    let sources = Sources::new();
    let file = sources.add("a.star", *b"x = 1\n");
    let mut message = Message::new("\n- wrong\n    in f\n      1 | x = 1");
    message.note(Note::Instead("      a.star:1 | x = 1".into()));
    message.push_str("\n    in g\n      1 | x = 1");
    message.note(Note::Instead(String::new()));
    message.push_str("\nlast");
    message.note(Note::Excerpt(Pos::new(file, 0)));
    let report = Report { program: "ytt", failure: Some(&message), diagnostics: &[], sources: &sources, printed: "" };
    assert_eq!(
        render(&report, Rendering::Rich(Colour::Off)),
        "ytt: Error: \n- wrong\n    in f\n      a.star:1 | x = 1\n    in g\nlast\na.star:\n    |\n  1 | x = 1\n    |\n"
    );
    assert_eq!(
        render(&report, Rendering::Text),
        "ytt: Error: \n- wrong\n    in f\n      1 | x = 1\n    in g\n      1 | x = 1\nlast\n"
    );
}

#[test]
fn nothing_to_say() {
    let report = Report { program: "ytt", failure: None, diagnostics: &[], sources: &Sources::new(), printed: "" };
    assert_eq!(render(&report, Rendering::Text), "");
    assert_eq!(render(&report, Rendering::Json), "");
    assert!(render(&report, Rendering::Sarif).contains("\"results\":[]"));
}
