//! Many short texts in one piece of memory.

/// Texts by number: their bytes one after the other, and where each ends.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct TextList {
    text: String,
    ends: Vec<usize>,
}

impl TextList {
    pub(super) fn push(&mut self, text: &str) {
        self.text.push_str(text);
        self.ends.push(self.text.len());
    }

    pub(super) fn len(&self) -> usize {
        self.ends.len()
    }

    pub(super) fn get(&self, number: usize) -> &str {
        let start = match number {
            0 => 0,
            _ => self.ends[number - 1],
        };
        &self.text[start..self.ends[number]]
    }

    /// The texts with these numbers, in this order.
    pub(super) fn select(&self, numbers: impl Iterator<Item = usize>) -> Self {
        let mut selected = Self::default();
        for number in numbers {
            selected.push(self.get(number));
        }
        selected
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_come_back_by_number() {
        let mut list = TextList::default();
        for text in ["a", "", "größe"] {
            list.push(text);
        }
        assert_eq!((list.get(0), list.get(1), list.get(2)), ("a", "", "größe"));
        let selected = list.select([2, 0].into_iter());
        assert_eq!((selected.get(0), selected.get(1)), ("größe", "a"));
        assert_eq!(selected.len(), 2);
    }
}
