//! Design simulations and comparisons, in words, as JSON and as drawings.

mod advice_text;
mod columns;
mod json;
mod page_simulator;
mod picture;
mod scratch;
mod text;

pub(crate) use advice_text::{advice_lines, step_text};
pub(crate) use json::{advice_json, simulation_json};
pub(crate) use page_simulator::PageSimulator;
pub(crate) use picture::{advice_svg, simulation_svg};
pub(crate) use scratch::ScratchDir;
pub(crate) use text::simulation_lines;
