//! Templates in builds without the feature `foreign`.

#![cfg(not(feature = "foreign"))]

use rowhouse_model::ErrorKind;
use rowhouse_schema::{ColumnSchema, KeySchema};

#[test]
fn every_word_of_another_system_is_refused_with_the_name_of_the_feature() {
    for template in [
        "[id java.long]",
        "[id phoenix.varchar desc]",
        "[id ordered.string]",
        "[id tuple.int][name text]",
        "[id ordered_code.string]",
        "[id bigtable.int64]",
        "[id kiji.string]",
        "[id java.nothing]",
        "[user string java.hashcode 4]",
        "[bucket 16 by java.hashcode][user string]",
        "[bucket 16 by phoenix.salt][user string]",
        "[bucket 16 by opentsdb.salt 1][user string]",
        "[bucket 16 by hbasewd.hash][user string]",
        "[hash 4 of user by java.hashcode][user string]",
        "[n repeat(java.int)]",
    ] {
        let refused = KeySchema::parse(template).expect_err(template);
        assert_eq!(refused.kind(), ErrorKind::Unsupported, "{template}: {refused}");
        assert!(refused.message().contains("feature `foreign`"), "{template}: {refused}");
    }
    let column = ColumnSchema::parse("d:n count java.long").expect_err("a column");
    assert_eq!(column.kind(), ErrorKind::Unsupported);
    assert!(column.message().contains("feature `foreign`"), "{column}");
}

#[test]
fn native_templates_need_no_feature() {
    let template = "[bucket 16 of user][user string][at millis desc][n i64]_[rest text]";
    let schema = KeySchema::parse(template).expect("a native template");
    assert_eq!(schema.to_string(), template);
}
