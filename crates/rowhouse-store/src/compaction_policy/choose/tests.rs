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
            Self::Merge(run, CompactionKind::Minor) => write!(f, "minor {run:?}"),
            Self::Merge(_, CompactionKind::Major) => f.write_str("major"),
        }
    }
}

/// Parses files, each given by its MiB. `!` after them means that a compaction over all files wrote
/// it, `-3` that it was written three days ago, `@4..9` the timestamps; `/` that a split left it;
/// `[a-c]` the first and last row, by default `a` and `z`; `+5` that five cells in a hundred are
/// markers, and `*5` that five come after another cell in their column.
fn parse(text: &str) -> Vec<FileSummary<'_>> {
    text.split_whitespace().enumerate().map(|(at, text)| parse_one(at, text)).collect()
}

fn parse_one(at: usize, text: &str) -> FileSummary<'_> {
    let (text, older_versions) = text.split_once('*').unwrap_or((text, "0"));
    let (text, markers) = text.split_once('+').unwrap_or((text, "0"));
    let (text, rows) = text.split_once('[').unwrap_or((text, "a-z"));
    let (first_row, last_row) = rows.trim_end_matches(']').split_once('-').unwrap();
    let (text, times) = text.split_once('@').unwrap_or((text, "0..1000000"));
    let (timestamp_min, timestamp_max) = times.split_once("..").unwrap();
    let (text, days) = text.split_once('-').unwrap_or((text, "0"));
    FileSummary {
        id: at as u64 + 1,
        len: text.trim_end_matches(['!', '/']).parse::<u64>().unwrap() * MIB,
        first_row: first_row.as_bytes(),
        last_row: last_row.as_bytes(),
        timestamp_min: timestamp_min.parse().unwrap(),
        timestamp_max: timestamp_max.parse().unwrap(),
        created_millis: NOW - days.parse::<i64>().unwrap() * DAY,
        cells: 100,
        surplus: Some(Surplus {
            markers: markers.parse().unwrap(),
            older_versions: older_versions.parse().unwrap(),
        }),
        major: text.ends_with('!'),
        wider: text.ends_with('/'),
    }
}

const NOW: i64 = 1000 * DAY;

fn situation<'a>(files: &'a [FileSummary<'a>]) -> PolicyInput<'a> {
    let drops = Drops { markers: true, older_versions: true };
    PolicyInput {
        files,
        busy: 0,
        now_millis: NOW,
        unexpired_from: i64::MIN,
        drops,
        requested: None,
    }
}

fn check(files: &str, expected: &str) {
    check_with(files, |_, _| {}, expected);
}

fn check_with(files: &str, change: impl FnOnce(&mut Policy, &mut PolicyInput<'_>), expected: &str) {
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
fn small_files_are_merged_at_any_ratio() {
    check("1000! 20 1 1", "minor 1..4");
    check("20 1 1", "major");
}

#[test]
fn only_neighbours_are_merged() {
    check("32 500 32 5000 32", "nothing");
    check("32 5000 32 32 32 900", "minor 2..5");
}

#[test]
fn beside_a_merge_only_files_newer_than_its_own_are_merged() {
    let beside =
        |busy| move |_: &mut Policy, situation: &mut PolicyInput<'_>| situation.busy = busy;
    check_with("32 32 32 32 32 32", beside(3), "minor 3..6");
    check_with("32 32 32 32 32", beside(3), "nothing");
    // No choice includes all files, even if requested.
    let requested = |kind| {
        move |_: &mut Policy, situation: &mut PolicyInput<'_>| {
            (situation.busy, situation.requested) = (1, Some(kind));
        }
    };
    check_with("500 32 32 32", requested(CompactionKind::Minor), "minor 1..4");
    check_with("500 32/ 32 32", beside(1), "minor 1..4");
    let expired = |_: &mut Policy, situation: &mut PolicyInput<'_>| {
        (situation.busy, situation.unexpired_from) = (1, 10);
    };
    check_with("32@0..9 32@0..20 32@0..9", expired, "drop [2]");
    check_with("32+90 32+90 32+90 32", beside(3), "nothing");
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
    let blocking = |policy: &mut Policy, _: &mut PolicyInput<'_>| policy.files_blocking = 6;
    // No run is within the ratio.
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
    let limited = |policy: &mut Policy, _: &mut PolicyInput<'_>| policy.bytes_max = 100 * MIB;
    check_with("120 150 40 40 40", limited, "nothing");
    check_with("120 150 30 30 30", limited, "minor 2..5");
}

#[test]
fn all_files_are_merged_once_the_oldest_has_come_of_age() {
    let exactly = |policy: &mut Policy, _: &mut PolicyInput<'_>| policy.major_jitter = 0.0;
    check_with("900-8 32-1", exactly, "major");
    check_with("900-6 32-1", exactly, "nothing");
    // A single file only if it is not already a major compaction's output.
    check_with("900-8", exactly, "major");
    check_with("900!-8", exactly, "nothing");
    // With more files than one compaction takes, some are compacted first.
    check_with("99-8 9 9 9 9 9 9 9 9 9 9", exactly, "minor 1..11");
    let never = |policy: &mut Policy, _: &mut PolicyInput<'_>| policy.major_period_millis = 0;
    check_with("900-800 32-1", never, "nothing");
    // A file from before creation times were stored.
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
fn requested_compactions_are_chosen() {
    let request =
        |kind| move |_: &mut Policy, now: &mut PolicyInput<'_>| now.requested = Some(kind);
    check_with("900 32", request(CompactionKind::Major), "major");
    check_with("900!", request(CompactionKind::Major), "major");
    check_with("", request(CompactionKind::Major), "nothing");
    // A minor compaction is the one that would be due anyway.
    check_with("900 32", request(CompactionKind::Minor), "nothing");
    check_with("900! 32 32 32", request(CompactionKind::Minor), "minor 1..4");
}

#[test]
fn files_whose_cells_have_all_expired_are_dropped_first() {
    let expired = |_: &mut Policy, now: &mut PolicyInput<'_>| now.unexpired_from = 50;
    check_with("9@0..9 9@20..49 9@40..50 9", expired, "drop [0, 1]");
    check_with("9@60..99 9@20..49", expired, "drop [1]");
    check_with("9@0..50 9@20..60", expired, "nothing");
    // Old cells in an already compacted file are worth another compaction once it is due.
    check_with("9!-20@0..99", expired, "major");
    check_with("9!-20@50..99", expired, "nothing");
}

#[test]
fn files_without_a_row_in_common_are_left_alone() {
    check("32[a-b] 32[c-d] 32[e-f] 32[g-h]", "nothing");
    check("32[a-c] 32[c-e] 32[e-g] 32[g-h]", "nothing");
    check("32[a-z] 32[c-e] 32[e-g] 32[g-h]", "major");
    check("32[a-z] 32[c-e] 32[e-g] 32[g-h] 32[i-j] 32[k-l] 32[m-n]", "minor 0..6");
    // Except small ones.
    check("9[a-b] 9[c-d] 9[e-f]", "major");
    check("32[a-b] 9[c-d] 9[e-f] 9[g-h]", "minor 1..4");
    // A request is answered as in HBase.
    let request =
        |_: &mut Policy, now: &mut PolicyInput<'_>| now.requested = Some(CompactionKind::Minor);
    check_with("32[a-b] 32[c-d] 32[e-f] 32[g-h]", request, "major");
}

#[test]
fn files_above_four_times_the_blocking_limit_are_merged_regardless_of_rows() {
    let rows = |n: usize| {
        let letter = |n: usize| char::from(b'a' + n as u8);
        let file = |n: usize| format!("32[{0}{1}-{0}{1}]", letter(n / 26), letter(n % 26));
        (0..n).map(file).collect::<Vec<_>>().join(" ")
    };
    check(&rows(63), "nothing");
    check(&rows(64), "minor 0..10");
}

#[test]
fn files_of_which_two_fifths_are_there_for_nothing_are_merged() {
    // A marker is dropped together with a cell it covers.
    check("9000 900 100+49 40+50 10", "nothing");
    check("9000 900 100+49 40+50 10+1", "major");
    check("9000 900*80 100 40*100 10*19", "nothing");
    check("9000 900*80 100 40*100 10*20", "major");
    // Not with fewer files.
    check("900*80 100*90 40*90 10*90", "nothing");
    // Such a compaction's output has nothing left to drop.
    check("9000 900!*80 100 40*100 10*20", "nothing");
    let keeps = |_: &mut Policy, now: &mut PolicyInput<'_>| now.drops = Drops::default();
    check_with("9000 900+40*60 100+10*90 40*90 10", keeps, "nothing");
    let request =
        |_: &mut Policy, now: &mut PolicyInput<'_>| now.requested = Some(CompactionKind::Minor);
    check_with("9000 900*80 100 40*100 10*20", request, "nothing");
    let only_requested =
        |policy: &mut Policy, _: &mut PolicyInput<'_>| policy.files_min = usize::MAX;
    check_with("9000 900*80 100 40*100 10*20", only_requested, "nothing");
}

#[test]
fn a_large_file_is_written_anew_once_half_of_it_has_expired_since() {
    const HOUR: i64 = DAY / 24;
    // Fifty hours of cells, written two days ago, in a family that retains them for three days.
    let written = NOW - 2 * DAY;
    let times = |hours: i64| format!("@{}..{}", written - hours * HOUR, written);
    let retained_for = |days: i64| {
        move |_: &mut Policy, now: &mut PolicyInput<'_>| {
            now.unexpired_from = NOW - days * DAY;
        }
    };
    check_with(&format!("900-2{}", times(50)), retained_for(3), "major");
    check_with(&format!("900-2{}", times(50)), retained_for(4), "nothing");
    check_with(&format!("900-2{} 200@1..{NOW}", times(50)), retained_for(3), "minor 0..1");
    // Small files wait for others.
    check_with(
        &format!("100-2{} 900!@{}..{NOW}", times(50), NOW - HOUR),
        retained_for(3),
        "nothing",
    );
    // Cells that had expired when it was written would have been dropped then.
    check_with(&format!("900@1..{NOW}"), retained_for(3), "nothing");
}

#[test]
fn files_of_a_family_with_a_ttl_are_merged_with_those_of_their_time() {
    let expires = |_: &mut Policy, now: &mut PolicyInput<'_>| now.unexpired_from = NOW - 4 * DAY;
    let file = |mib: u64, from: i64, to: i64| {
        format!("{mib}@{}..{} ", NOW - from * DAY / 2, NOW - to * DAY / 2)
    };
    let one_time = [file(32, 3, 2), file(32, 2, 1), file(32, 1, 0)].concat();
    check_with(&one_time, expires, "major");
    let far_apart = [file(32, 7, 6), file(32, 3, 2), file(32, 1, 0)].concat();
    check_with(&far_apart, expires, "nothing");
    check_with(&[file(9, 7, 6), file(9, 3, 2), file(9, 1, 0)].concat(), expires, "major");
    // Files that each cover the whole time are compacted as usual.
    let many = file(32, 7, 0).repeat(9);
    check_with(&many, expires, "nothing");
    check_with(&(many + &file(32, 7, 0)), expires, "major");
}
