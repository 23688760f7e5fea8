//! Answers as text, as `compat/thrift/record.py` writes them.

use std::sync::LazyLock;

use bytes::Bytes;
use regex::Regex;
use rowhouse_format::thrift::{MessageKind, Protocol, Reader, Type};

/// Returns an answer's kind and fields, masked.
pub(super) fn answer(bytes: Bytes, protocol: Protocol) -> String {
    let mut reader = Reader::new(bytes, protocol);
    let kind = match reader.head().unwrap().kind {
        MessageKind::Reply => "reply",
        MessageKind::Exception => "exception",
        kind => panic!("no answer: {kind:?}"),
    };
    let text = value(&mut reader, Type::Struct);
    assert!(reader.is_at_end(), "bytes after the answer {text}");
    masked(&format!("{kind} {text}"))
}

fn value(reader: &mut Reader, type_: Type) -> String {
    match type_ {
        Type::Bool => reader.boolean().unwrap().to_string(),
        Type::I8 => reader.i8().unwrap().to_string(),
        Type::I32 => reader.i32().unwrap().to_string(),
        Type::I64 => reader.i64().unwrap().to_string(),
        Type::Binary => quoted(&reader.bytes().unwrap()),
        Type::Struct => {
            let mut fields = Vec::new();
            let read = reader.structure(|reader, id, type_| {
                fields.push(format!("{id}: {}", value(reader, type_)));
                Ok(true)
            });
            read.unwrap();
            format!("{{{}}}", fields.join(", "))
        }
        Type::Map => {
            let mut pairs = Vec::new();
            let read = reader.map(|reader, key, type_| {
                pairs.push(format!("{}: {}", value(reader, key), value(reader, type_)));
                Ok(())
            });
            read.unwrap();
            format!("{{{}}}", pairs.join(", "))
        }
        Type::List | Type::Set => {
            let mut elements = Vec::new();
            let read = reader.list(|reader, type_| {
                elements.push(value(reader, type_));
                Ok(())
            });
            read.unwrap();
            format!("[{}]", elements.join(", "))
        }
        type_ => panic!("no answer has {type_:?}"),
    }
}

fn quoted(bytes: &[u8]) -> String {
    let shown = bytes.iter().map(|&byte| match byte {
        b'"' | b'\\' => format!("\\x{byte:02x}"),
        b' '..=b'~' => char::from(byte).to_string(),
        byte => format!("\\x{byte:02x}"),
    });
    format!("\"{}\"", shown.collect::<String>())
}

/// What differs between two runs, and what HBase adds to a message.
const MASKS: [(&str, &str); 5] = [
    (r#"5: 1, 6: "[^"]*", 7: \d+"#, "5: 1, 6: HOST, 7: PORT"),
    (r#" in table '[^"]*"#, ""),
    (r",\d{13}\.[0-9a-f]{32}\.", ",ID.MD5."),
    (r"\b1[6-9]\d{11}\b", "NOW"),
    (r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}", "UUID"),
];

fn masked(text: &str) -> String {
    static EXPRESSIONS: LazyLock<Vec<Regex>> =
        LazyLock::new(|| MASKS.iter().map(|(pattern, _)| Regex::new(pattern).unwrap()).collect());
    let masks = EXPRESSIONS.iter().zip(MASKS);
    masks.fold(text.to_owned(), |text, (expression, (_, mask))| {
        expression.replace_all(&text, mask).into_owned()
    })
}
