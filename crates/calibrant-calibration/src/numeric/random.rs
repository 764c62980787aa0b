//! Random numbers that are the same for the same seed, on every machine.

/// A small, fast generator: four words of state that are shifted, rotated and
/// mixed with exclusive or (the xoshiro256++ recurrence of Blackman and Vigna),
/// filled from the seed by a counter run through a bit mixer (splitmix64).
///
/// Good enough for simulation and shuffling; it keeps no secrets.
///
/// ```
/// use calibrant_calibration::numeric::Random;
/// let (mut a, mut b) = (Random::from_seed(7), Random::from_seed(7));
/// assert_eq!(a.next_u64(), b.next_u64());
/// assert!((0.0..1.0).contains(&a.uniform()));
/// assert!(a.below(6) < 6);
/// ```
#[derive(Debug, Clone)]
pub struct Random {
    state: [u64; 4],
}

impl Random {
    /// A generator whose whole future follows from `seed`; every seed, zero included, is fine.
    pub fn from_seed(seed: u64) -> Self {
        let mut counter = seed;
        let state = std::array::from_fn(|_| {
            counter = counter.wrapping_add(0x9e37_79b9_7f4a_7c15);
            mix(counter)
        });
        Self { state }
    }

    /// The next 64 random bits.
    #[inline]
    pub fn next_u64(&mut self) -> u64 {
        let [a, b, c, d] = self.state;
        let output = a.wrapping_add(d).rotate_left(23).wrapping_add(a);
        let c = c ^ a;
        let d = d ^ b;
        self.state = [a ^ d, b ^ c, c ^ (b << 17), d.rotate_left(45)];
        output
    }

    /// A number from 0 (included) to 1 (excluded), a multiple of 2^-53.
    #[inline]
    pub fn uniform(&mut self) -> f64 {
        (self.next_u64() >> 11) as f64 * (1.0 / (1u64 << 53) as f64)
    }

    /// A number from 0 to 1, both excluded, so that its logarithm is finite and below zero.
    #[inline]
    pub fn open_uniform(&mut self) -> f64 {
        ((self.next_u64() >> 12) as f64 + 0.5) * (1.0 / (1u64 << 52) as f64)
    }

    /// A whole number below `bound`; zero for a bound of zero.
    ///
    /// The high half of a 128-bit product: its departure from uniform is below
    /// `bound / 2^64`, which no simulation of ours can notice.
    #[inline]
    pub fn below(&mut self, bound: usize) -> usize {
        ((u128::from(self.next_u64()) * bound as u128) >> 64) as usize
    }

    /// A draw from the standard normal distribution, by the polar form's plain
    /// ancestor: radius from one uniform number, angle from another.
    pub fn normal(&mut self) -> f64 {
        let radius = (-2.0 * self.open_uniform().ln()).sqrt();
        radius * (std::f64::consts::TAU * self.uniform()).cos()
    }

    /// Puts the items into a random order, every order equally likely.
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for end in (1..items.len()).rev() {
            items.swap(end, self.below(end + 1));
        }
    }
}

/// Spreads every bit of the input over the whole output, one to one.
fn mix(bits: u64) -> u64 {
    let bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    bits ^ (bits >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test] // The first outputs that the splitmix64 of the literature gives for seed 1234567.
    fn the_seed_mixer_gives_the_published_values() {
        let outputs: Vec<u64> = (1..=3u64)
            .map(|i| mix(1_234_567u64.wrapping_add(0x9e37_79b9_7f4a_7c15u64.wrapping_mul(i))))
            .collect();
        assert_eq!(
            outputs,
            [
                6_457_827_717_110_365_317,
                3_203_168_211_198_807_973,
                9_817_491_932_198_370_423
            ]
        );
    }

    #[test] // Published first outputs of the xoshiro256++ recurrence from the state 1, 2, 3, 4.
    fn the_recurrence_gives_the_published_values() {
        let mut random = Random {
            state: [1, 2, 3, 4],
        };
        let outputs: Vec<u64> = (0..4).map(|_| random.next_u64()).collect();
        assert_eq!(
            outputs,
            [
                41_943_041,
                58_720_359,
                3_588_806_011_781_223,
                3_591_011_842_654_386
            ]
        );
    }

    #[test]
    fn uniform_and_normal_numbers_have_the_right_moments() {
        let mut random = Random::from_seed(3);
        let count = 200_000;
        let (mut uniform, mut normal, mut squares) = (0.0, 0.0, 0.0);
        for _ in 0..count {
            uniform += random.uniform();
            let draw = random.normal();
            normal += draw;
            squares += draw * draw;
        }
        let n = f64::from(count);
        // Five standard errors each.
        assert!((uniform / n - 0.5).abs() < 5.0 * (1.0 / 12.0 / n).sqrt());
        assert!((normal / n).abs() < 5.0 * (1.0 / n).sqrt());
        assert!((squares / n - 1.0).abs() < 5.0 * (2.0 / n).sqrt());
    }

    #[test]
    fn a_shuffle_keeps_the_items_and_favours_no_order() {
        let mut random = Random::from_seed(5);
        let mut seen = std::collections::HashMap::new();
        for _ in 0..60_000 {
            let mut items = [1, 2, 3];
            random.shuffle(&mut items);
            *seen.entry(items).or_insert(0) += 1;
        }
        assert_eq!(seen.len(), 6);
        assert!(
            seen.values()
                .all(|&count: &i32| (count - 10_000).abs() < 500)
        );
    }
}
