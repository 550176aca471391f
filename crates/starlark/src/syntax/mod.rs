//! Reading text.
