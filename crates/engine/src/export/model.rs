//! What documentation says about a schema: one list of fields, depth first, that every format renders.

use ytterby_text::Str;

use crate::node::{self, Node};
use crate::schema::{Docs, Example, MapType, Presence, REDACTED, Schema, Slot, Type, redact};
use crate::validate::Rules;

/// A schema as documentation shows it.
pub(crate) struct Model {
    pub title: Option<Str>,
    pub documentation: Option<Str>,
    pub rules: Vec<Rule>,
    pub ty: Type,
    pub type_name: String,
    pub nullable: bool,
    pub fields: Vec<Field>,
}

/// One field.
pub(crate) struct Field {
    /// The key; of an array item the array's key and `[]`.
    pub name: String,
    /// The way to it from the root: `databases[].name`.
    pub path: String,
    /// How many fields are above it.
    pub depth: usize,
    pub title: String,
    pub documentation: Option<Str>,
    pub ty: Type,
    pub type_name: String,
    pub nullable: bool,
    pub default: Option<Node>,
    pub required: bool,
    pub deprecated: Option<Str>,
    pub secret: bool,
    pub examples: Vec<Example>,
    pub rules: Vec<Rule>,
}

/// What a valid value is, and a hint that explains it.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Rule {
    pub text: String,
    pub hint: Option<String>,
}

impl Rule {
    /// The text, with the hint in parentheses.
    pub fn explained(&self) -> String {
        match &self.hint {
            Some(hint) => format!("{} ({hint})", self.text),
            None => self.text.clone(),
        }
    }
}

/// The fields of a schema.
pub(crate) fn model(schema: &Schema) -> Model {
    let root = &schema.root;
    let mut fields = Vec::new();
    let above = Above { path: String::new(), name: String::new(), depth: 0, secret: root.secret };
    children(&mut fields, &root.ty, &above);
    Model {
        title: root.docs.title.clone(),
        documentation: root.docs.description.clone(),
        rules: rules(root.rules.as_deref()),
        ty: root.ty.clone(),
        type_name: type_name(&root.ty),
        nullable: root.nullable,
        fields,
    }
}

/// What is known of the field above.
struct Above {
    path: String,
    name: String,
    depth: usize,
    secret: bool,
}

fn children(fields: &mut Vec<Field>, ty: &Type, above: &Above) {
    crate::deep(|| match ty {
        Type::Map(map) => items(fields, map, above),
        Type::Array(array) => {
            let item = &array.item;
            let inside = Above {
                path: format!("{}[]", above.path),
                name: format!("{}[]", above.name),
                depth: above.depth,
                secret: above.secret || item.secret,
            };
            if matches!(item.ty, Type::Map(_)) || !item.annotated {
                return children(fields, &item.ty, &inside);
            }
            fields.push(field(item, &inside, Shows::NoDefault));
            children(fields, &item.ty, &Above { depth: inside.depth + 1, ..inside });
        }
        Type::Union(union) => {
            for member in &union.members {
                children(fields, member, above);
            }
        }
        Type::Any | Type::Scalar(_) | Type::Shapes(_) => {}
    });
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Shows {
    Default,
    NoDefault,
}

fn items(fields: &mut Vec<Field>, map: &MapType, above: &Above) {
    for item in map.all_items() {
        let key = node::key_text(&item.key);
        let prefix = if above.path.is_empty() { String::new() } else { format!("{}.", above.path) };
        let (step, shows) = match &item.presence {
            Presence::Removed(_) => continue,
            Presence::Always if item.slot.required.is_none() => (&*key, Shows::Default),
            Presence::Always | Presence::Optional(_) => (&*key, Shows::NoDefault),
            Presence::Pattern(_) => ("*", Shows::NoDefault),
        };
        let own = Above {
            path: format!("{prefix}{step}"),
            name: key.to_string(),
            depth: above.depth,
            secret: above.secret || item.slot.secret,
        };
        fields.push(field(&item.slot, &own, shows));
        children(fields, &item.slot.ty, &Above { depth: own.depth + 1, ..own });
    }
}

fn field(slot: &Slot, at: &Above, shows: Shows) -> Field {
    let Docs { title, description, deprecated, examples } = &slot.docs;
    let is_map = matches!(slot.ty, Type::Map(_)) && !slot.default.is_null();
    let redacted = |value: &Node| if at.secret { Node::str(REDACTED) } else { redact(value, slot) };
    let examples = examples.iter().map(|example| Example { value: redacted(&example.value), ..example.clone() });
    Field {
        name: at.name.clone(),
        path: at.path.clone(),
        depth: at.depth,
        title: title.as_ref().map_or_else(|| title_of(&at.name), ToString::to_string),
        documentation: description.clone(),
        ty: slot.ty.clone(),
        type_name: type_name(&slot.ty),
        nullable: slot.nullable,
        default: (shows == Shows::Default && !is_map).then(|| redacted(&slot.default)),
        required: slot.required.is_some(),
        deprecated: deprecated.clone(),
        secret: at.secret,
        examples: examples.collect(),
        rules: rules(slot.rules.as_deref()),
    }
}

fn rules(rules: Option<&Rules>) -> Vec<Rule> {
    let texts = rules.map(Rules::texts_with_hints).unwrap_or_default();
    texts.into_iter().map(|(text, hint)| Rule { text, hint }).collect()
}

/// `string`, `array of map`, `integer or string`.
fn type_name(ty: &Type) -> String {
    match ty {
        Type::Array(array) => format!("array of {}", type_name(&array.item.ty)),
        other => other.name(),
    }
}

/// A title made of a key: `user_password` → `User password`.
pub(crate) fn title_of(name: &str) -> String {
    let words: Vec<&str> = name.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).collect();
    let joined = words.join(" ");
    let mut chars = joined.chars();
    match chars.next() {
        Some(first) => first.to_uppercase().chain(chars).collect(),
        None => joined,
    }
}

#[cfg(test)]
mod tests {
    use super::title_of;

    #[test]
    fn titles_are_made_of_keys() {
        for (key, title) in [("user_password", "User password"), ("tls.crt", "Tls crt"), ("--", ""), ("a1__b", "A1 b")]
        {
            assert_eq!(title_of(key), title);
        }
    }
}
