//! The server log on standard error, with `log_line_prefix`.
//!
//! Counterpart: elog.c (`log_line_prefix`, `send_message_to_server_log`).

use pgerror::{PgError, Severity};
use session::{Log, LogLevels, LogOrigin, Verbosity};
use settings::ServerValues;
use std::io::Write;
use std::sync::Arc;
use sync::RwLock;
use sync::atomic::{AtomicU64, Ordering};
use types::zone::Zone;
use vfs::Clock;

struct Style {
    prefix: String,
    zone: Zone,
    levels: LogLevels,
}

/// A log sink that writes to standard error.
pub(crate) struct StderrLog {
    style: RwLock<Style>,
    clock: Arc<dyn Clock>,
    lines: AtomicU64,
    started: i64,
}

/// Order of `log_min_messages`, where LOG is between ERROR and FATAL.
fn rank(severity: Severity) -> u8 {
    match severity {
        Severity::Debug2 => 0,
        Severity::Debug => 1,
        Severity::Info => 2,
        Severity::Notice => 3,
        Severity::Warning => 4,
        Severity::Error => 5,
        Severity::Log => 6,
        Severity::Fatal => 7,
        Severity::Panic => 8,
    }
}

impl Style {
    fn of(base: &ServerValues) -> Style {
        Style {
            prefix: base.text("log_line_prefix").to_owned(),
            zone: Zone::named(base.text("log_timezone")).unwrap_or_else(Zone::utc),
            levels: LogLevels::new(
                base.text("log_min_messages"),
                base.text("log_min_error_statement"),
                base.text("log_error_verbosity"),
            ),
        }
    }

    fn time(&self, micros: i64, millis: bool) -> String {
        let seconds = micros.div_euclid(1_000_000);
        let (east, _, name) = self.zone.at_unix(seconds);
        let local = seconds + i64::from(east);
        let (days, day) = (local.div_euclid(86_400), local.rem_euclid(86_400));
        let (year, month, date) = civil(days);
        let mut text = format!(
            "{year:04}-{month:02}-{date:02} {:02}:{:02}:{:02}",
            day / 3600,
            day / 60 % 60,
            day % 60
        );
        if millis {
            text.push_str(&format!(".{:03}", micros.rem_euclid(1_000_000) / 1000));
        }
        format!("{text} {name}")
    }
}

/// Year, month and day of a day number since 1970-01-01 (proleptic Gregorian calendar). Years are
/// counted from March, so that the leap day comes last.
pub(crate) fn civil(days: i64) -> (i64, i64, i64) {
    let z = days + 719_468;
    let era = z.div_euclid(146_097);
    let of_era = z.rem_euclid(146_097);
    let year = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let m = (5 * of_year + 2) / 153;
    let month = if m < 10 { m + 3 } else { m - 9 };
    (year + era * 400 + i64::from(month <= 2), month, of_year - (153 * m + 2) / 5 + 1)
}

impl StderrLog {
    /// Seconds since 1970-01-01.
    pub(crate) fn now(&self) -> i64 {
        self.clock.unix_seconds()
    }

    pub(crate) fn new(base: &ServerValues, clock: Arc<dyn Clock>) -> StderrLog {
        let started = clock.unix_micros();
        StderrLog { style: RwLock::new(Style::of(base)), clock, lines: AtomicU64::new(0), started }
    }

    pub(crate) fn configure(&self, base: &ServerValues) {
        *self.style.write() = Style::of(base);
    }

    fn prefix(&self, style: &Style, origin: &LogOrigin, code: &str) -> String {
        let mut out = String::new();
        let server = origin.pid == 0;
        let lines = if server { &self.lines } else { &*origin.lines };
        let line = lines.fetch_add(1, Ordering::Relaxed) + 1;
        let pid = if server { std::process::id() as i32 } else { origin.pid };
        let start = if server { self.started } else { origin.session_start };
        let mut chars = style.prefix.chars();
        while let Some(c) = chars.next() {
            if c != '%' {
                out.push(c);
                continue;
            }
            let mut padding = String::new();
            let mut escape = chars.next();
            while let Some(c @ ('-' | '0'..='9')) = escape {
                padding.push(c);
                escape = chars.next();
            }
            let now = || self.clock.unix_micros();
            let shown = |s: &str| if server { String::new() } else { unknown(s) };
            let text = match escape {
                Some('%') => "%".to_owned(),
                Some('a') => shown(&origin.application),
                Some('u') => shown(&origin.user),
                Some('d') => shown(&origin.database),
                Some('h') => origin.host.clone(),
                Some('r') => match origin.port {
                    Some(port) => format!("{}({port})", origin.host),
                    None => origin.host.clone(),
                },
                Some('b') => {
                    (if origin.kind.is_empty() { "postmaster" } else { origin.kind }).to_owned()
                }
                Some('p') => pid.to_string(),
                Some('t') => style.time(now(), false),
                Some('m') => style.time(now(), true),
                Some('n') => {
                    let now = now();
                    format!("{}.{:03}", now.div_euclid(1_000_000), now.rem_euclid(1_000_000) / 1000)
                }
                Some('s') => style.time(start, false),
                Some('c') => format!("{:x}.{pid:x}", start.div_euclid(1_000_000)),
                Some('l') => line.to_string(),
                Some('e') => code.to_owned(),
                Some('x') => origin.xid.to_string(),
                Some('v') => origin.vxid.map_or(String::new(), |(b, l)| format!("{b}/{l}")),
                Some('i') => origin.command.clone(),
                Some('Q') => origin.query_id.to_string(),
                Some('q') if server => return out,
                _ => String::new(),
            };
            let width: i32 = padding.parse().unwrap_or(0);
            let size = width.unsigned_abs() as usize;
            out.push_str(&if width < 0 {
                format!("{text:<size$}")
            } else {
                format!("{text:>size$}")
            });
        }
        out
    }
}

fn unknown(name: &str) -> String {
    if name.is_empty() { "[unknown]".to_owned() } else { name.to_owned() }
}

impl Log for StderrLog {
    fn wants(&self, origin: &LogOrigin, report: &PgError) -> bool {
        let levels = origin.levels.unwrap_or(self.style.read().levels);
        rank(report.fields().severity) >= rank(levels.least)
    }

    fn write(&self, origin: &LogOrigin, report: &PgError, statement: Option<&str>) {
        let style = self.style.read();
        let levels = origin.levels.unwrap_or(style.levels);
        let f = report.fields();
        if rank(f.severity) < rank(levels.least) {
            return;
        }
        let mut text = String::new();
        let mut line = |kind: &str, body: &str| {
            // Continuation lines begin with a tab.
            let prefix = self.prefix(&style, origin, f.code.as_str());
            text.push_str(&format!("{prefix}{kind}:  {}\n", body.replace('\n', "\n\t")));
        };
        let mut message = match levels.verbosity {
            Verbosity::Verbose => format!("{}: {}", f.code.as_str(), f.message),
            _ => f.message.clone(),
        };
        if let Some(p) = f.position.or(f.internal_position) {
            message.push_str(&format!(" at character {p}"));
        }
        line(f.severity.as_str(), &message);
        if levels.verbosity != Verbosity::Terse {
            if let Some(detail) = &f.detail {
                line("DETAIL", detail);
            }
            if let Some(hint) = &f.hint {
                line("HINT", hint);
            }
            if let Some(query) = &f.internal_query {
                line("QUERY", query);
            }
            if !f.context.is_empty() {
                line("CONTEXT", &f.context.join("\n"));
            }
        }
        if let Some(statement) = statement
            && rank(f.severity) >= rank(levels.least_statement)
        {
            line("STATEMENT", statement);
        }
        // A write error cannot be reported anywhere.
        let _ = std::io::stderr().lock().write_all(text.as_bytes());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_are_converted_to_dates() {
        assert_eq!(civil(0), (1970, 1, 1));
        assert_eq!(civil(11_016), (2000, 2, 29));
        assert_eq!(civil(-1), (1969, 12, 31));
        assert_eq!(civil(20_778), (2026, 11, 21));
    }
}
