//! Expected values are those that PostgreSQL 15 shows for the same settings.

use crate::conf::{Files, parse_file};
use crate::hba::{self, AuthContext, ClientCheck, Method, Peer};
use crate::*;
use std::collections::HashMap;
use std::io;
use std::sync::Arc;

fn store() -> SessionValues {
    SessionValues::new(Arc::new(ServerValues::new(Arc::new(Registry::load()))))
}

#[test]
fn the_table_is_complete_and_consistent() {
    let registry = Registry::load();
    assert!(registry.len() >= 354, "{}", registry.len());
    let base = ServerValues::new(Arc::new(Registry::load()));
    for id in registry.ids() {
        let s = registry.setting(id);
        assert_eq!(registry.find(&s.name.to_ascii_uppercase()), Some(id), "{}", s.name);
        // The displayed value parses to the same value.
        let shown = s.show(&s.boot);
        assert_eq!(s.parse(&shown).unwrap(), s.boot, "{} = {shown}", s.name);
        assert_eq!(base.origin(id).source, Source::Default);
    }
}

#[test]
fn malformed_facts_are_rejected() {
    let good = "x\tinteger\tkB\tuser\t4\t0\t9\t\tEXPLAIN\tUngrouped";
    assert!(crate::registry::decode(good).is_some());
    for (wrong, instead) in [
        ("integer", "interger"),
        ("kB", "KB"),
        ("user", "usr"),
        ("\t4\t", "\tfour\t"),
        ("\t9\t", "\t\t"),
        ("\tUngrouped", ""),
    ] {
        let line: &'static str = Box::leak(good.replacen(wrong, instead, 1).into_boxed_str());
        assert!(crate::registry::decode(line).is_none(), "{line}");
    }
    for line in
        ["x\tenum\t\tuser\tc\t\t\ta,b\t\tUngrouped", "x\tbool\t\tuser\tyes\t\t\t\t\tUngrouped"]
    {
        assert!(crate::registry::decode(line).is_none(), "{line}");
    }
}

#[test]
fn values_are_shown_with_their_units() {
    let mut s = store();
    for (name, value, shown) in [
        ("work_mem", "4096", "4MB"),
        ("work_mem", "0.5GB", "512MB"),
        ("work_mem", "100", "100kB"),
        ("work_mem", " 2 MB ", "2MB"),
        ("work_mem", "0x1000", "4MB"),
        ("statement_timeout", "90s", "90s"),
        ("statement_timeout", "1d", "1d"),
        ("statement_timeout", "0", "0"),
        ("statement_timeout", "1500us", "2ms"),
        ("temp_buffers", "16MB", "16MB"),
        ("random_page_cost", "1.1", "1.1"),
        ("random_page_cost", "1e10", "1e+10"),
        ("vacuum_cost_delay", "1.5", "1500us"),
        ("enable_seqscan", "of", "off"),
        ("enable_seqscan", "YES", "on"),
        ("synchronous_commit", "TRUE", "on"),
        ("synchronous_commit", "Local", "local"),
        ("wal_compression", "on", "pglz"),
        ("wal_compression", "YES", "pglz"),
        ("client_min_messages", "info", "info"),
        ("client_min_messages", "debug", "debug2"),
        ("norsu.bottom_up_deletion", "0", "off"),
    ] {
        s.set(name, Some(value), Action::Set, 0, true).unwrap();
        assert_eq!(s.show(name).unwrap(), shown, "{name} = {value}");
    }
    assert_eq!(s.show("unix_socket_permissions").unwrap(), "0777");
    assert_eq!(s.show("archive_command").unwrap(), "(disabled)");
    assert_eq!(s.show("shared_buffers").unwrap(), "128MB");
}

#[test]
fn errors_for_bad_values_match_postgresql() {
    let mut s = store();
    for (name, value, message, hint) in [
        (
            "work_mem",
            "1",
            "1 kB is outside the valid range for parameter \"work_mem\" (64 .. 2147483647)",
            None,
        ),
        ("work_mem", "abc", "invalid value for parameter \"work_mem\": \"abc\"", None),
        (
            "work_mem",
            "1 foo",
            "invalid value for parameter \"work_mem\": \"1 foo\"",
            Some("Valid units for this parameter are \"B\", \"kB\", \"MB\", \"GB\", and \"TB\"."),
        ),
        (
            "work_mem",
            "99999999999999",
            "invalid value for parameter \"work_mem\": \"99999999999999\"",
            Some("Value exceeds integer range."),
        ),
        (
            "seq_page_cost",
            "-1",
            "-1 is outside the valid range for parameter \"seq_page_cost\" (0 .. 1.79769e+308)",
            None,
        ),
        (
            "synchronous_commit",
            "bar",
            "invalid value for parameter \"synchronous_commit\": \"bar\"",
            Some("Available values: local, remote_write, remote_apply, on, off."),
        ),
        ("enable_seqscan", "bar", "parameter \"enable_seqscan\" requires a Boolean value", None),
        ("foo", "bar", "unrecognized configuration parameter \"foo\"", None),
        (
            "shared_buffers",
            "3",
            "parameter \"shared_buffers\" cannot be changed without restarting the server",
            None,
        ),
        (
            "log_connections",
            "on",
            "parameter \"log_connections\" cannot be set after connection start",
            None,
        ),
        ("block_size", "3", "parameter \"block_size\" cannot be changed", None),
        (
            "checkpoint_timeout",
            "1h",
            "parameter \"checkpoint_timeout\" cannot be changed now",
            None,
        ),
    ] {
        let e = s.set(name, Some(value), Action::Set, 0, true).unwrap_err();
        assert_eq!((e.message(), e.fields().hint.as_deref()), (message, hint));
    }
}

#[test]
fn rollback_restores_and_commit_keeps_values() {
    let mut s = store();
    let set = |s: &mut SessionValues, v: &str, a, level| {
        s.set("work_mem", Some(v), a, level, true).unwrap()
    };
    set(&mut s, "1MB", Action::Set, 0);
    set(&mut s, "2MB", Action::Set, 1);
    set(&mut s, "3MB", Action::Local, 1);
    assert_eq!(s.show("work_mem").unwrap(), "3MB");
    set(&mut s, "4MB", Action::Set, 2);
    s.rollback(2);
    assert_eq!(s.show("work_mem").unwrap(), "3MB");
    s.commit();
    assert_eq!(s.show("work_mem").unwrap(), "2MB");
    set(&mut s, "5MB", Action::Set, 1);
    set(&mut s, "6MB", Action::Local, 2);
    s.release(2);
    assert_eq!(s.show("work_mem").unwrap(), "6MB");
    s.rollback(1);
    assert_eq!(s.show("work_mem").unwrap(), "2MB");
    s.set("work_mem", None, Action::Set, 0, true).unwrap();
    assert_eq!(s.show("work_mem").unwrap(), "4MB");
    s.set("my.own", Some("x"), Action::Set, 0, false).unwrap();
    assert_eq!(s.show("my.own").unwrap(), "x");
}

struct Fake(HashMap<&'static str, &'static str>);

impl Files for Fake {
    fn read(&self, path: &str) -> io::Result<Vec<u8>> {
        let found = self.0.get(path).map(|t| t.as_bytes().to_vec());
        found.ok_or_else(|| io::Error::from_raw_os_error(2))
    }

    fn list(&self, path: &str) -> io::Result<Vec<String>> {
        let names = self.0.keys().filter_map(|k| k.strip_prefix(path)?.strip_prefix('/'));
        Ok(names.map(str::to_owned).collect())
    }
}

#[test]
fn files_with_includes_quotes_and_errors() {
    let files = Fake(HashMap::from([
        (
            "/d/postgresql.conf",
            "# comment\nwork_mem = 8MB # more\nport 5433\nlog_line_prefix = '%t ''x'' \\n'\n\
             include 'other.conf'\ninclude_if_exists none.conf\ninclude_dir 'conf.d'\nbad line \
             here\n=\nx =\n\
             checkpoint_segments = 10\n",
        ),
        ("/d/other.conf", "work_mem = '16MB'\nfoo = bar\n"),
        ("/d/conf.d/b.conf", "port = 7\n"),
        ("/d/conf.d/a.conf", "port = 6\n"),
        ("/d/conf.d/c.txt", "port = 8\n"),
    ]));
    let parsed = parse_file(&files, "/d/postgresql.conf");
    let errors: Vec<_> = parsed.errors.iter().map(|e| e.message()).collect();
    assert_eq!(
        errors,
        [
            "skipping missing configuration file \"/d/none.conf\"",
            "syntax error in file \"/d/postgresql.conf\" line 8, near token \"here\"",
            "syntax error in file \"/d/postgresql.conf\" line 9, near token \"=\"",
            "syntax error in file \"/d/postgresql.conf\" line 10, near end of line",
        ]
    );
    let mut base = ServerValues::new(Arc::new(Registry::load()));
    let errors = base.apply_file(&parsed.entries);
    assert_eq!(
        errors[0].1.message(),
        "unrecognized configuration parameter \"foo\" in file \"/d/other.conf\" line 2"
    );
    assert_eq!(errors.len(), 1);
    assert_eq!((base.int("work_mem"), base.int("port")), (16384, 7));
    assert_eq!(base.int("max_wal_size"), 480);
    assert_eq!(base.text("log_line_prefix"), "%t 'x' \n");
    base.set("port", "9", Source::CommandLine).unwrap();
    base.apply_file(&parsed.entries);
    assert_eq!(base.int("port"), 9);
}

struct NoRoles;

impl AuthContext for NoRoles {
    fn is_member(&mut self, user: &str, group: &str) -> bool {
        user == "ann" && group == "staff"
    }

    fn is_own_address(&mut self, _: std::net::IpAddr) -> bool {
        false
    }

    fn is_own_network(&mut self, address: std::net::IpAddr) -> bool {
        address.to_string().starts_with("10.")
    }
}

#[test]
fn first_matching_rule_applies() {
    let text = "local all all trust\n\
        host db1,\"all\" \"b b\" 10.0.0.0/8 md5 # no\n\
        host all +staff 192.168.1.0 255.255.255.0 scram-sha-256\n\
        hostssl sameuser all all reject\n\
        host replication all ::1/128 trust\n";
    let rules = hba::parse("hba", text, &|_| None).unwrap();
    let find = |address: Option<&str>, db: &str, user: &str, replication: bool| {
        let peer = Peer { address: address.map(|a| a.parse().unwrap()), encrypted: false };
        rules.find(peer, db, user, replication, &mut NoRoles).map(|r| r.method)
    };
    assert_eq!(find(None, "x", "y", false), Some(Method::Trust));
    assert_eq!(find(Some("10.1.2.3"), "db1", "b b", false), Some(Method::Md5));
    assert_eq!(find(Some("10.1.2.3"), "all", "b b", false), Some(Method::Md5));
    assert_eq!(find(Some("10.1.2.3"), "db2", "b b", false), None);
    assert_eq!(find(Some("192.168.1.7"), "db2", "ann", false), Some(Method::ScramSha256));
    assert_eq!(find(Some("192.168.1.7"), "db2", "bob", false), None);
    assert_eq!(find(Some("::1"), "db2", "bob", true), Some(Method::Trust));
    assert_eq!(find(Some("::1"), "replication", "bob", false), None);
    let errors = hba::parse("hba", "locl all all trust\nhost all all\n", &|_| None).unwrap_err();
    assert_eq!(errors[0].message(), "invalid connection type \"locl\"");
    assert_eq!(errors[1].message(), "end-of-line before IP address specification");
}

#[test]
fn rules_about_certificates_of_clients() {
    let rule = |line: &str| {
        let parsed = hba::parse("hba", line, &|_| None);
        parsed.map(|rules| rules.rules[0].clone()).map_err(|e| e[0].message().to_owned())
    };
    for (line, check, complete) in [
        ("hostssl all all all trust", ClientCheck::None, false),
        ("hostssl all all all md5 clientcert=verify-ca", ClientCheck::Authority, false),
        ("hostssl all all all md5 clientcert=verify-full", ClientCheck::Full, false),
        ("hostssl all all all cert clientname=DN map=m", ClientCheck::Full, true),
        ("hostssl all all all cert clientcert=verify-full clientname=CN", ClientCheck::Full, false),
    ] {
        let rule = rule(line).unwrap();
        assert_eq!(rule.client_check(), check, "{line}");
        assert_eq!(rule.compares_distinguished_name(), complete, "{line}");
    }
    for (line, message) in [
        ("host all all all cert", "cert authentication is only supported on hostssl connections"),
        (
            "host all all all trust clientcert=verify-ca",
            "clientcert can only be configured for \"hostssl\" rows",
        ),
        (
            "host all all all trust clientname=DN",
            "clientname can only be configured for \"hostssl\" rows",
        ),
        (
            "hostssl all all all cert clientcert=verify-ca",
            "clientcert only accepts \"verify-full\" when using \"cert\" authentication",
        ),
        ("hostssl all all all md5 clientcert=1", "invalid value for clientcert: \"1\""),
        ("hostssl all all all md5 clientname=cn", "invalid value for clientname: \"cn\""),
    ] {
        assert_eq!(rule(line).unwrap_err(), message, "{line}");
    }
    let both = "host all all all trust\nhostssl all all all trust\n";
    let rules = hba::parse("hba", both, &|_| None).unwrap();
    let reports: Vec<_> = rules.without_ssl("hba").collect();
    assert_eq!(reports.len(), 1);
    assert_eq!(reports[0].fields().context, ["line 2 of configuration file \"hba\""]);
}
