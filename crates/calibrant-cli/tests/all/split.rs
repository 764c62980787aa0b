//! A file to learn from and a file to test on.

use std::collections::BTreeSet;

use crate::common::{Sandbox, csv, messages};

#[test]
fn a_file_is_divided_beside_itself() {
    let sandbox = Sandbox::new();
    sandbox.write("mail.csv", csv(&messages(100, 2, 1)));
    let said = sandbox.succeed(&["split", "mail.csv"]);
    assert!(said.contains("written: mail.train.csv\n"), "{said}");
    let read = |name: &str| String::from_utf8(sandbox.read(name)).unwrap();
    let [whole, train, test] = ["mail.csv", "mail.train.csv", "mail.test.csv"].map(read);
    assert_eq!((train.lines().count(), test.lines().count()), (81, 21));
    let lines = |text: &str| text.lines().map(str::to_owned).collect::<BTreeSet<_>>();
    let both: BTreeSet<String> = lines(&train).union(&lines(&test)).cloned().collect();
    assert_eq!(both, lines(&whole));
    // The sides are used like any other file.
    sandbox.succeed(&["fit", "mail.train.csv", "-o", "model"]);
    sandbox.succeed(&["evaluate", "model", "mail.test.csv", "--no-ledger"]);
    // A third of the rows, by their order in time.
    let places = ["--train-out", "old.csv", "--test-out", "new.csv"];
    sandbox.write(
        "days.csv",
        "day,text\n3 Mar 2024,a\n2024-03-01,b\n02.03.2024,c\n",
    );
    let timed = [
        "split", "days.csv", "--time", "day", "--test", "0.33", "--json",
    ];
    let report = sandbox.json(&[&timed[..], &places].concat());
    assert_eq!(report["test"]["rows"], 1);
    assert_eq!(report["test_from"], "3 Mar 2024");
    assert_eq!(sandbox.read("new.csv"), b"day,text\n3 Mar 2024,a\n");
}

#[test]
fn what_cannot_be_divided_is_refused_with_the_next_step() {
    let sandbox = Sandbox::new();
    sandbox.write("mail.csv", csv(&messages(20, 2, 1)));
    sandbox.write("one.csv", "text,who\na,x\nb,x\n");
    sandbox.write("days.csv", "day,text\n2024-03-01,a\nsoon,b\n");
    sandbox.write("unclear.csv", "day,text\n1/2/2024,a\n2/3/2024,b\n");
    let before = sandbox.contents();
    for (arguments, said) in [
        (&["mail.csv", "--test", "0"][..], "--test 0.2"),
        (&["mail.csv", "--test", "1"], "above 0 and below 1"),
        (&["mail.csv", "--test", "-0.5"], "above 0 and below 1"),
        (&["mail.csv", "--group", "thread"], "no field `thread`"),
        (&["mail.csv", "--time", "when"], "no field `when`"),
        (&["mail.csv", "--label", "topic"], "no field `topic`"),
        (&["one.csv", "--group", "who"], "belong together"),
        (
            &["days.csv", "--time", "day"],
            "line 3, field `day`: `soon` is no date",
        ),
        (&["unclear.csv", "--time", "day"], "--date-order day"),
        (
            &["mail.csv", "--train-out", "mail.csv"],
            "would be overwritten",
        ),
        (
            &["mail.csv", "--train-out", "a.csv", "--test-out", "a.csv"],
            "one file",
        ),
        (
            &["mail.csv", "--group", "a", "--time", "b"],
            "cannot be used with",
        ),
        (&["-"], "cannot be read twice"),
        (&["."], "folder"),
        (&["nothing.csv"], "nothing.csv"),
    ] {
        let refused = sandbox.run(&[&["split"], arguments].concat());
        let error = String::from_utf8_lossy(&refused.stderr).into_owned();
        assert_eq!(refused.status.code(), Some(2), "{arguments:?}: {error}");
        assert!(error.contains(said), "{arguments:?}: {error}");
    }
    assert_eq!(sandbox.contents(), before, "nothing is written");
}
