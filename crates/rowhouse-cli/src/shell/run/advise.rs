//! `advise`: designs for a table.

use std::io::Write;

use rowhouse::ErrorKind;
use rowhouse::advise::{advise as compare, workload_of};

use crate::design::{ScratchDir, advice_lines};
use crate::shell::call::Call;
use crate::shell::failure::{Result, said};
use crate::shell::session::Session;

pub(super) async fn advise<W: Write>(session: &mut Session<W>, call: Call) -> Result<()> {
    let questions = (1..call.arguments.len()).map(|at| call.text(at));
    let questions = questions.collect::<Result<Vec<String>>>()?;
    let table = call.table()?;
    let workload = match workload_of(&session.database, &table, &questions).await {
        // A mistake in a question, or a table that has no rows to go by.
        Err(error) if error.kind() == ErrorKind::InvalidRequest => return said(error.message()),
        workload => workload?,
    };
    let dir = ScratchDir::create()?;
    let mut advice = compare(&workload, dir.path()).await?;
    advice.fit_to(&session.database).await?;
    advice_lines(&workload, &advice, Some(&table)).iter().try_for_each(|line| session.say(line))
}
