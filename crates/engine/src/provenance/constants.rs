//! Finds constants that code compares values with: `mode == "fast"`, `count > 3`.
//!
//! A free string has infinitely many legal values, and perhaps only one of them reaches a branch. The constants of
//! comparisons are worth trying. They are extracted from the text of the code; a wrong one only costs a render.

use super::session::Session;
use crate::node::{Node, Scalar};
use crate::schema::{Kind, Slot, Type};

/// Maximum constants of one kind.
const MOST: usize = 64;

/// The constants of a project's comparisons.
#[derive(Default, Debug)]
pub(super) struct Constants {
    texts: Vec<String>,
    numbers: Vec<i64>,
}

impl Constants {
    /// The constants of all files of a session.
    pub fn of(session: &Session) -> Constants {
        let mut found = Constants::default();
        for file in session.library.library.all_files() {
            let input = file.input();
            if !input.is_template() && !input.is_library() {
                continue;
            }
            if let Ok(bytes) = input.content.read() {
                found.add(&String::from_utf8_lossy(&bytes));
            }
        }
        found
    }

    /// At most `most` constants that fit a slot.
    pub fn for_slot(&self, slot: &Slot, most: usize) -> Vec<Node> {
        let has = |kind: Kind| match &slot.ty {
            Type::Scalar(own) => *own == kind,
            Type::Any => true,
            _ => false,
        };
        let texts = self.texts.iter().filter(|_| has(Kind::String)).map(|text| Node::str(text.as_str()));
        let numbers = self.numbers.iter().filter(|_| has(Kind::Int));
        let numbers = numbers.map(|number| Node::Scalar(Scalar::Int(*number)));
        texts.chain(numbers).take(most).collect()
    }

    fn add(&mut self, text: &str) {
        for line in text.lines() {
            self.add_line(line);
        }
    }

    /// Adds the operands of `==`, `!=`, `<`, `>`, the items of lists after `in`, and the arguments of `startswith` and `endswith`.
    fn add_line(&mut self, line: &str) {
        const BEFORE: [&str; 6] = ["==", "!=", "<", ">", ".startswith(", ".endswith("];
        for operator in BEFORE {
            for (at, _) in line.match_indices(operator) {
                self.add_constant(line[at + operator.len()..].trim_start_matches(['=', ' ']));
                if let Some(text) = text_at_end(line[..at].trim_end()) {
                    self.add_text(text);
                }
            }
        }
        for (at, word) in line.match_indices(" in ") {
            let rest = line[at + word.len()..].trim_start();
            if let Some(list) = rest.strip_prefix(['[', '(', '{']) {
                let list = list.split([']', ')', '}']).next().unwrap_or_default();
                list.split(',').for_each(|item| self.add_constant(item.trim()));
            }
            if let Some(text) = text_at_end(line[..at].trim_end().trim_end_matches(" not")) {
                self.add_text(text);
            }
        }
    }

    fn add_constant(&mut self, text: &str) {
        if let Some(quote) = text.chars().next().filter(|first| matches!(first, '"' | '\'')) {
            if let Some(end) = text[1..].find(quote) {
                self.add_text(&text[1..=end]);
            }
            return;
        }
        let end = text.find(|c: char| !c.is_ascii_digit() && c != '-').unwrap_or(text.len());
        let Ok(number) = text[..end].parse::<i64>() else { return };
        for number in [Some(number), number.checked_add(1)].into_iter().flatten() {
            if self.numbers.len() < MOST && !self.numbers.contains(&number) {
                self.numbers.push(number);
            }
        }
    }

    fn add_text(&mut self, text: &str) {
        let is_new = !self.texts.iter().any(|known| known == text);
        if self.texts.len() < MOST && is_new && !text.contains('\\') {
            self.texts.push(text.to_owned());
        }
    }
}

/// The string constant at the end of a text.
fn text_at_end(text: &str) -> Option<&str> {
    let quote = text.chars().next_back().filter(|last| matches!(last, '"' | '\''))?;
    let inner = &text[..text.len() - 1];
    inner.rfind(quote).map(|start| &inner[start + 1..])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comparisons_are_found() {
        let mut found = Constants::default();
        found.add("#@ if data.values.mode == \"fast\" or 'slow' != x or y in [\"a\", 'b']:\n#@ if n > 3 and n<-2:\n");
        assert_eq!(found.texts, ["fast", "slow", "a", "b"]);
        assert_eq!(found.numbers, [-2, -1, 3, 4]);
        let mut found = Constants::default();
        found.add("a: #@ \"x\" in s\nb: = 1 == \nc: <>\"\nd: #@ s.startswith(\"https:\")\n");
        assert_eq!(found.texts, ["x", "https:"]);
    }
}
