//! How the program was called: its name, its verb and the arguments.

use crate::failure::Outcome;
use std::path::{Path, PathBuf};

/// How the program was called.
pub(crate) struct Call<'a> {
    /// The name in messages: `initdb`, or `norsu`.
    pub(crate) name: &'a str,
    /// The command in usage texts: `initdb`, or `norsu init`.
    pub(crate) command: String,
    /// The verb, if it is not the name that tells what to do.
    pub(crate) verb: &'a str,
    pub(crate) args: &'a [String],
    /// The whole command line.
    pub(crate) all: &'a [String],
}

impl Call<'_> {
    /// True if called by the name of a program of PostgreSQL, whose defaults and refusals apply.
    pub(crate) fn is_by_name(&self) -> bool {
        self.verb.is_empty()
    }

    /// Prints a help text, in which `{command}` is the command.
    pub(crate) fn print_help(&self, text: &str) -> Outcome {
        print!("{}", text.replace("{command}", &self.command));
        Ok(0)
    }

    /// Prints the version as the program of PostgreSQL with this name does.
    pub(crate) fn print_version(&self, program: &str) -> Outcome {
        let name = if self.is_by_name() { program } else { self.name };
        println!("{name} (PostgreSQL) {}", crate::version::SERVER_VERSION);
        Ok(0)
    }

    /// A warning on standard error.
    pub(crate) fn warn(&self, message: &str, hint: &str) {
        eprintln!("{}: warning: {message}\n{}: hint: {hint}", self.name, self.name);
    }

    /// The path of the program with this name beside the one that was called, if there is one.
    pub(crate) fn sibling(&self, name: &str) -> Option<PathBuf> {
        let own = Path::new(self.all.first()?);
        let directory = if own.components().count() > 1 {
            std::path::absolute(own).ok()?.parent()?.to_owned()
        } else {
            let path = std::env::var_os("PATH")?;
            std::env::split_paths(&path).find(|directory| directory.join(own).is_file())?
        };
        let path = directory.join(name);
        path.is_file().then_some(path)
    }
}
