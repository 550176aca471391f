//! `percent`: a whole number and `%`, as Kubernetes' `IsValidPercent` has it.

pub(super) fn accepts(text: &str) -> bool {
    text.strip_suffix('%').and_then(super::digit_run).is_some_and(|(_, rest)| rest.is_empty())
}
