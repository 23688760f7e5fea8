//! Line editing: history, and completion from the commands.

use std::path::PathBuf;

use rustyline::completion::Completer;
use rustyline::error::ReadlineError;
use rustyline::highlight::Highlighter;
use rustyline::hint::Hinter;
use rustyline::history::DefaultHistory;
use rustyline::validate::Validator;
use rustyline::{Context, Editor, Helper};

use super::complete::complete;

/// A terminal that lines come from.
pub(crate) struct Terminal {
    editor: Editor<Completion, DefaultHistory>,
    history: Option<PathBuf>,
}

/// A user action.
pub(crate) enum Input {
    Line(String),
    /// Control-C: the incomplete statement is discarded.
    Abandon,
    /// Control-D, or a closed terminal.
    End,
}

impl Terminal {
    /// Opens a terminal whose history is stored in `history`.
    pub(crate) fn open(history: Option<PathBuf>) -> rustyline::Result<Self> {
        let mut editor = Editor::new()?;
        editor.set_helper(Some(Completion::default()));
        if let Some(path) = &history {
            // There is none at the first start.
            let _ = editor.load_history(path);
        }
        Ok(Self { editor, history })
    }

    /// Sets the table names for completion.
    pub(crate) fn set_tables(&mut self, tables: Vec<String>) {
        if let Some(completion) = self.editor.helper_mut() {
            completion.tables = tables;
        }
    }

    /// Reads a line.
    pub(crate) fn read(&mut self, prompt: &str) -> rustyline::Result<Input> {
        match self.editor.readline(prompt) {
            Ok(line) => {
                self.editor.add_history_entry(&line)?;
                Ok(Input::Line(line))
            }
            // The editor may learn about a signal later, for example when the window is resized.
            Err(ReadlineError::Interrupted | ReadlineError::Signal(_)) => Ok(Input::Abandon),
            Err(ReadlineError::Eof) => Ok(Input::End),
            Err(error) => Err(error),
        }
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        if let Some(path) = &self.history {
            // A history that cannot be saved is no reason to fail.
            let _ = self.editor.save_history(path);
        }
    }
}

#[derive(Default)]
struct Completion {
    tables: Vec<String>,
}

impl Completer for Completion {
    type Candidate = String;

    fn complete(
        &self,
        line: &str,
        at: usize,
        _: &Context<'_>,
    ) -> rustyline::Result<(usize, Vec<String>)> {
        Ok(complete(&line[..at], &self.tables))
    }
}

impl Hinter for Completion {
    type Hint = String;
}

impl Highlighter for Completion {}
impl Validator for Completion {}
impl Helper for Completion {}
