//! The tantivy fields that hold an index's declared fields.

use std::ops::Bound;
use std::sync::{Arc, OnceLock};

use rowhouse_model::RowRange;
use rowhouse_schema::{Analyser, Search};
use tantivy::schema::{
    BytesOptions, Field, IndexRecordOption, NumericOptions, Schema, TextFieldIndexing, TextOptions,
};
use tantivy::tokenizer::TokenizerManager;
use tantivy::{IndexSettings, IndexSortByField, Order};

use crate::analyse::register_analysers;

/// The longest value that a segment holds, in bytes in the order-preserving encoding. The row
/// itself decides conditions on a longer one.
pub(crate) const VALUE_BYTES_MAX: usize = 1_024;

/// The stored form for a value that is too long.
pub(crate) const UNKNOWN: &[u8] = &[0];

/// The first byte in a value's stored form; the rest is the order-preserving encoding.
const KNOWN: u8 = 1;

/// The name of the field that holds the row key. Documents are in row key order.
const ROW: &str = "row";
/// The name for the field with the last millisecond at which the row is certain to be as analysed.
const UNTIL: &str = "until";
/// The name for the field that marks a row without any value.
const GONE: &str = "gone";

/// The mark for a row that shows nothing before it is written again.
pub(crate) const GONE_FOR_EVER: u64 = 1;
/// The mark for a row that shows nothing for a time.
pub(crate) const GONE_FOR_NOW: u64 = 2;

/// The tantivy fields in an index.
///
/// ```text
/// row      the key of the row           bytes, fast; documents are in its order
/// until    as analysed until then       i64, fast; only if the row changes without a write
/// gone     1 if the row shows nothing   u64, fast; 2 if that may change without a write
/// N        the values of field N        bytes, fast: 1 and the encoding, or 0 for one too long;
///                                       of texts only those with the analyser keyword
/// N.english  the words of field N       text, for each analyser; positions unless it is keyword
/// ```
#[derive(Clone, Debug)]
pub(crate) struct Layout {
    pub(crate) schema: Schema,
    pub(crate) row: Field,
    pub(crate) until: Field,
    pub(crate) gone: Field,
    fields: Vec<LayoutField>,
}

#[derive(Clone, Debug)]
struct LayoutField {
    /// A field for each analyser; none for a value.
    texts: Vec<(Analyser, Field)>,
    /// The field for values, and for whole texts that rows are counted and ordered by.
    value: Option<Field>,
}

impl Layout {
    pub(crate) fn of(search: &Search) -> Self {
        let mut schema = Schema::builder();
        let row = schema.add_bytes_field(ROW, BytesOptions::default().set_fast());
        let until = schema.add_i64_field(UNTIL, NumericOptions::default().set_fast());
        let gone = schema.add_u64_field(GONE, NumericOptions::default().set_fast());
        let mut fields = Vec::new();
        for (at, field) in search.fields().iter().enumerate() {
            let has_value = !field.is_text() || field.analysers().contains(&Analyser::Keyword);
            let options = BytesOptions::default().set_fast();
            let value = has_value.then(|| schema.add_bytes_field(&at.to_string(), options));
            let texts = field.analysers().iter().map(|&analyser| {
                let name = format!("{at}.{analyser}");
                (analyser, schema.add_text_field(&name, text_options(analyser)))
            });
            fields.push(LayoutField { texts: texts.collect(), value });
        }
        Self { schema: schema.build(), row, until, gone, fields }
    }

    /// How many declared fields there are.
    pub(crate) fn len(&self) -> usize {
        self.fields.len()
    }

    /// The tantivy fields for a text, each with the analyser. None for a value.
    pub(crate) fn texts(&self, field: usize) -> &[(Analyser, Field)] {
        self.fields.get(field).map_or(&[], |field| &field.texts)
    }

    /// The tantivy field for values; `None` for a text without the analyser `keyword`.
    pub(crate) fn value(&self, field: usize) -> Option<Field> {
        self.fields.get(field)?.value
    }

    /// The name for the column that holds row keys.
    pub(crate) fn row_column(&self) -> &'static str {
        ROW
    }

    pub(crate) fn until_column(&self) -> &'static str {
        UNTIL
    }

    pub(crate) fn gone_column(&self) -> &'static str {
        GONE
    }

    /// The name for the column that holds a value.
    pub(crate) fn value_column(&self, field: usize) -> String {
        field.to_string()
    }

    /// The settings for a segment whose documents are added in row order.
    pub(crate) fn settings() -> IndexSettings {
        IndexSettings::default()
    }

    /// The settings for a merge, which puts documents into row order.
    pub(crate) fn merge_settings() -> IndexSettings {
        let by_row = IndexSortByField { field: ROW.to_owned(), order: Order::Asc };
        IndexSettings {
            sort_by_field: Some(by_row),
            // A merge that ends early leaves no thread that writes.
            docstore_compress_dedicated_thread: false,
            ..IndexSettings::default()
        }
    }
}

fn text_options(analyser: Analyser) -> TextOptions {
    let option = match analyser {
        Analyser::Keyword => IndexRecordOption::WithFreqs,
        Analyser::Simple | Analyser::English | Analyser::Chinese => {
            IndexRecordOption::WithFreqsAndPositions
        }
    };
    let indexing = TextFieldIndexing::default()
        .set_tokenizer(analyser.name())
        .set_index_option(option)
        .set_fieldnorms(true);
    TextOptions::default().set_indexing_options(indexing)
}

/// The analysers under their names, shared by all segments.
pub(crate) fn tokenizers() -> TokenizerManager {
    static TOKENIZERS: OnceLock<Arc<TokenizerManager>> = OnceLock::new();
    let shared = TOKENIZERS.get_or_init(|| {
        // Tantivy requires its own `default` for fields without text.
        let tokenizers = TokenizerManager::default();
        register_analysers(&tokenizers);
        Arc::new(tokenizers)
    });
    TokenizerManager::clone(shared)
}

/// Returns a value's stored form.
pub(crate) fn stored_value(encoded: &[u8]) -> Vec<u8> {
    if encoded.len() > VALUE_BYTES_MAX {
        return UNKNOWN.to_vec();
    }
    let mut stored = Vec::with_capacity(encoded.len() + 1);
    stored.push(KNOWN);
    stored.extend_from_slice(encoded);
    stored
}

/// Returns a stored value's encoding; `None` if it was too long.
pub(crate) fn encoded_value(stored: &[u8]) -> Option<&[u8]> {
    stored.split_first().filter(|(first, _)| **first == KNOWN).map(|(_, encoded)| encoded)
}

/// Returns the range of stored forms for an encoding range.
pub(crate) fn stored_range(range: &RowRange) -> (Bound<Vec<u8>>, Bound<Vec<u8>>) {
    let start = [&[KNOWN][..], &range.start].concat();
    let stop =
        if range.stop.is_empty() { vec![KNOWN + 1] } else { [&[KNOWN][..], &range.stop].concat() };
    (Bound::Included(start), Bound::Excluded(stop))
}
