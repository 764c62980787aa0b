//! No bytes whatever may end the program: every reader gives documents or an error.

use proptest::prelude::*;

use super::testing::{gzip, parquet_file, read, zstandard};
use super::{Fields, Format, LabelNeed, ReadOptions};

/// All formats that are read from a stream, strict and lenient.
fn all_options() -> Vec<ReadOptions> {
    let formats = Format::ALL
        .into_iter()
        .filter(|&format| format != Format::Folder);
    formats
        .flat_map(|format| {
            let strict = ReadOptions {
                format: Some(format),
                ..ReadOptions::default()
            };
            let lenient = ReadOptions {
                skip_bad_rows: true,
                labels_required: LabelNeed::IfPresent,
                max_row_bytes: 100,
                fields: Fields {
                    label_separator: Some(",".into()),
                    ..Fields::default()
                },
                ..strict.clone()
            };
            [strict, lenient]
        })
        .collect()
}

fn read_with_everything(bytes: &[u8]) {
    for options in all_options() {
        let _ = read(bytes, &options);
    }
    let _ = read(bytes, &ReadOptions::default());
}

/// One valid file of every kind.
fn valid_files() -> Vec<Vec<u8>> {
    let json =
        b"{\"text\":\"one \\u00fc\",\"label\":[\"a\",1]}\n{\"text\":\"two\",\"label\":null}\n";
    let text: Vec<String> = (0..40)
        .map(|number| format!("text {}", number * number))
        .collect();
    let text: Vec<&str> = text.iter().map(String::as_str).collect();
    let label: Vec<&str> = (0..40).map(|number| ["a", "b"][number % 2]).collect();
    vec![
        b"text,label\n\"one, \"\"two\"\"\nthree\",a\nfour,b\n".to_vec(),
        b"text\tlabel\none\ta\n\"two\"\tb\n".to_vec(),
        json.to_vec(),
        b"__label__a __label__b one two\n__label__c three\n".to_vec(),
        b"1,2 qid:3 1:0.5 7:1e-3 # note\n-1 2:1\n".to_vec(),
        parquet_file(&[("text", &text), ("label", &label)]),
    ]
}

#[derive(Debug, Clone)]
enum Damage {
    Set(prop::sample::Index, u8),
    Cut(prop::sample::Index),
    Repeat(prop::sample::Index, u8),
}

fn damage() -> impl Strategy<Value = Vec<Damage>> {
    let one = prop_oneof![
        4 => (any::<prop::sample::Index>(), any::<u8>()).prop_map(|(at, byte)| Damage::Set(at, byte)),
        1 => any::<prop::sample::Index>().prop_map(Damage::Cut),
        1 => (any::<prop::sample::Index>(), any::<u8>()).prop_map(|(at, n)| Damage::Repeat(at, n)),
    ];
    prop::collection::vec(one, 1..5)
}

fn apply(mut bytes: Vec<u8>, damage: &[Damage]) -> Vec<u8> {
    for one in damage {
        if bytes.is_empty() {
            break;
        }
        match one {
            Damage::Set(at, byte) => {
                let at = at.index(bytes.len());
                bytes[at] = *byte;
            }
            Damage::Cut(at) => bytes.truncate(at.index(bytes.len())),
            Damage::Repeat(at, count) => {
                let at = at.index(bytes.len());
                let byte = bytes[at];
                bytes.splice(at..at, std::iter::repeat_n(byte, usize::from(*count)));
            }
        }
    }
    bytes
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn arbitrary_bytes_give_documents_or_an_error(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        read_with_everything(&bytes);
    }

    #[test]
    fn arbitrary_text_of_meaningful_characters_gives_documents_or_an_error(
        text in "(text|label|__label__|[,\t\n\r\"{}:\\[\\]0-9eE.+#x üÿ-]){0,60}",
    ) {
        read_with_everything(text.as_bytes());
        read_with_everything(format!("text,label\n{text}").as_bytes());
        read_with_everything(format!("text\tlabel\n{text}").as_bytes());
    }

    #[test]
    fn damaged_files_give_documents_or_an_error(which in 0usize..6, damage in damage()) {
        read_with_everything(&apply(valid_files().swap_remove(which), &damage));
    }

    #[test]
    fn damaged_parquet_gives_documents_or_an_error(damage in damage()) {
        let options = ReadOptions { format: Some(Format::Parquet), ..ReadOptions::default() };
        let _ = read(&apply(valid_files().swap_remove(5), &damage), &options);
    }

    #[test]
    fn damaged_compression_gives_documents_or_an_error(which in 0usize..6, damage in damage()) {
        let file = valid_files().swap_remove(which);
        read_with_everything(&apply(gzip(&file), &damage));
        read_with_everything(&apply(zstandard(&file), &damage));
    }
}

/// The footer of a Parquet file decides what the decoder does, so every byte of it is tried.
#[test]
fn every_single_damaged_byte_of_a_parquet_file_gives_documents_or_an_error() {
    let options = ReadOptions {
        format: Some(Format::Parquet),
        ..ReadOptions::default()
    };
    let file = parquet_file(&[("text", &["one", "two"]), ("label", &["a", "b"])]);
    for at in 0..file.len() {
        for flip in [0xFF, 0x01, 0x80] {
            let mut damaged = file.clone();
            damaged[at] ^= flip;
            let _ = read(&damaged, &options);
        }
    }
}
