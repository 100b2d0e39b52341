//! The functions of the extension pg_prewarm. Counterpart: contrib/pg_prewarm/pg_prewarm.c.

use super::size::{file_of, fork_named};
use crate::function::{SysCall, SysFn, text};
use crate::host::SystemHost;
use catalog::acl;
use engine::prewarm::{Mode, blocks, prewarm};
use pgerror::{Result, pg_err};
use types::{Datum, DatumRef};

pub(super) const FNS: &[SysFn] = &[SysFn { name: "pg_prewarm", call: SysCall::One(run) }];

const ACCESS_SHARE: i32 = 1;

/// `pg_prewarm(relation, mode, fork, first block, last block)`; returns the number of blocks.
fn run(core: &mut dyn SystemHost, args: &[DatumRef<'_>]) -> Result<Datum> {
    for (arg, what) in args.iter().zip(["relation", "prewarm type", "relation fork"]) {
        if arg.is_null() {
            return Err(pg_err!(INVALID_PARAMETER_VALUE, "{what} cannot be null"));
        }
    }
    let mode = match text(args[1]).as_str() {
        "prefetch" => Mode::Prefetch,
        "read" => Mode::Read,
        "buffer" => Mode::Buffer,
        _ => {
            return Err(pg_err!(INVALID_PARAMETER_VALUE, "invalid prewarm type")
                .hint("Valid prewarm types are \"prefetch\", \"read\", and \"buffer\"."));
        }
    };
    let fork_name = text(args[2]);
    let fork = fork_named(&fork_name)?;
    let oid = args[0].as_oid();
    // This reports an error if the relation does not exist.
    core.catalog().relation(oid)?;
    core.lock_relation(oid, ACCESS_SHARE)?;
    let desc = core.catalog().relation(oid)?;
    let (user, class) = (core.catalog_session().user, &desc.class);
    if core.catalog().relation_privileges(user, class, acl::SELECT)? & acl::SELECT == 0 {
        return Err(acl::relation_denied(class));
    }
    let persistence = class.relpersistence;
    let found = match file_of(&desc) {
        Some(file) => blocks(core.backend(), file, fork, persistence)?.map(|n| (file, n)),
        None => None,
    };
    let Some((file, count)) = found else {
        return Err(pg_err!(
            INVALID_PARAMETER_VALUE,
            "fork \"{fork_name}\" does not exist for this relation"
        ));
    };
    let bound = |arg: DatumRef<'_>, default: i64, what: &str| -> Result<i64> {
        if arg.is_null() {
            return Ok(default);
        }
        let (n, last) = (arg.as_i64(), i64::from(count) - 1);
        if n < 0 || n > last {
            return Err(pg_err!(
                INVALID_PARAMETER_VALUE,
                "{what} block number must be between 0 and {last}"
            ));
        }
        Ok(n)
    };
    let first = bound(args[3], 0, "starting")?;
    let end = bound(args[4], i64::from(count) - 1, "ending")? + 1;
    // Both numbers are less than the number of blocks.
    let (first, end) = (first as u32, end as u32);
    let done = prewarm(core.backend(), file, fork, persistence, mode, first, end)?;
    Ok(Datum::int8(done as i64))
}
