//! Arguments of annotations that are literals: `min=1, max=5`, `'A title'`, `["a", "b"]`.
//!
//! Most arguments are, and most annotations have none. They are read here, without the lexer,
//! parser and compiler of Starlark: a fourth of the instructions of a run that only shows a large
//! schema. [`read`] knows a part of the language and leaves everything else to Starlark:
//! whatever it accepts has the same value there.

use ytterby_starlark::Value;
use ytterby_text::Str;

/// Longest integer: more digits may not fit.
const MAX_DIGITS: usize = 18;

/// Names that are values unless code binds them.
static NAMES: [(&str, Literal); 3] =
    [("True", Literal::Bool(true)), ("False", Literal::Bool(false)), ("None", Literal::None)];

/// The value of a literal, which threads can share.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Literal {
    None,
    Bool(bool),
    Int(i64),
    Str(Str),
    List(Vec<Literal>),
}

/// Arguments of a call: positional ones, then keyword arguments.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Literals {
    positional: Vec<Literal>,
    named: Vec<(Str, Literal)>,
}

impl Literal {
    fn value(&self) -> Value {
        match self {
            Literal::None => Value::None,
            Literal::Bool(value) => Value::Bool(*value),
            Literal::Int(value) => Value::Int(*value),
            Literal::Str(value) => Value::Str(value.clone()),
            Literal::List(items) => Value::list(items.iter().map(Literal::value).collect()),
        }
    }
}

impl Literals {
    pub fn positional(&self) -> Vec<Value> {
        self.positional.iter().map(Literal::value).collect()
    }

    pub fn named(&self) -> Vec<(Str, Value)> {
        self.named.iter().map(|(name, literal)| (name.clone(), literal.value())).collect()
    }
}

/// Whether a text may bind one of the names of [`NAMES`].
pub(crate) fn mentions_names(text: &[u8]) -> bool {
    NAMES.iter().any(|(name, _)| memchr::memmem::find(text, name.as_bytes()).is_some())
}

/// Reads arguments if all of them are literals. `has_names` says whether `True` and the like are
/// values; it is asked only if there is one.
pub(crate) fn read(text: &str, has_names: &dyn Fn() -> bool) -> Option<Literals> {
    let mut reader = Reader { rest: text.as_bytes(), has_names };
    let mut literals = Literals::default();
    reader.skip_blanks();
    while !reader.rest.is_empty() {
        match reader.keyword() {
            Some(name) => {
                // Starlark refuses duplicates.
                if literals.named.iter().any(|(other, _)| *other == name) {
                    return None;
                }
                literals.named.push((name, reader.literal(0)?));
            }
            None if literals.named.is_empty() => literals.positional.push(reader.literal(0)?),
            None => return None,
        }
        if !reader.rest.is_empty() && !reader.take(b',') {
            return None;
        }
    }
    Some(literals)
}

struct Reader<'a> {
    rest: &'a [u8],
    has_names: &'a dyn Fn() -> bool,
}

impl Reader<'_> {
    fn skip_blanks(&mut self) {
        let blanks = self.rest.iter().take_while(|byte| **byte == b' ').count();
        self.rest = &self.rest[blanks..];
    }

    /// Skips a character and the blanks after it, if it is next.
    fn take(&mut self, byte: u8) -> bool {
        if self.rest.first() != Some(&byte) {
            return false;
        }
        self.rest = &self.rest[1..];
        self.skip_blanks();
        true
    }

    /// Skips the first bytes and the blanks after them.
    fn skip(&mut self, count: usize) {
        self.rest = &self.rest[count..];
        self.skip_blanks();
    }

    /// `name=`, if it is next and a name that no keyword of the language can be.
    fn keyword(&mut self) -> Option<Str> {
        let is_name = |byte: &&u8| byte.is_ascii_lowercase() || **byte == b'_';
        let len = self.rest.iter().take_while(is_name).count();
        let (name, after) = self.rest.split_at(len);
        if name.is_empty()
            || WORDS.iter().any(|word| word.as_bytes() == name)
            || after.first() != Some(&b'=')
            || after.get(1) == Some(&b'=')
        {
            return None;
        }
        let name = Str::new(name);
        self.skip(len + 1);
        Some(name)
    }

    fn literal(&mut self, depth: usize) -> Option<Literal> {
        match *self.rest.first()? {
            quote @ (b'"' | b'\'') => self.string(quote),
            b'0'..=b'9' | b'-' => self.int(),
            b'[' if depth == 0 => {
                self.skip(1);
                let mut items = Vec::new();
                while !self.take(b']') {
                    items.push(self.literal(depth + 1)?);
                    if !self.take(b',') && self.rest.first() != Some(&b']') {
                        return None;
                    }
                }
                self.ended(Literal::List(items))
            }
            b'T' | b'F' | b'N' => {
                let (name, literal) = NAMES.iter().find(|(name, _)| self.rest.starts_with(name.as_bytes()))?;
                self.skip(name.len());
                self.ended(literal.clone()).filter(|_| (self.has_names)())
            }
            _ => None,
        }
    }

    /// A string on one line without escapes.
    fn string(&mut self, quote: u8) -> Option<Literal> {
        let end = 1 + memchr::memchr(quote, &self.rest[1..])?;
        let text = &self.rest[1..end];
        if text.iter().any(|byte| matches!(byte, b'\\' | b'\n' | b'\r')) {
            return None;
        }
        let literal = Literal::Str(Str::new(text));
        self.skip(end + 1);
        self.ended(literal)
    }

    fn int(&mut self) -> Option<Literal> {
        let sign = usize::from(self.rest[0] == b'-');
        let digits = self.rest[sign..].iter().take_while(|byte| byte.is_ascii_digit()).count();
        // A zero in front means another base, or is an error.
        let is_plain = (1..=MAX_DIGITS).contains(&digits) && (self.rest[sign] != b'0' || digits == 1);
        if !is_plain {
            return None;
        }
        let text = std::str::from_utf8(&self.rest[..sign + digits]).ok()?;
        let literal = Literal::Int(text.parse().ok()?);
        self.skip(sign + digits);
        self.ended(literal)
    }

    /// A literal, if the expression ends here.
    fn ended(&self, literal: Literal) -> Option<Literal> {
        matches!(self.rest.first(), None | Some(b',' | b']')).then_some(literal)
    }
}

/// The words of the language, those that it reserves, and the one that ends blocks in templates.
const WORDS: [&str; 34] = [
    "and", "as", "assert", "async", "await", "break", "class", "continue", "def", "del", "elif", "else", "end",
    "except", "finally", "for", "from", "global", "if", "import", "in", "is", "lambda", "load", "nonlocal", "not",
    "or", "pass", "raise", "return", "try", "while", "with", "yield",
];

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use ytterby_diag::{FileId, Pos};
    use ytterby_starlark::{Eval, Exports, NoOps, ProgramPiece};

    use super::*;

    /// The arguments as Starlark evaluates them, or `None` if it refuses them.
    fn evaluated(text: &str) -> Option<String> {
        let code = format!("def f(*args, **kwargs):\n  return [list(args), kwargs]\nend\nx = f({text})\n");
        let piece = ProgramPiece::Code { text: code.as_bytes(), at: Pos::new(FileId(0), 0) };
        let program = ytterby_starlark::compile(&[piece], &[]).ok()?;
        let exports = program.link().run(&mut Eval::new(), std::rc::Rc::new(NoOps), &Exports::default()).ok()?;
        exports.iter().find(|(name, _)| **name == "x").map(|(_, value)| value.repr().to_string())
    }

    fn shown(literals: &Literals) -> String {
        let named = literals.named().into_iter().map(|(name, value)| (Value::Str(name), value));
        let named = Value::dict(named).expect("strings can be hashed");
        Value::list(vec![Value::list(literals.positional()), named]).repr().to_string()
    }

    #[test]
    fn reads_what_annotations_have() {
        for text in [
            "",
            "'Key 0'",
            "min_len=1, max_len=40",
            "min=-5,max=0 ,",
            "one_of=[\"debug\", 'info', ]",
            "missing_ok=True, when=None",
            "[]",
            "\"it's\", 'ü'",
        ] {
            let literals = read(text, &|| true).unwrap_or_else(|| panic!("{text}"));
            assert_eq!(Some(shown(&literals)), evaluated(text), "{text}");
        }
    }

    #[test]
    fn leaves_the_rest_to_starlark() {
        for text in [
            "lambda v: v",
            "('a', f)",
            "1.5",
            "007",
            "0x1",
            "1234567890123456789",
            "'a' 'b'",
            "'''a'''",
            "'a\\n'",
            "r'a'",
            "a=1, a=2",
            "a=1, 2",
            "a==1",
            "if=1",
            "*a",
            "[[1]]",
            "1 # one",
            "Truely",
            ",",
        ] {
            assert_eq!(read(text, &|| true), None, "{text}");
        }
        assert_eq!(read("True", &|| false), None);
    }

    proptest! {
        #[test]
        fn has_the_values_of_starlark(parts in prop::collection::vec(
            prop::sample::select(vec![
                "a=", "min=", "in=", "end=", ",", " ", "'x'", "\"y z\"", "''", "1", "0", "-", "7", "[", "]", "True", "None",
                "False", "(", ")", "x", "=", "#", "\\", "'", "*", ".",
            ]),
            0..9,
        )) {
            let text = parts.concat();
            if let Some(literals) = read(&text, &|| true) {
                prop_assert_eq!(Some(shown(&literals)), evaluated(&text), "{}", text);
            }
        }
    }
}
