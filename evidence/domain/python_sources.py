"""A Python source as sectioned text: by top-level definition, docstrings as words."""

from __future__ import annotations

import ast
import inspect
import warnings
from collections.abc import Iterator, Sequence

from evidence.domain.fresh_stack import on_fresh_stack
from evidence.domain.sections import Section, SourceUnreadable, comment_words, sectioned
from evidence.messages import Message, gettext_noop

_NAMED = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


def render_python(text: str) -> str:
    """Give the module's docstring, and a section for each function, class and assigned name.

    A docstring and the comments right above a definition are given as words, the rest as written;
    imports and other statements are left out. Nothing is executed. Raises `SourceUnreadable` for
    what this Python cannot parse, also because it is nested too deeply.
    """
    module = on_fresh_stack(lambda: _parsed(text))
    lines = text.split("\n")
    return sectioned(_sections(module, lines))


def _parsed(text: str) -> ast.Module:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # doubtful escapes are the author's business
            return ast.parse(text)
    except SyntaxError as error:
        message = Message(gettext_noop("This is not Python: %(reason)s."), reason=error.msg)
        raise SourceUnreadable(message, line=error.lineno, column=error.offset) from error
    except (RecursionError, MemoryError, ValueError, OverflowError) as error:
        message = Message(gettext_noop("The Python is too deep or too long to be read."))
        raise SourceUnreadable(message) from error


def _sections(module: ast.Module, lines: Sequence[str]) -> Iterator[Section]:
    docstring = _docstring_of(module)
    if docstring is not None:
        yield Section(words=(_words(docstring),))
    reached = 0
    for node in module.body:
        first, last = _first_line(node), node.end_lineno or node.lineno
        title = _title(node)
        if title and first > reached:
            yield _definition(node, title, lines[reached : first - 1], lines)
        reached = max(reached, last)


def _definition(node: ast.stmt, title: str, before: Sequence[str], lines: Sequence[str]) -> Section:
    numbers = range(_first_line(node), (node.end_lineno or node.lineno) + 1)
    docstring = _docstring_of(node) if isinstance(node, _NAMED) else None
    words = [comment_words(_right_above(before), "#")]
    if docstring is not None and docstring.lineno > node.lineno:
        words.append(_words(docstring))
        told = range(docstring.lineno, (docstring.end_lineno or docstring.lineno) + 1)
        numbers_kept = [number for number in numbers if number not in told]
    else:
        numbers_kept = list(numbers)
    code = "\n".join(lines[number - 1] for number in numbers_kept)
    return Section(title, tuple(words), code, "python")


def _title(node: ast.stmt) -> str:
    if isinstance(node, _NAMED):
        return node.name
    if isinstance(node, ast.Assign):
        return ", ".join(map(_target, node.targets))
    if isinstance(node, (ast.AnnAssign, ast.AugAssign)):
        return _target(node.target)
    return ""


def _target(node: ast.expr) -> str:
    names = [each.id for each in ast.walk(node) if isinstance(each, ast.Name)]
    return ", ".join(names[:3])


def _first_line(node: ast.stmt) -> int:
    decorators = node.decorator_list if isinstance(node, _NAMED) else []
    return min([node.lineno, *(each.lineno for each in decorators)])


def _docstring_of(
    node: ast.Module | ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef,
) -> ast.Constant | None:
    first = node.body[0] if node.body else None
    value = first.value if isinstance(first, ast.Expr) else None
    text = value if isinstance(value, ast.Constant) else None
    return text if text is not None and isinstance(text.value, str) else None


def _words(docstring: ast.Constant) -> str:
    return inspect.cleandoc(str(docstring.value))


def _right_above(lines: Sequence[str]) -> Sequence[str]:
    """Give the comment lines that stand directly above a definition."""
    start = len(lines)
    while start and lines[start - 1].lstrip().startswith("#"):
        start -= 1
    return lines[start:]
