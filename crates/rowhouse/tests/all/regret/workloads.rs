//! Workloads of ten trades with drawn sizes and rates, and workloads that are drawn as a whole.

use std::fmt::Write;

use crate::support::Random;

/// The number of trades.
pub(crate) const TRADES: u64 = TRADE.len() as u64;

/// A trade: the rows, and the questions, from which each workload takes some.
struct Trade {
    name: &'static str,
    /// Lines in which `N`, `M` and `L` stand for numbers of values, `Z` for a skew.
    rows: &'static str,
    questions: &'static [&'static str],
    limits: &'static [&'static str],
}

const TRADE: [Trade; 10] = [
    Trade {
        name: "chat",
        rows: "field room u64: N values, zipf Z\nfield at millis: now\n\
               column d:s sender u64: M values, zipf Z\ncolumn d:t body string: 20 to 80 bytes",
        questions: &[
            "room = ? newest 50",
            "room = ? and sender = ? newest 20",
            "sender = ? newest 20",
            "room = ? and at >= now - 1h",
        ],
        limits: &["", "never a question reads more than 20000 rows"],
    },
    Trade {
        name: "shop",
        rows: "field order u64: sequence from 1000\ncolumn o:c customer string: M values, zipf Z\n\
               column o:s state enum(open,paid,sent,done): 4 values, zipf 1.5\n\
               column o:p placed millis: now",
        questions: &[
            "order = ?",
            "customer = ? newest 10",
            "order >= ? and order < ? + 100",
            "customer = ? and state = ? newest 5",
        ],
        limits: &["", "never a question reads more than 1000 rows"],
    },
    Trade {
        name: "metrics",
        rows: "field metric string: N values, zipf Z\nfield host string: M values\n\
               field at millis: now\ncolumn d:v value f64: random",
        questions: &[
            "metric = ? and host = ? and at >= now - 10m",
            "metric = ? and at >= now - 1m",
            "host = ? and at >= now - 5m",
            "metric = ? and host = ? newest 1",
        ],
        limits: &["", "never a server takes more than 4000/s writes"],
    },
    Trade {
        name: "clicks",
        rows: "field visitor uuid: random\nfield at millis: now\n\
               column c:p page string: M values, zipf Z\ncolumn c:s site u16: N values",
        questions: &[
            "at >= now - 1m",
            "page = ? newest 100",
            "site = ? and at >= now - 10m",
            "visitor = ?",
        ],
        limits: &["", "never a region takes more than 30 % of the writes"],
    },
    Trade {
        name: "bank",
        rows: "field account u64: M values, zipf Z\nfield at millis: now\n\
               field entry u64: sequence\ncolumn b:o other u64: M values, zipf Z\n\
               column b:v value u32: 10000 values",
        questions: &[
            "account = ? newest 20",
            "account = ? and at >= now - 1d and at < now - 12h",
            "other = ? newest 20",
            "entry = ?",
        ],
        limits: &["", "never a question reads more than 5000 rows"],
    },
    Trade {
        name: "fleet",
        rows: "field tenant u16: L values, zipf Z\nfield vehicle u32: M values\n\
               field at millis: now\ncolumn p:s speed u16: 200 values",
        questions: &[
            "tenant = ? and vehicle = ? newest 1",
            "vehicle = ? and at >= now - 1h",
            "tenant = ? and at >= now - 1m",
            "tenant = ? and vehicle = ? and at >= now - 1h",
        ],
        limits: &["", "never a region takes more than 60 % of the writes"],
    },
    Trade {
        name: "follows",
        rows: "field follower u64: M values, zipf Z\nfield followed u64: M values, zipf Z\n\
               column f:t since millis: now",
        questions: &[
            "follower = ? and followed = ?",
            "follower = ? limit 100",
            "followed = ? limit 100",
            "followed = ? newest 20",
        ],
        limits: &["", "never a question reads more than 2000 rows"],
    },
    Trade {
        name: "games",
        rows: "field game u16: L values, zipf Z\nfield player u64: M values, zipf Z\n\
               field at millis: now\ncolumn g:p points u32: 100000 values",
        questions: &[
            "game = ? and player = ? newest 10",
            "player = ? newest 20",
            "game = ? newest 50",
            "game = ? and points >= ? limit 10",
        ],
        limits: &["", "never a question reads more than 50000 rows"],
    },
    Trade {
        name: "articles",
        rows: "field article u64: sequence\ncolumn a:a author string: N values, zipf Z\n\
               column a:t topic string: L values, zipf Z\ncolumn a:p published millis: now",
        questions: &[
            "article = ?",
            "author = ? newest 10",
            "topic = ? newest 20",
            "topic = ? and author = ? newest 5",
        ],
        limits: &["", "never a question reads more than 1000 rows"],
    },
    Trade {
        name: "sensors",
        rows: "field region u8: L values\nfield device u32: M values\nfield kind u8: 5 values, zipf Z\n\
               column s:t taken millis: now\ncolumn s:v value u16: 1000 values",
        questions: &[
            "region = ? and device = ? and kind = ?",
            "device = ? limit 20",
            "region = ? and kind = ? limit 50",
            "kind = ? and value >= ? limit 10",
        ],
        limits: &["", "never a region takes more than 50 % of the writes"],
    },
];

/// Returns a trade's workload with numbers drawn by the seed, and its name.
pub(crate) fn of_trade(trade: u64, seed: u64) -> (String, String) {
    let mut random = Random::new(seed * 1000 + trade);
    let trade = &TRADE[trade as usize];
    let few = random.one_of(&["2", "5", "20"]);
    let some = random.one_of(&["50", "200", "2000"]);
    let many = random.one_of(&["200", "5000", "50000"]);
    let skew = random.one_of(&["0.5", "0.8", "1", "1.2"]);
    let numbers = [(" N ", some), (" M ", many), (" L ", few), ("zipf Z", skew)];
    let mut text = String::new();
    for line in trade.rows.lines() {
        let mut line = line.to_owned();
        for (name, number) in numbers {
            let number = match name {
                "zipf Z" => format!("zipf {number}"),
                _ => format!(" {number} "),
            };
            line = line.replace(name, &number);
        }
        let _ = writeln!(text, "{line}");
    }
    rates(&mut random, trade.questions, &mut text);
    let _ = writeln!(text, "{}", random.one_of(trade.limits));
    (format!("{} {seed}", trade.name), text)
}

/// Returns a workload with drawn fields, columns and questions, and its name.
pub(crate) fn drawn(seed: u64) -> (String, String) {
    let mut random = Random::new(seed ^ 0x5eed);
    let mut text = String::new();
    let mut names = Vec::new();
    let fields = 1 + random.below(3);
    for name in ["a", "b", "c"].into_iter().take(fields as usize) {
        let values = values(&mut random);
        let _ = writeln!(text, "field {name} {values}");
        names.push(name);
    }
    for name in ["x", "y"] {
        let values = values(&mut random);
        let _ = writeln!(text, "column d:{name} {name} {values}");
        names.push(name);
    }
    let has_time = !text.contains("now");
    if has_time {
        let _ = writeln!(text, "column d:t at millis: now");
    }
    let mut questions = Vec::new();
    for _ in 0..4 {
        let first = random.one_of(&names);
        let second = random.one_of(&names);
        let mut question = format!("{first} = ?");
        if second != first {
            question += match random.below(3) {
                0 => "",
                1 => " and S = ?",
                _ => " and S >= ?",
            };
            question = question.replace('S', second);
        }
        question += random.one_of(&["", " limit 10", " newest 10", " newest 50"]);
        if !questions.contains(&question) {
            questions.push(question);
        }
    }
    let questions: Vec<&str> = questions.iter().map(String::as_str).collect();
    rates(&mut random, &questions, &mut text);
    let limits = [
        "",
        "",
        "never a question reads more than 3000 rows",
        "never a region takes more than 40 % of the writes",
    ];
    let _ = writeln!(text, "{}", random.one_of(&limits));
    (format!("drawn {seed}"), text)
}

/// Returns a type with a distribution.
fn values(random: &mut Random) -> String {
    let skew = random.one_of(&["", ", zipf 0.7", ", zipf 1.1"]);
    let count = random.one_of(&["3", "30", "1000", "20000"]);
    match random.below(6) {
        0 => "u64: sequence".to_owned(),
        1 => "uuid: random".to_owned(),
        2 => "millis: now".to_owned(),
        3 => format!("string: {count} values{skew}, 4 to 12 bytes"),
        4 => format!("u32: {count} values{skew}"),
        _ => format!("text: {count} values{skew}"),
    }
}

/// Writes the write rate and two to four questions with rates.
fn rates(random: &mut Random, questions: &[&str], text: &mut String) {
    let writes = random.one_of(&["1/m", "2/s", "50/s", "500/s", "3000/s"]);
    let over = random.one_of(&["2h", "1d"]);
    let _ = writeln!(text, "write {writes}\nover {over}");
    let count = (2 + random.below(3) as usize).min(questions.len());
    let first = random.below(questions.len() as u64) as usize;
    for at in 0..count {
        let question = questions[(first + at) % questions.len()];
        let rate = random.one_of(&["1/m", "1/s", "20/s", "200/s", "1000/s"]);
        let _ = writeln!(text, "ask {question} : {rate}");
    }
}
