"""The picture of howto/prior.md: does the number of clusters settle on the truth as rows come in?

It draws what `python -m benchmarks.consistency` has recorded. `make docs` makes it.
"""

import json
import sys
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

from mixwood.plots.style import COLOURS

RECORDS = Path(__file__).resolve().parents[2] / "benchmarks" / "results" / "consistency.jsonl"


def settling():
    """P(K = truth) by the number of rows, one line per prior, one panel per truth."""
    found = [json.loads(line) for line in RECORDS.read_text(encoding="utf-8").splitlines()]
    truths, rows = (sorted({one[key] for one in found}) for key in ("components", "n"))
    priors = list(dict.fromkeys(one["prior"] for one in found))
    figure = Figure(figsize=(8, 3.4), layout="constrained")
    panels = figure.subplots(1, len(truths), sharey=True)
    for ax, truth in zip(panels, truths, strict=True):
        for k, prior in enumerate(priors):
            means = []
            for n in rows:
                own = [
                    one["p_truth"]
                    for one in found
                    if (one["prior"], one["components"], one["n"]) == (prior, truth, n)
                ]
                ax.plot([n] * len(own), own, ".", color=COLOURS[k], markersize=4, alpha=0.6)
                means.append(np.mean(own))
            ax.plot(rows, means, color=COLOURS[k], label=prior)
        ax.set(title=f"{truth} components", xscale="log", xlabel="rows", ylim=(-0.03, 1.03))
        ax.set_xticks(rows, [f"{n:,}" for n in rows])
        ax.minorticks_off()
    panels[0].set_ylabel("probability of the true number")
    panels[-1].legend(frameon=False)
    return figure


def draw(folder):
    settling().savefig(folder / "settling.png", dpi=130)


if __name__ == "__main__":
    draw(Path(sys.argv[1]))
