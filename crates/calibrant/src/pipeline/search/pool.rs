//! What a search found as one model.

use super::held_out::Answer;
use super::kept::Kept;
use crate::FitError;
use crate::calibration::{CalibrationNote, CalibratorKind, LogOddsPool};
use crate::corpus::Fields;
use crate::evaluation::{Forecasts, evaluate_without_chance};
use crate::pipeline::class_spread::spreads_of_classes;
use crate::pipeline::fit::check_survives;
use crate::pipeline::summary::shape_of;
use crate::pipeline::{
    ClassSummary, CombinedMember, CombinedModel, HeldOutMeasures, Model, PromiseTables,
    TrainingSummary,
};

/// What is served instead of the default, and what is known of it.
pub(super) struct Served {
    pub(super) answer: Answer,
    /// What it says of the documents that decided its weights, each by weights of the others.
    pub(super) stated: Forecasts,
    /// By row of `stated`: what it belongs to.
    pub(super) units: Vec<u32>,
    /// What is expected of it: what documents were told by answers that they had no say in, where there are such.
    pub(super) expected: Option<Forecasts>,
}

impl Served {
    /// The answer as a model, one fit alone or several as a pool, with what is expected of it.
    pub(super) fn model(self, kept: Vec<Kept>, fields: Fields) -> Result<Model, FitError> {
        let Answer { members, pool } = self.answer.clone();
        let kept = (0..).zip(kept);
        let kept = kept.filter(|(place, _)| members.contains(place));
        let mut models: Vec<CombinedMember> = Vec::new();
        for (_, kept) in kept {
            models.push(CombinedMember {
                name: kept.name,
                log_loss: kept.log_loss,
                model: kept.model.ok_or(FitError::NoDocuments)?,
            });
        }
        if models.len() > 1 {
            return Ok(Model::from(self.combined(models, pool, fields)?));
        }
        let only = models.pop().ok_or(FitError::NoDocuments)?;
        let mut model = Model::from(only.model);
        model.summary_mut().held_out = self.measures()?;
        Ok(model)
    }

    fn combined(
        &self,
        mut members: Vec<CombinedMember>,
        pool: LogOddsPool,
        fields: Fields,
    ) -> Result<CombinedModel, FitError> {
        // All learned from the same documents: one filter of them will do.
        let mut known = false;
        for member in &mut members {
            let keys = &mut member.model.training_keys;
            *keys = keys.take().filter(|_| !known);
            known |= keys.is_some();
        }
        let first = members.first().ok_or(FitError::NoDocuments)?;
        let features = members.iter().map(|member| member.model.summary().features);
        let summary = TrainingSummary {
            features: features.sum(),
            multiclass: None,
            known_documents: None,
            weightings: Vec::new(),
            costs: Vec::new(),
            ..self.summary(first.model.summary())?
        };
        check_survives(&summary)?;
        check_survives(&pool)?;
        let promises = PromiseTables::kept(&self.stated, &summary);
        let combined = CombinedModel {
            members,
            pool,
            fields: Fields {
                group: None,
                ..fields
            },
            summary,
            training_keys: None,
            promises: None,
            recalibration: None,
            recalibration_keys: Vec::new(),
        };
        Ok(combined.with_promises(promises))
    }

    fn measures(&self) -> Result<HeldOutMeasures, FitError> {
        let expected = self.expected.as_ref().unwrap_or(&self.stated);
        let measured = evaluate_without_chance(expected)?;
        Ok(HeldOutMeasures::from(&measured))
    }

    /// As that of a member, with what is expected of the pool.
    fn summary(&self, of_member: &TrainingSummary) -> Result<TrainingSummary, FitError> {
        let mut rows_of = vec![Vec::new(); of_member.classes.len()];
        for (row, labels) in (0..).zip(self.stated.labels.iter()) {
            for &label in labels {
                rows_of[label as usize].push(row);
            }
        }
        let spreads = spreads_of_classes(&self.stated, &rows_of, &self.units);
        let classes = of_member.classes.iter().zip(spreads);
        let classes = classes.map(|(class, spread)| ClassSummary {
            calibrator: CalibratorKind::None,
            calibration: CalibrationNote::Joint,
            own_weight: None,
            tried: Vec::new(),
            spread,
            convergence: None,
            ..class.clone()
        });
        Ok(TrainingSummary {
            classes: classes.collect(),
            held_out: self.measures()?,
            held_out_shape: shape_of(&self.stated),
            ..of_member.clone()
        })
    }
}
