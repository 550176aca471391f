//! `@ytt:overlay`: `apply()`, and the matchers for `@overlay/match by=`.

use ytterby_starlark::{Args, Error, Eval, Value};
use ytterby_text::budget;

use super::Module;
use crate::args::{int, one, string};
use crate::node::{Annotated, Fragment, FragmentData, Node, from_value};
use crate::overlay::{self, Matcher};
use crate::run::Run;

/// The module.
pub(super) fn module() -> Module {
    Module::new("overlay")
        .with("apply", apply)
        .with("index", |_, args| Ok(Value::host(Matcher::Index(int(one(&args)?)?))))
        .with_value("all", Value::host(Matcher::All))
        .with("map_key", |_, args| Ok(Value::host(Matcher::MapKey(string(one(&args)?)?.clone()))))
        .with("subset", |_, args| Ok(Value::host(Matcher::Subset(one(&args)?.clone()))))
        .with("and_op", |_, args| Ok(Value::host(Matcher::And(at_least_one(&args)?))))
        .with("or_op", |_, args| Ok(Value::host(Matcher::Or(at_least_one(&args)?))))
        .with("not_op", |_, args| Ok(Value::host(Matcher::Not(one(&args)?.clone()))))
}

fn at_least_one(args: &Args<'_>) -> Result<Vec<Value>, Error> {
    match args.positional {
        [] => Err(Error::new("expected at least one argument")),
        some => Ok(some.to_vec()),
    }
}

/// `overlay.apply(left, right, …)`: changes the fragment on the left and returns it.
fn apply(eval: &mut Eval, args: Args<'_>) -> Result<Value, Error> {
    let Some((first, rights)) = args.positional.split_first() else {
        return Err(Error::new("expected exactly at least argument"));
    };
    let rights = rights.iter().map(from_value).collect::<Result<Vec<_>, _>>().map_err(Error::new)?;
    let run = eval.data::<Run>().ok_or_else(|| Error::new("overlays need a run"))?;
    let fragment = first.downcast::<Fragment>();
    let mut left = match fragment {
        // The data is taken out of the fragment, so that it is not shared and can be changed in
        // place; but not if functions might read it meanwhile.
        Some(fragment) if !fragment.is_frozen() && !rights.iter().any(calls_functions) => fragment.take(),
        Some(fragment) => fragment.data(),
        None => from_value(first).map_err(Error::new)?,
    };
    if !rights.is_empty() && !fragment.is_some_and(Fragment::is_clean) {
        overlay::clean(&mut left);
    }
    let result = rights.iter().try_for_each(|right| overlay::apply(eval, &run, &mut left, right));
    match fragment.filter(|fragment| !fragment.is_frozen()) {
        Some(fragment) => {
            fragment.put_overlaid(left);
            result?;
            Ok(first.clone())
        }
        None => {
            result?;
            Ok(Value::host(Fragment::overlaid(left)))
        }
    }
}

/// Whether an overlay contains functions that may be called.
fn calls_functions(data: &FragmentData) -> bool {
    fn in_item(item: &impl Annotated) -> bool {
        let in_value =
            |value: &Value| value.is_callable() && value.downcast::<Matcher>().is_none_or(Matcher::calls_programs);
        let in_annotations =
            item.annotations().iter().any(|annotation| annotation.kwargs.iter().any(|(_, value)| in_value(value)));
        in_annotations || in_node(item.value())
    }
    fn in_node(node: &Node) -> bool {
        match node {
            Node::Scalar(_) => false,
            // If a limit is reached, the run ends with the next charge, whatever this returns.
            _ if !budget::may_go_on(0) => true,
            Node::Map(map) => crate::deep(|| map.iter().any(in_item)),
            Node::Array(array) => crate::deep(|| array.items.iter().any(in_item)),
        }
    }
    match data {
        FragmentData::Node(node) => in_node(node),
        FragmentData::Documents(docs) => docs.items.iter().any(in_item),
    }
}
