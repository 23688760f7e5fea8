//! The buckets that a query reads.

use super::check;
use expect_test::expect;

#[test]
fn buckets_of_pinned_fields_are_read_alone_and_otherwise_all() {
    check(
        "[bucket 4 of a,b][a u8][b u8]",
        "a = 1 and b in (1, 2, 3)",
        expect![[r#"
        ranges: 2, in 2 streams
          2: row \x02\x01\x03
          3: [\x03\x01\x01, \x03\x01\x03)
        residual: none, the ranges are exact
        order: a ascending, b ascending; merged from the buckets
    "#]],
    );
    check(
        "[bucket 4 of a,b][a u8][b u8]",
        "a = 1",
        expect![[r#"
        ranges: 4, in 4 streams
          0: [\x00\x01, \x00\x02)
          1: [\x01\x01, \x01\x02)
          2: [\x02\x01, \x02\x02)
          3: [\x03\x01, \x03\x02)
        residual: none, the ranges are exact
        order: a ascending, b ascending; merged from the buckets
    "#]],
    );
    check(
        "[bucket 4][a u8]-[b u8]",
        "a = 1 and b = 2",
        expect![[r#"
        ranges: 1
          3: row \x03\x01-\x02
        residual: none, the ranges are exact
        order: a ascending, b ascending
    "#]],
    );
    check(
        "[bucket 4 of user digits as shard][user string]",
        "shard = 2",
        expect![[r#"
        ranges: 1
          2: [2, 3)
        residual: none, the ranges are exact
        order: user ascending
    "#]],
    );
    check(
        "[tenant u8][bucket 3 of user][user string]",
        "tenant in (1, 2) and user >= 'b'",
        expect![[r#"
            ranges: 6, in 6 streams
              0: [\x01\x00b\x00\x01, \x01\x01)
              1: [\x01\x01b\x00\x01, \x01\x02)
              2: [\x01\x02b\x00\x01, \x01\x03)
              0: [\x02\x00b\x00\x01, \x02\x01)
              1: [\x02\x01b\x00\x01, \x02\x02)
              2: [\x02\x02b\x00\x01, \x02\x03)
            residual: none, the ranges are exact
            order: tenant ascending, user ascending; merged from the buckets
        "#]],
    );
    check(
        "[tenant u8][bucket 3 of user][user string]",
        "tenant < 100 and user = 'b'",
        expect![[r#"
            ranges: 100, in 100 streams
              2: row \x00\x02b\x00\x01
              2: row \x01\x02b\x00\x01
              2: row \x02\x02b\x00\x01
              2: row \x03\x02b\x00\x01
              2: row \x04\x02b\x00\x01
              2: row \x05\x02b\x00\x01
              2: row \x06\x02b\x00\x01
              2: row \x07\x02b\x00\x01
              2: row \x08\x02b\x00\x01
              2: row \x09\x02b\x00\x01
              2: row \x0A\x02b\x00\x01
              2: row \x0B\x02b\x00\x01
              2: row \x0C\x02b\x00\x01
              2: row \x0D\x02b\x00\x01
              2: row \x0E\x02b\x00\x01
              2: row \x0F\x02b\x00\x01
              2: row \x10\x02b\x00\x01
              2: row \x11\x02b\x00\x01
              2: row \x12\x02b\x00\x01
              2: row \x13\x02b\x00\x01
              and 80 more
            residual: none, the ranges are exact
            order: tenant ascending, user ascending
        "#]],
    );
    check(
        "[at millis][bucket 3 of user][user string]",
        "at > 2022 and user = 'b'",
        expect![[r#"
            ranges: 1
              [\x00\x00\x01~\x12\xEF\x9C\x01, …)
            residual: user = 'b'
            order: physical, by the bytes of the key
        "#]],
    );
    check(
        "[at millis][bucket 3 of at][user string]",
        "at > 2022",
        expect![[r#"
        ranges: 1
          [\x00\x00\x01~\x12\xEF\x9C\x01, …)
        residual: none, the ranges are exact
        order: at ascending, user ascending
    "#]],
    );
    check(
        "[hash 2 of id][id text]",
        "id in ('a', 'b')",
        expect![[r#"
        ranges: 2, in 2 streams
          x'575a': row WZb
          x'e6c6': row \xE6\xC6a
        residual: none, the ranges are exact
        order: id ascending; merged from the buckets
    "#]],
    );
    check(
        "[bucket 3 of id][id text md5 2]",
        "id = 'a'",
        expect![[r#"
        ranges: 1
          1: row \x01\x0C\xC1
        residual: none, the ranges are exact
        order: id ascending
        note: keys hold only the hash of id, which other values have too
    "#]],
    );
    check(
        "[bucket 3 of id][id text md5 2]",
        "hash(id) = 0x0cc1",
        expect![[r#"
        ranges: 3, in 3 streams
          0: row \x00\x0C\xC1
          1: row \x01\x0C\xC1
          2: row \x02\x0C\xC1
        residual: none, the ranges are exact
        order: id ascending; merged from the buckets
        note: keys hold only the hash of id, which other values have too
    "#]],
    );
    check(
        "[salt 3][user text][n u8]",
        "user in ('a', 'ab') and n = 1",
        expect![[r#"
        ranges: 6, in 3 streams
          0: row \x00a\x01
          0: row \x00ab\x01
          1: row \x01a\x01
          1: row \x01ab\x01
          2: row \x02a\x01
          2: row \x02ab\x01
        residual: none, the ranges are exact
        order: by the bytes of the key; merged from the buckets
    "#]],
    );
}
