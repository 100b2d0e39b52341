//! The generator: random numbers, names, and the kind of the next statement. There are few types,
//! so that most statements are valid; all types of columns can be NULL.

/// A statement, or several related ones, with their properties.
#[derive(Default)]
pub struct Statement {
    /// Settings of Norsu only, so that PostgreSQL's plans do not change.
    pub settings: Vec<String>,
    pub steps: Vec<Step>,
    /// The statement opens a transaction, which must be rolled back.
    pub opened: bool,
    /// The statement changes rows.
    pub changes: bool,
    /// The statement creates prepared statements.
    pub prepares: bool,
}

/// One message.
pub struct Step {
    pub sql: String,
    /// The order of the rows is total.
    pub ordered: bool,
}

impl Statement {
    pub(super) fn one(sql: String) -> Statement {
        Statement::many(vec![sql])
    }

    pub(super) fn many(all: Vec<String>) -> Statement {
        let steps = all.into_iter().map(|sql| Step { sql, ordered: false }).collect();
        Statement { steps, ..Statement::default() }
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Ty {
    Int,
    Num,
    Float,
    Text,
    Bool,
    Date,
    Ts,
    Interval,
    Ints,
    Texts,
    /// `jsonb` without fractions, so that equal values have equal text forms.
    Json,
}

use Ty::*;

pub(super) const ALL: [Ty; 11] =
    [Int, Num, Float, Text, Bool, Date, Ts, Interval, Ints, Texts, Json];

/// Number of types at the start of [`ALL`] that are used as keys. With [`Generator::plain`], equal
/// values of these have equal text forms.
pub(super) const KEYS: usize = 7;

impl Ty {
    pub(super) fn name(self) -> &'static str {
        match self {
            Int => "int",
            Num => "numeric",
            Float => "float8",
            Text => "text",
            Bool => "boolean",
            Date => "date",
            Ts => "timestamp",
            Interval => "interval",
            Ints => "int[]",
            Texts => "text[]",
            Json => "jsonb",
        }
    }
}

pub(super) type Columns = Vec<(String, Ty)>;

pub struct Generator {
    state: u64,
    names: u32,
    /// Number of sub-selects that the statement may still have; they multiply its run time.
    pub(super) sublinks: u32,
    /// Constants may be the parameters `$1` (an integer), `$2` (a text) and `$3` (an integer).
    pub(super) prepared: bool,
    /// Number of calls of functions with queries of their own that the statement may still have.
    pub(super) calls: u32,
    /// Columns are grouping keys, so their tables cannot be used as row values.
    pub(super) keyed: bool,
    /// Rows are being changed, so a volatile function could see some of the changes.
    pub(super) changes: bool,
    /// PARTITION BY and ORDER BY of windows with ROWS frames. All such windows of a query have the
    /// same, so that equal rows are in the same order.
    pub(super) row_order: Option<(String, String)>,
    /// Estimated number of executions of the part that is being generated: rows of the enclosing
    /// queries.
    times: f64,
    /// Estimated number of rows of the most recent FROM clause.
    pub(super) rows: f64,
}

/// Estimated number of rows that one part of a statement may visit. Larger statements find more
/// faults, but are generated rarely.
const ROWS_MAX: f64 = 12_000.0;

/// Estimated rows of a small table, and of a query of one or two of them.
pub(super) const SMALL: f64 = 40.0;

/// Cost of a call of an SQL function that is not inlined, in visited rows.
pub(super) const CALL: f64 = 60.0;
/// Like [`CALL`], for functions that join tables.
pub(super) const CALL_OF_QUERY: f64 = 200.0;

impl Generator {
    pub fn new(seed: u64) -> Generator {
        let state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ 0x1234_5678;
        Generator {
            state,
            names: 0,
            sublinks: 6,
            prepared: false,
            calls: 2,
            keyed: false,
            changes: false,
            row_order: None,
            times: 1.0,
            rows: 1.0,
        }
    }

    /// True if a visit of `rows` rows in each execution is within the budget.
    pub(super) fn affords(&self, rows: f64) -> bool {
        self.times * rows <= ROWS_MAX
    }

    /// Runs `part`, which generates a nested query.
    pub(super) fn within<R>(&mut self, part: impl FnOnce(&mut Self) -> R) -> R {
        self.for_rows(1.0, part)
    }

    /// Declares that the remaining part of the query is executed once for each of `rows` rows.
    pub(super) fn over_rows(&mut self, rows: f64) {
        self.rows = rows;
        self.times *= rows.max(1.0);
    }

    /// Runs `part`; the generated text is executed once for each of `rows` rows.
    pub(super) fn for_rows<R>(&mut self, rows: f64, part: impl FnOnce(&mut Self) -> R) -> R {
        let times = self.times;
        self.times *= rows.max(1.0);
        let out = part(self);
        self.times = times;
        out
    }

    /// The generator SplitMix64.
    fn next(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.state;
        z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ z >> 31
    }

    pub(super) fn below(&mut self, n: usize) -> usize {
        (self.next() % n as u64) as usize
    }

    pub(super) fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }

    pub(super) fn one<'a>(&mut self, of: &[&'a str]) -> &'a str {
        of[self.below(of.len())]
    }

    pub(super) fn name(&mut self, letter: &str) -> String {
        self.names += 1;
        format!("{letter}{}", self.names)
    }

    pub(super) fn type_among(&mut self, n: usize) -> Ty {
        ALL[self.below(n)]
    }

    pub fn statement(&mut self) -> Statement {
        let mut statement = match self.below(36) {
            30 | 31 => self.searched(),
            32 => self.transition(),
            33 => self.merged(),
            34 => self.conflicting(),
            35 => self.copied(),
            24 | 25 => self.function(),
            26 => self.new_table(),
            27 | 28 => self.program(),
            29 => self.trigger(),
            0 | 1 => self.change(),
            2 => Statement::one(self.recursive(&Vec::new())),
            3 | 4 => Statement::one(self.set_operation(&Vec::new(), 2).0),
            5 => self.with_query(),
            6..=8 => self.in_order(),
            9 => self.prepared_statement(),
            10 => self.counted(),
            11 => self.computed_once(),
            12 => self.view(),
            13 => self.values(),
            14..=16 => {
                let none = Vec::new();
                let (from, own) = self.from(&none, 2);
                let condition = self.filter(&own, &none, 2);
                Statement::one(self.grouped(&from, &own, &none, &condition, 2).0)
            }
            _ => Statement::one(self.select(&Vec::new(), 3).0),
        };
        if self.chance(35) {
            statement.settings = self.settings();
        }
        statement
    }

    fn with_query(&mut self) -> Statement {
        let (inner, columns) = self.select(&Vec::new(), 2);
        let w = self.name("w");
        let how = self.one(&["", "MATERIALIZED ", "NOT MATERIALIZED "]);
        let scope = renamed(&w, &columns);
        self.over_rows(self.rows);
        let condition = self.expr(Bool, &scope, 3);
        Statement::one(format!(
            "WITH {w} AS {how}({inner}) SELECT {w}.*, count(*) OVER () AS all_of FROM {w} \
             WHERE {condition}"
        ))
    }

    /// A query with a total order, so that LIMIT, OFFSET and DISTINCT ON have a single answer; also
    /// read through a cursor.
    fn in_order(&mut self) -> Statement {
        let sql = self.ordered(&Vec::new(), 2);
        if self.chance(80) {
            let mut statement = Statement::one(sql);
            statement.steps[0].ordered = true;
            return statement;
        }
        let scroll = self.chance(60);
        let mut steps = vec![format!(
            "BEGIN; DECLARE cu {}CURSOR FOR {sql}",
            if scroll { "SCROLL " } else { "" }
        )];
        for _ in 0..6 {
            const WAYS: [&str; 12] = [
                "FETCH 2",
                "FETCH NEXT",
                "MOVE 1",
                "FETCH BACKWARD 2",
                "FETCH FIRST",
                "FETCH LAST",
                "FETCH ABSOLUTE 2",
                "FETCH RELATIVE -1",
                "MOVE BACKWARD ALL",
                "FETCH ABSOLUTE -1",
                "FETCH RELATIVE 0",
                "FETCH PRIOR",
            ];
            let how = WAYS[self.below(if scroll { WAYS.len() } else { 3 })];
            steps.push(format!("{how} FROM cu"));
        }
        steps.push("FETCH ALL FROM cu".to_owned());
        let mut statement = Statement::many(steps);
        statement.steps.iter_mut().for_each(|s| s.ordered = true);
        statement.opened = true;
        statement
    }

    /// Settings that lead to other plans, and settings with little memory.
    fn settings(&mut self) -> Vec<String> {
        const SWITCHES: [&str; 12] = [
            "enable_hashjoin",
            "enable_mergejoin",
            "enable_nestloop",
            "enable_hashagg",
            "enable_sort",
            "enable_material",
            "enable_memoize",
            "enable_indexscan",
            "enable_indexonlyscan",
            "enable_bitmapscan",
            "enable_seqscan",
            "enable_incremental_sort",
        ];
        let mut out: Vec<String> =
            (0..1 + self.below(4)).map(|_| format!("{} = off", self.one(&SWITCHES))).collect();
        // A single join method.
        if self.chance(50) {
            let (a, b) = match self.below(3) {
                0 => ("enable_hashjoin", "enable_mergejoin"),
                1 => ("enable_nestloop", "enable_mergejoin"),
                _ => ("enable_nestloop", "enable_hashjoin"),
            };
            out.extend([a, b].map(|s| format!("{s} = off")));
        }
        if self.chance(40) {
            out.push("work_mem = '64kB'".to_owned());
        }
        if self.chance(10) {
            out.push("hash_mem_multiplier = 1".to_owned());
        }
        if self.chance(15) {
            out.push(self.one(&["join_collapse_limit = 1", "from_collapse_limit = 1"]).to_owned());
        }
        if self.chance(40) {
            out.push("enable_partitionwise_join = on".to_owned());
        }
        if self.chance(30) {
            out.push("enable_partitionwise_aggregate = on".to_owned());
        }
        if self.chance(20) {
            out.push("plan_cache_mode = force_generic_plan".to_owned());
        }
        out
    }
}

/// The columns of a sub-select under its alias.
pub(super) fn renamed(table: &str, columns: &Columns) -> Columns {
    columns.iter().map(|(c, ty)| (format!("{table}.{c}"), *ty)).collect()
}

/// Inner and outer columns.
pub(super) fn both(own: &Columns, outer: &Columns) -> Columns {
    own.iter().chain(outer).cloned().collect()
}
