//! The names of the C library's locales on this machine. In this crate because a program lists
//! them; the locales themselves are opened by the crate `locale`.

use std::process::{Command, Stdio};

/// The names that `locale -a` lists, in its order. Empty if the program is missing.
pub fn libc_locales() -> Vec<String> {
    let mut command = Command::new("locale");
    let listed = command.arg("-a").stdin(Stdio::null()).stderr(Stdio::null()).output();
    let Ok(listed) = listed else { return Vec::new() };
    let lines = listed.stdout.split(|&b| b == b'\n').filter_map(|l| std::str::from_utf8(l).ok());
    lines.filter(|name| !name.is_empty()).map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_machine_has_locales() {
        assert!(libc_locales().iter().any(|name| name == "POSIX"));
    }
}
