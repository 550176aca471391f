//! Documents of data values or schemas, addressed to a library.
//!
//! A document for a library below carries its address; each library on the way removes one step,
//! until the document arrives.

use std::cell::Cell;
use std::rc::Rc;

use ytterby_diag::{Argument, Diagnostic, Failure, Id, Part, Pos, Text};
use ytterby_starlark::Value;

use crate::annotation::{Ann, Annotation};
use crate::args::go_type;
use crate::node::{Annotated, Document};

/// The origin of a document; some messages and conversions depend on it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Input {
    /// A document of a template, or plain YAML from a file or flag.
    Document,
    /// A string from `--data-value`.
    String,
    /// A string from `--data-values-env`.
    EnvString,
    /// Code, in a call at this position.
    Code(Pos),
    /// A value that `schema.apply()` checks. It replaces values of any other kind.
    Checked,
}

/// A document and the library that it is for.
#[derive(Clone, Debug)]
pub(crate) struct Envelope {
    pub doc: Document,
    pub input: Input,
    /// The separator at which the path of its flag was split.
    pub separator: Option<&'static str>,
    /// Whether it applies after `with_data_values()`.
    pub after_library_module: bool,
    /// The remaining steps to its library.
    way: Rc<[LibraryRef]>,
    /// The full address, for messages.
    address: Rc<[LibraryRef]>,
    used: Cell<bool>,
}

/// One step of an address: `@path`, `@~alias` or `@path~alias`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct LibraryRef {
    pub path: String,
    pub alias: String,
}

impl Input {
    /// The position to use for nodes without one.
    pub fn place(self) -> Pos {
        match self {
            Input::Code(pos) => pos,
            Input::Document | Input::String | Input::EnvString | Input::Checked => Pos::UNKNOWN,
        }
    }
}

impl LibraryRef {
    /// Whether a document with the step `self` is for the library `other`.
    fn matches(&self, other: &LibraryRef) -> bool {
        match (self.path.is_empty(), self.alias.is_empty()) {
            (_, true) => self.path == other.path,
            (true, false) => self.alias == other.alias,
            (false, false) => self == other,
        }
    }

    /// Parses all steps of `@a@b~c`.
    fn parse(text: &str) -> Result<Rc<[LibraryRef]>, Failure> {
        let wrong = |why: String| Failure::new(Id::LIBRARY_REF, why);
        if text.is_empty() {
            return Err(wrong("Expected library ref to not be empty".to_owned()));
        }
        let Some(steps) = text.strip_prefix('@') else {
            return Err(wrong("Expected library ref to start with '@'".to_owned()));
        };
        let step = |step: &str| match step.split('~').collect::<Vec<_>>()[..] {
            [path] => Ok(LibraryRef { path: path.to_owned(), alias: String::new() }),
            [_, ""] => Err(wrong("Expected library alias to not be empty".to_owned())),
            [path, alias] => Ok(LibraryRef { path: path.to_owned(), alias: alias.to_owned() }),
            _ => Err(wrong(format!(
                "Expected library ref to have form: '@path', '@~alias', or '@path~alias', got: '{text}'"
            ))),
        };
        steps.split('@').map(step).collect()
    }

    fn of_annotation(ann: &Annotation) -> Result<Rc<[LibraryRef]>, Failure> {
        let wrong = |text: String| Failure::from(Diagnostic::error(Id::LIBRARY_REF, text).at(ann.pos, Part::Line));
        let [value] = &ann.args[..] else {
            return Err(wrong(format!("Expected library/ref annotation to have one arg, got {}", ann.args.len())));
        };
        match value {
            Value::Str(text) => LibraryRef::parse(&text.to_str()).map_err(|mut why| {
                why.place_at(ann.pos, Part::Line);
                why.doing("Annotation library/ref")
            }),
            other => Err(wrong(format!("expected a string, but was {}", other.type_name()))),
        }
    }
}

impl std::fmt::Display for LibraryRef {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.path)?;
        if self.alias.is_empty() { Ok(()) } else { write!(f, "~{}", self.alias) }
    }
}

impl Envelope {
    /// A document for the library that its `@library/ref` names, if it has one.
    pub fn new(doc: Document, input: Input) -> Result<Envelope, Failure> {
        let way = match doc.annotation(Ann::LibraryRef) {
            Some(ann) => LibraryRef::of_annotation(ann)?,
            None => Rc::default(),
        };
        let mut after_library_module = false;
        let (kwargs, pos) =
            doc.annotation(Ann::DataValues).map_or((&[][..], Pos::UNKNOWN), |ann| (&ann.kwargs[..], ann.pos));
        for (name, value) in kwargs {
            let name = name.to_str();
            let wrong = |text: String| {
                let part = Part::Argument(Argument::Named(name.clone().into_owned()));
                Failure::from(Diagnostic::error(Id::ANNOTATION_ARGUMENT, text).at(pos, part))
            };
            match &*name {
                "after_library_module" => {
                    let Value::Bool(after) = value else {
                        return Err(wrong(format!("expected starlark.Bool, but was {}", go_type(value))));
                    };
                    if way.is_empty() {
                        let text = "Annotation data/values: Expected kwarg 'after_library_module' to be used with \
                                    library/ref annotation";
                        return Err(wrong(text.to_owned()));
                    }
                    after_library_module = *after;
                }
                other => return Err(wrong(format!("Unknown kwarg {other} for annotation data/values"))),
            }
        }
        let address = way.clone();
        Ok(Envelope { doc, input, separator: None, after_library_module, address, way, used: Cell::new(false) })
    }

    /// A document for the library that a flag names with its `@`; empty for the root.
    pub fn addressed(doc: Document, input: Input, library: &str) -> Result<Envelope, Failure> {
        let mut envelope = Envelope::new(doc, input)?;
        if !library.is_empty() {
            envelope.way = LibraryRef::parse(library)?;
            envelope.address = envelope.way.clone();
        }
        Ok(envelope)
    }

    /// Sets the separator at which its path was split.
    pub fn split_at(self, separator: &'static str) -> Envelope {
        Envelope { separator: Some(separator), ..self }
    }

    /// Whether it is for a library below the current one.
    pub fn is_for_child(&self) -> bool {
        !self.way.is_empty()
    }

    /// Whether it was delivered to its library.
    pub fn is_used(&self) -> bool {
        self.used.get()
    }

    /// A copy for the library `name`, or for one below it, with that step removed; `None` if it is
    /// for another one.
    pub fn delivered(&self, name: &LibraryRef) -> Option<Envelope> {
        let way = match self.way.split_first() {
            None => self.way.clone(),
            Some((step, rest)) if step.matches(name) => rest.into(),
            Some(_) => return None,
        };
        self.used.set(true);
        Some(Envelope { way, used: Cell::new(false), ..self.clone() })
    }

    /// A description for messages: `Data Value belonging to library '@a@b' on line v.yml:2`.
    pub fn description(&self, what: &str) -> Text {
        let address: Vec<String> = self.address.iter().map(LibraryRef::to_string).collect();
        Text::new(format!("{what} belonging to library '@{}' on line ", address.join("@"))).at(self.doc.pos)
    }
}
