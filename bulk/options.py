"""What a bulk job may be told: one object for the function, the command and spark-submit."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, get_args

from .problems import MOST_LONG, MOST_PARTITIONS, BulkError, require_choice, require_number
from .progress import Report, log

Mode = Literal["once", "until-empty", "continuous"]


def _never() -> bool:
    return False


@dataclass(frozen=True)
class JobOptions:
    """How a job runs. Raises BulkError for a mode that there is not, and for numbers below 1.

    mode          ``once`` takes one claim, ``until-empty`` goes on until nothing is free,
                  ``continuous`` waits for more
    max_messages  of one claim; None: no limit
    max_bytes     of the bodies of one claim; None: no limit
    partitions    tasks that read one claim; None: as many as Spark has cores, at least 2
    ordered       a conversation's messages are in order; a program to which order means nothing is
                  spared the sort
    master        Spark's master (default ``local[2]``)
    settings      settings of Spark's
    py_files      Python files and zips that the executors need too
    archives      packed environments (``env.tar.gz#env``) that the executors unpack
    modules       modules that the executors must be able to import, besides pgsb and psycopg
    overlap       the next claim is computed while one is completed, which keeps more of the machine
                  busy; not for a program that reads what it wrote for the claim before
    poll          seconds between two looks at an empty queue
    report        called after each step with its name and the progress
    should_stop   asked between claims; what fails when it is true counts as no rollback
    """

    mode: Mode = "until-empty"
    max_messages: int | None = 1_000_000
    max_bytes: int | None = None
    partitions: int | None = None
    ordered: bool = True
    master: str | None = None
    settings: Mapping[str, str] = field(default_factory=dict)
    py_files: tuple[str, ...] = ()
    archives: tuple[str, ...] = ()
    modules: tuple[str, ...] = ()
    overlap: bool = False
    poll: float = 1.0
    report: Report = log
    should_stop: Callable[[], bool] = _never

    def __post_init__(self) -> None:
        """Raise BulkError for a word or a number that is none: nothing has begun yet."""
        require_choice("mode", self.mode, get_args(Mode))
        for name, value, most in (
            ("max_messages", self.max_messages, MOST_LONG),
            ("max_bytes", self.max_bytes, MOST_LONG),
            ("partitions", self.partitions, MOST_PARTITIONS),
        ):
            if value is not None:
                require_number(name, value, most)


def require_files(paths: Iterable[str]) -> None:
    """Raise BulkError where one that executors are to get is not there; those with a scheme Spark finds."""
    for path in paths:
        name = path.partition("#")[0]
        if "://" not in name and not Path(name).is_file():
            raise BulkError(f"there is no file {name}, which the executors were to get")
