"""The daemon in a thread of another program: `pgsb run --activate`, tests, notebooks."""

import asyncio
import math
import threading
import time
from collections.abc import Coroutine
from types import TracebackType

from .config import BrokerOptions
from .counts import Counts
from .leader import pause
from .log import Sink
from .loop import Broker

_LOOK_SECONDS = 0.05


class EmbeddedBroker:
    """A daemon in a thread of its own, from ``with`` to its end.

    ::

        with EmbeddedBroker(BrokerOptions(dsn)) as broker:
            ...                      # service programs run meanwhile
            broker.settle(10)
    """

    def __init__(self, options: BrokerOptions, sink: Sink | None = None) -> None:
        self._options = options
        self._sink = sink
        self._ready = threading.Event()
        self._thread = threading.Thread(target=self._run, name="pgsb broker", daemon=True)
        self._loop: asyncio.AbstractEventLoop | None = None
        self._broker: Broker | None = None
        self._failure: BaseException | None = None

    def __enter__(self) -> "EmbeddedBroker":
        self._thread.start()
        self._ready.wait()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    def stop(self) -> None:
        """Drain and end. Raises what ended the daemon, if anything did."""
        if self._loop is not None and self._broker is not None and self._thread.is_alive():
            self._loop.call_soon_threadsafe(self._broker.stop)
        self._thread.join()
        if self._failure is not None:
            raise self._failure

    @property
    def counts(self) -> Counts:
        """What the daemon counts; there from `__enter__` on."""
        assert self._broker is not None
        return self._broker.counts

    def wait_until_leading(self, seconds: float = 10.0, behind: float = math.inf) -> bool:
        """False when this daemon does not lead after so many seconds, or after ``behind`` of standing by."""
        return self._ask(self._until_leading(seconds, behind))

    def settle(self, seconds: float) -> bool:
        """Wait until nothing waits in activated queues and nothing runs; False after so many seconds."""
        return self._ask(self._until_settled(seconds))

    def _ask(self, question: Coroutine[None, None, bool]) -> bool:
        if self._loop is None or not self._thread.is_alive():
            question.close()
            return False
        answer: bool = asyncio.run_coroutine_threadsafe(question, self._loop).result()
        return answer

    async def _until_leading(self, seconds: float, behind: float) -> bool:
        assert self._broker is not None
        leading = self._broker.leading
        deadline = time.monotonic() + seconds
        stood_by = 0.0
        while not leading.is_set() and (left := deadline - time.monotonic()) > 0 and stood_by < behind:
            began = time.monotonic()
            await pause(leading, min(left, _LOOK_SECONDS))
            if self.counts.state == "standing_by":
                stood_by += time.monotonic() - began
        return leading.is_set()

    async def _until_settled(self, seconds: float) -> bool:
        assert self._broker is not None
        try:
            # Looking takes a moment, however little patience there is.
            async with asyncio.timeout(max(seconds, 0.5)):
                # Twice in a row: between a program's SEND and the next program's start
                # there is a moment in which nothing seems to happen.
                calm = 0
                while calm < 2:
                    calm = calm + 1 if await self._broker.is_settled() else 0
                    await asyncio.sleep(0.05)
        except TimeoutError:
            return False
        return True

    def _run(self) -> None:
        try:
            asyncio.run(self._main())
        except BaseException as error:
            self._failure = error
        finally:
            self._ready.set()

    async def _main(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._broker = Broker(self._options, self._sink)
        self._ready.set()
        await self._broker.run()
