//! Queries: FROM with all joins, LATERAL, grouping with sets, windows, DISTINCT, set operations,
//! recursion. `outer` are columns from around, which may be used anywhere but as the only ones of
//! an aggregate, which would then belong there.

use super::generate::{ALL, Columns, Generator, Ty, Ty::*, both};

impl Generator {
    /// A query and its columns.
    pub(super) fn select(&mut self, outer: &Columns, depth: usize) -> (String, Columns) {
        let (from, own) = self.from(outer, depth);
        let scope = both(&own, outer);
        let condition = self.filter(&own, outer, depth);
        if self.chance(35) {
            return self.grouped(&from, &own, outer, &condition, depth);
        }
        let windows = self.chance(20);
        let distinct = self.one(&["", "", "", "DISTINCT "]);
        let mut columns = Vec::new();
        let list: Vec<String> = (0..1 + self.below(3))
            .map(|_| {
                let (ty, text) = match windows && self.chance(60) {
                    true => self.window(&own, &scope),
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
        (format!("SELECT {distinct}{} FROM {from}{condition}", list.join(", ")), columns)
    }

    /// A WHERE clause, or none.
    pub(super) fn filter(&mut self, own: &Columns, outer: &Columns, depth: usize) -> String {
        match self.chance(70) {
            true => format!(" WHERE {}", self.expr(Bool, &both(own, outer), depth)),
            false => String::new(),
        }
    }

    /// A query whose order is decided. All its columns are among the keys, and equal ones look the
    /// same.
    pub(super) fn ordered(&mut self, outer: &Columns, depth: usize) -> String {
        let (from, own) = self.from(outer, depth);
        let scope = both(&own, outer);
        let count = 1 + self.below(3);
        let list: Vec<String> = (0..count)
            .map(|_| {
                let ty = self.type_among(6);
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

    /// A recursive query of columns `n` and `v`; what is around it may be its start and its end.
    pub(super) fn recursive(&mut self, outer: &Columns) -> String {
        let r = self.name("r");
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
            2 => format!(" JOIN a {t} ON {t}.id = r.n"),
            3 => format!(" LEFT JOIN c {t} ON {t}.k = r.n + 1"),
            _ => format!(" JOIN (SELECT DISTINCT aid FROM b) {t} ON {t}.aid % 9 = r.n"),
        };
        let columns = vec![("n".to_owned(), Int), ("v".to_owned(), Int)];
        let condition = self.expr(Bool, &both(&columns, outer), 1);
        format!(
            "WITH RECURSIVE {r}(n, v) AS ({start} UNION {all}SELECT {step}, r.v + 1 FROM {r} AS r{join} WHERE r.n < {end}) SELECT \
             n, v, {condition} AS c FROM {r}"
        )
    }

    /// A set operation and its columns, which are named `u1` ….
    pub(super) fn set_operation(&mut self, outer: &Columns, depth: usize) -> (String, Columns) {
        let types: Vec<Ty> = (0..1 + self.below(2)).map(|_| self.type_among(6)).collect();
        let names: Columns =
            types.iter().enumerate().map(|(i, t)| (format!("u{}", i + 1), *t)).collect();
        let mut out = String::new();
        for arm in 0..2 + self.below(2) {
            let (from, own) = self.from(outer, 1);
            let scope = both(&own, outer);
            let list: Vec<String> = names
                .iter()
                .map(|(name, t)| format!("{} AS {name}", self.plain(*t, &scope, depth)))
                .collect();
            let condition = self.filter(&own, outer, 1);
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
            out.push_str(&format!("(SELECT {} FROM {from}{condition})", list.join(", ")));
        }
        (out, names)
    }

    /// A window function whose value does not depend on the order of equal rows.
    fn window(&mut self, own: &Columns, scope: &Columns) -> (Ty, String) {
        let (arg, by, order) =
            (self.expr(Int, scope, 1), self.expr(Int, own, 0), self.expr(Int, scope, 1));
        let (ty, f) = match self.below(9) {
            0 => (Int, "rank()".to_owned()),
            1 => (Int, "dense_rank()".to_owned()),
            2 => (Int, "count(*)".to_owned()),
            3 => (Int, format!("max({arg})")),
            4 => (Int, format!("count({arg}) FILTER (WHERE {})", self.expr(Bool, scope, 2))),
            5 => (Float, "percent_rank()".to_owned()),
            6 => (Int, format!("first_value({order})")),
            7 => (Num, format!("sum({arg})")),
            _ => (Int, "ntile(1)".to_owned()),
        };
        let offset = match self.chance(30) && self.sublinks > 0 {
            true => format!("(SELECT {})", self.below(3)),
            false => "1".to_owned(),
        };
        let frame = match self.below(6) {
            0 => format!(" RANGE BETWEEN {offset} PRECEDING AND CURRENT ROW"),
            1 => format!(" GROUPS BETWEEN {offset} PRECEDING AND {offset} FOLLOWING"),
            2 => " RANGE BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING EXCLUDE GROUP"
                .to_owned(),
            _ => String::new(),
        };
        let part = match self.chance(50) {
            true => format!("PARTITION BY {by} "),
            false => String::new(),
        };
        // A constant would be the same for all rows, and a frame by range needs one key.
        (ty, format!("{f} OVER ({part}ORDER BY ({order}) + 0{frame})"))
    }

    /// Grouping of `from`, with sets, HAVING, and keys within expressions.
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
            let ty = self.type_among(6);
            let depth = self.below(2);
            // A column most often: one of a subquery may be computed there, or be a constant.
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
            // A constant would be taken for a column's number.
            if key.0.contains('.') && !keys.contains(&key) && !key.0.contains("SELECT") {
                keys.push(key);
            }
        }
        let (group, sets) = self.group_clause(&keys);
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
        for _ in 0..1 + self.below(2) {
            let (ty, text) = self.aggregate(own, outer, &keys, depth.min(2));
            list.push(add(self, ty, text, &mut columns));
        }
        let having = match self.below(10) {
            0 | 1 => {
                format!(" HAVING count(*) {} {}", self.one(&["<", ">", "<>"]), self.below(5))
            }
            2 | 3 if !keys.is_empty() => {
                let at = self.below(keys.len());
                let (key, ty) = keys[at].clone();
                let test = match self.below(3) {
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
            4 => format!(" HAVING {}", self.expr(Bool, &keys, depth)),
            _ => String::new(),
        };
        (format!("SELECT {} FROM {from}{condition}{group}{having}", list.join(", ")), columns)
    }

    /// An expression of the key's type that has the key in it.
    fn over_key(&mut self, key: &str, ty: Ty, sets: bool) -> String {
        let constant = self.constant(ty);
        match self.below(if sets { 4 } else { 3 }) {
            0 => format!("COALESCE({key}, {constant})"),
            1 => format!("CASE WHEN ({key}) IS NULL THEN {constant} ELSE {key} END"),
            2 => format!("NULLIF({key}, {constant})"),
            _ => format!("CASE grouping({key}) WHEN 0 THEN {key} ELSE {constant} END"),
        }
    }

    /// GROUP BY; are there sets in it?
    fn group_clause(&mut self, keys: &Columns) -> (String, bool) {
        let names: Vec<&str> = keys.iter().map(|k| k.0.as_str()).collect();
        let all = names.join(", ");
        let Some((first, rest)) = names.split_first() else { return (String::new(), false) };
        let text = match (self.below(6), rest) {
            (0, _) => format!("ROLLUP ({all})"),
            (1, _) => format!("CUBE ({all})"),
            (2, [_, ..]) => format!("GROUPING SETS (({all}), ({first}), ())"),
            (3, [_, ..]) => format!("{first}, ROLLUP ({})", rest.join(", ")),
            (3, []) => format!("GROUPING SETS (({first}), ())"),
            _ => return (format!(" GROUP BY {all}"), false),
        };
        (format!(" GROUP BY {text}"), true)
    }

    /// An aggregate over the rows of `own`; its direct arguments are made of the keys.
    pub(super) fn aggregate(
        &mut self,
        own: &Columns,
        outer: &Columns,
        keys: &Columns,
        depth: usize,
    ) -> (Ty, String) {
        let scope = both(own, outer);
        let filter = match self.chance(20) {
            true => format!(" FILTER (WHERE {})", self.own_expr(Bool, own, &scope, 2)),
            false => String::new(),
        };
        let distinct = self.one(&["", "", "DISTINCT "]);
        let (ty, text) = match self.below(11) {
            0 => (Int, "count(*)".to_owned()),
            1 => {
                let ty = self.type_among(ALL.len());
                (Int, format!("count({distinct}{})", self.own_expr(ty, own, &scope, depth)))
            }
            2 => (Num, format!("sum({distinct}{})", self.plain(Num, own, depth))),
            3 => (Num, format!("avg({distinct}{})", self.own_expr(Int, own, &scope, depth))),
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
                let e = self.own_expr(Int, own, &scope, depth);
                (Ints, format!("array_agg({e} ORDER BY {e} DESC)"))
            }
            7 => {
                let f = self.one(&["bool_and", "bool_or"]);
                (Bool, format!("{f}({})", self.own_expr(Bool, own, &scope, depth)))
            }
            _ => self.ordered_set(own, keys, depth.min(1)),
        };
        (ty, text + &filter)
    }

    /// An ordered-set or hypothetical-set aggregate.
    fn ordered_set(&mut self, own: &Columns, keys: &Columns, depth: usize) -> (Ty, String) {
        let direct = match self.chance(60) {
            true => self.expr(Int, keys, 1),
            false => self.below(5).to_string(),
        };
        let part = format!("(abs({direct}) % 5 * 0.25)::float8");
        let order = self.direction();
        match self.below(6) {
            0 => {
                let by = self.plain(Float, own, depth);
                (Float, format!("percentile_cont({part}) WITHIN GROUP (ORDER BY {by}{order})"))
            }
            1 => {
                let ty = [Int, Text, Date][self.below(3)];
                let by = self.plain(ty, own, depth);
                (ty, format!("percentile_disc({part}) WITHIN GROUP (ORDER BY {by}{order})"))
            }
            2 => {
                let by = self.plain(Int, own, depth);
                let all = format!("percentile_disc(ARRAY[0.5, {part}])");
                (Ints, format!("{all} WITHIN GROUP (ORDER BY {by}{order})"))
            }
            3 => {
                let by = self.plain(Int, own, depth);
                (Int, format!("mode() WITHIN GROUP (ORDER BY {by})"))
            }
            _ => {
                let f = self.one(&["rank", "dense_rank", "percent_rank", "cume_dist"]);
                let ty = if f.ends_with("nk") && !f.starts_with('p') { Int } else { Float };
                let by = self.plain(Int, own, depth);
                (ty, format!("{f}({direct}) WITHIN GROUP (ORDER BY {by}{order})"))
            }
        }
    }
}
