//! The walk through a template from the left. It pins bytes as far as the query allows.

use std::ops::Range;

use rowhouse_model::{Bytes, ROW_LEN_MAX, RowRange};

use super::key_ranges::KeyRanges;
use super::matching::{Pin, all_values, matching_keys, pins, under, values_count};
use super::ranges::{RANGES_MAX, coarsen, hull, intersect};
use super::set::FieldConditions;
use super::streams::Walked;
use crate::encode::{Body, Codec, End};
use crate::key::KeySchema;
use crate::template::Element;

/// The most values that a field may have to be enumerated so that a later condition narrows the
/// ranges.
const SKIP_VALUES_MAX: usize = 1_000;

/// Returns the ranges that hold the matching rows.
pub(super) fn walk(schema: &KeySchema, conditions: &[Option<FieldConditions>]) -> Walked {
    let listed = |of_slot: &Option<FieldConditions>| {
        of_slot.as_ref().and_then(|of_slot| pins(schema.codec(of_slot.slot), of_slot))
    };
    let pins: Vec<Option<Vec<Pin>>> = conditions.iter().map(listed).collect();
    let mut walk = Walk {
        schema,
        conditions,
        pins: &pins,
        paths: vec![Path::new(schema)],
        uncertain: None,
        walked: Walked::default(),
    };
    let reached = walk.elements();
    walk.finish(reached)
}

pub(super) struct Walk<'a> {
    pub(super) schema: &'a KeySchema,
    pub(super) conditions: &'a [Option<FieldConditions>],
    /// The requested values that can be listed, by slot.
    pub(super) pins: &'a [Option<Vec<Pin>>],
    /// The bytes pinned so far, one path for each value combination.
    pub(super) paths: Vec<Path>,
    /// The elements that have to be checked although their bytes are pinned, because an open field
    /// ends by length. Longer values begin with the same bytes, so the value has to be checked,
    /// unless all the rest is pinned too. If there are several such values, one value's key may be
    /// in another value's range, so the rest has to be checked as well.
    pub(super) uncertain: Option<Range<usize>>,
    pub(super) walked: Walked,
}

/// One pinned byte combination, from the left.
#[derive(Clone, Debug)]
pub(super) struct Path {
    pub(super) bytes: Vec<u8>,
    /// How many trailing bytes are omitted at a key's end.
    cut: usize,
    /// For each stored field on which a computed field depends, the pin that this path takes.
    chosen: Vec<Option<u32>>,
    /// The computed fields' positions, for the fields by which rows have to be merged.
    pub(super) cuts: Vec<Range<usize>>,
}

/// How far a walk got.
pub(super) enum Next {
    Continue,
    /// Stop, with each path's ranges; elements from this one on remain to be checked.
    Stop(usize),
}

impl Path {
    pub(super) fn new(schema: &KeySchema) -> Self {
        let chosen = match schema.computed() {
            [] => Vec::new(),
            _ => vec![None; schema.fields().len()],
        };
        Self { bytes: Vec::new(), cut: 0, chosen, cuts: Vec::new() }
    }

    /// The pin that this path takes for a field, if it had to choose one.
    pub(super) fn chosen(&self, field: usize) -> Option<usize> {
        self.chosen.get(field).copied().flatten().map(|nth| nth as usize)
    }

    pub(super) fn choose(&mut self, field: usize, nth: usize) {
        if let Some(chosen) = self.chosen.get_mut(field) {
            *chosen = Some(nth as u32);
        }
    }

    fn with(&self, pin: &Pin) -> Self {
        let bytes = [self.bytes.as_slice(), &pin.bytes].concat();
        // If the whole field can be omitted, so can the previous fields' end.
        let cut = pin.cut + if pin.cut == pin.bytes.len() { self.cut } else { 0 };
        Self { bytes, cut, chosen: self.chosen.clone(), cuts: self.cuts.clone() }
    }

    /// The bytes of a key that ends here.
    fn key(&self) -> &[u8] {
        &self.bytes[..self.bytes.len() - self.cut]
    }

    /// Puts the pinned bytes before a relative range.
    fn under(&self, range: &RowRange) -> RowRange {
        let is_whole = range.start.is_empty();
        let range = under(&self.bytes, range);
        let start = if is_whole { Bytes::copy_from_slice(self.key()) } else { range.start };
        RowRange { start, ..range }
    }
}

impl Walk<'_> {
    /// Walks through the elements; returns how many were pinned.
    fn elements(&mut self) -> usize {
        for (nth, element) in self.schema.elements().iter().enumerate() {
            let next = match element {
                Element::Literal(bytes) => {
                    self.paths.iter_mut().for_each(|path| path.bytes.extend_from_slice(bytes));
                    Next::Continue
                }
                Element::Field(field) => self.field(nth, *field),
                Element::Computed(computed) => self.computed(nth, *computed),
            };
            if let Next::Stop(checked) = next {
                let checked = self.schema.elements()[checked..].iter();
                let slots = checked.filter_map(|element| self.schema.slot_of(element));
                self.walked.residual.extend(slots);
                return nth;
            }
        }
        self.rows();
        self.schema.elements().len()
    }

    fn field(&mut self, nth: usize, field: usize) -> Next {
        let codec = self.schema.codec(field);
        let conditions = self.conditions[field].as_ref();
        let chosen = self.paths.iter().any(|path| path.chosen(field).is_some());
        if let Some(pins) = &self.pins[field]
            // Adjacent values in a list form one range, if no condition follows.
            && (chosen || pins.len() < 2 || self.has_later_condition(nth) || !is_ordered_number(codec))
        {
            return self.pin_listed(nth, field, pins);
        }
        if let Some(pins) = self.small(nth, codec, conditions) {
            return self.pin(nth, field, &pins);
        }
        let keys = matching_keys(codec, conditions, RANGES_MAX / self.paths.len());
        self.stop_at(nth, codec, keys)
    }

    /// Returns all values of a small field, if enumerating them leads to a later condition.
    fn small(
        &self,
        nth: usize,
        codec: &Codec,
        conditions: Option<&FieldConditions>,
    ) -> Option<Vec<Pin>> {
        let room = RANGES_MAX / self.paths.len();
        // The domain size decides, not how many values are left: a narrow range in a wide field is
        // one range.
        if !is_small(codec) || !self.reaches_condition(nth) {
            return None;
        }
        all_values(codec, conditions, SKIP_VALUES_MAX.min(room))
    }

    /// Returns true if a condition follows an element, with only small fields in between.
    fn reaches_condition(&self, nth: usize) -> bool {
        for element in &self.schema.elements()[nth + 1..] {
            let Some(slot) = self.schema.slot_of(element) else { continue };
            if self.conditions[slot].is_some() {
                return true;
            }
            if !is_small(self.schema.codec(slot)) {
                return false;
            }
        }
        false
    }

    fn pin_listed(&mut self, nth: usize, field: usize, pins: &[Pin]) -> Next {
        let codec = self.schema.codec(field);
        if matches!(codec.end(), Some(End::Before(_))) {
            let end = if pins.len() > 1 { self.schema.elements().len() } else { nth + 1 };
            self.uncertain = Some(nth..end);
        }
        self.pin(nth, field, pins)
    }

    /// Continues each path with each of these values, or ends the walk if that makes too many
    /// paths.
    pub(super) fn pin(&mut self, nth: usize, slot: usize, pins: &[Pin]) -> Next {
        if pins.is_empty() {
            return self.nothing(nth);
        }
        let chosen = self.paths.iter().filter(|path| path.chosen(slot).is_some()).count();
        if chosen + (self.paths.len() - chosen) * pins.len() > RANGES_MAX {
            return self.pin_roughly(nth, pins);
        }
        let mut paths = Vec::with_capacity(self.paths.len() * pins.len());
        for path in &self.paths {
            match path.chosen(slot) {
                Some(chosen) => paths.push(path.with(&pins[chosen])),
                None => paths.extend(pins.iter().enumerate().map(|(at, pin)| {
                    let mut path = path.with(pin);
                    path.choose(slot, at);
                    path
                })),
            }
        }
        paths.retain(|path| path.bytes.len() <= ROW_LEN_MAX);
        if paths.is_empty() {
            return self.nothing(nth);
        }
        self.paths = paths;
        Next::Continue
    }

    /// Ends the walk with ranges that each hold several such values.
    fn pin_roughly(&mut self, nth: usize, pins: &[Pin]) -> Next {
        let size = pins.len().div_ceil((RANGES_MAX / self.paths.len()).max(1));
        let ranges = pins.chunks(size).filter_map(|pins| {
            let ranges: Vec<_> = pins.iter().map(Pin::rows).collect();
            hull(&ranges)
        });
        let ranges: Vec<_> = ranges.collect();
        self.walked.coarsened = true;
        self.emit(&ranges);
        Next::Stop(nth)
    }

    /// Ends the walk with the ranges that a codec found.
    pub(super) fn stop_at(&mut self, nth: usize, codec: &Codec, keys: KeyRanges) -> Next {
        let KeyRanges { mut ranges, mut exact } = keys;
        if ranges.is_empty() {
            return self.nothing(nth);
        }
        let room = (RANGES_MAX / self.paths.len()).max(1);
        if ranges.len() > room {
            ranges = coarsen(ranges, room);
            exact = false;
            self.walked.coarsened = true;
        }
        if nth + 1 == self.schema.elements().len()
            && let Some(width) = codec.width()
        {
            // No key extends the last field.
            ranges.iter_mut().filter(|range| range.start.len() == width).for_each(one_row);
        }
        if self.follows_bare_zero(nth) {
            ranges = intersect(&ranges, &[RowRange::new(Vec::new(), vec![0xFF])]);
        }
        self.emit(&ranges);
        Next::Stop(if exact { nth + 1 } else { nth })
    }

    /// Returns true if an FF after the pinned bytes would be read as part of the value that ends
    /// them.
    fn follows_bare_zero(&self, nth: usize) -> bool {
        let before = nth.checked_sub(1).map(|before| &self.schema.elements()[before]);
        match before {
            Some(Element::Field(field)) => !self.schema.codec(*field).is_prefix_free(),
            Some(Element::Literal(_) | Element::Computed(_)) | None => false,
        }
    }

    /// Ends the walk without rows.
    pub(super) fn nothing(&mut self, nth: usize) -> Next {
        self.uncertain = None;
        self.walked.empty = true;
        Next::Stop(nth)
    }

    /// Adds these ranges to each path.
    fn emit(&mut self, ranges: &[RowRange]) {
        for (at, path) in self.paths.iter().enumerate() {
            let ranges = ranges.iter().map(|range| (at, path.under(range)));
            self.walked.ranges.extend(ranges);
        }
    }

    /// Emits the ranges for whole keys: every element is pinned.
    fn rows(&mut self) {
        let last_is_open = match self.schema.elements().last() {
            Some(Element::Field(field)) => {
                let codec = self.schema.codec(*field);
                codec.end().is_some() || codec.tail().is_some() || !codec.is_prefix_free()
            }
            _ => false,
        };
        // If no key extends another, adjacent keys can form one range.
        let alone = last_is_open || self.uncertain.is_some();
        self.uncertain = None;
        let keys = self.paths.iter().enumerate().filter(|(_, path)| !path.key().is_empty());
        let range: fn(&[u8]) -> RowRange = if alone { RowRange::row } else { RowRange::prefix };
        self.walked.ranges = keys.map(|(at, path)| (at, range(path.key()))).collect();
        self.walked.one_row_each = !alone;
    }

    fn finish(mut self, reached: usize) -> Walked {
        if let Some(elements) = self.uncertain.take() {
            let elements = self.schema.elements()[elements].iter();
            self.walked.residual.extend(elements.filter_map(|e| self.schema.slot_of(e)));
        }
        let following = &self.schema.elements()[reached..];
        self.walked.physical |= following.iter().any(|element| match element {
            Element::Computed(computed) => !self.schema.follows(*computed),
            Element::Literal(_) | Element::Field(_) => false,
        });
        self.walked.into_streams(self.schema, &self.paths, self.conditions)
    }

    pub(super) fn has_later_condition(&self, nth: usize) -> bool {
        let mut following = self.schema.elements()[nth + 1..].iter();
        following
            .any(|e| self.schema.slot_of(e).is_some_and(|slot| self.conditions[slot].is_some()))
    }
}

/// Returns true if a field has so few values that they can be enumerated.
fn is_small(codec: &Codec) -> bool {
    values_count(codec).is_some_and(|count| count <= SKIP_VALUES_MAX as u128)
}

fn is_ordered_number(codec: &Codec) -> bool {
    matches!(&codec.body, Body::Number(number) if number.is_ordered())
}

/// Turns the range that holds all keys with a prefix into the single row that equals the prefix.
pub(super) fn one_row(range: &mut RowRange) {
    if !range.start.is_empty() && *range == RowRange::prefix(&range.start) {
        *range = RowRange::row(&range.start);
    }
}
