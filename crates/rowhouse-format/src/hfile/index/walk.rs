//! Traverses the index from the root to a data block and on to its neighbors.

use std::sync::Arc;

use rowhouse_model::{Key, KeyBuf};

use super::Index;
use crate::hfile::block::BlockHandle;

/// The next step in a traversal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IndexStep {
    /// Read and parse this index block and pass it to [`IndexWalk::enter`].
    Index(BlockHandle),
    /// The traversal has reached this data block.
    Data(BlockHandle),
    /// There are no more data blocks.
    End,
}

/// An index traversal. It retains the index blocks on its path, so that a step to the next data
/// block reads an index block only when the current one is exhausted.
///
/// ```text
/// let mut step = walk.seek(&root, &key);
/// let data = loop {
///     match step {
///         Step::Index(handle) => step = walk.enter(read_index(handle)?),
///         Step::Data(handle) => break Some(handle),
///         Step::End => break None,
///     }
/// };
/// // … later: walk.advance() the same way
/// ```
#[derive(Clone, Debug, Default)]
pub struct IndexWalk {
    /// The blocks on the path from the root down, and the selected entry in each.
    way: Vec<(Arc<Index>, usize)>,
    /// Selects the entry in blocks entered next.
    target: Target,
}

/// The entry to select in an index block.
#[derive(Clone, Debug, Default)]
enum Target {
    #[default]
    First,
    Last,
    Key(KeyBuf),
}

impl Target {
    fn entry_of(&self, index: &Index) -> usize {
        match self {
            Self::First => 0,
            Self::Last => index.len().saturating_sub(1),
            Self::Key(key) => index.find(&key.as_key()),
        }
    }
}

impl IndexWalk {
    /// Creates a traversal without a position.
    pub fn new() -> Self {
        Self::default()
    }

    /// Starts a descent to the data block that holds, or would hold, the first cell at or after
    /// `key`.
    pub fn seek(&mut self, root: &Arc<Index>, key: &Key<'_>) -> IndexStep {
        self.way.clear();
        let at = root.find(key);
        self.target =
            if root.level() > 1 { Target::Key(KeyBuf::from(*key)) } else { Target::First };
        self.way.push((Arc::clone(root), at));
        self.step()
    }

    /// Starts a descent to the last data block.
    pub fn last(&mut self, root: &Arc<Index>) -> IndexStep {
        self.way.clear();
        self.target = Target::Last;
        self.way.push((Arc::clone(root), root.len().saturating_sub(1)));
        self.step()
    }

    /// Starts a descent to the first data block.
    pub fn first(&mut self, root: &Arc<Index>) -> IndexStep {
        self.way.clear();
        self.target = Target::First;
        self.way.push((Arc::clone(root), 0));
        self.step()
    }

    /// Enters the index block that [`IndexStep::Index`] requested.
    pub fn enter(&mut self, index: Arc<Index>) -> IndexStep {
        let at = self.target.entry_of(&index);
        self.way.push((index, at));
        self.step()
    }

    /// Moves towards the data block after the one that [`IndexStep::Data`] returned last.
    pub fn advance(&mut self) -> IndexStep {
        self.target = Target::First;
        while let Some((index, at)) = self.way.last_mut() {
            *at += 1;
            if *at < index.len() {
                return self.step();
            }
            self.way.pop();
        }
        IndexStep::End
    }

    /// Moves towards the data block before the one that [`IndexStep::Data`] returned last.
    pub fn back(&mut self) -> IndexStep {
        self.target = Target::Last;
        while let Some((_, at)) = self.way.last_mut() {
            if let Some(before) = at.checked_sub(1) {
                *at = before;
                return self.step();
            }
            self.way.pop();
        }
        IndexStep::End
    }

    /// Returns the index key of the data block after the one that [`IndexStep::Data`] returned
    /// last, if an index block on the path holds it. All cells in the current block are before it.
    pub fn bound(&self) -> Option<Key<'_>> {
        self.way.iter().rev().find_map(|(index, at)| index.key(at + 1))
    }

    fn step(&self) -> IndexStep {
        match self.way.last().and_then(|(index, at)| index.handle(*at)) {
            Some(handle) if handle.is_index() => IndexStep::Index(handle),
            Some(handle) => IndexStep::Data(handle),
            None => IndexStep::End,
        }
    }
}
