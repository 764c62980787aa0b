//! One hash, the same on every machine and in every version.
//!
//! Hashed feature spaces are saved in model files, so the function may never
//! change; the vocabulary's table uses it too.

const MULTIPLIER: u64 = 0x9E37_79B9_7F4A_7C15;
const START: u64 = 0x243F_6A88_85A3_08D3;

/// Folds the 128-bit product of two words: fast, and every input bit reaches every output bit.
#[inline]
fn fold(a: u64, b: u64) -> u64 {
    let product = u128::from(a) * u128::from(b);
    (product as u64) ^ ((product >> 64) as u64)
}

/// A 64-bit hash of bytes, such as a term's.
///
/// ```
/// use calibrant_calibration::numeric::stable_hash;
/// assert_ne!(stable_hash(b"wheat"), stable_hash(b"wheats"));
/// assert_ne!(stable_hash(b""), stable_hash(b"\0"));
/// ```
#[inline]
pub fn stable_hash(bytes: &[u8]) -> u64 {
    let mut state = START ^ (bytes.len() as u64).wrapping_mul(MULTIPLIER);
    let mut chunks = bytes.chunks_exact(8);
    for chunk in &mut chunks {
        let word = u64::from_le_bytes([
            chunk[0], chunk[1], chunk[2], chunk[3], chunk[4], chunk[5], chunk[6], chunk[7],
        ]);
        state = fold(state ^ word, MULTIPLIER);
    }
    let rest = chunks.remainder();
    let mut last = 0u64;
    for (place, &byte) in rest.iter().enumerate() {
        last |= u64::from(byte) << (8 * place);
    }
    state = fold(state ^ last, MULTIPLIER | 1 << 40);
    state ^ (state >> 29)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test] // Saved models depend on these values, worked out by a second implementation in Python.
    fn the_function_is_frozen() {
        assert_eq!(stable_hash(b""), FROZEN[0]);
        assert_eq!(stable_hash(b"wheat"), FROZEN[1]);
        assert_eq!(
            stable_hash("\u{939}\u{93f}\u{928}\u{94d}\u{926}\u{940}".as_bytes()),
            FROZEN[2]
        );
    }
    const FROZEN: [u64; 3] = [0xe184857147841df6, 0xa057bdd88cf2b35a, 0x8f7e98cf7b8f851a];

    #[test]
    fn low_bits_spread_like_chance() {
        let bits = 16;
        let used: HashSet<u64> = (0..65_536u32)
            .map(|i| stable_hash(format!("term{i}").as_bytes()) & ((1 << bits) - 1))
            .collect();
        // By chance 65,536 balls in as many boxes leave 1/e of them empty: 41,427 used, sd about 104.
        assert!((40_900..41_950).contains(&used.len()), "{}", used.len());
    }
}
