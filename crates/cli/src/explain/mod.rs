//! `explain`: shows where a data value or a node of the output comes from, and which values affect
//! it.

mod text;

use std::sync::Arc;

use ytterby::{ChainLink, ExplainedPlace, Explanation, Failure, Options, Question};
use ytterby_diag::{Diagnostic, Id, Pos, Sources};
use ytterby_text::gojson::{self, Html};

use crate::commands::flag::{self, AnswerFormat};
use crate::flags::Invocation;
use crate::project::one::{self, Unnamed};
use crate::render::Inputs;
use crate::{limits, report};

/// Explains each operand. Returns the exit code.
pub fn run(program: &str, flags: &Invocation, sources: &Arc<Sources>) -> Result<i32, Failure> {
    let rendering = report::rendering(program, flags)?;
    let unknown = |value: &str| format!("Unknown output type '{value}'");
    let format = flags.choice(&flag::EXPLAIN_OUTPUT, unknown)?.unwrap_or_default();
    let about = flags.operands.iter().map(|text| Question::About(text.clone()));
    let impact = flags.list(&flag::IMPACT).iter().map(|text| Question::Impact(text.clone()));
    let questions: Vec<Question> = about.chain(impact).collect();
    if questions.is_empty() {
        let help =
            "name a data value (db.port), a node of the output (Deployment/web:spec.replicas), or --impact db.port";
        return Err(Diagnostic::error(Id::FLAG_OPERAND, "Expected something to explain").help(help).into());
    }
    let target = Some(flags.text(&flag::TARGET).to_owned()).filter(|name| !name.is_empty());
    let Inputs { files, options } = one::inputs(program, flags, rendering, (target.as_ref(), Unnamed::First), sources)?;
    // `--output` means another format here than in a render, and the output is not checked.
    let options = Options { output_types: ytterby::OutputTypes::default(), output_check: None, ..options };
    let first_file = sources.next_id();
    match ytterby::explain(files, &options, sources, &questions) {
        Ok(answers) => {
            let written = match format {
                AnswerFormat::Json => answers.iter().map(json).collect(),
                AnswerFormat::Text => text::answers(&answers),
            };
            limits::write_result(written.as_bytes(), options.limits.output, Pos::new(first_file, 0), sources)?;
            Ok(0)
        }
        Err(failure) => {
            report::outcome(program, Err(&failure), sources, rendering);
            Ok(1)
        }
    }
}

/// An explanation as one line of JSON.
fn json(answer: &Explanation) -> String {
    let mut fields = vec![field("path", &quoted(&answer.path))];
    fields.push(field("value", answer.value.as_deref().unwrap_or("null")));
    fields.extend(answer.type_name.as_ref().map(|name| field("type", &quoted(name))));
    fields.extend(answer.description.as_ref().map(|text| field("description", &quoted(text))));
    fields.push(field("chain", &list(answer.chain.iter().map(link))));
    let rules = answer.rules.iter().map(|rule| {
        let fields =
            [field("id", &quoted(rule.id)), field("text", &quoted(&rule.text)), field("ok", &rule.ok.to_string())];
        object(&fields)
    });
    fields.push(field("rules", &list(rules)));
    let texts = |texts: &[String]| list(texts.iter().map(|text| quoted(text)));
    fields.extend(answer.data_values.as_ref().map(|values| field("data_values", &texts(values))));
    fields.extend(answer.impact.as_ref().map(|nodes| field("impact", &texts(nodes))));
    if !answer.not_varied.is_empty() {
        fields.push(field("not_varied", &texts(&answer.not_varied)));
    }
    format!("{}\n", object(&fields))
}

fn link(link: &ChainLink) -> String {
    let mut fields = vec![field("kind", &quoted(link.kind))];
    fields.push(field("place", &link.place.as_ref().map_or_else(|| "null".to_owned(), |at| object(&place(at)))));
    fields.push(field("action", &quoted(link.action)));
    fields.push(field("value", link.value.as_deref().unwrap_or("null")));
    if !link.frames.is_empty() {
        let frames = link.frames.iter().map(|frame| {
            let mut fields = place(&frame.place);
            fields.push(field("text", &quoted(&frame.text)));
            object(&fields)
        });
        fields.push(field("frames", &list(frames)));
    }
    object(&fields)
}

fn place(place: &ExplainedPlace) -> Vec<String> {
    let number = |name: &str, value: u32| field(name, &value.to_string());
    vec![field("file", &quoted(&place.file)), number("line", place.line), number("column", place.column)]
}

fn field(name: &str, value: &str) -> String {
    format!("\"{name}\":{value}")
}

fn object(fields: &[String]) -> String {
    format!("{{{}}}", fields.join(","))
}

fn list(items: impl Iterator<Item = String>) -> String {
    format!("[{}]", items.collect::<Vec<_>>().join(","))
}

fn quoted(text: &str) -> String {
    let mut out = Vec::new();
    gojson::string_into(&mut out, text.as_bytes(), Html::Keep);
    String::from_utf8_lossy(&out).into_owned()
}
