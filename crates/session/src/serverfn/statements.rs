//! Functions on this session's cursors, prepared statements, notifications and exported snapshots,
//! and the one that looks objects up as statements do.
//! Counterpart: utils/mmgr/portalmem.c, commands/prepare.c, commands/async.c.

use super::{SysCall, SysFn, text};
use crate::prepared::Prepared;
use crate::state::State;
use pgerror::Result;
use std::sync::Arc;
use types::{Datum, DatumRef, oids};

pub(super) const FNS: &[SysFn] = &[
    SysFn { name: "pg_cursor", call: SysCall::Set(|c, _| Ok(cursors(c))) },
    SysFn { name: "pg_prepared_statement", call: SysCall::Set(|c, _| prepared(c)) },
    SysFn { name: "current_query", call: SysCall::One(|c, _| Ok(current_query(c))) },
    SysFn { name: "pg_backend_pid", call: SysCall::One(|c, _| Ok(Datum::int4(c.backend_pid))) },
    SysFn {
        name: "pg_notify",
        call: SysCall::One(|c, a| {
            let given = |d: DatumRef<'_>| if d.is_null() { String::new() } else { text(d) };
            let (channel, payload) = (given(a[0]), given(a[1]));
            crate::notify::notify(c, &channel, &payload)?;
            Ok(Datum::Word(0))
        }),
    },
    SysFn {
        name: "pg_listening_channels",
        call: SysCall::Set(|c, _| {
            let channels = match &c.server {
                Some((_, handle)) => crate::notify::channels(handle),
                None => Vec::new(),
            };
            Ok(channels.iter().map(|name| vec![Datum::text(name)]).collect())
        }),
    },
    SysFn {
        name: "pg_notification_queue_usage",
        call: SysCall::One(|c, _| {
            let server = c.server.as_ref().map(|(server, _)| server);
            Ok(Datum::float8(server.map_or(0.0, |server| server.notification_queue_usage())))
        }),
    },
    SysFn {
        name: "pg_export_snapshot",
        call: SysCall::One(|c, _| Ok(Datum::text(&crate::snapshots::transfer::export(c)?))),
    },
    SysFn {
        name: "pg_get_object_address",
        call: SysCall::Set(|c, a| {
            let mut host = crate::nested::Nested::new(c);
            let o = define::object::by_text::address(&mut host, &text(a[0]), a[1], a[2])?;
            Ok(vec![vec![Datum::oid(o.class), Datum::oid(o.object), Datum::int4(o.sub)]])
        }),
    },
];

fn cursors(state: &mut State) -> Vec<Vec<Datum>> {
    let row = |(name, p): (&String, &crate::portal::Portal)| {
        vec![
            Datum::text(name),
            Datum::text(&p.statement.sql),
            Datum::bool(p.outlives_transaction()),
            Datum::bool(p.is_binary()),
            Datum::bool(p.is_scrollable()),
            Datum::int8(p.created),
        ]
    };
    // A running portal was created by a Bind message: it is not held, binary or scrollable.
    let running = state.named.executing.iter().map(|(name, sql, created)| {
        let no = || Datum::bool(false);
        vec![Datum::text(name), Datum::text(sql), no(), no(), no(), Datum::int8(*created)]
    });
    running.chain(state.named.portals.iter().map(|(name, p)| row((name, p)))).collect()
}

fn prepared(state: &mut State) -> Result<Vec<Vec<Datum>>> {
    let row = |(name, p, time): (&String, &Arc<Prepared>, i64)| {
        let types: Vec<Datum> = p.param_types.iter().map(|t| Datum::oid(*t)).collect();
        let (generic, custom) = p.plans_used();
        Ok(vec![
            Datum::text(name),
            Datum::text(&p.sql),
            Datum::int8(time),
            types::array::of_builtin(oids::REGTYPE, &types)?,
            Datum::bool(p.from_sql),
            Datum::int8(generic as i64),
            Datum::int8(custom as i64),
        ])
    };
    state.named.prepared.with_times().map(row).collect()
}

fn current_query(state: &State) -> Datum {
    let own = state.server.as_ref().map(|(_, own)| own.activity.get().query);
    own.map_or(Datum::Null, Datum::bytes)
}
