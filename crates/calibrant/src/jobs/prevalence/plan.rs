//! Which documents to label, so that shares are known closely enough.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::PrevalenceJobError;
use super::pool::Pool;
use crate::Progress;
use crate::corpus::{Document, LabelNeed, ReadOptions, Source, read_batches};
use crate::decision::{PlanSettings, PrevalenceSettings, SamplePlan, draw_sample, plan_sample};
use crate::jobs::{PlainTable, Predictor};
use crate::numeric::stable_hash;
use crate::text::FIELD_BREAK;

/// What is asked of a sample.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SamplePlanSettings {
    /// The width that intervals should have at most, from end to end.
    pub width: f64,
    /// The class whose share is wanted; strata are made by its probabilities. Without one, the sample is a simple random one, large
    /// enough for every class.
    pub class: Option<String>,
    /// At most so many strata; 1 is a simple random sample.
    pub strata: usize,
    /// How shares will be found.
    pub prevalence: PrevalenceSettings,
    /// The seed of the draw.
    pub seed: u64,
}

/// A sample to label, and what is expected of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PlanReport {
    /// Documents of the pool.
    pub documents: usize,
    /// The class that the plan is made for: the one that was asked for, or the one that needs most labels.
    pub class: String,
    /// The width that was asked for.
    pub width: f64,
    /// How many documents to label, and where.
    pub plan: SamplePlan,
}

/// How a row of a planned sample says from where it was drawn: number, strata, least probability, documents, labels, class.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct StratumMark {
    number: usize,
    strata: usize,
    from: f64,
    documents: usize,
    labels: usize,
    class: String,
}

impl StratumMark {
    /// The column of the sample.
    pub(super) const COLUMN: &'static str = "stratum";

    fn text(&self) -> String {
        format!(
            "{} of {} from {}: {} of {} of {}",
            self.number, self.strata, self.from, self.labels, self.documents, self.class
        )
    }

    fn parse(text: &str) -> Option<Self> {
        let (number, rest) = text.split_once(" of ")?;
        let (strata, rest) = rest.split_once(" from ")?;
        let (from, rest) = rest.split_once(": ")?;
        let (labels, rest) = rest.split_once(" of ")?;
        let (documents, class) = rest.split_once(" of ")?;
        Some(Self {
            number: number.trim().parse().ok()?,
            strata: strata.parse().ok()?,
            from: from.parse().ok()?,
            labels: labels.parse().ok()?,
            documents: documents.parse().ok()?,
            class: class.to_owned(),
        })
    }

    /// The strata of the pool and of a sample whose rows are marked, held against the pool. `None` where no row is marked, and for one
    /// stratum.
    #[allow(clippy::type_complexity)] // Two lists, or none, or an error.
    pub(super) fn strata(
        rows: &[(u64, Option<&str>)],
        places: &[usize],
        pool: &Pool<'_>,
        file: &str,
    ) -> Result<Option<(Vec<u32>, Vec<u32>)>, PrevalenceJobError> {
        if rows.iter().all(|(_, cell)| cell.is_none()) {
            return Ok(None);
        }
        let wrong = |line: u64, reason: &str| PrevalenceJobError::OtherPlan {
            file: file.to_owned(),
            line,
            reason: reason.to_owned(),
        };
        let mut marks: BTreeMap<usize, (Self, usize)> = BTreeMap::new();
        for &(line, cell) in rows {
            let mark = cell.and_then(Self::parse);
            let mark = mark.ok_or_else(|| wrong(line, "the stratum is not as it was written"))?;
            let (kept, count) = marks.entry(mark.number).or_insert((mark.clone(), 0));
            if *kept != mark {
                return Err(wrong(
                    line,
                    "rows of one stratum say different things of it",
                ));
            }
            *count += 1;
        }
        let first = rows.first().map_or(1, |row| row.0);
        let strata = marks.values().next().map_or(0, |(mark, _)| mark.strata);
        let class = marks.values().next().map(|(mark, _)| mark.class.clone());
        let class = class.unwrap_or_default();
        let complete = marks.keys().copied().eq(1..=strata)
            && marks.values().all(|(mark, count)| {
                mark.labels == *count && mark.strata == strata && mark.class == class
            });
        if !complete {
            let reason =
                "rows of the sample that was drawn are missing: without them it is not random";
            return Err(wrong(first, reason));
        }
        let number = pool.model.class_names().position(|name| name == class);
        let Some(number) = number else {
            return Err(PrevalenceJobError::NoClass { class });
        };
        let cuts: Vec<f64> = marks.values().skip(1).map(|(mark, _)| mark.from).collect();
        let of_pool: Vec<u32> = pool
            .stated_of(number)
            .iter()
            .map(|stated| cuts.iter().take_while(|&cut| cut <= stated).count() as u32)
            .collect();
        let mut sizes = vec![0; strata];
        of_pool
            .iter()
            .for_each(|&stratum| sizes[stratum as usize] += 1);
        let of_sample: Vec<u32> = places.iter().map(|&place| of_pool[place]).collect();
        let same_sizes = marks
            .values()
            .zip(&sizes)
            .all(|((mark, _), size)| mark.documents == *size);
        let marked = rows.iter().filter_map(|(_, cell)| Self::parse((*cell)?));
        let same_places = marked
            .zip(&of_sample)
            .all(|(mark, &stratum)| mark.number == stratum as usize + 1);
        if !(same_sizes && same_places) {
            let reason = "the strata are not those of this pool and this model";
            return Err(wrong(first, reason));
        }
        // One stratum is a simple random sample.
        Ok((strata > 1).then_some((of_pool, of_sample)))
    }
}

impl Pool<'_> {
    /// How many documents to label, and which. The source is read again for their texts: a table with an empty label, which
    /// [`Self::estimate`] takes when it is filled in.
    pub fn plan(
        &self,
        source: &Source,
        options: &ReadOptions,
        settings: &SamplePlanSettings,
        progress: &dyn Progress,
    ) -> Result<(PlanReport, PlainTable), PrevalenceJobError> {
        let names: Vec<&str> = self.model.class_names().collect();
        let asked = settings.class.as_ref();
        let candidates: Vec<usize> = match asked {
            Some(class) => {
                let found = names.iter().position(|name| name == class);
                let class = class.clone();
                vec![found.ok_or(PrevalenceJobError::NoClass { class })?]
            }
            // Two exclusive classes have the same interval.
            None if names.len() == 2 && self.model.task() == crate::Task::SingleLabel => vec![1],
            None => (0..names.len()).collect(),
        };
        let how = PlanSettings {
            width: settings.width,
            prevalence: settings.prevalence,
            strata: if candidates.len() == 1 {
                settings.strata
            } else {
                1
            },
            seed: settings.seed,
            ..PlanSettings::default()
        };
        let mut best: Option<(usize, SamplePlan)> = None;
        for class in candidates {
            let plan = plan_sample(&self.stated_of(class), names.len(), &how)?;
            if best
                .as_ref()
                .is_none_or(|(_, best)| plan.labels > best.labels)
            {
                best = Some((class, plan));
            }
        }
        let Some((class, mut plan)) = best else {
            return Err(crate::decision::PrevalenceError::NoDocuments.into());
        };
        let stated = self.stated_of(class);
        shorten_cuts(&mut plan, &stated);
        let strata: Vec<u32> = stated.iter().map(|&stated| plan.stratum(stated)).collect();
        let keys: Vec<u64> = self
            .keys
            .iter()
            .map(|key| stable_hash(key.text().as_bytes()))
            .collect();
        let drawn = draw_sample(&keys, &strata, &plan.labels_by_stratum(), settings.seed);
        let marks = marks(&plan, names[class]);
        let table = self.to_label(source, options, &drawn, &strata, &marks, progress)?;
        let report = PlanReport {
            documents: self.keys.len(),
            class: names[class].to_owned(),
            width: settings.width,
            plan,
        };
        Ok((report, table))
    }

    /// The drawn documents with their texts and an empty label.
    fn to_label(
        &self,
        source: &Source,
        options: &ReadOptions,
        drawn: &[usize],
        strata: &[u32],
        marks: &[String],
        progress: &dyn Progress,
    ) -> Result<PlainTable, PrevalenceJobError> {
        let mut options = options.clone();
        options.labels_required = LabelNeed::Ignored;
        options.fields = options
            .fields
            .completed_by(&Predictor::new(self.model).fields());
        options.fields.weight = None;
        let text = match options.fields.text.as_slice() {
            [] => vec!["text".to_owned()],
            names => names.to_vec(),
        };
        let key = self.keys.first().map_or("row", |key| key.column());
        // Called as it was asked for, so that the same options find it again.
        let label = options.fields.label.clone();
        let label = label.unwrap_or_else(|| self.model.fields().label_name().to_owned());
        let mut header = vec![key.to_owned()];
        header.extend(text.iter().cloned());
        header.push(label);
        header.extend((!marks.is_empty()).then(|| StratumMark::COLUMN.to_owned()));
        let mut rows = Vec::with_capacity(drawn.len());
        let mut next = drawn.iter().copied().peekable();
        let mut place = 0;
        let mut take = |document: Document| {
            if next.peek() == Some(&place) {
                next.next();
                let mut row = vec![self.keys[place].text().into_owned().into()];
                let said = document.content.as_text().unwrap_or_default().to_owned();
                let mut parts = said.split(FIELD_BREAK).map(|part| part.trim_matches('\n'));
                row.extend(text.iter().map(|_| parts.next().unwrap_or_default().into()));
                row.push("".into());
                let mark = marks.get(strata[place] as usize);
                row.extend(mark.map(|mark| mark.as_str().into()));
                rows.push(row);
            }
            place += 1;
        };
        read_batches(
            source,
            &options,
            progress,
            |documents| documents,
            |documents: Vec<Document>| documents.into_iter().for_each(&mut take),
        )?;
        Ok(PlainTable { header, rows })
    }
}

/// What rows of each stratum carry; a simple random sample is one of one stratum.
fn marks(plan: &SamplePlan, class: &str) -> Vec<String> {
    let strata = plan.strata.len();
    let mark = |(number, stratum): (usize, &crate::decision::PlannedStratum)| {
        let mark = StratumMark {
            number: number + 1,
            strata,
            from: stratum.from,
            documents: stratum.documents,
            labels: stratum.labels,
            class: class.to_owned(),
        };
        mark.text()
    };
    plan.strata.iter().enumerate().map(mark).collect()
}

/// Cuts with few digits between the same documents, so that tables and people carry them over as they are.
fn shorten_cuts(plan: &mut SamplePlan, stated: &[f64]) {
    for stratum in plan.strata.iter_mut().skip(1) {
        let below = stated
            .iter()
            .copied()
            .filter(|&stated| stated < stratum.from);
        let below = below.fold(f64::NEG_INFINITY, f64::max);
        let short = (1..16).find_map(|digits| {
            let text = format!("{:.digits$e}", stratum.from);
            let cut: f64 = text.parse().ok()?;
            (cut > below && cut <= stratum.from).then_some(cut)
        });
        stratum.from = short.unwrap_or(stratum.from);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_are_read_as_they_are_written() {
        let mark = StratumMark {
            number: 2,
            strata: 4,
            from: 0.0341,
            documents: 812,
            labels: 40,
            class: "late: of all of us from afar".to_owned(),
        };
        assert_eq!(StratumMark::parse(&mark.text()), Some(mark));
        for bad in [
            "",
            "2",
            "2 of 4",
            "x of 4 from 0.1: 2 of 3 of a",
            "2 of 4 from a: 2 of 3 of a",
        ] {
            assert_eq!(StratumMark::parse(bad), None, "{bad}");
        }
    }
}
