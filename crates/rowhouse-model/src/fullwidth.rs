//! Punctuation from Chinese and Japanese input methods.

/// Returns the ASCII character that was meant by a full-width one, or by a quote or bracket from a
/// Chinese or Japanese input method; `None` for any other character.
///
/// ```
/// assert_eq!(rowhouse_model::ascii_of('（'), Some('('));
/// assert_eq!(rowhouse_model::ascii_of('【'), Some('['));
/// assert_eq!(rowhouse_model::ascii_of('’'), Some('\''));
/// assert_eq!(rowhouse_model::ascii_of('中'), None);
/// ```
pub fn ascii_of(c: char) -> Option<char> {
    match c {
        // The block with full-width forms has the same order as ASCII, from `!` to `~`.
        '\u{FF01}'..='\u{FF5E}' => char::from_u32(u32::from(c) - 0xFEE0),
        '\u{3000}' => Some(' '),
        '‘' | '’' | '“' | '”' | '「' | '」' | '『' | '』' => Some('\''),
        '【' | '〔' => Some('['),
        '】' | '〕' => Some(']'),
        '《' | '〈' => Some('<'),
        '》' | '〉' => Some('>'),
        '、' => Some(','),
        '。' => Some('.'),
        _ => None,
    }
}

/// Returns a hint that ends an error message about a text: it names the first full-width character
/// outside single quotes. Empty if there is none.
///
/// ```
/// let hint = rowhouse_model::full_width_hint("user in （'（'）");
/// assert_eq!(hint, "; `（` is a full-width character, write `(`");
/// assert_eq!(rowhouse_model::full_width_hint("user = '（'"), "");
/// ```
pub fn full_width_hint(text: &str) -> String {
    let outside = text.split('\'').step_by(2).flat_map(str::chars);
    let mut matches = outside.filter_map(|c| Some((c, ascii_of(c)?)));
    matches.next().map_or_else(String::new, |(c, ascii)| {
        format!("; `{c}` is a full-width character, write `{ascii}`")
    })
}
