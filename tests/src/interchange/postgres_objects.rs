//! Objects that only PostgreSQL can create: Norsu's catalog queries and dumps show them, including
//! their rows, as PostgreSQL's do.

use super::unsupported_objects::dumped;
use testkit::dir::TempDir;
use testkit::norsu::Norsu;
use testkit::postgres::{self, PostgresServer, chown_to_server_user, run};

const OBJECTS: &str = r#"
CREATE SCHEMA "Words";
CREATE TABLE kinds (id int PRIMARY KEY, p point, l lseg, i line, b box, h path, g polygon,
    c circle, m macaddr, n macaddr8, y money, x xml, v tsvector, q tsquery, r int4range,
    s numrange, t tstzrange, u daterange, w int8multirange,
    z nummultirange, bs box[], ms money[]);
CREATE TYPE texts AS RANGE (subtype = text, collation = "C");
CREATE TABLE texty (r texts, m texts_multirange);
ALTER TYPE texts RENAME TO "Texts";
SET extra_float_digits = 1;
INSERT INTO kinds VALUES
  (1, '(1,2.5)', '((0,-1),(1e300,1e-7))', '{1,-2,0.1}', '((3,4),(1,2))', '((1,2),(3,4))',
   '((0,0),(1,1),(2,0))', '<(1,2),3>',
   '08:00:2b:01:02:03', '08:00:2b:01:02:03:04:05', 1234567.89, '<a b="1">x</a>',
   'fat:2A,4B cat''s:1 back\\slash:3C,5 plain', '(fat & !rat) | cat:*AB <-> (a <2> b)', '[1,10)',
   '(1.5,)', '[2020-01-01,2021-01-01 12:00+00)',
   'empty', '{[1,3),[5,)}', '{(1.25,2],[7.125,9)}', '{((1,1),(0,0));((2,2),(1,1))}', '{1,-0.05}'),
  (2, '(NaN,Infinity)', '((1,1),(1,1))', '{-1,1,0}', '((0,0),(0,0))', '[(1,2)]', '((5,5))',
   '<(0,0),0>',
   'ff:ff:ff:ff:ff:ff', '00:00:00:ff:fe:00:00:01', -0.07,
   XMLPARSE(CONTENT '<?xml version="1.0" encoding="utf-8" standalone="no"?><r/>'),
   '', 'a <-> (b <-> c) <-> d & !(e | f)', '(,5)', '[0,0]', '(,)', '[2020-02-01,2020-03-01)', '{}',
   '{(,)}', '{}', '{}'),
  (3, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, '-1000',
   XMLPARSE(DOCUMENT '<?xml version="1.0"?>
<r/>'), to_tsvector('simple', repeat('a b c ', 40)), '!a & !!b',
   NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO texty VALUES ('["",a b)', '{[a,"b,\"\\"],[f,)}'), ('(,"x]"]', '{}');
CREATE TABLE paths (p jsonpath);
INSERT INTO paths VALUES ('$'), ('strict $.a."b c".*.**.**{2}.**{last}.**{2 to last}.**{1 to 3}'),
  ('$[*] ? (@.a == 1 && (@.b > 2 || !(@.c < 3.5e2)))'),
  ('$.a[1, 2 to last, last - 1] ? (exists (@.x ? (@ <> $"v a r"))).type()'),
  ('-$.a + +$.b * (1 + 2) - 3 / 4 % 5'), ('(1).floor() + (-2.5).abs()'),
  ('$ ? (@ like_regex "^a\"b" flag "ims" && @ starts with "y").size()'),
  ('$ ? ((@.a > null) is unknown && @.b == true && $x != "q\n\u0001")'),
  ('$.k.keyvalue().double().ceiling() ? (@ like_regex "q" flag "q")'),
  ('$.d.datetime() < $.e.datetime("yyyy-mm")'), ('($.a + 1) * 2 == 1 + (2 + 3)'),
  (NULL), ('"s"'), ('$.*[$.a.size() to $last]');
CREATE VIEW xml_concat AS SELECT xmlconcat('<a/>', xmlcomment('x')) AS x,
  xmlconcat(NULL) IS DOCUMENT AS d;
CREATE VIEW xml_element AS SELECT xmlelement(name "An Element",
    xmlattributes(id AS ":a b", id + 1 AS two), 'text&', x,
    xmlelement(name nested)) FROM kinds;
CREATE VIEW xml_forest AS SELECT xmlforest(id, id * 2 AS "x y", x), NOT (x IS DOCUMENT) AND id > 1
  AS n FROM kinds;
CREATE VIEW xml_parse AS SELECT xmlparse(document '<a> </a>' strip whitespace) AS a,
    xmlparse(content 'b' preserve whitespace) AS b, xmlpi(name foo, 'bar') AS c,
    xmlpi(name "x y") AS d;
CREATE VIEW xml_root AS SELECT xmlroot(x, version no value, standalone yes) AS a,
    xmlroot(x, version '1.1') AS b,
    xmlroot(x, version 'x' || id, standalone no value) AS c FROM kinds;
CREATE VIEW xml_serialize AS SELECT xmlserialize(content x AS varchar(20)) AS a,
    xmlserialize(document x AS text) || 'x' AS b, (xmlserialize(content x AS char(3)))::text
    COLLATE "C" AS c FROM kinds;
CREATE VIEW xml_table AS SELECT t.*, k.id FROM kinds k, XMLTABLE('/r/a' PASSING k.x
    COLUMNS n FOR ORDINALITY,
    i int PATH '@i' NOT NULL, d numeric(8,2) PATH 'd' DEFAULT 1 + k.id, plain text) AS t (one, two)
    WHERE t.plain <> '';
CREATE VIEW xml_spaces AS SELECT * FROM XMLTABLE(
    XMLNAMESPACES('http://x.y' AS "Zz", DEFAULT 'http://z'),
    '/Zz:r' PASSING '<r/>' COLUMNS a int PATH 'Zz:a');
CREATE TABLE left_one (id int, d int);
CREATE TABLE right_one (entry int, amt int);
CREATE VIEW joined AS SELECT j.* FROM (left_one JOIN right_one ON left_one.id = right_one.entry)
  AS j;
CREATE VIEW joined_names AS SELECT a, f FROM (left_one JOIN right_one
  ON left_one.id = right_one.entry) AS j(a, b, c, f);
CREATE VIEW joined_twice AS SELECT k.a, k.f2 FROM ((left_one JOIN right_one
    ON left_one.id = right_one.entry) AS j(a, b)
    JOIN kinds ON kinds.id = j.a) AS k(a, b, f1, f2) WHERE k.f1 IN (SELECT k.f2 FROM right_one
    WHERE amt = k.f1);
ALTER TABLE left_one ADD x int;
ALTER TABLE right_one ADD x int;
ALTER TABLE left_one RENAME d TO dd;
CREATE INDEX kinds_xml ON kinds ((xmlserialize(content x AS text)), (x IS DOCUMENT));
CREATE FUNCTION cheap() RETURNS int LANGUAGE sql COST 0.0000001 RETURN 1;
CREATE FUNCTION many() RETURNS SETOF int LANGUAGE sql COST 1234567 ROWS 12345678 AS 'SELECT 1';
CREATE TABLE ruled (a int, b int, y money DEFAULT 12.5);
CREATE TABLE log_of (a int, y money);
INSERT INTO ruled SELECT g % 7, g % 3, g FROM generate_series(1, 500) g;
CREATE RULE told AS ON DELETE TO ruled DO NOTIFY "A channel", 'it''s gone';
CREATE RULE told_instead AS ON UPDATE TO log_of DO INSTEAD NOTIFY plain;
CREATE RULE exists_already AS ON INSERT TO ruled WHERE (EXISTS (SELECT 1 FROM ruled
  WHERE ruled.a = new.a))
    DO INSTEAD UPDATE ruled SET b = new.b WHERE ruled.a = new.a;
CREATE RULE logged AS ON UPDATE TO ruled WHERE old.y <> new.y AND new.y > '$10.00'
    DO INSERT INTO log_of SELECT old.a, new.y FROM log_of WHERE log_of.a = new.a;
CREATE VIEW through AS SELECT a, b FROM ruled;
CREATE VIEW rule_view AS SELECT a + 1 AS a1, b FROM ruled GROUP BY a, b;
CREATE RULE rule_view_insert AS ON INSERT TO rule_view DO INSTEAD INSERT INTO ruled
  VALUES (new.a1, new.b);
CREATE RULE rule_view_update AS ON UPDATE TO rule_view WHERE new.b > 1 DO INSTEAD NOTHING;
CREATE VIEW over_rules AS SELECT * FROM rule_view;
CREATE FUNCTION nothing() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END';
CREATE VIEW trigger_view AS SELECT sum(a) AS s FROM ruled;
CREATE TRIGGER instead INSTEAD OF INSERT OR DELETE ON trigger_view FOR EACH ROW
  EXECUTE FUNCTION nothing();
CREATE VIEW over_triggers AS SELECT s FROM trigger_view;
CREATE TEXT SEARCH DICTIONARY "Words".hidden (TEMPLATE = pg_catalog.simple);
CREATE TEXT SEARCH CONFIGURATION "Words".config (COPY = simple);
ALTER TEXT SEARCH CONFIGURATION "Words".config ALTER MAPPING FOR word WITH "Words".hidden, simple;
CREATE COLLATION "Words".own (provider = libc, locale = 'C');
CREATE TABLE parted (a int, b int) PARTITION BY LIST (a);
CREATE TABLE parted1 PARTITION OF parted FOR VALUES IN (1);
CREATE TABLE parted2 PARTITION OF parted FOR VALUES IN (2) PARTITION BY LIST (b);
CREATE TABLE parted21 PARTITION OF parted2 DEFAULT;
CREATE TABLE "Words".published (a int, b text, c int);
CREATE UNLOGGED TABLE "Words".unlogged (a int);
CREATE PUBLICATION everything FOR ALL TABLES;
CREATE PUBLICATION everything_by_root FOR ALL TABLES WITH (publish_via_partition_root);
CREATE PUBLICATION a_few FOR TABLE ruled (a, b), "Words".published (c, a) WHERE (a > 1 AND c < 5),
  TABLE parted;
CREATE PUBLICATION schemas FOR TABLES IN SCHEMA "Words", TABLE parted2;
CREATE PUBLICATION by_root FOR TABLE parted, TABLE parted21, TABLES IN SCHEMA public
  WITH (publish_via_partition_root);
CREATE PUBLICATION none;
CREATE STATISTICS on_both (ndistinct, dependencies, mcv) ON a, b, (a * 2 + b) FROM ruled;
CREATE STATISTICS on_one ON (y::numeric || 'x') FROM ruled;
ANALYZE ruled, kinds;
"#;

const ASKED: [&str; 9] = [
    "SELECT * FROM pg_publication_tables ORDER BY pubname, schemaname, tablename",
    "SELECT statistics_name, expr FROM pg_stats_ext_exprs ORDER BY 1, 2",
    "SELECT stxdndistinct, stxddependencies, stxdmcv FROM pg_statistic_ext_data ORDER BY stxoid",
    "SELECT table_name, is_insertable_into FROM information_schema.tables ORDER BY table_schema, 1",
    "SELECT table_name, is_updatable, is_insertable_into, is_trigger_insertable_into \
     FROM information_schema.views ORDER BY table_schema, 1",
    "SELECT relname, pg_relation_is_updatable(oid, t), pg_column_is_updatable(oid, 1::int2, t) \
     FROM pg_class, (VALUES (true), (false)) b(t) WHERE relkind = 'v' ORDER BY relname, t",
    "SELECT oid::regcollation, (SELECT max(oid)::regconfig FROM pg_ts_config), \
     (SELECT max(oid)::regdictionary FROM pg_ts_dict) FROM pg_collation WHERE oid >= 16384",
    "SELECT attname, most_common_vals, histogram_bounds FROM pg_stats WHERE tablename = 'kinds' \
     ORDER BY 1",
    "SELECT viewname, definition FROM pg_views WHERE schemaname = 'public' ORDER BY 1",
];

#[test]
fn objects_of_postgres_are_shown_and_dumped_equally() {
    let dir = TempDir::new("described");
    chown_to_server_user(dir.path());
    let data = dir.path().join("data");
    postgres::init_with(&data, &["--locale=C", "-k"]);
    let settings = ["wal_level=logical", "autovacuum=off"];
    let real = PostgresServer::start_with(&data, "postgres", &settings);
    let mut client = real.connect("postgres");
    client.must(OBJECTS);
    let expected = ASKED.map(|sql| client.rows(sql));
    let mut dump = real.client("pg_dump");
    dump.arg("postgres");
    let expected_dump = dumped(&run(dump));
    drop((client, real));
    let ours = Norsu::start(&data, &[]);
    let mut client = ours.connect("postgres");
    for (sql, expected) in ASKED.iter().zip(&expected) {
        let found = client.rows(sql);
        let wrong: Vec<_> = expected.iter().zip(&found).filter(|(a, b)| a != b).take(5).collect();
        assert!(wrong.is_empty() && expected.len() == found.len(), "{sql}: {wrong:#?}");
        assert!(!expected.is_empty(), "{sql}");
    }
    let mut dump = ours.client("pg_dump");
    dump.arg("postgres");
    let found = dumped(&run(dump));
    let wrong: Vec<_> = expected_dump.iter().zip(&found).filter(|(a, b)| a != b).take(5).collect();
    assert!(wrong.is_empty() && expected_dump.len() == found.len(), "{wrong:#?}");
    let absent = client.query("SELECT * FROM pg_get_publication_tables('absent')").unwrap();
    let error = absent.error.expect("an error");
    assert_eq!((&*error.code, &*error.message), ("42704", "publication \"absent\" does not exist"));
}
