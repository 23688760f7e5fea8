//! The walk through a template, from the left, pinning bytes as long as the query allows.

use std::ops::Range;

use rowhouse_model::{Bytes, ROW_LEN_MAX, RowRange};

use super::RANGES_MAX;
use super::bind::{NumberSet, Set, TextSet, Wanted};
use super::ranges::{bounded, coarsen, hull, intersect, normalize};
use super::text::{string_keys, text_keys};
use crate::encode::{Codec, Number, TextEnd};
use crate::key::KeySchema;
use crate::template::Element;
use crate::value::Value;

/// A field with no more values than this is gone through value by value, when that lets a later
/// condition narrow the ranges.
const SKIP_VALUES_MAX: u128 = 1_000;

/// What came of a walk.
#[derive(Default)]
pub(super) struct Walked {
    pub(super) ranges: Vec<RowRange>,
    /// The fields that remain to be checked.
    pub(super) residual: Vec<usize>,
    pub(super) coarsened: bool,
}

/// The ranges of the rows that are wanted.
pub(super) fn walk(schema: &KeySchema, wanted: &[Option<Wanted>]) -> Walked {
    let mut walk = Walk {
        schema,
        wanted,
        prefixes: vec![Vec::new()],
        uncertain: None,
        walked: Walked::default(),
    };
    let mut next = Next::GoOn;
    for (nth, element) in schema.elements().iter().enumerate() {
        next = match element {
            Element::Literal(bytes) => {
                walk.prefixes.iter_mut().for_each(|prefix| prefix.extend_from_slice(bytes));
                Next::GoOn
            }
            Element::Field(field) => walk.field(*field, nth + 1 == schema.elements().len()),
        };
        if let Next::Stop = next {
            break;
        }
    }
    if let Next::GoOn = next {
        walk.rows();
    }
    walk.finish()
}

struct Walk<'a> {
    schema: &'a KeySchema,
    wanted: &'a [Option<Wanted>],
    /// The bytes that are pinned so far, one way for each combination of values.
    prefixes: Vec<Vec<u8>>,
    /// Where the fields begin that have to be checked although bytes were pinned for them: at a text
    /// whose end is found from the key's end. Longer texts begin with the same bytes, so the text
    /// itself has to be checked, unless all the rest is pinned too; and where there are several such texts,
    /// a key of one may lie in the range of another, so the rest has to be checked as well.
    uncertain: Option<Range<usize>>,
    walked: Walked,
}

enum Next {
    GoOn,
    Stop,
}

impl Walk<'_> {
    fn field(&mut self, at: usize, last: bool) -> Next {
        let codec = &self.schema.fields()[at].codec;
        let set = self.wanted[at].as_ref().map(|wanted| &wanted.set);
        match (codec, set) {
            (Codec::Number(number), Some(Set::Numbers(set))) => self.numbers(at, number, set, last),
            (Codec::Number(number), _) if self.can_skip(at, number.count()) => {
                self.pin_numbers(at, number, &(number.min..=number.max).collect::<Vec<_>>())
            }
            (_, Some(Set::Texts(TextSet { list: Some(list), .. }))) => self.pin_texts(at, list),
            (_, Some(Set::Texts(set))) => self.texts(at, set),
            (_, _) => {
                let ranges = self.prefixes.iter().map(|prefix| RowRange::prefix(prefix)).collect();
                self.stop(ranges, at)
            }
        }
    }

    fn numbers(&mut self, at: usize, number: &Number, set: &NumberSet, last: bool) -> Next {
        let &NumberSet { low, high, .. } = set;
        match &set.list {
            Some(list) if list.len() < 2 || self.wanted_behind(at) => {
                self.pin_numbers(at, number, list)
            }
            Some(list) => {
                let runs = runs(list);
                self.number_ranges(at, number, &runs, last)
            }
            None if low > high => self.stop(Vec::new(), at + 1),
            None if low == high => self.pin_numbers(at, number, &[low]),
            None if self.can_skip(at, high.abs_diff(low) + 1)
                && number.count() <= SKIP_VALUES_MAX =>
            {
                self.pin_numbers(at, number, &(low..=high).collect::<Vec<_>>())
            }
            None => self.number_ranges(at, number, &[(low, high)], last),
        }
    }

    /// Ends the walk with the numbers of these runs.
    fn number_ranges(
        &mut self,
        at: usize,
        number: &Number,
        runs: &[(i128, i128)],
        last: bool,
    ) -> Next {
        let mut ranges = Vec::new();
        let per_prefix = (RANGES_MAX / self.prefixes.len()).max(1);
        let exact = runs.len() <= per_prefix;
        for prefix in &self.prefixes {
            let of_prefix: Vec<_> =
                runs.iter().map(|run| number_range(prefix, number, *run, last)).collect();
            ranges.extend(if exact {
                of_prefix
            } else {
                coarsen(normalize(of_prefix), per_prefix)
            });
        }
        self.walked.coarsened |= !exact;
        self.stop(ranges, at + usize::from(exact))
    }

    fn pin_numbers(&mut self, at: usize, number: &Number, list: &[i128]) -> Next {
        let mut numbers = list.to_vec();
        if number.is_desc() {
            numbers.reverse();
        }
        let bytes = numbers.into_iter().map(|value| {
            let mut bytes = Vec::new();
            number.put(value, &mut bytes);
            bytes
        });
        self.pin(at, bytes.collect())
    }

    fn pin_texts(&mut self, at: usize, list: &[String]) -> Next {
        let codec = &self.schema.fields()[at].codec;
        if matches!(codec, Codec::Text(text) if matches!(text.end, TextEnd::Before(_))) {
            let end = if list.len() > 1 { self.wanted.len() } else { at + 1 };
            self.uncertain = Some(at..end);
        }
        // What cannot be encoded was taken from the list when it was closed.
        let bytes = list.iter().filter_map(|text| {
            let mut bytes = Vec::new();
            codec.encode(&Value::Text(text.clone()), &mut bytes).ok().map(|()| bytes)
        });
        self.pin(at, bytes.collect())
    }

    /// Goes on with each of these bytes behind each prefix, or ends if that is too much.
    fn pin(&mut self, at: usize, values: Vec<Vec<u8>>) -> Next {
        if values.is_empty() {
            return self.stop(Vec::new(), at + 1);
        }
        let pinned = self
            .prefixes
            .iter()
            .flat_map(|prefix| values.iter().map(move |value| [prefix.as_slice(), value].concat()));
        if self.prefixes.len() * values.len() <= RANGES_MAX {
            self.prefixes = pinned.filter(|prefix| prefix.len() <= ROW_LEN_MAX).collect();
            return if self.prefixes.is_empty() {
                self.stop(Vec::new(), at + 1)
            } else {
                Next::GoOn
            };
        }
        let size = values.len().div_ceil((RANGES_MAX / self.prefixes.len()).max(1));
        let mut ranges = Vec::new();
        for prefix in &self.prefixes {
            ranges.extend(values.chunks(size).filter_map(|values| {
                let range =
                    |value: &Vec<u8>| RowRange::prefix(&[prefix.as_slice(), value].concat());
                hull(&values.iter().map(range).collect::<Vec<_>>())
            }));
        }
        self.walked.coarsened = true;
        self.stop(ranges, at)
    }

    /// Ends the walk with the texts that pass all tests.
    fn texts(&mut self, at: usize, set: &TextSet) -> Next {
        let codec = &self.schema.fields()[at].codec;
        let limit = RANGES_MAX / self.prefixes.len();
        let mut exact = true;
        let mut ranges = Vec::new();
        for prefix in &self.prefixes {
            let mut of_prefix = vec![RowRange::prefix(prefix)];
            for test in &set.tests {
                let found = match codec {
                    Codec::String(string) => string_keys(*string, prefix, test),
                    Codec::Text(text) => text_keys(text, prefix, test, limit),
                    Codec::Number(_) => unreachable!("sets of texts belong to fields of texts"),
                };
                exact &= found.exact;
                of_prefix = intersect(&of_prefix, &found.ranges);
            }
            ranges.extend(of_prefix);
        }
        self.stop(ranges, at + usize::from(exact))
    }

    /// Everything is pinned: each prefix is a whole key.
    fn rows(&mut self) {
        let last_is_text = matches!(self.schema.elements().last(), Some(Element::Field(at))
            if matches!(self.schema.fields()[*at].codec, Codec::Text(_)));
        // Where no key goes on behind another, neighbours make one range.
        let alone = last_is_text || self.uncertain.is_some();
        self.uncertain = None;
        let keys = self.prefixes.iter().filter(|key| !key.is_empty());
        if alone {
            self.walked.ranges = normalize(keys.map(|key| RowRange::row(key)).collect());
            return;
        }
        let ranges = normalize(keys.map(|key| RowRange::prefix(key)).collect());
        let one_row = |range: RowRange| match range == RowRange::prefix(&range.start) {
            true => RowRange::row(&range.start),
            false => range,
        };
        self.walked.ranges = ranges.into_iter().map(one_row).collect();
    }

    /// Ends the walk. The fields from `checked` on remain to be checked.
    fn stop(&mut self, ranges: Vec<RowRange>, checked: usize) -> Next {
        self.walked.ranges = normalize(ranges);
        if self.walked.ranges.is_empty() {
            self.uncertain = None;
            return Next::Stop;
        }
        let wanted = (checked..self.wanted.len()).filter(|&at| self.wanted[at].is_some());
        self.walked.residual = wanted.collect();
        Next::Stop
    }

    fn finish(mut self) -> Walked {
        let mut walked = self.walked;
        if let Some(fields) = self.uncertain.take() {
            walked.residual.extend(fields.filter(|&at| self.wanted[at].is_some()));
            walked.residual.sort_unstable();
            walked.residual.dedup();
        }
        if walked.ranges.len() > RANGES_MAX {
            walked.ranges = coarsen(walked.ranges, RANGES_MAX);
            walked.coarsened = true;
            let wanted = (0..self.wanted.len()).filter(|&at| self.wanted[at].is_some());
            walked.residual = wanted.collect();
        }
        walked.ranges = walked.ranges.into_iter().filter_map(bounded).collect();
        walked
    }

    /// Whether going through so many values of a field leads to a condition behind it.
    fn can_skip(&self, at: usize, values: u128) -> bool {
        let room = (RANGES_MAX / self.prefixes.len()) as u128;
        if values > SKIP_VALUES_MAX.min(room) {
            return false;
        }
        let behind = self.schema.fields().iter().zip(self.wanted).skip(at + 1);
        for (field, wanted) in behind {
            if wanted.is_some() {
                return true;
            }
            if !matches!(&field.codec, Codec::Number(number) if number.count() <= SKIP_VALUES_MAX) {
                return false;
            }
        }
        false
    }

    fn wanted_behind(&self, at: usize) -> bool {
        self.wanted[at + 1..].iter().any(Option::is_some)
    }
}

/// The keys that begin with `prefix` and hold a number from `low` to `high` behind it. The bounds
/// are the bytes of the first number and of the first behind the last, where there are such.
fn number_range(prefix: &[u8], number: &Number, (low, high): (i128, i128), last: bool) -> RowRange {
    let with = |value: i128| {
        let mut bytes = prefix.to_vec();
        number.put(value, &mut bytes);
        bytes
    };
    if low == high && last {
        return RowRange::row(&with(low));
    }
    let (start, stop) = match number.is_desc() {
        false => {
            ((low > number.min).then(|| with(low)), (high < number.max).then(|| with(high + 1)))
        }
        true => {
            ((high < number.max).then(|| with(high)), (low > number.min).then(|| with(low - 1)))
        }
    };
    let all = RowRange::prefix(prefix);
    RowRange {
        start: start.map_or(all.start, Bytes::from),
        stop: stop.map_or(all.stop, Bytes::from),
    }
}

/// A sorted list as runs of neighbours.
fn runs(list: &[i128]) -> Vec<(i128, i128)> {
    let mut runs: Vec<(i128, i128)> = Vec::new();
    for &number in list {
        match runs.last_mut() {
            Some((_, high)) if *high + 1 == number => *high = number,
            _ => runs.push((number, number)),
        }
    }
    runs
}
