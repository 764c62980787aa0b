//! Runs of several systems as columns of one table.

use std::collections::BTreeMap;

use crate::corpus::{Qrels, QueryRows, RankingTable, Run, TableError};

/// A table with one column a run, named after it: for each query all documents that any of the runs lists, in
/// the order of their names; a document that a run does not list has no value there. Grades come from the judgements. What nobody
/// judged has grade 0 and is marked so (see [`RankingTable::is_judged`]); queries without any judgement are left out.
/// Without judgements all grades are 0 and nothing is marked.
///
/// # Reference
/// Yue et al. 2007, section 4.1, combine submitted runs so.
///
/// ```
/// use calibrant::ranking::RunBuilder;
/// use calibrant::ranking::learning::table_of_runs;
/// let mut one = RunBuilder::new("one")?;
/// one.push("q", "pear", 0.5)?;
/// let mut two = RunBuilder::new("two")?;
/// two.push("q", "apple", 7.0)?;
/// let table = table_of_runs(&[one.finish()?, two.finish()?], None)?;
/// assert_eq!(table.features(), ["one", "two"]);
/// assert_eq!((table.document(0), table.row(0)[1]), ("apple", 7.0));
/// assert!(table.row(0)[0].is_nan());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn table_of_runs(runs: &[Run], qrels: Option<&Qrels>) -> Result<RankingTable, TableError> {
    let functions: Vec<String> = runs.iter().map(|run| run.name().to_owned()).collect();
    let mut ids: Vec<&str> = runs
        .iter()
        .flat_map(|run| run.queries().map(|query| query.id()))
        .collect();
    ids.sort_unstable();
    ids.dedup();
    let mut queries = Vec::new();
    let (mut documents, mut labels, mut values) = (Vec::new(), Vec::new(), Vec::new());
    let mut marks = Vec::new();
    for id in ids {
        if qrels.is_some_and(|qrels| !qrels.is_judged(id)) {
            continue;
        }
        let judged = qrels.and_then(|qrels| qrels.query(id));
        let mut rows: BTreeMap<&str, Vec<f32>> = BTreeMap::new();
        for (column, run) in runs.iter().enumerate() {
            let Some(query) = run.query(id) else {
                continue;
            };
            for (document, &score) in query.documents().zip(query.scores()) {
                let row = rows
                    .entry(document)
                    .or_insert_with(|| vec![f32::NAN; runs.len()]);
                row[column] = score.clamp(f64::from(f32::MIN), f64::from(f32::MAX)) as f32;
            }
        }
        queries.push((id.to_owned(), rows.len()));
        for (document, row) in rows {
            let grade = judged.and_then(|query| query.grade(document));
            let grade = grade.filter(|&grade| grade >= 0);
            documents.push(document);
            labels.push(grade.unwrap_or(0));
            marks.push(qrels.is_none() || grade.is_some());
            values.extend(row);
        }
    }
    RankingTable::new(functions, &queries, &documents, labels, values)?.with_judged(marks)
}

/// How many relevant documents of a table's judged queries the table does not list. trec_eval counts them as missed, a table cannot.
pub fn unlisted_relevant(table: &RankingTable, qrels: &Qrels, relevant_from: i32) -> usize {
    let of_query = |query: &QueryRows| {
        let judged = qrels.query(&query.id);
        let all = judged.map_or(0, |judged| {
            let grades = judged.grades().iter();
            grades.filter(|&&grade| grade >= relevant_from).count()
        });
        let rows = query.rows.clone();
        let listed =
            rows.filter(|&row| table.is_judged(row) && table.grades()[row] >= relevant_from);
        all.saturating_sub(listed.count())
    };
    table.queries().iter().map(of_query).sum()
}
