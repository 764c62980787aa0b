//! What the paper printed.

/// Log loss (a sum, negative), squared error (a sum) and errors.
pub(super) type Printed = (f64, f64, u32);

/// Bennett, SIGIR 2003, Table 1: Reuters-21578, ModApte split, ten largest classes, 32,990 decisions. The support vector
/// machine's scores are not log-odds, so that its uncalibrated row has errors only.
pub(super) fn table_1(classifier: &str, method: &str) -> Option<(Option<f64>, Option<f64>, u32)> {
    let of = |(log_loss, squared, errors): Printed| (Some(log_loss), Some(squared), errors);
    Some(match (classifier, method) {
        ("naive_bayes", "gauss") => of((-5523.14, 1124.17, 1654)),
        ("naive_bayes", "asymmetric_gauss") => of((-4929.12, 652.67, 888)),
        ("naive_bayes", "laplace") => of((-5677.68, 1157.33, 1416)),
        ("naive_bayes", "asymmetric_laplace") => of((-3106.95, 554.37, 726)),
        ("naive_bayes", "logreg") => of((-3375.63, 603.20, 786)),
        ("naive_bayes", "lr_noise") => of((-3374.15, 604.80, 785)),
        ("naive_bayes", "raw") => of((-52184.52, 1969.41, 2121)),
        ("linear_svm" | "linear_svm_all_words", "gauss") => of((-3955.33, 589.25, 735)),
        ("linear_svm" | "linear_svm_all_words", "asymmetric_gauss") => of((-4580.46, 428.21, 532)),
        ("linear_svm" | "linear_svm_all_words", "laplace") => of((-3569.36, 640.19, 770)),
        ("linear_svm" | "linear_svm_all_words", "asymmetric_laplace") => {
            of((-2599.28, 412.75, 505))
        }
        ("linear_svm" | "linear_svm_all_words", "logreg") => of((-2575.85, 407.48, 509)),
        ("linear_svm" | "linear_svm_all_words", "lr_noise") => of((-2567.68, 408.82, 516)),
        ("linear_svm" | "linear_svm_all_words", "raw") => (None, None, 516),
        _ => return None,
    })
}
