//! The state of a session, and the dispatch of messages.
//!
//! The server does no long work itself: requests that need an analysis wait here until a host has
//! run the job. Messages go in and out as JSON texts, so tests need no transport.

use std::collections::HashMap;
use std::sync::Arc;

use serde_json::{Value, json};
use ytterby_ide::analysis::{self, Analysis, Cancellation, Engine, Preview};
use ytterby_ide::{EditorLanguage, File, FileSystem, Finding, LineIndex, ProjectSnapshot, Workspace, file};

use crate::capabilities::{self, Client};
use crate::{convert, uri};

/// Whether the session continues.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SessionFlow {
    /// It continues.
    Continue,
    /// It ends with this exit code.
    Exit(i32),
}

/// An error of the protocol.
#[derive(Debug)]
pub(crate) struct RpcError {
    pub(crate) code: i64,
    pub(crate) message: String,
}

impl RpcError {
    pub(crate) fn new(code: i64, message: impl Into<String>) -> RpcError {
        RpcError { code, message: message.into() }
    }

    pub(crate) fn invalid_params() -> RpcError {
        RpcError::new(-32602, "invalid params")
    }

    /// The error of a valid request that cannot be fulfilled.
    pub(crate) fn failed(message: impl Into<String>) -> RpcError {
        RpcError::new(-32803, message)
    }
}

pub(crate) type RpcResult = Result<Value, RpcError>;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Phase {
    New,
    Running,
    ShutDown,
}

/// A session with an editor.
pub struct Server {
    pub(crate) workspace: Workspace,
    pub(crate) client: Client,
    /// Paths of open files, with their URIs as the editor spells them.
    pub(crate) uris: HashMap<String, String>,
    pub(crate) analyses: HashMap<String, Analysed>,
    /// Requests that wait for an analysis.
    pub(crate) pending: Vec<WaitingRequest>,
    /// Hashes of the diagnostics pushed for each path.
    pub(crate) published: HashMap<String, u64>,
    /// The last good preview of a root and target.
    previews: HashMap<(String, Option<String>), Value>,
    waiting_previews: Vec<(Value, String, Option<String>)>,
    /// Previews in progress that the client has cancelled.
    cancelled_previews: Vec<Value>,
    has_to_introduce: bool,
    /// Whether the client has requested hints; otherwise they need no refresh.
    pub(crate) hints_asked: bool,
    /// The target whose values are shown.
    pub(crate) target: Option<String>,
    engine: Engine,
    /// The work in progress.
    running: Vec<RunningJob>,
    next_job_number: u64,
    phase: Phase,
    /// Messages as JSON texts.
    messages: Vec<String>,
    next_id: u64,
}

/// The analysis of a project.
pub(crate) struct Analysed {
    pub(crate) project: Arc<ProjectSnapshot>,
    pub(crate) target: Option<String>,
    /// Includes the findings of the last check for unchanged files.
    pub(crate) analysis: Arc<Analysis>,
    /// The results of runs only.
    runs: Arc<Analysis>,
    /// The last check: its project and findings.
    lints: Option<(Arc<ProjectSnapshot>, Arc<Vec<Finding>>)>,
}

impl Analysed {
    fn new(
        project: Arc<ProjectSnapshot>,
        target: Option<String>,
        runs: Arc<Analysis>,
        lints: Option<(Arc<ProjectSnapshot>, Arc<Vec<Finding>>)>,
    ) -> Analysed {
        // Lints of files that have changed since would be misplaced.
        let kept: Vec<Finding> = match &lints {
            Some((checked, found)) => {
                let is_same = |path: &str| match (checked.file(path), project.file(path)) {
                    (Some(old), Some(new)) => Arc::ptr_eq(old, new),
                    _ => false,
                };
                let all = Arc::ptr_eq(checked, &project);
                found.iter().filter(|finding| all || is_same(&finding.path)).cloned().collect()
            }
            None => Vec::new(),
        };
        let analysis = match kept.is_empty() {
            true => runs.clone(),
            false => Arc::new(analysis::merged(&project, &runs, &kept)),
        };
        Analysed { project, target, analysis, runs, lints }
    }

    fn is_linted(&self) -> bool {
        self.lints.as_ref().is_some_and(|(project, _)| Arc::ptr_eq(project, &self.project))
    }
}

/// A request that waits for an analysis.
pub(crate) struct WaitingRequest {
    pub(crate) id: Value,
    pub(crate) request: PendingRequest,
}

pub(crate) enum PendingRequest {
    Document { path: String, previous: Option<String> },
    Workspace { previous: HashMap<String, String> },
    CodeActions { params: Value },
}

/// Work in progress, and the token that stops it.
struct RunningJob {
    number: u64,
    project: Arc<ProjectSnapshot>,
    selected: Option<String>,
    token: Cancellation,
    /// The request that it answers.
    id: Option<Value>,
}

/// Work that may be slow.
pub struct Job {
    number: u64,
    project: Arc<ProjectSnapshot>,
    engine: Engine,
    selected: Option<String>,
    kind: JobKind,
}

#[derive(Clone)]
enum JobKind {
    Analysis,
    /// The check after an analysis.
    Lints(Arc<Analysis>),
    Preview {
        id: Value,
        path: String,
        target: Option<String>,
    },
}

/// The result of a [`Job`].
pub struct Done {
    number: u64,
    project: Arc<ProjectSnapshot>,
    selected: Option<String>,
    kind: JobKind,
    result: JobResult,
}

enum JobResult {
    Analysis(Analysis),
    Lints(Vec<Finding>),
    Preview(Option<Preview>),
    /// It was stopped, because its result would be out of date.
    Cancelled,
    Failed,
}

impl Job {
    /// Runs the job.
    pub fn run(self) -> Done {
        let selected = self.selected.as_deref();
        let result = match &self.kind {
            JobKind::Analysis => JobResult::Analysis(analysis::analyse(&self.project, &self.engine, selected)),
            JobKind::Lints(runs) => JobResult::Lints(analysis::lint(&self.project, &self.engine, runs)),
            JobKind::Preview { target, .. } => {
                JobResult::Preview(analysis::preview(&self.project, &self.engine, target.as_deref(), selected))
            }
        };
        let is_cancelled = self.engine.cancellation.is_cancelled();
        let result = if is_cancelled { JobResult::Cancelled } else { result };
        Done { number: self.number, project: self.project, selected: self.selected, kind: self.kind, result }
    }

    /// The result if the work panicked.
    pub fn failed(&self) -> Done {
        Done {
            number: self.number,
            project: self.project.clone(),
            selected: self.selected.clone(),
            kind: self.kind.clone(),
            result: JobResult::Failed,
        }
    }
}

impl Server {
    /// A session before `initialize`.
    pub fn new(files: Arc<dyn FileSystem>, engine: Engine) -> Server {
        Server {
            workspace: Workspace::new(files),
            client: Client::default(),
            uris: HashMap::new(),
            analyses: HashMap::new(),
            pending: Vec::new(),
            published: HashMap::new(),
            previews: HashMap::new(),
            waiting_previews: Vec::new(),
            cancelled_previews: Vec::new(),
            has_to_introduce: false,
            hints_asked: false,
            target: None,
            engine,
            running: Vec::new(),
            next_job_number: 0,
            phase: Phase::New,
            messages: Vec::new(),
            next_id: 0,
        }
    }

    /// Messages for the client, as JSON texts.
    pub fn take_messages(&mut self) -> Vec<String> {
        std::mem::take(&mut self.messages)
    }

    pub(crate) fn send(&mut self, message: Value) {
        self.messages.push(message.to_string());
    }

    /// Answers with JSON text: for large results this takes less than half the time.
    pub(crate) fn answer_text(&mut self, id: &Value, result: &str) {
        self.messages.push(format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{result}}}"));
    }

    /// Sends a request to the client and ignores the answer.
    pub(crate) fn ask(&mut self, method: &str, params: Value) {
        self.next_id += 1;
        let id = format!("{method}#{}", self.next_id);
        self.send(json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}));
    }

    pub(crate) fn notify(&mut self, method: &str, params: Value) {
        self.send(json!({"jsonrpc": "2.0", "method": method, "params": params}));
    }

    pub(crate) fn answer(&mut self, id: Value, answer: RpcResult) {
        self.send(match answer {
            Ok(result) => json!({"jsonrpc": "2.0", "id": id, "result": result}),
            Err(error) => {
                json!({"jsonrpc": "2.0", "id": id, "error": {"code": error.code, "message": error.message}})
            }
        });
    }

    /// Handles a message.
    pub fn handle(&mut self, message: Value) -> SessionFlow {
        let id = message.get("id").filter(|id| !id.is_null()).cloned();
        let method = message.get("method").and_then(Value::as_str).map(str::to_owned);
        let params = message.get("params").cloned().unwrap_or(Value::Null);
        match (method, id) {
            (Some(method), Some(id)) => self.request(&method, id, params),
            (Some(method), None) => return self.notification(&method, &params),
            // The response to a request of the server.
            (None, Some(id)) => self.answered(&id, &message),
            (None, None) => {
                let error = RpcError::new(-32600, "neither a request nor a notification");
                self.answer(Value::Null, Err(error));
            }
        }
        SessionFlow::Continue
    }

    fn request(&mut self, method: &str, id: Value, params: Value) {
        let answer = match (self.phase, method) {
            (Phase::New, "initialize") => Ok(self.initialize(&params)),
            (Phase::New, _) => Err(RpcError::new(-32002, "the server is not initialized")),
            (Phase::ShutDown, _) => Err(RpcError::new(-32600, "the server is shut down")),
            (Phase::Running, "initialize") => Err(RpcError::new(-32600, "the server is initialized already")),
            (Phase::Running, "shutdown") => {
                self.phase = Phase::ShutDown;
                Ok(Value::Null)
            }
            (Phase::Running, "textDocument/diagnostic") => return self.pull_document(id, &params),
            (Phase::Running, "workspace/diagnostic") => return self.pull_workspace(id, &params),
            (Phase::Running, "ytterby/preview") => return self.preview(id, &params),
            (Phase::Running, "textDocument/codeAction") => return self.pull_code_actions(id, params),
            (Phase::Running, "textDocument/documentSymbol") => {
                let symbols = self.document_symbols(&params);
                return self.answer_text(&id, &symbols);
            }
            (Phase::Running, "workspace/executeCommand") => self.command(&params),
            (Phase::Running, method) => self.feature(method, &params),
        };
        self.answer(id, answer);
    }

    fn notification(&mut self, method: &str, params: &Value) -> SessionFlow {
        match method {
            "exit" => return SessionFlow::Exit(i32::from(self.phase != Phase::ShutDown)),
            _ if self.phase != Phase::Running => {}
            "initialized" => self.has_to_introduce = true,
            "textDocument/didOpen" => self.did_open(params),
            "textDocument/didChange" => self.did_change(params),
            "textDocument/didClose" => self.did_close(params),
            "textDocument/didSave" | "workspace/didChangeWatchedFiles" => self.workspace.rescan(),
            "workspace/didChangeWorkspaceFolders" => self.did_change_folders(params),
            "workspace/didChangeConfiguration" => {
                let settings = &params["settings"];
                self.configure(settings.get("ytterby").unwrap_or(settings));
            }
            "$/cancelRequest" => self.cancel(&params["id"]),
            _ => {}
        }
        SessionFlow::Continue
    }

    fn initialize(&mut self, params: &Value) -> Value {
        self.phase = Phase::Running;
        self.client = Client::read(&params["capabilities"]);
        let uris = |list: &Value| -> Vec<String> {
            let folders = list.as_array().map(Vec::as_slice).unwrap_or_default();
            folders.iter().filter_map(|folder| Some(uri::path(folder.get("uri")?.as_str()?))).collect()
        };
        let mut folders = uris(&params["workspaceFolders"]);
        if folders.is_empty() {
            folders.extend(params["rootUri"].as_str().map(uri::path));
        }
        self.workspace.set_folders(folders);
        self.configure(&params["initializationOptions"]);
        capabilities::initialized(&self.client)
    }

    /// Whether [`Server::introduce`] is still to be called.
    pub fn has_to_introduce(&self) -> bool {
        self.has_to_introduce
    }

    /// Asks the client to watch files, and for its settings. A host calls this once the session is
    /// quiet: it is not urgent, and clients are busy while they start.
    pub fn introduce(&mut self) {
        self.has_to_introduce = false;
        self.workspace.rescan();
        if self.client.watches {
            self.ask("client/registerCapability", capabilities::watchers());
        }
        if self.client.configures {
            self.ask("workspace/configuration", json!({"items": [{"section": "ytterby"}]}));
        }
    }

    fn answered(&mut self, id: &Value, message: &Value) {
        if id.as_str().is_some_and(|id| id.starts_with("workspace/configuration#"))
            && let Some(settings) = message.pointer("/result/0")
        {
            self.configure(settings);
        }
    }

    fn configure(&mut self, settings: &Value) {
        if let Some(target) = settings.get("target") {
            self.target = target.as_str().filter(|name| !name.is_empty()).map(str::to_owned);
        }
    }

    fn command(&mut self, params: &Value) -> RpcResult {
        match params["command"].as_str() {
            Some("ytterby.selectTarget") => {
                let name = params.pointer("/arguments/0").and_then(Value::as_str).filter(|name| !name.is_empty());
                if let Some(name) = name {
                    let projects = self.workspace.projects();
                    let known: Vec<String> =
                        projects.iter().flat_map(|project| analysis::target_names(project)).collect();
                    if !known.iter().any(|known| known == name || known.split('[').next() == Some(name)) {
                        let text = format!("there is no target {name}; targets are {}", known.join(", "));
                        return Err(RpcError::failed(text));
                    }
                }
                self.target = name.map(str::to_owned);
                Ok(json!(self.target))
            }
            _ => Err(RpcError::invalid_params()),
        }
    }

    fn did_open(&mut self, params: &Value) {
        let document = &params["textDocument"];
        let (Some(name), Some(text)) = (document["uri"].as_str(), document["text"].as_str()) else { return };
        let path = uri::path(name);
        let language = EditorLanguage::of(document["languageId"].as_str().unwrap_or_default());
        self.uris.insert(path.clone(), name.to_owned());
        self.workspace.open(&path, language, document["version"].as_i64().unwrap_or_default(), text.to_owned());
    }

    fn did_change(&mut self, params: &Value) {
        let document = &params["textDocument"];
        let Some(path) = document["uri"].as_str().map(uri::path) else { return };
        let Some(file) = self.workspace.open_file(&path) else { return };
        let mut text = file.text.to_string();
        for change in params["contentChanges"].as_array().map(Vec::as_slice).unwrap_or_default() {
            let Some(new) = change["text"].as_str() else { continue };
            match change.get("range").filter(|range| !range.is_null()) {
                Some(range) => {
                    let lines = LineIndex::new(&text);
                    let at = |name: &str| {
                        let position = range.get(name).and_then(convert::position).unwrap_or_default();
                        lines.offset(&text, position)
                    };
                    let (start, end) = (at("start").min(at("end")), at("start").max(at("end")));
                    text.replace_range(start..end, new);
                }
                None => text = new.to_owned(),
            }
        }
        self.workspace.change(&path, document["version"].as_i64().unwrap_or_default(), text);
    }

    fn did_close(&mut self, params: &Value) {
        let Some(path) = params["textDocument"]["uri"].as_str().map(uri::path) else { return };
        self.workspace.close(&path);
        self.uris.remove(&path);
    }

    fn did_change_folders(&mut self, params: &Value) {
        let event = &params["event"];
        let paths = |name: &str| -> Vec<String> {
            let list = event[name].as_array().map(Vec::as_slice).unwrap_or_default();
            list.iter().filter_map(|folder| folder["uri"].as_str()).map(uri::path).collect()
        };
        let removed = paths("removed");
        let mut folders: Vec<String> = self.workspace.folders().to_vec();
        folders.retain(|folder| !removed.iter().any(|gone| gone.trim_end_matches('/') == folder));
        for added in paths("added") {
            if !folders.contains(&added) {
                folders.push(added);
            }
        }
        self.workspace.set_folders(folders);
    }

    fn cancel(&mut self, id: &Value) {
        if let Some(at) = self.pending.iter().position(|pending| pending.id == *id) {
            let pending = self.pending.remove(at);
            self.answer(pending.id, Err(RpcError::new(-32800, "cancelled")));
        } else if let Some(at) = self.waiting_previews.iter().position(|(waiting, ..)| waiting == id) {
            self.waiting_previews.remove(at);
            self.answer(id.clone(), Err(RpcError::new(-32800, "cancelled")));
        } else if let Some(running) = self.running.iter().find(|running| running.id.as_ref() == Some(id)) {
            running.token.cancel();
            self.cancelled_previews.push(id.clone());
        }
    }

    /// The file and project of a request.
    pub(crate) fn document(&mut self, params: &Value) -> Option<(Arc<ProjectSnapshot>, Arc<File>)> {
        let path = params.pointer("/textDocument/uri").or_else(|| params.get("uri"))?.as_str().map(uri::path)?;
        let project = self.workspace.project(&path);
        let file = match project.file(&path) {
            Some(file) => file.clone(),
            None => self.workspace.file(&path)?,
        };
        Some((project, file))
    }

    /// The last analysis of a project, possibly of an earlier state.
    pub(crate) fn last_analysis(&self, root: &str) -> Option<&Arc<Analysis>> {
        self.analyses.get(root).map(|analysed| &analysed.analysis)
    }

    /// The analysis of the current state of a project.
    pub(crate) fn current_analysis(&self, project: &Arc<ProjectSnapshot>) -> Option<&Arc<Analysis>> {
        let analysed = self.analyses.get(&project.root)?;
        let is_current = Arc::ptr_eq(&analysed.project, project) && analysed.target == self.target;
        is_current.then_some(&analysed.analysis)
    }

    /// The next job, if any.
    pub fn next_job(&mut self) -> Option<Job> {
        if self.phase != Phase::Running {
            return None;
        }
        let selected = self.target.clone();
        if !self.waiting_previews.is_empty() {
            let (id, path, target) = self.waiting_previews.remove(0);
            let project = self.workspace.project(&path);
            return Some(self.start(project, selected, JobKind::Preview { id, path, target }));
        }
        self.answer_pending();
        let projects = self.projects();
        let wanted: Vec<String> = self.pending.iter().flat_map(|pending| pending.paths()).collect();
        let extra = wanted.iter().map(|path| self.workspace.project(path)).collect::<Vec<_>>();
        let stale = extra.into_iter().chain(projects).find(|project| self.current_analysis(project).is_none())?;
        Some(self.start(stale, selected, JobKind::Analysis))
    }

    /// Creates a job with its own token.
    fn start(&mut self, project: Arc<ProjectSnapshot>, selected: Option<String>, kind: JobKind) -> Job {
        let token = Cancellation::new();
        let id = match &kind {
            JobKind::Preview { id, .. } => Some(id.clone()),
            _ => None,
        };
        self.next_job_number += 1;
        let number = self.next_job_number;
        let (of, by) = (project.clone(), selected.clone());
        self.running.push(RunningJob { number, project: of, selected: by, token: token.clone(), id });
        Job { number, project, engine: self.engine.with_cancellation(token), selected, kind }
    }

    /// Stops work whose project has changed. A host calls this after messages while work is in
    /// progress.
    pub fn stop_outdated(&mut self) {
        for index in 0..self.running.len() {
            let project = self.workspace.project_at(&self.running[index].project.root.clone());
            let running = &self.running[index];
            if !Arc::ptr_eq(&project, &running.project) || running.selected != self.target {
                running.token.cancel();
            }
        }
    }

    /// The projects of open files and of earlier diagnostics: closing a file does not close its
    /// project.
    pub(crate) fn projects(&mut self) -> Vec<Arc<ProjectSnapshot>> {
        let mut projects = self.workspace.projects();
        let folders: Vec<String> = self.workspace.folders().to_vec();
        let is_open = |root: &str| folders.iter().any(|folder| root == folder || file::below(root, folder).is_some());
        let is_new = |root: &&String| !projects.iter().any(|project| project.root == **root);
        let known: Vec<String> = self.analyses.keys().filter(is_new).cloned().collect();
        for root in known {
            if is_open(&root) {
                projects.push(self.workspace.project_at(&root));
            } else if let Some(gone) = self.analyses.remove(&root) {
                self.tell(Some(gone.analysis), &Arc::default());
            }
        }
        projects
    }

    /// Accepts the result of a job.
    pub fn done(&mut self, done: Done) {
        self.running.retain(|running| running.number != done.number);
        match (done.kind, done.result) {
            (JobKind::Analysis | JobKind::Lints(_), JobResult::Cancelled) => {}
            // The client still waits for it, unless it cancelled: it gets the newer state.
            (JobKind::Preview { id, path, target }, JobResult::Cancelled) => {
                match self.cancelled_previews.iter().position(|cancelled| *cancelled == id) {
                    Some(at) => {
                        self.cancelled_previews.remove(at);
                        self.answer(id, Err(RpcError::new(-32800, "cancelled")));
                    }
                    None => self.waiting_previews.insert(0, (id, path, target)),
                }
            }
            (JobKind::Analysis, result) => {
                let root = done.project.root.clone();
                let analysis = match result {
                    JobResult::Analysis(analysis) => {
                        let broken = analysis.findings.iter().filter(|found| analysis::stops_compiling(&found.code));
                        let broken = broken.map(|found| found.path.as_str()).collect();
                        self.workspace.note_good(&done.project, &broken);
                        Arc::new(analysis)
                    }
                    _ => self.last_analysis(&root).cloned().unwrap_or_default(),
                };
                let (old, lints) = match self.analyses.remove(&root) {
                    Some(old) => (Some(old.analysis), old.lints),
                    None => (None, None),
                };
                self.take_analysis(old, Analysed::new(done.project, done.selected, analysis, lints));
            }
            (JobKind::Lints(_), result) => {
                let found = match result {
                    JobResult::Lints(found) => found,
                    _ => Vec::new(),
                };
                // The project may have changed since; findings of unchanged files are kept.
                if let Some(known) = self.analyses.remove(&done.project.root) {
                    let lints = Some((done.project, Arc::new(found)));
                    let new = Analysed::new(known.project, known.target, known.runs, lints);
                    self.take_analysis(Some(known.analysis), new);
                }
            }
            (JobKind::Preview { id, target, .. }, JobResult::Preview(Some(preview))) => {
                self.cancelled_previews.retain(|cancelled| *cancelled != id);
                let key = (done.project.root.clone(), target.or(done.selected));
                let answer = self.preview_json(&preview, self.previews.get(&key).cloned());
                if !preview.is_failed {
                    self.previews.insert(key, answer.clone());
                }
                self.answer(id, Ok(answer));
            }
            (JobKind::Preview { id, target, .. }, JobResult::Preview(None)) => {
                let names = analysis::target_names(&done.project);
                let target = target.unwrap_or_default();
                let text = format!("there is no target {target}; targets are {}", names.join(", "));
                self.answer(id, Err(RpcError::failed(text)));
            }
            (JobKind::Preview { id, .. }, _) => {
                self.answer(id, Err(RpcError::new(-32603, "internal error; please report it with the files")));
            }
        }
    }

    fn take_analysis(&mut self, old: Option<Arc<Analysis>>, new: Analysed) {
        let analysis = new.analysis.clone();
        self.analyses.insert(new.project.root.clone(), new);
        self.answer_pending();
        self.tell(old, &analysis);
    }

    /// Whether a project still has to be checked.
    pub fn has_to_check(&self) -> bool {
        self.phase == Phase::Running && self.analyses.values().any(|analysed| !analysed.is_linted())
    }

    /// The next check, which is slower than an analysis and runs while the session is quiet.
    pub fn next_check(&mut self) -> Option<Job> {
        if self.phase != Phase::Running {
            return None;
        }
        let projects = self.projects();
        let is_due = |project: &&Arc<ProjectSnapshot>| {
            self.current_analysis(project).is_some()
                && self.analyses.get(&project.root).is_some_and(|analysed| !analysed.is_linted())
        };
        let project = projects.iter().find(is_due)?.clone();
        let runs = self.analyses.get(&project.root)?.runs.clone();
        let selected = self.target.clone();
        Some(self.start(project, selected, JobKind::Lints(runs)))
    }

    fn preview(&mut self, id: Value, params: &Value) {
        let Some(path) = params["uri"].as_str().map(uri::path) else {
            return self.answer(id, Err(RpcError::invalid_params()));
        };
        let target = params["target"].as_str().map(str::to_owned);
        self.waiting_previews.push((id, path, target));
    }

    fn preview_json(&mut self, preview: &Preview, last_good: Option<Value>) -> Value {
        if preview.is_failed {
            let found: Vec<Value> = preview.findings.iter().filter_map(|finding| self.finding_json(finding)).collect();
            let good = last_good.unwrap_or_else(|| json!({"output": "", "map": []}));
            return json!({"output": good["output"], "map": good["map"], "diagnostics": found});
        }
        let row = |(line, path, source): &(usize, String, usize)| json!({"line": line, "uri": self.uri(path), "sourceLine": source});
        let map: Vec<Value> = preview.map.iter().map(row).collect();
        json!({"output": preview.output, "map": map, "diagnostics": []})
    }
}

impl WaitingRequest {
    fn paths(&self) -> Vec<String> {
        match &self.request {
            PendingRequest::Document { path, .. } => vec![path.clone()],
            PendingRequest::Workspace { .. } => Vec::new(),
            PendingRequest::CodeActions { params } => {
                params.pointer("/textDocument/uri").and_then(Value::as_str).map(uri::path).into_iter().collect()
            }
        }
    }
}
