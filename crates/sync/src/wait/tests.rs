use super::*;
use std::sync::Arc;

#[test]
fn events_have_postgresql_names() {
    assert_eq!(
        (WaitEvent::ClientRead.class(), WaitEvent::ClientRead.name()),
        ("Client", "ClientRead")
    );
    assert_eq!(
        (WaitEvent::LockTransactionId.class(), WaitEvent::LockTransactionId.name()),
        ("Lock", "transactionid")
    );
    assert_eq!(WaitEvent::from_number(0), None);
    assert_eq!(
        WaitEvent::from_number(WaitEvent::VacuumTruncate.number()),
        Some(WaitEvent::VacuumTruncate)
    );
}

#[test]
fn a_wake_before_the_park_is_kept_and_several_count_as_one() {
    let waiter = Waiter::new();
    waiter.wake();
    waiter.wake();
    assert_eq!(waiter.park(WaitEvent::PgSleep, None), Woken::Notified);
    let past = Deadline::at(Instant::now());
    assert_eq!(waiter.park(WaitEvent::PgSleep, Some(past)), Woken::Timeout);
}

#[test]
fn interrupts_end_parks_unless_masked() {
    let waiter = Waiter::new();
    waiter.raise(Interrupt::QueryCancel);
    assert!(waiter.pending());
    assert_eq!(waiter.park(WaitEvent::PgSleep, None), Woken::Interrupted);
    // The token that came with the interrupt is still there for the uninterrupted park.
    assert_eq!(waiter.park_uninterrupted(WaitEvent::PgSleep, None), Woken::Notified);
    let past = Deadline::at(Instant::now());
    assert_eq!(waiter.park_uninterrupted(WaitEvent::PgSleep, Some(past)), Woken::Timeout);
    assert!(waiter.take().contains(Interrupt::QueryCancel));
    assert!(!waiter.pending());
}

#[test]
fn a_parked_thread_is_woken_and_shows_its_event() {
    let waiter = Arc::new(Waiter::new());
    let other = waiter.clone();
    let thread = std::thread::spawn(move || other.park(WaitEvent::LockTuple, None));
    while waiter.current_event() != Some(WaitEvent::LockTuple) {
        std::thread::yield_now();
    }
    waiter.wake();
    assert_eq!(thread.join().unwrap(), Woken::Notified);
    assert_eq!(waiter.current_event(), None);
}

#[test]
fn ping_pong_loses_no_wake_up() {
    let (a, b) = (Arc::new(Waiter::new()), Arc::new(Waiter::new()));
    let (a2, b2) = (a.clone(), b.clone());
    let thread = std::thread::spawn(move || {
        for _ in 0..2000 {
            assert_eq!(a2.park(WaitEvent::PgSleep, None), Woken::Notified);
            b2.wake();
        }
    });
    for _ in 0..2000 {
        a.wake();
        assert_eq!(b.park(WaitEvent::PgSleep, None), Woken::Notified);
    }
    thread.join().unwrap();
}
