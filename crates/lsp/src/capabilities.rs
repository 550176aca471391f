//! The capabilities of the server and of the client.

use serde_json::{Value, json};
use ytterby_ide::tokens::{MODIFIERS, TYPES};

/// The client's capabilities that matter to the server.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Client {
    pub(crate) pulls: bool,
    pub(crate) refreshes_diagnostics: bool,
    pub(crate) refreshes_hints: bool,
    pub(crate) watches: bool,
    pub(crate) configures: bool,
    pub(crate) document_changes: bool,
    pub(crate) snippets: bool,
    pub(crate) hierarchical_symbols: bool,
}

impl Client {
    pub(crate) fn read(capabilities: &Value) -> Client {
        let has = |pointer: &str| capabilities.pointer(pointer).is_some_and(|value| value != &Value::Null);
        let is = |pointer: &str| capabilities.pointer(pointer).and_then(Value::as_bool).unwrap_or_default();
        Client {
            pulls: has("/textDocument/diagnostic"),
            refreshes_diagnostics: is("/workspace/diagnostics/refreshSupport"),
            refreshes_hints: is("/workspace/inlayHint/refreshSupport"),
            watches: is("/workspace/didChangeWatchedFiles/dynamicRegistration"),
            configures: is("/workspace/configuration"),
            document_changes: is("/workspace/workspaceEdit/documentChanges"),
            snippets: is("/textDocument/completion/completionItem/snippetSupport"),
            hierarchical_symbols: is("/textDocument/documentSymbol/hierarchicalDocumentSymbolSupport"),
        }
    }
}

/// The commands that the server executes.
pub(crate) const COMMANDS: [&str; 1] = ["ytterby.selectTarget"];

/// The answer to `initialize`.
pub(crate) fn initialized(client: &Client) -> Value {
    let mut capabilities = json!({
        "positionEncoding": "utf-16",
        "textDocumentSync": {"openClose": true, "change": 2, "save": {"includeText": false}},
        "hoverProvider": true,
        "completionProvider": {"triggerCharacters": [".", "/", "@", "\"", ":", " ", "=", "("], "resolveProvider": false},
        "signatureHelpProvider": {"triggerCharacters": ["(", ","]},
        "definitionProvider": true,
        "referencesProvider": true,
        "documentHighlightProvider": true,
        "renameProvider": {"prepareProvider": true},
        "documentSymbolProvider": true,
        "workspaceSymbolProvider": true,
        "foldingRangeProvider": true,
        "selectionRangeProvider": true,
        "semanticTokensProvider": {
            "legend": {"tokenTypes": TYPES, "tokenModifiers": MODIFIERS}, "full": true, "range": true
        },
        "inlayHintProvider": true,
        "codeActionProvider": {"codeActionKinds": ["quickfix", "refactor.extract", "refactor.rewrite"]},
        "documentFormattingProvider": true,
        "documentOnTypeFormattingProvider": {"firstTriggerCharacter": "\n"},
        "documentLinkProvider": {"resolveProvider": false},
        "executeCommandProvider": {"commands": COMMANDS},
        "workspace": {"workspaceFolders": {"supported": true, "changeNotifications": true}},
        "experimental": {"preview": true},
    });
    if client.pulls {
        let provider = json!({"identifier": "ytterby", "interFileDependencies": true, "workspaceDiagnostics": true});
        capabilities["diagnosticProvider"] = provider;
    }
    json!({"capabilities": capabilities, "serverInfo": {"name": "ytterby", "version": env!("CARGO_PKG_VERSION")}})
}

/// The files that the client is asked to watch.
pub(crate) fn watchers() -> Value {
    let pattern = "**/*.{yml,yaml,star,txt}";
    json!({"registrations": [{
        "id": "watch", "method": "workspace/didChangeWatchedFiles",
        "registerOptions": {"watchers": [{"globPattern": pattern}]},
    }]})
}
