//! Which options belong to which learners: one that no learner in play takes is refused, not ignored.

use calibrant::pipeline::Classifier;
use calibrant::scorers::LearnerName;
use clap::ArgMatches;
use clap::parser::ValueSource;

use super::LearningArguments;
use crate::error::CliError;

/// Whether a learner takes some options.
type Takes = fn(&Classifier) -> bool;

/// The options that only some learners take, by their names for clap.
const OPTIONS: [(&[&str], Takes); 7] = [
    (&["c", "tolerance", "max_passes"], |learner| {
        let logistic = matches!(learner, Classifier::LogisticRegression(_));
        logistic || matches!(learner, Classifier::LinearSvm(_))
    }),
    (&["loss", "log_count_ratio"], |learner| {
        matches!(learner, Classifier::LinearSvm(_))
    }),
    (&["alpha", "word_prior"], |learner| {
        matches!(learner, Classifier::NaiveBayes(_))
    }),
    (&["nearness"], |learner| {
        matches!(learner, Classifier::Rocchio(_))
    }),
    (&["rounds", "boosting"], |learner| {
        matches!(learner, Classifier::AdaBoost(_))
    }),
    (&["neighbours", "vote", "approximate"], |learner| {
        matches!(learner, Classifier::NearestNeighbours(_))
    }),
    (&["epochs", "voted"], |learner| {
        matches!(learner, Classifier::Perceptron(_))
    }),
];

/// Refuses options that were given, and that neither the learner nor any learner that a search tries would take.
pub(crate) fn check(
    given: &ArgMatches,
    learning: &LearningArguments,
    searches: bool,
) -> Result<(), CliError> {
    let in_play: Vec<Classifier> = match searches {
        true => {
            let contenders = learning.contenders().into_iter();
            contenders.map(|contender| contender.classifier).collect()
        }
        false => vec![learning.classifier()],
    };
    let is_given = |id: &&&str| given.value_source(id) == Some(ValueSource::CommandLine);
    for (ids, takes) in OPTIONS {
        let Some(id) = ids.iter().find(is_given) else {
            continue;
        };
        if in_play.iter().any(takes) {
            continue;
        }
        let option = format!("--{}", id.replace('_', "-"));
        let takers = LearnerName::all().into_iter();
        let takers = takers.filter(|learner| takes(&learner.classifier()));
        let takers: Vec<&str> = takers.map(|learner| learner.name()).collect();
        let takers = takers.join(" or ");
        let instead = match (searches, learning.classifier) {
            (true, None) => "which --search does not try by itself".to_owned(),
            (_, Some(asked)) => format!("not for {}", asked.name()),
            (_, None) => "not for svm, the default".to_owned(),
        };
        return Err(
            CliError::new(format!("{option} is for --classifier {takers}, {instead}"))
                .hint(format!("leave out {option}, or use --classifier {takers}")),
        );
    }
    Ok(())
}
