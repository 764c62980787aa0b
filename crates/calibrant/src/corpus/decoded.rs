//! Text in another encoding, read as UTF-8.

use std::io::{self, Read};

use super::Encoding;

const BUFFER_BYTES: usize = 1 << 16;

/// Reads bytes of an encoding and gives UTF-8. What is not text in that encoding is an error: a sign in its place would
/// change the text in silence.
pub(super) struct Decoded<R> {
    inner: R,
    encoding: Encoding,
    decoder: encoding_rs::Decoder,
    /// Bytes as stored that wait to be decoded, from `next` on.
    stored: Vec<u8>,
    next: usize,
    /// Decoded bytes that wait to be taken, from `taken` on.
    decoded: Vec<u8>,
    taken: usize,
    /// Nothing more will come.
    ended: bool,
    finished: bool,
}

impl<R: Read> Decoded<R> {
    pub(super) fn new(inner: R, encoding: Encoding) -> Self {
        Self {
            inner,
            encoding,
            decoder: encoding.inner().new_decoder_with_bom_removal(),
            stored: Vec::new(),
            next: 0,
            decoded: Vec::new(),
            taken: 0,
            ended: false,
            finished: false,
        }
    }

    /// Decodes more; at the end, nothing.
    fn refill(&mut self) -> io::Result<()> {
        while self.taken == self.decoded.len() && !self.finished {
            if self.next == self.stored.len() && !self.ended {
                self.stored.resize(BUFFER_BYTES, 0);
                let outcome = self.inner.read(&mut self.stored);
                // Whoever was interrupted comes again: nothing was read.
                self.stored.truncate(*outcome.as_ref().unwrap_or(&0));
                self.next = 0;
                let read = outcome?;
                self.ended = read == 0;
            }
            self.decoded.resize(BUFFER_BYTES, 0);
            let (outcome, read, written) = self.decoder.decode_to_utf8_without_replacement(
                &self.stored[self.next..],
                &mut self.decoded,
                self.ended,
            );
            self.next += read;
            self.decoded.truncate(written);
            self.taken = 0;
            match outcome {
                encoding_rs::DecoderResult::InputEmpty => self.finished = self.ended,
                encoding_rs::DecoderResult::OutputFull => {}
                encoding_rs::DecoderResult::Malformed(..) => {
                    let encoding = self.encoding;
                    return Err(io::Error::new(
                        io::ErrorKind::InvalidData,
                        format!(
                            "holds bytes that are not {encoding} text; is it another encoding?"
                        ),
                    ));
                }
            }
        }
        Ok(())
    }
}

impl<R: Read> Read for Decoded<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.taken == self.decoded.len() {
            self.refill()?;
        }
        let waiting = &self.decoded[self.taken..];
        let length = waiting.len().min(buffer.len());
        buffer[..length].copy_from_slice(&waiting[..length]);
        self.taken += length;
        Ok(length)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Gives a few bytes at a time.
    struct Slow<'a>(&'a [u8], usize);

    impl Read for Slow<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let length = self.1.min(self.0.len()).min(buffer.len());
            buffer[..length].copy_from_slice(&self.0[..length]);
            self.0 = &self.0[length..];
            Ok(length)
        }
    }

    fn decode(bytes: &[u8], encoding: &str, at_a_time: usize) -> io::Result<String> {
        let mut text = String::new();
        let encoding = encoding.parse().unwrap();
        Decoded::new(Slow(bytes, at_a_time), encoding).read_to_string(&mut text)?;
        Ok(text)
    }

    fn utf_16(text: &str, big: bool) -> Vec<u8> {
        let bytes = |unit: u16| match big {
            true => unit.to_be_bytes(),
            false => unit.to_le_bytes(),
        };
        text.encode_utf16().flat_map(bytes).collect()
    }

    proptest! {
        #[test]
        fn text_is_what_it_was_however_few_bytes_come_at_a_time(text in "\\PC{0,60}", at_a_time in 1usize..9) {
            for (big, name) in [(false, "utf-16le"), (true, "utf-16be")] {
                prop_assert_eq!(&decode(&utf_16(&text, big), name, at_a_time).unwrap(), &text);
            }
            let (bytes, _, lossy) = encoding_rs::SHIFT_JIS.encode(&text);
            if !lossy {
                let (expected, _) = encoding_rs::SHIFT_JIS.decode_without_bom_handling(&bytes);
                prop_assert_eq!(decode(&bytes, "shift_jis", at_a_time).unwrap(), expected);
            }
        }

        #[test]
        fn any_bytes_are_text_or_an_error(bytes in prop::collection::vec(any::<u8>(), 0..200), at_a_time in 1usize..50) {
            prop_assert!(decode(&bytes, "windows-1252", at_a_time).is_ok());
            for name in ["utf-16le", "gb18030", "euc-jp", "big5", "utf-8"] {
                let _ = decode(&bytes, name, at_a_time);
            }
        }
    }

    #[test]
    fn long_texts_pass_through_and_marks_are_left_out() {
        let long = "Grüße ".repeat(50_000);
        assert_eq!(
            decode(
                &utf_16(&format!("\u{FEFF}{long}"), false),
                "utf-16le",
                1 << 20
            )
            .unwrap(),
            long
        );
    }

    /// Is interrupted before every read.
    struct Interrupted<'a>(&'a [u8], bool);

    impl Read for Interrupted<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            self.1 = !self.1;
            match self.1 {
                true => Err(io::ErrorKind::Interrupted.into()),
                false => self.0.read(&mut buffer[..2.min(self.0.len())]),
            }
        }
    }

    #[test]
    fn an_interrupted_read_adds_nothing() {
        let mut text = String::new();
        let bytes = utf_16("abc", false);
        let mut decoded = Decoded::new(Interrupted(&bytes, false), Encoding::UTF_16LE);
        decoded.read_to_string(&mut text).unwrap();
        assert_eq!(text, "abc");
    }

    #[test]
    fn half_a_character_is_an_error() {
        let error = decode(&[b'a', 0, b'b'], "utf-16le", 10).unwrap_err();
        assert!(error.to_string().contains("not utf-16le text"), "{error}");
        assert!(decode(&[0x00, 0xD8, b'b', 0], "utf-16le", 1).is_err());
    }
}
