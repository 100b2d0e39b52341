//! The result of a command of the program that fails, and how it is printed.

/// How the program prints its errors. PostgreSQL's programs differ in this.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Style {
    /// `initdb: error: …`, with details and hints as lines of their own.
    Labelled,
    /// `pg_ctl: …`, without labels.
    Plain,
}

/// What is wrong with a command line.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Usage {
    No,
    /// The arguments contradict each other, or one is missing.
    Arguments,
    /// An unknown option, or one without its value: printed without a label.
    Option,
}

/// An error message and the exit status. The message is empty if it was already logged.
#[derive(Debug)]
pub(crate) struct Failure {
    pub(crate) message: String,
    pub(crate) status: u8,
    detail: Option<String>,
    hint: Option<String>,
    usage: Usage,
    /// The message names the program itself, or does not need its name.
    bare: bool,
}

impl Failure {
    pub(crate) fn new(message: impl Into<String>) -> Failure {
        Failure {
            message: message.into(),
            status: 1,
            detail: None,
            hint: None,
            usage: Usage::No,
            bare: false,
        }
    }

    /// Wrong arguments: the message is followed by a reference to `--help`.
    pub(crate) fn usage(message: impl Into<String>) -> Failure {
        Failure { usage: Usage::Arguments, ..Failure::new(message) }
    }

    /// An option that the program does not have, or that is used in a wrong way.
    pub(crate) fn option(message: impl Into<String>) -> Failure {
        Failure { usage: Usage::Option, ..Failure::new(message) }
    }

    /// A message that is printed without the name of the program.
    pub(crate) fn bare(message: impl Into<String>) -> Failure {
        Failure { bare: true, ..Failure::new(message) }
    }

    /// A failure whose message was already logged.
    pub(crate) fn logged() -> Failure {
        Failure::new("")
    }

    pub(crate) fn status(mut self, status: u8) -> Failure {
        self.status = status;
        self
    }

    pub(crate) fn detail(mut self, detail: impl Into<String>) -> Failure {
        self.detail = Some(detail.into());
        self
    }

    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Failure {
        self.hint = Some(hint.into());
        self
    }

    /// The lines for standard error. `name` is the name of the program, `command` the command for
    /// which `--help` prints the help.
    pub(crate) fn text(&self, style: Style, name: &str, command: &str) -> String {
        if self.message.is_empty() {
            return String::new();
        }
        let advice = (self.usage != Usage::No)
            .then(|| format!("Try \"{command} --help\" for more information."));
        let hint = self.hint.as_ref().or(advice.as_ref());
        let mut text = match (style, self.usage) {
            _ if self.bare => format!("{}\n", self.message),
            (Style::Labelled, Usage::No | Usage::Arguments) => {
                format!("{name}: error: {}\n", self.message)
            }
            _ => format!("{name}: {}\n", self.message),
        };
        match style {
            Style::Labelled => {
                let more = [("detail", self.detail.as_ref()), ("hint", hint)];
                for (label, line) in more {
                    if let Some(line) = line {
                        text.push_str(&format!("{name}: {label}: {line}\n"));
                    }
                }
            }
            Style::Plain => {
                for line in [self.detail.as_ref(), hint].into_iter().flatten() {
                    text.push_str(&format!("{line}\n"));
                }
            }
        }
        text
    }
}

impl From<pgerror::PgError> for Failure {
    fn from(e: pgerror::PgError) -> Failure {
        let mut failure = Failure::new(e.message());
        failure.detail.clone_from(&e.fields().detail);
        failure.hint.clone_from(&e.fields().hint);
        failure
    }
}

/// The exit status, or the reason of a failure.
pub(crate) type Outcome = Result<u8, Failure>;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_are_printed_as_by_the_programs_of_postgresql() {
        let shown = |failure: Failure, style| failure.text(style, "prog", "prog verb");
        let full = || Failure::new("wrong").detail("why").hint("do");
        let advice = "Try \"prog verb --help\" for more information.";
        for (failure, style, text) in [
            (full(), Style::Labelled, "prog: error: wrong\nprog: detail: why\nprog: hint: do\n"),
            (full(), Style::Plain, "prog: wrong\nwhy\ndo\n"),
            (Failure::bare("wrong"), Style::Plain, "wrong\n"),
            (Failure::logged(), Style::Labelled, ""),
            (
                Failure::usage("wrong"),
                Style::Labelled,
                &format!("prog: error: wrong\nprog: hint: {advice}\n"),
            ),
            (
                Failure::option("wrong"),
                Style::Labelled,
                &format!("prog: wrong\nprog: hint: {advice}\n"),
            ),
            (Failure::option("wrong"), Style::Plain, &format!("prog: wrong\n{advice}\n")),
        ] {
            assert_eq!(shown(failure, style), text);
        }
    }
}
