//! Programs of several pieces: host operations between lines of code.

use std::cell::RefCell;
use std::rc::Rc;

use ytterby_diag::{FileId, Pos};
use ytterby_starlark::{Args, Error, Eval, Exports, OpArgs, OpValues, Ops, ProgramPiece, SyntaxError, Value, compile};

/// Records the program's operations; fragment functions return their result or their number.
#[derive(Default)]
struct Log {
    lines: RefCell<Vec<String>>,
    fragments: RefCell<usize>,
}

impl Log {
    fn add(&self, line: String) {
        self.lines.borrow_mut().push(line);
    }
}

impl Ops for Log {
    fn op(&self, eval: &mut Eval, op: u32, values: OpValues<'_>) -> Result<(), Error> {
        let at = eval.position().offset;
        match values {
            OpValues::None => self.add(format!("{op}@{at}")),
            OpValues::Value(value) => self.add(format!("{op}@{at} = {}", value.repr())),
            OpValues::Args(Args { positional, named }) => {
                let positional = positional.iter().map(|value| value.repr().to_string());
                let named = named.iter().map(|(name, value)| format!("{name}={}", value.repr()));
                let args: Vec<_> = positional.chain(named).collect();
                self.add(format!("{op}@{at}({})", args.join(", ")));
            }
        }
        Ok(())
    }

    fn enter(&self, _: &mut Eval, dialect: u8) -> Result<(), Error> {
        *self.fragments.borrow_mut() += 1;
        self.add(format!("enter {dialect}"));
        Ok(())
    }

    fn leave(&self, _: &mut Eval, result: Option<Value>) -> Result<Value, Error> {
        self.add("leave".to_owned());
        Ok(result.unwrap_or_else(|| Value::str(format!("fragment {}", self.fragments.borrow()))))
    }
}

/// Parses `"code"`, `op 1`, `op 1 = expr` or `op 1 (args)`, one per line; the position of a line is
/// its number times 100.
fn pieces(script: &str) -> Vec<ProgramPiece<'_>> {
    let mut out = Vec::new();
    for (n, line) in script.lines().enumerate() {
        let at = Pos::new(FileId(0), n as u32 * 100);
        let Some(op) = line.strip_prefix("op ") else {
            out.push(ProgramPiece::Code { text: line.as_bytes(), at });
            continue;
        };
        let number = op.bytes().take_while(u8::is_ascii_digit).count();
        let rest = &op[number..];
        let inside = Pos::new(FileId(0), n as u32 * 100 + 50);
        let args = if let Some(text) = rest.strip_prefix(" = ") {
            OpArgs::Expr { text: text.as_bytes(), at: inside }
        } else if let Some(text) = rest.strip_prefix(" (").and_then(|text| text.strip_suffix(')')) {
            OpArgs::Call { text: text.as_bytes(), at: inside }
        } else {
            OpArgs::None
        };
        out.push(ProgramPiece::Op { op: op[..number].parse().unwrap(), dialect: 7, args, at });
    }
    out
}

#[track_caller]
fn check(script: &str, expected: &[&str]) {
    let program = compile(&pieces(script), &[]).unwrap_or_else(|errors| panic!("{errors:?}"));
    let log = Rc::new(Log::default());
    let mut eval = Eval::new();
    if let Err(error) = program.run(&mut eval, log.clone(), &Exports::default()) {
        let frames: Vec<_> =
            error.frames().iter().map(|frame| format!("{}@{}", frame.name, frame.pos.offset)).collect();
        log.add(format!("error: {} in {}", error.message(), frames.join(", ")));
    }
    assert_eq!(*log.lines.borrow(), expected);
}

/// The error, and the line of the script that it is on.
#[track_caller]
fn check_error(script: &str, expected: &str, line: u32) {
    let errors = compile(&pieces(script), &[]).err().expect("the program is wrong");
    let SyntaxError { message, pos, piece, .. } = errors[0].clone();
    assert_eq!((message.as_str(), pos.offset / 100), (expected, line));
    assert_eq!(piece as u32, line);
}

/// The position of the unexpected token, and the open bracket, with `!` if it is certainly the
/// mistake.
#[track_caller]
fn check_place(script: &str, token: u32, open: &str) {
    let errors = compile(&pieces(script), &[]).err().expect("the program is wrong");
    let found = errors[0].open.map_or_else(String::new, |open| {
        format!("{}@{}{}", open.bracket, open.pos.offset, if open.is_unclosed { "!" } else { "" })
    });
    assert_eq!((errors[0].token.offset, &*found), (token, open), "{}", errors[0].message);
}

#[test]
fn errors_know_their_token_and_the_open_bracket() {
    check_place("x = 1\nend\nop 1", 100, "");
    check_place("if True\nop 1\nend", 7, "");
    check_place("if True:\nop 1\nelse\nop 2\nend", 200, "");
    check_place("op 1 = f(1\nop 2", 100, "(@51!");
    check_place("x = [1,\nop 1", 100, "[@4!");
    check_place("x = [1,\ny = 2\nop 1", 102, "[@4");
    check_place("x = {1: 2", 9, "{@4!");
    check_place("op 1 (a=1+)", 0, "");
}

#[test]
fn operations_run_in_order_with_their_values() {
    check(
        "op 1\nx = 2\nop 2 = x + 1\nop 3 (x, *[3], key=x, **{\"z\": 1})",
        &["1@0", "2@200 = 3", r#"3@300(2, 3, key=2, z=1)"#],
    );
}

#[test]
fn a_list_of_values_is_a_tuple() {
    check("op 1 = 1, 2", &["1@0 = (1, 2)"]);
    check("op 1 = ", &["1@0 = ()"]);
    check("op 1 ()", &["1@0()"]);
}

#[test]
fn conditions_and_loops_contain_operations() {
    check("for i in range(2):\nif i == 1:\nop 1 = i\nend\nop 2\nend", &["2@400", "1@200 = 1", "2@400"]);
}

#[test]
fn functions_with_operations_build_fragments() {
    check("def f(x):\nop 1 = x\nend\nop 2 = f(5)", &["enter 7", "1@100 = 5", "leave", r#"2@300 = "fragment 1""#]);
    check(
        "def f(x):\nif x:\nreturn x\nend\nop 1\nend\nop 2 = f(5)\nop 3 = f(0)",
        &["enter 7", "leave", "2@600 = 5", "enter 7", "1@400", "leave", r#"3@700 = "fragment 2""#],
    );
}

#[test]
fn operations_of_an_inner_function_do_not_count() {
    check(
        "def f():\ndef g():\nop 1\nend\nreturn g()\nend\nop 2 = f()",
        &["enter 7", "1@200", "leave", r#"2@600 = "fragment 1""#],
    );
}

#[test]
fn errors_name_the_place_of_the_operation() {
    check(
        "def f():\nop 1 = 1 // 0\nend\nop 2 = f()",
        &["enter 7", "error: floored division by zero in f@152, <toplevel>@351"],
    );
}

#[test]
fn an_open_bracket_swallows_the_end_of_the_line() {
    check_error("op 1 = foo(\nop 2", "got identifier, want ','", 1);
    check_error("op 1 = [1, 2\nx = 1", "got ')', want ']'", 0);
}

#[test]
fn a_comment_swallows_the_closing_parentheses() {
    check_error("op 1 = 1 # one\nx = 1", "got identifier, want ')'", 1);
}

#[test]
fn strings_end_with_the_line() {
    check_error("op 1 = \"abc\nx = 1", "unexpected newline in string", 0);
    check_error("x = '''abc\nop 1", "unexpected EOF in string", 0);
    check_error("op 1 = 1 \\\nx = 1", "stray backslash in program", 0);
}

#[test]
fn balanced_by_accident_is_balanced() {
    check("op 1 = 1) + (2", &["1@0 = 3"]);
}

#[test]
fn code_pieces_are_lines() {
    check("x = '''a\n  b\\\n  c'''\nop 1 = x", &[r#"1@300 = "a\nb  c""#]);
    check("x = [1,\n2,\n]\nop 1 = x", &["1@300 = [1, 2]"]);
    check_error("if True\nop 1\nend", "got newline, want ':'", 1);
    check_error("if True:\nop 1", "mismatched set of block openings (if/else/elif/for/def) and closing (end)", 0);
    check_error("op 1\nend\nop 2", "unexpected end", 2);
}
