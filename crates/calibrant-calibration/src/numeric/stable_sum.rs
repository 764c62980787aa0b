//! Sums that do not lose what is small.

/// A running sum with a second number for what rounding dropped (Neumaier's
/// variant of Kahan's method), so that the order of the terms does not matter.
///
/// ```
/// use calibrant_calibration::numeric::StableSum;
/// let mut sum = StableSum::default();
/// for term in [1.0, 1e100, 1.0, -1e100] {
///     sum.add(term);
/// }
/// assert_eq!(sum.total(), 2.0); // by hand; a plain loop gives 0
/// ```
#[derive(Debug, Clone, Copy, Default)]
pub struct StableSum {
    sum: f64,
    lost: f64,
}

impl StableSum {
    /// Adds a term.
    #[inline]
    pub fn add(&mut self, term: f64) {
        let next = self.sum + term;
        self.lost += if self.sum.abs() >= term.abs() {
            (self.sum - next) + term
        } else {
            (term - next) + self.sum
        };
        self.sum = next;
    }

    /// The sum so far.
    #[inline]
    pub fn total(self) -> f64 {
        self.sum + self.lost
    }
}

impl FromIterator<f64> for StableSum {
    fn from_iter<I: IntoIterator<Item = f64>>(terms: I) -> Self {
        let mut sum = Self::default();
        for term in terms {
            sum.add(term);
        }
        sum
    }
}
