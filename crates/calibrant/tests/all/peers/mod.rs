//! The same numbers as the libraries that people trust: scikit-learn, scipy, LIBLINEAR, betacal, venn-abers,
//! model-diagnostics, MAPIE, relplot, safetensors, pyarrow, DuckDB, openpyxl, pandas, odfpy, pytrec_eval, bm25s,
//! ppi-python.
//!
//! Each test makes up (or reads) data, computes something here, and hands data and answer to a script
//! beside this file, which lets the other library compute the same. Python is found through
//! `CALIBRANT_PYTHON`; the packages are pinned in `python/requirements-tests.txt`.

mod beta;
mod boosting;
mod calibration_measures;
mod cost_threshold;
mod data;
mod decision_curves;
mod densities;
mod evaluation;
mod isotonic;
mod linear;
mod model_file;
mod naive_bayes;
mod neighbours;
mod output_codes;
mod parquet;
mod perceptron;
mod platt;
mod python;
mod ranking;
mod retrieval;
mod rocchio;
mod sets;
mod shares;
mod side_columns;
mod significance;
mod spreadsheets;
mod temperature;
mod venn_abers;
mod weighting;
