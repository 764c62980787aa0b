//! How badly a class fits a document.

use super::{Penalty, SetKind};
use crate::numeric::{Random, order_bits, stable_hash};

/// A number from 0 to 1 that follows from a document and a model: drawn once and for all, uniform over documents.
///
/// Draws make the coverage of some sets exact. Taken from a hash of the document they are still uniform and independent of
/// its class given the document, which is all that the proof needs, and the same document gets the same set every time.
///
/// ```
/// use calibrant_calibration::decision::set_draw;
/// use calibrant_calibration::numeric::stable_hash;
/// let key = stable_hash(b"wheat prices rose");
/// assert_eq!(set_draw(key, 7), set_draw(key, 7));
/// assert_ne!(set_draw(key, 7), set_draw(key, 8));
/// ```
pub fn set_draw(document: u64, model: u64) -> f64 {
    let mut bytes = [0; 16];
    bytes[..8].copy_from_slice(&document.to_le_bytes());
    bytes[8..].copy_from_slice(&model.to_le_bytes());
    Random::from_seed(stable_hash(&bytes)).uniform()
}

/// Where a class stands among those of its document.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct Place {
    /// Its probability.
    pub(super) own: f64,
    /// The probability of all that are more probable.
    pub(super) above: f64,
    /// The probability of all that are exactly as probable, itself among them.
    pub(super) tied: f64,
    /// How many classes are at least as probable, itself among them.
    pub(super) rank: usize,
    /// How many classes are more probable.
    pub(super) before: usize,
}

impl Place {
    /// Where one class stands, without sorting those below it: the same numbers, to the last bit, as [`Ranked::place`]
    /// gives. `above` is room to work in.
    pub(super) fn of(probabilities: &[f64], class: u32, above: &mut Vec<f64>) -> Self {
        let own = probabilities[class as usize];
        above.clear();
        above.extend(probabilities.iter().filter(|&&other| other > own));
        above.sort_unstable_by(|a, b| b.total_cmp(a));
        let equal = probabilities.iter().filter(|&&other| other == own).count();
        let groups = above.chunk_by(|a, b| a == b);
        Self {
            own,
            above: groups.fold(0.0, |sum, group| sum + group[0] * group.len() as f64),
            tied: own * equal as f64,
            rank: above.len() + equal,
            before: above.len(),
        }
    }
}

/// The classes of a document by falling probability, with what lies above each. Equally probable classes are treated alike,
/// whatever order they are named in.
#[derive(Debug, Clone, Default)]
pub(super) struct Ranked {
    pub(super) order: Vec<u32>,
    places: Vec<Place>,
}

impl Ranked {
    /// Ranks the classes of a document.
    pub(super) fn rank(&mut self, probabilities: &[f64]) {
        self.order.clear();
        self.order.extend(0..probabilities.len() as u32);
        let key = |class: &u32| (!order_bits(probabilities[*class as usize]), *class);
        self.order.sort_unstable_by_key(key);
        self.places.clear();
        self.places.resize(probabilities.len(), Place::default());
        let (mut above, mut begin) = (0.0, 0);
        while begin < self.order.len() {
            let own = probabilities[self.order[begin] as usize];
            let same = |class: &&u32| probabilities[**class as usize] == own;
            let equal = self.order[begin..].iter().take_while(same).count();
            // What is not a number equals nothing, not even itself.
            let end = begin + equal.max(1);
            let tied = own * (end - begin) as f64;
            let rank = end;
            for &class in &self.order[begin..end] {
                self.places[class as usize] = Place {
                    own,
                    above,
                    tied,
                    rank,
                    before: begin,
                };
            }
            above += tied;
            begin = end;
        }
    }

    /// Where a class stands.
    pub(super) fn place(&self, class: u32) -> Place {
        self.places[class as usize]
    }
}

/// How badly a class fits: larger is worse.
///
/// `1 - p` is kept without its 1, which would round small probabilities away.
pub(super) fn score_of(kind: SetKind, penalty: Option<Penalty>, place: Place, draw: f64) -> f64 {
    match kind {
        SetKind::Lac => -place.own,
        SetKind::Aps => place.above + (1.0 - draw) * place.tied,
        SetKind::Raps => {
            let penalty = penalty.map_or(0.0, |penalty| penalty.at(place.rank));
            place.above + (1.0 - draw) * place.tied + penalty
        }
    }
}

/// As [`score_of`] with the class at the edge always in: how badly the class just before it fits.
pub(super) fn score_before(kind: SetKind, penalty: Option<Penalty>, place: Place) -> f64 {
    let penalty = penalty.filter(|_| kind == SetKind::Raps);
    match place.before {
        0 => f64::NEG_INFINITY,
        before => place.above + penalty.map_or(0.0, |penalty| penalty.at(before)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_probabilities_are_treated_alike() {
        let mut ranked = Ranked::default();
        ranked.rank(&[0.2, 0.4, 0.2, 0.2]);
        let score = |class| score_of(SetKind::Aps, None, ranked.place(class), 0.5);
        // By hand: 0.4 above, and half of 0.6.
        assert!((score(0) - 0.7).abs() < 1e-15);
        assert_eq!((score(0), score(0)), (score(2), score(3)));
        assert_eq!(ranked.place(3).rank, 4);
        assert_eq!(ranked.order, [1, 0, 2, 3]);
    }

    #[test]
    fn one_class_stands_where_it_stands_among_all() {
        let mut random = Random::from_seed(3);
        let (mut ranked, mut above) = (Ranked::default(), Vec::new());
        for round in 0..200 {
            let places = if round % 2 == 0 { 5.0 } else { 1e9 };
            let row: Vec<f64> = (0..9)
                .map(|_| (random.uniform() * places).floor() / places / 9.0)
                .collect();
            ranked.rank(&row);
            for class in 0..9 {
                assert_eq!(Place::of(&row, class, &mut above), ranked.place(class));
            }
        }
    }

    #[test]
    fn draws_are_uniform() {
        let count = 100_000;
        let draws = (0..count).map(|document| set_draw(document, 3));
        let mut tenths = [0.0; 10];
        draws.for_each(|draw| tenths[(draw * 10.0) as usize] += 1.0);
        let mean = count as f64 / 10.0;
        let chi: f64 = tenths.iter().map(|n: &f64| (n - mean).powi(2) / mean).sum();
        assert!(chi < 27.9, "{chi}"); // 0.1 % of chi-square with 9 degrees of freedom
    }
}
