//! Finds the functions and loops of a template around a position, from its lines of code.
//!
//! The position of a node is known; the enclosing `def` and `for` are found in the text: lines of code begin with `#@`,
//! blocks end with `end`.

use ytterby_diag::{Pos, Sources};

/// A function or a loop.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Block {
    pub kind: BlockKind,
    /// Its first line.
    pub pos: Pos,
    /// That line as written, without the colon: `for host in data.values.hosts`.
    pub text: String,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum BlockKind {
    Function,
    Loop,
    Other,
}

/// The functions and loops around a position, outermost first.
pub(super) fn around(sources: &Sources, pos: Pos) -> Vec<Block> {
    let pos = sources.source_place(pos);
    let Some(source) = sources.get(pos.file).filter(|_| pos.is_known()) else { return Vec::new() };
    let bytes = source.text();
    let before = &bytes[..bytes.len().min(pos.offset as usize)];
    let mut open: Vec<Block> = Vec::new();
    // `for/end` applies to the next node only.
    let mut single: Option<Block> = None;
    let mut start = 0;
    for line in before.split_inclusive(|byte| *byte == b'\n') {
        let at = start;
        start += line.len();
        let text = String::from_utf8_lossy(line);
        let trimmed = text.trim();
        let Some(code) = trimmed.strip_prefix("#@").map(str::trim) else {
            // The text before the position on its line is not a whole line.
            let is_node = line.ends_with(b"\n") && !trimmed.is_empty() && !trimmed.starts_with('#');
            single = single.filter(|_| !is_node);
            continue;
        };
        if code == "end" {
            open.pop();
            continue;
        }
        let indent = text.len() - text.trim_start().len();
        let place = Pos::new(pos.file, (at + indent) as u32);
        let Some((block, is_single)) = block_of(code, place) else { continue };
        match is_single {
            true => single = Some(block),
            false => open.push(block),
        }
    }
    open.extend(single);
    open.retain(|block| block.kind != BlockKind::Other);
    open
}

/// The block that a line of code begins, and whether it is for one node.
fn block_of(code: &str, pos: Pos) -> Option<(Block, bool)> {
    let header = code.strip_suffix(':')?;
    let (word, rest) = header.split_once(' ').unwrap_or((header, ""));
    let (kind, is_single) = match word {
        "def" => (BlockKind::Function, false),
        "for" | "while" => (BlockKind::Loop, false),
        "for/end" => (BlockKind::Loop, true),
        "if" => (BlockKind::Other, false),
        _ => return None,
    };
    let word = word.split('/').next().unwrap_or(word);
    Some((Block { kind, pos, text: format!("{word} {}", rest.trim()) }, is_single))
}

#[cfg(test)]
mod tests {
    use ytterby_diag::Source;

    use super::*;

    /// The blocks around `|`.
    fn blocks(text: &str) -> Vec<String> {
        let offset = text.find('|').expect("a place");
        let sources = Sources::new();
        let file = sources.add(Source::new("t.yml", text.replace('|', "").into_bytes()));
        around(&sources, Pos::new(file, offset as u32)).into_iter().map(|block| block.text).collect()
    }

    #[test]
    fn blocks_around_a_place() {
        assert_eq!(blocks("#@ def f(x):\n|a: 1\n#@ end\n"), ["def f(x)"]);
        assert_eq!(blocks("#@ def f(x):\na: 1\n#@ end\n---\n|b: 1\n"), <[&str; 0]>::default());
        let nested = "l:\n#@ for a in x:\n  #@ if a:\n#@ for b in a:\n- |c: 1\n#@ end\n#@ end\n#@ end\n";
        assert_eq!(blocks(nested), ["for a in x", "for b in a"]);
        assert_eq!(blocks("#@ for/end a in x:\n- |a: 1\n- b: 1\n"), ["for a in x"]);
        assert_eq!(blocks("#@ for/end a in x:\n- a: 1\n- |b: 1\n"), <[&str; 0]>::default());
    }
}
