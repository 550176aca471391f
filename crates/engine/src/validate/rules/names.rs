//! Other names of the rules: those of JSON Schema and other languages, and misspellings.

use ytterby_diag::Help;
use ytterby_text::spelling;

use super::{all, find};
use crate::annotation::Level;
use crate::validate::formats;

/// Names that are not rules, in lower case without underscores, and what to write instead.
const ELSEWHERE: [(&str, &str); 52] = [
    ("additionalproperties", "@schema/any-key"),
    ("allof", "@schema/all-of"),
    ("anyof", "@schema/any-of"),
    ("atleast", "min="),
    ("atmost", "max="),
    ("choices", "one_of="),
    ("const", "one_of="),
    ("default", "@schema/default"),
    ("deprecated", "@schema/deprecated"),
    ("desc", "@schema/desc"),
    ("description", "@schema/desc"),
    ("equals", "one_of="),
    ("examples", "@schema/examples"),
    ("exclusivemaximum", "below="),
    ("exclusivemin", "above="),
    ("exclusiveminimum", "above="),
    ("exclusivemax", "below="),
    ("ge", "min="),
    ("greaterthan", "above="),
    ("gt", "above="),
    ("gte", "min="),
    ("has", "contains="),
    ("if", "when="),
    ("in", "one_of="),
    ("includes", "contains="),
    ("integer", "@schema/type"),
    ("le", "max="),
    ("length", "len="),
    ("lessthan", "below="),
    ("lt", "below="),
    ("lte", "max="),
    ("maximum", "max="),
    ("maxitems", "max_len="),
    ("maxlength", "max_len="),
    ("maxproperties", "max_len="),
    ("maxvalue", "max="),
    ("minimum", "min="),
    ("minitems", "min_len="),
    ("minlength", "min_len="),
    ("minproperties", "min_len="),
    ("minvalue", "min="),
    ("notempty", "min_len=1"),
    ("nullable", "@schema/nullable"),
    ("oneof", "one_of="),
    ("re", "matches="),
    ("regex", "matches="),
    ("required", "@schema/required"),
    ("size", "len="),
    ("suffix", "ends_with="),
    ("title", "@schema/title"),
    ("type", "@schema/type"),
    ("uniqueitems", "unique=True"),
];

/// The suggestion for a name that is not a rule: another rule with its `=`, or another annotation.
pub(crate) fn meant(name: &str, level: Level) -> Option<String> {
    let folded: String = name.chars().filter(|c| !matches!(c, '_' | '-')).flat_map(char::to_lowercase).collect();
    let is_there = |text: &str| match text.split_once('=') {
        Some((rule, _)) => rule == "when" || find(rule, level).is_some(),
        None => level == Level::Ytterby,
    };
    let elsewhere = ELSEWHERE.iter().find(|(other, meant)| *other == folded && is_there(meant));
    if let Some((_, meant)) = elsewhere {
        return Some((*meant).to_owned());
    }
    if level == Level::Ytterby && formats::find(name).is_some() {
        return Some(format!("format=\"{name}\""));
    }
    let mut names: Vec<&'static str> = all(level).map(|entry| entry.name).chain(["when"]).collect();
    names.sort_unstable();
    spelling::closest(name, names, spelling::tolerance(name)).map(|name| format!("{name}="))
}

/// The hint about a name that is not a rule.
pub(crate) fn hint(name: &str, level: Level) -> Help {
    match meant(name, level) {
        Some(meant) => {
            let text = format!("did you mean {meant}?");
            match meant.strip_suffix('=') {
                Some(rule) => Help::rename_argument(text, name, rule),
                None => text.into(),
            }
        }
        None => {
            let names: Vec<&str> = all(level).map(|entry| entry.name).collect();
            format!("rules are {} and when", names.join(", ")).into()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_languages_are_understood() {
        for (written, want) in [
            ("minLength", "min_len="),
            ("minimum", "min="),
            ("exclusiveMinimum", "above="),
            ("uniqueItems", "unique=True"),
            ("regex", "matches="),
            ("required", "@schema/required"),
            ("const", "one_of="),
            ("multipleOf", "multiple_of="),
            ("notnull", "not_null="),
            ("startsWith", "starts_with="),
            ("email", "format=\"email\""),
            ("min_length", "min_len="),
        ] {
            assert_eq!(meant(written, Level::Ytterby).as_deref(), Some(want), "{written}");
        }
        assert_eq!(meant("regex", Level::Ytt049), None);
        assert_eq!(meant("xyzzyxyzzy", Level::Ytterby), None);
        assert!(hint("xyzzyxyzzy", Level::Ytterby).text.plain().starts_with("rules are min_len, max_len, min,"));
    }

    #[test]
    fn every_suggestion_exists() {
        for (_, meant) in ELSEWHERE {
            match (meant.split_once('='), meant.strip_prefix('@')) {
                (Some((rule, _)), _) => assert!(rule == "when" || find(rule, Level::Ytterby).is_some(), "{rule}"),
                (_, Some(ann)) => assert!(crate::annotation::names().any(|name| name == ann), "{ann}"),
                _ => panic!("{meant}"),
            }
        }
    }
}
