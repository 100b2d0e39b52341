//! The configuration files of a new cluster. The text is Norsu's own; the settings are those that
//! `initdb` sets.
//!
//! Counterpart: initdb.c (`setup_config`).

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
# Written by ALTER SYSTEM. It is read after postgresql.conf and overrides it.
";

const IDENT: &str = "\
# User name maps: which operating system user, or certificate user, may log in as which role.
#
# MAPNAME   SYSTEM-USERNAME   PG-USERNAME
#
# A line of pg_hba.conf names a map with map=MAPNAME. A SYSTEM-USERNAME that begins with a slash is
# a regular expression; \\1 in PG-USERNAME is replaced by the match of its first group.
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
    set("datestyle", &quoted(&format!("iso, {}", options.date_order)));
    set("timezone", &quoted(&options.timezone));
    set("lc_messages", &quoted(&options.lc_messages));
    set("lc_monetary", &quoted(&options.lc_monetary));
    set("lc_numeric", &quoted(&options.lc_numeric));
    set("lc_time", &quoted(&options.lc_time));
    set("default_text_search_config", &quoted(&options.text_search_config));
    if options.md5_passwords {
        set("password_encryption", "md5");
    }
    if options.group_access {
        set("log_file_mode", "0640");
    }
    // Like initdb, scale the WAL size limits with the segment size.
    let megabytes = options.wal_segment_size / (1024 * 1024);
    out.replace("{max_wal_size}", &size(64 * megabytes))
        .replace("{min_wal_size}", &size(5 * megabytes))
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
# One setting per line: name = value. Values with spaces or special characters are quoted. Units of
# sizes are B, kB, MB, GB, TB; units of times are us, ms, s, min, h, d. After a change,
# `pg_ctl reload` or SELECT pg_reload_conf() is enough for most settings; those marked (restart)
# need a restart.
# Settings that are not set here have their defaults; SHOW ALL lists all values.

# Connections
#listen_addresses = 'localhost'         # addresses to listen on, '*' for all (restart)
#port = 5432                            # (restart)
max_connections = 100                   # (restart)
#unix_socket_directories = '/tmp'       # (restart)
#password_encryption = scram-sha-256    # or md5
#ssl = off                              # encrypted connections, with these files:
#ssl_cert_file = 'server.crt'
#ssl_key_file = 'server.key'
#ssl_ca_file = ''                       # authorities of clients' certificates

# Memory
shared_buffers = 128MB                  # about a quarter of the machine's memory (restart)
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
         # Unix-domain socket connections\n\
         local   all             all                                     {local}\n\
         # IPv4 and IPv6 connections from this machine\n\
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
# Client authentication: which roles may connect, from where, and with which method. The first line
# that matches a connection applies; a connection that matches no line is rejected. Changes need a
# reload.
#
# local         DATABASE  USER           METHOD  [OPTIONS]
# host          DATABASE  USER  ADDRESS  METHOD  [OPTIONS]
# hostssl, hostnossl, hostgssenc, hostnogssenc: as host, only for encrypted or unencrypted ones
#
# DATABASE: a name, a comma-separated list, all, sameuser, samerole, replication, or @file.
# USER: a name, a comma-separated list, all, +role for its members, or @file.
# ADDRESS: a host name, an address with a prefix length, samehost, samenet or all.
# METHOD: trust, reject, scram-sha-256, md5, password, peer, ident, cert, ldap, radius, pam, gss …
";

const HBA_TRUST: &str = "
# \"trust\" lets every user of this machine connect as any role, including the superuser. Choose
# another method on machines with several user accounts.
";
