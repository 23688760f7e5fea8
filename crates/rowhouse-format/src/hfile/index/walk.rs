//! The way from the root of an index to a data block, and on to the next.

use std::sync::Arc;

use rowhouse_model::{Key, KeyBuf};

use super::Index;
use crate::hfile::block::BlockHandle;

/// What to do next on the way to a data block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IndexStep {
    /// Read this index block, parse it and give it to [`IndexWalk::enter`].
    Index(BlockHandle),
    /// The data block is here.
    Data(BlockHandle),
    /// There are no more data blocks.
    End,
}

/// A way through an index. It keeps the index blocks it went through, so that stepping to the next
/// data block reads an index block only where one ends.
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
    /// Blocks from the root down, and the entry taken in each.
    way: Vec<(Arc<Index>, usize)>,
    /// Where to go in blocks that are entered.
    target: Target,
}

/// Which entry of an index block the way leads over.
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
    /// A way that leads nowhere yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Towards the data block where the first cell at or behind `key` is, or would be.
    pub fn seek(&mut self, root: &Arc<Index>, key: &Key<'_>) -> IndexStep {
        self.way.clear();
        let at = root.find(key);
        self.target =
            if root.level() > 1 { Target::Key(KeyBuf::from(*key)) } else { Target::First };
        self.way.push((Arc::clone(root), at));
        self.step()
    }

    /// Towards the last data block.
    pub fn last(&mut self, root: &Arc<Index>) -> IndexStep {
        self.way.clear();
        self.target = Target::Last;
        self.way.push((Arc::clone(root), root.len().saturating_sub(1)));
        self.step()
    }

    /// Towards the first data block.
    pub fn first(&mut self, root: &Arc<Index>) -> IndexStep {
        self.way.clear();
        self.target = Target::First;
        self.way.push((Arc::clone(root), 0));
        self.step()
    }

    /// Goes down into the index block that [`IndexStep::Index`] asked for.
    pub fn enter(&mut self, index: Arc<Index>) -> IndexStep {
        let at = self.target.entry_of(&index);
        self.way.push((index, at));
        self.step()
    }

    /// Towards the data block behind the one that [`IndexStep::Data`] named last.
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

    /// Towards the data block before the one that [`IndexStep::Data`] named last.
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

    /// The key between the data block that [`IndexStep::Data`] named last and the next one, where an
    /// index block on the way knows it: every cell of the block is before it.
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
