//! Data values from flags and the environment.
//!
//! Each becomes a document of nested maps with a separate source, `(data-value arg)`, that messages
//! can show.

use std::rc::Rc;

use ytterby_diag::{Diagnostic, Failure, Id, Origin, Part, Pos, Readers, Source, ValueForm, outline_of_pair, word_at};
use ytterby_text::{Str, budget};
use ytterby_yaml::ReadOptions;

use super::envelope::{Envelope, Input};
use crate::api::{PlacedValue, ValueFromFile, ValuesFile};
use crate::deep;
use crate::input::FileKind;
use crate::node::{self, Array, ArrayItem, Document, Map, MapItem, MergePolicy, Meta, Node, Scalar};
use crate::output_documents::{OutputNode, OutputValue};
use crate::run::Run;
use crate::slips;
use crate::template;

/// The documents of all flags, in the order of precedence.
pub(crate) fn from_flags(run: &Run) -> Result<Vec<Envelope>, Failure> {
    let flags = &run.options.values;
    let maker = Maker::new(run);
    let mut found = Vec::new();
    let from_file = |failure: Failure| failure.doing("Extracting data value from file");
    for file in &flags.files {
        maker.file(file, &mut found).map_err(from_file)?;
    }
    for (prefixes, form) in [(&flags.env, ValueForm::Text), (&flags.env_yaml, ValueForm::Yaml)] {
        for prefix in prefixes {
            maker
                .env(prefix, form, &mut found)
                .map_err(|failure| failure.doing(format!("Extracting data values from env under prefix '{prefix}'")))?;
        }
    }
    // A project's values come before those of the command line.
    for value in &flags.placed {
        found.push(maker.placed(value)?);
    }
    for (pairs, form) in [(&flags.strings, ValueForm::Text), (&flags.yaml, ValueForm::Yaml)] {
        for pair in pairs {
            let made = maker.pair(pair, form);
            found.push(made.map_err(|failure| failure.doing("Extracting data value from KV"))?);
        }
    }
    for content in &flags.contents {
        found.push(maker.content(content).map_err(from_file)?);
    }
    for (form, pair) in &flags.pairs {
        let made = maker.pair(pair, *form);
        found.push(made.map_err(|failure| failure.doing("Extracting data value from KV"))?);
    }
    Ok(found)
}

/// Parses the argument of a flag as a key and a value.
const PAIRS: Readers = Readers { outline: outline_of_pair, token: word_at };

/// The separator of the keys in a path.
const IN_FLAGS: &str = ".";
const IN_VARIABLES: &str = "__";

struct Maker<'a> {
    run: &'a Run,
    /// For the maps along the path.
    merge: Rc<Meta>,
    /// For the value itself, which replaces any existing value.
    replace: Rc<Meta>,
}

impl<'a> Maker<'a> {
    fn new(run: &'a Run) -> Maker<'a> {
        Maker { run, merge: MergePolicy::MERGE.alone(), replace: MergePolicy::REPLACE.alone() }
    }

    /// `--data-values-file`.
    fn file(&self, flag: &ValuesFile, found: &mut Vec<Envelope>) -> Result<(), Failure> {
        for file in flag.files.as_ref().map_err(Clone::clone)? {
            // A directory of data values may also contain documentation and other files.
            if file.is_implied() && file.kind() != FileKind::Yaml {
                continue;
            }
            let bytes = file.content.read().map_err(|why| why.doing(format!("Reading file '{}'", file.path)))?;
            let source = self.run.add_source(file.source(bytes.clone()));
            let _working = budget::working_at(source.0, 0);
            let options = ReadOptions { strict: self.run.options.strict, ..self.run.read_options() };
            let tree = ytterby_yaml::parse(&bytes, source, &options).map_err(|error| {
                let failure = Failure::from(Diagnostic::from(error));
                let name = file.described(self.run.ytt_minor());
                failure.doing(format!("Unmarshaling YAML data values file '{name}'"))
            })?;
            slips::warn_about_repeated_keys(&tree, self.run);
            slips::warn_about_boolean_keys(&tree, self.run);
            slips::warn_about_braces(&tree, self.run);
            let documents = node::values_from_tree(&tree).items;
            for (mut doc, read) in documents.into_iter().zip(tree.documents()) {
                if doc.value.is_null() {
                    continue;
                }
                if template::has_templating(&tree)
                    && let Some(pos) = template::templating_of_document(&tree, read)
                {
                    return Err(not_plain(&flag.path, pos));
                }
                node::merge_plainly(&mut doc);
                found.push(Envelope::addressed(doc, Input::Document, &flag.library)?);
            }
        }
        Ok(())
    }

    /// `--data-values-env`, `--data-values-env-yaml`.
    fn env(&self, prefix: &str, form: ValueForm, found: &mut Vec<Envelope>) -> Result<(), Failure> {
        let (library, prefix) = split_library(prefix)?;
        let start = format!("{prefix}_");
        let flag = if form == ValueForm::Text { "data-values-env" } else { "data-values-env-yaml" };
        for (name, text) in &self.run.options.env {
            let Some(key) = name.strip_prefix(&start) else { continue };
            let flag = format!("({flag} arg) {prefix}");
            let value = self
                .value(text, form, name, Origin::Variable(form))
                .map_err(|failure| failure.doing(format!("Extracting data value from env variable '{name}'")))?;
            let pair = format!("{name}={text}").into_bytes();
            let source = Source::new(flag, pair).with_place(Some(name.as_str())).with_origin(Origin::Variable(form));
            let source = self.run.sources.add(source.with_readers(PAIRS));
            let doc = self.document(key.split(IN_VARIABLES).collect(), value, Pos::new(source, 0));
            let input = if form == ValueForm::Text { Input::EnvString } else { Input::Document };
            found.push(Envelope::addressed(doc, input, library)?.split_at(IN_VARIABLES));
        }
        Ok(())
    }

    /// `--data-value`, `--data-value-yaml`.
    fn pair(&self, pair: &str, form: ValueForm) -> Result<Envelope, Failure> {
        let (name, text) = pair.split_once('=').ok_or_else(|| no_key(pair, form))?;
        let (flag, input) = match form {
            ValueForm::Text | ValueForm::Content => ("(data-value arg)", Input::String),
            ValueForm::Yaml => ("(data-value-yaml arg)", Input::Document),
        };
        let value = self
            .value(text, form, flag, Origin::Flag(form))
            .map_err(|failure| failure.doing(format!("Deserializing value for key '{name}'")))?;
        let (library, key) = split_library(name)?;
        let source = Source::new(flag, pair.as_bytes()).with_origin(Origin::Flag(form)).with_readers(PAIRS);
        let source = self.run.sources.add(source);
        let doc = self.document(key.split(IN_FLAGS).collect(), value, Pos::new(source, 0));
        Ok(Envelope::addressed(doc, input, library)?.split_at(IN_FLAGS))
    }

    /// `--data-value-file`.
    fn content(&self, flag: &ValueFromFile) -> Result<Envelope, Failure> {
        let bytes = flag.content.read()?;
        let name = format!("(data-value-file arg) {}={}", flag.key, flag.path);
        let source = Source::new(name, bytes.clone()).with_origin(Origin::Flag(ValueForm::Content));
        let source = self.run.sources.add(source);
        let doc = self.document(flag.key.split(IN_FLAGS).collect(), Node::str(Str::new(&bytes)), Pos::new(source, 0));
        Ok(Envelope::addressed(doc, Input::Document, &flag.library)?.split_at(IN_FLAGS))
    }

    /// A value that the host read, with its position.
    fn placed(&self, given: &PlacedValue) -> Result<Envelope, Failure> {
        let (library, key) = split_library(&given.key)?;
        let pos = given.value.pos;
        let mut doc = self.document(key.split(IN_FLAGS).collect(), node_of(&given.value), pos);
        node::merge_plainly(&mut doc);
        Ok(Envelope::addressed(doc, Input::Document, library)?.split_at(IN_FLAGS))
    }

    fn value(&self, text: &str, form: ValueForm, place: &str, origin: Origin) -> Result<Node, Failure> {
        if form == ValueForm::Text {
            return Ok(Node::str(text));
        }
        // ytt has no name for this text.
        let source = Source::new("", text.as_bytes()).with_place(Some(place)).with_origin(origin);
        let source = self.run.add_source(source);
        let options = ReadOptions { strict: self.run.options.strict, comments: false, ..self.run.read_options() };
        let tree = ytterby_yaml::parse(text.as_bytes(), source, &options)
            .map_err(|error| Failure::from(Diagnostic::from(error)).doing("Deserializing YAML value"))?;
        Ok(tree.documents().first().map_or(Node::NULL, |doc| node::from_tree(&tree, doc.value)))
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

/// The node that a host describes.
pub(crate) fn node_of(given: &OutputNode) -> Node {
    match &given.value {
        OutputValue::Scalar(scalar) => Node::Scalar(scalar.clone()),
        OutputValue::Array(items) => deep(|| {
            let items = items.iter().map(|item| ArrayItem::new(node_of(item), item.pos)).collect();
            Node::array(Array { items, ..Array::default() })
        }),
        OutputValue::Map(items) => deep(|| {
            let items = items.iter().map(|(key, item)| MapItem::new(key.clone(), node_of(item), item.pos));
            Node::map(Map::from_items(items.collect()))
        }),
    }
}

/// The failure for a values file that contains code or an annotation.
fn not_plain(path: &str, pos: Pos) -> Failure {
    let text = "Expected to be plain YAML, having no annotations (hint: remove comments starting with `#@`)";
    let problem = Diagnostic::error(Id::VALUES_DOCUMENT, text).at(pos, Part::Line);
    let help = "data values with code or annotations belong in a file for -f, with #@data/values above them";
    Failure::from(problem.help(help)).doing(format!("Checking data values file '{path}'"))
}

/// The failure of a flag without a key. Its value is not shown: it may be a secret.
fn no_key(pair: &str, form: ValueForm) -> Failure {
    let hint = match form {
        ValueForm::Text | ValueForm::Content => "--data-value takes KEY=VALUE, such as db.port=80",
        ValueForm::Yaml if pair.trim_start().starts_with('{') => {
            "several values at once belong into a values file; --data-values-file - reads one from standard input"
        }
        ValueForm::Yaml => "--data-value-yaml takes KEY=VALUE, such as db.ports=[80, 81]",
    };
    Diagnostic::error(Id::VALUES_FLAG, "Expected format key=value").help(hint).into()
}

/// The library in front of a key, with its `@`, and the key.
fn split_library(text: &str) -> Result<(&str, &str), Failure> {
    let (library, key) = match text.split_once(':') {
        Some(("@", _)) => return Err(Failure::new(Id::LIBRARY_REF, "Expected library ref to not be empty")),
        Some((library, key)) if text.starts_with('@') => (library, key),
        _ => ("", text),
    };
    if key.contains(':') {
        let text = format!("Expected at most one library-key separator ':' in '{key}'");
        return Err(Failure::new(Id::LIBRARY_REF, text));
    }
    Ok((library, key))
}
