//! The help of `--output`, put together from the tables of formats when the program is compiled.
//!
//! Flags are constants, so their help must be one, too.

use ytterby::{Format, SchemaFormat};

/// The help of `--output`.
pub const OUTPUT_HELP: &str = {
    // More than enough; a longer text would not compile.
    const TEXT: Joined<512> = Joined::EMPTY
        .with("Write documents as ")
        .with_list(Format::NAMES)
        .with("; show a schema as ")
        .with_list(SchemaFormat::NAMES);
    match str::from_utf8(TEXT.bytes.split_at(TEXT.len).0) {
        Ok(text) => text,
        Err(_) => panic!("texts were joined at their ends"),
    }
};

/// Texts joined in a constant.
struct Joined<const SIZE: usize> {
    bytes: [u8; SIZE],
    len: usize,
}

impl<const SIZE: usize> Joined<SIZE> {
    const EMPTY: Joined<SIZE> = Joined { bytes: [0; SIZE], len: 0 };

    const fn with(mut self, text: &str) -> Self {
        let mut at = 0;
        while at < text.len() {
            self.bytes[self.len] = text.as_bytes()[at];
            self.len += 1;
            at += 1;
        }
        self
    }

    /// Adds `a, b or c`.
    const fn with_list(mut self, names: &[&str]) -> Self {
        let mut at = 0;
        while at < names.len() {
            let before = match names.len() - at {
                _ if at == 0 => "",
                1 => " or ",
                _ => ", ",
            };
            self = self.with(before).with(names[at]);
            at += 1;
        }
        self
    }
}

#[test]
fn the_help_names_every_format() {
    for name in ytterby::OutputTypes::NAMES {
        let mut words = OUTPUT_HELP.split([' ', ',', ';']);
        assert!(words.any(|word| word == *name), "{name} is missing: {OUTPUT_HELP}");
    }
}
