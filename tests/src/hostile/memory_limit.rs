//! A server whose memory is limited to 4 GiB by a control group, of version 2 or 1. If no group can
//! be created, as in most containers, the server gets the `norsu.memory_limit` that it would choose
//! on a machine of 4 GiB, and the test prints the reason. The test measures the memory in any case.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;
use testkit::norsu::Norsu;

pub(super) const MEMORY_BYTES: u64 = 4 << 30;

/// The kind of the memory limit.
pub(super) enum Limit {
    Group(Group),
    Setting,
}

/// A control group; removed on drop, after the server has exited.
pub(super) struct Group(PathBuf);

impl Drop for Group {
    fn drop(&mut self) {
        // The kernel keeps a group busy for a short time after its last process has exited.
        for _ in 0..100 {
            if fs::remove_dir(&self.0).is_ok() {
                return;
            }
            std::thread::sleep(Duration::from_millis(50));
        }
    }
}

impl Group {
    fn create(parent: &Path) -> Result<Group, String> {
        let path = parent.join(format!("norsu-hostile-{}", std::process::id()));
        fs::create_dir(&path).map_err(|e| format!("{}: {e}", path.display()))?;
        Ok(Group(path))
    }

    fn write(&self, file: &str, value: impl ToString) -> Result<(), String> {
        let path = self.0.join(file);
        fs::write(&path, value.to_string()).map_err(|e| format!("{}: {e}", path.display()))
    }

    /// A group of version 2, without swap. The files for the limit have different names in each
    /// version.
    fn unified() -> Result<Group, String> {
        let root = Path::new("/sys/fs/cgroup");
        let enabled = fs::read_to_string(root.join("cgroup.subtree_control"))
            .map_err(|e| format!("cgroup v2: {e}"))?;
        if !enabled.split_whitespace().any(|c| c == "memory") {
            return Err("cgroup v2: no memory controller".into());
        }
        let group = Group::create(root)?;
        group.write("memory.max", MEMORY_BYTES)?;
        if group.0.join("memory.swap.max").exists() {
            group.write("memory.swap.max", 0)?;
        }
        Ok(group)
    }

    fn legacy() -> Result<Group, String> {
        let group = Group::create(Path::new("/sys/fs/cgroup/memory"))?;
        group.write("memory.limit_in_bytes", MEMORY_BYTES)?;
        group.write("memory.swappiness", 0)?;
        Ok(group)
    }

    fn number(&self, file: &str) -> Option<u64> {
        fs::read_to_string(self.0.join(file)).ok()?.trim().parse().ok()
    }

    /// The peak of memory and page cache together, which the kernel keeps within the limit.
    fn peak(&self) -> Option<u64> {
        self.number("memory.peak").or_else(|| self.number("memory.max_usage_in_bytes"))
    }
}

impl Limit {
    /// The kind of limit that this machine supports.
    pub(super) fn find() -> Limit {
        let group = Group::unified().or_else(|v2| match Group::legacy() {
            Ok(group) => Ok(group),
            Err(v1) => Err(format!("{v2}; {v1}")),
        });
        match group {
            Ok(group) => {
                println!("limited by {}", group.0.display());
                Limit::Group(group)
            }
            Err(why) => {
                println!("limited by a setting, because no control group can be created: {why}");
                Limit::Setting
            }
        }
    }

    /// Starts a server under this limit.
    pub(super) fn start(&self, data: &Path, options: &[&str]) -> Norsu {
        let started = match self {
            Limit::Group(group) => {
                let procs = group.0.join("cgroup.procs");
                let enter = format!("echo $$ > {} && exec \"$@\"", procs.display());
                let launcher = ["sh", "-c", &enter, "sh"].map(str::to_owned);
                Norsu::start_by(&launcher, data, options)
            }
            Limit::Setting => {
                // Three quarters of the memory, less the shared buffers.
                let megabytes = ((MEMORY_BYTES / 4 * 3) >> 20) - 128;
                let limit = format!("norsu.memory_limit={megabytes}MB");
                Norsu::try_start(data, &[options, &["-c", &limit]].concat())
            }
        };
        started.unwrap_or_else(|log| panic!("no server:\n{log}"))
    }

    /// The use of the limit, for the log of the test.
    pub(super) fn describe(&self) -> String {
        match self {
            Limit::Group(group) => format!("peak of the group {:?} bytes", group.peak()),
            Limit::Setting => "no group".to_owned(),
        }
    }
}
