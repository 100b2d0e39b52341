use super::*;

/// Conversion to datums and back preserves every column type.
#[test]
fn rows_round_trip_through_datums() {
    for row in crate::facts::rows::<PgProc>() {
        let datums = row.to_row();
        let refs: Vec<DatumRef<'_>> = datums.iter().map(Datum::as_ref).collect();
        assert_eq!(PgProc::from_row(&refs).unwrap(), row);
    }
}

/// Bytes of `'{a,bcd,ef}'::text[]` in a stored row, as shown by `pageinspect` on PostgreSQL; 48
/// bytes with the length word.
#[test]
fn text_arrays_have_postgresql_layout() {
    let values: Vec<Text> = vec!["a".into(), "bcd".into(), "ef".into()];
    let Datum::Bytes(payload) = array::text_array(&values) else { panic!() };
    let expected: &[u8] = &[
        1, 0, 0, 0, 0, 0, 0, 0, 25, 0, 0, 0, 3, 0, 0, 0, 1, 0, 0, 0, // header
        0x14, 0, 0, 0, b'a', 0, 0, 0, // a and padding
        0x1c, 0, 0, 0, b'b', b'c', b'd', 0, // bcd
        0x18, 0, 0, 0, b'e', b'f', 0, 0, // ef and padding
    ];
    assert_eq!(&*payload, expected);
    assert_eq!(array::text_elements(&payload).unwrap(), values);
}

#[test]
fn columns_are_numbered_from_one() {
    assert_eq!(PgClass::oid, 1);
    assert_eq!(PgClass::relname, 2);
    assert_eq!(PgClass::COLUMNS[1], "relname");
    assert_eq!(PgAttribute::attrelid, 1);
}

#[test]
fn unknown_codes_are_errors() {
    let mut row = crate::facts::rows::<PgClass>().swap_remove(0).to_row();
    row[PgClass::relkind as usize - 1] = Datum::char(b'x');
    let refs: Vec<DatumRef<'_>> = row.iter().map(Datum::as_ref).collect();
    let error = PgClass::from_row(&refs).unwrap_err();
    assert_eq!(error.code(), pgerror::SqlState::DATA_CORRUPTED);
    assert_eq!(error.message(), "unexpected value in column \"relkind\" of catalog \"pg_class\"");
}
