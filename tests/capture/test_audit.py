"""The capture audit: what it finds, what it leaves alone, and that it takes its hooks off again."""

from __future__ import annotations

import json
import sys
from collections import namedtuple
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import warp as wp

from capture.audit import AuditReport, Finding, Kind, audit
from capture.classic import run_classic


def arrays(count: int) -> list[wp.array]:
    return [wp.zeros(4, dtype=float, device="cpu") for _ in range(count)]


class Thing:
    """A bag of attributes."""

    def __init__(self, **attributes: Any) -> None:
        self.__dict__.update(attributes)


def audited(block: Callable[[Any], object], watched: Any) -> list[Finding]:
    with audit(watch={"self": watched}) as report:
        block(watched)
    return report.findings


def only(findings: list[Finding]) -> Finding:
    assert len(findings) == 1, [(finding.kind, finding.attribute) for finding in findings]
    return findings[0]


class TestClassicCase:
    @pytest.mark.parametrize("substeps", [50, 2, 4])
    def test_even(self, substeps: int) -> None:
        outcome = run_classic(substeps, "cpu")
        finding = only(outcome.report.findings)
        assert (finding.object, finding.attribute, finding.kind) == ("self", "self.sim_tick", Kind.COUNTER)
        assert (finding.before, finding.after) == ("0", str(substeps))
        assert finding.remedies == (
            "keep it in a one-element device array that a kernel in the graph advances",
        )
        assert outcome.eager_steps == outcome.replayed_steps == 3 * substeps

    @pytest.mark.parametrize("substeps", [49, 1])
    def test_odd(self, substeps: int) -> None:
        outcome = run_classic(substeps, "cpu")
        counter, swap = outcome.report.findings
        assert (counter.attribute, counter.kind) == ("self.sim_tick", Kind.COUNTER)
        assert (swap.attribute, swap.kind) == ("self.states[0], self.states[1]", Kind.SWAP)
        assert swap.after == "array (was self.states[1]); array (was self.states[0])"
        assert len(swap.remedies) == 2
        assert "copy the result back" in swap.remedies[0]
        assert "record 2 graphs" in swap.remedies[1]
        # the first replay is right; each later one starts from the array that lacks the last substep
        assert (outcome.eager_steps, outcome.replayed_steps) == (3 * substeps, 3 * substeps - 2)
        assert (outcome.eager_tick, outcome.replayed_tick) == (3 * substeps, substeps)

    def test_source_lines(self) -> None:
        counter, swap = run_classic(1, "cpu").report.findings
        file, line = counter.source.rsplit(":", 1)
        with open(file) as source:  # noqa: PTH123
            lines = source.read().splitlines()
        assert lines[int(line) - 1].strip() == "self.sim_tick += 1"
        assert "self.states[0], self.states[1] =" in lines[int(swap.source.rsplit(":", 1)[1]) - 1]


class TestReferences:
    def test_attributes_that_change_places(self) -> None:
        one, other = arrays(2)

        def swap(thing: Any) -> None:
            thing.state_in, thing.state_out = thing.state_out, thing.state_in

        finding = only(audited(swap, Thing(state_in=one, state_out=other)))
        assert finding.kind is Kind.SWAP
        assert finding.attribute == "self.state_in, self.state_out"

    def test_objects_that_hold_arrays(self) -> None:
        """As in Newton: two states of several arrays each; the swap is told once, at the states."""
        states = [Thing(q=a, qd=b) for a, b in (arrays(2), arrays(2))]
        finding = only(audited(lambda thing: thing.states.reverse(), Thing(states=states)))
        assert finding.attribute == "self.states[0], self.states[1]"

    def test_new_list_of_the_same_arrays(self) -> None:
        def rebuild(thing: Any) -> None:
            thing.pair = (thing.pair[1], thing.pair[0])

        assert only(audited(rebuild, Thing(pair=tuple(arrays(2))))).kind is Kind.SWAP

    def test_three_that_rotate(self) -> None:
        def rotate(thing: Any) -> None:
            thing.a, thing.b, thing.c = thing.b, thing.c, thing.a

        a, b, c = arrays(3)
        finding = only(audited(rotate, Thing(a=a, b=b, c=c)))
        assert "record 3 graphs" in finding.remedies[1]

        def three_times(thing: Any) -> None:
            for _ in range(3):
                rotate(thing)

        assert not audited(three_times, Thing(a=a, b=b, c=c))

    def test_two_names_of_one_array(self) -> None:
        one, other = arrays(2)

        def swap(thing: Any) -> None:
            thing.a, thing.b, thing.also_a = other, one, other

        finding = only(audited(swap, Thing(a=one, b=other, also_a=one)))
        assert finding.attribute == "self.a, self.b, self.also_a"

    def test_local_variables(self) -> None:
        grid0, grid1 = arrays(2)
        with audit() as report:
            for _ in range(3):
                grid0, grid1 = grid1, grid0
        finding = only(report.findings)
        assert finding.attribute == "grid0, grid1"
        assert finding.kind is Kind.SWAP
        assert finding.source.startswith(__file__)

    def test_replaced(self) -> None:
        one, other = arrays(2)

        def replace(thing: Any) -> None:
            thing.state = other

        finding = only(audited(replace, Thing(state=one)))
        assert (finding.kind, finding.attribute) == (Kind.REPLACED, "self.state")


class TestValues:
    @pytest.mark.parametrize(
        ("before", "after", "kind"),
        [
            (0, 1, Kind.COUNTER),
            (0.5, 0.75, Kind.COUNTER),
            (np.float32(1), np.float32(2), Kind.COUNTER),
            (wp.vec3(0.0, 0.0, 0.0), wp.vec3(0.0, 1.0, 0.0), Kind.COUNTER),
            (False, True, Kind.VALUE),
            ("a", "b", Kind.VALUE),
            ({1}, {1, 2}, Kind.VALUE),
            (np.zeros(3), np.array([0.0, 1.0, 0.0]), Kind.HOST_DATA),
        ],
    )
    def test_kinds(self, before: object, after: object, kind: Kind) -> None:
        def change(thing: Any) -> None:
            thing.x = after

        finding = only(audited(change, Thing(x=before)))
        assert (finding.attribute, finding.kind) == ("self.x", kind)

    @pytest.mark.parametrize("value", [1, float("nan"), "a", None, np.ones(3), (1, [2, {3: 4}]), {5}])
    def test_unchanged(self, value: object) -> None:
        def keep(thing: Any) -> None:
            thing.x = value

        assert not audited(keep, Thing(x=value))

    def test_array_changed_in_place(self) -> None:
        def change(thing: Any) -> None:
            thing.x[1] = 5.0

        assert only(audited(change, Thing(x=np.zeros(3)))).kind is Kind.HOST_DATA

    def test_nested_paths(self) -> None:
        thing = Thing(solver=Thing(stats={"steps": [1, 2]}))

        def change(thing: Any) -> None:
            thing.solver.stats["steps"][1] += 1

        assert only(audited(change, thing)).attribute == "self.solver.stats['steps'][1]"

    def test_list_that_grows(self) -> None:
        finding = only(audited(lambda thing: thing.history.append(3.0), Thing(history=[1.0])))
        assert (finding.attribute, finding.before, finding.after) == ("len(self.history)", "1", "2")
        assert finding.source.startswith(__file__)

    def test_attribute_made_or_deleted(self) -> None:
        def change(thing: Any) -> None:
            thing.made = 1
            del thing.gone

        findings = audited(change, Thing(gone=2))
        assert {(f.attribute, f.before, f.after) for f in findings} == {
            ("self.gone", "2", "not there"),
            ("self.made", "not there", "1"),
        }

    def test_class_attribute(self) -> None:
        class Simulation:
            ticks = 0

        def change(thing: Any) -> None:
            type(thing).ticks += 1

        assert only(audited(change, Simulation())).attribute == "self.ticks"


class TestRobustness:
    def test_cycles_and_slots(self) -> None:
        class Slotted:
            __slots__ = ("empty", "me", "tick")

            def __init__(self) -> None:
                self.me, self.tick = [self, {"again": self}], 0

        def change(thing: Any) -> None:
            thing.me[1]["again"].tick += 1

        assert only(audited(change, Slotted())).attribute == "self.tick"

    def test_container_that_holds_itself(self) -> None:
        loop: list[Any] = [0]
        loop.append(loop)

        def change(thing: Any) -> None:
            thing.loop[0] = 1

        assert only(audited(change, Thing(loop=loop))).attribute == "self.loop[0]"

    def test_properties_and_foreign_methods_are_not_called(self) -> None:
        class Trap:
            @property
            def boom(self) -> int:
                raise AssertionError("evaluated")

            def __getattr__(self, name: str) -> object:
                raise AssertionError(name)

            def __repr__(self) -> str:
                raise AssertionError("repr")

            def __eq__(self, other: object) -> bool:
                raise AssertionError("compared")

            __hash__ = None

        def change(thing: Any) -> None:
            thing.trap = Trap()

        assert only(audited(change, Thing(trap=Trap(), other={1: Trap()}))).kind is Kind.REPLACED

    def test_deep_and_large(self) -> None:
        chain: Any = Thing(x=0)
        for _ in range(1000):
            chain = Thing(next=chain)
        assert not audited(lambda thing: None, chain)
        with audit(watch={"self": list(range(100_000))}) as report:
            pass
        assert not report.complete
        assert "the rest was not compared" in report.text()

    def test_named_tuple(self) -> None:
        pair_type = namedtuple("pair_type", "a b")

        def change(thing: Any) -> None:
            thing.pair = thing.pair._replace(a=2)

        assert only(audited(change, Thing(pair=pair_type(1, 5)))).attribute == "self.pair[0]"

    def test_exception_passes_and_everything_is_restored(self) -> None:
        before = {
            name: wp.array.__dict__[name] for name in ("_init_new", "_init_from_data", "numpy", "assign")
        }
        thing = Thing(tick=0)
        with pytest.raises(ValueError, match="mine"), audit(watch={"self": thing}) as report:
            thing.tick = 1
            raise ValueError("mine")
        assert only(report.findings).attribute == "self.tick"
        assert {name: wp.array.__dict__[name] for name in before} == before
        assert sys.getprofile() is None

    def test_audit_within_an_audit(self) -> None:
        with audit(watch={}) as outer:
            with audit(watch={}) as inner:
                arrays(1)
        assert only(inner.findings).kind is only(outer.findings).kind is Kind.ALLOCATED
        arrays(1)
        assert len(outer.findings) == 1

    def test_profiler_of_somebody_else_stays(self) -> None:
        def profiler(*_: object) -> None:
            return None

        sys.setprofile(profiler)
        try:
            with audit(watch={}):
                pass
            assert sys.getprofile() is profiler
        finally:
            sys.setprofile(None)


class TestCalls:
    def test_around_a_capture(self) -> None:
        host = np.ones(4, dtype=np.float32)
        (kept,) = arrays(1)
        with audit(watch={}) as report:
            with wp.ScopedCapture(device="cpu"):
                made = wp.zeros(4, dtype=float, device="cpu")
                wp.clone(made)
                wp.array(host, dtype=float, device="cpu")
                kept.assign(host)
                kept.numpy()
                kept.fill_(1.0)
                wp.copy(made, kept)
                made[1:3].reshape((2, 1))
        assert [finding.kind for finding in report.findings] == [
            Kind.ALLOCATED,
            Kind.ALLOCATED,
            Kind.COPIED,
            Kind.COPIED,
            Kind.READ,
        ]
        lines = [int(finding.source.rsplit(":", 1)[1]) for finding in report.findings]
        assert lines == list(range(lines[0], lines[0] + 5))
        assert report.findings[0].attribute == "wp.array float32 4"
        assert all(finding.source.startswith(__file__) and finding.remedies for finding in report.findings)

    def test_between_device_arrays_is_part_of_the_graph(self) -> None:
        one, other = arrays(2)
        assert not audited(lambda _: one.assign(other), Thing())


class TestOutput:
    def report(self) -> AuditReport:
        return run_classic(49, "cpu").report

    def test_text(self) -> None:
        text = self.report().text()
        for part in ("self.sim_tick: counter", "before: 0", "after:  49", "remedy:", "classic.py:"):
            assert part in text

    def test_json(self) -> None:
        value = json.loads(json.dumps(self.report().to_json()))
        assert value["complete"] is True
        for finding in value["findings"]:
            assert set(finding) == {
                "object",
                "attribute",
                "kind",
                "before",
                "after",
                "why",
                "remedies",
                "source",
            }

    def test_nothing_found(self) -> None:
        with audit(watch={"self": Thing(x=1)}) as report:
            pass
        assert report.text() == "no findings: nothing that was watched changed on the host only"


class TestKernelsOfOneName:
    @staticmethod
    def _closure(amount: float, key: str | None = None) -> wp.Kernel:
        def grow(x: wp.array[float]):
            x[wp.tid()] = wp.static(amount)

        return wp.Kernel(grow, key=key, module=wp.get_module("audit_closures"))

    def test_closures_are_found_where_they_are_launched(self) -> None:
        x = wp.zeros(2, dtype=float, device="cpu")
        first, second = self._closure(2.0), self._closure(3.0)

        def block(_: object) -> None:
            for _ in range(2):
                wp.launch(first, 2, inputs=[x])
                wp.launch(second, 2, inputs=[x])

        finding = only(audited(block, Thing()))
        line = block.__code__.co_firstlineno
        assert finding.kind is Kind.ONE_NAME and finding.object == "warp"
        assert finding.attribute.startswith("kernel ") and finding.attribute.endswith("grow")
        assert finding.after.startswith("2 different ones were launched: ")
        assert finding.after.count(f"{__file__}:") == 2 and f"{__file__}:{line + 2}" in finding.after
        assert finding.source == f"{__file__}:{line + 3}"
        assert finding.remedies == ("give each a name of its own: wp.Kernel(function, key=...)",)

    def test_names_of_their_own_and_equal_closures_are_left_alone(self) -> None:
        x = wp.zeros(2, dtype=float, device="cpu")
        kernels = [self._closure(5.0, "five"), self._closure(6.0, "six"), self._closure(5.0, "five")]
        assert not audited(lambda _: [wp.launch(kernel, 2, inputs=[x]) for kernel in kernels], Thing())
