//! The commands and flags below `kubevirt`: its part of the one table.
//!
//! A flag is listed only where it has an effect, so that a command refuses the others.

use crate::flags::{Command, Flag, FlagKind, Group, Operands, Values};

/// `kubevirt` and everything below it.
pub(crate) const KUBEVIRT: Command = Command {
    name: "kubevirt",
    aliases: &[],
    summary: "Check virtual machines against the rules of KubeVirt templates",
    details: "Rules are those of the annotation vm.kubevirt.io/validations.\n\
              Exit codes: 0 valid, 1 rules are broken, 2 something cannot be read.",
    operands: Operands::None,
    flags: &[],
    commands: COMMANDS,
};

const COMMANDS: &[Command] = &[
    command(
        "explain",
        "Explain rules in words",
        &[Group {
            title: "Flags",
            flags: &[
                FILE,
                TEMPLATE,
                PARAMETER,
                INSTANCETYPE,
                Flag::new("rule", FlagKind::Text("name"), "Explain only this rule"),
            ],
        }],
    ),
    Command {
        commands: &[command(
            "cel",
            "Write rules as admission policies in CEL",
            &[Group {
                title: "Flags",
                flags: &[
                    FILE,
                    PARAMETER,
                    FAIL_ON_WARN,
                    Flag::new("name", FlagKind::Text("name"), "Name of the policies"),
                ],
            }],
        )],
        operands: Operands::None,
        ..command("export", "Write rules in another language", &[])
    },
    command(
        "lint",
        "Find mistakes in rules",
        &[Group {
            title: "Flags",
            flags: &[
                FILE,
                OUTPUT,
                PARAMETER,
                INSTANCETYPE,
                FAIL_ON_WARN,
                QUIET,
                Flag::new("fix", FlagKind::Bool, "Straighten quotes and add missing prefixes in place"),
            ],
        }],
    ),
    #[cfg(feature = "server")]
    Command {
        details: "Answers POST /virtualmachine-validate and /template-validate, GET /readyz and /healthz on the port\n\
                  for webhooks, and GET /metrics on the port for metrics.",
        operands: Operands::None,
        ..command("serve", "Check virtual machines when a cluster is about to store them", &[SERVE])
    },
    command(
        "validate",
        "Check virtual machines against rules",
        &[Group {
            title: "Flags",
            flags: &[
                FILE,
                OUTPUT,
                TEMPLATE,
                PARAMETER,
                INSTANCETYPE,
                COMPAT,
                Flag::new(
                    "field-validation",
                    FlagKind::Text("mode"),
                    "Unknown fields and wrong types: ignore, warn (the default) or strict",
                )
                .offers(Values::OneOf(&["ignore", "warn", "strict"])),
                FAIL_ON_WARN,
                QUIET,
            ],
        }],
    ),
];

const fn command(name: &'static str, summary: &'static str, flags: &'static [Group]) -> Command {
    let details = "FILE is a file, a directory (searched for .yaml, .yml and .json) or - for standard input.";
    Command { name, aliases: &[], summary, details, operands: Operands::Some("FILE …"), flags, commands: &[] }
}

const FILE: Flag = Flag::new("file", FlagKind::List("path"), "Input: a file, a directory, or - for standard input")
    .short('f')
    .offers(Values::Files);

const OUTPUT: Flag =
    Flag::new("output", FlagKind::Text("format"), "Report as text, rich, json, sarif, junit, github or gitlab")
        .short('o')
        .offers(Values::OneOf(&["text", "rich", "json", "sarif", "junit", "github", "gitlab"]));

const TEMPLATE: Flag =
    Flag::new("template", FlagKind::List("path"), "Look templates up here; their own VMs are not checked")
        .short('t')
        .offers(Values::Files);

const PARAMETER: Flag = Flag::new("param", FlagKind::List("name=value"), "Set a parameter of templates").short('p');

const INSTANCETYPE: Flag =
    Flag::new("instancetype", FlagKind::List("path"), "Instance types and preferences that VMs refer to")
        .offers(Values::Files);

const COMPAT: Flag = Flag::new("compat", FlagKind::Text("program"), "Evaluate as the validator of ssp-operator does")
    .offers(Values::OneOf(&["ssp"]));

const FAIL_ON_WARN: Flag = Flag::new("fail-on-warn", FlagKind::Bool, "Exit with 1 on warnings, too");

const QUIET: Flag =
    Flag::new("quiet", FlagKind::Bool, "Show only problems: no valid objects, no notes, no summary").short('q');

/// The flags of the validator that `serve` replaces, and what that one cannot do.
#[cfg(feature = "server")]
const SERVE: Group = Group {
    title: "Flags",
    flags: &[
        Flag::new("listen", FlagKind::Text("address"), "Address of both ports (default 0.0.0.0)"),
        Flag::new("webhook-port", FlagKind::Text("port"), "Port for webhooks and probes (default 9443)"),
        Flag::new("metrics-port", FlagKind::Text("port"), "Port for metrics (default 8443)"),
        Flag::new(
            "cert-dir",
            FlagKind::Text("directory"),
            "Directory with tls.crt and tls.key; without it there is no TLS",
        )
        .short('c')
        .offers(Values::Directories),
        Flag::new(
            "tls-options-dir",
            FlagKind::Text("directory"),
            "Directory that may hold tls-config.json (default /tls-options)",
        )
        .offers(Values::Directories),
        Flag::new(
            "kubeconfig",
            FlagKind::Text("path"),
            "How to reach the cluster; else $KUBECONFIG, the pod's account, ~/.kube/config",
        )
        .offers(Values::Files),
        Flag::new("no-cluster", FlagKind::Bool, "Do not connect to a cluster: rules come from VMs and from files"),
        Flag::new("template", FlagKind::List("path"), "Templates that VMs may refer to")
            .short('t')
            .offers(Values::Files),
        INSTANCETYPE,
        COMPAT,
        Flag::new("ratchet", FlagKind::Bool, "Let updates keep what a VM broke before, with a warning"),
        Flag::new("max-request-bytes", FlagKind::Text("bytes"), "Largest review (default 8388608)"),
        Flag::new("max-connections", FlagKind::Text("count"), "Connections to each port (default 1024)"),
        Flag::new("request-timeout", FlagKind::Text("seconds"), "Time for a review and its answer (default 9)"),
        Flag::new("idle-timeout", FlagKind::Text("seconds"), "Time between two requests of a connection (default 120)"),
        Flag::new(
            "shutdown-delay",
            FlagKind::Text("seconds"),
            "Continue to serve after SIGTERM while /readyz says no (default 5)",
        ),
        Flag::new(
            "zap-log-level",
            FlagKind::Text("level"),
            "error, info, debug or a number for more detail (default info)",
        )
        .offers(Values::OneOf(&["error", "info", "debug"])),
        Flag::new("zap-encoder", FlagKind::Text("format"), "Log as json or console (default json)")
            .offers(Values::OneOf(&["json", "console"])),
        Flag::new("zap-time-encoding", FlagKind::Text("format"), "Format of times in the log (default rfc3339)")
            .offers(Values::OneOf(&["epoch", "millis", "nano", "iso8601", "rfc3339", "rfc3339nano"])),
        Flag::new("zap-devel", FlagKind::Bool, "Log for people, in detail"),
        Flag::new("zap-stacktrace-level", FlagKind::Text("level"), "Accepted as in the reference, without effect")
            .offers(Values::OneOf(&["info", "error", "panic"])),
        Flag::new("version", FlagKind::Bool, "Show the version").short('V'),
    ],
};
