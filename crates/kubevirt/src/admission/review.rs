//! Reads an admission review.

use super::{Answer, Policy, Verdict};
use crate::json;
use crate::value::Value;

/// The version of the review, which the answer must have as well.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Version {
    /// `admission.k8s.io/v1`.
    #[default]
    V1,
    /// `admission.k8s.io/v1beta1`, of the same shape.
    V1Beta1,
}

impl Version {
    /// As it stands in `apiVersion`.
    pub fn as_str(self) -> &'static str {
        match self {
            Version::V1 => "admission.k8s.io/v1",
            Version::V1Beta1 => "admission.k8s.io/v1beta1",
        }
    }
}

/// A review whose request is an object.
pub(super) struct Review {
    root: Value,
    version: Version,
}

impl Review {
    /// Reads a review; what is none gets its answer at once.
    pub(super) fn read(body: &[u8], policy: Policy) -> Result<Review, Box<Answer>> {
        let refuse = |version, message: String| Err(Box::new(Answer::without_request(version, 400, message)));
        if let (false, Err(error)) = (policy.compat, std::str::from_utf8(body)) {
            let at = error.valid_up_to();
            return refuse(Version::V1, format!("the body is not UTF-8: a wrong byte at offset {at}"));
        }
        let root = match json::read(body) {
            Ok(root) => root,
            Err(message) => return refuse(Version::V1, format!("the body is not JSON: {message}")),
        };
        let text = |key: &str| root.get(key).and_then(Value::as_str);
        let version = match text("apiVersion") {
            None | Some("admission.k8s.io/v1") => Version::V1,
            Some("admission.k8s.io/v1beta1") if !policy.compat => Version::V1Beta1,
            // The reference does not look.
            Some(_) if policy.compat => Version::V1,
            Some(other) => return refuse(Version::V1, format!("expected admission.k8s.io/v1, found {other}")),
        };
        if let Some(kind) = text("kind").filter(|kind| *kind != "AdmissionReview" && !policy.compat) {
            return refuse(version, format!("expected an AdmissionReview, found the kind {kind}"));
        }
        match root.get("request") {
            Some(Value::Object(_)) => Ok(Review { root, version }),
            None | Some(Value::Null) => refuse(version, "the review has no request".to_owned()),
            Some(other) => {
                refuse(version, format!("the request of the review must be an object, found {}", other.what()))
            }
        }
    }

    fn text(&self, keys: &[&str]) -> &str {
        let request = self.root.get("request").unwrap_or(&Value::Null);
        request.at(keys).and_then(Value::as_str).unwrap_or_default()
    }

    /// Group, version and name of the resource.
    pub(super) fn resource(&self) -> (&str, &str, &str) {
        let part = |key| self.text(&["resource", key]);
        (part("group"), part("version"), part("resource"))
    }

    pub(super) fn subresource(&self) -> &str {
        self.text(&["subResource"])
    }

    pub(super) fn operation(&self) -> &str {
        self.text(&["operation"])
    }

    /// The object before an update or a deletion.
    pub(super) fn old_object(&self) -> Option<&Value> {
        self.root.at(&["request", "oldObject"])
    }

    /// The object under a key, which Go would read as this type.
    pub(super) fn object(&self, key: &str, go: &str, policy: Policy) -> Result<&Value, Verdict> {
        let message = match self.root.at(&["request", key]) {
            Some(object @ Value::Object(_)) => return Ok(object),
            None if policy.compat => "unexpected end of JSON input".to_owned(),
            None => format!("the request has no {key}"),
            Some(other) if policy.compat => {
                format!("json: cannot unmarshal {} into Go value of type {go}", other.go_kind())
            }
            Some(other) => format!("the {key} of the request must be an object, found {}", other.what()),
        };
        Err(Verdict::bad_request(message))
    }

    /// The answer to it.
    pub(super) fn answer(&self, verdict: Verdict, warnings: Vec<String>) -> Answer {
        let object = self.root.at(&["request", "object"]).or(self.old_object());
        let named = |key: &str| object.and_then(|object| object.at(&["metadata", key])?.as_str());
        let or_own =
            |own: &str, key: &str| if own.is_empty() { named(key).unwrap_or_default() } else { own }.to_owned();
        let name = match or_own(self.text(&["name"]), "name") {
            name if name.is_empty() => named("generateName").unwrap_or_default().to_owned(),
            name => name,
        };
        Answer {
            http: 200,
            version: self.version,
            uid: self.text(&["uid"]).to_owned(),
            operation: self.operation().to_owned(),
            namespace: or_own(self.text(&["namespace"]), "namespace"),
            name,
            verdict,
            warnings,
        }
    }
}

/// The uid of a review, as far as it can be had: for an answer to one that could not be judged. Such reviews may be large,
/// and there may be many of them, so the text is only looked through.
pub fn uid(body: &[u8]) -> String {
    let mut depth = 0_usize;
    let mut at = 0;
    // Whether a value, or a collection that has begun, is that of the key `request`.
    let (mut is_next, mut is_inside) = (false, false);
    while let Some(&byte) = body.get(at) {
        match byte {
            b'"' => {
                let end = string_end(body, at);
                let behind = skip_blank(body, end);
                if body.get(behind) == Some(&b':') {
                    let key = &body[at..end];
                    if depth == 2 && is_inside && key == b"\"uid\"" {
                        let start = skip_blank(body, behind + 1);
                        let value = json::read(&body[start..string_end(body, start)]).ok();
                        return value.as_ref().and_then(Value::as_str).unwrap_or_default().to_owned();
                    }
                    is_next = depth == 1 && key == b"\"request\"";
                }
                at = end;
                continue;
            }
            b'{' | b'[' => {
                depth += 1;
                is_inside |= is_next && depth == 2;
                is_next = false;
            }
            b'}' | b']' => {
                depth = depth.saturating_sub(1);
                is_inside &= depth >= 2;
            }
            _ => {}
        }
        at += 1;
    }
    String::new()
}

/// Where the string ends that begins here.
fn string_end(body: &[u8], start: usize) -> usize {
    let mut at = start + 1;
    loop {
        match body.get(at) {
            None => return body.len(),
            Some(b'"') => return at + 1,
            Some(b'\\') => at += 2,
            Some(_) => at += 1,
        }
    }
}

fn skip_blank(body: &[u8], from: usize) -> usize {
    let is_blank = |byte: &&u8| matches!(byte, b' ' | b'\t' | b'\n' | b'\r');
    from + body.get(from..).map_or(0, |rest| rest.iter().take_while(is_blank).count())
}

#[cfg(test)]
mod tests {
    use super::uid;

    #[test]
    fn the_uid_is_found_without_reading_all() {
        for (review, expected) in [
            (r#"{"request":{"uid":"a"}}"#, "a"),
            (
                r#"{"uid":"no","request" : {"object":{"uid":"no","k":["uid","]"]}, "uid" : "a\u0062\"}" , "x":1}}"#,
                "ab\"}",
            ),
            (r#"{"other":{"uid":"no"},"request":{"kind":{},"uid":"yes"}}"#, "yes"),
            (r#"{"request":{"uid":5}}"#, ""),
            (r#"{"request":[{"uid":"no"}]}"#, ""),
            (r#"{"request":{"uid":"#, ""),
            (r#"{"request":{"uid":"a"#, ""),
            (r#"{"request":{"uid":"a\"#, ""),
            (r#"{"request":{"a":1},"more":{"uid":"no"}}"#, ""),
            ("", ""),
        ] {
            assert_eq!(uid(review.as_bytes()), expected, "{review}");
        }
    }
}
