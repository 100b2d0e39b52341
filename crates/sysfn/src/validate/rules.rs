//! What each access method needs of an operator class: the signatures of its support functions,
//! its strategies, and which of them must be present.

use ids::Oid;
use std::ops::Range;
use types::oids;

/// A type in the signature of a support function.
#[derive(Clone, Copy)]
pub(super) enum Type {
    Is(Oid),
    /// Those of the function's entry in the family.
    Left,
    Right,
    /// Of the operator class: the indexed type, and that of the keys.
    Input,
    Key,
}

/// A kind of support function.
pub(super) struct Support {
    pub number: i16,
    pub result: Type,
    pub args: &'static [Type],
    /// The last arguments can be omitted down to this number.
    pub args_min: usize,
    /// The declared types are those of the rule; otherwise these must be binary-coercible to them.
    pub exact: bool,
    /// An operator class needs one.
    pub required: bool,
}

/// What members the pairs of types in a family need.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Pairs {
    /// Nothing.
    Any,
    /// All operators and a comparison, for all pairs of the types.
    BTree,
    /// The operator, for all pairs of the types.
    Hash,
    /// Operators, and all functions if both types are the same.
    SpGist,
    /// Those operators and functions that another pair has.
    Brin,
}

/// The rules of an access method.
pub(super) struct Rules {
    pub name: &'static str,
    pub support: &'static [Support],
    /// Numbers of other support functions, which the operator classes define.
    pub other_support: Range<i16>,
    pub strategy_max: u16,
    /// Operators can order a scan.
    pub ordering: bool,
    /// Support functions are registered for one type.
    pub same_types: bool,
    /// Only functions for the operator class's own type are checked.
    pub own_signatures: bool,
    /// Support functions hash the types.
    pub hashes: bool,
    pub pairs: Pairs,
}

pub(super) const SPGIST_CONFIG: i16 = 1;
pub(super) const SPGIST_COMPRESS: i16 = 6;
pub(super) const GIST_DISTANCE: i16 = 8;
pub(super) const HASH_OPTIONS: i16 = 3;
pub(super) const BTREE_COMPARE: i16 = 1;
pub(super) const BTREE_IN_RANGE: i16 = 3;
pub(super) const GIN_CONSISTENT: i16 = 4;
pub(super) const GIN_TRI_CONSISTENT: i16 = 6;

const INTERNAL: Type = Type::Is(oids::INTERNAL);
const BOOL: Type = Type::Is(oids::BOOL);
const INT2: Type = Type::Is(oids::INT2);
const INT4: Type = Type::Is(oids::INT4);
const INT8: Type = Type::Is(oids::INT8);
const OID: Type = Type::Is(oids::OID);
const VOID: Type = Type::Is(oids::VOID);
const CHAR: Type = Type::Is(oids::CHAR);
const FLOAT8: Type = Type::Is(oids::FLOAT8);

/// An optional function with these types.
const fn exact(number: i16, result: Type, args: &'static [Type]) -> Support {
    Support { number, result, args, args_min: args.len(), exact: true, required: false }
}

/// An optional function for types that are binary-coercible to those declared.
const fn coercible(number: i16, result: Type, args: &'static [Type]) -> Support {
    Support { exact: false, ..exact(number, result, args) }
}

const fn required(support: Support) -> Support {
    Support { required: true, ..support }
}

const fn at_least(args_min: usize, support: Support) -> Support {
    Support { args_min, ..support }
}

/// The function that defines the options of an operator class.
const fn options(number: i16) -> Support {
    exact(number, VOID, &[INTERNAL])
}

const BASE: Rules = Rules {
    name: "",
    support: &[],
    other_support: 0..0,
    strategy_max: 63,
    ordering: false,
    same_types: true,
    own_signatures: false,
    hashes: false,
    pairs: Pairs::Any,
};

pub(super) static METHODS: &[Rules] = &[
    Rules {
        name: "btree",
        support: &[
            exact(BTREE_COMPARE, INT4, &[Type::Left, Type::Right]),
            exact(2, VOID, &[INTERNAL]),
            exact(BTREE_IN_RANGE, BOOL, &[Type::Left, Type::Left, Type::Right, BOOL, BOOL]),
            exact(4, BOOL, &[OID]),
            options(5),
        ],
        strategy_max: 5,
        same_types: false,
        pairs: Pairs::BTree,
        ..BASE
    },
    Rules {
        name: "hash",
        support: &[
            coercible(1, INT4, &[Type::Left]),
            coercible(2, INT8, &[Type::Left, INT8]),
            options(HASH_OPTIONS),
        ],
        strategy_max: 1,
        hashes: true,
        pairs: Pairs::Hash,
        ..BASE
    },
    Rules {
        name: "gin",
        support: &[
            coercible(1, INT4, &[Type::Key, Type::Key]),
            required(at_least(2, coercible(2, INTERNAL, &[Type::Input, INTERNAL, INTERNAL]))),
            required(at_least(
                5,
                coercible(
                    3,
                    INTERNAL,
                    &[Type::Input, INTERNAL, INT2, INTERNAL, INTERNAL, INTERNAL, INTERNAL],
                ),
            )),
            at_least(
                6,
                coercible(
                    GIN_CONSISTENT,
                    BOOL,
                    &[INTERNAL, INT2, Type::Input, INT4, INTERNAL, INTERNAL, INTERNAL, INTERNAL],
                ),
            ),
            coercible(5, INT4, &[Type::Key, Type::Key, INT2, INTERNAL]),
            coercible(
                GIN_TRI_CONSISTENT,
                CHAR,
                &[INTERNAL, INT2, Type::Input, INT4, INTERNAL, INTERNAL, INTERNAL],
            ),
            options(7),
        ],
        own_signatures: true,
        ..BASE
    },
    Rules {
        name: "gist",
        support: &[
            required(coercible(1, BOOL, &[INTERNAL, Type::Input, INT2, OID, INTERNAL])),
            required(coercible(2, Type::Key, &[INTERNAL, INTERNAL])),
            exact(3, INTERNAL, &[INTERNAL]),
            exact(4, INTERNAL, &[INTERNAL]),
            required(exact(5, INTERNAL, &[INTERNAL, INTERNAL, INTERNAL])),
            required(exact(6, INTERNAL, &[INTERNAL, INTERNAL])),
            required(coercible(7, INTERNAL, &[Type::Key, Type::Key, INTERNAL])),
            coercible(GIST_DISTANCE, FLOAT8, &[INTERNAL, Type::Input, INT2, OID, INTERNAL]),
            exact(9, INTERNAL, &[INTERNAL]),
            options(10),
            exact(11, VOID, &[INTERNAL]),
        ],
        strategy_max: u16::MAX,
        ordering: true,
        own_signatures: true,
        ..BASE
    },
    Rules {
        name: "spgist",
        support: &[
            required(exact(SPGIST_CONFIG, VOID, &[INTERNAL, INTERNAL])),
            required(exact(2, VOID, &[INTERNAL, INTERNAL])),
            required(exact(3, VOID, &[INTERNAL, INTERNAL])),
            required(exact(4, VOID, &[INTERNAL, INTERNAL])),
            required(exact(5, BOOL, &[INTERNAL, INTERNAL])),
            required(exact(SPGIST_COMPRESS, Type::Key, &[Type::Left])),
            options(7),
        ],
        ordering: true,
        pairs: Pairs::SpGist,
        ..BASE
    },
    Rules {
        name: "brin",
        support: &[
            required(exact(1, INTERNAL, &[INTERNAL])),
            required(exact(2, BOOL, &[INTERNAL, INTERNAL, INTERNAL, INTERNAL])),
            required(at_least(3, exact(3, BOOL, &[INTERNAL, INTERNAL, INTERNAL, INT4]))),
            required(exact(4, BOOL, &[INTERNAL, INTERNAL, INTERNAL])),
            options(5),
        ],
        other_support: 11..16,
        same_types: false,
        pairs: Pairs::Brin,
        ..BASE
    },
    Rules {
        name: "bloom",
        support: &[required(coercible(1, INT4, &[Type::Key])), options(2)],
        strategy_max: 1,
        own_signatures: true,
        ..BASE
    },
];

/// True if the hash function, which is declared for another type, also hashes this one.
pub(super) fn hashes_alike(prosrc: &str, ty: Oid) -> bool {
    match prosrc.strip_suffix("_extended").or_else(|| prosrc.strip_suffix("extended")) {
        Some(plain) => hashes_alike(plain, ty),
        None => match prosrc {
            "hashint4" => matches!(ty, oids::DATE | oids::XID | oids::CID),
            "hashint8" => ty == oids::XID8,
            "timestamp_hash" => ty == oids::TIMESTAMPTZ,
            "hashchar" => ty == oids::BOOL,
            "hashvarlena" => ty == oids::BYTEA,
            _ => false,
        },
    }
}
