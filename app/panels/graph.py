"""The graph of the capture: its operations as a chain, repeated ones folded, the named arrays that they use.

Drawn with ImGui's draw list; what is where is worked out once per capture.
"""

from __future__ import annotations

from imgui_bundle import icons_fontawesome_6 as fa

from app.gui import Gui
from app.panels.widgets import caption
from app.state import App


class GraphPanel:
    """The panel."""

    name = "Graph"
    icon = fa.ICON_FA_DIAGRAM_PROJECT

    def draw(self, app: App, gui: Gui) -> None:
        """Build the inside of the panel's window."""
        caption(gui, "…")
