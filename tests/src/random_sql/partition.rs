//! Changes of rows of partitioned tables, which may move them, and of inheritance children.

use super::change::columns;
use super::generate::{Generator, Statement, Ty::*, both};

impl Generator {
    /// A change within a transaction, and the rows afterwards with their tables.
    pub(super) fn change_of_members(&mut self) -> Statement {
        let p = columns(&[("t.id", Int), ("t.x", Int), ("t.s", Text), ("t.n", Num), ("t.d", Date)]);
        let i = columns(&[("u.id", Int), ("u.aid", Int), ("u.f", Float), ("u.s", Text)]);
        let (id, x) = (self.expr(Int, &p, 2), self.expr(Int, &p, 2));
        let condition = self.expr(Bool, &p, 2);
        let table = "tableoid::regclass AS member";
        let sql = match self.below(9) {
            0 => {
                let shown = self.expr(Text, &p, 2);
                format!("UPDATE pr AS t SET id = {id} WHERE {condition} RETURNING *, {shown}")
            }
            1 => format!(
                "UPDATE pr AS t SET x = {x}, id = t.id + {} WHERE {condition} RETURNING *, {table}",
                self.below(15)
            ),
            2 => {
                let more = self.expr(Text, &both(&p, &i), 2);
                let matched = self.expr(Bool, &both(&p, &i), 2);
                format!(
                    "MERGE INTO pr AS t USING b AS u ON t.id = u.id WHEN MATCHED AND {matched} \
                     THEN UPDATE SET id = u.id + {}, s = {more} WHEN MATCHED AND u.aid > 20 THEN \
                     DELETE WHEN NOT MATCHED AND u.f > 2 THEN INSERT (s, id, x) \
                     VALUES (u.s, u.id, u.aid)",
                    self.below(30)
                )
            }
            3 => {
                let (from, to) = (self.expr(Int, &i, 2), self.expr(Text, &i, 2));
                format!(
                    "MERGE INTO ih AS w USING (SELECT id, aid, f, s FROM b AS u) AS u \
                     ON w.id = u.id AND w.f IS NOT NULL AND w.s <> 'low' AND w.id > 14 \
                     WHEN MATCHED AND {from} > 0 THEN UPDATE SET s = {to} \
                     WHEN MATCHED THEN DO NOTHING \
                     WHEN NOT MATCHED THEN INSERT (id, s) VALUES (u.id, {to})"
                )
            }
            4 => format!("DELETE FROM pr AS t WHERE {condition} RETURNING *, {table}"),
            5 => {
                let more = self.expr(Bool, &both(&p, &i), 2);
                format!(
                    "DELETE FROM ih AS u USING pr AS t WHERE t.id = u.id AND {more} \
                     RETURNING u.id, t.id"
                )
            }
            6 => format!(
                "INSERT INTO pr (s, id, x) SELECT t.s, {id}, {x} FROM a AS t WHERE {condition} \
                 RETURNING *, {table}"
            ),
            7 => {
                let (f, more) = (self.expr(Float, &i, 1), self.expr(Bool, &i, 2));
                format!("UPDATE ih AS u SET f = {f}, aid = 1 WHERE {more} RETURNING *, u.{table}")
            }
            _ => format!(
                "UPDATE pr AS t SET (id, s) = (SELECT max(u.aid), min(u.s) FROM ih u \
                 WHERE u.id = t.id) FROM c WHERE c.k = t.id AND c.x = 1 AND {condition} \
                 RETURNING t.*"
            ),
        };
        let rows = |of: &str| format!("SELECT {table}, r.* FROM {of} AS r");
        let mut statement = Statement::many(vec![format!("BEGIN; {sql}"), rows("pr"), rows("ih")]);
        (statement.opened, statement.changes) = (true, true);
        statement
    }
}
