//! Documents by a learned ranking.

use serde::Serialize;
use tantivy::DocId;

use super::detail::{DetailSettings, SearchHit};
use super::error::IndexError;
use super::search::SearchIndex;
use crate::corpus::RankingTable;
use crate::ranking::functions::{Analysis, BaseFunction};
use crate::ranking::learning::RankModel;

/// What a column says of a document, and what the model makes of it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ColumnPart {
    /// The column: a retrieval function.
    pub feature: String,
    /// The function's value.
    pub value: f32,
    /// What it adds to the score.
    pub part: f64,
}

/// The retrieval functions that a model looks at: its columns, by their names. A column that is not a retrieval function is an error.
pub(crate) fn retrieval_columns(model: &RankModel) -> Result<Vec<BaseFunction>, IndexError> {
    let columns = model.features().columns();
    let (known, unknown): (Vec<_>, Vec<_>) = columns
        .iter()
        .map(|name| name.parse::<BaseFunction>().map_err(|_| name.clone()))
        .partition(Result::is_ok);
    let columns: Vec<String> = unknown.into_iter().filter_map(Result::err).collect();
    match columns.is_empty() {
        true => Ok(known.into_iter().filter_map(Result::ok).collect()),
        false => Err(IndexError::ModelColumns { columns }),
    }
}

/// The candidates of a query, ranked, the best first.
struct Ranking {
    table: RankingTable,
    /// Row of the table, document, score and probability.
    order: Vec<(usize, DocId, f64, Option<f64>)>,
}

impl SearchIndex {
    /// The documents that some column of the model has among its best `depth`, by the learned ranking, the best first, with
    /// the probability that each is relevant.
    ///
    /// The columns of the model are retrieval functions, as [`SearchIndex::candidates`] computes them and files keep their names; scores and
    /// probabilities are those that the same table gives, candidate by candidate, through [`RankModel::scores`]. Documents with equal
    /// scores stand in the order of their identifiers, the larger first.
    ///
    /// # When it misleads
    /// What no function finds is not ranked. A probability is that of queries and judgements like those of the training table.
    ///
    /// ```
    /// use calibrant::NoProgress;
    /// use calibrant::corpus::{QrelsBuilder, Query};
    /// use calibrant::index::{IndexBuilder, IndexDocument, IndexSettings, SearchIndex};
    /// use calibrant::ranking::functions::BaseFunction;
    /// use calibrant::ranking::learning::{RankModel, RankSettings};
    /// # let folder = tempfile::tempdir()?;
    /// # let path = folder.path().join("fruit");
    /// let mut builder = IndexBuilder::create(&path, IndexSettings::default())?;
    /// for (id, text) in [("a", "apple apple pie"), ("b", "apple"), ("c", "plum plum tart"), ("d", "plum")] {
    ///     let (id, text) = (id.to_owned(), text.to_owned());
    ///     builder.add("fruit", IndexDocument { id, text, ..IndexDocument::default() })?;
    /// }
    /// builder.finish()?;
    /// let index = SearchIndex::open(&path)?;
    /// let query = |id: &str, text: &str| Query { id: id.into(), text: text.into() };
    /// let mut judged = QrelsBuilder::default();
    /// for (query, document, grade) in [("1", "a", 1), ("1", "b", 0), ("2", "c", 1), ("2", "d", 0)] {
    ///     judged.push(query, document, grade)?;
    /// }
    /// let queries = [query("1", "apple"), query("2", "plum")];
    /// let functions: [BaseFunction; 1] = ["tf-idf.stems".parse()?];
    /// let table = index.candidates(&queries, &functions, 100, Some(&judged.finish()?))?;
    /// let model = RankModel::fit(&table, None, &RankSettings::default(), &NoProgress)?;
    /// let hits = index.rank("apples", &model, 100)?;
    /// assert_eq!(hits[0].id, "a");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn rank(
        &self,
        text: &str,
        model: &RankModel,
        depth: usize,
    ) -> Result<Vec<SearchHit>, IndexError> {
        let plain = DetailSettings {
            snippet_words: 0,
            explain: false,
        };
        let ranking = self.ranking(text, model, depth)?;
        self.hits_of(text, model, ranking, plain)
    }

    /// As [`SearchIndex::rank`], the best `top` alone, with what a person wants to see of them.
    pub fn rank_in_detail(
        &self,
        text: &str,
        model: &RankModel,
        depth: usize,
        top: usize,
        settings: DetailSettings,
    ) -> Result<Vec<SearchHit>, IndexError> {
        let mut ranking = self.ranking(text, model, depth)?;
        ranking.order.truncate(top);
        self.hits_of(text, model, ranking, settings)
    }

    fn ranking(&self, text: &str, model: &RankModel, depth: usize) -> Result<Ranking, IndexError> {
        let functions = retrieval_columns(model)?;
        let found = self.candidate_values(text, &functions, depth)?;
        let count = found.documents.len();
        let names: Vec<&str> = found.documents.iter().map(|&own| self.id(own)).collect();
        // A query without candidates has no rows, and nothing to scale them by.
        let queries = [(String::new(), count)];
        let table = RankingTable::new(
            model.features().columns().to_vec(),
            &queries[..usize::from(count > 0)],
            &names,
            vec![0; count],
            found.values,
        );
        let table = table.map_err(IndexError::engine("make a table"))?;
        let scores = model.scores_by_known(&table);
        let stated = model.probabilities(&table, &scores);
        let documents = found.documents.into_iter().enumerate();
        let mut order: Vec<(usize, DocId, f64, Option<f64>)> = documents
            .map(|(row, document)| {
                let stated = stated.as_ref().map(|all| all[row].value());
                (row, document, scores[row], stated)
            })
            .collect();
        // Rows stand in the order of identifiers.
        order.sort_unstable_by(|a, b| b.2.total_cmp(&a.2).then(b.0.cmp(&a.0)));
        Ok(Ranking { table, order })
    }

    fn hits_of(
        &self,
        text: &str,
        model: &RankModel,
        ranking: Ranking,
        settings: DetailSettings,
    ) -> Result<Vec<SearchHit>, IndexError> {
        let Ranking { table, order } = ranking;
        let words = settings.snippet_words;
        let mut shown = match words {
            0 => Vec::new(),
            words => {
                let documents: Vec<DocId> = order.iter().map(|found| found.1).collect();
                self.shown(text, Analysis::Stems, &documents, words)?
            }
        }
        .into_iter();
        let mut parts = match settings.explain {
            true => {
                let rows: Vec<usize> = order.iter().map(|found| found.0).collect();
                model.parts(&table, &rows)
            }
            false => Vec::new(),
        }
        .into_iter();
        let hits = (1..)
            .zip(order)
            .map(|(rank, (row, document, score, probability))| {
                let shown = shown.next().unwrap_or_default();
                SearchHit {
                    rank,
                    id: self.id(document).to_owned(),
                    score,
                    probability,
                    title: shown.title,
                    snippet: shown.snippet,
                    explanation: None,
                    parts: parts.next().map(|parts| columns_of(&table, row, parts)),
                }
            });
        Ok(hits.collect())
    }
}

fn columns_of(table: &RankingTable, row: usize, parts: Vec<f64>) -> Vec<ColumnPart> {
    let values = table.features().iter().zip(table.row(row)).zip(parts);
    values
        .map(|((feature, &value), part)| ColumnPart {
            feature: feature.clone(),
            value,
            part,
        })
        .collect()
}
