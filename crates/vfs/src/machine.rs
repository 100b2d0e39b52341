//! The memory available to this process, as the kernel reports it. What is done with it depends on
//! the settings.

use std::path::Path;

/// Bounds of the process's memory, in bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct MachineMemory {
    /// The machine's main memory; `None` if the kernel does not report it.
    pub physical: Option<u64>,
    /// The smallest limit of the control groups of the process.
    pub cgroup: Option<u64>,
    /// The limit of the process's address space (`ulimit -v`).
    pub address_space: Option<u64>,
}

impl MachineMemory {
    /// The present values.
    pub fn read() -> MachineMemory {
        let root = Path::new("/");
        MachineMemory { address_space: address_space(), ..MachineMemory::below(root) }
    }

    /// As [`MachineMemory::read`] from the files below `root`, without the address space.
    fn below(root: &Path) -> MachineMemory {
        let text = |path: &str| std::fs::read_to_string(root.join(path)).unwrap_or_default();
        let groups = text("proc/self/cgroup");
        let physical = physical(&text("proc/meminfo"));
        MachineMemory { physical, cgroup: cgroup(root, &groups), address_space: None }
    }

    /// The smallest bound on resident memory.
    pub fn resident_max(&self) -> Option<u64> {
        self.physical.into_iter().chain(self.cgroup).min()
    }
}

fn physical(meminfo: &str) -> Option<u64> {
    let line = meminfo.lines().find_map(|l| l.strip_prefix("MemTotal:"))?;
    line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()?.checked_mul(1024)
}

/// The smallest limit of the group and its ancestors. A container may see its own group as the
/// root.
fn cgroup(root: &Path, groups: &str) -> Option<u64> {
    let bounds = groups.lines().flat_map(|line| {
        // "hierarchy:controllers:path"; in cgroup v2 the controllers are empty.
        let mut parts = line.splitn(3, ':').skip(1);
        let (controllers, path) = (parts.next().unwrap_or(""), parts.next().unwrap_or("/"));
        let (mount, file) = match controllers {
            "" => ("sys/fs/cgroup", "memory.max"),
            c if c.split(',').any(|c| c == "memory") => {
                ("sys/fs/cgroup/memory", "memory.limit_in_bytes")
            }
            _ => return Vec::new(),
        };
        let mount = root.join(mount);
        let inside = Path::new(path.trim_start_matches('/'));
        let bound = |group: &Path| {
            std::fs::read_to_string(mount.join(group).join(file)).ok()?.trim().parse::<u64>().ok()
        };
        inside.ancestors().filter_map(bound).collect()
    });
    // Without a limit cgroup v1 reports a number near 2^63.
    bounds.filter(|&b| b < 1 << 60).min()
}

fn address_space() -> Option<u64> {
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: the structure is a local variable.
    let failed = unsafe { libc::getrlimit(libc::RLIMIT_AS, &mut limit) } != 0;
    (!failed && limit.rlim_cur != libc::RLIM_INFINITY).then_some(limit.rlim_cur)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tree(files: &[(&str, &str)]) -> MachineMemory {
        let name = format!("machine-{}-{}", std::process::id(), files.len());
        let root = std::env::temp_dir().join(name);
        for (path, text) in files {
            let path = root.join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        let found = MachineMemory::below(&root);
        std::fs::remove_dir_all(root).unwrap();
        found
    }

    #[test]
    fn the_smallest_cgroup_limit_counts() {
        let found = tree(&[
            ("proc/meminfo", "MemTotal:       16384 kB\nMemFree: 5 kB\n"),
            ("proc/self/cgroup", "0::/a/b\n"),
            ("sys/fs/cgroup/a/memory.max", "4194304\n"),
            ("sys/fs/cgroup/a/b/memory.max", "max\n"),
        ]);
        assert_eq!(found.physical, Some(16 << 20));
        assert_eq!(found.cgroup, Some(4 << 20));
        assert_eq!(found.resident_max(), Some(4 << 20));
    }

    #[test]
    fn cgroup_v1_limits_are_read() {
        let found = tree(&[
            ("proc/self/cgroup", "5:cpu:/x\n4:hugetlb,memory:/docker/x\n"),
            ("sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n"),
            ("sys/fs/cgroup/memory/docker/x/memory.limit_in_bytes", "1048576\n"),
        ]);
        assert_eq!((found.physical, found.cgroup), (None, Some(1 << 20)));
    }

    #[test]
    fn without_limits_there_are_no_bounds() {
        assert_eq!(tree(&[("proc/self/cgroup", "0::/\n")]), MachineMemory::default());
        assert!(MachineMemory::read().physical.is_some_and(|bytes| bytes > 1 << 20));
    }
}
