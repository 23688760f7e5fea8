//! The words from jieba's dictionary in a run of Chinese characters.

use std::sync::LazyLock;

use jieba_rs::Jieba;

/// The longest dictionary word that is a term, in characters. It is the longest one that jieba's
/// dictionary has.
pub(super) const WORD_CHARS_MAX: usize = 16;

/// About 40 MB, and a third of a second to load: one per process, at first use.
static JIEBA: LazyLock<Jieba> = LazyLock::new(Jieba::new);

/// A dictionary word in a run of characters.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Word {
    /// The first character.
    pub(super) start: usize,
    /// After the last character. A word has at least two.
    pub(super) end: usize,
}

/// Replaces `words` by all dictionary words with two or more characters in `run`, whatever stands
/// around them, ordered by their start and then by their length.
pub(super) fn find_words(run: &str, words: &mut Vec<Word>) {
    words.clear();
    let mut starts = run.char_indices().map(|(at, _)| at).enumerate();
    let mut start = starts.next();
    for word in JIEBA.cut_all(run) {
        let len = word.chars().count();
        if !(2..=WORD_CHARS_MAX).contains(&len) {
            continue;
        }
        // The words are slices of the run, and come in run order.
        let offset = word.as_ptr() as usize - run.as_ptr() as usize;
        while let Some((index, at)) = start {
            if at == offset {
                words.push(Word { start: index, end: index + len });
                break;
            }
            start = starts.next();
        }
    }
}

/// Returns the fewest parts that cover a run of `len` characters: dictionary words and single
/// characters. Parts may overlap, because each is looked for at its own place.
pub(super) fn cover(len: usize, words: &[Word]) -> Vec<Word> {
    let mut parts = Vec::new();
    let mut words = words.iter().peekable();
    let mut covered = 0;
    let mut longest = Word { start: 0, end: 0 };
    while covered < len {
        while let Some(word) = words.next_if(|word| word.start <= covered) {
            if word.end > longest.end {
                longest = *word;
            }
        }
        if longest.end <= covered {
            longest = Word { start: covered, end: covered + 1 };
        }
        covered = longest.end;
        parts.push(longest);
    }
    parts
}
