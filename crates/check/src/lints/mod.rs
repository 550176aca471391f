//! The lints, one file per subject.

pub(crate) mod annotations;
pub(crate) mod branches;
pub(crate) mod files;
pub(crate) mod given;
pub(crate) mod names;
pub(crate) mod schema;
pub(crate) mod values;
