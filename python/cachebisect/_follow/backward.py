"""The calls of backward() that a script makes."""

from __future__ import annotations

import functools
from typing import Any, Callable


class FollowedBackward:
    """`begun` is called before each backward pass; where it returns True, `ended` is called after
    it, also if it fails. `autograd`: the module torch.autograd, through which Tensor.backward goes
    too."""

    def __init__(
        self, autograd: Any, begun: Callable[[], bool], ended: Callable[[], None] = lambda: None
    ) -> None:
        self._autograd = autograd
        self._original: Callable[..., Any] = autograd.backward
        original = self._original

        @functools.wraps(original)
        def backward(*args: Any, **kwargs: Any) -> Any:
            if not begun():
                return original(*args, **kwargs)
            try:
                return original(*args, **kwargs)
            finally:
                ended()

        autograd.backward = backward

    def remove(self) -> None:
        """Puts PyTorch's own function back: later calls cost nothing."""
        self._autograd.backward = self._original
