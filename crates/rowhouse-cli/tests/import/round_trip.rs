//! Tests that imported rows can be read back.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::path::Path;
use std::sync::Arc;

use parquet::data_type::{ByteArray, ByteArrayType, Int64Type};
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::parser::parse_message_type;
use proptest::prelude::*;
use rowhouse::{Scan, Value};

use crate::{import, with_table};

/// A row's key and columns.
type Rows = BTreeMap<(String, u32), (i64, Option<String>)>;

fn rows() -> impl Strategy<Value = Rows> {
    let text = "[a-c\",\n\r é\\x00null]{0,6}";
    // The text that means a missing value in CSV.
    let note = prop::option::of(text.prop_filter("is no null", |note| note != "NA"));
    prop::collection::btree_map((text, any::<u32>()), (any::<i64>(), note), 0..25)
}

fn write_csv(path: &Path, rows: &Rows) {
    let mut csv = csv::Writer::from_path(path).unwrap();
    csv.write_record(["user", "n", "size", "remark"]).unwrap();
    for ((user, n), (size, note)) in rows {
        let n = n.to_string();
        let size = size.to_string();
        csv.write_record([user, &n, &size, note.as_deref().unwrap_or("NA")]).unwrap();
    }
    csv.flush().unwrap();
}

fn write_json_lines(path: &Path, rows: &Rows) {
    let line = |((user, n), (size, note)): (&(String, u32), &(i64, Option<String>))| {
        let row = serde_json::json!({"size": size, "user": user, "n": n, "remark": note});
        format!("{row}\n")
    };
    fs::write(path, rows.iter().map(line).collect::<String>()).unwrap();
}

fn write_parquet(path: &Path, rows: &Rows) {
    let schema = "message row { REQUIRED BYTE_ARRAY user (UTF8); REQUIRED INT64 n; REQUIRED INT64 size; \
                  OPTIONAL BYTE_ARRAY remark (UTF8); }";
    let schema = Arc::new(parse_message_type(schema).unwrap());
    let properties = Arc::new(WriterProperties::builder().build());
    let file = File::create(path).unwrap();
    let mut writer = SerializedFileWriter::new(file, schema, properties).unwrap();
    let rows: Vec<_> = rows.iter().collect();
    for rows in rows.chunks(7) {
        let mut group = writer.next_row_group().unwrap();
        let users: Vec<_> = rows.iter().map(|(key, _)| ByteArray::from(key.0.as_str())).collect();
        let numbers: Vec<_> = rows.iter().map(|(key, _)| i64::from(key.1)).collect();
        let sizes: Vec<_> = rows.iter().map(|(_, columns)| columns.0).collect();
        let notes = rows.iter().filter_map(|(_, columns)| columns.1.as_deref());
        let notes: Vec<_> = notes.map(ByteArray::from).collect();
        let is_there: Vec<_> =
            rows.iter().map(|(_, columns)| i16::from(columns.1.is_some())).collect();
        let mut at = 0;
        while let Some(mut column) = group.next_column().unwrap() {
            match at {
                0 => column.typed::<ByteArrayType>().write_batch(&users, None, None),
                1 => column.typed::<Int64Type>().write_batch(&numbers, None, None),
                2 => column.typed::<Int64Type>().write_batch(&sizes, None, None),
                _ => column.typed::<ByteArrayType>().write_batch(&notes, Some(&is_there), None),
            }
            .unwrap();
            column.close().unwrap();
            at += 1;
        }
        group.close().unwrap();
    }
    writer.close().unwrap();
}

fn read_back(dir: &Path) -> Rows {
    with_table(dir, "notes", async |table| {
        let mut scanner = table.scan(Scan::all()).await?;
        let mut rows = Rows::new();
        while let Some(row) = scanner.next().await? {
            let key = table.key_schema()?.decode(row.key()).unwrap();
            let key = (key["user"].as_str().unwrap().to_owned(), key["n"].as_u64().unwrap() as u32);
            let column = |name: &str| -> Option<Value> {
                let column = table.column_schema().unwrap().column(name).unwrap();
                let value = row.value(column.family(), column.qualifier().unwrap())?;
                Some(column.decode_value(&value).unwrap())
            };
            let note = column("note").map(|note| note.as_str().unwrap().to_owned());
            rows.insert(key, (column("size").unwrap().as_i64().unwrap(), note));
        }
        Ok(rows)
    })
}

proptest! {
    // Each case runs the program six times.
    #![proptest_config(ProptestConfig::with_cases(12))]

    #[test]
    fn rows_of_every_kind_of_file_are_in_the_table_as_they_are(rows in rows()) {
        for (name, write) in [
            ("rows.csv", write_csv as fn(&Path, &Rows)),
            ("rows.jsonl", write_json_lines),
            ("rows.parquet", write_parquet),
        ] {
            for way in [&["--batch-rows", "3"][..], &["--sorted", "--memory", "1"]] {
                let dir = tempfile::tempdir().unwrap();
                write(&dir.path().join(name), &rows);
                let mut args = vec![
                    "notes", name, "--key", "[user string][n u32]",
                    "--columns", "d:s size i64; e:n note string",
                    "--map", "remark=note", "--null", "NA",
                ];
                args.extend(way);
                let ran = import(dir.path(), &args);
                prop_assert_eq!(ran.status, 0, "{}", ran.err);
                prop_assert!(ran.out.contains(" written to notes"), "{}", ran.out);
                prop_assert_eq!(&read_back(dir.path()), &rows, "{} {:?}", name, way);
            }
        }
    }
}
