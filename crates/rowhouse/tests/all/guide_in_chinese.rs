//! The Chinese guides contain the same code as the English ones, whose examples are compiled and
//! run.

const ENGLISH: &str = include_str!("../../../../docs/templates.md");
const CHINESE: &str = include_str!("../../../../docs/templates.zh-CN.md");
const INDEXES: [&str; 2] = [
    include_str!("../../../../docs/indexes.md"),
    include_str!("../../../../docs/indexes.zh-CN.md"),
];
const SEARCH: [&str; 2] =
    [include_str!("../../../../docs/search.md"), include_str!("../../../../docs/search.zh-CN.md")];

/// Returns the code blocks in a guide, each from the opening fence to the next.
fn blocks(guide: &'static str) -> impl Iterator<Item = &'static str> {
    guide.split("```").skip(1).step_by(2)
}

/// Compares the code blocks in these languages.
#[track_caller]
fn assert_same_programs([english, chinese]: [&'static str; 2], languages: &[&str]) {
    let programs = |guide| {
        let is_program =
            |block: &&str| languages.iter().any(|language| block.starts_with(language));
        blocks(guide).filter(is_program).collect::<Vec<_>>()
    };
    let english = programs(english);
    let chinese = programs(chinese);
    for (english, chinese) in english.iter().zip(&chinese) {
        assert_eq!(english, chinese);
    }
    assert_eq!(english.len(), chinese.len());
}

#[test]
fn their_programs_are_those_of_the_english_ones() {
    assert_same_programs([ENGLISH, CHINESE], &["rust"]);
    assert_same_programs(INDEXES, &["rust", "java", "console"]);
    assert_same_programs(SEARCH, &["rust"]);
}

#[test]
fn its_drawings_of_bytes_are_those_of_the_english_one() {
    let is_drawn =
        |line: &&str| line.starts_with("| ") && line.ends_with(" |") || line.starts_with("+-");
    let english: Vec<_> = blocks(ENGLISH).flat_map(str::lines).filter(is_drawn).collect();
    let drawn: Vec<_> = blocks(CHINESE).flat_map(str::lines).filter(is_drawn).collect();
    assert!(drawn.len() >= 3);
    for line in drawn {
        assert!(english.contains(&line), "{line}");
    }
}
