//! Bad input: exit code 2, a message that says what to mend, and nothing written anywhere.

use crate::common;

use std::io::{Read, Write};
use std::process::{Command, Stdio};

use common::{Dice, Sandbox, csv, fitted, gzip, messages, zstandard};

const BEFORE: &[u8] = b"what was there before";

/// Runs the program, which must refuse: code 2, the pieces of the message on standard error,
/// nothing on standard output, and every file as it was. Where `output` is given, this is
/// tried with and without a file of that name.
#[track_caller]
fn check_refused(sandbox: &Sandbox, arguments: &[&str], output: Option<&str>, pieces: &[&str]) {
    if let Some(output) = output {
        check_once(sandbox, arguments, pieces);
        assert!(!sandbox.path(output).exists());
        sandbox.write(output, BEFORE);
    }
    check_once(sandbox, arguments, pieces);
}

#[track_caller]
fn check_once(sandbox: &Sandbox, arguments: &[&str], pieces: &[&str]) {
    let before = sandbox.contents();
    let found = sandbox.run(arguments);
    let stderr = String::from_utf8_lossy(&found.stderr).into_owned();
    assert_eq!(found.status.code(), Some(2), "{arguments:?}: {stderr}");
    assert!(stderr.starts_with("error: "), "{stderr}");
    for piece in pieces {
        assert!(stderr.contains(piece), "no `{piece}` in: {stderr}");
    }
    let stdout = String::from_utf8_lossy(&found.stdout);
    assert_eq!(stdout, "", "{arguments:?} wrote to standard output");
    assert!(sandbox.contents() == before, "{arguments:?} left a trace");
}

/// `fit` on a file with these bytes must be refused.
#[track_caller]
fn check_fit_refused(name: &str, bytes: impl AsRef<[u8]>, more: &[&str], pieces: &[&str]) {
    let sandbox = Sandbox::new();
    sandbox.write(name, bytes);
    let arguments = [&["fit", name, "-o", "model.calibrant"], more].concat();
    check_refused(&sandbox, &arguments, Some("model.calibrant"), pieces);
}

/// `predict`, `evaluate`, `explain` and `inspect` with this model file must be refused.
#[track_caller]
fn check_model_refused(sandbox: &Sandbox, model: &str, pieces: &[&str]) {
    let predict = ["predict", model, "mail.csv", "-o", "answers.csv"];
    let _ = std::fs::remove_file(sandbox.path("answers.csv"));
    check_refused(sandbox, &predict, Some("answers.csv"), pieces);
    check_refused(sandbox, &["predict", model, "mail.csv"], None, pieces);
    check_refused(sandbox, &["evaluate", model, "mail.csv"], None, pieces);
    check_refused(sandbox, &["explain", model, "corn"], None, pieces);
    check_refused(sandbox, &["inspect", model], None, pieces);
}

#[test]
fn a_missing_file_is_named() {
    let sandbox = fitted();
    for arguments in [
        &["fit", "nowhere.csv", "-o", "out.csv"][..],
        &["predict", "mail.calibrant", "nowhere.csv", "-o", "out.csv"],
    ] {
        let _ = std::fs::remove_file(sandbox.path("out.csv"));
        let pieces = ["nowhere.csv", "no such file", "hint:"];
        check_refused(&sandbox, arguments, Some("out.csv"), &pieces);
    }
    for arguments in [
        &["predict", "mail.calibrant", "nowhere.csv"][..],
        &["predict", "mail.calibrant", "nowhere.csv", "--json"],
        &["evaluate", "mail.calibrant", "nowhere.csv"],
        &[
            "explain",
            "mail.calibrant",
            "--file",
            "nowhere.csv",
            "--row",
            "1",
        ],
    ] {
        check_refused(&sandbox, arguments, None, &["nowhere.csv", "no such file"]);
    }
}

#[test]
fn a_folder_in_place_of_a_file_is_told_what_a_folder_must_hold() {
    let sandbox = Sandbox::new();
    std::fs::create_dir(sandbox.path("mail")).unwrap();
    let fit = ["fit", "mail", "-o", "model"];
    check_refused(&sandbox, &fit, Some("model"), &["mail", "folder"]);
    let fit = ["fit", "mail", "--format", "csv", "-o", "model"];
    check_refused(&sandbox, &fit, None, &["mail: is a folder"]);
}

#[test]
fn an_empty_file_is_called_empty() {
    check_fit_refused("mail.csv", "", &[], &["mail.csv", "is empty"]);
    check_fit_refused("mail.jsonl", "", &[], &["mail.jsonl", "is empty"]);
    check_fit_refused("mail.csv.gz", gzip(b""), &[], &["mail.csv.gz", "is empty"]);
    check_fit_refused("mail", "\n \n", &[], &["mail"]);
}

#[test]
fn a_header_without_rows_is_called_so() {
    let pieces = ["mail.csv", "header", "no rows"];
    check_fit_refused("mail.csv", "label,text\n", &[], &pieces);
    check_fit_refused("mail.tsv", "label\ttext", &[], &["mail.tsv", "no rows"]);
}

#[test]
fn an_unknown_field_is_answered_with_the_fields_there_are() {
    let rows = "kind,body\nham,see you\nspam,win big\n";
    let pieces = ["mail.csv", "no field `text`", "`kind`", "`body`", "--text"];
    check_fit_refused("mail.csv", rows, &["--label", "kind"], &pieces);
    let pieces = ["no field `label`", "`kind`", "`body`"];
    check_fit_refused("mail.csv", rows, &["--text", "body"], &pieces);
    let rows = "{\"kind\":\"ham\",\"body\":\"see you\"}\n";
    check_fit_refused("mail.jsonl", rows, &[], &["`text`", "`body`", "`kind`"]);
    for option in ["--id", "--weight"] {
        let rows = csv(&messages(30, 2, 1));
        let pieces = ["no field `nothing`", "`id`", "`label`", "`text`"];
        check_fit_refused("mail.csv", rows, &[option, "nothing"], &pieces);
    }
}

#[test]
fn one_class_alone_cannot_be_learned() {
    let rows = "label,text\nham,see you\nham,then\nham,and there\n";
    let pieces = ["all 3 documents", "`ham`", "at least two classes"];
    check_fit_refused("mail.csv", rows, &[], &pieces);
}

#[test]
fn two_columns_of_one_name_are_pointed_out() {
    let rows = "text,label,text\nsee you,ham,x\nwin,spam,y\n";
    let pieces = ["mail.csv", "columns 1 and 3", "`text`"];
    check_fit_refused("mail.csv", rows, &[], &pieces);
    check_fit_refused(
        "mail.tsv",
        rows.replace(',', "\t"),
        &[],
        &["mail.tsv", "`text`"],
    );
}

#[test]
fn invalid_utf_8_is_found_by_line_and_column() {
    let mut rows = b"label,text\nham,see you\nspam,w".to_vec();
    rows.extend([0xE9, b'n', b'\n']);
    let pieces = [
        "mail.csv, line 3, column 7",
        "UTF-8",
        "--encoding windows-1252",
    ];
    check_fit_refused("mail.csv", &rows, &[], &pieces);
    let text = [
        b"__label__ham see\n__label__spam ".as_slice(),
        &[0xFF, b'\n'],
    ]
    .concat();
    check_fit_refused("mail.ft", text, &[], &["mail.ft, line 2", "UTF-8"]);
}

#[test]
fn broken_gzip_is_called_damaged() {
    let whole = gzip(csv(&messages(400, 3, 1)).as_bytes());
    let pieces = ["mail.csv.gz", "compressed data cannot be read"];
    check_fit_refused("mail.csv.gz", &whole[..whole.len() / 2], &[], &pieces);
    check_fit_refused("mail.csv.gz", &whole[..whole.len() - 3], &[], &pieces);
    let mut damaged = whole.clone();
    let middle = damaged.len() / 2;
    damaged[middle] ^= 0xFF;
    check_fit_refused("mail.csv.gz", damaged, &[], &["mail.csv.gz"]);
}

#[test]
fn a_model_file_cut_short_is_called_damaged() {
    let sandbox = fitted();
    let whole = sandbox.read("mail.calibrant");
    for length in [whole.len() - 1, whole.len() / 2, 200, 100] {
        sandbox.write("cut.calibrant", &whole[..length]);
        check_model_refused(&sandbox, "cut.calibrant", &["cut.calibrant", "damaged"]);
    }
    for length in [1, 7, 8, 9, 12] {
        sandbox.write("cut.calibrant", &whole[..length]);
        check_once(&sandbox, &["inspect", "cut.calibrant"], &["cut.calibrant"]);
    }
}

#[test]
fn broken_zstandard_is_called_damaged() {
    let whole = zstandard(csv(&messages(400, 3, 1)).as_bytes());
    let pieces = ["mail.csv.zst", "compressed data cannot be read"];
    check_fit_refused("mail.csv.zst", &whole[..whole.len() / 2], &[], &pieces);
}

#[test]
fn a_changed_byte_of_a_model_file_is_noticed_wherever_it_is() {
    let sandbox = fitted();
    let whole = sandbox.read("mail.calibrant");
    let mut dice = Dice::new(7);
    for _ in 0..60 {
        let mut damaged = whole.clone();
        let place = dice.below(damaged.len());
        damaged[place] ^= 1 << dice.below(8);
        sandbox.write("bad.calibrant", &damaged);
        check_once(&sandbox, &["inspect", "bad.calibrant"], &["bad.calibrant"]);
    }
}

#[test]
fn a_file_that_is_no_model_is_called_so() {
    let sandbox = fitted();
    let random: Vec<u8> = {
        let mut dice = Dice::new(3);
        (0..5000).map(|_| dice.below(256) as u8).collect()
    };
    let header = br#"{"w":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}}"#;
    let mut other = (header.len() as u64).to_le_bytes().to_vec();
    other.extend(header);
    other.extend([0; 4]);
    for (name, bytes, piece) in [
        ("random", random, "not a calibrant model"),
        ("empty", Vec::new(), "it is empty"),
        ("other.safetensors", other, "no calibrant metadata"),
        (
            "text.csv",
            b"label,text\nham,see you\n".to_vec(),
            "not a calibrant model",
        ),
    ] {
        sandbox.write(name, bytes);
        check_model_refused(&sandbox, name, &[name, piece, "hint:"]);
    }
    std::fs::create_dir(sandbox.path("folder")).unwrap();
    check_model_refused(&sandbox, "folder", &["folder", "it is a folder"]);
    check_model_refused(
        &sandbox,
        "nowhere",
        &["no model file at `nowhere`", "calibrant fit"],
    );
}

#[test]
fn a_later_format_version_asks_for_a_later_program() {
    let sandbox = fitted();
    let whole = sandbox.read("mail.calibrant");
    let version = br#"{\"version\":4,"#;
    let place = whole
        .windows(version.len())
        .position(|window| window == version);
    let mut later = whole.clone();
    later[place.unwrap() + version.len() - 2] = b'7';
    sandbox.write("later.calibrant", &later);
    let pieces = ["later.calibrant", "version 7", "up to 4", "update"];
    check_model_refused(&sandbox, "later.calibrant", &pieces);
}

#[test]
fn weights_must_be_positive_numbers() {
    for weight in ["-1", "0", "many", "nan", "inf", "1e999"] {
        let rows = format!("label,text,w\nham,see you,1\nspam,win big,{weight}\n");
        let pieces = ["mail.csv, line 3", "weight", weight];
        check_fit_refused("mail.csv", rows, &["--weight", "w"], &pieces);
    }
}

#[test]
fn malformed_rows_are_found_by_line() {
    let rows = "label,text\nham,see you\nspam\nham,x\n";
    check_fit_refused(
        "mail.csv",
        rows,
        &[],
        &["mail.csv, line 3", "--skip-bad-rows"],
    );
    let rows = "{\"label\":\"ham\",\"text\":\"x\"}\n{\"label\":\"ham\",\n";
    check_fit_refused("mail.jsonl", rows, &[], &["mail.jsonl, line 2"]);
    let rows = "1 1:2\n0 1:x\n";
    check_fit_refused("mail.svm", rows, &[], &["mail.svm, line 2", "1:x"]);
}

#[test]
fn malformed_rows_are_skipped_and_counted_if_asked() {
    let sandbox = Sandbox::new();
    let rows = csv(&messages(60, 2, 1)) + "lonely\nalso,lonely\n";
    sandbox.write("mail.csv", rows);
    let skip = ["fit", "mail.csv", "--skip-bad-rows", "-o", "m", "--json"];
    let found = sandbox.run(&skip);
    let stderr = String::from_utf8(found.stderr).unwrap();
    assert_eq!(found.status.code(), Some(0), "{stderr}");
    assert!(
        stderr.contains("2 malformed rows") && stderr.contains("line 62"),
        "{stderr}"
    );
    let report: serde_json::Value = serde_json::from_slice(&found.stdout).unwrap();
    assert_eq!(
        (&report["rows"], &report["bad_rows"]),
        (&60.into(), &2.into())
    );
    let found = sandbox.run(&["predict", "m", "mail.csv", "--skip-bad-rows", "--top", "1"]);
    assert_eq!(found.status.code(), Some(0));
    assert_eq!(String::from_utf8(found.stdout).unwrap().lines().count(), 61);
    assert!(
        String::from_utf8(found.stderr)
            .unwrap()
            .contains("2 malformed rows")
    );
}

#[test]
fn one_is_not_several() {
    let sandbox = Sandbox::new();
    sandbox.write("mail.csv", csv(&messages(60, 2, 1)));
    sandbox.succeed(&["fit", "mail.csv", "-o", "m"]);
    let rows = csv(&messages(60, 2, 2)) + "x,elsewhere,corn\nlonely\n";
    sandbox.write("new.csv", rows);
    let found = sandbox.run(&["evaluate", "m", "new.csv", "--skip-bad-rows", "--no-ledger"]);
    let stderr = String::from_utf8(found.stderr).unwrap();
    for said in [
        "1 malformed row was skipped",
        "1 label is unknown to the model: elsewhere",
        "1 document without exactly one label that the model knows is not measured",
    ] {
        assert!(stderr.contains(said), "{said}: {stderr}");
    }
}

#[test]
fn unknown_classes_are_answered_with_those_there_are() {
    let rows = csv(&messages(60, 3, 1));
    let pieces = ["`wheat`", "corn, money, oil"];
    check_fit_refused("mail.csv", &rows, &["--classes", "corn,wheat"], &pieces);
    check_fit_refused("mail.csv", &rows, &["--class-weight", "wheat=2"], &pieces);
    let sandbox = fitted();
    let explain = ["explain", "mail.calibrant", "--class", "wheat", "corn"];
    check_once(&sandbox, &explain, &["no class `wheat`", "inspect"]);
    let evaluate = [
        "evaluate",
        "mail.calibrant",
        "mail.csv",
        "--classes",
        "corn",
    ];
    check_once(&sandbox, &evaluate, &["multi-label"]);
    for (costs, piece) in [
        (
            "corn,wheat,2",
            "`wheat` is not a class, and has no cost for",
        ),
        ("corn,oil", "2 values instead of 3"),
        ("corn,oil,dear", "`dear` is not a number"),
        ("corn,oil,inf", "inf is not a cost"),
        ("missing.csv", "there is no file `missing.csv`"),
        (
            "corn,oil,1;corn,oil,2",
            "`corn,oil,2` contradicts `corn,oil,1`",
        ),
        ("corn,*,2;*,oil,3", "add a line `corn,oil,COST`"),
        ("corn,Oil,2", "`Oil` looks like `oil`"),
        ("corm,oil,2", "the nearest is `corn`"),
        ("other,oil,2", "predict --other"),
        ("corn,refund,2", "no cost for `money`, `oil`"),
        ("corn,oil,NaN", "NaN is not a cost"),
        ("corn,oil,@", "`@` is not a number"),
        ("corn,oil,@stake", "`stake`"),
    ] {
        let evaluate = ["evaluate", "mail.calibrant", "mail.csv", "--costs", costs];
        check_once(&sandbox, &evaluate, &[piece]);
        let predict = [
            "predict",
            "mail.calibrant",
            "mail.csv",
            "--costs",
            costs,
            "-o",
            "said.csv",
        ];
        check_once(&sandbox, &predict, &[piece]);
    }
    for (name, text, piece) in [
        (
            "costs.csv",
            "truth,corn,oil\ncorn,,dear\n",
            "costs.csv, line 2: `dear` is not a number",
        ),
        ("costs.csv", "truth,corn,oil\ncorn,1\n", "line 2"),
        (
            "costs.csv",
            "truth,decision,cost\nwheat,corn,2\n",
            "costs.csv, line 2: `wheat`",
        ),
        ("costs.toml", "[corn]\noil = \n", "costs.toml, line 2"),
        ("costs.toml", "[corn]\noil = nan\n", "NaN is not a cost"),
        (
            "costs.csv",
            "truth,decision,cost\ncorn,oil,NaN\n",
            "costs.csv, line 2: NaN is not a cost",
        ),
        ("costs.json", "[{\"truth\": 3}]", "is not a list of costs"),
    ] {
        sandbox.write(name, text);
        let predict = [
            "predict",
            "mail.calibrant",
            "mail.csv",
            "--costs",
            name,
            "-o",
            "said.csv",
        ];
        check_once(&sandbox, &predict, &[piece]);
    }
    for ask in ["-1", "0.5", "101%", "many"] {
        let ask = format!("--ask={ask}");
        check_once(
            &sandbox,
            &["predict", "mail.calibrant", "mail.csv", &ask],
            &["--ask"],
        );
    }
}

#[test]
fn documents_without_labels_cannot_be_learned_from() {
    let rows = "label,text\nham,see you\n,win big\nspam,big\n";
    check_fit_refused(
        "mail.csv",
        rows,
        &["--empty-labels", "error"],
        &[
            "line 3",
            "field `label`: the label is empty",
            "--empty-labels",
        ],
    );
    let rows = "{\"label\":[],\"text\":\"x y\"}\n{\"label\":[],\"text\":\"x z\"}\n";
    check_fit_refused(
        "mail.jsonl",
        rows,
        &[],
        &["none of the 2 documents has a label"],
    );
}

#[test]
fn documents_with_several_labels_are_no_single_label_corpus() {
    let rows = "{\"label\":[\"a\",\"b\"],\"text\":\"x y\"}\n{\"label\":[\"a\"],\"text\":\"x\"}\n";
    let pieces = ["labels a, b", "single-label", "--labels several"];
    check_fit_refused("mail.jsonl", rows, &["--labels", "one"], &pieces);
}

#[test]
fn fewer_documents_than_folds_is_an_error() {
    let rows = "label,text\nham,see you\nspam,see me\nham,see\n";
    check_fit_refused(
        "mail.csv",
        rows,
        &[],
        &["3 documents", "5 folds", "--folds"],
    );
}

#[test]
fn a_filter_that_nothing_passes_is_repeated() {
    let rows = csv(&messages(30, 2, 1));
    let pieces = ["mail.csv", "30 rows", "label=wheat"];
    check_fit_refused("mail.csv", rows, &["--where", "label=wheat"], &pieces);
}

#[test]
fn an_output_folder_must_be_there() {
    let sandbox = fitted();
    let pieces = ["the folder `away` does not exist", "--output"];
    check_once(&sandbox, &["fit", "mail.csv", "-o", "away/model"], &pieces);
    let predict = ["predict", "mail.calibrant", "mail.csv", "-o", "away/a.csv"];
    check_once(&sandbox, &predict, &pieces);
    std::fs::create_dir(sandbox.path("there.csv")).unwrap();
    let pieces = ["`there.csv` is a folder"];
    check_once(&sandbox, &["fit", "mail.csv", "-o", "there.csv"], &pieces);
    let predict = ["predict", "mail.calibrant", "mail.csv", "-o", "there.csv"];
    check_once(&sandbox, &predict, &pieces);
}

#[cfg(unix)]
#[test]
fn what_is_no_ordinary_file_is_never_replaced() {
    use std::os::unix::fs::FileTypeExt;
    let sandbox = fitted();
    let path = sandbox.path("socket.csv");
    let _socket = std::os::unix::net::UnixListener::bind(&path).unwrap();
    let before = std::fs::read_dir(sandbox.path(".")).unwrap().count();
    for arguments in [
        &["fit", "mail.csv", "-o", "socket.csv"][..],
        &["predict", "mail.calibrant", "mail.csv", "-o", "socket.csv"],
    ] {
        let found = sandbox.run(arguments);
        assert_eq!(found.status.code(), Some(2));
        let stderr = String::from_utf8(found.stderr).unwrap();
        assert!(stderr.contains("not an ordinary file"), "{stderr}");
        assert!(path.symlink_metadata().unwrap().file_type().is_socket());
        let after = std::fs::read_dir(sandbox.path(".")).unwrap().count();
        assert_eq!(before, after);
    }
}

#[test]
fn the_documents_are_never_overwritten() {
    let sandbox = fitted();
    let pieces = ["is the input file"];
    check_once(&sandbox, &["fit", "mail.csv", "-o", "mail.csv"], &pieces);
    check_once(&sandbox, &["fit", "mail.csv", "-o", "./mail.csv"], &pieces);
    let predict = ["predict", "mail.calibrant", "mail.csv", "-o", "mail.csv"];
    check_once(&sandbox, &predict, &pieces);
}

#[test]
fn an_ending_that_says_nothing_is_refused() {
    let sandbox = fitted();
    for name in ["answers", "answers.ods", "answers.csv.gz"] {
        let predict = ["predict", "mail.calibrant", "mail.csv", "-o", name];
        check_refused(
            &sandbox,
            &predict,
            Some(name),
            &[name, ".csv, .tsv, .jsonl, .parquet or .xlsx"],
        );
    }
}

#[test]
fn settings_that_make_no_sense_are_refused_before_any_work() {
    for (settings, piece) in [
        (&["--stem", "klingon"][..], "english"),
        (&["--stop-words", "klingon"], "english"),
        (&["--folds", "1"], "2 to 255"),
        (&["--folds", "-3"], "-3"),
        (&["--c", "0"], "c must be a positive number"),
        (&["--c", "-1"], "c must be a positive number"),
        (&["--c", "nan"], "c must be a positive number"),
        (&["--c", "1", "--tolerance", "nan"], "the tolerance must be"),
        (&["--tolerance", "-1"], "the tolerance must be"),
        (&["--max-passes", "0"], "the number of passes must be"),
        (
            &["--classifier", "naive-bayes", "--alpha", "-1"],
            "alpha must be",
        ),
        (
            &["--classifier", "naive-bayes", "--word-prior", "0"],
            "word prior must be",
        ),
        (
            &["--classifier", "naive-bayes", "--class-weight", "balanced"],
            "leave --class-weight out",
        ),
        (
            &["--classifier", "knn", "--neighbours", "0"],
            "a whole number from 1 on, or auto",
        ),
        (
            &["--classifier", "knn", "--neighbours", "many"],
            "a whole number from 1 on, or auto",
        ),
        (
            &["--classifier", "perceptron", "--epochs", "0"],
            "the number of epochs must be 1 to 10000",
        ),
        (&["--word-ngrams", "3-2"], "from 3 to 2"),
        (&["--char-ngrams", "0-2"], "from 0 to 2"),
        (&["--hash-bits", "40"], "1 to 28"),
        (&["--hash-bits", "10", "--max-features", "5"], "hashing"),
        (&["--max-df", "1.5"], "at most 1"),
        (&["--weighting", "bm25", "--bm25-b", "2"], "b from 0 to 1"),
        (&["--bm25-k1", "2"], "--bm25-k1 needs --weighting bm25"),
        (
            &["--weighting", "tf-idf", "--bm25-b", "0.5"],
            "add --weighting bm25, or leave out --bm25-b",
        ),
        (
            &["--search", "--bm25-b", "0.5"],
            "--bm25-b needs --weighting bm25",
        ),
        (
            &["--classifier", "logistic", "--log-count-ratio", "1"],
            "--log-count-ratio is for --classifier svm, not for logistic",
        ),
        (
            &["--search", "--classifier", "knn", "--log-count-ratio", "1"],
            "leave out --log-count-ratio, or use --classifier svm",
        ),
        (&["--class-weight", "corn=-1"], "a class weight"),
        (&["--class-weight", "corn"], "CLASS=WEIGHT"),
        (
            &["--select", "chi-square", "--select-terms", "0"],
            "at least 1",
        ),
        (
            &[
                "--select",
                "chi-square",
                "--select-terms",
                "9",
                "--hash-bits",
                "9",
            ],
            "--hash-bits",
        ),
        (&["--where", "label"], "FIELD=VALUE"),
        (&["--format", "xml"], "parquet"),
        (&["--min-df", "1000"], "--min-df"),
    ] {
        check_fit_refused("mail.csv", csv(&messages(30, 2, 1)), settings, &[piece]);
    }
}

#[test]
fn too_many_exclusive_options_are_refused() {
    let sandbox = fitted();
    let both = [
        "predict",
        "mail.calibrant",
        "mail.csv",
        "--json",
        "-o",
        "a.csv",
    ];
    check_once(&sandbox, &both, &["--output"]);
    check_once(&sandbox, &["explain", "mail.calibrant"], &["required"]);
    let missing = [
        "explain",
        "mail.calibrant",
        "--file",
        "mail.csv",
        "--row",
        "91",
    ];
    check_once(&sandbox, &missing, &["no row 91", "90 rows"]);
    let zero = [
        "explain",
        "mail.calibrant",
        "--file",
        "mail.csv",
        "--row",
        "0",
    ];
    check_once(&sandbox, &zero, &["--row"]);
}

#[test]
fn negative_features_are_nothing_for_naive_bayes() {
    let rows = "a 1:1 2:-3\nb 1:2\n".repeat(10);
    let pieces = ["naive Bayes needs counts", "-3", "--classifier"];
    check_fit_refused("mail.svm", rows, &["--classifier", "naive-bayes"], &pieces);
}

#[test]
fn a_reader_that_stops_listening_is_no_error() {
    let sandbox = fitted();
    let rows = "text\n".to_owned() + &"corn bank oil\n".repeat(200_000);
    sandbox.write("long.csv", rows);
    for arguments in [
        &["predict", "mail.calibrant", "long.csv"][..],
        &["predict", "mail.calibrant", "long.csv", "--json"],
        &["completions", "bash"],
        &["inspect", "mail.calibrant"],
    ] {
        let mut child = Command::new(assert_cmd::cargo::cargo_bin("calibrant"))
            .current_dir(sandbox.path("."))
            .args(arguments)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut first = [0; 10];
        child.stdout.take().unwrap().read_exact(&mut first).unwrap();
        let found = child.wait_with_output().unwrap();
        assert_eq!(found.status.code(), Some(0), "{arguments:?}");
        assert_eq!(String::from_utf8(found.stderr).unwrap(), "");
    }
}

#[test]
fn an_endless_input_ends_when_nobody_reads_the_answers() {
    let sandbox = fitted();
    let mut child = Command::new(assert_cmd::cargo::cargo_bin("calibrant"))
        .current_dir(sandbox.path("."))
        .args(["predict", "mail.calibrant", "-", "--format", "csv"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let feeder = std::thread::spawn(move || {
        let rows = "corn bank oil\n".repeat(10_000);
        let _ = stdin.write_all(b"text\n");
        // Ends when the program does, because then the pipe is closed.
        while stdin.write_all(rows.as_bytes()).is_ok() {}
    });
    let mut first = [0; 10];
    child.stdout.take().unwrap().read_exact(&mut first).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(0));
    feeder.join().unwrap();
}
