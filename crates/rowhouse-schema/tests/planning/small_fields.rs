//! Fields with few values, which plans enumerate.

use super::check;
use expect_test::expect;

#[test]
fn small_fields_are_gone_through() {
    check(
        "[shard digits 1][at millis digits 13]",
        "at during 2022 and shard >= 8",
        expect![[r#"
        ranges: 2
          [81640995200000, 81672531200000)
          [91640995200000, 91672531200000)
        residual: none, the ranges are exact
        order: shard ascending, at ascending
    "#]],
    );
    check(
        "[shard digits 1 desc]-[user string][at millis]",
        "user = 'bob' and shard between 2 and 3",
        expect![[r#"
            ranges: 2
              [6-bob\x00\x01, 6-bob\x00\x02)
              [7-bob\x00\x01, 7-bob\x00\x02)
            residual: none, the ranges are exact
            order: shard descending, user ascending, at ascending
        "#]],
    );
    check(
        "[shard u16][user string]",
        "user = 'bob'",
        expect![[r#"
        ranges: 1, reads the whole table
          […, …)
        residual: user = 'bob'
        order: shard ascending, user ascending
    "#]],
    );
}

#[test]
fn small_fields_of_any_type_are_gone_through() {
    check(
        "[b bool][n u32]",
        "n = 7",
        expect![[r#"
        ranges: 2
          row \x00\x00\x00\x00\x07
          row \x01\x00\x00\x00\x07
        residual: none, the ranges are exact
        order: b ascending, n ascending
    "#]],
    );
    check(
        "[e enum(x,y=9) desc]-[b bool null first]-[n u32]",
        "n = 7",
        expect![[r#"
        ranges: 6
          row \xF6-\x00-\x00\x00\x00\x07
          row \xF6-\x01\x00-\x00\x00\x00\x07
          row \xF6-\x01\x01-\x00\x00\x00\x07
          row \xFF-\x00-\x00\x00\x00\x07
          row \xFF-\x01\x00-\x00\x00\x00\x07
          row \xFF-\x01\x01-\x00\x00\x00\x07
        residual: none, the ranges are exact
        order: e descending, b ascending, n ascending
    "#]],
    );
    check(
        "[n u8 floor 100][m u32]",
        "m = 7",
        expect![[r#"
        ranges: 3
          row \x00\x00\x00\x00\x07
          row d\x00\x00\x00\x07
          row \xC8\x00\x00\x00\x07
        residual: none, the ranges are exact
        order: n ascending as stored, m ascending
    "#]],
    );
}
