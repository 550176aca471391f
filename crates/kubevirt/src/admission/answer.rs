//! Answers to admission reviews, and their JSON.
//!
//! The bytes are those of the reference: order of keys, Go's escapes, `metadata: {}`. Warnings,
//! which the reference does not send, are added where the API defines them.

use ytterby_text::gojson::{Html, string_into};

use super::{ReviewVersion, Sender};

/// Maximum characters of one warning; the API server truncates longer ones.
const WARNING: usize = 256;
/// Maximum characters of all warnings; the API server drops the rest.
const WARNINGS: usize = 4096;

/// The answer to the API server.
#[derive(Clone, PartialEq, Debug)]
pub struct Answer {
    /// The HTTP status: 200 if there is a request to answer.
    pub http: u16,
    /// The version of the review.
    pub version: ReviewVersion,
    /// The request that is answered.
    pub sender: Sender,
    /// The decision.
    pub verdict: Verdict,
    /// Warnings for the user.
    pub warnings: Vec<String>,
}

/// The decision about a request.
#[derive(Clone, PartialEq, Debug)]
pub enum Verdict {
    /// It is allowed.
    Allowed,
    /// Rules are violated.
    Invalid(Vec<StatusCause>),
    /// It is refused.
    Refused {
        /// The HTTP status code.
        code: u16,
        /// The reason word of Kubernetes; may be empty.
        reason: &'static str,
        /// The message for the user.
        message: String,
    },
}

/// A violated rule.
#[derive(Clone, PartialEq, Debug)]
pub struct StatusCause {
    /// Its name; not part of the answer.
    pub rule: String,
    /// The path that it checks.
    pub field: String,
    /// The problem.
    pub message: String,
}

impl Verdict {
    /// The request cannot be parsed.
    pub fn bad_request(message: String) -> Verdict {
        Verdict::Refused { code: 400, reason: "", message }
    }

    /// The answer is not known yet.
    pub(super) fn unavailable(message: String) -> Verdict {
        Verdict::Refused { code: 503, reason: "ServiceUnavailable", message }
    }

    /// The server is busy with other requests.
    pub fn busy() -> Verdict {
        Verdict::unavailable("there are too many reviews at once".to_owned())
    }

    /// The rules take too long.
    pub fn late() -> Verdict {
        let message = "the rules of this VM take too long to evaluate".to_owned();
        Verdict::Refused { code: 504, reason: "Timeout", message }
    }

    /// A bug of this program.
    pub fn internal() -> Verdict {
        let message = "an internal error of the validator; see its log".to_owned();
        Verdict::Refused { code: 500, reason: "InternalError", message }
    }

    /// The status code in the answer.
    pub fn code(&self) -> u16 {
        match self {
            Verdict::Allowed => 200,
            Verdict::Invalid(_) => 422,
            Verdict::Refused { code, .. } => *code,
        }
    }

    /// The name in metrics and logs.
    pub fn as_str(&self) -> &'static str {
        match self.code() {
            200 => "allowed",
            422 => "invalid",
            403 => "forbidden",
            400..=499 => "malformed",
            _ => "error",
        }
    }

    /// The message for the user, if it is refused.
    pub fn message(&self) -> String {
        match self {
            Verdict::Allowed => String::new(),
            Verdict::Invalid(causes) => {
                causes.iter().map(|cause| cause.message.as_str()).collect::<Vec<_>>().join(", ")
            }
            Verdict::Refused { message, .. } => message.clone(),
        }
    }
}

impl Answer {
    /// The answer to a body without a request. The HTTP status is set, too, so that the API server
    /// treats it as a failure.
    pub fn without_request(version: ReviewVersion, code: u16, message: String) -> Answer {
        Answer { http: code, version, ..Answer::to("", Verdict::Refused { code, reason: "", message }) }
    }

    /// The answer to the request with this id.
    pub fn to(uid: &str, verdict: Verdict) -> Answer {
        Answer::to_sender(Sender { uid: uid.to_owned(), ..Sender::default() }, verdict)
    }

    /// The answer to a request that could not be evaluated.
    pub fn to_sender(sender: Sender, verdict: Verdict) -> Answer {
        Answer { http: 200, version: ReviewVersion::V1, sender, verdict, warnings: Vec::new() }
    }

    /// The review that is sent back.
    pub fn to_json(&self) -> Vec<u8> {
        let mut out = Vec::with_capacity(256);
        let put = |out: &mut Vec<u8>, before: &str, text: &str| {
            out.extend_from_slice(before.as_bytes());
            string_into(out, text.as_bytes(), Html::Escape);
        };
        put(&mut out, "{\"kind\":\"AdmissionReview\",\"apiVersion\":", self.version.as_str());
        put(&mut out, ",\"response\":{\"uid\":", &self.sender.uid);
        let (reason, causes): (&str, &[StatusCause]) = match &self.verdict {
            Verdict::Allowed => ("", &[]),
            Verdict::Invalid(causes) => ("Invalid", causes),
            Verdict::Refused { reason, .. } => (reason, &[]),
        };
        if self.verdict == Verdict::Allowed {
            out.extend_from_slice(b",\"allowed\":true");
        } else {
            put(&mut out, ",\"allowed\":false,\"status\":{\"metadata\":{},\"message\":", &self.verdict.message());
            if !reason.is_empty() {
                put(&mut out, ",\"reason\":", reason);
            }
            for (number, cause) in causes.iter().enumerate() {
                let before = if number == 0 { ",\"details\":{\"causes\":[" } else { "," };
                put(&mut out, &format!("{before}{{\"reason\":\"FieldValueInvalid\",\"message\":"), &cause.message);
                if !cause.field.is_empty() {
                    put(&mut out, ",\"field\":", &cause.field);
                }
                out.push(b'}');
            }
            if !causes.is_empty() {
                out.extend_from_slice(b"]}");
            }
            out.extend_from_slice(format!(",\"code\":{}}}", self.verdict.code()).as_bytes());
        }
        for (number, warning) in fitting(&self.warnings).iter().enumerate() {
            put(&mut out, if number == 0 { ",\"warnings\":[" } else { "," }, warning);
        }
        if !self.warnings.is_empty() {
            out.push(b']');
        }
        out.extend_from_slice(b"}}");
        out
    }
}

/// The warnings, shortened to what the API server accepts.
fn fitting(warnings: &[String]) -> Vec<String> {
    let mut left = WARNINGS;
    let mut kept: Vec<String> = Vec::new();
    for (number, warning) in warnings.iter().enumerate() {
        let warning = cut(warning);
        let rest = warnings.len() - number;
        let last = format!("and {rest} more warnings");
        let length = warning.chars().count();
        // The last one needs no room for a remark about further ones.
        let reserve = if rest > 1 { last.len() } else { 0 };
        if length + reserve > left {
            kept.push(if rest == 1 { cut_to(&warning, left) } else { last });
            break;
        }
        left -= length;
        kept.push(warning);
    }
    kept
}

/// Truncates a text to the length of a warning, on one line.
fn cut(text: &str) -> String {
    let line: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    cut_to(&line, WARNING)
}

fn cut_to(text: &str, most: usize) -> String {
    if text.chars().count() <= most {
        return text.to_owned();
    }
    text.chars().take(most.saturating_sub(1)).chain(['…']).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn warnings_stay_within_the_limits_of_kubernetes() {
        let long = "ä".repeat(300);
        assert_eq!(cut(&long).chars().count(), 256);
        assert_eq!(cut("a\nb"), "a b");
        for count in [1, 15, 16, 17, 100] {
            let kept = fitting(&vec![long.clone(); count]);
            let total: usize = kept.iter().map(|warning| warning.chars().count()).sum();
            assert!(total <= WARNINGS, "{count}: {total}");
            assert!(kept.iter().all(|warning| warning.chars().count() <= WARNING));
            assert_eq!(kept.len(), count.min(16), "{count}");
        }
        let kept = fitting(&vec![long; 100]);
        assert_eq!(kept.last().unwrap(), "and 85 more warnings");
        assert_eq!(fitting(&["short".to_owned()]), ["short"]);
    }

    #[test]
    fn bytes_are_those_of_go() {
        let mut answer = Answer::to("u<1>", Verdict::bad_request("no & never".to_owned()));
        let text = |answer: &Answer| String::from_utf8(answer.to_json()).unwrap();
        assert_eq!(
            text(&answer),
            r#"{"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1","response":{"uid":"u\u003c1\u003e","allowed":false,"status":{"metadata":{},"message":"no \u0026 never","code":400}}}"#
        );
        answer.verdict = Verdict::Allowed;
        answer.warnings = vec!["w".to_owned()];
        assert!(text(&answer).ends_with(r#""allowed":true,"warnings":["w"]}}"#), "{}", text(&answer));
    }
}
