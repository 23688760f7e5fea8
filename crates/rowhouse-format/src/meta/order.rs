//! The row order in `hbase:meta`.

use std::cmp::Ordering;

/// Compares two `hbase:meta` rows, or lookup keys: by table, then by start key, then by id, each as
/// bytes. A row is split at the first and at the last comma; a missing part sorts first.
pub fn compare_rows(a: &[u8], b: &[u8]) -> Ordering {
    parts(a).cmp(&parts(b))
}

/// Table; after the first comma the start key; after the last comma the id.
type Parts<'a> = (&'a [u8], Option<(&'a [u8], Option<&'a [u8]>)>);

fn parts(row: &[u8]) -> Parts<'_> {
    let is_comma = |&byte: &u8| byte == b',';
    let Some(first) = row.iter().position(is_comma) else { return (row, None) };
    let table = &row[..first];
    let rest = &row[first + 1..];
    match rest.iter().rposition(is_comma) {
        Some(last) => (table, Some((&rest[..last], Some(&rest[last + 1..])))),
        None => (table, Some((rest, None))),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn tables_then_start_keys_then_ids() {
        let rows: [&[u8]; 12] = [
            b"hbase:namespace",
            b"hbase:namespace,,17.a.",
            b"off",
            b"t",
            b"t,,9.a.",
            b"t,\x00,1.a.",
            b"t,+,1.a.",
            b"t,a,1.a.",
            b"t,a,2.a.",
            b"t,a,b,1.a.",
            b"t,\xff\x00,1.a.",
            b"t1,,1.a.",
        ];
        for (at, pair) in rows.windows(2).enumerate() {
            assert_eq!(compare_rows(pair[0], pair[1]), Ordering::Less, "{at}");
        }
        // Byte order would reverse them: a comma is greater than a plus.
        assert!(b"t,+,1.a."[..] < b"t,,9.a."[..]);
    }

    #[test]
    fn a_lookup_key_sorts_after_the_region_that_holds_its_row() {
        let region = b"t,a,1795221934320.a0c713ffbe96900a70316fdd717328e2.";
        assert_eq!(compare_rows(region, b"t,a,99999999999999"), Ordering::Less);
        assert_eq!(compare_rows(region, b"t,a,b,99999999999999"), Ordering::Less);
        assert_eq!(compare_rows(region, b"t,Z,99999999999999"), Ordering::Greater);
    }

    proptest! {
        #[test]
        fn regions_are_ordered_as_their_start_keys(
            a in prop::collection::vec(prop::sample::select(b",.+\x00\xffa".to_vec()), 0..6),
            b in prop::collection::vec(prop::sample::select(b",.+\x00\xffa".to_vec()), 0..6),
        ) {
            let row = |start: &[u8]| [b"t,", start, b",1.a."].concat();
            prop_assert_eq!(compare_rows(&row(&a), &row(&b)), a.cmp(&b));
        }

        #[test]
        fn it_is_an_order(
            rows in prop::collection::vec(
                prop::collection::vec(prop::sample::select(b",at".to_vec()), 0..6), 3,
            ),
        ) {
            let a = &rows[0];
            let b = &rows[1];
            let c = &rows[2];
            prop_assert_eq!(compare_rows(a, b), compare_rows(b, a).reverse());
            if compare_rows(a, b).is_le() && compare_rows(b, c).is_le() {
                prop_assert!(compare_rows(a, c).is_le());
            }
        }
    }
}
