//! A file being written for a family: under `tmp/` until it is complete and on disk.

use std::io::{self, Write};
use std::sync::Arc;

use rowhouse_format::hfile::{Finish, Writer, WriterOptions};
use rowhouse_model::{CellRef, Compression, Error, Result};

use crate::disk::{Disk, DiskFile};
use crate::engine::Engine;
use crate::family::FamilyStore;
use crate::layout::{FILES_DIR, TMP_DIR, file_name, file_path};
use crate::manifest::FileMeta;
use crate::oversized_rows::RowMeter;
use crate::store_file::stamp_entry;

/// A file that no edit names yet. Removed on drop unless it was finished.
pub(crate) struct NewFile<'a> {
    family: &'a FamilyStore,
    rows: RowMeter,
    version_markers: u64,
    id: u64,
    disk: Arc<dyn Disk>,
    created_millis: i64,
    /// The stamp that names the table.
    stamp: Option<(Vec<u8>, Vec<u8>)>,
    writer: Option<Writer<Output>>,
}

/// The sink for the writer's bytes.
struct Output {
    file: Arc<dyn DiskFile>,
    offset: u64,
}

impl<'a> NewFile<'a> {
    /// Begins a file for `family`.
    pub(crate) fn create(
        engine: &Engine,
        family: &'a FamilyStore,
        with_tags: bool,
    ) -> Result<Self> {
        Self::create_compressed(engine, family, with_tags, family.descriptor().compression())
    }

    /// As [`NewFile::create`], with a compression other than the one the family's new files use.
    pub(crate) fn create_compressed(
        engine: &Engine,
        family: &'a FamilyStore,
        with_tags: bool,
        compression: Compression,
    ) -> Result<Self> {
        let descriptor = family.descriptor();
        let id = engine.manifest.next_id();
        let tmp = tmp_path(id);
        let file = engine
            .disk
            .create(&tmp)
            .map_err(|source| Error::io(format_args!("cannot make {tmp}"), source))?;
        let created_millis = engine.timestamps.now_millis();
        let options = WriterOptions {
            block_len: descriptor.block_len(),
            encoding: descriptor.data_block_encoding(),
            compression,
            bloom: descriptor.bloom(),
            with_tags,
            created_millis: created_millis.unsigned_abs(),
            ..WriterOptions::default()
        };
        let writer = Writer::new(Output { file, offset: 0 }, options);
        let disk = Arc::clone(&engine.disk);
        let writer = Some(writer);
        let region_id = family.region_id();
        let stamp = engine
            .manifest
            .read(|state| state.table_of(region_id).map(|table| stamp_entry(table, region_id)));
        let rows = RowMeter::default();
        Ok(Self { family, rows, version_markers: 0, id, disk, created_millis, stamp, writer })
    }

    /// Adds the next cell, in order.
    pub(crate) fn append(&mut self, cell: &CellRef<'_>) -> Result<()> {
        if let Some((row, len)) = self.rows.count(cell, self.family.row_limit()) {
            self.family.log_oversized_row(&row, len);
        }
        self.version_markers += u64::from(cell.kind().is_version_delete());
        self.writer.as_mut().expect("the writer is there until finish").append(cell)
    }

    /// Ends the file, syncs it and renames it to the final name. The file becomes part of the store
    /// once an edit names it.
    pub(crate) fn finish(mut self, sequence_max: u64, major: bool) -> Result<FileMeta> {
        if let Some((row, len)) = std::mem::take(&mut self.rows).end(self.family.row_limit()) {
            self.family.log_oversized_row(&row, len);
        }
        let writer = self.writer.take().expect("the writer is there until finish");
        let more = self.stamp.take().into_iter().collect();
        let closing = Finish { sequence_max, major_compaction: major, more, ..Finish::default() };
        let (summary, output) = match writer.finish(&closing) {
            Ok(finished) => finished,
            Err(error) => {
                self.remove();
                return Err(error);
            }
        };
        let name = || {
            output.file.sync()?;
            self.disk.rename(&tmp_path(self.id), &file_path(self.id))?;
            self.disk.sync_dir(FILES_DIR)
        };
        if let Err(source) = name() {
            self.remove();
            return Err(Error::io(format_args!("cannot finish {}", file_path(self.id)), source));
        }
        let (first, last) = summary.keys.as_ref().ok_or_else(|| {
            Error::corruption(format!("an empty file was written: {}", file_path(self.id)))
        })?;
        Ok(FileMeta {
            file_id: self.id,
            len: summary.len,
            cells: summary.cells,
            first_row: first.row_bytes(),
            last_row: last.row_bytes(),
            timestamp_min: *summary.time_range.start(),
            timestamp_max: *summary.time_range.end(),
            sequence_max: *summary.sequences.end(),
            meta_offset: summary.meta.offset,
            meta_crc: summary.meta.crc,
            major,
            created_millis: self.created_millis,
            loaded: false,
            markers: Some(summary.deletes),
            older_versions: Some(summary.same_column),
            logged_max: None,
            version_markers: Some(self.version_markers),
        })
    }

    fn remove(&self) {
        // The next open removes leftovers under tmp/.
        let _ = self.disk.remove(&tmp_path(self.id));
    }
}

impl Drop for NewFile<'_> {
    fn drop(&mut self) {
        if self.writer.is_some() {
            self.remove();
        }
    }
}

fn tmp_path(id: u64) -> String {
    format!("{TMP_DIR}/{}", file_name(id))
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write_all_at(bytes, self.offset)?;
        self.offset += bytes.len() as u64;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
