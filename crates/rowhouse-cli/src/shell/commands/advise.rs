//! `advise`: designs for a table.

use rowhouse::ErrorKind;
use rowhouse::advise::{AdviceStep, advise_with_progress, workload_of};

use crate::design::{ScratchDir, advice_lines, step_text};
use crate::output::StatusLine;
use crate::shell::command::Action::Reads;
use crate::shell::command::{Call, Command, Group, TABLE, repeated};
use crate::shell::failure::{Result, usage_error};
use crate::shell::session::{Session, boxed};

pub(super) const COMMANDS: &[Command] = &[Command {
    names: &["advise"],
    group: Group::Tables,
    arguments: &[TABLE, repeated("QUESTION")],
    options: &[],
    about: "Proposes keys and indexes for a table, from its rows, its heat and questions.",
    details: "A question is a query with ? for values that rows have; `newest 20` or `limit 20` \
                  may follow, and a rate. Designs are tried on up to 20,000 rows in a temporary \
                  store; the table does not change. rowhouse advise does the same for a file that \
                  describes rows.",
    examples: &[
        "advise 'mail', \"user = ? newest 20 : 40/s\", \"sender = ? : 1/s\"",
        "advise 'mail', \"user = ? and at >= now - 1d\"",
    ],
    run: Reads(|session, call| boxed(advise(session, call))),
}];

async fn advise(session: &mut Session, call: Call) -> Result<()> {
    let questions = (1..call.arguments.len()).map(|at| call.text(at));
    let questions = questions.collect::<Result<Vec<String>>>()?;
    let table = call.table()?;
    let mut shown = StatusLine::new();
    shown.show(format_args!("reading a sample of {table}"));
    let workload = match workload_of(&session.database, &table, &questions).await {
        // A mistake in a question, or a table that has no rows to go by.
        Err(error) if error.kind() == ErrorKind::InvalidRequest => {
            return usage_error(error.message());
        }
        workload => workload?,
    };
    let dir = ScratchDir::create()?;
    let progress = |step: AdviceStep<'_>| shown.show(step_text(&step));
    let mut advice = advise_with_progress(&workload, dir.path(), progress).await?;
    drop(shown);
    advice.fit_to(&session.database).await?;
    advice_lines(&workload, &advice, Some(&table)).iter().try_for_each(|line| session.say(line))
}
