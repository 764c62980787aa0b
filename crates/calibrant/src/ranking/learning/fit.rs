//! Learning a ranking.

use super::candidates::{Candidate, JudgedTables};
use super::summary::{CostChoice, RankSummary, RankTrial, SettingsTried};
use super::validation::PrecisionSum;
use super::{RankFitError, RankModel, RankParameters, RankSettings};
use crate::Progress;
use crate::calibration::CalibratorKind;
use crate::corpus::RankingTable;
use crate::progress::Stage;
use crate::ranking::RelevanceSettings;

impl RankModel {
    /// Learns a ranking from judged documents, with what the settings leave open chosen on held-out queries, and with probabilities of
    /// relevance: all that `calibrant rank fit` does. See [`RankModel::fit_with`] for the method.
    ///
    /// Of the models that each way to set what is open gives, the one that best ranks queries it has not learned from is kept, the earlier
    /// one of equals (the plainest comes first). [`RankSummary::settings_tried`] tells all. They are chosen by the validation
    /// queries and, unless those are many, by held-out training queries as well. The curve from scores to probabilities is fitted
    /// to queries that were held out (see [`RankModel::calibrated`]).
    ///
    /// # When it misleads
    /// The best of several held-out figures is a little too good to be true. Measure on queries that had no part in the choice.
    pub fn fit(
        table: &RankingTable,
        validation: Option<&RankingTable>,
        settings: &RankSettings,
        progress: &dyn Progress,
    ) -> Result<Self, RankFitError> {
        let mut model = Self::fit_choosing(table, validation, settings, progress)?;
        if settings.calibrator == CalibratorKind::None {
            return Ok(model);
        }
        let how = RelevanceSettings {
            calibrator: settings.calibrator,
            ..RelevanceSettings::default()
        };
        let folds = settings.calibration_folds.min(table.query_count());
        match model.relevance_curve(table, validation, &how, folds, progress) {
            Ok(curve) => model.relevance = Some(curve),
            Err(RankFitError::Cancelled) => return Err(RankFitError::Cancelled),
            // A ranking from a handful of queries is still a ranking.
            Err(error) if settings.calibrator == CalibratorKind::Auto => {
                model.summary.no_probabilities = Some(error.to_string());
            }
            Err(error) => return Err(error),
        }
        Ok(model)
    }

    /// Learns a ranking from judged documents, with settings of which none but `C` is open, and without probabilities.
    ///
    /// # Formula
    /// ```text
    /// min over w of  ½|w|² + C/n Σ_q max over rankings y of [ Δ_q(y) - w·(ψ_q(best) - ψ_q(y)) ]
    /// ```
    /// over the `n` queries with something to learn from; see [`RankLoss`](super::RankLoss) for `Δ`, the oracles for `ψ`, and
    /// [`crate::solvers::solve_cutting_planes`] for the solver. `C` is tried from the least to the greatest value, each beginning
    /// with the planes of the last; the one with the best mean average precision on queries that were not
    /// learned from is kept (the smaller of equals). Validation queries are never learned from. Where no `C` is given, and the
    /// greatest of [`USUAL_COSTS`](super::USUAL_COSTS) is the best, further ones follow until the best one is not the greatest, or
    /// [`FURTHER_COSTS`](super::FURTHER_COSTS) end.
    ///
    /// The order of queries, and of documents in a query, does not matter: equal tables give equal models, to the last bit.
    /// Unjudged documents count as not relevant, or are left out if the settings say so.
    ///
    /// # When it misleads
    /// With a handful of validation queries the choice of `C` is mostly luck: `folds` adds the training
    /// queries, each held out once. The bound that is minimised is not the loss itself: with a `C` too small, weights
    /// remain near zero and every ranking counts as wrong.
    ///
    /// # Reference
    /// Yue, Finley, Radlinski & Joachims, A Support Vector Method for Optimizing Average Precision, SIGIR 2007.
    ///
    /// ```
    /// use calibrant::ranking::RankingTable;
    /// use calibrant::NoProgress;
    /// use calibrant::ranking::learning::{RankModel, RankParameters};
    /// let table = RankingTable::new(
    ///     vec!["bm25".into()], &[("q".into(), 2)], &["a", "b"], vec![1, 0], vec![1.0, 0.0],
    /// )?;
    /// let settings = RankParameters { c: vec![0.05], tolerance: 1e-9, ..RankParameters::default() };
    /// let model = RankModel::fit_with(&table, None, &settings, &NoProgress)?;
    /// // By hand: the one wrong ranking has loss ½ and ψ(best) - ψ(y) = 2, so the objective is
    /// // ½w² + 0.05 max(0, ½ - 2w), least at w = 0.05 · 2 = 0.1.
    /// assert!((model.scores(&table)?[0] - 0.1).abs() < 1e-9);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn fit_with(
        table: &RankingTable,
        validation: Option<&RankingTable>,
        settings: &RankParameters,
        progress: &dyn Progress,
    ) -> Result<Self, RankFitError> {
        let tables = JudgedTables::new(table, validation, settings.unjudged);
        let ways = std::slice::from_ref(settings);
        let mut models = fit_all(&tables, ways, progress)?;
        Ok(models.swap_remove(0))
    }

    /// From the models of all queries and of all but each fold, for every cost.
    fn choose_cost(tables: &JudgedTables, candidate: Candidate) -> Result<Self, RankFitError> {
        let (table, settings) = (&tables.train, &candidate.settings);
        let choice = candidate.choice(tables);
        let (whole, held_out) = (&candidate.whole, &candidate.held_out);
        let queries = held_out[0].queries;
        if whole.costs.len() > 1 && held_out[0].with_relevant == 0 {
            return Err(RankFitError::NothingToChooseBy {
                queries,
                relevant_from: settings.relevant_from,
            });
        }
        let chosen = candidate.best_cost();
        let trials = whole.ends.iter().zip(&whole.costs).zip(held_out);
        let trials = trials.map(|((&(end, converged), &c), held_out)| RankTrial {
            c,
            rounds: end.round,
            planes: end.planes,
            primal: end.primal,
            dual: end.dual,
            converged,
            held_out_map: (queries > 0).then(|| held_out.mean()),
        });
        let labels = table.grades().iter();
        let mut training = PrecisionSum::default();
        whole.measure(chosen, table, settings, &mut training);
        let summary = RankSummary {
            calibrant_version: env!("CARGO_PKG_VERSION").to_owned(),
            queries: table.query_count(),
            skipped_queries: whole.skipped,
            documents: table.row_count(),
            relevant_documents: labels
                .filter(|&&label| label >= settings.relevant_from)
                .count(),
            missing_values: table.missing_count(),
            judged: tables.share,
            choice_queries: queries,
            choice,
            trials: trials.collect(),
            chosen,
            cost_at_the_end: choice != CostChoice::Given
                && settings.c.is_empty()
                && chosen + 1 == whole.costs.len(),
            training_map: training.mean(),
            settings_tried: Vec::new(),
            no_probabilities: None,
        };
        let settings = RankParameters {
            c: whole.costs.clone(),
            ..settings.clone()
        };
        let Candidate { mut whole, .. } = candidate;
        let weights = whole.weights.swap_remove(chosen);
        Ok(Self::new(settings, whole.map, weights, summary))
    }

    /// With open settings chosen, without probabilities.
    fn fit_choosing(
        table: &RankingTable,
        validation: Option<&RankingTable>,
        settings: &RankSettings,
        progress: &dyn Progress,
    ) -> Result<Self, RankFitError> {
        let tables = JudgedTables::new(table, validation, settings.unjudged);
        let given = settings.given();
        let validation = tables.validation.as_ref();
        let ways = given.variations(settings.open(), &tables.train, validation);
        let mut models = fit_all(&tables, &ways, progress)?;
        if models.len() == 1 {
            return Ok(models.swap_remove(0));
        }
        let tried = models.iter().map(|model| {
            let settings = model.settings();
            Some(SettingsTried {
                every_grade: settings.every_grade,
                bins: settings.features.bins,
                held_out_map: model.summary().chosen_trial().held_out_map?,
            })
        });
        let Some(tried) = tried.collect::<Option<Vec<_>>>() else {
            // A single query with a single C.
            let queries = tables.train.query_count();
            return Err(RankFitError::TooManyFolds { queries, folds: 2 });
        };
        let best = first_best(tried.iter().map(|way| way.held_out_map));
        let mut model = models.swap_remove(best);
        model.summary.settings_tried = tried;
        Ok(model)
    }
}

/// A model for each of several settings. Everything that can be fitted without the other is fitted side by side.
fn fit_all(
    tables: &JudgedTables,
    ways: &[RankParameters],
    progress: &dyn Progress,
) -> Result<Vec<RankModel>, RankFitError> {
    ways.iter().try_for_each(RankParameters::check)?;
    tables.check_apart()?;
    let steps = Candidate::steps(tables, ways) as u64;
    let stage = Stage::begin(progress, "learning", Some(steps));
    let mut candidates = Candidate::fit(tables, ways, progress)?;
    drop(stage);
    while Candidate::grow(tables, &mut candidates, progress)? {}
    let candidates = candidates.into_iter();
    candidates
        .map(|candidate| RankModel::choose_cost(tables, candidate))
        .collect()
}

/// The place of the greatest value, the first of equals.
pub(super) fn first_best(values: impl Iterator<Item = f64>) -> usize {
    let places = values.enumerate();
    places
        .reduce(|best, next| if next.1 > best.1 { next } else { best })
        .map_or(0, |(place, _)| place)
}
