//! The entry script of the container image, run outside of a container.

use super::{Installed, Said, said};
use crate::style::workspace_root;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use testkit::postgres::{chown_to_server_user, command, kill, program, run};

struct Image {
    installed: Installed,
}

impl Image {
    fn new(name: &str) -> Image {
        let installed = Installed::new(name);
        for directory in ["scripts", "sockets"] {
            std::fs::create_dir(installed.path(directory)).unwrap();
        }
        let image = Image { installed };
        image.own();
        image
    }

    fn own(&self) {
        chown_to_server_user(self.installed.dir.path());
    }

    fn path(&self, name: &str) -> PathBuf {
        self.installed.path(name)
    }

    fn script(&self, name: &str, text: &str, mode: u32) {
        let path = self.path("scripts").join(name);
        std::fs::write(&path, text).unwrap();
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
        self.own();
    }

    /// The script with arguments and variables, as the server's user.
    fn entry(&self, args: &[&str], variables: &[(&str, &str)]) -> Command {
        let script = workspace_root().join("packaging/container/docker-entrypoint.sh");
        // The user may have no access to the repository.
        let copy = self.path("docker-entrypoint.sh");
        std::fs::copy(script, &copy).unwrap();
        self.own();
        let mut entry = command(&copy);
        entry.args(args);
        let path = format!(
            "{}:{}:{}",
            self.installed.bin().display(),
            testkit::postgres::BIN,
            std::env::var("PATH").unwrap_or_default()
        );
        entry.env("PATH", path).env("LANG", "C.UTF-8").env("PGDATA", self.path("data"));
        entry.env("DOCKER_ENTRYPOINT_SCRIPTS", self.path("scripts"));
        entry.env("DOCKER_ENTRYPOINT_SOCKETS", self.path("sockets"));
        for name in ["PGHOST", "PGPORT", "PGUSER", "PGPASSWORD", "PGDATABASE", "LC_ALL"] {
            entry.env_remove(name);
        }
        entry.envs(variables.iter().copied());
        entry
    }

    fn refused(&self, variables: &[(&str, &str)]) -> Said {
        let refused = said(self.entry(&["postgres"], variables));
        assert_eq!(refused.status, Some(1), "{refused:?}");
        assert!(!self.path("data/PG_VERSION").exists());
        refused
    }

    /// Starts the server, and waits until it accepts connections.
    fn start(&self, args: &[&str], variables: &[(&str, &str)]) -> Running {
        let log = std::fs::File::create(self.path("log")).unwrap();
        let mut entry = self.entry(args, variables);
        entry.stdin(Stdio::null()).stdout(log.try_clone().unwrap()).stderr(log);
        let child = entry.spawn().unwrap();
        let mut running = Running { child, pid: self.path("data/postmaster.pid") };
        for _ in 0..1200 {
            let ended = running.child.try_wait().unwrap();
            assert!(ended.is_none(), "{}", self.log());
            if self.log().contains("starting the server") || self.log().contains("as it is") {
                let mut ready = program("pg_isready");
                ready.arg("-h").arg(self.path("sockets")).stdout(Stdio::null());
                if ready.status().unwrap().success() {
                    return running;
                }
            }
            std::thread::sleep(std::time::Duration::from_millis(50));
        }
        panic!("the server is not ready:\n{}", self.log())
    }

    fn log(&self) -> String {
        std::fs::read_to_string(self.path("log")).unwrap_or_default()
    }

    fn query(&self, user: &str, database: &str, sql: &str) -> String {
        let mut psql = program("psql");
        psql.arg("-h").arg(self.path("sockets")).args(["-U", user, "-d", database]);
        psql.args(["-X", "-q", "-A", "-t", "-c", sql]).env_remove("PGPASSWORD");
        run(psql).trim_end().to_owned()
    }
}

struct Running {
    child: Child,
    pid: PathBuf,
}

impl Running {
    fn stop(mut self) {
        let text = std::fs::read_to_string(&self.pid).unwrap();
        run(kill("INT", text.lines().next().unwrap()));
        assert!(self.child.wait().unwrap().success());
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let pid = std::fs::read_to_string(&self.pid).unwrap_or_default();
        if let Some(pid) = pid.lines().next() {
            let _ = kill("KILL", pid).stderr(Stdio::null()).status();
        }
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn a_missing_or_ambiguous_password_is_refused() {
    let image = Image::new("entry");
    assert!(image.refused(&[]).err.contains("POSTGRES_PASSWORD"));
    let both = [("POSTGRES_PASSWORD", "x"), ("POSTGRES_PASSWORD_FILE", "/x")];
    assert!(image.refused(&both).err.contains("both POSTGRES_PASSWORD and"));
    let missing = [("POSTGRES_PASSWORD_FILE", "/nowhere")];
    assert!(image.refused(&missing).err.contains("cannot read /nowhere"));
    let shown = said(image.entry(&["--version"], &[]));
    assert!(shown.out.starts_with("postgres (PostgreSQL) 15."), "{shown:?}");
    let shown = said(image.entry(&["echo", "something else"], &[]));
    assert_eq!(shown.out, "something else\n");
}

#[test]
fn the_image_creates_a_cluster_and_runs_scripts() {
    let image = Image::new("image");
    image.script("1.sql", "CREATE TABLE steps (n serial, step text);\n", 0o644);
    image.script(
        "2.sh",
        "docker_process_sql -c \"INSERT INTO steps (step) VALUES ('sourced')\"\n",
        0o644,
    );
    let own = "#!/bin/sh\npsql -h \"$DOCKER_ENTRYPOINT_SOCKETS\" -U \"$POSTGRES_USER\" -d \
               \"$POSTGRES_DB\" -c \"INSERT INTO steps (step) VALUES ('executed')\"\n";
    image.script("3.sh", own, 0o755);
    image.script("4.sql.gz", "", 0o644);
    let mut gzip = Command::new("sh");
    gzip.arg("-c").arg("echo \"INSERT INTO steps (step) VALUES ('unpacked')\" | gzip >\"$1\"");
    gzip.arg("sh").arg(image.path("scripts/4.sql.gz"));
    run(gzip);
    image.script("5.txt", "nothing", 0o644);
    std::fs::write(image.path("password"), "secret\n").unwrap();
    image.own();
    let password = image.path("password");
    let variables = [
        ("POSTGRES_PASSWORD_FILE", password.to_str().unwrap()),
        ("POSTGRES_USER", "admin"),
        ("POSTGRES_DB", "app"),
        ("POSTGRES_INITDB_ARGS", "--data-checksums --lc-time='C'"),
    ];
    let options = ["-c", "work_mem=5MB", "-h", ""];
    let server = image.start(&options, &variables);
    let steps = image.query("admin", "app", "SELECT string_agg(step, ' ' ORDER BY n) FROM steps");
    assert_eq!(steps, "sourced executed unpacked", "{}", image.log());
    let settings = "SELECT string_agg(setting, ' ' ORDER BY name) FROM pg_settings \
                    WHERE name IN ('data_checksums', 'server_encoding', 'work_mem')";
    assert_eq!(image.query("admin", "app", settings), "on UTF8 5120");
    let address =
        "SELECT setting, sourcefile FROM pg_file_settings WHERE name = 'listen_addresses'";
    assert!(image.query("admin", "app", address).starts_with("*|"));
    let rule = "SELECT auth_method FROM pg_hba_file_rules ORDER BY line_number DESC LIMIT 1";
    assert_eq!(image.query("admin", "app", rule), "scram-sha-256");
    let secret = "SELECT left(rolpassword, 13) FROM pg_authid WHERE rolname = 'admin'";
    assert_eq!(image.query("admin", "postgres", secret), "SCRAM-SHA-256");
    assert!(image.log().contains("ignoring"), "{}", image.log());
    server.stop();
    // A second start uses the directory, and needs no password.
    let server = image.start(&["postgres", "-h", ""], &[]);
    assert_eq!(image.query("admin", "app", "SELECT count(*) FROM steps"), "3");
    server.stop();
}
