//! Window functions: ranks, and aggregates over frames.

use super::fixture::{Fixture, Order, some_rows};
use super::plans::{INT4, INT8, Row, TEXT, V, by, group_keys, node, outer, param, sorted};
use super::source::{SIZES, source};
use crate::frame::option;
use ids::Oid;
use plan::expr::{Expr, Location, WindowFunc};
use plan::node::{GroupKeys, Plan, PlanNode, WindowAgg};

const TYPES: [Oid; 3] = [INT4, TEXT, INT4];
const ROW_NUMBER: u32 = 3100;
const RANK: u32 = 3101;
const SUM: u32 = 2108;
const COUNT: u32 = 2147;

fn window_function(function: u32, args: Vec<Expr>) -> Expr {
    Expr::WindowFunc(Box::new(WindowFunc {
        winfnoid: Oid(function),
        wintype: INT8,
        wincollid: Oid::INVALID,
        inputcollid: Oid::INVALID,
        winagg: !args.is_empty(),
        args,
        aggfilter: None,
        winref: 1,
        winstar: false,
        location: Location::UNKNOWN,
    }))
}

struct Window {
    /// True if the window is partitioned by column 1.
    partition: bool,
    options: i32,
    start: Option<Expr>,
    end: Option<Expr>,
}

/// Windows ordered by column 2.
fn plan(rows: &[Row], sizes: usize, window: Window, functions: Vec<Expr>) -> Plan {
    let partition = if window.partition { group_keys(&[(1, INT4)]) } else { GroupKeys::default() };
    let agg = WindowAgg {
        child: Box::new(source(&TYPES, rows, sizes)),
        winref: 1,
        partition,
        order: group_keys(&[(2, TEXT)]),
        frame_options: window.options,
        start_offset: window.start,
        end_offset: window.end,
        start_in_range_func: Oid::INVALID,
        end_in_range_func: Oid::INVALID,
        in_range_coll: Oid::INVALID,
        in_range_asc: true,
        in_range_nulls_first: false,
        run_condition: Vec::new(),
    };
    let columns = TYPES.iter().enumerate().map(|(i, t)| outer(i + 1, *t));
    let outputs = columns.chain(functions).collect();
    node(PlanNode::WindowAgg(Box::new(agg)), outputs, Vec::new())
}

/// The partitions of rows that are sorted by columns 1 and 2.
fn partitions(rows: &[Row], partition: bool) -> Vec<Vec<Row>> {
    if !partition {
        return if rows.is_empty() { Vec::new() } else { vec![rows.to_vec()] };
    }
    rows.chunk_by(|a, b| a[0] == b[0]).map(<[Row]>::to_vec).collect()
}

fn sum(rows: &[Row]) -> V {
    let values: Vec<i64> = rows.iter().filter_map(|r| r[0].int()).collect();
    if values.is_empty() { V::Null } else { V::Int(values.iter().sum()) }
}

const SHAPES: [(usize, usize); 6] = [(0, 0), (0, 25), (1, 140), (2, 400), (3, 1100), (4, 1100)];

fn ordered_rows(count: usize, partition: bool) -> Vec<Row> {
    let order = [by(1, INT4), by(2, TEXT)];
    sorted(&some_rows(count, 81), if partition { &order } else { &order[1..] })
}

#[test]
fn ranks_count_rows_and_peers() {
    let mut fixture = Fixture::new();
    let functions = || vec![window_function(ROW_NUMBER, vec![]), window_function(RANK, vec![])];
    for partition in [true, false] {
        for (sizes, count) in SHAPES {
            let rows = ordered_rows(count, partition);
            let options =
                option::RANGE | option::START_UNBOUNDED_PRECEDING | option::END_CURRENT_ROW;
            let window = Window { partition, options, start: None, end: None };
            let plan = plan(&rows, sizes, window, functions());
            fixture.check(plan, Order::Defined, |_| {
                let mut out = Vec::new();
                for part in partitions(&rows, partition) {
                    for (i, row) in part.iter().enumerate() {
                        let first = part.iter().position(|r| r[1] == row[1]).unwrap_or(i);
                        let ranks = vec![V::Int(i as i64 + 1), V::Int(first as i64 + 1)];
                        out.push([row.clone(), ranks].concat());
                    }
                }
                out
            });
        }
    }
}

#[test]
fn aggregates_are_computed_over_moving_frames() {
    let mut fixture = Fixture::new();
    for partition in [true, false] {
        for (sizes, count) in SHAPES {
            let rows = ordered_rows(count, partition);
            // ROWS BETWEEN $0 PRECEDING AND CURRENT ROW
            let options = option::ROWS | option::START_OFFSET_PRECEDING | option::END_CURRENT_ROW;
            let start = Some(offset(param(0)));
            let window = Window { partition, options, start, end: None };
            let sums = vec![window_function(SUM, vec![outer(1, INT4)])];
            let plan = plan(&rows, sizes, window, sums);
            fixture.check(plan, Order::Defined, |p| {
                let mut out = Vec::new();
                for part in partitions(&rows, partition) {
                    for (i, row) in part.iter().enumerate() {
                        let from = i.saturating_sub(p as usize);
                        out.push([row.clone(), vec![sum(&part[from..=i])]].concat());
                    }
                }
                out
            });
        }
    }
}

/// An offset as int8.
fn offset(value: Expr) -> Expr {
    const INT8_OF_INT4: Oid = Oid(481);
    super::plans::call(INT8_OF_INT4, INT8, false, vec![value])
}

#[test]
fn aggregates_are_computed_up_to_the_last_peer_and_over_the_partition() {
    let mut fixture = Fixture::new();
    let functions = || {
        vec![
            window_function(SUM, vec![outer(1, INT4)]),
            window_function(COUNT, vec![outer(2, TEXT)]),
        ]
    };
    for complete in [false, true] {
        for sizes in 0..SIZES.len() {
            let rows = ordered_rows(260, true);
            let end =
                if complete { option::END_UNBOUNDED_FOLLOWING } else { option::END_CURRENT_ROW };
            let options = option::RANGE | option::START_UNBOUNDED_PRECEDING | end;
            let window = Window { partition: true, options, start: None, end: None };
            let plan = plan(&rows, sizes, window, functions());
            fixture.check(plan, Order::Defined, |_| {
                let mut out = Vec::new();
                for part in partitions(&rows, true) {
                    for row in &part {
                        let last = part.iter().rposition(|r| r[1] == row[1]).unwrap_or_default();
                        let end = if complete { part.len() } else { last + 1 };
                        let texts = part[..end].iter().filter(|r| r[1] != V::Null).count();
                        let values = vec![sum(&part[..end]), V::Int(texts as i64)];
                        out.push([row.clone(), values].concat());
                    }
                }
                out
            });
        }
    }
}
