use rowhouse_derive::RowKey;
use rowhouse_schema::{Date, Time};
use std::borrow::Cow;

#[derive(RowKey)]
#[key("[n u24][s i16 desc][d digits 20][user string][at millis][day date]")]
struct Wrong {
    n: u16,
    s: u64,
    d: u64,
    user: u64,
    at: u32,
    day: Time,
}

type Count = i8;

#[derive(RowKey)]
#[key("[id uuid][tag bytes 4][raw blob][state enum(new,sent)][rate f64][paid bool][n u8]")]
struct AlsoWrong<'a> {
    id: [u8; 4],
    tag: [u8; 5],
    raw: Cow<'a, str>,
    state: bool,
    rate: f32,
    paid: Date,
    n: Count,
}

fn main() {}
