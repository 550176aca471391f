//! Diagnostics: pulled by clients that support that, pushed to the others.
//!
//! A pull waits until an analysis of the current texts is ready (`answer_pending`). A report has
//! the hash of its items as its id, so that a client is told `unchanged` instead of the same items
//! again.

use std::collections::HashMap;
use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use serde_json::{Value, json};
use ytterby_diag::Id;
use ytterby_ide::analysis::Analysis;
use ytterby_ide::{Finding, Severity};

use crate::convert::range_json;
use crate::server::{PendingRequest, RpcError, Server, WaitingRequest};
use crate::uri;

impl Server {
    pub(crate) fn pull_document(&mut self, id: Value, params: &Value) {
        let Some(path) = params.pointer("/textDocument/uri").and_then(Value::as_str).map(uri::path) else {
            return self.answer(id, Err(RpcError::invalid_params()));
        };
        let previous = params["previousResultId"].as_str().map(str::to_owned);
        self.pending.push(WaitingRequest { id, request: PendingRequest::Document { path, previous } });
        self.answer_pending();
    }

    pub(crate) fn pull_workspace(&mut self, id: Value, params: &Value) {
        let list = params["previousResultIds"].as_array().map(Vec::as_slice).unwrap_or_default();
        let entry = |row: &Value| Some((uri::path(row["uri"].as_str()?), row["value"].as_str()?.to_owned()));
        let previous = list.iter().filter_map(entry).collect();
        self.pending.push(WaitingRequest { id, request: PendingRequest::Workspace { previous } });
        self.answer_pending();
    }

    pub(crate) fn pull_code_actions(&mut self, id: Value, params: Value) {
        self.pending.push(WaitingRequest { id, request: PendingRequest::CodeActions { params } });
        self.answer_pending();
    }

    /// Answers the requests whose analysis is ready.
    pub(crate) fn answer_pending(&mut self) {
        for pending in std::mem::take(&mut self.pending) {
            let answer = match &pending.request {
                PendingRequest::Document { path, previous } => self.document_report(path, previous.as_deref()),
                PendingRequest::Workspace { previous } => self.workspace_report(previous),
                PendingRequest::CodeActions { params } => self.ready_code_actions(params),
            };
            match answer {
                Some(answer) => self.answer(pending.id, Ok(answer)),
                None => self.pending.push(pending),
            }
        }
    }

    fn document_report(&mut self, path: &str, previous: Option<&str>) -> Option<Value> {
        let project = self.workspace.project(path);
        let analysis = self.current_analysis(&project)?.clone();
        let items = self.items(&analysis, path);
        let result_id = result_id(&items);
        if previous == Some(result_id.as_str()) {
            return Some(json!({"kind": "unchanged", "resultId": result_id}));
        }
        Some(json!({"kind": "full", "resultId": result_id, "items": items}))
    }

    /// Reports on files that are not open.
    fn workspace_report(&mut self, previous: &HashMap<String, String>) -> Option<Value> {
        let projects = self.projects();
        let mut reports = Vec::new();
        let mut told: Vec<String> = Vec::new();
        for project in &projects {
            let analysis = self.current_analysis(project)?.clone();
            let own = project.files.iter().map(|file| &file.file).chain(&project.project_file);
            for file in own.filter(|file| !file.is_open()) {
                let items = self.items(&analysis, &file.path);
                let result_id = result_id(&items);
                if items.is_empty() && !previous.contains_key(&file.path) || told.contains(&file.path) {
                    continue;
                }
                told.push(file.path.clone());
                let uri = self.uri(&file.path);
                reports.push(match previous.get(&file.path) == Some(&result_id) {
                    true => json!({"kind": "unchanged", "uri": uri, "version": null, "resultId": result_id}),
                    false => {
                        json!({"kind": "full", "uri": uri, "version": null, "resultId": result_id, "items": items})
                    }
                });
            }
        }
        // Files that had findings and no longer exist.
        for path in previous.keys().filter(|path| !told.contains(path)) {
            let uri = self.uri(path);
            reports.push(json!({"kind": "full", "uri": uri, "version": null, "items": []}));
        }
        Some(json!({"items": reports}))
    }

    fn items(&mut self, analysis: &Analysis, path: &str) -> Vec<Value> {
        let own = analysis.findings.iter().filter(|finding| finding.path == path);
        own.filter_map(|finding| self.finding_json(finding)).collect()
    }

    /// Notifies the client about a new analysis.
    pub(crate) fn tell(&mut self, old: Option<Arc<Analysis>>, new: &Arc<Analysis>) {
        let is_same_values = old.as_ref().is_some_and(|old| old.values == new.values);
        if self.client.refreshes_hints && self.hints_asked && !is_same_values {
            self.ask("workspace/inlayHint/refresh", Value::Null);
        }
        if self.client.pulls {
            let is_same = old.as_ref().is_some_and(|old| old.findings == new.findings);
            if self.client.refreshes_diagnostics && !is_same && old.is_some() {
                self.ask("workspace/diagnostic/refresh", Value::Null);
            }
            return;
        }
        let all: Vec<Arc<Analysis>> = self.analyses.values().map(|analysed| analysed.analysis.clone()).collect();
        let mut paths: Vec<String> = self.published.keys().cloned().collect();
        paths.extend(all.iter().flat_map(|analysis| analysis.findings.iter().map(|finding| finding.path.clone())));
        paths.extend(self.workspace.open_files().map(|file| file.path.clone()));
        paths.sort();
        paths.dedup();
        for path in paths {
            let items: Vec<Value> = all.iter().flat_map(|analysis| self.items(analysis, &path)).collect();
            let hash = hash(&items);
            if self.published.get(&path) == Some(&hash) {
                continue;
            }
            match items.is_empty() && !self.uris.contains_key(&path) {
                true => drop(self.published.remove(&path)),
                false => drop(self.published.insert(path.clone(), hash)),
            }
            let version = self.workspace.open_file(&path).and_then(|file| file.version);
            let mut params = json!({"uri": self.uri(&path), "diagnostics": items});
            if let Some(version) = version {
                params["version"] = json!(version);
            }
            self.notify("textDocument/publishDiagnostics", params);
        }
    }

    /// Converts a finding to a diagnostic of the protocol; `None` if its file no longer exists.
    pub(crate) fn finding_json(&mut self, finding: &Finding) -> Option<Value> {
        let file = self.workspace.file(&finding.path)?;
        let severity = match finding.severity {
            Severity::Error => 1,
            Severity::Warning => 2,
            _ => 3,
        };
        let mut json = json!({
            "range": range_json(&file, finding.range),
            "severity": severity,
            "code": finding.code,
            "source": "ytterby",
            "message": finding.message,
        });
        let base = ytterby_diag::HELP_BASE;
        let href = match Id::find(&finding.code) {
            Some(id) => id.help_uri(),
            None => format!("{base}#{}", finding.code.replace('/', "")),
        };
        json["codeDescription"] = json!({"href": href});
        let mut tags = Vec::new();
        if finding.is_unnecessary {
            tags.push(1);
        }
        if finding.is_deprecated {
            tags.push(2);
        }
        if !tags.is_empty() {
            json["tags"] = json!(tags);
        }
        let related: Vec<Value> = finding
            .related
            .iter()
            .filter_map(|place| {
                Some(json!({"location": self.location(&place.path, place.range)?, "message": place.text}))
            })
            .collect();
        if !related.is_empty() {
            json["relatedInformation"] = json!(related);
        }
        Some(json)
    }
}

fn hash(items: &[Value]) -> u64 {
    let mut hasher = DefaultHasher::new();
    for item in items {
        item.to_string().hash(&mut hasher);
    }
    hasher.finish()
}

fn result_id(items: &[Value]) -> String {
    format!("{:016x}", hash(items))
}
