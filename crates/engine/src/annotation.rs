//! All annotation names in one table, and the data of an annotation.
//!
//! Aliases are resolved here, once: code uses [`Ann`], messages show the canonical name. An
//! annotation that is not in the table is kept on its node and ignored; [`unknown`] is the warning,
//! with the name that was probably meant.

use std::sync::LazyLock;

use rustc_hash::FxHashMap;
use ytterby_diag::Pos;
use ytterby_starlark::Value;
use ytterby_text::{Str, spelling};

pub(crate) use crate::level::Level;

/// An annotation on a node, with its arguments evaluated.
#[derive(Clone, Debug)]
pub(crate) struct Annotation {
    /// Which one it is, with aliases resolved; `None` if the name is unknown.
    pub ann: Option<Ann>,
    /// The name as written, without `@`.
    pub name: Str,
    pub args: Vec<Value>,
    pub kwargs: Vec<(Str, Value)>,
    pub pos: Pos,
    /// Where each argument comes from, positional ones first; empty if all come from `pos`.
    pub origins: Vec<Pos>,
}

/// Whether two argument names of an annotation mean the same.
pub(crate) type SameKeyword = fn(Ann, &Str, &Str) -> bool;

impl Annotation {
    /// An annotation without arguments.
    #[cfg(test)]
    pub fn bare(ann: Ann, pos: Pos) -> Annotation {
        Annotation {
            ann: Some(ann),
            name: Str::from(ann.name()),
            args: Vec::new(),
            kwargs: Vec::new(),
            pos,
            origins: Vec::new(),
        }
    }

    /// Whether both are the same annotation; aliases equal their canonical names.
    pub fn same_name(&self, other: &Annotation) -> bool {
        match (self.ann, other.ann) {
            (None, None) => self.name == other.name,
            (a, b) => a == b,
        }
    }

    /// The canonical name, without `@`.
    pub fn canonical_name(&self) -> std::borrow::Cow<'_, str> {
        match self.ann {
            Some(ann) => ann.name().into(),
            None => self.name.to_str(),
        }
    }

    /// The position of the positional argument with this index.
    pub fn arg_pos(&self, number: usize) -> Pos {
        self.origins.get(number).copied().unwrap_or(self.pos)
    }

    /// The position of the keyword argument with this index.
    pub fn kwarg_pos(&self, number: usize) -> Pos {
        self.origins.get(self.args.len() + number).copied().unwrap_or(self.pos)
    }

    /// Adds the arguments of another annotation with the same name: positional ones after its own,
    /// keyword arguments replace those with the same name. Each keeps its position.
    pub fn absorb(&mut self, mut other: Annotation, aliases: SameKeyword) {
        self.spell_out();
        other.spell_out();
        self.absorb_own_keywords(&mut other, aliases);
        let mut args = std::mem::take(other.origins_mut());
        let kwargs = args.split_off(other.args.len());
        let end_of_args = self.args.len();
        let origins = self.origins_mut();
        origins.splice(end_of_args..end_of_args, args);
        origins.extend(kwargs);
        self.args.extend(other.args);
        self.kwargs.extend(other.kwargs);
    }

    /// Replaces keyword arguments by those of another annotation with the same name, if this one
    /// has them too.
    pub fn absorb_own_keywords(&mut self, other: &mut Annotation, aliases: SameKeyword) {
        let ann = self.ann;
        let is_same = |one: &Str, other: &Str| one == other || ann.is_some_and(|ann| aliases(ann, one, other));
        for number in (0..other.kwargs.len()).rev() {
            let keyword = &other.kwargs[number].0;
            let Some(own) = self.kwargs.iter().position(|(own, _)| is_same(own, keyword)) else {
                continue;
            };
            let origin = other.args.len() + number;
            let origin = other.origins_mut().remove(origin);
            self.kwargs[own] = other.kwargs.remove(number);
            let own = self.args.len() + own;
            self.origins_mut()[own] = origin;
        }
    }

    /// Replaces an alias that implies arguments by its canonical name with these arguments.
    fn spell_out(&mut self) {
        let Some(row) = self.ann.map(Ann::row) else { return };
        let alias = row.aliases.iter().find(|alias| self.name == alias.name);
        let Some(alias) = alias.filter(|alias| !alias.implied.is_empty()) else { return };
        self.name = Str::from(row.name);
        self.kwargs.extend(alias.implied.iter().map(|(name, value)| (Str::from(*name), Value::from(*value))));
    }

    /// Where each argument comes from, as an explicit list.
    fn origins_mut(&mut self) -> &mut Vec<Pos> {
        if self.origins.is_empty() {
            self.origins = vec![self.pos; self.args.len() + self.kwargs.len()];
        }
        &mut self.origins
    }

    /// The value of a keyword argument.
    pub fn kwarg(&self, name: &str) -> Option<&Value> {
        self.kwargs.iter().find(|(key, _)| *key == name).map(|(_, value)| value)
    }
}

/// The arguments of an annotation.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Takes {
    /// Any arguments; its reader checks them.
    Anything,
    /// These keyword arguments.
    Keywords(&'static [&'static str]),
    /// Exactly one argument, so that merging annotations replaces it.
    One,
    /// The same, and it is a text.
    OneText,
    /// An optional text.
    Text,
    /// Rules.
    Rules,
}

/// The meaning of an annotation inside of a node of any type, where no schema applies.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum InAny {
    /// The same as elsewhere.
    Kept,
    /// None, which causes a warning.
    Ignored,
    /// It contradicts the node around it.
    Refused,
}

/// How often an annotation may be on one node.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Times {
    Once,
    Many,
}

/// Another name of an annotation.
struct Alias {
    name: &'static str,
    /// Keyword arguments that the alias adds. Such an alias means something that no other name
    /// does, so it is suggested for misspelt names; other aliases are not.
    implied: &'static [(&'static str, Implied)],
}

/// The value of an argument that an alias implies.
#[derive(Clone, Copy)]
enum Implied {
    Text(&'static str),
    True,
}

impl From<Implied> for Value {
    fn from(implied: Implied) -> Value {
        match implied {
            Implied::Text(text) => Value::from(text),
            Implied::True => Value::Bool(true),
        }
    }
}

/// All properties of an annotation except its implementation.
struct AnnotationRow {
    ann: Ann,
    name: &'static str,
    /// The first level that has the name.
    since: Level,
    /// Other names; only Ytterby has them.
    aliases: &'static [Alias],
    takes: Takes,
    in_any: InAny,
    times: Times,
}

impl AnnotationRow {
    /// Its name and aliases.
    fn names(&self) -> impl Iterator<Item = &'static str> + use<> {
        std::iter::once(self.name).chain(self.aliases.iter().map(|alias| alias.name))
    }
}

macro_rules! annotations {
    ($($variant:ident $name:literal $since:ident [$($alias:literal $(($($argument:literal = $value:expr),*))?),*] $takes:expr, $in_any:ident, $times:ident;)*) => {
        /// The known annotations.
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
        pub(crate) enum Ann { $($variant),* }

        const TABLE: &[AnnotationRow] = &[$(AnnotationRow {
            ann: Ann::$variant,
            name: $name,
            since: Level::$since,
            aliases: &[$(Alias { name: $alias, implied: &[$($(($argument, $value)),*)?] }),*],
            takes: $takes,
            in_any: InAny::$in_any,
            times: Times::$times,
        }),*];
    };
}

use Takes::{Anything, Keywords, One, OneText, Rules, Text};

// To add an annotation, add a row here and its implementation. Messages about several annotations
// list them in this order.
annotations! {
    DataValues "data/values" Ytt049 [] Anything, Kept, Once;
    DataValuesSchema "data/values-schema" Ytt049 ["schema/definition", "schema/match", "schema"] Anything, Kept, Once;
    LibraryRef "library/ref" Ytt049 [] Anything, Kept, Once;
    YamlTextTemplatedStrings "yaml/text-templated-strings" Ytt049 [] Anything, Kept, Once;
    YamlMapKeyOverride "yaml/map-key-override" Ytt049 [] Anything, Kept, Once;
    TemplateCode "template/code" Ytt049 [] Anything, Kept, Many;
    TemplateValue "template/value" Ytt049 [] Anything, Kept, Many;
    TemplateComment "template/comment" Ytterby [] Anything, Kept, Many;
    OverlayMatch "overlay/match" Ytt049 [] Keywords(&["by", "expects", "missing_ok", "when"]), Kept, Once;
    OverlayMatchChildDefaults "overlay/match-child-defaults" Ytt049 []
        Keywords(&["expects", "missing_ok", "when"]), Kept, Once;
    OverlayMerge "overlay/merge" Ytt049 [] Keywords(&[]), Kept, Once;
    OverlayRemove "overlay/remove" Ytt049 [] Keywords(&[]), Kept, Once;
    OverlayReplace "overlay/replace" Ytt049 [] Keywords(&["via", "or_add"]), Kept, Once;
    OverlayInsert "overlay/insert" Ytt049 [] Keywords(&["before", "after", "via"]), Kept, Once;
    OverlayAppend "overlay/append" Ytt049 [] Keywords(&[]), Kept, Once;
    OverlayAssert "overlay/assert" Ytt049 [] Keywords(&["via"]), Kept, Once;
    OverlayNoop "overlay/noop" Ytterby [] Keywords(&[]), Kept, Once;
    OverlayReplaceAnns "overlay/replace-anns" Ytterby ["overlay/replace-ann"] Keywords(&["via"]), Kept, Once;
    OverlayMergeAnns "overlay/merge-anns" Ytterby ["overlay/merge-ann"] Keywords(&["via"]), Kept, Once;
    OverlayRemoveAnns "overlay/remove-anns" Ytterby ["overlay/remove-ann"] Keywords(&["via"]), Kept, Once;
    AssertValidate "assert/validate" Ytt049 [] Rules, Kept, Once;
    SchemaNullable "schema/nullable" Ytt049 [] Anything, Refused, Once;
    SchemaType "schema/type" Ytt049 [] Anything, Refused, Once;
    SchemaDefault "schema/default" Ytt049 [] One, Refused, Once;
    SchemaRequired "schema/required" Ytterby [] Text, Refused, Once;
    SchemaKey "schema/key" Ytterby [
        "schema/any-key" ("allowed" = Implied::Text("any"), "expects" = Implied::Text("0+")),
        "schema/key-may-be-present" ("missing_ok" = Implied::True)
    ] Anything, Refused, Once;
    SchemaRemoved "schema/removed" Ytterby [] OneText, Refused, Once;
    SchemaOneOf "schema/one-of" Ytterby [] Anything, Refused, Once;
    SchemaAnyOf "schema/any-of" Ytterby [] Anything, Refused, Once;
    SchemaAllOf "schema/all-of" Ytterby [] Anything, Refused, Once;
    SchemaDesc "schema/desc" Ytt049 ["schema/doc"] OneText, Ignored, Once;
    SchemaTitle "schema/title" Ytt049 [] OneText, Ignored, Once;
    SchemaExamples "schema/examples" Ytt049 [] Anything, Ignored, Once;
    SchemaExample "schema/example" Ytterby [] One, Ignored, Once;
    SchemaDeprecated "schema/deprecated" Ytt049 [] OneText, Ignored, Once;
    SchemaValidation "schema/validation" Ytt049 ["schema/validate"] Rules, Ignored, Once;
    SchemaValidationDefaultsForStrings "schema/validation-defaults-for-strings" Ytterby [] Rules, Kept, Once;
    SchemaSecret "schema/secret" Ytterby [] Anything, Ignored, Once;
}

/// The rows by name and alias: a schema asks for thousands of them.
static BY_NAME: LazyLock<FxHashMap<&[u8], &AnnotationRow>> =
    LazyLock::new(|| TABLE.iter().flat_map(|row| row.names().map(move |name| (name.as_bytes(), row))).collect());

impl Ann {
    /// The annotation with this name or alias (without `@`).
    pub fn from_name(name: &[u8], level: Level) -> Option<Ann> {
        let row = BY_NAME.get(name)?;
        let is_known = level == Level::Ytterby || (row.since == Level::Ytt049 && row.name.as_bytes() == name);
        is_known.then_some(row.ann)
    }

    /// The annotations with this meaning inside of a node of any type.
    pub fn inside_any(meaning: InAny) -> impl Iterator<Item = Ann> {
        TABLE.iter().filter(move |row| row.in_any == meaning).map(|row| row.ann)
    }

    fn row(self) -> &'static AnnotationRow {
        &TABLE[self as usize]
    }

    /// The canonical name, without `@`.
    pub fn name(self) -> &'static str {
        self.row().name
    }

    /// Whether it takes exactly one argument, so that merging annotations replaces it.
    pub fn has_one_argument(self) -> bool {
        matches!(self.row().takes, Takes::One | Takes::OneText)
    }

    /// Whether its only argument is a text.
    pub fn takes_text(self) -> bool {
        matches!(self.row().takes, Takes::OneText | Takes::Text)
    }

    /// Whether its arguments are rules.
    pub fn takes_rules(self) -> bool {
        self.row().takes == Takes::Rules
    }

    /// Its keyword arguments, if it takes nothing else.
    pub fn keywords(self) -> &'static [&'static str] {
        match self.row().takes {
            Takes::Keywords(keywords) => keywords,
            _ => &[],
        }
    }

    /// Whether it may be on a node more than once.
    pub fn may_repeat(self) -> bool {
        self.row().times == Times::Many
    }

    /// Whether the name belongs to a namespace: `ann.is_in("schema")`.
    pub fn is_in(self, namespace: &str) -> bool {
        self.name().strip_prefix(namespace).is_some_and(|rest| rest.starts_with('/'))
    }
}

/// All names, including aliases.
pub(crate) fn names() -> impl Iterator<Item = &'static str> {
    TABLE.iter().flat_map(AnnotationRow::names)
}

/// Namespaces whose unknown names are probably mistakes.
const NAMESPACES: [&str; 7] = ["schema", "overlay", "assert", "data", "library", "yaml", "template"];

/// Names that people write by mistake, and what they mean.
const MEANT: [(&str, &str); 7] = [
    ("overlay/delete", "overlay/remove"),
    ("overlay/validate", "schema/validation"),
    ("assert/validation", "assert/validate"),
    ("schema/description", "schema/desc"),
    ("schema/enum", "schema/validation"),
    ("schema/optional", "schema/nullable"),
    ("overlay/missing-child-defaults", "overlay/match-child-defaults"),
];

/// The namespace and local name, if the name is in one of Ytterby's namespaces.
pub(crate) fn split_own(name: &str) -> Option<(&str, &str)> {
    let (namespace, local) = name.split_once('/')?;
    NAMESPACES.contains(&namespace).then_some((namespace, local))
}

/// The warning about an unknown name in our namespaces.
pub(crate) fn unknown(name: &str) -> String {
    let meant = suggest(name).map(|meant| format!("; did you mean @{meant}?"));
    format!("unknown annotation @{name}{}", meant.unwrap_or_default())
}

/// The name of ours that differs only in capitals or the separator: `Schema/desc`, `schema.desc`.
pub(crate) fn disguised(name: &str) -> Option<&'static str> {
    let at = name.find(['/', ':', '.', '-', '_'])?;
    let folded = format!("{}/{}", &name[..at], &name[at + 1..]).to_lowercase();
    let known = names().find(|name| *name == folded)?;
    (known != name).then_some(known)
}

/// The canonical name that an unknown name in our namespaces was probably meant to be.
pub(crate) fn suggest(name: &str) -> Option<&'static str> {
    let (namespace, local) = split_own(name)?;
    if let Some((_, meant)) = MEANT.iter().find(|(written, _)| *written == name) {
        return Some(meant);
    }
    let with_arguments = |row: &'static AnnotationRow| row.aliases.iter().filter(|alias| !alias.implied.is_empty());
    let canonical =
        || TABLE.iter().flat_map(|row| std::iter::once(row.name).chain(with_arguments(row).map(|alias| alias.name)));
    let elsewhere = canonical().find(|known| split_own(known).is_some_and(|(_, other)| other == local));
    if elsewhere.is_some() {
        return elsewhere;
    }
    let limit = spelling::tolerance(local);
    canonical()
        .filter_map(|known| {
            let (other, known_local) = split_own(known)?;
            let is_near = other == namespace && known_local.len().abs_diff(local.chars().count()) <= limit;
            let distance = is_near.then(|| spelling::distance(local, known_local))??;
            (distance <= limit).then_some((distance, known))
        })
        .min()
        .map(|(_, known)| known)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_with_other_case_or_separator_are_recognised() {
        for (written, meant) in [
            ("Schema/desc", Some("schema/desc")),
            ("schema:validation", Some("schema/validation")),
            ("schema.one-of", Some("schema/one-of")),
            ("data-values", Some("data/values")),
            ("schema/desc", None),
            ("kapp.k14s.io/desc", None),
            ("v.name", None),
        ] {
            assert_eq!(disguised(written), meant, "{written}");
        }
    }

    #[test]
    fn suggests_what_was_meant() {
        for (written, meant) in [
            ("schema/validatoin", Some("schema/validation")),
            ("schema/xyzzy", None),
            ("overlay/delete", Some("overlay/remove")),
            ("overlay/nullable", Some("schema/nullable")),
            ("assert/validation", Some("assert/validate")),
            ("kapp/config", None),
            ("schema/anykey", Some("schema/any-key")),
            ("schema/any_key", Some("schema/any-key")),
            ("schema/kye", Some("schema/key")),
        ] {
            assert_eq!(suggest(written), meant, "{written}");
        }
    }
}
