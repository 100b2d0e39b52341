//! Parameters of the paths of partitions: a path with parameters from a partitioned table becomes
//! one with parameters from a partition of that table. Counterpart: pathnode.c
//! (`reparameterize_path_by_child`).

use crate::partwise::{translated, translated_all};
use pgerror::Result;
use plan::expr::Expr;
use querytree::path::{
    AppendRel, BitmapPath, HashPath, IndexMatch, JoinPath, MergePath, Path, PathKind, PathRef,
};
use querytree::relids::Relids;
use std::rc::Rc;

/// The path with the columns of the members in place of those of their tables, which are not among
/// the path's own relations. `None` if it cannot be changed.
pub(crate) fn with_parameters(
    path: &PathRef,
    members: &[Rc<AppendRel>],
) -> Result<Option<PathRef>> {
    if members.iter().all(|m| !path.outer.contains(&m.parent)) {
        return Ok(Some(path.clone()));
    }
    let change = Change(members);
    let Some(kind) = stdx::stack::deep(|| change.kind(&path.kind))? else { return Ok(None) };
    let outer = change.relids(&path.outer);
    Ok(Some(Rc::new(Path { kind, outer, ..Path::clone(path) })))
}

struct Change<'a>(&'a [Rc<AppendRel>]);

impl Change<'_> {
    fn relids(&self, relids: &Relids) -> Relids {
        let mut out = relids.clone();
        for m in self.0 {
            if out.contains(&m.parent) {
                out.remove(&m.parent);
                out.insert(m.child);
            }
        }
        out
    }

    fn exprs(&self, list: &[Expr]) -> Result<Vec<Expr>> {
        translated_all(self.0, list)
    }

    fn shared(&self, list: &[Rc<Expr>]) -> Result<Vec<Rc<Expr>>> {
        list.iter().map(|e| Ok(Rc::new(translated(self.0, e)?))).collect()
    }

    fn paths(&self, list: &[PathRef]) -> Result<Option<Vec<PathRef>>> {
        list.iter().map(|p| with_parameters(p, self.0)).collect()
    }

    fn kind(&self, kind: &PathKind) -> Result<Option<PathKind>> {
        let mut kind = kind.clone();
        match &mut kind {
            PathKind::SeqScan { quals, .. } => *quals = self.exprs(quals)?,
            PathKind::Index { m, quals, .. } => {
                self.matched(m)?;
                *quals = self.exprs(quals)?;
            }
            PathKind::Bitmap { bitmap, quals, .. } => {
                self.bitmap(bitmap)?;
                *quals = self.exprs(quals)?;
            }
            PathKind::Tid { tid_quals, quals, .. }
            | PathKind::TidRange { tid_quals, quals, .. } => {
                *tid_quals = self.exprs(tid_quals)?;
                *quals = self.exprs(quals)?;
            }
            PathKind::Gate { child, quals } | PathKind::Filter { child, quals } => {
                *quals = self.exprs(quals)?;
                let Some(new) = with_parameters(child, self.0)? else { return Ok(None) };
                *child = new;
            }
            PathKind::Memoize { child, vars, .. } => {
                *vars = self.exprs(vars)?;
                let Some(new) = with_parameters(child, self.0)? else { return Ok(None) };
                *child = new;
            }
            PathKind::Material { child } | PathKind::Sort { child } => {
                let Some(new) = with_parameters(child, self.0)? else { return Ok(None) };
                *child = new;
            }
            PathKind::NestLoop(join) => return Ok(self.join(join)?.then_some(kind)),
            PathKind::Hash(HashPath { join, clauses })
            | PathKind::Merge(MergePath { join, clauses, .. }) => {
                *clauses = self.shared(clauses)?;
                return Ok(self.join(join)?.then_some(kind));
            }
            PathKind::AppendScan { children, tested, .. } => {
                *tested = self.exprs(tested)?;
                let Some(new) = self.paths(children)? else { return Ok(None) };
                *children = new;
            }
            PathKind::AppendParts { children, .. } => {
                let Some(new) = self.paths(children)? else { return Ok(None) };
                *children = new;
            }
            _ => return Ok(None),
        }
        Ok(Some(kind))
    }

    fn matched(&self, m: &mut IndexMatch) -> Result<()> {
        for q in &mut m.quals {
            q.qual = translated(self.0, &q.qual)?;
            q.original = translated(self.0, &q.original)?;
        }
        Ok(())
    }

    fn bitmap(&self, bitmap: &mut BitmapPath) -> Result<()> {
        match bitmap {
            BitmapPath::Index { m, .. } => self.matched(m),
            BitmapPath::And { parts, .. } | BitmapPath::Or { parts, .. } => {
                parts.iter_mut().try_for_each(|p| self.bitmap(p))
            }
        }
    }

    /// False if a side cannot be changed.
    fn join(&self, join: &mut JoinPath) -> Result<bool> {
        let outer = with_parameters(&join.outer, self.0)?;
        let inner = with_parameters(&join.inner, self.0)?;
        let (Some(outer), Some(inner)) = (outer, inner) else { return Ok(false) };
        join.join_quals = self.shared(&join.join_quals)?;
        join.quals = self.exprs(&join.quals)?;
        (join.outer, join.inner) = (outer, inner);
        Ok(true)
    }
}
