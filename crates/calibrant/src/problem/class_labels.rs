//! Which rows belong to which classes.

use crate::{RowLabels, Task};

/// The classes of every row.
#[derive(Debug, Clone, PartialEq)]
pub struct ClassLabels {
    /// One class a row, or any number.
    pub task: Task,
    /// How many classes there are.
    pub class_count: usize,
    /// The classes of each row, rising.
    pub of_row: RowLabels,
}

impl ClassLabels {
    /// One class, which rows belong to or not.
    pub fn of_one_class(belongs: &[bool]) -> Self {
        let own = |&belongs: &bool| if belongs { &[0][..] } else { &[] };
        Self {
            task: Task::MultiLabel,
            class_count: 1,
            of_row: belongs.iter().map(own).collect(),
        }
    }

    /// How many scorers the classes need: two exclusive classes share one.
    pub fn output_count(&self) -> usize {
        if self.task == Task::SingleLabel && self.class_count == 2 {
            1
        } else {
            self.class_count
        }
    }

    /// The class that an output speaks for: the second of two exclusive ones.
    pub fn class_of_output(&self, output: usize) -> usize {
        if self.output_count() < self.class_count {
            1
        } else {
            output
        }
    }

    /// Whether each row belongs to a class.
    pub fn membership(&self, class: usize) -> Vec<bool> {
        self.of_row
            .iter()
            .map(|classes| classes.contains(&(class as u32)))
            .collect()
    }

    /// The rows of each class.
    pub fn members(&self) -> Vec<Vec<u32>> {
        let mut members = vec![Vec::new(); self.class_count];
        for (row, classes) in self.of_row.iter().enumerate() {
            classes
                .iter()
                .for_each(|&class| members[class as usize].push(row as u32));
        }
        members
    }
}
