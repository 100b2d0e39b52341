//! PostgreSQL's programs that create, drop and maintain databases, roles and tables.

use super::{Side, differences, long};
use crate::pair::Pair;

/// Calls in this order; [`LONG`] is run in the long form only. `-e` prints the statements.
const CALLS: &[&str] = &[
    "createuser -e maker",
    "createuser -e -d -r -l -c 5 ann",
    "createuser -e -s boss",
    "createuser -e -i -L --replication --role=maker Odd-Name",
    "createuser -e maker",
    "createuser -e --role=nosuch x",
    "createdb -e one",
    "createdb -e one",
    "createdb -e -O ann two its-comment",
    "createdb -e -T template0 -E LATIN1 -l C three",
    "createdb -e -T one --strategy=file_copy four",
    "createdb -e -T nosuch five",
    "createdb -e -E nosuch five",
    "createdb -e -D nosuch five",
    "createdb -e --lc-collate=C --lc-ctype=POSIX -T template0 Odd-Base",
    "createdb -e -U nobody six",
    "psql -X -d one -f @/tables.sql",
    "vacuumdb --all --analyze",
    "~vacuumdb -e -z one",
    "vacuumdb -e -F -t t one",
    "vacuumdb -e -t u(a,b) -z one",
    "vacuumdb -j 2 -e --disable-page-skipping --skip-locked --no-index-cleanup --no-truncate -t t \
     one",
    "vacuumdb -e --force-index-cleanup --no-process-toast one -t t",
    "vacuumdb -e -P 0 one -t t",
    "vacuumdb -e -t nosuch one",
    "vacuumdb -z nosuch",
    "reindexdb -e one",
    "~reindexdb -e -t t -t u one",
    "reindexdb -e -i t_pkey one",
    "reindexdb -e -S s one",
    "reindexdb -e --concurrently -t t one",
    "reindexdb -e --tablespace=pg_default -i t_pkey one",
    "reindexdb -v -i t_pkey one",
    "reindexdb -j 2 -t t -t u one",
    "reindexdb -e -i nosuch one",
    "clusterdb -e one",
    "clusterdb -e -t t one",
    "clusterdb -e -t u one",
    "clusterdb -v -t t one",
    "vacuumlo -v -n one",
    "vacuumlo -v -l 1 one",
    "vacuumlo -v one nosuch",
    "psql -X -d one -c \\lo_list",
];

const LONG: &[&str] = &[
    "~vacuumdb -e -f one",
    "~vacuumdb -e --analyze-in-stages one",
    "~vacuumdb -e --all --analyze-only",
    "vacuumdb -j 2 --all -z -q",
    "reindexdb -a",
    "clusterdb -a",
    "~vacuumdb -e -Z one",
];

const LAST: &[&str] = &[
    "pg_isready",
    "pg_isready -d one",
    "pg_isready -d nosuch -q",
    "psql -X -l -A -t",
    "dropdb -e one",
    "dropdb -e one",
    "dropdb -e --if-exists one",
    "dropdb -e -f two",
    "dropdb -e postgres --maintenance-db=three",
    "dropdb -e three",
    "dropdb -e three --maintenance-db=three",
    "dropuser -e ann",
    "dropuser -e ann",
    "dropuser -e --if-exists ann",
    "dropuser -e postgres",
    "dropuser -e Odd-Name",
    "pg_dumpall -g",
    "psql -X -l -A -t",
    "pg_amcheck one",
    "pg_amcheck --all",
];

const TABLES: &str = "\
CREATE SCHEMA s;
CREATE TABLE t (a int PRIMARY KEY, b text);
INSERT INTO t SELECT g, repeat('x', g) FROM generate_series(1, 300) g;
DELETE FROM t WHERE a % 3 = 0;
CREATE INDEX t_b ON t (b);
CLUSTER t USING t_b;
CREATE TABLE u (a int, b int);
CREATE TABLE s.v (a int UNIQUE);
CREATE MATERIALIZED VIEW m AS SELECT * FROM t;
SELECT lo_create(7001), lo_create(7002), lo_create(7003), lo_from_bytea(7004, 'x');
CREATE TABLE refs (o oid);
INSERT INTO refs VALUES (7003);
";

#[test]
fn programs_have_the_same_output_on_both_servers() {
    let pair = Pair::start("programs", "C", &[]);
    let sides = Side::both(&pair);
    sides.iter().for_each(|s| s.write("tables.sql", TABLES.as_bytes()));
    let lists = [CALLS, if long() { LONG } else { &[] }, LAST];
    let wrong: Vec<String> = lists.iter().flat_map(|l| differences(&sides, l)).collect();
    assert!(wrong.is_empty(), "{} differ:\n{}", wrong.len(), wrong.join("\n"));
    assert!(!pair.ours.log().contains("panicked"), "{}", pair.ours.log());
}
