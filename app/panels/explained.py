"""Capture, explained: a counter kept in Python beside the same one on the device, while small graphs replay.

The numbers are read from graphs that really replay (`app.lesson`); nothing here is a film of it.
"""

from __future__ import annotations

from imgui_bundle import icons_fontawesome_6 as fa

from app.gl_platform import imgui
from app.gui import Gui
from app.lesson import Case, Lesson
from app.panels.widgets import Kept, caption, heading, tooltip
from app.state import App

_EVERY = 0.25  # s between two replays: slow enough to be read
_IN_GRAPH = {4, 5, 9}
_PYTHON_ONLY = {6, 7}
"""Lines of the loop that make launches or copies, and those that only Python sees."""


class ExplainedPanel:
    """The page."""

    name = "Capture, explained"
    icon = fa.ICON_FA_GRADUATION_CAP

    def __init__(self) -> None:
        self._lesson: Lesson | None = None
        self._next = 0.0
        self._seen = -1
        self._clock = Kept()

    def draw(self, app: App, gui: Gui) -> None:
        """Build the inside of the panel's window."""
        if self._lesson is None:
            self._lesson = Lesson()
            app.closables.append(self._lesson)
        lesson = self._lesson
        if not lesson.poll():
            if lesson.failed:
                imgui.text_wrapped(f"The lesson could not be recorded: {lesson.failed}")
            else:
                caption(gui, f"{fa.ICON_FA_HOURGLASS_HALF}  recording four small graphs in another process …")
            return
        self._replay(app, lesson)
        scale = gui.scale
        imgui.push_text_wrap_pos(0.0)
        imgui.text_unformatted(
            "A captured graph is a list of launches. The Python around them ran once, while it was recorded, "
            "and does not run again. This loop was recorded four times; the graphs replay now."
        )
        imgui.pop_text_wrap_pos()
        imgui.dummy((0.0, 2 * scale))
        self._code(gui, lesson)
        imgui.dummy((0.0, 4 * scale))
        self._table(gui, lesson)
        imgui.dummy((0.0, 4 * scale))
        self._findings(gui, lesson)
        self._present(app, gui)

    def _replay(self, app: App, lesson: Lesson) -> None:
        """Replay at a pace that can be read, while frames replay."""
        scene, now = app.scene, imgui.get_time()
        frames = scene.player.frames if scene is not None and scene.player is not None else None
        running = frames is None or frames != self._seen
        if now >= self._next and running:
            self._next, self._seen = now + _EVERY, frames if frames is not None else -1
            lesson.replay()

    @staticmethod
    def _code(gui: Gui, lesson: Lesson) -> None:
        scale, line = gui.scale, imgui.get_text_line_height() + 3 * gui.scale
        corner, width = imgui.get_cursor_screen_pos(), imgui.get_content_region_avail().x
        draw, colors = imgui.get_window_draw_list(), gui.colors
        shown = [(number, text) for number, text in enumerate(lesson.code) if number != 1]  # no docstring
        height = line * len(shown) + 14 * scale
        draw.add_rect_filled(corner, (corner.x + width, corner.y + height), colors.field, 6 * scale)
        imgui.push_font(gui.mono, 0.0)
        y = corner.y + 7 * scale
        for number, text in shown:
            color = colors.muted
            mark = ""
            if number in _IN_GRAPH:
                color, mark = colors.good, "in the graph: every replay"
            elif number in _PYTHON_ONLY:
                color, mark = colors.warning, "Python: once, while it was recorded"
            if mark:
                draw.add_rect_filled(
                    (corner.x, y - scale), (corner.x + 3 * scale, y + line - 2 * scale), color, 0
                )
                right = corner.x + width - imgui.calc_text_size(mark).x - 12 * scale
                if right > corner.x + 14 * scale + imgui.calc_text_size(text).x + 10 * scale:
                    draw.add_text((right, y), color, mark)
            draw.add_text((corner.x + 14 * scale, y), colors.text if mark else colors.muted, text)
            y += line
        imgui.pop_font()
        imgui.dummy((width, height))

    def _table(self, gui: Gui, lesson: Lesson) -> None:
        replays = lesson.cases[0].replays
        heading(gui, f"After {replays} replays")
        imgui.same_line(0.0, 14 * gui.scale)
        if imgui.small_button(f"{fa.ICON_FA_ROTATE_LEFT} Begin again"):
            lesson.reset()
        flags = imgui.TableFlags_.borders_inner_v | imgui.TableFlags_.sizing_stretch_same
        if not imgui.begin_table("##cases", 1 + len(lesson.cases), flags):
            return
        imgui.table_setup_column("", imgui.TableColumnFlags_.width_fixed, 190 * gui.scale)
        for index in range(len(lesson.cases)):
            imgui.table_setup_column(f"##{index}")
        imgui.table_next_row()
        imgui.table_next_column()
        caption(gui, "substeps a frame")
        for case in lesson.cases:
            imgui.table_next_column()
            heading(gui, title_of(case))
        imgui.table_next_row()
        imgui.table_next_column()
        caption(gui, "where the two arrays are read\nand written in one replay")
        for case in lesson.cases:
            imgui.table_next_column()
            _draw_swaps(gui, case)
        self._numbers(gui, lesson, "the loop, run as Python", lambda case: (case.expected, "", ""))
        self._numbers(
            gui, lesson, "self.sim_tick, in Python",
            lambda case: (case.sim_tick, "since the recording", "warning"),
        )  # fmt: skip
        self._numbers(gui, lesson, "self.clock[0], on the device", lambda case: (case.clock, "", "good"))
        self._numbers(gui, lesson, "substeps in the result", _result_of)
        imgui.end_table()

    @staticmethod
    def _numbers(gui: Gui, lesson: Lesson, name: str, value_of) -> None:
        imgui.table_next_row()
        imgui.table_next_column()
        imgui.align_text_to_frame_padding()
        caption(gui, name)
        for case in lesson.cases:
            imgui.table_next_column()
            number, words, color = value_of(case)
            imgui.push_font(gui.bold, imgui.get_style().font_size_base * 1.35)
            tone = getattr(gui.palette, color) if color else gui.palette.text
            imgui.text_colored(tone, f"{number}")
            imgui.pop_font()
            if words:
                imgui.same_line(0.0, 6 * gui.scale)
                imgui.push_style_color(imgui.Col_.text, tone)
                imgui.align_text_to_frame_padding()
                imgui.text_unformatted(words)
                imgui.pop_style_color()

    @staticmethod
    def _findings(gui: Gui, lesson: Lesson) -> None:
        """What the audit said when the loop of three substeps was recorded."""
        case = next(case for case in lesson.cases if case.substeps == 3 and not case.copies_back)
        heading(gui, "What the capture audit says of 3 substeps")
        imgui.same_line(0.0, 10 * gui.scale)
        caption(gui, 'with audit(watch={"self": self}): …')
        for finding in case.findings:
            code = lesson.code[finding.line].strip() if finding.line is not None else ""
            imgui.push_style_color(imgui.Col_.text, gui.palette.warning)
            imgui.bullet()
            imgui.text_unformatted(f"{finding.kind}: ")
            imgui.pop_style_color()
            imgui.same_line(0.0, 2 * gui.scale)
            imgui.push_font(gui.mono, 0.0)
            imgui.text_unformatted(code or finding.attribute)
            imgui.pop_font()
            tooltip(f"before: {finding.before}\nafter: {finding.after}\n\n{finding.why}")
            imgui.indent(22 * gui.scale)
            imgui.push_text_wrap_pos(0.0)
            imgui.text_unformatted(f"{finding.why}.")
            imgui.push_style_color(imgui.Col_.text, gui.palette.good)
            for remedy in finding.remedies:
                imgui.text_unformatted(f"{fa.ICON_FA_WRENCH}  {remedy}")
            imgui.pop_style_color()
            imgui.pop_text_wrap_pos()
            imgui.unindent(22 * gui.scale)

    def _present(self, app: App, gui: Gui) -> None:
        """The counter of the capture that is open."""
        scene = app.scene
        if scene is None or scene.player is None or "clock" not in scene.player.parameters:
            return
        if app.lab is not None and app.lab.job is not None:
            return
        player = scene.player
        imgui.separator()
        # Both numbers at once: one kept and one live would belong to different moments.
        clock, replays = self._clock.get(  # type: ignore[misc]
            (id(player), int(imgui.get_time() * 4)), lambda: (int(player.get("clock")[0]), player.frames)
        )
        pairs = scene.capture.manifest.carry if scene.capture.manifest is not None else ()
        words = (
            ", ".join(f"{source} to {target}" for source, target in pairs) + " copied after each launch"
            if pairs
            else "nothing need be copied between frames"
        )
        imgui.text_unformatted(f"{scene.name}: clock[0] = {clock} after {replays} replays; {words}.")


def title_of(case: Case) -> str:
    """Return how a case is called."""
    parity = "even" if case.substeps % 2 == 0 else "odd"
    return f"{case.substeps}, copied back" if case.copies_back else f"{case.substeps}, {parity}"


def _result_of(case: Case) -> tuple[int, str, str]:
    if case.lost:
        return case.result, f"{case.lost} lost", "danger"
    return case.result, "all", "good"


def _draw_swaps(gui: Gui, case: Case) -> None:
    """Draw the way of the newest state between the two arrays, and where the next replay begins."""
    scale, colors = gui.scale, gui.colors
    width = max(imgui.get_content_region_avail().x - 6 * scale, 60 * scale)
    height = 74 * scale
    corner = imgui.get_cursor_screen_pos()
    draw = imgui.get_window_draw_list()
    steps = case.substeps + case.copies_back
    left, right = corner.x + 20 * scale, corner.x + width - 16 * scale
    rows = (corner.y + 14 * scale, corner.y + 46 * scale)
    gap = (right - left) / max(steps, 1)
    for name, y in zip("AB", rows, strict=True):
        draw.add_text((corner.x, y - imgui.get_text_line_height() / 2), colors.muted, name)
        draw.add_line((left, y), (right, y), colors.line, scale)
    row = 0
    for step in range(steps):
        copying = case.copies_back and step == steps - 1
        start, end = (left + step * gap, rows[row]), (left + (step + 1) * gap, rows[1 - row])
        color = colors.good if copying else colors.launch
        _arrow(draw, start, end, color, scale)
        draw.add_circle_filled(start, 3.5 * scale, color)
        row = 1 - row
    good = row == 0
    color = colors.good if good else colors.danger
    draw.add_circle_filled((left + steps * gap, rows[row]), 4.5 * scale, color)
    words = "ends where it began" if good else "ends in B, begins in A again"
    draw.add_text((left - 20 * scale, corner.y + height - 15 * scale), color, words)
    imgui.dummy((width, height))


def _arrow(
    draw: imgui.ImDrawList, start: tuple[float, float], end: tuple[float, float], color: int, scale: float
) -> None:
    draw.add_line(start, end, color, 2 * scale)
    dx, dy = end[0] - start[0], end[1] - start[1]
    length = (dx * dx + dy * dy) ** 0.5 or 1.0
    dx, dy = dx / length * 8 * scale, dy / length * 8 * scale
    tip = (end[0] - dx * 0.5, end[1] - dy * 0.5)
    draw.add_triangle_filled(
        tip,
        (tip[0] - dx + dy * 0.45, tip[1] - dy - dx * 0.45),
        (tip[0] - dx - dy * 0.45, tip[1] - dy + dx * 0.45),
        color,
    )
