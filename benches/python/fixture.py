"""What the programs here share: the tools and texts of the benchmark, and what a process has used."""

import re
import time
from functools import cache
from pathlib import Path

TEXT = "The quick brown fox jumps over the lazy dog, then rests a while in the shade before it runs on home."
BIG_BYTES = 1024 * 1024


@cache
def big() -> str:
    letters = "abcdefghijklmnopqrstuvwxyz"
    marks = {79: "\n", 40: '"'}
    return "".join(marks.get(at % 80) or letters[at % 26] for at in range(BIG_BYTES))


def usage() -> dict[str, int]:
    """What this process has used."""
    status = Path("/proc/self/status").read_text()

    def line(name: str) -> int:
        found = re.search(rf"^{name}:\s+(\d+)", status, re.MULTILINE)
        return int(found[1]) if found else 0

    return {"cpu_us": time.process_time_ns() // 1000, "rss_kb": line("VmRSS"), "peak_kb": line("VmHWM")}
