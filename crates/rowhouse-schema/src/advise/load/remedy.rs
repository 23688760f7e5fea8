//! Remedies, tried on the sample.

use rowhouse_model::Bytes;

use super::LoadCause;
use super::evidence::Evidence;
use super::hypotheses::Hypothesis;
use super::placement;
use crate::KeySchema;
use crate::value::Value;

/// Buckets in a proposed template, and regions with which it is tried.
const BUCKETS: usize = 16;
/// Regions into which a table is proposed to be divided: at least, and at most.
const SPLIT_REGIONS_MIN: usize = 4;
const SPLIT_REGIONS_MAX: usize = 8;
/// A remedy must lower the busiest share to this part of it.
const LOWERED: f64 = 0.6;
/// A bucket of a field that is in front of the cause is proposed if it is nearly as good as the
/// best one.
const NEARLY: f64 = 1.3;
const NEARLY_MORE: f64 = 0.03;
/// The share of the keys that must have another key.
const FITTING_SHARE: f64 = 0.9;

/// A change that lowers the busiest share of a load.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Remedy {
    /// The change.
    pub kind: RemedyKind,
    /// The busiest region's share now, in the sample; the busiest server's for moves.
    pub share_before: f64,
    /// The same with the remedy: regions are divided or moved by the keys of one part of the
    /// sample, and the share is that of the other part.
    pub share_after: f64,
}

/// A remedy's change.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum RemedyKind {
    /// Regions that begin at other keys. It costs queries nothing.
    Split {
        /// The first key of each region but the first.
        bounds: Vec<Bytes>,
        /// The same as text.
        texts: Vec<String>,
    },
    /// Regions on other region servers. It costs queries nothing.
    Move {
        /// The first key of each region to move, in key order.
        starts: Vec<Bytes>,
        /// The same as text.
        texts: Vec<String>,
    },
    /// Another key, for which all rows are written again. A query that does not fix the field
    /// reads all buckets.
    Key {
        /// The template.
        template: String,
        /// The field of which the bucket is.
        field: String,
        /// How many buckets there are.
        buckets: usize,
    },
}

/// Returns the remedies that lower the busiest share, the cheapest first.
pub(super) fn remedies(
    evidence: &Evidence<'_>,
    chosen: &Hypothesis,
    region_share: Option<f64>,
) -> Vec<Remedy> {
    // No division of the keys divides a row.
    if matches!(chosen.cause, LoadCause::Even | LoadCause::OneRow { .. }) {
        return Vec::new();
    }
    if matches!(chosen.cause, LoadCause::Placement { .. }) {
        return placement::moves(evidence).into_iter().collect();
    }
    let rows: Vec<Bytes> =
        evidence.profile.sample.iter().map(|request| request.row.clone()).collect();
    let [early, late] = Parts::of(evidence, chosen).split(&rows);
    let now = region_share.unwrap_or(1.0);
    let split = split(evidence, &early, &late, now).filter(|_| chosen.window.is_none());
    let key = match &chosen.cause {
        LoadCause::UnfitBounds { .. } => None,
        _ => {
            let before = busiest(&early, &late, BUCKETS).max(chosen.prefix_share);
            key(evidence, chosen, before)
        }
    };
    split.into_iter().chain(key).collect()
}

/// Which requests of a sample the bounds of regions are made from, and which are counted in these
/// regions.
struct Parts(Vec<bool>);

impl Parts {
    fn of(evidence: &Evidence<'_>, chosen: &Hypothesis) -> Self {
        let count = evidence.count();
        Self(match chosen.window {
            // A burst meets the regions that the load before it made.
            Some((start, stop)) => {
                let times = (0..count).map(|at| evidence.request(at).at_millis);
                times.map(|time| (start..=stop).contains(&time)).collect()
            }
            None => (0..count).map(|at| at >= count / 2).collect(),
        })
    }

    fn split<T: Clone>(&self, items: &[T]) -> [Vec<T>; 2] {
        [false, true].map(|is_late| {
            let items = items.iter().zip(&self.0);
            items.filter(|(_, late)| **late == is_late).map(|(item, _)| item.clone()).collect()
        })
    }
}

/// Returns the share of the busiest of so many regions in `late`, if they divide `early` evenly.
fn busiest(early: &[Bytes], late: &[Bytes], regions: usize) -> f64 {
    share_in(&bounds(early, regions), late)
}

fn share_in(bounds: &[Bytes], rows: &[Bytes]) -> f64 {
    let mut loads = vec![0usize; bounds.len() + 1];
    rows.iter().for_each(|row| loads[bounds.partition_point(|bound| bound <= row)] += 1);
    let most = loads.into_iter().max().unwrap_or(0);
    most as f64 / rows.len().max(1) as f64
}

/// Returns bounds of regions that divide these rows evenly, each as short as it can be.
fn bounds(rows: &[Bytes], regions: usize) -> Vec<Bytes> {
    let mut rows = rows.to_vec();
    rows.sort_unstable();
    let mut bounds: Vec<Bytes> = Vec::new();
    for nth in 1..regions {
        let at = nth * rows.len() / regions;
        let Some(row) = rows.get(at) else { break };
        let before = if at == 0 { &[][..] } else { &rows[at - 1][..] };
        let shared = row.iter().zip(before).take_while(|(one, other)| one == other).count();
        bounds.push(row.slice(..row.len().min(shared + 1)));
    }
    bounds.dedup();
    bounds
}

fn split(evidence: &Evidence<'_>, early: &[Bytes], late: &[Bytes], now: f64) -> Option<Remedy> {
    let regions = evidence.profile.regions.len().clamp(SPLIT_REGIONS_MIN, SPLIT_REGIONS_MAX);
    let bounds = bounds(early, regions);
    let share_after = share_in(&bounds, late);
    let texts = bounds.iter().map(|bound| evidence.text(bound)).collect();
    let kind = RemedyKind::Split { bounds, texts };
    let remedy = Remedy { kind, share_before: now, share_after };
    lowers(now, share_after).then_some(remedy)
}

/// Returns true if a remedy lowers the busiest share enough.
pub(super) fn lowers(share_before: f64, share_after: f64) -> bool {
    share_after <= share_before * LOWERED
}

/// Returns the key with a bucket in front that lowers the busiest share. A bucket of a field that
/// is not the cause keeps the rows of the cause together, so it comes first.
fn key(evidence: &Evidence<'_>, chosen: &Hypothesis, share_before: f64) -> Option<Remedy> {
    let schema = evidence.schema?;
    let values = decoded(evidence, schema)?;
    let [early, late] = Parts::of(evidence, chosen).split(&values);
    let hot = match &chosen.cause {
        LoadCause::Growing { field, .. } => field.as_deref(),
        LoadCause::FewValues { field, .. } => Some(&field[..]),
        LoadCause::HotPrefix { prefix } | LoadCause::Burst { prefix, .. } => {
            prefix.field.as_deref()
        }
        _ => None,
    };
    let names = schema.fields().iter().filter(|field| !field.codec.is_lossy());
    let mut names: Vec<&str> = names.map(|field| field.name()).collect();
    names.sort_by_key(|name| hot == Some(*name));
    let tried: Vec<Remedy> = names
        .into_iter()
        .filter_map(|name| {
            let other = with_bucket(schema, name)?;
            let [early, late] = [&early, &late].map(|values| encoded(&other, values));
            let share_after = busiest(&early?, &late?, BUCKETS);
            let field = name.to_owned();
            let kind = RemedyKind::Key { template: other.to_string(), field, buckets: BUCKETS };
            Some(Remedy { kind, share_before, share_after })
        })
        .collect();
    let best = tried.iter().map(|remedy| remedy.share_after).fold(1.0, f64::min);
    tried.into_iter().find(|remedy| {
        remedy.share_after <= best * NEARLY + NEARLY_MORE
            && lowers(share_before, remedy.share_after)
    })
}

/// Returns the values of all keys; `None` if many do not fit the template or were cut.
fn decoded(evidence: &Evidence<'_>, schema: &KeySchema) -> Option<Vec<Option<Vec<Value>>>> {
    let values: Vec<_> = (0..evidence.count())
        .map(|at| {
            let row = evidence.row(at);
            let is_whole = row.len() < super::ROW_BYTES_MAX;
            let values = schema.decode(row).ok().filter(|_| is_whole)?;
            Some(values.as_slice().to_vec())
        })
        .collect();
    let fitting = values.iter().flatten().count();
    (fitting as f64 >= values.len() as f64 * FITTING_SHARE).then_some(values)
}

fn encoded(schema: &KeySchema, values: &[Option<Vec<Value>>]) -> Option<Vec<Bytes>> {
    let keys = values.iter().flatten().map(|values| {
        let mut key = Vec::new();
        schema.encode_values(values, &mut key).ok()?;
        Some(Bytes::from(key))
    });
    keys.collect()
}

/// Returns the template with a bucket of a field in front, in the place of a computed field.
fn with_bucket(schema: &KeySchema, field: &str) -> Option<KeySchema> {
    let text = schema.to_string();
    let mut rest = &text[..];
    if let Some(crate::template::Element::Computed(_)) = schema.elements().first() {
        rest = &rest[rest.find(']')? + 1..];
    }
    KeySchema::parse(&format!("[bucket {BUCKETS} of {field}]{rest}")).ok()
}
