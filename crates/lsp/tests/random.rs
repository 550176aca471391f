//! Random edits and requests: no crash, no stale diagnostics, no growing memory.
//!
//! `YTTERBY_EDITS=10000 YTTERBY_SEED=7 cargo test -p ytterby-lsp --test random` makes more of them,
//! and others.

mod session;

use serde_json::{Value, json};
use session::Session;
use ytterby_ide::{LineColumn, LineIndex};

/// A small generator of numbers, the same in every run.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % bound.max(1) as u64) as usize
    }

    fn pick<'a>(&mut self, items: &[&'a str]) -> &'a str {
        items[self.below(items.len())]
    }
}

const PIECES: [&str; 38] = [
    "a",
    "#@ ",
    "#@",
    "data.values.",
    "é",
    "😀",
    "\n",
    "\r\n",
    "  ",
    "- ",
    ": ",
    "{",
    "}",
    "[",
    "]",
    "(",
    ")",
    "\"",
    "'",
    "#@ if True:\n",
    "#@ end\n",
    "#@ for i in range(2):\n",
    "#@ def f(x):\n",
    "---\n",
    "load(",
    "=",
    ",",
    "|",
    "&x ",
    "*x",
    "\t",
    "#@overlay/match ",
    "lambda x: ",
    "\"\"\"",
    "replicas",
    "#! ytterby: ignore ",
    "(@= ",
    "\\",
];

const REQUESTS: [&str; 16] = [
    "hover",
    "completion",
    "definition",
    "references",
    "documentHighlight",
    "prepareRename",
    "rename",
    "documentSymbol",
    "foldingRange",
    "selectionRange",
    "semanticTokens/full",
    "inlayHint",
    "formatting",
    "onTypeFormatting",
    "signatureHelp",
    "documentLink",
];

const FILES: [(&str, &str, &str); 4] = [
    (
        "schema.yml",
        "ytt",
        "#@data/values-schema\n---\n#@schema/desc \"Größe 😀\"\n#@schema/validation min=1\nreplicas: 2\ndb:\n  host: x\n",
    ),
    (
        "t.yml",
        "ytt",
        "#@ load(\"@ytt:data\", \"data\")\n#@ load(\"n.star\", \"full\")\n---\n\"é😀\": #@ \"😀\" + full(data.values.db.host)\n#@ if data.values.replicas > 1:\nb: {c: [1, 2]}\n#@ end\n",
    ),
    ("n.star", "ytt", "def full(n, m=1):\n  \"\"\"Gives it.\"\"\"\n  return n\nend\n"),
    ("values.yml", "ytt-values", "replicas: 3\ndb: {host: y}\nnothing: 1\n"),
];

fn memory() -> usize {
    let pages = std::fs::read_to_string("/proc/self/statm").ok();
    let resident = pages.and_then(|pages| pages.split(' ').nth(1).and_then(|pages| pages.parse::<usize>().ok()));
    resident.unwrap_or_default() * 4096
}

/// After many edits a server must know the same as a new one. Files that do not compile are
/// restored before: others use their last good versions, which a new server does not have.
fn compare_with_fresh(session: &mut Session) {
    let breaks = |found: &[String]| {
        let codes = ["yaml/syntax", "code/syntax", "code/block", "code/undefined", "code/template"];
        found.iter().any(|found| codes.iter().any(|code| found.ends_with(code)))
    };
    for _ in 0..FILES.len() {
        for (name, _, original) in FILES {
            if breaks(&session.diagnostics(name)) {
                let length = session.text(name).len();
                session.edit(name, 0, length, original);
            }
        }
    }
    let texts: Vec<(&str, String)> = FILES.iter().map(|(name, ..)| (*name, session.text(name).to_owned())).collect();
    let files: Vec<(&str, &str)> = FILES.iter().map(|(name, _, text)| (*name, *text)).collect();
    let mut fresh = Session::new(&files);
    for (name, language, _) in FILES {
        fresh.open(name, language);
    }
    for (name, text) in &texts {
        let length = fresh.text(name).len();
        fresh.edit(name, 0, length, text);
    }
    for (name, text) in &texts {
        assert_eq!(session.diagnostics(name), fresh.diagnostics(name), "{name}:\n{text}\nof {texts:?}");
    }
}

#[test]
fn random_edits_do_not_crash_or_leak() {
    let edits: usize = std::env::var("YTTERBY_EDITS").ok().and_then(|text| text.parse().ok()).unwrap_or(1500);
    let files: Vec<(&str, &str)> = FILES.iter().map(|(name, _, text)| (*name, *text)).collect();
    let mut session = Session::new(&files);
    for (name, language, _) in FILES {
        session.open(name, language);
    }
    let before: Vec<Vec<String>> = FILES.iter().map(|(name, ..)| session.diagnostics(name)).collect();
    let seed: u64 = std::env::var("YTTERBY_SEED").ok().and_then(|text| text.parse().ok()).unwrap_or_default();
    let mut random = Random(0x9e37_79b9_7f4a_7c15 ^ seed.wrapping_mul(0x2545_f491_4f6c_dd1d));
    let mut at_half = 0;
    for number in 0..edits {
        let (name, _, original) = FILES[random.below(FILES.len())];
        let text = session.text(name).to_owned();
        let mut boundary = |limit: usize| {
            let mut at = random.below(limit + 1);
            while !text.is_char_boundary(at) {
                at -= 1;
            }
            at
        };
        let start = boundary(text.len());
        let end = boundary((start + 12).min(text.len())).max(start);
        let piece = random.pick(&PIECES);
        // Now and then a file begins anew, so that it is not only rubbish.
        let end = if random.below(2) == 0 { start } else { end };
        match random.below(25) {
            0 => session.edit(name, 0, text.len(), original),
            _ if text.len() > 2000 => session.edit(name, 0, text.len(), original),
            // One unit further can be between the halves of a character, or beyond the end of its
            // line.
            1..=8 => {
                let lines = LineIndex::new(&text);
                let further = |offset| {
                    let at = lines.position(&text, offset);
                    LineColumn { column: at.column + 1, ..at }
                };
                session.edit_between(name, further(start), further(end), piece);
            }
            _ => session.edit(name, start, end, piece),
        }
        // Positions may be inside characters, after lines and after the text.
        let position = json!({"line": random.below(14), "character": random.below(60)});
        let document = json!({"uri": session.uri(name)});
        let range = json!({"start": {"line": 0, "character": 1}, "end": position});
        let params = json!({
            "textDocument": document, "position": position, "positions": [position], "range": range, "newName": "other",
            "ch": "\n", "context": {"includeDeclaration": true, "diagnostics": []},
        });
        let method = format!("textDocument/{}", random.pick(&REQUESTS));
        if let Err(error) = session.request(&method, params.clone()) {
            assert_ne!(error["code"], -32603, "{method}");
        }
        if number % 25 == 0 {
            session.diagnostics(name);
            session.request("textDocument/codeAction", params).unwrap();
            session.request("workspace/symbol", json!({"query": "r"})).unwrap();
            session.request("workspace/diagnostic", json!({"previousResultIds": []})).unwrap();
        }
        session.notifications.clear();
        if number % 250 == 249 {
            compare_with_fresh(&mut session);
        }
        if number == edits / 2 {
            at_half = memory();
        }
    }
    let grown = memory().saturating_sub(at_half);
    assert!(grown < 48 << 20, "the second half of the edits took {grown} bytes");
    compare_with_fresh(&mut session);
    for (name, _, original) in FILES {
        let length = session.text(name).len();
        session.edit(name, 0, length, original);
    }
    let after: Vec<Vec<String>> = FILES.iter().map(|(name, ..)| session.diagnostics(name)).collect();
    assert_eq!(after, before);
    let symbols = session.request("workspace/symbol", json!({"query": "full"})).unwrap();
    assert_ne!(symbols, Value::Array(Vec::new()));
}
