//! PostgreSQL's isolation tester, built from the source package.

use super::Side;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Builds `isolationtester` in a directory beside the sources; only a C compiler and make are
/// needed.
pub(super) fn tester(source: &Path) -> PathBuf {
    let build = source.with_file_name("isolation");
    let program = build.join("src/test/isolation/isolationtester");
    if program.exists() {
        return program;
    }
    std::fs::create_dir_all(&build).expect("a new folder");
    let log = build.join("build.log");
    let step = |program: &str, args: &[&str]| {
        let log = std::fs::File::options().create(true).append(true).open(&log).expect("a log");
        let mut command = Command::new(program);
        command.args(args).current_dir(&build).stdin(Stdio::null());
        command.stdout(log.try_clone().expect("a descriptor")).stderr(log);
        let done = command.status().is_ok_and(|s| s.success());
        assert!(done, "{program} {args:?} failed: see {}", build.join("build.log").display());
    };
    let configure = source.join("configure");
    let configure = configure.display().to_string();
    step(&configure, &["--without-readline", "--without-zlib", "--without-icu", "CFLAGS=-O1"]);
    step("make", &["-s", "-C", "src/test/isolation", "isolationtester"]);
    assert!(program.exists(), "no isolationtester: see {}", log.display());
    program
}

/// Runs a specification; returns the tester's output.
pub(super) fn run(tester: &Path, side: &Side, name: &str) -> String {
    let mut command = side.client();
    command.arg(tester);
    command
        .arg(format!("host={} user=postgres dbname=isolation_regression", side.sockets.display()));
    // The tester gives up on a step after twice this time.
    command.env("PGISOLATIONTIMEOUT", "60");
    let build = tester.ancestors().nth(4).expect("the program lies within the tree");
    command.env("LD_LIBRARY_PATH", build.join("src/interfaces/libpq"));
    side.run(command, &side.suite.join(format!("specs/{name}.spec")))
}
