//! Queries with the values of functions for every candidate document.

use std::error::Error;
use std::path::Path;

use calibrant::NoProgress;
use calibrant::corpus::{Fields, ReadOptions, Source};
use calibrant::index::{DocumentOptions, IndexSettings, SearchIndex, build_index, read_queries};
use calibrant::ranking::functions::BaseFunction;
use calibrant::ranking::{Qrels, RankingTable};

/// A collection by name.
#[derive(Clone, Copy)]
pub(crate) struct Collection {
    pub(crate) name: &'static str,
    kind: Kind,
}

#[derive(Clone, Copy)]
enum Kind {
    /// Documents, queries and judgements.
    Documents,
    /// Ranks that systems gave, as features.
    Systems,
}

const fn documents(name: &'static str) -> Collection {
    Collection {
        name,
        kind: Kind::Documents,
    }
}

pub(crate) const COLLECTIONS: [Collection; 6] = [
    documents("cranfield"),
    documents("cisi"),
    documents("med"),
    documents("npl"),
    documents("time"),
    Collection {
        name: "mq2007-agg",
        kind: Kind::Systems,
    },
];

/// Candidates of queries with at least one relevant document.
pub(crate) struct Judged {
    pub(crate) table: RankingTable,
    /// How many relevant documents each query has, found or not.
    pub(crate) relevant: Vec<usize>,
}

/// Candidates are the union of so many documents of each function.
const TOP: usize = 1000;

impl Collection {
    /// None where the data is missing.
    pub(crate) fn read(self, data: &Path) -> Result<Option<Judged>, Box<dyn Error>> {
        match self.kind {
            Kind::Documents => of_documents(&data.join("ir").join(self.name)),
            Kind::Systems => of_systems(&data.join("letor/MQ2007-agg")),
        }
    }
}

fn of_documents(folder: &Path) -> Result<Option<Judged>, Box<dyn Error>> {
    let source = |name: &str| Source::Path(folder.join(name));
    if !folder.join("docs.jsonl.gz").exists() {
        return Ok(None);
    }
    let place = tempfile::tempdir()?;
    let path = place.path().join("index");
    let options = DocumentOptions {
        reading: ReadOptions {
            fields: Fields {
                text: vec!["title".into(), "text".into()],
                id: Some("id".into()),
                ..Fields::default()
            },
            ..ReadOptions::default()
        },
        ..DocumentOptions::default()
    };
    build_index(
        &[source("docs.jsonl.gz")],
        &path,
        IndexSettings::default(),
        &options,
        &NoProgress,
    )?;
    let index = SearchIndex::open(&path)?;
    let qrels = Qrels::read(&source("qrels.txt"))?;
    let count = |id: &str| {
        let judged = qrels.query(id);
        judged.map_or(0, |query| {
            query.grades().iter().filter(|&&grade| grade > 0).count()
        })
    };
    let mut queries = read_queries(&source("queries.jsonl"), None, &[])?;
    queries.retain(|query| count(&query.id) > 0);
    let table = index.candidates(&queries, &BaseFunction::paper(), TOP, Some(&qrels))?;
    let relevant = table
        .queries()
        .iter()
        .map(|query| count(&query.id))
        .collect();
    Ok(Some(Judged { table, relevant }))
}

fn of_systems(folder: &Path) -> Result<Option<Judged>, Box<dyn Error>> {
    let parts: Vec<Source> = (1..=5)
        .map(|part| Source::Path(folder.join(format!("S{part}.txt.gz"))))
        .collect();
    if !folder.join("S1.txt.gz").exists() {
        return Ok(None);
    }
    let ranks = RankingTable::read_files(&parts)?;
    let of = |table: &RankingTable, query: usize| {
        let rows = table.queries()[query].rows.clone();
        table.grades()[rows]
            .iter()
            .filter(|&&label| label > 0)
            .count()
    };
    let kept: Vec<usize> = (0..ranks.query_count())
        .filter(|&query| of(&ranks, query) > 0)
        .collect();
    let kept = ranks.select(&kept);
    // The first rank is the best.
    let columns: Vec<usize> = (0..kept.feature_count()).collect();
    let table = with_columns(&kept, &columns, |rank| -rank)?;
    let relevant = (0..table.query_count())
        .map(|query| of(&table, query))
        .collect();
    Ok(Some(Judged { table, relevant }))
}

/// Some columns of a table, their values changed.
pub(crate) fn with_columns(
    table: &RankingTable,
    columns: &[usize],
    change: impl Fn(f32) -> f32,
) -> Result<RankingTable, Box<dyn Error>> {
    let functions = columns
        .iter()
        .map(|&column| table.features()[column].clone());
    let queries: Vec<(String, usize)> = table
        .queries()
        .iter()
        .map(|query| (query.id.clone(), query.rows.len()))
        .collect();
    let documents: Vec<&str> = (0..table.row_count())
        .map(|row| table.document(row))
        .collect();
    let values = (0..table.row_count())
        .flat_map(|row| columns.iter().map(move |&column| (row, column)))
        .map(|(row, column)| change(table.row(row)[column]))
        .collect();
    Ok(RankingTable::new(
        functions.collect(),
        &queries,
        &documents,
        table.grades().to_vec(),
        values,
    )?)
}
