//! Properties of indexes.
