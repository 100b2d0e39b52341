//! A scratch PostgreSQL 15 in a temporary directory: created by its own `initdb` (optionally with
//! some files of the share directory replaced), listening on a socket in that directory, stopped
//! and removed on drop.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

pub const BIN: &str = "/usr/lib/postgresql/15/bin";
pub const SHARE: &str = "/usr/share/postgresql/15";

pub type Result<T> = std::result::Result<T, String>;

pub struct Scratch {
    dir: PathBuf,
    started: bool,
}

/// A command that runs as the unprivileged user `postgres` if this program runs as root, because
/// the server refuses to run as root.
fn unprivileged(program: &str) -> Command {
    let is_root = Command::new("id").arg("-u").output().is_ok_and(|o| o.stdout == b"0\n");
    if is_root {
        let mut command = Command::new("runuser");
        command.args(["-u", "postgres", "--", program]);
        command
    } else {
        Command::new(program)
    }
}

fn check(mut command: Command, what: &str) -> Result<Vec<u8>> {
    let out =
        command.stdin(Stdio::null()).output().map_err(|e| format!("could not run {what}: {e}"))?;
    if !out.status.success() {
        return Err(format!(
            "{what} failed: {}{}",
            String::from_utf8_lossy(&out.stdout),
            String::from_utf8_lossy(&out.stderr)
        ));
    }
    Ok(out.stdout)
}

impl Scratch {
    /// Creates a cluster; `replace` contains the names and texts of files that replace those in the
    /// share directory.
    pub fn init(name: &str, replace: &[(&str, String)]) -> Result<Scratch> {
        let io = |e: std::io::Error| format!("scratch directory: {e}");
        let dir = std::env::temp_dir().join(format!("norsu-{name}-{}", std::process::id()));
        fs::create_dir(&dir).map_err(io)?;
        let scratch = Scratch { dir, started: false };
        let share = scratch.dir.join("share");
        fs::create_dir(&share).map_err(io)?;
        for entry in fs::read_dir(SHARE).map_err(io)? {
            let entry = entry.map_err(io)?;
            let to = share.join(entry.file_name());
            std::os::unix::fs::symlink(entry.path(), to).map_err(io)?;
        }
        for (file, text) in replace {
            let path = share.join(file);
            fs::remove_file(&path).map_err(io)?;
            fs::write(&path, text).map_err(io)?;
        }
        check(
            {
                let mut c = Command::new("chmod");
                c.arg("777").arg(&scratch.dir);
                c
            },
            "chmod",
        )?;
        let mut initdb = unprivileged(&format!("{BIN}/initdb"));
        initdb.arg("-D").arg(scratch.data()).arg("-L").arg(&share);
        initdb.args(["-U", "postgres", "-E", "UTF8", "--locale=C", "-k", "--no-sync"]);
        check(initdb, "initdb")?;
        Ok(scratch)
    }

    fn data(&self) -> PathBuf {
        self.dir.join("data")
    }

    pub fn start(&mut self) -> Result<()> {
        let mut start = unprivileged(&format!("{BIN}/pg_ctl"));
        start.arg("-D").arg(self.data()).arg("-w").arg("-l").arg(self.dir.join("data/start.log"));
        start.arg("-o").arg(format!(
            "-c listen_addresses= -c unix_socket_directories={} -c allow_system_table_mods=on",
            self.dir.display()
        ));
        start.arg("start").stdout(Stdio::null()).stderr(Stdio::null()).stdin(Stdio::null());
        let status = start.status().map_err(|e| format!("could not run pg_ctl: {e}"))?;
        if !status.success() {
            let log = fs::read_to_string(self.dir.join("data/start.log")).unwrap_or_default();
            return Err(format!("the scratch server did not start: {log}"));
        }
        self.started = true;
        Ok(())
    }

    /// Output of a query or COPY in `template1`: unaligned, tuples only, tabs between columns.
    pub fn query(&self, sql: &str) -> Result<String> {
        let mut psql = Command::new("psql");
        psql.arg("-h").arg(&self.dir);
        psql.args(["-U", "postgres", "-d", "template1", "-X", "-q", "-A", "-t", "-F", "\t"]);
        psql.args(["-v", "ON_ERROR_STOP=1", "-c", sql]);
        let out = check(psql, "psql")?;
        String::from_utf8(out).map_err(|e| format!("query result: {e}"))
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        if self.started {
            let mut stop = unprivileged(&format!("{BIN}/pg_ctl"));
            stop.arg("-D").arg(self.data()).args(["-w", "-m", "immediate", "stop"]);
            let _ = stop.stdout(Stdio::null()).stderr(Stdio::null()).status();
        }
        remove(&self.dir);
    }
}

/// Removes the data directory, which may belong to another user; root can remove it nevertheless.
fn remove(dir: &Path) {
    if let Err(e) = fs::remove_dir_all(dir) {
        eprintln!("xtask: could not remove {}: {e}", dir.display());
    }
}
