//! Measures parsing and checking 50,000 mixed documents, separately and together, and the growth of
//! memory.
//!
//! Run with `cargo bench -p ytterby-kubernetes`. The limit is 4 seconds of processor time in total.

use std::time::Instant;

use ytterby_diag::FileId;
use ytterby_kubernetes::{Catalog, CheckOptions, Checked, documents};
use ytterby_yaml::{ReadOptions, parse};

const COUNT: usize = 50_000;

/// Documents of one file; 500 files make the whole.
const PER_FILE: usize = 100;

fn document(number: usize) -> String {
    match number % 8 {
        0 | 1 => format!(
            "apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: web-{number}\n  labels: {{app: web, tier: front}}\n\
             spec:\n  replicas: 3\n  selector:\n    matchLabels: {{app: web}}\n  template:\n    metadata:\n      labels: \
             {{app: web, tier: front}}\n    spec:\n      serviceAccountName: web\n      containers:\n      - name: web\n        \
             image: registry.test/web:{number}\n        args: [--port, \"8080\"]\n        env:\n        - {{name: A, value: \
             \"1\"}}\n        - name: B\n          valueFrom: {{secretKeyRef: {{name: s, key: k}}}}\n        ports:\n        - \
             {{name: http, containerPort: 8080}}\n        readinessProbe: {{httpGet: {{path: /, port: http}}}}\n        \
             resources:\n          limits: {{cpu: 500m, memory: 1Gi}}\n          requests: {{cpu: 100m, memory: 512Mi}}\n        \
             volumeMounts:\n        - {{name: cache, mountPath: /cache}}\n      volumes:\n      - {{name: cache, emptyDir: \
             {{}}}}\n"
        ),
        2 => format!(
            "apiVersion: v1\nkind: Service\nmetadata: {{name: web-{number}}}\nspec:\n  selector: {{app: web}}\n  ports:\n  - \
             {{name: http, port: 80, targetPort: http}}\n"
        ),
        3 => format!(
            "apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: c-{number}}}\ndata:\n  a: \"1\"\n  config.yml: |\n    a: 1\n    \
             b: 2\n"
        ),
        4 => format!(
            "apiVersion: rbac.authorization.k8s.io/v1\nkind: Role\nmetadata: {{name: r-{number}}}\nrules:\n- apiGroups: \
             [\"\"]\n  resources: [pods]\n  verbs: [get, list]\n"
        ),
        5 => format!(
            "apiVersion: networking.k8s.io/v1\nkind: Ingress\nmetadata: {{name: i-{number}}}\nspec:\n  rules:\n  - host: \
             a.test\n    http:\n      paths:\n      - path: /\n        pathType: Prefix\n        backend: {{service: {{name: \
             web, port: {{number: 80}}}}}}\n"
        ),
        6 => format!(
            "apiVersion: shop.test/v1\nkind: Cache\nmetadata: {{name: c-{number}}}\nspec:\n  size: 5\n  min: 1\n  slots:\n  - \
             {{id: a}}\n  - {{id: b}}\n"
        ),
        _ => format!(
            "apiVersion: batch/v1\nkind: CronJob\nmetadata: {{name: j-{number}}}\nspec:\n  schedule: \"0 1 * * *\"\n  \
             jobTemplate:\n    spec:\n      template:\n        spec:\n          restartPolicy: Never\n          containers:\n          \
             - {{name: a, image: \"a:1\"}}\n"
        ),
    }
}

const DEFINITION: &str = "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: caches.shop.test}\n\
spec:\n  group: shop.test\n  scope: Namespaced\n  names: {plural: caches, kind: Cache}\n  versions:\n  - name: v1\n    served: \
true\n    storage: true\n    schema:\n      openAPIV3Schema:\n        type: object\n        properties:\n          spec:\n            \
type: object\n            required: [size]\n            x-kubernetes-validations: [{rule: self.min <= self.max, message: m}]\n            \
properties:\n              size: {type: integer, minimum: 1}\n              min: {type: integer}\n              max: {type: \
integer, default: 5}\n              slots:\n                type: array\n                maxItems: 10\n                \
x-kubernetes-list-type: map\n                x-kubernetes-list-map-keys: [id]\n                items:\n                  type: \
object\n                  required: [id]\n                  properties: {id: {type: string}}\n";

fn main() {
    let file = |first: usize| -> String { (first..first + PER_FILE).map(document).collect::<Vec<_>>().join("---\n") };
    let files: Vec<String> = (0..COUNT).step_by(PER_FILE).map(file).collect();
    let bytes: usize = files.iter().map(String::len).sum();
    let options = ReadOptions { comments: false, ..ReadOptions::default() };

    let started = Instant::now();
    let mut catalog = Catalog::new(CheckOptions::default());
    let tree = parse(DEFINITION.as_bytes(), FileId(0), &options).expect("the definition is YAML");
    documents(&tree).iter().for_each(|document| {
        catalog.add_definition(&document.root);
    });
    println!("{:>8.1} ms  catalog", started.elapsed().as_secs_f64() * 1e3);

    let (mut reading, mut checking, mut quick) = (0.0, 0.0, 0.0);
    let mut count = 0;
    for (at, text) in files.iter().enumerate() {
        let started = Instant::now();
        let tree = parse(text.as_bytes(), FileId(0), &options).expect("the documents are YAML");
        let docs = documents(&tree);
        reading += started.elapsed().as_secs_f64();

        let started = Instant::now();
        for document in &docs {
            let checked = catalog.check(document);
            assert!(checked.iter().all(Checked::is_valid), "{:?}", checked[0].findings);
        }
        checking += started.elapsed().as_secs_f64();

        let started = Instant::now();
        count += docs.iter().filter(|document| catalog.is_valid(document)).count();
        quick += started.elapsed().as_secs_f64();
        if [0, files.len() / 2, files.len() - 1].contains(&at) {
            println!("{:>8} kB  memory after {} documents", memory(), (at + 1) * PER_FILE);
        }
    }
    assert_eq!(count, COUNT);
    let total = reading + checking;
    println!("{COUNT} documents, {:.1} MB", bytes as f64 / 1e6);
    println!("{:>8.1} ms  read", reading * 1e3);
    println!("{:>8.1} ms  checked ({:.1} µs each)", checking * 1e3, checking * 1e6 / COUNT as f64);
    println!("{:>8.1} ms  checked, yes or no only", quick * 1e3);
    println!("{:>8.1} ms  read and checked, of 4000", total * 1e3);
}

/// Resident memory in kB, if the system provides it.
fn memory() -> u64 {
    let text = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = text.lines().find(|line| line.starts_with("VmRSS:"));
    line.and_then(|line| line.split_whitespace().nth(1)?.parse().ok()).unwrap_or(0)
}
