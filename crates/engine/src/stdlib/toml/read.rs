//! TOML to Starlark values. Keys are sorted, as in the reference; dates become strings, which the reference cannot do.

use toml::de::{DeArray, DeFloat, DeInteger, DeTable, DeValue};
use ytterby_starlark::Value;
use ytterby_text::budget;

/// What the reader takes, roughly, for a byte of text.
const BYTES: usize = 32;

/// The table of a text as a dict. The error is a message.
pub(super) fn read(text: &[u8]) -> Result<Value, String> {
    budget::memory(BYTES * text.len()).and_then(|()| budget::work(text.len())).map_err(|why| why.to_string())?;
    let line = |at: usize| 1 + memchr::memchr_iter(b'\n', &text[..at.min(text.len())]).count();
    let utf8 = std::str::from_utf8(text)
        .map_err(|wrong| format!("toml: line {}: not UTF-8, which TOML has to be", line(wrong.valid_up_to())))?;
    let utf8 = utf8.strip_prefix('\u{feff}').unwrap_or(utf8);
    let table = DeTable::parse(utf8).map_err(|wrong| {
        let at = wrong.span().map_or(0, |span| span.start) + (text.len() - utf8.len());
        format!("toml: line {}: {}", line(at), wrong.message())
    })?;
    dict(table.get_ref())
}

fn dict(table: &DeTable<'_>) -> Result<Value, String> {
    let pair = |(key, value): (&toml::Spanned<_>, &toml::Spanned<DeValue<'_>>)| {
        Ok((Value::from(AsRef::<str>::as_ref(key.get_ref())), self::value(value.get_ref())?))
    };
    let pairs: Vec<(Value, Value)> = table.iter().map(pair).collect::<Result<_, String>>()?;
    Ok(Value::dict(pairs).expect("strings can be hashed"))
}

fn list(array: &DeArray<'_>) -> Result<Value, String> {
    let items: Vec<Value> = array.iter().map(|item| value(item.get_ref())).collect::<Result<_, _>>()?;
    Ok(Value::list(items))
}

fn value(value: &DeValue<'_>) -> Result<Value, String> {
    Ok(match value {
        DeValue::String(text) => Value::from(&**text),
        DeValue::Integer(number) => Value::Int(integer(number)?),
        DeValue::Float(number) => Value::Float(float(number)?),
        DeValue::Boolean(value) => Value::Bool(*value),
        DeValue::Datetime(time) => Value::from(time.to_string()),
        DeValue::Array(items) => return crate::deep(|| list(items)),
        DeValue::Table(table) => return crate::deep(|| dict(table)),
    })
}

fn integer(number: &DeInteger<'_>) -> Result<i64, String> {
    i64::from_str_radix(number.as_str(), number.radix())
        .map_err(|_| format!("toml: {} does not fit into 64 bits", number.as_str()))
}

fn float(number: &DeFloat<'_>) -> Result<f64, String> {
    number.as_str().parse().map_err(|_| format!("toml: {} is no number", number.as_str()))
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
    fn errors_name_the_line() {
        assert!(read(b"a = 1\nb = \"\xe9\"").unwrap_err().starts_with("toml: line 2: not UTF-8"));
        assert!(read("\u{feff}a = 1\nb = 1\n\na = 2".as_bytes()).unwrap_err().starts_with("toml: line 4: duplicate"));
        assert!(read(b"a = 99999999999999999999").unwrap_err().starts_with("toml: "));
    }
}
