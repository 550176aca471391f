//! The deepest allowed data does not overflow a stack of 2 MiB, so that any thread can be used.

use ytterby::{Inspect, Options, OutputForm, OutputTypes, PlacedValue, Project, Silent, ValueFlags, Values};

/// As deep as YAML may be.
const LEVELS: usize = 9_900;

/// The default stack size of a thread.
const STACK: usize = 2 << 20;

/// Renders on a small stack; any result is fine, as long as there is one.
fn outcome(files: Vec<(&'static str, String)>, values: Option<String>) -> String {
    let work = move || {
        let project = Project::new(files).unwrap();
        let values = values.map_or(Values::new(), |text| Values::new().yaml("values.yml", text));
        match project.render(&values) {
            Ok(output) => {
                let yaml = output.yaml().unwrap_or_else(|error| error.to_string());
                let json = output.json().map_or_else(|error| error.to_string(), |json| json.len().to_string());
                let documents = output.documents().len();
                let files = output.files().map_or(0, |files| files.len());
                drop(output);
                format!("ok {} {json} {documents} {files}", yaml.len())
            }
            Err(error) => format!("error {}", error.to_string().len()),
        }
    };
    std::thread::Builder::new().stack_size(STACK).spawn(work).unwrap().join().unwrap()
}

fn nested(open: &str, inner: &str, close: &str) -> String {
    format!("{}{inner}{}", open.repeat(LEVELS), close.repeat(LEVELS))
}

#[test]
fn plain_documents() {
    assert!(outcome(vec![("a.yml", nested("[", "1", "]"))], None).starts_with("ok"));
    assert!(outcome(vec![("a.yml", nested("{a: ", "1", "}"))], None).starts_with("ok"));
}

/// Calls a function on a stack of 256 KiB.
fn on_tiny_stack(work: impl FnOnce() + Send + 'static) {
    std::thread::Builder::new().stack_size(256 << 10).spawn(work).unwrap().join().unwrap();
}

#[test]
fn public_trees() {
    for (open, close) in [("{a: ", "}"), ("[", "]")] {
        on_tiny_stack(move || {
            let config = "#@ load('@ytt:data', 'data')\n---\na: #@ data.values.a\n";
            let text = format!("#@data/values-schema\n---\n#@schema/type any=True\na: {}\n", nested(open, "1", close));
            let project = Project::new([("schema.yml", &*text), ("config.yml", config)]).unwrap();
            let mut renderer = project.renderer();
            let output = renderer.render(&Values::new()).unwrap();
            for document in output.documents().into_iter().chain([renderer.values(&Values::new()).unwrap()]) {
                let copy = document.clone();
                drop(document);
                assert!(format!("{copy:?}").len() > LEVELS);
                let mut root = copy.root().clone();
                drop(copy);
                let value = std::mem::take(&mut root.value);
                assert!(format!("{:?}", value.clone()).len() > LEVELS);
                drop(value);
            }
            let schema = project.schema().unwrap();
            let field = schema.field("a").unwrap().clone();
            drop(schema);
            assert!(format!("{:?}", field.default).len() > LEVELS);
            let flags = ValueFlags {
                placed: vec![PlacedValue { key: "a".to_owned(), value: field.default.unwrap() }],
                ..ValueFlags::default()
            };
            drop(renderer.render(&Values::new().flags(flags.clone())).unwrap());
            drop(flags);
        });
    }
}

#[test]
fn templates_and_overlays() {
    let template = format!("#@ x = 1\n---\na: #@ x\nb: {}\n", nested("{a: ", "1", "}"));
    let overlay = format!(
        "#@ load('@ytt:overlay', 'overlay')\n#@overlay/match by=overlay.all\n---\n#@overlay/match missing_ok=True\nb: {}\n",
        nested("{a: ", "2", "}")
    );
    assert!(outcome(vec![("a.yml", template.clone())], None).starts_with("ok"));
    let both = outcome(vec![("a.yml", template), ("o.yml", overlay)], None);
    assert!(both.starts_with("ok") || both.starts_with("error"), "{both}");
}

#[test]
fn values_and_schemas() {
    let schema = format!("#@data/values-schema\n---\na: {}\n", nested("{a: ", "1", "}"));
    let config = "#@ load('@ytt:data', 'data')\n#@ load('@ytt:json', 'json')\n---\na: #@ data.values.a\nj: #@ json.encode(data.values.a)\n";
    let values = format!("a: {}\n", nested("{a: ", "2", "}"));
    let files = |schema: &str| vec![("schema.yml", schema.to_owned()), ("config.yml", config.to_owned())];
    for values in [None, Some(values.clone()), Some(format!("b: {values}"))] {
        let outcome = outcome(files(&schema), values);
        assert!(outcome.starts_with("ok") || outcome.starts_with("error"), "{outcome}");
    }
    let any = "#@data/values-schema\n---\n#@schema/type any=True\na: null\n";
    assert!(outcome(files(any), Some(values)).starts_with("ok"));
    let arrays = format!("#@data/values-schema\n---\na: {}\n", nested("[", "1", "]"));
    let given = Some(format!("a: {}\n", nested("[", "2", "]")));
    let outcome = outcome(vec![("schema.yml", arrays), ("config.yml", config.to_owned())], given);
    assert!(outcome.starts_with("ok") || outcome.starts_with("error"), "{outcome}");
}

#[test]
fn values_that_code_makes() {
    let programs = [
        // A list and a dict nested in themselves repeatedly.
        "x = [1]\nfor i in range(9000):\n  x = [x]\nend\nr = x",
        "x = {}\nfor i in range(9000):\n  x = {'a': x}\nend\nr = x",
        // Compared in every possible way.
        "x = [1]\ny = [1]\nfor i in range(100000):\n  x = [x]\n  y = [y]\nend\nr = 1 if x == y else 2",
        "x = [1]\nfor i in range(100000):\n  x = [x]\nend\nr = len(str(x))",
        "x = ()\nfor i in range(100000):\n  x = (x,)\nend\nd = {x: 1}\nr = d[x]",
        "f = lambda x: x\nfor i in range(1000):\n  f = (lambda g: lambda x: g(x))(f)\nend\nr = f(1)",
        "def f(n):\n  if n == 0:\n    return 0\n  end\n  return f(n - 1) + 1\nend\nr = f(10000)",
    ];
    for program in programs {
        let code: String = program.lines().map(|line| format!("#@ {line}\n")).collect();
        let text = format!("{code}---\na: #@ r\n");
        let outcome = outcome(vec![("a.yml", text)], None);
        assert!(outcome.starts_with("ok") || outcome.starts_with("error"), "{program}: {outcome}");
    }
    for (module, call) in [
        ("json", "json.decode('['*9000 + ']'*9000)"),
        ("yaml", "yaml.decode('['*9000 + ']'*9000)"),
        ("yaml", "yaml.encode(json.decode('['*9000 + ']'*9000))"),
        ("toml", "toml.encode(json.decode('{\"a\":'*9000 + '1' + '}'*9000))"),
        ("toml", "toml.decode('a = ' + '['*9000 + ']'*9000)"),
        ("json", "json.encode(json.decode('{\"a\":'*9000 + '1' + '}'*9000), indent=2)"),
    ] {
        let text =
            format!("#@ load('@ytt:json', 'json')\n#@ load('@ytt:{module}', {module}='{module}')\n---\na: #@ {call}\n");
        let outcome = outcome(vec![("a.yml", text)], None);
        assert!(outcome.starts_with("ok") || outcome.starts_with("error"), "{call}: {outcome}");
    }
    let expression = format!("#@ x = {}\n---\na: #@ x\n", nested("(", "1", ")"));
    assert!(!outcome(vec![("a.yml", expression)], None).is_empty());
    let sum = format!("#@ x = {}1\n---\na: #@ x\n", "1+".repeat(50_000));
    assert!(!outcome(vec![("a.yml", sum)], None).is_empty());
}

#[test]
fn exports_of_deep_schemas() {
    // Lists of fields contain the path of each of them, whose size grows with the square of the
    // depth.
    let formats = [("openapi-v3", LEVELS), ("json-schema", LEVELS), ("crd", LEVELS), ("values", 2000)];
    let lists = [("ytt-schema", 2000), ("markdown", 2000), ("html", 2000)];
    for (format, levels) in formats.into_iter().chain(lists) {
        for (open, close) in [("{a: ", "}"), ("[", "]")] {
            let inner = format!("{}1{}", open.repeat(levels), close.repeat(levels));
            let schema = format!("#@data/values-schema\n---\na: {inner}\n");
            let work = move || {
                let project = Project::new([("schema.yml", schema)]).unwrap();
                let options = Options {
                    inspect: Some(Inspect::Schema),
                    output_types: OutputTypes(vec![format.to_owned()]),
                    target: OutputForm::Documents,
                    ..Options::default()
                };
                let mut renderer = project.renderer();
                renderer.run(&options, std::rc::Rc::new(Silent)).map_or(0, |(rendered, _)| rendered.documents.len())
            };
            std::thread::Builder::new().stack_size(STACK).spawn(work).unwrap().join().unwrap();
        }
    }
}
