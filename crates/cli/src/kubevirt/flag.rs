//! The flags of the commands below `kubevirt`, one row each.

use crate::flags::{FlagValues, ListFlag, Switch, TextFlag};

pub const RULE: TextFlag = TextFlag::new("rule", "name", "Explain only this rule");

pub const NAME: TextFlag = TextFlag::new("name", "name", "Name of the policies");

pub const FIX: Switch = Switch::new("fix", "Straighten quotes and add missing prefixes in place");

pub const FIELD_VALIDATION: TextFlag =
    TextFlag::new("field-validation", "mode", "Unknown fields and wrong types: ignore, warn (the default) or strict")
        .offers(FlagValues::OneOf(&["ignore", "warn", "strict"]));

pub const FILE: ListFlag = ListFlag::new("file", "path", "Input: a file, a directory, or - for standard input")
    .short('f')
    .offers(FlagValues::Files);

pub const OUTPUT: TextFlag =
    TextFlag::new("output", "format", "Report as text, rich, json, sarif, junit, github or gitlab")
        .short('o')
        .offers(FlagValues::OneOf(&["text", "rich", "json", "sarif", "junit", "github", "gitlab"]));

pub const TEMPLATE: ListFlag =
    ListFlag::new("template", "path", "Templates that VMs refer to; VMs inside them are not checked")
        .short('t')
        .offers(FlagValues::Files);

pub const PARAMETER: ListFlag = ListFlag::new("param", "name=value", "Set a parameter of templates").short('p');

pub const INSTANCETYPE: ListFlag =
    ListFlag::new("instancetype", "path", "Instance types and preferences that VMs refer to").offers(FlagValues::Files);

pub const COMPAT: TextFlag = TextFlag::new("compat", "program", "Evaluate as the validator of ssp-operator does")
    .offers(FlagValues::OneOf(&["ssp"]));

pub const FAIL_ON_WARN: Switch = Switch::new("fail-on-warn", "Exit with 1 on warnings as well");

pub const QUIET: Switch = Switch::new("quiet", "Show only problems: no valid objects, no notes, no summary").short('q');

#[cfg(feature = "server")]
pub use serve::*;

/// The flags of `serve`.
#[cfg(feature = "server")]
mod serve {
    use crate::flags::{FlagValues, ListFlag, Switch, TextFlag};

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

    pub const ZAP_ENCODER: TextFlag = TextFlag::new("zap-encoder", "format", "Log as json or console (default json)")
        .offers(FlagValues::OneOf(&["json", "console"]));

    pub const ZAP_TIME_ENCODING: TextFlag =
        TextFlag::new("zap-time-encoding", "format", "Format of times in the log (default rfc3339)")
            .offers(FlagValues::OneOf(&["epoch", "millis", "nano", "iso8601", "rfc3339", "rfc3339nano"]));

    pub const ZAP_DEVEL: Switch = Switch::new("zap-devel", "Write a readable, detailed log");

    pub const ZAP_STACKTRACE_LEVEL: TextFlag =
        TextFlag::new("zap-stacktrace-level", "level", "Accepted for compatibility, without effect")
            .offers(FlagValues::OneOf(&["info", "error", "panic"]));

    pub const VERSION: Switch = Switch::new("version", "Show the version").short('V');
}
