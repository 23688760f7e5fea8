//! HFile, version 3.
