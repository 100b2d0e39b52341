//! Binary forms of values of the built-in types, for parameters.

use crate::damaged_values::types;
use crate::received::{FIXED, bytes_of};
use testkit::client::Client;

/// A valid binary form.
pub(super) struct Form {
    /// The name of the type.
    pub ty: String,
    pub oid: u32,
    pub bytes: Vec<u8>,
}

/// The forms that PostgreSQL sends for values of each type. Types that a database must create first
/// are left out.
pub(super) fn read(client: &mut Client) -> Vec<Form> {
    let fixed = FIXED.iter().map(|(ty, v)| ((*ty).to_owned(), vec![format!("({v})::{ty}")]));
    let mut out = Vec::new();
    for (ty, samples) in types().into_iter().chain(fixed) {
        let sql = format!(
            "SELECT oid, typsend FROM pg_type WHERE oid = '{}'::regtype AND typsend <> 0",
            ty.replace('\'', "''")
        );
        let reply = client.query(&sql).expect("an answer");
        if reply.error.is_some() {
            continue;
        }
        let Some((oid, send)) = reply.text().first().and_then(|row| {
            let (oid, send) = row.split_once('|')?;
            Some((oid.parse().ok()?, send.to_owned()))
        }) else {
            continue;
        };
        for sample in samples {
            let form = client.query(&format!("SELECT encode({send}({sample}), 'hex')"));
            let form = form.expect("an answer");
            // aclitem has no binary form.
            if form.error.is_none() {
                let bytes = bytes_of(&form.text().concat());
                out.push(Form { ty: ty.clone(), oid, bytes });
            }
        }
    }
    out.retain(|form| !form.bytes.is_empty());
    assert!(out.len() > 80, "{} forms", out.len());
    out
}
