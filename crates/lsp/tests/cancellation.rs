//! Outdated work ends, and errors in one request do not affect others.

mod session;

use std::sync::Arc;

use serde_json::{Value, json};
use session::Session;
use ytterby_ide::analysis::Engine;
use ytterby_ide::{DirectoryEntry, FileSystem};
use ytterby_lsp::{Server, serve};

const ENDLESS: &str = "#@ n = 0\n#@ while True:\n#@   n = n + 1\n#@ end\na: #@ n\n";

/// A session whose runs have no limit: without cancellation they would never end.
fn endless() -> Session {
    let mut engine = Engine::default();
    engine.max_steps = u64::MAX;
    let pull = json!({"textDocument": {"diagnostic": {}}});
    let mut session = Session::with_engine(&[("t.yml", ENDLESS)], pull, engine);
    session.open("t.yml", "ytt");
    session
}

#[test]
fn a_keystroke_stops_the_outdated_analysis() {
    let mut session = endless();
    let job = session.server.next_job().expect("an opened file is analysed");
    // Nothing has changed yet: the work continues.
    session.server.stop_outdated();
    let work = std::thread::spawn(move || job.run());
    let length = session.text("t.yml").len();
    session.edit("t.yml", 0, length, "a: #@ nothing\n");
    session.server.stop_outdated();
    let done = work.join().expect("no panic");
    session.server.done(done);
    assert_eq!(session.diagnostics("t.yml"), ["1 code/undefined"]);
}

#[test]
fn a_preview_can_be_cancelled() {
    let mut session = endless();
    let params = json!({"uri": session.uri("t.yml"), "target": null});
    let request = json!({"jsonrpc": "2.0", "id": 77, "method": "ytterby/preview", "params": params});
    session.server.handle(request);
    let job = session.server.next_job().expect("a preview is work");
    let work = std::thread::spawn(move || job.run());
    session.notify("$/cancelRequest", json!({"id": 77}));
    let done = work.join().expect("no panic");
    session.server.done(done);
    let answers = session.server.take_messages();
    let answer = answers.iter().map(|text| serde_json::from_str::<Value>(text).expect("a message is JSON"));
    let answer = answer.into_iter().find(|message| message["id"] == 77).expect("it is answered");
    assert_eq!(answer["error"]["code"], -32800);
}

#[test]
fn an_outdated_preview_is_rendered_again() {
    let mut session = endless();
    let params = json!({"uri": session.uri("t.yml"), "target": null});
    session.server.handle(json!({"jsonrpc": "2.0", "id": 78, "method": "ytterby/preview", "params": params}));
    let job = session.server.next_job().expect("a preview is work");
    let work = std::thread::spawn(move || job.run());
    let length = session.text("t.yml").len();
    session.edit("t.yml", 0, length, "a: 1\n");
    session.server.stop_outdated();
    session.server.done(work.join().expect("no panic"));
    let job = session.server.next_job().expect("the preview is still wanted");
    session.server.done(job.run());
    let answers = session.server.take_messages();
    assert!(answers.iter().any(|text| text.contains("\"id\":78") && text.contains("a: 1")), "{answers:?}");
}

#[test]
fn an_endless_loop_is_reported() {
    let mut engine = Engine::default();
    engine.max_steps = 10_000;
    let pull = json!({"textDocument": {"diagnostic": {}}});
    let mut session = Session::with_engine(&[("t.yml", ENDLESS)], pull, engine);
    session.open("t.yml", "ytt");
    let found = session.diagnostics("t.yml");
    assert!(found.iter().any(|found| found.ends_with("limit/steps")), "{found:?}");
}

/// A disk that fails unexpectedly.
struct Broken;

impl FileSystem for Broken {
    fn list(&self, directory: &str) -> Vec<DirectoryEntry> {
        assert!(!directory.ends_with("/broken"), "this disk is broken");
        Vec::new()
    }

    fn read(&self, _: &str) -> Option<Vec<u8>> {
        None
    }

    fn stamp(&self, _: &str) -> Option<u64> {
        None
    }
}

#[test]
fn a_panic_becomes_an_error_response() {
    let hover = |id: u64, path: &str| {
        let params = json!({"textDocument": {"uri": path}, "position": {"line": 0, "character": 0}});
        json!({"jsonrpc": "2.0", "id": id, "method": "textDocument/hover", "params": params})
    };
    let messages = [
        json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"capabilities": {}}}),
        json!({"jsonrpc": "2.0", "method": "initialized", "params": {}}),
        hover(2, "file:///broken/t.yml"),
        hover(3, "file:///well/t.yml"),
        json!({"jsonrpc": "2.0", "id": 4, "method": "shutdown"}),
        json!({"jsonrpc": "2.0", "method": "exit"}),
    ];
    let mut input = Vec::new();
    for message in messages {
        let body = message.to_string();
        input.extend_from_slice(format!("Content-Length: {}\r\n\r\n{body}", body.len()).as_bytes());
    }
    let mut output = Vec::new();
    let server = Server::new(Arc::new(Broken), Engine::default());
    assert_eq!(serve(server, std::io::Cursor::new(input), &mut output), 0);
    let output = String::from_utf8(output).expect("messages are text");
    let answers: Vec<Value> = output
        .split("Content-Length: ")
        .filter_map(|part| part.split_once("\r\n\r\n"))
        .map(|(_, body)| serde_json::from_str(body).expect("a message is JSON"))
        .collect();
    let answer = |id: u64| answers.iter().find(|answer| answer["id"] == id).expect("every request is answered");
    assert_eq!(answer(2)["error"]["code"], -32603, "{output}");
    assert!(answer(3).get("error").is_none(), "{output}");
    assert!(answer(4).get("error").is_none(), "{output}");
}
