//! `calibrant rank outlook`: how much is left to find, and where to stop reading.

use std::io::Write;

use calibrant::ranking::{JudgedQuery, Outlook, Qrels, RankedQuery, Run};
use rayon::prelude::*;
use serde_json::{Value, json};

use super::spreads::{Origin, Spreads};
use crate::arguments::RankOutlookArguments;
use crate::error::CliError;
use crate::input;
use crate::output::{note, stdout};
use crate::table::table;

/// What is said of one query.
pub(super) struct Forecast<'a> {
    query: RankedQuery<'a>,
    documents: usize,
    expected: f64,
    /// How many are expected below each rank that was asked for.
    below: Vec<f64>,
    stop: usize,
    sure_stop: usize,
    pub(super) origin: Origin,
    /// Relevant documents in the list, and among the first `stop` and `sure_stop`, where there are judgements.
    truth: Option<[usize; 3]>,
}

pub(crate) fn run(arguments: &RankOutlookArguments) -> Result<(), CliError> {
    let run = Run::read(&input::source(&arguments.run))?;
    let qrels = match &arguments.qrels {
        Some(path) => Some(Qrels::read(&input::source(path))?),
        None => None,
    };
    let spreads = Spreads::new(arguments.model.as_deref())?;
    let queries: Vec<RankedQuery<'_>> = run.queries().collect();
    let forecasts = queries
        .into_par_iter()
        .map(|query| forecast(query, qrels.as_ref(), &spreads, arguments))
        .collect::<Result<Vec<_>, _>>()?;
    spreads.tell(&forecasts);
    if let Some(qrels) = &qrels {
        tell_truth(qrels, &forecasts, arguments.relevant_from);
    }
    let mut out = stdout();
    if arguments.json {
        let values: Vec<Value> = forecasts.iter().map(|one| one.json(arguments)).collect();
        serde_json::to_writer(&mut out, &values)?;
        writeln!(out)?;
    } else {
        show(&forecasts, arguments, &mut out)?;
    }
    Ok(out.flush()?)
}

fn forecast<'a>(
    query: RankedQuery<'a>,
    qrels: Option<&Qrels>,
    spreads: &Spreads,
    arguments: &RankOutlookArguments,
) -> Result<Forecast<'a>, CliError> {
    let wrong = |score: &f64| !(0.0..=1.0).contains(score);
    if let Some(place) = query.scores().iter().position(wrong) {
        return Err(CliError::new(format!(
            "{}, line {}: {} is no probability",
            arguments.run,
            query.lines()[place],
            query.scores()[place]
        ))
        .hint("`rank predict --run --probabilities` writes probabilities as scores"));
    }
    let (spread, origin) = spreads.of(query.id());
    let outlook = Outlook::with_spread(query.scores().iter().copied(), &spread);
    let stop = outlook.stop_for_recall(arguments.recall);
    let sure_stop = outlook.sure_stop_for_recall(arguments.recall, arguments.certainty);
    let truth = qrels
        .and_then(|qrels| qrels.query(query.id()))
        .filter(JudgedQuery::has_judgement)
        .map(|judged| {
            let relevant = |document: &str| {
                let grade = judged.grade(document);
                grade.is_some_and(|grade| grade >= arguments.relevant_from)
            };
            let first = |count: usize| {
                query
                    .documents()
                    .take(count)
                    .filter(|d| relevant(d))
                    .count()
            };
            [first(usize::MAX), first(stop), first(sure_stop)]
        });
    let below = arguments.at.iter();
    Ok(Forecast {
        query,
        documents: outlook.document_count(),
        expected: outlook.expected(),
        below: below.map(|&rank| outlook.expected_below(rank)).collect(),
        stop,
        sure_stop,
        origin,
        truth,
    })
}

impl Forecast<'_> {
    fn json(&self, arguments: &RankOutlookArguments) -> Value {
        let below: serde_json::Map<String, Value> = arguments
            .at
            .iter()
            .zip(&self.below)
            .map(|(rank, below)| (rank.to_string(), json!(below)))
            .collect();
        let mut value = json!({
            "query": self.query.id(),
            "documents": self.documents,
            "expected_relevant": self.expected,
            "expected_below": below,
            "recall": arguments.recall,
            "stop": self.stop,
            "certainty": arguments.certainty,
            "sure_stop": self.sure_stop,
            "certainty_from": self.origin.name(),
        });
        if let Some([all, at_stop, at_sure_stop]) = self.truth {
            value["relevant_listed"] = json!(all);
            value["recall_at_stop"] = json!(share(at_stop, all));
            value["recall_at_sure_stop"] = json!(share(at_sure_stop, all));
        }
        value
    }
}

/// Says what is not in the figures of what came true.
fn tell_truth(qrels: &Qrels, forecasts: &[Forecast<'_>], relevant_from: i32) {
    let unjudged = forecasts.iter().filter(|one| one.truth.is_none()).count();
    if unjudged > 0 {
        note(&format!(
            "{unjudged} queries without any judgement are left out of what came true"
        ));
    }
    let missed = |one: &Forecast<'_>| {
        let (listed, judged) = (one.truth?[0], qrels.query(one.query.id())?);
        let grades = judged.grades().iter();
        let all = grades.filter(|&&grade| grade >= relevant_from).count();
        Some(all.saturating_sub(listed))
    };
    let missed: usize = forecasts.iter().filter_map(missed).sum();
    if missed > 0 {
        note(&format!(
            "{missed} relevant documents are not in the run and count neither as expected nor as missed: recall is that of the listed ones"
        ));
    }
}

/// None where there is nothing to find.
fn share(found: usize, all: usize) -> Option<f64> {
    (all > 0).then(|| found as f64 / all as f64)
}

fn show(
    forecasts: &[Forecast<'_>],
    arguments: &RankOutlookArguments,
    out: &mut impl Write,
) -> Result<(), CliError> {
    let judged = forecasts.iter().any(|forecast| forecast.truth.is_some());
    let percent = 100.0 * arguments.recall;
    let below: Vec<String> = arguments
        .at
        .iter()
        .map(|rank| format!("below {rank}"))
        .collect();
    let stop = format!("{percent} %");
    let sure = format!("{} % sure", 100.0 * arguments.certainty);
    let mut header = vec!["query", "documents", "expected"];
    header.extend(below.iter().map(String::as_str));
    header.extend([stop.as_str(), sure.as_str()]);
    if judged {
        header.extend(["relevant", "recall", "recall if sure"]);
    }
    let mut lines = table(&header, 1);
    for forecast in forecasts {
        let mut row = vec![
            forecast.query.id().to_owned(),
            forecast.documents.to_string(),
            format!("{:.1}", forecast.expected),
        ];
        row.extend(forecast.below.iter().map(|left| format!("{left:.1}")));
        row.extend([forecast.stop.to_string(), forecast.sure_stop.to_string()]);
        if judged {
            let recall =
                |found, all| share(found, all).map_or("-".to_owned(), |r| format!("{r:.2}"));
            row.extend(match forecast.truth {
                Some([all, stop, sure]) => [all.to_string(), recall(stop, all), recall(sure, all)],
                None => ["-", "-", "-"].map(str::to_owned),
            });
        }
        lines.add_row(row);
    }
    writeln!(out, "{lines}")?;
    let documents: usize = forecasts.iter().map(|f| f.documents).sum();
    let sum = |of: fn(&Forecast<'_>) -> usize| forecasts.iter().map(of).sum::<usize>();
    writeln!(
        out,
        "\nto find {percent} % of the relevant documents of each query: {} of {documents} to read, or {} to be {} % sure of it",
        sum(|forecast| forecast.stop),
        sum(|forecast| forecast.sure_stop),
        100.0 * arguments.certainty,
    )?;
    if judged {
        let known: Vec<&[usize; 3]> = forecasts.iter().filter_map(|f| f.truth.as_ref()).collect();
        let with: Vec<_> = known.iter().filter(|truth| truth[0] > 0).collect();
        let enough = |place: usize| {
            let reached =
                |truth: &&&&[usize; 3]| truth[place] as f64 >= arguments.recall * truth[0] as f64;
            with.iter().filter(reached).count()
        };
        writeln!(
            out,
            "of {} judged queries that list relevant documents, {} reach it there, {} where it is sure",
            with.len(),
            enough(1),
            enough(2)
        )?;
    }
    Ok(())
}
