//! Finds long runs of delete markers in a file under construction.

use super::follow::is_column_marker;
use super::{MarkerRun, RunRelation};
use crate::hfile::key::view_key;

/// The longest runs so far.
#[derive(Default)]
pub(in crate::hfile) struct MarkerRunFinder {
    /// How many data blocks are closed.
    blocks: usize,
    /// Whether the last cell belongs to a run.
    open: bool,
    first: Position,
    target: Position,
    /// The runs, each with how many blocks it spans.
    longest: Vec<(usize, MarkerRun)>,
}

/// A cell's key and the block number.
#[derive(Default)]
struct Position {
    key: Vec<u8>,
    block: usize,
}

impl Position {
    fn set(&mut self, key: &[u8], block: usize) {
        self.key.clear();
        self.key.extend_from_slice(key);
        self.block = block;
    }
}

impl MarkerRunFinder {
    /// Returns true if a cell of this kind affects the state. Most cells do not: they are puts
    /// after puts.
    #[inline]
    pub(in crate::hfile) fn accepts(&self, kind: u8) -> bool {
        self.open || is_column_marker(kind)
    }

    /// Adds the next cell's key.
    pub(in crate::hfile) fn note(&mut self, key: &[u8]) {
        let next = view_key(key);
        if self.open {
            match RunRelation::of(&view_key(&self.target.key), &next) {
                RunRelation::Continues => return,
                RunRelation::Target => return self.target.set(key, self.blocks),
                RunRelation::Ends => self.end(),
            }
        }
        if is_column_marker(next.kind) {
            self.open = true;
            self.first.set(key, self.blocks);
            self.target.set(key, self.blocks);
        }
    }

    /// Records that the next cell is in another data block.
    pub(in crate::hfile) fn block_closed(&mut self) {
        self.blocks += 1;
    }

    /// Returns the runs in cell order.
    pub(in crate::hfile) fn finish(&mut self) -> impl Iterator<Item = &MarkerRun> {
        if self.open {
            self.end();
        }
        self.longest.iter().map(|(_, run)| run)
    }

    fn end(&mut self) {
        self.open = false;
        let blocks = 1 + self.target.block - self.first.block;
        if blocks < MarkerRun::BLOCKS_MIN {
            return;
        }
        let [first, target] = [&self.first, &self.target].map(|end| view_key(&end.key));
        self.longest.extend(MarkerRun::new(&first, &target).map(|run| (blocks, run)));
        if self.longest.len() > MarkerRun::RUNS_MAX {
            let lengths = self.longest.iter().map(|(blocks, _)| *blocks).enumerate();
            if let Some((shortest, _)) = lengths.min_by_key(|(_, blocks)| *blocks) {
                self.longest.remove(shortest);
            }
        }
    }
}
