//! Table designs, tried before there are rows.
//!
//! A [`Workload`] describes rows, the rate at which they are written, the questions about them, and
//! limits. [`simulate`] makes the rows, writes them to a temporary store under one [`Design`] and
//! runs the questions. [`advise`](advise()) proposes designs and compares them.
//!
//! ```
//! use rowhouse::advise::{Design, Workload, simulate};
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> rowhouse::Result<()> {
//! # let dir = tempfile::tempdir().unwrap();
//! let workload = Workload::parse("\
//! field user string: 100 values, zipf 1.1
//! field at millis: now
//! write 500/s
//! ask user = ? newest 10 : 20/s
//! rows 2000")?;
//! let design = Design::new(&workload, "[user string][at millis desc]", "")?;
//! let simulated = simulate(&workload, &design, dir.path()).await?;
//! assert_eq!(simulated.rows_stored, 2000);
//! assert!(simulated.spread.median() < 0.5);
//! assert!(simulated.questions[0].rows_returned <= 10.0);
//! # Ok(())
//! # }
//! ```

mod advice;
mod compare;
mod fill;
mod measure;
mod of_table;
mod reasons;
mod simulate;
mod simulation;
mod trade;
mod warnings;

pub use advice::{Advice, AdvisedDesign};
pub use compare::{AdviceStep, advise, advise_among, advise_with_progress};
pub use of_table::workload_of;
pub use rowhouse_schema::{
    BusiestShares, Design, DesignEstimate, DesignKind, Distribution, Draw, Estimator, Limits,
    Proposal, Question, QuestionEstimate, QuestionReading, Record, RegionModel, Spread,
    TableSpread, Way, WideForm, Workload,
};
pub use simulate::simulate;
pub use simulation::{QuestionCost, Simulation};
pub use warnings::Warning;
