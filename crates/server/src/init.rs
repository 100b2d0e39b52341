//! `norsu init` and `initdb`: parses initdb's options and calls `catalog::bootstrap`.
//!
//! Under the name `initdb` the defaults are those of PostgreSQL 15: no checksums, and SQL_ASCII for
//! the locale C. `norsu init` chooses checksums and UTF8.
//!
//! Counterpart: initdb.c.

mod authentication;
mod directory;
mod locale;

use crate::call::Call;
use crate::failure::{Failure, Outcome, Style};
use crate::options::{self, AcceptedOption, CommandLine};
use crate::user;
use catalog::bootstrap::{InitOptions, init};
use std::io::Write;
use vfs::{Env, process};

const OPTIONS: [AcceptedOption; 36] = [
    ('D', "pgdata", true),
    ('U', "username", true),
    ('A', "auth", true),
    (' ', "auth-local", true),
    (' ', "auth-host", true),
    ('E', "encoding", true),
    (' ', "locale", true),
    (' ', "lc-collate", true),
    (' ', "lc-ctype", true),
    (' ', "lc-monetary", true),
    (' ', "lc-numeric", true),
    (' ', "lc-time", true),
    (' ', "lc-messages", true),
    (' ', "no-locale", false),
    (' ', "locale-provider", true),
    (' ', "icu-locale", true),
    ('k', "data-checksums", false),
    (' ', "no-data-checksums", false),
    (' ', "wal-segsize", true),
    ('X', "waldir", true),
    ('N', "no-sync", false),
    (' ', "sync", false),
    ('S', "sync-only", false),
    ('W', "pwprompt", false),
    (' ', "pwfile", true),
    ('g', "allow-group-access", false),
    ('T', "text-search-config", true),
    ('n', "no-clean", false),
    (' ', "no-instructions", false),
    ('d', "debug", false),
    ('s', "show", false),
    ('L', "directory", true),
    (' ', "discard-caches", false),
    ('V', "version", false),
    ('?', "help", false),
    ('h', "usage", false),
];

const HELP: &str = "\
{command} creates a data directory for databases.

Usage:
  {command} [OPTION]... [DATADIR]

Options:
  -A, --auth=METHOD         authentication method of local connections (default: trust)
      --auth-host=METHOD    the method of TCP/IP connections from this machine
      --auth-local=METHOD   the method of connections through the Unix-domain socket
 [-D, --pgdata=]DATADIR     the data directory
  -E, --encoding=ENCODING   encoding of new databases (default: that of the locale)
  -g, --allow-group-access  the owner's group may read the data directory
      --icu-locale=LOCALE   ICU locale of new databases
  -k, --data-checksums      checksums of data pages (the default of \"norsu init\")
      --no-data-checksums   no checksums (the default of \"initdb\")
      --locale=LOCALE       locale of new databases (default: that of the environment)
      --lc-collate=, --lc-ctype=, --lc-messages=LOCALE
      --lc-monetary=, --lc-numeric=, --lc-time=LOCALE
                            locale of new databases, for one category
      --no-locale           the same as --locale=C
      --locale-provider={libc|icu}
                            locale provider of new databases
      --pwfile=FILE         read the superuser's password from a file
  -T, --text-search-config=CFG
                            default text search configuration
  -U, --username=NAME       name of the superuser (default: the operating system user)
  -W, --pwprompt            ask for the superuser's password
  -X, --waldir=WALDIR       directory of the write-ahead log
      --wal-segsize=SIZE    size of WAL segments in megabytes (default: 16)

Less common options:
  -d, --debug               accepted, no effect
      --discard-caches      accepted, no effect
  -L DIRECTORY              accepted, no effect: there are no input files
  -n, --no-clean            keep the files after an error
  -N, --no-sync             do not flush the files to disk
      --no-instructions     do not print how to start a server
  -s, --show                show what would be used, then exit
  -S, --sync-only           only flush the files of a data directory to disk

Other options:
  -V, --version             show the version, then exit
  -?, --help                show this help, then exit

The environment variable PGDATA names the directory if no option does. In databases with the locale
C and no --encoding, \"initdb\" chooses SQL_ASCII as PostgreSQL does, \"norsu init\" UTF8.
";

/// The time zone of this machine.
pub(crate) fn time_zone() -> String {
    let known = |name: &str| types::zone::Zone::named(name).is_some();
    if let Ok(tz) = std::env::var("TZ")
        && known(&tz)
    {
        return tz;
    }
    let link = std::fs::read_link("/etc/localtime").ok();
    let name = link.as_ref().and_then(|p| p.to_str()?.split_once("zoneinfo/").map(|(_, n)| n));
    name.filter(|n| known(n)).unwrap_or("Etc/UTC").to_owned()
}

/// Runs `norsu init` or `initdb`.
pub(crate) fn run(call: &Call<'_>) -> Outcome {
    run_with(call, call.args, false)
}

/// As [`run`], with other arguments. With `silent`, only errors and warnings are printed.
pub(crate) fn run_with(call: &Call<'_>, args: &[String], silent: bool) -> Outcome {
    let given = options::parse(args, &OPTIONS, false)?;
    if given.has("help") || given.has("usage") {
        return call.print_help(HELP);
    }
    if given.has("version") {
        return call.print_version("initdb");
    }
    if let Some(extra) = given.rest.get(usize::from(!given.has("pgdata"))) {
        return Err(Failure::usage(format!(
            "too many command-line arguments (first is \"{extra}\")"
        )));
    }
    let named = given.value("pgdata").or(given.rest.first().map(String::as_str));
    if given.has("sync-only") {
        let directory = data_directory(named)?;
        announce(silent, "syncing data to disk ... ");
        directory::sync(&directory)?;
        announce(silent, "ok\n");
        return Ok(0);
    }
    let methods = authentication::methods(&given)?;
    let segment_size = segment_size(&given)?;
    let is_icu = locale::is_icu(&given)?;
    let directory = data_directory(named)?;
    user::leave_root(call, &directory)?;
    let owner = user::own_name();
    announce(
        silent,
        &format!("The owner of the files and of the server process is the user \"{owner}\".\n\n"),
    );
    if given.has("show") {
        return show(&given, &directory);
    }
    let chosen = locale::choose(call, &given, is_icu)?;
    let wanted = init_options(call, &given, (methods, segment_size, chosen), silent)?;
    let password = match wanted.password {
        Some(_) => wanted.password.clone(),
        None => authentication::password(&given, &wanted.user, wanted.md5_passwords)?,
    };
    let wanted = InitOptions { password, ..wanted };
    process::set_umask(wanted.group_access);
    create(call, (&given, silent), &directory, &wanted)?;
    let trusted = wanted.auth_local == "trust" || wanted.auth_host == "trust";
    if trusted && authentication::are_default(&given) {
        call.warn(
            "local connections need no password (authentication method \"trust\")",
            "Edit pg_hba.conf, or use the option -A, or --auth-local and --auth-host.",
        );
    }
    if !given.has("no-instructions") {
        announce(silent, &instructions(call, &directory));
    }
    Ok(0)
}

/// Prints and flushes a text without a line terminator.
fn announce(silent: bool, text: &str) {
    if !silent {
        print!("{text}");
        // A write error cannot be reported anywhere.
        let _ = std::io::stdout().flush();
    }
}

fn data_directory(named: Option<&str>) -> Result<String, Failure> {
    options::data_directory(named)?.ok_or_else(|| {
        Failure::new("no data directory specified").hint(
            "You must identify the directory where the data for this database system will reside.  \
             Do this with either the invocation option -D or the environment variable PGDATA.",
        )
    })
}

/// How a server is started on the new directory.
fn instructions(call: &Call<'_>, directory: &str) -> String {
    let quoted = shell_quoted(directory);
    let command = match call.is_by_name() {
        true => {
            let program = call.sibling("pg_ctl");
            let program = program.map_or("pg_ctl".into(), |p| p.to_string_lossy().into_owned());
            format!("{} -D {quoted} -l logfile start", shell_quoted(&program))
        }
        false => format!("norsu start -D {quoted}"),
    };
    format!("\nSuccess. A server on this data directory is started with:\n\n    {command}\n\n")
}

/// The text as a word of a shell command.
fn shell_quoted(text: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || "/._-+:@%,=".contains(c);
    match !text.is_empty() && text.chars().all(plain) {
        true => text.to_owned(),
        false => format!("'{}'", text.replace('\'', "'\\''")),
    }
}

/// `--show`.
fn show(given: &CommandLine, directory: &str) -> Outcome {
    let program = std::fs::read_link("/proc/self/exe").unwrap_or_default();
    let programs = program.parent().unwrap_or(&program).display();
    let user = given.value("username").map_or_else(user::own_name, str::to_owned);
    eprintln!(
        "VERSION={}\nPGDATA={directory}\nPGPATH={programs}\nPOSTGRES_SUPERUSERNAME={user}",
        crate::version::SERVER_VERSION
    );
    Ok(0)
}

fn segment_size(given: &CommandLine) -> Result<u32, Failure> {
    let Some(size) = given.value("wal-segsize") else {
        return Ok(wal::layout::DEFAULT_SEGMENT_SIZE);
    };
    let megabytes: i64 = size
        .trim_start()
        .parse()
        .map_err(|_| Failure::new("argument of --wal-segsize must be a number"))?;
    let bytes = u32::try_from(megabytes).ok().and_then(|m| m.checked_mul(1 << 20));
    bytes.filter(|b| wal::layout::valid_segment_size(*b)).ok_or_else(|| {
        Failure::new("argument of --wal-segsize must be a power of 2 between 1 and 1024")
    })
}

/// Creates the directory. Removes what was made after an error, unless `--no-clean` is given.
fn create(
    call: &Call<'_>,
    (given, silent): (&CommandLine, bool),
    directory: &str,
    wanted: &InitOptions,
) -> Result<(), Failure> {
    let advice = format!(
        "If you want to create a new database system, either remove or empty the directory \
         \"{directory}\" or run initdb with an argument other than \"{directory}\"."
    );
    let mut made = vec![("data directory", directory, directory::check(directory, advice)?)];
    announce(silent, &format!("creating data directory {directory} ... "));
    directory::make(directory)?;
    let mut rest = || {
        if let Some(wal) = &wanted.wal_dir {
            if !wal.starts_with('/') {
                return Err(Failure::new("WAL directory location must be an absolute path"));
            }
            let advice = format!(
                "If you want to store the WAL there, either remove or empty the directory \
                 \"{wal}\"."
            );
            made.push(("WAL directory", wal, directory::check(wal, advice)?));
        }
        init(&Env::os(directory), wanted).map_err(Failure::from)
    };
    let done = rest();
    announce(silent, if done.is_ok() { "ok\n" } else { "failed\n" });
    done.map_err(|failure| {
        eprint!("{}", failure.text(Style::Labelled, call.name, &call.command));
        for (what, path, existed) in made {
            if given.has("no-clean") {
                eprintln!("{}: {what} \"{path}\" not removed at user's request", call.name);
                continue;
            }
            let contents = if existed { "contents of " } else { "" };
            eprintln!("{}: removing {contents}{what} \"{path}\"", call.name);
            directory::remove(path, existed);
        }
        Failure::logged()
    })
}

fn init_options(
    call: &Call<'_>,
    given: &CommandLine,
    (methods, wal_segment_size, chosen): (authentication::Methods, u32, locale::Locales),
    silent: bool,
) -> Result<InitOptions, Failure> {
    let text = |name: &str| given.value(name).map(str::to_owned);
    let user = text("username").unwrap_or_else(user::own_name);
    if user.starts_with("pg_") {
        return Err(Failure::new(format!(
            "superuser name \"{user}\" is disallowed; role names cannot begin with \"pg_\""
        )));
    }
    let encoding = locale::encoding(call, given, &chosen)?;
    let search_config = locale::search_configuration(&chosen.lc_ctype);
    let text_search_config = text("text-search-config").unwrap_or(search_config.to_owned());
    if text_search_config != search_config {
        eprintln!(
            "{}: warning: specified text search configuration \"{text_search_config}\" might not \
             match locale \"{}\"",
            call.name, chosen.lc_ctype
        );
    }
    let checksums = match given.options.iter().rev().find(|(n, _)| n.ends_with("data-checksums")) {
        Some((name, _)) => *name == "data-checksums",
        None => !call.is_by_name(),
    };
    announce(
        silent,
        &format!(
            "databases: encoding {}, {}, text search configuration \"{text_search_config}\"\n\
         data page checksums: {}\n\n",
            catalog::encoding::name(encoding),
            chosen.description(),
            if checksums { "on" } else { "off" },
        ),
    );
    Ok(InitOptions {
        user,
        password: None,
        encoding,
        date_order: locale::date_order(&chosen.lc_time),
        lc_collate: chosen.lc_collate,
        lc_ctype: chosen.lc_ctype,
        icu_locale: chosen.icu,
        lc_messages: chosen.lc_messages,
        lc_monetary: chosen.lc_monetary,
        lc_numeric: chosen.lc_numeric,
        lc_time: chosen.lc_time,
        checksums,
        wal_segment_size,
        wal_dir: text("waldir"),
        md5_passwords: methods.use_md5(),
        auth_local: methods.local,
        auth_host: methods.host,
        timezone: time_zone(),
        text_search_config: match text_search_config.contains('.') {
            true => text_search_config,
            false => format!("pg_catalog.{text_search_config}"),
        },
        group_access: given.has("allow-group-access"),
        sync: !given.has("no-sync"),
        collations: catalog::collations::of_this_machine(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_quoted_for_the_shell_where_necessary() {
        for (text, quoted) in
            [("/a/b-c.1", "/a/b-c.1"), ("a b", "'a b'"), ("it's", "'it'\\''s'"), ("", "''")]
        {
            assert_eq!(shell_quoted(text), quoted);
        }
    }
}
