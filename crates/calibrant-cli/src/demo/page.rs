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
                "correct among the {} messages of which raw naive Bayes was more than 99.9 % sure",
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
        "log loss of the true probabilities, the best possible in the long run".to_owned(),
        measure(comparison.truth.log_loss),
    ));
    section(
        "In short",
        vec![
            paragraph(
                "A forecast of 99.9 % should be wrong once in a thousand times. On real text this can be checked only on average, because nobody knows the true probabilities. Here they are known: the messages of this inbox are drawn from a known model, so the stated probabilities can be compared with the true ones, message by message.",
            ),
            Block::Numbers(numbers),
            paragraph(
                "Calibration does not change the learner. It uses messages that the learner has not seen to find out what the scores mean, and translates scores into probabilities. The predicted class hardly changes; its stated probability changes a lot.",
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
                    "Fitted on {} messages, measured on {} others.",
                    whole(comparison.train_letters),
                    whole(comparison.test_letters)
                ),
                header: MEASURES.map(str::to_owned).to_vec(),
                rows: measure_rows(comparison),
            }),
            paragraph(
                "Accuracy is the share of messages whose most probable class is right. Log loss (in nats) and the Brier score penalise wrong forecasts, the more the more confident they were; lower is better. Excess is the mean divergence from the true probabilities, the log loss that stating the truth would save. ECE is the mean distance between the stated probability of the predicted class and how often it is right; by chance alone a perfect forecaster of the same probabilities would show the mean value beside it, and stay within the band in the last column 95 times in 100.",
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
                    "Raw probabilities are almost all close to 1 and below the diagonal: overconfident. Calibrated, they follow the diagonal.",
                ),
                _ => (
                    "Linear SVM",
                    "Raw margins, read as log-odds, are far above the diagonal: underconfident. Calibrated, they spread out and follow it.",
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
                    "Reliability diagram of {learner}: stated probability of the predicted class against the share that was right, raw and calibrated. {caption}"
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
        "How often was the predicted class right?",
        vec![
            paragraph(
                "Each point stands for messages whose predicted class has about the same stated probability: the stated probability is on the horizontal axis, the share that was right on the vertical one. A perfect forecaster stays inside the band in 95 of 100 cases; points outside it are hollow. This diagram needs no true probabilities and can be drawn for any labelled test file. The bars below show how often each probability was stated.",
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
                    "Stated against true probability of every class of every message: {}.",
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
            "This is what only a simulation can show: every class of every message, by stated (horizontal) and true (vertical) probability, darker where there are more of them. The dotted line is the mean true probability for each stated one. On the dashed diagonal, 0.8 means 0.8. Individual messages still scatter around the line: a learner that counts words has less information about a message than the true model, and calibration cannot restore it.",
        ),
        Block::Figures(figures),
    ];
    blocks.push(paragraph(
        "The same for naive Bayes in numbers: messages by the stated probability of their predicted class, their number, the mean stated probability, the mean true probability, and the share that was right.",
    ));
    let bayes = comparison.forecasters.iter().take(2);
    blocks.extend(bayes.map(|forecaster| Block::Table(bins_table(forecaster))));
    section("Stated against true", blocks)
}

fn bins_table(forecaster: &Forecaster) -> Table {
    let header = ["stated", "messages", "mean", "true", "right"];
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
    section("Two messages", blocks)
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
                "A message's class is drawn first ({}), then its words from the class's urn: every word drawn is put back with another copy, so words come in bursts, as in real mail. Naive Bayes counts every repetition as fresh evidence, which is why it is overconfident. The sentences around the words do not depend on the class, and Bayes' rule gives the exact true probability of every class.",
                comparison.classes.join(", ")
            )),
            paragraph("The same seed reproduces this page, byte for byte:"),
            Block::Code(format!("calibrant demo --seed {}", comparison.seed)),
        ],
    )
}

fn own_documents() -> Section {
    section(
        "With your own documents",
        vec![
            paragraph(
                "Take a file with a text and a label in each row (CSV, TSV, JSON Lines, Parquet, or a folder per class), and set some rows aside for testing:",
            ),
            Block::Code(
                "calibrant fit train.csv -o model.calibrant\n\
                 calibrant evaluate model.calibrant test.csv\n\
                 calibrant predict model.calibrant new.csv -o answers.csv\n\
                 calibrant explain model.calibrant \"Where is my parcel?\""
                    .to_owned(),
            ),
            paragraph(
                "Name other columns with --text and --label. Calibration is on by default; --classifier chooses the learner.",
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
