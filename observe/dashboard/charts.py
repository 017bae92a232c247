"""Small charts as SVG, coloured by the style sheet; each has words for those who do not see it."""

from collections.abc import Sequence

from markupsafe import Markup, escape


def _points(values: Sequence[float], width: float, height: float, top: float) -> list[tuple[float, float]]:
    step = width / max(len(values) - 1, 1)
    return [(round(i * step, 1), round(height - height * value / top, 1)) for i, value in enumerate(values)]


def sparkline(values: Sequence[float], label: str) -> Markup:
    """A line without axes, 96 × 24, for a table's cell."""
    if len(values) < 2:
        return Markup('<span class="faint">–</span>')
    top = max(max(values), 1)
    line = " ".join(f"{x},{y + 1}" for x, y in _points(values, 94, 20, top))
    return Markup(
        '<svg class="spark" viewBox="0 0 96 24" width="96" height="24" role="img" aria-label="{}">'
        '<polygon class="area" points="1,22 {} 95,22"/><polyline class="line" points="{}"/></svg>'
    ).format(
        f"{label}: from {values[0]:g} to {values[-1]:g}, at most {max(values):g}", Markup(line), Markup(line)
    )


def number(value: float | None) -> str:
    """1234567 as 1.2 M; of a queue that somebody drops at this moment nobody knows what came."""
    if value is None:
        return "–"
    for least, size, sign in ((999.5e6, 1e9, "G"), (999.5e3, 1e6, "M"), (9999.5, 1e3, "k")):
        if abs(value) >= least:
            shown = f"{value / size:.3g}"
            return f"{float(shown):,.0f} {sign}" if "e" in shown else f"{shown} {sign}"
    return f"{value:,.4g}" if isinstance(value, float) and not float(value).is_integer() else f"{value:,.0f}"


def chart(
    title: str, times: Sequence[str], series: Sequence[tuple[str, str, Sequence[float]]], unit: str
) -> Markup:
    """A chart with a scale: ``series`` are name, class and values, one for each of ``times`` (ISO 8601)."""
    if len(times) < 2:
        return Markup(
            '<p class="faint">{}: no samples yet. The daemon takes one every 15 seconds.</p>'
        ).format(title)
    width, height, left = 540.0, 130.0, 52
    top = _round_up(max((max(values, default=0) for _, _, values in series), default=1))
    parts = [
        Markup(
            '<line class="grid" x1="{0}" x2="{1}" y1="{2}" y2="{2}"/>'
            '<text class="tick" x="{3}" y="{4}">{5}</text>'
        ).format(
            left,
            left + width,
            10 + height * (1 - part),
            left - 6,
            14 + height * (1 - part),
            number(top * part),
        )
        for part in (0, 0.5, 1)
    ]
    words = []
    for name, css, values in series:
        points = _points(values, width, height, top)
        line = " ".join(f"{left + x},{10 + y}" for x, y in points)
        if css == "depth":
            parts.append(
                Markup('<polygon class="area" points="{},{} {} {},{}"/>').format(
                    left, 10 + height, Markup(line), left + width, 10 + height
                )
            )
        parts.append(Markup('<polyline class="line {}" points="{}"/>').format(css, Markup(line)))
        words.append(f"{name} now {values[-1]:g}, at most {max(values):g}")
    legend = Markup("").join(
        Markup('<span class="key {}">{}</span>').format(css, name) for name, css, _ in series
    )
    return Markup(
        '<figure class="chart"><figcaption>{} <span class="faint">{}</span> {}</figcaption>'
        '<svg viewBox="0 0 600 160" role="img" aria-label="{}">{}'
        '<text class="tick start" x="{}" y="156" data-time="{}">{}</text>'
        '<text class="tick" x="{}" y="156" data-time="{}">{}</text>'
        "</svg></figure>"
    ).format(
        title, unit, legend, f"{title}: {'; '.join(words)}", Markup("").join(parts),
        left, times[0], times[0][11:16], left + width, times[-1], times[-1][11:16],
    )  # fmt: skip


def _round_up(value: float) -> float:
    """The next 1, 2 or 5 with zeros."""
    size = 1.0
    while size * 10 <= value:
        size *= 10
    return next((size * step for step in (1, 2, 5, 10) if size * step >= value), 1.0)


def words(text: str, limit: int) -> str:
    """The text, cut with an ellipsis."""
    return text if len(text) <= limit else text[: limit - 1] + "…"


def svg_text(x: float, y: float, text: str, css: str = "", limit: int = 60) -> Markup:
    """A line of text; in full as its title where it is cut."""
    shown = words(text, limit)
    title = Markup("<title>{}</title>").format(text) if shown != text else Markup("")
    return Markup('<text x="{}" y="{}" class="{}">{}{}</text>').format(x, y, css, title, escape(shown))
