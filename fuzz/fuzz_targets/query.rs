//! Query conditions. They print as they are parsed; a plan's ranges are in key order without
//! overlaps.
//!
//! Input: the template (1 byte), and the conditions.

#![no_main]

use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use rowhouse_schema::{Direction, KeySchema, Predicate};

static SCHEMAS: LazyLock<Vec<KeySchema>> = LazyLock::new(|| {
    let templates = [
        "[user string][at millis desc]",
        "[bucket 4 of user][user string][n decimal]",
        "[phone digits 11 reverse]",
        "[host domain]-[n i24 floor 100][rest text]",
        "[state enum(new,sent,lost=9)][paid bool desc][rate f64 null last][tags repeat(u24 u24)]",
        "[hash 4 of id][id uuid hex][day ymd][b blob desc]",
    ];
    templates.map(|template| KeySchema::parse(template).expect("the template is valid")).into()
});

fuzz_target!(|input: &[u8]| {
    let Some((&number, text)) = input.split_first() else { return };
    let schema = &SCHEMAS[usize::from(number) % SCHEMAS.len()];
    let Ok(text) = std::str::from_utf8(text) else { return };
    let Ok(predicate) = Predicate::parse(text) else { return };
    let printed = predicate.to_string();
    let again = Predicate::parse(&printed).expect("a printed query is valid");
    assert_eq!(again.to_string(), printed);
    let plan = schema.plan(&predicate);
    assert_eq!(plan.is_ok(), schema.plan(&again).is_ok(), "{printed}");
    let Ok(plan) = plan else { return };
    assert_eq!(plan.ranges(), schema.plan(&again).expect("as above").ranges(), "{printed}");
    let _ = plan.to_string();
    for pair in plan.ranges().windows(2) {
        assert!(!pair[0].stop.is_empty() && pair[0].stop <= pair[1].start, "{printed}");
    }
    for range in plan.ranges() {
        assert!(range.stop.is_empty() || range.start < range.stop, "{printed}");
    }
    let _ = plan.resume(text, Direction::Forward);
});
