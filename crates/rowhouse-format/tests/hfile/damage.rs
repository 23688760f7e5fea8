//! Damage to a file's bytes causes an error or leaves the cells unchanged.

use rowhouse_format::hfile::{Trailer, WriterOptions, verify_meta};
use rowhouse_model::{
    Bytes, Cell, CellKind, Compression, DataBlockEncoding, Error, ErrorKind, Key, Result,
};

use crate::support::{File, Plain, cell, plain, write};

/// Returns cells in several rows, the last one with a long delete marker run.
fn cells() -> Vec<Cell> {
    let puts = (0..60).map(|number| {
        let row = format!("row{:03}", number / 3);
        cell(&row, &format!("q{number:02}"), 5, CellKind::Put, "value").with_sequence(200 - number)
    });
    let markers = (0..40).map(|number| {
        cell("row019", &format!("r{number:02}"), 5, CellKind::DeleteColumn, "")
            .with_sequence(number)
    });
    puts.chain(markers).collect()
}

fn options(encoding: DataBlockEncoding) -> WriterOptions {
    WriterOptions {
        encoding,
        block_len: 256,
        index_block_len: 100,
        bloom_block_len: 128,
        ..WriterOptions::default()
    }
}

/// Reads a file through all operations that a reader has.
fn read_all(bytes: Bytes) -> Result<Vec<Plain>> {
    let file = File::open(bytes)?;
    let scanned = file.scan()?;
    if scanned.len() as u64 != file.meta.cells() {
        return Err(Error::corruption("another number of cells"));
    }
    for row in ["row000", "row010", "row019", "s"] {
        file.seek(&Key::row_start(row.as_bytes()))?;
    }
    Ok(scanned)
}

fn is_damage(error: &Error) -> bool {
    [ErrorKind::Corruption, ErrorKind::Unsupported].contains(&error.kind())
}

#[test]
fn no_flipped_byte_changes_a_cell() {
    for encoding in DataBlockEncoding::ALL {
        let cells = cells();
        let (summary, bytes) = write(&cells, &options(encoding));
        let want: Vec<Plain> = cells.iter().map(plain).collect();
        assert_eq!(read_all(bytes.clone()).unwrap(), want);
        assert_eq!(File::open(bytes.clone()).unwrap().meta.marker_runs().len(), 1);
        let mut unnoticed = 0;
        for at in 0..bytes.len() {
            for flip in [0x01, 0x80] {
                let mut damaged = bytes.to_vec();
                damaged[at] ^= flip;
                let noticed = at as u64 >= summary.meta.offset;
                let meta = &damaged[summary.meta.offset as usize..];
                assert_eq!(verify_meta(&summary.meta, meta).is_err(), noticed, "at {at}");
                match read_all(damaged.into()) {
                    Ok(read) => {
                        assert_eq!(read, want, "at {at}, flip {flip:#x}");
                        unnoticed += usize::from(at < bytes.len() - Trailer::LEN);
                    }
                    Err(error) => assert!(is_damage(&error), "{error}"),
                }
            }
        }
        // Only bloom filter chunks were not read.
        let file = File::open(bytes).unwrap();
        let chunks = file.meta.bloom().unwrap().chunks();
        let bloom_len: u32 = chunks.map(|chunk| chunk.len).sum();
        assert_eq!(unnoticed, 2 * bloom_len as usize);
    }
}

#[test]
fn no_flipped_byte_of_a_bloom_loses_a_row() {
    let cells = cells();
    let (_, bytes) = write(&cells, &options(DataBlockEncoding::RowIndexV1));
    let file = File::open(bytes.clone()).unwrap();
    for handle in file.meta.bloom().unwrap().chunks() {
        for at in handle.range() {
            let mut damaged = bytes.to_vec();
            damaged[at as usize] ^= 1;
            let damaged = Bytes::from(damaged);
            let block = damaged.slice(handle.offset as usize..handle.range().end as usize);
            assert!(file.meta.bloom_chunk(&handle, block).is_err(), "at {at}");
        }
    }
}

#[test]
fn truncated_files_are_reported() {
    let (summary, bytes) = write(&cells(), &options(DataBlockEncoding::RowIndexV1));
    for len in 0..bytes.len() {
        let error = read_all(bytes.slice(..len)).unwrap_err();
        assert!(is_damage(&error), "len {len}: {error}");
    }
    for cut in [1, 100, summary.meta.offset as usize] {
        assert!(is_damage(&read_all(bytes.slice(cut..)).unwrap_err()));
    }
}

#[test]
fn garbage_under_good_checksums_is_reported() {
    // Errors that checksums cannot detect, from a writer that writes malformed blocks: change every
    // byte in a data block and recompute the checksums.
    let kinds = DataBlockEncoding::ALL.into_iter().flat_map(|encoding| {
        Compression::ALL.map(|compression| WriterOptions {
            encoding,
            compression,
            ..WriterOptions::default()
        })
    });
    for options in kinds {
        let (_, bytes) = write(&cells()[..6], &options);
        let len = 33 + u32::from_be_bytes(bytes[8..12].try_into().unwrap()) as usize;
        for at in 33..len - 4 {
            for flip in [0x01, 0x10, 0x80, 0xFF] {
                let mut damaged = bytes.to_vec();
                damaged[at] ^= flip;
                let sum = crc32c::crc32c(&damaged[..len - 4]);
                damaged[len - 4..len].copy_from_slice(&sum.to_be_bytes());
                if let Err(error) = read_all(damaged.into()) {
                    assert!(is_damage(&error), "{error}");
                }
            }
        }
    }
}

#[test]
fn garbage_in_compressed_tags_is_reported() {
    for bytes in [
        &include_bytes!("fixtures/prefix-tags.hfile")[..],
        include_bytes!("fixtures/diff-tags.hfile"),
        include_bytes!("fixtures/fast-diff-tags.hfile"),
    ] {
        let scan = |bytes: Bytes| File::open(bytes).and_then(|file| file.scan());
        let want = scan(Bytes::from_static(bytes)).unwrap();
        let len = 33 + u32::from_be_bytes(bytes[8..12].try_into().unwrap()) as usize;
        for at in 33..len - 4 {
            for flip in [0x01, 0x80, 0xFF] {
                let mut damaged = bytes.to_vec();
                damaged[at] ^= flip;
                let sum = crc32c::crc32c(&damaged[..len - 4]);
                damaged[len - 4..len].copy_from_slice(&sum.to_be_bytes());
                match scan(damaged.into()) {
                    // A changed byte in a key or value yields another key or value: only checksums
                    // detect it.
                    Ok(read) => assert_eq!(read.len(), want.len()),
                    Err(error) => assert!(is_damage(&error), "{error}"),
                }
            }
        }
    }
}

/// Puts a trailer in an older version at the end of another one.
fn set_version(trailer: &mut [u8], len: usize, version: u8) {
    let start = trailer.len() - len;
    trailer[start..].fill(0);
    trailer[start..start + 8].copy_from_slice(b"TRABLK\"$");
    trailer[4095] = version;
}

#[test]
fn short_file_of_version_2_is_refused_by_name() {
    let mut file = vec![0; 4096];
    set_version(&mut file, 212, 2);
    let tail = &file[3000..];
    let error = Trailer::parse(tail, tail.len() as u64).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unsupported);
    assert!(error.message().contains("hfile version 2.0"), "{error}");
}

#[test]
fn other_versions_and_orders_are_refused_by_name() {
    let (_, bytes) = write(&cells(), &WriterOptions::default());
    let trailer = bytes.len() - Trailer::LEN;
    let refusal = |change: &dyn Fn(&mut [u8])| {
        let mut changed = bytes.to_vec();
        change(&mut changed[trailer..]);
        let error = File::open(changed.into()).map(|_| ()).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Unsupported, "{error}");
        error.message().to_owned()
    };
    assert!(refusal(&|trailer| trailer[4095] = 2).contains("version 2.3"));
    assert!(refusal(&|trailer| trailer[4095] = 4).contains("version 4.3"));
    // The version 2 trailer has 212 bytes, the version 1 trailer has 60.
    assert!(refusal(&|trailer| set_version(trailer, 212, 2)).contains("version 2.0"));
    assert!(refusal(&|trailer| set_version(trailer, 60, 1)).contains("version 1.0"));
    let comparator = bytes[trailer..].windows(12).position(|word| word == b"KVComparator").unwrap();
    assert!(refusal(&|trailer| trailer[comparator] = b'X').contains("XVComparator"));
    // The codec is the last field: tag 12, value 2.
    assert_eq!(bytes[trailer + comparator + 12..][..2], [12 << 3, 2]);
    assert!(refusal(&|trailer| trailer[comparator + 13] = 0).contains("LZO"));
    assert!(refusal(&|trailer| trailer[comparator + 13] = 5).contains("BZIP2"));
    assert!(refusal(&|trailer| trailer[comparator + 13] = 100).contains("unknown"));
}
