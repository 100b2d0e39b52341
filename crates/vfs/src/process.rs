//! What a server does with processes: signals, its user, its way out. Here because the calls need
//! `unsafe`.

use std::io;
use std::time::Duration;

/// Signals that the server knows.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Signal {
    Hangup,
    Interrupt,
    Quit,
    Terminate,
    User1,
    Kill,
}

const AWAITED: [Signal; 5] =
    [Signal::Hangup, Signal::Interrupt, Signal::Quit, Signal::Terminate, Signal::User1];

impl Signal {
    fn number(self) -> libc::c_int {
        match self {
            Signal::Hangup => libc::SIGHUP,
            Signal::Interrupt => libc::SIGINT,
            Signal::Quit => libc::SIGQUIT,
            Signal::Terminate => libc::SIGTERM,
            Signal::User1 => libc::SIGUSR1,
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

/// From now on the signals wait for [`wait_signal`], in this thread and those that it starts.
pub fn block_signals() {
    let set = awaited();
    // SAFETY: the set is initialised; no old one is asked for.
    unsafe {
        libc::pthread_sigmask(libc::SIG_BLOCK, &set, std::ptr::null_mut());
    }
}

/// The next signal, or `None` after `span`.
pub fn wait_signal(span: Duration) -> Option<Signal> {
    let set = awaited();
    let time = libc::timespec {
        tv_sec: libc::time_t::try_from(span.as_secs()).unwrap_or(libc::time_t::MAX),
        tv_nsec: span.subsec_nanos().into(),
    };
    // SAFETY: set and time are initialised; what the signal carries is not asked for.
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

/// Is there a process with this number? One that has ended and that nobody has asked about is none:
/// it holds no files any more.
pub fn exists(pid: i32) -> bool {
    // SAFETY: signal 0 only asks.
    let known = pid > 0
        && (unsafe { libc::kill(pid, 0) } == 0
            || io::Error::last_os_error().raw_os_error() == Some(libc::EPERM));
    known && !has_ended(pid)
}

/// As [`exists`], of processes that we may signal: whoever may not be, did not write a file of
/// ours.
pub fn may_signal(pid: i32) -> bool {
    // SAFETY: signal 0 only asks.
    pid > 0 && unsafe { libc::kill(pid, 0) } == 0 && !has_ended(pid)
}

fn has_ended(pid: i32) -> bool {
    // "pid (name) state …"; the name may hold anything but ends at the last parenthesis.
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    let state = stat.rsplit_once(')').and_then(|(_, rest)| rest.trim_start().chars().next());
    matches!(state, Some('Z' | 'X'))
}

pub fn effective_user() -> u32 {
    // SAFETY: the call cannot fail.
    unsafe { libc::geteuid() }
}

/// Number of the process that started this one.
pub fn parent() -> i32 {
    // SAFETY: the call cannot fail.
    unsafe { libc::getppid() }
}

/// Becomes that user and group for good, without other groups.
pub fn become_user(user: u32, group: u32) -> io::Result<()> {
    // SAFETY: the only pointer goes with the length 0.
    let failed = unsafe {
        libc::setgroups(0, std::ptr::null()) != 0
            || libc::setgid(group) != 0
            || libc::setuid(user) != 0
    };
    if failed { Err(io::Error::last_os_error()) } else { Ok(()) }
}

/// New files are private, or readable by the group.
pub fn set_umask(group_access: bool) {
    // SAFETY: the call cannot fail.
    unsafe {
        libc::umask(if group_access { 0o027 } else { 0o077 });
    }
}

/// Leaves at once: no destructors, no waiting for threads.
pub fn exit_now(status: i32) -> ! {
    // SAFETY: the call does not return.
    unsafe { libc::_exit(status) }
}

/// The user at the other end of a Unix-domain socket.
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

/// Reads what has come on a socket; `WouldBlock` if that is nothing, 0 at the end.
pub fn receive_now(socket: &impl std::os::fd::AsRawFd, buf: &mut [u8]) -> io::Result<usize> {
    // SAFETY: the buffer is valid for writes of its length.
    let got = unsafe {
        libc::recv(socket.as_raw_fd(), buf.as_mut_ptr().cast(), buf.len(), libc::MSG_DONTWAIT)
    };
    usize::try_from(got).map_err(|_| io::Error::last_os_error())
}

/// Has a socket refuse clients from now on, though somebody may still wait for one; its address can
/// be listened on anew.
pub fn stop_listening(socket: &impl std::os::fd::AsRawFd) {
    // SAFETY: no memory is involved.
    unsafe {
        libc::shutdown(socket.as_raw_fd(), libc::SHUT_RDWR);
    }
}

/// The kernel's limit of open files for this process, raised to the most that it allows.
pub fn raise_open_files() -> u64 {
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: the structure is ours.
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

/// Kilobytes that a process may use of its stack, less a reserve; `None` where there is no limit.
/// Counterpart: `get_stack_depth_rlimit`, `STACK_DEPTH_SLOP`.
pub fn stack_limit() -> Option<i64> {
    const RESERVE_BYTES: u64 = 512 * 1024;
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: the structure is ours.
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
    fn an_address_is_free_when_its_socket_stops_listening() {
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
    fn threads_are_told_what_they_use() {
        let before = thread_usage();
        let mut sum = 0u64;
        while (thread_usage().user - before.user) < Duration::from_millis(60) {
            sum = (0..10_000).fold(sum, |a, n| a.wrapping_mul(31).wrapping_add(n));
        }
        let here = thread_usage();
        let (user, system) = thread_times(thread_id()).unwrap();
        // The kernel tells of other threads in ticks.
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

/// What a thread has used of the machine.
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

/// What the calling thread has used since it began.
pub fn thread_usage() -> Usage {
    usage(libc::RUSAGE_THREAD)
}

/// What all threads of the process have used, ended ones too.
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

/// The calling thread's number, by which others ask about it.
pub fn thread_id() -> i32 {
    // SAFETY: the call cannot fail.
    unsafe { libc::gettid() }
}

/// User and system time of a thread of this process, to the kernel's tick; `None` if there is no
/// such thread.
pub fn thread_times(id: i32) -> Option<(Duration, Duration)> {
    let stat = std::fs::read_to_string(format!("/proc/self/task/{id}/stat")).ok()?;
    // "id (name) state …": behind the name, which may hold anything, the times are the twelfth and
    // thirteenth field.
    let (_, fields) = stat.rsplit_once(')')?;
    let mut times = fields.split_ascii_whitespace().skip(11);
    // SAFETY: the call cannot fail for this name.
    let ticks = unsafe { libc::sysconf(libc::_SC_CLK_TCK) };
    let tick = Duration::from_secs(1) / u32::try_from(ticks).ok().filter(|n| *n > 0)?;
    let mut next = || Some(tick * times.next()?.parse::<u32>().ok()?);
    Some((next()?, next()?))
}

/// Is some process attached to the System V shared memory segment? That betrays a server of
/// PostgreSQL whose own process has gone and whose children have not.
pub fn shared_memory_in_use(id: i32) -> bool {
    // SAFETY: plain data, which the call fills.
    unsafe {
        let mut info: libc::shmid_ds = std::mem::zeroed();
        libc::shmctl(id, libc::IPC_STAT, &mut info) == 0 && info.shm_nattch > 0
    }
}

/// Key and number of the System V segment by which a server of PostgreSQL marks this data
/// directory, if some process is attached to it: it betrays one whose lock file somebody has
/// removed. The key is the directory's inode number, or one of the next where others have that.
/// Counterpart: `PGSharedMemoryCreate`.
pub fn shared_memory_of(directory: &str) -> io::Result<Option<(i32, i32)>> {
    use std::os::unix::fs::MetadataExt;
    let stat = std::fs::metadata(directory)?;
    let first = stat.ino() as i32;
    for step in 0..KEYS_TRIED_MAX {
        let key = first.wrapping_add(step);
        // SAFETY: without the flag that makes segments, the call only looks.
        let id = unsafe { libc::shmget(key, SEGMENT_HEADER_BYTES, 0) };
        if id < 0 {
            return Ok(None);
        }
        if shared_memory_in_use(id) && mark_of(id) == Some((stat.dev(), stat.ino())) {
            return Ok(Some((key, id)));
        }
    }
    Ok(None)
}

/// Segments of other directories that are passed over.
const KEYS_TRIED_MAX: i32 = 100;

/// `PGShmemHeader`: magic, creator (4 bytes each), size, free offset (8 each), handle (4, padded to
/// 8), index (8), device and inode (8 each).
const SEGMENT_HEADER_BYTES: usize = 56;
const SEGMENT_MAGIC: i32 = 679_834_894;

/// Device and inode of the directory that a segment of PostgreSQL's belongs to.
fn mark_of(id: i32) -> Option<(u64, u64)> {
    let mut header = [0u8; SEGMENT_HEADER_BYTES];
    // SAFETY: the segment was found with at least as many bytes as are copied (`shmget` refuses
    // smaller ones), it stays mapped until `shmdt`, and is read without references to it.
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
