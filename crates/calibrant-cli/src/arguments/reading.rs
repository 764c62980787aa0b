//! How documents are read: the same options for every command that reads.

use calibrant::corpus::{
    DecimalSign, Delimiter, Encoding, Fields, Filter, Format, LabelNeed, Layout, ReadOptions,
};
use clap::Args;

use super::field_list::{FieldList, all_fields};

#[derive(Debug, Args)]
#[command(next_help_heading = "Reading")]
pub(crate) struct ReadArguments {
    /// Text fields, joined in this order; one that holds a comma stands in quotes, as in '"Subject, line",Body' (default: what the model learned from, else `text`)
    #[arg(long, value_name = "FIELD,…")]
    pub(crate) text: Vec<FieldList>,
    /// The field with the label, or with a list of labels (default: `label`)
    #[arg(long, value_name = "FIELD")]
    pub(crate) label: Option<String>,
    /// Splits the label field into several labels
    #[arg(long, value_name = "TEXT")]
    pub(crate) label_separator: Option<String>,
    /// The field that identifies a document (default: `id` where there is one; predictions without identifiers number their rows in a column `row`)
    #[arg(long, value_name = "FIELD")]
    pub(crate) id: Option<String>,
    /// The field with the weight of a document; only the ratios of weights matter
    #[arg(long, value_name = "FIELD")]
    pub(crate) weight: Option<String>,
    /// csv, tsv, jsonl, parquet, xlsx, ods, fasttext, folder or svmlight (detected from the name or the content by default)
    #[arg(long, value_name = "FORMAT")]
    pub(crate) format: Option<Format>,
    #[command(flatten)]
    pub(crate) rows: RowArguments,
}

/// Which rows of a file are read, and how it is written where it does not say so itself: the same for documents, scores and what is indexed.
#[derive(Debug, Args)]
#[command(next_help_heading = "Reading")]
pub(crate) struct RowArguments {
    /// Keep only rows where FIELD has this VALUE, or with != another one; `FIELD=` is an empty cell, `FIELD!=` one that is not; may be repeated, all must hold
    #[arg(long = "where", value_name = "FIELD=VALUE")]
    pub(crate) filters: Vec<Filter>,
    /// Skip malformed rows and report how many there were
    #[arg(long)]
    skip_bad_rows: bool,
    /// What divides the fields of CSV: one character, or `tab` (detected from the header line by default: `,` `;` tab or `|`)
    #[arg(long, value_name = "CHARACTER")]
    delimiter: Option<Delimiter>,
    /// The first row is not a header; fields are called 1, 2, …
    #[arg(long)]
    no_header: bool,
    /// The decimal sign of numbers: point or comma (detected per column by default, where the delimiter is not a comma)
    #[arg(long, value_name = "SIGN")]
    decimal: Option<DecimalSign>,
    /// The encoding of the text, for example windows-1252 (default: UTF-8, or UTF-16 where the file begins with its mark)
    #[arg(long, value_name = "NAME")]
    encoding: Option<Encoding>,
    /// The sheet of an xlsx or ods file, by its name or its number (default: the first that is not hidden)
    #[arg(long, value_name = "NAME|NUMBER")]
    sheet: Option<String>,
}

impl RowArguments {
    /// The options of reading that these arguments settle; fields and format are the command's own.
    pub(crate) fn options(&self) -> ReadOptions {
        ReadOptions {
            filters: self.filters.clone(),
            skip_bad_rows: self.skip_bad_rows,
            layout: Layout {
                delimiter: self.delimiter,
                no_header: self.no_header,
                decimal: self.decimal,
                encoding: self.encoding,
                sheet: self.sheet.clone(),
            },
            ..ReadOptions::default()
        }
    }
}

impl ReadArguments {
    /// The fields asked for, the others as `remembered`. Each command that has a use for groups asks for them itself.
    pub(crate) fn fields(&self, remembered: &Fields) -> Fields {
        let asked = Fields {
            text: all_fields(&self.text),
            label: self.label.clone(),
            label_separator: self.label_separator.clone(),
            id: self.id.clone(),
            weight: self.weight.clone(),
            ..Fields::default()
        };
        asked.completed_by(remembered)
    }

    pub(crate) fn options(&self, fields: Fields, labels_required: LabelNeed) -> ReadOptions {
        ReadOptions {
            fields,
            format: self.format,
            labels_required,
            ..self.rows.options()
        }
    }
}
