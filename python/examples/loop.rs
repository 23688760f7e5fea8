//! Writes and reads the rows of `bench.py` in a loop in Rust, and prints rows per second and CPU
//! time per row: `cargo run --release --example loop -- ROWS`.

use std::time::Instant;

use rowhouse::{Get, Result, TableSpec};

#[tokio::main]
async fn main() -> Result<()> {
    let rows: u64 = std::env::args().nth(1).and_then(|rows| rows.parse().ok()).unwrap_or(100_000);
    let dir = std::env::temp_dir().join(format!("rowhouse-loop-{}", std::process::id()));
    let database = rowhouse::open(dir.to_string_lossy()).await?;
    let spec = TableSpec::new("mail").key("[user string][at millis desc][id u32]").family("d");
    let spec = spec.columns("d:s subject string; d:n size u32");
    let mail = database.create_table(spec).await?;
    let key = |n: u64| {
        let at = 1_669_852_800_000_u64 + n * 1_000;
        [("user", format!("user{:03}", n % 100).into()), ("at", at.into()), ("id", n.into())]
    };

    let step = Step::start("put");
    for n in 0..rows / 10 {
        let row = mail.row(&key(n)).set_named("subject", format!("subject {n}"));
        row.set_named("size", n).put().await?;
    }
    step.end(rows / 10);

    let step = Step::start("put_many");
    for start in (0..rows).step_by(10_000) {
        let mut puts = Vec::new();
        for n in start..(start + 10_000).min(rows) {
            let row = mail.row(&key(n)).set_named("subject", format!("subject {n}"));
            puts.push(row.set_named("size", n).into_put()?.into());
        }
        for outcome in mail.batch(puts).await {
            outcome?;
        }
    }
    step.end(rows);

    let step = Step::start("get");
    for n in 0..rows / 10 {
        let row = mail.get(&Get::new(mail.key(&key(n))?)?).await?;
        assert!(row.value("d", "s").is_some());
    }
    step.end(rows / 10);

    let step = Step::start("query");
    let mut count = 0;
    let mut sizes = 0;
    let mut subjects = 0;
    let mut found = mail.query("").rows().await?;
    while let Some(row) = found.next().await? {
        sizes += row.column("size")?.and_then(|size| size.as_u64()).unwrap_or_default();
        subjects += row.column("subject")?.map_or(0, |subject| subject.to_string().len());
        count += 1;
    }
    step.end(count);
    assert!(count == rows && sizes > 0 && subjects > 0);

    drop(found);
    database.close().await?;
    std::fs::remove_dir_all(&dir).map_err(|error| rowhouse::Error::io("cannot remove", error))
}

/// A measured step.
struct Step {
    name: &'static str,
    start: Instant,
    cpu_ticks: u64,
}

impl Step {
    fn start(name: &'static str) -> Self {
        Self { name, start: Instant::now(), cpu_ticks: cpu_ticks() }
    }

    fn end(self, rows: u64) {
        let seconds = self.start.elapsed().as_secs_f64();
        // Linux counts 100 ticks in a second.
        let cpu_micros = (cpu_ticks() - self.cpu_ticks) as f64 * 10_000.0;
        let rows = rows as f64;
        println!(
            "{:<12}{:>12.0} rows/s {:>8.2} us CPU/row",
            self.name,
            rows / seconds,
            cpu_micros / rows
        );
    }
}

/// Returns the CPU time of the process, user and system, in ticks.
fn cpu_ticks() -> u64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let after_name = stat.rsplit(')').next().unwrap_or_default();
    // Fields 14 and 15 of the line; the first after the name is field 3.
    after_name
        .split_whitespace()
        .skip(11)
        .take(2)
        .filter_map(|ticks| ticks.parse::<u64>().ok())
        .sum()
}
