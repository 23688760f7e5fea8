//! Digits that can be a day as well as a count are refused as text: nobody means 1970.

use rowhouse_schema::KeySchema;

fn read(field: &str, text: &str) -> String {
    let schema = KeySchema::parse(field).unwrap();
    match schema.fields()[0].parse_value(text) {
        Ok(value) => {
            schema.decode(&schema.encode(&[("at", value)]).unwrap()).unwrap()["at"].to_string()
        }
        Err(error) => error.message().lines().next().unwrap_or_default().to_owned(),
    }
}

#[test]
fn digits_of_a_calendar_are_refused_with_both_ways_to_write_them() {
    assert_eq!(
        read("[at millis]", "20221201"),
        "20221201 may be a time or a count of millis; write 2022-12-01, or 020221201 for the count: offset=0"
    );
    assert_eq!(read("[at millis]", "2022-12-01"), "2022-12-01T00:00:00.000Z");
    assert_eq!(read("[at millis]", "020221201"), "1970-01-01T05:37:01.201Z");
    assert!(read("[at seconds]", "202212010830").contains("write 2022-12-01T08:30,"));
    assert!(read("[at ymd]", "20221201080059").contains("write 2022-12-01T08:00:59,"));
}

#[test]
fn other_digits_are_counts_and_years_as_ever() {
    assert_eq!(read("[at millis]", "1669852800000"), "2022-12-01T00:00:00.000Z");
    assert_eq!(read("[at millis]", "20221232"), "1970-01-01T05:37:01.232Z");
    assert_eq!(read("[at millis]", "2022"), "2022-01-01T00:00:00.000Z");
    let schema = KeySchema::parse("[at millis]").unwrap();
    assert!(schema.encode(&[("at", 20_221_201.into())]).is_ok(), "a number is a count");
    assert_eq!(read("[at u64]", "20221201"), "20221201", "no time");
}
