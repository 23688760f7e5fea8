//! Random keys, columns, indexes and rows. Values come from small pools, so that rows collide and
//! queries find some.

use proptest::prelude::*;
use proptest::sample::{Index as At, select};
use rowhouse_model::Row;
use rowhouse_schema::{CellBytes, ColumnSchema, Index, IndexSchema, KeySchema, Value};

/// Keys: a, b and c are their fields.
pub(crate) const KEYS: &[&str] = &[
    "[a string][b u8]",
    "[a text]_[b u8 desc]",
    "[a text]_[b u8]",
    "[a text][b u16]",
    "[b u8][a domain]",
    "[bucket 4 of a][a string][b millis desc]",
    "[b millis digits 13][a text 3 pad x]",
    "[a string desc null last][b i8 null first]",
    "[b u8 null last][a string null first]",
    "[s text md5 2][b u8]",
    "[n u8 floor 4][a string]",
    "[bucket 3 of b as shard][b u8 reverse][c f64]",
    "[salt 2][a string]",
    "[a text md5 3][b u8]",
    "[b u8 floor 4][c bool]",
    "[b decimal]",
    "[a string][c repeat(u8 u8)]",
    "[b java.int][a phoenix.varchar]",
    "[b ymd tz +08:00][c enum(x,y=7)]",
    "[a tuple.string][b tuple.int]",
];

pub(crate) const COLUMNS: &str = "d:s s string; d:t t text; d:n n u8; d:i i i64; d:u u u64 digits; \
    d:f f f64; d:o o bool; d:e e enum(x,y=7); d:m m millis; d:y y ymd tz -03:00; d:h h domain; \
    d:p p decimal; d:x x hex 2; d:z z text 3 pad x; d:j j java.int; d:k k tuple.int; \
    d:r r ordered.string; d:l l tuple.string; q:[v string][w u8] q u8; r:_[v u8 null first] g string";

const NAMES: &[&str] = &[
    "a", "b", "c", "s", "t", "n", "n", "i", "u", "f", "o", "e", "m", "y", "h", "x", "z", "j", "k",
    "r", "q.v", "q.w", "g.v", "s", "p]_[s",
];

const MODIFIERS: &[&str] = &[
    "",
    "",
    "",
    "",
    " desc",
    " null first",
    " null last",
    " desc null last",
    " reverse",
    " md5 3",
    " floor 4",
    " floor 1h",
    " xxh3 1 hex",
    " hex",
    " digits",
];

const CONDITIONS: &[&str] = &[
    "",
    "",
    "",
    "",
    " where n > 2",
    " where n > 2 and n < 200",
    " where s in ('a', 'ab')",
    " where s starts with 'a'",
    " where t is null",
    " where f >= 0 and o = true",
    " where h under 'b.a'",
    " where a > 'a'",
    " where b = 1",
    " where m during 2022",
    " where n is not null",
    " where n >= 0",
    " where n >= 0",
    " where s >= ''",
    " covers n, s",
    " covers t where n = 1",
];

const TEXTS: &[&str] = &["", "a", "a!", "ab", "a\0", "b", "b.a", "a.b", "é", "abx"];
const NUMBERS: &[i128] = &[0, 1, 2, 3, 4, 7, 8, 127, 255, -1, 1_669_852_800_000, 1_671_000_000_000];

/// A table with one index, and rows.
#[derive(Clone, Debug)]
pub(crate) struct Case {
    pub(crate) key: KeySchema,
    pub(crate) columns: ColumnSchema,
    pub(crate) index: Index,
    /// Each with the key, in key order. Some keys do not fit the template.
    pub(crate) rows: Vec<(Vec<u8>, Row)>,
}

pub(crate) fn cases() -> impl Strategy<Value = Case> {
    (tables(), prop::collection::vec(drawn_rows(), 6..16)).prop_map(
        |((key, columns, index), rows)| {
            let rows = rows.iter().filter_map(|drawn| drawn_row(&key, &columns, drawn));
            let mut rows: Vec<_> = rows.collect();
            rows.sort_by(|a, b| a.0.cmp(&b.0));
            rows.dedup_by(|a, b| a.0 == b.0);
            Case { key, columns, index, rows }
        },
    )
}

fn tables() -> impl Strategy<Value = (KeySchema, ColumnSchema, Index)> {
    let field = (select(NAMES), select(MODIFIERS), select(&["", "", "", "_"][..]));
    let fields = prop_oneof![
        3 => prop::collection::vec(field.clone(), 1),
        2 => prop::collection::vec(field, 1..4),
    ];
    let computed =
        select(&["", "", "", "", "", "", "[bucket 4 of N]", "[bucket 3]", "[hash 1 of N hex]"][..]);
    (select(KEYS), fields, computed, select(CONDITIONS)).prop_filter_map(
        "fields stand where they can",
        |(key, fields, computed, condition)| {
            let key = KeySchema::parse(key).unwrap();
            let columns = ColumnSchema::parse(COLUMNS).unwrap();
            let first = fields[0].0.split(']').next().unwrap();
            let mut template = computed.replace('N', first);
            for (name, modifiers, literal) in &fields {
                template.push_str(&format!("[{name}{modifiers}]{literal}"));
            }
            let text = format!("i {template}{condition}");
            let indexes = IndexSchema::parse(&text, Some(&key), Some(&columns)).ok()?;
            let index = indexes.indexes()[0].clone();
            Some((key, columns, index))
        },
    )
}

/// Positions in the pools: for the key's fields, the cells, and the qualifiers.
type Drawn = (Vec<At>, Vec<(u8, At)>, Vec<(At, At)>);

fn drawn_rows() -> impl Strategy<Value = Drawn> {
    let qualifiers = prop::collection::vec((any::<At>(), any::<At>()), 0..4);
    let cells = prop::collection::vec((0..8_u8, any::<At>()), 18);
    (prop::collection::vec(any::<At>(), 4), cells, qualifiers)
}

fn drawn_row(
    key: &KeySchema,
    columns: &ColumnSchema,
    (fields, cells, qualifiers): &Drawn,
) -> Option<(Vec<u8>, Row)> {
    let values = key.fields().iter().zip(fields);
    let values: Vec<_> = values
        .map(|(field, at)| (field.name().to_owned(), value(&field.field_type().to_string(), at)))
        .collect();
    let mut row = key.encode_salted(&values, fields[3].index(2) as u64).ok()?.to_vec();
    if fields[3].index(16) == 0 {
        row.push(0x80);
    }
    let mut of_row = Vec::new();
    for (column, (kind, at)) in columns.columns().iter().zip(cells) {
        let Some(qualifier) = column.qualifier() else { continue };
        let of_type = column.field_type().to_string();
        let family = column.family().to_vec();
        let qualifier = qualifier.to_vec();
        let value = match kind {
            0..=1 => continue,
            2 if at.index(3) < 2 => b"\xff\xfe misfit".to_vec(),
            _ => match column.encode_value(&value(&of_type, at)) {
                Ok(value) => value.to_vec(),
                Err(_) => continue,
            },
        };
        let family = family.into();
        let qualifier = qualifier.into();
        let value = value.into();
        of_row.push((CellBytes { family, qualifier, value }, at.index(50) as i64));
    }
    for (v, w) in qualifiers {
        let fields = [("v", value("string", v)), ("w", value("u8", w))];
        of_row.extend(columns.encode_with("q", &fields, 1).map(|cell| (cell, 1)));
        let fields = [("v", if v.index(3) == 0 { Value::Null } else { value("u8", v) })];
        of_row.extend(columns.encode_with("g", &fields, "x").map(|cell| (cell, 1)));
    }
    of_row.sort_by(|a, b| (&a.0.family, &a.0.qualifier).cmp(&(&b.0.family, &b.0.qualifier)));
    of_row.dedup_by(|a, b| (&a.0.family, &a.0.qualifier) == (&b.0.family, &b.0.qualifier));
    Some((row.clone(), crate::row(&row, of_row)))
}

/// A value for a type, which it may be unable to hold.
pub(crate) fn value(of_type: &str, at: &At) -> Value {
    // Mostly one of two values, so that rows share them and queries find them.
    let number = *at.get(if at.index(4) > 0 { &NUMBERS[1..3] } else { NUMBERS });
    let texts = if at.index(4) > 0 { &TEXTS[1..4] } else { TEXTS };
    match of_type.split([' ', '(']).next().unwrap() {
        "string" | "text" | "domain" | "phoenix.varchar" | "tuple.string" | "ordered.string" => {
            (*at.get(texts)).into()
        }
        "hex" => format!("{:02x}", number & 0x0f).into(),
        "bool" => (number % 2 == 0).into(),
        "enum" => (*at.get(&["x", "y"])).into(),
        "f64" => (*at.get(&[0.0, 0.0, 0.0, -0.0, 1.0, 1.0, -1.5, f64::INFINITY])).into(),
        "ymd" => (*at.get(&["2022-12-01", "2022-12-14", "1999-01-01"])).into(),
        "repeat" => Value::List(vec![Value::List(vec![1_u8.into(), (number as u8).into()])]),
        _ => number.into(),
    }
}
