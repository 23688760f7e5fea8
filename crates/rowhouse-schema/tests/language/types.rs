//! Required type parameters, and the errors if they are missing.

use super::check;
use expect_test::expect;

#[test]
fn invalid_types_are_refused() {
    check(
        "[e enum]",
        expect![[r#"
        expected parentheses after `enum`: enum(open,closed): offset=3
          [e enum]
             ^"#]],
    );
    check(
        "[e enum(a,a)]",
        expect![[r#"
            duplicate label `a`: offset=10
              [e enum(a,a)]
                        ^"#]],
    );
    check(
        "[e enum(a,b=0)]",
        expect![[r#"
        `a` and `b` have the same byte 0: offset=10
          [e enum(a,b=0)]
                    ^"#]],
    );
    check(
        "[e enum(a,b=300)]",
        expect![[r#"
        expected a byte, 0 to 255, for `b=300`: offset=10
          [e enum(a,b=300)]
                    ^"#]],
    );
    check(
        "[e enum(a b)]",
        expect![[r#"
        expected labels such as enum(open,closed): offset=8
          [e enum(a b)]
                  ^"#]],
    );
    check(
        "[e enum(a,b]",
        expect![[r#"
        this parenthesis is never closed, or never opened: offset=3
          [e enum(a,b]
             ^"#]],
    );
    check(
        "[h hex]",
        expect![[r#"
        expected `hex N`, how many characters there are: offset=3
          [h hex]
             ^"#]],
    );
    check(
        "[h hex 0]",
        expect![[r#"
        expected 1 to 32767 characters, not 0: offset=7
          [h hex 0]
                 ^"#]],
    );
    check(
        "[b bytes 40000]",
        expect![[r#"
        expected 1 to 32767 bytes, not 40000: offset=9
          [b bytes 40000]
                   ^"#]],
    );
    check(
        "[t text 8 pad]",
        expect![[r#"
        expected a character to pad with; a space is \x20: offset=13
          [t text 8 pad]
                       ^"#]],
    );
    check(
        "[t text 8 pad ab]",
        expect![[r#"
        expected one ASCII character to pad with, not ab; a space is \x20: offset=14
          [t text 8 pad ab]
                        ^"#]],
    );
    check(
        "[t text 8 pad é]",
        expect![[r#"
        expected one ASCII character to pad with, not é; a space is \x20: offset=14
          [t text 8 pad é]
                        ^"#]],
    );
    check(
        "[r repeat()]",
        expect![[r#"
        expected types of fixed width; for example repeat(u24 u24): offset=10
          [r repeat()]
                    ^"#]],
    );
    check(
        "[r repeat(string)]",
        expect![[r#"
        `string` has no fixed width and cannot be repeated: offset=10
          [r repeat(string)]
                    ^"#]],
    );
    check(
        "[r repeat(u8 bogus)]",
        expect![[r#"
        unknown type `bogus`; types are: text string blob domain decimal u8…u64 i8…i64 f32 f64 bool enum uuid ipv4 bytes hex digits millis micros nanos seconds date ymd ymdhm ymdhms repeat: offset=13
          [r repeat(u8 bogus)]
                       ^"#]],
    );
    check(
        "[r repeat(u8)]x",
        expect![[r#"
        repeated values extend to the end of the key; it must be the last field, with nothing after it: offset=1
          [r repeat(u8)]x
           ^"#]],
    );
    check(
        "[r repeat(u8)][n u8]",
        expect![[r#"
        repeated values extend to the end of the key; it must be the last field, with nothing after it: offset=1
          [r repeat(u8)][n u8]
           ^"#]],
    );
    check(
        "[f float]",
        expect![[r#"
        unknown type `float`; did you mean `f32` (or `f64`)?: offset=3
          [f float]
             ^"#]],
    );
    check(
        "[n u8 upper]",
        expect![[r#"
        unknown modifier `upper`; modifiers are: tz floor digits hex reverse md5… desc null: offset=6
          [n u8 upper]
                ^"#]],
    );
    check(
        "[d decimal]5[n u8]",
        expect![[r#"
        a digit after `d` would be read as part of it; put another literal there: offset=1
          [d decimal]5[n u8]
           ^"#]],
    );
    check(
        "[d decimal][s string]",
        expect![[r#"
        `d` has no end: after `decimal` must come the end of the key, a literal, or only fields of fixed width, and `s string` has none; use [d string], or put a literal such as _ after it: offset=1
          [d decimal][s string]
           ^"#]],
    );
    check(
        "[d domain][n u8 null first]",
        expect![[r#"
        `d` has no end: after `domain` must come the end of the key, a literal, or only fields of fixed width, and `n u8 null first` has none; use [d string], or put a literal such as _ after it: offset=1
          [d domain][n u8 null first]
           ^"#]],
    );
}
