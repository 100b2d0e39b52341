//! INSERT, UPDATE, DELETE and MERGE, with sub-selects wherever they are allowed.

use super::generate::{Columns, Generator, SMALL, Statement, Ty, Ty::*, both, renamed};

impl Generator {
    /// A change of rows within a transaction.
    pub(super) fn change(&mut self) -> Statement {
        self.over_rows(SMALL);
        self.changes = true;
        let a = columns(&[("t.id", Int), ("t.x", Int), ("t.s", Text), ("t.n", Num), ("t.d", Date)]);
        let b = columns(&[("u.id", Int), ("u.aid", Int), ("u.f", Float), ("u.s", Text)]);
        let all = both(&a, &b);
        let condition = self.expr(Bool, &a, 3);
        let (x, s) = (self.expr(Int, &a, 3), self.expr(Text, &a, 2));
        let sql = match self.below(18) {
            0 => {
                let more = self.expr(Int, &a, 2);
                format!("UPDATE a AS t SET x = {x}, s = {s} WHERE {condition} RETURNING *, {more}")
            }
            1 => {
                let (more, f) = (self.expr(Bool, &all, 2), self.expr(Float, &all, 1));
                format!(
                    "UPDATE b AS u SET f = {f}, s = t.s FROM a t WHERE t.id = u.aid \
                     AND {more} RETURNING u.id, t.id, u.f"
                )
            }
            2 => format!(
                "DELETE FROM b AS u USING a t WHERE t.id = u.aid AND {condition} RETURNING u.*"
            ),
            3 => format!("DELETE FROM a AS t WHERE {condition}"),
            4 => format!(
                "INSERT INTO a AS r (id, x, s) SELECT t.id + {}, {x}, {s} FROM a t \
                 WHERE {condition} ON CONFLICT (id) DO \
                 UPDATE SET x = excluded.x, s = r.s || excluded.s \
                 WHERE r.x IS NOT NULL RETURNING *",
                self.below(20)
            ),
            5 => {
                let r = columns(&[("r.id", Int), ("r.x", Int), ("r.s", Text)]);
                let e = columns(&[("excluded.id", Int), ("excluded.x", Int)]);
                let scope = both(&r, &e);
                let (set, test) = (self.expr(Int, &scope, 3), self.expr(Bool, &scope, 2));
                let shown = self.expr(Int, &r, 2);
                format!(
                    "INSERT INTO a AS r (id, x) SELECT t.id + 3, {x} FROM a t \
                     ON CONFLICT (id) DO UPDATE SET x = {set} \
                     WHERE {test} RETURNING r.*, {shown}"
                )
            }
            6 => {
                let (from, own) = self.from(&a, 1);
                let where_ = self.filter(&own, &a, 1);
                let (e, f) = (self.plain(Int, &own, 1), self.plain(Text, &own, 1));
                format!(
                    "UPDATE a AS t SET (x, s) = (SELECT max({e}), min({f}) FROM {from}{where_}) \
                     WHERE {condition} \
                     RETURNING t.id, t.x, t.s"
                )
            }
            7 => {
                let none = Vec::new();
                let (x, s) = (self.expr(Int, &none, 3), self.expr(Text, &none, 3));
                let (y, z) = (self.expr(Int, &none, 3), self.expr(Text, &none, 2));
                format!(
                    "INSERT INTO c (k, v) VALUES ({x}, left({s}, 9)), \
                     ({y}, left({z}, 9)) RETURNING *"
                )
            }
            8 => format!(
                "WITH new AS (UPDATE a t SET x = {x} WHERE {condition} RETURNING t.id, t.x) \
                 SELECT n.id, n.x, (SELECT \
                 count(*) FROM b WHERE b.aid = n.x) FROM new n"
            ),
            9..13 => self.change_by_rows(&a, &b, &condition),
            13..17 => return self.change_of_members(),
            _ => format!(
                "WITH gone AS (DELETE FROM a t WHERE {condition} RETURNING t.*) INSERT INTO c (k, \
                 v) SELECT g.id, \
                 left(g.s, 5) FROM gone g RETURNING k, v"
            ),
        };
        let mut statement = Statement::many(vec![format!("BEGIN; {sql}")]);
        (statement.opened, statement.changes) = (true, true);
        statement
    }

    /// Changes driven by the rows of queries; `a` and `b` are columns of `a t` and `b u`.
    fn change_by_rows(&mut self, a: &Columns, b: &Columns, condition: &str) -> String {
        match self.below(4) {
            0 => {
                let u = columns(&[("z.id", Int), ("z.x", Int), ("z.s", Text), ("z.d", Date)]);
                let (item, own) = self.from(&u, 1);
                let test = self.filter(&own, &u, 1);
                let (e, more) = (self.plain(Int, &own, 1), self.expr(Text, &both(a, &u), 2));
                format!(
                    "UPDATE a AS t SET x = q.m, s = {more} FROM a z CROSS JOIN \
                     LATERAL (SELECT max({e}) AS m FROM {item}{test}) \
                     q WHERE z.id = t.id RETURNING t.*, q.m, row_to_json(z)::text"
                )
            }
            1 => {
                let rows = self.select(&Vec::new(), 2);
                let w = self.name("w");
                let own = renamed(&w, &rows.1);
                let (k, v) = (self.expr(Int, &own, 1), self.expr(Text, &own, 1));
                let shown = self.expr(Text, &columns(&[("c.k", Int), ("c.v", Text)]), 2);
                format!(
                    "INSERT INTO c (k, v, x) SELECT {k}, left({v}, 10), 1 FROM ({}) \
                     AS {w} RETURNING *, {shown}",
                    rows.0
                )
            }
            2 => {
                let (from, own) = self.from(a, 1);
                let test = self.filter(&own, a, 1);
                let shown = self.expr(Int, a, 3);
                format!(
                    "DELETE FROM a AS t WHERE EXISTS (SELECT 1 FROM {from}{test}) \
                     AND {condition} RETURNING t.s, {shown}"
                )
            }
            _ => {
                let cast = self.expr(Text, b, 2);
                let e = self.expr(Json, b, 2);
                format!(
                    "INSERT INTO e (id, p, doc, tags, m, z) \
                     SELECT u.id + 100, u.aid, {e}, ARRAY[u.s], left({cast}, 4), \
                     left({cast}, 6) FROM b u RETURNING *"
                )
            }
        }
    }

    /// VALUES with sub-selects among the values.
    pub(super) fn values(&mut self) -> Statement {
        let none = Vec::new();
        let row = |g: &mut Generator| {
            let (a, b) = (g.expr(Int, &none, 3), g.expr(Text, &none, 2));
            format!("({a}, {b})")
        };
        let rows = format!("VALUES {}, {}", row(self), row(self));
        let v = self.name("v");
        let scope = vec![(format!("{v}.p"), Int), (format!("{v}.q"), Text)];
        let e = self.expr(Int, &scope, 3);
        Statement::one(match self.below(3) {
            0 => rows,
            1 => format!("SELECT {v}.*, {e} AS e FROM ({rows}) AS {v}(p, q)"),
            _ => format!("SELECT {e} AS e, count(*) FROM ({rows}) AS {v}(p, q) GROUP BY 1"),
        })
    }
}

pub(super) fn columns(all: &[(&str, Ty)]) -> Columns {
    all.iter().map(|(c, t)| ((*c).to_owned(), *t)).collect()
}
