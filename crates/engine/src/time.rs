//! Formatting of times in log messages, in UTC.

/// `2024-01-31 12:00:00 UTC` for seconds since 1970.
pub(crate) fn format_seconds(seconds: i64) -> String {
    let (days, rest) = (seconds.div_euclid(86_400), seconds.rem_euclid(86_400));
    let (year, month, day) = civil(days);
    let (hour, minute, second) = (rest / 3600, rest / 60 % 60, rest % 60);
    format!("{year:04}-{month:02}-{day:02} {hour:02}:{minute:02}:{second:02} UTC")
}

/// `2024-01-31 12:00:00.123456+00` for microseconds since 2000-01-01.
pub(crate) fn format_timestamp(micros: i64) -> String {
    let seconds = micros.div_euclid(1_000_000) + 946_684_800;
    let text = format_seconds(seconds);
    format!("{}.{:06}+00", text.trim_end_matches(" UTC"), micros.rem_euclid(1_000_000))
}

/// Gregorian year, month and day of a day counted from 1970-01-01. The computation uses years that
/// start in March, so that the leap day is the last day of the year.
fn civil(days: i64) -> (i64, i64, i64) {
    let days = days + 719_468;
    let era = days.div_euclid(146_097);
    let day_of_era = days.rem_euclid(146_097);
    let year_of_era =
        (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * shifted + 2) / 5 + 1;
    let month = if shifted < 10 { shifted + 3 } else { shifted - 9 };
    (year_of_era + era * 400 + i64::from(month <= 2), month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_times() {
        // select to_timestamp(n) at time zone 'utc'
        for (n, text) in [
            (0, "1970-01-01 00:00:00 UTC"),
            (951_827_696, "2000-02-29 12:34:56 UTC"),
            (1_709_251_199, "2024-02-29 23:59:59 UTC"),
            (4_107_542_400, "2100-03-01 00:00:00 UTC"),
        ] {
            assert_eq!(format_seconds(n), text);
        }
        assert_eq!(format_timestamp(1), "2000-01-01 00:00:00.000001+00");
    }
}
