//! Encrypted connections: TLS 1.2 and 1.3, with certificates and private keys from files.
//!
//! Reading order: this module (handshake), `stream` (the encrypted connection), `load` (from the
//! settings to an acceptor), `files`, `ciphers`, `certificate` (what is shown of a certificate).
//! A reload creates a new acceptor; connections keep the one with which they began.
//!
//! Counterpart: be-secure-openssl.c, be-secure-common.c.

mod certificate;
mod ciphers;
mod files;
mod load;
mod stream;

pub(crate) use load::load;

use pgerror::{PgError, Result, Severity, SqlState};
use rustls::{AlertDescription, PeerIncompatible, ServerConfig, ServerConnection};
use session::{Encryption, TlsAcceptor, Transport};
use std::io;
use std::sync::Arc;
use std::time::{Duration, Instant};
use stream::{Channel, TlsStream};

/// Minimum timeout of a read.
const TIMEOUT_MIN: Duration = Duration::from_millis(1);

/// Accepts TLS connections with one certificate.
pub(crate) struct Acceptor {
    config: Arc<ServerConfig>,
    /// Hash of the certificate for the channel binding `tls-server-end-point`; `None` if its
    /// signature algorithm has no hash function.
    binding: Option<Arc<[u8]>>,
    /// Certificates of clients are requested and verified.
    verifies_clients: bool,
    /// Names of the lowest and highest protocol version, for a hint.
    versions: (&'static str, &'static str),
}

/// A handshake that failed, for the log.
fn failed(reason: impl std::fmt::Display) -> PgError {
    let message = format!("could not accept SSL connection: {reason}");
    PgError::new(SqlState::PROTOCOL_VIOLATION, message).severity(Severity::Log)
}

impl TlsAcceptor for Acceptor {
    fn accept(
        &self,
        mut transport: Box<dyn Transport>,
        deadline: Option<Instant>,
    ) -> Result<Box<dyn Transport>> {
        let connection =
            ServerConnection::new(self.config.clone()).map_err(|e| failed(format_args!("{e}")))?;
        let mut channel = Channel::new(connection);
        while self.advance(&mut channel, &mut *transport, deadline)? {}
        let encryption = self.encryption(&channel.connection())?;
        Ok(Box::new(TlsStream::new(transport, channel, encryption)))
    }
}

impl Acceptor {
    /// One step of the handshake: sends what is due, then receives. False at the end.
    fn advance(
        &self,
        channel: &mut Channel,
        transport: &mut dyn Transport,
        deadline: Option<Instant>,
    ) -> Result<bool> {
        let timed_out = || PgError::new(SqlState::CONNECTION_FAILURE, "");
        let in_time = || deadline.is_none_or(|end| Instant::now() < end);
        let io_failed = |e: &io::Error| failed(crate::listen::reason(e));
        loop {
            match channel.send(transport) {
                Ok(()) => break,
                Err(e) if is_timeout(&e) && in_time() => {}
                Err(e) if is_timeout(&e) => return Err(timed_out()),
                Err(e) => return Err(io_failed(&e)),
            }
        }
        if !channel.connection().is_handshaking() {
            return Ok(false);
        }
        if !in_time() {
            return Err(timed_out());
        }
        // A timeout of zero is an error.
        let left =
            deadline.map(|end| end.saturating_duration_since(Instant::now()).max(TIMEOUT_MIN));
        transport.set_read_timeout(left).map_err(|e| io_failed(&e))?;
        match channel.receive(transport) {
            Ok(0) => return Err(failed("EOF detected")),
            Ok(_) => {}
            Err(e) if is_timeout(&e) => return Ok(true),
            Err(e) => return Err(io_failed(&e)),
        }
        channel.decrypt().map_err(|e| {
            // The alert tells the client the reason; there is nothing else to do if it is lost.
            let _ = match is_about_versions(&e) {
                true => transport.write(&PROTOCOL_VERSION_ALERT).map(|_| ()),
                false => channel.send(transport),
            };
            self.refusal(&e)
        })?;
        Ok(true)
    }

    /// The error for a failed handshake, with OpenSSL's reason where it has an equal one.
    fn refusal(&self, error: &rustls::Error) -> PgError {
        use rustls::Error;
        match error {
            Error::AlertReceived(alert) => {
                let error = failed(alert_reason(*alert));
                match alert {
                    AlertDescription::ProtocolVersion => self.hint(error),
                    _ => error,
                }
            }
            Error::InvalidCertificate(reason) => {
                let reason = match format!("{reason:?}").contains("UnsupportedCertVersion") {
                    true => "it is not of X.509 version 3".to_owned(),
                    false => reason.to_string(),
                };
                failed("certificate verify failed")
                    .detail(format!("The certificate of the client is invalid: {reason}."))
            }
            Error::PeerIncompatible(PeerIncompatible::NoCipherSuitesInCommon) => {
                failed("no shared cipher")
            }
            error if is_about_versions(error) => self.hint(failed("unsupported protocol")),
            Error::InvalidMessage(_) => self.hint(failed("wrong version number")),
            other => failed(other),
        }
    }

    fn hint(&self, error: PgError) -> PgError {
        let (lowest, highest) = self.versions;
        error.hint(format!(
            "This may indicate that the client does not support any SSL protocol version between \
             {lowest} and {highest}."
        ))
    }

    /// The properties of an established connection.
    fn encryption(&self, connection: &ServerConnection) -> Result<Encryption> {
        let suite = connection.negotiated_cipher_suite();
        let (cipher, bits) = suite.map_or(("", 0), |s| ciphers::name_and_bits(s.suite()));
        let version = match connection.protocol_version() {
            Some(rustls::ProtocolVersion::TLSv1_2) => "TLSv1.2",
            _ => "TLSv1.3",
        };
        let client = connection.peer_certificates().and_then(<[_]>::first);
        Ok(Encryption {
            version,
            cipher,
            bits,
            binding: self.binding.clone(),
            verifies_clients: self.verifies_clients,
            client: client.map(|der| certificate::client(der)).transpose()?,
        })
    }
}

/// An unencrypted record with the fatal alert `protocol_version`. The TLS library would report only
/// a failure of the handshake.
const PROTOCOL_VERSION_ALERT: [u8; 7] = [21, 3, 1, 0, 2, 2, 70];

/// Whether client and server have no version of the protocol in common.
fn is_about_versions(error: &rustls::Error) -> bool {
    matches!(
        error,
        rustls::Error::PeerIncompatible(
            PeerIncompatible::Tls12NotOffered
                | PeerIncompatible::Tls12NotOfferedOrEnabled
                | PeerIncompatible::ServerDoesNotSupportTls12Or13
                | PeerIncompatible::ServerTlsVersionIsDisabledByOurConfig
                | PeerIncompatible::SupportedVersionsExtensionRequired
                // Clients of TLS 1.2 send this extension.
                | PeerIncompatible::SignatureAlgorithmsExtensionRequired
        )
    )
}

fn is_timeout(e: &io::Error) -> bool {
    matches!(e.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut)
}

/// OpenSSL's text for an alert from the client.
fn alert_reason(alert: AlertDescription) -> String {
    let text = match alert {
        AlertDescription::UnexpectedMessage => "sslv3 alert unexpected message",
        AlertDescription::BadRecordMac => "sslv3 alert bad record mac",
        AlertDescription::HandshakeFailure => "sslv3 alert handshake failure",
        AlertDescription::NoCertificate => "sslv3 alert no certificate",
        AlertDescription::BadCertificate => "sslv3 alert bad certificate",
        AlertDescription::UnsupportedCertificate => "sslv3 alert unsupported certificate",
        AlertDescription::CertificateRevoked => "sslv3 alert certificate revoked",
        AlertDescription::CertificateExpired => "sslv3 alert certificate expired",
        AlertDescription::CertificateUnknown => "sslv3 alert certificate unknown",
        AlertDescription::IllegalParameter => "sslv3 alert illegal parameter",
        AlertDescription::UnknownCA => "tlsv1 alert unknown ca",
        AlertDescription::AccessDenied => "tlsv1 alert access denied",
        AlertDescription::DecodeError => "tlsv1 alert decode error",
        AlertDescription::DecryptError => "tlsv1 alert decrypt error",
        AlertDescription::ProtocolVersion => "tlsv1 alert protocol version",
        AlertDescription::InsufficientSecurity => "tlsv1 alert insufficient security",
        AlertDescription::InternalError => "tlsv1 alert internal error",
        AlertDescription::UserCanceled => "tlsv1 alert user cancelled",
        AlertDescription::NoRenegotiation => "tlsv1 alert no renegotiation",
        other => return format!("alert {other:?}"),
    };
    text.to_owned()
}
