//! Projects: compiled once, rendered many times, on many threads.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use ytterby::diag::Id;
use ytterby::{Content, InputFile, OutputValue, Presence, Project, ProjectError, Values};

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
