//! Locales of the C library and of ICU: databases, collations, their order and their letters. Both
//! servers use the same directories in turn, and give the same results; an index of one is correct
//! for the other.
//!
//! The locales are built by the test, so that it does not depend on those of the machine.

use std::path::{Path, PathBuf};
use std::process::Command;
use testkit::client::Client;
use testkit::dir::TempDir;
use testkit::norsu::{self, Norsu};
use testkit::postgres::{PostgresServer, chown_to_server_user, program, run};

/// Locales that a test has built, and how servers are started with access to them.
struct Locales {
    directory: PathBuf,
    launcher: [String; 2],
}

impl Locales {
    fn make(dir: &TempDir) -> Locales {
        let directory = dir.path().join("locales");
        std::fs::create_dir(&directory).expect("a new directory");
        for (source, charset) in [
            ("en_US", "UTF-8"),
            ("de_DE", "UTF-8"),
            ("sv_SE", "UTF-8"),
            ("cs_CZ", "UTF-8"),
            ("tr_TR", "UTF-8"),
            ("de_DE", "ISO-8859-1"),
        ] {
            let mut localedef = Command::new("localedef");
            localedef.args(["-i", source, "-f", charset, "--no-archive"]);
            localedef.arg(directory.join(format!("{source}.{charset}")));
            run(localedef);
        }
        let launcher = ["env".to_owned(), format!("LOCPATH={}", directory.display())];
        Locales { directory, launcher }
    }

    fn norsu(&self, data: &Path) -> Norsu {
        Norsu::start_by(&self.launcher, data, &[]).expect("a server")
    }

    fn postgres(&self, data: &Path) -> PostgresServer {
        PostgresServer::start_by(&self.launcher, data, "postgres")
    }
}

/// A cluster of Norsu's `init` with the locale of the environment.
fn american_cluster(dir: &TempDir, locales: &Locales) -> PathBuf {
    chown_to_server_user(dir.path());
    let data = dir.path().join("data");
    let mut init = Command::new(norsu::binary());
    init.args(["init", "-U", "postgres", "-A", "trust", "-N", "-k", "-D"]).arg(&data);
    init.env("LOCPATH", &locales.directory).env("LANG", "en_US.UTF-8").env_remove("LC_ALL");
    run(init);
    chown_to_server_user(&data);
    data
}

/// Collations of the test, with the clause that creates them.
const COLLATIONS: [(&str, &str); 8] = [
    ("german", "(LOCALE = 'de_DE.UTF-8')"),
    ("swedish", "(LOCALE = 'sv_SE.UTF-8')"),
    ("czech", "(LOCALE = 'cs_CZ.UTF-8')"),
    ("turkish", "(LC_COLLATE = 'C', LC_CTYPE = 'tr_TR.UTF-8')"),
    ("root", "(PROVIDER = icu, LOCALE = 'und')"),
    ("phonebook", "(PROVIDER = icu, LOCALE = 'de-u-co-phonebk')"),
    ("upper_first", "(PROVIDER = icu, LOCALE = 'en-u-kf-upper-kn')"),
    ("turkish_icu", "(PROVIDER = icu, LOCALE = 'tr')"),
];
/// Collations under which texts of different bytes may be equal.
const LOOSE: [(&str, &str); 2] = [
    ("any_case", "(PROVIDER = icu, LOCALE = 'und-u-ks-level2', DETERMINISTIC = false)"),
    ("any_accent", "(PROVIDER = icu, LOCALE = 'und-u-ks-level1', DETERMINISTIC = false)"),
];

/// Pieces of which the texts consist: several scripts, accents, punctuation, digits, combining
/// marks, letters that are several letters in some languages.
const PIECES: [&str; 44] = [
    "a", "b", "c", "ch", "d", "e", "i", "o", "s", "ss", "z", "A", "B", "E", "I", "Z", "é", "É",
    "ä", "ö", "Ö", "å", "ß", "ı", "İ", "ñ", "œ", "e\u{301}", "o\u{308}", " ", "-", "_", ".", "'",
    "0", "1", "12", "α", "Σ", "ж", "Ё", "漢", "😀", "ﬁ",
];

/// Rows of `(number, text)`, the same in each run.
fn texts(count: usize) -> String {
    let mut state = 0x2545_f491_4f6c_dd1du64;
    let mut next = |below: usize| {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % below
    };
    let rows = (0..count).map(|number| {
        let length = next(7);
        let text: String = (0..length).map(|_| PIECES[next(PIECES.len())]).collect();
        format!("({number}, '{}')", text.replace('\'', "''"))
    });
    rows.collect::<Vec<_>>().join(",")
}

/// Queries whose results must be the same on both servers.
fn queries() -> Vec<String> {
    let mut out = Vec::new();
    let named = COLLATIONS.iter().chain(&LOOSE).map(|(name, _)| *name);
    for name in named.chain(["default", "C", "POSIX", "ucs_basic", "sv-x-icu"]) {
        let c = format!("COLLATE \"{name}\"");
        for query in [
            format!("SELECT md5(string_agg(n::text, ',' ORDER BY t {c}, n)) FROM texts"),
            format!("SELECT md5(string_agg(n::text, ',' ORDER BY b {c} DESC, n)) FROM texts"),
            format!("SELECT n FROM texts ORDER BY t {c} DESC, n LIMIT 7"),
            format!("SELECT count(*) FROM texts x, texts y WHERE x.t < y.t {c} AND y.n < 40"),
            format!("SELECT count(*) FROM texts x JOIN texts y ON x.t = y.t {c}"),
            format!("SELECT count(*) FROM (SELECT DISTINCT t {c} FROM texts) s"),
            format!("SELECT count(*) FROM (SELECT 1 FROM texts GROUP BY b {c}) s"),
            format!("SELECT max(t {c}) > min(t {c}), max(b {c}) < 'e' {c} FROM texts"),
            format!("SELECT count(*) FROM texts WHERE t {c} IN ('a', 'É', 'ss', 'ß')"),
            format!("SELECT count(*) FROM texts WHERE ARRAY[t {c}, 'x'] < ARRAY['e', 'y']"),
            format!("SELECT count(*) FROM texts WHERE ARRAY[t {c}] && ARRAY['É', 'a']"),
            format!("SELECT count(*) FROM texts WHERE ROW(t {c}, n) < ROW('e', 5)"),
            format!("SELECT count(*) FROM texts WHERE greatest(t {c}, 'd') = t"),
            format!("SELECT count(*) FROM texts WHERE t {c} BETWEEN 'c' AND 'o'"),
            format!(
                "SELECT md5(string_agg(upper(t {c}) || lower(t {c}), '' ORDER BY n)) FROM texts"
            ),
            format!("SELECT md5(string_agg(initcap(t {c}), ',' ORDER BY n)) FROM texts"),
            format!("SELECT count(*) FROM texts WHERE t {c} ~* '^[[:alpha:]i]+$'"),
            format!("SELECT count(*) FROM texts WHERE t {c} ~ '[[:upper:]][[:punct:][:space:]]'"),
            format!("SELECT count(*) FROM texts WHERE t {c} ILIKE '%i%'"),
            format!("SELECT count(*) FROM texts WHERE t {c} LIKE 'a%'"),
            format!("SELECT strpos(t {c}, 'e') FROM texts WHERE n = 7"),
            format!("SELECT rank() OVER (ORDER BY t {c}) FROM texts WHERE n < 30 ORDER BY n"),
            format!("SELECT percentile_disc(0.4) WITHIN GROUP (ORDER BY t {c}) FROM texts"),
        ] {
            out.push(query);
        }
    }
    out
}

/// The answers to the queries: rows, or an error.
fn answers(mut client: Client) -> Vec<String> {
    let answer = |sql: &String| {
        let reply = client.query(sql).expect("an answer");
        match &reply.error {
            Some(e) => format!("{sql}: {} {}", e.code, e.message),
            None => format!("{sql}: {}", reply.text().join(",")),
        }
    };
    queries().iter().map(answer).collect()
}

fn assert_same(found: &[String], expected: &[String]) {
    let differ = found.iter().zip(expected).filter(|(a, b)| a != b);
    let differ: Vec<String> = differ.map(|(a, b)| format!("{a}\n    want {b}")).collect();
    assert!(differ.is_empty(), "{} differences:\n{}", differ.len(), differ.join("\n"));
}

/// Indexes with each collation: one that is built before the rows, one after them.
fn create_indexes(client: &mut Client, prefix: &str) {
    for (name, _) in COLLATIONS.iter().chain(&LOOSE) {
        client.must(&format!("CREATE INDEX {prefix}_{name} ON texts (t COLLATE {name}, n)"));
        client.must(&format!("CREATE INDEX {prefix}_{name}_b ON texts (b COLLATE {name} DESC)"));
        client.must(&format!(
            "CREATE INDEX {prefix}_{name}_h ON texts USING hash (t COLLATE {name})"
        ));
    }
    client.must(&format!("CREATE INDEX {prefix}_default ON texts (t)"));
}

/// Checks all B-tree indexes by PostgreSQL's amcheck.
fn check_indexes(real: &PostgresServer) {
    let mut client = real.connect("postgres");
    client.must("CREATE EXTENSION IF NOT EXISTS amcheck");
    let checked = client.value(
        "SELECT count(bt_index_check(i.indexrelid, true)) FROM pg_index i JOIN pg_class c \
         ON c.oid = i.indexrelid WHERE c.relam = 403 AND i.indrelid = 'texts'::regclass",
    );
    assert_ne!(checked, "0");
}

/// Compares what index scans find with what sequential scans find.
fn search_indexes(client: &mut Client) {
    for (name, _) in COLLATIONS.iter().chain(&LOOSE) {
        let queries = [
            format!(
                "SELECT md5(string_agg(n::text, ',')) \
                 FROM (SELECT n FROM texts ORDER BY t COLLATE {name}, n) s"
            ),
            format!(
                "SELECT count(*) FROM texts \
                 WHERE t COLLATE {name} >= 'c' AND t COLLATE {name} < 'o'"
            ),
            format!(
                "SELECT count(*) FROM texts x \
                 WHERE EXISTS (SELECT 1 FROM texts y WHERE y.t COLLATE {name} = upper(x.t))"
            ),
        ];
        for query in queries {
            client.must("SET enable_seqscan = off");
            client.must("SET enable_sort = off");
            let by_index = client.value(&query);
            client.must("SET enable_sort = on");
            client.must("SET enable_seqscan = on");
            client.must("SET enable_indexscan = off");
            client.must("SET enable_indexonlyscan = off");
            client.must("SET enable_bitmapscan = off");
            assert_eq!(by_index, client.value(&query), "{query}");
            client.must("RESET ALL");
        }
    }
}

#[test]
fn texts_have_the_order_and_the_letters_of_postgresql() {
    let dir = TempDir::new("locales");
    let locales = Locales::make(&dir);
    let data = american_cluster(&dir, &locales);
    let server = locales.norsu(&data);
    let mut client = server.connect("postgres");
    assert_eq!(client.value("SHOW lc_collate"), "en_US.UTF-8");
    for (name, clause) in COLLATIONS.iter().chain(&LOOSE) {
        client.must(&format!("CREATE COLLATION {name} {clause}"));
    }
    client.must("CREATE TABLE texts (n int, t text, b char(30))");
    create_indexes(&mut client, "before");
    client
        .must(&format!("INSERT INTO texts SELECT n, t, t FROM (VALUES {}) v (n, t)", texts(1500)));
    create_indexes(&mut client, "after");
    client.must("CREATE TABLE keys (k text COLLATE any_case PRIMARY KEY)");
    client.must("INSERT INTO keys VALUES ('Key')");
    assert_eq!(client.query("INSERT INTO keys VALUES ('kEY')").expect("an answer").code(), "23505");
    client.must("VACUUM ANALYZE texts");
    search_indexes(&mut client);
    drop(client);
    let ours = answers(server.connect("postgres"));
    server.stop(&data);

    let real = locales.postgres(&data);
    assert_same(&ours, &answers(real.connect("postgres")));
    check_indexes(&real);
    let mut client = real.connect("postgres");
    assert_eq!(client.query("INSERT INTO keys VALUES ('KEY')").expect("an answer").code(), "23505");
    create_indexes(&mut client, "theirs");
    client.must("INSERT INTO texts SELECT n + 10000, initcap(t), b FROM texts WHERE n % 3 = 0");
    let theirs = answers(real.connect("postgres"));
    drop(client);
    drop(real);

    let server = locales.norsu(&data);
    assert_same(&answers(server.connect("postgres")), &theirs);
    let mut client = server.connect("postgres");
    search_indexes(&mut client);
    client.must("INSERT INTO texts SELECT n + 20000, upper(t), b FROM texts WHERE n % 5 = 0");
    client.must("DELETE FROM texts WHERE n % 7 = 0");
    client.must("VACUUM texts");
    search_indexes(&mut client);
    drop(client);
    server.stop(&data);
    check_indexes(&locales.postgres(&data));
}

/// Statements on both servers, each on a database of its own.
const STATEMENTS: &str = "\
CREATE COLLATION c1 (LOCALE = 'xx_YY.UTF-8')
CREATE COLLATION c1 (PROVIDER = icu, LOCALE = 'nonsense-nowhere')
CREATE COLLATION c1 (PROVIDER = icu)
CREATE COLLATION c1 (PROVIDER = other, LOCALE = 'C')
CREATE COLLATION c1 (LC_COLLATE = 'C')
CREATE COLLATION c1 (LC_CTYPE = 'C')
CREATE COLLATION c1 (LOCALE = 'C', LC_CTYPE = 'C')
CREATE COLLATION c1 (LOCALE = 'C', LOCALE = 'C')
CREATE COLLATION c1 (LOCALE = 'C', DETERMINISTIC = false)
CREATE COLLATION c1 (NOTHING = 'C')
CREATE COLLATION c1 (LOCALE = 'de_DE.ISO-8859-1')
CREATE COLLATION nowhere.c1 (LOCALE = 'C')
CREATE COLLATION c1 FROM nothing
CREATE COLLATION c1 FROM \"default\"
CREATE COLLATION c1 (FROM = \"C\", LOCALE = 'C')
CREATE COLLATION c1 FROM \"C\"
CREATE COLLATION c1 FROM \"C\"
CREATE COLLATION IF NOT EXISTS c1 (LOCALE = 'de_DE.UTF-8')
CREATE COLLATION c2 (LOCALE = 'de_DE.UTF-8', VERSION = '1.0')
CREATE COLLATION c2 (PROVIDER = icu, LOCALE = 'de')
CREATE COLLATION IF NOT EXISTS c2 (PROVIDER = icu, LOCALE = 'de')
CREATE COLLATION c3 (PROVIDER = icu, LOCALE = '@colStrength=primary', DETERMINISTIC = false)
CREATE COLLATION c3 (LOCALE = 'C')
SELECT 'ä' < 'b' COLLATE c2
SELECT collname, collprovider, collisdeterministic, collencoding, collcollate, collctype, \
  colliculocale, collversion FROM pg_collation \
  WHERE collnamespace = 'public'::regnamespace ORDER BY 1
SELECT collname, pg_collation_actual_version(oid) IS NULL FROM pg_collation WHERE collname LIKE 'c_'
ALTER COLLATION c1 REFRESH VERSION
ALTER COLLATION c2 REFRESH VERSION
SELECT collversion FROM pg_collation WHERE collname = 'c2'
ALTER COLLATION c2 RENAME TO c1
ALTER COLLATION c2 RENAME TO c4
COMMENT ON COLLATION c4 IS 'a collation'
CREATE TABLE t (a text COLLATE c4, b text COLLATE c3)
CREATE INDEX ON t (b text_pattern_ops)
CREATE INDEX ON t (a text_pattern_ops)
INSERT INTO t VALUES ('Ä', 'Ä'), ('b', 'a'), ('é', 'B')
SELECT a FROM t ORDER BY a
SELECT b FROM t WHERE b = 'A'
SELECT b FROM t WHERE b LIKE 'A'
SELECT b FROM t WHERE b ILIKE 'A'
SELECT b FROM t WHERE b ~ 'A'
SELECT replace(b, 'a', 'b') FROM t
SELECT split_part(b, 'a', 1) FROM t
SELECT starts_with(b, 'a') FROM t
SELECT a < b FROM t
DROP COLLATION c4
DROP COLLATION c4 CASCADE
SELECT pg_import_system_collations('public') > 0
SELECT count(*), md5(string_agg(collname || description, ',' ORDER BY collname)) \
  FROM pg_description \
  JOIN pg_collation c ON c.oid = objoid WHERE classoid = 'pg_collation'::regclass \
  AND collnamespace = 'public'::regnamespace AND collname LIKE '%-x-icu'
SELECT pg_import_system_collations(77)
CREATE DATABASE d1 LOCALE 'xx_YY.UTF-8' TEMPLATE template0
CREATE DATABASE d1 LOCALE 'de_DE.UTF-8'
CREATE DATABASE d1 LOCALE_PROVIDER icu TEMPLATE template0
CREATE DATABASE d1 LOCALE_PROVIDER icu ICU_LOCALE 'de'
CREATE DATABASE d1 ICU_LOCALE 'de' TEMPLATE template0
CREATE DATABASE d1 ENCODING 'LATIN1' LOCALE 'de_DE.UTF-8' TEMPLATE template0
CREATE DATABASE german LOCALE 'de_DE.UTF-8' TEMPLATE template0
CREATE DATABASE icu LOCALE_PROVIDER icu ICU_LOCALE 'sv' TEMPLATE template0
CREATE DATABASE icu2 ICU_LOCALE 'de' TEMPLATE icu
CREATE DATABASE icu2 TEMPLATE icu
CREATE DATABASE icu3 LOCALE_PROVIDER libc TEMPLATE icu
CREATE DATABASE latin ENCODING 'LATIN1' LOCALE 'de_DE.ISO-8859-1' TEMPLATE template0
CREATE DATABASE turkish LC_COLLATE 'C' LC_CTYPE 'tr_TR.UTF-8' TEMPLATE template0
CREATE DATABASE old COLLATION_VERSION '1' LOCALE 'de_DE.UTF-8' TEMPLATE template0
CREATE DATABASE old2 TEMPLATE old
SELECT datname, datlocprovider, datcollate, datctype, daticulocale, datcollversion IS NULL \
  FROM pg_database ORDER BY 1 COLLATE \"C\"
";

/// Queries in databases with other locales.
const IN_DATABASES: &str = "\
SELECT 'ä' < 'b', 'Z' < 'a', upper('ß'), initcap('dž-éa'), 'I' ~* 'ı', lower('I')
SELECT string_agg(x, '' ORDER BY x) FROM unnest('{b,A,a,B,i,z}'::text[]) x
CREATE TABLE t (a text PRIMARY KEY)
INSERT INTO t SELECT x FROM unnest('{b,A,a,B,i,z}'::text[]) x
SELECT count(*) FROM t WHERE a > 'a'
SELECT datname, datcollversion FROM pg_database WHERE datname = current_database()
CREATE EXTENSION btree_gin
CREATE EXTENSION pg_trgm
SELECT string_agg(x::text, ' ' ORDER BY x) FROM (SELECT to_jsonb(v) FROM \
  unnest('{b,A,a,B,i,z,ä}'::text[]) v UNION ALL SELECT jsonb_build_object(v, 1) FROM \
  unnest('{b,A,a,B,ä}'::text[]) v) s (x)
SELECT '\"a\"'::jsonb < '\"B\"', ARRAY['\"a\"'::jsonb] < ARRAY['\"B\"'::jsonb], \
  row(1, '\"a\"'::jsonb) < row(1, '\"B\"'::jsonb), jsonb_cmp('[\"a\"]', '[\"B\"]') < 0, \
  greatest('\"a\"'::jsonb, '\"B\"')
CREATE TABLE j (v jsonb PRIMARY KEY)
INSERT INTO j SELECT to_jsonb(x) FROM unnest('{b,A,a,B,i,z,ä}'::text[]) x
SELECT string_agg(v::text, ' ') FROM (SELECT v FROM j WHERE v >= '\"B\"' ORDER BY v) s
CREATE TABLE g (t text, c char(5))
INSERT INTO g SELECT x || n, x FROM unnest('{b,A,a,B,i,z,ä,I,ı,½}'::text[]) x, \
  generate_series(1, 30) n
CREATE INDEX ON g USING gin (t)
CREATE INDEX ON g USING gin (c)
CREATE INDEX ON g USING gin (t gin_trgm_ops)
SET enable_seqscan = off
SELECT count(*) FROM g WHERE t < 'B2'
SELECT count(*) FROM g WHERE t >= 'i2'
SELECT count(*) FROM g WHERE c > 'B'
SELECT count(*) FROM g WHERE t ILIKE '%I1%'
SELECT count(*) FROM g WHERE t ILIKE '½1%'
SELECT count(*) FROM g WHERE t % 'ä12'
SELECT show_trgm('Istanbul ISPARTA xy äß')
RESET enable_seqscan
CREATE TYPE textrange AS RANGE (subtype = text)
SELECT textrange('a', 'C') @> 'B'::text, textrange('B', 'c') < textrange('a', 'c')
CREATE TABLE p (t text) PARTITION BY RANGE (t)
CREATE TABLE p1 PARTITION OF p FOR VALUES FROM (MINVALUE) TO ('b')
CREATE TABLE p2 PARTITION OF p FOR VALUES FROM ('b') TO (MAXVALUE)
INSERT INTO p SELECT * FROM unnest('{b,A,a,B,i,z,ä}'::text[])
SELECT tableoid::regclass, string_agg(t, '' ORDER BY t) FROM p GROUP BY 1 ORDER BY 1
SELECT count(*) FROM p WHERE t > 'B'
";

/// Formats of numbers, amounts, and names of days and months.
const FORMATS: &str = "\
SET lc_numeric = 'xx_YY.UTF-8'
SET lc_numeric = 'de_DE.UTF-8'
SET lc_monetary = 'de_DE.UTF-8'
SET lc_time = 'de_DE.UTF-8'
SELECT to_char(-1234567.891, x) \
  FROM unnest('{L9G999G999D99,FM9G999G999D99L,9G999.9,S9G999G999D9,99G99D}'::text[]) x
SELECT to_number('1.234,5', '9G999D9'), to_number('12,5 €', '99D9 L')
SELECT m, -m, m::numeric \
  FROM (VALUES (1234567.891::numeric::money), ('0'), ('-1,5 €'), ('12.345,678'), (5::money)) v (m)
SELECT to_char('2024-03-06'::date, x) \
  FROM unnest('{TMMonth,TMMONTH,TMmonth,TMMon,TMDay,TMDAY,TMdy,Month,FMDay}'::text[]) x
SELECT to_date('3 MÄRZ 2024', 'DD TMMonth YYYY'), to_date('Mi 06 Mär 2024', 'TMDy DD TMMon YYYY')
SELECT to_date('3 March 2024', 'DD TMMonth YYYY')
SET lc_numeric = 'sv_SE.UTF-8'
SET lc_monetary = 'sv_SE.UTF-8'
SELECT to_char(1234567.891, 'L9G999G999D99'), '-1234567.891'::money, '1234567,891'::money
SET lc_monetary = 'en_US.UTF-8'
SELECT '-1234567.891'::money, '$1,234.5'::money
SET lc_monetary = 'tr_TR.UTF-8'
SELECT '-1234567,891'::money
SET lc_time = 'tr_TR.UTF-8'
SELECT to_char('2024-03-06'::date, 'TMDay TMMonth'), to_char('2024-12-01'::date, 'TMDAY TMMONTH')
";

/// The replies to statements, with their notices.
fn replies(client: &mut Client, statements: &str) -> Vec<String> {
    let statements = statements.replace("\\\n", "");
    let reply = |sql: &str| {
        let reply = client.query(sql).expect("an answer");
        let notices: Vec<String> = reply.notices.iter().map(|n| format!("{n:?}")).collect();
        let result = match &reply.error {
            Some(e) => format!("{e:?}"),
            None => reply.text().join(","),
        };
        format!("{sql}: {} {result}", notices.join(" "))
    };
    statements.lines().map(reply).collect()
}

#[test]
fn collations_and_databases_are_created_as_by_postgresql() {
    let dir = TempDir::new("collations");
    let locales = Locales::make(&dir);
    let data = american_cluster(&dir, &locales);
    let other = dir.path().join("other");
    let mut initdb = program("initdb");
    initdb.env("LOCPATH", &locales.directory);
    initdb.args(["-U", "postgres", "-A", "trust", "-k", "-N", "--locale=en_US.UTF-8", "-D"]);
    run({
        initdb.arg(&other);
        initdb
    });
    let (server, real) = (locales.norsu(&data), locales.postgres(&other));
    let ours = replies(&mut server.connect("postgres"), STATEMENTS);
    let theirs = replies(&mut real.connect("postgres"), STATEMENTS);
    assert_same(&ours, &theirs);
    for database in ["german", "icu", "icu2", "latin", "turkish", "old"] {
        let ours = replies(&mut server.connect(database), IN_DATABASES);
        let theirs = replies(&mut real.connect(database), IN_DATABASES);
        assert_same(&ours, &theirs);
    }
    let ours = replies(&mut server.connect("postgres"), FORMATS);
    assert_same(&ours, &replies(&mut real.connect("postgres"), FORMATS));
    let refresh = "ALTER DATABASE old REFRESH COLLATION VERSION\n\
                   ALTER DATABASE old REFRESH COLLATION VERSION";
    let ours = replies(&mut server.connect("postgres"), refresh);
    assert_same(&ours, &replies(&mut real.connect("postgres"), refresh));
    server.stop(&data);
}

/// Without the locale, a database is refused by name; with another version of the library, there
/// are warnings.
#[test]
fn missing_locales_and_other_versions_are_named() {
    let dir = TempDir::new("versions");
    let locales = Locales::make(&dir);
    let data = american_cluster(&dir, &locales);
    let server = locales.norsu(&data);
    let mut client = server.connect("postgres");
    client.must("CREATE COLLATION stale (PROVIDER = icu, LOCALE = 'de', VERSION = '1.2')");
    client.must("CREATE TABLE t (a text COLLATE stale)");
    client.must("UPDATE pg_database SET datcollversion = '0.9' WHERE datname = 'postgres'");
    drop(client);
    server.stop(&data);
    let uses = "SELECT a FROM t ORDER BY a\nSELECT a FROM t ORDER BY a";
    let server = locales.norsu(&data);
    let ours = replies(&mut server.connect("postgres"), uses);
    let mut psql = server.client("psql");
    let mine = warnings(psql.args(["-d", "postgres", "-c", "SELECT 1"]));
    server.stop(&data);
    let real = locales.postgres(&data);
    assert_same(&ours, &replies(&mut real.connect("postgres"), uses));
    let mut psql = real.client("psql");
    assert_eq!(mine, warnings(psql.args(["-d", "postgres", "-c", "SELECT 1"])));
    assert!(mine.contains("collation version mismatch"), "{mine}");
    drop(real);

    // The settings must exist for a start.
    let file = data.join("postgresql.conf");
    let settings = std::fs::read_to_string(&file).expect("the settings");
    std::fs::write(&file, settings.replace("en_US.UTF-8", "C")).expect("written settings");
    let server = Norsu::start(&data, &[]);
    let parameters = [("user", "postgres"), ("database", "postgres")];
    let refused = Client::connect_with(server.sockets(), &parameters).err();
    let refused = refused.expect("the locale is missing").to_string();
    assert!(refused.contains("database locale is incompatible with operating system"), "{refused}");
    server.stop(&data);
}

/// What a program writes to its standard error.
fn warnings(command: &mut Command) -> String {
    let out = command.output().expect("a program");
    String::from_utf8_lossy(&out.stderr).into_owned()
}
