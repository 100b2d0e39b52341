//! The arguments of `norsu start` and `postgres`, and their help.
//!
//! Counterpart: the option loops of postmaster.c and postgres.c, help_config.c.

use crate::failure::Failure;
use crate::options::{AcceptedOption, CommandLine, LONG_SETTING};
use pgerror::{PgError, SqlState};
use settings::{Kind, Registry};

pub(crate) const OPTIONS: [AcceptedOption; 28] = [
    ('D', "pgdata", true),
    ('p', "port", true),
    ('k', "socketdir", true),
    ('h', "listen", true),
    ('c', "set", true),
    ('C', "show", true),
    ('N', "connections", true),
    ('B', "buffers", true),
    ('F', "no-fsync", false),
    ('i', "tcpip", false),
    ('l', "ssl", false),
    ('d', "debug", true),
    ('S', "work-mem-kb", true),
    ('e', "european", false),
    ('s', "stats", false),
    ('f', "forbid", true),
    ('n', "no-reinitialize", false),
    ('O', "system-table-mods", false),
    ('P', "no-system-indexes", false),
    ('t', "timings", true),
    ('T', "stop-all", false),
    ('W', "wait-seconds", true),
    ('r', "redirect", true),
    ('E', "echo", false),
    ('j', "no-newline", false),
    ('V', "version", false),
    ('?', "help", false),
    (' ', "describe-config", false),
];

pub(super) const HELP: &str = "\
{command} runs a server in the foreground. Its log is on standard error.

Usage:
  {command} [OPTION]...

Options:
  -B NBUFFERS        number of shared buffers
  -c NAME=VALUE      set a parameter
  -C NAME            show the value of a parameter, then exit
  -d 1-5             messages for debugging
  -D DATADIR         data directory (default: the environment variable PGDATA)
  -e                 European order of dates (DMY)
  -F                 turn fsync off
  -h HOSTNAME        host name or IP address to listen on
  -i                 listen on all addresses
  -k DIRECTORY       directory of the Unix-domain socket
  -l                 enable TLS
  -N MAX-CONNECT     maximum number of connections
  -p PORT            port number to listen on
  -s                 log the resource usage of each statement
  -S WORK-MEM        memory for sorts, in kB
  -V, --version      show the version, then exit
  --NAME=VALUE       set a parameter
  --describe-config  list all parameters, then exit
  -?, --help         show this help, then exit

Developer options:
  -f s|i|o|b|t|n|m|h do not use a kind of plan: sequential, index, index-only, bitmap or TID scan,
                     nested loop, merge or hash join
  -n, -T             accepted, no effect: the server is one process
  -O                 system tables can be changed
  -P                 do not use indexes of system tables
  -t pa|pl|ex        log the resource usage of the parser, planner or executor
  -W NUM             wait NUM seconds at the start of each session

Single-user mode:
  --single           run one session without a server (must be the first argument)
  DBNAME             name of the database
  -d 0-5             messages for debugging
  -E                 show each statement before its execution
  -j                 a query ends with a semicolon and an empty line
  -r FILENAME        write standard output and standard error to a file

Modes of PostgreSQL that are refused, because init creates the catalogs:
  --boot, --check
";

/// A wrong argument.
pub(super) enum Wrong {
    /// Reported in the log.
    Setting(PgError),
    Argument(Failure),
}

/// Settings of options that have the value of the option.
const VALUES: [(&str, &str); 7] = [
    ("port", "port"),
    ("socketdir", "unix_socket_directories"),
    ("listen", "listen_addresses"),
    ("connections", "max_connections"),
    ("buffers", "shared_buffers"),
    ("work-mem-kb", "work_mem"),
    ("wait-seconds", "post_auth_delay"),
];

/// Settings of options without a value.
const SWITCHES: [(&str, &str, &str); 7] = [
    ("no-fsync", "fsync", "off"),
    ("ssl", "ssl", "on"),
    ("tcpip", "listen_addresses", "*"),
    ("european", "DateStyle", "euro"),
    ("stats", "log_statement_stats", "on"),
    ("system-table-mods", "allow_system_table_mods", "on"),
    ("no-system-indexes", "ignore_system_indexes", "on"),
];

/// Plan types of `-f`.
const PLAN_TYPES: [(&str, &str); 8] = [
    ("s", "enable_seqscan"),
    ("i", "enable_indexscan"),
    ("o", "enable_indexonlyscan"),
    ("b", "enable_bitmapscan"),
    ("t", "enable_tidscan"),
    ("n", "enable_nestloop"),
    ("m", "enable_mergejoin"),
    ("h", "enable_hashjoin"),
];

/// Statistics of `-t`.
const TIMINGS: [(&str, &str); 3] =
    [("pa", "log_parser_stats"), ("pl", "log_planner_stats"), ("ex", "log_executor_stats")];

/// The settings that the options stand for, in order.
pub(super) fn settings(given: &CommandLine) -> Result<Vec<(String, String)>, Wrong> {
    let mut found = Vec::new();
    let mut add = |name: &str, value: &str| found.push((name.to_owned(), value.to_owned()));
    for (option, value) in &given.options {
        if let Some((_, name)) = VALUES.iter().find(|(o, _)| o == option) {
            add(name, value);
        } else if let Some((_, name, value)) = SWITCHES.iter().find(|(o, ..)| o == option) {
            add(name, value);
        }
        match *option {
            "set" | LONG_SETTING => {
                let (name, value) = named(option, value)?;
                add(&name, value);
            }
            "forbid" => add(listed(&PLAN_TYPES, 'f', value)?, "off"),
            "timings" => add(listed(&TIMINGS, 't', value)?, "on"),
            "debug" => debug_settings(value).for_each(|(name, value)| add(name, &value)),
            _ => {}
        }
    }
    Ok(found)
}

/// Name and value of `-c NAME=VALUE` or `--NAME=VALUE`.
fn named<'a>(option: &str, text: &'a str) -> Result<(String, &'a str), Wrong> {
    let Some((name, value)) = text.split_once('=') else {
        let dashes = if option == LONG_SETTING { LONG_SETTING } else { "-c " };
        let message = format!("{dashes}{text} requires a value");
        return Err(Wrong::Setting(PgError::new(SqlState::SYNTAX_ERROR, message)));
    };
    Ok((name.trim().replace('-', "_"), value))
}

fn listed(list: &[(&str, &'static str)], option: char, value: &str) -> Result<&'static str, Wrong> {
    let found = list.iter().find(|(key, _)| *key == value);
    found.map(|(_, name)| *name).ok_or_else(|| {
        let message = format!("invalid argument for option -{option}: \"{value}\"");
        Wrong::Argument(Failure::new(message))
    })
}

/// The settings of a level of debugging. Counterpart: `set_debug_options`.
fn debug_settings(level: &str) -> impl Iterator<Item = (&'static str, String)> {
    let number = level.parse::<u32>().unwrap_or(0);
    let messages = if level == "0" { "notice".to_owned() } else { format!("debug{level}") };
    let more = [
        (1, "log_connections", "true"),
        (1, "log_disconnections", "true"),
        (2, "log_statement", "all"),
        (3, "debug_print_parse", "true"),
        (4, "debug_print_plan", "true"),
        (5, "debug_print_rewritten", "true"),
    ];
    let more = more.into_iter().filter(move |(least, ..)| number >= *least);
    std::iter::once(("log_min_messages", messages))
        .chain(more.map(|(_, name, value)| (name, value.to_owned())))
}

/// Prints the parameters: name, context, group, type, default, minimum, maximum and two empty
/// columns for descriptions, separated by tabs.
pub(super) fn describe(registry: &Registry) {
    for id in registry.ids() {
        let setting = registry.setting(id);
        let flags = setting.flags;
        if flags.no_show_all || flags.not_in_sample || flags.not_in_file {
            continue;
        }
        let boot = setting.plain(&setting.boot);
        let columns = match &setting.kind {
            Kind::Bool => ["BOOLEAN".to_owned(), boot.to_uppercase(), String::new(), String::new()],
            Kind::Int { min, max } => {
                ["INTEGER".to_owned(), boot, min.to_string(), max.to_string()]
            }
            Kind::Real { min, max } => ["REAL".to_owned(), boot, min.to_string(), max.to_string()],
            Kind::Text => ["STRING".to_owned(), boot, String::new(), String::new()],
            Kind::Enum { .. } => ["ENUM".to_owned(), boot, String::new(), String::new()],
        };
        let columns = columns.join("\t");
        println!(
            "{}\t{}\t{}\t{columns}\t\t",
            setting.name,
            setting.context.name(),
            setting.category
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::options::parse;

    fn chosen(args: &[&str]) -> Result<String, String> {
        let args: Vec<String> = args.iter().map(|a| (*a).to_owned()).collect();
        let given = parse(&args, &OPTIONS, true).map_err(|f| f.message)?;
        let found = settings(&given).map_err(|wrong| match wrong {
            Wrong::Setting(e) => e.message().to_owned(),
            Wrong::Argument(f) => f.message,
        })?;
        Ok(found.iter().map(|(n, v)| format!("{n}={v}")).collect::<Vec<_>>().join(" "))
    }

    #[test]
    fn options_stand_for_settings() {
        for (args, expected) in [
            (&["-p", "5433", "-F", "-c", "a-b=c"][..], "port=5433 fsync=off a_b=c"),
            (&["--work-mem=1MB", "-d0"], "work_mem=1MB log_min_messages=notice"),
            (&["-fs", "-ft", "-tpl"], "enable_seqscan=off enable_tidscan=off log_planner_stats=on"),
            (
                &["-d", "2"],
                "log_min_messages=debug2 log_connections=true log_disconnections=true \
                 log_statement=all",
            ),
        ] {
            assert_eq!(chosen(args), Ok(expected.to_owned()));
        }
        for (args, error) in [
            (&["--work-mem"][..], "--work-mem requires a value"),
            (&["-c", "work_mem"], "-c work_mem requires a value"),
            (&["-f", "x"], "invalid argument for option -f: \"x\""),
        ] {
            assert_eq!(chosen(args), Err(error.to_owned()));
        }
    }
}
