use proptest::prelude::*;

use super::*;
use crate::rules::Atom;
use crate::text::Language;

fn strengths(rules: &str, analyzer: &Analyzer, text: &str, asked: &[&str]) -> Vec<f32> {
    let rules: RuleSet = rules.parse().unwrap();
    let matcher = RuleMatcher::new(&rules, analyzer).unwrap();
    let asked: Vec<String> = asked.iter().map(|&text| text.to_owned()).collect();
    let mut strengths = vec![-1.0; matcher.rule_count()];
    matcher.strengths_into(text, &asked, &mut MatchBuffers::default(), &mut strengths);
    strengths
}

fn matches(query: &str, text: &str) -> bool {
    strengths(&format!("c: {query}"), &Analyzer::default(), text, &[])[0] > 0.0
}

#[test]
fn signs_emoji_and_characters_without_spaces_are_found() {
    for (query, text, expected) in [
        ("c++", "Wanted: C++ and Go", true),
        ("c++", "Wanted: C and Go", false),
        ("c", "Wanted: C++ and Go", false),
        ("c# OR f#", "Written in F#.", true),
        ("c#", "Written in C", false),
        ("👍", "ok👍 then", true),
        ("❤", "I ❤\u{FE0F} it", true),
        ("👍", "👎", false),
        // Whatever words the dictionary sees in the text.
        ("京都", "東京都に住む", true),
        ("中文 AND NOT 英文", "我学中文字", true),
        ("ไทย", "ภาษาไทยง่าย", true),
        ("ไทย", "ไท ย", true),
    ] {
        assert_eq!(matches(query, text), expected, "{query} in {text}");
    }
}

#[test]
fn queries_match_as_they_read() {
    let text = "OPEC raised its price; the oil price, said the U.S., rises";
    for (query, expected) in [
        ("opec", true),
        ("OIL AND opec", true),
        ("oil AND gas", false),
        ("gas OR opec", true),
        ("NOT gas", true),
        ("oil AND NOT (gas OR coal)", true),
        ("\"oil price\"", true),
        ("\"price oil\"", false),
        ("\"the oil price said\"", true),
        ("pric*", true),
        ("price*", true),
        ("prices*", false),
        ("2 of (oil, gas, opec)", true),
        ("3 of (oil, gas, opec)", false),
        ("u.s.", true),
        ("\"U S\"", true),
        ("s.u", false),
    ] {
        assert_eq!(matches(query, text), expected, "{query}");
    }
}

#[test] // By hand: wheat twice, 1 + ln 2; corn once, 1.
fn strengths_are_those_worked_by_hand() {
    let twice = 1.0 + 2f64.ln();
    for (query, expected) in [
        ("wheat", twice),
        ("wheat OR corn", twice + 1.0),
        ("wheat AND corn", 1.0),
        ("wheat AND NOT oil", twice),
        ("NOT oil", 1.0),
        ("NOT oil AND NOT gas", 1.0),
        ("2 of (wheat, corn, oil)", twice + 1.0),
        ("3 of (wheat, corn, oil)", 0.0),
        ("wh* OR \"corn wheat\"", twice + 1.0),
    ] {
        let found = strengths(
            &format!("c: {query}"),
            &Analyzer::default(),
            "wheat corn wheat",
            &[],
        );
        assert!(
            (f64::from(found[0]) - expected).abs() < 1e-6,
            "{query}: {found:?}"
        );
    }
}

#[test]
fn words_are_analysed_as_the_text_is() {
    let analyzer = Analyzer {
        stemmer: Some(Language::English),
        stop_words: Some(Language::English),
        word_ngrams: NgramRange { min: 1, max: 2 },
        fold_accents: true,
        min_token_chars: 4,
        ..Analyzer::default()
    };
    let rules = "a: shipping\nb: shippi*\nc: \"bank of england\"\nd: café\ne: \"the ships\"";
    let found = strengths(rules, &analyzer, "The shipped Cafe, Bank of England", &[]);
    assert!(
        found[0] > 0.0 && found[1] == 0.0 && found[2] > 0.0,
        "{found:?}"
    );
    assert!(found[3] > 0.0 && found[4] > 0.0, "{found:?}");
    let found = strengths(rules, &analyzer, "shipping and SHIPPINGS", &[]);
    assert!((f64::from(found[1]) - (1.0 + 2f64.ln())).abs() < 1e-6);
}

#[test]
fn fields_are_searched_alone() {
    let rules = "a: subject:oil\nb: oil\nc: to:ann* AND subject:\"oil price\"";
    let found = |text: &str, asked: &[&str]| -> Vec<bool> {
        strengths(rules, &Analyzer::default(), text, asked)
            .into_iter()
            .map(|strength| strength > 0.0)
            .collect()
    };
    assert_eq!(found("oil", &["gas", "anna"]), [false, true, false]);
    assert_eq!(found("gas", &["Oil price", "Anna"]), [true, false, true]);
    assert_eq!(found("oil", &[]), [false, true, false]);
}

#[test]
fn words_that_come_to_nothing_are_named() {
    let error = |rules: &str| {
        let rules: RuleSet = rules.parse().unwrap();
        RuleMatcher::new(&rules, &Analyzer::default())
            .unwrap_err()
            .to_string()
    };
    assert_eq!(
        error("a: b\nc: d OR %%%"),
        "line 2, column 9: category `c`: nothing is left of `%%%` when it is split into words; leave it out"
    );
    assert!(error("a: b-c*").contains("`b-c*` falls into the words b, c"));
    assert!(error("a: ...*").contains("nothing is left"));
}

/// The same meaning from the definition alone, over words that blanks divide.
fn brute_force(query: &Query, words: &[&str]) -> f64 {
    let graded = |count: usize| {
        if count == 0 {
            0.0
        } else {
            1.0 + (count as f64).ln()
        }
    };
    match query {
        Query::Atom(atom) => match &atom.wanted {
            Wanted::Word(word) => graded(words.iter().filter(|found| *found == word).count()),
            Wanted::Prefix(prefix) => graded(
                words
                    .iter()
                    .filter(|found| found.starts_with(prefix.as_str()))
                    .count(),
            ),
            Wanted::Phrase(phrase) => {
                let phrase: Vec<&str> = phrase.split(' ').collect();
                graded(
                    words
                        .windows(phrase.len())
                        .filter(|window| *window == phrase)
                        .count(),
                )
            }
        },
        Query::Not(part) => {
            if brute_force(part, words) > 0.0 {
                0.0
            } else {
                1.0
            }
        }
        Query::Or(parts) => parts.iter().map(|part| brute_force(part, words)).sum(),
        Query::AtLeast(count, parts) => {
            let all: Vec<f64> = parts.iter().map(|part| brute_force(part, words)).collect();
            let enough = all.iter().filter(|&&strength| strength > 0.0).count() >= *count;
            if enough { all.iter().sum() } else { 0.0 }
        }
        Query::And(parts) => {
            let all: Vec<f64> = parts.iter().map(|part| brute_force(part, words)).collect();
            if all.contains(&0.0) {
                return 0.0;
            }
            let mut counted: Vec<f64> = parts
                .iter()
                .zip(all)
                .filter(|(part, _)| !matches!(part, Query::Not(_)))
                .map(|(_, strength)| strength)
                .collect();
            counted.sort_by(f64::total_cmp);
            counted.first().copied().unwrap_or(1.0)
        }
    }
}

fn any_query() -> impl Strategy<Value = Query> {
    let word = "[ab]{1,3}";
    let wanted = prop_oneof![
        word.prop_map(Wanted::Word),
        word.prop_map(Wanted::Prefix),
        prop::collection::vec(word, 1..4).prop_map(|words| Wanted::Phrase(words.join(" "))),
    ];
    let leaf = wanted.prop_map(|wanted| {
        Query::Atom(Atom {
            field: None,
            wanted,
            place: Default::default(),
        })
    });
    leaf.prop_recursive(4, 24, 4, |inner| {
        let several = || prop::collection::vec(inner.clone(), 1..4);
        prop_oneof![
            several().prop_map(Query::And),
            several().prop_map(Query::Or),
            inner.clone().prop_map(|part| Query::Not(Box::new(part))),
            (1usize..4, several()).prop_map(|(count, parts)| Query::AtLeast(count, parts)),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    #[test]
    fn strengths_are_those_of_the_definition(
        queries in prop::collection::vec(any_query(), 1..4),
        texts in prop::collection::vec(prop::collection::vec("[ab]{1,3}", 0..12), 1..4),
    ) {
        let queries: Vec<&Query> = queries.iter().collect();
        let matcher = RuleMatcher::of_queries(&queries, &[], &Analyzer::default()).unwrap();
        let mut buffers = MatchBuffers::default();
        let mut strengths = vec![0.0; queries.len()];
        for words in &texts {
            matcher.strengths_into(&words.join(" "), &[], &mut buffers, &mut strengths);
            let words: Vec<&str> = words.iter().map(String::as_str).collect();
            for (query, strength) in queries.iter().zip(&strengths) {
                let expected = brute_force(query, &words);
                prop_assert!((f64::from(*strength) - expected).abs() < 1e-5, "{query}: {strength} {expected}");
            }
        }
    }
}
