//! The language server, independent of its transport.
//!
//! A [`Server`] receives and returns messages as JSON. Slow work is returned as a [`Job`], which a
//! host runs wherever it likes, on a thread or at once, and passes back as [`Done`]. [`serve`] is
//! such a host for a pair of streams; a browser's worker can be another. Nothing here opens a file:
//! the host provides a file system.
//!
//! Messages are JSON values instead of types of a crate: parsing is lenient, because an editor that
//! omits something should still be served.
//!
//! ```
//! use std::sync::Arc;
//!
//! use serde_json::json;
//! use ytterby_ide::analysis::Engine;
//! use ytterby_ide::{DirectoryEntry, FileSystem};
//! use ytterby_lsp::Server;
//!
//! struct NoFiles;
//!
//! impl FileSystem for NoFiles {
//!     fn list(&self, _directory: &str) -> Vec<DirectoryEntry> {
//!         Vec::new()
//!     }
//!
//!     fn read(&self, _path: &str) -> Option<Vec<u8>> {
//!         None
//!     }
//!
//!     fn stamp(&self, _path: &str) -> Option<u64> {
//!         None
//!     }
//! }
//!
//! let mut server = Server::new(Arc::new(NoFiles), Engine::default());
//! server.handle(json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"capabilities": {}}}));
//! assert!(server.take_messages()[0].contains("completionProvider"));
//! ```

mod capabilities;
mod convert;
mod diagnostics;
mod features;
mod serve;
mod server;
pub mod uri;
pub mod wire;

pub use serve::serve;
pub use server::{Done, Job, Server, SessionFlow};
