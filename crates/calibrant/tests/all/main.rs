//! Every integration test of the library, in one binary: it links once.

mod calibrators;
mod combine;
mod common;
mod copies;
mod features;
mod fit_rows;
mod golden_model;
mod golden_saved;
mod honest_forecasts;
mod house;
mod index_brute_force;
mod index_collections;
mod index_files;
mod letor_functions;
mod map;
mod model_files;
mod multiclass;
mod output_codes;
mod parity;
mod peers;
mod promises;
mod rank_learning;
mod rank_model_files;
mod ranking_measures;
mod real_corpora;
mod saved_files;
mod sets_and_answers;
mod settings;
mod side_columns;
mod surface;
mod vectors;

/// Counts, so that tests can say how much memory something takes.
#[global_allocator]
static ALLOCATOR: common::memory::Counting = common::memory::Counting;
