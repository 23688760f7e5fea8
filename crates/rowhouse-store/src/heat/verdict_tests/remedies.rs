//! Tries the remedies of verdicts on whole loads, of which the verdicts saw a sample.

use rowhouse_model::Bytes;
use rowhouse_schema::{KeySchema, LoadCause, LoadVerdict, Remedy, RemedyKind};

use super::load::LabelledLoad;

/// Regions into which a table with another key is divided.
const REGIONS: usize = 16;
/// The busiest share with a remedy must be at most this part of that without.
const LOWERED: f64 = 0.75;

/// Returns true if a remedy lowers the busiest share of a load. The regions are those that the
/// first half of the load divides evenly; what is counted is the second half, or for a burst its
/// time.
pub(super) fn works(load: &LabelledLoad, verdict: &LoadVerdict, remedy: &Remedy) -> bool {
    let keys = load.judged();
    let half = keys.len() / 2;
    match &remedy.kind {
        RemedyKind::Split { bounds, .. } => {
            let now: Vec<Bytes> = load.regions.iter().skip(1).map(|it| it.start.clone()).collect();
            let late = &keys[half..];
            busiest(bounds, late) <= LOWERED * busiest(&now, late)
        }
        RemedyKind::Key { template, .. } => {
            let old = load.schema().unwrap();
            let new = KeySchema::parse(template).unwrap();
            let keys: Vec<(bool, Bytes)> = requests(load, verdict).collect();
            let changed = keys.iter().map(|(is_late, key)| {
                let values = old.decode(key).unwrap();
                let mut key = Vec::new();
                new.encode_values(values.as_slice(), &mut key).unwrap();
                (*is_late, Bytes::from(key))
            });
            let changed: Vec<_> = changed.collect();
            let share_now = hottest_prefix(&old, &keys, verdict).max(fitted(&keys));
            fitted(&changed) <= LOWERED * share_now
        }
        _ => false,
    }
}

/// Returns the judged requests, with true for those that are counted.
fn requests(load: &LabelledLoad, verdict: &LoadVerdict) -> impl Iterator<Item = (bool, Bytes)> {
    let judged: Vec<_> = load.requests.iter().filter(|request| request.is_judged).collect();
    let half = judged.len() / 2;
    let window = match &verdict.cause {
        LoadCause::Burst { length_millis, .. } => {
            // The time of that length with most requests.
            let times: Vec<i64> = judged.iter().map(|request| request.at_millis).collect();
            let within = |from: i64| {
                times.partition_point(|time| *time <= from + length_millis)
                    - times.partition_point(|time| *time < from)
            };
            let from = times.iter().copied().max_by_key(|from| within(*from)).unwrap();
            Some(from..=from + length_millis)
        }
        _ => None,
    };
    let requests = judged.into_iter().enumerate().map(move |(nth, request)| {
        let is_late = match &window {
            Some(window) => window.contains(&request.at_millis),
            None => nth >= half,
        };
        (is_late, request.row.clone())
    });
    requests.collect::<Vec<_>>().into_iter()
}

/// Returns the busiest share in regions that the early keys divide evenly.
fn fitted(keys: &[(bool, Bytes)]) -> f64 {
    let part = |late| keys.iter().filter(move |it| it.0 == late).map(|it| it.1.clone());
    let mut early: Vec<Bytes> = part(false).collect();
    early.sort_unstable();
    let mut bounds: Vec<Bytes> =
        (1..REGIONS).filter_map(|nth| early.get(nth * early.len() / REGIONS).cloned()).collect();
    bounds.dedup();
    busiest(&bounds, &part(true).collect::<Vec<_>>())
}

/// Returns the share of the value of the field that the verdict names, which regions part only if
/// they are divided there.
fn hottest_prefix(schema: &KeySchema, keys: &[(bool, Bytes)], verdict: &LoadVerdict) -> f64 {
    let field = match &verdict.cause {
        LoadCause::FewValues { field, .. } => field,
        LoadCause::HotPrefix { prefix } | LoadCause::Burst { prefix, .. } => match &prefix.field {
            Some(field) => field,
            None => return 0.0,
        },
        _ => return 0.0,
    };
    let counted: Vec<&Bytes> = keys.iter().filter(|it| it.0).map(|it| &it.1).collect();
    let mut values: Vec<String> =
        counted.iter().map(|key| schema.decode(key).unwrap()[&field[..]].to_string()).collect();
    values.sort_unstable();
    let most = values.chunk_by(|one, other| one == other).map(<[String]>::len).max();
    most.unwrap_or(0) as f64 / counted.len().max(1) as f64
}

fn busiest(bounds: &[Bytes], keys: &[Bytes]) -> f64 {
    let mut loads = vec![0usize; bounds.len() + 1];
    keys.iter().for_each(|key| loads[bounds.partition_point(|bound| bound <= key)] += 1);
    loads.into_iter().max().unwrap_or(0) as f64 / keys.len().max(1) as f64
}
