//! Lines: cells below each other, and sentences of a readable length.

/// How the cells of a column are aligned.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Align {
    Left,
    Right,
}

/// Returns the rows as lines, each column as wide as its widest cell, two spaces between columns.
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

/// The most characters of a line of sentences, unless a word is longer.
const LINE_CHARS: usize = 100;

/// Breaks a sentence into lines; those after the first are indented.
pub(super) fn wrapped(sentence: &str) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in sentence.split(' ') {
        let line = lines.last().map_or(0, |line| line.chars().count());
        if line > 0 && line + 1 + word.chars().count() > LINE_CHARS {
            lines.push("  ".to_owned());
        }
        if let Some(line) = lines.last_mut() {
            if !line.trim().is_empty() {
                line.push(' ');
            }
            line.push_str(word);
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_sentences_are_broken_between_words() {
        let lines = wrapped(&"word ".repeat(50));
        assert_eq!(lines.len(), 3);
        assert!(lines.iter().all(|line| line.chars().count() <= LINE_CHARS));
        assert!(lines[1].starts_with("  word"), "{lines:?}");
    }

    #[test]
    fn cells_stand_below_each_other() {
        let rows =
            [vec!["name".to_owned(), "rows".to_owned()], vec!["a".to_owned(), "7".to_owned()]];
        assert_eq!(aligned(&[Align::Left, Align::Right], &rows), ["name  rows", "a        7"]);
    }
}
