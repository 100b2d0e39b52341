//! Partition keys. Counterpart: partcache.c (`RelationBuildPartitionKey`), partbounds.c
//! (`compute_partition_hash_value`).

use crate::desc::cached;
use crate::malformed;
use catalog::rows::PgPartitionedTable;
use catalog::{CatCx, RelDesc};
use ids::code::PartStrategy;
use ids::{AttrNo, Oid};
use pgerror::{PgError, Result};
use plan::expr::{Expr, Location, Var};
use std::cmp::Ordering;
use sync::Arc;
use types::collated::TextHash;
use types::hash::hash_combine64;
use types::hash_functions::{ExtendedHashFn, extended};
use types::{Comparer, DatumRef};

/// The seed of the hash functions in hash partitioning. Counterpart: `HASH_PARTITION_SEED`.
pub const HASH_PARTITION_SEED: u64 = 0x7A5B_2236_7996_DCFD;

/// Calls a hash support function that is not a plain function: one in SQL or a procedural language,
/// or one of a type whose hash needs the catalogs.
pub trait SupportCall {
    /// The 64-bit hash of a value that is not NULL.
    fn hash_extended(&mut self, call: HashCall<'_>) -> Result<u64>;
}

/// A call of a hash support function with seed.
pub struct HashCall<'a> {
    pub function: Oid,
    /// The type of its first argument.
    pub input: Oid,
    pub collation: Oid,
    pub value: DatumRef<'a>,
    pub seed: u64,
}

/// Refuses calls (0A000). It suffices for keys of list and range partitions and of most types.
pub struct NoCall;

impl SupportCall for NoCall {
    fn hash_extended(&mut self, _: HashCall<'_>) -> Result<u64> {
        Err(PgError::unsupported("this hash function of a partition key"))
    }
}

/// A hash support function with seed.
#[derive(Clone)]
pub enum HashSupport {
    Plain(ExtendedHashFn),
    /// Of texts under a nondeterministic locale.
    Text(TextHash),
    /// Called through [`SupportCall`]: the function, and the type of its first argument.
    Function(Oid, Oid),
}

/// How values of a key column are compared or hashed.
#[derive(Clone)]
pub enum KeySupport {
    Compare(Comparer),
    Hash(HashSupport),
}

/// A column of a partition key.
pub struct KeyColumn {
    /// 0 for an expression.
    pub attno: AttrNo,
    /// Over range-table entry 1; a `Var` for a column.
    pub expr: Expr,
    /// Type and type modifier of the expression.
    pub ty: Oid,
    pub typmod: i32,
    pub opclass: Oid,
    pub family: Oid,
    /// The input type of the operator class.
    pub input: Oid,
    pub collation: Oid,
    pub support: KeySupport,
}

/// The partition key of a table.
pub struct PartitionKey {
    /// The partitioned table.
    pub relid: Oid,
    pub strategy: PartStrategy,
    pub columns: Vec<KeyColumn>,
}

impl KeyColumn {
    /// The order of two values that are not NULL.
    #[inline]
    pub fn order(&self, a: DatumRef<'_>, b: DatumRef<'_>) -> Ordering {
        match &self.support {
            KeySupport::Compare(compare) => compare.order(a, b, self.collation),
            KeySupport::Hash(_) => Ordering::Equal,
        }
    }
}

impl PartitionKey {
    /// The hash of a row's key; NULLs are skipped. Counterpart: `compute_partition_hash_value`.
    pub fn hash(&self, key: &[DatumRef<'_>], call: &mut dyn SupportCall) -> Result<u64> {
        let mut sum = 0;
        for (column, value) in self.columns.iter().zip(key).filter(|(_, v)| !v.is_null()) {
            let KeySupport::Hash(support) = &column.support else { return Err(malformed()) };
            sum = hash_combine64(sum, support.hash(column.collation, *value, call)?);
        }
        Ok(sum)
    }
}

impl HashSupport {
    /// The hash of a value that is not NULL under the seed of hash partitioning.
    #[inline]
    pub fn hash(
        &self,
        collation: Oid,
        value: DatumRef<'_>,
        call: &mut dyn SupportCall,
    ) -> Result<u64> {
        match self {
            HashSupport::Plain(f) => Ok(f(value, HASH_PARTITION_SEED)),
            HashSupport::Text(text) => Ok(text.extended(value, HASH_PARTITION_SEED)),
            &HashSupport::Function(function, input) => {
                let seed = HASH_PARTITION_SEED;
                call.hash_extended(HashCall { function, input, collation, value, seed })
            }
        }
    }
}

/// Whether a row with this hash belongs to the hash partition.
pub fn hash_matches(hash: u64, modulus: i32, remainder: i32) -> bool {
    modulus > 0 && hash % modulus as u64 == remainder as u64
}

/// The hash support function with this OID, for values of this collation.
pub fn hash_support(cat: &mut CatCx<'_>, function: Oid, collation: Oid) -> Result<HashSupport> {
    let row = cat.function(function)?;
    let name = row.prosrc.as_str();
    let text = cat.locale(collation)?.and_then(|locale| TextHash::new(name, &locale));
    Ok(match (text, extended(name)) {
        (Some(text), _) => HashSupport::Text(text),
        (None, Some(f)) => HashSupport::Plain(f),
        (None, None) => {
            HashSupport::Function(function, row.proargtypes.first().copied().unwrap_or_default())
        }
    })
}

/// The partition key of a partitioned table, cached with its descriptor.
pub fn partition_key(cat: &mut CatCx<'_>, rel: &RelDesc) -> Result<Arc<PartitionKey>> {
    let cached = cached(rel);
    if let Some(key) = cached.key.get() {
        return Ok(key.clone());
    }
    let row = rel.partitioned.as_ref().ok_or_else(|| not_partitioned(rel))?;
    let key = Arc::new(build(cat, rel, row)?);
    Ok(cached.key.get_or_init(|| key).clone())
}

fn not_partitioned(rel: &RelDesc) -> PgError {
    PgError::internal(format!("relation \"{}\" is not partitioned", rel.name()))
}

fn build(cat: &mut CatCx<'_>, rel: &RelDesc, row: &PgPartitionedTable) -> Result<PartitionKey> {
    let mut exprs = match &row.partexprs {
        Some(text) => plan::nodetree::read_exprs(text.as_str())?,
        None => Vec::new(),
    }
    .into_iter();
    let mut columns = Vec::with_capacity(row.partattrs.len());
    for (i, &attno) in row.partattrs.iter().enumerate() {
        let expr = match attno {
            0 => exprs.next().ok_or_else(malformed)?,
            _ => column_var(rel, attno)?,
        };
        let opclass = *row.partclass.get(i).ok_or_else(malformed)?;
        let collation = row.partcollation.get(i).copied().unwrap_or_default();
        columns.push(key_column(cat, row.partstrat, (attno, expr), opclass, collation)?);
    }
    Ok(PartitionKey { relid: rel.oid(), strategy: row.partstrat, columns })
}

/// A column of the relation as an expression.
fn column_var(rel: &RelDesc, attno: AttrNo) -> Result<Expr> {
    let a = rel.attribute(attno).ok_or_else(malformed)?;
    Ok(Expr::Var(Var {
        varno: 1,
        varattno: attno,
        vartype: a.atttypid,
        vartypmod: a.atttypmod,
        varcollid: a.attcollation,
        varlevelsup: 0,
        location: Location::UNKNOWN,
    }))
}

fn key_column(
    cat: &mut CatCx<'_>,
    strategy: PartStrategy,
    (attno, expr): (AttrNo, Expr),
    opclass: Oid,
    collation: Oid,
) -> Result<KeyColumn> {
    let class = cat.opclass(opclass)?;
    let (family, input) = (class.opcfamily, class.opcintype);
    let (ty, typmod) = (expr.type_oid(), expr.typmod());
    let number = if strategy == PartStrategy::Hash { 2 } else { 1 };
    let function = cat.family_proc(family, input, input, number)?;
    let function = function.and_then(Oid::valid).ok_or_else(malformed)?;
    let support = if strategy == PartStrategy::Hash {
        KeySupport::Hash(hash_support(cat, function, collation)?)
    } else {
        let row = cat.function(function)?;
        let compare = cat.comparer(row.prosrc.as_str(), ty, collation)?;
        KeySupport::Compare(compare.ok_or_else(|| {
            PgError::unsupported(format!("partitioning by comparison function {}", row.proname))
        })?)
    };
    Ok(KeyColumn { attno, expr, ty, typmod, opclass, family, input, collation, support })
}
