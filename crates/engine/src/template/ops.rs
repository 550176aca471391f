//! Carries out a template's operations: one [`TemplateOps`] per evaluation of a file.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use ytterby_diag::Pos;
use ytterby_starlark::{Error, Eval, OpValues, Ops, Value};
use ytterby_text::budget;

use super::build::{Built, Context, Dialect, KeyOverrides};
use super::program::GENERATED;
use super::table::{Annotate, Kind, LinkedTable, Op};
use crate::annotation::{Ann, Annotation, Level};
use crate::node::{self, Fragment, Scalar};

/// The contexts that are open while a file's program, or a function of it, runs.
pub(crate) struct TemplateOps {
    table: Rc<LinkedTable>,
    contexts: Stack,
    open: Rc<OpenContexts>,
    overrides: KeyOverrides,
    level: Level,
}

/// The contexts of one evaluation of a file.
type Stack = Rc<RefCell<Vec<Context>>>;

/// Which contexts are open in a run, whatever their files: what an error leaves open can be given up from outside.
#[derive(Default)]
pub(crate) struct OpenContexts {
    stacks: RefCell<Vec<Stack>>,
    /// How many nodes were started so far.
    nodes: Cell<u32>,
    /// Whether some node got rules for the output.
    has_output_rules: Cell<bool>,
}

/// How many nodes the templates of a run may make: some gigabytes of them. A loop that does not end makes more.
const MAX_NODES: u32 = 30_000_000;

/// What a node takes, roughly.
const NODE_BYTES: usize = 96;

impl OpenContexts {
    /// Begins to count nodes for another run.
    pub fn begin_run(&self) {
        self.unwind(0);
        self.nodes.set(0);
    }

    /// Whether some node got rules for the output (`@assert/validate`).
    pub fn has_output_rules(&self) -> bool {
        self.has_output_rules.get()
    }

    /// How many are open; [`OpenContexts::unwind`] goes back to that.
    pub fn depth(&self) -> usize {
        self.stacks.borrow().len()
    }

    /// Gives up contexts that an error left open.
    pub fn unwind(&self, depth: usize) {
        for stack in self.stacks.borrow_mut().drain(depth..).rev() {
            stack.borrow_mut().pop();
        }
    }
}

impl OpenContexts {
    fn count_node(&self) -> Result<(), String> {
        budget::memory(NODE_BYTES).and_then(|()| budget::work(1)).map_err(|exceeded| exceeded.to_string())?;
        self.nodes.set(self.nodes.get() + 1);
        if self.nodes.get() > MAX_NODES {
            return Err(format!("templates make more than {MAX_NODES} nodes (is there a loop that does not end?)"));
        }
        Ok(())
    }
}

/// What `template.replace()` returns: the node's value is left alone.
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
        self.contexts.borrow_mut().push(Context::new(dialect, self.overrides));
        self.open.stacks.borrow_mut().push(self.contexts.clone());
    }

    /// Ends the innermost context.
    pub fn end(&self) -> Result<Built, String> {
        Ok(self.end_file()?.0)
    }

    /// The same for the context of the file; also tells the overlay annotations in documents that are no overlays.
    pub fn end_file(&self) -> Result<(Built, Vec<(Ann, Pos)>), String> {
        let context = self.contexts.borrow_mut().pop();
        self.open.stacks.borrow_mut().pop();
        context.ok_or("unexpected end of a template's part")?.finish()
    }

    /// `template.replace()`.
    pub fn replace(&self, value: &Value) -> Result<Value, String> {
        self.with_context(|context| context.replace(value))?;
        Ok(Value::host(Noop))
    }

    fn with_context<R>(&self, work: impl FnOnce(&mut Context) -> Result<R, String>) -> Result<R, String> {
        let mut contexts = self.contexts.borrow_mut();
        work(contexts.last_mut().ok_or("expected a YAML node to be under construction")?)
    }

    fn end_text(&self) -> Result<ytterby_text::Str, String> {
        match self.end()? {
            Built::Text(text) => Ok(text),
            Built::Yaml(data) => Err(format!("expected a text, but was {}", data.name())),
        }
    }

    fn apply(&self, op: &Op, values: OpValues<'_>) -> Result<(), String> {
        match (op, values) {
            (Op::Nothing, _) => Ok(()),
            (Op::StartNode(tag), _) => {
                self.open.count_node()?;
                self.with_context(|context| context.start(&self.table, *tag))
            }
            (Op::SetNode(tag), _) => self.with_context(|context| context.set_source_value(self.table.value(*tag))),
            (Op::SetNodeValue, OpValues::Value(value)) => match value.downcast::<Noop>() {
                Some(_) => Ok(()),
                None => self.with_context(|context| context.set_value(&value)),
            },
            (Op::Annotate(annotate), OpValues::Args(args)) => {
                let Annotate { tag, name, pos } = &**annotate;
                let ann = Ann::from_name(name, self.level);
                if ann == Some(Ann::AssertValidate) {
                    self.open.has_output_rules.set(true);
                }
                let annotation = Annotation {
                    ann,
                    name: name.clone(),
                    args: args.positional.to_vec(),
                    kwargs: args.named.to_vec(),
                    pos: *pos,
                    origins: Vec::new(),
                };
                self.with_context(|context| {
                    context.annotate(*tag, annotation);
                    Ok(())
                })
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
                    context.set_key(*tag, text);
                    Ok(())
                })
            }
            (Op::SetNodeValue | Op::Annotate(_), _) => Err("expected a value".into()),
        }
    }
}

impl Ops for TemplateOps {
    fn op(&self, _eval: &mut Eval, op: u32, values: OpValues<'_>) -> Result<(), Error> {
        let op = self.table.op(op);
        if let Op::StartNode(tag) = op
            && let Kind::MapItem(Scalar::Complex(key)) = &self.table.node(*tag).kind
        {
            let text = format!("a {} cannot be a map key in a template", key.kind());
            return Err(Error::new(text).with_help(node::COMPLEX_KEY_HELP));
        }
        self.apply(op, values).map_err(|problem| Error::new(format!("{GENERATED}{}: {problem}", reference_name(op))))
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
        })
    }
}

/// What the reference calls an operation; its messages begin with that.
fn reference_name(op: &Op) -> &'static str {
    match op {
        Op::Nothing => "set_ctx_type",
        Op::StartNode(_) => "start_node",
        Op::SetNode(_) | Op::SetNodeValue | Op::SetNodeText => "set_node",
        Op::Annotate(_) => "start_node_annotation",
        Op::StartText => "start_ctx",
        Op::SetKeyText(_) => "set_map_item_key",
    }
}
