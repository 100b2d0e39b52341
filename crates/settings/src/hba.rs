//! Parses `pg_hba.conf`, the rules of client authentication, and finds the first matching rule of a
//! connection.
//!
//! Counterpart: hba.c.

use pgerror::{PgError, Severity, SqlState};
use std::net::IpAddr;

/// The connection's type and client address.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Peer {
    /// `None`: a Unix-domain socket.
    pub address: Option<IpAddr>,
    pub encrypted: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Conn {
    Local,
    Host,
    HostSsl,
    HostNoSsl,
    HostGss,
    HostNoGss,
}

/// An item of a list. Quoting removes the special meaning of keywords.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Word {
    text: String,
    quoted: bool,
}

#[derive(Clone, PartialEq, Eq, Debug)]
enum Address {
    Any,
    SameHost,
    SameNet,
    Net { base: IpAddr, bits: u8 },
    Name(String),
}

/// What a rule requires of the certificate of a client.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ClientCheck {
    /// No certificate is needed.
    None,
    /// A verified certificate.
    Authority,
    /// A verified certificate whose name is that of the role, or mapped to it.
    Full,
}

/// Authentication methods.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Method {
    Trust,
    Reject,
    Password,
    Md5,
    ScramSha256,
    Peer,
    /// A certificate of the client.
    Cert,
    /// A method of PostgreSQL that is not supported here.
    Other(&'static str),
}

/// A valid line of the file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Rule {
    conn: Conn,
    databases: Vec<Word>,
    users: Vec<Word>,
    address: Address,
    pub method: Method,
    pub options: Vec<(String, String)>,
    pub line: u32,
}

/// A line of the file as shown by `pg_hba_file_rules`. For an invalid line only the line number and
/// the error are set.
#[derive(Clone, Default, PartialEq, Eq, Debug)]
pub struct Line {
    pub number: u32,
    pub kind: String,
    pub databases: Vec<String>,
    pub users: Vec<String>,
    pub address: Option<String>,
    pub netmask: Option<String>,
    pub method: String,
    pub options: Vec<String>,
    pub error: Option<String>,
}

/// The rules in file order.
#[derive(Clone, Default, Debug)]
pub struct Rules {
    pub rules: Vec<Rule>,
}

/// Facts about roles and addresses that rule matching needs.
pub trait AuthContext {
    /// Whether `user` is a direct or indirect member of `group`.
    fn is_member(&mut self, user: &str, group: &str) -> bool;
    /// Whether the address is one of this machine.
    fn is_own_address(&mut self, address: IpAddr) -> bool;
    /// Whether the address is in a network that this machine is directly connected to.
    fn is_own_network(&mut self, address: IpAddr) -> bool;
}

const OTHERS: [&str; 5] = ["gss", "ident", "ldap", "radius", "pam"];
/// Methods of PostgreSQL that Debian's build does not include.
const NOT_BUILT: [&str; 2] = ["sspi", "bsd"];
/// Names of the options of all methods.
const OPTIONS: [&str; 24] = [
    "map",
    "clientcert",
    "clientname",
    "pamservice",
    "pam_use_hostname",
    "ldapurl",
    "ldaptls",
    "ldapscheme",
    "ldapserver",
    "ldapport",
    "ldapbinddn",
    "ldapbindpasswd",
    "ldapsearchattribute",
    "ldapsearchfilter",
    "ldapbasedn",
    "ldapprefix",
    "ldapsuffix",
    "krb_realm",
    "include_realm",
    "compat_realm",
    "upn_username",
    "radiusservers",
    "radiussecrets",
    "radiusports",
];
/// Maximum nesting depth of files included with `@`.
const DEPTH_MAX: u32 = 10;

/// An error in an authentication file.
pub(crate) fn line_error(path: &str, line: u32, message: String) -> PgError {
    PgError::new(SqlState::CONFIG_FILE_ERROR, message)
        .severity(Severity::Log)
        .context(format!("line {line} of configuration file \"{path}\""))
}

/// The fields of a line, each a list of items.
pub(crate) type Fields = Vec<Vec<Word>>;

/// Logical lines of an authentication file with their line numbers: a backslash at the end
/// continues a line, and `@file` is replaced by the items of that file.
pub(crate) fn lines(
    text: &str,
    include: &dyn Fn(&str) -> Option<String>,
) -> Vec<(u32, Result<Fields, String>)> {
    let mut found = Vec::new();
    let mut lines = text.lines().enumerate();
    while let Some((i, first)) = lines.next() {
        let mut line = first.to_owned();
        while line.ends_with('\\') {
            line.pop();
            match lines.next() {
                Some((_, more)) => line.push_str(more),
                None => break,
            }
        }
        let fields = tokens(&line);
        if !fields.is_empty() {
            let fields = fields.into_iter().map(|f| included(f, include, 0)).collect();
            found.push((i as u32 + 1, fields));
        }
    }
    found
}

/// A list with `@file` items replaced by the contents of the files.
fn included(
    field: Vec<Word>,
    include: &dyn Fn(&str) -> Option<String>,
    depth: u32,
) -> Result<Vec<Word>, String> {
    let mut out = Vec::new();
    for word in field {
        match word.text.strip_prefix('@').filter(|name| !word.quoted && !name.is_empty()) {
            Some(file) => {
                let text = include(file).filter(|_| depth < DEPTH_MAX).ok_or_else(|| {
                    format!("could not open secondary authentication file \"@{file}\"")
                })?;
                for inner in text.lines().flat_map(tokens) {
                    out.extend(included(inner, include, depth + 1)?);
                }
            }
            None => out.push(word),
        }
    }
    Ok(out)
}

/// All lines with their errors, for display.
pub fn parse_lines(text: &str, include: &dyn Fn(&str) -> Option<String>) -> Vec<Line> {
    lines(text, include)
        .into_iter()
        .map(|(number, fields)| match fields.and_then(|f| rule(&f, number)) {
            Ok(rule) => rule.shown(),
            Err(e) => Line { number, error: Some(e), ..Line::default() },
        })
        .collect()
}

/// Parses the file's text; `include` reads a file named by `@`.
pub fn parse(
    path: &str,
    text: &str,
    include: &dyn Fn(&str) -> Option<String>,
) -> Result<Rules, Vec<PgError>> {
    let mut rules = Vec::new();
    let mut errors = Vec::new();
    for (number, fields) in lines(text, include) {
        match fields.and_then(|f| rule(&f, number)) {
            Ok(rule) => rules.push(rule),
            Err(message) => errors.push(line_error(path, number, message)),
        }
    }
    if rules.is_empty() && errors.is_empty() {
        errors.push(
            PgError::new(
                SqlState::CONFIG_FILE_ERROR,
                format!("configuration file \"{path}\" contains no entries"),
            )
            .severity(Severity::Log),
        );
    }
    if errors.is_empty() { Ok(Rules { rules }) } else { Err(errors) }
}

/// Splits a line into fields, each a comma-separated list.
fn tokens(line: &str) -> Fields {
    let mut fields = Vec::new();
    let mut list: Vec<Word> = Vec::new();
    let mut chars = line.chars().peekable();
    let mut comma = false;
    while let Some(&c) = chars.peek() {
        if c == '#' {
            break;
        }
        if c.is_whitespace() {
            chars.next();
            continue;
        }
        if c == ',' {
            chars.next();
            comma = true;
            continue;
        }
        let mut word = Word { text: String::new(), quoted: c == '"' };
        let mut inside = false;
        while let Some(&c) = chars.peek() {
            if c == '"' {
                chars.next();
                inside = !inside;
                continue;
            }
            if !inside && (c.is_whitespace() || c == ',' || c == '#') {
                break;
            }
            word.text.push(c);
            chars.next();
        }
        if !comma && !list.is_empty() {
            fields.push(std::mem::take(&mut list));
        }
        comma = false;
        list.push(word);
    }
    if !list.is_empty() {
        fields.push(list);
    }
    fields
}

pub(crate) fn single<'a>(field: &'a [Word], what: &str) -> Result<&'a str, String> {
    match field {
        [word] => Ok(&word.text),
        _ => Err(format!("multiple values specified for {what}")),
    }
}

fn rule(fields: &[Vec<Word>], line: u32) -> Result<Rule, String> {
    let mut fields = fields.iter();
    let kind = fields.next().map_or(Ok(""), |f| single(f, "connection type"))?;
    let conn = match kind {
        "local" => Conn::Local,
        "host" => Conn::Host,
        "hostssl" => Conn::HostSsl,
        "hostnossl" => Conn::HostNoSsl,
        "hostgssenc" => Conn::HostGss,
        "hostnogssenc" => Conn::HostNoGss,
        other => return Err(format!("invalid connection type \"{other}\"")),
    };
    let names = |field: Option<&Vec<Word>>, what: &str| -> Result<Vec<Word>, String> {
        field.cloned().ok_or_else(|| format!("end-of-line before {what} specification"))
    };
    let databases = names(fields.next(), "database")?;
    let users = names(fields.next(), "role")?;
    let address = match conn {
        Conn::Local => Address::Any,
        _ => {
            let field = fields.next().ok_or("end-of-line before IP address specification")?;
            let text = single(field, "host address")?;
            address(text, &mut fields)?
        }
    };
    let method = fields.next().ok_or("end-of-line before authentication method")?;
    let method = match single(method, "authentication type")? {
        "trust" => Method::Trust,
        "reject" => Method::Reject,
        "password" => Method::Password,
        "md5" => Method::Md5,
        "scram-sha-256" => Method::ScramSha256,
        "peer" if conn != Conn::Local => {
            return Err("peer authentication is only supported on local sockets".to_owned());
        }
        // On a local socket, ident means peer.
        "ident" if conn == Conn::Local => Method::Peer,
        "peer" => Method::Peer,
        "gss" if conn == Conn::Local => {
            return Err("gssapi authentication is not supported on local sockets".to_owned());
        }
        "cert" if conn != Conn::HostSsl => {
            return Err("cert authentication is only supported on hostssl connections".to_owned());
        }
        "cert" => Method::Cert,
        other => match OTHERS.iter().find(|name| **name == other) {
            Some(name) => Method::Other(name),
            None if NOT_BUILT.contains(&other) => {
                return Err(format!(
                    "invalid authentication method \"{other}\": not supported by this build"
                ));
            }
            None => return Err(format!("invalid authentication method \"{other}\"")),
        },
    };
    let mut options = Vec::new();
    for field in fields {
        for word in field {
            let (name, value) = word.text.split_once('=').ok_or_else(|| {
                format!("authentication option not in name=value format: {}", word.text)
            })?;
            if !OPTIONS.contains(&name) {
                return Err(format!("unrecognized authentication option name: \"{name}\""));
            }
            if name == "map"
                && !matches!(method, Method::Peer | Method::Cert | Method::Other("ident" | "gss"))
            {
                return Err("authentication option \"map\" is only valid \
                            for authentication methods ident, peer, gssapi, sspi, and cert"
                    .to_owned());
            }
            if matches!(name, "clientcert" | "clientname") {
                check_client_option(name, value, conn, method)?;
            }
            options.push((name.to_owned(), value.to_owned()));
        }
    }
    Ok(Rule { conn, databases, users, address, method, options, line })
}

/// Checks the options about certificates of clients.
fn check_client_option(name: &str, value: &str, conn: Conn, method: Method) -> Result<(), String> {
    if conn != Conn::HostSsl {
        return Err(format!("{name} can only be configured for \"hostssl\" rows"));
    }
    match (name, value) {
        ("clientcert", "verify-ca") if method == Method::Cert => {
            Err("clientcert only accepts \"verify-full\" when using \"cert\" authentication"
                .to_owned())
        }
        ("clientcert", "verify-ca" | "verify-full") | ("clientname", "CN" | "DN") => Ok(()),
        _ => Err(format!("invalid value for {name}: \"{value}\"")),
    }
}

fn address<'a>(
    text: &str,
    fields: &mut impl Iterator<Item = &'a Vec<Word>>,
) -> Result<Address, String> {
    match text {
        "all" => return Ok(Address::Any),
        "samehost" => return Ok(Address::SameHost),
        "samenet" => return Ok(Address::SameNet),
        _ => {}
    }
    if let Some((base, bits)) = text.split_once('/') {
        let invalid = || format!("invalid IP address \"{base}\"");
        let base: IpAddr = base.parse().map_err(|_| invalid())?;
        let most = if base.is_ipv4() { 32 } else { 128 };
        let bits = bits.parse().ok().filter(|b| *b <= most);
        let bits = bits.ok_or_else(|| format!("invalid CIDR mask in address \"{text}\""))?;
        return Ok(Address::Net { base, bits });
    }
    let Ok(base) = text.parse::<IpAddr>() else { return Ok(Address::Name(text.to_owned())) };
    let field = fields.next().ok_or("end-of-line before netmask specification")?;
    let mask = single(field, "netmask")?;
    let parsed: IpAddr = mask.parse().map_err(|_| format!("invalid IP mask \"{mask}\""))?;
    if parsed.is_ipv4() != base.is_ipv4() {
        return Err("IP address and mask do not match".to_owned());
    }
    let bits = match parsed {
        IpAddr::V4(m) => u32::from(m).leading_ones(),
        IpAddr::V6(m) => u128::from(m).leading_ones(),
    };
    Ok(Address::Net { base, bits: bits as u8 })
}

/// Whether the address is in the network.
fn in_net(address: IpAddr, base: IpAddr, bits: u8) -> bool {
    match (address, base) {
        (IpAddr::V4(a), IpAddr::V4(b)) => {
            let shift = 32 - u32::from(bits);
            bits == 0 || u32::from(a) >> shift == u32::from(b) >> shift
        }
        (IpAddr::V6(a), IpAddr::V6(b)) => {
            let shift = 128 - u32::from(bits);
            bits == 0 || u128::from(a) >> shift == u128::from(b) >> shift
        }
        _ => false,
    }
}

impl Conn {
    fn name(self) -> &'static str {
        match self {
            Conn::Local => "local",
            Conn::Host => "host",
            Conn::HostSsl => "hostssl",
            Conn::HostNoSsl => "hostnossl",
            Conn::HostGss => "hostgssenc",
            Conn::HostNoGss => "hostnogssenc",
        }
    }
}

impl Method {
    /// The name used in files.
    pub fn name(self) -> &'static str {
        match self {
            Method::Trust => "trust",
            Method::Reject => "reject",
            Method::Password => "password",
            Method::Md5 => "md5",
            Method::ScramSha256 => "scram-sha-256",
            Method::Peer => "peer",
            Method::Cert => "cert",
            Method::Other(name) => name,
        }
    }
}

impl Rule {
    /// The value of an option.
    pub fn option(&self, name: &str) -> Option<&str> {
        self.options.iter().find(|(n, _)| n == name).map(|(_, v)| v.as_str())
    }

    /// The requirement on the client's certificate. The method `cert` implies the strictest one.
    pub fn client_check(&self) -> ClientCheck {
        match self.option("clientcert") {
            _ if self.method == Method::Cert => ClientCheck::Full,
            Some("verify-full") => ClientCheck::Full,
            Some(_) => ClientCheck::Authority,
            None => ClientCheck::None,
        }
    }

    /// Whether the complete name of a certificate is compared, instead of its common name.
    pub fn compares_distinguished_name(&self) -> bool {
        self.option("clientname") == Some("DN")
    }

    fn shown(&self) -> Line {
        let words = |list: &[Word]| list.iter().map(|w| w.text.clone()).collect();
        let (address, netmask) = match &self.address {
            _ if self.conn == Conn::Local => (None, None),
            Address::Any => (Some("all".to_owned()), None),
            Address::SameHost => (Some("samehost".to_owned()), None),
            Address::SameNet => (Some("samenet".to_owned()), None),
            Address::Name(name) => (Some(name.clone()), None),
            Address::Net { base, bits } => {
                let mask = match base {
                    IpAddr::V4(_) => {
                        let mask = u32::MAX.checked_shl(32 - u32::from(*bits)).unwrap_or(0);
                        IpAddr::V4(mask.into())
                    }
                    IpAddr::V6(_) => {
                        let mask = u128::MAX.checked_shl(128 - u32::from(*bits)).unwrap_or(0);
                        IpAddr::V6(mask.into())
                    }
                };
                (Some(base.to_string()), Some(mask.to_string()))
            }
        };
        Line {
            number: self.line,
            kind: self.conn.name().to_owned(),
            databases: words(&self.databases),
            users: words(&self.users),
            address,
            netmask,
            method: self.method.name().to_owned(),
            options: self.options.iter().map(|(n, v)| format!("{n}={v}")).collect(),
            error: None,
        }
    }

    fn matches(
        &self,
        peer: Peer,
        database: &str,
        user: &str,
        replication: bool,
        context: &mut dyn AuthContext,
    ) -> bool {
        let connection = match (self.conn, peer.address) {
            (Conn::Local, None) | (Conn::Host | Conn::HostNoGss, Some(_)) => true,
            (Conn::HostSsl, Some(_)) => peer.encrypted,
            (Conn::HostNoSsl, Some(_)) => !peer.encrypted,
            _ => false,
        };
        connection
            && self.address_matches(peer, context)
            && self
                .databases
                .iter()
                .any(|w| database_matches(w, database, user, replication, context))
            && self.users.iter().any(|w| user_matches(w, user, context))
    }

    fn address_matches(&self, peer: Peer, context: &mut dyn AuthContext) -> bool {
        let Some(address) = peer.address else { return true };
        // An IPv4 client of an IPv6 socket has a mapped address.
        let address = address.to_canonical();
        match &self.address {
            Address::Any => true,
            Address::Net { base, bits } => in_net(address, *base, *bits),
            Address::SameHost => address.is_loopback() || context.is_own_address(address),
            Address::SameNet => address.is_loopback() || context.is_own_network(address),
            Address::Name(name) if name.starts_with('.') => false,
            Address::Name(name) => {
                use std::net::ToSocketAddrs;
                let mut found = (name.as_str(), 0).to_socket_addrs().into_iter().flatten();
                found.any(|a| a.ip().to_canonical() == address)
            }
        }
    }
}

fn database_matches(
    w: &Word,
    database: &str,
    user: &str,
    replication: bool,
    context: &mut dyn AuthContext,
) -> bool {
    if !w.quoted {
        match w.text.as_str() {
            "replication" => return replication,
            _ if replication => return false,
            "all" => return true,
            "sameuser" => return database == user,
            "samerole" | "samegroup" => return context.is_member(user, database),
            _ => {}
        }
    }
    !replication && w.text == database
}

fn user_matches(w: &Word, user: &str, context: &mut dyn AuthContext) -> bool {
    if !w.quoted {
        if w.text == "all" {
            return true;
        }
        if let Some(group) = w.text.strip_prefix('+') {
            return context.is_member(user, group);
        }
    }
    w.text == user
}

/// The message for a line that no connection can match while the setting `ssl` is off.
pub const SSL_DISABLED: &str = "hostssl record cannot match because SSL is disabled";

impl Rules {
    /// Reports about lines for encrypted connections, for the log of a server with `ssl` off.
    pub fn without_ssl<'a>(&'a self, path: &'a str) -> impl Iterator<Item = PgError> + 'a {
        self.rules.iter().filter(|rule| rule.conn == Conn::HostSsl).map(move |rule| {
            line_error(path, rule.line, SSL_DISABLED.to_owned())
                .hint("Set ssl = on in postgresql.conf.")
        })
    }

    /// The first matching rule.
    pub fn find(
        &self,
        peer: Peer,
        database: &str,
        user: &str,
        replication: bool,
        context: &mut dyn AuthContext,
    ) -> Option<&Rule> {
        self.rules.iter().find(|r| r.matches(peer, database, user, replication, context))
    }
}

/// 28000 for a connection without a matching rule, or with a matching reject rule.
pub fn rejection_error(rejected: bool, peer: Peer, database: &str, user: &str) -> PgError {
    let host = peer.address.map_or("[local]".to_owned(), |a| a.to_string());
    let crypt = if peer.encrypted { "SSL encryption" } else { "no encryption" };
    let message = if rejected {
        format!(
            "pg_hba.conf rejects connection for host \"{host}\", user \"{user}\", \
             database \"{database}\", \
             {crypt}"
        )
    } else {
        format!(
            "no pg_hba.conf entry for host \"{host}\", user \"{user}\", database \"{database}\", \
             {crypt}"
        )
    };
    PgError::new(SqlState::INVALID_AUTHORIZATION_SPECIFICATION, message).severity(Severity::Fatal)
}
