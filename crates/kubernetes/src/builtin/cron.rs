//! Schedules of cron jobs: five fields, or a word.

const MONTHS: [&str; 12] = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
const DAYS: [&str; 7] = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"];

/// The problem with a schedule, if any.
pub(super) fn fault(text: &str) -> Option<String> {
    if text.starts_with('@') {
        return match text {
            "@yearly" | "@annually" | "@monthly" | "@weekly" | "@daily" | "@midnight" | "@hourly" => None,
            _ => match text.strip_prefix("@every ") {
                Some(duration) if ytterby_text::duration::parse(duration).is_some() => None,
                _ => Some(
                    "unknown word; there are @yearly @monthly @weekly @daily @hourly and @every DURATION".to_owned(),
                ),
            },
        };
    }
    let fields: Vec<&str> = text.split_whitespace().collect();
    if fields.len() != 5 {
        return Some(format!("a schedule has 5 fields (minute, hour, day, month, weekday); found {}", fields.len()));
    }
    let forms: [(&str, u32, u32, &[&str]); 5] = [
        ("minute", 0, 59, &[]),
        ("hour", 0, 23, &[]),
        ("day", 1, 31, &[]),
        ("month", 1, 12, &MONTHS),
        ("weekday", 0, 6, &DAYS),
    ];
    fields.iter().zip(forms).find_map(|(field, (name, least, most, words))| {
        let is_good = field.split(',').all(|part| is_range(part, least, most, words));
        (!is_good).then(|| format!("the {name} \"{field}\" is no number, range or step between {least} and {most}"))
    })
}

fn is_range(text: &str, least: u32, most: u32, words: &[&str]) -> bool {
    let (range, step) = text.split_once('/').map_or((text, None), |(range, step)| (range, Some(step)));
    let number = |text: &str| -> Option<u32> {
        if let Some(at) = words.iter().position(|word| text.eq_ignore_ascii_case(word)) {
            return Some(at as u32 + least);
        }
        let is_digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        text.parse().ok().filter(|_| is_digits)
    };
    let bounds = match range {
        "*" | "?" => Some((least, most)),
        _ => match range.split_once('-') {
            Some((from, to)) => number(from).zip(number(to)),
            // `5/15` extends to the maximum.
            None => number(range).map(|from| (from, if step.is_some() { most } else { from })),
        },
    };
    let is_step = step.is_none_or(|step| number(step).is_some_and(|step| step > 0));
    bounds.is_some_and(|(from, to)| from >= least && to <= most && from <= to) && is_step
}

#[cfg(test)]
mod tests {
    use super::fault;

    #[test]
    fn schedules_are_checked() {
        for good in ["0 1 * * *", "*/5 0-6,12 1 jan,3 mon-fri", "5/15 * ? * *", "@daily", "@every 1h30m", " 0 0 * * 0 "]
        {
            assert_eq!(fault(good), None, "{good}");
        }
        for bad in [
            "every day",
            "0 0 3 * * *",
            "60 * * * *",
            "* * * * 7",
            "* * 0 * *",
            "*/0 * * * *",
            "5-1 * * * *",
            "@often",
            "a * * * *",
        ] {
            assert!(fault(bad).is_some(), "{bad}");
        }
    }
}
