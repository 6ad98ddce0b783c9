# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""The ``stewart`` command.

Exit codes: 0 it was done; 1 it was not (one sentence on standard error says why: a refused
motion, a missing file, an interruption, a reader of our output that went away); 2 the command
line cannot be understood.

A deliberate error, by the rule of `stewart_node_support.errors`, gets a sentence; every other
exception is a bug and keeps its traceback. ``--debug`` before the verb, or a non-empty
``STEWART_DEBUG``, shows the traceback of deliberate ones, too.

A package offers a verb by naming a module in the entry-point group ``stewart.verbs`` of its
``setup.py``. The module has ``HELP`` (one line), ``add_arguments(parser)`` and
``main(arguments) -> int``; where ``--platform`` does not always count, ``takes_platform(arguments)
-> bool`` tells whether it does. numpy, numba and rclpy take a second to import, so the list of
verbs that ``stewart --help`` prints comes from the module's source text; only the verb that is
called gets imported.
"""

from __future__ import annotations

import argparse
import ast
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from importlib import import_module, metadata
from importlib.util import find_spec
import math
import os
from pathlib import Path
import re
import sys
import traceback
from types import ModuleType
from typing import Any

from stewart_description.suggestion import meant
from stewart_node_support.errors import is_deliberate, sentence_of
from stewart_tables.installed import installed
from stewart_tables.numbers import is_plain
from stewart_tables.one_thread import prefer_one_thread
from stewart_tables.progress import tell
from stewart_tables.whole_files import OutputName

GROUP = 'stewart.verbs'


class VerbError(Exception):
    """The installed packages do not agree on what a verb is."""


@dataclass(frozen=True)
class Verb:
    """One verb of the command, and the dotted name of the module that does it."""

    name: str
    module: str

    @property
    def help(self) -> str:
        """One line from the module's ``HELP``, read from its source; empty if there is none."""
        path = _source_of(self.module)
        if path is None:
            return ''
        for node in ast.parse(path.read_text(encoding='utf-8')).body:
            if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == 'HELP':
                return str(ast.literal_eval(node.value))
        return ''

    def load(self) -> ModuleType:
        """Import the module of the verb."""
        return import_module(self.module)


def find_verbs() -> dict[str, Verb]:
    """Return all verbs that the installed packages offer, by name and sorted by it.

    Raises:
        VerbError: If two packages offer the same name with different modules.
    """
    verbs: dict[str, Verb] = {}
    for entry in sorted(installed(GROUP), key=lambda item: item.name):
        known = verbs.setdefault(entry.name, Verb(entry.name, entry.value))
        if known.module != entry.value:
            raise VerbError(
                f'two modules offer the verb {entry.name}: {known.module} and {entry.value}'
            )
    return verbs


def _source_of(module: str) -> Path | None:
    """Locate a module's file below its top package; finding a top package imports nothing."""
    root, *rest = module.split('.')
    spec = find_spec(root)
    for folder in (spec.submodule_search_locations or []) if spec else []:
        path = Path(folder, *rest).with_suffix('.py')
        if path.is_file():
            return path
    return None


DONE, FAILED, USAGE = 0, 1, 2
HELP_OPTIONS = {'-h', '--help'}


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command with arguments, by default those of the process; return its exit code."""
    if argv is None:
        prefer_one_thread()
        if HELP_OPTIONS & set(sys.argv):
            # Nothing is computed: kernels need be neither compiled nor loaded, nor numba imported.
            os.environ['NUMBA_DISABLE_JIT'] = '1'
    _open_closed_streams()
    if sys.stdout is None:
        return _fail('', 'standard output is closed')
    try:
        verbs = find_verbs()
    except VerbError as error:
        return _fail('', str(error))
    try:
        parser = _CommandParser(verbs)
        arguments = parser.parse_args(argv)
        if arguments.verb is None:
            parser.print_help(sys.stderr)
            return USAGE
        if arguments.verb not in verbs:
            parser.error(_unknown(arguments.verb, verbs))
    except SystemExit as stop:
        return int(stop.code or 0)
    debug = arguments.debug or bool(os.environ.get('STEWART_DEBUG'))
    verb = verbs[arguments.verb]
    return guarded(lambda: _run(verb, arguments.rest), verb.name, debug=debug)


def guarded(work: Callable[[], int], name: str, *, debug: bool = False) -> int:
    """Do some work in a name; turn a deliberate error into one sentence and exit code 1."""
    try:
        code = work()
        sys.stdout.flush()
    except SystemExit as stop:
        if isinstance(stop.code, str):
            return _fail(name, stop.code, debug=debug)
        return stop.code or DONE
    except BrokenPipeError:
        # Python flushes standard output once more at exit; give it somewhere to go.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return FAILED
    except KeyboardInterrupt:
        return _fail(name, 'interrupted', debug=debug)
    except Exception as error:
        if not is_deliberate(error):
            raise
        return _fail(name, sentence_of(error), debug=debug)
    return code


class _CommandParser(argparse.ArgumentParser):
    """Parser of what stands before the verb; reads the verbs' help only when it is asked for."""

    def __init__(self, verbs: dict[str, Verb]) -> None:
        super().__init__(
            prog='stewart',
            description='Move, watch and record a Stewart platform.',
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        self._verbs = verbs
        self.add_argument('--version', action='version', version=f'%(prog)s {_version()}')
        self.add_argument(
            '--debug', action='store_true', help='show tracebacks of expected errors'
        )
        self.add_argument('verb', nargs='?', metavar='VERB', help='what to do, see below')
        self.add_argument('rest', nargs=argparse.REMAINDER, metavar='...', help='for the verb')

    def format_help(self) -> str:
        """List the verbs below the options."""
        width = max(map(len, self._verbs), default=0)
        lines = [f'  {verb.name:<{width}}  {verb.help}' for verb in self._verbs.values()]
        closing = "'stewart VERB --help' tells more about one of them."
        self.epilog = '\n'.join(['verbs:', *lines, '', closing])
        return super().format_help()


class _VerbParser(argparse.ArgumentParser):
    """Parser of a verb; says what it expected where the type of an argument is float or int."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.register('type', float, partial(_number, float, 'a number'))
        self.register('type', int, partial(_number, int, 'a whole number'))
        # Before Python 3.14 -1e-3 is taken for an option. This is that version's expression, and
        # argparse has no other place to say it.
        self._negative_number_matcher = re.compile(r'-\.?\d')

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """Parse, as sub-commands do; a platform that nobody names is marked."""
        if default := self.get_default('platform'):
            self.set_defaults(platform=_Assumed(default))
        return super().parse_known_args(args, namespace)


def _number(kind: Callable[[str], float], expected: str, text: str) -> float:
    try:
        value = kind(text) if is_plain(text) else math.nan
    except ValueError:
        value = math.nan
    if math.isnan(value):
        raise argparse.ArgumentTypeError(f'expected {expected}, got {text!r}')
    return value


class _Assumed(str):
    """A default that was not typed."""

    __slots__ = ()


def _run(verb: Verb, rest: Sequence[str]) -> int:
    module = verb.load()
    parser = _VerbParser(
        prog=f'stewart {verb.name}',
        description=module.HELP,
        epilog=getattr(module, 'DETAILS', None),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    module.add_arguments(parser)
    arguments = parser.parse_args(rest)
    if isinstance(getattr(arguments, 'platform', None), _Assumed):
        arguments.platform = str(arguments.platform)
        if getattr(module, 'takes_platform', lambda _: True)(arguments):
            sentence = f'no --platform given, assuming {arguments.platform}'
            tell(f'stewart {verb.name}: {sentence}')
    _keep_what_is_read(parser, arguments)
    return int(module.main(arguments))


def _keep_what_is_read(parser: argparse.ArgumentParser, arguments: argparse.Namespace) -> None:
    """Refuse an output that is one of the files to be read, or another output."""
    for name, output in vars(arguments).items():
        if not isinstance(output, OutputName):
            continue
        for other, value in vars(arguments).items():
            several = value if isinstance(value, list | tuple) else [value]
            files = [file for file in several if isinstance(file, str | Path)]
            if other != name and any(_same(file, output) for file in files):
                what = 'written twice' if isinstance(value, OutputName) else 'read'
                parser.error(f'--{name.replace("_", "-")} {output} is {what}: name another file')


def _same(file: str | Path, output: OutputName) -> bool:
    if os.path.isfile(output):
        return os.path.exists(file) and os.path.samefile(file, output)
    # A device takes all that comes, and the name of a platform is no file.
    is_new = isinstance(file, OutputName) and not os.path.exists(output)
    return is_new and os.path.realpath(file) == os.path.realpath(output)


def _unknown(name: str, verbs: dict[str, Verb]) -> str:
    return f'no verb {name!r}{meant(name, verbs) or "; there are " + (", ".join(verbs) or "none")}'


def _open_closed_streams() -> None:
    """Give what a shell closed (``<&-``, ``2>&-``) somewhere to end.

    Otherwise there is no object to read from or to speak to, and the next file that is opened
    takes the number of the stream.
    """
    if sys.stdin is None:
        sys.stdin = open(os.devnull, encoding='utf-8')  # noqa: SIM115 - for the whole process
    if sys.stderr is None:
        sys.stderr = open(os.devnull, 'w', encoding='utf-8')  # noqa: SIM115 - as above


def _version() -> str:
    try:
        return metadata.version('stewart_bringup')
    except metadata.PackageNotFoundError:
        return 'not installed'


def _fail(name: str, sentence: str, *, debug: bool = False) -> int:
    if debug:
        traceback.print_exc()
    tell(f'{f"stewart {name}".rstrip()}: {sentence}')
    return FAILED
