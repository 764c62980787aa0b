//! Walks over the documents that have a term of a query.

use tantivy::postings::{Postings, SegmentPostings};
use tantivy::schema::IndexRecordOption;
use tantivy::{DocId, DocSet, TERMINATED};

use super::error::IndexError;
use super::query_terms::QueryTerms;
use super::search::AnalysisIndex;

/// Counts that are held at a time: a window of documents times the terms of the query.
const WINDOW_COUNTS: usize = 1 << 16;

/// The postings of the terms that some document has, with the terms' numbers.
fn postings(
    index: &AnalysisIndex,
    query: &QueryTerms,
) -> Result<Vec<(usize, SegmentPostings)>, IndexError> {
    let known = query.infos.iter().enumerate();
    known
        .filter_map(|(number, info)| Some((number, info.as_ref()?)))
        .map(|(number, info)| {
            let postings = index
                .inverted
                .read_postings_from_terminfo(info, IndexRecordOption::WithFreqs)
                .map_err(IndexError::engine("read postings"))?;
            Ok((number, postings))
        })
        .collect()
}

/// Calls `visit` with every document that has a term of the query, by rising number, and its counts of all terms.
///
/// Documents are taken window by window, and in a window term by term: memory does not grow with
/// the collection, and a long query costs no more for each posting than a short one.
pub(super) fn for_each_match(
    index: &AnalysisIndex,
    query: &QueryTerms,
    mut visit: impl FnMut(DocId, &[u32]),
) -> Result<(), IndexError> {
    let mut postings = postings(index, query)?;
    let width = query.terms.len().max(1);
    let window = (WINDOW_COUNTS / width).clamp(64, 4096);
    let mut counts = vec![0u32; window * width];
    let mut matched = vec![false; window];
    while let Some(first) = postings.iter().map(|(_, postings)| postings.doc()).min() {
        if first == TERMINATED {
            break;
        }
        let end = first.saturating_add(window as DocId).min(TERMINATED);
        for (term, postings) in &mut postings {
            let mut document = postings.doc();
            while document < end {
                let place = (document - first) as usize;
                matched[place] = true;
                counts[place * width + *term] = postings.term_freq();
                document = postings.advance();
            }
        }
        for (place, matched) in matched
            .iter_mut()
            .enumerate()
            .filter(|(_, matched)| **matched)
        {
            let row = &mut counts[place * width..(place + 1) * width];
            visit(first + place as DocId, row);
            row.fill(0);
            *matched = false;
        }
    }
    Ok(())
}

/// Calls `visit` with each of these documents, whose numbers rise, and its counts of all terms, which may all be 0.
pub(super) fn for_each_of(
    index: &AnalysisIndex,
    query: &QueryTerms,
    documents: &[DocId],
    mut visit: impl FnMut(DocId, &[u32]),
) -> Result<(), IndexError> {
    let mut postings = postings(index, query)?;
    let mut counts = vec![0u32; query.terms.len()];
    for &document in documents {
        for (term, postings) in &mut postings {
            if postings.doc() < document {
                postings.seek(document);
            }
            counts[*term] = match postings.doc() == document {
                true => postings.term_freq(),
                false => 0,
            };
        }
        visit(document, &counts);
    }
    Ok(())
}
