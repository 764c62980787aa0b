//! The first screen of a page: how many, how right, how sure, what to do, in plain words.

use super::html::{measure, paragraph, per_cent, section, whole};
use super::{AnsweredShares, Report};
use crate::Task;
use crate::evaluation::{Evaluation, Interval};
use crate::plot::{Block, Section};

fn number(name: impl Into<String>, value: impl Into<String>) -> (String, String) {
    (name.into(), value.into())
}

pub(super) fn first_screen(report: &Report) -> Section {
    let (evaluation, answers) = (&report.evaluation, &report.answers);
    let mut numbers = vec![number("documents", whole(evaluation.documents))];
    if answers.of_unknown_labels > 0 {
        numbers.push(number(
            "further documents with labels that the model does not know",
            whole(answers.of_unknown_labels),
        ));
    }
    let exactly = answers.whole().and_then(|all| all.accuracy);
    let right = evaluation.accuracy.or(exactly);
    // Those with labels that the model does not know are answered, too.
    let documents = evaluation.documents + answers.of_unknown_labels;
    let right_name = match evaluation.task {
        Task::SingleLabel if answers.of_unknown_labels > 0 => {
            "answers that are right, of those with known labels"
        }
        Task::SingleLabel => "answers that are right",
        Task::MultiLabel => "documents with all labels right",
    };
    numbers.extend(right.map(|right| number(right_name, per_cent(right))));
    if let Some(errors) = evaluation.further.as_ref().map(|f| &f.error_likelihood) {
        numbers.push(number("mistakes made", whole(evaluation.errors)));
        let expected = format!("{:.0} ± {:.0}", errors.expected, errors.deviation);
        numbers.push(number("mistakes that it expected to make", expected));
    }
    if let Some((target, share)) = answers
        .advice()
        .and_then(|a| Some((a.accuracy, a.answered?)))
    {
        let name = format!(
            "could be answered by machine, {} right in this test",
            accuracy(target)
        );
        numbers.push(number(name, per_cent(share)));
        let left = ((1.0 - share) * documents as f64).round() as usize;
        numbers.push(number("documents that deserve a look", whole(left)));
    }
    let mut blocks = Vec::new();
    blocks.extend(report.made.as_ref().map(paragraph));
    blocks.push(Block::Numbers(numbers));
    blocks.push(paragraph(how_right(evaluation, right)));
    blocks.extend(how_sure(evaluation).map(paragraph));
    blocks.push(paragraph(what_to_do(answers, documents)));
    blocks.extend(answers.unknown_labels_sentence().map(paragraph));
    blocks.extend(what_it_costs(evaluation).map(paragraph));
    blocks.extend(report.notes.iter().map(paragraph));
    section("In short", blocks)
}

/// 99.5 %, 98 %.
pub(super) fn accuracy(share: f64) -> String {
    let text = format!("{:.1}", 100.0 * share);
    format!("{} %", text.trim_end_matches(".0"))
}

fn how_right(evaluation: &Evaluation, right: Option<f64>) -> String {
    let documents = match evaluation.documents {
        1 => "1 document".to_owned(),
        more => format!("{} documents", whole(more)),
    };
    let bootstrap = evaluation
        .further
        .as_ref()
        .and_then(|f| f.bootstrap.as_ref());
    let between = |interval: Option<&Interval>| match interval {
        Some(found) => format!(
            "; of more documents like these, between {} and {}",
            per_cent(found.lower),
            per_cent(found.upper)
        ),
        None => String::new(),
    };
    match evaluation.accuracy {
        Some(share) => format!(
            "Of {documents} {} were given the right label{}.",
            per_cent(share),
            between(bootstrap.and_then(|all| all.accuracy.as_ref()))
        ),
        None => format!(
            "Of {documents} {} were given exactly their labels; of all single decisions, {} of {} were wrong.",
            right.map_or_else(|| "–".to_owned(), per_cent),
            whole(evaluation.errors),
            whole(evaluation.decisions)
        ),
    }
}

/// Whether the number of mistakes is what the probabilities announced.
fn how_sure(evaluation: &Evaluation) -> Option<String> {
    let errors = &evaluation.further.as_ref()?.error_likelihood;
    let found = format!(
        "They announced {:.0} mistakes, give or take {:.0}, and there were {}.",
        errors.expected, errors.deviation, evaluation.errors
    );
    let verdict = match errors.z? {
        z if z > 2.0 => {
            "The probabilities are too sure of themselves here: do not act on them before they are corrected with new labels."
        }
        z if z < -2.0 => "The probabilities are more careful than they need be.",
        _ => "Nothing here speaks against the probabilities.",
    };
    Some(format!("{verdict} {found}"))
}

fn what_to_do(answers: &AnsweredShares, documents: usize) -> String {
    let Some(all) = answers.whole() else {
        return "There is nothing to answer.".to_owned();
    };
    let advice = answers.advice();
    let reached = advice.and_then(|a| Some((a.accuracy, a.answered?, a.threshold?, a.lower?)));
    match reached {
        Some((target, share, ..)) if share >= 1.0 => format!(
            "All documents can be answered by machine: {} of the answers are right, at least the {} that one may want.",
            per_cent(all.accuracy.unwrap_or(all.stated)),
            accuracy(target)
        ),
        Some((target, share, threshold, lower)) => {
            let left = ((1.0 - share) * documents as f64).round() as usize;
            format!(
                "Answer {} of the documents by machine, those with a probability of {} or more: {} of these answers are right in this test, at least {} by \
                 its 95 % interval (the probability was chosen on the same documents: others will show a little less). The other {} deserve a look by a person.",
                per_cent(share),
                measure(threshold),
                accuracy(target),
                per_cent(lower),
                whole(left)
            )
        }
        None => "Let a person look at every answer: there is no share of the documents, thirty or more, of which nine in ten answers are right."
            .to_owned(),
    }
}

fn what_it_costs(evaluation: &Evaluation) -> Option<String> {
    let costs = evaluation.further.as_ref()?.costs.as_ref()?;
    Some(format!(
        "With the costs that were given, decisions by the probabilities cost {} each on average; always giving the likeliest answer costs {}, always “{}” {}.",
        measure(costs.mean_cost),
        measure(costs.mean_cost_of_most_probable),
        costs.constant,
        measure(costs.mean_cost_of_constant)
    ))
}
