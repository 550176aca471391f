//! Instructions of reading, writing, compiling, evaluating and of whole runs, counted by valgrind.
//!
//! Unlike times they are the same on every run and do not depend on what else the machine does.
//! `compare` in the folder above runs them and prints the change against `baseline.txt`.

use std::fmt::Write as _;
use std::hint::black_box;
use std::rc::Rc;

use gungraun::{library_benchmark, library_benchmark_group, main};
use ytterby::{Project, Values};
use ytterby_diag::{FileId, Pos};
use ytterby_starlark::{Eval, Exports, NoOps, Program, ProgramPiece, compile};
use ytterby_yaml::write::{YamlWriter, write_tree};
use ytterby_yaml::{ReadOptions, Tree, parse};

/// Kubernetes-like documents with comments.
fn documents() -> Vec<u8> {
    let mut text = String::new();
    for at in 0..200 {
        write!(
            text,
            "---\n#! service number {at}\napiVersion: v1\nkind: Service\nmetadata:\n  name: service-{at}\n  \
             namespace: default\n  labels:\n    app.kubernetes.io/name: service-{at}\n    tier: \"backend\"\n\
             spec:\n  type: ClusterIP #! no load balancer\n  replicas: {at}\n  enabled: true\n  ports:\n  \
             - name: http\n    port: 80\n    targetPort: 8080\n  - {{name: metrics, port: 9090}}\n  \
             args:\n  - --verbose\n  - run\n"
        )
        .expect("a string takes all text");
    }
    text.into_bytes()
}

/// A file inside a file.
fn block_scalar() -> Vec<u8> {
    let mut text = String::from("data: |\n");
    for at in 0..2_000 {
        writeln!(text, "  line {at:06} of the only string: with a colon, and padded to 64").expect("it takes all text");
    }
    text.into_bytes()
}

/// One collection in brackets.
fn flow() -> Vec<u8> {
    let mut text = String::from("items: [");
    for at in 0..1_000 {
        write!(text, "{{x: {at}, y: [a, \"b c\"], z: 'plain text', w: 0.5}}, ").expect("it takes all text");
    }
    text.push_str("]\n");
    text.into_bytes()
}

fn tree_of(text: Vec<u8>) -> Tree {
    parse(&text, FileId(0), &ReadOptions::default()).expect("the text is YAML")
}

#[library_benchmark]
#[bench::documents(documents())]
#[bench::block_scalar(block_scalar())]
#[bench::flow(flow())]
fn read(text: Vec<u8>) -> Tree {
    black_box(tree_of(text))
}

#[library_benchmark(setup = tree_of)]
#[bench::documents(documents())]
#[bench::block_scalar(block_scalar())]
#[bench::flow(flow())]
fn written(tree: Tree) -> Vec<u8> {
    let mut yaml = YamlWriter::new();
    write_tree(black_box(&tree), &mut yaml);
    yaml.finish()
}

fn compiled(code: &str) -> Program {
    let piece = ProgramPiece::Code { text: code.as_bytes(), at: Pos::new(FileId(0), 0) };
    compile(&[piece], &[]).unwrap_or_else(|errors| panic!("{errors:?}"))
}

/// Many small functions, as in a library.
fn functions() -> String {
    let mut code = String::new();
    for at in 0..200 {
        write!(
            code,
            "def f{at}(name, n=1, *args, **kwargs):\n  if n > {at} and name.startswith(\"a\"):\n    \
             return [x + str(n) for x in args if x != None]\n  end\n  return {{\"name\": name, \"n\": n % 7}}\nend\n"
        )
        .expect("it takes all text");
    }
    code
}

#[library_benchmark]
#[bench::functions(functions())]
fn compile_code(code: String) -> Program {
    black_box(compiled(&code))
}

const INTS: &str = "def run(n):\n a, b = 0, 1\n for i in range(n):\n a = (a * 31 + b * 17 + i) % 1000003\n \
    b = (b ^ a) & 65535\n if a % 3 == 0:\n b += 1\n elif a % 5 == 0:\n b -= 1\n end\n end\n return a + b\nend\nx = run(5000)";
const CALLS: &str = "def fib(n):\n if n < 2:\n return n\n end\n return fib(n - 1) + fib(n - 2)\nend\n\
    def helper(x, y=1):\n return x + y\nend\ndef run(n):\n t = 0\n for i in range(n):\n t = helper(t, y=i % 3)\n \
    end\n return t\nend\nx = fib(14) + run(2500)";
const STRINGS: &str = "def run(n):\n parts = []\n for i in range(n):\n \
    parts.append('item-{}-{}'.format(i, i % 13).upper())\n end\n t = 0\n for p in ','.join(parts).split(','):\n \
    if p.endswith('7') or p.startswith('ITEM-1'):\n t += len(p.replace('ITEM', 'x'))\n end\n end\n return t\nend\n\
    x = run(1500)";
const DICTS: &str = "def run(n):\n d = {}\n for i in range(n):\n k = 'k' + str(i % 997)\n d[k] = d.get(k, 0) + i\n end\n \
    t = 0\n for k, v in d.items():\n t += v % 7\n end\n return t\nend\nx = run(2500)";
const LISTS: &str = "def run(n):\n l = [(i * 7919) % 10007 for i in range(n)]\n \
    e = [x * 2 for x in sorted(l) if x % 2 == 0]\n t = 0\n for i, x in enumerate(e):\n t += x * (i % 3)\n end\n \
    return t + max(e) + min(e)\nend\nx = run(2500)";

#[library_benchmark(setup = compiled)]
#[bench::ints(INTS)]
#[bench::calls(CALLS)]
#[bench::strings(STRINGS)]
#[bench::dicts(DICTS)]
#[bench::lists(LISTS)]
fn evaluate(program: Program) -> Rc<Exports> {
    let mut eval = Eval::new();
    black_box(program.run(&mut eval, Rc::new(NoOps), &Exports::default()).expect("the program runs"))
}

/// The files of a project, by their paths.
type Files = Vec<(&'static str, String)>;

/// A template with a loop, functions and a condition.
fn templates() -> Files {
    let template = "#@ load('@ytt:data', 'data')\n#@ def labels(name):\napp: #@ name\ntier: backend\n#@ end\n\
        #@ for i in range(100):\n#@ name = 'app-{}'.format(i)\n---\nkind: Service\nmetadata:\n  name: #@ name\n  \
        labels: #@ labels(name)\nspec:\n  #@ if i % 2 == 0:\n  type: ClusterIP\n  #@ else:\n  type: NodePort\n  #@ end\n  \
        ports:\n  - port: #@ 8000 + i\n#@ end\n";
    vec![("config.yml", template.to_owned())]
}

/// Documents, and overlays that find some of them by name and merge arrays by key.
fn overlays() -> Files {
    let mut docs = String::new();
    let mut changes = String::from("#@ load('@ytt:overlay', 'overlay')\n");
    for at in 0..100 {
        let name = format!("app-{at}");
        write!(docs, "---\nname: {name}\nitems:\n- name: a\n  value: 1\n- name: b\n  value: 2\n")
            .expect("it takes all text");
        if at % 4 == 0 {
            write!(
                changes,
                "#@overlay/match by=overlay.subset({{'name': '{name}'}})\n---\nitems:\n#@overlay/match by='name'\n\
                 - name: b\n  value: 3\n"
            )
            .expect("it takes all text");
        }
    }
    vec![("config.yml", docs), ("overlay.yml", changes)]
}

/// A schema with many keys, and data values for half of them.
fn schema() -> Files {
    let mut schema = String::from("#@data/values-schema\n---\n");
    let mut values = String::from("#@data/values\n---\n");
    for at in 0..100 {
        write!(schema, "key{at}:\n  name: \"\"\n  #@schema/nullable\n  port: 80\n  list:\n  - \"\"\n")
            .expect("it takes all text");
        if at % 2 == 0 {
            write!(values, "key{at}:\n  name: x\n  list: [a, b]\n").expect("it takes all text");
        }
    }
    vec![("schema.yml", schema), ("values.yml", values), ("config.yml", "a: 1\n".to_owned())]
}

/// The same with rules, all of which hold.
fn rules() -> Files {
    let mut schema = String::from("#@data/values-schema\n---\n");
    for at in 0..100 {
        write!(
            schema,
            "#@schema/validation min_len=1, max_len=20\nname{at}: abc\n#@schema/validation min=1, max=65535\nport{at}: 80\n\
             #@schema/validation ('even', lambda x: x % 2 == 0)\neven{at}: 2\n"
        )
        .expect("it takes all text");
    }
    vec![("schema.yml", schema), ("config.yml", "a: 1\n".to_owned())]
}

/// A whole run: files are parsed, compiled and evaluated, documents are written.
#[library_benchmark]
#[bench::templates(templates())]
#[bench::overlays(overlays())]
#[bench::schema(schema())]
#[bench::rules(rules())]
fn run(files: Files) -> String {
    let project = Project::new(files).expect("the files are there");
    let output = project.render(&Values::new()).unwrap_or_else(|error| panic!("{error}"));
    black_box(output.yaml().expect("it is small"))
}

library_benchmark_group!(name = yaml; benchmarks = read, written);
library_benchmark_group!(name = starlark; benchmarks = compile_code, evaluate);
library_benchmark_group!(name = engine; benchmarks = run);
main!(library_benchmark_groups = yaml, starlark, engine);
