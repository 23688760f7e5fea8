//! Texts that are not in key order.

use super::check;
use expect_test::expect;

#[test]
fn texts_that_stand_out_of_order_have_ranges_of_their_own() {
    check(
        "[user text]_[n u8]",
        "user < 'ab!c'",
        expect![[r#"
        ranges: 2
          […, ab!c)
          [ab_, ab`)
        residual: none, the ranges are exact
        order: user ascending as stored, n ascending
    "#]],
    );
    check(
        "[user text]_[n u8]",
        "user >= 'ab!c'",
        expect![[r#"
        ranges: 2
          [ab!c, ab_)
          [ab`, …)
        residual: none, the ranges are exact
        order: user ascending as stored, n ascending
    "#]],
    );
    check(
        "[user text]_[n u8]",
        "user <= 'a_b'",
        expect![[r#"
        ranges: 1
          […, a`)
        residual: none, the ranges are exact
        order: user ascending as stored, n ascending
    "#]],
    );
    check(
        "[user text]ab[n u8]",
        "user starts with 'xa'",
        expect![[r#"
        ranges: 2
          [xa, xab)
          [xac, xb)
        residual: none, the ranges are exact
        order: user ascending as stored, n ascending
    "#]],
    );
    check(
        "[user text]_[n u8]",
        "user in ('b', 'a', 'a!') and n >= 128",
        expect![[r#"
        ranges: 3
          [a!_\x80, a!`)
          [a_\x80, a`)
          [b_\x80, b`)
        residual: none, the ranges are exact
        order: user ascending as stored, n ascending
    "#]],
    );
}

/// A key for `ab` is in the range for `a`, as if `b…` were the number.
#[test]
fn names_that_begin_one_another_leave_all_the_rest_to_be_checked() {
    check(
        "[user text][n u8]",
        "user in ('a', 'ab') and n < 255",
        expect![[r#"
        ranges: 1
          [a, a\xFF)
        residual: user in ('a', 'ab') and n < 255
        order: by the bytes of the key
    "#]],
    );
    check(
        "[user text][n u8]",
        "user in ('a', 'ab') and n in (1, 98)",
        expect![[r#"
        ranges: 4
          row a\x01
          row ab
          row ab\x01
          row abb
        residual: user in ('a', 'ab') and n in (1, 98)
        order: by the bytes of the key
    "#]],
    );
    check(
        "[user text][n u8]",
        "user = 'a' and n < 255",
        expect![[r#"
        ranges: 1
          [a, a\xFF)
        residual: user = 'a'
        order: user ascending, n ascending
    "#]],
    );
}

#[test]
fn reversed_text_is_searched_by_its_end() {
    check(
        "[user text reverse]_[n u8]",
        "user ends with '99'",
        expect![[r#"
        ranges: 1
          [99, 9:)
        residual: none, the ranges are exact
        order: user ascending as stored, n ascending
    "#]],
    );
    check(
        "[user text reverse]_[n u8]",
        "user = 'bob'",
        expect![[r#"
        ranges: 1
          [bob_, bob`)
        residual: none, the ranges are exact
        order: user ascending, n ascending
    "#]],
    );
    check(
        "[user text reverse]_[n u8]",
        "user starts with 'b'",
        expect![[r#"
        ranges: 1, reads the whole table
          […, …)
        residual: user starts with 'b'
        order: user ascending as stored, n ascending
    "#]],
    );
    check(
        "[n u32 reverse]",
        "n in (1, 256)",
        expect![[r#"
        ranges: 2
          row \x00\x01\x00\x00
          row \x01\x00\x00\x00
        residual: none, the ranges are exact
        order: n ascending as stored
    "#]],
    );
    check(
        "[host domain]_[n u8]",
        "host under 'example.com'",
        expect![[r#"
        ranges: 2
          [com.example., com.example/)
          [com.example_, com.example`)
        residual: none, the ranges are exact
        order: host ascending as stored, n ascending
    "#]],
    );
    check(
        "[host domain]_[n u8]",
        "host = 'www.example.com' and n > 3",
        expect![[r#"
        ranges: 1
          [com.example.www_\x04, com.example.www`)
        residual: none, the ranges are exact
        order: host ascending, n ascending
    "#]],
    );
}
