//! Skips runs of delete markers within a block.

use rowhouse_model::{Key, Result};

use super::DataBlock;
use crate::hfile::marker_runs::RunRelation;

/// A marker run: markers for single columns that follow each other in one row in a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct BlockMarkerRun {
    /// The offset of the run's first marker.
    start: u32,
    /// Offset of the first marker that may cover a cell after the run.
    target: u32,
    /// True if the run extends to the block's end.
    open: bool,
}

impl BlockMarkerRun {
    /// Returns true if the offset `at` is in the run, before the target.
    fn has(self, at: usize) -> bool {
        (self.start..self.target).contains(&(at as u32))
    }

    /// Returns the offset at which a reader resumes.
    pub(super) fn target(self) -> usize {
        self.target as usize
    }

    /// Returns true if the block holds only markers from the target to the block's end.
    pub(super) fn is_open(self) -> bool {
        self.open
    }
}

impl DataBlock {
    /// Returns the run at the marker at offset `at`. No marker before the run's target covers a
    /// cell at or after the target, nor `bound`, a cell from another source.
    pub(super) fn marker_run(&self, at: usize, bound: Option<&Key<'_>>) -> Result<BlockMarkerRun> {
        if let Some(run) = self.markers.get().filter(|run| run.has(at))
            && let target = self.parse_at(run.target())?
            && bound.is_none_or(|bound| target.key(&self.cells) <= *bound)
        {
            return Ok(*run);
        }
        let run = self.find_markers(at, bound)?;
        // Cache the run if it is long. The longest possible run begins with the block, and a reader
        // that continues from the previous block enters there.
        let is_long = at == 0 || run.target() - at > self.cells.len() / 2;
        // A run that reached the block's end was not limited by the bound.
        if is_long && (bound.is_none() || run.open) {
            let _ = self.markers.set(run);
        }
        Ok(run)
    }

    fn find_markers(&self, at: usize, bound: Option<&Key<'_>>) -> Result<BlockMarkerRun> {
        let mut target = self.parse_at(at)?;
        let mut next = at;
        let mut open = true;
        while open && next < self.cells.len() {
            let place = self.parse_at(next)?;
            let before = target.key(&self.cells);
            let here = place.key(&self.cells);
            let follow = RunRelation::of(&before, &here);
            open = follow != RunRelation::Ends && bound.is_none_or(|bound| here <= *bound);
            if open && follow == RunRelation::Target {
                target = place;
            }
            next = place.next as usize;
        }
        Ok(BlockMarkerRun { start: at as u32, target: target.start() as u32, open })
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use rowhouse_model::{Cell, CellKind, DataBlockEncoding, Timestamp};

    use super::super::{DataBlockBuilder, Layout};
    use super::*;
    use crate::hfile::block::{BLOCK_HEADER_LEN, Block, BlockKind};

    /// Builds a block with cells: `q5` is a put to column q at timestamp 5, `q5-` a DeleteVersion,
    /// `q5=` a DeleteColumn; `/` starts another row.
    fn block(text: &str) -> Arc<DataBlock> {
        let layout = Layout {
            encoding: DataBlockEncoding::None,
            tags: false,
            tags_compressed: false,
            sequences: true,
        };
        let mut builder = DataBlockBuilder::new(layout, 1 << 16);
        for (row, cells) in text.split('/').enumerate() {
            for (at, cell) in cells.split_whitespace().enumerate() {
                let kind = match cell.as_bytes()[cell.len() - 1] {
                    b'-' => CellKind::DeleteVersion,
                    b'=' => CellKind::DeleteColumn,
                    _ => CellKind::Put,
                };
                let millis = cell[1..].trim_end_matches(['-', '=']).parse().unwrap();
                let timestamp = Timestamp::from_millis(millis).unwrap();
                let row = [b'a' + row as u8];
                let cell = Cell::new(row, "f", &cell[..1], timestamp, kind, "").unwrap();
                builder.push(&cell.view(), at == 0);
            }
        }
        let (_, payload) = builder.finish();
        let payload = payload[BLOCK_HEADER_LEN..].to_vec().into();
        let block = Block { kind: BlockKind::Data, payload, offset: 0, previous: None };
        Arc::new(DataBlock::parse(block, layout).unwrap())
    }

    /// Checks the target for the run at the first cell, written as column and timestamp; `.` is the
    /// block's end, and `..` follows if the run extends to the block's end.
    fn check(text: &str, expected: &str) {
        let block = block(text);
        for _ in 0..2 {
            let run = block.marker_run(0, None).unwrap();
            let place = block.place_at(run.target()).unwrap();
            let shown = place.map_or(".".to_owned(), |place| {
                let key = place.key(&block.cells);
                format!("{}{}", String::from_utf8_lossy(key.qualifier), key.timestamp)
            });
            let shown = if run.is_open() { shown + ".." } else { shown };
            assert_eq!(shown, expected, "{text}");
        }
    }

    #[test]
    fn markers_are_passed_up_to_the_last_that_may_cover_later_cells() {
        // The markers in the last column may cover later cells.
        check("p9= q9= r9= s5", "r9");
        check("p9= q9= r9= / a5", "r9");
        // The run may continue in the next block.
        check("p9= q9= r9=", "r9..");
        check("p9= q9= q5- q4-", "q9..");
        // A DeleteVersion covers its own timestamp only.
        check("q9- q8- q7- q6-", "q6..");
        check("q9- q8- q7- q6", "q7");
        check("q9- q8= q7- q6-", "q8..");
        check("p9- p8= q7- q6-", "q6..");
        // Nothing can be skipped.
        check("q9= q8", "q9");
        check("q9= r8", "q9");
    }

    /// Returns the offsets at which the cells begin, and the one at which they end.
    fn starts(block: &Arc<DataBlock>) -> Vec<usize> {
        let mut starts = vec![0];
        while let Some(place) = block.place_at(*starts.last().unwrap()).unwrap() {
            starts.push(place.next as usize);
        }
        starts
    }

    #[test]
    fn of_markers_at_one_timestamp_none_is_passed() {
        let block = block("p9= q7- q6- q6- q6- q5");
        let starts = starts(&block);
        assert_eq!(block.marker_run(0, None).unwrap().target(), starts[2]);
        assert_eq!(block.marker_run(starts[2], None).unwrap().target(), starts[2]);
        assert_eq!(block.marker_run(starts[3], None).unwrap().target(), starts[3]);
    }

    #[test]
    fn a_run_is_passed_from_anywhere_in_it() {
        let block = block("p9= q9= r9= s9= t5 u9= v9=");
        let starts = starts(&block);
        for at in [2, 0, 1, 3] {
            assert_eq!(block.marker_run(starts[at], None).unwrap().target(), starts[3]);
        }
        assert_eq!(block.marker_run(starts[5], None).unwrap().target(), starts[6]);
    }
}
