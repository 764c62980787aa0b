//! The comparison as a page for a browser.

use calibrant::plot::{
    Block, Figure, ReliabilityPlot, ReliabilitySeries, Section, Table, TruthPlot, page,
    reliability_diagram, scatter_truth,
};

use super::comparison::{Comparison, Forecaster};
use super::numbers::{MEASURES, measure, measure_rows, probability, share, starred_name, whole};
use super::samples::Sample;
use super::stated::StatedBin;

/// Points of a line in a reliability diagram.
const RELIABILITY_BINS: usize = 15;

/// The whole page. Equal comparisons give equal pages.
pub(super) fn render(comparison: &Comparison) -> String {
    let sections = [
        in_short(comparison),
        measures(comparison),
        reliability(comparison),
        against_truth(comparison),
        letters(comparison),
        simulation(comparison),
        own_documents(),
    ];
    page("Stated and true, on a simulated inbox", &sections)
}

fn section(heading: &str, blocks: Vec<Block>) -> Section {
    Section {
        heading: heading.to_owned(),
        blocks,
    }
}

fn paragraph(text: impl Into<String>) -> Block {
    Block::Paragraph(text.into())
}

fn in_short(comparison: &Comparison) -> Section {
    let mut numbers = Vec::new();
    if let [raw, calibrated, ..] = comparison.forecasters.as_slice() {
        let surest = raw
            .stated_against_true
            .last()
            .and_then(|bin| Some((bin.letters, bin.right?)));
        if let Some((letters, right)) = surest {
            let name = format!(
                "right, of the {} letters that raw naive Bayes was more than 99.9 % sure of",
                whole(letters)
            );
            numbers.push((name, format!("{:.1} %", 100.0 * right)));
        }
        for forecaster in [raw, calibrated] {
            let name = format!("log loss of {}", forecaster.name);
            numbers.push((name, measure(forecaster.measures.log_loss)));
        }
    }
    numbers.push((
        "log loss of the truth itself, which nobody can beat for long".to_owned(),
        measure(comparison.truth.log_loss),
    ));
    section(
        "In short",
        vec![
            paragraph(
                "Whoever is 99.9 % sure should be wrong once in a thousand times. On real text this can \
                 only be checked on average, because nobody knows the true probabilities. Here they are \
                 known: the letters of this inbox are drawn from a model that was written down, so what a \
                 classifier states can be held against the truth, letter by letter.",
            ),
            Block::Numbers(numbers),
            paragraph(
                "Calibration leaves the learner as it is. It looks at letters that the learner had not \
                 seen, finds out what its scores are worth, and translates scores into probabilities. \
                 Which class comes first hardly changes; how sure it is said to be changes much.",
            ),
        ],
    )
}

fn measures(comparison: &Comparison) -> Section {
    section(
        "Four forecasters and the truth",
        vec![
            Block::Table(Table {
                caption: format!(
                    "Learned from {} letters, measured on {} others.",
                    whole(comparison.train_letters),
                    whole(comparison.test_letters)
                ),
                header: MEASURES.map(str::to_owned).to_vec(),
                rows: measure_rows(comparison),
            }),
            paragraph(
                "Accuracy is the share of letters whose likeliest class is right. Log loss (in nats) \
                 and the Brier score punish probabilities that turn out wrong, the more the surer they \
                 were; less is better. Excess is what a letter costs on average because the truth was \
                 not stated: the divergence from the true probabilities. ECE is the mean distance \
                 between how sure the first choice was said to be and how often it was right; by \
                 chance alone a perfect forecaster of the same probabilities would show what stands beside \
                 it in the mean, and stay within the band, the last column, 95 times of 100.",
            ),
            paragraph(
                "* The margins of a support vector machine are distances, not probabilities. They are \
                 read as log-odds for comparison only.",
            ),
        ],
    )
}

fn reliability(comparison: &Comparison) -> Section {
    let figures = comparison
        .forecasters
        .chunks(2)
        .filter_map(|pair| {
            let learner = pair.first()?.classifier;
            let (title, caption) = match learner {
                "naive Bayes" => (
                    "Naive Bayes",
                    "Raw, almost everything is stated close to 1, and below the diagonal: too sure. \
                     Calibrated, the line keeps to the diagonal.",
                ),
                _ => (
                    "Linear SVM",
                    "Raw margins, read as log-odds, are far above the diagonal: not sure enough. \
                     Calibrated, they spread out and come close to it.",
                ),
            };
            let series = pair
                .iter()
                .map(|forecaster| {
                    let name = if forecaster.calibrated {
                        "calibrated"
                    } else if forecaster.states_probabilities {
                        "raw"
                    } else {
                        "raw margins"
                    };
                    ReliabilitySeries::new(name, &forecaster.first_choices, RELIABILITY_BINS)
                })
                .collect();
            let svg = reliability_diagram(&ReliabilityPlot {
                title: title.to_owned(),
                description: format!(
                    "Reliability diagram of {learner}: stated probability of the first choice against \
                     the share that was right, raw and calibrated. {caption}"
                ),
                series,
            });
            Some(Figure {
                svg,
                caption: caption.to_owned(),
            })
        })
        .collect();
    section(
        "How often was the first choice right?",
        vec![
            paragraph(
                "Each point gathers letters whose first choice was stated with about the same \
                 probability: across what was said, upwards how often it was right. A perfect forecaster \
                 would stay inside the band in 95 of 100 cases; points outside it are hollow. This \
                 diagram needs no truth and can be drawn for any labelled test file. The bars below show \
                 how often which probability was stated.",
            ),
            Block::Figures(figures),
        ],
    )
}

fn against_truth(comparison: &Comparison) -> Section {
    let figures = comparison
        .forecasters
        .iter()
        .map(|forecaster| Figure {
            svg: scatter_truth(&TruthPlot {
                title: capitalised(&starred_name(forecaster)),
                description: format!(
                    "Stated against true probability of every class of every letter: {}.",
                    forecaster.name
                ),
                points: forecaster.stated_and_true.clone(),
                colour: usize::from(forecaster.calibrated),
            }),
            caption: String::new(),
        })
        .collect();
    let mut blocks = vec![
        paragraph(
            "Here is what only a simulation can show: every class of every letter, across by the \
             stated and upwards by the true probability, darker where there are more of them. The \
             dotted line is the mean truth among equal statements. On the dashed diagonal, 0.8 means \
             0.8. Single letters still scatter around the line: a learner that counts words knows less \
             about a letter than the truth does, and calibration cannot give back what it never saw.",
        ),
        Block::Figures(figures),
    ];
    blocks.push(paragraph(
        "The same for naive Bayes in numbers: letters by what was said of their first choice, how many \
         they are, the mean of what was said, the mean true probability of that class, and the share \
         that was right.",
    ));
    let bayes = comparison.forecasters.iter().take(2);
    blocks.extend(bayes.map(|forecaster| Block::Table(bins_table(forecaster))));
    section("Stated against true", blocks)
}

fn bins_table(forecaster: &Forecaster) -> Table {
    let header = ["stated", "letters", "said", "true", "right"];
    let rows = forecaster
        .stated_against_true
        .iter()
        .enumerate()
        .map(|(number, bin)| {
            vec![
                StatedBin::name(number),
                whole(bin.letters),
                share(bin.stated),
                share(bin.truth),
                share(bin.right),
            ]
        })
        .collect();
    Table {
        caption: capitalised(forecaster.name),
        header: header.map(str::to_owned).to_vec(),
        rows,
    }
}

fn letters(comparison: &Comparison) -> Section {
    let blocks = comparison
        .samples
        .iter()
        .flat_map(|sample| sample_blocks(sample, &comparison.forecasters))
        .collect();
    section("Two letters", blocks)
}

fn sample_blocks(sample: &Sample, forecasters: &[Forecaster]) -> [Block; 3] {
    let mut header = vec!["class".to_owned(), "true".to_owned()];
    header.extend(forecasters.iter().map(starred_name));
    let rows = sample
        .probabilities
        .iter()
        .map(|class| {
            let mut cells = vec![class.class.clone(), probability(class.truth)];
            cells.extend(class.stated.iter().map(|&stated| probability(stated)));
            cells
        })
        .collect();
    [
        paragraph(format!(
            "{}. It was drawn from “{}”.",
            sample.why, sample.label
        )),
        Block::Quotation(sample.text.clone()),
        Block::Table(Table {
            caption: String::new(),
            header,
            rows,
        }),
    ]
}

fn simulation(comparison: &Comparison) -> Section {
    section(
        "How the inbox is made",
        vec![
            paragraph(format!(
                "A letter's class is drawn first ({}), then its words from the class's urn: every word \
                 that is drawn goes back together with another of its kind, so that words come in \
                 bursts, as in real mail. Naive Bayes takes every repetition for fresh evidence, which \
                 is why it is so sure of itself. Sentences are put around the words without looking at \
                 the class, and Bayes' rule gives the true probability of every class exactly.",
                comparison.classes.join(", ")
            )),
            paragraph("The same seed gives this page again, byte for byte:"),
            Block::Code(format!("calibrant demo --seed {}", comparison.seed)),
        ],
    )
}

fn own_documents() -> Section {
    section(
        "With your own documents",
        vec![
            paragraph(
                "Take a file with a text and a label in each row (CSV, TSV, JSON Lines, Parquet, or a \
                 folder for each class), and keep some rows apart to test on:",
            ),
            Block::Code(
                "calibrant fit train.csv -o model.calibrant\n\
                 calibrant evaluate model.calibrant test.csv\n\
                 calibrant predict model.calibrant new.csv -o answers.csv\n\
                 calibrant explain model.calibrant \"Where is my parcel?\""
                    .to_owned(),
            ),
            paragraph(
                "Columns with other names are chosen with --text and --label. Calibration is on unless \
                 it is turned off; --classifier chooses the learner.",
            ),
        ],
    )
}

fn capitalised(text: &str) -> String {
    let mut characters = text.chars();
    characters
        .next()
        .map(|first| first.to_uppercase().chain(characters).collect())
        .unwrap_or_default()
}
