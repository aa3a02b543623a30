"""rue.published is the paper's tables, cell by cell, read from its LaTeX source."""

import re

import pytest

from rue.published import PUBLISHED_COLUMNS, TABLES, read_published

LABELS = (
    "tab:regret_cifar10h",
    "tab:regret_appareal",
    "tab:regret_dcic",
    "tab:ood_summary",
    "tab:al_summary",
    "tab:results-benthic",
    "tab:results-mice-bone",
    "tab:results-pig",
    "tab:results-plankton",
    "tab:results-quality-mri",
    "tab:results-treeversity-1",
    "tab:results-treeversity-6",
    "tab:results-turkey",
)
REGRET = {
    r"$\AuReC$": "aurec",
    r"ex-$\AuReC$": "excess_aurec",
    r"$n$-$\AuReC$": "n_aurec",
    r"$\AuRC$": "aurc",
    "P-gap": "pareto_gap",
    r"$r_s(\Ahat, \Ehat)$": "spearman_hat",
    r"$r_s(\Astar, \Estar)$": "spearman_star",
}
SUMMARY = {
    "Best": "best",
    r"$\overline{n\text{-}\AuReC}$": "n_aurec",
    r"$\overline{\text{P-gap}}$": "pareto_gap",
    r"$\overline{r_s(\Ahat, \Ehat)}$": "spearman_hat",
    r"$\overline{r_s(\Astar, \Estar)}$": "spearman_star",
}
PROXIES = {
    "Near-OOD": "near_ood",
    "Far-OOD": "far_ood",
    r"$\AuAC$": "auac_labels",
    "EU": "nauc_epistemic",
    "TU": "nauc_total",
}
HEADS = REGRET | SUMMARY | PROXIES
METHODS = {
    "Dropout": "dropout",
    "MC-Dropout": "dropout",
    "Evidential": "evidential",
    "Ensemble": "ensemble",
    "Deep Ensemble": "ensemble",
    "DDU": "ddu",
}
LOSSES = {"CE": "log", "0/1": "zero_one", "sqr": "squared", "abs": "absolute"}
DATASETS = {
    "CIFAR10": "cifar10",
    "Imagenet": "imagenet",
    "OpenML ID 6": "openml-6",
    "OpenML ID 156": "openml-156",
}


def plain(cell):
    """A cell without its mathematics and marks."""
    return re.sub(r"\\(?:mathbf|textbf|underline)\{(.*?)\}", r"\1", cell).replace("$", "").strip()


def lines_of(text):
    """The lines of a tabular as lists of cells, rules and spaces left out."""
    text = re.sub(r"\\addlinespace\[\w+\]|\\cmidrule\S*( \\cmidrule\S*)?", "", text)
    return [line.split("&") for line in text.split(r"\\") if line.strip()]


def head_of(cells):
    """The column of each cell of a head, arrows and outer braces left out."""
    bare = [re.sub(r"\$\\(?:down|up)arrow\$", "", cell).strip() for cell in cells]
    return [HEADS[cell[1:-1].strip() if cell.startswith("{") else cell] for cell in bare]


def cells_of(paper, table, read=plain):
    """(data set, method, loss, column) -> what the paper prints, for one of its tables."""
    where = paper.index(r"\label{" + LABELS[table.number - 1] + "}")
    body = paper[where : paper.index(r"\end{tabular}", where)]
    top, rest = body.split(r"\toprule")[1].split(r"\midrule")
    rows = lines_of(rest.split(r"\bottomrule")[0])
    *groups, head = lines_of(top)
    n_names = 1 if groups else 2  # the proxies have no loss, but data sets side by side
    columns = head_of(head[n_names:])
    sets = [table.name] * len(columns)
    if groups:
        spans = re.findall(r"\\multicolumn\{(\d)\}\{c\}\{(.*?)\}", "&".join(groups[0]))
        sets = [DATASETS[name] for width, name in spans for _ in range(int(width))]
    found = {}
    method = ""
    for row in rows:
        method = METHODS.get(plain(row[0]), method)
        loss = "" if groups else LOSSES[plain(row[1])]
        for dataset, column, cell in zip(sets, columns, row[n_names:], strict=True):
            assert (dataset, method, loss, column) not in found
            found[dataset, method, loss, column] = read(cell)
    return found


@pytest.mark.parametrize("table", TABLES, ids=lambda table: table.name)
def test_every_cell_is_the_paper_s(paper, table):
    ours = {
        (row.dataset, row.method, row.loss, column): getattr(row, column)
        for row in read_published(table.number)
        for column in PUBLISHED_COLUMNS
        if getattr(row, column) is not None
    }
    theirs = cells_of(paper, table)
    assert ours == {key: float(cell) for key, cell in theirs.items()}
    # The source's own order of methods, whatever the data set or loss.
    order = dict.fromkeys(method for _, method, _, _ in theirs)
    assert list(dict.fromkeys(row.method for row in read_published(table.name))) == list(order)


def test_there_are_640_and_no_more(paper):
    counts = [len(cells_of(paper, table)) for table in TABLES]
    # 8 rows of 7; 8 of 5; 4 of 6; 4 of 4; and 8 rows of 7 again for each DCIC set.
    assert counts == [56, 56, 40, 24, 16] + [56] * 8
    assert sum(counts) == 640
    assert len(TABLES) == paper.count(r"\begin{table}")
    assert tuple(re.findall(r"\\label\{(tab:.*?)\}", paper)) == LABELS


def mark_of(cell):
    return "bold" if "bf{" in cell else "underlined" if "underline{" in cell else ""


def test_marks_are_where_the_numbers_say_but_for_one(paper):
    wrong = []
    for table in TABLES:
        numbers, marks = cells_of(paper, table), cells_of(paper, table, mark_of)
        for (dataset, method, loss, column), mark in marks.items():
            if column in ("best", "spearman_hat", "spearman_star"):  # never marked
                expected = ""
            else:
                rivals = {
                    float(numbers[dataset, other, loss, column]) for other in METHODS.values()
                }
                ranked = sorted(rivals, reverse=column in PROXIES.values())
                place = ranked.index(float(numbers[dataset, method, loss, column]))
                expected = ("bold", "underlined", "", "")[place]
            if mark != expected:
                wrong.append((dataset, method, loss, column, mark, expected))
    assert wrong == [("cifar10h", "ddu", "zero_one", "n_aurec", "", "underlined")]
