//! Modifiers: their order, and the combinations that are refused.

use super::check;
use expect_test::expect;

#[test]
fn invalid_modifiers_are_refused() {
    check(
        "[n u8 floor]",
        expect![[r#"
        expected a step after `floor`: 1h, 15m, 1d, or 100 for a number: offset=11
          [n u8 floor]
                     ^"#]],
    );
    check(
        "[n u8 floor 1h]",
        expect![[r#"
            the field is not a time, write floor 1: offset=12
              [n u8 floor 1h]
                          ^"#]],
    );
    check(
        "[at millis floor 10]",
        expect![[r#"
            a step of time has a unit: 10s, 10m or 10h: offset=17
              [at millis floor 10]
                               ^"#]],
    );
    check(
        "[at seconds floor 10ms]",
        expect![[r#"
            the field's unit is longer than a step of 10ms: offset=18
              [at seconds floor 10ms]
                                ^"#]],
    );
    check(
        "[at millis floor 1w]",
        expect![[r#"
        expected a step such as 1h, 15m, 1d, or 100 for a number: offset=17
          [at millis floor 1w]
                           ^"#]],
    );
    check(
        "[s string floor 10]",
        expect![[r#"
        only whole numbers and times can be floored: offset=10
          [s string floor 10]
                    ^"#]],
    );
    check(
        "[n u8 desc floor 10]",
        expect![[r#"
        `floor` must be before `desc`: offset=11
          [n u8 desc floor 10]
                     ^"#]],
    );
    check(
        "[n u64 hex digits]",
        expect![[r#"
        `hex` and `digits` exclude each other: offset=11
          [n u64 hex digits]
                     ^"#]],
    );
    check(
        "[d date digits]",
        expect![[r#"
        digits have no sign, and a date may be before 1970; for the digits of the calendar use ymd: offset=8
          [d date digits]
                  ^"#]],
    );
    check(
        "[d ymd digits]",
        expect![[r#"
        `ymd` is written in digits already: offset=7
          [d ymd digits]
                 ^"#]],
    );
    check(
        "[s string hex]",
        expect![[r#"
        `string` is not written as hex digits; for text that is hexadecimal use the type `hex N`: offset=10
          [s string hex]
                    ^"#]],
    );
    check(
        "[h hex 4 hex]",
        expect![[r#"
        the type is `hex` already: offset=9
          [h hex 4 hex]
                   ^"#]],
    );
    check(
        "[n u8 reverse desc]",
        expect![[r#"
        there is no order that `desc` could reverse: offset=14
          [n u8 reverse desc]
                        ^"#]],
    );
    check(
        "[s string md5 4 desc]",
        expect![[r#"
        there is no order that `desc` could reverse: offset=16
          [s string md5 4 desc]
                          ^"#]],
    );
    check(
        "[s string reverse md5 4]",
        expect![[r#"
        `reverse` is pointless before a hash, which is computed from the value: offset=18
          [s string reverse md5 4]
                            ^"#]],
    );
    check(
        "[n u8 digits md5 4]",
        expect![[r#"
        a hash is computed from the value, nothing is allowed between them: offset=13
          [n u8 digits md5 4]
                       ^"#]],
    );
    check(
        "[n u8 floor 10 md5 4]",
        expect![[r#"
        a hash is computed from the value, nothing is allowed between them: offset=15
          [n u8 floor 10 md5 4]
                         ^"#]],
    );
    check(
        "[s string md5]",
        expect![[r#"
        expected `md5 N`, how many bytes are kept: offset=10
          [s string md5]
                    ^"#]],
    );
    check(
        "[s string md5 17]",
        expect![[r#"
        expected 1 to 16 bytes of md5, not 17: offset=14
          [s string md5 17]
                        ^"#]],
    );
    check(
        "[s string md5 4 null first]",
        expect![[r#"
        a hash always has a value: offset=16
          [s string md5 4 null first]
                          ^"#]],
    );
    check(
        "[s string null]",
        expect![[r#"
        expected `null first` or `null last`: offset=10
          [s string null]
                    ^"#]],
    );
    check(
        "[s text null last]",
        expect![[r#"
        `text` cannot be null, its end is not stored; use string, or text N: offset=8
          [s text null last]
                  ^"#]],
    );
    check(
        "[d domain reverse]",
        expect![[r#"
        `domain` is stored in reverse already, part by part: offset=10
          [d domain reverse]
                    ^"#]],
    );
    check(
        "[d domain desc]",
        expect![[r#"
        `domain` has no descending order, its end is not stored; use string, or text N: offset=10
          [d domain desc]
                    ^"#]],
    );
    check(
        "[r repeat(u8) desc]",
        expect![[r#"
        `desc` is not allowed after repeat(…): offset=14
          [r repeat(u8) desc]
                        ^"#]],
    );
    check(
        "[n u8 null first desc]",
        expect![[r#"
        `desc` must be before `null`: offset=17
          [n u8 null first desc]
                           ^"#]],
    );
    check(
        "[n u8 reversed]",
        expect![[r#"
        unknown modifier `reversed`; did you mean `reverse` (last character first) or `desc` (greatest first)?: offset=6
          [n u8 reversed]
                ^"#]],
    );
    check(
        "[n u8 pad x]",
        expect![[r#"
        `pad` follows `text N`: offset=6
          [n u8 pad x]
                ^"#]],
    );
}
