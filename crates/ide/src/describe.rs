//! Describes data values and functions in Markdown.

use crate::context::Knowledge;
use crate::model::{DefKind, Definition};
use crate::schema::LibrarySchema;

/// The text shown instead of a secret.
pub const HIDDEN: &str = "(secret)";

/// Describes a declared data value.
pub fn value(schema: &LibrarySchema, node: usize, known: Knowledge<'_>) -> String {
    let declared = &schema.nodes[node];
    let path = schema.path(node);
    let mut type_name = declared.type_name.clone();
    if declared.is_nullable {
        type_name.push_str(" or null");
    }
    let mut out = format!("**{path}**: `{type_name}`");
    if let Some(title) = &declared.title {
        out.push_str(&format!(" – {title}"));
    }
    out.push('\n');
    for (name, text) in &declared.remarks {
        let (first, rest) = name.split_at(name.chars().next().map_or(0, char::len_utf8));
        out.push_str(&format!("\n*{}{rest}*: {text}\n", first.to_uppercase()));
    }
    if let Some(description) = &declared.description {
        out.push_str(&format!("\n{description}\n"));
    }
    let mut facts = Vec::new();
    if declared.is_required {
        facts.push("Required: it must be given".to_owned());
    } else if let Some(default) = &declared.default {
        let shown = if declared.is_secret { HIDDEN.to_owned() } else { code(default) };
        facts.push(format!("Default: {shown}"));
    }
    let steps = steps(schema, node);
    if let Some(current) = known.values.and_then(|values| values.at(&steps)) {
        let is_default = declared.default.as_deref() == Some(current.shown().as_str());
        if declared.is_secret {
            facts.push(format!("Current value: {HIDDEN}"));
        } else if !is_default {
            facts.push(format!("Current value: {}", code(&hidden_parts(schema, node, current))));
        }
    }
    if !declared.rules.is_empty() {
        let rules: Vec<String> = declared.rules.iter().map(|rule| code(rule)).collect();
        facts.push(format!("Rules: {}", rules.join(", ")));
    }
    if let Some(examples) = declared.examples.as_ref().filter(|_| !declared.is_secret) {
        facts.push(format!("Examples: {}", code(examples)));
    }
    if !declared.children.is_empty() {
        let keys: Vec<String> =
            declared.children.iter().take(12).map(|child| code(&schema.nodes[*child].key)).collect();
        facts.push(format!("Keys: {}", keys.join(", ")));
    }
    for fact in facts {
        out.push_str(&format!("\n- {fact}"));
    }
    out
}

/// Shows a value with its secrets replaced.
pub fn hidden_parts(schema: &LibrarySchema, node: usize, value: &crate::values::DataValue) -> String {
    fn has_secret(schema: &LibrarySchema, node: usize) -> bool {
        let declared = &schema.nodes[node];
        let below = declared.children.iter().chain(&declared.element);
        declared.is_secret || below.into_iter().any(|child| has_secret(schema, *child))
    }
    if has_secret(schema, node) { HIDDEN.to_owned() } else { value.shown() }
}

/// The path of a node.
pub fn steps(schema: &LibrarySchema, node: usize) -> Vec<Option<String>> {
    let mut steps = Vec::new();
    let mut next = Some(node);
    while let Some(index) = next {
        let declared = &schema.nodes[index];
        steps.push(Some(declared.key.clone()).filter(|key| !key.is_empty()));
        next = declared.parent;
    }
    steps.reverse();
    steps
}

fn code(text: &str) -> String {
    let text = text.replace('\n', " ");
    if text.contains('`') { format!("`` {text} ``") } else { format!("`{text}`") }
}

/// A type with its default, in short.
pub fn short(schema: &LibrarySchema, node: usize) -> String {
    let declared = &schema.nodes[node];
    match &declared.default {
        Some(_) if declared.is_secret => declared.type_name.clone(),
        Some(default) => format!("{} = {default}", declared.type_name),
        None => declared.type_name.clone(),
    }
}

/// The signature of a function.
pub fn signature(definition: &Definition) -> String {
    match &definition.kind {
        DefKind::Function { parameters, .. } => format!("{}({})", definition.name, parameters.join(", ")),
        _ => definition.name.clone(),
    }
}

/// Describes a definition.
pub fn definition(definition: &Definition, from: &str) -> String {
    let kind = match &definition.kind {
        DefKind::Function { .. } => "def ",
        _ => "",
    };
    let mut out = format!("```python\n{kind}{}\n```\n", signature(definition));
    match &definition.kind {
        DefKind::Function { doc: Some(doc), .. } => out.push_str(&format!("\n{doc}\n")),
        DefKind::Function { .. } | DefKind::Loaded { .. } => {}
        DefKind::Variable(_) => out.push_str("\nvariable\n"),
        DefKind::Parameter => out.push_str("\nparameter\n"),
        DefKind::LoopVariable(_) => out.push_str("\nvariable of a loop\n"),
    }
    if !from.is_empty() {
        out.push_str(&format!("\nfrom {from}\n"));
    }
    out
}
