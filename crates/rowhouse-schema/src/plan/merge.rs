//! Merges a plan's streams into one order. The merge does no reads itself: the caller reads the
//! streams and offers their rows.

use std::borrow::Cow;
use std::cmp::Ordering;

use rowhouse_model::{Error, Result};

use super::page::Direction;
use super::query_plan::Plan;
use crate::error::KeyMismatch;
use crate::key::KeySchema;

/// A k-way merge of a plan's streams by logical key.
///
/// It requests a row from each stream, and returns the first row that it holds.
///
/// ```
/// use rowhouse_schema::{Direction, KeySchema, Predicate, StreamMerge};
///
/// let schema = KeySchema::parse("[bucket 2 of id][id text]")?;
/// let plan = schema.plan(&Predicate::all())?;
/// let mut rows: Vec<_> = ["d", "a", "c", "b"]
///     .map(|id| schema.encode(&[("id", id.into())]))
///     .into_iter()
///     .collect::<Result<_, _>>()?;
/// rows.sort();
///
/// // These rows are in memory; anything that reads a range of a table works.
/// let mut streams: Vec<_> = plan
///     .streams()
///     .map(|stream| rows.iter().filter(move |row| stream.ranges()[0].contains(row)))
///     .collect();
/// let mut merge = StreamMerge::new(&plan, Direction::Forward);
/// let mut merged = Vec::new();
/// loop {
///     while let Some(stream) = merge.wanted() {
///         match streams[stream].next() {
///             Some(row) => merge.offer(row, row)?,
///             None => merge.end(),
///         }
///     }
///     let Some(row) = merge.next_row() else { break };
///     merged.push(&row[1..]);
/// }
/// assert_eq!(merged, [b"a", b"b", b"c", b"d"]);
/// # Ok::<(), rowhouse_model::Error>(())
/// ```
pub struct StreamMerge<T> {
    schema: KeySchema,
    direction: Direction,
    /// How many bytes come before the logical key, if the only merged computed field is the first
    /// element.
    lead: Option<usize>,
    /// Each stream's next row, if it has one.
    rows: Vec<Option<T>>,
    /// These rows' logical keys and streams, the next one last. Consecutive rows in a stream are
    /// mostly consecutive in the merge; one comparison then finds a row's position.
    heads: Vec<(Vec<u8>, usize)>,
    /// The streams whose next row is unknown.
    requested: Vec<usize>,
    /// A buffer for a key, reused.
    spare: Vec<u8>,
}

impl<T> StreamMerge<T> {
    /// Creates a merge for all streams in a plan, which are all read in this direction.
    pub fn new(plan: &Plan, direction: Direction) -> Self {
        let streams = plan.streams().count();
        Self {
            schema: plan.schema.clone(),
            lead: plan.schema.logical_lead(),
            direction,
            rows: (0..streams).map(|_| None).collect(),
            heads: Vec::with_capacity(streams),
            requested: (0..streams).rev().collect(),
            spare: Vec::new(),
        }
    }

    /// Which stream, by position in the plan, needs the next row offered or the end reported;
    /// `None` if the merge can continue.
    pub fn wanted(&self) -> Option<usize> {
        self.requested.last().copied()
    }

    /// Adds the next row from the stream that [`StreamMerge::wanted`] returned.
    ///
    /// # Errors
    /// `InvalidRequest` for a key that does not fit the template, because it has no position in the
    /// order (the stream's next row is then still requested); and if no row is requested.
    pub fn offer(&mut self, key: &[u8], row: T) -> Result<()> {
        let logical = self.logical(key)?;
        let stream = self.requested.pop().ok_or_else(|| {
            Error::invalid("a row was offered to a full merge, take the next row first")
        })?;
        let mut own = std::mem::take(&mut self.spare);
        own.extend_from_slice(&logical);
        self.insert((own, stream));
        self.rows[stream] = Some(row);
        Ok(())
    }

    /// Returns true if a row with this key, the next in the requested stream, is the next among all
    /// streams. Such a row can be returned directly, without being offered, and the stream's next
    /// row is still requested. Consecutive rows in a stream are mostly consecutive in the merge.
    ///
    /// # Errors
    /// As [`StreamMerge::offer`].
    pub fn is_next(&self, key: &[u8]) -> Result<bool> {
        let logical = self.logical(key)?;
        let [stream] = self.requested[..] else { return Ok(false) };
        let Some((other, others)) = self.heads.last() else { return Ok(true) };
        let order = logical[..].cmp(other).then(stream.cmp(others));
        Ok(order.is_lt() == (self.direction == Direction::Forward))
    }

    /// Returns the key part by which rows are merged.
    fn logical<'k>(&self, key: &'k [u8]) -> Result<Cow<'k, [u8]>, KeyMismatch> {
        match self.lead {
            Some(lead) if key.len() >= lead => Ok(key[lead..].into()),
            _ => self.schema.logical_key(key),
        }
    }

    /// Reports that the requested stream has no more rows.
    pub fn end(&mut self) {
        self.requested.pop();
    }

    /// Returns the next row among all streams; `None` after the last, or while a stream's row is
    /// requested.
    pub fn next_row(&mut self) -> Option<T> {
        if !self.requested.is_empty() {
            return None;
        }
        let (mut key, stream) = self.heads.pop()?;
        key.clear();
        self.spare = key;
        self.requested.push(stream);
        self.rows[stream].take()
    }

    /// Inserts a head at the right position.
    fn insert(&mut self, head: (Vec<u8>, usize)) {
        let after = match self.direction {
            Direction::Forward => Ordering::Greater,
            Direction::Reverse => Ordering::Less,
        };
        let is_after = |other: &(Vec<u8>, usize)| other.cmp(&head) == after;
        let place = match self.heads.last() {
            Some(last) if !is_after(last) => self.heads.partition_point(is_after),
            _ => self.heads.len(),
        };
        self.heads.insert(place, head);
    }
}
