//! `quantity`: a resource quantity of Kubernetes: `500m`, `10Gi`, `1e3`.

pub(super) fn accepts(text: &str) -> bool {
    let number = text.strip_prefix(['+', '-']).unwrap_or(text);
    let (whole, rest) = super::digit_run(number).unwrap_or(("", number));
    let (fraction, suffix) = match rest.strip_prefix('.') {
        Some(rest) => super::digit_run(rest).unwrap_or(("", rest)),
        None => ("", rest),
    };
    !(whole.is_empty() && fraction.is_empty()) && is_suffix(suffix)
}

fn is_suffix(suffix: &str) -> bool {
    const SUFFIXES: [&str; 16] = ["", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei", "n", "u", "m", "k", "M", "G", "T", "P", "E"];
    let is_exponent = || {
        let exponent = suffix.strip_prefix(['e', 'E'])?;
        let digits = exponent.strip_prefix(['+', '-']).unwrap_or(exponent);
        super::digit_run(digits).filter(|(_, rest)| rest.is_empty())
    };
    SUFFIXES.contains(&suffix) || is_exponent().is_some()
}
