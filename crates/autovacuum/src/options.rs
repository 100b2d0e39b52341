//! Settings of autovacuum, and the storage parameters of a table that take their place.

use catalog::rows::PgClass;
use stats::thresholds::Thresholds;
use utility::host::CommandHost;

/// A storage parameter of a table.
pub(crate) fn parameter<'c>(class: &'c PgClass, name: &str) -> Option<&'c str> {
    catalog::descriptors::option(class.reloptions.as_deref(), name)
}

/// The number in a storage parameter, or in the setting of the same name.
fn number<T: std::str::FromStr + Default>(
    host: &mut dyn CommandHost,
    class: &PgClass,
    name: &str,
) -> T {
    let own = parameter(class, name).and_then(|value| value.parse().ok());
    own.unwrap_or_else(|| host.setting(name).parse().unwrap_or_default())
}

pub(crate) fn thresholds(host: &mut dyn CommandHost, class: &PgClass) -> Thresholds {
    Thresholds {
        vacuum_rows: number(host, class, "autovacuum_vacuum_threshold"),
        vacuum_scale: number(host, class, "autovacuum_vacuum_scale_factor"),
        insert_rows: number(host, class, "autovacuum_vacuum_insert_threshold"),
        insert_scale: number(host, class, "autovacuum_vacuum_insert_scale_factor"),
        analyze_rows: number(host, class, "autovacuum_analyze_threshold"),
        analyze_scale: number(host, class, "autovacuum_analyze_scale_factor"),
    }
}

/// True unless the storage parameter `autovacuum_enabled` is off.
pub(crate) fn is_enabled(class: &PgClass) -> bool {
    parameter(class, "autovacuum_enabled").is_none_or(catalog::descriptors::is_on)
}

/// Milliseconds of a duration as SHOW prints it; a number without unit is in milliseconds.
pub(crate) fn millis(shown: &str) -> f64 {
    let (number, unit) =
        shown.split_at(shown.find(|c: char| c.is_alphabetic()).unwrap_or(shown.len()));
    let factor = match unit {
        "us" => 0.001,
        "s" => 1000.0,
        "min" => 60_000.0,
        "h" => 3_600_000.0,
        "d" => 86_400_000.0,
        _ => 1.0,
    };
    number.parse::<f64>().unwrap_or(0.0) * factor
}

/// The cost parameters of one table.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Costs {
    pub(crate) delay_ms: f64,
    pub(crate) limit: i64,
    /// The table has no cost parameters of its own, so its worker shares the limit with others.
    pub(crate) is_balanced: bool,
}

/// The delay and limit of the settings.
pub(crate) fn server_costs(host: &mut dyn CommandHost) -> (f64, i64) {
    let own = millis(&host.setting("autovacuum_vacuum_cost_delay"));
    let delay = if own < 0.0 { millis(&host.setting("vacuum_cost_delay")) } else { own };
    let mut limit = |name: &str| host.setting(name).parse::<i64>().ok().filter(|n| *n > 0);
    let limit = limit("autovacuum_vacuum_cost_limit").or_else(|| limit("vacuum_cost_limit"));
    (delay, limit.unwrap_or(200))
}

pub(crate) fn costs(host: &mut dyn CommandHost, class: &PgClass) -> Costs {
    let (delay, limit) = server_costs(host);
    let own_delay = parameter(class, "autovacuum_vacuum_cost_delay").map(millis);
    let own_limit = parameter(class, "autovacuum_vacuum_cost_limit").and_then(|v| v.parse().ok());
    let own_delay = own_delay.filter(|delay| *delay >= 0.0);
    let own_limit = own_limit.filter(|limit: &i64| *limit > 0);
    Costs {
        delay_ms: own_delay.unwrap_or(delay),
        limit: own_limit.unwrap_or(limit),
        is_balanced: own_delay.is_none() && own_limit.is_none(),
    }
}

/// Durations (milliseconds) from which on the work on a table is logged; negative: never.
pub(crate) fn log_min_duration(host: &mut dyn CommandHost, class: &PgClass) -> f64 {
    let own = parameter(class, "log_autovacuum_min_duration").map(millis);
    own.unwrap_or_else(|| millis(&host.setting("log_autovacuum_min_duration")))
}

#[cfg(test)]
mod tests {
    #[test]
    fn durations_have_units() {
        let shown = ["2ms", "10min", "500us", "-1", "0", "1.5s"];
        assert_eq!(shown.map(super::millis), [2.0, 600_000.0, 0.5, -1.0, 0.0, 1500.0]);
    }
}
