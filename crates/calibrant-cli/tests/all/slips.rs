//! Slips that used to pass without a word: refused with the next step, or noted.

use crate::common;

use common::{Sandbox, csv, fitted, messages};

/// The program must refuse with code 2 and these pieces in its message.
#[track_caller]
fn refused(sandbox: &Sandbox, arguments: &[&str], pieces: &[&str]) {
    let found = sandbox.run(arguments);
    let stderr = String::from_utf8_lossy(&found.stderr).into_owned();
    assert_eq!(found.status.code(), Some(2), "{arguments:?}: {stderr}");
    for piece in pieces {
        assert!(stderr.contains(piece), "no `{piece}` in: {stderr}");
    }
}

/// What the program writes to standard error when it succeeds.
#[track_caller]
fn notes(sandbox: &Sandbox, arguments: &[&str]) -> String {
    let found = sandbox.run(arguments);
    let stderr = String::from_utf8_lossy(&found.stderr).into_owned();
    assert!(found.status.success(), "{arguments:?}: {stderr}");
    stderr
}

#[test]
fn a_file_given_twice_is_not_compared_or_combined_with_itself() {
    let sandbox = Sandbox::new();
    let all = messages(120, 2, 1);
    sandbox.write("train.csv", csv(&all[..60]));
    sandbox.write("test.csv", csv(&all[60..]));
    sandbox.succeed(&["fit", "train.csv", "-o", "t"]);
    let pieces = ["`./t` is given twice", "give each file once"];
    refused(&sandbox, &["compare", "test.csv", "t", "./t"], &pieces);
    let combine = ["combine", "t", "./t", "--data", "test.csv", "-o", "both"];
    refused(&sandbox, &combine, &pieces);
    assert!(!sandbox.path("both").exists());
    // A page in the place of a system would be the end of the system.
    sandbox.succeed(&["fit", "train.csv", "-o", "u", "--seed", "2"]);
    let page = ["compare", "test.csv", "t", "u", "--html", "u"];
    refused(
        &sandbox,
        &page,
        &["`u` is the input file and would be overwritten"],
    );
    sandbox.succeed(&["inspect", "u"]);
}

#[test]
fn an_option_that_no_learner_in_play_takes_is_refused() {
    let sandbox = Sandbox::new();
    sandbox.write("train.csv", csv(&messages(60, 2, 1)));
    let cases: [(&[&str], &[&str]); 7] = [
        (
            &["--rounds", "50"],
            &[
                "--rounds is for --classifier adaboost",
                "not for svm, the default",
            ],
        ),
        (
            &["--classifier", "naive-bayes", "--c", "1"],
            &[
                "--c is for --classifier svm or logistic",
                "not for naive-bayes",
            ],
        ),
        (
            &["--classifier", "knn", "--epochs", "5"],
            &["--classifier perceptron"],
        ),
        (
            &["--classifier", "rocchio", "--alpha", "1"],
            &["naive-bayes"],
        ),
        // The value of the default is not the default.
        (
            &["--classifier", "knn", "--loss", "hinge"],
            &["leave out --loss"],
        ),
        (
            &["--classifier", "rules", "--vote", "majority"],
            &["--vote"],
        ),
        (
            &["--search", "--classifier", "svm", "--alpha", "1"],
            &["--alpha", "not for svm"],
        ),
    ];
    for (options, pieces) in cases {
        let fit = ["fit", "train.csv", "-o", "m"];
        refused(&sandbox, &[&fit[..], options].concat(), pieces);
    }
    // Of the learners that a search tries, one takes each of these.
    let search = [
        "fit",
        "train.csv",
        "-o",
        "m",
        "--search",
        "--time-budget",
        "0",
    ];
    sandbox.succeed(&[&search[..], &["--alpha", "1", "--c", "1"]].concat());
    let boosted = ["fit", "train.csv", "-o", "m", "--classifier", "adaboost"];
    sandbox.succeed(&[&boosted[..], &["--rounds", "5"]].concat());
}

#[test]
fn languages_are_those_that_the_option_can_use() {
    let sandbox = Sandbox::new();
    sandbox.write("train.csv", csv(&messages(60, 2, 1)));
    for language in ["klingon", "japanese"] {
        let found = sandbox.run(&["fit", "train.csv", "-o", "m", "--stem", language]);
        let stderr = String::from_utf8_lossy(&found.stderr).into_owned();
        assert_eq!(found.status.code(), Some(2));
        assert!(
            stderr.contains("languages with a stemmer are arabic"),
            "{stderr}"
        );
        assert!(!stderr.contains("bengali"), "{stderr}");
    }
    let stop = ["fit", "train.csv", "-o", "m", "--stop-words", "porter"];
    refused(
        &sandbox,
        &stop,
        &["languages with stop words are afrikaans"],
    );
    refused(
        &sandbox,
        &["index", "train.csv", "-o", "i", "--stemmer", "thai"],
        &["a stemmer"],
    );
}

#[test]
fn counts_start_at_one() {
    let sandbox = fitted();
    let predict = ["predict", "mail.calibrant", "mail.csv", "--top", "0"];
    refused(
        &sandbox,
        &predict,
        &["--top", "it must be a whole number, 1 or more"],
    );
}

const DOCUMENTS: &str =
    "{\"id\":\"a\",\"text\":\"red fox\"}\n{\"id\":\"b\",\"text\":\"red wing\"}\n";

#[test]
fn features_without_judgements_are_noted() {
    let sandbox = Sandbox::new();
    sandbox.write("docs.jsonl", DOCUMENTS);
    sandbox.write("queries.tsv", "q1\tred fox\n");
    sandbox.write("qrels.txt", "q1 0 a 1\nq1 0 b 0\n");
    sandbox.succeed(&["index", "docs.jsonl", "-o", "i"]);
    let search = ["search", "i", "--queries", "queries.tsv", "--features", "f"];
    let said = notes(&sandbox, &search);
    assert!(
        said.contains("every row has grade 0; --qrels FILE"),
        "{said}"
    );
    let said = notes(&sandbox, &[&search[..], &["--qrels", "qrels.txt"]].concat());
    assert!(!said.contains("grade 0"), "{said}");
}

#[test]
fn a_run_of_a_model_that_ends_at_a_thousand_documents_is_noted() {
    let sandbox = Sandbox::new();
    let mut documents = String::new();
    for number in 0..1010 {
        let more = "fox ".repeat(number % 7);
        documents.push_str(&format!(
            "{{\"id\":\"d{number}\",\"text\":\"red {more}\"}}\n"
        ));
    }
    sandbox.write("docs.jsonl", documents);
    sandbox.write("queries.tsv", "q1\tred fox\nq2\tred\nq3\tfox\n");
    let judged = (1..=3).flat_map(|query| {
        (0..40).map(move |document| {
            format!("q{query} 0 d{document} {}\n", usize::from(document % 7 > 4))
        })
    });
    sandbox.write("qrels.txt", judged.collect::<String>());
    sandbox.succeed(&["index", "docs.jsonl", "-o", "i"]);
    let search = ["search", "i", "--queries", "queries.tsv"];
    let functions = ["--function", "bm25.stems", "--function", "tf-idf.stems"];
    let features = ["--features", "f", "--qrels", "qrels.txt"];
    sandbox.succeed(&[&search[..], &functions, &features].concat());
    let chosen = [
        "--c",
        "1",
        "--bins",
        "0",
        "--grades",
        "one",
        "--calibrator",
        "none",
    ];
    sandbox.succeed(&[&["rank", "fit", "f", "-o", "m"], &chosen[..]].concat());
    let run = [&search[..], &["--model", "m", "--run", "r"]].concat();
    let said = notes(&sandbox, &run);
    assert!(said.contains("end at 1000 documents; --top N"), "{said}");
    let said = notes(&sandbox, &[&run[..], &["--top", "1005"]].concat());
    assert!(!said.contains("--top"), "{said}");
}

/// Rows of two columns; `header` may name them.
fn letor(header: &str, columns: usize) -> String {
    let mut file = header.to_owned();
    for query in 0..12 {
        for document in 0..6 {
            let grade = usize::from((document + query) % 3 == 0);
            file.push_str(&format!("{grade} qid:{query}"));
            for column in 1..=columns {
                let value = (grade * 3 + (document * column + query) % 5) as f64 / 10.0;
                file.push_str(&format!(" {column}:{value}"));
            }
            file.push_str(&format!(" # d{query}-{document}\n"));
        }
    }
    file
}

#[test]
fn columns_without_names_must_be_as_many_as_the_named_ones() {
    let sandbox = Sandbox::new();
    sandbox.write("train.letor", letor("# features: 1=bm25 2=tf\n", 2));
    sandbox.write("same.letor", letor("", 2));
    sandbox.write("fewer.letor", letor("", 1));
    sandbox.write("more.letor", letor("", 3));
    let fit = [
        "rank",
        "fit",
        "train.letor",
        "--c",
        "1",
        "--bins",
        "0",
        "--grades",
        "one",
        "-o",
        "m",
    ];
    sandbox.succeed(&fit);
    let said = notes(&sandbox, &["rank", "predict", "m", "train.letor"]);
    assert!(!said.contains("by number"), "{said}");
    let said = notes(&sandbox, &["rank", "predict", "m", "same.letor"]);
    assert!(said.contains("were found by number"), "{said}");
    let counts = "1 columns without names, and the model was fitted on 2 named columns";
    let fewer = ["rank", "predict", "m", "fewer.letor"];
    refused(&sandbox, &fewer, &[counts, "--ignore-missing"]);
    notes(&sandbox, &[&fewer[..], &["--ignore-missing"]].concat());
    let more = ["rank", "predict", "m", "more.letor"];
    refused(
        &sandbox,
        &more,
        &["3 columns without names", "--ignore-unknown"],
    );
    notes(&sandbox, &[&more[..], &["--ignore-unknown"]].concat());
}

#[test]
fn a_missing_folder_is_blamed_on_the_option_that_names_it() {
    let sandbox = fitted();
    let compare = [
        "compare",
        "mail.csv",
        "mail.calibrant",
        "other",
        "--html",
        "none/page.html",
    ];
    refused(
        &sandbox,
        &compare,
        &["`none` does not exist", "choose another --html"],
    );
}

/// Whether permissions mean nothing to whoever runs the tests.
#[cfg(unix)]
fn may_write_anywhere(folder: &std::path::Path) -> bool {
    std::fs::write(folder.join("tried"), "").is_ok()
}

#[cfg(unix)]
#[test]
fn an_index_in_a_read_only_folder_is_refused_with_its_name() {
    use std::os::unix::fs::PermissionsExt;
    let sandbox = Sandbox::new();
    sandbox.write("docs.jsonl", DOCUMENTS);
    let folder = sandbox.path("locked");
    std::fs::create_dir(&folder).unwrap();
    std::fs::set_permissions(&folder, PermissionsExt::from_mode(0o555)).unwrap();
    if may_write_anywhere(&folder) {
        return;
    }
    let found = sandbox.run(&["index", "docs.jsonl", "-o", "locked/i"]);
    let stderr = String::from_utf8_lossy(&found.stderr).into_owned();
    assert_eq!(found.status.code(), Some(2), "{stderr}");
    assert!(
        stderr.contains("`locked`") && stderr.contains("hint: "),
        "{stderr}"
    );
    assert!(!stderr.contains(".calibrant-index"), "{stderr}");
}

#[cfg(unix)]
#[test]
fn a_model_is_written_through_a_link_with_the_permissions_of_the_umask() {
    use std::os::unix::fs::{PermissionsExt, symlink};
    let sandbox = Sandbox::new();
    sandbox.write("train.csv", csv(&messages(60, 2, 1)));
    std::fs::create_dir(sandbox.path("models")).unwrap();
    symlink("models/first", sandbox.path("latest")).unwrap();
    let shown = sandbox.succeed(&["fit", "train.csv", "-o", "latest"]);
    assert!(
        shown.contains(" kB)") && !shown.contains("0.0 MB"),
        "{shown}"
    );
    assert!(sandbox.path("latest").is_symlink());
    let found = sandbox.path("models/first").metadata().unwrap();
    let usual = sandbox.path("train.csv").metadata().unwrap();
    assert_eq!(found.permissions().mode(), usual.permissions().mode());
}
