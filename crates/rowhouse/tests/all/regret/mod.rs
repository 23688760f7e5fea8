//! How much more an advised design costs than the best one of a space that is enumerated here: the
//! regret, measured by simulation.

mod space;
mod workloads;

use std::path::Path;

use rowhouse::advise::{Design, Simulation, Workload, advise, simulate};

/// Rows of each simulation.
const ROWS: u64 = 3000;
/// Rows of each simulation of a frozen workload.
const FROZEN_ROWS: u64 = 600;
/// Of a larger space, designs at equal distances are simulated.
const DESIGNS_MAX: usize = 240;

/// Returns a directory in memory if the system has one: each simulation creates a database.
fn scratch() -> tempfile::TempDir {
    let memory = Path::new("/dev/shm");
    if memory.is_dir() {
        tempfile::tempdir_in(memory).unwrap()
    } else {
        tempfile::tempdir().unwrap()
    }
}

fn is_refused(simulation: &Simulation) -> bool {
    simulation.warnings.iter().any(|warning| warning.is_refusal)
}

/// Returns the score and the text of the best design in the space that breaks no limit.
async fn best_of_space(workload: &Workload, text: &str, dir: &Path) -> Option<(f64, String)> {
    let designs = space::designs(text);
    let step = designs.len().div_ceil(DESIGNS_MAX);
    let mut best: Option<(f64, String)> = None;
    for (key, indexes) in designs.iter().step_by(step) {
        // Some fields cannot stand before others.
        let Ok(design) = Design::new(workload, key, indexes) else { continue };
        let simulation = simulate(workload, &design, dir).await.unwrap();
        let score = simulation.score(workload);
        if !is_refused(&simulation) && best.as_ref().is_none_or(|best| score < best.0) {
            best = Some((score, design.to_string()));
        }
    }
    best
}

/// Returns the regret; `None` if every design of the space breaks a limit. The regret of a refusal
/// is infinite where a design breaks no limit.
async fn regret(workload: &Workload, best: Option<&(f64, String)>, dir: &Path) -> Option<f64> {
    let advice = advise(workload, dir).await.unwrap();
    let advised = &advice.designs[0];
    let is_allowed = advised.refusals.is_empty();
    assert!(advised.simulation.is_some(), "{} was only estimated", advised.text());
    match best {
        None => None,
        Some((score, _)) if is_allowed => Some(advised.score / score),
        Some(_) => Some(f64::INFINITY),
    }
}

fn workload(text: &str, rows: u64) -> Workload {
    Workload::parse(text).unwrap().with_rows(rows).unwrap()
}

/// Workloads with the best designs that their spaces had when they were recorded.
const FROZEN: [(u64, u64, &str, &str); 12] = [
    (0, 0, "[room u64][at millis desc]", "by_sender [sender][at desc]"),
    (
        0,
        1,
        "[bucket 4 of room][room u64][at millis desc]",
        "a [room][sender][at desc]; b [sender][at desc]",
    ),
    (1, 0, "[bucket 16 of order][order u64]", "a [customer][placed desc null last]"),
    (1, 1, "[bucket 16 of order][order u64]", "a [customer][placed desc null last]"),
    (10, 2, "[bucket 16 of a][a u64]", "a [y]"),
    (10, 3, "[salt 16][a string]", "a [bucket 16 of x][x]"),
    (10, 4, "[hash 2 of a][a string]", ""),
    (1, 1000, "[bucket 16 of order][order u64]", "a [customer][placed desc null last]"),
    (3, 1000, "[bucket 16 of at][at millis desc][visitor uuid]", "a [page][at desc]"),
    (10, 1000, "[a u32]", "a [x]"),
    (10, 1002, "[a u64]", "a [x]"),
    (10, 1007, "[a uuid]", "a [y][at desc null last]"),
];

/// Returns the workload of a trade; the random ones count as one more trade.
fn text_of(trade: u64, seed: u64) -> (String, String) {
    if trade < workloads::TRADES {
        workloads::of_trade(trade, seed)
    } else {
        workloads::drawn(seed)
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn advice_for_frozen_workloads_costs_at_most_a_fifth_more_than_their_best_designs() {
    let dir = scratch();
    for (trade, seed, key, indexes) in FROZEN {
        let (name, text) = text_of(trade, seed);
        let workload = workload(&text, FROZEN_ROWS);
        let design = Design::new(&workload, key, indexes).unwrap();
        let simulation = simulate(&workload, &design, dir.path()).await.unwrap();
        assert!(!is_refused(&simulation), "{name}: {:?}", simulation.warnings);
        let best = (simulation.score(&workload), design.to_string());
        let regret = regret(&workload, Some(&best), dir.path()).await.unwrap();
        assert!(regret <= 1.2, "{name}: {regret:.2} {best:?}");
    }
}

/// The number of trades' seeds and of random workloads: `REGRET=40,20` for 60 workloads. Prints
/// each regret, the median and the 95th percentile.
#[test]
fn advice_costs_at_most_twice_the_best_design_of_an_enumerated_space() {
    let Ok(counts) = std::env::var("REGRET") else { return };
    let (trades, drawn) = counts.split_once(',').unwrap();
    let (trades, drawn): (u64, u64) = (trades.parse().unwrap(), drawn.parse().unwrap());
    let places = (0..trades).map(|at| (at % workloads::TRADES, 1000 + at / workloads::TRADES));
    let places = places.chain((0..drawn).map(|at| (workloads::TRADES, 1000 + at)));
    let places = std::sync::Mutex::new(places.collect::<Vec<_>>());
    let regrets = std::sync::Mutex::new(Vec::new());
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                let runtime =
                    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
                loop {
                    let next = places.lock().unwrap().pop();
                    let Some((trade, seed)) = next else { break };
                    let (name, text) = text_of(trade, seed);
                    let workload = workload(&text, ROWS);
                    let dir = scratch();
                    let best = runtime.block_on(best_of_space(&workload, &text, dir.path()));
                    let regret = runtime.block_on(regret(&workload, best.as_ref(), dir.path()));
                    println!("{name}: {regret:?}, best {best:?}");
                    regrets.lock().unwrap().extend(regret.map(|regret| (regret, name)));
                }
            });
        }
    });
    let mut regrets = regrets.into_inner().unwrap();
    regrets.sort_by(|one, other| one.0.total_cmp(&other.0));
    let part = |percent: usize| regrets[(regrets.len() * percent / 100).min(regrets.len() - 1)].0;
    println!("{} workloads: median {:.3}, 95 % {:.3}", regrets.len(), part(50), part(95));
    let worst = regrets.last().unwrap();
    assert!(worst.0 <= 2.0, "{worst:?}");
    assert!(part(50) <= 1.05 && part(95) <= 1.2, "{regrets:?}");
}
