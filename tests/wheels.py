"""Install a package from a real wheel into a folder, and run code that sees it."""

import json
import subprocess
import sys
import zipfile


def install(folder, name, files, points, version="1.0"):
    """Make a wheel by hand, as a build backend would, and let pip install it."""
    wheel = folder / f"{name}-{version}-py3-none-any.whl"
    info = f"{name}-{version}.dist-info"
    lines = [f"[{group}]\n" + "\n".join(values) for group, values in points.items()]
    contents = {f"{name}/{file}": text for file, text in files.items()} | {
        f"{info}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n",
        f"{info}/WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        f"{info}/entry_points.txt": "\n".join(lines) + "\n",
    }
    contents[f"{info}/RECORD"] = "".join(f"{path},,\n" for path in (*contents, f"{info}/RECORD"))
    with zipfile.ZipFile(wheel, "w") as archive:
        for path, text in contents.items():
            archive.writestr(path, text)
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-index", "--no-deps"]
    pip += ["--disable-pip-version-check", "--target", str(folder / "site"), str(wheel)]
    subprocess.run(pip, check=True, capture_output=True)


def run(site, code):
    code = f"import sys; sys.path.insert(0, {str(site)!r})\n" + code
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])
