use super::*;
use crate::fit as fit_documents;
use crate::numeric::Random;
use crate::pipeline::{CombineSettings, Combiner, FitSettings};
use crate::saved::SavedProblem;

/// Documents of three classes, told by a word that is right four times in five; the first class comes with this share.
fn mail(task: Task, seed: u64, count: usize, share: f64) -> Vec<Document> {
    let mut random = Random::from_seed(seed);
    let draw = |random: &mut Random| match random.uniform() {
        u if u < share => 0,
        u if u < share + 0.5 * (1.0 - share) => 1,
        _ => 2,
    };
    let one = |number| {
        let class = draw(&mut random);
        let word = if random.uniform() < 0.8 {
            class
        } else {
            (class + 1) % 3
        };
        let noise: Vec<String> = (0..3).map(|_| format!("w{}", random.below(60))).collect();
        let text = format!("k{word} n{seed}x{number} {}", noise.join(" "));
        let label = ["a", "b", "c"][class];
        match task {
            Task::SingleLabel => Document::new(text).label(label),
            Task::MultiLabel => Document::new(text).labels([label]),
        }
    };
    (0..count).map(one).collect()
}

fn settings() -> FitSettings {
    FitSettings {
        folds: 3,
        ..FitSettings::default()
    }
}

fn model(task: Task) -> Model {
    fit_documents(mail(task, 1, 300, 0.2), &settings()).unwrap()
}

fn recalibrated(model: Model, documents: Vec<Document>) -> Result<Recalibrated, RecalibrateError> {
    let recalibrator = Recalibrator::new(model);
    let mut found = HeldOutDocuments::default();
    recalibrator.add(recalibrator.forecast(documents), &mut found);
    recalibrator.recalibrate(found, &RecalibrateSettings::default())
}

#[test]
fn a_shift_is_corrected_saved_and_explained() {
    for task in [Task::SingleLabel, Task::MultiLabel] {
        let found = recalibrated(model(task), mail(task, 2, 300, 0.7)).unwrap();
        assert!(found.changed, "{:?}", found.trial);
        assert!(found.trial.log_loss_after < found.trial.log_loss_before);
        let path =
            std::env::temp_dir().join(format!("recalibrated-{task:?}-{}", std::process::id()));
        found.model.save(&path).unwrap();
        let opened = Model::open(&path).unwrap();
        std::fs::remove_file(&path).unwrap();
        assert_eq!(opened.recalibration(), found.model.recalibration());
        // The shares follow, so that a later shift starts from here.
        assert!(opened.priors()[0] > 0.4, "{:?}", opened.priors());
        for document in mail(task, 3, 5, 0.7) {
            let classes = found.model.predict(&document);
            assert_eq!(classes, opened.predict(&document));
            for (class, stated) in classes.iter().enumerate() {
                let told = opened.explain(&document, class);
                let sum = told.base_log_odds + told.terms.iter().map(|t| t.log_odds).sum::<f64>();
                assert!((sum - told.calibrated_log_odds).abs() < 1e-9);
                assert!((told.log_odds - stated.log_odds()).abs() < 1e-12);
                if task == Task::MultiLabel {
                    assert!((told.calibrated_log_odds - told.log_odds).abs() < 1e-9);
                }
            }
        }
    }
}

#[test]
fn a_combination_can_be_recalibrated_and_a_recalibrated_model_combined() {
    let task = Task::SingleLabel;
    let one = recalibrated(model(task), mail(task, 2, 300, 0.7)).unwrap();
    let combiner = Combiner::new(vec![("one".into(), one.model), ("two".into(), model(task))]);
    let combiner = combiner.unwrap();
    let mut documents = HeldOutDocuments::default();
    combiner.add(combiner.forecast(mail(task, 4, 200, 0.2)), &mut documents);
    let both = combiner
        .combine(documents, &CombineSettings::default())
        .unwrap();
    let found = recalibrated(both, mail(task, 5, 300, 0.7)).unwrap();
    assert!(found.changed);
    let again = recalibrated(found.model, mail(task, 6, 300, 0.05)).unwrap();
    assert!(again.changed);
    assert_eq!(again.model.recalibration().unwrap().times, 2);
    let told = again.model.explain("k1 w3", 1);
    let sum = told.base_log_odds + told.terms.iter().map(|t| t.log_odds).sum::<f64>();
    assert!((sum - told.calibrated_log_odds).abs() < 1e-9);
}

#[test]
fn copies_count_once_and_few_are_refused() {
    let task = Task::SingleLabel;
    let same = vec![Document::new("k0 and nothing else at all here").label("a"); 50];
    let error = recalibrated(model(task), same).unwrap_err();
    assert_eq!(error, RecalibrateError::TooFew { found: 1 });
    let error = recalibrated(model(task), Vec::new()).unwrap_err();
    assert_eq!(error, RecalibrateError::Fit(FitError::NoDocuments));
}

#[test]
fn where_nothing_moved_the_model_keeps_its_bytes() {
    use crate::saved::Saveable;
    let task = Task::SingleLabel;
    let old = model(task)
        .write()
        .unwrap_or_else(|_: SavedProblem| Vec::new());
    let mut unchanged = 0;
    for seed in 10..16 {
        let found = recalibrated(model(task), mail(task, seed, 40, 0.2)).unwrap();
        if !found.changed {
            unchanged += 1;
            assert_eq!(
                found
                    .model
                    .write()
                    .unwrap_or_else(|_: SavedProblem| Vec::new()),
                old
            );
        }
    }
    assert!(unchanged >= 3, "{unchanged}");
}

#[test]
fn what_cannot_be_sound_is_not_opened() {
    let sound = ModelRecalibration {
        correction: Recalibration::identity(2),
        shares: vec![0.5, 0.5],
        times: 1,
        documents: 9,
        log_loss_before: 0.3,
        log_loss_after: 0.2,
        calibrant_version: "0".into(),
    };
    assert!(sound.is_sound(2) && !sound.is_sound(3));
    for shares in [vec![0.5], vec![0.0, 1.0], vec![f64::NAN, 0.5]] {
        let broken = ModelRecalibration {
            shares,
            ..sound.clone()
        };
        assert!(!broken.is_sound(2));
    }
}
