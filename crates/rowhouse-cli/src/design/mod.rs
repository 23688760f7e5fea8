//! Simulations of designs in words and as JSON.

mod columns;
mod json;
mod text;

pub(crate) use json::simulation_json;
pub(crate) use text::simulation_lines;
