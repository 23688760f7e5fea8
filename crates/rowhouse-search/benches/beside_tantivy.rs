//! Measures full-text search in a table beside bare tantivy, over the same documents.
//!
//! `cargo bench -p rowhouse-search --bench beside_tantivy [-- DOCUMENTS]`, by default 200,000: half
//! of them English, half Chinese. Times are process CPU. Bare tantivy keeps its index in memory and
//! merges by its own policy.

#![allow(clippy::unwrap_used, reason = "a bench that cannot continue ends")]

use std::cmp::Reverse;
use std::sync::Arc;
use std::time::{Duration, Instant};

use rowhouse_model::{FamilyDescriptor, Mutation, Put, TableDescriptor, TableName};
use rowhouse_schema::{
    Analyser, COLUMNS_ATTRIBUTE, INDEXES_ATTRIBUTE, IndexSchema, IndexState, KEY_ATTRIBUTE,
    KeySchema, Predicate, SearchPlan, TimeZone,
};
use rowhouse_search::{SearchEngine, register_analysers};
use rowhouse_store::{Store, Table};
use tantivy::collector::TopDocs;
use tantivy::directory::RamDirectory;
use tantivy::query::{BooleanQuery, Occur, PhraseQuery, Query, RangeQuery, TermQuery};
use tantivy::schema::{
    BytesOptions, Field, IndexRecordOption, Schema, TextFieldIndexing, TextOptions,
};
use tantivy::tokenizer::{Token, TokenStream, TokenizerManager};
use tantivy::{Index, Searcher, TantivyDocument, Term};

const INDEX: &str = "text search body english chinese";
const PLAIN: &str = "1 ";

/// A number that follows from the one before.
struct Numbers(u64);

impl Numbers {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    /// A number below `end`; small ones are more frequent, as words are.
    fn zipf(&mut self, end: u64) -> u64 {
        let uniform = (self.next() >> 11) as f64 / (1u64 << 53) as f64;
        ((end as f64).powf(uniform) - 1.0) as u64
    }
}

fn english_word(rank: u64) -> String {
    let syllables = ["ka", "ro", "mi", "ten", "sul", "ver", "no", "lis", "dar", "pe"];
    let mut word = String::new();
    let mut rest = rank + 10;
    while rest > 0 {
        word.push_str(syllables[(rest % 10) as usize]);
        rest /= 10;
    }
    word
}

const CHINESE: [&str; 24] = [
    "数据",
    "设计",
    "行键",
    "分布",
    "查询",
    "索引",
    "系统",
    "存储",
    "我们",
    "的",
    "了",
    "和",
    "时间",
    "用户",
    "服务器",
    "区域",
    "热点",
    "在",
    "是",
    "写入",
    "读取",
    "中文",
    "搜索",
    "性能",
];

fn text(nth: u64, numbers: &mut Numbers) -> String {
    let mut text = String::new();
    for _ in 0..60 {
        if nth.is_multiple_of(2) {
            text.push_str(&english_word(numbers.zipf(50_000)));
            text.push(' ');
        } else {
            text.push_str(CHINESE[numbers.zipf(24) as usize]);
            if numbers.next().is_multiple_of(12) {
                text.push('，');
            }
        }
    }
    text
}

fn key(nth: u64) -> String {
    // Users are spread: the writing order is not the key order.
    format!("user{:03}-{nth:07}", (nth * 7919) % 1_000)
}

fn cpu() -> Duration {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap();
    let fields: Vec<_> = stat.rsplit(')').next().unwrap().split_whitespace().collect();
    let ticks: u64 = fields[11].parse::<u64>().unwrap() + fields[12].parse::<u64>().unwrap();
    Duration::from_millis(ticks * 10)
}

fn measured<T>(what: &str, of: u64, run: impl FnOnce() -> T) -> (T, Duration) {
    let started = Instant::now();
    let cpu_start = cpu();
    let done = run();
    let took = cpu() - cpu_start;
    let each = took.as_nanos() as f64 / 1000.0 / of as f64;
    println!("{what:46} {each:9.2} µs CPU each, {:7.2} s", started.elapsed().as_secs_f64());
    (done, took)
}

/// Bare tantivy.
struct Bare {
    fields: Vec<(Analyser, Field)>,
    row: Field,
    searcher: Searcher,
    bytes: usize,
}

fn bare(documents: &[(String, String)]) -> Bare {
    let mut schema = Schema::builder();
    let row = schema.add_bytes_field("row", BytesOptions::default().set_fast());
    let fields: Vec<_> = [Analyser::English, Analyser::Chinese]
        .map(|analyser| {
            let indexing = TextFieldIndexing::default()
                .set_tokenizer(analyser.name())
                .set_index_option(IndexRecordOption::WithFreqsAndPositions);
            let options = TextOptions::default().set_indexing_options(indexing);
            (analyser, schema.add_text_field(analyser.name(), options))
        })
        .into();
    let tokenizers = TokenizerManager::default();
    register_analysers(&tokenizers);
    let directory = RamDirectory::create();
    let index = Index::builder().schema(schema.build()).tokenizers(tokenizers);
    let index = index.open_or_create(directory.clone()).unwrap();
    let mut writer = index.writer_with_num_threads(1, 64 << 20).unwrap();
    for (key, text) in documents {
        let mut document = TantivyDocument::new();
        document.add_bytes(row, key.as_bytes());
        fields.iter().for_each(|(_, field)| document.add_text(*field, text));
        writer.add_document(document).unwrap();
    }
    writer.commit().unwrap();
    writer.wait_merging_threads().unwrap();
    let bytes = directory.total_mem_usage();
    Bare { fields, row, searcher: index.reader().unwrap().searcher(), bytes }
}

impl Bare {
    /// Returns how many rows it finds: at most ten, those with the highest scores.
    fn search(&self, words: &str, prefix: Option<&str>) -> usize {
        let mut clauses: Vec<_> = match words.strip_prefix('"') {
            Some(phrase) => vec![(Occur::Must, self.words(phrase.trim_end_matches('"')))],
            None => words.split(' ').map(|word| (Occur::Must, self.words(word))).collect(),
        };
        if let Some(prefix) = prefix {
            let bound = |text: &str| Term::from_field_bytes(self.row, text.as_bytes());
            let end = format!("{}.", prefix.trim_end_matches('-'));
            let range = RangeQuery::new(
                std::ops::Bound::Included(bound(prefix)),
                std::ops::Bound::Excluded(bound(&end)),
            );
            clauses.push((Occur::Must, Box::new(range)));
        }
        let query = match clauses.len() {
            1 => clauses.remove(0).1,
            _ => Box::new(BooleanQuery::new(clauses)),
        };
        self.searcher.search(&query, &TopDocs::with_limit(10).order_by_score()).unwrap().len()
    }

    /// Returns tantivy's query for a word, or for words side by side, with any analyser.
    fn words(&self, text: &str) -> Box<dyn Query> {
        let mut any_of: Vec<Box<dyn Query>> = Vec::new();
        for (_, field) in &self.fields {
            let mut tokenizer = self.searcher.index().tokenizer_for_field(*field).unwrap();
            let mut tokens = Vec::new();
            tokenizer.token_stream(text).process(&mut |token| tokens.push(token.clone()));
            // Chinese words overlap: the longest from each place on are the whole run.
            tokens.sort_by_key(|token| (token.offset_from, Reverse(token.offset_to)));
            let mut end = 0;
            tokens.retain(|token| {
                let is_next = token.offset_from >= end;
                end = if is_next { token.offset_to } else { end };
                is_next
            });
            let first = tokens[0].position;
            let term = |token: &Token| Term::from_field_text(*field, &token.text);
            any_of.push(match &tokens[..] {
                [only] => Box::new(TermQuery::new(term(only), IndexRecordOption::WithFreqs)),
                _ => {
                    let terms = tokens.iter().map(|token| (token.position - first, term(token)));
                    Box::new(PhraseQuery::new_with_offset(terms.collect()))
                }
            });
        }
        Box::new(BooleanQuery::union(any_of))
    }
}

fn descriptor(name: &str, indexes: &str) -> TableDescriptor {
    TableDescriptor::new(TableName::parse(name).unwrap())
        .family(FamilyDescriptor::new("d").unwrap())
        .attribute(KEY_ATTRIBUTE, "1 [user text]-[n digits 7]")
        .attribute(COLUMNS_ATTRIBUTE, "1 d:b body string")
        .attribute(INDEXES_ATTRIBUTE, indexes.to_owned())
}

fn load(table: &Arc<Table>, documents: &[(String, String)]) {
    for chunk in documents.chunks(100) {
        let puts = chunk.iter().map(|(key, text)| -> Mutation {
            Put::new(key.clone()).unwrap().add("d", "b", text.clone()).unwrap().into()
        });
        table.batch(puts.collect()).into_iter().for_each(|outcome| _ = outcome.unwrap());
    }
}

fn plan(query: &str) -> SearchPlan {
    let table = descriptor("t", &format!("1 {INDEX}"));
    let key = KeySchema::of_table(&table).unwrap().unwrap();
    let columns = rowhouse_schema::ColumnSchema::of_table(&table).unwrap().unwrap();
    let indexes = IndexSchema::of_table(&table).unwrap().unwrap();
    let query = Predicate::parse(query).unwrap();
    indexes.search_plan(Some(&key), &columns, &query, &TimeZone::UTC, None).unwrap()
}

fn main() {
    let count = std::env::args().filter_map(|it| it.parse::<u64>().ok()).next().unwrap_or(200_000);
    let mut numbers = Numbers(88_172_645_463_325_252);
    let documents: Vec<_> = (0..count).map(|nth| (key(nth), text(nth, &mut numbers))).collect();
    let raw: usize = documents.iter().map(|(_, text)| text.len()).sum();
    println!("{count} documents, {} MB of text", raw / 1_000_000);
    register_analysers(&TokenizerManager::new());

    let (bare, bare_took) = measured("bare tantivy: index", count, || bare(&documents));
    let dir = tempfile::tempdir().unwrap();
    let store = Store::open(dir.path()).unwrap();
    let engine = SearchEngine::without_thread(&store);
    let plain = TableName::parse("plain").unwrap();
    let name = TableName::parse("t").unwrap();
    store.create_table(descriptor("plain", PLAIN), &[]).unwrap();
    store.create_table(descriptor("t", &format!("1 {INDEX}")), &[]).unwrap();
    engine.work(&name, "text").unwrap();
    let table = store.table(&name).unwrap();
    let plain_table = store.table(&plain).unwrap();
    let (_, plain_took) = measured("puts in batches, no index", count, || {
        load(&plain_table, &documents);
    });
    let (_, put_took) = measured("puts in batches, full-text index", count, || {
        load(&table, &documents);
    });
    let more = put_took.saturating_sub(plain_took).as_nanos() as f64 / 1000.0 / count as f64;
    println!("{:46} {more:9.2} µs CPU", "a put with the index costs more");
    let (_, work_took) = measured("write queued rows to segments", count, || {
        engine.work(&name, "text").unwrap();
    });
    ratio("indexing by the queue, of bare tantivy", work_took, bare_took);
    store.request_index_repair(&name, "text").unwrap();
    let (_, build_took) = measured("build over rows that are there", count, || {
        engine.work(&name, "text").unwrap();
        assert_eq!(store.index_state(&name, "text").unwrap(), IndexState::Ready);
    });
    ratio("building, of bare tantivy", build_took, bare_took);
    println!("{:46} {:9}", "segments of bare tantivy", bare.searcher.segment_readers().len());
    let segments = engine.segments(&name, "text").unwrap();
    let bytes: u64 = segments.iter().map(|segment| segment.bytes).sum();
    println!(
        "{:46} {:9.2}, {} segments, {} MB",
        "size of segments, of bare tantivy",
        bytes as f64 / bare.bytes as f64,
        segments.len(),
        bytes / 1_000_000
    );

    let common = english_word(3);
    let two = format!("{} {}", english_word(20), english_word(30));
    let frequent = format!("{} {}", english_word(0), english_word(1));
    let phrase = format!("\"{frequent}\"");
    let rare = english_word(20_000);
    // The clock has 10 ms ticks: quick searches are run more often.
    for (what, words, prefix, rounds) in [
        ("one word", &common[..], None, 5_000),
        ("one rare word", &rare, None, 50_000),
        ("two words", &two, None, 2_000),
        ("two frequent words", &frequent, None, 500),
        ("phrase", &phrase, None, 100),
        ("Chinese run", "行键设计", None, 100),
        ("two Chinese runs", "行键设计 查询索引", None, 100),
        ("one word in one user", &common, Some("user123-"), 1_000),
    ] {
        let (bare_rows, bare_took) = measured(&format!("bare tantivy: {what}"), rounds, || {
            (0..rounds).map(|_| bare.search(words, prefix)).max().unwrap()
        });
        let user = prefix.map_or(String::new(), |_| "user = 'user123' and ".to_owned());
        let plan = plan(&format!("{user}body matches '{words}'"));
        let (rows, own_took) = measured(&format!("table: {what}"), rounds, || {
            let search = || engine.find(&name, &plan).unwrap().by_score(0, 10).unwrap();
            (0..rounds).map(|_| search().len()).max().unwrap()
        });
        assert_eq!(rows, bare_rows);
        ratio("throughput, of bare tantivy", bare_took, own_took);
    }

    // A thousand rows change.
    let changed: Vec<_> = documents.iter().step_by((count as usize / 1_000).max(1)).collect();
    let changed: Vec<_> =
        changed.into_iter().map(|(key, text)| (key.clone(), format!("{text} new"))).collect();
    load(&table, &changed);
    let plan = plan("body matches 'new'");
    let started = Instant::now();
    assert_eq!(engine.find(&name, &plan).unwrap().count().unwrap(), changed.len() as u64);
    println!("first search with {} rows changed: {:?}", changed.len(), started.elapsed());
    let started = Instant::now();
    for _ in 0..100 {
        engine.find(&name, &plan).unwrap().by_score(0, 10).unwrap();
    }
    println!("each further one: {:?}", started.elapsed() / 100);
    load(&table, &changed[..1]);
    let started = Instant::now();
    engine.find(&name, &plan).unwrap().by_score(0, 10).unwrap();
    println!("after one more change: {:?}", started.elapsed());

    engine.close();
    store.close().unwrap();
    let started = Instant::now();
    let store = Store::open(dir.path()).unwrap();
    println!("open the store: {:?}", started.elapsed());
    let engine = SearchEngine::without_thread(&store);
    let started = Instant::now();
    engine.find(&name, &plan).unwrap().by_score(0, 10).unwrap();
    println!("first search after it: {:?}", started.elapsed());
    engine.close();
    store.close().unwrap();
}

fn ratio(what: &str, one: Duration, other: Duration) {
    println!("{what:46} {:9.2}", one.as_secs_f64() / other.as_secs_f64().max(1e-9));
}
