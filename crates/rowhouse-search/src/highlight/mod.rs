//! The places in a text that a search text matches, and a snippet around them.

use std::collections::{HashMap, VecDeque};
use std::ops::Range;

use rowhouse_model::Error;
use rowhouse_schema::Analyser;
use tantivy::tokenizer::{Token, TokenStream};

use crate::analyse::{Analyse, Class};
use crate::words::{Leaf, Lookup, WordLookup, Words};

/// How many matches by one analyser are looked for in a text at most. Later ones are not marked.
pub const MATCHES_MAX: usize = 10_000;

/// Finds a search text's words in a field's texts.
///
/// A text is analysed again, by the field's analysers: that takes as long as indexing it, and needs
/// memory for [`MATCHES_MAX`] matches. Words after `NOT` are not looked for. A phrase is one match,
/// from the first word to the last.
///
/// ```
/// use rowhouse_search::{Analyser, Highlighter, Words};
///
/// let words = Words::parse("行键 designs NOT hbase")?;
/// let highlighter = Highlighter::new(&words, &[Analyser::English, Analyser::Chinese])?;
/// let text = "How to design a row key (行键设计)?";
/// let marked: Vec<_> = highlighter.matches(text).into_iter().map(|at| &text[at]).collect();
/// assert_eq!(marked, ["design", "行键"]);
///
/// let snippet = highlighter.snippet(text, 20);
/// assert_eq!(&text[snippet.bytes], "design a row key (行键");
/// # Ok::<(), rowhouse_model::Error>(())
/// ```
#[derive(Debug)]
pub struct Highlighter {
    lookups: Vec<WordLookup>,
    analysers: Vec<Analyser>,
}

/// A part of a text. Positions are bytes in the whole text, on character borders.
///
/// Escaping for HTML is left to the caller, piece by piece.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Snippet {
    /// The part. It is the whole text if it begins at 0 and ends with it.
    pub bytes: Range<usize>,
    /// The matches in the part, in order, without overlaps.
    pub matches: Vec<Range<usize>>,
}

impl Highlighter {
    /// Prepares the search for the words in `words` by a field's analysers.
    ///
    /// # Errors
    ///
    /// As [`Words::query`], if `*` or `~` follows text that is not one word.
    pub fn new(words: &Words, analysers: &[Analyser]) -> Result<Self, Error> {
        Ok(Self { lookups: words.lookups(analysers)?, analysers: analysers.to_vec() })
    }

    /// Prepares the search for words and phrases by a field's analysers. Words and phrases that the
    /// field cannot have are left out.
    pub(crate) fn of<'l>(leaves: impl Iterator<Item = &'l Leaf>, analysers: &[Analyser]) -> Self {
        let mut lookups = Vec::new();
        for (number, leaf) in leaves.enumerate() {
            for &analyser in analysers {
                let lookup = Lookup::of(leaf, analyser).ok().flatten();
                lookups.extend(lookup.map(|lookup| WordLookup { number, analyser, lookup }));
            }
        }
        Self { lookups, analysers: analysers.to_vec() }
    }

    /// Returns the byte ranges of all matches, in order. Matches that overlap or touch are one.
    pub fn matches(&self, text: &str) -> Vec<Range<usize>> {
        merged(self.find(text).into_iter().map(|hit| hit.bytes))
    }

    /// Returns a part of `text` with at most `chars_max` characters: the first part among those
    /// with the most different words from the search text. Without a match, it is the beginning.
    ///
    /// The part begins and ends between words, or between Chinese characters. Only a word longer
    /// than the part is cut.
    pub fn snippet(&self, text: &str, chars_max: usize) -> Snippet {
        let hits = self.find(text);
        let core = best_window(text, &hits, chars_max).unwrap_or(0..0);
        let bytes = widened(text, core, chars_max);
        let inside = hits
            .into_iter()
            .map(|hit| hit.bytes.start.max(bytes.start)..hit.bytes.end.min(bytes.end))
            .filter(|bytes| !bytes.is_empty());
        Snippet { matches: merged(inside), bytes }
    }

    /// Returns the matches by all analysers, ordered by start.
    fn find(&self, text: &str) -> Vec<Hit> {
        let mut hits = Vec::new();
        for &analyser in &self.analysers {
            let lookups = self.lookups.iter().filter(|lookup| lookup.analyser == analyser);
            let mut finder = Finder::new(lookups);
            if finder.is_empty() {
                continue;
            }
            let mut tokenizer = analyser.tokenizer();
            let before = hits.len();
            let mut tokens = tokenizer.token_stream(text);
            while hits.len() - before < MATCHES_MAX && tokens.advance() {
                finder.take(tokens.token(), &mut hits);
            }
        }
        hits.sort_by_key(|hit| (hit.bytes.start, hit.bytes.end));
        hits
    }
}

/// A match for one word or phrase in the search text.
#[derive(Debug)]
struct Hit {
    number: usize,
    bytes: Range<usize>,
}

/// Recognises words and phrases in a text's terms.
struct Finder<'a> {
    /// By term, the phrases that have it, and the term's distance from the phrase's first term.
    terms: HashMap<&'a str, Vec<(usize, usize)>>,
    phrases: Vec<Phrase>,
    prefixes: Vec<(usize, &'a str)>,
    similar: Vec<(usize, Similar)>,
}

/// A phrase with one or more terms.
struct Phrase {
    number: usize,
    terms: usize,
    /// The last term's distance from the first.
    length: usize,
    /// Places where the phrase has begun, in order.
    partials: VecDeque<PartialMatch>,
}

struct PartialMatch {
    position: usize,
    terms: usize,
    bytes: Range<usize>,
}

impl<'a> Finder<'a> {
    fn new(lookups: impl Iterator<Item = &'a WordLookup>) -> Self {
        let mut finder = Self {
            terms: HashMap::new(),
            phrases: Vec::new(),
            prefixes: Vec::new(),
            similar: Vec::new(),
        };
        for WordLookup { number, lookup, .. } in lookups {
            match lookup {
                Lookup::Terms(terms) => {
                    finder.add_phrase(
                        *number,
                        terms.iter().map(|(offset, term)| (*offset, &term[..])),
                    );
                }
                Lookup::Prefix { prefix, or_term } => {
                    finder.prefixes.push((*number, prefix));
                    if let Some(term) = or_term {
                        finder.add_phrase(*number, [(0, &term[..])].into_iter());
                    }
                }
                Lookup::Fuzzy { word, distance } => {
                    finder.similar.push((*number, Similar::new(word, *distance)));
                }
            }
        }
        finder
    }

    fn add_phrase(&mut self, number: usize, terms: impl Iterator<Item = (usize, &'a str)>) {
        let mut phrase = Phrase { number, terms: 0, length: 0, partials: VecDeque::new() };
        for (offset, term) in terms {
            self.terms.entry(term).or_default().push((self.phrases.len(), offset));
            phrase.terms += 1;
            phrase.length = offset;
        }
        self.phrases.push(phrase);
    }

    fn is_empty(&self) -> bool {
        self.phrases.is_empty() && self.prefixes.is_empty() && self.similar.is_empty()
    }

    fn take(&mut self, token: &Token, hits: &mut Vec<Hit>) {
        let bytes = token.offset_from..token.offset_to;
        for &(phrase, offset) in self.terms.get(&token.text[..]).into_iter().flatten() {
            let phrase = &mut self.phrases[phrase];
            let bytes = phrase.take(offset, token.position, bytes.clone());
            hits.extend(bytes.map(|bytes| Hit { number: phrase.number, bytes }));
        }
        let prefixes = self.prefixes.iter().filter(|(_, prefix)| token.text.starts_with(prefix));
        let numbers = prefixes.map(|(number, _)| *number);
        let similar = self
            .similar
            .iter_mut()
            .filter_map(|(number, similar)| similar.matches(&token.text).then_some(*number));
        for number in numbers.chain(similar) {
            hits.push(Hit { number, bytes: bytes.clone() });
        }
    }
}

impl Phrase {
    /// Takes a term in the phrase. Returns the phrase's bytes if the term completes it.
    fn take(
        &mut self,
        offset: usize,
        position: usize,
        bytes: Range<usize>,
    ) -> Option<Range<usize>> {
        if self.terms == 1 {
            return Some(bytes);
        }
        while self.partials.front().is_some_and(|partial| partial.position + self.length < position)
        {
            self.partials.pop_front();
        }
        if offset == 0 {
            self.partials.push_back(PartialMatch { position, terms: 1, bytes });
            return None;
        }
        let first = position.checked_sub(offset)?;
        let at = self.partials.binary_search_by_key(&first, |partial| partial.position).ok()?;
        let partial = &mut self.partials[at];
        partial.terms += 1;
        partial.bytes.end = partial.bytes.end.max(bytes.end);
        (partial.terms == self.terms).then(|| partial.bytes.clone())
    }
}

/// Recognises terms at a small distance from a word, as tantivy's `FuzzyTermQuery` does.
struct Similar {
    word: Vec<char>,
    distance: usize,
    other: Vec<char>,
}

impl Similar {
    fn new(word: &str, distance: u8) -> Self {
        Self { word: word.chars().collect(), distance: distance.into(), other: Vec::new() }
    }

    fn matches(&mut self, term: &str) -> bool {
        // Most terms are too long or too short: each character has at most four bytes.
        let longest = self.word.len() + self.distance;
        if term.len() > 4 * longest || term.len() + self.distance < self.word.len() {
            return false;
        }
        self.other.clear();
        self.other.extend(term.chars());
        self.other.len().abs_diff(self.word.len()) <= self.distance
            && changes(&self.word, &self.other) <= self.distance
    }
}

/// How many insertions, removals, replacements and neighbour swaps turn one word into the other,
/// where no character is changed twice.
fn changes(a: &[char], b: &[char]) -> usize {
    let mut before: Vec<usize> = Vec::new();
    let mut last: Vec<usize> = (0..=b.len()).collect();
    for (i, &left) in a.iter().enumerate() {
        let mut row = vec![i + 1];
        for (j, &right) in b.iter().enumerate() {
            let mut best =
                (last[j] + usize::from(left != right)).min(last[j + 1] + 1).min(row[j] + 1);
            if i > 0 && j > 0 && a[i - 1] == right && left == b[j - 1] {
                best = best.min(before[j - 1] + 1);
            }
            row.push(best);
        }
        before = std::mem::replace(&mut last, row);
    }
    last[b.len()]
}

/// Returns ordered ranges as ranges that neither overlap nor touch.
fn merged(ranges: impl Iterator<Item = Range<usize>>) -> Vec<Range<usize>> {
    let mut merged: Vec<Range<usize>> = Vec::new();
    for range in ranges {
        match merged.last_mut() {
            Some(last) if range.start <= last.end => last.end = last.end.max(range.end),
            _ => merged.push(range),
        }
    }
    merged
}

/// Returns the bytes from the first to the last match in the best part with `chars_max` characters:
/// the first part among those with the most different words, and among these with the most matches.
fn best_window(text: &str, hits: &[Hit], chars_max: usize) -> Option<Range<usize>> {
    let chars = char_places(text, hits);
    let mut counts: HashMap<usize, usize> = HashMap::new();
    let mut best: Option<((usize, usize), Range<usize>)> = None;
    let mut end = 0;
    for (start, first) in chars.iter().enumerate() {
        while chars.get(end).is_some_and(|at| end <= start || at.end - first.start <= chars_max) {
            *counts.entry(hits[end].number).or_default() += 1;
            end += 1;
        }
        let score = (counts.len(), end - start);
        if best.as_ref().is_none_or(|(most, _)| score > *most) {
            best = Some((score, start..end));
        }
        if let Some(count) = counts.get_mut(&hits[start].number) {
            *count -= 1;
            if *count == 0 {
                counts.remove(&hits[start].number);
            }
        }
    }
    let (_, window) = best?;
    let inside = &hits[window];
    let end = inside.iter().map(|hit| hit.bytes.end).max()?;
    Some(inside[0].bytes.start..end)
}

/// Returns the matches as character positions.
fn char_places(text: &str, hits: &[Hit]) -> Vec<Range<usize>> {
    let mut byte = 0;
    let mut char = 0;
    let place = |Hit { bytes, .. }: &Hit| {
        char += text[byte..bytes.start].chars().count();
        byte = bytes.start;
        char..char + text[bytes.clone()].chars().count()
    };
    hits.iter().map(place).collect()
}

/// Returns a part of `text` around `core`, with at most `chars_max` characters, that begins and
/// ends between words.
fn widened(text: &str, core: Range<usize>, chars_max: usize) -> Range<usize> {
    let back = |from: usize, chars: usize| {
        text[..from].char_indices().rev().take(chars).last().map_or(from, |(at, _)| at)
    };
    let forth = |from: usize, chars: usize| {
        text[from..].char_indices().nth(chars).map_or(text.len(), |(at, _)| from + at)
    };
    if forth(core.start, chars_max) < core.end {
        return core.start..forth(core.start, chars_max);
    }
    let spare = chars_max - text[core.clone()].chars().count();
    let after = text[core.end..].chars().take(spare).count().min(spare.div_ceil(2));
    let before = text[..core.start].chars().rev().take(spare - after).count();
    let mut start = back(core.start, before);
    let mut end = forth(core.end, spare - before);
    while start < core.start && (!is_cut(text, start) || begins_badly(&text[start..])) {
        start = forth(start, 1);
    }
    while end > core.end && !is_cut(text, end) {
        end = back(end, 1);
    }
    end = core.end.max(start + text[start..end].trim_end().len());
    // Without a match, the text may begin with a word that does not fit.
    if start == end { start..forth(start, chars_max) } else { start..end }
}

/// Returns true if a text begins with a space, or with punctuation that ends a clause.
fn begins_badly(text: &str) -> bool {
    text.starts_with(|c: char| c.is_whitespace() || ".,;:!?)]}。，、；：！？）」』”’".contains(c))
}

/// Returns true if a text may be cut at a byte: not inside a word, nor before a mark.
fn is_cut(text: &str, at: usize) -> bool {
    let (Some(before), Some(after)) = (text[..at].chars().next_back(), text[at..].chars().next())
    else {
        return true;
    };
    !matches!(
        (Class::of(before), Class::of(after)),
        (_, Class::Mark | Class::Invisible)
            | (Class::Invisible, _)
            | (Class::Letter | Class::Mark, Class::Letter)
    )
}

#[cfg(test)]
mod tests;
