//! The flags of the commands below `kubevirt`, one row each.
//!
//! Names and meanings of values are in the row, too (`ChoiceFlag`). Flags of `serve` are in a
//! module of their own: many of them have the names that the reference's operator gives them.

use ytterby_diag::render::{Colour, Rendering, RichOptions};

use super::args::{FieldValidation, OutputFormat};
use crate::flags::{ChoiceFlag, FlagValues, ListFlag, Switch, TextFlag, names_of};

pub const RULE: TextFlag = TextFlag::new("rule", "name", "Explain only this rule");

pub const NAME: TextFlag = TextFlag::new("name", "name", "Name of the policies");

pub const FIX: Switch = Switch::new("fix", "Straighten quotes and add missing prefixes in place");

const FIELD_VALIDATIONS: [(&str, FieldValidation); 3] =
    [("ignore", FieldValidation::Ignore), ("warn", FieldValidation::Warn), ("strict", FieldValidation::Strict)];

pub const FIELD_VALIDATION: ChoiceFlag<FieldValidation> = ChoiceFlag::new(
    "field-validation",
    "mode",
    "Unknown fields and wrong types: ignore, warn (the default) or strict",
    &FIELD_VALIDATIONS,
    &names_of(&FIELD_VALIDATIONS),
);

pub const FILE: ListFlag = ListFlag::new("file", "path", "Input: a file, a directory, or - for standard input")
    .short('f')
    .offers(FlagValues::Files);

const OUTPUT_FORMATS: [(&str, OutputFormat); 7] = [
    ("text", OutputFormat::Text),
    ("json", OutputFormat::Json),
    ("junit", OutputFormat::Junit),
    ("sarif", OutputFormat::Diagnostics(Rendering::Sarif)),
    ("github", OutputFormat::Diagnostics(Rendering::Github)),
    ("gitlab", OutputFormat::Diagnostics(Rendering::Gitlab)),
    ("rich", OutputFormat::Diagnostics(Rendering::Rich(RichOptions { colour: Colour::Off, width: None }))),
];

pub const OUTPUT: ChoiceFlag<OutputFormat> = ChoiceFlag::new(
    "output",
    "format",
    "Report as text, rich, json, sarif, junit, github or gitlab",
    &OUTPUT_FORMATS,
    &names_of(&OUTPUT_FORMATS),
)
.short('o');

pub const TEMPLATE: ListFlag =
    ListFlag::new("template", "path", "Templates that VMs refer to; VMs inside them are not checked")
        .short('t')
        .offers(FlagValues::Files);

pub const PARAMETER: ListFlag = ListFlag::new("param", "name=value", "Set a parameter of templates").short('p');

pub const INSTANCETYPE: ListFlag =
    ListFlag::new("instancetype", "path", "Instance types and preferences that VMs refer to").offers(FlagValues::Files);

const COMPATS: [(&str, ()); 1] = [("ssp", ())];

pub const COMPAT: ChoiceFlag<()> = ChoiceFlag::new(
    "compat",
    "program",
    "Evaluate as the validator of ssp-operator does",
    &COMPATS,
    &names_of(&COMPATS),
);

pub const FAIL_ON_WARN: Switch = Switch::new("fail-on-warn", "Exit with 1 on warnings as well");

pub const QUIET: Switch = Switch::new("quiet", "Show only problems: no valid objects, no notes, no summary").short('q');

#[cfg(feature = "server")]
pub use serve::*;

/// The flags of `serve`.
#[cfg(feature = "server")]
mod serve {
    use ytterby_kubevirt::server::log::{Encoder, Times};

    use crate::flags::{ChoiceFlag, FlagValues, ListFlag, Switch, TextFlag, names_of};

    pub const LISTEN: TextFlag = TextFlag::new("listen", "address", "Address of both ports (default 0.0.0.0)");

    pub const WEBHOOK_PORT: TextFlag =
        TextFlag::new("webhook-port", "port", "Port for webhooks and probes (default 9443)");

    pub const METRICS_PORT: TextFlag = TextFlag::new("metrics-port", "port", "Port for metrics (default 8443)");

    pub const CERT_DIR: TextFlag =
        TextFlag::new("cert-dir", "directory", "Directory with tls.crt and tls.key; without it there is no TLS")
            .short('c')
            .offers(FlagValues::Directories);

    pub const TLS_OPTIONS_DIR: TextFlag = TextFlag::new(
        "tls-options-dir",
        "directory",
        "Directory that may contain tls-config.json (default /tls-options)",
    )
    .offers(FlagValues::Directories);

    pub const KUBECONFIG: TextFlag = TextFlag::new(
        "kubeconfig",
        "path",
        "Kubeconfig of the cluster; else $KUBECONFIG, the pod's account, ~/.kube/config",
    )
    .offers(FlagValues::Files);

    pub const NO_CLUSTER: Switch =
        Switch::new("no-cluster", "Do not connect to a cluster: rules come from VMs and from files");

    pub const SERVE_TEMPLATE: ListFlag =
        ListFlag::new("template", "path", "Templates that VMs may refer to").short('t').offers(FlagValues::Files);

    pub const RATCHET: Switch = Switch::new("ratchet", "Let updates keep existing violations, with a warning");

    pub const MAX_REQUEST_BYTES: TextFlag =
        TextFlag::new("max-request-bytes", "bytes", "Largest review (default 8388608)");

    pub const MAX_CONNECTIONS: TextFlag =
        TextFlag::new("max-connections", "count", "Connections to each port (default 1024)");

    pub const REQUEST_TIMEOUT: TextFlag =
        TextFlag::new("request-timeout", "seconds", "Time for a review and its answer (default 9)");

    pub const IDLE_TIMEOUT: TextFlag =
        TextFlag::new("idle-timeout", "seconds", "Time between two requests of a connection (default 120)");

    pub const SHUTDOWN_DELAY: TextFlag =
        TextFlag::new("shutdown-delay", "seconds", "Continue to serve after SIGTERM while /readyz fails (default 5)");

    pub const ZAP_LOG_LEVEL: TextFlag =
        TextFlag::new("zap-log-level", "level", "error, info, debug or a number for more detail (default info)")
            .offers(FlagValues::OneOf(&["error", "info", "debug"]));

    const ENCODERS: [(&str, Encoder); 2] = [("json", Encoder::Json), ("console", Encoder::Console)];

    pub const ZAP_ENCODER: ChoiceFlag<Encoder> = ChoiceFlag::new(
        "zap-encoder",
        "format",
        "Log as json or console (default json)",
        &ENCODERS,
        &names_of(&ENCODERS),
    );

    const TIMES: [(&str, Times); 6] = [
        ("epoch", Times::Epoch),
        ("millis", Times::Millis),
        ("nano", Times::Nanos),
        ("iso8601", Times::Iso8601),
        ("rfc3339", Times::Rfc3339),
        ("rfc3339nano", Times::Rfc3339Nano),
    ];

    pub const ZAP_TIME_ENCODING: ChoiceFlag<Times> = ChoiceFlag::new(
        "zap-time-encoding",
        "format",
        "Format of times in the log (default rfc3339)",
        &TIMES,
        &names_of(&TIMES),
    );

    pub const ZAP_DEVEL: Switch = Switch::new("zap-devel", "Write a readable, detailed log");

    const STACKTRACE_LEVELS: [(&str, ()); 3] = [("info", ()), ("error", ()), ("panic", ())];

    pub const ZAP_STACKTRACE_LEVEL: ChoiceFlag<()> = ChoiceFlag::new(
        "zap-stacktrace-level",
        "level",
        "Accepted for compatibility, without effect",
        &STACKTRACE_LEVELS,
        &names_of(&STACKTRACE_LEVELS),
    );

    pub const VERSION: Switch = Switch::new("version", "Show the version").short('V');
}
