"""A fuzzer of every file that rue reads.

A case has a number. The number decides the kind of file, a valid file of that kind, what is
changed in it (by its structure: arrays, cells, keys, members; sometimes single bytes), and what
is done with it. The property is the same for all: *a result, or one of rue's errors in one line,
within 10 s and 1 GiB, and no write outside the output folder* (:mod:`fuzz.guard`).

``make test`` tries 2,000 cases, ``make fuzz`` 100,000; ``python -m fuzz --case N`` repeats one.
"""
