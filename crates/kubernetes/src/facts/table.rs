//! The tables of `facts.bin`, read in place.
//!
//! The file begins with two type numbers (those of `ObjectMeta` and `JSONSchemaProps`) and the
//! number of rows of each table. Numbers have two bytes, the low one first. Strings are interned;
//! string 0 is the empty one. Types are numbered: first the primitive ones
//! ([`Schemas::PRIMITIVES`]), then the definitions, then the composite ones.
//!
//! [`Schemas::PRIMITIVES`]: crate::schema::Schemas::PRIMITIVES

use std::cmp::Ordering;

const PACKED: &[u8] = include_bytes!("facts.bin");

/// Where the tables begin, and how many rows they have.
struct Layout {
    strings: TableLayout,
    kinds: TableLayout,
    lifecycles: TableLayout,
    /// For each definition, the number of its first variant.
    definitions: TableLayout,
    /// A form that a definition has in a range of versions: first, last, number of its first field.
    variants: TableLayout,
    fields: TableLayout,
    composites: TableLayout,
    /// The bytes of the strings.
    text: usize,
}

#[derive(Clone, Copy)]
struct TableLayout {
    start: usize,
    rows: usize,
    width: usize,
}

const HEADER: usize = 18;

/// Strings, definitions and variants have one more row, whose number is where the last one ends.
static LAYOUT: Layout = {
    const fn after(table: TableLayout, rows: usize, width: usize) -> TableLayout {
        TableLayout { start: table.start + table.rows * table.width, rows, width }
    }
    let strings = TableLayout { start: HEADER, rows: number_at(4) + 1, width: 2 };
    let kinds = after(strings, number_at(6), 13);
    let lifecycles = after(kinds, number_at(8), 16);
    let definitions = after(lifecycles, number_at(10) + 1, 2);
    let variants = after(definitions, number_at(12) + 1, 4);
    let fields = after(variants, number_at(14), 4);
    let composites = after(fields, number_at(16), 5);
    let text = after(composites, 0, 0).start;
    Layout { strings, kinds, lifecycles, definitions, variants, fields, composites, text }
};

const fn number_at(at: usize) -> usize {
    PACKED[at] as usize | (PACKED[at + 1] as usize) << 8
}

impl TableLayout {
    fn row(self, at: usize) -> FactRow {
        debug_assert!(at < self.rows, "row {at} of {}", self.rows);
        let start = self.start + at * self.width;
        FactRow(&PACKED[start..start + self.width])
    }

    fn iter(self) -> impl Iterator<Item = FactRow> {
        (0..self.rows).map(move |at| self.row(at))
    }
}

#[derive(Clone, Copy)]
struct FactRow(&'static [u8]);

impl FactRow {
    fn byte(self, at: usize) -> u8 {
        self.0[at]
    }

    fn number(self, at: usize) -> u16 {
        u16::from_le_bytes([self.0[at], self.0[at + 1]])
    }

    /// The number of the row of a table that this is an index of.
    fn index(self, at: usize) -> usize {
        self.number(at).into()
    }
}

/// A kind in a range of versions.
pub(super) struct KindRow {
    /// Group, version, kind, plural.
    pub names: [u16; 4],
    pub schema: u16,
    pub first: u8,
    pub last: u8,
    pub namespaced: bool,
}

/// The lifecycle of an API version. Versions are minor ones, 0 for none.
pub(super) struct LifecycleRow {
    pub introduced: u8,
    pub deprecated: u8,
    pub removed: u8,
    pub is_off: bool,
    /// Group, version, kind; all empty for none.
    pub replacement: [u16; 3],
}

/// A field of a definition.
pub(super) struct FieldRow {
    pub name: u16,
    pub schema: u16,
    pub is_required: bool,
}

/// A type made of others.
pub(super) enum Composite {
    List(u16),
    Set(u16),
    /// The keys that identify items are separated by commas.
    ListMap(u16, &'static str),
    Map(u16),
    /// The allowed values, separated by `|`, and the default; both can be empty.
    Text(&'static str, &'static str),
}

/// An interned string.
pub(super) fn string(id: u16) -> &'static str {
    std::str::from_utf8(bytes(id)).expect("packed strings are text")
}

fn bytes(id: u16) -> &'static [u8] {
    let (start, end) = (LAYOUT.strings.row(id.into()).index(0), LAYOUT.strings.row(usize::from(id) + 1).index(0));
    &PACKED[LAYOUT.text + start..LAYOUT.text + end]
}

/// `ObjectMeta` and `JSONSchemaProps`.
pub(super) fn roots() -> [u16; 2] {
    let header = FactRow(&PACKED[..HEADER]);
    [header.number(0), header.number(2)]
}

pub(super) fn kinds() -> impl Iterator<Item = KindRow> {
    LAYOUT.kinds.iter().map(kind)
}

/// The rows of one kind.
pub(super) fn kinds_of(key: (&str, &str, &str)) -> impl Iterator<Item = KindRow> {
    let table = LAYOUT.kinds;
    let start = first_at_least(table, key);
    let rows = (start..table.rows).map(move |at| table.row(at));
    // Names are interned: the rows of a kind have the same numbers.
    let names = (compare_names(table, start, key) == Ordering::Equal).then(|| &table.row(start).0[..6]);
    rows.take_while(move |row| Some(&row.0[..6]) == names).map(kind)
}

fn kind(row: FactRow) -> KindRow {
    KindRow {
        names: [row.number(0), row.number(2), row.number(4), row.number(6)],
        schema: row.number(8),
        first: row.byte(10),
        last: row.byte(11),
        namespaced: row.byte(12) == 1,
    }
}

pub(super) fn lifecycle(key: (&str, &str, &str)) -> Option<LifecycleRow> {
    let table = LAYOUT.lifecycles;
    let at = first_at_least(table, key);
    if compare_names(table, at, key) != Ordering::Equal {
        return None;
    }
    let row = table.row(at);
    Some(LifecycleRow {
        introduced: row.byte(6),
        deprecated: row.byte(7),
        removed: row.byte(8),
        is_off: row.byte(9) == 1,
        replacement: [row.number(10), row.number(12), row.number(14)],
    })
}

/// The first row whose names are not before these. Kinds and lifecycles begin with three names and
/// are sorted by them.
fn first_at_least(table: TableLayout, key: (&str, &str, &str)) -> usize {
    let (mut low, mut high) = (0, table.rows);
    while low < high {
        let middle = low.midpoint(high);
        match compare_names(table, middle, key) {
            Ordering::Less => low = middle + 1,
            _ => high = middle,
        }
    }
    low
}

fn compare_names(table: TableLayout, at: usize, (group, version, kind): (&str, &str, &str)) -> Ordering {
    if at >= table.rows {
        return Ordering::Greater;
    }
    let row = table.row(at);
    let compare = |at: usize, name: &str| bytes(row.number(at)).cmp(name.as_bytes());
    compare(0, group).then_with(|| compare(2, version)).then_with(|| compare(4, kind))
}

/// The number of definitions.
pub(super) fn definitions() -> usize {
    LAYOUT.definitions.rows - 1
}

/// The fields of a definition in a version, sorted by name.
pub(super) fn fields(definition: usize, version: u8) -> impl Iterator<Item = FieldRow> {
    let Layout { definitions, variants, fields, .. } = LAYOUT;
    let all = definitions.row(definition).index(0)..definitions.row(definition + 1).index(0);
    let mut all = all.map(move |at| (at, variants.row(at)));
    let found = all.find(|(_, row)| (row.byte(0)..=row.byte(1)).contains(&version));
    let rows = found.map_or(0..0, |(at, row)| row.index(2)..variants.row(at + 1).index(2));
    rows.map(move |at| {
        let row = fields.row(at);
        let schema = row.number(2);
        FieldRow { name: row.number(0), schema: schema & 0x7fff, is_required: schema & 0x8000 != 0 }
    })
}

/// The number of composite types.
pub(super) fn composites() -> usize {
    LAYOUT.composites.rows
}

/// A composite type.
pub(super) fn composite(at: usize) -> Composite {
    let row = LAYOUT.composites.row(at);
    match row.byte(0) {
        b'l' => Composite::List(row.number(1)),
        b's' => Composite::Set(row.number(1)),
        b'k' => Composite::ListMap(row.number(1), string(row.number(3))),
        b'm' => Composite::Map(row.number(1)),
        _ => Composite::Text(string(row.number(1)), string(row.number(3))),
    }
}
