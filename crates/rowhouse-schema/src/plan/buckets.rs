//! Computed fields on the walk: only the buckets for pinned values, or all buckets.

use super::matching::{Pin, all_values, matching_keys};
use super::ranges::RANGES_MAX;
use super::walk::{Next, Path, Walk};
use crate::computed::{Computed, Operands};
use crate::template::Element;

impl Walk<'_> {
    /// Continues after a computed field, or ends the walk.
    pub(super) fn computed(&mut self, nth: usize, at: usize) -> Next {
        let schema = self.schema;
        let slot = schema.fields().len() + at;
        let codec = schema.codec(slot);
        let merged = !schema.follows(at);
        // Names that end by length can be prefixes of each other; bucket ranges then overlap.
        self.walked.physical |= merged && self.uncertain.is_some();
        let room = RANGES_MAX / self.paths.len();
        let conditions = self.conditions[slot].as_ref();
        let next = if let Some(next) = self.by_operands(nth, at) {
            next
        } else if let Some(pins) = &self.pins[slot] {
            self.pin(nth, slot, pins)
        } else if let Some(pins) = all_values(codec, conditions, room) {
            self.pin(nth, slot, &pins)
        } else {
            let keys = matching_keys(codec, conditions, room);
            return self.stop_at(nth, codec, keys);
        };
        if merged && let Next::Continue = next {
            let width = schema.computed()[at].width();
            for path in &mut self.paths {
                path.cuts.push(path.bytes.len() - width..path.bytes.len());
            }
        }
        next
    }

    /// Pins a field computed from operands that are all pinned, before or after it; `None` if they
    /// are not.
    fn by_operands(&mut self, nth: usize, at: usize) -> Option<Next> {
        let computed = &self.schema.computed()[at];
        let following = &self.schema.elements()[nth + 1..];
        let operands = operands(computed, following)?;
        match self.combinations(computed, &operands)? {
            0 => return Some(self.nothing(nth)),
            count if count > RANGES_MAX => return None,
            _ => {}
        }
        let mut paths = std::mem::take(&mut self.paths);
        for field in &operands {
            paths = self.choices(paths, *field);
        }
        let following = if computed.operands == Operands::Rest { following } else { &[] };
        for path in &mut paths {
            let input = self.input(path, &operands, following);
            computed.put(computed.digest(&input).as_ref(), &mut path.bytes);
        }
        if let Some(conditions) = &self.conditions[self.schema.fields().len() + at] {
            paths.retain(|path| {
                let place = path.bytes.len() - computed.width();
                let value = computed.codec.decode(&path.bytes, place);
                value.is_ok_and(|(value, _)| conditions.matches(&computed.codec, &value))
            });
        }
        self.paths = paths;
        Some(if self.paths.is_empty() { self.nothing(nth) } else { Next::Continue })
    }

    /// How many combinations the operands' values have; `None` if an operand is not pinned, or the
    /// value is unknown.
    fn combinations(&self, computed: &Computed, operands: &[usize]) -> Option<usize> {
        let mut count = self.paths.len();
        for field in operands {
            let pins = self.pins[*field].as_ref()?;
            let known = pins.iter().all(|pin| pin.canonical.is_some());
            if !known && computed.operands != Operands::Rest {
                return None;
            }
            // Either every path has chosen, or none has.
            if pins.is_empty() || self.paths.iter().any(|path| path.chosen(*field).is_none()) {
                count = count.saturating_mul(pins.len());
            }
        }
        Some(count)
    }

    /// Returns each path with each field value chosen.
    fn choices(&self, paths: Vec<Path>, field: usize) -> Vec<Path> {
        let pins = self.pins[field].as_deref().unwrap_or_default();
        let with_choices = |path: Path| match path.chosen(field) {
            Some(_) => vec![path],
            None => {
                let choose = |nth: usize| {
                    let mut path = path.clone();
                    path.choose(field, nth);
                    path
                };
                (0..pins.len()).map(choose).collect()
            }
        };
        paths.into_iter().flat_map(with_choices).collect()
    }

    /// Returns the computation's input: the operands' canonical bytes, or all bytes after the
    /// field.
    fn input(&self, path: &Path, operands: &[usize], following: &[Element]) -> Vec<u8> {
        let pin =
            |field: usize| -> Option<&Pin> { self.pins[field].as_ref()?.get(path.chosen(field)?) };
        let mut input = Vec::new();
        if following.is_empty() {
            for pin in operands.iter().filter_map(|field| pin(*field)) {
                input.extend_from_slice(pin.canonical.as_deref().unwrap_or_default());
            }
        }
        // The rest of the key, from which the key's end may omit separators.
        let mut retained = 0;
        for element in following {
            match element {
                Element::Literal(bytes) => {
                    input.extend_from_slice(bytes);
                    retained = input.len();
                }
                Element::Field(field) => {
                    let Some(pin) = pin(*field) else { continue };
                    input.extend_from_slice(&pin.bytes);
                    if pin.cut < pin.bytes.len() {
                        retained = input.len() - pin.cut;
                    }
                }
                // No computed field can follow one that is computed from the rest.
                Element::Computed(_) => {}
            }
        }
        input.truncate(if following.is_empty() { input.len() } else { retained });
        input
    }
}

/// The stored fields on which a computed field depends; `None` for a random one.
fn operands(computed: &Computed, following: &[Element]) -> Option<Vec<usize>> {
    match &computed.operands {
        Operands::Chance => None,
        Operands::Fields(fields) => Some(fields.clone()),
        Operands::Rest => {
            let fields = following.iter().filter_map(|element| match element {
                Element::Field(field) => Some(*field),
                Element::Literal(_) | Element::Computed(_) => None,
            });
            Some(fields.collect())
        }
    }
}
