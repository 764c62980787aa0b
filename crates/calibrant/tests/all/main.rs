//! Every integration test of the library, in one binary: it links once.

mod calibrators;
mod combine;
mod common;
mod copies;
mod features;
mod golden_model;
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
mod side_columns;
