//! Validations of KubeVirt templates: the rules of the annotation `vm.kubevirt.io/validations`.
//!
//! Everything here is a pure function of texts and values: parsing rules with their positions,
//! evaluating kubectl's JSONPath on a VM, evaluating rules, linting, fixing, exporting to CEL. Only
//! [`server`] accesses files and sockets; the commands are in the crate `ytterby-cli`.
//!
//! ```
//! let text = r#"[{"name": "cores", "path": "jsonpath::.spec.domain.cpu.cores", "rule": "integer", "message": "too few", "min": 1}]"#;
//! let Ok(rules) = ytterby_kubevirt::rules::parse(text) else { panic!("not an array of objects") };
//! assert_eq!(&*rules.entries[0].name, "cores");
//! ```

pub mod admission;
mod allowed;
mod amount;
pub mod budget;
pub mod cel;
pub mod compat;
pub mod evaluate;
pub mod explain;
pub mod fields;
pub mod fix;
pub mod instancetype;
pub mod json;
pub mod jsonpath;
pub mod lint;
pub mod lints;
pub mod objects;
pub mod parameters;
pub mod pattern;
pub mod positions;
pub mod rules;
pub mod schema;
pub mod select;
pub mod selection;
#[cfg(feature = "server")]
pub mod server;
mod shape;
pub mod trail;
pub mod value;

pub use allowed::{Allowed, allowed};
