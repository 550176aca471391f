//! Dates of the Gregorian calendar as numbers of days.
//!
//! CEL and the checks of Kubernetes parse times by different rules; both count days with these
//! functions. The calendar extends to years before its introduction, as in Go.

/// The number of days in a month; months count from 1.
pub fn days_in_month(year: i64, month: i64) -> i64 {
    match month {
        2 if year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// The number of days from 1970-01-01 to a date; negative before it.
pub fn days_since_epoch(year: i64, month: i64, day: i64) -> i64 {
    // Years begin in March here, so that the leap day is the last day of a year.
    let year = if month <= 2 { year - 1 } else { year };
    let era = year.div_euclid(400);
    let of_era = year - era * 400;
    let of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_count_from_1970_with_leap_years() {
        for ((year, month, day), days) in [
            ((1970, 1, 1), 0),
            ((1969, 12, 31), -1),
            ((2000, 2, 29), 11_016),
            ((2000, 3, 1), 11_017),
            ((1, 1, 1), -719_162),
        ] {
            assert_eq!(days_since_epoch(year, month, day), days, "{year}-{month}-{day}");
        }
    }

    #[test]
    fn only_every_fourth_century_has_a_leap_day() {
        for (year, days) in [(1900, 28), (2000, 29), (2023, 28), (2024, 29)] {
            assert_eq!(days_in_month(year, 2), days, "{year}");
        }
    }
}
