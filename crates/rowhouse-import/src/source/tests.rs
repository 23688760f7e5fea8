//! Tests with complete and damaged files, which compare all formats.

#![cfg(feature = "parquet")]

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use ::parquet::basic::Compression;
use ::parquet::data_type::{ByteArray, ByteArrayType, DoubleType, Int64Type};
use ::parquet::file::properties::WriterProperties;
use ::parquet::file::writer::SerializedFileWriter;
use ::parquet::schema::parser::parse_message_type;
use proptest::prelude::*;
use tempfile::TempDir;

use super::*;

/// Writes a file with these bytes to a temporary directory.
fn file(name: &str, bytes: &[u8]) -> (TempDir, PathBuf) {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join(name);
    fs::write(&path, bytes).unwrap();
    (dir, path)
}

/// Returns a file's items: each row as line and values, each invalid row as line, reason and
/// original.
fn read(path: &Path, reading: &Reading, expected: &[&str]) -> Result<Vec<String>> {
    let expected: Vec<_> = expected.iter().map(|name| (*name).to_owned()).collect();
    let mut source = Source::open(path, reading, &expected)?;
    let mut record = Record::default();
    let mut lines = Vec::new();
    loop {
        match source.next(&mut record)? {
            Next::End => return Ok(lines),
            Next::Row(place) => lines.push(shown(&source, &place, &record)),
            Next::Broken(place, why) => {
                let original = source.original(&place, &record);
                let original = String::from_utf8_lossy(&original).into_owned();
                lines.push(format!("{}: {why}: {original}", place.line));
            }
        }
    }
}

fn shown(source: &Source, place: &RecordPosition, record: &Record) -> String {
    let value = |at| match record.datum(at) {
        Datum::Null => "-".to_owned(),
        Datum::Text(text) => format!("'{text}'"),
        Datum::Bytes(bytes) => format!("{bytes:?}"),
        Datum::List(list) => list.to_string(),
        Datum::Foreign { what, shown } => format!("{what} {shown}"),
    };
    let values: Vec<_> = (0..source.names().len()).map(value).collect();
    format!("{}: {}", place.line, values.join(" "))
}

#[test]
fn values_of_csv_may_have_quotes_and_ends_of_lines() {
    let text = b"a,b\n1,\"x,\"\"y\"\"\n z\"\n,2\n\n3\n\xff,4\n5,\"6\n7,8";
    let (_dir, path) = file("a.csv", text);
    let lines = read(&path, &Reading::default(), &[]).unwrap();
    assert_eq!(
        lines,
        [
            "2: '1' 'x,\"y\"\n z'",
            "4: - '2'",
            "6: a record has fewer values than there are names; --short-rows accepts it: values=1, names=2: 3",
            "7: a record must be UTF-8; iconv converts a file, as in iconv -f GB18030 -t UTF-8: field=1: \u{fffd},4",
            "8: a quote is not closed before the end of the file: 5,\"6\n7,8",
        ]
    );
}

#[test]
fn csv_row_with_text_after_a_closing_quote_is_rejected() {
    let text = b"a,b\n\"x\"y,1\n\"x\",2\nx\"y,\"3\" \n5,5\"\n";
    let (_dir, path) = file("a.csv", text);
    let why = "a value continues after its closing quote; a quote within quotes is written twice, or with --escape after a backslash";
    assert_eq!(
        read(&path, &Reading::default(), &[]).unwrap(),
        [
            &*format!("2: {why}: \"x\"y,1"),
            "3: 'x' '2'",
            &format!("4: {why}: x\"y,\"3\" "),
            "5: '5' '5\"'",
        ]
    );
    // Also from the middle.
    let mut source = Source::open(&path, &Reading::default(), &[]).unwrap();
    source.seek(&RecordPosition { byte: 18, line: 4, record: 3 }).unwrap();
    assert!(matches!(source.next(&mut Record::default()).unwrap(), Next::Broken(..)));
    assert!(matches!(source.next(&mut Record::default()).unwrap(), Next::Row(_)));
    let (_dir, path) = file("a.csv", b"\"a\"b,c\n1,2\n");
    let refused = read(&path, &Reading::default(), &[]).unwrap_err();
    assert!(refused.message().starts_with(&format!("{why}, in the line")), "{refused}");
}

#[test]
fn csv_can_have_other_characters_names_and_nulls() {
    let (_dir, path) = file("a.tsv", b"1\tNA\n'2\t2'\t\n\n# note\n3\n");
    let reading = Reading {
        header: vec!["a".into(), "b".into()],
        nulls: vec!["NA".into()],
        quote: b'\'',
        comment: Some(b'#'),
        ..Reading::default()
    };
    let rows = read(&path, &reading, &[]).unwrap();
    assert_eq!(rows[..2], ["1: '1' -", "2: '2\t2' ''"]);
    assert!(rows[2].starts_with("5: a record") && rows[2].ends_with(": 3"), "{}", rows[2]);
    let refused = Reading { delimiter: Some(0xE4), ..Reading::default() }.check().unwrap_err();
    assert_eq!(refused.message(), "expected one ASCII character: delimiter=0xe4");
}

#[test]
fn rows_are_compared_with_the_names_and_not_with_the_first_row() {
    let (_dir, path) = file("zones.tab", b"AD\tx\tEurope/Andorra\nAE\ty\tAsia/Dubai\tCrozet\n");
    let header = ["code", "at", "zone", "note"].map(str::to_owned).to_vec();
    let reading = Reading { header, ..Reading::default() };
    assert_eq!(
        read(&path, &reading, &[]).unwrap(),
        [
            "1: a record has fewer values than there are names; --short-rows accepts it: values=3, names=4: \
             AD\tx\tEurope/Andorra",
            "2: 'AE' 'y' 'Asia/Dubai' 'Crozet'",
        ]
    );
    let short = Reading { short_rows: true, ..reading };
    assert_eq!(
        read(&path, &short, &[]).unwrap(),
        ["1: 'AD' 'x' 'Europe/Andorra' -", "2: 'AE' 'y' 'Asia/Dubai' 'Crozet'"]
    );
    let (_dir, path) = file("a.csv", b"a,b\n1\n1,2,3\n");
    let rows = read(&path, &Reading { short_rows: true, ..Reading::default() }, &[]).unwrap();
    let long = "3: a record has more values than there are names: values=3, names=2: 1,2,3";
    assert_eq!(rows, ["2: '1' -", long]);
}

#[test]
fn names_that_are_given_and_in_the_file_are_refused() {
    let (_dir, path) = file("a.csv", b"# of today\na,b\n1,2\n");
    let header = vec!["a".into(), "b".into()];
    let reading = Reading { header, comment: Some(b'#'), ..Reading::default() };
    let refused = read(&path, &reading, &[]).unwrap_err();
    assert!(refused.message().starts_with("the first row is the names that --header gives"));
    assert!(refused.message().ends_with("a.csv, line=2"), "{refused}");
}

#[test]
fn another_delimiter_is_recognized() {
    let (_dir, path) = file("a.csv", b"\na;b;c\n1;2;3\n");
    let source = Source::open(&path, &Reading::default(), &[]).unwrap();
    assert_eq!(source.heading_line(), Some(2));
    let advice = "the line with the names has no ',': give --delimiter ';'";
    assert_eq!(source.advice().unwrap(), advice);
    let header = ["a", "b", "c"].map(str::to_owned).to_vec();
    let (_dir, path) = file("a.csv", b"1\t2\t3\n");
    let rows = read(&path, &Reading { header, ..Reading::default() }, &[]).unwrap();
    let why = "1: the row has no ',', give --delimiter '\\t': values=1, names=3: 1\t2\t3";
    assert_eq!(rows, [why]);
    // A line without any delimiter may be one name.
    let (_dir, path) = file("a.csv", b"a\n1\n");
    let source = Source::open(&path, &Reading::default(), &[]).unwrap();
    assert!(source.advice().unwrap().contains("--header"));
}

#[test]
fn an_escape_makes_a_quote_part_of_a_value() {
    let text = b"a,b\n\"x\\\"y\\\\\",1\nC:\\x,\"2\"\n\"\\\",3\n";
    let (_dir, path) = file("a.csv", text);
    let reading = Reading { escape: Some(b'\\'), ..Reading::default() };
    assert_eq!(
        read(&path, &reading, &[]).unwrap(),
        [
            "2: 'x\"y\\' '1'",
            "3: 'C:\\x' '2'",
            "4: a quote is not closed before the end of the file: \"\\\",3",
        ]
    );
}

#[test]
fn lines_are_counted_after_comments_and_with_any_line_end() {
    for end in ["\n", "\r\n"] {
        let text = ["\u{feff}# one", "a\tb", "1\t\t", "", "# two", "3\t", "4\t5\t"].join(end);
        let (_dir, path) = file("a.tsv", text.as_bytes());
        let reading = Reading { comment: Some(b'#'), ..Reading::default() };
        assert_eq!(Source::open(&path, &reading, &[]).unwrap().heading_line(), Some(2));
        let why = "a record has more values than there are names: values=3, names=2";
        assert_eq!(
            read(&path, &reading, &[]).unwrap(),
            [&*format!("3: {why}: 1\t\t"), "6: '3' -", &format!("7: {why}: 4\t5\t")]
        );
    }
}

#[test]
fn objects_may_leave_names_out_and_have_no_others() {
    let text =
        b"{\"a\":1.50,\"b\":\"x\"}\n\n{\"b\":null}\n[1]\n{\"a\":[1,\"y\"]}\n{\"c\":1}\n{\"a\":{}}";
    let (_dir, path) = file("a.jsonl", text);
    assert_eq!(
        read(&path, &Reading::default(), &["a", "b"]).unwrap(),
        [
            "1: '1.50' 'x'",
            "3: - -",
            "4: expected a JSON object in a line; jq -c '.[]' makes lines of an array: invalid type: sequence, expected a map: column=0: [1]",
            "5: (1, 'y') -",
            "6: a field that the first row does not have and the table does not declare: field=c: {\"c\":1}",
            "7: an object {} -",
        ]
    );
}

#[test]
fn file_of_unknown_format_is_refused() {
    let (_dir, path) = file("a.txt", b"a\n1\n");
    assert!(read(&path, &Reading::default(), &[]).unwrap_err().message().contains("--format"));
    let csv = Reading { format: Some(Format::Csv), ..Reading::default() };
    assert_eq!(read(&path, &csv, &[]).unwrap(), ["2: '1'"]);
    let (_dir, path) = file("a.csv", b"");
    assert!(read(&path, &Reading::default(), &[]).unwrap_err().message().contains("empty"));
}

/// Compresses bytes in two parts, as `cat a.gz b.gz` has them.
fn gzip(bytes: &[u8]) -> Vec<u8> {
    let member = |part: &[u8]| {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        encoder.write_all(part).unwrap();
        encoder.finish().unwrap()
    };
    let (first, second) = bytes.split_at(bytes.len() / 2);
    [member(first), member(second)].concat()
}

/// Compresses bytes in two frames with checksums, with one without content between them.
fn zstd(bytes: &[u8]) -> Vec<u8> {
    let frame = |part: &[u8]| {
        let level = ruzstd::encoding::CompressionLevel::Fastest;
        let mut frame = ruzstd::encoding::compress_to_vec(part, level);
        // The encoder writes no checksum: the bit says that one follows.
        assert_eq!(frame[4] & 4, 0);
        frame[4] |= 4;
        frame.extend((xxhash_rust::xxh64::xxh64(part, 0) as u32).to_le_bytes());
        frame
    };
    let (first, second) = bytes.split_at(bytes.len() / 2);
    let skippable = [0x5A, 0x2A, 0x4D, 0x18, 3, 0, 0, 0, b'a', b'b', b'c'];
    [&frame(first)[..], &skippable, &frame(second)].concat()
}

fn utf16(text: &str, unit: impl Fn(u16) -> [u8; 2]) -> Vec<u8> {
    text.encode_utf16().flat_map(unit).collect()
}

#[test]
fn compressed_texts_are_read_as_their_content() {
    let text = "a,b\n1,x\n2\n3,\"y\nz\"\n";
    let fewer = "a record has fewer values than there are names; --short-rows accepts it";
    let want = ["2: '1' 'x'", &format!("3: {fewer}: values=1, names=2: 2"), "4: '3' 'y\nz'"];
    let compressed = [("a.csv.gz", gzip(text.as_bytes())), ("a.csv.zst", zstd(text.as_bytes()))];
    for (name, bytes) in compressed {
        let (_dir, path) = file(name, &bytes);
        assert_eq!(read(&path, &Reading::default(), &[]).unwrap(), want, "{name}");
        // The content says that it is compressed, and the name what it is.
        let (_dir, path) = file("a.csv", &bytes);
        assert_eq!(read(&path, &Reading::default(), &[]).unwrap(), want, "{name}");
        let (_dir, path) = file("a.CSV.GZ", text.as_bytes());
        assert_eq!(read(&path, &Reading::default(), &[]).unwrap(), want);
    }
    let (_dir, path) = file("a.tsv.gz", &gzip(b"a\tb\n1\t2\n"));
    assert_eq!(read(&path, &Reading::default(), &[]).unwrap(), ["2: '1' '2'"]);
    let (_dir, path) = file("a.ndjson.zst", &zstd(b"{\"a\":1}\n{\"a\":2}\n"));
    assert_eq!(read(&path, &Reading::default(), &["a"]).unwrap(), ["1: '1'", "2: '2'"]);
}

#[test]
fn a_damaged_or_truncated_compressed_text_is_an_error() {
    let text: String = (0..20_000).map(|n| format!("{n},{}\n", n * 7919 % 10_007)).collect();
    for (name, whole) in [("a.csv.gz", gzip(text.as_bytes())), ("a.csv.zst", zstd(text.as_bytes()))]
    {
        let header = vec!["n".into(), "m".into()];
        let reading = Reading { header, ..Reading::default() };
        let (_dir, path) = file(name, &whole);
        assert_eq!(read(&path, &reading, &[]).unwrap().len(), 20_000);
        let half = whole.len() / 2;
        for bytes in [&whole[..whole.len() - 1], &whole[..half + 100], &whole[..8]] {
            let (_dir, path) = file(name, bytes);
            let error = read(&path, &reading, &[]).err().unwrap();
            assert_eq!(error.kind(), rowhouse::ErrorKind::Corruption, "{error}");
            assert!(error.message().contains("cannot be decoded"), "{error}");
            assert!(error.message().contains(&format!("{name}, line=")), "{error}");
        }
        // A flipped bit changes the content, or the checksum.
        for at in [half / 2, half + half / 2, whole.len() - 3] {
            let mut bytes = whole.clone();
            bytes[at] ^= 0x10;
            let (_dir, path) = file(name, &bytes);
            let error = read(&path, &reading, &[]).err().unwrap();
            assert_eq!(error.kind(), rowhouse::ErrorKind::Corruption, "{error}");
        }
    }
}

#[test]
fn a_compressed_text_is_decompressed_as_it_is_read() {
    let text: String = (0..100_000).map(|n| format!("{n},{}\n", n * 7919 % 10_007)).collect();
    for (name, bytes) in [("a.csv.gz", gzip(text.as_bytes())), ("a.csv.zst", zstd(text.as_bytes()))]
    {
        let (_dir, path) = file(name, &bytes);
        let mut source = Source::open(&path, &Reading::default(), &[]).unwrap();
        assert!(!source.is_seekable());
        assert!(matches!(source.next(&mut Record::default()).unwrap(), Next::Row(_)));
        assert!(source.bytes_done() < source.len() / 2, "{} {}", source.bytes_done(), source.len());
    }
}

#[test]
fn unsupported_compressions_are_refused_with_a_remedy() {
    for (bytes, what) in [
        (&b"\xFD7zXZ\0\0\x04"[..], "unxz"),
        (b"BZh91AY&SY\0\0", "bunzip2"),
        (b"\x04\x22\x4D\x18\0", "unlz4"),
        (b"PK\x03\x04\x14\0", "save the sheet as CSV"),
        (b"\xFF\xFE\0\0a\0\0\0", "UTF-32"),
    ] {
        let (_dir, path) = file("a.csv", bytes);
        let error = read(&path, &Reading::default(), &[]).unwrap_err();
        assert_eq!(error.kind(), rowhouse::ErrorKind::Unsupported);
        assert!(error.message().contains(what) && error.message().contains("a.csv"), "{error}");
    }
}

#[test]
fn utf_16_is_read_by_its_byte_order_mark_or_as_declared() {
    let text = "名,b\n\u{1F600},x\n";
    let marked = format!("\u{feff}{text}");
    for bytes in [utf16(&marked, u16::to_le_bytes), utf16(&marked, u16::to_be_bytes)] {
        for bytes in [bytes.clone(), gzip(&bytes)] {
            let (_dir, path) = file("a.csv", &bytes);
            let source = Source::open(&path, &Reading::default(), &[]).unwrap();
            assert_eq!(source.names(), ["名", "b"]);
            assert_eq!(read(&path, &Reading::default(), &[]).unwrap(), ["2: '\u{1F600}' 'x'"]);
        }
    }
    let (_dir, path) = file("a.csv", &utf16("a,b\n1,2\n", u16::to_be_bytes));
    let error = read(&path, &Reading::default(), &[]).unwrap_err();
    assert!(error.message().contains("--encoding utf-16le or utf-16be: file="), "{error}");
    let reading = Reading { encoding: Some(Encoding::Utf16Be), ..Reading::default() };
    assert_eq!(read(&path, &reading, &[]).unwrap(), ["2: '1' '2'"]);
    let (_dir, path) = file("a.jsonl", &utf16("\u{feff}{\"a\":1}\r\n", u16::to_le_bytes));
    assert_eq!(read(&path, &Reading::default(), &["a"]).unwrap(), ["1: '1'"]);
}

/// Returns a Parquet file with `rows` rows, three in each group.
fn parquet_of(rows: i64, compression: Compression) -> Vec<u8> {
    let schema = "message row { REQUIRED INT64 n; OPTIONAL BYTE_ARRAY text (UTF8); REQUIRED DOUBLE x; \
                  REQUIRED INT64 at (TIMESTAMP(NANOS,true)); REQUIRED BYTE_ARRAY raw; }";
    let schema = Arc::new(parse_message_type(schema).unwrap());
    let properties = WriterProperties::builder().set_compression(compression).build();
    let mut bytes = Vec::new();
    let mut writer = SerializedFileWriter::new(&mut bytes, schema, Arc::new(properties)).unwrap();
    let all: Vec<_> = (0..rows).collect();
    for some in all.chunks(3) {
        let mut group = writer.next_row_group().unwrap();
        let numbers: Vec<_> = some.to_vec();
        let times: Vec<_> = some.iter().map(|n| n * 1_000_000_000 + 5).collect();
        let present: Vec<_> = some.iter().map(|n| i16::from(n % 2 == 0)).collect();
        let texts = some.iter().filter(|n| *n % 2 == 0);
        let texts: Vec<_> = texts.map(|n| ByteArray::from(format!("t{n}").as_str())).collect();
        let floats: Vec<_> = some.iter().map(|n| *n as f64 / 4.0).collect();
        let raws: Vec<_> = some.iter().map(|n| ByteArray::from(vec![0xff, *n as u8])).collect();
        let mut at = 0;
        while let Some(mut column) = group.next_column().unwrap() {
            match at {
                0 => column.typed::<Int64Type>().write_batch(&numbers, None, None),
                1 => column.typed::<ByteArrayType>().write_batch(&texts, Some(&present), None),
                2 => column.typed::<DoubleType>().write_batch(&floats, None, None),
                3 => column.typed::<Int64Type>().write_batch(&times, None, None),
                _ => column.typed::<ByteArrayType>().write_batch(&raws, None, None),
            }
            .unwrap();
            column.close().unwrap();
            at += 1;
        }
        group.close().unwrap();
    }
    writer.close().unwrap();
    bytes
}

#[test]
fn parquet_gives_its_values_as_texts_and_bytes() {
    for compression in [Compression::UNCOMPRESSED, Compression::SNAPPY, Compression::LZ4_RAW] {
        let (_dir, path) = file("a.parquet", &parquet_of(5, compression));
        let rows = read(&path, &Reading::default(), &[]).unwrap();
        assert_eq!(rows.len(), 5);
        assert_eq!(rows[0], "1: '0' 't0' '0' '1970-01-01T00:00:00.000000005Z' [255, 0]");
        assert_eq!(rows[3], "4: '3' - '0.75' '1970-01-01T00:00:03.000000005Z' [255, 3]");
    }
}

/// Returns files with the same kind of rows.
fn whole() -> [(&'static str, Vec<u8>); 7] {
    let csv: String = (0..9).map(|n| format!("{n},\"t\n{n}\"\n")).collect();
    let jsonl: String = (0..9).map(|n| format!("{{\"n\":{n},\"text\":\"t{n}\"}}\n")).collect();
    let csv = format!("n,text\n{csv}");
    [
        ("a.csv.gz", gzip(csv.as_bytes())),
        ("a.csv.zst", zstd(csv.as_bytes())),
        ("a.jsonl.gz", gzip(jsonl.as_bytes())),
        ("b.csv", utf16(&format!("\u{feff}{csv}"), u16::to_le_bytes)),
        ("a.csv", csv.into_bytes()),
        ("a.jsonl", jsonl.into_bytes()),
        ("a.parquet", parquet_of(9, Compression::SNAPPY)),
    ]
}

#[test]
fn reading_goes_on_from_every_place() {
    for (name, bytes) in whole() {
        let (_dir, path) = file(name, &bytes);
        let reading = Reading::default();
        let expected = ["n".to_owned(), "text".to_owned()];
        let all = read(&path, &reading, &["n", "text"]).unwrap();
        let mut source = Source::open(&path, &reading, &expected).unwrap();
        let mut record = Record::default();
        for done in 0..=all.len() {
            let place = source.place();
            let mut other = Source::open(&path, &reading, &expected).unwrap();
            if done > 0 {
                other.seek(&place).unwrap();
            }
            let mut rest = Vec::new();
            while let Next::Row(place) = other.next(&mut record).unwrap() {
                rest.push(shown(&other, &place, &record));
            }
            assert_eq!(rest, all[done..], "{name} from {place:?}");
            source.next(&mut record).unwrap();
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn damaged_files_are_errors_and_no_panics(
        which in 0_usize..7,
        damage in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6),
        cut in prop::option::of(any::<prop::sample::Index>()),
    ) {
        let (name, mut bytes) = whole()[which].clone();
        for (at, byte) in damage {
            let at = at.index(bytes.len());
            bytes[at] ^= byte;
        }
        if let Some(cut) = cut {
            bytes.truncate(cut.index(bytes.len()));
        }
        let (_dir, path) = file(name, &bytes);
        // Reading returns rows, or an error that names the file.
        if let Err(error) = read(&path, &Reading::default(), &["n", "text"]) {
            prop_assert!(!error.message().is_empty());
        }
    }
}

#[test]
fn a_parquet_decimal_of_scale_zero_is_a_whole_number() {
    let schema = "message m { required int64 n (DECIMAL(18,0)); required int64 f (DECIMAL(4,4)); }";
    let schema = Arc::new(parse_message_type(schema).unwrap());
    let mut bytes = Vec::new();
    let properties = Arc::new(WriterProperties::builder().build());
    let mut writer = SerializedFileWriter::new(&mut bytes, schema, properties).unwrap();
    let mut group = writer.next_row_group().unwrap();
    for value in [42_i64, -5] {
        let mut column = group.next_column().unwrap().unwrap();
        column.typed::<Int64Type>().write_batch(&[value], None, None).unwrap();
        column.close().unwrap();
    }
    group.close().unwrap();
    writer.close().unwrap();
    let (_dir, path) = file("a.parquet", &bytes);
    assert_eq!(read(&path, &Reading::default(), &[]).unwrap(), ["1: '42' '-0.0005'"]);
}
