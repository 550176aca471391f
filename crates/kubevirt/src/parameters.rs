//! Parameters of OpenShift templates: `${NAME}` in text, `${{NAME}}` for whole values.
//!
//! Generated values are the same in every run: validation needs a value of the right form, not a
//! secret.

use std::collections::HashMap;

use ytterby_text::budget;

use crate::value::Value;

/// Maximum length of generated text.
const MAX_GENERATED: usize = 4096;

/// Values by name.
pub type Parameters = HashMap<String, String>;

/// The parameters that a template declares; given values take precedence. The error names a
/// required one without a value.
pub fn declared(list: Option<&Value>, given: &Parameters) -> Result<Parameters, String> {
    let mut values = Parameters::new();
    for parameter in list.and_then(Value::as_array).unwrap_or_default() {
        let text = |key: &str| parameter.get(key).and_then(Value::render).unwrap_or_default();
        let name = text("name");
        if name.is_empty() {
            continue;
        }
        let value = match given.get(&name) {
            Some(value) => value.clone(),
            None if !text("value").is_empty() => text("value"),
            None if text("generate") == "expression" => generate(&text("from")),
            None => String::new(),
        };
        if value.is_empty() && parameter.get("required") == Some(&Value::Bool(true)) {
            return Err(format!("the parameter {name} is required and has no value: give one with -p {name}=VALUE"));
        }
        values.insert(name, value);
    }
    Ok(values)
}

/// Substitutes parameters in all texts of a value.
pub fn substitute(value: &mut Value, parameters: &Parameters) {
    match value {
        Value::String(text) => {
            if let Some(whole) = whole(text).and_then(|name| parameters.get(name)) {
                *value = match crate::json::parse(whole) {
                    Ok(node) => node.to_value(),
                    Err(_) => Value::from(whole.as_str()),
                };
            } else if text.contains("${") {
                *text = expanded(text, parameters).into();
            }
        }
        Value::Array(items) => items.iter_mut().for_each(|item| substitute(item, parameters)),
        Value::Object(entries) => {
            for (key, value) in entries {
                if key.contains("${") {
                    *key = expanded(key, parameters).into();
                }
                substitute(value, parameters);
            }
        }
        _ => {}
    }
}

fn is_name(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

fn whole(text: &str) -> Option<&str> {
    text.strip_prefix("${{")?.strip_suffix("}}").filter(|name| is_name(name))
}

fn expanded(text: &str, parameters: &Parameters) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some(at) = rest.find("${") {
        out.push_str(&rest[..at]);
        let inside = &rest[at + 2..];
        // Names are short; limiting the search keeps it linear for text full of `${`.
        let end = inside.bytes().take(256).position(|byte| byte == b'}');
        match end.map(|end| &inside[..end]).and_then(|name| Some((name, parameters.get(name)?))) {
            Some((name, value)) => {
                // A parameter of 100 kB can be used 20,000 times; the owner of the budget reports
                // the limit.
                if budget::text(value.len()).is_err() {
                    return String::new();
                }
                out.push_str(value);
                rest = &inside[name.len() + 1..];
            }
            None => {
                out.push_str("${");
                rest = inside;
            }
        }
    }
    // The text grows by doubling, and is copied once more into its node.
    if budget::memory(rest.len() + out.len()).is_err() {
        return String::new();
    }
    out.push_str(rest);
    out
}

/// Generates text for an expression such as `[a-z0-9]{8}`: classes count up through their
/// characters.
pub fn generate(expression: &str) -> String {
    let mut out = String::new();
    let mut rest = expression;
    while let Some(at) = rest.find('[') {
        out.push_str(&rest[..at]);
        let Some((class, after)) = rest[at + 1..].split_once(']') else { break };
        let characters = class_characters(class);
        let (count, after) = match after.strip_prefix('{').and_then(|after| after.split_once('}')) {
            Some((count, after)) => (count.parse::<usize>().unwrap_or(1), after),
            None => (1, after),
        };
        let room = MAX_GENERATED.saturating_sub(out.len());
        out.extend(characters.iter().cycle().take(if characters.is_empty() { 0 } else { count.min(room) }));
        rest = after;
    }
    out.push_str(rest);
    out
}

fn class_characters(class: &str) -> Vec<char> {
    let expanded =
        class.replace("\\w", "a-zA-Z0-9_").replace("\\d", "0-9").replace("\\a", "a-zA-Z0-9").replace("\\A", "!-/");
    let chars: Vec<char> = expanded.chars().collect();
    let mut out = Vec::new();
    let mut at = 0;
    while at < chars.len() {
        if chars.get(at + 1) == Some(&'-') && at + 2 < chars.len() {
            out.extend((chars[at]..=chars[at + 2]).take(256));
            at += 3;
        } else {
            out.push(chars[at]);
            at += 1;
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_fill_text_and_values() {
        let template = crate::json::parse(
            r#"{"parameters":[{"name":"NAME","generate":"expression","from":"vm-[a-c]{5}"},{"name":"CORES","value":"4"},{"name":"EMPTY"}],
                "x":{"name":"${NAME}-x","cores":"${{CORES}}","text":"${CORES}${EMPTY}!${OTHER}${"}}"#,
        )
        .unwrap()
        .to_value();
        let values = declared(template.get("parameters"), &Parameters::new()).unwrap();
        let mut x = template.get("x").unwrap().clone();
        substitute(&mut x, &values);
        assert_eq!(x.to_string(), r#"{"name":"vm-abcab-x","cores":4,"text":"4!${OTHER}${"}"#);
        let given = Parameters::from([("CORES".to_owned(), "many".to_owned())]);
        assert_eq!(declared(template.get("parameters"), &given).unwrap()["CORES"], "many");
    }

    #[test]
    fn a_required_parameter_must_have_a_value() {
        let list = crate::json::parse(r#"[{"name":"PVC","required":true}]"#).unwrap().to_value();
        assert!(declared(Some(&list), &Parameters::new()).unwrap_err().contains("-p PVC=VALUE"));
    }

    #[test]
    fn unusual_expressions_end() {
        for (expression, expect) in [("[a]{3}x", "aaax"), ("[", "["), ("[]{9}", ""), ("[a-", "[a-"), ("[b]{x}", "b")] {
            assert_eq!(generate(expression), expect, "{expression}");
        }
        assert!(generate("[a]{99999999999}[a]{1000000}").len() <= 2 * MAX_GENERATED);
    }
}
