//! Projects: compiled once, rendered many times, on many threads.

use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use proptest::prelude::*;
use ytterby::diag::Id;
use ytterby::{
    Cancellation, Content, FieldType, GenerateOptions, Impact, InputFile, Inspect, Limits, Meter, Options, OutputValue,
    Presence, Project, ProjectError, Question, SchemaFormat, Silent, ValueFlags, Values,
};

const SCHEMA: &str = "#@data/values-schema
---
#@schema/desc \"Who serves\"
name: shop
#@schema/validation min=1
replicas: 1
#@schema/nullable
db:
  host: localhost
  #@schema/secret
  password: hush
tags:
- \"\"
";

const CONFIG: &str = "#@ load('@ytt:data', 'data')
#@ load('names.star', 'full')
---
name: #@ full(data.values.name)
replicas: #@ data.values.replicas
tags: #@ data.values.tags
fixed:
  list: [1, 2.5, true, null, text]
";

const NAMES: &str = "def full(name):
  return \"the-\" + name
end
";

fn shop() -> Project {
    Project::new([("schema.yml", SCHEMA), ("config.yml", CONFIG), ("names.star", NAMES), ("plain.yml", "plain: 1\n")])
        .unwrap()
}

#[test]
fn renders_with_typed_values() {
    let values =
        Values::new().document(&BTreeMap::from([("tags", ["a", "b: c"])])).set("replicas", 3).set_text("name", "7");
    let output = shop().render(&values).unwrap();
    let expected = "name: the-7\nreplicas: 3\ntags:\n- a\n- 'b: c'\nfixed:\n  list:\n  - 1\n  - 2.5\n  - true\n  - null\n  - text\n---\nplain: 1\n";
    assert_eq!(output.yaml().unwrap(), expected);

    #[derive(serde::Deserialize, PartialEq, Debug)]
    #[serde(untagged)]
    enum Document {
        Config { name: String, replicas: u32 },
        Plain { plain: u8 },
    }
    let documents: Vec<Document> = output.deserialize().unwrap();
    assert_eq!(documents, [Document::Config { name: "the-7".into(), replicas: 3 }, Document::Plain { plain: 1 }]);
    let wrong = output.deserialize::<BTreeMap<String, u8>>().unwrap_err();
    assert!(wrong.to_string().contains("Document 1 is not of the type"), "{wrong}");

    let nodes = output.documents();
    assert_eq!(nodes.iter().map(|doc| doc.file()).collect::<Vec<_>>(), ["config.yml", "plain.yml"]);
    let OutputValue::Map(items) = &nodes[0].root().value else { panic!("no map") };
    assert_eq!(output.sources().locate(items[1].1.pos), "config.yml:5");
    let files = output.files().unwrap();
    assert_eq!(files.iter().map(|file| &*file.path).collect::<Vec<_>>(), ["config.yml", "plain.yml"]);
}

#[test]
fn renders_are_independent() {
    let project = shop();
    let failed = project.render(&Values::new().set("replicas", 0)).unwrap_err();
    let problems = failed.diagnostics();
    assert_eq!(problems.len(), 1);
    assert_eq!(problems[0].id, Id::RULE_MIN);
    assert!(failed.to_string().contains("replicas"), "{failed}");
    // Secrets of one render are masked there, and nowhere else.
    let hidden = project.render(&Values::new().set("db", BTreeMap::from([("password", "shop")])).set("replicas", 0));
    assert!(!format!("{}", hidden.unwrap_err()).contains("name: shop"));
    assert!(project.render(&Values::new()).unwrap().yaml().unwrap().starts_with("name: the-shop\n"));
    let wrong = project.render(&Values::new().set("a=b", 1)).unwrap_err();
    assert!(wrong.to_string().contains("equals sign"), "{wrong}");
}

#[test]
fn files_are_read_once_and_changed_one_by_one() {
    let reads = Arc::new(AtomicUsize::new(0));
    let file = |path: &str, text: &'static str| {
        let reads = reads.clone();
        let read = move || {
            reads.fetch_add(1, Ordering::Relaxed);
            Ok(text.as_bytes().into())
        };
        InputFile::new(path, Content::later(read))
    };
    let project = Project::builder()
        .inputs([file("schema.yml", SCHEMA), file("config.yml", CONFIG), file("names.star", NAMES)])
        .build()
        .unwrap();
    let mut renderer = project.renderer();
    for replicas in 1..5 {
        let output = renderer.render(&Values::new().set("replicas", replicas)).unwrap().yaml().unwrap();
        assert!(output.contains(&format!("replicas: {replicas}\n")), "{output}");
    }
    assert_eq!(reads.load(Ordering::Relaxed), 3);
    let changed = project.with_file(file("names.star", "def full(name):\n  return name\nend\n"));
    assert!(changed.render(&Values::new()).unwrap().yaml().unwrap().starts_with("name: shop\n"));
    assert!(project.render(&Values::new()).unwrap().yaml().unwrap().starts_with("name: the-shop\n"));
    assert_eq!(reads.load(Ordering::Relaxed), 4);
    let missing = changed.without_file("names.star").render(&Values::new()).unwrap_err();
    assert!(missing.to_string().contains("Expected to find file 'names.star'"), "{missing}");
    assert_eq!(reads.load(Ordering::Relaxed), 4);
}

#[test]
fn many_changes_do_not_pile_up() {
    let mut project = shop();
    for turn in 0..3000 {
        let text = format!("turn: {turn}\n");
        project = project.with_file(InputFile::new("plain.yml", Content::new(text.as_bytes())));
        if turn % 500 == 0 {
            assert!(project.render(&Values::new()).unwrap().yaml().unwrap().ends_with(&text));
        }
    }
    assert_eq!(project.paths().count(), 4);
}

#[test]
fn threads_share_a_project() {
    let project = shop();
    let expected = project.render(&Values::new().set("replicas", 2)).unwrap().yaml().unwrap();
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                let mut renderer = project.renderer();
                for _ in 0..20 {
                    let values = Values::new().set("replicas", 2);
                    assert_eq!(renderer.render(&values).unwrap().yaml().unwrap(), expected);
                }
            });
        }
    });
}

#[test]
fn every_render_reports_warnings() {
    let text = "#@ load('@ytt:overlay', 'overlay')\n---\n#@overlay/mtach missing_ok=True\na: 1\n";
    let project = Project::new([("a.yml", text)]).unwrap();
    let mut renderer = project.renderer();
    let ids = |renderer: &mut ytterby::Renderer| -> Vec<Id> {
        renderer.render(&Values::new()).unwrap().warnings().iter().map(|warning| warning.id).collect()
    };
    assert_eq!(ids(&mut renderer), [Id::ANNOTATION_UNKNOWN]);
    assert_eq!(ids(&mut renderer), [Id::ANNOTATION_UNKNOWN]);
    assert_eq!(ids(&mut project.renderer()), [Id::ANNOTATION_UNKNOWN]);
}

#[test]
fn schema_lists_fields() {
    let schema = shop().schema().unwrap();
    let paths: Vec<&str> = schema.fields.iter().map(|field| &*field.path).collect();
    assert_eq!(paths, ["name", "replicas", "db", "db.host", "db.password", "tags"]);
    let replicas = schema.field("replicas").unwrap();
    assert_eq!((&*replicas.type_name, replicas.required, &replicas.presence), ("integer", false, &Presence::Always));
    assert_eq!(replicas.rules.len(), 1);
    assert!(schema.field("db.password").unwrap().secret);
    assert!(schema.field("db").unwrap().nullable);
    assert_eq!(schema.field("name").unwrap().description.as_deref(), Some("Who serves"));
    assert_eq!(schema.sources.locate(replicas.pos), "schema.yml:6");
    assert!(Project::new([("a.yml", "a: 1\n")]).unwrap().schema().unwrap().fields.is_empty());
}

#[test]
fn projects_go_from_thread_to_thread() {
    fn is_shared<T: Send + Sync + Clone>() {}
    is_shared::<Project>();
    is_shared::<Values>();
    is_shared::<ProjectError>();
}

fn id_of<T>(result: Result<T, ProjectError>) -> Id {
    result.map(|_| ()).expect_err("it fails").diagnostics()[0].id
}

#[test]
fn limits_apply_to_writing() {
    // 10 GB if it were written: one string, shared.
    let text = "#@ big = 'x' * (1 << 20)\n---\nall:\n#@ for i in range(10000):\n- #@ big\n#@ end\n";
    let limits = Limits { output: Some(100), ..Limits::default() };
    let project = Project::builder().file("a.yml", text).limits(limits).build().unwrap();
    let output = project.render(&Values::new()).unwrap();
    assert_eq!(id_of(output.yaml()), Id::LIMIT_OUTPUT);
    assert_eq!(id_of(output.json()), Id::LIMIT_OUTPUT);
    assert_eq!(id_of(output.files()), Id::LIMIT_OUTPUT);
    assert_eq!(id_of(output.deserialize::<serde_json::Value>()), Id::LIMIT_OUTPUT);
    // The default limit applies, too.
    let output = Project::new([("a.yml", text)]).unwrap().render(&Values::new()).unwrap();
    assert_eq!(id_of(output.yaml()), Id::LIMIT_OUTPUT);

    let small = Project::builder().file("a.yml", "a: 12345\n").limits(limits).build().unwrap();
    let output = small.render(&Values::new()).unwrap();
    for _ in 0..20 {
        assert_eq!(output.yaml().unwrap(), "a: 12345\n");
    }
    let limits = Limits { output: Some(3), ..Limits::default() };
    let small = Project::builder().file("a.yml", "a: 12345\n").file("b.txt", "text").limits(limits).build().unwrap();
    let output = small.render(&Values::new()).unwrap();
    assert_eq!((id_of(output.yaml()), id_of(output.files())), (Id::LIMIT_OUTPUT, Id::LIMIT_OUTPUT));
}

#[test]
fn writing_can_be_cancelled() {
    let token = Cancellation::new();
    let text = "#@ row = list(range(10000))\n---\nrows: #@ [row] * 10\n";
    let project = Project::new([("a.yml", text)]).unwrap().with_cancellation(token.clone());
    let output = project.render(&Values::new()).unwrap();
    token.cancel();
    assert_eq!(id_of(output.yaml()), Id::LIMIT_CANCELLED);
}

/// The first look at the clock after [`Clock::restart`] is that at the begin of a render; later
/// ones are much later.
#[derive(Debug, Default)]
struct Clock(AtomicBool);

impl Clock {
    fn restart(&self) {
        self.0.store(false, Ordering::Relaxed);
    }
}

impl Meter for Clock {
    fn time(&self) -> Option<Duration> {
        let has_begun = self.0.swap(true, Ordering::Relaxed);
        Some(if has_begun { Limits::TIME + Duration::from_millis(500) } else { Duration::ZERO })
    }

    fn memory(&self) -> Option<u64> {
        None
    }
}

#[test]
fn input_files_raise_the_default_limits() {
    let work = "#@ n = 0\n#@ for i in range(100000):\n#@   n += i\n#@ end\n---\na: #@ n\n";
    let clock = Arc::new(Clock::default());
    let project = |bytes: usize| {
        let comments = format!("# {}\n", "x".repeat(97)).repeat(bytes / 100) + "b: 1\n";
        let builder = Project::builder().file("b.yml", comments).file("a.yml", work).ignore_unknown_comments(true);
        builder.meter(clock.clone()).build().unwrap()
    };
    let render = |renderer: &mut ytterby::Renderer| {
        clock.restart();
        renderer.render(&Values::new()).map(drop)
    };
    assert_eq!(id_of(render(&mut project(1000).renderer())), Id::LIMIT_TIME);
    // One second for each MB of input, in the first render and in those that parse nothing.
    let large = project(1_000_000);
    let mut renderer = large.renderer();
    for _ in 0..3 {
        render(&mut renderer).unwrap();
    }
    render(&mut large.renderer()).unwrap();
}

/// Renders all data values as they are.
fn echo() -> Project {
    let config = "#@ load('@ytt:data', 'data')\n--- #@ data.values\n";
    let schema = "#@data/values-schema\n---\n#@schema/type any=True\nv: null\n#@schema/type any=True\nw: null\n";
    Project::new([("schema.yml", schema), ("config.yml", config)]).unwrap()
}

#[test]
fn documents_of_any_name_are_values() {
    for name in ["values", "prod.json", "config/prod.json", "config/prod.txt", "/dev/stdin"] {
        let output = echo().render(&Values::new().yaml(name, "{\"v\": 1}")).unwrap();
        assert_eq!(output.yaml().unwrap(), "v: 1\nw: null\n", "{name}");
        let wrong = echo().render(&Values::new().yaml(name, "{")).unwrap_err();
        assert!(wrong.to_string().contains(name), "{wrong}");
    }
}

#[derive(serde::Serialize, serde::Deserialize, PartialEq, Clone, Debug)]
struct Echoed<T> {
    v: T,
    w: T,
}

fn round_trip<T>(value: &T) -> Echoed<T>
where
    T: serde::Serialize + serde::de::DeserializeOwned,
{
    let values = Values::new().document(&BTreeMap::from([("v", value)])).set("w", value);
    echo().render(&values).unwrap().deserialize().unwrap().pop().unwrap()
}

#[test]
fn characters_that_yaml_treats_specially_are_kept() {
    for c in [
        "\u{85}", "\u{7f}", "\u{80}", "\u{2028}", "\u{2029}", "\u{feff}", "\u{fffe}", "\u{ffff}", "\0", "\\", "\"",
        "\\\"", "😀",
    ] {
        let text = format!("a{c}b: {c}{c} #");
        assert_eq!(round_trip(&text), Echoed { v: text.clone(), w: text });
    }
    let map = |key: String| BTreeMap::from([("a".to_owned(), 1), (key, 2), ("z".to_owned(), 3)]);
    for map in [map("k".repeat(5000)), map("\u{85}".repeat(300)), map("? x".to_owned())] {
        assert_eq!(round_trip(&map), Echoed { v: map.clone(), w: map });
    }
    assert_eq!(round_trip(&Some(f64::NAN)), Echoed { v: None, w: None });
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn values_come_back_unchanged(text: String, number in -1e300..1e300, keys: BTreeMap<String, i64>) {
        prop_assert_eq!(round_trip(&text), Echoed { v: text.clone(), w: text });
        prop_assert_eq!(round_trip(&number), Echoed { v: number, w: number });
        prop_assert_eq!(round_trip(&keys), Echoed { v: keys.clone(), w: keys });
    }
}

#[test]
fn later_values_win() {
    let rendered = |values: Values| echo().render(&values).unwrap().yaml().unwrap();
    assert_eq!(rendered(Values::new().set("v", 1).set_text("v", "2")), "v: \"2\"\nw: null\n");
    assert_eq!(rendered(Values::new().set_text("v", "2").set("v", 1)), "v: 1\nw: null\n");
    assert_eq!(rendered(Values::new().set("v", 1).set_yaml("v", "[2]").set_text("w", "3")), "v:\n- 2\nw: \"3\"\n");
    assert_eq!(rendered(Values::new().set("v", 1).yaml("values.yml", "v: 2\nw: 2\n")), "v: 1\nw: 2\n");
    let flags = ValueFlags { strings: vec!["v=2".to_owned(), "w=2".to_owned()], ..ValueFlags::default() };
    assert_eq!(rendered(Values::new().set("v", 1).flags(flags)), "v: 1\nw: \"2\"\n");
}

#[test]
fn flags_are_appended_with_placed_values() {
    let value =
        ytterby::OutputNode { value: OutputValue::Scalar(ytterby::Scalar::Int(7)), pos: ytterby::diag::Pos::UNKNOWN };
    let placed = ytterby::PlacedValue { key: "v".to_owned(), value };
    let flags = ValueFlags { placed: vec![placed], ..ValueFlags::default() };
    let output = echo().render(&Values::new().flags(flags)).unwrap();
    assert_eq!(output.yaml().unwrap(), "v: 7\nw: null\n");
}

#[test]
fn debug_shows_no_values() {
    let values = Values::new().yaml("secret.yml", "v: hush").set("v", "hush").set_text("w", "hush");
    assert_eq!(format!("{values:?}"), "Values { documents: [\"secret.yml\"], keys: [\"v\", \"w\"], .. }");
}

#[test]
fn runs_have_the_settings_of_the_project() {
    let endless = "#@ n = 0\n#@ while True:\n#@   n += 1\n#@ end\n---\nn: #@ n\n";
    let run = |project: &Project, options: &Options| {
        project.renderer().run(options, Rc::new(Silent)).map(|(rendered, _)| rendered)
    };
    let limits = Limits { steps: Some(1000), ..Limits::default() };
    let project = Project::builder().file("a.yml", endless).limits(limits).build().unwrap();
    assert_eq!(project.options().limits, limits);
    assert_eq!(id_of(run(&project, &Options::default())), Id::LIMIT_STEPS);
    let token = Cancellation::new();
    token.cancel();
    let cancelled = Project::new([("a.yml", endless)]).unwrap().with_cancellation(token);
    assert_eq!(id_of(run(&cancelled, &Options::default())), Id::LIMIT_CANCELLED);
    let commented =
        Project::builder().file("a.yml", "#@ x = 1\n# Comment\n---\na: #@ x\n").ignore_unknown_comments(true);
    let rendered = run(&commented.build().unwrap(), &Options::default()).unwrap();
    assert_eq!(rendered.documents, b"a: 1\n");
    let own = Options { limits: Limits { steps: Some(10), ..Limits::default() }, ..Options::default() };
    let error = run(&project, &own).unwrap_err();
    assert!(error.to_string().contains("--limit-steps 10"), "{error}");
    let inspected = Options { inspect: Some(Inspect::Files), ..Options::default() };
    assert_eq!(run(&project, &inspected).unwrap().documents, b"- a.yml\n");
}

#[test]
fn projects_are_compiled_up_front() {
    let builder = Project::builder().file("a.yml", "a: #@ 1 +\n").file("b.star", "def f(:\n").file("c.yml", "c: [\n");
    let builder = builder.file("d.yml", "d: 1\n").file("_ytt_lib/l/e.txt", "(@= 1 + @)");
    let project = builder.build().unwrap();
    for _ in 0..2 {
        let error = project.compile().unwrap_err();
        let files: Vec<String> =
            error.diagnostics().iter().map(|problem| error.sources().locate(problem.primary().unwrap().pos)).collect();
        assert_eq!(files, ["a.yml:1", "b.star:1", "c.yml:1", "_ytt_lib/l/e.txt:1"], "{error}");
    }
    shop().compile().unwrap();
}

#[test]
fn values_are_checked_without_templates() {
    let project = shop().with_file(InputFile::new("wrong.yml", Content::new(*b"a: #@ fail('rendered')\n")));
    let mut renderer = project.renderer();
    let values = renderer.values(&Values::new().set("replicas", 3)).unwrap();
    assert_eq!(values.root().get("replicas").unwrap().as_i64(), Some(3));
    assert_eq!(values.root().get("name").unwrap().as_str(), Some("shop"));
    assert!(values.root().get("other").is_none() && values.root().as_str().is_none());
    #[derive(serde::Deserialize, PartialEq, Debug)]
    struct Request {
        name: String,
        replicas: u32,
        tags: Vec<String>,
    }
    let request: Request = values.deserialize().unwrap();
    assert_eq!(request, Request { name: "shop".to_owned(), replicas: 3, tags: Vec::new() });
    assert!(values.deserialize::<Vec<String>>().unwrap_err().to_string().contains("not of the type"));
    assert_eq!(id_of(renderer.values(&Values::new().set("replicas", 0))), Id::RULE_MIN);
    assert_eq!(id_of(renderer.values(&Values::new().set("replicas", "x"))), Id::SCHEMA_TYPE);
    assert!(renderer.render(&Values::new()).unwrap_err().to_string().contains("rendered"));
}

#[test]
fn explanations_are_those_of_files() {
    let file = |(path, text): (&str, &str)| InputFile::new(path, Content::new(text.as_bytes()));
    let files = [("schema.yml", SCHEMA), ("config.yml", CONFIG), ("names.star", NAMES)];
    let questions = ["name", ":replicas", "db.password"].map(|path| Question::About(path.to_owned()));
    let questions = questions.into_iter().chain([Question::Impact("name".to_owned())]).collect::<Vec<_>>();
    let options = Options {
        values: ValueFlags { yaml: vec!["replicas=3".to_owned()], ..Default::default() },
        ..Default::default()
    };
    let expected = ytterby::explain(files.map(file).to_vec(), &options, &Arc::default(), &questions).unwrap();
    let project = Project::new(files).unwrap();
    let mut renderer = project.renderer();
    renderer.render(&Values::new()).unwrap();
    for _ in 0..2 {
        let answers = renderer.explain(&Values::new().set("replicas", 3), &questions).unwrap();
        assert_eq!(format!("{answers:?}"), format!("{expected:?}"));
    }
    let unknown = renderer.explain(&Values::new(), &[Question::About("nmae".to_owned())]).unwrap_err();
    assert!(unknown.to_string().contains("name"), "{unknown}");
    assert_eq!(renderer.render(&Values::new()).unwrap().documents().len(), 1);
}

#[test]
fn schemas_are_exported_compared_and_tried() {
    let project = shop();
    assert!(project.export_schema(SchemaFormat::Markdown).unwrap().contains("| `replicas` |"));
    let changed = SCHEMA.replace("#@schema/validation min=1\n", "#@schema/validation min=2\n");
    let changed = project.with_file(InputFile::new("schema.yml", Content::new(changed.into_bytes())));
    let changes = changed.diff_schema(&project).unwrap();
    assert_eq!(changes.verdict(), Some(Impact::Major));
    assert_eq!(project.diff_schema(&project.clone()).unwrap().verdict(), None);
    let generated = project.generate(&GenerateOptions::new(8, 1)).unwrap();
    assert_eq!(generated.documents.len(), 8);
    for values in generated.documents {
        project.render(&Values::new().yaml("generated", values.json())).unwrap();
    }
}

#[test]
fn types_and_rules_are_typed() {
    let schema = "#@data/values-schema
---
#@schema/type one_of=[\"int\", \"string\", \"null\"]
port: 80
#@schema/nullable
ratio: 0.5
#@schema/validation min_len=2, unique=True
hosts: [\"\"]
#@schema/validation one_of=[\"a\", \"b\"], matches=\"^[ab]$\"
mode: a
#@schema/validation (\"odd\", lambda v: v % 2 == 1), max=9
odd: 1
#@schema/type any=True
any: null
flag: false
map: {}
";
    let schema = Project::new([("schema.yml", schema)]).unwrap().schema().unwrap();
    let types: Vec<(&str, &FieldType)> = schema.fields.iter().map(|field| (&*field.path, &field.ty)).collect();
    let expected = [
        ("port", FieldType::OneOf(vec![FieldType::Integer, FieldType::String])),
        ("ratio", FieldType::Float),
        ("hosts", FieldType::Array),
        ("mode", FieldType::String),
        ("odd", FieldType::Integer),
        ("any", FieldType::Any),
        ("flag", FieldType::Boolean),
        ("map", FieldType::Map),
    ];
    assert_eq!(types, expected.each_ref().map(|(path, ty)| (*path, ty)));
    let rules = |path: &str| -> Vec<(Option<Id>, Option<String>)> {
        let shown = |node: &ytterby::OutputNode| match &node.value {
            OutputValue::Scalar(_) => {
                node.as_i64().map_or_else(|| node.as_str().unwrap_or("?").to_owned(), |number| number.to_string())
            }
            OutputValue::Array(items) => items.iter().filter_map(|item| item.as_str()).collect::<Vec<_>>().join(","),
            OutputValue::Map(_) => "map".to_owned(),
        };
        schema.field(path).unwrap().rules.iter().map(|rule| (rule.id, rule.argument.as_ref().map(shown))).collect()
    };
    assert_eq!(rules("hosts"), [(Some(Id::RULE_MIN_LEN), Some("2".to_owned())), (Some(Id::RULE_UNIQUE), None)]);
    let mut mode = rules("mode");
    mode.sort_by_key(|(id, _)| id.map(Id::name));
    let matches = (Some(Id::RULE_MATCHES), Some("^[ab]$".to_owned()));
    assert_eq!(mode, [matches, (Some(Id::RULE_ONE_OF), Some("a,b".to_owned()))]);
    assert_eq!(rules("odd"), [(Some(Id::RULE_CUSTOM), None), (Some(Id::RULE_MAX), Some("9".to_owned()))]);
}

#[test]
fn limits_can_be_replaced() {
    let limits = Limits { steps: Some(1), ..Limits::default() };
    assert_eq!(id_of(shop().with_limits(limits).render(&Values::new())), Id::LIMIT_STEPS);
}

#[test]
fn marks_apply_to_changed_files() {
    let file = |path: &str, text: &str| InputFile::new(path, Content::new(text.as_bytes()));
    let builder = Project::builder().file("a.cfg", "a: #@ 1 + 1\n").file("b.yml", "b: 1\n").file("c.yml", "c: 1\n");
    let marks = ["a.cfg:type=yaml-template", "a.cfg:path=dir/a.yml", "c.yml:exclude=true"];
    let project = marks.into_iter().fold(builder, |builder, mark| builder.file_mark(mark)).build().unwrap();
    let yaml = |project: &Project| project.render(&Values::new()).unwrap().yaml().unwrap();
    assert_eq!(yaml(&project), "a: 2\n---\nb: 1\n");
    for path in ["a.cfg", "dir/a.yml"] {
        let changed = project.with_file(file(path, "a: #@ 2 + 2\n"));
        assert_eq!(yaml(&changed), "a: 4\n---\nb: 1\n");
        assert_eq!(changed.paths().collect::<Vec<_>>(), ["dir/a.yml", "b.yml"]);
        assert_eq!(yaml(&changed.with_file(file(path, "a: #@ 3 + 3\n"))), "a: 6\n---\nb: 1\n");
    }
    assert_eq!(yaml(&project.with_file(file("c.yml", "c: 2\n"))), yaml(&project));
    let only = Project::builder().file("a.yml", "a: 1\n").file("b.yml", "b: 1\n");
    let only = only.file_mark("a.yml:exclusive-for-output=true").build().unwrap();
    assert_eq!(yaml(&only.with_file(file("b.yml", "b: 2\n"))), "a: 1\n");
    assert_eq!(yaml(&only.with_file(file("a.yml", "a: 2\n"))), "a: 2\n");
}
