//! The classic experiment about row keys: rows with a growing number or time are written to four
//! region servers whose operations are limited, under several key designs.

mod draw;

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use rowhouse::Value;
use rowhouse::admin::{RegionLoad, ServerLoad};
use rowhouse::{Database, Error, Mutation, Result, Table, TableSpec};
use rowhouse_server::{Options, Server};

/// Arguments of the experiment.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct HotspotArgs {
    /// How long each design is written
    #[arg(long, value_name = "SECONDS", default_value_t = 3.0)]
    pub(crate) seconds: f64,
    /// Operations per second of each region server
    #[arg(long, value_name = "N", default_value_t = 1000)]
    pub(crate) ops_per_server: u64,
    /// Draw the result into this file
    #[arg(long, value_name = "FILE.svg")]
    pub(crate) svg: Option<PathBuf>,
}

const SERVERS: u32 = 4;
/// Clients that write at once, more than enough to load four servers.
const WRITERS: u64 = 64;
/// Rows that are there before the measurement. The last quarter of the key space is written.
const ROWS_BEFORE: u64 = 2_400;
/// Rows of a range read.
const RANGE: u64 = 100;
/// Reads that are measured.
const READS: u64 = 20;
const USERS: u64 = 20;
const BEGIN_MILLIS: u64 = 1_700_000_000_000;

/// A design of the key.
struct Design {
    name: &'static str,
    template: &'static str,
    /// The first rows of the regions after the first.
    splits: [&'static [u8]; 3],
    order: Growing,
}

/// What grows in the key.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Growing {
    Number,
    Time,
}

/// The boundaries of plain designs divide what was written before: new rows are after the last.
const DESIGNS: [Design; 8] = [
    Design {
        name: "plain",
        template: "foo[n digits 8]",
        splits: [b"foo00000600", b"foo00001200", b"foo00001800"],
        order: Growing::Number,
    },
    Design {
        name: "salted",
        template: "[salt 4 a-d]-foo[n digits 8]",
        splits: [b"b", b"c", b"d"],
        order: Growing::Number,
    },
    Design {
        name: "bucketed by hash",
        template: "[bucket 4 of n]foo[n digits 8]",
        splits: [b"\x01", b"\x02", b"\x03"],
        order: Growing::Number,
    },
    Design {
        name: "reversed",
        template: "[n digits 8 reverse]",
        splits: [b"3", b"5", b"8"],
        order: Growing::Number,
    },
    Design {
        name: "plain time",
        template: "[at millis digits 13]-[user text 3]",
        splits: [b"1700000000600", b"1700000001200", b"1700000001800"],
        order: Growing::Time,
    },
    Design {
        name: "salted time",
        template: "[salt 4 a-d]-[at millis digits 13]-[user text 3]",
        splits: [b"b", b"c", b"d"],
        order: Growing::Time,
    },
    Design {
        name: "bucket of the user",
        template: "[bucket 4 of user][user text 3]-[at millis digits 13]",
        splits: [b"\x01", b"\x02", b"\x03"],
        order: Growing::Time,
    },
    Design {
        name: "user promoted",
        template: "[user text 3]-[at millis digits 13]",
        splits: [b"u05", b"u10", b"u15"],
        order: Growing::Time,
    },
];

impl Design {
    /// Returns the fields of row `number`.
    fn fields(&self, number: u64) -> Vec<(&'static str, Value)> {
        match self.order {
            Growing::Number => vec![("n", number.into())],
            Growing::Time => {
                vec![("at", time(number).into()), ("user", user(number).into())]
            }
        }
    }

    /// Returns the query for one row.
    fn one(&self, number: u64) -> String {
        match self.order {
            Growing::Number => format!("n = {number}"),
            Growing::Time => format!("at = {} and user = '{}'", time(number), user(number)),
        }
    }

    /// Returns the query for [`RANGE`] rows that belong together: with successive numbers, or
    /// of one user in successive times.
    fn range(&self, number: u64) -> String {
        match self.order {
            Growing::Number => format!("n >= {number} and n < {}", number + RANGE),
            Growing::Time => {
                let from = time(number);
                let to = time(number + RANGE * USERS);
                format!("user = '{}' and at >= {from} and at < {to}", user(number))
            }
        }
    }
}

fn time(number: u64) -> u64 {
    BEGIN_MILLIS + number
}

fn user(number: u64) -> String {
    format!("u{:02}", number % USERS)
}

/// What was measured of a design.
pub(crate) struct Measured {
    /// The design.
    pub(crate) name: &'static str,
    /// Its template.
    pub(crate) template: &'static str,
    /// Rows written per second.
    pub(crate) writes_per_second: f64,
    /// The share of the rows of each server, the busiest first.
    pub(crate) shares: Vec<f64>,
    /// A read of one row.
    pub(crate) get: Cost,
    /// A read of many rows in order.
    pub(crate) range: Cost,
}

/// What a read costs on average.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cost {
    /// Servers that it asks.
    pub(crate) servers: f64,
    /// Rows that the servers look at.
    pub(crate) rows: f64,
    /// Rows that it returns.
    pub(crate) returned: f64,
    /// Its median time, in milliseconds.
    pub(crate) millis: f64,
}

/// Runs the experiment, prints its result, and draws it if wanted.
///
/// # Errors
/// The errors of the database; `Io` if the drawing cannot be written.
pub(crate) fn run(args: &HotspotArgs) -> Result<Vec<Measured>> {
    if !(args.seconds > 0.0 && args.seconds <= 600.0) {
        return Err(Error::invalid("--seconds must be above 0 and at most 600"));
    }
    let runtime = tokio::runtime::Runtime::new()
        .map_err(|source| Error::io("cannot start the runtime", source))?;
    let measured = runtime.block_on(measure(args))?;
    print!("{}", draw::text(&measured, args));
    if let Some(path) = &args.svg {
        let context = format!("cannot write {}", path.display());
        let write = std::fs::write(path, draw::svg(&measured, args));
        write.map_err(|source| Error::io(context, source))?;
        println!("drawn into {}", path.display());
    }
    Ok(measured)
}

async fn measure(args: &HotspotArgs) -> Result<Vec<Measured>> {
    let data = std::env::temp_dir().join(format!("rowhouse-hotspot-{}", std::process::id()));
    let options = Options {
        listen: "127.0.0.1:0".into(),
        zookeeper: Some("127.0.0.1:0".into()),
        region_servers: SERVERS,
        ops_per_server: Some(args.ops_per_server),
        ..Options::new(&data)
    };
    let server = Server::start(options).await?;
    let database = rowhouse::open(format!("hbase://{}", server.address())).await?;
    // Regions stay where they are: the experiment is about keys.
    database.admin().set_balancer(false).await?;
    let mut all = Vec::new();
    let mut failed = None;
    for (number, design) in DESIGNS.iter().enumerate() {
        match measure_design(&server, &database, number, design, args).await {
            Ok(measured) => all.push(measured),
            Err(error) => {
                failed = Some(error);
                break;
            }
        }
    }
    database.close().await?;
    server.stop().await?;
    let removed = std::fs::remove_dir_all(&data);
    match failed {
        Some(error) => Err(error),
        None => {
            removed.map_err(|source| Error::io("cannot remove the temporary store", source))?;
            Ok(all)
        }
    }
}

async fn measure_design(
    server: &Server,
    database: &Database,
    number: usize,
    design: &'static Design,
    args: &HotspotArgs,
) -> Result<Measured> {
    let spec = TableSpec::new(&format!("design{number}"))
        .key(design.template)
        .family("f")
        .splits(design.splits.map(<[u8]>::to_vec));
    let table = database.create_table(spec).await?;
    for begin in (0..ROWS_BEFORE).step_by(100) {
        let puts = (begin..begin + 100).map(|number| put(&table, design, number));
        for written in table.batch(puts.collect::<Result<_>>()?).await {
            written?;
        }
    }
    let name = table.name().to_string();
    let before = loads(database, &name, |region| region.writes).await?;
    let (written, seconds) = write(&table, design, args.seconds).await?;
    let after = loads(database, &name, |region| region.writes).await?;
    let mut counts: Vec<_> =
        after.iter().zip(&before).map(|(after, before)| after - before).collect();
    counts.sort_unstable_by_key(|&count| std::cmp::Reverse(count));
    let total: u64 = counts.iter().sum();
    let reader = Reader { server, database, table: &table };
    Ok(Measured {
        name: design.name,
        template: design.template,
        writes_per_second: written as f64 / seconds,
        shares: counts.iter().map(|&count| count as f64 / total.max(1) as f64).collect(),
        get: reader.read(|number| design.one(number)).await?,
        range: reader.read(|number| design.range(number)).await?,
    })
}

fn put(table: &Table, design: &Design, number: u64) -> Result<Mutation> {
    let fields = design.fields(number);
    Ok(table.row(&fields[..]).set("f", "v", "x").into_put()?.into())
}

/// Writes rows with growing numbers from many clients; returns how many, and the seconds.
async fn write(table: &Table, design: &'static Design, seconds: f64) -> Result<(u64, f64)> {
    let next = Arc::new(AtomicU64::new(ROWS_BEFORE));
    let stop = Arc::new(AtomicBool::new(false));
    let started = Instant::now();
    let writers: Vec<_> = (0..WRITERS)
        .map(|_| {
            let table = table.clone();
            let next = Arc::clone(&next);
            let stop = Arc::clone(&stop);
            tokio::spawn(async move {
                let mut written = 0;
                while !stop.load(Ordering::Relaxed) {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    table.mutate(put(&table, design, number)?).await?;
                    written += 1;
                }
                Ok::<u64, Error>(written)
            })
        })
        .collect();
    tokio::time::sleep(Duration::from_secs_f64(seconds)).await;
    stop.store(true, Ordering::Relaxed);
    let mut written = 0;
    for writer in writers {
        written += writer.await.map_err(|error| Error::invalid(error.to_string()))??;
    }
    Ok((written, started.elapsed().as_secs_f64()))
}

/// Returns a number of the table's regions, summed up for each server.
async fn loads(
    database: &Database,
    table: &str,
    number: impl Fn(&RegionLoad) -> u64,
) -> Result<Vec<u64>> {
    let status = database.admin().status().await?;
    let prefix = format!("{table},");
    let of_server = |load: &ServerLoad| {
        let regions = load.regions.iter().filter(|it| it.name.starts_with(prefix.as_bytes()));
        regions.map(&number).sum()
    };
    Ok(status.loads.iter().map(of_server).collect())
}

struct Reader<'a> {
    server: &'a Server,
    database: &'a Database,
    table: &'a Table,
}

impl Reader<'_> {
    /// Runs queries one after the other; returns what one of them costs.
    async fn read(&self, query: impl Fn(u64) -> String) -> Result<Cost> {
        // The first one waits for the writes that were admitted before.
        self.table.query(&query(0)).count().await?;
        let name = self.table.name().to_string();
        let seen = |region: &RegionLoad| region.reads + region.filtered_reads;
        let before: u64 = loads(self.database, &name, seen).await?.iter().sum();
        let mut millis = Vec::new();
        let mut servers = 0;
        let mut returned = 0;
        for number in (0..READS).map(|read| read * 7) {
            let calls = self.server.region_server_calls();
            let started = Instant::now();
            returned += self.table.query(&query(number)).count().await?;
            millis.push(started.elapsed().as_secs_f64() * 1000.0);
            let after = self.server.region_server_calls();
            servers += after.iter().zip(&calls).filter(|(after, before)| after > before).count();
        }
        let after: u64 = loads(self.database, &name, seen).await?.iter().sum();
        millis.sort_unstable_by(f64::total_cmp);
        let each = |sum: u64| sum as f64 / READS as f64;
        Ok(Cost {
            servers: each(servers as u64),
            rows: each(after - before),
            returned: each(returned),
            millis: millis[millis.len() / 2],
        })
    }
}
