//! Arithmetic in the fields with `2^m` elements.

/// Primitive polynomials over the field of two elements, for `m` from 2 to 13, lowest bit the
/// constant: their root's powers run through all elements but zero.
const PRIMITIVE: [u32; 12] = [
    0b111,
    0b1011,
    0b1_0011,
    0b10_0101,
    0b100_0011,
    0b1000_1001,
    0b1_0001_1101,
    0b10_0001_0001,
    0b100_0000_1001,
    0b1000_0000_0101,
    0b1_0000_0101_0011,
    0b10_0000_0001_1011,
];

/// The field with `2^m` elements by its logarithms. Addition is exclusive or.
#[derive(Debug, Clone)]
pub(super) struct Field {
    /// `α^i` for `i` below the order.
    powers: Vec<u32>,
    /// Where a power stands; the entry of zero means nothing.
    logarithms: Vec<u32>,
}

impl Field {
    /// The sizes there are.
    pub(super) const BITS: std::ops::RangeInclusive<u32> = 2..=13;

    /// The field with `2^bits` elements; `None` outside [`Self::BITS`].
    pub(super) fn new(bits: u32) -> Option<Self> {
        let polynomial = *PRIMITIVE.get(bits.checked_sub(2)? as usize)?;
        let order = (1usize << bits) - 1;
        let mut powers = Vec::with_capacity(order);
        let mut logarithms = vec![0; order + 1];
        let mut element = 1u32;
        for exponent in 0..order {
            powers.push(element);
            logarithms[element as usize] = exponent as u32;
            element <<= 1;
            if element >> bits == 1 {
                element ^= polynomial;
            }
        }
        Some(Self { powers, logarithms })
    }

    /// How many elements there are besides zero.
    pub(super) fn order(&self) -> usize {
        self.powers.len()
    }

    /// `α^exponent`.
    pub(super) fn power(&self, exponent: usize) -> u32 {
        self.powers[exponent % self.order()]
    }

    /// The product of two elements.
    pub(super) fn times(&self, a: u32, b: u32) -> u32 {
        if a == 0 || b == 0 {
            return 0;
        }
        let sum = self.logarithms[a as usize] + self.logarithms[b as usize];
        self.power(sum as usize)
    }

    /// The exponents `i, 2i, 4i, ...`: powers of `α` that are roots of the same polynomials with
    /// coefficients 0 and 1.
    pub(super) fn conjugates(&self, exponent: usize) -> Vec<usize> {
        let mut all = vec![exponent % self.order()];
        loop {
            let next = all[all.len() - 1] * 2 % self.order();
            if next == all[0] {
                return all;
            }
            all.push(next);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn powers_of_the_root_run_through_all_elements_but_zero() {
        for bits in Field::BITS {
            let field = Field::new(bits).unwrap();
            let mut seen = vec![false; field.order() + 1];
            for exponent in 0..field.order() {
                seen[field.power(exponent) as usize] = true;
            }
            assert!(
                !seen[0] && seen[1..].iter().all(|&seen| seen),
                "{bits} bits"
            );
        }
        assert!(Field::new(1).is_none() && Field::new(14).is_none());
    }

    #[test] // In the field of 16 with α⁴ = α + 1.
    fn products_follow_the_polynomial() {
        let field = Field::new(4).unwrap();
        assert_eq!(field.times(0b1000, 0b10), 0b0011);
        assert_eq!(field.times(0b1000, 0b1000), 0b1100); // α⁶ = α³ + α²
        assert_eq!(field.times(0, 7), 0);
        assert_eq!(field.conjugates(1), [1, 2, 4, 8]);
        assert_eq!(field.conjugates(5), [5, 10]);
    }
}
