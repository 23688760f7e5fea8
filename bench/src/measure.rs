//! CPU time, wall time and memory of this process, and whether it had the core to itself.

use std::fs;
use std::hint::black_box;
use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use rustix::time::{ClockId, clock_gettime};

/// Time without activity after which background work counts as finished.
const QUIET: Duration = Duration::from_millis(200);
/// The polling interval.
const LOOK_EVERY: Duration = Duration::from_millis(20);
/// CPU nanoseconds that idle threads may use between two polls: mostly timers.
const IDLE_NANOS: u64 = 300_000;
/// Maximum time to wait for background work.
const QUIET_WAIT_MAX: Duration = Duration::from_secs(1800);

/// The cost of an operation.
#[derive(Clone, Copy)]
pub(crate) struct Cost {
    /// User and system time of all threads.
    pub(crate) cpu: Duration,
    /// Time until the last thread was idle.
    pub(crate) wall: Duration,
    /// The slower [`pace`] of before and after.
    pub(crate) pace: f64,
}

/// Runs `work`, waits until every thread it started is idle, and returns the cost of all of it.
pub(crate) fn cost_of<T>(work: impl FnOnce() -> Result<T>) -> Result<(T, Cost)> {
    let pace_before = pace();
    let cpu = cpu_time();
    let begun = Instant::now();
    let done = work()?;
    let own = clock(ClockId::ThreadCPUTime);
    let quiet_since = wait_until_quiet()?;
    let looking = clock(ClockId::ThreadCPUTime) - own;
    let cpu = cpu_time().saturating_sub(cpu + looking);
    let cost = Cost { cpu, wall: quiet_since - begun, pace: pace_before.max(pace()) };
    Ok((done, cost))
}

/// Returns the nanoseconds of one turn of a loop that keeps several units of a core busy at once.
///
/// It shows whether another virtual machine uses the core's other hardware thread, which no clock
/// of this machine shows. Work that keeps a core busy then takes half as long again; work that
/// waits for memory hardly takes longer.
fn pace() -> f64 {
    const TURNS: u32 = 500_000;
    let once = |_| {
        let begun = Instant::now();
        let [mut a, mut b, mut c, mut d] = black_box([1u64, 2, 3, 4]);
        let key = black_box(0x9E37_79B9);
        for turn in 0..u64::from(TURNS) {
            b = b.rotate_left(5) ^ turn;
            c = c.wrapping_sub(key).rotate_left(3);
            d ^= turn.wrapping_add(c);
            // Prevents the compiler from computing the result in advance.
            a = black_box(a.wrapping_add(turn ^ key));
        }
        black_box([a, b, c, d]);
        begun.elapsed().as_secs_f64() * 1e9 / f64::from(TURNS)
    };
    // The best of some: an interrupt is not another virtual machine.
    (0..8).map(once).fold(f64::INFINITY, f64::min)
}

/// Returns user and system time of all threads of this process, including those that have ended.
fn cpu_time() -> Duration {
    clock(ClockId::ProcessCPUTime)
}

fn clock(id: ClockId) -> Duration {
    let time = clock_gettime(id);
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

/// Waits until no other thread has run or waited for a disk for a while, and returns the start of
/// that period.
pub(crate) fn wait_until_quiet() -> Result<Instant> {
    let begun = Instant::now();
    let mut since = begun;
    let mut before = others()?.run_nanos;
    while since.elapsed() < QUIET {
        ensure!(begun.elapsed() < QUIET_WAIT_MAX, "background work does not come to an end");
        std::thread::sleep(LOOK_EVERY);
        let now = others()?;
        if now.busy || now.run_nanos.abs_diff(before) > IDLE_NANOS {
            since = Instant::now();
        }
        before = now.run_nanos;
    }
    Ok(since)
}

struct Others {
    run_nanos: u64,
    busy: bool,
}

/// Returns the CPU time and state of the other threads of this process.
fn others() -> Result<Others> {
    let own = rustix::thread::gettid().as_raw_nonzero().to_string();
    let mut others = Others { run_nanos: 0, busy: false };
    for task in fs::read_dir("/proc/self/task")? {
        let task = task?;
        if task.file_name().to_str() == Some(&*own) {
            continue;
        }
        // A thread may end between the listing and here.
        let Ok(stat) = fs::read_to_string(task.path().join("stat")) else { continue };
        let Ok(schedule) = fs::read_to_string(task.path().join("schedstat")) else { continue };
        let state = stat.rsplit(") ").next().and_then(|rest| rest.chars().next());
        others.busy |= matches!(state, Some('R' | 'D'));
        others.run_nanos +=
            schedule.split(' ').next().and_then(|nanos| nanos.parse::<u64>().ok()).unwrap_or(0);
    }
    Ok(others)
}

/// Resets the peak of resident memory.
pub(crate) fn reset_peak() -> Result<()> {
    fs::write("/proc/self/clear_refs", "5").context("cannot reset the peak of resident memory")
}

/// Returns the peak of resident memory since the reset, in MiB.
pub(crate) fn peak_mib() -> Result<f64> {
    status_mib("VmHWM:")
}

/// Returns the resident memory, in MiB.
pub(crate) fn resident_mib() -> Result<f64> {
    status_mib("VmRSS:")
}

fn status_mib(name: &str) -> Result<f64> {
    let status = fs::read_to_string("/proc/self/status")?;
    let line = status.lines().find_map(|line| line.strip_prefix(name));
    let kib = line.and_then(|rest| rest.trim().strip_suffix(" kB")).context("no such status")?;
    Ok(kib.trim().parse::<f64>()? / 1024.0)
}

/// Returns the bytes that this process has written to files.
pub(crate) fn written_bytes() -> Result<u64> {
    let io = fs::read_to_string("/proc/self/io")?;
    let count = io.lines().find_map(|line| line.strip_prefix("wchar: "));
    Ok(count.context("no count of written bytes")?.parse()?)
}

/// Returns the bytes of all files below `dir`.
pub(crate) fn directory_len(dir: &Path) -> Result<u64> {
    let mut len = 0;
    for entry in fs::read_dir(dir)? {
        let entry = entry?;
        // A file may be removed between the listing and here.
        let Ok(metadata) = entry.metadata() else { continue };
        len += if metadata.is_dir() { directory_len(&entry.path())? } else { metadata.len() };
    }
    Ok(len)
}
