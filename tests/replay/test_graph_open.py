"""The model of good captures, and the faults of captures that make no sense, each at its place."""

from __future__ import annotations

import shutil
import struct
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from damage import Damage, only

from replay.graph import check_modules, checks
from replay.graph.model import Access, Capture, Operation, OpKind, Provenance, Severity
from replay.graph.open import capture_from_bytes, open_capture
from replay.wrp import layout


def uses_of(operation: Operation) -> list[tuple[str, int, int, int, Access]]:
    return [(use.label, use.region, use.offset, use.nbytes, use.access) for use in operation.uses]


def region_named(capture: Capture, name: str) -> int:
    return next(binding.region for binding in capture.bindings if binding.name == name)


def types(capture: Capture) -> dict[str, tuple[str, tuple[int, ...] | None]]:
    """Return the element type and shape of each name."""
    found = {}
    for binding in capture.bindings:
        region = capture.regions[binding.region]
        assert region.element is not None
        found[binding.name] = (region.element.name, region.shape)
    return found


@pytest.mark.parametrize(
    "name", ["launches", "struct_argument", "indexed", "copies", "library", "sparse", "views"]
)
def test_good_captures_have_no_fault(recorded: dict[str, Path], name: str) -> None:
    assert open_capture(recorded[name]).faults == ()


def test_opening_imports_no_warp(recorded: dict[str, Path]) -> None:
    script = (
        "import sys; from replay.graph.open import open_capture; c = open_capture(sys.argv[1]);"
        "print(len(c.operations), 'warp' in sys.modules, 'capture' in sys.modules)"
    )
    path = str(recorded["launches"].with_suffix(""))
    done = subprocess.run([sys.executable, "-c", script, path], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["6", "False", "False"]


def test_launch_shapes_types_and_values(recorded: dict[str, Path]) -> None:
    capture = open_capture(recorded["launches"])
    assert [op.shape for op in capture.operations] == [(7,), *[(3, 5)] * 3, (2, 3, 4), (2, 2, 2, 2)]
    assert types(capture) == {
        "line": ("float32", (7,)),
        "line_out": ("float32", (7,)),
        "plane": ("float32", (3, 5)),
        "solid": ("float32", (2, 3, 4)),  # all zero: four bytes are taken for a float
        "four": ("int32", (2, 2, 2, 2)),
    }
    assert capture.aliases == (("line", "line_out"),)
    first = capture.operations[0].arguments
    assert [(argument.type, argument.value) for argument in first] == [
        ("array[float32]", None),
        ("float32", 2.0),
    ]
    assert all(argument.provenance is Provenance.INFERRED for argument in first)
    assert [reading.type for reading in first[1].readings] == ["float32", "int32", "uint32"]
    assert first[0].access_provenance is Provenance.ASSUMED
    assert struct.unpack("<f", capture.data[first[1].offset : first[1].offset + 4]) == (2.0,)


def test_operations_are_a_sequence(recorded: dict[str, Path]) -> None:
    operations = open_capture(recorded["launches"]).operations
    assert operations[-1] == operations[5]
    assert [op.event for op in operations[1:4]] == [1, 2, 3]
    with pytest.raises(IndexError):
        operations[6]


def test_arrays_inside_a_struct(recorded: dict[str, Path]) -> None:
    capture = open_capture(recorded["struct_argument"])
    struct_argument, _ = capture.operations[0].arguments
    assert [(view.path, view.region, view.shape) for view in struct_argument.arrays] == [
        ("+8", region_named(capture, "first"), (4, 2)),
        ("+72", region_named(capture, "second"), (4,)),
    ]
    assert types(capture)["second"] == ("vec3f", (4,))


def test_an_indexed_array_uses_its_data_and_its_list(recorded: dict[str, Path]) -> None:
    capture = open_capture(recorded["indexed"])
    argument = capture.operations[0].arguments[0]
    assert argument.type == "indexedarray2d[float32]"
    assert [(view.path, view.shape) for view in argument.arrays] == [("data", (3, 6)), ("indices[1]", (2,))]
    base, chosen = region_named(capture, "base"), argument.arrays[1].region
    assert uses_of(capture.operations[0])[:2] == [
        ("argument 1.data", base, 0, 72, Access.READ_WRITE),
        ("argument 1.indices[1]", chosen, 0, 8, Access.READ),
    ]


def test_views_span_the_bytes_that_they_reach(recorded: dict[str, Path]) -> None:
    capture = open_capture(recorded["views"])
    assert [uses_of(op)[0][2:4] for op in capture.operations] == [(24, 24), (8, 76), (72, 20), (0, 96)]
    assert types(capture)["matrix"] == ("float32", (4, 6))


def test_copies_and_fills(recorded: dict[str, Path]) -> None:
    capture = open_capture(recorded["copies"])
    a, b, vectors = (region_named(capture, name) for name in ("a", "b", "vectors"))
    assert [uses_of(op) for op in capture.operations] == [
        [("src", a, 0, 80, Access.READ), ("dst", b, 0, 80, Access.WRITE)],
        [("src", a, 40, 20, Access.READ), ("dst", b, 16, 20, Access.WRITE)],
        [("dst", a, 0, 80, Access.WRITE)],
        [("dst", vectors, 0, 60, Access.WRITE)],
        [("dst", b, 8, 16, Access.WRITE)],
    ]
    assert capture.operations[2].details == {"value": 0, "nbytes": 80, "offset": 0}
    assert capture.operations[3].details["value"] == (1.0, 2.0, 3.0)
    assert capture.operations[4].details["value"] == 7.0
    assert types(capture)["vectors"] == ("vec3f", (5,))


def test_library_operations_name_every_buffer(recorded: dict[str, Path]) -> None:
    capture = open_capture(recorded["library"])
    labels = [[use.label for use in op.uses] for op in capture.operations]
    assert labels == [
        ["src", "dst"], ["keys", "values"], ["keys", "values", "segstart", "segend"],
        ["values", "run_values", "run_lengths", "run_count"], ["input_a", "output"],
        ["input_a", "input_b", "output"],
    ]  # fmt: skip
    assert capture.operations[0].details["inclusive"] is False
    assert capture.operations[4].details["kind"] == "sum"
    found = types(capture)
    assert found["sums"] == ("int32", (8,)) and found["keys"] == ("float32", (16,))
    assert found["total"] == ("float64", (1,))
    sparse = open_capture(recorded["sparse"])
    assert [op.kind for op in sparse.operations][::2] == [OpKind.BSR_FROM_TRIPLETS, OpKind.BSR_TRANSPOSE]
    assert len(sparse.operations[0].uses) == 7 and len(sparse.operations[2].uses) == 5


def test_conditionals_nest(recorded: dict[str, Path]) -> None:
    operations = open_capture(recorded["conditions"]).operations
    told = [(op.label, op.index, op.depth, op.parent, op.branch, op.children) for op in operations]
    assert told == [
        ("scale", 0, 0, None, "", ()),
        ("WHILE", 1, 0, None, "", (2, 3)),
        ("count_down", 0, 1, 1, "body", ()),
        ("IF", 1, 1, 1, "body", (4, 5)),
        ("scale", 0, 2, 3, "then", ()),
        ("scale", 0, 2, 3, "else", ()),
        ("scale", 2, 0, None, "", ()),
    ]
    assert operations[2].arguments[2].type == "float64" and operations[2].arguments[2].value == 0.25
    assert [use.label for use in operations[1].uses] == ["condition"]


def test_a_mesh_is_a_handle_and_a_baked_one_is_noted(recorded: dict[str, Path]) -> None:
    capture = open_capture(recorded["mesh_handle"])
    (mesh,) = capture.meshes
    assert (mesh.num_points, mesh.num_triangles) == (3, 1)
    handle = capture.operations[0].arguments[0]
    assert handle.type == "handle" and handle.handles == (mesh.handle,) and handle.value is None
    assert [use.region for use in capture.operations[0].uses][:2] == [mesh.points_region, mesh.indices_region]
    fault, member = capture.faults
    assert member.where == "operation 2, argument 1" and f"{mesh.handle:#x} at byte 64" in member.what
    assert member.offset == capture.operations[2].arguments[0].offset + 64
    assert fault.severity is Severity.NOTE and fault.event == 1
    assert "mesh handle of the capture, baked in" in fault.what
    assert fault.where == "operation 1, argument 1"


def test_nothing_recorded(recorded: dict[str, Path]) -> None:
    capture = open_capture(recorded["nothing"])
    assert len(capture.operations) == 0 and len(capture.top_level) == 0
    assert capture.aliases == (("x", "x_out"),)
    assert types(capture)["x"] == ("float32", (3,))


def test_a_manifest_makes_types_known(frame_capture: Capture) -> None:
    assert frame_capture.manifest is not None and not frame_capture.blocking_faults
    assert all(
        frame_capture.regions[binding.region].provenance is Provenance.KNOWN
        for binding in frame_capture.bindings
    )
    assert types(frame_capture)["mouse_pos"] == ("vec2f", (1,))
    arguments = frame_capture.operations[0].arguments
    assert all(argument.provenance is Provenance.KNOWN and argument.name for argument in arguments)


def test_a_manifest_of_another_file_is_left_out(frame_path: Path, tmp_path: Path) -> None:
    shutil.copytree(frame_path.with_name("frame_modules"), tmp_path / "frame_modules")
    shutil.copy(frame_path.with_suffix(".json"), tmp_path)
    (tmp_path / "frame.wrp").write_bytes(frame_path.read_bytes()[:-1] + b"\x01")
    capture = open_capture(tmp_path / "frame.wrp")
    assert capture.manifest is None
    assert [fault.where for fault in capture.faults if fault.severity is Severity.NOTE][-1] == "manifest"


def test_launch_bounds(recorded: dict[str, Path]) -> None:
    for field, format, values, words in (
        ("ndim", "i", (-5,), "-5 dimensions"),
        ("ndim", "i", (5,), "5 dimensions"),
        ("shape", "4I", (60000, 60000, 0, 0), "threads for a launch of shape"),
        ("size", "Q", (16,), "16 threads for a launch of shape"),
        ("dim", "Q", (16,), "16 threads, but size says 15"),
        ("block_dim", "i", (4096,), "a block of 4096"),
    ):
        damage = Damage(recorded["launches"])
        place = damage.launch(1, field)
        where, offset, name = only(damage.put(place, format, *values), words)
        assert where == "operation 1" and name.startswith("operations[1].")
        assert offset == (damage.launch(1, "size") if "for a launch" in words else place)
    damage = Damage(recorded["launches"])
    damage.put(damage.launch(1, "shape"), "4I", 60000, 60000, 0, 0)
    capture = damage.put(damage.launch(1, "size"), "QQ", 3_600_000_000, 3_600_000_000)
    assert only(capture, "its largest array has 15 cells") == (
        "operation 1", damage.launch(1, "shape"), "operations[1].shape",
    )  # fmt: skip


def test_many_threads_on_few_cells_are_worth_a_note(recorded: dict[str, Path]) -> None:
    damage = Damage(recorded["launches"])
    damage.put(damage.launch(1, "shape"), "4I", 20000, 20000, 0, 0)
    (note,) = damage.put(damage.launch(1, "size"), "QQ", 400_000_000, 400_000_000).faults
    assert note.severity is Severity.NOTE and note.where == "operation 1"
    assert note.what == "400000000 threads, but its largest array has 15 cells"


def test_a_launch_over_a_side_of_nothing(recorded: dict[str, Path]) -> None:
    damage = Damage(recorded["launches"])
    capture = damage.put(damage.launch(1, "shape") + 4, "I", 0)
    assert only(capture, "15 threads for a launch of shape [3, 0]")[0] == "operation 1"
    assert damage.put(damage.launch(1, "size"), "QQ", 0, 0).faults == ()  # no thread divides by it


def test_pointers_and_arrays(recorded: dict[str, Path]) -> None:
    path = recorded["launches"]
    capture = open_capture(path)
    operation = capture.operations[1]
    array = operation.arguments[0].offset
    relocs = array - 2 * layout.RELOC.itemsize
    for offset, format, values, words, field in (
        (relocs + 4, "i", (777,), "region 777, which the file does not hold", "relocs[0].region_id"),
        (relocs + 8, "Q", (1 << 20,), "byte 1048576 of region", "relocs[0].region_offset"),
        (
            array + 16,
            "2i",
            (2_000_000_000, 2_000_000_000),
            "an array of shape [2000000000, 2000000000]",
            "values[0].shape",
        ),
        (array + 16, "i", (-1,), "an array of shape [-1, 5]", "values[0].shape"),
        (array + 32, "i", (4000,), "leaves"[:0] + "and strides [4000, 4]", "values[0].shape"),
        (array + 48, "H", (9,), "an array of 9 dimensions", "values[0].ndim"),
    ):
        where, at, name = only(Damage(path).put(offset, format, *values), words)
        assert where == "operation 1, argument 1"
        assert at == (array + 16 if "strides [4000" in words else offset)
        assert name == f"operations[1].{field}"


def test_an_argument_that_other_launches_have_in_another_size(recorded: dict[str, Path]) -> None:
    damage = Damage(recorded["launches"])
    operation = damage.capture.operations[2]
    key, digest = len("scale2"), 64
    params = operation.offset + layout.LAUNCH.itemsize + key + digest
    place = params + layout.PARAM.itemsize + 8
    assert only(damage.put(place, "I", 2), "2 bytes, but 4 in other launches") == (
        "operation 2, argument 2", place, "operations[2].params[1].value_size",
    )  # fmt: skip


def test_kernels_names_and_bindings(recorded: dict[str, Path]) -> None:
    path = recorded["launches"]
    operation = open_capture(path).operations[0]
    name_at = operation.offset + layout.LAUNCH.itemsize
    assert only(Damage(path).put(name_at, "B", ord("X")), "'Xcale', which the metadata do not list") == (
        "operation 0", name_at, "operations[0].kernel_key",
    )  # fmt: skip
    assert "module_hash" in only(Damage(path).put(name_at + 9, "B", ord("!")), "which is not listed")[2]
    binding = open_capture(path).bindings[2]
    at = binding.offset + 4 + len(binding.name)
    assert only(Damage(path).put(at, "I", 99), "region 99") == (
        "name 'plane'",
        at,
        "metadata.bindings[2].region_id",
    )
    bad = Damage(path).put(binding.offset + 4, "B", 0xFF)
    assert only(bad, "is no UTF-8")[1] == binding.offset + 4
    assert bad.bindings[2].name == "\\xfflane"


def test_library_buffers_and_numbers(recorded: dict[str, Path]) -> None:
    damage = Damage(recorded["copies"])
    at = damage.capture.operations[1].offset
    assert only(damage.put(at + 8, "i", 50), "dst is region 50")[1:] == (at + 8, "operations[1].dst_region")
    damage = Damage(recorded["copies"])
    assert only(damage.put(at + 32, "Q", 1 << 40), "src: 1099511627776 bytes")[0] == "operation 1, MEMCPY_D2D"
    damage = Damage(recorded["copies"])
    fill = damage.capture.operations[3].offset
    assert only(damage.put(fill + 24, "Q", 1 << 63), "leave region")[0] == "operation 3, MEMTILE"
    damage = Damage(recorded["library"])
    sort = damage.capture.operations[1].offset
    assert only(damage.put(sort + 48, "B", 9), "dtype is 9")[1:] == (sort + 48, "operations[1].dtype")


def test_header_and_producer(recorded: dict[str, Path], monkeypatch: pytest.MonkeyPatch) -> None:
    path = recorded["launches"]
    assert only(Damage(path).put(24, "B", 0), "the header says CUDA")[1] == 24
    assert only(Damage(path).put(28, "I", 86), "architecture 86, but the metadata say 0")[1] == 28
    future = Damage(path).put(4, "I", 19)
    assert only(future, "format version 19, but this installation reads 18") == (
        "header",
        4,
        "header.version",
    )
    assert len(future.operations) == 0 and "operations" in future.faults[0].what
    monkeypatch.setattr(checks, "installed_producer", lambda: "9.9.9")
    assert (
        "but Warp 9.9.9 is here"
        in only(open_capture(path), "written by Warp")[0] + open_capture(path).faults[0].what
    )
    monkeypatch.setattr(checks, "installed_producer", lambda: None)
    (fault,) = open_capture(path).faults
    assert fault.severity is Severity.NOTE and "no Warp is installed" in fault.what


def test_regions_larger_than_memory_are_marked(
    recorded: dict[str, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(checks, "available_memory", lambda: 100)
    assert "all regions together take 248 bytes" in str(open_capture(recorded["launches"]).blocking_faults[0])
    monkeypatch.setattr(checks, "available_memory", lambda: 80)
    assert "96 bytes are more than the 80 bytes" in str(open_capture(recorded["launches"]).blocking_faults[0])


def _copy(path: Path, folder: Path) -> tuple[Path, Path]:
    shutil.copytree(path.with_name(f"{path.stem}_modules"), folder / "c_modules")
    (module,) = (folder / "c_modules").iterdir()
    return Path(shutil.copy(path, folder / "c.wrp")), module


def test_modules(recorded: dict[str, Path], tmp_path: Path) -> None:
    path, module = _copy(recorded["launches"], tmp_path)
    contents = module.read_bytes()

    def blocked() -> list[str]:
        return [str(fault) for fault in open_capture(path).blocking_faults]

    assert blocked() == []
    for wrong, words in (
        (b"not an object file", "no object file"),
        (contents[: len(contents) // 2], "cut short"),
        (contents[:60], "cut short"),
        (contents[:18] + b"\x00\x01" + contents[20:], "another processor"),
        (contents.replace(b"scale_", b"scule_"), "the compiled form of kernel scale"),
    ):
        module.write_bytes(wrong)
        (fault,) = blocked()
        assert words in fault and f"c_modules/{module.name}" in fault
    module.write_bytes(contents)
    (module.parent / "zz.o").write_bytes(b"junk")
    (stray,) = open_capture(path).faults
    assert stray.severity is Severity.NOTE and stray.where == "c_modules/zz.o"
    module.unlink()
    assert blocked() == [f"c_modules/{module.name}: the file of a module is missing"]
    shutil.rmtree(module.parent)
    assert "the folder of modules is missing" in blocked()[0]


def test_a_module_is_never_looked_for_outside_its_folder() -> None:
    for name in ("", ".", "..", "../x.o", "/etc/passwd", "a\\b", "c:x", "a\0b"):
        assert not check_modules.is_plain_name(name)
    assert check_modules.is_plain_name("wp_cases.o")


def test_cuda_modules() -> None:
    header = bytearray(128)
    header[:6] = b"\x7fELF\x02\x01"
    struct.pack_into("<HH", header, 16, 2, 190)
    struct.pack_into("<Q", header, 40, 64)
    struct.pack_into("<HH", header, 58, 64, 1)
    assert check_modules.cuda_fault(bytes(header), ptx=False) is None
    assert "cut short" in str(check_modules.cuda_fault(bytes(header[:100]), ptx=False))
    struct.pack_into("<H", header, 18, 62)
    assert "machine 62" in str(check_modules.cuda_fault(bytes(header), ptx=False))
    assert "no cubin" in str(check_modules.cuda_fault(b"text", ptx=False))
    assert check_modules.cuda_fault(b"//\n.version 8.0\n.target sm_90\n\0", ptx=True) is None
    assert "no PTX" in str(check_modules.cuda_fault(bytes(header), ptx=True))


def test_mesh_faults(recorded: dict[str, Path]) -> None:
    path = recorded["mesh_handle"]
    capture = open_capture(path)
    mesh = capture.meshes[0]
    assert only(Damage(path).put(mesh.offset, "i", 1000), "its points need 12000 bytes")[0] == "mesh 0"
    assert only(Damage(path).put(mesh.offset, "i", -1), "-1 points")[1] == mesh.offset
    indices = capture.regions[mesh.indices_region].data_offset
    assert indices is not None
    assert only(Damage(path).put(indices + 4, "i", 7), "vertex 1 has index 7") == (
        "mesh 0", indices + 4, f"region {mesh.indices_region}",
    )  # fmt: skip
    handle = capture.operations[0].arguments[0].offset
    relocs = 5
    place = handle - relocs * layout.RELOC.itemsize + 8
    assert only(Damage(path).put(place, "Q", 12345), "a handle 0x3039 to no mesh")[1] == place


def test_many_faults_are_told_briefly(recorded: dict[str, Path]) -> None:
    from replay.wrp.write import repeat_operations

    damage = Damage(recorded["launches"])
    damage.put(damage.launch(0, "ndim"), "i", 0)
    capture = capture_from_bytes(repeat_operations(bytes(damage.data), 1000), damage.path)
    told = [fault for fault in capture.faults if "0 dimensions" in fault.what]
    assert len(told) == 8 and "and 992 more like it" in told[-1].what
    assert np.all(np.diff([fault.offset for fault in told if fault.offset is not None]) > 0)
