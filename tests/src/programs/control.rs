//! `pg_ctl` and `postgres`: the life of a server, with the messages and exit statuses of
//! PostgreSQL's programs.

use super::{Installed, Said, neutral, said};
use std::path::{Path, PathBuf};
use std::process::Command;
use testkit::postgres::{BIN, chown_to_server_user, program};

/// Calls of `pg_ctl`, and of `psql` with a query. `LOG` is a file for the log, `SOCKETS` the
/// directory of the socket.
const STEPS: [&[&str]; 34] = [
    &["pg_ctl", "init", "-s", "-o", "--locale=C -A trust -U postgres"],
    &["pg_ctl", "status"],
    &["pg_ctl", "stop"],
    &["pg_ctl", "reload"],
    &["pg_ctl", "promote"],
    &["pg_ctl", "logrotate"],
    &[
        "pg_ctl",
        "start",
        "-l",
        "LOG",
        "-o",
        "-k SOCKETS -c listen_addresses=",
        "-o",
        "-c work_mem=7MB",
    ],
    &["psql", "SHOW work_mem"],
    &["pg_ctl", "status"],
    &["pg_ctl", "start", "-l", "LOG", "-s"],
    &["pg_ctl", "promote"],
    &["psql", "ALTER SYSTEM SET work_mem = '9MB'"],
    &["psql", "ALTER SYSTEM SET maintenance_work_mem = '9MB'"],
    &["pg_ctl", "reload"],
    &["pg_ctl", "restart", "-l", "LOG", "-m", "smart", "-t", "30"],
    &["psql", "SHOW work_mem"],
    &["psql", "SHOW maintenance_work_mem"],
    &[
        "pg_ctl",
        "restart",
        "-s",
        "-l",
        "LOG",
        "-m",
        "immediate",
        "-o",
        "-k SOCKETS -c listen_addresses= -c work_mem=8MB",
    ],
    &["psql", "SHOW work_mem"],
    &["pg_ctl", "logrotate", "-s"],
    &["pg_ctl", "stop", "-m", "s"],
    &["pg_ctl", "stop", "-m", "fast"],
    &["pg_ctl", "restart", "-l", "LOG", "-o", "-k SOCKETS -c listen_addresses="],
    &["pg_ctl", "kill", "HUP", "PID"],
    &["pg_ctl", "stop", "--mode=immediate"],
    &["pg_ctl", "status"],
    &["pg_ctl", "start", "-l", "LOG", "-o", "-c nonsense=1"],
    &["pg_ctl", "start", "-l", "LOG", "-o", "-p x"],
    &["postgres", "-C", "work_mem"],
    &["postgres", "-C", "data_checksums"],
    &["postgres", "-C", "wal_segment_size"],
    &["postgres", "-C", "nonsense"],
    &["postgres", "-C", "port", "-p", "1234", "-d", "1"],
    &["postgres", "-C", "log_statement", "-d", "2"],
];

struct Place {
    data: PathBuf,
    sockets: PathBuf,
    log: PathBuf,
}

fn step(server: &str, installed: &Installed, place: &Place, words: &[&str]) -> Said {
    let (name, args) = words.split_first().unwrap();
    let mut command = match (server, *name) {
        ("ours", "pg_ctl" | "postgres") => installed.program(name),
        _ => program(name),
    };
    if *name == "psql" {
        command.arg("-h").arg(&place.sockets).args(["-U", "postgres", "-d", "postgres"]);
        command.args(["-X", "-q", "-A", "-t", "-c"]).args(args);
        return said(command);
    }
    let pid = std::fs::read_to_string(place.data.join("postmaster.pid")).unwrap_or_default();
    let pid = pid.lines().next().unwrap_or_default();
    for arg in args {
        let arg = arg.replace("LOG", place.log.to_str().unwrap()).replace("PID", pid);
        command.arg(arg.replace("SOCKETS", place.sockets.to_str().unwrap()));
    }
    command.arg("-D").arg(&place.data).env("LC_ALL", "C");
    redirected(command, &place.sockets)
}

/// A server keeps the standard streams of pg_ctl open if it has no log file, so that the output is
/// read from files.
fn redirected(mut command: Command, directory: &Path) -> Said {
    let [out, err] = ["out", "err"].map(|name| directory.join(name));
    let [o, e] = [&out, &err].map(|path| std::fs::File::create(path).unwrap());
    command.env_remove("PGDATA").stdin(std::process::Stdio::null()).stdout(o).stderr(e);
    let status = command.status().unwrap();
    let read = |path: &Path| std::fs::read_to_string(path).unwrap();
    Said { status: status.code(), out: read(&out), err: read(&err) }
}

#[test]
fn servers_are_controlled_as_by_postgresql() {
    let installed = Installed::new("control");
    let mut found = Vec::new();
    for (server, bin) in [("ours", installed.bin()), ("real", BIN.into())] {
        let [data, sockets, log] =
            ["data", "sockets", "log"].map(|part| installed.path(&format!("{server}-{part}")));
        std::fs::create_dir(&sockets).unwrap();
        chown_to_server_user(installed.dir.path());
        let place = Place { data, sockets, log };
        let mut steps = Vec::new();
        for words in STEPS {
            let said = step(server, &installed, &place, words);
            let clean = |text: &str| {
                let text = neutral(text, &bin).replace(&format!("{server}-"), "");
                // One dot per second of waiting.
                let mut short = text.clone();
                while short.contains(".... ") || short.contains("....\n") {
                    short = short.replace(".... ", "... ").replace("....\n", "...\n");
                }
                short
            };
            steps.push(format!(
                "{words:?}: {:?}\n{}{}",
                said.status,
                clean(&said.out),
                clean(&said.err)
            ));
        }
        found.push(steps);
    }
    let differ: Vec<String> = found[0]
        .iter()
        .zip(&found[1])
        .filter(|(ours, real)| ours != real)
        .map(|(ours, real)| format!("norsu: {ours}postgresql: {real}"))
        .collect();
    assert!(differ.is_empty(), "{}", differ.join("\n"));
}

/// `norsu restart` and `norsu stop` of a server in the foreground, which root may use too.
#[test]
fn verbs_control_a_server() {
    let installed = Installed::new("verbs");
    let [data, sockets, log] = ["data", "sockets", "log"].map(|part| installed.path(part));
    std::fs::create_dir(&sockets).unwrap();
    chown_to_server_user(installed.dir.path());
    let norsu = |args: &[&str]| {
        let mut command = Command::new(installed.bin().join("norsu"));
        command.args(args).arg("-D").arg(&data);
        redirected(command, &sockets)
    };
    let made = norsu(&["init", "--locale=C", "-U", "postgres"]);
    assert_eq!(made.status, Some(0), "{made:?}");
    assert!(made.out.contains("norsu start -D"), "{made:?}");
    let options = format!("-k {} -c listen_addresses=", sockets.display());
    let log = log.display().to_string();
    let begun = norsu(&["restart", "-l", &log, "-o", &options]);
    assert_eq!(
        (begun.status, begun.out.as_str()),
        (Some(0), "waiting for server to start... done\nserver started\n"),
        "{begun:?}"
    );
    let again = norsu(&["restart", "-l", &log, "-s"]);
    assert_eq!((again.status, again.out.as_str(), again.err.as_str()), (Some(0), "", ""));
    let status = norsu(&["status"]);
    assert!(status.out.starts_with("norsu: server is running (PID: "), "{status:?}");
    assert!(status.out.contains("norsu \"start\" \"-D\""), "{status:?}");
    let stopped = norsu(&["stop"]);
    assert_eq!((stopped.status, stopped.err.as_str()), (Some(0), ""));
    assert_eq!(norsu(&["status"]).status, Some(3));
}
