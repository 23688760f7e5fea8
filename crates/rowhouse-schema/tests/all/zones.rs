//! `tz`: times in a field's zone.

use expect_test::{Expect, expect};
use proptest::prelude::*;
use rowhouse_model::escape;
use rowhouse_schema::{ColumnSchema, Date, KeySchema, Predicate, Time, TimeZone, Value};

/// Checks a time's key, and the value decoded from it.
fn check(template: &str, at: impl Into<Value>, expected: Expect) {
    let schema = KeySchema::parse(template).unwrap();
    assert_eq!(schema.to_string(), template);
    let key = schema.encode(&[("at", at.into())]).unwrap();
    let values = schema.decode(&key).unwrap();
    assert_eq!(values.encode().unwrap(), key);
    expected.assert_eq(&format!("{} {values}", escape(&key)));
}

#[test]
fn counts_are_of_instants_and_calendars_are_those_of_the_zone() {
    check(
        "[at millis tz +08:00 digits 13]",
        "2022-12-01",
        expect!["1669824000000 at=2022-12-01T00:00:00.000+08:00"],
    );
    check(
        "[at millis tz +08:00 digits 13]",
        "2022-12-01T00:00Z",
        expect!["1669852800000 at=2022-12-01T08:00:00.000+08:00"],
    );
    let instant = Time::parse("2022-12-01T20:30Z").unwrap();
    check("[at ymd tz +08:00]", "2022-12-02", expect!["20221202 at=2022-12-02"]);
    check(
        "[at ymd tz +08:00]",
        Time::parse("2022-12-01T16:00Z").unwrap(),
        expect!["20221202 at=2022-12-02"],
    );
    check(
        "[at ymd tz -05:00]",
        Date::parse("2022-12-02").unwrap(),
        expect!["20221202 at=2022-12-02"],
    );
    check(
        "[at ymdhm tz +05:30]",
        instant,
        expect!["202212020200 at=2022-12-02T02:00:00.000+05:30"],
    );
    check(
        "[at ymdhms tz -05:00 desc]",
        instant,
        expect!["79778798846999 at=2022-12-01T15:30:00.000-05:00"],
    );
    // A number counts from 1970 in UTC, independent of the calendar.
    check("[at ymdhms tz +08:00]", 0, expect!["19700101080000 at=1970-01-01T08:00:00.000+08:00"]);
    // A date is midnight in the zone.
    check(
        "[at seconds 4 tz +08:00 digits]",
        Date::parse("2022-12-01").unwrap(),
        expect!["1669824000 at=2022-12-01T00:00:00.000+08:00"],
    );
    // Steps are aligned to the zone's clock.
    check(
        "[at seconds 4 tz +08:00 floor 1d digits]",
        instant,
        expect!["1669910400 at=2022-12-02T00:00:00.000+08:00"],
    );
    check(
        "[at ymdhm tz +08:00 floor 1d]",
        instant,
        expect!["202212020000 at=2022-12-02T00:00:00.000+08:00"],
    );
}

#[test]
fn queries_are_read_in_the_zone_of_the_field_before_that_of_the_caller() {
    let schema = KeySchema::parse("[user string][at ymdhm tz +08:00][seen millis]").unwrap();
    let caller = TimeZone::fixed(jiff::tz::offset(1));
    let plan = |query: &str| {
        schema.plan_in(&Predicate::parse(query).unwrap(), &caller).unwrap().to_string()
    };
    expect![[r"
        ranges: 1
          [bob\x00\x01202212010000, bob\x00\x01202212020000)
        residual: none, the ranges are exact
        order: user ascending, at ascending, seen ascending
    "]]
    .assert_eq(&plan("user = 'bob' and at during 2022-12-01"));
    assert_eq!(
        plan("user = 'bob' and at = 2022-12-01T01:00Z and seen >= 2022-12-01T02:00"),
        plan("user = 'bob' and at = 2022-12-01T09:00 and seen >= 2022-12-01T01:00Z"),
    );
}

#[test]
fn prefixes_and_columns_show_times_in_the_zone_too() {
    let schema = KeySchema::parse("[at millis tz -03:30][user string]").unwrap();
    let key = schema.encode(&[("at", "2022-12-01".into()), ("user", "bob".into())]).unwrap();
    assert_eq!(schema.read_prefix(&key[..8]).to_string(), "at=2022-12-01T00:00:00.000-03:30, …");

    let columns = ColumnSchema::parse("d:d due seconds 4 tz +08:00; f:[at ymdhm tz +01:00] n u8");
    let columns = columns.unwrap();
    let due = columns.encode("due", "2022-12-01").unwrap();
    assert_eq!(due.value[..], 1_669_824_000_u32.to_be_bytes());
    let shown = |family: &[u8], qualifier: &[u8], value: &[u8]| {
        columns.decode(family, qualifier, value).unwrap().to_string()
    };
    assert_eq!(shown(b"d", b"d", &due.value), "due=2022-12-01T00:00:00.000+08:00");
    assert_eq!(shown(b"f", b"202212010900", b"\x07"), "n[at=2022-12-01T09:00:00.000+01:00]=7");
}

#[test]
fn mistakes_are_reported() {
    let check = |template: &str, expected: Expect| {
        expected.assert_eq(&KeySchema::parse(template).unwrap_err().to_string());
    };
    check(
        "[n u64 tz +08:00]",
        expect![[r"
            `u64` is not a time, it has no zone: offset=7
              [n u64 tz +08:00]
                     ^"]],
    );
    check(
        "[at millis tz Asia/Shanghai]",
        expect![[r"
            expected an offset such as +08:00, not Asia/Shanghai; zones by name are not supported, their rules change: offset=14
              [at millis tz Asia/Shanghai]
                            ^"]],
    );
    check(
        "[at millis tz +24:00]",
        expect![[r"
            expected an offset such as +08:00, not +24:00: offset=14
              [at millis tz +24:00]
                            ^"]],
    );
    check(
        "[at millis desc tz +08:00]",
        expect![[r"
            `tz` must be before `desc`: offset=16
              [at millis desc tz +08:00]
                              ^"]],
    );
    check(
        "[at phoenix.date tz +08:00]",
        expect![[r"
            `phoenix.date` has the encoding of another system, `tz` would change it: offset=17
              [at phoenix.date tz +08:00]
                               ^"]],
    );
}

const CALENDARS: [&str; 4] = ["ymd", "ymdhm", "ymdhms", "date"];
const COUNTS: [&str; 4] = ["millis", "seconds", "seconds 4", "nanos"];
const MODIFIERS: [&str; 5] = ["", " desc", " floor 1d", " floor 7d desc", " null first"];
const TESTS: [&str; 6] = ["=", "<", "<=", ">", ">=", "during"];

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..Default::default() })]

    /// Without zones, a calendar only knows wall clocks: the same literals result in the same keys
    /// and ranges in every zone.
    #[test]
    fn a_calendar_writes_the_clock_time_of_its_zone(
        minutes in -1_439..=1_439_i64, clock in 0..2_000_000_000_i64, kind in 0..4_usize,
        modifiers in 0..5_usize, test in 0..6_usize, precision in 0..3_usize,
    ) {
        let zone = offset(minutes);
        let field = |tz: &str| format!("[at {}{tz}{}]", CALENDARS[kind], MODIFIERS[modifiers]);
        let in_utc = KeySchema::parse(&field("")).unwrap();
        let there = KeySchema::parse(&field(&format!(" tz {zone}"))).unwrap();
        let instant = |seconds: i64| Time::from_millis(seconds * 1_000);

        let made = |schema: &KeySchema, at: Time| schema.encode(&[("at", at.into())]).ok();
        let key = made(&in_utc, instant(clock));
        prop_assert_eq!(&made(&there, instant(clock - minutes * 60)), &key);
        if let Some(key) = key {
            let here = in_utc.decode(&key).unwrap();
            let there = there.decode(&key).unwrap();
            match (&here["at"], &there["at"]) {
                (Value::Time(here), Value::Time(there)) => {
                    prop_assert_eq!(here.as_millis() - there.as_millis(), minutes * 60_000);
                }
                (here, there) => prop_assert_eq!(here, there),
            }
        }

        let literal = &instant(clock).to_string()[..[10, 16, 19][precision]];
        let query = Predicate::parse(&format!("at {} {literal}", TESTS[test])).unwrap();
        let plan = |schema: &KeySchema| schema.plan(&query).map(|plan| plan.ranges().to_vec());
        prop_assert_eq!(plan(&there).ok(), plan(&in_utc).ok(), "{}", &query);
    }

    /// A count counts the instant, and the zone affects only parsing and printing, as if the caller
    /// had named it.
    #[test]
    fn a_count_is_the_same_in_every_zone(
        minutes in -1_439..=1_439_i64, clock in 200_000..2_000_000_000_i64, kind in 0..4_usize,
        test in 0..6_usize, precision in 0..3_usize,
    ) {
        let zone = offset(minutes);
        let in_utc = KeySchema::parse(&format!("[at {}]", COUNTS[kind])).unwrap();
        let there = KeySchema::parse(&format!("[at {} tz {zone}]", COUNTS[kind])).unwrap();
        let at = [("at", Time::from_millis(clock * 1_000).into())];
        let key = there.encode(&at).unwrap();
        prop_assert_eq!(&key, &in_utc.encode(&at).unwrap());
        prop_assert_eq!(&there.decode(&key).unwrap()["at"], &at[0].1);
        let shown = there.decode(&key).unwrap().to_string();
        prop_assert_eq!(Time::parse(shown.strip_prefix("at=").unwrap()).unwrap(), at[0].1.as_time().unwrap());

        let literal = &Time::from_millis(clock * 1_000).to_string()[..[10, 16, 19][precision]];
        let query = Predicate::parse(&format!("at {} {literal}", TESTS[test])).unwrap();
        let caller = there.fields()[0].zone().unwrap();
        let expected = in_utc.plan_in(&query, &caller).unwrap();
        let plan = there.plan(&query).unwrap();
        prop_assert_eq!(plan.ranges(), expected.ranges(), "{}", &query);
    }

    /// Every condition that a time satisfies finds the row, though only the local day is stored.
    #[test]
    fn days_of_a_zone_hold_their_times(
        minutes in -1_439..=1_439_i64, clock in 200_000..2_000_000_000_i64,
        difference in -100_000..100_000_i64,
        kind in 0..4_usize, test in 0..5_usize,
    ) {
        let template = format!("[at {} tz {} floor 1d]", COUNTS[kind], offset(minutes));
        let schema = KeySchema::parse(&template).unwrap();
        let at = clock + difference;
        let key = schema.encode(&[("at", Time::from_millis(clock * 1_000).into())]).unwrap();
        let floored = schema.decode(&key).unwrap()["at"].as_time().unwrap().as_millis() / 1_000;
        prop_assert!(floored <= clock && clock < floored + 86_400);
        prop_assert!((floored + minutes * 60) % 86_400 == 0);

        let holds = [clock == at, clock < at, clock <= at, clock > at, clock >= at][test];
        let query = format!("at {} {}", TESTS[test], Time::from_millis(at * 1_000));
        let plan = schema.plan(&Predicate::parse(&query).unwrap()).unwrap();
        let is_hit = plan.ranges().iter().any(|range| range.contains(&key));
        prop_assert!(is_hit || !holds, "{}: {}", template, query);
    }
}

fn offset(minutes: i64) -> String {
    let sign = if minutes < 0 { '-' } else { '+' };
    format!("{sign}{:02}:{:02}", minutes.abs() / 60, minutes.abs() % 60)
}
