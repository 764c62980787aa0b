//! The list of measures, in the order in which they are shown.

/// What is measured. [`Measure`](super::Measure) adds parameters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum MeasureKind {
    /// `runid`: the name of the run.
    RunName,
    /// `num_q`: the number of queries.
    QueryCount,
    /// `num_ret`: documents listed.
    Retrieved,
    /// `num_rel`: relevant documents to be found.
    Relevant,
    /// `num_rel_ret`: relevant documents listed.
    RelevantRetrieved,
    /// `map`: mean average precision.
    Map,
    /// `gm_map`: the geometric mean of average precision, each at least 0.00001.
    GeometricMap,
    /// `Rprec`: precision after as many documents as are relevant.
    Rprec,
    /// `bpref`: judged pairs in the right order.
    Bpref,
    /// `recip_rank`: one by the rank of the first relevant document.
    ReciprocalRank,
    /// `iprec_at_recall`: interpolated precision at shares of recall, as trec_eval 10 rounds them; pytrec_eval has older code.
    InterpolatedPrecision,
    /// `P`: precision at cuts.
    Precision,
    /// `relstring`: the grades of the first documents as text.
    RelevanceText,
    /// `recall`: recall at cuts.
    Recall,
    /// `infAP`: average precision inferred from a part of the judgements.
    InferredAp,
    /// `gm_bpref`: the geometric mean of bpref.
    GeometricBpref,
    /// `Rprec_mult`: precision after multiples of the number of relevant documents.
    RprecMultiples,
    /// `utility`: documents by costs.
    Utility,
    /// `11pt_avg`: interpolated precision, averaged; as trec_eval 10 has it, too.
    ElevenPoints,
    /// `binG`: normalised gain of relevant or not.
    BinaryNormalisedGain,
    /// `G`: normalised gain.
    NormalisedGain,
    /// `ndcg`: normalised discounted cumulative gain of the whole list.
    Ndcg,
    /// `ndcg_rel`: NDCG averaged over relevant documents.
    NdcgAtRelevant,
    /// `Rndcg`: NDCG averaged over the steps of the best list.
    NdcgAtLevels,
    /// `ndcg_cut`: NDCG at cuts.
    NdcgCut,
    /// `map_cut`: average precision at cuts.
    MapCut,
    /// `relative_P`: precision at cuts by the best possible.
    RelativePrecision,
    /// `success`: whether a relevant document is among the first.
    Success,
    /// `set_P`: precision of the whole list.
    SetPrecision,
    /// `set_relative_P`: the same by the best possible.
    SetRelativePrecision,
    /// `set_recall`: recall of the whole list.
    SetRecall,
    /// `set_map`: precision times recall.
    SetMap,
    /// `set_F`: the harmonic mean of both.
    SetF,
    /// `num_nonrel_judged_ret`: documents listed that were judged not relevant.
    NotRelevantRetrieved,
    /// `unj`: documents nobody judged, at cuts.
    Unjudged,
}

/// What parameters a measure takes, and the usual ones.
pub(super) enum Takes {
    Nothing,
    Cuts(&'static [usize]),
    Shares(&'static [f64]),
    Numbers(&'static [f64]),
    Gains,
}

/// How values of single queries become one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Summary {
    /// There is text for each query, and nothing for all.
    PerQueryText,
    /// There is nothing for a query, and text for all.
    RunText,
    /// A count that is added up; `shown` for single queries, too.
    Sum {
        shown: bool,
    },
    Mean,
    /// The geometric mean, not shown for single queries.
    GeometricMean,
}

const CUTS: &[usize] = &[5, 10, 15, 20, 30, 100, 200, 500, 1000];
const ELEVEN: &[f64] = &[0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0];
const MULTIPLES: &[f64] = &[0.2, 0.4, 0.6, 0.8, 1.0, 1.2, 1.4, 1.6, 1.8, 2.0];

const NAMES: &[(MeasureKind, &str)] = &[
    (MeasureKind::RunName, "runid"),
    (MeasureKind::QueryCount, "num_q"),
    (MeasureKind::Retrieved, "num_ret"),
    (MeasureKind::Relevant, "num_rel"),
    (MeasureKind::RelevantRetrieved, "num_rel_ret"),
    (MeasureKind::Map, "map"),
    (MeasureKind::GeometricMap, "gm_map"),
    (MeasureKind::Rprec, "Rprec"),
    (MeasureKind::Bpref, "bpref"),
    (MeasureKind::ReciprocalRank, "recip_rank"),
    (MeasureKind::InterpolatedPrecision, "iprec_at_recall"),
    (MeasureKind::Precision, "P"),
    (MeasureKind::RelevanceText, "relstring"),
    (MeasureKind::Recall, "recall"),
    (MeasureKind::InferredAp, "infAP"),
    (MeasureKind::GeometricBpref, "gm_bpref"),
    (MeasureKind::RprecMultiples, "Rprec_mult"),
    (MeasureKind::Utility, "utility"),
    (MeasureKind::ElevenPoints, "11pt_avg"),
    (MeasureKind::BinaryNormalisedGain, "binG"),
    (MeasureKind::NormalisedGain, "G"),
    (MeasureKind::Ndcg, "ndcg"),
    (MeasureKind::NdcgAtRelevant, "ndcg_rel"),
    (MeasureKind::NdcgAtLevels, "Rndcg"),
    (MeasureKind::NdcgCut, "ndcg_cut"),
    (MeasureKind::MapCut, "map_cut"),
    (MeasureKind::RelativePrecision, "relative_P"),
    (MeasureKind::Success, "success"),
    (MeasureKind::SetPrecision, "set_P"),
    (MeasureKind::SetRelativePrecision, "set_relative_P"),
    (MeasureKind::SetRecall, "set_recall"),
    (MeasureKind::SetMap, "set_map"),
    (MeasureKind::SetF, "set_F"),
    (MeasureKind::NotRelevantRetrieved, "num_nonrel_judged_ret"),
    (MeasureKind::Unjudged, "unj"),
];

impl MeasureKind {
    /// All measures, in the order in which they are shown.
    pub fn all() -> impl ExactSizeIterator<Item = Self> {
        NAMES.iter().map(|(kind, _)| *kind)
    }

    /// The name that trec_eval gave it.
    pub fn name(self) -> &'static str {
        let found = NAMES.iter().find(|(kind, _)| *kind == self);
        found.map_or("", |(_, name)| name)
    }

    /// The measure of this name.
    pub fn from_name(name: &str) -> Option<Self> {
        let found = NAMES.iter().find(|(_, other)| *other == name);
        found.map(|(kind, _)| *kind)
    }

    pub(super) fn list() -> String {
        let names: Vec<&str> = NAMES.iter().map(|(_, name)| *name).collect();
        names.join(", ")
    }

    pub(super) fn takes(self) -> Takes {
        match self {
            Self::Precision
            | Self::Recall
            | Self::NdcgCut
            | Self::MapCut
            | Self::RelativePrecision => Takes::Cuts(CUTS),
            Self::Success => Takes::Cuts(&[1, 5, 10]),
            Self::Unjudged => Takes::Cuts(&[5, 10, 20]),
            Self::InterpolatedPrecision => Takes::Shares(ELEVEN),
            Self::RprecMultiples => Takes::Shares(MULTIPLES),
            Self::ElevenPoints => Takes::Numbers(ELEVEN),
            Self::SetF => Takes::Numbers(&[1.0]),
            Self::Utility => Takes::Numbers(&[1.0, -1.0, 0.0, 0.0]),
            Self::RelevanceText => Takes::Numbers(&[10.0]),
            Self::NormalisedGain | Self::Ndcg | Self::NdcgAtRelevant | Self::NdcgAtLevels => {
                Takes::Gains
            }
            _ => Takes::Nothing,
        }
    }

    pub(super) fn summary(self) -> Summary {
        match self {
            Self::RunName => Summary::RunText,
            Self::RelevanceText => Summary::PerQueryText,
            Self::QueryCount => Summary::Sum { shown: false },
            Self::Retrieved
            | Self::Relevant
            | Self::RelevantRetrieved
            | Self::NotRelevantRetrieved => Summary::Sum { shown: true },
            Self::GeometricMap | Self::GeometricBpref => Summary::GeometricMean,
            _ => Summary::Mean,
        }
    }
}
