//! Learned rankings on the LETOR collections: official folds, official counting, published rows beside.
//!
//! Fold `k` learns from parts `k, k+1, k+2`, chooses `C` on part `k+3` and is measured on part `k+4`; figures are means of the
//! five test parts. Choices never see the test part.

use std::collections::BTreeMap;
use std::error::Error;
use std::io::Write;
use std::path::Path;

use calibrant::NoProgress;
use calibrant::calibration::CalibratorKind;
use calibrant::corpus::Source;
use calibrant::evaluation::ranking::{LetorCounting, evaluate_letor};
use calibrant::ranking::RankingTable;
use calibrant::ranking::learning::{Choice, GradeUse, RankLoss, RankModel, RankSettings};

const PARTS: usize = 5;
/// The ranks at which NDCG is shown.
const RANKS: [usize; 4] = [1, 3, 5, 10];

struct Collection {
    name: &'static str,
    folder: &'static str,
    counting: LetorCounting,
    /// NDCG@1, @3, @5, @10 and MAP, with whose figures they are.
    published: &'static [(&'static str, [f64; 5])],
}

const COLLECTIONS: [Collection; 2] = [
    Collection {
        name: "ohsumed",
        folder: "letor/OHSUMED-3.0/QueryLevelNorm",
        counting: LetorCounting::Three,
        published: &[
            (
                "RankSVM (LETOR 3.0)",
                [0.4958, 0.4207, 0.4164, 0.4140, 0.4334],
            ),
            (
                "RankBoost (LETOR 3.0)",
                [0.4632, 0.4555, 0.4494, 0.4302, 0.4411],
            ),
            (
                "ListNet (LETOR 3.0)",
                [0.5326, 0.4732, 0.4432, 0.4410, 0.4457],
            ),
            (
                "AdaRank-MAP (LETOR 3.0)",
                [0.5388, 0.4682, 0.4613, 0.4429, 0.4487],
            ),
        ],
    },
    Collection {
        name: "mq2008",
        folder: "letor/MQ2008",
        counting: LetorCounting::Four,
        published: &[],
    },
];

/// Means of the five test parts, and what was chosen.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub(crate) struct LetorRow {
    pub(crate) map: f64,
    pub(crate) ndcg: BTreeMap<usize, f64>,
    pub(crate) map_by_fold: Vec<f64>,
    /// Mean average precision on the queries that choices were made on, a fold each.
    pub(crate) held_out_map_by_fold: Vec<f64>,
    pub(crate) chosen_by_fold: Vec<String>,
}

/// A way to learn.
#[derive(Debug, Clone)]
struct Way {
    name: String,
    settings: RankSettings,
}

impl Way {
    fn new(name: &str, settings: RankSettings) -> Self {
        Self {
            name: name.to_owned(),
            settings,
        }
    }

    /// As the program fits where nothing is given: every choice is made on validation and held-out training queries together.
    fn chosen() -> Self {
        let settings = RankSettings {
            calibrator: CalibratorKind::None,
            ..RankSettings::default()
        };
        Self::new("map-chosen", settings)
    }

    /// What is left of that where the solver goes on to the end.
    fn chosen_exactly() -> Self {
        let settings = RankSettings {
            tolerance: 1e-5,
            calibrator: CalibratorKind::None,
            ..RankSettings::default()
        };
        Self::new("map-chosen-exactly", settings)
    }
}

pub(crate) fn run(data: &Path, json: bool, only: &[String]) -> Result<(), Box<dyn Error>> {
    let mut out = std::io::stdout().lock();
    let mut all = BTreeMap::new();
    for collection in &COLLECTIONS {
        let parts = read_parts(&data.join(collection.folder))?;
        let mut rows = BTreeMap::new();
        if !json {
            writeln!(out, "\n{}, mean of five test folds", collection.name)?;
            let ndcg = RANKS.map(|rank| format!("NDCG@{rank}"));
            writeln!(
                out,
                "{:<26} {:>7} {} | MAP by fold",
                "",
                "MAP",
                ndcg.map(|n| format!("{n:>8}")).join(" ")
            )?;
            for (name, [n1, n3, n5, n10, map]) in collection.published {
                writeln!(
                    out,
                    "{name:<26} {map:>7.4} {n1:>8.4} {n3:>8.4} {n5:>8.4} {n10:>8.4} | published"
                )?;
            }
        }
        for way in ways() {
            if !only.is_empty() && !only.contains(&way.name) {
                continue;
            }
            let row = measure(&parts, collection.counting, &way)?;
            if !json {
                let ndcg: Vec<String> = row.ndcg.values().map(|n| format!("{n:>8.4}")).collect();
                let folds: Vec<String> =
                    row.map_by_fold.iter().map(|m| format!("{m:.4}")).collect();
                writeln!(
                    out,
                    "{:<26} {:>7.4} {} | {}",
                    way.name,
                    row.map,
                    ndcg.join(" "),
                    folds.join(" ")
                )?;
            }
            rows.insert(way.name, row);
        }
        all.insert(collection.name, rows);
    }
    if json {
        serde_json::to_writer(&mut out, &all)?;
        writeln!(out)?;
    }
    Ok(())
}

fn ways() -> Vec<Way> {
    let of_loss = |loss: RankLoss| {
        let settings = RankSettings {
            loss,
            ..with_bins(0)
        };
        Way::new(&loss.to_string(), settings)
    };
    let losses = RankLoss::ALL.into_iter().map(of_loss);
    losses
        .chain([
            Way::new("map-bins-50", with_bins(50)),
            Way::chosen(),
            Way::chosen_exactly(),
        ])
        .collect()
}

/// A step function of so many thresholds per column, or slopes; relevant or not; no probabilities.
fn with_bins(bins: usize) -> RankSettings {
    RankSettings {
        bins: Choice::Given(bins),
        grades: Choice::Given(GradeUse::One),
        calibrator: CalibratorKind::None,
        ..RankSettings::default()
    }
}

/// The parts `S1` to `S5`.
fn read_parts(folder: &Path) -> Result<Vec<Source>, Box<dyn Error>> {
    let parts = (1..=PARTS).map(|part| folder.join(format!("S{part}.txt.gz")));
    let missing = parts.clone().find(|path| !path.is_file());
    if let Some(path) = missing {
        return Err(format!(
            "there is no `{}`; CALIBRANT_DATA names the folder of the data",
            path.display()
        )
        .into());
    }
    Ok(parts.map(Source::Path).collect())
}

fn measure(
    parts: &[Source],
    counting: LetorCounting,
    way: &Way,
) -> Result<LetorRow, Box<dyn Error>> {
    let mut row = LetorRow {
        map: 0.0,
        ndcg: BTreeMap::new(),
        map_by_fold: Vec::new(),
        held_out_map_by_fold: Vec::new(),
        chosen_by_fold: Vec::new(),
    };
    for fold in 0..PARTS {
        let part = |offset: usize| parts[(fold + offset) % PARTS].clone();
        let train = RankingTable::read_files(&[part(0), part(1), part(2)])?;
        let validation = RankingTable::read(&part(3))?;
        let test = RankingTable::read(&part(4))?;
        let model = RankModel::fit(&train, Some(&validation), &way.settings, &NoProgress)?;
        let held_out = model.summary().chosen_trial().held_out_map.unwrap_or(0.0);
        let found = evaluate_letor(&test, &model.scores(&test)?, counting, 1)?.mean;
        row.map += found.average_precision / PARTS as f64;
        for rank in RANKS {
            *row.ndcg.entry(rank).or_default() += found.ndcg[rank - 1] / PARTS as f64;
        }
        row.map_by_fold.push(found.average_precision);
        row.held_out_map_by_fold.push(held_out);
        row.chosen_by_fold.push(described(&model));
    }
    Ok(row)
}

fn described(model: &RankModel) -> String {
    let settings = model.settings();
    format!(
        "C {}, {} bins, {}",
        model.summary().chosen_trial().c,
        settings.features.bins,
        if settings.every_grade {
            "every grade"
        } else {
            "one grade"
        }
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The five test folds of a collection, or `None` with a loud line.
    fn measured(collection: &Collection, way: &Way) -> Option<LetorRow> {
        let data = std::env::var_os("CALIBRANT_DATA");
        let data = data.map_or_else(|| "../../../shared/data".into(), std::path::PathBuf::from);
        match read_parts(&data.join(collection.folder)) {
            Ok(parts) => Some(measure(&parts, collection.counting, way).unwrap()),
            Err(error) => {
                let _ = writeln!(std::io::stderr(), "SKIPPED: {}: {error}", collection.name);
                None
            }
        }
    }

    #[test]
    fn average_precision_is_learned_as_well_as_published_rankings_do() {
        let Some(row) = measured(&COLLECTIONS[0], &Way::new("map", with_bins(0))) else {
            return;
        };
        // Above RankSVM and RankBoost as published, at the level of ListNet.
        assert!(row.map > 0.443, "{row:?}");
        assert!(row.ndcg[&10] > 0.43, "{row:?}");
    }

    /// AdaRank-MAP's 0.4487 is the best of the published rows. Where exactly a solver stops within its tolerance moves the mean
    /// of these 106 queries by 0.002 either way, so no more is asked for than to be level with it.
    #[test]
    fn with_choices_on_held_out_queries_rankings_are_level_with_the_best_published() {
        let Some(row) = measured(&COLLECTIONS[0], &Way::chosen()) else {
            return;
        };
        let (_, best) = COLLECTIONS[0].published[3];
        assert!(row.map > best[4] - 0.004, "{row:?}");
    }

    #[test]
    fn average_precision_is_learned_on_short_lists() {
        let settings = RankSettings {
            c: vec![1.0, 10.0],
            ..with_bins(0)
        };
        let Some(row) = measured(&COLLECTIONS[1], &Way::new("map", settings)) else {
            return;
        };
        assert!(row.map > 0.47, "{row:?}");
    }
}
