//! Listening sockets: TCP addresses and Unix-domain sockets.
//!
//! Counterpart: pqcomm.c (`StreamServerPort`).

use crate::failure::Failure;
use crate::lockfile::LockFile;
use crate::net::Stream;
use crate::user;
use settings::{ServerValues, Source};
use std::io;
use std::net::{TcpListener, ToSocketAddrs};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixListener;
use std::sync::Arc;
use vfs::process;

pub(crate) enum Listener {
    Tcp(TcpListener),
    Unix(UnixListener),
}

impl Listener {
    /// Waits for a connection.
    pub(crate) fn accept(&self) -> io::Result<Stream> {
        match self {
            Listener::Tcp(l) => l.accept().map(|(s, _)| Stream::tcp(s)),
            Listener::Unix(l) => l.accept().map(|(s, _)| Stream::unix(s)),
        }
    }

    /// Closes the socket: a pending accept fails, and the address becomes free.
    pub(crate) fn close(&self) {
        match self {
            Listener::Tcp(l) => process::stop_listening(l),
            Listener::Unix(l) => process::stop_listening(l),
        }
    }
}

/// The file of a Unix-domain socket, removed on drop together with its lock file.
struct SocketFile(String);

impl Drop for SocketFile {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

/// All listeners and their files.
pub(crate) struct Listeners {
    pub(crate) listeners: Vec<Arc<Listener>>,
    _files: Vec<(SocketFile, LockFile)>,
    /// For `postmaster.pid`.
    pub(crate) first_directory: String,
    pub(crate) first_address: String,
    /// Messages for the log.
    pub(crate) lines: Vec<String>,
}

/// The text of a system error, without its number.
pub(crate) fn reason(e: &io::Error) -> String {
    let text = e.to_string();
    text.split(" (os error").next().unwrap_or_default().to_owned()
}

/// Opens all sockets configured in the settings.
pub(crate) fn open(base: &ServerValues, data: &str, start_time: i64) -> Result<Listeners, Failure> {
    let port = base.int("port") as u16;
    let mut all = Listeners {
        listeners: Vec::new(),
        _files: Vec::new(),
        first_directory: String::new(),
        first_address: String::new(),
        lines: Vec::new(),
    };
    let addresses: Vec<&str> = words(base.text("listen_addresses"));
    let mut faults = Vec::new();
    for address in &addresses {
        let before = all.listeners.len();
        listen_tcp(address, port, &mut all, &mut faults);
        if all.listeners.len() > before && all.first_address.is_empty() {
            (*address).clone_into(&mut all.first_address);
        }
    }
    if !addresses.is_empty() && all.listeners.is_empty() {
        let why = faults.pop().unwrap_or_else(|| "could not create any TCP/IP sockets".to_owned());
        return Err(Failure::new(format!(
            "{why} (is another server already running on port {port}?)"
        )));
    }
    all.lines.append(&mut faults);
    let setting = base.registry.find("unix_socket_directories");
    let chosen = setting.is_some_and(|id| base.origin(id).source != Source::Default);
    for directory in words(base.text("unix_socket_directories")) {
        // The built-in default directory exists only on Debian.
        let usable = chosen || writable(directory);
        let directory = if usable { directory } else { "/tmp" };
        listen_unix(directory, port, base, data, start_time, &mut all)?;
        if all.first_directory.is_empty() {
            directory.clone_into(&mut all.first_directory);
        }
    }
    if all.listeners.is_empty() {
        return Err(Failure::new("no socket created for listening"));
    }
    Ok(all)
}

fn words(list: &str) -> Vec<&str> {
    list.split(',').map(|w| w.trim().trim_matches('"')).filter(|w| !w.is_empty()).collect()
}

fn writable(directory: &str) -> bool {
    let probe = format!("{directory}/.norsu.{}", std::process::id());
    let made = std::fs::File::create(&probe).is_ok();
    let _ = std::fs::remove_file(&probe);
    made
}

fn listen_tcp(address: &str, port: u16, all: &mut Listeners, faults: &mut Vec<String>) {
    let hosts: Vec<std::net::SocketAddr> = match address {
        "*" => {
            // One socket for both protocols if the system has IPv6.
            let both = std::net::SocketAddr::from((std::net::Ipv6Addr::UNSPECIFIED, port));
            match TcpListener::bind(both) {
                Ok(listener) => {
                    let both = "IPv4 and IPv6 addresses";
                    all.lines.push(format!("listening on all {both}, port {port}"));
                    all.listeners.push(Arc::new(Listener::Tcp(listener)));
                    return;
                }
                Err(e) if e.kind() == io::ErrorKind::AddrInUse => {
                    faults.push(format!("could not bind IPv6 address \"::\": {}", reason(&e)));
                    return;
                }
                Err(_) => vec![(std::net::Ipv4Addr::UNSPECIFIED, port).into()],
            }
        }
        host => match (host, port).to_socket_addrs() {
            Ok(found) => found.collect(),
            Err(e) => {
                faults.push(format!(
                    "could not translate host name \"{host}\", service \"{port}\" to address: {}",
                    reason(&e)
                ));
                return;
            }
        },
    };
    for at in hosts {
        let kind = if at.is_ipv4() { "IPv4" } else { "IPv6" };
        match TcpListener::bind(at) {
            Ok(listener) => {
                all.lines.push(format!("listening on {kind} address \"{}\", port {port}", at.ip()));
                all.listeners.push(Arc::new(Listener::Tcp(listener)));
            }
            Err(e) => faults.push(format!(
                "could not bind {kind} address \"{}\": {}",
                at.ip(),
                reason(&e)
            )),
        }
    }
}

/// Changes the group of the socket file to `unix_socket_group`, if set.
fn set_group(path: &str, group: &str) -> Result<(), Failure> {
    if group.is_empty() {
        return Ok(());
    }
    let number = user::group_number(group)
        .ok_or_else(|| Failure::new(format!("group \"{group}\" does not exist")))?;
    std::os::unix::fs::chown(path, None, Some(number)).map_err(|e| {
        Failure::new(format!("could not set group of file \"{path}\": {}", reason(&e)))
    })
}

fn listen_unix(
    directory: &str,
    port: u16,
    base: &ServerValues,
    data: &str,
    start_time: i64,
    all: &mut Listeners,
) -> Result<(), Failure> {
    let path = format!("{directory}/.s.PGSQL.{port}");
    if path.len() > 107 {
        return Err(Failure::new(format!(
            "Unix-domain socket path \"{path}\" is too long (maximum 107 bytes)"
        )));
    }
    let lines = vec![
        std::process::id().to_string(),
        data.to_owned(),
        start_time.to_string(),
        port.to_string(),
        directory.to_owned(),
    ];
    let lock = LockFile::create(format!("{path}.lock"), lines)?;
    // Under the lock, an existing socket file is stale.
    let _ = std::fs::remove_file(&path);
    let listener = UnixListener::bind(&path).map_err(|e| {
        Failure::new(format!("could not bind Unix address \"{path}\": {}", reason(&e)))
    })?;
    let file = SocketFile(path.clone());
    set_group(&path, base.text("unix_socket_group"))?;
    let mode = base.int("unix_socket_permissions") as u32;
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).map_err(|e| {
        Failure::new(format!("could not set permissions of file \"{path}\": {}", reason(&e)))
    })?;
    all.lines.push(format!("listening on Unix socket \"{path}\""));
    all.listeners.push(Arc::new(Listener::Unix(listener)));
    all._files.push((file, lock));
    Ok(())
}
