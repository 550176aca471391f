//! A session of the language server with any messages: each request gets one answer, and the server
//! goes on.
//!
//! Parts of the data that begin with `{` are messages as they are. The others are steps of an
//! editor: the first bytes choose a file, a request and a place, the rest is text that is typed
//! there. That gets past the first check of a message.

#![no_main]

use std::collections::BTreeSet;
use std::sync::Arc;

use libfuzzer_sys::fuzz_target;
use serde_json::{Value, json};
use ytterby_ide::analysis::Engine;
use ytterby_ide::{DirectoryEntry, FileSystem};
use ytterby_lsp::{Server, SessionFlow, wire};

#[path = "common/parts.rs"]
mod parts;

const FILES: [(&str, &str, &str); 4] = [
    ("schema.yml", "ytt", "#@data/values-schema\n---\n#@schema/validation min=1\nreplicas: 2\ndb:\n  host: x\n"),
    (
        "t.yml",
        "ytt",
        "#@ load(\"@ytt:data\", \"data\")\n#@ load(\"n.star\", \"full\")\n---\na: #@ full(data.values.db.host)\n",
    ),
    ("n.star", "ytt", "def full(n, m=1):\n  return n\nend\n"),
    ("values.yml", "ytt-values", "replicas: 3\ndb: {host: y}\n"),
];

const METHODS: [&str; 20] = [
    "hover",
    "completion",
    "definition",
    "references",
    "documentHighlight",
    "prepareRename",
    "rename",
    "documentSymbol",
    "foldingRange",
    "selectionRange",
    "semanticTokens/full",
    "semanticTokens/range",
    "inlayHint",
    "formatting",
    "onTypeFormatting",
    "signatureHelp",
    "documentLink",
    "codeAction",
    "diagnostic",
    "didChange",
];

/// The files of the session, which only the client changes.
struct Disk;

impl FileSystem for Disk {
    fn list(&self, directory: &str) -> Vec<DirectoryEntry> {
        let entry = |name: &str| DirectoryEntry { name: name.to_owned(), is_directory: false, stamp: 1 };
        if directory.trim_end_matches('/') == "/w" {
            FILES.iter().map(|(name, ..)| entry(name)).collect()
        } else {
            Vec::new()
        }
    }

    fn read(&self, path: &str) -> Option<Vec<u8>> {
        let name = path.strip_prefix("/w/")?;
        FILES.iter().find(|file| file.0 == name).map(|file| file.2.as_bytes().to_vec())
    }

    fn stamp(&self, path: &str) -> Option<u64> {
        self.read(path).map(|_| 1)
    }
}

/// A server and the requests that it has not answered.
struct Session {
    server: Server,
    next: u64,
    open: BTreeSet<u64>,
}

impl Session {
    fn send(&mut self, message: Value) -> bool {
        let goes_on = self.server.handle(message) == SessionFlow::Continue;
        self.take();
        goes_on
    }

    fn request(&mut self, method: &str, params: &Value) -> bool {
        self.next += 1;
        self.open.insert(self.next);
        self.send(json!({"jsonrpc": "2.0", "id": self.next, "method": method, "params": params}))
    }

    fn notify(&mut self, method: &str, params: &Value) -> bool {
        self.send(json!({"jsonrpc": "2.0", "method": method, "params": params}))
    }

    fn take(&mut self) {
        for message in self.server.take_messages() {
            let message: Value = serde_json::from_str(&message).expect("a message is JSON");
            if let (None, Some(id)) = (message.get("method"), message["id"].as_u64()) {
                self.open.remove(&id);
            }
        }
    }

    /// Does all work that there is.
    fn work(&mut self) {
        for _ in 0..100 {
            let Some(job) = self.server.next_job() else { break };
            self.server.done(job.run());
            self.take();
        }
        if let Some(job) = self.server.next_check() {
            self.server.done(job.run());
            self.take();
        }
    }
}

fuzz_target!(|data: &[u8]| {
    // The stream of bytes: it ends, whatever it contains.
    let mut stream = data;
    while let Ok(Some(_)) = wire::read(&mut stream) {}

    let mut engine = Engine::default();
    engine.max_steps = 2_000;
    let mut session = Session { server: Server::new(Arc::new(Disk), engine), next: 1 << 40, open: BTreeSet::new() };
    let folders = json!([{"uri": "file:///w", "name": "w"}]);
    session.request("initialize", &json!({"capabilities": {}, "workspaceFolders": folders}));
    session.notify("initialized", &json!({}));
    let mut version = 1;
    for (name, language, text) in FILES {
        let document = json!({"uri": uri(name), "languageId": language, "version": version, "text": text});
        session.notify("textDocument/didOpen", &json!({"textDocument": document}));
    }
    for part in parts::parts(data).into_iter().take(12) {
        let goes_on = if part.first() == Some(&b'{') {
            match serde_json::from_slice::<Value>(part) {
                Ok(message) => session.send(message),
                Err(_) => continue,
            }
        } else {
            version += 1;
            step(&mut session, part, version)
        };
        if !goes_on {
            return;
        }
    }
    session.work();
    assert!(session.open.is_empty(), "requests without an answer: {:?}", session.open);
});

fn uri(name: &str) -> String {
    format!("file:///w/{name}")
}

/// What an editor does: a change or a request at a place of a file.
fn step(session: &mut Session, part: &[u8], version: i64) -> bool {
    let Some((&[file, method, line, column], text)) = part.split_first_chunk::<4>() else { return true };
    let document = uri(FILES[usize::from(file) % FILES.len()].0);
    let method = METHODS[usize::from(method) % METHODS.len()];
    let (position, text) = (json!({"line": line % 16, "character": column}), String::from_utf8_lossy(text));
    let range = json!({"start": position, "end": {"line": (line % 16).saturating_add(file / 64), "character": column}});
    if method == "didChange" {
        let change = if file & 32 != 0 { json!({"text": text}) } else { json!({"range": range, "text": text}) };
        let document = json!({"uri": document, "version": version});
        return session
            .notify("textDocument/didChange", &json!({"textDocument": document, "contentChanges": [change]}));
    }
    let params = json!({
        "textDocument": {"uri": document},
        "position": position,
        "positions": [position],
        "range": range,
        "newName": text,
        "ch": text.get(..1).unwrap_or("\n"),
        "options": {"tabSize": 2, "insertSpaces": true},
        "context": {"includeDeclaration": true, "diagnostics": []},
    });
    session.request(&format!("textDocument/{method}"), &params)
}
