//! Is one better than the other, or was it luck? Tests for two systems that answered the same
//! questions.
//!
//! | test | looks at | weights of documents |
//! | --- | --- | --- |
//! | [`SignTest`] | who was closer, decision by decision | every decision counts once |
//! | [`McNemarTest`] | who alone was right | every decision counts once |
//! | [`WilcoxonTest`] | by how much, in ranks | every document counts once |
//! | [`BootstrapDifference`] | the difference of the means itself | taken into account |
//! | [`PairedTTest`] | the mean difference by its standard error | every pair counts once |
//! | [`RandomisationTest`] | the mean difference, had systems been swapped by chance | every pair counts once |
//!
//! A test that counts or ranks has no meaning for "half a document", so the first three leave out
//! documents of weight zero and take all others alike.

mod bootstrap;
mod mcnemar;
mod paired_t;
mod randomisation;
mod sign;
mod wilcoxon;

pub(super) use bootstrap::Resamples;
pub use bootstrap::{BootstrapDifference, bootstrap_difference};
pub use mcnemar::McNemarTest;
pub use paired_t::{PairedTTest, paired_t_test};
pub use randomisation::{RandomisationTest, randomisation_test};
pub use sign::SignTest;
pub use wilcoxon::{WilcoxonTest, wilcoxon_signed_rank};

use std::f64::consts::LN_2;

/// The chance of a result at least as far out on either side, from the logarithm of the chance on
/// one side: `(p, ln p)`. The plain value is kept above zero.
fn two_sided(ln_tail: f64) -> (f64, f64) {
    let ln_p = (LN_2 + ln_tail).min(0.0);
    (ln_p.exp().max(f64::MIN_POSITIVE), ln_p)
}
