//! The installed programs: their names, command lines and messages, compared with PostgreSQL's; the
//! entry script of the container image; messages to a service manager.

mod cluster;
mod container;
mod control;
mod notify;

use crate::style::workspace_root;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use testkit::dir::TempDir;
use testkit::postgres::{BIN, chown_to_server_user, command, program, run};

/// Names of PostgreSQL's programs under which the program is installed.
const NAMES: [&str; 6] =
    ["initdb", "pg_controldata", "pg_ctl", "pg_waldump", "postgres", "postmaster"];

/// An installation in a temporary directory, by `make install-files`.
struct Installed {
    dir: TempDir,
}

impl Installed {
    fn new(name: &str) -> Installed {
        let dir = TempDir::new(name);
        let mut make = Command::new("make");
        make.arg("-C").arg(workspace_root()).arg("install-files").arg("prefix=/usr");
        make.arg(format!("PROGRAM={}", testkit::norsu::binary().display()));
        make.arg(format!("DESTDIR={}", dir.path().display()));
        run(make);
        chown_to_server_user(dir.path());
        Installed { dir }
    }

    fn bin(&self) -> PathBuf {
        self.dir.path().join("usr/bin")
    }

    /// An installed program, run as an unprivileged user.
    fn program(&self, name: &str) -> Command {
        command(&self.bin().join(name))
    }

    fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }
}

/// Exit status, standard output and standard error.
#[derive(PartialEq, Eq, Debug)]
struct Said {
    status: Option<i32>,
    out: String,
    err: String,
}

fn said(mut command: Command) -> Said {
    // Variables of the tests' environment are not to take part.
    command.env_remove("PGDATA").stdin(Stdio::null());
    let output = command.output().unwrap_or_else(|e| panic!("{command:?}: {e}"));
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    Said { status: output.status.code(), out: text(&output.stdout), err: text(&output.stderr) }
}

/// The text with the path of the programs, the time of log lines and numbers of several digits
/// removed.
fn neutral(text: &str, bin: &Path) -> String {
    let bin = format!("{}/", bin.display());
    let text = text.replace(&bin, "");
    let lines = text.lines().map(|line| match line.split_once("] ") {
        Some((time, rest)) if time.starts_with(|c: char| c.is_ascii_digit()) => rest,
        _ => line,
    });
    let mut out = String::new();
    for line in lines {
        let mut digits = String::new();
        for c in line.chars().chain(['\n']) {
            if c.is_ascii_digit() {
                digits.push(c);
                continue;
            }
            out.push_str(if digits.len() > 2 { "N" } else { &digits });
            digits.clear();
            out.push(c);
        }
    }
    out
}

/// The options that a help text lists.
fn options(help: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for line in help.lines().filter(|l| l.trim_start().starts_with(['-', '['])) {
        // The description is separated by two spaces.
        let head = line.trim_start().split("  ").next().unwrap_or_default();
        for word in head.split([' ', ',', '[', ']', '=']) {
            if word.starts_with('-') && word.len() > 1 {
                found.insert(word.to_owned());
            }
        }
    }
    found
}

#[test]
fn installed_names_have_version_and_help() {
    let installed = Installed::new("names");
    for name in NAMES {
        let ask = |option: &str| {
            let mut ours = installed.program(name);
            ours.arg(option);
            let mut theirs = program(name);
            theirs.arg(option);
            (said(ours), said(theirs))
        };
        let (ours, theirs) = ask("--version");
        // Packagers append text to the version.
        let version =
            |said: &Said| said.out.split_whitespace().take(3).collect::<Vec<_>>().join(" ");
        assert_eq!(version(&ours), version(&theirs));
        assert_eq!(ours.out.split_whitespace().count(), 3, "{}", ours.out);
        for help in ["--help", "-?"] {
            let (ours, theirs) = ask(help);
            assert_eq!((ours.status, ours.err.as_str()), (Some(0), ""));
            assert!(ours.out.starts_with(name), "{}", ours.out);
            let (ours, theirs) = (options(&ours.out), options(&theirs.out));
            let missing: Vec<_> = theirs.difference(&ours).collect();
            assert!(missing.is_empty() && !theirs.is_empty(), "{name}: {missing:?}");
        }
    }
    let verbs = [
        "init",
        "start",
        "stop",
        "restart",
        "reload",
        "status",
        "promote",
        "logrotate",
        "kill",
        "single",
        "controldata",
        "waldump",
    ];
    for verb in verbs {
        let ask = |args: [&str; 2]| {
            let mut help = installed.program("norsu");
            help.args(args);
            said(help)
        };
        let help = ask([verb, "--help"]);
        assert_eq!((help.status, help.err.as_str()), (Some(0), ""));
        assert!(help.out.contains(&format!("norsu {verb}")), "{}", help.out);
        assert_eq!(ask(["help", verb]), help);
    }
    let unit = installed.path("usr/lib/systemd/system/norsu.service");
    let unit = std::fs::read_to_string(unit).unwrap();
    assert!(unit.contains("ExecStart=/usr/bin/norsu start") && !unit.contains('@'), "{unit}");
}

/// Command lines that are refused, with the same message and exit status. `DIR` is an empty
/// directory, `FULL` one with a file in it.
const REFUSED: &[&str] = &[
    "initdb --foo",
    "initdb -Q",
    "initdb -D",
    "initdb --pgdata",
    "initdb --help=x",
    "initdb --lc DIR",
    "initdb",
    "initdb -D DIR/a b c",
    "initdb DIR/a b c",
    "initdb -D DIR/a -A foo",
    "initdb -D DIR/a --auth-host=peer",
    "initdb -D DIR/a --auth-local=ident",
    "initdb -D DIR/a -A md5",
    "initdb -D DIR/a --auth-local=password --auth-host=scram-sha-256",
    "initdb -D DIR/a -W --pwfile=x",
    "initdb -D DIR/a --pwfile=/nowhere/x --locale=C",
    "initdb -D DIR/a -E foo",
    "initdb -D DIR/a -E SJIS",
    "initdb -D DIR/a --wal-segsize=3",
    "initdb -D DIR/a --wal-segsize=2048",
    "initdb -D DIR/a --wal-segsize=x",
    "initdb -D DIR/a -U pg_x",
    "initdb -D DIR/a --locale=xx_YY",
    "initdb -D DIR/a --lc-time=xx",
    "initdb -D DIR/a --locale-provider=x",
    "initdb -D DIR/a --icu-locale=de",
    "initdb -D DIR/a --locale-provider=icu",
    "initdb -D DIR/a -X relative --locale=C",
    "initdb -D DIR/a -X FULL --locale=C",
    "initdb -D FULL --locale=C",
    "initdb -S -D DIR/nowhere",
    "pg_ctl",
    "pg_ctl foo",
    "pg_ctl foo -D DIR",
    "pg_ctl --foo",
    "pg_ctl -Q",
    "pg_ctl -t",
    "pg_ctl start",
    "pg_ctl start stop",
    "pg_ctl start -D DIR/nowhere",
    "pg_ctl stop -D DIR/nowhere",
    "pg_ctl status -D DIR/nowhere",
    "pg_ctl status -D DIR",
    "pg_ctl stop -D DIR",
    "pg_ctl stop -m x -D DIR",
    "pg_ctl restart -D DIR",
    "pg_ctl reload -D DIR",
    "pg_ctl promote -D DIR",
    "pg_ctl logrotate -D DIR",
    "pg_ctl kill",
    "pg_ctl kill HUP",
    "pg_ctl kill FOO 1",
    "pg_ctl kill HUP 99999999",
    "pg_ctl init -s -D FULL -o --locale=C",
    "postgres",
    "postgres -D DIR/nowhere",
    "postgres -D DIR",
    "postgres -C port -D DIR/nowhere",
    "postgres --config-file=/nowhere/x",
    "postgres --foo",
    "postgres --foo=1 -D DIR",
    "postgres -Q",
    "postgres -D",
    "postgres x",
    "postgres -c foo",
    "postgres -f x",
    "postgres -t x",
    "postgres -d 9 -D DIR",
    "postgres -B x -D DIR",
    "pg_controldata --foo",
    "pg_controldata a b",
    "pg_controldata",
    "pg_controldata -D DIR/nowhere",
    "pg_controldata DIR",
    "pg_waldump --foo",
    "pg_waldump",
    "pg_waldump -R 1/2",
    "pg_waldump -s 0/0 -p DIR",
];

#[test]
fn wrong_command_lines_are_refused_as_by_postgresql() {
    let installed = Installed::new("refused");
    let (empty, full) = (installed.path("empty"), installed.path("full"));
    for directory in [&empty, &full] {
        std::fs::create_dir(directory).unwrap();
    }
    std::fs::write(full.join("file"), "x").unwrap();
    chown_to_server_user(installed.dir.path());
    let mut wrong = Vec::new();
    for line in REFUSED {
        let mut words = line.split(' ');
        let name = words.next().unwrap();
        let args: Vec<String> = words
            .map(|word| match word.strip_prefix("DIR") {
                Some(rest) => format!("{}{rest}", empty.display()),
                None => word.replace("FULL", full.to_str().unwrap()),
            })
            .collect();
        let try_one = |mut command: Command, bin: &Path| {
            let said = said_of(command.args(&args));
            (said.status, neutral(&said.err, bin))
        };
        let ours = try_one(installed.program(name), &installed.bin());
        let theirs = try_one(program(name), Path::new(BIN));
        assert_ne!(theirs.0, Some(0), "{line}");
        if ours != theirs {
            wrong.push(format!("{line}\nnorsu: {ours:?}\npostgresql: {theirs:?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

fn said_of(command: &mut Command) -> Said {
    said(std::mem::replace(command, Command::new("true")))
}
