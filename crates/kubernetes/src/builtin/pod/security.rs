//! Security contexts of pods and containers.

use std::collections::HashSet;

use super::volumes::has_dots;
use crate::builtin::{Cx, each, with};
use crate::document::Node;
use crate::names;
use crate::report::At;

/// Checks the context of a container.
pub(super) fn container(cx: &mut Cx<'_>, context: &Node, at: &At<'_>) {
    common(cx, context, at, &["runAsUser", "runAsGroup"]);
    let flag = |key: &str| context.given(key).and_then(Node::as_bool);
    if flag("allowPrivilegeEscalation") == Some(false) {
        if flag("privileged") == Some(true) {
            cx.wrong(at, "allowPrivilegeEscalation cannot be false where privileged is true");
        }
        with(context, at, "capabilities", |capabilities, at| {
            each(capabilities, at, "add", |node, at| {
                if node.as_str() == Some("CAP_SYS_ADMIN") {
                    cx.invalid(at, node, "allowPrivilegeEscalation cannot be false together with this capability");
                }
            });
        });
    }
}

/// Checks the context of a pod.
pub(super) fn pod(cx: &mut Cx<'_>, pod: &Node, at: &At<'_>) {
    with(pod, at, "securityContext", |context, at| {
        common(cx, context, at, &["runAsUser", "runAsGroup", "fsGroup"]);
        each(context, at, "supplementalGroups", |node, at| {
            if node.as_int().is_some_and(|group| !(0..=i64::from(i32::MAX)).contains(&group)) {
                cx.invalid(at, node, "must be between 0 and 2147483647");
            }
        });
        let mut sysctls = HashSet::new();
        each(context, at, "sysctls", |sysctl, at| {
            cx.filled(sysctl, at, "name");
            cx.form(sysctl, at, "name", sysctl_name);
            if let Some(node) =
                sysctl.get("name").filter(|node| node.as_str().is_some_and(|name| !sysctls.insert(name.to_owned())))
            {
                cx.duplicate(&at.key("name", node), node);
            }
        });
        with(context, at, "seLinuxChangePolicy", |node, at| cx.chosen(node, at, &["MountOption", "Recursive"]));
        if pod.given("shareProcessNamespace").and_then(Node::as_bool) == Some(true)
            && pod.given("hostPID").and_then(Node::as_bool) == Some(true)
        {
            cx.wrong(at, "a pod cannot share both its own and the host's process namespace");
        }
    });
}

/// `net.ipv4.ip_forward`, or with slashes.
fn sysctl_name(text: &str) -> names::NameProblem {
    let is_segment = |part: &str| {
        let bytes = part.as_bytes();
        let is_edge = |byte: Option<&u8>| byte.is_some_and(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit());
        let is_inner = |byte: &u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"-_".contains(byte);
        is_edge(bytes.first()) && is_edge(bytes.last()) && bytes.iter().all(is_inner)
    };
    let is_good = text.len() <= 253 && text.split(['.', '/']).all(is_segment);
    (!is_good).then_some("must be the name of a kernel parameter, such as net.ipv4.ip_forward")
}

fn common(cx: &mut Cx<'_>, context: &Node, at: &At<'_>, ids: &[&str]) {
    for key in ids {
        cx.range(context, at, key, 0, i64::from(i32::MAX));
    }
    for key in ["seccompProfile", "appArmorProfile"] {
        with(context, at, key, |profile, at| {
            let kind = profile.text("type").unwrap_or_default();
            match profile.given("localhostProfile") {
                None if kind == "Localhost" => cx.required(at, "localhostProfile", "the type Localhost needs it"),
                Some(node) if kind != "Localhost" => {
                    let here = at.key("localhostProfile", node);
                    cx.invalid(&here, node, "must not be set unless the type is Localhost");
                }
                Some(node) => {
                    let (here, text) = (at.key("localhostProfile", node), node.as_str().unwrap_or_default());
                    if key == "seccompProfile" {
                        if text.starts_with('/') || has_dots(node) {
                            cx.invalid(&here, node, "must be a relative path without '..'");
                        }
                    } else if text.trim().is_empty() || text.trim() != text {
                        cx.invalid(&here, node, "must be the name of a profile, without blanks around it");
                    }
                }
                None => {}
            }
        });
    }
    with(context, at, "windowsOptions", |options, at| {
        cx.given_form(options, at, "gmsaCredentialSpecName", names::dns_subdomain);
        for key in ["gmsaCredentialSpec", "runAsUserName"] {
            cx.filled(options, at, key);
        }
        cx.form(options, at, "runAsUserName", windows_user);
    });
}

fn windows_user(text: &str) -> names::NameProblem {
    let parts: Vec<&str> = text.split('\\').collect();
    let user = parts.last().copied().unwrap_or_default();
    let is_good = parts.len() <= 2
        && !text.chars().any(char::is_control)
        && !user.is_empty()
        && user.len() <= 104
        && !user.chars().all(|c| c == '.' || c == ' ')
        && !user.contains(['"', '/', ':', ';', '|', '=', ',', '+', '*', '?', '<', '>', '@', '[', ']']);
    (!is_good).then_some("must be the name of a Windows user, with at most one domain before a '\\'")
}
