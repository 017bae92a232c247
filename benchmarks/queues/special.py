"""What takes more than filling and reading one queue; by the name that --only looks for."""

from collections.abc import Callable

from . import limits
from .conditions import conditions
from .dialogs import connections, dialogs
from .empty_handed import empty_handed
from .jobs import jobs
from .latency import latency
from .paper import paper
from .pinned import pinned
from .run import Outcome, Say
from .server import BenchServer
from .sets import sets
from .sizes import sizes
from .tails import tails

Special = Callable[[BenchServer, bool, bool, Say], list[Outcome]]

SPECIAL: dict[str, Special] = {
    "conditions": conditions,
    "new dialog per message": dialogs,
    "jobs": jobs,
    "100 connections": connections,
    "sets": sets,
    "empty-handed": empty_handed,
    "paper": paper,
    "latency": latency,
    "limits: statements": limits.statements,
    "limits: groups": limits.groups,
    "limits: dialogs": limits.dialogs,
    "limits: paper": limits.paper,
    "limits: connections": limits.connections,
    "limits: queues": limits.queues,
    "pinned xmin": pinned,
    "tails": tails,
    "sizes": sizes,
}
