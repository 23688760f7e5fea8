//! A search's rows in the order of several keys: scores, values and row keys.

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;
use std::sync::Arc;

use rowhouse_model::{Bytes, Error, Result};
use rowhouse_schema::Direction;
use tantivy::columnar::BytesColumn;
use tantivy::{DocId, Score};

use super::filter::{DocFilter, Verdict, column};
use super::matches::Matches;
use crate::segment::{OpenSegment, UNKNOWN, damaged, encoded_value, stored_value, term_ords};

/// How many keys an order has at most.
pub const ORDER_KEYS_MAX: usize = 4;

/// A key by which rows are ordered: see [`Matches::ordered`].
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum OrderKey {
    /// The score.
    Score(Direction),
    /// The row key.
    Row(Direction),
    /// The field with this name, which has no analyser, or the analyser `keyword`.
    Value(String, Direction),
}

/// A row in an ordered page.
#[derive(Clone, PartialEq, Debug)]
pub struct OrderedRow {
    /// The row key.
    pub row: Bytes,
    /// The BM25 score; 0 if neither the order nor the caller requested scores.
    pub score: f32,
    /// For each [`OrderKey::Value`], the value: a `keyword`'s text, or a value's order-preserving
    /// encoding. `None` if the row has none, or one that is too long for the index.
    pub values: Vec<Option<Bytes>>,
}

/// The part of a search's rows that [`Matches::ordered`] returns.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct OrderedPage {
    /// The rows, in the requested order.
    pub rows: Vec<OrderedRow>,
    /// How many rows the search has, on all pages.
    pub count: u64,
    /// The highest row score on any page; `None` if there are no rows or no scores.
    pub score_max: Option<f32>,
}

/// The part of the ordered rows to return.
#[derive(Clone, Copy, Debug, Default)]
pub struct PagePart<'a> {
    /// Only rows after this one.
    pub after: Option<&'a OrderedRow>,
    /// The rows to leave out.
    pub skip: usize,
    /// The most rows to return.
    pub limit: usize,
}

impl Matches {
    /// Returns rows in the order of the keys, the first key first; rows that are alike in all keys
    /// are in row key order. Where a row has several values, the first in the direction counts;
    /// rows without a value come last in both directions.
    ///
    /// Takes time for all rows in the search, and memory for `skip + limit` rows in each segment.
    ///
    /// # Errors
    /// `InvalidRequest` for more than [`ORDER_KEYS_MAX`] keys, and for a field that has no values
    /// in the index; `Unsupported` if the plan leaves conditions to be judged; errors as for reads.
    pub fn ordered(
        &self,
        order: &[OrderKey],
        with_scores: bool,
        part: PagePart<'_>,
    ) -> Result<OrderedPage> {
        self.noted(self.try_ordered(order, with_scores, part))
    }

    fn try_ordered(
        &self,
        order: &[OrderKey],
        with_scores: bool,
        part: PagePart<'_>,
    ) -> Result<OrderedPage> {
        if order.len() > ORDER_KEYS_MAX {
            let message = format!("too many keys to order by: max={ORDER_KEYS_MAX}");
            return Err(Error::invalid(message));
        }
        if !self.plan().is_decided() {
            return Err(Error::unsupported("rows that are judged one by one are not ordered"));
        }
        let keys = self.keys_of(order)?;
        let with_scores = with_scores || order.iter().any(|key| matches!(key, OrderKey::Score(_)));
        let mut page = OrderedPage::default();
        let mut segments = Vec::new();
        let mut heap = BinaryHeap::new();
        let weight = self.weight(with_scores)?;
        for (segment, filter) in self.filters(self.plan().key_ranges())? {
            let mut ordered = OrderedSegment::new(segment, &keys, part)?;
            ordered.collect(&*weight, &filter, with_scores, &mut page)?;
            if let Some(row) = ordered.next()? {
                heap.push(Reverse(Next { row, segment: segments.len(), order }));
            }
            segments.push(ordered);
        }
        let mut left = part.skip;
        while page.rows.len() < part.limit
            && let Some(Reverse(Next { row, segment, .. })) = heap.pop()
        {
            if let Some(row) = segments[segment].next()? {
                heap.push(Reverse(Next { row, segment, order }));
            }
            match left {
                0 => page.rows.push(row),
                _ => left -= 1,
            }
        }
        Ok(page)
    }

    /// Looks up an order's columns.
    fn keys_of(&self, order: &[OrderKey]) -> Result<Vec<Key>> {
        let key = |key: &OrderKey| {
            Ok(match key {
                OrderKey::Score(direction) => Key::Score(*direction),
                OrderKey::Row(direction) => Key::Row(*direction),
                OrderKey::Value(field, direction) => {
                    let at = self.valued_field(field, "rows are ordered")?;
                    Key::Value(self.value_column(at), *direction)
                }
            })
        };
        order.iter().map(key).collect()
    }
}

/// A key in an order, with the column name.
enum Key {
    Score(Direction),
    Row(Direction),
    Value(String, Direction),
}

/// The next row in a segment.
struct Next<'o> {
    row: OrderedRow,
    segment: usize,
    order: &'o [OrderKey],
}

impl Ord for Next<'_> {
    /// The answer order.
    fn cmp(&self, other: &Self) -> Ordering {
        let one = &self.row;
        let other = &other.row;
        let mut values = one.values.iter().zip(&other.values);
        for key in self.order {
            let (direction, order) = match key {
                OrderKey::Score(direction) => (*direction, one.score.total_cmp(&other.score)),
                OrderKey::Row(direction) => (*direction, one.row.cmp(&other.row)),
                OrderKey::Value(_, direction) => match values.next() {
                    Some((Some(one), Some(other))) => (*direction, one.cmp(other)),
                    // Rows without a value come last.
                    Some((one, other)) => (Direction::Forward, one.is_none().cmp(&other.is_none())),
                    None => continue,
                },
            };
            let order = match direction {
                Direction::Forward => order,
                Direction::Reverse => order.reverse(),
            };
            if order.is_ne() {
                return order;
            }
        }
        one.row.cmp(&other.row)
    }
}

impl PartialOrd for Next<'_> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Next<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Next<'_> {}

/// A number for each key, and one for the row key: places compare as the rows do. They hold within
/// a segment.
type Place = [u64; ORDER_KEYS_MAX + 1];

/// The place for what has no value.
const LAST: u64 = u64::MAX;

/// A segment's first rows.
struct OrderedSegment {
    segment: Arc<OpenSegment>,
    keys: Vec<PlacedKey>,
    after: Option<Place>,
    places_max: usize,
    /// The last of the first rows is on top; reversed when all are collected.
    first: BinaryHeap<(Place, DocId, u32)>,
    sorted: Vec<(Place, DocId, u32)>,
}

enum PlacedKey {
    Score(Direction),
    Row(Direction),
    Value { column: Option<BytesColumn>, unknown: Option<u64>, direction: Direction },
}

impl OrderedSegment {
    fn new(segment: Arc<OpenSegment>, keys: &[Key], part: PagePart<'_>) -> Result<Self> {
        let placed = |key: &Key| {
            Ok(match key {
                Key::Score(direction) => PlacedKey::Score(*direction),
                Key::Row(direction) => PlacedKey::Row(*direction),
                Key::Value(name, direction) => {
                    let column = column(&segment, name)?;
                    let direction = *direction;
                    let ord = column.as_ref().map(|column| column.dictionary().term_ord(UNKNOWN));
                    let unknown = ord.transpose().map_err(|error| broken(&segment, error))?;
                    PlacedKey::Value { column, unknown: unknown.flatten(), direction }
                }
            })
        };
        let keys = keys.iter().map(placed).collect::<Result<Vec<_>>>()?;
        let places_max = part.skip.saturating_add(part.limit);
        let mut ordered = Self {
            segment,
            keys,
            after: None,
            places_max,
            first: BinaryHeap::new(),
            sorted: Vec::new(),
        };
        ordered.after = part.after.map(|after| ordered.place_after(after)).transpose()?;
        Ok(ordered)
    }

    /// Looks at all documents in the search.
    fn collect(
        &mut self,
        weight: &dyn tantivy::query::Weight,
        filter: &DocFilter,
        with_scores: bool,
        page: &mut OrderedPage,
    ) -> Result<()> {
        let segment = Arc::clone(&self.segment);
        let mut take = |doc, score: Score| {
            page.count += 1;
            if with_scores {
                page.score_max = Some(page.score_max.map_or(score, |max| max.max(score)));
            }
            self.take(doc, score);
        };
        if with_scores {
            filter.each_above(weight, &segment, Score::MIN, |doc, score, verdict| {
                debug_assert_eq!(verdict, Verdict::Yes, "the plan has no conditions");
                take(doc, score);
                Score::MIN
            })?;
        } else {
            filter.each(weight, &segment, |doc, _| take(doc, 0.0))?;
        }
        self.sorted = std::mem::take(&mut self.first).into_sorted_vec();
        self.sorted.reverse();
        Ok(())
    }

    fn take(&mut self, doc: DocId, score: Score) {
        if self.places_max == 0 {
            return;
        }
        let place = self.place(doc, score);
        if self.after.is_some_and(|after| place <= after) {
            return;
        }
        if self.first.len() < self.places_max {
            self.first.push((place, doc, score.to_bits()));
        } else if let Some(mut last) = self.first.peek_mut()
            && place < last.0
        {
            *last = (place, doc, score.to_bits());
        }
    }

    fn place(&self, doc: DocId, score: Score) -> Place {
        let mut place = [0; ORDER_KEYS_MAX + 1];
        for (at, key) in place.iter_mut().zip(&self.keys) {
            *at = match key {
                PlacedKey::Score(direction) => directed(score_place(score), *direction),
                PlacedKey::Row(direction) => directed(between(doc.into()), *direction),
                PlacedKey::Value { column, unknown, direction } => {
                    let ords = column.iter().flat_map(|it| it.term_ords(doc));
                    let ords = ords.filter(|ord| Some(*ord) != *unknown);
                    let ord = match direction {
                        Direction::Forward => ords.min(),
                        Direction::Reverse => ords.max(),
                    };
                    ord.map_or(LAST, |ord| directed(between(ord), *direction))
                }
            };
        }
        place[ORDER_KEYS_MAX] = between(doc.into());
        place
    }

    /// Returns the place for a row that may not be in this segment.
    fn place_after(&self, after: &OrderedRow) -> Result<Place> {
        let mut place = [0; ORDER_KEYS_MAX + 1];
        let mut values = after.values.iter();
        let row = place_of(&self.segment, self.segment.rows(), &after.row)?;
        for (at, key) in place.iter_mut().zip(&self.keys) {
            *at = match key {
                PlacedKey::Score(direction) => directed(score_place(after.score), *direction),
                PlacedKey::Row(direction) => directed(row, *direction),
                PlacedKey::Value { column, direction, .. } => {
                    match (values.next().and_then(Option::as_ref), column) {
                        (None, _) => LAST,
                        // No row in this segment has a value: all come later.
                        (Some(_), None) => 0,
                        (Some(value), Some(column)) => {
                            let value = place_of(&self.segment, column, &stored_value(value))?;
                            directed(value, *direction)
                        }
                    }
                }
            };
        }
        place[ORDER_KEYS_MAX] = row;
        Ok(place)
    }

    fn next(&mut self) -> Result<Option<OrderedRow>> {
        let Some((_, doc, score)) = self.sorted.pop() else { return Ok(None) };
        let mut values = Vec::new();
        for key in &self.keys {
            let PlacedKey::Value { column, unknown, direction } = key else { continue };
            let ords = column.iter().flat_map(|it| it.term_ords(doc));
            let ords = ords.filter(|ord| Some(*ord) != *unknown);
            let ord = match direction {
                Direction::Forward => ords.min(),
                Direction::Reverse => ords.max(),
            };
            let (Some(ord), Some(column)) = (ord, column) else {
                values.push(None);
                continue;
            };
            let mut stored = Vec::new();
            let read = column.ord_to_bytes(ord, &mut stored);
            read.map_err(|error| broken(&self.segment, error))?;
            values.push(encoded_value(&stored).map(Bytes::copy_from_slice));
        }
        let row = self.segment.row(doc)?.into();
        Ok(Some(OrderedRow { row, score: Score::from_bits(score), values }))
    }
}

/// Returns a number's place. Odd places are numbers, even ones lie between them.
fn between(number: u64) -> u64 {
    2 * number + 1
}

fn directed(place: u64, direction: Direction) -> u64 {
    match direction {
        Direction::Forward => place,
        Direction::Reverse => LAST - 1 - place,
    }
}

/// For floats that are not negative, the bits are in the order of the floats.
fn score_place(score: Score) -> u64 {
    score.max(0.0).to_bits().into()
}

/// Returns a value's place among the values in a column.
fn place_of(segment: &OpenSegment, column: &BytesColumn, value: &[u8]) -> Result<u64> {
    use std::ops::Bound::{Included, Unbounded};
    let exact = column.dictionary().term_ord(value).map_err(|error| broken(segment, error))?;
    if let Some(ord) = exact {
        return Ok(between(ord));
    }
    let ords = term_ords(column, Included(value), Unbounded);
    let ords = ords.map_err(|error| broken(segment, error))?;
    Ok(2 * ords.map_or(column.num_terms() as u64, |ords| ords.start))
}

fn broken(segment: &OpenSegment, error: std::io::Error) -> Error {
    damaged(segment.number, &error.into())
}
