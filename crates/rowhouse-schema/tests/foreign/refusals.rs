//! Refused uses of foreign types, and the errors.

use expect_test::{Expect, expect};
use rowhouse_schema::{KeySchema, Rule, Value};

#[track_caller]
fn check(template: &str, expected: Expect) {
    expected.assert_eq(&KeySchema::parse(template).unwrap_err().to_string());
}

#[test]
fn modifiers_that_would_change_the_bytes_are_refused() {
    check(
        "[n java.long floor 10]",
        expect![[r#"
        `java.long` has the encoding of another system, `floor` would change it: offset=13
          [n java.long floor 10]
                       ^"#]],
    );
    check(
        "[n java.long desc]",
        expect![[r#"
        `java.long` has no descending order in its own system; use i64, or u64, which has the same bytes for numbers from 0 on: offset=13
          [n java.long desc]
                       ^"#]],
    );
    check(
        "[n java.long null first]",
        expect![[r#"
        `java.long` is never null in its own system: offset=13
          [n java.long null first]
                       ^"#]],
    );
    check(
        "[n ordered.int8 null last]",
        expect![[r#"
            null of `ordered.int8` is first in its own system; write null first: offset=16
              [n ordered.int8 null last]
                              ^"#]],
    );
    check(
        "[n phoenix.varchar desc null last]",
        expect![[r#"
            null of `phoenix.varchar desc` is first in its own system; write null first: offset=24
              [n phoenix.varchar desc null last]
                                      ^"#]],
    );
    check(
        "[n phoenix.char]",
        expect![[r#"
        expected `phoenix.char N`, how many bytes there are: offset=3
          [n phoenix.char]
             ^"#]],
    );
}

#[test]
fn types_that_are_not_there_are_named() {
    check(
        "[n java.lnog]",
        expect![[r#"
        unknown type `java.lnog`; did you mean `java.long`?: offset=3
          [n java.lnog]
             ^"#]],
    );
    check(
        "[n phoenix.array]",
        expect![[r#"
        `phoenix.array` is not supported yet by this version of rowhouse; types of phoenix are: phoenix.bigint phoenix.integer phoenix.smallint phoenix.tinyint phoenix.unsigned_long phoenix.unsigned_int phoenix.unsigned_smallint phoenix.unsigned_tinyint phoenix.date phoenix.time phoenix.unsigned_date phoenix.unsigned_time phoenix.timestamp phoenix.unsigned_timestamp phoenix.double phoenix.float phoenix.unsigned_double phoenix.unsigned_float phoenix.boolean phoenix.char phoenix.binary phoenix.varchar phoenix.decimal phoenix.varbinary: offset=3
          [n phoenix.array]
             ^"#]],
    );
    check(
        "[bucket 16 by hbasewd.one][n u8]",
        expect![[r#"
        `hbasewd.one` is not supported yet by this version of rowhouse; foreign hashes are: java.hashcode, and of buckets phoenix.salt opentsdb.salt hbasewd.hash: offset=14
          [bucket 16 by hbasewd.one][n u8]
                        ^"#]],
    );
}

#[test]
fn elements_that_cannot_follow_a_field_are_refused() {
    check(
        "[a ordered.blob_copy][n u8]",
        expect![[r#"
        `ordered.blob_copy` extends to the end of the key; it must be the last field, with nothing after it: offset=1
          [a ordered.blob_copy][n u8]
           ^"#]],
    );
    check(
        "[a phoenix.varbinary][n phoenix.integer]",
        expect![[r#"
        `phoenix.varbinary` extends to the end of the key; it must be the last field, with nothing after it: offset=1
          [a phoenix.varbinary][n phoenix.integer]
           ^"#]],
    );
    check(
        "[a tuple.string][n u8]",
        expect![[r#"
        a byte FF after `a` would be read as part of it; after it must come the end of the key, a literal, or another type of tuple: offset=1
          [a tuple.string][n u8]
           ^"#]],
    );
    check(
        r"[a tuple.string]\xFF[n u8]",
        expect![[r#"
        a byte FF after `a` would be read as part of it; after it must come the end of the key, a literal, or another type of tuple: offset=1
          [a tuple.string]\xFF[n u8]
           ^"#]],
    );
}

#[test]
fn invalid_foreign_buckets_are_refused() {
    check(
        "[bucket 300 by phoenix.salt][a phoenix.varchar]",
        expect![[r#"
        too many buckets for phoenix.salt: count=300, max=256: offset=8
          [bucket 300 by phoenix.salt][a phoenix.varchar]
                  ^"#]],
    );
    check(
        "[bucket 16 of a by phoenix.salt][a phoenix.varchar]",
        expect![[r#"
        `phoenix.salt` is computed from all bytes after it; write [bucket 16 by phoenix.salt]: offset=19
          [bucket 16 of a by phoenix.salt][a phoenix.varchar]
                             ^"#]],
    );
    check(
        "[bucket 200 of n by java.hashcode][n java.long]",
        expect![[r#"
        too many buckets for java.hashcode: count=200, max=128: offset=8
          [bucket 200 of n by java.hashcode][n java.long]
                  ^"#]],
    );
    check(
        "[bucket 16 of n by java.hashcode][n phoenix.bigint]",
        expect![[r#"
        `java.hashcode` is not defined for `phoenix.bigint`; it is of texts, of bytes, and of whole numbers of 4 or 8 bytes: offset=14
          [bucket 16 of n by java.hashcode][n phoenix.bigint]
                        ^"#]],
    );
    check(
        "[bucket 16 of n,m by java.hashcode][n u64][m u64]",
        expect![[r#"
        `java.hashcode` is of one field, or of rest: offset=16
          [bucket 16 of n,m by java.hashcode][n u64][m u64]
                          ^"#]],
    );
    check(
        "[hash 4 of n by phoenix.salt][n java.long]",
        expect![[r#"
        `phoenix.salt` makes the number of a bucket, not a hash; write [bucket N by phoenix.salt]: offset=16
          [hash 4 of n by phoenix.salt][n java.long]
                          ^"#]],
    );
}

#[test]
fn values_that_would_be_read_as_others_are_refused() {
    let refused = |template: &str, value: Value| {
        let schema = KeySchema::parse(template).unwrap();
        schema.encode(&[("a", value)]).unwrap_err().to_string()
    };
    let all = [
        refused("[a phoenix.varchar]", "".into()),
        refused("[a phoenix.varchar]", "x\0".into()),
        refused("[a phoenix.varchar null first]", Value::Null),
        refused("[a phoenix.char 2]", "ü".into()),
        refused("[a ordered.string]", "\0".into()),
        refused("[a ordered.numeric]", i128::pow(10, 37).checked_add(1).unwrap().into()),
        refused("[a phoenix.unsigned_double]", (-0.0).into()),
        refused("[a tuple.int]", i128::MAX.into()),
        refused("[a java.short]", 40_000.into()),
    ];
    expect![[r#"
        field `a`: a value cannot be empty: that is null in Phoenix
        field `a`: a value cannot contain a zero byte, it would end there: value='x\x00'
        no field has a value, and a key cannot consist of separators
        field `a`: not an ASCII text of at least one character: 'ü'
        field `a`: a value cannot contain a zero byte, it would end there: value='\x00'
        field `a`: too many digits: value=10000000000000000000000000000000000001, digits=38, max=31
        field `a`: value out of range: value=-0.0, min=0.0, max=inf
        field `a`: value out of range: value=170141183460469231731687303715884105727, min=-99999999999999999999999999999999999999, max=99999999999999999999999999999999999999
        field `a`: value out of range: value=40000, min=-32768, max=32767"#]].assert_eq(&all.join("\n"));
}

#[test]
fn advice_warns_of_remainders_with_a_sign() {
    let schema = KeySchema::parse("[bucket 16 of at by java.hashcode][at java.long]").unwrap();
    assert_eq!(schema.computed()[0].count(), Some(31));
    let findings = schema.check();
    let finding = findings.iter().find(|finding| finding.rule == Rule::BucketCount).unwrap();
    expect!["K9 number of buckets: `bucket 16 of at by java.hashcode` has 31 values, not 16, because a remainder in Java has the sign of the hash, and takes two bytes: it describes existing tables; for a new one omit `by java.hashcode`"].assert_eq(&finding.to_string());
}
