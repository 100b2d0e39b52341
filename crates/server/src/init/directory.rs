//! The directories that `init` creates: checks before, removal after an error, and flushing.

use crate::failure::Failure;
use crate::listen::reason;
use std::fs::{self, File};
use std::io::ErrorKind;
use std::path::Path;

/// True if the directory exists and is empty, false if it does not exist. An error if there is
/// something in it, with this advice.
pub(super) fn check(path: &str, advice: String) -> Result<bool, Failure> {
    let cannot = |e| Failure::new(format!("could not access directory \"{path}\": {}", reason(&e)));
    let entries = match fs::read_dir(path) {
        Ok(entries) => entries,
        Err(e) if e.kind() == ErrorKind::NotFound => return Ok(false),
        Err(e) => return Err(cannot(e)),
    };
    let names: Result<Vec<_>, _> = entries.map(|e| e.map(|e| e.file_name())).collect();
    let names = names.map_err(cannot)?;
    if names.is_empty() {
        return Ok(true);
    }
    let exists = Failure::new(format!("directory \"{path}\" exists but is not empty"));
    Err(if names.iter().all(|n| n.as_encoded_bytes().starts_with(b".")) {
        exists
            .detail(
                "It contains a dot-prefixed/invisible file, perhaps due to it being a mount point.",
            )
            .hint(MOUNT_POINT)
    } else if names.iter().any(|n| n == "lost+found") {
        exists
            .detail("It contains a lost+found directory, perhaps due to it being a mount point.")
            .hint(MOUNT_POINT)
    } else {
        exists.hint(advice)
    })
}

const MOUNT_POINT: &str = "Using a mount point directly as the data directory is not recommended.\n\
                           Create a subdirectory under the mount point.";

/// Creates the directory and its parents, if it does not exist.
pub(super) fn make(path: &str) -> Result<(), Failure> {
    fs::create_dir_all(path)
        .map_err(|e| Failure::new(format!("could not create directory \"{path}\": {}", reason(&e))))
}

/// Removes the files of a failed attempt, and the directory if it did not exist before.
pub(super) fn remove(directory: &str, existed: bool) {
    if existed {
        for entry in fs::read_dir(directory).into_iter().flatten().flatten() {
            let path = entry.path();
            let _ = fs::remove_dir_all(&path).or_else(|_| fs::remove_file(&path));
        }
    } else {
        let _ = fs::remove_dir_all(directory);
    }
}

/// Flushes all files of a data directory to disk, also behind the symbolic links of the log and of
/// the tablespaces.
pub(super) fn sync(directory: &str) -> Result<(), Failure> {
    let cannot =
        |e| Failure::new(format!("could not access directory \"{directory}\": {}", reason(&e)));
    fs::read_dir(directory).map_err(cannot)?;
    let data = Path::new(directory);
    sync_below(data)?;
    let log = data.join("pg_wal");
    if log.is_symlink() {
        sync_below(&log)?;
    }
    for link in fs::read_dir(data.join("pg_tblspc")).into_iter().flatten().flatten() {
        if link.path().is_symlink() {
            sync_below(&link.path())?;
        }
    }
    Ok(())
}

fn sync_below(directory: &Path) -> Result<(), Failure> {
    let failed = |path: &Path, e| {
        Failure::new(format!("could not fsync file \"{}\": {}", path.display(), reason(&e)))
    };
    for entry in fs::read_dir(directory).map_err(|e| failed(directory, e))? {
        let entry = entry.map_err(|e| failed(directory, e))?;
        let (path, kind) = (entry.path(), entry.file_type());
        let kind = kind.map_err(|e| failed(&path, e))?;
        if kind.is_dir() {
            sync_below(&path)?;
        } else if kind.is_file() {
            File::open(&path).and_then(|f| f.sync_all()).map_err(|e| failed(&path, e))?;
        }
    }
    File::open(directory).and_then(|f| f.sync_all()).map_err(|e| failed(directory, e))
}
