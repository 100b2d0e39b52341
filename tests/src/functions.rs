//! Differential test of functions: every function of `pg_proc` that a client may call is called
//! with edge values of its arguments. The result, or SQLSTATE and message, must be equal on both
//! servers.
//!
//! The combinations of values use each value of each argument at least once; `NORSU_TEST_LONG=1`
//! runs more combinations. `NORSU_FUNCTION=name` runs one function only and prints its calls.
//! `SKIPPED` lists functions that are not called, `KNOWN` the known differences with their reasons.

use crate::corpus::new_pair;
use std::collections::BTreeMap;
use testkit::client::{Client, Reply};

/// Types and their edge values; NULL is added except for pseudo-types.
const VALUES: &[(&str, &[&str])] = &[
    ("bool", &["true", "false"]),
    ("int2", &["0", "1", "'-1'", "32767", "'-32768'", "7"]),
    ("int4", &["0", "1", "'-1'", "2147483647", "'-2147483648'", "7", "100"]),
    ("int8", &["0", "1", "'-1'", "9223372036854775807", "'-9223372036854775808'", "7"]),
    (
        "float4",
        &["0", "'-0'", "1.5", "'-1'", "'NaN'", "'Infinity'", "'-Infinity'", "3.4e38", "1e-45"],
    ),
    (
        "float8",
        &["0", "'-0'", "2.5", "'-1'", "'NaN'", "'Infinity'", "'-Infinity'", "1.7e308", "5e-324"],
    ),
    (
        "numeric",
        &[
            "0",
            "1",
            "'-1.5'",
            "'NaN'",
            "'Infinity'",
            "'-Infinity'",
            "1e-1000",
            "9e1000",
            "'1e131071'",
            "'1e-2001'",
            "'1e-16383'",
            "123456789012345678901234567890.123456789",
        ],
    ),
    (
        "text",
        &["''", "'a'", "'abc'", "'-1'", "'äöü€𝄞'", "repeat('xy',500)", "'%s'", "'{1,2}'", "' '"],
    ),
    ("varchar", &["''", "'abc'", "'äöü€𝄞'"]),
    ("bpchar", &["''", "'abc  '", "'äöü€𝄞'"]),
    ("name", &["''", "'abc'", "'pg_class'", "'äöü€𝄞'"]),
    ("\"char\"", &["''", "'a'"]),
    ("bytea", &["''", "'abc'", "'\\x00ff80'", "decode(repeat('ab',300),'hex')"]),
    ("cstring", &["''", "'abc'", "'1'", "'{1,2}'", "'9223372036854775808x'"]),
    (
        "date",
        &[
            "'2000-01-01'",
            "'infinity'",
            "'-infinity'",
            "'4714-11-24 BC'",
            "'5874897-12-31'",
            "'2024-02-29'",
        ],
    ),
    ("time", &["'00:00'", "'24:00'", "'12:34:56.789'"]),
    ("timetz", &["'00:00+00'", "'24:00-15:59'", "'12:34:56.789+05:30'"]),
    (
        "timestamp",
        &[
            "'2000-01-01'",
            "'infinity'",
            "'-infinity'",
            "'4714-11-24 00:00 BC'",
            "'294276-12-31 23:59:59.999999'",
            "'2024-02-29 12:34:56.789'",
        ],
    ),
    (
        "timestamptz",
        &[
            "'2000-01-01'",
            "'infinity'",
            "'-infinity'",
            "'4714-11-24 00:00+00 BC'",
            "'294276-12-31 23:59:59.999999+00'",
            "'2024-03-10 02:30 America/New_York'",
        ],
    ),
    (
        "interval",
        &[
            "'0'",
            "'1 day'",
            "'-178000000 years'",
            "'178000000 years -9223372036854775808 microseconds'",
            "'1 mon -1 day 00:00:01'",
            "'2147483647 days'",
            "'2562047788:00:54.775807'",
        ],
    ),
    ("oid", &["0", "1", "1259", "4294967295"]),
    ("xid", &["'0'", "'3'", "'4294967295'"]),
    ("xid8", &["'0'", "'3'", "'18446744073709551615'"]),
    ("cid", &["'0'", "'4294967295'"]),
    ("tid", &["'(0,0)'", "'(4294967295,65535)'"]),
    ("pg_lsn", &["'0/0'", "'FFFFFFFF/FFFFFFFF'", "'0/16AE7F8'"]),
    ("uuid", &["'00000000-0000-0000-0000-000000000000'", "'ffffffff-ffff-ffff-ffff-ffffffffffff'"]),
    ("bit varying", &["''", "'1'", "'010111110'", "repeat('10',50)"]),
    (
        "inet",
        &[
            "'0.0.0.0/0'",
            "'::/0'",
            "'192.168.1.5/24'",
            "'::4.3.2.1'",
            "'ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff'",
            "'255.255.255.255'",
        ],
    ),
    ("cidr", &["'0.0.0.0/0'", "'192.168.1.0/24'", "'::/0'"]),
    ("macaddr", &["'08:00:2b:01:02:03'", "'ff:ff:ff:ff:ff:ff'", "'00:00:00:00:00:00'"]),
    ("macaddr8", &["'08:00:2b:ff:fe:02:03:04'", "'ff:ff:ff:ff:ff:ff:ff:ff'", "'0000000000000001'"]),
    ("point", &["'(0,0)'", "'(-10,3.5)'", "'(1e-300,-1e-300)'", "'(1e300,Infinity)'", "'(NaN,1)'"]),
    (
        "lseg",
        &[
            "'[(0,0),(6,6)]'",
            "'[(1,1),(1,1)]'",
            "'[(-10,2),(-10,3)]'",
            "'[(0,3.5),(30,3.5)]'",
            "'[(NaN,1),(NaN,90)]'",
            "'[(1e300,0),(-1e300,1)]'",
        ],
    ),
    (
        "line",
        &["'{0,-1,5}'", "'{1,0,5}'", "'{2,-2,0}'", "'{3,NaN,5}'", "'{1e300,1e-300,Infinity}'"],
    ),
    (
        "box",
        &[
            "'(2,2),(0,0)'",
            "'(3,3),(1,1)'",
            "'(5,5),(5,5)'",
            "'(NaN,1),(2,3)'",
            "'(1e300,1e300),(-1e300,-1e300)'",
        ],
    ),
    (
        "path",
        &[
            "'[(0,0),(3,0),(4,5)]'",
            "'((0,0),(3,0),(4,5))'",
            "'((1,1))'",
            "'[(1,1)]'",
            "'((NaN,1),(2,2),(1e300,0))'",
        ],
    ),
    (
        "polygon",
        &[
            "'((0,0),(6,0),(6,6),(0,6))'",
            "'((1,1),(2,1),(2,2))'",
            "'((1,1))'",
            "'((NaN,1),(2,2),(3,1e300))'",
        ],
    ),
    ("circle", &["'<(0,0),5>'", "'<(1,2),0>'", "'<(1,2),NaN>'", "'<(1e300,0),1e300>'"]),
    ("int4range", &["'empty'", "'[1,5)'", "'(,)'", "'[2147483646,)'", "'(,-2147483647)'"]),
    ("int8range", &["'empty'", "'[1,5)'", "'(,)'", "'[9223372036854775806,)'"]),
    ("numrange", &["'empty'", "'[1.5,5]'", "'(,NaN]'", "'(-Infinity,Infinity)'"]),
    ("daterange", &["'empty'", "'[2000-01-01,infinity]'", "'(-infinity,2024-02-29]'"]),
    ("tsrange", &["'empty'", "'[2000-01-01,infinity]'", "'(,2024-02-29 12:00)'"]),
    ("tstzrange", &["'empty'", "'[2000-01-01,infinity]'", "'(,2024-02-29 12:00)'"]),
    ("int4multirange", &["'{}'", "'{[1,5),[7,9)}'", "'{(,)}'", "'{(,0),[2147483646,)}'"]),
    ("int8multirange", &["'{}'", "'{[1,5),[7,9)}'", "'{(,)}'"]),
    ("nummultirange", &["'{}'", "'{[1.5,5],(7,NaN]}'", "'{(,)}'"]),
    ("datemultirange", &["'{}'", "'{[2000-01-01,2001-01-01],(2024-02-29,infinity]}'"]),
    ("tsmultirange", &["'{}'", "'{[2000-01-01,2001-01-01],(2024-02-29,infinity]}'"]),
    ("tstzmultirange", &["'{}'", "'{[2000-01-01,2001-01-01],(2024-02-29,infinity]}'"]),
    (
        "json",
        &[
            "'null'",
            "'{}'",
            "'[]'",
            r#"'{"a":[1,{"b":null}],"c":"x"}'"#,
            r#"'[1,"2",true]'"#,
            "'1e400'",
            "repeat('[',300)||repeat(']',300)",
        ],
    ),
    (
        "jsonb",
        &[
            "'null'",
            "'{}'",
            "'[]'",
            r#"'{"a":[1,{"b":null}],"c":"x"}'"#,
            r#"'[1,"2",true]'"#,
            "'-0.10'",
        ],
    ),
    (
        "jsonpath",
        &[
            "'$'",
            "'strict $.a'",
            "'$[*] ? (@ > 1)'",
            "'$.a == 1'",
            "'$v + \"x\".double()'",
            "'1 / 0'",
        ],
    ),
    ("int2vector", &["'1 2 3'", "''"]),
    ("oidvector", &["'1 2 3'", "''"]),
    ("aclitem", &["'postgres=arwdDxt/postgres'", "'=r/postgres'"]),
    ("regclass", &["'pg_class'", "0"]),
    ("regtype", &["'int4'", "0"]),
    ("regproc", &["'now'"]),
    ("regprocedure", &["'now()'"]),
    ("regnamespace", &["'pg_catalog'"]),
    ("regrole", &["'postgres'"]),
    ("regcollation", &["'\"C\"'"]),
    ("regoper", &["'!~~*'"]),
    ("regoperator", &["'+(int4,int4)'"]),
    ("pg_snapshot", &["'10:20:10,14,15'"]),
    ("txid_snapshot", &["'10:20:10,14,15'"]),
];

/// Values of pseudo-types, as SQL expressions.
const POLYMORPHIC: &[(&str, &[&str])] = &[
    (
        "anyelement",
        &[
            "1::int4",
            "'a'::text",
            "1.5::numeric",
            "'NaN'::float8",
            "'2000-01-01'::date",
            "null::int4",
        ],
    ),
    ("anynonarray", &["1::int4", "'a'::text", "null::text"]),
    (
        "anyarray",
        &[
            "array[1,2,null]",
            "'{}'::int4[]",
            "'[-2:-1][3:4]={{1,2},{3,4}}'::int4[]",
            r#"array['a','',null,'ä"\']"#,
            "array[1.5,'NaN'::numeric]",
            "'[2147483646:2147483646]={7}'::int4[]",
            "null::int4[]",
        ],
    ),
    ("anycompatible", &["1::int4", "1.5", "'a'::text", "null::int4"]),
    ("anycompatiblearray", &["array[1,2,null]", "'{}'::int4[]", "array['a',null]", "null::int4[]"]),
    ("anycompatiblenonarray", &["1::int4", "1.5"]),
    (
        "anyrange",
        &[
            "'[1,5)'::int4range",
            "'empty'::int4range",
            "'(,3]'::int4range",
            "'[7,)'::int4range",
            "'[1,2)'::numrange",
            "null::int4range",
        ],
    ),
    (
        "anymultirange",
        &[
            "'{[1,5),[7,9)}'::int4multirange",
            "'{}'::int4multirange",
            "'{(,3],[20,)}'::int4multirange",
            "'{[1,2)}'::nummultirange",
            "null::int4multirange",
        ],
    ),
    ("anycompatiblerange", &["'[1,5)'::int4range", "'empty'::numrange"]),
    ("anycompatiblemultirange", &["'{[1,5)}'::int4multirange", "'{}'::nummultirange"]),
    ("\"any\"", &["1::int4", "'a'::text", "null::text", "array[1,2]", "1.5", "row(1,'a'::text)"]),
    ("record", &["row(1,'a'::text,null::int4)", "row()", "row(1.50,'NaN'::float8)"]),
];

/// Functions that are not called, by name or prefix (`…`), with the reason.
const SKIPPED: &[(&str, &str)] = &[
    ("pg_sleep…", "waits"),
    ("pg_stat_…", "tells of the server's work, which is not the same"),
    ("pg_ls_…", "tells of files"),
    ("pg_read_…", "reads files"),
    ("pg_control_…", "tells of the cluster"),
    ("pg_current_…", "tells of the log and of transactions"),
    ("pg_last_…", "tells of recovery"),
    ("pg_show_all_…", "lists settings with their descriptions"),
    ("pg_available_…", "lists extensions"),
    ("pg_timezone_…", "lists the machine's time zones in its order"),
    ("pg_get_backend_memory_contexts", "tells of memory"),
    ("pg_get_shmem_allocations", "tells of memory"),
    ("pg_log_backend_memory_contexts", "writes to the log"),
    ("pg_config", "tells how the program was built"),
    ("pg_hba_file_rules", "tells of lines of a file"),
    ("pg_ident_file_mappings", "tells of lines of a file"),
    ("pg_jit_available", "there is no compiler"),
    ("pg_lock_status", "tells of sessions"),
    ("pg_backend_pid", "a number of the process"),
    ("pg_isolation_test_session_is_blocked", "tells of sessions"),
    ("pg_blocking_pids", "tells of sessions"),
    ("pg_safe_snapshot_blocking_pids", "tells of sessions"),
    ("pg_my_temp_schema", "a number of the session"),
    ("pg_export_snapshot", "a name of the session"),
    ("pg_notification_queue_usage", "tells of sessions"),
    ("pg_postmaster_start_time", "a time"),
    ("pg_conf_load_time", "a time"),
    ("pg_reload_conf", "acts on the server"),
    ("pg_rotate_logfile…", "acts on the server"),
    ("pg_promote", "acts on the server"),
    ("pg_switch_wal", "acts on the server"),
    ("pg_backup_…", "acts on the server"),
    ("pg_create_…", "acts on the server"),
    ("pg_copy_…", "replication"),
    ("pg_drop_…", "replication"),
    ("pg_logical_…", "replication"),
    ("pg_replication_…", "replication"),
    ("pg_wal_replay_…", "acts on the server"),
    ("pg_terminate_backend", "acts on sessions"),
    ("pg_cancel_backend", "acts on sessions"),
    ("pg_extension_config_dump", "only in scripts of extensions"),
    ("binary_upgrade_…", "only in upgrades"),
    ("pg_relation_size", "sizes of catalogs are not the same"),
    ("pg_table_size", "sizes of catalogs are not the same"),
    ("pg_total_relation_size", "sizes of catalogs are not the same"),
    ("pg_indexes_size", "sizes of catalogs are not the same"),
    ("pg_database_size", "sizes of catalogs are not the same"),
    ("pg_tablespace_size", "sizes of catalogs are not the same"),
    ("pg_filenode_relation", "numbers of files are not the same"),
    ("pg_relation_filenode", "numbers of files are not the same"),
    ("pg_relation_filepath", "numbers of files are not the same"),
    ("pg_import_system_collations", "writes catalogs"),
    ("pg_nextoid", "writes catalogs"),
    ("lo_…", "acts on large objects"),
    ("lo…", "acts on large objects"),
    ("be_lo_…", "acts on large objects"),
    ("random", "chance"),
    ("gen_random_uuid", "chance"),
    ("setseed", "chance"),
    ("clock_timestamp", "a time"),
    ("now", "a time"),
    ("timeofday", "a time"),
    ("statement_timestamp", "a time"),
    ("transaction_timestamp", "a time"),
    ("version", "the program's name"),
    ("txid_…", "tells of transactions"),
    ("age", "of xid: tells of transactions"),
    ("mxid_age", "tells of transactions"),
    ("inet_client_port", "tells of the connection"),
    ("set_config", "changes settings that later calls depend on"),
    ("currtid…", "numbers of rows of catalogs are not the same"),
    ("plpgsql_…", "handlers of a language"),
    (
        "aclcontains",
        "an array without elements is no list of rights to PostgreSQL when it is written out",
    ),
    (
        "aclexplode",
        "an array without elements is no list of rights to PostgreSQL when it is written out",
    ),
    ("query_to_xml…", "xml"),
    ("table_to_xml…", "xml"),
    ("schema_to_xml…", "xml"),
    ("database_to_xml…", "xml"),
    ("cursor_to_xml…", "xml"),
    ("ts_…", "text search"),
];

/// Functions for which some results differ, with the reason.
const KNOWN: &[(&str, &str)] = &[
    ("cbrt", "the last digit is that of the mathematical library"),
    ("dcbrt", "the last digit is that of the mathematical library"),
    ("time", "of an interval below the least: PostgreSQL makes a time beyond 24:00"),
    ("age", "with infinity: PostgreSQL counts from a number that means none"),
    ("bpchar", "of a \"char\" that is 0: PostgreSQL makes a string of one byte 0"),
    ("overlaps", "of times whose sum wraps"),
    ("enum_in", "of a type that is none: an internal error of PostgreSQL"),
    ("hash_record_extended", "names the other kind of hash function"),
    ("range_intersect_agg_transfn", "not called by an aggregate: an internal error of PostgreSQL"),
    (
        "multirange_intersect_agg_transfn",
        "not called by an aggregate: an internal error of PostgreSQL",
    ),
    ("int4_avg_combine", "an internal error in both, of other words"),
    ("pg_get_object_address", "kinds of objects that are not there"),
    ("pg_collation_actual_version", "of no collation: NULL instead of an error"),
    ("pg_database_collation_actual_version", "of no database: NULL instead of an error"),
    ("has_sequence_privilege", "the sequence is looked for before the privilege is read"),
    ("has_parameter_privilege", "the role is looked for before the privilege is read"),
    ("has_type_privilege", "what is no type's name is refused in other words"),
    ("to_regtype", "what is no type's name is refused in other words"),
    ("regtypein", "what is no type's name is refused in other words"),
    ("regoperin", "an empty name is refused in other words"),
    ("to_regoper", "an empty name: NULL instead of an error"),
    ("makeaclitem", "a list of privileges is shown in part"),
    ("internal_in", "refused in other words"),
    ("record_in", "of a type that is none: an internal error instead of a user's"),
    ("btvarstrequalimage", "asks for no collation"),
    ("pg_tablespace_location", "of no tablespace: names another call of the system"),
    ("pg_xact_status", "of transactions in the future: the servers have not run the same"),
    ("pg_xact_commit_timestamp", "refused before the transaction is looked at"),
    ("pg_xact_commit_timestamp_origin", "refused before the transaction is looked at"),
    ("pg_options_to_table", "of an array with NULL: a row instead of an error"),
    ("pg_column_is_updatable", "of a column beyond all: an internal error of PostgreSQL"),
    ("interval_accum", "of an array with NULL: an internal error instead of a user's"),
    ("interval_accum_inv", "of an array with NULL: an internal error instead of a user's"),
    ("interval_combine", "of an array with NULL: an internal error instead of a user's"),
    ("interval_avg", "of an array with NULL: an internal error instead of a user's"),
    ("date_in", "of digits followed by a letter: the other of two faults is named"),
    ("time_in", "of digits followed by a letter: the other of two faults is named"),
    ("timetz_in", "of digits followed by a letter: the other of two faults is named"),
    ("timestamp_in", "of digits followed by a letter: the other of two faults is named"),
    ("timestamptz_in", "of digits followed by a letter: the other of two faults is named"),
];

pub(crate) fn is_skipped(name: &str) -> bool {
    SKIPPED.iter().any(|(entry, _)| match entry.strip_suffix('…') {
        Some(start) => name.starts_with(start),
        None => name == *entry,
    })
}

/// The argument expressions of a type; `None` if the type is not listed.
pub(crate) fn values(ty: &str) -> Option<Vec<String>> {
    if let Some((_, values)) = POLYMORPHIC.iter().find(|(t, _)| *t == ty) {
        return Some(values.iter().map(|v| (*v).to_owned()).collect());
    }
    let of = |ty: &str| VALUES.iter().find(|(t, _)| *t == ty).map(|(_, v)| *v);
    if let Some(element) = ty.strip_suffix("[]") {
        let elements = of(element)?;
        if element == "cstring" {
            return Some(["'{}'", "'{1,2}'", "null"].map(|v| format!("{v}::cstring[]")).to_vec());
        }
        let some = elements.iter().take(3).copied().collect::<Vec<_>>().join(",");
        return Some(
            [
                "'{}'".to_owned(),
                format!("array[{some}]"),
                format!("array[null,{}]", elements[0]),
                "null".into(),
            ]
            .map(|v| format!("({v})::{ty}"))
            .to_vec(),
        );
    }
    // A constant of type bit would need a length.
    let ty = if ty == "bit" { "bit varying" } else { ty };
    let all = of(ty)?.iter().copied().chain(["null"]);
    Some(all.map(|v| format!("({v})::{ty}")).collect())
}

pub(crate) struct Function {
    pub(crate) name: String,
    pub(crate) args: Vec<String>,
    result: String,
    /// The last argument is a variadic array.
    variadic: bool,
}

/// The functions that a client may call, of which the condition is true.
pub(crate) fn functions(client: &mut Client, condition: &str) -> Vec<Function> {
    let sql = format!(
        "SELECT proname, coalesce((SELECT string_agg(format_type(t, NULL), '|' ORDER BY n) \
         FROM unnest(proargtypes) WITH ORDINALITY a(t, n)), ''), format_type(prorettype, NULL), \
         provariadic NOT IN (0, 2276) FROM pg_proc WHERE prokind = 'f' AND {condition} ORDER BY oid"
    );
    let reply = client.must(&sql);
    let rows = reply.answers.into_iter().next().expect("an answer").rows;
    let short = |ty: &str| {
        match ty {
            "boolean" => "bool",
            "smallint" => "int2",
            "integer" => "int4",
            "bigint" => "int8",
            "real" => "float4",
            "double precision" => "float8",
            "character varying" => "varchar",
            "character" => "bpchar",
            "time without time zone" => "time",
            "time with time zone" => "timetz",
            "timestamp without time zone" => "timestamp",
            "timestamp with time zone" => "timestamptz",
            other => other,
        }
        .to_owned()
    };
    let named = |ty: &str| match ty.strip_suffix("[]") {
        Some(element) => format!("{}[]", short(element)),
        None => short(ty),
    };
    rows.into_iter()
        .map(|row| {
            let mut cells = row.into_iter().map(Option::unwrap_or_default);
            let mut next = || cells.next().unwrap_or_default();
            let (name, args, result, variadic) = (next(), next(), next(), next());
            let args = args.split('|').filter(|a| !a.is_empty()).map(named).collect();
            Function { name, args, result, variadic: variadic == "t" }
        })
        .collect()
}

/// A call that returns at most thirty rows.
pub(crate) fn statement(f: &Function, args: &[&String]) -> String {
    let last = args.len().saturating_sub(1);
    let written = args.iter().enumerate().map(|(i, a)| {
        let variadic = if f.variadic && i == last { "VARIADIC " } else { "" };
        format!("{variadic}{a}")
    });
    let args = written.collect::<Vec<_>>().join(", ");
    let cast = if matches!(f.result.as_str(), "void" | "cstring") { "" } else { "::text" };
    format!("SELECT \"{}\"({args}){cast} LIMIT 30", f.name)
}

/// The calls of a function: each value of each argument at least once, in `rounds` different
/// combinations.
fn calls(f: &Function, rounds: usize) -> Option<Vec<String>> {
    let pools = f.args.iter().map(|a| values(a)).collect::<Option<Vec<_>>>()?;
    let longest = pools.iter().map(Vec::len).max().unwrap_or(1);
    let mut out = Vec::new();
    for round in 0..rounds {
        for k in 0..longest {
            // The indexes of the arguments advance at different rates.
            let pick = |(i, pool): (usize, &Vec<String>)| {
                (k + (i + 1) * (round * 5 + 1) * (k / pool.len() + i) + round * 3 * i) % pool.len()
            };
            let args: Vec<&String> =
                pools.iter().enumerate().map(|(i, pool)| &pool[pick((i, pool))]).collect();
            out.push(statement(f, &args));
        }
    }
    out.sort();
    out.dedup();
    Some(out)
}

/// The compared result: rows, or the error's code and message.
type Outcome = Result<Vec<Option<String>>, (String, String)>;

fn outcome(f: &Function, reply: &Reply) -> Outcome {
    if let Some(e) = &reply.error {
        return Err((e.code.clone(), e.message.clone()));
    }
    let rows = reply.answers.last().map_or(&[][..], |a| &a.rows);
    let cells = rows.iter().flatten().cloned();
    // Only the sign of the result of a comparison is specified; PostgreSQL's values depend on the C
    // library.
    let compares = f.name.contains("cmp") || f.name == "gin_compare_jsonb";
    if f.result == "integer" && compares {
        let sign = |c: String| c.parse::<i64>().map_or(c, |n| n.signum().to_string());
        return Ok(cells.map(|c| c.map(sign)).collect());
    }
    Ok(cells.collect())
}

/// True if the answers are equal, as far as PostgreSQL's can be known: it may take longer than the
/// time limit, and messages may end within a multi-byte character.
fn agree(have: &Outcome, want: &Outcome) -> bool {
    let Err((code, message)) = want else { return have == want };
    match message.split_once('\u{fffd}') {
        Some((start, _)) => matches!(have, Err((c, m)) if c == code && m.starts_with(start)),
        None => have == want || code == "57014",
    }
}

/// Sets the settings that affect results.
fn prepared(mut client: Client) -> Client {
    client.must(
        "SET statement_timeout = '20s'; SET TimeZone = 'America/New_York'; \
         SET extra_float_digits = 1",
    );
    client
}

#[test]
fn functions_have_the_results_of_postgres() {
    let pair = new_pair();
    let our_session = || prepared(pair.ours.connect("postgres"));
    let (mut ours, mut real) = (our_session(), prepared(pair.real.connect("postgres")));
    let long = std::env::var_os("NORSU_TEST_LONG").is_some();
    let only = std::env::var("NORSU_FUNCTION").ok();
    let (mut count, mut missing) = (0, BTreeMap::<String, usize>::new());
    let mut differ: Vec<String> = Vec::new();
    for f in functions(&mut real, "pronamespace = 'pg_catalog'::regnamespace") {
        if only.as_ref().is_some_and(|o| *o != f.name) || is_skipped(&f.name) {
            continue;
        }
        let known = KNOWN.iter().any(|(name, _)| *name == f.name);
        for sql in calls(&f, if long { 12 } else { 1 }).unwrap_or_default() {
            count += 1;
            let want = real.query(&sql).unwrap_or_else(|e| panic!("PostgreSQL: {sql}: {e}"));
            let have = match ours.query(&sql) {
                Ok(have) => have,
                Err(e) => {
                    differ.push(format!("{sql}\n    the connection ended: {e}"));
                    ours = our_session();
                    continue;
                }
            };
            let (want, have) = (outcome(&f, &want), outcome(&f, &have));
            if only.is_some() {
                println!("{sql}\n    {have:?}");
            }
            match &have {
                Err((code, message))
                    if code == "0A000" && message.ends_with("is not supported") =>
                {
                    *missing.entry(message.clone()).or_default() += 1;
                }
                have if !known && !agree(have, &want) => {
                    differ.push(format!("{sql}\n    want {want:?}\n    have {have:?}"));
                }
                _ => {}
            }
        }
    }
    for (message, n) in &missing {
        println!("missing in {n} calls: {message}");
    }
    println!("{count} calls");
    let log = pair.ours.log();
    assert!(differ.is_empty(), "{} differ:\n{}", differ.len(), differ.join("\n"));
    assert!(!log.contains("panicked"), "{log}");
    assert!(only.is_some() || count > 10_000, "{count} calls");
}
