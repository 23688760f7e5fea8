//! Row keys beside those of other crates:
//! `cargo bench --manifest-path bench/Cargo.toml --bench keys`.
//!
//! A key of four fields (a name, a number of four bytes, a descending time and a number of eight
//! bytes) is encoded into a reused buffer, and decoded. The contenders alternate many times, and
//! the table has the fastest pass of each: other load on the machine makes passes slower and never
//! faster.
//!
//! The other crates have no descending times, so theirs is `i64::MAX` minus the time, which they
//! are not charged for. `foundationdb-tuple` stores the type of each field in the key and omits
//! leading zeros.

use std::borrow::Cow;
use std::fmt::Debug;
use std::hint::black_box;
use std::time::Instant;

use rowhouse_derive::RowKey;
use rowhouse_schema::{FromRowKey, KeyReader, KeySchema, Predicate, RowKey, Value};

/// The number of passes of each contender.
const ROUNDS: usize = 300;
/// The number of different keys, all of which one pass encodes or decodes.
const ROWS: usize = 1000;

#[derive(RowKey, Debug, PartialEq)]
#[key("[user string][shop u32][at millis desc][order u64]")]
struct Order {
    user: String,
    shop: u32,
    at: i64,
    order: u64,
}

#[derive(RowKey)]
#[key("[user string][shop u32][at millis desc][order u64]")]
struct Borrowed<'k> {
    user: Cow<'k, str>,
    shop: u32,
    at: i64,
    order: u64,
}

/// All fields have a fixed width.
#[derive(RowKey)]
#[key("[user text 24][shop u32][at millis desc][order u64]")]
struct Fixed<'k> {
    user: &'k str,
    shop: u32,
    at: i64,
    order: u64,
}

#[derive(storekey::Encode, storekey::Decode, Debug, PartialEq)]
struct Storekey {
    user: String,
    shop: u32,
    at: i64,
    order: u64,
}

type Tuple<'k> = (Cow<'k, str>, u32, i64, u64);

/// An operation to measure, which a pass applies to every row.
struct Contender<'b> {
    what: &'static str,
    by: &'static str,
    turn: Box<dyn FnMut() + 'b>,
    nanos_min: f64,
}

struct Bench<'b> {
    contenders: Vec<Contender<'b>>,
}

impl<'b> Bench<'b> {
    /// Adds an operation on each of these.
    fn each<T>(
        &mut self,
        what: &'static str,
        by: &'static str,
        of: &'b [T],
        mut act: impl FnMut(&'b T) + 'b,
    ) {
        let turn = Box::new(move || of.iter().for_each(|one| act(black_box(one))));
        self.contenders.push(Contender { what, by, turn, nanos_min: f64::INFINITY });
    }

    /// Adds an operation that encodes each of these into a buffer.
    fn encode<T>(
        &mut self,
        what: &'static str,
        by: &'static str,
        of: &'b [T],
        mut act: impl FnMut(&'b T, &mut Vec<u8>) + 'b,
    ) {
        let mut key = Vec::with_capacity(256);
        self.each(what, by, of, move |one| {
            key.clear();
            act(one, &mut key);
            black_box(&key);
        });
    }

    fn run(&mut self) {
        for _ in 0..ROUNDS {
            for contender in &mut self.contenders {
                let begun = Instant::now();
                (contender.turn)();
                let nanos = begun.elapsed().as_nanos() as f64 / ROWS as f64;
                contender.nanos_min = contender.nanos_min.min(nanos);
            }
        }
    }

    fn print(&self) {
        println!("| | by | ns |\n|---|---|---:|");
        for Contender { what, by, nanos_min, .. } in &self.contenders {
            println!("| {what} | {by} | {nanos_min:.0} |");
        }
    }
}

fn main() {
    let orders: Vec<Order> = (0..ROWS as u64).map(order).collect();
    let values: Vec<[Value; 4]> = orders.iter().map(values).collect();
    let fixed: Vec<Fixed<'_>> = orders.iter().map(fixed).collect();
    let storekeys: Vec<Storekey> = orders.iter().map(storekey_of).collect();
    let tuples: Vec<Tuple<'_>> = orders.iter().map(tuple).collect();

    let keys: Vec<Vec<u8>> = orders.iter().map(key).collect();
    let fixed_keys: Vec<Vec<u8>> = fixed.iter().map(key).collect();
    let storekey_keys: Vec<Vec<u8>> =
        storekeys.iter().map(|row| ok(storekey::encode_vec(row))).collect();
    let tuple_keys: Vec<Vec<u8>> = tuples.iter().map(foundationdb_tuple::pack).collect();
    check(&orders, &keys, &storekey_keys, &tuple_keys);

    let schema = Order::schema();
    let fixed_schema = Fixed::schema();
    let mut read = Vec::new();
    let mut bench = Bench { contenders: Vec::new() };
    bench.encode("encode", "`KeySchema`, by position", &values, move |values, key| {
        ok(schema.encode_values(values, key));
    });
    bench.encode("encode", "`derive(RowKey)`", &orders, |order, key| ok(order.encode_key(key)));
    bench.encode("encode", "storekey", &storekeys, |row, key| ok(storekey::encode(key, row)));
    bench.encode("encode", "foundationdb-tuple", &tuples, |row, key| {
        foundationdb_tuple::pack_into(row, key);
    });
    bench.each("decode", "`KeySchema`, by position", &keys, move |key| {
        ok(schema.decode_into(key, &mut read));
        black_box(&read);
    });
    bench.each("decode", "`derive(RowKey)`", &keys, |key| {
        black_box(ok(Order::decode_key(key)));
    });
    bench.each("decode", "storekey", &storekey_keys, |key| {
        black_box(ok(storekey::decode::<_, Storekey>(key.as_slice())));
    });
    bench.each("decode", "foundationdb-tuple", &tuple_keys, |key| {
        black_box(ok(foundationdb_tuple::unpack::<(String, u32, i64, u64)>(key)));
    });
    bench.each("decode, the name borrowed", "`derive(RowKey)`", &keys, |key| {
        black_box(ok(Borrowed::decode_key(key)));
    });
    bench.each("decode, the name borrowed", "foundationdb-tuple", &tuple_keys, |key| {
        black_box(ok(foundationdb_tuple::unpack::<Tuple<'_>>(key)));
    });
    bench.encode("encode, the name `text 24`", "`derive(RowKey)`", &fixed, |row, key| {
        ok(row.encode_key(key));
    });
    bench.each("decode, the name `text 24`", "`derive(RowKey)`", &fixed_keys, |key| {
        black_box(ok(Fixed::decode_key(key)));
    });
    bench.each("decode, the name `text 24`", "`KeyReader`, by hand", &fixed_keys, move |key| {
        let mut reader = ok(KeyReader::new(fixed_schema, key));
        let user: &str = ok(reader.take());
        let numbers: (u32, i64, u64) = (ok(reader.take()), ok(reader.take()), ok(reader.take()));
        black_box((user, numbers, reader.is_done()));
    });
    add_planning(&mut bench, schema);
    bench.run();
    bench.print();
}

/// Adds planning of a conjunction that pins two fields and bounds a third.
fn add_planning(bench: &mut Bench<'_>, schema: &'static KeySchema) {
    let query = "user = 'customer-42' and shop = 7 and at >= 2022-12-01 and at < 2023-01-01";
    let queries: Vec<Predicate> = (0..ROWS).map(|_| ok(Predicate::parse(query))).collect();
    let queries: &'static [Predicate] = queries.leak();
    bench.each("plan four conditions", "`KeySchema`", queries, move |query| {
        black_box(ok(schema.plan(query)));
    });
}

/// Returns an order with a name of 8 to 23 bytes, and numbers of every length.
fn order(nth: u64) -> Order {
    let random = nth.wrapping_add(1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    let user = format!("customer-{}", random >> (random % 44));
    Order {
        user: user[..user.len().min(8 + nth as usize % 16)].to_owned(),
        shop: random as u32 >> (nth % 24),
        at: 1_669_852_800_000 + (random >> 28) as i64,
        order: random >> (nth % 40),
    }
}

fn values(order: &Order) -> [Value; 4] {
    [(&order.user).into(), order.shop.into(), order.at.into(), order.order.into()]
}

fn fixed(order: &Order) -> Fixed<'_> {
    Fixed { user: &order.user, shop: order.shop, at: order.at, order: order.order }
}

fn storekey_of(order: &Order) -> Storekey {
    let at = i64::MAX - order.at;
    Storekey { user: order.user.clone(), shop: order.shop, at, order: order.order }
}

fn tuple(order: &Order) -> Tuple<'_> {
    (order.user.as_str().into(), order.shop, i64::MAX - order.at, order.order)
}

fn key<K: RowKey>(row: &K) -> Vec<u8> {
    ok(row.to_key()).to_vec()
}

/// Checks that every contender decodes its own keys.
fn check(orders: &[Order], keys: &[Vec<u8>], storekeys: &[Vec<u8>], tuples: &[Vec<u8>]) {
    for (nth, order) in orders.iter().enumerate() {
        assert_eq!(ok(Order::decode_key(&keys[nth])), *order);
        let storekey = ok(storekey::decode::<_, Storekey>(storekeys[nth].as_slice()));
        assert_eq!(storekey, storekey_of(order));
        assert_eq!(ok(foundationdb_tuple::unpack::<Tuple<'_>>(&tuples[nth])), tuple(order));
        let mut by_position = Vec::new();
        ok(Order::schema().encode_values(&values(order), &mut by_position));
        assert_eq!(by_position, keys[nth]);
    }
}

/// Unwraps a result that fails only if the bench itself is broken.
fn ok<T, E: Debug>(result: Result<T, E>) -> T {
    result.expect("the rows of the bench fit")
}
