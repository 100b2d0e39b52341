//! Verification of a data directory by PostgreSQL: its checking programs, a hot standby that
//! replays the log, and `pageinspect`.

use crate::client::Client;
use crate::postgres::{PostgresServer, chown_to_server_user, program, run};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

/// Checks the directory of a running server: its checking programs must not report errors, and its
/// log must not contain any.
pub fn check(server: &PostgresServer) {
    let mut amcheck = server.client("pg_amcheck");
    amcheck.args(["--all", "--install-missing", "--heapallindexed", "--parent-check"]);
    amcheck.arg("--rootdescend");
    assert_eq!(run(amcheck), "");
    server.query("postgres", "CREATE EXTENSION IF NOT EXISTS pg_visibility");
    for check in ["pg_check_frozen", "pg_check_visible"] {
        let sql = format!(
            "SELECT c.relname, t.* FROM pg_class c, LATERAL {check}(c.oid) t \
             WHERE relkind IN ('r', 'm', 't') AND relpersistence <> 't'"
        );
        assert_eq!(server.query("postgres", &sql), "", "{check}");
    }
    let dump = run(server.client("pg_dumpall"));
    assert!(dump.contains("PostgreSQL database cluster dump complete"));
    server.query("postgres", "VACUUM (FREEZE)");
    server.query("postgres", "REINDEX DATABASE postgres");
    let log = server.log();
    for bad in ["ERROR", "WARNING", "PANIC"] {
        assert!(!log.contains(bad), "{log}");
    }
}

/// Verifies the checksums of a directory on which no server runs.
pub fn checksums(data: &Path) {
    let mut checksums = program("pg_checksums");
    checksums.arg("--check").arg("-D").arg(data);
    assert!(run(checksums).contains("Bad checksums:  0"));
}

/// Copies a directory.
pub fn copy(from: &Path, to: &Path) {
    let mut cp = Command::new("cp");
    cp.arg("-a").arg(from).arg(to);
    run(cp);
}

/// A hot standby of PostgreSQL that restores its log from an archive directory, which
/// [`Standby::archive_and_replay`] fills.
pub struct Standby {
    pub server: PostgresServer,
    archive: PathBuf,
}

impl Standby {
    /// Starts the standby in `home` from a copy of `base`, on which no server runs.
    pub fn start(base: &Path, home: &Path, settings: &[&str]) -> Standby {
        let (data, archive) = (home.join("standby"), home.join("archive"));
        copy(base, &data);
        std::fs::create_dir(&archive).expect("a new directory");
        std::fs::write(data.join("standby.signal"), "").expect("a new file");
        let command = format!("restore_command='cp {}/%f %p'", archive.display());
        let mut conf = std::fs::read_to_string(data.join("postgresql.auto.conf"))
            .expect("the file of ALTER SYSTEM");
        conf.push_str(&format!("{command}\nhot_standby=on\nwal_retrieve_retry_interval=50ms\n"));
        std::fs::write(data.join("postgresql.auto.conf"), conf).expect("it can be written");
        chown_to_server_user(&archive);
        Standby { server: PostgresServer::start_with(&data, "postgres", settings), archive }
    }

    /// Copies the segments of `wal` before the one named `current` to the archive.
    pub fn archive(&self, wal: &Path, current: &str) {
        for entry in std::fs::read_dir(wal).expect("a directory").flatten() {
            let name = entry.file_name().into_string().expect("plain names");
            let to = self.archive.join(&name);
            if name.len() == 24 && name.as_str() < current && !to.exists() {
                let half = self.archive.join(format!("{name}.half"));
                std::fs::copy(entry.path(), &half).expect("room for a segment");
                chown_to_server_user(&half);
                std::fs::rename(&half, &to).expect("a new name");
            }
        }
    }

    /// Like [`Standby::archive`], and waits until the standby has replayed up to `lsn`.
    pub fn archive_and_replay(&self, wal: &Path, current: &str, lsn: &str) {
        self.archive(wal, current);
        let sql = format!("SELECT pg_last_wal_replay_lsn() >= '{lsn}'");
        let end = Instant::now() + Duration::from_secs(60);
        // The query may conflict with replay and be cancelled.
        while self.query_value(&sql).is_none_or(|answer| answer != "t") {
            assert!(Instant::now() < end, "{lsn} was not reached:\n{}", self.server.log());
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    fn query_value(&self, sql: &str) -> Option<String> {
        let sockets = self.server.sockets();
        let parameters = [("user", "postgres"), ("database", "postgres")];
        let reply =
            Client::connect_with(sockets, &parameters).and_then(|mut c| c.query(sql)).ok()?;
        if reply.error.is_some() { None } else { reply.text().pop() }
    }

    pub fn connect(&self) -> Client {
        self.server.connect("postgres")
    }
}

/// The output of `pageinspect` for all pages of a table and its indexes, by relation and block,
/// with transaction ids replaced by their rank. No other session may change the table at the same
/// time.
pub fn pages(server: &PostgresServer, table: &str) -> BTreeMap<String, Vec<String>> {
    server.query("postgres", "CREATE EXTENSION IF NOT EXISTS pageinspect");
    let mut client = server.connect("postgres");
    let mut out = BTreeMap::new();
    let blocks = |client: &mut Client, rel: &str| -> u32 {
        let sql = format!("SELECT pg_relation_size('{rel}') / 8192");
        client.value(&sql).parse().expect("a number")
    };
    for block in 0..blocks(&mut client, table) {
        let page = format!("get_raw_page('{table}', {block})");
        let mut lines = client.rows(&format!(
            "SELECT lower, upper, special, flags, prune_xid::text::int8 > 0 \
             FROM page_header({page})"
        ));
        lines.extend(client.rows(&format!(
            "SELECT lp, lp_flags, lp_off, lp_len, 'xmin ' || t_xmin, 'xmax ' || t_xmax, t_field3, \
             t_ctid, \
             to_hex(t_infomask2), to_hex(t_infomask), t_hoff, t_bits, t_oid, t_data \
             FROM heap_page_items({page})"
        )));
        out.insert(format!("{table} {block}"), lines);
    }
    let indexes = client.rows(&format!(
        "SELECT indexrelid::regclass FROM pg_index WHERE indrelid = '{table}'::regclass ORDER BY 1"
    ));
    for index in indexes {
        let meta = format!("SELECT * FROM bt_metap('{index}')");
        out.insert(format!("{index} 0"), client.rows(&meta));
        for block in 1..blocks(&mut client, &index) {
            let mut lines = client.rows(&format!(
                "SELECT type, live_items, dead_items, page_size, free_size, btpo_prev, btpo_next, \
                 btpo_level, btpo_flags FROM bt_page_stats('{index}', {block})"
            ));
            let items = format!("SELECT * FROM bt_page_items('{index}', {block})");
            lines.extend(client.rows(&items));
            out.insert(format!("{index} {block}"), lines);
        }
    }
    rank_ids(&mut out);
    out
}

/// Replaces each transaction id by its rank among the ids that occur.
fn rank_ids(pages: &mut BTreeMap<String, Vec<String>>) {
    let mut ids: Vec<u64> = Vec::new();
    let mut each = |f: &mut dyn FnMut(&str) -> String| {
        for line in pages.values_mut().flatten() {
            let cell = |cell: &str| match cell.split_once(' ') {
                Some((what @ ("xmin" | "xmax"), id)) => format!("{what} {}", f(id)),
                _ => cell.to_owned(),
            };
            *line = line.split('|').map(cell).collect::<Vec<_>>().join("|");
        }
    };
    each(&mut |id| {
        ids.push(id.parse().expect("a number"));
        id.to_owned()
    });
    ids.sort_unstable();
    ids.dedup();
    each(&mut |id| match id.parse().expect("a number") {
        // InvalidTransactionId, BootstrapTransactionId, FrozenTransactionId.
        n @ 0..=2 => format!("{n}"),
        n => format!("#{}", ids.iter().filter(|i| **i > 2 && **i <= n).count()),
    });
}
