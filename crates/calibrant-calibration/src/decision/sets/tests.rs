use super::*;
use crate::RowLabels;
use crate::numeric::{Random, binomial_at_most};
use proptest::prelude::*;

/// Documents with probabilities and classes drawn from them; `sharpness` below 1 states too little, above 1 too much.
struct World {
    probabilities: Vec<f64>,
    labels: Vec<u32>,
    keys: Vec<u64>,
}

const CLASSES: usize = 5;

fn world(random: &mut Random, rows: usize, sharpness: f64, shares: &[f64]) -> World {
    let mut world = World {
        probabilities: Vec::new(),
        labels: Vec::new(),
        keys: Vec::new(),
    };
    while world.labels.len() < rows {
        let raw: Vec<f64> = (0..CLASSES)
            .map(|_| (2.0 * random.normal()).exp())
            .collect();
        let sum: f64 = raw.iter().sum();
        let mut at = random.uniform() * sum;
        let mut label = 0;
        while label + 1 < CLASSES && at >= raw[label] {
            at -= raw[label];
            label += 1;
        }
        // Classes are made rarer by passing documents over.
        if random.uniform() >= shares[label] {
            continue;
        }
        let stated: Vec<f64> = raw.iter().map(|p| p.powf(sharpness)).collect();
        let sum: f64 = stated.iter().sum();
        world.probabilities.extend(stated.iter().map(|p| p / sum));
        world.labels.push(label as u32);
        world.keys.push(random.next_u64());
    }
    world
}

const EVEN: [f64; CLASSES] = [1.0; CLASSES];

impl World {
    fn rows(&self) -> CalibrationRows<'_> {
        CalibrationRows {
            keys: Some(&self.keys),
            ..CalibrationRows::new(&self.probabilities, CLASSES, &self.labels)
        }
    }

    fn table(&self, settings: SetSettings) -> SetTable {
        SetTable::fit(settings, &self.rows(), CalibrationSource::Unseen).unwrap()
    }

    fn report(&self, rule: &SetRule) -> SetReport {
        let sets = rule.sets(&self.probabilities, Some(&self.keys));
        SetReport::new(&sets, &self.labels, CLASSES)
    }
}

/// Coverage over many calibration sets of `n`, with its standard error.
fn mean_coverage(
    settings: SetSettings,
    n: usize,
    coverage: f64,
    shift: Option<&[f64]>,
) -> (f64, f64) {
    let mut random = Random::from_seed(11);
    let runs = 300;
    let found: Vec<f64> = (0..runs)
        .map(|_| {
            let table = world(&mut random, n, 1.7, &EVEN).table(settings);
            let shares = shift.unwrap_or(&EVEN);
            let rule = table.at_shares(coverage, shift).unwrap();
            world(&mut random, 200, 1.7, shares).report(&rule).coverage
        })
        .collect();
    let mean = found.iter().sum::<f64>() / f64::from(runs);
    let squares: f64 = found.iter().map(|x| (x - mean).powi(2)).sum();
    (
        mean,
        (squares / f64::from(runs - 1) / f64::from(runs)).sqrt(),
    )
}

#[test] // Whatever the probabilities are worth, coverage is between what was asked for and 1/(n+1) above it.
fn coverage_is_what_was_asked_for() {
    for kind in SetKind::ALL {
        for last_class in [LastClass::Drawn, LastClass::Whole] {
            let settings = SetSettings {
                kind,
                last_class,
                keep_top: false,
                penalty: Some(Penalty {
                    weight: 0.05,
                    free: 2,
                }),
                ..SetSettings::default()
            };
            let (mean, error) = mean_coverage(settings, 60, 0.85, None);
            // ⌈61 · 0.85⌉ = 52 of 61.
            assert!(
                (mean - 52.0 / 61.0).abs() < 4.0 * error,
                "{kind} {last_class}: {mean} {error}"
            );
        }
        let added = SetSettings {
            kind,
            last_class: LastClass::Added,
            ..SetSettings::default()
        };
        let (mean, error) = mean_coverage(added, 60, 0.85, None);
        assert!(mean > 0.85 - 4.0 * error, "{kind}: {mean}");
    }
}

#[test]
fn coverage_holds_where_the_penalty_is_chosen_too() {
    let settings = SetSettings {
        kind: SetKind::Raps,
        ..SetSettings::default()
    };
    let (mean, error) = mean_coverage(settings, 100, 0.9, None);
    assert!(mean > 0.9 - 4.0 * error, "{mean} {error}");
    let table = world(&mut Random::from_seed(2), 100, 1.0, &EVEN).table(settings);
    assert!(table.settings().penalty.is_some());
    // A fifth has chosen and is not used again.
    assert_eq!(table.class_examples().iter().sum::<u64>(), 80);
}

#[test]
fn each_class_is_covered_where_classes_are_treated_one_by_one() {
    let settings = SetSettings {
        class_by_class: true,
        keep_top: false,
        ..SetSettings::default()
    };
    let mut random = Random::from_seed(5);
    let shares = [1.0, 1.0, 1.0, 0.5, 0.2];
    let (mut held, mut all) = ([0.0; CLASSES], [0.0; CLASSES]);
    for _ in 0..200 {
        let rule = world(&mut random, 300, 2.0, &shares)
            .table(settings)
            .at(0.8)
            .unwrap();
        let test = world(&mut random, 200, 2.0, &shares);
        let sets = rule.sets(&test.probabilities, None);
        for (set, &label) in sets.iter().zip(&test.labels) {
            held[label as usize] += f64::from(u8::from(set.contains(&label)));
            all[label as usize] += 1.0;
        }
    }
    for class in 0..CLASSES {
        let coverage = held[class] / all[class];
        let error = (0.8 * 0.2 / 200.0f64).sqrt() / 3.0;
        assert!(coverage > 0.8 - 4.0 * error, "{class}: {coverage}");
    }
}

#[test]
fn classes_with_too_few_examples_are_always_in_and_named() {
    let mut random = Random::from_seed(8);
    let shares = [1.0, 1.0, 1.0, 1.0, 0.02];
    let settings = SetSettings {
        class_by_class: true,
        ..SetSettings::default()
    };
    let table = world(&mut random, 200, 1.0, &shares).table(settings);
    // To promise 90 % takes ⌈1 / 0.1⌉ - 1 = 9 examples.
    let few: Vec<u32> = (0..)
        .zip(table.class_examples())
        .filter(|&(_, n)| n < 9)
        .map(|(k, _)| k)
        .collect();
    assert_eq!(few, [4]);
    let rule = table.at(0.9).unwrap();
    assert_eq!(rule.always(), few);
    assert!(rule.set(&[1.0, 0.0, 0.0, 0.0, 0.0], 1).contains(&4));
}

#[test] // Without the ratios coverage is off; with them it is as asked for.
fn other_shares_of_classes_are_allowed_for() {
    let shift = [1.0, 0.1, 0.1, 0.1, 0.1];
    let settings = SetSettings {
        keep_top: false,
        ..SetSettings::default()
    };
    let (mean, error) = mean_coverage(settings, 300, 0.8, Some(&shift));
    assert!((mean - 0.8).abs() < 4.0 * error + 0.02, "{mean} {error}");
}

#[test]
fn even_ratios_change_nothing() {
    let table = world(&mut Random::from_seed(3), 150, 1.0, &EVEN).table(SetSettings::default());
    let (plain, even) = (
        table.at(0.9).unwrap(),
        table.at_shares(0.9, Some(&[2.0; CLASSES])).unwrap(),
    );
    let test = world(&mut Random::from_seed(4), 200, 1.0, &EVEN);
    let sets = |rule: &SetRule| rule.sets(&test.probabilities, None);
    assert_eq!(sets(&plain), sets(&even));
}

#[test]
fn thinned_tables_give_no_smaller_sets_and_hardly_larger_ones() {
    let mut random = Random::from_seed(21);
    let many = world(&mut random, 30_000, 1.0, &EVEN);
    let settings = SetSettings {
        keep_top: false,
        ..SetSettings::default()
    };
    let table = many.table(settings);
    assert_eq!(table.class_examples().iter().sum::<u64>(), 30_000);
    let bytes = serde_json::to_string(&table).unwrap().len();
    assert!(bytes < 300_000, "{bytes}");
    let mut own: Vec<f64> = (0..many.labels.len())
        .map(|row| many.probabilities[row * CLASSES + many.labels[row] as usize])
        .collect();
    own.sort_by(|a, b| b.total_cmp(a));
    for coverage in [0.3, 0.8, 0.9, 0.99, 0.999] {
        let exact = own[(30_001.0f64 * coverage).ceil() as usize - 1];
        let rule = table.at(coverage).unwrap();
        let mut probe = [0.0; CLASSES];
        probe[0] = exact;
        assert_eq!(rule.set(&probe, 0), [0], "{coverage}");
        let held = many.report(&rule).coverage;
        assert!(
            held >= coverage && held < coverage + 0.001,
            "{coverage} {held}"
        );
    }
}

#[test]
fn tables_are_the_same_after_a_file_and_broken_ones_are_refused() {
    for kind in SetKind::ALL {
        let settings = SetSettings {
            kind,
            ..SetSettings::default()
        };
        let table = world(&mut Random::from_seed(6), 80, 1.0, &EVEN).table(settings);
        let text = serde_json::to_string(&table).unwrap();
        let again: SetTable = serde_json::from_str(&text).unwrap();
        assert_eq!(again, table);
    }
    let empty = r#"{"settings":{"kind":"lac","class_by_class":false,"last_class":"drawn","keep_top":true,"penalty":null,
        "penalty_coverage":0.9,"model_key":0},"source":"unseen","scores":[{"scores":SCORES}],"distinct":true}"#;
    let read = |scores: &str| serde_json::from_str::<SetTable>(&empty.replace("SCORES", scores));
    assert!(read("[-0.5,-0.2]").is_ok());
    assert!(read("[]").is_err());
    assert!(read("[-0.2,-0.5]").is_err());
}

#[test]
fn only_one_kind_has_a_penalty() {
    let (calibration, test) = (
        world(&mut Random::from_seed(1), 80, 1.0, &EVEN),
        world(&mut Random::from_seed(2), 100, 1.0, &EVEN),
    );
    for kind in [SetKind::Lac, SetKind::Aps] {
        for last_class in LastClass::ALL {
            let sets = |penalty| {
                let settings = SetSettings {
                    kind,
                    last_class,
                    penalty,
                    ..SetSettings::default()
                };
                let rule = calibration.table(settings).at(0.9).unwrap();
                rule.sets(&test.probabilities, Some(&test.keys))
            };
            let penalty = Penalty {
                weight: 0.3,
                free: 1,
            };
            assert_eq!(sets(None), sets(Some(penalty)), "{kind} {last_class}");
        }
    }
}

#[test]
fn what_does_not_fit_is_refused() {
    let fit = |probabilities: &[f64], labels: &[u32]| {
        let rows = CalibrationRows::new(probabilities, 2, labels);
        SetTable::fit(SetSettings::default(), &rows, CalibrationSource::Unseen)
    };
    assert!(fit(&[], &[]).is_err());
    assert!(fit(&[0.5, 0.5], &[0, 1]).is_err());
    assert!(fit(&[0.5, f64::NAN], &[0]).is_err());
    assert!(fit(&[0.5, 0.5], &[2]).is_err());
    let table = fit(&[0.5, 0.5], &[1]).unwrap();
    for coverage in [0.0, 1.0, f64::NAN, -0.1] {
        assert!(table.at(coverage).is_err());
    }
    assert!(table.at_shares(0.4, Some(&[1.0])).is_err());
    assert!(table.at_shares(0.4, Some(&[1.0, -1.0])).is_err());
}

#[test]
fn promises_say_what_they_rest_on() {
    let table = world(&mut Random::from_seed(6), 99, 1.0, &EVEN).table(SetSettings {
        keep_top: false,
        ..SetSettings::default()
    });
    assert_eq!(
        table.at(0.9).unwrap().guarantee().to_string(),
        "the set holds the true class in at least 90 % of documents and at most 91.00 %, for documents like the 99 calibration \
         examples, which the model had not seen"
    );
    let rows = world(&mut Random::from_seed(6), 99, 1.0, &EVEN);
    let held_out = SetTable::fit(
        SetSettings::default(),
        &rows.rows(),
        CalibrationSource::HeldOut,
    )
    .unwrap();
    let words = held_out.at(0.9).unwrap().guarantee().to_string();
    assert!(
        words.contains("about 90 %") && words.ends_with("that the model has not seen give one)"),
        "{words}"
    );
}

proptest! {
    #[test] // By the definition, class by class, without any sorting of ours.
    fn sets_are_those_of_the_definition(
        cells in prop::collection::vec(0u32..6, 9..60), label_seed in any::<u64>(), coverage in 0.05..0.95f64,
    ) {
        let classes = 3;
        let rows = cells.len() / classes;
        // Whole sixths: many ties.
        let probabilities: Vec<f64> = cells[..rows * classes].iter().map(|&cell| f64::from(cell) / 8.0).collect();
        let mut random = Random::from_seed(label_seed);
        let labels: Vec<u32> = (0..rows).map(|_| random.below(classes) as u32).collect();
        let draws: Vec<f64> = (0..rows).map(|_| random.uniform()).collect();
        for kind in SetKind::ALL {
            let penalty = Penalty { weight: 0.25, free: 1 };
            let settings = SetSettings { kind, penalty: Some(penalty), keep_top: false, ..SetSettings::default() };
            let given = CalibrationRows { draws: Some(&draws), ..CalibrationRows::new(&probabilities, classes, &labels) };
            let rule = SetTable::fit(settings, &given, CalibrationSource::Unseen).unwrap().at(coverage).unwrap();
            let score = |row: usize, class: usize| {
                let own = &probabilities[row * classes..(row + 1) * classes];
                let p = own[class];
                let above: f64 = own.iter().filter(|&&other| other > p).sum();
                let tied: f64 = own.iter().filter(|&&other| other == p).sum();
                let rank = own.iter().filter(|&&other| other >= p).count() as f64;
                match kind {
                    SetKind::Lac => 1.0 - p,
                    SetKind::Aps => above + (1.0 - draws[row]) * tied,
                    SetKind::Raps => above + (1.0 - draws[row]) * tied + 0.25 * (rank - 1.0).max(0.0),
                }
            };
            let mut own: Vec<f64> = (0..rows).map(|row| score(row, labels[row] as usize)).collect();
            own.sort_by(f64::total_cmp);
            let place = ((rows + 1) as f64 * coverage - 1e-9).ceil() as usize;
            let threshold = own.get(place - 1).copied().unwrap_or(f64::INFINITY);
            let (mut buffers, mut set) = (SetBuffers::default(), Vec::new());
            for row in 0..rows {
                rule.set_drawn_into(&probabilities[row * classes..(row + 1) * classes], draws[row], &mut buffers, &mut set);
                set.sort_unstable();
                let expected: Vec<u32> = (0..classes).filter(|&class| score(row, class) <= threshold + 1e-12).map(|class| class as u32).collect();
                prop_assert_eq!(&set, &expected);
            }
        }
    }

    #[test]
    fn larger_coverages_have_larger_sets(seed in any::<u64>(), low in 0.1..0.9f64, more in 0.0..0.09f64) {
        let mut random = Random::from_seed(seed);
        let settings = SetSettings { kind: SetKind::Aps, ..SetSettings::default() };
        let table = world(&mut random, 50, 1.0, &EVEN).table(settings);
        let test = world(&mut random, 20, 1.0, &EVEN);
        let sets = |coverage| table.at(coverage).unwrap().sets(&test.probabilities, Some(&test.keys));
        let (small, large) = (sets(low), sets(low + more));
        for (small, large) in small.iter().zip(large.iter()) {
            prop_assert!(small.iter().all(|class| large.contains(class)));
        }
    }

    #[test] // By trying every threshold.
    fn thresholds_of_labels_are_the_largest_that_keep_the_promise(
        cells in prop::collection::vec((0u8..10, any::<bool>()), 3..60), coverage in 0.05..0.95f64,
    ) {
        let rows = cells.len() / 3;
        let probabilities: Vec<f64> = cells[..rows * 3].iter().map(|cell| f64::from(cell.0) / 10.0).collect();
        let labels: RowLabels = cells[..rows * 3]
            .chunks(3)
            .map(|row| (0..3).filter(|&k| row[k as usize].1).collect::<Vec<u32>>())
            .collect();
        let labelled = labels.iter().filter(|own| !own.is_empty()).count();
        prop_assume!(labelled > 0);
        let table = LabelSetTable::fit(&probabilities, 3, &labels, CalibrationSource::Unseen).unwrap();
        let found = table.at(coverage).unwrap().threshold();
        let bound = |threshold: f64| {
            let losses = labels.iter().zip(probabilities.chunks(3)).map(|(own, row)| {
                let missed = own.iter().filter(|&&k| row[k as usize] < threshold).count();
                missed as f64 / own.len().max(1) as f64
            });
            (losses.sum::<f64>() + 1.0) / (labelled as f64 + 1.0)
        };
        let tries = (0..=10).map(|tenth| f64::from(tenth) / 10.0).chain([f64::INFINITY]);
        let best = tries.filter(|&t| bound(t) <= 1.0 - coverage + 1e-9).fold(f64::NEG_INFINITY, f64::max);
        // Between the probabilities that there are, thresholds do the same.
        let same = |a: f64, b: f64| probabilities.iter().all(|&p| (p >= a) == (p >= b));
        let equal = found == best || (bound(found) - bound(best)).abs() < 1e-12 && best.is_finite() == found.is_finite() || same(found, best);
        prop_assert!(equal, "{} {}", found, best);
    }
}

#[test] // The share of missed labels over many calibration sets.
fn missed_labels_are_as_few_as_promised() {
    let mut random = Random::from_seed(31);
    let draw = |random: &mut Random, rows: usize| {
        let (mut probabilities, mut labels) = (Vec::new(), RowLabels::new());
        for _ in 0..rows {
            let row: Vec<f64> = (0..4).map(|_| random.uniform().powi(2)).collect();
            labels.push((0..4u32).filter(|&k| random.uniform() < row[k as usize].sqrt()));
            probabilities.extend(row);
        }
        (probabilities, labels)
    };
    let (mut missed, mut labelled, runs) = (0.0, 0.0, 200);
    for _ in 0..runs {
        let (probabilities, labels) = draw(&mut random, 80);
        let table =
            LabelSetTable::fit(&probabilities, 4, &labels, CalibrationSource::Unseen).unwrap();
        let rule = table.at(0.85).unwrap();
        let (probabilities, labels) = draw(&mut random, 100);
        for (own, row) in labels.iter().zip(probabilities.chunks(4)) {
            let set = rule.set(row);
            let lost = own.iter().filter(|label| !set.contains(label)).count();
            missed += lost as f64 / own.len().max(1) as f64;
            labelled += f64::from(u8::from(!own.is_empty()));
        }
    }
    let missed = missed / labelled;
    assert!(missed <= 0.15 + 0.006 && missed > 0.12, "{missed}");
}

#[test]
fn the_spread_of_coverage_is_as_the_beta_distribution_says() {
    // With n = 60 and the 52nd score, coverage is Beta(52, 9): below 0.78 in P(Bin(60, 0.78) ≥ 52) of cases.
    let mut random = Random::from_seed(77);
    let settings = SetSettings {
        keep_top: false,
        ..SetSettings::default()
    };
    let below = (0..200).filter(|_| {
        let rule = world(&mut random, 60, 1.0, &EVEN)
            .table(settings)
            .at(0.85)
            .unwrap();
        world(&mut random, 4_000, 1.0, &EVEN).report(&rule).coverage < 0.78
    });
    let expected = 1.0 - binomial_at_most(51, 60, 0.78);
    let found = below.count() as f64 / 200.0;
    assert!((found - expected).abs() < 0.08, "{found} {expected}");
}
