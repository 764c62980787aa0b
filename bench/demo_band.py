"""How often do the demo's calibrated learners lie inside a perfect forecaster's band?

    python bench/demo_band.py --release target/release [--seeds 1-20]

Runs `calibrant demo --json` for each seed and holds the calibration error of the first choice (`ece`) against `ece_band`, which
95 of 100 perfect forecasters of the same probabilities stay within. The last rows count.
"""

import argparse
import json
import subprocess
import tempfile
from pathlib import Path


def numbers(text):
    first, _, last = text.partition("-")
    return range(int(first), int(last or first) + 1)


def demo(program, seed, folder):
    command = [program, "demo", "--json", "--seed", str(seed), "--output", str(Path(folder) / "demo.html")]
    return json.loads(subprocess.run(command, check=True, capture_output=True).stdout)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--release", type=Path, required=True, help="the folder with the program")
    parser.add_argument("--seeds", type=numbers, default=numbers("1-20"), help="FIRST-LAST (default: 1-20)")
    arguments = parser.parse_args()
    program = str(arguments.release.resolve() / "calibrant")
    inside, ratios, losses = {}, {}, {}
    print("| seed | forecaster | ECE | if perfect | band | |\n|---:|---|---:|---:|---:|---|")
    with tempfile.TemporaryDirectory() as folder:
        for seed in arguments.seeds:
            for row in demo(program, seed, folder)["forecasters"]:
                if not row["calibrated"]:
                    continue
                name, is_inside = row["name"], row["ece"] <= row["ece_band"]
                inside[name] = inside.get(name, 0) + is_inside
                ratios.setdefault(name, []).append(row["ece"] / row["ece_of_perfect"])
                losses.setdefault(name, []).append(row["log_loss"])
                numbers_of = " | ".join(f"{row[key]:.4f}" for key in ("ece", "ece_of_perfect", "ece_band"))
                print(f"| {seed} | {name} | {numbers_of} | {'inside' if is_inside else 'OUTSIDE'} |", flush=True)
    for name, count in inside.items():
        seeds = len(ratios[name])
        ratio, loss = sum(ratios[name]) / seeds, sum(losses[name]) / seeds
        print(f"{name}: inside for {count} of {seeds} seeds; ECE {ratio:.2f} times a perfect forecaster's, log loss {loss:.4f}")


if __name__ == "__main__":
    main()
