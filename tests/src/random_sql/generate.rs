//! The generator. Types are few, so that most of what comes out is valid; columns that may be NULL are everywhere.

/// A statement, and what is known of it.
pub struct Statement {
    pub sql: String,
    /// The rows' order is decided.
    pub ordered: bool,
    /// It opened a transaction and changed rows.
    pub changes: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Ty {
    Int,
    Num,
    Float,
    Text,
    Bool,
    Date,
    Interval,
    Ints,
}

use Ty::*;

const ALL: [Ty; 8] = [Int, Num, Float, Text, Bool, Date, Interval, Ints];

type Columns = Vec<(String, Ty)>;

pub struct Generator {
    state: u64,
    names: u32,
}

impl Generator {
    pub fn new(seed: u64) -> Generator {
        Generator { state: seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ 0x1234_5678, names: 0 }
    }

    /// splitmix64.
    fn next(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.state;
        z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ z >> 31
    }

    fn below(&mut self, n: usize) -> usize {
        (self.next() % n as u64) as usize
    }

    fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }

    fn one<'a>(&mut self, of: &[&'a str]) -> &'a str {
        of[self.below(of.len())]
    }

    fn name(&mut self, letter: &str) -> String {
        self.names += 1;
        format!("{letter}{}", self.names)
    }

    pub fn statement(&mut self) -> Statement {
        match self.below(10) {
            0 => self.change(),
            1 => {
                let sql = self.recursive();
                Statement { sql, ordered: false, changes: false }
            }
            2 => {
                let sql = self.set_operation(2);
                Statement { sql, ordered: false, changes: false }
            }
            3 => {
                let (inner, columns) = self.select(&Vec::new(), 2);
                let w = self.name("w");
                let how = self.one(&["", "MATERIALIZED ", "NOT MATERIALIZED "]);
                let scope = renamed(&w, &columns);
                let condition = self.expr(Bool, &scope, 2);
                let sql = format!(
                    "WITH {w} AS {how}({inner}) SELECT {w}.*, count(*) OVER () AS all_of FROM {w} WHERE {condition}"
                );
                Statement { sql, ordered: false, changes: false }
            }
            4 => self.ordered(),
            _ => {
                let (sql, _) = self.select(&Vec::new(), 3);
                Statement { sql, ordered: false, changes: false }
            }
        }
    }

    /// A query whose order is decided, so that LIMIT, OFFSET and DISTINCT ON have one answer.
    fn ordered(&mut self) -> Statement {
        let (from, scope) = self.from(&Vec::new(), 2);
        let count = 1 + self.below(3);
        let list: Vec<String> = (0..count)
            .map(|_| {
                let ty = ALL[self.below(6)];
                self.plain(ty, &scope, 2)
            })
            .collect();
        let keys: Vec<String> = (1..=count)
            .map(|i| format!("{i}{}", self.one(&["", " DESC", " NULLS FIRST", " DESC NULLS LAST"])))
            .collect();
        let condition = self.expr(Bool, &scope, 2);
        let distinct = match self.below(4) {
            0 => "DISTINCT ".to_owned(),
            1 => format!("DISTINCT ON ({}) ", list[0]),
            _ => String::new(),
        };
        let tail = match self.below(3) {
            0 => String::new(),
            1 => format!(" LIMIT {}", self.below(8)),
            _ => format!(" OFFSET {} FETCH FIRST {} ROWS ONLY", self.below(4), self.below(9)),
        };
        let sql = format!(
            "SELECT {distinct}{} FROM {from} WHERE {condition} ORDER BY {}{tail}",
            list.join(", "),
            keys.join(", ")
        );
        Statement { sql, ordered: true, changes: false }
    }

    fn recursive(&mut self) -> String {
        let all = self.one(&["ALL ", ""]);
        let step = self.one(&["n + 1", "n + 2", "n * 2"]);
        let start = self.one(&["SELECT 1, 0", "SELECT id, x FROM a", "VALUES (1, 2), (3, NULL)"]);
        let join = self.one(&["", " JOIN a ON a.id = r.n", " LEFT JOIN c ON c.k = r.n"]);
        let columns = vec![("n".to_owned(), Int), ("v".to_owned(), Int)];
        let condition = self.expr(Bool, &columns, 1);
        format!(
            "WITH RECURSIVE r(n, v) AS ({start} UNION {all}SELECT {step}, v + 1 FROM r{join} WHERE n < 9) SELECT n, v, \
             {condition} AS c FROM r"
        )
    }

    fn set_operation(&mut self, depth: usize) -> String {
        let types: Vec<Ty> = (0..1 + self.below(2)).map(|_| ALL[self.below(6)]).collect();
        let arms: Vec<String> = (0..2 + self.below(2))
            .map(|_| {
                let (from, scope) = self.from(&Vec::new(), 1);
                let list: Vec<String> =
                    types.iter().map(|t| self.plain(*t, &scope, depth)).collect();
                format!("(SELECT {} FROM {from})", list.join(", "))
            })
            .collect();
        let mut out = arms[0].clone();
        for arm in &arms[1..] {
            let op = self.one(&[
                "UNION",
                "UNION ALL",
                "INTERSECT",
                "INTERSECT ALL",
                "EXCEPT",
                "EXCEPT ALL",
            ]);
            out.push_str(&format!(" {op} {arm}"));
        }
        out
    }

    /// A query and its columns; `outer` are columns from around.
    fn select(&mut self, outer: &Columns, depth: usize) -> (String, Columns) {
        let (from, own) = self.from(outer, depth);
        let mut scope = own.clone();
        scope.extend(outer.iter().cloned());
        let condition = match self.chance(70) {
            true => format!(" WHERE {}", self.expr(Bool, &scope, depth)),
            false => String::new(),
        };
        let mut columns = Vec::new();
        if self.chance(35) {
            return self.grouped(&from, &own, &condition, depth);
        }
        let windows = self.chance(20);
        let distinct = self.one(&["", "", "", "DISTINCT "]);
        let list: Vec<String> = (0..1 + self.below(3))
            .map(|_| {
                let (ty, text) = match windows && self.chance(60) {
                    true => (Int, self.window(&own)),
                    false => {
                        let ty = ALL[self.below(ALL.len())];
                        match distinct {
                            "" => (ty, self.expr(ty, &scope, depth)),
                            _ => (ty, self.plain(ty, &scope, depth)),
                        }
                    }
                };
                let name = self.name("o");
                columns.push((name.clone(), ty));
                format!("{text} AS {name}")
            })
            .collect();
        (format!("SELECT {distinct}{} FROM {from}{condition}", list.join(", ")), columns)
    }

    fn window(&mut self, own: &Columns) -> String {
        let (arg, by, order) =
            (self.expr(Int, own, 1), self.expr(Int, own, 0), self.expr(Int, own, 0));
        let f = match self.below(6) {
            0 => "rank()".to_owned(),
            1 => "dense_rank()".to_owned(),
            2 => "count(*)".to_owned(),
            3 => format!("max({arg})"),
            4 => format!("count({arg}) FILTER (WHERE {})", self.expr(Bool, own, 0)),
            _ => "ntile(1)".to_owned(),
        };
        let frame = self.one(&[
            "",
            "",
            " RANGE BETWEEN 1 PRECEDING AND CURRENT ROW",
            " GROUPS BETWEEN 1 PRECEDING AND 1 FOLLOWING",
            " RANGE BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING EXCLUDE GROUP",
        ]);
        let part = self.one(&["PARTITION BY ", ""]);
        let part = if part.is_empty() { String::new() } else { format!("{part}{by} ") };
        format!("{f} OVER ({part}ORDER BY {order}{frame})")
    }

    fn grouped(
        &mut self,
        from: &str,
        own: &Columns,
        condition: &str,
        depth: usize,
    ) -> (String, Columns) {
        let keys: Vec<(String, Ty)> = (0..self.below(3))
            .map(|_| {
                let ty = ALL[self.below(6)];
                (self.plain(ty, own, 1), ty)
            })
            // A constant would be taken for a column's number.
            .filter(|(text, _)| text.contains('.'))
            .collect();
        let mut columns = Vec::new();
        let mut list = Vec::new();
        for (text, ty) in &keys {
            let name = self.name("o");
            list.push(format!("{text} AS {name}"));
            columns.push((name, *ty));
        }
        for _ in 0..1 + self.below(2) {
            let (ty, text) = self.aggregate(own, depth.min(1));
            let name = self.name("o");
            list.push(format!("{text} AS {name}"));
            columns.push((name, ty));
        }
        let group = keys.iter().map(|k| k.0.clone()).collect::<Vec<_>>().join(", ");
        let form = self.below(4);
        let group = match (keys.len(), form) {
            (0, _) => String::new(),
            (_, 0) => format!(" GROUP BY ROLLUP ({group})"),
            (2, 1) => format!(" GROUP BY CUBE ({group})"),
            (2, 2) => format!(" GROUP BY GROUPING SETS (({group}), ({}), ())", keys[0].0),
            _ => format!(" GROUP BY {group}"),
        };
        let having = match self.chance(30) {
            true => format!(" HAVING count(*) {} {}", self.one(&["<", ">", "<>"]), self.below(5)),
            false => String::new(),
        };
        (format!("SELECT {} FROM {from}{condition}{group}{having}", list.join(", ")), columns)
    }

    fn aggregate(&mut self, own: &Columns, depth: usize) -> (Ty, String) {
        let filter = match self.chance(20) {
            true => format!(" FILTER (WHERE {})", self.expr(Bool, own, 1)),
            false => String::new(),
        };
        let distinct = self.one(&["", "", "DISTINCT "]);
        let (ty, text) = match self.below(8) {
            0 => (Int, "count(*)".to_owned()),
            1 => {
                let ty = ALL[self.below(ALL.len())];
                (Int, format!("count({distinct}{})", self.expr(ty, own, depth)))
            }
            2 => (Num, format!("sum({distinct}{})", self.plain(Num, own, depth))),
            3 => (Num, format!("avg({distinct}{})", self.expr(Int, own, depth))),
            4 => {
                let ty = [Int, Num, Text, Date, Interval, Float][self.below(6)];
                let f = self.one(&["min", "max"]);
                (ty, format!("{f}({})", self.plain(ty, own, depth)))
            }
            5 => {
                let e = self.expr(Text, own, depth);
                (Text, format!("string_agg({e}, '-' ORDER BY {e})"))
            }
            6 => {
                let e = self.expr(Int, own, depth);
                (Ints, format!("array_agg({e} ORDER BY {e} DESC)"))
            }
            _ => {
                let f = self.one(&["bool_and", "bool_or"]);
                (Bool, format!("{f}({})", self.expr(Bool, own, depth)))
            }
        };
        (ty, text + &filter)
    }

    /// A table or sub-select under a name, and its columns.
    fn table(&mut self, depth: usize) -> (String, Columns) {
        let t = self.name("t");
        let columns: &[(&str, Ty)] = match self.below(if depth > 0 { 6 } else { 4 }) {
            0 => &[("id", Int), ("x", Int), ("s", Text), ("n", Num), ("d", Date)],
            1 => &[("id", Int), ("aid", Int), ("f", Float), ("s", Text), ("arr", Ints)],
            2 => &[("k", Int), ("v", Text), ("q", Bool), ("i", Interval)],
            3 => {
                let rows = self.one(&["(1, 'one', true)", "(2, NULL, NULL), (3, 'x', false)"]);
                let text = format!("(VALUES {rows}) AS {t}(k, v, q)");
                return (
                    text,
                    vec![
                        (format!("{t}.k"), Int),
                        (format!("{t}.v"), Text),
                        (format!("{t}.q"), Bool),
                    ],
                );
            }
            4 => {
                let text = format!("generate_series(1, {}) AS {t}(g)", 1 + self.below(5));
                return (text, vec![(format!("{t}.g"), Int)]);
            }
            _ => {
                let (inner, columns) = self.select(&Vec::new(), depth - 1);
                return (format!("({inner}) AS {t}"), renamed(&t, &columns));
            }
        };
        let table = match columns[1].0 {
            "x" => "a",
            "aid" => "b",
            _ => "c",
        };
        let columns = columns.iter().map(|(c, ty)| (format!("{t}.{c}"), *ty)).collect();
        (format!("{table} AS {t}"), columns)
    }

    fn from(&mut self, outer: &Columns, depth: usize) -> (String, Columns) {
        let (mut text, mut scope) = self.table(depth);
        let joins = if depth == 0 { 0 } else { self.below(3) };
        for _ in 0..joins {
            if self.chance(15) {
                let l = self.name("l");
                let mut around = scope.clone();
                around.extend(outer.iter().cloned());
                let (inner, columns) = self.select(&around, depth - 1);
                let join = self.one(&["CROSS JOIN", "LEFT JOIN"]);
                let on = if join == "LEFT JOIN" { " ON true" } else { "" };
                text.push_str(&format!(" {join} LATERAL ({inner}) AS {l}{on}"));
                scope.extend(renamed(&l, &columns));
                continue;
            }
            let (right, columns) = self.table(depth - 1);
            let ints = |c: &Columns| -> Vec<String> {
                c.iter().filter(|c| c.1 == Int).map(|c| c.0.clone()).collect()
            };
            let (l, r) = (ints(&scope), ints(&columns));
            let mut both = scope.clone();
            both.extend(columns.iter().cloned());
            let mut join =
                self.one(&["JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL JOIN", "CROSS JOIN"]);
            if l.is_empty() || r.is_empty() {
                join = "CROSS JOIN";
            }
            if join == "CROSS JOIN" {
                text.push_str(&format!(" CROSS JOIN {right}"));
            } else {
                let (l, r) = (&l[self.below(l.len())], &r[self.below(r.len())]);
                let more = match join != "FULL JOIN" && self.chance(30) {
                    true => format!(" AND {}", self.expr(Bool, &both, 1)),
                    false => String::new(),
                };
                text.push_str(&format!(" {join} {right} ON {l} = {r}{more}"));
            }
            scope = both;
        }
        (text, scope)
    }

    /// An expression of the type over the columns.
    fn expr(&mut self, ty: Ty, scope: &Columns, depth: usize) -> String {
        let fitting: Vec<&String> = scope.iter().filter(|c| c.1 == ty).map(|c| &c.0).collect();
        if depth == 0 || self.chance(25) {
            if !fitting.is_empty() && self.chance(80) {
                return fitting[self.below(fitting.len())].clone();
            }
            return self.constant(ty);
        }
        let d = depth - 1;
        match self.below(10) {
            0 => {
                let (a, b, c) =
                    (self.expr(Bool, scope, d), self.expr(ty, scope, d), self.expr(ty, scope, d));
                return format!("CASE WHEN {a} THEN {b} ELSE {c} END");
            }
            1 => {
                let (a, b) = (self.expr(ty, scope, d), self.expr(ty, scope, d));
                return match self.below(3) {
                    0 => format!("COALESCE({a}, {b})"),
                    1 => format!("NULLIF({a}, {b})"),
                    _ => format!("{}({a}, {b})", self.one(&["GREATEST", "LEAST"])),
                };
            }
            2 if depth >= 2 && matches!(ty, Int | Num | Text | Date) => {
                // One row, whatever is there: an aggregate.
                let (table, own) = self.table(0);
                let mut around = own.clone();
                around.extend(scope.iter().cloned());
                let condition = self.expr(Bool, &around, 1);
                let e = self.expr(ty, &own, 1);
                return format!("(SELECT max({e}) FROM {table} WHERE {condition})");
            }
            _ => {}
        }
        let e = |g: &mut Self, ty: Ty| g.expr(ty, scope, d);
        match ty {
            Int => match self.below(7) {
                0 => format!("({} {} {})", e(self, Int), self.one(&["+", "-"]), e(self, Int)),
                1 => format!("({} % 7)", e(self, Int)),
                2 => format!("length({})", e(self, Text)),
                3 => format!("abs({})", e(self, Int)),
                4 => format!("cardinality({})", e(self, Ints)),
                5 => format!("({})[{}]", e(self, Ints), 1 + self.below(3)),
                _ => format!("EXTRACT(day FROM {})::int", e(self, Date)),
            },
            Num => match self.below(6) {
                0 => format!("({} {} {})", e(self, Num), self.one(&["+", "-", "*"]), e(self, Int)),
                1 => format!("round({}, 1)", e(self, Num)),
                2 => format!("({})::numeric", e(self, Int)),
                3 => format!("({} / 4)", e(self, Num)),
                4 => format!(
                    "{}({})",
                    self.one(&["trunc", "floor", "ceil", "abs", "sign"]),
                    e(self, Num)
                ),
                _ => format!("EXTRACT(epoch FROM {})", e(self, Interval)),
            },
            Float => match self.below(3) {
                0 => format!("({} * 0.5::float8)", e(self, Float)),
                1 => format!("({})::float8", e(self, Int)),
                _ => format!("floor({})", e(self, Float)),
            },
            Text => match self.below(9) {
                0 => format!("({} || {})", e(self, Text), e(self, Text)),
                1 => format!(
                    "{}({})",
                    self.one(&["upper", "lower", "md5", "reverse", "initcap", "btrim"]),
                    e(self, Text)
                ),
                2 => format!("({})::text", e(self, Int)),
                3 => format!("substr({}, {})", e(self, Text), self.below(4)),
                4 => format!("replace({}, 'o', {})", e(self, Text), e(self, Text)),
                5 => format!("lpad({}, {}, '.')", e(self, Text), self.below(6)),
                6 => format!("split_part({}, 'e', 1)", e(self, Text)),
                7 => format!("to_char({}, 'YYYY-Mon-DD')", e(self, Date)),
                _ => format!("array_to_string({}, ',', '*')", e(self, Ints)),
            },
            Bool => self.condition(scope, d, depth),
            Date => match self.below(3) {
                0 => format!("({} + {} % 50)", e(self, Date), e(self, Int)),
                1 => format!("date_trunc('month', {})::date", e(self, Date)),
                _ => format!("({} + {})::date", e(self, Date), e(self, Interval)),
            },
            Interval => match self.below(4) {
                0 => format!("({} * 2)", e(self, Interval)),
                1 => format!("({} + {})", e(self, Interval), e(self, Interval)),
                2 => format!("make_interval(days => {} % 40)", e(self, Int)),
                _ => format!("justify_hours({})", e(self, Interval)),
            },
            Ints => match self.below(4) {
                0 => format!("array_append({}, {})", e(self, Ints), e(self, Int)),
                1 => format!("ARRAY[{}, {}]", e(self, Int), e(self, Int)),
                2 => format!("({})[1:2]", e(self, Ints)),
                _ => format!("array_remove({}, {})", e(self, Ints), e(self, Int)),
            },
        }
    }

    fn condition(&mut self, scope: &Columns, d: usize, depth: usize) -> String {
        let ty = ALL[self.below(ALL.len())];
        let op = self.one(&["=", "<>", "<", "<=", ">", ">="]);
        match self.below(if depth >= 2 { 13 } else { 9 }) {
            0 => format!("({} AND {})", self.expr(Bool, scope, d), self.expr(Bool, scope, d)),
            1 => format!("({} OR {})", self.expr(Bool, scope, d), self.expr(Bool, scope, d)),
            2 => format!("(NOT {})", self.expr(Bool, scope, d)),
            3 => {
                let not = self.one(&["", "NOT "]);
                format!("({} IS {not}NULL)", self.expr(ty, scope, d))
            }
            4 => {
                let not = self.one(&["", "NOT "]);
                let (a, b) = (self.expr(ty, scope, d), self.expr(ty, scope, d));
                format!("({a} IS {not}DISTINCT FROM {b})")
            }
            5 => {
                let list: Vec<String> =
                    (0..1 + self.below(3)).map(|_| self.expr(Int, scope, 0)).collect();
                let not = self.one(&["", "NOT "]);
                format!("({} {not}IN ({}))", self.expr(Int, scope, d), list.join(", "))
            }
            6 => format!(
                "({} {} '%e_')",
                self.expr(Text, scope, d),
                self.one(&["LIKE", "NOT LIKE", "ILIKE"])
            ),
            7 => {
                let (a, b, c) =
                    (self.expr(Int, scope, d), self.expr(Int, scope, 0), self.expr(Int, scope, 0));
                format!("({a} BETWEEN {} {b} AND {c})", self.one(&["", "SYMMETRIC"]))
            }
            8 => format!("({} {op} {})", self.expr(ty, scope, d), self.expr(ty, scope, d)),
            kind => {
                let (table, own) = self.table(0);
                let mut around = own.clone();
                around.extend(scope.iter().cloned());
                let condition = self.expr(Bool, &around, 1);
                let (mine, theirs) = (self.expr(Int, scope, d.min(1)), self.expr(Int, &own, 1));
                let not = self.one(&["", "NOT "]);
                match kind {
                    9 => format!("({not}EXISTS (SELECT 1 FROM {table} WHERE {condition}))"),
                    10 => {
                        format!("({mine} {not}IN (SELECT {theirs} FROM {table} WHERE {condition}))")
                    }
                    11 => format!(
                        "({mine} {op} ANY (SELECT {theirs} FROM {table} WHERE {condition}))"
                    ),
                    _ => format!(
                        "({mine} {op} ALL (SELECT {theirs} FROM {table} WHERE {condition}))"
                    ),
                }
            }
        }
    }

    /// An expression whose equal values also look the same: which one of them comes out where several become one hangs
    /// on the plan. 1.5 is 1.50, -0 is 0, and 24 hours are a day.
    fn plain(&mut self, ty: Ty, scope: &Columns, depth: usize) -> String {
        let text = self.expr(ty, scope, depth);
        match ty {
            Num => format!("round({text}, 2)"),
            Float => format!("({text} + 0)"),
            Interval => format!("justify_interval({text})"),
            _ => text,
        }
    }

    fn constant(&mut self, ty: Ty) -> String {
        if self.chance(10) {
            let name = match ty {
                Int => "int",
                Num => "numeric",
                Float => "float8",
                Text => "text",
                Bool => "boolean",
                Date => "date",
                Interval => "interval",
                Ints => "int[]",
            };
            return format!("NULL::{name}");
        }
        match ty {
            Int => self.below(12).to_string(),
            Num => self.one(&["1.50", "0.0", "12.25", "-3.1"]).to_owned(),
            Float => self.one(&["0.25::float8", "-2::float8", "1.5::float8"]).to_owned(),
            Text => {
                self.one(&["'one'::text", "''::text", "'x y'::text", "'THREE'::text"]).to_owned()
            }
            Bool => self.one(&["true", "false"]).to_owned(),
            Date => self.one(&["date '2024-02-29'", "date '2023-12-31'"]).to_owned(),
            Interval => self
                .one(&["interval '1 day'", "interval '1 mon -2 hours'", "interval '36 hours'"])
                .to_owned(),
            Ints => self.one(&["ARRAY[1, 2, 3]", "'{}'::int[]", "'{NULL,4}'::int[]"]).to_owned(),
        }
    }

    /// A change of rows within a transaction.
    fn change(&mut self) -> Statement {
        let a: Columns = [("id", Int), ("x", Int), ("s", Text), ("n", Num), ("d", Date)]
            .map(|(c, t)| (format!("t.{c}"), t))
            .into();
        let b: Columns = [("id", Int), ("aid", Int), ("f", Float), ("s", Text)]
            .map(|(c, t)| (format!("u.{c}"), t))
            .into();
        let mut both = a.clone();
        both.extend(b.iter().cloned());
        let condition = self.expr(Bool, &a, 2);
        let (x, s) = (self.expr(Int, &a, 2), self.expr(Text, &a, 2));
        let sql = match self.below(6) {
            0 => format!("UPDATE a AS t SET x = {x}, s = {s} WHERE {condition} RETURNING *"),
            1 => {
                let more = self.expr(Bool, &both, 1);
                let f = self.expr(Float, &both, 1);
                format!(
                    "UPDATE b AS u SET f = {f}, s = t.s FROM a t WHERE t.id = u.aid AND {more} RETURNING u.id, t.id, u.f"
                )
            }
            2 => format!(
                "DELETE FROM b AS u USING a t WHERE t.id = u.aid AND {condition} RETURNING u.*"
            ),
            3 => format!("DELETE FROM a AS t WHERE {condition}"),
            4 => format!(
                "INSERT INTO a AS r (id, x, s) SELECT t.id + {}, {x}, {s} FROM a t WHERE {condition} ON CONFLICT (id) DO \
                 UPDATE SET x = excluded.x, s = r.s || excluded.s WHERE r.x IS NOT NULL RETURNING *",
                self.below(20)
            ),
            _ => format!(
                "WITH gone AS (DELETE FROM a t WHERE {condition} RETURNING t.*) INSERT INTO c (k, v) SELECT g.id, left(g.s, \
                 5) FROM gone g RETURNING k, v"
            ),
        };
        Statement { sql: format!("BEGIN; {sql}"), ordered: false, changes: true }
    }
}

/// The columns of a sub-select under its name.
fn renamed(table: &str, columns: &Columns) -> Columns {
    columns.iter().map(|(c, ty)| (format!("{table}.{c}"), *ty)).collect()
}
