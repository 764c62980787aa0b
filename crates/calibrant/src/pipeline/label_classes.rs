//! Labels of training documents to classes.

use std::collections::BTreeMap;

use super::FitSettings;
use super::training_corpus::TrainingCorpus;
use crate::corpus::{alike_labels, folded_label, unique_labels};
use crate::{FitError, Task};

impl TrainingCorpus {
    /// How many documents have each label.
    fn label_counts(&self) -> Vec<(&str, usize)> {
        let mut counts = vec![0; self.label_names.len()];
        for labels in self.labels.iter() {
            for &label in labels {
                counts[label as usize] += 1;
            }
        }
        let names = self.label_names.iter().map(String::as_str);
        names.zip(counts).collect()
    }

    /// Where most documents have a label of their own, the field is hardly one of classes.
    pub(super) fn refuse_unique_labels(
        &self,
        settings: &FitSettings,
        task: Task,
    ) -> Result<(), FitError> {
        if task == Task::MultiLabel || settings.allow_unique_labels || settings.classes.is_some() {
            return Ok(());
        }
        let counts = self.label_counts();
        let Some(kind) = unique_labels(counts.iter().copied()) else {
            return Ok(());
        };
        let mut singles: Vec<&str> = counts
            .iter()
            .filter(|&&(_, count)| count == 1)
            .map(|&(label, _)| label)
            .collect();
        singles.sort_unstable();
        let shorten = |label: &&str| label.chars().take(40).collect();
        Err(FitError::UniqueLabels {
            labels: counts.len(),
            documents: counts.iter().map(|(_, count)| count).sum(),
            singles: singles.len(),
            examples: singles.iter().take(3).map(shorten).collect(),
            kind,
        })
    }

    /// For each label the class that it is the name of, if that was asked for; with `fold` also those that are spelt alike.
    pub(super) fn classes_of_labels(&self, class_names: &[String], fold: bool) -> Vec<Option<u32>> {
        let key = |label: &str| match fold {
            true => folded_label(label),
            false => label.to_owned(),
        };
        let classes = class_names.iter().zip(0..);
        let class_numbers: BTreeMap<String, u32> =
            classes.map(|(name, number)| (key(name), number)).collect();
        self.label_names
            .iter()
            .map(|name| class_numbers.get(&key(name)).copied())
            .collect()
    }

    /// The labels as they are spelt most often, in order.
    fn spellings(&self, fold: bool) -> Vec<String> {
        if !fold {
            return self.label_numbers.keys().cloned().collect();
        }
        let sets = alike_labels(self.label_counts());
        let mut names: Vec<String> = sets.iter().map(|set| set[0].to_owned()).collect();
        names.sort_unstable();
        names
    }

    /// The classes, in the order of their names.
    pub(super) fn class_names(&self, settings: &FitSettings) -> Result<Vec<String>, FitError> {
        if self.label_names.is_empty() {
            return Err(FitError::NoLabels {
                documents: self.labels.len(),
            });
        }
        let there = self.spellings(settings.fold_labels);
        let Some(wanted) = &settings.classes else {
            return Ok(there);
        };
        let mut names = Vec::new();
        for class in wanted {
            let same = |name: &&String| match settings.fold_labels {
                true => folded_label(name) == folded_label(class),
                false => *name == class,
            };
            let Some(found) = there.iter().find(same) else {
                let available: Vec<&str> = there.iter().take(20).map(String::as_str).collect();
                let more = if there.len() > 20 { ", …" } else { "" };
                let available = format!("{}{more}", available.join(", "));
                return Err(FitError::UnknownClass {
                    class: class.clone(),
                    available,
                });
            };
            names.push(found.clone());
        }
        names.sort_unstable();
        names.dedup();
        Ok(names)
    }
}
