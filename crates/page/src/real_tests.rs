//! The formats compared with the files of PostgreSQL 15: a cluster made by its initdb, filled in
//! its single-user mode, and read here byte by byte.

use crate::varlena::{Compression, Varlena};
use crate::*;
use ids::code::ColumnStorage;
use ids::{BlockNo, Oid};
use std::collections::HashMap;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

const BIN: &str = "/usr/lib/postgresql/15/bin";

/// A cluster in a temporary directory, removed on drop.
struct Cluster(PathBuf);

impl Drop for Cluster {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// A command of PostgreSQL, run as an unprivileged user.
fn program(name: &str) -> Command {
    let path = format!("{BIN}/{name}");
    let root = Command::new("id").arg("-u").output().is_ok_and(|o| o.stdout == b"0\n");
    let mut command = Command::new(if root { "runuser" } else { &path });
    if root {
        command.args(["-u", "postgres", "--", &path]);
    }
    command.current_dir("/tmp");
    command
}

impl Cluster {
    fn new(name: &str) -> Cluster {
        let dir = PathBuf::from(format!("/tmp/norsu-page-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&dir);
        let out = program("initdb")
            .args(["-k", "--no-sync", "--no-instructions", "-U", "postgres", "-E", "UTF8"])
            .args(["--locale=C", "-D"])
            .arg(&dir)
            .output()
            .expect("PostgreSQL 15 is installed");
        assert!(out.status.success(), "initdb: {}", String::from_utf8_lossy(&out.stderr));
        Cluster(dir)
    }

    /// Runs statements (one per line) in single-user mode; returns the output.
    fn run(&self, sql: &str) -> String {
        let mut child = program("postgres")
            .args(["--single", "-F", "-D"])
            .arg(&self.0)
            .arg("postgres")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("PostgreSQL 15 is installed");
        child.stdin.take().expect("piped").write_all(sql.as_bytes()).expect("it reads");
        let out = child.wait_with_output().expect("it ends");
        let errors = String::from_utf8_lossy(&out.stderr);
        assert!(out.status.success() && !errors.contains("ERROR"), "{errors}");
        String::from_utf8_lossy(&out.stdout).into_owned()
    }

    /// The values of `column` in the output of [`Cluster::run`].
    fn printed(out: &str, column: &str) -> Vec<String> {
        let key = format!("{column} = \"");
        let values = out.split(&key).skip(1);
        values.map(|rest| rest.split('"').next().expect("split yields one").to_owned()).collect()
    }
}

fn pages(file: &Path) -> Vec<PageBuf> {
    let bytes = fs::read(file).expect("the file is there");
    let chunks = bytes.chunks_exact(PAGE_SIZE);
    chunks.map(|c| PageBuf::from_bytes(c.try_into().expect("exact"))).collect()
}

fn tuples(pages: &[PageBuf]) -> impl Iterator<Item = HeapTuple<'_>> {
    pages.iter().flat_map(|p| (1..=p.max_offset()).filter_map(|n| p.heap_tuple(n)))
}

#[test]
fn checksum_of_every_page_and_headers_are_right() {
    let cluster = Cluster::new("checksums");
    let mut count = 0;
    for dir in ["base/1", "base/4", "base/5", "global"] {
        for entry in fs::read_dir(cluster.0.join(dir)).expect("part of a cluster") {
            let path = entry.expect("readable").path();
            let name = path.file_name().expect("a file").to_string_lossy().into_owned();
            if !name.starts_with(|c: char| c.is_ascii_digit()) {
                continue;
            }
            for (block, mut page) in pages(&path).into_iter().enumerate() {
                let block = BlockNo(block as u32);
                assert_eq!(page.verify(block, true), Verified::Good, "{name} {block}");
                assert_eq!(page.layout_version(), header::LAYOUT_VERSION);
                let found = page.checksum_field();
                page.set_checksum_field(0);
                page.set_checksum(block);
                assert_eq!(page.checksum_field(), found);
                assert!(!matches!(page.verify(block.next(), true), Verified::Good));
                count += 1;
                if name.ends_with("_fsm") {
                    assert!(!fsm::rebuild(&mut page), "{name} {block} agrees with its leaves");
                }
            }
        }
    }
    assert!(count > 2000, "{count} pages");
}

/// The columns of pg_attribute, whose rows describe all other catalogs.
fn pg_attribute() -> TupleDesc {
    let col =
        |name: &str, oid, len, align| Attr::new(name.as_bytes(), Oid(oid), len, len > 0, align);
    let (c, s, i) = (Align::Char, Align::Short, Align::Int);
    let mut attrs = vec![
        col("attrelid", 26, 4, i),
        col("attname", 19, 64, c),
        col("atttypid", 26, 4, i),
        col("attstattarget", 23, 4, i),
        col("attlen", 21, 2, s),
        col("attnum", 21, 2, s),
        col("attndims", 23, 4, i),
        col("attcacheoff", 23, 4, i),
        col("atttypmod", 23, 4, i),
        col("attbyval", 16, 1, c),
        col("attalign", 18, 1, c),
        col("attstorage", 18, 1, c),
        col("attcompression", 18, 1, c),
        col("attnotnull", 16, 1, c),
        col("atthasdef", 16, 1, c),
        col("atthasmissing", 16, 1, c),
        col("attidentity", 18, 1, c),
        col("attgenerated", 18, 1, c),
        col("attisdropped", 16, 1, c),
        col("attislocal", 16, 1, c),
        col("attinhcount", 23, 4, i),
        col("attcollation", 26, 4, i),
        col("attacl", 1034, -1, i),
        col("attoptions", 1009, -1, i),
        col("attfdwoptions", 1009, -1, i),
        col("attmissingval", 2277, -1, Align::Double),
    ];
    attrs[1].by_val = false;
    TupleDesc::new(attrs)
}

/// Descriptors of all catalogs by OID, from pg_attribute's rows.
fn catalogs(base: &Path) -> HashMap<u32, TupleDesc> {
    let desc = pg_attribute();
    let deformer = Deformer::new(&desc);
    let mut found: HashMap<u32, Vec<(i16, Attr)>> = HashMap::new();
    let files = pages(&base.join("1249"));
    for tuple in tuples(&files) {
        let v = deformer.deform_all(&tuple).expect("sound tuples");
        let word = |i: usize| v[i].word().expect("by value");
        let attnum = word(5) as i16;
        if attnum < 1 {
            continue;
        }
        let name = v[1].bytes().expect("a name");
        let end = name.iter().position(|&b| b == 0).expect("padded");
        let align = Align::from_char(word(10) as u8).expect("an alignment");
        let mut attr =
            Attr::new(&name[..end], Oid(word(2) as u32), word(4) as i16, word(9) != 0, align);
        attr.storage = ColumnStorage::from_char(word(11) as u8).expect("a storage");
        found.entry(word(0) as u32).or_default().push((attnum, attr));
    }
    let sorted = found.into_iter().map(|(oid, mut attrs)| {
        attrs.sort_by_key(|a| a.0);
        (oid, TupleDesc::new(attrs.into_iter().map(|a| a.1).collect()))
    });
    sorted.collect()
}

#[test]
fn forming_what_was_deformed_gives_the_same_bytes() {
    let cluster = Cluster::new("tuples");
    let base = cluster.0.join("base/1");
    let catalogs = catalogs(&base);
    let classes = {
        let files = pages(&base.join("1259"));
        let deformer = Deformer::new(&catalogs[&1259]);
        let index = |n: &[u8]| {
            let found = catalogs[&1259].attrs.iter().position(|a| &*a.name == n);
            found.expect("a column of pg_class")
        };
        let (kind, file) = (index(b"relkind"), index(b"relfilenode"));
        let rows = tuples(&files).map(|t| {
            let v = deformer.deform_all(&t).expect("sound");
            // A column read alone is the same as read in a walk.
            assert_eq!(deformer.get(&t, kind).expect("sound"), v[kind]);
            let word = |i: usize| v[i].word().expect("by value") as u32;
            (word(0), word(kind) as u8, word(file))
        });
        rows.collect::<Vec<_>>()
    };
    let (mut tables, mut rows) = (0, 0);
    for (oid, kind, file) in classes {
        if !matches!(kind, b'r' | b't') {
            continue;
        }
        let file = base.join(if file == 0 { oid } else { file }.to_string());
        if !file.exists() {
            continue; // shared
        }
        tables += 1;
        let desc = &catalogs[&oid];
        let deformer = Deformer::new(desc);
        let files = pages(&file);
        let mut formed = Vec::new();
        for tuple in tuples(&files) {
            let values = deformer.deform_all(&tuple).expect("sound");
            form::form_into(desc, &values, &mut formed).expect("values fit their columns");
            let again = HeapTuple::from_bytes(&formed).expect("whole");
            let physical = heap_tuple::infomask::HASNULL
                | heap_tuple::infomask::HASVARWIDTH
                | heap_tuple::infomask::HASEXTERNAL;
            assert_eq!(again.header.infomask, tuple.header.infomask & physical);
            assert_eq!(again.header.natts(), tuple.header.natts());
            assert_eq!(again.header.hoff, tuple.header.hoff);
            assert_eq!(again.bitmap(), tuple.bitmap());
            assert_eq!(again.data(), tuple.data(), "table {oid}");
            rows += 1;
        }
    }
    assert!(tables > 40 && rows > 10_000, "{tables} tables, {rows} rows");
}

/// Inputs that an SQL expression and Rust code both produce.
fn samples() -> Vec<(String, Vec<u8>)> {
    let joined = |from: u32, to: u32, sep: &str| {
        (from..=to).map(|i| i.to_string()).collect::<Vec<_>>().join(sep).into_bytes()
    };
    let series = |from: u32, to: u32, sep: &str| {
        format!("(select string_agg(i::text, '{sep}') from generate_series({from},{to}) i)")
    };
    let squares = (1..=700u64).map(|i| (i * i * 7919 % 100_003).to_string() + "é");
    vec![
        ("repeat('abc', 1000)".into(), b"abc".repeat(1000)),
        ("repeat('x', 100000)".into(), b"x".repeat(100_000)),
        (series(1, 900, ", "), joined(1, 900, ", ")),
        (series(100, 1500, ""), joined(100, 1500, "")),
        (
            "(select string_agg((i*i*7919%100003)::text || 'é', '') \
             from generate_series(1,700::bigint) i)"
                .into(),
            squares.collect::<String>().into_bytes(),
        ),
    ]
}

#[test]
fn compressed_values_of_the_server_are_read_and_reproduced() {
    let cluster = Cluster::new("pglz");
    let mut sql = String::from(
        "create table t (id int, v text compression pglz, w text compression lz4)\n\
         alter table t alter v set storage main, alter w set storage main\n",
    );
    for (i, (expression, _)) in samples().iter().enumerate() {
        sql += &format!("insert into t values ({i}, {expression}, null)\n");
        sql += &format!("insert into t values ({i}, null, {expression})\n");
    }
    sql += "select pg_relation_filepath('t')\nselect pg_column_compression(v) as m from t\n";
    let out = cluster.run(&sql);
    let path = &Cluster::printed(&out, "pg_relation_filepath")[0];
    let mut attrs = vec![Attr::new(b"id", Oid(23), 4, true, Align::Int); 1];
    for name in [b"v", b"w"] {
        let mut attr = Attr::new(name, Oid(25), -1, false, Align::Int);
        attr.storage = ColumnStorage::Main;
        attrs.push(attr);
    }
    let desc = TupleDesc::new(attrs);
    let deformer = Deformer::new(&desc);
    let files = pages(&cluster.0.join(path));
    let (mut seen, mut refused) = (0, 0);
    for tuple in tuples(&files) {
        let v = deformer.deform_all(&tuple).expect("sound");
        let (_, expected) = &samples()[v[0].word().expect("an int") as usize];
        let Value::Raw(raw) = v[1] else {
            let Value::Raw(raw) = v[2] else {
                // The server did not compress it; the same result is required here.
                assert!(pglz::compress(expected, &pglz::Strategy::DEFAULT, &mut vec![]).is_none());
                assert_eq!(v[1], Value::Bytes(expected));
                refused += 1;
                continue;
            };
            let parsed = Varlena::parse(raw);
            let lz4 = Some(Varlena::Compressed {
                raw_size: expected.len(),
                method: Compression::Lz4,
                data: &raw[8..],
            });
            assert_eq!(parsed, lz4);
            continue;
        };
        let Some(Varlena::Compressed { raw_size, method, data }) = Varlena::parse(raw) else {
            panic!("pglz was used")
        };
        assert_eq!((raw_size, method), (expected.len(), Compression::Pglz));
        let mut plain = vec![0; raw_size];
        assert_eq!(pglz::decompress(data, &mut plain, true), Some(raw_size));
        assert_eq!(plain, *expected);
        let mut again = Vec::new();
        pglz::compress(expected, &pglz::Strategy::DEFAULT, &mut again).expect("it saves enough");
        assert_eq!(again, data, "sample {:?}", v[0]);
        assert_eq!(varlena::compressed(raw_size, Compression::Pglz, &again), raw);
        seen += 1;
    }
    assert_eq!(seen + refused, samples().len());
    assert!(seen >= 3 && refused >= 1);
}

#[test]
fn sequences_and_toast_pointers() {
    let cluster = Cluster::new("misc");
    let out = cluster.run(
        "create sequence s start 40\n\
         select nextval('s') as n\n\
         select pg_relation_filepath('s')\n\
         create table e (v text)\n\
         alter table e alter v set storage external\n\
         insert into e values (repeat('abc', 1000))\n\
         select pg_relation_filepath('e'), reltoastrelid as toast from pg_class \
         where relname='e'\n",
    );
    let paths = Cluster::printed(&out, "pg_relation_filepath");
    let pages_of_s = pages(&cluster.0.join(&paths[0]));
    let data = sequence::read(&pages_of_s[0], "s").expect("a sequence");
    // The server was shut down with a checkpoint, which keeps the values logged ahead.
    assert_eq!((data.last_value, data.is_called), (40, true));
    let mut own = PageBuf::new();
    assert!(sequence::init_page(&mut own, &data.to_tuple()));
    own.set_lsn(pages_of_s[0].lsn());
    own.set_checksum(BlockNo(0));
    assert_eq!(own.item(1)[HOFF..], pages_of_s[0].item(1)[HOFF..]);
    assert_eq!(own.special_bytes(), pages_of_s[0].special_bytes());
    assert_eq!(own.line_pointer(1), pages_of_s[0].line_pointer(1));
    assert_eq!(own.heap_header(1), pages_of_s[0].heap_header(1));

    let files = pages(&cluster.0.join(&paths[1]));
    let mut attr = Attr::new(b"v", Oid(25), -1, false, Align::Int);
    attr.storage = ColumnStorage::External;
    let desc = TupleDesc::new(vec![attr]);
    let deformer = Deformer::new(&desc);
    let tuple = files[0].heap_tuple(1).expect("one row");
    assert!(tuple.header.has_external());
    let Value::Raw(raw) = deformer.get(&tuple, 0).expect("sound") else { panic!("external") };
    let Some(Varlena::External(pointer)) = Varlena::parse(raw) else { panic!("external") };
    assert_eq!((pointer.raw_size, pointer.ext_size, pointer.method), (3004, 3000, None));
    assert_eq!(pointer.toast_rel.to_string(), Cluster::printed(&out, "toast")[0]);
    assert_eq!(pointer.to_bytes(), raw);
}

const HOFF: usize = 24;
