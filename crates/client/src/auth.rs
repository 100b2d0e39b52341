//! Client authentication: the rules of `pg_hba.conf` and the exchanges of the authentication
//! methods.
//!
//! Counterpart: libpq/auth.c, libpq/crypt.c (`get_role_password`).

use crate::connection::{Connection, Received};
use crate::transport::{ClientCertificate, Encryption};
use pgerror::{PgError, Result, Severity, SqlState, pg_err};
use settings::hba::{self, AuthContext, ClientCheck, Method, Peer, Rule, Rules};
use settings::ident::Maps;
use std::sync::Arc;
use wire::password::Secret;
use wire::scram::{Exchange, MECHANISM, MECHANISM_PLUS, NONCE_BYTES};
use wire::{Frame, backend};

/// Maximum length of a message from a client that is not authenticated.
const PASSWORD_BYTES_MAX: usize = 65_535;
/// Maximum length of a message of a SASL exchange.
const SASL_BYTES_MAX: usize = 1024;

/// The result of an authentication.
pub struct Authenticated {
    /// Identity and authentication method; `None` with `trust`.
    pub identity: Option<(String, &'static str)>,
    /// Line number of the rule in `pg_hba.conf`.
    pub line: u32,
}

/// A refused connection: the error for the client, and a detail for the log only.
pub struct Refused {
    pub error: PgError,
    pub detail: Option<String>,
}

impl From<PgError> for Refused {
    fn from(error: PgError) -> Refused {
        Refused { error, detail: None }
    }
}

/// The secret of a role.
pub struct StoredSecret {
    /// `pg_authid.rolpassword`.
    pub text: Option<String>,
    pub is_expired: bool,
}

/// What authentication asks the server.
pub trait Facts: AuthContext {
    /// The rules of `pg_hba.conf`.
    fn rules(&self) -> Arc<Rules>;
    /// The maps of `pg_ident.conf`.
    fn maps(&self) -> Arc<Maps>;
    /// The secret of a role; `None` if there is no such role.
    fn secret(&mut self, role: &str) -> Result<Option<StoredSecret>>;
    /// Fills the buffer with random bytes.
    fn random(&self, bytes: &mut [u8]);
    /// The nonce from which the salts for roles without secret are computed.
    fn mock_nonce(&self) -> [u8; 32];
}

/// Authenticates the client by the method of the first matching rule.
pub fn authenticate(
    facts: &mut dyn Facts,
    conn: &mut Connection,
    database: &str,
    user: &str,
    replication: bool,
) -> Result<Authenticated, Refused> {
    let encryption = conn.transport.encryption();
    let peer =
        Peer { address: conn.transport.peer().map(|(a, _)| a), encrypted: encryption.is_some() };
    let rules = facts.rules();
    let Some(rule) = rules.find(peer, database, user, replication, facts) else {
        return Err(hba::rejection_error(false, peer, database, user).into());
    };
    let proof = Proof { user, rule, encryption: encryption.as_deref() };
    proof.require_certificate()?;
    let proved = proof.by_method(conn, facts, peer, database)?;
    proof.check_certificate(facts, proved)
}

/// The inputs of the authentication methods.
struct Proof<'a> {
    user: &'a str,
    rule: &'a Rule,
    encryption: Option<&'a Encryption>,
}

impl Proof<'_> {
    /// Runs the method of the rule. That of `cert` is [`Proof::check_certificate`].
    fn by_method(
        &self,
        conn: &mut Connection,
        facts: &mut dyn Facts,
        peer: Peer,
        database: &str,
    ) -> Result<Authenticated, Refused> {
        let (user, rule, proof) = (self.user, self.rule, self);
        let proved =
            |method| Authenticated { identity: Some((user.to_owned(), method)), line: rule.line };
        match rule.method {
            Method::Trust | Method::Cert => Ok(Authenticated { identity: None, line: rule.line }),
            Method::Reject => Err(hba::rejection_error(true, peer, database, user).into()),
            Method::Peer => {
                let name = proof.peer(facts, conn)?;
                Ok(Authenticated { identity: Some((name, "peer")), line: rule.line })
            }
            Method::Password => {
                backend::authentication_cleartext(&mut conn.out);
                proof.plain(conn, facts)?;
                Ok(proved("password"))
            }
            Method::Md5 => match proof.secret(facts)? {
                // A stored MD5 hash is checked by the MD5 exchange, and any other secret by SCRAM.
                Ok(Secret::Md5(digits)) => {
                    proof.md5(facts, conn, &Secret::Md5(digits))?;
                    Ok(proved("md5"))
                }
                other => {
                    proof.scram(facts, conn, other)?;
                    Ok(proved("md5"))
                }
            },
            Method::ScramSha256 => {
                let secret = proof.secret(facts)?;
                proof.scram(facts, conn, secret)?;
                Ok(proved("scram-sha-256"))
            }
            Method::Other(name) => {
                let what = format!("authentication method \"{name}\"");
                Err(PgError::unsupported(what).severity(Severity::Fatal).into())
            }
        }
    }

    /// The certificate of the client.
    fn certificate(&self) -> Option<&ClientCertificate> {
        self.encryption.and_then(|e| e.client.as_ref())
    }

    /// Refuses a client that needs a certificate and has none, before its method is run.
    fn require_certificate(&self) -> Result<()> {
        if self.rule.client_check() == ClientCheck::None {
            return Ok(());
        }
        let error = if !self.encryption.is_some_and(|e| e.verifies_clients) {
            pg_err!(
                CONFIG_FILE_ERROR,
                "client certificates can only be checked if a root certificate store is available"
            )
        } else if self.certificate().is_none() {
            pg_err!(
                INVALID_AUTHORIZATION_SPECIFICATION,
                "connection requires a valid client certificate"
            )
        } else {
            return Ok(());
        };
        Err(error.severity(Severity::Fatal))
    }

    /// Compares the name in the certificate with that of the role, if the rule requires it.
    /// Counterpart: `CheckCertAuth`.
    fn check_certificate(
        &self,
        facts: &dyn Facts,
        proved: Authenticated,
    ) -> Result<Authenticated, Refused> {
        if self.rule.client_check() != ClientCheck::Full {
            return Ok(proved);
        }
        let whole = self.rule.compares_distinguished_name();
        let certificate = self.certificate();
        let name = certificate.and_then(|c| match whole {
            true => Some(c.distinguished_name.as_str()),
            false => c.common_name.as_deref(),
        });
        let user = self.user;
        let Some(name) = name.filter(|name| !name.is_empty()) else {
            return Err(self.failed(Some(format!(
                "certificate authentication failed for user \"{user}\": client certificate \
                 contains no user name"
            ))));
        };
        self.map_user(facts, name).map_err(|mut refused| {
            if self.rule.method != Method::Cert
                && let Some(detail) = &mut refused.detail
            {
                let which = if whole { "DN" } else { "CN" };
                *detail = format!(
                    "certificate validation (clientcert=verify-full) failed for user \"{user}\": \
                     {which} mismatch\n{detail}"
                );
            }
            refused
        })?;
        // The complete name is the identity, even if only a part of it was compared.
        let identity = match (self.rule.method, certificate) {
            (Method::Cert, Some(c)) => Some((c.distinguished_name.clone(), "cert")),
            _ => proved.identity,
        };
        Ok(Authenticated { identity, line: proved.line })
    }

    /// The error of a failed authentication: 28P01, or 28000 for methods without a password.
    fn failed(&self, detail: Option<String>) -> Refused {
        let user = self.user;
        let (code, message) = match self.rule.method {
            Method::Peer => (
                SqlState::INVALID_AUTHORIZATION_SPECIFICATION,
                format!("Peer authentication failed for user \"{user}\""),
            ),
            Method::Cert => (
                SqlState::INVALID_AUTHORIZATION_SPECIFICATION,
                format!("certificate authentication failed for user \"{user}\""),
            ),
            Method::Trust => (
                SqlState::INVALID_AUTHORIZATION_SPECIFICATION,
                format!("\"trust\" authentication failed for user \"{user}\""),
            ),
            _ => (
                SqlState::INVALID_PASSWORD,
                format!("password authentication failed for user \"{user}\""),
            ),
        };
        let matched = format!("Connection matched pg_hba.conf line {}", self.rule.line);
        let detail = match detail {
            Some(detail) => format!("{detail}\n{matched}"),
            None => matched,
        };
        Refused {
            error: PgError::new(code, message).severity(Severity::Fatal),
            detail: Some(detail),
        }
    }

    fn peer(&self, facts: &dyn Facts, conn: &Connection) -> Result<String, Refused> {
        let Some(name) = conn.transport.peer_user() else {
            return Err(self.failed(None));
        };
        self.map_user(facts, &name)?;
        Ok(name)
    }

    /// Checks that the map of the rule allows this name to be the role.
    fn map_user(&self, facts: &dyn Facts, name: &str) -> Result<(), Refused> {
        let map = self.rule.option("map");
        if facts.maps().allows(map, name, self.user)? {
            return Ok(());
        }
        let detail = match map {
            Some(map) => format!(
                "no match in usermap \"{map}\" for user \"{}\" authenticated as \"{name}\"",
                self.user
            ),
            None => format!(
                "provided user name ({}) and authenticated user name ({name}) do not match",
                self.user
            ),
        };
        Err(self.failed(Some(detail)))
    }

    /// The stored secret of the role, or the reason why there is no usable one.
    fn secret(&self, facts: &mut dyn Facts) -> Result<Result<Secret, String>, Refused> {
        let user = self.user;
        let Some(role) = facts.secret(user)? else {
            return Ok(Err(format!("Role \"{user}\" does not exist.")));
        };
        let Some(text) = role.text else {
            return Ok(Err(format!("User \"{user}\" has no password assigned.")));
        };
        if role.is_expired {
            return Ok(Err(format!("User \"{user}\" has an expired password.")));
        }
        Ok(Secret::parse(&text)
            .ok_or_else(|| format!("Password of user \"{user}\" is in unrecognized format.")))
    }

    /// The next password message.
    fn receive(&self, conn: &mut Connection, len_max: usize, what: &str) -> Result<Frame, Refused> {
        conn.flush()?;
        match conn.receive()? {
            Received::Frame(frame) if frame.kind == b'p' => {
                if conn.body(frame).len() > len_max {
                    return Err(wire::violation("invalid message length").into());
                }
                Ok(frame)
            }
            Received::Frame(frame) => Err(wire::violation(format!(
                "expected {what} response, got message type {}",
                frame.kind
            ))
            .into()),
            // psql closes the connection to prompt for a password, then connects again. So no error
            // is sent or logged.
            Received::End => Err(connection_closed().into()),
            Received::Refused(_, error) => Err(error.severity(Severity::Fatal).into()),
            Received::TimedOut => {
                Err(pg_err!(QUERY_CANCELED, "canceling authentication due to timeout")
                    .severity(Severity::Fatal)
                    .into())
            }
        }
    }

    /// The password of a PasswordMessage, without its terminating zero byte.
    fn password(&self, conn: &mut Connection) -> Result<Vec<u8>, Refused> {
        let frame = self.receive(conn, PASSWORD_BYTES_MAX, "password")?;
        let body = conn.body(frame);
        let end = body.iter().position(|&b| b == 0);
        match end {
            Some(end) if end + 1 == body.len() && end == 0 => {
                Err(pg_err!(INVALID_PASSWORD, "empty password returned by client")
                    .severity(Severity::Fatal)
                    .into())
            }
            Some(end) if end + 1 == body.len() => Ok(body[..end].to_vec()),
            _ => Err(wire::violation("invalid password packet size").into()),
        }
    }

    fn plain(&self, conn: &mut Connection, facts: &mut dyn Facts) -> Result<(), Refused> {
        let password = self.password(conn)?;
        let secret = self.secret(facts)?.map_err(|why| self.failed(Some(why)))?;
        let password = String::from_utf8_lossy(&password);
        if secret.is_plain(&password, self.user) {
            return Ok(());
        }
        Err(self.failed(Some(format!("Password does not match for user \"{}\".", self.user))))
    }

    fn md5(
        &self,
        facts: &dyn Facts,
        conn: &mut Connection,
        secret: &Secret,
    ) -> Result<(), Refused> {
        let mut salt = [0; 4];
        facts.random(&mut salt);
        backend::authentication_md5(&mut conn.out, salt);
        let answer = self.password(conn)?;
        if secret.is_md5_answer(&answer, salt) {
            return Ok(());
        }
        Err(self.failed(Some(format!("Password does not match for user \"{}\".", self.user))))
    }

    fn scram(
        &self,
        facts: &dyn Facts,
        conn: &mut Connection,
        secret: Result<Secret, String>,
    ) -> Result<(), Refused> {
        let (secret, why) = match secret {
            Ok(Secret::Scram(secret)) => (Some(secret), None),
            Ok(Secret::Md5(_)) => {
                (None, Some(format!("User \"{}\" does not have a valid SCRAM secret.", self.user)))
            }
            Err(why) => (None, Some(why)),
        };
        let mut random = [0; NONCE_BYTES];
        facts.random(&mut random);
        let mock = facts.mock_nonce();
        let binding = self.encryption.and_then(|e| e.binding.as_ref());
        let mechanisms: &[&str] = match binding {
            Some(_) => &[MECHANISM_PLUS, MECHANISM],
            None => &[MECHANISM],
        };
        backend::authentication_sasl(&mut conn.out, mechanisms);
        let frame = self.receive(conn, SASL_BYTES_MAX, "SASL")?;
        let (plus, first) = initial_response(conn.body(frame), binding.is_some())?;
        let first = match first {
            Some(first) => first.to_vec(),
            None => {
                // The client waits for an empty challenge before it begins.
                backend::authentication_sasl_data(&mut conn.out, false, b"");
                let frame = self.receive(conn, SASL_BYTES_MAX, "SASL")?;
                conn.body(frame).to_vec()
            }
        };
        let mut exchange =
            Exchange::new(secret, self.user, &mock, binding.map(|hash| hash.to_vec()));
        let answer = exchange.first(&first, plus, &random)?;
        backend::authentication_sasl_data(&mut conn.out, false, answer.as_bytes());
        let frame = self.receive(conn, SASL_BYTES_MAX, "SASL")?;
        match exchange.last(conn.body(frame))? {
            Some(answer) => {
                backend::authentication_sasl_data(&mut conn.out, true, answer.as_bytes());
                Ok(())
            }
            None => Err(self.failed(why)),
        }
    }
}

/// Decodes SASLInitialResponse: whether the client chose channel binding, which is allowed if
/// `bindable`, and its client-first message; `None` if that is sent in a message of its own.
fn initial_response(body: &[u8], bindable: bool) -> Result<(bool, Option<&[u8]>)> {
    let bad = || wire::violation("insufficient data left in message");
    let end = body.iter().position(|&b| b == 0);
    let end = end.ok_or_else(|| wire::violation("invalid string in message"))?;
    let plus = bindable && &body[..end] == MECHANISM_PLUS.as_bytes();
    if !plus && &body[..end] != MECHANISM.as_bytes() {
        return Err(wire::violation("client selected an invalid SASL authentication mechanism"));
    }
    let rest = &body[end + 1..];
    let len = i32::from_be_bytes(*rest.first_chunk().ok_or_else(bad)?);
    let data = match len {
        -1 => None,
        len => {
            let len = usize::try_from(len).map_err(|_| bad())?;
            Some(rest[4..].get(..len).ok_or_else(bad)?)
        }
    };
    if rest.len() > 4 + data.map_or(0, <[u8]>::len) {
        return Err(wire::violation("invalid message format"));
    }
    Ok((plus, data))
}

/// The error for a client that closed the connection during authentication. As in PostgreSQL it is
/// not logged.
pub fn connection_closed() -> PgError {
    pg_err!(CONNECTION_FAILURE, "").severity(Severity::Fatal)
}
