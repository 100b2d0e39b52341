//! Output of dates and times by DateStyle. Counterpart: datetime.c.

use super::calendar::{Fields, date2j, j2day, time_fields};
use values::settings::{DateOrder, DateStyle, Settings};

const MONTHS: [&str; 12] =
    ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
const DAYS: [&str; 7] = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"];

/// Formats microseconds as `.ffffff` without trailing zeros; empty for zero.
pub(super) fn fraction(micros: i32) -> String {
    if micros == 0 {
        return String::new();
    }
    format!(".{:06}", micros.abs()).trim_end_matches('0').to_string()
}

/// Formats seconds east of Greenwich as `+hh[:mm[:ss]]`.
pub(super) fn offset(east: i32) -> String {
    let sign = if east < 0 { '-' } else { '+' };
    let s = east.abs();
    let mut out = format!("{sign}{:02}", s / 3600);
    if s % 3600 != 0 {
        out.push_str(&format!(":{:02}", s / 60 % 60));
    }
    if s % 60 != 0 {
        out.push_str(&format!(":{:02}", s % 60));
    }
    out
}

pub(super) fn shown_year(year: i32) -> i32 {
    if year > 0 { year } else { 1 - year }
}

/// Formats a date.
pub fn date_text(year: i32, month: i32, day: i32, s: &Settings) -> String {
    let y = shown_year(year);
    let mut out = match (s.date_style, s.date_order) {
        (DateStyle::Iso, _) => format!("{y:04}-{month:02}-{day:02}"),
        (DateStyle::Sql, DateOrder::Dmy) => format!("{day:02}/{month:02}/{y:04}"),
        (DateStyle::Sql, _) => format!("{month:02}/{day:02}/{y:04}"),
        (DateStyle::German, _) => format!("{day:02}.{month:02}.{y:04}"),
        (DateStyle::Postgres, DateOrder::Dmy) => format!("{day:02}-{month:02}-{y:04}"),
        (DateStyle::Postgres, _) => format!("{month:02}-{day:02}-{y:04}"),
    };
    if year <= 0 {
        out.push_str(" BC");
    }
    out
}

/// Formats a time of day as hh:mm:ss with fraction.
pub(super) fn clock(h: i32, m: i32, s: i32, us: i32) -> String {
    format!("{h:02}:{m:02}:{s:02}{}", fraction(us))
}

/// Formats a time of day, with the zone's offset if given.
pub fn time_text(t: i64, east: Option<i32>) -> String {
    let (h, m, s, us) = time_fields(t);
    clock(h, m, s, us) + &east.map_or(String::new(), offset)
}

/// Maximum length of an abbreviation in bytes. Counterpart: `MAXTZLEN`.
const ABBREVIATION_BYTES_MAX: usize = 10;

/// Formats a timestamp; `zone` is seconds east of Greenwich and abbreviation.
pub fn timestamp_text(f: &Fields, zone: Option<(i32, &str)>, s: &Settings) -> String {
    let y = shown_year(f.year);
    let time = clock(f.hour, f.minute, f.second, f.micros);
    let (month, day) = (f.month, f.day);
    let dmy = s.date_order == DateOrder::Dmy;
    let mut out = match s.date_style {
        DateStyle::Iso => format!("{y:04}-{month:02}-{day:02} {time}"),
        DateStyle::Sql if dmy => format!("{day:02}/{month:02}/{y:04} {time}"),
        DateStyle::Sql => format!("{month:02}/{day:02}/{y:04} {time}"),
        DateStyle::German => format!("{day:02}.{month:02}.{y:04} {time}"),
        DateStyle::Postgres => {
            let weekday = DAYS[j2day(date2j(f.year, month, day)) as usize];
            let month = MONTHS[(month - 1).clamp(0, 11) as usize];
            match dmy {
                true => format!("{weekday} {day:02} {month} {time} {y:04}"),
                false => format!("{weekday} {month} {day:02} {time} {y:04}"),
            }
        }
    };
    match zone {
        Some((east, _)) if s.date_style == DateStyle::Iso => out.push_str(&offset(east)),
        Some((_, name)) => {
            out.push(' ');
            out.push_str(stdx::clip(name, ABBREVIATION_BYTES_MAX));
        }
        None => {}
    }
    if f.year <= 0 {
        out.push_str(" BC");
    }
    out
}
