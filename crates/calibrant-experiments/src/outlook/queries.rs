//! Learned rankings of collections with judged queries.

use std::error::Error;
use std::path::Path;

use calibrant::NoProgress;
use calibrant::calibration::LogOddsSpread;
use calibrant::corpus::Source;
use calibrant::numeric::Random;
use calibrant::ranking::learning::{RankModel, RankParameters};
use calibrant::ranking::{RankingTable, RelevanceSettings};

use super::tally::{List, Tally, tallies, write_lists};
use crate::svm_map::collections;

pub(super) struct Collection {
    pub(super) name: &'static str,
    pub(super) choosing: bool,
    /// LETOR files, or none for one of documents, queries and judgements.
    files: &'static [&'static str],
}

const fn collection(
    name: &'static str,
    choosing: bool,
    files: &'static [&'static str],
) -> Collection {
    Collection {
        name,
        choosing,
        files,
    }
}

pub(super) const COLLECTIONS: &[Collection] = &[
    collection("cranfield", true, &[]),
    collection("cisi", false, &[]),
    collection("med", true, &[]),
    collection("npl", false, &[]),
    collection("time", false, &[]),
    collection(
        "ohsumed",
        true,
        &[
            "letor/OHSUMED-3.0/QueryLevelNorm/S1.txt.gz",
            "letor/OHSUMED-3.0/QueryLevelNorm/S2.txt.gz",
            "letor/OHSUMED-3.0/QueryLevelNorm/S3.txt.gz",
            "letor/OHSUMED-3.0/QueryLevelNorm/S4.txt.gz",
            "letor/OHSUMED-3.0/QueryLevelNorm/S5.txt.gz",
        ],
    ),
    collection(
        "mq2008",
        false,
        &[
            "letor/MQ2008/S1.txt.gz",
            "letor/MQ2008/S2.txt.gz",
            "letor/MQ2008/S3.txt.gz",
            "letor/MQ2008/S4.txt.gz",
            "letor/MQ2008/S5.txt.gz",
        ],
    ),
    collection("mq2007-agg", true, &[]),
    collection(
        "mslr",
        false,
        &[
            "letor/MSLR-WEB10K-sample/train.txt.gz",
            "letor/MSLR-WEB10K-sample/test.txt.gz",
        ],
    ),
];

/// Parts of queries: each is ranked by a model of the others.
const PARTS: usize = 5;
/// Queries that a collection gives the default at most, so that the largest does not drown the others.
const MOST_FOR_DEFAULT: usize = 100;
/// Queries of a collection that are looked at, at most.
const MOST_QUERIES: usize = 600;

/// Forecasts of a query, for the default.
type Group = Vec<(f64, bool)>;

/// How stops went, and the forecasts of each query.
pub(super) type Measured = (Vec<Tally>, Vec<Group>);

/// None where the data is missing.
pub(super) fn measure(
    collection: &Collection,
    data: &Path,
    lists_file: Option<&Path>,
) -> Result<Option<Measured>, Box<dyn Error>> {
    let Some(table) = collection.read(data)? else {
        return Ok(None);
    };
    let mut order: Vec<usize> = (0..table.query_count()).collect();
    Random::from_seed(1).shuffle(&mut order);
    order.truncate(MOST_QUERIES);
    let mut lists = Vec::new();
    for part in 0..PARTS {
        let of = |held: bool| -> Vec<usize> {
            let numbered = order.iter().enumerate();
            let kept = numbered.filter(|(place, _)| (place % PARTS == part) == held);
            kept.map(|(_, &query)| query).collect()
        };
        let train = table.select(&of(false));
        let test = table.select(&of(true));
        let model = RankModel::fit_with(&train, None, &RankParameters::default(), &NoProgress)?;
        let how = RelevanceSettings::default();
        let model = model.calibrated(&train, None, &how, PARTS, &NoProgress)?;
        lists.extend(ranked(&model, &test));
    }
    write_lists(
        lists_file,
        "rankings",
        collection.name,
        collection.choosing,
        &lists,
    )?;
    let groups = lists.iter().take(MOST_FOR_DEFAULT).map(|(list, _)| {
        let forecasts = list.stated.iter().zip(&list.relevant);
        forecasts
            .map(|(&p, &is)| ((p / (1.0 - p)).ln(), is))
            .collect()
    });
    let groups = groups.collect();
    let found = tallies("rankings", collection.name, collection.choosing, &lists);
    Ok(Some((found, groups)))
}

fn ranked(model: &RankModel, test: &RankingTable) -> Vec<(List, Option<LogOddsSpread>)> {
    // The test table has the columns of the training table.
    let scores = model.scores_by_known(test);
    let Some(stated) = model.probabilities(test, &scores) else {
        return Vec::new();
    };
    let spread = model
        .relevance()
        .and_then(|relevance| relevance.spread())
        .copied();
    let of_query = |query: &calibrant::ranking::QueryRows| {
        let mut rows: Vec<usize> = query.rows.clone().collect();
        rows.sort_by(|&a, &b| scores[b].total_cmp(&scores[a]));
        let list = List {
            stated: rows.iter().map(|&row| stated[row].value()).collect(),
            relevant: rows.iter().map(|&row| test.grades()[row] > 0).collect(),
        };
        (list, spread)
    };
    test.queries().iter().map(of_query).collect()
}

impl Collection {
    fn read(&self, data: &Path) -> Result<Option<RankingTable>, Box<dyn Error>> {
        if self.files.is_empty() {
            let known = collections::COLLECTIONS
                .iter()
                .find(|one| one.name == self.name);
            let judged = known.map(|one| one.read(data)).transpose()?.flatten();
            return Ok(judged.map(|judged| judged.table));
        }
        let files: Vec<_> = self.files.iter().map(|file| data.join(file)).collect();
        if files.iter().any(|file| !file.is_file()) {
            return Ok(None);
        }
        let sources: Vec<Source> = files.into_iter().map(Source::Path).collect();
        Ok(Some(RankingTable::read_files(&sources)?))
    }
}
