//! Index declarations: their printed form, their full form, and the errors for mistakes.

use expect_test::{Expect, expect};
use rowhouse_model::Result;
use rowhouse_schema::{ColumnSchema, IndexSchema, KeySchema};

const KEY: &str = "[user text]_[at millis digits desc]";
const COLUMNS: &str = "d:s sender string; d:t subject text; d:n size u64 digits; d:h host domain; \
                       d:w seen millis; d:k kind u8; d:p price decimal; d:v code phoenix.varchar; \
                       f:[tag string][n u8] tagged f64; g:[x text] other u8";

fn parse(key: &str, text: &str) -> Result<IndexSchema> {
    crate::parse(key, COLUMNS, text)
}

/// The declarations as printed, and each one's full form.
fn check_with(key: &str, text: &str, expected: Expect) {
    let actual = match parse(key, text) {
        Err(error) => format!("{:?}: {error}", error.kind()),
        Ok(indexes) => {
            let printed = indexes.to_string();
            assert_eq!(parse(key, &printed).unwrap(), indexes);
            let forms = indexes.indexes().iter().map(|index| format!("\n  {}", index.template()));
            format!("{printed}{}", forms.collect::<String>())
        }
    };
    expected.assert_eq(&actual);
}

fn check(text: &str, expected: Expect) {
    check_with(KEY, text, expected);
}

#[test]
fn declarations_print_in_one_line() {
    check("", expect![""]);
    check(" ;\n ", expect![""]);
    check(
        "a [sender]\n\n  b   [size desc]   covers subject,size where  size > 10 ;",
        expect![[r#"
        a [sender]; b [size desc] covers subject, size where size > 10
          [sender string][user string][at millis desc]
          [size u64 desc][user string][at millis desc]"#]],
    );
    check(
        r"a [sender]_\[\x3B'\x27",
        expect![[r#"
        InvalidRequest: this quote is never closed: offset=17
          a [sender]_\[\x3B'\x27
                           ^"#]],
    );
    check(
        r"a [sender]_\[;",
        expect![[r#"
        a [sender]_\[
          [sender string]_\[[user string][at millis desc]"#]],
    );
    check(
        r"a [sender]_\[\x3B\x27",
        expect![[r#"
        a [sender]_\[\x3B\x27
          [sender string]_\[;'[user string][at millis desc]"#]],
    );
    check(
        "a [sender] where subject = 'x;y\n''z' and size between 1 and 2; b [kind]",
        expect![[r#"
        a [sender] where subject = 'x;y
        ''z' and size between 1 and 2; b [kind]
          [sender string][user string][at millis desc]
          [kind u8][user string][at millis desc]"#]],
    );
    check(
        "one [sender] unique; table [sender]",
        expect![[r#"
        one [sender] unique; table [sender]
          [sender string][user string][at millis desc]
          [sender string][user string][at millis desc]"#]],
    );
}

#[test]
fn memory_stands_after_the_template_and_refuses_unique_values_and_copies() {
    check(
        "a  [sender]   memory covers subject,size where size > 1; memory [size] memory",
        expect![[r#"
            a [sender] memory covers subject, size where size > 1; memory [size] memory
              [sender string][user string][at millis desc]
              [size u64][user string][at millis desc]"#]],
    );
    check(
        "a [sender] memory unique",
        expect![[r#"
        InvalidRequest: an index in memory is not unique: it is built after each open; leave out `memory`: offset=18
          a [sender] memory unique
                            ^"#]],
    );
    check(
        "a [user][at] memory covers *",
        expect![[r#"
        InvalidRequest: an index in memory is no copy: it is built after each open; leave out `memory`: offset=20
          a [user][at] memory covers *
                              ^"#]],
    );
    check(
        "a [sender] unique memory",
        expect![[r#"
        InvalidRequest: `memory` is not allowed here; in this order: memory or unique, covers NAMES, where QUERY: offset=18
          a [sender] unique memory
                            ^"#]],
    );
    check(
        "a [user][at] covers * memory",
        expect![[r#"
        InvalidRequest: `memory` is not allowed after `covers *`; every row has its copy: offset=22
          a [user][at] covers * memory
                                ^"#]],
    );
}

#[test]
fn the_full_form_appends_the_fields_that_determine_the_key() {
    check(
        "a [sender]",
        expect![[r#"
        a [sender]
          [sender string][user string][at millis desc]"#]],
    );
    check(
        "a [user]",
        expect![[r#"
        a [user]
          [user string][at millis desc]"#]],
    );
    check(
        "a [at floor 1d]",
        expect![[r#"
        a [at floor 1d]
          [at millis floor 1d][user string][at millis desc]"#]],
    );
    check(
        "a [at][user]",
        expect![[r#"
        a [at][user]
          [at millis][user string]"#]],
    );
    check(
        "a [at desc][sender null last]",
        expect![[r#"
        a [at desc][sender null last]
          [at millis desc][sender string null last][user string]"#]],
    );
    check(
        "a [host]",
        expect![[r#"
        a [host]
          [host string][user string][at millis desc]"#]],
    );
    check(
        "a [sender md5 8]",
        expect![[r#"
        a [sender md5 8]
          [sender string md5 8][user string][at millis desc]"#]],
    );
    check(
        "a [bucket 8 of sender][seen floor 1h]",
        expect![[r#"
            InvalidRequest: the index has no field `sender`: offset=15
              a [bucket 8 of sender][seen floor 1h]
                             ^"#]],
    );
    check(
        "a [bucket 8][sender]",
        expect![[r#"
        a [bucket 8][sender]
          [bucket 8][sender string][user string][at millis desc]"#]],
    );
    check(
        "a [tagged.tag]",
        expect![[r#"
        a [tagged.tag]
          [tagged.tag string][user string][at millis desc]"#]],
    );
    check(
        "a [tagged.n desc][tagged.tag][sender]",
        expect![[r#"
        a [tagged.n desc][tagged.tag][sender]
          [tagged.n u8 desc][tagged.tag string][sender string][user string][at millis desc]"#]],
    );
    check(
        "a [price]_[sender]",
        expect![[r#"
        a [price]_[sender]
          [price decimal]_[sender string][user string][at millis desc]"#]],
    );
    check(
        "a [bucket 4 of tagged.tag][tagged.tag]",
        expect![[r#"
        a [bucket 4 of tagged.tag][tagged.tag]
          [bucket 4 of tagged.tag][tagged.tag string][user string][at millis desc]"#]],
    );
}

#[test]
fn where_fields_do_not_determine_the_key_the_key_is_appended() {
    check_with(
        "[salt 4][user string]",
        "a [sender]",
        expect![[r#"
        a [sender]
          [sender string][row blob]"#]],
    );
    check_with(
        "[user text md5 4]",
        "a [sender]",
        expect![[r#"
        a [sender]
          [sender string][row blob]"#]],
    );
    check_with(
        "[user u8][base seconds 4 floor 1h]",
        "a [sender]",
        expect![[r#"
        a [sender]
          [sender string][row blob]"#]],
    );
    check_with(
        "[user u8]_[n decimal]",
        "a [sender]",
        expect![[r#"
        a [sender]
          [sender string][row blob]"#]],
    );
    check_with(
        "[user u8][n repeat(u8 u8)]",
        "a [sender][user]",
        expect![[r#"
        a [sender][user]
          [sender string][user u8][row blob]"#]],
    );
    check_with(
        "[user ordered.blob_copy]",
        "a [sender]",
        expect![[r#"
        a [sender]
          [sender string][user ordered.blob_copy]"#]],
    );
    check_with(
        "",
        "a [sender]",
        expect![[r#"
        a [sender]
          [sender string][row blob]"#]],
    );
    check_with(
        "",
        "a [sender][row]",
        expect![[r#"
        a [sender][row]
          [sender string][row blob]"#]],
    );
    check_with(
        "",
        "a [row][sender]",
        expect![[r#"
        a [row][sender]
          [row blob][sender string]"#]],
    );
}

#[test]
fn key_fields_retain_the_modifiers_that_order_them() {
    check_with(
        "[bucket 8 of a][a text 4 pad x][b ymd tz +08:00]",
        "a [sender]",
        expect![[r#"
        a [sender]
          [sender string][a text 4 pad x][b ymd tz +08:00]"#]],
    );
    check_with(
        "[a string desc null last][b u32 digits desc][c text reverse]",
        "a [sender]",
        expect![[r#"
        a [sender]
          [sender string][a string desc null last][b u32 desc][c string]"#]],
    );
    check_with(
        "[a java.long][b phoenix.varchar][c phoenix.date]",
        "a [sender]",
        expect![[r#"
        a [sender]
          [sender string][a java.long][b phoenix.varchar][c phoenix.date]"#]],
    );
    check_with(
        "[a domain]_[b hex 4 upper]",
        "a [sender]",
        expect![[r#"
        a [sender]
          [sender string][a string][b hex 4 upper]"#]],
    );
}

#[test]
fn a_mistake_is_pointed_at() {
    check(
        "a [sendr]",
        expect![[r#"
        InvalidRequest: there is no `sendr`; did you mean `sender`?: offset=3
          a [sendr]
             ^"#]],
    );
    check(
        "a [nothing_like_it]",
        expect![[r#"
        InvalidRequest: there is no `nothing_like_it`; fields of the key: user, at; columns: sender, subject, size, host, seen, kind, price, code, tagged, other: offset=3
          a [nothing_like_it]
             ^"#]],
    );
    check(
        "a [sender]; a [subject]",
        expect![[r#"
        InvalidRequest: the index `a` is declared twice: offset=12
          a [sender]; a [subject]
                      ^"#]],
    );
    check(
        "9a [sender]",
        expect![[r#"
        InvalidRequest: `9a` is not a name; a name has ASCII letters, digits and _, and does not begin with a digit; for example by_sender [sender]: offset=0
          9a [sender]
          ^"#]],
    );
    check(
        "a[sender]",
        expect![[r#"
        InvalidRequest: expected a space between name and template: offset=1
          a[sender]
           ^"#]],
    );
    check(
        "a",
        expect![[r#"
        InvalidRequest: expected a template; for example by_sender [sender]: offset=1
          a
           ^"#]],
    );
    check(
        "a tabel [sender]",
        expect![[r#"
            InvalidRequest: expected a template such as [sender], or the word search, not tabel: offset=2
              a tabel [sender]
                ^"#]],
    );
    check(
        "a [sender] covers *",
        expect![[r#"
            InvalidRequest: `sender` is no field of the key; `covers *` names fields of the key alone: offset=2
              a [sender] covers *
                ^"#]],
    );
    check(
        "a [sender] covers sendr",
        expect![[r#"
        InvalidRequest: no column `sendr` is declared; did you mean `sender`?: offset=18
          a [sender] covers sendr
                            ^"#]],
    );
    check(
        "a [sender] covers user",
        expect![[r#"
        InvalidRequest: `user` is a field of the key, which every entry has anyway: offset=18
          a [sender] covers user
                            ^"#]],
    );
    check(
        "a [sender] covers tagged",
        expect![[r#"
        InvalidRequest: `tagged` is the name of many columns, and cannot be covered: offset=18
          a [sender] covers tagged
                            ^"#]],
    );
    check(
        "a [sender] covers size, size",
        expect![[r#"
        InvalidRequest: `size` is covered twice: offset=24
          a [sender] covers size, size
                                  ^"#]],
    );
    check(
        "a [sender] covers",
        expect![[r#"
        InvalidRequest: expected the names of columns; for example covers subject, size: offset=17
          a [sender] covers
                           ^"#]],
    );
    check(
        "a [sender] covers size unique",
        expect![[r#"
        InvalidRequest: `unique` is not allowed here; in this order: memory or unique, covers NAMES, where QUERY: offset=23
          a [sender] covers size unique
                                 ^"#]],
    );
    check(
        "a [sender] where",
        expect![[r#"
        InvalidRequest: expected a condition after `where`: offset=16
          a [sender] where
                          ^"#]],
    );
    check(
        "a [sender] where size >",
        expect![[r#"
        InvalidRequest: expected a value: a text in quotes, a number or a time: offset=23
          a [sender] where size >
                                 ^"#]],
    );
    check(
        "b [subject]\na [sender] where sise > 1",
        expect![[r#"
        InvalidRequest: there is no `sise`; did you mean `size`?; fields of the key: user, at; columns: sender, subject, size, host, seen, kind, price, code, tagged, other: line=2, offset=17
          a [sender] where sise > 1
                           ^"#]],
    );
    check(
        "a [sender] where tagged.tag = 'x'",
        expect![[r#"
            InvalidRequest: a condition on qualifiers selects cells, and no rows: offset=17
              a [sender] where tagged.tag = 'x'
                               ^"#]],
    );
    check(
        "a [sender] where subject = 'x",
        expect![[r#"
        InvalidRequest: this quote is never closed: offset=27
          a [sender] where subject = 'x
                                     ^"#]],
    );
    check(
        "a [salt 4][sender]",
        expect![[r#"
        InvalidRequest: an index has no salt; its entries are found by their fields: use bucket: offset=3
          a [salt 4][sender]
             ^"#]],
    );
    check(
        "a [sender string]",
        expect![[r#"
        InvalidRequest: the field has a type already, `string` is another: offset=10
          a [sender string]
                    ^"#]],
    );
    check(
        "a [sender dsc]",
        expect![[r#"
        InvalidRequest: unknown modifier `dsc`; did you mean `desc`?: offset=10
          a [sender dsc]
                    ^"#]],
    );
    check(
        "a [size floor 1h]",
        expect![[r#"
        InvalidRequest: the field is not a time, write floor 1: offset=14
          a [size floor 1h]
                        ^"#]],
    );
    check(
        "a [price][sender]",
        expect![[r#"
            InvalidRequest: `price` has no end: after `decimal` must come the end of the key, a literal, or only fields of fixed width, and `sender string` has none; put a literal such as _ after it: offset=3
              a [price][sender]
                 ^"#]],
    );
    check(
        "a [price]",
        expect![[r#"
            InvalidRequest: `price` has no end: after `decimal` must come the end of the key, a literal, or only fields of fixed width, and `row blob` has none; put a literal such as _ after it: offset=3
              a [price]
                 ^"#]],
    );
    check(
        "a [sender][sender]",
        expect![[r#"
        InvalidRequest: the name `sender` is used twice: offset=11
          a [sender][sender]
                     ^"#]],
    );
    check(
        "a [sender][sender md5 4]",
        expect![[r#"
        InvalidRequest: the name `sender` is used twice: offset=11
          a [sender][sender md5 4]
                     ^"#]],
    );
    check(
        "a [tagged]",
        expect![[r#"
        InvalidRequest: `tagged` is the name of many columns, and has no single value; name a field of their qualifiers: [tagged.tag]: offset=3
          a [tagged]
             ^"#]],
    );
    check(
        "a [tagged.tga]",
        expect![[r#"
        InvalidRequest: the qualifiers of `tagged` have no field `tga`; did you mean `tag`?: offset=10
          a [tagged.tga]
                    ^"#]],
    );
    check(
        "a [tagged.value]",
        expect![[r#"
        InvalidRequest: the qualifiers of `tagged` have no field `value`; they have: tag, n: offset=10
          a [tagged.value]
                    ^"#]],
    );
    check(
        "a [sender.x]",
        expect![[r#"
        InvalidRequest: column `sender` has one qualifier, without fields; name its value: [sender]: offset=3
          a [sender.x]
             ^"#]],
    );
    check(
        "a [tagged.tag][other.x]",
        expect![[r#"
        InvalidRequest: an index has fields of the qualifiers of one column only: offset=15
          a [tagged.tag][other.x]
                         ^"#]],
    );
    check(
        "a [row]",
        expect![[r#"
        InvalidRequest: `row` is the whole key of a table without a key template; name fields of the key: offset=3
          a [row]
             ^"#]],
    );
    check(
        "a [code]",
        expect![[r#"
        InvalidRequest: `code phoenix.varchar` cannot hold every value of `code`; a row with another value would have no entry: offset=3
          a [code]
             ^"#]],
    );
    check(
        "a [size digits 3]",
        expect![[r#"
        InvalidRequest: `size u64 digits 3` cannot hold every value of `size`; a row with another value would have no entry: offset=3
          a [size digits 3]
             ^"#]],
    );
    check(
        "a [bucket 8 of nobody][sender]",
        expect![[r#"
            InvalidRequest: the index has no field `nobody`: offset=15
              a [bucket 8 of nobody][sender]
                             ^"#]],
    );
    check(
        "a [bucket 8]",
        expect![[r#"
        InvalidRequest: expected a field such as [sender]: offset=12
          a [bucket 8]
                      ^"#]],
    );
    check(
        "a [bucket 8][sender] unique",
        expect![[r#"
            InvalidRequest: `bucket 8` differs between rows with equal declared fields; compute it of declared fields, held whole: offset=2
              a [bucket 8][sender] unique
                ^"#]],
    );
    check(
        "a [bucket 8 of user][sender] unique",
        expect![[r#"
            InvalidRequest: `bucket 8 of user` differs between rows with equal declared fields; compute it of declared fields, held whole: offset=2
              a [bucket 8 of user][sender] unique
                ^"#]],
    );
    check(
        "abc",
        expect![[r#"
        InvalidRequest: expected a template; for example by_sender [sender]: offset=3
          abc
             ^"#]],
    );
    check(
        "a abc_",
        expect![[r#"
            InvalidRequest: expected a template such as [sender], or the word search, not abc_: offset=2
              a abc_
                ^"#]],
    );
    check(
        "a [sender",
        expect![[r#"
            InvalidRequest: this `[` is never closed: offset=2
              a [sender
                ^"#]],
    );
    check(
        "a [] x",
        expect![[r#"
            InvalidRequest: expected the name of a field or column: offset=3
              a [] x
                 ^"#]],
    );
    check(
        "a [sender] unique unique",
        expect![[r#"
        InvalidRequest: `unique` is not allowed here; in this order: memory or unique, covers NAMES, where QUERY: offset=18
          a [sender] unique unique
                            ^"#]],
    );
    check_with(
        "[row string md5 4]",
        "a [sender]",
        expect![[r#"
        InvalidRequest: the index has to hold the whole key as `row`, and the table has a field or column of that name: offset=2
          a [sender]
            ^"#]],
    );
    check_with(
        "[bucket 8 of user as shard][user string]",
        "a [shard]",
        expect![[r#"
        InvalidRequest: `shard` is a computed field of the key; compute one of fields of the index, for example [bucket 8 of user]: offset=3
          a [shard]
             ^"#]],
    );
    check_with(
        "[user string md5 8]",
        "a [user]",
        expect![[r#"
        InvalidRequest: keys hold only a part of `user`, a hash or a step; an index needs the value, as a column has it: offset=3
          a [user]
             ^"#]],
    );
    check_with(
        "[a tuple.string][b tuple.int]",
        "a [a] unique",
        expect![[r#"
        InvalidRequest: `a tuple.string` has no end of its own, so equal values cannot be found; put a literal such as _ after it: offset=2
          a [a] unique
            ^"#]],
    );
    check_with(
        "[n u32]",
        "a [price] unique",
        expect![[r#"
        InvalidRequest: `price decimal` has no end of its own, so equal values cannot be found; put a literal such as _ after it: offset=2
          a [price] unique
            ^"#]],
    );
}

#[test]
fn indexes_are_equal_if_their_entries_are() {
    let parse = |key: &str, columns: &str, text: &str| {
        let key = KeySchema::parse(key);
        let columns = ColumnSchema::parse(columns);
        IndexSchema::parse(text, Some(&key.unwrap()), Some(&columns.unwrap())).unwrap()
    };
    let text = "i [s] covers t where n > 1; j [q.v]";
    let columns = "d:s s string; d:t t u8; d:n n u8; q:[v u8] q u8; d:o other u8";
    let one = parse("[k string]", columns, text);
    assert_eq!(one, parse("[k string]", &columns.replace("; d:o other u8", ""), text));
    for (old, new) in [("d:s", "d:x"), ("t u8", "t u16"), ("n u8", "n i8"), ("[v u8]", "[v u16]")] {
        assert_ne!(one, parse("[k string]", &columns.replace(old, new), text), "{old}");
    }
    assert_ne!(one, parse("[k text]", columns, text));
    assert_ne!(one, parse("[k string]", columns, "i [s] covers t; j [q.v]"));
}

#[test]
fn copies_have_fields_of_the_key_alone() {
    check(
        "a [at][user] covers *",
        expect![[r#"
        a [at][user] covers *
          [at millis][user string]"#]],
    );
    check(
        "a [bucket 4 of user][user]   covers  *",
        expect![[r#"
        a [bucket 4 of user][user] covers *
          [bucket 4 of user][user string][at millis desc]"#]],
    );
    check(
        "a [user text]_[at millis digits desc] covers *",
        expect![[r#"
        a [user text]_[at millis digits desc] covers *
          [user text]_[at millis digits desc]"#]],
    );
    check(
        "a [at floor 1d][user] covers *",
        expect![[r#"
        a [at floor 1d][user] covers *
          [at millis floor 1d][user string][at millis desc]"#]],
    );
    check(
        "a [sender] covers *",
        expect![[r#"
        InvalidRequest: `sender` is no field of the key; `covers *` names fields of the key alone: offset=2
          a [sender] covers *
            ^"#]],
    );
    check(
        "a [user] unique covers *",
        expect![[r#"
        InvalidRequest: `*` stands alone, and an index that covers it is not unique; covers * comes right after the template: offset=23
          a [user] unique covers *
                                 ^"#]],
    );
    check(
        "a [user] covers * where size > 5",
        expect![[r#"
        InvalidRequest: `where` is not allowed after `covers *`; every row has its copy: offset=18
          a [user] covers * where size > 5
                            ^"#]],
    );
    check(
        "a [user] covers *, size",
        expect![[r#"
        InvalidRequest: `*` stands alone, and an index that covers it is not unique; covers * comes right after the template: offset=16
          a [user] covers *, size
                          ^"#]],
    );
    check(
        "a [user u32]_[at millis digits desc] covers *",
        expect![[r#"
        InvalidRequest: `user u32` has another type than the key; name the field without a type: offset=2
          a [user u32]_[at millis digits desc] covers *
            ^"#]],
    );
    check(
        "a [user text]_[at millis digits floor 1d] covers *",
        expect![[r#"
        InvalidRequest: the field has a type already, `text` is another: offset=8
          a [user text]_[at millis digits floor 1d] covers *
                  ^"#]],
    );
    check_with(
        "[salt 4][user text]",
        "a [user] covers *",
        expect![[r#"
        InvalidRequest: `covers *` needs fields that determine the key; `covers *` names fields of the key alone: offset=2
          a [user] covers *
            ^"#]],
    );
    check_with(
        "[user text md5 4]",
        "a [user] covers *",
        expect![[r#"
        InvalidRequest: keys hold only a part of `user`, a hash or a step; an index needs the value, as a column has it: offset=3
          a [user] covers *
             ^"#]],
    );
    check_with(
        "",
        "a [row] covers *",
        expect![[r#"
        InvalidRequest: `covers *` needs a table with a row-key template; it is the table under another key: offset=2
          a [row] covers *
            ^"#]],
    );
    check_with(
        "[a u8 null first][b u8]",
        "a [b][a] covers *",
        expect![[r#"
        InvalidRequest: `a` may be null in keys; say null first or null last: offset=2
          a [b][a] covers *
            ^"#]],
    );
    check_with(
        "[a u8 null first][b u8]",
        "a [b][a null last] covers *",
        expect![[r#"
        a [b][a null last] covers *
          [b u8][a u8 null last]"#]],
    );
}

#[test]
fn keys_of_copies_lead_back_and_a_promotion_swaps_them() {
    let cases = [
        ("[at millis][user string]", "[bucket 16 of user][user][at]"),
        ("[user text]_[at millis digits desc]", "[at][user]"),
        ("[n u32][at millis desc][user text]", "[user][n desc]"),
        ("[bucket 8 of n][n u32][user text]", "[user][n]"),
    ];
    for (old, template) in cases {
        let key = KeySchema::parse(old).unwrap();
        let indexes =
            IndexSchema::parse(&format!("c {template} covers *"), Some(&key), None).unwrap();
        let promoted = indexes.promote("c", None).unwrap();
        let index = indexes.index("c").unwrap();
        let back = promoted.indexes.index("c").unwrap();
        assert_eq!(promoted.key, *index.template());
        assert_eq!(*back.template(), key);
        for nth in 0..50u64 {
            let fields = [
                ("user", format!("user{}", nth * 7 % 10).into()),
                ("at", (1_671_904_800_000 + nth as i64).into()),
                ("n", nth.into()),
            ];
            let named = |schema: &KeySchema| {
                let is_field =
                    |(name, _): &&(&str, rowhouse_schema::Value)| schema.field(name).is_some();
                fields.iter().filter(is_field).cloned().collect::<Vec<_>>()
            };
            let row = key.encode(&named(&key)[..]).unwrap();
            let copy = index.copy_key(&row).unwrap().unwrap();
            assert_eq!(copy, promoted.key.encode(&named(&promoted.key)[..]).unwrap());
            assert_eq!(index.row_key(&copy).unwrap(), row);
            assert_eq!(back.copy_key(&copy).unwrap().unwrap(), row);
        }
        assert_eq!(index.copy_key(b"").unwrap(), None);
        assert_eq!(promoted.indexes.promote("c", None).unwrap().key, key);
    }
    let key = KeySchema::parse("[user string][n u8]").unwrap();
    let parse = |text| IndexSchema::parse(text, Some(&key), None).unwrap();
    let typed = parse("c [user text]_[n u8] covers *; plain [n]");
    let row = key.encode(&[("user", "a_b".into()), ("n", 1.into())]).unwrap();
    let refused = typed.index("c").unwrap().copy_key(&row).unwrap_err();
    assert!(refused.message().contains("cannot have its entry in the index `c`"), "{refused}");
    let plain = typed.promote("plain", None).unwrap_err();
    assert_eq!(
        plain.message(),
        "only an index that covers * can be promoted: index=plain, declaration=plain [n]"
    );
    // A key names each field once.
    assert!(parse("c [n floor 2][user][n] covers *").promote("c", None).is_err());
}
