//! Time and memory for checking many VMs: twice the VMs must take twice the time.
//!
//! Run with `cargo bench -p ytterby-kubevirt`. Prints a table; nothing is asserted, because
//! machines differ.

use std::fmt::Write;
use std::time::Instant;

use ytterby_diag::FileId;
use ytterby_kubevirt::evaluate::{Sizing, complete_cpu, evaluate, is_valid};
use ytterby_kubevirt::objects::objects;
use ytterby_kubevirt::parameters::Parameters;
use ytterby_yaml::{ReadOptions, parse};

/// Ten rules of all kinds.
fn rules() -> String {
    let rule = |name: &str, kind: &str, path: &str, rest: &str| {
        format!(
            "        {{\"name\": \"{name}\", \"rule\": \"{kind}\", \"path\": \"jsonpath::.spec.{path}\", \"message\": \"m\", {rest}}}"
        )
    };
    let disks = "domain.devices.disks[*]";
    [
        rule("memory", "integer", "domain.memory.guest", "\"min\": 1073741824"),
        rule("memory-max", "integer", "domain.memory.guest", "\"max\": \"64Gi\""),
        rule("cores", "integer", "domain.cpu.cores", "\"min\": 1, \"max\": 8"),
        rule("threads", "integer", "domain.cpu.threads", "\"max\": 2"),
        rule("machine", "enum", "domain.machine.type", "\"values\": [\"q35\", \"pc\"]"),
        rule("machine-name", "regex", "domain.machine.type", "\"regex\": \"^q[0-9]+$\""),
        rule("bus", "enum", &format!("{disks}.disk.bus"), "\"values\": [\"virtio\", \"sata\"]"),
        rule("names", "string", &format!("{disks}.name"), "\"minLength\": 1, \"maxLength\": 63"),
        rule(
            "cd",
            "enum",
            &format!("{disks}.cdrom.bus"),
            "\"values\": [\"sata\"], \"valid\": \"jsonpath::.spec.domain.devices.disks[*].cdrom.bus\"",
        ),
        rule("nets", "regex", "domain.devices.interfaces[*].name", "\"regex\": \"^[a-z]+$\""),
    ]
    .join(",\n")
}

fn vms(count: usize) -> Vec<u8> {
    let rules = rules();
    let mut text = String::new();
    for i in 0..count {
        let _ = write!(
            text,
            "---\napiVersion: kubevirt.io/v1\nkind: VirtualMachine\nmetadata:\n  name: vm-{i}\n  annotations:\n    vm.kubevirt.io/validations: |\n      [\n{rules}\n      ]\nspec:\n  template:\n    spec:\n      domain:\n        cpu: {{cores: {}}}\n        memory: {{guest: {}Gi}}\n        machine: {{type: q35}}\n        devices:\n          disks:\n          - {{name: root, disk: {{bus: virtio}}}}\n          - {{name: data, disk: {{bus: sata}}}}\n          interfaces:\n          - {{name: default, masquerade: {{}}}}\n",
            i % 9 + 1,
            i % 5 + 1,
        );
    }
    text.into_bytes()
}

/// The peak memory of the process so far, in MiB; 0 if unknown.
fn peak() -> usize {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.and_then(|line| line.trim().trim_end_matches(" kB").parse::<usize>().ok()).unwrap_or(0) / 1024
}

fn main() {
    println!("{:>8} {:>10} {:>10} {:>12} {:>10}", "VMs", "MB", "ms", "us per VM", "peak MiB");
    for count in [1_250, 2_500, 5_000, 10_000, 20_000] {
        let text = vms(count);
        let started = Instant::now();
        let options = ReadOptions { comments: false, ..ReadOptions::default() };
        let tree = parse(&text, FileId(0), &options).expect("the VMs are YAML");
        let objects = objects(&tree, &Parameters::default()).expect("the VMs can be read");
        let rules = objects.vms[0].rules.as_ref().expect("all VMs have the same rules").rules().expect("good rules");
        let valid = |vm: &ytterby_kubevirt::objects::Vm| {
            let mut value = vm.value.clone();
            complete_cpu(&mut value);
            is_valid(&evaluate(&rules, &value, &Sizing::Own))
        };
        let count_valid = objects.vms.iter().filter(|vm| valid(vm)).count();
        let spent = started.elapsed();
        assert!(count_valid < count, "some of the VMs have nine cores");
        let per_vm = spent.as_secs_f64() * 1e6 / count as f64;
        let megabytes = text.len() as f64 / 1e6;
        println!("{count:>8} {megabytes:>10.1} {:>10.1} {per_vm:>12.2} {:>10}", spent.as_secs_f64() * 1e3, peak());
    }
}
