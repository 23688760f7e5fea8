//! Long delete marker runs that the writer records.

use proptest::collection::vec;
use proptest::prelude::*;
use rowhouse_format::hfile::{MarkerRun, WriterOptions};
use rowhouse_model::{Cell, CellKind, Key, compare};

use crate::support::{File, cell, write};

/// Parses cells by column, timestamp and kind: `q5` is a put, `q5-` a DeleteVersion, `q5=` a
/// DeleteColumn, `_5!` a DeleteFamily in the column with the empty qualifier; `/` starts another
/// row.
fn cells(text: &str) -> Vec<Cell> {
    let rows = text.split('/').zip('a'..);
    let cells = rows.flat_map(|(cells, row)| cells.split_whitespace().map(move |cell| (row, cell)));
    cells
        .map(|(row, text)| {
            let kind = match text.as_bytes()[text.len() - 1] {
                b'-' => CellKind::DeleteVersion,
                b'=' => CellKind::DeleteColumn,
                b'!' => CellKind::DeleteFamily,
                _ => CellKind::Put,
            };
            let at = text[1..].trim_end_matches(['-', '=', '!']).parse().unwrap();
            cell(&row.to_string(), text[..1].trim_matches('_'), at, kind, "")
        })
        .collect()
}

fn shown(key: &Key<'_>) -> String {
    let [row, qualifier] = [key.row, key.qualifier].map(String::from_utf8_lossy);
    let kind = match CellKind::from_code(key.kind).unwrap() {
        CellKind::DeleteVersion => "-",
        CellKind::DeleteColumn => "=",
        _ => "",
    };
    format!("{row}:{qualifier}{}{kind}", key.timestamp)
}

/// Returns the runs in a file with these cells, each cell in its own block.
fn runs(cells: &[Cell]) -> Vec<MarkerRun> {
    let (_, bytes) = write(cells, &WriterOptions { block_len: 1, ..WriterOptions::default() });
    File::open(bytes).unwrap().meta.marker_runs().to_vec()
}

fn check(text: &str, expected: &str) {
    let runs = runs(&cells(text));
    let ends = runs.iter().map(|run| [run.first(), run.target()].map(|key| shown(&key.view())));
    let ends: Vec<String> = ends.map(|[first, target]| format!("{first} to {target}")).collect();
    assert_eq!(ends.join(", "), expected, "{text}");
}

#[test]
fn a_run_leads_to_later_cells_that_may_matter() {
    check("p9= q9= r9= s9= t5", "a:p9= to a:s9=");
    check("p9= q9= r9= s9= s5", "a:p9= to a:s9=");
    check("p9= q9= r9= s9=", "a:p9= to a:s9=");
    check("o5 p9= q9= r9= s9= / a5", "a:p9= to a:s9=");
    check("p9= q9= r9= s9= / _9! p5", "a:p9= to a:s9=");
    check("q9- q8- q7- q6- q5", "a:q9- to a:q6-");
    check("q9- q8- q7- q6- / a5", "a:q9- to a:q6-");
    check("_9- _8- _7- _6- _5!", "a:9- to a:6-");
    check("p9- p8= p7- q6- q4 r9= s9= t9= u9= v5", "a:p9- to a:q6-, a:r9= to a:u9=");
    // Cells after a column's DeleteColumn in the same column are after the target as well.
    check("o9= p9= q9= r9= r8- r7- s5", "a:o9= to a:r9=");
    check("p9- q9- q8- q7= q6- q5- q4", "a:p9- to a:q7=");
    check("p9- q9- q8- q6- q6- q5", "a:p9- to a:q6-");
}

#[test]
fn short_runs_are_not_noted() {
    check("p9= q9= r9= s5", "");
    check("p9= q9= r9 s9= t9=", "");
    check("q9= q8- q7- q6- q5- q4", "");
    check("p9= q9= / p9= q9= / p9=", "");
    let (_, bytes) = write(&cells("p9= q9= r9= s9="), &WriterOptions::default());
    let meta = File::open(bytes).unwrap().meta;
    assert!(meta.info().get("hfile.ROWHOUSE_MARKER_RUNS").is_none(), "all in one block");
}

#[test]
fn a_run_that_is_not_the_files_hides_cells_of_it() {
    let hidden = |first: usize, target: usize, text: &str| -> String {
        let cells = cells(text);
        let run = MarkerRun::new(&cells[first].key(), &cells[target].key()).unwrap();
        let hidden = cells.iter().filter(|cell| run.hides(&cell.key()));
        hidden.map(|cell| shown(&cell.key())).collect::<Vec<_>>().join(" ")
    };
    assert_eq!(hidden(0, 3, "p9= q9- q8- q7- q5"), "");
    assert_eq!(hidden(0, 3, "p9= q9 r9= s9= t5"), "a:q9");
    assert_eq!(hidden(0, 3, "p9= q9- q8= q7- q5"), "a:q8=");
    // Among several equal markers, the target is the first.
    assert_eq!(hidden(0, 3, "p9= q9- q7- q7- q5"), "");
    assert_eq!(hidden(0, 2, "p9= q9= r5"), "a:p9= a:q9=");
}

#[test]
fn the_longest_runs_are_noted_up_to_so_many_and_no_long_keys() {
    let markers = |row: usize, count: usize| {
        (0..count).map(move |column| {
            let row = format!("{row:02}");
            let column = format!("{column:02}");
            cell(&row, &column, 5, CellKind::DeleteColumn, "")
        })
    };
    let rows: Vec<usize> = (0..MarkerRun::RUNS_MAX + 4).map(|row| 6 + row * 7 % 20).collect();
    let cells: Vec<Cell> =
        rows.iter().enumerate().flat_map(|(row, &count)| markers(row, count)).collect();
    let noted = runs(&cells);
    let noted = noted.iter().map(|run| std::str::from_utf8(run.first().row()).unwrap());
    let expected = (0..rows.len()).filter(|&row| rows[row] >= 10).map(|row| format!("{row:02}"));
    assert!(noted.eq(expected));

    let long = |column: usize| {
        let column = format!("{column}{:01$}", 0, MarkerRun::KEY_LEN_MAX);
        cell("row", &column, 5, CellKind::DeleteColumn, "")
    };
    assert!(runs(&(0..8).map(long).collect::<Vec<_>>()).is_empty());
}

fn is_marker(cell: &Cell) -> bool {
    [CellKind::DeleteColumn, CellKind::DeleteVersion].contains(&cell.kind())
}

/// Returns the position at which a reader at marker `at` may resume, derived from the run's end.
fn target(cells: &[Cell], at: usize) -> usize {
    let row = cells[at].row();
    let run = cells[at..].iter().take_while(|cell| is_marker(cell) && cell.row() == row);
    let end = at + run.count();
    let last = &cells[end - 1];
    let is_column = |cell: &Cell| cell.row() == row && cell.qualifier() == last.qualifier();
    let may_matter = |cell: &Cell| {
        is_column(cell)
            && (cell.kind() == CellKind::DeleteColumn || cell.timestamp() == last.timestamp())
    };
    (at..end).find(|&at| may_matter(&cells[at])).unwrap()
}

proptest! {
    #[test]
    fn every_long_run_is_noted_and_leads_where_it_may(
        cells in vec((0u8..3, 0u8..6, 1i64..7, 0usize..12), 0..150),
        block_len in prop_oneof![Just(1u32), 30u32..150],
    ) {
        use CellKind::{DeleteColumn, DeleteFamily, DeleteVersion, Put};
        let kinds = [&[Put, DeleteFamily, DeleteColumn][..], &[DeleteVersion; 9]].concat();
        let mut cells: Vec<Cell> = cells
            .into_iter()
            .map(|(row, column, at, kind)| {
                let column = if kind == 1 { 0 } else { column };
                let column = ["", "p", "q", "r", "s", "t"][usize::from(column)];
                cell(&row.to_string(), column, at, kinds[kind], "")
            })
            .collect();
        cells.sort_by(|a, b| compare(&a.view(), &b.view()));
        let (_, bytes) = write(&cells, &WriterOptions { block_len, ..WriterOptions::default() });
        let file = File::open(bytes).unwrap();
        let runs = file.meta.marker_runs();
        let block = |cell: &Cell| file.seek(&cell.key()).unwrap().unwrap().block().offset();
        let mut blocks: Vec<u64> = cells.iter().map(block).collect();
        let places = blocks.clone();
        blocks.dedup();
        let number = |at: usize| blocks.binary_search(&places[at]).unwrap();
        for at in (0..cells.len()).filter(|&at| is_marker(&cells[at])) {
            let target = target(&cells, at);
            let run = runs.iter().find(|run| run.has(&cells[at].key()));
            if let Some(run) = run {
                prop_assert_eq!(shown(&run.target().view()), shown(&cells[target].key()));
            }
            let begins = at == 0 || cells[at - 1].row() != cells[at].row() || !is_marker(&cells[at - 1]);
            let is_long = number(target) - number(at) + 1 >= MarkerRun::BLOCKS_MIN;
            if begins && runs.len() < MarkerRun::RUNS_MAX {
                prop_assert_eq!(run.is_some(), is_long);
            }
        }
        for run in runs {
            let first = cells.iter().position(|cell| cell.key() == run.first().view()).unwrap();
            prop_assert!(is_marker(&cells[first]));
            prop_assert!(!cells.iter().any(|cell| run.hides(&cell.key())));
        }
    }
}
