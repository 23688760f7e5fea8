//! Completion at the cursor.

use super::command::Kind;
use super::commands;

/// Returns where the last word in `line` starts, and the possible completions. Pure: `tables` are
/// the existing tables' names.
pub(crate) fn complete(line: &str, tables: &[String]) -> (usize, Vec<String>) {
    let statement = line.rfind([';', '\n']).map_or(0, |end| end + 1);
    let statement = statement + (line.len() - statement - line[statement..].trim_start().len());
    let rest = &line[statement..];
    let Some(name_len) = rest.find(|c: char| !(c.is_alphanumeric() || c == '_')) else {
        return (statement, matching(rest, commands::names()));
    };
    let Some(command) = commands::find(&rest[..name_len]) else { return (line.len(), Vec::new()) };
    let place = CursorPosition::at_end(&rest[name_len..]);
    let kind = command.place(place.argument).map(|argument| argument.kind);
    let word_at = statement + name_len + place.word;
    let word = &line[word_at..];
    match (place.quoted, kind) {
        (true, Some(Kind::Table)) => (word_at, matching(word, tables.iter().map(String::as_str))),
        (true, Some(Kind::Command)) => (word_at, matching(word, commands::names())),
        (false, _) if !word.is_empty() => {
            (word_at, matching(word, command.options.iter().map(|(name, _)| *name)))
        }
        _ => (line.len(), Vec::new()),
    }
}

fn matching<'a>(word: &str, names: impl Iterator<Item = &'a str>) -> Vec<String> {
    names.filter(|name| name.starts_with(word)).map(str::to_owned).collect()
}

/// The syntactic position where a text ends: the argument, whether it is inside quotes, and where
/// the last word starts.
struct CursorPosition {
    argument: usize,
    quoted: bool,
    word: usize,
}

impl CursorPosition {
    fn at_end(arguments: &str) -> Self {
        let mut place = Self { argument: 0, quoted: false, word: 0 };
        let mut quote = None;
        let mut depth = 0_i32;
        for (at, c) in arguments.char_indices() {
            match (quote, c) {
                (Some(open), c) if c == open => quote = None,
                (Some(_), _) => continue,
                (None, '\'' | '"') => quote = Some(c),
                (None, '{' | '[') => depth += 1,
                (None, '}' | ']') => depth -= 1,
                (None, ',') if depth == 0 => place.argument += 1,
                (None, c) if c.is_alphanumeric() || c == '_' => continue,
                (None, _) => {}
            }
            place.word = at + c.len_utf8();
        }
        place.quoted = quote.is_some();
        place
    }
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;

    fn check(line: &str, expected: Expect) {
        let tables = ["blog".to_owned(), "shop:orders".to_owned()];
        let (at, words) = complete(line, &tables);
        expected.assert_eq(&format!("{}|{}", &line[..at], words.join(" ")));
    }

    #[test]
    fn commands_tables_and_options() {
        check("get", expect!["|get get_counter get_splits"]);
        check("list; des", expect!["list; |describe desc describe_namespace"]);
        check("scan 'b", expect!["scan '|blog"]);
        check("scan(\"", expect![[r#"scan("|blog shop:orders"#]]);
        check("scan 'blog', {LIM", expect!["scan 'blog', {|LIMIT"]);
        check("scan 'blog', START", expect!["scan 'blog', |STARTROW"]);
        check("get 'blog', 'b", expect!["get 'blog', 'b|"]);
        check("help 'ex", expect!["help '|exists exit explain explain_cell"]);
        check("nonsense 'b", expect!["nonsense 'b|"]);
    }
}
