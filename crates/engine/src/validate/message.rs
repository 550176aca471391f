//! Custom messages of rules: `"{key}" (={value}) must be {desc}`.

/// A message with fields.
#[derive(Debug)]
pub(crate) struct MessageTemplate(Vec<MessagePart>);

#[derive(Debug)]
enum MessagePart {
    Text(String),
    Key,
    Value,
    Desc,
    Failure,
}

/// The values of the fields.
pub(crate) struct Fields<'a> {
    pub key: &'a str,
    pub value: &'a str,
    pub desc: &'a str,
    pub failure: &'a str,
}

impl MessageTemplate {
    /// Parses a message; the error is an unknown field, as written. `{{` and `}}` are braces.
    pub fn parse(message: &str) -> Result<MessageTemplate, String> {
        let mut parts = Vec::new();
        let mut text = String::new();
        let mut rest = message;
        while let Some(at) = rest.find(['{', '}']) {
            text.push_str(&rest[..at]);
            rest = &rest[at..];
            if let Some(tail) = rest.strip_prefix("{{") {
                text.push('{');
                rest = tail;
            } else if let Some(tail) = rest.strip_prefix("}}") {
                text.push('}');
                rest = tail;
            } else if rest.starts_with('}') {
                return Err("}".to_owned());
            } else {
                let end = rest.find('}').map_or(rest.len(), |end| end + 1);
                let (field, tail) = rest.split_at(end);
                let part = match field {
                    "{key}" => MessagePart::Key,
                    "{value}" => MessagePart::Value,
                    "{desc}" => MessagePart::Desc,
                    "{failure}" => MessagePart::Failure,
                    other => return Err(other.to_owned()),
                };
                if !text.is_empty() {
                    parts.push(MessagePart::Text(std::mem::take(&mut text)));
                }
                parts.push(part);
                rest = tail;
            }
        }
        text.push_str(rest);
        if !text.is_empty() {
            parts.push(MessagePart::Text(text));
        }
        Ok(MessageTemplate(parts))
    }

    /// The message with its fields replaced.
    pub fn render(&self, fields: &Fields<'_>) -> String {
        let piece = |part: &MessagePart| match part {
            MessagePart::Text(text) => text.clone(),
            MessagePart::Key => fields.key.to_owned(),
            MessagePart::Value => fields.value.to_owned(),
            MessagePart::Desc => fields.desc.to_owned(),
            MessagePart::Failure => fields.failure.to_owned(),
        };
        self.0.iter().map(piece).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fills_in_fields() {
        let fields = Fields { key: "k", value: "7", desc: "small", failure: "too large" };
        let render = |text: &str| MessageTemplate::parse(text).map(|template| template.render(&fields));
        assert_eq!(
            render("\"{key}\" (={value}) must be {desc}: {failure}.").unwrap(),
            "\"k\" (=7) must be small: too large."
        );
        assert_eq!(render("{{{key}}} {{}}").unwrap(), "{k} {}");
        assert_eq!(render("").unwrap(), "");
        for (text, field) in
            [("{foo}", "{foo}"), ("a {} b", "{}"), ("{value:>5}", "{value:>5}"), ("x {key", "{key"), ("}", "}")]
        {
            assert_eq!(render(text).unwrap_err(), field);
        }
    }
}
