//! SARIF 2.1.0: one log with one run, a rule per kind, a result per diagnostic.

use ytterby_text::url;

use super::Report;
use super::json::{Object, details, place};
use crate::message::one_line;
use crate::{Diagnostic, Kind, Pos, Sources};

const SCHEMA: &str = "https://json.schemastore.org/sarif-2.1.0.json";

pub(super) fn render(report: &Report<'_>) -> String {
    let mut driver = Object::new();
    driver.text("name", report.program);
    driver.raw("rules", &array(Kind::ALL.iter().map(|&kind| rule(kind))));
    let mut tool = Object::new();
    tool.raw("driver", &driver.finish());
    let mut run = Object::new();
    run.raw("tool", &tool.finish());
    if !report.printed.is_empty() {
        run.raw("invocations", &array([invocation(report)]));
    }
    let entries = report.entries();
    run.raw("results", &array(entries.iter().map(|entry| result(entry, report.sources))));
    let mut log = Object::new();
    log.text("$schema", SCHEMA);
    log.text("version", "2.1.0");
    log.raw("runs", &array([run.finish()]));
    log.finish() + "\n"
}

/// The run of the program, with what it printed.
fn invocation(report: &Report<'_>) -> String {
    let mut notification = Object::new();
    notification.text("level", "note");
    notification.raw("message", &text_object(report.printed));
    let mut invocation = Object::new();
    invocation.raw("executionSuccessful", if report.failure.is_none() { "true" } else { "false" });
    invocation.raw("toolExecutionNotifications", &array([notification.finish()]));
    invocation.finish()
}

fn rule(kind: Kind) -> String {
    let mut rule = Object::new();
    rule.text("id", kind.name());
    rule.raw("shortDescription", &text_object(kind.description()));
    rule.finish()
}

fn result(diagnostic: &Diagnostic, sources: &Sources) -> String {
    let mut result = Object::new();
    result.text("ruleId", diagnostic.kind.name());
    result.text("level", diagnostic.severity.name());
    result.raw("message", &text_object(&one_line(&diagnostic.message)));
    if let Some(location) = diagnostic.from.or(diagnostic.by).and_then(|pos| location(pos, sources)) {
        result.raw("locations", &array([location]));
    }
    if let Some(location) = diagnostic.by.and_then(|pos| location(pos, sources)) {
        result.raw("relatedLocations", &array([location]));
    }
    let mut properties = Object::new();
    details(&mut properties, diagnostic);
    let properties = properties.finish();
    if properties != "{}" {
        result.raw("properties", &properties);
    }
    result.finish()
}

fn location(pos: Pos, sources: &Sources) -> Option<String> {
    let (file, line) = place(pos, sources)?;
    let mut artifact = Object::new();
    artifact.text("uri", &url::reference(&file));
    let mut region = Object::new();
    region.raw("startLine", &line.to_string());
    let mut physical = Object::new();
    physical.raw("artifactLocation", &artifact.finish());
    physical.raw("region", &region.finish());
    let mut location = Object::new();
    location.raw("physicalLocation", &physical.finish());
    Some(location.finish())
}

fn text_object(text: &str) -> String {
    let mut object = Object::new();
    object.text("text", text);
    object.finish()
}

fn array(items: impl IntoIterator<Item = String>) -> String {
    let items: Vec<_> = items.into_iter().collect();
    format!("[{}]", items.join(","))
}
