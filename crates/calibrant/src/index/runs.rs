//! Many queries to a run.

use super::error::IndexError;
use super::search::{Hit, SearchIndex};
use crate::Progress;
use crate::corpus::{Query, Run, RunBuilder, check_identifier};
use crate::parallel;
use crate::progress::Stage;
use crate::ranking::functions::BaseFunction;

/// Queries that are searched before their lists are taken in.
const QUERIES_AT_ONCE: usize = 256;

impl SearchIndex {
    /// The best `top` documents of every query, as a run that has the function's name. Queries are searched on all threads; the
    /// run does not depend on how many. A query that finds nothing is not in the run.
    ///
    /// ```
    /// use calibrant::NoProgress;
    /// use calibrant::index::{IndexBuilder, IndexDocument, IndexSettings, Query, SearchIndex};
    /// # let folder = tempfile::tempdir()?;
    /// # let path = folder.path().join("fruit");
    /// let mut builder = IndexBuilder::create(&path, IndexSettings::default())?;
    /// for (id, text) in [("a", "green apples"), ("b", "plums and plums")] {
    ///     let (id, text) = (id.to_owned(), text.to_owned());
    ///     builder.add("fruit", IndexDocument { id, text, ..IndexDocument::default() })?;
    /// }
    /// builder.finish()?;
    /// let query = Query { id: "7".into(), text: "plum".into() };
    /// let run = SearchIndex::open(&path)?.run(&[query], &"tf-idf.stems".parse()?, 10, &NoProgress)?;
    /// assert_eq!(run.name(), "tf-idf.stems");
    /// assert_eq!(run.query("7").unwrap().scores(), [2.0 * 2f64.ln()]); // by hand: tf 2, N/df 2
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn run(
        &self,
        queries: &[Query],
        function: &BaseFunction,
        top: usize,
        progress: &dyn Progress,
    ) -> Result<Run, IndexError> {
        let mut builder = RunBuilder::new(&function.to_string())?;
        for query in queries {
            check_identifier("query", &query.id)?;
        }
        let stage = Stage::begin(progress, "searching", Some(queries.len() as u64));
        queries.chunks(QUERIES_AT_ONCE).try_for_each(|chunk| {
            let lists: Vec<Vec<Hit>> =
                parallel::try_map(chunk, |query| self.search(&query.text, function, top))?;
            for (query, hits) in chunk.iter().zip(lists) {
                for hit in hits {
                    builder.push(&query.id, &hit.id, hit.score)?;
                }
            }
            stage.step(chunk.len() as u64)?;
            Ok::<(), IndexError>(())
        })?;
        Ok(builder.finish()?)
    }
}
