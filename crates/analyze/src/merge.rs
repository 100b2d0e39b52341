//! MERGE. Counterpart: parser/parse_merge.c.

use crate::state::{Analyzer, ExprKind};
use crate::target::entry;
use ids::RelKind;
use parse::ast;
use pgerror::{Result, bail, pg_err};
use plan::query::{CmdType, MergeAction, Override, Query, acl};

impl Analyzer<'_> {
    pub(crate) fn merge_stmt(&mut self, s: &ast::MergeStmt) -> Result<Query> {
        let mut query = Query { command_type: CmdType::Merge, ..Query::default() };
        if let Some(with) = &s.with_clause {
            if with.recursive {
                bail!(FEATURE_NOT_SUPPORTED, "WITH RECURSIVE is not supported for MERGE statement");
            }
            self.with_clause(with, &mut query)?;
        }
        let perms = merge_privileges(&s.merge_when_clauses)?;
        self.target_table(&s.relation, s.relation.inh, false, perms)?;
        let Some(target) = self.level_ref().target.clone() else {
            bail!(INTERNAL_ERROR, "no target table")
        };
        self.check_merge_target(&target.relation)?;
        self.transform_from(std::slice::from_ref(&s.source_relation))?;
        let name = &target.nsitem.name;
        if self.level_ref().namespace.iter().any(|item| item.name == *name && item.rel_visible) {
            return Err(pg_err!(DUPLICATE_ALIAS, "name \"{name}\" specified more than once")
                .detail("The name is used both as MERGE target table and data source."));
        }
        let at = self.level_ref().namespace.len();
        self.add_ns_item(target.nsitem.clone(), false, true, true);
        let on = self.where_clause(Some(&s.join_condition), ExprKind::JoinOn, "JOIN/ON")?;
        for when in &s.merge_when_clauses {
            let matched = when.match_kind == ast::MergeMatchKind::Matched;
            // Without a match there is no row of the target.
            if let Some(item) = self.level().namespace.get_mut(at) {
                (item.rel_visible, item.cols_visible) = (matched, matched);
            }
            query.merge_actions.push(self.merge_action(when, matched)?);
        }
        query.result_relation = target.rtindex;
        self.finish_modification(query, on)
    }

    fn merge_action(&mut self, when: &ast::MergeWhenClause, matched: bool) -> Result<MergeAction> {
        let condition = self.where_clause(when.condition.as_ref(), ExprKind::MergeWhen, "WHEN")?;
        let mut action = MergeAction {
            matched,
            command_type: merge_command(when.command_type),
            override_: match when.overriding {
                ast::OverridingKind::NotSet => Override::NotSet,
                ast::OverridingKind::UserValue => Override::UserValue,
                ast::OverridingKind::SystemValue => Override::SystemValue,
            },
            condition,
            target_list: Vec::new(),
        };
        let before = std::mem::replace(&mut self.level().next_resno, 1);
        match action.command_type {
            CmdType::Insert => {
                let columns = self.insert_columns(&when.target_list)?;
                let named = !when.target_list.is_empty();
                let list = self.expression_list(&when.values, ExprKind::ValuesSingle, true)?;
                let row = match when.values.is_empty() {
                    true => Vec::new(),
                    false => self.insert_row(list, &columns, named, false)?,
                };
                for (e, column) in row.into_iter().zip(&columns) {
                    let (number, name) = (column.number, column.name.clone());
                    action.target_list.push(entry(e, number, Some(name), false));
                    self.note_inserted(number);
                }
            }
            CmdType::Update => action.target_list = self.update_targets(&when.target_list)?,
            _ => {}
        }
        self.level().next_resno = before;
        Ok(action)
    }

    /// An error if MERGE cannot change the rows of this relation.
    fn check_merge_target(&mut self, relation: &catalog::RelDesc) -> Result<()> {
        let name = relation.class.relname;
        let what = match relation.class.relkind {
            RelKind::Table | RelKind::PartitionedTable => {
                if relation.class.relhasrules && !relation.rules.is_empty() {
                    return Err(pg_err!(
                        FEATURE_NOT_SUPPORTED,
                        "cannot execute MERGE on relation \"{name}\""
                    )
                    .detail("MERGE is not supported for relations with rules."));
                }
                return Ok(());
            }
            RelKind::View => "views",
            RelKind::MaterializedView => "materialized views",
            RelKind::ForeignTable => "foreign tables",
            RelKind::Sequence => "sequences",
            RelKind::Toast => "TOAST tables",
            _ => "relations of this kind",
        };
        Err(pg_err!(FEATURE_NOT_SUPPORTED, "cannot execute MERGE on relation \"{name}\"")
            .detail(format!("This operation is not supported for {what}.")))
    }
}

fn merge_command(command: ast::CmdType) -> CmdType {
    match command {
        ast::CmdType::Insert => CmdType::Insert,
        ast::CmdType::Update => CmdType::Update,
        ast::CmdType::Delete => CmdType::Delete,
        _ => CmdType::Nothing,
    }
}

/// The privileges that the actions need on the target. An error if an action can never be reached.
fn merge_privileges(clauses: &[ast::MergeWhenClause]) -> Result<u32> {
    let mut perms = 0;
    let mut terminal = [false; 2];
    for when in clauses {
        let matched = when.match_kind == ast::MergeMatchKind::Matched;
        perms |= match merge_command(when.command_type) {
            CmdType::Insert => acl::INSERT,
            CmdType::Update => acl::UPDATE,
            CmdType::Delete => acl::DELETE,
            _ => acl::SELECT,
        };
        if terminal[usize::from(matched)] {
            bail!(
                SYNTAX_ERROR,
                "unreachable WHEN clause specified after unconditional WHEN clause"
            );
        }
        terminal[usize::from(matched)] |= when.condition.is_none();
    }
    Ok(perms)
}
