//! `calibrant rank outlook`: how much is left to find, and where to stop reading.

use std::io::Write;

use calibrant::evaluation::ranking::NotAProbability;
use calibrant::jobs::rankings::{
    OutlookSettings, OutlookTruth, QueryOutlook, QuerySpreads, SpreadOrigin, outlook,
};
use calibrant::ranking::{Qrels, Run};

use super::reading::source;
use crate::arguments::RankOutlookArguments;
use crate::error::CliError;
use crate::output::{note, print_json, stdout, warn};
use crate::table::table;

pub(crate) fn run(arguments: &RankOutlookArguments) -> Result<(), CliError> {
    let run = Run::read(&source(&arguments.run))?;
    let qrels = match &arguments.qrels {
        Some(path) => Some(Qrels::read(&source(path))?),
        None => None,
    };
    let spreads = match &arguments.model {
        Some(path) => QuerySpreads::open(path)?,
        None => QuerySpreads::Usual,
    };
    let settings = OutlookSettings {
        recall: arguments.recall,
        certainty: arguments.certainty,
        at: arguments.at.clone(),
        relevant_from: arguments.relevant_from,
    };
    let refused = |error: NotAProbability| {
        CliError::new(format!("{}, {error}", arguments.run))
            .hint("`rank predict --run --probabilities` writes probabilities as scores")
    };
    let found = outlook(&run, qrels.as_ref(), &spreads, &settings).map_err(refused)?;
    tell_origin(&spreads, &found);
    if qrels.is_some() {
        tell_truth(&found);
    }
    if arguments.json {
        return print_json(&found);
    }
    let mut out = stdout();
    show(&found, &settings, &mut out)?;
    Ok(out.flush()?)
}

/// Says what certainties rest on.
fn tell_origin(spreads: &QuerySpreads, found: &[QueryOutlook]) {
    let usual = |one: &&QueryOutlook| one.certainty_from == SpreadOrigin::Default;
    let count = found.iter().filter(usual).count();
    let default = "a default learned on the queries of other collections (Cranfield, MED, OHSUMED, MQ2007-agg)";
    match spreads {
        QuerySpreads::Usual => note(&format!(
            "the confidence of a stop is based on {default}; --model bases it on the model behind these probabilities"
        )),
        QuerySpreads::Ranker(Some(_)) => {
            note("the confidence of a stop is based on the ranker's held-out queries");
        }
        QuerySpreads::Ranker(None) => warn(&format!(
            "the ranker does not record the uncertainty of its probabilities (too few queries, or an older version); the confidence of a stop is based on {default}"
        )),
        QuerySpreads::Classifier(_) if count == 0 => {
            note("the confidence of a stop is based on the classifier's held-out documents");
        }
        QuerySpreads::Classifier(_) => warn(&format!(
            "for {count} queries the classifier has no class of that name with recorded uncertainty; the confidence of their stop is based on {default}"
        )),
    }
}

/// Says what is not in the figures of what came true.
fn tell_truth(found: &[QueryOutlook]) {
    let unjudged = found.iter().filter(|one| one.truth.is_none()).count();
    if unjudged > 0 {
        note(&format!(
            "{unjudged} queries without any judgement are left out of the observed counts"
        ));
    }
    let known = found.iter().filter_map(|one| one.truth);
    let missed: usize = known.map(|truth| truth.unlisted).sum();
    if missed > 0 {
        note(&format!(
            "{missed} relevant documents are not in the run and count neither as expected nor as missed: recall covers the listed ones only"
        ));
    }
}

fn show(
    forecasts: &[QueryOutlook],
    settings: &OutlookSettings,
    out: &mut impl Write,
) -> Result<(), CliError> {
    let judged = forecasts.iter().any(|forecast| forecast.truth.is_some());
    let percent = 100.0 * settings.recall;
    let below: Vec<String> = settings
        .at
        .iter()
        .map(|rank| format!("below {rank}"))
        .collect();
    let stop = format!("{percent} %");
    let sure = format!("{} % sure", 100.0 * settings.certainty);
    let mut header = vec!["query", "documents", "expected"];
    header.extend(below.iter().map(String::as_str));
    header.extend([stop.as_str(), sure.as_str()]);
    if judged {
        header.extend(["relevant", "recall", "recall if sure"]);
    }
    let mut lines = table(&header, 1);
    for forecast in forecasts {
        let mut row = vec![
            forecast.query.clone(),
            forecast.documents.to_string(),
            format!("{:.1}", forecast.expected_relevant),
        ];
        let below = forecast.expected_below.iter();
        row.extend(below.map(|(_, left)| format!("{left:.1}")));
        row.extend([forecast.stop.to_string(), forecast.sure_stop.to_string()]);
        if judged {
            let recall =
                |share: Option<f64>| share.map_or("-".to_owned(), |share| format!("{share:.2}"));
            row.extend(match forecast.truth {
                Some(truth) => [
                    truth.relevant_listed.to_string(),
                    recall(truth.recall_at_stop),
                    recall(truth.recall_at_sure_stop),
                ],
                None => ["-", "-", "-"].map(str::to_owned),
            });
        }
        lines.add_row(row);
    }
    writeln!(out, "{lines}")?;
    let documents: usize = forecasts.iter().map(|f| f.documents).sum();
    let sum = |of: fn(&QueryOutlook) -> usize| forecasts.iter().map(of).sum::<usize>();
    writeln!(
        out,
        "\nto find {percent} % of the relevant documents of each query: {} of {documents} to read, or {} to be {} % sure of it",
        sum(|forecast| forecast.stop),
        sum(|forecast| forecast.sure_stop),
        100.0 * settings.certainty,
    )?;
    if judged {
        let known = forecasts.iter().filter_map(|forecast| forecast.truth);
        let with: Vec<OutlookTruth> = known.filter(|truth| truth.relevant_listed > 0).collect();
        let enough = |found: fn(&OutlookTruth) -> usize| {
            let reached = |truth: &&OutlookTruth| {
                found(truth) as f64 >= settings.recall * truth.relevant_listed as f64
            };
            with.iter().filter(reached).count()
        };
        writeln!(
            out,
            "of {} judged queries that list relevant documents, {} reach it there, {} where it is sure",
            with.len(),
            enough(|truth| truth.found_at_stop),
            enough(|truth| truth.found_at_sure_stop)
        )?;
    }
    Ok(())
}
