//! Reservation of log space: one compare-and-swap per record.
//!
//! The state is one 16-byte word, {byte position, length of the last record, generation}, changed
//! by compare-and-swap. Positions count usable bytes ([`crate::layout`]), so a reservation is an
//! addition. The generation changes with the redo pointer and with `full_page_writes`: an inserter
//! that decided about page images under an older generation fails to reserve and builds its record
//! again. While such a change is in progress the generation is odd and no reservation succeeds.
//!
//! INVARIANT: a record that starts at or after the redo pointer was built under that redo pointer
//! or a later one.
//!
//! Counterpart: ReserveXLogInsertLocation in xlog.c.

use ids::Lsn;
use sync::atomic::Ordering::{Acquire, Relaxed, Release};
use sync::atomic::{AtomicBool, AtomicU32, AtomicU64, spin_loop};

/// The word, unpacked.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct State {
    pos: u64,
    /// From the start of the last record to `pos`.
    last_len: u32,
    generation: u32,
}

#[cfg(not(loom))]
mod word {
    use super::State;
    use sync::atomic::{AtomicU128, Ordering::SeqCst};

    pub(super) struct Word(AtomicU128);

    impl State {
        fn pack(self) -> u128 {
            u128::from(self.pos) << 64
                | u128::from(self.last_len) << 32
                | u128::from(self.generation)
        }

        fn unpack(n: u128) -> State {
            State { pos: (n >> 64) as u64, last_len: (n >> 32) as u32, generation: n as u32 }
        }
    }

    impl Word {
        pub(super) fn new(state: State) -> Word {
            Word(AtomicU128::new(state.pack()))
        }

        pub(super) fn load(&self) -> State {
            State::unpack(self.0.load(SeqCst))
        }

        pub(super) fn change(&self, from: State, to: State) -> Result<(), State> {
            match self.0.compare_exchange_weak(from.pack(), to.pack(), SeqCst, SeqCst) {
                Ok(_) => Ok(()),
                Err(now) => Err(State::unpack(now)),
            }
        }

        pub(super) fn store(&self, state: State) {
            self.0.store(state.pack(), SeqCst);
        }
    }
}

/// loom has no 16-byte atomics. A mutex makes the same transitions atomic.
#[cfg(loom)]
mod word {
    use super::State;

    pub(super) struct Word(sync::Mutex<State>);

    impl Word {
        pub(super) fn new(state: State) -> Word {
            Word(sync::Mutex::new(state))
        }

        pub(super) fn load(&self) -> State {
            *self.0.lock()
        }

        pub(super) fn change(&self, from: State, to: State) -> Result<(), State> {
            let mut now = self.0.lock();
            if *now == from {
                *now = to;
                Ok(())
            } else {
                Err(*now)
            }
        }

        pub(super) fn store(&self, state: State) {
            *self.0.lock() = state;
        }
    }
}

/// The state under which an inserter decides about page images.
#[derive(Clone, Copy, Debug)]
pub(crate) struct View {
    generation: u32,
    pub redo: Lsn,
    pub full_page_writes: bool,
}

/// Space reserved for a record: its start, and that of the record before it, in usable bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Reserved {
    pub pos: u64,
    pub prev_pos: u64,
}

pub(crate) struct Reservation {
    word: word::Word,
    /// Generation of `redo` and `full_page_writes`. It follows the generation in the word.
    generation: AtomicU32,
    redo: AtomicU64,
    full_page_writes: AtomicBool,
    /// Held by [`Reservation::change`]: a second call would make the generation even in the middle
    /// of the first.
    changing: sync::Mutex<()>,
}

impl Reservation {
    /// Nothing can be reserved before [`Reservation::start`].
    pub(crate) fn new() -> Reservation {
        Reservation {
            word: word::Word::new(State { pos: 0, last_len: 0, generation: 1 }),
            generation: AtomicU32::new(1),
            redo: AtomicU64::new(0),
            full_page_writes: AtomicBool::new(true),
            changing: sync::Mutex::new(()),
        }
    }

    /// Allows reservations: the next record starts at `pos`, the last one at `prev_pos`.
    pub(crate) fn start(&self, pos: u64, prev_pos: u64, redo: Lsn, full_page_writes: bool) {
        self.redo.store(redo.0, Relaxed);
        self.full_page_writes.store(full_page_writes, Relaxed);
        self.word.store(State { pos, last_len: (pos - prev_pos) as u32, generation: 2 });
        self.generation.store(2, Release);
    }

    pub(crate) fn view(&self) -> View {
        loop {
            let generation = self.generation.load(Acquire);
            let redo = Lsn(self.redo.load(Acquire));
            let full_page_writes = self.full_page_writes.load(Acquire);
            // Newer values under an older generation are harmless: the reservation will fail.
            if generation.is_multiple_of(2) {
                return View { generation, redo, full_page_writes };
            }
            sync::yield_now();
        }
    }

    pub(crate) fn redo(&self) -> Lsn {
        Lsn(self.redo.load(Acquire))
    }

    pub(crate) fn full_page_writes(&self) -> bool {
        self.full_page_writes.load(Acquire)
    }

    /// Reserves `size` bytes; `None` if the generation of `view` is out of date.
    pub(crate) fn reserve(&self, view: &View, size: u32) -> Option<Reserved> {
        self.reserve_with(Some(view), |pos| Some(pos + u64::from(size))).flatten()
    }

    /// Reserves the space from the current position to the result of `end`. `Some(None)` if `end`
    /// returns `None`; `None` if the generation of `view` is out of date.
    pub(crate) fn reserve_with(
        &self,
        view: Option<&View>,
        end: impl Fn(u64) -> Option<u64>,
    ) -> Option<Option<Reserved>> {
        let mut state = self.word.load();
        loop {
            match view {
                Some(view) if state.generation != view.generation => return None,
                None if !state.generation.is_multiple_of(2) => {
                    sync::yield_now();
                    state = self.word.load();
                    continue;
                }
                _ => {}
            }
            let Some(end) = end(state.pos) else { return Some(None) };
            let next = State {
                pos: end,
                last_len: (end - state.pos) as u32,
                generation: state.generation,
            };
            match self.word.change(state, next) {
                Ok(()) => {
                    let prev_pos = state.pos - u64::from(state.last_len);
                    return Some(Some(Reserved { pos: state.pos, prev_pos }));
                }
                Err(now) => {
                    state = now;
                    spin_loop();
                }
            }
        }
    }

    /// End of the reserved space, in usable bytes.
    pub(crate) fn position(&self) -> u64 {
        self.word.load().pos
    }

    /// Changes the redo pointer and `full_page_writes`: `redo` gets the position and the old redo
    /// pointer and returns the new one.
    pub(crate) fn change(
        &self,
        redo: impl FnOnce(u64, Lsn) -> Lsn,
        full_page_writes: Option<bool>,
    ) -> Lsn {
        let _alone = self.changing.lock();
        let closed = self.advance_generation();
        let new = redo(closed.pos, self.redo());
        self.redo.store(new.0, Release);
        if let Some(on) = full_page_writes {
            self.full_page_writes.store(on, Release);
        }
        self.generation.store(closed.generation.wrapping_add(1), Release);
        self.advance_generation();
        new
    }

    /// Adds one to the word's generation; returns the new state.
    fn advance_generation(&self) -> State {
        let mut state = self.word.load();
        loop {
            let next = State { generation: state.generation.wrapping_add(1), ..state };
            match self.word.change(state, next) {
                Ok(()) => return next,
                Err(now) => state = now,
            }
        }
    }
}
