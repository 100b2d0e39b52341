//! Codes that catalog columns of type `"char"` hold, one type per column or group of columns.
//! Counterpart: the `catalog/pg_*.h` headers.
//!
//! A code is read with `from_char`, which fails for a value that PostgreSQL 15 does not use, and
//! written with `to_char`. The row structs of the crate `catalog` contain these types, so a code is
//! checked once, when a row is read.

macro_rules! codes {
    ($(
        $(#[$meta:meta])*
        $name:ident { $($(#[$doc:meta])* $variant:ident = $code:literal,)* }
    )*) => {$(
        $(#[$meta])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
        #[repr(u8)]
        pub enum $name {
            $($(#[$doc])* $variant = $code,)*
        }

        impl $name {
            /// All values, in the order of their declaration.
            pub const ALL: &'static [$name] = &[$($name::$variant),*];

            /// The value with this code; `None` if there is none.
            pub const fn from_char(code: u8) -> Option<$name> {
                match code {
                    $($code => Some($name::$variant),)*
                    _ => None,
                }
            }

            /// The code in the catalog.
            pub const fn to_char(self) -> u8 {
                self as u8
            }
        }
    )*};
}

codes! {
    /// Kind of a relation (`pg_class.relkind`).
    RelKind {
        /// An ordinary table.
        Table = b'r',
        Index = b'i',
        Sequence = b'S',
        Toast = b't',
        View = b'v',
        MaterializedView = b'm',
        /// The row type of a composite type.
        CompositeType = b'c',
        ForeignTable = b'f',
        PartitionedTable = b'p',
        PartitionedIndex = b'I',
    }

    /// How long a relation's data lives (`pg_class.relpersistence`).
    #[derive(Default)]
    Persistence {
        /// Logged.
        #[default]
        Permanent = b'p',
        /// Not logged, reset from the init fork by recovery.
        Unlogged = b'u',
        /// Private to a session.
        Temporary = b't',
    }

    /// The old row's columns that logical decoding sees (`pg_class.relreplident`).
    ReplicaIdentity {
        /// The primary key.
        Default = b'd',
        Nothing = b'n',
        /// All columns.
        Full = b'f',
        /// The index with `indisreplident`.
        Index = b'i',
    }

    /// Kind of a type (`pg_type.typtype`).
    TypType {
        Base = b'b',
        Composite = b'c',
        Domain = b'd',
        Enum = b'e',
        Multirange = b'm',
        Pseudo = b'p',
        Range = b'r',
    }

    /// How a column stores wide values (`typstorage`, `attstorage`).
    ColumnStorage {
        /// Inline, not compressed.
        Plain = b'p',
        /// May be moved to the TOAST table, not compressed.
        External = b'e',
        /// May be compressed and moved to the TOAST table.
        Extended = b'x',
        /// May be compressed; is moved to the TOAST table only if the row does not fit otherwise.
        Main = b'm',
    }

    /// Identity column (`pg_attribute.attidentity`).
    #[derive(Default)]
    ColumnIdentity {
        /// Not an identity column.
        #[default]
        No = 0,
        Always = b'a',
        ByDefault = b'd',
    }

    /// Generated column (`pg_attribute.attgenerated`).
    #[derive(Default)]
    ColumnGenerated {
        /// Not a generated column.
        #[default]
        No = 0,
        Stored = b's',
    }

    /// Kind of a function (`pg_proc.prokind`).
    ProKind {
        Function = b'f',
        Procedure = b'p',
        Aggregate = b'a',
        Window = b'w',
    }

    /// Mode of a function's argument (`pg_proc.proargmodes`).
    ArgMode {
        In = b'i',
        Out = b'o',
        InOut = b'b',
        Variadic = b'v',
        /// A result column of RETURNS TABLE.
        Table = b't',
    }

    /// How much the result of a function depends on (`pg_proc.provolatile`). Ordered from immutable
    /// to volatile.
    Volatility {
        /// Only on the arguments.
        Immutable = b'i',
        /// On the statement's snapshot too.
        Stable = b's',
        /// On anything.
        Volatile = b'v',
    }

    /// Whether a function may run in a parallel plan (`pg_proc.proparallel`).
    ParallelSafety {
        Safe = b's',
        /// Only in the leader.
        Restricted = b'r',
        Unsafe = b'u',
    }

    /// Kind of an aggregate (`pg_aggregate.aggkind`).
    AggKind {
        Normal = b'n',
        OrderedSet = b'o',
        Hypothetical = b'h',
    }

    /// Whether an aggregate's final function changes the state (`aggfinalmodify`,
    /// `aggmfinalmodify`).
    FinalModify {
        ReadOnly = b'r',
        /// It changes the state in a way that other final functions tolerate.
        Shareable = b's',
        ReadWrite = b'w',
    }

    /// Kind of an operator (`pg_operator.oprkind`).
    OprKind {
        Binary = b'b',
        Prefix = b'l',
    }

    /// Kind of an access method (`pg_am.amtype`).
    AmType {
        Index = b'i',
        Table = b't',
    }

    /// What an index uses an operator of a family for (`pg_amop.amoppurpose`).
    AmopPurpose {
        Search = b's',
        OrderBy = b'o',
    }

    /// Where a cast is applied without a request (`pg_cast.castcontext`).
    CastContext {
        Implicit = b'i',
        Assignment = b'a',
        Explicit = b'e',
    }

    /// How a cast converts (`pg_cast.castmethod`).
    CastMethod {
        Function = b'f',
        /// The representations are equal.
        Binary = b'b',
        /// Through the text form.
        InOut = b'i',
    }

    /// Kind of a constraint (`pg_constraint.contype`).
    ConType {
        Check = b'c',
        ForeignKey = b'f',
        PrimaryKey = b'p',
        Unique = b'u',
        /// A constraint trigger.
        Trigger = b't',
        Exclusion = b'x',
    }

    /// Action of a foreign key (`confupdtype`, `confdeltype`).
    #[derive(Default)]
    FkAction {
        /// The constraint is not a foreign key.
        #[default]
        Unset = b' ',
        NoAction = b'a',
        Restrict = b'r',
        Cascade = b'c',
        SetNull = b'n',
        SetDefault = b'd',
    }

    /// Match type of a foreign key (`confmatchtype`).
    #[derive(Default)]
    FkMatch {
        /// The constraint is not a foreign key.
        #[default]
        Unset = b' ',
        Full = b'f',
        Partial = b'p',
        Simple = b's',
    }

    /// Kind of a dependency (`pg_depend.deptype`).
    DepType {
        Normal = b'n',
        /// Dropped together with the referenced object, without CASCADE.
        Auto = b'a',
        /// Is part of the referenced object.
        Internal = b'i',
        PartitionPrimary = b'P',
        PartitionSecondary = b'S',
        Extension = b'e',
        AutoExtension = b'x',
    }

    /// Kind of a dependency on a shared object (`pg_shdepend.deptype`).
    SharedDepType {
        Owner = b'o',
        Acl = b'a',
        Policy = b'r',
        Tablespace = b't',
    }

    /// In which `session_replication_role` a trigger or rule fires (`tgenabled`, `evtenabled`,
    /// `ev_enabled`).
    Firing {
        /// In origin and local.
        Origin = b'O',
        Disabled = b'D',
        Replica = b'R',
        Always = b'A',
    }

    /// Provider of a collation (`collprovider`, `datlocprovider`).
    CollProvider {
        /// That of the database.
        Default = b'd',
        Icu = b'i',
        Libc = b'c',
    }

    /// The objects that default privileges concern (`pg_default_acl.defaclobjtype`).
    DefAclObject {
        Relation = b'r',
        Sequence = b'S',
        Function = b'f',
        Type = b'T',
        Namespace = b'n',
    }

    /// Strategy of a partitioned table (`pg_partitioned_table.partstrat`).
    PartStrategy {
        Hash = b'h',
        List = b'l',
        Range = b'r',
    }
}

impl ArgMode {
    /// True if the argument is passed by a call.
    pub const fn is_input(self) -> bool {
        matches!(self, ArgMode::In | ArgMode::InOut | ArgMode::Variadic)
    }

    /// True if it is a column of the result.
    pub const fn is_output(self) -> bool {
        matches!(self, ArgMode::Out | ArgMode::InOut | ArgMode::Table)
    }
}

/// Category of a type (`pg_type.typcategory`). Users may define further ones.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct TypCategory(pub u8);

impl TypCategory {
    pub const ARRAY: TypCategory = TypCategory(b'A');
    pub const COMPOSITE: TypCategory = TypCategory(b'C');
    pub const ENUM: TypCategory = TypCategory(b'E');
    pub const RANGE: TypCategory = TypCategory(b'R');
    pub const STRING: TypCategory = TypCategory(b'S');
    pub const USER: TypCategory = TypCategory(b'U');
}

/// Alignment of a type (`typalign`, `attalign`). The values are numbers of bytes.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[repr(u8)]
pub enum Align {
    Char = 1,
    Short = 2,
    Int = 4,
    Double = 8,
}

impl Align {
    pub const fn bytes(self) -> usize {
        self as usize
    }

    /// Rounds `offset` up.
    #[inline(always)]
    pub const fn up(self, offset: usize) -> usize {
        let mask = self as usize - 1;
        (offset + mask) & !mask
    }

    /// The value with this code; `None` if there is none.
    pub const fn from_char(code: u8) -> Option<Align> {
        match code {
            b'c' => Some(Align::Char),
            b's' => Some(Align::Short),
            b'i' => Some(Align::Int),
            b'd' => Some(Align::Double),
            _ => None,
        }
    }

    /// The code in the catalog.
    pub const fn to_char(self) -> u8 {
        match self {
            Align::Char => b'c',
            Align::Short => b's',
            Align::Int => b'i',
            Align::Double => b'd',
        }
    }
}

impl RelKind {
    /// True if it is an index, partitioned or not.
    pub const fn is_index(self) -> bool {
        matches!(self, RelKind::Index | RelKind::PartitionedIndex)
    }

    /// True if the relation has a table access method, so that its row versions are in a heap.
    /// Counterpart: `RELKIND_HAS_TABLE_AM`.
    pub const fn has_table_am(self) -> bool {
        matches!(self, RelKind::Table | RelKind::Toast | RelKind::MaterializedView)
    }

    /// True if the relation has files. Counterpart: `RELKIND_HAS_STORAGE`.
    pub const fn has_storage(self) -> bool {
        self.has_table_am() || matches!(self, RelKind::Index | RelKind::Sequence)
    }
}

#[cfg(test)]
mod tests {
    use super::{Persistence, RelKind, Volatility};

    #[test]
    fn codes_are_read_back() {
        for kind in RelKind::ALL {
            assert_eq!(RelKind::from_char(kind.to_char()), Some(*kind));
        }
        assert_eq!(RelKind::from_char(b'x'), None);
        assert_eq!(Persistence::from_char(0), None);
        assert!(Volatility::Immutable < Volatility::Stable);
        assert!(Volatility::Stable < Volatility::Volatile);
    }
}
