//! `rowhouse shell`: HBase's commands on a database.

use std::fs::File;
use std::io::{self, BufRead, BufReader, BufWriter, IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use rowhouse::Error;
use rowhouse_store::is_data_directory;
use tokio::runtime::Runtime;

use super::{CommandResult, DATA_DIR, argument, database_url, directory_of, runtime};
use crate::shell::{Input, LineOutcome, Outcome, Session, StatementReader, Terminal};

/// Arguments of `rowhouse shell`.
#[derive(Debug, clap::Args)]
pub(crate) struct ShellArgs {
    /// The data directory; a server that holds it is connected to
    #[arg(long, value_name = "DIR", default_value = DATA_DIR, conflicts_with = "connect")]
    data: PathBuf,
    /// The database, by URL: hbase://HOST:PORT, hbase+zk://HOST:PORT/ZNODE, or a path
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
        eprintln!("created a database in {}", dir.display());
    }
    let session = Session::new(database.clone(), output());
    let mut shell = Shell { runtime, session, stop_at_error: args.non_interactive };
    let ran = shell.run(source);
    let closed = shell.runtime.block_on(database.close());
    let code = match ran {
        Ok(code) => code,
        // The reader of the output has closed it.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => ExitCode::SUCCESS,
        Err(error) => return Err(Error::io("cannot continue", error)),
    };
    closed.map(|()| code)
}

/// Returns the output of a session: line by line to a terminal, in larger pieces to anything else.
fn output() -> Box<dyn Write> {
    match io::stdout().is_terminal() {
        true => Box::new(io::stdout()),
        false => Box::new(BufWriter::new(io::stdout())),
    }
}

/// The source of commands.
enum Source {
    Given(String),
    Script(PathBuf, BufReader<File>),
    /// A user at a terminal.
    Terminal,
    Input,
}

impl Source {
    fn of(args: &ShellArgs) -> Result<Self, (&Path, io::Error)> {
        if !args.execute.is_empty() {
            return Ok(Self::Given(args.execute.join("\n")));
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

struct Shell {
    runtime: Runtime,
    session: Session<Box<dyn Write>>,
    stop_at_error: bool,
}

/// Whether to continue reading.
enum Flow {
    On,
    Leave(ExitCode),
}

impl Shell {
    fn run(&mut self, source: Source) -> io::Result<ExitCode> {
        match source {
            Source::Given(commands) => self.run_lines("--execute", commands.as_bytes()),
            Source::Script(path, file) => self.run_lines(&path.display().to_string(), file),
            Source::Terminal => self.run_terminal(),
            Source::Input => self.run_lines("standard input", io::stdin().lock()),
        }
    }

    /// Runs the commands of a file, or of another input called `name`.
    fn run_lines(&mut self, name: &str, mut lines: impl BufRead) -> io::Result<ExitCode> {
        let mut reader = StatementReader::default();
        let mut line = String::new();
        // The first line of the current command, which may span several lines.
        let mut begun = 1;
        for number in 1_u64.. {
            line.clear();
            let len = lines.read_line(&mut line)?;
            if number == 1 && line.starts_with(BYTE_ORDER_MARK) {
                line.remove(0);
            }
            if !reader.is_open() {
                begun = number;
            }
            self.session.set_position(format_args!("{name}:{number}"));
            if let Some(flow) = self.answer(&line)? {
                match flow {
                    Flow::On => continue,
                    Flow::Leave(code) => return Ok(code),
                }
            }
            let step = if len == 0 { reader.finish() } else { reader.push(&line) };
            let inside = if let LineOutcome::Refuse(_, inside) = &step { *inside } else { 0 };
            self.session.set_position(format_args!("{name}:{}", begun + inside));
            if let Flow::Leave(code) = self.step(step)? {
                return Ok(code);
            }
            if line.is_empty() {
                break;
            }
        }
        Ok(ExitCode::SUCCESS)
    }

    fn run_terminal(&mut self) -> io::Result<ExitCode> {
        let history = std::env::home_dir().map(|home| home.join(".rowhouse_history"));
        let mut terminal = Terminal::open(history).map_err(io::Error::other)?;
        println!("rowhouse {}; type help for help, exit to leave", env!("CARGO_PKG_VERSION"));
        let mut reader = StatementReader::default();
        for line in 1_u32.. {
            let tables = self.runtime.block_on(self.session.database.tables());
            // Completion without tables is better than none.
            let tables = tables.unwrap_or_default();
            terminal.set_tables(tables.iter().map(ToString::to_string).collect());
            let prompt = if reader.is_open() { "1*" } else { "0>" };
            let prompt = format!("rowhouse:{line:03}:{prompt} ");
            match terminal.read(&prompt).map_err(io::Error::other)? {
                Input::Line(line) => {
                    if let Some(flow) = self.answer(&line)? {
                        match flow {
                            Flow::On => continue,
                            Flow::Leave(code) => return Ok(code),
                        }
                    }
                    let step = reader.push(&line);
                    if let Flow::Leave(code) = self.step(step)? {
                        return Ok(code);
                    }
                }
                Input::Abandon => reader.clear(),
                Input::End => break,
            }
        }
        Ok(ExitCode::SUCCESS)
    }

    /// Takes a line as the answer to a command's question, if one is pending.
    fn answer(&mut self, line: &str) -> io::Result<Option<Flow>> {
        Ok(match self.runtime.block_on(self.session.answer(line))? {
            None => None,
            Some(Outcome::Failed) => Some(self.after_error()),
            Some(_) => Some(Flow::On),
        })
    }

    fn step(&mut self, step: LineOutcome) -> io::Result<Flow> {
        let statements = match step {
            LineOutcome::More => return Ok(Flow::On),
            LineOutcome::Refuse(message, _) => {
                self.session.refuse(&message, None)?;
                return Ok(self.after_error());
            }
            LineOutcome::Run(statements) => statements,
        };
        for statement in statements {
            match self.runtime.block_on(self.session.run(statement))? {
                Outcome::Done => {}
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
