//! What may explain a load. Each hypothesis has a statistic of the sample, which is a share, and a
//! threshold for it; the confidence is how likely the whole load's share is above the threshold.

use std::collections::BTreeSet;

use rowhouse_model::Bytes;

use super::evidence::{Evidence, Group};
use super::placement::uneven_placement;
use super::{CONFIDENCE_MIN, HotPrefix, LoadCause};

/// The share that makes a row hot.
const ROW_SHARE: f64 = 0.1;
/// Another cause is reported in place of a hot row if it accounts for so many times as much.
const ROW_PRECEDENCE: f64 = 3.0;
/// Keys grow if at least this share of the requests is beyond most earlier ones. Of keys in random
/// order a fifth is there.
const GROWING_SHARE: f64 = 0.5;
/// The part of the earlier requests beyond which later keys are counted. Requests of a growing
/// field may come late and out of order.
const EARLIER_SHARE: f64 = 0.8;
/// A field grows in steps if this share of the pairs with different values is in order, there are
/// so many values, and none has more than this share.
const STEP_ORDER_SHARE: f64 = 0.9;
const STEPS_MIN: usize = 3;
const STEP_SHARE_MAX: f64 = 0.8;
/// Requests of which all pairs are compared.
const PAIRED_MAX: usize = 256;
/// A load that is at each time in one of these many key ranges by more than this share moves.
const MOVING_BINS: usize = 16;
const MOVING_TIME: usize = 24;
const MOVING_SHARE: f64 = 0.6;
/// How many first-field values count as few, and the share that they have.
const FEW_VALUES: usize = 4;
const FEW_VALUES_SHARE: f64 = 0.8;
/// The share that makes a beginning of keys hot. The beginnings that a computed field makes have
/// equal shares otherwise; one of them must have more than this many times as much.
const PREFIX_SHARE: f64 = 0.3;
const COMPUTED_EXCESS: f64 = 2.0;
/// Without a template a beginning is hot only beside so many others, of which none has more than a
/// third of its load, or if it has half of the load.
const SIBLINGS_MIN: usize = 8;
const PLAIN_EXCESS: usize = 3;
const PLAIN_PREFIX_SHARE: f64 = 0.5;
/// A burst: this part of a beginning's requests comes in this part of the time, has at least this
/// share of the load then, and at most this part of that share otherwise. It has so many requests
/// of the sample, and this share.
const BURST_PART: f64 = 0.8;
const BURST_TIME: f64 = 0.3;
const BURST_SHARE_THEN: f64 = 0.4;
const BURST_REST: f64 = 0.25;
const BURST_REQUESTS_MIN: usize = 12;
const BURST_SHARE: f64 = 0.05;
/// Bounds are unfit if a region has more than this many times its part of the load, at least the
/// first of these shares; from the second on with any number of regions. Likewise the placement if
/// a server has.
const UNFIT_EXCESS: f64 = 2.5;
const UNFIT_SHARE: f64 = 0.3;
const UNFIT_SHARE_MAX: f64 = 0.9;
/// Regions that divide the load: so many, and none has more than this many times its part.
const DIVIDED_REGIONS: usize = 4;
const DIVIDED_EXCESS: f64 = 2.0;

/// A cause, and how well it is supported.
#[derive(Clone, Debug)]
pub(super) struct Hypothesis {
    pub(super) cause: LoadCause,
    pub(super) share: f64,
    pub(super) confidence: f64,
    /// The largest share of keys with one beginning.
    pub(super) prefix_share: f64,
    /// The first and last time of a burst.
    pub(super) window: Option<(i64, i64)>,
}

impl Hypothesis {
    /// Makes a hypothesis with a share that was estimated from `count` requests.
    pub(super) fn new(cause: LoadCause, share: f64, threshold: f64, count: usize) -> Self {
        let confidence = confidence(share, threshold, count);
        Self { cause, share, confidence, prefix_share: share, window: None }
    }

    /// Returns true for few values of which there is more than one.
    fn is_of_several(&self) -> bool {
        matches!(&self.cause, LoadCause::FewValues { values, .. } if values.len() > 1)
    }

    fn is_supported(&self) -> bool {
        self.confidence >= CONFIDENCE_MIN
    }
}

/// Returns how likely the share of the whole load is above a threshold.
fn confidence(share: f64, threshold: f64, count: usize) -> f64 {
    // At the threshold; a share of 1 has no deviation.
    let deviation = (threshold * (1.0 - threshold) / count as f64).sqrt().max(0.01);
    let distance = (share - threshold) / deviation;
    // The logistic function is within 0.01 of the normal distribution's.
    (1.0 / (1.0 + (-1.702 * distance).exp())).clamp(0.01, 0.99)
}

/// Returns the best supported cause. The error is the name of a cause about which the sample does
/// not decide, and how large the sample is.
pub(super) fn choose(
    evidence: &Evidence<'_>,
    region_share: Option<f64>,
) -> Result<Hypothesis, (&'static str, usize)> {
    let regions = evidence.profile.regions.len();
    let is_divided = regions >= DIVIDED_REGIONS
        && region_share.is_some_and(|share| share <= DIVIDED_EXCESS / regions as f64);
    let row = one_row(evidence);
    let mut others: Vec<Hypothesis> = growing(evidence).into_iter().collect();
    let growth = others.first().map_or(0.0, |growing| growing.confidence);
    if growth < CONFIDENCE_MIN {
        others.extend(burst(evidence));
        // Regions that part a value, and one beginning from the others, divide the load.
        let few = few_values(evidence);
        let is_few = |few: &Hypothesis| few.is_of_several() && few.is_supported();
        let hot = if few.as_ref().is_some_and(is_few) { None } else { hot_prefix(evidence) };
        // A value that all keys have is less than one beginning of these keys.
        let concentrated = hot.into_iter().chain(few);
        others.extend(concentrated.filter(|_| !is_divided));
        others.extend(moving(evidence));
        others.extend(unfit_bounds(evidence, region_share));
        others.extend(uneven_placement(evidence));
    }
    let best = others.iter().find(|it| it.is_supported());
    let is_hot = |row: &Hypothesis| {
        let others = best.map_or(0.0, |best| best.share);
        row.is_supported() && (row.share >= 0.5 || others < ROW_PRECEDENCE * row.share)
    };
    if let Some(row) = row.iter().find(|row| is_hot(row)) {
        return Ok(row.clone());
    }
    if let Some(best) = best {
        return Ok(best.clone());
    }
    others.extend(row);
    let most = others.iter().max_by(|one, other| one.confidence.total_cmp(&other.confidence));
    match most {
        Some(most) if most.confidence > 1.0 - CONFIDENCE_MIN => {
            Err((most.cause.name(), evidence.count()))
        }
        most => Ok(Hypothesis {
            cause: LoadCause::Even,
            share: region_share.unwrap_or(1.0),
            confidence: 1.0 - most.map_or(0.01, |most| most.confidence),
            prefix_share: 0.0,
            window: None,
        }),
    }
}

fn one_row(evidence: &Evidence<'_>) -> Option<Hypothesis> {
    let hypothesis = |row: &Bytes, share, count| {
        let cause = LoadCause::OneRow { row: row.clone(), text: evidence.text(row) };
        Hypothesis::new(cause, share, ROW_SHARE, count)
    };
    let profile = evidence.profile;
    let mut groups = evidence.rows().into_iter();
    // Rows that were cut may be several; of those the sketch of hot rows knows more.
    let sampled = groups.find(|group| evidence.row(group[0]).len() < super::ROW_BYTES_MAX);
    let sampled = sampled.map(|group| {
        hypothesis(evidence.row(group[0]), evidence.share(group.len()), evidence.count())
    });
    let counts_most = profile.rows_total >= profile.total / 2;
    let counted = profile.rows.first().filter(|_| counts_most).map(|hot| {
        let share = (hot.load as f64 / profile.rows_total.max(1) as f64).min(1.0);
        hypothesis(&hot.row, share, profile.rows_total.min(10_000) as usize)
    });
    match (sampled, counted) {
        (Some(sampled), Some(counted)) if counted.share > ROW_SHARE => {
            Some(if counted.share >= sampled.share / 2.0 { counted } else { sampled })
        }
        (sampled, counted) => sampled.or(counted),
    }
}

fn growing(evidence: &Evidence<'_>) -> Option<Hypothesis> {
    let members = &evidence.members;
    if evidence.level >= evidence.levels || members.len() < evidence.count() / 2 {
        return None;
    }
    let field = evidence.stored_level(evidence.level).and_then(|level| evidence.field(level));
    let field = field.map(str::to_owned);
    let cause = |is_falling| LoadCause::Growing { field: field.clone(), is_falling };
    if let Some(is_falling) = grows_in_steps(evidence, STEPS_MIN, STEP_SHARE_MAX) {
        let share = evidence.share(members.len());
        return Some(Hypothesis::new(cause(is_falling), share, GROWING_SHARE, members.len()));
    }
    // The digits of a time may be several parts of a key without a template.
    let is_parted = evidence.schema.is_none() && grows_in_steps(evidence, 2, 1.0).is_some();
    let [below, beyond] = frontier(evidence, if is_parted { usize::MAX } else { evidence.level });
    let is_falling = below > beyond;
    let share = evidence.share(below.max(beyond));
    Some(Hypothesis::new(cause(is_falling), share, GROWING_SHARE, evidence.count()))
}

/// Returns how many keys, up to the end of a part, are below most earlier ones, and how many are
/// beyond. Those at the beginning, before which there are few, count as the others.
fn frontier(evidence: &Evidence<'_>, level: usize) -> [usize; 2] {
    let members = &evidence.members;
    let first = (members.len() / 8).max(16);
    let mut earlier: Vec<&[u8]> = Vec::with_capacity(members.len());
    let [mut below, mut beyond] = [0; 2];
    for (nth, &at) in members.iter().enumerate() {
        let row = evidence.prefix(at, level);
        if nth >= first {
            let inner = (earlier.len() as f64 * EARLIER_SHARE) as usize;
            beyond += usize::from(row > earlier[inner.min(earlier.len() - 1)]);
            below += usize::from(row < earlier[earlier.len() - 1 - inner.min(earlier.len() - 1)]);
        }
        let place = earlier.partition_point(|before| *before < row);
        earlier.insert(place, row);
    }
    let counted = members.len().saturating_sub(first).max(1);
    [below, beyond].map(|count| count * members.len() / counted)
}

/// Returns true if the values of the first varying part fall in steps, and false if they rise in
/// steps. Returns `None` if they do neither, have fewer steps, or one step has a larger share.
fn grows_in_steps(evidence: &Evidence<'_>, steps_min: usize, step_share_max: f64) -> Option<bool> {
    let groups = evidence.groups(&evidence.members, evidence.level);
    let largest = groups[0].len() as f64 / evidence.members.len() as f64;
    if groups.len() < steps_min || largest > step_share_max {
        return None;
    }
    let step = evidence.members.len().div_ceil(PAIRED_MAX);
    let members = evidence.members.iter().step_by(step);
    let parts: Vec<&[u8]> = members.map(|&at| evidence.prefix(at, evidence.level)).collect();
    let [mut rising, mut falling] = [0u32; 2];
    for (nth, early) in parts.iter().enumerate() {
        for late in &parts[nth + 1..] {
            rising += u32::from(early < late);
            falling += u32::from(early > late);
        }
    }
    let all = f64::from(rising + falling);
    let most = f64::from(rising.max(falling));
    (most >= all * STEP_ORDER_SHARE && all > 0.0).then_some(falling > rising)
}

/// Returns a hypothesis that is neither supported nor rejected if the load is at each time in few
/// keys, and those move in no order.
fn moving(evidence: &Evidence<'_>) -> Option<Hypothesis> {
    let mut rows: Vec<&[u8]> = evidence.members.iter().map(|&at| &evidence.row(at)[..]).collect();
    let in_time = rows.clone();
    rows.sort_unstable();
    let bounds: BTreeSet<&[u8]> =
        (1..MOVING_BINS).map(|nth| rows[nth * rows.len() / MOVING_BINS]).collect();
    if bounds.len() < MOVING_BINS - 1 {
        return None;
    }
    let bounds: Vec<&[u8]> = bounds.into_iter().collect();
    let times = in_time.chunks_exact(MOVING_TIME);
    let count = times.len();
    let most_in_one = |rows: &[&[u8]]| {
        let mut bins = [0u32; MOVING_BINS];
        rows.iter().for_each(|row| bins[bounds.partition_point(|bound| bound <= row)] += 1);
        f64::from(bins.into_iter().max().unwrap_or(0)) / MOVING_TIME as f64
    };
    let mean = times.map(most_in_one).sum::<f64>() / count.max(1) as f64;
    (mean >= MOVING_SHARE).then(|| {
        let cause = LoadCause::Growing { field: None, is_falling: false };
        let undecided = Hypothesis::new(cause, mean, mean, evidence.count());
        Hypothesis { share: 0.0, ..undecided }
    })
}

fn few_values(evidence: &Evidence<'_>) -> Option<Hypothesis> {
    let level = evidence.stored_level(0)?;
    let field = evidence.field(level)?;
    let cause = |values: Vec<&Group>| {
        let values = values.iter().filter_map(|group| evidence.value(group[0], field));
        LoadCause::FewValues { field: field.to_owned(), values: values.collect() }
    };
    let count = evidence.count();
    if level < evidence.level {
        let share = evidence.share(evidence.members.len());
        let cause = cause(vec![&evidence.members]);
        return Some(Hypothesis::new(cause, share, FEW_VALUES_SHARE, count));
    }
    // A computed field before it spreads the values.
    if level > evidence.level {
        return None;
    }
    let groups = evidence.groups(&evidence.members, level);
    let least = evidence.count() as f64 / 20.0;
    let least = least.max(groups[0].len() as f64 / 4.0);
    let large = groups.iter().filter(|group| group.len() as f64 >= least);
    let few: Vec<&Group> =
        if groups.len() <= FEW_VALUES { groups.iter().collect() } else { large.collect() };
    if !(2..=FEW_VALUES).contains(&few.len()) {
        return None;
    }
    let share = evidence.share(few.iter().map(|group| group.len()).sum());
    let hypothesis = Hypothesis::new(cause(few), share, FEW_VALUES_SHARE, count);
    let prefix_share = evidence.share(groups[0].len());
    // Otherwise one of them may be hot beside many others.
    let is_hot = hypothesis.confidence > 1.0 - CONFIDENCE_MIN;
    is_hot.then_some(Hypothesis { prefix_share, ..hypothesis })
}

fn hot_prefix(evidence: &Evidence<'_>) -> Option<Hypothesis> {
    let level = evidence.level;
    if level >= evidence.levels {
        return None;
    }
    let groups = evidence.groups(&evidence.members, level);
    let largest = &groups[0];
    let share = evidence.share(largest.len());
    let threshold = match (evidence.schema, evidence.computed_values(level)) {
        (_, Some(values)) => PREFIX_SHARE.max(COMPUTED_EXCESS / f64::from(values)).min(0.95),
        (Some(_), None) => PREFIX_SHARE,
        (None, None) => {
            let second = groups.get(1).map_or(0, Vec::len);
            if groups.len() <= SIBLINGS_MIN || largest.len() < PLAIN_EXCESS * second {
                PLAIN_PREFIX_SHARE.max(1.5 * evidence.share(second))
            } else {
                PREFIX_SHARE
            }
        }
    };
    let prefix = prefix_of(evidence, largest, level);
    let cause = LoadCause::HotPrefix { prefix };
    Some(Hypothesis::new(cause, share, threshold, evidence.count()))
}

/// Names the beginning that the keys of a group have up to the end of a part.
fn prefix_of(evidence: &Evidence<'_>, group: &Group, level: usize) -> HotPrefix {
    let first = group[0];
    let plain = |level| {
        let value = evidence.text(evidence.prefix(first, level));
        HotPrefix { field: None, value }
    };
    if evidence.schema.is_none() {
        let all_share = |level: &usize| {
            let start = evidence.prefix(first, *level);
            group.iter().all(|&at| evidence.row(at).starts_with(start))
        };
        let longest = (level..evidence.levels).take_while(all_share).last();
        return plain(longest.unwrap_or(level));
    }
    // A bucket is hot because one value in it is.
    let Some(stored) = evidence.stored_level(level) else { return plain(level) };
    let values = evidence.groups(group, stored);
    let busiest = &values[0];
    let field = evidence.field(stored).filter(|_| busiest.len() * 2 >= group.len());
    match field.and_then(|field| Some((field, evidence.value(busiest[0], field)?))) {
        Some((field, value)) => HotPrefix { field: Some(field.to_owned()), value },
        None => plain(level),
    }
}

fn burst(evidence: &Evidence<'_>) -> Option<Hypothesis> {
    let level = evidence.level;
    if level >= evidence.levels {
        return None;
    }
    // A value in a bucket is more of a burst than the bucket.
    let stored = evidence.stored_level(level).unwrap_or(level);
    let levels = if stored > level { vec![stored, level] } else { vec![level] };
    levels.into_iter().find_map(|level| {
        let groups = evidence.groups(&evidence.members, level);
        let large = groups.iter().take_while(|group| {
            group.len() >= BURST_REQUESTS_MIN && evidence.share(group.len()) >= BURST_SHARE
        });
        large.filter_map(|group| burst_of(evidence, group, level)).next()
    })
}

/// Returns the burst of a group, if most of it came in a short time.
fn burst_of(evidence: &Evidence<'_>, group: &Group, level: usize) -> Option<Hypothesis> {
    let time = |at: &usize| evidence.request(*at).at_millis;
    let mut times: Vec<i64> = group.iter().map(time).collect();
    times.sort_unstable();
    let part = (times.len() as f64 * BURST_PART).ceil() as usize;
    let windows = times.windows(part).map(|times| (times[0], times[part - 1]));
    let (start, stop) = windows.min_by_key(|(start, stop)| stop - start)?;
    let mut all: Vec<i64> = (0..evidence.count()).map(|at| time(&at)).collect();
    all.sort_unstable();
    let span = all[all.len() - 1] - all[0];
    let within = all.iter().filter(|time| (start..=stop).contains(*time)).count();
    let own = times.iter().filter(|time| (start..=stop).contains(*time)).count();
    let share_then = own as f64 / within as f64;
    let rest = (times.len() - own) as f64 / (all.len() - within).max(1) as f64;
    let is_short = (stop - start) as f64 <= span as f64 * BURST_TIME;
    if !is_short || share_then < BURST_SHARE_THEN || rest > share_then * BURST_REST {
        return None;
    }
    let prefix = prefix_of(evidence, group, level);
    let cause = LoadCause::Burst { prefix, length_millis: stop - start, share_then };
    let hypothesis = Hypothesis::new(cause, share_then, BURST_SHARE_THEN, within);
    let share = evidence.share(group.len());
    let window = Some((start, stop));
    Some(Hypothesis { share, prefix_share: share_then, window, ..hypothesis })
}

fn unfit_bounds(evidence: &Evidence<'_>, region_share: Option<f64>) -> Option<Hypothesis> {
    let share = region_share?;
    let regions = &evidence.profile.regions;
    if regions.len() < 2 {
        return None;
    }
    let threshold = excess_threshold(regions.len());
    let counts = evidence.profile.region_counts()?;
    let busiest = (0..regions.len()).max_by_key(|at| counts[*at])?;
    let start = evidence.text(&regions[busiest].start);
    let stop = evidence.text(&regions[busiest].stop);
    let cause = LoadCause::UnfitBounds { start, stop };
    let hypothesis = Hypothesis::new(cause, share, threshold, evidence.count());
    Some(Hypothesis { prefix_share: 0.0, ..hypothesis })
}

/// Returns the share above which one of so many regions or servers has too much of the load.
pub(super) fn excess_threshold(count: usize) -> f64 {
    (UNFIT_EXCESS / count as f64).clamp(UNFIT_SHARE, UNFIT_SHARE_MAX)
}
