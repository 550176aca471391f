//! The choices in a schema: which keys are given, and their values.
//!
//! A map becomes a list of [`Param`]s, one for each slot below it that is not inside an array. A
//! document is an [`Assignment`] of an option to each. Choices inside something optional depend on
//! it ([`Param::parent`]): they only count if it exists.

use std::collections::{HashMap, HashSet};

use ytterby_diag::{Path, Pos};

use super::interesting::{Given, Maker};
use super::pattern::ParsedPattern;
use crate::node::{Map, MapItem, Node, Scalar, key_text};
use crate::schema::{AllowedKeys, Combination, MapItemType, MapType, Presence, Slot, Type};

/// Maximum options of one slot.
const OPTIONS: usize = 12;

/// In larger spaces pairs are not counted, but sampled at random.
const COUNTED_PARAMS: usize = 40;

/// Options that were rejected this often are not preferred any more.
const TRIES: u8 = 3;

/// Marks an option that some document has.
const DONE: u8 = u8::MAX;

pub(super) struct Space<'s> {
    pub params: Vec<Param<'s>>,
    given: Given,
    /// How often pairs of options were tried, or [`DONE`].
    pairs: HashMap<(u32, u32), u8>,
    /// How often single options were tried, or [`DONE`].
    singles: HashMap<u32, u8>,
    /// The document without any values.
    empty: Node,
    /// The next option to try alone.
    next: (usize, usize),
}

/// A slot and its options.
pub(super) struct Param<'s> {
    way: Vec<Scalar>,
    path: Path,
    options: Vec<Choice>,
    /// The param and the option that this one depends on.
    parent: Option<(usize, usize)>,
    /// To generate more values than the options.
    slot: Option<&'s Slot>,
    /// Whether options are shapes.
    has_shapes: bool,
}

#[derive(Clone, Debug)]
enum Choice {
    /// Not given.
    Absent,
    Value(Node),
    /// A map; other params are for its contents.
    Map,
    /// Free keys of the map in this slot.
    Keys(Vec<(Scalar, Node)>),
}

/// The chosen option of a param.
#[derive(Clone, Debug)]
pub(super) enum Pick {
    Option(usize),
    Fresh(Node),
}

pub(super) type Assignment = Vec<Pick>;

/// A document to try.
pub(super) struct Proposal {
    pub picks: Assignment,
    /// The param that it varies.
    pub about: Option<usize>,
}

impl<'s> Space<'s> {
    pub fn of(maker: &mut Maker<'_>, slot: &'s Slot, path: &Path, given: Given) -> Space<'s> {
        // If the document is not a map, `{}` would have the wrong type.
        let empty = if matches!(slot.ty, Type::Map(_)) { Node::map(Map::new()) } else { Node::NULL };
        let mut space =
            Space { params: Vec::new(), given, pairs: HashMap::new(), singles: HashMap::new(), next: (1, 0), empty };
        match &slot.ty {
            Type::Map(ty) => space.items(maker, ty, &[], path, None),
            _ => space.place(maker, slot, Vec::new(), path.clone(), None, true),
        }
        space
    }

    /// The params of a map's items.
    fn items(
        &mut self,
        maker: &mut Maker<'_>,
        ty: &'s MapType,
        way: &[Scalar],
        path: &Path,
        parent: Option<(usize, usize)>,
    ) {
        for item in &ty.items {
            let way = [way, std::slice::from_ref(&item.key)].concat();
            let path = path.key(key_text(&item.key));
            let may_be_absent = match &item.presence {
                Presence::Removed(_) | Presence::Pattern(_) => continue,
                // A new value has no parts that were given before.
                Presence::Always => item.slot.required.is_none() || (self.given == Given::Enough && parent.is_none()),
                Presence::Optional(_) => !item.presence.must_be_given(),
            };
            let is_always = matches!(item.presence, Presence::Always);
            if let (Type::Map(below), true, false) = (&item.slot.ty, is_always && may_be_absent, item.slot.nullable) {
                crate::deep(|| self.items(maker, below, &way, &path, parent));
            } else {
                crate::deep(|| self.place(maker, &item.slot, way, path, parent, may_be_absent));
            }
        }
        for item in &ty.patterns {
            self.free_keys(maker, item, way, path, parent);
        }
    }

    /// Adds the param of one slot, and those below it.
    fn place(
        &mut self,
        maker: &mut Maker<'_>,
        slot: &'s Slot,
        way: Vec<Scalar>,
        path: Path,
        parent: Option<(usize, usize)>,
        may_be_absent: bool,
    ) {
        let mut options = Vec::new();
        let mut maps: Vec<(usize, &'s MapType)> = Vec::new();
        if may_be_absent {
            options.push(Choice::Absent);
        }
        let mut fresh = None;
        match &slot.ty {
            ty @ Type::Map(_) => _ = add_map(ty, &mut options, &mut maps),
            Type::Union(union) => {
                union.members.iter().for_each(|member| _ = add_map(member, &mut options, &mut maps));
                let others: Vec<Type> =
                    union.members.iter().filter(|member| !matches!(member, Type::Map(_))).cloned().collect();
                if !others.is_empty() {
                    let others = Type::Union(std::rc::Rc::new(crate::schema::Union { members: others }));
                    let values = maker.values(&Slot { ty: others, ..slot.clone() }, &path, OPTIONS);
                    options.extend(values.into_iter().map(Choice::Value));
                }
            }
            Type::Shapes(shapes) if shapes.combination == Combination::All => {
                // The value must match all of them: one map with the keys of each.
                maps.extend(shapes.slots.iter().filter_map(|one| Some((options.len(), &**one.as_map()?))));
                options.push(Choice::Map);
            }
            Type::Shapes(shapes) => {
                for one in &shapes.slots {
                    if !add_map(&one.ty, &mut options, &mut maps) {
                        let values = maker.values(one, &path, OPTIONS / 2);
                        options.extend(values.into_iter().map(Choice::Value));
                    }
                }
            }
            _ => {
                fresh = Some(slot);
                options.extend(maker.values(slot, &path, OPTIONS).into_iter().map(Choice::Value));
            }
        }
        let has_null = options.iter().any(|option| matches!(option, Choice::Value(value) if value.is_null()));
        let refuses_null = slot.rules.as_deref().is_some_and(crate::validate::Rules::refuses_null);
        if slot.nullable && !has_null && !refuses_null {
            options.push(Choice::Value(Node::NULL));
        }
        if options.is_empty() {
            // The maker has added a warning.
            options.push(Choice::Absent);
        }
        let own = self.params.len();
        self.params.push(Param {
            way: way.clone(),
            path: path.clone(),
            options,
            parent,
            slot: fresh,
            has_shapes: matches!(slot.ty, Type::Shapes(_)),
        });
        for (option, map) in maps {
            crate::deep(|| self.items(maker, map, &way, &path, Some((own, option))));
        }
    }

    /// The param for the keys that a pattern accepts.
    fn free_keys(
        &mut self,
        maker: &mut Maker<'_>,
        item: &'s MapItemType,
        way: &[Scalar],
        path: &Path,
        parent: Option<(usize, usize)>,
    ) {
        let Presence::Pattern(rule) = &item.presence else { return };
        let (low, high) = rule.expects.bounds();
        let mut sizes: Vec<usize> = vec![0, 1, 2];
        sizes.extend(
            [low, high, low.map(|low| low + 1)].into_iter().flatten().filter_map(|size| usize::try_from(size).ok()),
        );
        sizes.extend(3..8);
        let mut seen = HashSet::new();
        sizes.retain(|size| *size <= 100 && seen.insert(*size));
        sizes.retain(|size| rule.expects.accepts(maker.eval, *size).unwrap_or(false));
        sizes.truncate(4);
        let most = sizes.iter().copied().max().unwrap_or(0);
        let keys = keys(maker, item, most.max(3));
        let values = match keys.is_empty() {
            true => Vec::new(),
            false => maker.values(&item.slot, &path.key("*"), OPTIONS / 2),
        };
        let mut options = Vec::new();
        for size in sizes {
            if size == 0 {
                options.push(Choice::Absent);
                continue;
            }
            if values.is_empty() || keys.len() < size {
                continue;
            }
            let turns = if size == 1 { values.len() } else { 1 };
            for turn in 0..turns {
                let pairs = (0..size).map(|at| {
                    let key = keys[(at + turn) % keys.len()].clone();
                    (key, values[(at + turn) % values.len()].clone())
                });
                options.push(Choice::Keys(pairs.collect()));
            }
        }
        if options.is_empty() {
            options.push(Choice::Absent);
        }
        self.params.push(Param {
            way: way.to_vec(),
            path: path.clone(),
            options,
            parent,
            slot: None,
            has_shapes: false,
        });
    }

    /// Only what is required.
    pub fn smallest(&self) -> Assignment {
        self.params.iter().map(|_| Pick::Option(0)).collect()
    }

    /// Everything that can be given.
    fn fullest(&self) -> Assignment {
        let given = |option: &Choice| match option {
            Choice::Absent => false,
            Choice::Value(value) => !value.is_null(),
            Choice::Map | Choice::Keys(_) => true,
        };
        let pick = |param: &Param<'_>| Pick::Option(param.options.iter().position(given).unwrap_or(0));
        self.params.iter().map(pick).collect()
    }

    /// The next document to try: first the smallest and the fullest, then alternating between one
    /// choice and all at once.
    pub fn propose(&mut self, maker: &mut Maker<'_>, number: usize) -> Proposal {
        match number {
            0 => Proposal { picks: self.smallest(), about: None },
            1 => Proposal { picks: self.fullest(), about: None },
            _ => {
                let single = if number.is_multiple_of(2) { self.single() } else { None };
                single.unwrap_or_else(|| Proposal { picks: self.mixed(maker), about: None })
            }
        }
    }

    /// One option that no document has yet, and nothing else.
    fn single(&mut self) -> Option<Proposal> {
        let most = self.params.iter().map(|param| param.options.len()).max().unwrap_or(0);
        let (mut option, mut param) = self.next;
        while option < most {
            if param >= self.params.len() {
                (option, param) = (option + 1, 0);
                continue;
            }
            let is_new = option < self.params[param].options.len() && !self.singles.contains_key(&id(param, option));
            if is_new {
                self.next = (option, param + 1);
                let mut picks = self.smallest();
                self.force(&mut picks, param, option);
                return Some(Proposal { picks, about: Some(param) });
            }
            param += 1;
        }
        self.next = (option, param);
        None
    }

    fn force(&self, picks: &mut Assignment, param: usize, option: usize) {
        picks[param] = Pick::Option(option);
        let mut at = param;
        while let Some((above, wanted)) = self.params[at].parent {
            picks[above] = Pick::Option(wanted);
            at = above;
        }
    }

    /// A choice for every param: the options with the most new pairs.
    fn mixed(&mut self, maker: &mut Maker<'_>) -> Assignment {
        let counts = self.params.len() <= COUNTED_PARAMS;
        let mut picks: Assignment = Vec::with_capacity(self.params.len());
        let mut chosen: Vec<u32> = Vec::new();
        for (at, param) in self.params.iter().enumerate() {
            let is_active = match param.parent {
                Some((above, option)) => matches!(picks[above], Pick::Option(picked) if picked == option),
                None => true,
            };
            if !is_active {
                picks.push(Pick::Option(0));
                continue;
            }
            let start = maker.random.below(param.options.len());
            let mut best = (start, 0);
            if counts {
                for turn in 0..param.options.len() {
                    let option = (start + turn) % param.options.len();
                    let own = id(at, option);
                    let new = chosen.iter().filter(|other| is_new(self.pairs.get(&(**other, own)))).count();
                    let gain = new + usize::from(is_new(self.singles.get(&own)));
                    if gain > best.1 {
                        best = (option, gain);
                    }
                }
            }
            let fresh = match param.slot {
                Some(slot) if best.1 == 0 && maker.random.once_in(2) => maker.fresh(slot, &param.path),
                _ => None,
            };
            match fresh {
                Some(value) => picks.push(Pick::Fresh(value)),
                None => {
                    chosen.push(id(at, best.0));
                    picks.push(Pick::Option(best.0));
                }
            }
        }
        self.count(&chosen, |tries| tries.saturating_add(1));
        picks
    }

    /// Counts options and their pairs.
    fn count(&mut self, chosen: &[u32], count: impl Fn(u8) -> u8) {
        for (at, second) in chosen.iter().enumerate() {
            let tries = self.singles.entry(*second).or_default();
            *tries = count(*tries);
            if self.params.len() <= COUNTED_PARAMS {
                for first in &chosen[..at] {
                    let tries = self.pairs.entry((*first, *second)).or_default();
                    *tries = count(*tries);
                }
            }
        }
    }

    /// A document that differs from a rejected one in a few choices.
    pub fn changed(&self, maker: &mut Maker<'_>, proposal: &Proposal, attempt: usize) -> Assignment {
        let mut picks = proposal.picks.clone();
        let Some(about) = proposal.about else {
            // Undo one choice after the other.
            for pick in &mut picks {
                if maker.random.once_in(3) {
                    *pick = Pick::Option(0);
                }
            }
            return self.reselect(maker, picks, attempt / 6);
        };
        // Rules are most likely about its siblings.
        let way = &self.params[about].way;
        let shares = |param: &Param<'_>| {
            let depth = way.len().min(param.way.len()).saturating_sub(1);
            attempt > 8 || param.way[..depth] == way[..depth]
        };
        let near: Vec<usize> = (0..self.params.len()).filter(|at| *at != about && shares(&self.params[*at])).collect();
        for _ in 0..1 + attempt / 4 {
            if let Some(at) = maker.random.pick(&near) {
                let option = maker.random.below(self.params[*at].options.len());
                self.force(&mut picks, *at, option);
            }
        }
        if let Pick::Option(option) = proposal.picks[about] {
            self.force(&mut picks, about, option);
        }
        picks
    }

    fn reselect(&self, maker: &mut Maker<'_>, mut picks: Assignment, times: usize) -> Assignment {
        for _ in 0..times {
            let at = maker.random.below(self.params.len());
            if let Some(param) = self.params.get(at) {
                picks[at] = Pick::Option(maker.random.below(param.options.len()));
            }
        }
        picks
    }

    /// Records the options of an accepted document.
    pub fn note(&mut self, picks: &Assignment) {
        let mut chosen = Vec::new();
        for (at, pick) in picks.iter().enumerate() {
            if let (Pick::Option(option), true) = (pick, self.is_active(picks, at)) {
                chosen.push(id(at, *option));
            }
        }
        self.count(&chosen, |_| DONE);
    }

    fn is_active(&self, picks: &Assignment, param: usize) -> bool {
        match self.params[param].parent {
            None => true,
            Some((above, option)) => {
                matches!(picks[above], Pick::Option(picked) if picked == option) && self.is_active(picks, above)
            }
        }
    }

    /// Shapes that no accepted document has: path, and the smallest document with each.
    pub fn unreached(&self) -> Vec<(Path, Node)> {
        let mut found = Vec::new();
        for (at, param) in self.params.iter().enumerate().filter(|(_, param)| param.has_shapes) {
            for (option, _) in param.options.iter().enumerate().filter(|(_, option)| matches!(option, Choice::Map)) {
                if self.singles.get(&id(at, option)) != Some(&DONE) {
                    let mut picks = self.smallest();
                    let fullest = self.fullest();
                    for (below, _) in self.params.iter().enumerate().filter(|(_, one)| one.parent == Some((at, option)))
                    {
                        picks[below] = fullest[below].clone();
                    }
                    self.force(&mut picks, at, option);
                    found.push((param.path.clone(), self.document(&picks)));
                }
            }
        }
        found
    }

    /// The document of an assignment.
    pub fn document(&self, picks: &Assignment) -> Node {
        let mut root = self.empty.clone();
        for (at, param) in self.params.iter().enumerate() {
            if !self.is_active(picks, at) {
                continue;
            }
            match &picks[at] {
                Pick::Fresh(value) => put(&mut root, &param.way, value.clone()),
                Pick::Option(option) => match &param.options[*option] {
                    Choice::Absent => {}
                    Choice::Value(value) => put(&mut root, &param.way, value.clone()),
                    Choice::Map => put(&mut root, &param.way, Node::map(Map::new())),
                    Choice::Keys(pairs) => {
                        for (key, value) in pairs {
                            let way = [&param.way[..], std::slice::from_ref(key)].concat();
                            put(&mut root, &way, value.clone());
                        }
                    }
                },
            }
        }
        root
    }

    /// Some different documents, without checking rules about several values.
    pub fn documents(&mut self, maker: &mut Maker<'_>, most: usize) -> Vec<Node> {
        let mut found: Vec<Node> = Vec::new();
        for number in 0..most * 2 {
            let Proposal { picks, .. } = self.propose(maker, number);
            self.note(&picks);
            let document = self.document(&picks);
            if !found.iter().any(|other| other.same(&document)) {
                found.push(document);
            }
            if found.len() >= most {
                break;
            }
        }
        found
    }

    /// A random document.
    pub fn random_document(&mut self, maker: &mut Maker<'_>) -> Option<Node> {
        let picks = self.params.iter().map(|param| {
            let fresh = match param.slot {
                Some(slot) if maker.random.once_in(2) => maker.fresh(slot, &param.path),
                _ => None,
            };
            fresh.map_or_else(|| Pick::Option(maker.random.below(param.options.len())), Pick::Fresh)
        });
        let picks: Assignment = picks.collect();
        Some(self.document(&picks))
    }
}

/// Whether an option is worth trying.
fn is_new(tries: Option<&u8>) -> bool {
    tries.is_none_or(|tries| *tries < TRIES)
}

/// Adds the option of a map, if the type is one.
fn add_map<'s>(ty: &'s Type, options: &mut Vec<Choice>, maps: &mut Vec<(usize, &'s MapType)>) -> bool {
    let Type::Map(map) = ty else { return false };
    maps.push((options.len(), map));
    options.push(Choice::Map);
    true
}

fn id(param: usize, option: usize) -> u32 {
    (param as u32) << 8 | (option as u32).min(255)
}

/// Sets the value at a path and creates missing maps.
fn put(node: &mut Node, way: &[Scalar], value: Node) {
    let Some((key, rest)) = way.split_first() else {
        *node = value;
        return;
    };
    if node.as_map().is_none() {
        *node = Node::map(Map::new());
    }
    let Node::Map(map) = node else { return };
    let map = std::rc::Rc::make_mut(map);
    let at = map.find(key).unwrap_or_else(|| {
        map.push(MapItem::new(key.clone(), Node::map(Map::new()), Pos::UNKNOWN));
        map.len() - 1
    });
    put(&mut map.item_mut(at).value, rest, value);
}

/// At most `most` keys that a pattern accepts.
fn keys(maker: &mut Maker<'_>, item: &MapItemType, most: usize) -> Vec<Scalar> {
    let Presence::Pattern(rule) = &item.presence else { return Vec::new() };
    let mut texts: Vec<String> = ["a", "key-1", "x.y/z", "B_2"].map(str::to_owned).to_vec();
    if let Some(AllowedKeys::Matching(regexp, _)) = &rule.allowed {
        let count = most as u32 * 4;
        texts = match ParsedPattern::read(regexp) {
            Some(pattern) => (0..count).map(|number| pattern.text(&mut maker.random, number / 4)).collect(),
            None => Vec::new(),
        };
    }
    texts.push(key_text(&item.key).into_owned());
    texts.extend((3..most + 40).map(|number| format!("key-{number}")));
    texts.extend(('a'..='z').map(String::from));
    let mut found: Vec<Scalar> = Vec::new();
    for text in texts {
        let key = Scalar::from(text.as_str());
        if found.len() < most && !found.contains(&key) && rule.accepts(maker.eval, &key, &item.key).unwrap_or(false) {
            found.push(key);
        }
    }
    found
}
