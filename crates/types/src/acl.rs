//! aclitem: a grantee, a grantor and privileges, 12 bytes. The low 16 bits of the privileges are
//! the granted ones, the high 16 bits the grant options. Counterpart: acl.c.

use crate::string::quote::quote_ident;
use ids::Oid;
use ids::builtin::role;
use pgerror::{PgError, Result, Severity, SqlState, pg_err};
use values::array::ArrayRef;
use values::array::payload;
use values::datum::{Datum, DatumRef};
use values::fn_context::{FnContext, RegKind};
use values::function::SetSource;
use values::hash::{h32, h64};
use values::oids;
use values::type_io::is_space;

/// Letters of the privileges by bit.
const LETTERS: &[u8] = b"arwdDxtXUCTcsA";

/// Names of the privileges by bit.
const NAMES: [&str; 14] = [
    "INSERT",
    "SELECT",
    "UPDATE",
    "DELETE",
    "TRUNCATE",
    "REFERENCES",
    "TRIGGER",
    "EXECUTE",
    "USAGE",
    "CREATE",
    "TEMPORARY",
    "CONNECT",
    "SET",
    "ALTER SYSTEM",
];

/// An entry of an access control list; grantee 0 is PUBLIC.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct AclItem {
    pub grantee: Oid,
    pub grantor: Oid,
    pub privileges: u32,
}

impl AclItem {
    /// Reads a datum of type aclitem.
    pub fn of(d: DatumRef<'_>) -> AclItem {
        let b = d.as_bytes();
        let word = |at: usize| u32::from_le_bytes([b[at], b[at + 1], b[at + 2], b[at + 3]]);
        AclItem { grantee: Oid(word(0)), grantor: Oid(word(4)), privileges: word(8) }
    }

    /// The entry as a datum of type aclitem.
    pub fn datum(self) -> Datum {
        let words = [self.grantee.0, self.grantor.0, self.privileges];
        Datum::bytes(words.iter().flat_map(|w| w.to_le_bytes()).collect::<Vec<u8>>())
    }
}

/// The unquoted name of a role, or its OID if the role no longer exists.
fn role_name(cx: &mut dyn FnContext, role: Oid) -> Result<String> {
    let Some(quoted) = cx.reg_name(RegKind::Role, role)? else { return Ok(role.to_string()) };
    Ok(match quoted.strip_prefix('"').and_then(|q| q.strip_suffix('"')) {
        Some(inner) => inner.replace("\"\"", "\""),
        None => quoted,
    })
}

fn put_name(out: &mut String, name: &str) {
    if name.bytes().all(|c| c.is_ascii_alphanumeric() || c == b'_') {
        out.push_str(name);
    } else {
        out.push_str(&format!("\"{}\"", name.replace('"', "\"\"")));
    }
}

fn output(cx: &mut dyn FnContext, d: DatumRef<'_>) -> Result<Datum> {
    let item = AclItem::of(d);
    let mut out = String::new();
    if item.grantee.is_valid() {
        let name = role_name(cx, item.grantee)?;
        put_name(&mut out, &name);
    }
    out.push('=');
    for (i, &c) in LETTERS.iter().enumerate() {
        if item.privileges >> i & 1 != 0 {
            out.push(c as char);
        }
        if item.privileges >> (16 + i) & 1 != 0 {
            out.push('*');
        }
    }
    out.push('/');
    let name = role_name(cx, item.grantor)?;
    put_name(&mut out, &name);
    Ok(Datum::text(&out))
}

/// Reads an identifier: leading white space, then letters, digits and underscores, or a quoted
/// name.
fn get_name(text: &[u8], at: &mut usize) -> Result<String> {
    while text.get(*at).copied().is_some_and(is_space) {
        *at += 1;
    }
    let mut out = Vec::new();
    let mut quoted = false;
    while let Some(&c) = text.get(*at) {
        let plain = c.is_ascii_alphanumeric() || c == b'_' || c >= 0x80;
        if !plain && c != b'"' && !quoted {
            break;
        }
        if c == b'"' {
            if quoted && text.get(*at + 1) == Some(&b'"') {
                out.push(b'"');
                *at += 2;
                continue;
            }
            quoted = !quoted;
        } else {
            out.push(c);
        }
        if out.len() >= 64 {
            return Err(pg_err!(NAME_TOO_LONG, "identifier too long")
                .detail("Identifier must be less than 64 characters."));
        }
        *at += 1;
    }
    while text.get(*at).copied().is_some_and(is_space) {
        *at += 1;
    }
    Ok(String::from_utf8_lossy(&out).into_owned())
}

fn role_oid(cx: &mut dyn FnContext, name: &str) -> Result<Oid> {
    cx.reg_lookup(RegKind::Role, &quote_ident(name, true))?
        .ok_or_else(|| pg_err!(UNDEFINED_OBJECT, "role \"{name}\" does not exist"))
}

fn bad(message: &str) -> PgError {
    pg_err!(INVALID_TEXT_REPRESENTATION, "{message}")
}

fn input(cx: &mut dyn FnContext, text: &[u8]) -> Result<Datum> {
    let mut at = 0;
    let mut name = get_name(text, &mut at)?;
    if text.get(at) != Some(&b'=') {
        // A key word before the name.
        if name != "group" && name != "user" {
            return Err(bad(&format!("unrecognized key word: \"{name}\""))
                .hint("ACL key word must be \"group\" or \"user\"."));
        }
        name = get_name(text, &mut at)?;
        if name.is_empty() {
            return Err(
                bad("missing name").hint("A name must follow the \"group\" or \"user\" key word.")
            );
        }
    }
    if text.get(at) != Some(&b'=') {
        return Err(bad("missing \"=\" sign"));
    }
    at += 1;
    let (mut privileges, mut last) = (0u32, 0u32);
    while let Some(&c) = text.get(at) {
        if c == b'*' {
            privileges |= last << 16;
        } else if let Some(i) = LETTERS.iter().position(|l| *l == c) {
            last = 1 << i;
            privileges |= last;
        } else if c.is_ascii_alphabetic() {
            return Err(bad("invalid mode character: must be one of \"arwdDxtXUCTcsA\""));
        } else {
            break;
        }
        at += 1;
    }
    let grantee = if name.is_empty() { Oid::INVALID } else { role_oid(cx, &name)? };
    let grantor = if text.get(at) == Some(&b'/') {
        at += 1;
        let name = get_name(text, &mut at)?;
        if name.is_empty() {
            return Err(bad("a name must follow the \"/\" sign"));
        }
        role_oid(cx, &name)?
    } else {
        cx.notice(
            PgError::new(SqlState::INVALID_GRANTOR, "defaulting grantor to user ID 10")
                .severity(Severity::Warning),
        );
        role::BOOTSTRAP_SUPERUSER
    };
    while text.get(at).copied().is_some_and(is_space) {
        at += 1;
    }
    if at != text.len() {
        return Err(bad("extra garbage at the end of the ACL specification"));
    }
    Ok(AclItem { grantee, grantor, privileges }.datum())
}

fn letters(text: &str) -> u32 {
    text.bytes().filter_map(|c| LETTERS.iter().position(|l| *l == c)).fold(0, |m, i| m | 1 << i)
}

/// The default privileges of an object of this kind (its ACL is NULL): PUBLIC's and the owner's.
pub fn default_acl(kind: u8, owner: Oid) -> Option<Vec<AclItem>> {
    let (public, own) = match kind {
        b'c' => ("", ""),
        b'r' => ("", "arwdDxt"),
        b's' => ("", "rwU"),
        b'd' => ("Tc", "CTc"),
        b'f' => ("X", "X"),
        b'l' | b'T' => ("U", "U"),
        b'L' => ("", "rw"),
        b'n' => ("", "UC"),
        b't' => ("", "C"),
        b'F' | b'S' => ("", "U"),
        b'p' => ("", "sA"),
        _ => return None,
    };
    let item =
        |grantee: Oid, set: &str| AclItem { grantee, grantor: owner, privileges: letters(set) };
    let items = [item(Oid::INVALID, public), item(owner, own)];
    Some(items.into_iter().filter(|i| i.privileges != 0).collect())
}

fn acl_array(items: &[AclItem]) -> Result<Datum> {
    let items: Vec<Datum> = items.iter().map(|i| i.datum()).collect();
    payload::of_builtin(oids::ACLITEM, &items)
}

/// The entries of an aclitem[]. An empty array, as acldefault returns it, has no dimensions here.
/// Counterpart: `check_acl`.
pub fn items_of(d: DatumRef<'_>) -> Result<Vec<AclItem>> {
    let array = ArrayRef::new(d)?;
    if array.elem_type() != oids::ACLITEM {
        return Err(pg_err!(INVALID_PARAMETER_VALUE, "ACL array contains wrong data type"));
    }
    if array.ndim() > 1 {
        return Err(pg_err!(INVALID_PARAMETER_VALUE, "ACL arrays must be one-dimensional"));
    }
    if array.contains_null() {
        return Err(pg_err!(NULL_VALUE_NOT_ALLOWED, "ACL arrays must not contain null values"));
    }
    Ok(array.iter(&payload::builtin_info(oids::ACLITEM)).map(AclItem::of).collect())
}

/// Rows of aclexplode: grantor, grantee, privilege_type, is_grantable.
struct Exploded {
    items: Vec<AclItem>,
    at: usize,
}

impl SetSource for Exploded {
    fn next(&mut self, _: &mut dyn FnContext, out: &mut Vec<Datum>) -> Result<bool> {
        loop {
            let (item, bit) = (self.at / NAMES.len(), self.at % NAMES.len());
            let Some(i) = self.items.get(item) else { return Ok(false) };
            self.at += 1;
            if i.privileges >> bit & 1 != 0 {
                out.push(Datum::oid(i.grantor));
                out.push(Datum::oid(i.grantee));
                out.push(Datum::text(NAMES[bit]));
                out.push(Datum::bool(i.privileges >> (16 + bit) & 1 != 0));
                return Ok(true);
            }
        }
    }
}

fn make(a: &[DatumRef<'_>]) -> Result<Datum> {
    let text = String::from_utf8_lossy(a[2].as_bytes()).into_owned();
    let mut privileges = 0u32;
    for word in text.split(',') {
        let word = word.trim();
        let upper = word.to_ascii_uppercase();
        let upper = if upper == "TEMP" { "TEMPORARY" } else { &upper };
        match NAMES.iter().position(|n| *n == upper) {
            Some(i) => privileges |= 1 << i,
            None => {
                return Err(pg_err!(
                    INVALID_PARAMETER_VALUE,
                    "unrecognized privilege type: \"{word}\""
                ));
            }
        }
    }
    if a[3].as_bool() {
        privileges |= privileges << 16;
    }
    Ok(AclItem { grantee: a[0].as_oid(), grantor: a[1].as_oid(), privileges }.datum())
}

/// The hash of an aclitem: the sum of its words.
pub(crate) fn hash_of(d: DatumRef<'_>) -> u32 {
    let i = AclItem::of(d);
    i.privileges.wrapping_add(i.grantee.0).wrapping_add(i.grantor.0)
}

scalars! { FNS;
    "aclitemin" => |cx, a| input(cx, a[0].as_bytes()),
    "aclitemout" => |cx, a| output(cx, a[0]),
    "aclitem_eq" => |_, a| Ok(Datum::bool(a[0].as_bytes() == a[1].as_bytes())),
    "hash_aclitem" => |_, a| Ok(h32(hash_of(a[0]))),
    "hash_aclitem_extended" => |_, a| Ok(h64(match a[1].word() {
        0 => hash_of(a[0]).into(),
        seed => values::hash::hash_uint32_extended(hash_of(a[0]), seed),
    })),
    "makeaclitem" => |_, a| make(a),
    "aclcontains" => |_, a| {
        let want = AclItem::of(a[1]);
        let held = items_of(a[0])?.into_iter().any(|i| {
            i.grantee == want.grantee
                && i.grantor == want.grantor
                && want.privileges & !i.privileges == 0
        });
        Ok(Datum::bool(held))
    },
    "acldefault_sql" => |_, a| match default_acl(a[0].as_char(), a[1].as_oid()) {
        Some(items) => acl_array(&items),
        None => Err(PgError::internal(format!(
            "unrecognized objtype abbreviation: {}", a[0].as_char() as char))),
    },
}

scalars! { GONE;
    "aclinsert" =>
        |_, _| Err(pg_err!(FEATURE_NOT_SUPPORTED, "aclinsert is no longer supported")),
    "aclremove" =>
        |_, _| Err(pg_err!(FEATURE_NOT_SUPPORTED, "aclremove is no longer supported")),
}

builtins! { SETS;
    "aclexplode" => Srf(|_, a| Ok(Box::new(Exploded { items: items_of(a[0])?, at: 0 }))),
}
