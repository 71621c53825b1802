"""The accuracy table of docs/benchmarks/estimator.md, by tokenizer."""

from statistics import median, quantiles

from tests.support.corpus import TABLE_OF, long_texts
from ullage.estimator import TABLES


def row(found):
    under = sum(ratio < 1 for ratio in found) / len(found)
    last = quantiles(found, n=100)[98]
    return f"{under:6.1%} | {min(found):5.2f} | {median(found):5.2f} | {last:6.2f}"


def test_accuracy_by_tokenizer(shared_data):
    texts = list(long_texts(shared_data))
    assert texts
    print("\n| tokenizer | table | under-counted | lowest | median | p99 |")
    for key_of in (lambda tokenizer: "any", TABLE_OF.get):
        for tokenizer in TABLE_OF:
            table = TABLES[key_of(tokenizer)]
            found = [
                table.measure(text.text).upper / text.tokens[tokenizer]
                for text in texts
            ]
            print(f"| {tokenizer:9} | {table.key:16} | {row(found)} |")
            assert min(found) >= 0.95
