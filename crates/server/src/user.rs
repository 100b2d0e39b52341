//! The operating system user of the server. A server started as root switches to the owner of the
//! data directory before it accesses files.

use crate::call::Call;
use crate::failure::Failure;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use vfs::process;

/// Switches to the owner of the directory, or of its nearest existing parent.
pub(crate) fn become_owner(directory: &str) -> Result<(), Failure> {
    if process::effective_user() != 0 {
        return Ok(());
    }
    let mut path = Path::new(directory);
    let found = loop {
        if let Ok(meta) = std::fs::metadata(path) {
            break meta;
        }
        match path.parent() {
            Some(parent) => path = parent,
            None => return Ok(()),
        }
    };
    if found.uid() == 0 {
        return Ok(());
    }
    process::become_user(found.uid(), found.gid()).map_err(|e| {
        Failure::new(format!("could not become the owner of directory \"{directory}\": {e}"))
    })
}

/// As [`become_owner`], with a warning if root remains. A program called by the name of one of
/// PostgreSQL refuses to run as root, as that does.
pub(crate) fn leave_root(call: &Call<'_>, directory: &str) -> Result<(), Failure> {
    if process::effective_user() != 0 {
        return Ok(());
    }
    if call.is_by_name() {
        return Err(Failure::new("cannot be run as root").hint(
            "Please log in (using, e.g., \"su\") as the (unprivileged) user that will own the \
             server process.",
        ));
    }
    become_owner(directory)?;
    if process::effective_user() == 0 {
        call.warn(
            "running as root: the data directory will belong to root",
            "Give the directory to a user without privileges; init and start then run as that \
             user.",
        );
    }
    Ok(())
}

/// The user name for a user ID, from the passwd file.
pub(crate) fn name_of(user: u32) -> Option<String> {
    let passwd = std::fs::read_to_string("/etc/passwd").ok()?;
    passwd.lines().find_map(|line| {
        let mut fields = line.split(':');
        let name = fields.next()?;
        (fields.nth(1)? == user.to_string()).then(|| name.to_owned())
    })
}

/// The group ID for a group given by ID or name.
pub(crate) fn group_number(group: &str) -> Option<u32> {
    if let Ok(number) = group.parse() {
        return Some(number);
    }
    let groups = std::fs::read_to_string("/etc/group").ok()?;
    groups.lines().find_map(|line| {
        let mut fields = line.split(':');
        if fields.next()? != group {
            return None;
        }
        fields.nth(1)?.parse().ok()
    })
}

/// The name of the user running this process.
pub(crate) fn own_name() -> String {
    name_of(process::effective_user()).unwrap_or_else(|| "postgres".to_owned())
}
