//! Tests for templates, keys and plans, in one program: linking one is most of what a test costs to
//! build.

#![allow(clippy::unwrap_used, reason = "a test that cannot continue fails")]

mod advice;
mod digits_as_times;
mod encodings;
mod estimates;
mod giving_computed_fields;
mod keys_people_have;
mod pages;
mod query_language;
mod reversed_digits;
mod rubbish;
mod splits;
mod stored_hashes;
mod texts_before_a_literal;
mod zones;
