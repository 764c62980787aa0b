//! Every integration test of the program, in one binary: it links once.

mod bad_input;
mod boosting;
mod calibrate;
mod calibrate_refusals;
mod calibrate_stated;
mod combine;
mod common;
mod compare;
mod costs;
#[path = "../../../calibrant/tests/all/common/data_file.rs"]
mod data_file;
mod demo;
mod documentation;
mod documents_together;
mod every_option;
mod fit_like;
mod identifiers;
mod index_search;
mod ledger;
mod messy_files;
mod messy_labels;
mod other;
mod output_codes;
mod pages;
mod parity;
#[path = "../../../calibrant/tests/all/common/parity.rs"]
mod parity_cases;
mod parquet_peers;
mod personas;
mod prior_shift;
#[path = "../../../calibrant/tests/all/peers/python.rs"]
mod python;
mod rank_evaluate;
mod rank_fit;
mod real_corpora;
mod recalibrate;
mod report;
mod results;
mod round_trip;
mod rules;
mod saved_files;
mod search;
mod sets_and_answers;
mod shares_and_labels;
mod side_columns;
mod slips;
mod split;
mod spreadsheets;
