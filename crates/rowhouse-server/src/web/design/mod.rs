//! Designs for a workload: typed, from a file, or of a table; ranked by their estimates, and by
//! simulations if the program that starts the server brings a simulator.

mod designs;
mod form;
mod latest;
mod sample;
mod simulation;
mod upload;

pub(super) use form::answer;
pub(super) use latest::Simulations;
pub(super) use simulation::{show, start};
pub(super) use upload::upload;
