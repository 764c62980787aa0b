//! Promises of cascades in small; the whole is run by the experiments.

use super::*;
use crate::numeric::{Random, binomial_at_most};

fn world(shared: f64, slope: f64) -> CascadeWorld {
    let tier = |cost, separation| SimulatedTier {
        cost,
        separation,
        slope,
    };
    CascadeWorld {
        tiers: vec![tier(0.001, 2.5), tier(0.05, 3.5)],
        person: 1.0,
        shared,
    }
}

#[test]
fn certified_policies_keep_their_promise_and_cost_less() {
    for (shared, slope) in [(0.0, 1.0), (0.5, 1.0), (0.3, 2.0)] {
        let settings = CascadeSettings::default();
        let found = simulate_cascade(&world(shared, slope), 800, &settings, 60, 5);
        // More than this many of 60 happen in one of a thousand cases if a share of 0.05 breaks.
        let tail = 1.0 - binomial_at_most(found.broken as u64, 60, settings.miss);
        assert!(tail > 0.001 || found.broken <= 3, "{found:?}");
        assert!(found.cost < found.single_cost, "{found:?}");
        assert!(found.best_cost <= found.cost, "{found:?}");
        // Without a test far more policies are wrong too often.
        assert!(found.untested_broken > 3 * found.broken.max(1), "{found:?}");
    }
}

#[test]
fn documents_with_known_truth_are_drawn_again() {
    let tiers = world(0.3, 1.0).tiers(5_000, &mut Random::from_seed(9));
    let settings = CascadeSettings {
        risk: 0.05,
        ..CascadeSettings::default()
    };
    let found = resample_cascade(&tiers, 600, &settings, 40, 1).unwrap();
    assert!(found.broken <= 6, "{found:?}");
    assert!(
        found.cost < found.single_cost && found.risk < 0.05,
        "{found:?}"
    );
    assert!(resample_cascade(&tiers[2..], 600, &settings, 40, 1).is_err());
}

#[test]
fn a_useless_source_is_not_asked() {
    let mut world = world(0.0, 1.0);
    world.tiers[1].separation = 0.0;
    let tiers = world.tiers(1_000, &mut Random::from_seed(2));
    let found = certify_cascade(
        &tiers,
        &CascadeSettings {
            risk: 0.05,
            ..CascadeSettings::default()
        },
    )
    .unwrap();
    assert_eq!(found.policy.rules[1], TierRule::Skip);
    assert!(matches!(found.policy.rules[0], TierRule::From(_)));
}

#[test]
fn the_report_adds_up_and_comes_back_from_json() {
    let tiers = world(0.3, 1.0).tiers(1_500, &mut Random::from_seed(3));
    for set_aside in [0.0, 0.3] {
        let settings = CascadeSettings {
            risk: 0.03,
            set_aside,
            ..CascadeSettings::default()
        };
        let found = certify_cascade(&tiers, &settings).unwrap();
        assert_eq!(found.documents, if set_aside > 0.0 { 1_050 } else { 1_500 });
        assert!((found.tiers.iter().map(|tier| tier.answered).sum::<f64>() - 1.0).abs() < 1e-12);
        assert!((found.tiers.iter().map(|tier| tier.cost).sum::<f64>() - found.cost).abs() < 1e-12);
        assert_eq!(
            found.tiers.iter().map(|tier| tier.errors).sum::<usize>(),
            found.errors
        );
        assert!(
            found.upper_risk <= 0.03 + 1e-12
                && found.errors as f64 / found.documents as f64 <= found.upper_risk
        );
        assert!(
            (found.single[2].saving - (1.0 - found.cost)).abs() < 1e-12 && found.single[2].passes
        );
        let kept: CascadeReport =
            serde_json::from_str(&serde_json::to_string(&found).unwrap()).unwrap();
        assert_eq!(kept, found);
    }
}

#[test]
fn where_nothing_can_be_shown_the_truth_is_asked_or_the_need_is_named() {
    let mut tiers = world(0.0, 1.0).tiers(50, &mut Random::from_seed(4));
    let found = certify_cascade(&tiers, &CascadeSettings::default()).unwrap();
    assert_eq!(found.basis, CascadeBasis::Truth);
    assert_eq!(found.policy.first(), CascadeStep::Ask(2));
    tiers[2].right = vec![true; 50];
    let refused = certify_cascade(&tiers, &CascadeSettings::default()).unwrap_err();
    // By hand: ln(0.8 · 0.05)/ln(0.98) = 159.3.
    assert!(
        matches!(refused, CascadeError::NotCertified { needed: 160, .. }),
        "{refused}"
    );
}

#[test]
fn a_person_of_known_accuracy_is_counted() {
    let mut tiers = world(0.0, 1.0).tiers(3_000, &mut Random::from_seed(6));
    tiers[2] = CascadeTier::with_accuracy("person", 1.0, 0.9, 3_000, 1);
    assert!(
        certify_cascade(
            &tiers,
            &CascadeSettings {
                risk: 0.01,
                ..CascadeSettings::default()
            }
        )
        .is_err()
    );
    tiers[2] = CascadeTier::with_accuracy("person", 1.0, 0.999, 3_000, 1);
    assert!(
        certify_cascade(
            &tiers,
            &CascadeSettings {
                risk: 0.01,
                ..CascadeSettings::default()
            }
        )
        .is_ok()
    );
}

#[test]
fn what_cannot_be_used_is_named() {
    let tiers = world(0.0, 1.0).tiers(20, &mut Random::from_seed(4));
    let wrong = |tiers: &[CascadeTier], settings| {
        certify_cascade(tiers, &settings).unwrap_err().to_string()
    };
    let settings = CascadeSettings::default();
    assert!(wrong(&tiers[2..], settings).contains("from two to"));
    assert!(
        wrong(
            &tiers[1..],
            CascadeSettings {
                risk: 1.0,
                ..settings
            }
        )
        .contains("wrong answers")
    );
    let mut short = tiers.clone();
    short[1].right.pop();
    assert!(wrong(&short, settings).starts_with("tier 1: 19 entries"));
    let none = world(0.0, 1.0).tiers(0, &mut Random::from_seed(4));
    let refused = certify_cascade(&none, &settings).unwrap_err();
    assert_eq!(refused, CascadeError::NoDocuments);
    let mut bad = tiers;
    bad[0].confidences[3] = f64::NAN;
    assert!(wrong(&bad, settings).contains("NaN is not a probability (document 3)"));
}
