//! Messages to a service manager (`Type=notify`).

use std::os::unix::net::UnixDatagram;
use std::process::{Command, Stdio};
use std::time::Duration;
use testkit::dir::TempDir;
use testkit::norsu::{self, binary};
use testkit::postgres::{chown_to_server_user, kill, run};

#[test]
fn a_service_manager_is_told_of_start_reload_and_shutdown() {
    let dir = TempDir::new("notify");
    let data = dir.path().join("data");
    norsu::init(&data);
    let path = dir.path().join("notify");
    let manager = UnixDatagram::bind(&path).unwrap();
    manager.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
    chown_to_server_user(dir.path());
    let mut start = Command::new(binary());
    start.arg("start").arg("-D").arg(&data).arg("-k").arg(dir.path()).args(["-h", ""]);
    start.env("NOTIFY_SOCKET", &path).stdin(Stdio::null()).stdout(Stdio::null());
    let mut server = start.stderr(Stdio::null()).spawn().unwrap();
    let next = || {
        let mut buffer = [0; 64];
        let length = manager.recv(&mut buffer).expect("a message");
        String::from_utf8_lossy(&buffer[..length]).into_owned()
    };
    let send = |signal: &str| run(kill(signal, &server.id().to_string()));
    assert_eq!(next(), "READY=1");
    send("HUP");
    assert_eq!([next(), next()], ["RELOADING=1", "READY=1"]);
    send("INT");
    assert_eq!(next(), "STOPPING=1");
    assert!(server.wait().unwrap().success());
}
