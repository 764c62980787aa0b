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

/// Who is shown the documents that have a term of a query.
pub(super) trait MatchVisitor {
    /// Takes a document with its counts of all terms.
    fn visit(&mut self, document: DocId, counts: &[u32]);
    /// Unmarks the terms without which some document may still be wanted. A term that was left marked once stays marked.
    fn unmark_needed(&self, needless: &mut [bool]);
}

/// Shows `visitor` the documents that have a needed term of the query, by rising number, with their counts of all terms.
///
/// Documents are taken window by window, and in a window term by term: memory does not grow with
/// the collection, and a long query costs no more for each posting than a short one. Postings of needless terms are only looked
/// up for documents that a needed term has found.
pub(super) fn for_each_match(
    index: &AnalysisIndex,
    query: &QueryTerms,
    visitor: &mut impl MatchVisitor,
) -> Result<(), IndexError> {
    let mut postings = postings(index, query)?;
    let width = query.terms.len().max(1);
    let window = (WINDOW_COUNTS / width).clamp(64, 4096) / 64 * 64;
    let mut counts = vec![0u32; window * width];
    let mut matched = vec![0u64; window / 64];
    let mut needless = vec![true; width];
    loop {
        needless.fill(true);
        visitor.unmark_needed(&mut needless);
        let needed = postings.iter().filter(|(term, _)| !needless[*term]);
        let Some(first) = needed.map(|(_, postings)| postings.doc()).min() else {
            break;
        };
        if first == TERMINATED {
            break;
        }
        let end = first.saturating_add(window as DocId).min(TERMINATED);
        for (term, postings) in postings.iter_mut().filter(|(term, _)| !needless[*term]) {
            let mut document = postings.doc();
            while document < end {
                let place = (document - first) as usize;
                matched[place / 64] |= 1 << (place % 64);
                counts[place * width + *term] = postings.term_freq();
                document = postings.advance();
            }
        }
        for (term, postings) in postings.iter_mut().filter(|(term, _)| needless[*term]) {
            for_each_bit(&matched, |place| {
                let document = first + place as DocId;
                if postings.doc() < document {
                    postings.seek(document);
                }
                if postings.doc() == document {
                    counts[place * width + *term] = postings.term_freq();
                }
            });
        }
        for_each_bit(&matched, |place| {
            let row = &mut counts[place * width..(place + 1) * width];
            visitor.visit(first + place as DocId, row);
            row.fill(0);
        });
        matched.fill(0);
    }
    Ok(())
}

/// Calls `visit` with the place of every bit that is set, rising.
fn for_each_bit(bits: &[u64], mut visit: impl FnMut(usize)) {
    for (number, &word) in bits.iter().enumerate() {
        let mut left = word;
        while left != 0 {
            visit(number * 64 + left.trailing_zeros() as usize);
            left &= left - 1;
        }
    }
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
