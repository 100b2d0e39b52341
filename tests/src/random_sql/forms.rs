//! Statements of several steps: prepared statements, views, functions, and volatile functions in
//! forms that have a single correct answer.

use super::generate::{ALL, CALL_OF_QUERY, Columns, Generator, Statement, Ty::*, both, renamed};

/// A number of executions after which the plan cache chooses a generic plan.
const EXECUTIONS: usize = 7;

impl Generator {
    /// A prepared statement, executed with different parameters often enough for a generic plan.
    pub(super) fn prepared_statement(&mut self) -> Statement {
        self.prepared = true;
        let none = Vec::new();
        let sql = self.for_rows(EXECUTIONS as f64, |g| match g.below(4) {
            0 => g.set_operation(&none, 2).0,
            _ => g.select(&none, 3).0,
        });
        self.prepared = false;
        let mut steps = vec![format!("PREPARE p (int, text, int) AS {sql}")];
        for _ in 0..EXECUTIONS {
            let (a, c) = (self.below(9), self.one(&["1", "3", "NULL", "-2"]));
            let b = self.one(&["'one'", "NULL", "''", "'x'"]);
            steps.push(format!("EXECUTE p ({a}, {b}, {c})"));
        }
        let mut statement = Statement::many(steps);
        statement.prepares = true;
        statement
    }

    /// A query on a view.
    pub(super) fn view(&mut self) -> Statement {
        let (sql, columns) = self.select(&Vec::new(), 2);
        let t = self.name("t");
        let own = renamed(&t, &columns);
        self.over_rows(self.rows);
        let condition = self.filter(&own, &Vec::new(), 2);
        let from = format!("rv AS {t}");
        let (query, _) = match self.chance(60) {
            true => self.grouped(&from, &own, &Vec::new(), &condition, 1),
            false => {
                let e = self.expr(Int, &own, 3);
                (format!("SELECT {t}.*, {e} AS e FROM {from}{condition}"), Vec::new())
            }
        };
        let create = format!("CREATE TEMP VIEW rv AS {sql}");
        let shown = "SELECT pg_get_viewdef('rv'::regclass, true)".to_owned();
        let mut statement = Statement::many(vec![format!("BEGIN; {create}"), query, shown]);
        statement.opened = true;
        statement
    }

    /// An SQL function with a random query as its body, called for each row; its arguments are used
    /// in the query.
    pub(super) fn function(&mut self) -> Statement {
        let (from, own) = self.for_rows(CALL_OF_QUERY, |g| g.from(&Vec::new(), 0));
        let rows = self.rows;
        self.over_rows(rows);
        self.prepared = true;
        let volatile = self.one(&["", " STABLE", " VOLATILE", " IMMUTABLE"]);
        let strict = self.one(&["", "", " STRICT"]);
        let (sql, query);
        let f = self.name("f");
        if self.chance(50) {
            let (body, columns) = match self.below(4) {
                0 => self.set_operation(&Vec::new(), 1),
                1 => self.half_read(&Vec::new()),
                _ => self.select(&Vec::new(), 1),
            };
            self.prepared = false;
            let list: Vec<String> =
                columns.iter().map(|(c, ty)| format!("r{c} {}", ty.name())).collect();
            let casts: Vec<String> =
                columns.iter().map(|(c, ty)| format!("b.{c}::{}", ty.name())).collect();
            sql = format!(
                "CREATE FUNCTION pg_temp.{f}(int, text, int) RETURNS TABLE ({}) \
                 LANGUAGE sql{volatile}{strict} AS \
                 $f$ SELECT {} FROM ({body}) AS b $f$",
                list.join(", "),
                casts.join(", ")
            );
            let callers = own;
            let own: Columns = columns.iter().map(|(c, ty)| (format!("l.r{c}"), *ty)).collect();
            query = self.query_of_function(&f, &own, (&from, &callers));
        } else {
            let ty = self.type_among(ALL.len());
            let body = self.scalar(ty, &Vec::new(), 2);
            self.prepared = false;
            let name = ty.name();
            sql = format!(
                "CREATE FUNCTION pg_temp.{f}(int, text, int) RETURNS {name} \
                 LANGUAGE sql{volatile}{strict} AS \
                 $f$ SELECT ({body})::{name} $f$"
            );
            let (p, q, r) =
                (self.expr(Int, &own, 1), self.expr(Text, &own, 1), self.expr(Int, &own, 0));
            let condition = self.filter(&own, &Vec::new(), 1);
            query = format!("SELECT pg_temp.{f}({p}, {q}, {r}) AS v, {q} FROM {from}{condition}");
        }
        let mut statement = Statement::many(vec![format!("BEGIN; {sql}"), query]);
        statement.opened = true;
        statement
    }

    /// Calls a set-returning function in FROM with lateral references, in a sub-select, or in the
    /// select list.
    fn query_of_function(
        &mut self,
        f: &str,
        columns: &Columns,
        (from, own): (&str, &Columns),
    ) -> String {
        let args = [self.expr(Int, own, 1), self.expr(Text, own, 1), self.expr(Int, own, 0)];
        let call = format!("pg_temp.{f}({})", args.join(", "));
        match self.below(4) {
            0 | 1 => {
                let join = self.one(&["CROSS JOIN", "LEFT JOIN"]);
                let on = if join == "LEFT JOIN" { " ON true" } else { "" };
                let condition = self.filter(&both(columns, own), &Vec::new(), 1);
                let e = self.expr(Int, &both(columns, own), 2);
                format!("SELECT l.*, {e} AS e FROM {from} {join} {call} AS l{on}{condition}")
            }
            2 => {
                let (_, e) = self.aggregate(columns, own, &Vec::new(), 1);
                let condition = self.filter(columns, own, 1);
                format!("SELECT (SELECT {e} FROM {call} AS l{condition}) AS e FROM {from}")
            }
            _ => format!("SELECT {call} AS e, {} AS g FROM {from}", args[0]),
        }
    }

    /// CREATE TABLE AS, and the types and values of its columns.
    pub(super) fn new_table(&mut self) -> Statement {
        let (sql, columns) = self.select(&Vec::new(), 2);
        let own = renamed("nt", &columns);
        self.over_rows(self.rows);
        let condition = self.filter(&own, &Vec::new(), 2);
        let mut statement = Statement::many(vec![
            format!("BEGIN; CREATE TEMP TABLE nt AS {sql}"),
            format!("SELECT * FROM nt{condition}"),
            "SELECT attname, format_type(atttypid, atttypmod) FROM pg_attribute \
             WHERE attrelid = 'nt'::regclass AND attnum > 0"
                .to_owned(),
        ]);
        statement.opened = true;
        statement
    }

    /// A column of a materialized subquery has the same value wherever it is used.
    pub(super) fn computed_once(&mut self) -> Statement {
        let (from, own) = self.from(&Vec::new(), 1);
        let condition = self.filter(&own, &Vec::new(), 1);
        let test = self.expr(Bool, &own, 1);
        let n = self.expr(Int, &own, 1);
        let volatile = match self.below(8) {
            0 => "random()".to_owned(),
            1 => "(SELECT random())".to_owned(),
            2 => format!("(SELECT random() + {n} WHERE {test})"),
            3 => format!("CASE WHEN {test} THEN random() ELSE (SELECT random()) END"),
            4 => format!("COALESCE((SELECT random() FROM a WHERE a.id = {n}), random())"),
            5 => "(SELECT max(random()) FROM c)".to_owned(),
            6 => format!("(SELECT r FROM (SELECT random() r) q WHERE {test})"),
            _ => "(SELECT max(r) FROM (SELECT random() r FROM c) q)".to_owned(),
        };
        let inner = format!("SELECT {volatile} AS x FROM {from}{condition}");
        let sql = match self.below(6) {
            0 => format!("SELECT x1 = x2 AS e FROM (SELECT x x1, x x2 FROM ({inner}) s) t"),
            1 => format!("SELECT x IS NOT DISTINCT FROM x AS e, x - x FROM ({inner}) s"),
            2 => format!(
                "WITH s AS ({inner}) SELECT bool_and(x1 IS NOT DISTINCT FROM x2) \
                 FROM (SELECT x x1, x x2 FROM s) t"
            ),
            3 => format!(
                "SELECT s.x IS NOT DISTINCT FROM l.y AS e FROM ({inner}) s CROSS \
                 JOIN LATERAL (SELECT s.x AS y) l"
            ),
            4 => format!(
                "SELECT x1 - x2 AS e FROM (SELECT x x1, x x2 FROM ({inner}) s) t WHERE x1 = x2 \
                 ORDER BY x1"
            ),
            _ => format!(
                "SELECT y - z AS e FROM (SELECT (SELECT s.x) y, s.x z FROM ({inner}) s LEFT JOIN a \
                 ON a.id = 1) t"
            ),
        };
        Statement::one(sql)
    }

    /// The number of calls of a volatile function.
    pub(super) fn counted(&mut self) -> Statement {
        let (from, own) = self.from(&Vec::new(), 1);
        let condition = self.filter(&own, &Vec::new(), 1);
        let test = self.expr(Bool, &own, 1);
        let key = self.plain(Int, &own, 1);
        let sql = match self.below(9) {
            0 => format!("SELECT count(*) FROM (SELECT nextval('sq') n FROM {from}{condition}) s"),
            1 => format!("SELECT count(n) FROM (SELECT nextval('sq') n FROM {from}{condition}) s"),
            2 => {
                format!("SELECT count((SELECT nextval('sq') WHERE {test})) FROM {from}{condition}")
            }
            3 => format!("SELECT count(*), count((SELECT nextval('sq'))) FROM {from}{condition}"),
            // Separate from the joins, whose order determines how often a condition is evaluated.
            4 => format!(
                "SELECT count(*) FROM (SELECT 1 FROM {from} OFFSET 0) s WHERE nextval('sq') > 0"
            ),
            5 => format!(
                "SELECT count(*) FROM (SELECT {key} k, nextval('sq') n FROM {from}{condition} \
                 ORDER BY 1 LIMIT 3) s"
            ),
            6 => format!(
                "SELECT count(n), count(m) FROM (SELECT n, n + 1 AS m FROM (SELECT CASE \
                 WHEN {test} THEN nextval('sq') END \
                 n FROM {from}{condition}) s) t"
            ),
            7 => format!(
                "WITH w AS (SELECT nextval('sq') n FROM {from}{condition}) SELECT count(*) \
                 FROM w w1 JOIN w w2 USING (n)"
            ),
            _ => {
                let scope = both(&own, &Vec::new());
                let e = self.expr(Int, &scope, 2);
                format!(
                    "SELECT sum(m * 0) FROM (SELECT {e} AS e, (SELECT nextval('sq') \
                     WHERE {test}) m FROM {from}{condition}) s"
                )
            }
        };
        let steps = ["SELECT setval('sq', 1)", &sql, "SELECT last_value FROM sq"];
        Statement::many(steps.map(str::to_owned).into())
    }
}
