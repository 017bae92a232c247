"""The queues that are compared, ours first."""

from ..peer import Peer
from .bare import BareTable
from .graphile import GraphileWorker
from .ours import Ours
from .pgboss import PgBoss
from .pgmq import Pgmq, PgmqPop
from .pgq import Pgq
from .pgqueuer import PgQueuer
from .procrastinate import Procrastinate

PEERS: tuple[type[Peer], ...] = (
    Ours,
    BareTable,
    Pgmq,
    PgmqPop,
    Pgq,
    GraphileWorker,
    PgBoss,
    Procrastinate,
    PgQueuer,
)
