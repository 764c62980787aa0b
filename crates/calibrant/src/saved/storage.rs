//! Numbers that stay in the file.

use std::ops::Deref;
use std::sync::Arc;

use memmap2::Mmap;

/// Numbers that are owned or lie in a memory-mapped model file.
#[derive(Debug, Clone)]
pub enum Storage<T> {
    /// In memory of our own.
    Owned(Vec<T>),
    /// A part of a mapped file, checked for alignment and length when it was opened.
    Mapped {
        /// The file.
        file: Arc<Mmap>,
        /// Where the numbers begin, in bytes.
        start: usize,
        /// How many there are.
        count: usize,
    },
}

impl<T: bytemuck::AnyBitPattern> Storage<T> {
    /// A part of a mapped file; copied where the bytes are not aligned, `None` if out of range.
    pub fn mapped(file: &Arc<Mmap>, start: usize, count: usize) -> Option<Self> {
        let bytes = file.get(start..start.checked_add(count.checked_mul(size_of::<T>())?)?)?;
        Some(match bytemuck::try_cast_slice::<u8, T>(bytes) {
            Ok(_) => Self::Mapped {
                file: Arc::clone(file),
                start,
                count,
            },
            Err(_) => Self::Owned(
                bytes
                    .chunks_exact(size_of::<T>())
                    .map(bytemuck::pod_read_unaligned)
                    .collect(),
            ),
        })
    }
}

impl<T: bytemuck::AnyBitPattern> Deref for Storage<T> {
    type Target = [T];

    #[inline]
    fn deref(&self) -> &[T] {
        match self {
            Self::Owned(values) => values,
            Self::Mapped { file, start, count } => {
                bytemuck::try_cast_slice(&file[*start..*start + *count * size_of::<T>()])
                    .unwrap_or_default()
            }
        }
    }
}
