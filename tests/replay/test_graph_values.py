"""Values of launches that lie otherwise than Warp lays them out: native code would follow them blindly."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from damage import Damage, only

from replay.errors import ReplayError
from replay.graph.model import Severity
from replay.graph.open import open_capture
from replay.players import open_player
from replay.wrp import layout


class Launch:
    """Offsets of the records of one launch of a capture."""

    def __init__(self, path: Path, event: int) -> None:
        operation = open_capture(path).operations[event]
        record = np.frombuffer(open_capture(path).data, layout.LAUNCH, 1, operation.offset)[0]
        sides = 1 if record["is_forward"] else 2
        self.path = path
        self.params = operation.offset + layout.LAUNCH.itemsize + int(record["kernel_key_len"])
        self.params += int(record["module_hash_len"])
        self.relocs = self.params + sides * int(record["num_params"]) * layout.PARAM.itemsize
        self.values = self.relocs + int(record["num_relocs"]) * layout.RELOC.itemsize

    def blocked(self, words: str, offset: int, format: str, *values: int) -> tuple[str, int | None, str]:
        """Return the fault with these words after a change."""
        return only(Damage(self.path).put(offset, format, *values), words)

    def param(self, index: int, place: int) -> int:
        return self.params + index * layout.PARAM.itemsize + place

    def reloc(self, index: int, place: int) -> int:
        return self.relocs + index * layout.RELOC.itemsize + place


def test_layout_of_values(recorded: dict[str, Path]) -> None:
    launch = Launch(recorded["launches"], 0)  # scale(x: 56 bytes at 0, amount: 4 bytes at 56)
    where = "operation 0, argument"
    for words, index, place, value, argument, field in (
        ("an alignment of 16 bytes", 0, 12, 16, 1, "value_align"),
        ("an alignment of 0 bytes", 1, 12, 0, 2, "value_align"),
        ("an alignment of 4 bytes for a value with pointers", 0, 12, 4, 1, "value_align"),
        ("60 bytes, which are no whole number of 8", 0, 8, 60, 1, "value_size"),
        ("4 bytes, which are no whole number of 8", 1, 12, 8, 2, "value_size"),
        ("lies at byte 52 of the values, 56 expected", 1, 4, 52, 2, "value_offset"),
    ):
        at = launch.param(index, place)
        field_at = launch.param(index, {"value_align": 12, "value_size": 8, "value_offset": 4}[field])
        assert launch.blocked(words, at, "I", value) == (
            f"{where} {argument}", field_at, f"operations[0].params[{argument - 1}].{field}",
        ), words  # fmt: skip
    # an array that ends before its descriptor does: what follows lies elsewhere then
    damage = Damage(recorded["launches"])
    short = damage.put(launch.param(0, 8), "I", 40)
    assert only(short, "lies at byte 56 of the values, 40 expected")[0] == "operation 0, argument 2"
    assert [fault.field for fault in short.blocking_faults if "where no array lies" in fault.what] == [
        "operations[0].relocs[0].value_byte_offset",
        "operations[0].relocs[1].value_byte_offset",
    ]
    last = launch.blocked("60 bytes of values, but its arguments end at 58", launch.param(1, 8), "I", 2)
    assert last[2] == "operations[0].value_data_size"


def test_pointers_are_patched_in_places_of_their_own(recorded: dict[str, Path]) -> None:
    launch = Launch(recorded["struct_argument"], 0)  # arrays at 8 and 72 of the struct
    for words, index, value in (
        ("patches byte 8, not behind the relocation before it", 1, 8),
        ("patches byte 12, which is no place of a pointer", 1, 12),
        ("patches byte 64, where no array lies in the argument", 2, 64),
    ):
        found = launch.blocked(words, launch.reloc(index, 0), "I", value)
        assert found == (
            "operation 0, argument 1",
            launch.reloc(index, 0),
            f"operations[0].relocs[{index}].value_byte_offset",
        )
    damage = Damage(recorded["struct_argument"])
    damage.put(launch.reloc(2, 0), "I", 56)
    damage.put(launch.values + 56 + 48, "H", 1)
    overlapping = damage.put(launch.reloc(3, 0), "I", 64)
    assert only(overlapping, "an array at byte 56 lies in the one before it")[1] == launch.reloc(2, 0)


def test_an_array_with_elements_needs_memory(recorded: dict[str, Path]) -> None:
    launch = Launch(recorded["launches"], 0)
    assert launch.blocked("an array of 7 elements without memory", launch.reloc(0, 16), "B", 3) == (
        "operation 0, argument 1", launch.reloc(0, 16), "operations[0].relocs[0].kind",
    )  # fmt: skip


def test_index_lists_are_as_long_as_the_shape(recorded: dict[str, Path]) -> None:
    launch = Launch(recorded["indexed"], 0)
    side = launch.values + layout.ARRAY.itemsize + 8 * layout.MAX_DIMS + 4  # of the second dimension
    for length in (3, -1):
        where, _, field = launch.blocked(
            f"an index list of {length} entries for dimension 2", side, "i", length
        )
        assert (where, field) == ("operation 0, argument 1", "operations[0].relocs[3].region_offset")


def test_a_backward_launch_counts_on_and_reaches_into_gradients(recorded: dict[str, Path]) -> None:
    capture = open_capture(recorded["backward"])
    assert capture.faults == () and not capture.operations[1].is_forward
    launch = Launch(recorded["backward"], 1)
    assert launch.blocked("the gradient reaches bytes 8 to 36 of region", launch.reloc(1, 8), "Q", 8) == (
        "operation 1, argument 1", launch.reloc(1, 8), "operations[1].relocs[1].region_offset",
    )  # fmt: skip
    (note,) = Damage(recorded["backward"]).put(launch.param(3, 0), "H", 2).faults
    assert note.severity is Severity.NOTE and note.what == "numbered 2, 4 expected"
    with open_player(capture) as player:
        player.launch()
        np.testing.assert_array_equal(player.get("slope"), 2 * player.get("x"))


def test_a_tree_of_a_mesh_has_triangles_in_its_leaves(recorded: dict[str, Path]) -> None:
    mesh = open_capture(recorded["mesh_handle"]).meshes[0]
    damage = Damage(recorded["mesh_handle"])
    capture = damage.put(mesh.offset + 10, "H", 0)
    assert only(capture, "leaves of 0 triangles") == (
        "mesh 0", mesh.offset + 10, "metadata.meshes[0].bvh_leaf_size",
    )  # fmt: skip
    damage = Damage(recorded["mesh_handle"])
    assert only(damage.put(mesh.offset + 9, "B", 7), "a tree of kind 7")[1] == mesh.offset + 9


def test_addresses_of_the_recording_process_in_memory(recorded: dict[str, Path]) -> None:
    capture = open_capture(recorded["arrays_in_array"])
    (fault,) = capture.faults
    holders = capture.operations[0].arguments[0].arrays[0].region
    assert fault.where == f"region {holders}" and fault.severity is Severity.BLOCKS_REPLAY
    assert "what look like 2 arrays of the process that recorded" in fault.what
    assert fault.offset == capture.regions[holders or 0].data_offset
    with pytest.raises(ReplayError, match="structs with arrays inside an array"):
        open_player(capture)
    # the same bytes in an array of small elements are leftovers that no kernel takes for pointers
    damage = Damage(recorded["arrays_in_array"])
    stride = Launch(recorded["arrays_in_array"], 0).values + 32
    assert damage.put(stride, "i", 4).faults == ()


def test_addresses_that_nobody_reads_are_worth_a_note(recorded: dict[str, Path]) -> None:
    capture = open_capture(recorded["arrays_in_array_cleared"])
    (fault,) = capture.faults
    assert fault.severity is Severity.NOTE and "overwritten before anything reads it" in fault.what
    with open_player(capture) as player:
        player.launch()
        assert player.get("out").tolist() == [1.0, 1.0]
    # A clear that leaves out the second struct leaves its addresses where the launch reads.
    clear = capture.operations[0]
    size = clear.offset + (layout.RECORDS[clear.kind].fields or {})["size"][1]
    (fault,) = Damage(recorded["arrays_in_array_cleared"]).put(size, "Q", 64).faults
    assert fault.severity is Severity.BLOCKS_REPLAY


def test_addresses_that_are_copied_are_refused(recorded: dict[str, Path]) -> None:
    capture = open_capture(recorded["arrays_in_array_copied"])
    source = next(use.region for use in capture.operations[0].uses if use.label == "src")
    (fault,) = capture.faults
    assert fault.where == f"region {source}" and fault.severity is Severity.BLOCKS_REPLAY
