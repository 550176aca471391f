//! Rules of schemas.

use crate::crd::CustomKind;
use crate::document::Node;
use crate::report::{At, Report};

/// A rule.
#[derive(Debug)]
pub(crate) struct Rule {}

pub(crate) fn check(_object: &Node, _custom: &CustomKind, _at: &At<'_>, _report: &mut Report) {}
