//! Documents that are written as soon as they are complete are the same as those that are kept, and
//! so are problems.

use std::rc::Rc;
use std::sync::Arc;

use proptest::prelude::*;
use ytterby::diag::Sources;
use ytterby::diag::render::ytt;
use ytterby::{Content, InputFile, Options, OutputForm, Silent};

/// Renders files, in one run of many or in the last run of a process: the latter writes early.
fn rendered(files: &[(&str, &str)], options: &Options) -> String {
    let files = files.iter().map(|(path, text)| InputFile::new(*path, Content::new(text.as_bytes()))).collect();
    let sources = Arc::new(Sources::new());
    match ytterby::render(files, options, &sources, Rc::new(Silent)) {
        Err(failure) => ytt::text(&failure, &sources),
        Ok(rendered) => {
            let mut all = String::from_utf8_lossy(&rendered.documents).into_owned();
            for file in rendered.files {
                all += &format!("[{}]\n{}", file.path, String::from_utf8_lossy(&file.bytes));
            }
            for warning in rendered.warnings {
                all += &format!("warning: {}\n", warning.message.plain());
            }
            all
        }
    }
}

/// The options of the last run of a process.
fn last() -> Options {
    Options { is_last_run: true, ..Options::default() }
}

#[track_caller]
fn check(files: &[(&str, &str)], expected: &str) {
    for target in [OutputForm::Documents, OutputForm::Files] {
        let kept = rendered(files, &Options { target, ..Options::default() });
        let early = rendered(files, &Options { target, ..last() });
        assert_eq!(early, kept);
        if target == OutputForm::Documents {
            assert!(early.contains(expected), "{early}");
        }
    }
}

#[test]
fn loops_functions_and_replaced_documents() {
    let template = "\
#@ load(\"@ytt:template\", \"template\")
#@ def labels(i):
a: #@ i
b:
  c: #@ i
#@ end
#@ def documents():
---
first: 1
--- #@ None
---
second: 2
#@ end
#@ for i in range(3):
---
labels: #@ labels(i)
list:
- x
#@ if i == 1:
- #@ i
#@ end
#@ end
--- #@ template.replace(documents())
--- #@ template.replace([1, {}, [], None, {\"a\": 1}])
--- {}
---
  #@ if True:
end: here
  #@ end
";
    check(
        &[("a.yml", template)],
        "---\nfirst: 1\n---\nsecond: 2\n---\n1\n---\n{}\n---\n[]\n---\na: 1\n---\nend: here\n",
    );
}

/// Items are written when they begin, although what follows decides about them: whether a
/// collection is empty, whether an item has a value.
#[test]
fn items_are_written_when_they_begin() {
    let template = "\
#@ def none():
#@ end
#@ def part(i):
m: #@ i
deep:
- - #@ i
  - x: z
#@ end
none:
  #@ if False:
  a: 1
  #@ end
empty:
  #@ for i in []:
  - 1
  #@ end
absent:
null: ~
fragment: #@ part(1)
list:
  #@ for i in range(2):
  - #@ part(i)
  - - #@ i
    -
    - a:
      b: #@ {}
      #@ if i == 1:
      c: []
      #@ end
  #@ end
#@yaml/text-templated-strings
text:
  key-(@= str(1) @): (@= \"x\" * 3 @) y
code: #@ {\"a\": [1, {\"b\": None}], \"c\": \"on\"}
block: |
  one
  two
#@ for name in [\"p\", \"q\"]:
#@yaml/text-templated-strings
(@= name @):
  of: #@ name
#@ end
---
#@ for i in range(3):
- #@ i
- a: 1
  #@ if i > 0:
  b:
    #@ if i > 1:
    - c
    #@ end
  #@ end
#@ end
---
#@ if False:
a: 1
#@ end
--- #@ [1, [2]]
--- #@ \"text\"
--- |
  a block
--- #@ None
--- [1, {a: b}]
";
    check(&[("a.yml", template)], "none: {}\nempty: []\nabsent: null\nnull: null\nfragment:\n  m: 1\n");
    check(&[("a.yml", template)], "---\n- 1\n- - 2\n---\ntext\n---\n|\n  a block\n---\n- 1\n- a: b\n");
    check(&[("a.yml", "#@ for i in range(2):\na: #@ i\n#@ end\n")], "expected key 'a' to not be specified again");
    check(&[("a.yml", "#@ for i in range(2):\n#@yaml/map-key-override\na: #@ i\nb: 1\n#@ end\n")], "specified again");
    check(&[("a.yml", "a: 1\n#@yaml/map-key-override\na: #@ 2\n")], "a: 2\n");
    let load = "#@ load(\"@ytt:\\x74emplate\", \"template\")\n";
    let replaced = rendered(&[("a.yml", &format!("{load}a: 1\nb: #@ template.replace({{\"c\": 2}})\n"))], &last());
    assert!(replaced.contains("load @ytt:template by this name"), "{replaced}");
}

#[test]
fn files_in_the_order_of_the_command_line() {
    let files = [
        ("z.yml", "#! plain\nz: 1\n---\nz: 2\n"),
        ("a/b.yml", "a: #@ 1\n"),
        ("empty.yml", "#! nothing\n"),
        ("none.yml", "--- #@ None\n"),
        ("text.txt", "text (@= \"x\" @)\n"),
        ("b.yaml", "b: #@ data\n#@ load(\"@ytt:data\", \"data\")\n"),
    ];
    check(&files[..5], "z: 1\n---\nz: 2\n---\na: 1\n");
    check(&files, "undefined");
    check(
        &[("v.yml", "#@data/values\n---\nv: 1\n"), ("p.yml", "p: 1\n---\n# c\n---\nq: {a: 1, a: 2}\n")],
        "p: 1\n---\nq:\n  a: 2\n",
    );
}

#[test]
fn overlays_and_output_rules_need_all_documents() {
    let overlay = "#@ load(\"@ytt:overlay\", \"overlay\")\n#@overlay/match by=overlay.all,expects=\"1+\"\n---\n#@overlay/match missing_ok=True\nb: 2\n";
    check(&[("a.yml", "a: 1\n---\na: #@ 2\n"), ("o.yml", overlay)], "a: 1\nb: 2\n---\na: 2\nb: 2\n");
    let rule = "#@assert/validate max=1\na: 2\n";
    check(&[("a.yml", rule)], "a.yml:2");
    let library = [("_ytt_lib/l/a.yml", "a: #@ 1\n"), ("_ytt_lib/l/o.yml", overlay)];
    let user = (
        "u.yml",
        "#@ load(\"@ytt:library\", \"library\")\n#@ load(\"@ytt:template\", \"template\")\n--- #@ template.replace(library.get(\"l\").eval())\n",
    );
    check(&[library[0], library[1], user], "a: 1\nb: 2\n");
    check(&[library[0], user, ("p.yml", "p: 1\n")], "a: 1\n---\np: 1\n");
}

/// The order of problems is the same: YAML of all files, then code, then writing.
#[test]
fn problems_keep_their_order() {
    let code = ("a.yml", "a: #@ fail(\"on purpose\")\n");
    check(&[code, ("b.yml", "b: [\n")], "Unmarshaling YAML template 'b.yml'");
    check(&[code, ("b.yml", "b: 1\n")], "on purpose");
    check(&[("a.yml", "---\na: #@ 1\n---\nb: #@ fail(\"on purpose\")\n")], "on purpose");
    check(&[("a.yml", "#@ if True:\n---\na: 1\n#@overlay/remove\n---\n#@ end\n")], "a: 1\n");
    check(&[("a.yml", "a:\n  #@overlay/remove\n  b: 1\n---\nc: #@ 1\n")], "has no effect");
}

/// The constant starts of items are kept in loops, and written again where they begin alike.
#[test]
fn starts_of_items_in_loops() {
    let template = "\
list:
#@ for i in range(4):
- name: one
  kind: {}
  nested:
    deep:
    - - - x
        - v: #@ i
    #@ if i % 2:
    text: |
      block
       more
    none:
    #@ end
    code: #@ i
  #@ for j in range(i):
  last:
  - z
  #@ end
#@ end
---
#@ for i in range(3):
  #@ if i > 0:
-
  - a: b
    c: #@ i
  #@ end
- - a: b
    c: #@ i
- - a: b
    #@ if i == 2:
    a: again
    #@ end
    c: #@ i
#@ end
#@ for i in range(3):
---
kind: x
\"on\": {a: [], b: [1, {c: }]}
spec:
  #@ if i == 1:
  first: true
  #@ end
  second: #@ i
#@ end
";
    let once = template.replace("range(i)", "range(i % 2)").replace("a: again", "d: once");
    check(
        &[("a.yml", &once)],
        "- name: one\n  kind: {}\n  nested:\n    deep:\n    - - - x\n        - v: 3\n    text: |",
    );
    check(&[("a.yml", &once)], "    code: 3\n  last:\n  - z\n---\n- - a: b\n    c: 0\n");
    check(&[("a.yml", &template.replace("a: again", "d: once"))], "expected key 'last' to not be specified again");
    check(&[("a.yml", &template.replace("range(i)", "range(i % 2)"))], "expected key 'a' to not be specified again");
    let annotated = once.replace("    c: #@ i\n", "    #@overlay/remove\n    c: #@ i\n");
    check(&[("a.yml", &annotated)], "has no effect");
}

/// Writes a template that the bytes choose.
struct Chooser<'a> {
    bytes: std::slice::Iter<'a, u8>,
    text: String,
    indent: usize,
    loops: usize,
    keys: usize,
}

impl Chooser<'_> {
    fn choose(&mut self, count: u8) -> u8 {
        self.bytes.next().map_or(0, |byte| byte % count)
    }

    fn line(&mut self, line: &str) {
        let indent = "  ".repeat(self.indent);
        self.text += &format!("{indent}{line}\n");
    }

    /// The items of a map or an array, some of them in loops and conditions.
    fn items(&mut self, is_map: bool) {
        for _ in 0..=self.choose(4) {
            let code = match self.choose(6) {
                1 if !is_map || self.choose(12) == 1 => Some("for i in range(3):"),
                2 | 3 if self.loops > 0 => Some("if i % 2 == 1:"),
                _ => None,
            };
            if let Some(code) = code {
                self.line(&format!("#@ {code}"));
                self.loops += 1;
            }
            match self.choose(12) {
                1 => self.line("#! a comment"),
                2 => self.line("#@overlay/append"),
                3 if is_map => self.line("#@yaml/map-key-override"),
                _ => {}
            }
            self.item(is_map);
            if code.is_some() {
                self.line("#@ end");
                self.loops -= 1;
            }
        }
    }

    fn item(&mut self, is_map: bool) {
        self.keys += usize::from(self.choose(60) != 1);
        let start = match (is_map, self.choose(8)) {
            (true, 1) if self.loops > 0 => format!("#@yaml/text-templated-strings\nk{}-(@= str(i) @):", self.keys),
            (true, _) => format!("k{}:", self.keys),
            (false, _) => "-".to_owned(),
        };
        for line in start.lines().take(start.lines().count() - 1) {
            self.line(line);
        }
        let start = start.lines().last().unwrap_or_default().to_owned();
        let number = if self.loops > 0 { "i" } else { "7" };
        match self.choose(10) {
            0 => self.line(&start),
            1 => self.line(&format!("{start} constant")),
            2 => self.line(&format!("{start} #@ {number}")),
            3 => self.line(&format!("{start} {{a: [1, {{}}], \"yes\": }}")),
            4 => self.line(&format!("{start} #@ {{\"a\": [{number}], \"b\": {{}}}}")),
            5 => {
                self.line(&format!("{start} |"));
                self.line("  block");
                self.line("    of text");
            }
            6 => {
                self.line("#@yaml/text-templated-strings");
                self.line(&format!("{start} text (@= str({number}) @)"));
            }
            kind => {
                self.line(&start);
                self.indent += 1;
                if self.indent < 6 {
                    self.items(kind < 9);
                }
                self.indent -= 1;
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(400) })]

    #[test]
    fn chosen_templates(bytes in proptest::collection::vec(any::<u8>(), 0..400)) {
        let mut chooser = Chooser { bytes: bytes.iter(), text: String::new(), indent: 0, loops: 0, keys: 0 };
        for _ in 0..=chooser.choose(3) {
            let is_in_loop = chooser.choose(2) == 1;
            if is_in_loop {
                chooser.line("#@ for i in range(3):");
                chooser.loops += 1;
            }
            chooser.line("---");
            let is_map = chooser.choose(3) > 0;
            chooser.items(is_map);
            if is_in_loop {
                chooser.line("#@ end");
                chooser.loops -= 1;
            }
        }
        for target in [OutputForm::Documents, OutputForm::Files] {
            let files = [("a.yml", chooser.text.as_str())];
            let kept = rendered(&files, &Options { target, ..Options::default() });
            let early = rendered(&files, &Options { target, ..last() });
            prop_assert_eq!(early, kept, "{}", chooser.text);
        }
    }
}
