//! The best few of many.

use std::cmp::Ordering;

use super::Neighbour;

/// Keeps the `wanted` nearest of all neighbours that are offered: a heap with the worst on top.
#[derive(Debug, Default)]
pub(super) struct Nearest {
    wanted: usize,
    heap: Vec<Neighbour>,
}

/// Nearer first; of equals the lower row.
fn order(a: &Neighbour, b: &Neighbour) -> Ordering {
    b.similarity
        .total_cmp(&a.similarity)
        .then_with(|| a.row.cmp(&b.row))
}

impl Nearest {
    pub(super) fn restart(&mut self, wanted: usize) {
        self.wanted = wanted;
        self.heap.clear();
    }

    pub(super) fn wanted(&self) -> usize {
        self.wanted
    }

    pub(super) fn offer(&mut self, neighbour: Neighbour) {
        let heap = &mut self.heap;
        if heap.len() < self.wanted {
            heap.push(neighbour);
            let mut place = heap.len() - 1;
            while place > 0 {
                let parent = (place - 1) / 2;
                if order(&heap[place], &heap[parent]) != Ordering::Greater {
                    break;
                }
                heap.swap(place, parent);
                place = parent;
            }
            return;
        }
        if heap.is_empty() || order(&neighbour, &heap[0]) != Ordering::Less {
            return;
        }
        heap[0] = neighbour;
        let mut place = 0;
        loop {
            let mut worst = place;
            for child in [2 * place + 1, 2 * place + 2] {
                if child < heap.len() && order(&heap[child], &heap[worst]) == Ordering::Greater {
                    worst = child;
                }
            }
            if worst == place {
                return;
            }
            heap.swap(place, worst);
            place = worst;
        }
    }

    /// Brings them into order, the nearest first.
    pub(super) fn finish(&mut self) {
        self.heap.sort_unstable_by(order);
    }

    pub(super) fn as_slice(&self) -> &[Neighbour] {
        &self.heap
    }
}
