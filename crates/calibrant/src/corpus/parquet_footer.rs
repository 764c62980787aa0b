//! Looks at the schema in a Parquet footer before the decoder does.
//!
//! The decoder follows the schema by recursion and sets memory aside for as many children as
//! a group claims to have. A hostile footer could so exhaust the stack or the memory, and
//! neither can be caught. This walk needs no recursion over the schema and no memory.

/// The deepest nesting that is accepted. Real tables stay far below it.
const MAX_DEPTH: usize = 64;

/// Nesting of thrift values, which are not the schema but hold it.
const MAX_VALUE_DEPTH: usize = 32;

/// Checks the footer metadata (the thrift bytes before the closing length and magic number).
pub(super) fn check_schema(metadata: &[u8]) -> Result<(), &'static str> {
    let mut input = Compact { bytes: metadata };
    let mut field = 0;
    while let Some(kind) = input.field(&mut field)? {
        match (field, kind) {
            (2, LIST) => check_elements(&mut input)?,
            _ => input.skip(kind, 0)?,
        }
    }
    Ok(())
}

/// The schema is a tree, written as a list in which every group is followed by its children.
fn check_elements(input: &mut Compact<'_>) -> Result<(), &'static str> {
    let (count, kind) = input.list()?;
    if kind != STRUCT {
        return Err("the schema is not a list of elements");
    }
    // For every open group, the children that are still to come.
    let mut open: Vec<u64> = Vec::new();
    for position in 0..count {
        let mut children = 0;
        let mut field = 0;
        while let Some(kind) = input.field(&mut field)? {
            match (field, kind) {
                (5, I32) => children = input.zigzag()?,
                _ => input.skip(kind, 0)?,
            }
        }
        if let Some(remaining) = open.last_mut() {
            *remaining -= 1;
        }
        let children = u64::try_from(children).map_err(|_| "a group has fewer than no fields")?;
        if children > count - position - 1 {
            return Err("a group has more fields than the schema");
        }
        if children > 0 {
            open.push(children);
        }
        if open.len() > MAX_DEPTH {
            return Err("the schema is nested too deeply");
        }
        while open.last() == Some(&0) {
            open.pop();
        }
    }
    Ok(())
}

const BOOLEANS: [u8; 2] = [1, 2];
const BYTE: u8 = 3;
const I16: u8 = 4;
const I32: u8 = 5;
const I64: u8 = 6;
const DOUBLE: u8 = 7;
const BINARY: u8 = 8;
const LIST: u8 = 9;
const SET: u8 = 10;
const MAP: u8 = 11;
const STRUCT: u8 = 12;
const UUID: u8 = 13;

/// The compact protocol of thrift, as far as needed to walk over values.
struct Compact<'a> {
    bytes: &'a [u8],
}

impl Compact<'_> {
    fn byte(&mut self) -> Result<u8, &'static str> {
        let (&first, rest) = self
            .bytes
            .split_first()
            .ok_or("the footer ends too early")?;
        self.bytes = rest;
        Ok(first)
    }

    fn drop(&mut self, count: u64) -> Result<(), &'static str> {
        let count = usize::try_from(count).map_err(|_| "the footer ends too early")?;
        self.bytes = self.bytes.get(count..).ok_or("the footer ends too early")?;
        Ok(())
    }

    fn varint(&mut self) -> Result<u64, &'static str> {
        let mut value = 0u64;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            value |= u64::from(byte & 0x7F) << shift;
            if byte < 0x80 {
                return Ok(value);
            }
        }
        Err("a number in the footer is too long")
    }

    fn zigzag(&mut self) -> Result<i64, &'static str> {
        let value = self.varint()?;
        Ok((value >> 1) as i64 ^ -((value & 1) as i64))
    }

    /// The kind of the next field, with its number in `field`; `None` at the end of the struct.
    fn field(&mut self, field: &mut i64) -> Result<Option<u8>, &'static str> {
        let header = self.byte()?;
        if header & 0x0F == 0 {
            return Ok(None);
        }
        *field = match header >> 4 {
            0 => self.zigzag()?,
            step => field.saturating_add(i64::from(step)),
        };
        Ok(Some(header & 0x0F))
    }

    /// The length and the kind of the elements of a list.
    fn list(&mut self) -> Result<(u64, u8), &'static str> {
        let header = self.byte()?;
        let count = match header >> 4 {
            15 => self.varint()?,
            short => u64::from(short),
        };
        // Every element takes at least a byte, so a longer list is a lie.
        if count > self.bytes.len() as u64 {
            return Err("a list in the footer is longer than the footer");
        }
        Ok((count, header & 0x0F))
    }

    fn skip(&mut self, kind: u8, depth: usize) -> Result<(), &'static str> {
        if depth > MAX_VALUE_DEPTH {
            return Err("the footer is nested too deeply");
        }
        match kind {
            // As a field, a boolean is in the header already; elements are handled in place.
            kind if BOOLEANS.contains(&kind) => Ok(()),
            BYTE => self.drop(1),
            I16 | I32 | I64 => self.varint().map(drop),
            DOUBLE => self.drop(8),
            UUID => self.drop(16),
            BINARY => {
                let length = self.varint()?;
                self.drop(length)
            }
            LIST | SET => {
                let (count, kind) = self.list()?;
                (0..count).try_for_each(|_| self.skip_element(kind, depth + 1))
            }
            MAP => {
                let count = self.varint()?;
                if count == 0 {
                    return Ok(());
                }
                let kinds = self.byte()?;
                (0..count).try_for_each(|_| {
                    self.skip_element(kinds >> 4, depth + 1)?;
                    self.skip_element(kinds & 0x0F, depth + 1)
                })
            }
            STRUCT => {
                let mut field = 0;
                while let Some(kind) = self.field(&mut field)? {
                    self.skip(kind, depth + 1)?;
                }
                Ok(())
            }
            _ => Err("the footer holds a value of no known kind"),
        }
    }

    fn skip_element(&mut self, kind: u8, depth: usize) -> Result<(), &'static str> {
        if BOOLEANS.contains(&kind) {
            self.drop(1)
        } else {
            self.skip(kind, depth)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::parquet_file;
    use super::*;
    use proptest::prelude::*;

    fn footer(file: &[u8]) -> &[u8] {
        let end = file.len() - 8;
        let length = u32::from_le_bytes(file[end..end + 4].try_into().unwrap()) as usize;
        &file[end - length..end]
    }

    /// A footer whose schema has groups with these numbers of children, by hand: the struct's
    /// field 2 (0x29: two on, a list) and per element field 5 (0x55: five on, an i32).
    fn schema(children: &[u32]) -> Vec<u8> {
        let varint = |mut value: u32| {
            let mut bytes = Vec::new();
            while value >= 0x80 {
                bytes.push(value as u8 | 0x80);
                value >>= 7;
            }
            bytes.push(value as u8);
            bytes
        };
        let mut bytes = vec![0x29, 0xFC];
        bytes.extend(varint(children.len() as u32));
        for &count in children {
            bytes.push(0x55);
            bytes.extend(varint(count * 2));
            bytes.push(0);
        }
        bytes.push(0);
        bytes
    }

    #[test]
    fn a_written_file_passes() {
        assert_eq!(
            check_schema(footer(&parquet_file(&[("a", &["x"])]))),
            Ok(())
        );
        assert_eq!(check_schema(&schema(&[2, 0, 1, 0])), Ok(()));
    }

    #[test]
    fn deep_and_boastful_schemas_are_refused() {
        let deep = vec![1; 100_000];
        assert_eq!(
            check_schema(&schema(&deep)),
            Err("the schema is nested too deeply")
        );
        let boastful = schema(&[1, 1_000_000_000, 0]);
        assert_eq!(
            check_schema(&boastful),
            Err("a group has more fields than the schema")
        );
        assert_eq!(
            check_schema(&[0x29, 0xFC, 0x05]),
            Err("a list in the footer is longer than the footer")
        );
        assert_eq!(check_schema(&[]), Err("the footer ends too early"));
        assert_eq!(
            check_schema(&[0x1C; 1000]),
            Err("the footer is nested too deeply")
        );
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(200))]
        #[test]
        fn any_bytes_give_an_answer(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
            let _ = check_schema(&bytes);
        }
    }
}
