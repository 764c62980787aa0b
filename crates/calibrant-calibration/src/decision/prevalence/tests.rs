//! Coverage, widths and plans in small; the whole is run by the experiments.

use super::*;
use crate::RowLabels;
use crate::numeric::Random;

fn world(share: f64, separation: f64) -> PrevalenceWorld {
    PrevalenceWorld {
        documents: 4_000,
        share,
        separation,
        slope: 1.0,
        shift: 0.0,
        hard: false,
    }
}

/// Holds coverage against 94.5 %, less what 1,000 draws leave to chance (2.5 standard errors).
#[track_caller]
fn check_coverage(world: &PrevalenceWorld, labelled: usize, settings: &PrevalenceSettings) {
    let found = simulate_prevalence(world, labelled, settings, 1_000, 11);
    let coverage = found.coverage();
    assert!(
        coverage > 0.945 - 0.018,
        "{coverage} {world:?} {labelled} {settings:?}"
    );
}

#[test]
fn intervals_hold_the_truth_as_often_as_they_say() {
    let settings = PrevalenceSettings::default();
    for share in [0.005, 0.1, 0.4] {
        for separation in [0.0, 2.0, 4.0] {
            check_coverage(&world(share, separation), 150, &settings);
        }
        let too_sure = PrevalenceWorld {
            slope: 3.0,
            shift: 1.0,
            ..world(share, 2.0)
        };
        check_coverage(&too_sure, 60, &settings);
        let judge = PrevalenceWorld {
            hard: true,
            ..world(share, 4.0)
        };
        check_coverage(&judge, 150, &settings);
    }
    let reversed = PrevalenceWorld {
        slope: -1.0,
        ..world(0.3, 2.0)
    };
    check_coverage(&reversed, 200, &settings);
    let found = simulate_prevalence(&reversed, 200, &settings, 50, 1);
    assert_eq!(found.prediction_powered, 0);
    let source = PrevalenceSettings {
        target: PrevalenceTarget::Source,
        ..settings
    };
    check_coverage(&world(0.02, 3.0), 100, &source);
}

#[test]
fn predictions_make_intervals_narrower() {
    let settings = PrevalenceSettings::default();
    let found = simulate_prevalence(&world(0.3, 2.5), 1_000, &settings, 200, 3);
    assert!(found.correlation > 0.75);
    assert!(found.prediction_powered > 150, "{found:?}");
    assert!(found.powered_ratio < 0.7, "{found:?}");
    assert!(found.width < 0.7 * found.labels_alone_width);
}

#[test] // The case of the literature: PPI++ alone holds the truth in far fewer samples.
fn the_switch_is_needed_for_rare_classes() {
    let judge = PrevalenceWorld {
        hard: true,
        ..world(0.01, 5.0)
    };
    let method = PrevalenceMethod::PredictionPowered;
    let alone = PrevalenceSettings {
        method,
        ..PrevalenceSettings::default()
    };
    let found = simulate_prevalence(&judge, 200, &alone, 300, 5);
    assert!(found.coverage() < 0.85, "{}", found.coverage());
    check_coverage(&judge, 200, &PrevalenceSettings::default());
}

/// A pool of three classes with labels of some, and the design.
struct Case {
    stated: Vec<f64>,
    truth: Vec<u32>,
}

fn case(documents: usize) -> Case {
    let mut random = Random::from_seed(documents as u64);
    let (mut stated, mut truth) = (Vec::new(), Vec::new());
    for _ in 0..documents {
        let rare = 0.3 * random.uniform().powi(6);
        let second = (1.0 - rare) * random.uniform();
        stated.extend([rare, second, 1.0 - rare - second]);
        let draw = random.uniform();
        truth.push(u32::from(draw >= rare) + u32::from(draw >= rare + second));
    }
    Case { stated, truth }
}

impl Case {
    fn sample(&self, places: &[usize]) -> (Vec<f64>, RowLabels) {
        let rows = places
            .iter()
            .flat_map(|&place| &self.stated[3 * place..3 * place + 3]);
        let mut labels = RowLabels::new();
        places
            .iter()
            .for_each(|&place| labels.push([self.truth[place]]));
        (rows.copied().collect(), labels)
    }

    /// All documents with a simple random sample of them.
    fn pool<'a>(&'a self, sample: &'a [f64], labels: &'a RowLabels) -> LabelledPool<'a> {
        LabelledPool {
            classes: 3,
            pool: &self.stated,
            sample,
            labels,
            holds_sample: true,
            design: SampleDesign::SimpleRandom,
        }
    }
}

#[test]
fn a_sample_outside_the_pool_is_counted_with_it() {
    let case = case(1_000);
    let places: Vec<usize> = (0..100).collect();
    let (sample, labels) = case.sample(&places);
    let inside = case.pool(&sample, &labels);
    let outside = LabelledPool {
        pool: &case.stated[300..],
        holds_sample: false,
        ..inside
    };
    let settings = PrevalenceSettings::default();
    let found = estimate_prevalence(&inside, &settings).unwrap();
    assert_eq!(found, estimate_prevalence(&outside, &settings).unwrap());
    assert_eq!((found.documents, found.labelled), (1_000, 100));
    let kept: Prevalence = serde_json::from_str(&serde_json::to_string(&found).unwrap()).unwrap();
    assert_eq!(kept, found);
    for class in &found.classes {
        assert!(class.low <= class.share && class.share <= class.high);
        let (least, most) = class.counts(1_000);
        assert!(least <= most && least >= class.found.min(least));
    }
    let together = PrevalenceSettings {
        simultaneous: true,
        ..settings
    };
    let wider = estimate_prevalence(&inside, &together).unwrap();
    for (wide, class) in wider.classes.iter().zip(&found.classes) {
        assert!(wide.low <= class.low && wide.high >= class.high);
    }
}

#[test]
fn a_pool_that_was_read_whole_is_known() {
    let case = case(60);
    let places: Vec<usize> = (0..60).collect();
    let (sample, labels) = case.sample(&places);
    let pool = case.pool(&sample, &labels);
    for method in PrevalenceMethod::ALL {
        let settings = PrevalenceSettings {
            method,
            ..PrevalenceSettings::default()
        };
        for (class, found) in estimate_prevalence(&pool, &settings)
            .unwrap()
            .classes
            .iter()
            .enumerate()
        {
            let count = case
                .truth
                .iter()
                .filter(|&&label| label as usize == class)
                .count();
            let share = count as f64 / 60.0;
            assert!(
                (found.low - share).abs() < 1e-12 && (found.high - share).abs() < 1e-12,
                "{method} {found:?}"
            );
        }
    }
}

/// Plans, draws, labels and measures many times: how often the width was kept, and the truth held.
fn follow(plan: &SamplePlan, settings: &PlanSettings, case: &Case, class: usize) -> (usize, usize) {
    let stated: Vec<f64> = case.stated.iter().skip(class).step_by(3).copied().collect();
    let strata: Vec<u32> = stated.iter().map(|&f| plan.stratum(f)).collect();
    let keys: Vec<u64> = (0..stated.len() as u64).collect();
    let count = case
        .truth
        .iter()
        .filter(|&&label| label as usize == class)
        .count();
    let share = count as f64 / stated.len() as f64;
    let (mut kept, mut held) = (0, 0);
    for seed in 0..200 {
        let places = draw_sample(&keys, &strata, &plan.labels_by_stratum(), seed);
        assert_eq!(places.len(), plan.labels);
        let (sample, labels) = case.sample(&places);
        let of_sample: Vec<u32> = places.iter().map(|&place| strata[place]).collect();
        let pool = LabelledPool {
            design: match plan.strata.len() {
                1 => SampleDesign::SimpleRandom,
                _ => SampleDesign::Stratified {
                    pool: &strata,
                    sample: &of_sample,
                },
            },
            ..case.pool(&sample, &labels)
        };
        let found = &estimate_prevalence(&pool, &settings.prevalence)
            .unwrap()
            .classes[class];
        kept += usize::from(found.high - found.low <= settings.width);
        held += usize::from(found.low <= share && share <= found.high);
    }
    (kept, held)
}

#[test]
fn planned_widths_are_kept_in_most_samples() {
    let case = case(3_000);
    for (class, width) in [(0, 0.03), (1, 0.1)] {
        let stated: Vec<f64> = case.stated.iter().skip(class).step_by(3).copied().collect();
        let mut needed = Vec::new();
        for strata in [1, 6] {
            let settings = PlanSettings {
                width,
                strata,
                ..PlanSettings::default()
            };
            let plan = plan_sample(&stated, 3, &settings).unwrap();
            let (kept, held) = follow(&plan, &settings, &case, class);
            // 80 % were promised, from 50 imagined samples.
            assert!(kept >= 130, "{kept} of 200 kept {width}: {plan:?}");
            assert!(held >= 183, "{held} of 200 held the truth: {plan:?}");
            needed.push(plan.labels);
            assert!(plan.labels <= plan.labels_alone);
        }
        assert!(needed[1] <= needed[0], "{needed:?}");
    }
}

#[test]
fn the_answer_says_how_it_was_found() {
    let case = case(500);
    let places: Vec<usize> = (0..500).step_by(4).collect();
    let (sample, labels) = case.sample(&places);
    let pool = case.pool(&sample, &labels);
    let found = |method, target| {
        let settings = PrevalenceSettings {
            method,
            target,
            ..PrevalenceSettings::default()
        };
        let class = estimate_prevalence(&pool, &settings).unwrap().classes[0].clone();
        (class.method, class.reason)
    };
    let (exact, stratified) = (
        PrevalenceMethod::StratifiedExact,
        PrevalenceMethod::Stratified,
    );
    let (documents, source) = (PrevalenceTarget::Documents, PrevalenceTarget::Source);
    assert_eq!(found(exact, documents), (exact, PrevalenceReason::Asked));
    let none = PrevalenceReason::NoExactForSource;
    assert_eq!(found(exact, source), (stratified, none));
    let (method, reason) = found(PrevalenceMethod::Auto, documents);
    assert_eq!(method, stratified);
    assert!(reason.to_string().starts_with("only "), "{reason}");
    // A simple random sample is planned where the method needs one.
    let plan = PlanSettings {
        strata: 6,
        prevalence: PrevalenceSettings {
            method: PrevalenceMethod::LabelsAlone,
            ..PrevalenceSettings::default()
        },
        ..PlanSettings::default()
    };
    let first: Vec<f64> = case.stated.iter().step_by(3).copied().collect();
    assert_eq!(plan_sample(&first, 3, &plan).unwrap().strata.len(), 1);
}

#[test]
fn what_cannot_be_used_is_named() {
    let labels = RowLabels::from([vec![0], vec![4]]);
    let pool = LabelledPool {
        classes: 2,
        pool: &[0.5; 8],
        sample: &[0.5; 4],
        labels: &labels,
        holds_sample: true,
        design: SampleDesign::SimpleRandom,
    };
    let settings = PrevalenceSettings::default();
    let wrong = |pool: &LabelledPool<'_>| {
        estimate_prevalence(pool, &settings)
            .unwrap_err()
            .to_string()
    };
    assert_eq!(wrong(&pool), "class 4 is beyond the last one, 1");
    let fine = RowLabels::from([vec![0], vec![1]]);
    let pool = LabelledPool {
        labels: &fine,
        ..pool
    };
    assert!(
        wrong(&LabelledPool {
            sample: &[0.5; 3],
            ..pool
        })
        .contains("sample")
    );
    assert!(
        wrong(&LabelledPool {
            pool: &[0.5, f64::NAN],
            ..pool
        })
        .contains("NaN is not a probability")
    );
    assert!(
        wrong(&LabelledPool {
            pool: &[0.5; 2],
            ..pool
        })
        .contains("2 documents are labelled")
    );
    let none = RowLabels::new();
    assert_eq!(
        estimate_prevalence(
            &LabelledPool {
                labels: &none,
                ..pool
            },
            &settings
        ),
        Err(PrevalenceError::NoLabels)
    );
    let design = SampleDesign::Stratified {
        pool: &[0, 0, 0, u32::MAX],
        sample: &[0, 0],
    };
    assert!(wrong(&LabelledPool { design, ..pool }).contains("stratum"));
    let design = SampleDesign::Stratified {
        pool: &[0, 0, 0, 1],
        sample: &[1, 1],
    };
    assert!(wrong(&LabelledPool { design, ..pool }).contains("2 documents are labelled"));
    let sure = PrevalenceSettings {
        confidence: 1.0,
        ..settings
    };
    assert!(estimate_prevalence(&pool, &sure).is_err());
    assert!(plan_sample(&[], 1, &PlanSettings::default()).is_err());
    let wide = PlanSettings {
        width: 1.5,
        ..PlanSettings::default()
    };
    assert!(plan_sample(&[0.5], 1, &wide).is_err());
}
