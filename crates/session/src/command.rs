//! Commands run with the session's means: catalogs, storage, settings, and the client for COPY.

use crate::connection::Received;
use crate::session::Session;
use crate::xact::Block;
use analyze::OperatorCache;
use catalog::CatCx;
use commands::{CommandHost, CopyTransport};
use engine::Backend;
use ids::Oid;
use pgerror::{PgError, Result, Severity, pg_err};
use types::FnContext;
use wire::{Format, FrontendMessage, backend};

impl analyze::Host for Session {
    fn catalog(&mut self) -> CatCx<'_> {
        self.core.cat()
    }

    fn functions(&mut self) -> &mut dyn FnContext {
        &mut self.core
    }

    fn lock_relation(&mut self, relation: Oid, mode: i32) -> Result<()> {
        self.core.lock_relation(relation, mode)
    }

    fn database_name(&mut self) -> Result<String> {
        Ok(self.core.database_name.clone())
    }

    fn operator_cache(&mut self) -> Option<&mut OperatorCache> {
        analyze::Host::operator_cache(&mut self.core)
    }
}

impl CommandHost for Session {
    fn backend(&mut self) -> &mut Backend {
        &mut self.core.backend
    }

    fn facts(&mut self) -> &mut dyn eval::Facts {
        &mut self.core
    }

    fn expressions(&mut self) -> &mut dyn eval::Host {
        &mut self.core
    }

    fn services(&mut self) -> &mut dyn executor::Services {
        &mut self.core
    }

    fn planner(&mut self) -> &mut dyn planner::PlannerFacts {
        &mut self.core
    }

    fn notice(&mut self, notice: PgError) {
        self.core.notices.push(notice);
    }

    fn setting(&mut self, name: &str) -> String {
        let store = &self.core.store;
        let registry = &store.base().registry;
        match registry.find(name) {
            Some(id) => registry.setting(id).show(store.value(id)),
            None => String::new(),
        }
    }

    fn transport(&mut self) -> Result<&mut dyn CopyTransport> {
        Ok(self)
    }

    fn in_transaction_block(&self) -> bool {
        !matches!(self.xact.block, Block::None | Block::Single)
    }

    fn next_transaction(&mut self) -> Result<()> {
        self.commit_transaction()?;
        self.start_command();
        let snapshot = self.core.backend.snapshot();
        self.core.backend.push_snapshot(snapshot);
        Ok(())
    }

    fn checkpoint(&mut self) -> Result<()> {
        use engine::CheckpointFlags as F;
        self.instance.engine.checkpoint(F::IMMEDIATE | F::FORCE | F::WAIT).map(|_| ())
    }

    fn temp_schema_made(&mut self, schema: Oid, toast: Oid) {
        self.core.catalog.set_temp_namespace(schema, toast);
    }
}

fn format_of(binary: bool) -> Format {
    if binary { Format::Binary } else { Format::Text }
}

impl CopyTransport for Session {
    fn begin_in(&mut self, binary: bool, columns: usize) -> Result<()> {
        self.send_notices();
        backend::copy_in_response(&mut self.conn.out, format_of(binary), columns);
        self.conn.flush()
    }

    fn read(&mut self, out: &mut Vec<u8>) -> Result<bool> {
        loop {
            self.core.backend.check_interrupts()?;
            let frame = match self.conn.receive()? {
                Received::Frame(frame) => frame,
                Received::End => {
                    return Err(pg_err!(
                        CONNECTION_FAILURE,
                        "unexpected EOF on client connection with an open transaction"
                    )
                    .severity(Severity::Fatal));
                }
                Received::TimedOut => continue,
            };
            match FrontendMessage::decode(frame.kind, self.conn.body(frame))? {
                FrontendMessage::CopyData(data) => {
                    out.extend_from_slice(data);
                    return Ok(true);
                }
                FrontendMessage::CopyDone => return Ok(false),
                FrontendMessage::CopyFail(reason) => {
                    let reason = String::from_utf8_lossy(reason).into_owned();
                    return Err(pg_err!(QUERY_CANCELED, "COPY from stdin failed: {reason}"));
                }
                FrontendMessage::Flush | FrontendMessage::Sync => {}
                _ => {
                    return Err(pg_err!(
                        PROTOCOL_VIOLATION,
                        "unexpected message type 0x{:02X} during COPY from stdin",
                        frame.kind
                    )
                    .severity(Severity::Fatal));
                }
            }
        }
    }

    fn begin_out(&mut self, binary: bool, columns: usize) -> Result<()> {
        self.send_notices();
        backend::copy_out_response(&mut self.conn.out, format_of(binary), columns);
        Ok(())
    }

    fn write(&mut self, row: &[u8]) -> Result<()> {
        backend::copy_data(&mut self.conn.out, row);
        self.conn.flush_if_large()
    }

    fn end_out(&mut self) -> Result<()> {
        backend::copy_done(&mut self.conn.out);
        Ok(())
    }
}
