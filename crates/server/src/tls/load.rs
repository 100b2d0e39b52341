//! Makes an acceptor from the settings. Counterpart: `be_tls_init`.

use super::files::{self, config_error};
use super::{Acceptor, certificate, ciphers};
use pgerror::{PgError, Result, Severity, SqlState};
use rustls::crypto::{CryptoProvider, SupportedKxGroup, ring};
use rustls::server::danger::ClientCertVerifier;
use rustls::server::{NoServerSessionStorage, WebPkiClientVerifier};
use rustls::sign::{CertifiedKey, SingleCertAndKey};
use rustls::{RootCertStore, ServerConfig, SupportedProtocolVersion};
use settings::ServerValues;
use std::sync::Arc;

/// Makes the acceptor of a configuration with `ssl = on`. Reports for the log are appended to
/// `reports`. The severity of an error is that of the caller: it ends the start, or only a reload.
pub(crate) fn load(
    base: &ServerValues,
    data: &str,
    reports: &mut Vec<PgError>,
) -> Result<Arc<Acceptor>> {
    let chain = files::certificates(data, base.text("ssl_cert_file"))?;
    let path = base.text("ssl_key_file");
    let key = files::private_key(data, path)?;
    let unusable =
        |e: rustls::Error| config_error(format!("could not load private key file \"{path}\": {e}"));
    let key = ring::sign::any_supported_type(&key).map_err(unusable)?;
    let certificate = &chain[0];
    let public = certificate::public_key(certificate).ok_or_else(|| {
        let path = base.text("ssl_cert_file");
        config_error(format!("could not load server certificate file \"{path}\": bad encoding"))
    })?;
    if let Some(own) = key.public_key()
        && own.as_ref() != public
    {
        // OpenSSL compares the key with a certificate of its kind when it loads the key.
        let message = match certificate::key_kind(&own) == certificate::key_kind(public) {
            true => format!("could not load private key file \"{path}\": key values mismatch"),
            false => "check of private key failed: no certificate assigned".to_owned(),
        };
        return Err(config_error(message));
    }
    let binding = certificate::binding(certificate);
    let versions = versions(base, reports)?;
    let provider = Arc::new(provider(base)?);
    let verifier = verifier(base, data, &provider)?;
    let invalid = |e: rustls::Error| config_error(format!("could not create SSL context: {e}"));
    let verifies_clients = verifier.is_some();
    let builder = ServerConfig::builder_with_provider(provider)
        .with_protocol_versions(&versions.enabled)
        .map_err(invalid)?;
    let builder = match verifier {
        Some(verifier) => builder.with_client_cert_verifier(verifier),
        None => builder.with_no_client_auth(),
    };
    let resolver = SingleCertAndKey::from(CertifiedKey::new(chain, key));
    let mut config = builder.with_cert_resolver(Arc::new(resolver));
    config.ignore_client_order = base.bool("ssl_prefer_server_ciphers");
    // As in PostgreSQL, sessions are not resumed.
    config.send_tls13_tickets = 0;
    config.session_storage = Arc::new(NoServerSessionStorage {});
    Ok(Arc::new(Acceptor {
        config: Arc::new(config),
        binding,
        verifies_clients,
        versions: versions.names,
    }))
}

struct Versions {
    enabled: Vec<&'static SupportedProtocolVersion>,
    /// The lowest and the highest version as configured.
    names: (&'static str, &'static str),
}

/// The versions between `ssl_min_protocol_version` and `ssl_max_protocol_version`. TLS 1.0 and 1.1
/// do not exist here.
fn versions(base: &ServerValues, reports: &mut Vec<PgError>) -> Result<Versions> {
    let (lowest, highest) =
        (base.text("ssl_min_protocol_version"), base.text("ssl_max_protocol_version"));
    if matches!(highest, "TLSv1" | "TLSv1.1") {
        return Err(PgError::internal(format!(
            "\"ssl_max_protocol_version\" setting \"{highest}\" not supported by this build"
        )));
    }
    if matches!(lowest, "TLSv1" | "TLSv1.1") {
        let message = format!(
            "\"ssl_min_protocol_version\" setting \"{lowest}\" has the effect of \"TLSv1.2\""
        );
        let report = PgError::new(SqlState::SUCCESSFUL_COMPLETION, message);
        reports.push(report.severity(Severity::Log));
    }
    match (lowest, highest) {
        ("TLSv1.3", "TLSv1.2") => Err(PgError::internal(
            "could not set SSL protocol version range",
        )
        .detail("\"ssl_min_protocol_version\" cannot be higher than \"ssl_max_protocol_version\"")),
        ("TLSv1.3", _) => {
            Ok(Versions { enabled: vec![&rustls::version::TLS13], names: ("TLSv1.3", "TLSv1.3") })
        }
        (_, "TLSv1.2") => {
            Ok(Versions { enabled: vec![&rustls::version::TLS12], names: ("TLSv1.2", "TLSv1.2") })
        }
        _ => Ok(Versions {
            enabled: vec![&rustls::version::TLS13, &rustls::version::TLS12],
            names: ("TLSv1.2", "TLSv1.3"),
        }),
    }
}

/// The algorithms that `ssl_ciphers` and `ssl_ecdh_curve` allow.
fn provider(base: &ServerValues) -> Result<CryptoProvider> {
    let chosen = ciphers::select(base.text("ssl_ciphers"));
    if chosen.is_empty() {
        let message = "could not set the cipher list (no valid ciphers available)";
        return Err(config_error(message.to_owned()));
    }
    let curve = base.text("ssl_ecdh_curve");
    let group: &'static dyn SupportedKxGroup = match curve {
        "prime256v1" => ring::kx_group::SECP256R1,
        "secp384r1" => ring::kx_group::SECP384R1,
        "X25519" => ring::kx_group::X25519,
        // Other curves of OpenSSL.
        "secp521r1" | "secp224r1" | "secp256k1" | "X448" | "brainpoolP256r1"
        | "brainpoolP384r1" | "brainpoolP512r1" => {
            return Err(config_error("ECDH: could not create key".to_owned()).hint(
                "Supported values of \"ssl_ecdh_curve\" are prime256v1, secp384r1 and X25519.",
            ));
        }
        _ => return Err(config_error(format!("ECDH: unrecognized curve name: {curve}"))),
    };
    Ok(CryptoProvider {
        cipher_suites: ciphers::TLS13.into_iter().chain(chosen).collect(),
        kx_groups: vec![group],
        ..ring::default_provider()
    })
}

/// The verification of clients' certificates, if `ssl_ca_file` is set. A client may have no
/// certificate; `pg_hba.conf` decides whether it needs one.
fn verifier(
    base: &ServerValues,
    data: &str,
    provider: &Arc<CryptoProvider>,
) -> Result<Option<Arc<dyn ClientCertVerifier>>> {
    let (list, directory) = (base.text("ssl_crl_file"), base.text("ssl_crl_dir"));
    let revoked = files::revocations(data, list, directory)?;
    let path = base.text("ssl_ca_file");
    if path.is_empty() {
        return Ok(None);
    }
    let mut roots = RootCertStore::empty();
    for authority in files::authorities(data, path)? {
        roots.add(authority).map_err(|e| {
            config_error(format!("could not load root certificate file \"{path}\": {e}"))
        })?;
    }
    let builder = WebPkiClientVerifier::builder_with_provider(Arc::new(roots), provider.clone());
    let builder = builder.allow_unauthenticated();
    let builder = match revoked.is_empty() {
        true => builder,
        false => builder.with_crls(revoked).enforce_revocation_expiration(),
    };
    let verifier = builder.build().map_err(|e| {
        config_error(format!("could not load SSL certificate revocation list file \"{list}\": {e}"))
    })?;
    Ok(Some(verifier))
}
