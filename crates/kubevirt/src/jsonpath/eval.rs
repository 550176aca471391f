//! Evaluates a path on a VM.
//!
//! The reference walks Go structs, where every field that is not a pointer exists and a nil pointer
//! is a result; the specification is about JSON, where absent values do not exist, except scalars
//! with a default. Both are one walk over pairs of a JSON value and its [`VmField`], in one of
//! three [`World`]s.

use std::cmp::Ordering;

use super::{Filter, JsonPath, JsonPathStep, Literal, Slice, TemplatePart};
use crate::budget::{Budget, Exhausted};
use crate::schema::{self, FieldKind, VmField};
use crate::value::Value;

/// Maximum values that one path may visit, so that nested unions and descents end.
const BUDGET: usize = 2_000_000;

/// Which values exist.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum World {
    /// The specification's: given values, and defaults of scalars whose parent is given.
    Specification,
    /// The reference's, on the VM as a Go struct.
    Struct,
    /// The reference's fallback: a VM with every pointer of `.spec.domain` set and long lists of
    /// zeros.
    ReferenceVm,
}

/// A result of a path.
#[derive(Clone, Copy, Debug)]
pub struct PathResult<'a> {
    /// The values that were found.
    pub seen: FoundValue<'a>,
    /// Its field, if it is in the table.
    pub field: Option<&'static VmField>,
    /// The value itself; if it is not given, the innermost given value around it.
    pub near: Option<&'a Value>,
}

/// The kind of a result.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum FoundValue<'a> {
    /// A value that the VM gives.
    Given(&'a Value),
    /// Not given, but the field exists.
    Unset,
    /// A nil pointer, which is a result only for the reference.
    Nil,
    /// A literal of the path itself.
    Literal(&'a Literal),
    /// Text between expressions.
    Text(&'a str),
}

/// The reason that a path has no results.
#[derive(Clone, PartialEq, Debug)]
pub enum Missing {
    /// An unknown field.
    Field(String),
    /// An index or slice outside of its list.
    Bounds(String),
    /// Anything else: not a list, not comparable, not supported.
    Other(String),
}

impl Missing {
    fn other<T>(text: impl Into<String>) -> Result<T, Missing> {
        Err(Missing::Other(text.into()))
    }
}

/// Whether a path has the same results in two VMs, or none in both.
pub(crate) fn selects_same(path: &JsonPath, one: &Value, other: &Value) -> bool {
    match (find(path, one, World::Specification), find(path, other, World::Specification)) {
        (Ok(one), Ok(other)) => one.iter().map(|item| item.seen).eq(other.iter().map(|item| item.seen)),
        (Err(_), Err(_)) => true,
        _ => false,
    }
}

/// All results of a path on a VM, in order.
pub fn find<'a>(path: &'a JsonPath, vm: &'a Value, world: World) -> Result<Vec<PathResult<'a>>, Missing> {
    find_within(path, vm, world, &Budget::default())
}

/// All results of a path on a VM, in order, within a budget.
pub fn find_within<'a>(
    path: &'a JsonPath,
    vm: &'a Value,
    world: World,
    budget: &Budget<'_>,
) -> Result<Vec<PathResult<'a>>, Missing> {
    let most = BUDGET.min(budget.visits_left());
    let mut walk = PathWalk { world, budget: most };
    let found = walk.find(path, vm);
    match budget.visit(most - walk.budget) {
        Err(Exhausted) if found.is_err() => Missing::other(Exhausted::message()),
        _ => found,
    }
}

impl PathWalk {
    fn find<'a>(&mut self, path: &'a JsonPath, vm: &'a Value) -> Result<Vec<PathResult<'a>>, Missing> {
        let world = self.world;
        let seen = if world == World::ReferenceVm { FoundValue::Unset } else { FoundValue::Given(vm) };
        let root = PathResult { seen, field: Some(schema::vm()), near: Some(vm) };
        let mut results = Vec::new();
        for part in &path.parts {
            match part {
                TemplatePart::Text(text) => {
                    results.push(PathResult { seen: FoundValue::Text(text), field: None, near: None })
                }
                TemplatePart::Expression(steps) => results.extend(self.steps(vec![root], steps)?),
            }
        }
        if world == World::Specification {
            let before = results.len();
            results.retain(|item| item.exists());
            if results.is_empty() && before > 0 {
                return Err(Missing::Field(last_name(path)));
            }
        }
        Ok(results)
    }
}

fn last_name(path: &JsonPath) -> String {
    path.text.rsplit('.').next().unwrap_or_default().to_owned()
}

impl<'a> PathResult<'a> {
    fn given(value: &'a Value, field: Option<&'static VmField>) -> PathResult<'a> {
        PathResult { seen: FoundValue::Given(value), field, near: Some(value) }
    }

    /// Whether it exists according to the specification: absent lists and objects are walked
    /// through but are no results.
    fn exists(&self) -> bool {
        match self.seen {
            FoundValue::Unset => self.field.is_some_and(VmField::has_default),
            FoundValue::Nil => false,
            FoundValue::Given(value) => !value.is_null(),
            FoundValue::Literal(_) | FoundValue::Text(_) => true,
        }
    }

    fn kind(&self) -> Option<FieldKind> {
        self.field.map(|field| field.kind)
    }
}

struct PathWalk {
    world: World,
    budget: usize,
}

impl PathWalk {
    fn steps<'a>(
        &mut self,
        start: Vec<PathResult<'a>>,
        steps: &'a [JsonPathStep],
    ) -> Result<Vec<PathResult<'a>>, Missing> {
        let mut items = start;
        for step in steps {
            items = self.step(items, step)?;
            self.spend(items.len())?;
        }
        Ok(items)
    }

    fn spend(&mut self, count: usize) -> Result<(), Missing> {
        match self.budget.checked_sub(count) {
            Some(left) => {
                self.budget = left;
                Ok(())
            }
            None => {
                self.budget = 0;
                Missing::other(format!("the path passes through more than {BUDGET} values"))
            }
        }
    }

    fn step<'a>(&mut self, items: Vec<PathResult<'a>>, step: &'a JsonPathStep) -> Result<Vec<PathResult<'a>>, Missing> {
        match step {
            JsonPathStep::Field(name) => {
                let found: Vec<PathResult<'a>> = items.iter().filter_map(|item| self.field(item, name)).collect();
                if found.is_empty() && !items.is_empty() {
                    return Err(Missing::Field(name.clone()));
                }
                Ok(found)
            }
            JsonPathStep::Wildcard => Ok(items.iter().flat_map(|item| self.contents(item)).collect()),
            JsonPathStep::Recursive => self.descend(items),
            JsonPathStep::Slice(slice) => self.slice(items, slice),
            JsonPathStep::Union(alternatives) => {
                let mut found = Vec::new();
                for steps in alternatives {
                    found.extend(self.steps(items.clone(), steps)?);
                    self.spend(found.len())?;
                }
                Ok(found)
            }
            JsonPathStep::Filter(filter) => self.filter(items, filter),
            JsonPathStep::Literal(literal) => Ok(items
                .iter()
                .map(|_| PathResult { seen: FoundValue::Literal(literal), field: None, near: None })
                .collect()),
            JsonPathStep::Identifier(word) => Missing::other(format!("`{word}` is no step of a path")),
        }
    }

    fn field<'a>(&self, item: &PathResult<'a>, name: &str) -> Option<PathResult<'a>> {
        match (self.world, item.field) {
            (World::Specification, _) => self.specified_field(item, name),
            (_, Some(field)) => self.struct_field(item, field, name),
            (_, None) => match item.seen {
                FoundValue::Given(value) => value.get(name).map(|value| PathResult::given(value, None)),
                _ => None,
            },
        }
    }

    /// Specification: a given value, a default below a given object, or an absent list or object to
    /// walk through.
    fn specified_field<'a>(&self, item: &PathResult<'a>, name: &str) -> Option<PathResult<'a>> {
        let field = item.field.and_then(|field| field.child(name));
        if let FoundValue::Given(value) = item.seen {
            match value {
                Value::Object(_) => {}
                _ => return None,
            }
            if let Some(value) = value.get(name).filter(|value| !value.is_null()) {
                return Some(PathResult::given(value, field));
            }
        }
        let field = field?;
        let exists = match item.seen {
            FoundValue::Given(_) => field.has_default() || !field.pointer && !field.kind.is_scalar(),
            FoundValue::Unset => !field.pointer && !field.kind.is_scalar(),
            _ => false,
        };
        let unset = PathResult { seen: FoundValue::Unset, field: Some(field), near: item.near };
        (exists && item.kind() != Some(FieldKind::Map)).then_some(unset)
    }

    /// Go: the struct decides what exists, by JSON name or Go name; unknown keys are
    /// dropped.
    fn struct_field<'a>(&self, item: &PathResult<'a>, field: &'static VmField, name: &str) -> Option<PathResult<'a>> {
        let given = match item.seen {
            FoundValue::Given(value) => Some(value),
            FoundValue::Unset => None,
            _ => return None,
        };
        if field.kind == FieldKind::Map {
            let value = given?.get(name)?;
            return Some(PathResult::given(value, field.child(name)));
        }
        if field.kind != FieldKind::Object {
            return None;
        }
        let child = field.child(name).filter(|child| !child.is_new).or_else(|| {
            let go_name = name.starts_with(char::is_uppercase);
            field.children().find(|child| go_name && !child.is_new && child.name.eq_ignore_ascii_case(name))
        });
        let Some(child) = child else {
            // The table only contains the VM's template.
            let outside = field.path.is_empty() && !std::ptr::eq(field, schema::template());
            let value = given.filter(|_| outside)?.get(name)?;
            return Some(PathResult::given(value, None));
        };
        Some(self.member(given.and_then(|value| value.get(child.name)), child, item.near))
    }

    fn member<'a>(
        &self,
        value: Option<&'a Value>,
        field: &'static VmField,
        parent: Option<&'a Value>,
    ) -> PathResult<'a> {
        let allocated =
            self.world == World::ReferenceVm && (field.path.is_empty() || field.path.starts_with(".spec.domain"));
        let value = value.filter(|value| !value.is_null());
        let seen = match value {
            Some(value) => FoundValue::Given(value),
            None if field.pointer && !allocated => FoundValue::Nil,
            None => FoundValue::Unset,
        };
        PathResult { seen, field: Some(field), near: value.or(parent) }
    }

    /// Fields, values or items.
    fn contents<'a>(&self, item: &PathResult<'a>) -> Vec<PathResult<'a>> {
        if let Some(items) = self.list(item) {
            return items;
        }
        match (self.world, item.field, item.seen) {
            (World::Struct | World::ReferenceVm, Some(field), FoundValue::Given(_) | FoundValue::Unset)
                if field.kind == FieldKind::Object =>
            {
                let get = |child: &VmField| match item.seen {
                    FoundValue::Given(value) => value.get(child.name),
                    _ => None,
                };
                field.children().map(|child| self.member(get(child), child, item.near)).collect()
            }
            (_, field, FoundValue::Given(Value::Object(entries))) => entries
                .iter()
                .filter(|(_, value)| !value.is_null())
                .map(|(key, value)| PathResult::given(value, field.and_then(|field| field.child(key))))
                .collect(),
            _ => Vec::new(),
        }
    }

    /// The items of a list, if this is one; empty for an absent list.
    fn list<'a>(&self, item: &PathResult<'a>) -> Option<Vec<PathResult<'a>>> {
        let field = item.field.and_then(VmField::item);
        match item.seen {
            FoundValue::Given(Value::Array(values)) => {
                Some(values.iter().map(|value| PathResult::given(value, field)).collect())
            }
            FoundValue::Unset if item.kind() == Some(FieldKind::Array) => {
                let count = match (self.world, item.field) {
                    (World::ReferenceVm, Some(field)) if field.path.starts_with(".spec.domain") => match field.name {
                        "ports" => 16,
                        "ntpServers" => 8,
                        _ => 64,
                    },
                    _ => 0,
                };
                Some(vec![PathResult { seen: FoundValue::Unset, field, near: item.near }; count])
            }
            _ => None,
        }
    }

    /// All collections, outermost first.
    fn descend<'a>(&mut self, items: Vec<PathResult<'a>>) -> Result<Vec<PathResult<'a>>, Missing> {
        let mut found = Vec::new();
        let mut stack: Vec<PathResult<'a>> = items.into_iter().rev().collect();
        while let Some(item) = stack.pop() {
            let contents = self.contents(&item);
            self.spend(contents.len())?;
            // kubectl skips empty ones; according to the specification an object exists, and so do
            // its defaults.
            let written =
                self.world == World::Specification && matches!(item.seen, FoundValue::Given(Value::Object(_)));
            if written || !contents.is_empty() {
                found.push(item);
                stack.extend(contents.into_iter().rev());
            }
        }
        Ok(found)
    }

    fn slice<'a>(&self, items: Vec<PathResult<'a>>, slice: &Slice) -> Result<Vec<PathResult<'a>>, Missing> {
        let mut found = Vec::new();
        for item in &items {
            if matches!(item.seen, FoundValue::Nil) {
                continue;
            }
            let Some(list) = self.list(item) else {
                return Missing::other("an index is asked of what is no list");
            };
            let len = list.len() as i64;
            let mut start = slice.start.unwrap_or(0);
            if start < 0 {
                start += len;
            }
            let mut end = slice.end.unwrap_or(len);
            if end < 0 || end == 0 && slice.single {
                end += len;
            }
            if start == end {
                // kubectl forgets the remaining lists here; the specification does not.
                if self.world == World::Specification {
                    continue;
                }
                return Ok(found);
            }
            if start < 0 || start >= len || end < 0 || end > len || start > end {
                let wanted = if slice.single { format!("index {start}") } else { format!("slice {start}:{end}") };
                return Err(Missing::Bounds(format!("{wanted} of a list of {len}")));
            }
            let step = slice.step.unwrap_or(1);
            if step <= 0 {
                return Missing::other("the step of a slice must be above 0");
            }
            let step = usize::try_from(step).unwrap_or(usize::MAX);
            found.extend(list[start as usize..end as usize].iter().step_by(step));
        }
        Ok(found)
    }

    fn filter<'a>(&mut self, items: Vec<PathResult<'a>>, filter: &'a Filter) -> Result<Vec<PathResult<'a>>, Missing> {
        let mut found = Vec::new();
        for item in &items {
            let Some(list) = self.list(item) else {
                return Missing::other("what is no list cannot be filtered");
            };
            for element in list {
                if self.passes(element, filter)? {
                    found.push(element);
                }
            }
        }
        Ok(found)
    }

    fn passes<'a>(&mut self, element: PathResult<'a>, filter: &'a Filter) -> Result<bool, Missing> {
        let specification = self.world == World::Specification;
        let left = self.steps(vec![element], &filter.left);
        if filter.operator == "exists" {
            return Ok(match left {
                Ok(left) if specification => left.iter().any(PathResult::exists),
                Ok(left) => !left.is_empty(),
                // In kubectl a failed index keeps its input, which then exists.
                Err(Missing::Bounds(_)) => !specification,
                Err(_) => false,
            });
        }
        // Specification: an element without the field does not match; kubectl fails.
        let left = match left {
            Err(Missing::Field(_) | Missing::Bounds(_)) if specification => return Ok(false),
            left => left?,
        };
        let Some(left) = single(&left)? else { return Ok(false) };
        let right = self.steps(vec![element], &filter.right)?;
        let Some(right) = single(&right)? else { return Ok(false) };
        let order = compare(left, right, specification)?;
        let ordered = |test: fn(Ordering) -> bool| match order {
            Compared::Ordered(order) => Ok(test(order)),
            _ => Missing::other("the filter compares what has no order"),
        };
        let equal = !matches!(order, Compared::Different | Compared::Ordered(Ordering::Less | Ordering::Greater));
        match filter.operator.as_str() {
            "==" => Ok(equal),
            "!=" => Ok(!equal),
            "<" => ordered(Ordering::is_lt),
            "<=" => ordered(Ordering::is_le),
            ">" => ordered(Ordering::is_gt),
            ">=" => ordered(Ordering::is_ge),
            other => Missing::other(format!("`{other}` is no operator of a filter")),
        }
    }
}

fn single<'i, 'a>(items: &'i [PathResult<'a>]) -> Result<Option<&'i PathResult<'a>>, Missing> {
    match items {
        [] => Ok(None),
        [item] => Ok(Some(item)),
        _ => Missing::other("a filter compares one value at a time"),
    }
}

enum Compared {
    Ordered(Ordering),
    Same,
    Different,
}

fn compare(left: &PathResult<'_>, right: &PathResult<'_>, specification: bool) -> Result<Compared, Missing> {
    if !specification && [left, right].iter().any(|item| item.field.is_some_and(|f| f.pointer)) {
        return Missing::other("a pointer cannot be compared");
    }
    let (Some(left), Some(right)) = (left.scalar(), right.scalar()) else {
        return Missing::other("only scalars can be compared");
    };
    match (&left, &right) {
        (Value::String(left), Value::String(right)) => Ok(Compared::Ordered(left.cmp(right))),
        (Value::Bool(left), Value::Bool(right)) => Ok(if left == right { Compared::Same } else { Compared::Different }),
        _ => match (left.as_number(), right.as_number()) {
            (Some(left), Some(right)) => Ok(Compared::Ordered(left.cmp(&right))),
            _ if specification => Ok(Compared::Different),
            _ => Missing::other("incompatible types for comparison"),
        },
    }
}

impl PathResult<'_> {
    /// The scalar of this result: a given value, a literal or a default.
    pub fn scalar(&self) -> Option<Value> {
        match self.seen {
            FoundValue::Given(value) => match value {
                Value::Null | Value::Array(_) | Value::Object(_) => None,
                value => Some(value.clone()),
            },
            FoundValue::Unset => self.field.and_then(default),
            FoundValue::Nil => None,
            FoundValue::Literal(literal) => Some(match literal {
                Literal::Int(value) => Value::Int(i128::from(*value)),
                Literal::Float(value) => Value::Float(*value),
                Literal::Bool(value) => Value::Bool(*value),
                Literal::Text(text) => Value::from(text.as_str()),
            }),
            FoundValue::Text(text) => Some(Value::from(text)),
        }
    }
}

/// The default of an unset scalar field.
pub fn default(field: &VmField) -> Option<Value> {
    match field.kind {
        FieldKind::String => Some(Value::from("")),
        FieldKind::Integer | FieldKind::Quantity | FieldKind::IntOrString => Some(Value::Int(0)),
        FieldKind::Boolean => Some(Value::Bool(false)),
        FieldKind::Object | FieldKind::Map | FieldKind::Array | FieldKind::Time => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json;

    const VM: &str = r#"{"spec":{"template":{"metadata":{"labels":{"a.b/c":"x"}},"spec":{"domain":{
        "cpu":{"cores":4},
        "devices":{"disks":[{"name":"root","disk":{"bus":"virtio"},"bootOrder":1},{"name":"cd","cdrom":{}},{"name":"lun","lun":{"bus":"scsi"}}],
                   "interfaces":[{"name":"a"},{"name":"b","model":"e1000","ports":[{"port":22}]}]}}}}}}"#;

    fn check(path: &str, expect: &str) {
        let vm = json::parse(VM).unwrap().to_value();
        let path = JsonPath::parse(&format!("jsonpath::{path}")).unwrap();
        let shown = |world| match find(&path, &vm, world) {
            Ok(items) => items
                .iter()
                .map(|item| match item.seen {
                    FoundValue::Nil => "nil".to_owned(),
                    FoundValue::Given(value) => value.to_string(),
                    _ => item.scalar().map_or("unset".to_owned(), |value| value.to_string()),
                })
                .collect::<Vec<_>>()
                .join(" "),
            Err(missing) => format!("{missing:?}"),
        };
        assert_eq!(format!("{} / {}", shown(World::Specification), shown(World::Struct)), expect, "{}", path.text);
    }

    #[test]
    fn existence_depends_on_the_world() {
        check(".spec.domain.cpu.cores", "4 / 4");
        check(".spec.domain.cpu.sockets", "0 / 0");
        check(".spec.domain.memory", "Field(\"memory\") / nil");
        check(".spec.domain.memory.guest", "Field(\"memory\") / Field(\"guest\")");
        check(".spec.domain.devices.disks[*].cdrom.bus", "\"\" / \"\"");
        check(".spec.domain.devices.disks[*].bootOrder", "1 / 1 nil nil");
        check(".spec.domain.devices.inputs", "Field(\"inputs\") / unset");
        check(".spec.domain.devices.inputs[*].bus", " / ");
        check(".spec.domain.devices.disks[?(@.cdrom)].name", "\"cd\" / \"root\" \"cd\" \"lun\"");
        check(
            ".spec.domain.devices.disks[?(@.bootOrder==1)].name",
            "\"root\" / Other(\"a pointer cannot be compared\")",
        );
        check(".spec.domain.devices.interfaces[*].ports[*].port", "22 / ");
        check(".spec.domain.Devices.Disks[0].Name", "Field(\"Devices\") / \"root\"");
    }

    #[test]
    fn the_syntax_of_kubectl_is_supported() {
        check(".metadata.labels.a\\.b/c", "\"x\" / \"x\"");
        check(".spec.domain.devices.disks[0,2].name", "\"root\" \"lun\" / \"root\" \"lun\"");
        check(".spec.domain.devices.disks[-1:].name", "\"lun\" / \"lun\"");
        check(".spec.domain.devices.disks[?(@.name!='cd')].name", "\"root\" \"lun\" / \"root\" \"lun\"");
        check("..bus", "\"virtio\" \"\" \"scsi\" / \"virtio\" \"\" \"scsi\"");
        check(".spec.domain.cpu.cores} text", "4 \" text}\" / 4 \" text}\"");
    }

    #[test]
    fn exploding_paths_end() {
        let vm = json::parse(VM).unwrap().to_value();
        let union = format!("jsonpath::.spec.domain.devices.disks{}", "[0:1,0:1]".repeat(3));
        assert!(find(&JsonPath::parse(&union).unwrap(), &vm, World::Specification).is_err());
        let path = format!("jsonpath::{}", "...*".repeat(200));
        let _ = find(&JsonPath::parse(&path).unwrap(), &vm, World::Struct);
    }
}
