//! The tables of a TOML text while it is read: which one is open, and what may be defined again.

use std::collections::{BTreeMap, HashSet};

use ytterby_starlark::Value;

use super::super::write;

/// A value.
pub(super) enum Entry {
    Str(String),
    Int(i64),
    Float(f64),
    Bool(bool),
    Array(Vec<Entry>),
    Table(Table),
    /// The items of `[[name]]`, or of an array that is still being read; never empty.
    Items(Vec<Table>),
}

type Table = BTreeMap<String, Entry>;

/// Where a table stands.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    /// Under its key.
    Table,
    /// In an array: each one is new.
    NewItem,
}

/// All tables read so far.
#[derive(Default)]
pub(super) struct Tables {
    root: Table,
    /// The path of the table that keys go to.
    context: Vec<String>,
    /// Paths of tables that are there only because others are below them; they may be defined once more.
    implicit: HashSet<Vec<String>>,
    /// Paths of arrays. The reference lets keys that were arrays be defined again; the last one counts.
    arrays: HashSet<Vec<String>>,
}

type Result<T> = std::result::Result<T, String>;

impl Tables {
    pub fn context(&self) -> &[String] {
        &self.context
    }

    pub fn set_context(&mut self, context: Vec<String>) {
        self.context = context;
    }

    /// The path of the open table, as messages show it.
    pub fn context_text(&self) -> String {
        shown(&self.context)
    }

    /// Opens the table of a header.
    pub fn enter(&mut self, path: &[String], place: Place) -> Result<()> {
        self.open(path, place)?;
        self.arrays.remove(path);
        Ok(())
    }

    /// Opens a table below the open one that a key with dots implies.
    pub fn enter_implicit(&mut self, names: &[String]) -> Result<()> {
        let path = [&self.context[..], names].concat();
        self.implicit.insert(path.clone());
        self.open(&path, Place::Table)
    }

    /// Opens an inline table below the open one.
    pub fn enter_inline(&mut self, key: String, place: Place) -> Result<()> {
        self.context.push(key);
        let path = self.context.clone();
        self.implicit.insert(path.clone());
        self.open(&path, place)
    }

    /// What the inline table at the open path has become. One that stands in no array stays where it is: setting it changes
    /// nothing.
    pub fn leave_inline(&mut self, place: Place) -> Entry {
        if place == Place::Table {
            return Entry::Table(Table::new());
        }
        let path = std::mem::take(&mut self.context);
        let table = table_at(&mut self.root, &path).map(std::mem::take).unwrap_or_default();
        self.context = path;
        Entry::Table(table)
    }

    /// The value of a key of the open table is an array.
    pub fn note_array(&mut self, key: &str) {
        let path = self.path_of(key);
        self.arrays.insert(path);
    }

    /// Sets a key of the open table.
    pub fn set(&mut self, key: String, value: Entry) -> Result<()> {
        let is_array = matches!(value, Entry::Array(_));
        let path = self.path_of(&key);
        self.put(key, value)?;
        if !is_array {
            self.arrays.remove(&path);
        }
        Ok(())
    }

    fn path_of(&self, key: &str) -> Vec<String> {
        let mut path = self.context.clone();
        if !key.is_empty() {
            path.push(key.to_owned());
        }
        path
    }

    /// Makes a path the open one.
    fn open(&mut self, path: &[String], place: Place) -> Result<()> {
        let Some((last, above)) = path.split_last() else { return Ok(()) };
        let mut table = &mut self.root;
        for (depth, name) in above.iter().enumerate() {
            if !table.contains_key(name) {
                self.implicit.insert(above[..=depth].to_vec());
            }
            table = match table.entry(name.clone()).or_insert_with(|| Entry::Table(Table::new())) {
                Entry::Table(table) => table,
                Entry::Items(items) if !items.is_empty() => {
                    let at = items.len() - 1;
                    &mut items[at]
                }
                _ => return Err(format!("Key '{}' was already created as a hash.", shown(&above[..=depth]))),
            };
        }
        match place {
            Place::NewItem => match table.entry(last.clone()).or_insert_with(|| Entry::Items(Vec::new())) {
                Entry::Items(items) => items.push(Table::new()),
                _ => {
                    self.context = above.to_vec();
                    return Err(format!("Key '{}' was already created and cannot be used as an array.", shown(path)));
                }
            },
            Place::Table => {
                self.context = above.to_vec();
                self.put(last.clone(), Entry::Table(Table::new()))?;
            }
        }
        self.context = path.to_vec();
        Ok(())
    }

    /// Puts a value into the open table where its key is free, or may be defined again.
    fn put(&mut self, key: String, value: Entry) -> Result<()> {
        let table = table_at(&mut self.root, &self.context)
            .map_err(|depth| format!("Key '{}' has already been defined.", shown(&self.context[..depth])))?;
        if table.contains_key(&key) {
            let mut path = self.context.clone();
            path.push(key.clone());
            let is_implicit = self.implicit.remove(&path);
            if !self.arrays.contains(&path) {
                return match is_implicit {
                    true => Ok(()),
                    false => Err(format!("Key '{}' has already been defined.", shown(&path))),
                };
            }
        }
        table.insert(key, value);
        Ok(())
    }

    /// The whole as a dict.
    pub fn into_value(self) -> Value {
        Entry::Table(self.root).into_value()
    }
}

impl Entry {
    fn into_value(self) -> Value {
        let dict = |table: Table| {
            let pairs = table.into_iter().map(|(key, entry)| (Value::from(key), crate::deep(|| entry.into_value())));
            Value::dict(pairs).expect("strings can be hashed")
        };
        match self {
            Entry::Str(text) => Value::from(text),
            Entry::Int(number) => Value::Int(number),
            Entry::Float(number) => Value::Float(number),
            Entry::Bool(value) => Value::Bool(value),
            Entry::Array(items) => {
                Value::list(items.into_iter().map(|item| crate::deep(|| item.into_value())).collect())
            }
            Entry::Table(table) => dict(table),
            Entry::Items(items) => Value::list(items.into_iter().map(dict).collect()),
        }
    }
}

/// The table of a path; of tables in an array the last. The error is how long the path is that leads to something else.
fn table_at<'t>(root: &'t mut Table, path: &[String]) -> std::result::Result<&'t mut Table, usize> {
    let mut table = root;
    for (depth, name) in path.iter().enumerate() {
        table = match table.get_mut(name) {
            Some(Entry::Table(table)) => table,
            Some(Entry::Items(items)) => items.last_mut().ok_or(depth + 1)?,
            _ => return Err(depth + 1),
        };
    }
    Ok(table)
}

/// A path as messages show it: names in quotes where they need them.
fn shown(path: &[String]) -> String {
    let mut out = Vec::new();
    for (at, name) in path.iter().enumerate() {
        if at > 0 {
            out.push(b'.');
        }
        write::key(&mut out, name.as_bytes());
    }
    String::from_utf8_lossy(&out).into_owned()
}
