//! Programs that keep one part of the machine busy each.
//!
//!     cargo bench -p ytterby-starlark                  # milliseconds per run, the best of several
//!     cargo bench -p ytterby-starlark -- calls         # only one
//!
//! Times depend on what else the machine does; instruction counts do not:
//!
//!     valgrind --tool=callgrind target/release/deps/workloads-<hash> calls once

use std::rc::Rc;
use std::time::Instant;

use ytterby_diag::{FileId, Pos};
use ytterby_starlark::{Eval, Exports, NoOps, Piece, Program, compile};

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

fn main() {
    let args: Vec<String> = std::env::args().skip(1).filter(|arg| arg != "--bench").collect();
    let once = args.iter().any(|arg| arg == "once");
    let wanted: Vec<_> = args.iter().filter(|arg| *arg != "once").collect();
    for (name, code) in WORKLOADS {
        if !wanted.is_empty() && !wanted.iter().any(|arg| arg == name) {
            continue;
        }
        let program = compile(&[Piece::Code { text: code.as_bytes(), at: Pos::new(FileId(0), 0) }], &[])
            .unwrap_or_else(|errors| panic!("{name}: {errors:?}"));
        let runs = if once { 1 } else { 15 };
        let best = (0..runs).map(|_| seconds(&program)).fold(f64::INFINITY, f64::min);
        println!("{name:10} {:8.3} ms", best * 1e3);
    }
}

fn seconds(program: &Program) -> f64 {
    let start = Instant::now();
    let mut eval = Eval::new();
    program.run(&mut eval, Rc::new(NoOps), &Exports::default()).expect("the workload runs");
    start.elapsed().as_secs_f64()
}
