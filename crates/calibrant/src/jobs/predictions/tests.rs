use super::*;
use crate::Probability;
use crate::jobs::{ClassProbability, DocumentKey};

fn prediction(score: Option<f64>) -> Prediction<'static> {
    let class = |label: &'static str, log_odds| ClassProbability {
        score,
        ..ClassProbability::new(label, Probability::from_log_odds(log_odds))
    };
    let classes = vec![class("a,b", 0.0), class("c", -2.0)];
    Prediction::new(Some(DocumentKey::Id("x".into())), classes)
}

fn positive() -> PositivePrediction<'static> {
    PositivePrediction {
        key: DocumentKey::Row(7),
        class: "spam",
        negative: "ham",
        probability: 0.5,
        log_odds: 0.0,
        lower: Some(0.25),
        upper: None,
        kept: None,
    }
}

fn text(
    format: PredictionFormat,
    columns: PredictionColumns,
    write: impl Fn(&mut PredictionWriter<'_>) -> Result<(), WritePredictionsError>,
) -> String {
    let mut out = Vec::new();
    let mut writer = PredictionWriter::new(&mut out, format, columns);
    write(&mut writer).unwrap();
    writer.finish().unwrap();
    String::from_utf8(out).unwrap()
}

#[test]
fn tables_have_a_header_and_a_row_for_each_class() {
    let columns = PredictionColumns::Classes {
        scores: true,
        decisions: false,
        sets: None,
    };
    let scored = prediction(Some(1.5));
    let lines = text(PredictionFormat::Csv, columns, |writer| {
        writer.write(&scored)
    });
    let mut lines = lines.lines();
    assert_eq!(
        lines.next(),
        Some("id,rank,label,probability,log_odds,score")
    );
    assert_eq!(lines.next(), Some("x,1,\"a,b\",0.5,0,1.5"));
    assert!(lines.next().unwrap().starts_with("x,2,c,0.119202922"));
    // What an interval lacks is the probability itself.
    let columns = PredictionColumns::Positive { interval: true };
    let lines = text(PredictionFormat::Tsv, columns, |writer| {
        writer.write_positive(&positive())
    });
    let expected = "row\tclass\tprobability\tlog_odds\tlower\tupper\n7\tspam\t0.5\t0\t0.25\t0.5\n";
    assert_eq!(lines, expected);
}

#[test]
fn beside_columns_the_more_probable_of_two_classes_stands() {
    let rows = |keep: bool, wide: bool| RowColumns {
        keep,
        wide,
        ..RowColumns::default()
    };
    let unlikely = PositivePrediction {
        probability: 0.25,
        lower: Some(0.125),
        upper: Some(0.375),
        ..positive()
    };
    let said = |columns: RowColumns, row: &PositivePrediction<'_>| {
        let cells = positive_cells(row, columns).into_iter();
        let cells = cells.map(|(name, cell)| format!("{name}={}", cell.written()));
        cells.collect::<Vec<_>>().join(" ")
    };
    // By hand: the interval of the other class is what is left of 1.
    assert_eq!(
        said(rows(true, true), &unlikely),
        "label=ham probability=0.75 lower=0.625 upper=0.875 ham=0.75 spam=0.25"
    );
    assert_eq!(
        said(rows(false, true), &unlikely),
        "row=7 ham=0.75 spam=0.25"
    );
    let even = PositivePrediction {
        lower: None,
        ..positive()
    };
    assert_eq!(said(rows(true, false), &even), "label=spam probability=0.5");
}

#[test]
fn lines_of_json_are_the_predictions() {
    let columns = PredictionColumns::Classes {
        scores: false,
        decisions: false,
        sets: None,
    };
    let written = text(PredictionFormat::JsonLines, columns, |writer| {
        writer.write(&prediction(None))
    });
    let back: Prediction<'_> = serde_json::from_str(&written).unwrap();
    assert_eq!(back, prediction(None));
    let nothing = text(PredictionFormat::Csv, columns, |_| Ok(()));
    assert_eq!(nothing, "");
}

#[test]
fn what_has_other_columns_is_refused() {
    let mut out = Vec::new();
    let columns = PredictionColumns::Classes {
        scores: false,
        decisions: false,
        sets: None,
    };
    let mut writer = PredictionWriter::new(&mut out, PredictionFormat::Csv, columns);
    let other = writer.write(&prediction(Some(0.5)));
    assert!(matches!(
        other,
        Err(WritePredictionsError::OtherColumns { .. })
    ));
    let other = writer.write_positive(&positive());
    assert!(matches!(
        other,
        Err(WritePredictionsError::OtherColumns { .. })
    ));
    let nameless = Prediction::new(None, Vec::new());
    let refused = writer.write(&nameless);
    assert!(matches!(refused, Err(WritePredictionsError::NoKey)));
}

#[test]
fn a_file_has_its_name_when_it_is_whole() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("said.tsv");
    let columns = PredictionColumns::Classes {
        scores: false,
        decisions: false,
        sets: None,
    };
    let mut writer = PredictionWriter::create(&path, columns).unwrap();
    writer.write(&prediction(None)).unwrap();
    assert!(!path.exists());
    drop(writer);
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    let writer = PredictionWriter::create(&path, columns).unwrap();
    writer.finish().unwrap();
    assert!(path.exists());
    let unknown = PredictionWriter::create(&folder.path().join("said.txt"), columns);
    assert!(matches!(unknown, Err(WritePredictionsError::Ending { .. })));
}

#[cfg(feature = "parquet")]
#[test]
fn parquet_has_the_columns_of_the_other_tables() {
    use crate::corpus::{ReadOptions, Source, field_names};
    for scores in [false, true] {
        let columns = PredictionColumns::Classes {
            scores,
            decisions: false,
            sets: None,
        };
        let mut out = Vec::new();
        let mut writer = PredictionWriter::new(&mut out, PredictionFormat::Parquet, columns);
        writer.write(&prediction(scores.then_some(1.0))).unwrap();
        writer.finish().unwrap();
        let names =
            field_names(&Source::bytes("said.parquet", out), &ReadOptions::default()).unwrap();
        assert_eq!(names[0], "id");
        assert_eq!(names[1..], *columns.names());
    }
}
