"""The array that the centre of the window shows: which one, in which way, its values as they are now.

The lab of a capture owns it. It reads and remembers choices; what it looks like is laid out in
`app.arrays.layout` and drawn in `app.view.arrays`.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from app.arrays import ranges
from app.arrays.candidates import (
    Candidate,
    candidates_of,
    changed_regions,
    first_choice,
    known_shape,
    none_sentence,
    shape_for,
)
from app.arrays.frame2d import Look
from app.arrays.space import Bounds, bounds_of, frame_box, places, thinned
from app.arrays.ways import (
    INDEX,
    Way,
    choices_of,
    colours_of,
    is_stacked_colour,
    known_square,
    places_of,
    plane_of,
    planes_of,
    scalars_of,
    ways_of,
)
from app.lab.contents import Typing
from app.view.camera import OrbitCamera
from replay.elements import ElementType
from replay.graph.model import Provenance

if TYPE_CHECKING:
    from app.arrays.layout import Layout
    from app.lab.lab import Lab
    from app.view.arrays import ArrayView

INTERVAL = 1 / 60
"""Seconds between two reads. On CUDA each one copies the array to the host, on the player's stream, and
waits for it; so it is done for the array that is shown only, and not more often than a display shows it."""
_LARGE = 16 << 20
"""Arrays of more bytes are read four times a second."""
_DENORMAL = 1.2e-38
_TRIES = (1, 10)
"""Launches after which the first choice is thought over, until the user has chosen."""


class ShownArray:
    """The array in the centre.

    Attributes:
        active: whether the centre shows it and not the water.
        candidate: which array, None if there is none to show.
        way, component, plane: how.
        fixed: range of the values that the user gave, None to fit it.
        colour_map: that the user chose, empty for what suits the values.
        look: the part of an image or a line that is looked at.
        camera: from where points are looked at.
        values: of the array, then of its element; None before the first read.
        where: which state that is, in words.
        revision: changes with values and choices.
        covered: height of what floats over the top and the bottom of the centre, in window units.
        layout, layout_of: how it was laid out last, and what for.
        view: what draws it, None before it was drawn.
        moved: whether the user moved the camera.
    """

    def __init__(self, lab: Lab, *, active: bool) -> None:
        self._lab = lab
        self.active = active
        self.candidates = candidates_of(lab.scene)
        self.candidate: Candidate | None = None
        self.chosen = False
        self.way = Way.LINE
        self.ways: tuple[Way, ...] = ()
        self.known: tuple[int, int] | None = None
        self.component = self.plane = 0
        self.fixed: tuple[float, float] | None = None
        self.colour_map = ""
        self.look = Look()
        self.camera = OrbitCamera()
        self.values: np.ndarray | None = None
        self.where = ""
        self.revision = 0
        self.typing: Typing | None = None
        self.scalars: np.ndarray | None = None
        self.points: np.ndarray | None = None
        self.pixels: np.ndarray | None = None
        self.range: tuple[float, float] = (0.0, 1.0)
        self.wrong = 0
        self.bounds: Bounds | None = None
        self.covered = (0.0, 0.0)
        self.layout: Layout | None = None
        self.layout_of: tuple[object, ...] = ()
        self.view: ArrayView | None = None
        self.moved = False
        self._aspect = 4 / 3
        self._calm: tuple[float, float] | None = None
        self._key: tuple[object, ...] = ()
        self._asked: Typing | None = None
        self._read_at = -1e9
        self._tried = -1
        self._framed = False

    # Choices

    def choose(self, candidate: Candidate | None) -> None:
        """Show an array, in the way that suits it."""
        self.candidate, self.typing, self._asked, self.ways = candidate, None, None, ()
        self.component = self.plane = 0
        self._begin_anew()

    def pick(self, region: int) -> bool:
        """Show the array of a region, because the user asks for it; return whether it can be shown."""
        found = next((item for item in self.candidates if item.region == region), None)
        if found is None:
            return False
        self.chosen = self.active = True
        if found is not self.candidate:
            self.choose(found)
        return True

    def pick_named(self, name: str) -> bool:
        """Show the array of a name; return whether there is one."""
        regions = self._lab.capture.regions
        return any(self.pick(item.region) for item in self.candidates if name in regions[item.region].names)

    def draw_as(self, way: Way) -> None:
        """Draw it in another of its ways."""
        if way in self.ways and self.typing is not None:
            self.way = way
            choices = choices_of(self.typing.element, way)
            self.component = choices[0][1] if choices else 0
            self._begin_anew()

    def show_component(self, component: int) -> None:
        """Show another component."""
        self.component = component
        self._calm, self.fixed = None, None
        self._derive()

    def show_plane(self, plane: int) -> None:
        """Show another plane of an array of more than two dimensions."""
        self.plane = plane
        self._derive()

    def frame(self) -> None:
        """Look at all of it again."""
        self._begin_look()
        self._derive()

    def fit_place(self, aspect: float) -> None:
        """Say how many times as wide as high the place is; the view follows until the user moves it."""
        if abs(aspect / self._aspect - 1) > 0.01:
            self._aspect = aspect
            if not self.moved:
                self._framed = False
                self._derive()

    @property
    def pose(self) -> tuple[object, ...]:
        """The camera's pose, to see whether it changed."""
        camera = self.camera
        return (*camera.target.tolist(), camera.distance, camera.yaw, camera.pitch)

    def adopt(self, old: ShownArray) -> None:
        """Take over what the user chose in the capture before, where this one has an array of that name."""
        if not old.chosen or old.candidate is None or not old.candidate.named:
            return
        if self.pick_named(old.candidate.label.split(" = ")[0]):
            self.active = old.active or self.active
            self.colour_map = old.colour_map

    def _begin_anew(self) -> None:
        self._begin_look()
        self.fixed = self._calm = None
        self._key = ()
        self.revision += 1

    # Reading

    def refresh(self, now: float, *, force: bool = False) -> None:
        """Read the values if they may have changed and it is time.

        Args:
            now: seconds, from any start.
            force: at any time, as for a single picture.
        """
        lab = self._lab
        if lab.job is not None and self.values is not None:
            return  # the device is busy
        self._think_over()
        if self.candidate is None:
            return
        region = self.candidate.region
        player = lab.scene.player
        typing = lab.typings.get(region) or self.candidate.typing
        key = (region, typing, lab.frame.revision, player.revision if player is not None else 0)
        every = 0.25 if lab.capture.regions[region].nbytes > _LARGE else INTERVAL
        if key == self._key or (not force and self._key[:3] == key[:3] and now - self._read_at < every):
            return
        if player is not None:
            player.flush()  # values that wait are part of what is shown
        self._key = (*key[:3], player.revision if player is not None else 0)
        self._read_at = now
        self.values, self.where = lab.contents(region)
        if self._asked is not typing:
            self._asked = typing
            self._take_typing(self._as_integers(typing, region), region)
        elif self.values is not None and self.typing is not None:
            self.values = self.values.view(self.typing.element.scalar)
        self._derive()

    def _think_over(self) -> None:
        """Choose an array unless the user has, and again once it is seen which ones change."""
        player = self._lab.scene.player
        frames = player.frames if player is not None else 0
        tries = sum(frames >= after for after in _TRIES)
        if self.chosen or tries <= self._tried or not self.candidates:
            return
        self._tried = tries
        changed = changed_regions(self._lab.scene, self.candidates)
        best = first_choice(self._lab.scene, self.candidates, changed)
        if best is not None and best is not self.candidate:
            self.choose(best)

    def _as_integers(self, typing: Typing, region: int) -> Typing:
        """Return a typing as integers where floats were only inferred, and none is one that people use.

        The file tells the size of an element. Small integers, such as counters, are floats below 1e-38.
        """
        inferred = self._lab.capture.regions[region].provenance is not Provenance.KNOWN
        if typing.given or not inferred or self.values is None or self.values.dtype != np.float32:
            return typing
        used = self.values[self.values != 0]
        if not used.size or not np.all(np.abs(used) < _DENORMAL):
            return typing
        self.values = self.values.view(np.int32)
        return replace(typing, element=ElementType.named("int32"))

    def _take_typing(self, typing: Typing, region: int) -> None:
        """Find the ways for a type and shape that were not shown before."""
        lab = self._lab
        self.typing = typing
        record = lab.capture.regions[region]
        shape = shape_for(typing, record.nbytes)
        self.known = known_shape(lab.capture, record, typing)
        self.ways = ways_of(typing.element, shape, self.known)
        if self.ways == (Way.LINE,) and len(shape) == 1 and not typing.element.inner_shape:
            self.known = known_square(shape[0])
            if self.known is not None:
                self.ways = Way.LINE, Way.IMAGE
        if self.ways:
            self.way = self.ways[0]
            if Way.COLOUR in self.ways and self._is_colour(typing):
                self.way = Way.COLOUR
            choices = choices_of(typing.element, self.way)
            self.component = choices[0][1] if choices else 0
        self._begin_look()
        self.fixed = self._calm = None

    def _is_colour(self, typing: Typing) -> bool:
        """Whether vectors of floats are colours by their values: all from 0 to 1, and some not 0."""
        if typing.element.scalar == np.uint8:
            return True
        assert self.values is not None
        if typing.element.scalar.kind != "f":
            return False
        found = ranges.finite_range(self.values)
        return found.low is not None and found.high is not None and found.low >= 0 and 0.2 < found.high <= 1

    def _begin_look(self) -> None:
        self.look, self.bounds = Look(), None
        self._framed = self.moved = False

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the array."""
        if self.values is None or self.typing is None:
            return ()
        inner = len(self.typing.element.inner_shape)
        return self.values.shape[: self.values.ndim - inner]

    @property
    def planes(self) -> int:
        """How many planes lie behind each other."""
        return planes_of(self.way, self.typing.element, self.shape) if self.typing is not None else 1

    def _derive(self) -> None:
        """Make from the values what is drawn."""
        self.revision += 1
        self.scalars = self.points = self.pixels = None
        values, typing = self.values, self.typing
        if values is None or typing is None or not self.ways:
            return
        dimensions = len(self.shape)
        if self.way is Way.COLOUR:
            stacked = is_stacked_colour(self.way, typing.element)
            assert stacked or typing.element.inner_shape
            self.pixels = colours_of(values, typing.element, self.plane)
            self.wrong = ranges.finite_range(values).wrong
            return
        if self.way is Way.VALUE:
            self.wrong = ranges.finite_range(values).wrong
            return
        if self.way is Way.POINTS:
            self._derive_points(values, typing, dimensions)
            return
        scalars = scalars_of(values, dimensions, self.component)
        if self.way is Way.IMAGE:
            self.scalars = plane_of(scalars, self.plane, self.known)
        else:
            self.scalars = scalars.reshape(-1)
        self._fit(self.scalars)

    def _derive_points(self, values: np.ndarray, typing: Typing, dimensions: int) -> None:
        """Make points, and what colours them."""
        axes = places_of(typing.element) or 3
        step = thinned(len(values))
        self.points = places(values[::step], axes)
        bounds = bounds_of(self.points)
        self.wrong = int(np.count_nonzero(~np.isfinite(self.points).all(axis=1)))
        if bounds is not None:
            self.bounds = bounds.joined(self.bounds)
        if self.component == INDEX:
            self.scalars = np.arange(0, len(values), step, dtype=np.float32)
            self.range = self.fixed or (0.0, float(max(len(values) - 1, 1)))
        else:
            wrong = self.wrong
            self.scalars = scalars_of(values[::step], dimensions, self.component)
            self._fit(self.scalars)
            self.wrong = wrong
        if self.bounds is not None and not self._framed:
            self._framed = True
            frame_box(self.camera, self.bounds.half, axes == 2, self._aspect)

    def _fit(self, scalars: np.ndarray) -> None:
        found = ranges.finite_range(scalars)
        self.wrong = found.wrong
        new = ranges.fitted(found.low, found.high)
        if (
            self.way is Way.LINE
            and found.low is not None
            and found.high is not None
            and found.low < found.high
        ):
            new = found.low, found.high  # an axis needs no middle
        self._calm = ranges.calmed(self._calm, new)
        self.range = self.fixed or self._calm

    def use_map(self, name: str) -> None:
        """Draw with another colour map."""
        self.colour_map = name
        self.revision += 1

    def fix_range(self, bounds: tuple[float, float] | None) -> None:
        """Show values between two bounds; None fits them."""
        self.fixed, self._calm = bounds, None
        self._derive()

    @property
    def map_name(self) -> str:
        """The colour map that is drawn with."""
        if self.colour_map:
            return self.colour_map
        return ranges.RISING if self.way is Way.POINTS else ranges.map_for(self.range)

    @property
    def sentence(self) -> str:
        """Why there is nothing to show, empty if there is something."""
        if not self.candidates:
            return none_sentence(self._lab.capture, self.candidates)
        if self.candidate is not None and self.values is None and self.where:
            return f"{self.candidate.label} cannot be shown: {self.where}."
        return ""
