"""The stores of a cache, the fastest first. Thread safe as Store is."""

from __future__ import annotations

import warnings
from functools import partial
from typing import Callable, Optional, TypeVar

from .sqlite_file import Broken
from .store import Store

T = TypeVar("T")

_REFUSED = "refused"


class Tiers:
    """What is found in a slower store is written to the faster ones.

    A store that is broken is left out from then on, with a warning; nothing here raises.
    """

    def __init__(self, stores: list[Store]) -> None:
        self._stores = stores

    def get(self, key: str) -> Optional[bytes]:
        """The bytes of `key`; None if no store has them."""
        for number, store in enumerate(list(self._stores)):
            data = self._asked(store, partial(store.get, key))
            if data is not None:
                self._write(self._stores[:number], key, data)
                return data
        return None

    def put(self, key: str, data: bytes, again: bool = False) -> None:
        """Writes to every store that has room. `again`: as Store.put()."""
        self._write(list(self._stores), key, data, again)

    def keys(self) -> list[str]:
        """Those that the fastest store has."""
        for store in list(self._stores):
            found = self._asked(store, store.keys)
            if found is not None:
                return found
        return []

    def is_in_use(self) -> bool:
        """False once every store is broken."""
        return bool(self._stores)

    def refuse(self, why: str) -> None:
        """No process uses what is stored from here on."""
        for store in self._stores:
            self._asked(store, partial(store.describe, _REFUSED, why))
        self._stores = []

    def refusal(self) -> Optional[str]:
        """Why another process has refused what is stored; None if none has."""
        for store in list(self._stores):
            why = self._asked(store, partial(store.about, _REFUSED))
            if why is not None:
                return why
        return None

    def close(self) -> None:
        """Closes the files in this process; the next use opens them again."""
        for store in self._stores:
            store.close()

    def _write(self, stores: list[Store], key: str, data: bytes, again: bool = False) -> None:
        for store in stores:
            self._asked(store, partial(store.put, key, data, again))

    def _asked(self, store: Store, ask: Callable[[], T]) -> Optional[T]:
        try:
            return ask()
        except Broken as error:
            self._stores = [other for other in self._stores if other is not store]
            warnings.warn(f"{error}. Samples are made anew from here on.", stacklevel=2)
            return None
