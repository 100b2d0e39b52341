//! Command-line parsing in the style of getopt_long.

use crate::failure::Failure;

/// An accepted option: letter (or a space), long name, whether it takes a value.
pub(crate) type AcceptedOption = (char, &'static str, bool);

/// Name of the options that are settings with `--`, with the value `NAME=VALUE`.
pub(crate) const LONG_SETTING: &str = "--";

/// The parsed command line: options by long name with values, and the other arguments.
#[derive(Debug, Default)]
pub(crate) struct CommandLine {
    pub(crate) options: Vec<(&'static str, String)>,
    pub(crate) rest: Vec<String>,
}

impl CommandLine {
    /// The last value given for the option.
    pub(crate) fn value(&self, name: &str) -> Option<&str> {
        self.options.iter().rev().find(|(n, _)| *n == name).map(|(_, v)| v.as_str())
    }

    /// All values given for the option, in order.
    pub(crate) fn values<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a str> {
        self.options.iter().filter(move |(n, _)| *n == name).map(|(_, v)| v.as_str())
    }

    pub(crate) fn has(&self, name: &str) -> bool {
        self.value(name).is_some()
    }
}

/// The option with this long name, or the only one whose name begins so, unless `exact`.
fn find_long<'a>(
    known: &'a [AcceptedOption],
    name: &str,
    exact: bool,
) -> Result<Option<&'a AcceptedOption>, Failure> {
    if let Some(found) = known.iter().find(|k| k.1 == name && !name.is_empty()) {
        return Ok(Some(found));
    }
    let abbreviated = |k: &&AcceptedOption| !exact && !name.is_empty() && k.1.starts_with(name);
    let found: Vec<&AcceptedOption> = known.iter().filter(abbreviated).collect();
    match found[..] {
        [] => Ok(None),
        [one] => Ok(Some(one)),
        _ => {
            let names: Vec<String> = found.iter().map(|k| format!(" '--{}'", k.1)).collect();
            Err(Failure::option(format!(
                "option '--{name}' is ambiguous; possibilities:{}",
                names.concat()
            )))
        }
    }
}

/// Parses the arguments. With `free`, unknown long options are settings (`--work-mem=1MB`),
/// returned under the name [`LONG_SETTING`].
pub(crate) fn parse(
    args: &[String],
    known: &[AcceptedOption],
    free: bool,
) -> Result<CommandLine, Failure> {
    let mut given = CommandLine::default();
    let mut args = args.iter();
    while let Some(arg) = args.next() {
        if arg == "--" {
            given.rest.extend(args.by_ref().cloned());
        } else if let Some(long) = arg.strip_prefix("--") {
            let (name, value) = match long.split_once('=') {
                Some((name, value)) => (name, Some(value.to_owned())),
                None => (long, None),
            };
            let Some(option) = find_long(known, name, free)? else {
                if free {
                    given.options.push((LONG_SETTING, long.to_owned()));
                    continue;
                }
                return Err(Failure::option(format!("unrecognized option '--{name}'")));
            };
            let value = match (option.2, value) {
                (true, None) => args.next().cloned().ok_or_else(|| {
                    Failure::option(format!("option '--{name}' requires an argument"))
                })?,
                (false, Some(_)) => {
                    return Err(Failure::option(format!(
                        "option '--{name}' doesn't allow an argument"
                    )));
                }
                (_, value) => value.unwrap_or_default(),
            };
            given.options.push((option.1, value));
        } else if let Some(letters) = arg.strip_prefix('-').filter(|l| !l.is_empty()) {
            let mut letters = letters.chars();
            while let Some(letter) = letters.next() {
                let Some(option) = known.iter().find(|k| k.0 == letter) else {
                    return Err(Failure::option(format!("invalid option -- '{letter}'")));
                };
                if !option.2 {
                    given.options.push((option.1, String::new()));
                    continue;
                }
                let attached = letters.as_str().to_owned();
                let value = if attached.is_empty() { args.next().cloned() } else { Some(attached) };
                let value = value.ok_or_else(|| {
                    Failure::option(format!("option requires an argument -- '{letter}'"))
                })?;
                given.options.push((option.1, value));
                break;
            }
        } else {
            given.rest.push(arg.clone());
        }
    }
    Ok(given)
}

/// The data directory as an absolute path, from the option or from the environment.
pub(crate) fn data_directory(given: Option<&str>) -> Result<Option<String>, Failure> {
    let named = given.map(str::to_owned).or_else(|| std::env::var("PGDATA").ok());
    named.filter(|d| !d.is_empty()).map(|named| absolute(&named)).transpose()
}

/// The path made absolute, without `.` and trailing slashes.
pub(crate) fn absolute(path: &str) -> Result<String, Failure> {
    let path = std::path::absolute(path)
        .map_err(|e| Failure::new(format!("could not determine current directory: {e}")))?;
    let path = path.components().collect::<std::path::PathBuf>();
    path.into_os_string().into_string().map_err(|_| Failure::new("directory name is not UTF-8"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::failure::Style;

    const KNOWN: [AcceptedOption; 4] =
        [('D', "pgdata", true), ('W', "pwprompt", false), (' ', "pwfile", true), ('s', "s", false)];

    fn parsed(args: &[&str], free: bool) -> Result<Vec<(&'static str, String)>, String> {
        let args: Vec<String> = args.iter().map(|a| (*a).to_owned()).collect();
        let given = parse(&args, &KNOWN, free).map_err(|f| f.text(Style::Plain, "p", "p"))?;
        let rest = given.rest.into_iter().map(|value| ("rest", value));
        Ok(given.options.into_iter().chain(rest).collect())
    }

    #[test]
    fn options_are_taken_in_every_form() {
        let expected = |list: &[(&'static str, &str)]| {
            Ok(list.iter().map(|(n, v)| (*n, (*v).to_owned())).collect::<Vec<_>>())
        };
        for (args, list) in [
            (&["-Dx", "y"][..], &[("pgdata", "x"), ("rest", "y")][..]),
            (&["-WsD", "x"], &[("pwprompt", ""), ("s", ""), ("pgdata", "x")]),
            (&["--pgdata", "x", "--pgd=y"], &[("pgdata", "x"), ("pgdata", "y")]),
            (&["--", "-D"], &[("rest", "-D")]),
        ] {
            assert_eq!(parsed(args, false), expected(list), "{args:?}");
        }
        let list = expected(&[("--", "work-mem=1MB"), ("--", "pgd"), ("pgdata", "x")]);
        assert_eq!(parsed(&["--work-mem=1MB", "--pgd", "--pgdata=x"], true), list);
    }

    #[test]
    fn wrong_options_are_named() {
        for (args, error) in [
            (&["--other"][..], "unrecognized option '--other'"),
            (&["-Q"], "invalid option -- 'Q'"),
            (&["-WD"], "option requires an argument -- 'D'"),
            (&["--pgdata"], "option '--pgdata' requires an argument"),
            (&["--pwprompt=x"], "option '--pwprompt' doesn't allow an argument"),
            (&["--pw"], "option '--pw' is ambiguous; possibilities: '--pwprompt' '--pwfile'"),
        ] {
            let error = format!("p: {error}\nTry \"p --help\" for more information.\n");
            assert_eq!(parsed(args, false), Err(error));
        }
    }
}
