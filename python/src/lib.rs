//! The compiled part of the Python module `rowhouse`: its classes over the library.
//!
//! | module | content |
//! |---|---|
//! | `executor` | runs futures: blocking without the interpreter's lock, or for asyncio |
//! | `session` | handles that a forked child does not drop |
//! | `value`, `errors` | values and errors as Python objects |
//! | `row`, `rows`, `columns` | results: rows, iterators, columns for Arrow |
//! | `database`, `table`, `query`, `raw` | the calls |
//!
//! Each class with calls has two faces, such as `Table` and `AsyncTable`. Both extend one class
//! that has the calls; its executor decides how they answer.

mod columns;
mod database;
mod errors;
mod executor;
mod query;
mod raw;
mod row;
mod rows;
mod session;
mod table;
mod value;

use pyo3::prelude::*;

#[pymodule]
fn _rowhouse(module: &Bound<'_, PyModule>) -> PyResult<()> {
    executor::count_forks(module)?;
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add_function(wrap_pyfunction!(database::open, module)?)?;
    module.add_function(wrap_pyfunction!(database::open_async, module)?)?;
    module.add_class::<database::Database>()?;
    module.add_class::<database::AsyncDatabase>()?;
    module.add_class::<table::Table>()?;
    module.add_class::<table::AsyncTable>()?;
    module.add_class::<query::Query>()?;
    module.add_class::<query::AsyncQuery>()?;
    module.add_class::<query::Page>()?;
    module.add_class::<rows::Rows>()?;
    module.add_class::<rows::AsyncRows>()?;
    module.add_class::<row::Row>()?;
    module.add_class::<row::Cell>()?;
    module.add_class::<value::Hashed>()?;
    module.add_class::<raw::RawTable>()?;
    module.add_class::<raw::AsyncRawTable>()?;
    module.add_class::<raw::RawRow>()?;
    module.add_class::<raw::Get>()?;
    module.add_class::<raw::Scan>()?;
    module.add_class::<raw::Put>()?;
    module.add_class::<raw::Delete>()
}
