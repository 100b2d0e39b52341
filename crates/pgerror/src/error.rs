//! The error value. Counterpart: `ErrorData` in utils/elog.h.

use crate::SqlState;
use std::fmt;

pub type Result<T, E = PgError> = std::result::Result<T, E>;

/// Severity of a report, in ascending order.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Severity {
    /// Sent with `client_min_messages = debug2` or a more detailed level.
    Debug2,
    /// `debug1`.
    Debug,
    Log,
    Info,
    Notice,
    Warning,
    /// The statement fails, the transaction is aborted.
    Error,
    /// The session ends.
    Fatal,
    /// The server goes down to recovery.
    Panic,
}

impl Severity {
    /// The word in the protocol and in the log.
    pub const fn as_str(self) -> &'static str {
        match self {
            Severity::Debug | Severity::Debug2 => "DEBUG",
            Severity::Log => "LOG",
            Severity::Info => "INFO",
            Severity::Notice => "NOTICE",
            Severity::Warning => "WARNING",
            Severity::Error => "ERROR",
            Severity::Fatal => "FATAL",
            Severity::Panic => "PANIC",
        }
    }
}

/// Names of the objects that an error concerns, for clients that react to them.
#[derive(Clone, Default, Debug, PartialEq, Eq)]
pub struct ObjectNames {
    pub schema: Option<String>,
    pub table: Option<String>,
    pub column: Option<String>,
    pub data_type: Option<String>,
    pub constraint: Option<String>,
}

/// The fields of a report.
#[derive(Clone, Debug)]
pub struct Fields {
    pub severity: Severity,
    pub code: SqlState,
    pub message: String,
    pub detail: Option<String>,
    pub hint: Option<String>,
    /// The context of the error, innermost first, one line each.
    pub context: Vec<String>,
    /// Cursor position in the query text: 1-based, in characters.
    pub position: Option<u32>,
    /// Position in `internal_query`: 1-based, in characters.
    pub internal_position: Option<u32>,
    pub internal_query: Option<String>,
    pub names: ObjectNames,
}

/// One pointer wide, so that `Result<T>` stays small.
#[derive(Clone)]
pub struct PgError(Box<Fields>);

impl PgError {
    /// An error of severity ERROR.
    #[cold]
    pub fn new(code: SqlState, message: impl Into<String>) -> PgError {
        PgError(Box::new(Fields {
            severity: Severity::Error,
            code,
            message: message.into(),
            detail: None,
            hint: None,
            context: Vec::new(),
            position: None,
            internal_position: None,
            internal_query: None,
            names: ObjectNames::default(),
        }))
    }

    /// The error for a feature of PostgreSQL that Norsu does not support: 0A000 with the name of
    /// the feature.
    #[cold]
    pub fn unsupported(feature: impl fmt::Display) -> PgError {
        PgError::new(SqlState::FEATURE_NOT_SUPPORTED, format!("{feature} is not supported"))
    }

    /// The error for a violated invariant that does not endanger shared state: XX000.
    #[cold]
    pub fn internal(message: impl Into<String>) -> PgError {
        PgError::new(SqlState::INTERNAL_ERROR, message)
    }

    #[must_use]
    pub fn severity(mut self, severity: Severity) -> PgError {
        self.0.severity = severity;
        self
    }

    #[must_use]
    pub fn detail(mut self, text: impl Into<String>) -> PgError {
        self.0.detail = Some(text.into());
        self
    }

    #[must_use]
    pub fn hint(mut self, text: impl Into<String>) -> PgError {
        self.0.hint = Some(text.into());
        self
    }

    /// Adds a line of context after the existing lines, which belong to inner levels.
    #[must_use]
    pub fn context(mut self, line: impl Into<String>) -> PgError {
        self.0.context.push(line.into());
        self
    }

    /// Sets the cursor position (1-based, characters) unless one is set already.
    #[must_use]
    pub fn at(mut self, position: u32) -> PgError {
        if self.0.position.is_none() && position > 0 {
            self.0.position = Some(position);
        }
        self
    }

    #[must_use]
    pub fn table(mut self, schema: impl Into<String>, table: impl Into<String>) -> PgError {
        self.0.names.schema = Some(schema.into());
        self.0.names.table = Some(table.into());
        self
    }

    #[must_use]
    pub fn column(mut self, name: impl Into<String>) -> PgError {
        self.0.names.column = Some(name.into());
        self
    }

    #[must_use]
    pub fn constraint(mut self, name: impl Into<String>) -> PgError {
        self.0.names.constraint = Some(name.into());
        self
    }

    #[must_use]
    pub fn data_type(mut self, schema: impl Into<String>, name: impl Into<String>) -> PgError {
        self.0.names.schema = Some(schema.into());
        self.0.names.data_type = Some(name.into());
        self
    }

    pub fn code(&self) -> SqlState {
        self.0.code
    }

    pub fn message(&self) -> &str {
        &self.0.message
    }

    pub fn fields(&self) -> &Fields {
        &self.0
    }

    pub fn fields_mut(&mut self) -> &mut Fields {
        &mut self.0
    }
}

impl fmt::Display for PgError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.0.severity.as_str(), self.0.message)?;
        if let Some(detail) = &self.0.detail {
            write!(f, " ({detail})")?;
        }
        Ok(())
    }
}

impl fmt::Debug for PgError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} [{}]", self, self.0.code)
    }
}

impl std::error::Error for PgError {}
