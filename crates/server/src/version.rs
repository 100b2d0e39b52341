//! The version of PostgreSQL with which the program is compatible.

/// The version reported to clients.
pub const SERVER_VERSION: &str = "15.20";

#[cfg(test)]
mod tests {
    #[test]
    fn server_version_matches_settings() {
        let base = settings::ServerValues::new(settings::Registry::load().into());
        assert_eq!(base.text("server_version"), super::SERVER_VERSION);
        let (major, minor) = super::SERVER_VERSION.split_once('.').expect("two numbers");
        let number = base.int("server_version_num");
        assert_eq!(number.to_string(), format!("{major}{minor:0>4}"));
    }
}
