"""The measure of memory that memory tests rely on."""

import numpy as np

from memory import peak, peak_of_this_process

CODE = "import numpy\nprint(numpy.ones(int(sys.argv[1]) << 17).sum() > 0)"


def test_a_child_has_its_own_peak():
    parent = np.ones(64 << 17)  # 64 MiB, which are not the child's
    printed, small = peak(CODE, 1)
    _, large = peak(CODE, 100)
    assert printed == "True"
    assert small < peak_of_this_process() - parent.nbytes // 2
    assert 90 << 20 < large - small < 110 << 20


PART = """
import numpy
from memory import forget_peak, peak_of_this_process
numpy.ones(100 << 17)
forget_peak()
before = peak_of_this_process()
numpy.ones(64 << 17)
print(peak_of_this_process() - before)
"""


def test_the_peak_of_a_part_is_its_own():
    """In a process of its own: a large one may have freed memory that it kept."""
    printed, _ = peak(PART)
    assert 56 << 20 < int(printed) < 90 << 20
