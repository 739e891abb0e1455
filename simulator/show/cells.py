"""A table of percentages as a picture: each written in its cell, coloured by its logarithm."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes

from simulator.laws.units import FloatArray
from simulator.show.style import INK, LABEL, MUTED

_DARK = 0.48
"""Of the colour scale: beyond it letters are light."""
_WITHOUT_DECIMALS = 100.0


def percent_cells(ax: Axes, values: FloatArray, rows: Sequence[str], columns: Sequence[str], blank: str) -> None:
    """Percentages of 0 or more [row, column]; where there is none the cell says `blank`."""
    top = max(float(np.nanmax(values, initial=0.0)), 1.0)
    ax.imshow(np.log1p(values), cmap="cividis_r", vmin=0.0, vmax=np.log1p(top), aspect="auto")
    for (row, column), value in np.ndenumerate(values):
        is_dark = np.log1p(value) > _DARK * np.log1p(top)
        said = f"{value:.1f}" if value < _WITHOUT_DECIMALS else f"{value:,.0f}"
        text, colour = (blank, MUTED) if np.isnan(value) else (said, "white" if is_dark else INK)
        ax.text(column, row, text, ha="center", va="center", color=colour, fontsize=LABEL)
    ax.set_xticks(range(len(columns)), columns)
    ax.set_yticks(range(len(rows)), rows)
