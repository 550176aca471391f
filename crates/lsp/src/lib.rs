//! The language server: the protocol, apart from its transport.
//!
//! A [`Server`] takes messages and gives messages, as JSON. What takes long comes out of it as a [`Job`], which a host
//! runs where it likes, on a thread or at once, and gives back as [`Done`]. [`serve`] is such a host for a pair of
//! streams; a worker of a browser can be another. Nothing here opens a file: the host brings a file system.
//!
//! Messages are JSON values rather than types of a crate: what is read is read leniently, since an editor that leaves
//! something out should still be served.

mod capabilities;
mod convert;
mod diagnostics;
mod features;
mod serve;
mod server;
pub mod uri;
pub mod wire;

pub use serve::serve;
pub use server::{Done, Flow, Job, Server};
