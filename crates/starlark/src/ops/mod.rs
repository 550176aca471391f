//! The operators of the language.

mod arith;
mod attr;
mod compare;
mod hash;
mod index;
mod interpolate;
pub(crate) mod search;

pub use arith::{binary, unary};
pub use attr::{attr, set_attr};
pub use compare::{compare, compare_depth, equal};
pub use index::{index, set_index, slice};

pub(crate) use arith::{MAX_BYTES, MAX_INT_BITS, charge_bits, float_of_int, number_to_int, or_assign, sum, text_size};
pub(crate) use attr::{attr_names, find as find_attr};
pub(crate) use hash::{hash, hash_short};
pub(crate) use index::{in_range, slice_bounds};
