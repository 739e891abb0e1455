"""Picture of regret: what each policy costs beyond the best, by which policy turned out best."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes

from simulator.show.cells import percent_cells
from simulator.show.money import percent
from simulator.show.style import caption, dress, new_axes
from simulator.study.comparison import Comparison
from simulator.study.paired import regret_by_best
from simulator.study.rankings import comparable_costs


def regret(comparison: Comparison, ax: Axes | None = None) -> Axes:
    """A row per comparable policy, a column per policy that is cheapest in some world; then all worlds, and the worst.

    In percent of what the cheapest costs.
    """
    ax = new_axes() if ax is None else ax
    names, cost = comparable_costs(comparison)
    by_best, best = regret_by_best(cost), cost.min(axis=0)
    winners = np.unique(cost.argmin(axis=0)).tolist()
    with np.errstate(divide="ignore", invalid="ignore"):
        every, worst = cost.mean(axis=1) / best.mean() - 1.0, (cost / best).max(axis=1) - 1.0
    values = 100.0 * np.column_stack([by_best[:, winners], every, worst])
    values[~np.isfinite(values)] = np.nan
    shares = [float((cost.argmin(axis=0) == winner).mean()) for winner in winners]
    found = [
        f"{names[winner]} best:\n{percent(share)} of worlds" for winner, share in zip(winners, shares, strict=True)
    ]
    percent_cells(ax, values, names, [*found, "mean of\nall worlds", "worst\nworld"], "–")
    ax.axvline(len(winners) - 0.5, color="white", linewidth=6.0)
    left_out = [name for name in comparison.policy_names if name not in names]
    without = f" Left out, as quality or service differs: {', '.join(left_out)}." if left_out else ""
    below = (
        f"Rows: the policy chosen. Columns: the policy that turned out cheapest. Colour by the log.{without} "
        f"{caption(comparison)}"
    )
    dress(ax, "Regret: what a choice costs beyond the cheapest in the same worlds [% of the cheapest]", "", below)
    ax.grid(visible=False)
    return ax
