//! What to merge: one pure function of the files and the policy.
//!
//! The policy is that of Apache HBase (`ExploringCompactionPolicy`): of all runs of neighbours whose
//! files are of about one size it takes the one that does away with the most files. Neighbours only:
//! the sequences of the files of a (region, family) do not overlap, so a file's place says how old
//! its cells are. A merge over a gap would make a file that is older and newer than the one in the
//! gap, and where "the oldest files" end could no longer be said.

use std::ops::Range;

use super::Policy;

/// What is known of a file without reading it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct FileFacts {
    pub(crate) id: u64,
    /// Bytes.
    pub(crate) len: u64,
    pub(crate) timestamp_min: i64,
    pub(crate) timestamp_max: i64,
    /// When it was written; 0 when that is not known.
    pub(crate) created_millis: i64,
    /// Whether it came of a merge of all files.
    pub(crate) major: bool,
    /// Whether it has rows of other regions: it came of a region that was split.
    pub(crate) wider: bool,
}

/// What a merge may drop, in the words of HBase.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum CompactionKind {
    /// Merges some files into one. Reads never show whether it has run.
    Minor,
    /// Merges all files into one and drops deleted and surplus cells, then the delete markers.
    Major,
}

/// The files, and what matters in choosing beside them.
#[derive(Clone, Debug)]
pub(crate) struct Situation<'a> {
    /// Oldest first.
    pub(crate) files: &'a [FileFacts],
    pub(crate) now_millis: i64,
    /// Cells below this timestamp are seen by nobody any more; `i64::MIN` when none are.
    pub(crate) unexpired_from: i64,
    /// What somebody asked for.
    pub(crate) asked: Option<CompactionKind>,
}

/// What to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Choice {
    /// Leave the files as they are.
    Nothing,
    /// Remove these files unread: every cell in them has expired.
    DropExpired(Vec<usize>),
    /// Merge this run of files, and no longer than that: some others stay.
    Minor(Range<usize>),
    /// Merge all files.
    Major,
}

/// Chooses.
pub(crate) fn choose(situation: &Situation<'_>, policy: &Policy) -> Choice {
    let files = situation.files;
    if !policy.enabled {
        return Choice::Nothing;
    }
    let expired: Vec<usize> =
        (0..files.len()).filter(|&at| files[at].timestamp_max < situation.unexpired_from).collect();
    if !expired.is_empty() {
        return Choice::DropExpired(expired);
    }
    if files.is_empty() {
        return Choice::Nothing;
    }
    if situation.asked == Some(CompactionKind::Major) || is_major_due(situation, policy) {
        return Choice::Major;
    }
    let run = match files.iter().position(|file| file.wider) {
        // What a split left is written anew before anything else, so that what the others have in it
        // can go.
        Some(first) => {
            let behind = files.iter().rposition(|file| file.wider).map_or(first, |last| last + 1);
            first..behind
        }
        None => match explore(files, policy) {
            run if run.len() < policy.files_min => return Choice::Nothing,
            run => run,
        },
    };
    match run {
        // Nothing is left outside that could hold what a marker covers.
        run if run.len() == files.len() => Choice::Major,
        run => Choice::Minor(run),
    }
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
    match files {
        // Another merge of it would change nothing, unless cells have expired since.
        [file] => !file.major || file.timestamp_min < situation.unexpired_from,
        _ => true,
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

/// The best run of neighbours; empty when no run will do.
fn explore(files: &[FileFacts], policy: &Policy) -> Range<usize> {
    // Older files that have outgrown merging.
    let first = files.iter().take_while(|file| file.len > policy.bytes_max).count();
    let is_stuck = files.len() >= policy.files_blocking;
    let mut best = 0..0;
    let mut best_bytes = 0;
    let mut smallest: Option<(u64, Range<usize>)> = None;
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
            if smallest.as_ref().is_none_or(|(least, _)| bytes < *least) {
                smallest = Some((bytes, run.clone()));
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
            if is_better(&run, bytes, &best, best_bytes, is_stuck) {
                best = run;
                best_bytes = bytes;
            }
        }
    }
    match smallest {
        // Writers wait for this store: any merge is better than none.
        Some((_, smallest)) if best.is_empty() && is_stuck => smallest,
        _ => best,
    }
}

/// Whether `run` is to be taken rather than `best`: it does away with more files, or with as many
/// for fewer bytes; where writers wait, with more files a byte.
fn is_better(
    run: &Range<usize>,
    bytes: u64,
    best: &Range<usize>,
    best_bytes: u64,
    is_stuck: bool,
) -> bool {
    if is_stuck && best_bytes > 0 && bytes > 0 {
        // By a margin: of nearly equal runs the older, shorter one.
        let quality = |run: &Range<usize>, bytes: u64| run.len() as f64 / bytes as f64;
        return quality(best, best_bytes) * 1.05 < quality(run, bytes);
    }
    run.len() > best.len() || (run.len() == best.len() && bytes < best_bytes)
}

#[cfg(test)]
mod tests {
    use std::fmt;

    use super::*;
    use crate::Settings;

    const MIB: u64 = 1 << 20;
    const DAY: i64 = 24 * 3600 * 1000;

    impl fmt::Display for Choice {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            match self {
                Self::Nothing => f.write_str("nothing"),
                Self::DropExpired(files) => write!(f, "drop {files:?}"),
                Self::Minor(run) => write!(f, "minor {run:?}"),
                Self::Major => f.write_str("major"),
            }
        }
    }

    /// A file is its MiB; `!` behind them says that a merge of all files wrote it, `-3` that it was
    /// written three days ago, `@4..9` the timestamps in it; `/` that a split left it.
    fn parse(text: &str) -> Vec<FileFacts> {
        let parse_one = |(at, text): (usize, &str)| {
            let (text, times) = text.split_once('@').unwrap_or((text, "0..1000000"));
            let (timestamp_min, timestamp_max) = times.split_once("..").unwrap();
            let (text, days) = text.split_once('-').unwrap_or((text, "0"));
            FileFacts {
                id: at as u64 + 1,
                len: text.trim_end_matches(['!', '/']).parse::<u64>().unwrap() * MIB,
                timestamp_min: timestamp_min.parse().unwrap(),
                timestamp_max: timestamp_max.parse().unwrap(),
                created_millis: NOW - days.parse::<i64>().unwrap() * DAY,
                major: text.ends_with('!'),
                wider: text.ends_with('/'),
            }
        };
        text.split_whitespace().enumerate().map(parse_one).collect()
    }

    const NOW: i64 = 1000 * DAY;

    fn situation(files: &[FileFacts]) -> Situation<'_> {
        Situation { files, now_millis: NOW, unexpired_from: i64::MIN, asked: None }
    }

    fn check(files: &str, expected: &str) {
        check_with(files, |_, _| {}, expected);
    }

    fn check_with(
        files: &str,
        change: impl FnOnce(&mut Policy, &mut Situation<'_>),
        expected: &str,
    ) {
        let facts = parse(files);
        let mut situation = situation(&facts);
        let mut policy = Policy::new(&Settings::default());
        change(&mut policy, &mut situation);
        assert_eq!(choose(&situation, &policy).to_string(), expected, "{files}");
    }

    #[test]
    fn three_files_of_a_size_are_merged() {
        check("", "nothing");
        check("32", "nothing");
        check("32 32", "nothing");
        check("32 32 32", "major");
        check("1000! 32 32 32", "minor 1..4");
    }

    #[test]
    fn a_file_larger_than_the_others_by_the_ratio_is_left_alone() {
        check("96! 32 32", "nothing");
        check("96! 32 32 32", "major");
        check("1000! 96 32 32", "nothing");
        check("1000! 96 40 40", "minor 1..4");
        check("1000! 96 32 32 32", "minor 1..5");
    }

    #[test]
    fn small_files_are_merged_whatever_their_ratio() {
        check("1000! 20 1 1", "minor 1..4");
        check("20 1 1", "major");
    }

    #[test]
    fn only_neighbours_are_merged() {
        check("32 500 32 5000 32", "nothing");
        check("32 5000 32 32 32 900", "minor 2..5");
    }

    #[test]
    fn the_run_that_does_away_with_most_files_is_taken_then_the_one_of_fewest_bytes() {
        check("5000! 40 40 40 900 30 30 30 30", "minor 5..9");
        check("5000! 40 40 40 900 30 30 30", "minor 5..8");
        // Never more than ten.
        check("9 9 9 9 9 9 9 9 9 9 9 9", "minor 0..10");
    }

    #[test]
    fn a_store_whose_writers_wait_is_relieved_for_the_fewest_bytes() {
        let blocking = |policy: &mut Policy, _: &mut Situation<'_>| policy.files_blocking = 6;
        // No run is in ratio.
        let files = "32000 9000 3000 1000 300 90";
        check(files, "nothing");
        check_with(files, blocking, "minor 3..6");
        // Three files of 1 MiB rather than ten of 90.
        let files = "9000 90 90 90 90 90 90 90 1000 1 1 1";
        check(files, "minor 1..8");
        check_with(files, blocking, "minor 9..12");
    }

    #[test]
    fn files_that_have_outgrown_merging_stay() {
        let limited = |policy: &mut Policy, _: &mut Situation<'_>| policy.bytes_max = 100 * MIB;
        check_with("120 150 40 40 40", limited, "nothing");
        check_with("120 150 30 30 30", limited, "minor 2..5");
    }

    #[test]
    fn all_files_are_merged_once_the_oldest_has_come_of_age() {
        let exactly = |policy: &mut Policy, _: &mut Situation<'_>| policy.major_jitter = 0.0;
        check_with("900-8 32-1", exactly, "major");
        check_with("900-6 32-1", exactly, "nothing");
        // A single file, unless it is merged already.
        check_with("900-8", exactly, "major");
        check_with("900!-8", exactly, "nothing");
        // Whoever has more files than are merged at once merges some of them first.
        check_with("99-8 9 9 9 9 9 9 9 9 9 9", exactly, "minor 1..11");
        let never = |policy: &mut Policy, _: &mut Situation<'_>| policy.major_period_millis = 0;
        check_with("900-800 32-1", never, "nothing");
        // From before files said when they were written.
        check_with("900-1000 32-1", exactly, "nothing");
    }

    #[test]
    fn jitter_spreads_the_age_evenly_around_the_period_and_is_the_same_every_time() {
        let policy = Policy::new(&Settings::default());
        let days = |seed| jittered_period(&policy, seed) as f64 / DAY as f64;
        let all: Vec<f64> = (1..1000).map(days).collect();
        assert!(all.iter().all(|days| (3.5..=10.5).contains(days)));
        let mean = all.iter().sum::<f64>() / all.len() as f64;
        assert!((6.8..7.2).contains(&mean), "{mean}");
        assert_eq!(days(7), days(7));
    }

    #[test]
    fn what_is_asked_for_is_done() {
        let ask = |kind| move |_: &mut Policy, now: &mut Situation<'_>| now.asked = Some(kind);
        check_with("900 32", ask(CompactionKind::Major), "major");
        check_with("900!", ask(CompactionKind::Major), "major");
        check_with("", ask(CompactionKind::Major), "nothing");
        // A minor merge is the one that would come anyway.
        check_with("900 32", ask(CompactionKind::Minor), "nothing");
        check_with("900! 32 32 32", ask(CompactionKind::Minor), "minor 1..4");
    }

    #[test]
    fn files_whose_cells_have_all_expired_are_dropped_first() {
        let expired = |_: &mut Policy, now: &mut Situation<'_>| now.unexpired_from = 50;
        check_with("9@0..9 9@20..49 9@40..50 9", expired, "drop [0, 1]");
        check_with("9@60..99 9@20..49", expired, "drop [1]");
        check_with("9@0..50 9@20..60", expired, "nothing");
        // Old cells in a file that is merged already are worth another merge, when it is of age.
        check_with("9!-20@0..99", expired, "major");
        check_with("9!-20@50..99", expired, "nothing");
    }

    /// Feeds flushes of `flush` MiB to the policy, merging at once what it chooses. Says how many
    /// bytes were written for each byte that came in, and how many files a read had to look at.
    fn simulate(flushes: u64, flush: u64, policy: &Policy) -> String {
        let mut files: Vec<FileFacts> = Vec::new();
        let (mut written, mut files_sum, mut files_max) = (0, 0, 0);
        for id in 0..flushes {
            let [file] = parse(&flush.to_string())[..] else { unreachable!() };
            files.push(FileFacts { id, ..file });
            written += flush;
            files_max = files_max.max(files.len());
            loop {
                let run = match choose(&situation(&files), policy) {
                    Choice::Nothing => break,
                    Choice::Minor(run) => run,
                    Choice::Major => 0..files.len(),
                    Choice::DropExpired(_) => unreachable!("nothing expires here"),
                };
                let len = files[run.clone()].iter().map(|file| file.len).sum();
                written += len / MIB;
                let major = run.len() == files.len();
                let merged = FileFacts { len, major, ..files[run.start] };
                files.splice(run, [merged]);
            }
            files_sum += files.len();
        }
        format!(
            "{} MiB: {:.1} times written, {:.1} files on average, {files_max} at most",
            flushes * flush,
            written as f64 / (flushes * flush) as f64,
            files_sum as f64 / flushes as f64,
        )
    }

    #[test]
    fn a_byte_is_written_few_times() {
        let policy = Policy::new(&Settings::default());
        let report = [8, 32, 320].map(|flushes| simulate(flushes, 32, &policy));
        // Merging all files whenever there are five writes 10 GiB 40 times.
        let expected = [
            "256 MiB: 2.1 times written, 1.9 files on average, 4 at most",
            "1024 MiB: 3.5 times written, 2.5 files on average, 5 at most",
            "10240 MiB: 5.6 times written, 3.8 files on average, 8 at most",
        ];
        assert_eq!(report.join("\n"), expected.join("\n"));
    }
}
