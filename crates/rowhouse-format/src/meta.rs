//! `hbase:meta` and `hbase:namespace`, synthesised (`docs/formats/meta.md`).
