//! Directories that PostgreSQL created with other locales and encodings. Databases whose locale
//! does not order text bytewise or has other case mappings are refused with an error that names the
//! locale, and so are columns with such collations; no data is sorted in a wrong order.
//!
//! The locales are built by the test, so that it does not depend on those of the machine.

use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};
use testkit::client::Client;
use testkit::dir::TempDir;
use testkit::norsu::Norsu;
use testkit::postgres::{PostgresServer, chown_to_server_user, program, run};

/// One of PostgreSQL's programs with access to these locales.
fn with_locales(name: &str, locales: &Path) -> Command {
    let mut command = program(name);
    command.env("LOCPATH", locales);
    command
}

fn initdb(data: &Path, locales: &Path, options: &[&str]) {
    let mut initdb = with_locales("initdb", locales);
    initdb.args(["-U", "postgres", "-A", "trust", "-k", "--no-sync", "-D"]).arg(data).args(options);
    run(initdb);
}

/// Runs statements, one per line, in PostgreSQL's single-user mode.
fn single(data: &Path, locales: &Path, database: &str, sql: &str) {
    let mut server = with_locales("postgres", locales);
    server.args(["--single", "-D"]).arg(data).arg(database);
    server.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = server.spawn().expect("the server can be run");
    let mut input = child.stdin.take().expect("a pipe");
    input.write_all(sql.as_bytes()).expect("it reads");
    drop(input);
    let out = child.wait_with_output().expect("a child can be waited for");
    let said = String::from_utf8_lossy(&out.stderr);
    assert!(out.status.success() && !said.contains("ERROR"), "{said}");
}

/// The error of a connection; `None` if it is accepted.
fn refusal(server: &Norsu, database: &str) -> Option<String> {
    let parameters = [("user", "postgres"), ("database", database)];
    Client::connect_with(server.sockets(), &parameters).err().map(|e| e.to_string())
}

const DATABASES: &str = "\
CREATE DATABASE german LOCALE 'de_DE.UTF-8' TEMPLATE template0
CREATE DATABASE turkish LC_COLLATE 'C' LC_CTYPE 'tr_TR.UTF-8' TEMPLATE template0
CREATE DATABASE letters LC_COLLATE 'C' LC_CTYPE 'de_DE.UTF-8' TEMPLATE template0
CREATE DATABASE latin ENCODING 'LATIN1' LOCALE 'C' TEMPLATE template0
CREATE DATABASE latin_de ENCODING 'LATIN1' LC_COLLATE 'C' LC_CTYPE 'de_DE.ISO-8859-1' TEMPLATE \
  template0
CREATE DATABASE japanese ENCODING 'EUC_JP' LOCALE 'C' TEMPLATE template0
CREATE DATABASE anything ENCODING 'SQL_ASCII' LOCALE 'C' TEMPLATE template0
CREATE COLLATION de (PROVIDER = libc, LOCALE = 'de_DE.UTF-8')
CREATE COLLATION tr (PROVIDER = libc, LC_COLLATE = 'C', LC_CTYPE = 'tr_TR.UTF-8')
CREATE COLLATION plain (PROVIDER = libc, LC_COLLATE = 'C', LC_CTYPE = 'de_DE.UTF-8')
CREATE TABLE t (a text, s text COLLATE de PRIMARY KEY, u text COLLATE tr, p text COLLATE plain)
INSERT INTO t SELECT x, x, x, x FROM unnest('{b,A,a,B,é,i}'::text[]) x
";

/// Databases, and the part of them that the error names.
const REFUSED: [(&str, &str); 4] = [
    ("german", "ordering of text by the locale \"de_DE.UTF-8\""),
    ("turkish", "upper and lower case by the locale \"tr_TR.UTF-8\""),
    ("latin_de", "upper and lower case by the locale \"de_DE.ISO-8859-1\""),
    ("japanese", "database encoding \"EUC_JP\""),
];

const REFUSED_USES: [(&str, &str); 14] = [
    ("SELECT s FROM t ORDER BY s", "de_DE.UTF-8"),
    ("SELECT max(s) FROM t", "de_DE.UTF-8"),
    ("SELECT DISTINCT s FROM t", "de_DE.UTF-8"),
    ("SELECT s FROM t WHERE s < 'b'", "de_DE.UTF-8"),
    ("SELECT upper(s) FROM t", "de_DE.UTF-8"),
    ("SELECT 'é' < 'f' COLLATE de", "de_DE.UTF-8"),
    ("INSERT INTO t VALUES ('c', 'c', 'c', 'c')", "de_DE.UTF-8"),
    ("UPDATE t SET a = 'c'", "de_DE.UTF-8"),
    ("VACUUM t", "de_DE.UTF-8"),
    ("REINDEX TABLE t", "de_DE.UTF-8"),
    ("SELECT upper(u) FROM t", "tr_TR.UTF-8"),
    ("SELECT u FROM t WHERE u ILIKE 'I'", "tr_TR.UTF-8"),
    ("SELECT u FROM t WHERE u ~* 'I'", "tr_TR.UTF-8"),
    ("CREATE INDEX ON t (lower(u))", "tr_TR.UTF-8"),
];

#[test]
fn databases_of_other_locales_are_refused_by_name() {
    let dir = TempDir::new("locales");
    let locales = dir.path().join("locales");
    std::fs::create_dir(&locales).expect("a new directory");
    for (source, charset) in
        [("en_US", "UTF-8"), ("de_DE", "UTF-8"), ("tr_TR", "UTF-8"), ("de_DE", "ISO-8859-1")]
    {
        let mut localedef = Command::new("localedef");
        localedef.args(["-i", source, "-f", charset, "--no-archive"]);
        run({
            localedef.arg(locales.join(format!("{source}.{charset}")));
            localedef
        });
    }
    chown_to_server_user(dir.path());

    let american = dir.path().join("american");
    initdb(&american, &locales, &["--locale=en_US.UTF-8"]);
    let launcher = ["env".to_owned(), format!("LOCPATH={}", locales.display())];
    let server = Norsu::start_by(&launcher, &american, &[]).expect("a server");
    for database in ["postgres", "template1"] {
        let refused = refusal(&server, database).unwrap_or_default();
        let named = "ordering of text by the locale \"en_US.UTF-8\" is not supported";
        assert!(refused.contains(named), "{refused}");
    }
    server.stop(&american);

    let data = dir.path().join("data");
    initdb(&data, &locales, &["--locale=C", "-E", "UTF8"]);
    single(&data, &locales, "postgres", DATABASES);
    single(&data, &locales, "latin", "CREATE TABLE t AS SELECT 'é'::text AS a\n");
    single(&data, &locales, "anything", "CREATE TABLE t AS SELECT 'é'::text AS a\n");
    let server = Norsu::start(&data, &[]);
    for (database, named) in REFUSED {
        let refused = refusal(&server, database).unwrap_or_default();
        assert!(refused.contains(&format!("{named} is not supported")), "{database}: {refused}");
    }
    let mut client = server.connect("postgres");
    for (sql, named) in REFUSED_USES {
        let error = client.query(sql).expect("an answer").error;
        let error = error.unwrap_or_else(|| panic!("{sql}"));
        assert!(error.code == "0A000" && error.message.contains(named), "{sql}: {error:?}");
    }
    // Supported operations must have PostgreSQL's results, which do not depend on the locale here.
    let sql = "SELECT s, u FROM t WHERE a = 'é'";
    assert_eq!(client.rows(sql), ["é|é"]);
    let sql = "SELECT string_agg(p, '' ORDER BY p), upper(max(p)), bool_or(p ILIKE 'É') FROM t";
    assert_eq!(client.rows(sql), ["ABabié|É|t"]);
    assert_eq!(server.connect("letters").rows("SELECT upper('é'), 'a' < 'B'"), ["É|f"]);
    // Two bytes, each of which is a character in this encoding.
    let by_bytes = "SELECT length(a), upper(a) = a, reverse(a) < 'é' FROM t";
    for (database, encoding) in [("latin", "LATIN1"), ("anything", "SQL_ASCII")] {
        let mut client = server.connect(database);
        assert_eq!(client.value("SHOW client_encoding"), encoding);
        assert_eq!(client.rows(by_bytes), ["2|t|t"]);
        drop(client);
    }
    let mut client = server.connect("latin");
    for (set, code) in [("UTF8", "0A000"), ("LATIN1", ""), ("SQL_ASCII", ""), ("nope", "22023")] {
        let reply = client.query(&format!("SET client_encoding = '{set}'")).expect("an answer");
        assert_eq!(reply.code(), code, "{set}");
    }
    drop(client);
    server.stop(&data);
    // The same in databases for which PostgreSQL needs no locale.
    let real = PostgresServer::start(&data, "postgres");
    for database in ["latin", "anything"] {
        assert_eq!(real.connect(database).rows(by_bytes), ["2|t|t"]);
    }
}
