"""How far a job is, in numbers and in one line."""

import logging
from collections.abc import Callable
from dataclasses import dataclass

logger = logging.getLogger("pgsb.bulk")


@dataclass
class Progress:
    """How far a job is: numbers of messages, but ``written`` of rows, ``failed`` of conversations.

    ``tasks`` of ``all_tasks`` Spark tasks of the present claim are through, at ``stage``; both are 0
    while no Spark job runs.
    """

    claims: int = 0
    claimed: int = 0
    completed: int = 0
    written: int = 0
    replied: int = 0
    failed: int = 0
    seconds: float = 0.0
    stage: str = ""
    tasks: int = 0
    all_tasks: int = 0

    @property
    def rate(self) -> float:
        """Completed messages per second."""
        return self.completed / self.seconds if self.seconds else 0.0

    def line(self) -> str:
        """One line for a log."""
        return (
            f"claimed {self.claimed:,}, completed {self.completed:,}, written {self.written:,} rows, "
            f"replied {self.replied:,}, failed {self.failed:,}: {self.rate:,.0f} messages/s"
        )


Report = Callable[[str, Progress], None]


def log(step: str, progress: Progress) -> None:
    """A report that goes to the log ``pgsb.bulk``."""
    if step != "tasks":
        logger.info("%s: %s", step, progress.line())
