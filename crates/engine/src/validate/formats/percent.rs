//! `percent`: an integer and `%`, as in Kubernetes' `IsValidPercent`.

pub(super) fn accepts(text: &str) -> bool {
    text.strip_suffix('%').and_then(super::digit_run).is_some_and(|(_, rest)| rest.is_empty())
}
