//! The documentation of a schema: one list of fields, depth first, that every format renders.
//!
//! Paths, titles, defaults and remarks are computed here, once, so that YAML, Markdown and HTML
//! show the same facts. Formats decide about layout only.

use ytterby_text::{Str, budget};

use super::defaults::rules_hold;
use super::schema::is_made_of_items;
use crate::limits::working_at;
use crate::node::{self, Node};
use ytterby_diag::{Pos, REDACTED};

use crate::schema::{
    AllowedKeys, DEPRECATED, Docs, Example, MapType, Presence, Remark, Schema, Shapes, Slot, Type, redact,
};
use crate::validate::{Described, Detail};

/// The documentation of a schema.
pub(crate) struct Model {
    pub title: Option<Str>,
    pub documentation: Option<Str>,
    pub rules: Vec<Described>,
    pub ty: Type,
    pub type_name: String,
    pub nullable: bool,
    pub fields: Vec<DocumentedField>,
}

/// One field.
pub(crate) struct DocumentedField {
    /// A unique path: keys may contain dots, so `path` may be ambiguous.
    pub id: String,
    /// The key; for an array item the array's key and `[]`.
    pub name: String,
    /// The path from the root: `databases[].name`.
    pub path: String,
    /// The number of fields above it.
    pub depth: usize,
    pub title: String,
    pub documentation: Option<Str>,
    pub ty: Type,
    pub type_name: String,
    pub nullable: bool,
    pub default: Option<Node>,
    pub required: bool,
    pub remarks: Vec<Remark>,
    pub secret: bool,
    pub examples: Vec<Example>,
    pub rules: Vec<Described>,
    pub presence: When,
    /// Whether it is required because the default violates the rules.
    pub lacks_default: bool,
    /// The default of a map, if it differs from its items' defaults.
    pub own_default: Option<Node>,
    /// Where it is declared.
    pub pos: Pos,
}

impl DocumentedField {
    /// The notice about its deprecation.
    pub fn deprecated(&self) -> Option<&Str> {
        self.remarks.iter().find(|remark| remark.name == DEPRECATED).map(|remark| &remark.text)
    }
}

/// When a field is present.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum When {
    Always,
    /// If it is given.
    Given,
    /// For each key that matches this description.
    Matching(String),
}

impl Described {
    /// The text, with the hint in parentheses.
    pub fn explained(&self) -> String {
        match &self.hint {
            Some(hint) => format!("{} ({hint})", self.text),
            None => self.text.clone(),
        }
    }
}

/// The fields of a schema.
pub(crate) fn model(schema: &Schema, detail: Detail<'_>) -> Model {
    let root = &schema.root;
    charge_texts(&root.docs);
    let mut walk = FieldCollector { fields: Vec::new(), detail };
    let above = Above { id: String::new(), path: String::new(), name: String::new(), depth: 0, secret: root.secret };
    walk.children(&root.ty, &above);
    Model {
        title: root.docs.title.clone(),
        documentation: root.docs.description.clone(),
        rules: rules(root, detail),
        ty: root.ty.clone(),
        type_name: type_name(&root.ty),
        nullable: root.nullable || lists_null(&root.ty),
        fields: walk.fields,
    }
}

/// Charges the copies of titles, descriptions and remarks while they are escaped and laid out.
pub(super) fn charge_texts(docs: &Docs) {
    const COPIES: usize = 5;
    let texts = [&docs.title, &docs.description].into_iter().flatten().map(|text| text.len());
    let bytes: usize = texts.chain(docs.remarks().iter().map(|remark| remark.text.len())).sum();
    budget::or_unwind(budget::text(COPIES * bytes));
}

/// The field above.
struct Above {
    id: String,
    path: String,
    name: String,
    depth: usize,
    secret: bool,
}

struct FieldCollector<'a> {
    fields: Vec<DocumentedField>,
    detail: Detail<'a>,
}

impl FieldCollector<'_> {
    fn children(&mut self, ty: &Type, above: &Above) {
        crate::deep(|| match ty {
            Type::Map(map) => self.items(map, above),
            Type::Array(array) => {
                let item = &array.item;
                let inside = Above {
                    id: format!("{}\0[]", above.id),
                    path: format!("{}[]", above.path),
                    name: format!("{}[]", above.name),
                    depth: above.depth,
                    secret: above.secret || item.secret,
                };
                if matches!(item.ty, Type::Map(_)) || !item.annotated {
                    return self.children(&item.ty, &inside);
                }
                self.fields.push(self.field(item, &inside, Shows::NoDefault, When::Given));
                self.children(&item.ty, &Above { depth: inside.depth + 1, ..inside });
            }
            Type::Union(union) => {
                for member in &union.members {
                    self.children(member, above);
                }
            }
            Type::Shapes(shapes) => self.shapes(shapes, above),
            Type::Any | Type::Scalar(_) => {}
        });
    }

    /// The fields of each shape, with its number in their paths: `backup (1).bucket`. Changes of
    /// shapes are reported as a whole.
    fn shapes(&mut self, shapes: &Shapes, above: &Above) {
        if matches!(self.detail, Detail::Sources(_)) {
            return;
        }
        for (at, shape) in shapes.slots.iter().enumerate() {
            let number = at + 1;
            let inside = Above {
                id: format!("{}\0({number})", above.id),
                path: format!("{} ({number})", above.path).trim_start().to_owned(),
                name: above.name.clone(),
                depth: above.depth,
                secret: above.secret || shape.secret,
            };
            self.children(&shape.ty, &inside);
        }
    }

    fn items(&mut self, map: &MapType, above: &Above) {
        for item in map.all_items() {
            let key = node::key_text(&item.key);
            let prefix = if above.path.is_empty() { String::new() } else { format!("{}.", above.path) };
            let (step, shows, when) = match &item.presence {
                Presence::Removed(_) => continue,
                Presence::Always if item.slot.required.is_none() => (&*key, Shows::Default, When::Always),
                Presence::Always => (&*key, Shows::NoDefault, When::Always),
                Presence::Optional(_) => (&*key, Shows::NoDefault, When::Given),
                Presence::Pattern(rule) => {
                    let keys = rule.allowed.as_ref().map(AllowedKeys::keys).unwrap_or_default();
                    ("*", Shows::NoDefault, When::Matching(keys))
                }
            };
            let own = Above {
                id: match &when {
                    When::Matching(_) => format!("{}\0*", above.id),
                    When::Always | When::Given => format!("{}\0.{step}", above.id),
                },
                path: format!("{prefix}{step}"),
                name: key.to_string(),
                depth: above.depth,
                secret: above.secret || item.slot.secret,
            };
            self.fields.push(self.field(&item.slot, &own, shows, when));
            self.children(&item.slot.ty, &Above { depth: own.depth + 1, ..own });
        }
    }

    fn field(&self, slot: &Slot, at: &Above, shows: Shows, presence: When) -> DocumentedField {
        let _working = working_at(slot.pos);
        let Docs { title, description, examples, .. } = &slot.docs;
        charge_texts(&slot.docs);
        let is_map = matches!(slot.ty, Type::Map(_)) && !slot.default.is_null();
        let redacted = |value: &Node| match self.detail {
            // It is compared, not shown.
            Detail::Sources(_) => value.clone(),
            Detail::Texts if at.secret => Node::str(REDACTED),
            Detail::Texts => redact(value, slot),
        };
        let examples = examples.iter().map(|example| Example { value: redacted(&example.value), ..example.clone() });
        let shows_default = shows == Shows::Default;
        let is_own = slot.ty.as_map().is_some_and(|ty| !is_made_of_items(&slot.default, ty));
        DocumentedField {
            id: at.id.clone(),
            name: at.name.clone(),
            path: at.path.clone(),
            depth: at.depth,
            title: title.as_ref().map_or_else(|| title_of(&at.name), ToString::to_string),
            documentation: description.clone(),
            ty: slot.ty.clone(),
            type_name: type_name(&slot.ty),
            nullable: slot.nullable || lists_null(&slot.ty),
            default: (shows_default && !is_map).then(|| redacted(&slot.default)),
            required: slot.required.is_some(),
            remarks: slot.docs.remarks(),
            secret: at.secret,
            examples: examples.collect(),
            rules: rules(slot, self.detail),
            presence,
            lacks_default: shows_default && !rules_hold(slot, &slot.default),
            own_default: (shows_default && is_map && is_own).then(|| redacted(&slot.default)),
            pos: slot.pos,
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Shows {
    Default,
    NoDefault,
}

/// All rules in one sentence; `None` if there are none.
pub(super) fn must_be(rules: &[Described]) -> Option<String> {
    let texts: Vec<String> = rules.iter().map(|rule| rule.explained()).collect();
    (!texts.is_empty()).then(|| format!("Must be: {}.", texts.join("; ")))
}

/// The rules of a slot, and those about the keys of a map. Documentation also contains what a
/// required value should be, and the shapes.
pub(super) fn rules(slot: &Slot, detail: Detail<'_>) -> Vec<Described> {
    let mut rules = Vec::new();
    if let Detail::Texts = detail {
        let required = slot.required.as_ref().and_then(|required| required.description.as_ref());
        rules.extend(required.map(|text| said(text.to_string())));
        if let Type::Shapes(shapes) = &slot.ty {
            rules.push(said(format!("{}: {}", shapes.must_be(), shapes.in_words())));
            for (at, shape) in shapes.slots.iter().enumerate() {
                let own = shape.rules.as_deref().map(|rules| rules.described(detail)).unwrap_or_default();
                rules.extend(own.into_iter().map(|rule| said(format!("shape {}: {}", at + 1, rule.text))));
            }
        }
    }
    rules.extend(slot.rules.as_deref().map(|rules| rules.described(detail)).unwrap_or_default());
    let items = slot.ty.as_map().into_iter().flat_map(|ty| ty.all_items());
    for item in items.filter(|item| !item.presence.accepts_any_number()) {
        if let Presence::Optional(rule) | Presence::Pattern(rule) = &item.presence {
            rules.push(said(rule.must_be(&item.key)));
        }
    }
    rules
}

/// A rule that is known only by its text.
fn said(text: String) -> Described {
    Described {
        id: None,
        argument: None,
        meaning: text.clone(),
        text,
        hint: None,
        limits: Vec::new(),
        without_condition: None,
    }
}

/// `string`, `array of map`, `integer or string`, `one of 2 shapes`; null is handled separately.
pub(super) fn type_name(ty: &Type) -> String {
    match ty {
        Type::Shapes(shapes) => shapes.type_name(),
        Type::Array(array) => format!("array of {}", type_name(&array.item.ty)),
        other => other.name_besides_null(),
    }
}

/// Whether null is among the listed types.
pub(super) fn lists_null(ty: &Type) -> bool {
    matches!(ty, Type::Union(_)) && ty.allows_null()
}

/// A title for a key: `user_password` → `User password`.
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
