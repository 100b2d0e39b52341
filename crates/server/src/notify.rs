//! Messages to the service manager that started the server (systemd's `Type=notify`).
//!
//! Counterpart: the calls of `sd_notify` in postmaster.c.

use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixDatagram};

/// Sends a message such as `READY=1`, if the environment names a service manager's socket. A socket
/// that cannot be reached is no reason to stop the server.
pub(crate) fn send(message: &str) {
    let Some(name) = std::env::var_os("NOTIFY_SOCKET") else { return };
    let name = name.as_encoded_bytes();
    let address = match name.strip_prefix(b"@") {
        Some(name) => SocketAddr::from_abstract_name(name),
        None => std::str::from_utf8(name)
            .map_err(std::io::Error::other)
            .and_then(SocketAddr::from_pathname),
    };
    let sent = address
        .and_then(|address| UnixDatagram::unbound()?.send_to_addr(message.as_bytes(), &address));
    // The service manager reports a server that does not become ready.
    let _ = sent;
}
