//! The YAML front end: converts a tree with comments to a program.
//!
//! For every node it writes the code above it, its annotations, *start node*, then the expression
//! for its value or its children. Nodes without code or annotation below them are created once and
//! shared by all evaluations.

use std::cell::OnceCell;
use std::collections::HashSet;

use ytterby_diag::{Diagnostic, Id, ListingStyle, Part, Pos, Text};
use ytterby_text::Str;
use ytterby_yaml::{ArrayItem, Comment, Commented, Document, MapItem, NodeId, Scalar, Tree, View};

use super::Malformed;
use super::build::Dialect;
use super::comment::{self, Content, Meta, UnknownComments};
use super::literal;
use super::program::{OperationArgs, ProgramWriter};
use super::table::{Annotate, NodeNumber, Op, SourceValue, TemplateNodeKind};
use super::text;
use crate::annotation::Ann;
use crate::node;
use crate::run::Run;

const YAML: u8 = Dialect::Yaml as u8;

/// Whether the file has any code or annotation; if not, it is plain YAML.
pub(crate) fn has_templating(tree: &Tree) -> bool {
    tree.all_comments().iter().any(comment::is_templating)
}

/// The position of the first code or annotation in this document. Comments after its last node
/// belong to the next document.
pub(crate) fn templating_of_document(tree: &Tree, doc: &Document) -> Option<Pos> {
    templating(tree, doc).or_else(|| templating_below(tree, doc.value))
}

fn templating_below(tree: &Tree, id: NodeId) -> Option<Pos> {
    match tree.value(id) {
        View::Scalar(_) => None,
        View::Map(items) => {
            items.iter().find_map(|item| templating(tree, item).or_else(|| templating_below(tree, item.value)))
        }
        View::Array(items) => {
            items.iter().find_map(|item| templating(tree, item).or_else(|| templating_below(tree, item.value)))
        }
    }
}

fn templating(tree: &Tree, owner: &impl Commented) -> Option<Pos> {
    tree.comments(owner).iter().find(|comment| comment::is_templating(comment)).map(|comment| comment.pos)
}

/// Whether a node has an annotation with this name (without `@`).
pub(crate) fn annotates(tree: &Tree, owner: &impl Commented, name: &str) -> bool {
    tree.comments(owner).iter().any(|comment| comment::annotates(comment, name))
}

/// How the arguments of annotations become part of a program.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Arguments {
    /// As code, always: for tools that read or observe it.
    Code,
    /// Literals are read at once, the rest is code.
    LiteralsOrCode,
}

/// Whether a comment may be code that gives another meaning to `True` and the like.
fn binds_names(comment: &Comment) -> bool {
    let text = &comment.text;
    (text.starts_with(b"@ ") || text.starts_with(b"@template/")) && literal::mentions_names(text)
}

/// The program of a file.
pub(crate) fn write_program<'a>(
    tree: &'a Tree,
    run: &'a Run,
    unknown: UnknownComments,
    arguments: Arguments,
) -> Result<ProgramWriter<'a>, Malformed> {
    let mut writer = ProgramWriter::new(tree.file(), ListingStyle::Yaml);
    writer.generated_op(Op::Nothing, YAML, "set_ctx_type(\"yaml\")");
    writer.generated_op(Op::Nothing, YAML, "start_ctx(\"yaml\")");
    let (dynamic, has_names) = (dynamic_nodes(tree), OnceCell::new());
    let mut front = FrontEnd { tree, run, unknown, arguments, has_names, dynamic, writer };
    front.document_set()?;
    front.writer.generated_op(Op::Nothing, YAML, "end_ctx(None)");
    Ok(front.writer)
}

struct FrontEnd<'a> {
    tree: &'a Tree,
    run: &'a Run,
    unknown: UnknownComments,
    arguments: Arguments,
    /// Whether `True` and the like have their values everywhere.
    has_names: OnceCell<bool>,
    /// Collections that have code or annotations on their items or deeper.
    dynamic: HashSet<NodeId>,
    writer: ProgramWriter<'a>,
}

/// The parsed comments of one node.
#[derive(Default)]
struct Metas<'a> {
    code: Vec<(std::borrow::Cow<'a, str>, Pos)>,
    values: Vec<Content<'a>>,
    annotations: Vec<(&'a str, Content<'a>, Pos)>,
    needs_end: bool,
}

/// The item that contains a value, and its key.
#[derive(Clone, Copy)]
enum ContainingItem<'a> {
    Document,
    Map(&'a Scalar),
    Array,
}

/// Whether `(@ … @)` in strings is code.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Strings {
    Plain,
    Templated,
}

impl<'a> FrontEnd<'a> {
    fn document_set(&mut self) -> Result<(), Malformed> {
        let tag = self.writer.table.add_node(0, Pos::UNKNOWN, TemplateNodeKind::DocumentSet, SourceValue::NULL);
        let shown = self.writer.count_tags(1);
        self.start(tag, shown, Pos::UNKNOWN);
        for doc in self.tree.documents() {
            let comments = self.tree.comments(doc);
            self.item(tag, ContainingItem::Document, doc.pos, doc.value, comments, Strings::Plain)?;
        }
        Ok(())
    }

    /// A document, map item or array item.
    fn item(
        &mut self,
        parent: NodeNumber,
        kind: ContainingItem<'a>,
        pos: Pos,
        value: NodeId,
        comments: &'a [Comment],
        mut strings: Strings,
    ) -> Result<(), Malformed> {
        let metas = self.metas(comments, pos, value)?;
        let (kind, key) = match kind {
            ContainingItem::Document => (TemplateNodeKind::Document, None),
            ContainingItem::Map(key) => (TemplateNodeKind::MapItem(key.clone()), key.as_str()),
            ContainingItem::Array => (TemplateNodeKind::ArrayItem, None),
        };
        let tag = self.writer.table.add_node(parent, pos, kind, SourceValue::NULL);
        let shown = self.writer.count_tags(1);
        if metas.annotations.iter().any(|(name, ..)| *name == Ann::YamlTextTemplatedStrings.name()) {
            strings = Strings::Templated;
        }
        for (code, at) in metas.code {
            self.writer.code(code, at);
        }
        for (name, args, at) in metas.annotations {
            if ends_string(name) {
                // Code without the blank after `#@`. The reference puts the name into a string and
                // so finds that it is not a valid name; this does the same, with the name at its
                // position.
                let start = Pos::new(at.file, (at.offset + 2).saturating_sub(3));
                // At the very beginning of a file, the first letter makes room for the prefix.
                let shown =
                    if at.offset == 0 { name.trim_start_matches(|c: char| c.is_ascii_alphabetic()) } else { name };
                self.writer.code(format!("a(\"{shown}\", a({}))", args.text), start);
                continue;
            }
            let literals = match self.arguments {
                Arguments::Code => None,
                Arguments::LiteralsOrCode => literal::read(args.text, &|| self.has_names()),
            };
            let given = if literals.is_some() { OperationArgs::None } else { OperationArgs::Call(args) };
            let op = Op::Annotate(Box::new(Annotate::new(tag, name, at, literals)));
            self.writer.op(op, YAML, given, at);
        }
        if let (Some(key), Strings::Templated) = (key, strings) {
            self.string(key, pos, Op::SetKeyText(tag))?;
        }
        self.start(tag, shown, pos);
        if metas.values.is_empty() {
            self.value(tag, pos, value, strings)?;
        }
        // Comments after the last node belong to a generated document, which is never visible.
        let is_written = pos.is_known();
        for content in metas.values {
            let op = if is_written { Op::SetNodeValue } else { Op::Nothing };
            self.writer.op(op, YAML, OperationArgs::Expr(content), content.at);
        }
        if metas.needs_end {
            self.writer.generated_code("end");
        }
        Ok(())
    }

    /// The value of a document, map item or array item in the source.
    fn value(&mut self, parent: NodeNumber, pos: Pos, value: NodeId, strings: Strings) -> Result<(), Malformed> {
        let view = self.tree.value(value);
        match view {
            View::Scalar(Scalar::Str(text)) if strings == Strings::Templated => {
                return self.string(text, pos, Op::SetNodeText);
            }
            View::Map(items) if strings == Strings::Templated || self.dynamic.contains(&value) => {
                let distinct = !node::has_duplicate_keys(items);
                let kind = TemplateNodeKind::Map { items: items.len() as u32, distinct };
                let tag = self.collection(parent, pos, kind);
                for item in items {
                    let comments = self.tree.comments(item);
                    self.item(tag, ContainingItem::Map(&item.key), item.pos, item.value, comments, strings)?;
                }
                return Ok(());
            }
            View::Array(items) if strings == Strings::Templated || self.dynamic.contains(&value) => {
                let tag = self.collection(parent, pos, TemplateNodeKind::Array(items.len() as u32));
                for item in items {
                    let comments = self.tree.comments(item);
                    self.item(tag, ContainingItem::Array, item.pos, item.value, comments, strings)?;
                }
                return Ok(());
            }
            View::Scalar(_) => {}
            View::Map(_) | View::Array(_) => {
                let nodes = count_nodes(self.tree, value);
                self.writer.count_tags(nodes);
            }
        }
        self.writer.table.set_value(parent, self.tree, value);
        self.set(parent, pos);
        Ok(())
    }

    fn has_names(&self) -> bool {
        *self.has_names.get_or_init(|| !self.tree.all_comments().iter().any(binds_names))
    }

    fn collection(&mut self, parent: NodeNumber, pos: Pos, kind: TemplateNodeKind) -> NodeNumber {
        let tag = self.writer.table.add_node(parent, pos, kind, SourceValue::NULL);
        let shown = self.writer.count_tags(1);
        let is_fused = pos.is_known() && tag == parent + 1 && self.writer.fuse(Op::StartNested(parent));
        if !is_fused {
            self.start(tag, shown, pos);
        }
        tag
    }

    fn start(&mut self, tag: NodeNumber, shown: u32, pos: Pos) {
        let op = Op::StartNode(tag);
        if pos.is_known() {
            return self.writer.op(op, YAML, OperationArgs::None, pos);
        }
        let described = debug_comment(&self.writer.table.node(tag).kind);
        self.writer.generated_op(op, YAML, format!("start_node({shown}) # {described}"));
    }

    fn set(&mut self, tag: NodeNumber, pos: Pos) {
        if pos.is_known() {
            if !self.writer.fuse(Op::StartLeaf(tag)) {
                self.writer.op(Op::SetNode(tag), YAML, OperationArgs::None, pos);
            }
            return;
        }
        let described = debug_comment(&self.writer.table.node(tag).kind);
        let shown = self.writer.count_tags(0);
        self.writer.generated_op(Op::SetNode(tag), YAML, format!("set_node({shown}) # {described}"));
    }

    /// A string that may contain `(@ … @)`; `then` receives the text.
    fn string(&mut self, value: &'a Str, pos: Pos, then: Op) -> Result<(), Malformed> {
        text::write_inline(&mut self.writer, self.run, value, pos)?;
        let at = pos;
        self.writer.op(then, YAML, OperationArgs::None, at);
        self.writer.generated_op(Op::Nothing, YAML, "set_ctx_type(\"yaml\")");
        Ok(())
    }

    fn metas(&self, comments: &'a [Comment], pos: Pos, value: NodeId) -> Result<Metas<'a>, Malformed> {
        let mut metas = Metas::default();
        let sources = &self.run.sources;
        for comment in comments {
            match comment::read(comment, pos, sources, self.unknown)? {
                Meta::Comment => {}
                Meta::Value(content) => {
                    if !matches!(self.tree.value(value), View::Scalar(Scalar::Null)) {
                        let text = Text::new("Expected YAML node at line ")
                            .at(comment.pos)
                            .then(" to have either computed or YAML value, but found both");
                        let problem = Diagnostic::error(Id::CODE_TEMPLATE, text).at(comment.pos, Part::Line);
                        return Err(Box::new(problem.help("remove the value before the comment, or the code in it")));
                    }
                    metas.values.push(content);
                }
                Meta::Code(content) => {
                    if metas.needs_end {
                        let text = Text::new("Unexpected code at line ")
                            .at(comment.pos)
                            .then(" after use of '*/end', expected YAML node");
                        return Err(Box::new(Diagnostic::error(Id::CODE_TEMPLATE, text).at(comment.pos, Part::Line)));
                    }
                    match without_node_sugar(content.text) {
                        Some(code) => {
                            metas.needs_end = true;
                            metas.code.push((code.into(), content.at));
                        }
                        None => metas.code.push((content.text.into(), content.at)),
                    }
                }
                Meta::Annotation { name, args } => metas.annotations.push((name, args, comment.pos)),
            }
        }
        Ok(metas)
    }
}

/// `if/end x:` as `if     x:`: a block around the one node that follows. Blanks keep the columns of
/// the code after it.
fn without_node_sugar(code: &str) -> Option<String> {
    let trimmed = code.trim_start();
    let indent = &code[..code.len() - trimmed.len()];
    ["if", "else", "elif", "for", "def"].iter().find_map(|keyword| {
        let rest = trimmed.strip_prefix(keyword)?.strip_prefix("/end")?;
        Some(format!("{indent}{keyword}    {rest}"))
    })
}

/// The description of a node in the reference's generated lines.
fn debug_comment(kind: &TemplateNodeKind) -> String {
    match kind {
        TemplateNodeKind::DocumentSet => "*yamlmeta.DocumentSet".into(),
        TemplateNodeKind::Document => "*yamlmeta.Document".into(),
        TemplateNodeKind::Map { .. } => "*yamlmeta.Map".into(),
        TemplateNodeKind::MapItem(key) => format!("*yamlmeta.MapItem key={}", node::key_text(key)),
        TemplateNodeKind::Array(_) => "*yamlmeta.Array".into(),
        TemplateNodeKind::ArrayItem => "*yamlmeta.ArrayItem idx=?".into(),
        TemplateNodeKind::Text => "*texttemplate.NodeText".into(),
    }
}

/// The collections with comments or duplicate keys on their items or below: they are built item by
/// item.
fn dynamic_nodes(tree: &Tree) -> HashSet<NodeId> {
    let mut dynamic = HashSet::new();
    for doc in tree.documents() {
        mark_dynamic(tree, doc.value, &mut dynamic);
    }
    dynamic
}

fn mark_dynamic(tree: &Tree, id: NodeId, dynamic: &mut HashSet<NodeId>) -> bool {
    let is_dynamic = match tree.value(id) {
        View::Scalar(_) => false,
        View::Map(items) => {
            let below = items.iter().fold(false, |any, item: &MapItem| {
                mark_dynamic(tree, item.value, dynamic) | has_comments(tree, item) | any
            });
            // A key that is a collection is an error when it is evaluated, as in the reference.
            let has_complex_key = items.iter().any(|item| matches!(item.key, Scalar::Complex(_)));
            below || has_complex_key || node::has_duplicate_keys(items)
        }
        View::Array(items) => items.iter().fold(false, |any, item: &ArrayItem| {
            mark_dynamic(tree, item.value, dynamic) | has_comments(tree, item) | any
        }),
    };
    if is_dynamic {
        dynamic.insert(id);
    }
    is_dynamic
}

fn has_comments(tree: &Tree, item: &impl Commented) -> bool {
    tree.comments(item).iter().any(|comment| !comment.text.starts_with(b"!"))
}

/// Whether a name would end a quoted string.
fn ends_string(name: &str) -> bool {
    let mut bytes = name.bytes();
    while let Some(byte) = bytes.next() {
        match byte {
            b'"' => return true,
            b'\\' if bytes.next().is_none() => return true,
            _ => {}
        }
    }
    false
}

/// The number of nodes that the reference counts in a value.
fn count_nodes(tree: &Tree, id: NodeId) -> u32 {
    match tree.value(id) {
        View::Scalar(_) => 0,
        View::Map(items) => 1 + items.iter().map(|item| 1 + count_nodes(tree, item.value)).sum::<u32>(),
        View::Array(items) => 1 + items.iter().map(|item| 1 + count_nodes(tree, item.value)).sum::<u32>(),
    }
}
