//! The configuration files of a new cluster. The texts are our own; the settings are those that
//! PostgreSQL's `initdb` sets.

use super::{Files, InitOptions};
use std::fmt::Write as _;

pub(super) fn add(files: &mut Files, options: &InitOptions) {
    files.insert("PG_VERSION".to_owned(), b"15\n".to_vec());
    files.insert("postgresql.conf".to_owned(), main_file(options).into_bytes());
    files.insert("postgresql.auto.conf".to_owned(), AUTO.as_bytes().to_vec());
    files.insert("pg_hba.conf".to_owned(), hba(options).into_bytes());
    files.insert("pg_ident.conf".to_owned(), IDENT.as_bytes().to_vec());
}

const AUTO: &str = "\
# Written by ALTER SYSTEM. It is read after postgresql.conf, so what stands here counts.
";

const IDENT: &str = "\
# User name maps: which operating system user, or user proved by a certificate, may be which role.
#
# MAPNAME   SYSTEM-USERNAME   PG-USERNAME
#
# A line of pg_hba.conf names a map with map=MAPNAME. A SYSTEM-USERNAME that begins with a slash is a
# regular expression; \\1 in PG-USERNAME is then what its first parentheses matched.
";

/// A quoted value of the configuration file.
fn quoted(value: &str) -> String {
    format!("'{}'", value.replace('\\', "\\\\").replace('\'', "''"))
}

fn main_file(options: &InitOptions) -> String {
    let mut out = String::from(MAIN_HEAD);
    let mut set = |name: &str, value: &str| {
        let _ = writeln!(out, "{name} = {value}");
    };
    set("log_timezone", &quoted(&options.timezone));
    set("datestyle", "'iso, mdy'");
    set("timezone", &quoted(&options.timezone));
    set("lc_messages", &quoted(&options.lc_messages));
    set("lc_monetary", &quoted(&options.lc_monetary));
    set("lc_numeric", &quoted(&options.lc_numeric));
    set("lc_time", &quoted(&options.lc_time));
    set("default_text_search_config", &quoted(&options.text_search_config));
    if options.group_access {
        set("log_file_mode", "0640");
    }
    // Sizes of the log's disk space are multiples of its segments.
    let megabytes = options.wal_segment_size / (1024 * 1024);
    out.replace("{max_wal_size}", &size((64 * megabytes).max(1024)))
        .replace("{min_wal_size}", &size((5 * megabytes).max(80)))
}

fn size(megabytes: u32) -> String {
    match megabytes % 1024 {
        0 => format!("{}GB", megabytes / 1024),
        _ => format!("{megabytes}MB"),
    }
}

const MAIN_HEAD: &str = "\
# Server configuration.
#
# One setting a line: name = value. Quotes surround values with spaces or special characters. Sizes take
# the units B, kB, MB, GB, TB, times us, ms, s, min, h, d. After a change, `pg_ctl reload` or
# SELECT pg_reload_conf() is enough for most settings; those marked (restart) need a restart.
# What is not set here has its default: SHOW ALL tells.

# Connections
#listen_addresses = 'localhost'         # addresses to listen on, '*' for all (restart)
#port = 5432                            # (restart)
max_connections = 100                   # (restart)
#unix_socket_directories = '/tmp'       # (restart)
#password_encryption = scram-sha-256    # or md5
#ssl = off

# Memory
shared_buffers = 128MB                  # about a quarter of the machine's memory is good (restart)
#huge_pages = try                       # (restart)
#work_mem = 4MB                         # for one sort or hash table
#maintenance_work_mem = 64MB            # for VACUUM and CREATE INDEX
dynamic_shared_memory_type = posix      # (restart)

# Write-ahead log
#wal_level = replica                    # minimal, replica or logical (restart)
#fsync = on                             # off risks the data at a power failure
#synchronous_commit = on
#full_page_writes = on
#wal_compression = off                  # off, pglz, lz4 or zstd
#checkpoint_timeout = 5min
#checkpoint_completion_target = 0.9
max_wal_size = {max_wal_size}
min_wal_size = {min_wal_size}
#archive_mode = off                     # (restart)
#archive_command = ''

# Planner
#random_page_cost = 4.0
#effective_cache_size = 4GB

# Server log
#log_destination = 'stderr'
#logging_collector = off                # (restart)
#log_min_duration_statement = -1        # log statements that take this many milliseconds
#log_line_prefix = '%m [%p] '
#log_statement = 'none'

# Vacuum
#autovacuum = off                       # cannot be turned on

# Time, language, text search
";

fn hba(options: &InitOptions) -> String {
    let mut out = String::from(HBA_HEAD);
    let (local, host) = (&options.auth_local, &options.auth_host);
    if local == "trust" || host == "trust" {
        out.push_str(HBA_TRUST);
    }
    let _ = write!(
        out,
        "\n# TYPE  DATABASE        USER            ADDRESS                 METHOD\n\n\
         # through the socket in the file system\n\
         local   all             all                                     {local}\n\
         # from this machine by IPv4 and IPv6\n\
         host    all             all             127.0.0.1/32            {host}\n\
         host    all             all             ::1/128                 {host}\n\
         # replication connections from this machine\n\
         local   replication     all                                     {local}\n\
         host    replication     all             127.0.0.1/32            {host}\n\
         host    replication     all             ::1/128                 {host}\n"
    );
    out
}

const HBA_HEAD: &str = "\
# Who may connect, from where, and how they prove who they are. The first line that fits a connection
# decides; a connection that no line fits is refused. A reload makes changes count.
#
# local         DATABASE  USER           METHOD  [OPTIONS]
# host          DATABASE  USER  ADDRESS  METHOD  [OPTIONS]
# hostssl, hostnossl, hostgssenc, hostnogssenc: as host, for encrypted or plain connections only
#
# DATABASE: a name, a list with commas, all, sameuser, samerole, replication, or @file.
# USER: a name, a list with commas, all, +role for its members, or @file.
# ADDRESS: a host name, an address with the length of its mask, samehost, samenet or all.
# METHOD: trust, reject, scram-sha-256, md5, password, peer, ident, cert, ldap, radius, pam, gss …
";

const HBA_TRUST: &str = "
# \"trust\" lets every user of this machine connect as any role, the superuser included. Choose another
# method where others have accounts.
";
