//! Rules that the API server implements in code, found by comparing verdicts on some 18,000 mutated
//! manifests of all kinds.
//!
//! Each line is a change of a valid manifest and the paths of the errors that a server reports for
//! it.

use ytterby_diag::{FileId, Severity};
use ytterby_kubernetes::{Catalog, CheckOptions, UnknownKinds, Version, documents};
use ytterby_yaml::{ReadOptions, parse};

/// The paths of all errors.
fn errors(version: &str, text: &str) -> Vec<String> {
    let version = Version::parse(version).unwrap();
    let catalog = Catalog::new(CheckOptions { version, unknown: UnknownKinds::Error, skip: Vec::new() });
    let tree = parse(text.as_bytes(), FileId(0), &ReadOptions::default()).unwrap_or_else(|error| panic!("{error}"));
    let mut found = Vec::new();
    for checked in documents(&tree).iter().flat_map(|document| catalog.check(document)) {
        let is_error = |severity| severity == Severity::Error;
        found.extend(
            checked
                .findings
                .into_iter()
                .filter(|finding| is_error(finding.severity))
                .map(|finding| finding.path.as_ref().map(ToString::to_string).unwrap_or_default()),
        );
    }
    found
}

/// Checks lines of `fields => paths` inside a manifest, where `…` is replaced by the fields.
fn lines(manifest: &str, lines: &str) {
    for line in lines.lines().map(str::trim).filter(|line| !line.is_empty()) {
        let (fields, expected) = line.split_once("=>").unwrap_or((line, ""));
        let text = manifest.replace('…', fields.trim());
        assert_eq!(errors("1.36", &text), expected.split_whitespace().collect::<Vec<_>>(), "{text}");
    }
}

#[test]
fn services_are_checked() {
    lines(
        "{apiVersion: v1, kind: Service, metadata: {name: a}, spec: {…}}",
        "
        ports: [{port: 80}], sessionAffinityConfig: {clientIP: {timeoutSeconds: 0}}
        ports: [{port: 80}], sessionAffinity: ClientIP, sessionAffinityConfig: {clientIP: {timeoutSeconds: 0}} => spec.sessionAffinityConfig.clientIP.timeoutSeconds
        ports: [{port: 80, appProtocol: ''}] => spec.ports[0].appProtocol
        ports: [{port: 80}], externalIPs: [null] => spec.externalIPs[0]
        ports: [{port: 80}], internalTrafficPolicy: '' => spec.internalTrafficPolicy
        ports: [{port: 80}], healthCheckNodePort: 30000 => spec.healthCheckNodePort
        ports: [{port: 80}], clusterIPs: [10.0.0.1] => spec.clusterIPs
        ports: [{port: 80}], clusterIP: None, clusterIPs: [None]
        ports: [{port: 80}], trafficDistribution: Near => spec.trafficDistribution
        type: ExternalName, externalName: a.b, ipFamilyPolicy: SingleStack => spec.ipFamilyPolicy
        type: LoadBalancer, ports: [{port: 80}], loadBalancerClass: a b => spec.loadBalancerClass
        type: LoadBalancer, ports: [{port: 80}], loadBalancerIP: any
        ",
    );
}

#[test]
fn pods_are_checked() {
    lines(
        "{apiVersion: v1, kind: Pod, metadata: {name: a}, spec: {containers: [{name: a, image: b}], …}}",
        "
        volumes: [{name: v, iscsi: {targetPortal: p, iqn: x}}] => spec.volumes[0].iscsi.iqn
        volumes: [{name: v, fc: {targetWWNs: [w]}}] => spec.volumes[0].fc.lun
        volumes: [{name: v, downwardAPI: {items: [{path: a, resourceFieldRef: {resource: limits.cpu}}]}}] => spec.volumes[0].downwardAPI.items[0].resourceFieldRef.containerName
        volumes: [{name: v, projected: {sources: [{secret: {name: a, items: [{key: k, path: p}]}}, {configMap: {name: b, items: [{key: k, path: p}]}}]}}] => spec.volumes[0].projected.sources[1].configMap.items[0].path
        volumes: [{name: v, configMap: {name: c, items: [{key: k, path: ..a}]}}] => spec.volumes[0].configMap.items[0].path
        affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [{matchFields: [{key: a, operator: In, values: [b]}]}]}}} => spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms[0].matchFields[0].key
        topologySpreadConstraints: [{maxSkew: 1, topologyKey: k, whenUnsatisfiable: ScheduleAnyway, minDomains: 2}] => spec.topologySpreadConstraints[0].minDomains
        topologySpreadConstraints: [{maxSkew: 1, topologyKey: k, whenUnsatisfiable: ScheduleAnyway, matchLabelKeys: [a]}] => spec.topologySpreadConstraints[0].matchLabelKeys
        securityContext: {seccompProfile: {type: Localhost}} => spec.securityContext.seccompProfile.localhostProfile
        securityContext: {appArmorProfile: {type: RuntimeDefault, localhostProfile: x}} => spec.securityContext.appArmorProfile.localhostProfile
        securityContext: {sysctls: [{name: 'Net.x', value: v}]} => spec.securityContext.sysctls[0].name
        serviceAccount: A => spec.serviceAccount
        preemptionPolicy: '' => spec.preemptionPolicy
        readinessGates: [{conditionType: a b}] => spec.readinessGates[0].conditionType
        initContainers: [{name: i, image: b, restartPolicy: Sometimes}] => spec.initContainers[0].restartPolicy
        imagePullSecrets: [null], hostAliases: [{ip: ''}] => spec.hostAliases[0].ip
        ",
    );
    lines(
        "{apiVersion: v1, kind: Pod, metadata: {name: a}, spec: {containers: [{name: a, image: b, …}]}}",
        "
        lifecycle: {preStop: {sleep: {seconds: 31}}} => spec.containers[0].lifecycle.preStop.sleep.seconds
        volumeMounts: [{name: v, mountPath: /a, mountPropagation: Bidirectional}]}], volumes: [{name: v => spec.containers[0].volumeMounts[0].mountPropagation
        volumeDevices: [{name: v, devicePath: /a}]}], volumes: [{name: v, emptyDir: {} => spec.containers[0].volumeDevices[0].name
        env: [{name: A, valueFrom: {resourceFieldRef: {resource: limits.cpu, divisor: 2m}}}] => spec.containers[0].env[0].valueFrom.resourceFieldRef.divisor
        env: [{name: A, valueFrom: {configMapKeyRef: {name: A_b, key: k}}}] => spec.containers[0].env[0].valueFrom.configMapKeyRef.name
        resizePolicy: [{resourceName: disk, restartPolicy: NotRequired}] => spec.containers[0].resizePolicy[0].resourceName
        ports: [{containerPort: 80, hostIP: any}]
        ",
    );
}

#[test]
fn jobs_are_checked() {
    let template = "template: {spec: {restartPolicy: Never, containers: [{name: a, image: b}]}}";
    lines(
        &format!("{{apiVersion: batch/v1, kind: Job, metadata: {{name: a}}, spec: {{{template}, …}}}}"),
        "
        maxFailedIndexes: 1, completionMode: Indexed, completions: 2 => spec.backoffLimitPerIndex
        successPolicy: {rules: [{succeededCount: 1}]} => spec.successPolicy
        completionMode: Indexed, completions: 2, successPolicy: {rules: [{succeededIndexes: 0-2}]} => spec.successPolicy.rules[0].succeededIndexes
        completionMode: Indexed, completions: 2, successPolicy: {rules: [{}]} => spec.successPolicy.rules[0]
        podFailurePolicy: {rules: [{action: FailJob, onExitCodes: {operator: In, values: [0]}}]} => spec.podFailurePolicy.rules[0].onExitCodes.values[0]
        podFailurePolicy: {rules: [{action: FailJob, onExitCodes: {operator: In, values: [1], containerName: z}}]} => spec.podFailurePolicy.rules[0].onExitCodes.containerName
        podFailurePolicy: {rules: [{action: FailIndex, onPodConditions: [{type: a}]}]} => spec.podFailurePolicy.rules[0].action
        managedBy: me => spec.managedBy
        manualSelector: true => spec.selector
        ",
    );
    lines(
        &format!(
            "{{apiVersion: batch/v1, kind: CronJob, metadata: {{name: a}}, spec: {{schedule: '@daily', jobTemplate: {{metadata: {{labels: {{a b: c}}}}, spec: {{{template}}}}}, …}}}}"
        ),
        "
        timeZone: Europe/Berlin
        timeZone: Europe/Berln => spec.timeZone
        timeZone: Local => spec.timeZone
        ",
    );
}

#[test]
fn other_kinds_are_checked() {
    lines(
        "{metadata: {name: a}, …}",
        "
        apiVersion: autoscaling/v2, kind: HorizontalPodAutoscaler, spec: {scaleTargetRef: {kind: Deployment, name: a}, maxReplicas: 1} => spec.scaleTargetRef.apiVersion
        apiVersion: autoscaling/v2, kind: HorizontalPodAutoscaler, spec: {scaleTargetRef: {apiVersion: v1, kind: ReplicationController, name: a}, maxReplicas: 1}
        apiVersion: networking.k8s.io/v1, kind: IngressClass, spec: {controller: a.b/c, parameters: {kind: K, name: x, scope: Namespace}} => spec.parameters.namespace
        apiVersion: v1, kind: ResourceQuota, spec: {hard: {services: 1}, scopes: [BestEffort]} => spec.scopes[0]
        apiVersion: v1, kind: ResourceQuota, spec: {hard: {pods: 1}, scopes: [BestEffort, NotBestEffort]} => spec.scopes
        apiVersion: v1, kind: LimitRange, spec: {limits: [{type: PersistentVolumeClaim}]} => spec.limits[0]
        apiVersion: v1, kind: LimitRange, spec: {limits: [{type: Containers}]} => spec.limits[0].type
        apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole, aggregationRule: {} => aggregationRule.clusterRoleSelectors
        apiVersion: storage.k8s.io/v1, kind: StorageClass, provisioner: a, allowedTopologies: [{matchLabelExpressions: [{key: a, values: [b, b]}]}] => allowedTopologies[0].matchLabelExpressions[0].values[1]
        apiVersion: storage.k8s.io/v1, kind: CSIDriver, spec: {fsGroupPolicy: Files} => spec.fsGroupPolicy
        apiVersion: networking.k8s.io/v1, kind: ServiceCIDR, spec: {cidrs: [10.0.0.1/8]} => spec.cidrs[0]
        apiVersion: v1, kind: ConfigMap, binaryData: {a: aGk=, b: AGK=, c: [104, 105]}
        apiVersion: v1, kind: ConfigMap, binaryData: {a: [300]} => binaryData.a
        apiVersion: v1, kind: Node, spec: {taints: [{key: a, effect: NoSchedule}, {key: a, effect: NoSchedule}]} => spec.taints[1]
        apiVersion: admissionregistration.k8s.io/v1, kind: ValidatingAdmissionPolicyBinding, spec: {policyName: a, validationActions: [Deny], paramRef: {name: a}} => spec.paramRef.parameterNotFoundAction
        apiVersion: admissionregistration.k8s.io/v1, kind: MutatingAdmissionPolicyBinding, spec: {policyName: A} => spec.policyName
        ",
    );
}

#[test]
fn metadata_is_checked() {
    lines(
        "{apiVersion: v1, kind: ConfigMap, metadata: {name: a, …}}",
        "
        generateName: A_b => metadata.generateName
        finalizers: [cleanup] => metadata.finalizers[0]
        finalizers: [a.b/c, foregroundDeletion]
        ownerReferences: [{apiVersion: v1, kind: Pod, name: p, uid: u, controller: true}, {apiVersion: v1, kind: Pod, name: p, uid: u, controller: true}]
        ownerReferences: [{apiVersion: v1, kind: Pod, name: p, uid: u, controller: true}, {apiVersion: v1, kind: Pod, name: q, uid: v, controller: true}] => metadata.ownerReferences
        ",
    );
    let set = "{apiVersion: apps/v1, kind: StatefulSet, metadata: {name: a.b}, spec: {selector: {matchLabels: {a: b}}, template: {metadata: {labels: {a: b}}, spec: {containers: [{name: a, image: b}]}}}}";
    assert_eq!(errors("1.26", set), [""; 0]);
    assert_eq!(errors("1.27", set), ["metadata.name"]);
}
