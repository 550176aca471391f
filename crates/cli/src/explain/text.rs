//! Explanations as text for people.

use ytterby::{ChainLink, ExplainedPlace, Explanation};

/// Maximum listed nodes of an impact; there may be thousands.
const LISTED: usize = 200;

/// All explanations, separated by empty lines.
pub fn answers(answers: &[Explanation]) -> String {
    answers.iter().map(answer).collect::<Vec<_>>().join("\n")
}

fn answer(answer: &Explanation) -> String {
    let value = answer.value.as_deref().unwrap_or("(no value)");
    let mut out = format!("{} = {value}\n", answer.path);
    if let Some(name) = answer.type_name.as_ref().filter(|_| answer.data_values.is_none()) {
        out.push_str(&format!("  type: {name}\n"));
    }
    if let Some(text) = &answer.description {
        out.push_str(&format!("  description: {}\n", text.trim_end().replace('\n', "\n    ")));
    }
    if !answer.rules.is_empty() {
        out.push_str("  rules:\n");
    }
    for rule in &answer.rules {
        let verdict = if rule.ok { "ok    " } else { "broken" };
        out.push_str(&format!("    {verdict}  {} ({})\n", rule.text, rule.id));
    }
    if !answer.chain.is_empty() {
        out.push_str("  from:\n");
    }
    let places: Vec<String> = answer.chain.iter().map(|link| shown(link.place.as_ref())).collect();
    let width = places.iter().map(|place| place.chars().count()).max().unwrap_or(0);
    for (link, place) in answer.chain.iter().zip(&places) {
        let ChainLink { kind, action, value, frames, .. } = link;
        let value = value.as_deref().unwrap_or("(removed)");
        out.push_str(&format!("    {place:width$}  {kind:<8}  {action:<7}  {value}\n"));
        for frame in frames {
            out.push_str(&format!("      {}: {}\n", shown(Some(&frame.place)), frame.text));
        }
    }
    if let Some(values) = &answer.data_values {
        match values.is_empty() {
            true => out.push_str("  decided by no data value\n"),
            false => out.push_str(&format!("  decided by: {}\n", values.join(", "))),
        }
    }
    if let Some(nodes) = &answer.impact {
        match nodes.is_empty() {
            true => out.push_str("  changes nothing in the output\n"),
            false => out.push_str("  changes:\n"),
        }
        nodes.iter().take(LISTED).for_each(|node| out.push_str(&format!("    {node}\n")));
        if nodes.len() > LISTED {
            out.push_str(&format!("    and {} more\n", nodes.len() - LISTED));
        }
    }
    if !answer.not_varied.is_empty() {
        out.push_str(&format!("  could not be varied: {}\n", answer.not_varied.join(", ")));
    }
    out
}

fn shown(place: Option<&ExplainedPlace>) -> String {
    place.map_or_else(|| "?".to_owned(), |place| format!("{}:{}:{}", place.file, place.line, place.column))
}
