//! Queries in Lucene's syntax. They print as they are parsed, and are bound to an index or refused.

#![no_main]

use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use rowhouse_schema::{ColumnSchema, IndexSchema, KeySchema};
use rowhouse_search::{DocumentQuery, LuceneQuery, Operator, text_of};

static DECLARED: LazyLock<(KeySchema, IndexSchema)> = LazyLock::new(|| {
    let key = KeySchema::parse("[user string][at millis desc][n u32 null last]").expect("a template");
    let columns = ColumnSchema::parse("d:b body string; d:s sender string; d:z size i32; t:[tag text] t u8");
    let columns = columns.expect("columns");
    let declared = "text search body english chinese, sender keyword, size, t.tag keyword";
    let indexes = IndexSchema::parse(declared, Some(&key), Some(&columns)).expect("an index");
    (key, indexes)
});

fuzz_target!(|input: &[u8]| {
    let text = text_of(input);
    for operator in [Operator::Or, Operator::And] {
        let Ok(query) = LuceneQuery::parse(&text, operator) else { continue };
        // Every clause that must match has a sign in the printed form.
        let printed = query.to_string();
        let again = LuceneQuery::parse(&printed, Operator::Or);
        assert_eq!(again.expect("a printed query is valid").to_string(), printed);
        let (key, indexes) = &*DECLARED;
        let index = indexes.index("text").expect("it is declared");
        if let Ok(bound) = DocumentQuery::new(index, Some(key), &query, &[], Some("body")) {
            if let Some(highlighter) = bound.highlighter(index, "body", false) {
                let snippet = highlighter.snippet(&text, 20);
                assert!(text[snippet.bytes].chars().count() <= 20);
            }
        }
    }
});
