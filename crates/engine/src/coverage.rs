//! Records which parts of a project renders reached, if
//! [`Options::coverage`](crate::Options::coverage) requests it.

use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::{Arc, Mutex, PoisonError};

use ytterby_diag::Pos;

use crate::node::{Map, Node, Reads};

/// The parts that renders reached: statements and nodes of templates, and data values. Renders on
/// several threads can share it; the files must be compiled by a render that has it.
#[derive(Debug, Default)]
pub struct Coverage {
    statements: Arc<ytterby_starlark::StatementCoverage>,
    values: Mutex<BTreeMap<String, bool>>,
}

impl Coverage {
    /// Statements of code and nodes of templates, by position, and whether each was reached.
    pub fn statements(&self) -> Vec<(Pos, bool)> {
        self.statements.statements()
    }

    /// The data values that are not maps, by path (`db.port`, `hosts[].name`), and whether code
    /// read each.
    pub fn values(&self) -> BTreeMap<String, bool> {
        self.values.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(crate) fn of_code(&self) -> Arc<ytterby_starlark::StatementCoverage> {
        self.statements.clone()
    }

    /// Adds the data values of a render and which of them were read.
    pub(crate) fn add_values(&self, values: &Node, reads: &Reads) {
        let mut known = self.values.lock().unwrap_or_else(PoisonError::into_inner);
        add(&mut known, values, "", false, reads);
    }
}

/// Code that reads a map as a whole, and no item of it, reads all of it.
fn add(known: &mut BTreeMap<String, bool>, node: &Node, path: &str, is_read: bool, reads: &Reads) {
    crate::deep(|| match node {
        Node::Map(map) if map.iter().next().is_some() => {
            let has = |map: &Rc<Map>, at: usize| reads.has(map, at);
            let is_taken_apart = (0..map.iter().count()).any(|at| has(map, at));
            for (at, item) in map.iter().enumerate() {
                let name = match item.key.as_str() {
                    Some(key) => key.to_str().into_owned(),
                    None => format!("{:?}", item.key),
                };
                let path = if path.is_empty() { name } else { format!("{path}.{name}") };
                add(known, &item.value, &path, has(map, at) || is_read && !is_taken_apart, reads);
            }
        }
        Node::Array(array) if array.items.iter().any(|item| matches!(item.value, Node::Map(_))) => {
            let path = format!("{path}[]");
            array.items.iter().for_each(|item| add(known, &item.value, &path, is_read, reads));
        }
        _ => *known.entry(path.to_owned()).or_default() |= is_read,
    });
}
