#!/usr/bin/env python3
"""Writes strata/image/testdata/: small pictures and what Pillow makes of them.

    NAME.png, NAME.jpg   of all kinds of pixels, interlaced and progressive ones too
    expected.npz         NAME: the pixels; NAME_FILTER_HxW: resized

Drawn by formulas, nothing is random. Needs the packages of REQUIREMENTS; makes build/peers with them when this Python has none.
"""
import pathlib
import shutil

ROOT = pathlib.Path(__file__).resolve().parents[2]
DATA = ROOT / "strata/image/testdata"
REQUIREMENTS = ["pillow==12.0.0", "numpy"]

try:
    import numpy as np
    from PIL import Image
except ImportError:
    from peers import again_with

    again_with(*REQUIREMENTS)


def drawn(height, width, channels):
    y, x, c = np.mgrid[:height, :width, :channels]
    waves = 127.5 + 80 * np.sin(x / 5 + c) + 47 * np.cos(y / 3 - c * x / 40)
    return np.clip(waves, 0, 255).astype(np.uint8)


def main():
    shutil.rmtree(DATA, ignore_errors=True)
    DATA.mkdir(parents=True)
    rgb, grey, rgba = Image.fromarray(drawn(37, 29, 3)), Image.fromarray(drawn(37, 29, 1)[..., 0]), Image.fromarray(drawn(21, 18, 4))
    rgb.save(DATA / "rgb.png")
    grey.save(DATA / "grey.png")
    rgba.save(DATA / "rgba.png")
    rgba.convert("LA").save(DATA / "grey_alpha.png")
    rgb.quantize(12).save(DATA / "palette.png")
    grey.point(lambda v: 255 * (v > 127)).convert("1").save(DATA / "bits.png")
    Image.fromarray(drawn(9, 7, 1)[..., 0].astype(np.uint16) * 257 + 3).save(DATA / "deep.png")
    rgb.save(DATA / "rgb.jpg", quality=90)
    rgb.save(DATA / "progressive.jpg", progressive=True)
    rgb.save(DATA / "full.jpg", subsampling=0, quality=95)
    grey.save(DATA / "grey.jpg")
    filters = {"nearest": Image.Resampling.NEAREST, "bilinear": Image.Resampling.BILINEAR, "bicubic": Image.Resampling.BICUBIC}
    out = {}
    for path in sorted(DATA.iterdir()):
        image = Image.open(path)
        if image.mode == "P":
            image = image.convert("RGB")
        if image.mode == "1":
            image = image.convert("L")
        pixels = np.asarray(image)
        name = path.name
        out[name] = pixels.astype(np.uint16) if name == "deep.png" else pixels
        if path.suffix == ".png" and name.split(".")[0] in ("rgb", "grey", "rgba", "grey_alpha"):
            for filter_name, f in filters.items():
                for height, width in ((12, 10), (50, 61), (37, 8), (5, 29)):
                    out[f"{name}_{filter_name}_{height}x{width}"] = np.asarray(image.resize((width, height), f))
    jpeg = DATA / "again.jpg"
    rgb.save(jpeg)
    out["encoded"] = np.frombuffer(jpeg.read_bytes(), np.uint8)
    jpeg.unlink()
    np.savez(DATA / "expected.npz", **out)


if __name__ == "__main__":
    main()
