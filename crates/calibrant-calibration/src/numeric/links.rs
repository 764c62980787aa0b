//! What hangs together.

/// Which of some numbered things hang together: a forest whose roots are the least of each tree.
#[derive(Debug)]
pub struct Links {
    parents: Vec<u32>,
}

impl Links {
    /// Each on its own.
    pub fn new(count: usize) -> Self {
        Self {
            parents: (0..count as u32).collect(),
        }
    }

    /// The least of all that hang together.
    pub fn root(&mut self, mut at: u32) -> u32 {
        while self.parents[at as usize] != at {
            let above = self.parents[self.parents[at as usize] as usize];
            self.parents[at as usize] = above;
            at = above;
        }
        at
    }

    /// From now on these two hang together, with all that hang on them.
    pub fn join(&mut self, a: u32, b: u32) {
        let (a, b) = (self.root(a), self.root(b));
        self.parents[a.max(b) as usize] = a.min(b);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chains_end_at_their_least() {
        let mut links = Links::new(6);
        links.join(4, 5);
        links.join(1, 4);
        links.join(5, 2);
        let roots: Vec<u32> = (0..6).map(|at| links.root(at)).collect();
        assert_eq!(roots, [0, 1, 1, 3, 1, 1]);
    }
}
