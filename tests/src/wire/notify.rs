//! Notifications and notices: recipients, time of delivery, and order.

use super::Both;
use super::client::{Bytes, Client, Message};

cases! {
    notifications_of_the_own_session,
    an_idle_session_gets_notifications_at_once,
    a_busy_session_gets_notifications_afterwards,
    notices_of_functions_are_sent_at_once,
}

fn notifications_of_the_own_session(both: &Both) {
    both.ask(&[
        "listen a",
        "notify a",
        "notify a, 'payload'",
        "notify b",
        "unlisten a",
        "notify a",
    ]);
    both.ask(&["listen a", "select pg_notify('a', 'x'), pg_notify('b', 'y')"]);
    both.ask(&[
        "listen a",
        "begin",
        "notify a, '1'",
        "notify a, '1'",
        "savepoint s",
        "notify a, '2'",
        "listen b",
        "rollback to s",
        "notify a, '3'",
        "commit",
        "select * from pg_listening_channels()",
    ]);
    both.ask(&[
        "begin",
        "listen a",
        "notify a",
        "rollback",
        "select * from pg_listening_channels()",
    ]);
    both.ask(&["listen a; notify a, '1'; select 1; notify a, '2'"]);
    both.ask(&["begin read only", "listen a", "notify a", "commit"]);
    both.ask(&[
        "listen a",
        "listen b",
        "unlisten *",
        "notify a",
        "listen c",
        "discard all",
        "notify c",
    ]);
    both.ask(&[
        "select pg_notify('', 'x')",
        "select pg_notify(repeat('x', 64), '')",
        "select pg_notify('x', repeat('y', 8000))",
        "select pg_notify(null, null)",
        "select pg_notification_queue_usage()",
    ]);
}

/// The next message as text.
fn next(client: &mut Client) -> String {
    client.read().as_ref().map(Message::show).expect("a message")
}

fn an_idle_session_gets_notifications_at_once(both: &Both) {
    let [ours, theirs] = both.0.sockets().map(|socket| {
        let (mut ear, mut mouth) = (Client::connect(&socket), Client::connect(&socket));
        let mut heard = ear.talk(&Bytes::new().query("listen news"), 1);
        mouth.talk(&Bytes::new().query("notify news, 'one'"), 1);
        heard.push(next(&mut ear));
        // Notifications arrive only after the commit, and in commit order.
        mouth.talk(&Bytes::new().query("begin; notify news, 'two'; notify news, 'three'"), 1);
        mouth.talk(&Bytes::new().query("commit"), 1);
        heard.push(next(&mut ear));
        heard.push(next(&mut ear));
        mouth.talk(&Bytes::new().query("notify other"), 1);
        heard.extend(ear.talk(&Bytes::new().query("select 1"), 1));
        heard
    });
    assert_eq!(ours, theirs);
    assert_eq!(ours.iter().filter(|line| line.starts_with("notification")).count(), 3, "{ours:?}");
}

fn a_busy_session_gets_notifications_afterwards(both: &Both) {
    let [ours, theirs] = both.0.sockets().map(|socket| {
        let (mut ear, mut mouth) = (Client::connect(&socket), Client::connect(&socket));
        let mut heard = ear.talk(&Bytes::new().query("listen news"), 1);
        heard.extend(ear.talk(&Bytes::new().query("begin"), 1));
        mouth.talk(&Bytes::new().query("notify news, 'later'"), 1);
        heard.extend(ear.talk(&Bytes::new().query("select 1"), 1));
        heard.extend(ear.talk(&Bytes::new().query("commit"), 1));
        heard
    });
    assert_eq!(ours, theirs);
    assert_eq!(ours.iter().filter(|line| line.starts_with("notification")).count(), 1, "{ours:?}");
}

fn notices_of_functions_are_sent_at_once(both: &Both) {
    let [ours, theirs] = both.0.sockets().map(|socket| {
        let (mut caller, mut blocker) = (Client::connect(&socket), Client::connect(&socket));
        let mut shown = Vec::new();
        blocker.talk(&Bytes::new().query("select pg_advisory_lock(31)"), 1);
        let wait = "raise notice 'waits'; perform pg_advisory_lock(31); raise notice 'goes on'; \
                    perform pg_advisory_unlock(31)";
        let create = format!("create procedure waits() language plpgsql as 'begin {} end'", {
            wait.replace('\'', "''") + ";"
        });
        caller.talk(&Bytes::new().query(&create), 1);
        let function = create
            .replace("procedure waits()", "function calls() returns int")
            .replace("; end'", "; return 1; end'");
        caller.talk(&Bytes::new().query(&function), 1);
        caller.talk(&Bytes::new().query("create table called (k int)"), 1);
        let extended = Bytes::new().parse("", "call waits()", &[]).bind("", "", &[], &[], &[]);
        let query = Bytes::new().parse("", "select calls()", &[]).bind("", "", &[], &[], &[]);
        for bytes in [
            Bytes::new().query(&format!("do 'begin {}; end'", wait.replace('\'', "''"))),
            Bytes::new().query("call waits()"),
            extended.execute("", 0).sync(),
            Bytes::new().query("select calls()"),
            Bytes::new().query("insert into called select calls()"),
            query.execute("", 0).sync(),
        ] {
            caller.send(&bytes.0);
            // The notice arrives while the statement waits for the lock.
            loop {
                let message = next(&mut caller);
                let is_notice = message.contains("waits");
                shown.push(message);
                if is_notice {
                    break;
                }
            }
            blocker.talk(&Bytes::new().query("select pg_advisory_unlock(31)"), 1);
            shown.extend(caller.until_ready().iter().map(Message::show));
            blocker.talk(&Bytes::new().query("select pg_advisory_lock(31)"), 1);
        }
        caller.talk(&Bytes::new().query("drop procedure waits()"), 1);
        caller.talk(&Bytes::new().query("drop function calls(); drop table called"), 1);
        shown
    });
    assert_eq!(ours, theirs);
}
