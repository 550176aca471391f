//! Refuses the deletion of a template whose rules VMs still use.

use super::review::Review;
use super::{Answer, ReviewOptions, Surroundings, UnknownReason, Verdict};
use crate::select::TEMPLATE_ANNOTATION;
use crate::value::Value;

/// The label of templates from an operator.
const TYPE: &str = "template.kubevirt.io/type";

/// Answers a review of a template.
pub fn template(body: &[u8], policy: ReviewOptions, surroundings: &dyn Surroundings) -> Answer {
    let review = match Review::read(body, policy) {
        Ok(review) => review,
        Err(answer) => return *answer,
    };
    let (verdict, warnings) = match judged(&review, policy, surroundings) {
        Ok(warnings) => (Verdict::Allowed, warnings),
        Err(verdict) => (verdict, Vec::new()),
    };
    review.answer(verdict, warnings)
}

fn judged(review: &Review, policy: ReviewOptions, surroundings: &dyn Surroundings) -> Result<Vec<String>, Verdict> {
    if review.operation() != "DELETE" {
        return Ok(Vec::new());
    }
    let (group, version, resource) = review.resource();
    if resource != "templates" {
        let message = format!("expected resource {{{group} {version} {resource}}} to be 'templates'");
        return Err(Verdict::bad_request(message));
    }
    let template = review.object("oldObject", "v1.Template", policy)?;
    let is_set =
        |place: &str, key: &str| template.at(&["metadata", place]).is_some_and(|place| place.get(key).is_some());
    if !is_set("labels", TYPE) || !is_set("annotations", TEMPLATE_ANNOTATION) {
        return Ok(Vec::new());
    }
    let named = |key: &str| template.at(&["metadata", key]).and_then(Value::as_str).unwrap_or_default();
    match surroundings.dependents(named("namespace"), named("name")) {
        Ok(vms) if vms.is_empty() => Ok(Vec::new()),
        Ok(vms) => Err(Verdict::Refused {
            code: 403,
            reason: "Forbidden",
            message: format!(
                "Template cannot be deleted, because the following VMs are referencing it for validation: {}",
                vms.join(", ")
            ),
        }),
        Err(UnknownReason::NoCluster) if policy.compat => Ok(Vec::new()),
        Err(UnknownReason::NoCluster) => {
            Ok(vec!["it is not known here whether VMs take their rules from this template".to_owned()])
        }
        Err(UnknownReason::NotYet(why)) => Err(Verdict::unavailable(why)),
    }
}
