"""An engine that runs a benchmark's tasks in this process: another one takes 5 s to start."""

from contextlib import contextmanager

import threadpoolctl

from rue._kernels.threads import thread_limit, use_threads
from rue.bench.engine import Event, attempt


class Here:
    def run(self, suite, tasks):
        for task in tasks:
            yield Event(task, "started")
            yield attempt(suite, task)


@contextmanager
def here():
    """Give the engine; afterwards numbers of threads are what they were, which tasks change."""
    import torch

    threads = thread_limit(), torch.get_num_threads()
    with threadpoolctl.threadpool_limits():
        yield Here()
    use_threads(threads[0])
    torch.set_num_threads(threads[1])
