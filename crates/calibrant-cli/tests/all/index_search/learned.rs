//! Searches by a learned ranking, and many queries at once.

use super::*;

/// Documents about few things, in an index; queries about them, in two files; judgements.
fn collection() -> Sandbox {
    const THINGS: [&str; 8] = [
        "fox", "wing", "river", "stone", "bread", "lamp", "glass", "road",
    ];
    let sandbox = Sandbox::new();
    let mut documents = String::new();
    let mut number = 7usize;
    let mut draw = |most: usize| {
        number = (number * 1_103_515_245 + 12_345) % 2_147_483_648;
        (number >> 8) % most
    };
    let mut texts: Vec<Vec<usize>> = Vec::new();
    for document in 0..120 {
        let words: Vec<usize> = (0..4 + draw(12)).map(|_| draw(THINGS.len())).collect();
        let text: Vec<&str> = words.iter().map(|&word| THINGS[word]).collect();
        let text = text.join(" and ");
        documents.push_str(&format!(
            "{{\"id\":\"d{document}\",\"text\":\"{text}s\"}}\n"
        ));
        texts.push(words);
    }
    sandbox.write("docs.jsonl", documents);
    let mut qrels = String::new();
    let mut files = [String::new(), String::new()];
    for query in 0..28 {
        let (one, two) = (query % 8, (query / 8 + query + 1) % 8);
        let file = &mut files[usize::from(query >= 20)];
        file.push_str(&format!(
            "q{query}\tthe {} and {}\n",
            THINGS[one], THINGS[two]
        ));
        for (document, words) in texts.iter().enumerate() {
            let has = |thing| words.iter().filter(|&&word| word == thing).count();
            let share = (has(one).min(3) + has(two)) as f64 / words.len() as f64;
            let grade = i32::from(share > 0.25) + i32::from(share > 0.4);
            qrels.push_str(&format!("q{query} 0 d{document} {grade}\n"));
        }
    }
    sandbox.write("qrels.txt", qrels);
    sandbox.write("train.tsv", &files[0]);
    sandbox.write("test.tsv", &files[1]);
    sandbox.succeed(&["index", "docs.jsonl", "-o", "i"]);
    let features = [
        "search",
        "i",
        "--queries",
        "train.tsv",
        "--features",
        "train.letor",
    ];
    sandbox.succeed(&[&features[..], &["--qrels", "qrels.txt"]].concat());
    sandbox.succeed(&["rank", "fit", "train.letor", "-o", "m"]);
    sandbox
}

fn json_lines(text: &str) -> Vec<serde_json::Value> {
    let lines = text.lines();
    lines
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

#[test]
fn a_learned_ranking_is_the_same_in_memory_and_through_files() {
    let sandbox = collection();
    sandbox.succeed(&[
        "search",
        "i",
        "--queries",
        "test.tsv",
        "--features",
        "test.letor",
    ]);
    let by_files = json_lines(&sandbox.succeed(&["rank", "predict", "m", "test.letor", "--json"]));
    let ask = [
        "search",
        "i",
        "--queries",
        "test.tsv",
        "--model",
        "m",
        "--top",
        "1000",
    ];
    let answers = json_lines(&sandbox.succeed(&[&ask[..], &["--json"]].concat()));
    assert_eq!(answers.len(), 8);
    let mut found = 0;
    for answer in &answers {
        let query = &answer["id"];
        let of_query: Vec<_> = by_files
            .iter()
            .filter(|line| line["query"] == *query)
            .collect();
        let hits = answer["hits"].as_array().unwrap();
        assert_eq!(hits.len(), of_query.len());
        let mut last = f64::INFINITY;
        for hit in hits {
            let same = of_query.iter().find(|line| line["document"] == hit["id"]);
            let same = same.unwrap_or_else(|| panic!("no {hit} by files"));
            for name in ["score", "probability"] {
                let (memory, file) = (hit[name].as_f64().unwrap(), same[name].as_f64().unwrap());
                assert!((memory - file).abs() < 1e-12, "{name}: {hit} {same}");
            }
            let score = hit["score"].as_f64().unwrap();
            assert!(score <= last);
            last = score;
            found += 1;
        }
        // Not all are alike.
        assert!(hits[0]["score"].as_f64() > hits[hits.len() - 1]["score"].as_f64());
    }
    assert!(found > 200, "{found}");
    for more in [&[][..], &["--probabilities"]] {
        let memory =
            sandbox.succeed(&[&ask[..], &["--run", "-", "--run-name", "x"], more].concat());
        let files = ["rank", "predict", "m", "test.letor", "--run", "--name", "x"];
        assert_eq!(memory, sandbox.succeed(&[&files[..], more].concat()));
    }
    // One query is one of many.
    let one = sandbox.json(&[
        "search",
        "i",
        "--model",
        "m",
        "--json",
        "the bread and stone",
    ]);
    let text = sandbox.read("test.tsv");
    let text = String::from_utf8(text).unwrap();
    let line = text
        .lines()
        .find(|line| line.ends_with("the bread and stone"));
    if let Some((id, _)) = line.and_then(|line| line.split_once('\t')) {
        let same = answers.iter().find(|answer| answer["id"] == id).unwrap();
        assert_eq!(one["hits"][0]["score"], same["hits"][0]["score"]);
    }
}

#[test]
fn a_learned_ranking_is_shown_with_probabilities_and_explained_by_columns() {
    let sandbox = collection();
    let shown = sandbox.succeed(&["search", "i", "--model", "m", "fox", "wing", "--top", "3"]);
    assert_eq!(shown.matches("P(relevant) ").count(), 3, "{shown}");
    let ask = ["search", "i", "--model", "m", "fox wing", "--explain"];
    let answer = sandbox.json(&[&ask[..], &["--json"]].concat());
    let hit = &answer["hits"][0];
    let parts = hit["parts"].as_array().unwrap();
    assert_eq!(parts.len(), 15);
    assert_eq!(parts[0]["feature"], "cosine.plain");
    let sum: f64 = parts
        .iter()
        .map(|part| part["part"].as_f64().unwrap())
        .sum();
    assert!((sum - hit["score"].as_f64().unwrap()).abs() < 1e-9, "{hit}");
    assert!(sandbox.succeed(&ask).contains("bm25.stems"));
    let many = sandbox.succeed(&["search", "i", "--model", "m", "--queries", "test.tsv"]);
    assert_eq!(many.matches("query q2").count(), 8, "{many}");
    // Of columns without names an index knows nothing.
    let letor = String::from_utf8(sandbox.read("train.letor")).unwrap();
    let (_, nameless) = letor.split_once('\n').unwrap();
    sandbox.write("nameless.letor", nameless);
    sandbox.succeed(&["rank", "fit", "nameless.letor", "--c", "1", "-o", "numbers"]);
    let pieces = [
        "15 columns that are not retrieval functions",
        "`1`",
        "search --features",
    ];
    refused(
        &sandbox,
        &["search", "i", "--model", "numbers", "fox"],
        &pieces,
    );
    let none = [
        "rank",
        "fit",
        "train.letor",
        "--c",
        "1",
        "--calibrator",
        "none",
        "-o",
        "n",
    ];
    sandbox.succeed(&none);
    let run = [
        "search",
        "i",
        "--queries",
        "test.tsv",
        "--model",
        "n",
        "--run",
        "r",
    ];
    sandbox.succeed(&run);
    let stated = [&run[..], &["--probabilities"]].concat();
    refused(&sandbox, &stated, &["no probabilities of relevance"]);
}

#[test]
fn runs_of_one_function_are_told_apart_by_their_names() {
    let sandbox = collection();
    let search = ["search", "i", "--queries", "train.tsv", "--run"];
    for (file, more) in [
        ("a.run", vec!["--run-name", "a"]),
        ("b.run", vec!["--run-name", "b", "--top", "20"]),
        ("c.run", vec![]),
        ("d.run", vec![]),
    ] {
        sandbox.succeed(&[&search[..], &[file], &more].concat());
    }
    let run = String::from_utf8(sandbox.read("a.run")).unwrap();
    assert!(run.lines().all(|line| line.ends_with(" a")), "{run}");
    let fit = |one, two| {
        let fit = ["rank", "fit", "--qrels", "qrels.txt", "--c", "1", "-o", "r"];
        [&fit[..], &["--from-run", one, "--from-run", two]].concat()
    };
    sandbox.succeed(&fit("a.run", "b.run"));
    let pieces = ["two runs have the name `bm25.stems`", "--run-name"];
    refused(&sandbox, &fit("c.run", "d.run"), &pieces);
    let folder = [
        "--run-name",
        "x",
        "--function",
        "bm25.plain",
        "--function",
        "bm25.stems",
    ];
    sandbox.succeed(&[&search[..], &["runs"], &folder[..]].concat());
    let run = String::from_utf8(sandbox.read("runs/bm25.plain.run")).unwrap();
    assert!(
        run.lines().all(|line| line.ends_with(" x.bm25.plain")),
        "{run}"
    );
}

#[test]
fn many_queries_are_answered_as_text_and_as_json_lines() {
    let sandbox = indexed();
    sandbox.write("q.tsv", "1\tfoxes\n2\tzebra\n");
    let shown = sandbox.succeed(&["search", "i", "--queries", "q.tsv"]);
    assert!(shown.starts_with("query 1: foxes\n1. a  "), "{shown}");
    assert!(shown.contains("query 2: zebra\n"), "{shown}");
    let answers = json_lines(&sandbox.succeed(&["search", "i", "--queries", "q.tsv", "--json"]));
    let alone = sandbox.json(&["search", "i", "foxes", "--json"]);
    assert_eq!(
        (&answers[0]["id"], &answers[1]["id"]),
        (&"1".into(), &"2".into())
    );
    assert_eq!(answers[0]["hits"], alone["hits"]);
    assert_eq!(answers[1]["hits"], serde_json::json!([]));
}
