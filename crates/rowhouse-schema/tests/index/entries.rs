//! The entries of rows, byte by byte.
