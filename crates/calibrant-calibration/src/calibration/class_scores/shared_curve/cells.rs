//! The scores that a curve for all classes is fitted to, thinned where they hardly matter.

use crate::numeric::{Random, exp_of_negative, sigmoid};

/// Whether the classes of an example exclude each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Link {
    /// Exactly one is right: `P(c) ∝ e^{L_c}`.
    Softmax,
    /// Each is right or not: `P(c) = 1/(1 + e^{-L_c})`.
    Sigmoid,
}

/// Held-out scores of all classes with the truth, row after row, as they were handed in.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ScoreRows<'a> {
    pub(crate) link: Link,
    pub(crate) class_count: usize,
    /// Row after row, one per class.
    pub(crate) scores: &'a [f64],
    /// The right classes of each row, rising.
    pub(crate) labels: Labels<'a>,
    pub(crate) weights: &'a [f64],
    pub(crate) folds: &'a [u8],
}

/// The right classes of rows: one each, or any number.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Labels<'a> {
    /// One per row.
    One(&'a [u32]),
    /// Any number per row, rising.
    Several(&'a [Vec<u32>]),
}

impl<'a> Labels<'a> {
    pub(crate) fn of(self, row: usize) -> &'a [u32] {
        match self {
            Self::One(labels) => std::slice::from_ref(&labels[row]),
            Self::Several(labels) => &labels[row],
        }
    }
}

impl<'a> ScoreRows<'a> {
    pub(crate) fn row(&self, row: usize) -> &'a [f64] {
        &self.scores[row * self.class_count..][..self.class_count]
    }

    pub(crate) fn row_count(&self) -> usize {
        self.weights.len()
    }

    /// How many folds there are.
    pub(crate) fn fold_count(&self) -> usize {
        1 + usize::from(self.folds.iter().copied().max().unwrap_or(0))
    }

    /// Every so many rows, so that there are at most about so many, evenly spread.
    pub(super) fn sample(&self, most: usize) -> impl Iterator<Item = usize> + Clone + use<> {
        let step = self.row_count().div_ceil(most.max(1)).max(1);
        (0..self.row_count()).step_by(step)
    }
}

/// One score of one row.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Cell {
    pub(super) class: u32,
    /// The piece of the curve that the score lies in.
    pub(super) piece: u32,
    /// The standardised score.
    pub(super) x: f32,
    /// How far along its piece, from 0 to 1.
    pub(super) along: f32,
    /// How many scores like this it stands for.
    pub(super) stands_for: f32,
}

/// The scores that matter, row after row.
///
/// With many classes most scores of a row say next to nothing: a class whose probability is
/// `1e-4` pulls as much on the curve as its probability. Below a probability of [`WHOLE`] only some of them
/// are kept, in proportion to that, and each stands for those that are not. The right classes are always kept, and so is the
/// best of the wrong ones where classes exclude each other.
///
/// Truth is not taken at its word: as with Platt's targets, each row counts as wrong to the share [`Self::slip`], one example
/// among all of them. Scores that never err among a hundred examples would else become certainties.
#[derive(Debug)]
pub(super) struct Cells {
    pub(super) link: Link,
    pub(super) class_count: usize,
    cells: Vec<Cell>,
    /// Where each row's cells end.
    ends: Vec<usize>,
    /// Which of a row's cells are right: places within the row.
    right: Vec<u32>,
    right_ends: Vec<usize>,
    /// Where classes exclude each other: the place of the best wrong one within each row.
    runner_up: Vec<Option<u32>>,
    /// `1/(n + 2)` for `n` rows, or decisions where any number of classes may be right: the share of each that says the opposite.
    pub(super) slip: f64,
    pub(super) weights: Vec<f64>,
    pub(super) folds: Vec<u8>,
}

/// One row of [`Cells`].
#[derive(Debug, Clone, Copy)]
pub(super) struct Row<'a> {
    pub(super) cells: &'a [Cell],
    /// The places of the right ones among them.
    pub(super) right: &'a [u32],
    /// The place of the best wrong one, where classes exclude each other and there is another.
    pub(super) runner_up: Option<u32>,
    /// How much of the row says the opposite.
    pub(super) slip: f64,
}

/// Scores whose class is likelier than this are all kept.
const WHOLE: f64 = 1e-3;
/// The same where there are more than [`MANY_SCORES`]: chance evens out over them.
const WHOLE_OF_MANY: f64 = 1e-2;
/// From so many scores on, time counts more than the last digit.
pub(super) const MANY_SCORES: usize = 1 << 20;
/// No score stands for more than this many, however unlikely its class seems.
const MOST: f64 = 32.0;
/// With fewer classes than this nothing is thinned.
const FEW_CLASSES: usize = 24;

/// Which rows are looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Part {
    /// All of them.
    All,
    /// Those of a fold.
    Only(u8),
    /// Those of all folds but one.
    Without(u8),
}

impl Part {
    #[inline]
    pub(super) fn has(self, fold: u8) -> bool {
        match self {
            Self::All => true,
            Self::Only(one) => fold == one,
            Self::Without(one) => fold != one,
        }
    }
}

/// Scores in units in which the best straight line has a slope of one.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Standard {
    pub(super) factor: f64,
    pub(super) centre: f64,
}

impl Standard {
    #[inline]
    pub(super) fn apply(&self, score: f64) -> f64 {
        self.factor * (score - self.centre)
    }

    pub(super) fn undo(&self, x: f64) -> f64 {
        self.centre + x / self.factor
    }
}

impl Cells {
    /// Of some rows.
    pub(super) fn of(
        rows: &ScoreRows<'_>,
        chosen: impl Iterator<Item = usize>,
        standard: Standard,
        knots: &[f64],
    ) -> Self {
        let class_count = rows.class_count;
        let mut made = Self {
            link: rows.link,
            class_count,
            cells: Vec::new(),
            ends: Vec::new(),
            right: Vec::new(),
            right_ends: Vec::new(),
            runner_up: Vec::new(),
            slip: slip(rows),
            weights: Vec::new(),
            folds: Vec::new(),
        };
        let whole = if rows.scores.len() > MANY_SCORES {
            WHOLE_OF_MANY
        } else {
            WHOLE
        };
        let mut x = vec![0.0; class_count];
        let mut chances = vec![1.0; class_count];
        for row in chosen {
            made.weights.push(rows.weights[row]);
            made.folds.push(rows.folds[row]);
            for (x, &score) in x.iter_mut().zip(rows.row(row)) {
                *x = standard.apply(score);
            }
            if class_count >= FEW_CLASSES {
                chances_into(rows.link, whole, &x, &mut chances);
            }
            made.add_row(row, &x, &chances, rows.labels.of(row), knots);
        }
        made
    }

    fn add_row(&mut self, row: usize, x: &[f64], chances: &[f64], labels: &[u32], knots: &[f64]) {
        // Where along the row the first is kept is left to chance, so that no class is favoured.
        let mut passed = Random::from_seed(row as u64).uniform();
        let first = self.cells.len();
        let runner_up = match self.link {
            Link::Softmax => best_wrong(x, labels),
            Link::Sigmoid => None,
        };
        let mut runner_up_at = None;
        let mut labels = labels.iter().peekable();
        for (class, (&x, &chance)) in x.iter().zip(chances).enumerate() {
            let right = labels.next_if(|&&label| label as usize == class).is_some();
            let mut stands_for = 1.0;
            if right {
                self.right.push((self.cells.len() - first) as u32);
            } else if runner_up == Some(class) {
                runner_up_at = Some((self.cells.len() - first) as u32);
            } else if chance < 1.0 {
                passed += chance;
                if passed < 1.0 {
                    continue;
                }
                passed -= 1.0;
                stands_for = 1.0 / chance;
            }
            let (piece, along) = place(x, knots);
            self.cells.push(Cell {
                class: class as u32,
                piece: piece as u32,
                x: x as f32,
                along: along as f32,
                stands_for: stands_for as f32,
            });
        }
        self.ends.push(self.cells.len());
        self.right_ends.push(self.right.len());
        self.runner_up.push(runner_up_at);
    }

    pub(super) fn row_count(&self) -> usize {
        self.ends.len()
    }

    /// The weight of the rows of a part.
    pub(super) fn weight(&self, part: Part) -> f64 {
        let rows = self.weights.iter().zip(&self.folds);
        let rows = rows.filter(|(_, fold)| part.has(**fold));
        rows.map(|(weight, _)| weight).sum()
    }

    /// The cells of a row.
    #[inline]
    pub(super) fn row(&self, row: usize) -> Row<'_> {
        let before = row.wrapping_sub(1);
        let first = self.ends.get(before).copied().unwrap_or(0);
        let first_right = self.right_ends.get(before).copied().unwrap_or(0);
        Row {
            cells: &self.cells[first..self.ends[row]],
            right: &self.right[first_right..self.right_ends[row]],
            runner_up: self.runner_up[row],
            slip: self.slip,
        }
    }

    /// How many rows of so many classes make about so many cells.
    pub(super) fn rows_for(cells: usize, class_count: usize) -> usize {
        let kept = if class_count < FEW_CLASSES {
            class_count
        } else {
            class_count.min(FEW_CLASSES + class_count / MOST as usize)
        };
        cells / kept
    }
}

/// One example in all says the opposite; a weight of two is two examples.
fn slip(rows: &ScoreRows<'_>) -> f64 {
    let total: f64 = rows.weights.iter().sum();
    let examples = match rows.link {
        Link::Softmax => total,
        Link::Sigmoid => total * rows.class_count as f64,
    };
    1.0 / (examples + 2.0)
}

/// The class with the highest score among those that are not right.
fn best_wrong(x: &[f64], labels: &[u32]) -> Option<usize> {
    let wrong = (0..x.len()).filter(|&class| !labels.contains(&(class as u32)));
    wrong.max_by(|&a, &b| x[a].total_cmp(&x[b]))
}

/// With what chance each score of a row is kept.
fn chances_into(link: Link, whole: f64, x: &[f64], chances: &mut [f64]) {
    let keep = |p: f64| (p / whole).clamp(1.0 / MOST, 1.0);
    match link {
        Link::Sigmoid => {
            for (chance, &x) in chances.iter_mut().zip(x) {
                *chance = keep(sigmoid(x));
            }
        }
        Link::Softmax => {
            let top = x.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            let mut total = 0.0;
            for (chance, &x) in chances.iter_mut().zip(x) {
                *chance = exp_of_negative(x - top);
            }
            chances.iter().for_each(|chance| total += chance);
            chances.iter_mut().for_each(|p| *p = keep(*p / total));
        }
    }
}

/// The piece between knots that a value lies in, and how far along it; values beyond the ends count as
/// the ends.
#[inline]
pub(super) fn place(x: f64, knots: &[f64]) -> (usize, f64) {
    let last = knots.len() - 1;
    let piece = knots[1..last].iter().filter(|&&knot| knot <= x).count();
    let width = knots[piece + 1] - knots[piece];
    (piece, ((x - knots[piece]) / width).clamp(0.0, 1.0))
}
