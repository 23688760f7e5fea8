//! Designs for a workload: typed, from a file, or of a table; ranked by their estimates, and by
//! simulations if the program that starts the server brings a simulator.

mod designs;
mod form;
mod sample;
mod simulation;
mod upload;

pub(super) use form::answer;
pub(super) use simulation::{Simulations, show, start};
pub(super) use upload::upload;
