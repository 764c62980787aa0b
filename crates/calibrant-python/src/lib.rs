//! The native module `calibrant._calibrant`: columns, arrays and settings in, a job of the library, arrays and JSON out. The
//! package around it (`python/calibrant`) has the classes that users see; nothing is computed here.
//!
//! Texts and matrices are read where Python holds them. The interpreter is released while the library works, on threads of a pool
//! that belongs to the process; long work can be ended by Ctrl-C.

mod calibrator;
mod cascade;
mod documents;
mod errors;
mod fit_source;
mod forecasts;
mod json;
mod keys;
mod label_jobs;
mod like;
mod model;
mod open;
mod pages;
mod pool;
mod raise;
mod ranker;
mod ranking;
mod rows;
mod scores;
mod search_index;
mod source;
mod systems;
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
    module.add_function(wrap_pyfunction!(ranker::fit_ranking_rows, module)?)?;
    module.add_function(wrap_pyfunction!(pool::set_num_threads, module)?)?;
    module.add_function(wrap_pyfunction!(pool::num_threads, module)?)?;
    add_jobs(module)
}

/// What the program does over files, and what it saves.
fn add_jobs(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<scores::PyScoreCalibrator>()?;
    module.add_class::<cascade::PyPolicy>()?;
    module.add_class::<label_jobs::PySuspectList>()?;
    module.add_class::<ranking::PyRankModel>()?;
    module.add_class::<search_index::PySearchIndex>()?;
    module.add_function(wrap_pyfunction!(open::open_saved, module)?)?;
    module.add_function(wrap_pyfunction!(open::open_saved_bytes, module)?)?;
    module.add_function(wrap_pyfunction!(open::inspect_saved, module)?)?;
    module.add_function(wrap_pyfunction!(fit_source::fit_source, module)?)?;
    module.add_function(wrap_pyfunction!(fit_source::predict_source, module)?)?;
    module.add_function(wrap_pyfunction!(fit_source::explain_source, module)?)?;
    module.add_function(wrap_pyfunction!(systems::open_system, module)?)?;
    module.add_function(wrap_pyfunction!(systems::evaluate_source, module)?)?;
    module.add_function(wrap_pyfunction!(systems::evaluate_table, module)?)?;
    module.add_function(wrap_pyfunction!(systems::expect_source, module)?)?;
    module.add_function(wrap_pyfunction!(systems::compare_source, module)?)?;
    module.add_function(wrap_pyfunction!(systems::combine_models, module)?)?;
    module.add_function(wrap_pyfunction!(systems::recalibrate_model, module)?)?;
    module.add_function(wrap_pyfunction!(scores::calibrate_scores, module)?)?;
    module.add_function(wrap_pyfunction!(scores::is_calibrator, module)?)?;
    module.add_function(wrap_pyfunction!(scores::is_class_calibrator, module)?)?;
    module.add_function(wrap_pyfunction!(label_jobs::suspect_labels, module)?)?;
    module.add_function(wrap_pyfunction!(label_jobs::prevalence_of, module)?)?;
    module.add_function(wrap_pyfunction!(label_jobs::plan_labels, module)?)?;
    module.add_function(wrap_pyfunction!(label_jobs::split_file, module)?)?;
    module.add_function(wrap_pyfunction!(label_jobs::check_rule_set, module)?)?;
    module.add_function(wrap_pyfunction!(cascade::build_policy, module)?)?;
    module.add_function(wrap_pyfunction!(ranking::fit_ranking, module)?)?;
    module.add_function(wrap_pyfunction!(ranking::measure_rankings, module)?)?;
    module.add_function(wrap_pyfunction!(ranking::look_ahead, module)?)?;
    module.add_function(wrap_pyfunction!(ranking::letor_lines, module)?)?;
    module.add_function(wrap_pyfunction!(search_index::index_documents, module)?)?;
    Ok(())
}
