//! Cells that a writer accepts and rejects.

use std::io;

use rowhouse_format::hfile::{Finish, Writer, WriterOptions, verify_meta};
use rowhouse_model::{Bytes, CellKind, ErrorKind, Key};

use crate::support::{File, cell, plain, write};

#[test]
fn cells_out_of_order_are_refused() {
    let a = cell("a", "q", 5, CellKind::Put, "1").with_sequence(7);
    let later = [
        cell("a", "q", 6, CellKind::Put, ""),
        cell("a", "p", 5, CellKind::Put, ""),
        cell("a", "q", 5, CellKind::DeleteVersion, ""),
        cell("A", "q", 5, CellKind::Put, ""),
        cell("a", "q", 5, CellKind::Put, "").with_sequence(8),
    ];
    for next in later {
        let mut writer = Writer::new(Vec::new(), WriterOptions::default());
        writer.append(&a.view()).unwrap();
        let error = writer.append(&next.view()).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidRequest, "{error}");
        assert!(error.message().starts_with("cell out of order for an hfile: last=a/d:q/5/4"));
    }
}

#[test]
fn cells_that_do_not_fit_are_refused() {
    let mut writer = Writer::new(Vec::new(), WriterOptions::default());
    let row = vec![b'r'; 32_768];
    let good = cell("a", "q", 5, CellKind::Put, "1");
    let key = good.view().key;
    let broken = [
        Key { row: &row, ..key },
        Key { row: b"", ..key },
        Key { family: &row[..256], ..key },
        Key { timestamp: -1, ..key },
        Key { kind: 5, ..key },
    ];
    for key in broken {
        let mut cell = good.view();
        cell.key = key;
        assert_eq!(writer.append(&cell).unwrap_err().kind(), ErrorKind::InvalidRequest);
    }
    let mut tagged = good.view();
    tagged.tags = b"\0\x02\x08t";
    assert!(writer.append(&tagged).is_err());
    let mut sequence = good.view();
    sequence.sequence = u64::MAX;
    assert!(writer.append(&sequence).is_err());
    let reserved = Finish { more: vec![(b"hfile.X".into(), b"".into())], ..Finish::default() };
    assert!(writer.finish(&reserved).is_err());
}

#[test]
fn an_empty_file_is_a_file() {
    let (summary, bytes) = write(&[], &WriterOptions::default());
    assert_eq!((summary.cells, summary.keys.is_none()), (0, true));
    assert!(summary.time_range.is_empty() && summary.sequences.is_empty());
    let file = File::open(bytes).unwrap();
    assert_eq!(file.scan().unwrap(), []);
    assert!(file.meta.first_key().is_none() && file.meta.bloom().is_none());
    assert!(file.seek(&Key::row_start(b"a")).unwrap().is_none());
}

#[test]
fn equal_keys_stay_in_one_block() {
    let many = (0..2_000u64)
        .rev()
        .map(|sequence| cell("a", "q", 5, CellKind::Put, "value").with_sequence(sequence));
    let cells: Vec<_> =
        many.chain([cell("b", "q", 5, CellKind::Put, "value").with_sequence(1)]).collect();
    let options = WriterOptions { block_len: 1024, ..WriterOptions::default() };
    let (summary, bytes) = write(&cells, &options);
    assert_eq!((summary.rows, summary.sequences), (2, 0..=1_999));
    let file = File::open(bytes).unwrap();
    assert_eq!(file.blocks(), 2);
    assert_eq!(file.scan().unwrap(), cells.iter().map(plain).collect::<Vec<_>>());
    let newest = file.seek(&cells[0].key()).unwrap().unwrap();
    assert_eq!(newest.cell().unwrap().sequence, 1_999);
}

#[test]
fn summary_reports_the_written_cells() {
    let cells = [
        cell("a", "", 9, CellKind::DeleteFamily, "").with_sequence(4),
        cell("a", "q", 5, CellKind::Put, "v").with_sequence(3),
        cell("b", "q", 7, CellKind::DeleteVersion, "").with_sequence(6),
    ];
    let (summary, bytes) = write(&cells, &WriterOptions::default());
    assert_eq!((summary.cells, summary.deletes, summary.family_markers), (3, 2, 1));
    assert_eq!(summary.time_range, 0..=9);
    assert_eq!(summary.sequences, 3..=6);
    let (first, last) = summary.keys.clone().unwrap();
    assert_eq!((first.row(), last.row()), (&b"a"[..], &b"b"[..]));
    let meta = &bytes[summary.meta.offset as usize..];
    verify_meta(&summary.meta, meta).unwrap();
    let file = File::open(bytes.clone()).unwrap();
    assert_eq!(file.meta.time_range(), Some(0..=9));
    assert_eq!(file.meta.sequence_max().unwrap(), Some(99));
    assert!(!file.meta.is_major_compaction().unwrap());
    assert!(file.meta.first_key() == Some(first.view()));
    assert!(file.meta.last_key() == Some(last.view()));
    assert_eq!(
        file.meta.info().get("DELETE_FAMILY_COUNT"),
        Some(&Bytes::from_static(&[0, 0, 0, 0, 0, 0, 0, 1]))
    );
    let deletes = file.meta.delete_family_bloom().unwrap();
    assert!(file.may_contain(deletes, b"a"));
    assert_eq!(deletes.keys(), 1);
}

#[test]
fn a_full_disk_is_an_error() {
    struct Full(usize);
    impl io::Write for Full {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0 = self.0.checked_sub(bytes.len()).ok_or(io::ErrorKind::StorageFull)?;
            Ok(bytes.len())
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    for room in [0, 100, 500, 4_500] {
        let mut writer = Writer::new(Full(room), WriterOptions::default());
        writer.append(&cell("a", "q", 5, CellKind::Put, "1").view()).unwrap();
        let error = writer.finish(&Finish::default()).map(|_| ()).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Io);
    }
}
