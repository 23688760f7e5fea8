//! The values that a query requests for one field.

use std::fmt;
use std::sync::Arc;

use super::predicate::{Comparison, Condition, Predicate, Test};
use crate::encode::{Body, Codec, Number, Point};
use crate::value::Value;

/// All conditions on one field, as a value set.
#[derive(Clone, Debug)]
pub(super) struct FieldConditions {
    /// The field's slot: stored fields come first, computed ones after them.
    pub(super) slot: usize,
    /// True if rows in which the field is null match.
    pub(super) nulls: bool,
    pub(super) set: Set,
    /// The query's conditions, and the positions of the conditions on this field.
    conditions: Arc<Vec<Condition>>,
    own: Vec<usize>,
}

/// Returns the values that conditions allow, in a form to compare.
pub(super) fn described(conditions: &[FieldConditions]) -> Vec<String> {
    let described = |it: &FieldConditions| format!("{} {} {:?}", it.slot, it.nulls, it.set);
    conditions.iter().map(described).collect()
}

/// The requested values.
#[derive(Clone, Debug)]
pub(super) enum Set {
    Numbers(NumberSet),
    /// Texts and bytes by their own bytes, a `repeat`'s groups by the stored ones.
    Bytes(BytesSet),
    /// For a field stored as a hash: these hashes, or all.
    Hashes(Option<Vec<Hash>>),
}

/// The numbers from `low` to `high`, both included, that have the last digits. If there is a list,
/// only the list's numbers, which are sorted and meet both conditions.
#[derive(Clone, Debug)]
pub(super) struct NumberSet {
    pub(super) low: i128,
    pub(super) high: i128,
    pub(super) list: Option<Vec<i128>>,
    /// The last decimal digits that all numbers have, if given.
    pub(super) last: Option<LastDigits>,
}

/// A number's last decimal digits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct LastDigits {
    pub(super) count: u32,
    /// The number that they form.
    pub(super) number: i128,
}

impl LastDigits {
    /// Returns true if a number ends with these digits.
    pub(super) fn are_in(self, number: i128) -> bool {
        number.rem_euclid(10_i128.pow(self.count)) == self.number
    }

    /// Returns the digits with which numbers end that end with both, if any do.
    fn meet(self, other: Self) -> Option<Self> {
        let (long, short) = if self.count < other.count { (other, self) } else { (self, other) };
        short.are_in(long.number).then_some(long)
    }
}

/// The values that pass all tests. If there is a list, only the list's values, which are sorted and
/// all pass.
#[derive(Clone, Debug, Default)]
pub(super) struct BytesSet {
    pub(super) tests: Vec<BytesTest>,
    pub(super) list: Option<Vec<Vec<u8>>>,
}

#[derive(Clone, Debug)]
pub(super) enum BytesTest {
    Compare(Comparison, Vec<u8>),
    StartsWith(Vec<u8>),
    EndsWith(Vec<u8>),
    Under(Vec<u8>),
}

/// A value's hash, and the value's bytes if they are known.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Hash {
    pub(super) stored: Vec<u8>,
    pub(super) canonical: Option<Vec<u8>>,
}

impl Hash {
    /// Returns true if one value can have both hashes. If so, and this hash lacks the value's
    /// bytes, copies them from the other.
    pub(super) fn meet(&mut self, other: &Self) -> bool {
        let meets = self.stored == other.stored
            && (self.canonical.is_none()
                || other.canonical.is_none()
                || self.canonical == other.canonical);
        if meets && self.canonical.is_none() {
            self.canonical.clone_from(&other.canonical);
        }
        meets
    }
}

impl FieldConditions {
    /// Returns the set with all values that a field has, null included if the field is nullable.
    pub(super) fn everything(slot: usize, codec: &Codec, predicate: &Predicate) -> Self {
        let numbers = |low, high| Set::Numbers(NumberSet { low, high, list: None, last: None });
        let set = match &codec.body {
            Body::Number(number) => numbers(number.domain.min, number.domain.max),
            Body::Shortest(shortest) => numbers(shortest.domain.min, shortest.domain.max),
            Body::Sequence(_) | Body::Repeat(_) => Set::Bytes(BytesSet::default()),
            Body::Hashed(_) => Set::Hashes(None),
        };
        let conditions = predicate.conditions.clone();
        Self { slot, nulls: codec.is_nullable(), set, conditions, own: Vec::new() }
    }

    /// Returns the set with all values that a column has, null included: a missing column is null.
    pub(super) fn of_column(slot: usize, codec: &Codec, predicate: &Predicate) -> Self {
        Self { nulls: true, ..Self::everything(slot, codec, predicate) }
    }

    /// Adds the query's `nth` condition, which is on this field.
    pub(super) fn note(&mut self, nth: usize) {
        self.own.push(nth);
    }

    /// Returns true if a condition requires null.
    pub(super) fn requires_null(&self) -> bool {
        self.tests().any(|test| matches!(test, Test::IsNull))
    }

    /// Returns true if a condition asks more than whether there is a value.
    pub(super) fn has_value_test(&self) -> bool {
        !self.tests().all(Test::is_of_presence)
    }

    fn tests(&self) -> impl Iterator<Item = &Test> {
        self.own.iter().map(|nth| &self.conditions[*nth].test)
    }

    /// Returns true if a decoded field value is in the set.
    pub(super) fn matches(&self, codec: &Codec, value: &Value) -> bool {
        match (&self.set, &codec.body) {
            _ if value.is_null() => self.nulls,
            (Set::Numbers(set), Body::Number(number)) => {
                number.domain.number(value).is_ok_and(|stored| set.matches_stored(number, stored))
            }
            (Set::Numbers(set), Body::Shortest(shortest)) => {
                shortest.domain.number(value).is_ok_and(|number| set.matches(number))
            }
            (Set::Bytes(set), Body::Sequence(sequence)) => {
                sequence.content.bytes(value).is_ok_and(|bytes| set.matches(&bytes))
            }
            (Set::Bytes(set), Body::Repeat(repeat)) => {
                let mut bytes = Vec::new();
                repeat.encode(value, &mut bytes).is_ok() && set.matches(&bytes)
            }
            (Set::Hashes(None), _) => true,
            (Set::Hashes(Some(list)), _) => {
                value.as_bytes().is_some_and(|hash| list.iter().any(|listed| listed.stored == hash))
            }
            _ => false,
        }
    }

    /// Returns true if every row that meets these conditions meets the others on the same field or
    /// column. Conservative: false if it is not plain from the constants.
    pub(super) fn implies(&self, other: &Self) -> bool {
        if other.requires_null() {
            return self.requires_null() && !other.has_value_test();
        }
        if !other.has_value_test() {
            return !self.nulls;
        }
        // Without a value test, rows with other values match, and with values that do not fit the
        // type.
        self.has_value_test()
            && !self.nulls
            && match (&self.set, &other.set) {
                (Set::Numbers(set), Set::Numbers(other)) => set.is_within(other),
                (Set::Bytes(set), Set::Bytes(other)) => set.is_within(other),
                (Set::Hashes(Some(list)), Set::Hashes(Some(other))) => {
                    list.iter().all(|hash| other.contains(hash))
                }
                _ => false,
            }
    }

    /// Returns true if the conditions leave a single value.
    pub(super) fn is_single(&self) -> bool {
        let singles = match &self.set {
            Set::Numbers(set) => set.singles().map(|list| list.len()),
            Set::Bytes(set) => set.list.as_ref().map(Vec::len),
            Set::Hashes(list) => list.as_ref().map(Vec::len),
        };
        if self.nulls { singles == Some(0) } else { singles == Some(1) }
    }

    /// Keeps in the lists only the values that pass every condition and that a key can hold.
    pub(super) fn close(&mut self, codec: &Codec) {
        match (&mut self.set, &codec.body) {
            (Set::Numbers(set @ NumberSet { list: None, last: Some(_), .. }), _)
                if set.low == set.high =>
            {
                let single = set.low;
                set.list = Some(Vec::from_iter(set.passes(single).then_some(single)));
            }
            (Set::Numbers(NumberSet { low, high, list: Some(list), last }), body) => {
                list.retain(|number| {
                    let known = match body {
                        Body::Number(codec) => codec.domain.contains(*number),
                        _ => true,
                    };
                    known
                        && (*low..=*high).contains(number)
                        && last.is_none_or(|last| last.are_in(*number))
                });
                list.sort_unstable();
                list.dedup();
            }
            (Set::Bytes(BytesSet { tests, list: Some(list) }), body) => {
                list.retain(|value| {
                    let can_be = match body {
                        Body::Sequence(sequence) => {
                            sequence.put(value.into(), &mut Vec::new()).is_ok()
                        }
                        _ => true,
                    };
                    can_be && tests.iter().all(|test| test.matches(value))
                });
                list.sort_unstable();
                list.dedup();
            }
            (Set::Hashes(Some(list)), _) => {
                list.sort_unstable();
                list.dedup();
            }
            _ => {}
        }
    }

    /// Empties the set.
    pub(super) fn never(&mut self) {
        match &mut self.set {
            Set::Numbers(set) => set.list = Some(Vec::new()),
            Set::Bytes(set) => set.list = Some(Vec::new()),
            Set::Hashes(list) => *list = Some(Vec::new()),
        }
    }
}

impl NumberSet {
    fn matches(&self, number: i128) -> bool {
        match &self.list {
            Some(list) => list.binary_search(&number).is_ok(),
            None => (self.low..=self.high).contains(&number) && self.passes(number),
        }
    }

    /// Returns true if a number has the last digits.
    pub(super) fn passes(&self, number: i128) -> bool {
        self.last.is_none_or(|last| last.are_in(number))
    }

    /// Returns true if a requested number is stored as this one.
    fn matches_stored(&self, codec: &Number, stored: i128) -> bool {
        if !codec.is_floored() {
            return self.matches(stored);
        }
        match &self.list {
            Some(list) => list.iter().any(|number| codec.floor(*number) == stored),
            None => {
                self.low <= self.high
                    && (codec.floor(self.low)..=codec.floor(self.high)).contains(&stored)
            }
        }
    }

    /// Returns true if the other set holds all these numbers.
    fn is_within(&self, other: &Self) -> bool {
        match (self.singles(), &other.list) {
            (Some(list), _) => list.iter().all(|number| other.matches(*number)),
            (None, Some(_)) => self.low > self.high,
            (None, None) => {
                let has_digits = other.last.is_none_or(|other| {
                    self.last.is_some_and(|last| last.meet(other) == Some(last))
                });
                self.low > self.high
                    || other.low <= self.low && self.high <= other.high && has_digits
            }
        }
    }

    /// Returns the numbers one by one, if they are listed or only one is left.
    pub(super) fn singles(&self) -> Option<&[i128]> {
        match &self.list {
            Some(list) => Some(list),
            None if self.low == self.high => Some(std::slice::from_ref(&self.low)),
            None => None,
        }
    }

    pub(super) fn limit(&mut self, comparison: Comparison, point: Point) {
        match comparison {
            Comparison::Equal => self.keep(vec![point]),
            Comparison::Less => self.high = self.high.min(point.low.saturating_sub(1)),
            Comparison::LessOrEqual => self.high = self.high.min(point.high),
            Comparison::Greater => self.low = self.low.max(point.high.saturating_add(1)),
            Comparison::GreaterOrEqual => self.low = self.low.max(point.low),
        }
    }

    /// Restricts the set to numbers that end with these digits.
    pub(super) fn end_with(&mut self, last: LastDigits) {
        match self.last.map_or(Some(last), |before| before.meet(last)) {
            Some(last) => self.last = Some(last),
            None => self.list = Some(Vec::new()),
        }
    }

    /// Restricts the set to these numbers, and to an earlier list's numbers.
    pub(super) fn keep(&mut self, points: Vec<Point>) {
        let numbers = points.into_iter().flat_map(|point| point.low..=point.high);
        let mut numbers: Vec<_> = numbers.collect();
        if let Some(list) = &self.list {
            numbers.retain(|number| list.contains(number));
        }
        self.list = Some(numbers);
    }
}

impl BytesSet {
    fn matches(&self, bytes: &[u8]) -> bool {
        match &self.list {
            Some(list) => list.binary_search_by(|listed| listed.as_slice().cmp(bytes)).is_ok(),
            None => self.tests.iter().all(|test| test.matches(bytes)),
        }
    }

    /// Returns true if the other set holds all these values, as far as the tests tell.
    fn is_within(&self, other: &Self) -> bool {
        match (&self.list, &other.list) {
            (Some(list), _) => list.iter().all(|value| other.matches(value)),
            (None, Some(_)) => false,
            (None, None) => {
                let implied = |test: &BytesTest| self.tests.iter().any(|own| own.implies(test));
                other.tests.iter().all(implied)
            }
        }
    }

    pub(super) fn keep(&mut self, mut values: Vec<Vec<u8>>) {
        if let Some(list) = &self.list {
            values.retain(|value| list.contains(value));
        }
        self.list = Some(values);
    }
}

impl BytesTest {
    /// Returns true if values that pass this test pass the other, as far as the constants tell.
    fn implies(&self, other: &Self) -> bool {
        use Comparison::{Greater, GreaterOrEqual, Less, LessOrEqual};
        match (self, other) {
            (Self::StartsWith(own), Self::StartsWith(other)) => own.starts_with(other),
            (Self::StartsWith(own), Self::Compare(GreaterOrEqual, other)) => own >= other,
            (Self::EndsWith(own), Self::EndsWith(other)) => own.ends_with(other),
            (Self::Under(own), Self::Under(other)) => own == other,
            (Self::Compare(own, constant), Self::Compare(other, limit)) => match (own, other) {
                (Greater, Greater | GreaterOrEqual) | (GreaterOrEqual, GreaterOrEqual) => {
                    constant >= limit
                }
                (GreaterOrEqual, Greater) => constant > limit,
                (Less, Less | LessOrEqual) | (LessOrEqual, LessOrEqual) => constant <= limit,
                (LessOrEqual, Less) => constant < limit,
                _ => false,
            },
            _ => false,
        }
    }

    fn matches(&self, bytes: &[u8]) -> bool {
        match self {
            Self::Compare(comparison, constant) => {
                let order = bytes.cmp(constant);
                match comparison {
                    Comparison::Equal => order.is_eq(),
                    Comparison::Less => order.is_lt(),
                    Comparison::LessOrEqual => order.is_le(),
                    Comparison::Greater => order.is_gt(),
                    Comparison::GreaterOrEqual => order.is_ge(),
                }
            }
            Self::StartsWith(start) => bytes.starts_with(start),
            Self::EndsWith(end) => bytes.ends_with(end),
            Self::Under(domain) => bytes
                .strip_suffix(domain.as_slice())
                .is_some_and(|rest| rest.is_empty() || rest.ends_with(b".")),
        }
    }
}

impl fmt::Display for FieldConditions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (nth, own) in self.own.iter().enumerate() {
            write!(f, "{}{}", if nth == 0 { "" } else { " and " }, self.conditions[*own])?;
        }
        Ok(())
    }
}
