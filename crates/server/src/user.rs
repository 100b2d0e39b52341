//! Who the server runs as. Started as root it becomes the owner of the data directory before it
//! touches anything.

use crate::cli::Failure;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use vfs::process;

/// Becomes the owner of the directory, or of the nearest one above that exists.
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

/// The name of a user of this machine.
pub(crate) fn name_of(user: u32) -> Option<String> {
    let passwd = std::fs::read_to_string("/etc/passwd").ok()?;
    passwd.lines().find_map(|line| {
        let mut fields = line.split(':');
        let name = fields.next()?;
        (fields.nth(1)? == user.to_string()).then(|| name.to_owned())
    })
}

/// The number of a group of this machine, given by that or by its name.
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

/// The name of the user that this process runs as.
pub(crate) fn own_name() -> String {
    name_of(process::effective_user()).unwrap_or_else(|| "postgres".to_owned())
}
