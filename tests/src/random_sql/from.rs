//! FROM: tables, functions, views, sub-selects, and all types of joins.

use super::generate::{CALL_OF_QUERY, Columns, Generator, SMALL, Ty, Ty::*, both, renamed};

/// Name, number of rows that are visited to read it, and columns.
type Shape = (&'static str, usize, &'static [(&'static str, Ty)]);

/// Tables (the first ones are used more often) and views, with their columns.
const BASES: [Shape; 15] = [
    ("a", 30, &[("id", Int), ("x", Int), ("s", Text), ("n", Num), ("d", Date)]),
    ("a", 30, &[("id", Int), ("x", Int), ("s", Text), ("n", Num), ("d", Date)]),
    ("b", 40, &[("id", Int), ("aid", Int), ("f", Float), ("s", Text), ("ts", Ts), ("arr", Ints)]),
    ("b", 40, &[("id", Int), ("aid", Int), ("f", Float), ("s", Text), ("ts", Ts), ("arr", Ints)]),
    ("c", 25, &[("k", Int), ("v", Text), ("q", Bool), ("i", Interval), ("x", Int)]),
    ("e", 20, &[("id", Int), ("p", Int), ("doc", Json), ("tags", Texts)]),
    ("e", 20, &[("id", Int), ("p", Int), ("doc", Json), ("tags", Texts)]),
    ("pr", 30, &[("id", Int), ("x", Int), ("s", Text), ("n", Num), ("d", Date)]),
    ("ps", 30, &[("id", Int), ("x", Int), ("s", Text), ("k", Int)]),
    ("ih", 40, &[("id", Int), ("aid", Int), ("f", Float), ("s", Text)]),
    ("w", 220, &[("k", Int), ("w", Text), ("g", Int)]),
    ("va", 30, &[("k", Int), ("kind", Text), ("s", Text), ("n", Int)]),
    ("vj", 90, &[("k", Int), ("kind", Text), ("s", Text), ("n", Int)]),
    ("vg", 40, &[("k", Int), ("kind", Text), ("s", Text), ("n", Int)]),
    ("vu", 800, &[("k", Int), ("kind", Text), ("s", Text), ("n", Int)]),
];

/// Number of tables at the start of [`BASES`].
const TABLES: usize = 11;

/// Number of small tables at the start of [`BASES`].
const SMALL_TABLES: usize = TABLES - 1;

impl Generator {
    /// The outer columns that a sub-select may use: all, those of one table, which may be several
    /// levels above, or none.
    pub(super) fn around(&mut self, scope: &Columns) -> Columns {
        match self.below(10) {
            0 => Vec::new(),
            1..=4 if !scope.is_empty() => {
                let at = self.below(scope.len());
                let table = |name: &str| name.split('.').next().map(str::to_owned);
                let one = table(&scope[at].0);
                scope.iter().filter(|c| table(&c.0) == one).cloned().collect()
            }
            _ => scope.clone(),
        }
    }

    /// A depth that sometimes allows sub-selects.
    pub(super) fn deeper(&mut self) -> usize {
        if self.chance(20) { 2 } else { 1 }
    }

    /// A table or sub-select with an alias, and its columns; `left` is the number of rows of the
    /// left side of the join.
    fn table(&mut self, outer: &Columns, depth: usize, left: f64) -> (String, Columns) {
        let small = self.for_rows(left, |g| g.affords(SMALL));
        if !outer.is_empty() && small && self.chance(20) {
            return self.restricted(outer);
        }
        if !outer.is_empty() && self.chance(15) {
            return self.rows_of_outer(outer);
        }
        if !outer.is_empty() && small && self.chance(10) {
            return self.in_one_place(outer);
        }
        if !outer.is_empty() && small && self.chance(16) {
            return self.remembered(outer, left);
        }
        let t = self.name("t");
        let kind = self.below(if depth > 0 { 21 } else { 16 });
        let affords = match kind {
            0..14 => self.for_rows(left, |g| g.affords(BASES[kind].1 as f64)),
            _ => small,
        };
        match if affords { kind } else { 14 + kind % 2 } {
            14 => {
                self.rows = 2.0;
                let rows = self
                    .one(&["(1, 'one', true), (5, 'y', NULL)", "(2, NULL, NULL), (3, 'x', false)"]);
                let text = format!("(VALUES {rows}) AS {t}(k, v, q)");
                (text, renamed(&t, &columns_of(&[("k", Int), ("v", Text), ("q", Bool)])))
            }
            15 => {
                self.rows = 3.0;
                let text = format!("generate_series(1, {}) AS {t}(g)", 1 + self.below(5));
                (text, vec![(format!("{t}.g"), Int)])
            }
            at @ 0..14 => {
                let (name, rows, columns) = BASES[at];
                self.rows = rows as f64;
                (format!("{name} AS {t}"), renamed(&t, &columns_of(columns)))
            }
            _ => {
                // In most cases a WITH query is referenced once.
                let (inner, columns) = self.for_rows(left.sqrt(), |g| match g.below(4) {
                    0 => g.set_operation(outer, depth - 1),
                    _ => g.select(outer, depth - 1),
                });
                (format!("({inner}) AS {t}"), renamed(&t, &columns))
            }
        }
    }

    /// A table without a sub-select.
    pub(super) fn base(&mut self) -> (String, Columns) {
        let t = self.name("t");
        let (name, columns) = self.base_table();
        (format!("{name} AS {t}"), renamed(&t, &columns_of(columns)))
    }

    /// One of the tables; a small one if the budget requires it.
    fn base_table(&mut self) -> (&'static str, &'static [(&'static str, Ty)]) {
        let at = self.below(TABLES);
        let at = if self.affords(BASES[at].1 as f64) { at } else { at % SMALL_TABLES };
        let (name, rows, columns) = BASES[at];
        self.rows = rows as f64;
        (name, columns)
    }

    /// Rows of a table restricted by outer columns, materialized or not.
    pub(super) fn restricted(&mut self, outer: &Columns) -> (String, Columns) {
        let (t, i) = (self.name("t"), self.name("i"));
        let (name, columns) = self.base_table();
        let rows = self.rows;
        let own = renamed(&i, &columns_of(columns));
        let (all, outer) = (outer.clone(), self.around(outer));
        let ints: Vec<&String> = own.iter().filter(|c| c.1 == Int).map(|c| &c.0).collect();
        let key = ints[self.below(ints.len())].clone();
        let op = self.one(&["=", "=", "<", ">", "<>", "IS DISTINCT FROM"]);
        let value = self.expr(Int, &outer, 1);
        // The rows depend on outer columns of two levels, one of which may change less often than
        // the other.
        let also = match self.chance(40) {
            true => {
                let key = ints[self.below(ints.len())].clone();
                let op = self.one(&["=", "<", ">=", "<>"]);
                let far = self.around(&all);
                format!(" AND {key} {op} {}", self.expr(Int, &far, 0))
            }
            false => String::new(),
        };
        let apart = self.one(&["", "", " OFFSET 0", " OFFSET 1 - 1"]);
        let mut columns = columns_of(columns);
        let more = match self.chance(30) {
            true => {
                let ty = self.type_among(4);
                columns.push(("m".to_owned(), ty));
                format!(", {} AS m", self.expr(ty, &both(&own, &outer), 1))
            }
            false => String::new(),
        };
        let shown: Vec<String> = own.iter().map(|c| c.0.clone()).collect();
        let text = format!(
            "(SELECT {}{more} FROM {name} AS {i} WHERE {key} {op} {value}{also}{apart}) AS {t}",
            shown.join(", ")
        );
        self.rows = rows / 2.0;
        (text, renamed(&t, &columns))
    }

    /// Rows computed from outer columns, by VALUES or a function.
    fn rows_of_outer(&mut self, outer: &Columns) -> (String, Columns) {
        let t = self.name("t");
        if self.chance(50) {
            return self.function_item(outer, &t, 1);
        }
        let (near, far) = (self.around(outer), self.around(outer));
        let count = 1 + self.below(3);
        let rows: Vec<String> = (0..count)
            .map(|_| {
                let depth = self.below(2);
                format!("({}, {})", self.expr(Int, &near, depth), self.expr(Text, &far, 1))
            })
            .collect();
        self.rows = count as f64;
        let columns = columns_of(&[("p", Int), ("q", Text)]);
        (format!("(VALUES {}) AS {t}(p, q)", rows.join(", ")), renamed(&t, &columns))
    }

    /// A query that uses outer columns at one position only.
    fn in_one_place(&mut self, outer: &Columns) -> (String, Columns) {
        let (t, i) = (self.name("t"), self.name("i"));
        let (table, rows, _) = BASES[[0, 2, 5][self.below(3)]];
        let near = self.around(outer);
        let place = format!("abs(COALESCE({}, 1)) % 4", self.expr(Int, &near, 0));
        let (sum, by) = (format!("sum({i}.id)"), format!("ORDER BY {i}.id"));
        let from = format!("FROM {table} AS {i}");
        let window = |frame: String| {
            format!("SELECT {i}.id AS m, ({sum} OVER ({by} {frame}))::int AS n {from}")
        };
        let query = match self.below(9) {
            0 => window(format!("ROWS {place} PRECEDING")),
            1 => window(format!("ROWS BETWEEN CURRENT ROW AND {place} FOLLOWING")),
            2 => window(format!("GROUPS BETWEEN {place} FOLLOWING AND 3 FOLLOWING")),
            3 => format!("SELECT {i}.id AS m, lag({i}.id, {place}) OVER ({by}) AS n {from}"),
            4 => format!("SELECT {i}.id AS m, {i}.id % 3 AS n {from} {by} LIMIT {place}"),
            5 => format!("SELECT {i}.id AS m, {i}.id % 3 AS n {from} {by} OFFSET {place}"),
            6 => {
                let having = format!("HAVING count(*) > 4 + {place}");
                format!("SELECT {i}.id % 5 AS m, count(*)::int AS n {from} GROUP BY 1 {having}")
            }
            7 => format!("SELECT {i}.id AS m, {i}.id + {place} AS n {from} OFFSET 0"),
            _ => format!("SELECT DISTINCT {i}.id % ({place} + 1) AS m, 1 AS n {from}"),
        };
        self.rows = rows as f64;
        (format!("({query}) AS {t}"), renamed(&t, &columns_of(&[("m", Int), ("n", Int)])))
    }

    /// A join of such a query and a table, one side of which may be kept for the next rescan.
    pub(super) fn joined_in_one_place(&mut self, outer: &Columns) -> (String, Columns) {
        let (query, mut own) = self.in_one_place(outer);
        let (table, columns) = self.base();
        let (m, key) = (own[self.below(own.len())].0.clone(), self.own_column(&columns));
        let op = self.one(&["=", "=", "=", "<"]);
        let on = format!("{m} {op} {}", key.unwrap_or_else(|| "3".to_owned()));
        own.extend(columns);
        let text = match self.chance(50) {
            true => format!("{query} JOIN {table} ON {on}"),
            false => format!("{table} JOIN {query} ON {on}"),
        };
        (text, own)
    }

    /// A table joined with a query for each value of one of its columns, which has few distinct
    /// values: the planner may use Memoize for the query, whose other parameters may change.
    fn remembered(&mut self, outer: &Columns, left: f64) -> (String, Columns) {
        const FEW: [(usize, &str); 5] = [(0, "x"), (4, "x"), (4, "k"), (5, "p"), (2, "aid")];
        let (at, few) = FEW[self.below(FEW.len())];
        let (t, r) = (self.name("t"), self.name("r"));
        let (name, rows, columns) = BASES[at];
        let mut own = renamed(&t, &columns_of(columns));
        let key = vec![(format!("{t}.{few}"), Int)];
        let near = self.around(outer);
        let inner = self.for_rows(left * rows as f64, |g| match g.below(4) {
            0 => {
                let (from, scope) = g.from(&both(&key, &near), 0);
                let test = g.compared(&scope, &near);
                let (e, s) = (g.largest_int(&scope), g.plain(Text, &scope, 1));
                let by = g.own_column(&scope).unwrap_or_else(|| "1".to_owned());
                format!(
                    "SELECT {e} AS m, max({s}) AS n FROM {from} WHERE {by} >= {} AND {test}",
                    key[0].0
                )
            }
            1 => {
                let (from, scope) = g.restricted(&both(&key, &near));
                let (e, s) = (g.largest_int(&scope), g.plain(Text, &scope, 1));
                let test = g.expr(Bool, &both(&key, &near), 1);
                format!("SELECT {e} AS m, max({s}) AS n FROM {from} WHERE {test}")
            }
            _ => {
                let (from, scope) = g.base();
                let of = g.own_column(&scope).unwrap_or_else(|| "1".to_owned());
                let (e, s) = (g.expr(Int, &both(&scope, &near), 1), g.expr(Text, &scope, 1));
                let test = g.compared(&scope, &near);
                let op = g.one(&["=", "<=", "<>"]);
                format!(
                    "SELECT {e} AS m, {s} AS n FROM {from} WHERE {of} {op} {} AND {test} OFFSET 0",
                    key[0].0
                )
            }
        });
        let join = self.one(&["CROSS JOIN", "LEFT JOIN"]);
        let on = if join == "LEFT JOIN" { " ON true" } else { "" };
        own.extend(renamed(&r, &columns_of(&[("m", Int), ("n", Text)])));
        self.rows = rows as f64 * 2.0;
        (format!("({name} AS {t} {join} LATERAL ({inner}) AS {r}{on})"), own)
    }

    /// A comparison with outer columns, usually of integers.
    fn compared(&mut self, own: &Columns, outer: &Columns) -> String {
        match (self.own_column(own), self.own_column(outer)) {
            (Some(a), Some(b)) if self.chance(70) => {
                format!("{a} {} {b}", self.one(&["<", "<=", ">", "<>"]))
            }
            _ => self.expr(Bool, &both(own, outer), 1),
        }
    }

    fn own_column(&mut self, own: &Columns) -> Option<String> {
        let ints: Vec<&String> = own.iter().filter(|c| c.1 == Int).map(|c| &c.0).collect();
        (!ints.is_empty()).then(|| ints[self.below(ints.len())].clone())
    }

    /// An integer aggregate.
    fn largest_int(&mut self, own: &Columns) -> String {
        match (self.own_column(own), self.below(3)) {
            (Some(column), 0) => format!("max({column})"),
            (Some(column), 1) => format!("sum({column})::int"),
            _ => "count(*)::int".to_owned(),
        }
    }

    /// A FROM clause and its columns. The subsequently generated parts are executed for each of its
    /// rows.
    pub(super) fn from(&mut self, outer: &Columns, depth: usize) -> (String, Columns) {
        let joins = if depth == 0 { self.below(2) } else { self.below(3) };
        let out = self.joined(outer, depth, joins, (false, 1.0));
        self.over_rows(self.rows);
        out
    }

    fn joined(
        &mut self,
        outer: &Columns,
        depth: usize,
        joins: usize,
        (nested, left): (bool, f64),
    ) -> (String, Columns) {
        let (mut text, mut scope) = self.table(outer, depth, left);
        let mut rows = self.rows;
        for _ in 0..joins {
            if self.chance(25) {
                let around = both(&scope, outer);
                let (item, columns) = self.for_rows(left * rows, |g| g.lateral(&around, depth));
                rows *= self.rows.max(1.0);
                let ways = [" CROSS JOIN", " JOIN", " LEFT JOIN", ","];
                // Within parentheses there are joins only.
                let join = self.one(&ways[..ways.len() - usize::from(nested)]);
                let on = match (join, self.chance(50)) {
                    (" CROSS JOIN" | ",", _) => String::new(),
                    (_, true) => " ON true".to_owned(),
                    _ => {
                        let depth = self.deeper();
                        let all = both(&both(&columns, &scope), outer);
                        let on = self.for_rows(left * rows, |g| g.expr(Bool, &all, depth));
                        format!(" ON {on}")
                    }
                };
                text.push_str(&format!("{join} {item}{on}"));
                scope.extend(columns);
                if join == "," {
                    break;
                }
                continue;
            }
            let (right, columns) = match depth > 0 && self.chance(15) {
                true => {
                    // Parentheses around a single item are a syntax error.
                    let joins = 1 + self.below(2);
                    let context = (true, left * rows);
                    let (inner, columns) = self.joined(outer, depth - 1, joins, context);
                    (format!("({inner})"), columns)
                }
                false => self.table(outer, depth.saturating_sub(1), left * rows),
            };
            let both_rows = (rows, self.rows.max(1.0));
            let (join, more) = self
                .for_rows(left, |g| g.join((&scope, &columns, outer), both_rows, &right, depth));
            rows = self.rows;
            text.push_str(&join);
            scope.extend(columns);
            scope.extend(more);
        }
        self.rows = rows;
        (text, scope)
    }

    /// A join with `item`, and the columns of the join itself.
    fn join(
        &mut self,
        (left, right, outer): (&Columns, &Columns, &Columns),
        rows: (f64, f64),
        item: &str,
        depth: usize,
    ) -> (String, Columns) {
        let ints = |c: &Columns| -> Vec<String> {
            c.iter().filter(|c| c.1 == Int).map(|c| c.0.clone()).collect()
        };
        let (l, r) = (ints(left), ints(right));
        let all = ["JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL JOIN", "CROSS JOIN"];
        // True if a cross join is within the budget.
        let each = self.affords(rows.0 * rows.1);
        let join = self.one(&all[..all.len() - usize::from(!each)]);
        self.rows = rows.0 * rows.1;
        if l.is_empty() || r.is_empty() || join == "CROSS JOIN" {
            return (format!(" CROSS JOIN {item}"), Vec::new());
        }
        let column = |c: &String| c.split_once('.').map(|(_, c)| c.to_owned());
        let shared = l.iter().filter_map(column).find(|c| {
            let count =
                |all: &Columns| all.iter().filter(|x| column(&x.0).as_ref() == Some(c)).count();
            count(left) == 1 && count(right) == 1
        });
        if let Some(name) = shared
            && self.chance(15)
        {
            let j = self.name("j");
            let text = format!(" {join} {item} USING ({name}) AS {j}");
            self.rows = rows.0.max(rows.1) * 1.5;
            return (text, vec![(format!("{j}.{name}"), Int)]);
        }
        let (mut l, mut r) = (l[self.below(l.len())].clone(), r[self.below(r.len())].clone());
        // An outer column in the join key of one side.
        if !outer.is_empty() && self.chance(40) {
            let outer = self.around(outer);
            // PostgreSQL refuses a FULL JOIN with a volatile key.
            let more = self.expr(Int, &outer, usize::from(join != "FULL JOIN"));
            match self.chance(50) {
                true => l = format!("{l} + {more}"),
                false => r = format!("{r} + {more}"),
            }
        }
        if self.chance(10) {
            l = format!("({l})::{}", self.one(&["bigint", "float8", "numeric"]));
        }
        let op = match join {
            "FULL JOIN" => "=",
            _ if !each => "=",
            _ => self.one(&["=", "=", "=", "=", "<", "<>"]),
        };
        let joined = match op {
            "=" => rows.0.max(rows.1) * 1.5,
            _ => rows.0 * rows.1,
        };
        let more = match self.chance(if join == "FULL JOIN" { 8 } else { 35 }) {
            true => {
                let scope = both(&both(left, right), outer);
                // A depth that allows a sub-select, also at deep levels.
                let depth = if self.chance(40) { 2 } else { depth.min(2) };
                let more = self.for_rows(joined, |g| g.expr(Bool, &scope, depth));
                format!(" AND {more}")
            }
            false => String::new(),
        };
        self.rows = joined;
        (format!(" {join} {item} ON {l} {op} {r}{more}"), Vec::new())
    }

    /// A LATERAL item that uses the preceding columns and the outer ones.
    fn lateral(&mut self, around: &Columns, depth: usize) -> (String, Columns) {
        let l = self.name("l");
        let d = self.deeper();
        let kind = self.below(10);
        match if self.affords(SMALL) { kind } else { kind % 3 } {
            0 | 1 => self.function_item(around, &l, d),
            8 | 9 => {
                let (text, columns) = self.restricted(around);
                (format!("LATERAL {text}"), columns)
            }
            2 => {
                let (a, b) = (self.expr(Int, around, d), self.expr(Text, around, 1));
                let (c, d) = (self.expr(Int, around, 1), self.expr(Text, around, d));
                let columns = columns_of(&[("p", Int), ("q", Text)]);
                self.rows = 2.0;
                let values = format!("LATERAL (VALUES ({a}, {b}), ({c}, {d})) AS {l}(p, q)");
                (values, renamed(&l, &columns))
            }
            _ => {
                let around = self.around(around);
                let depth = depth.saturating_sub(1);
                let (inner, columns) = self.within(|g| match g.below(6) {
                    0 => g.set_operation(&around, depth.min(1)),
                    1 => {
                        let columns = columns_of(&[("n", Int), ("v", Int), ("c", Bool)]);
                        (g.recursive(&around), columns)
                    }
                    2 => {
                        let p = g.name("p");
                        let single = g.single(Int, &around);
                        (format!("SELECT u.{p} FROM ({single}) AS u({p})"), vec![(p, Int)])
                    }
                    3 => g.half_read(&around),
                    _ => g.select(&around, depth),
                });
                (format!("LATERAL ({inner}) AS {l}"), renamed(&l, &columns))
            }
        }
    }

    /// A function in FROM whose arguments are outer columns. Rows of volatile functions are kept as
    /// long as the outer columns do not change.
    fn function_item(&mut self, around: &Columns, l: &str, d: usize) -> (String, Columns) {
        let around = &self.around(around);
        let n = self.expr(Int, around, d);
        let volatile = self.one(&["", " + (random() * 0)::int"]);
        let kind = self.below(10);
        // The rows of a query have no order.
        let ordinal = match self.chance(25) && !matches!(kind, 4 | 5) {
            true => " WITH ORDINALITY",
            false => "",
        };
        let mut columns: Columns;
        let call = match kind {
            0 | 1 => {
                columns = columns_of(&[("g", Int)]);
                format!("generate_series(1, abs({n}) % 5{volatile})")
            }
            2 => {
                columns = columns_of(&[("g", Int)]);
                format!("unnest({})", self.expr(Ints, around, d))
            }
            3 => {
                columns = columns_of(&[("g", Int), ("h", Text)]);
                format!("unnest({}, {})", self.expr(Ints, around, d), self.expr(Texts, around, 1))
            }
            4 | 5 => {
                columns = columns_of(&[("g", Int), ("h", Text)]);
                let calls = self.calls > 0 && self.affords(CALL_OF_QUERY);
                match self.chance(50) && calls || self.changes {
                    true => {
                        self.calls = self.calls.saturating_sub(1);
                        format!("rows_of({n})")
                    }
                    false => format!("made_rows({n}, {})", self.expr(Text, around, 1)),
                }
            }
            6 => {
                columns = columns_of(&[("g", Int), ("h", Int)]);
                let m = self.expr(Int, around, 1);
                format!("ROWS FROM (numbers_of({n}{volatile}), generate_series(1, abs({m}) % 3))")
            }
            7 => {
                columns = columns_of(&[("g", Text), ("h", Text)]);
                format!("jsonb_each_text(jsonb_build_object('n', {n}, 's', {n} + 1))")
            }
            8 => {
                columns = columns_of(&[("g", Ts)]);
                let from = self.expr(Ts, around, 1);
                format!("generate_series({from}, {from} + interval '9 hours', '4 hours')")
            }
            _ => {
                columns = columns_of(&[("g", Text)]);
                format!("string_to_table({}, 'e')", self.expr(Text, around, d))
            }
        };
        self.rows = 3.0;
        if !ordinal.is_empty() {
            columns.push(("o".to_owned(), Int));
        }
        let names: Vec<&str> = columns.iter().map(|c| c.0.as_str()).collect();
        let lateral = self.one(&["", "LATERAL "]);
        (format!("{lateral}{call}{ordinal} AS {l}({})", names.join(", ")), renamed(l, &columns))
    }

    /// A query whose rows are in the order of a window or of an index, and which ends before all of
    /// them are read. The next rescan must not return the remaining rows.
    pub(super) fn half_read(&mut self, outer: &Columns) -> (String, Columns) {
        let (t, w) = (self.name("t"), self.name("w"));
        let (table, _, columns) = BASES[[0, 2, 5][self.below(3)]];
        let own = renamed(&t, &columns_of(columns));
        let scope = both(&own, outer);
        self.over_rows(SMALL);
        let (e, ty) = (self.type_among(KEYS_OF_ROWS), Int);
        let value = self.expr(e, &scope, 1);
        let condition = self.filter(&own, outer, 1);
        let int = self.expr(Int, &scope, 1);
        let by = format!("{t}.id{}", self.one(&["", " DESC"]));
        let window = match self.below(5) {
            0 => format!("row_number() OVER (ORDER BY {by})"),
            1 => format!("sum({int}) OVER (ORDER BY {by})"),
            2 => format!("count({int}) OVER (PARTITION BY {t}.id % 3 ORDER BY {by})"),
            3 => format!("lag({int}) OVER (ORDER BY {by})"),
            _ => format!("count(*) OVER (ORDER BY {by} ROWS 1 PRECEDING)"),
        };
        let window = format!("({window})::int");
        let limit = match self.chance(50) && !outer.is_empty() {
            true => format!("abs({}) % 4", self.expr(Int, outer, 0)),
            false => self.below(5).to_string(),
        };
        let text = format!(
            "SELECT {value} AS v, {window} AS {w} FROM {table} AS {t}{condition} \
             ORDER BY {by} LIMIT {limit}"
        );
        self.rows = 4.0;
        (text, vec![("v".to_owned(), e), (w, ty)])
    }

    /// A query of one column with a total order and a LIMIT.
    pub(super) fn single(&mut self, ty: Ty, outer: &Columns) -> String {
        let (from, own) = self.from(outer, 0);
        let scope = both(&own, outer);
        let depth = self.deeper();
        let (e, condition) = (self.plain(ty, &scope, 1), self.filter(&own, outer, depth));
        let order = self.direction();
        let tail = match self.below(5) {
            0 | 1 if !outer.is_empty() => {
                format!("LIMIT abs({}) % 3 + 1", self.expr(Int, outer, 0))
            }
            2 if self.sublinks > 0 => {
                self.sublinks -= 1;
                let from = self.within(|g| g.from(outer, 0).0);
                let count = self.expr(Int, outer, 0);
                format!("LIMIT (SELECT count(*) % 3 + abs(COALESCE({count}, 1)) % 2 FROM {from})")
            }
            _ => format!("LIMIT {} OFFSET {}", 1 + self.below(3), self.below(3)),
        };
        self.rows = 2.0;
        format!("SELECT {e} FROM {from}{condition} ORDER BY 1{order} {tail}")
    }
}

/// Number of types used by [`Generator::half_read`].
const KEYS_OF_ROWS: usize = 5;

fn columns_of(columns: &[(&str, Ty)]) -> Columns {
    columns.iter().map(|(c, ty)| ((*c).to_owned(), *ty)).collect()
}
