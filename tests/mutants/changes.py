"""Every small change of one expression of a file."""

import ast
from collections.abc import Iterator
from pathlib import Path

SWAPS = {
    ast.Lt: "<=",
    ast.LtE: "<",
    ast.Gt: ">=",
    ast.GtE: ">",
    ast.Eq: "!=",
    ast.NotEq: "==",
    ast.Is: "is not",
    ast.IsNot: "is",
    ast.In: "not in",
    ast.NotIn: "in",
    ast.Add: "-",
    ast.Sub: "+",
    ast.Mult: "/",
    ast.Div: "*",
    ast.FloorDiv: "/",
    ast.And: "or",
    ast.Or: "and",
}
NAMES = {"min": "max", "max": "min", "any": "all", "all": "any", "maximum": "minimum"}


def mutants(path: Path) -> Iterator[tuple[int, int, str, str]]:
    """Yield start, end, old and new text of every change of a file."""
    source = path.read_text()
    starts = [0]
    for line in source.splitlines(keepends=True):
        starts.append(starts[-1] + len(line.encode()))

    def place(node: ast.expr) -> tuple[int, int]:
        assert node.end_lineno is not None
        assert node.end_col_offset is not None
        return (
            starts[node.lineno - 1] + node.col_offset,
            starts[node.end_lineno - 1] + node.end_col_offset,
        )

    text = source.encode()

    def changed(node: ast.expr, new: str) -> tuple[int, int, str, str]:
        start, end = place(node)
        return start, end, text[start:end].decode(), new

    for node in _code(ast.parse(source)):
        if isinstance(node, ast.Compare) and len(node.ops) == 1:
            left, right = ast.unparse(node.left), ast.unparse(node.comparators[0])
            yield changed(node, f"({left}) {SWAPS[type(node.ops[0])]} ({right})")
        elif isinstance(node, ast.BinOp) and type(node.op) in SWAPS:
            left, right = ast.unparse(node.left), ast.unparse(node.right)
            yield changed(node, f"(({left}) {SWAPS[type(node.op)]} ({right}))")
        elif isinstance(node, ast.BoolOp):
            parts = [f"({ast.unparse(part)})" for part in node.values]
            yield changed(node, f"({f' {SWAPS[type(node.op)]} '.join(parts)})")
        elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not | ast.USub):
            yield changed(node, f"({ast.unparse(node.operand)})")
        elif isinstance(node, ast.Constant) and isinstance(node.value, bool):
            yield changed(node, str(not node.value))
        elif isinstance(node, ast.Constant) and isinstance(node.value, int | float):
            if node.value + 1 != node.value:  # 1e100 + 1 is 1e100
                yield changed(node, repr(node.value + 1))
        elif isinstance(node, ast.IfExp):
            body, other = ast.unparse(node.orelse), ast.unparse(node.body)
            yield changed(node, f"(({body}) if {ast.unparse(node.test)} else ({other}))")
        elif isinstance(node, ast.Name) and node.id in NAMES:
            yield changed(node, NAMES[node.id])


def _code(tree: ast.AST) -> Iterator[ast.AST]:
    """Yield all nodes but those of annotations, error messages, and text."""
    for name, value in ast.iter_fields(tree):
        if name in ("annotation", "returns", "type_params") or isinstance(tree, ast.Raise):
            continue
        for node in value if isinstance(value, list) else [value]:
            if isinstance(node, ast.AST) and not isinstance(node, ast.JoinedStr):
                yield node
                yield from _code(node)
