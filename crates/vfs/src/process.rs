//! Processes: signals, user and group, exit, resource usage, shared memory of another server. In
//! this crate because the calls need `unsafe`.

use std::io;
use std::time::Duration;

/// The signals that the server handles or sends.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Signal {
    Hangup,
    Interrupt,
    Quit,
    Terminate,
    User1,
    User2,
    Abort,
    Kill,
}

const AWAITED: [Signal; 5] =
    [Signal::Hangup, Signal::Interrupt, Signal::Quit, Signal::Terminate, Signal::User1];

impl Signal {
    /// The number of the signal on this platform.
    pub fn number(self) -> i32 {
        match self {
            Signal::Hangup => libc::SIGHUP,
            Signal::Interrupt => libc::SIGINT,
            Signal::Quit => libc::SIGQUIT,
            Signal::Terminate => libc::SIGTERM,
            Signal::User1 => libc::SIGUSR1,
            Signal::User2 => libc::SIGUSR2,
            Signal::Abort => libc::SIGABRT,
            Signal::Kill => libc::SIGKILL,
        }
    }
}

fn awaited() -> libc::sigset_t {
    // SAFETY: a signal set is plain data; the calls fill it.
    unsafe {
        let mut set: libc::sigset_t = std::mem::zeroed();
        libc::sigemptyset(&mut set);
        for signal in AWAITED {
            libc::sigaddset(&mut set, signal.number());
        }
        set
    }
}

/// Blocks the signals for [`wait_signal`], in this thread and those that it starts later.
pub fn block_signals() {
    let set = awaited();
    // SAFETY: the set is initialized; the old set is not requested.
    unsafe {
        libc::pthread_sigmask(libc::SIG_BLOCK, &set, std::ptr::null_mut());
    }
}

/// Unblocks all signals of the calling thread and restores the default reactions to them: a program
/// that the server runs is not to inherit what [`block_signals`] has blocked, or what was ignored
/// when the server was started.
pub fn restore_signals() -> io::Result<()> {
    // SAFETY: a signal set is plain data, which the call fills; the old set is not requested. The
    // default reaction is no pointer.
    unsafe {
        let mut set: libc::sigset_t = std::mem::zeroed();
        libc::sigemptyset(&mut set);
        libc::pthread_sigmask(libc::SIG_SETMASK, &set, std::ptr::null_mut());
        for signal in AWAITED {
            libc::signal(signal.number(), libc::SIG_DFL);
        }
    }
    Ok(())
}

/// The next signal, or `None` after `span`.
pub fn wait_signal(span: Duration) -> Option<Signal> {
    let set = awaited();
    let time = libc::timespec {
        tv_sec: libc::time_t::try_from(span.as_secs()).unwrap_or(libc::time_t::MAX),
        tv_nsec: span.subsec_nanos().into(),
    };
    // SAFETY: set and time are initialized; the signal's information is not requested.
    let number = unsafe { libc::sigtimedwait(&set, std::ptr::null_mut(), &time) };
    AWAITED.into_iter().find(|s| s.number() == number)
}

/// Sends a signal to a process.
pub fn send_signal(pid: i32, signal: Signal) -> io::Result<()> {
    // SAFETY: no memory is involved.
    match unsafe { libc::kill(pid, signal.number()) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

/// True if a process with this number exists. A process that has ended but has not been waited for
/// does not count: it holds no files any more.
pub fn exists(pid: i32) -> bool {
    // SAFETY: signal 0 only checks; no memory is involved.
    let known = pid > 0
        && (unsafe { libc::kill(pid, 0) } == 0
            || io::Error::last_os_error().raw_os_error() == Some(libc::EPERM));
    known && !has_ended(pid)
}

/// As [`exists`], for processes that this one may signal. A lock file of this data directory was
/// not written by any other.
pub fn may_signal(pid: i32) -> bool {
    // SAFETY: signal 0 only checks; no memory is involved.
    pid > 0 && unsafe { libc::kill(pid, 0) } == 0 && !has_ended(pid)
}

fn has_ended(pid: i32) -> bool {
    // "pid (name) state …"; the name may contain any character but ends at the last parenthesis.
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    let state = stat.rsplit_once(')').and_then(|(_, rest)| rest.trim_start().chars().next());
    matches!(state, Some('Z' | 'X'))
}

pub fn effective_user() -> u32 {
    // SAFETY: the call cannot fail.
    unsafe { libc::geteuid() }
}

/// Number of the parent process.
pub fn parent() -> i32 {
    // SAFETY: the call cannot fail.
    unsafe { libc::getppid() }
}

/// Switches to that user and group permanently, without supplementary groups.
pub fn become_user(user: u32, group: u32) -> io::Result<()> {
    // SAFETY: the only pointer is passed with length 0.
    let failed = unsafe {
        libc::setgroups(0, std::ptr::null()) != 0
            || libc::setgid(group) != 0
            || libc::setuid(user) != 0
    };
    if failed { Err(io::Error::last_os_error()) } else { Ok(()) }
}

/// Makes new files private, or readable by the group.
pub fn set_umask(group_access: bool) {
    // SAFETY: the call cannot fail.
    unsafe {
        libc::umask(if group_access { 0o027 } else { 0o077 });
    }
}

/// Exits at once: no destructors, no waiting for threads.
pub fn exit_now(status: i32) -> ! {
    // SAFETY: the call does not return.
    unsafe { libc::_exit(status) }
}

/// User id of the peer of a Unix-domain socket.
pub fn socket_peer(socket: &impl std::os::fd::AsRawFd) -> io::Result<u32> {
    let mut found = libc::ucred { pid: 0, uid: 0, gid: 0 };
    let mut len = size_of::<libc::ucred>() as libc::socklen_t;
    // SAFETY: the buffer is a `ucred` and its length is given.
    let result = unsafe {
        libc::getsockopt(
            socket.as_raw_fd(),
            libc::SOL_SOCKET,
            libc::SO_PEERCRED,
            (&raw mut found).cast(),
            &mut len,
        )
    };
    if result == 0 { Ok(found.uid) } else { Err(io::Error::last_os_error()) }
}

/// Reads without blocking from a socket: `WouldBlock` if there is nothing to read, 0 at the end.
pub fn receive_now(socket: &impl std::os::fd::AsRawFd, buf: &mut [u8]) -> io::Result<usize> {
    // SAFETY: the buffer is valid for writes of its length.
    let got = unsafe {
        libc::recv(socket.as_raw_fd(), buf.as_mut_ptr().cast(), buf.len(), libc::MSG_DONTWAIT)
    };
    usize::try_from(got).map_err(|_| io::Error::last_os_error())
}

/// Stops a listening socket, even if another thread is blocked in `accept` on it. Its address can
/// be bound again.
pub fn stop_listening(socket: &impl std::os::fd::AsRawFd) {
    // SAFETY: no memory is involved.
    unsafe {
        libc::shutdown(socket.as_raw_fd(), libc::SHUT_RDWR);
    }
}

/// Raises this process's limit of open files as far as the kernel allows (up to 2^20), and returns
/// it.
pub fn raise_open_files() -> u64 {
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: the structure is a local variable.
    unsafe {
        if libc::getrlimit(libc::RLIMIT_NOFILE, &mut limit) != 0 {
            return 1024;
        }
        let wanted = limit.rlim_max.min(1 << 20);
        if limit.rlim_cur < wanted {
            let raised = libc::rlimit { rlim_cur: wanted, rlim_max: limit.rlim_max };
            if libc::setrlimit(libc::RLIMIT_NOFILE, &raised) == 0 {
                return wanted;
            }
        }
    }
    limit.rlim_cur
}

/// Raises the size of core files to what the kernel allows; false if it allows none.
pub fn allow_core_files() -> bool {
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: the structure is a local variable.
    unsafe {
        if libc::getrlimit(libc::RLIMIT_CORE, &mut limit) != 0 || limit.rlim_max == 0 {
            return false;
        }
        limit.rlim_cur = limit.rlim_max;
        libc::setrlimit(libc::RLIMIT_CORE, &limit) == 0
    }
}

/// Redirects standard output and standard error of this process to the file.
pub fn redirect_output(file: &impl std::os::fd::AsRawFd) -> io::Result<()> {
    for stream in [libc::STDOUT_FILENO, libc::STDERR_FILENO] {
        // SAFETY: the file is open; the streams are open descriptors or free numbers.
        if unsafe { libc::dup2(file.as_raw_fd(), stream) } < 0 {
            return Err(io::Error::last_os_error());
        }
    }
    Ok(())
}

/// Stack size that a process may use, in kilobytes, less a reserve; `None` if there is no limit.
/// Counterpart: `get_stack_depth_rlimit`, `STACK_DEPTH_SLOP`.
pub fn stack_limit() -> Option<i64> {
    const RESERVE_BYTES: u64 = 512 * 1024;
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: the structure is a local variable.
    let failed = unsafe { libc::getrlimit(libc::RLIMIT_STACK, &mut limit) != 0 };
    if failed || limit.rlim_cur == libc::RLIM_INFINITY {
        return None;
    }
    i64::try_from(limit.rlim_cur.saturating_sub(RESERVE_BYTES) / 1024).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_can_be_bound_again_when_its_socket_stops_listening() {
        let one = std::net::TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let address = one.local_addr().unwrap();
        std::thread::scope(|scope| {
            let waiting = scope.spawn(|| one.accept().is_err());
            assert!(std::net::TcpListener::bind(address).is_err());
            stop_listening(&one);
            assert!(waiting.join().unwrap());
        });
        std::net::TcpListener::bind(address).unwrap();
    }

    #[test]
    fn usage_of_threads_and_of_the_process_is_reported() {
        let before = thread_usage();
        let mut sum = 0u64;
        while (thread_usage().user - before.user) < Duration::from_millis(60) {
            sum = (0..10_000).fold(sum, |a, n| a.wrapping_mul(31).wrapping_add(n));
        }
        let here = thread_usage();
        let (user, system) = thread_times(thread_id()).unwrap();
        // The kernel reports the times of other threads in ticks.
        let tick = Duration::from_millis(20);
        assert!(user + tick >= here.user && user <= thread_usage().user + tick, "{user:?} {sum}");
        assert!(system <= thread_usage().system + tick, "{system:?}");
        assert!(process_usage().user >= here.user);
        let ended = std::thread::spawn(thread_id).join().unwrap();
        assert!(ended != thread_id() && thread_times(-1).is_none());
    }

    #[test]
    fn processes_and_their_parents_exist() {
        let me = std::process::id() as i32;
        assert!(exists(me) && exists(parent()));
        assert!(!exists(0) && !exists(-1) && !exists(i32::MAX));
        assert!(raise_open_files() >= 256);
        let mut child = std::process::Command::new("true").spawn().unwrap();
        let pid = child.id() as i32;
        while exists(pid) {
            std::thread::yield_now();
        }
        child.wait().unwrap();
    }
}

/// Resource usage. Counterpart: `struct rusage`.
#[derive(Clone, Copy, Debug, Default)]
pub struct Usage {
    pub user: Duration,
    pub system: Duration,
    /// Of the whole process, in kilobytes.
    pub max_resident: u64,
    pub blocks_in: u64,
    pub blocks_out: u64,
    pub page_faults: u64,
    pub page_reclaims: u64,
    pub swaps: u64,
    pub signals: u64,
    pub messages_received: u64,
    pub messages_sent: u64,
    pub voluntary_switches: u64,
    pub involuntary_switches: u64,
}

/// Usage of the calling thread since its start.
pub fn thread_usage() -> Usage {
    usage(libc::RUSAGE_THREAD)
}

/// Usage of all threads of the process, those that have ended included.
pub fn process_usage() -> Usage {
    usage(libc::RUSAGE_SELF)
}

fn usage(whose: libc::c_int) -> Usage {
    // SAFETY: plain data, which the call fills.
    let raw = unsafe {
        let mut raw: libc::rusage = std::mem::zeroed();
        libc::getrusage(whose, &mut raw);
        raw
    };
    let time = |t: libc::timeval| {
        Duration::from_secs(u64::try_from(t.tv_sec).unwrap_or(0))
            + Duration::from_micros(u64::try_from(t.tv_usec).unwrap_or(0))
    };
    let count = |n: libc::c_long| u64::try_from(n).unwrap_or(0);
    Usage {
        user: time(raw.ru_utime),
        system: time(raw.ru_stime),
        max_resident: count(raw.ru_maxrss),
        blocks_in: count(raw.ru_inblock),
        blocks_out: count(raw.ru_oublock),
        page_faults: count(raw.ru_majflt),
        page_reclaims: count(raw.ru_minflt),
        swaps: count(raw.ru_nswap),
        signals: count(raw.ru_nsignals),
        messages_received: count(raw.ru_msgrcv),
        messages_sent: count(raw.ru_msgsnd),
        voluntary_switches: count(raw.ru_nvcsw),
        involuntary_switches: count(raw.ru_nivcsw),
    }
}

/// Kernel id of the calling thread, for [`thread_times`].
pub fn thread_id() -> i32 {
    // SAFETY: the call cannot fail.
    unsafe { libc::gettid() }
}

/// User and system time of a thread of this process, in units of the kernel's tick; `None` if there
/// is no such thread.
pub fn thread_times(id: i32) -> Option<(Duration, Duration)> {
    let stat = std::fs::read_to_string(format!("/proc/self/task/{id}/stat")).ok()?;
    // "id (name) state …": after the name, which may contain any character, the times are the
    // twelfth and thirteenth field.
    let (_, fields) = stat.rsplit_once(')')?;
    let mut times = fields.split_ascii_whitespace().skip(11);
    // SAFETY: the call cannot fail for this name.
    let ticks = unsafe { libc::sysconf(libc::_SC_CLK_TCK) };
    let tick = Duration::from_secs(1) / u32::try_from(ticks).ok().filter(|n| *n > 0)?;
    let mut next = || Some(tick * times.next()?.parse::<u32>().ok()?);
    Some((next()?, next()?))
}

/// True if a process is attached to the System V shared memory segment: then children of a
/// PostgreSQL server whose main process has ended are still running.
pub fn shared_memory_in_use(id: i32) -> bool {
    // SAFETY: plain data, which the call fills.
    unsafe {
        let mut info: libc::shmid_ds = std::mem::zeroed();
        libc::shmctl(id, libc::IPC_STAT, &mut info) == 0 && info.shm_nattch > 0
    }
}

/// Key and id of the System V segment of a PostgreSQL server that runs on this data directory, if a
/// process is attached to it: found even if the server's lock file has been removed. The key is the
/// directory's inode number, or one of the next numbers if that was taken. Counterpart:
/// `PGSharedMemoryCreate`.
pub fn shared_memory_of(directory: &str) -> io::Result<Option<(i32, i32)>> {
    use std::os::unix::fs::MetadataExt;
    let stat = std::fs::metadata(directory)?;
    let first = stat.ino() as i32;
    for step in 0..KEYS_TRIED_MAX {
        let key = first.wrapping_add(step);
        // SAFETY: without IPC_CREAT the call only looks a segment up.
        let id = unsafe { libc::shmget(key, SEGMENT_HEADER_BYTES, 0) };
        if id < 0 {
            return Ok(None);
        }
        if shared_memory_in_use(id) && directory_of(id) == Some((stat.dev(), stat.ino())) {
            return Ok(Some((key, id)));
        }
    }
    Ok(None)
}

/// Most keys tried.
const KEYS_TRIED_MAX: i32 = 100;

/// `PGShmemHeader`: magic, creator (4 bytes each), size, free offset (8 each), handle (4, padded to
/// 8), index (8), device and inode (8 each).
const SEGMENT_HEADER_BYTES: usize = 56;
const SEGMENT_MAGIC: i32 = 679_834_894;

/// Device and inode of the data directory to which a segment of PostgreSQL belongs.
fn directory_of(id: i32) -> Option<(u64, u64)> {
    let mut header = [0u8; SEGMENT_HEADER_BYTES];
    // SAFETY: the segment has at least as many bytes as are copied (`shmget` refuses smaller ones),
    // it stays mapped until `shmdt`, and no reference to its contents is made.
    unsafe {
        let at = libc::shmat(id, std::ptr::null(), libc::SHM_RDONLY);
        if at as isize == -1 {
            return None;
        }
        std::ptr::copy_nonoverlapping(at.cast::<u8>(), header.as_mut_ptr(), header.len());
        libc::shmdt(at);
    }
    let word = |at: usize| u64::from_le_bytes(std::array::from_fn(|i| header[at + i]));
    let magic = i32::from_le_bytes(std::array::from_fn(|i| header[i]));
    (magic == SEGMENT_MAGIC).then(|| (word(40), word(48)))
}
