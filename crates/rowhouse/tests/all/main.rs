//! Tests for the facade, on a store in this process and on a server, in one program: linking one is
//! most of what a test costs to build.

#![allow(clippy::unwrap_used, reason = "a test that cannot continue fails")]

mod a_month_of_posts;
mod alter_key;
mod alterations_at_one_time;
mod analysis;
mod backups;
mod buckets;
mod cells_by_qualifiers;
mod changes;
mod columns;
mod counters;
mod damaged_indexes;
mod deletes;
mod designs;
mod faults;
mod feed;
mod guide_in_chinese;
mod heat;
mod index_answers;
mod indexes;
mod insert;
mod large_values;
mod mailboxes_in_rows;
mod many_gets;
mod observers;
mod one_moment;
mod plain_requests;
mod queries_in_transactions;
mod region_servers;
mod regions;
mod regret;
mod search;
mod search_copies;
mod settings;
mod states;
mod streams;
#[path = "../support/mod.rs"]
mod support;
mod tokens;
mod typed_keys;
mod whole_rows;
mod wide_rows;
