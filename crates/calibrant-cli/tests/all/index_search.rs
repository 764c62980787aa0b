//! `calibrant index` and `calibrant search`: what they find, what they write, and what they refuse.

mod learned;

use crate::common;

use common::{Sandbox, gzip};

const DOCUMENTS: &str = "\
{\"id\":\"a\",\"title\":\"On foxes\",\"text\":\"The red fox runs. Foxes run far.\"}
{\"id\":\"b\",\"title\":\"On trees\",\"text\":\"A tree stands still while the fox sleeps.\"}
{\"id\":\"c\",\"title\":\"\",\"text\":\"Nothing of the kind\"}
{\"id\":\"d\",\"title\":\"Empty\",\"text\":\"\"}
";

/// A folder with an index of four documents.
fn indexed() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.write("docs.jsonl", DOCUMENTS);
    let arguments = [
        "index",
        "docs.jsonl",
        "--text",
        "title,text",
        "--title",
        "title",
        "-o",
        "i",
    ];
    sandbox.succeed(&arguments);
    sandbox
}

/// The program must refuse: code 2, the pieces of the message on standard error, nothing else, every file as it was.
#[track_caller]
fn refused(sandbox: &Sandbox, arguments: &[&str], pieces: &[&str]) {
    let before = sandbox.contents();
    let found = sandbox.run(arguments);
    let stderr = String::from_utf8_lossy(&found.stderr).into_owned();
    assert_eq!(found.status.code(), Some(2), "{arguments:?}: {stderr}");
    for piece in pieces {
        assert!(stderr.contains(piece), "no `{piece}` in: {stderr}");
    }
    assert!(
        found.stdout.is_empty(),
        "{arguments:?} wrote to standard output"
    );
    assert!(sandbox.contents() == before, "{arguments:?} left a trace");
}

#[test]
fn a_search_shows_titles_snippets_and_scores() {
    let sandbox = indexed();
    let shown = sandbox.succeed(&["search", "i", "running", "foxes"]);
    let lines: Vec<&str> = shown.lines().collect();
    assert!(
        lines[0].starts_with("1. a  ") && lines[0].ends_with("On foxes"),
        "{shown}"
    );
    assert!(lines[1].contains("The red fox runs."), "{shown}");
    assert!(lines[2].starts_with("2. b  "), "{shown}");
    assert_eq!(lines.len(), 4, "{shown}");
    let one = sandbox.succeed(&["search", "i", "fox", "--top", "1"]);
    assert_eq!(one.lines().count(), 2, "{one}");
    let plain = sandbox.succeed(&["search", "i", "foxes", "--function", "bm25.plain"]);
    assert!(
        plain.starts_with("1. a") && !plain.contains("2. b"),
        "{plain}"
    );
    let input = sandbox.succeed_with_input(&["search", "i", "-"], b"running foxes\n");
    assert_eq!(input, shown);
    let none = sandbox.run(&["search", "i", "zebra"]);
    assert_eq!(none.status.code(), Some(0));
    assert!(String::from_utf8_lossy(&none.stderr).contains("no document"));
}

#[test]
fn parts_add_up_to_the_score() {
    let sandbox = indexed();
    for function in ["bm25.stems", "dirichlet.plain:mu=10", "cosine.stems-nostop"] {
        let arguments = [
            "search",
            "i",
            "the red fox of zebras",
            "--function",
            function,
            "--explain",
            "--json",
        ];
        let answer = sandbox.json(&arguments);
        assert_eq!(answer["function"], function);
        let hits = answer["hits"].as_array().unwrap();
        assert!(!hits.is_empty());
        for hit in hits {
            let parts = hit["explanation"]["parts"].as_array().unwrap();
            let sum = parts
                .iter()
                .fold(0.0, |sum, part| sum + part["part"].as_f64().unwrap());
            assert_eq!(sum, hit["score"].as_f64().unwrap());
        }
    }
    let shown = sandbox.succeed(&["search", "i", "red fox", "--explain"]);
    assert!(
        shown.contains("in collection") && shown.contains("sum ("),
        "{shown}"
    );
}

#[test]
fn the_summary_counts_documents_and_terms() {
    let sandbox = Sandbox::new();
    sandbox.write("docs.csv.gz", gzip(b"id,text\n1,the foxes\n2,\n"));
    let summary = sandbox.json(&["index", "docs.csv.gz", "-o", "i", "--json"]);
    assert_eq!(summary["documents"], 2);
    assert_eq!(summary["empty_documents"], 1);
    let terms: Vec<u64> = summary["analyses"]
        .as_array()
        .unwrap()
        .iter()
        .map(|analysis| analysis["collection"]["total_terms"].as_u64().unwrap())
        .collect();
    assert_eq!(terms, [2, 2, 1]); // by hand: a stop word and a word
    let stdin = b"{\"name\":\"x\",\"body\":\"fox\"}\n";
    let arguments = [
        "index",
        "-",
        "--id",
        "name",
        "--text",
        "body",
        "-o",
        "j",
        "--no-text",
    ];
    sandbox.succeed_with_input(&arguments, stdin);
    assert_eq!(sandbox.succeed(&["search", "j", "fox"]).lines().count(), 1);
    sandbox.write("words.txt", "__label__a one fox\n__label__b two\n");
    sandbox.succeed(&[
        "index",
        "words.txt",
        "--format",
        "fasttext",
        "--numbered",
        "-o",
        "k",
    ]);
    assert!(
        sandbox
            .succeed(&["search", "k", "two"])
            .starts_with("1. 2 ")
    );
}

#[test]
fn trec_documents_topics_and_runs_go_together() {
    let sandbox = Sandbox::new();
    sandbox.write(
        "docs.sgml",
        "<DOC>\n<DOCNO> A-1 </DOCNO>\n<HEADLINE>Cats</HEADLINE>\n<TEXT>The Bengal cat breed</TEXT>\n</DOC>\n\
         <DOC>\n<DOCNO> A-2 </DOCNO>\nDogs &amp; others\n</DOC>\n",
    );
    sandbox.succeed(&["index", "docs.sgml", "-o", "i"]);
    sandbox.write(
        "topics.txt",
        "<top>\n<num> Number: 451\n<title> Bengals cat?\n<desc> Description:\ndogs\n</top>\n\
         <top>\n<num> Number: 452\n<title> zebra\n<desc> Description:\nnothing\n</top>\n",
    );
    let arguments = ["search", "i", "--queries", "topics.txt", "--run", "-"];
    let run = sandbox.succeed(&arguments);
    let columns: Vec<&str> = run.split_whitespace().collect();
    assert_eq!(columns[..4], ["451", "Q0", "A-1", "1"]);
    assert_eq!(columns[5], "bm25.stems");
    assert_eq!(run.lines().count(), 1);
    let both = [&arguments[..], &["--topic-fields", "title,desc"]].concat();
    assert_eq!(sandbox.succeed(&both).lines().count(), 2);
    let all = [
        "search",
        "i",
        "--queries",
        "topics.txt",
        "--run",
        "runs",
        "--function",
        "all",
        "--function",
        "bm25.plain:k1=2",
    ];
    sandbox.succeed(&all);
    assert_eq!(std::fs::read_dir(sandbox.path("runs")).unwrap().count(), 16);
    let run = String::from_utf8(sandbox.read("runs/bm25.plain-k1=2.run")).unwrap();
    assert!(run.ends_with(" bm25.plain:k1=2\n"), "{run}");
}

#[test]
fn features_hold_every_function_for_every_candidate() {
    let sandbox = indexed();
    sandbox.write("q.tsv", "q1\tfoxes\nq2\ttree\n");
    sandbox.write("qrels.txt", "q1 0 a 2\nq1 0 b 0\nq2 0 c 1\nq2 0 b -1\n");
    let arguments = [
        "search",
        "i",
        "--queries",
        "q.tsv",
        "--features",
        "f.letor",
        "--qrels",
        "qrels.txt",
    ];
    sandbox.succeed(&arguments);
    let text = String::from_utf8(sandbox.read("f.letor")).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    assert!(
        lines[0].starts_with("# features: 1=cosine.plain 2=cosine.stems"),
        "{text}"
    );
    // By hand: both have a fox or foxes; only `b` has a tree, and its title has trees.
    assert!(
        lines[1].starts_with("2 qid:q1 1:") && lines[1].ends_with("#docid = a"),
        "{text}"
    );
    assert!(
        lines[2].starts_with("0 qid:q1 1:0 ") && lines[2].ends_with("#docid = b"),
        "{text}"
    );
    // Nobody judged `b` for the second query: its grade was set aside.
    assert!(
        lines[3].starts_with("0 qid:q2 1:") && lines[3].ends_with("#docid = b judged = no"),
        "{text}"
    );
    assert_eq!(lines.len(), 4);
    assert!(lines[1].contains(" 15:"), "{text}");
    for threads in ["1", "4"] {
        let mut again = arguments;
        again[5] = "-";
        let again = [&again[..], &["--threads", threads]].concat();
        assert_eq!(sandbox.succeed(&again), text);
    }
}

#[test]
fn documents_that_cannot_be_indexed_are_named() {
    let sandbox = Sandbox::new();
    sandbox.write("twice.csv", "id,text\n1,a\n2,b\n1,c\n");
    refused(
        &sandbox,
        &["index", "twice.csv", "-o", "i"],
        &["twice.csv, line 4", "`1`", "line 2", "hint:"],
    );
    sandbox.write("none.csv", "text\na\n");
    refused(
        &sandbox,
        &["index", "none.csv", "-o", "i"],
        &["no field `id`", "--numbered"],
    );
    sandbox.write("blank.csv", "id,text\n,a\n");
    refused(
        &sandbox,
        &["index", "blank.csv", "-o", "i"],
        &["line 2", "id"],
    );
    refused(
        &sandbox,
        &["index", "nowhere.csv", "-o", "i"],
        &["nowhere.csv"],
    );
    sandbox.write("broken.sgml", "<DOC>\n<TEXT>x</TEXT>\n</DOC>\n");
    refused(
        &sandbox,
        &["index", "broken.sgml", "-o", "i"],
        &["broken.sgml, line 1", "DOCNO"],
    );
    sandbox.write("open.sgml", "<DOC><DOCNO>1</DOCNO>\nx\n");
    refused(
        &sandbox,
        &["index", "open.sgml", "-o", "i"],
        &["line 1", "</DOC>"],
    );
    refused(
        &sandbox,
        &["index", "none.csv", "-o", "i", "--format", "svmlight"],
        &["is not a format of documents", "trec"],
    );
    refused(
        &sandbox,
        &[
            "index",
            "none.csv",
            "--numbered",
            "-o",
            "i",
            "--stemmer",
            "klingon",
        ],
        &["klingon"],
    );
    refused(
        &sandbox,
        &["index", "none.csv", "--numbered", "-o", "no/such/folder"],
        &["no/such"],
    );
    let skip = [
        "index",
        "broken.sgml",
        "open.sgml",
        "-o",
        "i",
        "--skip-bad-rows",
    ];
    refused(&sandbox, &skip, &["no documents"]);
}

#[test]
fn a_folder_that_is_no_index_stays_as_it_is() {
    let sandbox = Sandbox::new();
    sandbox.write("docs.jsonl", DOCUMENTS);
    sandbox.write("photos/1.jpg", "mine");
    let arguments = ["index", "docs.jsonl", "-o", "photos"];
    refused(
        &sandbox,
        &arguments,
        &["photos", "is not an index", "not replaced", "hint:"],
    );
    refused(
        &sandbox,
        &["index", "docs.jsonl", "-o", "docs.jsonl"],
        &["not a folder"],
    );
    let sandbox = indexed();
    sandbox.succeed(&["index", "docs.jsonl", "-o", "i"]);
    assert!(sandbox.succeed(&["search", "i", "fox"]).starts_with("1. "));
}

#[test]
fn searches_that_make_no_sense_are_refused() {
    let sandbox = indexed();
    sandbox.write("q.tsv", "1\tfox\n");
    for (arguments, pieces) in [
        (
            vec!["search", "nowhere", "fox"],
            vec!["no index at `nowhere`", "calibrant index"],
        ),
        (
            vec!["search", "docs.jsonl", "fox"],
            vec!["not an index", "not a folder"],
        ),
        (vec!["search", ".", "fox"], vec!["not an index"]),
        (vec!["search", "i"], vec!["QUERY"]),
        (vec!["search", "i", "  "], vec!["the query is empty"]),
        (
            vec!["search", "i", "fox", "--function", "okapi.stems"],
            vec!["`okapi`", "bm25"],
        ),
        (
            vec!["search", "i", "fox", "--function", "bm25"],
            vec!["analysis", "stems-nostop"],
        ),
        (
            vec!["search", "i", "fox", "--function", "bm25.plain:b=7"],
            vec!["from 0 to 1"],
        ),
        (
            vec!["search", "i", "fox", "--function", "all"],
            vec!["one --function", "--queries"],
        ),
        (vec!["search", "i", "fox", "--top", "0"], vec!["--top"]),
        (
            vec!["search", "i", "fox", "--run-name", "x"],
            vec!["--run-name", "--run"],
        ),
        (
            vec!["search", "i", "fox", "--model", "nowhere"],
            vec!["nowhere", "calibrant rank fit"],
        ),
        (vec!["search", "i", "fox", "--depth", "5"], vec!["--model"]),
        (
            vec!["search", "i", "fox", "--run", "r"],
            vec!["QUERY", "--run"],
        ),
        (
            vec!["search", "i", "--queries", "none.tsv", "--run", "r"],
            vec!["none.tsv"],
        ),
        (
            vec!["search", "i", "--queries", "q.tsv", "--run", "no/r"],
            vec!["does not exist"],
        ),
        (
            vec!["search", "i", "--queries", "q.tsv", "--run", "q.tsv"],
            vec!["overwritten"],
        ),
        (
            vec![
                "search",
                "i",
                "--queries",
                "q.tsv",
                "--run",
                "-",
                "--function",
                "all",
            ],
            vec!["15 runs", "folder"],
        ),
        (
            vec![
                "search",
                "i",
                "--queries",
                "q.tsv",
                "--run",
                "r",
                "--qrels",
                "q.tsv",
            ],
            vec!["--qrels", "--run"],
        ),
        (
            vec![
                "search",
                "i",
                "--queries",
                "q.tsv",
                "--features",
                "f",
                "--qrels",
                "q.tsv",
            ],
            vec!["q.tsv"],
        ),
        (
            vec![
                "search",
                "i",
                "--queries",
                "q.tsv",
                "--run",
                "r",
                "--topic-fields",
                "body",
            ],
            vec!["title, desc, narr"],
        ),
    ] {
        refused(&sandbox, &arguments, &pieces);
    }
}

#[test]
fn broken_files_of_queries_name_the_line() {
    let sandbox = indexed();
    for (text, pieces) in [
        ("1\tfox\n2\ttree\n1\tred\n", vec!["line 3", "`1`", "line 1"]),
        ("1 fox\n", vec!["line 1", "tab"]),
        (
            "{\"id\":1,\"text\":\"fox\"}\n{\"id\":2}\n",
            vec!["line 2", "text"],
        ),
        ("<top>\n<num> 1\n<title> x\n", vec!["line 1", "</top>"]),
        ("<top>\n<num> 1\n</top>\n", vec!["line 1", "<title>"]),
        ("<top>\n<title> x\n</top>\n", vec!["line 1", "<num>"]),
        ("two words\tfox\n", vec!["two words"]),
        ("\n", vec!["no rows"]),
    ] {
        sandbox.write("q.txt", text);
        let arguments = ["search", "i", "--queries", "q.txt", "--run", "r"];
        refused(&sandbox, &arguments, &pieces);
    }
}

#[test]
fn a_damaged_index_is_not_searched() {
    let sandbox = indexed();
    let store = std::fs::read_dir(sandbox.path("i"))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .find(|path| path.extension().is_some_and(|ending| ending == "store"))
        .unwrap();
    let mut bytes = std::fs::read(&store).unwrap();
    bytes[0] ^= 1;
    std::fs::write(&store, bytes).unwrap();
    refused(
        &sandbox,
        &["search", "i", "fox"],
        &["damaged", "was changed", "again"],
    );
}

#[test]
fn queries_that_nobody_judged_are_not_written_as_features() {
    let sandbox = indexed();
    sandbox.write("q.tsv", "q1\tfoxes\nq2\ttree\nq3\tfoxes\n");
    sandbox.write("qrels.txt", "q1 0 a 2\nq1 0 zzz 1\nq3 0 a -1\n");
    let arguments = [
        "search",
        "i",
        "--queries",
        "q.tsv",
        "--features",
        "-",
        "--qrels",
        "qrels.txt",
    ];
    let output = sandbox.run(&arguments);
    let (text, said) = (
        String::from_utf8(output.stdout).unwrap(),
        String::from_utf8(output.stderr).unwrap(),
    );
    assert!(
        !text.contains("qid:q2") && !text.contains("qid:q3"),
        "{text}"
    );
    assert!(text.contains("#docid = b judged = no\n"), "{text}");
    for part in [
        "2 queries without any judgement are left out",
        "1 of 2 documents were judged (50.0 %)",
        "1 relevant document was not found by any function",
    ] {
        assert!(said.contains(part), "no `{part}` in\n{said}");
    }
    let left = sandbox.succeed(&[&arguments[..], &["--unjudged", "leave-out"]].concat());
    assert_eq!(left.lines().count(), 2, "{left}");
}

#[test] // 236 were said instead of 245, and three queries went without a word.
fn leaving_out_the_unjudged_neither_hides_queries_nor_what_they_miss() {
    let sandbox = indexed();
    sandbox.write("q.tsv", "q1\tfoxes\nq2\ttree\n");
    // The second query's only judged document is found by nothing.
    sandbox.write("qrels.txt", "q1 0 a 2\nq1 0 zzz 1\nq2 0 c 1\n");
    let features = ["search", "i", "--queries", "q.tsv", "--features", "-"];
    let arguments = [&features[..], &["--qrels", "qrels.txt"]].concat();
    let said = |unjudged: &str| {
        let output = sandbox.run(&[&arguments[..], &["--unjudged", unjudged]].concat());
        assert_eq!(output.status.code(), Some(0));
        String::from_utf8(output.stderr).unwrap()
    };
    let (zero, left_out) = (said("zero"), said("leave-out"));
    for said in [&zero, &left_out] {
        let part = "2 relevant documents were not found by any function";
        assert!(said.contains(part), "no `{part}` in\n{said}");
    }
    let part = "1 query has no judged document among those found, and is left out";
    assert!(
        left_out.contains(part) && !zero.contains(part),
        "{left_out}"
    );
}

#[test]
fn fields_of_trec_documents_cannot_be_chosen() {
    let sandbox = Sandbox::new();
    sandbox.write(
        "d.trec",
        "<DOC><DOCNO>a</DOCNO><TEXT>red foxes</TEXT></DOC>\n",
    );
    for (option, value) in [
        ("--text", "body"),
        ("--id", "n"),
        ("--title", "t"),
        ("--where", "a=b"),
    ] {
        let output = sandbox.run(&["index", "d.trec", "-o", "i", option, value]);
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{said}");
        assert!(
            said.contains(option) && said.contains("TREC documents"),
            "{said}"
        );
        assert!(!sandbox.path("i").exists());
    }
    sandbox.succeed(&["index", "d.trec", "-o", "i"]);
}
