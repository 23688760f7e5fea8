//! Computed fields and their operands.

use super::check;
use expect_test::expect;

#[test]
fn invalid_computed_fields_are_refused() {
    check(
        "[bucket 0 of a][a u8]",
        expect![[r#"
        expected 1 to 65536 buckets, not 0: offset=8
          [bucket 0 of a][a u8]
                  ^"#]],
    );
    check(
        "[bucket 70000 of a][a u8]",
        expect![[r#"
        expected 1 to 65536 buckets, not 70000: offset=8
          [bucket 70000 of a][a u8]
                  ^"#]],
    );
    check(
        "[bucket 4 of b][a u8]",
        expect![[r#"
        the key has no field `b`: offset=13
          [bucket 4 of b][a u8]
                       ^"#]],
    );
    check(
        "[bucket 4 of abd][abc u8]",
        expect![[r#"
        the key has no field `abd`; did you mean `abc`?: offset=13
          [bucket 4 of abd][abc u8]
                       ^"#]],
    );
    check(
        "[bucket 4 of a,a][a u8]",
        expect![[r#"
        `a` is given twice: offset=15
          [bucket 4 of a,a][a u8]
                         ^"#]],
    );
    check(
        "[bucket 4 of][a u8]",
        expect![[r#"
        expected the names of fields after `of`, or `rest`: offset=12
          [bucket 4 of][a u8]
                      ^"#]],
    );
    check(
        "[bucket 4 of a by md6][a u8]",
        expect![[r#"
        unknown hash `md6`; hashes are: md5 sha1 sha256 xxh3 murmur3 crc32: offset=18
          [bucket 4 of a by md6][a u8]
                            ^"#]],
    );
    check(
        "[bucket 4 of a desc][a u8]",
        expect![[r#"
        `desc` is not allowed here; in this order: of FIELDS, by HASH, digits or hex, as NAME: offset=15
          [bucket 4 of a desc][a u8]
                         ^"#]],
    );
    check(
        "[bucket 4 hex of a][a u8]",
        expect![[r#"
        `of` is not allowed here; in this order: of FIELDS, by HASH, digits or hex, as NAME: offset=14
          [bucket 4 hex of a][a u8]
                        ^"#]],
    );
    check(
        "[a u8][bucket 4]",
        expect![[r#"
        there is no field after it to compute it from; name the fields: of user,day: offset=7
          [a u8][bucket 4]
                 ^"#]],
    );
    check(
        "[bucket 4][bucket 2][a u8]",
        expect![[r#"
        no computed field is allowed after one that is computed from the rest; name the fields: of user,day: offset=1
          [bucket 4][bucket 2][a u8]
           ^"#]],
    );
    check(
        "[bucket 4 of b][bucket 2 of a as b][a u8]",
        expect![[r#"
        `b` is computed, and cannot be an operand: offset=13
          [bucket 4 of b][bucket 2 of a as b][a u8]
                       ^"#]],
    );
    check(
        "[hash 4][a u8]",
        expect![[r#"
        expected `of` and the names of fields; for example [hash 4 of user], or [hash 4 of rest]: offset=7
          [hash 4][a u8]
                 ^"#]],
    );
    check(
        "[hash 9 of a][a u8]",
        expect![[r#"
        expected 1 to 8 bytes of xxh3, not 9: offset=6
          [hash 9 of a][a u8]
                ^"#]],
    );
    check(
        "[hash 17 of a by md5][a u8]",
        expect![[r#"
        expected 1 to 16 bytes of md5, not 17: offset=6
          [hash 17 of a by md5][a u8]
                ^"#]],
    );
    check(
        "[salt 4 abc][a u8]",
        expect![[r#"
        expected 4 characters, `abc` has 3; write the first and the last as in a-d, or all of them: offset=8
          [salt 4 abc][a u8]
                  ^"#]],
    );
    check(
        "[salt 4 aabb][a u8]",
        expect![[r#"
        duplicate character: offset=8
          [salt 4 aabb][a u8]
                  ^"#]],
    );
    check(
        "[salt 3 a-d][a u8]",
        expect![[r#"
        expected 3 characters, `a-d` has 4; write the first and the last as in a-d, or all of them: offset=8
          [salt 3 a-d][a u8]
                  ^"#]],
    );
    check(
        "[salt 2 as][a u8]",
        expect![[r#"
        expected a name after `as`: offset=10
          [salt 2 as][a u8]
                    ^"#]],
    );
    check(
        "[salt 2 as a][a u8]",
        expect![[r#"
        the name `a` is used twice: offset=14
          [salt 2 as a][a u8]
                        ^"#]],
    );
    check(
        "[bucket]",
        expect![[r#"
        expected a number after `bucket`; for example [bucket 16 of user]: offset=7
          [bucket]
                 ^"#]],
    );
    check(
        "[bucket 4 of a as a][a u8]",
        expect![[r#"
        the name `a` is used twice: offset=21
          [bucket 4 of a as a][a u8]
                               ^"#]],
    );
    check(
        "[salt 2]",
        expect![[r#"
        expected a field such as [user string]: offset=8
          [salt 2]
                  ^"#]],
    );
    check(
        "[a u8][salt 2][salt 2][salt 2][salt 2][salt 2][salt 2][salt 2][salt 2][salt 2]",
        expect![[r#"
            too many computed fields: count=9, max=8: offset=78
              [a u8][salt 2][salt 2][salt 2][salt 2][salt 2][salt 2][salt 2][salt 2][salt 2]
                                                                                            ^"#]],
    );
}
