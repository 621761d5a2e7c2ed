"""The grid of cells as it lies in the world; shared by camera, picking and drawing.

World: x right, y up, z toward the viewer, in metres; the tank's middle is the origin. Cell (i, j), column
and row, has its centre at x = (i + 0.5 - width/2) dx, z = (j + 0.5 - height/2) dx. Cell coordinates are
such that the centre of cell i is at i.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Grid:
    """Cells along x (`width`) and z (`height`), and the side `dx` of a cell in m."""

    width: int
    height: int
    dx: float = 0.1

    @property
    def extent(self) -> tuple[float, float]:
        """Size along x and z, in m."""
        return self.width * self.dx, self.height * self.dx

    def to_world(self, i: float, j: float) -> tuple[float, float]:
        """World (x, z) of cell coordinates."""
        return (i + 0.5 - self.width / 2) * self.dx, (j + 0.5 - self.height / 2) * self.dx

    def to_cell(self, x: float, z: float) -> tuple[float, float]:
        """Cell coordinates of a world place; may lie outside the grid."""
        return x / self.dx + self.width / 2 - 0.5, z / self.dx + self.height / 2 - 0.5

    def contains(self, i: float, j: float) -> bool:
        """Whether cell coordinates lie inside the tank, its rim included."""
        return -0.5 <= i <= self.width - 0.5 and -0.5 <= j <= self.height - 0.5
