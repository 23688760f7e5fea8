//! Comparisons for every type, and null.

use super::check;
use expect_test::expect;

#[test]
fn every_type_is_compared_in_its_own_order() {
    check(
        "[d date][n u8]",
        "d >= 2022-12-01 and d < 2023",
        expect![[r#"
        ranges: 1
          [\x80\x00K\x7F, \x80\x00K\x9E)
        residual: none, the ranges are exact
        order: d ascending, n ascending
    "#]],
    );
    check(
        "[d ymd]-[n u8]",
        "d during 2022-12",
        expect![[r#"
        ranges: 1
          [20221201, 20230101)
        residual: none, the ranges are exact
        order: d ascending, n ascending
    "#]],
    );
    check(
        "[d ymd]-[n u8]",
        "d = 2022-12-01T08:00",
        expect![[r#"
        ranges: none, no row can match
        residual: none, the ranges are exact
        order: d ascending, n ascending
    "#]],
    );
    check(
        "[at ymdhm]",
        "at > 2022-12-01T08:25:30",
        expect![[r#"
        ranges: 1
          [202212010826, …)
        residual: none, the ranges are exact
        order: at ascending
    "#]],
    );
    check(
        "[d date desc]",
        "d between 2022-12-01 and 2022-12-31",
        expect![[r#"
        ranges: 1
          [\x7F\xFF\xB4b, \x7F\xFF\xB4\x81)
        residual: none, the ranges are exact
        order: d descending (newest first)
    "#]],
    );
    check(
        "[f f64]",
        "f = 0",
        expect![[r#"
        ranges: 1
          [\x7F\xFF\xFF\xFF\xFF\xFF\xFF\xFF, \x80\x00\x00\x00\x00\x00\x00\x01)
        residual: none, the ranges are exact
        order: f ascending
    "#]],
    );
    check(
        "[f f64]",
        "f > 0 and f <= 1.5",
        expect![[r#"
        ranges: 1
          [\x80\x00\x00\x00\x00\x00\x00\x01, \xBF\xF8\x00\x00\x00\x00\x00\x01)
        residual: none, the ranges are exact
        order: f ascending
    "#]],
    );
    check(
        "[f f32 desc]",
        "f >= 0.1",
        expect![[r#"
        ranges: 1
          […, B333)
        residual: none, the ranges are exact
        order: f descending
    "#]],
    );
    check(
        "[f f64]",
        "f < -inf",
        expect![[r#"
        ranges: none, no row can match
        residual: none, the ranges are exact
        order: f ascending
    "#]],
    );
    check(
        "[b bool][n u8]",
        "b = true",
        expect![[r#"
        ranges: 1
          [\x01, \x02)
        residual: none, the ranges are exact
        order: b ascending, n ascending
    "#]],
    );
    check(
        "[e enum(low,mid=7,high)][n u8]",
        "e >= 'mid'",
        expect![[r#"
        ranges: 1
          [\x07, …)
        residual: none, the ranges are exact
        order: e ascending, n ascending
    "#]],
    );
    check(
        "[e enum(low,mid=7,high)]",
        "e in ('low', 'high')",
        expect![[r#"
        ranges: 2
          […, \x01)
          row \x02
        residual: none, the ranges are exact
        order: e ascending
    "#]],
    );
    check(
        "[u uuid]",
        "u >= '67e55044-10b1-426f-9247-bb680e5fe0c8'",
        expect![[r#"
        ranges: 1
          [g\xE5PD\x10\xB1Bo\x92G\xBBh\x0E_\xE0\xC8, …)
        residual: none, the ranges are exact
        order: u ascending
    "#]],
    );
    check(
        "[u uuid hex]",
        "u starts with '67e5'",
        expect![[r#"
        ranges: 1
          [67e5, 67e6)
        residual: none, the ranges are exact
        order: u ascending
    "#]],
    );
    check(
        "[b bytes 2 desc]",
        "b < 0x0100",
        expect![[r#"
        ranges: 1
          [\xFF, …)
        residual: none, the ranges are exact
        order: b descending
    "#]],
    );
    check(
        "[b blob][n u8]",
        "b starts with x'00ff'",
        expect![[r#"
        ranges: 1
          [\x00\xFF\xFF, \x01)
        residual: none, the ranges are exact
        order: b ascending, n ascending
    "#]],
    );
    check(
        "[h hex 4]",
        "h between 'ab' and 'ac00'",
        expect![[r#"
        ranges: 1
          [ab, ac01)
        residual: none, the ranges are exact
        order: h ascending
    "#]],
    );
    check(
        "[t text 3][n u8]",
        "t > 'ab'",
        expect![[r#"
            ranges: 1
              [ab\x01, …)
            residual: none, the ranges are exact
            order: t ascending, n ascending
        "#]],
    );
    check(
        "[t text 3][n u8]",
        "t <= 'abcd'",
        expect![[r#"
        ranges: 1
          […, abd)
        residual: none, the ranges are exact
        order: t ascending, n ascending
    "#]],
    );
    check(
        "[t text 3 desc]",
        "t starts with 'a'",
        expect![[r#"
        ranges: 1
          [\x9E, \x9F)
        residual: none, the ranges are exact
        order: t descending
    "#]],
    );
    check(
        "[t text 4 pad ~]",
        "t < 'abc'",
        expect![[r#"
        ranges: 4
          […, abc)
          row ab~~
          row a~~~
          row ~~~~
        residual: none, the ranges are exact
        order: t ascending as stored
    "#]],
    );
    check(
        "[t text 4 pad ~]",
        "t starts with 'a~'",
        expect![[r#"
        ranges: 2
          [a~, a~~~)
          [a~~\x7F, a\x7F)
        residual: none, the ranges are exact
        order: t ascending as stored
    "#]],
    );
    check(
        "[d decimal]",
        "d between 5 and 250",
        expect![[r#"
        ranges: 1
          [10, :)
        residual: d between 5 and 250
        order: d ascending as stored
    "#]],
    );
    check(
        "[d decimal]_[n u8]",
        "d = 12 and n < 3",
        expect![[r#"
        ranges: 1
          [12_, 12_\x03)
        residual: none, the ranges are exact
        order: d ascending, n ascending
    "#]],
    );
    check(
        "[r repeat(u8 text 2)]",
        "r starts with ((1, 'ab'))",
        expect![[r#"
        ranges: 1
          [\x01ab, \x01ac)
        residual: none, the ranges are exact
        order: r ascending as stored
    "#]],
    );
    check(
        "[r repeat(u8)]",
        "r in ((1, 2), ())",
        expect![[r#"
        ranges: 1
          row \x01\x02
        residual: none, the ranges are exact
        order: r ascending as stored
    "#]],
    );
}

#[test]
fn null_is_queried_by_name() {
    check(
        "[n u8 null first][m u8]",
        "n is null",
        expect![[r#"
        ranges: 1
          [\x00, \x01)
        residual: none, the ranges are exact
        order: n ascending, m ascending
    "#]],
    );
    check(
        "[n u8 null first][m u8]",
        "n is not null",
        expect![[r#"
        ranges: 1
          [\x01, \x02)
        residual: none, the ranges are exact
        order: n ascending, m ascending
    "#]],
    );
    check(
        "[n u8 null last][m u8]",
        "n < 7",
        expect![[r#"
        ranges: 1
          [\x00, \x00\x07)
        residual: none, the ranges are exact
        order: n ascending, m ascending
    "#]],
    );
    check(
        "[n u8 desc null last][m u8]",
        "n >= 7 and m = 1",
        expect![[r#"
        ranges: 249
          row \x00\x00\x01
          row \x00\x01\x01
          row \x00\x02\x01
          row \x00\x03\x01
          row \x00\x04\x01
          row \x00\x05\x01
          row \x00\x06\x01
          row \x00\x07\x01
          row \x00\x08\x01
          row \x00\x09\x01
          row \x00\x0A\x01
          row \x00\x0B\x01
          row \x00\x0C\x01
          row \x00\x0D\x01
          row \x00\x0E\x01
          row \x00\x0F\x01
          row \x00\x10\x01
          row \x00\x11\x01
          row \x00\x12\x01
          row \x00\x13\x01
          and 229 more
        residual: none, the ranges are exact
        order: n descending, m ascending
    "#]],
    );
    check(
        "[n u8][m u8]",
        "n is not null",
        expect![[r#"
        ranges: 1, reads the whole table
          […, …)
        residual: none, the ranges are exact
        order: n ascending, m ascending
    "#]],
    );
    check(
        "[s string null first]",
        "s in ('a', 'b')",
        expect![[r#"
        ranges: 2
          row \x01a\x00\x01
          row \x01b\x00\x01
        residual: none, the ranges are exact
        order: s ascending
    "#]],
    );
}
