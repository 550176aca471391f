//! Schemas in other languages.

mod keywords;
mod openapi;

pub(crate) use openapi::openapi;
