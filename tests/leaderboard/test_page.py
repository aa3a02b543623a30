"""The page: whole, self-contained, and deaf to what names try."""

import re

from reported import content
from rue.leaderboard import build_leaderboard, write_leaderboard
from rue.leaderboard.page import render_leaderboard
from submitted import change_row

HOSTILE = "</script><script>alert(1)</script>"


def test_the_page_holds_the_boards(submissions, tmp_path):
    board = build_leaderboard([submissions])
    path = write_leaderboard(board, tmp_path / "new" / "site", title="Ours", command="rue x")
    assert path == tmp_path / "new" / "site" / "index.html"
    assert [file.name for file in path.parent.iterdir()] == ["index.html"]
    read = content(path.read_text())
    assert (read["title"], read["command"]) == ("Ours", "rue x")
    for found, given in zip(read["boards"], board.boards, strict=True):
        assert [row["method"] for row in found["rows"]] == [row.method for row in given.rows]
        ranking = found["rankings"][""]["n_aurec"]
        expected = given.rankings[""]["n_aurec"]
        assert ranking["probability"] == expected.rank_probability.tolist()
        assert ranking["expected"] == list(expected.expected_rank.values())
    assert read["columns"][0]["key"] == "n_aurec"
    assert "near_ood" not in {column["key"] for column in read["columns"]}


def test_the_page_fetches_nothing(submissions):
    page = render_leaderboard(build_leaderboard([submissions]))
    assert "default-src 'none'" in page
    assert not re.search(r"""(src|href)=["']?(https?:|//)""", page)
    assert page.count("<script") == 2


def test_hostile_names_are_only_text(submissions):
    def hostile(row):
        row.update(
            method=HOSTILE, regime=HOSTILE, settings={HOSTILE: HOSTILE}, link=f"https://x/{'<b>'}"
        )

    change_row(submissions / "method0", hostile)
    change_row(submissions / "method1", lambda row: row.update(data=HOSTILE))
    board = build_leaderboard([submissions])
    page = render_leaderboard(board, title=HOSTILE, command=HOSTILE)
    assert page.count("<script") == 2
    assert "alert(1)</script>" not in page
    assert HOSTILE in {row["method"] for b in content(page)["boards"] for row in b["rows"]}
