//! Answers in Solr's binary form, version 2: `wt=javabin`.
//!
//! ```text
//! answer   = version value                       version is the byte 2
//! value    = tag bytes
//!   0 null, 1 true, 2 false, 5 double (8 bytes), 6 int (4), 7 long (8), 8 float (4), 9 date (8)
//!   11 document: value (names and values)        12 documents: value (list of number, start,
//!   13 bytes: length bytes                          highest score, exactness), value (list)
//!   001sssss text of s bytes of UTF-8            010sssss int, 011sssss long: the low 4 bits; if
//!   100sssss list of s values                       the fifth is set, the others follow
//!   101sssss names and values, s of them         111sssss a name: the one with the number s, or
//!                                                   for 0 a new one, as a text
//! size     = s, or 31 and the rest as a variable-length number, 7 bits a byte, the lowest first
//! ```
//!
//! Numbers are big-endian. Names of names and values are numbered from 1 as they come.

use std::collections::HashMap;

use super::answer::{Data, Documents};

const VERSION: u8 = 2;
const NULL: u8 = 0;
const TRUE: u8 = 1;
const FALSE: u8 = 2;
const DOUBLE: u8 = 5;
const INT: u8 = 6;
const LONG: u8 = 7;
const FLOAT: u8 = 8;
const DATE: u8 = 9;
const DOCUMENT: u8 = 11;
const DOCUMENTS: u8 = 12;
const BYTES: u8 = 13;
const TEXT: u8 = 1 << 5;
const SMALL_INT: u8 = 2 << 5;
const SMALL_LONG: u8 = 3 << 5;
const LIST: u8 = 4 << 5;
const NAMED: u8 = 5 << 5;
const NAME: u8 = 7 << 5;

/// The largest size that is in the tag byte.
const SIZE_MAX: usize = 0x1f;

/// Writes an answer.
pub(super) fn written(answer: &Data) -> Vec<u8> {
    let mut writer = Writer { out: vec![VERSION], names: HashMap::new() };
    writer.data(answer);
    writer.out
}

struct Writer<'a> {
    out: Vec<u8>,
    names: HashMap<&'a str, usize>,
}

impl<'a> Writer<'a> {
    fn data(&mut self, data: &'a Data) {
        match data {
            Data::Bool(true) => self.out.push(TRUE),
            Data::Bool(false) => self.out.push(FALSE),
            Data::Int(number) => self.int(*number),
            Data::Long(number) => self.long(*number),
            Data::Float(number) => self.tagged(FLOAT, &number.to_be_bytes()),
            Data::Double(number) => self.tagged(DOUBLE, &number.to_be_bytes()),
            Data::Text(text) => self.text(text),
            Data::Date(millis) => self.tagged(DATE, &millis.to_be_bytes()),
            Data::Bytes(bytes) => {
                self.out.push(BYTES);
                self.variable(bytes.len() as u64);
                self.out.extend_from_slice(bytes);
            }
            Data::List(list) => {
                self.sized(LIST, list.len());
                list.iter().for_each(|data| self.data(data));
            }
            Data::Named(named) => self.named(named),
            Data::Counts(counts, _) => {
                self.sized(NAMED, counts.len());
                for (name, count) in counts {
                    self.name(name);
                    // Clients read counts as either number kind.
                    match i32::try_from(*count) {
                        Ok(count) => self.int(count),
                        Err(_) => self.long(*count),
                    }
                }
            }
            Data::Documents(page) => self.documents(page),
        }
    }

    fn tagged(&mut self, tag: u8, bytes: &[u8]) {
        self.out.push(tag);
        self.out.extend_from_slice(bytes);
    }

    fn sized(&mut self, tag: u8, size: usize) {
        if size < SIZE_MAX {
            self.out.push(tag | size as u8);
        } else {
            self.out.push(tag | SIZE_MAX as u8);
            self.variable((size - SIZE_MAX) as u64);
        }
    }

    fn variable(&mut self, mut number: u64) {
        while number > 0x7f {
            self.out.push((number & 0x7f) as u8 | 0x80);
            number >>= 7;
        }
        self.out.push(number as u8);
    }

    fn int(&mut self, number: i32) {
        match u32::try_from(number) {
            Ok(number @ 1..) => self.small(SMALL_INT, number.into()),
            _ => self.tagged(INT, &number.to_be_bytes()),
        }
    }

    fn long(&mut self, number: i64) {
        // The highest byte is zero.
        match u64::try_from(number) {
            Ok(number) if number >> 56 == 0 => self.small(SMALL_LONG, number),
            _ => self.tagged(LONG, &number.to_be_bytes()),
        }
    }

    fn small(&mut self, tag: u8, number: u64) {
        let low = (number & 0x0f) as u8;
        if number < 0x0f {
            self.out.push(tag | low);
        } else {
            self.out.push(tag | 0x10 | low);
            self.variable(number >> 4);
        }
    }

    fn text(&mut self, text: &str) {
        self.sized(TEXT, text.len());
        self.out.extend_from_slice(text.as_bytes());
    }

    fn name(&mut self, name: &'a str) {
        match self.names.get(name) {
            Some(number) => self.sized(NAME, *number),
            None => {
                self.names.insert(name, self.names.len() + 1);
                self.sized(NAME, 0);
                self.text(name);
            }
        }
    }

    fn named(&mut self, named: &'a [(String, Data)]) {
        self.sized(NAMED, named.len());
        for (name, data) in named {
            self.name(name);
            self.data(data);
        }
    }

    fn documents(&mut self, page: &'a Documents) {
        self.out.push(DOCUMENTS);
        self.sized(LIST, 4);
        self.long(page.count);
        self.long(page.start);
        match page.score_max {
            Some(score) => self.tagged(FLOAT, &score.to_be_bytes()),
            None => self.out.push(NULL),
        }
        self.out.push(TRUE);
        self.sized(LIST, page.documents.len());
        for document in &page.documents {
            self.out.push(DOCUMENT);
            self.named(document);
        }
    }
}
