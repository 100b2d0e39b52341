//! Parameters that cannot be enabled together.
//!
//! Counterpart: `check_log_stats`, `check_stage_log_stats`.

use crate::registry::Setting;
use crate::value::Value;
use pgerror::{PgError, Result, SqlState};

/// Per-stage statistics, which exclude statistics of the whole statement.
const STAGES: [&str; 3] = ["log_parser_stats", "log_planner_stats", "log_executor_stats"];

/// 22023 if the value conflicts with the current values of other parameters, which `is_on` returns.
pub(crate) fn check(setting: &Setting, value: &Value, is_on: impl Fn(&str) -> bool) -> Result<()> {
    if *value != Value::Bool(true) {
        return Ok(());
    }
    let detail = if STAGES.contains(&setting.name) && is_on("log_statement_stats") {
        "Cannot enable parameter when \"log_statement_stats\" is true."
    } else if setting.name == "log_statement_stats" && STAGES.iter().any(|s| is_on(s)) {
        "Cannot enable \"log_statement_stats\" when \"log_parser_stats\", \"log_planner_stats\", \
         or \"log_executor_stats\" is true."
    } else {
        return Ok(());
    };
    let message = format!("invalid value for parameter \"{}\": 1", setting.name);
    Err(PgError::new(SqlState::INVALID_PARAMETER_VALUE, message).detail(detail))
}
