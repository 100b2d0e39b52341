//! Sub-selects in expressions, correlated with the outer queries.

use super::generate::{Columns, Generator, SMALL, Ty, Ty::*, both, renamed};

impl Generator {
    /// A sub-select that returns one value, independently of the rows.
    pub(super) fn scalar(&mut self, ty: Ty, scope: &Columns, depth: usize) -> String {
        self.sublinks -= 1;
        self.within(|g| g.scalar_here(ty, scope, depth))
    }

    fn scalar_here(&mut self, ty: Ty, scope: &Columns, depth: usize) -> String {
        let d = depth.saturating_sub(2);
        let scope = &self.around(scope);
        let kind = self.below(16);
        match if self.affords(SMALL) { kind } else { 10 } {
            10..16 => self.small(ty, scope),
            0 => {
                let (from, own) = self.from(scope, d);
                let around = both(&own, scope);
                let (e, condition) = (self.plain(ty, &around, 1), self.filter(&own, scope, 1));
                let offset = self.below(3);
                let order = self.direction();
                format!(
                    "(SELECT {e} FROM {from}{condition} ORDER BY 1{order} LIMIT 1 OFFSET {offset})"
                )
            }
            1 => {
                let (inner, columns) = self.select(scope, d);
                let (w, v) = (self.name("w"), self.name("v"));
                let how = self.one(&["", "MATERIALIZED "]);
                let mut own = renamed(&w, &columns);
                let join = match self.chance(40) && self.affords(self.rows * self.rows) {
                    true => {
                        own.extend(renamed(&v, &columns));
                        format!(", {w} AS {v}")
                    }
                    false => String::new(),
                };
                let e = self.largest(ty, &own, scope);
                format!("(WITH {w} AS {how}({inner}) SELECT {e} FROM {w}{join})")
            }
            2 if ty == Int => {
                let f = self.one(&["count(*)", "max(n)", "sum(v)::int"]);
                let r = self.name("r");
                format!("(SELECT {f} FROM ({}) AS {r})", self.recursive(scope))
                    .replace("count(*)", "count(*)::int")
            }
            3 => {
                let (inner, columns) = self.set_operation(scope, 1);
                let u = self.name("u");
                let e = self.largest(ty, &renamed(&u, &columns), scope);
                format!("(SELECT {e} FROM ({inner}) AS {u})")
            }
            4 | 5 => {
                let (inner, columns) = self.select(scope, d);
                let s = self.name("s");
                let e = self.largest(ty, &renamed(&s, &columns), scope);
                format!("(SELECT {e} FROM ({inner}) AS {s})")
            }
            _ => {
                let (from, own) = self.from(scope, d);
                let depth = self.deeper();
                let condition = self.filter(&own, scope, depth);
                let e = self.largest(ty, &own, scope);
                format!("(SELECT {e} FROM {from}{condition})")
            }
        }
    }

    /// As [`Self::scalar`], in forms that are always cheap.
    fn small(&mut self, ty: Ty, scope: &Columns) -> String {
        let kind = self.below(8);
        match if self.affords(SMALL * 2.0) { kind } else { 4 + kind / 2 } {
            0 | 1 if !scope.is_empty() && self.chance(70) => {
                let (from, own, condition) = self.members(scope);
                let e = self.largest(ty, &own, scope);
                format!("(SELECT {e} FROM {from} WHERE {condition})")
            }
            0 | 1 if !scope.is_empty() => {
                let (from, own) = self.joined_in_one_place(scope);
                format!("(SELECT {} FROM {from})", self.largest(ty, &own, &Columns::new()))
            }
            2 => {
                let (inner, columns) = self.half_read(scope);
                let s = self.name("s");
                let e = self.largest(ty, &renamed(&s, &columns), scope);
                format!("(SELECT {e} FROM ({inner}) AS {s})")
            }
            3 => {
                let ints = self.array_of(Ints, scope);
                match ty {
                    Int => format!("(SELECT max(g) FROM unnest({ints}) AS g)"),
                    Ints => format!("({ints})"),
                    _ => format!("(SELECT {} LIMIT cardinality({ints}))", self.expr(ty, scope, 1)),
                }
            }
            4 | 5 => format!("(SELECT {})", self.expr(ty, scope, 1)),
            _ => {
                let condition = self.expr(Bool, scope, 1);
                format!("(SELECT {} WHERE {condition})", self.expr(ty, scope, 1))
            }
        }
    }

    /// A table and a condition of IN whose rows depend only on columns of the enclosing query: they
    /// are hashed once for each of its rows.
    fn members(&mut self, scope: &Columns) -> (String, Columns, String) {
        let (from, own) = self.base();
        let (inner, columns) = self.restricted(scope);
        let ints = |columns: &Columns| -> Vec<String> {
            columns.iter().filter(|c| c.1 == Int).map(|c| c.0.clone()).collect()
        };
        let (left, right) = (ints(&own), ints(&columns));
        let left = left[self.below(left.len())].clone();
        let right = right[self.below(right.len())].clone();
        let not = self.one(&["", "NOT ", "NOT "]);
        let or = match self.chance(40) {
            true => format!(" OR {}", self.expr(Bool, &own, 1)),
            false => String::new(),
        };
        let condition = format!("({left} {not}IN (SELECT {right} FROM {inner}){or})");
        (from, own, condition)
    }

    /// An aggregate of that type.
    fn largest(&mut self, ty: Ty, own: &Columns, outer: &Columns) -> String {
        for _ in 0..3 {
            let (got, text) = self.aggregate(own, outer, &Vec::new(), 1);
            if got == ty {
                return match ty {
                    Int if text.starts_with("count") || text.contains("rank(") => {
                        format!("({text})::int")
                    }
                    _ => text,
                };
            }
        }
        match ty {
            Bool => format!("bool_or({})", self.own_expr(Bool, own, &both(own, outer), 1)),
            Ints | Texts | Json => {
                let of = [Int, Text][usize::from(ty != Ints)];
                let e = self.own_expr(of, own, &both(own, outer), 1);
                let f = if ty == Json { "jsonb_agg" } else { "array_agg" };
                format!("{f}({e} ORDER BY {e})")
            }
            _ => format!("max({})", self.plain(ty, own, 1)),
        }
    }

    /// A query of one column of that type with any number of rows.
    fn column(&mut self, ty: Ty, scope: &Columns, depth: usize) -> String {
        let d = depth.saturating_sub(2);
        let scope = &self.around(scope);
        let kind = self.below(9);
        match if self.affords(SMALL) { kind } else { 7 } {
            8 if ty == Int => {
                let (inner, columns) = self.half_read(scope);
                format!("SELECT h.{} FROM ({inner}) AS h", columns[1].0)
            }
            7 => {
                let (a, b) = (self.expr(ty, scope, 1), self.expr(ty, scope, 1));
                format!("VALUES ({a}), ({b})")
            }
            6 if ty == Int => {
                let (a, ints) = (self.expr(Int, scope, 1), self.expr(Ints, scope, 1));
                match self.below(3) {
                    0 => format!("SELECT generate_series(1, abs({a}) % 4)"),
                    1 => format!("SELECT unnest({ints})"),
                    _ => format!("SELECT g FROM numbers_of({a}) AS g"),
                }
            }
            0 => {
                let (inner, columns) = self.select(scope, d);
                let s = self.name("s");
                let own = renamed(&s, &columns);
                let e = self.expr(ty, &both(&own, scope), 1);
                format!("SELECT {e} FROM ({inner}) AS {s}")
            }
            1 => self.single(ty, scope),
            2 => {
                let (from, own) = self.from(scope, d);
                let condition = self.filter(&own, scope, 1);
                let (key, e) = (self.expr(Int, &own, 0), self.largest(ty, &own, scope));
                let group = match key.contains('.') {
                    true => format!(" GROUP BY {key}"),
                    false => String::new(),
                };
                format!("SELECT {e} FROM {from}{condition}{group}")
            }
            _ => {
                let (from, own) = self.from(scope, d);
                let around = both(&own, scope);
                let depth = self.deeper();
                let condition = self.filter(&own, scope, depth);
                let e = self.expr(ty, &around, 1);
                let distinct = self.one(&["", "", "DISTINCT "]);
                format!("SELECT {distinct}{e} FROM {from}{condition}")
            }
        }
    }

    /// A condition with a sub-select.
    pub(super) fn sub_condition(&mut self, scope: &Columns, depth: usize) -> String {
        self.sublinks -= 1;
        self.within(|g| g.sub_condition_here(scope, depth))
    }

    fn sub_condition_here(&mut self, scope: &Columns, depth: usize) -> String {
        let not = self.one(&["", "", "NOT "]);
        let op = self.one(&["=", "<>", "<", "<=", ">", ">="]);
        let ty = [Int, Int, Text, Date, Num, Ts][self.below(6)];
        // The left side may contain sub-selects.
        let deeper = if self.chance(40) { 3 } else { depth - 1 };
        let mine = self.expr(ty, scope, deeper);
        let kind = self.below(12);
        match if self.affords(SMALL) { kind } else { 1 + kind % 4 } {
            11 => {
                let how = self.one(&["ANY", "ALL"]);
                format!("({mine} {op} {how} (ARRAY({})))", self.single(ty, scope))
            }
            10 => {
                // Both sides are rows of sub-selects.
                let (second, other) = (self.expr(Int, scope, deeper), self.expr(Int, scope, 2));
                let again = self.scalar_again(ty, scope, depth);
                format!("(ROW({mine}, {second}) {op} ROW({again}, {other}))")
            }
            9 => {
                let second = self.expr(Int, scope, 1);
                let scope = &self.around(scope);
                let how = self.one(&["ANY", "ALL"]);
                let (from, own) = self.from(scope, 0);
                let condition = self.filter(&own, scope, 1);
                let around = both(&own, scope);
                let (a, b) = (self.expr(ty, &around, 1), self.expr(Int, &around, 1));
                format!("(({mine}, {second}) {op} {how} (SELECT {a}, {b} FROM {from}{condition}))")
            }
            8 => {
                let inner = {
                    let scope = self.around(scope);
                    self.half_read(&scope).0
                };
                let s = self.name("s");
                let value = self.expr(Int, scope, 0);
                format!("({not}EXISTS (SELECT {s}.v FROM ({inner}) AS {s} WHERE {value} > 0))")
            }
            0 => {
                let scope = &self.around(scope);
                let (from, own) = self.from(scope, depth.saturating_sub(2));
                let deeper = self.deeper();
                let condition = self.filter(&own, scope, deeper);
                let limit = self.one(&["", "", " OFFSET 2", " LIMIT 1"]);
                format!("({not}EXISTS (SELECT 1 FROM {from}{condition}{limit}))")
            }
            1 | 2 => format!("({mine} {not}IN ({}))", self.column(ty, scope, depth)),
            3 | 4 => {
                let how = self.one(&["ANY", "ALL"]);
                format!("({mine} {op} {how} ({}))", self.column(ty, scope, depth))
            }
            5 => {
                let second = self.expr(Int, scope, 1);
                let scope = &self.around(scope);
                let (from, own) = self.from(scope, depth.saturating_sub(2));
                let condition = self.filter(&own, scope, 1);
                let around = both(&own, scope);
                let (a, b) = (self.expr(ty, &around, 1), self.expr(Int, &own, 1));
                format!("(({mine}, {second}) {not}IN (SELECT {a}, {b} FROM {from}{condition}))")
            }
            6 => {
                let second = self.expr(Int, scope, 1);
                let scope = &self.around(scope);
                let (from, own) = self.from(scope, 0);
                let (a, b) = (self.plain(ty, &own, 1), self.plain(Int, &own, 1));
                let row = format!("SELECT {a}, {b} FROM {from} ORDER BY 1, 2 LIMIT 1");
                format!("(({mine}, {second}) {op} ({row}))")
            }
            _ => format!("({mine} {op} {})", self.scalar_again(ty, scope, depth)),
        }
    }

    fn scalar_again(&mut self, ty: Ty, scope: &Columns, depth: usize) -> String {
        if self.sublinks > 0 { self.scalar(ty, scope, depth) } else { self.expr(ty, scope, 1) }
    }

    /// An array of a sub-select's rows with a total order.
    pub(super) fn array_of(&mut self, ty: Ty, scope: &Columns) -> String {
        self.sublinks = self.sublinks.saturating_sub(1);
        let scope = &self.around(scope);
        let single = self.within(|g| g.single(if ty == Ints { Int } else { Text }, scope));
        format!("ARRAY({single})")
    }
}
