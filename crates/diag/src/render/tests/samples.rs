//! Typical problems, as the engine reports them.

use crate::outline::{Part, outline_of_pair};
use crate::render::{Rendering, Report, render};
use crate::*;

/// The report of one run.
#[derive(Default)]
pub(super) struct Sample {
    pub(super) sources: Sources,
    pub(super) warnings: Vec<Diagnostic>,
    pub(super) failures: Vec<Failure>,
}

impl Sample {
    pub(super) fn file(&self, name: &str, text: &str) -> FileId {
        self.sources.add(Source::new(name, text.as_bytes()))
    }

    /// The first occurrence of a text in a source, and its length.
    pub(super) fn find(&self, file: FileId, text: &str) -> (Pos, Part) {
        let source = self.sources.get(file).expect("the sample has this source");
        let bytes = source.text();
        let offset = bytes.windows(text.len()).position(|window| window == text.as_bytes());
        (Pos::new(file, offset.expect("the source contains the text") as u32), Part::Bytes(text.len() as u32))
    }

    pub(super) fn label(&self, role: Role, file: FileId, text: &str, words: &'static str) -> Label {
        let (pos, part) = self.find(file, text);
        Label::new(role, pos, part).text(words)
    }

    pub(super) fn frame(&self, name: &str, file: FileId, text: &str) -> Frame {
        let (pos, _) = self.find(file, text);
        Frame { name: Some(name.to_owned()), pos, place: pos, is_foreign: false }
    }

    pub(super) fn failing(mut self, failure: impl Into<Failure>) -> Sample {
        self.failures.push(failure.into());
        self
    }

    pub(super) fn rendered(&self, rendering: Rendering) -> String {
        let failure = (!self.failures.is_empty()).then(|| Failure::of(Cause::Series(self.failures.clone())));
        let report = Report {
            program: "ytterby",
            version: "1.2.3",
            failure: failure.as_ref(),
            warnings: &self.warnings,
            sources: &self.sources,
            printed: "",
        };
        render(&report, rendering)
    }
}

/// Every sample with its name.
pub(super) fn all() -> Vec<(&'static str, Sample)> {
    vec![
        ("type", wrong_type()),
        ("violation", violation()),
        ("undefined", undefined()),
        ("overlay", overlay()),
        ("yaml_syntax", yaml_syntax()),
        ("flag", flag()),
        ("variable", variable()),
        ("secret", secret()),
        ("several_lines", several_lines("found a string of several lines, where a number is needed", &[])),
        ("crossing_lines", several_lines("found string", &CROSSING)),
        ("long_line", long_line()),
        ("wide_characters", wide_characters()),
        ("warning", warning()),
        ("many", many(5)),
        ("no_place", no_place()),
    ]
}

const SCHEMA: &str = "#@data/values-schema\n---\nname: shop\nreplicas: 2\nversion: \"\"\n";

/// The outline of lines `key: value`.
fn outline_of_lines(text: &[u8]) -> Outline {
    let mut start = 0;
    let mut items = Vec::new();
    for line in text.split_inclusive(|byte| *byte == b'\n') {
        if let Some(colon) = line.iter().position(|byte| *byte == b':') {
            let key = start..start + colon as u32;
            items.push(OutlineItem { at: start, value: key.end + 1..start + line.len() as u32 - 1, key });
        }
        start += line.len() as u32;
    }
    Outline::new(items)
}

fn wrong_type() -> Sample {
    let sample = Sample::default();
    let values = sample.file("values/prod.yml", "name: kiosk\nversion: 1.20\n");
    let readers = Readers { outline: outline_of_lines, ..Readers::default() };
    let schema = sample.sources.add(Source::new("config/schema.yml", SCHEMA.as_bytes()).with_readers(readers));
    let (pos, part) = sample.find(values, "1.20");
    let (by, _) = sample.find(schema, "version");
    let fix = vec![Edit::replace(pos, part.clone(), "\"1.20\"")];
    let block = SchemaBlock {
        id: Id::SCHEMA_TYPE,
        part,
        path: Some(Path::document().key("version")),
        ..SchemaBlock::at(pos, "float", "string").by(By::Type(by))
    };
    let help = Help::new("quote the value: \"1.20\"").fixed_by("Quote the value", fix, Safety::Safe);
    sample.failing(block.help(help).under("One or more data values were invalid"))
}

fn violation() -> Sample {
    let sample = Sample::default();
    let values = sample.file("values.yml", "name: kiosk\r\ndb:\r\n  host: http://shop\r\n");
    let schema = sample
        .file("schema.yml", "#@data/values-schema\n---\ndb:\n  #@schema/validation format=\"hostname\"\n  host: x\n");
    let (from, part) = sample.find(values, "http://shop");
    let (by, by_part) = sample.find(schema, "format=\"hostname\"");
    let violation = Violation {
        id: Id::RULE_FORMAT,
        must_be: "format \"hostname\"".into(),
        found: "not a valid hostname".into(),
        message: None,
        by,
        by_part,
        reasons: Vec::new(),
        helps: vec![Help::new("an Internet host name, RFC 1123; for example localhost or example.com")],
    };
    let block = ViolationBlock {
        path: ViolationPath::Path(Path::document().key("db").key("host")),
        suffix: Text::default(),
        from,
        part,
        reads: Vec::new(),
        violations: vec![violation],
    };
    sample.failing(Failure::of(Cause::Violations(vec![block])))
}

fn undefined() -> Sample {
    let sample = Sample::default();
    let lib = sample.file("config/lib.star", "def label(size):\n  return str(sise) + \"m\"\nend\n");
    let config = sample.file("config/a.yml", "#@ load(\"lib.star\", \"label\")\n---\nsize: #@ label(3)\n");
    let (pos, part) = sample.find(lib, "sise");
    let fix = vec![Edit::replace(pos, part.clone(), "size")];
    let mut problem = Diagnostic::error(Id::CODE_UNDEFINED, "undefined: sise").at(pos, part);
    problem = problem.help(Help::new("did you mean size?").fixed_by("Change sise to size", fix, Safety::Likely));
    problem.frames = vec![sample.frame("label", lib, "sise"), sample.frame("<toplevel>", config, "label(3)")];
    sample.failing(problem)
}

fn overlay() -> Sample {
    let sample = Sample::default();
    let config = sample
        .file("config.yml", "containers:\n- name: web\n- name: logs\n- name: proxy\n- name: cache\n- name: jobs\n");
    let text = "#@ load(\"@ytt:overlay\", \"overlay\")\n#@overlay/match by=overlay.all\n---\ncontainers:\n#@overlay/match by=\"name\"\n- name: log\n";
    let overlay = sample.file("overlays/logging.yml", text);
    let mut problem = Diagnostic::error(Id::OVERLAY_NO_MATCH, "no array item has the name \"log\"")
        .path(Path::document().key("containers"))
        .label(sample.label(Role::Problem, overlay, "- name: log", "expected to match 1 item, matched none"))
        .label(sample.label(Role::Rule, overlay, "by=\"name\"", "items are compared by this key"));
    for name in ["logs", "jobs", "web", "proxy", "cache"] {
        problem = problem.label(sample.label(Role::Candidate, config, &format!("name: {name}"), ""));
    }
    problem.labels[2].text = "the nearest candidate".into();
    sample.failing(problem.help("add #@overlay/match missing_ok=True if the item may be missing"))
}

fn yaml_syntax() -> Sample {
    let sample = Sample::default();
    let file = sample.file("values.yml", "ports: [80, 443\n");
    let source = sample.sources.get(file).unwrap();
    let end = Pos::new(file, source.text().len() as u32);
    let problem = Diagnostic::error(Id::YAML_SYNTAX, "expected , or ] before the end of the file")
        .at(end, Part::Bytes(0))
        .label(sample.label(Role::Related, file, "[", "the list begins here"));
    sample.failing(problem)
}

fn flag() -> Sample {
    let sample = Sample::default();
    let source = Source::new("(data-value arg)", *b"replicas=3").with_origin(Origin::Flag(ValueForm::Text));
    let flag = sample.sources.add(source);
    let schema = sample.file("schema.yml", SCHEMA);
    let problem = Diagnostic::error(Id::SCHEMA_TYPE, "expected integer, found string")
        .path(Path::document().key("replicas"))
        .label(sample.label(Role::Problem, flag, "3", "found string"))
        .label(sample.label(Role::Rule, schema, "replicas", "expected integer"))
        .help("to give a value of another type than string, use --data-value-yaml");
    sample.failing(problem)
}

fn variable() -> Sample {
    let sample = Sample::default();
    let readers = Readers { outline: outline_of_pair, ..Readers::default() };
    let source = Source::new("(data-values-env arg) APP", *b"APP_replicas=many")
        .with_origin(Origin::Variable(ValueForm::Text))
        .with_readers(readers);
    let file = sample.sources.add(source);
    let problem = Diagnostic::error(Id::SCHEMA_TYPE, "expected integer, found string")
        .path(Path::document().key("replicas"))
        .label(sample.label(Role::Problem, file, "many", "found string"));
    sample.failing(problem)
}

/// A range after a secret on the same line, and a fix there.
fn secret() -> Sample {
    let sample = Sample::default();
    let file = sample.file("values.yml", "{password: S3cr3tCanary, prot: 80}\n");
    let source = sample.sources.get(file).unwrap();
    source.hide(std::iter::once(11..23));
    let (pos, part) = sample.find(file, "prot");
    let fix = vec![Edit::replace(pos, part.clone(), "port")];
    let problem = Diagnostic::error(Id::SCHEMA_UNKNOWN_KEY, "the schema does not declare this key")
        .path(Path::document().key("prot"))
        .at(pos, part)
        .help(Help::new("did you mean \"port\"?").fixed_by("Change \"prot\" to \"port\"", fix, Safety::Likely));
    sample.failing(problem)
}

const CROSSING: [(&str, &str); 2] =
    [("two", "the word that is not a number and that somebody wrote all the same"), ("four\n  five\nlast", "too long")];

fn several_lines(words: &'static str, others: &[(&str, &'static str)]) -> Sample {
    let sample = Sample::default();
    let text = "name: x\nreplicas: |\n  one\n  two\n  three\n  four\n  five\nlast: 1\n";
    let file = sample.file("values.yml", text);
    let value = &text[text.find('|').unwrap()..text.find("last").unwrap()];
    let mut problem = Diagnostic::error(Id::SCHEMA_TYPE, "expected integer, found string")
        .path(Path::document().key("replicas"))
        .label(sample.label(Role::Problem, file, value, words));
    for (text, words) in others {
        problem = problem.label(sample.label(Role::Related, file, text, words));
    }
    sample.failing(problem)
}

fn long_line() -> Sample {
    let sample = Sample::default();
    let items: Vec<String> = (0..200).map(|number| format!("\"key-{number}\": {number}")).collect();
    let file = sample.file("values.yml", &format!("{{{}}}\n", items.join(", ")));
    let (pos, part) = sample.find(file, "\"key-150\"");
    let message = "the schema does not declare this key; it declares 199 others, of which the first ones are key-0, key-1 and key-2, and 196 more";
    let problem = Diagnostic::error(Id::SCHEMA_UNKNOWN_KEY, message)
        .path(Path::document().key("key-150"))
        .label(Label::new(Role::Problem, pos, part).text("not declared; the nearest declared key is \"key-151\", which has another value"))
        .label(sample.label(Role::Related, file, "\"key-3\"", "declared"))
        .help("remove the key, or declare it in the schema with a default and, if it is needed, with rules for its values");
    sample.failing(problem)
}

fn wide_characters() -> Sample {
    let sample = Sample::default();
    let file = sample.file("values.yml", "\t名前: größe\u{1b}[31m 😀 nope\n");
    let problem = Diagnostic::error(Id::CODE_UNDEFINED, "undefined: nope")
        .label(sample.label(Role::Problem, file, "nope", "not defined"))
        .label(sample.label(Role::Related, file, "名前", "used here"));
    sample.failing(problem)
}

fn warning() -> Sample {
    let sample = Sample::default();
    let file = sample.file("config.yml", "#@overlay/matches by=\"name\"\n---\nname: shop\n");
    let (pos, part) = sample.find(file, "overlay/matches");
    let fix = vec![Edit::replace(pos, part.clone(), "overlay/match")];
    let help = Help::new("did you mean @overlay/match?");
    let warning = Diagnostic::warning(Id::ANNOTATION_UNKNOWN, "unknown annotation @overlay/matches")
        .at(pos, part)
        .help(help.fixed_by("Change overlay/matches to overlay/match", fix, Safety::Likely));
    Sample { warnings: vec![warning], ..sample }
}

pub(super) fn many(errors: usize) -> Sample {
    let sample = warning();
    let text: String = (0..errors).map(|number| format!("k{number}: x\n")).collect();
    let file = sample.file("values.yml", &text);
    let failures = (0..errors).map(|number| {
        let (pos, _) = sample.find(file, &format!("k{number}: x"));
        let problem = Diagnostic::error(Id::SCHEMA_TYPE, "expected integer, found string");
        problem.path(Path::document().key(format!("k{number}"))).at(pos, Part::Line).into()
    });
    Sample { failures: failures.collect(), ..sample }
}

fn no_place() -> Sample {
    let problem = Diagnostic::error(Id::FILE_MISSING, "file nope.yml does not exist").note("it was given by -f");
    Sample::default().failing(problem)
}
