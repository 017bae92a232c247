"""Keys of dialogs that are open in this process's memory."""

import time
import uuid

KEPT_KEYS = 1_000


class OpenKeys:
    """Keys that have been unsealed, by id and sealed bytes: so many at most, no longer than they are used."""

    def __init__(self, most: int = KEPT_KEYS) -> None:
        self._most = most
        self._keys: dict[tuple[uuid.UUID, bytes], tuple[bytes, float]] = {}
        """With when it was last used, the latest one last."""

    def get(self, name: tuple[uuid.UUID, bytes]) -> bytes | None:
        """Of these bytes; None: not open."""
        found = self._keys.pop(name, None)
        if found is not None:
            self._keys[name] = found[0], time.monotonic()
        return found[0] if found is not None else None

    def keep(self, name: tuple[uuid.UUID, bytes], key: bytes) -> None:
        """Keep one more; the one that was not used for longest goes."""
        self._keys[name] = key, time.monotonic()
        if len(self._keys) > self._most:
            del self._keys[next(iter(self._keys))]

    def keep_only(self, names: set[tuple[uuid.UUID, bytes]], seconds: float) -> None:
        """Forget all others, and those that were not used for so long."""
        now = time.monotonic()
        for name, (_, used) in list(self._keys.items()):
            if name not in names or used < now - seconds:
                del self._keys[name]

    @property
    def ids(self) -> set[uuid.UUID]:
        """Of those that are open."""
        return {key_id for key_id, _ in self._keys}
