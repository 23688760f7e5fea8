//! What to merge: one pure function of the files and the policy.
//!
//! It begins with that of Apache HBase (`ExploringCompactionPolicy`): of all runs of neighbours whose
//! files are of about one size it takes the one that does away with the most files. It goes further in what it
//! counts. Two files without a row in common cost a reader no more than one, so files are merged where enough of them
//! have a row between them: keys that begin with the time are hardly merged at all. Files of a family with a TTL are
//! merged with others of their time, so that they expire as a whole. And where two fifths of what is stored are
//! there for nothing, all files are merged, whatever their sizes. `docs/PERFORMANCE.md` has what that gains.
//!
//! Neighbours only: the sequences of the files of a (region, family) do not overlap, so a file's place says how old
//! its cells are. A merge over a gap would make a file that is older and newer than the one in the
//! gap, and where "the oldest files" end could no longer be said.

use std::ops::Range;

use rowhouse_model::CompactionState;

use super::Policy;
use super::overlap::{files_over_one_row, read_amplification};

/// What is known of a file without reading it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct FileFacts<'a> {
    pub(crate) id: u64,
    /// Bytes.
    pub(crate) len: u64,
    pub(crate) first_row: &'a [u8],
    pub(crate) last_row: &'a [u8],
    pub(crate) timestamp_min: i64,
    pub(crate) timestamp_max: i64,
    /// When it was written; 0 when that is not known.
    pub(crate) created_millis: i64,
    pub(crate) cells: u64,
    /// What of it may be there for nothing; `None` when that was not counted.
    pub(crate) surplus: Option<Surplus>,
    /// Whether it came of a merge that dropped what nobody can see.
    pub(crate) major: bool,
    /// Whether it has rows of other regions: it came of a region that was split.
    pub(crate) wider: bool,
}

/// Cells of a file that a merge of all files may drop.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Surplus {
    /// Delete markers.
    pub(crate) markers: u64,
    /// Puts and markers behind another cell of the same column.
    pub(crate) behind: u64,
}

/// What a merge may drop, in the words of HBase.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum CompactionKind {
    /// Merges some files into one and drops what no read can show any more, and surplus versions (decision 0050).
    Minor,
    /// Merges all files into one and drops deleted and surplus cells, then the delete markers. Merges of some
    /// files that nobody asked for do the same with rows that no other file can have.
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

/// The files, and what matters in choosing beside them.
#[derive(Clone, Debug)]
pub(crate) struct Situation<'a> {
    /// Oldest first.
    pub(crate) files: &'a [FileFacts<'a>],
    /// How many of them are being merged, or older than one that is: these are not for choice.
    pub(crate) busy: usize,
    pub(crate) now_millis: i64,
    /// Cells below this timestamp are seen by nobody any more; `i64::MIN` when none are.
    pub(crate) unexpired_from: i64,
    /// Whether a major merge drops every marker, and what is behind another cell of its column.
    pub(crate) drops: Drops,
    /// What somebody asked for.
    pub(crate) asked: Option<CompactionKind>,
}

/// What a major merge of a family drops for certain.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Drops {
    /// Delete markers: the family does not keep deleted cells.
    pub(crate) markers: bool,
    /// What is behind the newest cell of a column: the family keeps one version.
    pub(crate) behind: bool,
}

/// What to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Choice {
    /// Leave the files as they are.
    Nothing,
    /// Remove these files unread: every cell in them has expired.
    DropExpired(Vec<usize>),
    /// Merge this run of files.
    Merge(Range<usize>, CompactionKind),
}

/// What is there for nothing, of all cells, from which on all files are merged.
const SURPLUS_SHARE: f64 = 0.4;

/// So many files more than a merge takes at least have to be there for that: fewer are soon merged by size.
const SURPLUS_FILES_MORE: usize = 2;

/// What has expired of a file since it was written from which on it is written anew by itself, if it is one of
/// the larger ones.
const EXPIRED_SHARE: f64 = 0.5;
const EXPIRED_FILE_SHARE: u64 = 8;

/// Files of one time, in parts of the TTL: those of a run are no further apart.
const TTL_PARTS: i64 = 2;

/// Chooses.
pub(crate) fn choose(situation: &Situation<'_>, policy: &Policy) -> Choice {
    let (files, busy) = (situation.files, situation.busy);
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
    let asked_major = situation.asked == Some(CompactionKind::Major);
    if busy == 0 && (asked_major || is_major_due(situation, policy)) {
        return Choice::Merge(0..files.len(), CompactionKind::Major);
    }
    if busy == 0
        && let Some(first) = files.iter().position(|file| file.wider)
    {
        // What a split left is written anew before anything else, so that what the others have in it
        // can go.
        let behind = files.iter().rposition(|file| file.wider).map_or(first, |last| last + 1);
        return merge(files, first..behind);
    }
    match situation.asked {
        // As HBase would, whoever asks.
        Some(_) => choose_run(files, busy, policy, |run, _| Some(run.len())),
        // Files are merged only when asked for.
        None if policy.files_min > policy.files_max => Choice::Nothing,
        None => choose_unasked(situation, policy),
    }
}

fn choose_unasked(situation: &Situation<'_>, policy: &Policy) -> Choice {
    let (files, busy) = (situation.files, situation.busy);
    let enough = busy == 0 && files.len() >= policy.files_min.saturating_add(SURPLUS_FILES_MORE);
    let cells: u64 = files.iter().map(|file| file.cells).sum();
    let surplus: u64 = files.iter().map(|file| surplus_of(file, situation.drops)).sum();
    if enough && surplus > 0 && surplus as f64 >= cells as f64 * SURPLUS_SHARE {
        return Choice::Merge(0..files.len(), CompactionKind::Major);
    }
    let bytes: u64 = files.iter().map(|file| file.len).sum();
    let is_half_expired = |file: &FileFacts<'_>| {
        file.len.saturating_mul(EXPIRED_FILE_SHARE) >= bytes
            && expired_share(file, situation) >= EXPIRED_SHARE
    };
    if let Some(at) = files[busy..].iter().position(is_half_expired) {
        return merge(files, busy + at..busy + at + 1);
    }
    let crowded = files.len() >= policy.files_blocking.saturating_mul(4);
    let apart_max =
        (files_over_one_row(files) < policy.files_max).then(|| time_apart_max(situation)).flatten();
    let gain = |run: Range<usize>, bytes: u64| {
        let run_files = &files[run];
        // Small files cost more than merging them, whatever their rows and times.
        if crowded || bytes < policy.bytes_min {
            return Some(run_files.len());
        }
        let together = apart_max.is_none_or(|max| time_apart(run_files, situation) <= max);
        let files_over_one_row = files_over_one_row(run_files);
        // Files that hardly share rows with the others are not taken along for their number.
        let worth =
            files_over_one_row >= policy.files_min && run_files.len() <= 2 * files_over_one_row;
        (together && worth).then_some(run_files.len())
    };
    choose_run(files, busy, policy, gain)
}

/// The best run behind the first `busy` files by what it gains, if it does away with enough.
fn choose_run(
    files: &[FileFacts<'_>],
    busy: usize,
    policy: &Policy,
    gain: impl Fn(Range<usize>, u64) -> Option<usize>,
) -> Choice {
    let run = explore(files, busy, policy, gain);
    if run.len() < policy.files_min { Choice::Nothing } else { merge(files, run) }
}

/// A merge of `run`, major when nothing is left outside that could hold what a marker covers.
fn merge(files: &[FileFacts<'_>], run: Range<usize>) -> Choice {
    let all = run.len() == files.len();
    Choice::Merge(run, if all { CompactionKind::Major } else { CompactionKind::Minor })
}

/// Whether the oldest file was written so long ago that all are to be merged.
fn is_major_due(situation: &Situation<'_>, policy: &Policy) -> bool {
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
    // Another merge would change nothing where every file is whole for its rows, unless cells have expired since.
    let is_whole = |file: &FileFacts<'_>| {
        file.timestamp_min >= situation.unexpired_from
            && (file.major || file.surplus == Some(Surplus::default()))
    };
    match files {
        [file] => !file.major || file.timestamp_min < situation.unexpired_from,
        _ => files_over_one_row(files) > 1 || !files.iter().all(is_whole),
    }
}

/// The period, longer or shorter by up to the jitter. The same for the same oldest file, so that
/// reopening the store does not make all merges due at once, or none.
fn jittered_period(policy: &Policy, seed: u64) -> i64 {
    // The finalizer of MurmurHash3: neighbouring ids give unlike numbers.
    let mut hash = seed;
    hash = (hash ^ (hash >> 33)).wrapping_mul(0xff51_afd7_ed55_8ccd);
    hash = (hash ^ (hash >> 33)).wrapping_mul(0xc4ce_b9fe_1a85_ec53);
    hash ^= hash >> 33;
    // From -1 to 1.
    let fraction = (hash >> 11) as f64 / (1u64 << 52) as f64 - 1.0;
    let period = policy.major_period_millis;
    period.saturating_add((period as f64 * policy.major_jitter * fraction) as i64)
}

/// About how many cells of a file a major merge would drop. What came of one has none that can be dropped.
fn surplus_of(file: &FileFacts<'_>, drops: Drops) -> u64 {
    let Some(surplus) = file.surplus.filter(|_| !file.major) else { return 0 };
    // A marker goes with what it covers.
    let markers = if drops.markers { surplus.markers.saturating_mul(2) } else { 0 };
    let behind = if drops.behind { surplus.behind } else { 0 };
    markers.saturating_add(behind).min(file.cells)
}

/// The first timestamp of a file that was not expired when it was written. Merges drop what is before, and a file
/// with markers over older cells gives 0 for its least timestamp.
fn unexpired_at_creation(file: &FileFacts<'_>, situation: &Situation<'_>) -> i64 {
    let age = situation.now_millis.saturating_sub(file.created_millis).max(0);
    file.timestamp_min.max(situation.unexpired_from.saturating_sub(age))
}

/// About what share of a file has expired since it was written, if its timestamps are spread evenly.
fn expired_share(file: &FileFacts<'_>, situation: &Situation<'_>) -> f64 {
    let from = unexpired_at_creation(file, situation);
    if situation.unexpired_from <= from {
        return 0.0;
    }
    let expired = situation.unexpired_from.saturating_sub(from) as f64;
    expired / (file.timestamp_max.saturating_sub(from) as f64 + 1.0)
}

/// How far apart the timestamps of the files of a run may be: `None` in a family without a TTL.
fn time_apart_max(situation: &Situation<'_>) -> Option<i64> {
    let expires = situation.unexpired_from != i64::MIN;
    expires.then(|| situation.now_millis.saturating_sub(situation.unexpired_from) / TTL_PARTS)
}

fn time_apart(run: &[FileFacts<'_>], situation: &Situation<'_>) -> i64 {
    let first = run.iter().map(|file| unexpired_at_creation(file, situation)).min().unwrap_or(0);
    let last = run.iter().map(|file| file.timestamp_max).max().unwrap_or(0);
    last.saturating_sub(first)
}

/// The run of neighbours behind the first `busy` files that gains the most; empty when none will do.
fn explore(
    files: &[FileFacts<'_>],
    busy: usize,
    policy: &Policy,
    gain: impl Fn(Range<usize>, u64) -> Option<usize>,
) -> Range<usize> {
    // Older files that have outgrown merging.
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
            // Files of about one size: none has more bytes than the others together, times the
            // ratio. That the largest does not is enough.
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
        // Writers wait for this store: any merge is better than none.
        Some(smallest) if best.run.is_empty() && is_stuck => smallest.run,
        _ => best.run,
    }
}

/// A run that could be merged.
#[derive(Default)]
struct Candidate {
    run: Range<usize>,
    bytes: u64,
    /// Files that it does away with, and one.
    gain: usize,
}

impl Candidate {
    /// Whether it is to be taken rather than `best`: it does away with more files, or with as many
    /// for fewer bytes; where writers wait, with more files a byte.
    fn is_better_than(&self, best: &Self, is_stuck: bool) -> bool {
        if is_stuck && best.bytes > 0 && self.bytes > 0 {
            // By a margin: of nearly equal runs the older, shorter one.
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
