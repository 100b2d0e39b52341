//! Background workers: threads that run the engine's periodic steps, and the autovacuum launcher.

use crate::threads::STACK_BYTES;
use engine::Engine;
use pgerror::{PgError, Result, Severity};
use session::{Instance, LogOrigin, autovacuum};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Duration;
use sync::JoinHandle;
use sync::atomic::{AtomicBool, Ordering};
use sync::wait::{Deadline, WaitEvent, Waiter};

type Step = fn(&Engine) -> Result<Duration>;

/// The running background workers.
pub(crate) struct Workers {
    stop: Arc<AtomicBool>,
    threads: Vec<(Arc<Waiter>, JoinHandle<()>)>,
}

const STEPS: [(&str, WaitEvent, Step); 3] = [
    ("checkpointer", WaitEvent::CheckpointerMain, Engine::checkpointer_step),
    ("background writer", WaitEvent::BgWriterMain, Engine::bgwriter_step),
    ("walwriter", WaitEvent::WalWriterMain, Engine::walwriter_step),
];

const LAUNCHER: &str = "autovacuum launcher";
const WORKER: &str = "autovacuum worker";

/// Runs the work; a panic becomes an error. Locks, latches and pins are released by unwinding.
fn guarded(work: &mut dyn FnMut() -> Result<()>) -> Result<()> {
    catch_unwind(AssertUnwindSafe(work))
        .unwrap_or_else(|_| Err(PgError::internal("panic in a background worker")))
}

/// Logs an error of a worker. A PANIC ends the server.
fn log(instance: &Instance, panic: &dyn Fn(&PgError), kind: &'static str, error: &PgError) {
    if error.fields().severity >= Severity::Panic {
        panic(error);
    }
    let origin = LogOrigin { kind, ..LogOrigin::default() };
    instance.log.write(&origin, error, None);
}

impl Workers {
    pub(crate) fn start(
        instance: &Arc<Instance>,
        panic: &Arc<dyn Fn(&PgError) + Send + Sync>,
    ) -> std::io::Result<Workers> {
        let mut workers = Workers::start_for_one(instance, panic)?;
        workers.start_launcher(instance, panic)?;
        Ok(workers)
    }

    /// Starts the workers that single-user mode needs.
    pub(crate) fn start_for_one(
        instance: &Arc<Instance>,
        panic: &Arc<dyn Fn(&PgError) + Send + Sync>,
    ) -> std::io::Result<Workers> {
        let stop = Arc::new(AtomicBool::new(false));
        let mut threads = Vec::new();
        for (name, event, step) in STEPS {
            // A full WAL buffer wakes the walwriter, a full segment wakes the checkpointer.
            let waiter = match event {
                WaitEvent::WalWriterMain => instance.engine.wal().background_waiter().clone(),
                WaitEvent::CheckpointerMain => instance.engine.wal().checkpointer_waiter().clone(),
                _ => Arc::new(Waiter::new()),
            };
            let worker = instance.register_worker(name, waiter.clone());
            let (w, s, i, p) = (waiter.clone(), stop.clone(), instance.clone(), panic.clone());
            let thread = sync::spawn_with_stack(name, 1 << 20, move || {
                worker.meter.begin();
                while !s.load(Ordering::Acquire) {
                    let span = step(&i.engine).unwrap_or_else(|e| {
                        if e.fields().severity == Severity::Panic {
                            // The handler logs the error and does not return.
                            p(&e);
                        }
                        let origin = LogOrigin { kind: name, ..LogOrigin::default() };
                        i.log.write(&origin, &e, None);
                        Duration::from_secs(1)
                    });
                    w.park(event, Deadline::after(span));
                }
            })?;
            threads.push((waiter, thread));
        }
        Ok(Workers { stop, threads })
    }

    /// Starts the autovacuum launcher, which starts a thread for each worker. `pg_stat_activity`
    /// shows both while they work.
    fn start_launcher(
        &mut self,
        instance: &Arc<Instance>,
        panic: &Arc<dyn Fn(&PgError) + Send + Sync>,
    ) -> std::io::Result<()> {
        let waiter = Arc::new(Waiter::new());
        instance.engine.txn().set_wraparound_waiter(waiter.clone());
        let (w, s, i, p) = (waiter.clone(), self.stop.clone(), instance.clone(), panic.clone());
        let thread = sync::spawn_with_stack(LAUNCHER, STACK_BYTES, move || {
            let mut launcher = autovacuum::Launcher::new(&i);
            let mut workers: Vec<JoinHandle<()>> = Vec::new();
            while !s.load(Ordering::Acquire) {
                let mut nap = Duration::from_secs(60);
                let mut starts = Vec::new();
                let done = guarded(&mut || {
                    if i.check_admission().is_ok() {
                        (starts, nap) = launcher.round()?;
                    }
                    Ok(())
                });
                if let Err(e) = done {
                    log(&i, &*p, LAUNCHER, &e);
                }
                workers.retain(|thread| !thread.is_finished());
                for start in starts {
                    let (i, p, w) = (i.clone(), p.clone(), w.clone());
                    let work = move || {
                        let done = guarded(&mut || autovacuum::work(&i, &start));
                        if let Err(e) = done {
                            log(&i, &*p, WORKER, &e);
                        }
                        drop(start);
                        w.wake();
                    };
                    // A worker that cannot be started is started in a later round.
                    workers.extend(sync::spawn_with_stack(WORKER, STACK_BYTES, work).ok());
                }
                w.park(WaitEvent::AutoVacuumMain, Deadline::after(nap));
            }
            for thread in workers {
                // A panic of a worker was already reported by the panic handler.
                let _ = thread.join();
            }
        })?;
        self.threads.push((waiter, thread));
        Ok(())
    }

    pub(crate) fn stop(self) {
        self.stop.store(true, Ordering::Release);
        for (waiter, thread) in self.threads {
            waiter.wake();
            // A panic of a worker was already reported by the panic handler.
            let _ = thread.join();
        }
    }
}
