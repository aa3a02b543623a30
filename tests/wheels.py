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
    """Run ``code`` in a process of its own that sees the folder; return the JSON it prints last."""
    return run_each([(site, code)])[0]


def run_each(jobs, imports="json"):
    """Run each (site, code) in a process of its own; all start with the same modules imported.

    Processes are copies of one that has imported them, so that heavy ones are imported once. They
    must start no threads: those of OpenMP do not survive the copying.
    """
    given = json.dumps([(str(site), code) for site, code in jobs])
    command = [sys.executable, "-c", SERVER.format(imports=imports)]
    done = subprocess.run(command, input=given, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    found = [json.loads(line) for line in done.stdout.splitlines() if line.startswith('["last"')]
    assert len(found) == len(jobs), done.stdout + done.stderr
    return [value for _, value in found]


SERVER = """
import contextlib, io, json, os, sys
import {imports}
for site, code in json.load(sys.stdin):
    child = os.fork()
    if not child:
        sys.path.insert(0, site)
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(code, {{"__name__": "__main__", "sys": sys}})
        print(json.dumps(["last", json.loads(printed.getvalue().splitlines()[-1])]), flush=True)
        os._exit(0)
    if os.waitpid(child, 0)[1]:
        sys.exit("the code above failed: " + code)
"""
