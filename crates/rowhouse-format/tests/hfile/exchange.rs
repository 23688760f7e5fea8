//! Exchanges files with Apache HBase, for every compression, encoding and bloom filter:
//! `compat/hfile-kinds.sh` runs these two tests before and after `StoreFiles.java`.

use std::fs;
use std::path::PathBuf;

use rowhouse_format::hfile::{WriterOptions, ZstdForm};
use rowhouse_model::{BloomKind, Cell, CellKind, Compression, DataBlockEncoding};

use crate::apache::parse;
use crate::support::{File, Plain, cell, hex, plain, write};

/// Returns all bloom filter kinds, with a prefix length at which a few rows share a prefix.
fn blooms() -> impl Iterator<Item = BloomKind> {
    BloomKind::ALL.into_iter().chain([BloomKind::RowPrefix(7)])
}

fn dir() -> PathBuf {
    std::env::var_os("ROWHOUSE_EXCHANGE_DIR").expect("ROWHOUSE_EXCHANGE_DIR names a folder").into()
}

/// Returns puts and all kinds of markers, tags, compressible values, and an incompressible value
/// longer than Hadoop's buffers.
fn cells() -> Vec<Cell> {
    let mut noise = 1u32;
    let mut noise = |len: usize| -> String {
        let mut next = || {
            noise = noise.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            char::from(b' ' + (noise >> 24) as u8 % 95)
        };
        (0..len).map(|_| next()).collect()
    };
    let mut cells = Vec::new();
    for number in 0..400u64 {
        let row = format!("row{number:05}");
        let mut put = |qualifier: &str, at: i64, kind: CellKind, value: &str| {
            let sequence = number * 7 % 300;
            cells.push(cell(&row, qualifier, at, kind, value).with_sequence(sequence));
        };
        if number % 40 == 0 {
            put("", 6000, CellKind::DeleteFamily, "");
            put("", 5000, CellKind::DeleteFamilyVersion, "");
        }
        for column in 0..number % 5 + 1 {
            let qualifier = format!("column{column}");
            if number % 11 == 0 {
                put(&qualifier, 7000, CellKind::DeleteColumn, "");
            }
            let long = if number == 200 && column == 0 { 700_000 } else { 10 };
            put(&qualifier, 6000, CellKind::Put, &format!("value {number} {}", noise(long)));
            put(&qualifier, 5000, CellKind::Put, &"again and ".repeat(number as usize % 9));
        }
    }
    let tag = [&4u16.to_be_bytes()[..], &[65], b"tag"].concat();
    let tagged = cells.into_iter().enumerate().map(|(at, cell)| {
        let tags = if at % 6 == 0 { &tag[..] } else { b"" };
        let tagged = Cell::from_parts(cell.key(), cell.value(), tags).unwrap();
        tagged.with_sequence(cell.sequence())
    });
    tagged.collect()
}

fn line(cell: &Cell) -> String {
    let key = cell.key();
    let view = cell.view();
    let [row, family, qualifier] = [key.row, key.family, key.qualifier].map(hex);
    let value = hex(view.value);
    let tags = hex(view.tags);
    format!(
        "{row} {family} {qualifier} {} {} {} {value} {tags}\n",
        key.timestamp,
        key.kind,
        cell.sequence()
    )
}

#[test]
#[ignore = "compat/hfile-kinds.sh runs it"]
fn files_for_apache_are_written() {
    let cells = cells();
    fs::write(dir().join("cells.txt"), cells.iter().map(line).collect::<String>()).unwrap();
    fs::create_dir_all(dir().join("ours")).unwrap();
    let named = |compression: Compression| (compression.name().to_lowercase(), compression);
    let mut codecs: Vec<_> =
        Compression::ALL.map(named).map(|(name, it)| (name, it, ZstdForm::Frame)).into();
    for codec in ["zstd_jni", "air_zstd"] {
        codecs.push((codec.to_owned(), Compression::Zstd, ZstdForm::Chunks));
    }
    for (codec, compression, zstd) in codecs {
        for encoding in DataBlockEncoding::ALL {
            for bloom in blooms() {
                let options = WriterOptions {
                    compression,
                    zstd,
                    encoding,
                    bloom,
                    block_len: 4096,
                    index_block_len: 400,
                    bloom_block_len: 1024,
                    with_tags: true,
                    ..WriterOptions::default()
                };
                let (_, bytes) = write(&cells, &options);
                let name = format!("{codec}-{}-{}.hfile", encoding.name(), bloom.name());
                fs::write(dir().join("ours").join(name), bytes).unwrap();
            }
        }
    }
}

#[test]
#[ignore = "compat/hfile-kinds.sh runs it"]
fn files_of_apache_are_read() {
    let lines = fs::read_to_string(dir().join("cells.txt")).unwrap();
    let want: Vec<Cell> = lines.lines().map(parse).collect();
    let want_plain: Vec<Plain> = want.iter().map(plain).collect();
    let mut files = 0;
    for entry in fs::read_dir(dir().join("apache")).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
        let file = File::open(fs::read(&path).unwrap().into()).unwrap();
        assert!(file.scan().unwrap() == want_plain, "{name}");
        check_kinds(&file, &name);
        check_blooms(&file, &want, &name);
        files += 1;
    }
    assert!(files >= 160, "{files} files");
}

/// Checks that a file's properties match the name.
fn check_kinds(file: &File, name: &str) {
    let parts: Vec<&str> = name.split('-').collect();
    let codec = parts[0].trim_start_matches("air_").trim_end_matches("_jni").to_uppercase();
    assert_eq!(file.meta.trailer().compression.name(), codec);
    assert_eq!(file.meta.layout().encoding.name(), parts[1], "{name}");
    let bloom = file.meta.bloom().map_or(BloomKind::None, |bloom| bloom.kind());
    assert_eq!(bloom.name(), parts[2], "{name}");
}

fn check_blooms(file: &File, cells: &[Cell], name: &str) {
    let Some(bloom) = file.meta.bloom() else { return };
    for cell in cells {
        assert!(file.may_contain_column(bloom, cell.row(), cell.qualifier()), "{name} {cell:?}");
    }
    let missing = |cell: &&Cell| match bloom.kind() {
        BloomKind::RowCol => !file.may_contain_column(bloom, cell.row(), b"column"),
        BloomKind::RowPrefix(_) => !file.may_contain(bloom, &[&cell.row()[..6], b"!"].concat()),
        _ => !file.may_contain(bloom, &[cell.row(), b"x"].concat()),
    };
    assert!(cells.iter().filter(missing).count() > cells.len() * 9 / 10, "{name}");
}
