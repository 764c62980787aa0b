//! Lines through sampled points, cut at the edge of the plotting area.

use super::axis::Axis;
use super::svg::{Svg, pair};

/// Lines are drawn through no more points than this.
const MOST_POINTS: usize = 400;

/// A line with a name: a fitted curve as it was sampled.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Curve {
    /// Its name in the legend.
    pub name: String,
    /// Its points from left to right; where one is not a number the line has a gap.
    pub points: Vec<(f64, f64)>,
}

impl Curve {
    /// Samples a function at points of equal distance.
    ///
    /// ```
    /// use calibrant::plot::Curve;
    /// let line = Curve::sample("double", 0.0, 1.0, 3, |x| 2.0 * x);
    /// assert_eq!(line.points, [(0.0, 0.0), (0.5, 1.0), (1.0, 2.0)]);
    /// ```
    pub fn sample(
        name: &str,
        from: f64,
        to: f64,
        count: usize,
        mut function: impl FnMut(f64) -> f64,
    ) -> Self {
        let steps = count.max(2) - 1;
        Self {
            name: name.to_owned(),
            points: (0..=steps)
                .map(|step| from + (to - from) * (step as f64 / steps as f64))
                .map(|x| (x, function(x)))
                .collect(),
        }
    }
}

/// Draws what of a line lies inside the area, as one element.
pub(super) fn draw_curve(svg: &mut Svg, class: &str, points: &[(f64, f64)], x: &Axis, y: &Axis) {
    let mut data = String::new();
    for run in visible_runs(points, x, y) {
        let places: Vec<String> = run.into_iter().map(pair).collect();
        data.push('M');
        data.push_str(&places.join("L"));
    }
    if !data.is_empty() {
        svg.path(class, &data);
    }
}

/// The stretches of a line inside the area, in units of the drawing.
fn visible_runs(points: &[(f64, f64)], x: &Axis, y: &Axis) -> Vec<Vec<(f64, f64)>> {
    let (left, right) = ends(x);
    let (top, bottom) = ends(y);
    // Far outside is far enough: differences must not overflow.
    let place = |&(a, b): &(f64, f64)| {
        let inside = |value: f64| value.clamp(-1e7, 1e7);
        (!a.is_nan() && !b.is_nan()).then(|| (inside(x.at(a)), inside(y.at(b))))
    };
    let mut runs: Vec<Vec<(f64, f64)>> = Vec::new();
    let mut before: Option<(f64, f64)> = None;
    for point in thinned(points, MOST_POINTS) {
        let place = place(point);
        if let (Some(from), Some(to)) = (before, place)
            && let Some((from, to)) = clip(from, to, (left, top), (right, bottom))
        {
            match runs.last_mut() {
                Some(run) if run.last() == Some(&from) => run.push(to),
                _ => runs.push(vec![from, to]),
            }
        }
        before = place;
    }
    runs
}

fn ends(axis: &Axis) -> (f64, f64) {
    let (a, b) = (axis.at(axis.low), axis.at(axis.high));
    (a.min(b), a.max(b))
}

/// At most `most` of the values, evenly chosen, the first and the last among them.
pub(super) fn thinned<T>(values: &[T], most: usize) -> impl Iterator<Item = &T> {
    let count = values.len().min(most);
    (0..count).map(move |index| {
        let last = values.len() - 1;
        &values[if count > 1 {
            index * last / (count - 1)
        } else {
            0
        }]
    })
}

/// The part of a segment inside a rectangle (the method of Liang and Barsky).
fn clip(
    from: (f64, f64),
    to: (f64, f64),
    low: (f64, f64),
    high: (f64, f64),
) -> Option<((f64, f64), (f64, f64))> {
    let (dx, dy) = (to.0 - from.0, to.1 - from.1);
    let (mut start, mut end) = (0.0f64, 1.0f64);
    for (direction, room) in [
        (-dx, from.0 - low.0),
        (dx, high.0 - from.0),
        (-dy, from.1 - low.1),
        (dy, high.1 - from.1),
    ] {
        if direction == 0.0 {
            if room < 0.0 {
                return None;
            }
        } else if direction < 0.0 {
            start = start.max(room / direction);
        } else {
            end = end.min(room / direction);
        }
    }
    let at = |part: f64| (from.0 + part * dx, from.1 + part * dy);
    // Ends that were not cut stay exactly what they were, so that runs join.
    let first = if start > 0.0 { at(start) } else { from };
    let second = if end < 1.0 { at(end) } else { to };
    (start <= end).then_some((first, second))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn unit() -> (Axis, Axis) {
        (
            Axis::new(0.0, 1.0, 0.0, 100.0),
            Axis::new(0.0, 1.0, 100.0, 0.0),
        )
    }

    #[test] // By hand: the line from (0, -1) to (1, 1) enters at x = 1/2.
    fn lines_are_cut_where_they_leave() {
        let (x, y) = unit();
        assert_eq!(
            visible_runs(&[(0.0, -1.0), (1.0, 1.0)], &x, &y),
            [[(50.0, 100.0), (100.0, 0.0)]]
        );
        // Over the top and back again: two runs.
        let there_and_back = [(0.0, 0.5), (0.5, 2.0), (1.0, 0.5)];
        assert_eq!(visible_runs(&there_and_back, &x, &y).len(), 2);
        // A point that is not a number leaves a gap.
        let gap = [
            (0.0, 0.5),
            (0.2, 0.5),
            (0.5, f64::NAN),
            (0.7, 0.5),
            (1.0, 0.5),
        ];
        assert_eq!(visible_runs(&gap, &x, &y).len(), 2);
    }

    #[test]
    fn huge_values_stay_finite() {
        let (x, y) = unit();
        let wild = [
            (f64::NEG_INFINITY, f64::NEG_INFINITY),
            (0.5, 1e308),
            (0.6, -1e308),
            (f64::INFINITY, f64::INFINITY),
        ];
        for place in visible_runs(&wild, &x, &y).concat() {
            assert!((-0.1..100.1).contains(&place.0) && (-0.1..100.1).contains(&place.1));
        }
        assert!(visible_runs(&[], &x, &y).is_empty());
    }

    #[test]
    fn thinning_keeps_the_ends() {
        let many: Vec<usize> = (0..1000).collect();
        let few: Vec<usize> = thinned(&many, 7).copied().collect();
        assert_eq!((few.len(), few[0], few[6]), (7, 0, 999));
        assert_eq!(thinned(&many[..3], 7).count(), 3);
        assert_eq!(thinned(&many[..0], 7).count(), 0);
    }
}
