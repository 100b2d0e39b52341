//! The catalogs of a new cluster on both servers: the order of their rows, which queries without
//! ORDER BY show, and their statistics.

use crate::corpus::new_pair;
use std::collections::{BTreeMap, HashSet};
use testkit::client::Client;

/// Expressions by which the rows of a catalog are compared. Rows of other catalogs are compared as
/// a whole.
const KEYS: [(&str, &str); 13] = [
    ("pg_attribute", "concat_ws(' ', attrelid::regclass, attnum, attname)"),
    ("pg_class", "concat_ws(' ', oid::regclass, relkind)"),
    ("pg_constraint", "concat_ws(' ', conrelid::regclass, contypid::regtype, conname)"),
    ("pg_database", "datname"),
    (
        "pg_depend",
        "concat_ws(' ', pg_describe_object(classid, objid, objsubid), \
         pg_describe_object(refclassid, refobjid, refobjsubid), deptype)",
    ),
    (
        "pg_description",
        "concat_ws(' ', pg_describe_object(classoid, objoid, objsubid), description)",
    ),
    ("pg_extension", "extname"),
    ("pg_index", "indexrelid::regclass"),
    ("pg_init_privs", "concat(pg_describe_object(classoid, objoid, objsubid), initprivs)"),
    ("pg_language", "lanname"),
    ("pg_proc", "oid::regprocedure"),
    ("pg_rewrite", "concat_ws(' ', ev_class::regclass, rulename)"),
    ("pg_type", "oid::regtype"),
];

/// Catalogs with other rows in Norsu: the tables of what a server supports, and statistics, which
/// have a test of their own. `initdb` inserts rows of pg_collation into gaps of earlier pages.
const OTHERS: [&str; 5] = [
    "pg_collation",
    "pg_statistic",
    "information_schema.sql_features",
    "information_schema.sql_implementation_info",
    "information_schema.sql_sizing",
];

/// The rows in which both lists agree, in their order.
fn shared<'a>(rows: &'a [String], other: &[String]) -> Vec<&'a String> {
    let other: HashSet<&String> = other.iter().collect();
    rows.iter().filter(|row| other.contains(row)).collect()
}

#[test]
fn rows_of_catalogs_have_the_order_of_initdb() {
    let pair = new_pair();
    let mut wrong = Vec::new();
    for database in ["postgres", "template1"] {
        let mut servers = [pair.ours.connect(database), pair.real.connect(database)];
        let tables = servers[1].rows(
            "SELECT oid::regclass FROM pg_class WHERE relkind = 'r' AND oid < 16384 ORDER BY 1",
        );
        for table in tables.iter().filter(|table| !OTHERS.contains(&table.as_str())) {
            let key = KEYS.iter().find(|(name, _)| name == table).map_or("t::text", |k| k.1);
            // Objects of information_schema are created in another order.
            let sql = format!(
                "SELECT k FROM (SELECT {key} AS k FROM {table} t OFFSET 0) q \
                 WHERE k::text !~ 'information_schema'"
            );
            let [ours, real] = servers.each_mut().map(|server| server.rows(&sql));
            let (here, there) = (shared(&ours, &real), shared(&real, &ours));
            if here.len() * 20 < real.len() * 19 {
                wrong.push(format!("{table}: {} of {} rows are equal", here.len(), real.len()));
            }
            if let Some(at) = (0..here.len()).find(|i| here[*i] != there[*i]) {
                let (ours, real) = (here[at], there[at]);
                wrong.push(format!("{database} {table} row {at}: {ours} instead of {real}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The statistics of a column by its name.
fn statistics(server: &mut Client) -> BTreeMap<String, (String, f64, f64)> {
    let rows = server.rows(
        "SELECT starelid::regclass || ' ' || staattnum, concat_ws(' ', stakind1, stakind2, \
         stakind3, stakind4, stakind5, stainherit), stanullfrac, CASE WHEN stadistinct < 0 \
         THEN -stadistinct * reltuples ELSE stadistinct END \
         FROM pg_statistic JOIN pg_class c ON c.oid = starelid",
    );
    let fields = rows.iter().map(|row| row.split('|').collect::<Vec<_>>());
    fields
        .map(|f| {
            let number = |text: &str| text.parse().expect("a number");
            (f[0].to_owned(), (f[1].to_owned(), number(f[2]), number(f[3])))
        })
        .collect()
}

#[test]
fn catalogs_have_statistics_close_to_those_of_initdb() {
    let pair = new_pair();
    let mut servers = [pair.ours.connect("postgres"), pair.real.connect("postgres")];
    let [ours, real] = servers.each_mut().map(statistics);
    let mut wrong = Vec::new();
    // The rows of these are not equal; numbers of transactions differ too.
    let differ = |column: &str| {
        let table = column.split(' ').next().unwrap_or_default();
        OTHERS.contains(&table) || table == "pg_shdescription" || column == "pg_class 29"
    };
    for (column, (kinds, nulls, distinct)) in real.iter().filter(|(column, _)| !differ(column)) {
        let Some(found) = ours.get(column) else {
            wrong.push(format!("{column}: none"));
            continue;
        };
        let is_close = |a: f64, b: f64| (a - b).abs() <= 0.05 * a.abs().max(b.abs()) + 1.0;
        let equal = found.0 == *kinds && (found.1 - nulls).abs() < 0.05;
        if !equal || !is_close(found.2, *distinct) {
            wrong.push(format!("{column}: {found:?} instead of {:?}", (kinds, nulls, distinct)));
        }
    }
    let more: Vec<_> = ours.keys().filter(|column| !real.contains_key(*column)).collect();
    assert!(more.is_empty(), "more statistics: {more:?}");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    let sizes = "SELECT oid::regclass, relpages > 0, relallvisible = relpages, relkind \
                 FROM pg_class WHERE relkind IN ('r', 'i', 't') AND relname !~ '^pg_toast' \
                 ORDER BY 1";
    let [ours, real] = servers.each_mut().map(|server| server.rows(sizes));
    assert_eq!(ours, real);
    // Values of all types in the statistics can be read.
    let sql = "SELECT sum(length(stavalues1::text)), count(stavalues2::text) FROM pg_statistic";
    servers.iter_mut().for_each(|server| drop(server.must(sql)));
    let names = "SELECT most_common_vals::text, histogram_bounds::text FROM pg_stats \
                 WHERE tablename = 'pg_am'";
    let [ours, real] = servers.each_mut().map(|server| server.rows(names));
    assert_eq!(ours, real);
}
