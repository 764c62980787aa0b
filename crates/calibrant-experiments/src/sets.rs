//! Sets with a stated coverage on real corpora: what was asked for beside what was seen.
//!
//! A model learns from the training documents; half of the others calibrate, half are looked at. Sets of the kinds `lac` and `aps` that rest on the
//! calibration documents should be off by chance alone, `3 √(α (1 - α) (1/n + 1/m))` at most; all others may hold more than asked for, never
//! less beyond chance; class by class the worst of so many classes may be as far off as is that unlikely.

use std::collections::{BTreeMap, HashSet};
use std::error::Error;
use std::io::Write;
use std::path::Path;

use calibrant::corpus::{Document, Fields};
use calibrant::decision::SetKind;
use calibrant::jobs::{AskSets, CalibrationExamples, Predictor};
use calibrant::numeric::{Random, normal_cdf};
use calibrant::pipeline::{FitSettings, Model, TrainingCorpus, fit};
use calibrant::{NoProgress, Task};
use clap::Args;
use serde::Serialize;

use crate::data::{ALL_CORPORA, load};

#[derive(Args)]
pub(crate) struct Options {
    /// One JSON array on standard output
    #[arg(long)]
    json: bool,
    /// Only these corpora
    #[arg(long, value_name = "NAME,…", value_delimiter = ',')]
    only: Vec<String>,
    /// At most so many training documents
    #[arg(long, value_name = "N", default_value_t = 1_000_000)]
    training: usize,
}

const COVERAGES: [f64; 3] = [0.8, 0.9, 0.95];

/// One promise beside what came of it.
#[derive(Serialize)]
struct Seen {
    corpus: String,
    kind: String,
    /// Whether it rests on the calibration documents, or on what the model keeps.
    rests_on: &'static str,
    asked: f64,
    seen: f64,
    /// What chance explains.
    allowed: f64,
    mean_size: f64,
    empty: f64,
    calibration: usize,
    test: usize,
    /// Whether too much is as wrong as too little.
    two_sided: bool,
    kept: bool,
}

pub(crate) fn run(data: &Path, options: &Options) -> Result<(), Box<dyn Error>> {
    let mut all = Vec::new();
    for &name in ALL_CORPORA {
        if !options.only.is_empty() && !options.only.iter().any(|only| only == name) {
            continue;
        }
        all.extend(measure(name, data, options.training)?);
    }
    let mut out = std::io::stdout().lock();
    if options.json {
        serde_json::to_writer(&mut out, &all)?;
        return Ok(writeln!(out)?);
    }
    writeln!(
        out,
        "{:<14} {:<14} {:<12} {:>6} {:>7} {:>8} {:>8} {:>6} {:>6} {:>6}  kept",
        "corpus", "kind", "rests on", "asked", "seen", "allowed", "size", "empty", "n", "m"
    )?;
    for seen in &all {
        writeln!(
            out,
            "{:<14} {:<14} {:<12} {:>6.2} {:>7.4} {:>8.4} {:>8.3} {:>6.3} {:>6} {:>6}  {}",
            seen.corpus,
            seen.kind,
            seen.rests_on,
            seen.asked,
            seen.seen,
            seen.allowed,
            seen.mean_size,
            seen.empty,
            seen.calibration,
            seen.test,
            if seen.kept { "yes" } else { "NO" }
        )?;
    }
    let broken = all.iter().filter(|seen| !seen.kept).count();
    writeln!(out, "{} promises, {broken} not kept", all.len())?;
    Ok(())
}

/// Training, calibration and test documents: small corpora are divided anew. A text that comes again is left out, so that none is on two sides.
fn divided(name: &str, data: &Path) -> Result<Option<[Vec<Document>; 3]>, Box<dyn Error>> {
    let Some(loaded) = load(name, data)?.into_iter().next() else {
        return Ok(None);
    };
    let (mut training, mut rest) = (loaded.training, loaded.test);
    let mut random = Random::from_seed(13);
    if rest.len() < 2_000 {
        training.append(&mut rest);
        random.shuffle(&mut training);
        rest = training.split_off(training.len() / 2);
    }
    random.shuffle(&mut rest);
    let mut seen: HashSet<String> = training.iter().map(words_of).collect();
    rest.retain(|document| seen.insert(words_of(document)));
    let test = rest.split_off(rest.len() / 2);
    Ok(Some([training, rest, test]))
}

/// What two documents have in common that differ in case and signs alone.
fn words_of(document: &Document) -> String {
    let text = document
        .content
        .as_text()
        .unwrap_or_default()
        .to_lowercase();
    let words = text.split(|c: char| !c.is_alphanumeric());
    words
        .filter(|word| !word.is_empty())
        .collect::<Vec<_>>()
        .join(" ")
}

fn model_of(name: &str, training: Vec<Document>) -> Result<Model, Box<dyn Error>> {
    let classes = (name == "reuters-10").then(|| {
        let ten = crate::data::REUTERS_TEN.iter();
        ten.map(|&class| class.to_owned()).collect()
    });
    let settings = FitSettings {
        classes,
        ..FitSettings::default()
    };
    let corpus = TrainingCorpus::of_documents(&settings, training)?;
    Ok(fit(corpus, Fields::default(), &settings, &NoProgress)?)
}

fn measure(name: &str, data: &Path, most: usize) -> Result<Vec<Seen>, Box<dyn Error>> {
    let Some([mut training, mut calibration, test]) = divided(name, data)? else {
        return Ok(Vec::new());
    };
    training.truncate(most);
    let model = model_of(name, training)?;
    let several = model.task() == Task::MultiLabel;
    let is_known = |label: &String| model.class_names().any(|class| class == label);
    calibration.retain(|document| document.labels.iter().any(is_known));
    let examples = CalibrationExamples::of_documents(&model, &calibration)?;
    let kinds = SetKind::ALL.iter().copied();
    let kinds = kinds.filter(|&kind| !several || kind == SetKind::Lac);
    let mut all = Vec::new();
    for kind in kinds {
        for class_by_class in [false, true] {
            if several && class_by_class {
                continue;
            }
            for coverage in COVERAGES {
                for held_out in [false, true] {
                    let asked = AskSets {
                        coverage,
                        kind,
                        class_by_class,
                        keep_top: false,
                    };
                    let given = (!held_out).then_some(&examples);
                    let predictor = Predictor::new(&model).sets(asked, given)?;
                    all.push(compare(
                        name, asked, &predictor, &test, &examples, held_out,
                    )?);
                }
            }
        }
    }
    Ok(all)
}

fn compare(
    name: &str,
    asked: AskSets,
    predictor: &Predictor<'_>,
    test: &[Document],
    examples: &CalibrationExamples,
    held_out: bool,
) -> Result<Seen, Box<dyn Error>> {
    let (predictions, _) = predictor.predict_batch(test)?;
    let (mut held, mut size, mut empty, mut count) = (0.0, 0.0, 0.0, 0.0);
    let several = predictor.model().task() == Task::MultiLabel;
    let mut of_class: BTreeMap<&String, (f64, f64)> = BTreeMap::new();
    let is_known = |label: &&String| {
        let mut classes = predictor.model().class_names();
        classes.any(|class| class == *label)
    };
    for (document, prediction) in test.iter().zip(&predictions) {
        let known: Vec<&String> = document.labels.iter().filter(is_known).collect();
        // Nothing is promised where there is nothing to find.
        if known.is_empty() {
            continue;
        }
        let set = prediction.set.as_deref().unwrap_or_default();
        let in_set = |label: &&&String| set.iter().any(|own| *own == label.as_str());
        let found = known.iter().filter(in_set).count() as f64;
        held += found / known.len() as f64;
        if let [label] = known[..] {
            let own = of_class.entry(label).or_insert((0.0, 0.0));
            *own = (own.0 + found, own.1 + 1.0);
        }
        size += set.len() as f64;
        empty += f64::from(u8::from(set.is_empty()));
        count += 1.0;
    }
    let miss = 1.0 - asked.coverage;
    // A fifth of the examples chooses what `raps` penalises.
    let used = if asked.kind == SetKind::Raps {
        0.8
    } else {
        1.0
    };
    let (n, seen) = (used * examples.len() as f64, held / count);
    let allowed = 3.0 * (miss * asked.coverage * (1.0 / n + 1.0 / count)).sqrt();
    let two_sided = !held_out
        && !several
        && !asked.class_by_class
        && matches!(asked.kind, SetKind::Lac | SetKind::Aps);
    let difference = seen - asked.coverage;
    // Class by class each is promised its coverage; it has about the same share of the calibration examples as of the test. Of many classes the worst is
    // further off by chance: as seldom as three standard errors of one.
    let classes = of_class.len() as f64;
    let class_kept = |&(held, of_it): &(f64, f64)| {
        let spread = (miss * asked.coverage * (count / (n * of_it) + 1.0 / of_it)).sqrt();
        let off = (held / of_it - asked.coverage) / spread;
        of_it < 50.0 || classes * normal_cdf(off) >= normal_cdf(-3.0)
    };
    let classes_kept = !asked.class_by_class || of_class.values().all(class_kept);
    Ok(Seen {
        corpus: name.to_owned(),
        kind: match (several, asked.class_by_class) {
            (true, _) => "labels".to_owned(),
            (false, true) => format!("{} by class", asked.kind),
            (false, false) => asked.kind.to_string(),
        },
        rests_on: if held_out { "held-out" } else { "file" },
        asked: asked.coverage,
        seen,
        allowed,
        mean_size: size / count,
        empty: empty / count,
        calibration: examples.len(),
        test: count as usize,
        two_sided,
        kept: classes_kept && difference >= -allowed && (!two_sided || difference <= allowed),
    })
}
