//! Programs of any kind end in a result or an error, the same each time.
//!
//! The first byte chooses: plain text, cut into pieces at line ends, or words of the language
//! picked by number, which get much deeper than text does.

#![no_main]

use std::rc::Rc;

use libfuzzer_sys::fuzz_target;
use ytterby_diag::{FileId, Pos};
use ytterby_starlark::{Error, Eval, EvalLimits, Exports, OpArgs, OpValues, Ops, ProgramPiece, Value, compile};

/// Does nothing, but calls what it can call.
struct Caller;

impl Ops for Caller {
    fn op(&self, eval: &mut Eval, _: u32, values: OpValues<'_>) -> Result<(), Error> {
        match values {
            OpValues::Value(value) if value.is_callable() => eval.call(&value, &[Value::Int(1)], &[]).map(drop),
            OpValues::Args(args) => match args.positional {
                [callee, rest @ ..] if callee.is_callable() => eval.call(callee, rest, args.named).map(drop),
                _ => Ok(()),
            },
            _ => Ok(()),
        }
    }

    fn enter(&self, _: &mut Eval, _: u8) -> Result<(), Error> {
        Ok(())
    }

    fn leave(&self, _: &mut Eval, result: Option<Value>) -> Result<Value, Error> {
        Ok(result.unwrap_or(Value::None))
    }
}

const WORDS: &[&str] = &[
    "\n",
    "\n",
    "\n",
    "end\n",
    ":\n",
    "(",
    ")",
    "[",
    "]",
    "{",
    "}",
    ",",
    "=",
    ".",
    ":",
    " ",
    "+",
    "-",
    "*",
    "/",
    "//",
    "%",
    "&",
    "|",
    "^",
    "<<",
    ">>",
    "~",
    "**",
    "==",
    "!=",
    "<",
    ">",
    "<=",
    ">=",
    "+=",
    "-=",
    "*=",
    "%=",
    " in ",
    " not in ",
    " not ",
    " and ",
    " or ",
    " if ",
    " else ",
    "if ",
    "elif ",
    "else",
    "for ",
    "while ",
    "def ",
    "return ",
    "break\n",
    "continue\n",
    "lambda ",
    "load",
    "x",
    "y",
    "z",
    "f",
    "g",
    "x",
    "y",
    "f(x)",
    "f(",
    "x=",
    "y = ",
    "x = ",
    "def f(x, y=1, *z, **g):\n",
    "for x in y:\n",
    "while x:\n",
    "if x:\n",
    "0",
    "1",
    "2",
    "-1",
    "1.5",
    "1e300",
    "9223372036854775807",
    "123456789012345678901234567890",
    "\"\"",
    "\"a\"",
    "'%s'",
    "\"{}\"",
    "\"\u{e9}\\xff\"",
    "'''a\nb'''",
    "[1, 2]",
    "(1, 2)",
    "{1: 2}",
    "set([1])",
    "range(3)",
    "None",
    "True",
    "False",
    "len",
    "sorted",
    "key=",
    "list",
    "dict",
    "tuple",
    "str",
    "repr",
    "int",
    "float",
    "zip",
    "enumerate",
    "reversed",
    "min",
    "max",
    "hash",
    "chr",
    "ord",
    "any",
    "all",
    "dir",
    "getattr",
    "hasattr",
    "type",
    "fail",
    "print",
    "append",
    "extend",
    "pop",
    "insert",
    "remove",
    "index",
    "clear",
    "get",
    "items",
    "keys",
    "values",
    "update",
    "setdefault",
    "popitem",
    "union",
    "split",
    "rsplit",
    "join",
    "format",
    "replace",
    "strip",
    "find",
    "rfind",
    "count",
    "partition",
    "title",
    "elems",
    "codepoint_ords",
    "splitlines",
    "startswith",
    "[x for x in y]",
    "{x: y for x in z}",
    "[x:y:z]",
    "[::-1]",
    ";",
    "\\\n",
    "#",
    "*[1]",
    "**{'x': 1}",
    "x.append(x)",
    "x[0]",
    "x[y] = z",
    "x, y = y, x",
    "(lambda x: x)(1)",
];

fuzz_target!(|data: &[u8]| {
    let Some((&kind, data)) = data.split_first() else { return };
    let text: Vec<u8> = if kind % 2 == 0 {
        data.to_vec()
    } else {
        data.iter().flat_map(|&byte| WORDS[usize::from(byte) % WORDS.len()].bytes()).collect()
    };
    let mut pieces = Vec::new();
    let mut offset = 0;
    for (n, line) in text.split(|&byte| byte == b'\n').enumerate() {
        let at = Pos::new(FileId(0), offset);
        offset += line.len() as u32 + 1;
        let args = match kind / 2 % 4 {
            1 if n % 3 == 2 => OpArgs::Expr { text: line, at },
            2 if n % 3 == 2 => OpArgs::Call { text: line, at },
            3 if n % 3 == 2 => OpArgs::None,
            _ => {
                pieces.push(ProgramPiece::Code { text: line, at });
                continue;
            }
        };
        pieces.push(ProgramPiece::Op { op: n as u32, dialect: 0, args, at });
    }
    let outcome = run(&pieces);
    if kind / 8 % 8 == 0 {
        assert_eq!(outcome, run(&pieces), "two runs differ");
    }
});

fn run(pieces: &[ProgramPiece<'_>]) -> String {
    let program = match compile(pieces, &[]) {
        Ok(program) => program,
        Err(errors) => return format!("{errors:?}"),
    };
    let mut eval = Eval::new();
    eval.set_limits(EvalLimits { steps: Some(20_000), depth: 2_000, memory: Some(8 << 20) });
    match program.run(&mut eval, Rc::new(Caller), &Exports::default()) {
        Ok(exports) => exports.iter().map(|(name, value)| format!("{name}={}\n", value.repr())).collect(),
        Err(error) => format!("{error:?}"),
    }
}
