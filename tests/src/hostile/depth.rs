//! Long or deeply nested statements: texts with many tokens, lists, joins, nested expressions.

fn nest(open: &str, within: &str, close: &str, depth: usize) -> String {
    format!("{}{within}{}", open.repeat(depth), close.repeat(depth))
}

fn list(n: usize, item: impl Fn(usize) -> String, separator: &str) -> String {
    (0..n).map(item).collect::<Vec<_>>().join(separator)
}

/// A name for the log, and the statement.
pub(super) fn statements() -> Vec<(&'static str, String)> {
    // One depth is within the limit of the grammar's stack, the other one exceeds it.
    let mut all = expressions(2400);
    all.extend(expressions(1_000_000));
    all.extend(queries());
    all.extend(lists());
    all
}

fn expressions(depth: usize) -> Vec<(&'static str, String)> {
    let select = |e: String| format!("SELECT {e}");
    vec![
        ("parentheses", select(nest("(", "1", ")", depth))),
        ("NOT", select(nest("NOT ", "true", "", depth))),
        ("minus", select(nest("- ", "1", "", depth))),
        ("sum", select(list(500_000, |i| i.to_string(), "+"))),
        ("concatenations", select(list(200_000, |_| "'x'".into(), "||"))),
        ("casts", select(format!("1{}", "::int".repeat(500_000)))),
        ("CASE", select(nest("CASE WHEN 1=1 THEN ", "1", " ELSE 0 END", depth / 10 * 9))),
        (
            "CASE of many",
            format!(
                "SELECT CASE g {} END FROM generate_series(1,1000) g",
                list(100_000, |i| format!("WHEN {i} THEN {i}"), " ")
            ),
        ),
        ("arrays", select(nest("ARRAY[", "1", "]", depth / 10 * 9))),
        ("rows", select(nest("ROW(", "1", ")", depth / 10 * 9))),
        ("rows as text", format!("SELECT ({})::text", nest("ROW(", "1", ")", 3000))),
        ("functions", select(nest("abs(", "1", ")", depth / 10 * 9))),
        (
            "functions of columns",
            format!(
                "SELECT {} FROM generate_series(1,10) g",
                nest("abs(", "g", ")", depth.min(4000) / 2)
            ),
        ),
        ("coalesce", select(nest("coalesce(NULL,", "1", ")", depth / 10 * 9))),
        ("json", format!("SELECT '{}'::jsonb", nest("[", "", "]", 1_000_000))),
        ("array literal", format!("SELECT '{}'::int[]", nest("{", "", "}", 1_000_000))),
        ("fields", format!("SELECT {}x", "(".repeat(100_000))),
        ("subscripts", format!("SELECT (ARRAY[1]){}", "[1]".repeat(100_000))),
        (
            "AND",
            format!(
                "SELECT count(*) FROM pg_class WHERE {}",
                list(50_000, |i| format!("oid <> {i}"), " AND ")
            ),
        ),
        (
            "OR",
            format!(
                "SELECT count(*) FROM pg_class WHERE {}",
                list(50_000, |i| format!("oid = {i}"), " OR ")
            ),
        ),
        (
            "OR of AND",
            format!(
                "SELECT count(*) FROM pgbench_accounts WHERE {}",
                list(20_000, |i| format!("(aid = {i} AND bid = {i})"), " OR ")
            ),
        ),
        (
            "AND of OR",
            format!(
                "SELECT count(*) FROM pg_class WHERE {}",
                list(20_000, |i| format!("(oid = {i} OR relname = '{i}')"), " AND ")
            ),
        ),
        (
            "AND, OR in turn",
            format!(
                "SELECT count(*) FROM pg_class WHERE {}",
                nest("(oid = 1 OR (oid > 2 AND ", "oid = 3", "))", depth / 2)
            ),
        ),
        (
            "NOT over AND, OR",
            format!(
                "SELECT count(*) FROM pg_class WHERE {}",
                nest("NOT (oid = 1 OR NOT (oid > 2 AND ", "oid = 3", "))", depth / 3)
            ),
        ),
        (
            "equalities",
            format!(
                "SELECT count(*) FROM pgbench_accounts a WHERE {}",
                list(3000, |i| format!("aid + {i} = bid + {i}"), " AND ")
            ),
        ),
        (
            "BETWEEN",
            format!(
                "SELECT count(*) FROM pgbench_accounts WHERE {}",
                list(10_000, |i| format!("aid BETWEEN {i} AND {}", i + 1), " OR ")
            ),
        ),
    ]
}

fn queries() -> Vec<(&'static str, String)> {
    vec![
        ("subselects", nest("SELECT (", "SELECT 1", ")", 1000)),
        ("FROM", nest("SELECT * FROM (", "SELECT 1 AS a", ") s", 1000)),
        ("FROM with LIMIT", nest("SELECT a FROM (", "SELECT 1 AS a", " LIMIT 5) s", 800)),
        (
            "FROM, doubled",
            (0..22).fold("SELECT 1 AS a".to_owned(), |q, _| {
                format!("SELECT x.a FROM (SELECT a + a AS a FROM ({q}) y) x")
            }),
        ),
        ("EXISTS", nest("SELECT 1 WHERE EXISTS (", "SELECT 1", ")", 5000)),
        (
            "EXISTS of tables",
            nest(
                "SELECT 1 FROM pgbench_accounts a WHERE EXISTS (",
                "SELECT 1",
                " AND a.aid > 0)",
                200,
            )
            .replacen(" AND", " WHERE 1=1 AND", 1),
        ),
        ("IN", nest("SELECT oid FROM pg_class WHERE oid IN (", "SELECT 1::oid", ")", 1000)),
        (
            "LATERAL",
            format!(
                "SELECT count(*) FROM (SELECT 1 AS a) t0 {}",
                list(300, |i| format!(", LATERAL (SELECT t{i}.a + 1 AS a) t{}", i + 1), " ")
            ),
        ),
        ("UNION ALL", list(20_000, |i| format!("SELECT {i}"), " UNION ALL ")),
        ("UNION", list(5000, |i| format!("SELECT {i}"), " UNION ")),
        ("UNION of tables", list(2000, |_| "SELECT oid FROM pg_class".into(), " UNION ALL ")),
        ("UNION to the right", nest("SELECT 1 UNION (", "SELECT 1", ")", 1500)),
        (
            "WITH",
            format!(
                "WITH {} SELECT * FROM c2999",
                list(
                    3000,
                    |i| match i {
                        0 => "c0 AS (SELECT 1 AS a)".into(),
                        i => format!("c{i} AS (SELECT a FROM c{})", i - 1),
                    },
                    ", "
                )
            ),
        ),
        (
            "WITH, doubled",
            format!(
                "WITH {} SELECT count(*) FROM c29",
                list(
                    30,
                    |i| match i {
                        0 => "c0 AS NOT MATERIALIZED (SELECT 1 AS a)".into(),
                        i => format!(
                            "c{i} AS NOT MATERIALIZED (SELECT a FROM c{0} UNION ALL SELECT a \
                             FROM c{0})",
                            i - 1
                        ),
                    },
                    ", "
                )
            ),
        ),
        ("WITH within WITH", nest("WITH c AS (", "SELECT 1 AS a", ") SELECT * FROM c", 800)),
        (
            "comma joins",
            format!(
                "SELECT count(*) FROM {} WHERE {}",
                list(60, |i| format!("pgbench_accounts t{i}"), ", "),
                list(59, |i| format!("t{i}.aid = t{}.aid", i + 1), " AND ")
            ),
        ),
        (
            "clique",
            format!(
                "SELECT count(*) FROM {} WHERE {}",
                list(14, |i| format!("pgbench_branches t{i}"), ", "),
                list(14 * 13, |i| format!("t{}.bid + t{}.bid > 0", i / 13, i % 13), " AND ")
            ),
        ),
        (
            "clique, no limit",
            format!(
                "SET join_collapse_limit = 100; SET from_collapse_limit = 100; \
            SET geqo = off; SELECT count(*) FROM {} WHERE {}",
                list(30, |i| format!("pgbench_branches t{i}"), ", "),
                list(29, |i| format!("t0.bid = t{}.bid", i + 1), " AND ")
            ),
        ),
        (
            "cross joins",
            format!("SELECT count(*) FROM {}", list(200, |i| format!("pg_class t{i}"), ", ")),
        ),
        (
            "LEFT JOINs",
            format!(
                "SELECT count(*) FROM pgbench_branches t {}",
                list(300, |i| format!("LEFT JOIN pgbench_branches t{i} ON t{i}.bid = t.bid"), " ")
            ),
        ),
        (
            "FULL JOINs",
            format!(
                "SELECT count(*) FROM pgbench_branches t {}",
                list(100, |i| format!("FULL JOIN pgbench_branches t{i} USING (bid)"), " ")
            ),
        ),
        (
            "NATURAL JOINs",
            format!(
                "SELECT count(*) FROM pg_class t {}",
                list(100, |i| format!("NATURAL JOIN pg_class t{i}"), " ")
            ),
        ),
        (
            "many subqueries",
            format!(
                "SELECT {}",
                list(3000, |i| format!("(SELECT count(*) FROM pg_class WHERE oid = {i})"), ", ")
            ),
        ),
        (
            "GROUPING SETS",
            format!(
                "SELECT count(*) FROM pg_class GROUP BY CUBE ({})",
                "oid, relname, relkind, relpages, relnatts, reltype, relam, relowner, reltuples, \
                 relchecks, \
             relfilenode, relnamespace"
            ),
        ),
        (
            "GROUPING SETS multiplied",
            format!(
                "SELECT count(*) FROM pg_class GROUP BY {}",
                list(12, |_| "CUBE (oid, relname)".into(), ", ")
            ),
        ),
        (
            "windows",
            format!(
                "SELECT {} FROM pg_class",
                list(
                    1000,
                    |i| format!("sum(relpages) OVER (ORDER BY oid + {i}::oid::int8::int)"),
                    ", "
                )
            )
            .replace("oid + ", "oid::int8 + "),
        ),
        (
            "EXPLAIN of joins",
            format!(
                "EXPLAIN SELECT count(*) FROM {} WHERE {}",
                list(40, |i| format!("pgbench_accounts t{i}"), ", "),
                list(39, |i| format!("t{i}.aid = t{}.aid", i + 1), " AND ")
            ),
        ),
    ]
}

fn lists() -> Vec<(&'static str, String)> {
    vec![
        ("literal of 20 MB", format!("SELECT length('{}')", "x".repeat(20_000_000))),
        ("literal of 80 MB", format!("SELECT length('{}')", "x".repeat(80_000_000))),
        (
            "literal of 50 MB, doubled quotes",
            format!("SELECT length('{}')", "''".repeat(25_000_000)),
        ),
        ("literal with escapes", format!("SELECT length(E'{}')", "\\n".repeat(25_000_000))),
        ("dollar quotes", format!("SELECT length($x${}$x$)", "$".repeat(50_000_000))),
        ("bytea literal", format!("SELECT length('\\x{}'::bytea)", "ab".repeat(25_000_000))),
        ("number of 20 MB", format!("SELECT {}", "1".repeat(20_000_000))),
        ("identifier of 20 MB", format!("SELECT 1 AS {}", "x".repeat(20_000_000))),
        ("comment of 50 MB", format!("SELECT 1 /*{}*/", "x".repeat(50_000_000))),
        ("nested comments", format!("SELECT 1 {}", nest("/*", "", "*/", 5_000_000))),
        ("spaces", format!("SELECT{}1", " ".repeat(50_000_000))),
        ("semicolons", ";".repeat(10_000_000)),
        ("statements", "SELECT 1;".repeat(20_000)),
        ("syntax error at the end", format!("SELECT {} FROM FROM", "1,".repeat(5_000_000) + "1")),
        ("targets", format!("SELECT {}", list(1_000_000, |i| i.to_string(), ","))),
        (
            "1600 targets",
            format!("SELECT {} FROM generate_series(1, 100000) g", list(1600, |_| "g".into(), ",")),
        ),
        ("stars", format!("SELECT {} FROM pg_class", list(100, |_| "*".into(), ","))),
        ("VALUES", format!("VALUES {}", list(1_000_000, |i| format!("({i})"), ","))),
        (
            "VALUES, wide",
            format!(
                "SELECT count(*) FROM (VALUES {}) v",
                list(5000, |i| format!("({})", list(200, |j| format!("{}", i + j), ",")), ",")
            ),
        ),
        (
            "INSERT of VALUES",
            format!(
                "CREATE TEMP TABLE v (a int, b text); INSERT INTO v VALUES {}",
                list(500_000, |i| format!("({i},'x')"), ",")
            ),
        ),
        (
            "IN, 500,000",
            format!(
                "SELECT count(*) FROM pgbench_accounts WHERE aid IN ({})",
                list(500_000, |i| i.to_string(), ",")
            ),
        ),
        (
            "IN of texts",
            format!(
                "SELECT count(*) FROM pg_class WHERE relname IN ({})",
                list(300_000, |i| format!("'{i}'"), ",")
            ),
        ),
        (
            "IN of expressions",
            format!(
                "SELECT count(*) FROM pgbench_accounts WHERE aid IN ({})",
                list(50_000, |i| format!("bid+{i}"), ",")
            ),
        ),
        (
            "NOT IN",
            format!(
                "SELECT count(*) FROM pgbench_accounts WHERE aid NOT IN ({})",
                list(300_000, |i| i.to_string(), ",")
            ),
        ),
        (
            "IN of rows",
            format!(
                "SELECT count(*) FROM pgbench_accounts WHERE (aid, bid) IN ({})",
                list(50_000, |i| format!("({i},1)"), ",")
            ),
        ),
        ("ARRAY", format!("SELECT ARRAY[{}]", list(500_000, |i| i.to_string(), ","))),
        (
            "ANY(array literal)",
            format!(
                "SELECT count(*) FROM pgbench_accounts WHERE aid = ANY('{{{}}}')",
                list(1_000_000, |i| i.to_string(), ",")
            ),
        ),
        ("arguments", format!("SELECT concat({})", list(100_000, |i| i.to_string(), ","))),
        ("GREATEST", format!("SELECT greatest({})", list(500_000, |i| i.to_string(), ","))),
        (
            "jsonb_build_array",
            format!(
                "SELECT jsonb_build_array(VARIADIC ARRAY[{}])",
                list(300_000, |i| i.to_string(), ",")
            ),
        ),
        (
            "ORDER BY",
            format!(
                "SELECT 1 FROM pg_class ORDER BY {}",
                list(5000, |i| format!("oid::int8+{i}"), ",")
            ),
        ),
        (
            "GROUP BY",
            format!(
                "SELECT count(*) FROM pg_class GROUP BY {}",
                list(1600, |i| format!("oid::int8+{i}"), ",")
            ),
        ),
        (
            "columns",
            format!("CREATE TEMP TABLE c ({})", list(100_000, |i| format!("c{i} int"), ",")),
        ),
        (
            "1600 columns",
            format!(
                "CREATE TEMP TABLE c ({}); SELECT a.*, b.* FROM c a, c b",
                list(1600, |i| format!("c{i} int"), ",")
            ),
        ),
        (
            "CHECKs",
            format!(
                "CREATE TEMP TABLE c (a int, {}); INSERT INTO c SELECT generate_series(1,100000)",
                list(1000, |i| format!("CHECK (a <> -{i})"), ",")
            ),
        ),
        (
            "parameters",
            format!("PREPARE p AS SELECT {}", list(60_000, |i| format!("${}::int", i + 1), ",")),
        ),
        (
            "aliases",
            format!("SELECT * FROM pg_class a({})", list(100_000, |i| format!("c{i}"), ",")),
        ),
        ("names with dots", format!("SELECT {}", list(200_000, |_| "a".into(), "."))),
        (
            "format of many",
            format!(
                "SELECT format('{}', {})",
                "%s".repeat(20_000),
                list(20_000, |i| i.to_string(), ",")
            ),
        ),
        (
            "GRANT",
            format!("GRANT SELECT ON {} TO postgres", list(20_000, |_| "pg_class".into(), ",")),
        ),
        ("DROP", format!("DROP TABLE IF EXISTS {}", list(50_000, |i| format!("nil{i}"), ","))),
        (
            "LOCK",
            format!("LOCK TABLE {}", list(50_000, |_| "pgbench_history".into(), ","))
                .replace("LOCK TABLE", "BEGIN; LOCK TABLE")
                + " IN ACCESS SHARE MODE; ROLLBACK",
        ),
        ("SET", format!("SET search_path = {}", list(300_000, |i| format!("s{i}"), ","))),
    ]
}

/// Long sequences of statements, which are sent one by one in one session.
pub(super) fn sequences(n: usize) -> Vec<(&'static str, Vec<String>)> {
    let each = |f: &dyn Fn(usize) -> String| (0..n).map(f).collect::<Vec<_>>();
    let mut savepoints = vec!["BEGIN".to_owned()];
    savepoints.extend(each(&|i| format!("SAVEPOINT s{i}")));
    savepoints.push("ROLLBACK TO SAVEPOINT s0".into());
    savepoints.push("COMMIT".into());
    let mut writes = vec!["CREATE TEMP TABLE w (a int)".to_owned(), "BEGIN".to_owned()];
    writes
        .extend(each(&|i| format!("SAVEPOINT s; INSERT INTO w VALUES ({i}); RELEASE SAVEPOINT s")));
    writes.push("COMMIT".into());
    let mut cursors = vec!["BEGIN".to_owned()];
    cursors.extend(
        each(&|i| {
            format!(
                "DECLARE c{i} CURSOR FOR SELECT g FROM generate_series(1, 1000000) g; \
                 FETCH 1 FROM c{i}"
            )
        })
        .into_iter()
        .take(n / 10),
    );
    vec![
        ("prepared statements", each(&|i| format!("PREPARE p{i} AS SELECT {i}, * FROM pg_class"))),
        ("savepoints", savepoints),
        ("subtransactions that write", writes),
        ("cursors", cursors),
        (
            "temporary tables",
            each(&|i| format!("CREATE TEMP TABLE t{i} (a int PRIMARY KEY)"))
                .into_iter()
                .take(n / 10)
                .collect(),
        ),
        ("channels", each(&|i| format!("LISTEN c{i}; NOTIFY c{i}"))),
        ("views over views", views(n.min(300))),
        ("doubled views", doubled_views()),
        ("errors", each(&|i| format!("SELECT {i} / 0"))),
        (
            "plans of other texts",
            each(&|i| format!("SELECT relname AS c{i} FROM pg_class WHERE oid = {i}")),
        ),
    ]
}

fn views(n: usize) -> Vec<String> {
    let mut all = vec!["CREATE TEMP VIEW v0 AS SELECT 1 AS a".to_owned()];
    all.extend(
        (1..n).map(|i| format!("CREATE TEMP VIEW v{i} AS SELECT a + 1 AS a FROM v{}", i - 1)),
    );
    all.push(format!("SELECT * FROM v{}", n - 1));
    all.push(format!("SELECT pg_get_viewdef('v{}'::regclass)", n - 1));
    all
}

fn doubled_views() -> Vec<String> {
    let mut all = vec!["CREATE TEMP VIEW d0 AS SELECT 1 AS a".to_owned()];
    all.extend((1..30).map(|i| {
        format!("CREATE TEMP VIEW d{i} AS SELECT x.a FROM d{0} x JOIN d{0} y USING (a)", i - 1)
    }));
    all.extend((1..30).map(|i| format!("SELECT * FROM d{i}")));
    all
}
