//! Signature help: the parameters of the call at the cursor.

use crate::context::{Callee, Cursor, open_call};
use crate::model::{DefKind, RegionKind};
use crate::reference;

/// The signature of the called function, and the current parameter.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Signature {
    /// Example: `full(name, suffix="x")`.
    pub label: String,
    /// The parameters, as byte ranges of the label.
    pub parameters: Vec<(usize, usize)>,
    /// The description of the function.
    pub documentation: String,
    /// The parameter at the cursor.
    pub active: Option<usize>,
}

/// The signature for the call around the cursor.
pub fn signature(at: Cursor<'_>) -> Option<Signature> {
    at.region()?;
    let Some(call) = open_call(at.model(), at.text(), at.offset) else { return annotation(at) };
    let (name, parameters, documentation) = match at.callee(&call)? {
        Callee::Function(file, definition) => {
            let definition = &at.project.files[file].file.model().definitions[definition];
            let DefKind::Function { parameters, doc } = &definition.kind else { return None };
            (definition.name.clone(), parameters.clone(), doc.clone().unwrap_or_default())
        }
        Callee::Member(module, name) => entry(reference::member(&module, &name)?),
        Callee::Method(of, name) => entry(crate::infer::method(of, &name)?),
        Callee::Builtin(name) => entry(reference::builtin(&name)?),
    };
    let mut label = format!("{name}(");
    let mut ranges = Vec::new();
    for (index, parameter) in parameters.iter().enumerate() {
        if index > 0 {
            label.push_str(", ");
        }
        ranges.push((label.len(), label.len() + parameter.len()));
        label.push_str(parameter);
    }
    label.push(')');
    let own_name = |parameter: &String| {
        let name = parameter.trim_matches(['[', ']', '*']);
        name.split('=').next().unwrap_or(name).to_owned()
    };
    let named = call.name.as_ref().and_then(|name| parameters.iter().position(|own| own_name(own) == *name));
    let last = parameters.len().checked_sub(1);
    let is_rest = |parameter: &String| parameter.starts_with('*') || parameter == "…";
    let active = match named {
        Some(named) => Some(named),
        None if call.argument < parameters.len() => Some(call.argument),
        None => last.filter(|last| is_rest(&parameters[*last])),
    };
    Some(Signature { label, parameters: ranges, documentation, active })
}

/// The arguments of an annotation around a place.
fn annotation(at: Cursor<'_>) -> Option<Signature> {
    let RegionKind::Arguments { annotation } = at.region()?.kind else { return None };
    let model = at.model();
    let annotation = &model.annotations[annotation];
    let entry = reference::annotation(&annotation.name)?;
    let label = format!("@{}", entry.signature);
    let names = entry.keyword_names();
    let parameters: Vec<(usize, usize)> = names
        .iter()
        .filter_map(|name| {
            let start =
                label.find(&format!("{name}=")).filter(|start| label[..*start].ends_with([' ', ',', '[', '(']))?;
            Some((start, start + name.len()))
        })
        .collect();
    let given = crate::schema::arguments(model, at.text(), annotation.arguments);
    let own = given.into_iter().find(|argument| argument.range.touches(at.offset)).and_then(|argument| argument.name);
    let active = own.and_then(|own| parameters.iter().position(|(start, end)| label[*start..*end] == own));
    Some(Signature { label, parameters, documentation: entry.text.clone(), active })
}

fn entry(entry: &reference::ReferenceEntry) -> (String, Vec<String>, String) {
    let mut text = entry.text.clone();
    if !entry.example.is_empty() {
        text.push_str(&format!("\n\n```yaml\n{}```", entry.example));
    }
    (entry.name.clone(), entry.parameters(), text)
}
