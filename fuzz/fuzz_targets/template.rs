//! Row-key templates, column declarations, and keys. Templates and declarations print as they are
//! parsed; a key that was decoded is encoded again to the same bytes.
//!
//! Input: a template, a line end, and a key.

#![no_main]

use libfuzzer_sys::fuzz_target;
use rowhouse_schema::{ColumnSchema, KeySchema};

fuzz_target!(|input: &[u8]| {
    let mut parts = input.splitn(2, |&byte| byte == b'\n');
    let (text, key) = (parts.next().unwrap_or_default(), parts.next().unwrap_or_default());
    let Ok(text) = std::str::from_utf8(text) else { return };
    if let Ok(schema) = KeySchema::parse(text) {
        let printed = schema.to_string();
        let again = KeySchema::parse(&printed).expect("a printed template is valid");
        assert_eq!(again, schema, "{printed}");
        let _ = schema.check();
        let _ = schema.splits(3);
        check_key(&schema, key);
    }
    if let Ok(columns) = ColumnSchema::parse(text) {
        let printed = columns.to_string();
        let again = ColumnSchema::parse(&printed).expect("printed columns are valid");
        assert_eq!(again, columns, "{printed}");
    }
    let _ = KeySchema::from_stored(text);
});

fn check_key(schema: &KeySchema, key: &[u8]) {
    let _ = schema.logical_key(key);
    let _ = schema.read_prefix(key);
    if let Ok(values) = schema.decode(key) {
        assert_eq!(values.encode().expect("the values are of a key"), key, "{schema}");
    }
}
