use proptest::prelude::*;

use super::*;

fn parsed(text: &str) -> RuleSet {
    text.parse()
        .unwrap_or_else(|error| panic!("{text}: {error}"))
}

#[track_caller]
fn check(query: &str, printed: &str) {
    let rules = parsed(&format!("c: {query}"));
    assert_eq!(rules.to_string(), format!("c: {printed}\n"));
}

#[test]
fn operators_bind_as_in_arithmetic() {
    check("a OR b AND c", "a OR b AND c");
    check("(a OR b) AND c", "(a OR b) AND c");
    check("((a)) AND (b AND c)", "a AND (b AND c)");
    check("NOT a AND b", "NOT a AND b");
    check("NOT (a AND b)", "NOT (a AND b)");
    check("NOT NOT a", "NOT NOT a");
    check(
        "2 of(a,b OR c,\"d e\")   OR 2 AND of",
        "2 of (a, b OR c, \"d e\") OR 2 AND of",
    );
    check(
        "subject:a AND \"my field\":b* OR s:\"x y\"",
        "subject:a AND \"my field\":b* OR s:\"x y\"",
    );
    check(r#""say \"no\" \\ now""#, r#""say \"no\" \\ now""#);
    let Query::Or(parts) = &parsed("c: a OR b AND c").rules[0].query else {
        panic!("OR is outermost");
    };
    assert!(matches!(parts[1], Query::And(_)));
}

#[test]
fn lines_of_a_category_are_joined_by_or() {
    let rules = parsed(
        "# comment\n\u{20}\n\"wheat street\": a  # why\n    b AND c\ncorn: c#\n\"wheat street\": (d OR e) OR f\n",
    );
    assert_eq!(
        rules.to_string(),
        "\"wheat street\": a OR b AND c OR (d OR e) OR f\ncorn: c#\n"
    );
    assert_eq!(
        rules.categories().collect::<Vec<_>>(),
        ["wheat street", "corn"]
    );
}

#[test]
fn fields_are_listed_once_and_in_order() {
    let rules = parsed("a: to:x OR NOT subject:y*\nb: 1 of (subject:z, w)");
    assert_eq!(rules.fields(), ["subject", "to"]);
}

#[track_caller]
fn refuses(text: &str, line: usize, column: usize, said: &str) {
    let error = text.parse::<RuleSet>().unwrap_err();
    assert_eq!(
        (error.line, error.column),
        (line, column),
        "{text}: {error}"
    );
    assert!(error.message.contains(said), "{text}: {error}");
}

#[test]
fn mistakes_are_named_by_line_and_column_with_the_next_step() {
    refuses("", 1, 1, "there are no rules");
    refuses("# only this", 1, 1, "there are no rules");
    refuses("  a: b", 1, 3, "begin at the left");
    refuses("wheat", 1, 6, "a colon must follow the category `wheat`");
    refuses("wheat street: a", 1, 7, "quote names of several words");
    refuses("(a): b", 1, 1, "a line begins with a category");
    refuses("\"\": b", 1, 1, "category is empty");
    refuses("a:", 1, 3, "a word, a phrase or a parenthesis must follow");
    refuses("a: b AND", 1, 9, "must follow");
    refuses("\n\na: b\n  c d", 4, 5, "AND or OR must come before `d`");
    refuses("a: b and c", 1, 6, "operators are written in capitals");
    refuses("a: b NOT c", 1, 6, "AND or OR must come before NOT");
    refuses("a: OR b", 1, 4, "`OR` cannot stand here");
    refuses("a: (b OR c", 1, 4, "never closed");
    refuses("a: b)", 1, 5, "never opened");
    refuses("a: b, c", 1, 5, "commas divide only");
    refuses("a: \"b c", 1, 4, "the quote opened here is never closed");
    refuses("a: \"\"", 1, 4, "the phrase is empty");
    refuses("a: *b", 1, 4, "`*` must follow");
    refuses("a: ü*b", 1, 5, "only at the end");
    refuses(
        "a: 3 of (b, c)",
        1,
        4,
        "3 of 2 parts is not possible; choose 1 to 2",
    );
    refuses("a: 0 of (b)", 1, 4, "choose 1 to 1");
    refuses("a: 2 of b", 1, 9, "in parentheses, as in `2 of (a, b, c)`");
    refuses("a: s:(b OR c)", 1, 6, "write `field:a OR field:b`");
    refuses("a: s:", 1, 6, "must follow the field");
    refuses("a: 99999999999999999999 of (b)", 1, 4, "is not possible");
}

#[test]
fn depth_and_length_have_limits() {
    let deep = |depth: usize| format!("a: {}b{}", "(".repeat(depth), ")".repeat(depth));
    parsed(&deep(DEEPEST));
    refuses(
        &deep(DEEPEST + 1),
        1,
        4 + DEEPEST + 1,
        "nested more than 64 deep",
    );
    refuses(
        &deep(200_000),
        1,
        4 + DEEPEST + 1,
        "nested more than 64 deep",
    );
    let error = format!("a: {}b", "NOT ".repeat(70)).parse::<RuleSet>();
    assert!(error.unwrap_err().message.contains("nested"));
    refuses(
        &format!("a: {}", "b".repeat(1 << 20)),
        1,
        1,
        "longer than 1048576 bytes",
    );
}

fn any_query() -> impl Strategy<Value = Query> {
    let word = "[a-zäλ0-9'#.-]{1,6}".prop_filter("an operator, a comment or `N of`", |word| {
        !word.starts_with('#') && word != "of"
    });
    let wanted = prop_oneof![
        word.clone().prop_map(Wanted::Word),
        word.clone().prop_map(Wanted::Prefix),
        "[a-z\"\\\\ :*(]{0,8}x".prop_map(Wanted::Phrase),
    ];
    let field = prop::option::of(prop_oneof![word, "[a-z: ]{1,5}y".prop_map(String::from)]);
    let leaf = (field, wanted).prop_map(|(field, wanted)| atom(field, wanted, Place::default()));
    leaf.prop_recursive(4, 24, 4, |inner| {
        let several = || prop::collection::vec(inner.clone(), 2..4);
        prop_oneof![
            several().prop_map(Query::And),
            several().prop_map(Query::Or),
            inner.clone().prop_map(|part| Query::Not(Box::new(part))),
            (1usize..3, several()).prop_map(|(count, parts)| Query::AtLeast(count, parts)),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn printed_rules_are_read_as_the_same_rules(
        queries in prop::collection::btree_map("[a-zA-Z: \"#]{0,5}z", any_query(), 1..4),
    ) {
        let rules = RuleSet {
            rules: queries
                .into_iter()
                .map(|(category, query)| Rule { category, query })
                .collect(),
        };
        let printed = rules.to_string();
        let again: Result<RuleSet, _> = printed.parse();
        prop_assert_eq!(again.as_ref(), Ok(&rules), "{}", printed);
    }

    #[test]
    fn no_text_makes_the_parser_panic(text in "[a-c:()\",* #\\\\\n\tANDORT0-9ofé]{0,60}|\\PC{0,40}") {
        if let Ok(rules) = text.parse::<RuleSet>() {
            let printed = rules.to_string();
            prop_assert_eq!(printed.parse::<RuleSet>(), Ok(rules), "{}", printed);
        }
    }
}
