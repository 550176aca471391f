//! Probes and lifecycle handlers of containers.

use crate::builtin::{Cx, each, with};
use crate::document::Node;
use crate::report::At;

/// Checks a probe; `key` is its name.
pub(super) fn probe(cx: &mut Cx<'_>, probe: &Node, at: &At<'_>, key: &str) {
    handler(cx, probe, at, &["exec", "httpGet", "tcpSocket", "grpc"], "a probe", None);
    cx.not_negative(
        probe,
        at,
        &["initialDelaySeconds", "timeoutSeconds", "periodSeconds", "successThreshold", "failureThreshold"],
    );
    if key != "readinessProbe" {
        with(probe, at, "successThreshold", |node, at| {
            if node.as_int().is_some_and(|value| value > 1) {
                cx.invalid(at, node, "must be 1 for liveness and startup probes");
            }
        });
    }
    with(probe, at, "terminationGracePeriodSeconds", |node, at| {
        if key == "readinessProbe" {
            cx.forbidden(at, "readiness probes have no terminationGracePeriodSeconds");
        } else if node.as_int().is_some_and(|value| value <= 0) {
            cx.invalid(at, node, "must be greater than 0");
        }
    });
}

/// Checks the handlers at the start and end of a container. `grace` is the grace period of the pod.
pub(super) fn lifecycle(cx: &mut Cx<'_>, lifecycle: &Node, at: &At<'_>, grace: i64) {
    for key in ["postStart", "preStop"] {
        with(lifecycle, at, key, |node, at| {
            handler(cx, node, at, &["exec", "httpGet", "tcpSocket", "sleep"], "a handler", Some(grace));
        });
    }
}

fn handler(cx: &mut Cx<'_>, of: &Node, at: &At<'_>, keys: &[&'static str], what: &str, grace: Option<i64>) {
    cx.exactly_one(of, at, keys, what);
    with(of, at, "exec", |exec, at| {
        if exec.given("command").is_none_or(|command| command.items().is_empty()) {
            cx.required(at, "command", "");
        }
    });
    with(of, at, "httpGet", |get, at| {
        cx.port(get, at, "port");
        with(get, at, "scheme", |scheme, at| cx.one_of(scheme, at, &["HTTP", "HTTPS"]));
        each(get, at, "httpHeaders", |header, at| {
            with(header, at, "name", |node, at| {
                let is_good = node.as_str().is_some_and(|name| {
                    !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
                });
                if !is_good {
                    cx.invalid(at, node, "must be the name of an HTTP header: letters, digits and '-'");
                }
            });
        });
    });
    with(of, at, "tcpSocket", |socket, at| cx.port(socket, at, "port"));
    with(of, at, "grpc", |grpc, at| cx.range(grpc, at, "port", 1, 65535));
    if let Some(grace) = grace {
        with(of, at, "sleep", |sleep, at| {
            with(sleep, at, "seconds", |node, at| {
                if node.as_int().is_some_and(|seconds| !(0..=grace).contains(&seconds)) {
                    cx.invalid(
                        at,
                        node,
                        &format!("must be between 0 and terminationGracePeriodSeconds, which is {grace}"),
                    );
                }
            });
        });
    }
}
