//! Statements whose planning is large, deeply nested or unbounded: the answer is PostgreSQL's, and
//! planning ends when it is cancelled.

use crate::pair::Pair;
use testkit::client::Client;

/// `before` repeated n times, `core`, `after` repeated n times.
fn nested(n: usize, before: &str, core: &str, after: &str) -> String {
    [&before.repeat(n), core, &after.repeat(n)].concat()
}

fn list(n: usize, separator: &str, one: impl Fn(usize) -> String) -> String {
    (0..n).map(one).collect::<Vec<_>>().join(separator)
}

/// Statements that are nested almost as deeply as PostgreSQL's default stack allows.
fn deep() -> Vec<String> {
    let from_t = " from big limit 1";
    vec![
        format!("select {}", nested(150, "(select ", "1", ")")),
        format!("select {}", nested(700, "(select ", "1", ")")),
        format!("select {}", nested(40, "1 in (select case when ", "true", " then 1 end)")),
        format!("select {}", nested(40, "1 not in (select case when ", "true", " then 1 end)")),
        format!("select {}", nested(300, "exists (select 1 where ", "true", ")")),
        format!(
            "select 1 where {}",
            nested(40, "exists (select 1 from generate_series(1,1) where ", "true", ")")
        ),
        nested(1000, "select * from (", "select 1 a", ") x"),
        nested(300, "select sum(a) a from (", "select 1 a", ") x"),
        nested(200, "select * from (", "select 1 a", " order by a limit 3) x"),
        format!("select count(*) from (select 1{}) s", " union all select 1".repeat(2000)),
        nested(500, "(select 1 union ", "select 1", ")"),
        format!("select {}", nested(5000, "(", "1", ")")),
        format!("select {} a = 1{from_t}", "not ".repeat(2000)),
        format!("select a{}{from_t}", "+1".repeat(3900)),
        format!("select a::text{}{from_t}", "||'x'".repeat(3900)),
        format!("select {}{from_t}", nested(3900, "abs(", "a", ")")),
        format!("select a{}{from_t}", "::bigint::int".repeat(1900)),
        format!("select a{}{from_t}", " is null".repeat(5000)),
        format!("select {}{from_t}", nested(2400, "case when a = 2 then 1 else ", "a", " end")),
        format!("select length(({})::text)", nested(2000, "json_build_array(", "1", ")")),
        format!("select 'a'{}", " collate \"C\"".repeat(5000)),
        format!(
            "select count(*) from big where {}",
            nested(1000, "(a = 1 or (a = 2 and ", "true", "))")
        ),
        format!("select a{}{from_t}", "+1".repeat(20_000)),
        format!("select {}{from_t}", "- ".repeat(20_000) + "a"),
    ]
}

/// Statements with long lists.
fn wide() -> Vec<String> {
    let big = "select count(*) from big where ";
    vec![
        format!("{big}{}", list(20_000, " or ", |i| format!("a = {i}"))),
        format!("{big}{}", list(20_000, " and ", |i| format!("a <> {i}"))),
        format!("{big}a in ({})", list(50_000, ",", |i| i.to_string())),
        format!("{big}a not in ({})", list(50_000, ",", |i| i.to_string())),
        format!("{big}{}", list(3_000, " or ", |i| format!("(a = {i} and b = {i})"))),
        format!("{big}{}", list(3_000, " and ", |i| format!("a = {i}"))),
        format!(
            "select case {} end from big limit 1",
            list(10_000, " ", |i| format!("when a = {i} then {i}"))
        ),
        format!(
            "select coalesce({}) from big limit 1",
            list(10_000, ",", |i| format!("nullif(a, {})", i % 5))
        ),
        format!(
            "select count(*) from (values {}) v (a, b)",
            list(50_000, ",", |i| format!("({i},{i})"))
        ),
        format!(
            "select * from (select * from (select {}) x) y",
            list(1_600, ",", |i| format!("{i} c{i}"))
        ),
        format!(
            "select count(*) from {} where {}",
            list(15, ",", |i| format!("big t{i}")),
            list(14, " and ", |i| format!("t{i}.a = t{}.b", i + 1))
        ),
        format!(
            "select count(*) from big t0 {}",
            list(40, " ", |i| format!("left join big t{} on t{}.a = t{i}.b", i + 1, i + 1))
        ),
        format!(
            "with c0 as (select 1 x), {} select count(*) from c300",
            list(300, ",", |i| { format!("c{} as (select x from c{i})", i + 1) })
        ),
        format!("select {}", list(500, ",", |i| format!("(select max(a) from big where a > {i})"))),
    ]
}

fn same(ours: &mut Client, real: &mut Client, sql: &str) {
    let shown: String = sql.chars().take(120).collect();
    let want = real.query(sql).unwrap_or_else(|e| panic!("PostgreSQL: {shown}: {e}"));
    let have = ours.query(sql).unwrap_or_else(|e| panic!("{shown}: {e}"));
    assert_eq!(have.code(), want.code(), "{shown}");
    assert!(have.error.is_some() || have.text() == want.text(), "{shown}");
}

#[test]
fn large_and_deep_statements_have_the_results_of_postgres() {
    let pair = Pair::start("planning", "C", &[]);
    let (mut ours, mut real) = (pair.ours.connect("postgres"), pair.real.connect("postgres"));
    for c in [&mut ours, &mut real] {
        c.must("create table big as select g a, g + 1 b from generate_series(1, 1000) g");
        c.must("create index on big (a)");
        c.must("analyze big");
    }
    for sql in deep().iter().chain(&wide()) {
        same(&mut ours, &mut real, sql);
    }
    // A stored view, which is read by a session that has not parsed its text.
    let view = format!("create view deep as select a{} x from big", "+1".repeat(1000));
    for c in [&mut ours, &mut real] {
        c.must(&view);
    }
    let mut other = pair.ours.connect("postgres");
    same(&mut other, &mut real, "select x from deep order by 1 limit 1");
    same(&mut other, &mut real, "select length(pg_get_viewdef('deep'))");
    let log = pair.ours.log();
    assert!(!log.contains("panicked"), "{log}");
}

/// Each of these views reads the previous one twice, so that no server can plan the last one.
#[test]
fn planning_can_be_cancelled() {
    let pair = Pair::start("planning_cancel", "C", &[]);
    let mut ours = pair.ours.connect("postgres");
    ours.must("create table t (a int)");
    ours.must("create view v0 as select a from t");
    for i in 1..40 {
        let below = i - 1;
        ours.must(&format!(
            "create view v{i} as select x.a from v{below} x join v{below} y on x.a = y.a"
        ));
    }
    ours.must("set statement_timeout = '300ms'");
    let ctes = list(39, ",", |i| {
        format!("c{} as not materialized (select a.a from c{i} a, c{i} b)", i + 1)
    });
    for sql in [
        "select count(*) from v39".to_string(),
        "explain select count(*) from v39".to_string(),
        "prepare p as select count(*) from v39".to_string(),
        "create table copy as select * from v39".to_string(),
        format!("with c0 as (select 1 a), {ctes} select count(*) from c39"),
    ] {
        assert_eq!(ours.query(&sql).unwrap().code(), "57014", "{sql}");
    }
    ours.must("set statement_timeout = 0");
    let mut other = pair.ours.connect("postgres");
    let me = ours.value("select pg_backend_pid()");
    for (function, code) in [("pg_cancel_backend", "57014"), ("pg_terminate_backend", "57P01")] {
        ours.send("select count(*) from v39").unwrap();
        let planning =
            format!("select count(*) from pg_stat_activity where pid = {me} and state = 'active'");
        while other.value(&planning) != "1" {}
        other.must(&format!("select {function}({me})"));
        assert_eq!(ours.receive().map_or_else(|_| "57P01".into(), |r| r.code().to_string()), code);
    }
}
