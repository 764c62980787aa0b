//! The inner loops over dense rows.
//!
//! Four rows are worked on together: weights are loaded once for them, and so are gradients. Sums are kept in as many parts
//! as a fixed number of lanes, so that the compiler makes vectors of them; no multiplication is fused with an addition. So
//! the same numbers come out on every processor, with wide vectors (chosen when the program runs) or without.

use crate::features::{DenseValues, DenseView, prefetch};

/// Rows that are worked on together.
pub(super) const TOGETHER: usize = 4;

/// A number that rows are made of, with the lanes that suit it.
pub(super) trait Real: Copy + Send + Sync + 'static {
    const ZERO: Self;
    fn plus(self, other: Self) -> Self;
    fn times(self, other: Self) -> Self;
    fn of(value: f64) -> Self;
    fn wide(self) -> f64;
}

macro_rules! real {
    ($($float:ty),*) => {$(
        impl Real for $float {
            const ZERO: Self = 0.0;
            #[inline(always)]
            fn plus(self, other: Self) -> Self {
                self + other
            }
            #[inline(always)]
            fn times(self, other: Self) -> Self {
                self * other
            }
            #[inline(always)]
            fn of(value: f64) -> Self {
                value as $float
            }
            #[inline(always)]
            fn wide(self) -> f64 {
                self as f64
            }
        }
    )*};
}
real!(f32, f64);

/// `w·x` of four rows.
#[inline(always)]
pub(super) fn dot_four<V: Real, const LANES: usize>(
    rows: [&[V]; TOGETHER],
    weights: &[V],
) -> [f64; TOGETHER] {
    let (weights, last_weights) = weights.as_chunks::<LANES>();
    let [one, two, three, four] = rows.map(|row| row.as_chunks::<LANES>());
    // Four names instead of a list: the compiler keeps them in registers.
    let (mut first, mut second) = ([V::ZERO; LANES], [V::ZERO; LANES]);
    let (mut third, mut fourth) = ([V::ZERO; LANES], [V::ZERO; LANES]);
    let values = one.0.iter().zip(two.0).zip(three.0).zip(four.0);
    for (weights, (((one, two), three), four)) in weights.iter().zip(values) {
        add_products(&mut first, one, weights);
        add_products(&mut second, two, weights);
        add_products(&mut third, three, weights);
        add_products(&mut fourth, four, weights);
    }
    [
        whole(&first, one.1, last_weights),
        whole(&second, two.1, last_weights),
        whole(&third, three.1, last_weights),
        whole(&fourth, four.1, last_weights),
    ]
}

/// What the lanes of a sum and the products behind them come to. It stands by itself: where this is part of the loop, the compiler
/// sees that four rows are summed up alike, and makes vectors across the rows, which takes a dozen shuffles for each multiplication.
#[inline(never)]
fn whole<V: Real>(sums: &[V], last: &[V], last_weights: &[V]) -> f64 {
    let rest = last.iter().zip(last_weights);
    let rest = rest.map(|(value, weight)| value.wide() * weight.wide());
    sums.iter().map(|part| part.wide()).sum::<f64>() + rest.sum::<f64>()
}

#[inline(always)]
fn scaled<V: Real, const LANES: usize>(values: &[V; LANES], factor: V) -> [V; LANES] {
    let mut products = [V::ZERO; LANES];
    for lane in 0..LANES {
        products[lane] = values[lane].times(factor);
    }
    products
}

#[inline(always)]
fn added<V: Real, const LANES: usize>(a: [V; LANES], b: [V; LANES]) -> [V; LANES] {
    let mut sums = [V::ZERO; LANES];
    for lane in 0..LANES {
        sums[lane] = a[lane].plus(b[lane]);
    }
    sums
}

#[inline(always)]
fn add_products<V: Real, const LANES: usize>(
    sums: &mut [V; LANES],
    values: &[V; LANES],
    weights: &[V; LANES],
) {
    for lane in 0..LANES {
        sums[lane] = sums[lane].plus(values[lane].times(weights[lane]));
    }
}

/// `g += Σ factor · x` over four rows; meanwhile the rows to come are asked for.
#[inline(always)]
pub(super) fn add_four<V: Real, const LANES: usize>(
    rows: [&[V]; TOGETHER],
    factors: [V; TOGETHER],
    gradient: &mut [V],
    coming: Option<[&[V]; TOGETHER]>,
) {
    let sum = |[one, two, three, four]: [V; TOGETHER]| {
        let first = one.times(factors[0]).plus(two.times(factors[1]));
        first.plus(three.times(factors[2]).plus(four.times(factors[3])))
    };
    let (gradient, last) = gradient.as_chunks_mut::<LANES>();
    let [one, two, three, four] = rows.map(|row| row.as_chunks::<LANES>());
    let values = one.0.iter().zip(two.0).zip(three.0).zip(four.0);
    for (place, (gradient, (((one, two), three), four))) in
        gradient.iter_mut().zip(values).enumerate()
    {
        if let Some(coming) = coming {
            (0..TOGETHER).for_each(|row| prefetch(coming[row], place * LANES));
        }
        // All is read before anything is written: else the compiler makes no vectors of it.
        let first = added(scaled(one, factors[0]), scaled(two, factors[1]));
        let second = added(scaled(three, factors[2]), scaled(four, factors[3]));
        *gradient = added(*gradient, added(first, second));
    }
    let values = one.1.iter().zip(two.1).zip(three.1).zip(four.1);
    for (own, (((&one, &two), &three), &four)) in last.iter_mut().zip(values) {
        *own = own.plus(sum([one, two, three, four]));
    }
}

/// `sums += Σ factor · x` over four rows for two lists of sums, whose lengths are multiples of the lanes.
#[inline(always)]
pub(super) fn add_four_twice<V: Real, const LANES: usize>(
    rows: [&[V]; TOGETHER],
    factors: [[V; TOGETHER]; 2],
    sums: [&mut [V]; 2],
) {
    let [one, two, three, four] = rows.map(|row| row.as_chunks::<LANES>().0);
    let values = one.iter().zip(two).zip(three).zip(four);
    let [first, second] = sums.map(|sums| sums.as_chunks_mut::<LANES>().0);
    let sums = first.iter_mut().zip(second);
    for ((first, second), (((one, two), three), four)) in sums.zip(values) {
        for (sums, factors) in [(first, factors[0]), (second, factors[1])] {
            let own = added(scaled(one, factors[0]), scaled(two, factors[1]));
            let other = added(scaled(three, factors[2]), scaled(four, factors[3]));
            *sums = added(*sums, added(own, other));
        }
    }
}

/// Runs a piece of work compiled for wide vectors where the processor has them.
pub(super) trait Work {
    fn run(self);
}

pub(super) fn run_wide(work: impl Work) {
    #[cfg(target_arch = "x86_64")]
    {
        #[target_feature(enable = "avx2")]
        fn wide(work: impl Work) {
            work.run();
        }
        if std::arch::is_x86_feature_detected!("avx2") {
            // SAFETY: the processor has just been asked.
            return unsafe { wide(work) };
        }
    }
    work.run();
}

/// The scores of dense rows by several outputs.
pub(crate) struct DenseScores {
    single: Vec<f32>,
    double: Vec<f64>,
    column_count: usize,
    output_count: usize,
}

impl DenseScores {
    /// `weight(column, output)` of a model whose rows have so many columns.
    pub(crate) fn new(
        view: DenseView<'_>,
        output_count: usize,
        weight: impl Fn(usize, usize) -> f64,
    ) -> Self {
        let outputs = 0..output_count;
        let columns = view.column_count;
        let all = outputs.flat_map(|output| (0..columns).map(move |column| (column, output)));
        let all = all.map(|(column, output)| weight(column, output));
        let (single, double) = match view.values {
            DenseValues::Single(_) => (all.map(|weight| weight as f32).collect(), Vec::new()),
            DenseValues::Double(_) => (Vec::new(), all.collect()),
        };
        Self {
            single,
            double,
            column_count: columns,
            output_count,
        }
    }

    /// Fills `scores` with those of some rows, row after row, output after output.
    pub(crate) fn fill(&self, view: DenseView<'_>, rows: &[u32], scores: &mut [f64]) {
        match view.values {
            DenseValues::Single(values) => {
                self.fill_with::<f32, 8>(values, view, &self.single, rows, scores);
            }
            DenseValues::Double(values) => {
                self.fill_with::<f64, 4>(values, view, &self.double, rows, scores);
            }
        }
    }

    fn fill_with<V: Real, const LANES: usize>(
        &self,
        values: &[V],
        view: DenseView<'_>,
        weights: &[V],
        rows: &[u32],
        scores: &mut [f64],
    ) {
        run_wide(Filling::<V, LANES> {
            values,
            view,
            weights,
            columns: self.column_count,
            outputs: self.output_count,
            rows,
            scores,
        });
    }
}

struct Filling<'a, V, const LANES: usize> {
    values: &'a [V],
    view: DenseView<'a>,
    weights: &'a [V],
    columns: usize,
    outputs: usize,
    rows: &'a [u32],
    scores: &'a mut [f64],
}

impl<V: Real, const LANES: usize> Work for Filling<'_, V, LANES> {
    #[inline(always)]
    fn run(self) {
        let row = |number: u32| &self.values[self.view.offset(number as usize)..][..self.columns];
        let parts = self.scores.chunks_mut(TOGETHER * self.outputs);
        for (numbers, scores) in self.rows.chunks(TOGETHER).zip(parts) {
            let last = numbers[numbers.len() - 1];
            let four = std::array::from_fn(|place| row(*numbers.get(place).unwrap_or(&last)));
            for output in 0..self.outputs {
                let weights = &self.weights[output * self.columns..][..self.columns];
                let found = dot_four::<V, LANES>(four, weights);
                for place in 0..numbers.len() {
                    scores[place * self.outputs + output] = found[place];
                }
            }
        }
    }
}
