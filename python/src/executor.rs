//! Runs the library's futures: blocking and detached from the interpreter, or as awaitables for
//! asyncio.

use std::pin::pin;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use pyo3::exceptions::{PyRuntimeError, PyStopIteration};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use rowhouse::Result;
use tokio::runtime::{Builder, Runtime};
use tokio::task::AbortHandle;

use crate::errors::raised;

/// How a class answers its calls.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Face {
    /// A call returns when it is done.
    Blocking,
    /// A call returns an awaitable at once.
    Asyncio,
}

/// How often the process has been forked since the module was imported. A child has the memory of
/// its parent, but none of the threads.
static FORKS: AtomicU32 = AtomicU32::new(0);

/// The runtime, with the number of forks at which it was started. It is locked only while the
/// thread holds the interpreter, so no fork by Python happens while it is locked. A child leaves
/// the runtime of its parent alone and starts another one.
static RUNTIME: Mutex<Option<(u32, &'static Runtime)>> = Mutex::new(None);

/// How long a blocking call waits before it looks for signals, such as Ctrl-C.
const SIGNAL_CHECK_INTERVAL: Duration = Duration::from_millis(100);

/// Registers a function that counts forks.
pub(crate) fn count_forks(module: &Bound<'_, PyModule>) -> PyResult<()> {
    #[pyfunction]
    fn _forked() {
        FORKS.fetch_add(1, Ordering::Relaxed);
    }
    let py = module.py();
    let forked = wrap_pyfunction!(_forked, module)?;
    let os = py.import("os")?;
    // Windows cannot fork.
    if os.hasattr("register_at_fork")? {
        let arguments = pyo3::types::PyDict::new(py);
        arguments.set_item("after_in_child", forked)?;
        os.call_method("register_at_fork", (), Some(&arguments))?;
    }
    Ok(())
}

/// The runtime on which an object's calls run, and how they answer.
#[derive(Clone, Copy)]
pub(crate) struct Executor {
    runtime: &'static Runtime,
    forks: u32,
    face: Face,
}

impl Executor {
    /// Returns the executor of this process, and starts the runtime if this is the first call.
    pub(crate) fn of_process(_attached: Python<'_>, face: Face) -> PyResult<Self> {
        let forks = FORKS.load(Ordering::Relaxed);
        let mut started = RUNTIME.lock().unwrap_or_else(PoisonError::into_inner);
        let runtime = match *started {
            Some((at, runtime)) if at == forks => runtime,
            _ => {
                let mut builder = Builder::new_multi_thread();
                let runtime = builder.enable_all().thread_name("rowhouse").build()?;
                let runtime: &'static Runtime = Box::leak(Box::new(runtime));
                *started = Some((forks, runtime));
                runtime
            }
        };
        Ok(Self { runtime, forks, face })
    }

    pub(crate) fn face(self) -> Face {
        self.face
    }

    /// Returns true if the process is a fork of the one in which the object was made.
    pub(crate) fn is_forked(self) -> bool {
        self.forks != FORKS.load(Ordering::Relaxed)
    }

    /// Refuses a call in a forked process.
    fn check(self) -> PyResult<()> {
        if self.is_forked() {
            return Err(PyRuntimeError::new_err(
                "the process was forked after the database was opened: open it in the child",
            ));
        }
        Ok(())
    }

    /// Runs a future and converts the result. Returns the result, or for asyncio an awaitable.
    pub(crate) fn run<'py, T: Send + 'static>(
        self,
        py: Python<'py>,
        future: impl Future<Output = Result<T>> + Send + 'static,
        convert: impl for<'p> FnOnce(Python<'p>, T) -> PyResult<Bound<'p, PyAny>> + Send + 'static,
    ) -> PyResult<Bound<'py, PyAny>> {
        match self.face {
            Face::Blocking => self.wait(py, future).and_then(|done| convert(py, done)),
            Face::Asyncio => self.start(py, future, convert),
        }
    }

    /// Runs a future on this thread, detached from the interpreter. A signal whose handler raises
    /// drops the future; work that has begun in the store goes on.
    pub(crate) fn wait<T: Send>(
        self,
        py: Python<'_>,
        future: impl Future<Output = Result<T>> + Send,
    ) -> PyResult<T> {
        self.check()?;
        let done = py.detach(|| {
            self.runtime.block_on(async {
                let mut future = pin!(future);
                loop {
                    tokio::select! {
                        biased;
                        done = &mut future => return PyResult::Ok(done),
                        () = tokio::time::sleep(SIGNAL_CHECK_INTERVAL) => {
                            Python::attach(|py| py.check_signals())?;
                        }
                    }
                }
            })
        });
        done?.map_err(|error| raised(py, &error))
    }

    /// Starts a future on the runtime and returns an `asyncio.Future` for the result. Cancelling
    /// that drops the future; work that has begun in the store goes on.
    fn start<'py, T: Send + 'static>(
        self,
        py: Python<'py>,
        future: impl Future<Output = Result<T>> + Send + 'static,
        convert: impl for<'p> FnOnce(Python<'p>, T) -> PyResult<Bound<'p, PyAny>> + Send + 'static,
    ) -> PyResult<Bound<'py, PyAny>> {
        static RUNNING_LOOP: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
        self.check()?;
        let running_loop = RUNNING_LOOP.import(py, "asyncio", "get_running_loop")?.call0()?;
        let awaitable = running_loop.call_method0("create_future")?;
        let event_loop = running_loop.unbind();
        let result = awaitable.clone().unbind();
        let task = self.runtime.spawn(async move {
            let done = future.await;
            let outcome: Outcome = Box::new(move |py| {
                let done = done.map_err(|error| raised(py, &error))?;
                Ok(convert(py, done)?.unbind())
            });
            // Fails if the interpreter ends, or the loop was closed: then nobody awaits it.
            let _ = Python::try_attach(|py| {
                let delivery = Delivery { result, outcome: Mutex::new(Some(outcome)) };
                event_loop.call_method1(py, "call_soon_threadsafe", (Py::new(py, delivery)?,))
            });
        });
        awaitable.call_method1("add_done_callback", (AbortOnCancel(task.abort_handle()),))?;
        Ok(awaitable)
    }
}

type Outcome = Box<dyn FnOnce(Python<'_>) -> PyResult<Py<PyAny>> + Send>;

/// A callback in the event loop that puts an outcome into the `asyncio.Future`.
#[pyclass(frozen)]
struct Delivery {
    result: Py<PyAny>,
    outcome: Mutex<Option<Outcome>>,
}

#[pymethods]
impl Delivery {
    fn __call__(&self, py: Python<'_>) -> PyResult<()> {
        let outcome = self.outcome.lock().unwrap_or_else(PoisonError::into_inner).take();
        let result = self.result.bind(py);
        let Some(outcome) = outcome else { return Ok(()) };
        if result.call_method0("done")?.is_truthy()? {
            return Ok(());
        }
        match outcome(py) {
            Ok(value) => result.call_method1("set_result", (value,))?,
            Err(error) => result.call_method1("set_exception", (error.into_value(py),))?,
        };
        Ok(())
    }
}

/// A callback for the `asyncio.Future` that ends the task if the future was cancelled.
#[pyclass(frozen)]
struct AbortOnCancel(AbortHandle);

#[pymethods]
impl AbortOnCancel {
    fn __call__(&self, _future: &Bound<'_, PyAny>) {
        // Has no effect on a task that is done.
        self.0.abort();
    }
}

/// An awaitable whose value is there already.
#[pyclass(frozen)]
pub(crate) struct Ready(pub(crate) Py<PyAny>);

#[pymethods]
impl Ready {
    fn __await__(this: Py<Self>) -> Py<Self> {
        this
    }

    fn __iter__(this: Py<Self>) -> Py<Self> {
        this
    }

    fn __next__(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        Err(PyStopIteration::new_err((self.0.clone_ref(py),)))
    }
}
