//! Small cases: one manifest, with the paths and ids of its errors.
//!
//! Variations of the recorded corpus, other versions, external schemas, and hostile input.

use std::sync::Arc;

use ytterby_diag::{FileId, Severity};
use ytterby_kubernetes::{AddedSchema, Catalog, CheckOptions, Gvk, Node, UnknownKinds, Version, documents};
use ytterby_yaml::{ReadOptions, parse};

fn roots(text: &str) -> Vec<ytterby_kubernetes::Manifest> {
    let tree = parse(text.as_bytes(), FileId(0), &ReadOptions::default()).unwrap_or_else(|error| panic!("{error}"));
    documents(&tree)
}

fn node(text: &str) -> Arc<Node> {
    roots(text).remove(0).root
}

fn catalog(version: &str) -> Catalog {
    let version = Version::parse(version).unwrap();
    Catalog::new(CheckOptions { version, unknown: UnknownKinds::Error, skip: Vec::new() })
}

/// `id path` of each error.
fn errors_in(catalog: &Catalog, text: &str) -> Vec<String> {
    let mut found = Vec::new();
    for document in roots(text) {
        let is_valid = catalog.is_valid(&document);
        let checked = catalog.check(&document);
        let errors: Vec<String> = checked
            .iter()
            .flat_map(|checked| &checked.findings)
            .filter(|finding| finding.severity == Severity::Error)
            .map(|finding| {
                let path = finding.path.as_ref().map(ToString::to_string).unwrap_or_default();
                format!("{} {path}", finding.id.name().trim_start_matches("kubernetes/"))
            })
            .collect();
        assert_eq!(is_valid, errors.is_empty(), "the two ways disagree: {errors:?} in {text}");
        found.extend(errors);
    }
    found
}

fn check(text: &str, expected: &[&str]) {
    assert_eq!(errors_in(&catalog("1.36"), text), expected, "{text}");
}

fn pod(spec: &str) -> String {
    format!(
        "apiVersion: v1\nkind: Pod\nmetadata: {{name: a}}\nspec:\n  containers:\n  - {{name: a, image: 'a:1'}}\n{spec}"
    )
}

fn container(fields: &str) -> String {
    format!(
        "apiVersion: v1\nkind: Pod\nmetadata: {{name: a}}\nspec:\n  containers:\n  - name: a\n    image: a:1\n{fields}"
    )
}

#[test]
fn types_and_unknown_fields_are_checked() {
    check("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {a: b, n: null}", &[]);
    check("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {a: yes}", &["type data.a"]);
    check("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\nData: {a: b}", &["unknown-field Data"]);
    check(&pod("  terminationGracePeriodSeconds: 30.0"), &[]);
    check(&pod("  terminationGracePeriodSeconds: 30.5"), &["type spec.terminationGracePeriodSeconds"]);
    check(&pod("  priority: 3000000000"), &["type spec.priority"]);
    check(&pod("  hostNetwork: 'true'"), &["type spec.hostNetwork"]);
    // The server accepts any host IP, with a warning.
    check(&container("    ports: [{containerPort: 80, hostIP: 010.1.1.1}]"), &[]);
    check(&container("    resources: {limits: {memory: 1K}}"), &["format spec.containers[0].resources.limits.memory"]);
    check(&container("    resources: {limits: {memory: '2Gi '}}"), &[]);
    check(&container("    command: sh"), &["type spec.containers[0].command"]);
    check(&container("    env: [{name: A, value: 1}]"), &["type spec.containers[0].env[0].value"]);
    check("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, name: b}", &["duplicate-field metadata.name"]);
    check("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {a: .nan}", &["type data.a"]);
    check("apiVersion: v1\nkind: Secret\nmetadata: {name: a}\ndata: {a: aGk=, b: aGk}", &["format data.b"]);
    check("apiVersion: v1\nkind: Secret\nmetadata: {name: a}\ndata: {a: \"aG\\nk=\\n\"}", &[]);
}

#[test]
fn kinds_and_versions_are_checked() {
    check("apiVersion: apps/v1\nkind: Deploymnt\nmetadata: {name: a}", &["unknown-kind kind"]);
    check("apiVersion: apps/v1beta1\nkind: Deployment\nmetadata: {name: a}", &["removed apiVersion"]);
    check("kind: Pod", &["no-kind "]);
    check("[1, 2]", &["no-kind "]);
    check(
        "apiVersion: v1\nkind: List\nitems:\n- {apiVersion: v1, kind: ConfigMap, metadata: {name: A}}",
        &["metadata items[0].metadata.name"],
    );
    check(
        "apiVersion: v1\nkind: ConfigMapList\nitems:\n- {metadata: {name: a}, dta: {}}",
        &["unknown-field items[0].dta"],
    );
    let old = catalog("1.24");
    assert_eq!(
        errors_in(
            &old,
            "apiVersion: policy/v1beta1\nkind: PodDisruptionBudget\nmetadata: {name: a}\nspec: {minAvailable: 1}"
        ),
        [""; 0]
    );
    check("apiVersion: policy/v1beta1\nkind: PodDisruptionBudget\nmetadata: {name: a}", &["removed apiVersion"]);
    let vap = "apiVersion: admissionregistration.k8s.io/v1\nkind: ValidatingAdmissionPolicyBinding\nmetadata: {name: a}\nspec: {policyName: x, validationActions: [Deny]}";
    assert_eq!(errors_in(&old, vap), ["removed apiVersion"]);
    check(vap, &[]);
    let service = "apiVersion: v1\nkind: Service\nmetadata: {name: 1a}\nspec: {ports: [{port: 80}]}";
    assert_eq!(errors_in(&catalog("1.30"), service), ["metadata metadata.name"]);
    check(service, &[]);
}

#[test]
fn metadata_is_checked() {
    check("apiVersion: v1\nkind: ConfigMap\nmetadata: {generateName: a-}", &[]);
    check("apiVersion: v1\nkind: ConfigMap\nmetadata: {generateName: A-}", &["metadata metadata.generateName"]);
    check(
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, labels: {'a/b/c': d}}",
        &["metadata metadata.labels.a/b/c"],
    );
    check("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, labels: {a: 'x.'}}", &["metadata metadata.labels.a"]);
    check("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, annotations: {'A.b/C': 'any thing'}}", &[]);
    check("apiVersion: v1\nkind: Namespace\nmetadata: {name: a.b}", &["metadata metadata.name"]);
    check("apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\nmetadata: {name: 'system:a.B'}", &[]);
    let long = "a".repeat(53);
    let cron = format!(
        "apiVersion: batch/v1\nkind: CronJob\nmetadata: {{name: {long}}}\nspec: {{schedule: '@daily', jobTemplate: {{spec: {{template: {{spec: {{restartPolicy: Never, containers: [{{name: a, image: a}}]}}}}}}}}}}"
    );
    check(&cron, &["metadata metadata.name"]);
    check(&cron.replace(&long, &long[..52]), &[]);
}

#[test]
fn pods_are_checked() {
    check(
        &container("    livenessProbe: {tcpSocket: {port: 0}}"),
        &["invalid spec.containers[0].livenessProbe.tcpSocket.port"],
    );
    check(
        &container("    livenessProbe: {exec: {command: [a]}, httpGet: {port: 1}}"),
        &["invalid spec.containers[0].livenessProbe.httpGet"],
    );
    check(
        &container("    envFrom: [{configMapRef: {name: a}, secretRef: {name: b}}]"),
        &["invalid spec.containers[0].envFrom[0].secretRef"],
    );
    check(&container("    env: [{name: A, valueFrom: {fieldRef: {fieldPath: \"metadata.labels['a']\"}}}]"), &[]);
    check(
        &container("    volumeMounts: [{name: v, mountPath: /a, subPath: ../b}]\n  volumes: [{name: v}]"),
        &["invalid spec.containers[0].volumeMounts[0].subPath"],
    );
    check(&pod("  volumes: [{name: V}]"), &["invalid spec.volumes[0].name"]);
    check(&pod("  volumes: [{name: v, hostPath: {path: /a/../b}}]"), &["invalid spec.volumes[0].hostPath.path"]);
    check(&pod("  volumes: [{name: v, secret: {secretName: s, defaultMode: 0644}}]"), &[]);
    check(
        &pod("  volumes: [{name: v, secret: {secretName: s, defaultMode: 644}}]"),
        &["invalid spec.volumes[0].secret.defaultMode"],
    );
    check(&pod("  tolerations: [{operator: Exists}]"), &[]);
    check(&pod("  tolerations: [{effect: NoSchedule}]"), &["invalid spec.tolerations[0]"]);
    check(&pod("  dnsPolicy: None"), &["required spec.dnsConfig"]);
    check(&pod("  initContainers: [{name: a, image: b}]"), &["duplicate-item spec.containers[0].name"]);
    check(
        &pod("  initContainers: [{name: i, image: b, livenessProbe: {exec: {command: [a]}}}]"),
        &["invalid spec.initContainers[0].livenessProbe"],
    );
    check(&pod("  restartPolicy: always"), &["enum spec.restartPolicy"]);
    check(
        &container("    resources: {limits: {nvidia.com/gpu: 1}, requests: {nvidia.com/gpu: 2}}"),
        &["invalid spec.containers[0].resources.requests.nvidia.com/gpu"],
    );
    check(
        "apiVersion: v1\nkind: Pod\nmetadata: {name: a}\nspec: {containers: [{image: a}]}",
        &["required spec.containers[0].name"],
    );
    check("apiVersion: v1\nkind: Pod\nmetadata: {name: a}\nspec: {containers: []}", &["required spec.containers"]);
    check("apiVersion: v1\nkind: Pod\nmetadata: {name: a}", &["required spec.containers"]);
}

#[test]
fn workloads_are_checked() {
    let set = |spec: &str| {
        format!(
            "apiVersion: apps/v1\nkind: StatefulSet\nmetadata: {{name: a}}\nspec:\n  selector: {{matchLabels: {{a: b}}}}\n  template:\n    metadata: {{labels: {{a: b}}}}\n    spec: {{containers: [{{name: a, image: a, volumeMounts: [{{name: data, mountPath: /x}}]}}]}}\n{spec}"
        )
    };
    let claim = "  volumeClaimTemplates:\n  - metadata: {name: data}\n    spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}";
    check(&set(claim), &[]);
    check(&set(""), &["reference spec.template.spec.containers[0].volumeMounts[0].name"]);
    check(&set(&format!("{claim}\n  replicas: -1")), &["invalid spec.replicas"]);
    let job = |spec: &str| {
        format!(
            "apiVersion: batch/v1\nkind: Job\nmetadata: {{name: a}}\nspec:\n  template:\n    spec: {{{spec}containers: [{{name: a, image: a}}]}}"
        )
    };
    check(&job("restartPolicy: OnFailure, "), &[]);
    check(&job(""), &["required spec.template.spec.restartPolicy"]);
    check(&job("restartPolicy: Always, "), &["enum spec.template.spec.restartPolicy"]);
    let deployment = |selector: &str| {
        format!(
            "apiVersion: apps/v1\nkind: Deployment\nmetadata: {{name: a}}\nspec:\n  selector: {selector}\n  template:\n    metadata: {{labels: {{a: b, c: d}}}}\n    spec: {{containers: [{{name: a, image: a}}]}}"
        )
    };
    check(&deployment("{matchExpressions: [{key: a, operator: In, values: [b, x]}]}"), &[]);
    check(
        &deployment("{matchExpressions: [{key: a, operator: NotIn, values: [b]}]}"),
        &["invalid spec.template.metadata.labels"],
    );
    check(&deployment("{matchLabels: {a: x}}"), &["invalid spec.template.metadata.labels"]);
    check(&deployment("{}"), &["invalid spec.selector"]);
}

#[test]
fn network_kinds_are_checked() {
    let service = |spec: &str| format!("apiVersion: v1\nkind: Service\nmetadata: {{name: a}}\nspec: {{{spec}}}");
    check(&service("clusterIP: None"), &[]);
    check(&service("prots: [{port: 80}]"), &["unknown-field spec.prots"]);
    check(&service("ports: [{port: 80}, {port: 81}]"), &["required spec.ports[0].name", "required spec.ports[1].name"]);
    check(&service("ports: [{name: a, port: 80}, {name: b, port: 80}]"), &["invalid spec.ports[1]"]);
    check(&service("ports: [{name: a, port: 53}, {name: b, port: 53, protocol: UDP}]"), &[]);
    check(&service("type: ExternalName"), &["required spec.externalName"]);
    check(&service("type: NodePort, ports: [{port: 80, nodePort: 30000}]"), &[]);
    let ingress = |rule: &str| {
        format!("apiVersion: networking.k8s.io/v1\nkind: Ingress\nmetadata: {{name: a}}\nspec: {{rules: [{rule}]}}")
    };
    let path = "http: {paths: [{path: /, pathType: Prefix, backend: {service: {name: a, port: {name: http}}}}]}";
    check(&ingress(&format!("{{host: '*.a.test', {path}}}")), &[]);
    check(&ingress(&format!("{{host: 'a.*.test', {path}}}")), &["invalid spec.rules[0].host"]);
    check(&ingress(&format!("{{host: A.test, {path}}}")), &["invalid spec.rules[0].host"]);
    let policy = |rule: &str| {
        format!(
            "apiVersion: networking.k8s.io/v1\nkind: NetworkPolicy\nmetadata: {{name: a}}\nspec: {{podSelector: {{}}, ingress: [{rule}]}}"
        )
    };
    check(&policy("{from: [{ipBlock: {cidr: 10.0.0.0/8, except: [10.1.0.0/16]}}]}"), &[]);
    check(
        &policy("{from: [{ipBlock: {cidr: 10.0.0.0/8, except: [11.0.0.0/16]}}]}"),
        &["invalid spec.ingress[0].from[0].ipBlock.except[0]"],
    );
    check(&policy("{ports: [{port: 80, endPort: 79}]}"), &["invalid spec.ingress[0].ports[0].endPort"]);
}

const CACHE: &str = "apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: caches.shop.test}
spec:
  group: shop.test
  scope: Namespaced
  names: {plural: caches, kind: Cache}
  versions:
  - name: v1
    served: true
    storage: true
    subresources: {status: {}}
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec:
            type: object
            required: [size]
            x-kubernetes-validations:
            - {rule: 'self.min <= self.max', messageExpression: '\"min \" + string(self.min) + \" is above \" + string(self.max)', fieldPath: .min}
            - {rule: 'self.size >= oldSelf.size', message: cannot shrink}
            properties:
              size: {type: integer, format: int32}
              min: {type: integer, default: 1}
              max: {type: integer, default: 5}
              note: {type: string, nullable: true}
              port: {x-kubernetes-int-or-string: true}
              free: {type: object, x-kubernetes-preserve-unknown-fields: true, properties: {known: {type: object, properties: {a: {type: string}}}}}
              ports:
                type: array
                x-kubernetes-list-type: map
                x-kubernetes-list-map-keys: [port, protocol]
                items:
                  type: object
                  required: [port]
                  properties: {port: {type: integer}, protocol: {type: string, default: TCP}}
              embedded: {type: object, x-kubernetes-embedded-resource: true, x-kubernetes-preserve-unknown-fields: true}
          status: {type: object, properties: {ready: {type: boolean}}}
";

fn check_cache(spec: &str, expected: &[&str]) {
    let mut catalog = catalog("1.36");
    assert!(catalog.add_definition(&node(CACHE)));
    let text = format!("apiVersion: shop.test/v1\nkind: Cache\nmetadata: {{name: a}}\nspec: {{size: 1, {spec}}}");
    assert_eq!(errors_in(&catalog, &text), expected, "{spec}");
}

#[test]
fn custom_resources_are_checked() {
    check(CACHE, &[]);
    check_cache("", &[]);
    check_cache("min: 9", &["rule spec.min"]);
    check_cache("min: null, note: null", &[]);
    check_cache("size: null", &["duplicate-field spec.size", "required spec.size"]);
    check_cache("port: 1", &[]);
    check_cache("port: 1.5", &["type spec.port"]);
    check_cache("port: [1]", &["type spec.port"]);
    check_cache("max: 3000000000", &[]);
    check_cache("free: {any: [1], known: {a: b}}", &[]);
    check_cache("free: {known: {b: c}}", &["unknown-field spec.free.known.b"]);
    check_cache("ports: [{port: 1}, {port: 1, protocol: UDP}]", &[]);
    check_cache("ports: [{port: 1}, {port: 1, protocol: TCP}]", &["duplicate-item spec.ports[1]"]);
    check_cache("ports: [null]", &["type spec.ports[0]"]);
    check_cache(
        "embedded: {apiVersion: v1, kind: Pod, metadata: {name: A, nam: b}}",
        &["unknown-field spec.embedded.metadata.nam"],
    );
    check_cache("embedded: {kind: Pod}", &["required spec.embedded.apiVersion"]);
}

#[test]
fn external_schemas_are_used() {
    let api = "{openapi: 3.0.0, components: {schemas: {shop.Cache: {type: object, x-kubernetes-group-version-kind: [{group: shop.test, version: v1, kind: Cache}], properties: {spec: {allOf: [{$ref: '#/components/schemas/shop.Spec'}], default: {}}}}, shop.Spec: {type: object, required: [size], properties: {size: {type: integer}, next: {$ref: '#/components/schemas/shop.Spec'}}}}}}";
    let mut catalog = catalog("1.36");
    assert_eq!(catalog.add(&node(api)), AddedSchema::OpenApi(1));
    let cache = |spec: &str| format!("apiVersion: shop.test/v1\nkind: Cache\nmetadata: {{name: a}}\nspec: {spec}");
    assert_eq!(errors_in(&catalog, &cache("{size: 1, next: {size: 2}}")), [""; 0]);
    assert_eq!(errors_in(&catalog, &cache("{size: 1, next: {sise: 2}}")), ["unknown-field spec.next.sise"]);
    let json = node(
        "{$schema: x, type: object, properties: {spec: {type: [object, 'null'], additionalProperties: false, properties: {a: {type: [string, 'null'], maxLength: 2}, free: {type: object}}}}}",
    );
    assert_eq!(catalog.add(&json), AddedSchema::JsonSchema);
    catalog.add_json_schema(Gvk::of("x.test/v1", "X"), &json);
    let x = |spec: &str| format!("apiVersion: x.test/v1\nkind: X\nmetadata: {{name: a}}\nspec: {spec}");
    assert_eq!(errors_in(&catalog, &x("{a: ab, free: {b: c}}")), [""; 0]);
    assert_eq!(errors_in(&catalog, &x("{a: abc}")), ["range spec.a"]);
    assert_eq!(errors_in(&catalog, &x("{b: 1}")), ["unknown-field spec.b"]);
}

#[test]
fn hostile_input_ends() {
    let mut catalog = catalog("1.36");
    // Definitions that refer only to each other, and combinations that refer to themselves twice.
    let hostile = "{swagger: '2.0', definitions: {A: {$ref: '#/definitions/B'}, B: {$ref: '#/definitions/A'}, X: {x-kubernetes-group-version-kind: [{group: x.test, version: v1, kind: X}], type: object, properties: {spec: {$ref: '#/definitions/Loop'}, other: {$ref: '#/definitions/A'}}}, Loop: {anyOf: [{$ref: '#/definitions/Loop'}, {$ref: '#/definitions/Loop'}]}}}";
    assert_eq!(catalog.add(&node(hostile)), AddedSchema::OpenApi(1));
    let found = errors_in(&catalog, "apiVersion: x.test/v1\nkind: X\nmetadata: {name: a}\nspec: {a: 1}\nother: 1");
    assert!(!found.is_empty());
    let deep = format!(
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: a}}\ndata: {}1{}",
        "[".repeat(5000),
        "]".repeat(5000)
    );
    assert!(errors_in(&catalog, &deep).iter().any(|error| error.starts_with("limit ")));
    let wide: String = (0..20_000).map(|at| format!("  k{at}: v\n")).collect();
    assert_eq!(
        errors_in(&catalog, &format!("apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: a}}\ndata:\n{wide}")),
        [""; 0]
    );
    let unknown: String = (0..20_000).map(|at| format!("k{at}: v\n")).collect();
    assert!(
        errors_in(&catalog, &format!("apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: a}}\n{unknown}")).len() <= 100
    );
}

#[test]
fn catalogs_are_shared_between_threads() {
    fn shared<T: Send + Sync>() {}
    shared::<Catalog>();
}
