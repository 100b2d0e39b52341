//! Queries: FROM with all types of joins, LATERAL, grouping sets, windows, DISTINCT, set
//! operations, recursion. `outer` are columns of outer queries, which may be used anywhere except
//! as the only columns of an aggregate, which would then belong to the outer query.

use super::generate::{ALL, Columns, Generator, KEYS, Ty, Ty::*, both};

/// Estimated number of rows that a recursion with a join visits.
const RECURSION: f64 = 300.0;

impl Generator {
    /// A query and its columns.
    pub(super) fn select(&mut self, outer: &Columns, depth: usize) -> (String, Columns) {
        let row_order = self.row_order.take();
        let out = self.within(|g| g.select_here(outer, depth));
        self.row_order = row_order;
        out
    }

    fn select_here(&mut self, outer: &Columns, depth: usize) -> (String, Columns) {
        let (from, own) = self.from(outer, depth);
        let rows = self.rows;
        let scope = both(&own, outer);
        let condition = self.filter(&own, outer, depth);
        if self.chance(35) {
            let out = self.grouped(&from, &own, outer, &condition, depth);
            self.rows = (rows / 3.0).max(1.0);
            return out;
        }
        let windows = self.chance(20);
        let sets = !windows && self.chance(8);
        let distinct = self.one(&["", "", "", "DISTINCT "]);
        let mut columns = Vec::new();
        let list: Vec<String> = (0..1 + self.below(3))
            .map(|_| {
                let (ty, text) = match (windows || sets) && self.chance(60) {
                    true if sets => self.set_of_values(&scope, depth.min(1)),
                    true => self.window(&own, outer, &scope),
                    false => {
                        let ty = self.type_among(ALL.len());
                        match distinct {
                            _ if self.chance(15) => (ty, self.constant(ty)),
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
        let tail = match distinct.is_empty() && !sets && !windows && self.chance(12) {
            true => self.first_rows(&own, outer),
            false => String::new(),
        };
        self.rows = if tail.is_empty() { rows } else { 3.0 };
        (format!("SELECT {distinct}{} FROM {from}{condition}{tail}", list.join(", ")), columns)
    }

    /// A set-returning function in a select list.
    fn set_of_values(&mut self, scope: &Columns, depth: usize) -> (Ty, String) {
        match self.below(7) {
            0 | 1 => {
                let to = self.expr(Int, scope, depth);
                (Int, format!("generate_series(1, abs({to}) % 4)"))
            }
            2 => (Int, format!("unnest({})", self.expr(Ints, scope, depth))),
            3 => (Text, format!("unnest({})", self.expr(Texts, scope, depth))),
            4 => (Text, format!("string_to_table({}, 'e')", self.expr(Text, scope, depth))),
            5 => {
                let e = self.expr(Json, scope, depth);
                (Json, format!("jsonb_array_elements(jsonb_build_array({e}, 1))"))
            }
            _ => (Int, format!("numbers_of({})", self.expr(Int, scope, depth))),
        }
    }

    /// ORDER BY with a total order and LIMIT, which may use outer columns.
    fn first_rows(&mut self, own: &Columns, outer: &Columns) -> String {
        let Some(order) = self.total_order(own) else { return String::new() };
        let first = match self.chance(30) {
            // LIMIT with a sub-select.
            true => {
                let (scope, ty) = (both(own, outer), self.type_among(KEYS));
                let e = self.expr(ty, &scope, 2);
                format!("COALESCE({e}) {}, ", self.one(&["DESC", "ASC"]))
            }
            false => String::new(),
        };
        let limit = match self.chance(40) && !outer.is_empty() {
            true => format!("abs({}) % 4", self.expr(Int, outer, 0)),
            false => self.below(6).to_string(),
        };
        let offset = self.one(&["", "", " OFFSET 1"]);
        format!(" ORDER BY {first}{order} LIMIT {limit}{offset}")
    }

    /// A WHERE clause, or nothing.
    pub(super) fn filter(&mut self, own: &Columns, outer: &Columns, depth: usize) -> String {
        match self.chance(70) {
            true => format!(" WHERE {}", self.expr(Bool, &both(own, outer), depth)),
            false => String::new(),
        }
    }

    /// A query with a total order. All its columns are sort keys, and equal values have equal text
    /// forms.
    pub(super) fn ordered(&mut self, outer: &Columns, depth: usize) -> String {
        let (from, own) = self.from(outer, depth);
        let scope = both(&own, outer);
        let count = 1 + self.below(3);
        let list: Vec<String> = (0..count)
            .map(|_| {
                let ty = self.type_among(KEYS);
                self.plain(ty, &scope, depth)
            })
            .collect();
        let keys: Vec<String> = (1..=count).map(|i| format!("{i}{}", self.direction())).collect();
        let condition = self.expr(Bool, &scope, depth);
        let distinct = match self.below(4) {
            0 => "DISTINCT ".to_owned(),
            1 => format!("DISTINCT ON ({}) ", list[0]),
            _ => String::new(),
        };
        let tail = match self.below(5) {
            0 => String::new(),
            1 => format!(" LIMIT {}", self.below(8)),
            2 => format!(" LIMIT (SELECT {} + 0)", self.below(5)),
            3 if !outer.is_empty() => {
                format!(" LIMIT abs({}) % 5", self.expr(Int, outer, 0))
            }
            _ => format!(" OFFSET {} FETCH FIRST {} ROWS ONLY", self.below(4), self.below(9)),
        };
        format!(
            "SELECT {distinct}{} FROM {from} WHERE {condition} ORDER BY {}{tail}",
            list.join(", "),
            keys.join(", ")
        )
    }

    pub(super) fn direction(&mut self) -> &'static str {
        self.one(&["", " DESC", " NULLS FIRST", " DESC NULLS LAST"])
    }

    /// A recursive query of columns `n` and `v`. Its non-recursive term and its end may depend on
    /// outer columns.
    pub(super) fn recursive(&mut self, outer: &Columns) -> String {
        let r = self.name("r");
        let joins = self.affords(RECURSION);
        let all = self.one(&["ALL ", ""]);
        let step = self.one(&["r.n + 1", "r.n + 2", "r.n * 2 + 1"]);
        let (start, end) = match outer.is_empty() {
            true => {
                let start =
                    self.one(&["SELECT 1, 0", "SELECT id, x FROM a", "VALUES (1, 2), (3, NULL)"]);
                (start.to_owned(), "9".to_owned())
            }
            false => {
                let (from, value) = (self.expr(Int, outer, 1), self.expr(Int, outer, 1));
                let start = format!("SELECT abs({from}) % 4, {value}");
                (start, format!("abs({}) % 6 + 2", self.expr(Int, outer, 1)))
            }
        };
        let t = self.name("t");
        let join = match self.below(5) {
            0 | 1 => String::new(),
            _ if !joins => String::new(),
            2 => format!(" JOIN a {t} ON {t}.id = r.n"),
            3 => format!(" LEFT JOIN c {t} ON {t}.k = r.n + 1"),
            _ => format!(" JOIN (SELECT DISTINCT aid FROM b) {t} ON {t}.aid % 9 = r.n"),
        };
        let columns = vec![("n".to_owned(), Int), ("v".to_owned(), Int)];
        let condition = self.expr(Bool, &both(&columns, outer), 1);
        self.rows = 20.0;
        format!(
            "WITH RECURSIVE {r}(n, v) AS ({start} UNION {all}SELECT {step}, r.v + 1 FROM {r} \
             AS r{join} WHERE r.n < {end}) SELECT \
             n, v, {condition} AS c FROM {r}"
        )
    }

    /// A set operation and its columns, which are named `u1`, `u2` ….
    pub(super) fn set_operation(&mut self, outer: &Columns, depth: usize) -> (String, Columns) {
        let types: Vec<Ty> = (0..1 + self.below(2)).map(|_| self.type_among(KEYS)).collect();
        let names: Columns =
            types.iter().enumerate().map(|(i, t)| (format!("u{}", i + 1), *t)).collect();
        let mut out = String::new();
        let mut rows = 0.0;
        for arm in 0..2 + self.below(2) {
            let query = self.within(|g| {
                let (from, own) = g.from(outer, 1);
                rows += g.rows;
                let scope = both(&own, outer);
                let list: Vec<String> = names
                    .iter()
                    .map(|(name, t)| {
                        let e = g.plain(*t, &scope, depth);
                        // The typmod depends on which branches are known to be empty.
                        let whole = if *t == Ts { " + interval '0'" } else { "" };
                        format!("{e}{whole} AS {name}")
                    })
                    .collect();
                let condition = g.filter(&own, outer, 1);
                format!("(SELECT {} FROM {from}{condition})", list.join(", "))
            });
            if arm > 0 {
                let op = self.one(&[
                    " UNION ",
                    " UNION ALL ",
                    " INTERSECT ",
                    " INTERSECT ALL ",
                    " EXCEPT ",
                    " EXCEPT ALL ",
                ]);
                out.push_str(op);
            }
            out.push_str(&query);
        }
        self.rows = rows;
        (out, names)
    }

    /// Grouping of `from`, with grouping sets, HAVING, and keys within expressions.
    pub(super) fn grouped(
        &mut self,
        from: &str,
        own: &Columns,
        outer: &Columns,
        condition: &str,
        depth: usize,
    ) -> (String, Columns) {
        let mut keys: Columns = Vec::new();
        for _ in 0..self.below(4) {
            let ty = self.type_among(KEYS);
            let depth = self.below(2);
            // In most cases a column, which may be an expression or a constant if it belongs to a
            // subquery.
            let columns: Vec<String> = own
                .iter()
                .filter(|c| matches!(c.1, Int | Text | Bool))
                .map(|c| c.0.clone())
                .collect();
            let key = match self.chance(50) && !columns.is_empty() {
                true => {
                    let at = self.below(columns.len());
                    let ty = own.iter().find(|c| c.0 == columns[at]).map_or(ty, |c| c.1);
                    (columns[at].clone(), ty)
                }
                false => (self.plain(ty, own, depth), ty),
            };
            // A constant would be interpreted as a column number.
            if key.0.contains('.') && !keys.contains(&key) && !key.0.contains("SELECT") {
                keys.push(key);
            }
        }
        let (group, sets) = self.group_clause(&keys, &format!("{from}{condition}"));
        let mut columns = Vec::new();
        let mut list = Vec::new();
        let add = |g: &mut Self, ty: Ty, text: String, columns: &mut Columns| {
            let name = g.name("o");
            columns.push((name.clone(), ty));
            format!("{text} AS {name}")
        };
        for (key, ty) in &keys {
            list.push(add(self, *ty, key.clone(), &mut columns));
            if self.chance(40) {
                let text = self.over_key(key, *ty, sets);
                list.push(add(self, *ty, text, &mut columns));
            }
            if sets && self.chance(30) {
                list.push(add(self, Int, format!("grouping({key})"), &mut columns));
            }
        }
        let whole = unsplit_keys(&keys, sets);
        for _ in 0..1 + self.below(2) {
            let (ty, mut text) = self.aggregate(own, outer, &whole, depth.min(2));
            if ty == Int && self.chance(85) {
                text = format!("({text})::int");
            }
            list.push(add(self, ty, text, &mut columns));
        }
        if self.chance(12) {
            let (ty, text) = self.window_of_groups(own, outer, (&keys, sets));
            list.push(add(self, ty, text, &mut columns));
        }
        let having = self.having(own, outer, (&keys, sets), depth);
        (format!("SELECT {} FROM {from}{condition}{group}{having}", list.join(", ")), columns)
    }

    /// A window over groups.
    fn window_of_groups(
        &mut self,
        own: &Columns,
        outer: &Columns,
        (keys, sets): (&Columns, bool),
    ) -> (Ty, String) {
        let (ty, of) = self.aggregate(own, outer, &Vec::new(), 1);
        // PostgreSQL treats a constant key as equal in all grouping sets.
        let part = match keys.is_empty() || sets {
            false if self.chance(50) => format!("PARTITION BY {} ", keys[0].0),
            _ => String::new(),
        };
        match ty {
            Int => {
                let f = self.one(&["sum", "max", "count"]);
                let ty = if f == "sum" { Num } else { Int };
                (ty, format!("{f}({of}) OVER ({part}ORDER BY count(*))"))
            }
            Json | Interval | Num => (Int, format!("rank() OVER ({part}ORDER BY count(*))")),
            _ => (Int, format!("dense_rank() OVER ({part}ORDER BY {of})")),
        }
    }

    fn having(
        &mut self,
        own: &Columns,
        outer: &Columns,
        (keys, sets): (&Columns, bool),
        depth: usize,
    ) -> String {
        match self.below(10) {
            0 | 1 => {
                format!(" HAVING count(*) {} {}", self.one(&["<", ">", "<>"]), self.below(5))
            }
            2 | 3 if !keys.is_empty() => {
                let at = self.below(keys.len());
                let (key, ty) = keys[at].clone();
                let test = match self.below(3) {
                    // PostgreSQL simplifies a boolean value to the parts of its AND or OR.
                    1.. if sets && ty == Bool => format!("({key}) IS NULL"),
                    0 => format!("({key}) IS NULL"),
                    1 => {
                        format!(
                            "{} IS NOT DISTINCT FROM {}",
                            self.over_key(&key, ty, sets),
                            self.constant(ty)
                        )
                    }
                    _ => format!("{} = {}", self.over_key(&key, ty, sets), self.constant(ty)),
                };
                format!(" HAVING {test}")
            }
            4 => {
                let keyed = std::mem::replace(&mut self.keyed, true);
                let test = self.expr(Bool, &both(&unsplit_keys(keys, sets), outer), depth);
                self.keyed = keyed;
                format!(" HAVING {test}")
            }
            5 => {
                let keys = unsplit_keys(keys, sets);
                let (ty, of) = self.aggregate(own, outer, &keys, 1);
                let keyed = std::mem::replace(&mut self.keyed, true);
                let value = self.expr(ty, &both(&keys, outer), depth);
                self.keyed = keyed;
                format!(" HAVING {of} IS DISTINCT FROM {value}")
            }
            _ => String::new(),
        }
    }

    /// An expression of the key's type that contains the key.
    fn over_key(&mut self, key: &str, ty: Ty, sets: bool) -> String {
        let constant = self.constant(ty);
        match self.below(if sets { 4 } else { 3 }) {
            0 => format!("COALESCE({key}, {constant})"),
            1 => format!("CASE WHEN ({key}) IS NULL THEN {constant} ELSE {key} END"),
            2 => format!("NULLIF({key}, {constant})"),
            _ => format!("CASE grouping({key}) WHEN 0 THEN {key} ELSE {constant} END"),
        }
    }

    /// GROUP BY, and whether it has grouping sets. `rows`: FROM and WHERE.
    fn group_clause(&mut self, keys: &Columns, rows: &str) -> (String, bool) {
        let names: Vec<&str> = keys.iter().map(|k| k.0.as_str()).collect();
        let all = names.join(", ");
        let Some((first, rest)) = names.split_first() else { return (String::new(), false) };
        // In a custom plan a key with a parameter may become a constant, which PostgreSQL does not
        // set to NULL in HAVING, whereas it does in a generic plan: the answer depends on the
        // choice. If a join equates two keys, PostgreSQL sorts by one and assumes the order of the
        // other one, which some of the sets set to NULL.
        let equated = |a: &str| names.iter().any(|b| rows.contains(&format!("{a} = {b}")));
        // Two keys over the same column may be simplified to that column, and PostgreSQL then
        // treats them as one key.
        let columns: Vec<Vec<&str>> = names.iter().map(|key| columns_in(key)).collect();
        let alike = columns
            .iter()
            .enumerate()
            .any(|(i, a)| matches!(a[..], [_]) && columns[i + 1..].contains(a));
        let chosen = alike || names.iter().any(|key| key.contains('$') || equated(key));
        let text = match (self.below(6), rest) {
            _ if chosen => return (format!(" GROUP BY {all}"), false),
            (0, _) => format!("ROLLUP ({all})"),
            (1, _) => format!("CUBE ({all})"),
            (2, [_, ..]) => format!("GROUPING SETS (({all}), ({first}), ())"),
            (3, [_, ..]) => format!("{first}, ROLLUP ({})", rest.join(", ")),
            (3, []) => format!("GROUPING SETS (({first}), ())"),
            _ => return (format!(" GROUP BY {all}"), false),
        };
        (format!(" GROUP BY {text}"), true)
    }
}

/// The columns that an expression contains, each once.
fn columns_in(expr: &str) -> Vec<&str> {
    let word = |c: char| !(c.is_ascii_alphanumeric() || c == '_' || c == '.');
    let is_column = |w: &&str| w.contains('.') && w.starts_with(|c: char| c.is_ascii_lowercase());
    let mut out: Vec<&str> = expr.split(word).filter(is_column).collect();
    out.sort_unstable();
    out.dedup();
    out
}

/// Keys for use in other expressions. PostgreSQL flattens nested AND and OR and then does not
/// recognize the key in them, so that they have values in grouping sets without the key.
fn unsplit_keys(keys: &Columns, sets: bool) -> Columns {
    let whole = |(key, ty): &(String, Ty)| match ty {
        Bool if sets => (format!("(({key}) IS TRUE)"), Bool),
        _ => (key.clone(), *ty),
    };
    keys.iter().map(whole).collect()
}
