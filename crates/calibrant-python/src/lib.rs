//! The native module `calibrant._calibrant`: columns, arrays and settings in, a job of the library, arrays and JSON out. The
//! package around it (`python/calibrant`) has the classes that users see; nothing is computed here.
//!
//! Texts and matrices are read where Python holds them. The interpreter is released while the library works, on threads of a pool
//! that belongs to the process; long work can be ended by Ctrl-C.

mod calibrator;
mod documents;
mod errors;
mod forecasts;
mod json;
mod keys;
mod model;
mod pool;
mod ranker;
mod rows;
mod texts;
mod vectorizer;
mod watch;

use pyo3::prelude::*;

#[pymodule(gil_used = false)]
fn _calibrant(module: &Bound<'_, PyModule>) -> PyResult<()> {
    let py = module.py();
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add("CalibrantError", py.get_type::<errors::CalibrantError>())?;
    module.add("FitError", py.get_type::<errors::FitError>())?;
    module.add("ReadError", py.get_type::<errors::ReadError>())?;
    module.add("SavedFileError", py.get_type::<errors::SavedFileError>())?;
    module.add_class::<model::PyModel>()?;
    module.add_function(wrap_pyfunction!(model::fit_documents, module)?)?;
    module.add_function(wrap_pyfunction!(model::fit_matrix, module)?)?;
    module.add_function(wrap_pyfunction!(model::solve_matrix, module)?)?;
    module.add_function(wrap_pyfunction!(model::read_costs, module)?)?;
    module.add_function(wrap_pyfunction!(model::check_words, module)?)?;
    module.add_class::<calibrator::PyCalibrator>()?;
    module.add_function(wrap_pyfunction!(calibrator::fit_calibrator, module)?)?;
    module.add_function(wrap_pyfunction!(calibrator::names, module)?)?;
    module.add_function(wrap_pyfunction!(forecasts::evaluate_forecasts, module)?)?;
    module.add_function(wrap_pyfunction!(forecasts::compare_forecasts, module)?)?;
    module.add_function(wrap_pyfunction!(forecasts::decide, module)?)?;
    module.add_function(wrap_pyfunction!(keys::row_keys, module)?)?;
    module.add_function(wrap_pyfunction!(keys::text_keys, module)?)?;
    module.add_class::<vectorizer::PyVectorizer>()?;
    module.add_class::<ranker::PyRanking>()?;
    module.add_function(wrap_pyfunction!(ranker::fit_ranking, module)?)?;
    module.add_function(wrap_pyfunction!(pool::set_num_threads, module)?)?;
    module.add_function(wrap_pyfunction!(pool::num_threads, module)?)?;
    Ok(())
}
