//! `rowhouse shell`: HBase's commands on a database.

use std::fs::File;
use std::io::{self, BufRead, BufReader, BufWriter, IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use rowhouse::Error;
use rowhouse_store::is_data_directory;
use tokio::runtime::Runtime;

use super::{CommandResult, DATA_DIR, argument, database_url, directory_of, runtime};
use crate::output::{Escaped, print, report};
use crate::shell::{Input, Interrupts, LineOutcome, Outcome, Session, StatementReader, Terminal};

/// Arguments of `rowhouse shell`.
#[derive(Debug, clap::Args)]
pub(crate) struct ShellArgs {
    /// The data directory; a server that holds it is connected to
    #[arg(long, value_name = "DIR", default_value = DATA_DIR, conflicts_with = "connect")]
    data: PathBuf,
    /// The database, by URL: hbase://HOST:PORT, hbase+zk://HOST:PORT/ZNODE, hbase+tls://HOST:PORT,
    /// or a path; an hbase-site.xml names a cluster by HBase's own settings
    #[arg(long, value_name = "URL", value_parser = argument::url)]
    connect: Option<String>,
    /// Run this instead of reading commands; may be repeated
    #[arg(short, long, value_name = "COMMANDS", conflicts_with = "script")]
    execute: Vec<String>,
    /// Stop at the first error, with an exit status other than 0
    #[arg(short, long)]
    non_interactive: bool,
    /// Read commands from this file
    #[arg(value_name = "FILE")]
    script: Option<PathBuf>,
}

/// How long a prompt waits for the names of tables.
const COMPLETION_WAIT: Duration = Duration::from_secs(1);

/// The byte order mark with which some programs begin a file.
const BYTE_ORDER_MARK: char = '\u{FEFF}';

/// Runs the shell.
pub(crate) fn run(args: ShellArgs) -> CommandResult {
    // Before the database, which is created if it is missing.
    let source = Source::of(&args).map_err(|(path, source)| {
        Error::io(format_args!("cannot open {}", path.display()), source)
    })?;
    let runtime = runtime()?;
    let url = database_url(&args.data, args.connect.as_deref())?;
    let made = directory_of(&url).filter(|dir| !is_data_directory(dir));
    let database = runtime.block_on(rowhouse::open(&url))?;
    if let Some(dir) = made {
        report(format_args!("created a database in {}", dir.display()));
    }
    let session = Session::new(database.clone(), output());
    let mut shell = Shell { runtime, session, stop_at_error: args.non_interactive };
    let ran = shell.run(source);
    let closed = shell.runtime.block_on(database.close());
    // Interrupted commands are not awaited.
    shell.runtime.shutdown_background();
    let code = match ran {
        Ok(code) => code,
        // The output reader has closed the pipe.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => ExitCode::SUCCESS,
        Err(error) => return Err(Error::io("cannot continue", error)),
    };
    closed.map(|()| code)
}

/// Returns the output of a session: line by line to a terminal, in larger pieces to anything else.
fn output() -> Box<dyn Write> {
    if io::stdout().is_terminal() {
        Box::new(Escaped::new(io::stdout()))
    } else {
        Box::new(Escaped::new(BufWriter::new(io::stdout())))
    }
}

/// The source of commands.
enum Source {
    /// Each is complete.
    Given(Vec<String>),
    Script(PathBuf, BufReader<File>),
    /// A user at a terminal.
    Terminal,
    Input,
}

impl Source {
    fn of(args: &ShellArgs) -> Result<Self, (&Path, io::Error)> {
        if !args.execute.is_empty() {
            return Ok(Self::Given(args.execute.clone()));
        }
        match &args.script {
            Some(path) => match File::open(path) {
                Ok(file) => Ok(Self::Script(path.clone(), BufReader::new(file))),
                Err(error) => Err((path, error)),
            },
            None if io::stdin().is_terminal() && !args.non_interactive => Ok(Self::Terminal),
            None => Ok(Self::Input),
        }
    }
}

/// The place of commands in a script, for messages.
struct ScriptPlace<'s> {
    /// The name of the script.
    name: &'s str,
    /// The line in which the first of the commands begins, counted from 1.
    line: u64,
}

struct Shell {
    runtime: Runtime,
    session: Session,
    stop_at_error: bool,
}

/// Whether to continue reading.
enum Flow {
    On,
    Leave(ExitCode),
}

impl Shell {
    fn run(&mut self, source: Source) -> io::Result<ExitCode> {
        let flow = match source {
            Source::Given(commands) => self.run_given(&commands)?,
            Source::Script(path, file) => self.run_lines(&path.display().to_string(), file)?,
            Source::Terminal => self.run_terminal()?,
            Source::Input => self.run_lines("standard input", io::stdin().lock())?,
        };
        Ok(match flow {
            Flow::On => ExitCode::SUCCESS,
            Flow::Leave(code) => code,
        })
    }

    /// Runs the arguments of `--execute`, each for itself: an error in one hides no other.
    fn run_given(&mut self, commands: &[String]) -> io::Result<Flow> {
        for (at, text) in commands.iter().enumerate() {
            let name = match commands.len() {
                1 => "--execute".to_owned(),
                count => format!("--execute ({} of {count})", at + 1),
            };
            if let leave @ Flow::Leave(_) = self.run_lines(&name, text.as_bytes())? {
                return Ok(leave);
            }
        }
        Ok(Flow::On)
    }

    /// Runs the commands of a file, or of another input called `name`.
    fn run_lines(&mut self, name: &str, mut lines: impl BufRead) -> io::Result<Flow> {
        let mut reader = StatementReader::default();
        let mut line = String::new();
        // The first line of the current command, which may span several lines.
        let mut first_line = 1;
        for number in 1_u64.. {
            line.clear();
            let len = lines.read_line(&mut line)?;
            if number == 1 && line.starts_with(BYTE_ORDER_MARK) {
                line.remove(0);
            }
            if !reader.is_open() {
                first_line = number;
            }
            self.session.set_position(format_args!("{name}:{number}"));
            if len > 0
                && let Some(flow) = self.answer(&line)?
            {
                match flow {
                    Flow::On => continue,
                    leave => return Ok(leave),
                }
            }
            let step = if len == 0 { reader.finish() } else { reader.push(&line) };
            let place = ScriptPlace { name, line: first_line };
            if let leave @ Flow::Leave(_) = self.step(step, Some(place))? {
                return Ok(leave);
            }
            if len == 0 {
                break;
            }
        }
        Ok(Flow::On)
    }

    fn run_terminal(&mut self) -> io::Result<Flow> {
        let history = std::env::home_dir().map(|home| home.join(".rowhouse_history"));
        let mut terminal = Terminal::open(history).map_err(io::Error::other)?;
        self.session.set_interrupts(Interrupts::of_signal(self.runtime.handle())?);
        let version = env!("CARGO_PKG_VERSION");
        print(format_args!("rowhouse {version}; type help for help, exit to leave"))
            .map_err(io::Error::other)?;
        let mut reader = StatementReader::default();
        for line in 1_u32.. {
            terminal.set_tables(self.tables());
            let prompt = if reader.is_open() { "1*" } else { "0>" };
            let prompt = format!("rowhouse:{line:03}:{prompt} ");
            match terminal.read(&prompt).map_err(io::Error::other)? {
                Input::Line(line) => {
                    if let Some(flow) = self.answer(&line)? {
                        match flow {
                            Flow::On => continue,
                            leave => return Ok(leave),
                        }
                    }
                    let step = reader.push(&line);
                    if let leave @ Flow::Leave(_) = self.step(step, None)? {
                        return Ok(leave);
                    }
                }
                Input::Abandon => reader.clear(),
                Input::End => break,
            }
        }
        Ok(Flow::On)
    }

    /// Returns the names of the tables for completion. A prompt without them is better than a
    /// prompt that waits for a server.
    fn tables(&self) -> Vec<String> {
        let listed =
            async { tokio::time::timeout(COMPLETION_WAIT, self.session.database.tables()).await };
        match self.runtime.block_on(listed) {
            Ok(Ok(tables)) => tables.iter().map(ToString::to_string).collect(),
            _ => Vec::new(),
        }
    }

    /// Takes a line as the answer to a command's question, if one is pending.
    fn answer(&mut self, line: &str) -> io::Result<Option<Flow>> {
        Ok(match self.runtime.block_on(self.session.answer(line))? {
            None => None,
            Some(Outcome::Failed) => Some(self.after_error()),
            Some(_) => Some(Flow::On),
        })
    }

    fn step(&mut self, step: LineOutcome, place: Option<ScriptPlace<'_>>) -> io::Result<Flow> {
        let statements = match step {
            LineOutcome::More => return Ok(Flow::On),
            LineOutcome::Refuse(refusal) => {
                if let Some(ScriptPlace { name, line }) = place {
                    let start = line + refusal.command_line;
                    let error_line = line + refusal.line;
                    let suffix = if start == error_line {
                        String::new()
                    } else {
                        format!(" (the error is in line {error_line})")
                    };
                    self.session.set_position(format_args!("{name}:{start}{suffix}"));
                }
                self.session.refuse(&refusal.message, None)?;
                return Ok(self.after_error());
            }
            LineOutcome::Run(statements) => statements,
        };
        for statement in statements {
            if let Some(ScriptPlace { name, line }) = &place {
                self.session.set_position(format_args!("{name}:{}", line + statement.line));
            }
            match self.runtime.block_on(self.session.run(statement))? {
                Outcome::Done => {}
                Outcome::Interrupted => break,
                Outcome::Exit => return Ok(Flow::Leave(ExitCode::SUCCESS)),
                Outcome::Failed if self.stop_at_error => return Ok(self.after_error()),
                Outcome::Failed => {}
            }
        }
        Ok(Flow::On)
    }

    fn after_error(&self) -> Flow {
        if self.stop_at_error { Flow::Leave(ExitCode::FAILURE) } else { Flow::On }
    }
}
