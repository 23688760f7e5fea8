//! Derived code encodes the same keys as `KeySchema`, and decodes them.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::borrow::Cow;
use std::fmt::Debug;
use std::net::Ipv4Addr;

use proptest::prelude::*;
use rowhouse_derive::RowKey;
use rowhouse_model::escape;
use rowhouse_schema::{Date, FromRowKey, RowKey, Time, TimeUnit, Uuid, Value};

/// All fields are plain: encoded and decoded on the fast path.
#[derive(RowKey, Clone, Debug, PartialEq)]
#[key("[user string][shop u32]-[at millis desc][order u64]")]
struct Order {
    order: u64,
    user: String,
    shop: u32,
    at: i64,
}

/// Plain numbers in each kind, in both directions.
#[derive(RowKey, Clone, Debug, PartialEq)]
#[key(
    "[a u8][b i8 desc][c u24][d i24][e i64 desc][f u64 desc][g seconds 4 desc][h micros][i blob]\
     [j text 4 pad ~][k text 3]"
)]
struct Plain<'a> {
    a: u8,
    b: i8,
    c: u32,
    d: i32,
    e: i128,
    f: u128,
    g: Time,
    h: u64,
    i: Cow<'a, [u8]>,
    j: &'a str,
    k: String,
}

/// No field is plain.
#[derive(RowKey, Clone, Debug, PartialEq)]
#[key(
    "[bucket 16 of id,middle as shard][id uuid desc][tag bytes 3 hex][paid bool desc][rate f64]\
     [small f32 null last][state enum(new,sent,lost=9)][day date desc][month ymd][second ymdhms]\
     [n digits 20 desc][ip ipv4][peer ipv4 desc][minute ymdhm][middle string null first]_[host domain]"
)]
struct General<'a> {
    id: Uuid,
    tag: [u8; 3],
    paid: bool,
    rate: f64,
    small: Option<f32>,
    state: String,
    day: Date,
    month: Date,
    second: Time,
    n: u128,
    ip: Ipv4Addr,
    peer: u32,
    minute: Time,
    middle: Option<Cow<'a, str>>,
    host: String,
}

/// Borrows from the key; the text ends by length.
#[derive(RowKey, Clone, Debug, PartialEq)]
#[key("[name text][tag bytes 2][short text 4 pad ~][at millis digits desc][type hex 4]")]
struct Borrowed<'a, 'b> {
    r#type: &'b str,
    name: &'a str,
    tag: &'a [u8],
    short: &'b str,
    at: u64,
}

/// Encodes the key from the field values, given by name.
fn key_of<K: RowKey>(row: &K) -> Result<Vec<u8>, String> {
    let fields = K::schema().fields().iter().enumerate();
    let pairs: Vec<_> =
        fields.map(|(at, field)| (field.name(), row.field(at).into_value())).collect();
    K::schema().encode(&pairs).map(Vec::from).map_err(|error| error.to_string())
}

/// Checks that both paths encode the same key, or refuse it with the same message.
fn written_alike<K: RowKey + Debug>(row: &K) -> Result<Vec<u8>, String> {
    let mut out = b"before".to_vec();
    let written = row.encode_key(&mut out).map_err(|error| error.to_string());
    assert!(out.starts_with(b"before"));
    let key = out.split_off(6);
    assert_eq!(key_of(row), written.clone().map(|()| key.clone()), "{row:?}");
    assert!(written.is_ok() || key.is_empty(), "{row:?} leaves {}", escape(&key));
    written.map(|()| key)
}

/// Checks that both paths decode the same from these bytes, or refuse them with the same message.
fn read_alike<'k, K: FromRowKey<'k> + Debug>(key: &'k [u8]) -> Option<K> {
    let by_schema = K::schema().decode(key);
    match K::decode_key(key) {
        Err(why) => {
            assert_eq!(by_schema.map_err(|why| why.to_string()), Err(why.to_string()));
            None
        }
        Ok(row) => {
            assert_eq!(escape(&key_of(&row).unwrap()), escape(key), "{row:?}");
            assert_eq!(by_schema.unwrap().encode().unwrap(), key);
            Some(row)
        }
    }
}

/// Checks that a row decodes again, and so does everything that fits after a byte was changed,
/// inserted or removed.
macro_rules! check {
    ($type:ident, $row:expr, $noise:expr) => {
        let row = $row;
        if let Ok(key) = written_alike(&row) {
            prop_assert_eq!(read_alike::<$type>(&key), Some(row), "{}", escape(&key));
            let key = damaged(key, $noise);
            read_alike::<$type>(&key);
        }
    };
}

type Noise = (prop::sample::Index, u8, u8);

fn damaged(mut key: Vec<u8>, (place, kind, byte): Noise) -> Vec<u8> {
    let at = place.index(key.len());
    match kind % 4 {
        0 => key.insert(at, byte),
        1 => key.truncate(at),
        2 => key.push(byte),
        _ => key[at] = byte,
    }
    key
}

fn texts() -> impl Strategy<Value = String> {
    prop::collection::vec(
        prop::sample::select(vec!['a', 'z', '\0', '\u{1}', '~', '_', '.', 'é']),
        0..5,
    )
    .prop_map(String::from_iter)
}

/// Mostly small, sometimes any.
fn numbers() -> impl Strategy<Value = i128> {
    prop_oneof![-2..300_i128, any::<i64>().prop_map(i128::from), any::<i128>()]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 5000, failure_persistence: None, ..Default::default() })]

    #[test]
    fn orders_agree(user in texts(), shop: u32, at in numbers(), order: u64, noise: Noise) {
        let at = at as i64;
        check!(Order, Order { order, user, shop, at }, noise);
    }

    #[test]
    fn plain_numbers_agree(
        small: (u8, i8), c in numbers(), e in numbers(), h: u64, i: Vec<u8>, j in texts(), k in texts(),
        noise: Noise,
    ) {
        let row = Plain {
            a: small.0, b: small.1, c: c as u32, d: c as i32, e, f: e as u128,
            g: Time::new(c as i64, if h % 8 == 0 { TimeUnit::Nanos } else { TimeUnit::Seconds }),
            h, i: Cow::Borrowed(&i), j: &j, k,
        };
        check!(Plain, row, noise);
    }

    #[test]
    fn general_keys_agree(
        bytes: [u8; 16], rate: f64, small: Option<f32>, n in numbers(), minutes in -10_000_000..10_000_000_i64,
        texts in (texts(), texts()), null: bool, state in 0..4_usize, noise: Noise,
    ) {
        let minute = Time::new(minutes * 60, TimeUnit::Seconds);
        let row = General {
            id: Uuid::new(bytes), tag: [bytes[0], bytes[1], 0], paid: null, rate, small,
            state: ["new", "sent", "lost", "los"][state].into(), day: Date::new(n as i32),
            month: Date::new((minutes / 100) as i32), second: minute, n: n as u128,
            ip: (n as u32).into(), peer: !(n as u32), minute,
            middle: null.then(|| texts.0.into()), host: texts.1,
        };
        check!(General, row, noise);
    }

    #[test]
    fn borrowed_keys_agree(
        name in texts(), tag: [u8; 2], short in texts(), at in numbers(), digits: u16, noise: Noise,
    ) {
        let digits = format!("{digits:04x}");
        let row = Borrowed { r#type: &digits, name: &name, tag: &tag, short: &short, at: at as u64 };
        check!(Borrowed, row, noise);
    }

    #[test]
    fn any_bytes_are_read_or_refused_alike(key: Vec<u8>) {
        read_alike::<Order>(&key);
        read_alike::<Plain>(&key);
        read_alike::<General>(&key);
        read_alike::<Borrowed>(&key);
    }
}

/// A hashed field is encoded, and a salt is random; neither can be decoded into the struct.
#[derive(RowKey)]
#[key("[salt 4 a-d as shard]-[followed text md5 4 hex][follower text md5 4 hex]")]
struct Follow<'a> {
    followed: &'a str,
    follower: String,
}

#[test]
fn hashed_fields_and_salts_are_written() {
    let follow = Follow { followed: "alice", follower: "bob".into() };
    let mut key = Vec::new();
    assert_eq!(
        follow.encode_key(&mut key).unwrap_err().to_string(),
        "`salt 4 a-d as shard`: no salt given: name it (`as shard`) and give it, or use a random one"
    );
    follow.encode_key_salted(6, &mut key).unwrap();
    assert_eq!(escape(&key), "c-6384e2b29f9d51bc");
}

/// A user-defined type.
#[derive(Clone, Debug, PartialEq)]
struct Even(u32);

impl rowhouse_schema::ToField for Even {
    const HOLDS: rowhouse_schema::Holds = u32::HOLDS;

    fn to_field(&self) -> rowhouse_schema::FieldValue<'_> {
        self.0.to_field()
    }
}

impl<'k> rowhouse_schema::FromField<'k> for Even {
    fn from_field(value: rowhouse_schema::FieldValue<'k>) -> Option<Self> {
        u32::from_field(value).filter(|number| number % 2 == 0).map(Even)
    }
}

#[derive(RowKey, Debug, PartialEq)]
#[key("[n u16]")]
struct OfEven {
    n: Even,
}

#[test]
fn a_custom_type_can_refuse_a_value_that_the_template_accepts() {
    assert_eq!(OfEven::decode_key(b"\0\x02").unwrap(), OfEven { n: Even(2) });
    let why = OfEven::decode_key(b"\0\x03").unwrap_err();
    assert_eq!(
        why.to_string(),
        "key does not fit: field `n`: not a value of the type agreement::Even: at=0"
    );
    let mut key = Vec::new();
    let error = OfEven { n: Even(65_536) }.encode_key(&mut key).unwrap_err();
    assert_eq!(error.to_string(), "field `n`: value out of range: value=65536, min=0, max=65535");
}

#[test]
fn borrowed_fields_are_borrowed() {
    let key = b"bob#4x~~~9223370367001975807beef";
    let row = Borrowed::decode_key(key).unwrap();
    assert!(key.as_ptr_range().contains(&row.name.as_ptr()));
    let key = b"a\x80cccdddeeeeeeeeffffffffgggg\0hhhhhhhijklm\0\x01jj~~kkk";
    let Plain { i, j, k, .. } = Plain::decode_key(key).unwrap();
    assert!(matches!(i, Cow::Borrowed(b"ijklm")));
    assert!(key.as_ptr_range().contains(&j.as_ptr()));
    assert_eq!((j, k.as_str()), ("jj", "kkk"));
}

#[test]
fn fields_are_in_the_order_of_the_template() {
    let order = Order { order: 4, user: "u".into(), shop: 2, at: 3 };
    assert_eq!(order.field(0).into_value(), Value::from("u"));
    assert_eq!(order.field(3).into_value(), Value::from(4_u64));
    assert_eq!(order.field(4).into_value(), Value::Null);
}
