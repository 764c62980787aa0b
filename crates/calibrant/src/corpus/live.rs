//! A source that is read while it is being written: whoever writes waits for answers.

use std::io::{self, Read};
use std::sync::mpsc::{Receiver, TryRecvError, sync_channel};
use std::thread;

/// The most bytes that are taken at once.
const CHUNK_BYTES: usize = 1 << 16;
/// So many chunks may wait.
const CHUNKS: usize = 64;

/// Reads on a thread of its own, so that one can ask whether there is something to read.
///
/// The thread ends with the source, or at the first chunk that nobody wants any more.
pub(super) struct Live {
    chunks: Receiver<io::Result<Vec<u8>>>,
    /// What came and was not taken.
    next: Option<io::Result<Vec<u8>>>,
    ended: bool,
}

impl Live {
    pub(super) fn new(mut source: Box<dyn Read + Send>) -> io::Result<Self> {
        let (sender, chunks) = sync_channel(CHUNKS);
        let read = move || {
            let mut buffer = vec![0; CHUNK_BYTES];
            loop {
                let chunk = match source.read(&mut buffer) {
                    Ok(0) => return,
                    Ok(read) => Ok(buffer[..read].to_vec()),
                    Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                    Err(error) => Err(error),
                };
                let failed = chunk.is_err();
                if sender.send(chunk).is_err() || failed {
                    return;
                }
            }
        };
        thread::Builder::new().name("reader".into()).spawn(read)?;
        Ok(Self {
            chunks,
            next: None,
            ended: false,
        })
    }

    /// A source that cannot be read: says so, and ends.
    pub(super) fn failed(error: io::Error) -> Self {
        let (_, chunks) = sync_channel(1);
        Self {
            chunks,
            next: Some(Err(error)),
            ended: false,
        }
    }

    /// Whether [`Self::take`] would answer at once.
    pub(super) fn is_ready(&mut self) -> bool {
        if self.next.is_none() && !self.ended {
            match self.chunks.try_recv() {
                Ok(chunk) => self.next = Some(chunk),
                Err(TryRecvError::Empty) => return false,
                Err(TryRecvError::Disconnected) => self.ended = true,
            }
        }
        true
    }

    /// What comes next, waiting for it; `None` at the end.
    pub(super) fn take(&mut self) -> io::Result<Option<Vec<u8>>> {
        if self.ended {
            return Ok(None);
        }
        let chunk = match self.next.take() {
            Some(chunk) => Some(chunk),
            None => self.chunks.recv().ok(),
        };
        self.ended = !matches!(chunk, Some(Ok(_)));
        chunk.transpose()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Gives what is sent to it.
    struct Pipe(Receiver<Vec<u8>>);

    impl Read for Pipe {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let bytes = self.0.recv().unwrap_or_default();
            buffer[..bytes.len()].copy_from_slice(&bytes);
            Ok(bytes.len())
        }
    }

    #[test]
    fn what_is_there_is_taken_and_the_end_is_no_wait() {
        let (sender, receiver) = sync_channel(8);
        let mut live = Live::new(Box::new(Pipe(receiver))).unwrap();
        assert!(!live.is_ready());
        sender.send(b"one".to_vec()).unwrap();
        assert_eq!(live.take().unwrap().unwrap(), b"one");
        sender.send(b"two".to_vec()).unwrap();
        drop(sender);
        assert_eq!(live.take().unwrap().unwrap(), b"two");
        assert_eq!(live.take().unwrap(), None);
        assert!(live.is_ready());
    }

    #[test]
    fn a_failure_comes_after_what_was_read() {
        struct Broken(bool);
        impl Read for Broken {
            fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
                if std::mem::replace(&mut self.0, true) {
                    return Err(io::Error::other("unplugged"));
                }
                buffer[0] = b'a';
                Ok(1)
            }
        }
        let mut live = Live::new(Box::new(Broken(false))).unwrap();
        assert_eq!(live.take().unwrap().unwrap(), b"a");
        assert!(live.take().is_err());
        assert_eq!(live.take().unwrap(), None);
    }
}
