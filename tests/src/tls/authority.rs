//! An authority that issues and revokes certificates, by the program `openssl`.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use testkit::postgres::{chown_to_server_user, run};

/// The files of an authority and of its certificates, in one directory.
pub(super) struct Authority {
    dir: PathBuf,
    name: String,
}

const CONFIGURATION: &str = "
[ca]
default_ca = here
[here]
database = NAME.index
serial = NAME.serial
crlnumber = NAME.crlnumber
certificate = NAME.crt
private_key = NAME.key
new_certs_dir = .
default_md = sha256
default_days = 3650
default_crl_days = 3650
policy = any
unique_subject = no
string_mask = utf8only
[any]
O = optional
OU = optional
CN = optional
[req]
distinguished_name = name
string_mask = utf8only
x509_extensions = authority
[name]
[authority]
basicConstraints = critical,CA:true
keyUsage = critical,keyCertSign,cRLSign
subjectKeyIdentifier = hash
";

impl Authority {
    /// A new authority, with a certificate of this name.
    pub(super) fn new(dir: &Path, name: &str) -> Authority {
        let authority = Authority { dir: dir.to_owned(), name: name.to_owned() };
        let write = |file: &str, text: &str| {
            std::fs::write(dir.join(format!("{name}.{file}")), text).expect("a file");
        };
        write("cnf", &CONFIGURATION.replace("NAME", name));
        write("index", "");
        write("serial", "1F3A5B7C9D0E\n");
        write("crlnumber", "01\n");
        let subject = format!("/O=Example/CN=Authority {name}");
        authority.openssl(
            &format!(
                "req -x509 -config {name}.cnf -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes \
             -days 3650 -keyout {name}.key -out {name}.crt -subj"
            ),
            &[&subject],
        );
        authority.list_revocations();
        authority
    }

    fn openssl(&self, words: &str, more: &[&str]) {
        let mut openssl = Command::new("openssl");
        openssl.args(words.split_ascii_whitespace()).args(more).current_dir(&self.dir);
        run(openssl);
    }

    /// A key and a certificate, in files of this name.
    pub(super) fn issue(&self, name: &str, subject: &str, extensions: &[&str], kind: &str) {
        self.request(name, subject, kind);
        let all = format!("basicConstraints=CA:false\n{}\n", extensions.join("\n"));
        std::fs::write(self.dir.join(format!("{name}.ext")), all).expect("a file");
        let own = &self.name;
        self.openssl(&format!(
            "ca -config {own}.cnf -batch -notext -extfile {name}.ext -in {name}.csr -out {name}.crt"
        ), &[]);
        chown_to_server_user(&self.dir);
    }

    /// Like [`Authority::issue`], with a certificate that was valid in the past.
    pub(super) fn issue_expired(&self, name: &str, subject: &str) {
        self.request(name, subject, "ec");
        let own = &self.name;
        let extensions = self.dir.join(format!("{name}.ext"));
        std::fs::write(extensions, "basicConstraints=CA:false\n").expect("a file");
        self.openssl(
            &format!(
                "ca -config {own}.cnf -batch -notext -extfile {name}.ext \
                 -startdate 20200101000000Z -enddate 20200201000000Z -in {name}.csr -out {name}.crt"
            ),
            &[],
        );
        chown_to_server_user(&self.dir);
    }

    fn request(&self, name: &str, subject: &str, kind: &str) {
        let key = match kind {
            "rsa" => "rsa:2048",
            _ => "ec -pkeyopt ec_paramgen_curve:P-256",
        };
        let own = &self.name;
        self.openssl(&format!(
            "req -config {own}.cnf -utf8 -multivalue-rdn -newkey {key} -nodes -keyout {name}.key \
             -out {name}.csr -subj"
        ), &[subject]);
        let key = self.dir.join(format!("{name}.key"));
        std::fs::set_permissions(key, PermissionsExt::from_mode(0o600)).expect("permissions");
    }

    pub(super) fn revoke(&self, name: &str) {
        let own = &self.name;
        self.openssl(&format!("ca -config {own}.cnf -revoke {name}.crt"), &[]);
        self.list_revocations();
    }

    fn list_revocations(&self) {
        let own = &self.name;
        self.openssl(&format!("ca -config {own}.cnf -gencrl -out {own}.crl"), &[]);
    }

    pub(super) fn certificate(&self, name: &str) -> PathBuf {
        self.dir.join(format!("{name}.crt"))
    }

    /// The list of revoked certificates.
    pub(super) fn revocations(&self) -> PathBuf {
        self.dir.join(format!("{}.crl", self.name))
    }

    /// Copies a key and its certificate to the default places in a data directory.
    pub(super) fn install(&self, name: &str, data: &Path) {
        std::fs::copy(self.certificate(name), data.join("server.crt")).expect("a copy");
        let key = data.join("server.key");
        let _ = std::fs::remove_file(&key);
        let _ = std::fs::remove_dir(&key);
        std::fs::copy(self.dir.join(format!("{name}.key")), &key).expect("a copy");
        std::fs::set_permissions(key, PermissionsExt::from_mode(0o600)).expect("permissions");
        chown_to_server_user(data);
    }
}
