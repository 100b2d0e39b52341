//! The result of a command of the program that fails.

/// An error message and the exit status. The message is empty if it was already logged.
pub(crate) struct Failure {
    pub(crate) message: String,
    pub(crate) status: u8,
}

impl Failure {
    pub(crate) fn new(message: impl Into<String>) -> Failure {
        Failure { message: message.into(), status: 1 }
    }

    /// A failure whose message was already logged.
    pub(crate) fn logged() -> Failure {
        Failure::new("")
    }
}

impl From<pgerror::PgError> for Failure {
    fn from(e: pgerror::PgError) -> Failure {
        let mut message = e.message().to_owned();
        for more in [&e.fields().detail, &e.fields().hint].into_iter().flatten() {
            message.push_str(&format!(" ({more})"));
        }
        Failure::new(message)
    }
}

pub(crate) type Outcome = Result<u8, Failure>;
