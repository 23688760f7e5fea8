//! What a sample shows about a load.

use std::collections::BTreeMap;

use rowhouse_model::{Bytes, HeatSample, escape, escape_controls};

use super::LoadProfile;
use super::parts;
use crate::KeySchema;
use crate::value::Quoted;

/// The share of the keys that must fit the template for it to be used.
const FITTING_SHARE: f64 = 0.9;
/// The share that makes a part of the keys constant.
const CONSTANT_SHARE: f64 = 0.975;
/// Parts of a key without a template that are looked at.
const PLAIN_LEVELS: usize = 6;

/// A sample, with the parts of the keys.
pub(super) struct Evidence<'p> {
    pub(super) profile: &'p LoadProfile,
    /// `None` without a template, and if keys do not fit it.
    pub(super) schema: Option<&'p KeySchema>,
    /// The ends of each key's parts.
    ends: Vec<Vec<usize>>,
    /// The requests whose keys have the constant parts: nearly all.
    pub(super) members: Vec<usize>,
    /// The first part that has several values; how many parts there are if none has.
    pub(super) level: usize,
    /// How many parts there are.
    pub(super) levels: usize,
}

/// Requests whose keys have the same beginning, in order.
pub(super) type Group = Vec<usize>;

impl<'p> Evidence<'p> {
    pub(super) fn new(profile: &'p LoadProfile, schema: Option<&'p KeySchema>) -> Self {
        let rows = || profile.sample.iter().map(|request| &request.row);
        let ends_by = |schema| rows().map(|row| parts::ends(schema, row)).collect::<Vec<_>>();
        let mut schema = schema;
        let mut ends = ends_by(schema);
        if let Some(template) = schema {
            let least = template.slots().min(2);
            let fitting = ends.iter().filter(|ends| ends.len() >= least).count();
            if (fitting as f64) < ends.len() as f64 * FITTING_SHARE {
                schema = None;
                ends = ends_by(None);
            }
        }
        let levels = schema.map_or(PLAIN_LEVELS, KeySchema::slots);
        let members = (0..profile.sample.len()).collect();
        let mut evidence = Self { profile, schema, ends, members, level: 0, levels };
        evidence.find_level();
        evidence
    }

    fn find_level(&mut self) {
        while self.level < self.levels {
            let mut groups = self.groups(&self.members, self.level);
            let largest = groups.swap_remove(0);
            if (largest.len() as f64) < self.members.len() as f64 * CONSTANT_SHARE {
                return;
            }
            self.members = largest;
            self.level += 1;
        }
    }

    pub(super) fn count(&self) -> usize {
        self.profile.sample.len()
    }

    pub(super) fn share(&self, count: usize) -> f64 {
        count as f64 / self.count() as f64
    }

    pub(super) fn request(&self, at: usize) -> &'p HeatSample {
        &self.profile.sample[at]
    }

    pub(super) fn row(&self, at: usize) -> &'p Bytes {
        &self.request(at).row
    }

    /// Returns a key up to the end of a part; the whole key if it has no such part.
    pub(super) fn prefix(&self, at: usize, level: usize) -> &'p [u8] {
        let row = self.row(at);
        &row[..self.ends[at].get(level).copied().unwrap_or(row.len())]
    }

    /// Groups requests by the key up to the end of a part, the largest group first.
    pub(super) fn groups(&self, members: &[usize], level: usize) -> Vec<Group> {
        self.grouped(members, |at| self.prefix(at, level))
    }

    /// Groups requests by the row, the largest group first.
    pub(super) fn rows(&self) -> Vec<Group> {
        let all: Vec<usize> = (0..self.count()).collect();
        self.grouped(&all, |at| &self.row(at)[..])
    }

    fn grouped(&self, members: &[usize], key: impl Fn(usize) -> &'p [u8]) -> Vec<Group> {
        let mut groups: BTreeMap<&[u8], Group> = BTreeMap::new();
        for &at in members {
            groups.entry(key(at)).or_default().push(at);
        }
        let mut groups: Vec<Group> = groups.into_values().collect();
        groups.sort_by_key(|group| std::cmp::Reverse(group.len()));
        groups
    }

    /// Returns the slot of the field that is a part; `None` without a template.
    fn slot(&self, level: usize) -> Option<usize> {
        let schema = self.schema?;
        schema.elements().iter().filter_map(|element| schema.slot_of(element)).nth(level)
    }

    /// Returns how many values a computed part can have; `None` for a stored field.
    pub(super) fn computed_values(&self, level: usize) -> Option<u32> {
        let schema = self.schema?;
        let computed = self.slot(level)?.checked_sub(schema.fields().len())?;
        Some(schema.computed()[computed].count().unwrap_or(u32::MAX))
    }

    /// Returns the name of the stored field that is a part.
    pub(super) fn field(&self, level: usize) -> Option<&'p str> {
        let fields = self.schema?.fields();
        fields.get(self.slot(level)?).map(|field| field.name())
    }

    /// Returns the first part from this one on that is a stored field.
    pub(super) fn stored_level(&self, level: usize) -> Option<usize> {
        (level..self.levels).find(|level| self.field(*level).is_some())
    }

    /// Returns the value that a field has in a key, as text.
    pub(super) fn value(&self, at: usize, field: &str) -> Option<String> {
        let prefix = self.schema?.read_prefix(self.row(at));
        let value = prefix.values().iter().find(|(name, _)| name == field);
        value.map(|(_, value)| escape_controls(&Quoted(value).to_string()))
    }

    /// Returns a key, or the beginning of one, as text.
    pub(super) fn text(&self, key: &[u8]) -> String {
        match self.schema {
            _ if key.is_empty() => "…".to_owned(),
            Some(schema) => escape_controls(&schema.read_prefix(key).to_string()),
            None => escape(key),
        }
    }
}
