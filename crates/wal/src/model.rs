//! loom models of reservation and completion:
//! `RUSTFLAGS="--cfg loom" cargo test -p wal --target-dir target/loom loom_`

use crate::reserve::Reservation;
use crate::slots::Slots;
use ids::Lsn;
use loom::sync::Arc;
use loom::sync::atomic::{AtomicU64, Ordering::*};

/// At most three preemptions, since exploring all interleavings would take hours.
fn bounded(model: impl Fn() + Sync + Send + 'static) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(3);
    builder.check(model);
}

/// Everything before the complete position is copied.
#[test]
fn loom_complete_means_copied() {
    bounded(|| {
        let reservation = Arc::new(Reservation::new());
        // Position 8 is the first: 0 and 1 are the slot values FREE and UNKNOWN.
        reservation.start(8, 0, Lsn(8), true);
        let slots = Arc::new(Slots::new(2));
        let words = Arc::new([AtomicU64::new(0), AtomicU64::new(0)]);
        let inserters: Vec<_> = (0..2)
            .map(|_| {
                let (reservation, slots, words) =
                    (reservation.clone(), slots.clone(), words.clone());
                loom::thread::spawn(move || {
                    let view = reservation.view();
                    let claim = slots.claim(0);
                    let reserved = reservation.reserve(&view, 8).expect("the generation stays");
                    claim.publish(Lsn(reserved.pos));
                    words[reserved.pos as usize / 8 - 1].store(reserved.pos, Relaxed);
                })
            })
            .collect();
        let end = Lsn(reservation.position());
        let complete = slots.wait_complete(end, end);
        assert!(complete >= end);
        for (i, word) in words.iter().enumerate() {
            let start = 8 + i as u64 * 8;
            if start < complete.0 {
                assert_eq!(word.load(Relaxed), start);
            }
        }
        inserters.into_iter().for_each(|t| t.join().unwrap());
        assert_eq!(reservation.position(), 24);
    });
}

/// A record that is inserted at or after the redo pointer was built under it.
#[test]
fn loom_records_after_the_redo_pointer_know_it() {
    bounded(|| {
        let reservation = Arc::new(Reservation::new());
        reservation.start(8, 0, Lsn(8), true);
        let changer = {
            let reservation = reservation.clone();
            loom::thread::spawn(move || reservation.change(|pos, _| Lsn(pos), None))
        };
        let inserter = {
            let reservation = reservation.clone();
            loom::thread::spawn(move || {
                loop {
                    let view = reservation.view();
                    if let Some(reserved) = reservation.reserve(&view, 8) {
                        return (reserved.pos, view.redo);
                    }
                    loom::thread::yield_now();
                }
            })
        };
        let redo = changer.join().unwrap();
        let (pos, known) = inserter.join().unwrap();
        assert!(pos < redo.0 || known == redo, "{pos} {redo} {known}");
        assert_eq!(reservation.redo(), redo);
    });
}
