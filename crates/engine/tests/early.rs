//! Documents that are written as soon as they are complete are the same as those that are kept, and so are problems.

use std::rc::Rc;
use std::sync::Arc;

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

/// Items are written when they begin, although what follows decides about them: whether a collection is empty, whether an
/// item has a value.
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
