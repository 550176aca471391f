//! The path from a document to one of its nodes, during a walk.
//!
//! Walkers extend a [`Way`] on their stack, which needs no allocation. Only for an error it is
//! converted to a [`Path`], the form that diagnostics keep.

use std::borrow::Cow;

use ytterby_diag::{Path, Step, ViolationPath};

use crate::node::{Scalar, key_text};

/// The way to a node, innermost step first.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Way<'a> {
    /// The document itself.
    Document,
    /// An item of a map.
    Key(&'a Way<'a>, &'a Scalar),
    /// An item of an array.
    Index(&'a Way<'a>, usize),
    /// A value that is not in a document, by its name in code.
    Name(&'a str),
}

impl Way<'_> {
    /// The path. A name is not a step of it.
    pub fn path(&self) -> Path {
        let mut steps = Vec::new();
        let mut at = self;
        loop {
            at = match at {
                Way::Document | Way::Name(_) => break,
                Way::Key(parent, key) => {
                    steps.push(Step::Key(key_text(key).into_owned()));
                    parent
                }
                Way::Index(parent, index) => {
                    steps.push(Step::Index(*index));
                    parent
                }
            };
        }
        steps.reverse();
        Path::from(steps)
    }

    /// The form for violations.
    pub fn of_violation(&self) -> ViolationPath {
        match self {
            Way::Name(name) => ViolationPath::Name((*name).to_owned()),
            way => ViolationPath::Path(way.path()),
        }
    }

    /// Its last key, index or name.
    pub fn last_step(&self) -> Cow<'_, str> {
        match self {
            Way::Document => "0".into(),
            Way::Key(_, key) => key_text(key),
            Way::Index(_, index) => index.to_string().into(),
            Way::Name(name) => (*name).into(),
        }
    }
}
