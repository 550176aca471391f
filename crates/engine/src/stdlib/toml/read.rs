//! TOML to Starlark values. Keys are sorted, as in the reference; dates become strings, which the
//! reference does not support.

use std::borrow::Cow;

use toml::Spanned;
use toml::de::{DeArray, DeTable, DeValue};
use ytterby_starlark::Value;
use ytterby_text::budget;

use super::size;

/// Decodes a text to a dict. The error is a message.
pub(super) fn read(bytes: &[u8]) -> Result<Value, String> {
    budget::memory(size::needed(bytes))
        .and_then(|()| budget::work(bytes.len()))
        .map_err(|exceeded| exceeded.to_string())?;
    let text = std::str::from_utf8(bytes)
        .map_err(|wrong| problem(bytes, wrong.valid_up_to(), "not UTF-8, which TOML has to be"))?;
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let table = DeTable::parse(text)
        .map_err(|wrong| problem(text.as_bytes(), wrong.span().map_or(0, |span| span.start), wrong.message()))?;
    TomlReader { text }.dict(table.get_ref())
}

fn problem(text: &[u8], at: usize, why: &str) -> String {
    let line = 1 + memchr::memchr_iter(b'\n', &text[..at.min(text.len())]).count();
    format!("toml: line {line}: {why}")
}

struct TomlReader<'t> {
    text: &'t str,
}

impl TomlReader<'_> {
    fn dict(&self, table: &DeTable<'_>) -> Result<Value, String> {
        let pair = |(key, value): (&Spanned<Cow<'_, str>>, _)| Ok((Value::from(&**key.get_ref()), self.value(value)?));
        let pairs: Vec<(Value, Value)> = table.iter().map(pair).collect::<Result<_, String>>()?;
        Ok(Value::dict(pairs).expect("strings can be hashed"))
    }

    fn list(&self, array: &DeArray<'_>) -> Result<Value, String> {
        let items: Vec<Value> = array.iter().map(|item| self.value(item)).collect::<Result<_, _>>()?;
        Ok(Value::list(items))
    }

    fn value(&self, spanned: &Spanned<DeValue<'_>>) -> Result<Value, String> {
        let too_large = || problem(self.text.as_bytes(), spanned.span().start, "the number is too large");
        Ok(match spanned.get_ref() {
            DeValue::String(text) => Value::from(&**text),
            DeValue::Integer(number) => {
                Value::Int(i64::from_str_radix(number.as_str(), number.radix()).map_err(|_| too_large())?)
            }
            DeValue::Float(number) => match number.as_str().parse::<f64>() {
                Ok(value) if value.is_infinite() && !number.as_str().contains("inf") => return Err(too_large()),
                Ok(value) => Value::Float(value),
                Err(_) => return Err(too_large()),
            },
            DeValue::Boolean(value) => Value::Bool(*value),
            DeValue::Datetime(time) => Value::from(time.to_string()),
            DeValue::Array(items) => return crate::deep(|| self.list(items)),
            DeValue::Table(table) => return crate::deep(|| self.dict(table)),
        })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn any_text_is_read_or_refused(text in r#"[a-c.=\[\]{},"'\\\n\r\t #0-9eExo_+:TZ-]{0,60}"#) {
            if let Err(message) = read(text.as_bytes()) {
                prop_assert!(message.starts_with("toml: "), "{message}");
            }
        }

        #[test]
        fn any_bytes_are_read_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..40)) {
            let _ = read(&bytes);
        }
    }

    #[test]
    fn values_of_all_kinds() {
        let text =
            "s = 'a'\ni = 0xf_f\nf = 1_0.5e1\nb = true\nd = 1979-05-27T07:32:00Z\n[t.u]\nx = [1, -0]\n[[l]]\nn = inf";
        let read = read(text.as_bytes()).unwrap();
        let want = r#"{"b": True, "d": "1979-05-27T07:32:00Z", "f": 105, "i": 255, "l": [{"n": +Inf}], "s": "a", "t": {"u": {"x": [1, 0]}}}"#;
        assert_eq!(read.repr().to_string(), want);
    }

    #[test]
    fn nesting_has_a_limit() {
        for open in ["[", "{a="] {
            let message = read(format!("a = {}", open.repeat(1_000_000)).as_bytes()).unwrap_err();
            assert!(message.contains("recursion"), "{message}");
        }
        assert!(read(format!("a = {}{}", "[".repeat(70), "]".repeat(70)).as_bytes()).is_ok());
    }

    #[test]
    fn errors_contain_the_line() {
        assert!(read(b"a = 1\nb = \"\xe9\"").unwrap_err().starts_with("toml: line 2: not UTF-8"));
        assert!(read("\u{feff}a = 1\nb = 1\n\na = 2".as_bytes()).unwrap_err().starts_with("toml: line 4: duplicate"));
        for number in ["99999999999999999999", "1e999"] {
            let message = read(format!("\na = {number}").as_bytes()).unwrap_err();
            assert_eq!(message, "toml: line 2: the number is too large");
        }
    }
}
