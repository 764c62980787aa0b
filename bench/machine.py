"""Which machine and which versions the figures come from."""

import os
import platform
import subprocess
from importlib.metadata import version
from pathlib import Path


def facts(program, more=()):
    """Names and values for the top of the report."""
    asked = subprocess.run([program, "--version"], check=True, stdout=subprocess.PIPE, text=True)
    packages = ["scikit-learn", "numpy", "scipy", "joblib", *more]
    return {
        "processor": f"{processor()}, {os.cpu_count()} cores",
        "load before": f"{os.getloadavg()[0]:.1f}",
        "system": f"{platform.system()} {platform.machine()}",
        "calibrant": asked.stdout.split()[-1],
        "Python": platform.python_version(),
        **{package: version(package) for package in packages},
    }


def processor():
    file = Path("/proc/cpuinfo")
    if file.is_file():
        for line in file.read_text().splitlines():
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    return platform.processor() or "unknown processor"
