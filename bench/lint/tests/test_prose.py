from pathlib import Path

from repository_fixture import repository
from triptych_lint import prose
from triptych_lint.repository import Repository

RULES = {
    "words": ["told", "mend", "that is none"],
    "words_reported": 5,
    "words_failed": 8,
    "may_name_words": {"list.toml": "the list"},
}


def tree(folder: Path, **files: str | bytes) -> Repository:
    return repository(folder, {name.replace("__", "."): text for name, text in files.items()}, prose=RULES)


def test_words_in_texts_and_in_identifiers(tmp_path: Path) -> None:
    found = prose.word_problems(
        tree(tmp_path, a__rs="// It is Told.\nfn names_are_told() {}\n// A driver that is\n// x")
    )
    assert [problem.partition(" is a word")[0] for problem in found] == ["a.rs:1: `Told`", "a.rs:2: `told`"]


def test_a_phrase_across_two_lines(tmp_path: Path) -> None:
    assert len(prose.word_problems(tree(tmp_path, a__md="a driver that\nis none"))) == 1


def test_other_words_that_hold_the_letters(tmp_path: Path) -> None:
    assert prose.word_problems(tree(tmp_path, a__md="We recommend an amendment; untold, mended")) == []


def test_file_names(tmp_path: Path) -> None:
    assert prose.word_problems(tree(tmp_path, mend__sh="")) == [
        "mend.sh: the file name contains `mend`: choose another word"
    ]


def test_binary_files_and_exceptions(tmp_path: Path) -> None:
    assert prose.word_problems(tree(tmp_path, a__bin=b"\xff told", list__toml="told")) == []


def test_long_sentences(tmp_path: Path) -> None:
    title = "# Title of many words that is no sentence at all\n\n"
    text = f"{title}One two three four. One two three four five six\nseven eight nine.\n"
    assert prose.sentence_problems(tree(tmp_path, a__md=text)) == [
        "a.md:3: a sentence of 9 words, at most 8: One two three four five six seven eight …"
    ]
    assert prose.sentence_problems(tree(tmp_path, a__rs=text)) == []


def test_sentences_of_medium_length_are_reported_only(tmp_path: Path) -> None:
    repo = tree(tmp_path, a__md="One two three four five six.")
    assert prose.sentence_problems(repo) == []
    assert len(prose.sentence_reports(repo)) == 1


def test_code_tables_and_headings_are_no_sentences() -> None:
    text = """# Heading
| a table | of cells |
```sh
one two three
```
<picture>
  <img alt="One. Two">
</picture>
- item one
  goes on
- item two. Another [link text](https://example.org "A title").
1. step
"""
    assert [sentence for _, sentence in prose.sentences(text) if sentence.strip()] == [
        "item one goes on",
        "item two.",
        "Another link text.",
        "step",
    ]
