//! Binding names.
