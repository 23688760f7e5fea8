//! Templates print as they are written.

use super::check;
use expect_test::expect;
use rowhouse_schema::KeySchema;

#[test]
fn literals_print_as_plainly_as_they_can() {
    check(r"\x41b[n u8]\x20\[\]\\-\xff\xE5\x88\x86é", expect![[r#"Ab[n u8]\x20\[\]\\-\xFF分é"#]]);
    check(r"[n u8]\xE3\x80\x80", expect![[r#"[n u8]\xE3\x80\x80"#]]);
}

#[test]
fn templates_print_as_they_are_written() {
    for template in [
        "[at seconds 4 floor 1h][tags repeat(u24 text 2 pad ~)]",
        r"[a text 8 pad \x20][b hex 3 upper][c enum(x,y=7)][d bytes 2 hex desc]",
        "[bucket 16 of user by md5 digits as shard][user string][n u8 desc null last]",
        "[hash 4 of rest hex][id text]",
        "[salt 4 a-d as shard]-[id text sha256 8 hex]",
        r"[a text 3 pad \x28][b text 3 pad \x29][c text 3 pad \x3B]",
    ] {
        assert_eq!(KeySchema::parse(template).unwrap().to_string(), template);
    }
    // Parts that equal the default are omitted.
    check(
        "[bucket 4 of rest by xxh3][e enum(a=0,b)][n text 4 pad \\x00]",
        expect!["[bucket 4][e enum(a,b)][n text 4]"],
    );
}
