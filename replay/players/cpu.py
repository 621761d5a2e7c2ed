"""The player on the CPU: Warp's loaded graph, and its regions as NumPy arrays on the same memory."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from replay.errors import ReplayError
from replay.graph.model import Capture
from replay.native import import_warp, native_errors
from replay.parameters import ParameterSpec
from replay.players.base import Player
from replay.players.source import module_files, refuse_unplayable, with_named_regions


class _Memory:
    """A region of a loaded graph as NumPy sees it; arrays made from it keep it, and so the graph, alive."""

    def __init__(self, graph: Any, address: int, nbytes: int) -> None:
        self._graph = graph
        self.__array_interface__ = {
            "version": 3,
            "shape": (nbytes,),
            "typestr": "|u1",
            "data": (address, False),
        }


class CpuPlayer(Player):
    """A capture loaded on the CPU.

    Raises:
        ReplayError: the capture is not replayable, a module is missing, or Warp refuses it.
    """

    def __init__(self, capture: Capture) -> None:
        super().__init__(capture, "cpu")
        wp = import_warp()
        refuse_unplayable(capture, wp.config.version)
        data, names = with_named_regions(capture)
        modules = module_files(capture)
        # Of backward functions that are missing, which no launch here needs, a fault of the capture tells.
        backward = {kernel.backward_name for kernel in capture.kernels}
        with native_errors(f"cannot load {capture.path.name} on the CPU", known=backward):
            graph = wp.capture_load_from_bytes(data, modules=modules, device="cpu")
        self._regions: dict[int, np.ndarray] = {
            region: self._map(graph, name, capture.regions[region].nbytes) for region, name in names.items()
        }
        self._launcher = wp.capture_launch
        self._graph: Any = graph
        self._ran = False
        self._keep_live_contents()

    @staticmethod
    def _map(graph: Any, name: str, nbytes: int) -> np.ndarray:
        address = graph.get_param_ptr(name)
        if not address:
            if nbytes:
                raise ReplayError(f"Warp gives no memory for {name!r}")
            return np.empty(0, np.uint8)
        return np.asarray(_Memory(graph, address, nbytes))

    def _write(self, values: Sequence[tuple[int, np.ndarray]]) -> None:
        for region, value in values:
            self._regions[region][:] = value.reshape(-1).view(np.uint8)

    def _read(self, region: int) -> np.ndarray:
        return self._regions[region].copy()

    def _view(self, spec: ParameterSpec) -> np.ndarray:
        memory = self._regions[spec.region] if spec.nbytes else np.empty(0, np.uint8)
        return memory.view(spec.element.scalar).reshape(spec.full_shape)

    def _launch(self) -> None:
        doing = f"cannot launch {self.capture.path.name} on the CPU"
        if not self._ran:
            with native_errors(doing):
                self._launcher(self._graph)
            self._ran = True
            return
        try:  # holding the C streams would cost more than a small launch
            self._launcher(self._graph)
        except RuntimeError as error:
            with native_errors(doing):  # once more, for what it writes to the C streams
                self._launcher(self._graph)
            raise ReplayError(f"{doing}: {error}") from error

    def _copy(self, pairs: Sequence[tuple[int, int]]) -> None:
        targets = {target for _, target in pairs}
        contents = [
            self._regions[source].copy() if source in targets else self._regions[source]
            for source, _ in pairs
        ]
        for (_, target), content in zip(pairs, contents, strict=True):
            self._regions[target][:] = content

    def _synchronize(self) -> None:
        """Nothing to do: a launch on the CPU returns when it is done."""

    def _close(self) -> None:
        self._regions.clear()
        self._graph = None
