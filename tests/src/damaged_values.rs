//! Stored values with random damage. Without checksums such damage is not detected when a page is
//! read. Whatever the bytes of a value are, no statement that reads it may end its session, take
//! longer than its timeout or use memory without bound; it returns some value or an error.
//!
//! For each type there is a table of equal rows. While the server is down, bytes of their values
//! are changed. `NORSU_DAMAGED=type` tests one type and prints the statements' errors,
//! `NORSU_DAMAGED_SEED=n` sets the seed, `NORSU_TEST_LONG=1` damages more rows.

use crate::functions::{Function, functions, statement, values};
use std::path::{Path, PathBuf};
use std::time::Duration;
use testkit::client::{Client, Reply};
use testkit::dir::TempDir;
use testkit::norsu::{self, Norsu};
use testkit::postgres::chown_to_server_user;

pub(crate) const SETUP: &[&str] = &[
    "CREATE EXTENSION hstore",
    "CREATE EXTENSION ltree",
    "CREATE EXTENSION cube",
    "CREATE EXTENSION seg",
    "CREATE EXTENSION citext",
    "CREATE EXTENSION intarray",
    "CREATE EXTENSION pg_trgm",
    "CREATE EXTENSION btree_gin",
    "CREATE TYPE pair AS (a int, b text, c numeric[], d uuid)",
    "CREATE TYPE colour AS ENUM ('red', 'green', 'blue')",
    "CREATE DOMAIN words AS text[] CHECK (cardinality(VALUE) < 10)",
    "CREATE TYPE textrange AS RANGE (subtype = text)",
];

/// Types that `functions::values` does not list, with literals of valid values.
const MORE: &[(&str, &[&str])] = &[
    ("tsvector", &["'a:1A b:2,3B cde'::tsvector", "'word other'::tsvector", "''"]),
    ("tsquery", &["'a & (b | !c:*A) <-> d'::tsquery", "'a <3> b'::tsquery"]),
    ("hstore", &["'a=>1, bb=>NULL, ccc=>xyz'", "''"]),
    ("ltree", &["'a.bc.def'"]),
    ("lquery", &["'a.!b*|c@.*{1,3}.d%'"]),
    ("ltxtquery", &["'a & !b*@ | c'"]),
    ("cube", &["'(1,2,3),(4,5,6)'", "'(1,2)'"]),
    ("seg", &["'1.5 .. 2.25'"]),
    ("citext", &["'Abc'"]),
    ("query_int", &["'1 & (2 | !3)'"]),
    ("pair", &["row(7, 'abc', '{1.5,2}', '00000000-0000-0000-0000-000000000001')"]),
    ("pair[]", &["array[row(7, 'abc', '{1.5,2}', NULL)::pair, row(8, '', NULL, NULL)::pair]"]),
    ("colour", &["'green'"]),
    ("colour[]", &["'{red,blue}'"]),
    ("words", &["'{abc,NULL,de}'"]),
    ("textrange", &["'[a,bcd)'"]),
    ("textmultirange", &["'{[a,bcd),[e,f]}'"]),
    ("json", &[r#"'{"a":[1,null],"b":"x"}'"#]),
    ("jsonb", &[r#"'{"a":[1.5,null,{"c":"x"}],"bb":true}'"#, "'[1,[2,\"a\"],{}]'", "'\"abc\"'"]),
    ("jsonpath", &["'strict $.a[1 to 2] ? (@.b > 1 && @ like_regex \"x\").double()'"]),
    ("int4[]", &["array_fill(7, array[1000])", "'{1,NULL,3}'", "'{{1,2},{3,4}}'", "'{5}'"]),
    ("int2vector", &["'1 2 3'"]),
    ("oidvector", &["'1 2 3'"]),
    ("text[]", &["'{abc,NULL,\"\"}'", "'[0:1]={a,b}'"]),
    ("numeric[]", &["'{1.5,NULL,NaN}'"]),
    ("jsonb[]", &["array['{\"a\":1}'::jsonb]"]),
    ("inet[]", &["'{1.2.3.4,::1}'"]),
    ("int4range[]", &["'{\"[1,5)\",empty}'"]),
    ("bool[]", &["'{t,f,NULL}'"]),
    ("timestamp[]", &["'{2000-01-01,infinity}'"]),
    ("point[]", &["'{\"(1,2)\"}'"]),
    ("name[]", &["'{abc}'"]),
    ("aclitem[]", &["'{postgres=r/postgres}'"]),
];

/// Types of `functions::values` with a table of their own.
const LISTED: &[&str] = &[
    "bool",
    "\"char\"",
    "name",
    "numeric",
    "text",
    "bpchar",
    "bytea",
    "date",
    "time",
    "timetz",
    "timestamp",
    "timestamptz",
    "interval",
    "float8",
    "uuid",
    "bit varying",
    "inet",
    "cidr",
    "macaddr",
    "point",
    "lseg",
    "line",
    "box",
    "path",
    "polygon",
    "circle",
    "int4range",
    "numrange",
    "tstzrange",
    "int4multirange",
    "nummultirange",
    "pg_snapshot",
    "txid_snapshot",
    "aclitem",
    "regclass",
    "regtype",
    "tid",
];

/// Statements about table `{t}`, whose values are in column `v`.
const OF_TABLES: &[&str] = &[
    "SELECT v FROM {t} ORDER BY v",
    "SELECT v, count(*) FROM {t} GROUP BY v",
    "SELECT count(DISTINCT v), min(v), max(v) FROM {t}",
    "SELECT v FROM {t} UNION SELECT v FROM {t}",
    "SELECT count(*) FROM {t} a JOIN {t} b USING (v)",
    "SELECT count(*) FROM {t} a JOIN {t} b ON a.v < b.v",
    "SELECT count(*) FROM {t} WHERE v IN (SELECT v FROM {t} WHERE id < 3)",
    "SELECT array_agg(v), json_agg(v), jsonb_agg(v) FROM {t}",
    "SELECT row_number() OVER (PARTITION BY v ORDER BY v) FROM {t}",
    "CREATE INDEX ON {t} USING btree (v)",
    "CREATE INDEX ON {t} USING hash (v)",
    "CREATE INDEX ON {t} USING gin (v)",
    "ANALYZE {t}",
    "COPY {t} TO STDOUT",
    "COPY {t} TO STDOUT (FORMAT binary)",
    "CREATE TABLE {t}_copy AS SELECT * FROM {t}",
    "DROP TABLE IF EXISTS {t}_copy",
    "SELECT v::text::{type} FROM {t}",
    "VACUUM FULL {t}",
];

/// Statements about the row with number `{n}`. Arrays with distant bounds are not extended.
const OF_ROWS: &[&str] = &[
    "SELECT v FROM {t} WHERE id = {n}",
    "COPY (SELECT v FROM {t} WHERE id = {n}) TO STDOUT (FORMAT binary)",
    "SELECT a.v = b.v, a.v < b.v, a.v > b.v FROM {t} a, {t} b WHERE a.id = {n} AND b.id <= 4",
    "SELECT a.v = b.v FROM {t} a, {t} b WHERE a.id = {n} AND b.id <= 4",
    "SELECT row(a.v) = row(b.v), row(a.v) < row(b.v) FROM {t} a, {t} b \
     WHERE a.id = {n} AND b.id <= 4",
    "SELECT row(a.v) *= row(b.v), row(a.v) *< row(b.v) FROM {t} a, {t} b \
     WHERE a.id = {n} AND b.id <= 4",
    "SELECT array[a.v] = array[b.v], array[a.v] < array[b.v] FROM {t} a, {t} b \
     WHERE a.id = {n} AND b.id <= 4",
    "SELECT hash_record(row(v)), hash_record_extended(row(v), 1) FROM {t} WHERE id = {n}",
    "SELECT hash_array(array[v]), hash_array_extended(array[v], 1) FROM {t} WHERE id = {n}",
    "SELECT v::text FROM {t} WHERE id = {n}",
    "SELECT array[v, v]::text FROM {t} WHERE id = {n}",
    "SELECT row(v, v)::text FROM {t} WHERE id = {n}",
    "SELECT to_json(v), row_to_json({t}) FROM {t} WHERE id = {n}",
    "SELECT to_jsonb(v), jsonb_build_object('a', v), jsonb_build_array(v) FROM {t} WHERE id = {n}",
    "SELECT jsonb_populate_record(NULL::{t}, to_jsonb({t})) FROM {t} WHERE id = {n}",
    "SELECT v[1], v[0:2], v[1][1] FROM {t} WHERE id = {n}",
    "SELECT (v).* FROM {t} WHERE id = {n}",
    "SELECT v['a'], v['a'][0] FROM {t} WHERE id = {n}",
    "SELECT x FROM {t}, unnest(v) x WHERE id = {n}",
    "SELECT 1 = ANY (v) FROM {t} WHERE id = {n}",
    "SELECT 'a' < ALL (v) FROM {t} WHERE id = {n}",
    "DO $$DECLARE x record; y {type}; BEGIN SELECT v INTO y FROM {t} WHERE id = {n}; \
     IF abs(array_lower(y, 1)::int8) < 100 THEN y[2] := y[1]; END IF; \
     FOREACH x IN ARRAY y LOOP NULL; END LOOP; END$$",
    "UPDATE {t} SET v[1] = v[2] WHERE id = {n} AND abs(array_lower(v, 1)::int8) < 100",
    "UPDATE {t} SET v[1:2] = v[0:1] WHERE id = {n} AND abs(array_lower(v, 1)::int8) < 100",
    "UPDATE {t} SET v['a'] = '1' WHERE id = {n}",
    "UPDATE {t} SET v.a = 1 WHERE id = {n}",
    "SELECT pg_column_size(v), pg_column_compression(v) FROM {t} WHERE id = {n}",
];

/// A generator of random numbers (xorshift).
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Random {
        Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    pub(crate) fn below(&mut self, n: usize) -> usize {
        (self.next() >> 11) as usize % n.max(1)
    }
}

struct Table {
    name: String,
    ty: String,
    rows: usize,
    path: PathBuf,
}

/// Types with the expressions of their values.
pub(crate) fn types() -> Vec<(String, Vec<String>)> {
    let more = MORE.iter().map(|(ty, values)| {
        ((*ty).to_owned(), values.iter().map(|v| format!("({v})::{ty}")).collect())
    });
    let listed = LISTED.iter().map(|ty| {
        let mut all = values(ty).expect("a listed type");
        all.retain(|v| !v.starts_with("(null)"));
        ((*ty).to_owned(), all)
    });
    more.chain(listed).collect()
}

fn create(client: &mut Client, data: &Path, ty: &str, samples: &[String], more: usize) -> Table {
    let name = format!("t_{}", ty.replace(['"', ' '], "").replace("[]", "_array"));
    client.must(&format!("CREATE TABLE {name} (id int, v {ty})"));
    let mut rows = 0;
    // Half of the values have length words of four bytes.
    for storage in ["plain", "extended"] {
        let _ = client.query(&format!("ALTER TABLE {name} ALTER v SET STORAGE {storage}"));
        for sample in samples {
            // A value that is the result of another statement is stored as a whole.
            client.must(&format!(
                "INSERT INTO {name} SELECT g, {sample} FROM generate_series({}, {}) g",
                rows + 1,
                rows + more
            ));
            rows += more;
        }
    }
    client.must(&format!("SELECT count(*) FROM {name}"));
    let path = data.join(client.value(&format!("SELECT pg_relation_filepath('{name}')")));
    Table { name, ty: ty.to_owned(), rows, path }
}

/// Changes bytes of each tuple's value.
fn damage(path: &Path, random: &mut Random) {
    let mut file = std::fs::read(path).expect("the file of a table");
    for page in file.chunks_exact_mut(8192) {
        let word = |page: &[u8], at: usize| u16::from_le_bytes([page[at], page[at + 1]]);
        for item in (24..usize::from(word(page, 12))).step_by(4) {
            let at = usize::from(word(page, item) & 0x7fff);
            let len = usize::from(word(page, item + 2) >> 1);
            // The identifier is in the first four bytes; fewer headers than bodies are damaged.
            let start = at + usize::from(page[at + 22]) + 4;
            let value = &mut page[start..at + len];
            let header = match value.first() {
                Some(first) if random.below(8) != 0 => 4 - 3 * usize::from(first & 1),
                _ => 0,
            };
            let start = header.min(value.len().saturating_sub(1));
            damage_value(&mut value[start..], random);
        }
    }
    std::fs::write(path, file).expect("the file of a table");
}

fn damage_value(value: &mut [u8], random: &mut Random) {
    for _ in 0..1 + random.below(3) {
        // Headers are at the start.
        let len = if random.below(2) == 0 { value.len().min(24) } else { value.len() };
        let at = random.below(len);
        let Some(byte) = value.get_mut(at) else { return };
        match random.below(8) {
            0 => *byte = 0,
            1 => *byte = 0xff,
            2 | 3 => *byte = random.next() as u8,
            4 => {
                const WORDS: [u32; 6] = [0, 1, 7, 0x7fff_ffff, 0x8000_0000, 0xffff_fff0];
                let at = at & !3;
                if let Some(word) = value.get_mut(at..at + 4) {
                    word.copy_from_slice(&WORDS[random.below(WORDS.len())].to_le_bytes());
                }
            }
            _ => *byte ^= 1 << random.below(8),
        }
    }
}

/// The calls of functions with the column as an argument.
fn calls(all: &[Function], ty: &str, random: &mut Random) -> Vec<String> {
    let polymorphic = |arg: &str| match arg {
        "anyarray" | "anycompatiblearray" => ty.ends_with("[]"),
        "anyrange" | "anycompatiblerange" => ty.ends_with("range") && !ty.contains("multi"),
        "anymultirange" | "anycompatiblemultirange" => ty.ends_with("multirange"),
        "anyelement" | "\"any\"" | "anycompatible" | "anynonarray" => true,
        "record" => ty == "pair",
        "text" => matches!(ty, "bpchar" | "citext"),
        "int4[]" => ty == "int4[]",
        _ => false,
    };
    let column = "v".to_owned();
    let mut out = Vec::new();
    for f in all {
        let own = f.args.iter().any(|arg| arg == ty);
        for i in (0..f.args.len()).filter(|i| f.args[*i] == ty || !own && polymorphic(&f.args[*i]))
        {
            let Some(pools) = f.args.iter().map(|a| arguments(a)).collect::<Option<Vec<_>>>()
            else {
                continue;
            };
            let args: Vec<&String> = (pools.iter().enumerate())
                .map(|(k, pool)| if k == i { &column } else { &pool[random.below(pool.len())] })
                .collect();
            let call = statement(f, &args);
            out.push(call.replace(" LIMIT 30", " FROM {t} WHERE id = {n} LIMIT 30"));
            if args.len() == 2 && f.args[0] == f.args[1] {
                let call = statement(f, &[&column, &column]);
                out.push(call.replace(" LIMIT 30", " FROM {t} WHERE id = {n} LIMIT 30"));
            }
        }
    }
    out.sort();
    out.dedup();
    out
}

/// Expressions for arguments of a type.
pub(crate) fn arguments(ty: &str) -> Option<Vec<String>> {
    if let Some((_, literals)) = MORE.iter().find(|(t, _)| *t == ty) {
        return Some(literals.iter().map(|v| format!("({v})::{ty}")).collect());
    }
    values(ty)
}

/// Runs statements; remembers those that end the session.
struct Runner {
    data: PathBuf,
    server: Option<Norsu>,
    client: Option<Client>,
    failures: Vec<String>,
    shown: bool,
    count: usize,
}

impl Runner {
    fn connect(&mut self) {
        let alive = self.server.as_mut().is_some_and(Norsu::is_running);
        if !alive {
            self.server = None;
            self.server = Some(Norsu::start(&self.data, &[]));
        }
        let mut client = self.server.as_ref().expect("a server").connect("postgres");
        client.must("SET statement_timeout = '5s'; SET enable_seqscan = on; SET jit = off");
        self.client = Some(client);
    }

    fn run(&mut self, sql: &str) {
        self.count += 1;
        if self.client.is_none() {
            self.connect();
        }
        let client = self.client.as_mut().expect("a session");
        let sent = client.send(sql);
        let reply: Result<Option<Reply>, _> =
            sent.and_then(|()| client.receive_within(Duration::from_secs(60)));
        let failure = match reply {
            Ok(Some(reply)) => {
                if self.shown {
                    println!(
                        "{sql}\n    {:?}",
                        reply.error.as_ref().map(|e| (&e.code, &e.message))
                    );
                }
                match reply.code() {
                    "57014" => "takes longer than its timeout".to_owned(),
                    "XX000"
                        if reply.error.as_ref().is_some_and(|e| e.message.contains("panic")) =>
                    {
                        "panics".to_owned()
                    }
                    _ => return,
                }
            }
            Ok(None) => "does not end".to_owned(),
            Err(e) => format!("ends the session: {e}"),
        };
        if self.shown {
            println!("{sql}\n    {failure}");
        }
        self.failures.push(format!("{sql}\n    {failure}"));
        self.client = None;
    }
}

#[test]
fn damaged_values_do_not_end_sessions() {
    let long = std::env::var_os("NORSU_TEST_LONG").is_some();
    let only = std::env::var("NORSU_DAMAGED").ok();
    let seed = std::env::var("NORSU_DAMAGED_SEED").ok().and_then(|s| s.parse().ok()).unwrap_or(1);
    let more = if long { 40 } else { 2 };
    let dir = TempDir::new("damaged");
    chown_to_server_user(dir.path());
    let data = dir.path().join("data");
    norsu::init_with(&data, &["--locale=C", "--encoding=UTF8", "--no-data-checksums"]);
    let server = Norsu::start(&data, &["-c", "autovacuum=off"]);
    let mut client = server.connect("postgres");
    SETUP.iter().for_each(|sql| drop(client.must(sql)));
    let all: Vec<Function> = functions(&mut client, "true")
        .into_iter()
        .filter(|f| !f.name.starts_with("pg_sleep") && !f.name.starts_with("pg_terminate"))
        .collect();
    let tables: Vec<Table> = types()
        .into_iter()
        .filter(|(ty, _)| only.as_ref().is_none_or(|only| only == ty))
        .map(|(ty, samples)| create(&mut client, &data, &ty, &samples, more))
        .collect();
    drop(client);
    server.stop(&data);
    let mut random = Random::new(seed);
    for table in &tables {
        damage(&table.path, &mut random);
    }
    let mut runner = Runner {
        data: data.clone(),
        server: None,
        client: None,
        failures: Vec::new(),
        shown: only.is_some(),
        count: 0,
    };
    runner.connect();
    for table in &tables {
        let named = |sql: &str| sql.replace("{type}", &table.ty).replace("{t}", &table.name);
        let of_rows = OF_ROWS.iter().map(|sql| (*sql).to_owned());
        let of_rows: Vec<String> = of_rows.chain(calls(&all, &table.ty, &mut random)).collect();
        for id in 1..=table.rows {
            // Each statement runs for some of the rows.
            for (n, sql) in of_rows.iter().enumerate() {
                if n < OF_ROWS.len() || long || (n + id) % 4 == 0 {
                    runner.run(&named(sql).replace("{n}", &id.to_string()));
                }
            }
        }
        OF_TABLES.iter().for_each(|sql| runner.run(&named(sql)));
    }
    let peak = crate::memory::kilobytes(runner.server.as_ref().expect("a server").pid(), "VmHWM:");
    let failures = std::mem::take(&mut runner.failures);
    let log = runner.server.take().expect("a server").stop(&data);
    println!("{} statements, {peak} kB", runner.count);
    let panics: Vec<&str> = log.lines().filter(|l| l.contains("panicked at")).collect();
    println!("{}", panics.join("\n"));
    assert!(failures.is_empty(), "{}:\n{}", failures.len(), failures.join("\n"));
    assert!(!log.contains("panicked"), "{log}");
    assert!(peak < 700_000, "{peak} kB");
}
