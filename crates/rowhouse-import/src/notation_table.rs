//! A test that reads every line in the notation table in docs/from-tables-to-rows.md.

use std::fs;
use std::path::Path;

use expect_test::expect_file;
use rowhouse::key::KeySchema;
use rowhouse::schema::ColumnSchema;

use crate::mapping::Mapping;
use crate::progress::Reporter;
use crate::rows::{InputPosition, Inputs};
use crate::source::Reading;
use crate::targets::Targets;
use crate::times::TimeForm;

#[test]
fn the_table_of_notations_is_true() {
    let page = include_str!("../../../docs/from-tables-to-rows.md");
    let (before, rest) = page.split_once(HEAD).unwrap();
    let (table, after) = rest.split_once("\n\n").unwrap();
    let lines: Vec<_> = table.lines().map(tested).collect();
    assert!(lines.len() > 12, "the table has lost its lines: {}", lines.len());
    let tested = format!("{before}{HEAD}{}\n\n{after}", lines.join("\n"));
    expect_file!["../../../docs/from-tables-to-rows.md"].assert_eq(&tested);
}

#[test]
fn notations_that_the_page_leaves_out_are_read() {
    for line in OTHERS.lines() {
        assert_eq!(tested(line), line);
    }
}

const HEAD: &str = "| type | in the file | options | read as |\n|---|---|---|---|\n";

const OTHERS: &str = r"| `u32` | ` 3` |  | `3` |
| `u32` | `+3` |  | `3` |
| `u32` | `3.5` |  | refused: expected a whole number: offset=0, value=3.5 |
| `u32` | `1,234` |  | refused: expected a whole number; if the comma separates thousands, give --thousands ','; if it is the decimal mark, --decimal-mark ',': offset=0, value=1,234 |
| `f64` | `.5` |  | `0.5` |
| `f64` | `inf` |  | `inf` |
| `bool` | `True` |  | `true` |
| `bool` | `1` |  | `true` |
| `date` | `2015/01/31` |  | `2015-01-31` |
| `date` | `Jan 31 2015` |  | `2015-01-31` |
| `date` | `31-JAN-2015` |  | `2015-01-31` |
| `date` | `31/01/2015` |  | refused: expected a year of 4 digits; declare its form with --times v=%d/%m/%Y: offset=0, value=31/01/2015 |
| `millis` | `2015-01-31 08:30` |  | `2015-01-31T08:30:00.000Z` |
| `millis` | `2015-01-31T08:30+08:00` |  | `2015-01-31T00:30:00.000Z` |
| `millis` | `31 Jan 2015 08:30` |  | `2015-01-31T08:30:00.000Z` |
| `millis` | `20150131` |  | `2015-01-31T00:00:00.000Z` |
| `millis` | `1422693000000` |  | `2015-01-31T08:30:00.000Z` |
| `millis` | `1422693000.25` | `--times v=seconds` | `2015-01-31T08:30:00.250Z` |
| `micros` | `1422693000250001` |  | `2015-01-31T08:30:00.250001Z` |";

/// Returns a table line with the value that the import reads.
fn tested(line: &str) -> String {
    let cells: Vec<_> = line.trim_matches('|').split(" | ").collect();
    let code = |cell: &str| {
        let start = cell.find('`').unwrap();
        let end = cell.rfind('`').unwrap();
        cell[start + 1..end].to_owned()
    };
    let field_type = code(cells[0]);
    let text = code(cells[1]);
    let options = if cells[2].contains('`') { code(cells[2]) } else { String::new() };
    let read = match read(&field_type, &text, &options) {
        Ok(value) => format!("`{value}`"),
        Err(message) => format!("refused: {}", message.strip_prefix("column `v`: ").unwrap()),
    };
    let options = if options.is_empty() { options } else { format!("`{options}`") };
    format!("| `{field_type}` | `{text}` | {options} | {read} |")
}

/// Imports a file with one value, and returns it.
fn read(field_type: &str, text: &str, options: &str) -> Result<String, String> {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("a.csv");
    fs::write(&file, format!("id;v\n1;{text}\n")).unwrap();
    let mut reading = Reading { delimiter: Some(b';'), ..Reading::default() };
    let mut mapping = Mapping::default();
    set_options(options, &mut reading, &mut mapping);
    value_of(&file, field_type, &reading, &mapping)
}

fn set_options(options: &str, reading: &mut Reading, mapping: &mut Mapping) {
    let mut words = options.split(' ').filter(|word| !word.is_empty()).peekable();
    while let Some(option) = words.next() {
        let mut value = words.next().unwrap().to_owned();
        while let Some(more) = words.next_if(|word| !word.starts_with("--")) {
            value = format!("{value} {more}");
        }
        let value = value.trim_matches('\'');
        let mark = || value.chars().next().unwrap();
        match option {
            "--decimal-mark" => reading.decimal_mark = mark(),
            "--thousands" => reading.thousands = Some(mark()),
            "--null" => reading.nulls.push(value.to_owned()),
            "--times" => {
                let (name, form) = value.split_once('=').unwrap();
                mapping.times.push((name.to_owned(), TimeForm::parse(form).unwrap()));
            }
            "--set" => {
                let (name, text) = value.split_once('=').unwrap();
                mapping.sets.push((name.to_owned(), text.to_owned()));
            }
            other => panic!("unknown option {other}"),
        }
    }
}

fn value_of(
    file: &Path,
    field_type: &str,
    reading: &Reading,
    mapping: &Mapping,
) -> Result<String, String> {
    let columns = format!("d:v v {field_type}; d:i there u8");
    let targets = Targets {
        key: KeySchema::parse("[id u8]").unwrap(),
        columns: ColumnSchema::parse(&columns).unwrap(),
    };
    let mut mapping = mapping.clone();
    mapping.sets.push(("there".to_owned(), "1".to_owned()));
    let mut inputs = Inputs::new(&[file.to_owned()], reading, &mapping, &targets).unwrap();
    inputs.recognize_times(&mut Reporter::new(None, 0)).unwrap();
    let row = inputs.rows(InputPosition::default()).unwrap().next().unwrap().unwrap().row;
    let row = row.map_err(|error| error.message().to_owned())?;
    let cell = row.cells.iter().find(|cell| &cell.qualifier[..] == b"v");
    let column = targets.columns.column("v").unwrap();
    Ok(match cell {
        Some(cell) => column.decode_value(&cell.value).unwrap().to_string(),
        None => "no value".to_owned(),
    })
}
