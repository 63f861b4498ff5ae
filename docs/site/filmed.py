"""Pictures of a scene's page, taken by a headless Chromium.

    python docs/site/filmed.py NAME PICTURE    the shipped model NAME moving, as .gif or .webp

made the picture that README.md shows:

    python docs/site/filmed.py mechanisms/stewart_platform docs/stewart_platform.webp
"""

import io
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

ROOT = Path(__file__).parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "tests")]

from browser.chromium import PROGRAM, Browser  # noqa: E402

if TYPE_CHECKING:
    from PIL.Image import Image

WINDOW, MARGIN = (664, 500), (92, 70)
"""Pixels of the page, and those cut off on each side: a scene fits into the page with room to turn."""
FRAMES, SECONDS = 40, 4.0
HIDDEN = ("bar", "legend", "triad", "labels")
INSTANT = 0.35
"""Share of the motion at which a still is taken."""


def still(page: Path, picture: Path) -> None:
    """One picture of a scene's page as PNG; nothing where there is no Chromium."""
    if PROGRAM is not None:
        ((image,), _) = frames(page, [INSTANT])
        image.save(picture, optimize=True)


def film(page: Path, picture: Path) -> None:
    """The whole motion, over and over."""
    (first, *others), _ = frames(page, [k / FRAMES for k in range(FRAMES)])
    more: dict[str, Any] = {"quality": 60, "method": 6} if picture.suffix == ".webp" else {"optimize": True}
    each = round(1000 * SECONDS / FRAMES)
    first.save(picture, save_all=True, append_images=others, duration=each, loop=0, **more)


def frames(page: Path, shares: list[float]) -> "tuple[list[Image], float]":
    """Pictures at shares of the motion, without what surrounds the scene; the motion's duration in s."""
    from PIL import Image

    with Browser(*WINDOW) as browser:
        browser.open(page, "window.viewer")
        browser.value(";".join(f"document.getElementById('{name}').style.display = 'none'" for name in HIDDEN))
        browser.value("viewer.play(false); dispatchEvent(new Event('resize')); document.getElementById('fit').click()")
        last = float(browser.value("document.getElementById('slider').max"))
        shown = (*MARGIN, *(size - margin for size, margin in zip(WINDOW, MARGIN)))
        taken = []
        for share in shares:
            browser.value(f"viewer.seek({share * last})")
            taken.append(Image.open(io.BytesIO(browser.png())).convert("RGB").crop(shown))
    return taken, last


def main(name: str, picture: str) -> None:
    """Run a shipped model and film it."""
    from netsim.cli import main as netsim

    with tempfile.TemporaryDirectory() as folder:
        page = Path(folder) / "scene.html"
        netsim(["run", name, "-o", str(page.with_suffix(".csv")), "--animate", str(page), "--quiet"])
        film(page, Path(picture))
    print(f"{picture}: {Path(picture).stat().st_size / 1000:.0f} kB")


if __name__ == "__main__":
    main(*sys.argv[1:])
