//! The fields of a full-text index as fields of tantivy, and rows as documents.

use rowhouse_model::{Bytes, Result, Row};
use rowhouse_schema::{Analyser, SearchField, SearchIndex, Value};
use tantivy::TantivyDocument;
use tantivy::index::{IndexSettings, IndexSortByField, Order};
use tantivy::schema::{
    BytesOptions, Field, IndexRecordOption, NumericOptions, Schema, TextFieldIndexing, TextOptions,
};
use tantivy::store::Compressor;

/// The names of the fields that every index has.
const ROW: &str = "row";
const EXPIRES: &str = "expires";
const HIDDEN: &str = "hidden";

/// The fields of a full-text index.
pub(crate) struct Fields {
    index: SearchIndex,
    schema: Schema,
    /// The row's key.
    row: Field,
    /// The first millisecond at which the row can show something else without a write.
    expires: Field,
    /// Present in documents of rows that show nothing.
    hidden: Field,
    /// For each field of the index.
    indexed: Vec<IndexedField>,
}

/// The tantivy fields of a field of the index.
pub(crate) struct IndexedField {
    /// One for each analyser.
    pub(crate) words: Vec<(Analyser, Field)>,
    /// The encoded values, in their order, for fields that narrow and sort.
    pub(crate) values: Option<Field>,
}

/// A row as a search finds it.
pub(crate) struct Document {
    pub(crate) row: Bytes,
    /// The visible cells of the columns of the index; empty if the row shows nothing.
    pub(crate) cells: Row,
    /// The last millisecond at which the row shows these cells, unless it is written to.
    pub(crate) until_millis: i64,
}

impl Fields {
    pub(crate) fn new(index: SearchIndex) -> Self {
        let mut schema = Schema::builder();
        let row = schema.add_bytes_field(ROW, BytesOptions::default().set_fast());
        let expires = schema.add_i64_field(EXPIRES, NumericOptions::default().set_fast());
        let hidden = schema.add_bool_field(HIDDEN, NumericOptions::default().set_indexed());
        let mut indexed = Vec::new();
        // Named by number: tantivy takes a dot in a name for a path.
        for (number, field) in index.fields().iter().enumerate() {
            let mut words = Vec::new();
            for analyser in field.analysers() {
                let name = format!("words{number}_{analyser}");
                words.push((*analyser, schema.add_text_field(&name, text_options(*analyser))));
            }
            let has_values =
                field.analysers().is_empty() || field.analysers().contains(&Analyser::Keyword);
            let values = has_values.then(|| {
                let options = BytesOptions::default().set_fast();
                schema.add_bytes_field(&format!("values{number}"), options)
            });
            indexed.push(IndexedField { words, values });
        }
        Self { index, schema: schema.build(), row, expires, hidden, indexed }
    }

    pub(crate) fn schema(&self) -> &Schema {
        &self.schema
    }

    /// Documents are in the order of their rows, and nothing is stored with them.
    pub(crate) fn settings(&self) -> IndexSettings {
        IndexSettings {
            sort_by_field: Some(IndexSortByField { field: ROW.to_owned(), order: Order::Asc }),
            docstore_compression: Compressor::None,
            docstore_compress_dedicated_thread: false,
            ..IndexSettings::default()
        }
    }

    /// The name of the column of row keys.
    pub(crate) fn row_column(&self) -> &'static str {
        ROW
    }

    /// The name of the column of expiries.
    pub(crate) fn expires_column(&self) -> &'static str {
        EXPIRES
    }

    /// The field that marks documents of rows that show nothing.
    pub(crate) fn hidden(&self) -> Field {
        self.hidden
    }

    /// Returns a field of the index, and its tantivy fields.
    pub(crate) fn find(&self, name: &str) -> Option<(&SearchField, &IndexedField)> {
        let mut fields = self.index.fields().iter().zip(&self.indexed);
        fields.find(|(field, _)| field.name() == name)
    }

    /// Returns the document of a row.
    ///
    /// # Errors
    /// `InvalidRequest` for a value that cannot be encoded.
    pub(crate) fn document(&self, document: &Document) -> Result<TantivyDocument> {
        let mut out = TantivyDocument::new();
        out.add_bytes(self.row, &document.row);
        if document.until_millis < i64::MAX {
            out.add_i64(self.expires, document.until_millis + 1);
        }
        if document.cells.is_empty() {
            out.add_bool(self.hidden, true);
            return Ok(out);
        }
        for (field, indexed) in self.index.fields().iter().zip(&self.indexed) {
            for value in field.values(&document.cells) {
                if let Some(values) = indexed.values {
                    out.add_bytes(values, &encoded(field, &value)?);
                }
                if let Value::Text(text) = &value {
                    for (_, words) in &indexed.words {
                        out.add_text(*words, text);
                    }
                }
            }
        }
        Ok(out)
    }
}

/// Returns a value as bytes that are in the order of the values.
fn encoded(field: &SearchField, value: &Value) -> Result<Bytes> {
    let name = field.order().fields()[0].name();
    field.order().encode(&[(name, value.clone())])
}

fn text_options(analyser: Analyser) -> TextOptions {
    // A keyword is one term: it has no phrases, and counts once.
    let record = match analyser {
        Analyser::Keyword => IndexRecordOption::Basic,
        _ => IndexRecordOption::WithFreqsAndPositions,
    };
    let indexing = TextFieldIndexing::default()
        .set_tokenizer(analyser.word())
        .set_fieldnorms(analyser != Analyser::Keyword)
        .set_index_option(record);
    TextOptions::default().set_indexing_options(indexing)
}
