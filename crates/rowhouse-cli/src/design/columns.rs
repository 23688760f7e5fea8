//! Lines with cells below each other.

/// How the cells in a column are aligned.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Align {
    Left,
    Right,
}

/// Returns the rows as lines, each column as wide as the widest cell, two spaces between columns.
pub(super) fn aligned(columns: &[Align], rows: &[Vec<String>]) -> Vec<String> {
    let width = |at: usize| {
        let cells = rows.iter().filter_map(|row| row.get(at));
        cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..columns.len()).map(width).collect();
    let line = |row: &Vec<String>| {
        let cells =
            row.iter().zip(columns).zip(&widths).map(|((cell, align), width)| match align {
                Align::Left => format!("{cell:<width$}"),
                Align::Right => format!("{cell:>width$}"),
            });
        cells.collect::<Vec<_>>().join("  ").trim_end().to_owned()
    };
    rows.iter().map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_stand_below_each_other() {
        let rows =
            [vec!["name".to_owned(), "rows".to_owned()], vec!["a".to_owned(), "7".to_owned()]];
        assert_eq!(aligned(&[Align::Left, Align::Right], &rows), ["name  rows", "a        7"]);
    }
}
