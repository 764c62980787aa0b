//! Reviews: few labelled texts, and a long list of others ordered by a classifier.

use std::error::Error;
use std::path::Path;

use calibrant::corpus::Document;
use calibrant::numeric::Random;
use calibrant::pipeline::{FitSettings, Model, TrainingCorpus, fit};
use calibrant::{NoProgress, Task};
use rayon::prelude::*;

use super::tally::{List, Tally, tallies, write_lists};
use crate::data::Corpus;

pub(super) struct ReviewCorpus {
    pub(super) name: &'static str,
    /// Of the table of corpora.
    corpus: &'static str,
    /// Topics that constants were chosen on, and others.
    topics: [&'static [&'static str]; 2],
}

pub(super) const CORPORA: &[ReviewCorpus] = &[
    ReviewCorpus {
        name: "review-reuters",
        corpus: "reuters-10",
        topics: [&["earn", "money-fx", "crude"], &["acq", "grain", "trade"]],
    },
    ReviewCorpus {
        name: "review-20newsgroups",
        corpus: "20newsgroups",
        topics: [
            &["sci.space", "rec.autos", "comp.graphics"],
            &["sci.med", "rec.sport.hockey", "talk.politics.guns"],
        ],
    },
];

/// Texts of a review, and those of them that are labelled.
const TEXTS: usize = 5_000;
const LABELLED: usize = 200;
/// With fewer labelled ones that belong to the topic nobody would begin.
const LEAST_POSITIVES: usize = 3;

pub(super) fn measure(
    review: &ReviewCorpus,
    data: &Path,
    draws: usize,
    seed: u64,
    lists_file: Option<&Path>,
) -> Result<Vec<Tally>, Box<dyn Error>> {
    let corpus = Corpus::named(review.corpus);
    let Some((training, test)) = corpus.read(data)? else {
        return Ok(Vec::new());
    };
    let texts: Vec<Document> = training.into_iter().chain(test).collect();
    let mut lists = [Vec::new(), Vec::new()];
    for draw in 0..draws {
        let mut random = Random::from_seed(seed.wrapping_mul(1_000).wrapping_add(draw as u64));
        let mut order: Vec<usize> = (0..texts.len()).collect();
        random.shuffle(&mut order);
        order.truncate(TEXTS);
        let (labelled, rest) = order.split_at(LABELLED.min(order.len()));
        let topics: Vec<&str> = review.topics.concat();
        let has = |text: usize, topic: &str| texts[text].labels.iter().any(|label| label == topic);
        let known: Vec<&str> = topics
            .iter()
            .copied()
            .filter(|topic| {
                let own = labelled.iter().filter(|&&text| has(text, topic)).count();
                own >= LEAST_POSITIVES
            })
            .collect();
        let learned = labelled.iter().map(|&text| {
            let mut document = texts[text].clone();
            document
                .labels
                .retain(|label| known.contains(&label.as_str()));
            document.labels_were_list = true;
            document
        });
        let settings = FitSettings {
            task: Some(Task::MultiLabel),
            classes: Some(known.iter().map(|&topic| topic.to_owned()).collect()),
            ..FitSettings::default()
        };
        let counted = TrainingCorpus::of_documents(&settings, learned.collect())?;
        let model = fit(counted, corpus.fields(), &settings, &NoProgress)?;
        let stated = stated(&model, &texts, rest);
        for (class, name) in model.class_names().enumerate() {
            let mut rows: Vec<usize> = (0..rest.len()).collect();
            rows.sort_by(|&a, &b| stated[b][class].total_cmp(&stated[a][class]));
            let list = List {
                stated: rows.iter().map(|&row| stated[row][class]).collect(),
                relevant: rows.iter().map(|&row| has(rest[row], name)).collect(),
            };
            let half = usize::from(!review.topics[0].contains(&name));
            lists[half].push((list, model.summary().classes[class].spread));
        }
    }
    let [choosing, reporting] = lists;
    write_lists(lists_file, "review", review.name, true, &choosing)?;
    write_lists(lists_file, "review", review.name, false, &reporting)?;
    let mut found = tallies("review", review.name, true, &choosing);
    found.extend(tallies("review", review.name, false, &reporting));
    Ok(found)
}

/// The probability of every class for each of these texts.
fn stated(model: &Model, texts: &[Document], which: &[usize]) -> Vec<Vec<f64>> {
    let said = which.par_iter().map(|&text| model.predict(&texts[text]));
    said.map(|classes| classes.iter().map(|p| p.value()).collect())
        .collect()
}
