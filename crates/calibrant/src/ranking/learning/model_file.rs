//! Ranking models as files, in the same envelope as all models.

use std::sync::Arc;

use memmap2::Mmap;
use serde::{Deserialize, Serialize};

use super::{FeatureMap, RankModel, RankParameters, RankSummary};
use crate::ranking::Relevance;
use crate::saved::{
    self, NamedTensor, Saveable, SavedKind, SavedProblem, TensorReader, arrays_to_bytes,
    read_arrays, saved_in_files,
};

/// The part that is kept as JSON; its one key tells it from models of texts.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Envelope {
    ranking: Description,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Description {
    settings: RankParameters,
    functions: Vec<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    relevance: Option<Relevance>,
    summary: RankSummary,
}

saved_in_files!(RankModel, "ranking model");

impl Saveable for RankModel {
    const KIND: SavedKind = SavedKind::Ranking;

    fn write(&self) -> Result<Vec<u8>, SavedProblem> {
        let description = Envelope {
            ranking: Description {
                settings: self.settings.clone(),
                functions: self.map.columns().to_vec(),
                relevance: self.relevance.clone(),
                summary: self.summary.clone(),
            },
        };
        let functions = 0..self.map.columns().len();
        let thresholds: Vec<f32> = functions
            .clone()
            .flat_map(|function| self.map.thresholds(function))
            .copied()
            .collect();
        let mut end = 0;
        let ends: Result<Vec<u32>, _> = functions
            .map(|function| {
                end += self.map.thresholds(function).len();
                u32::try_from(end)
            })
            .collect();
        let ends = ends.map_err(SavedProblem::unsaveable)?;
        let standard: Vec<f64> = self.map.standard().iter().flatten().copied().collect();
        let tensors = vec![
            NamedTensor::vector("weights", &self.weights),
            NamedTensor::vector("thresholds", &thresholds),
            NamedTensor::vector("thresholds.ends", &ends),
            NamedTensor::vector("standard", &standard),
        ];
        arrays_to_bytes(Self::KIND, &saved::describe(&description)?, tensors)
    }

    fn read(map: &Arc<Mmap>) -> Result<Self, SavedProblem> {
        read_arrays(map, Self::KIND, |_, json, reader| {
            let envelope: Envelope = serde_json::from_str(json).map_err(saved::unreadable)?;
            Self::assemble(envelope.ranking, reader)
                .ok_or_else(|| SavedProblem::damaged("its parts do not fit together"))
        })
    }
}

impl RankModel {
    fn assemble(description: Description, reader: &TensorReader<'_>) -> Option<Self> {
        let Description {
            settings,
            functions,
            relevance,
            summary,
        } = description;
        settings.check().ok()?;
        let thresholds = reader.vector::<f32>("thresholds")?;
        let ends = reader.vector::<u32>("thresholds.ends")?;
        let mut start = 0;
        let mut lists = Vec::with_capacity(ends.len());
        for end in ends {
            lists.push(thresholds.get(start..end as usize)?.to_vec());
            start = end as usize;
        }
        (start == thresholds.len()).then_some(())?;
        let standard = reader.vector::<f64>("standard")?;
        let (pairs, rest) = standard.as_chunks::<2>();
        rest.is_empty().then_some(())?;
        let map = FeatureMap::from_parts(
            settings.effective_features(),
            functions,
            lists,
            pairs.to_vec(),
        )?;
        let weights = reader.vector::<f64>("weights")?;
        let fits = weights.len() == map.dimension() + usize::from(settings.loss.is_accuracy())
            && weights.iter().all(|weight| weight.is_finite())
            && settings.c.len() == summary.trials.len()
            && summary.chosen < summary.trials.len();
        fits.then_some(Self {
            settings,
            map,
            weights,
            summary,
            relevance,
        })
    }
}
