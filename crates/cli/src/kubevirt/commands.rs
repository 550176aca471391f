//! The commands and flags below `kubevirt`: a part of the table of commands.
//!
//! A flag is listed only where it has an effect, so that a command rejects the others.

use super::flag;
use crate::commands::LIMITS;
use crate::commands::flag::{COLOR, DIAGNOSTICS};
use crate::flags::{Command, FlagGroup, Operands};

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
        &[
            FlagGroup {
                title: "Flags",
                flags: &[flag::FILE.0, flag::TEMPLATE.0, flag::PARAMETER.0, flag::INSTANCETYPE.0, flag::RULE.0],
            },
            LIMITS,
        ],
    ),
    Command {
        commands: &[command(
            "cel",
            "Write rules as admission policies in CEL",
            &[
                FlagGroup {
                    title: "Flags",
                    flags: &[flag::FILE.0, flag::PARAMETER.0, flag::FAIL_ON_WARN.0, flag::NAME.0],
                },
                LIMITS,
            ],
        )],
        operands: Operands::None,
        ..command("export", "Write rules in another language", &[])
    },
    command(
        "lint",
        "Find mistakes in rules",
        &[
            FlagGroup {
                title: "Flags",
                flags: &[
                    flag::FILE.0,
                    flag::OUTPUT.0,
                    DIAGNOSTICS.0,
                    COLOR.0,
                    flag::PARAMETER.0,
                    flag::INSTANCETYPE.0,
                    flag::FAIL_ON_WARN.0,
                    flag::QUIET.0,
                    flag::FIX.0,
                ],
            },
            LIMITS,
        ],
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
        &[
            FlagGroup {
                title: "Flags",
                flags: &[
                    flag::FILE.0,
                    flag::OUTPUT.0,
                    DIAGNOSTICS.0,
                    COLOR.0,
                    flag::TEMPLATE.0,
                    flag::PARAMETER.0,
                    flag::INSTANCETYPE.0,
                    flag::COMPAT.0,
                    flag::FIELD_VALIDATION.0,
                    flag::FAIL_ON_WARN.0,
                    flag::QUIET.0,
                ],
            },
            LIMITS,
        ],
    ),
];

const fn command(name: &'static str, summary: &'static str, flags: &'static [FlagGroup]) -> Command {
    let details = "FILE is a file, a directory (searched for .yaml, .yml and .json) or - for standard input.";
    Command { name, aliases: &[], summary, details, operands: Operands::Some("FILE …"), flags, commands: &[] }
}

/// The flags of the validator that `serve` replaces, and our additions.
#[cfg(feature = "server")]
const SERVE: FlagGroup = FlagGroup {
    title: "Flags",
    flags: &[
        flag::LISTEN.0,
        flag::WEBHOOK_PORT.0,
        flag::METRICS_PORT.0,
        flag::CERT_DIR.0,
        flag::TLS_OPTIONS_DIR.0,
        flag::KUBECONFIG.0,
        flag::NO_CLUSTER.0,
        flag::SERVE_TEMPLATE.0,
        flag::INSTANCETYPE.0,
        flag::COMPAT.0,
        flag::RATCHET.0,
        flag::MAX_REQUEST_BYTES.0,
        flag::MAX_CONNECTIONS.0,
        flag::REQUEST_TIMEOUT.0,
        flag::IDLE_TIMEOUT.0,
        flag::SHUTDOWN_DELAY.0,
        flag::ZAP_LOG_LEVEL.0,
        flag::ZAP_ENCODER.0,
        flag::ZAP_TIME_ENCODING.0,
        flag::ZAP_DEVEL.0,
        flag::ZAP_STACKTRACE_LEVEL.0,
        flag::VERSION.0,
    ],
};
