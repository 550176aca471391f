//! Parses admission reviews.
//!
//! The number of values is estimated before parsing, which limits the memory of a review. With
//! `--compat ssp`, wrong fields get the messages of Go's decoder, otherwise clearer ones.

use super::{Answer, ReviewOptions, Verdict};
use crate::json;
use crate::value::Value;

/// The API version of a review, which the answer must repeat.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum ReviewVersion {
    /// `admission.k8s.io/v1`.
    #[default]
    V1,
    /// `admission.k8s.io/v1beta1`, of the same shape.
    V1Beta1,
}

impl ReviewVersion {
    /// The `apiVersion`.
    pub fn as_str(self) -> &'static str {
        match self {
            ReviewVersion::V1 => "admission.k8s.io/v1",
            ReviewVersion::V1Beta1 => "admission.k8s.io/v1beta1",
        }
    }
}

/// Maximum values of a review. A value takes up to 200 bytes of memory, so this limits the memory
/// of a review; VMs have some hundred.
const MAX_VALUES: usize = 250_000;

/// A shorter review cannot have too many values.
const FEW: usize = MAX_VALUES;

/// An upper bound for the number of values in a text: counts brackets and commas outside strings.
fn values(body: &[u8]) -> usize {
    let (mut count, mut at) = (0, 0);
    while let Some(&byte) = body.get(at) {
        match byte {
            b'"' => at = string_end(body, at),
            _ => {
                count += usize::from(matches!(byte, b',' | b'[' | b'{'));
                at += 1;
            }
        }
    }
    count
}

/// A review whose request is an object.
pub(super) struct Review {
    root: Value,
    version: ReviewVersion,
}

impl Review {
    /// Parses a review; anything else gets its answer at once.
    pub(super) fn read(body: &[u8], policy: ReviewOptions) -> Result<Review, Box<Answer>> {
        let refuse = |version, message: String| Err(Box::new(Answer::without_request(version, 400, message)));
        if let (false, Err(error)) = (policy.compat, std::str::from_utf8(body)) {
            let at = error.valid_up_to();
            return refuse(ReviewVersion::V1, format!("the body is not UTF-8: a wrong byte at offset {at}"));
        }
        if body.len() > FEW && values(body) > MAX_VALUES {
            return refuse(ReviewVersion::V1, format!("the review has more than {MAX_VALUES} values"));
        }
        let root = match json::read(body) {
            Ok(root) => root,
            Err(message) => return refuse(ReviewVersion::V1, format!("the body is not JSON: {message}")),
        };
        let text = |key: &str| root.get(key).and_then(Value::as_str);
        let version = match text("apiVersion") {
            None | Some("admission.k8s.io/v1") => ReviewVersion::V1,
            Some("admission.k8s.io/v1beta1") if !policy.compat => ReviewVersion::V1Beta1,
            // The reference does not check the version.
            Some(_) if policy.compat => ReviewVersion::V1,
            Some(other) => return refuse(ReviewVersion::V1, format!("expected admission.k8s.io/v1, found {other}")),
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

    /// The object before an update or deletion.
    pub(super) fn old_object(&self) -> Option<&Value> {
        self.root.at(&["request", "oldObject"])
    }

    /// The object with this key, which Go would decode as this type.
    pub(super) fn object(&self, key: &str, go: &str, policy: ReviewOptions) -> Result<&Value, Verdict> {
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

    /// The answer to this review.
    pub(super) fn answer(&self, verdict: Verdict, warnings: Vec<String>) -> Answer {
        let object = self.root.at(&["request", "object"]).or(self.old_object());
        let named = |key: &str| object.and_then(|object| object.at(&["metadata", key])?.as_str());
        let or_own =
            |own: &str, key: &str| if own.is_empty() { named(key).unwrap_or_default() } else { own }.to_owned();
        let name = match or_own(self.text(&["name"]), "name") {
            name if name.is_empty() => named("generateName").unwrap_or_default().to_owned(),
            name => name,
        };
        let sender = Sender {
            uid: self.text(&["uid"]).to_owned(),
            operation: self.operation().to_owned(),
            namespace: or_own(self.text(&["namespace"]), "namespace"),
            name,
            user: self.text(&["userInfo", "username"]).to_owned(),
            dry_run: self.root.at(&["request", "dryRun"]) == Some(&Value::Bool(true)),
        };
        Answer { version: self.version, warnings, ..Answer::to_sender(sender, verdict) }
    }
}

/// The sender and object of a review, found without parsing all of it.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Sender {
    /// The id of the request.
    pub uid: String,
    /// The operation: `CREATE`, `UPDATE`, `DELETE`.
    pub operation: String,
    /// The namespace of the object.
    pub namespace: String,
    /// Its name or `generateName`.
    pub name: String,
    /// The user of the request.
    pub user: String,
    /// Whether it is a dry run.
    pub dry_run: bool,
}

impl Sender {
    /// Stores a value of the request, which may occur twice: in the request and in its object.
    fn take(&mut self, keys: &[&[u8]], value: &[u8]) {
        let place = match keys {
            [b"uid"] => &mut self.uid,
            [b"operation"] => &mut self.operation,
            [b"namespace"] => &mut self.namespace,
            [b"name"] => &mut self.name,
            [b"userInfo", b"username"] => &mut self.user,
            [b"object" | b"oldObject", b"metadata", b"namespace"] if self.namespace.is_empty() => &mut self.namespace,
            [b"object" | b"oldObject", b"metadata", b"name" | b"generateName"] if self.name.is_empty() => {
                &mut self.name
            }
            _ => return,
        };
        if let Ok(Value::String(text)) = json::read(value) {
            *place = text.into();
        }
    }
}

/// How much of a review to scan.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ScanScope {
    /// Up to the object, which API servers send after the user and the resource.
    Head,
    /// All of it.
    All,
}

/// Finds the sender of a review, for the fair queue and for answers to reviews that could not be
/// evaluated. Reviews may be large and many, so the text is only scanned.
pub fn sender(body: &[u8], scope: ScanScope) -> Sender {
    /// Maximum depth of keys: `request`, `object`, `metadata`, `name`.
    const DEEPEST: usize = 4;
    let mut found = Sender::default();
    let mut keys: [&[u8]; DEEPEST] = [b""; DEEPEST];
    let (mut depth, mut at) = (0_usize, 0);
    while let Some(&byte) = body.get(at) {
        match byte {
            b'"' => {
                let end = string_end(body, at);
                let behind = skip_blank(body, end);
                let is_inside = (2..=DEEPEST).contains(&depth) && keys[0] == b"request";
                if body.get(behind) == Some(&b':') && depth > 0 {
                    if depth <= DEEPEST {
                        keys[depth - 1] = body.get(at + 1..end - 1).unwrap_or_default();
                    }
                    let is_object = depth == 2 && keys[0] == b"request" && keys[1] == b"object";
                    if is_object && scope == ScanScope::Head && !found.uid.is_empty() && !found.user.is_empty() {
                        return found;
                    }
                    at = behind + 1;
                    continue;
                }
                if is_inside {
                    found.take(&keys[1..depth], &body[at..end]);
                }
                at = end;
                continue;
            }
            b't' if depth == 2 && keys[0] == b"request" && keys[1] == b"dryRun" => found.dry_run = true,
            b'{' | b'[' => {
                depth += 1;
                if let Some(key) = keys.get_mut(depth - 1) {
                    *key = b"";
                }
            }
            b'}' | b']' => depth = depth.saturating_sub(1),
            _ => {}
        }
        at += 1;
    }
    found
}

/// The end of the string that begins here.
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
    use super::*;

    #[test]
    fn the_uid_is_found_without_parsing_everything() {
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
            ("\"", ""),
        ] {
            assert_eq!(sender(review.as_bytes(), ScanScope::All).uid, expected, "{review}");
        }
    }

    #[test]
    fn the_user_is_found_before_the_object() {
        let review = r#"{"kind":"AdmissionReview","request":{"uid":"u","kind":{"kind":"VirtualMachine"},"namespace":"ns",
            "operation":"CREATE","userInfo":{"username":"system:serviceaccount:a:b","groups":["name","uid"],
            "extra":{"username":["no"]}},
            "object":{"metadata":{"name":"web","namespace":"other"},"spec":{"name":"no"}},"oldObject":null,"dryRun":true}}"#;
        let head = sender(review.as_bytes(), ScanScope::Head);
        assert_eq!((&*head.uid, &*head.namespace, &*head.user), ("u", "ns", "system:serviceaccount:a:b"));
        assert_eq!((&*head.name, head.dry_run), ("", false));
        let all = sender(review.as_bytes(), ScanScope::All);
        assert_eq!((&*all.name, &*all.namespace, all.dry_run), ("web", "ns", true));
        assert_eq!(all.operation, "CREATE");
        let made = r#"{"request":{"dryRun":false,"object":{"metadata":{"generateName":"web-","namespace":"ns"}}}}"#;
        let made = sender(made.as_bytes(), ScanScope::All);
        assert_eq!((&*made.name, &*made.namespace, made.dry_run), ("web-", "ns", false));
    }
}
