//! Authentication, connection limits, cancellation and the end of sessions.

use super::Both;
use super::client::{Bytes, Client, VERSION_3, startup};
use std::path::Path;
use std::process::Command;
use testkit::dir::TempDir;
use testkit::norsu::{Norsu, init};
use testkit::postgres::chown_to_server_user;

fn b() -> Bytes {
    Bytes::new()
}

cases! {
    limits_equal_those_of_postgresql,
    more_sessions_than_thread_specific_keys,
    cancelling_and_terminating_other_sessions,
    roles_and_long_names_at_session_start,
    a_cancel_request_needs_the_key,
    timeouts,
}

/// The output of psql, as the given role with the given password.
fn psql(server: &Norsu, role: &str, password: &str, database: &str) -> String {
    let mut psql = Command::new("psql");
    psql.arg("-h").arg(server.socket().parent().unwrap());
    psql.args(["-XAtq", "-w", "-U", role, "-d", database, "-c", "select current_user"]);
    let out = psql.env("PGPASSWORD", password).output().expect("psql can be run");
    let text = [out.stdout, out.stderr].concat();
    String::from_utf8_lossy(&text).trim().rsplit("FATAL:  ").next().unwrap_or_default().to_owned()
}

fn with_rules(rules: &str) -> (TempDir, Norsu) {
    let dir = TempDir::new("auth");
    chown_to_server_user(dir.path());
    let data = dir.path().join("data");
    init(&data);
    std::fs::write(data.join("pg_hba.conf"), format!("local all postgres trust\n{rules}")).unwrap();
    std::fs::write(data.join("extra"), "listed \"all\"\n").unwrap();
    let server = Norsu::start(&data, &[]);
    (dir, server)
}

#[test]
fn each_password_method_accepts_and_rejects_as_in_postgres() {
    let (_dir, server) = with_rules(
        "local all scram scram-sha-256\nlocal all md5,md5_with_scram md5\nlocal all plain \
         password\n\
         local all +grp reject\nlocal template1 @extra trust\nlocal sameuser template1 trust\n\
         local sameuser own trust\n",
    );
    for sql in [
        "create role scram login password 'se cret'",
        "create role md5_with_scram login password 'secret'",
        "set password_encryption = 'md5'; create role md5 login password 'secret'",
        "create role plain login password 'secret'",
        "create role grp; create role member login in role grp",
        "create role listed login; create role template1 login",
        "create role own login",
        "create database own",
    ] {
        server.query(sql);
    }
    for (role, password, database, said) in [
        ("scram", "se cret", "postgres", "scram"),
        ("scram", "secret", "postgres", "password authentication failed for user \"scram\""),
        ("md5", "secret", "postgres", "md5"),
        ("md5", "Secret", "postgres", "password authentication failed for user \"md5\""),
        ("md5_with_scram", "secret", "postgres", "md5_with_scram"),
        ("plain", "secret", "postgres", "plain"),
        ("plain", "no", "postgres", "password authentication failed for user \"plain\""),
        (
            "member",
            "",
            "postgres",
            "pg_hba.conf rejects connection for host \"[local]\", user \"member\", \
             database \"postgres\", no encryption",
        ),
        ("listed", "", "template1", "listed"),
        (
            "listed",
            "",
            "postgres",
            "no pg_hba.conf entry for host \"[local]\", user \"listed\", database \"postgres\", \
             no encryption",
        ),
        ("template1", "", "template1", "template1"),
        ("own", "", "own", "own"),
        (
            "own",
            "",
            "postgres",
            "no pg_hba.conf entry for host \"[local]\", user \"own\", database \"postgres\", \
             no encryption",
        ),
        ("postgres", "", "nosuch", "database \"nosuch\" does not exist"),
    ] {
        assert_eq!(psql(&server, role, password, database), said, "{role} {password}");
    }
    // PostgreSQL's answer to a mechanism and its first message; the last message may be invalid
    // here.
    let mechanism = |length: i32, rest: &[u8]| {
        let head = [&b"SCRAM-SHA-256\0"[..], &length.to_be_bytes()].concat();
        b().raw(b'p', &[&head, rest].concat())
    };
    let begin = b"n,,n=,r=abcdefgh";
    for (name, bytes, said) in [
        ("none yet", mechanism(-1, b"").raw(b'p', begin), "AuthenticationSASLContinue"),
        ("at once", mechanism(16, begin), "AuthenticationSASLContinue"),
        ("too short", mechanism(20, begin), "insufficient data left in message"),
        ("too long", mechanism(3, begin), "invalid message format"),
        ("no name", b().raw(b'p', b""), "invalid string in message"),
        ("a query", b().query("select 1"), "expected SASL response, got message type 81"),
    ] {
        let mut client = Client::silent(&server.socket());
        client.send(&startup(VERSION_3, &[("user", "scram"), ("database", "postgres")]));
        client.send(&bytes.raw(b'p', b"").0);
        let messages: Vec<_> = std::iter::from_fn(|| client.read()).collect();
        let steps = messages.iter().filter(|m| m.body.starts_with(&[0, 0, 0, 11]));
        let answers = steps.filter(|m| m.body.len() > 4).count();
        let error = messages.last().and_then(|m| m.field(b'M')).unwrap_or_default();
        match said {
            "AuthenticationSASLContinue" => assert_eq!(answers, 1, "{name}: {messages:?}"),
            said => assert_eq!(error, said, "{name}"),
        }
    }
    server.query("alter role scram valid until '2001-01-01'");
    assert_eq!(
        psql(&server, "scram", "se cret", "postgres"),
        "password authentication failed for user \"scram\""
    );
    assert!(server.log().contains("User \"scram\" has an expired password."), "{}", server.log());
    assert!(server.log().contains("Connection matched pg_hba.conf line 2"));
}

#[test]
fn limits_of_roles_and_databases() {
    let (_dir, server) = with_rules("local all all trust\n");
    for sql in [
        "create role one login connection limit 0",
        "create role nobody",
        "create role guest login",
    ] {
        server.query(sql);
    }
    for (role, database, said) in [
        ("one", "postgres", "too many connections for role \"one\""),
        ("nobody", "postgres", "role \"nobody\" is not permitted to log in"),
        ("guest", "template0", "database \"template0\" is not currently accepting connections"),
        ("nosuch", "postgres", "role \"nosuch\" does not exist"),
    ] {
        assert_eq!(psql(&server, role, "", database), said);
    }
}

fn limits_equal_those_of_postgresql(both: &Both) {
    both.ask(&[
        "create role one login connection limit 0",
        "create role nobody",
        "create role guest login",
        "create role owner login",
        "create role root login superuser connection limit 0",
        "create database own owner owner",
        "revoke connect on database own from public",
        "create database shut allow_connections false",
        "create database few connection limit 0",
        "create database \"odd name\"",
        "revoke all on database \"odd name\" from public",
        "grant connect on database \"odd name\" to guest",
    ]);
    for role in ["one", "nobody", "guest", "owner", "root", "nosuch"] {
        for database in ["postgres", "own", "shut", "few", "odd name", "template0", "gone", ""] {
            both.greeting(
                &format!("{role} on {database:?}"),
                &startup(VERSION_3, &[("user", role), ("database", database)]),
            );
        }
    }
    both.ask(&[
        "revoke connect on database \"odd name\" from guest",
        "alter database few connection limit -1",
        "alter database shut allow_connections true",
        "alter role nobody login",
        "alter role one connection limit 1",
    ]);
    for (role, database) in [
        ("guest", "odd name"),
        ("guest", "few"),
        ("guest", "shut"),
        ("nobody", "few"),
        ("one", "few"),
    ] {
        both.greeting(
            &format!("{role} on {database:?}"),
            &startup(VERSION_3, &[("user", role), ("database", database)]),
        );
    }
    both.ask(&[
        "drop database own",
        "drop database shut",
        "drop database few",
        "drop database \"odd name\"",
        "drop role one, nobody, guest, owner, root",
    ]);
}

fn roles_and_long_names_at_session_start(both: &Both) {
    let long = "x".repeat(70);
    both.ask(&[
        "create role wire_group; create role wire_guest login in role wire_group",
        "create role wire_owned login; alter role wire_owned set role = 'wire_group'",
        "create role wire_member login in role wire_group",
        "alter role wire_member set role = 'wire_group'",
        &format!("create role {long} login"),
        &format!("create database {long}"),
    ]);
    let questions = [
        "select current_user, session_user, current_setting('role')",
        "reset role",
        "select current_user",
        "set role none",
        "select current_user",
        "reset session authorization",
        "select current_user",
        "discard all",
        "select current_user, current_setting('is_superuser')",
    ];
    for (user, name, value) in [
        ("wire_guest", "role", "wire_group"),
        ("wire_guest", "options", "-c role=wire_group"),
        ("wire_guest", "role", "none"),
        ("wire_guest", "role", "postgres"),
        ("wire_guest", "role", "nosuch"),
        ("wire_guest", "session_authorization", "wire_guest"),
        ("wire_guest", "session_authorization", "wire_group"),
        ("postgres", "session_authorization", "wire_guest"),
        ("wire_guest", "default_tablespace", "nosuch"),
        ("wire_guest", "temp_tablespaces", "nosuch"),
        ("wire_owned", "application_name", "é"),
        ("wire_member", "application_name", "a"),
        ("wire_member", "role", "none"),
        ("wire_guest", "client_encoding", "UNICODE"),
        ("wire_guest", "options", "-c work_mem"),
        ("wire_guest", "options", "--work-mem"),
        ("wire_guest", "options", "-B 10"),
        ("wire_guest", "options", "-p 10"),
        (&long, "database", &long),
        ("wire_guest", "database", &"y".repeat(70)),
    ] {
        let packet = [("user", user), ("database", "postgres"), (name, value)];
        let said = both.0.sockets().map(|socket| {
            let (mut client, greeting) = Client::start(&socket, &packet);
            let mut said: Vec<_> = greeting.iter().map(|m| m.show()).collect();
            if greeting.last().is_some_and(|m| m.kind == b'Z') {
                let all = questions.iter().fold(b(), |bytes, sql| bytes.query(sql));
                said.extend(client.talk(&all, questions.len()));
            }
            said
        });
        assert_eq!(said[0], said[1], "{user}, {name}={value}: Norsu's, then PostgreSQL's");
    }
    both.ask(&[
        &format!("drop database {long}"),
        &format!("drop role {long}"),
        "drop role wire_owned, wire_guest, wire_member, wire_group",
    ]);
}

#[test]
fn connection_slots_run_out() {
    let dir = TempDir::new("places");
    chown_to_server_user(dir.path());
    let data = dir.path().join("data");
    init(&data);
    let options = ["-c", "max_connections=8", "-c", "superuser_reserved_connections=3"];
    let server = Norsu::start(&data, &options);
    server.query("create role guest login");
    let greet = |user: &str| {
        let (client, greeting) =
            Client::start(&server.socket(), &[("user", user), ("database", "postgres")]);
        (client, greeting.last().map(|m| m.show()).unwrap_or_default())
    };
    let mut guests = Vec::new();
    for _ in 0..5 {
        let (client, said) = greet("guest");
        assert_eq!(said, "ready I");
        guests.push(client);
    }
    let (_, said) = greet("guest");
    assert!(
        said.contains(
            "C=53300 M=remaining connection slots are reserved \
             for non-replication superuser connections"
        ),
        "{said}"
    );
    for _ in 0..3 {
        let (client, said) = greet("postgres");
        assert_eq!(said, "ready I");
        guests.push(client);
    }
    let (_, said) = greet("postgres");
    assert!(said.contains("C=53300 M=sorry, too many clients already"), "{said}");
    // Connection slots are released, also by clients that disconnect without Terminate.
    drop(guests);
    let mut left = None;
    for _ in 0..500 {
        let (mut client, said) = greet("postgres");
        if said == "ready I" {
            left = Some(client.column(
                "select count(*) from pg_stat_activity where backend_type = 'client backend'",
            ));
            if left.as_deref() == Some(&["1".to_owned()]) {
                break;
            }
        }
        std::thread::yield_now();
    }
    assert_eq!(left, Some(vec!["1".to_owned()]));
}

/// Resident memory in kB, number of threads, number of descriptors (`/proc/PID/status`).
fn usage(pid: u32) -> (u64, u64, usize) {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let number = |name: &str| {
        let line = status.lines().find_map(|l| l.strip_prefix(name)).unwrap();
        line.split_ascii_whitespace().next().unwrap().parse::<u64>().unwrap()
    };
    let files = std::fs::read_dir(format!("/proc/{pid}/fd")).unwrap().count();
    (number("VmRSS:"), number("Threads:"), files)
}

fn more_sessions_than_thread_specific_keys(both: &Both) {
    let socket = both.0.ours.socket();
    let mut clients: Vec<Client> = (0..1200).map(|_| Client::connect(&socket)).collect();
    for (i, client) in clients.iter_mut().enumerate() {
        assert_eq!(client.column(&format!("select {i} + 1")), [(i + 1).to_string()]);
    }
    drop(clients);
    let before = usage(both.0.ours.pid());
    for _ in 0..1500 {
        Client::connect(&socket);
    }
    let after = usage(both.0.ours.pid());
    assert!(after.1 <= before.1 + 4, "threads: {before:?} {after:?}");
    assert!(after.2 <= before.2 + 20, "descriptors: {before:?} {after:?}");
    assert!(after.0 <= before.0 + 8 * 1024, "memory: {before:?} {after:?}");
}

fn cancelling_and_terminating_other_sessions(both: &Both) {
    let socket = both.0.ours.socket();
    let mut victim = Client::connect(&socket);
    let pid = victim.column("select pg_backend_pid()").remove(0);
    let mut other = Client::connect(&socket);
    victim.send(&b().query("select pg_sleep(100)").0);
    let seen = format!(
        "select count(*) from pg_stat_activity where pid = {pid} and state = 'active' \
         and wait_event = 'PgSleep' \
         and query = 'select pg_sleep(100)'"
    );
    while other.column(&seen) != ["1"] {}
    assert_eq!(other.column(&format!("select pg_cancel_backend({pid})")), ["t"]);
    let lines: Vec<String> = victim.until_ready().iter().map(|m| m.show()).collect();
    assert!(lines[1].contains("C=57014 M=canceling statement due to user request"), "{lines:?}");
    // A cancel request must not affect an idle session.
    other.column(&format!("select pg_cancel_backend({pid})"));
    assert_eq!(victim.column("select 1"), ["1"]);
    victim.send(&b().query("select pg_sleep(100)").0);
    assert_eq!(other.column(&format!("select pg_terminate_backend({pid}, 30000)")), ["t"]);
    let lines: Vec<String> = victim.until_ready().iter().map(|m| m.show()).collect();
    assert!(
        lines
            .last()
            .unwrap()
            .contains("C=57P01 M=terminating connection due to administrator command"),
        "{lines:?}"
    );
    let lines = other.talk(&b().query("select pg_cancel_backend(1)"), 1);
    assert!(
        lines.iter().any(|l| l.contains("C=01000 M=PID 1 is not a PostgreSQL backend process")),
        "{lines:?}"
    );
}

fn a_cancel_request_needs_the_key(both: &Both) {
    let socket = both.0.ours.socket();
    let (mut victim, greeting) = Client::start(&socket, &[("user", "postgres")]);
    let key = greeting.iter().find(|m| m.kind == b'K').expect("a key").body.clone();
    let request = |key: &[u8]| {
        let packet =
            [&16u32.to_be_bytes()[..], &(1234u32 << 16 | 5678).to_be_bytes(), key].concat();
        let mut client = Client::silent(&socket);
        client.send(&packet);
        // The server closes the connection after it has processed the request.
        assert!(client.read().is_none());
    };
    victim.send(&b().query("select pg_sleep(2), 'done'").0);
    let mut wrong = key.clone();
    wrong[7] ^= 1;
    request(&wrong);
    let lines: Vec<String> = victim.until_ready().iter().map(|m| m.show()).collect();
    assert!(lines.iter().any(|l| l.contains("done")), "{lines:?}");
    victim.send(&b().query("select pg_sleep(100)").0);
    let mut other = Client::connect(&socket);
    while other.column("select count(*) from pg_stat_activity where wait_event = 'PgSleep'")
        != ["1"]
    {}
    request(&key);
    let lines: Vec<String> = victim.until_ready().iter().map(|m| m.show()).collect();
    assert!(lines.iter().any(|l| l.contains("C=57014")), "{lines:?}");
}

fn timeouts(both: &Both) {
    let [ours, theirs] = both.0.sockets().map(|socket| {
        let mut client = Client::connect(&socket);
        let mut all = client.talk(
            &b().query("set statement_timeout = 50")
                .query("select pg_sleep(100)")
                .query("reset statement_timeout")
                .query("select pg_advisory_lock(7)"),
            4,
        );
        let mut other = Client::connect(&socket);
        all.extend(
            other.talk(&b().query("set lock_timeout = 50").query("select pg_advisory_lock(7)"), 2),
        );
        all.extend(
            other
                .talk(&b().query("set idle_in_transaction_session_timeout = 50").query("begin"), 2),
        );
        all.extend(other.until_ready().iter().map(|m| m.show()));
        let mut other = Client::connect(&socket);
        all.extend(other.talk(&b().query("set idle_session_timeout = 50"), 1));
        all.extend(other.until_ready().iter().map(|m| m.show()));
        all
    });
    assert_eq!(ours, theirs);
}

/// A client that does not read its answers must neither exhaust memory nor delay the shutdown.
#[test]
fn a_client_that_does_not_read() {
    let dir = TempDir::new("deaf");
    chown_to_server_user(dir.path());
    let data = dir.path().join("data");
    init(&data);
    let server = Norsu::start(&data, &[]);
    let mut deaf = Client::connect(&server.socket());
    let before = usage(server.pid());
    deaf.send(&b().query("select repeat('x', 1000) from generate_series(1, 1000000)").0);
    let mut other = Client::connect(&server.socket());
    while other.column("select count(*) from pg_stat_activity where wait_event = 'ClientWrite'")
        != ["1"]
    {}
    let after = usage(server.pid());
    assert!(after.0 <= before.0 + 50 * 1024, "{before:?} {after:?}");
    stop(server, &data);
}

fn stop(server: Norsu, data: &Path) {
    let log = server.stop(data);
    assert!(log.contains("database system is shut down"), "{log}");
}

#[test]
fn a_silent_connection_is_closed_after_a_timeout() {
    let dir = TempDir::new("silent");
    chown_to_server_user(dir.path());
    let data = dir.path().join("data");
    init(&data);
    let server = Norsu::start(&data, &["-c", "authentication_timeout=1"]);
    let mut silent = Client::silent(&server.socket());
    assert!(silent.read().is_none());
    // A single byte from time to time does not reset the timeout.
    let mut slow = Client::silent(&server.socket());
    slow.send(&startup(VERSION_3, &[("user", "postgres")])[..4]);
    assert!(slow.read().is_none());
}

/// Number of threads of a process.
fn threads(pid: u32) -> usize {
    std::fs::read_dir(format!("/proc/{pid}/task")).expect("a process").count()
}

#[test]
fn silent_connections_are_limited_and_their_threads_end() {
    let dir = TempDir::new("silent");
    chown_to_server_user(dir.path());
    let data = dir.path().join("data");
    init(&data);
    let options = ["max_connections=10", "authentication_timeout=3s", "max_wal_senders=0"];
    let options: Vec<&str> = options.iter().flat_map(|o| ["-c", *o]).collect();
    let server = Norsu::start(&data, &[&options[..], &["-c", "max_worker_processes=4"]].concat());
    server.query("select 1");
    let before = threads(server.pid());
    // At most 2 * (10 + 4 + 1), including the session that has just ended.
    let most = 30;
    let mut silent: Vec<Client> = (0..100).map(|_| Client::silent(&server.socket())).collect();
    // Connections beyond the limit get an error immediately, before they have sent anything.
    let refused = silent.split_off(most + 1);
    for mut client in refused {
        let error = client.read().expect("an error");
        assert_eq!(error.field(b'C').as_deref(), Some("53300"), "{error:?}");
        assert!(client.read().is_none());
    }
    assert!(threads(server.pid()) <= before + most);
    // The server closes the others after a timeout, and their threads end.
    for mut client in silent {
        client.rest();
    }
    let begun = std::time::Instant::now();
    while threads(server.pid()) > before + 1 {
        assert!(begun.elapsed().as_secs() < 60, "{} threads", threads(server.pid()));
        std::thread::yield_now();
    }
    assert_eq!(psql(&server, "postgres", "", "postgres"), "postgres");
}
