//! Executes a template's operations: one [`TemplateOps`] per evaluation of a file.
//!
//! The program calls operations by number. Each one acts on the innermost open context, which
//! builds documents or text ([`ResultBuilder`]).

use std::cell::RefCell;
use std::rc::Rc;

use ytterby_diag::Pos;
use ytterby_starlark::{Error, Eval, OpValues, Ops, Value};
use ytterby_text::Str;

use super::build::{Becomes, Built, Dialect, KeyOverrides, ResultBuilder};
use super::item_writer::ItemWriter;
use super::pending::Pending;
use super::program::GENERATED;
use super::table::{Annotate, LinkedTable, NodeNumber, Op, TemplateNode};
use crate::annotation::{Ann, Annotation, Level};
use crate::contexts::{Building, OpenContexts};
use crate::node::{self, Fragment};
use crate::record::Replaced;

/// The open contexts while a file's program, or a function of it, runs.
pub(crate) struct TemplateOps {
    table: Rc<LinkedTable>,
    contexts: Stack,
    open: Rc<OpenContexts>,
    overrides: KeyOverrides,
    level: Level,
}

/// The contexts of one evaluation of a file.
type Stack = Rc<RefCell<Vec<Context>>>;

/// One result under construction.
enum Context {
    Builder(ResultBuilder),
    /// Of a file whose items are written when they begin.
    Writer(ItemWriter),
}

impl Building for RefCell<Vec<Context>> {
    fn give_up(&self) {
        self.borrow_mut().pop();
    }
}

/// The result of `template.replace()`: the node's value is not changed.
pub(crate) struct Noop;

impl ytterby_starlark::HostValue for Noop {
    fn type_name(&self) -> &str {
        "noop"
    }

    fn write_repr(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(b"noop");
    }
}

impl TemplateOps {
    pub fn new(table: Rc<LinkedTable>, overrides: KeyOverrides, level: Level, open: Rc<OpenContexts>) -> TemplateOps {
        TemplateOps { table, contexts: Stack::default(), open, overrides, level }
    }

    /// Begins a context.
    pub fn begin(&self, dialect: Dialect) {
        self.begin_with(Context::Builder(ResultBuilder::new(dialect, self.overrides)));
    }

    /// Begins the context of a YAML file.
    pub fn begin_file(&self, becomes: Becomes) {
        self.begin_with(match becomes {
            Becomes::Nodes => Context::Builder(ResultBuilder::new(Dialect::Yaml, self.overrides)),
            Becomes::TextOfDocuments => Context::Builder(ResultBuilder::of_documents(self.overrides)),
            Becomes::TextOfItems => Context::Writer(ItemWriter::default()),
        });
    }

    fn begin_with(&self, context: Context) {
        self.contexts.borrow_mut().push(context);
        self.open.begin(self.contexts.clone());
    }

    /// Ends the innermost context.
    pub fn end(&self) -> Result<Built, String> {
        Ok(self.end_file()?.0)
    }

    /// The same for the context of the file; also returns the overlay annotations in documents that
    /// are not overlays.
    pub fn end_file(&self) -> Result<(Built, Vec<(Ann, Pos)>), String> {
        let context = self.contexts.borrow_mut().pop();
        self.open.end();
        match context.ok_or("unexpected end of a template's part")? {
            Context::Builder(context) => context.finish(),
            Context::Writer(context) => Ok(context.finish()),
        }
    }

    /// `template.replace()`.
    pub fn replace(&self, value: &Value) -> Result<Value, String> {
        self.with_context(|context| match context {
            Context::Builder(context) => context.replace(value),
            Context::Writer(_) => Err("a file that replaces nodes has to load @ytt:template by this name".into()),
        })?;
        Ok(Value::host(Noop))
    }

    /// What the last call of `template.replace()` replaced, for records.
    pub fn replaced(&self) -> Option<Replaced> {
        match self.contexts.borrow().last()? {
            Context::Builder(context) => context.replaced(),
            Context::Writer(_) => None,
        }
    }

    #[inline]
    fn with_context<R>(&self, work: impl FnOnce(&mut Context) -> Result<R, String>) -> Result<R, String> {
        let mut contexts = self.contexts.borrow_mut();
        work(contexts.last_mut().ok_or("expected a YAML node to be under construction")?)
    }

    fn end_text(&self) -> Result<Str, String> {
        match self.end()? {
            Built::Text(text) => Ok(text),
            Built::Yaml(data) => Err(format!("expected a text, but was {}", data.name())),
            Built::Written(_) => Err("expected a text, but was document set".into()),
        }
    }

    fn annotate(&self, annotate: &Annotate, args: Vec<Value>, kwargs: Vec<(Str, Value)>) -> Result<(), String> {
        let Annotate { tag, name, pos, .. } = annotate;
        let ann = annotate.ann(self.level);
        if ann == Some(Ann::AssertValidate) {
            self.open.note_output_rules();
        }
        let annotation = Annotation { ann, name: name.clone(), args, kwargs, pos: *pos, origins: Vec::new() };
        self.with_context(|context| {
            context.pending().annotate(*tag, annotation);
            Ok(())
        })
    }

    fn apply(&self, op: &Op, values: OpValues<'_>) -> Result<(), String> {
        match (op, values) {
            (Op::Nothing, _) => Ok(()),
            (Op::StartNode(_) | Op::StartLeaf(_) | Op::StartNested(_), _) => {
                self.open.count_nodes(op.nodes())?;
                self.with_context(|context| context.start_op(&self.table, op))
            }
            (Op::SetNode(tag), _) => self.with_context(|context| context.set_source_value(&self.table, *tag)),
            (Op::SetNodeValue, OpValues::Value(value)) => match value.downcast::<Noop>() {
                Some(_) => Ok(()),
                None => self.with_context(|context| context.set_value(&value)),
            },
            (Op::Annotate(annotate), OpValues::Args(args)) => {
                self.annotate(annotate, args.positional.to_vec(), args.named.to_vec())
            }
            (Op::Annotate(annotate), OpValues::None) => match &annotate.literals {
                Some(literals) => self.annotate(annotate, literals.positional(), literals.named()),
                None => Err("expected a value".into()),
            },
            (Op::AddText(tag), _) => {
                self.open.count_nodes(1)?;
                self.with_context(|context| context.add_text(self.table.node(*tag)))
            }
            (Op::AddTextValue(tag), OpValues::Value(value)) => {
                self.open.count_nodes(1)?;
                self.with_context(|context| context.add_text_value(self.table.node(*tag), &value))
            }
            (Op::StartText, _) => {
                self.begin(Dialect::Text);
                Ok(())
            }
            (Op::SetNodeText, _) => {
                let text = self.end_text()?;
                self.with_context(|context| context.set_value(&Value::Str(text)))
            }
            (Op::SetKeyText(tag), _) => {
                let text = self.end_text()?;
                self.with_context(|context| {
                    context.pending().set_key(*tag, text);
                    Ok(())
                })
            }
            (Op::SetNodeValue | Op::AddTextValue(_) | Op::Annotate(_), _) => Err("expected a value".into()),
        }
    }
}

impl Context {
    fn pending(&mut self) -> &mut Pending {
        match self {
            Context::Builder(context) => &mut context.pending,
            Context::Writer(context) => &mut context.pending,
        }
    }

    /// Does an operation that starts nodes.
    #[inline]
    fn start_op(&mut self, table: &LinkedTable, op: &Op) -> Result<(), String> {
        match self {
            Context::Builder(context) => match *op {
                Op::StartLeaf(tag) => {
                    context.start(table, tag)?;
                    context.set_source_value(table, tag)
                }
                Op::StartNested(tag) => {
                    context.start(table, tag)?;
                    context.start(table, tag + 1)
                }
                Op::StartNode(tag) => context.start(table, tag),
                _ => Ok(()),
            },
            Context::Writer(context) => context.start_op(table, op),
        }
    }

    #[inline]
    fn set_source_value(&mut self, table: &LinkedTable, tag: NodeNumber) -> Result<(), String> {
        match self {
            Context::Builder(context) => context.set_source_value(table, tag),
            Context::Writer(context) => context.set_source_value(table, tag),
        }
    }

    #[inline]
    fn set_value(&mut self, value: &Value) -> Result<(), String> {
        match self {
            Context::Builder(context) => context.set_value(value),
            Context::Writer(context) => context.set_value(value),
        }
    }

    fn add_text(&mut self, node: &TemplateNode) -> Result<(), String> {
        match self {
            Context::Builder(context) => context.add_text(node),
            Context::Writer(_) => Err(node.kind.no_place()),
        }
    }

    fn add_text_value(&mut self, node: &TemplateNode, value: &Value) -> Result<(), String> {
        match self {
            Context::Builder(context) => context.add_text_value(node, value),
            Context::Writer(_) => Err(node.kind.no_place()),
        }
    }
}

impl Ops for TemplateOps {
    fn op(&self, _eval: &mut Eval, op: u32, values: OpValues<'_>) -> Result<(), Error> {
        let op = self.table.op(op);
        if let Some(key) = self.table.complex_key(op) {
            let (kind, cause) = (key.kind(), node::COMPLEX_KEY_CAUSE);
            let text = format!("a {kind} cannot be a map key in a template ({cause})");
            return Err(Error::new(text).with_help(node::COMPLEX_KEY_HELP));
        }
        self.apply(op, values).map_err(|problem| problem_of(op, &problem))
    }

    fn run(&self, _eval: &mut Eval, first: u32, count: u16) -> Result<bool, Error> {
        let mut contexts = self.contexts.borrow_mut();
        let Some(Context::Writer(writer)) = contexts.last_mut() else { return Ok(false) };
        let started = writer.start_run(&self.table, first, count.into(), &self.open);
        started.map_err(|problem| problem_of(self.table.op(first), &problem))
    }

    fn enter(&self, _eval: &mut Eval, dialect: u8) -> Result<(), Error> {
        self.begin(if dialect == Dialect::Text as u8 { Dialect::Text } else { Dialect::Yaml });
        Ok(())
    }

    fn leave(&self, _eval: &mut Eval, result: Option<Value>) -> Result<Value, Error> {
        let built = self.end().map_err(|problem| Error::new(format!("{GENERATED}end_ctx: {problem}")))?;
        Ok(match (result, built) {
            (Some(value), _) => value,
            (None, Built::Yaml(data)) => Value::host(Fragment::from(data)),
            (None, Built::Text(text)) => Value::Str(text),
            // Only files are written early.
            (None, Built::Written(_)) => Value::None,
        })
    }
}

fn problem_of(op: &Op, problem: &str) -> Error {
    Error::new(format!("{GENERATED}{}: {problem}", reference_name(op)))
}

/// The reference's name of an operation; its messages begin with it.
fn reference_name(op: &Op) -> &'static str {
    match op {
        Op::Nothing => "set_ctx_type",
        Op::StartNode(_) | Op::StartLeaf(_) | Op::StartNested(_) | Op::AddText(_) => "start_node",
        Op::SetNode(_) | Op::SetNodeValue | Op::AddTextValue(_) | Op::SetNodeText => "set_node",
        Op::Annotate(_) => "start_node_annotation",
        Op::StartText => "start_ctx",
        Op::SetKeyText(_) => "set_map_item_key",
    }
}
