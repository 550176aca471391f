//! `-o html`: one self-contained page with all fields.
//!
//! The page is a table with a row per field. The fields below a field are in a nested table inside
//! a `<details>`, so that folding needs no script. It loads nothing from the network. The script
//! for search and selection is in an event handler of the page: the output contains no `<script>`
//! at all, so that nobody has to distinguish ours from one that a description smuggled in.

mod markdown;
#[cfg(test)]
mod tests;

use std::collections::HashSet;
use std::fmt::Write;

use ytterby_text::xml::escaped;
use ytterby_yaml::write::YamlWriter;

use super::markdown::json_text;
use super::model::{DocumentedField, Model, When, model};
use crate::node::{Node, Scalar, write_node};
use crate::schema::{Example, Remark, ScalarType, Schema, Type};
use crate::validate::{Described, Detail};
use ytterby_diag::REDACTED;

const STYLE: &str = include_str!("page.css");
const SCRIPT: &str = include_str!("page.js");

/// Nothing is loaded; the style and the handler are part of the page.
const POLICY: &str =
    "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; base-uri 'none'; form-action 'none'";

/// The documentation of a schema as a page.
pub(crate) fn html(schema: &Schema) -> String {
    let model = model(schema, Detail::Texts);
    let title = model.title.as_ref().map_or_else(|| "Data values".to_owned(), ToString::to_string);
    let mut page = Page { out: String::new(), ids: Vec::new() };
    let out = &mut page.out;
    let _ = write!(
        out,
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"{POLICY}\">\n\
         <title>{}</title>\n<style>\n{STYLE}</style>\n</head>\n<body onload=\"{}\">\n<main>\n\
         <div class=\"data-values-title\">Schema for \"data/values\"</div>\n<h1>{}</h1>\n",
        escaped(&title),
        escaped(SCRIPT.trim_end()),
        escaped(&title)
    );
    if let Some(text) = &model.documentation {
        let _ = writeln!(out, "<div class=\"about\">{}</div>", markdown::html(&text.to_str()));
    }
    rules(out, &model.rules);
    page.ids(&model);
    page.required_links(&model);
    let out = &mut page.out;
    out.push_str(TOOLS);
    out.push_str(
        "<table class=\"data-values-fields\">\n<thead>\n<tr><th>Name</th><th>Description</th><th>Details</th>\
         <th>Example</th></tr>\n</thead>\n",
    );
    page.fields(&model);
    page.out.push_str("</table>\n");
    if model.fields.is_empty() {
        page.out.push_str("<p>There is nothing to set.</p>\n");
    }
    page.out.push_str(NOTHING);
    page.out.push_str("</main>\n");
    page.out.push_str(PICKED);
    page.out.push_str("</body>\n</html>\n");
    page.out
}

/// Only shown if scripts run.
const TOOLS: &str = "<div class=\"tools\" role=\"search\">
<label for=\"search\">Search</label> <input id=\"search\" type=\"search\" autocomplete=\"off\" placeholder=\"Name, description or rule\">
<button type=\"button\" id=\"unfold\">Unfold all</button> <button type=\"button\" id=\"fold\">Fold all</button>
<output id=\"count\" for=\"search\"></output>
</div>
";

/// Shown if a search finds nothing.
const NOTHING: &str = "<div class=\"nothing\" id=\"nothing\" hidden>
<p>No field has all these words.</p> <button type=\"button\" id=\"all\">Show all fields</button>
</div>
";

const PICKED: &str = "<aside class=\"picked\" id=\"picked\" hidden aria-label=\"Values file\">
<label for=\"values\">Values file with the picked fields</label>
<textarea id=\"values\" readonly rows=\"8\" spellcheck=\"false\"></textarea>
<div class=\"buttons\"><button type=\"button\" id=\"copy\">Copy as values file</button>
<button type=\"button\" id=\"clear\">Pick none</button> <output id=\"copied\" for=\"copy\"></output></div>
</aside>
";

/// Longer defaults are folded.
const SHORT: usize = 60;

struct Page {
    out: String,
    /// The anchors of the fields in the page, in the order of the fields.
    ids: Vec<String>,
}

impl Page {
    /// All rows; those below a field are in a table inside it.
    fn fields(&mut self, model: &Model) {
        let fields = &model.fields;
        // The fields whose tables are open, by their index in the list.
        let mut open: Vec<usize> = Vec::new();
        for (at, field) in fields.iter().enumerate() {
            while open.len() > field.depth {
                self.out.push_str("</table>\n</details></td></tr>\n</tbody>\n");
                open.pop();
            }
            let above = open.last().map(|above| &fields[*above]);
            self.begin(field, at, &steps(field, above, model));
            let below = fields[at + 1..].iter().take_while(|other| other.depth > field.depth).count();
            if below == 0 {
                self.out.push_str("</tbody>\n");
                continue;
            }
            let direct = fields[at + 1..=at + below].iter().filter(|other| other.depth == field.depth + 1).count();
            let noun = if direct == 1 { "field" } else { "fields" };
            let required = match fields[at + 1..=at + below].iter().filter(|other| is_required(other)).count() {
                0 => String::new(),
                count => format!(" <strong class=\"mark required\">{count} required</strong>"),
            };
            let _ = write!(
                self.out,
                "<tr class=\"below\"><td colspan=\"4\"><details><summary>{direct} {noun} of <code>{}</code>{required}</summary>\n\
                 <table class=\"fields-below\">\n",
                escaped(&field.path)
            );
            open.push(at);
        }
        for _ in open {
            self.out.push_str("</table>\n</details></td></tr>\n</tbody>\n");
        }
    }

    /// The row of a field, in a group that stays open.
    fn begin(&mut self, field: &DocumentedField, at: usize, steps: &Node) {
        let id = self.ids[at].clone();
        let out = &mut self.out;
        let _ = write!(
            out,
            "<tbody class=\"field\" id=\"{id}\" data-step=\"{}\" data-value=\"{}\">\n<tr class=\"datavalue\">\n\
             <td class=\"fieldname\">{}</td>\n<td class=\"title\">{}</td>\n<td class=\"documentation\">",
            escaped(&json_text(steps)),
            escaped(&json_text(&value_to_copy(field))),
            escaped(&field.path),
            escaped(&field.title)
        );
        if let Some(text) = &field.documentation {
            out.push_str(&markdown::html(&text.to_str()));
        }
        rules(out, &field.rules);
        facts(out, field, &id);
        out.push_str("</td>\n<td class=\"example\">");
        field.examples.iter().for_each(|one| example(out, one));
        out.push_str("</td>\n</tr>\n");
    }

    /// Creates unique anchors for the fields in the page.
    fn ids(&mut self, model: &Model) {
        let keep = |c: char| if c.is_alphanumeric() || "._-[]*".contains(c) { c } else { '-' };
        let mut taken = HashSet::new();
        for field in &model.fields {
            let name: String = field.path.chars().map(keep).collect();
            // The tools have names without a prefix.
            let name = format!("field-{name}");
            let mut id = name.clone();
            let mut count = 1;
            while !taken.insert(id.clone()) {
                count += 1;
                id = format!("{name}--{count}");
            }
            self.ids.push(id);
        }
    }

    /// The fields that are required of every user, with links to them.
    fn required_links(&mut self, model: &Model) {
        let links: Vec<String> = always_required(model)
            .map(|at| {
                let (id, path) = (escaped(&self.ids[at]), escaped(&model.fields[at].path));
                format!("<a href=\"#{id}\"><code>{path}</code></a>")
            })
            .collect();
        if !links.is_empty() {
            let _ = writeln!(self.out, "<p class=\"to-give\">Required: {}.</p>", links.join(", "));
        }
    }
}

/// Whether a field is required if its map is present.
fn is_required(field: &DocumentedField) -> bool {
    field.required || field.lacks_default
}

/// The required fields that are not inside a list, a shape, or a nullable or optional map, by
/// index.
fn always_required(model: &Model) -> impl Iterator<Item = usize> {
    // For each depth, whether the field there is present in all data values, and so its map.
    let mut is_there = vec![matches!(model.ty, Type::Map(_)) && !model.nullable];
    let mut found = Vec::new();
    for (at, field) in model.fields.iter().enumerate() {
        is_there.truncate(field.depth + 1);
        let own = is_there.last() == Some(&true) && field.presence == When::Always;
        if own && is_required(field) {
            found.push(at);
        }
        is_there.push(own && matches!(field.ty, Type::Map(_)) && !field.nullable);
    }
    found.into_iter()
}

/// The path from the field above: keys, and null for the step into an array.
fn steps(field: &DocumentedField, above: Option<&DocumentedField>, model: &Model) -> Node {
    let rest = match above {
        Some(above) => without_shape(field.path.strip_prefix(&*above.path).unwrap_or(&field.path)),
        None if matches!(model.ty, Type::Array(_)) => &field.path,
        None if matches!(model.ty, Type::Shapes(_)) => without_shape(&field.path),
        None => "",
    };
    let items = rest.len() - rest.trim_start_matches("[]").len();
    let mut steps: Vec<Node> = (0..items / 2).map(|_| Node::NULL).collect();
    if items == 0 || items < rest.len() {
        steps.push(Node::str(field.name.as_str()));
    }
    super::keywords::array(steps)
}

/// A path without the leading number of a shape: ` (1).bucket` becomes `.bucket`.
fn without_shape(path: &str) -> &str {
    let Some(rest) = path.trim_start().strip_prefix('(') else { return path };
    match rest.trim_start_matches(|c: char| c.is_ascii_digit()).strip_prefix(')') {
        Some(rest) => without_shape(rest),
        None => path,
    }
}

/// The value to copy into a values file for a selected field: the default, else the first example,
/// else an empty value.
fn value_to_copy(field: &DocumentedField) -> Node {
    let shown = |value: &&Node| !matches!(value, Node::Scalar(Scalar::Str(text)) if field.secret && *text == *REDACTED);
    let given = field.default.as_ref().or_else(|| field.examples.first().map(|example| &example.value));
    given.filter(shown).cloned().unwrap_or_else(|| empty(&field.ty))
}

fn empty(ty: &Type) -> Node {
    match ty {
        Type::Scalar(ScalarType::String) => Node::str(""),
        Type::Scalar(ScalarType::Int) => Node::Scalar(Scalar::Int(0)),
        Type::Scalar(ScalarType::Float) => Node::Scalar(Scalar::Float(0.0)),
        Type::Scalar(ScalarType::Bool) => Node::Scalar(Scalar::Bool(false)),
        Type::Map(_) => super::keywords::map([]),
        Type::Array(_) => super::keywords::array([]),
        Type::Union(union) => union.members.first().map_or(Node::NULL, empty),
        Type::Scalar(ScalarType::Null) | Type::Any | Type::Shapes(_) => Node::NULL,
    }
}

fn rules(out: &mut String, rules: &[Described]) {
    if !rules.is_empty() {
        let texts: Vec<String> = rules.iter().map(Described::explained).collect();
        let _ = writeln!(out, "<p class=\"rules\">Must be: {}.</p>", escaped(&texts.join("; ")));
    }
}

/// Type, default and marks of a field, the link to it, and the checkbox that selects it.
fn facts(out: &mut String, field: &DocumentedField, id: &str) {
    let null = if field.nullable { " or null" } else { "" };
    let _ = write!(out, "<div class=\"facts\"><span class=\"type\">{}{null}</span>", escaped(&field.type_name));
    if field.required {
        out.push_str(" <strong class=\"mark required\">required</strong>");
    } else if field.lacks_default {
        out.push_str(" <strong class=\"mark required\">default not valid</strong>");
    }
    if field.secret {
        out.push_str(" <strong class=\"mark secret\">secret</strong>");
    }
    let mut long_default = None;
    if let Some(default) = &field.default {
        let text = json_text(default);
        if text.len() <= SHORT {
            let _ = write!(out, " <span class=\"default\">default <code>{}</code></span>", escaped(&text));
        } else {
            long_default = Some(readable(default));
        }
    }
    let path = escaped(&field.path);
    let _ = write!(
        out,
        " <span class=\"handles\"><a class=\"anchor\" href=\"#{}\" aria-label=\"Link to {path}\">#</a>\
         <label class=\"pick\"><input type=\"checkbox\" aria-label=\"Pick {path}\" autocomplete=\"off\"> pick</label></span></div>",
        escaped(id)
    );
    if let Some(text) = long_default {
        let _ = write!(
            out,
            "<details class=\"default\"><summary>default</summary>\n<pre>{}</pre></details>",
            escaped(&text)
        );
    }
    for Remark { name, text, .. } in &field.remarks {
        let text = escaped(&text.to_str());
        let _ = write!(out, "<p class=\"{name}\"><strong class=\"mark {name}\">{name}</strong> {text}</p>");
    }
}

/// A long value in readable form: texts as they are, everything else as YAML.
fn readable(value: &Node) -> String {
    match value {
        Node::Scalar(Scalar::Str(text)) => text.to_string(),
        other => {
            let mut writer = YamlWriter::new();
            ytterby_yaml::Sink::document(&mut writer);
            match write_node(&mut writer, other) {
                Ok(()) => String::from_utf8_lossy(&writer.finish()).trim_end().to_owned(),
                Err(why) => why,
            }
        }
    }
}

fn example(out: &mut String, example: &Example) {
    let description = example.description.as_ref().map(ToString::to_string).unwrap_or_default();
    let value = match &example.value {
        Node::Scalar(Scalar::Str(text)) => text.to_string(),
        other => json_text(other),
    };
    // A line break right after <pre> would not be shown.
    let value = if value.starts_with('\n') { format!("\n{value}") } else { value };
    let _ = write!(
        out,
        "<p class=\"example\">Example: <span class=\"example\">{}</span></p>\n<pre class=\"examplevalue\">{}</pre>\n",
        escaped(&description),
        escaped(&value)
    );
}
