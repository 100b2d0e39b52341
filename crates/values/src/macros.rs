//! Macros that declare the modules' function tables.

/// `scalars! { NAME; "prosrc" => function, … }`: a table of scalar built-ins.
#[macro_export]
macro_rules! scalars {
    ($table:ident; $($name:expr => $f:expr),* $(,)?) => {
        /// The module's functions, by `pg_proc.prosrc`.
        pub const $table: &[$crate::function::Builtin] = &[$($crate::function::Builtin {
            name: $name,
            f: $crate::function::BuiltinFn::Scalar($f),
        }),*];
    };
}

/// `builtins! { NAME; "prosrc" => Kind(function), … }`: a table of built-ins of any kind.
#[macro_export]
macro_rules! builtins {
    ($table:ident; $($name:expr => $kind:ident($f:expr)),* $(,)?) => {
        /// The module's set-returning and aggregate functions, by `pg_proc.prosrc`.
        pub const $table: &[$crate::function::Builtin] = &[$($crate::function::Builtin {
            name: $name,
            f: $crate::function::BuiltinFn::$kind($f),
        }),*];
    };
}

/// `comparisons! { NAME; compare_fn => eq ne lt le gt ge; … }`: the six comparison operators of a
/// `CompareFn`.
#[macro_export]
macro_rules! comparisons {
    ($table:ident; $($cmp:path => $eq:literal $ne:literal $lt:literal $le:literal $gt:literal
       $ge:literal;)*) => {
        $crate::scalars! { $table; $(
            $eq => |cx, a| Ok($crate::datum::Datum::bool($cmp(a[0], a[1], cx.collation()).is_eq())),
            $ne => |cx, a| Ok($crate::datum::Datum::bool($cmp(a[0], a[1], cx.collation()).is_ne())),
            $lt => |cx, a| Ok($crate::datum::Datum::bool($cmp(a[0], a[1], cx.collation()).is_lt())),
            $le => |cx, a| Ok($crate::datum::Datum::bool($cmp(a[0], a[1], cx.collation()).is_le())),
            $gt => |cx, a| Ok($crate::datum::Datum::bool($cmp(a[0], a[1], cx.collation()).is_gt())),
            $ge => |cx, a| Ok($crate::datum::Datum::bool($cmp(a[0], a[1], cx.collation()).is_ge())),
        )* }
    };
}

/// `orderings! { NAME; compare_fn => "larger" "smaller"; … }`: the transition functions of max and
/// min. Of two equal values they return the second.
#[macro_export]
macro_rules! orderings {
    ($table:ident; $($cmp:path => $larger:literal $smaller:literal;)*) => {
        $crate::scalars! { $table; $(
            $larger => |cx, a| {
                Ok(a[$cmp(a[0], a[1], cx.collation()).is_le() as usize].to_owned())
            },
            $smaller => |cx, a| {
                Ok(a[$cmp(a[0], a[1], cx.collation()).is_ge() as usize].to_owned())
            },
        )* }
    };
}
