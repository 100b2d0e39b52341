//! Partitioned tables of PostgreSQL in Norsu's catalog queries: the bounds of each partition, and
//! its position in the partition tree. Partitioned tables of Norsu in PostgreSQL.

use super::unsupported_objects::dumped;
use testkit::client::Client;
use testkit::dir::TempDir;
use testkit::norsu::Norsu;
use testkit::postgres::{self, PostgresServer, chown_to_server_user, run};
use testkit::verify;

const OBJECTS: &str = "
CREATE TYPE mood AS ENUM ('sad', 'ok', 'happy');
CREATE DOMAIN name_of AS varchar(9);
CREATE TABLE l (a int, t text) PARTITION BY LIST (a);
CREATE TABLE l1 PARTITION OF l FOR VALUES IN (3, 1, 2);
CREATE TABLE l2 PARTITION OF l FOR VALUES IN (9);
CREATE TABLE l3 PARTITION OF l FOR VALUES IN (NULL, 7);
CREATE TABLE l4 PARTITION OF l DEFAULT;
CREATE TABLE lone (a int) PARTITION BY LIST (a);
CREATE TABLE lone1 PARTITION OF lone DEFAULT;
CREATE TABLE nulls (a int) PARTITION BY LIST (a);
CREATE TABLE nulls1 PARTITION OF nulls FOR VALUES IN (NULL);
CREATE TABLE nulls2 PARTITION OF nulls DEFAULT;
CREATE TABLE words (v varchar(20)) PARTITION BY LIST (v);
CREATE TABLE words1 PARTITION OF words FOR VALUES IN ('z', 'it''s', E'b\\\\c', 'A');
CREATE TABLE words2 PARTITION OF words FOR VALUES IN ('y');
CREATE TABLE words3 PARTITION OF words DEFAULT;
CREATE TABLE bools (b bool) PARTITION BY LIST (b);
CREATE TABLE bools1 PARTITION OF bools FOR VALUES IN (true);
CREATE TABLE bools2 PARTITION OF bools DEFAULT;
CREATE TABLE moods (m mood) PARTITION BY LIST (m);
CREATE TABLE moods1 PARTITION OF moods FOR VALUES IN ('happy', 'sad');
CREATE TABLE moods2 PARTITION OF moods DEFAULT;
CREATE TABLE arrays (a int[]) PARTITION BY LIST (a);
CREATE TABLE arrays1 PARTITION OF arrays FOR VALUES IN ('{1,2}', '{3}');
CREATE TABLE arrays2 PARTITION OF arrays FOR VALUES IN ('{5}');
CREATE TABLE arrays3 PARTITION OF arrays DEFAULT;
CREATE TABLE domains (d name_of) PARTITION BY LIST (d);
CREATE TABLE domains1 PARTITION OF domains FOR VALUES IN ('x', 'w');
CREATE TABLE lowered (t text, u text) PARTITION BY LIST (lower(t));
CREATE TABLE lowered1 (u text, gone int, t text); ALTER TABLE lowered1 DROP COLUMN gone;
ALTER TABLE lowered ATTACH PARTITION lowered1 FOR VALUES IN ('a', 'b');
CREATE TABLE collated (t text) PARTITION BY LIST (t COLLATE \"POSIX\");
CREATE TABLE collated1 PARTITION OF collated FOR VALUES IN ('a', 'b');
CREATE TABLE collated2 PARTITION OF collated FOR VALUES IN ('c');
CREATE TABLE r (i int, d date, t text) PARTITION BY RANGE (i, d, lower(t));
CREATE TABLE r1 PARTITION OF r FOR VALUES FROM (MINVALUE, MINVALUE, MINVALUE) TO (1, MINVALUE, \
  MINVALUE);
CREATE TABLE r2 PARTITION OF r FOR VALUES FROM (1, '2020-01-01', 'a') TO (1, '2021-01-01', \
  MAXVALUE);
CREATE TABLE r3 PARTITION OF r FOR VALUES FROM (2, '2020-01-01', 'a') TO (2, '2020-01-01', 'b');
CREATE TABLE r4 PARTITION OF r FOR VALUES FROM (3, '2020-01-01', 'a') TO (4, '2021-01-01', \
  'b') PARTITION BY LIST (t);
CREATE TABLE r41 PARTITION OF r4 FOR VALUES IN ('q');
CREATE TABLE r42 PARTITION OF r4 DEFAULT PARTITION BY HASH (d);
CREATE TABLE r421 PARTITION OF r42 FOR VALUES WITH (MODULUS 2, REMAINDER 1);
CREATE TABLE r5 PARTITION OF r FOR VALUES FROM (5, MINVALUE, MINVALUE) TO (6, MAXVALUE, MAXVALUE);
CREATE TABLE r6 PARTITION OF r FOR VALUES FROM (8, '2020-01-01', MINVALUE) TO (MAXVALUE, MAXVALUE, \
  MAXVALUE);
CREATE TABLE r7 PARTITION OF r DEFAULT;
CREATE TABLE one (i int) PARTITION BY RANGE (i);
CREATE TABLE one1 PARTITION OF one FOR VALUES FROM (10) TO (20);
CREATE TABLE one2 PARTITION OF one FOR VALUES FROM (-5) TO (10);
CREATE TABLE one3 PARTITION OF one DEFAULT;
CREATE TABLE every (i int, j int) PARTITION BY RANGE (i, j);
CREATE TABLE every1 PARTITION OF every FOR VALUES FROM (MINVALUE, MINVALUE) TO (MAXVALUE, MAXVALUE);
CREATE TABLE every2 PARTITION OF every DEFAULT;
CREATE TABLE alone (i int) PARTITION BY RANGE (i);
CREATE TABLE alone1 PARTITION OF alone DEFAULT;
CREATE TABLE v (v varchar, n numeric(8,2), f float8) PARTITION BY RANGE (v, n, f);
CREATE TABLE v1 PARTITION OF v FOR VALUES FROM ('a', 1.5, 2.5) TO ('b', -1, 'infinity');
CREATE TABLE ex (i int, j int) PARTITION BY RANGE ((i + j), i);
CREATE TABLE ex1 PARTITION OF ex FOR VALUES FROM (-10, 1) TO (10, 2);
CREATE TABLE h (a int, \"b B\" text) PARTITION BY HASH (a, lower(\"b B\"));
CREATE TABLE h0 PARTITION OF h FOR VALUES WITH (MODULUS 4, REMAINDER 0);
CREATE TABLE h1 (\"b B\" text, a int);
ALTER TABLE h ATTACH PARTITION h1 FOR VALUES WITH (MODULUS 4, REMAINDER 1);
CREATE TABLE booly (b bool, i int) PARTITION BY RANGE (b, i);
CREATE TABLE booly1 PARTITION OF booly FOR VALUES FROM (false, 1) TO (false, 2);
CREATE TABLE booly2 PARTITION OF booly FOR VALUES FROM (false, 3) TO (true, 2);
CREATE INDEX ri ON r (i); CREATE INDEX li ON l (a);
";

const ASKED: [&str; 5] = [
    "SELECT relname, pg_get_partkeydef(oid), pg_get_expr(relpartbound, oid), \
     pg_get_partition_constraintdef(oid) FROM pg_class WHERE oid >= 16384 ORDER BY oid",
    "SELECT relname, pg_partition_root(oid) FROM pg_class ORDER BY oid",
    "SELECT relname, t.* FROM pg_class c, pg_partition_tree(c.oid) WITH ORDINALITY t \
     ORDER BY c.oid, ordinality",
    "SELECT relname, t.* FROM pg_class c, pg_partition_ancestors(c.oid) WITH ORDINALITY t \
     ORDER BY c.oid, ordinality",
    "SELECT pg_get_partition_constraintdef(1), pg_partition_root(1), \
     (SELECT count(*) FROM pg_partition_tree(1)), (SELECT count(*) FROM pg_partition_ancestors(1))",
];

fn answers(client: &mut Client) -> Vec<Vec<String>> {
    ASKED.iter().map(|sql| client.rows(sql)).collect()
}

#[test]
fn partitions_of_postgres_are_shown_equally() {
    let dir = TempDir::new("partitions");
    chown_to_server_user(dir.path());
    let data = dir.path().join("data");
    postgres::init_with(&data, &["--locale=C", "-k"]);
    let real = PostgresServer::start(&data, "postgres");
    let mut client = real.connect("postgres");
    client.must(OBJECTS);
    let expected = answers(&mut client);
    drop((client, real));
    let ours = Norsu::start(&data, &[]);
    let found = answers(&mut ours.connect("postgres"));
    for ((sql, expected), found) in ASKED.iter().zip(&expected).zip(&found) {
        let both = expected.iter().zip(found);
        let wrong: Vec<_> = both.filter(|(a, b)| a != b).take(5).collect();
        assert!(wrong.is_empty() && expected.len() == found.len(), "{sql}: {wrong:#?}");
    }
    assert!(expected.iter().all(|rows| !rows.is_empty()));
    let described = expected[0].iter().filter(|row| row.contains("IS NOT NULL")).count();
    assert!(described > 25, "{described}");
}

#[test]
fn partitions_of_norsu_are_used_by_postgres() {
    let dir = TempDir::new("made_partitions");
    chown_to_server_user(dir.path());
    let data = dir.path().join("data");
    postgres::init_with(&data, &["--locale=C", "-k"]);
    let real = PostgresServer::start(&data, "postgres");
    real.connect("postgres").must(OBJECTS);
    drop(real);
    let ours = Norsu::start(&data, &[]);
    ours.connect("postgres").must("CREATE DATABASE made TEMPLATE template0");
    ours.connect("made").must(OBJECTS);
    ours.stop(&data);
    let real = PostgresServer::start(&data, "postgres");
    let dump = |database| {
        let mut program = real.client("pg_dump");
        program.args(["--schema-only", database]);
        dumped(&run(program))
    };
    assert_eq!(dump("made"), dump("postgres"));
    let rows = "INSERT INTO l SELECT g % 10, g FROM generate_series(1, 99) g; \
                INSERT INTO one SELECT g FROM generate_series(-9, 30) g; \
                SELECT tableoid::regclass, count(*) FROM l GROUP BY 1 ORDER BY 1; \
                SELECT tableoid::regclass, count(*) FROM one GROUP BY 1 ORDER BY 1; \
                SELECT count(*) FROM pg_class WHERE reltoastrelid <> 0";
    assert_eq!(real.query("made", rows), real.query("postgres", rows));
    verify::check(&real);
}
