"""Feature values of scikit-learn's TfidfVectorizer over terms that are given."""

from sklearn.feature_extraction.text import TfidfVectorizer
from sparse import answer, question

asked = question()
answers = []
for case in asked["cases"]:
    vectorizer = TfidfVectorizer(
        analyzer=lambda terms: terms,
        sublinear_tf=case["log"],
        use_idf=case["idf"],
        binary=case["binary"],
        norm="l2" if case["l2_norm"] else None,
    )
    values = vectorizer.fit_transform(asked["documents"])
    names = vectorizer.get_feature_names_out()
    answers.append(
        [
            {names[column]: value for column, value in zip(row.indices, row.data.tolist())}
            for row in (values[number] for number in range(values.shape[0]))
        ]
    )
answer(answers)
