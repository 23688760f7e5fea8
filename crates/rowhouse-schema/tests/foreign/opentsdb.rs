//! Whole OpenTSDB keys, salted and not.

use expect_test::expect;
use rowhouse_schema::{KeySchema, Value};

use crate::golden::{Line, lines};

/// The identifiers listed in the file's comments.
fn identifier(name: &str) -> u32 {
    match name {
        "sys.cpu.user" | "host" | "web01" => 1,
        "sys.mem" => 65_280,
        "dc" => 2,
        "web02" => 256,
        "東京" => 3,
        "last" => 16_777_215,
        other => panic!("{other}"),
    }
}

fn template(kind: &str) -> String {
    let salt = match kind.split_once("salt ").and_then(|(_, salt)| salt.split_once(" of ")) {
        Some((width, count)) => format!("[bucket {count} of metric,tags by opentsdb.salt {width}]"),
        None => String::new(),
    };
    let uid = if kind.ends_with("uid 4") { "u32" } else { "u24" };
    format!("{salt}[metric {uid}][base seconds 4 floor 1h][tags repeat({uid} {uid})]")
}

/// Returns a line's metric, seconds and tag pairs, ordered by the tags' identifiers.
fn values(line: &Line) -> (Value, Value, Value) {
    let mut parts = line.value.splitn(3, ' ');
    let mut next = || parts.next().unwrap();
    let metric = next();
    let time = next();
    let tags = next().trim_matches(['{', '}']);
    let time: u64 = time.parse().unwrap();
    // OpenTSDB reads a number with more than 32 bits as milliseconds.
    let seconds = if time > u32::MAX.into() { time / 1000 } else { time };
    let pairs = tags.split(", ").filter_map(|tag| tag.split_once('='));
    let mut pairs: Vec<_> = pairs.map(|(k, v)| (identifier(k), identifier(v))).collect();
    pairs.sort_unstable();
    let pairs = pairs.into_iter().map(|(k, v)| Value::List(vec![k.into(), v.into()]));
    (identifier(metric).into(), seconds.into(), pairs.collect::<Vec<_>>().into())
}

#[test]
fn keys_are_those_of_opentsdb() {
    let mut without_tags = 0;
    for line in lines("opentsdb.txt") {
        // A list may be empty here; OpenTSDB refuses a key without tags.
        let Some(key) = &line.key else {
            without_tags += 1;
            continue;
        };
        let schema = KeySchema::parse(&template(&line.kind)).unwrap();
        let (metric, base, tags) = values(&line);
        let pairs = [("metric", metric.clone()), ("base", base), ("tags", tags.clone())];
        assert_eq!(schema.encode(&pairs).unwrap(), *key, "{}", line.shown());
        let values = schema.decode(key).unwrap();
        assert_eq!(values.encode().unwrap(), *key);
        assert_eq!((&values["metric"], &values["tags"]), (&metric, &tags), "{}", line.shown());
    }
    assert_eq!(without_tags, 7);
}

#[test]
fn a_salt_says_its_width_where_that_is_not_the_least() {
    let printed = |template: &str| KeySchema::parse(template).unwrap().to_string();
    let salted = |salt: &str| format!("[bucket {salt}][metric u24][tags repeat(u24 u24)]");
    let texts = [
        "20 of metric,tags by opentsdb.salt 1",
        "20 of metric,tags by opentsdb.salt 2",
        "1000 of metric,tags by opentsdb.salt",
        "1000 of metric,tags by opentsdb.salt 2",
        "1000 of metric,tags by opentsdb.salt 3",
    ];
    let printed: Vec<_> = texts.iter().map(|salt| printed(&salted(salt))).collect();
    expect![[r#"
        [bucket 20 of metric,tags by opentsdb.salt][metric u24][tags repeat(u24 u24)]
        [bucket 20 of metric,tags by opentsdb.salt 2][metric u24][tags repeat(u24 u24)]
        [bucket 1000 of metric,tags by opentsdb.salt][metric u24][tags repeat(u24 u24)]
        [bucket 1000 of metric,tags by opentsdb.salt][metric u24][tags repeat(u24 u24)]
        [bucket 1000 of metric,tags by opentsdb.salt 3][metric u24][tags repeat(u24 u24)]"#]]
    .assert_eq(&printed.join("\n"));
    let narrow = KeySchema::parse(&salted("1000 of metric,tags by opentsdb.salt 1"));
    expect![[r#"
        too many buckets for opentsdb.salt: count=1000, max=256: offset=8
          [bucket 1000 of metric,tags by opentsdb.salt 1][metric u24][tags repeat(u24 u24)]
                  ^"#]]
    .assert_eq(&narrow.unwrap_err().to_string());
}
