//! Chooses the files to compact: one pure function of the files and the policy.
//!
//! It starts from Apache HBase's `ExploringCompactionPolicy`: among all runs of neighbouring files
//! of about the same size it takes the run that removes the most files. The measures differ. Two
//! files without a common row cost a reader no more than one, so files are compacted where enough
//! files overlap in one row: keys that begin with the time are hardly compacted at all. In a family
//! with a TTL, files are compacted with others from the same time, so that they expire as a whole.
//! And once two fifths of the stored cells are garbage, all files are compacted, whatever their
//! sizes. `bench/measurements.md` shows the gains.
//!
//! Only neighbours are compacted: sequence ranges do not overlap between a family's files, so a
//! file's position gives the age of the cells in it. A compaction across a gap would make a file
//! both older and newer than the one in the gap, and "the oldest files" would no longer be defined.

use std::ops::Range;

use rowhouse_model::CompactionState;

use super::Policy;
use super::overlap::{max_overlap, read_amplification};
use crate::store_file::{FileSummary, Surplus};

/// The compaction kind, in HBase's terms, which decides the cells that may be dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum CompactionKind {
    /// Merges some files into one and drops cells that no read can ever show, and surplus versions
    /// (decision 0050).
    Minor,
    /// Merges all files into one and drops deleted and surplus cells, then the delete markers. An
    /// unrequested compaction over some files does the same for rows that no other file can have.
    Major,
}

impl From<CompactionKind> for CompactionState {
    fn from(kind: CompactionKind) -> Self {
        match kind {
            CompactionKind::Minor => Self::Minor,
            CompactionKind::Major => Self::Major,
        }
    }
}

/// The compaction policy's input.
#[derive(Clone, Debug)]
pub(crate) struct PolicyInput<'a> {
    /// Oldest first.
    pub(crate) files: &'a [FileSummary<'a>],
    /// How many files are being compacted, or are older than one that is: these cannot be chosen.
    pub(crate) busy: usize,
    pub(crate) now_millis: i64,
    /// Cells below this timestamp have expired; `i64::MIN` if none expire.
    pub(crate) unexpired_from: i64,
    /// The cells that a major compaction drops for certain.
    pub(crate) drops: Drops,
    /// The compaction kind that was requested.
    pub(crate) requested: Option<CompactionKind>,
}

/// The cell kinds that a major compaction drops for certain in a family.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Drops {
    /// Delete markers: the family does not keep deleted cells.
    pub(crate) markers: bool,
    /// Cells after the newest one in their column: the family keeps one version.
    pub(crate) older_versions: bool,
}

/// The policy's decision.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Choice {
    /// Leave the files as they are.
    Nothing,
    /// Remove these files unread: all cells in them have expired.
    DropExpired(Vec<usize>),
    /// Compact this run of files.
    Merge(Range<usize>, CompactionKind),
}

/// The share of garbage among all cells from which all files are compacted.
const SURPLUS_SHARE: f64 = 0.4;

/// How many files beyond the policy's minimum such a compaction requires: fewer files are soon
/// compacted by size.
const SURPLUS_FILES_MORE: usize = 2;

/// A file is rewritten alone once this share has expired since it was written; and the fraction of
/// all bytes, one eighth, that the file must have.
const EXPIRED_SHARE: f64 = 0.5;
const EXPIRED_FILE_SHARE: u64 = 8;

/// The timestamps in a run may span at most the TTL divided by this.
const TTL_PARTS: i64 = 2;

/// Chooses the next compaction.
pub(crate) fn choose(situation: &PolicyInput<'_>, policy: &Policy) -> Choice {
    let files = situation.files;
    let busy = situation.busy;
    if !policy.enabled {
        return Choice::Nothing;
    }
    let expired: Vec<usize> = (busy..files.len())
        .filter(|&at| files[at].timestamp_max < situation.unexpired_from)
        .collect();
    if !expired.is_empty() {
        return Choice::DropExpired(expired);
    }
    if files.is_empty() {
        return Choice::Nothing;
    }
    let major_requested = situation.requested == Some(CompactionKind::Major);
    if busy == 0 && (major_requested || is_major_due(situation, policy)) {
        return Choice::Merge(0..files.len(), CompactionKind::Major);
    }
    if busy == 0
        && let Some(first) = files.iter().position(|file| file.wider)
    {
        // Rewrite the files a split left before anything else, so that the files shared with other
        // regions can be deleted.
        let end = files.iter().rposition(|file| file.wider).map_or(first, |last| last + 1);
        return merge(files, first..end);
    }
    match situation.requested {
        // A requested minor compaction is chosen as HBase would.
        Some(_) => choose_run(files, busy, policy, |run, _| Some(run.len())),
        // These settings allow only requested compactions.
        None if policy.files_min > policy.files_max => Choice::Nothing,
        None => choose_unrequested(situation, policy),
    }
}

fn choose_unrequested(situation: &PolicyInput<'_>, policy: &Policy) -> Choice {
    let files = situation.files;
    let busy = situation.busy;
    let enough = busy == 0 && files.len() >= policy.files_min.saturating_add(SURPLUS_FILES_MORE);
    let cells: u64 = files.iter().map(|file| file.cells).sum();
    let surplus: u64 = files.iter().map(|file| surplus_of(file, situation.drops)).sum();
    if enough && surplus > 0 && surplus as f64 >= cells as f64 * SURPLUS_SHARE {
        return Choice::Merge(0..files.len(), CompactionKind::Major);
    }
    let bytes: u64 = files.iter().map(|file| file.len).sum();
    let is_half_expired = |file: &FileSummary<'_>| {
        file.len.saturating_mul(EXPIRED_FILE_SHARE) >= bytes
            && expired_share(file, situation) >= EXPIRED_SHARE
    };
    if let Some(at) = files[busy..].iter().position(is_half_expired) {
        return merge(files, busy + at..busy + at + 1);
    }
    let crowded = files.len() >= policy.files_blocking.saturating_mul(4);
    let apart_max =
        (max_overlap(files) < policy.files_max).then(|| time_apart_max(situation)).flatten();
    let gain = |run: Range<usize>, bytes: u64| {
        let run_files = &files[run];
        // Small files cost more than compacting them, whatever their rows and times.
        if crowded || bytes < policy.bytes_min {
            return Some(run_files.len());
        }
        let together = apart_max.is_none_or(|max| time_apart(run_files, situation) <= max);
        let max_overlap = max_overlap(run_files);
        // Files that hardly overlap with the others are not included just for their number.
        let worth = max_overlap >= policy.files_min && run_files.len() <= 2 * max_overlap;
        (together && worth).then_some(run_files.len())
    };
    choose_run(files, busy, policy, gain)
}

/// Returns the run after the first `busy` files with the highest gain, if that is enough.
fn choose_run(
    files: &[FileSummary<'_>],
    busy: usize,
    policy: &Policy,
    gain: impl Fn(Range<usize>, u64) -> Option<usize>,
) -> Choice {
    let run = best_run(files, busy, policy, gain);
    if run.len() < policy.files_min { Choice::Nothing } else { merge(files, run) }
}

/// Returns a compaction over `run`; major if no other file remains that could hold cells covered by
/// the markers in the run.
fn merge(files: &[FileSummary<'_>], run: Range<usize>) -> Choice {
    let all = run.len() == files.len();
    Choice::Merge(run, if all { CompactionKind::Major } else { CompactionKind::Minor })
}

/// Whether the oldest file is old enough for a compaction of all files.
fn is_major_due(situation: &PolicyInput<'_>, policy: &Policy) -> bool {
    let files = situation.files;
    let oldest = files.iter().map(|file| file.created_millis).min().unwrap_or(0);
    if policy.major_period_millis <= 0 || oldest <= 0 || files.len() >= policy.files_max {
        return false;
    }
    if oldest >= situation.now_millis.saturating_sub(jittered_period(policy, files[0].id)) {
        return false;
    }
    if files.iter().any(|file| file.len > policy.bytes_max) {
        return false;
    }
    // If every file is complete for its rows, another compaction changes nothing, unless cells have
    // expired since.
    let is_whole = |file: &FileSummary<'_>| {
        file.timestamp_min >= situation.unexpired_from
            && (file.major || file.surplus == Some(Surplus::default()))
    };
    match files {
        [file] => !file.major || file.timestamp_min < situation.unexpired_from,
        _ => max_overlap(files) > 1 || !files.iter().all(is_whole),
    }
}

/// Returns the period, changed by up to the jitter in either direction. It depends only on the
/// oldest file, so that reopening the store does not make all compactions due at once, or none.
fn jittered_period(policy: &Policy, seed: u64) -> i64 {
    // The MurmurHash3 finalizer: neighbouring ids give unlike numbers.
    let mut hash = seed;
    hash = (hash ^ (hash >> 33)).wrapping_mul(0xff51_afd7_ed55_8ccd);
    hash = (hash ^ (hash >> 33)).wrapping_mul(0xc4ce_b9fe_1a85_ec53);
    hash ^= hash >> 33;
    // Between -1 and 1.
    let fraction = (hash >> 11) as f64 / (1u64 << 52) as f64 - 1.0;
    let period = policy.major_period_millis;
    period.saturating_add((period as f64 * policy.major_jitter * fraction) as i64)
}

/// Estimates how many cells in a file a major compaction would drop. A major compaction's output
/// has none.
fn surplus_of(file: &FileSummary<'_>, drops: Drops) -> u64 {
    let Some(surplus) = file.surplus.filter(|_| !file.major) else { return 0 };
    // A marker is dropped together with a cell it covers.
    let markers = if drops.markers { surplus.markers.saturating_mul(2) } else { 0 };
    let older_versions = if drops.older_versions { surplus.older_versions } else { 0 };
    markers.saturating_add(older_versions).min(file.cells)
}

/// Returns the first timestamp in a file that was not expired when the file was written.
/// Compactions drop older cells, and a file with markers over older cells reports 0 as its lowest
/// timestamp.
fn unexpired_at_creation(file: &FileSummary<'_>, situation: &PolicyInput<'_>) -> i64 {
    let age = situation.now_millis.saturating_sub(file.created_millis).max(0);
    file.timestamp_min.max(situation.unexpired_from.saturating_sub(age))
}

/// Estimates the share of a file that has expired since it was written, assuming evenly spread
/// timestamps.
fn expired_share(file: &FileSummary<'_>, situation: &PolicyInput<'_>) -> f64 {
    let from = unexpired_at_creation(file, situation);
    if situation.unexpired_from <= from {
        return 0.0;
    }
    let expired = situation.unexpired_from.saturating_sub(from) as f64;
    expired / (file.timestamp_max.saturating_sub(from) as f64 + 1.0)
}

/// Returns the maximum span between timestamps in a run, in milliseconds; `None` in a family
/// without a TTL.
fn time_apart_max(situation: &PolicyInput<'_>) -> Option<i64> {
    let expires = situation.unexpired_from != i64::MIN;
    expires.then(|| situation.now_millis.saturating_sub(situation.unexpired_from) / TTL_PARTS)
}

fn time_apart(run: &[FileSummary<'_>], situation: &PolicyInput<'_>) -> i64 {
    let first = run.iter().map(|file| unexpired_at_creation(file, situation)).min().unwrap_or(0);
    let last = run.iter().map(|file| file.timestamp_max).max().unwrap_or(0);
    last.saturating_sub(first)
}

/// Returns the run with the highest gain among neighbours after the first `busy` files; empty if
/// none qualifies.
fn best_run(
    files: &[FileSummary<'_>],
    busy: usize,
    policy: &Policy,
    gain: impl Fn(Range<usize>, u64) -> Option<usize>,
) -> Range<usize> {
    // Skip the oldest files that are too large to compact.
    let outgrown = files[busy..].iter().take_while(|file| file.len > policy.bytes_max).count();
    let first = busy + outgrown;
    let is_stuck = read_amplification(files) >= policy.files_blocking;
    let mut best = Candidate::default();
    let mut smallest: Option<Candidate> = None;
    for start in first..files.len() {
        let mut bytes = 0;
        let mut largest = 0;
        for stop in start + 1..=files.len().min(start.saturating_add(policy.files_max)) {
            let len = files[stop - 1].len;
            bytes += len;
            largest = largest.max(len);
            let run = start..stop;
            if run.len() < policy.files_min {
                continue;
            }
            if smallest.as_ref().is_none_or(|least| bytes < least.bytes) {
                smallest = Some(Candidate { run: run.clone(), bytes, gain: 0 });
            }
            if bytes > policy.bytes_max {
                break;
            }
            // Files of about the same size: none has more bytes than the others together, times the
            // ratio. Checking the largest is enough.
            let in_ratio = largest as f64 <= (bytes - largest) as f64 * policy.ratio;
            if bytes >= policy.bytes_min && !in_ratio {
                continue;
            }
            let Some(gain) = gain(run.clone(), bytes).filter(|gain| *gain >= policy.files_min)
            else {
                continue;
            };
            let candidate = Candidate { run, bytes, gain };
            if candidate.is_better_than(&best, is_stuck) {
                best = candidate;
            }
        }
    }
    match smallest {
        // Writers to this family are waiting: any compaction is better than none.
        Some(smallest) if best.run.is_empty() && is_stuck => smallest.run,
        _ => best.run,
    }
}

/// A run that could be compacted.
#[derive(Default)]
struct Candidate {
    run: Range<usize>,
    bytes: u64,
    /// How many files it removes, plus one.
    gain: usize,
}

impl Candidate {
    /// Whether it is better than `best`: it removes more files, or as many for fewer bytes; where
    /// writers wait, more files per byte.
    fn is_better_than(&self, best: &Self, is_stuck: bool) -> bool {
        if is_stuck && best.bytes > 0 && self.bytes > 0 {
            // Require a margin: among nearly equal runs take the older, shorter one.
            let quality = |candidate: &Self| candidate.gain as f64 / candidate.bytes as f64;
            return quality(best) * 1.05 < quality(self);
        }
        self.gain > best.gain || (self.gain == best.gain && self.bytes < best.bytes)
    }
}

#[cfg(test)]
mod simulation;
#[cfg(test)]
mod tests;
