//! Values worth trying for one slot: bounds and just inside them, members of enums and unions,
//! empty and long.
//!
//! Candidates come from the type and the rules; those that a rule rejects are dropped. Rules about
//! several values together are unknown here: the caller validates each document as a whole.

use ytterby_diag::{Diagnostic, Id, Part, Path, Pos};
use ytterby_starlark::Eval;
use ytterby_text::Str;

use super::pattern::ParsedPattern;
use super::random::Random;
use super::space::Space;
use super::text;
use crate::node::{Array, ArrayItem, Map, Node, Origin, Scalar};
use crate::run::Run;
use crate::schema::{ArrayType, ScalarType, Slot, Type};
use crate::validate::{Limit, Quantity, Rules, Want};

/// Maximum random draws for a slot without a valid candidate.
const DRAWS: usize = 2_000;

/// Maximum draws for more values that code accepts, and the number of values that is enough.
const MORE_DRAWS: usize = 200;
const FEW: usize = 5;

/// A "large" number without bounds. Templates may loop up to data values, so it must not be too
/// large.
const LARGE: i64 = 1_000;

/// Items of a long list, and bytes of a long text, without bounds.
const LONG_LIST: usize = 5;
const LONG_TEXT: usize = 200;
const MOST_ITEMS: i64 = 100;

/// Makes values for the slots of a schema.
pub(super) struct Maker<'a> {
    pub eval: &'a mut Eval,
    pub run: &'a Run,
    pub random: Random,
    /// The number of drawn values that a rule rejected.
    pub rejected: usize,
    pub warnings: Vec<Diagnostic>,
}

/// Bounds on numbers or lengths.
#[derive(Clone, Copy, Default)]
struct NumberBounds {
    low: Option<f64>,
    high: Option<f64>,
    low_exclusive: bool,
    high_exclusive: bool,
}

impl NumberBounds {
    fn of(rules: Option<&Rules>, quantity: Quantity) -> NumberBounds {
        let mut bounds = NumberBounds::default();
        for limit in rules.map(Rules::limits).unwrap_or_default() {
            match limit {
                Limit::AtLeast(of, bound) if of == quantity && bounds.low.is_none_or(|low| bound.number >= low) => {
                    (bounds.low, bounds.low_exclusive) = (Some(bound.number), bound.is_exclusive);
                }
                Limit::AtMost(of, bound) if of == quantity && bounds.high.is_none_or(|high| bound.number <= high) => {
                    (bounds.high, bounds.high_exclusive) = (Some(bound.number), bound.is_exclusive);
                }
                _ => {}
            }
        }
        bounds
    }

    fn low_int(&self) -> Option<i64> {
        self.low.map(|low| low.ceil() as i64 + i64::from(self.low_exclusive && low.fract() == 0.0))
    }

    fn high_int(&self) -> Option<i64> {
        self.high.map(|high| high.floor() as i64 - i64::from(self.high_exclusive && high.fract() == 0.0))
    }
}

impl Maker<'_> {
    /// Values for a slot, at most `most`, most interesting first. If there are none, adds a
    /// warning.
    pub fn values(&mut self, slot: &Slot, path: &Path, most: usize) -> Vec<Node> {
        let mut found = Vec::new();
        let candidates = self.candidates(&slot.ty, slot, path, most);
        self.keep(slot, candidates, most, &mut found);
        if slot.nullable {
            let at = found.len().min(1);
            let mut null = Vec::new();
            self.keep(slot, vec![Node::NULL], 1, &mut null);
            found.splice(at..at, null);
        }
        // For rules with code, candidates are hardly ever enough.
        let has_code = slot.rules.as_deref().is_some_and(Rules::has_code);
        let (wanted, draws) = if found.is_empty() { (1, DRAWS) } else { (if has_code { FEW } else { 0 }, MORE_DRAWS) };
        if found.len() < wanted.min(most) {
            for _ in 0..draws {
                let drawn = self.draw(&slot.ty, slot, path);
                let known = found.len();
                self.keep(slot, drawn.into_iter().collect(), most, &mut found);
                if found.len() >= wanted.min(most) {
                    break;
                }
                self.rejected += usize::from(found.len() == known);
            }
        }
        if found.is_empty() {
            self.warn(slot, path);
        }
        found.truncate(most.max(1));
        found
    }

    /// Another random value; `None` if a rule rejects it.
    pub fn fresh(&mut self, slot: &Slot, path: &Path) -> Option<Node> {
        let mut found = Vec::new();
        for _ in 0..8 {
            let drawn = self.draw(&slot.ty, slot, path);
            self.keep(slot, drawn.into_iter().collect(), 1, &mut found);
            if let Some(value) = found.pop() {
                return Some(value);
            }
            self.rejected += 1;
        }
        None
    }

    fn warn(&mut self, slot: &Slot, path: &Path) {
        let rules = slot.rules.as_deref().map(Rules::texts).unwrap_or_default();
        let name = if path.is_document() { "the document".to_owned() } else { path.to_string() };
        let text = match rules.is_empty() {
            true => format!("no value was found for {name}"),
            false => format!("no value was found for {name} that keeps all its rules: {}", rules.join("; ")),
        };
        let warning = Diagnostic::warning(Id::GEN_UNSATISFIED, text).at(slot.pos, Part::Value).path(path.clone());
        let help = "loosen the rules, or give an example in the schema: @schema/examples (\"…\", VALUE)";
        self.warnings.push(warning.help(help));
    }

    /// Adds candidates that are new and that no rule rejects.
    fn keep(&mut self, slot: &Slot, candidates: Vec<Node>, most: usize, found: &mut Vec<Node>) {
        // Values that are only valid under a condition come last.
        let mut doubtful = Vec::new();
        for value in candidates {
            if found.len() >= most {
                return;
            }
            if found.iter().chain(&doubtful).any(|other: &Node| other.same(&value)) {
                continue;
            }
            let admitted = slot.rules.as_deref().map_or(Some(true), |rules| rules.admit(self.eval, self.run, &value));
            match admitted {
                Some(true) => found.push(value),
                Some(false) => {}
                None => doubtful.push(value),
            }
        }
        let room = most.saturating_sub(found.len());
        found.extend(doubtful.into_iter().take(room));
    }

    fn candidates(&mut self, ty: &Type, slot: &Slot, path: &Path, most: usize) -> Vec<Node> {
        let rules = slot.rules.clone();
        let rules = rules.as_deref();
        let listed = listed(rules, ty);
        if !listed.is_empty() {
            return listed;
        }
        let examples = slot.docs.examples.iter().map(|example| example.value.clone());
        let examples: Vec<Node> = examples.filter(|value| fits(ty, value)).collect();
        let mut made = match ty {
            Type::Any => any_values(),
            Type::Scalar(kind) => self.scalars(*kind, slot, rules),
            Type::Map(_) => crate::deep(|| self.maps(ty, slot, path, most)),
            Type::Array(array) => crate::deep(|| self.arrays(array, rules, path, most)),
            Type::Union(union) => {
                let each = union.members.iter().map(|member| self.candidates(member, slot, path, most));
                in_turn(each.collect())
            }
            Type::Shapes(shapes) => {
                let each = shapes.slots.iter().map(|shape| crate::deep(|| self.values(shape, path, most)));
                in_turn(each.collect())
            }
        };
        let at = made.len().min(3);
        made.splice(at..at, examples);
        made
    }

    /// A random value, valid or not.
    fn draw(&mut self, ty: &Type, slot: &Slot, path: &Path) -> Option<Node> {
        let rules = slot.rules.clone();
        let rules = rules.as_deref();
        let listed = listed(rules, ty);
        if !listed.is_empty() {
            return self.random.pick(&listed).cloned();
        }
        match ty {
            Type::Any => self.random.pick(&any_values()).cloned(),
            Type::Scalar(ScalarType::Bool) => Some(Node::Scalar(Scalar::Bool(self.random.once_in(2)))),
            Type::Scalar(ScalarType::Null) => Some(Node::NULL),
            Type::Scalar(ScalarType::Int) => {
                let bounds = NumberBounds::of(rules, Quantity::Value);
                let low = bounds.low_int().unwrap_or(bounds.high_int().unwrap_or(LARGE).saturating_sub(LARGE));
                let high = bounds.high_int().unwrap_or(low.saturating_add(LARGE));
                let number = self.random.between(low, high);
                let steps = rules.map(Rules::wants).unwrap_or_default().into_iter().find_map(|want| match want {
                    Want::MultipleOf(Node::Scalar(Scalar::Int(step))) => Some(*step),
                    _ => None,
                });
                Some(Node::Scalar(Scalar::Int(steps.map_or(number, |step| number - number.rem_euclid(step)))))
            }
            Type::Scalar(ScalarType::Float) => {
                let bounds = NumberBounds::of(rules, Quantity::Value);
                let low = bounds.low.unwrap_or(bounds.high.unwrap_or(100.0) - 100.0);
                let high = bounds.high.unwrap_or(low + 100.0);
                // Round numbers are easier to read, and more often multiples of something.
                let share = self.random.below(1_001) as f64 / 1_000.0;
                let number = low + (high - low) * share;
                let rounded = (number * 100.0).round() / 100.0;
                Some(Node::Scalar(Scalar::Float(if rounded >= low && rounded <= high { rounded } else { number })))
            }
            Type::Scalar(ScalarType::String) => {
                let bounds = NumberBounds::of(rules, Quantity::Length);
                let low = bounds.low_int().unwrap_or(0).clamp(0, LONG_TEXT as i64);
                let high = bounds.high_int().unwrap_or(low + 12).clamp(low, low + 40);
                let length = self.random.between(low, high) as usize;
                let wants = rules.map(Rules::wants).unwrap_or_default();
                Some(Node::str(text::draw(&wants, length, &mut self.random)))
            }
            Type::Map(_) => {
                let mut space = Space::of(self, slot, path, Given::Nothing);
                crate::deep(|| space.random_document(self))
            }
            Type::Array(array) => {
                let bounds = NumberBounds::of(rules, Quantity::Length);
                let low = bounds.low_int().unwrap_or(0).clamp(0, MOST_ITEMS);
                let high = bounds.high_int().unwrap_or(low + 3).clamp(low, low + 5);
                let count = self.random.between(low, high);
                let items = (0..count).filter_map(|_| crate::deep(|| self.fresh(&array.item, &path.index(0))));
                Some(list(items.collect()))
            }
            Type::Union(union) => {
                let member = self.random.pick(&union.members)?;
                self.draw(member, slot, path)
            }
            Type::Shapes(shapes) => {
                let shape = self.random.pick(&shapes.slots)?;
                crate::deep(|| self.fresh(shape, path))
            }
        }
    }

    fn scalars(&mut self, kind: ScalarType, slot: &Slot, rules: Option<&Rules>) -> Vec<Node> {
        match kind {
            ScalarType::Bool => {
                let default = matches!(slot.default, Node::Scalar(Scalar::Bool(true)));
                [!default, default].map(|value| Node::Scalar(Scalar::Bool(value))).to_vec()
            }
            ScalarType::Null => vec![Node::NULL],
            ScalarType::Int => self.ints(slot, rules),
            ScalarType::Float => self.floats(slot, rules),
            ScalarType::String => self.texts(slot, rules),
        }
    }

    fn ints(&mut self, slot: &Slot, rules: Option<&Rules>) -> Vec<Node> {
        let bounds = NumberBounds::of(rules, Quantity::Value);
        let (low, high) = (bounds.low_int(), bounds.high_int());
        let mut numbers: Vec<i64> = Vec::new();
        numbers.extend(low);
        numbers.extend(high);
        numbers.extend(low.map(|low| low.saturating_add(1)));
        numbers.extend(high.map(|high| high.saturating_sub(1)));
        let default = match slot.default {
            Node::Scalar(Scalar::Int(number)) => Some(number),
            _ => None,
        };
        numbers.extend([0, 1]);
        numbers.extend(default.map(|number| number.saturating_add(1)));
        numbers.extend([-1]);
        for want in rules.map(Rules::wants).unwrap_or_default() {
            match want {
                Want::MultipleOf(Node::Scalar(Scalar::Int(step))) => {
                    let first = low.unwrap_or(0);
                    let first = first.saturating_add((step - first.rem_euclid(*step)) % step);
                    let last = high.map(|high| high - high.rem_euclid(*step));
                    numbers.extend([first, first.saturating_add(*step)]);
                    numbers.extend(last);
                    numbers.extend(last.map(|last| last - step));
                    numbers.extend([0, *step, step.saturating_mul(2), step.saturating_mul(10)]);
                }
                Want::MultipleOf(Node::Scalar(Scalar::Float(step))) if *step > 0.0 => {
                    numbers.extend((1..=20).map(|times| (step * f64::from(times)).round() as i64));
                }
                Want::Format(format) if format.takes_numbers() => numbers.extend([0, 1, 80, 443, 8080, 65_535]),
                _ => {}
            }
        }
        if high.is_none() {
            numbers.push(low.unwrap_or(0).max(0).saturating_add(LARGE));
        }
        if low.is_none() {
            numbers.push(high.unwrap_or(0).min(0).saturating_sub(LARGE));
        }
        numbers.extend(default);
        // For rules such as parity, neighbours of the bounds.
        numbers.extend(low.into_iter().flat_map(|low| (2..4).map(move |more| low.saturating_add(more))));
        numbers.extend(high.into_iter().flat_map(|high| (2..4).map(move |less| high.saturating_sub(less))));
        numbers.into_iter().map(|number| Node::Scalar(Scalar::Int(number))).collect()
    }

    fn floats(&mut self, slot: &Slot, rules: Option<&Rules>) -> Vec<Node> {
        let bounds = NumberBounds::of(rules, Quantity::Value);
        let step = match (bounds.low, bounds.high) {
            (Some(low), Some(high)) if high > low => ((high - low) / 10.0).min(0.5),
            _ => 0.5,
        };
        let mut numbers: Vec<f64> = Vec::new();
        numbers.extend(bounds.low);
        numbers.extend(bounds.high);
        numbers.extend(bounds.low.map(|low| low + step));
        numbers.extend(bounds.high.map(|high| high - step));
        numbers.extend([0.0, 1.5]);
        if let Node::Scalar(Scalar::Float(default)) = slot.default {
            numbers.extend([default + step, default]);
        }
        numbers.extend([1.0, -0.5, 1_000.25, -1_000.0]);
        for want in rules.map(Rules::wants).unwrap_or_default() {
            let divisor = match want {
                Want::MultipleOf(Node::Scalar(Scalar::Int(step))) => *step as f64,
                Want::MultipleOf(Node::Scalar(Scalar::Float(step))) => *step,
                _ => continue,
            };
            let first = (bounds.low.unwrap_or(0.0) / divisor).ceil();
            numbers.extend((0..4).map(|more| round((first + f64::from(more)) * divisor)));
            numbers.extend(bounds.high.map(|high| round((high / divisor).floor() * divisor)));
        }
        numbers.extend([2.0, 3.0, 4.0]);
        numbers.into_iter().map(|number| Node::Scalar(Scalar::Float(number))).collect()
    }

    fn texts(&mut self, slot: &Slot, rules: Option<&Rules>) -> Vec<Node> {
        let bounds = NumberBounds::of(rules, Quantity::Length);
        let low = bounds.low_int().unwrap_or(0).clamp(0, 100_000) as usize;
        let high = bounds.high_int().filter(|high| *high <= 5_000).map(|high| high.max(0) as usize);
        let mut lengths = vec![low, high.unwrap_or(low.max(1))];
        lengths.extend([low + 1, high.unwrap_or(LONG_TEXT.max(low + 2)).saturating_sub(1)]);
        lengths.extend(high.is_none().then_some(LONG_TEXT));
        lengths.retain(|length| high.is_none_or(|high| *length <= high));
        lengths.dedup();
        let wants = rules.map(Rules::wants).unwrap_or_default();
        let mut texts = text::of_length(&wants, &lengths, &mut self.random);
        for want in &wants {
            match want {
                Want::Near(Node::Scalar(Scalar::Str(limit))) => {
                    texts.push(limit.to_string());
                    texts.push(format!("{limit}a"));
                }
                Want::Pattern(regexp) => {
                    if let Some(pattern) = ParsedPattern::read(regexp) {
                        let mut more: Vec<String> =
                            (0..12).map(|number| pattern.text(&mut self.random, number / 4)).collect();
                        texts.append(&mut more);
                    }
                }
                _ => {}
            }
        }
        if let Node::Scalar(Scalar::Str(default)) = &slot.default
            && !slot.secret
        {
            let at = texts.len().min(4);
            texts.insert(at, default.to_string());
        }
        texts.into_iter().map(|text| Node::str(Str::from(text))).collect()
    }

    fn maps(&mut self, ty: &Type, slot: &Slot, path: &Path, most: usize) -> Vec<Node> {
        let slot = Slot { ty: ty.clone(), rules: None, ..slot.clone() };
        let mut space = Space::of(self, &slot, path, Given::Nothing);
        space.documents(self, most)
    }

    fn arrays(&mut self, ty: &ArrayType, rules: Option<&Rules>, path: &Path, most: usize) -> Vec<Node> {
        let bounds = NumberBounds::of(rules, Quantity::Length);
        let low = bounds.low_int().unwrap_or(0).clamp(0, MOST_ITEMS) as usize;
        let high = bounds.high_int().map(|high| high.clamp(0, MOST_ITEMS) as usize);
        let wants = rules.map(Rules::wants).unwrap_or_default();
        let is_unique = wants.iter().any(|want| matches!(want, Want::Unique));
        let parts: Vec<Node> = wants
            .iter()
            .filter_map(|want| match want {
                Want::Part(part) if fits(&ty.item.ty, part) => Some((*part).clone()),
                _ => None,
            })
            .collect();
        let below = path.index(0);
        let items = match high {
            Some(0) => Vec::new(),
            _ => self.values(&ty.item, &below, (most / 2).clamp(3, 12)),
        };
        let mut sizes = vec![low, low.max(1), high.unwrap_or(low.max(LONG_LIST)), low + 1];
        sizes.extend(high.map(|high| high.saturating_sub(1)));
        sizes.push(2);
        sizes.retain(|size| *size >= low && high.is_none_or(|high| *size <= high));
        let mut seen = std::collections::HashSet::new();
        sizes.retain(|size| seen.insert(*size));
        let mut found: Vec<Node> = Vec::new();
        for (turn, size) in sizes.into_iter().enumerate() {
            found.extend(self.array(ty, &below, &items, &parts, size, turn, is_unique));
        }
        let singles = items.iter().filter(|_| low <= 1 && high != Some(0) && parts.is_empty());
        found.extend(singles.map(|item| list(vec![item.clone()])));
        // Several items, one of which is the value in question.
        if low > 1 || !parts.is_empty() {
            for turn in 0..items.len() {
                let size = low.max(parts.len() + 1);
                found.extend(self.array(ty, &below, &items, &parts, size, turn, is_unique));
            }
        }
        found
    }

    /// A list of this many items; `turn` selects the first of them.
    #[allow(clippy::too_many_arguments)]
    fn array(
        &mut self,
        ty: &ArrayType,
        path: &Path,
        items: &[Node],
        parts: &[Node],
        size: usize,
        turn: usize,
        is_unique: bool,
    ) -> Option<Node> {
        let mut made: Vec<Node> = parts.iter().take(size).cloned().collect();
        let mut at = turn;
        let mut misses = 0;
        while made.len() < size {
            let next = match items.get(at % items.len().max(1)) {
                Some(item) if misses < items.len() => item.clone(),
                _ => self.fresh(&ty.item, path)?,
            };
            at += 1;
            if is_unique && made.iter().any(|other| crate::validate::rules::equal(other, &next)) {
                misses += 1;
                if misses > items.len() + 200 {
                    return None;
                }
                continue;
            }
            made.push(next);
        }
        Some(list(made))
    }
}

/// Which values are already given, besides the generated ones.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Given {
    /// None: required values must be generated.
    Nothing,
    /// All required ones.
    Enough,
}

/// The values of `one_of` that have a given type.
fn listed(rules: Option<&Rules>, ty: &Type) -> Vec<Node> {
    let mut found = Vec::new();
    for limit in rules.map(Rules::limits).unwrap_or_default() {
        if let Limit::OneOf(values) = limit {
            found.extend(values.into_iter().filter(|value| fits(ty, value)));
        }
    }
    for want in rules.map(Rules::wants).unwrap_or_default() {
        if let Want::KeyOf(Node::Map(map)) = want {
            let keys = map.iter().map(|item| Node::Scalar(item.key.clone()));
            found.extend(keys.filter(|value| fits(ty, value)));
        }
    }
    found
}

fn round(number: f64) -> f64 {
    (number * 1e9).round() / 1e9
}

/// Takes values from each list in turn.
fn in_turn(lists: Vec<Vec<Node>>) -> Vec<Node> {
    let longest = lists.iter().map(Vec::len).max().unwrap_or(0);
    (0..longest).flat_map(|at| lists.iter().filter_map(move |list| list.get(at).cloned())).collect()
}

fn any_values() -> Vec<Node> {
    let mut map = Map::new();
    map.push_new("a", Node::Scalar(Scalar::Int(1)));
    vec![
        Node::str("text"),
        Node::Scalar(Scalar::Int(1)),
        Node::map(map),
        list(vec![Node::str("a")]),
        Node::Scalar(Scalar::Bool(true)),
        Node::NULL,
        list(Vec::new()),
        Node::str(""),
        Node::Scalar(Scalar::Float(1.5)),
    ]
}

pub(super) fn list(items: Vec<Node>) -> Node {
    let items = items.into_iter().map(|item| ArrayItem::new(item, Pos::UNKNOWN)).collect();
    Node::array(Array { items, origin: Origin::Yaml })
}

/// Whether a value has a type, judged by its kind only.
fn fits(ty: &Type, value: &Node) -> bool {
    match (ty, value) {
        (Type::Any | Type::Shapes(_), _) => true,
        (ty, Node::Scalar(scalar)) => ty.fits(scalar),
        (ty, Node::Map(_)) => ty.as_map().is_some(),
        (ty, Node::Array(_)) => ty.as_array().is_some(),
    }
}
