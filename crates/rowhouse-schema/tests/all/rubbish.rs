//! Parsers and decoders return for every input: without panics, endless loops or stack overflows.
//! Nearly valid input reaches deeper code than random input, so most inputs are valid ones with
//! damage.

use std::sync::LazyLock;

use proptest::prelude::*;
use proptest::sample::{Index, select};
use rowhouse_schema::{Date, Direction, Field, KeySchema, Plan, Predicate, Time, Uuid, Value};

const TEMPLATES: &[&str] = &[
    "[user string][at millis desc]",
    "[bucket 16 of user][user string][at millis desc]",
    "[blogger text]_[at millis digits desc]",
    "[phone digits 11 reverse]",
    "[followed text md5 4 hex][follower text md5 4 hex]",
    "[host domain]-[n decimal]\\x00[rest text]",
    "[metric text]#[at millis digits 13]",
    "[salt 4 a-d as shard]-[id text]",
    "[metric u24][base seconds 4 floor 1h][tags repeat(u24 u24)]",
    "[state enum(new,sent,lost=9)][paid bool desc][rate f64 null last]",
    "[hash 4 of id,at by sha256 hex as h][id uuid hex][at ymdhms desc]",
    "[user text 8 pad \\x20]\\[[day ymd]\\][raw bytes 3 desc][b blob desc]",
    "[n i24 floor 100][m u8 digits null first][short hex 5 upper][e text]",
    "[bucket 1000 of rest by murmur3 digits][a date][b nanos][c f32 desc]",
    "[user text][tag bytes 2][at seconds desc]",
];

const QUERIES: &[&str] = &[
    "user = 'bob' and at >= 2022-12-01 and at < 2023-01-01",
    "at during 2022-12 and user starts with 'b'",
    "n between 3 and -6 and m is not null",
    "metric in ('cpu', 'mem''ory', 'é')",
    "host under 'example.com' and n <= 99999999999999999999999999999999999999",
    "phone ends with '678' and phone != 1",
    "hash(id) in (0x00ff, x'01') and hash(a.b) = 0x00",
    "id = 0x00ff and b >= x'00ff' and raw = x''",
    "tags starts with ((1, 2), (3, 4)) and base = 1969852800",
    "at >= 2022-12-01T08:00:59.123456789+08:00 and at <= 2022-12-01T08Z",
    "rate > -1.5e300 and rate < inf and paid = true and shard = 'a'",
    "id = '67e55044-10b1-426f-9247-bb680e5fe0c8' and day = 2022-12-01",
];

/// Text pieces that are likely to break syntax.
const PIECES: &[&str] = &[
    "[",
    "]",
    "(",
    ")",
    "((",
    "'",
    "''",
    "\\",
    "\\x",
    "\\xF",
    "\\xFF",
    ",",
    "=",
    " ",
    "  ",
    "-",
    ":",
    "0",
    "00",
    "9",
    "65536",
    "18446744073709551616",
    "340282366920938463463374607431768211456",
    "1e999",
    "é",
    "\u{0}",
    "\u{7f}",
    "\u{10FFFF}",
    "\t",
    "desc",
    " desc",
    " null first",
    " reverse",
    " hex",
    " digits 38",
    " md5 16",
    " floor 1d",
    " of rest",
    " as n",
    "repeat(",
    "enum(",
    "text",
    "decimal",
    "domain",
    "bucket 0",
    "salt 999999999",
    "hash 32 of ",
    " and ",
    " in ",
    "between ",
    " is null",
    "during ",
    "starts with ",
    "2022-02-30",
    "-2022-01",
    "T24:00",
    "+99:99",
    "Z",
    "0x",
    "x'",
];

/// A position in a text, and the damage done there.
type Damage = (Index, Index, u8);

fn damages() -> impl Strategy<Value = Vec<Damage>> {
    prop::collection::vec(any::<Damage>(), 1..4)
}

fn damaged(text: &str, damages: &[Damage]) -> String {
    let mut chars: Vec<char> = text.chars().collect();
    for (from, to, kind) in damages {
        let from = from.index(chars.len() + 1);
        let to = to.index(chars.len() + 1);
        let start = from.min(to);
        let end = from.max(to);
        let piece = PIECES[usize::from(*kind) % PIECES.len()];
        match kind % 5 {
            0 | 1 => drop(chars.splice(start..start, piece.chars())),
            2 => drop(chars.splice(start..end.min(start + 3), piece.chars())),
            3 => drop(chars.drain(start..end.min(start + 4))),
            _ => {
                let copied = chars[start..end].to_vec();
                drop(chars.splice(end..end, copied));
            }
        }
    }
    chars.into_iter().collect()
}

fn damaged_bytes(bytes: &mut Vec<u8>, damages: &[Damage]) {
    for (from, to, kind) in damages {
        let at = from.index(bytes.len() + 1);
        let other = to.index(256) as u8;
        match kind % 4 {
            0 => bytes.insert(at, other),
            1 => bytes.truncate(at),
            2 => bytes.extend_from_within(..at),
            _ => {
                if let Some(byte) = bytes.get_mut(at) {
                    *byte ^= other | 1;
                }
            }
        }
    }
}

/// Calls everything that a parsed template offers.
fn use_up(schema: &KeySchema, key: &[u8]) {
    let printed = schema.to_string();
    assert_eq!(KeySchema::parse(&printed).unwrap().to_string(), printed);
    let _ = schema.check();
    let _ = schema.splits(5);
    let _ = schema.plain_steps();
    use_key(schema, key);
}

/// Calls everything that applies to a key.
fn use_key(schema: &KeySchema, key: &[u8]) {
    let _ = schema.logical_key(key);
    if let Ok(values) = schema.decode(key) {
        assert_eq!(values.encode().unwrap(), key, "{schema}");
    }
}

/// The templates, each with a key.
static ROWS: LazyLock<Vec<(KeySchema, Vec<u8>)>> = LazyLock::new(|| {
    let row = |template: &&str| {
        let schema = KeySchema::parse(template).unwrap();
        let pairs: Vec<_> =
            schema.fields().iter().map(|field| (field.name().to_owned(), value(field))).collect();
        let key = schema.encode_salted(&pairs, 7).unwrap().to_vec();
        (schema, key)
    };
    TEMPLATES.iter().map(row).collect()
});

/// Returns a value that the field can hold.
fn value(field: &Field) -> Value {
    let tried: [Value; 9] = [
        "new".into(),
        "a.b".into(),
        "00FF0".into(),
        Uuid::new([7; 16]).into(),
        vec![0, 1].into(),
        vec![7, 0, 1].into(),
        7.into(),
        true.into(),
        Value::List(vec![Value::List(vec![3.into(), 7.into()])]),
    ];
    let alone = KeySchema::parse(&format!("[{field}]")).unwrap();
    let fits = |value: &Value| alone.encode(&[(field.name(), value.clone())]).is_ok();
    tried.into_iter().find(fits).unwrap_or_else(|| panic!("no value for {field}"))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 6_000, failure_persistence: None, ..Default::default() })]

    #[test]
    fn damaged_templates_are_read_or_refused(
        template in select(TEMPLATES), damages in damages(), key: Vec<u8>,
    ) {
        if let Ok(schema) = KeySchema::parse(&damaged(template, &damages)) {
            use_up(&schema, &key);
        }
        let _ = KeySchema::from_stored(&damaged(&format!("1 {template}"), &damages));
    }

    #[test]
    fn damaged_queries_are_read_or_refused(
        query in select(QUERIES), row in 0..TEMPLATES.len(), damages in damages(),
    ) {
        let Ok(query) = Predicate::parse(&damaged(query, &damages)) else { return Ok(()) };
        let printed = query.to_string();
        prop_assert_eq!(Predicate::parse(&printed).map(|query| query.to_string()).ok(), Some(printed));
        if let Ok(plan) = ROWS[row].0.plan(&query) {
            let _ = plan.to_string();
        }
    }

    #[test]
    fn damaged_keys_are_read_or_refused(row in 0..TEMPLATES.len(), damages in damages()) {
        let (schema, key) = &ROWS[row];
        prop_assert!(schema.decode(key).is_ok(), "{}", schema);
        let mut key = key.clone();
        damaged_bytes(&mut key, &damages);
        use_key(schema, &key);
    }

    #[test]
    fn damaged_page_tokens_are_refused(damages in damages(), reverse: bool, bytes: Vec<u8>) {
        let plan = &*PLAN;
        let direction = if reverse { Direction::Reverse } else { Direction::Forward };
        let last = plan.page_token(&last_key(), direction).unwrap();
        let token = damaged(&last, &damages);
        if !token.eq_ignore_ascii_case(&last) {
            prop_assert!(plan.resume(&token, direction).is_err(), "{} for {}", token, last);
        }
        let hex: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
        prop_assert!(plan.resume(&hex, direction).is_err());
        let _ = plan.page_token(&bytes, direction);
    }

    #[test]
    fn damaged_constants_are_read_or_refused(
        constant in select(vec![
            "2022-12-01T08:00:59.123456789+08:00", "-1.5e300", "0x00ff", "1669852800000", "example.com",
            "67e55044-10b1-426f-9247-bb680e5fe0c8", "x'00ff'", "true", "null",
        ]),
        damages in damages(),
        row in 0..TEMPLATES.len(),
    ) {
        let constant = damaged(constant, &damages);
        let _ = Time::parse(&constant);
        let _ = Date::parse(&constant);
        let _ = Uuid::parse(&constant);
        for field in ROWS[row].0.fields() {
            let _ = field.parse_value(&constant);
        }
    }
}

static PLAN: LazyLock<Plan> = LazyLock::new(|| {
    let schema = KeySchema::parse("[bucket 4 of user][user string][n u8]").unwrap();
    schema.plan(&Predicate::parse("user >= 'b'").unwrap()).unwrap()
});

fn last_key() -> Vec<u8> {
    let schema = KeySchema::parse("[bucket 4 of user][user string][n u8]").unwrap();
    schema.encode(&[("user", "bob".into()), ("n", 7.into())]).unwrap().to_vec()
}

/// Input longer and deeper than in any real use returns too, without exhausting the stack.
#[test]
fn excessive_nesting_and_length_get_an_answer() {
    let much = 100_000;
    for piece in
        ["[", "]", "(", "\\", "[n repeat(", "[n u8]", "[n enum(", "a", "[bucket 2]", " ", "9"]
    {
        let text = piece.repeat(much);
        let _ = KeySchema::parse(&text);
        let _ = KeySchema::parse(&format!("[n u8]{text}"));
        let _ = KeySchema::parse(&format!("[n repeat({text}"));
        let _ = KeySchema::parse(&format!("[n enum({text})]"));
    }
    for piece in ["(", "((1), ", "'", "9", "n = 1 and ", "not ", "1, ", "x'"] {
        let text = piece.repeat(much);
        let _ = Predicate::parse(&text);
        let _ = Predicate::parse(&format!("n = {text}"));
        let _ = Predicate::parse(&format!("n in ({text})"));
        let _ = Time::parse(&text);
        let _ = PLAN.resume(&text, Direction::Forward);
    }
    for template in TEMPLATES {
        let schema = KeySchema::parse(template).unwrap();
        for byte in [0, 1, b'0', b'_', 0xFF] {
            use_key(&schema, &vec![byte; 32_767]);
            assert!(schema.decode(&vec![byte; 32_768]).is_err());
        }
    }
}
