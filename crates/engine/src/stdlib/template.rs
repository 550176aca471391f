//! `@ytt:template`: changes the template that is being evaluated.

use std::rc::Rc;

use ytterby_starlark::{Builtin, Error, Value};

use super::Module;
use crate::args;
use crate::record::Record;
use crate::template::TemplateOps;

/// The module for the file of these operations.
pub(crate) fn module(ops: &Rc<TemplateOps>, record: Option<Rc<Record>>) -> Module {
    let ops = ops.clone();
    let replace = Builtin::new("template.replace", move |_, args| {
        let value = args::one(&args).map_err(|error| error.in_context("template.replace"))?;
        let result = ops.replace(value).map_err(|problem| Error::new(format!("template.replace: {problem}")))?;
        if let Some((record, replaced)) = record.as_ref().zip(record.as_ref().and_then(|_| ops.replaced())) {
            record.replace(replaced);
        }
        Ok(result)
    });
    Module::new("template").with_value("replace", Value::from(replace))
}
