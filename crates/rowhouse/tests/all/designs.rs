//! Design simulations against tables: a simulation predicts what a table does.

use std::fmt::Write;
use std::path::Path;
use std::time::Duration;

use rowhouse::admin::{CompactionKind, CompactionState, RegionLoad};
use rowhouse::advise::{Advice, Design, Spread, Way, Workload, advise, simulate, workload_of};
use rowhouse::query::Analysis;
use rowhouse::{Database, Mutation, Put, Table, TableSpec, Value};
use rowhouse_server::{Options, Server};

use crate::support::{Random, loopback};

/// User mail, with questions whose answers need no order.
const MAIL: &str = "\
field user string: 40 values, zipf 1
field box enum(in,out,spam): 3 values
field at millis: now
column d:s sender string: 60 values
column d:z size u32: 5000 values
write 100/s
ask user = ? limit 5 : 10/s
ask user = ? and at >= ? and at < ? + 2h : 5/s
ask sender = ? : 1/s
ask user = ? and box = ? and size >= ? : 1/s
rows 600
";

const KEYS: [&str; 10] = [
    "[user string][at millis desc][box enum(in,out,spam)]",
    "[user text 8][box enum(in,out,spam)][at millis]",
    "[at millis][user string][box enum(in,out,spam)]",
    "[bucket 4 of user][user string][at millis][box enum(in,out,spam)]",
    "[bucket 16 of user,at][user string][at millis][box enum(in,out,spam)]",
    "[bucket 4 of at][at millis desc][box enum(in,out,spam)][user string]",
    "[hash 2 of user][user string][box enum(in,out,spam)][at millis]",
    "[box enum(in,out,spam)][user string][at millis]",
    "[user text reverse]#[at millis digits desc]/[box enum(in,out,spam)]",
    "[salt 4][user string][at millis][box enum(in,out,spam)]",
];

const INDEXES: [&str; 2] = ["", "by_sender [sender]; by_user [user][box][size]"];

/// Writes a workload's rows to a table with a design, as a program would; the table has the regions
/// that the region model has at the end.
async fn table_of(database: &Database, workload: &Workload, design: &Design, name: &str) -> Table {
    let spread = Spread::of(workload, design).unwrap();
    let mut spec = TableSpec::new(name).key(&design.key().to_string()).family("d");
    spec = spec.columns("d:s sender string; d:z size u32");
    for index in design.indexes() {
        spec = spec.index(&index.to_string());
    }
    let spec = spec.splits(spread.tables[0].splits.clone());
    let table = database.create_table(spec).await.unwrap();
    let admin = database.admin();
    for table in &spread.tables[1..] {
        let entries = format!("{name}.{}", table.index.as_ref().unwrap());
        let entries = database.table(&entries).await.unwrap();
        for split in &table.splits {
            let last = entries.regions().await.unwrap().pop().unwrap();
            admin.split_region(&last, Some(split.clone())).await.unwrap();
        }
    }
    for number in 0..workload.rows() {
        let record = workload.record(number).unwrap();
        let mut named: Vec<(&str, Value)> = workload.names().zip(record.values.clone()).collect();
        let columns = named.split_off(3);
        let key = if design.key().has_salt() {
            design.key_of(&record, number).unwrap()
        } else {
            table.key(&named).unwrap()
        };
        let mut put = Put::new(key).unwrap();
        for (name, value) in columns {
            let cell = table.column_schema().unwrap().encode(name, value).unwrap();
            put = put.add(cell.family, cell.qualifier, cell.value).unwrap();
        }
        table.put(put).await.unwrap();
    }
    let indexes = design.indexes().iter().map(|index| format!("{name}.{}", index.name()));
    for name in [name.to_owned()].into_iter().chain(indexes) {
        admin.flush(&name).await.unwrap();
        admin.compact(&name, None, CompactionKind::Major).await.unwrap();
        while admin.compaction_state(&name).await.unwrap() != CompactionState::None {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }
    table
}

/// Analyzes a question with the values that it has the nth time.
async fn analyzed(table: &Table, workload: &Workload, question: usize, nth: u64) -> Analysis {
    let question = &workload.questions()[question];
    let query = table.query(&workload.ask(question, nth).unwrap()).limit(u64::MAX);
    let query = match question.limit {
        Some(limit) => query.limit(limit),
        None => query,
    };
    query.analyze().await.unwrap()
}

/// Checks that a design simulation reads what the questions read in a table with the design, as
/// `analyze` counts it, in the same ways.
async fn assert_simulated(
    database: &Database,
    workload: &Workload,
    design: &Design,
    dir: &Path,
    name: &str,
) {
    let simulation = simulate(workload, design, dir).await.unwrap();
    let table = table_of(database, workload, design, name).await;
    for (at, cost) in simulation.questions.iter().enumerate() {
        let mut read = 0;
        let mut returned = 0;
        let mut most = 0;
        let mut by_index = 0;
        for nth in 0..cost.asked {
            let analysis = analyzed(&table, workload, at, nth).await;
            read += analysis.total().rows_read;
            returned += analysis.rows_returned();
            most = most.max(analysis.total().rows_read);
            by_index +=
                u64::from(analysis.reads().tables.iter().any(|it| it.table != *table.name()));
        }
        let mean = |sum: u64| sum as f64 / cost.asked as f64;
        let of = format!("{design}: {}", cost.question);
        assert_eq!(cost.rows_returned, mean(returned), "{of}");
        assert_eq!(cost.rows, mean(read), "{of}");
        assert_eq!(cost.rows_max, most, "{of}");
        if by_index == 0 || by_index == cost.asked {
            assert_eq!(cost.way == Way::Key, by_index == 0, "{of}");
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn simulations_of_twenty_designs_read_the_rows_that_tables_read() {
    let dir = tempfile::tempdir().unwrap();
    let database = rowhouse::open(dir.path().join("data").to_str().unwrap()).await.unwrap();
    let workload = Workload::parse(MAIL).unwrap();
    let designs = KEYS.iter().flat_map(|key| INDEXES.map(|indexes| (key, indexes)));
    let mut count = 0;
    for (key, indexes) in designs {
        let design = Design::new(&workload, key, indexes).unwrap();
        assert_simulated(&database, &workload, &design, dir.path(), &format!("mail{count}")).await;
        count += 1;
    }
    assert_eq!(count, 20);
    database.close().await.unwrap();
}

const FIELDS: &str = "\
field user string: 40 values, zipf 1
field box enum(in,out,spam): 3 values
field at millis: now
column d:s sender string: 60 values
column d:z size u32: 5000 values
write 100/s
rows 400
";

/// Returns a workload with random questions, whose answers need no order.
fn random_workload(random: &mut Random) -> Workload {
    const CONDITIONS: [&str; 8] = [
        "user = ?",
        "box = ?",
        "at >= ? and at < ? + 1h",
        "sender = ?",
        "size >= ?",
        "size = ?",
        "user in (?, ?)",
        "user = ? and sender = ?",
    ];
    let mut text = FIELDS.to_owned();
    for _ in 0..4 {
        let mut conditions = vec![random.one_of(&CONDITIONS)];
        if random.is(5) {
            conditions.push(random.one_of(&CONDITIONS));
        }
        let order = random.one_of(&["", "", " limit 3", " limit 20"]);
        let _ =
            writeln!(text, "ask {}{order} : {}/s", conditions.join(" and "), 1 + random.below(20));
    }
    Workload::parse(&text).unwrap()
}

/// Returns a random key, and up to three random indexes.
fn random_design(random: &mut Random) -> (String, String) {
    let mut fields = vec![
        random.one_of(&["[user string]", "[user string desc]", "[user text 8]"]),
        random.one_of(&["[box enum(in,out,spam)]", "[box enum(in,out,spam) desc]"]),
        random.one_of(&["[at millis]", "[at millis desc]", "[at millis digits desc]"]),
    ];
    let mut key = String::new();
    key.push_str(random.one_of(&["", "", "", "[bucket 4 of user]", "[bucket 4 of user,at]"]));
    while !fields.is_empty() {
        key.push_str(fields.remove(random.below(fields.len() as u64) as usize));
    }
    const INDEXES: [&str; 8] = [
        "a [sender]",
        "b [sender][at desc] covers size",
        "c [size desc][user]",
        "d [user][at]",
        "e [box][at] covers *",
        "f [bucket 4 of sender][sender]",
        "g [at] covers sender",
        "h [sender xxh3 2] where size > 100",
    ];
    let indexes = INDEXES.iter().filter(|_| random.below(4) == 0).take(3).copied();
    (key, indexes.collect::<Vec<_>>().join("; "))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn simulations_of_random_designs_read_the_rows_that_tables_read() {
    let dir = tempfile::tempdir().unwrap();
    let database = rowhouse::open(dir.path().join("data").to_str().unwrap()).await.unwrap();
    let designs = std::env::var("DESIGNS").map_or(10, |count| count.parse().unwrap());
    for seed in 0..designs {
        let mut random = Random::new(seed);
        let workload = random_workload(&mut random);
        let (key, indexes) = random_design(&mut random);
        let design = Design::new(&workload, &key, &indexes).unwrap();
        assert_simulated(&database, &workload, &design, dir.path(), &format!("t{seed}")).await;
    }
    database.close().await.unwrap();
}

const SERVERS: u32 = 4;
/// Operations per second for each server: far more than one server gets.
const OPS_PER_SERVER: u64 = 4_000;
/// Rows that are written to the servers after the workload's rows.
const WRITTEN: u64 = 800;

/// Returns the shares of the writes that the busiest region and the busiest of four region servers
/// take, whose operations are limited, when rows are written after the workload's rows.
async fn busiest(database: &Database, workload: &Workload, key: &str, name: &str) -> (f64, f64) {
    let design = Design::new(workload, key, "").unwrap();
    let spread = Spread::of(workload, &design).unwrap();
    let spec = TableSpec::new(name).key(key).family("d").splits(spread.tables[0].splits.clone());
    let table = database.create_table(spec).await.unwrap();
    let from = workload.rows();
    let puts = (from..from + WRITTEN).map(|number| {
        let key = design.key_of(&workload.record(number).unwrap(), number).unwrap();
        Mutation::from(Put::new(key).unwrap().add("d", "x", "").unwrap())
    });
    for written in table.batch(puts.collect()).await {
        written.unwrap();
    }
    let status = database.admin().status().await.unwrap();
    let prefix = format!("{name},");
    let mut regions = Vec::new();
    let mut servers = Vec::new();
    for load in &status.loads {
        let of_table = |region: &&RegionLoad| region.name.starts_with(prefix.as_bytes());
        let writes: Vec<u64> =
            load.regions.iter().filter(of_table).map(|region| region.writes).collect();
        servers.push(writes.iter().sum::<u64>());
        regions.extend(writes);
    }
    assert_eq!(regions.iter().sum::<u64>(), WRITTEN, "{name}");
    let share = |writes: Vec<u64>| *writes.iter().max().unwrap() as f64 / WRITTEN as f64;
    (share(regions), share(servers))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn designs_whose_shares_differ_stand_in_the_order_that_four_region_servers_show() {
    let dir = tempfile::tempdir().unwrap();
    let options = Options {
        region_servers: SERVERS,
        ops_per_server: Some(OPS_PER_SERVER),
        ..loopback(dir.path())
    };
    let server = Server::start(options).await.unwrap();
    let database = rowhouse::open(format!("hbase://{}", server.address())).await.unwrap();
    database.admin().set_balancer(false).await.unwrap();
    let workload = Workload::parse(
        "field user string: 200 values, zipf 1\nfield at millis: now\nfield site u8: 3 values\n\
         rows 6000\nregions 16\nservers 4",
    )
    .unwrap();
    let keys = [
        "[at millis][user string][site u8]",
        "[bucket 2 of user][at millis][user string][site u8]",
        "[site u8][at millis][user string]",
        "[user string][at millis][site u8]",
        "[bucket 16 of user,at][at millis][user string][site u8]",
    ];
    let mut measured = Vec::new();
    for (at, key) in keys.iter().enumerate() {
        let design = Design::new(&workload, key, "").unwrap();
        let modelled = Spread::of(&workload, &design).unwrap().median();
        let (region, server) = busiest(&database, &workload, key, &format!("design{at}")).await;
        measured.push((*key, modelled, region, server));
    }
    let pairs = measured.iter().flat_map(|one| measured.iter().map(move |other| (one, other)));
    let mut compared = 0;
    for (one, other) in pairs.filter(|(one, other)| one.1 >= other.1 + 0.1) {
        assert!(one.2 > other.2, "{one:?} {other:?}");
        compared += 1;
    }
    assert!(compared >= 8, "{measured:?}");
    // One server does all the work for keys that grow, and all do it for buckets.
    let sequential = measured[0];
    let bucketed = measured[4];
    assert_eq!((sequential.1, sequential.3), (1.0, 1.0));
    assert!(bucketed.3 < 0.4, "{bucketed:?}");
    database.close().await.unwrap();
    server.stop().await.unwrap();
}

/// Returns the advice without times.
fn without_times(mut advice: Advice) -> Advice {
    for simulation in advice.designs.iter_mut().filter_map(|design| design.simulation.as_mut()) {
        simulation.questions.iter_mut().for_each(|cost| cost.cpu = Duration::ZERO);
    }
    advice
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_example_workloads_have_the_same_advice_in_each_run() {
    let examples = [
        (
            include_str!("../../../../docs/workloads/mail.design"),
            1000,
            "[user string][at millis desc]",
        ),
        (
            include_str!("../../../../docs/workloads/metrics.design"),
            4000,
            "[bucket 16 of host][metric string][at millis][host string]",
        ),
        (
            include_str!("../../../../docs/workloads/orders.design"),
            1000,
            "[bucket 16 of order][order u64] + by_customer [customer][placed desc null last]",
        ),
    ];
    let dir = tempfile::tempdir().unwrap();
    for (text, rows, advised) in examples {
        let workload = Workload::parse(text).unwrap().with_rows(rows).unwrap();
        let advice = without_times(advise(&workload, dir.path()).await.unwrap());
        assert_eq!(advice.designs[0].text(), advised);
        if advised.starts_with("[user") {
            assert!(!advice.is_change, "{:?}", advice.reasons);
            assert_eq!(advice, without_times(advise(&workload, dir.path()).await.unwrap()));
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_table_is_advised_from_its_rows_and_the_advised_steps_lead_there() {
    let dir = tempfile::tempdir().unwrap();
    let database = rowhouse::open(dir.path().join("data").to_str().unwrap()).await.unwrap();
    let spec = TableSpec::new("mail").key("[at millis][user string]").family("d");
    let mail = database.create_table(spec.columns("d:s sender string")).await.unwrap();
    for number in 0..600_u64 {
        let user = format!("u{}", number * 7919 % 31);
        let fields =
            [("at", Value::from(1_700_000_000_000 + number * 1000)), ("user", user.into())];
        let sender = format!("s{}", number % 9);
        mail.row(&fields).set_named("sender", sender).put().await.unwrap();
    }
    let questions = ["user = ? newest 10 : 20/s", "sender = ? limit 3 : 1/m"];
    let workload = workload_of(&database, "mail", &questions).await.unwrap();
    assert_eq!((workload.rows(), workload.time_field()), (600, Some("at")));
    let advice = advise(&workload, dir.path()).await.unwrap();
    assert!(advice.is_change, "{:?}", advice.reasons);
    let advised = &advice.designs[0].key;
    assert!(advised.contains("[user string][at millis"), "{advised}");

    // The first step declares a copy with the advised key, the second promotes it.
    let copy = advice.steps[0].split("INDEXES => '").nth(1).unwrap().trim_end_matches('\'');
    let admin = database.admin();
    admin.alter_indexes("mail", copy).await.unwrap();
    while admin.promote_index("mail", "advised").await.is_err() {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    let mail = database.table("mail").await.unwrap();
    assert_eq!(mail.key_schema().unwrap().to_string(), *advised);

    let no_table = workload_of(&database, "nothing", &[""; 0]).await.map(|_| ());
    assert!(no_table.is_err());
    let mistake = workload_of(&database, "mail", &["colour = ?"]).await.map(|_| ()).unwrap_err();
    assert!(mistake.message().contains("there is no field or column `colour`"), "{mistake}");
    database.close().await.unwrap();
}
