//! How a sample's keys are distributed over regions.

use std::io::{self, Write};

use rowhouse::key::KeySchema;
use rowhouse::{Bytes, Error, Result};
use serde_json::json;

use super::notation::Notation;
use crate::counted::counted;

/// Regions, and how many sample keys each has.
pub(super) struct Distribution {
    /// Where the region boundaries come from.
    by: &'static str,
    /// The first key and the key count for each region.
    regions: Vec<(Bytes, usize)>,
    keys: usize,
}

impl Distribution {
    /// Takes region boundaries from the template, or, if that does not determine how keys are
    /// distributed, regions with equally many sample keys.
    pub(super) fn of(schema: &KeySchema, sample: &[Vec<u8>], regions: usize) -> Result<Self> {
        if regions == 0 || sample.is_empty() {
            return Err(Error::invalid(format!(
                "the spread of keys needs 1 or more regions, and keys from --sample, --jsonl or \
                 --csv: regions={regions}, keys={}",
                sample.len()
            )));
        }
        let mut keys: Vec<&[u8]> = sample.iter().map(Vec::as_slice).collect();
        keys.sort_unstable();
        let (by, splits) = match schema.splits(regions) {
            Ok(splits) => ("template", splits),
            Err(_) => ("sample", quantiles(&keys, regions)),
        };
        let starts: Vec<Bytes> = [Bytes::new()].into_iter().chain(splits).collect();
        let before = |nth: usize| match starts.get(nth) {
            Some(start) => keys.partition_point(|key| *key < &start[..]),
            None => keys.len(),
        };
        let counts = (0..starts.len()).map(|nth| before(nth + 1) - before(nth));
        let regions = starts.iter().cloned().zip(counts).collect();
        Ok(Self { by, regions, keys: keys.len() })
    }

    /// Prints a line for each region: the share of keys, and the first key.
    pub(super) fn print(
        &self,
        notation: Notation,
        json: bool,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        let Self { by, regions, keys } = self;
        if !json {
            writeln!(out, "{}, split by the {by}:", counted(regions.len(), "region"))?;
        }
        for (start, count) in regions {
            let share = *count as f64 / *keys as f64;
            let start = notation.print(start);
            if json {
                let document = json!({ "start": start, "keys": count, "share": share, "by": by });
                writeln!(out, "{document}")?;
                continue;
            }
            let start = if start.is_empty() { "…" } else { &start };
            writeln!(out, "  {:5.1} % from {start}", share * 100.0)?;
        }
        Ok(())
    }
}

/// Returns keys that divide the sample into equally large parts, each once: fewer if keys are
/// equal.
fn quantiles(keys: &[&[u8]], regions: usize) -> Vec<Bytes> {
    let at = |nth: usize| keys[nth * keys.len() / regions];
    let mut splits: Vec<Bytes> = (1..regions).map(|nth| Bytes::copy_from_slice(at(nth))).collect();
    splits.dedup();
    splits.retain(|split| *split != keys[0]);
    splits
}
