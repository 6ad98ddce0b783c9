# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Small wrong changes to a module, one at a time.

Operators, comparisons (their bound and their sense), conditions, numbers, minimum and maximum, and
statements that are left out. Annotations, decorators, assertions, texts, and the numbers of an
enumeration are left alone: they change nothing that a leg does.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from types import CodeType

SWAPPED_OPERATORS = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.Pow: ast.Mult,
    ast.Mod: ast.Mult,
    ast.FloorDiv: ast.Mult,
    ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
    ast.And: ast.Or,
    ast.Or: ast.And,
}
SWAPPED_COMPARISONS = {
    ast.Lt: (ast.LtE, ast.GtE),
    ast.LtE: (ast.Lt, ast.Gt),
    ast.Gt: (ast.GtE, ast.LtE),
    ast.GtE: (ast.Gt, ast.Lt),
    ast.Eq: (ast.NotEq,),
    ast.NotEq: (ast.Eq,),
    ast.Is: (ast.IsNot,),
    ast.IsNot: (ast.Is,),
    ast.In: (ast.NotIn,),
    ast.NotIn: (ast.In,),
}
_PAIRS = (('min', 'max'), ('minimum', 'maximum'), ('argmin', 'argmax'), ('any', 'all'))
SWAPPED_NAMES = dict(_PAIRS) | {after: before for before, after in _PAIRS}
SKIPPED_FIELDS = {'annotation', 'returns', 'decorator_list', 'bases', 'ctx'}
SKIPPED_NODES = (ast.Import, ast.ImportFrom, ast.Assert, ast.JoinedStr, ast.operator, ast.cmpop)


@dataclass(frozen=True)
class Mutant:
    """One change: in which line, what became of what, and the compiled module."""

    line: int
    text: str
    code: CodeType


def mutants(source: str, filename: str) -> Iterator[Mutant]:
    """Yield every mutant of a module."""
    tree = ast.parse(source)
    for parent, field, place in list(_places(tree)):
        old = _get(parent, field, place)
        before = ast.unparse(old)
        for new in _changes(old):
            _put(parent, field, place, ast.copy_location(new, old))
            code = compile(ast.fix_missing_locations(tree), filename, 'exec', dont_inherit=True)
            yield Mutant(old.lineno, f'{before} → {ast.unparse(new)}', code)
        _put(parent, field, place, old)


def _places(node: ast.AST) -> Iterator[tuple[ast.AST, str, int | None]]:
    """Yield where a node may be exchanged: its parent, the field, and the place in a list."""
    for field, value in ast.iter_fields(node):
        if field in SKIPPED_FIELDS:
            continue
        for place, child in enumerate(value if isinstance(value, list) else [value]):
            if not isinstance(child, ast.AST) or isinstance(child, SKIPPED_NODES):
                continue
            if isinstance(child, ast.ClassDef) and any(
                'Enum' in ast.unparse(base) for base in child.bases
            ):
                continue
            yield node, field, place if isinstance(value, list) else None
            yield from _places(child)


def _get(parent: ast.AST, field: str, place: int | None) -> ast.AST:
    value = getattr(parent, field)
    return value if place is None else value[place]


def _put(parent: ast.AST, field: str, place: int | None, node: ast.AST) -> None:
    if place is None:
        setattr(parent, field, node)
    else:
        getattr(parent, field)[place] = node


def _changes(node: ast.AST) -> Iterator[ast.AST]:
    """Yield what may take the place of a node."""
    match node:
        case ast.BinOp(left, operator, right) if type(operator) in SWAPPED_OPERATORS:
            if not any(isinstance(side, ast.Constant | ast.JoinedStr) and _said(side)
                       for side in (left, right)):  # fmt: skip
                yield ast.BinOp(left, SWAPPED_OPERATORS[type(operator)](), right)
        case ast.AugAssign(target, operator, value):
            if type(operator) in SWAPPED_OPERATORS:
                yield ast.AugAssign(target, SWAPPED_OPERATORS[type(operator)](), value)
            yield ast.Pass()
        case ast.BoolOp(operator, values):
            yield ast.BoolOp(SWAPPED_OPERATORS[type(operator)](), values)
        case ast.Compare(left, operators, others):
            for k, operator in enumerate(operators):
                for other in SWAPPED_COMPARISONS[type(operator)]:
                    yield ast.Compare(left, [*operators[:k], other(), *operators[k + 1 :]], others)
        case ast.UnaryOp(_, operand):
            yield operand
        case ast.Constant(value) if isinstance(value, bool):
            yield ast.Constant(not value)
        case ast.Constant(value) if isinstance(value, int | float):
            yield ast.Constant(value + 1)
        case ast.If(test, body, orelse) if _plain(test):
            yield ast.If(ast.UnaryOp(ast.Not(), test), body, orelse)
        case ast.IfExp(test, body, orelse) if _plain(test):
            yield ast.IfExp(ast.UnaryOp(ast.Not(), test), body, orelse)
        case ast.Name(name) if name in SWAPPED_NAMES:
            yield ast.Name(SWAPPED_NAMES[name], ast.Load())
        case ast.Attribute(value, name) if name in SWAPPED_NAMES:
            yield ast.Attribute(value, SWAPPED_NAMES[name], ast.Load())
        case ast.Expr(ast.Call()) | ast.Raise():
            yield ast.Pass()
        case ast.Assign(targets) if all(
            isinstance(t, ast.Attribute | ast.Subscript) for t in targets
        ):
            yield ast.Pass()
        case ast.Break():
            yield ast.Continue()
        case ast.Continue():
            yield ast.Break()


def _said(node: ast.AST) -> bool:
    """Tell whether a node is a text."""
    return isinstance(node, ast.JoinedStr) or isinstance(getattr(node, 'value', None), str)


def _plain(test: ast.AST) -> bool:
    """Tell whether nothing in a condition is mutated already that turns it round."""
    if isinstance(test, ast.Compare):
        return False
    return not (isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not))
