//! The Chinese guide to templates contains the same code as the English one, whose examples are
//! compiled and run.

const ENGLISH: &str = include_str!("../../../../docs/templates.md");
const CHINESE: &str = include_str!("../../../../docs/templates.zh-CN.md");

/// Returns the code blocks of a guide, each from its fence to the next.
fn blocks(guide: &'static str) -> impl Iterator<Item = &'static str> {
    guide.split("```").skip(1).step_by(2)
}

#[test]
fn its_programs_are_those_of_the_english_one() {
    let programs =
        |guide| blocks(guide).filter(|block| block.starts_with("rust")).collect::<Vec<_>>();
    let (english, chinese) = (programs(ENGLISH), programs(CHINESE));
    for (english, chinese) in english.iter().zip(&chinese) {
        assert_eq!(english, chinese);
    }
    assert_eq!(english.len(), chinese.len());
}

#[test]
fn its_drawings_of_bytes_are_those_of_the_english_one() {
    let is_drawn =
        |line: &&str| line.starts_with("| ") && line.ends_with(" |") || line.starts_with("+-");
    let english: Vec<_> = blocks(ENGLISH).flat_map(str::lines).filter(is_drawn).collect();
    let drawn: Vec<_> = blocks(CHINESE).flat_map(str::lines).filter(is_drawn).collect();
    assert!(drawn.len() > 15);
    for line in drawn {
        assert!(english.contains(&line), "{line}");
    }
}
