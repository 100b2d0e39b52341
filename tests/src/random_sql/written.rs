//! MERGE, ON CONFLICT on partitioned tables, COPY of queries, and triggers with transition tables.

use super::change::columns;
use super::generate::{Columns, Generator, SMALL, Statement, Ty::*, both};

/// Shows the rows of a table with the partitions that they are in.
fn rows_of(table: &str) -> String {
    format!("SELECT tableoid::regclass AS member, r.* FROM {table} AS r")
}

fn opened(steps: Vec<String>) -> Statement {
    let mut statement = Statement::many(steps);
    (statement.opened, statement.changes) = (true, true);
    statement
}

impl Generator {
    /// The rows of a query with a key that is unique in it, under the alias `u`.
    fn keyed_source(&mut self) -> (String, Columns) {
        let (item, own) = self.base();
        let condition = self.filter(&own, &Vec::new(), 1);
        let (key, i) = (self.plain(Int, &own, 1), self.plain(Int, &own, 1));
        let t = self.plain(Text, &own, 1);
        let sql = format!(
            "(SELECT {key} AS k, max({i}) AS i, min({t}) AS t, count(*)::int AS c FROM \
             {item}{condition} GROUP BY 1 HAVING {key} IS NOT NULL) AS u"
        );
        (sql, columns(&[("u.k", Int), ("u.i", Int), ("u.t", Text), ("u.c", Int)]))
    }

    /// MERGE with random clauses into a table, a partitioned table, or a table with children.
    pub(super) fn merged(&mut self) -> Statement {
        self.over_rows(SMALL);
        self.changes = true;
        let (source, u) = self.keyed_source();
        let table = self.one(&["a", "pr", "pu", "pu"]);
        let t = columns(&[("t.id", Int), ("t.x", Int), ("t.s", Text)]);
        let all = both(&t, &u);
        let mut sql = format!("MERGE INTO {table} AS t USING {source} ON t.id = u.k");
        if self.chance(25) {
            sql += &format!(" AND {}", self.expr(Bool, &all, 1));
        }
        for _ in 0..1 + self.below(4) {
            let matched = self.chance(65);
            let scope = if matched { &all } else { &u };
            sql += if matched { " WHEN MATCHED" } else { " WHEN NOT MATCHED" };
            if self.chance(92) {
                sql += &format!(" AND {}", self.expr(Bool, scope, 2));
            }
            let (x, s) = (self.expr(Int, scope, 2), self.expr(Text, scope, 1));
            sql += " THEN ";
            sql += &match (matched, self.below(6)) {
                (_, 0) => "DO NOTHING".to_owned(),
                (true, 1 | 2) => "DELETE".to_owned(),
                (true, 3) => format!("UPDATE SET id = t.id + 100, s = {s}"),
                (true, _) => format!("UPDATE SET x = {x}, s = {s}"),
                (false, 1) => "INSERT (id) VALUES (u.k + 50)".to_owned(),
                (false, _) => format!("INSERT (id, s, x) VALUES (u.k + 50, {s}, {x})"),
            };
        }
        opened(vec![format!("BEGIN; {sql}"), rows_of(table)])
    }

    /// INSERT … ON CONFLICT into a partitioned table.
    pub(super) fn conflicting(&mut self) -> Statement {
        self.over_rows(SMALL);
        self.changes = true;
        let (source, u) = self.keyed_source();
        let own = columns(&[("r.id", Int), ("r.x", Int), ("r.s", Text)]);
        let excluded = columns(&[("excluded.id", Int), ("excluded.x", Int), ("excluded.s", Text)]);
        let scope = both(&own, &excluded);
        let (x, s) = (self.expr(Int, &u, 2), self.expr(Text, &u, 1));
        let action = match self.below(5) {
            0 => "DO NOTHING".to_owned(),
            1 => format!("(id) DO UPDATE SET s = {}", self.expr(Text, &scope, 2)),
            2 => "(id) DO UPDATE SET (x, s) = ROW(excluded.x, r.s || excluded.s)".to_owned(),
            _ => format!(
                "(id) DO UPDATE SET x = {}, s = excluded.s WHERE {}",
                self.expr(Int, &scope, 2),
                self.expr(Bool, &scope, 2)
            ),
        };
        let shown = self.expr(Text, &own, 2);
        let sql = format!(
            "INSERT INTO pu AS r (id, x, s) SELECT u.k, {x}, {s} FROM {source} \
             ON CONFLICT {action} RETURNING r.*, tableoid::regclass, {shown} AS e"
        );
        opened(vec![format!("BEGIN; {sql}"), rows_of("pu")])
    }

    /// COPY of the rows of a query, or of those that a change returns.
    pub(super) fn copied(&mut self) -> Statement {
        let format = self.one(&[
            "",
            " (FORMAT csv)",
            " (FORMAT csv, HEADER, FORCE_QUOTE *)",
            " (FORMAT csv, NULL 'one', DELIMITER ';')",
            " (NULL '', DELIMITER '|')",
        ]);
        if self.chance(60) {
            let sql = self.select(&Vec::new(), 2).0;
            return Statement::one(format!("COPY ({sql}) TO STDOUT{format}"));
        }
        let table = self.one(&["pr", "pu", "a"]);
        let t = columns(&[("t.id", Int), ("t.x", Int), ("t.s", Text)]);
        self.over_rows(SMALL);
        self.changes = true;
        let (condition, shown) = (self.expr(Bool, &t, 2), self.expr(Text, &t, 2));
        let sql = match self.below(3) {
            0 => format!("DELETE FROM {table} AS t WHERE {condition} RETURNING *, {shown}"),
            1 => format!(
                "UPDATE {table} AS t SET s = {shown} WHERE {condition} RETURNING {shown}, *"
            ),
            _ => format!(
                "INSERT INTO {table} AS t (id, x, s) SELECT id + 200, x, s FROM a RETURNING \
                 {shown}, t.*"
            ),
        };
        opened(vec![format!("BEGIN; COPY ({sql}) TO STDOUT{format}"), rows_of(table)])
    }

    /// A statement trigger that reads the changed rows from transition tables.
    pub(super) fn transition(&mut self) -> Statement {
        self.over_rows(SMALL);
        let table = self.one(&["a", "pr", "pu"]);
        let event = self.one(&["INSERT", "UPDATE", "DELETE"]);
        let (referencing, tables): (&str, &[&str]) = match event {
            "INSERT" => ("NEW TABLE AS nt", &["nt"]),
            "DELETE" => ("OLD TABLE AS ot", &["ot"]),
            _ => ("OLD TABLE AS ot NEW TABLE AS nt", &["ot", "nt"]),
        };
        let row = |alias: &str| -> Columns {
            let all = [("id", Int), ("x", Int), ("s", Text)];
            all.iter().map(|(c, ty)| (format!("{alias}.{c}"), *ty)).collect()
        };
        let read = self.one(tables);
        let own = row("q");
        let test = self.filter(&own, &Vec::new(), 2);
        let (what, i) = (self.expr(Text, &own, 2), self.expr(Int, &own, 2));
        let from = match tables.len() {
            2 if self.chance(50) => "(SELECT id, n.x, o.s FROM ot o JOIN nt n USING (id)) AS q",
            _ if read == "ot" => "ot AS q",
            _ => "nt AS q",
        };
        let log = format!("INSERT INTO lg SELECT left({what}, 30), {i}, TG_OP FROM {from}{test};");
        let create = format!(
            "CREATE FUNCTION tf() RETURNS trigger LANGUAGE plpgsql AS $f$ BEGIN {log} \
             RETURN NULL; END $f$; CREATE TRIGGER tr AFTER {event} ON {table} \
             REFERENCING {referencing} FOR EACH STATEMENT EXECUTE FUNCTION tf()"
        );
        (self.sublinks, self.calls, self.changes) = (0, 0, true);
        let t = columns(&[("t.id", Int), ("t.x", Int), ("t.s", Text)]);
        let (condition, s) = (self.expr(Bool, &t, 2), self.expr(Text, &t, 1));
        let change = match (event, self.below(3)) {
            ("INSERT", 0 | 1) => format!(
                "INSERT INTO {table} (id, s) SELECT t.id + 300, {s} FROM a AS t WHERE {condition}"
            ),
            ("DELETE", 0 | 1) => format!("DELETE FROM {table} AS t WHERE {condition}"),
            ("UPDATE", 0) => format!("UPDATE {table} AS t SET s = {s} WHERE {condition}"),
            ("UPDATE", 1) => {
                let by = 60 + self.below(90);
                format!("UPDATE {table} AS t SET id = t.id + {by} WHERE {condition}")
            }
            _ => format!(
                "MERGE INTO {table} AS t USING (SELECT g, g % 3 AS k FROM generate_series(1, 60) \
                 g) AS u ON t.id = u.g WHEN MATCHED AND u.k = 0 THEN DELETE WHEN MATCHED AND \
                 {condition} THEN UPDATE SET s = {s} WHEN NOT MATCHED AND u.k = 1 THEN \
                 INSERT (id, x) VALUES (u.g, u.k)"
            ),
        };
        let shown = "SELECT * FROM lg".to_owned();
        opened(vec![format!("BEGIN; {create}"), change, shown, rows_of(table)])
    }
}
