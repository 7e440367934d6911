"""Draw docs/images/gallery.png, the picture of the README, from the gallery that `./run site` made: python tools/gallery_picture.py"""

from __future__ import annotations

import sys
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt

DOCS = Path(__file__).resolve().parent.parent / "docs"
SHOWN = {
    "gaussian_process": "a curve and its error band",
    "pendulum_sensitivity": "how fast an error grows",
    "optimal_control": "swinging up a pendulum",
    "digits_vae": "a map of handwriting",
    "bundle_adjustment": "cameras and points",
    "physics_informed_network": "an equation, learnt",
}


def main() -> int:
    figure, panels = plt.subplots(2, 3, figsize=(12, 5.4), layout="constrained")
    for panel, (name, title) in zip(panels.flat, SHOWN.items()):
        panel.imshow(plt.imread(DOCS / "gallery" / "images" / f"sphx_glr_{name}_001.png"))
        panel.set_title(title, fontsize=11)
        panel.axis("off")
    figure.savefig(DOCS / "images" / "gallery.png", dpi=90)
    return 0


if __name__ == "__main__":
    sys.exit(main())
