//! Programs that each exercise one part of the machine.
//!
//!     cargo bench -p ytterby-starlark                  # milliseconds per run, the best of several
//!     cargo bench -p ytterby-starlark -- calls         # only one
//!
//!     cargo bench -p ytterby-starlark -- loops         # nanoseconds per turn of loops that do one thing each
//!
//! Times depend on what else the machine does; instruction counts do not:
//!
//!     valgrind --tool=callgrind target/release/deps/workloads-<hash> calls once
//!     valgrind --tool=callgrind target/release/deps/workloads-<hash> call-named turns=1000    # less that of turns=0

use std::rc::Rc;
use std::time::Instant;

use ytterby_diag::{FileId, Pos};
use ytterby_starlark::{Eval, Exports, NoOps, Program, ProgramPiece, compile};

const WORKLOADS: &[(&str, &str)] = &[
    (
        "ints",
        "def run(n):\n a, b = 0, 1\n for i in range(n):\n a = (a * 31 + b * 17 + i) % 1000003\n b = (b ^ a) & 65535\n \
         if a % 3 == 0:\n b += 1\n elif a % 5 == 0:\n b -= 1\n end\n end\n return a + b\nend\nx = run(100000)",
    ),
    (
        "calls",
        "def fib(n):\n if n < 2:\n return n\n end\n return fib(n - 1) + fib(n - 2)\nend\n\
         def helper(x, y=1):\n return x + y\nend\ndef run(n):\n t = 0\n for i in range(n):\n t = helper(t, y=i % 3)\n \
         end\n return t\nend\nx = fib(20) + run(50000)",
    ),
    (
        "strings",
        "def run(n):\n parts = []\n for i in range(n):\n parts.append('item-{}-{}'.format(i, i % 13).upper())\n end\n \
         t = 0\n for p in ','.join(parts).split(','):\n if p.endswith('7') or p.startswith('ITEM-1'):\n \
         t += len(p.replace('ITEM', 'x'))\n end\n end\n return t\nend\nx = run(30000)",
    ),
    (
        "text",
        "def run(n):\n s = ''\n for i in range(n):\n s += '0123456789abcdef'\n end\n return len(s)\nend\nx = run(100000)",
    ),
    (
        "dicts",
        "def run(n):\n d = {}\n for i in range(n):\n k = 'k' + str(i % 997)\n d[k] = d.get(k, 0) + i\n end\n t = 0\n \
         for k, v in d.items():\n t += v % 7\n end\n return t\nend\nx = run(50000)",
    ),
    (
        "lists",
        "def run(n):\n l = [(i * 7919) % 10007 for i in range(n)]\n e = [x * 2 for x in sorted(l) if x % 2 == 0]\n \
         t = 0\n for i, x in enumerate(e):\n t += x * (i % 3)\n end\n return t + max(e) + min(e)\nend\nx = run(50000)",
    ),
];

/// Code before the function, its first statements, and the statement of each iteration.
const LOOPS: &[(&str, &str, &str, &str)] = &[
    ("int-add", "", "", "t += i"),
    ("int-mix", "", "", "t = (t * 31 + i) % 1000003"),
    ("int-if", "", "", "if i % 3 == 0:\nt += 1\nelif i < 5:\nt -= 1\nend"),
    ("float", "", "f = 0.0", "f = f * 0.5 + i - f"),
    ("bool", "", "", "if not (i == 3 or i == 7) and t >= 0:\nt += 1\nend"),
    ("nested", "", "", "for j in range(100):\nt += j\nend"),
    ("list-append", "", "l = []", "l.append(i)"),
    ("list-index", "", "l = list(range(100))", "t += l[i % 100]"),
    ("list-set", "", "l = list(range(100))", "l[i % 100] = i"),
    ("list-new", "", "", "x = [i, t]"),
    ("list-for", "", "l = list(range(100))", "for j in l:\nt += j\nend"),
    ("list-made", "", "l = list(range(100))", "x = [j * 2 for j in l]"),
    ("pairs", "", "l = [(j, j) for j in range(100)]", "for a, b in l:\nt += a\nend"),
    ("enumerate", "", "l = list(range(100))", "for j, x in enumerate(l):\nt += j\nend"),
    ("zip", "", "l = list(range(100))", "for j, x in zip(l, l):\nt += j\nend"),
    ("dict-int", "", "d = {x: x for x in range(100)}", "t += d[i % 100]"),
    ("dict-text", "", "d = {'key-%d' % x: x for x in range(100)}", "t += d['key-55']"),
    ("dict-get", "", "d = {'key-%d' % x: x for x in range(100)}", "t += d.get('key-55', 0)"),
    ("dict-in", "", "d = {'key-%d' % x: x for x in range(100)}", "if 'key-55' in d:\nt += 1\nend"),
    ("dict-set", "", "d = {'key-%d' % x: x for x in range(100)}", "d['key-55'] = i"),
    ("dict-add", "", "d = {}", "d[i] = i"),
    ("dict-new", "", "", "x = {'a': i, 'b': 2, 'c': 3}"),
    ("dict-items", "", "d = {'key-%d' % x: x for x in range(100)}", "for k, v in d.items():\nt += v\nend"),
    ("dict-for", "", "d = {'key-%d' % x: x for x in range(100)}", "for k in d:\nt += d[k]\nend"),
    ("str-add", "", "k = 'def'", "x = 'abc' + k"),
    ("str-eq", "", "k = 'production'", "if k == 'production':\nt += 1\nend"),
    ("str-of", "", "", "x = str(i)"),
    ("format", "", "", "x = 'item-{}-{}'.format(i, i)"),
    ("percent", "", "", "x = 'item-%d-%s' % (i, i)"),
    ("split", "", "", "x = 'a,b,c,d'.split(',')"),
    ("join", "", "l = ['a', 'b', 'c', 'd']", "x = ','.join(l)"),
    ("replace", "", "k = 'abcabc'", "x = k.replace('b', 'x')"),
    ("prefix", "", "k = 'abcdefghyz'", "if k.startswith('ab') and k.endswith('yz'):\nt += 1\nend"),
    ("upper", "", "k = 'abcdefghyz'", "x = k.upper()"),
    ("call", "def f(a, b):\nreturn a + b\nend", "", "t = f(t, i)"),
    ("call-default", "def f(a, b=1):\nreturn a + b\nend", "", "t = f(t)"),
    ("call-named", "def f(a, b=1):\nreturn a + b\nend", "", "t = f(t, b=i)"),
    ("call-varargs", "def f(*args):\nreturn args[0]\nend", "", "t = f(t, i)"),
    ("call-kwargs", "def f(**kw):\nreturn kw['a']\nend", "", "t = f(a=i)"),
    ("call-lambda", "", "f = lambda x: x + 1", "t = f(i)"),
    ("len", "", "k = 'abc'", "t += len(k)"),
    ("type", "", "", "x = type(i) == 'int'"),
    ("min", "", "", "x = min(i, 5)"),
    ("sorted", "", "l = [(j * 7919) % 10007 for j in range(300)]", "x = sorted(l)"),
    ("sorted-text", "", "l = ['n-%d' % ((j * 7919) % 10007) for j in range(300)]", "x = sorted(l)"),
    ("sorted-key", "", "l = [(j * 7919) % 10007 for j in range(300)]", "x = sorted(l, key=lambda v: -v)"),
];

fn main() {
    let args: Vec<String> = std::env::args().skip(1).filter(|arg| arg != "--bench").collect();
    let once = args.iter().any(|arg| arg == "once");
    let turns: Option<usize> = args.iter().find_map(|arg| arg.strip_prefix("turns=")?.parse().ok());
    let wanted: Vec<_> = args.iter().filter(|arg| *arg != "once" && !arg.starts_with("turns=")).collect();
    for (name, code) in WORKLOADS {
        if wanted.is_empty() || wanted.iter().any(|arg| arg == name) {
            let best = best(name, code, if once { 1 } else { 15 });
            println!("{name:12} {:8.3} ms", best * 1e3);
        }
    }
    for (name, before, first, turn) in LOOPS {
        if wanted.iter().any(|arg| arg == name || *arg == "loops") {
            let code = |turns: usize| {
                format!("{before}\ndef run(n):\nt = 0\n{first}\nfor i in range(n):\n{turn}\nend\nend\nrun({turns})")
            };
            match turns {
                Some(turns) => drop(best(name, &code(turns), 1)),
                None => {
                    let best = best(name, &code(2_000), 15) - best(name, &code(0), 15);
                    println!("{name:12} {:8.1} ns", best * 1e9 / 2e3);
                }
            }
        }
    }
}

/// The shortest of several runs, in seconds.
fn best(name: &str, code: &str, runs: usize) -> f64 {
    let program = compile(&[ProgramPiece::Code { text: code.as_bytes(), at: Pos::new(FileId(0), 0) }], &[])
        .unwrap_or_else(|errors| panic!("{name}: {errors:?}"));
    (0..runs).map(|_| seconds(&program)).fold(f64::INFINITY, f64::min)
}

fn seconds(program: &Program) -> f64 {
    let start = Instant::now();
    let mut eval = Eval::new();
    program.run(&mut eval, Rc::new(NoOps), &Exports::default()).expect("the workload runs");
    start.elapsed().as_secs_f64()
}
