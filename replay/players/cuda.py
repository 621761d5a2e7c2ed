"""The player on CUDA: one graph launch a frame on its own stream, and no wait but where something is read.

Values go through pinned memory by asynchronous copies on that stream. Warp's `set_param` would copy on the
null stream and `get_param` would wait for it, so neither is used: the regions' addresses are. This module
draws nothing; what shares the heights with OpenGL takes `view` and `stream`.
"""

from __future__ import annotations

import contextlib
import ctypes
from collections.abc import Sequence
from typing import Any

import numpy as np

from replay.errors import DeviceError, ReplayError
from replay.graph.model import Capture
from replay.native import import_warp, native_errors
from replay.parameters import ParameterSpec
from replay.players.base import Player
from replay.players.snapshot import Snapshot
from replay.players.source import module_files, refuse_unplayable, with_named_regions

_STAGES = 4
_STAGE_NBYTES = 64 * 1024
_ALIGNMENT = 16


class CudaPlayer(Player):
    """A capture loaded on a CUDA device.

    Attributes:
        stream: the `warp.Stream` on which everything of this player runs.
        graph: Warp's loaded graph; `graph.graph` and `graph.graph_exec` are the driver's handles.

    Raises:
        DeviceError: no such device, or one of another architecture than the capture's.
        ReplayError: the capture is not replayable, a module is missing, or Warp refuses it.
    """

    def __init__(self, capture: Capture, device: str = "cuda") -> None:
        wp = import_warp()
        found = _find_device(wp, device)
        super().__init__(capture, found.alias)
        self.device_name = found.name
        refuse_unplayable(capture, wp.config.version)
        _refuse_other_architecture(capture, found)
        data, names = with_named_regions(capture)
        modules = module_files(capture)
        self._cuda = _Driver(found.context)
        self._device = found
        with native_errors(f"cannot load {capture.path.name} on {found.alias}"):
            self.graph: Any = wp.capture_load_from_bytes(data, modules=modules, device=found)
            self.stream: Any = wp.Stream(found)
            _build(wp, self.graph)
        driver = self._cuda.driver
        self._handle: Any = driver.CUstream(_integer(self.stream.cuda_stream))
        self._executable: Any = driver.CUgraphExec(_integer(self.graph.graph_exec))
        self._address: dict[int, int] = {
            region: int(self.graph.get_param_ptr(name) or 0) for region, name in names.items()
        }
        self._stages: list[_Stage] = []
        self._aside: dict[int, Any] = {}
        self._restored: Snapshot | None = None  # kept until the copies from it are surely done
        try:
            for _ in range(_STAGES):
                self._stages.append(_Stage(wp, self._cuda))
            sources, targets = {s for s, _ in self._carry_pairs}, {t for _, t in self._carry_pairs}
            for region in sources & targets:
                self._aside[region] = wp.empty(capture.regions[region].nbytes, dtype=wp.uint8, device=found)
            # the driver hands out memory as it was left; the file's promise is zero
            empty = [(r.id, self._initial(r.id)) for r in capture.regions.values() if r.data_offset is None]
            if empty:
                self._write(empty)
            self._keep_live_contents()
        except BaseException:
            self._close()
            raise

    @property
    def cuda(self) -> _Driver:
        """The driver, for what reads this player's memory on its stream; `with` makes its context current."""
        return self._cuda

    @property
    def stream_handle(self) -> Any:
        """The driver's handle of `stream`."""
        return self._handle

    def address(self, name: str) -> int:
        """Return the device address of a parameter, 0 without elements; it stays until `close`."""
        self._check_open()
        return self._address.get(self._spec(name).region, 0)

    def node_count(self) -> int:
        """Return the number of nodes of the driver's graph, at its top level."""
        self._check_open()
        return len(self._nodes())

    def kernel_names(self) -> list[str]:
        """Return the functions that the driver's graph launches, one a kernel node, in its order."""
        self._check_open()
        driver, call = self._cuda.driver, self._cuda.call
        names = []
        with self._cuda:
            for node in self._nodes():
                kind = call(driver.cuGraphNodeGetType, node)
                if kind == driver.CUgraphNodeType.CU_GRAPH_NODE_TYPE_KERNEL:
                    function = call(driver.cuGraphKernelNodeGetParams, node).func
                    names.append(call(driver.cuFuncGetName, function).decode())
        return names

    def _nodes(self) -> list[Any]:
        driver, call = self._cuda.driver, self._cuda.call
        graph = driver.CUgraph(_integer(self.graph.graph))
        with self._cuda:
            _, count = call(driver.cuGraphGetNodes, graph, 0)
            nodes, _ = call(driver.cuGraphGetNodes, graph, count)
        return list(nodes)[:count]

    def _write(self, values: Sequence[tuple[int, np.ndarray]]) -> None:
        with self._cuda:
            stage = self._stages.pop(0)
            self._stages.append(stage)
            stage.begin()
            for region, value in values:
                if value.nbytes:
                    # what does not fit is copied by the driver, which takes pageable memory before it returns
                    source = stage.take(value)
                    source = value.ctypes.data if source is None else source
                    self._cuda.copy_in(self._address[region], source, value.nbytes, self._handle)
            stage.end(self._handle)

    def _read(self, region: int) -> np.ndarray:
        content = np.empty(self.capture.regions[region].nbytes, np.uint8)
        if content.nbytes:
            with self._cuda:
                self._cuda.copy_out(content.ctypes.data, self._address[region], content.nbytes, self._handle)
                self._cuda.wait(self._handle)
        return content

    def _view(self, spec: ParameterSpec) -> Any:
        wp = import_warp()
        if not spec.nbytes:
            return wp.empty(spec.shape, dtype=_warp_type(wp, spec), device=self._device)
        array = wp.array(
            ptr=self._address[spec.region],
            dtype=_warp_type(wp, spec),
            shape=spec.shape,
            device=self._device,
        )
        array.keeps_alive = (self.graph, self.stream)
        return array

    def _launch(self) -> None:
        try:  # what `warp.capture_launch` does, at a fifth of its host time
            self._cuda.call(self._cuda.driver.cuGraphLaunch, self._executable, self._handle)
        except ReplayError as error:
            raise ReplayError(f"cannot launch {self.capture.path.name} on {self.device}: {error}") from error

    def _copy(self, pairs: Sequence[tuple[int, int]]) -> None:
        with self._cuda:
            for region, aside in self._aside.items():
                self._cuda.copy(int(aside.ptr), self._address[region], aside.size, self._handle)
            for source, target in pairs:
                aside = self._aside.get(source)
                address = self._address[source] if aside is None else int(aside.ptr)
                self._cuda.copy(
                    self._address[target], address, self.capture.regions[target].nbytes, self._handle
                )

    def _take(self) -> Snapshot:
        wp, contents = import_warp(), {}
        for region in self._address:
            nbytes = self.capture.regions[region].nbytes
            contents[region] = wp.empty(nbytes, dtype=wp.uint8, device=self._device)
        # new memory may still wait for what its last owner did on the device's own stream
        self.stream.wait_stream(self._device.stream)
        with self._cuda:
            for region, content in contents.items():
                if content.size:
                    self._cuda.copy(int(content.ptr), self._address[region], content.size, self._handle)
        return Snapshot(self.device, self.frames, contents, ready=self.stream.record_event())

    def _put(self, snapshot: Snapshot) -> None:
        if snapshot.ready is not None:
            self.stream.wait_event(snapshot.ready)
        with self._cuda:
            for region, content in snapshot.contents.items():
                if content.size:
                    self._cuda.copy(self._address[region], int(content.ptr), content.size, self._handle)
        if self._restored is not None and self._restored is not snapshot:
            self._synchronize()
        self._restored = snapshot

    def _synchronize(self) -> None:
        with self._cuda:
            self._cuda.wait(self._handle)

    def _close(self) -> None:
        with contextlib.suppress(ReplayError):  # after a device error there is nothing to wait for
            self._synchronize()
        for stage in self._stages:
            with contextlib.suppress(ReplayError):
                stage.close()
        self._stages.clear()
        self._aside.clear()
        self._restored = None
        self._address.clear()
        self.graph = self.stream = self._executable = None


class _Driver:
    """The few driver calls that a player makes, with errors as ReplayError; `with` sets its context."""

    def __init__(self, context: int) -> None:
        try:
            from cuda.bindings import driver
        except ImportError as error:
            raise DeviceError(
                f"cuda-python cannot be imported: {error}", remedy="install cuda-python"
            ) from error
        self.driver: Any = driver
        self.context: Any = driver.CUcontext(_integer(context))

    def call(self, function: Any, *arguments: Any) -> Any:
        """Call a driver function; return its one result, or a tuple of several.

        Raises:
            ReplayError: names the function and the driver's reason.
        """
        status, *results = function(*arguments)
        if int(status) != 0:
            _, text = self.driver.cuGetErrorString(status)
            reason = text.decode() if isinstance(text, bytes) else str(status)
            raise ReplayError(f"CUDA error {int(status)} in {function.__name__}: {reason}")
        return results[0] if len(results) == 1 else tuple(results)

    def __enter__(self) -> None:
        """Make the device's context current."""
        self.call(self.driver.cuCtxPushCurrent, self.context)

    def __exit__(self, *_: object) -> None:
        self.driver.cuCtxPopCurrent()

    def copy_in(self, target: int, source: int, nbytes: int, stream: Any) -> None:
        self.call(self.driver.cuMemcpyHtoDAsync, target, source, nbytes, stream)

    def copy_out(self, target: int, source: int, nbytes: int, stream: Any) -> None:
        self.call(self.driver.cuMemcpyDtoHAsync, target, source, nbytes, stream)

    def copy(self, target: int, source: int, nbytes: int, stream: Any) -> None:
        self.call(self.driver.cuMemcpyDtoDAsync, target, source, nbytes, stream)

    def wait(self, stream: Any) -> None:
        self.call(self.driver.cuStreamSynchronize, stream)


class _Stage:
    """A piece of pinned memory that is filled once its last copies are done; a player has a ring of them."""

    def __init__(self, wp: Any, cuda: _Driver) -> None:
        self._cuda = cuda
        self._memory = wp.empty(_STAGE_NBYTES, dtype=wp.uint8, device="cpu", pinned=True)
        self._bytes: np.ndarray = self._memory.numpy()
        self._used = 0
        with cuda:
            flags = cuda.driver.CUevent_flags.CU_EVENT_DISABLE_TIMING
            self._event: Any = cuda.call(cuda.driver.cuEventCreate, int(flags))

    def begin(self) -> None:
        """Wait for the copies that were made from here, if they are not long done, as they are in a frame.

        An event that was never recorded is done.
        """
        (status,) = self._cuda.driver.cuEventQuery(self._event)
        if int(status) != 0:  # not done, or an error, which waiting tells
            self._cuda.call(self._cuda.driver.cuEventSynchronize, self._event)
        self._used = 0

    def take(self, value: np.ndarray) -> int | None:
        """Copy a value in and return its address, or None if it does not fit."""
        start, end = self._used, self._used + value.nbytes
        if end > _STAGE_NBYTES:
            return None
        self._bytes[start:end] = value.reshape(-1).view(np.uint8)
        self._used = -(-end // _ALIGNMENT) * _ALIGNMENT
        return int(self._memory.ptr) + start

    def end(self, stream: Any) -> None:
        """Mark the end of the copies made from here."""
        self._cuda.call(self._cuda.driver.cuEventRecord, self._event, stream)

    def close(self) -> None:
        with self._cuda:
            self._cuda.driver.cuEventDestroy(self._event)


def _integer(handle: Any) -> int:
    return int(getattr(handle, "value", handle) or 0)


def _find_device(wp: Any, device: str) -> Any:
    """Return Warp's device of `cuda` or `cuda:N`."""
    count = wp.get_cuda_device_count()
    if not count:
        raise DeviceError(
            f"{device} was asked for, and there is no CUDA device",
            remedy="install an NVIDIA driver, or use a capture for the CPU",
        )
    _, colon, number = device.partition(":")
    index = int(number) if colon else 0
    if index >= count:
        raise DeviceError(f"there is no {device}", remedy=f"use cuda:0 to cuda:{count - 1}")
    return wp.get_device(f"cuda:{index}")


def _refuse_other_architecture(capture: Capture, device: Any) -> None:
    """Refuse machine code for another architecture: the same major and at most the device's minor fit."""
    for module in capture.modules:
        arch = module.arch or capture.arch
        older = arch <= device.arch
        if not (older if module.file.endswith(".ptx") else older and arch // 10 == device.arch // 10):
            raise DeviceError(
                f"{capture.path.name}: {module.file} was compiled for sm_{arch}, "
                f"{device.alias} ({device.name}) is sm_{device.arch}",
                remedy="record it again on this device",
            )


def _build(wp: Any, graph: Any) -> None:
    """Build the driver's graph now, not in the first frame, as `warp.capture_launch` does then.

    Warp has no public call for it. The release is pinned, and a capture is bound to it anyway.
    """
    core = wp._src.context.runtime.core
    graph.graph_exec = None
    executable = core.wp_apic_get_cuda_graph_exec(graph._native_graph)
    if not executable:
        raise RuntimeError(wp._src.context.runtime.get_error_string())
    graph.graph = ctypes.c_void_p(core.wp_apic_get_cuda_graph(graph._native_graph))
    graph.graph_exec = ctypes.c_void_p(executable)


def _warp_type(wp: Any, spec: ParameterSpec) -> Any:
    """Return Warp's type of an element."""
    named = getattr(wp, spec.element.name, None)
    if named is not None:
        return named
    scalar = getattr(wp, str(spec.element.scalar))
    inner = spec.element.inner_shape
    return wp.types.vector(inner[0], scalar) if len(inner) == 1 else wp.types.matrix(inner, scalar)
