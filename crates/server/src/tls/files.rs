//! Reads certificates, private keys and lists of revoked certificates, with PostgreSQL's checks of
//! the files. Relative paths begin at the data directory.

use crate::listen::reason;
use pgerror::{PgError, Result, SqlState};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, CertificateRevocationListDer, PrivateKeyDer};
use std::fs::Metadata;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use vfs::process;

/// OpenSSL's reasons for files without an object of the expected kind.
const NO_CERTIFICATE: &str = "no start line";
const NO_KEY: &str = "unsupported";
const NO_AUTHORITY: &str = "no certificate or crl found";

pub(super) fn config_error(message: String) -> PgError {
    PgError::new(SqlState::CONFIG_FILE_ERROR, message)
}

/// The path of a setting's file. A relative one begins at the data directory.
fn full(data: &str, path: &str) -> PathBuf {
    Path::new(data).join(path)
}

/// The objects of one kind in a PEM file, at least one. An error is its reason; `none` if there is
/// no object.
fn objects<T: PemObject>(path: &Path, none: &str) -> std::result::Result<Vec<T>, String> {
    let text = std::fs::read(path).map_err(|e| reason(&e))?;
    let found: std::result::Result<Vec<T>, _> = T::pem_slice_iter(&text).collect();
    match found {
        Ok(found) if found.is_empty() => Err(none.to_owned()),
        Ok(found) => Ok(found),
        Err(e) => Err(e.to_string()),
    }
}

/// The certificate of the server, followed by those of its issuers in the file.
pub(super) fn certificates(data: &str, path: &str) -> Result<Vec<CertificateDer<'static>>> {
    objects(&full(data, path), NO_CERTIFICATE).map_err(|reason| {
        config_error(format!("could not load server certificate file \"{path}\": {reason}"))
    })
}

/// The certificates of the authorities that issue certificates of clients.
pub(super) fn authorities(data: &str, path: &str) -> Result<Vec<CertificateDer<'static>>> {
    objects(&full(data, path), NO_AUTHORITY).map_err(|reason| {
        config_error(format!("could not load root certificate file \"{path}\": {reason}"))
    })
}

/// The private key of the server.
pub(super) fn private_key(data: &str, path: &str) -> Result<PrivateKeyDer<'static>> {
    let there = full(data, path);
    let meta = std::fs::metadata(&there).map_err(|e| {
        let code = match e.kind() {
            std::io::ErrorKind::NotFound => SqlState::UNDEFINED_FILE,
            std::io::ErrorKind::PermissionDenied => SqlState::INSUFFICIENT_PRIVILEGE,
            _ => SqlState::IO_ERROR,
        };
        let reason = reason(&e);
        PgError::new(code, format!("could not access private key file \"{path}\": {reason}"))
    })?;
    check_key_file(path, &meta, process::effective_user())?;
    let unusable = |reason: &str| {
        config_error(format!("could not load private key file \"{path}\": {reason}"))
    };
    let text = std::fs::read(&there).map_err(|e| unusable(&reason(&e)))?;
    PrivateKeyDer::from_pem_slice(&text).map_err(|_| {
        if String::from_utf8_lossy(&text).contains("ENCRYPTED") {
            return unusable("keys with a passphrase are not supported by this server").hint(
                "Store the key without a passphrase, for example by \"openssl pkey -in OLD \
                 -out NEW\".",
            );
        }
        unusable(NO_KEY)
    })
}

/// Counterpart: `check_ssl_key_file_permissions`.
fn check_key_file(path: &str, meta: &Metadata, user: u32) -> Result<()> {
    if !meta.is_file() {
        return Err(config_error(format!("private key file \"{path}\" is not a regular file")));
    }
    if meta.uid() != user && meta.uid() != 0 {
        return Err(config_error(format!(
            "private key file \"{path}\" must be owned by the database user or root"
        )));
    }
    let forbidden = if meta.uid() == user { 0o077 } else { 0o037 };
    if meta.mode() & forbidden != 0 {
        return Err(config_error(format!("private key file \"{path}\" has group or world access"))
            .detail(
                "File must have permissions u=rw (0600) or less if owned by the database user, or \
             permissions u=rw,g=r (0640) or less if owned by root.",
            ));
    }
    Ok(())
}

/// The lists of revoked certificates in a file and in a directory, each named by a setting or
/// empty. The names of files in the directory are arbitrary.
pub(super) fn revocations(
    data: &str,
    file: &str,
    directory: &str,
) -> Result<Vec<CertificateRevocationListDer<'static>>> {
    let what = "could not load SSL certificate revocation list";
    let mut all = Vec::new();
    if !file.is_empty() {
        all = objects(&full(data, file), NO_AUTHORITY)
            .map_err(|reason| config_error(format!("{what} file \"{file}\": {reason}")))?;
    }
    if !directory.is_empty() {
        let unusable =
            |reason: String| config_error(format!("{what} directory \"{directory}\": {reason}"));
        let entries = std::fs::read_dir(full(data, directory)).map_err(|e| unusable(reason(&e)))?;
        for entry in entries {
            let path = entry.map_err(|e| unusable(reason(&e)))?.path();
            if path.is_file() {
                all.extend(objects(&path, NO_AUTHORITY).map_err(unusable)?);
            }
        }
        // Without any list, certificates would not be checked.
        if all.is_empty() {
            return Err(unusable(NO_AUTHORITY.to_owned()));
        }
    }
    Ok(all)
}
