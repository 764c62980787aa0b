//! Pieces of a source: as many as shall be parsed at once are read ahead, and how far that is gets reported.

use super::ReadError;
use super::lines::PIECE_BYTES;
use crate::Progress;
use crate::progress::{Cancelled, Stage};

/// The sequential half of a reader: hands out pieces of the source that can be parsed alone.
pub(super) trait PieceSource: Send {
    type Piece: Send;

    fn next_piece(&mut self) -> Result<Option<Self::Piece>, ReadError>;

    /// Whether whoever writes the source may wait for answers to what is written so far.
    fn is_live(&self) -> bool {
        false
    }

    /// Whether [`Self::next_piece`] need not wait.
    fn is_ready(&mut self) -> bool {
        true
    }

    /// Bytes taken from the source so far.
    fn bytes_read(&self) -> u64;

    /// Roughly the bytes a piece occupies.
    fn weight(piece: &Self::Piece) -> usize;
}

/// No window has more pieces.
pub(super) const MOST_PIECES: usize = 128;

/// As many pieces as shall be parsed at once.
pub(super) struct Window<P> {
    pub(super) pieces: Vec<P>,
    /// Whether and how the source ended behind these pieces.
    pub(super) end: Option<Result<(), ReadError>>,
}

impl<P> Window<P> {
    /// Two pieces per thread keep all threads busy while one of them reads on. How many there are
    /// has no influence on results, only on memory, so long rows count for several.
    pub(super) fn read<S: PieceSource<Piece = P>>(source: &mut S) -> Self {
        let most = (2 * rayon::current_num_threads()).clamp(4, MOST_PIECES);
        let mut pieces = Vec::with_capacity(most);
        let mut weight = 0;
        while pieces.len() < most && weight < most * PIECE_BYTES {
            if !pieces.is_empty() && !source.is_ready() {
                break;
            }
            match source.next_piece() {
                Ok(Some(piece)) => {
                    weight += S::weight(&piece);
                    pieces.push(piece);
                }
                Ok(None) => {
                    return Self {
                        pieces,
                        end: Some(Ok(())),
                    };
                }
                Err(error) => {
                    return Self {
                        pieces,
                        end: Some(Err(error)),
                    };
                }
            }
        }
        Self { pieces, end: None }
    }
}

/// Reports how far the source has been read.
pub(super) struct Meter<'a> {
    stage: Stage<'a>,
    reported: u64,
}

impl<'a> Meter<'a> {
    pub(super) fn begin(progress: &'a dyn Progress, size: Option<u64>) -> Self {
        Self {
            stage: Stage::begin(progress, "reading", size),
            reported: 0,
        }
    }

    pub(super) fn advance_to(&mut self, bytes: u64) -> Result<(), Cancelled> {
        let more = bytes.saturating_sub(self.reported);
        self.reported += more;
        self.stage.step(more)
    }
}
