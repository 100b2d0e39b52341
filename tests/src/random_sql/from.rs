//! FROM: tables, functions, views, sub-selects, and all joins of them.

use super::generate::{Columns, Generator, Ty::*, both, renamed};

impl Generator {
    /// A table or sub-select under a name, and its columns.
    fn table(&mut self, outer: &Columns, depth: usize) -> (String, Columns) {
        let t = self.name("t");
        let columns: &[(&str, super::generate::Ty)] = match self.below(if depth > 0 {
            12
        } else {
            8
        }) {
            0 | 1 => &[("id", Int), ("x", Int), ("s", Text), ("n", Num), ("d", Date)],
            2 | 3 => &[("id", Int), ("aid", Int), ("f", Float), ("s", Text), ("arr", Ints)],
            4 => &[("k", Int), ("v", Text), ("q", Bool), ("i", Interval)],
            5 => {
                let rows = self
                    .one(&["(1, 'one', true), (5, 'y', NULL)", "(2, NULL, NULL), (3, 'x', false)"]);
                let text = format!("(VALUES {rows}) AS {t}(k, v, q)");
                return (text, renamed(&t, &columns_of(&[("k", Int), ("v", Text), ("q", Bool)])));
            }
            6 => {
                let view = self.one(&["va", "vj", "vg", "vu"]);
                let columns = columns_of(&[("k", Int), ("kind", Text), ("s", Text), ("n", Int)]);
                return (format!("{view} AS {t}"), renamed(&t, &columns));
            }
            7 => {
                let columns = [("k", Int), ("w", Text), ("g", Int)];
                return (format!("w AS {t}"), renamed(&t, &columns_of(&columns)));
            }
            8 => {
                let text = format!("generate_series(1, {}) AS {t}(g)", 1 + self.below(5));
                return (text, vec![(format!("{t}.g"), Int)]);
            }
            _ => {
                let (inner, columns) = match self.below(4) {
                    0 => self.set_operation(outer, depth - 1),
                    _ => self.select(outer, depth - 1),
                };
                return (format!("({inner}) AS {t}"), renamed(&t, &columns));
            }
        };
        let table = match columns[1].0 {
            "x" => "a",
            "aid" => "b",
            _ => "c",
        };
        (format!("{table} AS {t}"), renamed(&t, &columns_of(columns)))
    }

    /// What stands in FROM, with its columns.
    pub(super) fn from(&mut self, outer: &Columns, depth: usize) -> (String, Columns) {
        let joins = if depth == 0 { self.below(2) } else { self.below(3) };
        self.joined(outer, depth, joins)
    }

    fn joined(&mut self, outer: &Columns, depth: usize, joins: usize) -> (String, Columns) {
        let (mut text, mut scope) = self.table(outer, depth);
        for _ in 0..joins {
            if self.chance(20) {
                let (item, columns) = self.lateral(&both(&scope, outer), depth);
                let join = self.one(&["CROSS JOIN", "JOIN", "LEFT JOIN"]);
                let on = match (join, self.chance(50)) {
                    ("CROSS JOIN", _) => String::new(),
                    (_, true) => " ON true".to_owned(),
                    _ => format!(" ON {}", self.expr(Bool, &both(&columns, &scope), 1)),
                };
                text.push_str(&format!(" {join} {item}{on}"));
                scope.extend(columns);
                continue;
            }
            let (right, columns) = match depth > 0 && self.chance(15) {
                true => {
                    // Parentheses around a single item are not allowed.
                    let joins = 1 + self.below(2);
                    let (inner, columns) = self.joined(outer, depth - 1, joins);
                    (format!("({inner})"), columns)
                }
                false => self.table(outer, depth.saturating_sub(1)),
            };
            text.push_str(&self.join(&scope, &columns, outer, &right, depth));
            scope.extend(columns);
        }
        (text, scope)
    }

    fn join(
        &mut self,
        left: &Columns,
        right: &Columns,
        outer: &Columns,
        item: &str,
        depth: usize,
    ) -> String {
        let ints = |c: &Columns| -> Vec<String> {
            c.iter().filter(|c| c.1 == Int).map(|c| c.0.clone()).collect()
        };
        let (l, r) = (ints(left), ints(right));
        let join = self.one(&["JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL JOIN", "CROSS JOIN"]);
        if l.is_empty() || r.is_empty() || join == "CROSS JOIN" {
            return format!(" CROSS JOIN {item}");
        }
        let (mut l, mut r) = (l[self.below(l.len())].clone(), r[self.below(r.len())].clone());
        // A value from around within the key of one side.
        if !outer.is_empty() && self.chance(40) {
            let more = self.expr(Int, outer, 1);
            match self.chance(50) {
                true => l = format!("{l} + {more}"),
                false => r = format!("{r} + {more}"),
            }
        }
        let more = match join != "FULL JOIN" && self.chance(35) {
            true => {
                let scope = both(&both(left, right), outer);
                // Deep enough for a sub-select, also far below.
                let depth = if self.chance(40) { 2 } else { depth.min(2) };
                format!(" AND {}", self.expr(Bool, &scope, depth))
            }
            false => String::new(),
        };
        format!(" {join} {item} ON {l} = {r}{more}")
    }

    /// An item that uses the columns before it and those from around.
    fn lateral(&mut self, around: &Columns, depth: usize) -> (String, Columns) {
        let l = self.name("l");
        match self.below(6) {
            0 => {
                let to = self.expr(Int, around, 1);
                (
                    format!("generate_series(1, abs({to}) % 5) AS {l}(g)"),
                    vec![(format!("{l}.g"), Int)],
                )
            }
            1 => {
                let array = self.expr(Ints, around, 1);
                (format!("unnest({array}) AS {l}(e)"), vec![(format!("{l}.e"), Int)])
            }
            2 => {
                let (a, b) = (self.expr(Int, around, 1), self.expr(Text, around, 1));
                let (c, d) = (self.expr(Int, around, 1), self.expr(Text, around, 1));
                let columns = columns_of(&[("p", Int), ("q", Text)]);
                let values = format!("LATERAL (VALUES ({a}, {b}), ({c}, {d})) AS {l}(p, q)");
                (values, renamed(&l, &columns))
            }
            3 => {
                let p = self.expr(Int, around, 1);
                let columns = columns_of(&[("p", Int), ("q", Text)]);
                (format!("rows_of({p}) AS {l}(p, q)"), renamed(&l, &columns))
            }
            _ => {
                let depth = depth.saturating_sub(1);
                let (inner, columns) = match self.below(5) {
                    0 => self.set_operation(around, depth.min(1)),
                    1 => {
                        (self.recursive(around), columns_of(&[("n", Int), ("v", Int), ("c", Bool)]))
                    }
                    2 => {
                        let p = self.name("p");
                        (
                            format!("SELECT u.{p} FROM ({}) AS u({p})", self.single(Int, around)),
                            vec![(p, Int)],
                        )
                    }
                    _ => self.select(around, depth),
                };
                (format!("LATERAL ({inner}) AS {l}"), renamed(&l, &columns))
            }
        }
    }

    /// A query of one column in an order that is decided, with a LIMIT.
    pub(super) fn single(&mut self, ty: super::generate::Ty, outer: &Columns) -> String {
        let (from, own) = self.from(outer, 0);
        let scope = both(&own, outer);
        let (e, condition) = (self.plain(ty, &scope, 1), self.filter(&own, outer, 1));
        let order = self.direction();
        let tail = match self.chance(50) && !outer.is_empty() {
            true => format!("LIMIT abs({}) % 3 + 1", self.expr(Int, outer, 0)),
            false => format!("LIMIT {} OFFSET {}", 1 + self.below(3), self.below(3)),
        };
        format!("SELECT {e} FROM {from}{condition} ORDER BY 1{order} {tail}")
    }
}

fn columns_of(columns: &[(&str, super::generate::Ty)]) -> Columns {
    columns.iter().map(|(c, ty)| ((*c).to_owned(), *ty)).collect()
}
