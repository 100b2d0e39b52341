//! The authentication methods of a new cluster, and the superuser's password.

use crate::failure::Failure;
use crate::listen::reason;
use crate::options::CommandLine;
use vfs::{OsRandom, Random, terminal};
use wire::password::Secret;

/// Methods that `pg_hba.conf` may contain for connections through the Unix-domain socket.
const LOCAL: [&str; 8] =
    ["trust", "reject", "scram-sha-256", "md5", "password", "peer", "radius", "pam"];
/// Methods that need the superuser to have a password.
const WITH_PASSWORD: [&str; 3] = ["scram-sha-256", "md5", "password"];
const SALT_BYTES: usize = 16;

/// The methods for local and for TCP/IP connections.
pub(super) struct Methods {
    pub(super) local: String,
    pub(super) host: String,
}

impl Methods {
    /// True if passwords are stored as MD5 hashes, because a method needs that.
    pub(super) fn use_md5(&self) -> bool {
        let methods = [self.local.as_str(), self.host.as_str()];
        methods.contains(&"md5") && !methods.contains(&"scram-sha-256")
    }
}

/// True if a method was not chosen.
pub(super) fn are_default(given: &CommandLine) -> bool {
    !(given.has("auth") || given.has("auth-local") && given.has("auth-host"))
}

/// Methods that `pg_hba.conf` may contain for TCP/IP connections.
fn allows_host(method: &str) -> bool {
    method != "peer" && LOCAL.contains(&method)
        || ["ident", "gss", "ldap", "cert"].contains(&method)
}

/// The methods of the options. Checks them, and that there is a password if they need one.
pub(super) fn methods(given: &CommandLine) -> Result<Methods, Failure> {
    let mut methods = Methods { local: "trust".to_owned(), host: "trust".to_owned() };
    for (name, value) in &given.options {
        match *name {
            // These methods exist for one kind of connections only, and are each other's
            // counterpart.
            "auth" => {
                methods.local = if value == "ident" { "peer" } else { value }.to_owned();
                methods.host = if value == "peer" { "ident" } else { value }.to_owned();
            }
            "auth-local" => methods.local.clone_from(value),
            "auth-host" => methods.host.clone_from(value),
            _ => {}
        }
    }
    let local_known = LOCAL.contains(&methods.local.as_str()) || methods.local == "ldap";
    let kinds = [
        (&methods.local, local_known, "local"),
        (&methods.host, allows_host(&methods.host), "host"),
    ];
    for (method, known, kind) in kinds {
        if !known {
            return Err(Failure::new(format!(
                "invalid authentication method \"{method}\" for \"{kind}\" connections"
            )));
        }
    }
    if given.has("pwprompt") && given.has("pwfile") {
        return Err(Failure::new("password prompt and password file cannot be specified together"));
    }
    let needed = |method: &str| WITH_PASSWORD.contains(&method);
    let there = given.has("pwprompt") || given.has("pwfile");
    if needed(&methods.local) && needed(&methods.host) && !there {
        return Err(Failure::new(
            "must specify a password for the superuser to enable password authentication",
        ));
    }
    Ok(methods)
}

/// The password of the superuser as `pg_authid` stores it, from the file or the terminal; `None`
/// without these options.
pub(super) fn password(
    given: &CommandLine,
    user: &str,
    md5: bool,
) -> Result<Option<String>, Failure> {
    let text = match given.value("pwfile") {
        Some(file) => from_file(file)?,
        None if given.has("pwprompt") => from_terminal()?,
        None => return Ok(None),
    };
    // A password may be given in its stored form.
    if Secret::parse(&text).is_some() {
        return Ok(Some(text));
    }
    let mut salt = [0; SALT_BYTES];
    OsRandom.fill(&mut salt);
    Ok(Some(Secret::make(&text, user, md5, &salt)))
}

fn from_file(path: &str) -> Result<String, Failure> {
    let read = std::fs::read_to_string(path).map_err(|e| {
        Failure::new(format!("could not open file \"{path}\" for reading: {}", reason(&e)))
    })?;
    let password = read.lines().next().unwrap_or_default();
    if password.is_empty() {
        return Err(Failure::new(format!("password file \"{path}\" is empty")));
    }
    Ok(password.to_owned())
}

fn from_terminal() -> Result<String, Failure> {
    let ask = |prompt: &str| {
        terminal::read_hidden(prompt)
            .map_err(|e| Failure::new(format!("could not read the password: {}", reason(&e))))
    };
    let password = ask("Enter new superuser password: ")?;
    if ask("Enter it again: ")? != password {
        return Err(Failure::bare("Passwords didn't match."));
    }
    Ok(password)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chosen(options: &[(&'static str, &str)]) -> Result<(String, String, bool), String> {
        let options = options.iter().map(|(n, v)| (*n, (*v).to_owned())).collect();
        let given = CommandLine { options, rest: Vec::new() };
        let methods = methods(&given).map_err(|f| f.message)?;
        let md5 = methods.use_md5();
        Ok((methods.local, methods.host, md5))
    }

    #[test]
    fn methods_are_chosen_as_initdb_does() {
        for (options, local, host, md5) in [
            (&[][..], "trust", "trust", false),
            (&[("auth", "ident")], "peer", "ident", false),
            (&[("auth", "peer")], "peer", "ident", false),
            (&[("auth", "md5"), ("pwfile", "x")], "md5", "md5", true),
            (&[("auth-local", "peer"), ("auth-host", "md5")], "peer", "md5", true),
            (
                &[("auth", "md5"), ("auth-host", "scram-sha-256"), ("pwprompt", "")],
                "md5",
                "scram-sha-256",
                false,
            ),
        ] {
            assert_eq!(chosen(options), Ok((local.to_owned(), host.to_owned(), md5)));
        }
        let no_password =
            "must specify a password for the superuser to enable password authentication";
        for (options, error) in [
            (
                &[("auth", "foo")][..],
                "invalid authentication method \"foo\" for \"local\" connections",
            ),
            (
                &[("auth-host", "peer")],
                "invalid authentication method \"peer\" for \"host\" connections",
            ),
            (&[("auth", "md5")], no_password),
            (
                &[("pwfile", "x"), ("pwprompt", "")],
                "password prompt and password file cannot be specified together",
            ),
        ] {
            assert_eq!(chosen(options), Err(error.to_owned()));
        }
    }
}
