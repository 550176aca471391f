//! A client in memory: files with markers, requests, and synchronous execution of jobs.

#![allow(dead_code, reason = "each test uses a part of it")]

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use ytterby_ide::analysis::Engine;
use ytterby_ide::{DirectoryEntry, FileSystem, LineColumn, LineIndex};
use ytterby_lsp::{Server, SessionFlow, uri};

/// Files in memory.
#[derive(Default)]
pub struct Memory(Mutex<BTreeMap<String, (u64, String)>>);

impl Memory {
    pub fn write(&self, path: &str, text: &str) {
        let mut files = self.0.lock().unwrap();
        let stamp = files.values().map(|(stamp, _)| stamp).max().unwrap_or(&0) + 1;
        files.insert(path.to_owned(), (stamp, text.to_owned()));
    }

    pub fn remove(&self, path: &str) {
        self.0.lock().unwrap().remove(path);
    }
}

impl FileSystem for Memory {
    fn list(&self, directory: &str) -> Vec<DirectoryEntry> {
        let files = self.0.lock().unwrap();
        let prefix = format!("{}/", directory.trim_end_matches('/'));
        let mut found: BTreeMap<String, DirectoryEntry> = BTreeMap::new();
        for (path, (stamp, _)) in files.iter() {
            let Some(rest) = path.strip_prefix(&prefix) else { continue };
            let (name, is_directory) = match rest.split_once('/') {
                Some((name, _)) => (name, true),
                None => (rest, false),
            };
            let entry = DirectoryEntry { name: name.to_owned(), is_directory, stamp: *stamp };
            found.insert(name.to_owned(), entry);
        }
        found.into_values().collect()
    }

    fn read(&self, path: &str) -> Option<Vec<u8>> {
        self.0.lock().unwrap().get(path).map(|(_, text)| text.clone().into_bytes())
    }

    fn stamp(&self, path: &str) -> Option<u64> {
        self.0.lock().unwrap().get(path).map(|(stamp, _)| *stamp)
    }
}

/// A session with a server.
pub struct Session {
    pub files: Arc<Memory>,
    pub server: Server,
    /// Offsets of markers, by file and name.
    marks: HashMap<(String, String), usize>,
    texts: HashMap<String, String>,
    versions: HashMap<String, i64>,
    next: u64,
    pub notifications: Vec<Value>,
}

const ROOT: &str = "/shop";

impl Session {
    /// A session whose client pulls diagnostics. In the files, `«name»` is a marker.
    pub fn new(files: &[(&str, &str)]) -> Session {
        Session::with(files, json!({"textDocument": {"diagnostic": {}}}))
    }

    pub fn with(files: &[(&str, &str)], capabilities: Value) -> Session {
        Session::with_engine(files, capabilities, Engine::default())
    }

    pub fn with_engine(files: &[(&str, &str)], capabilities: Value, engine: Engine) -> Session {
        let memory = Arc::new(Memory::default());
        let mut session = Session {
            server: Server::new(memory.clone(), engine),
            files: memory,
            marks: HashMap::new(),
            texts: HashMap::new(),
            versions: HashMap::new(),
            next: 0,
            notifications: Vec::new(),
        };
        for (name, text) in files {
            let text = session.unmarked(name, text);
            session.files.write(&format!("{ROOT}/{name}"), &text);
            session.texts.insert((*name).to_owned(), text);
        }
        let folders = json!([{"uri": uri::of(ROOT), "name": "work"}]);
        let params = json!({"capabilities": capabilities, "workspaceFolders": folders});
        session.request("initialize", params).unwrap();
        session.notify("initialized", json!({}));
        session
    }

    fn unmarked(&mut self, name: &str, text: &str) -> String {
        let mut out = String::new();
        let mut rest = text;
        while let Some((before, after)) = rest.split_once('«') {
            out.push_str(before);
            let (mark, after) = after.split_once('»').expect("a marker ends");
            self.marks.insert((name.to_owned(), mark.to_owned()), out.len());
            rest = after;
        }
        out + rest
    }

    pub fn uri(&self, name: &str) -> String {
        uri::of(&format!("{ROOT}/{name}"))
    }

    pub fn text(&self, name: &str) -> &str {
        &self.texts[name]
    }

    fn offset(&self, name: &str, mark: &str) -> usize {
        self.marks[&(name.to_owned(), mark.to_owned())]
    }

    fn position_of(&self, name: &str, offset: usize) -> Value {
        let text = &self.texts[name];
        let LineColumn { line, column } = LineIndex::new(text).position(text, offset);
        json!({"line": line, "character": column})
    }

    /// `file@mark` as parameters of a request.
    pub fn at(&self, place: &str) -> Value {
        let (name, mark) = place.rsplit_once('@').expect("file@mark");
        let position = self.position_of(name, self.offset(name, mark));
        json!({"textDocument": {"uri": self.uri(name)}, "position": position})
    }

    pub fn line_of(&self, place: &str) -> u64 {
        self.at(place)["position"]["line"].as_u64().unwrap()
    }

    /// Sends a request and runs all jobs until it is answered.
    pub fn request(&mut self, method: &str, params: Value) -> Result<Value, Value> {
        self.next += 1;
        let id = self.next;
        let flow = self.server.handle(json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}));
        assert_eq!(flow, SessionFlow::Continue);
        for _ in 0..100 {
            for message in self.server.take_messages() {
                let message: Value = serde_json::from_str(&message).expect("a message is JSON");
                if message.get("id") == Some(&json!(id)) && message.get("method").is_none() {
                    return match message.get("error") {
                        Some(error) => Err(error.clone()),
                        None => Ok(message["result"].clone()),
                    };
                }
                self.notifications.push(message);
            }
            let job = self.server.next_job();
            match job {
                Some(job) => {
                    let done = job.run();
                    self.server.done(done);
                }
                None => continue,
            }
        }
        panic!("{method} is not answered");
    }

    /// Runs all jobs.
    pub fn settle(&mut self) {
        while let Some(job) = self.server.next_job().or_else(|| self.server.next_check()) {
            let done = job.run();
            self.server.done(done);
        }
        let messages = self.server.take_messages();
        self.notifications.extend(messages.iter().map(|message| serde_json::from_str::<Value>(message).unwrap()));
    }

    pub fn notify(&mut self, method: &str, params: Value) {
        self.server.handle(json!({"jsonrpc": "2.0", "method": method, "params": params}));
    }

    pub fn open(&mut self, name: &str, language: &str) {
        let version = self.versions.entry(name.to_owned()).or_default();
        *version += 1;
        let document = json!({
            "uri": uri::of(&format!("{ROOT}/{name}")), "languageId": language, "version": *version, "text": self.texts[name]
        });
        self.notify("textDocument/didOpen", json!({"textDocument": document}));
    }

    /// Replaces bytes of an open file.
    pub fn edit(&mut self, name: &str, start: usize, end: usize, new: &str) {
        let range = json!({"start": self.position_of(name, start), "end": self.position_of(name, end)});
        self.texts.get_mut(name).unwrap().replace_range(start..end, new);
        for ((file, _), offset) in &mut self.marks {
            if file == name && *offset >= end {
                *offset = *offset + new.len() - (end - start);
            }
        }
        let version = self.versions.entry(name.to_owned()).or_default();
        *version += 1;
        let document = json!({"uri": uri::of(&format!("{ROOT}/{name}")), "version": *version});
        let changes = json!([{"range": range, "text": new}]);
        self.notify("textDocument/didChange", json!({"textDocument": document, "contentChanges": changes}));
    }

    /// Replaces what is between two positions, which may be inside characters.
    pub fn edit_between(&mut self, name: &str, from: LineColumn, to: LineColumn, new: &str) {
        let text = &self.texts[name];
        let lines = LineIndex::new(text);
        let (start, end) = (lines.offset(text, from), lines.offset(text, to));
        self.texts.get_mut(name).unwrap().replace_range(start..end, new);
        let version = self.versions.entry(name.to_owned()).or_default();
        *version += 1;
        let position = |at: LineColumn| json!({"line": at.line, "character": at.column});
        let document = json!({"uri": uri::of(&format!("{ROOT}/{name}")), "version": *version});
        let changes = json!([{"range": {"start": position(from), "end": position(to)}, "text": new}]);
        self.notify("textDocument/didChange", json!({"textDocument": document, "contentChanges": changes}));
    }

    /// Types at a marker; the marker moves to its end.
    pub fn type_at(&mut self, place: &str, new: &str) {
        let (name, mark) = place.rsplit_once('@').expect("file@mark");
        let offset = self.offset(name, mark);
        self.edit(name, offset, offset, new);
    }

    /// Replaces the first occurrence of a text.
    pub fn replace(&mut self, name: &str, old: &str, new: &str) {
        let start = self.texts[name].find(old).expect("the text is there");
        self.edit(name, start, start + old.len(), new);
    }

    pub fn close(&mut self, name: &str) {
        let document = json!({"uri": self.uri(name)});
        self.notify("textDocument/didClose", json!({"textDocument": document}));
    }

    pub fn write(&mut self, name: &str, text: &str) {
        self.files.write(&format!("{ROOT}/{name}"), text);
        self.texts.insert(name.to_owned(), text.to_owned());
        self.notify("workspace/didChangeWatchedFiles", json!({"changes": [{"uri": self.uri(name), "type": 2}]}));
    }

    pub fn remove(&mut self, name: &str) {
        self.files.remove(&format!("{ROOT}/{name}"));
        self.notify("workspace/didChangeWatchedFiles", json!({"changes": [{"uri": self.uri(name), "type": 3}]}));
    }

    /// The diagnostics of a file as `line code`, lines counted from 1.
    pub fn diagnostics(&mut self, name: &str) -> Vec<String> {
        self.settle();
        let params = json!({"textDocument": {"uri": self.uri(name)}});
        let report = self.request("textDocument/diagnostic", params).unwrap();
        report["items"].as_array().unwrap().iter().map(shown).collect()
    }

    /// The labels of completions.
    pub fn labels(&mut self, place: &str) -> Vec<String> {
        let params = self.at(place);
        let answer = self.request("textDocument/completion", params).unwrap();
        answer["items"].as_array().unwrap().iter().map(|item| item["label"].as_str().unwrap().to_owned()).collect()
    }

    pub fn hover(&mut self, place: &str) -> String {
        let params = self.at(place);
        let answer = self.request("textDocument/hover", params).unwrap();
        answer["contents"]["value"].as_str().unwrap_or_default().to_owned()
    }

    /// Places of an answer as `file:line`, lines counted from 1.
    pub fn places(&mut self, method: &str, place: &str) -> Vec<String> {
        let mut params = self.at(place);
        params["context"] = json!({"includeDeclaration": true});
        let answer = self.request(&format!("textDocument/{method}"), params).unwrap();
        let found = answer.as_array().unwrap().iter().map(|place| {
            let path = uri::path(place["uri"].as_str().unwrap());
            let line = place["range"]["start"]["line"].as_u64().unwrap() + 1;
            format!("{}:{line}", path.strip_prefix("/shop/").unwrap())
        });
        let mut found: Vec<String> = found.collect();
        found.sort();
        found
    }

    /// The texts of files after a workspace edit.
    pub fn edited(&self, edit: &Value) -> BTreeMap<String, String> {
        let mut out = BTreeMap::new();
        for (uri, edits) in edit["changes"].as_object().unwrap() {
            let name = uri::path(uri).strip_prefix("/shop/").unwrap().to_owned();
            out.insert(name.clone(), applied(&self.texts[&name], edits.as_array().unwrap()));
        }
        out
    }

    /// Applies the code action whose title contains a text.
    pub fn action(&mut self, place: &str, title: &str) -> BTreeMap<String, String> {
        let at = self.at(place);
        let range = json!({"start": at["position"], "end": at["position"]});
        let params = json!({"textDocument": at["textDocument"], "range": range, "context": {"diagnostics": []}});
        let answer = self.request("textDocument/codeAction", params).unwrap();
        let actions = answer.as_array().unwrap();
        let action = actions.iter().find(|action| action["title"].as_str().unwrap().contains(title));
        let titles: Vec<&Value> = actions.iter().map(|action| &action["title"]).collect();
        self.edited(&action.unwrap_or_else(|| panic!("no action {title} among {titles:?}"))["edit"])
    }
}

/// Applies edits to a text.
pub fn applied(text: &str, edits: &[Value]) -> String {
    let lines = LineIndex::new(text);
    let offset = |at: &Value| {
        let number = |name: &str| at[name].as_u64().unwrap() as u32;
        lines.offset(text, LineColumn { line: number("line"), column: number("character") })
    };
    let mut ranges: Vec<(usize, usize, &str)> = edits
        .iter()
        .map(|edit| {
            let range = &edit["range"];
            (offset(&range["start"]), offset(&range["end"]), edit["newText"].as_str().unwrap())
        })
        .collect();
    ranges.sort_by_key(|edit| edit.0);
    let mut out = text.to_owned();
    for (start, end, new) in ranges.into_iter().rev() {
        out.replace_range(start..end, new);
    }
    out
}

fn shown(item: &Value) -> String {
    let line = item["range"]["start"]["line"].as_u64().unwrap() + 1;
    format!("{line} {}", item["code"].as_str().unwrap())
}
