//! Measures analysis and index size: `analyse_cost FILE`, a text with a document a line.
//!
//! Prints for each analyser, and for jieba's search mode alone, the CPU for a text kilobyte, the
//! terms for each kilobyte, and the index bytes without stored texts.

#![allow(clippy::unwrap_used, reason = "an example that cannot continue ends")]

use std::time::Duration;

use jieba_rs::{Jieba, TokenizeMode};
use rowhouse_search::{Analyse, Analyser};
use tantivy::directory::RamDirectory;
use tantivy::schema::{IndexRecordOption, Schema, TextFieldIndexing, TextOptions};
use tantivy::tokenizer::{TextAnalyzer, Token, TokenStream, Tokenizer, TokenizerManager};
use tantivy::{Index, TantivyDocument};

fn main() {
    let path = std::env::args().nth(1).expect("a file of documents, one a line");
    let text = std::fs::read_to_string(path).unwrap();
    let documents: Vec<&str> = text.lines().collect();
    let start = cpu();
    Analyser::Chinese.each_token("中", |_| ());
    println!("dictionary: {:?}", cpu() - start);
    let mut tokenizers: Vec<(&str, TextAnalyzer)> =
        Analyser::ALL[1..].iter().map(|analyser| (analyser.name(), analyser.tokenizer())).collect();
    tokenizers.push(("jieba search", TextAnalyzer::from(SearchMode(Jieba::new(), false))));
    tokenizers.push(("jieba search, hmm", TextAnalyzer::from(SearchMode(Jieba::new(), true))));
    for (name, mut tokenizer) in tokenizers {
        let start = cpu();
        let mut terms = 0;
        for document in &documents {
            tokenizer.token_stream(document).process(&mut |_| terms += 1);
        }
        let analysed = cpu() - start;
        let start = cpu();
        let bytes = index_bytes(&documents, tokenizer);
        let indexed = cpu() - start;
        let kilobytes = text.len() as f64 / 1000.0;
        println!(
            "{name:18} {:7.2} µs/kB analysed {:7.2} µs/kB indexed {:6.1} terms/kB {:6.1} index bytes/kB",
            analysed.as_secs_f64() * 1e6 / kilobytes,
            indexed.as_secs_f64() * 1e6 / kilobytes,
            f64::from(terms) / kilobytes,
            bytes as f64 / kilobytes,
        );
    }
}

/// The time that this thread has been on a processor (Linux).
fn cpu() -> Duration {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap();
    Duration::from_nanos(text.split_whitespace().next().unwrap().parse().unwrap())
}

/// The bytes that an index with one segment takes, with positions.
fn index_bytes(documents: &[&str], tokenizer: TextAnalyzer) -> u64 {
    let indexing = TextFieldIndexing::default()
        .set_tokenizer("measured")
        .set_index_option(IndexRecordOption::WithFreqsAndPositions);
    let mut schema = Schema::builder();
    let field =
        schema.add_text_field("text", TextOptions::default().set_indexing_options(indexing));
    let tokenizers = TokenizerManager::new();
    tokenizers.register("measured", tokenizer);
    let index = Index::builder().schema(schema.build()).tokenizers(tokenizers);
    let mut writer =
        index.single_segment_index_writer(RamDirectory::create(), 1_000_000_000).unwrap();
    for text in documents {
        let mut document = TantivyDocument::new();
        document.add_text(field, text);
        writer.add_document(document).unwrap();
    }
    let searcher = writer.finalize().unwrap().reader().unwrap().searcher();
    searcher.space_usage().unwrap().total().get_bytes()
}

/// Jieba's search mode, with the positions that it gives.
#[derive(Clone)]
struct SearchMode(Jieba, bool);

struct Tokens(std::vec::IntoIter<Token>, Token);

impl Tokenizer for SearchMode {
    type TokenStream<'a> = Tokens;

    fn token_stream<'a>(&'a mut self, text: &'a str) -> Tokens {
        let tokens = self.0.tokenize(text, TokenizeMode::Search, self.1).into_iter();
        let tokens = tokens.filter(|token| token.word.chars().any(char::is_alphanumeric));
        let token = |token: jieba_rs::Token<'_>| Token {
            position: token.start,
            text: token.word.to_lowercase(),
            position_length: token.end - token.start,
            ..Token::default()
        };
        Tokens(tokens.map(token).collect::<Vec<_>>().into_iter(), Token::default())
    }
}

impl TokenStream for Tokens {
    fn advance(&mut self) -> bool {
        self.0.next().map(|token| self.1 = token).is_some()
    }

    fn token(&self) -> &Token {
        &self.1
    }

    fn token_mut(&mut self) -> &mut Token {
        &mut self.1
    }
}
