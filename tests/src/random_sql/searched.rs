//! Queries of a table whose columns GIN indexes search, and expressions of ranges, multiranges and
//! jsonpath.

use super::change::columns;
use super::generate::{Columns, Generator, Statement, Ty, Ty::*, both, renamed};

/// The columns of `gx` with types of [`Ty`].
const SEARCHED: [(&str, Ty); 6] =
    [("id", Int), ("k", Int), ("tags", Texts), ("nums", Ints), ("doc", Json), ("s", Text)];

/// Rows of `gx`.
const ROWS: f64 = 60.0;

const PATHS: [&str; 12] = [
    "'$.n'",
    "'$.s[*]'",
    "'$.n ? (@ > 1)'",
    "'$.** ? (@ == \"one\")'",
    "'$[*] ? (@.type() == \"string\")'",
    "'$.d.n ? (@ < 2 || @ == null)'",
    "'strict $.s'",
    "'$.s ? (@ starts with \"t\")'",
    "'$.* ? (exists (@ ? (@ like_regex \"^o\")))'",
    "'$[last]'",
    "'$[0 to 1] ? (!(@ == 1))'",
    "'$.keyvalue()'",
];

const TESTS: [&str; 8] = [
    "'$.n > 1'",
    "'$.s[*] == \"one\"'",
    "'$.d.n == 2'",
    "'$[*] == \"one\" || $.n == 0'",
    "'exists($.d)'",
    "'$.s == \"one\" && $.d.n < 2'",
    "'!($.n == 1)'",
    "'($.n == 1) is unknown'",
];

const WORDS: [&str; 9] = [
    "to_tsquery('simple', 'w1')",
    "to_tsquery('simple', 'w1 & one')",
    "to_tsquery('simple', 'w1 | w6')",
    "to_tsquery('simple', '!w2')",
    "to_tsquery('simple', 'w1 & !w3')",
    "to_tsquery('simple', 'w:*')",
    "to_tsquery('simple', 'w1 <-> one')",
    "to_tsquery('simple', 'one <2> two')",
    "phraseto_tsquery('simple', 'one w5 two')",
];

impl Generator {
    /// A query of the table with GIN indexes, alone or below other rows.
    pub(super) fn searched(&mut self) -> Statement {
        let none = Vec::new();
        let t = self.name("t");
        let own = renamed(&t, &columns(&SEARCHED));
        let (item, outer) = self.base();
        let rows = self.rows;
        let sql = match self.below(6) {
            0 => {
                let test = self.for_rows(rows, |g| g.search(&t, &outer));
                let join = self.one(&["JOIN", "LEFT JOIN", "JOIN"]);
                let scope = both(&own, &outer);
                let more = self.for_rows(rows * ROWS, |g| g.expr(Text, &scope, 2));
                format!("SELECT {t}.*, {more} AS e FROM {item} {join} gx AS {t} ON {test}")
            }
            1 => {
                let test = self.for_rows(rows, |g| g.search(&t, &outer));
                let not = self.one(&["", "NOT "]);
                let shown = self.for_rows(rows, |g| g.expr(Int, &outer, 1));
                format!(
                    "SELECT {shown} AS e FROM {item} WHERE {not}EXISTS (SELECT FROM gx AS {t} \
                     WHERE {test})"
                )
            }
            2 => {
                let test = self.for_rows(rows, |g| g.search(&t, &outer));
                let inner =
                    self.for_rows(rows * ROWS, |g| g.own_expr(Int, &own, &both(&own, &outer), 1));
                format!(
                    "SELECT l.* FROM {item} CROSS JOIN LATERAL (SELECT count(*) AS c, \
                     max({inner}) AS m, range_agg({t}.r) AS r, range_intersect_agg({t}.r) AS i \
                     FROM gx AS {t} WHERE {test}) l"
                )
            }
            3 => {
                let test = self.search(&t, &none);
                let key = self.for_rows(ROWS, |g| g.plain(Int, &own, 2));
                format!(
                    "SELECT {key} AS e, count(*), range_agg({t}.mr), range_intersect_agg({t}.r), \
                     max({t}.s COLLATE \"en-x-icu\") FROM gx AS {t} WHERE {test} GROUP BY 1"
                )
            }
            4 => {
                let test = self.search(&t, &none);
                let path = self.one(&PATHS);
                format!(
                    "SELECT {t}.id, q.v FROM gx AS {t} CROSS JOIN LATERAL \
                     jsonb_path_query({t}.doc, {path}, '{{}}', true) AS q(v) WHERE {test}"
                )
            }
            _ => {
                let (test, e) = (self.search(&t, &none), self.range(&own, 2));
                let e = match self.chance(50) {
                    true => e,
                    false => self.multirange(&own, 2),
                };
                format!("SELECT {t}.*, {e} AS e FROM gx AS {t} WHERE {test}")
            }
        };
        Statement::one(sql)
    }

    /// A condition on `gx` under an alias, which searches for values of the columns in `scope`.
    fn search(&mut self, t: &str, scope: &Columns) -> String {
        let one = self.search_of(t, scope);
        match self.below(8) {
            0 | 1 => format!("({one} AND {})", self.search_of(t, scope)),
            2 | 3 => format!("({one} OR {})", self.search_of(t, scope)),
            4 => {
                let own = renamed(t, &columns(&SEARCHED));
                format!("({one} AND {})", self.expr(Bool, &both(&own, scope), 1))
            }
            5 => format!("(NOT ({one} AND {}))", self.search_of(t, scope)),
            _ => one,
        }
    }

    fn search_of(&mut self, t: &str, scope: &Columns) -> String {
        let e = |g: &mut Self, ty: Ty| g.expr(ty, scope, 1);
        let array = self.one(&["@>", "&&", "<@", "="]);
        let order = self.one(&["=", "<>", "<", "<=", ">", ">="]);
        match self.below(15) {
            0 | 1 => format!("{t}.tags {array} {}", e(self, Texts)),
            2 | 3 => format!("{t}.nums {array} {}", e(self, Ints)),
            4 => format!("{t}.doc @> {}", e(self, Json)),
            5 => format!("{t}.doc ? {}", self.one(&["'n'", "'s'", "'one'", "'d'"])),
            6 => format!("{t}.doc {} {}", self.one(&["?|", "?&"]), e(self, Texts)),
            7 => format!("{t}.doc @? {}", self.one(&PATHS)),
            8 => format!("{t}.doc @@ {}", self.one(&TESTS)),
            9 => format!("{t}.tv @@ {}", self.one(&WORDS)),
            10 => {
                let word = format!("'w' || length({})", e(self, Text));
                format!("{t}.tv @@ plainto_tsquery('simple', {word})")
            }
            11 => format!("{t}.r @> {}", e(self, Int)),
            12 => format!("{t}.r {} {}", self.range_operator(), self.range(scope, 1)),
            13 => {
                let other = match self.chance(50) {
                    true => self.range(scope, 1),
                    false => self.multirange(scope, 1),
                };
                let op = self.one(&["&&", "@>", "<@", "<<", ">>", "&<", "&>", "-|-"]);
                format!("{t}.mr {op} {other}")
            }
            _ => {
                let collation = self.one(&["C", "POSIX", "en-x-icu", "und-x-icu"]);
                format!("{t}.s COLLATE \"{collation}\" {order} {}", e(self, Text))
            }
        }
    }

    fn range_operator(&mut self) -> &'static str {
        const ALL: [&str; 14] =
            ["&&", "@>", "<@", "<<", ">>", "&<", "&>", "-|-", "=", "<>", "<", "<=", ">", ">="];
        ALL[self.below(ALL.len())]
    }

    /// A range of integers.
    pub(super) fn range(&mut self, scope: &Columns, depth: usize) -> String {
        if depth == 0 || self.chance(25) {
            let all = [
                "int4range(1, 4)",
                "int4range(NULL, 3)",
                "int4range(5, NULL, '(]')",
                "'empty'::int4range",
                "NULL::int4range",
            ];
            return self.one(&all).to_owned();
        }
        let d = depth - 1;
        let (a, b) = (self.expr(Int, scope, d), self.expr(Int, scope, d));
        match self.below(5) {
            0 => format!("({} * {})", self.range(scope, d), self.range(scope, d)),
            1 => format!("range_merge({}, {})", self.range(scope, d), self.range(scope, d)),
            2 => format!("range_merge({})", self.multirange(scope, d)),
            _ => {
                let bounds = self.one(&["[)", "[]", "(]", "()"]);
                format!("int4range(LEAST({a}, {b}), GREATEST({a}, {b}), '{bounds}')")
            }
        }
    }

    /// A multirange of integers.
    pub(super) fn multirange(&mut self, scope: &Columns, depth: usize) -> String {
        let (a, b) = (self.range(scope, depth.min(1)), self.range(scope, depth.min(1)));
        if depth == 0 {
            return format!("int4multirange({a})");
        }
        let d = depth - 1;
        match self.below(4) {
            0 => format!("COALESCE(multirange({a}), '{{}}')"),
            1 | 2 => {
                let op = self.one(&["+", "-", "*"]);
                format!("({} {op} {})", self.multirange(scope, d), self.multirange(scope, d))
            }
            _ => format!("int4multirange(COALESCE({a}, 'empty'), COALESCE({b}, 'empty'))"),
        }
    }

    /// A condition on ranges, jsonpath, text search or texts with a collation.
    pub(super) fn newer_condition(&mut self, scope: &Columns, d: usize) -> String {
        match self.below(7) {
            0 => {
                let op = self.range_operator();
                format!("({} {op} {})", self.range(scope, d), self.range(scope, d))
            }
            1 => {
                let op = self.one(&["&&", "@>", "<@", "<<", "-|-", "=", "<"]);
                format!("({} {op} {})", self.multirange(scope, d), self.multirange(scope, d))
            }
            2 => format!("({} @> {})", self.range(scope, d), self.expr(Int, scope, d)),
            3 => format!("({} @? {})", self.expr(Json, scope, d), self.one(&PATHS)),
            4 => format!("({} @@ {})", self.expr(Json, scope, d), self.one(&TESTS)),
            5 => {
                let (doc, n) = (self.expr(Json, scope, d), self.expr(Int, scope, d));
                format!("jsonb_path_exists({doc}, '$.n ? (@ >= $x)', jsonb_build_object('x', {n}))")
            }
            _ => {
                let collation = self.one(&["C", "en-x-icu", "und-x-icu"]);
                let op = self.one(&["=", "<", ">=", "<>"]);
                let (a, b) = (self.expr(Text, scope, d), self.expr(Text, scope, d));
                format!("(({a} COLLATE \"{collation}\") {op} {b})")
            }
        }
    }

    /// An integer or a text from a range, or a value that a jsonpath finds.
    pub(super) fn newer_int(&mut self, scope: &Columns, d: usize) -> String {
        let of = match self.chance(60) {
            true => self.range(scope, d),
            false => self.multirange(scope, d),
        };
        format!("{}({of})", self.one(&["lower", "upper"]))
    }

    pub(super) fn newer_text(&mut self, scope: &Columns, d: usize) -> String {
        match self.below(4) {
            0 => format!("({})::text", self.range(scope, d)),
            1 => format!("({})::text", self.multirange(scope, d)),
            2 => format!("to_tsvector('simple', {})::text", self.expr(Text, scope, d)),
            _ => {
                let f = self.one(&["lower", "upper", "initcap"]);
                format!(
                    "{f}({} COLLATE \"en-x-icu\") COLLATE \"default\"",
                    self.expr(Text, scope, d)
                )
            }
        }
    }

    pub(super) fn newer_json(&mut self, scope: &Columns, d: usize) -> String {
        let (doc, path) = (self.expr(Json, scope, d), self.one(&PATHS));
        match self.below(3) {
            0 => format!("jsonb_path_query_array({doc}, {path}, '{{}}', true)"),
            1 => format!("jsonb_path_query_first({doc}, {path}, '{{}}', true)"),
            _ => format!("to_jsonb(jsonb_path_match({doc}, '$.n > 1', '{{}}', true))"),
        }
    }
}
