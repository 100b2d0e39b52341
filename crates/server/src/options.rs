//! Command-line parsing in the style of getopt_long.

use crate::failure::Failure;

/// An accepted option: letter (or a space), long name, whether it takes a value.
pub(crate) type AcceptedOption = (char, &'static str, bool);

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

    pub(crate) fn has(&self, name: &str) -> bool {
        self.value(name).is_some()
    }
}

/// Parses the arguments. With `free`, unknown long options are settings (`--work-mem=1MB`),
/// returned under the name "set".
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
            let Some(option) = known.iter().find(|k| k.1 == name && !name.is_empty()) else {
                if free && value.is_some() {
                    let setting =
                        long.split_once('=').map(|(n, v)| format!("{}={v}", n.replace('-', "_")));
                    given.options.push(("set", setting.unwrap_or_default()));
                    continue;
                }
                return Err(Failure::new(format!("unrecognized option '--{name}'")));
            };
            let value = match (option.2, value) {
                (true, None) => args.next().cloned().ok_or_else(|| {
                    Failure::new(format!("option '--{name}' requires an argument"))
                })?,
                (false, Some(_)) => {
                    return Err(Failure::new(format!(
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
                    return Err(Failure::new(format!("invalid option -- '{letter}'")));
                };
                if !option.2 {
                    given.options.push((option.1, String::new()));
                    continue;
                }
                let attached = letters.as_str().to_owned();
                let value = if attached.is_empty() { args.next().cloned() } else { Some(attached) };
                let value = value.ok_or_else(|| {
                    Failure::new(format!("option requires an argument -- '{letter}'"))
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
pub(crate) fn data_directory(given: Option<&str>) -> Result<String, Failure> {
    let named = given.map(str::to_owned).or_else(|| std::env::var("PGDATA").ok());
    let named = named.filter(|d| !d.is_empty()).ok_or_else(|| {
        Failure::new(
            "no data directory specified: give it with -D or in the environment variable PGDATA",
        )
    })?;
    absolute(&named)
}

/// The path made absolute, without `.` and trailing slashes.
pub(crate) fn absolute(path: &str) -> Result<String, Failure> {
    let path = std::path::absolute(path)
        .map_err(|e| Failure::new(format!("could not determine current directory: {e}")))?;
    let path = path.components().collect::<std::path::PathBuf>();
    path.into_os_string().into_string().map_err(|_| Failure::new("directory name is not UTF-8"))
}
