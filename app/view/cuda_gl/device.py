"""Which CUDA device OpenGL runs on, if any: by its UUID, else by asking CUDA about the current context."""

from __future__ import annotations

from typing import Any

from app.view.cuda_gl.memory_object import device_uuids


def cuda_device_of_gl() -> str | None:
    """Return `cuda:N` of the device that the current OpenGL context runs on, None if there is none."""
    try:
        from cuda.bindings import driver

        status, *_ = driver.cuInit(0)
    except (ImportError, RuntimeError):  # no cuda-python, or no driver to load
        return None
    if int(status) != 0:
        return None
    found = ordinals_of_gl(driver)
    return f"cuda:{found[0]}" if found else None


def gl_is_on(cuda: Any, ordinal: int) -> bool:
    """Whether the current OpenGL context runs on a CUDA device."""
    return ordinal in ordinals_of_gl(cuda.driver)


def ordinals_of_gl(driver: Any) -> list[int]:
    """Return the numbers of the CUDA devices that the current OpenGL context runs on."""
    status, count = driver.cuDeviceGetCount()
    if int(status) != 0 or not count:
        return []
    ours = device_uuids()
    if ours:
        return [ordinal for ordinal in range(count) if _uuid(driver, ordinal) in ours]
    status, found, devices = driver.cuGLGetDevices(count, driver.CUGLDeviceList.CU_GL_DEVICE_LIST_ALL)
    return [int(device) for device in devices[:found]] if int(status) == 0 else []


def _uuid(driver: Any, ordinal: int) -> bytes | None:
    status, device = driver.cuDeviceGet(ordinal)
    if int(status) != 0:
        return None
    status, uuid = driver.cuDeviceGetUuid(device)
    if int(status) != 0:
        return None
    return bytes(uuid.bytes)
