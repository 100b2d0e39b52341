use super::*;

/// Writing and reading back keeps all forms of columns.
#[test]
fn rows_survive_the_way_to_datums_and_back() {
    for row in crate::facts::rows::<PgProc>() {
        let datums = row.to_row();
        let refs: Vec<DatumRef<'_>> = datums.iter().map(Datum::as_ref).collect();
        assert_eq!(PgProc::from_row(&refs).unwrap(), row);
    }
}

/// Bytes as `pageinspect` shows them on a real server: `'{a,bcd,ef}'::text[]` as stored in a row,
/// 48 with its length.
#[test]
fn text_arrays_have_postgres_layout() {
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
