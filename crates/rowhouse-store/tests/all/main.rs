//! Tests of stores and their files, over the public API, in one program: linking one is most of
//! what a test costs to build.

#![allow(clippy::unwrap_used, reason = "a test that cannot continue fails")]

mod altered_tables;
mod assignment;
mod automatic_splits;
mod backups;
mod batch_outcomes;
mod buffered_counters;
mod changed_meanwhile;
mod changes;
mod conditional_writes;
mod copies;
mod damaged;
mod damaged_indexes;
mod estimates;
mod explained_cells;
mod formats;
mod growing_values;
mod heat;
#[path = "../support/histories.rs"]
mod histories;
mod index_histories;
mod indexes;
mod large_mutations;
mod maintenance;
mod many_markers;
mod markers_in_puts;
mod memory_indexes;
mod moved_directories;
mod newest_versions;
mod observers;
mod open_scanners;
mod out_of_time;
mod qualifier_conditions;
mod reader_memory;
mod recovery;
mod regions;
mod replaced_tables;
mod requests;
mod row_mutations;
mod salvage_of_indexes;
mod salvage_of_loads;
mod same_cell_twice;
mod scanners_and_declarations;
mod search_events;
mod search_histories;
mod snapshots;
mod torn_batches;
mod torn_stores;
mod traced_reads;
mod transactions;
mod versions_in_one_millisecond;
mod ways_to_read;
mod written_after_a_delete;
