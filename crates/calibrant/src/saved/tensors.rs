//! Named arrays of numbers, as files hold them.

use std::borrow::Cow;
use std::sync::Arc;

use memmap2::Mmap;
use safetensors::SafeTensors;
use safetensors::tensor::{Dtype, TensorView};

use super::Storage;

/// One array of a saved file.
#[derive(Debug, Clone)]
pub struct NamedTensor<'a> {
    /// Its name in the file.
    pub name: String,
    /// What its numbers are.
    pub dtype: Dtype,
    /// How many there are in each direction.
    pub shape: Vec<usize>,
    /// The numbers, low byte first.
    pub bytes: Cow<'a, [u8]>,
}

/// A type of number that saved files hold.
pub trait Stored: bytemuck::Pod {
    /// Its name in the file.
    const DTYPE: Dtype;
}

impl Stored for u8 {
    const DTYPE: Dtype = Dtype::U8;
}
impl Stored for i8 {
    const DTYPE: Dtype = Dtype::I8;
}
impl Stored for u32 {
    const DTYPE: Dtype = Dtype::U32;
}
impl Stored for u64 {
    const DTYPE: Dtype = Dtype::U64;
}
impl Stored for f32 {
    const DTYPE: Dtype = Dtype::F32;
}
impl Stored for f64 {
    const DTYPE: Dtype = Dtype::F64;
}

impl<'a> NamedTensor<'a> {
    /// A row of numbers.
    pub fn vector<T: Stored>(name: &str, values: &'a [T]) -> Self {
        Self::shaped(name, vec![values.len()], values)
    }

    /// Numbers in several directions.
    pub fn shaped<T: Stored>(name: &str, shape: Vec<usize>, values: &'a [T]) -> Self {
        Self {
            name: name.to_owned(),
            dtype: T::DTYPE,
            shape,
            bytes: Cow::Borrowed(bytemuck::cast_slice(values)),
        }
    }

    /// As part of something larger: `prefix.name`.
    pub fn under(mut self, prefix: &str) -> Self {
        self.name = format!("{prefix}.{}", self.name);
        self
    }
}

/// The arrays of an opened saved file; whatever is missing or of another shape is `None`.
#[derive(Debug, Clone)]
pub struct TensorReader<'a> {
    map: &'a Arc<Mmap>,
    tensors: &'a SafeTensors<'a>,
    prefix: String,
}

impl<'a> TensorReader<'a> {
    /// All arrays of a file.
    pub fn new(map: &'a Arc<Mmap>, tensors: &'a SafeTensors<'a>) -> Self {
        Self {
            map,
            tensors,
            prefix: String::new(),
        }
    }

    /// Only those under a prefix, as [`NamedTensor::under`] named them.
    pub fn under(&self, prefix: &str) -> Self {
        Self {
            prefix: format!("{}{prefix}.", self.prefix),
            ..self.clone()
        }
    }

    fn view(&self, name: &str, directions: usize) -> Option<TensorView<'_>> {
        let name = format!("{}{name}", self.prefix);
        let view = self.tensors.tensor(&name).ok()?;
        (view.shape().len() == directions).then_some(view)
    }

    /// What the numbers of an array are.
    pub fn dtype(&self, name: &str) -> Option<Dtype> {
        let name = format!("{}{name}", self.prefix);
        Some(self.tensors.tensor(&name).ok()?.dtype())
    }

    /// A copy of a row of numbers.
    pub fn vector<T: Stored>(&self, name: &str) -> Option<Vec<T>> {
        let view = self.view(name, 1).filter(|view| view.dtype() == T::DTYPE)?;
        let numbers = view.data().chunks_exact(size_of::<T>());
        Some(numbers.map(bytemuck::pod_read_unaligned).collect())
    }

    /// A row of numbers that stays in the file.
    pub fn stored_vector<T: Stored>(&self, name: &str) -> Option<Storage<T>> {
        Some(self.stored(name, 1)?.0)
    }

    /// A matrix that stays in the file, with its numbers of rows and columns.
    pub fn stored_matrix<T: Stored>(&self, name: &str) -> Option<(Storage<T>, usize, usize)> {
        let (numbers, shape) = self.stored(name, 2)?;
        Some((numbers, shape[0], shape[1]))
    }

    fn stored<T: Stored>(&self, name: &str, directions: usize) -> Option<(Storage<T>, Vec<usize>)> {
        let view = self
            .view(name, directions)
            .filter(|view| view.dtype() == T::DTYPE)?;
        let start = view.data().as_ptr() as usize - self.map.as_ptr() as usize;
        let count: usize = view.shape().iter().product();
        let numbers = Storage::mapped(self.map, start, count)?;
        Some((numbers, view.shape().to_vec()))
    }
}
