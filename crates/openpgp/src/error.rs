//! The errors, with pgcrypto's messages. All have the SQLSTATE 39000.
//!
//! Counterpart: px.c.

use pgerror::{PgError, SqlState};

/// Why an operation on a message, key or armor fails.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Fault {
    Argument,
    BadS2kMode,
    CipherUnavailable,
    CorruptArmor,
    CorruptData,
    CorruptKeyPacket,
    Internal,
    KeyTooBig,
    Math,
    NeedPassword,
    NoUsableKey,
    NotText,
    NotVersion4,
    PublicKeyGiven,
    SecretKeyGiven,
    SessionKeyTooBig,
    SeveralKeys,
    SeveralSubkeys,
    UnexpectedPacket,
    UnknownPublicAlgorithm,
    UnknownVersion,
    UnsupportedCipher,
    UnsupportedCompression,
    UnsupportedDigest,
    WrongKey,
}

impl Fault {
    fn message(self) -> &'static str {
        match self {
            Fault::Argument => "Illegal argument to function",
            Fault::BadS2kMode => "Bad S2K mode",
            Fault::CipherUnavailable => "encrypt error: Cipher cannot be initialized",
            Fault::CorruptArmor => "Corrupt ascii-armor",
            Fault::CorruptData => "Wrong key or corrupt data",
            Fault::CorruptKeyPacket => "Corrupt key packet",
            Fault::Internal => "pgcrypto bug",
            Fault::KeyTooBig => "Key was too big",
            Fault::Math => "Math operation failed",
            Fault::NeedPassword => "Need password for secret key",
            Fault::NoUsableKey => "No encryption key found",
            Fault::NotText => "Not text data",
            Fault::NotVersion4 => "Only V4 key packets are supported",
            Fault::PublicKeyGiven => "Cannot decrypt with public key",
            Fault::SecretKeyGiven => "Refusing to encrypt with secret key",
            Fault::SessionKeyTooBig => "Session key too big",
            Fault::SeveralKeys => "Several keys given - pgcrypto does not handle keyring",
            Fault::SeveralSubkeys => "Several subkeys not supported",
            Fault::UnexpectedPacket => "Unexpected packet in key data",
            Fault::UnknownPublicAlgorithm => "Unknown public-key encryption algorithm",
            Fault::UnknownVersion => "Bad error code",
            Fault::UnsupportedCipher => "Unsupported cipher algorithm",
            Fault::UnsupportedCompression => "Unsupported compression algorithm",
            Fault::UnsupportedDigest => "Unsupported digest algorithm",
            Fault::WrongKey => "Wrong key",
        }
    }
}

/// Whether an error is of the message or the key. Other errors end an operation at once, as a
/// legacy algorithm does.
pub(crate) fn is_fault(error: &PgError) -> bool {
    let fields = error.fields();
    fields.code == SqlState::EXTERNAL_ROUTINE_INVOCATION_EXCEPTION
        && fields.message != Fault::CipherUnavailable.message()
}

impl From<Fault> for PgError {
    fn from(fault: Fault) -> PgError {
        PgError::new(SqlState::EXTERNAL_ROUTINE_INVOCATION_EXCEPTION, fault.message())
    }
}
