//! Data values from flags and the environment.
//!
//! Each becomes a document of nested maps with a source of its own, `(data-value arg)`, that messages can show.

use std::rc::Rc;

use ytterby_diag::{Diagnostic, Kind, Note, Pos, Severity};
use ytterby_starlark::Value;
use ytterby_text::Str;
use ytterby_yaml::ReadOptions;

use super::envelope::{Envelope, Input};
use crate::annotation::{Ann, Annotation};
use crate::api::{Failure, ValueFromFile, ValuesFile};
use crate::input::FileKind;
use crate::node::{self, Document, Map, MapItem, Meta, Node, Scalar};
use crate::overlay;
use crate::run::Run;
use crate::template;
use crate::traps;

/// The documents of all flags, in the order in which they count.
pub(crate) fn from_flags(run: &Run) -> Result<Vec<Envelope>, Failure> {
    let flags = &run.options.values;
    let maker = Maker::new(run);
    let mut found = Vec::new();
    let from_file = |failure: Failure| failure.prefixed("Extracting data value from file: ");
    for file in &flags.files {
        maker.file(file, &mut found).map_err(from_file)?;
    }
    for (prefixes, form) in [(&flags.env, Form::Text), (&flags.env_yaml, Form::Yaml)] {
        for prefix in prefixes {
            maker.env(prefix, form, &mut found).map_err(|failure| {
                failure.prefixed(&format!("Extracting data values from env under prefix '{prefix}': "))
            })?;
        }
    }
    for (pairs, form) in [(&flags.strings, Form::Text), (&flags.yaml, Form::Yaml)] {
        for pair in pairs {
            let made = maker.pair(pair, form);
            found.push(made.map_err(|failure| failure.prefixed("Extracting data value from KV: "))?);
        }
    }
    for content in &flags.contents {
        found.push(maker.content(content).map_err(from_file)?);
    }
    Ok(found)
}

/// What stands between the keys of a path.
const IN_FLAGS: &str = ".";
const IN_VARIABLES: &str = "__";

/// How the text of a value is read.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Form {
    Text,
    Yaml,
}

struct Maker<'a> {
    run: &'a Run,
    /// On the maps along a key.
    merge: Rc<Meta>,
    /// On the value itself, which takes the place of whatever is there.
    replace: Rc<Meta>,
}

impl<'a> Maker<'a> {
    fn new(run: &'a Run) -> Maker<'a> {
        let yes = |name: &str| vec![(Str::from(name), Value::Bool(true))];
        let matching = Annotation { kwargs: yes("missing_ok"), ..Annotation::bare(Ann::OverlayMatch, Pos::UNKNOWN) };
        let replacing = Annotation { kwargs: yes("or_add"), ..Annotation::bare(Ann::OverlayReplace, Pos::UNKNOWN) };
        let meta = |annotations| Rc::new(Meta { annotations, ..Meta::default() });
        Maker { run, merge: meta(vec![matching.clone()]), replace: meta(vec![matching, replacing]) }
    }

    /// `--data-values-file`.
    fn file(&self, flag: &ValuesFile, found: &mut Vec<Envelope>) -> Result<(), Failure> {
        for file in flag.files.as_ref().map_err(|why| Failure::new(why.clone()))? {
            // Beside data values, a directory may hold documentation and the like.
            if file.is_implied() && file.kind() != FileKind::Yaml {
                continue;
            }
            let bytes = file.content.read().map_err(|why| {
                let why = Failure::from(why);
                why.prefixed(&format!("Reading file '{}': ", file.path))
            })?;
            let source = self.run.sources.add_file(&*file.path, file.place.as_deref(), bytes.clone());
            let options = ReadOptions { strict: self.run.options.strict, comments: true };
            let tree = ytterby_yaml::parse(&bytes, source, &options).map_err(|error| {
                let text = format!("Unmarshaling YAML data values file '{}': {error}", file.path);
                let diagnostic = Diagnostic::new(Severity::Error, Kind::Other, error.message);
                let diagnostics = vec![Diagnostic { from: Some(error.pos), ..diagnostic }];
                Failure { diagnostics, ..self.of_yaml(text) }
            })?;
            traps::warn_about_repeated_keys(&tree, self.run);
            traps::warn_about_boolean_keys(&tree, self.run);
            let documents = node::values_from_tree(&tree).items;
            for (mut doc, read) in documents.into_iter().zip(tree.documents()) {
                if doc.value.is_null() {
                    continue;
                }
                if template::has_templating(&tree)
                    && let Some(pos) = template::templating_of_document(&tree, read)
                {
                    return Err(self.not_plain(&flag.path, pos));
                }
                overlay::annotate_for_plain_merge(&mut doc);
                found.push(Envelope::addressed(doc, Input::Document, &flag.library)?);
            }
        }
        Ok(())
    }

    /// A values file with code or an annotation at a place. Its line is not shown: it may hold a secret.
    fn not_plain(&self, path: &str, pos: Pos) -> Failure {
        let mut failure = Failure::new(format!(
            "Checking data values file '{path}': Expected to be plain YAML, having no annotations (hint: remove comments starting with `#@`)"
        ));
        let hint = "data values with code or annotations belong into a file for -f, with #@data/values above them";
        failure.message.note(Note::Text(format!("    = at: {}", self.run.locate(pos))));
        failure.message.note(Note::Text(format!("    = hint: {hint}")));
        failure.message.shows([pos]);
        let diagnostic = Diagnostic::new(Severity::Error, Kind::Other, failure.message.text());
        failure.diagnostics.push(Diagnostic { from: Some(pos), hints: vec![hint.to_owned()], ..diagnostic });
        failure
    }

    /// `--data-values-env`, `--data-values-env-yaml`.
    fn env(&self, prefix: &str, form: Form, found: &mut Vec<Envelope>) -> Result<(), Failure> {
        let (library, prefix) = split_library(prefix)?;
        let start = format!("{prefix}_");
        let flag = if form == Form::Text { "data-values-env" } else { "data-values-env-yaml" };
        for (name, text) in &self.run.options.env {
            let Some(key) = name.strip_prefix(&start) else { continue };
            let flag = format!("({flag} arg) {prefix}");
            let value = self
                .value(text, form, &flag)
                .map_err(|failure| failure.prefixed(&format!("Extracting data value from env variable '{name}': ")))?;
            let source = self.run.sources.add(flag, format!("{name}={text}").into_bytes());
            let doc = self.document(key.split(IN_VARIABLES).collect(), value, Pos::new(source, 0));
            let input = if form == Form::Text { Input::EnvString } else { Input::Document };
            found.push(Envelope::addressed(doc, input, library)?.split_at(IN_VARIABLES));
        }
        Ok(())
    }

    /// `--data-value`, `--data-value-yaml`.
    fn pair(&self, pair: &str, form: Form) -> Result<Envelope, Failure> {
        let (name, text) = pair.split_once('=').ok_or_else(|| no_key(pair, form))?;
        let (flag, input) = match form {
            Form::Text => ("(data-value arg)", Input::String),
            Form::Yaml => ("(data-value-yaml arg)", Input::Document),
        };
        let value = self
            .value(text, form, flag)
            .map_err(|failure| failure.prefixed(&format!("Deserializing value for key '{name}': ")))?;
        let (library, key) = split_library(name)?;
        let source = self.run.sources.add(flag, pair.as_bytes());
        let doc = self.document(key.split(IN_FLAGS).collect(), value, Pos::new(source, 0));
        Ok(Envelope::addressed(doc, input, library)?.split_at(IN_FLAGS))
    }

    /// `--data-value-file`.
    fn content(&self, flag: &ValueFromFile) -> Result<Envelope, Failure> {
        let bytes = flag.content.read()?;
        let name = format!("(data-value-file arg) {}={}", flag.key, flag.path);
        let source = self.run.sources.add(name, bytes.clone());
        let doc = self.document(flag.key.split(IN_FLAGS).collect(), Node::str(Str::new(&bytes)), Pos::new(source, 0));
        Ok(Envelope::addressed(doc, Input::Document, &flag.library)?.split_at(IN_FLAGS))
    }

    fn value(&self, text: &str, form: Form, flag: &str) -> Result<Node, Failure> {
        if form == Form::Text {
            return Ok(Node::str(text));
        }
        let source = self.run.sources.add_part(flag, text.as_bytes());
        let options = ReadOptions { strict: self.run.options.strict, comments: false };
        let tree = ytterby_yaml::parse(text.as_bytes(), source, &options)
            .map_err(|error| self.of_yaml(format!("Deserializing YAML value: {error}")))?;
        Ok(tree.documents().first().map_or(Node::NULL, |doc| node::from_tree(&tree, doc.value)))
    }

    /// A failure to read YAML. The reference cuts texts at brackets, which such texts are about; rich messages do not.
    fn of_yaml(&self, text: String) -> Failure {
        let failure = Failure::new(text);
        match self.run.options.rich {
            true => Failure { message: failure.message.keeping_brackets(), ..failure },
            false => failure,
        }
    }

    /// A document that sets one value.
    fn document(&self, keys: Vec<&str>, value: Node, pos: Pos) -> Document {
        let mut meta = &self.replace;
        let mut value = value;
        for key in keys.into_iter().rev() {
            let item = MapItem { meta: Some(meta.clone()), ..MapItem::new(Scalar::from(key), value, pos) };
            value = Node::map(Map::from_items(vec![item]));
            meta = &self.merge;
        }
        Document::new(value, pos)
    }
}

/// The failure of a flag without a key. What it gives is not shown: it may be a secret.
fn no_key(pair: &str, form: Form) -> Failure {
    let hint = match form {
        Form::Text => "--data-value takes KEY=VALUE, such as db.port=80",
        Form::Yaml if pair.trim_start().starts_with('{') => {
            "several values at once belong into a values file; --data-values-file - reads one from standard input"
        }
        Form::Yaml => "--data-value-yaml takes KEY=VALUE, such as db.ports=[80, 81]",
    };
    Failure::hinted("Expected format key=value", Some(hint.to_owned()))
}

/// The library in front of a key, with its `@`, and the key.
fn split_library(text: &str) -> Result<(&str, &str), Failure> {
    let (library, key) = match text.split_once(':') {
        Some(("@", _)) => return Err(Failure::new("Expected library ref to not be empty")),
        Some((library, key)) if text.starts_with('@') => (library, key),
        _ => ("", text),
    };
    if key.contains(':') {
        return Err(Failure::new(format!("Expected at most one library-key separator ':' in '{key}'")));
    }
    Ok((library, key))
}
