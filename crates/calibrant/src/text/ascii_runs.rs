//! Runs of ASCII letters and digits, found 64 bytes at a time.
//!
//! A loop over single bytes mispredicts its exit at nearly every word. Here each block of
//! bytes is turned into masks of one bit per byte, without a branch, and the ends of words
//! are read off the masks.

/// The masks of the block that was looked at last; looking forwards computes each once.
pub(super) struct AsciiRuns<'t> {
    bytes: &'t [u8],
    /// Where the block begins; a multiple of [`BLOCK`], or `usize::MAX` before the first.
    base: usize,
    masks: Masks,
}

const BLOCK: usize = 64;

/// Bit `i` tells of byte `i` of the block. Bytes behind the end of the text are zero.
#[derive(Default)]
struct Masks {
    /// ASCII letters and digits.
    word: u64,
    /// ASCII capitals.
    capital: u64,
    /// Bytes outside ASCII.
    foreign: u64,
}

impl<'t> AsciiRuns<'t> {
    pub(super) fn new(bytes: &'t [u8]) -> Self {
        Self {
            bytes,
            base: usize::MAX,
            masks: Masks::default(),
        }
    }

    pub(super) fn bytes(&self) -> &'t [u8] {
        self.bytes
    }

    /// The first byte at or after `at` that is a letter, a digit or outside ASCII; the end of
    /// the text if there is none.
    #[inline]
    pub(super) fn next_start(&mut self, at: usize) -> usize {
        let mut at = at;
        while at < self.bytes.len() {
            let offset = self.look_at(at);
            let starts = (self.masks.word | self.masks.foreign) >> offset;
            if starts != 0 {
                return at + starts.trailing_zeros() as usize;
            }
            at += BLOCK - offset;
        }
        self.bytes.len()
    }

    /// Where the run of ASCII letters and digits that begins at `start` ends, and whether
    /// there is a capital in it.
    #[inline]
    pub(super) fn word_end(&mut self, start: usize) -> (usize, bool) {
        let mut at = start;
        let mut has_capital = false;
        while at < self.bytes.len() {
            let offset = self.look_at(at);
            let run = (self.masks.word >> offset).trailing_ones() as usize;
            let run_mask = u64::MAX
                .checked_shl(run as u32)
                .map_or(u64::MAX, |above| !above);
            has_capital |= self.masks.capital >> offset & run_mask != 0;
            at += run;
            if offset + run < BLOCK {
                break;
            }
        }
        (at, has_capital)
    }

    /// Loads the block of byte `at`, and says where in it the byte is.
    #[inline]
    fn look_at(&mut self, at: usize) -> usize {
        let offset = at % BLOCK;
        if self.base != at - offset {
            self.base = at - offset;
            self.masks = self.load(at - offset);
        }
        offset
    }

    fn load(&self, base: usize) -> Masks {
        let rest = self.bytes.get(base..).unwrap_or_default();
        if let Some(block) = rest.first_chunk::<BLOCK>() {
            return Masks::of(block);
        }
        let mut padded = [0; BLOCK];
        padded[..rest.len()].copy_from_slice(rest);
        Masks::of(&padded)
    }
}

impl Masks {
    #[inline]
    fn of(block: &[u8; BLOCK]) -> Self {
        Self {
            word: mask(block, |byte| {
                let letter = (byte | 0x20).wrapping_sub(b'a') < 26;
                letter | (byte.wrapping_sub(b'0') < 10)
            }),
            capital: mask(block, |byte| byte.wrapping_sub(b'A') < 26),
            foreign: mask(block, |byte| byte >= 0x80),
        }
    }
}

/// One bit per byte. The first loop becomes vector instructions; the second gathers the
/// lowest bits of eight bytes by one multiplication, which moves bit `8 i` to bit `56 + i`.
#[inline(always)]
fn mask(block: &[u8; BLOCK], class: impl Fn(u8) -> bool) -> u64 {
    const GATHER: u64 = 0x0102_0408_1020_4080;
    let mut flags = [0u8; BLOCK];
    for (flag, byte) in flags.iter_mut().zip(block) {
        *flag = u8::from(class(*byte));
    }
    let (eights, _) = flags.as_chunks::<8>();
    eights.iter().rev().fold(0, |mask, eight| {
        mask << 8 | u64::from_le_bytes(*eight).wrapping_mul(GATHER) >> 56
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[track_caller]
    fn check(bytes: &[u8]) {
        let mut runs = AsciiRuns::new(bytes);
        for at in 0..=bytes.len() {
            let run = bytes[at..]
                .iter()
                .take_while(|byte| byte.is_ascii_alphanumeric());
            let end = at + run.clone().count();
            let has_capital = run.clone().any(u8::is_ascii_uppercase);
            assert_eq!(
                runs.word_end(at),
                (end, has_capital),
                "from {at} of {bytes:?}"
            );
            let start = bytes[at..]
                .iter()
                .position(|byte| byte.is_ascii_alphanumeric() || !byte.is_ascii())
                .map_or(bytes.len(), |distance| at + distance);
            assert_eq!(runs.next_start(at), start, "from {at} of {bytes:?}");
        }
    }

    #[test]
    fn every_byte_is_classified_in_the_block_and_at_its_edges() {
        for byte in 0..=u8::MAX {
            for filler in [b'a', b'Z', b'7', b' '] {
                for at in [0, 1, 62, 63, 64, 65, 127, 129] {
                    let mut bytes = [filler; 130];
                    bytes[at] = byte;
                    check(&bytes);
                }
            }
        }
    }

    #[test]
    fn looking_behind_the_end_finds_nothing() {
        let mut runs = AsciiRuns::new(b"abc");
        assert_eq!(runs.word_end(9), (9, false));
        assert_eq!(runs.next_start(9), 3);
        assert_eq!(AsciiRuns::new(b"").next_start(0), 0);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(200))]

        #[test]
        fn runs_are_those_of_a_loop_over_bytes(
            pieces in proptest::collection::vec(("[a-z]{0,80}", any::<u8>(), "[ -.]{0,80}"), 0..8),
        ) {
            let mut bytes = Vec::new();
            for (word, byte, gap) in pieces {
                bytes.extend(word.bytes());
                bytes.push(byte);
                bytes.extend(gap.bytes());
            }
            check(&bytes);
        }
    }
}
