//! The effect of parameters on the settings of other crates.

use crate::canonical::date_style;
use catalog::format_type::Quoting;
use planner::{ConstraintExclusion, CostSettings};
use settings::{SessionValues, Value};
use types::settings::{ByteaOutput, DateOrder, DateStyle, IntervalStyle};
use types::zone::Zone;

/// Applies a setting that functions on values depend on.
pub fn apply_to_types(types: &mut types::Settings, name: &str, value: &Value) {
    match name {
        "DateStyle" => {
            if let Ok((style, order)) =
                date_style(value.as_text(), (DateStyle::Iso, DateOrder::Mdy))
            {
                types.date_style = style;
                types.date_order = order;
            }
        }
        "IntervalStyle" => {
            types.interval_style = match value.as_text() {
                "sql_standard" => IntervalStyle::SqlStandard,
                "iso_8601" => IntervalStyle::Iso8601,
                "postgres_verbose" => IntervalStyle::PostgresVerbose,
                _ => IntervalStyle::Postgres,
            }
        }
        "TimeZone" => {
            if let Some(zone) = Zone::named(value.as_text()) {
                types.time_zone = zone;
            }
        }
        "extra_float_digits" => types.extra_float_digits = value.as_int() as i32,
        "bytea_output" => {
            types.bytea_output = match value.as_text() {
                "escape" => ByteaOutput::Escape,
                _ => ByteaOutput::Hex,
            }
        }
        "array_nulls" => types.array_nulls = value.as_bool(),
        "quote_all_identifiers" => types.quote_all_identifiers = value.as_bool(),
        "lc_numeric" => types.formats.number = locale::number_format(value.as_text()),
        "lc_monetary" => types.formats.money = locale::money_format(value.as_text()),
        "lc_time" => types.formats.time = locale::time_names(value.as_text()),
        "max_stack_depth" => {
            types.max_stack_kb = u32::try_from(value.as_int()).unwrap_or(u32::MAX);
        }
        _ => {}
    }
}

/// Applies a setting that SQL texts that are shown depend on.
pub fn apply_quoting(quoting: &mut Quoting, name: &str, value: &Value) {
    match name {
        "quote_all_identifiers" => quoting.all_identifiers = value.as_bool(),
        "standard_conforming_strings" => quoting.escapes = !value.as_bool(),
        _ => {}
    }
}

/// Applies a setting of the planner.
pub fn apply_cost(costs: &mut CostSettings, name: &str, value: &Value, store: &SessionValues) {
    match name {
        "work_mem" => {
            costs.work_mem = value.as_int() as f64 * 1024.0;
            costs.hash_mem = costs.work_mem * store.named("hash_mem_multiplier").as_real();
        }
        "hash_mem_multiplier" => costs.hash_mem = costs.work_mem * value.as_real(),
        "seq_page_cost" => costs.seq_page = value.as_real(),
        "random_page_cost" => costs.random_page = value.as_real(),
        "cpu_tuple_cost" => costs.cpu_tuple = value.as_real(),
        "cpu_index_tuple_cost" => costs.cpu_index_tuple = value.as_real(),
        "cpu_operator_cost" => costs.cpu_operator = value.as_real(),
        "effective_cache_size" => costs.effective_cache_size = value.as_int() as f64,
        "enable_seqscan" => costs.enable_seqscan = value.as_bool(),
        "enable_indexscan" => costs.enable_indexscan = value.as_bool(),
        "enable_indexonlyscan" => costs.enable_indexonlyscan = value.as_bool(),
        "enable_bitmapscan" => costs.enable_bitmapscan = value.as_bool(),
        "enable_tidscan" => costs.enable_tidscan = value.as_bool(),
        "enable_nestloop" => costs.enable_nestloop = value.as_bool(),
        "enable_hashjoin" => costs.enable_hashjoin = value.as_bool(),
        "enable_mergejoin" => costs.enable_mergejoin = value.as_bool(),
        "enable_sort" => costs.enable_sort = value.as_bool(),
        "enable_hashagg" => costs.enable_hashagg = value.as_bool(),
        "constraint_exclusion" => {
            costs.constraint_exclusion = match value.as_text() {
                "on" => ConstraintExclusion::On,
                "off" => ConstraintExclusion::Off,
                _ => ConstraintExclusion::Partition,
            };
        }
        "enable_partition_pruning" => costs.enable_partition_pruning = value.as_bool(),
        "enable_memoize" => costs.enable_memoize = value.as_bool(),
        "enable_incremental_sort" => costs.enable_incremental_sort = value.as_bool(),
        "enable_partitionwise_join" => costs.enable_partitionwise.joins = value.as_bool(),
        "enable_partitionwise_aggregate" => {
            costs.enable_partitionwise.aggregates = value.as_bool();
        }
        "enable_material" => costs.enable_material = value.as_bool(),
        "from_collapse_limit" => costs.collapse.from = value.as_int().max(1) as usize,
        "join_collapse_limit" => costs.collapse.join = value.as_int().max(1) as usize,
        _ => {}
    }
}
