//! HFile version 3, Apache HBase's file format for cells. This module encodes and decodes; it does
//! no file I/O.
//!
//! `docs/formats/hfile.md` specifies every byte. A [`Writer`] writes cells, in cell order, to any
//! [`std::io::Write`]. A reader opens the file itself: it reads byte ranges and passes them to this
//! module for decoding.
//!
//! ```
//! use std::sync::Arc;
//! use rowhouse_format::hfile::{Finish, FileMeta, Trailer, Writer, WriterOptions};
//! use rowhouse_model::{Bytes, Cell, CellKind, Key, Timestamp};
//!
//! let mut writer = Writer::new(Vec::new(), WriterOptions::default());
//! let cell = Cell::new("row", "d", "q", Timestamp::from_millis(5)?, CellKind::Put, "value")?;
//! writer.append(&cell.with_sequence(7).view())?;
//! let (summary, file) = writer.finish(&Finish { sequence_max: 7, ..Finish::default() })?;
//! assert_eq!(summary.len, file.len() as u64);
//!
//! let file = Bytes::from(file);
//! let read = |range: std::ops::Range<u64>| file.slice(range.start as usize..range.end as usize);
//! let trailer = Trailer::parse(&file[file.len() - Trailer::LEN..], file.len() as u64)?;
//! let section = read(trailer.load_on_open());
//! let meta = FileMeta::parse(trailer, section)?;
//! let handle = meta.index().locate(&Key::row_start(b"row")).expect("the file has cells");
//! let block = Arc::new(meta.data_block(&handle, read(handle.range()))?);
//! let cursor = block.seek(&Key::row_start(b"row"))?;
//! assert_eq!(cursor.cell().map(|cell| cell.sequence), Some(7));
//! # Ok::<(), rowhouse_model::Error>(())
//! ```

mod block;
mod bloom;
mod checksum;
mod compress;
mod data_block;
mod file_info;
mod index;
mod input;
mod key;
mod marker_runs;
mod meta;
mod prefetch;
mod seen;
mod trailer;
mod varint;
mod writer;

pub use block::{BLOCK_HEADER_LEN, Block, BlockHandle, BlockKind};
pub use bloom::{Bloom, BloomChunk, BloomKey};
pub use compress::ZstdForm;
pub use data_block::{BlockOutline, BlockPart, Cursor, DataBlock, Layout, MarkerSkip, RowPlace};
pub use file_info::FileInfo;
pub use index::{Index, IndexStep, IndexWalk};
pub use key::OwnedKey;
pub use marker_runs::{MarkerRun, RunRelation};
pub use meta::{FileMeta, MetaChecksum, verify_meta};
pub use trailer::Trailer;
pub use writer::{Finish, Summary, Writer, WriterOptions};
