//! One way to probabilities on one table.

use std::error::Error;
use std::time::Instant;

use calibrant::calibration::{Calibrator, CalibratorKind, MulticlassKind};
use calibrant::corpus::{Document, Fields};
use calibrant::evaluation::{Forecasts, evaluate};
use calibrant::features::DocumentFrequencyLimits;
use calibrant::multiclass::{BinaryOutput, CodeDesign, CodeSettings, Decode, DecodeBuffers};
use calibrant::pipeline::{
    Classifier, ExtractorBuffers, FitSettings, Model, PredictBuffers, SingleModel, TrainingCorpus,
    fit,
};
use calibrant::scorers::{AdaBoost, BoostingKind};
use calibrant::scorers::{ClassScorer, OutputCodeScorer, SavedScorer, ScorerBuffers};
use calibrant::{NoProgress, Probability, Task};

use super::tables::Division;

/// A way from rows to probabilities.
#[derive(Debug, Clone, Copy)]
pub(super) struct Way {
    pub(super) name: &'static str,
    decode: Option<Decode>,
    /// What of a column's score counts, where the setup does not decide.
    output: Option<BinaryOutput>,
    calibrator: CalibratorKind,
    multiclass: MulticlassKind,
    /// Whether a column's score is the share of its committee's votes.
    shares: bool,
}

const fn way(name: &'static str, decode: Option<Decode>, calibrator: CalibratorKind) -> Way {
    Way {
        name,
        decode,
        output: None,
        calibrator,
        multiclass: MulticlassKind::OneVsRest,
        shares: false,
    }
}

/// The paper's two ways first: a sigmoid of the margin, and the class probabilities of least squares as
/// they are. The paper does not say what the probability of a column is; in the study that it takes
/// its curves and diagrams from (Niculescu-Mizil & Caruana 2005) that of a boosted committee is the share of
/// the votes: both ways start from it. Then least squares with boosting's log-odds as probabilities, `1 / (1 + exp(-2F))`,
/// and both ways with columns that were calibrated on held-out scores; further calibrators; and each class against the rest without a code.
pub(super) const WAYS: [Way; 9] = [
    Way {
        output: Some(BinaryOutput::Clip),
        shares: true,
        ..way("margin", Some(Decode::Margin), CalibratorKind::Platt)
    },
    Way {
        output: Some(BinaryOutput::Clip),
        shares: true,
        ..way(
            "least_squares",
            Some(Decode::LeastSquares),
            CalibratorKind::None,
        )
    },
    Way {
        output: Some(BinaryOutput::Tanh),
        ..way(
            "least_squares_of_log_odds",
            Some(Decode::LeastSquares),
            CalibratorKind::None,
        )
    },
    way(
        "margin_of_calibrated",
        Some(Decode::Margin),
        CalibratorKind::Platt,
    ),
    way("margin_auto", Some(Decode::Margin), CalibratorKind::Auto),
    // A slope and an intercept per class as in the paper, but fitted for the sum of one.
    Way {
        multiclass: MulticlassKind::Vector,
        ..way("margin_vector", Some(Decode::Margin), CalibratorKind::Platt)
    },
    Way {
        output: Some(BinaryOutput::Probability),
        ..way(
            "least_squares_of_calibrated",
            Some(Decode::LeastSquares),
            CalibratorKind::None,
        )
    },
    Way {
        output: Some(BinaryOutput::Probability),
        ..way(
            "least_squares_platt",
            Some(Decode::LeastSquares),
            CalibratorKind::Platt,
        )
    },
    way("one_against_all", None, CalibratorKind::Platt),
];

/// What all ways share.
#[derive(Debug, Clone, Copy)]
pub(super) struct Setup {
    pub(super) classifier: Classifier,
    pub(super) design: CodeDesign,
    pub(super) code: CodeSettings,
    pub(super) folds: usize,
}

#[derive(Debug, Clone, serde::Serialize)]
pub(super) struct Measures {
    pub(super) log_loss: f64,
    pub(super) brier: f64,
    pub(super) classwise_ece: f64,
    /// What a perfect forecaster of the same probabilities would show by chance.
    pub(super) classwise_ece_of_perfect: f64,
    /// The error of the probabilities before they are normalised, as the paper has them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) classwise_ece_raw: Option<f64>,
    pub(super) accuracy: f64,
    /// From the row to probabilities.
    pub(super) microseconds_per_row: f64,
    /// From binary scores to scores of classes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) decode_microseconds_per_row: Option<f64>,
    /// Columns of the code.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) code_length: Option<usize>,
    pub(super) test_rows: usize,
    pub(super) fit_seconds: f64,
}

/// What was measured, and the forecasts of the first division for the page.
pub(super) struct Outcome {
    pub(super) measures: Measures,
    pub(super) forecasts: Forecasts,
}

impl Way {
    fn classifier(&self, setup: &Setup) -> Classifier {
        match setup.classifier {
            Classifier::AdaBoost(boosting) if self.shares => Classifier::AdaBoost(AdaBoost {
                kind: BoostingKind::Shares,
                ..boosting
            }),
            other => other,
        }
    }

    fn settings(&self, setup: &Setup) -> FitSettings {
        FitSettings {
            classifier: self.classifier(setup),
            code: self.decode.map(|decode| CodeSettings {
                design: setup.design,
                decode,
                output: self.output.unwrap_or(setup.code.output),
                ..setup.code
            }),
            calibrator: self.calibrator,
            multiclass: self.multiclass,
            folds: setup.folds,
            limits: DocumentFrequencyLimits {
                min_documents: Some(1),
                ..DocumentFrequencyLimits::default()
            },
            ..FitSettings::default()
        }
    }

    /// Mean over the divisions.
    pub(super) fn measure(
        &self,
        setup: &Setup,
        divisions: &[Division],
    ) -> Result<Outcome, Box<dyn Error>> {
        let settings = self.settings(setup);
        let mut outcomes = Vec::new();
        for division in divisions {
            let start = Instant::now();
            let corpus = TrainingCorpus::of_documents(&settings, division.training.clone())?;
            let model = fit(corpus, Fields::default(), &settings, &NoProgress)?;
            let fit_seconds = start.elapsed().as_secs_f64();
            outcomes.push(judge(&model, &division.test, fit_seconds)?);
        }
        let count = outcomes.len() as f64;
        let mean = |of: fn(&Measures) -> f64| {
            let values = outcomes.iter().map(|outcome| of(&outcome.measures));
            values.sum::<f64>() / count
        };
        let decode = |measures: &Measures| measures.decode_microseconds_per_row.unwrap_or(0.0);
        let measures = Measures {
            log_loss: mean(|m| m.log_loss),
            brier: mean(|m| m.brier),
            classwise_ece: mean(|m| m.classwise_ece),
            classwise_ece_of_perfect: mean(|m| m.classwise_ece_of_perfect),
            classwise_ece_raw: (self.calibrator != CalibratorKind::None
                && self.multiclass == MulticlassKind::OneVsRest)
                .then(|| mean(|m| m.classwise_ece_raw.unwrap_or(0.0))),
            accuracy: mean(|m| m.accuracy),
            microseconds_per_row: mean(|m| m.microseconds_per_row),
            decode_microseconds_per_row: self.decode.map(|_| mean(decode)),
            code_length: outcomes.first().and_then(|o| o.measures.code_length),
            test_rows: outcomes.iter().map(|o| o.measures.test_rows).sum(),
            fit_seconds: mean(|m| m.fit_seconds),
        };
        let first = outcomes.into_iter().next().ok_or("no rows")?;
        Ok(Outcome {
            measures,
            forecasts: first.forecasts,
        })
    }
}

fn judge(model: &Model, test: &[Document], fit_seconds: f64) -> Result<Outcome, Box<dyn Error>> {
    let names: Vec<String> = model.class_names().map(str::to_owned).collect();
    // A class that only the test rows have cannot be forecast by anyone.
    let known: Vec<(&Document, u32)> = test
        .iter()
        .filter_map(|document| {
            let class = names.iter().position(|name| *name == document.labels[0])?;
            Some((document, class as u32))
        })
        .collect();
    let mut probabilities = vec![Probability::from_log_odds(0.0); known.len() * names.len()];
    let mut buffers = PredictBuffers::default();
    let microseconds_per_row = per_row(known.len(), || {
        let rows = known
            .iter()
            .zip(probabilities.chunks_exact_mut(names.len()));
        for ((document, _), classes) in rows {
            model.predict_into(&document.content, &mut buffers, classes);
        }
    });
    let single = model.as_single();
    let mut raw = Vec::with_capacity(probabilities.len());
    let mut buffer = vec![Probability::from_log_odds(0.0); names.len()];
    let calibrators = single.map_or(&[][..], SingleModel::calibrators);
    for (document, _) in &known {
        let said = model.predict_into(*document, &mut buffers, &mut buffer);
        let scores = calibrators.iter().zip(said.outputs());
        raw.extend(scores.map(|(calibrator, &score)| calibrator.probability(score)));
    }
    let coded = match single.map(SingleModel::scorer) {
        Some(SavedScorer::OutputCodes(scorer)) => Some(scorer),
        _ => None,
    };
    let decode = single
        .zip(coded)
        .map(|(model, scorer)| time_decoding(model, scorer, &known));
    let forecasts = Forecasts {
        task: Task::SingleLabel,
        class_names: names,
        probabilities,
        labels: known.iter().map(|&(_, class)| vec![class]).collect(),
        weights: None,
    };
    let evaluation = evaluate(&forecasts)?;
    // Each probability stands for itself, as those of several labels do.
    let classwise_ece_raw = if raw.len() == forecasts.probabilities.len() {
        let before = evaluate(&Forecasts {
            task: Task::MultiLabel,
            probabilities: raw,
            ..forecasts.clone()
        })?;
        before.further.map(|further| further.classwise_ece.value)
    } else {
        None
    };
    let classwise = evaluation
        .further
        .as_ref()
        .map(|further| further.classwise_ece);
    let measures = Measures {
        log_loss: evaluation.log_loss,
        brier: evaluation.brier,
        classwise_ece: classwise.map_or(0.0, |ece| ece.value),
        classwise_ece_of_perfect: classwise.map_or(0.0, |ece| ece.of_perfect),
        classwise_ece_raw,
        accuracy: evaluation.accuracy.unwrap_or(0.0),
        microseconds_per_row,
        decode_microseconds_per_row: decode,
        code_length: coded.map(|scorer| scorer.decoder().code().length()),
        test_rows: known.len(),
        fit_seconds,
    };
    Ok(Outcome {
        measures,
        forecasts,
    })
}

fn time_decoding(model: &SingleModel, scorer: &OutputCodeScorer, test: &[(&Document, u32)]) -> f64 {
    let length = scorer.decoder().code().length();
    let (mut buffers, mut buffer) = (ExtractorBuffers::default(), ScorerBuffers::default());
    let mut binary = vec![0.0; test.len() * length];
    for ((document, _), binary) in test.iter().zip(binary.chunks_exact_mut(length)) {
        let row = model.extractor().row(&document.content, &mut buffers);
        scorer.binary_into(row, &mut buffer, binary);
    }
    let mut buffer = DecodeBuffers::default();
    let mut scores = vec![0.0; scorer.output_count()];
    per_row(test.len(), || {
        for binary in binary.chunks_exact(length) {
            scorer
                .decoder()
                .scores_into(binary, &mut buffer, &mut scores);
            std::hint::black_box(&scores);
        }
    })
}

/// Microseconds a row: the fastest of several passes, enough of them for a fifth of a second.
fn per_row(rows: usize, mut pass: impl FnMut()) -> f64 {
    let (mut least, mut spent, mut passes) = (f64::INFINITY, 0.0, 0);
    while passes < 3 || (spent < 0.2 && passes < 1000) {
        let start = Instant::now();
        pass();
        let seconds = start.elapsed().as_secs_f64();
        least = least.min(seconds);
        spent += seconds;
        passes += 1;
    }
    1e6 * least / rows.max(1) as f64
}
