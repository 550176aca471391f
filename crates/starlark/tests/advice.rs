//! Mistakes in code as data: id, range, hint, and the code after the fix.

use std::rc::Rc;

use ytterby_diag::{CodeMessage, CodeProblem, Failure, FileId, Id, Part, Pos, Readers, Source, Sources};
use ytterby_starlark::{Error, Eval, Exports, HostValue, NoOps, OpArgs, ProgramPiece, Value, compile, token_at};
use ytterby_text::Str;

/// A struct with one field, `name`.
struct Struct;

impl HostValue for Struct {
    fn type_name(&self) -> &str {
        "struct"
    }
    fn write_repr(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(b"struct()");
    }
    fn attr(&self, _: &mut Eval, name: &Str) -> Result<Option<Value>, Error> {
        Ok((name == "name").then_some(Value::None))
    }
    fn attr_names(&self) -> Vec<Str> {
        vec![Str::from("name")]
    }
}

/// The first problem of a program; a struct is called `config` in it.
fn problem(sources: &Sources, code: &str) -> CodeProblem {
    let readers = Readers { token: token_at, ..Readers::default() };
    let file = sources.add(Source::new("t.star", code.as_bytes()).with_readers(readers));
    let piece = ProgramPiece::Code { text: code.as_bytes(), at: Pos::new(file, 0) };
    let given = Exports::new([(Str::from("config"), Value::Host(Rc::new(Struct)))]);
    match compile(&[piece], &["config"]) {
        Err(mut errors) => errors.remove(0).into_code_problem(&|_| false),
        Ok(program) => match program.run(&mut Eval::new(), Rc::new(NoOps), &given) {
            Err(error) => error.into_code_problem(&|_| false),
            Ok(_) => panic!("no error: {code}"),
        },
    }
}

/// Checks id and range, the first hint if one is expected, and the code after its fix.
#[track_caller]
fn check(code: &str, id: &str, range: &str, help: &str, fixed: &str) {
    let sources = Sources::new();
    let problem = problem(&sources, code);
    let CodeMessage::Text(message) = &problem.message else { panic!("no text") };
    let span = problem.label.as_ref().and_then(|label| label.span(&sources)).expect("a range");
    let found = &code[span.start as usize..span.end as usize];
    assert_eq!((problem.id.name(), found), (id, range), "{}", message.plain());
    let first = problem.helps.first();
    let text = first.map(|help| help.text.plain().into_owned()).unwrap_or_default();
    assert!(text.contains(help) && text.is_empty() == help.is_empty(), "{}: {text}", message.plain());
    let mut after = code.to_owned();
    let edits = first.and_then(|help| help.fix.as_ref()).map(|fix| fix.edits.as_slice()).unwrap_or_default();
    for edit in edits.iter().rev() {
        let span = edit.span(&sources).expect("a range");
        after.replace_range(span.start as usize..span.end as usize, &edit.replacement);
    }
    let expected = if fixed.is_empty() { code } else { fixed };
    assert_eq!(after, expected, "{}", message.plain());
}

#[test]
fn undefined_names_get_suggestions() {
    check("size = 1\nx = sise + 1", "code/undefined", "sise", "did you mean size?", "size = 1\nx = size + 1");
    check("x = lenn([1])", "code/undefined", "lenn", "did you mean len?", "x = len([1])");
    check("x = [true]", "code/undefined", "true", "use 'True' instead of 'true'", "x = [True]");
    check("x = nil", "code/undefined", "nil", "use 'None' instead of 'nil'", "x = None");
    check("x = NULL", "code/undefined", "NULL", "use None", "x = None");
    check("x = toYaml(1)", "code/undefined", "toYaml", "yaml.encode", "");
    check("x = data", "code/undefined", "data", "", "");
}

#[test]
fn operators_of_other_languages_get_suggestions() {
    let syntax = "code/syntax";
    check("x = 1 && 2", syntax, "&", "use 'and' instead of '&&'", "x = 1 and 2");
    check("x = 1||2", syntax, "|", "use 'or' instead of '||'", "x = 1 or 2");
    check("x = !1", syntax, "!", "use 'not' instead of '!'", "x = not 1");
    check("x = 1 ? 2 : 3", syntax, "?", "`a if condition else b`", "");
    check("x = 1\nx++", syntax, "", "write `+= 1`", "x = 1\nx += 1");
    check("x = 1 === 1", syntax, "=", "compare", "x = 1 == 1");
    check("x := 1", syntax, ":", "assigns", "x = 1");
    check("name: #@ 1", syntax, ":", "a key cannot be code", "");
    check("x = 1 | 'a'", "code/type", "|", "", "");
    check("x = f\"a{b}\"", syntax, "\"a{b}\"", "\"%s\" % value", "");
    check("x = “a”", syntax, "“a”", "straight quotes", "x = \"a\"");
}

#[test]
fn mistakes_in_blocks_get_suggestions() {
    check("if 1\nx = 1\nend", "code/syntax", "", "a block begins with a colon", "if 1:\nx = 1\nend");
    check("for i in [1] # all\nend", "code/syntax", "", "begins with a colon", "for i in [1]: # all\nend");
    check("if 1:\nelse\nend", "code/syntax", "else", "missing colon after 'else'?", "if 1:\nelse:\nend");
    check("if 1:\nelse  if 2:\nend", "code/syntax", "else", "use `elif`", "if 1:\nelif 2:\nend");
    check("if 1:\nelseif 2:\nend", "code/syntax", "2", "`elif`", "if 1:\nelif 2:\nend");
    check("if x = 1:\nend", "code/syntax", "=", "`==` compares", "if x == 1:\nend");
    check("if 1 {\n}", "code/syntax", "{", "ends with `end`", "");
    check("x = 1\nif x:\n  x = 2\n", "code/block", "if x:", "closed by `end`", "x = 1\nif x:\n  x = 2\nend\n");
    check("if 1:\n  x = 2\n  endif", "code/block", "if 1:", "closed by `end`", "if 1:\n  x = 2\n  end");
    check("x = 1\nend", "code/block", "end", "no block is open here", "x = 1\n");
    check("var x = 1", "code/syntax", "x", "without a keyword", "x = 1");
    check("import json", "code/syntax", "import", "load(", "");
}

#[test]
fn open_brackets_are_shown() {
    check("x = [1, 2", "code/syntax", "[", "missing ']' for '['", "");
    check("x = f(1,\ny = 2", "code/syntax", "(", "missing ')' for '('", "");
}

#[test]
fn values_of_the_wrong_type_get_suggestions() {
    let add = "convert the other value with str";
    check("x = 'a' + 1", "code/type", "+", add, "");
    check("def f(n):\n  return n * 2 + '0'\nend\nx = f(40)", "code/type", "+", add, "");
    check("x = None + 1", "code/type", "+", "None", "");
    check("x = {'a': 1}\nfor k, v in x:\nend", "code/type", "for", "map.items()", "");
    check("for x in 3:\nend", "code/type", "for", "range(value)", "");
    check("x = [1][3]", "code/index", "[3]", "", "");
    check("x = {}['a']", "code/index", "['a']", "use get(key)", "");
    let key = "did you mean [\"port\"]?";
    check("x = {'port': 1}[\"prot\"]", "code/index", "[\"prot\"]", key, "x = {'port': 1}[\"port\"]");
    check("x = 1(2)", "code/type", "1(2)", "", "");
    check("fail('no')", "code/fail", "fail('no')", "", "");
}

#[test]
fn wrong_uses_of_structs_get_suggestions() {
    let path = "for key, item in dict(value).items()";
    check("x = config.nmae", "code/attribute", ".nmae", "did you mean .name?", "x = config.name");
    check("for k, v in config.items():\nend", "code/attribute", ".items", path, "");
    check("for k, v in config:\nend", "code/type", "for", path, "");
    check("x = config['name']", "code/type", "['name']", "", "");
    check("x = config.name.first", "code/attribute", ".first", "the value is None", "");
    check("x = config.port", "code/attribute", ".port", "declare port in the schema", "");
    check("x = getattr(config, 'nam')", "code/attribute", "getattr(config, 'nam')", "declare nam in the schema", "");
}

#[test]
fn wrong_arguments_get_suggestions() {
    let code = "def f(name, port=1):\n  return name\nend\nx = f(1, prot=2)";
    check(code, "code/call", "f(1, prot=2)", "did you mean port?", &code.replace("prot", "port"));
    check(
        "x = sorted([1], revers=True)",
        "code/call",
        "sorted([1], revers=True)",
        "did you mean reverse?",
        "x = sorted([1], reverse=True)",
    );
    check("def f(a):\n  return a\nend\nx = f()", "code/call", "f()", "", "");
}

#[test]
fn hints_of_the_reference_are_kept() {
    let hint = |code: &str| problem(&Sources::new(), code).hint.unwrap_or_default();
    assert_eq!(hint("x = 'a' | 1"), "use 'or' instead of '|' for logical-or");
    assert_eq!(hint("x = config['a']"), "use getattr(...) to access struct field programmatically");
    assert_eq!(hint("if 1\nend"), "missing colon at the end of 'if/for/def' statement?");
    assert_eq!(hint("x = 1 && 2"), "use 'and' instead of '&&' for logical-and");
    assert_eq!(hint("x = false"), "use 'False' instead of 'false' for boolean assignment");
    assert_eq!(hint("x = sorted([{}, 1])"), "");
    assert_eq!(hint("tru = 1\nx = true"), "");
}

#[test]
fn wrong_names_of_modules_get_suggestions() {
    let sources = Sources::new();
    let code = "load('m', \"jsn\")";
    let file = sources.add(Source::new("t.star", code.as_bytes()));
    let piece = ProgramPiece::Code { text: code.as_bytes(), at: Pos::new(file, 0) };
    let mut eval = Eval::new();
    eval.set_load(|_, _, _| Ok(Rc::new(Exports::new([(Str::from("json"), Value::None)]))));
    let error = compile(&[piece], &[]).unwrap().run(&mut eval, Rc::new(NoOps), &Exports::default()).err().unwrap();
    assert_eq!((error.place().offset, error.problem().id()), (10, Id::CODE_LOAD));
    let fix = error.into_code_problem(&|_| false).helps.remove(0).fix.expect("a fix");
    assert_eq!((fix.edits[0].pos.offset, fix.edits[0].replacement.as_str()), (10, "\"json\""));
}

/// Code of a template: the operation is at 5, its expression at 20.
#[test]
fn mistakes_in_expressions_of_operations_have_positions() {
    let label = |text: &str| {
        let args = OpArgs::Expr { text: text.as_bytes(), at: Pos::new(FileId(0), 20) };
        let op = ProgramPiece::Op { op: 0, dialect: 0, args, at: Pos::new(FileId(0), 5) };
        let errors = compile(&[op, op], &[]).err().expect("it cannot be parsed");
        let help = errors[0].helps.first().map(|help| help.text.plain().into_owned());
        (errors[0].label.pos.offset, errors[0].label.part.clone(), help.unwrap_or_default())
    };
    assert_eq!(label("[1, 2"), (20, Part::Bytes(1), "missing ']' for '['".to_owned()));
    assert_eq!(label("1 +  # one"), (23, Part::Bytes(0), String::new()));
    assert_eq!(label("nope"), (20, Part::Bytes(4), String::new()));
    assert_eq!(label("1 if 2").1, Part::Bytes(2));
}

#[test]
fn host_failures_pass_through_code() {
    let error = Error::from(Failure::new(Id::OVERLAY_NO_MATCH, "nothing matches"));
    assert_eq!((&*error.message(), error.is_fatal()), ("", false));
    let error = error.in_context("overlay.apply").in_context("f");
    assert_eq!(error.to_string(), "f: overlay.apply: nothing matches");
    assert_eq!(error.clone().into_failure().to_string(), "f: overlay.apply: nothing matches");
    let CodeMessage::Failure(prefix, inner) = error.into_code_problem(&|_| false).message else { panic!("a failure") };
    assert_eq!((prefix.as_str(), inner.to_string().as_str()), ("f: overlay.apply: ", "nothing matches"));
    assert!(Error::from(Failure::new(Id::LIMIT_STEPS, "too many")).is_fatal());
    let failure = Error::new("no").with_help("try yes").into_failure();
    assert_eq!((failure.diagnostics()[0].id, failure.diagnostics()[0].helps.len()), (Id::CODE_VALUE, 1));
}
