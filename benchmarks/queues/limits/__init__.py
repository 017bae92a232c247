"""How cheap a queue with conversations can be: the lower bound, beside ours and the bare table.

So it is seen how far a target can be reached at all, and how far ours is from that. Each part
says what its lower bound leaves out. Prices are processor time of the server's processes.

- `slices`       statements that take turns, a few calls at a time: prices that nothing else disturbs
- `order`        whether groups come in order
- `statements`   SEND and RECEIVE, step by step
- `groups`       RECEIVE with groups in order, beside other readers
- `paper`        the paper's workload, and each half of it
- `connections`  100 senders beside 8
- `dialogs`      a new dialog for each message
- `queues`       1,000 queues read in turn
"""

from .connections import connections
from .dialogs import dialogs
from .groups import groups
from .paper import paper
from .queues import queues
from .statements import statements

__all__ = ["connections", "dialogs", "groups", "paper", "queues", "statements"]
