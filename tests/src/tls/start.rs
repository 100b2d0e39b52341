//! Configurations at the start and at a reload.

use super::authority::Authority;
use super::{SETTINGS, Servers, prepare};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use testkit::dir::TempDir;
use testkit::norsu::{self, Norsu};
use testkit::postgres::{self, PostgresServer, chown_to_server_user};

/// The reason in a log for which a server did not start.
fn reason(log: &str) -> String {
    let reason = log.lines().find_map(|line| line.split_once("FATAL:  ")).map(|(_, text)| text);
    reason.unwrap_or_else(|| panic!("no reason:\n{log}")).to_owned()
}

fn set_mode(path: &Path, mode: u32) {
    std::fs::set_permissions(path, PermissionsExt::from_mode(mode)).expect("permissions");
}

#[test]
fn refused_configurations_as_in_postgres() {
    let dir = TempDir::new("tls-start");
    chown_to_server_user(dir.path());
    let authority = Authority::new(dir.path(), "ca");
    authority.issue("server", "/CN=server", &[], "ec");
    authority.issue("another", "/CN=another", &[], "ec");
    let (ours, theirs) = (dir.path().join("norsu"), dir.path().join("postgres"));
    norsu::init(&ours);
    postgres::init_with(&theirs, &[]);
    let damage: [(&str, &dyn Fn(&Path)); 8] = [
        ("could not load server certificate file \"server.crt\": No such file", &|data| {
            std::fs::remove_file(data.join("server.crt")).expect("a file");
        }),
        ("could not load server certificate file \"server.crt\": no start line", &|data| {
            std::fs::write(data.join("server.crt"), "nothing\n").expect("a file");
        }),
        ("could not access private key file \"server.key\": No such file", &|data| {
            std::fs::remove_file(data.join("server.key")).expect("a file");
        }),
        ("private key file \"server.key\" has group or world access", &|data| {
            set_mode(&data.join("server.key"), 0o644);
        }),
        ("private key file \"server.key\" is not a regular file", &|data| {
            std::fs::remove_file(data.join("server.key")).expect("a file");
            std::fs::create_dir(data.join("server.key")).expect("a directory");
        }),
        ("could not load private key file \"server.key\": key values mismatch", &|data| {
            authority.install("another", data);
            std::fs::copy(authority.certificate("server"), data.join("server.crt")).expect("ok");
        }),
        ("could not load root certificate file \"root.crt\": No such file", &|data| {
            std::fs::remove_file(data.join("root.crt")).expect("a file");
        }),
        ("could not load SSL certificate revocation list file \"root.crl\": No such", &|data| {
            std::fs::remove_file(data.join("root.crl")).expect("a file");
        }),
    ];
    let refusals = |options: &[&str]| {
        let mut given = Vec::new();
        options.iter().for_each(|o| given.extend(["-c", o]));
        let first = Norsu::try_start(&ours, &given).err().expect("a refusal");
        let second = PostgresServer::try_start(&theirs, "postgres", options).err();
        [reason(&first), reason(&second.expect("a refusal"))]
    };
    for (expected, damage) in damage {
        for data in [&ours, &theirs] {
            prepare(data, &authority);
            damage(data);
        }
        let [first, second] = refusals(&SETTINGS);
        assert_eq!(first, second);
        assert!(first.contains(expected), "{first}");
    }
    for data in [&ours, &theirs] {
        prepare(data, &authority);
    }
    for (option, expected) in [
        ("ssl_ciphers=nothing", "could not set the cipher list (no valid ciphers available)"),
        ("ssl_ecdh_curve=nothing", "ECDH: unrecognized curve name: nothing"),
        ("ssl_crl_file=none", "could not load SSL certificate revocation list file \"none\""),
    ] {
        let [first, second] = refusals(&["ssl=on", option]);
        assert_eq!(first, second);
        assert!(first.contains(expected), "{first}");
    }
    let range = ["ssl=on", "ssl_min_protocol_version=TLSv1.3", "ssl_max_protocol_version=TLSv1.2"];
    let [first, second] = refusals(&range);
    assert_eq!(first, second);
    assert_eq!(first, "could not set SSL protocol version range");
}

#[test]
fn a_reload_replaces_the_certificate() {
    let servers = Servers::start(&SETTINGS);
    let other = Authority::new(servers.dir.path(), "other");
    other.issue("replacement", "/CN=replacement", &[], "ec");
    let (norsu, host) = (&servers.norsu.0, &servers.norsu.1);
    let data = servers.dir.path().join("norsu");
    let reload = |lines: usize, message: &str| {
        norsu.query("select pg_reload_conf()");
        // The reload is complete when a later statement of the log has been written.
        for _ in 0..2000 {
            if norsu.log().matches(message).count() >= lines {
                return;
            }
            std::thread::sleep(std::time::Duration::from_millis(5));
        }
        panic!("no {message}: {}", norsu.log());
    };
    let by = |root: &str| {
        let options = format!("user=postgres sslmode=verify-ca sslrootcert=DIR/{root}.crt");
        servers.psql(host, &options, "select 1")
    };
    assert_eq!(by("ca"), "1");
    // A key that cannot be used: the old certificate remains.
    set_mode(&data.join("server.key"), 0o644);
    reload(1, "SSL configuration was not reloaded");
    assert!(norsu.log().contains("private key file \"server.key\" has group or world access"));
    assert_eq!(by("ca"), "1");
    other.install("replacement", &data);
    norsu.query("alter system set log_statement = 'all'");
    reload(1, "parameter \"log_statement\" changed to \"all\"");
    let replaced = || by("other") == "1";
    assert!((0..200).any(|_| replaced()), "{}", by("other"));
    assert!(by("ca").contains("certificate verify failed"));
    // Without TLS again.
    norsu.query("alter system set ssl = off");
    let off = || by("other").contains("server does not support SSL, but SSL was required");
    reload(1, "received SIGHUP");
    assert!((0..200).any(|_| off()), "{}", by("other"));
}
