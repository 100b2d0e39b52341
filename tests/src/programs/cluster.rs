//! `initdb`: the properties of the created cluster are those of PostgreSQL's.

use super::{Installed, said};
use std::path::Path;
use testkit::norsu::Norsu;
use testkit::postgres::{PostgresServer, chown_to_server_user, program, run};

/// Arguments of initdb; `WAL` is a directory for the log, `PASSWORD` a file.
const ARGUMENTS: [&[&str]; 7] = [
    &["--locale=C"],
    &["--locale=C.UTF-8", "-U", "someone"],
    &["--no-locale", "-E", "UTF8", "-k", "--wal-segsize=4", "-g", "-X", "WAL"],
    &["--locale=C", "-E", "LATIN1", "-T", "german", "-n"],
    &["--locale=C", "-A", "md5", "--pwfile=PASSWORD"],
    &["--locale=C", "--auth-local=peer", "--auth-host=scram-sha-256", "--pwfile=PASSWORD"],
    &["--locale=C", "--lc-time=POSIX", "--lc-messages=C", "-A", "ident", "-N", "--no-instructions"],
];

const SETTINGS: &str = "SELECT name, setting FROM pg_settings WHERE source = 'configuration file' \
    AND name NOT LIKE 'autovacuum%' OR name IN ('data_checksums', 'wal_segment_size', \
    'data_directory_mode', 'log_file_mode') ORDER BY name COLLATE \"C\"";
const DATABASES: &str = "SELECT datname, pg_encoding_to_char(encoding), datlocprovider, \
    datcollate, datctype, daticulocale, datistemplate, datallowconn, datconnlimit, \
    dattablespace, datacl \
    FROM pg_database ORDER BY oid";
const ROLES: &str = "SELECT rolname, rolsuper, rolcanlogin, left(rolpassword, 5) FROM pg_authid \
    WHERE oid = 10";
const RULES: &str = "SELECT type, database, user_name, address, netmask, auth_method, options, \
    error FROM pg_hba_file_rules ORDER BY line_number";

fn properties(ask: impl Fn(&str) -> String, data: &Path, control: String) -> Vec<String> {
    let mut found: Vec<String> = [SETTINGS, DATABASES, ROLES, RULES]
        .into_iter()
        .map(|q| ask(q).trim_end().to_owned())
        .collect();
    found
        .extend(control.lines().filter(|l| l.starts_with("Data page checksum")).map(str::to_owned));
    let log = data.join("pg_wal");
    found.push(format!("log elsewhere: {}", log.is_symlink()));
    let mut names: Vec<String> = std::fs::read_dir(data)
        .unwrap()
        .map(|e| {
            use std::os::unix::fs::PermissionsExt;
            let e = e.unwrap();
            let mode = e.metadata().unwrap().permissions().mode();
            format!("{} {mode:o}", e.file_name().into_string().unwrap())
        })
        .filter(|name| !name.starts_with("postmaster.") && !name.starts_with("current_logfiles"))
        .collect();
    names.sort();
    found.extend(names);
    found
}

#[test]
fn initdb_creates_what_postgresql_does() {
    let installed = Installed::new("initdb");
    std::fs::write(installed.path("password"), "secret\n").unwrap();
    for args in ARGUMENTS {
        let mut found = Vec::new();
        for server in ["ours", "real"] {
            let data = installed.path(server);
            chown_to_server_user(installed.dir.path());
            let mut initdb = match server {
                "ours" => installed.program("initdb"),
                _ => program("initdb"),
            };
            initdb.env("LC_ALL", "C").arg("-D").arg(&data);
            for arg in args {
                let log = installed.path(&format!("{server}-log"));
                let password = installed.path("password");
                let arg = arg.replace("PASSWORD", password.to_str().unwrap());
                initdb.arg(arg.replace("WAL", log.to_str().unwrap()));
            }
            let made = said(initdb);
            assert_eq!(made.status, Some(0), "{made:?}");
            let instructions = made.out.contains("pg_ctl -D");
            let warning = made.err.lines().next().unwrap_or_default().contains("trust");
            let control = |name: &str| {
                let mut command = match server {
                    "ours" => installed.program(name),
                    _ => program(name),
                };
                command.arg(&data);
                run(command)
            };
            let control = control("pg_controldata");
            // The rules of the cluster itself would need passwords.
            let rules = std::fs::read_to_string(data.join("pg_hba.conf")).unwrap();
            let trust = installed.path("trust.conf");
            std::fs::write(&trust, "local all all trust\n").unwrap();
            chown_to_server_user(installed.dir.path());
            let file = format!("hba_file={}", trust.display());
            let user = if args.contains(&"someone") { "someone" } else { "postgres" };
            let mut properties = match server {
                "ours" => {
                    let server = Norsu::start(&data, &["-c", &file]);
                    let found = properties(|q| ask(server.sockets(), user, q), &data, control);
                    server.stop(&data);
                    found
                }
                _ => {
                    let server = PostgresServer::start_with(&data, user, &[&file]);
                    properties(|q| ask(server.sockets(), user, q), &data, control)
                }
            };
            let rules = rules.lines().filter(|l| !l.starts_with('#') && !l.trim().is_empty());
            let spaced = |l: &str| l.split_whitespace().collect::<Vec<_>>().join(" ");
            properties.extend(rules.map(spaced));
            properties.push(format!("instructions {instructions}, warning {warning}"));
            found.push(properties);
            std::fs::remove_dir_all(&data).unwrap();
        }
        assert_eq!(found[0], found[1], "{args:?}");
    }
}

fn ask(sockets: &Path, user: &str, sql: &str) -> String {
    let mut psql = program("psql");
    psql.arg("-h").arg(sockets).args([
        "-U",
        user,
        "-d",
        "template1",
        "-X",
        "-q",
        "-A",
        "-t",
        "-c",
        sql,
    ]);
    run(psql)
}
