//! Encrypted connections, on both servers: the same certificates, rules and clients must give the
//! same results. Certificates are made by the program `openssl`.

mod authority;
mod start;

use authority::Authority;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU8, Ordering};
use testkit::dir::TempDir;
use testkit::norsu::{self, Norsu};
use testkit::postgres::{self, PostgresServer, chown_to_server_user, program};

const RULES: &str = "\
local all all trust
hostssl all postgres all trust
hostssl all alice all cert
hostssl all mapped all cert map=common
hostssl all complete all cert map=whole clientname=DN
hostssl all checked all trust clientcert=verify-ca
hostssl all named all trust clientcert=verify-full
hostssl all verified all scram-sha-256 clientcert=verify-full
hostssl all secret all scram-sha-256
hostssl all old all md5
hostssl all plain all reject
hostnossl all plain all trust
";

const MAPS: &str = "\
common /^client-(.*)$ \\1
whole \"/^CN=client-mapped,OU=Stra.*,O=Example$\" complete
";

const ROLES: &str = "create role alice login; create role mapped login; \
    create role complete login; create role checked login; create role named login; \
    create role verified login password 'secret'; create role secret login password 'secret'; \
    create role plain login; set password_encryption = md5; \
    create role old login password 'secret'";

/// Columns of `pg_stat_ssl` of the own session.
const SHOWN: &str = "select ssl, version, cipher, bits, client_dn, client_serial, issuer_dn \
    from pg_stat_ssl where pid = pg_backend_pid()";

/// A loopback address for one server, so that servers may have the same port.
fn address() -> String {
    static NEXT: AtomicU8 = AtomicU8::new(1);
    let [high, low] = (std::process::id() as u16).to_be_bytes();
    format!("127.{}.{low}.{}", high | 64, NEXT.fetch_add(1, Ordering::Relaxed))
}

/// Both servers, with certificates of the same authority.
struct Servers {
    dir: TempDir,
    authority: Authority,
    norsu: (Norsu, String),
    postgres: (PostgresServer, String),
}

impl Servers {
    fn start(settings: &[&str]) -> Servers {
        let dir = TempDir::new("tls");
        chown_to_server_user(dir.path());
        let authority = Authority::new(dir.path(), "ca");
        let addresses = [address(), address()];
        let names = format!("IP:{},IP:{}", addresses[0], addresses[1]);
        authority.issue("server", "/CN=server", &[&format!("subjectAltName={names}")], "rsa");
        let [first, second] = addresses;
        let (ours, theirs) = (dir.path().join("norsu"), dir.path().join("postgres"));
        norsu::init(&ours);
        postgres::init_with(&theirs, &[]);
        for data in [&ours, &theirs] {
            prepare(data, &authority);
            let file = data.join("postgresql.conf");
            let mut text = std::fs::read_to_string(&file).expect("a configuration");
            for (name, value) in settings.iter().filter_map(|s| s.split_once('=')) {
                text.push_str(&format!("{name} = '{value}'\n"));
            }
            std::fs::write(file, text).expect("a configuration");
        }
        let norsu = Norsu::start(&ours, &["-c", &format!("listen_addresses={first}")]);
        let address = format!("listen_addresses={second}");
        let postgres = PostgresServer::start_with(&theirs, "postgres", &[&address]);
        norsu.query(ROLES);
        postgres.query("postgres", ROLES);
        Servers { dir, authority, norsu: (norsu, first), postgres: (postgres, second) }
    }

    /// The results of psql on both servers, which must be equal.
    #[track_caller]
    fn same(&self, options: &str, sql: &str) -> String {
        let [ours, theirs] =
            [&self.norsu.1, &self.postgres.1].map(|host| self.psql(host, options, sql));
        assert_eq!(ours, theirs, "{options}: {sql}");
        ours
    }

    /// Output and errors of psql, connected to an address.
    fn psql(&self, host: &str, options: &str, sql: &str) -> String {
        let out = self.command(host, options).args(["-c", sql]).output().expect("psql can be run");
        let text = [out.stdout, out.stderr].concat();
        String::from_utf8_lossy(&text).replace(host, "HOST").trim().to_owned()
    }

    fn command(&self, host: &str, options: &str) -> Command {
        let mut psql = program("psql");
        let dir = self.dir.path().display();
        let options = options.replace("DIR", &dir.to_string());
        // Without these, files of the home directory would be used.
        let none = format!("{dir}/none");
        let defaults =
            format!("sslrootcert={none} sslcert={none} sslkey={none} gssencmode=disable");
        psql.arg("-d").arg(format!("{defaults} host={host} dbname=postgres {options}"));
        psql.args(["-XAtqw"]).stdin(Stdio::null());
        psql
    }

    /// The options of a client with this certificate.
    fn with(name: &str) -> String {
        format!("sslmode=require sslcert=DIR/{name}.crt sslkey=DIR/{name}.key")
    }
}

/// Certificates and rules in a data directory.
fn prepare(data: &Path, authority: &Authority) {
    std::fs::write(data.join("pg_hba.conf"), RULES).expect("rules");
    std::fs::write(data.join("pg_ident.conf"), MAPS).expect("maps");
    authority.install("server", data);
    std::fs::copy(authority.certificate("ca"), data.join("root.crt")).expect("a copy");
    std::fs::copy(authority.revocations(), data.join("root.crl")).expect("a copy");
    chown_to_server_user(data);
}

/// A client without the versions that are allowed here.
const OLD: &str = "user=postgres sslmode=require ssl_min_protocol_version=TLSv1 \
    ssl_max_protocol_version=TLSv1.1";

const SETTINGS: [&str; 3] = ["ssl=on", "ssl_ca_file=root.crt", "ssl_crl_file=root.crl"];

#[test]
fn connections_and_rules_as_in_postgres() {
    let servers = Servers::start(&SETTINGS);
    Authority::new(servers.dir.path(), "other");
    for options in [
        "user=postgres sslmode=require",
        "user=postgres sslmode=require ssl_max_protocol_version=TLSv1.2",
        "user=postgres sslmode=verify-full sslrootcert=DIR/ca.crt",
        "user=postgres sslmode=prefer",
        "user=plain sslmode=prefer",
        "user=plain sslmode=disable",
    ] {
        let shown = servers.same(options, SHOWN);
        assert!(shown.starts_with("t|TLSv1.") || options.contains("plain"), "{options}: {shown}");
    }
    for (options, expected) in [
        (
            "user=postgres sslmode=disable",
            "no pg_hba.conf entry for host \"127.0.0.1\", user \"postgres\", database \
             \"postgres\", no encryption",
        ),
        ("user=plain sslmode=require", "pg_hba.conf rejects connection"),
        (OLD, "tlsv1 alert protocol version"),
        ("user=postgres sslmode=verify-ca sslrootcert=DIR/other.crt", "certificate verify failed"),
        ("user=secret sslmode=require password=wrong", "password authentication failed"),
        ("user=postgres sslmode=require channel_binding=require", "channel binding required"),
        ("user=old sslmode=require channel_binding=require password=secret", "channel binding"),
    ] {
        let said = servers.same(options, "select 1");
        assert!(said.contains(expected), "{options}: {said}");
    }
    for binding in ["require", "prefer", "disable"] {
        let options =
            format!("user=secret sslmode=require password=secret channel_binding={binding}");
        assert_eq!(servers.same(&options, "select current_user"), "secret");
    }
    assert_eq!(servers.same("user=old sslmode=require password=secret", "select 1"), "1");
}

#[test]
fn certificates_of_clients_as_in_postgres() {
    let servers = Servers::start(&SETTINGS);
    let issue = &servers.authority;
    issue.issue("alice", "/CN=alice", &[], "ec");
    issue.issue("mapped", "/O=Example/OU=Straße, 1+OU=b/CN=client-mapped", &[], "ec");
    issue.issue("nameless", "/O=Example", &[], "ec");
    issue.issue_expired("expired", "/CN=alice");
    issue.issue("revoked", "/CN=alice", &[], "ec");
    issue.revoke("revoked");
    let other = Authority::new(servers.dir.path(), "other");
    other.issue("stranger", "/CN=alice", &[], "ec");
    for data in ["norsu", "postgres"] {
        let to = servers.dir.path().join(data).join("root.crl");
        std::fs::copy(issue.revocations(), to).expect("a copy");
    }
    chown_to_server_user(servers.dir.path());
    servers.norsu.0.query("select pg_reload_conf()");
    servers.postgres.0.query("postgres", "select pg_reload_conf()");
    // The alert arrives within the handshake only in this version.
    let early = "ssl_max_protocol_version=TLSv1.2";
    for (user, certificate, expected) in [
        ("alice", "alice", "t|TLSv1.3"),
        ("mapped", "mapped", "t|TLSv1.3"),
        ("complete", "mapped", "t|TLSv1.3"),
        ("checked", "alice", "t|TLSv1.3"),
        ("checked", "nameless", "t|TLSv1.3"),
        ("alice", "mapped", "certificate authentication failed for user \"alice\""),
        ("alice", "nameless", "certificate authentication failed for user \"alice\""),
        ("mapped", "alice", "certificate authentication failed for user \"mapped\""),
        ("named", "alice", "\"trust\" authentication failed for user \"named\""),
        ("verified", "alice", "password authentication failed for user \"verified\""),
    ] {
        let options = format!("user={user} password=secret {}", Servers::with(certificate));
        let said = servers.same(&options, SHOWN);
        assert!(said.contains(expected), "{options}: {said}");
    }
    for user in ["alice", "checked", "verified"] {
        let said = servers.same(&format!("user={user} sslmode=require"), "select 1");
        assert!(said.contains("connection requires a valid client certificate"), "{said}");
    }
    // The reload is complete when a new connection finds the list.
    let revoked = format!("user=postgres {early} {}", Servers::with("revoked"));
    for host in [&servers.norsu.1, &servers.postgres.1] {
        let refused = || servers.psql(host, &revoked, "select 1").contains("certificate revoked");
        assert!((0..200).any(|_| refused()), "{}", servers.psql(host, &revoked, "select 1"));
    }
    for certificate in ["expired", "revoked", "stranger"] {
        let options = format!("user=postgres {early} {}", Servers::with(certificate));
        let said = servers.same(&options, "select 1");
        assert!(said.contains("SSL error"), "{options}: {said}");
    }
    for log in [servers.norsu.0.log(), servers.postgres.0.log()] {
        assert!(
            log.contains("could not accept SSL connection: certificate verify failed"),
            "{log}"
        );
    }
}

#[test]
fn data_in_both_directions() {
    let servers = Servers::start(&SETTINGS);
    let tls = "user=postgres sslmode=require";
    for sql in [
        "copy (select n, repeat(md5(n::text), 40000) from generate_series(1, 9) n) to stdout",
        "select n, repeat(md5(n::text), n % 3000) from generate_series(1, 6000) n",
        "select 1; select 2 / 0",
    ] {
        assert!(!servers.same(tls, sql).is_empty());
    }
    // Lines that are longer than a record, and many short ones.
    let long: String = (0..300).map(|n| format!("{n}\t{}\n", "z".repeat(n * 113))).collect();
    let short: String = (0..100_000).map(|n| format!("{n}\tabc\n")).collect();
    let input = servers.dir.path().join("rows");
    std::fs::write(&input, long + &short).expect("a file");
    let results = [&servers.norsu.1, &servers.postgres.1].map(|host| {
        servers.psql(host, tls, "create table t (n int, s text)");
        let rows = std::fs::File::open(&input).expect("the file");
        let mut copy = servers.command(host, tls);
        let copied = copy.args(["-c", "copy t from stdin"]).stdin(rows).output().expect("psql");
        assert!(copied.status.success(), "{}", String::from_utf8_lossy(&copied.stderr));
        servers.psql(host, tls, "select count(*), sum(n), sum(length(s)) from t")
    });
    assert_eq!(results[0], results[1]);
    assert!(results[0].starts_with("100300|"), "{}", results[0]);
}

#[test]
fn waiting_sessions_are_interrupted() {
    let servers = Servers::start(&SETTINGS);
    let (norsu, host) = (&servers.norsu.0, &servers.norsu.1);
    let others = "from pg_stat_ssl s join pg_stat_activity a using (pid) where s.ssl";
    let wait_for = |wanted: &str| {
        // Polls, because nothing else tells when another session waits.
        for _ in 0..2000 {
            if norsu.query(&format!("select count(*) {others} and a.state = 'active'")) == wanted {
                return;
            }
            std::thread::sleep(std::time::Duration::from_millis(5));
        }
        panic!("not {wanted} sessions");
    };
    for (function, said) in [
        ("pg_cancel_backend", "canceling statement due to user request"),
        ("pg_terminate_backend", "terminating connection due to administrator command"),
    ] {
        let mut sleeper = servers.command(host, "user=postgres sslmode=require");
        sleeper.args(["-c", "select pg_sleep(600)"]).stderr(Stdio::piped());
        let sleeper = sleeper.spawn().expect("psql");
        wait_for("1");
        norsu.query(&format!("select {function}(pid) {others}"));
        let out = sleeper.wait_with_output().expect("psql ends");
        let text = String::from_utf8_lossy(&out.stderr).into_owned();
        assert!(text.contains(said), "{text}");
        wait_for("0");
    }
    // A client that does not read its result.
    let mut stuck = servers.command(host, "user=postgres sslmode=require");
    stuck
        .args(["-c", "copy (select repeat('x', 100000) from generate_series(1, 10000)) to stdout"]);
    let mut stuck = stuck.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("psql");
    let blocked = || norsu.query(&format!("select wait_event {others}")) == "ClientWrite";
    assert!((0..2000).any(|_| blocked()));
    norsu.query(&format!("select pg_terminate_backend(pid) {others}"));
    wait_for("0");
    stuck.kill().expect("psql is running");
    stuck.wait().expect("psql ends");
    // The server ends a session whose client is idle.
    let mut idle = servers.command(host, "user=postgres sslmode=require");
    idle.stdin(Stdio::piped()).stderr(Stdio::piped());
    let mut idle = idle.spawn().expect("psql");
    let mut input = idle.stdin.take().expect("a pipe");
    use std::io::Write;
    writeln!(input, "set idle_in_transaction_session_timeout = 200; begin; select 1;").expect("ok");
    let ended = || norsu.log().contains("due to idle-in-transaction timeout");
    for _ in 0..4000 {
        if ended() {
            break;
        }
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    assert!(ended(), "{}", norsu.log());
    writeln!(input, "select 1;").expect("psql reads its input");
    drop(input);
    let out = idle.wait_with_output().expect("psql ends");
    let text = String::from_utf8_lossy(&out.stderr).into_owned();
    assert!(text.contains("terminating connection due to idle-in-transaction timeout"), "{text}");
}
